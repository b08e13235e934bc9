#include "thor/datasets/gas_arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"
#include "thor/core/gas_limits.hpp"
#include "thor/core/message.hpp"
#include "thor/core/parallel_for.hpp"
#include "thor/io/array/units.hpp"

namespace thor {
namespace {

const char* const velocity_fields[] = {"velocity_x", "velocity_y", "velocity_z"};

std::string ion_of(const Line& line) {
  std::string ion = line.first().ion;
  std::erase(ion, ' ');
  return ion;
}

}  // namespace

std::vector<std::string> arrays_where(const io::Input& file, const std::function<bool(const io::ArrayInfo&)>& wanted) {
  std::vector<std::string> names;
  for (const std::string& name : file.children("/")) {
    try {
      const io::ArrayInfo info = file.array(name);
      if (info.numeric && wanted(info)) names.push_back(name);
    } catch (const Error&) {  // a group
    }
  }
  return names;
}

GasArrays gas_arrays(const io::Input& file, const config::Dataset& dataset, const Line& line) {
  GasArrays out;
  out.density = density_field(dataset, line);
  const std::string suffix = "_density";
  const std::string ion = out.density.ends_with(suffix) && out.density.size() > suffix.size()
                              ? out.density.substr(0, out.density.size() - suffix.size())
                              : ion_of(line);
  out.temperature = ion + "_temperature";
  out.of_ion = file.has(out.temperature);
  for (std::size_t k = 0; k < 3; ++k) {
    out.velocity[k] = ion + "_" + velocity_fields[k];
    out.of_ion = out.of_ion || file.has(out.velocity[k]);
  }
  if (out.of_ion) return out;
  out.temperature = "temperature";
  std::copy(std::begin(velocity_fields), std::end(velocity_fields), out.velocity.begin());
  return out;
}

double velocity_unit(const io::Input& file, const std::string& field) {
  if (io::units_of(file, field).empty()) {
    throw Error(ExitCode::input, fmt::format("{}: array {} has no attribute units; set it to \"km s-1\" or \"cm s-1\"",
                                             file.path().string(), field));
  }
  return io::cgs_unit(file, field, Dimension::velocity);
}

bool has_isotopes(const Line& line) {
  return std::ranges::any_of(line.absorbing(), [&](const AtomicTransition* t) { return t->ion != line.first().ion; });
}

bool has_turbulence(const config::Dataset& dataset) { return io::Input(dataset.path).has(turbulence_field); }

std::string density_field(const config::Dataset& dataset, const Line& line) {
  return dataset.density_field.empty() ? ion_of(line) + "_density" : dataset.density_field;
}

void warn_of_other_gas(const GasSource& source) {
  const std::string& path = source.dataset.path;
  if (gas_arrays(io::Input(path), source.dataset, source.line).of_ion) return;
  const std::string ion = ion_of(source.line);
  warning(
      "{}: no arrays {}_temperature and {}_velocity_x, _y, _z: the temperature and velocity of all gas are used for "
      "{}. Write the grid with `thor grid`.",
      path, ion, ion, ion);
}

double fastest_velocity(const config::Dataset& dataset, const Line& line, const ReadField& read) {
  const io::Input file(dataset.path);
  std::atomic<double> largest{0};
  for (const std::string& field : gas_arrays(file, dataset, line).velocity) {
    const double unit = velocity_unit(file, field);
    read(field, [&](std::int64_t, double v) {
      const double speed = std::abs(v * unit);
      for (double seen = largest; speed > seen && speed <= fastest_gas && !largest.compare_exchange_weak(seen, speed);)
        ;
    });
  }
  return largest;
}

namespace {

/// Reads one array after the other; refuses units that it does not know before that.
class GasFiller {
 public:
  GasFiller(const GasSource& source, CellRecords& cells)
      : source_(source),
        dataset_(source.dataset),
        cells_(cells),
        file_(dataset_.path),
        arrays_(gas_arrays(file_, dataset_, source.line)),
        turbulent_(file_.has(turbulence_field)) {
    for (std::size_t k = 0; k < 3; ++k) velocity_unit_[k] = velocity_unit(file_, arrays_.velocity[k]);
    density_unit_ = io::cgs_unit(file_, arrays_.density, Dimension::number_density);
    temperature_unit_ = io::cgs_unit(file_, arrays_.temperature, Dimension::temperature);
    if (dataset_.dust) dust_unit_ = io::cgs_unit(file_, dataset_.dust_field, Dimension::number_density);
    if (turbulent_) turbulence_unit_ = velocity_unit(file_, turbulence_field);
  }

