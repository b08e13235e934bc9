#include <fmt/format.h>

#include <cmath>

#include "thor/core/error.hpp"
#include "thor/io/snapshot/header.hpp"

/// Factors of units, a and h in a field: from the attributes of its dataset, otherwise by the conventions of the code.
namespace thor::io {
namespace {

/// Powers of the code's units and of a and h.
struct Powers {
  double length = 0, mass = 0, velocity = 0, a = 0, h = 0;
};

/// Gadget (Springel 2005, MNRAS 364, 1105; the user's guide), AREPO and TNG: lengths are comoving and in units of 1/h;
/// multiplying a velocity by sqrt(a) makes it peculiar. SWIFT has no h, peculiar velocities, and, since its energies
/// are comoving, u = a^-2 u' for gamma = 5/3.
Powers custom(FieldQuantity quantity, Code code) {
  const auto gadget = [&]() -> Powers {
    switch (quantity) {
      case FieldQuantity::length:
        return {.length = 1, .a = 1, .h = -1};
      case FieldQuantity::volume:
        return {.length = 3, .a = 3, .h = -3};
      case FieldQuantity::mass:
        return {.mass = 1, .h = -1};
      case FieldQuantity::density:
        return {.length = -3, .mass = 1, .a = -3, .h = 2};
      case FieldQuantity::velocity:
        return {.velocity = 1, .a = 0.5};
      case FieldQuantity::energy:
        return {.velocity = 2};
      case FieldQuantity::time:
        return {.length = 1, .velocity = -1, .h = -1};
      case FieldQuantity::mass_rate:
        return {.length = -1, .mass = 1, .velocity = 1};
      case FieldQuantity::none:
      case FieldQuantity::temperature:
        break;
    }
    return {};
  };
  Powers powers = gadget();
  if (code == Code::swift) {
    powers.h = 0;
    if (quantity == FieldQuantity::velocity) powers.a = 0;
    if (quantity == FieldQuantity::energy) powers.a = -2;
  }
  return powers;
}

/// Factors in the attributes of a dataset.
struct Said {
  double cgs = 0, a = 0, h = 0;
  bool units_alone = true;  ///< in `cgs`: neither a nor h
};

std::optional<double> number(const Input& input, const std::string& path, const char* name) {
  const auto numbers = input.numbers(path, name);
  if (numbers.size() != 1 || !std::isfinite(numbers[0])) return {};
  return numbers[0];
}

std::optional<Said> said(const Input& input, const std::string& path) {
  const auto of = [&](const char* name) { return number(input, path, name); };
  // AREPO, Gadget-4; to_cgs = 0 means dimensionless.
  if (const auto cgs = of("to_cgs"), a = of("a_scaling"), h = of("h_scaling"); cgs && a && h && *cgs > 0) {
    return Said{*cgs, *a, *h};
  }
  // EAGLE
  if (const auto cgs = of("CGSConversionFactor"), a = of("aexp-scale-exponent"), h = of("h-scale-exponent");
      cgs && a && h && *cgs > 0) {
    return Said{*cgs, *a, *h};
  }
  // SWIFT, current and early versions
  for (const char* name :
       {"Conversion factor to CGS (not including cosmological corrections)", "CGS conversion factor"}) {
    const auto cgs = of(name), a = of("a-scale exponent");
    if (!cgs || !a || !(*cgs > 0)) continue;
    return Said{*cgs, of("Value stored as physical").value_or(0) == 1 ? 0 : *a, of("h-scale exponent").value_or(0)};
  }
  for (const char* name : {"Conversion factor to physical CGS (including cosmological corrections)",
                           "Conversion factor to CGS (including cosmological corrections)"}) {
    if (const auto cgs = of(name); cgs && *cgs > 0) return Said{*cgs, 0, 0, false};
  }
  return {};
}

/// Factor of the units alone.
double unit_factor(const Input& input, const Powers& powers, const SnapshotUnits& units) {
  double factor = 1;
  const auto apply = [&](const char* what, const std::optional<double>& unit, double power) {
    if (power == 0) return;
    if (!unit) {
      throw Error(
          ExitCode::input,
          fmt::format("{}: the unit of {} is neither in /Header nor in /Parameters nor in the datasets' attributes: "
                      "give --unit-length, --unit-mass and --unit-velocity in cgs (those of the code, without h "
                      "and a), or --assume-tng-units for kpc/h, 1e10 M_sun/h and km/s as in TNG",
                      input.path().string(), what));
    }
    factor *= std::pow(*unit, power);
  };
  apply("length", units.length, powers.length);
  apply("mass", units.mass, powers.mass);
  apply("velocity", units.velocity, powers.velocity);
  return factor;
}

}  // namespace

double cgs_factor(const Input& input, FieldQuantity quantity, const SnapshotUnits& units) {
  const Powers powers = custom(quantity, units.code);
  return unit_factor(input, powers, units) * std::pow(units.a, powers.a) * std::pow(units.h, powers.h);
}

void compare_units(const Input& input, const std::string& group, const SnapshotUnits& units,
                   std::vector<std::string>& warnings) {
  constexpr double rounding = 1e-3;  // of 1.989e43 g and 1.98841e43 g
  if (units.overridden) return;
  const auto compare = [&](const char* name, const char* unit, const std::optional<double>& header) {
    const std::string path = group + "/" + name;
    const auto own = input.has(path) ? said(input, path) : std::nullopt;
    if (!own || !own->units_alone || !header || std::abs(own->cgs / *header - 1) < rounding) return;
    warnings.push_back(
        fmt::format("{}: the unit of {} is {:.6g} {} by its attributes and {:.6g} {} by the header: they contradict "
                    "each other, and the attributes are used; give --unit-length, --unit-mass and --unit-velocity if "
                    "they are wrong",
                    input.path().string(), path, own->cgs, unit, *header, unit));
  };
  compare("Coordinates", "cm", units.length);
  compare("Masses", "g", units.mass);
  compare("Velocities", "cm/s", units.velocity);
}

double cgs_factor(const Input& input, const std::string& path, FieldQuantity quantity, const SnapshotUnits& units) {
  if (quantity == FieldQuantity::none) return 1;
  const auto own = said(input, path);
  if (!own) return cgs_factor(input, quantity, units);
  const double cgs = units.overridden && quantity != FieldQuantity::temperature
                         ? unit_factor(input, custom(quantity, units.code), units)
                         : own->cgs;
  return cgs * std::pow(units.a, own->a) * std::pow(units.h, own->h);
}

}  // namespace thor::io
