#include "thor/interactors/jump_tables.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "thor/core/error.hpp"
#include "thor/datasets/width.hpp"
#include "thor/interactors/multiplet.hpp"

namespace {

using namespace thor;

/// A file of the program's own tables, which a test may damage.
struct JumpFile : testing::Test {
  std::string path = (std::filesystem::temp_directory_path() / ("jumps_" + std::to_string(getpid()))).string();
  std::string bytes;
  void SetUp() override {
    JumpTables::built_in().write(path);
    std::ifstream file(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  void TearDown() override { std::filesystem::remove(path); }

  std::string refusal() {
    std::ofstream(path, std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
    try {
      JumpTables::read(path);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::input);
      EXPECT_NE(std::string(e.what()).find(path), std::string::npos) << "which file: " << e.what();
      return e.what();
    }
    return "";
  }
};

TEST_F(JumpFile, IsReadAsItWasWritten) {
  ASSERT_EQ(refusal(), "");
  const JumpTables again = JumpTables::read(path), own = JumpTables::built_in();
  EXPECT_EQ(again.axes(), own.axes());
  const auto a = again.view<float>(99), b = own.view<float>(99);
  ASSERT_EQ(a.exits.count, b.exits.count);
  EXPECT_EQ(std::memcmp(a.exits.data, b.exits.data, 4 * a.exits.count), 0);
  EXPECT_EQ(std::memcmp(a.frequency.data, b.frequency.data, 4 * a.frequency.count), 0);
}
TEST_F(JumpFile, FaultsAreTold) {
  const std::string good = bytes;
  bytes = good.substr(0, good.size() / 2);
  EXPECT_NE(refusal().find("should have"), std::string::npos);
  bytes = good.substr(0, 10);
  EXPECT_NE(refusal().find("not a file of sphere jumps"), std::string::npos);
  bytes = "";
  EXPECT_NE(refusal().find("cannot be read"), std::string::npos);
  bytes = good, bytes[3] = 'x';
  EXPECT_NE(refusal().find("not a file of sphere jumps"), std::string::npos);
  bytes = good, bytes[16] = 9;
  EXPECT_NE(refusal().find("version is 9"), std::string::npos);
  bytes = good, bytes[20] = 9;
  EXPECT_NE(refusal().find("layout"), std::string::npos);
  bytes = good, bytes[good.size() / 2] ^= 1;
  EXPECT_NE(refusal().find("checksum"), std::string::npos);
  std::filesystem::remove(path);
  EXPECT_THROW(JumpTables::read(path), Error);
}

TEST(JumpTables, CoverTheGasOfGalaxies) {
  const JumpAxes axes = JumpTables::built_in().axes();
  EXPECT_NEAR(axes.a(0), 1e-5, 1e-12);
  EXPECT_NEAR(axes.a(axes.a_count - 1), 0.1, 1e-6);
  EXPECT_DOUBLE_EQ(axes.depth(0), 30);
  EXPECT_GT(axes.depth(axes.depth_count - 1), 9e5);
}

TEST(JumpTables, TheLargestThatFitsIsTaken) {
  const JumpTables tables = JumpTables::built_in();
  const auto data = tables.view<double>(99);
  const auto jumps = view<double>(data);
  for (const double depth : {30.001, 94., 95., 1e3, 7.7e4, 1e9}) {
    const auto place = jumps.place(depth, 4.7e-4);
    ASSERT_TRUE(place.exists) << depth;
    const double table = depth * place.shrink;
    EXPECT_LE(table, depth);
    EXPECT_TRUE(table > depth / 3.17 || depth > 3e6) << depth;
    EXPECT_NEAR(2 * std::log10(table / 30), std::round(2 * std::log10(table / 30)), 1e-9) << "at a node";
  }
  EXPECT_FALSE(jumps.place(29.9, 4.7e-4).exists);
  EXPECT_FALSE(jumps.place(1e3, 0.9e-5).exists);
  EXPECT_FALSE(jumps.place(1e3, 0.11).exists);
  EXPECT_TRUE(jumps.place(1e3, 1.0001e-5).exists && jumps.place(1e3, 0.0999).exists);
  const auto few = tables.view<double>(2);
  EXPECT_NEAR(view<double>(few).place(1e6, 1e-3).shrink * 1e6, 30 * std::sqrt(10.), 1e-6) << "no larger than asked for";
}

TEST(JumpTables, DeepSpheresFitTheRoom) {
  const JumpTables tables = JumpTables::built_in();
  ASSERT_TRUE(tables.has_deep());
  auto data = tables.view<double>(99);
  data.deep_depth = 1e30;
  const auto jumps = view<double>(data);
  constexpr double a = 4.7e-4;
  const auto core = jumps.place(1e8, a, 0.3, false);
  EXPECT_TRUE(core.exists && core.deep);
  EXPECT_NEAR(core.shrink, 1, 1e-9) << "all of the room";
  EXPECT_NEAR(core.width, std::cbrt(1e8 * a), 1e-6);
  EXPECT_FALSE(jumps.place(1e7, a, 0.3, false).deep) << "a tau < 1e4 depends on a";
  for (const double x : {7., -20., 60., 300.}) {
    for (const double depth : {1e7, 1e8, 1e9, 1e11}) {
      const auto place = jumps.place(depth, a, x, true);
      const double optical_depth = a * depth / std::sqrt(M_PI) / (x * x);  // of the room, in the wing
      if (optical_depth > 4 && a * depth > 6000) {
        ASSERT_TRUE(place.exists && place.deep) << x << ", " << depth;
      }
      if (optical_depth < 2) {
        EXPECT_FALSE(place.exists) << x << ", " << depth;
      }
      if (!place.exists) continue;
      EXPECT_LE(place.shrink, 1.000001);
      EXPECT_NEAR(place.width * place.width * place.width / (a * depth * place.shrink), x > 0 ? 1 : -1, 1e-6);
      EXPECT_NEAR(x / place.width, deep_xi(int(place.depth)), 1e-6) << "at a node";
      EXPECT_TRUE(place.shrink > 0.49 || place.depth == 1) << "the largest that fits";
    }
  }
  EXPECT_FALSE(jumps.place(1e9, a, 5, true).exists) << "too near the core";
  data.deep_depth = 1e7;
  EXPECT_LE(jumps.place(1e9, a, 20, true).radius, 1e7 * 1.000001) << "no larger than asked for";
}

TEST_F(JumpFile, OfTheFirstVersionHasNoDeepTables) {
  const JumpTables own = JumpTables::built_in();
  JumpTables core(own.axes());
  for (int i = 0; i < own.axes().a_count; ++i) {
    for (int k = 0; k < own.axes().depth_count; ++k) core.add(own.node(i, k));
  }
  core.write(path);
  const JumpTables again = JumpTables::read(path);
  EXPECT_FALSE(again.has_deep());
  EXPECT_EQ(again.view<float>(99).deep, 0);
  EXPECT_EQ(again.view<float>(99).exits.count, 4u * 17 * 11 * jump_exits);
}

/// Recoil moves light to the red, by the share that the numbers at the end of a row give.
TEST(JumpTables, RecoilMakesExitsRed) {
  const JumpTables tables = JumpTables::built_in();
  auto data = tables.view<double>(99);
  data.deep_depth = 1e30, data.recoils = 1;
  const auto jumps = view<double>(data);
  std::mt19937 random(2);
  for (const double depth : {1e3, 1e8}) {
    auto place = jumps.place(depth, 1e-3, 0., false);
    const auto red_share = [&](double g) {
      place.recoil = g;
      int red = 0;
      for (int i = 0; i < 20000; ++i) red += jumps.draw(place, random(), random(), random(), random()).x < 0;
      return red / 20000.;
    };
    const double width = depth > 1e6 ? place.width : 3;
    EXPECT_NEAR(red_share(0), 0.5, 0.02);
    EXPECT_NEAR(red_share(0.2 / width), 0.5 + 0.1 * 1.5, 0.05) << depth;
    EXPECT_LT(red_share(-0.2 / width), 0.42) << depth;
  }
}

/// Exits with a known joint distribution: |x| uniform, path and angle that follow it.
TEST(JumpNode, KeepsWhatItWasMadeOf) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(0, 1);
  std::vector<SphereExit> exits;
  double path = 0;
  for (int i = 0; i < 200000; ++i) {
    const float u = uniform(random), tail = -std::log(1 - 0.999f * uniform(random));
    exits.push_back({1 + u, uniform(random), 100 * (1 + u + tail), 50 * (1 + u + tail), 2 * uniform(random)});
    path += double(exits.back().path);
  }
  path /= double(exits.size());
  JumpTables tables({2, 1, 1e-4, 10, 100, 3});
  const JumpNode node = JumpNode::from(exits, 100);
  ASSERT_EQ(node.frequency.size(), std::size_t(jump_knots));
  ASSERT_EQ(node.exits.size(), std::size_t(jump_exits));
  tables.add(node), tables.add(node);
  const auto data = tables.view<float>(1);
  const auto jumps = view<float>(data);
  const auto place = jumps.place(120, 3e-4f);
  double mean_x = 0, square_x = 0, mean_path = 0, both = 0, mean_mu = 0;
  int blue = 0;
  constexpr int count = 400000;
  for (int i = 0; i < count; ++i) {
    const auto draw = jumps.draw(place, random(), random(), random(), random());
    const double x = std::abs(double(draw.x)), p = 100 * double(draw.path_factor);
    mean_x += x / count, square_x += x * x / count, mean_path += p / count, both += x * p / count;
    mean_mu += double(draw.mu) / count, blue += draw.x > 0;
    ASSERT_NEAR(double(draw.scatterings), p / 2, 0.01 * p);
  }
  EXPECT_NEAR(mean_x, 1.5, 0.002);
  EXPECT_NEAR(square_x - mean_x * mean_x, 1. / 12, 0.001);
  EXPECT_NEAR(mean_path / path, 1, 0.003);
  EXPECT_NEAR((both - mean_x * mean_path) / 100, 1. / 12, 0.005) << "paths go with their frequencies";
  EXPECT_NEAR(mean_mu, 0.5, 0.03) << "their shape is that of light that leaves a surface";
  EXPECT_NEAR(blue, count / 2, 4 * std::sqrt(count / 4.));
}

// Two lines 120 thermal widths apart in gas of the run's temperature; in hotter cells they are closer.
TEST(Jumps, KeepClearOfTheOtherLineInTheGasOfACell) {
  Multiplet<double> line{};
  line.transitions = 2;
  for (int i = 0; i < 2; ++i) {
    line.transition[i].a = 1e-3, line.transition[i].inv_a = 1e3, line.transition[i].clearance = i == 0 ? 120 : 0;
  }
  const auto interactor = view<double>(line);
  const auto depth = [&](int transition, double width) {
    return interactor.jump_depth(interactor.target(0., transition, CellWidth<double>{width, 1 / width}));
  };
  EXPECT_NEAR(8 * std::cbrt(1e-3 * depth(0, 1)), 60, 1e-9) << "exits end in the middle";
  EXPECT_NEAR(8 * std::cbrt(1e-3 / 2 * depth(0, 2)), 30, 1e-9) << "of a cell twice as broad, with half the a";
  EXPECT_EQ(depth(0, 3.1), 0) << "less than 40 widths";
  EXPECT_EQ(depth(1, 1), 0) << "the upper level can decay otherwise";
}

}  // namespace
