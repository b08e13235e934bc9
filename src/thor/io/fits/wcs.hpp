#pragma once
#include "thor/io/fits/header.hpp"
#include "thor/io/result/product.hpp"

namespace thor::io {

/// Where the middle of images is put on the sky [deg].
struct SkyPosition {
  double right_ascension = 0, declination = 0;
  double position_angle = 0;  ///< of the upward direction of the image, from north through east
};

/// Whether the pixels of a product are angles.
bool is_angular(const Product& product);

/// World coordinates of the axes of a product:
///  - angles on the sky: a gnomonic projection, RA---TAN and DEC--TAN, in degrees (Calabretta & Greisen 2002, A&A 395,
///    1077). Right ascension grows to the left where north is up.
///  - lengths: linear, in the units of the file;
///  - velocity c(lambda/lambda0 - 1): VOPT, in m/s; vacuum wavelength: WAVE, in Angstrom; frequency: FREQ, in Hz
///    (Greisen et al. 2006, A&A 446, 747); x: linear. Velocities and x are in the frame of the source, wavelengths and
///    frequencies too, but where they are observed: then SPECSYS is BARYCENT.
FitsHeader wcs_of(const Product& product, const SkyPosition& position, const Sky& sky, double rest_wavelength);

}  // namespace thor::io
