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
  static std::uint64_t set_if_zero(std::uint64_t* p, std::uint64_t v) { return *p == 0 ? std::exchange(*p, v) : *p; }
  static void set(std::uint32_t* p, std::uint32_t bits) { *p |= bits; }
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
  bool half(bool waits, bool) const { return waits; }
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
    if (program.rays.room > 0 && shape.lanes > 0) {
      thor::device::start_rays<Plain>(*static_cast<const P*>(problem.data()), program, 0, 0, 1);
      thor::device::trace_rays<Plain>(*static_cast<const P*>(problem.data()), program, 0, Alone());
    }
    if (program.rays.room > 0) {
      const auto cells = thor::device::cells_of<Plain>(program, 0);
      for (std::uint64_t i = 0; i < cells.tables.slots; ++i) thor::device::flush_slot(i, cells);
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

/// f(scene) with the scene that some bytes are.
template <class Real, class F>
void with_scene(const thor::AnyScene<Real>& scene, const F& f) {
  switch (scene.kind()) {
    case thor::DatasetKind::Sphere:
      return f(*static_cast<const thor::Scene<thor::Sphere<Real>>*>(scene.data()));
    case thor::DatasetKind::Shell:
      return f(*static_cast<const thor::Scene<thor::Shell<Real>>*>(scene.data()));
    case thor::DatasetKind::Slab:
      return f(*static_cast<const thor::Scene<thor::Slab<Real>>*>(scene.data()));
    case thor::DatasetKind::UniformGrid:
      return f(*static_cast<const thor::Scene<thor::UniformGrid<Real>>*>(scene.data()));
  }
}

template <class Real>
void trace_any(const thor::AnyScene<Real>& any, const thor::ImageJob& job, const thor::ImageTile& tile, int planes,
               Real* out) {
  with_scene(any, [&](const auto& scene) {
    for (int row = 0; row < tile.rows; ++row) {
      for (int column = 0; column < tile.columns; ++column) {
        thor::device::trace_pixel(scene, job, tile, planes, column, row, out);
      }
    }
  });
}

template <class Real>
void absorb_any(const thor::AnyScene<Real>& any, const thor::device::Sightlines& sightlines,
                const thor::Absorption& absorption, Real* tau, double* columns) {
  with_scene(any, [&](const auto& scene) {
    for (std::uint32_t i = 0; i < sightlines.count; ++i) {
      for (int lane = 0; lane < 3; ++lane) {
        thor::device::absorb_bins(scene, sightlines, absorption, i, lane, 3, tau, columns);
      }
    }
  });
}

}  // namespace

void HostDevice::trace(int, const thor::AnyScene<float>& scene, const thor::ImageJob& job, const thor::ImageTile& tile,
                       int planes, float* out) {
  trace_any(scene, job, tile, planes, out);
}
void HostDevice::trace(int, const thor::AnyScene<double>& scene, const thor::ImageJob& job, const thor::ImageTile& tile,
                       int planes, double* out) {
  trace_any(scene, job, tile, planes, out);
}
void HostDevice::absorb(int, const thor::AnyScene<float>& scene, const thor::device::Sightlines& sightlines,
                        const thor::Absorption& absorption, float* tau, double* columns) {
  absorb_any(scene, sightlines, absorption, tau, columns);
}
void HostDevice::absorb(int, const thor::AnyScene<double>& scene, const thor::device::Sightlines& sightlines,
                        const thor::Absorption& absorption, double* tau, double* columns) {
  absorb_any(scene, sightlines, absorption, tau, columns);
}

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
