#include "thor/io/png/preview.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "thor/io/png/colour_map.hpp"
#include "thor/io/png/font.hpp"

namespace thor::io {
namespace {

constexpr Colour white{255, 255, 255}, black{0, 0, 0};

Colour at(const Raster& raster, int x, int y) {
  return raster.pixels[std::size_t(y) * std::size_t(raster.width) + std::size_t(x)];
}

Preview preview_of(int columns, int rows, const std::vector<double>& values) {
  return {.title = "t",
          .unit = "erg",
          .length_unit = "kpc",
          .right = {-0.5, 0.5},
          .up = {-0.5, 0.5},
          .columns = columns,
          .rows = rows,
          .values = values};
}

TEST(Preview, RowsAreUpwardAndColoursLogarithmic) {
  const std::vector<double> values{1, 10, 100, 1000};
  const Raster raster = draw(preview_of(2, 2, values));
  const auto [joined, size, left, top, width, height, scale] = layout_of(2, 2);
  EXPECT_EQ(size, 256);
  EXPECT_EQ(at(raster, left + size - 1, top + 2 * size - 80), colour_of(0));
  EXPECT_EQ(at(raster, left + size, top + 2 * size - 80), colour_of(1. / 3));
  EXPECT_EQ(at(raster, left + size - 1, top), colour_of(2. / 3));
  EXPECT_EQ(at(raster, left + size, top), colour_of(1));
  EXPECT_EQ(at(raster, left - 1, top), black) << "the frame";
  EXPECT_EQ(at(raster, left - 8, top - 8), white);
  EXPECT_NEAR(raster.width / raster.dots_per_inch, 3.4, 1e-9);
  EXPECT_GE(raster.dots_per_inch, 200);
}

TEST(Preview, VelocitiesDivergeFromZero) {
  const std::vector<double> values{-50, 0, 100, NAN};
  const Raster raster = draw(preview_of(2, 2, values));
  const PreviewLayout box = layout_of(2, 2);
  const auto pixel = [&](int column, int row) {
    return at(raster, box.left + 256 * column + 200, box.top + 256 * row + 60);
  };
  EXPECT_EQ(pixel(0, 1), diverging_colour_of(0.25));
  EXPECT_EQ(pixel(1, 1), (Colour{247, 247, 247}));
  EXPECT_EQ(pixel(0, 0), diverging_colour_of(1));
  EXPECT_EQ(pixel(1, 0), (Colour{128, 128, 128}));
  Preview away = preview_of(1, 1, values);
  const std::vector<double> one{30};
  away.values = one, away.diverging = true;
  EXPECT_EQ(at(draw(away), box.left + 100, box.top + 100), diverging_colour_of(1));
}

TEST(Preview, TheCaveatIsRedBelow) {
  const std::vector<double> values{1, 10, 100, 1000};
  Preview preview = preview_of(2, 2, values);
  const auto count_red = [](const Raster& raster) {
    const Colour red{176, 0, 32};
    return std::count(raster.pixels.begin(), raster.pixels.end(), red);
  };
  const Raster without = draw(preview);
  preview.caveats = {"noisy"};
  const Raster with = draw(preview);
  EXPECT_EQ(count_red(without), 0);
  EXPECT_GT(count_red(with), 100);
  EXPECT_GT(with.height, without.height);
  preview.caveats = {"noisy", "noisy"};
  const Raster two = draw(preview);
  EXPECT_EQ(count_red(two), 2 * count_red(with));
  EXPECT_EQ(two.height - with.height, with.height - without.height);
}

/// There is room for the title and the colour bar, and the labels of ticks do not touch.
TEST(Preview, NarrowImages) {
  for (const auto& [columns, rows] : {std::pair(20, 200), {3, 300}, {200, 3}, {1, 1000}, {1000, 1}}) {
    const std::vector<double> values(std::size_t(columns * rows), 1);
    Preview preview = preview_of(columns, rows, values);
    const double side = std::max(columns, rows);
    preview.right = {-columns / side, columns / side}, preview.up = {-rows / side, rows / side};
    const Raster raster = draw(preview);
    const PreviewLayout box = layout_of(columns, rows);
    EXPECT_EQ(box.width * rows, box.height * columns) << "pixels are square";
    EXPECT_GE(raster.width, 200 * box.scale);
    EXPECT_GE(raster.height, 100 * box.scale);
    EXPECT_LT(box.left + box.width, raster.width);
    EXPECT_LT(box.top + box.height, raster.height);
    EXPECT_EQ(at(raster, box.left, box.top), colour_of(1));
    EXPECT_EQ(at(raster, box.left + box.width - 1, box.top + box.height - 1), colour_of(1)) << "no scale bar in it";
    // Labels are lines of ink and of paper in turn: at the left side, from top to bottom.
    int labels = 0;
    bool before = false;
    for (int y = 0; y < raster.height; ++y) {
      bool ink = false;
      for (int x = box.left - 10 * box.scale; x < box.left - 3 * box.scale; ++x) ink = ink || at(raster, x, y) == black;
      if (y < box.top + box.height + 4 * box.scale) labels += ink && !before;
      before = ink;
    }
    EXPECT_GE(labels, 1);
    EXPECT_LE(labels, 11) << columns << " x " << rows;
  }
}

TEST(Preview, FaintPixelsAreCutFourDecadesBelowTheBrightest) {
  const std::vector<double> values{1e-20, 1e-4, 1e-2, 1};
  const Raster raster = draw(preview_of(2, 2, values));
  const PreviewLayout box = layout_of(2, 2);
  EXPECT_EQ(at(raster, box.left + 100, box.top + 300), colour_of(0));
  EXPECT_EQ(at(raster, box.left + 300, box.top + 300), colour_of(0));
  EXPECT_EQ(at(raster, box.left + 100, box.top + 100), colour_of(0.5));
}

TEST(Preview, LargeImagesAreDrawnSmallerWithTheirMeans) {
  constexpr int side = 2100;  // three by three as one
  std::vector<double> values(std::size_t(side) * side, 1);
  for (int j = 0; j < 3; ++j) values[std::size_t(side - 1 - j) * side] = 1000;  // three of the nine at the top left
  const Raster raster = draw(preview_of(side, side, values));
  const PreviewLayout box = layout_of(side, side);
  EXPECT_EQ(box.height, 700);
  EXPECT_EQ(at(raster, box.left, box.top), colour_of(std::log10(3006. / 9) / 3));
  EXPECT_EQ(at(raster, box.left + 1, box.top), colour_of(0));
  EXPECT_EQ(at(raster, box.left, box.top + 1), colour_of(0));
}

TEST(Font, LettersDifferAndStayInTheirCells) {
  std::set<std::vector<bool>> shapes;
  for (char c = '!'; c <= '~'; ++c) {
    Raster raster(20, 20, white);
    EXPECT_EQ(draw_text(raster, 5, 10, std::string(1, c), 1, black), letter_step);
    std::vector<bool> shape;
    for (int y = 0; y < 20; ++y) {
      for (int x = 0; x < 20; ++x) {
        const bool ink = at(raster, x, y) == black;
        shape.push_back(ink);
        EXPECT_FALSE(ink && (x < 5 || x >= 10 || y < 10 - letter_height || y >= 12)) << c;
      }
    }
    EXPECT_TRUE(shapes.insert(shape).second) << c << " looks as another letter";
  }
}

TEST(Font, PowersAreRaised) {
  EXPECT_EQ(raised_powers("erg s-1 kpc-2 / (km s-1)"), "erg s^-1 kpc^-2 / (km s^-1)");
  EXPECT_EQ(text_width("10^-17", 2), 2 * 12 + 3 * 6);
  EXPECT_EQ(text_width("\u0394x", 1), 2 * letter_step);
  EXPECT_EQ(text_width("\u03b1", 1), letter_step) << "one character, whatever its bytes";
}

}  // namespace
}  // namespace thor::io
