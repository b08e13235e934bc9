#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "thor/operators/fields.hpp"
#include "thor/operators/image.hpp"

namespace thor {

/// The numbers of a pixel.
using Pixel = std::array<double, image_planes>;

/// An image as an operator plans it: what the kernels do, and what becomes of their numbers.
struct ImageTask {
  ImageJob job{};
  std::vector<float> tables{};  ///< which the job gets when it has its camera
  Pixel scale{1, 1, 1, 1};      ///< factors of the numbers, with which they are in
  std::string units{}, meaning{};
  std::vector<std::pair<std::string, std::string>> attributes{};  ///< of the result, beside those of the camera
  int samples = 1;                                                ///< rays along a side of a pixel
  std::optional<double> plane{};  ///< rays begin and end in this plane, so far from the centre towards the camera [cm]
  bool is_picture = false;        ///< red, green, blue and opacity; else there is one value of a pixel:
  double (*value)(const Pixel&) = [](const Pixel& p) { return p[0]; };
  /// Adds what another part of the gas has found along the same ray; `in_order`: from front to back.
  bool in_order = false;
  void (*join)(Pixel&, const Pixel&) = [](Pixel& p, const Pixel& more) {
    for (std::size_t k = 0; k < p.size(); ++k) p[k] += more[k];
  };
};

}  // namespace thor
