#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <set>
#include <vector>

#include "support/statistics.hpp"
#include "thor/random/philox.hpp"
#include "thor/random/uniform.hpp"
#include "thor/random/xoshiro.hpp"
#ifdef THOR_HAVE_RANDOM123
#include <Random123/philox.h>
#endif

namespace thor {
namespace {

using Words = std::vector<std::uint32_t>;

/// xoshiro128++ as published by its authors.
struct PlainXoshiro {
  std::array<std::uint32_t, 4> s;
  std::uint32_t next() {
    const std::uint32_t result = std::rotl(s[0] + s[3], 7) + s[0], t = s[1] << 9;
    s[2] ^= s[0], s[3] ^= s[1], s[1] ^= s[2], s[0] ^= s[3], s[2] ^= t, s[3] = std::rotl(s[3], 11);
    return result;
  }
};

template <class V>
struct Streams : ::testing::Test {
  static constexpr std::size_t lanes = Value<V>::lanes;
  using Lanes = std::array<std::uint32_t, lanes>;

  static Lanes out(WordOf<V> word) {
    Lanes r;
    store(word, r.data());
    return r;
  }
  static StreamKey key(std::size_t lane) { return stream_key(99, 1000 + 17 * lane); }

  /// Word i of key(lane) in each lane.
  static WordOf<V> keys(int i) {
    Lanes r;
    for (std::size_t l = 0; l < lanes; ++l) r[l] = key(l).word[i];
    return load<WordOf<V>>(r.data());
  }

