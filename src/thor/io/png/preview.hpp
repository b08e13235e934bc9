#pragma once
#include <span>

#include "thor/io/png/png.hpp"
#include "thor/io/result/product.hpp"

namespace thor::io {

/// An image in the middle of its frame, with a colour bar to the right and a scale bar in it.
struct Preview {
  std::string title;
  std::string unit;         ///< of the values
  std::string length_unit;  ///< of the sides
  double width;             ///< of the image, in that unit
  double kpc_per_unit = 0;  ///< 0: not known, or the unit is kpc
  int columns, rows;
  std::span<const double> values;  ///< rows upward
};

/// Draws values on a logarithmic scale: from the brightest down to the faintest that is not 0, at least one decade and
/// at most four. An image larger than 1024 pixels is drawn smaller, with the means of squares of its pixels; one
/// smaller than 512 larger.
Raster draw(const Preview& preview);

/// Writes an image, or a cube summed over its channels.
void write_preview(const std::filesystem::path& path, bool overwrite, const Result& result, const Input& input,
                   const Product& product);

}  // namespace thor::io
