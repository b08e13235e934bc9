#include "thor/interactors/parameters.hpp"

#include "thor/config/section.hpp"

namespace thor::config {

const Section<Physics>& physics_section() {
  static const Section<Physics> section = [] {
    Section<Physics> s("What a scattering does.");
    using enum PhaseFunction;
    s.choice("phase_function", &Physics::phase_function,
             std::vector<Option<PhaseFunction>>{
                 {"default", default_, "11/24 + μ²/8 for |x| < 0.2 in the atom's frame, dipole elsewhere"},
                 {"isotropic", isotropic, "at all frequencies"},
                 {"dipole", dipole, "3/8 (1 + μ²) at all frequencies"},
             },
             {.meaning = "of the angle between the directions before and after", .fallback = "default"});
    s.boolean("recoil", &Physics::recoil, {.meaning = "recoil of the atom", .fallback = "false"});
    return s;
  }();
  return section;
}

}  // namespace thor::config
