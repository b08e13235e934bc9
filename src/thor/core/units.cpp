#include "thor/core/units.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "thor/core/constants.hpp"

namespace thor {
namespace {

struct Unit {
  std::string_view name;
  Dimension dimension;
  double cgs;
  bool listed = true;  // other spellings are accepted but not advertised
};

constexpr Unit units[] = {
    {"cm", Dimension::length, 1},
    {"m", Dimension::length, 1e2},
    {"km", Dimension::length, constants::km},
    {"au", Dimension::length, constants::au},
    {"pc", Dimension::length, constants::pc},
    {"kpc", Dimension::length, 1e3 * constants::pc},
    {"Mpc", Dimension::length, 1e6 * constants::pc},
    {"Angstrom", Dimension::length, constants::angstrom},
    {"nm", Dimension::length, 1e-7},
    {"um", Dimension::length, 1e-4},
    {"cm/s", Dimension::velocity, 1},
    {"m/s", Dimension::velocity, 1e2},
    {"km/s", Dimension::velocity, constants::km},
    {"K", Dimension::temperature, 1},
    {"cm^-2", Dimension::column_density, 1},
    {"cm-2", Dimension::column_density, 1, false},
    {"cm**-2", Dimension::column_density, 1, false},
    {"1/cm^2", Dimension::column_density, 1, false},
    {"1/cm**2", Dimension::column_density, 1, false},
    {"cm^-3", Dimension::number_density, 1},
    {"cm-3", Dimension::number_density, 1, false},
    {"cm**-3", Dimension::number_density, 1, false},
    {"1/cm^3", Dimension::number_density, 1, false},
    {"1/cm**3", Dimension::number_density, 1, false},
    {"erg/s", Dimension::luminosity, 1},
    {"Hz", Dimension::frequency, 1},
    {"s^-1", Dimension::rate, 1},
    {"s-1", Dimension::rate, 1, false},
    {"1/s", Dimension::rate, 1, false},
    {"cm^-1", Dimension::wavenumber, 1},
    {"cm-1", Dimension::wavenumber, 1, false},
    {"1/cm", Dimension::wavenumber, 1, false},
    {"cm^2", Dimension::area, 1},
    {"cm2", Dimension::area, 1, false},
    {"cm**2", Dimension::area, 1, false},
    {"u", Dimension::mass, constants::m_u},
    {"g", Dimension::mass, 1},
    {"Msun", Dimension::mass, solar_mass},
    {"arcsec", Dimension::angle, constants::pi / 648000},
    {"arcmin", Dimension::angle, constants::pi / 10800},
    {"deg", Dimension::angle, constants::pi / 180},
    {"s", Dimension::time, 1},
    {"min", Dimension::time, 60},
    {"h", Dimension::time, 3600},
    {"d", Dimension::time, 86400},
    {"MB", Dimension::memory, 1e6},
    {"GB", Dimension::memory, 1e9},
    {"%", Dimension::fraction, 0.01},
};

constexpr std::string_view blanks = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string listed_units(Dimension dimension) {
  std::string names;
  for (const Unit& unit : units) {
    if (!unit.listed || unit.dimension != dimension) continue;
    names += (names.empty() ? "" : ", ") + std::string(unit.name);
  }
  return names;
}

std::string example(Dimension dimension) {
  switch (dimension) {
    case Dimension::none:
      return "a plain number such as 0.5, without a unit";
    case Dimension::length:
      return "a length such as \"10 kpc\"";
    case Dimension::velocity:
      return "a velocity such as \"200 km/s\"";
    case Dimension::temperature:
      return "a temperature such as \"2e4 K\"";
    case Dimension::column_density:
      return "a column density such as \"2e20 cm^-2\"";
    case Dimension::number_density:
      return "a number density such as \"1e-3 cm^-3\"";
    case Dimension::luminosity:
      return "a luminosity such as \"1e42 erg/s\"";
    case Dimension::frequency:
      return "a frequency such as \"2.4e15 Hz\"";
    case Dimension::rate:
      return "a rate such as \"6.26e8 s^-1\"";
    case Dimension::wavenumber:
      return "a wavenumber such as \"35760.88 cm^-1\"";
    case Dimension::area:
      return "a cross-section such as \"1e-21 cm^2\"";
    case Dimension::mass:
      return "a mass such as \"24.305 u\" or \"1e4 Msun\"";
    case Dimension::angle:
      return "an angle such as \"2 arcsec\"";
    case Dimension::time:
      return "a time such as \"2 h\"";
    case Dimension::memory:
      return "memory such as \"2 GB\"";
    case Dimension::fraction:
      return "a share such as \"2%\" or 0.02";
  }
  return {};
}

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

/// The problem with `text`; if there is none, the quantity is set.
std::string scan(std::string_view text, Quantity& quantity) {
  const std::string_view body = trimmed(text);
  const bool plus = body.starts_with('+') && !body.starts_with("+-");
  const char* end = body.data() + body.size();
  const auto [rest, error] = std::from_chars(body.data() + plus, end, quantity.value);
  if (error == std::errc::invalid_argument) return "not a number";
  if (error == std::errc::result_out_of_range) return "number out of range";
  if (!std::isfinite(quantity.value)) return "not a finite number";

  const std::string_view name = trimmed({rest, static_cast<std::size_t>(end - rest)});
  if (name.empty()) return {};
  const auto unit =
      std::find_if(std::begin(units), std::end(units), [&](const Unit& known) { return known.name == name; });
  if (unit == std::end(units)) return "unknown unit " + quoted(name);
  const double cgs = quantity.value * unit->cgs;
  if (!std::isfinite(cgs) || (cgs == 0) != (quantity.value == 0)) return "number out of range";
  quantity.value = cgs;
  quantity.dimension = unit->dimension;
  return {};
}

}  // namespace

std::string_view shown_unit(Dimension dimension) {
  switch (dimension) {
    case Dimension::none:
      return "";
    case Dimension::length:
      return "cm";
    case Dimension::velocity:
      return "km/s";
    case Dimension::temperature:
      return "K";
    case Dimension::column_density:
      return "cm^-2";
    case Dimension::number_density:
      return "cm^-3";
    case Dimension::luminosity:
      return "erg/s";
    case Dimension::frequency:
      return "Hz";
    case Dimension::rate:
      return "s^-1";
    case Dimension::wavenumber:
      return "cm^-1";
    case Dimension::area:
      return "cm^2";
    case Dimension::mass:
      return "g";
    case Dimension::angle:
      return "deg";
    case Dimension::time:
      return "s";
    case Dimension::memory:
      return "GB";
    case Dimension::fraction:
      return "%";
  }
  return "";
}

std::vector<std::string> unit_names(Dimension dimension) {
  std::vector<std::string> names;
  for (const Unit& unit : units) {
    if (unit.dimension == dimension) names.emplace_back(unit.name);
  }
  return names;
}

std::string describe(Dimension dimension) {
  const std::string names = listed_units(dimension);
  return example(dimension) + (names.empty() ? "" : " (units: " + names + ")");
}

Quantity parse_quantity(std::string_view text) {
  Quantity quantity{.text = std::string(trimmed(text))};
  const std::string problem = scan(text, quantity);
  if (!problem.empty()) {
    throw std::invalid_argument("expected a number, with a unit if it has one; got " + quoted(text) + ": " + problem);
  }
  return quantity;
}

Quantity parse_quantity(std::string_view text, Dimension expected) {
  Quantity quantity{.text = std::string(trimmed(text))};
  std::string problem = scan(text, quantity);
  if (quantity.dimension == Dimension::none && expected == Dimension::fraction) quantity.dimension = expected;
  if (problem.empty() && quantity.dimension != expected) {
    problem = quantity.dimension == Dimension::none ? "no unit"
              : expected == Dimension::none         ? "it has a unit"
                                                    : "wrong unit";
  }
  if (!problem.empty()) {
    throw std::invalid_argument("expected " + describe(expected) + ", got " + quoted(text) + ": " + problem);
  }
  return quantity;
}

}  // namespace thor
