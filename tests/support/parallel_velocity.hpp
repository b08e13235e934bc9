#pragma once
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "support/statistics.hpp"
#include "support/stream.hpp"
#include "thor/math/functions.hpp"

/// Comparison of samplers of the atom's velocity along the photon with p(u) ~ e^{-u^2}/((x-u)^2 + a^2).
namespace test {

struct Target {
  double a, x;
  double operator()(double u) const { return std::exp(-u * u) / ((x - u) * (x - u) + a * a); }
};

inline std::size_t bin_of(double u, const std::vector<double>& edges) {
  return std::size_t(std::upper_bound(edges.begin(), edges.end(), u) - edges.begin());
}

/// Masses below the first edge, between the edges, above the last: Gauss-Legendre on pieces that grow geometrically
/// away from the resonance, so that the poles at x +- ia are far from each of them.
inline std::vector<double> masses(const Target& target, const std::vector<double>& edges) {
  constexpr double end = 9;  // e^{-81}
  std::vector<double> cuts{-end, end};
  for (const double e : edges) cuts.push_back(std::clamp(e, -end, end));
  for (double u = -end; u < end; u += 0.125) cuts.push_back(u);
  for (double y = 0.1 * target.a; y < 2 * end; y *= 1.5)
    for (const double u : {target.x - y, target.x + y})
      if (std::abs(u) < end) cuts.push_back(u);
  std::sort(cuts.begin(), cuts.end());
  constexpr double node[] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363};
  constexpr double weight[] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};
  std::vector<double> mass(edges.size() + 1, 0.);
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    const double half = 0.5 * (cuts[i] - cuts[i - 1]), mid = cuts[i - 1] + half;
    double sum = 0;
    for (int k = 0; k < 4; ++k) sum += weight[k] * (target(mid - half * node[k]) + target(mid + half * node[k]));
    mass[bin_of(mid, edges)] += half * sum;
  }
  return mass;
}
inline double norm(const Target& target) { return masses(target, {})[0]; }

/// Possible edge of a bin: between two numbers of the sampler's precision, so that u = x - y, rounded, stays in its
/// bin.
inline double between(double u, bool single) {
  if (!single) return u;
  const float below = float(u);
  return 0.5 * (double(below) + double(std::nextafter(below, 10.f)));
}

/// Half decades around the resonance from a/10 on, and a grid over the Gaussian.
inline std::vector<double> bin_edges(const Target& target, bool single) {
  std::vector<double> edges;
  for (double u = -5; u <= 5; u += 0.25) edges.push_back(between(u, single));
  for (double y = 0.1 * target.a; y < 5; y *= std::sqrt(10.))
    for (const double u : {target.x - y, target.x + y})
      if (std::abs(u) < 5) edges.push_back(between(u, single));
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

struct Comparison {
  double chi2 = 0;
  int freedom = -1;
  double p() const { return chi_square_p(chi2, freedom); }
};

/// Chi-square of counts against masses of any norm; bins are merged up to an expectation of 20.
inline Comparison compare(const std::vector<double>& seen, const std::vector<double>& mass) {
  double n = 0, sum = 0, e = 0, o = 0;
  for (std::size_t i = 0; i < mass.size(); ++i) n += seen[i], sum += mass[i];
  Comparison result;
  double left = n;  // expected in the remaining bins: the last one takes what is too little for another bin
  for (std::size_t i = 0; i < mass.size(); ++i) {
    e += mass[i] * n / sum, o += seen[i], left -= mass[i] * n / sum;
    if ((e < 20 || left < 20) && i + 1 < mass.size()) continue;
    result.chi2 += (o - e) * (o - e) / e, ++result.freedom;
    e = o = 0;
  }
  return result;
}

inline std::vector<double> histogram(const std::vector<double>& samples, const std::vector<double>& edges) {
  std::vector<double> seen(edges.size() + 1, 0.);
  for (const double u : samples) seen[bin_of(u, edges)] += 1;
  return seen;
}

template <class V>
Target target_of(double a, double x) {
  return {double(thor::RealOf<V>(a)), double(thor::RealOf<V>(x))};
}

struct Draw {
  std::vector<double> u;  ///< accepted
  double proposals = 0;
  double acceptance() const { return double(u.size()) / proposals; }
};

template <class V, class Sampler>
Draw draw(const Sampler& sampler, double x, double proposals, std::uint64_t seed) {
  using Real = thor::RealOf<V>;
  constexpr int n = thor::Value<V>::lanes;
  auto random = stream<V>(seed);
  const V vx = V(Real(x)), gaussian = thor::exp(-vx * vx);
  Draw result;
  result.u.reserve(std::size_t(proposals));
  Real u[n], accepted[n];
  for (; result.proposals < proposals; result.proposals += n) {
    const auto choice = random.next(), word = random.next();
    const auto proposal = sampler.propose(vx, gaussian, {choice, word}, random);
    thor::store(proposal.u, u);
    thor::store(thor::select(proposal.accepted, V(Real(1)), V(Real(0))), accepted);
    for (int lane = 0; lane < n; ++lane)
      if (accepted[lane] != 0) result.u.push_back(double(u[lane]));
  }
  return result;
}

inline std::uint64_t seed_of(double a, double x) { return std::uint64_t(1e7 * a + 1e4 * (x + 1000)); }
inline std::string label(double a, double x) { return testing::PrintToString(std::array<double, 2>{a, x}) + " (a, x)"; }

}  // namespace test
