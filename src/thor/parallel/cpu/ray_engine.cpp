#include "thor/parallel/ray_engine.hpp"
#include "thor/core/parallel_for.hpp"
#include "thor/parallel/cpu/trace_kernel.hpp"

namespace thor {
namespace {

/// Pixels along the side of a tile, whose rays one thread follows: enough to meet the same cells again in the cache.
constexpr int tile_side = 32;

template <class Real>
class CpuRayEngine final : public RayEngine {
 public:
  CpuRayEngine(const AnyScene<Real>& scene, const cpu::Options& options)
      : scene_(scene), options_(options), kernel_(cpu::trace_kernel<Real>(scene.kind(), options.isa)) {}

  void image(const ImageJob& job, std::span<const ImageTile> tiles, std::span<double> numbers) override {
    struct Piece {
      ImageTile tile;
      std::size_t first, columns, plane;  // where its numbers begin, from row to row, from plane to plane
    };
    std::vector<Piece> pieces;
    std::size_t begins = 0;
    for (const ImageTile& whole : tiles) {
      for (int j = 0; j < whole.rows; j += tile_side) {
        for (int i = 0; i < whole.columns; i += tile_side) {
          pieces.push_back({{whole.column + i, whole.row + j, std::min(tile_side, whole.columns - i),
                             std::min(tile_side, whole.rows - j)},
                            begins + std::size_t(j) * std::size_t(whole.columns) + std::size_t(i),
                            std::size_t(whole.columns),
                            whole.pixels()});
        }
      }
      begins += std::size_t(job.planes) * whole.pixels();
    }
    const auto trace = options_.one_lane ? kernel_.image_one : kernel_.image;
    parallel_for(options_.threads, pieces.size(), 1, [&](std::size_t i, std::size_t) {
      const auto& [tile, first, columns, plane] = pieces[i];
      const std::size_t pixels = tile.pixels();
      std::vector<Real> found(image_planes * pixels);
      trace(scene_.data(), job, tile, found.data());
      for (std::size_t p = 0; p < std::size_t(job.planes); ++p) {
        for (int y = 0; y < tile.rows; ++y) {
          const Real* from = found.data() + p * pixels + std::size_t(y) * std::size_t(tile.columns);
          double* to = numbers.data() + first + p * plane + std::size_t(y) * columns;
          for (int x = 0; x < tile.columns; ++x) to[x] = double(from[x]);
        }
      }
    });
  }

  void follow(const SightlineRays& sightlines, const SightlineJob& job, std::span<float> numbers,
              std::span<double> sums) override {
    const auto count = std::size_t(job.numbers), room = (count + 63) / 64 * 64;
    std::vector<Real> found(room);
    parallel_for(options_.threads, sightlines.count(), 1, [&, found](std::size_t i, std::size_t) mutable {
      std::ranges::fill(found, Real(0));
      sums[i] = 0;
      for (std::uint32_t k = sightlines.first[i]; k < sightlines.first[i + 1]; ++k) {
        stop_if_interrupted();  // one may enter a periodic box a million times
        sums[i] += kernel_.sightline(scene_.data(), sightlines.rays[k], job, found.data());
      }
      for (std::size_t k = 0; k < count; ++k) numbers[i * count + k] = float(found[k]);
    });
  }

  RayRun record(const StraightRay& ray, const Quantities& quantities) override {
    RayRun run;
    run.values.resize(std::size_t(quantities.count));
    for (std::int64_t room = 4096;;) {
      const auto size = std::size_t(room);
      run.begins.resize(size), run.lengths.resize(size);
      std::vector<float*> values;
      for (auto& v : run.values) v.resize(size), values.push_back(v.data());
      const std::int64_t pieces =
          kernel_.record(scene_.data(), ray, quantities, room, run.begins.data(), run.lengths.data(), values.data());
      const bool enough = pieces <= room;
      room = pieces;
      if (!enough) continue;
      run.begins.resize(std::size_t(pieces)), run.lengths.resize(std::size_t(pieces));
      for (auto& v : run.values) v.resize(std::size_t(pieces));
      return run;
    }
  }

 private:
  const AnyScene<Real> scene_;
  const cpu::Options options_;
  const cpu::TraceKernel<Real>& kernel_;
};

}  // namespace

template <class Real>
std::unique_ptr<RayEngine> make_ray_engine(const AnyScene<Real>& scene, const cpu::Options& options) {
  return std::make_unique<CpuRayEngine<Real>>(scene, options);
}
template std::unique_ptr<RayEngine> make_ray_engine(const AnyScene<float>&, const cpu::Options&);
template std::unique_ptr<RayEngine> make_ray_engine(const AnyScene<double>&, const cpu::Options&);

}  // namespace thor
