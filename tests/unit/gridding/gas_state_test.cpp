#include "thor/gridding/gas/gas_state.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "thor/emission/collisional_excitation.hpp"
#include "thor/emission/recombination.hpp"
#include "thor/io/array/output.hpp"

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
  b.electrons = {0.9};
  b.neutral = {0.2};
  b.hydrogen = {0.75};
  b.metallicity = {0.00635};
  return b;
}

// The formula that TNG's documentation gives: T = (gamma - 1) u/k_B 4 m_p/(1 + 3 X + 4 X x_e).
TEST(GasState, TemperatureIsThatOfTng) {
  const io::GasBlock b = one_element();
  const double mu = 4 / (1 + 3 * 0.75 + 4 * 0.75 * 0.9) * 1.67353e-24;
  const double expected = 2. / 3 * 1e12 / 1.380649e-16 * mu;
  const GasState s = gas_state(b, 0, {});
  EXPECT_NEAR(s.temperature / expected, 1, 1e-4);
  EXPECT_NEAR(s.internal_energy / 1e12, 1, 1e-12);
  EXPECT_NEAR(s.hydrogen_density, 0.75 * 1e-26 / 1.67353e-24, 1e-8);
  EXPECT_GT(std::abs(temperature_of(1e12, 0.76, 0.9) / expected - 1), 1e-3);  // another hydrogen fraction is detected
}

TEST(GasState, AmountsAreThoseOfTheElement) {
  const io::GasBlock b = one_element();
  GasModel model;
  model.f_ion = 0.1;
  const GasState s = gas_state(b, 0, model);
  const FieldList fields(true, true);
  std::vector<double> a(std::size_t(fields.count));
  amounts(b, 0, s, model, {1e7, -2e7, 3e7}, fields, a.data());
  const double hydrogen = 0.75 * 1e38 / hydrogen_mass;
  EXPECT_EQ(a[mass], 1e38);
  EXPECT_EQ(a[momentum_y], -2e45);
  EXPECT_NEAR(a[energy] / 1e50, 1, 1e-12);
  EXPECT_NEAR(a[HI] / hydrogen, 0.2, 1e-12);
  EXPECT_NEAR(a[HII] / hydrogen, 0.8, 1e-12);
  EXPECT_NEAR(a[electrons] / hydrogen, 0.9, 1e-12);
  EXPECT_NEAR(a[std::size_t(fields.moment(0, moment_T))] / (a[HI] * s.temperature), 1, 1e-12);
  EXPECT_NEAR(a[std::size_t(fields.moment(0, moment_vz))] / (a[HI] * 3e7), 1, 1e-12);
  EXPECT_NEAR(a[std::size_t(fields.metals)] / 1e38, 0.00635, 1e-12);
  EXPECT_NEAR(a[std::size_t(fields.dust)] / (0.28 * hydrogen * 0.5), 1, 1e-12);  // half solar
  const double n = s.hydrogen_density, V = 1e64;
  EXPECT_NEAR(
      a[std::size_t(fields.recombination)] / (V * emission::recombination_emissivity(s.temperature, 0.9 * n, 0.8 * n)),
      1, 1e-12);
  EXPECT_NEAR(
      a[std::size_t(fields.collisional)] / (V * emission::collisional_emissivity(s.temperature, 0.9 * n, 0.2 * n)), 1,
      1e-12);
}

// Fields of the snapshot are used; missing ones come from the model, and the three agree.
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

/// All models of the neutral fraction, by name.
class GasElectrons : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "thor_electrons_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
    const std::string treecool = name + "/treecool.txt", table = name + "/table.h5";
    std::ofstream(treecool) << "0 6e-13 1e-14 1e-16 1e-25 1e-25 1e-26\n1 6e-13 1e-14 1e-16 1e-25 1e-25 1e-26\n";
    io::ArrayOutput out(table, true);
    const std::vector<double> logd{-8, 4}, logt{1, 8}, z{0, 9}, fraction(8, 0.982);
    out.write<double>("logd", logd, {2}, "", "");
    out.write<double>("logt", logt, {2}, "", "");
    out.write<double>("redshift", z, {2}, "", "");
    out.write<double>("ionbal", fraction, {2, 2, 2}, "", "");
    out.attribute("ionbal", "info", std::string_view("Ion fraction as a function of (logd, logt, redshift)"));
    out.commit(true);
    models = {{"snapshot", std::nullopt},
              {"equilibrium", emission::Ionization::equilibrium(treecool, 3, true)},
              {"optically thin", emission::Ionization::equilibrium(treecool, 3, false)},
              {"table", emission::Ionization::table(table, 3)},
              {"collisional", emission::Ionization::collisional()}};
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::filesystem::path folder;
  std::vector<std::pair<std::string, std::optional<emission::Ionization>>> models;
};

