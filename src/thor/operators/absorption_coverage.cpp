#include "thor/operators/absorption_coverage.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"
#include "thor/core/message.hpp"

namespace thor {
namespace {

using constants::km;

/// Gas at an end of a sightline: its place along it, in units of the dataset, its velocity and its b [cm/s].
struct End {
  double at = HUGE_VAL, velocity = 0, b = 0;
};

/// The piece of gas next to an end, among the parts that this rank has.
End end_of(RayWork& work, StraightRay ray, bool last, const std::vector<AbsorptionPlan>& plans) {
  constexpr double near = 1e-3;  // cells
  if (last) {
    ray.from = std::max(ray.from, ray.to - near);
  } else {
    ray.to = std::min(ray.to, ray.from + near);
  }
  End end;
  for (std::size_t p = 0; p < plans.size(); ++p) {
    const Absorption& a = plans[p].absorption;
    Quantities quantities{};
    quantities.count = 2, quantities.quantity[0] = a.temperature, quantities.quantity[1] = a.velocity;
    const RayRun run = work.engine(p).record(ray, quantities);
    for (std::size_t k = 0; k < run.begins.size(); ++k) {
      const double away = last ? ray.to - run.begins[k] - run.lengths[k] : run.begins[k] - ray.from;
      if (!(away < end.at)) continue;
      double widest = 0;
      for (int t = 0; t < a.transitions; ++t) widest = std::max(widest, a.transition[t].speed2);
      end = {away, a.velocity.velocity < 0 ? 0 : double(run.values[1][k]) * a.velocity_unit,
             std::sqrt(widest * double(run.values[0][k]) * a.temperature_unit + a.b_turb2)};
    }
  }
  return end;
}

}  // namespace

std::vector<Covered> covered_by(RayWork& work, const SightlineList& list, const std::vector<AbsorptionPlan>& plans,
                                config::GasBeyond beyond) {
  const GasOutline& gas = work.outline();
  const std::size_t count = list.begins.size();
  std::vector<Covered> covered(count);
  if (!(gas.hubble > 0) || (beyond == config::GasBeyond::empty && !gas.repeats())) return covered;
  constexpr Covered nothing{HUGE_VAL, -HUGE_VAL};
  std::vector<double> ends;  // of all sightlines that meet the gas: at, velocity, b of the first and of the last
  const bool traces = !gas.repeats() && (work.is_cut() || work.world.is_first());
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t first = list.rays.first[i], after = list.rays.first[i + 1];
    if (first == after) covered[i] = nothing;
    if (first == after || !traces) continue;
    for (const bool last : {false, true}) {
      work.stop_if_due();
      const End end = end_of(work, list.rays.rays[last ? after - 1 : first], last, plans);
      ends.insert(ends.end(), {end.at, end.velocity, end.b});
    }
  }
  if (gas.repeats()) return covered;
  std::vector<double> all = work.is_cut() ? everywhere(work.world, ends) : ends;
  const AbsorptionPlan& plan = plans.front();
  std::size_t next = 0;
  for (std::size_t i = 0; i < count && !ends.empty(); ++i) {
    const std::uint32_t first = list.rays.first[i], after = list.rays.first[i + 1];
    if (first == after) continue;
    const auto nearest = [&] {  // of all ranks
      End end;
      for (std::size_t k = next; k < all.size(); k += ends.size()) {
        if (all[k] < end.at) end = {all[k], all[k + 1], all[k + 2]};
      }
      next += 3;
      return end;
    };
    const End begin = nearest(), end = nearest();
    const double flow = plan.absorption.hubble;
    covered[i] = {begin.velocity + flow * list.rays.rays[first].from + plan.reddest + 3 * begin.b,
                  end.velocity + flow * list.rays.rays[after - 1].to + plan.bluest - 3 * end.b};
  }
  return covered;
}

void tell_coverage(const std::vector<Covered>& covered, const AbsorptionPlan& plan, const std::string& key) {
  const std::size_t bins = plan.edges.size() - 1;
  std::size_t known = 0;
  Covered common;
  for (const Covered& c : covered) {
    for (std::size_t b = 0; b < bins; ++b) known += c.has(plan.edges[b], plan.edges[b + 1]);
    if (!(c.high > c.low)) continue;
    common = {std::max(common.low, c.low), std::min(common.high, c.high)};
  }
  const std::size_t all = bins * covered.size();
  if (known == all) return;
  const bool some = common.high > common.low && std::isfinite(common.high);
  const std::string remedy =
      fmt::format("{}set beyond: empty if there is no gas outside",
                  some ? fmt::format("all sightlines cover {:.5g} to {:.5g} km/s: take a range within it, or ",
                                     common.low / km, common.high / km)
                       : std::string());
  if (known == 0) {
    throw Error(
        ExitCode::usage,
        fmt::format("{}: every bin would be NaN: unknown gas outside the open box could absorb in all of the range; {}",
                    key, remedy));
  }
  warning("{}: {:.3g} % of the bins are NaN, where unknown gas outside the box could absorb; {}", key,
          100 * double(all - known) / double(all), remedy);
}

SightlineRays with_images(const GasOutline& gas, const SightlineList& list, std::size_t first,
                          const AbsorptionPlan& plan, double fastest, const std::vector<double>& columns) {
  const Absorption& a = plan.absorption;
  const double hubble = a.hubble / a.length;  // [1/s]
  double wings = 0;                           // optical depth of the damping wings, times v^2 over the column
  for (int i = 0; i < a.transitions; ++i) wings += a.transition[i].strength * a.transition[i].damping;
  SightlineRays rays;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::size_t line = first + i;
    if (list.rays.first[line + 1] > list.rays.first[line]) {
      // Wings fade at an optical depth of 1e-4.
      const double wing = std::sqrt(wings / std::sqrt(std::numbers::pi) * columns[i] / 1e-4);
      const double margin = fastest + std::min(wing, 2e4 * km);
      add_images(gas, list.begins[line], list.directions[line], (plan.edges.front() - plan.reddest - margin) / hubble,
                 (plan.edges.back() - plan.bluest + margin) / hubble, rays);
    }
    rays.first.push_back(std::uint32_t(rays.rays.size()));
  }
  return rays;
}

}  // namespace thor
