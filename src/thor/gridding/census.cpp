#include "thor/gridding/census.hpp"

#include <fmt/format.h>

#include "thor/emission/stars.hpp"
#include "thor/gridding/plan/plan.hpp"

namespace thor::gridding {
namespace {

/// Warns of what is suspicious but no error.
void warn_of(const Job& job, const Totals& t, const std::vector<double>& gridded) {
  if (t.beyond > t.elements / 10) {
    job.warn(
        fmt::format("{} of {} gas elements have coordinates beyond the box of {:.6g} kpc: is that its size (--box)?",
                    t.beyond, t.elements, job.region.frame.box[0] / (1e3 * constants::pc)));
  }
  const FieldList& fields = job.gas.fields;
  for (int s = 0; s < fields.species(); ++s) {
    if (gridded[std::size_t(fields.number_of(s))] > 0) continue;
    job.warn(fmt::format("there is no {} in the grid: its line is not absorbed anywhere", fields.species_name(s)));
  }
}

}  // namespace

void refuse_bad_cells(const Job& job, const Defects& bad) {
  if (job.options.on_bad_cells != OnBadCells::error || bad.total() == 0) return;
  refuse(job, fmt::format("{} gas elements have impossible values:\n{}--on-bad-cells drop skips them, "
                          "--on-bad-cells floor replaces zero and negative values by floors and skips the rest",
                          bad.total(), bad.describe()));
}

std::string describe_gas_found(const Job& job, const Gatherer& gatherer) {
  const Totals& t = gatherer.totals();
  const Defects& bad = gatherer.defects();
  std::string out = fmt::format("gas elements {}\n", t.elements);
  if (t.star_forming > 0) {
    out +=
        fmt::format("star-forming {} gas elements, with {:.3g} of the mass and {:.3g} of the HI: {}\n", t.star_forming,
                    t.star_forming_mass_share(), t.star_forming_HI_share(), describe_star_forming(job.gas.model));
  }
  if (t.beyond > 0 && job.region.frame.wraps) {
    out += fmt::format("wrapped      {} gas elements with coordinates beyond the box\n", t.beyond);
  }
  if (bad.total() > 0) {
    out += fmt::format("bad cells    {}: {} skipped with a mass of {:.6g} Msun, {} set to a floor\n{}", bad.total(),
                       bad.dropped, bad.mass_dropped / emission::solar_mass, bad.floored, bad.describe());
  }
  return out;
}

std::string describe_clamped(const GasModel& model) {
  std::string out;
  if (model.ionization && model.ionization->clamped() > 0) {
    out = fmt::format("ionisation   {} look-ups beyond the table took the value at its edge\n",
                      model.ionization->clamped());
  }
  if (model.table && model.table->clamped() > 0) {
    out +=
        fmt::format("ion table    {} look-ups beyond the table took the value at its edge\n", model.table->clamped());
  }
  return out;
}

Budget settle(const Job& job, const Totals& totals, const std::vector<double>& gridded) {
  const GridOptions& o = job.options;
  if (gridded[mass] == 0) refuse(job, "no gas in the region: check --centre and --size");
  Budget budget = make_budget(totals, gridded, job.gas.fields);
  if (o.method == Method::kernel && !(budget.worst() <= o.tolerance)) {
    refuse(job, fmt::format("the grid does not conserve its input to {:.1e} (--tolerance): {} is off by {:.1e}\n{}",
                            o.tolerance, budget.worst_total(), budget.worst(), budget.to_text()));
  }
  warn_of(job, totals, gridded);
  return budget;
}

}  // namespace thor::gridding
