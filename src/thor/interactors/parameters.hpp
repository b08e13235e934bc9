#pragma once

namespace thor::config {

template <class T>
class Section;

enum class PhaseFunction { default_, isotropic, dipole };

struct Physics {
  PhaseFunction phase_function = PhaseFunction::default_;
  bool recoil = false;

  bool operator==(const Physics&) const = default;
};

const Section<Physics>& physics_section();

}  // namespace thor::config
