#include "thor/io/text/spectrum.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "thor/io/file_output.hpp"

namespace thor::io {
namespace {

/// In one line, whatever a name contains.
std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  std::ranges::replace(text, '\r', ' ');
  return text;
}

std::string bracketed(const Unit& unit) { return "[" + unit.text() + "]"; }

std::string heading(const Result& result, const Input& input, const Product& spectrum) {
  const Attributes &root = result.root(), &own = spectrum.attributes;
  const BinnedAxis& axis = *spectrum.frequency();
  std::string text;
  const auto line = [&](const std::string& what) { text += "# " + one_line(what) + "\n"; };
  line(fmt::format("spectrum {} of {}, by thor {} ({}), seed {}", spectrum.name, show(root, "line"),
                   show(root, "thor_version"), show(root, "git_commit"), show(root, "seed")));
  line(fmt::format("axis: {}, {}; lambda_0 = {} Angstrom (vacuum)", axis.name,
                   input.text(spectrum.group + "/edges", "description").value_or("bin edges"),
                   number(own, "wavelength0").value_or(number(root, "wavelength0").value_or(0))));
  line(fmt::format("bins: {} of equal width {}, from {} to {}; the first column has their middles", axis.bins,
                   axis.width(), axis.low, axis.high));
  const auto direction = vector_of(own, "direction");
  line("observer: " + (spectrum.observer().empty()
                           ? "none: light of all directions"
                           : spectrum.observer() + (direction ? fmt::format(", direction {} {} {}", (*direction)[0],
                                                                            (*direction)[1], (*direction)[2])
                                                              : "")));
  line("light: " + show(own, "of"));
  if (const auto z = sky_of(result).redshift) line(fmt::format("redshift: {}", *z));
  if (!result.is_complete()) line("INCOMPLETE: the run was cut");
  for (const std::string& caveat : result.lines("caveats")) line("CAVEAT: " + caveat);
  line("to read it: numpy.loadtxt(FILE, unpack=True)");
  line(fmt::format("columns: {} {}, flux {}, standard error of the flux {}", axis.name, bracketed(axis.unit),
                   bracketed(spectrum.unit), bracketed(spectrum.unit)));
  return text;
}

}  // namespace

void write_text(const std::filesystem::path& path, bool overwrite, const Result& result, const Input& input,
                const Product& spectrum) {
  const std::vector<double> flux = read_values(input, spectrum), error = read_errors(input, spectrum);
  FileOutput file(path, overwrite);
  std::string text = heading(result, input, spectrum);
  for (std::size_t i = 0; i < flux.size(); ++i) {
    text += fmt::format("{:<24} {:<24} {}\n", spectrum.frequency()->middle(i), flux[i], error[i]);
    if (text.size() < 1 << 20) continue;
    file.write(text);
    text.clear();
  }
  file.write(text);
  file.commit();
}

}  // namespace thor::io
