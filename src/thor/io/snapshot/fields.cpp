#include "thor/io/snapshot/fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>

#include "thor/core/error.hpp"
#include "thor/core/message.hpp"
#include "thor/io/snapshot/error.hpp"

namespace thor::io {
namespace {

namespace fs = std::filesystem;

std::uint64_t width_of(const Input& input, const std::string& path, const ArrayInfo& info) {
  if (!info.numeric) fail_snapshot(input.path(), fmt::format("{} holds {}, not numbers", path, info.type));
  if (info.shape.empty() || info.shape.size() > 2) {
    fail_snapshot(input.path(), fmt::format("{} has {} dimensions; 1 or 2 are expected", path, info.shape.size()));
  }
  return info.shape.size() == 2 ? info.shape[1] : 1;
}

/// Entry of a header's list for a particle type.
std::optional<double> of_type(const Input& input, const char* name, std::size_t type) {
  const auto numbers = input.numbers("/Header", name);
  if (numbers.size() <= type) return {};
  return numbers[type];
}

/// NaN is NaN: what a header says without a number is reported where it is used.
bool are_same(const std::vector<double>& a, const std::vector<double>& b) {
  return std::ranges::equal(a, b, [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

std::uint64_t rows_of(const Input& input, const std::string& group) {
  if (!input.has(group)) return 0;
  const std::string path = group + "/Coordinates";
  if (input.has(path)) {
    const ArrayInfo info = input.array(path);
    return info.shape.empty() ? 0 : info.shape[0];
  }
  for (const std::string& name : input.children(group)) {
    // A group, such as EAGLE's ElementAbundance, is not a dataset.
    try {
      if (const ArrayInfo info = input.array(group + "/" + name); !info.shape.empty()) return info.shape[0];
    } catch (const Error&) {
    }
  }
  return 0;
}

}  // namespace

std::uint64_t ParticleType::total() const { return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}); }

Counts count_particles(const std::vector<fs::path>& files, std::vector<std::string>& notes) {
  Counts counts{{.group = "/PartType0", .type = 0, .counts = {}, .first_file = {}},
                {.group = "/PartType4", .type = 4, .counts = {}, .first_file = {}}};
  ParticleType* const types[] = {&counts.gas, &counts.stars};
  std::optional<double> total[2];
  bool told = false;
  std::map<std::string, std::vector<double>> first;
  for (const fs::path& file : files) {
    const Input input(file);
    for (const char* name : {"Time", "Redshift", "BoxSize"}) {
      const auto here = input.numbers("/Header", name);
      if (&file == files.data()) first[name] = here;
      if (!are_same(here, first[name])) {
        const auto text = [](const std::vector<double>& values) {
          return values.empty() ? "missing" : fmt::format("{}", fmt::join(values, ", "));
        };
        fail_snapshot(
            file, fmt::format("its /Header@{} is {} and that of {} is {}: the files are not from one snapshot", name,
                              text(here), files.front().filename().string(), text(first[name])));
      }
    }
    for (int i = 0; i < 2; ++i) {
      ParticleType& type = *types[i];
      const std::uint64_t rows = rows_of(input, type.group);
      if (rows > 0 && !type.first_file) type.first_file = type.counts.size();
      type.counts.push_back(rows);
      if (const auto here = of_type(input, "NumPart_ThisFile", type.type); here && *here != double(rows) && !told) {
        notes.push_back(fmt::format("{}: NumPart_ThisFile says {:.0f} for {}, its datasets have {}; the latter is used",
                                    file.filename().string(), *here, type.group, rows));
        told = true;
      }
      if (total[i]) continue;
      total[i] = of_type(input, "NumPart_Total", type.type);
      if (total[i] && *total[i] < 4294967296.) {  // 2^32; the high words are in another list
        *total[i] += 4294967296. * of_type(input, "NumPart_Total_HighWord", type.type).value_or(0);
      }
    }
  }
  for (int i = 0; i < 2; ++i) {
    if (!total[i] || *total[i] == double(types[i]->total())) continue;
    notes.push_back(fmt::format("NumPart_Total says {:.0f} for {}, the datasets have {}; the latter is used", *total[i],
                                types[i]->group, types[i]->total()));
  }
  return counts;
}

std::optional<Field> find_field(const Input& input, const ParticleType& particles, const Wanted& wanted,
                                const SnapshotUnits& units) {
  for (const std::string& name : wanted.names) {
    Field field{.path = particles.group + "/" + name, .components = wanted.components};
    if (!input.has(field.path)) continue;
    const ArrayInfo info = input.array(field.path);
    field.width = width_of(input, field.path, info);
    if (info.shape[0] > 0 && !input.is_written(field.path)) {
      warning("{}: {} has no values and is treated as missing", input.path().string(), field.path);
      continue;
    }
    if (field.width < wanted.components || (!wanted.first_of_many && field.width != wanted.components)) {
      fail_snapshot(input.path(),
                    fmt::format("{} has {} columns; {} are expected", field.path, field.width, wanted.components));
    }
    field.factor = cgs_factor(input, field.path, wanted.quantity, units);
    return field;
  }
  return {};
}

std::optional<Field> find_metallicity(const Input& input, const ParticleType& particles, const SnapshotUnits& units,
                                      std::vector<std::string>& notes) {
  // The total of metals is a separate column, or the first one (GIZMO); in SWIFT's GEAR model the first is iron.
  auto field =
      find_field(input, particles,
                 {{"GFM_Metallicity", "Metallicity", "MetalMassFractions"}, FieldQuantity::none, 1, true}, units);
  if (field && field->width > 1 && field->path.ends_with("/MetalMassFractions")) {
    notes.push_back(fmt::format("{} has {} columns, in an unknown order: not used", field->path, field->width));
    return {};
  }
  return field;
}

void check_fields(const Input& input, std::size_t file, const ParticleType& particles,
                  const std::vector<Field>& fields) {
  if (particles.counts[file] == 0) return;
  for (const Field& field : fields) {
    if (!input.has(field.path))
      fail_snapshot(input.path(), fmt::format("it has no {}, unlike other files of the snapshot", field.path));
    const ArrayInfo info = input.array(field.path);
    const std::uint64_t width = width_of(input, field.path, info);
    if (width != field.width) {
      fail_snapshot(input.path(), fmt::format("{} has {} columns, but {} in another file of the snapshot", field.path,
                                              width, field.width));
    }
    if (info.shape[0] != particles.counts[file]) {
      fail_snapshot(input.path(),
                    fmt::format("{} has {} rows, {}/Coordinates has {}: the file is damaged or incomplete", field.path,
                                info.shape[0], particles.group, particles.counts[file]));
    }
  }
}

void check_same_fields(const Input& input, const Input& first, const ParticleType& particles) {
  for (const std::string& name : input.children(particles.group)) {
    const std::string path = particles.group + "/" + name;
    if (first.has(path) || !input.has(path)) continue;  // a link may lead nowhere
    fail_snapshot(first.path(), fmt::format("it has no {}/{}, unlike {}: the files are not from one snapshot",
                                            particles.group, name, input.path().filename().string()));
  }
}

void read_field(const Input& input, const Field& field, std::uint64_t first, std::uint64_t count,
                std::vector<double>& values) {
  values.resize(count * field.components);
  if (field.width == field.components) {
    input.read<double>(field.path, first, count, std::span(values));
  } else {
    // A few columns of a wide dataset are read piece by piece, so that only the columns take memory.
    const std::uint64_t most = std::max<std::uint64_t>(1, (1u << 20) / field.width);
    std::vector<double> rows;
    for (std::uint64_t done = 0; done < count;) {
      const std::uint64_t now = std::min(most, count - done);
      rows.resize(now * field.width);
      input.read<double>(field.path, first + done, now, std::span(rows));
      for (std::uint64_t i = 0; i < now; ++i) {
        std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(i * field.width + field.column), field.components,
                    values.begin() + static_cast<std::ptrdiff_t>((done + i) * field.components));
      }
      done += now;
    }
  }
  for (double& value : values) value *= field.factor;
}

double table_mass(const Input& input, const ParticleType& particles, const SnapshotUnits& units) {
  const auto mass = of_type(input, "MassTable", particles.type);
  if (!mass || !(*mass > 0)) return 0;
  return *mass * cgs_factor(input, FieldQuantity::mass, units);
}

}  // namespace thor::io
