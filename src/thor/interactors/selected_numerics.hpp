#pragma once
#include "thor/distributions/parallel_velocity_schemes.hpp"
#include "thor/interactors/numerics.hpp"
#include "thor/interactors/parameters.hpp"
#include "thor/line/voigt_schemes.hpp"
#include "thor/random/philox.hpp"
#include "thor/random/sfc.hpp"

namespace thor {

/// A run that names schemes: they are chosen in the step, by a switch that is the same for all lanes. What holds such a
/// switch is a function of its own (THOR_NOINLINE): inlined wherever it is used, it took minutes to compile.
struct SelectedNumerics {
  config::Numerics choice;
};

inline namespace THOR_ISA {

/// A generator of either kind, its state in four words.
template <class V>
struct SelectedRandom {
  using Word = WordOf<V>;
  config::RandomGenerator kind;
  Word s0, s1, s2, s3;
  Word block[4]{};  ///< of Philox
  int used = 4;     ///< of the block

  THOR_NOINLINE Word next() {
    switch (kind) {
      case config::RandomGenerator::xoshiro:
        return advance(Xoshiro128<V>{s0, s1, s2, s3});
      case config::RandomGenerator::sfc:
        return advance(Sfc32<V>{s0, s1, s2, s3});
      case config::RandomGenerator::philox:
        break;
    }
    if (used == 4) {
      auto philox = Philox4x32<V>::from_words(s0, s1, s2, s3);
      philox.refill();
      for (int i = 0; i < 4; ++i) block[i] = philox.block[i];
      take(philox.to_words());
      used = 0;
    }
    return block[used++];
  }

 private:
  template <class State>
  THOR_FN void take(const State& state) {
    s0 = state.s0, s1 = state.s1, s2 = state.s2, s3 = state.s3;
  }
  template <class Generator>
  THOR_FN Word advance(Generator generator) {
    const Word word = generator.next();
    take(generator);
    return word;
  }
};

template <class V>
THOR_FN const SelectedRandom<V>& words_of(const SelectedRandom<V>& random) {
  return random;
}
/// The rest of a begun block is dropped, so that the lanes stay in step.
template <class M, class V>
THOR_FN SelectedRandom<V> select(M m, const SelectedRandom<V>& a, const SelectedRandom<V>& b) {
  return {a.kind, select(m, a.s0, b.s0), select(m, a.s1, b.s1), select(m, a.s2, b.s2), select(m, a.s3, b.s3)};
}

struct SelectedSchemes {
  const config::Numerics& choice;

  template <class V>
  using Random = SelectedRandom<V>;

  /// What the proposals of any scheme draw.
  template <class V>
  struct ParallelDraws {
    typename ParallelVelocity<V>::Draws thor;
    ParallelUniforms<V> others;

    ParallelDraws() = default;
    THOR_FN ParallelDraws(V choice, V r, WordOf<V> word) : thor(choice, r, word), others(choice, r, word) {}
  };

  template <class V>
  THOR_FN Random<V> start(const StreamKey& key) const {
    using Word = WordOf<V>;  // every generator takes the four words of the key as its state
    return resume<V>(Word(key.word[0]), Word(key.word[1]), Word(key.word[2]), Word(key.word[3]));
  }
  template <class V>
  THOR_FN Random<V> resume(WordOf<V> s0, WordOf<V> s1, WordOf<V> s2, WordOf<V> s3) const {
    return {choice.generator, s0, s1, s2, s3};
  }

  template <class V>
  THOR_FN V positive(WordOf<V> word, Random<V>& random) const {
    if (choice.uniform == config::Uniforms::unbiased) return uniform_fine<V>(word, random.next());
    return uniform_positive<V>(word);
  }

  template <class V>
  THOR_NOINLINE VoigtProfile<V> voigt(V a, V x) const {
    switch (choice.voigt) {
      case config::VoigtScheme::h82:
        return VoigtH82::eval(a, x);
      case config::VoigtScheme::t06:
        return VoigtT06::eval(a, x);
      case config::VoigtScheme::s15:
        return VoigtS15::eval(a, x);
      case config::VoigtScheme::s18:
        return VoigtS18::eval(a, x);
      case config::VoigtScheme::thor:
      case config::VoigtScheme::default_:
        break;
    }
    return VoigtThor::eval(a, x);
  }

  template <class V>
  THOR_FN V core_wing(V a) const {
    switch (choice.core_wing) {
      case config::CoreWingScheme::s15:
        return core_wing_s15(a);
      case config::CoreWingScheme::b25:
        return core_wing_b25(a);
      case config::CoreWingScheme::b25_fast:
        return core_wing_b25_fast(a);
      case config::CoreWingScheme::exact:
        break;
    }
    return core_wing_exact(a);
  }

  template <class V>
  THOR_NOINLINE ParallelProposal<V> propose(const ParallelVelocity<V>& distribution, V x, V gaussian,
                                            const ParallelDraws<V>& draws, Random<V>& random) const {
    const auto by = [&](const auto& scheme) -> ParallelProposal<V> {
      const auto proposal = scheme.propose(x, gaussian, draws.others, random);
      return {proposal.u, proposal.accepted};
    };
    switch (choice.u_parallel) {
      case config::ParallelScheme::s07:
        return by(ParallelVelocityS07<V>::from(distribution));
      case config::ParallelScheme::l09:
        return by(ParallelVelocityL09<V>::from(distribution));
      case config::ParallelScheme::s15: {
        auto scheme = ParallelVelocityS15<V>::from(distribution);
        scheme.x_cw = core_wing(distribution.a);
        return by(scheme);
      }
      case config::ParallelScheme::d20:
        return by(ParallelVelocityD20<V>::from(distribution));
      case config::ParallelScheme::sk20:
        return by(ParallelVelocitySK20<V>::from(distribution));
      case config::ParallelScheme::thor:
        break;
    }
    const auto proposal = choice.rejection == config::Rejection::squeezed
                              ? distribution.template propose<true>(x, gaussian, draws.thor, random)
                              : distribution.propose(x, gaussian, draws.thor, random);
    return {proposal.u, proposal.accepted};
  }
};
THOR_FN SelectedSchemes schemes(const SelectedNumerics& numerics) { return {numerics.choice}; }

}  // namespace THOR_ISA
}  // namespace thor
