// The samplers on the device, compared with the host's draws for the same streams and with their pdfs.
#include <numbers>

#include "device/support.hpp"
#include "support/statistics.hpp"
#include "thor/distributions/exponential.hpp"
#include "thor/distributions/henyey_greenstein.hpp"
#include "thor/distributions/parallel_velocity.hpp"
#include "thor/distributions/perpendicular_velocity.hpp"
#include "thor/distributions/phase_function.hpp"
#include "thor/line/voigt.hpp"
#include "thor/random/uniform.hpp"
#include "thor/random/xoshiro.hpp"

namespace thor {  // where exp and its like are thor's, not the device's own
namespace {

using std::vector;
using test::expect_same_as_host, test::in_both_precisions, test::on_device, test::Row;

using DeviceSamplers = test::DeviceTest;

// ---- the samplers: draw i is the first of stream i ------------------------------------------------------------------

/// The four first words of a stream, or four extreme words: as i runs up to 10^4, every four of them.
struct WordSource {
  std::uint64_t seed;
  bool extreme = false;
  THOR_FN Row<std::uint32_t, 4> operator()(std::uint64_t i) const {
    Row<std::uint32_t, 4> words;
    if (extreme) {
      constexpr std::uint32_t extremes[] = {0,          1,          2,          0xff,       0x100,
                                            0x7fffffff, 0x80000000, 0xffffff00, 0xfffffffe, 0xffffffff};
      for (int k = 0; k < 4; ++k, i /= 10) words[k] = extremes[i % 10];
    } else {
      auto random = xoshiro<float>(stream_key(seed, i));
      for (int k = 0; k < 4; ++k) words[k] = random.next();
    }
    return words;
  }
};
constexpr std::uint64_t extreme_cases = 10000;

template <class Real>
struct UniformDraws {
  WordSource source;
  THOR_FN Row<Real, 9> operator()(std::uint64_t i) const {
    const auto w = source(i);
    const auto pair = gaussian_pair<Real>(w[0], w[1]);
    const auto d = isotropic_direction<Real>(w[2], w[3]);
    // The radius of the pair may be the root of -0, a zero of whatever sign: adding 0 takes it away.
    return {uniform<Real>(w[0]),
            uniform_positive<Real>(w[0]),
            uniform_fine<Real>(w[0], w[1]),
            random_sign(Real(1), w[0]),
            pair.first + Real(0),
            pair.second + Real(0),
            d.x,
            d.y,
            d.z};
  }
};
template <class Real>
struct ExponentialDraw {
  WordSource source;
  THOR_FN Row<Real, 1> operator()(std::uint64_t i) const { return {sample_exponential<Real>(source(i)[0])}; }
};
template <class Real>
struct PerpendicularDraw {
  WordSource source;
  Real x_crit;
  THOR_FN Row<Real, 1> operator()(std::uint64_t i) const {
    const auto w = source(i);
    return {sample_perpendicular_velocity(x_crit, {uniform_positive<Real>(w[0]), w[1]})};
  }
};
template <class Real>
struct MixtureDraw {
  WordSource source;
  DipoleMixture<Real> mixture;
  THOR_FN Row<Real, 2> operator()(std::uint64_t i) const {
    const auto w = source(i);
    const auto turn = sample_dipole_mixture(mixture, {w[0], w[1]});
    return {turn.mu, turn.sine};
  }
};
template <class Real>
struct DustDraw {
  WordSource source;
  Real g;
  THOR_FN Row<Real, 2> operator()(std::uint64_t i) const {
    const auto turn = sample_henyey_greenstein(g, source(i)[0]);
    return {turn.mu, turn.sine};
  }
};
/// u, and whether it was accepted. The Gaussian comes from the Voigt profile, as in a step.
template <class Real>
struct ParallelDraw {
  WordSource source;
  ParallelVelocity<Real> distribution;
  Real x;
  THOR_FN Row<Real, 2> operator()(std::uint64_t i) const {
    const auto w = source(i);
    const Real gaussian = Voigt::eval(distribution.a, x).gaussian;
    Xoshiro128<Real> random{w[2], w[3], 1u, 2u};
    const auto proposal = distribution.propose(x, gaussian, {w[0], w[1]}, random);
    return {proposal.u, Real(proposal.accepted)};
  }
};
/// As drivers/mcrt/setup.cpp makes them.
template <class Real>
ParallelVelocity<Real> parallel_velocity(double a) {
  return {Real(a), Real(1 / a), Real(std::log1p(4.4 * 4.4 / (a * a)))};
}

constexpr double voigt_parameters[] = {4.7e-4, 1e-2};
constexpr double frequencies[] = {0, 0.5, 1, 2, 2.3, 3, 5, 10, 40};
constexpr double cuts[] = {0, 1, 3, 7};
constexpr double core = 1. / 12, dipole = 1. / 4;
constexpr double asymmetries[] = {0, 1e-6, 0.3, 0.73, 0.99, 0.999, -0.5, -0.999};

// ---- the host's draws -----------------------------------------------------------------------------------------------

/// For streams and for extreme words.
template <class Out, class Sampler>
void expect_same_draws(Sampler sampler) {
  sampler.source.extreme = false;
  expect_same_as_host<Out>(1 << 17, sampler);
  sampler.source.extreme = true;
  expect_same_as_host<Out>(extreme_cases, sampler);
}

TEST_F(DeviceSamplers, UniformsAreTheHosts) {
  in_both_precisions([]<class Real>(Real) { expect_same_draws<Row<Real, 9>>(UniformDraws<Real>{{1}}); });
}

TEST_F(DeviceSamplers, ExponentialIsTheHosts) {
  in_both_precisions([]<class Real>(Real) { expect_same_draws<Row<Real, 1>>(ExponentialDraw<Real>{{2}}); });
}

TEST_F(DeviceSamplers, PerpendicularVelocityIsTheHosts) {
  in_both_precisions([]<class Real>(Real) {
    for (const double x_crit : cuts) {
      SCOPED_TRACE(x_crit);
      expect_same_draws<Row<Real, 1>>(PerpendicularDraw<Real>{{3}, Real(x_crit)});
    }
  });
}

TEST_F(DeviceSamplers, PhaseFunctionsAreTheHosts) {
  in_both_precisions([]<class Real>(Real) {
    for (const double quarter_E : {0., core, dipole}) {
      SCOPED_TRACE(quarter_E);
      expect_same_draws<Row<Real, 2>>(MixtureDraw<Real>{{4}, dipole_mixture<Real>(quarter_E)});
    }
    for (const double g : asymmetries) {
      SCOPED_TRACE(g);
      expect_same_draws<Row<Real, 2>>(DustDraw<Real>{{5}, Real(g)});
    }
  });
}

TEST_F(DeviceSamplers, ParallelVelocityIsTheHosts) {
  in_both_precisions([]<class Real>(Real) {
    for (const double a : voigt_parameters)
      for (const double x : frequencies)
        for (const double side : {1., -1.}) {
          SCOPED_TRACE(testing::Message() << "a = " << a << ", x = " << side * x);
          expect_same_draws<Row<Real, 2>>(ParallelDraw<Real>{{6}, parallel_velocity<Real>(a), Real(side * x)});
        }
  });
}

// ---- their pdfs -----------------------------------------------------------------------------------------------------

constexpr std::uint64_t size = 1 << 20;
/// Each test and each precision has streams of its own.
template <class Real>
constexpr std::uint64_t seed(double test) {
  return std::uint64_t(1000 * test) + sizeof(Real);
}
constexpr double tiny = 1e-6;  // what a twin's p-value must stay below

/// Column k of the device's draws.
template <class Real, int n>
vector<double> column(const vector<Row<Real, n>>& rows, int k = 0) {
  vector<double> values;
  values.reserve(rows.size());
  for (const auto& row : rows) values.push_back(double(row[k]));
  return values;
}

TEST_F(DeviceSamplers, ExponentialFollowsItsPdf) {
  in_both_precisions([]<class Real>(Real) {
    const auto tau = column(on_device<Row<Real, 1>>(size, ExponentialDraw<Real>{{seed<Real>(11)}}));
    const auto p = [&](double rate) {
      return test::chi_square_test(
          tau, [&](double t) { return rate * std::exp(-rate * t); }, 0, 8, 160, 0, std::exp(-8 * rate));
    };
    EXPECT_GT(p(1), 1e-3 / 4);
    EXPECT_LT(p(1.02), tiny);
    EXPECT_LT(p(0.98), tiny);
  });
}

/// u = M cos(phi), M^2 - x_crit^2 exponential: p(u) = Int 2 M e^{x_crit^2 - M^2}/(pi sqrt(M^2 - u^2)) dM.
double projected_pdf(double x_crit, double u) {
  const double rest = x_crit * x_crit - u * u;
  return std::exp(rest) * std::erfc(std::sqrt(std::max(rest, 0.))) / std::sqrt(std::numbers::pi);
}

TEST_F(DeviceSamplers, PerpendicularVelocityFollowsItsPdf) {
  in_both_precisions([]<class Real>(Real) {
    for (const double x_crit : cuts) {
      SCOPED_TRACE(x_crit);
      const WordSource source{seed<Real>(12 + x_crit)};
      const auto u = column(on_device<Row<Real, 1>>(size, PerpendicularDraw<Real>{source, Real(x_crit)}));
      const auto p = [&](double cut) {  // a bin ends at the pdf's kink
        const double reach = cut + 3, tail = std::exp(cut * cut) * std::erfc(reach) / 2;
        return test::chi_square_test(
            u, [&](double v) { return projected_pdf(cut, v); }, -reach, reach, int(8 * reach + 0.5), tail, tail);
      };
      EXPECT_GT(p(x_crit), 1e-3 / 16);
      EXPECT_LT(p(x_crit == 0 ? 0.1 : 1.03 * x_crit), tiny);
      if (x_crit > 0) {
        EXPECT_LT(p(0.97 * x_crit), tiny);
      }
    }
  });
}

TEST_F(DeviceSamplers, DipoleMixtureFollowsItsPdf) {
  in_both_precisions([]<class Real>(Real) {
    for (const double quarter_E : {0., core, dipole}) {
      const auto angles =
          on_device<Row<Real, 2>>(size, MixtureDraw<Real>{{seed<Real>(21)}, dipole_mixture<Real>(quarter_E)});
      const auto mu = column(angles);
      for (const double taken_for : {0., core, dipole}) {
        const double p = test::chi_square_test(
            mu, [&](double m) { return dipole_mixture_pdf(taken_for, m); }, -1, 1.0000001, 100);
        if (taken_for == quarter_E) {
          EXPECT_GT(p, 1e-3 / 12) << quarter_E;
        } else {
          EXPECT_LT(p, tiny) << quarter_E << " taken for " << taken_for;
        }
      }
    }
  });
}

/// Henyey-Greenstein, integrated over the angles behind this one, free of cancellation: near 1 a single-precision mu
/// has lost w = 1 - mu, the sine not.
double dust_cdf(double g, double mu, double sine) {
  if (g < 0) g = -g, mu = -mu;
  const double w = mu > 0 ? sine * sine / (1 + mu) : 1 - mu;
  const double d = std::sqrt((1 - g) * (1 - g) + 2 * g * w);
  return (1 - g) * (2 - w) / (d * (1 + g + d));
}

TEST_F(DeviceSamplers, DustFollowsItsPdf) {
  in_both_precisions([]<class Real>(Real) {
    for (const double g : asymmetries) {
      const auto angles = on_device<Row<Real, 2>>(size, DustDraw<Real>{{seed<Real>(22)}, Real(g)});
      const auto p = [&](double asymmetry) {
        vector<double> cdf;
        for (const auto& turn : angles) cdf.push_back(dust_cdf(double(Real(asymmetry)), turn[0], turn[1]));
        return test::chi_square_test(
            cdf, [](double) { return 1.; }, 0, 1.0000001, 100);
      };
      EXPECT_GT(p(g), 1e-3 / 64) << g;
      const double off = 0.05 * (1 - std::abs(g)) + (std::abs(g) < 0.01 ? -0.03 : 0);
      for (const double wrong : {g + off, g - off, -g})
        if (std::abs(wrong - g) > 1e-5) {
          EXPECT_LT(p(wrong), tiny) << g << " taken for " << wrong;
        }
    }
  });
}

/// p-value of velocities for e^{-u^2}/((x-u)^2 + a^2). With a peak the variable is t = asinh((u-x)/a), in which the
/// Lorentzian is as wide as its wings; without (|x| > 4: none of a million falls on it) it is u.
double parallel_p(const vector<double>& u, double a, double x) {
  if (std::abs(x) > 4) {
    const auto pdf = [&](double v) { return std::exp(-v * v) / ((x - v) * (x - v) + a * a); };
    return test::chi_square_test(u, pdf, -4, 4, 64);
  }
  vector<double> t;
  t.reserve(u.size());
  for (const double v : u) t.push_back(std::asinh((v - x) / a));
  const double end = std::asinh((std::abs(x) + 6) / a);
  const auto pdf = [&](double s) {
    const double v = x + a * std::sinh(s);
    return std::exp(-v * v) / std::cosh(s);
  };
  return test::chi_square_test(t, pdf, -end, end, 160);
}

TEST_F(DeviceSamplers, ParallelVelocityFollowsItsPdf) {
  constexpr double cases = 5 * 19 * 4;  // as many as on the host, for the same threshold
  in_both_precisions([]<class Real>(Real) {
    for (const double a : voigt_parameters)
      for (const double x : frequencies) {
        SCOPED_TRACE(testing::Message() << "a = " << a << ", x = " << x);
        const WordSource source{seed<Real>(31 + x + 100 * a)};
        const auto proposals =
            on_device<Row<Real, 2>>(2 * size, ParallelDraw<Real>{source, parallel_velocity<Real>(a), Real(x)});
        vector<double> u;
        u.reserve(proposals.size());
        for (const auto& proposal : proposals)
          if (proposal[1] != 0) u.push_back(double(proposal[0]));
        ASSERT_GT(u.size(), size);
        EXPECT_GT(parallel_p(u, double(Real(a)), double(Real(x))), 1e-3 / cases);
        EXPECT_LT(parallel_p(u, a, x <= 3 ? x + 0.05 : -x), tiny);  // far out p(u) knows little of x but its sign
        if (x <= 2) {
          EXPECT_LT(parallel_p(u, 1.3 * a, x), tiny);
        }
      }
  });
}

}  // namespace
}  // namespace thor
