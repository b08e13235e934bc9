#include "thor/gridding/gas/bad_cells.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "thor/gridding/gas/gas_state.hpp"

namespace thor::gridding {
namespace {

const double nan = std::numeric_limits<double>::quiet_NaN();
const double infinite = std::numeric_limits<double>::infinity();

io::GasBlock good(std::size_t count = 1) {
  io::GasBlock b;
  b.count = count;
  b.position.assign(3 * count, 1.);
  b.velocity.assign(3 * count, 1.);
  b.mass.assign(count, 1.);
  b.density.assign(count, 1.);
  b.internal_energy.assign(count, 1e10);
  b.neutral.assign(count, 0.5);
  b.smoothing_length.assign(count, 2.);
  return b;
}

TEST(BadCells, EveryKindIsTold) {
  struct Case {
    std::vector<double> io::GasBlock::*member;
    double value;
    GasProperty quantity;
    FaultKind fault;
  };
  using B = io::GasBlock;
  const Case cases[] = {{&B::position, nan, GasProperty::position, FaultKind::not_finite},
                        {&B::velocity, infinite, GasProperty::velocity, FaultKind::not_finite},
                        {&B::mass, 0, GasProperty::mass, FaultKind::zero},
                        {&B::mass, -1, GasProperty::mass, FaultKind::negative},
                        {&B::density, nan, GasProperty::density, FaultKind::not_finite},
                        {&B::density, 0, GasProperty::density, FaultKind::zero},
                        {&B::internal_energy, -3, GasProperty::energy, FaultKind::negative},
                        {&B::neutral, 1.1, GasProperty::fraction, FaultKind::too_large},
                        {&B::neutral, nan, GasProperty::fraction, FaultKind::not_finite},
                        {&B::smoothing_length, 0, GasProperty::kernel, FaultKind::zero},
                        {&B::smoothing_length, 1e3, GasProperty::kernel, FaultKind::too_large}};
  GasLimits limits;
  limits.widest = 100;
  limits.smoothing = true;
  limits.cell_volume = 1;
  for (const Case& c : cases) {
    io::GasBlock b = good();
    Defect defect;
    EXPECT_TRUE(is_sound(b, 0, limits, defect));
    (b.*c.member)[0] = c.value;
    EXPECT_FALSE(is_sound(b, 0, limits, defect));
    EXPECT_EQ(defect.quantity, c.quantity);
    EXPECT_EQ(defect.fault, c.fault);
    // NaN, a missing mass and a kernel without bounds cannot be repaired.
    const bool repairable = std::isfinite(c.value) && c.quantity != GasProperty::mass && c.value != 1e3;
    EXPECT_EQ(repair(b, 0, limits), repairable) << int(c.quantity) << " " << c.value;
  }
}

// By the length of the velocity, not by its components.
TEST(BadCells, NothingIsFasterThanATenthOfLight) {
  io::GasBlock b = good();
  Defect defect;
  b.velocity = {0.05 * constants::c, -0.05 * constants::c, 0.05 * constants::c};
  EXPECT_TRUE(is_sound(b, 0, {}, defect));
  b.velocity = {0.07 * constants::c, -0.07 * constants::c, 0.07 * constants::c};
  EXPECT_FALSE(is_sound(b, 0, {}, defect));
  EXPECT_EQ(defect.quantity, GasProperty::velocity);
  EXPECT_EQ(defect.fault, FaultKind::too_large);
}

TEST(BadCells, ElectronsMustFitTheNeutralFraction) {
  io::GasBlock b = good();
  b.electrons = {0.9};  // with neutral fraction 0.5: at most 0.66
  b.internal_energy = {1e12};
  Defect defect;
  GasLimits limits;
  limits.cell_volume = 1;
  EXPECT_TRUE(is_sound(b, 0, limits, defect)) << "they are not used";
  limits.own_electrons = true;
  EXPECT_FALSE(is_sound(b, 0, limits, defect));
  EXPECT_EQ(defect.quantity, GasProperty::electrons);
  EXPECT_EQ(defect.fault, FaultKind::too_large);
  Defects bad;
  bad.add(defect, 7);
  EXPECT_NE(bad.describe().find("1 with electron abundance for its neutral fraction too large (elements 7)"),
            std::string::npos);
  b.sfr = {1};
  EXPECT_TRUE(is_sound(b, 0, limits, defect)) << "those of star-forming gas are not used";
  limits.own_star_forming = true;
  EXPECT_FALSE(is_sound(b, 0, limits, defect));
  EXPECT_TRUE(repair(b, 0, limits));
  EXPECT_NEAR(b.electrons[0], 0.5 + 2 * 0.24 / 4 / 0.76, 1e-12);
}

TEST(BadCells, FloorsAreThoseAskedFor) {
  GasLimits limits;
  limits.cell_volume = 8;
  limits.temperature = 20;
  io::GasBlock b = good();
  b.density[0] = 0;
  b.internal_energy[0] = -1;
  b.mass[0] = 4;
  EXPECT_TRUE(repair(b, 0, limits));
  EXPECT_EQ(b.density[0], 0.5);
  EXPECT_NEAR(temperature_of(b.internal_energy[0], default_hydrogen, 0), 20, 1e-9);
  limits.density = 3;
  b.density[0] = -1;
  EXPECT_TRUE(repair(b, 0, limits));
  EXPECT_EQ(b.density[0], 3);
}

TEST(BadCells, RoundingOfFractionsIsNoFault) {
  io::GasBlock b = good();
  Defect defect;
  b.neutral[0] = 1 + 1e-6;
  EXPECT_TRUE(is_sound(b, 0, {}, defect));
  EXPECT_EQ(gas_state(b, 0, {}).neutral, 1);
}

TEST(BadCells, CountsAndNamesTheFirst) {
  Defects bad;
  for (std::uint64_t i = 10; i < 20; ++i) bad.add({GasProperty::density, FaultKind::zero}, i);
  bad.add({GasProperty::velocity, FaultKind::not_finite}, 3);
  EXPECT_EQ(bad.total(), 11u);
  const std::string text = bad.describe();
  EXPECT_NE(text.find("10 with density zero (elements 10, 11, 12, 13, 14, ...)"), std::string::npos) << text;
  EXPECT_NE(text.find("1 with velocity not a number (elements 3)"), std::string::npos) << text;
}

}  // namespace
}  // namespace thor::gridding
