#include "thor/outputs/reweight.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "thor/core/error.hpp"

namespace thor {
namespace {

void check(const EmittedVelocities& v, const char* which) {
  const bool has_line = v.line > 0, has_continuum = v.line < 1;
  const bool good = v.line >= 0 && v.line <= 1 && (!has_line || (v.sigma > 0 && std::isfinite(v.sigma))) &&
                    (!has_continuum || (v.low < v.high && std::isfinite(v.high - v.low)));
  if (good) return;
  throw Error(
      ExitCode::usage,
      fmt::format("{}: a width above 0, a share from 0 to 1 and a continuum between two velocities are expected, not "
                  "{}, {} and {} to {}",
                  which, v.sigma, v.line, v.low, v.high));
}

}  // namespace

double EmittedVelocities::density(double velocity) const {
  double found = 0;
  if (line > 0) {
    found += line * std::exp(-0.5 * std::pow(velocity / sigma, 2)) / (sigma * std::sqrt(2 * std::numbers::pi));
  }
  if (line < 1 && velocity >= low && velocity <= high) found += (1 - line) / (high - low);
  return found;
}

EmittedVelocities EmittedVelocities::with_width(double sigma, double equivalent_width, double low, double high) {
  return {sigma, equivalent_width / (equivalent_width + high - low), low, high};
}

std::vector<double> reweight(std::span<const double> velocities, const EmittedVelocities& run,
                             const EmittedVelocities& wanted) {
  check(run, "source of the run"), check(wanted, "source that is wanted");
  std::vector<double> weights;
  weights.reserve(velocities.size());
  for (const double velocity : velocities) {
    const double there = run.density(velocity);
    if (!(there > 0)) {
      throw Error(ExitCode::usage, fmt::format("a photon of {} cm/s cannot come from the source of the run", velocity));
    }
    weights.push_back(wanted.density(velocity) / there);
  }
  return weights;
}

std::vector<double> left_by_dust(std::span<const double> columns, double column_of_gas, double absorption) {
  if (!(column_of_gas > 0) || !(absorption >= 0) || !std::isfinite(absorption)) {
    throw Error(ExitCode::usage,
                fmt::format("the column of the gas must be above 0, and the optical depth not negative: {}, {}",
                            column_of_gas, absorption));
  }
  std::vector<double> left;
  left.reserve(columns.size());
  for (const double column : columns) left.push_back(std::exp(-absorption * column / column_of_gas));
  return left;
}

double effective_number(std::span<const double> weights) {
  double sum = 0, squares = 0;
  for (const double weight : weights) sum += weight, squares += weight * weight;
  return squares > 0 ? sum * sum / squares : 0;
}

}  // namespace thor
