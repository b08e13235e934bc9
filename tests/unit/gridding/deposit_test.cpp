#include "thor/gridding/deposit/deposit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "thor/gridding/deposit/spline.hpp"

namespace thor::gridding {
namespace {

Particles random_particles(std::size_t count, const Lattice& lattice, double radius_low, double radius_high,
                           unsigned seed, double margin = 0) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> uniform;
  Particles p;
  p.fields = 3;  // a mass, a momentum of either sign, an energy
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t a = 0; a < 3; ++a) {
      p.position.push_back((uniform(generator) * (1 + 2 * margin) - margin) * double(lattice.cells[a]));
    }
    p.radius.push_back(radius_low * std::pow(radius_high / radius_low, uniform(generator)));
    const double mass = uniform(generator);
    p.amount.insert(p.amount.end(), {mass, mass * (uniform(generator) - 0.5), mass * uniform(generator)});
    p.owner.push_back(std::uint32_t(i));
  }
  return p;
}

template <class T>
std::array<double, 3> total(const CellSums<T>& sums) {
  std::array<double, 3> out{};
  const auto& n = sums.lattice().cells;
  for (std::int64_t x = 0; x < n[0]; ++x) {
    for (std::int64_t y = 0; y < n[1]; ++y) {
      for (std::int64_t z = 0; z < n[2]; ++z) {
        for (std::size_t f = 0; f < 3; ++f) out[f] += double(sums.cell(x, y, z)[f]);
      }
    }
  }
  return out;
}

template <class T>
double worst_error(const Lattice& lattice, const Particles& p, int threads = 2) {
  CellSums<T> sums(lattice, 3);
  const Shares s = shares(lattice, p, threads);
  deposit(sums, p, s, threads);
  std::array<double, 3> in{}, scale{};
  for (std::size_t i = 0; i < p.count(); ++i) {
    for (std::size_t f = 0; f < 3; ++f) {
      in[f] += s.inside[i] * p.amount[3 * i + f];
      scale[f] += std::abs(p.amount[3 * i + f]);
    }
  }
  double worst = 0;
  const auto gridded = total(sums);
  for (std::size_t f = 0; f < 3; ++f) worst = std::max(worst, std::abs(gridded[f] - in[f]) / scale[f]);
  return worst;
}

TEST(Deposit, ConservesWhateverTheKernel) {
  const Lattice periodic{{24, 20, 28}, 1., true};
  for (const double ratio : {0.01, 0.1, 0.49, 0.51, 0.7, 1., 1.3, 1.99, 2.01, 3., 7., 15.9, 16.1, 30.}) {
    const Particles p = random_particles(ratio > 5 ? 20 : 300, periodic, ratio, ratio, 1);
    const Shares s = shares(periodic, p, 1);
    for (const double inside : s.inside) EXPECT_EQ(inside, 1);
    EXPECT_LT(worst_error<double>(periodic, p), 1e-12) << ratio;
    EXPECT_LT(worst_error<float>(periodic, p), 1e-6) << ratio;
    Lattice open = periodic;
    open.periodic = false;
    EXPECT_LT(worst_error<double>(open, random_particles(ratio > 5 ? 20 : 300, open, ratio, ratio, 2, 0.3)), 1e-12)
        << ratio;
  }
}

TEST(Deposit, ConservesWithManyParticlesInACell) {
  const Lattice lattice{{16, 16, 16}, 1., true};
  const Particles p = random_particles(400000, lattice, 0.01, 1.2, 3);
  EXPECT_LT(worst_error<double>(lattice, p), 1e-12);
  EXPECT_LT(worst_error<float>(lattice, p), 1e-6);
}

TEST(Deposit, APeriodicGridHasNoSeam) {
  const Lattice lattice{{12, 10, 14}, 1., true};
  for (const double radius : {0.3, 0.8, 1.7, 4.6, 13.}) {
    Particles centre, corner;
    centre.fields = corner.fields = 1;
    centre.position = {6.25, 5.5, 7.75};
    corner.position = {0.25, 0.5, 0.75 - 14};  // by -6, -5 and -7 cells, and once around
    centre.radius = corner.radius = {radius};
    centre.amount = corner.amount = {1};
    CellSums<double> a(lattice, 1), b(lattice, 1);
    deposit(a, centre, shares(lattice, centre, 1), 1);
    deposit(b, corner, shares(lattice, corner, 1), 1);
    for (int x = 0; x < 12; ++x) {
      for (int y = 0; y < 10; ++y) {
        for (int z = 0; z < 14; ++z) {
          EXPECT_NEAR(a.cell(x, y, z)[0], b.cell((x + 6) % 12, (y + 5) % 10, (z + 7) % 14)[0], 1e-7);
        }
      }
    }
  }
}

