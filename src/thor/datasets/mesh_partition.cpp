#include "thor/datasets/mesh_partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "thor/core/error.hpp"

namespace thor {
namespace {

/// The cells of a domain, for what is built before a run.
class PartMesh : public HostMesh {
 public:
  PartMesh(std::shared_ptr<const HostMesh> whole, std::int64_t first, std::int64_t end)
      : whole_(std::move(whole)), first_(first), end_(end) {}

  const char* name() const override { return whole_->name(); }
  std::int64_t cells() const override { return end_ - first_; }
  CellNumbers numbers() const override { return {std::uint64_t(first_)}; }
  std::array<std::int32_t, 3> place(std::int64_t number) const override { return whole_->place(number); }
  Position centre(const std::array<std::int32_t, 3>& place) const override { return whole_->centre(place); }
  double volume(std::int64_t cell) const override { return whole_->volume(first_ + cell); }
  Position low() const override { return whole_->low(); }
  Position sides() const override { return whole_->sides(); }
  bool periodic() const override { return whole_->periodic(); }
  std::optional<Site> locate(const Position& position) const override { return whole_->locate(position); }
  std::vector<std::optional<Site>> copies(const Position& position) const override { return whole_->copies(position); }
  void check_field(const io::Input& file, const std::string& field) const override { whole_->check_field(file, field); }
  void read_field(const std::string& path, const std::string& field, int threads,
                  const std::function<void(std::int64_t, double)>& take) const override {
    whole_->read_field(path, field, threads, [&](std::int64_t cell, double value) {
      if (cell >= first_ && cell < end_) take(cell - first_, value);
    });
  }
  std::vector<Derived> derived() const override { return whole_->derived(); }
  void write(io::ArrayOutput& file) const override { whole_->write(file); }

 private:
  std::shared_ptr<const HostMesh> whole_;
  std::int64_t first_, end_;
};

/// What is thought to be the work in each cell, summed up to its end: half of it where photons begin, and half
/// everywhere. Light is known of cubes, and spread over the cells in each.
std::vector<double> work_of(const HostMesh& mesh, const Cut& cut) {
  constexpr std::int64_t n = 32;
  const auto low = mesh.low(), sides = mesh.sides();
  const auto cube_of = [&](std::int64_t cell) {
    const auto centre = mesh.centre(mesh.place(cell));
    std::int64_t cube = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const double at = (centre[k] - low[k]) / sides[k] * double(n);
      cube = cube * n + std::clamp(std::int64_t(at), std::int64_t(0), n - 1);
    }
    return std::size_t(cube);
  };
  std::vector<double> cells(n * n * n, 0);
  for (std::int64_t i = 0; i < mesh.cells(); ++i) ++cells[cube_of(i)];
  std::vector<double> light(cells.size(), 0);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] == 0) continue;
    const std::size_t at[3] = {i / (n * n), i / n % n, i % n};
    std::array<double, 3> from{}, to{};
    for (std::size_t k = 0; k < 3; ++k) from[k] = double(at[k]) / double(n), to[k] = double(at[k] + 1) / double(n);
    light[i] = cut.light(from, to) / cells[i];
  }
  std::vector<double> work;
  double sum = 0;
  for (std::int64_t i = 0; i < mesh.cells(); ++i) {
    work.push_back(sum += light[cube_of(i)] + 1 / double(mesh.cells()));
  }
  return work;
}

void sort_once(std::vector<std::int32_t>& cells) {
  std::ranges::sort(cells);
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
}

}  // namespace

MeshPartition::MeshPartition(std::shared_ptr<const HostMesh> mesh, const Cut& cut, std::size_t integers,
                             Neighbours neighbours)
    : mesh_(std::move(mesh)),
      margin_(std::max<std::int64_t>(cut.margin, 1)),  // faces between domains are counted with it
      integers_(integers),
      neighbours_(std::move(neighbours)),
      parts_(std::size_t(cut.count)),
      found_(std::size_t(cut.count)) {
  const std::int64_t cells = mesh_->cells();
  if (cells < cut.count) {
    throw Error(ExitCode::usage,
                fmt::format("--domains {}: the {} has {} cells; take fewer", cut.count, mesh_->name(), cells));
  }
  if (cells > 1 << 30) {
    throw Error(ExitCode::input,
                fmt::format("the {} has {} cells; at most 2^30 can be shared out among domains", mesh_->name(), cells));
  }
  const std::vector<double> work = cut.light ? work_of(*mesh_, cut) : std::vector<double>();
  for (int domain = 0; domain < cut.count; ++domain) {
    std::int64_t first = cells * domain / cut.count;
    if (!work.empty()) {
      first = std::ranges::upper_bound(work, work.back() * domain / cut.count) - work.begin();
      const std::int64_t least = domain == 0 ? 0 : firsts_.back() + 1;  // each domain has a cell
      first = domain == 0 ? 0 : std::clamp(first, least, cells - (cut.count - domain));
    }
    firsts_.push_back(first);
  }
  firsts_.push_back(cells);
}

