#include "thor/io/text/product.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "thor/core/message.hpp"
#include "thor/io/file_output.hpp"

namespace thor::io {
namespace {

std::string bracketed(const Unit& unit) { return unit.text().empty() ? "" : " [" + unit.text() + "]"; }

bool is_of_line(const BinnedAxis& axis) {
  constexpr std::array names{"x", "velocity", "wavelength", "frequency"};
  return std::ranges::find(names, axis.name) != names.end();
}

std::string of_light(const Product& product, const std::string& attribute) {
  return fmt::format("{} erg s-1", number(product.attributes, attribute).value_or(0));
}

/// Names of the columns: what is in them, and what is binned.
std::string value_name(const Product& product) {
  return product.kind == ProductKind::profile ? "surface brightness"
         : product.frequency()                ? "flux"
                                              : "luminosity in the bin";
}

std::string heading(const Result& result, const Input& input, const Product& product) {
  const Attributes &root = result.root(), &own = product.attributes;
  std::string text, columns, shape;
  const auto line = [&](const std::string& what) { text += "# " + printable_line(what) + "\n"; };
  line(fmt::format("{} {} of {}, by thor {} ({}), seed {}", kind_name(product.kind), product.name, show(root, "line"),
                   show(root, "thor_version"), show(root, "git_commit"), show(root, "seed")));
  for (std::size_t i = 0; i < product.axes.size(); ++i) {
    const BinnedAxis& axis = product.axes[i];
    const std::string edges = product.kind == ProductKind::histogram ? "/edges_" + axis.name : "/edges";
    std::string about =
        fmt::format("axis: {}, {}", axis.name, input.text(product.group + edges, "description").value_or("bin edges"));
    if (is_of_line(axis)) {
      about += fmt::format("; lambda_0 = {} Angstrom (vacuum)",
                           number(own, "wavelength0").value_or(number(root, "wavelength0").value_or(0)));
    }
    line(about);
    line(axis.is_even()
             ? fmt::format("bins: {} of equal width {}, from {} to {}; column {} has their middles", axis.bins,
                           axis.width(), axis.low, axis.high, i + 1)
             : fmt::format("bins: {}; column {} has their {}, and their edges are {}", axis.bins, i + 1,
                           axis.is_logarithmic() ? "geometric means" : "middles", fmt::join(axis.edges, " ")));
    columns += fmt::format("{}{}, ", axis.name, bracketed(axis.unit));
    shape += fmt::format("{}{}", i == 0 ? "" : ", ", axis.bins);
  }
  if (product.axes.size() > 1) {
    line(fmt::format("rows: one for each bin, column {} changes fastest; a column is an array after .reshape({})",
                     product.axes.size(), shape));
  }
  const auto direction = vector_of(own, "direction");
  line("observer: " + (product.observer().empty()
                           ? "none: light of all directions"
                           : product.observer() + (direction ? fmt::format(", direction {} {} {}", (*direction)[0],
                                                                           (*direction)[1], (*direction)[2])
                                                             : "")));
  for (const auto& [name, about] : {std::pair("generator", "whose photons are counted"),
                                    {"estimator", "how it is seen"},
                                    {"within", "deg, of escaped photons"},
                                    {"aperture_radius", "cm"},
                                    {"aperture_inner", "cm"},
                                    {"psf_fwhm", "in the unit of lengths on the sky"},
                                    {"lsf_fwhm", "km s-1"},
                                    {"rest_position", "cm"},
                                    {"rest_velocity", "km s-1"}}) {
    if (own.contains(name)) line(fmt::format("{}: {} ({})", name, show(own, name), about));
  }
  line(fmt::format("light: {}, {} in all bins, {} beyond them", show(own, "of"), of_light(product, "luminosity"),
                   of_light(product, "luminosity_beyond")));
  if (const auto z = sky_of(result).redshift) {
    line(fmt::format("redshift: {}; {}", *z,
                     product.is_observed() ? "observed: fluxes, and wavelengths (1 + z) times as long as at rest"
                                           : "rest frame of the object: luminosities"));
  }
  if (!result.is_complete()) line("INCOMPLETE: the run was cut");
  for (const std::string& caveat : caveats_of(result, product.kind, product.name)) line("CAVEAT: " + caveat);
  line("to read it: numpy.loadtxt(FILE, unpack=True)");
  line(fmt::format("columns: {}{}{}, standard error{}{}", columns, value_name(product), bracketed(product.unit),
                   bracketed(product.unit), product.knows_errors() ? "" : " (nan: the output has `errors: none`)"));
  return text;
}

}  // namespace

void write_text(const std::filesystem::path& path, bool overwrite, const Result& result, const Input& input,
                const Product& product) {
  const std::vector<double> light = read_values(input, product), error = read_errors(input, product);
  std::vector<std::vector<double>> middles;  // along each axis
  for (const BinnedAxis& axis : product.axes) middles.push_back(axis.middles());
  FileOutput file(path, overwrite);
  std::string text = heading(result, input, product);
  for (std::size_t i = 0; i < light.size(); ++i) {
    std::size_t after = light.size();  // bins along the axes that follow
    for (const std::vector<double>& middle : middles) {
      after /= middle.size();
      text += fmt::format("{:<24} ", middle[i / after % middle.size()]);
    }
    text += fmt::format("{:<24} {}\n", light[i], error[i]);
    if (text.size() < 1 << 20) continue;
    file.write(text);
    text.clear();
  }
  file.write(text);
  file.commit();
}

}  // namespace thor::io
