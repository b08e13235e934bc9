#include <algorithm>
#include <cmath>
#include <span>

#include "thor/drivers/rays/scene.hpp"
#include "thor/io/array/units.hpp"

namespace thor {

RayScene::Spread RayScene::spread_of(const std::string& product) {
  const FieldUse use = this->use(product);
  if (!is_grid_) throw Error(ExitCode::usage, "spread: needs a grid (dataset.type uniform_grid, or dataset.cells)");
  if (use.quantity.velocity >= 0) {
    throw Error(ExitCode::usage, "the velocity along a ray is not an array of the grid: use one of its components");
  }
  const FieldArray& field = fields_[std::size_t(use.quantity.field)];
  const std::span<const float> numbers(field.numbers.get(), field.count);
  Spread spread{HUGE_VAL, HUGE_VAL, -HUGE_VAL, 0, 0};
  for (const float number : numbers) {
    const double value = double(number);
    spread.least = std::min(spread.least, value), spread.largest = std::max(spread.largest, value);
    if (value > 0) spread.least_positive = std::min(spread.least_positive, value);
  }
  // What is faint fills most of a box: the upper half of the cells is shown, but not the few largest values.
  const UniformGrid<double> layout = field_layout(shape_, part_);
  const std::int64_t cells = part_.count[0] * part_.count[1] * part_.count[2],
                     step = std::max<std::int64_t>(cells >> 20, 1);
  const bool has_both_signs = spread.least < 0 && spread.largest > 0;
  std::vector<float> sample;
  for (std::int64_t i = 0; i < cells; i += step) {
    const float value = numbers[place_of(layout, i)];
    if (has_both_signs) {
      sample.push_back(std::abs(value));
    } else if (value > 0 || !(spread.largest > 0)) {
      sample.push_back(value);
    }
  }
  const auto quantile = [&](double share) {
    if (sample.empty()) return spread.largest;
    const auto at = sample.begin() + std::ptrdiff_t(share * double(sample.size() - 1));
    std::ranges::nth_element(sample, at);
    return double(*at);
  };
  spread.low = quantile(0.5), spread.high = quantile(0.9999);
  if (has_both_signs) spread.low = -spread.high;  // 0 is in the middle
  for (double* value : {&spread.least, &spread.least_positive, &spread.largest, &spread.low, &spread.high}) {
    *value *= use.unit;
  }
  return spread;
}

std::string RayScene::units_of(const std::string& field) const {
  if (from_file_) {
    const io::Input file(dataset_.path);
    if (file.has(field)) return io::Unit(io::units_of(file, field)).text();
  }
  return field.ends_with("density") ? "cm-3" : field == "temperature" ? "K" : "km s-1";
}

}  // namespace thor
