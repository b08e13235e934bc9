#include "thor/mock/snapshot.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "thor/io/array/input.hpp"
#include "thor/io/array/output.hpp"
#include "thor/io/snapshot/snapshot.hpp"
#include "thor/mock/box.hpp"
#include "thor/mock/galaxy.hpp"
#include "thor/mock/gas_state.hpp"

namespace thor::mock {
namespace mock_snapshot_test {

namespace fs = std::filesystem;

class MockFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "thor_mock_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { fs::remove_all(folder); }

  fs::path save(const Snapshot& snapshot, const std::string& name) const {
    io::ArrayOutput file(folder / name);
    write(snapshot, file);
    file.commit();
    return folder / name;
  }

  fs::path folder;
};

GalaxyOptions small() {
  GalaxyOptions options;
  options.gas_particles = 2000;
  options.stars = 500;
  return options;
}

TEST_F(MockFile, HasTheLayoutOfIllustrisTNG) {
  const io::Input file(save(make_galaxy(small()), "galaxy.hdf5"));
  EXPECT_EQ(file.numbers("/Header", "NumPart_ThisFile"), (std::vector<double>{2000, 0, 0, 0, 500, 0}));
  EXPECT_EQ(file.numbers("/Header", "NumPart_Total"), file.numbers("/Header", "NumPart_ThisFile"));
  EXPECT_EQ(file.numbers("/Header", "MassTable"), std::vector<double>(6));
  EXPECT_NEAR(file.number("/Header", "Time").value(), 1. / 3, 1e-12);
  EXPECT_EQ(file.children("/PartType0"),
            (std::vector<std::string>{"Coordinates", "Density", "ElectronAbundance", "GFM_Metallicity",
                                      "InternalEnergy", "Masses", "NeutralHydrogenAbundance", "ParticleIDs",
                                      "StarFormationRate", "Velocities"}));
  EXPECT_EQ(file.children("/PartType4"),
            (std::vector<std::string>{"Coordinates", "GFM_InitialMass", "GFM_Metallicity", "GFM_StellarFormationTime",
                                      "Masses", "ParticleIDs", "Velocities"}));
  EXPECT_EQ(file.array("/PartType0/Coordinates").shape, (std::vector<std::uint64_t>{2000, 3}));
  const double box = file.number("/Header", "BoxSize").value();
  for (const double x : file.read_all<double>("/PartType0/Coordinates")) ASSERT_TRUE(x >= 0 && x < box);
  EXPECT_NE(file.text("/", "description").value().find("not the result of a simulation"), std::string::npos);
  EXPECT_NE(file.text("/", "parameters").value().find("thor mock galaxy --seed 1 --gas-particles 2000"),
            std::string::npos);
  double mass = 0;
  for (const double m : file.read_all<double>("/PartType0/Masses")) mass += m;
  EXPECT_NEAR(mass * 1e10 / 0.6774 / 6.3e9, 1, 1e-5);
}

/// Everything returned by the snapshot reader, compared with its origin.
void compare(const Snapshot& made, const io::Snapshot& read) {
  EXPECT_NEAR(read.header().redshift, made.redshift, 1e-9);
  EXPECT_NEAR(read.header().box[0] / made.box, 1, 1e-9);
  ASSERT_EQ(read.gas_count(), made.gas.size());
  ASSERT_EQ(read.star_count(), made.stars.size());
  std::size_t i = 0;
  read.for_each_gas(777, [&](const io::GasBlock& block) {
    for (std::size_t j = 0; j < block.count; ++j, ++i) {
      const GasElement& g = made.gas[i];
      for (int d = 0; d < 3; ++d) {
        ASSERT_NEAR(block.position[3 * j + d], g.position[d], 1e-9 * made.box);
        ASSERT_NEAR(block.velocity[3 * j + d], g.velocity[d], 1e-6 * 1e8);
      }
      ASSERT_NEAR(block.mass[j] / g.mass, 1, 1e-6);
      ASSERT_NEAR(block.density[j] / g.density, 1, 1e-6);
      ASSERT_NEAR(block.internal_energy[j] / internal_energy(g.temperature, g.electrons), 1, 1e-6);
      ASSERT_NEAR(block.neutral[j], g.neutral, 1e-6);
      ASSERT_NEAR(block.electrons[j], g.electrons, 1e-6);
      ASSERT_NEAR(block.sfr[j], g.sfr, 1e-6 * g.sfr);
    }
  });
  EXPECT_EQ(i, made.gas.size());
  i = 0;
  read.for_each_star(100, [&](const io::StarBlock& block) {
    for (std::size_t j = 0; j < block.count; ++j, ++i) {
      const Star& s = made.stars[i];
      ASSERT_NEAR(block.position[3 * j], s.position[0], 1e-9 * made.box);
      ASSERT_NEAR(block.age[j], s.age, 2e-3 * s.age + 2e3 * year);  // from a single-precision scale factor
      ASSERT_NEAR(block.metallicity[j] / s.metallicity, 1, 1e-6);
    }
  });
  EXPECT_EQ(i, made.stars.size());
}

TEST_F(MockFile, AGalaxyIsReadBack) {
  const Snapshot made = make_galaxy(small());
  compare(made, io::Snapshot(save(made, "galaxy.hdf5")));
}

TEST_F(MockFile, ABoxIsReadBack) {
  BoxOptions options;
  options.particles_per_side = 16;
  const Snapshot made = make_box(options);
  compare(made, io::Snapshot(save(made, "box.hdf5")));
}

}  // namespace mock_snapshot_test
}  // namespace thor::mock
