#include "thor/mock/linear_field.hpp"

#include <gtest/gtest.h>

#include <complex>

#include "thor/mock/fft.hpp"

namespace thor::mock {
namespace {

BoxOptions with(double sigma8, double redshift = 3) {
  BoxOptions options;
  options.sigma8 = sigma8;
  options.redshift = redshift;
  return options;
}

TEST(MockFft, IsTheSumOfTheWaves) {
  const std::size_t n = 8;
  std::vector<std::complex<double>> waves;
  for (std::size_t i = 0; i < n * n * n; ++i) {
    Draw draw(1, Use::mode, i);
    waves.emplace_back(draw.gaussian(), draw.gaussian());
  }
  auto values = waves;
  to_real_space(values, n);
  for (std::size_t x = 0; x < n * n * n; x += 37) {
    std::complex<double> sum = 0;
    for (std::size_t k = 0; k < n * n * n; ++k) {
      const std::size_t phase = (x / 64) * (k / 64) + (x / 8 % 8) * (k / 8 % 8) + (x % 8) * (k % 8);
      sum += waves[k] * std::polar(1., 2 * constants::pi * double(phase) / 8);
    }
    EXPECT_NEAR(std::abs(values[x] - sum), 0, 1e-10);
  }
}

/// Standard deviation in balls of 8 Mpc/h, by the trapezium rule in k.
double sigma8(const PowerSpectrum& power) {
  double sum = 0;
  const double radius = 8 / 0.6774, step = 2e-4;
  for (double k = step; k < 6; k += step) {
    const double x = k * radius, window = 3 * (std::sin(x) / x - std::cos(x)) / (x * x);
    sum += k * k * power(k) * window * window * step / (2 * constants::pi * constants::pi);
  }
  return std::sqrt(sum);
}

TEST(MockPowerSpectrum, HasTheAmplitudeAskedFor) {
  EXPECT_NEAR(sigma8(PowerSpectrum(with(0.8159, 0))), 0.8159, 2e-3);
  EXPECT_NEAR(sigma8(PowerSpectrum(with(0.7, 0))), 0.7, 2e-3);
}

TEST(MockPowerSpectrum, HasTheShapeOfColdDarkMatter) {
  const PowerSpectrum power(with(0.8159, 0));
  EXPECT_NEAR(power.transfer(1e-5), 1, 1e-2);
  // The maximum of P is where horizons were at equality, k = 0.01 to 0.02 h/Mpc; small waves fall as ln^2(k)/k^3.
  double best = 0, peak = 0;
  for (double k = 1e-3; k < 1; k *= 1.01) {
    if (power(k) > best) best = power(k), peak = k / 0.6774;
  }
  EXPECT_GT(peak, 0.012);
  EXPECT_LT(peak, 0.022);
  const double slope = std::log(power(30) / power(10)) / std::log(3.);
  EXPECT_NEAR(slope, 0.9667 - 4 + 2 / std::log(20 * 10), 0.25);
}

TEST(MockPowerSpectrum, GrowsAsItShould) {
  EXPECT_NEAR(growth({.h = 0.7, .omega_m = 1, .omega_lambda = 0}, 3), 0.25, 1e-4);  // Einstein & de Sitter: D = a
  // Carroll, Press & Turner (1992, ARA&A 30, 499), eq. 29
  const auto g = [](double m, double l) { return 2.5 * m / (std::pow(m, 4. / 7) - l + (1 + m / 2) * (1 + l / 70)); };
  const double e2 = 0.3089 * 64 + 0.6911;
  EXPECT_NEAR(growth(Cosmology(), 3) / (g(0.3089 * 64 / e2, 0.6911 / e2) / g(0.3089, 0.6911) / 4), 1, 0.01);
}

/// Variance of the waves of the cube, and its scatter: |delta_k|^2 is exponential, opposite waves are the same.
std::pair<double, double> expected_variance(const PowerSpectrum& power, double box, int n, double smoothing,
                                            bool displacement) {
  double sum = 0, squares = 0;
  for (int x = 1 - n / 2; x < n / 2; ++x) {
    for (int y = 1 - n / 2; y < n / 2; ++y) {
      for (int z = 1 - n / 2; z < n / 2; ++z) {
        if (!x && !y && !z) continue;
        const double k = 2 * constants::pi / box * std::sqrt(x * x + y * y + z * z);
        const double p =
            power(k) * std::exp(-std::pow(k * smoothing, 2)) / std::pow(box, 3) / (displacement ? k * k : 1);
        sum += p, squares += 2 * p * p;
      }
    }
  }
  return {sum, std::sqrt(squares)};
}

TEST(MockField, HasTheVarianceOfItsSpectrum) {
  const PowerSpectrum power(with(0.8159)), wrong(with(0.7));
  for (const double smoothing : {0., 1.}) {
    const LinearField field = make_field(power, 50, 32, 7, smoothing);
    double mean = 0, variance = 0, moved = 0;
    for (const double d : field.density) mean += d, variance += d * d;
    for (const auto& psi : field.displacement) {
      for (const float x : psi) moved += double(x) * x;
    }
    const double count = double(field.density.size());
    mean /= count, variance /= count, moved /= count;
    EXPECT_NEAR(mean, 0, 1e-10);
    const auto [sum, scatter] = expected_variance(power, 50, 32, smoothing, false);
    EXPECT_NEAR(variance, sum, 4 * scatter);
    const auto [other, other_scatter] = expected_variance(wrong, 50, 32, smoothing, false);
    if (smoothing == 0) {
      EXPECT_GT(std::abs(variance - other), 4 * other_scatter);
    }
    const auto [square, square_scatter] = expected_variance(power, 50, 32, smoothing, true);
    EXPECT_NEAR(moved, square, 4 * square_scatter);
  }
}

TEST(MockField, DensityIsMinusTheDivergenceOfTheDisplacement) {
  const std::size_t n = 32;
  const LinearField field = make_field(PowerSpectrum(with(0.8159)), 32, n, 3, 3);  // smooth over 3 cells
  double difference = 0, sum = 0, wrong = 0;
  for (std::size_t i = 0; i < n * n * n; ++i) {
    const std::size_t x = i / (n * n), y = i / n % n, z = i % n;
    const auto at = [&](std::size_t a, std::size_t b, std::size_t c) {
      return field.displacement[(a % n * n + b % n) * n + c % n];
    };
    const double divergence = (at(x + 1, y, z)[0] - at(x + n - 1, y, z)[0] + at(x, y + 1, z)[1] -
                               at(x, y + n - 1, z)[1] + at(x, y, z + 1)[2] - at(x, y, z + n - 1)[2]) /
                              (2 * field.cell());
    difference += std::pow(field.density[i] + divergence, 2);
    wrong += std::pow(field.density[i] - divergence, 2);
    sum += std::pow(field.density[i], 2);
  }
  EXPECT_LT(difference / sum, 0.01);
  EXPECT_GT(wrong / sum, 1);
}

TEST(MockField, IsTheSameOnAFinerMesh) {
  const PowerSpectrum power(with(0.8159));
  const LinearField coarse = make_field(power, 40, 16, 3, 4), fine = make_field(power, 40, 32, 3, 4);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_NEAR(coarse.density[i * 16 * 16], fine.density[2 * i * 32 * 32], 0.05 * 0.3);
  }
}

TEST(MockField, IsSmoothedToTheDeviationAskedFor) {
  const PowerSpectrum power(with(0.8159));
  const double smoothing = smoothing_for(power, 0.1, 1);
  EXPECT_GT(smoothing, 0.05);
  const LinearField field = make_field(power, 12.8, 64, 4, smoothing_for(power, 0.2, 0.5));
  double variance = 0;
  for (const double d : field.density) variance += d * d / double(field.density.size());
  EXPECT_NEAR(std::sqrt(variance), 0.5, 0.15);  // a small box lacks long waves
  EXPECT_EQ(smoothing_for(power, 10, 1), 0);
}

}  // namespace
}  // namespace thor::mock
