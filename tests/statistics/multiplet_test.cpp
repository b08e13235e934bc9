// A multiplet, one draw at a time: which transition absorbs, by which channel it decays, and the outgoing photon.
#include "thor/interactors/multiplet.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "support/statistics.hpp"
#include "support/stream.hpp"
#include "thor/core/constants.hpp"
#include "thor/drivers/mcrt/config.hpp"
#include "thor/drivers/mcrt/setup.hpp"
#include "thor/interactors/build.hpp"
#include "thor/interactors/numerics.hpp"

namespace {

using std::vector;
using test::stream;
using thor::NativePack, thor::RealOf, thor::Value;

// ---- Theory, in plain double precision ------------------------------------------------------------------------------

/// u = x + a sinh(s), equidistant in s, resolves core and resonance of e^{-u^2}/((x-u)^2 + a^2).
struct Grid {
  double first, step;
  static constexpr int size = 20'000;
  Grid(double a, double x) {
    first = std::asinh((-8 - x) / a);
    step = (std::asinh((8 - x) / a) - first) / size;
  }
  double s(double i) const { return first + step * i; }
};
double voigt(double a, double x) {
  const Grid grid(a, x);
  double sum = 0;
  for (int i = 0; i < grid.size; ++i) {
    const double s = grid.s(i + 0.5), u = x + a * std::sinh(s);
    sum += std::exp(-u * u) / std::cosh(s);
  }
  return sum * grid.step / std::numbers::pi;
}

constexpr double c_kms = 299792.458, boltzmann = 1.380649e-16, u_gram = 1.66053906660e-24;

struct Truth {
  double wavelength, f, gamma, mass;  ///< Angstrom, -, 1/s, u
  double number = 1;                  ///< per ion of the line

  double speed(double temperature) const {  // km/s
    return std::sqrt(2 * boltzmann * temperature / (mass * u_gram)) / 1e5;
  }
  double a(double temperature) const {
    return gamma * wavelength * 1e-8 / (4 * std::numbers::pi) / (speed(temperature) * 1e5);
  }
  /// Opacity at x = c ln(nu/nu_0)/v_0, up to a factor common to all.
  double opacity(double x, const Truth& first, double temperature) const {
    const double v_0 = first.speed(temperature), w = speed(temperature) / v_0;
    const double offset = c_kms * std::log(first.wavelength / wavelength) / v_0;
    return number * f * wavelength / w * voigt(a(temperature), (x - offset) / w);
  }
};
const vector<Truth> mg_ii = {{2796.3543, 0.608, 2.60e8, 24.305}, {2803.5315, 0.303, 2.57e8, 24.305}};
const vector<Truth> lya_and_d = {{1215.6701, 0.41641, 6.2649e8, 1.00782503},
                                 {1215.3394, 0.41641, 6.2649e8, 2.01410178, 1e-2}};
const vector<Truth> fe_ii = {{2382.7639, 0.320, 3.133e8, 55.845},
                             {2374.4600, 0.0313, 3.08665e8, 55.845},
                             {2344.2127, 0.114, 2.6666e8, 55.845},
                             {2600.1721, 0.239, 2.6991e8, 55.845},
                             {2586.6493, 0.0691, 2.7131e8, 55.845}};

vector<double> shares(const vector<Truth>& lines, double x, double temperature) {
  vector<double> s;
  double sum = 0;
  for (const Truth& t : lines) sum += s.emplace_back(t.opacity(x, lines[0], temperature));
  for (double& v : s) v /= sum;
  return s;
}

// ---- thor -----------------------------------------------------------------------------------------------------------

template <class Real>
thor::Multiplet<Real> multiplet(const std::string& line, const std::string& more = "", double temperature = 1e4) {
  const auto config = thor::config::parse(
      "line: " + line + "\ndataset: {type: shell, outer_radius: 1 kpc, temperature: " + std::to_string(temperature) +
          " K, tau0: 100}\n"
          "generators: [{type: point, photons: 1}]\noutput: {path: x.h5}\n" +
          more,
      "test");
  const auto setup = thor::build_setup(config);
  return thor::build_multiplet<Real, false>(setup.line, setup.medium, config.physics);
}

template <class V>
class MultipletTest : public testing::Test {
 protected:
  using Real = RealOf<V>;
  using Int = thor::IntOf<V>;
  static constexpr int lanes = Value<V>::lanes;

