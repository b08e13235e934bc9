#pragma once

namespace thor::config {

template <class T>
class Section;

enum class PhaseFunction { default_, isotropic, dipole };

struct Physics {
  PhaseFunction phase_function = PhaseFunction::default_;
  bool recoil = false;
  double deuterium = 0;  ///< atoms per hydrogen atom

  bool operator==(const Physics&) const = default;
};

/// The schemes of the functions that decide the speed (docs/contributing/critical-functions.md).
enum class VoigtScheme { default_, thor, h82, t06, s15, s18 };
enum class ParallelScheme { thor, s07, l09, s15, d20, sk20 };
enum class CoreWingScheme { exact, s15, b25, b25_fast };
enum class RandomGenerator { xoshiro, philox, sfc };
enum class Uniforms { fixed, unbiased };
enum class Rejection { full, squeezed };

struct Numerics {
  VoigtScheme voigt = VoigtScheme::default_;
  ParallelScheme u_parallel = ParallelScheme::thor;
  CoreWingScheme core_wing = CoreWingScheme::exact;
  RandomGenerator generator = RandomGenerator::xoshiro;
  Uniforms uniform = Uniforms::fixed;
  Rejection rejection = Rejection::full;

  bool operator==(const Numerics&) const = default;
};

const Section<Physics>& physics_section();
const Section<Numerics>& numerics_section();

}  // namespace thor::config