/// Fraction of a kernel of radius 1 at x > -d, from the marginal 2 pi int_|x|^1 W r dr.
double share_above(double d) {
  constexpr int steps = 2000;
  const auto marginal = [](double x) {
    double sum = 0;
    constexpr int n = 200;
    for (int i = 0; i < n; ++i) {
      const double r = std::abs(x) + (1 - std::abs(x)) * (i + 0.5) / n;
      sum += 2 * constants::pi * r * spline(r) / spline_integral * (1 - std::abs(x)) / n;
    }
    return sum;
  };
  double sum = 0;
  for (int i = 0; i < steps; ++i) sum += marginal(-d + (1 + d) * (i + 0.5) / steps) * (1 + d) / steps;
  return sum;
}

// A face at x = 0 cuts the kernel.
TEST(Deposit, WhatAFaceCutsOffIsTheKernelsPart) {
  const Lattice lattice{{80, 80, 80}, 1., false};
  for (const double radius : {10., 30.}) {  // sums over all cells, and the integral
    for (const double d : {-0.6, -0.25, 0., 0.1, 0.5, 0.9}) {
      Particles p;
      p.fields = 1;
      p.position = {d * radius, 40.2, 39.6};
      p.radius = {radius};
      p.amount = {1};
      const double inside = shares(lattice, p, 1).inside[0];
      // Samples at the centres of cells are the midpoint rule: the error is the slope of the marginal, up to 4, over 24
      // R^2.
      EXPECT_NEAR(inside, share_above(d), 0.17 / (radius * radius)) << radius << " " << d;
      if (d == 0.1) {
        EXPECT_GT(std::abs(inside - share_above(d * 2.5 / 2.)), 10 * 0.17 / (radius * radius))
            << "a wrong radius is detected";
      }
    }
  }
}

TEST(Deposit, WhatIsFarAwayIsCutOff) {
  const Lattice lattice{{8, 8, 8}, 1., false};
  Particles p;
  p.fields = 1;
  p.position = {-3, 4, 4, 1e30, 4, 4, 4, 4, 8.2, 4, 4, 4, 4, 4, 7.9};
  p.radius = {2.9, 5, 0.3, 0.4, 0.4};
  p.amount = {1, 1, 1, 1, 1};
  const Shares s = shares(lattice, p, 1);
  const std::vector<double> expected{0, 0, 0, 1, 1};
  EXPECT_EQ(s.inside, expected);
  CellSums<double> sums(lattice, 1);
  deposit(sums, p, s, 2);
  EXPECT_EQ(sums.cell(4, 4, 4)[0], 1);
  EXPECT_EQ(sums.cell(4, 4, 7)[0], 1);
}

/// Largest difference between the grid and the kernel of radius l around the particle, relative to its centre.
double off_profile(double radius, double expected_radius) {
  const Lattice lattice{{32, 32, 32}, 1., false};
  Particles p;
  p.fields = 1;
  p.position = {16.3, 15.6, 16.1};
  p.radius = {radius};
  p.amount = {1};
  CellSums<double> sums(lattice, 1);
  deposit(sums, p, shares(lattice, p, 1), 1);
  const double peak = 1 / (spline_integral * std::pow(expected_radius, 3));
  double worst = 0;
  for (int x = 0; x < 32; ++x) {
    for (int y = 0; y < 32; ++y) {
      for (int z = 0; z < 32; ++z) {
        const double r = std::hypot(x + 0.5 - 16.3, y + 0.5 - 15.6, z + 0.5 - 16.1);
        worst = std::max(worst, std::abs(sums.cell(x, y, z)[0] / peak - spline(r / expected_radius)));
      }
    }
  }
  return worst;
}

TEST(Deposit, ThePapersKernelIsWhatIsDeposited) {
  const double volume = 100;
  EXPECT_LT(off_profile(kernel_radius(volume), 2.5 * std::cbrt(3 * volume / (4 * constants::pi))), 1e-4);
  EXPECT_GT(off_profile(kernel_radius(volume, 2.4), 2.5 * std::cbrt(3 * volume / (4 * constants::pi))), 1e-2);
}

// The deposit has the centre of mass and the size of the kernel: <r^2> = 9/40 l^2.
TEST(Deposit, NarrowKernelsKeepTheirPlaceAndSize) {
  const Lattice lattice{{20, 20, 20}, 1., false};
  for (const double radius : {0.7, 1.2, 1.9, 2.1, 3.3, 6.}) {
    const Particles p = [&] {
      Particles q = random_particles(1, lattice, radius, radius, 5);
      q.position = {10.2, 9.7, 10.45};
      q.fields = 1;
      q.amount = {1};
      return q;
    }();
    CellSums<double> sums(lattice, 1);
    deposit(sums, p, shares(lattice, p, 1), 1);
    Vector first{};
    double second = 0;
    for (int x = 0; x < 20; ++x) {
      for (int y = 0; y < 20; ++y) {
        for (int z = 0; z < 20; ++z) {
          const double m = sums.cell(x, y, z)[0];
          const Vector d{x + 0.5 - 10.2, y + 0.5 - 9.7, z + 0.5 - 10.45};
          for (std::size_t a = 0; a < 3; ++a) first[a] += m * d[a];
          second += m * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        }
      }
    }
    for (const double shift : first) EXPECT_LT(std::abs(shift), radius < 1 ? 0.25 : 0.06) << radius;
    EXPECT_NEAR(second, 0.225 * radius * radius, radius < 2 ? 0.3 : 0.03 * radius * radius) << radius;
  }
}

