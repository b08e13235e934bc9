#include "thor/outputs/cube.hpp"

#include <gtest/gtest.h>

#include "thor/outputs/tally.hpp"

using namespace thor;

namespace {

TEST(CubeOutput, HasChannelsFirst) {
  CubeOutput output;
  output.name = "ifu", output.sight.observer = "face", output.width = 2, output.pixels = 2;
  output.axis = config::Axis::x, output.low = -3, output.high = 3, output.bins = 3;
  const OutputContext context{[](const std::string&) {
                                return FrequencyAxis{1e6, 1215.67e-8};
                              },
                              1,
                              {{"face", {0, 0, 2}, {0, 1, 0}}}};
  Tally tally({output}, context, 100, 100);
  TallyPart part(tally);
  const auto see = [&](double x, double y, double frequency, double light) {
    part.accept(Seen{3, 0, false, light, frequency, {x, y, 0.7}, 0});
  };
  see(0.5, -0.5, -2, 1);   // the first channel, below, right
  see(-0.5, 0.5, 2.5, 2);  // the last one, above, left
  see(0.5, 0.5, 3.5, 4);   // beyond the last
  see(0.5, 1.5, 0, 8);     // beside the image
  part.join_histories({});
  tally.merge(part);
  const BinnedLight light = tally.binned(0);
  ASSERT_EQ(light.light.size(), 12u);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_NEAR(light.light[i], i == 1 ? 1 : i == 10 ? 2 : 0, 1e-12) << i;
  EXPECT_NEAR(light.beyond, 12, 1e-12);
}

}  // namespace
