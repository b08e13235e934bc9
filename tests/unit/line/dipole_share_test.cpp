// The dipole share of a scattering against the atom itself: Clebsch-Gordan coefficients, sublevel by sublevel.
#include <gtest/gtest.h>

#include <cmath>

#include "thor/line/line.hpp"

namespace {

using thor::dipole_share;

double factorial(double n) { return std::tgamma(n + 1); }

/// <j m 1 q | J M> by the formula of Racah (1942), with M = m + q.
double clebsch_gordan(double j, double m, double q, double J) {
  const double M = m + q, k = 1;
  if (std::abs(m) > j || std::abs(M) > J || J > j + k || J < std::abs(j - k)) return 0;
  double sum = 0;
  for (int n = 0; n <= 2 * (j + k + J); ++n) {
    const double terms[] = {double(n), j + k - J - n, j - m - n, k + q - n, J - k + m + n, J - j - q + n};
    double product = n % 2 ? -1 : 1;
    bool exists = true;
    for (const double t : terms) {
      if (t < -0.25)
        exists = false;
      else
        product /= factorial(std::round(t));
    }
    if (exists) sum += product;
  }
  const double triangle = factorial(J + j - k) * factorial(J - j + k) * factorial(j + k - J) / factorial(j + k + J + 1);
  return sum * std::sqrt((2 * J + 1) * triangle * factorial(J + M) * factorial(J - M) * factorial(j - m) *
                         factorial(j + m) * factorial(k - q) * factorial(k + q));
}

/// Light along z without polarisation excites atoms that are distributed evenly over m_l equally by q = -1 and +1. Of
/// the light then emitted, the fraction P_0 with q = 0 varies as sin^2 theta, the rest as (1 + cos^2 theta)/2: in total
/// 1 + (E/2) P_2 with E = 1 - 3 P_0.
double share_of_sublevels(double lower, double upper, double final) {
  double all = 0, along = 0;
  for (double M = -upper; M <= upper; ++M) {
    double excited = 0;
    for (const int q : {-1, 1}) excited += std::pow(clebsch_gordan(lower, M - q, q, upper), 2);
    for (const int q : {-1, 0, 1}) {
      const double sent = excited * std::pow(clebsch_gordan(final, M - q, q, upper), 2);
      all += sent;
      if (q == 0) along += sent;
    }
  }
  return 1 - 3 * along / all;
}

template <class F>
void for_each_triple(F f) {
  for (double upper = 0.5; upper <= 6; upper += 0.5) {
    for (double lower = std::abs(upper - 1); lower <= upper + 1; ++lower) {
      for (double final = std::abs(upper - 1); final <= upper + 1; ++final) f(lower, upper, final);
    }
  }
}

TEST(ClebschGordan, IsUnitary) {
  for (const double j : {0., 0.5, 1., 4.5}) {
    for (double m = -j; m <= j; ++m) {
      for (const int q : {-1, 0, 1}) {
        double sum = 0;
        for (double J = std::abs(j - 1); J <= j + 1; ++J) sum += std::pow(clebsch_gordan(j, m, q, J), 2);
        EXPECT_NEAR(sum, 1, 1e-12) << j << " " << m << " " << q;
      }
    }
  }
}

TEST(DipoleShare, IsThatOfTheSublevels) {
  for_each_triple([](double lower, double upper, double final) {
    EXPECT_NEAR(dipole_share(lower, upper, final), share_of_sublevels(lower, upper, final), 1e-11)
        << lower << " -> " << upper << " -> " << final;
  });
}

TEST(DipoleShare, KnownValues) {
  EXPECT_DOUBLE_EQ(dipole_share(0.5, 1.5, 0.5), 0.5);
  EXPECT_DOUBLE_EQ(dipole_share(0.5, 0.5, 0.5), 0);
  EXPECT_DOUBLE_EQ(dipole_share(0, 1, 0), 1);
  EXPECT_NEAR(dipole_share(0, 1, 1), -0.5, 1e-15);
  EXPECT_NEAR(dipole_share(0.5, 1.5, 1.5), -0.4, 1e-15);
  EXPECT_NEAR(dipole_share(0.5, 1.5, 2.5), 0.1, 1e-15);
  EXPECT_NEAR(dipole_share(1, 0, 1), 0, 1e-15);
  // J = 1/2 cannot be aligned, whatever it decays to.
  EXPECT_DOUBLE_EQ(dipole_share(0.5, 0.5, 1.5), 0);
  // Large J: 1/10 for J -> J +- 1 -> J, 2/5 for J -> J -> J.
  EXPECT_NEAR(dipole_share(1000, 1001, 1000), 0.1, 1e-3);
  EXPECT_NEAR(dipole_share(1000, 1000, 1000), 0.4, 1e-3);
  EXPECT_NEAR(dipole_share(1000, 999, 1000), 0.1, 1e-3);
}

TEST(DipoleShare, SumRules) {
  for_each_triple([](double lower, double upper, double final) {
    const double E = dipole_share(lower, upper, final);
    EXPECT_DOUBLE_EQ(E, dipole_share(final, upper, lower)) << "reciprocity";
    EXPECT_NEAR(E * E, dipole_share(lower, upper, lower) * dipole_share(final, upper, final), 1e-14);
    EXPECT_TRUE(E >= -0.5 - 1e-15 && E <= 1);
    EXPECT_GE(dipole_share(lower, upper, lower), 0) << "back to where it came from";
    // Decays to all J_f by statistical weight: every q of every sublevel is then equally likely, and the light
    // isotropic.
    double sum = 0;
    for (double J = std::abs(upper - 1); J <= upper + 1; ++J) sum += (2 * J + 1) * dipole_share(lower, upper, J);
    EXPECT_NEAR(sum, 0, 1e-13) << lower << " -> " << upper;
  });
  // Both levels of 2p together, by their statistical weights: the core of Lyman alpha.
  const auto& lya = thor::find_line("Lya").first();
  EXPECT_NEAR(lya.core, (4 * dipole_share(0.5, 1.5, 0.5) + 2 * dipole_share(0.5, 0.5, 0.5)) / 6, 1e-9);
}

TEST(DipoleShare, OfEveryLineOfTheList) {
  int resonant = 0, fluorescent = 0;
  for (const thor::Line& line : thor::lines()) {
    const auto J = [&](const std::string& name) {
      for (const auto& level : line.levels)
        if (level.name == name) return level.J;
      ADD_FAILURE() << name;
      return std::optional<double>();
    };
    for (const auto* t : line.absorbing()) {
      if (!J(t->lower) || !J(t->upper)) continue;
      EXPECT_NEAR(t->core, share_of_sublevels(*J(t->lower), *J(t->upper), *J(t->lower)), 1e-12) << t->name;
      EXPECT_EQ(t->wing, t->core) << t->name;
      ++resonant;
      for (const auto& f : line.fluorescence(*t)) {
        EXPECT_EQ(f.transition->upper, t->upper);
        EXPECT_NEAR(f.E, share_of_sublevels(*J(t->lower), *J(t->upper), *J(f.transition->lower)), 1e-12) << t->name;
        ++fluorescent;
      }
    }
  }
  EXPECT_GT(resonant, 20);
  EXPECT_GT(fluorescent, 15);
}

}  // namespace
