#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "thor/transport/history.hpp"
#include "thor/transport/problems.hpp"

/// The transport kernels of this machine: one copy per instruction set, picked at run time.
namespace thor::cpu {

/// Advances the lanes by at most `steps` steps each; returns at the latest when some lane has ended.
template <class P>
using Advance = bool (*)(const LaneArrays<typename P::Real>& lanes, const P& problem, int steps);

/// Start photon `id` in a lane, and take the photon out of a lane. Compiled like the steps, so that the arithmetic is
/// that of every device.
template <class P>
using Start = void (*)(const LaneArrays<typename P::Real>& lanes, int lane, const P& problem,
                       const EmitterView<typename P::Real>& emitter, std::uint64_t id, Origin& origin);

template <class P>
using End = Photon (*)(const LaneArrays<typename P::Real>& lanes, int lane, const P& problem, const Origin& origin);

template <class P>
struct Kernel {
  std::string_view isa;
  int lanes;  ///< photons that it advances together
  Advance<P> advance;
  Start<P> start;
  End<P> end;
};

/// The instruction sets that are compiled in and that this processor has, the best last.
std::vector<std::string_view> instruction_sets();

/// Whether its kernels round as those of a GPU do: those with fused multiply-add.
bool fused(std::string_view isa);

/// The kernel for a problem: `isa` empty takes the best; `one_lane` the scalar path of the same instruction set.
template <class P>
Kernel<P> find_kernel(std::string_view isa, bool one_lane);

/// The processor's name, as the system gives it.
std::string processor_name();

}  // namespace thor::cpu

// What each kernel translation unit defines for its problem.
#define THOR_DECLARE_ISA(isa)                                                                                   \
  namespace thor::isa {                                                                                         \
  template <class P>                                                                                            \
  bool advance_pack(const LaneArrays<typename P::Real>& lanes, const P& problem, int steps);                    \
  template <class P>                                                                                            \
  bool advance_one(const LaneArrays<typename P::Real>& lanes, const P& problem, int steps);                     \
  template <class P>                                                                                            \
  void start_lane(const LaneArrays<typename P::Real>& lanes, int lane, const P& problem,                        \
                  const EmitterView<typename P::Real>& emitter, std::uint64_t id, Origin& origin);              \
  template <class P>                                                                                            \
  Photon end_lane(const LaneArrays<typename P::Real>& lanes, int lane, const P& problem, const Origin& origin); \
  template <class P>                                                                                            \
  int pack_lanes();                                                                                             \
  }
