#include "thor/gridding/gas_state.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "thor/emission/collisional_excitation.hpp"
#include "thor/emission/recombination.hpp"

namespace thor::gridding {
namespace {

io::GasBlock one_element() {
  io::GasBlock b;
  b.count = 1;
  b.position = {0, 0, 0};
  b.velocity = {1e7, -2e7, 3e7};
  b.mass = {1e38};
  b.density = {1e-26};
  b.internal_energy = {1e12};
  b.electrons = {1.1};
  b.neutral = {0.2};
  b.hydrogen = {0.75};
  b.metallicity = {0.00635};
  return b;
}

// The formula that TNG's documentation gives: T = (gamma - 1) u/k_B 4 m_p/(1 + 3 X + 4 X x_e).
TEST(GasState, TemperatureIsThatOfTng) {
  const io::GasBlock b = one_element();
  const double mu = 4 / (1 + 3 * 0.75 + 4 * 0.75 * 1.1) * 1.67353e-24;
  const double expected = 2. / 3 * 1e12 / 1.380649e-16 * mu;
  const GasState s = gas_state(b, 0, {});
  EXPECT_NEAR(s.temperature / expected, 1, 1e-4);
  EXPECT_NEAR(s.internal_energy / 1e12, 1, 1e-12);
  EXPECT_NEAR(s.hydrogen_density, 0.75 * 1e-26 / 1.67353e-24, 1e-8);
  EXPECT_GT(std::abs(temperature_of(1e12, 0.76, 1.1) / expected - 1), 1e-3);  // another hydrogen fraction is seen
}

TEST(GasState, AmountsAreThoseOfTheElement) {
  const io::GasBlock b = one_element();
  GasModel model;
  model.f_ion = 0.1;
  const GasState s = gas_state(b, 0, model);
  const FieldList fields(true, true);
  std::vector<double> a(std::size_t(fields.count));
  amounts(b, 0, s, model, fields, a.data());
  const double hydrogen = 0.75 * 1e38 / hydrogen_mass;
  EXPECT_EQ(a[mass], 1e38);
  EXPECT_EQ(a[momentum_y], -2e45);
  EXPECT_NEAR(a[energy] / 1e50, 1, 1e-12);
  EXPECT_NEAR(a[HI] / hydrogen, 0.2, 1e-12);
  EXPECT_NEAR(a[HII] / hydrogen, 0.8, 1e-12);
  EXPECT_NEAR(a[electrons] / hydrogen, 1.1, 1e-12);
  EXPECT_NEAR(a[std::size_t(fields.metals)] / 1e38, 0.00635, 1e-12);
  EXPECT_NEAR(a[std::size_t(fields.dust)] / (0.28 * hydrogen * 0.5), 1, 1e-12);  // half solar
  const double n = s.hydrogen_density, V = 1e64;
  EXPECT_NEAR(
      a[std::size_t(fields.recombination)] / (V * emission::recombination_emissivity(s.temperature, 1.1 * n, 0.8 * n)),
      1, 1e-12);
  EXPECT_NEAR(
      a[std::size_t(fields.collisional)] / (V * emission::collisional_emissivity(s.temperature, 1.1 * n, 0.2 * n)), 1,
      1e-12);
}

// What the snapshot has is used; what it has not comes from the model, and the three agree.
TEST(GasState, IonisationAndTemperatureAreFoundTogether) {
  GasModel model;
  model.ionization = emission::Ionization::collisional();
  for (const double u : {1e10, 3e11, 8e11, 1.2e12, 1.6e12, 3e12, 1e14}) {
    io::GasBlock b = one_element();
    b.internal_energy = {u};
    b.electrons.clear();
    b.neutral.clear();
    const GasState s = gas_state(b, 0, model);
    EXPECT_NEAR(s.temperature / temperature_of(u, 0.75, s.electrons), 1, 1e-9);
    EXPECT_NEAR(s.neutral, model.ionization->neutral_fraction(s.hydrogen_density, s.temperature), 1e-6) << u;
    EXPECT_NEAR(s.electrons, electrons_of(s.neutral, 0.75), 2e-6) << u;
    EXPECT_NEAR(s.internal_energy / u, 1, 1e-9);
  }
}

TEST(GasState, ElectronsOfIonisedGasCountHelium) {
  EXPECT_EQ(electrons_of(1, 0.76), 0);
  EXPECT_NEAR(electrons_of(0, 0.76), 1 + 0.24 / 4 / 0.76, 1e-12);
}

TEST(GasState, StarFormingGasTakesTheTemperatureAskedFor) {
  io::GasBlock b = one_element();
  b.sfr = {0.1};
  GasModel model;
  const double kept = gas_state(b, 0, model).temperature;
  model.eos_temperature = 1e3;
  EXPECT_EQ(gas_state(b, 0, model).temperature, 1e3);
  EXPECT_NEAR(gas_state(b, 0, model).internal_energy, thermal_energy(1e3, 0.75, 1.1), 1e-3);
  b.sfr = {0};
  EXPECT_EQ(gas_state(b, 0, model).temperature, kept);
}

TEST(GasState, TheSnapshotsTemperatureIsTaken) {
  io::GasBlock b = one_element();
  b.temperature = {12345};
  EXPECT_EQ(gas_state(b, 0, {}).temperature, 12345);
}

}  // namespace
}  // namespace thor::gridding
