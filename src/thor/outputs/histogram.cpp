#include "thor/outputs/histogram.hpp"

#include <fmt/format.h>

#include "thor/io/array/output.hpp"
#include "thor/outputs/keys.hpp"

namespace thor {
namespace {

constexpr std::uint64_t most_bins = 50'000'000;  ///< for all axes together

AxisUnits units_of(PhotonProperty quantity) {
  switch (quantity) {
    case PhotonProperty::radius:
      return {"radius", "cm", "", 1, "distance of the last scattering (or emission) from the centre"};
    case PhotonProperty::impact:
      return {"impact", "cm", "", 1, "distance of the last flight from the centre"};
    case PhotonProperty::scatterings:
      return {"scatterings", "", "", 1, "scatterings by the line"};
    case PhotonProperty::cosine:
      return {"cosine", "", "", 1, "z component of the direction of the last flight"};
    default:
      return thor::units_of(config::Axis(int(quantity)));
  }
}

const config::Section<HistogramAxis>& axis_section() {
  using namespace config;
  static const Section<HistogramAxis> section = [] {
    Section<HistogramAxis> s("Axes of a histogram, one to three; the last one is the fastest in the file.");
    auto quantities = frequency_options<PhotonProperty>();
    quantities.insert(
        quantities.end(),
        {{"radius", PhotonProperty::radius, "distance of the last scattering (or emission) from the centre"},
         {"impact", PhotonProperty::impact,
          "distance of the last flight from the centre: the projected radius that an observer far away sees"},
         {"scatterings", PhotonProperty::scatterings, "number of scatterings by the line"},
         {"cosine", PhotonProperty::cosine, "z component of the direction of the last flight"}});
    s.choice("quantity", &HistogramAxis::quantity, quantities,
             {.meaning = "quantity that is binned", .example = "velocity"});
    declare_frequency_ranges(s, "quantity");
    declare_range(s, Dimension::length, non_negative, {"quantity", {"radius", "impact"}}, "[0 kpc, 100 kpc]");
    declare_range(s, Dimension::none, non_negative, {"quantity", {"scatterings"}}, "[1, 1e6]");
    declare_range(s, Dimension::none, anything, {"quantity", {"cosine"}}, "[-1, 1]");
    s.integer("bins", &HistogramAxis::bins, 1, most_bins, {.meaning = "number of bins", .example = "50"});
    s.choice("spacing", &HistogramAxis::logarithmic,
             std::vector<Option<bool>>{{"linear", false, "bins of equal width"},
                                       {"log", true, "bins of equal ratio; the range must be above 0"}},
             {.meaning = "spacing of the edges", .fallback = "linear"});
    s.check([](Reader& reader, const HistogramAxis& axis) {
      check_edges(reader, axis.low, axis.high, axis.bins, axis.logarithmic);
      if (!reader.clean("range") || !axis.logarithmic) return;
      if (!(axis.low > 0)) {
        reader.report("range", "a logarithmic axis starts above 0");
      } else if (!(axis.high / axis.low < 1e300)) {
        reader.report("range", "too wide to be divided into bins");
      }
    });
    return s;
  }();
  return section;
}

void check_axes(config::Reader& reader, const HistogramOutput& output) {
  if (!reader.clean("axes")) return;
  if (output.axes.size() > HistogramPlan::most_axes) return reader.report("axes", "at most three are possible");
  double bins = 1;
  for (std::size_t i = 0; i < output.axes.size(); ++i) {
    const PhotonProperty quantity = output.axes[i].quantity;
    if (output.of == config::Fate::emitted &&
        (quantity == PhotonProperty::impact || quantity == PhotonProperty::cosine)) {
      reader.report(fmt::format("axes.{}.quantity", i),
                    "not possible with `of: emitted`, since the direction of emission is not kept");
    }
    bins *= double(output.axes[i].bins);
    for (std::size_t j = 0; j < i; ++j) {
      if (quantity != output.axes[j].quantity) continue;
      reader.report(fmt::format("axes.{}.quantity", i), "each axis has a quantity of its own");
    }
  }
  if (bins > double(most_bins)) {
    reader.report("axes", fmt::format("{:.3g} bins in all; at most 5e7 are possible", bins));
  }
}

}  // namespace

const config::Section<HistogramOutput>& HistogramOutput::section() {
  using namespace config;
  static const Section<HistogramOutput> section = [] {
    Section<HistogramOutput> s("");
    declare_binned(s);
    s.list("axes", &HistogramOutput::axes, axis_section(), {.meaning = "axes of the histogram"});
    s.vector("centre", &HistogramOutput::centre, Dimension::length, anything,
             {.meaning = "point that radius and impact are measured from", .fallback = "[0 kpc, 0 kpc, 0 kpc]"});
    declare_reference(s);
    s.check(check_axes);
    return s;
  }();
  return section;
}

HistogramPlan HistogramOutput::plan(const OutputContext& context) const {
  HistogramPlan plan{{.count = 1, .errors = errors},    context.axis(reference), of, context.size,
                     {centre[0], centre[1], centre[2]}, int(axes.size()),        {}};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const HistogramAxis& axis = axes[i];
    const bool whole = axis.quantity == PhotonProperty::scatterings;
    plan.axes[i] = {axis.quantity, bin_axis(axis.low, axis.high, std::int64_t(axis.bins), axis.logarithmic, whole)};
    plan.bins.count *= std::int64_t(axis.bins);
  }
  return plan;
}

void HistogramOutput::write(io::ArrayOutput& file, const HistogramPlan& plan, const BinnedLight& light) const {
  const std::string group = "/histograms/" + name;
  std::vector<std::uint64_t> shape;
  std::string names;
  for (int k = 0; k < plan.rank; ++k) {
    const BinAxis& axis = plan.axes[k].along;
    const AxisUnits units = units_of(plan.axes[k].quantity);
    std::vector<double> edges(std::size_t(axis.bins) + 1);
    for (std::size_t i = 0; i < edges.size(); ++i) edges[i] = edge_of(axis, std::int64_t(i)) / units.in_cgs;
    file.write(group + "/edges_" + units.name, edges, units.unit, std::string("bin edges: ") + units.meaning);
    shape.push_back(std::uint64_t(axis.bins));
    names += (names.empty() ? "" : " ") + std::string(units.name);
  }
  write_bins(file, group, "luminosity", shape, "erg s-1", "luminosity in each bin, by " + names, light,
             [](std::size_t) { return 1; });
  file.attribute(group, "axes", names);
  write_attributes(file, group, of, generator, plan.frequency, light);
}

}  // namespace thor
