#include "thor/io/result/product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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
  BinnedAxis axis{name, Unit(input.text(array, "units").value_or("")), values.front(), values.back(),
                  values.size() - 1};
  const double width = axis.width();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool equal = std::abs(values[i] - (axis.low + double(i) * width)) < 1e-3 * width;
    if (!(width > 0) || !equal) fail_damaged(path, array, "its bins are not of equal width");
  }
  return axis;
}

std::vector<double> read_finite(const Input& input, const std::string& array) {
  std::vector<double> values = input.read_all<double>(array);
  if (!std::ranges::all_of(values, [](double v) { return std::isfinite(v); })) {
    fail_damaged(input.path().string(), array, "not all of its numbers are finite");
  }
  return values;
}

}  // namespace

std::string kind_name(ProductKind kind) {
  return kind == ProductKind::image ? "image" : kind == ProductKind::cube ? "cube" : "spectrum";
}

const BinnedAxis* Product::frequency() const { return kind == ProductKind::image ? nullptr : &axes.front(); }

std::string Product::observer() const { return attributes.count("observer") ? show(attributes, "observer") : ""; }

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
  std::vector<ProductPlace> found;
  for (const Object& object : result.objects) {
    const std::size_t slash = object.path.rfind('/');
    const std::string folder = object.path.substr(0, slash), name = object.path.substr(slash + 1);
    if (object.is_dataset) continue;
    if (folder == "/images") found.push_back({ProductKind::image, name, &object});
    if (folder == "/cubes") found.push_back({ProductKind::cube, name, &object});
    if (folder == "/spectra") found.push_back({ProductKind::spectrum, name, &object});
  }
  return found;
}

Product read_product(const Input& input, const ProductPlace& place) {
  const ProductKind kind = place.kind;
  Product p{kind, place.name, place.group->path, "", {}, {}, place.group->attributes};
  p.array = kind == ProductKind::image ? "surface_brightness" : kind == ProductKind::cube ? "intensity" : "flux";
  if (kind != ProductKind::image) p.axes.push_back(read_axis(input, p.group, "edges", show(p.attributes, "axis")));
  if (kind != ProductKind::spectrum) {
    p.axes.push_back(read_axis(input, p.group, "edges_up", "up"));
    p.axes.push_back(read_axis(input, p.group, "edges_right", "right"));
  }
  p.unit = Unit(input.text(p.group + "/" + p.array, "units").value_or(""));
  std::vector<std::uint64_t> shape;
  for (const BinnedAxis& axis : p.axes) shape.push_back(axis.bins);
  for (const std::string& array : {p.array, std::string("error")}) {
    if (input.array(p.group + "/" + array).shape != shape) {
      fail_damaged(input.path().string(), p.group + "/" + array, "its shape is not that of its axes");
    }
  }
  return p;
}

std::vector<double> read_values(const Input& input, const Product& product) {
  return read_finite(input, product.group + "/" + product.array);
}

std::vector<double> read_errors(const Input& input, const Product& product) {
  return read_finite(input, product.group + "/error");
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