  /// Each lane is the scalar stream of its key; a draw that select() keeps for odd lanes does not advance the others.
  template <class Packs, class Scalar>
  static void follow(Packs packs, Scalar scalar_of) {
    std::vector<decltype(scalar_of(key(0)))> scalars;
    Lanes index;
    for (std::size_t l = 0; l < lanes; ++l) scalars.push_back(scalar_of(key(l))), index[l] = std::uint32_t(l);
    const auto odd = bit_set<V>(load<WordOf<V>>(index.data()), 1u);
    const auto expect_same = [&](auto& random, auto& plain, int draw) {
      const Lanes words = out(random.next());
      for (std::size_t l = 0; l < lanes; ++l) ASSERT_EQ(words[l], plain[l].next()) << "draw " << draw << ", lane " << l;
    };
    for (int draw = 0; draw < 52; ++draw) expect_same(packs, scalars, draw);
    for (int draw = 0; draw < 50; ++draw) {
      auto ahead = packs;
      ahead.next();
      packs = select(odd, ahead, packs);
      for (std::size_t l = 0; l < lanes; ++l) {
        auto one_ahead = scalars[l];
        one_ahead.next();
        scalars[l] = select(l % 2 == 1, one_ahead, scalars[l]);
      }
      auto look = packs;
      auto look_scalars = scalars;
      expect_same(look, look_scalars, draw);
    }
    auto kept = scalar_of(key(0));  // lane 0 was never chosen: still at 52 draws
    for (int draw = 0; draw < 52; ++draw) kept.next();
    EXPECT_EQ(out(packs.next())[0], kept.next());
  }
};
using ValueTypes = ::testing::Types<float, double, NativePack<float>, NativePack<double>>;
TYPED_TEST_SUITE(Streams, ValueTypes);

TYPED_TEST(Streams, XoshiroKnownAnswers) {
  using Word = WordOf<TypeParam>;
  Xoshiro128<TypeParam> random{Word(1u), Word(2u), Word(3u), Word(4u)};
  // The test vector of the Rust crate rand_xoshiro, which took it from the authors' C code.
  for (const std::uint32_t expected : {641u, 1573767u, 3222811527u, 3517856514u, 836907274u, 4247214768u, 3867114732u,
                                       1355841295u, 495546011u, 621204420u})
    for (const std::uint32_t word : this->out(random.next())) EXPECT_EQ(word, expected);
}

TYPED_TEST(Streams, XoshiroEqualsThePlainCode) {
  const StreamKey key = stream_key(5, 6);
  auto random = xoshiro<TypeParam>(key);
  PlainXoshiro plain{std::to_array(key.word)};
  for (int i = 0; i < 10000; ++i) {
    const std::uint32_t expected = plain.next();
    for (const std::uint32_t word : this->out(random.next())) ASSERT_EQ(word, expected) << i;
  }
}

template <class V>
Words philox_block(std::array<std::uint32_t, 4> c, std::array<std::uint32_t, 2> k) {
  using Word = WordOf<V>;
  Philox4x32<V> random{{Word(c[0]), Word(c[1]), Word(c[2]), Word(c[3])}, {Word(k[0]), Word(k[1])}, {}, 4};
  Words words;
  for (int i = 0; i < 4; ++i) words.push_back(Streams<V>::out(random.next()).back());
  return words;
}

TYPED_TEST(Streams, PhiloxKnownAnswers) {  // kat_vectors of Random123
  const std::uint32_t ones = 0xffffffffu;
  EXPECT_EQ(philox_block<TypeParam>({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox_block<TypeParam>({ones, ones, ones, ones}, {ones, ones}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox_block<TypeParam>({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TYPED_TEST(Streams, PhiloxEqualsRandom123) {
#ifdef THOR_HAVE_RANDOM123
  PlainXoshiro any{{1, 2, 3, 4}};
  for (int i = 0; i < 2000; ++i) {
    const std::array<std::uint32_t, 4> c{any.next(), any.next(), any.next(), any.next()};
    const std::array<std::uint32_t, 2> k{any.next(), any.next()};
    const auto truth = r123::Philox4x32()({{c[0], c[1], c[2], c[3]}}, {{k[0], k[1]}});
    ASSERT_EQ(philox_block<TypeParam>(c, k), Words(truth.begin(), truth.end())) << i;
  }
#else
  GTEST_SKIP() << "*** Random123 is not installed (Debian: librandom123-dev): Philox has its known answers only ***";
#endif
}

TYPED_TEST(Streams, PhiloxCountsItsBlocksWithCarry) {
  using V = TypeParam;
  const StreamKey key = stream_key(3, 4);
  auto random = philox<V>(key);
  for (std::uint32_t block = 0; block < 3; ++block)
    for (const std::uint32_t w : philox_block<V>({key.word[2] + block, key.word[3], 0, 0}, {key.word[0], key.word[1]}))
      ASSERT_EQ(this->out(random.next()).back(), w) << block;
  random.counter[0] = WordOf<V>(0xffffffffu), random.counter[1] = WordOf<V>(7u);
  for (const auto& c : {std::array{0xffffffffu, 7u}, {0u, 8u}, {1u, 8u}})
    for (const std::uint32_t w : philox_block<V>({c[0], c[1], 0, 0}, {key.word[0], key.word[1]}))
      ASSERT_EQ(this->out(random.next()).back(), w) << c[0];
}

// Between steps a stream is four words; the rest of a partly used block is not drawn again.
TYPED_TEST(Streams, PhiloxLivesInFourWords) {
  using V = TypeParam;
  const StreamKey key = stream_key(5, 6);
  for (int draws = 0; draws < 9; ++draws) {
    auto random = philox<V>(key);
    for (int i = 0; i < draws; ++i) random.next();
    const auto words = words_of(random);
    auto again = Philox4x32<V>::from_words(words.s0, words.s1, words.s2, words.s3);
    const std::uint32_t block = (draws + 3) / 4;
    for (const std::uint32_t w : philox_block<V>({key.word[2] + block, key.word[3], 0, 0}, {key.word[0], key.word[1]}))
      ASSERT_EQ(this->out(again.next()).back(), w) << draws;
  }
}

TYPED_TEST(Streams, EachLaneIsItsScalarStream) {
  using Real = RealOf<TypeParam>;
  using Word = WordOf<TypeParam>;
  const Word k0 = this->keys(0), k1 = this->keys(1), k2 = this->keys(2), k3 = this->keys(3);
  this->follow(Xoshiro128<TypeParam>{k0, k1, k2, k3}, [](const StreamKey& key) { return xoshiro<Real>(key); });
  this->follow(Philox4x32<TypeParam>::from_words(k0, k1, k2, k3),
               [](const StreamKey& key) { return philox<Real>(key); });
}

// ---- streams of neighbouring photons and seeds ---------------------------------------------------------------------

constexpr int draws = 4, streams = 1 << 17;
using Table = std::array<std::vector<double>, draws>;  // the first draws of consecutive streams

template <class Start>
Table first_draws(Start start) {
  Table u;
  for (int i = 0; i < streams; ++i) {
    auto random = start(std::uint64_t(i));
    for (auto& column : u) column.push_back(uniform<double>(random.next()));
  }
  return u;
}

/// Largest |correlation|/sigma between draw k of a stream and draw l of the next (and k < l of the same).
double serial_correlation(const Table& u) {
  double worst = 0;
  for (int step : {0, 1, 2})
    for (int k = 0; k < draws; ++k)
      for (int l = step ? 0 : k + 1; l < draws; ++l) {
        double sum = 0;
        for (int i = 0; i + step < streams; ++i) sum += (u[k][i] - 0.5) * (u[l][i + step] - 0.5);
        worst = std::max(worst, std::abs(sum) * 12 / std::sqrt(double(streams - step)));
      }
  return worst;
}

/// Smallest p-value of: each draw uniform over consecutive streams; each draw and that of the next stream uniform in
/// the square. Too uniform counts as much as not uniform.
double flatness(const Table& u) {
  const auto two_sided = [](const std::vector<double>& samples, double high, int bins) {
    const double p = test::chi_square_test(
        samples, [](double) { return 1.; }, 0, high, bins);
    return 2 * std::min(p, 1 - p);
  };
  double p = 1;
  for (const auto& column : u) {
    std::vector<double> cells;  // 32 x 32, counted along one axis
    for (int i = 0; i + 1 < streams; i += 2)
      cells.push_back(std::floor(column[i] * 32) + std::floor(column[i + 1] * 32) / 32 + 0.5 / 32);
    p = std::min({p, two_sided(column, 1, 256), two_sided(cells, 32, 1024)});
  }
  return p;
}

/// Largest deviation, in sigmas, of the fraction of photons that cross tau unscattered from e^-tau.
double unscattered(const Table& u) {
  double worst = 0;
  for (const double tau : {0.1, 1., 3., 6.}) {
    double passed = 0;
    for (const double first : u[0]) passed += -std::log(1 - first) > tau;
    const double p = std::exp(-tau);
    worst = std::max(worst, std::abs(passed - streams * p) / std::sqrt(streams * p * (1 - p)));
  }
  return worst;
}

TEST(StreamKeys, NeighbouringPhotonsAndSeedsAreIndependentFromTheFirstDraw) {
  const std::uint64_t far = 0xffffffff00000000ull;
  const Table tables[] = {
      first_draws([](std::uint64_t i) { return xoshiro<double>(stream_key(1, i)); }),
      first_draws([](std::uint64_t i) { return xoshiro<double>(stream_key(0, far + i)); }),
      first_draws([](std::uint64_t i) { return xoshiro<double>(stream_key(i, 0)); }),
      first_draws([](std::uint64_t i) { return xoshiro<double>(stream_key(i, i)); }),
      first_draws([](std::uint64_t i) { return philox<double>(stream_key(1, i)); }),
      first_draws([](std::uint64_t i) { return philox<double>(stream_key(i, 12345)); }),
  };
  for (const Table& u : tables) {
    EXPECT_LT(serial_correlation(u), 4.5);  // 38 correlations a table
    EXPECT_GT(flatness(u), 1e-4);
    EXPECT_LT(unscattered(u), 4);
  }
}

TEST(StreamKeys, BadSeedingIsRejected) {
  using State = Xoshiro128<double>;
  const Table raw = first_draws([](std::uint64_t i) { return State{std::uint32_t(i), 1u, 2u, 3u}; });
  EXPECT_GT(serial_correlation(raw), 20);
  EXPECT_LT(flatness(raw), 1e-10);
  EXPECT_GT(unscattered(raw), 20);
  // Keys spread over the word but not mixed: the first draw is a lattice.
  const Table weyl = first_draws([](std::uint64_t i) { return State{std::uint32_t(i * 0x9e3779b9u), 1u, 2u, 3u}; });
  EXPECT_GT(serial_correlation(weyl), 20);
  EXPECT_LT(flatness(weyl), 1e-10);
}

TEST(StreamKeys, EveryBitOfSeedAndIdCounts) {
  const auto distance = [](const StreamKey& a, const StreamKey& b) {
    int bits = 0;
    for (int i = 0; i < 4; ++i) bits += std::popcount(a.word[i] ^ b.word[i]);
    return bits;
  };
  double sum = 0;
  for (std::uint64_t id = 0; id < 100; ++id)
    for (int bit = 0; bit < 64; ++bit)
      for (const StreamKey& other : {stream_key(1, id ^ 1ull << bit), stream_key(1 ^ 1ull << bit, id)}) {
        const int changed = distance(stream_key(1, id), other);  // of 127 free bits, sigma = 5.6
        EXPECT_TRUE(changed > 28 && changed < 99) << changed << " bits, id " << id << ", bit " << bit;
        sum += changed;
      }
  EXPECT_NEAR(sum / 12800, 63.5, 0.3);
  std::set<std::array<std::uint32_t, 4>> seen{{0, 0, 0, 0}};
  for (std::uint64_t i = 0; i < 80000; ++i) seen.insert(std::to_array(stream_key(i % 4, i / 4).word));
  EXPECT_EQ(seen.size(), 80001u);  // all different, none zero
}

}  // namespace
}  // namespace thor