TEST(Deposit, AnyNumberOfThreadsGivesTheSameBits) {
  for (const bool periodic : {true, false}) {
    const Lattice lattice{{17, 19, 23}, 1., periodic};
    const Particles p = random_particles(2000, lattice, 0.05, 9, 7, 0.1);
    std::vector<char> reference;
    for (const int threads : {1, 2, 3, 8, 40}) {
      CellSums<double> sums(lattice, 3);
      deposit(sums, p, shares(lattice, p, threads), threads);
      const auto* bytes = reinterpret_cast<const char*>(sums.row(0, 0));
      const std::vector<char> here(bytes, bytes + lattice.count() * 3 * sizeof(double));
      if (reference.empty()) reference = here;
      EXPECT_TRUE(here == reference) << threads;
    }
  }
}

/// Bytes of the sums of all layers, made in slabs of so many.
template <class T>
std::vector<char> in_slabs(const Lattice& lattice, const Particles& p, std::int64_t layers, int threads) {
  std::vector<char> out;
  for (std::int64_t first = 0; first < lattice.cells[0]; first += layers) {
    CellSums<T> sums(lattice, 3, {first, std::min(first + layers, lattice.cells[0])});
    deposit(sums, p, shares(lattice, p, threads), threads);
    const auto* bytes = reinterpret_cast<const char*>(sums.row(first, 0));
    out.insert(out.end(), bytes, bytes + sums.cells() * 3 * sizeof(T));
  }
  return out;
}

TEST(Deposit, SlabsOfAnyThicknessGiveTheSameBits) {
  for (const bool periodic : {true, false}) {
    const Lattice lattice{{17, 19, 23}, 1., periodic};
    Particles p = random_particles(800, lattice, 0.05, 9, 7, 0.1);
    p.radius[0] = 40;  // several times around
    const auto doubles = in_slabs<double>(lattice, p, 17, 2);
    const auto floats = in_slabs<float>(lattice, p, 17, 2);
    for (const std::int64_t layers : {1, 2, 5, 8, 16}) {
      for (const int threads : {1, 3}) {
        EXPECT_TRUE(in_slabs<double>(lattice, p, layers, threads) == doubles) << layers;
        EXPECT_TRUE(in_slabs<float>(lattice, p, layers, threads) == floats) << layers;
      }
    }
    // The order of the particles does show.
    for (std::size_t i = 0, j = p.count() - 1; i < j; ++i, --j) {
      std::swap(p.radius[i], p.radius[j]);
      for (std::size_t a = 0; a < 3; ++a) {
        std::swap(p.position[3 * i + a], p.position[3 * j + a]);
        std::swap(p.amount[3 * i + a], p.amount[3 * j + a]);
      }
    }
    EXPECT_FALSE(in_slabs<double>(lattice, p, 17, 2) == doubles);
    EXPECT_FALSE(in_slabs<float>(lattice, p, 17, 2) == floats);
  }
}

// A slab that one kernel alone reaches has gas; all others are told apart, except within a cell of it.
TEST(Deposit, WhatReachesASlabIsToldBeforehand) {
  for (const bool periodic : {true, false}) {
    const Lattice lattice{{20, 4, 4}, 1., periodic};
    const Particles some = random_particles(200, lattice, 0.1, 6, 11, periodic ? 1.5 : 0.3);
    int passed = 0, tried = 0;
    for (std::size_t i = 0; i < some.count(); ++i) {
      Particles p;
      p.fields = 1;
      p.position = {some.position[3 * i], 2, 2};
      p.radius = {some.radius[i]};
      p.amount = {1};
      const Shares s = shares(lattice, p, 1);
      for (std::int64_t first = 0; first < 20; first += 3) {
        CellSums<double> sums(lattice, 1, {first, std::min<std::int64_t>(first + 3, 20)});
        deposit(sums, p, s, 1);
        double sum = 0;
        for (std::size_t c = 0; c < sums.cells(); ++c) sum += sums.column(0)[c];
        const bool told = may_reach(lattice, sums.layers(), p.position[0], p.radius[0]);
        EXPECT_TRUE(told || sum == 0) << p.position[0] << " " << p.radius[0] << " " << first;
        passed += told, ++tried;
      }
    }
    EXPECT_LT(passed, tried * 3 / 4);
  }
}

}  // namespace
}  // namespace thor::gridding
