#include "thor/mock/gas_state.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "thor/mock/snapshot.hpp"

namespace thor::mock {
namespace {

TEST(MockGasState, TheBackgroundIsThePublishedOne) {
  std::ifstream file(THOR_SHARED "/data/uvb_treecool_puchwein2018.txt");
  if (!file) GTEST_SKIP() << "*** SKIPPED: no ../shared/data/uvb_treecool_puchwein2018.txt ***";
  int compared = 0;
  for (double log_z, rate, other; file >> log_z >> rate;) {
    for (int i = 0; i < 5; ++i) file >> other;
    const double z = std::pow(10., log_z) - 1;
    if (z > 5.8) continue;
    EXPECT_NEAR(photoionization_rate(z) / rate, 1, 0.1) << "z = " << z;
    ++compared;
  }
  EXPECT_GT(compared, 50);
}

TEST(MockGasState, ThinGasIsInPhotoionizationEquilibrium) {
  // x Gamma = alpha_A n_e with alpha_A(1e4 K) = 4.2e-13 cm^3/s (Osterbrock & Ferland 2006, table 2.1)
  const double n = 1e-5, x = neutral_fraction(n, 1e4, 1e-12);
  EXPECT_NEAR(x / (4.2e-13 * (1 + helium_number) * n / 1e-12), 1, 0.05);
  EXPECT_GT(std::abs(neutral_fraction(n, 1e4, 2e-12) / x - 1), 0.3);
}

TEST(MockGasState, DenseGasIsNeutralAndHotGasIsNot) {
  EXPECT_GT(neutral_fraction(10, 1e4, 1e-12), 0.95);
  EXPECT_LT(neutral_fraction(1e-3, 1e4, 1e-12), 0.01);
  EXPECT_LT(neutral_fraction(10, 1e6, 1e-12), 1e-5);
  for (const double n : {1e-8, 1e-4, 1e-2, 1., 1e4}) {
    for (const double t : {10., 1e3, 1e4, 1e5, 1e8}) {
      for (const double rate : {1e-18, 1e-12}) {
        const double x = neutral_fraction(n, t, rate);
        EXPECT_TRUE(x >= 0 && x <= 1) << n << " " << t << " " << x;
      }
    }
  }
}

TEST(MockGasState, MeanMassIsThatOfNeutralAndOfIonizedGas) {
  EXPECT_NEAR(molecular_weight(0), 1.22, 0.01);
  EXPECT_NEAR(molecular_weight(electron_abundance(0, 1e6)), 0.59, 0.01);
  const double u = internal_energy(1e4, 0);  // 1.5 k T/(mu m_p)
  EXPECT_NEAR(u / (1.5 * constants::k_B * 1e4 / (1.2195 * proton_mass)), 1, 1e-3);
}

}  // namespace
}  // namespace thor::mock
