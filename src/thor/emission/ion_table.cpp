#include "thor/emission/ion_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>

#include "thor/emission/axis.hpp"
#include "thor/emission/refuse.hpp"

namespace thor::emission {
namespace {

constexpr const char* ion_table_axes[] = {"log_hydrogen_density", "log_temperature", "log_metallicity", "redshift"};
constexpr const char* line_units = "log10(erg cm3 s-1)";
constexpr double smallest_fraction = -30, smallest_emissivity = -100;

struct Ion {
  double abundance = 0;  ///< atoms of the element per hydrogen atom at solar metallicity
  std::vector<double> log_fraction;
};

template <class Map>
std::vector<std::string> keys(const Map& map) {
  std::vector<std::string> names;
  for (const auto& [name, value] : map) names.push_back(name);
  return names;
}

}  // namespace

struct IonTable::Impl {
  std::string path, source;
  double at_redshift = 0;
  std::vector<Axis> axes;
  std::array<std::size_t, 4> lengths{};
  AxisPosition redshift;
  std::map<std::string, Ion> ions;
  std::map<std::string, std::vector<double>> lines;  ///< log10 of emissivity/n_H^2
  mutable std::atomic<std::uint64_t> clamped{0};

  [[noreturn]] void refuse(const std::string& why) const { emission::refuse(path, why); }

  template <class Map>
  const auto& find(const Map& map, const char* kind, const std::string& name) const {
    const auto found = map.find(name);
    if (found == map.end()) {
      refuse(fmt::format("no {} \"{}\" in this table (it has: {})", kind, name, fmt::join(keys(map), ", ")));
    }
    return found->second;
  }

  void read_header(const io::Input& file) {
    if (file.text("/", "format") != "thor ion table") {
      refuse("not an ion table: its attribute `format` is not \"thor ion table\" (layout: docs/emission.md)");
    }
    if (const auto version = file.number("/", "format_version"); version != 1) {
      refuse(fmt::format("unknown format_version {}; this thor reads 1", version.value_or(0)));
    }
    source = file.text("/", "source").value_or("");
    if (source.empty()) refuse("no attribute `source`, which must describe how the table was made");
    for (std::size_t i = 0; i < 4; ++i) {
      axes.push_back(read_axis(file, ion_table_axes[i]));
      lengths[i] = axes[i].values.size();
    }
  }

  void read_ions(const io::Input& file) {
    if (!file.has("ions")) return;
    for (const std::string& name : file.children("ions")) {
      const std::string object = "ions/" + name;
      Ion ion{file.number(object, "solar_abundance").value_or(-1), read_table(file, object, axes)};
      if (!(ion.abundance > 0 && ion.abundance <= 1)) {
        refuse(
            fmt::format("array \"{}\" needs an attribute `solar_abundance`: atoms of the element per hydrogen atom "
                        "at solar metallicity, such as 4e-5 for Mg",
                        object));
      }
      for (double& v : ion.log_fraction) {
        if (v > 1e-3) refuse(fmt::format("array \"{}\" has {:g}; log10 of a fraction is at most 0", object, v));
        v = std::clamp(v, smallest_fraction, 0.0);
      }
      ions.emplace(name, std::move(ion));
    }
  }

  void read_lines(const io::Input& file) {
    if (!file.has("lines")) return;
    for (const std::string& name : file.children("lines")) {
      const std::string object = "lines/" + name;
      std::vector<double> values = read_table(file, object, axes);
      if (file.text(object, "units") != line_units) {
        refuse(fmt::format("array \"{}\" must be log10 of emissivity/n_H^2 and have the attribute units = \"{}\"",
                           object, line_units));
      }
      for (double& v : values) {
        if (v == std::numeric_limits<double>::infinity()) refuse(fmt::format("array \"{}\" has infinities", object));
        v = std::max(v, smallest_emissivity);
      }
      lines.emplace(name, std::move(values));
    }
  }

  double lookup(const std::vector<double>& values, double density, double temperature, double metallicity) const {
    if (!(density >= 0) || !(temperature > 0) || !(metallicity >= 0)) return std::numeric_limits<double>::quiet_NaN();
    const std::array<AxisPosition, 4> at = {locate(axes[0], std::log10(density)),
                                            locate(axes[1], std::log10(temperature)),
                                            locate(axes[2], std::log10(metallicity)), redshift};
    if (at[0].outside || at[1].outside) clamped.fetch_add(1, std::memory_order_relaxed);
    return std::pow(10, interpolate<4>(values, lengths, at));
  }

  /// Beyond the table's axis, a trace element scales in proportion.
  double beyond(double metallicity) const {
    const auto& log_z = axes[2].values;
    return metallicity / std::clamp(metallicity, std::pow(10, log_z.front()), std::pow(10, log_z.back()));
  }
};

IonTable::IonTable(const std::string& path, double redshift) {
  const io::Input file(path);
  auto impl = std::make_shared<Impl>();
  impl->path = path;
  impl->at_redshift = redshift;
  impl->read_header(file);
  impl->redshift = locate_redshift(impl->axes[3], redshift, path);
  impl->read_ions(file);
  impl->read_lines(file);
  if (impl->ions.empty() && impl->lines.empty()) impl->refuse("neither ions (/ions/NAME) nor lines (/lines/NAME)");
  impl_ = std::move(impl);
}

std::vector<std::string> IonTable::ions() const { return keys(impl_->ions); }
std::vector<std::string> IonTable::lines() const { return keys(impl_->lines); }

double IonTable::fraction(const std::string& ion, double hydrogen_density, double temperature,
                          double metallicity) const {
  return impl_->lookup(impl_->find(impl_->ions, "ion", ion).log_fraction, hydrogen_density, temperature, metallicity);
}

double IonTable::abundance(const std::string& ion, double metallicity) const {
  return impl_->find(impl_->ions, "ion", ion).abundance * metallicity;
}

double IonTable::emissivity(const std::string& line, double hydrogen_density, double temperature,
                            double metallicity) const {
  const double coefficient =
      impl_->lookup(impl_->find(impl_->lines, "line", line), hydrogen_density, temperature, metallicity);
  return coefficient * impl_->beyond(metallicity) * hydrogen_density * hydrogen_density;
}

std::uint64_t IonTable::clamped() const { return impl_->clamped.load(); }

std::string IonTable::describe() const {
  return fmt::format("ion table {} at z = {:.4g}; ions: {}; lines: {}; made by: {}", impl_->path, impl_->at_redshift,
                     fmt::join(ions(), ", "), fmt::join(lines(), ", "), impl_->source);
}

}  // namespace thor::emission
