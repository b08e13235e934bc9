#include "thor/operators/transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "thor/operators/colour_maps.hpp"
#include "thor/operators/keys.hpp"

namespace thor {
namespace config {
namespace {

Section<TransferPoint> transfer_points(bool peaks) {
  Section<TransferPoint> s(peaks ? "A Gaussian peak of a transfer function." : "A point of a transfer function.");
  s.number("at", &TransferPoint::at, anything, {.meaning = "value of the field", .example = "2e4"});
  if (peaks) {
    s.number(
        "width", &TransferPoint::width, positive,
        {.meaning = "standard deviation: in dex with `scale: log`, else in the unit of the field", .example = "0.2"});
  }
  s.vector("colour", &TransferPoint::colour, Dimension::none, {.low = 0, .high = 1},
           {.meaning = "red, green and blue, from 0 to 1", .example = "[0.2, 0.4, 1]"});
  s.number("opacity", &TransferPoint::opacity, {.low = 0, .high = 1e9},
           {.meaning = "optical depth of a path as long as the longest side of the box", .example = "10"});
  return s;
}
const Section<TransferPoint>& peak_section() {
  static const Section<TransferPoint> section = transfer_points(true);
  return section;
}
const Section<TransferPoint>& point_section() {
  static const Section<TransferPoint> section = transfer_points(false);
  return section;
}

/// What would colour nothing is a mistake.
void check_places(Reader& reader, const Transfer& t) {
  const bool log = t.scale == FieldScale::log;
  const auto is_placed = [&](const char* list, std::size_t i, double at) {
    if (!log || at > 0) return true;
    reader.report(fmt::format("{}.{}.at", list, i),
                  "must be above 0 on a logarithmic scale: take one in the range, or "
                  "scale: linear");
    return false;
  };
  bool placed = true;
  for (std::size_t i = 0; i < t.points.size(); ++i) placed = is_placed("points", i, t.points[i].at) && placed;
  if (placed && !t.points.empty() && (t.points.back().at < t.low || t.points.front().at > t.high)) {
    reader.report("points", "all of them lie outside of the range");
  }
  constexpr double widths = 5;  // a peak ends there
  for (std::size_t i = 0; i < t.peaks.size(); ++i) {
    const auto& [at, width, colour, opacity] = t.peaks[i];
    if (!is_placed("peaks", i, at)) continue;
    const double reach = log ? std::pow(10, widths * width) : widths * width;
    if (log ? at * reach < t.low || at / reach > t.high : at + reach < t.low || at - reach > t.high) {
      reader.report(fmt::format("peaks.{}.at", i), "the peak lies outside of the range, and colours nothing");
    }
  }
}

}  // namespace

const Section<Transfer>& transfer_section() {
  static const Section<Transfer> section = [] {
    Section<Transfer> s("Colour and opacity as functions of a field: by a colour map, by peaks, or by points.");
    s.choice("scale", &Transfer::scale,
             std::vector<Option<FieldScale>>{{"log", FieldScale::log, "logarithm of the field"},
                                             {"linear", FieldScale::linear, "value of the field"}},
             {.meaning = "scale of the field: logarithm or value", .fallback = "log"});
    s.interval("range", [](Transfer& t, double low, double high, Dimension) { t.low = low, t.high = high; },
               {Dimension::none}, anything,
               {.meaning = "range of the field, in its unit; values outside get the colour of the end",
                .example = "[1e3, 1e7]"});
    s.text(
        "map", &Transfer::map, "a colour map: " + colour_map_names(),
        [](const std::string& name) { return name.empty() || has_colour_map(name); },
        {.meaning = "colour map, with an opacity that rises as the square of the position in `range`", .fallback = ""});
    s.number("opacity", &Transfer::opacity, {.low = 0, .high = 1e9},
             {.meaning = "opacity of a colour map at its upper end: optical depth of a path as long as the box",
              .fallback = "30"});
    s.list("peaks", &Transfer::peaks, peak_section(), {.meaning = "Gaussian peaks, which are added", .fallback = "[]"});
    s.list("points", &Transfer::points, point_section(),
           {.meaning = "points between which colour and opacity are interpolated linearly", .fallback = "[]"});
    s.check([](Reader& reader, const Transfer& t) {
      const int ways = int(!t.map.empty()) + int(!t.peaks.empty()) + int(!t.points.empty());
      if (ways != 1 && reader.clean("map")) reader.report("", "give exactly one of map, peaks and points");
      if (t.scale == FieldScale::log && reader.clean("range") && !(t.low > 0)) {
        reader.report("range", "must be above 0 on a logarithmic scale");
      }
      for (std::size_t i = 1; i < t.points.size(); ++i) {
        if (!(t.points[i].at > t.points[i - 1].at)) reader.report(fmt::format("points.{}.at", i), "must increase");
      }
      if (reader.clean("range")) check_places(reader, t);
    });
    return s;
  }();
  return section;
}

}  // namespace config

std::vector<float> build_table(const config::Transfer& t, double side, double exposure) {
  const bool log = t.scale == config::FieldScale::log;
  const auto place = [&](double v) {
    return log ? std::log(std::max(v, 1e-300) / t.low) / std::log(t.high / t.low) : (v - t.low) / (t.high - t.low);
  };
  std::vector<float> table;
  for (int i = 0; i < colours; ++i) {
    const double at = double(i) / (colours - 1);
    std::array<double, 3> colour{};
    double opacity = 0;
    if (!t.map.empty()) {
      colour = colour_in_map(t.map, at), opacity = t.opacity * at * at;
    } else if (!t.peaks.empty()) {
      for (const config::TransferPoint& peak : t.peaks) {
        const double width =
            log ? peak.width * std::numbers::ln10 / std::log(t.high / t.low) : peak.width / (t.high - t.low);
        const double more = peak.opacity * std::exp(-0.5 * std::pow((at - place(peak.at)) / width, 2));
        opacity += more;
        for (std::size_t k = 0; k < 3; ++k) colour[k] += more * peak.colour[k];
      }
      for (double& c : colour) c /= std::max(opacity, 1e-300);
    } else {
      const auto above = std::ranges::find_if(t.points, [&](const auto& p) { return place(p.at) > at; });
      const config::TransferPoint& high = above == t.points.end() ? t.points.back() : *above;
      const config::TransferPoint& low = above == t.points.begin() ? t.points.front() : *std::prev(above);
      const double width = place(high.at) - place(low.at), share = width > 0 ? (at - place(low.at)) / width : 0;
      opacity = std::lerp(low.opacity, high.opacity, std::clamp(share, 0., 1.));
      for (std::size_t k = 0; k < 3; ++k)
        colour[k] = std::lerp(low.colour[k], high.colour[k], std::clamp(share, 0., 1.));
    }
    for (const double c : colour) table.push_back(float(c * exposure));
    table.push_back(float(opacity / side));
  }
  return table;
}

}  // namespace thor
