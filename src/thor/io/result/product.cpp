#include "thor/io/result/product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "thor/core/error.hpp"

namespace thor::io {
namespace {

[[noreturn]] void fail_damaged(const std::string& path, const std::string& group, const std::string& what) {
  throw Error(ExitCode::input, fmt::format("{}: {} is damaged: {}", path, group, what));
}

BinnedAxis read_axis(const Input& input, const std::string& group, const std::string& edges, const std::string& name) {
  const std::string path = input.path().string(), array = group + "/" + edges;
  const std::vector<double> values = input.read_all<double>(array);
  if (values.size() < 2) fail_damaged(path, array, "it has fewer than two edges");
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (!(values[i] > values[i - 1])) fail_damaged(path, array, "its edges do not increase");
  }
  return {name,  Unit(input.text(array, "units").value_or("")), values.front(), values.back(), values.size() - 1,
          values};
}

BinnedAxis read_even_axis(const Input& input, const std::string& group, const std::string& edges,
                          const std::string& name) {
  BinnedAxis axis = read_axis(input, group, edges, name);
  if (!axis.is_even()) fail_damaged(input.path().string(), group + "/" + edges, "its bins are not of equal width");
  return axis;
}

std::vector<BinnedAxis> read_axes(const Input& input, const Product& p) {
  std::vector<BinnedAxis> axes;
  if (p.kind == ProductKind::profile) axes.push_back(read_axis(input, p.group, "edges", "radius"));
  if (p.kind == ProductKind::histogram) {
    std::istringstream names(show(p.attributes, "axes"));
    for (std::string name; names >> name;) axes.push_back(read_axis(input, p.group, "edges_" + name, name));
  }
  if (p.kind == ProductKind::cube || p.kind == ProductKind::spectrum) {
    axes.push_back(read_even_axis(input, p.group, "edges", show(p.attributes, "axis")));
  }
  if (p.is_picture()) {
    axes.push_back(read_even_axis(input, p.group, "edges_up", "up"));
    axes.push_back(read_even_axis(input, p.group, "edges_right", "right"));
  }
  return axes;
}

std::vector<double> read_finite(const Input& input, const std::string& array) {
  std::vector<double> values = input.read_all<double>(array);
  if (!std::ranges::all_of(values, [](double v) { return std::isfinite(v); })) {
    fail_damaged(input.path().string(), array, "not all of its numbers are finite");
  }
  return values;
}

}  // namespace

bool BinnedAxis::is_even() const {
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (!(std::abs(edges[i] - (low + double(i) * width())) < 1e-3 * width())) return false;
  }
  return true;
}

bool BinnedAxis::is_logarithmic() const {
  const double ratio = std::pow(high / low, 1 / double(bins));
  for (std::size_t i = 1; i < edges.size(); ++i) {
    if (!(low > 0 && std::abs(edges[i] / edges[i - 1] - ratio) < 1e-3 * (ratio - 1))) return false;
  }
  return !is_even();
}

std::vector<double> BinnedAxis::middles() const {
  std::vector<double> middles;
  const bool logarithmic = is_logarithmic();
  for (std::size_t i = 1; i < edges.size(); ++i) {
    middles.push_back(logarithmic ? std::sqrt(edges[i - 1] * edges[i]) : (edges[i - 1] + edges[i]) / 2);
  }
  return middles;
}

std::string kind_name(ProductKind kind) {
  constexpr const char* names[] = {"image", "cube", "spectrum", "profile", "histogram"};
  return names[int(kind)];
}

std::vector<std::string> caveats_of(const Result& result, ProductKind kind, const std::string& name) {
  const std::vector<ProductPlace> places = find_products(result);
  std::vector<std::string> lines = result.lines("caveats");
  std::erase_if(lines, [&](const std::string& line) {
    return std::ranges::any_of(places, [&](const ProductPlace& place) {
      const bool is_other = place.kind != kind || place.name != name;
      return is_other && line.starts_with(kind_name(place.kind) + " " + place.name + ": ");
    });
  });
  return lines;
}

const BinnedAxis* Product::frequency() const {
  return kind == ProductKind::cube || kind == ProductKind::spectrum ? axes.data() : nullptr;
}

bool Product::knows_errors() const { return is_light() && text(attributes, "error_method") != "none"; }

