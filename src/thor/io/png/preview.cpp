#include "thor/io/png/preview.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "thor/io/png/colour_map.hpp"
#include "thor/io/png/font.hpp"
#include "thor/io/png/scale.hpp"

namespace thor::io {
namespace {

constexpr Colour white{255, 255, 255}, black{0, 0, 0};
constexpr int largest = 1024, smallest = 512;  ///< sides of the image [pixels]
constexpr int margin = 20, gap = 14, bar_width = 18, scale = 2;
constexpr int title_height = 28, tick_space = 62, label_space = 26;

/// 1, 2 or 5 times a power of ten, at most so large.
double round_length(double most) {
  const double power = std::pow(10, std::floor(std::log10(most)));
  for (const double digit : {5., 2.}) {
    if (digit * power <= most) return digit * power;
  }
  return power;
}

/// Legible on any colour.
void draw_outlined(Raster& raster, int x, int y, const std::string& text) {
  for (const auto& [dx, dy] : {std::pair(-1, 0), {1, 0}, {0, -1}, {0, 1}}) {
    draw_text(raster, x + dx, y + dy, text, scale, black);
  }
  draw_text(raster, x, y, text, scale, white);
}

void draw_scale_bar(Raster& raster, const Preview& p, int left, int bottom, int width) {
  const double length = round_length(p.width / 4);
  const int pixels = int(std::lround(length / p.width * width));
  const int x = left + gap, y = bottom - gap;
  raster.fill(x - 1, y - 5, pixels + 2, 6, black);
  raster.fill(x, y - 4, pixels, 4, white);
  std::string text = fmt::format("{:g} {}", length, p.length_unit);
  if (p.kpc_per_unit > 0) text += fmt::format(" = {:.3g} kpc", length * p.kpc_per_unit);
  draw_outlined(raster, x, y - 11, text);
}

void draw_colour_bar(Raster& raster, const Preview& p, const Scale& log, int left, int top, int height) {
  for (int j = 0; j < height; ++j) {
    raster.fill(left, top + j, bar_width, 1, colour_of(1 - (j + 0.5) / height));
  }
  const int label = left + bar_width + tick_space;
  const std::string text = p.unit.empty() ? p.quantity : p.quantity + " [" + raised_powers(p.unit) + "]";
  const int length = text_width(text, scale);
  draw_text(raster, label + letter_height * scale, top + (height + length) / 2, text, scale, black, Direction::up);
  if (log.dark) return;
  if (log.linear) {
    const double step = round_length((log.high - log.low) / 3);
    const int first = int(std::ceil(log.low / step)), last = int(std::floor(log.high / step));
    for (int i = first; i <= last; ++i) {
      const int y = top + int(std::lround((1 - log(i * step)) * (height - 1)));
      raster.fill(left + bar_width, y - 1, 7, 2, black);
      draw_text(raster, left + bar_width + 10, y + letter_height * scale / 2, fmt::format("{:.3g}", i * step), scale,
                black);
    }
    return;
  }
  const double low = std::log10(log.low), high = std::log10(log.high);
  const auto place = [&](double power) { return top + int(std::lround((high - power) / (high - low) * (height - 1))); };
  for (int power = int(std::floor(low)); power <= high + 1e-9; ++power) {
    for (int digit = 2; digit < 10; ++digit) {
      const double between = power + std::log10(digit);
      if (between > low && between < high) raster.fill(left + bar_width, place(between), 4, 1, black);
    }
    if (power < low - 1e-9) continue;
    const int y = place(power);
    raster.fill(left + bar_width, y - 1, 7, 2, black);
    draw_text(raster, left + bar_width + 10, y + letter_height * scale / 2, fmt::format("10^{}", power), scale, black);
  }
}

}  // namespace

Raster draw(const Preview& p) {
  const int side = std::max(p.columns, p.rows);
  const int joined = (side + largest - 1) / largest;               // pixels of the image drawn as one
  const int enlarged = std::max(1, (smallest + side - 1) / side);  // and pixels that one is drawn as
  const int columns = (p.columns + joined - 1) / joined, rows = (p.rows + joined - 1) / joined;
  const Scale log(p.values, p.decades);
  const int width = columns * enlarged, height = rows * enlarged, top = margin + title_height;
  Raster raster(2 * margin + width + gap + bar_width + tick_space + label_space, top + height + margin, white);
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      double sum = 0;
      int count = 0;
      for (int j = row * joined; j < std::min((row + 1) * joined, p.rows); ++j) {
        for (int i = column * joined; i < std::min((column + 1) * joined, p.columns); ++i) {
          sum += p.values[std::size_t(j) * std::size_t(p.columns) + std::size_t(i)];
          ++count;
        }
      }
      raster.fill(margin + column * enlarged, top + (rows - 1 - row) * enlarged, enlarged, enlarged,
                  log.colour(sum / count));
    }
  }
  const int room = raster.width - 2 * margin;
  const int size = text_width(p.title, scale) <= room ? scale : 1;
  draw_text(raster, margin, margin + letter_height * scale, p.title.substr(0, std::size_t(room / letter_step)), size,
            black);
  draw_scale_bar(raster, p, margin, top + height, width);
  draw_colour_bar(raster, p, log, margin + width + gap, top, height);
  if (log.dark) draw_outlined(raster, margin + gap, top + height / 2, "dark: no light reached it");
  return raster;
}

void write_preview(const std::filesystem::path& path, bool overwrite, const Result& result, const Input& input,
                   const Product& product, const PictureOptions& options) {
  const std::vector<double> values = read_picture(input, product);
  const BinnedAxis &right = product.right(), &up = product.up();
  if (product.is_coloured()) {
    return write_png(path, overwrite,
                     picture_of(int(right.bins), int(up.bins), values, options.bits, options.transparent));
  }
  const bool angular = right.unit == Unit("arcsec");
  const bool light = product.has_errors();
  std::string title =
      light ? fmt::format("{}: {}, observer {}", product.name, show(result.root(), "line"), product.observer())
            : fmt::format("{}: {} of {}", product.name, show(product.attributes, "operator"),
                          show(product.attributes, "field"));
  if (const std::string weight = text(product.attributes, "weight"); !weight.empty())
    title += ", weighted by " + weight;
  if (product.frequency()) title += ", all channels";
  if (!result.is_complete()) title += ", INCOMPLETE";
  const Preview preview{.title = title,
                        .quantity = light ? "surface brightness" : show(product.attributes, "field"),
                        .unit = unit_of_picture(product).text(),
                        .length_unit = right.unit.text(),
                        .width = right.high - right.low,
                        .kpc_per_unit = angular ? sky_of(result).kpc_per_arcsec.value_or(0) : 0,
                        .decades = light ? 4. : 8.,
                        .columns = int(right.bins),
                        .rows = int(up.bins),
                        .values = values};
  write_png(path, overwrite, draw(preview));
}

}  // namespace thor::io
