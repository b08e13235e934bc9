#include "thor/datasets/dust_law.hpp"

#include <cmath>

namespace thor {
namespace {

struct Term {
  double lambda;  ///< [um]
  double a, b, p, q;
};
constexpr Term smc[] = {{0.042, 185, 90, 2, 2},    {0.08, 27, 15.5, 4, 4},  {0.22, 0.005, -1.95, 2, 2},
                        {9.7, 0.010, -1.95, 2, 2}, {18, 0.012, -1.8, 2, 2}, {25, 0.030, 0, 2, 2},
                        {0.067, 10, 1.9, 4, 15}};
constexpr Term lmc[] = {{0.046, 90, 90, 2, 2},     {0.08, 19, 21, 4.5, 4.5}, {0.22, 0.023, -1.95, 2, 2},
                        {9.7, 0.005, -1.95, 2, 2}, {18, 0.006, -1.8, 2, 2},  {25, 0.020, 0, 2, 2},
                        {0.067, 10, 1.9, 4, 15}};

}  // namespace

double dust_cross_section(DustLaw law, double wavelength) {
  double sum = 0;
  for (const Term& t : law == DustLaw::smc ? smc : lmc) {
    const double x = wavelength * 1e4 / t.lambda;
    sum += t.a / (std::pow(x, t.p) + std::pow(x, -t.q) + t.b);
  }
  return (law == DustLaw::smc ? 1e-22 : 3e-22) * sum;
}

double dust_metallicity(DustLaw law) { return std::pow(10, law == DustLaw::smc ? -0.6 : -0.3); }

}  // namespace thor
