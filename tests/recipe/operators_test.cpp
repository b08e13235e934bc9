// The operators of docs/contributing/operator.md, run from a configuration. Each is a header, a source and an entry of
// the list (tests/CMakeLists.txt adds the entries to a copy of list.hpp), and the library that they are linked with was
// built without them.
#include <gtest/gtest.h>

#include <filesystem>

#include "thor/core/error.hpp"
#include "thor/drivers/rays/raytrace.hpp"
#include "thor/io/array/input.hpp"

namespace {

using namespace thor;

constexpr std::size_t side = 8;
constexpr double cell = 1e21;

double value_at(std::size_t x, std::size_t y, std::size_t z) { return double((7 * x + 3 * y + 5 * z * z) % 16) + 0.5; }

/// A folder with a grid.
class Recipe : public testing::TestWithParam<std::tuple<std::string, int>> {
 public:
  Recipe() : folder(std::filesystem::temp_directory_path() / fmt::format("thor_recipe_{}", getpid())) {
    std::filesystem::create_directories(folder);
    std::vector<double> values;
    for (std::size_t i = 0; i < side * side * side; ++i) {
      values.push_back(value_at(i / (side * side), i / side % side, i % side));
    }
    io::ArrayOutput file(folder / "grid.h5");
    file.write<double>("/heat", values, {side, side, side}, "K", "some numbers");
    for (const char* name : {"origin_x", "origin_y", "origin_z"}) file.attribute("/", name, -0.5 * double(side) * cell);
    for (const char* name : {"periodic", "redshift", "hubble"}) file.attribute("/", name, 0.);
    file.attribute("/", "cell_size", cell);
    file.commit();
  }
  ~Recipe() override { std::filesystem::remove_all(folder); }

  /// The result of a configuration with one operator.
  std::vector<double> run(const std::string& op, const std::string& array) const {
    const std::string text = fmt::format(
        "driver: raytrace\n"
        "precision: {}\n"
        "dataset: {{type: uniform_grid, path: grid.h5}}\n"
        "cameras: [{{name: face, direction: [0, 0, 1], up: [0, 1, 0], width: 8e21 cm, pixels: 8}}]\n"
        "operators: [{{{}}}]\n"
        "output: {{path: out.h5}}\n",
        std::get<0>(GetParam()), op);
    const config::Raytrace config =
        config::check_raytrace(config::parse_document(text, (folder / "rays.yaml").string()));
    RunOptions options;
    options.output = config.output_path, options.quiet = options.overwrite = true, options.device = "cpu";
    options.cpu.threads = 2, options.domains.count = std::get<1>(GetParam());
    EXPECT_EQ(run_raytrace(config, options), ExitCode::done);
    return io::Input(config.output_path).read_all<double>(array);
  }

  const std::filesystem::path folder;
};

TEST_P(Recipe, ImageOperator) {
  const std::vector<double> image = run("type: most, name: peak, camera: face, field: heat", "/images/peak/value");
  ASSERT_EQ(image.size(), side * side);
  for (std::size_t y = 0; y < side; ++y) {
    for (std::size_t x = 0; x < side; ++x) {
      double most = 0;
      for (std::size_t z = 0; z < side; ++z) most = std::max(most, value_at(x, y, z));
      EXPECT_EQ(image[y * side + x], most) << x << ", " << y;
    }
  }
}

TEST_P(Recipe, SightlineOperator) {
  const std::vector<double> lengths = run(
      "type: paths, name: run, field: heat, low: 0, high: 16, bins: 16, sightlines: {grid: 8}", "/paths/run/length");
  ASSERT_EQ(lengths.size(), side * side * 16);
  for (std::size_t y = 0; y < side; ++y) {
    for (std::size_t x = 0; x < side; ++x) {
      std::vector<double> expected(16);
      for (std::size_t z = 0; z < side; ++z) expected[std::size_t(value_at(x, y, z))] += cell;
      const std::size_t sightline = y * side + (side - 1 - x);  // to the right of one who looks along z
      for (std::size_t b = 0; b < 16; ++b) EXPECT_NEAR(lengths[sightline * 16 + b], expected[b], 1e-5 * cell);
    }
  }
}

/// Their keys are checked and named in messages, as those of all operators.
TEST_P(Recipe, Messages) {
  try {
    run("type: paths, name: run, field: heat, low: 0, high: 16, bin: 16, sightlines: {grid: 8}", "");
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("did you mean \"bins\""), std::string::npos) << e.what();
  }
  try {
    run("type: must, name: peak, camera: face, field: heat", "");
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("most"), std::string::npos) << e.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, Recipe,
                         testing::Combine(testing::Values(std::string("single"), std::string("double")),
                                          testing::Values(1, 3)));

}  // namespace
