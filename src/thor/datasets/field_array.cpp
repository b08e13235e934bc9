#include "thor/datasets/field_array.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"
#include "thor/core/memory.hpp"
#include "thor/core/message.hpp"
#include "thor/core/parallel_for.hpp"

namespace thor {
namespace {

constexpr std::size_t numbers_at_a_time = 1 << 16;

/// The power of two that the largest of these numbers is at most 2 times.
double unit_of(double largest) { return largest > 0 ? std::exp2(std::floor(std::log2(largest))) : 1; }

double largest_of(const FieldArray& field, int threads) {
  std::mutex mutex;
  float largest = 0;
  parallel_for(threads, field.count, numbers_at_a_time, [&](std::size_t first, std::size_t end) {
    float own = 0;
    for (std::size_t i = first; i < end; ++i) own = std::max(own, std::abs(field.numbers.get()[i]));
    const std::lock_guard lock(mutex);
    largest = std::max(largest, own);
  });
  return double(largest);
}

/// Counts what is no number.
class NotFinite {
 public:
  void add(std::int64_t cell) {
    const std::lock_guard lock(mutex_);
    if (count_++ == 0 || cell < first_) first_ = cell;
  }
  void say(const std::string& path, const std::string& field, const FieldCells& cells, bool drop) const {
    if (count_ == 0) return;
    const std::string what =
        fmt::format("{}: array {}: {} cells hold no finite number of single precision, the first is {}", path, field,
                    count_, cells.text_of(first_));
    if (!drop)
      throw Error(ExitCode::input, what + "; correct the file, or set dataset.bad_cells: drop to read them as 0");
    warning("{}; they are read as 0", what);
  }

 private:
  std::mutex mutex_;
  std::int64_t count_ = 0, first_ = 0;
};

/// The grid of a box of cells, each of one number, in the coordinates of the whole grid.
UniformGrid<double> layout_of(const GridShape& whole, const CellBox& box) {
  GridShape shape;
  shape.count = box.count, shape.cell_size = 1;
  UniformGrid<double> g = without_gas(shape);
  double room = 1;
  for (std::size_t k = 0; k < 3; ++k) {
    g.zero[k] = -whole.origin[k] / whole.cell_size - double(box.first[k]);
    room *= double(g.tiles[k]);
  }
  if (room > 0x1p32) throw Error(ExitCode::input, "a grid has at most 2^32 blocks of 4 x 4 x 4 cells");
  return g;
}

}  // namespace

GridFieldCells::GridFieldCells(const GridShape& whole, const CellBox& box)
    : whole_(whole), box_(box), layout_(layout_of(whole, box)) {}

std::size_t GridFieldCells::numbers() const {
  std::size_t count = 1;
  for (const int tiles : layout_.tiles) count *= std::size_t(tiles) << layout_.tile;
  return count;
}

std::size_t GridFieldCells::index(std::int64_t cell) const {
  const std::int64_t ny = box_.count[1], nz = box_.count[2];
  return std::size_t(cell_address<double>(layout_, cell / (ny * nz), cell / nz % ny, cell % nz, 1).of[0]);
}

std::string GridFieldCells::text() const { return fmt::format("{} cells", fmt::join(box_.count, " x ")); }

std::string GridFieldCells::text_of(std::int64_t cell) const {
  const std::int64_t ny = box_.count[1], nz = box_.count[2];
  return fmt::format("[{}, {}, {}]", box_.first[0] + cell / (ny * nz), box_.first[1] + cell / nz % ny,
                     box_.first[2] + cell % nz);
}

double GridFieldCells::mean(const FieldArray& field) const {
  double sum = 0;  // cells that fill up the last tiles are 0
  for (std::size_t i = 0; i < field.count; ++i) sum += double(field.numbers.get()[i]);
  return sum * field.unit / double(whole_.cells());
}

std::string MeshFieldCells::text() const { return fmt::format("{} cells", cells()); }

std::string MeshFieldCells::text_of(std::int64_t cell) const {
  const HostMesh::Position centre = mesh_->centre(mesh_->place(cell));
  const double kpc = unit_ / (1e3 * constants::pc);
  return fmt::format("around {:.6g}, {:.6g}, {:.6g} kpc", centre[0] * kpc, centre[1] * kpc, centre[2] * kpc);
}

double MeshFieldCells::mean(const FieldArray& field) const {
  double sum = 0, volume = 0;
  for (std::int64_t i = 0; i < cells(); ++i) {
    sum += double(field.numbers.get()[i]) * mesh_->volume(i), volume += mesh_->volume(i);
  }
  return sum * field.unit / volume;
}

FieldArray new_field(const FieldCells& cells) {
  FieldArray field;
  field.count = cells.numbers();
  const double bytes = 4. * double(field.count), available = available_memory();
  if (bytes > available) {
    throw Error(ExitCode::input, fmt::format("a field of {} needs {} of memory, but {} are free: use fewer cells or "
                                             "fields, or several ranks (--domains)",
                                             cells.text(), size_text(bytes), size_text(available)));
  }
  field.numbers = std::make_shared_for_overwrite<float[]>(field.count);
  prefer_large_pages(field.numbers.get(), field.count * sizeof(float));
  std::fill_n(field.numbers.get(), field.count, 0.f);
  return field;
}

FieldArray read_product(const std::string& path, const std::vector<std::string>& factors, const FieldCells& cells,
                        bool drop, int threads) {
  FieldArray field = new_field(cells);
  for (std::size_t k = 0; k < factors.size(); ++k) {
    NotFinite bad;
    double unit = 1;
    if (k > 0) {  // before it is multiplied with others
      std::atomic<float> largest{0};
      cells.read(path, factors[k], threads, [&](std::int64_t, double v) {
        const float size = float(std::abs(v));
        for (float seen = largest; size > seen && std::isfinite(size) && !largest.compare_exchange_weak(seen, size);)
          ;
      });
      unit = unit_of(double(largest.load()));
    }
    cells.read(path, factors[k], threads, [&](std::int64_t i, double v) {
      if (!std::isfinite(v)) bad.add(i), v = 0;
      float& number = field.numbers.get()[cells.index(i)];
      number = k == 0 ? float(v) : float(double(number) * (v / unit));
    });
    bad.say(path, factors[k], cells, drop);
    field.unit *= unit;
    const double scale = unit_of(largest_of(field, threads));
    change(field, threads, [scale](double v) { return v / scale; });
    field.unit *= scale;
  }
  return field;
}

void change(FieldArray& field, int threads, const std::function<double(double)>& f) {
  parallel_for(threads, field.count, numbers_at_a_time, [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) field.numbers.get()[i] = float(f(double(field.numbers.get()[i])));
  });
}

}  // namespace thor
