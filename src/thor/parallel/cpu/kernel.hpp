#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "thor/transport/event.hpp"
#include "thor/transport/history.hpp"
#include "thor/transport/observers.hpp"
#include "thor/transport/problem_kind.hpp"

/// The transport kernels of this machine: one copy per instruction set, picked at run time. A kernel takes its problem
/// as bytes; which problem that is, its entry says.
namespace thor::cpu {

/// Advances the lanes by at most `steps` steps each; returns at the latest when some lane has ended, or when the log of
/// their events is full. There may be no log.
template <class Real>
using Advance = bool (*)(const LaneArrays<Real>& lanes, const void* problem, int steps, EventLog<Real>* log);

template <class Real>
struct StepKernel {
  std::string_view isa;
  ProblemKind kind;
  int lanes;  ///< photons that `advance` moves together
  Advance<Real> advance, advance_one;
};

/// Start photon `id` in a lane, take the photon out of a lane, and end a ray. Compiled like the steps, so that the
/// arithmetic is that of every device.
template <class Real>
struct HistoryKernel {
  std::string_view isa;
  HistoryKind kind;
  void (*start)(const LaneArrays<Real>& lanes, int lane, const void* dataset, const void* numerics,
                const EmitterView<Real>& emitter, std::uint64_t id, Origin& origin);
  Photon (*end)(const LaneArrays<Real>& lanes, int lane, const void* dataset, const Origin& origin);
  /// A ray of photon `id` from its birth towards an observer, and its light over that of a source that shines into all
  /// directions; 0: there is no ray, as its source shines elsewhere.
  double (*emit)(const LaneArrays<Real>& lanes, int lane, const void* dataset, const void* numerics,
                 const EmitterView<Real>& emitter, std::uint64_t id, const double (&towards)[3], Origin& origin);
  void (*coordinates)(const LaneArrays<Real>& lanes, int lane, const void* dataset, double (&position)[3]);
  double (*end_of_ray)(const RayRules& rules, const RayKey& key);
  double (*left_of_ray)(const RayRules& rules, double optical_depth);
};

template <class Real>
struct MarchKernel {
  std::string_view isa;
  ProblemKind kind;
  int lanes;
  /// Moves the rays by at most `steps` segments each, adding to their sums; returns when some ray has ended.
  bool (*march)(const LaneArrays<Real>& lanes, const void* problem, Real cut, int steps);
  /// The rays that the first entry of a log, all scatterings or all jumps, sends towards an observer: at their start,
  /// and after their first segments, absorbed, escaped or still in flight; idle where there is none.
  void (*peel)(const EventLog<Real>& log, const void* problem, const RayRules& rules, const double (&towards)[3],
               const LaneArrays<Real>& starts, const LaneArrays<Real>& rays, Real* weights, Real* ends);
  /// The starts of these rays alone, all from scatterings.
  void (*start)(const EventLog<Real>& log, const void* problem, const double (&towards)[3],
                const LaneArrays<Real>& starts);
};

/// The kernels of this build.
template <class Real>
std::span<const StepKernel<Real>* const> step_kernels();
template <class Real>
std::span<const HistoryKernel<Real>* const> history_kernels();
template <class Real>
std::span<const MarchKernel<Real>* const> march_kernels();

/// The instruction sets that are compiled in and that this processor has, the best last.
std::vector<std::string_view> instruction_sets();

/// Whether the kernels of an instruction set round as those of a GPU do: those with fused multiply-add.
bool fused(std::string_view isa);

/// Photons that a step of this instruction set moves together.
int lanes_of(std::string_view isa, bool single);

/// The kernels for a problem; an empty `isa` takes the best.
template <class Real>
const StepKernel<Real>& step_kernel(ProblemKind kind, std::string_view isa);
template <class Real>
const HistoryKernel<Real>& history_kernel(HistoryKind kind, std::string_view isa);
template <class Real>
const MarchKernel<Real>& march_kernel(ProblemKind kind, std::string_view isa);

/// The processor's name, as the system gives it.
std::string processor_name();

}  // namespace thor::cpu
