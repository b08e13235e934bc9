#include "thor/gridding/plan/budget.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "thor/emission/stars.hpp"

namespace thor::gridding {

double Budget::worst() const {
  double most = 0;
  for (const BudgetLine& line : lines) {
    if (std::isnan(line.difference)) return std::numeric_limits<double>::infinity();
    most = std::max(most, std::abs(line.difference));
  }
  return most;
}

std::string Budget::worst_total() const {
  for (const BudgetLine& line : lines) {
    if (std::isnan(line.difference) || std::abs(line.difference) == worst()) return line.name;
  }
  return "";
}

std::string Budget::to_text() const {
  std::string out =
      fmt::format("{:<32} {:>14} {:>14} {:>14} {:>11}\n", "total", "input", "gridded", "cut off", "difference");
  for (const BudgetLine& l : lines) {
    out += fmt::format("{:<32} {:>14.7g} {:>14.7g} {:>14.7g} {:>11.1e}\n",
                       l.units.empty() ? l.name : fmt::format("{} [{}]", l.name, l.units), l.input, l.gridded, l.cut,
                       l.difference);
  }
  return out;
}

Budget make_budget(const Totals& totals, const std::vector<double>& gridded, const FieldList& fields) {
  Budget budget;
  const double solar = emission::solar_mass;
  const auto add = [&](int field, const std::string& name, const std::string& units, double unit = 1,
                       double scale = 0) {
    const auto f = std::size_t(field);
    BudgetLine line{name, units, totals.input[f] / unit, gridded[f] / unit, totals.cut[f] / unit, 0};
    const double excess = line.gridded + line.cut - line.input;
    if (scale == 0) scale = std::abs(totals.input[f]);
    if (excess != 0) line.difference = excess * unit / scale;
    budget.lines.push_back(line);
  };
  add(mass, "mass", "Msun", solar);
  for (int a = 0; a < 3; ++a) {
    add(momentum_x + a, fmt::format("momentum {}", "xyz"[a]), "Msun km/s", solar * constants::km, totals.momentum);
  }
  add(energy, "thermal energy", "erg");
  add(HI, "HI mass", "Msun", solar / hydrogen_mass);
  add(HII, "HII mass", "Msun", solar / hydrogen_mass);
  add(electrons, "electrons", "");
  if (fields.metals >= 0) {
    add(fields.metals, "metal mass", "Msun", solar);
    add(fields.dust, "dust", "");
  }
  if (fields.recombination >= 0) {
    add(fields.recombination, "luminosity from recombination", "erg/s");
    add(fields.collisional, "luminosity from collisions", "erg/s");
  }
  for (std::size_t k = 0; k < fields.ions.size(); ++k) add(fields.first_ion + int(k), fields.ions[k] + " ions", "");
  for (int s = 0; s < fields.species(); ++s) {
    const std::string name = fields.species_name(s);
    add(fields.moment(s, moment_T), name + " temperature", "atoms K");
    for (int a = 0; a < 3; ++a) {
      add(fields.moment(s, moment_vx + a), fmt::format("{} velocity {}", name, "xyz"[a]), "atoms km/s", constants::km,
          totals.speed[std::size_t(s)]);
    }
  }
  for (std::size_t k = 0; k < fields.lines.size(); ++k) {
    add(fields.first_line + int(k), "luminosity of " + fields.lines[k], "erg/s");
  }
  return budget;
}

}  // namespace thor::gridding
