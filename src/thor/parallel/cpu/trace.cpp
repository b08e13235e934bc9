// Compiled once for each instruction set (THOR_ISA), dataset (THOR_DATASET) and precision (THOR_REAL): see
// ThorKernels.cmake.
#include "thor/operators/image.hpp"
#include "thor/operators/record.hpp"
#include "thor/operators/sightline_job.hpp"

#include THOR_DATASET_HEADER
#include "thor/parallel/cpu/trace_kernel.hpp"

namespace thor {
inline namespace THOR_ISA {
namespace {

using ThisScene = Scene<THOR_DATASET<THOR_REAL>>;
using ThisPack = NativePack<THOR_REAL>;

/// Lanes are a block of neighbouring pixels, as square as can be: their rays meet the same cells.
template <class V>
struct Block {
  static constexpr int lanes = Value<V>::lanes, columns = lanes >= 8 ? 4 : lanes >= 2 ? 2 : 1, rows = lanes / columns;
};

/// Lanes are a block of rays in step, a cell from each other.
template <class V>
THOR_FN void trace_tile_in_step(const ThisScene& scene, const ImageJob& job, const ImageTile& tile, THOR_REAL* out) {
  using B = Block<V>;
  using Int = IntOf<V>;
  constexpr int most = B::columns > B::rows ? B::columns : B::rows;
  const int(&apart)[2] = job.in_step.per_cell;
  IntOf<THOR_REAL> cells[2][B::lanes];
  for (int l = 0; l < B::lanes; ++l) cells[0][l] = l % B::columns, cells[1][l] = l / B::columns;
  const Int lanes_u = load<Int>(cells[0]), lanes_v = load<Int>(cells[1]);
  const auto for_each_first = [](int count, int lanes, int apart, const auto& use) THOR_INLINE_LAMBDA {
    for (int block = 0; block < count; block += lanes * apart) {
      for (int first = block; first < block + apart && first < count; ++first) use(first);
    }
  };
  for_each_first(tile.rows, B::rows, apart[1], [&](int row) THOR_INLINE_LAMBDA {
    for_each_first(tile.columns, B::columns, apart[0], [&](int column) THOR_INLINE_LAMBDA {
      V numbers[image_planes];
      trace_in_step<V>(scene, job, tile.column + column, tile.row + row, lanes_u, lanes_v, most, numbers);
      for (int p = 0; p < image_planes; ++p) {
        THOR_REAL found[B::lanes];
        store(numbers[p], found);
        for (int l = 0; l < B::lanes; ++l) {
          const int i = column + l % B::columns * apart[0], j = row + l / B::columns * apart[1];
          if (i < tile.columns && j < tile.rows) out[(std::int64_t(p) * tile.rows + j) * tile.columns + i] = found[l];
        }
      }
    });
  });
}

template <class V>
THOR_FN void trace_tile(const void* bytes, const ImageJob& job, const ImageTile& tile, THOR_REAL* out) {
  const auto& scene = *static_cast<const ThisScene*>(bytes);
  if (job.in_step.axis >= 0) return trace_tile_in_step<V>(scene, job, tile, out);
  using B = Block<V>;
  const std::int64_t plane = std::int64_t(tile.columns) * tile.rows;
  const V share(THOR_REAL(1. / (job.samples * job.samples)));
  for (int row = 0; row < tile.rows; row += B::rows) {
    for (int column = 0; column < tile.columns; column += B::columns) {
      V sums[image_planes];
      for (V& sum : sums) sum = V(THOR_REAL(0));
      for (int sample = 0; sample < job.samples * job.samples; ++sample) {
        Walks<V, ThisScene> rays;
        for (int l = 0; l < B::lanes; ++l) {
          const int i = column + l % B::columns, j = row + l / B::columns;
          const bool outside = i >= tile.columns || j >= tile.rows;
          rays.set(l, outside ? typename Walks<V, ThisScene>::One{}
                              : start_pixel(scene, job, tile.column + i, tile.row + j, sample));
        }
        auto walk = rays.pack();
        V numbers[image_planes];
        trace_image<V>(walk, scene, job, numbers);
        for (int p = 0; p < image_planes; ++p) sums[p] = fma(share, numbers[p], sums[p]);
      }
      for (int p = 0; p < image_planes; ++p) {
        THOR_REAL numbers[B::lanes];
        store(sums[p], numbers);
        for (int l = 0; l < B::lanes; ++l) {
          const int i = column + l % B::columns, j = row + l / B::columns;
          if (i < tile.columns && j < tile.rows) out[p * plane + j * std::int64_t(tile.columns) + i] = numbers[l];
        }
      }
    }
  }
}

void trace_pack(const void* scene, const ImageJob& job, const ImageTile& tile, THOR_REAL* out) {
  trace_tile<ThisPack>(scene, job, tile, out);
}
void trace_one(const void* scene, const ImageJob& job, const ImageTile& tile, THOR_REAL* out) {
  trace_tile<THOR_REAL>(scene, job, tile, out);
}

/// Here lanes are the numbers of one sightline, such as the bins of a spectrum.
struct PackedNumbers {
  THOR_REAL* numbers;
  int count;
  ThisPack lane;

  /// Replaces number i by change(i, number).
  template <class Change>
  THOR_FN void each(const Change& change) const {
    for (int i = 0; i < count; i += Value<ThisPack>::lanes) {
      store(change(ThisPack(THOR_REAL(i)) + lane, load<ThisPack>(numbers + i)), numbers + i);
    }
  }
};

double trace_line(const void* bytes, const StraightRay& ray, const SightlineJob& job, THOR_REAL* numbers) {
  constexpr int lanes = Value<ThisPack>::lanes;
  THOR_REAL counts[lanes];
  for (int l = 0; l < lanes; ++l) counts[l] = THOR_REAL(l);
  return trace_sightline<THOR_REAL>(*static_cast<const ThisScene*>(bytes), ray, job,
                                    PackedNumbers{numbers, job.numbers, load<ThisPack>(counts)});
}

std::int64_t record(const void* bytes, const StraightRay& ray, const Quantities& quantities, std::int64_t room,
                    double* begins, double* lengths, float* const* values) {
  return record_ray<THOR_REAL>(*static_cast<const ThisScene*>(bytes), ray, quantities, room, begins, lengths, values);
}

}  // namespace
}  // namespace THOR_ISA

extern const cpu::TraceKernel<THOR_REAL> THOR_ENTRY;
constinit const cpu::TraceKernel<THOR_REAL> THOR_ENTRY{
    THOR_ISA_NAME, DatasetKind::THOR_DATASET, Value<ThisPack>::lanes, trace_pack, trace_one, trace_line, record};

}  // namespace thor
