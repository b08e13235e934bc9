#include "thor/drivers/mcrt/core_skip.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "thor/core/message.hpp"
#include "thor/drivers/templates.hpp"

namespace thor {
namespace {

Medium medium(const std::string& dataset) {
  const config::Config config = config::parse(
      "line: Lya\ndataset: {" + dataset +
          ", temperature: 1e4 K}\ngenerators: [{type: point, photons: 1, luminosity: 1 erg/s}]\noutput: {path: o.h5}\n",
      "f.yaml");
  return build_setup(config).medium;
}

double largest(const std::string& dataset) {
  return supported_core_skip(comm::World(comm::World::Alone{}), medium(dataset), 3, 1).largest;
}

TEST(SupportedCoreSkip, IsTheLocalCriterionWhereItIsLargest) {
  const std::string sphere = "type: shell, outer_radius: 1 kpc, tau0: 1e7";
  const double a = medium(sphere).a, centre = 0.2 * std::cbrt(a * 1e7);
  EXPECT_NEAR(largest(sphere), centre, 1e-3);
  EXPECT_NEAR(largest("type: slab, half_thickness: 1 kpc, tau0: 1e7"), centre, 1e-3);
  // Half-way through a shell; there is nowhere twice the optical depth.
  EXPECT_NEAR(largest(sphere + ", inner_radius: 0.9 kpc"), 0.2 * std::cbrt(a * 0.5e7), 1e-3);
  // v = 20 v_th r: a twentieth of the radius is a thermal width.
  const double v = 20 * medium(sphere).thermal_speed / 1e5;
  EXPECT_NEAR(largest(sphere + fmt::format(", velocity: {{profile: linear, max: {} km/s}}", v)),
              0.2 * std::cbrt(a * 1e7 / 20), 1e-3);
  EXPECT_EQ(largest("type: shell, outer_radius: 1 kpc, tau0: 1e3"), 0);
}

TEST(SupportedCoreSkip, TemplatesAskForNoMore) {
  for (const Template& t : templates()) {
    if (t.name == "galaxy" || t.name == "rays") {  // need a grid
      EXPECT_EQ(t.yaml.find("core_skip"), std::string::npos);
      continue;
    }
    const config::Config config = config::parse(t.yaml, "f.yaml");
    forget_warnings();
    warn_of_core_skip(config, build_setup(config), comm::World(comm::World::Alone{}), 1);
    EXPECT_TRUE(warnings_said().empty()) << t.name;
  }
}

}  // namespace
}  // namespace thor
