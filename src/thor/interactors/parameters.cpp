#include "thor/interactors/parameters.hpp"

#include "thor/config/section.hpp"

namespace thor::config {

const Section<Physics>& physics_section() {
  static const Section<Physics> section = [] {
    Section<Physics> s("Physics of a scattering.");
    using enum PhaseFunction;
    s.choice("phase_function", &Physics::phase_function,
             std::vector<Option<PhaseFunction>>{
                 {"default", default_,
                  "that of each transition in the line list; Lyα: 11/24 + μ²/8 for |x| < 0.2 in the atom's frame, "
                  "dipole elsewhere"},
                 {"isotropic", isotropic, "isotropic at all frequencies"},
                 {"dipole", dipole, "3/8 (1 + μ²) at all frequencies"},
             },
             {.meaning = "phase function: distribution of the scattering angle, μ = cos θ", .fallback = "default"});
    s.boolean("recoil", &Physics::recoil,
              {.meaning = "photons lose energy to the recoil of the atom", .fallback = "false"});
    s.number("deuterium", &Physics::deuterium, {.low = 0, .high = 1},
             {.meaning = "D/H number ratio: adds the Lyα line of deuterium; e.g. 2.5e-5", .fallback = "0"});
    return s;
  }();
  return section;
}

const Section<Numerics>& numerics_section() {
  static const Section<Numerics> section = [] {
    Section<Numerics> s(
        "Schemes of the most expensive functions ([what they are, and what they "
        "cost](contributing/critical-functions.md)). Other choices than the defaults run a slower, general kernel, "
        "which exists for `shell` and `slab` only.");
    s.choice("voigt", &Numerics::voigt,
             std::vector<Option<VoigtScheme>>{
                 {"default", VoigtScheme::default_,
                  "thor's series in a to the second order up to a = 0.02 (error up to 8e-5), `thor` up to 0.1, `S18` "
                  "above"},
                 {"thor", VoigtScheme::thor, "thor's series in a to the fourth order; error 2.2e-5 up to a = 0.1"},
                 {"H82", VoigtScheme::h82, "Humlicek (1982)"},
                 {"T06", VoigtScheme::t06, "Tasitsiomi (2006)"},
                 {"S15", VoigtScheme::s15, "Smith et al. (2015)"},
                 {"S18", VoigtScheme::s18, "Schreier (2018)"},
             },
             {.meaning = "Voigt profile", .fallback = "default"});
    s.choice("u_parallel", &Numerics::u_parallel,
             std::vector<Option<ParallelScheme>>{
                 {"thor", ParallelScheme::thor, "three envelopes, exact"},
                 {"S07", ParallelScheme::s07, "Semelin et al. (2007)"},
                 {"L09", ParallelScheme::l09, "Laursen et al. (2009)"},
                 {"S15", ParallelScheme::s15, "Smith et al. (2015); a Gaussian beyond x = 8"},
                 {"D20", ParallelScheme::d20, "Michel-Dansac et al. (2020); a Gaussian beyond x = 8"},
                 {"SK20", ParallelScheme::sk20, "Seon & Kim (2020), ratio of uniforms"},
             },
             {.meaning = "sampler of the atom's velocity along the photon", .fallback = "thor"});
    s.choice("core_wing", &Numerics::core_wing,
             std::vector<Option<CoreWingScheme>>{
                 {"exact", CoreWingScheme::exact, "Lambert W"},
                 {"S15", CoreWingScheme::s15, "Smith et al. (2015)"},
                 {"B25", CoreWingScheme::b25, "Byrohl & Nelson (2025)"},
                 {"B25fast", CoreWingScheme::b25_fast, "the same with a fast logarithm"},
             },
             {.meaning = "core-wing boundary x_cw", .fallback = "exact", .when = {"u_parallel", {"S15"}}});
    s.choice("generator", &Numerics::generator,
             std::vector<Option<RandomGenerator>>{
                 {"xoshiro128++", RandomGenerator::xoshiro, "Blackman & Vigna (2021)"},
                 {"philox4x32", RandomGenerator::philox, "counter-based, ten rounds (Salmon et al. 2011)"},
                 {"sfc32", RandomGenerator::sfc, "small fast counting (Doty-Humphrey)"},
             },
             {.meaning = "random number generator", .fallback = "xoshiro128++"});
    s.choice("uniform", &Numerics::uniform,
             std::vector<Option<Uniforms>>{
                 {"fixed", Uniforms::fixed, "multiples of 2^-32 from one word"},
                 {"unbiased", Uniforms::unbiased, "multiples of 2^-62 from two words, which resolve numbers near 0"},
             },
             {.meaning = "resolution of uniform random numbers in (0, 1]", .fallback = "fixed"});
    s.choice(
        "rejection", &Numerics::rejection,
        std::vector<Option<Rejection>>{
            {"full", Rejection::full, "exponential in full precision"},
            {"squeezed", Rejection::squeezed,
             "precision 1e-4 first, full precision only where needed: the same outcome"},
        },
        {.meaning = "acceptance test of u_parallel proposals", .fallback = "full", .when = {"u_parallel", {"thor"}}});
    return s;
  }();
  return section;
}

}  // namespace thor::config
