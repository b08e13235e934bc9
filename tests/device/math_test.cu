// The elementary functions, the profile of the line and the random generators on the device: bit-identical to the host,
// and within their error bounds.
#include <algorithm>
#include <numbers>
#include <random>

#include "device/support.hpp"
#include "thor/line/core_wing.hpp"
#include "thor/line/voigt.hpp"
#include "thor/math/functions.hpp"
#include "thor/math/vec3.hpp"
#include "thor/random/philox.hpp"
#include "thor/random/seed.hpp"
#include "thor/random/xoshiro.hpp"

namespace thor {  // where exp and others are thor's, not the device's
namespace {

using test::expect_same_as_host, test::in_both_precisions, test::on_device, test::Row;

using DeviceMath = test::DeviceTest;

// ---- arguments ------------------------------------------------------------------------------------------------------

template <class Real>
using Points = std::vector<Row<Real, 1>>;
template <class Real>
using Pairs = std::vector<Row<Real, 2>>;

template <class Real>
constexpr Real largest = std::numeric_limits<Real>::max();
template <class Real>
constexpr Real smallest = std::numeric_limits<Real>::min();
template <class Real>
constexpr Real infinity = std::numeric_limits<Real>::infinity();
template <class Real>
constexpr Real nan = std::numeric_limits<Real>::quiet_NaN();

/// Numbers in [low, high] without denormal ones: the ends and zero, the powers of two and the given cuts with their
/// neighbours, and random ones, half uniform in x, half in ln |x|.
template <class Real>
Points<Real> grid(Real low, Real high, const std::vector<double>& cuts = {}, int random = 1 << 18) {
  Points<Real> points;
  const auto add = [&](Real x) {
    if (x >= low && x <= high && (x == 0 || std::isnormal(x))) points.push_back({x});
  };
  const auto add_with_neighbours = [&](Real x) {
    Real below = x, above = x;
    add(x);
    for (int i = 0; i < 3; ++i) {
      add(below = std::nextafter(below, -infinity<Real>));
      add(above = std::nextafter(above, infinity<Real>));
    }
  };
  add_with_neighbours(low), add_with_neighbours(high), add(Real(0));
  for (const double cut : cuts) add_with_neighbours(Real(cut));
  constexpr int first = std::numeric_limits<Real>::min_exponent - 1, last = std::numeric_limits<Real>::max_exponent;
  for (int e = first; e < last; ++e)
    for (const double sign : {-1., 1.}) add_with_neighbours(Real(std::ldexp(sign, e)));
  std::mt19937_64 bits(1);
  std::uniform_real_distribution<Real> uniform;
  const Real most = std::max(std::abs(low), std::abs(high));
  const Real least = low > 0 ? low : high < 0 ? -high : smallest<Real>;
  const Real log_least = std::log(least), log_most = std::log(most);
  for (int i = 0; i < random / 2; ++i) {
    const Real r = uniform(bits), magnitude = std::exp(log_least + uniform(bits) * (log_most - log_least));
    add(low * (1 - r) + high * r);
    add(low < 0 && (high <= 0 || bits() % 2) ? -magnitude : magnitude);
  }
  return points;
}
template <class T>
std::vector<T> operator+(std::vector<T> a, const std::vector<T>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
/// k step for every k in [low/step, high/step].
std::vector<double> multiples(double step, double low, double high) {
  std::vector<double> all;
  for (double k = std::ceil(low / step); k * step <= high; ++k) all.push_back(k * step);
  return all;
}

template <class Real>
constexpr bool single = sizeof(Real) == 4;

template <class Real>
Points<Real> exp_points(bool beyond) {
  const double low = single<Real> ? -87 : -708, high = single<Real> ? 88 : 709, more = beyond ? 1.3 : 1;
  return grid(Real(low * more), Real(high * more), multiples(std::numbers::ln2 / 2, low, high));
}
template <class Real>
Points<Real> log_points() {
  const double half = std::numbers::sqrt2 / 2;
  return grid(smallest<Real>, largest<Real>, {half, 2 * half, half * 0x1p-32, half * 0x1p20}) +
         grid(Real(1e-3), Real(8)) + grid(Real(0.75), Real(1.3));
}
template <class Real>
Points<Real> turn_points() {  // of sincos_2pi: |u| < 2^20
  const Real end = std::nextafter(Real(0x1p20), Real(0));
  return grid(-end, end, multiples(0.125, -1000, 1000)) + grid(Real(-2), Real(2));
}
template <class Real>
Points<Real> atan_points() {
  const double t = std::numbers::sqrt2 - 1;
  return grid(-largest<Real>, largest<Real>, {t, 1 / t, -t, -1 / t, 1, -1}) + grid(Real(-6), Real(6)) +
         Points<Real>{{infinity<Real>}, {-infinity<Real>}};
}
/// Pairs of grid numbers in random order, both signs.
template <class Real>
Pairs<Real> random_pairs(Real low, Real high) {
  const auto points = grid(low, high);
  std::mt19937_64 bits(2);
  Pairs<Real> pairs;
  for (int i = 0; i < 1 << 19; ++i) {
    const Real a = points[bits() % points.size()][0], b = points[bits() % points.size()][0];
    pairs.push_back({bits() % 2 ? a : -a, bits() % 2 ? b : -b});
  }
  return pairs;
}
/// The Voigt parameter and x, on both sides of the scheme's cuts at x^2 = 3 and 25.
template <class Real>
Pairs<Real> voigt_points(double end) {
  const auto x = grid(Real(-end), Real(end), {std::sqrt(3.), -std::sqrt(3.), 5, -5}, 1 << 15) +
                 grid(Real(-8), Real(8), {}, 1 << 15);
  Pairs<Real> pairs;
  for (const double a : {1e-6, 1e-5, 4.7e-4, 3e-3, 1e-2})
    for (const auto& p : x) pairs.push_back({Real(a), p[0]});
  return pairs;
}

// ---- the functions --------------------------------------------------------------------------------------------------

struct Exp {
  template <class Real>
  THOR_FN Row<Real, 1> operator()(const Row<Real, 1>& x) const {
    return {exp(x[0])};
  }
};
struct Log {
  template <class Real>
  THOR_FN Row<Real, 1> operator()(const Row<Real, 1>& x) const {
    return {log(x[0])};
  }
};
struct FastLog2AndCbrt {
  template <class Real>
  THOR_FN Row<Real, 2> operator()(const Row<Real, 1>& x) const {
    return {fast_log2(x[0]), fast_cbrt(x[0])};
  }
};
struct SinCosOf {
  template <class Real>
  THOR_FN Row<Real, 2> operator()(const Row<Real, 1>& u) const {
    const auto r = sincos_2pi(u[0]);
    return {r.sin, r.cos};
  }
};
struct QuarterTurns {
  template <class Real>
  THOR_FN Row<Real, 2> operator()(const Row<Real, 1>& v) const {
    return {sin_quarter_turn(v[0]), cos_quarter_turn(v[0])};
  }
};
struct Atan {
  template <class Real>
  THOR_FN Row<Real, 1> operator()(const Row<Real, 1>& x) const {
    return {atan(x[0])};
  }
};
struct Sqrt {
  template <class Real>
  THOR_FN Row<Real, 1> operator()(const Row<Real, 1>& x) const {
    return {sqrt(x[0])};
  }
};
struct Divide {
  template <class Real>
  THOR_FN Row<Real, 1> operator()(const Row<Real, 2>& p) const {
    return {divide(p[0], p[1])};
  }
};
struct Fma {
  template <class Real>
  THOR_FN Row<Real, 1> operator()(const Row<Real, 3>& p) const {
    return {fma(p[0], p[1], p[2])};
  }
};
/// Not contracted: two roundings.
struct MultiplyThenAdd {
  template <class Real>
  THOR_FN Row<Real, 1> operator()(const Row<Real, 3>& p) const {
    return {p[0] * p[1] + p[2]};
  }
};
struct Choices {
  template <class Real>
  THOR_FN Row<Real, 5> operator()(const Row<Real, 2>& p) const {
    return {min(p[0], p[1]), max(p[0], p[1]), copysign(p[0], p[1]), abs(p[0]), select(p[0] < p[1], p[0], p[1])};
  }
};
struct Turn {
  template <class Real>
  THOR_FN Row<Real, 3> operator()(const Row<Real, 7>& p) const {
    const auto n = turn(Vec3<Real>{p[0], p[1], p[2]}, p[3], p[4], p[5], p[6]);
    return {n.x, n.y, n.z};
  }
};
struct VoigtOf {
  template <class Real>
  THOR_FN Row<Real, 2> operator()(const Row<Real, 2>& p) const {
    const auto profile = Voigt::eval(p[0], p[1]);
    return {profile.gaussian, profile.H};
  }
};
struct CoreWing {
  template <class Real>
  THOR_FN Row<Real, 2> operator()(const Row<Real, 1>& a) const {
    return {core_wing_b25(a[0]), core_wing_b25_fast(a[0])};
  }
};

// ---- bit-identical to the host --------------------------------------------------------------------------------------

TEST_F(DeviceMath, ExpAndLogAreTheHosts) {
  in_both_precisions([]<class Real>(Real) {
    const Points<Real> far{{Real(-0.)},     {infinity<Real>}, {-infinity<Real>},
                           {largest<Real>}, {-largest<Real>}, {nan<Real>}};
    expect_same_as_host<Row<Real, 1>>(exp_points<Real>(true) + far, Exp{});
    expect_same_as_host<Row<Real, 1>>(log_points<Real>(), Log{});
    expect_same_as_host<Row<Real, 2>>(log_points<Real>(), FastLog2AndCbrt{});
  });
}

TEST_F(DeviceMath, AnglesAreTheHosts) {
  in_both_precisions([]<class Real>(Real) {
    expect_same_as_host<Row<Real, 2>>(turn_points<Real>(), SinCosOf{});
    expect_same_as_host<Row<Real, 2>>(grid(Real(0), Real(1), multiples(0.125, 0, 1)), QuarterTurns{});
    expect_same_as_host<Row<Real, 1>>(atan_points<Real>(), Atan{});
  });
}

// Single precision has its own root and quotient, for exponents far from the ends of their range; double has IEEE's.
TEST_F(DeviceMath, RootAndQuotientAreTheHosts) {
  const Points<float> zero{{0.f}};
  expect_same_as_host<Row<float, 1>>(grid(0x1p-60f, 0x1p60f) + zero, Sqrt{});
  expect_same_as_host<Row<float, 1>>(random_pairs(0x1p-60f, 0x1p60f), Divide{});
  expect_same_as_host<Row<float, 1>>(Pairs<float>{{0.f, 1.f}, {0.f, 0x1p-60f}, {0.f, -3.f}, {-0.f, -3.f}}, Divide{});
  // -0 is not a normal number: its root, and its quotient by a positive number, are zeros of either sign.
  EXPECT_EQ((on_device<Row<float, 1>>(Points<float>{{-0.f}}, Sqrt{})[0][0]), 0.f);
  EXPECT_EQ((on_device<Row<float, 1>>(Pairs<float>{{-0.f, 3.f}}, Divide{})[0][0]), 0.f);
  const Points<double> ends{{0.}, {-0.}, {infinity<double>}, {-1.}, {nan<double>}};
  expect_same_as_host<Row<double, 1>>(grid(smallest<double>, largest<double>) + ends, Sqrt{});
  const Pairs<double> poles{{0., 1.}, {-0., 1.}, {1., 0.}, {-1., 0.}, {0., 0.}, {1., infinity<double>}};
  expect_same_as_host<Row<double, 1>>(random_pairs(smallest<double>, largest<double>) + poles, Divide{});
}

TEST_F(DeviceMath, FusedAndUnfusedAreTheHosts) {
  in_both_precisions([]<class Real>(Real) {
    const auto some = random_pairs(Real(0x1p-30), Real(0x1p30)), more = random_pairs(Real(0x1p-40), Real(0x1p40));
    std::vector<Row<Real, 3>> triples;
    for (std::size_t i = 0; i < some.size(); ++i) {
      const Real a = some[i][0], b = some[i][1];
      triples.push_back({a, b, more[i][0]});
      triples.push_back({a, b, -(a * b)});  // the remainder is the rounding of the product
    }
    expect_same_as_host<Row<Real, 1>>(triples, Fma{});
    expect_same_as_host<Row<Real, 1>>(triples, MultiplyThenAdd{});
  });
}

TEST_F(DeviceMath, ChoicesAreTheHosts) {
  in_both_precisions([]<class Real>(Real) {
    const Real ends[] = {Real(0),        Real(-0.),       Real(1),       Real(-1),
                         smallest<Real>, -smallest<Real>, largest<Real>, -largest<Real>,
                         infinity<Real>, -infinity<Real>, nan<Real>};
    auto pairs = random_pairs(smallest<Real>, largest<Real>);
    for (const Real a : ends)
      for (const Real b : ends) pairs.push_back({a, b});
    expect_same_as_host<Row<Real, 5>>(pairs, Choices{});
  });
}

TEST_F(DeviceMath, TurnIsTheHosts) {
  in_both_precisions([]<class Real>(Real) {
    std::mt19937_64 bits(3);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<Row<Real, 7>> cases;
    const auto add = [&](double x, double y, double z, double mu, double phi) {
      cases.push_back({Real(x), Real(y), Real(z), Real(mu), Real(std::sqrt(1 - mu * mu)), Real(std::cos(phi)),
                       Real(std::sin(phi))});
    };
    for (int i = 0; i < 1 << 18; ++i) {
      const double near = std::pow(10., -4 * (uniform(bits) + 1));  // of the pole, where the frame turns fastest
      const double z = i % 2 ? uniform(bits) : std::copysign(1 - near, uniform(bits)), s = std::sqrt(1 - z * z);
      const double azimuth = std::numbers::pi * uniform(bits);
      add(s * std::cos(azimuth), s * std::sin(azimuth), z, uniform(bits), std::numbers::pi * uniform(bits));
    }
    for (const double mu : {-1., 0., 1., 0.5})
      for (const double phi : {0., 1., 4.}) {
        add(0, 0, 1, mu, phi), add(0, 0, -1, mu, phi), add(-0., -0., 1, mu, phi);
        add(1, 0, 0, mu, phi), add(0, -1, -0., mu, phi), add(-1, 0, -0., mu, phi), add(0, 1, 0, mu, phi);
      }
    expect_same_as_host<Row<Real, 3>>(cases, Turn{});
  });
}

TEST_F(DeviceMath, LineProfileIsTheHosts) {
  in_both_precisions([]<class Real>(Real) {
    expect_same_as_host<Row<Real, 2>>(voigt_points<Real>(8e5), VoigtOf{});
    expect_same_as_host<Row<Real, 2>>(grid(Real(1e-8), Real(1)), CoreWing{});
  });
}

TEST_F(DeviceMath, AnotherFunctionIsTold) {
  in_both_precisions([]<class Real>(Real) {
    const auto x = exp_points<Real>(false);
    const auto y = on_device<Row<Real, 1>>(x, Exp{});
    std::size_t different = 0;
    for (std::size_t i = 0; i < x.size(); ++i) different += !test::same(y[i][0], std::exp(x[i][0]));  // libm's last bit
    EXPECT_GT(different, x.size() / 1000);
  });
}

// ---- single precision: root and quotient, correctly rounded ---------------------------------------------------------

THOR_FN float number(std::uint32_t mantissa, int exponent, std::uint32_t negative = 0) {
  return from_bits((negative << 31) | (std::uint32_t(127 + exponent) << 23) | (mantissa & 0x7fffffu));
}
/// An exponent in [-60, 60) from seven random bits.
THOR_FN int exponent_of(std::uint64_t bits) { return int(((bits & 127u) * 120u) >> 7) - 60; }

struct Quotient {
  float a, b;
  __device__ bool wrong() const { return to_bits(divide(a, b)) != to_bits(__fdiv_rn(a, b)); }
};
/// The sets of operands; each is a function of i.
struct RandomOperands {
  THOR_FN Quotient at(std::uint64_t i) const {
    const std::uint64_t r = mix64(i + 0x9e3779b97f4a7c15ull);
    return {number(std::uint32_t(r), exponent_of(r >> 23), std::uint32_t(r >> 30) & 1u),
            number(std::uint32_t(r >> 31), exponent_of(r >> 54), std::uint32_t(r >> 61) & 1u)};
  }
};
/// Mantissas of b close to all ones and all zeros, where reciprocals round worst, with every mantissa of a.
struct HardDenominators {
  static constexpr std::uint32_t near = 64;
  static constexpr std::uint64_t size = 2ull * near << 23;
  THOR_FN Quotient at(std::uint64_t i) const {
    const std::uint32_t k = std::uint32_t(i >> 23) % near, mantissa = i >> 23 < near ? k : 0x7fffffu - k;
    const std::uint64_t r = mix64(i);
    return {number(std::uint32_t(i), exponent_of(r)), number(mantissa, exponent_of(r >> 7))};
  }
};
/// Every b, and a so close that a/b is 1 up to a few units in the last place.
struct NearbyOperands {
  static constexpr std::uint64_t size = 128ull << 23;
  THOR_FN Quotient at(std::uint64_t i) const {
    const float b = number(std::uint32_t(i), exponent_of(mix64(i)));
    return {from_bits(to_bits(b) + std::uint32_t(i >> 23) - 64u), b};
  }
};
/// 1/b for every b.
struct Reciprocals {
  static constexpr std::uint64_t size = 120ull << 23;
  THOR_FN Quotient at(std::uint64_t i) const { return {1.f, number(std::uint32_t(i), int(i >> 23) - 60)}; }
};
/// a/b as close to the middle of two numbers as a allows: one wrong bit before the last rounding is detected.
struct MiddleQuotients {
  THOR_FN Quotient at(std::uint64_t i) const {
    const std::uint64_t r = mix64(i + 0x632be59bd9b4e019ull);
    const float b = number(std::uint32_t(r), exponent_of(r >> 46) / 2), q = number(std::uint32_t(r >> 23), 0);
    return {static_cast<float>(double(b) * (double(q) + 0x1p-24)), b};
  }
};

template <class Operands>
struct WrongQuotient {
  Operands operands;
  __device__ bool operator()(std::uint64_t i) const { return operands.at(i).wrong(); }
};
/// The twin: a product with the correctly rounded reciprocal.
struct WrongProduct {
  __device__ bool operator()(std::uint64_t i) const {
    const Quotient p = RandomOperands{}.at(i);
    return __fmul_rn(p.a, __frcp_rn(p.b)) != __fdiv_rn(p.a, p.b);
  }
};

template <class Operands>
void expect_correctly_rounded(std::uint64_t n, Operands operands) {
  const auto failures = test::failures_on_device(n, WrongQuotient<Operands>{operands});
  const Quotient last = operands.at(failures.last);
  EXPECT_EQ(failures.count, 0u) << "of " << n << " quotients, the last of them " << Row<float, 2>{last.a, last.b}
                                << " (a, b)";
}

TEST_F(DeviceMath, QuotientsAreCorrectlyRounded) {
  expect_correctly_rounded(1ull << 33, RandomOperands{});
  expect_correctly_rounded(HardDenominators::size, HardDenominators{});
  expect_correctly_rounded(NearbyOperands::size, NearbyOperands{});
  expect_correctly_rounded(Reciprocals::size, Reciprocals{});
  expect_correctly_rounded(1ull << 32, MiddleQuotients{});
  EXPECT_GT(test::failures_on_device(1ull << 20, WrongProduct{}).count, 1u << 16) << "the count detects no error";
}

/// Number i from 2^-64 on.
THOR_FN float radicand(std::uint64_t i) { return from_bits((63u << 23) + std::uint32_t(i)); }

struct WrongRoot {
  __device__ bool operator()(std::uint64_t i) const {
    const float x = radicand(i);
    return to_bits(sqrt(x)) != to_bits(__fsqrt_rn(x));
  }
};
struct WrongRootProduct {
  __device__ bool operator()(std::uint64_t i) const {
    const float x = radicand(i);
    return __fmul_rn(x, __frsqrt_rn(x)) != __fsqrt_rn(x);
  }
};

TEST_F(DeviceMath, EveryRootIsCorrectlyRounded) {
  const std::uint64_t all = 128ull << 23;  // to 2^64
  const auto failures = test::failures_on_device(all, WrongRoot{});
  EXPECT_EQ(failures.count, 0u) << "of " << all << " roots, the last of them of " << std::hexfloat
                                << radicand(failures.last);
  EXPECT_GT(test::failures_on_device(1ull << 20, WrongRootProduct{}).count, 1u << 16) << "the count detects no error";
}

// ---- the truth ------------------------------------------------------------------------------------------------------

/// Checks that error(x, y) of the device's y stays below the bound; reports where it is largest.
template <class Out, class In, class F, class Error>
void expect_below(double bound, const std::vector<In>& x, F f, Error error) {
  const auto y = on_device<Out>(x, f);
  double largest = -1;
  std::size_t where = 0;
  for (std::size_t i = 0; i < x.size() && !std::isnan(largest); ++i) {
    const double e = double(error(x[i], y[i]));
    if (!(e <= largest)) largest = e, where = i;  // so a NaN counts as largest
  }
  EXPECT_LT(largest, bound) << "at " << x[where] << ", where it gives " << y[where];
}

/// A subset: the wide libm is slow.
template <class T>
std::vector<T> every(int k, const std::vector<T>& all) {
  std::vector<T> some;
  for (std::size_t i = 0; i < all.size(); i += std::size_t(k)) some.push_back(all[i]);
  return some;
}

// Like tests/unit/math/functions_test.cpp for the host.
TEST_F(DeviceMath, FunctionsAreWithinTheirBounds) {
  in_both_precisions([]<class Real>(Real) {
    using W = std::conditional_t<single<Real>, double, long double>;
    using One = Row<Real, 1>;
    using Two = Row<Real, 2>;
    constexpr double bound = single<Real> ? 2e-7 : 4e-16;
    expect_below<One>(bound, every(5, exp_points<Real>(false)), Exp{},
                      [](One x, One y) { return std::abs(y[0] / std::exp(W(x[0])) - 1); });
    expect_below<One>(bound, every(5, log_points<Real>()), Log{}, [](One x, One y) {
      const W truth = std::log(W(x[0]));
      return std::abs(y[0] - truth) / std::max(W(1), std::abs(truth));
    });
    expect_below<Two>(bound, every(5, turn_points<Real>()), SinCosOf{}, [](One x, Two y) {
      const W angle = 2 * std::numbers::pi_v<W> * std::remainder(W(x[0]), W(1));
      return std::max(std::abs(y[0] - std::sin(angle)), std::abs(y[1] - std::cos(angle)));
    });
    expect_below<Two>(bound, every(5, grid(Real(0), Real(1))), QuarterTurns{}, [](One x, Two y) {
      const W angle = std::numbers::pi_v<W> / 2 * x[0], sine = std::sin(angle);
      return std::max(x[0] == 0 ? std::abs(W(y[0])) : std::abs(y[0] / sine - 1), std::abs(y[1] - std::cos(angle)));
    });
    expect_below<One>(single<Real> ? 3e-7 : 6e-16, every(5, atan_points<Real>()), Atan{}, [](One x, One y) {
      return x[0] == 0 ? std::abs(W(y[0])) : std::abs(y[0] / std::atan(W(x[0])) - 1);
    });
    expect_below<Two>(1.1e-3, every(5, log_points<Real>()), FastLog2AndCbrt{}, [](One x, Two y) {
      return std::max(std::abs(y[0] - std::log2(W(x[0]))), std::abs(y[1] / std::cbrt(W(x[0])) - 1) * W(1.1));
    });
    const auto e = on_device<One>(Points<Real>{{Real(1)}}, Exp{})[0][0];
    EXPECT_GT(std::abs(e / std::exp(W(1.000001)) - 1), bound);  // the bound detects an argument wrong by 1e-6
  });
}

/// H(a, x) = (1/pi) Int e^{-(x + a sinh t)^2}/cosh t dt, by u = x + a sinh t; the trapezium rule converges
/// exponentially as long as its step is small compared with 1/x. Beyond, the asymptotic series (DLMF 7.12.1).
double voigt_truth(double a, double x) {
  x = std::abs(x);
  if (x > 20) {
    const double w = 1 / (x * x);
    return a * w / std::sqrt(std::numbers::pi) * (1 + w * (1.5 + w * (3.75 + w * 13.125)));
  }
  const double step = 0.5 / (5 + x), end = std::asinh((x + 7) / a);
  double sum = 0;
  for (double t = -end; t < end; t += step) {
    const double u = x + a * std::sinh(t);
    sum += std::exp(-u * u) / std::cosh(t);
  }
  return sum * step / std::numbers::pi;
}

TEST_F(DeviceMath, VoigtIsWithinItsBounds) {
  in_both_precisions([]<class Real>(Real) {
    using Two = Row<Real, 2>;
    const auto error = [](Two p, Two y) { return std::abs(double(y[1]) / voigt_truth(p[0], p[1]) - 1); };
    for (const double a : {1e-6, 1e-5, 4.7e-4, 3e-3, 1e-2, 2e-2}) {
      Pairs<Real> near, far;
      for (double x = 0; x < 8; x += 0.0074) near.push_back({Real(a), Real(x)});
      for (const double x : {1.7320507, 1.7320509, 4.9999995, 5., 5.0000005}) near.push_back({Real(a), Real(x)});
      for (double x = 8; x < 1e5; x *= 1.01) far.push_back({Real(a), Real(x)});
      const double bound = a < 3.001e-3 ? 2.1e-5 : a < 0.01001 ? 3.1e-5 : 8.4e-5;
      expect_below<Two>(bound, near, VoigtOf{}, error);
      expect_below<Two>(bound, far, VoigtOf{}, error);
    }
    const Two beyond{Real(0.1), Real(2.65)};  // the scheme is of second order in a
    EXPECT_GT(error(beyond, on_device<Two>(Pairs<Real>{beyond}, VoigtOf{})[0]), 1e-3);
  });
}

// ---- random generators ----------------------------------------------------------------------------------------------

constexpr int draws = 18;  // of a stream, and not a whole number of blocks
using Words = Row<std::uint32_t, draws>;

/// Seeds and ids: neighbours, and the ends of their range.
THOR_FN StreamKey key_of(std::uint64_t i) {
  const std::uint64_t seeds[] = {0, 1, 42, 0xffffffffull, 0x100000000ull, ~0ull, i, mix64(i)};
  const std::uint64_t id = i >> 3;
  return stream_key(seeds[i % 8], i % 3 == 0 ? ~id : i % 3 == 1 ? id : id << 32);
}

template <class Generator>
THOR_FN Words draw_words(Generator random) {
  Words words;
  for (int k = 0; k < draws; ++k) words[k] = random.next();
  return words;
}
struct Keys {
  THOR_FN Row<std::uint32_t, 4> operator()(std::uint64_t i) const {
    const StreamKey key = key_of(i);
    return {key.word[0], key.word[1], key.word[2], key.word[3]};
  }
};
template <class Real>
struct XoshiroWords {
  THOR_FN Words operator()(std::uint64_t i) const { return draw_words(xoshiro<Real>(key_of(i))); }
};
template <class Real>
struct PhiloxWords {
  THOR_FN Words operator()(std::uint64_t i) const {
    auto random = philox<Real>(key_of(i));
    if (i % 4 == 0) random.counter[0] = 0xfffffffeu;  // the carry comes in the third block
    return draw_words(random);
  }
};

TEST_F(DeviceMath, StreamsAreTheHosts) {
  constexpr std::uint64_t streams = 1 << 17;
  expect_same_as_host<Row<std::uint32_t, 4>>(streams, Keys{});
  in_both_precisions([]<class Real>(Real) {
    expect_same_as_host<Words>(streams, XoshiroWords<Real>{});
    expect_same_as_host<Words>(streams, PhiloxWords<Real>{});
  });
}

/// From a given state to the words published by its authors.
template <class Real>
struct XoshiroFrom {
  THOR_FN Words operator()(const Row<std::uint32_t, 4>& s) const {
    return draw_words(Xoshiro128<Real>{s[0], s[1], s[2], s[3]});
  }
};
template <class Real>
struct PhiloxFrom {
  THOR_FN Words operator()(const Row<std::uint32_t, 6>& s) const {
    return draw_words(Philox4x32<Real>{{s[0], s[1], s[2], s[3]}, {s[4], s[5]}, {0, 0, 0, 0}, 4});
  }
};

TEST_F(DeviceMath, GeneratorsGiveTheKnownAnswers) {  // those of tests/unit/random/random_test.cpp
  in_both_precisions([]<class Real>(Real) {
    const std::vector<Row<std::uint32_t, 4>> state{{1, 2, 3, 4}};
    const auto words = on_device<Words>(state, XoshiroFrom<Real>{})[0];
    const std::uint32_t expected[] = {641,        1573767,    3222811527, 3517856514, 836907274,
                                      4247214768, 3867114732, 1355841295, 495546011,  621204420};
    for (int k = 0; k < 10; ++k) EXPECT_EQ(words[k], expected[k]) << k;

    const std::uint32_t ones = 0xffffffffu;
    const std::vector<Row<std::uint32_t, 6>> states{{0, 0, 0, 0, 0, 0},
                                                    {ones, ones, ones, ones, ones, ones},
                                                    {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344,  //
                                                     0xa4093822, 0x299f31d0}};
    const std::uint32_t blocks[][4] = {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
                                       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
                                       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
    const auto drawn = on_device<Words>(states, PhiloxFrom<Real>{});
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 4; ++k) EXPECT_EQ(drawn[i][k], blocks[i][k]) << i << ", " << k;
  });
}

}  // namespace
}  // namespace thor
