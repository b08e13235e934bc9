#include "thor/outputs/trust.hpp"

#include <cmath>
#include <numeric>

namespace thor {
namespace {

/// Sums of the second and fourth powers of deviations from the mean.
struct Moments {
  double second = 0, fourth = 0;
};
Moments moments_of(const double (&sums)[id_groups]) {
  const double mean = std::accumulate(sums, sums + id_groups, 0.) / id_groups;
  Moments m;
  for (const double sum : sums) {
    const double square = (sum - mean) * (sum - mean);
    m.second += square, m.fourth += square * square;
  }
  return m;
}

}  // namespace

double error_of_groups(const double (&sums)[id_groups]) {
  return std::sqrt(moments_of(sums).second * id_groups / (id_groups - 1));
}

double vov_of_groups(const double (&sums)[id_groups]) {
  const Moments m = moments_of(sums);
  return m.second > 0 ? m.fourth / (m.second * m.second) - 1. / id_groups : 0;
}

double trusted_share(const BinnedLight& binned) {
  double all = 0, trusted = 0;
  for (std::size_t i = 0; i < binned.light.size(); ++i) {
    all += binned.light[i];
    const bool scatters = !binned.vov.empty() && binned.vov[i] > most_vov;
    if (!scatters && binned.error[i] <= most_relative_error * binned.light[i]) trusted += binned.light[i];
  }
  return all > 0 ? trusted / all : 0;
}

}  // namespace thor
