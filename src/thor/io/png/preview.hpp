#pragma once
#include <span>

#include "thor/io/png/png.hpp"
#include "thor/io/result/product.hpp"

namespace thor::io {

/// An image in the middle of its frame, with a colour bar to the right and a scale bar in it.
struct Preview {
  std::string title;
  std::string quantity{};   ///< what the values are: "surface brightness"
  std::string unit;         ///< of the values
  std::string length_unit;  ///< of the sides
  double width;             ///< of the image, in that unit
  double kpc_per_unit = 0;  ///< 0: not known, or the unit is kpc
  double decades = 4;       ///< at most, on a logarithmic scale
  int columns, rows;
  std::span<const double> values;  ///< rows upward
};

/// Draws values on a logarithmic scale: from the brightest down to the faintest that is not 0, at least one decade and
/// at most so many; where some are negative, on a linear one. What is no number is grey. An image larger than 1024
/// pixels is drawn smaller, with the means of squares of its pixels; one smaller than 512 larger.
Raster draw(const Preview& preview);

/// How pictures of volumes are written.
struct PictureOptions {
  int bits = 8;
  bool transparent = false;
};

/// Writes an image, or a cube summed over its channels; a picture of a volume as it is.
void write_preview(const std::filesystem::path& path, bool overwrite, const Result& result, const Input& input,
                   const Product& product, const PictureOptions& options = {});

}  // namespace thor::io
