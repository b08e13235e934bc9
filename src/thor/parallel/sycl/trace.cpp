// Compiled once for each dataset (THOR_DATASET) and precision (THOR_REAL): see ThorBackends.cmake.
#include "thor/parallel/sycl/runtime.hpp"
//
#include THOR_DATASET_HEADER
#include "thor/parallel/device/tracing.hpp"
#include "thor/parallel/gpu/kernel.hpp"

namespace thor::sycl {
namespace {

using ThisScene = Scene<THOR_DATASET<THOR_REAL>>;

/// Neighbouring work-items are blocks of 8 x 4 pixels, whose rays meet the same cells.
constexpr int columns = 8, rows = 4;
constexpr std::size_t block = 128, block_of_sightline = 256;

Status image(const void* scene, const void* arguments, device::LaunchShape, Stream queue) {
  const auto& [job, tile, planes, out] = *static_cast<const device::ImageArguments<THOR_REAL>*>(arguments);
  const int across = (tile.columns + columns - 1) / columns, down = (tile.rows + rows - 1) / rows;
  const std::size_t items = std::size_t(across) * std::size_t(down) * columns * rows;
  queue->parallel_for(::sycl::nd_range<1>((items + block - 1) / block * block, block),
                      [=, scene = *static_cast<const ThisScene*>(scene), job = job, tile = tile, planes = planes,
                       out = out](::sycl::nd_item<1> item) {
                        const int i = int(item.get_global_linear_id()), patch = i / (columns * rows);
                        const int column = patch % across * columns + i % columns;
                        const int row = patch / across * rows + i / columns % rows;
                        if (column >= tile.columns || row >= tile.rows) return;
                        device::trace_pixel(scene, job, tile, planes, column, row, out);
                      });
  return {};
}

Status follow(const void* scene, const void* arguments, device::LaunchShape, Stream queue) {
  const auto& [sightlines, job, numbers, sums] = *static_cast<const device::SightlineArguments<THOR_REAL>*>(arguments);
  queue->parallel_for(::sycl::nd_range<1>(sightlines.count * block_of_sightline, block_of_sightline),
                      [scene = *static_cast<const ThisScene*>(scene), sightlines = sightlines, job = job,
                       numbers = numbers, sums = sums](::sycl::nd_item<1> item) {
                        device::trace_numbers(scene, sightlines, job, std::uint32_t(item.get_group_linear_id()),
                                              int(item.get_local_linear_id()), int(item.get_local_range(0)), numbers,
                                              sums);
                      });
  return {};
}

Status probe() { return {}; }

}  // namespace

std::span<const Kernel> THOR_ENTRY() {
  static const Kernel kernels[] = {
      {{device::Task::image, int(DatasetKind::THOR_DATASET), sizeof(THOR_REAL) == 4}, probe, image},
      {{device::Task::sightlines, int(DatasetKind::THOR_DATASET), sizeof(THOR_REAL) == 4}, probe, follow}};
  return kernels;
}

}  // namespace thor::sycl
