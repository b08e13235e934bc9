#include "thor/mock/linear_field.hpp"

#include <complex>

#include "thor/mock/fft.hpp"

namespace thor::mock {
namespace {

using Complex = std::complex<double>;

struct Wave {
  std::array<int, 3> periods;  ///< number in the box, along x, y, z
  double k;                    ///< [1/Mpc]
  std::size_t index;
};

/// All waves of the cube except the mean and those at the Nyquist frequency.
template <class Take>
void for_each_wave(double box, std::size_t n, Take take) {
  const int size = int(n);
  const auto periods = [&](int i) { return i < size / 2 ? i : i - size; };
  std::size_t index = 0;
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) {
      for (int k = 0; k < size; ++k, ++index) {
        if (i == size / 2 || j == size / 2 || k == size / 2 || index == 0) continue;
        const int x = periods(i), y = periods(j), z = periods(k);
        take(Wave{{x, y, z}, 2 * constants::pi / box * std::sqrt(double(x * x + y * y + z * z)), index});
      }
    }
  }
}

/// A wave and its opposite are complex conjugates, since the field is real: both come from the stream of one of them.
Complex amplitude(std::uint64_t seed, std::array<int, 3> p, double variance) {
  const bool opposite = p < std::array<int, 3>{0, 0, 0};
  std::uint64_t number = 0;
  for (const int x : p) number = (number << 12) | std::uint64_t((opposite ? -x : x) + 2048);
  Draw draw(seed, Use::mode, number);
  const double scale = std::sqrt(variance / 2), re = scale * draw.gaussian(), im = scale * draw.gaussian();
  return {re, opposite ? -im : im};
}

std::vector<Complex> make_waves(const PowerSpectrum& power, double box, std::size_t n, std::uint64_t seed,
                                double smoothing) {
  std::vector<Complex> waves(n * n * n);
  for_each_wave(box, n, [&](const Wave& w) {
    const double variance = power(w.k) * std::exp(-w.k * w.k * smoothing * smoothing) / (box * box * box);
    waves[w.index] = amplitude(seed, w.periods, variance);
  });
  return waves;
}

std::vector<double> real_parts(std::vector<Complex> waves, std::size_t n) {
  to_real_space(waves, n);
  std::vector<double> values;
  values.reserve(waves.size());
  for (const Complex& c : waves) values.push_back(c.real());
  return values;
}

}  // namespace

std::vector<double> make_density(const PowerSpectrum& power, double box, std::size_t n, std::uint64_t seed,
                                 double smoothing) {
  return real_parts(make_waves(power, box, n, seed, smoothing), n);
}

LinearField make_field(const PowerSpectrum& power, double box, std::size_t n, std::uint64_t seed, double smoothing) {
  const std::vector<Complex> waves = make_waves(power, box, n, seed, smoothing);
  LinearField field{n, box, real_parts(waves, n), {}};
  field.displacement.resize(waves.size());
  for (int d = 0; d < 3; ++d) {
    std::vector<Complex> parts(waves.size());
    for_each_wave(box, n, [&](const Wave& w) {
      const double along = 2 * constants::pi / box * w.periods[d] / (w.k * w.k);
      parts[w.index] = Complex(-along * waves[w.index].imag(), along * waves[w.index].real());  // i k/k^2 delta_k
    });
    to_real_space(parts, n);
    for (std::size_t i = 0; i < parts.size(); ++i) field.displacement[i][d] = float(parts[i].real());
  }
  return field;
}

double smoothing_for(const PowerSpectrum& power, double cell, double deviation) {
  const auto variance = [&](double smoothing) {
    constexpr int steps = 1000;
    const double first = std::log(1e-4), last = std::log(constants::pi / cell), step = (last - first) / steps;
    double sum = 0;
    for (int i = 0; i < steps; ++i) {
      const double k = std::exp(first + (i + 0.5) * step);
      sum +=
          k * k * k * power(k) / (2 * constants::pi * constants::pi) * std::exp(-k * k * smoothing * smoothing) * step;
    }
    return sum;
  };
  if (variance(0) <= deviation * deviation) return 0;
  double low = 0, high = 100;
  for (int i = 0; i < 50; ++i) {
    const double middle = 0.5 * (low + high);
    (variance(middle) > deviation * deviation ? low : high) = middle;
  }
  return high;
}

}  // namespace thor::mock
