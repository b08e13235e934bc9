#pragma once
#include <bit>
#include <cstdint>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "thor/random/philox.hpp"
#include "thor/random/sfc.hpp"
#include "thor/random/xoshiro.hpp"

/// The random streams of thor, and weak ones that randomness tests must reject, as one sequence of words.
namespace test {

using Stream = std::function<std::uint32_t()>;

/// Makes the stream of a (seed, id): in thor one for each photon.
struct Generator {
  std::string name;
  std::function<Stream(std::uint64_t, std::uint64_t)> stream;
};

template <class Make>
Generator keyed(const char* name, Make make) {
  return {name, [make](std::uint64_t seed, std::uint64_t id) -> Stream {
            return [random = make(thor::stream_key(seed, id))]() mutable { return random.next(); };
          }};
}

inline std::vector<Generator> thor_generators() {
  return {keyed("xoshiro", thor::xoshiro<float>), keyed("philox", thor::philox<float>), keyed("sfc", thor::sfc<float>)};
}

/// step(state) advances the state and returns a word; the state is made from the stream's key.
template <class State, class Step>
Generator stepped(const char* name, Step step) {
  return {name, [step](std::uint64_t seed, std::uint64_t id) -> Stream {
            return [step, state = State(thor::stream_key(seed, id))]() mutable { return step(state); };
          }};
}

struct OneWord {
  std::uint32_t s;
  explicit OneWord(const thor::StreamKey& key) : s(key.word[0] | 1u) {}
};
struct FourWords {
  std::uint32_t s[4];
  explicit FourWords(const thor::StreamKey& key) : s{key.word[0], key.word[1], key.word[2], key.word[3]} {}
};

inline std::vector<Generator> weak_generators() {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15ull;
  return {
      // Linear congruential modulo 2^32: bit k has the period 2^(k+1). Here the constants of Numerical Recipes.
      stepped<OneWord>("lcg32", [](OneWord& w) { return w.s = 1664525u * w.s + 1013904223u; }),
      // RANDU (IBM 1968), modulo 2^31: all triples lie on 15 planes (Marsaglia 1968).
      stepped<OneWord>("randu", [](OneWord& w) { return (w.s *= 65539u) << 1; }),
      // 32 bits of state, linear over two elements (Marsaglia 2003): any 32 words in a row are independent.
      stepped<OneWord>("xorshift32", [](OneWord& w) { return w.s ^= w.s << 13, w.s ^= w.s >> 17, w.s ^= w.s << 5; }),
      // The same with 128 bits of state: good on scales below 128 bits.
      stepped<FourWords>("xorshift128",
                         [](FourWords& w) {
                           const std::uint32_t t = w.s[0] ^ (w.s[0] << 11);
                           w.s[0] = w.s[1], w.s[1] = w.s[2], w.s[2] = w.s[3];
                           return w.s[3] ^= (w.s[3] >> 19) ^ t ^ (t >> 8);
                         }),
      // xoshiro128+: like xoshiro128++ except for the scrambler; its lowest bit is linear (Blackman & Vigna 2021).
      stepped<FourWords>("xoshiro128+",
                         [](FourWords& w) {
                           auto& s = w.s;
                           const std::uint32_t result = s[0] + s[3], t = s[1] << 9;
                           s[2] ^= s[0], s[3] ^= s[1], s[1] ^= s[2], s[0] ^= s[3], s[2] ^= t;
                           s[3] = std::rotl(s[3], 11);
                           return result;
                         }),
      // 16 good bits, twice.
      stepped<OneWord>("twice16",
                       [](OneWord& w) {
                         w.s += 0x9e3779b9u;
                         return (std::uint32_t(thor::mix64(w.s)) >> 16) * 0x10001u;
                       }),
      // A counter of 16 bits.
      {"counter16",
       [](std::uint64_t, std::uint64_t id) -> Stream {
         return [k = std::uint32_t(id)]() mutable { return (k++ & 0xffffu) << 16; };
       }},
      // Park & Miller (1988) with a Marsaglia shift, 31 bits, seeded by the bare id as by ran(-id) of Numerical Recipes
      // in Fortran 90 (chapter B7), which RASCAS does for each photon: the first draws of neighbours are alike. The
      // 32nd
      // bit is a good one.
      {"minus_id",
       [](std::uint64_t, std::uint64_t id) -> Stream {
         const std::uint32_t i = std::uint32_t(id) + 1;
         return [x = 777755555u ^ i, y = std::minstd_rand0((888889999u ^ i) | 1u)]() mutable {
           x ^= x << 13, x ^= x >> 17, x ^= x << 5;
           return (x ^ std::uint32_t(y())) << 1 | (std::uint32_t(thor::mix64(x)) & 1u);
         };
       }},
      // SplitMix64 whose stream i is stream 0 from word i on.
      {"overlapping", [](std::uint64_t seed, std::uint64_t id) -> Stream {
         return [z = seed + golden * id]() mutable { return std::uint32_t(thor::mix64(z += golden) >> 32); };
       }}};
}

/// A generator of thor, or a weak one, by name.
inline Generator generator_named(const std::string& name) {
  for (const auto& generators : {thor_generators(), weak_generators()})
    for (const auto& generator : generators)
      if (generator.name == name) return generator;
  throw std::invalid_argument("no generator is called " + name);
}

/// The orders in which words of many streams become one sequence.
///   long          all of one stream
///   interleaved   word k of the streams 0 ... 2^14 - 1, then word k + 1: photons that move together
///   short         10 words of stream 0, 10 of stream 1, ...: photons that soon leave
///   first         the first word of stream 0, of stream 1, ...
///   seeds         the same for one id and neighbouring seeds
inline const std::vector<std::string> layouts = {"long", "interleaved", "short", "first", "seeds"};

class Words {
 public:
  Words(Generator generator, const std::string& layout, std::uint64_t seed)
      : generator_(std::move(generator)), layout_(layout), seed_(seed) {
    const std::size_t n = layout == "interleaved" ? 1u << 14 : layout == "long" ? 1 : 0;
    for (id_ = 0; id_ < n; ++id_) streams_.push_back(generator_.stream(seed, id_));
  }

  std::uint32_t next() {
    if (layout_ == "first") return generator_.stream(seed_, id_++)();
    if (layout_ == "seeds") return generator_.stream(seed_++, 0)();
    if (layout_ == "short") {
      if (used_++ % 10 == 0) streams_ = {generator_.stream(seed_, id_++)};
      return streams_[0]();
    }
    const std::uint32_t word = streams_[place_]();
    place_ = place_ + 1 == streams_.size() ? 0 : place_ + 1;
    return word;
  }

 private:
  Generator generator_;
  std::string layout_;
  std::uint64_t seed_, id_ = 0;
  std::vector<Stream> streams_;
  std::size_t place_ = 0, used_ = 0;
};

}  // namespace test
