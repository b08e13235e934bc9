#include "thor/io/snapshot/ramses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>

#include "thor/core/interrupt.hpp"
#include "thor/io/snapshot/ramses_files.hpp"

namespace thor::io {
namespace {

constexpr int octs_before_sons = 13;  // records of a list: index, next, previous, centre, father, neighbours

}  // namespace

/// The grids of a level that a process owns.
struct RamsesOutput::Leaves {
  std::vector<double> centre[3];
  std::vector<std::int32_t> sons[8];
};

bool RamsesOutput::is_one(const fs::path& path) {
  std::error_code none;
  if (path.filename().string().starts_with("info_") && path.extension() == ".txt") return true;
  if (!fs::is_directory(path, none)) return false;
  for (const auto& entry : fs::directory_iterator(path, none)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("info_") && name.ends_with(".txt") && !name.starts_with("info_rt")) return true;
  }
  return false;
}

RamsesOutput::RamsesOutput(const fs::path& path, SnapshotHeader& header) {
  std::error_code none;
  folder_ = fs::is_directory(path, none) ? path : path.parent_path();
  for (const auto& entry : fs::directory_iterator(folder_, none)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("info_") && name.ends_with(".txt") && !name.starts_with("info_rt")) {
      if (!number_.empty()) fail_snapshot(folder_, "it has several info files: one output of RAMSES is in a directory");
      number_ = name.substr(5, name.size() - 9);
    }
  }
  header.code = "RAMSES";
  read_info(header);
  read_variables();
  read_ions();
  for (int i = 1; i <= processes_; ++i) {
    for (const char* kind : {"amr", "hydro"}) files_.push_back(file(kind, i));
    leaves_ += read(i, 0, {});
  }
  if (ions_ > 0) {
    header.notes.push_back(fmt::format("ionisation: {} is x_HII{}, X = {:g}", variables_[std::size_t(first_ion_)],
                                       ions_ > 2 ? ", then x_HeII and x_HeIII" : "", hydrogen_));
  }
  stars_.emplace(folder_, number_, processes_,
                 RamsesUnits{box_ * unit_length_, unit_length_, unit_density_, unit_time_}, header);
  for (const fs::path& path : stars_->files()) files_.push_back(path);
}

fs::path RamsesOutput::file(const char* kind, int process, const char* separator) const {
  return folder_ / fmt::format("{}_{}{}{:05}", kind, number_, separator, process);
}

void RamsesOutput::read_info(SnapshotHeader& header) {
  const fs::path path = folder_ / fmt::format("info_{}.txt", number_);
  const auto entries = entries_of(path);
  const auto number = [&](const char* name) { return number_of(path, entries, name); };
  if (number("ndim") != 3) fail_snapshot(path, fmt::format("it has {} dimensions; thor needs 3", number("ndim")));
  const double processes = number("ncpu");
  if (!(processes >= 1 && processes <= 1e6)) fail_snapshot(path, fmt::format("ncpu is {}", processes));
  processes_ = int(processes);
  box_ = number("boxlen"), unit_length_ = number("unit_l"), unit_density_ = number("unit_d");
  unit_time_ = number("unit_t");
  for (const double unit : {box_, unit_length_, unit_density_, unit_time_}) {
    if (!(unit > 0)) fail_snapshot(path, "boxlen and the units unit_l, unit_d, unit_t must be above 0");
  }
  // Without cosmology RAMSES writes H0 = 1 and aexp = 1. Units are physical ones at this time.
  header.scale_factor = number("aexp"), header.h = number("H0") / 100;
  header.omega_m = number("omega_m"), header.omega_lambda = number("omega_l");
  header.cosmological = header.h > 0.011;
  if (header.cosmological) header.redshift = 1 / header.scale_factor - 1;
  if (!(header.scale_factor > 0)) fail_snapshot(path, fmt::format("aexp is {}", header.scale_factor));
  header.box.fill(box_ * unit_length_);
  header.notes.push_back(fmt::format("units: {:.4g} cm, {:.4g} g/cm^3, {:.4g} s, from {}", unit_length_, unit_density_,
                                     unit_time_, path.filename().string()));
}

