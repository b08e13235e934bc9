#include "thor/interactors/build.hpp"

#include <gtest/gtest.h>

#include "thor/drivers/mcrt/config.hpp"
#include "thor/drivers/mcrt/setup.hpp"

namespace build_test {

using namespace thor;

ResonantLine<double> lya(const std::string& physics) {
  const auto config = config::parse(
      "line: Lya\ndataset: {type: slab, half_thickness: 1 kpc, temperature: 1e4 K, tau0: 10}\ngenerators: [{type: "
      "point, "
      "photons: 1}]\noutput: {path: x.h5}\nphysics: {" +
          physics + "}\n",
      "test");
  const auto setup = build_setup(config);
  return build_resonant_line<double>(setup.line, setup.medium, config.physics);
}

// 11/24 + mu^2/8 in the core is a third of a dipole, and all of one in the wing.
TEST(BuildLine, PhaseFunctionsOfCoreAndWing) {
  const auto usual = lya("phase_function: default");
  EXPECT_NEAR(usual.core.quarter_E, 1. / 12, 1e-9);
  EXPECT_NEAR(usual.wing.quarter_E, 1. / 4, 1e-9);
  for (const auto& [name, E] : {std::pair{"isotropic", 0.}, {"dipole", 1.}}) {
    const auto line = lya(std::string("phase_function: ") + name);
    EXPECT_NEAR(line.core.quarter_E, E / 4, 1e-9) << name;
    EXPECT_NEAR(line.wing.quarter_E, E / 4, 1e-9) << name;
  }
}

// h nu_0/(m c v_th) = 2.54e-4 at 1e4 K, if requested; a = 4.72e-4.
TEST(BuildLine, RecoilAndDamping) {
  EXPECT_NEAR(lya("recoil: true").recoil, 2.54e-4, 0.01e-4);
  EXPECT_EQ(lya("recoil: false").recoil, 0);
  EXPECT_NEAR(lya("recoil: false").a, 4.72e-4, 0.01e-4);
}

}  // namespace build_test
