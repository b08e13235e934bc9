#include "thor/math/value.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include "support/statistics.hpp"
#include "thor/math/vec3.hpp"

namespace thor {
namespace {

template <class V>
struct ValueLayer : ::testing::Test {
  using Real = RealOf<V>;
  static constexpr std::size_t lanes = Value<V>::lanes;
  using Lanes = std::array<Real, lanes>;

  static Lanes out(V v) {
    Lanes r;
    store(v, r.data());
    return r;
  }

  /// f of packs against f of scalars, bit by bit, on every triple of awkward numbers and on random ones. With packs the
  /// lanes hold different numbers.
  template <class F>
  static void same_as_scalar(F f) {
    using Limits = std::numeric_limits<Real>;
    std::vector<Real> numbers{
        0,         1,          Real(1.5),    3, Limits::min(), Limits::max(), Limits::epsilon(), Limits::infinity(),
        Real(0.1), Real(1e30), Real(0x1p-24)};
    std::mt19937_64 random(2);
    for (int i = 0; i < 9; ++i) numbers.push_back(Real(std::normal_distribution<double>()(random)));
    for (std::size_t i = 0, n = numbers.size(); i < n; ++i) numbers.push_back(-numbers[i]);
    const std::size_t n = numbers.size();
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t k = 0; k < n; k += 3) {
          Lanes a, b, c;
          for (std::size_t l = 0; l < lanes; ++l)
            a[l] = numbers[(i + 7 * l) % n], b[l] = numbers[(j + 3 * l) % n], c[l] = numbers[(k + l) % n];
          const Lanes r = out(f(load<V>(a.data()), load<V>(b.data()), load<V>(c.data())));
          for (std::size_t l = 0; l < lanes; ++l) {
            const Real s = f(a[l], b[l], c[l]);
            if (std::isnan(s) && std::isnan(r[l])) continue;
            ASSERT_EQ(to_bits(r[l]), to_bits(s)) << "f(" << a[l] << ", " << b[l] << ", " << c[l] << ") = " << r[l];
          }
        }
  }

