#include "thor/datasets/dust_law.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"
#include "thor/datasets/medium.hpp"
#include "thor/drivers/mcrt/config.hpp"

namespace {

using namespace thor;

constexpr double lya = 1215.67e-8;

// The fits of Laursen et al. (2009) around the line: 0.395 + 1.82e-5 x for the SMC and 0.723 + 4.46e-5 x for the LMC,
// in 1e-21 cm^2 at 1e4 K.
TEST(DustLaw, AboutLyaAsInLaursen) {
  const double per_x = 12.848e5 / constants::c;  // d ln(nu) of a thermal width
  const struct {
    DustLaw law;
    double value, slope;
  } laws[] = {{DustLaw::smc, 0.395e-21, 1.82e-26}, {DustLaw::lmc, 0.723e-21, 4.46e-26}};
  for (const auto& [law, value, slope] : laws) {
    EXPECT_NEAR(dust_cross_section(law, lya) / value, 1, 1e-3);
    const double blue = dust_cross_section(law, lya * std::exp(-100 * per_x));
    const double red = dust_cross_section(law, lya * std::exp(100 * per_x));
    EXPECT_NEAR((blue - red) / 200 / slope, 1, 6e-3);
  }
}

// The seven terms of Gnedin, Kravtsov & Chen (2008), eq. 17 and table 2, written a second time; wavelengths in um.
double gnedin(DustLaw law, double um) {
  const auto term = [um](double centre, double a, double b, double p, double q) {
    return a / (std::pow(um / centre, p) + std::pow(centre / um, q) + b);
  };
  if (law == DustLaw::smc) {
    return 1e-22 * (term(0.042, 185, 90, 2, 2) + term(0.08, 27, 15.5, 4, 4) + term(0.22, 0.005, -1.95, 2, 2) +
                    term(9.7, 0.010, -1.95, 2, 2) + term(18, 0.012, -1.8, 2, 2) + term(25, 0.030, 0, 2, 2) +
                    term(0.067, 10, 1.9, 4, 15));
  }
  return 3e-22 * (term(0.046, 90, 90, 2, 2) + term(0.08, 19, 21, 4.5, 4.5) + term(0.22, 0.023, -1.95, 2, 2) +
                  term(9.7, 0.005, -1.95, 2, 2) + term(18, 0.006, -1.8, 2, 2) + term(25, 0.020, 0, 2, 2) +
                  term(0.067, 10, 1.9, 4, 15));
}

TEST(DustLaw, IsTheFormulaAtAllWavelengths) {
  for (const DustLaw law : {DustLaw::smc, DustLaw::lmc}) {
    for (double um = 1e-3; um < 30; um *= 1.1) {
      EXPECT_NEAR(dust_cross_section(law, um * 1e-4) / gnedin(law, um), 1, 1e-12) << um;
    }
  }
  // The LMC has a bump at 2175 Angstrom; the SMC has hardly any.
  const auto bump = [](DustLaw law) {
    return dust_cross_section(law, 0.22e-4) /
           std::sqrt(dust_cross_section(law, 0.18e-4) * dust_cross_section(law, 0.27e-4));
  };
  EXPECT_GT(bump(DustLaw::lmc), 1.2);
  EXPECT_LT(bump(DustLaw::smc), 1.15);
  EXPECT_NEAR(dust_cross_section(DustLaw::smc, 2796.35e-8), 1.5914e-22, 1e-25);
  EXPECT_NEAR(dust_cross_section(DustLaw::lmc, 2796.35e-8), 2.6575e-22, 1e-25);
}

TEST(DustLaw, MetallicitiesOfTheClouds) {
  EXPECT_NEAR(std::log10(dust_metallicity(DustLaw::smc)), -0.6, 1e-12);
  EXPECT_NEAR(std::log10(dust_metallicity(DustLaw::lmc)), -0.3, 1e-12);
}

config::Config parse(const std::string& line, const std::string& dust) {
  return config::parse("line: " + line +
                           "\ndataset: {type: shell, outer_radius: 1 kpc, temperature: 1e4 K, column_density: "
                           "1e20 cm^-2, dust: {" +
                           dust + "}}\ngenerators: [{type: point, photons: 1}]\noutput: {path: x.h5}\n",
                       "f.yaml");
}
double depth(const std::string& line, const std::string& dust) {
  const auto config = parse(line, dust);
  return outline_medium(config.dataset, find_line(line)).dust.tau;
}

// tau_d = sigma_d (N_HI + f_ion N_HII) Z/Z_0
TEST(DustLaw, DepthFollowsFromColumnAndMetallicity) {
  const double smc = dust_cross_section(DustLaw::smc, lya) * 1e20;
  const double Z0 = std::pow(10, -0.6);
  EXPECT_NEAR(depth("Lya", "law: SMC, metallicity: 0.251188643") / smc, 1, 1e-6);  // the SMC itself: 0.04
  EXPECT_NEAR(depth("Lya", "law: SMC, metallicity: 1") / (smc / Z0), 1, 1e-6);
  EXPECT_NEAR(depth("Lya", "law: LMC, metallicity: 1, hydrogen_column: 3e20 cm^-2"),
              dust_cross_section(DustLaw::lmc, lya) * 3e20 * std::pow(10, 0.3), 1e-6);
  EXPECT_NEAR(depth("Lya", "law: SMC, metallicity: 1, ionized_column: 1e21 cm^-2") / (smc / Z0), 1.1, 1e-6);
  EXPECT_NEAR(depth("Lya", "law: SMC, metallicity: 1, ionized_column: 1e21 cm^-2, f_ion: 0") / (smc / Z0), 1, 1e-6);
  EXPECT_NEAR(depth("Lya", "law: SMC, metallicity: 1, ionized_column: 1e21 cm^-2, f_ion: 1") / (smc / Z0), 11, 1e-5);
  EXPECT_EQ(depth("Lya", "law: SMC, metallicity: 0"), 0);
  EXPECT_EQ(depth("Lya", "tau: 0.3"), 0.3);
}

TEST(DustLaw, OfAMetalLineNeedsTheHydrogen) {
  try {
    parse("MgII", "law: SMC, metallicity: 1");
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_NE(std::string(error.what()).find("dataset.dust.hydrogen_column: missing"), std::string::npos)
        << error.what();
  }
  const double expected = gnedin(DustLaw::smc, 0.27963543) * 1e21 / std::pow(10, -0.6);
  EXPECT_NEAR(depth("MgII", "law: SMC, metallicity: 1, hydrogen_column: 1e21 cm^-2") / expected, 1, 1e-6);
  EXPECT_EQ(depth("MgII", "tau: 0.3"), 0.3);
}

}  // namespace
