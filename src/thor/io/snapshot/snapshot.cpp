#include "thor/io/snapshot/snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "thor/core/error.hpp"
#include "thor/core/interrupt.hpp"
#include "thor/io/snapshot/files.hpp"
#include "thor/io/snapshot/gas.hpp"
#include "thor/io/snapshot/ramses.hpp"
#include "thor/io/snapshot/stars.hpp"

namespace thor::io {

struct Snapshot::Impl {
  std::vector<std::filesystem::path> files;
  SnapshotHeader header;
  Counts counts;
  GasFields gas;
  StarFields stars;
  std::unique_ptr<const RamsesOutput> ramses;  ///< in place of files of HDF5
  std::once_flag counted;
  std::uint64_t star_count = 0;

  /// Calls visit(input, first row, rows) for all rows of a particle type, `size` or fewer at a time.
  template <class Visit>
  void for_each(const ParticleType& particles, std::size_t size, const Visit& visit) const {
    if (size == 0) throw Error(ExitCode::internal, "reading a snapshot 0 particles at a time");
    for (std::size_t file = 0; file < files.size(); ++file) {
      if (particles.counts[file] == 0) continue;
      const Input input(files[file]);
      for (std::uint64_t first = 0; first < particles.counts[file]; first += size) {
        visit(input, first, std::min<std::uint64_t>(size, particles.counts[file] - first));
      }
    }
  }
};

Snapshot::Snapshot(const std::filesystem::path& path, const SnapshotOptions& options)
    : impl_(std::make_unique<Impl>()) {
  Impl& s = *impl_;
  auto& notes = s.header.notes;
  if (RamsesOutput::is_one(path)) {
    s.ramses = std::make_unique<const RamsesOutput>(path, s.header);
    s.files = s.ramses->files();
    return;
  }
  s.files = snapshot_files(path, notes);
  s.counts = count_particles(s.files, notes);
  const auto& [gas, stars] = s.counts;
  if (!gas.first_file && !stars.first_file) {
    throw Error(ExitCode::input, fmt::format("{}: it has neither gas (/PartType0) nor stars (/PartType4): is it a "
                                             "snapshot of Gadget, AREPO or SWIFT?",
                                             path.string()));
  }
  const Input front(s.files.front());
  const SnapshotUnits units = read_header(front, options, s.header);
  if (gas.first_file) s.gas = GasFields(Input(s.files[*gas.first_file]), gas, units, notes);
  if (stars.first_file) s.stars = StarFields(Input(s.files[*stars.first_file]), stars, units, s.header);

  for (const ParticleType* type : {&gas, &stars}) {
    if (type->first_file) compare_units(Input(s.files[*type->first_file]), type->group, units, s.header.warnings);
  }

  const std::vector<Field> gas_fields = s.gas.all(), star_fields = s.stars.all();
  for (std::size_t file = 0; file < s.files.size(); ++file) {
    const Input input(s.files[file]);
    check_fields(input, file, gas, gas_fields);
    check_fields(input, file, stars, star_fields);
    for (const ParticleType* type : {&gas, &stars}) {
      if (type->counts[file] > 0) check_same_fields(input, Input(s.files[*type->first_file]), *type);
    }
  }

  const auto& position = s.gas.position() ? s.gas.position() : s.stars.position();
  read_box(front, position ? position->factor : cgs_factor(front, FieldQuantity::length, units), options, s.header);
}

Snapshot::~Snapshot() = default;

const SnapshotHeader& Snapshot::header() const { return impl_->header; }
const std::vector<std::filesystem::path>& Snapshot::files() const { return impl_->files; }
std::uint64_t Snapshot::gas_count() const {
  return impl_->ramses ? impl_->ramses->leaves() : impl_->counts.gas.total();
}
bool Snapshot::has(const std::string& gas_field) const {
  return impl_->ramses ? impl_->ramses->has(gas_field) : impl_->gas.has(gas_field);
}

std::uint64_t Snapshot::star_count() const {
  Impl& s = *impl_;
  if (s.ramses) return s.ramses->stars().count();
  if (!s.stars.may_be_wind()) return s.counts.stars.total();
  std::call_once(s.counted, [&] {
    constexpr std::size_t size = 1u << 20;
    s.for_each(s.counts.stars, size, [&](const Input& input, std::uint64_t first, std::uint64_t count) {
      s.star_count += s.stars.count_stars(input, first, count);
    });
  });
  return s.star_count;
}

void Snapshot::for_each_gas(std::size_t size, const std::function<void(const GasBlock&)>& take) const {
  const Impl& s = *impl_;
  if (s.ramses) return s.ramses->for_each_gas(size, take);
  if (!s.gas.missing().empty()) throw Error(ExitCode::input, s.gas.missing());
  GasBlock block;
  s.for_each(s.counts.gas, size, [&](const Input& input, std::uint64_t first, std::uint64_t count) {
    stop_if_interrupted();
    s.gas.read(input, first, count, block);
    take(block);
  });
}

void Snapshot::for_each_star(std::size_t size, const std::function<void(const StarBlock&)>& take) const {
  const Impl& s = *impl_;
  if (s.ramses) return s.ramses->stars().for_each(size, take);
  if (!s.stars.missing().empty()) throw Error(ExitCode::input, s.stars.missing());
  StarBlock block;
  s.for_each(s.counts.stars, size, [&](const Input& input, std::uint64_t first, std::uint64_t count) {
    stop_if_interrupted();
    s.stars.read(input, first, count, block);
    if (block.count > 0) take(block);
  });
}

}  // namespace thor::io