  /// Words that differ from lane to lane.
  static std::array<std::uint32_t, lanes> words(std::uint32_t first) {
    std::array<std::uint32_t, lanes> w;
    for (std::size_t l = 0; l < lanes; ++l) w[l] = first ^ (std::uint32_t(l) * 0x9e3779b9u);
    return w;
  }
};
using ValueTypes = ::testing::Types<float, double, NativePack<float>, NativePack<double>>;
TYPED_TEST_SUITE(ValueLayer, ValueTypes);

TYPED_TEST(ValueLayer, ArithmeticEqualsScalar) {
  this->same_as_scalar([](auto a, auto b, auto c) { return (a + b) * c - a / b; });
  this->same_as_scalar([](auto a, auto b, auto c) { return fma(a, b, c); });
  // min and max of two zeros: see below.
  this->same_as_scalar([](auto a, auto b, auto) { return min(a, b) + decltype(a)(0); });
  this->same_as_scalar([](auto a, auto b, auto) { return max(a, b) + decltype(a)(0); });
  this->same_as_scalar([](auto a, auto b, auto) { return copysign(a, b); });
  this->same_as_scalar([](auto a, auto, auto) { return abs(a); });
  this->same_as_scalar([](auto a, auto, auto) { return sqrt(abs(a)); });
  this->same_as_scalar([](auto a, auto b, auto c) { return select(a < b, c, -c); });
  this->same_as_scalar([](auto a, auto b, auto c) { return select(a >= b && !(c == a), a, select(b != c, b, c)); });
  this->same_as_scalar([](auto a, auto, auto) { return from_bits(to_bits(a)); });
}

/// min(a, b) = a < b ? a : b and max accordingly, hence the second if they are equal or unordered: in packs too, or one
/// lane and many would give different photons.
TYPED_TEST(ValueLayer, MinAndMaxOfZerosAndNaN) {
  using V = TypeParam;
  using Real = typename TestFixture::Real;
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  const std::pair<Real, Real> pairs[] = {{0, -Real(0)}, {-Real(0), 0}, {nan, 1}, {1, nan}};
  for (const auto& [a, b] : pairs) {
    const auto low = TestFixture::out(min(V(a), V(b))), high = TestFixture::out(max(V(a), V(b)));
    for (std::size_t l = 0; l < low.size(); ++l) {
      EXPECT_EQ(to_bits(low[l]), to_bits(b)) << "min(" << a << ", " << b << ") = " << low[l];
      EXPECT_EQ(to_bits(high[l]), to_bits(b)) << "max(" << a << ", " << b << ") = " << high[l];
    }
  }
}

TYPED_TEST(ValueLayer, KnownAnswers) {
  using V = TypeParam;
  using Real = typename TestFixture::Real;
  const auto every = [](V v, Real expected) {
    for (const Real r : TestFixture::out(v)) EXPECT_EQ(to_bits(r), to_bits(expected)) << r << " is not " << expected;
  };
  every(V(Real(2)) + V(Real(3)), 5);
  every(min(V(Real(2)), V(Real(-3))), -3);
  every(max(V(Real(2)), V(Real(-3))), 2);
  every(abs(V(Real(-2))), 2);
  every(copysign(V(Real(3)), V(-Real(0))), -3);
  every(copysign(V(Real(-3)), V(Real(0))), 3);
  every(copysign(V(Real(-3)), V(Real(-1e-30))), -3);
  every(copysign(V(Real(0)), V(Real(-1))), -Real(0));
  every(from_bits(to_bits(V(Real(-0.75)))), Real(-0.75));
  EXPECT_EQ(to_bits(1.f), 0x3f800000u);
  EXPECT_EQ(to_bits(-2.), 0xc000000000000000u);
#ifdef THOR_HAS_FMA  // one rounding: (1 + e)^2 - (1 + 2 e) = e^2
  const Real e = std::numeric_limits<Real>::epsilon();
  every(fma(V(1 + e), V(1 + e), V(-(1 + 2 * e))), e * e);
#endif
}

TYPED_TEST(ValueLayer, SelectAndAnySeeEachLane) {
  using V = TypeParam;
  using Real = typename TestFixture::Real;
  typename TestFixture::Lanes index;
  for (std::size_t l = 0; l < index.size(); ++l) index[l] = Real(l);
  const V x = load<V>(index.data());
  EXPECT_FALSE(any(x < V(Real(0))));
  EXPECT_TRUE(any(x >= V(Real(0))));
  for (std::size_t k = 0; k < index.size(); ++k) {
    EXPECT_TRUE(any(x == V(Real(k))));
    const auto chosen = TestFixture::out(select(x == V(Real(k)), V(Real(-1)), x));
    for (std::size_t l = 0; l < index.size(); ++l) EXPECT_EQ(chosen[l], l == k ? Real(-1) : Real(l));
  }
}

TYPED_TEST(ValueLayer, LoadAndStoreNeedNoAlignment) {
  using V = TypeParam;
  using Real = typename TestFixture::Real;
  std::vector<Real> from(3 * this->lanes), to(from.size(), Real(-1));
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = Real(i);
  store(load<V>(&from[1]), &to[2]);
  for (std::size_t i = 0; i < to.size(); ++i)
    EXPECT_EQ(to[i], i >= 2 && i < 2 + this->lanes ? Real(i - 1) : Real(-1)) << i;
}

TYPED_TEST(ValueLayer, WordsAndIntegers) {
  using V = TypeParam;
  using Real = typename TestFixture::Real;
  for (const std::uint32_t first : {0u, 1u, 0xffffffffu, 0x80000000u, 0x7fffffffu, 0x12345678u}) {
    const auto words = this->words(first);
    const auto pack = load<WordOf<V>>(words.data());
    for (const int shift : {1, 8, 31}) {
      const auto real = TestFixture::out(word_to_real<V>(pack, shift));
      for (std::size_t l = 0; l < this->lanes; ++l) EXPECT_EQ(real[l], Real(words[l] >> shift));
    }
    for (const std::uint32_t bit : {1u, 2u, 0x80000000u}) {
      const auto set = TestFixture::out(select(bit_set<V>(pack, bit), V(Real(1)), V(Real(0))));
      for (std::size_t l = 0; l < this->lanes; ++l) EXPECT_EQ(set[l], words[l] & bit ? Real(1) : Real(0));
    }
  }
  using Integer = typename Value<Real>::Int;
  std::array<Integer, TestFixture::lanes> integers;
  for (const int first : {-2, 0, 3}) {
    for (std::size_t l = 0; l < this->lanes; ++l) integers[l] = first + Integer(l);
    const auto pack = load<IntOf<V>>(integers.data());
    for (int b = -3; b < 6; ++b) {
      const auto same = TestFixture::out(select(equal<V>(pack, b), V(Real(1)), V(Real(0))));
      const auto more = TestFixture::out(select(at_least<V>(pack, b), V(Real(1)), V(Real(0))));
      for (std::size_t l = 0; l < this->lanes; ++l) {
        EXPECT_EQ(same[l], integers[l] == b ? Real(1) : Real(0));
        EXPECT_EQ(more[l], integers[l] >= b ? Real(1) : Real(0));
      }
    }
  }
}

/// turn() in one type of number, lane 0.
template <class V>
struct Turn : ValueLayer<V> {
  using Real = RealOf<V>;
  using Vector = Vec3<double>;
  static Vector turned(Vector d, double mu, double phi) {
    const Vec3<V> n = turn(Vec3<V>{V(Real(d.x)), V(Real(d.y)), V(Real(d.z))}, V(Real(mu)),
                           V(Real(std::sqrt(1 - mu * mu))), V(Real(std::cos(phi))), V(Real(std::sin(phi))));
    const auto at = [](V v) { return double(ValueLayer<V>::out(v).back()); };
    return {at(n.x), at(n.y), at(n.z)};
  }
  static constexpr double rounding = sizeof(Real) == 4 ? 4e-7 : 8e-16;

