#include "thor/gridding/arrays/arrays.hpp"

#include <gtest/gtest.h>

#include "thor/core/error.hpp"
#include "thor/gridding/arrays/faults.hpp"
#include "thor/gridding/gas/gas_state.hpp"

namespace thor::gridding {
namespace {

TEST(Cube, ReadsItsFields) {
  const auto fields = parse_array_fields("density=/gas/rho:kg/m3,temperature=T,velocity_x=0,velocity_y=-1.5e2:m/s");
  EXPECT_EQ(fields.at("density").array, "/gas/rho");
  EXPECT_EQ(fields.at("density").unit, "kg/m3");
  EXPECT_EQ(fields.at("temperature").array, "T");
  EXPECT_FALSE(fields.at("temperature").unit);
  EXPECT_EQ(fields.at("velocity_y").array, "");
  EXPECT_EQ(fields.at("velocity_y").constant, -150);
  for (const char* bad : {"", "density", "density=", "rho=x", "density=a,density=b", "_density=a"}) {
    EXPECT_THROW(parse_array_fields(bad), Error) << bad;
  }
}

TEST(Cube, ElectronsMustFitTheNeutralHydrogen) {
  const auto faults = [](Plane plane) {
    ArrayFaults f(OnBadCells::error, 10, std::nullopt);
    f.check(plane, 0, 1);
    return f.describe();
  };
  const Plane good{{"HI_density", {1.f}}, {"HII_density", {1.f}}, {"electron_density", {1.3f}}};
  EXPECT_EQ(faults(good), "");
  Plane many = good;
  many["electron_density"] = {1.4f};  // more than 1 + 2 0.0789 (1 + 1)
  EXPECT_NE(faults(many).find("1 with electron_density too large, the first is [0, 0, 0]"), std::string::npos);
  const float rho = float(2 * hydrogen_mass / default_hydrogen);
  EXPECT_EQ(faults({{"density", {rho}}, {"HI_density", {1.f}}, {"electron_density", {1.3f}}}), "");
  EXPECT_NE(faults({{"density", {rho}}, {"HI_density", {1.f}}, {"electron_density", {1.4f}}}), "");
  EXPECT_EQ(faults({{"HI_density", {1.f}}, {"electron_density", {5.f}}}), "") << "n_HII is unknown";
}

TEST(Cube, SpeedsAreCheckedByTheirLength) {
  for (const double v : {0.05, 0.07}) {
    const auto speed = float(v * constants::c / constants::km);
    Plane plane{{"velocity_x", {speed}}, {"velocity_y", {-speed}}, {"velocity_z", {speed}}};
    ArrayFaults f(OnBadCells::error, 10, std::nullopt);
    f.check(plane, 0, 1);
    EXPECT_EQ(f.total(), v > 0.06 ? 1u : 0u);
  }
}

TEST(Cube, KnowsUnitsInTheirSpellings) {
  for (const char* same : {"g/cm3", "g cm-3", "g cm^-3", "g/cm**3", "g / cm^3"}) {
    EXPECT_EQ(array_factor("density", same, 1), 1) << same;
  }
  EXPECT_EQ(array_factor("density", "kg/m3", 1), 1e-3);
  EXPECT_NEAR(array_factor("density", "Msun/kpc3", 1), 6.768e-32, 1e-34);
  EXPECT_EQ(array_factor("velocity_z", "cm s-1", 1), 1e-5);
  EXPECT_EQ(array_factor("HI_density", "m-3", 1), 1e-6);
  EXPECT_EQ(array_factor("emissivity_recombination", "erg cm-3 s-1", 1), 1);
  EXPECT_EQ(array_factor("metallicity", "solar", 1), 1);
  EXPECT_THROW(array_factor("metallicity", "", 1), Error) << "solar, or a fraction of the mass?";
  EXPECT_EQ(array_factor("metallicity", "mass_fraction", 0.02), 50);
  EXPECT_THROW(array_factor("density", "K", 1), Error);
  EXPECT_THROW(array_factor("density", "", 1), Error);
}

}  // namespace
}  // namespace thor::gridding
