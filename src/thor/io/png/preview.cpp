#include "thor/io/png/preview.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <regex>

#include "thor/io/png/colour_map.hpp"
#include "thor/io/png/font.hpp"
#include "thor/io/png/scale.hpp"

namespace thor::io {
namespace {

constexpr Colour white{255, 255, 255}, black{0, 0, 0}, red{176, 0, 32};
constexpr int largest = 1024, smallest = 512;  ///< sides of the image [pixels]
constexpr double inches = 3.4;                 ///< width of the picture

// In points of letters.
constexpr int left_space = 44, title_space = 18, tick = 2, gap = 5, bar_width = 6, tick_space = 30, line_space = 11;
constexpr int least_width = 110, least_height = 80;  ///< room for a narrow image, which is drawn in the middle of it

/// The largest scale, at most this one, at which a text is no longer than so many pixels.
int fitting(std::string_view text, int scale, int room) {
  while (scale > 1 && text_width(text, scale) > room) --scale;
  return scale;
}

/// Text in the middle of a horizontal line, moved to stay within the picture.
void draw_centred(Raster& raster, int middle, int y, std::string_view text, int scale, Colour colour) {
  const int size = fitting(text, scale, raster.width - 2 * scale), length = text_width(text, size);
  draw_text(raster, std::clamp(middle - length / 2, size, std::max(raster.width - length - size, size)), y, text, size,
            colour);
}

/// Text in the middle of a vertical line, moved to stay between two heights.
void draw_upward(Raster& raster, int x, int middle, std::string_view text, int scale, int top, int bottom) {
  const int size = fitting(text, scale, bottom - top - 2 * scale), length = text_width(text, size);
  const int highest = top + length + size;
  draw_text(raster, x, std::clamp(middle + length / 2, highest, std::max(bottom - size, highest)), text, size, black,
            Direction::up);
}

/// 1, 2 or 5 times a power of ten, at most so large.
double round_length(double most) {
  const double power = std::pow(10, std::floor(std::log10(most)));
  for (const double digit : {5., 2.}) {
    if (digit * power <= most) return digit * power;
  }
  return power;
}

double next_round_length(double length) { return round_length(2.5 * length * (1 + 1e-9)); }

/// Distance between ticks, about five on a side of this length, so that labels do not touch: each takes
/// `room_of(value)` of `pixels`.
template <class Room>
double tick_step(const Preview::Side& side, int pixels, const Room& room_of) {
  const double length = side.high - side.low;
  double step = round_length(length / 5 * 1.6);
  const auto touch = [&] {
    const double last = std::floor(side.high / step + 1e-6) * step, first = std::ceil(side.low / step - 1e-6) * step;
    return first < last && std::max(room_of(first), room_of(last)) > step / length * pixels;
  };
  while (touch()) step = next_round_length(step);
  return step;
}

/// Legible on any colour.
void draw_outlined(Raster& raster, int x, int y, const std::string& text, int scale) {
  for (const auto& [dx, dy] : {std::pair(-1, 0), {1, 0}, {0, -1}, {0, 1}}) {
    draw_text(raster, x + dx, y + dy, text, scale, black);
  }
  draw_text(raster, x, y, text, scale, white);
}

void draw_dark(Raster& raster, const PreviewLayout& at) {
  const std::string text = "dark: no light reached it";
  const int middle = at.left + at.width / 2 - text_width(text, at.scale) / 2;
  const bool fits = at.width > text_width(text, at.scale) + gap * at.scale;
  draw_outlined(raster, fits ? at.left + gap * at.scale : std::max(at.scale, middle), at.top + at.height / 2, text,
                at.scale);
}

void draw_scale_bar(Raster& raster, const Preview& p, const PreviewLayout& at) {
  const double side = p.right.high - p.right.low, length = round_length(side / 4);
  const int pixels = int(std::lround(length / side * at.width)), s = at.scale;
  if (at.width < least_width * s || at.height < 4 * line_space * s) return;  // the ticks tell it
  const int x = at.left + gap * s, y = at.top + at.height - gap * s;
  raster.fill(x - 1, y - 2 * s - 1, pixels + 2, 2 * s + 2, black);
  raster.fill(x, y - 2 * s, pixels, 2 * s, white);
  std::string text = fmt::format("{:g} {}", length, p.length_unit);
  if (p.kpc_per_unit > 0) text += fmt::format(" = {:.3g} kpc", length * p.kpc_per_unit);
  draw_outlined(raster, x, y - 4 * s, text, fitting(text, s, at.width - 2 * gap * s));
}

struct SideLabels {
  std::string right, up;
  double sign = 1;  ///< of the ticks to the right
};

SideLabels labels_of(const std::string& unit) {
  if (unit == "kpc") return {"\u0394x [kpc]", "\u0394y [kpc]"};
  if (unit == "arcsec") return {"\u0394RA [arcsec]", "\u0394Dec [arcsec]", -1};
  if (unit == "deg") return {"longitude [deg]", "latitude [deg]"};
  if (unit.empty()) return {"tan x", "tan y"};
  return {"right [" + unit + "]", "up [" + unit + "]"};
}

void draw_axes(Raster& raster, const Preview& p, const PreviewLayout& at) {
  const SideLabels labels = labels_of(p.length_unit);
  const int s = at.scale, bottom = at.top + at.height, line = std::max(1, s / 2);
  const auto ticks = [](const Preview::Side& side, double step, const auto& draw_tick) {
    const double length = side.high - side.low;
    const auto last = std::lround(std::floor(side.high / step + 1e-6));
    for (auto i = std::lround(std::ceil(side.low / step - 1e-6)); i <= last; ++i) {
      draw_tick((double(i) * step - side.low) / length, double(i) * step);
    }
  };
  const auto width_of = [&](double value) {
    return double(text_width(fmt::format("{:g}", labels.sign * value + 0.), s) + letter_step * s);
  };
  const auto height_of = [&](double) { return double((letter_height + 4) * s); };
  raster.fill(at.left - line, at.top - line, line, at.height + 2 * line, black);
  raster.fill(at.left + at.width, at.top - line, line, at.height + 2 * line, black);
  raster.fill(at.left, at.top - line, at.width, line, black);
  raster.fill(at.left, bottom, at.width, line, black);
  ticks(p.right, tick_step(p.right, at.width, width_of), [&](double place, double value) {
    const int x = at.left + int(std::lround(place * at.width));
    raster.fill(x - line / 2, bottom, line, tick * s, black);
    draw_centred(raster, x, bottom + (tick + 2 + letter_height) * s, fmt::format("{:g}", labels.sign * value + 0.), s,
                 black);
  });
  ticks(p.up, tick_step(p.up, at.height, height_of), [&](double place, double value) {
    const int y = bottom - int(std::lround(place * at.height));
    raster.fill(at.left - tick * s, y - line / 2, tick * s, line, black);
    const std::string text = fmt::format("{:g}", value);
    const int size = fitting(text, s, (left_space - tick - line_space - 4) * s);
    draw_text(raster, at.left - (tick + 1) * s - text_width(text, size), y + letter_height * size / 2, text, size,
              black);
  });
  draw_centred(raster, at.left + at.width / 2, bottom + (tick + 2 + letter_height + line_space) * s, labels.right, s,
               black);
  draw_upward(raster, at.left - (left_space - 3 - letter_height) * s, at.top + at.height / 2, labels.up, s, 0,
              raster.height);
}

void draw_colour_bar(Raster& raster, const Preview& p, const Scale& scale, const PreviewLayout& at) {
  const int s = at.scale, left = at.left + at.width + gap * s, right = left + bar_width * s;
  const int height = std::max(at.height, least_height * s), top = at.top - (height - at.height) / 2;
  for (int j = 0; j < height; ++j) {
    raster.fill(left, top + j, bar_width * s, 1, scale.colour_at(1 - (j + 0.5) / height));
  }
  // The unit is in a line of its own where both are longer than the picture is high.
  const std::string unit = p.unit.empty() ? "" : "[" + raised_powers(p.unit) + "]";
  const std::string both = p.quantity.empty() || unit.empty() ? p.quantity + unit : p.quantity + " " + unit;
  const int first = right + (tick_space + letter_height) * s, middle = top + height / 2;
  // Beside a narrow image there is the title above.
  const int highest = at.width < least_width * s ? title_space * s : 0;
  const int lowest = raster.height - int(p.caveats.size()) * line_space * s;
  if (text_width(both, s) <= lowest - highest - 2 * s) {
    draw_upward(raster, first, middle, both, s, highest, lowest);
  } else {
    draw_upward(raster, first, middle, p.quantity, s, highest, lowest);
    draw_upward(raster, first + line_space * s, middle, unit, s, highest, lowest);
  }
  if (scale.dark) return;
  const int line = std::max(1, s / 2);
  const auto label = [&](int y, const std::string& text) {
    raster.fill(right, y - line / 2, tick * s, line, black);
    const int size = fitting(text, s, (tick_space - tick - 2) * s);
    draw_text(raster, right + (tick + 1) * s, y + letter_height * size / 2, text, size, black);
  };
  if (scale.linear) {
    const double step = round_length((scale.high - scale.low) / 3);
    const int last = int(std::floor(scale.high / step));
    for (int i = int(std::ceil(scale.low / step)); i <= last; ++i) {
      label(top + int(std::lround((1 - scale(i * step)) * (height - 1))), fmt::format("{:.3g}", i * step));
    }
    return;
  }
  const double low = std::log10(scale.low), high = std::log10(scale.high);
  const int every = 1 + int((high - low) * (letter_height + 2) * s / height);  // power of ten has a label
  const auto place = [&](double power) { return top + int(std::lround((high - power) / (high - low) * (height - 1))); };
  for (int power = int(std::floor(low)); power <= high + 1e-9; ++power) {
    for (int digit = 2; digit < 10; ++digit) {
      const double between = power + std::log10(digit);
      if (between > low && between < high) raster.fill(right, place(between), s, std::max(1, s / 3), black);
    }
    if (power >= low - 1e-9 && power % every == 0) label(place(power), fmt::format("10^{}", power));
  }
}

/// Lines at the bottom of a picture, in letters of one size.
void draw_caption(Raster& raster, const std::vector<std::string>& lines, int scale) {
  int size = scale, y = raster.height - 3 * scale;
  for (const std::string& line : lines) size = std::min(size, fitting(line, scale, raster.width - 2 * scale));
  for (auto line = lines.rbegin(); line != lines.rend(); ++line, y -= line_space * scale) {
    draw_centred(raster, raster.width / 2, y, *line, size, red);
  }
}

/// A text for a caption, and the share of the light that it concerns.
struct Remark {
  double share;
  std::string text;
};

/// 3.2, 75, 100
std::string two_digits(double percent) {
  return percent < 9.95 ? fmt::format("{:.2g}", percent) : fmt::format("{:.0f}", percent);
}

/// Noise and light beyond the sides, the larger share first. An image without light has no noise.
std::vector<Remark> remarks_of(const Product& product) {
  const double beyond = number(product.attributes, "luminosity_beyond").value_or(0);
  const double inside = number(product.attributes, "luminosity").value_or(0);
  std::vector<Remark> found;
  if (beyond > 0.01 * (inside + beyond)) {
    const double share = beyond / (inside + beyond);
    found.push_back({share, fmt::format("{} % of the light beyond the range", two_digits(100 * share))});
  }
  if (const auto trusted = number(product.attributes, "trusted"); trusted && *trusted < 0.5 && inside > 0) {
    const double share = 1 - *trusted;
    found.push_back({share, fmt::format("noisy: {:.0f} % of the light in bins with large errors", 100 * share)});
  }
  std::ranges::stable_sort(found, std::ranges::greater(), &Remark::share);
  return found;
}

/// What to know about a picture of light: a run that was cut, light beyond its sides, noise; in lines of at most so
/// many letters.
std::vector<std::string> caption_of(const Result& result, const Product& product) {
  constexpr std::size_t most_letters = 64;
  std::vector<Remark> all = remarks_of(product);
  if (!result.is_complete()) all.insert(all.begin(), {1, "run cut"});
  std::vector<std::string> lines;
  for (const Remark& remark : all) {
    if (!lines.empty() && lines.back().size() + 2 + remark.text.size() <= most_letters) {
      lines.back() += "; " + remark.text;
    } else {
      lines.push_back(remark.text);
    }
  }
  return lines;
}

/// The field that rays have found, or its column where they have added it up.
std::string quantity_of(const Product& product) {
  const bool column =
      show(product.attributes, "operator") == "projection" && text(product.attributes, "weight").empty();
  return (column ? "column of " : "") + show(product.attributes, "field");
}

/// Whether a field is a velocity along an axis or along the rays: HI_velocity, velocity_x.
bool is_velocity(const std::string& field) {
  static const std::regex form(R"((\w+_)?velocity(_[xyz])?)");
  return std::regex_match(field, form);
}

}  // namespace

PreviewLayout layout_of(int columns, int rows) {
  const int side = std::max(columns, rows), joined = (side + largest - 1) / largest;
  const int enlarged = std::max(1, (smallest + side - 1) / side);
  const auto drawn = [&](int pixels) { return (pixels + joined - 1) / joined * enlarged; };
  const int width = drawn(columns), height = drawn(rows);
  const int scale = std::max(3, int(std::lround(3. * std::max(width, height) / smallest)));
  const auto beside = [&](int least, int length) { return std::max(0, least * scale - length) / 2; };
  return {joined,
          enlarged,
          left_space * scale + beside(least_width, width),
          title_space * scale + beside(least_height, height),
          width,
          height,
          scale};
}

Raster draw(const Preview& p) {
  const PreviewLayout at = layout_of(p.columns, p.rows);
  const int s = at.scale;
  const Scale scale(p.values, p.decades, p.diverging);
  const int below = tick + 4 + letter_height + line_space * (1 + int(p.caveats.size()));
  Raster raster((left_space + gap + bar_width + tick_space + 2 * line_space) * s + std::max(at.width, least_width * s),
                (title_space + below) * s + std::max(at.height, least_height * s), white);
  raster.dots_per_inch = raster.width / inches;
  for (int row = 0; row < at.height / at.enlarged; ++row) {
    for (int column = 0; column < at.width / at.enlarged; ++column) {
      double sum = 0;
      int count = 0;
      for (int j = row * at.joined; j < std::min((row + 1) * at.joined, p.rows); ++j) {
        for (int i = column * at.joined; i < std::min((column + 1) * at.joined, p.columns); ++i) {
          sum += p.values[std::size_t(j) * std::size_t(p.columns) + std::size_t(i)];
          ++count;
        }
      }
      raster.fill(at.left + column * at.enlarged, at.top + at.height - (row + 1) * at.enlarged, at.enlarged,
                  at.enlarged, scale.colour(sum / count));
    }
  }
  draw_axes(raster, p, at);
  draw_centred(raster, at.left + at.width / 2, (3 + letter_height) * s, p.title, s, black);
  draw_scale_bar(raster, p, at);
  draw_colour_bar(raster, p, scale, at);
  draw_caption(raster, p.caveats, s);
  if (scale.dark) draw_dark(raster, at);
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
  const bool light = product.is_light();
  std::string title =
      light ? fmt::format("{}: {}, observer {}", product.name, show(result.root(), "line"), product.observer())
            : fmt::format("{}: {} of {}", product.name, show(product.attributes, "operator"),
                          show(product.attributes, "field"));
  if (const std::string weight = text(product.attributes, "weight"); !weight.empty())
    title += ", weighted by " + weight;
  if (product.frequency()) title += ", all channels";
  const Preview preview{.title = title,
                        .quantity = light ? "surface brightness" : quantity_of(product),
                        .unit = unit_of_picture(product).text(),
                        .length_unit = right.unit.text(),
                        .right = {right.low, right.high},
                        .up = {up.low, up.high},
                        .kpc_per_unit = angular ? sky_of(result).kpc_per_arcsec.value_or(0) : 0,
                        .decades = light ? 4. : 8.,
                        .diverging = !light && is_velocity(text(product.attributes, "field")),
                        .caveats = options.caveats ? caption_of(result, product) : std::vector<std::string>{},
                        .columns = int(right.bins),
                        .rows = int(up.bins),
                        .values = values};
  write_png(path, overwrite, draw(preview));
}

}  // namespace thor::io
