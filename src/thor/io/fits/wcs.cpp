#include "thor/io/fits/wcs.hpp"

#include <fmt/format.h>

#include <cmath>

#include "thor/core/constants.hpp"

namespace thor::io {
namespace {

constexpr double degrees_of_arcsec = 1.0 / 3600;

/// An axis as FITS has it: value = CRVAL + CD (pixel - CRPIX), pixels counted from 1 at their middles.
struct FitsAxis {
  std::string type, unit, name;
  double reference_pixel, reference_value, step;
};

/// The pixel of an offset of 0 from the middle of the image.
FitsAxis offset_axis(const BinnedAxis& axis, const std::string& type, const std::string& unit, double scale,
                     double value) {
  return {type, unit, axis.name, 0.5 - axis.low / axis.width(), value, axis.width() * scale};
}

FitsAxis frequency_axis(const BinnedAxis& axis) {
  const auto with = [&](const char* type, const char* unit, double scale) {
    return FitsAxis{type, unit, axis.name, 1, (axis.low + axis.width() / 2) * scale, axis.width() * scale};
  };
  if (axis.name == "velocity") return with("VOPT", "m/s", 1e3);  // km/s in the file
  if (axis.name == "wavelength") return with("WAVE", "Angstrom", 1);
  if (axis.name == "frequency") return with("FREQ", "Hz", 1);
  return with("LINEAR", "", 1);
}

std::vector<FitsAxis> axes_of(const Product& product, const SkyPosition& position) {
  std::vector<FitsAxis> axes;
  if (product.is_picture()) {
    const BinnedAxis &right = product.right(), &up = product.up();
    if (is_angular(product)) {
      axes.push_back(offset_axis(right, "RA---TAN", "deg", degrees_of_arcsec, position.right_ascension));
      axes.push_back(offset_axis(up, "DEC--TAN", "deg", degrees_of_arcsec, position.declination));
    } else {
      axes.push_back(offset_axis(right, "LINEAR", right.unit.text(), 1, 0));
      axes.push_back(offset_axis(up, "LINEAR", up.unit.text(), 1, 0));
    }
  }
  if (product.frequency()) axes.push_back(frequency_axis(*product.frequency()));
  return axes;
}

}  // namespace

bool is_angular(const Product& product) { return product.is_picture() && product.right().unit == Unit("arcsec"); }

FitsHeader wcs_of(const Product& product, const SkyPosition& position, const Sky& sky, double rest_wavelength) {
  const std::vector<FitsAxis> axes = axes_of(product, position);
  FitsHeader header;
  header.set("WCSAXES", axes.size(), "");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto key = [n = i + 1](const char* name) { return fmt::format("{}{}", name, n); };
    header.set(key("CTYPE"), axes[i].type, "");
    if (!axes[i].unit.empty()) header.set(key("CUNIT"), axes[i].unit, "");
    header.set(key("CNAME"), axes[i].name, "");
    header.set(key("CRPIX"), axes[i].reference_pixel, "");
    header.set(key("CRVAL"), axes[i].reference_value, "");
    if (!is_angular(product) || i == 2) header.set(fmt::format("CD{0}_{0}", i + 1), axes[i].step, "");
  }
  if (is_angular(product)) {
    // In (east, north) upward is (sin, cos) of the position angle, and to the right (-cos, sin): east is to the left.
    const double angle = position.position_angle * constants::pi / 180;
    header.set("CD1_1", -axes[0].step * std::cos(angle), "east, per pixel to the right");
    header.set("CD1_2", axes[1].step * std::sin(angle), "east, per pixel upward");
    header.set("CD2_1", axes[0].step * std::sin(angle), "north, per pixel to the right");
    header.set("CD2_2", axes[1].step * std::cos(angle), "north, per pixel upward");
    header.set("RADESYS", "ICRS", "");
  }
  if (product.frequency()) {
    header.set("RESTWAV", rest_wavelength * 1e-10, "[m] wavelength of the line, in vacuum");
    const std::string& axis = product.frequency()->name;
    const bool observed = product.is_observed() && (axis == "wavelength" || axis == "frequency");
    header.set("SPECSYS", observed ? "BARYCENT" : "SOURCE", observed ? "observed, redshifted" : "frame of the source");
    if (sky.redshift) {
      header.set("ZSOURCE", *sky.redshift, "redshift of the source");
      header.set("SSYSSRC", "BARYCENT", "frame of ZSOURCE");
    }
  }
  return header;
}

}  // namespace thor::io