/// Of the descriptor, as "3, velocity_y, d" or, in older outputs, "variable #  3: velocity_y".
void RamsesOutput::read_variables() {
  const fs::path path = folder_ / "hydro_file_descriptor.txt";
  std::ifstream text(path);
  if (!text) fail_snapshot(path, "it is missing, so that the variables of the gas are not known: copy or write it");
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("#") || line.find("nvar") != std::string::npos) continue;
    const auto colon = line.find(':'), comma = line.find(',');
    if (line.find("variable") != std::string::npos && colon != std::string::npos) {
      variables_.push_back(trimmed(line.substr(colon + 1)));
    } else if (comma != std::string::npos) {
      variables_.push_back(trimmed(line.substr(comma + 1, line.find(',', comma + 1) - comma - 1)));
    }
  }
  for (std::string& name : variables_) {
    if (name == "thermal_pressure") name = "pressure";
  }
  const char* const names[] = {"density", "velocity_x", "velocity_y", "velocity_z", "pressure"};
  for (std::size_t k = 0; k < basic_.size(); ++k) {
    basic_[k] = find(names[k]);
    if (basic_[k] < 0) fail_snapshot(path, fmt::format("it names no {}", names[k]));
  }
  metals_ = std::max(find("metallicity"), find("metal"));
}

int RamsesOutput::find(const std::string& name) const {
  const auto found = std::ranges::find(variables_, name);
  return found == variables_.end() ? -1 : int(found - variables_.begin());
}

/// Of RAMSES-RT (Rosdahl et al. 2013): iIons is the number of the variable with x_HII.
void RamsesOutput::read_ions() {
  const fs::path path = folder_ / fmt::format("info_rt_{}.txt", number_);
  std::error_code none;
  if (!fs::exists(path, none)) return;
  const auto entries = entries_of(path);
  first_ion_ = int(number_of(path, entries, "iIons")) - 1;
  ions_ = entries.contains("nIons") ? int(number_of(path, entries, "nIons")) : 3;
  hydrogen_ = number_of(path, entries, "X_fraction");
  if (ions_ != 1 && ions_ != 3) {
    fail_snapshot(path,
                  fmt::format("it has {} ions (nIons); thor knows of x_HII, or of x_HII, x_HeII and x_HeIII", ions_));
  }
  if (first_ion_ < 0 || first_ion_ + ions_ > int(variables_.size()) || !(hydrogen_ > 0 && hydrogen_ <= 1)) {
    fail_snapshot(path, fmt::format("iIons = {} and nIons = {} with {} variables, X_fraction = {}", first_ion_ + 1,
                                    ions_, variables_.size(), hydrogen_));
  }
}

std::uint64_t RamsesOutput::leaves() const { return leaves_; }

bool RamsesOutput::has(const std::string& gas_field) const {
  if (gas_field == "neutral" || gas_field == "electrons" || gas_field == "hydrogen") return ions_ > 0;
  if (gas_field == "metallicity") return metals_ >= 0;
  return gas_field == "level" || gas_field == "position" || gas_field == "mass" || gas_field == "velocity" ||
         gas_field == "density" || gas_field == "internal_energy";
}

void RamsesOutput::for_each_gas(std::size_t size, const std::function<void(const GasBlock&)>& take) const {
  for (int i = 1; i <= processes_; ++i) read(i, size, take);
}

