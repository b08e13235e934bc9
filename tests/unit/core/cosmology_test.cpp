#include "thor/core/cosmology.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"

namespace thor {
namespace {

constexpr double gigayear = 1e9 * 365.25 * 86400;
constexpr double km_s_mpc = constants::km / (1e6 * constants::pc);

// Planck Collaboration (2016), table 4, TT,TE,EE+lowP+lensing+ext: H0 = 67.74, Omega_m = 0.3089, age 13.799 +- 0.021
// Gyr.
TEST(Cosmology, TheDefaultIsAsOldAsPlanckSays) {
  EXPECT_NEAR(Cosmology{}.age(0) / gigayear, 13.799, 0.021);
  EXPECT_NEAR(Cosmology{}.hubble(0) / km_s_mpc, 67.74, 1e-9);
  // One per cent in h is detected, and so are the WMAP7 values (13.75 Gyr).
  EXPECT_GT(std::abs(Cosmology{0.6842, 0.3089, 0.6911}.age(0) / gigayear - 13.799), 0.021);
  EXPECT_GT(std::abs(Cosmology{0.704, 0.272, 0.728}.age(0) / gigayear - 13.799), 0.021);
}

struct Universe {
  Cosmology cosmology;
  double redshift, age, hubble;  ///< [Gyr], [km/s/Mpc]
};

// astropy 5.2, FlatLambdaCDM and LambdaCDM with Tcmb0 = 0: flat, open, closed, without Lambda, Einstein-de Sitter.
constexpr Universe known[] = {
    {{0.6774, 0.3089, 0.6911}, 0, 13.8027183, 67.74},
    {{0.6774, 0.3089, 0.6911}, 2, 3.28772754, 203.574197},
    {{0.6774, 0.3089, 0.6911}, 6, 0.933862868, 699.540718},
    {{0.6774, 0.3089, 0.6911}, 20, 0.179909769, 3623.5607},
    {{0.7, 0.3, 0.6}, 0, 13.0616954, 70},
    {{0.7, 0.3, 0.6}, 3, 2.06445301, 323.820938},
    {{0.7, 0.3, 0.6}, 20, 0.175831543, 3719.23379},
    {{0.7, 0.3, 0.9}, 0, 14.4407086, 70},
    {{0.7, 0.3, 0.9}, 2, 3.44329066, 187.82971},
    {{0.7, 0.3, 0.9}, 6, 0.944164955, 678.67518},
    {{0.7, 0.3, 0.0}, 0, 11.2975965, 70},
    {{0.7, 0.3, 0.0}, 6, 0.839739857, 819.926826},
    {{0.7, 1.0, 0.0}, 0, 9.31230687, 70},
    {{0.7, 1.0, 0.0}, 3, 1.16403836, 560},
};

TEST(Cosmology, AgreesWithAstropy) {
  for (const auto& [c, z, age, hubble] : known) {
    EXPECT_NEAR(c.age(z) / gigayear / age, 1, 2e-8) << c.omega_m << " " << c.omega_lambda << " z = " << z;
    EXPECT_NEAR(c.hubble(z) / km_s_mpc / hubble, 1, 2e-8) << c.omega_m << " " << c.omega_lambda << " z = " << z;
  }
  // The same universe without its curvature differs.
  EXPECT_GT(std::abs(Cosmology{0.7, 0.3, 0.7}.age(0) / gigayear / 13.0616954 - 1), 1e-2);
}

TEST(Cosmology, TheIntegralMeetsTheClosedForm) {
  for (const double z : {0.0, 1.0, 10.0, 100.0}) {
    const double closed = Cosmology{0.7, 0.3, 0.7}.age(z), integral = Cosmology{0.7, 0.3, 0.7 + 1e-8}.age(z);
    EXPECT_NEAR(integral / closed, 1, 2e-8) << z;
    EXPECT_NE(integral, closed);
  }
}

struct Far {
  Cosmology cosmology;
  double redshift, luminosity, angular;  ///< distances [Mpc]
};

// astropy 5.2, FlatLambdaCDM and LambdaCDM with Tcmb0 = 0: flat, open, closed, Einstein-de Sitter, without Lambda.
constexpr Far far[] = {
    {{0.6774, 0.3089, 0.6911}, 0.001, 4.42903325168, 4.42018845458},
    {{0.6774, 0.3089, 0.6911}, 0.5, 2918.47738757, 1297.10106114},
    {{0.6774, 0.3089, 0.6911}, 2, 15937.1347541, 1770.79275046},
    {{0.6774, 0.3089, 0.6911}, 6, 59064.8642352, 1205.40539256},
    {{0.6774, 0.3089, 0.6911}, 1000, 13964952.1014, 13.9370640363},
    {{0.7, 0.3, 0.6}, 3, 25369.7240234, 1585.60775146},
    {{0.7, 0.3, 0.9}, 3, 25287.5329591, 1580.47080995},
    {{0.7, 1.0, 0.0}, 3, 17130.9976, 1070.68735},
    {{0.7, 0.3, 0.0}, 0.5, 2565.18605295, 1140.0826902},
};

TEST(Cosmology, HasTheDistancesOfAstropy) {
  const double mpc = 1e6 * constants::pc;
  for (const auto& [c, z, luminosity, angular] : far) {
    EXPECT_NEAR(c.luminosity_distance(z) / mpc / luminosity, 1, 1e-8) << c.omega_m << " " << c.omega_lambda << " " << z;
    EXPECT_NEAR(c.angular_distance(z) / mpc / angular, 1, 1e-8) << c.omega_m << " " << c.omega_lambda << " " << z;
  }
  // astropy's Planck15, which has radiation, neutrinos and Omega_m = 0.3075: within 0.1 %.
  for (const auto& [z, luminosity, angular] :
       {std::array{0.1, 475.336937, 392.840444}, {2, 15934.6156, 1770.51285}, {6, 59046.1046, 1205.02254}}) {
    EXPECT_NEAR(Cosmology{}.luminosity_distance(z) / mpc / luminosity, 1, 1e-3) << z;
    EXPECT_NEAR(Cosmology{}.angular_distance(z) / mpc / angular, 1, 1e-3) << z;
    EXPECT_GT(std::abs(Cosmology{0.7, 0.3, 0.7}.angular_distance(z) / mpc / angular - 1), 1e-3) << z;
  }
}

TEST(Cosmology, RefusesWhatNeverWas) {
  const auto refused = [](const Cosmology& c, double z) {
    try {
      c.age(z);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input);
      return true;
    }
    return false;
  };
  EXPECT_FALSE(refused({}, 0));
  EXPECT_TRUE(refused({}, -1));
  EXPECT_TRUE(refused({}, std::nan("")));
  EXPECT_TRUE(refused({0.7, 0, 1}, 0));
  EXPECT_TRUE(refused({0.7, -0.1, 1.1}, 0));
  EXPECT_TRUE(refused({0, 0.3, 0.7}, 0));
  EXPECT_TRUE(refused({0.7, 0.1, 2.5}, 0));  // bounced
  EXPECT_THROW((Cosmology{0.7, 0.1, 2.5}.hubble(1)), Error);
}

}  // namespace
}  // namespace thor
