#include "thor/core/units.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "thor/core/constants.hpp"

namespace thor {
namespace {

std::string message(const std::string& text, Dimension expected) {
  try {
    parse_quantity(text, expected);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

struct Good {
  const char* text;
  Dimension dimension;
  double value;
};

TEST(Units, AShareMayBeAPlainNumber) {
  EXPECT_EQ(parse_quantity("0.02", Dimension::fraction).value, 0.02);
  EXPECT_NE(message("2 h", Dimension::fraction).find("a share such as \"2%\""), std::string::npos);
  EXPECT_NE(message("2%", Dimension::none).find("it has a unit"), std::string::npos);
}

TEST(Units, EveryUnit) {
  const Good table[] = {
      {"1 cm", Dimension::length, 1},
      {"2 m", Dimension::length, 200},
      {"3 km", Dimension::length, 3e5},
      {"1 au", Dimension::length, 1.495978707e13},
      {"1 pc", Dimension::length, constants::pc},
      {"10 kpc", Dimension::length, 1e4 * constants::pc},
      {"1 Mpc", Dimension::length, 1e6 * constants::pc},
      {"1.5 Angstrom", Dimension::wavelength, 1.5e-8},
      {"121.6 nm", Dimension::wavelength, 1.216e-5},
      {"2 um", Dimension::wavelength, 2e-4},
      {"5 cm/s", Dimension::velocity, 5},
      {"5 m/s", Dimension::velocity, 500},
      {"-200 km/s", Dimension::velocity, -2e7},
      {"2e4 K", Dimension::temperature, 2e4},
      {"2e20 cm^-2", Dimension::column_density, 2e20},
      {"2e20 cm-2", Dimension::column_density, 2e20},
      {"2e20 cm**-2", Dimension::column_density, 2e20},
      {"2e20 1/cm^2", Dimension::column_density, 2e20},
      {"2e20 1/cm**2", Dimension::column_density, 2e20},
      {"1e-3 cm^-3", Dimension::number_density, 1e-3},
      {"1e-3 cm-3", Dimension::number_density, 1e-3},
      {"1e-3 cm**-3", Dimension::number_density, 1e-3},
      {"1e-3 1/cm^3", Dimension::number_density, 1e-3},
      {"1e-3 1/cm**3", Dimension::number_density, 1e-3},
      {"1e42 erg/s", Dimension::luminosity, 1e42},
      {"2.4e15 Hz", Dimension::frequency, 2.4e15},
      {"180 deg", Dimension::angle, constants::pi},
      {"60 arcmin", Dimension::angle, constants::pi / 180},
      {"3600 arcsec", Dimension::angle, constants::pi / 180},
      {"90 s", Dimension::time, 90},
      {"2 min", Dimension::time, 120},
      {"1.5 h", Dimension::time, 5400},
      {"2 d", Dimension::time, 172800},
      {"2 GB", Dimension::memory, 2e9},
      {"500 MB", Dimension::memory, 5e8},
      {"2%", Dimension::fraction, 0.02},
      {"1e6", Dimension::none, 1e6},
      {"-.5", Dimension::none, -0.5},
      {"+3.", Dimension::none, 3},
      {"  7  ", Dimension::none, 7},
      {"10kpc", Dimension::length, 1e4 * constants::pc},
      {" 1E3\tcm ", Dimension::length, 1e3},
      {"0 kpc", Dimension::length, 0},
  };
  for (const Good& good : table) {
    SCOPED_TRACE(good.text);
    const Quantity quantity = parse_quantity(good.text, good.dimension);
    EXPECT_DOUBLE_EQ(quantity.value, good.value);
    EXPECT_EQ(quantity.dimension, good.dimension);
    EXPECT_EQ(parse_quantity(good.text).dimension, good.dimension);
  }
}

TEST(Units, KeepsTheText) { EXPECT_EQ(parse_quantity(" 10 kpc ").text, "10 kpc"); }

TEST(Units, RefusesWhatIsNoNumberWithAUnit) {
  for (const char* text :
       {"",          " ",         "kpc",       "nan kpc",         "NaN",     "inf",      "-inf kpc", "infinity",
        "1e400 kpc", "1e-400 cm", "1e308 Mpc", "1e-320 Angstrom", "1 kpc x", "1 2 kpc",  "1e",       "1,5 kpc",
        "0x10 cm",   "--1 cm",    "+-1 cm",    "++1 cm",          "1 Kpc",   "1 parsec", "1 km / s", "1 km/s/s",
        "1 cm^4",    "ten kpc",   "1_000 K",   "1 \"K\"",         "1e3e3 K"}) {
    SCOPED_TRACE(text);
    EXPECT_THROW(parse_quantity(text), std::invalid_argument);
    for (const Dimension dimension : {Dimension::none, Dimension::length, Dimension::temperature}) {
      EXPECT_THROW(parse_quantity(text, dimension), std::invalid_argument);
    }
  }
}

TEST(Units, RefusesMissingAndWrongUnits) {
  EXPECT_EQ(message("10", Dimension::length),
            "expected a length such as \"10 kpc\" (units: cm, m, km, au, pc, kpc, Mpc, Angstrom, "
            "nm, um), got \"10\": no unit");
  EXPECT_EQ(message("0", Dimension::velocity),
            "expected a velocity such as \"200 km/s\" (units: cm/s, m/s, km/s), got \"0\": no unit");
  EXPECT_EQ(message("3 K", Dimension::velocity),
            "expected a velocity such as \"200 km/s\" (units: cm/s, m/s, km/s), got \"3 K\": wrong "
            "unit");
  EXPECT_EQ(message("3 K", Dimension::none),
            "expected a plain number such as 0.5, without a unit, got \"3 K\": it has a unit");
  EXPECT_EQ(message("1 Kpc", Dimension::temperature),
            "expected a temperature such as \"2e4 K\" (units: K), got \"1 Kpc\": unknown unit "
            "\"Kpc\"");
  EXPECT_EQ(message("1e20 cm^-3", Dimension::column_density),
            "expected a column density such as \"2e20 cm^-2\" (units: cm^-2), got \"1e20 cm^-3\": "
            "wrong unit");
}

}  // namespace
}  // namespace thor
