// Compiled once for each instruction set (THOR_ISA), problem (THOR_PROBLEM, THOR_DATASET) and precision (THOR_REAL):
// see ThorKernels.cmake.
#include "thor/transport/march.hpp"

#include THOR_DATASET_HEADER
#include "thor/parallel/cpu/kernel.hpp"

namespace thor {
inline namespace THOR_ISA {
namespace {

using ThisProblem = THOR_PROBLEM<THOR_DATASET<THOR_REAL>>;
using ThisPack = NativePack<THOR_REAL>;

bool march_pack(const LaneArrays<THOR_REAL>& lanes, const void* bytes, MarchSum what, int steps) {
  const auto& problem = *static_cast<const ThisProblem*>(bytes);
  using Dataset = decltype(view<ThisPack>(problem.dataset));
  Lane<ThisPack> lane = load_lane<ThisPack, Dataset>(lanes, 0);
  bool ended = false;
  for (int i = 0; i < steps && !ended; ++i) ended = any(march(lane, problem, what));
  store_lane<ThisPack, Dataset>(lane, lanes, 0);
  return ended;
}

}  // namespace
}  // namespace THOR_ISA

extern const cpu::MarchKernel<THOR_REAL> THOR_ENTRY;
constinit const cpu::MarchKernel<THOR_REAL> THOR_ENTRY{THOR_ISA_NAME, ProblemKind::THOR_KIND, Value<ThisPack>::lanes,
                                                       march_pack};

}  // namespace thor
