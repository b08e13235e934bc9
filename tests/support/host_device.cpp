// The kernels of HostDevice, in a separate file because compiling them with a sanitizer takes very long.
#include "support/host_device.hpp"

#include "thor/core/error.hpp"
#include "thor/parallel/device/rays.hpp"

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

/// Fills memory with NaN, and puts it back at the end.
class Poison {
 public:
  explicit Poison(std::span<const std::span<std::byte>> places) : places_(places) {
    for (const auto place : places_) {
      kept_.emplace_back(place.begin(), place.end());
      std::ranges::fill(place, std::byte(0xff));
    }
  }
  Poison(const Poison&) = delete;
  ~Poison() {
    for (std::size_t i = 0; i < kept_.size(); ++i) std::ranges::copy(kept_[i], places_[i].begin());
  }

 private:
  std::span<const std::span<std::byte>> places_;
  std::vector<std::vector<std::byte>> kept_;
};

template <class Real>
void advance_any(const thor::AnyProblem<Real>& problem, const thor::device::Program<Real>& program,
                 thor::device::LaunchShape shape) {
  const auto advance = [&]<class P>(std::type_identity<P>) {
    if (problem.kind() != thor::kind_of<P>) return false;
    for (std::uint32_t i = 0; i < shape.lanes; ++i) {
      const auto& p = *static_cast<const P*>(problem.data());
      const int copy = int(i) % program.copies;
      using enum thor::device::Slice;
      const bool goes_on = program.rays.room > 0 ? thor::device::advance_lane<Plain, logs>(p, program, i, copy, Alone())
                           : program.last && p.jumps.depth_count == 0
                               ? thor::device::advance_lane<Plain, steps>(p, program, i, copy, Alone())
                               : thor::device::advance_lane<Plain, refills>(p, program, i, copy, Alone());
      if (goes_on) {
        program.next_live[program.report->live++] = program.live[i];
      }
    }
    if (program.rays.room > 0) {
      thor::device::trace_rays<Plain>(*static_cast<const P*>(problem.data()), program, 0, Alone());
    }
    return true;
  };
  const bool known = advance(std::type_identity<thor::LineProblem<thor::Sphere<Real>>>()) ||
                     advance(std::type_identity<thor::LineProblem<thor::Shell<Real>>>()) ||
                     advance(std::type_identity<thor::LineProblem<thor::Slab<Real>>>()) ||
                     advance(std::type_identity<thor::LineProblem<thor::UniformGrid<Real>>>());
  if (!known) {
    throw thor::Error(thor::ExitCode::device, "host device: not for this problem, since no test needs it");
  }
}

}  // namespace

void HostDevice::advance(int, const thor::AnyProblem<float>& problem, const thor::device::Program<float>& program,
                         thor::device::LaunchShape shape) {
  const Poison poison(poisoned);
  advance_any(problem, program, shape);
}
void HostDevice::advance(int, const thor::AnyProblem<double>& problem, const thor::device::Program<double>& program,
                         thor::device::LaunchShape shape) {
  const Poison poison(poisoned);
  advance_any(problem, program, shape);
}

}  // namespace test
