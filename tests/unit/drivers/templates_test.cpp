#include "thor/drivers/templates.hpp"

#include <gtest/gtest.h>

#include "thor/core/error.hpp"
#include "thor/drivers/mcrt/config.hpp"
#include "thor/drivers/mcrt/estimate.hpp"
#include "thor/drivers/rays/config.hpp"

namespace thor {
namespace {

std::string text_of(const Template& t) {
  return t.text(t.driver() == config::Driver::raytrace ? config::raytrace_schema() : config::schema());
}

config::Raytrace read_rays(const std::string& text) {
  return config::check_raytrace(config::parse_document(text, "f.yaml"));
}

TEST(Templates, AllAreWrittenAndRead) {
  ASSERT_GE(templates().size(), 5u);
  for (const Template& t : templates()) {
    SCOPED_TRACE(t.name);
    const std::string text = text_of(t);
    if (t.name == "rays") {  // of another driver
      const config::Raytrace written = read_rays(text);
      EXPECT_EQ(written.resolved, read_rays(t.yaml).resolved);
      EXPECT_EQ(written.resolved, read_rays(written.resolved).resolved);
      EXPECT_EQ(written.operators.size(), 5u);
    } else if (t.name == "galaxy") {  // needs a grid
      try {
        config::parse(text, "f.yaml");
        FAIL() << "the grid must not exist";
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), ExitCode::input);
        EXPECT_NE(std::string(e.what()).find("galaxy_grid.h5"), std::string::npos);
      }
    } else {
      const config::Config written = config::parse(text, "f.yaml"), plain = config::parse(t.yaml, "f.yaml");
      EXPECT_EQ(written, plain);  // comments change nothing
      EXPECT_EQ(written.output_path, t.name + ".h5");
    }
    EXPECT_EQ(text.find("]("), std::string::npos) << "a link of Markdown";
    const std::string listed = t.title.substr(0, t.title.find('\n'));
    EXPECT_TRUE(listed.ends_with('.')) << listed;
    for (std::size_t start = 0, end; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
      EXPECT_LE(end - start, 160u) << text.substr(start, end - start);
    }
  }
}

/// What a comment shows of a map that is left out can be given as it is: of alternatives it shows one.
TEST(Templates, AMapThatIsLeftOutIsShownAsItCanBeGiven) {
  const std::string text = text_of(find_template("shell"));
  const std::size_t at = text.find("# sky: {"), end = text.find('}', at);
  ASSERT_NE(at, std::string::npos);
  const config::Config config = config::parse(text, "f.yaml", {"sky=" + text.substr(at + 7, end - at - 6)});
  ASSERT_TRUE(config.sky);
  EXPECT_EQ(config.sky->redshift, 2);
}

TEST(Templates, UnknownNameGivesTheNearest) {
  try {
    find_template("shel");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::usage);
    EXPECT_NE(std::string(e.what()).find("did you mean \"shell\"?"), std::string::npos);
  }
}

config::Config thin_sphere(const char* tau0) {
  return config::parse(
      std::string("line: Lya\ndataset: {type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: ") + tau0 +
          "}\ngenerators: [{type: point, photons: 100000}]\nacceleration: {core_skip: none}\noutput: {path: x.h5}\n",
      "f.yaml");
}

TEST(Estimate, CountsTheScatteringsOfATrial) {
  const auto config = thin_sphere("1e3");
  const Estimate e = estimate(config, build_setup(config), {2, false, ""});
  EXPECT_GT(e.finished, 100u);
  EXPECT_GT(e.steps_per_second, 1e4);
  // Mean number of scatterings of a static sphere at tau0 = 1e3: a few times tau0.
  EXPECT_GT(e.scatterings, 500);
  EXPECT_LT(e.scatterings, 5000);
  EXPECT_NEAR(e.seconds, e.scatterings * 1e5 / e.steps_per_second, 0.2 * e.seconds);
}

TEST(Estimate, OfHistoriesThatDoNotEndIsALowerLimit) {
  const auto config = thin_sphere("1e12");
  const Estimate e = estimate(config, build_setup(config), {1, false, ""});
  EXPECT_EQ(e.finished, 0u);
  EXPECT_GT(e.scatterings, 0);
}

TEST(Derived, AgreeWithTheFormulas) {
  const auto config = thin_sphere("1e6");
  for (const Derived& d : derived_quantities(config, build_setup(config))) {
    // v_th = 12.845 sqrt(T/1e4 K) km/s, a = 4.72e-4, sigma_0 = 5.90e-14 cm^2 (e.g. Dijkstra 2014, PASA 31, 40)
    if (d.name == "thermal_speed") {
      EXPECT_NEAR(d.value, 12.85, 0.01);
    }
    if (d.name == "voigt_parameter") {
      EXPECT_NEAR(d.value, 4.72e-4, 1e-6);
    }
    if (d.name == "column_density") {
      EXPECT_NEAR(d.value / (1e6 / 5.90e-14), 1, 1e-3);
    }
  }
}

}  // namespace
}  // namespace thor