bool Product::is_observed() const { return attributes.count("frame") && show(attributes, "frame") == "observed"; }

std::string Product::observer() const { return attributes.count("observer") ? show(attributes, "observer") : ""; }
std::string Product::generator() const { return attributes.count("generator") ? show(attributes, "generator") : ""; }

double Product::bin_size() const {
  double size = 1;
  for (const BinnedAxis& axis : axes) size *= axis.width();
  return size;
}

Unit Product::unit_of_light() const {
  Unit light = unit;
  for (const BinnedAxis& axis : axes) light = light * axis.unit;
  return light;
}

std::vector<ProductPlace> find_products(const Result& result) {
  constexpr std::string_view folders[] = {"/images", "/cubes", "/spectra", "/profiles", "/histograms"};
  std::vector<ProductPlace> found;
  for (const Object& object : result.objects) {
    const std::size_t slash = object.path.rfind('/');
    const std::string folder = object.path.substr(0, slash), name = object.path.substr(slash + 1);
    if (object.is_dataset) continue;
    const auto kind = std::ranges::find(folders, folder);
    if (kind != std::end(folders)) found.push_back({ProductKind(kind - std::begin(folders)), name, &object});
  }
  return found;
}

Product read_product(const Input& input, const ProductPlace& place) {
  constexpr const char* arrays[] = {"surface_brightness", "intensity", "flux", "surface_brightness", "luminosity"};
  Product p{place.kind, place.name, place.group->path, arrays[int(place.kind)], {}, {}, place.group->attributes};
  for (const char* of_rays : {"value", "rgba"}) {
    if (p.kind == ProductKind::image && !input.has(p.group + "/" + p.array) && input.has(p.group + "/" + of_rays)) {
      p.array = of_rays;
    }
  }
  p.axes = read_axes(input, p);
  p.unit = Unit(input.text(p.group + "/" + p.array, "units").value_or(""));
  std::vector<std::uint64_t> shape;
  for (const BinnedAxis& axis : p.axes) shape.push_back(axis.bins);
  if (p.is_coloured()) shape.push_back(4);
  for (const std::string& array : {p.array, std::string("error"), std::string("vov")}) {
    if (array == "vov" && !input.has(p.group + "/vov")) continue;
    if (array == "error" && !p.knows_errors()) continue;
    if (input.array(p.group + "/" + array).shape != shape) {
      fail_damaged(input.path().string(), p.group + "/" + array, "its shape is not that of its axes");
    }
  }
  return p;
}

std::vector<double> read_values(const Input& input, const Product& product) {
  const std::string array = product.group + "/" + product.array;
  return product.is_light() ? read_finite(input, array) : input.read_all<double>(array);
}

std::vector<double> read_errors(const Input& input, const Product& product) {
  if (product.knows_errors()) return read_finite(input, product.group + "/error");
  std::size_t bins = 1;
  for (const BinnedAxis& axis : product.axes) bins *= axis.bins;
  return std::vector<double>(bins, std::numeric_limits<double>::quiet_NaN());
}

std::vector<double> read_vov(const Input& input, const Product& product) {
  return input.has(product.group + "/vov") ? read_finite(input, product.group + "/vov") : std::vector<double>{};
}

std::vector<double> read_picture(const Input& input, const Product& product) {
  std::vector<double> values = read_values(input, product);
  const BinnedAxis* frequency = product.frequency();
  if (!frequency) return values;
  std::vector<double> sum(values.size() / frequency->bins);
  for (std::size_t i = 0; i < values.size(); ++i) sum[i % sum.size()] += values[i] * frequency->width();
  return sum;
}

Unit unit_of_picture(const Product& product) {
  return product.frequency() ? product.unit * product.frequency()->unit : product.unit;
}

Sky sky_of(const Result& result) {
  const Attributes* sky = result.of("/sky");
  if (!sky) return {};
  return {number(*sky, "redshift"), number(*sky, "distance_luminosity"), number(*sky, "distance_angular"),
          number(*sky, "kpc_per_arcsec")};
}

std::optional<std::array<double, 3>> vector_of(const Attributes& attributes, const std::string& name) {
  std::istringstream text(show(attributes, name));
  std::array<double, 3> v{};
  if (!(text >> v[0] >> v[1] >> v[2])) return std::nullopt;
  return v;
}

}  // namespace thor::io