  void density() {
    source_.read(arrays_.density, [&](std::int64_t i, double value) {
      const double n = value * density_unit_;
      const bool good = n >= 0 && n < 1e30;
      if (!good) source_.refuse("density", i, n);
      cells_.set_density(i, good ? n : 0);
    });
  }
  void turbulence() {
    if (!turbulent_) return;
    source_.read(turbulence_field, [&](std::int64_t i, double value) {
      const double b = value * turbulence_unit_;
      const bool good = b >= 0 && b <= fastest_gas;
      if (!good) source_.refuse(turbulence_field, i, value);
      cells_.set_turbulence(i, good ? b : 0);
    });
  }
  void temperature() {
    source_.read(arrays_.temperature, [&](std::int64_t i, double value) {
      const double t = value * temperature_unit_;
      const bool good = t >= coldest_gas && t <= hottest_gas;
      if (!good) source_.refuse(arrays_.temperature, i, t);
      cells_.set_temperature(i, good ? t : 1e4, turbulent_ ? cells_.turbulence(i) : 0);
    });
  }
  void velocity(int axis) {
    const std::string& field = arrays_.velocity[std::size_t(axis)];
    const double unit = velocity_unit_[axis];
    source_.read(field, [&](std::int64_t i, double v) {
      const bool good = std::abs(v * unit) <= fastest_gas;
      if (!good) source_.refuse(field, i, v);
      cells_.set_velocity(i, axis, good ? v * unit : 0);
    });
  }
  void dust() {
    if (!dataset_.dust) return;
    source_.read(dataset_.dust_field, [&](std::int64_t i, double value) {
      const double n = value * dust_unit_;
      const bool good = n >= 0 && n < 1e30;
      if (!good) source_.refuse(dataset_.dust_field, i, n);
      cells_.set_dust(i, good ? n : 0);
    });
  }

 private:
  const GasSource& source_;
  const config::Dataset& dataset_;
  CellRecords& cells_;
  const io::Input file_;
  const GasArrays arrays_;
  const bool turbulent_;
  double velocity_unit_[3], density_unit_, temperature_unit_, dust_unit_ = 1, turbulence_unit_ = 1;
};

/// Each component of a velocity may be possible, and the speed not.
void check_speeds(const GasSource& source, std::int64_t count, int threads, const CellRecords& cells) {
  parallel_for(threads, std::size_t(count), 1 << 16, [&](std::size_t first, std::size_t end) {
    for (auto i = std::int64_t(first); i < std::int64_t(end); ++i) {
      const auto v = cells.gas(i).velocity;
      const double speed = std::hypot(v.x, v.y, v.z) * cells.units().reference_speed;
      if (speed > (1 + 1e-4) * fastest_gas) source.refuse("speed [km/s]", i, speed / constants::km);
    }
  });
}

}  // namespace

void fill_gas(const GasSource& source, std::int64_t count, int threads, CellRecords& cells) {
  GasFiller gas(source, cells);
  gas.density();
  gas.turbulence();
  gas.temperature();
  for (int axis = 0; axis < 3; ++axis) gas.velocity(axis);
  check_speeds(source, count, threads, cells);
  gas.dust();
}

}  // namespace thor
