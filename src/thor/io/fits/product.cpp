#include "thor/io/fits/product.hpp"

#include <fmt/format.h>

#include "thor/io/fits/fits.hpp"

namespace thor::io {
namespace {

/// Copies an attribute, where there is one.
void copy(FitsHeader& header, const char* key, const Attributes& attributes, const char* name, const char* comment) {
  const auto found = attributes.find(name);
  if (found == attributes.end()) return;
  std::visit(
      [&](const auto& value) {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, double>) {
          if (number(attributes, name)) header.set(key, value, comment);
        } else if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::vector<double>>) {
          header.set(key, show(attributes, name), comment);
        } else {
          header.set(key, value, comment);
        }
      },
      found->second);
}

void set_vector(FitsHeader& header, const char* key, const Attributes& attributes, const char* name,
                const char* comment) {
  const auto vector = vector_of(attributes, name);
  for (std::size_t i = 0; vector && i < 3; ++i) header.set(fmt::format("{}_{}", key, "XYZ"[i]), (*vector)[i], comment);
}

FitsHeader origin_of(const Result& result, const Product& product) {
  const Attributes &root = result.root(), &own = product.attributes;
  FitsHeader header;
  header.set("ORIGIN", "thor", "");
  header.set("CREATOR", fmt::format("thor {} ({})", show(root, "thor_version"), show(root, "git_commit")), "");
  if (std::string date = show(root, "date");
      date.ends_with('Z')) {  // without it, as the standard has it (section 4.4.2)
    date.pop_back();
    header.set("DATE-RUN", date, "end of the run, UTC");
  }
  header.set("OBJECT", product.name, kind_name(product.kind) + " of the run");
  copy(header, "LINE", root, "line", "");
  copy(header, "SEED", root, "seed", "of random numbers");
  header.set("COMPLETE", result.is_complete(), "F: the run was cut");
  copy(header, "LIGHT", own, "of", "photons that are counted");
  copy(header, "FRAME", own, "frame", "observed: fluxes; rest: luminosities");
  copy(header, "GENERATR", own, "generator", "whose photons are counted");
  copy(header, "OBSNAME", own, "observer", "");
  copy(header, "CAMERA", own, "camera", "");
  copy(header, "OPERATOR", own, "operator", "what was found along rays");
  copy(header, "FIELD", own, "field", "");
  copy(header, "WEIGHT", own, "weight", "");
  set_vector(header, "DIR", own, "direction", "from the object to the observer");
  set_vector(header, "UP", own, "up", "upward in the image");
  set_vector(header, "MID", own, "centre", "[cm] middle of the image");
  copy(header, "APER_OUT", own, "aperture_radius", "[cm]");
  copy(header, "APER_IN", own, "aperture_inner", "[cm]");
  copy(header, "ESTIMATE", own, "estimator", "peel: rays of every event; escaped: photons");
  copy(header, "WITHIN", own, "within", "[deg] largest angle of escaped photons");
  copy(header, "PSF_FWHM", own, "psf_fwhm", "in the unit of the edges");
  copy(header, "LSF_FWHM", own, "lsf_fwhm", "[km/s]");
  copy(header, "BEYOND", own, "luminosity_beyond", "[erg/s] light outside of the range");
  copy(header, "ERRORS", own, "error_method", "how errors were found");
  copy(header, "TRUSTED", own, "trusted", "share of the light with trusted errors");
  for (const std::string& caveat : caveats_of(result, product.kind, product.name)) {
    header.comment("CAVEAT: " + caveat);
  }
  return header;
}

void set_distances(FitsHeader& header, const Sky& sky) {
  if (sky.redshift) header.set("REDSHIFT", *sky.redshift, "");
  if (sky.distance_luminosity) header.set("DISTLUMI", *sky.distance_luminosity, "luminosity distance");
  if (sky.distance_angular) header.set("DISTANGD", *sky.distance_angular, "angular diameter distance");
  if (sky.distance_luminosity || sky.distance_angular) header.set("DISTUNIT", "Mpc", "unit of the distances");
}

/// A profile: the radii between which a ring lies, its mean surface brightness, and how well that is known.
void write_profile(FitsOutput& file, const FitsHeader& primary, const Input& input, const Product& profile) {
  const BinnedAxis& radius = profile.axes.front();
  const std::vector<double>& edges = radius.edges;
  const std::string unit = profile.unit.text(), length = radius.unit.text();
  std::vector<FitsColumn> columns{{"R_IN", length, {edges.begin(), edges.end() - 1}},
                                  {"R_OUT", length, {edges.begin() + 1, edges.end()}},
                                  {"SB", unit, read_values(input, profile)}};
  if (profile.knows_errors()) columns.push_back({"ERROR", unit, read_errors(input, profile)});
  if (auto vov = read_vov(input, profile); !vov.empty()) columns.push_back({"VOV", "", std::move(vov)});
  file.primary(primary, columns.size() * radius.bins);
  file.table("PROFILE", {}, columns);
  file.commit();
}

}  // namespace

void write_fits(const std::filesystem::path& path, bool overwrite, const Result& result, const Input& input,
                const Product& product, const SkyPosition& position) {
  const Sky sky = sky_of(result);
  FitsHeader primary = origin_of(result, product);
  set_distances(primary, sky);
  FitsOutput file(path, overwrite);
  if (product.kind == ProductKind::profile) return write_profile(file, primary, input, product);
  const double wavelength =
      number(product.attributes, "wavelength0").value_or(number(result.root(), "wavelength0").value_or(0));
  FitsHeader axes = wcs_of(product, position, sky, wavelength);
  set_distances(axes, sky);
  std::vector<std::uint64_t> shape;
  for (const BinnedAxis& axis : product.axes) shape.push_back(axis.bins);

  std::vector<double> values = read_values(input, product);
  const std::vector<double> vov = read_vov(input, product);
  file.primary(primary, (product.knows_errors() ? 2 : 1) * values.size() + vov.size());
  FitsHeader data;
  data.set("BUNIT", product.unit.text(), "");
  data.append(axes);
  file.image("DATA", data, shape, values);
  if (!product.knows_errors()) return file.commit();
  values = read_errors(input, product);
  for (double& v : values) v *= v;
  FitsHeader variance;
  variance.set("BUNIT", product.unit.power(2).text(), "variance");
  variance.append(axes);
  file.image("STAT", variance, shape, values);
  if (!vov.empty()) file.image("VOV", axes, shape, vov);
  file.commit();
}

}  // namespace thor::io
