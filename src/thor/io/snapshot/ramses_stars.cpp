#include "thor/io/snapshot/ramses_stars.hpp"

#include <algorithm>
#include <array>

#include "thor/core/cosmology.hpp"
#include "thor/core/interrupt.hpp"
#include "thor/io/snapshot/ramses_files.hpp"

namespace thor::io {
namespace {

constexpr int records_before_columns = 8;  // processes, dimensions, particles, seeds, stars, their masses (2), sinks
constexpr int star = 2;                    // family

/// Whether the namelist of a run has "name = .true.", in any of the ways of Fortran.
bool is_set(const fs::path& path, const std::string& name) {
  std::ifstream text(path);
  for (std::string line; std::getline(text, line);) {
    std::string found;
    for (const char c : line.substr(0, line.find('!'))) {
      if (c != ' ' && c != '\t') found += char(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    const auto at = found.find(name + "=");
    if (at == std::string::npos) continue;
    const std::string value = found.substr(at + name.size() + 1);
    return value.starts_with(".t") || value.starts_with("t");
  }
  return false;
}

}  // namespace

/// Of one process, in code units.
struct RamsesStars::Particles {
  std::array<std::vector<double>, 3> position, velocity;
  std::vector<double> mass, birth, metallicity;
  std::vector<bool> is_star;
};

RamsesStars::RamsesStars(const fs::path& folder, const std::string& number, int processes, const RamsesUnits& units,
                         SnapshotHeader& header)
    : units_(units) {
  const auto file = [&](int process) { return folder / fmt::format("part_{}.out{:05}", number, process); };
  std::error_code none;
  const fs::path descriptor = folder / "part_file_descriptor.txt";
  if (!fs::exists(descriptor, none)) {
    if (fs::exists(file(1), none)) {
      header.notes.emplace_back("stars: not read, as there is no part_file_descriptor.txt");
    }
    return;
  }
  read_columns(descriptor);
  if (!has("birth_time")) {
    header.notes.emplace_back("stars: none, as part_file_descriptor.txt names no birth_time");
    return;
  }
  for (int i = 1; i <= processes; ++i) {
    files_.push_back(file(i));
    const std::vector<bool> stars = read(file(i)).is_star;
    count_ += std::uint64_t(std::ranges::count(stars, true));
  }
  if (count_ == 0) return;
  prepare_ages(folder, number, header);
  header.notes.push_back(fmt::format("stars: {}, born at {} times; their masses are taken for those at birth", count_,
                                     conformal_ ? "conformal" : "proper"));
}

/// "3, position_z, d" of the descriptor.
void RamsesStars::read_columns(const fs::path& path) {
  std::ifstream text(path);
  for (std::string line; std::getline(text, line);) {
    const auto first = line.find(','), second = line.find(',', first + 1);
    if (line.starts_with("#") || first == std::string::npos || second == std::string::npos) continue;
    Column column{trimmed(line.substr(first + 1, second - first - 1)), trimmed(line.substr(second + 1))};
    if (has(column.name)) fail_snapshot(path, fmt::format("it names {} twice", column.name));
    columns_.push_back(std::move(column));
  }
  for (const char* needed :
       {"position_x", "position_y", "position_z", "velocity_x", "velocity_y", "velocity_z", "mass"}) {
    if (!has(needed)) fail_snapshot(path, fmt::format("it names no {} of particles", needed));
  }
}

bool RamsesStars::has(const std::string& name) const {
  return std::ranges::any_of(columns_, [&](const Column& c) { return c.name == name; });
}

RamsesStars::Particles RamsesStars::read(const fs::path& path) const {
  Records file(path);
  file.skip(2);
  const auto count = file.one<std::int32_t>();
  if (count < 0) fail_snapshot(path, "it has a negative number of particles");
  file.skip(records_before_columns - 3);
  Particles p;
  const auto place_of = [&](const std::string& name) -> std::vector<double>* {
    for (std::size_t k = 0; k < 3; ++k) {
      const std::string axis(1, "xyz"[k]);
      if (name == "position_" + axis) return &p.position[k];
      if (name == "velocity_" + axis) return &p.velocity[k];
    }
    return name == "mass"          ? &p.mass
           : name == "birth_time"  ? &p.birth
           : name == "metallicity" ? &p.metallicity
                                   : nullptr;
  };
  std::vector<std::int8_t> family;
  for (const Column& column : columns_) {
    std::vector<double>* const values = place_of(column.name);
    if (values && column.type != "d" && column.type != "f") {
      fail_snapshot(path, fmt::format("part_file_descriptor.txt says that {} has the type {}; expected d or f",
                                      column.name, column.type));
    }
    if (values && column.type == "f") {
      const auto single = file.next<float>(count);
      values->assign(single.begin(), single.end());
    } else if (values) {
      *values = file.next<double>(count);
    } else if (column.name == "family") {
      family = file.next<std::int8_t>(count);
    } else {
      file.skip();
    }
  }
  for (std::size_t i = 0; i < std::size_t(count); ++i) {
    p.is_star.push_back(family.empty() ? p.birth[i] != 0 : family[i] == star);
  }
  return p;
}

/// Without cosmology birth times are those of the run. With it they are conformal, d tau = H0 dt/a^2, or with
/// `use_proper_time` proper ones, in units of 1/H0; both are 0 at a = 1 (Martel & Shapiro 1998, MNRAS 297, 467).
void RamsesStars::prepare_ages(const fs::path& folder, const std::string& number, const SnapshotHeader& header) {
  const fs::path info = folder / fmt::format("info_{}.txt", number);
  if (!header.cosmological) {
    now_ = number_of(info, entries_of(info), "time"), per_time_ = units_.time;
    return;
  }
  const Cosmology cosmology{.h = header.h, .omega_m = header.omega_m, .omega_lambda = header.omega_lambda};
  const double hubble = cosmology.hubble(0);
  conformal_ = !is_set(folder / "namelist.txt", "use_proper_time");
  if (!conformal_) {
    per_time_ = 1 / hubble, now_ = (cosmology.age(header.redshift) - cosmology.age(0)) * hubble;
    return;
  }
  // From a = 1.1 back to 0.01, by the rule of Simpson in ln a: dt/d ln a = 1/H, d tau/d ln a = H0/(a^2 H).
  constexpr double step = 1e-4;
  constexpr int first = -1000, last = 46052;
  const auto rates = [&](double back) {
    const double a = std::exp(-back), time = 1 / cosmology.hubble(1 / a - 1);
    return std::array{time, hubble * time / (a * a)};
  };
  double since = 0, tau = 0;
  std::array<double, 2> before = rates(first * step);
  std::vector<double> times;
  for (int i = first; i <= last; ++i) {
    births_.push_back(-tau), times.push_back(since);
    const auto middle = rates((i + 0.5) * step), after = rates((i + 1) * step);
    since += step / 6 * (before[0] + 4 * middle[0] + after[0]),
        tau += step / 6 * (before[1] + 4 * middle[1] + after[1]);
    before = after;
  }
  const double today = births_[-first], place = -std::log(header.scale_factor) / step - first;
  if (!(place >= 0 && place < double(times.size() - 1))) {
    fail_snapshot(info, fmt::format("aexp is {}; ages of stars are known from 0.01 to 1.1", header.scale_factor));
  }
  const auto here = std::size_t(place);
  const double to_now = std::lerp(times[here], times[here + 1], place - double(here));
  for (std::size_t i = 0; i < births_.size(); ++i) births_[i] -= today, ages_.push_back(times[i] - to_now);
}

double RamsesStars::age(double birth) const {
  constexpr double rounding = 1e6 * 3.15576e7;  // a star of this step may be born a little after its output
  double age = (now_ - birth) * per_time_;
  if (conformal_) {
    const auto after = std::ranges::lower_bound(births_, birth, std::greater());  // births fall
    if (after == births_.begin() || after == births_.end()) return NAN;
    const auto i = std::size_t(after - births_.begin());
    age = std::lerp(ages_[i - 1], ages_[i], (birth - births_[i - 1]) / (births_[i] - births_[i - 1]));
  }
  return age < 0 && age > -rounding ? 0 : age;
}

void RamsesStars::for_each(std::size_t size, const std::function<void(const StarBlock&)>& take) const {
  if (count_ == 0) return;
  const double speed = units_.length / units_.time, mass = units_.density * std::pow(units_.length, 3);
  for (const fs::path& path : files_) {
    stop_if_interrupted();
    const Particles p = read(path);
    StarBlock block;
    const auto flush = [&] {
      if (block.count > 0) take(block);
      block = {};
    };
    for (std::size_t i = 0; i < p.is_star.size(); ++i) {
      if (!p.is_star[i]) continue;
      for (std::size_t k = 0; k < 3; ++k) {
        block.position.push_back(p.position[k][i] * units_.length);
        block.velocity.push_back(p.velocity[k][i] * speed);
      }
      block.mass.push_back(p.mass[i] * mass), block.age.push_back(age(p.birth[i]));
      if (!p.metallicity.empty()) block.metallicity.push_back(p.metallicity[i]);
      if (++block.count == size) flush();
    }
    flush();
  }
}

}  // namespace thor::io