  static vector<double> chosen(const thor::Multiplet<Real>& data, double x, int size, std::uint64_t seed) {
    const thor::MultipletView<V> view{data};
    auto random = stream<V>(seed);
    vector<double> counts(std::size_t(data.transitions), 0.);
    for (int done = 0; done < size; done += lanes) {
      const Int index = view.absorb(thor::DefaultSchemes{}, V(Real(x)), random).chosen;
      for (const auto i : unpack(index)) ++counts.at(std::size_t(i));
    }
    return counts;
  }

  template <class T>
  static auto unpack(const T& v) {
    if constexpr (std::is_arithmetic_v<T>) {
      return std::array<T, 1>{v};
    } else {
      std::array<typename T::Simd::value_type, lanes> out;
      thor::store(v, out.data());
      return out;
    }
  }
  static std::array<bool, lanes> flags(const thor::MaskOf<V>& mask) {
    std::array<bool, lanes> out;
    const auto ones = unpack(thor::select(mask, V(Real(1)), V(Real(0))));
    for (int i = 0; i < lanes; ++i) out[std::size_t(i)] = ones[std::size_t(i)] == 1;
    return out;
  }

  /// Scatterings off one transition.
  struct Scatterings {
    vector<double> x, mu, parallel, perpendicular, shift, quarter_E;
    double largest_mismatch = 0;  ///< between sample() and eval() in the same direction
  };
  static Scatterings scatter(const thor::Multiplet<Real>& data, int transition, double y, std::size_t size,
                             std::uint64_t seed) {
    const thor::MultipletView<V> view{data};
    const auto& t = data.transition[transition];
    const V x(Real(double(t.offset) + double(t.width) * y));
    auto random = stream<V>(seed);
    Scatterings s;
    while (s.x.size() < size) {
      const auto choice = random.next(), proposal = random.next();
      const auto radius = random.next(), angle = random.next(), first = random.next(), second = random.next();
      const auto more = view.draw(random);
      const auto target = view.target(x, Int(transition));
      const V gaussian = thor::exp(-target.x * target.x);
      const auto atom = view.prepare(thor::DefaultSchemes{}, target, gaussian, {choice, proposal}, more, random);
      const V perpendicular =
          thor::sample_perpendicular_velocity(V(Real(0)), {thor::uniform_positive<V>(radius), angle});
      const auto out = view.sample(target, atom, perpendicular, {first, second}, more);
      const auto same = view.eval(target, atom, perpendicular, out.mu);
      const auto accepted = flags(atom.accepted);
      const auto xs = unpack(out.x), mus = unpack(out.mu), us = unpack(atom.parallel), ps = unpack(perpendicular);
      const auto shifts = unpack(atom.shift), Es = unpack(atom.phase.quarter_E), sames = unpack(same.x);
      for (std::size_t i = 0; i < lanes; ++i) {
        if (!accepted[i]) continue;
        s.x.push_back(double(xs[i])), s.mu.push_back(double(mus[i])), s.parallel.push_back(double(us[i]));
        s.perpendicular.push_back(double(ps[i])), s.shift.push_back(double(shifts[i]));
        s.quarter_E.push_back(double(Es[i]));
        s.largest_mismatch = std::max(s.largest_mismatch, std::abs(double(sames[i]) - double(xs[i])));
      }
    }
    return s;
  }
};
using Values = testing::Types<NativePack<float>, NativePack<double>>;
TYPED_TEST_SUITE(MultipletTest, Values);

// ---- The choice of the transition -----------------------------------------------------------------------------------

struct Chi {
  double chi2 = 0, n = 0;
  void add(const vector<double>& counts, const vector<double>& share) {
    double all = 0;
    for (const double c : counts) all += c;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const double expected = all * share[i];
      if (expected < 10) {
        EXPECT_LT(counts[i], 40) << "where " << expected << " are expected";
      } else {
        chi2 += std::pow(counts[i] - expected, 2) / expected, n += 1;
      }
    }
    n -= 1;
  }
  double p() const { return test::chi_square_p(chi2, std::max(n, 1.)); }
};

