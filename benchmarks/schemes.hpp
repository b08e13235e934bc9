#pragma once
#include "thor/distributions/parallel_velocity_schemes.hpp"
#include "thor/line/core_wing.hpp"
#include "thor/line/voigt_schemes.hpp"
#include "thor/random/philox.hpp"
#include "thor/random/sfc.hpp"
#include "thor/random/xoshiro.hpp"

/// The functions of the paper's appendix A, as measured by scheme_benchmark.cpp and .cu: each for_each calls
/// f(name, type) for every scheme of a family.
namespace thor::benchmark {

/// Voigt profiles: eval(a, x) gives H and e^{-x^2}.
template <class F>
void for_each_voigt(F f) {
  f("H82", VoigtH82{}), f("T06", VoigtT06{}), f("S15", VoigtS15{}), f("S18", VoigtS18{}), f("thor4", VoigtThor{}),
      f("thor", Voigt{});
}

/// Samplers of u_parallel: On<V>::make(a).propose(x, e^{-x^2}, draws, random).
template <template <class> class Sampler>
struct SamplerScheme {
  template <class V>
  using On = Sampler<V>;
};
template <bool squeezed>
struct ThorSampler {
  template <class V>
  struct On : ParallelVelocity<V> {
    using Draws = typename ParallelVelocity<V>::Draws;
    static THOR_FN On make(V a) {
      using Real = RealOf<V>;
      const V one(Real(1)), inverse = divide(one, a), reach = V(ParallelVelocity<V>::log_reach) * inverse;
      return {{a, inverse, log(fma(reach, reach, one))}};
    }
    template <class Random>
    THOR_FN auto propose(V x, V gaussian, const Draws& draws, Random& random) const {
      return ParallelVelocity<V>::template propose<squeezed>(x, gaussian, draws, random);
    }
  };
};
template <class F>
void for_each_sampler(F f) {
  f("S07", SamplerScheme<ParallelVelocityS07>{}), f("L09", SamplerScheme<ParallelVelocityL09>{});
  f("S15", SamplerScheme<ParallelVelocityS15>{}), f("D20", SamplerScheme<ParallelVelocityD20>{});
  f("SK20", SamplerScheme<ParallelVelocitySK20>{});
  f("thor", ThorSampler<false>{}), f("thor squeezed", ThorSampler<true>{});
}

/// One proposal, with words drawn as in a step.
template <class V, class Sampler, class Random>
THOR_FN auto propose(const Sampler& sampler, V x, V gaussian, Random& random) {
  const auto choice = random.next(), proposal = random.next();
  return sampler.propose(x, gaussian, typename Sampler::Draws(choice, proposal), random);
}

/// The core-wing boundary.
struct CoreWingS15 {
  template <class V>
  static THOR_FN V eval(V a) {
    return core_wing_s15(a);
  }
};
struct CoreWingB25 {
  template <class V>
  static THOR_FN V eval(V a) {
    return core_wing_b25(a);
  }
};
struct CoreWingB25Fast {
  template <class V>
  static THOR_FN V eval(V a) {
    return core_wing_b25_fast(a);
  }
};
struct CoreWingExact {
  template <class V>
  static THOR_FN V eval(V a) {
    return core_wing_exact(a);
  }
};
template <class F>
void for_each_core_wing(F f) {
  f("S15", CoreWingS15{}), f("B25", CoreWingB25{}), f("B25fast", CoreWingB25Fast{}), f("exact", CoreWingExact{});
}

/// Generators, from the four words that a lane keeps between steps.
struct UseXoshiro {
  template <class V>
  static THOR_FN Xoshiro128<V> resume(WordOf<V> s0, WordOf<V> s1, WordOf<V> s2, WordOf<V> s3) {
    return {s0, s1, s2, s3};
  }
};
struct UsePhilox {
  template <class V>
  static THOR_FN Philox4x32<V> resume(WordOf<V> s0, WordOf<V> s1, WordOf<V> s2, WordOf<V> s3) {
    return Philox4x32<V>::from_words(s0, s1, s2, s3);
  }
};
struct UseSfc {
  template <class V>
  static THOR_FN Sfc32<V> resume(WordOf<V> s0, WordOf<V> s1, WordOf<V> s2, WordOf<V> s3) {
    return {s0, s1, s2, s3};
  }
};
template <class F>
void for_each_generator(F f) {
  f("xoshiro128++", UseXoshiro{}), f("Philox4x32-10", UsePhilox{}), f("sfc32", UseSfc{});
}

/// Conversion of the words.
struct PlainWords {
  template <class V, class Random>
  static THOR_FN WordOf<V> next(Random& random) {
    return random.next();
  }
};
struct FixedUniforms {
  template <class V, class Random>
  static THOR_FN V next(Random& random) {
    return uniform_positive<V>(random.next());
  }
};
struct UnbiasedUniforms {
  template <class V, class Random>
  static THOR_FN V next(Random& random) {
    const auto word = random.next();
    return uniform_fine<V>(word, random.next());
  }
};

/// `count` words or numbers in one go, from and to the lane's four words; their sum.
template <class V, class Generator, class Kind, int count>
THOR_FN auto draw(WordOf<V>& s0, WordOf<V>& s1, WordOf<V>& s2, WordOf<V>& s3) {
  auto random = Generator::template resume<V>(s0, s1, s2, s3);
  auto sum = Kind::template next<V>(random);
  THOR_UNROLL
  for (int k = 1; k < count; ++k) sum = sum + Kind::template next<V>(random);
  const auto words = words_of(random);
  s0 = words.s0, s1 = words.s1, s2 = words.s2, s3 = words.s3;
  return sum;
}

}  // namespace thor::benchmark
