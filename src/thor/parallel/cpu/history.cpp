// Compiled once for each instruction set (THOR_ISA), dataset (THOR_DATASET), numerics (THOR_NUMERICS) and precision
// (THOR_REAL): see ThorKernels.cmake.
#include "thor/transport/history.hpp"

#include THOR_DATASET_HEADER
#include "thor/parallel/cpu/kernel.hpp"
#include "thor/transport/peel.hpp"

namespace thor {
inline namespace THOR_ISA {
namespace {

using Data = THOR_DATASET<THOR_REAL>;

void start_lane(const LaneArrays<THOR_REAL>& lanes, int lane, const void* dataset, const void* numerics,
                const EmitterView<THOR_REAL>& emitter, std::uint64_t id, Origin& origin) {
  const auto& data = *static_cast<const Data*>(dataset);
  const auto& choice = *static_cast<const THOR_NUMERICS*>(numerics);
  store_lane(start_photon(data, choice, emitter, id, origin), lanes, lane);
}

Photon end_lane(const LaneArrays<THOR_REAL>& lanes, int lane, const void* dataset, const Origin& origin) {
  return end_photon<THOR_REAL>(*static_cast<const Data*>(dataset), load_lane<THOR_REAL, PlaceIn<Data>>(lanes, lane),
                               origin);
}

double emit_lane(const LaneArrays<THOR_REAL>& lanes, int lane, const void* dataset, const void* numerics,
                 const EmitterView<THOR_REAL>& emitter, std::uint64_t id, const double (&towards)[3], Origin& origin) {
  const double sent = sent_towards(emitter.sources[number_of(emitter, id).generator], towards);
  if (!(sent > 0)) return 0;
  const auto& data = *static_cast<const Data*>(dataset);
  const auto& choice = *static_cast<const THOR_NUMERICS*>(numerics);
  const Vec3<THOR_REAL> n{THOR_REAL(towards[0]), THOR_REAL(towards[1]), THOR_REAL(towards[2])};
  auto ray = start_photon(data, choice, emitter, id, origin, &n);
  ray.tau = 0;
  store_lane(ray, lanes, lane);
  return sent;
}

void coordinates_of_lane(const LaneArrays<THOR_REAL>& lanes, int lane, const void* dataset, double (&position)[3]) {
  view<THOR_REAL>(*static_cast<const Data*>(dataset))
      .coordinates(load_lane<THOR_REAL, PlaceIn<Data>>(lanes, lane), 0, position);
}

double end_of(const RayRules& rules, const RayKey& key) { return end_of_ray(rules, key); }
double left_of(const RayRules& rules, double optical_depth) { return left_of_ray(rules, optical_depth); }

}  // namespace
}  // namespace THOR_ISA

extern const cpu::HistoryKernel<THOR_REAL> THOR_ENTRY;
constinit const cpu::HistoryKernel<THOR_REAL> THOR_ENTRY{
    THOR_ISA_NAME, {DatasetKind::THOR_DATASET, std::is_same_v<THOR_NUMERICS, SelectedNumerics>},
    start_lane,    end_lane,
    emit_lane,     coordinates_of_lane,
    end_of,        left_of};

}  // namespace thor