const MeshPart& MeshPartition::part(int domain) const {
  MeshPart& part = parts_[std::size_t(domain)];
  std::call_once(found_[std::size_t(domain)], [&] {
    part.first = firsts_[std::size_t(domain)];
    part.end = firsts_[std::size_t(domain) + 1];
    find_cells(part);
  });
  return part;
}

void MeshPartition::find_cells(MeshPart& part) const {
  std::vector<std::int32_t> layer, margin;
  const auto add = [&](std::int64_t cell) { layer.push_back(std::int32_t(cell)); };
  std::size_t enough = std::size_t(1) << 20;  // entries, of which many come more than once
  for (std::int64_t cell = part.first; cell < part.end; ++cell) {
    neighbours_(cell, part.first, part.end, add);
    if (layer.size() < enough) continue;
    sort_once(layer);
    enough = std::max(enough, 2 * layer.size());
  }
  sort_once(layer);
  for (std::int64_t i = 0; i < margin_; ++i) {
    std::vector<std::int32_t> grown;
    std::ranges::merge(margin, layer, std::back_inserter(grown));
    margin.swap(grown);
    const std::vector<std::int32_t> last = std::exchange(layer, {});
    for (const std::int32_t cell : last) neighbours_(cell, part.first, part.end, add);
    sort_once(layer);
    std::erase_if(layer, [&](std::int32_t cell) { return std::ranges::binary_search(margin, cell); });
  }
  const auto after = std::ranges::lower_bound(margin, part.first);
  part.held.assign(margin.begin(), after);
  part.own = std::int64_t(part.held.size());
  for (std::int64_t cell = part.first; cell < part.end; ++cell) part.held.push_back(std::int32_t(cell));
  part.held.insert(part.held.end(), after, margin.end());
  part.border = std::move(layer);
}

int MeshPartition::owner(const CellIndex& whole) const {
  return int(std::ranges::upper_bound(firsts_, whole[0]) - firsts_.begin()) - 1;
}

CellIndex MeshPartition::to_whole(int domain, const CellIndex& here) const {
  const CellsHeld cells = part(domain).cells();
  CellIndex whole = here;
  for (std::size_t k = 0; k < integers_; ++k) {
    if (here[k] >= 0) whole[k] = cells.to_whole(std::int32_t(here[k]));
  }
  return whole;
}

std::optional<CellIndex> MeshPartition::to_part(int domain, const CellIndex& whole) const {
  const MeshPart& held = part(domain);
  CellIndex here = whole;
  for (std::size_t k = 0; k < integers_; ++k) {
    if (whole[k] < 0) continue;
    here[k] = held.to_part(whole[k]);
    if (here[k] < 0 && k == 0) return {};
    if (here[k] < 0) here[k] = held.cells().count + whole[k];
  }
  return here;
}

std::unique_ptr<const HostMesh> MeshPartition::mesh(int domain) const {
  return std::make_unique<PartMesh>(mesh_, firsts_[std::size_t(domain)], firsts_[std::size_t(domain) + 1]);
}

std::vector<std::pair<std::int64_t, std::int64_t>> MeshPartition::own_cells(int domain) const {
  // In runs of about one length, which threads take one by one.
  constexpr std::int64_t run = 1 << 16;
  const MeshPart& held = part(domain);
  const std::int64_t end = held.own + held.end - held.first;
  std::vector<std::pair<std::int64_t, std::int64_t>> runs;
  for (std::int64_t i = held.own; i < end; i += run) runs.emplace_back(i, std::min(i + run, end));
  return runs;
}

void MeshPartition::for_each_run(const std::function<void(std::int64_t, std::int64_t, int)>& take) const {
  for (int domain = 0; domain < count(); ++domain) {
    take(firsts_[std::size_t(domain)], firsts_[std::size_t(domain) + 1], domain);
  }
}

}  // namespace thor