// The order of the records is one list: it is read as it stands.
// NOLINTNEXTLINE(readability-function-size)
std::uint64_t RamsesOutput::read(int process, std::size_t size,
                                 const std::function<void(const GasBlock&)>& take) const {
  Records amr(file("amr", process));
  const auto processes = amr.one<std::int32_t>(), dimensions = amr.one<std::int32_t>();
  const auto coarse = amr.next<std::int32_t>(3);
  const auto levels = amr.one<std::int32_t>();
  amr.skip();
  const auto boundaries = amr.one<std::int32_t>();
  if (processes != processes_ || dimensions != 3 || levels < 1 || levels > 60 || boundaries < 0 || boundaries > 1000) {
    fail_snapshot(file("amr", process),
                  fmt::format("of {} processes, {} dimensions and {} levels; the info file says {} "
                              "processes and 3 dimensions: files of several outputs?",
                              processes, dimensions, levels, processes_));
  }
  amr.skip(15);  // to the lists' heads and tails
  const auto counts = amr.next<std::int32_t>(std::int64_t(processes) * levels);
  amr.skip();
  std::vector<std::int32_t> outer;
  if (boundaries > 0) {
    amr.skip(2);
    outer = amr.next<std::int32_t>(std::int64_t(boundaries) * levels);
  }
  amr.skip();
  const auto ordering = amr.next<char>();
  amr.skip(std::string(ordering.begin(), ordering.end()).starts_with("bisection") ? 5 : 1);
  amr.skip(3);
  const bool is_counted = !take;
  std::optional<Records> hydro;
  const fs::path hydro_path = file("hydro", process);
  if (!is_counted) {
    hydro.emplace(hydro_path);
    const auto same = hydro->one<std::int32_t>(), variables = hydro->one<std::int32_t>();
    hydro->skip();
    const auto same_levels = hydro->one<std::int32_t>(), same_boundaries = hydro->one<std::int32_t>();
    hydro->skip();
    if (same != processes || same_levels != levels || same_boundaries != boundaries) {
      fail_snapshot(hydro_path, "it does not belong to the amr file of this process");
    }
    if (variables != int(variables_.size())) {
      fail_snapshot(hydro_path, fmt::format("it has {} variables, hydro_file_descriptor.txt names {}", variables,
                                            variables_.size()));
    }
  }
  std::uint64_t found = 0;
  GasBlock block;
  const double speed = unit_length_ / unit_time_, side = box_ * unit_length_;
  const auto flush = [&] {
    if (block.count > 0) take(block);
    block = {};
  };
  for (int level = 1; level <= levels; ++level) {
    for (int list = 1; list <= processes + boundaries; ++list) {
      const std::int32_t count = list <= processes
                                     ? counts[std::size_t((level - 1) * processes + list - 1)]
                                     : outer[std::size_t((level - 1) * boundaries + list - processes - 1)];
      if (count < 0) fail_snapshot(file("amr", process), "it has a negative number of grids");
      const bool is_own = list == process;
      if (hydro) {
        hydro->skip();
        if (hydro->one<std::int32_t>() != count) fail_snapshot(hydro_path, "it does not belong to the amr file");
      }
      if (count == 0) continue;
      Leaves own;
      if (is_own) {
        amr.skip(3);
        for (auto& centre : own.centre) centre = amr.next<double>(count);
        amr.skip(octs_before_sons - 6);
        for (auto& sons : own.sons) sons = amr.next<std::int32_t>(count);
      } else {
        amr.skip(octs_before_sons + 8);
      }
      amr.skip(16);
      if (is_own) {
        for (const auto& sons : own.sons) found += std::uint64_t(std::ranges::count(sons, 0));
      }
      if (!hydro) continue;
      if (!is_own) {
        hydro->skip(8 * int(variables_.size()));
        continue;
      }
      stop_if_interrupted();
      const double width = std::ldexp(1., -level), volume = std::pow(width * side, 3);
      for (int cell = 0; cell < 8; ++cell) {
        std::vector<std::vector<double>> values(variables_.size());
        for (auto& column : values) column = hydro->next<double>(count);
        for (std::size_t i = 0; i < std::size_t(count); ++i) {
          if (own.sons[cell][i] != 0) continue;
          const auto value = [&](int variable) { return values[std::size_t(variable)][i]; };
          for (std::size_t k = 0; k < 3; ++k) {
            const double at = own.centre[k][i] + ((cell >> k & 1) - 0.5) * width - std::floor(coarse[k] / 2);
            block.position.push_back(at * side);
            block.cell.push_back(std::llround(at / width - 0.5));
            block.velocity.push_back(value(basic_[1 + k]) * speed);
          }
          block.level.push_back(level);
          const double density = value(basic_[0]) * unit_density_;
          block.density.push_back(density), block.mass.push_back(density * volume);
          // Of gas with an adiabatic index of 5/3 and this pressure, so that its temperature follows.
          block.internal_energy.push_back(1.5 * value(basic_[4]) / value(basic_[0]) * speed * speed);
          if (metals_ >= 0) block.metallicity.push_back(value(metals_));
          if (ions_ > 0) {
            const double ionised = value(first_ion_), helium = (1 - hydrogen_) / (4 * hydrogen_);
            block.hydrogen.push_back(hydrogen_), block.neutral.push_back(1 - ionised);
            block.electrons.push_back(ionised + (ions_ > 1
                                                     ? helium * (value(first_ion_ + 1) + 2 * value(first_ion_ + 2))
                                                     : helium * ionised));
          }
          if (++block.count == size) flush();
        }
      }
    }
  }
  if (!is_counted) flush();
  return found;
}

}  // namespace thor::io
