#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace thor::io {

struct Colour {
  std::uint8_t red, green, blue;
  bool operator==(const Colour&) const = default;
};

/// A picture of colours, row after row from the top.
struct Raster {
  int width, height;
  double dots_per_inch = 0;  ///< 0: not said
  std::vector<Colour> pixels;

  Raster(int columns, int rows, Colour colour)
      : width(columns), height(rows), pixels(std::size_t(columns) * std::size_t(rows), colour) {}

  /// Sets a pixel; what is outside is left out.
  void set(int x, int y, Colour colour) {
    if (x < 0 || y < 0 || x >= width || y >= height) return;
    pixels[std::size_t(y) * std::size_t(width) + std::size_t(x)] = colour;
  }
  void fill(int x, int y, int columns, int rows, Colour colour) {
    for (int j = y; j < y + rows; ++j) {
      for (int i = x; i < x + columns; ++i) set(i, j, colour);
    }
  }
};

/// Red, green, blue and opacity of 8 or 16 bits, row after row from the top.
struct Picture {
  int width, height;
  int bits = 8;
  bool transparent = false;              ///< with opacity; else on black
  std::vector<std::uint16_t> numbers{};  ///< four of each pixel
};

/// A picture of numbers from 0 to 1, red, green, blue and opacity, row after row upward. Colours are what is seen on
/// black; with opacity they are divided by it.
Picture picture_of(int columns, int rows, std::span<const double> rgba, int bits = 8, bool transparent = false);

/// The bytes of a file, for a picture that is not written to disk. Of zlib's levels 1 is the fastest; 0: 6, or 1 for
/// pictures with opacity.
std::string encode_png(const Raster& raster, int level = 0);
std::string encode_png(const Picture& picture, int level = 0);
void write_png(const std::filesystem::path& path, bool overwrite, const Picture& picture);

/// Writes a picture as PNG of 8 bits a colour (W3C Recommendation "Portable Network Graphics", second edition).
void write_png(const std::filesystem::path& path, bool overwrite, const Raster& raster);

}  // namespace thor::io
