// The kernels of HostDevice, in a separate file because compiling them with a sanitizer takes very long.
#include "support/host_device.hpp"

#include "thor/core/error.hpp"

namespace test {
namespace {

/// There are no other threads.
struct Plain {
  template <class T>
  static T add(T* p, T v) {
    return std::exchange(*p, *p + v);
  }
  template <class T>
  static void max(T* p, T v) {
    *p = std::max(*p, v);
  }
  template <class T>
  static void min(T* p, T v) {
    *p = std::min(*p, v);
  }
  static void fault() { throw thor::Error(thor::ExitCode::device, "host device: a fault"); }
};

/// A group of one.
struct Alone {
  bool any(bool going) const { return going; }
};

template <class P>
void advance_lanes(const thor::device::Program<P>&, thor::device::Shape) {
  throw thor::Error(thor::ExitCode::device, "host device: not for this problem, since no test needs it");
}
template <class Dataset>
void advance_lanes(const thor::device::Program<thor::LineProblem<Dataset>>& program, thor::device::Shape shape) {
  for (std::uint32_t i = 0; i < shape.lanes; ++i) {
    const std::uint32_t slot = program.live[i];
    if (thor::device::advance_lane<Plain>(program, slot, int(i) % program.copies, Alone())) {
      program.next_live[program.report->live++] = slot;
    }
  }
}

}  // namespace

#define THOR_ADVANCE(problem, dataset, real)                                                              \
  void HostDevice::advance(int, const thor::device::Program<thor::problem<thor::dataset<real>>>& program, \
                           thor::device::Shape shape) {                                                   \
    advance_lanes(program, shape);                                                                        \
  }
THOR_FOR_EACH_PROBLEM(THOR_ADVANCE)

}  // namespace test
