#include "thor/random/sfc.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace thor {
namespace {

/// sfc32 in scalar words, written from its definition.
struct PlainSfc {
  std::uint32_t a, b, c, counter;
  std::uint32_t next() {
    const std::uint32_t sum = a + b + counter++;
    a = b ^ (b >> 9);
    b = 9 * c;
    c = std::uint32_t(((std::uint64_t(c) << 21 | c >> 11) + sum) & 0xffffffffu);
    return sum;
  }
};

template <class V>
struct Sfc : ::testing::Test {
  static constexpr std::size_t lanes = Value<V>::lanes;
  using Lanes = std::array<std::uint32_t, lanes>;
  static Lanes out(WordOf<V> word) {
    Lanes r;
    store(word, r.data());
    return r;
  }
};
using ValueTypes = ::testing::Types<float, double, NativePack<float>, NativePack<double>>;
TYPED_TEST_SUITE(Sfc, ValueTypes);

TYPED_TEST(Sfc, EqualsThePlainCode) {
  for (const StreamKey& key : {stream_key(5, 6), StreamKey{{0, 0, 0, 1}}, StreamKey{{1, 2, 3, 0xfffffff0u}}}) {
    auto random = sfc<TypeParam>(key);
    PlainSfc plain{key.word[0], key.word[1], key.word[2], key.word[3]};
    for (int i = 0; i < 10000; ++i) {
      const std::uint32_t expected = plain.next();
      for (const std::uint32_t word : this->out(random.next())) ASSERT_EQ(word, expected) << i;
    }
    const auto words = words_of(random);
    EXPECT_EQ(this->out(words.s3)[0], plain.counter);
  }
}

TYPED_TEST(Sfc, SelectKeepsEachLaneItsStream) {
  using Word = WordOf<TypeParam>;
  typename TestFixture::Lanes index, s[4];
  for (std::size_t l = 0; l < this->lanes; ++l) {
    index[l] = std::uint32_t(l);
    for (int k = 0; k < 4; ++k) s[k][l] = stream_key(9, l).word[k];
  }
  const auto odd = bit_set<TypeParam>(load<Word>(index.data()), 1u);
  const Sfc32<TypeParam> start{load<Word>(s[0].data()), load<Word>(s[1].data()), load<Word>(s[2].data()),
                               load<Word>(s[3].data())};
  auto ahead = start;
  for (int i = 0; i < 5; ++i) ahead.next();
  auto mixed = select(odd, ahead, start);
  for (int i = 0; i < 20; ++i) {
    const auto words = this->out(mixed.next());
    for (std::size_t l = 0; l < this->lanes; ++l) {
      PlainSfc plain{s[0][l], s[1][l], s[2][l], s[3][l]};
      for (int k = 0; k < i + (l % 2 ? 5 : 0); ++k) plain.next();
      ASSERT_EQ(words[l], plain.next()) << "draw " << i << ", lane " << l;
    }
  }
}

/// Largest |correlation|/sigma between bits of the first words of neighbouring streams and between those words.
template <class Start>
double worst_correlation(Start start) {
  constexpr int streams = 1 << 14, draws = 4;
  std::vector<std::array<std::uint32_t, draws>> words(streams);
  for (int i = 0; i < streams; ++i) {
    auto random = start(std::uint64_t(i));
    for (auto& word : words[i]) word = random.next();
  }
  double worst = 0;
  for (const int step : {0, 1})
    for (int k = 0; k < draws; ++k)
      for (int l = step ? 0 : k + 1; l < draws; ++l) {
        for (int bit = 0; bit < 32; ++bit) {
          int sum = 0;
          for (int i = 0; i + step < streams; ++i) sum += ((words[i][k] ^ words[i + step][l]) >> bit & 1u) ? 1 : -1;
          worst = std::max(worst, std::abs(sum) / std::sqrt(double(streams)));
        }
      }
  for (int k = 0; k < draws; ++k)
    for (int bit = 0; bit < 32; ++bit) {
      int sum = 0;
      for (const auto& w : words) sum += (w[k] >> bit & 1u) ? 1 : -1;
      worst = std::max(worst, std::abs(sum) / std::sqrt(double(streams)));
    }
  return worst;
}

TEST(SfcStreams, NeighboursAreIndependentFromTheFirstDraw) {
  EXPECT_LT(worst_correlation([](std::uint64_t i) { return sfc<double>(stream_key(1, i)); }), 5);  // of 832
  EXPECT_LT(worst_correlation([](std::uint64_t i) { return sfc<double>(stream_key(i, 7)); }), 5);
  // A key that is not mixed is detected.
  EXPECT_GT(worst_correlation([](std::uint64_t i) { return sfc<double>({{std::uint32_t(i), 0, 0, 1}}); }), 50);
}

}  // namespace
}  // namespace thor
