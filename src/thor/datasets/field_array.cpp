#include "thor/datasets/field_array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

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
  void say(const std::string& path, const std::string& field, const CellBox& box, bool drop) const {
    if (count_ == 0) return;
    const std::int64_t ny = box.count[1], nz = box.count[2];
    const std::string what = fmt::format(
        "{}: array {}: {} cells hold no finite number of single precision, the first is [{}, {}, {}]", path, field,
        count_, box.first[0] + first_ / (ny * nz), box.first[1] + first_ / nz % ny, box.first[2] + first_ % nz);
    if (!drop)
      throw Error(ExitCode::input, what + "; correct the file, or set dataset.bad_cells: drop to read them as 0");
    warning("{}; they are read as 0", what);
  }

 private:
  std::mutex mutex_;
  std::int64_t count_ = 0, first_ = 0;
};

}  // namespace

UniformGrid<double> field_layout(const GridShape& whole, const CellBox& box) {
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

FieldArray new_field(const UniformGrid<double>& layout) {
  FieldArray field;
  field.count = 1;
  for (const int tiles : layout.tiles) field.count *= std::size_t(tiles) << layout.tile;
  const double bytes = 4. * double(field.count), available = available_memory();
  if (bytes > available) {
    throw Error(ExitCode::input,
                fmt::format("a field of {} x {} x {} cells needs {} of memory, but {} are free: use fewer cells or "
                            "fields, or several ranks (--domains)",
                            layout.shape[0], layout.shape[1], layout.shape[2], size_text(bytes), size_text(available)));
  }
  field.numbers = std::make_shared<float[]>(field.count);
  return field;
}

std::size_t index_of_cell(const UniformGrid<double>& layout, std::int64_t cell) {
  const std::int64_t ny = layout.shape[1], nz = layout.shape[2];
  return std::size_t(cell_address<double>(layout, cell / (ny * nz), cell / nz % ny, cell % nz, 1).of[0]);
}

FieldArray read_product(const std::string& path, const std::vector<std::string>& factors, const GridShape& shape,
                        const CellBox& box, bool drop, int threads) {
  const UniformGrid<double> layout = field_layout(shape, box);
  FieldArray field = new_field(layout);
  for (std::size_t k = 0; k < factors.size(); ++k) {
    NotFinite bad;
    double unit = 1;
    if (k > 0) {  // before it is multiplied with others
      std::atomic<float> largest{0};
      read_field(path, factors[k], shape, box, threads, [&](std::int64_t, double v) {
        const float size = float(std::abs(v));
        for (float seen = largest; size > seen && std::isfinite(size) && !largest.compare_exchange_weak(seen, size);)
          ;
      });
      unit = unit_of(double(largest.load()));
    }
    read_field(path, factors[k], shape, box, threads, [&](std::int64_t i, double v) {
      if (!std::isfinite(v)) bad.add(i), v = 0;
      float& number = field.numbers.get()[index_of_cell(layout, i)];
      number = k == 0 ? float(v) : float(double(number) * (v / unit));
    });
    bad.say(path, factors[k], box, drop);
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
