// Compiled once for each backend of GPUs, dataset (THOR_DATASET) and precision (THOR_REAL): see ThorBackends.cmake.
#include THOR_DATASET_HEADER
#include "thor/parallel/device/tracing.hpp"
#include "thor/parallel/gpu/kernel.hpp"
#include THOR_INTRINSICS_HEADER

namespace thor::THOR_BACKEND {
namespace {

using ThisScene = Scene<THOR_DATASET<THOR_REAL>>;

/// 32 threads are 8 x 4 pixels, whose rays meet the same cells.
constexpr int columns = 16, rows = 8;

struct ImageCall {
  ThisScene scene;
  ImageJob job;
  ImageTile tile;
  int planes;
  THOR_REAL* out;
};
__global__ void __launch_bounds__(columns* rows) trace_pixels(THOR_PARAMETER ImageCall call) {
  const auto& [scene, job, tile, planes, out] = in_place(call);
  const int patch = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  const int column = int(blockIdx.x) * columns + patch % 2 * 8 + lane % 8;
  const int row = int(blockIdx.y) * rows + patch / 2 * 4 + lane / 8;
  if (column >= tile.columns || row >= tile.rows) return;
  device::trace_pixel(scene, job, tile, planes, column, row, out);
}

struct SightlineCall {
  ThisScene scene;
  device::Sightlines sightlines;
  SightlineJob job;
  THOR_REAL* numbers;
  double* sums;
};
__global__ void __launch_bounds__(256) trace_sightlines(THOR_PARAMETER SightlineCall call) {
  const auto& [scene, sightlines, job, numbers, sums] = in_place(call);
  device::trace_numbers(scene, sightlines, job, blockIdx.x, int(threadIdx.x), 256, numbers, sums);
}

Status image(const void* scene, const void* arguments, device::LaunchShape, Stream stream) {
  const auto& [job, tile, planes, out] = *static_cast<const device::ImageArguments<THOR_REAL>*>(arguments);
  const dim3 blocks(unsigned((tile.columns + columns - 1) / columns), unsigned((tile.rows + rows - 1) / rows));
  trace_pixels<<<blocks, columns * rows, 0, stream>>>({*static_cast<const ThisScene*>(scene), job, tile, planes, out});
  return take_error();
}

Status follow(const void* scene, const void* arguments, device::LaunchShape, Stream stream) {
  const auto& [sightlines, job, numbers, sums] = *static_cast<const device::SightlineArguments<THOR_REAL>*>(arguments);
  trace_sightlines<<<sightlines.count, 256, 0, stream>>>(
      {*static_cast<const ThisScene*>(scene), sightlines, job, numbers, sums});
  return take_error();
}

Status probe() { return find_kernel(reinterpret_cast<const void*>(trace_pixels)); }

}  // namespace

std::span<const Kernel> THOR_ENTRY() {
  static const Kernel kernels[] = {
      {{device::Task::image, int(DatasetKind::THOR_DATASET), sizeof(THOR_REAL) == 4}, probe, image},
      {{device::Task::sightlines, int(DatasetKind::THOR_DATASET), sizeof(THOR_REAL) == 4}, probe, follow}};
  return kernels;
}

}  // namespace thor::THOR_BACKEND
