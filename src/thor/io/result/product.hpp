#pragma once
#include <array>

#include "thor/io/array/input.hpp"
#include "thor/io/result/result.hpp"
#include "thor/io/result/unit.hpp"

/// The images, cubes, spectra, profiles and histograms of a result, with the units that the file gives them.
namespace thor::io {

/// Bins along an axis: of equal width, but for profiles and histograms.
struct BinnedAxis {
  std::string name;  ///< "right", "up", "radius", of a frequency "x", "velocity", "wavelength", "frequency", ...
  Unit unit;
  double low, high;
  std::uint64_t bins;
  std::vector<double> edges;  ///< as in the file

  double width() const { return (high - low) / double(bins); }
  bool is_even() const;                 ///< whether all bins have this width
  bool is_logarithmic() const;          ///< whether their edges have equal ratios
  std::vector<double> middles() const;  ///< geometric where the axis is logarithmic
};

enum class ProductKind { image, cube, spectrum, profile, histogram };

struct Product {
  ProductKind kind;
  std::string name;
  std::string group;  ///< "/images/NAME", ...
  std::string array;  ///< "surface_brightness", "intensity", "flux" or "luminosity"; of rays "value" or "rgba"
  Unit unit;          ///< of the array and of its error
  std::vector<BinnedAxis> axes;  ///< as those of the array: frequency, up, right; radius
  Attributes attributes;         ///< of the group

  const BinnedAxis& right() const { return axes.back(); }  ///< of an image or cube
  const BinnedAxis& up() const { return axes[axes.size() - 2]; }
  const BinnedAxis* frequency() const;                  ///< of a cube or spectrum; else null
  bool is_coloured() const { return array == "rgba"; }  ///< a picture of a volume, with four numbers a pixel
  bool is_light() const { return array != "value" && array != "rgba"; }  ///< of photons; else values along rays
  bool knows_errors() const;  ///< whether the file has Monte Carlo errors of it
  bool is_picture() const { return kind == ProductKind::image || kind == ProductKind::cube; }
  bool is_observed() const;       ///< in the frame of an observer: fluxes, observed wavelengths
  std::string observer() const;   ///< "" where the light of all directions is counted
  std::string generator() const;  ///< "" where the light of all is counted

  /// Product of the widths of a bin along all axes: a value times this is the light of the bin, in `unit_of_light`.
  double bin_size() const;
  Unit unit_of_light() const;
};

std::string kind_name(ProductKind kind);

/// Where a product is in a result.
struct ProductPlace {
  ProductKind kind;
  std::string name;
  const Object* group;
};

/// All products of a result, in the order of its groups.
std::vector<ProductPlace> find_products(const Result& result);

/// Caveats of the run and of one product, without those of other products.
std::vector<std::string> caveats_of(const Result& result, ProductKind kind, const std::string& name);

/// All of a product but its numbers. Error(input) where it is damaged.
Product read_product(const Input& input, const ProductPlace& place);

/// Light of the bins of a product and its standard errors, NaN where these are not known; Error(input) where a number
/// in the file is not finite, but for values along rays, which may be NaN where there is no gas.
std::vector<double> read_values(const Input& input, const Product& product);
std::vector<double> read_errors(const Input& input, const Product& product);
/// Variance of the variance; empty where it is not known.
std::vector<double> read_vov(const Input& input, const Product& product);

/// An image, or a cube summed over its channels: rows upward.
std::vector<double> read_picture(const Input& input, const Product& product);
Unit unit_of_picture(const Product& product);

/// The place of the object in the universe, as far as a result knows it.
struct Sky {
  std::optional<double> redshift, distance_luminosity, distance_angular;  ///< [Mpc]
  std::optional<double> kpc_per_arcsec;
};
Sky sky_of(const Result& result);

/// Three numbers of an attribute such as `direction`; none where it is missing.
std::optional<std::array<double, 3>> vector_of(const Attributes& attributes, const std::string& name);

}  // namespace thor::io