  /// Axes, their neighbourhoods on both sides of the frame's cut at z = 0, and random directions; unit in Real.
  static std::vector<Vector> directions() {
    std::vector<Vector> d;
    for (const double s : {1., -1.}) {
      d.insert(d.end(), {{0, 0, s}, {s, 0, 0}, {0, s, 0}, {s, 0, -0.}, {0, s, -0.}});
      for (const double tiny : {1e-3, 1e-8, 1e-20, 1e-38}) {
        const double rest = std::sqrt(1 - tiny * tiny);
        d.insert(d.end(), {{tiny, 0, s * rest}, {0, -tiny, s * rest}, {rest, 0, s * tiny}, {0, -rest, s * tiny}});
        d.insert(d.end(), {{-rest, s * tiny, 0}, {tiny, s * rest, 0}});
      }
    }
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal;
    for (int i = 0; i < 200; ++i) {
      const Vector v{normal(random), normal(random), normal(random)};
      d.push_back(1 / std::sqrt(dot(v, v)) * v);
    }
    return d;
  }
};
TYPED_TEST_SUITE(Turn, ValueTypes);

TYPED_TEST(Turn, GivesUnitVectorsAtTheAskedCosine) {
  for (const Vec3<double> d : this->directions())
    for (const double mu : {-1., -0.999999, -0.3, 0., 1e-5, 0.7, 0.99999, 1.})
      for (int k = 0; k < 12; ++k) {
        const auto n = this->turned(d, mu, 2 * std::numbers::pi * k / 12);
        ASSERT_NEAR(dot(n, n), 1, 2 * this->rounding) << d.x << ' ' << d.y << ' ' << d.z << ", mu = " << mu;
        ASSERT_NEAR(dot(n, d), mu, this->rounding) << d.x << ' ' << d.y << ' ' << d.z << ", mu = " << mu;
      }
}

TYPED_TEST(Turn, FrameIsOrthonormal) {
  for (const Vec3<double> d : this->directions()) {
    const auto p = this->turned(d, 0, 0), q = this->turned(d, 0, std::numbers::pi / 2), m = this->turned(d, 0.6, 1);
    EXPECT_NEAR(dot(p, q), 0, this->rounding) << d.x << ' ' << d.y << ' ' << d.z;
    EXPECT_NEAR(dot(m, p), 0.8 * std::cos(1), this->rounding) << d.x << ' ' << d.y << ' ' << d.z;
    EXPECT_NEAR(dot(m, q), 0.8 * std::sin(1), this->rounding) << d.x << ' ' << d.y << ' ' << d.z;
  }
}

TYPED_TEST(Turn, UniformAzimuthStaysUniform) {
  const Vec3<double> d{0.48, -0.6, -0.64}, across{0.8, 0, 0.6}, up{-0.36, -0.8, 0.48};  // a frame of our own
  for (const bool twin : {false, true}) {
    std::mt19937_64 random(4);
    std::vector<double> azimuths;
    for (int i = 0; i < 100000; ++i) {
      const double phi = std::uniform_real_distribution<double>(0, 2 * std::numbers::pi)(random);
      const auto n = this->turned(d, 0.3, twin ? phi + 0.1 * std::sin(phi) : phi);
      azimuths.push_back(std::atan2(dot(n, up), dot(n, across)));
    }
    const double p = test::chi_square_test(
        azimuths, [](double) { return 1.; }, -std::numbers::pi - 1e-6, std::numbers::pi + 1e-6, 50);
    if (twin)
      EXPECT_LT(p, 1e-6);
    else
      EXPECT_GT(p, 1e-3);
  }
}

TYPED_TEST(Turn, NormStaysOneOverManyTurns) {
  using V = TypeParam;
  using Real = typename TestFixture::Real;
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Vec3<V> d{V(Real(0)), V(Real(0)), V(Real(1))};
  double worst = 0;
  for (int i = 0; i < 100000; ++i) {
    const double mu = uniform(random), phi = std::numbers::pi * uniform(random);
    d = turn(d, V(Real(mu)), V(Real(std::sqrt(1 - mu * mu))), V(Real(std::cos(phi))), V(Real(std::sin(phi))));
    const auto x = TestFixture::out(d.x), y = TestFixture::out(d.y), z = TestFixture::out(d.z);
    for (std::size_t l = 0; l < x.size(); ++l)
      worst = std::max(worst, std::abs(std::hypot(double(x[l]), double(y[l]), double(z[l])) - 1));
  }
  EXPECT_LT(worst, sizeof(Real) == 4 ? 1e-6 : 2e-15);
}

}  // namespace
}  // namespace thor
