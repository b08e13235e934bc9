#pragma once
#include <span>

#include "thor/io/png/png.hpp"
#include "thor/io/result/product.hpp"

namespace thor::io {

/// An image in axes with ticks, with a colour bar to the right and a scale bar in it.
struct Preview {
  struct Side {
    double low, high;  ///< in the unit of lengths
  };
  std::string title;
  std::string quantity{};   ///< what the values are: "surface brightness"
  std::string unit;         ///< of the values
  std::string length_unit;  ///< of the sides: "kpc", "arcsec", "deg", or none of tangents
  Side right, up;
  double kpc_per_unit = 0;             ///< 0: not known, or the unit is kpc
  double decades = 4;                  ///< at most, on a logarithmic scale
  bool diverging = false;              ///< colours diverge from 0, even if no value is negative
  std::vector<std::string> caveats{};  ///< lines below the image
  int columns, rows;
  std::span<const double> values;  ///< rows upward
};

/// Where the image is in its picture, and the size of its pixels and of the points of letters.
struct PreviewLayout {
  int joined;         ///< pixels of the image, along a side, that are drawn as one
  int enlarged;       ///< and pixels of the picture that one is drawn as
  int left, top;      ///< of the image in the picture
  int width, height;  ///< of the image in the picture
  int scale;          ///< pixels of the picture in a point of a letter
};
PreviewLayout layout_of(int columns, int rows);

/// Draws values on a logarithmic scale: from the brightest down to the faintest that is not 0, at least one decade and
/// at most so many; where some are negative, on a linear one in colours that diverge from 0. NaN is grey. An image
/// larger than 1024 pixels is drawn smaller, with the means of squares of its pixels; one smaller than 512 larger. The
/// picture is 3.4 in wide, a column of a paper, with type of 8 to 9 pt. Right ascension grows to the left.
Raster draw(const Preview& preview);

/// How pictures are written: those of volumes with so many bits and with opacity; others with caveats below.
struct PictureOptions {
  int bits = 8;
  bool transparent = false;
  bool caveats = true;
};

/// Writes an image, or a cube summed over its channels; a picture of a volume as it is.
void write_preview(const std::filesystem::path& path, bool overwrite, const Result& result, const Input& input,
                   const Product& product, const PictureOptions& options = {});

}  // namespace thor::io
