#include "thor/outputs/image.hpp"

#include <gtest/gtest.h>

#include "thor/outputs/tally.hpp"

using namespace thor;

namespace image_test {

/// An observer on the x axis, for whom y is to the right and z upward; a lane's unit of length is 2 cm.
OutputContext context() {
  return {[](const std::string&) { return FrequencyAxis{1e6, 1215.67e-8}; }, 2, {{"edge", {3, 0, 0}, {0, 0, 1}}}};
}
ImageOutput image() {
  ImageOutput output;
  output.name = "sb", output.width = 8, output.pixels = 4;
  output.sight.observer = "edge", output.sight.centre = {5, 1, 0};
  return output;
}
Seen seen(double y, double z, double light = 1, int observer = 0, bool emitted = false) {
  return {7, observer, emitted, light, 0, {0, y / 2, z / 2}, 0};
}

TEST(ImageOutput, HasRowsUpwardAndColumnsToTheRight) {
  Tally tally({image()}, context(), 100, 100);
  TallyPart part(tally);
  part.accept(seen(1 - 3.9, -3.9));     // the lower left corner: y is from the centre at 1 cm
  part.accept(seen(1 + 3.9, -3.9, 2));  // the lower right one
  part.accept(seen(1 + 0.1, 3.9, 3));   // at the top, just right of the middle
  part.accept(seen(1 + 4.1, 0, 5));     // beside the image
  part.accept(seen(1, 0, 7, 1));        // what another observer sees
  part.accept(seen(1, 0, 7, 0, true));  // without transfer
  part.join_histories({});
  tally.merge(part);
  const BinnedLight light = tally.binned(0);
  ASSERT_EQ(light.light.size(), 16u);
  for (std::size_t i = 0; i < 16; ++i)
    EXPECT_NEAR(light.light[i], i == 0 ? 1 : i == 3 ? 2 : i == 14 ? 3 : 0, 1e-12) << i;
  EXPECT_NEAR(light.beyond, 5, 1e-12);
  EXPECT_TRUE(light.has_errors());
}

// Two rows of four: the middle half of the square.
TEST(ImageOutput, NeedNotBeSquare) {
  ImageOutput output = image();
  output.rows = 2;
  Tally tally({output}, context(), 100, 100);
  TallyPart part(tally);
  part.accept(seen(1 - 3.9, -1.9));    // the lower left corner
  part.accept(seen(1 + 3.9, 1.9, 2));  // the upper right one
  part.accept(seen(1, 2.1, 5));        // above the image, though within the square
  part.join_histories({});
  tally.merge(part);
  const BinnedLight light = tally.binned(0);
  ASSERT_EQ(light.light.size(), 8u);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(light.light[i], i == 0 ? 1 : i == 7 ? 2 : 0, 1e-12) << i;
  EXPECT_NEAR(light.beyond, 5, 1e-12);
}

TEST(ImageOutput, HoldsMoreThanAllLight) {
  Tally tally({image()}, context(), 1, 1);
  TallyPart part(tally);
  for (int i = 0; i < 1000; ++i) part.accept(seen(1.5, 0.5, 10)), part.accept(seen(90, 0, 10));
  part.join_histories({});
  tally.merge(part);
  EXPECT_NEAR(tally.binned(0).light[10], 1e4, 1e-6);
  EXPECT_NEAR(tally.binned(0).beyond, 1e4, 1e-6);
}

TEST(ImageOutput, OfEmittedLightCountsThatAlone) {
  ImageOutput output = image();
  output.of = config::Fate::emitted;
  Tally tally({output}, context(), 100, 100);
  TallyPart part(tally);
  part.accept(seen(1.5, 0.5, 1, 0, false)), part.accept(seen(1.5, 0.5, 2, 0, true));
  part.join_histories({});
  tally.merge(part);
  EXPECT_NEAR(tally.binned(0).light[10], 2, 1e-12);
}

}  // namespace image_test
