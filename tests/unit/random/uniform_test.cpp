#include "thor/random/uniform.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "support/statistics.hpp"

namespace thor {
namespace {

using std::numbers::pi;

template <class V>
struct Draws : ::testing::Test {
  using Real = RealOf<V>;
  static constexpr std::size_t lanes = Value<V>::lanes;
  static constexpr bool single = sizeof(Real) == 4;
  using Words = std::array<std::uint32_t, lanes>;
  std::mt19937 random{11};

  Words words() {
    Words w;
    for (auto& word : w) word = std::uint32_t(random());
    return w;
  }
  static WordOf<V> pack(const Words& w) { return load<WordOf<V>>(w.data()); }
  static std::array<Real, lanes> out(V v) {
    std::array<Real, lanes> r;
    store(v, r.data());
    return r;
  }
  /// f(word, word) evaluated in V with the same words in every lane.
  template <class F>
  static Real value(F f, std::uint32_t first, std::uint32_t second = 0) {
    return out(f(V{}, WordOf<V>(first), WordOf<V>(second))).back();
  }
  /// At least n samples of each result of f(word, word), which returns an array of V.
  template <std::size_t results, class F>
  std::array<std::vector<double>, results> samples(std::size_t n, F f) {
    std::array<std::vector<double>, results> s;
    for (std::size_t i = 0; i < n; i += lanes) {
      const auto drawn = f(V{}, pack(words()), pack(words()));
      for (std::size_t k = 0; k < results; ++k)
        for (const Real x : out(drawn[k])) s[k].push_back(double(x));
    }
    return s;
  }
};
using ValueTypes = ::testing::Types<float, double, NativePack<float>, NativePack<double>>;
TYPED_TEST_SUITE(Draws, ValueTypes);

// The first argument selects the value type.
const auto plain = []<class V>(V, WordOf<V> w, WordOf<V>) { return uniform<V>(w); };
const auto positive = []<class V>(V, WordOf<V> w, WordOf<V>) { return uniform_positive<V>(w); };
const auto fine = []<class V>(V, WordOf<V> w, WordOf<V> f) { return uniform_fine<V>(w, f); };
const auto sign = []<class V>(V, WordOf<V> w, WordOf<V>) { return random_sign(V(RealOf<V>(1)), w); };
const auto gaussian = []<class V>(V, WordOf<V> r, WordOf<V> phi) {
  const auto pair = gaussian_pair<V>(r, phi);
  return std::array{pair.first, pair.second};
};
const auto direction = []<class V>(V, WordOf<V> mu, WordOf<V> phi) {
  const auto d = isotropic_direction<V>(mu, phi);
  return std::array{d.x, d.y, d.z};
};
const auto flat = [](double) { return 1.; };

TYPED_TEST(Draws, LanesEqualScalar) {
  using V = TypeParam;
  using Real = typename TestFixture::Real;
  for (int i = 0; i < 2000; ++i) {
    const auto a = this->words(), b = this->words();
    const auto all = [](auto v, auto first, auto second) {
      const auto g = gaussian(v, first, second);
      const auto d = direction(v, first, second);
      return std::array{plain(v, first, second),
                        positive(v, first, second),
                        fine(v, first, second),
                        sign(v, first, second),
                        g[0],
                        g[1],
                        d[0],
                        d[1],
                        d[2]};
    };
    const auto packs = all(V{}, this->pack(a), this->pack(b));
    for (std::size_t l = 0; l < this->lanes; ++l) {
      const auto scalars = all(Real{}, a[l], b[l]);
      for (std::size_t k = 0; k < scalars.size(); ++k)
        ASSERT_EQ(to_bits(this->out(packs[k])[l]), to_bits(scalars[k])) << "result " << k << ", lane " << l;
    }
  }
}

TYPED_TEST(Draws, UniformIsBelowOne) {
  using Real = typename TestFixture::Real;
  const Real resolution = this->single ? Real(0x1p-24) : Real(0x1p-31);
  EXPECT_EQ(this->value(plain, 0), Real(0));
  EXPECT_EQ(this->value(plain, 0xffffffffu), 1 - resolution);
  EXPECT_LT(this->value(plain, 0xffffffffu), Real(1));
  EXPECT_EQ(this->value(plain, 0x80000000u), Real(0.5));
  EXPECT_EQ(this->value(plain, this->single ? 0x1ffu : 3u), resolution);
}

TYPED_TEST(Draws, UniformPositiveIsAboveZero) {
  using Real = typename TestFixture::Real;
  EXPECT_EQ(this->value(positive, 0), Real(0x1p-32));
  EXPECT_EQ(this->value(positive, 2), Real(3 * 0x1p-32));  // fine near 0 in single precision too
  EXPECT_EQ(this->value(positive, 0xffffffffu), this->single ? Real(1) : Real(1 - 0x1p-32));
  EXPECT_LE(this->value(positive, 0xffffffffu), Real(1));
  EXPECT_NEAR(-log(this->value(positive, 0)), 32 * std::numbers::ln2, 3e-6);
}

TYPED_TEST(Draws, TheLowestBitIsTheSignsAlone) {
  for (int i = 0; i < 1000; ++i) {
    const std::uint32_t w = this->words()[0] & ~1u, f = this->words()[0] & ~1u;
    EXPECT_EQ(this->value(plain, w), this->value(plain, w | 1u));
    EXPECT_EQ(this->value(positive, w), this->value(positive, w | 1u));
    EXPECT_EQ(this->value(fine, w, f), this->value(fine, w | 1u, f | 1u));
    EXPECT_EQ(this->value(sign, w), 1);
    EXPECT_EQ(this->value(sign, w | 1u), -1);
  }
}

TYPED_TEST(Draws, UniformFineTellsRareEvents) {
  using Real = typename TestFixture::Real;
  EXPECT_EQ(this->value(fine, 0, 0), Real(0x1p-63));
  EXPECT_EQ(this->value(fine, 0, 2), Real(3 * 0x1p-63));
  EXPECT_LE(this->value(fine, 0xffffffffu, 0xffffffffu), Real(1));
  for (const double rare : {1e-8, 1e-9, 1e-12, 1e-15}) {
    // P(u < rare), from the count of second words that give it for each of the 31-bit first words.
    double probability = 0;
    for (std::uint32_t first = 0; first < 40; ++first) {
      std::uint64_t low = 0, high = 1ull << 31;  // how many second words lie below, by bisection: u is monotonic
      while (low < high) {
        const std::uint64_t middle = (low + high) / 2;
        if (this->value(fine, 2 * first, std::uint32_t(2 * middle)) < Real(rare))
          low = middle + 1;
        else
          high = middle;
      }
      probability += double(low) * 0x1p-62;
    }
    EXPECT_NEAR(probability / rare, 1, (this->single ? 3e-7 : 1e-12) + 0x1p-62 / rare) << rare;
    std::uint64_t coarse = 0;  // one word cannot resolve it: its steps are 4.7e-10
    while (this->value(positive, std::uint32_t(2 * coarse)) < Real(rare)) ++coarse;
    if (rare <= 1e-9) {
      EXPECT_GT(std::abs(double(coarse) * 0x1p-31 / rare - 1), 0.05) << rare;
    }
  }
}

TYPED_TEST(Draws, UniformsFillTheirInterval) {
  const auto u = this->template samples<3>(200000, [](auto v, auto a, auto b) {
    return std::array{plain(v, a, b), positive(v, a, b), fine(v, a, b)};
  });
  for (const auto& s : u) EXPECT_GT(test::chi_square_test(s, flat, 0, 1 + 1e-12, 100), 1e-3);
  std::vector<double> twin;
  for (const double x : u[0]) twin.push_back(std::pow(x, 1.05));
  EXPECT_LT(test::chi_square_test(twin, flat, 0, 1 + 1e-12, 100), 1e-6);
}

TYPED_TEST(Draws, GaussianPairFollowsItsPdf) {
  const auto u = this->template samples<2>(200000, gaussian);
  const auto p = [](const std::vector<double>& s, double width) {
    const double end = 4, tail = std::erfc(end / width) / 2;
    return test::chi_square_test(
        s, [=](double x) { return std::exp(-x * x / (width * width)); }, -end, end, 100, tail, tail);
  };
  for (const auto& s : u) {
    EXPECT_GT(p(s, 1), 1e-3);
    EXPECT_LT(p(s, 1.02), 1e-6);
    EXPECT_LT(p(s, 0.98), 1e-6);
  }
  double product = 0, squares = 0;
  for (std::size_t i = 0; i < u[0].size(); ++i)
    product += u[0][i] * u[1][i], squares += std::pow(u[0][i] * u[1][i], 2) - 0.25;
  const double n = double(u[0].size());
  EXPECT_LT(std::abs(product), 4 * 0.5 * std::sqrt(n));                  // <uv> = 0, <u^2 v^2> = 1/4
  EXPECT_LT(std::abs(squares), 4 * std::sqrt((9. / 16 - 1. / 16) * n));  // <u^4 v^4> = (3/4)^2
  EXPECT_NEAR(this->out(gaussian(TypeParam{}, WordOf<TypeParam>(0u), WordOf<TypeParam>(0u))[0]).back(),
              std::sqrt(32 * std::numbers::ln2), 1e-6);  // the largest possible value
  EXPECT_GE(this->out(gaussian(TypeParam{}, WordOf<TypeParam>(~0u), WordOf<TypeParam>(0u))[0]).back(), 0);
}

TYPED_TEST(Draws, IsotropicDirectionIsIsotropic) {
  const auto d = this->template samples<3>(200000, direction);
  const double n = double(d[0].size());
  std::array<double, 3> first{}, second{}, mixed{};
  std::vector<double> phi, twin;
  for (std::size_t i = 0; i < d[0].size(); ++i) {
    ASSERT_NEAR(std::hypot(d[0][i], d[1][i], d[2][i]), 1, this->single ? 3e-7 : 1e-15);
    for (int k = 0; k < 3; ++k)
      first[k] += d[k][i], second[k] += d[k][i] * d[k][i], mixed[k] += d[k][i] * d[(k + 1) % 3][i];
    phi.push_back(std::atan2(d[1][i], d[0][i]));
    twin.push_back(d[2][i] * (1 + 0.1 * d[2][i] * d[2][i]) / 1.1);
  }
  for (int k = 0; k < 3; ++k) {
    EXPECT_LT(std::abs(first[k]), 4 * std::sqrt(n / 3)) << k;
    EXPECT_NEAR(second[k] / n, 1. / 3, 4 * std::sqrt(4. / 45 / n)) << k;
    EXPECT_LT(std::abs(mixed[k]), 4 * std::sqrt(n / 15)) << k;
  }
  const double edge = 1 + 1e-12;
  for (const auto& s : d) EXPECT_GT(test::chi_square_test(s, flat, -edge, edge, 100), 1e-3);
  EXPECT_GT(test::chi_square_test(phi, flat, -pi * edge, pi * edge, 100), 1e-3);
  EXPECT_LT(test::chi_square_test(twin, flat, -edge, edge, 100), 1e-6);
}

TYPED_TEST(Draws, IsotropicDirectionAtThePoles) {
  for (const std::uint32_t mu : {0u, 0xffffffffu})
    for (const std::uint32_t phi : {0u, 0x40000000u, 0xffffffffu}) {
      const auto d = direction(TypeParam{}, WordOf<TypeParam>(mu), WordOf<TypeParam>(phi));
      const double x = this->out(d[0]).back(), y = this->out(d[1]).back(), z = this->out(d[2]).back();
      EXPECT_NEAR(std::hypot(x, y, z), 1, this->single ? 3e-7 : 5e-16);
      EXPECT_EQ(z < 0, mu == 0u);
    }
}

}  // namespace
}  // namespace thor
