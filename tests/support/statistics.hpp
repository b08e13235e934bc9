#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

/// Statistics for tests: each sampler is compared with its pdf at a fixed seed, and the same test with a wrong
/// parameter must fail.
namespace test {

/// Upper-tail normal probability.
inline double normal_tail(double z) { return 0.5 * std::erfc(z / std::sqrt(2.)); }

/// p-value of a chi-square, by the transformation of Wilson & Hilferty (1931); good to a few per cent for n > 5.
inline double chi_square_p(double chi2, double n) {
  const double k = 2 / (9 * n);
  return normal_tail((std::cbrt(chi2 / n) - (1 - k)) / std::sqrt(k));
}

/// p-value for the samples to follow a pdf on [low, high] (normalised here; samples outside count in two tail bins
/// whose probability is `tail_low`, `tail_high` of the whole). Bins with fewer than 10 expected are merged with the
/// next.
inline double chi_square_test(const std::vector<double>& samples, const std::function<double(double)>& pdf, double low,
                              double high, int bins, double tail_low = 0, double tail_high = 0) {
  std::vector<double> expected(bins + 2, 0.), seen(bins + 2, 0.);
  double sum = 0;
  for (int i = 0; i < bins; ++i) {
    const int fine = 64;
    for (int j = 0; j < fine; ++j) expected[i + 1] += pdf(low + (high - low) * (i + (j + 0.5) / fine) / bins);
    sum += expected[i + 1];
  }
  const double n = double(samples.size());
  for (int i = 1; i <= bins; ++i) expected[i] *= n * (1 - tail_low - tail_high) / sum;
  expected.front() = n * tail_low, expected.back() = n * tail_high;
  for (const double s : samples) {
    const double place = (s - low) / (high - low) * bins;
    seen[place < 0 ? 0 : place >= bins ? bins + 1 : std::size_t(place) + 1] += 1;
  }
  double chi2 = 0, e = 0, o = 0;
  int used = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    e += expected[i], o += seen[i];
    if (e >= 10 || (i + 1 == expected.size() && e > 0)) {
      chi2 += (o - e) * (o - e) / e;
      ++used, e = o = 0;
    }
  }
  if (o > 0) return 0;  // samples where the pdf has none
  return chi_square_p(chi2, used - 1);
}

/// Largest distance between the empirical distributions of two samples.
inline double ks_distance(std::vector<double> a, std::vector<double> b) {
  std::sort(a.begin(), a.end()), std::sort(b.begin(), b.end());
  double d = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const double x = std::min(a[i], b[j]);
    while (i < a.size() && a[i] <= x) ++i;
    while (j < b.size() && b[j] <= x) ++j;
    d = std::max(d, std::abs(double(i) / double(a.size()) - double(j) / double(b.size())));
  }
  return d;
}

/// Largest distance between a sample and a cdf.
inline double ks_distance(std::vector<double> a, const std::function<double(double)>& cdf) {
  std::sort(a.begin(), a.end());
  double d = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double c = cdf(a[i]);
    d = std::max({d, std::abs(c - double(i) / double(a.size())), std::abs(c - double(i + 1) / double(a.size()))});
  }
  return d;
}

/// Asymptotic p-value of a KS distance for an effective sample size (Stephens 1970).
inline double ks_p(double distance, double n) {
  const double t = distance * (std::sqrt(n) + 0.12 + 0.11 / std::sqrt(n));
  double p = 0;
  for (int k = 1; k <= 100; ++k) p += (k % 2 ? 2. : -2.) * std::exp(-2. * k * k * t * t);
  return std::clamp(p, 0., 1.);
}
inline double ks_p(double distance, double n, double m) { return ks_p(distance, n * m / (n + m)); }

struct Moments {
  double mean, error;
};
inline Moments moments(const std::vector<double>& v) {
  double s = 0, s2 = 0;
  for (const double x : v) s += x, s2 += x * x;
  const double n = double(v.size()), mean = s / n;
  return {mean, std::sqrt(std::max(s2 / n - mean * mean, 0.) / (n - 1))};
}

}  // namespace test