// Whichever model gives the neutral fraction gives the electrons.
TEST_F(GasElectrons, BelongToTheModelOfTheNeutralFraction) {
  for (const auto& [name, ionization] : models) {
    for (const double density : {1e-28, 1e-25, 2.2e-24, 1e-22}) {
      for (const double u : {1e11, 1e12, 3e12, 1e14}) {
        io::GasBlock b = one_element();
        b.density = {density};
        b.internal_energy = {u};
        GasModel model;
        model.ionization = ionization;
        const GasState s = gas_state(b, 0, model);
        EXPECT_FALSE(too_many_electrons(s.electrons, s.neutral, 0.75)) << name;
        if (ionization) {
          EXPECT_DOUBLE_EQ(s.temperature, temperature_of(u, 0.75, 0.9)) << name << ": as in the simulation";
          EXPECT_DOUBLE_EQ(s.neutral, ionization->neutral_fraction(s.hydrogen_density, s.temperature)) << name;
          EXPECT_DOUBLE_EQ(s.electrons, electrons_of(s.neutral, 0.75)) << name;
          // The snapshot's electrons affect only the temperature.
          b.temperature = {s.temperature};
          b.electrons = {0.1};
          EXPECT_DOUBLE_EQ(gas_state(b, 0, model).electrons, s.electrons) << name;
        } else {
          EXPECT_EQ(s.electrons, 0.9);
          EXPECT_EQ(s.neutral, 0.2);
        }
      }
    }
  }
}

// Shielded gas of n_H = 1, 10^4 K with the electrons of ionised gas was 59 times too bright.
TEST_F(GasElectrons, NeutralGasDoesNotShineWithThoseOfIonisedGas) {
  io::GasBlock b = one_element();
  b.density = {hydrogen_mass / 0.75};
  b.temperature = {1e4};
  b.electrons = {1.16};
  const FieldList fields(true, true);
  std::vector<double> a(std::size_t(fields.count));
  for (const auto& [name, ionization] : models) {
    if (name == "snapshot" || name == "optically thin") continue;
    GasModel model;
    model.ionization = ionization;
    const GasState s = gas_state(b, 0, model);
    amounts(b, 0, s, model, {}, fields, a.data());
    const double before = s.volume * emission::recombination_emissivity(1e4, 1.16, 1 - s.neutral);
    EXPECT_NEAR(before / a[std::size_t(fields.recombination)], 1.16 / ((1 - s.neutral) * (1 + 0.25 / 3)), 1e-6) << name;
    EXPECT_GT(before / a[std::size_t(fields.recombination)], 45) << name;
  }
  const GasState table = [&] {
    GasModel model;
    model.ionization = models[3].second;
    return gas_state(b, 0, model);
  }();
  EXPECT_NEAR(1 - table.neutral, 0.018, 1e-6);
  EXPECT_NEAR(1.16 / table.electrons, 59, 1);
}

TEST_F(GasElectrons, OfASnapshotMustFitItsNeutralFraction) {
  EXPECT_NEAR(most_electrons(0.2, 0.76), 0.8 + 2 * 0.24 / 4 / 0.76, 1e-12);
  EXPECT_FALSE(too_many_electrons(1.1579, 0, 0.76));
  EXPECT_TRUE(too_many_electrons(1.17, 0, 0.76));
  EXPECT_TRUE(too_many_electrons(1.16, 0.982, 0.76));
  EXPECT_FALSE(too_many_electrons(0, 1, 0.76));
}

// Gas on an effective equation of state: by default it absorbs like gas at 10^4 K, and is dark.
TEST_F(GasElectrons, OfStarFormingGasAreDerivedAgain) {
  const FieldList fields(true, true);
  std::vector<double> a(std::size_t(fields.count));
  io::GasBlock b = one_element();
  b.density = {1e-23};
  b.internal_energy = {1e14};
  b.sfr = {0.1};
  for (const auto& [name, ionization] : models) {
    GasModel model;
    model.ionization = ionization;
    GasState s = gas_state(b, 0, model);
    const emission::Ionization used = ionization ? *ionization : emission::Ionization::collisional();
    EXPECT_EQ(s.temperature, 1e4) << name;
    EXPECT_DOUBLE_EQ(s.neutral, used.neutral_fraction(s.hydrogen_density, 1e4)) << name;
    EXPECT_DOUBLE_EQ(s.electrons, electrons_of(s.neutral, 0.75)) << name;
    amounts(b, 0, s, model, {}, fields, a.data());
    EXPECT_EQ(a[std::size_t(fields.recombination)], 0) << name;
    EXPECT_EQ(a[std::size_t(fields.collisional)], 0) << name;
    EXPECT_GT(a[HI], 0) << name;

    model.eos_emission = true;
    amounts(b, 0, gas_state(b, 0, model), model, {}, fields, a.data());
    EXPECT_GT(a[std::size_t(fields.recombination)], 0) << name;
    model.eos_temperature = 3e3;
    EXPECT_EQ(gas_state(b, 0, model).temperature, 3e3) << name;
    EXPECT_NEAR(gas_state(b, 0, model).internal_energy,
                thermal_energy(3e3, 0.75, electrons_of(used.neutral_fraction(s.hydrogen_density, 3e3), 0.75)), 1e-3);
    model.eos_temperature = std::nullopt;
    EXPECT_DOUBLE_EQ(gas_state(b, 0, model).temperature, temperature_of(1e14, 0.75, 0.9)) << name;
    b.sfr = {0};
    model.eos_temperature = 3e3;
    EXPECT_DOUBLE_EQ(gas_state(b, 0, model).temperature, temperature_of(1e14, 0.75, 0.9)) << name;
    model.eos_emission = false;
    EXPECT_TRUE(gas_state(b, 0, model).shines) << name;
    b.sfr = {0.1};
  }
}

TEST(GasState, TheSnapshotsTemperatureIsTaken) {
  io::GasBlock b = one_element();
  b.temperature = {12345};
  EXPECT_EQ(gas_state(b, 0, {}).temperature, 12345);
}

}  // namespace
}  // namespace thor::gridding