TYPED_TEST(MultipletTest, TransitionsAbsorbByTheirShare) {
  using Real = RealOf<TypeParam>;
  struct Case {
    const char *line, *more;
    const vector<Truth>& truth;
    double temperature;
    vector<double> x;
  };
  // Mg II lies at 0 and -294: in the wings of both, between them, and where one has 1e-3 (at -6.6 and -287.6).
  // D lies 6.35 to the blue of H. Fe II, at 1e5 K, lies at 0, 192,
  // 896, -4803 and -4515, all within the |y| < 1e4 for which Voigt's function is made.
  const Case cases[] = {
      {"MgII", "", mg_ii, 1e4, {0, 4, 50, -6.6, -60, -120, -147, -172, -200, -280, -287.6, -294, -400}},
      {"Lya", "physics: {deuterium: 1e-2}\n", lya_and_d, 1e4, {0, 2, 3, 3.6, 4.5, 5, 6.35, 8, 9, 20, -5}},
      {"FeII_UV", "", fe_ii, 1e5, {95, 160, 475, 790, -2200, -4430, -4680, 1600, -6300}}};
  for (const Case& c : cases) {
    const auto data = multiplet<Real>(c.line, c.more, c.temperature);
    ASSERT_EQ(std::size_t(data.transitions), c.truth.size());
    Chi right;
    std::uint64_t seed = 11;
    for (const double x : c.x)
      right.add(this->chosen(data, x, 200'000, seed++), shares(c.truth, double(Real(x)), c.temperature));
    EXPECT_GT(right.p(), 1e-3 / 12) << c.line << " chi^2 = " << right.chi2 << " of " << right.n;
    EXPECT_LT(right.chi2, 3 * right.n);
  }
  // The doublet with its ratio the other way round.
  vector<Truth> swapped = mg_ii;
  std::swap(swapped[0].f, swapped[1].f);
  const auto data = multiplet<Real>("MgII");
  for (const double x : {-60., -147., -200., -287.6}) {
    Chi wrong;
    wrong.add(this->chosen(data, x, 200'000, 11), shares(swapped, x, 1e4));
    EXPECT_LT(wrong.p(), 1e-9) << x;
  }
  // Deuterium as light as hydrogen: on the slope of its core.
  vector<Truth> light = lya_and_d;
  light[1].mass = light[0].mass;
  Chi wrong;
  wrong.add(this->chosen(multiplet<Real>("Lya", "physics: {deuterium: 1e-2}\n"), 4.5, 200'000, 11),
            shares(light, 4.5, 1e4));
  EXPECT_LT(wrong.p(), 1e-9);
}

/// The sum of the cross-sections, over that of the first at its centre.
TYPED_TEST(MultipletTest, CrossSectionsAddUp) {
  using V = TypeParam;
  using Real = RealOf<V>;
  const auto data = multiplet<Real>("MgII");
  const thor::MultipletView<V> view{data};
  auto random = stream<V>(1);
  const double unit = mg_ii[0].f * mg_ii[0].wavelength;
  for (const double x : {-300., -294., -200., -5., -1., 0., 2., 30.}) {
    double sum = 0;
    for (const Truth& t : mg_ii) sum += t.opacity(x, mg_ii[0], 1e4) / unit;
    const double ours = double(this->unpack(view.absorb(thor::DefaultSchemes{}, V(Real(x)), random).cross_section)[0]);
    EXPECT_NEAR(ours / sum, 1, 2e-3 * (std::abs(x + 294) < 10 ? 1 : 0.1)) << x;
    EXPECT_NEAR(double(this->unpack(view.detuning(V(Real(x))))[0]), std::min(std::abs(x), std::abs(x + 293.81)), 0.05);
  }
}

// ---- Branching ------------------------------------------------------------------------------------------------------

struct Decays {
  const char* line;
  int transition;
  double resonant;             ///< A
  vector<double> fluorescent;  ///< A of each
  vector<double> wavelengths;  ///< of each, after that of the absorption
};
const Decays decays[] = {{"SiII_1190", 0, 6.872e8, {3.399e9}, {1190.4158, 1194.5002}},
                         {"SiII_1190", 1, 2.726e9, {1.349e9}, {1193.2897, 1197.3938}},
                         {"FeII_UV1", 0, 2.358e8, {3.411e7}, {2600.1721, 2626.4500}},
                         {"FeII_UV1", 1, 8.611e7, {1.231e8, 6.210e7}, {2586.6493, 2612.6533, 2632.1074}}};

TYPED_TEST(MultipletTest, DecaysByItsBranching) {
  using Real = RealOf<TypeParam>;
  for (const Decays& d : decays) {
    const auto data = multiplet<Real>(d.line);
    const double speed = d.line[0] == 'S' ? Truth{0, 0, 0, 28.085}.speed(1e4) : Truth{0, 0, 0, 55.845}.speed(1e4);
    for (const double y : {0., 2.5, 8.}) {
      const auto s = this->scatter(data, d.transition, y, 200'000, 23);
      vector<double> counts(d.fluorescent.size() + 1, 0.);
      for (const double shift : s.shift) {
        std::size_t channel = 0;
        for (std::size_t k = 1; k < d.wavelengths.size(); ++k) {
          if (std::abs(shift - c_kms * std::log(d.wavelengths[0] / d.wavelengths[k]) / speed) < 0.1) channel = k;
        }
        if (channel == 0) {
          ASSERT_EQ(shift, 0);
        }
        ++counts[channel];
      }
      const auto p = [&](const vector<double>& A) {
        double all = 0;
        for (const double a : A) all += a;
        vector<double> share;
        for (const double a : A) share.push_back(a / all);
        Chi chi;
        chi.add(counts, share);
        return chi.p();
      };
      vector<double> A = d.fluorescent;
      A.insert(A.begin(), d.resonant);
      EXPECT_GT(p(A), 1e-3 / 48) << d.line << " " << d.transition << " at " << y;
      for (std::size_t k = 0; k < A.size(); ++k) {
        auto wrong = A;
        wrong[k] *= 1.1;
        EXPECT_LT(p(wrong), 1e-6) << d.line << " " << d.transition << ": A of channel " << k << " wrong by 10 %";
      }
    }
  }
}

// ---- Redistribution -------------------------------------------------------------------------------------------------

/// One scattering off an atom, sampled directly: u by its tabulated cdf, the angle by rejection.
struct Direct {
  double a, y, width = 1, stretch = 1, E = 0;
  vector<double> operator()(std::size_t size, unsigned seed) const {
    const Grid grid(a, y);
    vector<double> cdf(grid.size + 1, 0.);
    for (int i = 0; i < grid.size; ++i) {
      const double s = grid.s(i + 0.5), u = y + a * std::sinh(s);
      cdf[std::size_t(i) + 1] = cdf[std::size_t(i)] + std::exp(-u * u) / std::cosh(s);
    }
    std::mt19937_64 rng(seed);
    std::uniform_real_distribution<double> uniform(0, 1);
    std::normal_distribution<double> normal(0, std::sqrt(0.5));
    vector<double> x(size);
    for (double& out : x) {
      const double target = uniform(rng) * cdf.back();
      const auto i = std::size_t(std::upper_bound(cdf.begin(), cdf.end(), target) - cdf.begin()) - 1;
      const double u = y + a * std::sinh(grid.s(double(i) + (target - cdf[i]) / (cdf[i + 1] - cdf[i])));
      double mu, p;
      do {
        mu = 2 * uniform(rng) - 1, p = 1 + E / 4 * (3 * mu * mu - 1);
      } while (2 * uniform(rng) > p);
      out = width * (stretch * (y - u) + u * mu + normal(rng) * std::sqrt(1 - mu * mu));
    }
    return x;
  }
};

TYPED_TEST(MultipletTest, RedistributesLikeDirectSampling) {
  using Real = RealOf<TypeParam>;
  const std::size_t n = 100'000;
  const auto p = [&](vector<double> ours, double from, const vector<double>& theirs) {
    for (double& x : ours) x -= from;
    return test::ks_p(test::ks_distance(ours, theirs), double(ours.size()), double(theirs.size()));
  };
  struct Case {
    const char *line, *more;
    int transition;
    const Truth& truth;
    double offset, E;
    vector<double> y;
  };
  const Truth si_ii{1193.2897, 0.582, 4.075e9, 28.085};
  const double si_speed = si_ii.speed(1e4), h_speed = lya_and_d[0].speed(1e4);
  const Case cases[] = {
      {"MgII", "", 0, mg_ii[0], 0, 0.5, {0, -1.5, 3, 8}},
      {"MgII", "", 1, mg_ii[1], c_kms * std::log(2796.3543 / 2803.5315) / mg_ii[0].speed(1e4), 0, {0, 1.5, -3, 8}},
      {"Lya",
       "physics: {deuterium: 1e-2, phase_function: dipole}\n",
       1,
       lya_and_d[1],
       c_kms * std::log(1215.6701 / 1215.3394) / h_speed,
       1,
       {0, 2, -3.3}},
      {"SiII_1190", "", 1, si_ii, c_kms * std::log(1190.4158 / 1193.2897) / si_speed, 0, {0, 2.7, -6}}};
  for (const Case& c : cases) {
    const auto data = multiplet<Real>(c.line, c.more);
    const double a = c.truth.a(1e4), width = std::string(c.line) == "Lya" ? c.truth.speed(1e4) / h_speed : 1;
    for (const double y : c.y) {
      auto s = this->scatter(data, c.transition, y, 2 * n, 31);
      vector<double> ours;
      for (std::size_t i = 0; i < s.x.size(); ++i)
        if (s.shift[i] == 0) ours.push_back(s.x[i]);
      const double at = double(Real(double(data.transition[c.transition].offset) + width * y)) - c.offset;
      EXPECT_GT(p(ours, c.offset, Direct{a, at / width, width, 1, c.E}(n, 6)), 1e-3 / 60)
          << c.line << " " << c.transition << " at " << y;
      if (std::abs(y) > 2 && std::abs(y) < 4) {
        EXPECT_LT(p(ours, c.offset, Direct{1.5 * a, y, width, 1, c.E}(n, 6)), 1e-6)
            << c.line << " " << c.transition << " at " << y << ": a wrong by 50 %";
      }
      if (width < 1) {
        EXPECT_LT(p(ours, c.offset, Direct{a, width * y, 1, 1, c.E}(n, 6)), 1e-6) << "deuterium as light as hydrogen";
      }
    }
  }
}

// ---- Fluorescence ---------------------------------------------------------------------------------------------------

// Photon by photon in hertz: nu_out - nu_f = nu_atom - nu_i. Ca II falls from 3934 to 8544, where a detuning in
// velocity more than doubles.
TYPED_TEST(MultipletTest, FluorescenceKeepsTheDetuningOfTheAtom) {
  using Real = RealOf<TypeParam>;
  struct Case {
    const char* line;
    int transition;
    double absorbed, sent, mass, gamma, E;
  };
  const Case cases[] = {{"CaII", 0, 3934.7750, 8544.44, 40.078, 1.350e8 + 8.478e6 + 9.55e5, 0.1},
                        {"SiII_1190", 0, 1190.4158, 1194.5002, 28.085, 6.872e8 + 3.399e9, -0.4},
                        {"SiII_1190", 1, 1193.2897, 1197.3938, 28.085, 2.726e9 + 1.349e9, 0}};
  for (const Case& c : cases) {
    const auto data = multiplet<Real>(c.line);
    const auto& t = data.transition[c.transition];
    const Truth truth{c.absorbed, 0, c.gamma, c.mass};
    const double speed = truth.speed(1e4), shift = c_kms * std::log(c.absorbed / c.sent) / speed;
    const double reference = double(t.offset);
    for (const double y : {0., 2., 20.}) {
      auto s = this->scatter(data, c.transition, y, c.line[0] == 'C' ? 600'000 : 100'000, 41);
      vector<double> out, squares;
      double worst = 0, worst_twin = 0;
      const double at = double(Real(reference + y)) - reference;
      for (std::size_t i = 0; i < s.x.size(); ++i) {
        if (std::abs(s.shift[i] - shift) > 0.05) continue;
        const double x = s.x[i] - reference - shift;  // c (nu_out - nu_f)/nu_f, in thermal speeds
        const double sine = std::sqrt(std::max(0., 1 - s.mu[i] * s.mu[i]));
        const double nu_i = 1 / c.absorbed, nu_f = 1 / c.sent;
        const double in_atom = nu_i * (at - s.parallel[i]);
        const double out_atom = nu_f * (x - s.parallel[i] * s.mu[i] - s.perpendicular[i] * sine);
        worst = std::max(worst, std::abs(out_atom - in_atom) / nu_i);
        worst_twin = std::max(worst_twin, std::abs(out_atom / nu_f - in_atom / nu_i));
        ASSERT_NEAR(s.quarter_E[i], c.E / 4, 1e-7);
        out.push_back(x), squares.push_back(x * x);
      }
      ASSERT_GT(out.size(), 30'000u);
      const double rounding = std::numeric_limits<Real>::epsilon() * std::abs(shift) * 2;
      EXPECT_LT(worst, std::max(rounding, 1e-7)) << c.line << " at " << y;
      const double stretch = c.sent / c.absorbed;
      if (c.line[0] == 'C') {
        EXPECT_GT(worst_twin, 0.1) << "a detuning kept in velocity";
      }
      // Mean and spread from those of the detuning in the atom's frame.
      const auto direct = Direct{truth.a(1e4), y, 1, stretch, c.E}(100'000, 6);
      vector<double> direct_squares;
      for (const double x : direct) direct_squares.push_back(x * x);
      const auto mean = test::moments(out), expected = test::moments(direct);
      const auto spread = test::moments(squares), wanted = test::moments(direct_squares);
      EXPECT_LT(std::abs(mean.mean - expected.mean), 4 * std::hypot(mean.error, expected.error) + rounding) << y;
      EXPECT_LT(std::abs(spread.mean - wanted.mean), 4 * std::hypot(spread.error, wanted.error) + 100 * rounding) << y;
      if (c.line[0] == 'C' && y == 20) {
        EXPECT_NEAR(mean.mean, stretch * y, 0.4);
        EXPECT_GT(std::abs(mean.mean - y), 100 * mean.error);
      }
    }
  }
}

// ---- Angles ---------------------------------------------------------------------------------------------------------

TYPED_TEST(MultipletTest, SignedDipoleFollowsItsPdfAndNoOther) {
  using V = TypeParam;
  using Real = RealOf<V>;
  const auto p_of = [](double E) { return [E](double mu) { return 0.5 + E / 8 * (3 * mu * mu - 1); }; };
  for (const double E : {-0.5, -0.4, -0.1, 0., 1. / 3, 0.5, 1.}) {
    auto random = stream<V>(51);
    vector<double> mus;
    while (mus.size() < 400'000) {
      const auto first = random.next(), second = random.next();
      const V flat = thor::fma(thor::uniform<V>(random.next()), V(Real(2)), V(Real(-1)));
      const auto turn = thor::sample_signed_dipole(thor::dipole_mixture<V>(E / 4), {first, second}, flat);
      const auto mu = this->unpack(turn.mu), sine = this->unpack(turn.sine);
      for (std::size_t i = 0; i < mu.size(); ++i) {
        ASSERT_NEAR(double(mu[i]) * double(mu[i]) + double(sine[i]) * double(sine[i]), 1,
                    4 * std::numeric_limits<Real>::epsilon());
        mus.push_back(double(mu[i]));
      }
    }
    const auto p = [&](double share) { return test::chi_square_test(mus, p_of(share), -1, 1.0000001, 100); };
    EXPECT_GT(p(E), 1e-3 / 28) << E;
    if (E != 0) {
      EXPECT_LT(p(-E), 1e-6) << E << " with the other sign";
    }
    EXPECT_LT(p(E > 0.5 ? E - 0.15 : E + 0.15), 1e-6) << E << " wrong by 0.15";
    const double mean = test::moments(mus).mean, error = test::moments(mus).error;
    EXPECT_LT(std::abs(mean), 4 * error) << E;
  }
}

// eval(): weight 1 over all directions; the same frequency as sample() for the same angle; and uniform directions with
// its weights follow the distribution of sample().
TYPED_TEST(MultipletTest, EvalIsThePdfOfSample) {
  using V = TypeParam;
  using Real = RealOf<V>;
  struct Case {
    const char* line;
    int transition;
    double E;  ///< of the fluorescent channel or, where there is none, of the resonant one
  };
  for (const Case& c : {Case{"MgII", 0, 0.5}, Case{"MgII", 1, 0}, Case{"SiII_1190", 0, -0.4}}) {
    const auto data = multiplet<Real>(c.line, "physics: {recoil: true}\n");
    const thor::MultipletView<V> view{data};
    for (const double quarter_E : {c.E / 4, 0.125}) {
      double sum = 0;
      constexpr int n = 2000;
      typename thor::MultipletView<V>::Atom atom{};
      atom.parallel = V(Real(0.7)), atom.phase = thor::dipole_mixture<V>(quarter_E), atom.stretch = V(Real(1));
      atom.shift = V(Real(0));
      const auto target = view.target(V(data.transition[c.transition].offset), thor::IntOf<V>(c.transition));
      for (int i = 0; i < n; ++i)
        sum += double(this->unpack(view.eval(target, atom, V(Real(0.3)), V(Real(2 * (i + 0.5) / n - 1))).weight)[0]);
      EXPECT_NEAR(sum / n, 1, 1e-6) << c.line;
    }
    const auto s = this->scatter(data, c.transition, 1.2, 400'000, 61);
    double largest = 0;
    for (const double x : s.x) largest = std::max(largest, std::abs(x));
    EXPECT_LE(s.largest_mismatch, 16 * std::numeric_limits<Real>::epsilon() * (largest + 5)) << c.line;
    vector<double> mus;
    for (std::size_t i = 0; i < s.x.size(); ++i)
      if (data.channels == 0 || s.shift[i] != 0) mus.push_back(s.mu[i]);
    const auto p = [&](double E) {
      const Real quarter(Real(E / 4));
      return test::chi_square_test(
          mus, [&](double mu) { return double(thor::dipole_mixture_pdf(quarter, Real(mu))); }, -1, 1.0000001, 100);
    };
    EXPECT_GT(p(c.E), 1e-3 / 12) << c.line;
    EXPECT_LT(p(c.E + (c.E > 0 ? -0.5 : 0.5)), 1e-6) << c.line;
  }
}

}  // namespace
