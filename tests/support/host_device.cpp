// The kernels of HostDevice, in a separate file because compiling them with a sanitizer takes very long.
#include "support/host_device.hpp"

#include <optional>

#include "support/lockstep.hpp"
#include "thor/core/error.hpp"
#include "thor/parallel/device/backend.hpp"
#include "thor/parallel/device/rays.hpp"

namespace test {
namespace {

namespace device = thor::device;

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

/// One of a group in lockstep, or alone: one type, since kernels take long to compile.
struct Group {
  test::Lockstep* all = nullptr;
  bool has = true;
  bool has_lane() const { return has; }
  bool any(bool going) const { return all ? all->vote(false, going).second > 0 : going; }
  bool half(bool waits, bool going) const {
    if (!all) return waits;
    const auto [waiting, sum] = all->vote(waits, going);
    return waiting != 0 && 2 * waiting >= sum;
  }
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

template <class P>
void advance_lanes(const P& p, const device::Program<typename P::Real>& program, device::LaunchShape shape, int width) {
  using enum device::Slice;
  const device::Slice slice = device::slice_of(p, program);
  const auto advance = [&](std::uint32_t i, const Group& group) {
    const int copy = int(i) % program.copies;
    const bool goes_on = slice == logs    ? device::advance_lane<Plain, logs>(p, program, i, copy, group)
                         : slice == steps ? device::advance_lane<Plain, steps>(p, program, i, copy, group)
                                          : device::advance_lane<Plain, refills>(p, program, i, copy, group);
    if (goes_on) program.next_live[program.report->live++] = program.live[i];
  };
  std::optional<Lockstep> lockstep;
  if (width > 1) lockstep.emplace(width);
  if (!lockstep) {
    for (std::uint32_t i = 0; i < shape.lanes; ++i) advance(i, Group());
  }
  for (std::uint32_t first = 0; lockstep && first < shape.lanes; first += std::uint32_t(shape.width)) {
    lockstep->run([&](int within, Lockstep& group) {
      const std::uint32_t i = first + std::uint32_t(within);
      advance(i, Group{&group, within < shape.width && i < shape.lanes});
    });
  }
  if (slice != logs) return;
  if (shape.lanes > 0) {
    device::start_rays<Plain>(p, program, 0, 0, 1);
  }
  if (shape.lanes > 0 || program.keeps) {
    if (!lockstep) {
      device::trace_rays<Plain>(p, program, 0, Group());
    } else {
      lockstep->run([&](int, Lockstep& group) { device::trace_rays<Plain>(p, program, 0, Group{&group}); });
    }
  }
  const auto entries = device::entries_of<Plain>(program, 0);
  for (std::uint64_t i = 0; i < entries.tables.slots; ++i) device::flush_slot(i, entries);
}

template <class Real>
void advance(int kind, const void* problem, const thor::device::Program<Real>& program, thor::device::LaunchShape shape,
             int width) {
  const auto try_as = [&]<class P>(std::type_identity<P>) {
    if (kind != int(thor::kind_of<P>)) return false;
    const auto& given = *static_cast<const P*>(problem);
    if (view<Real>(given.dataset).is_part()) {
      advance_lanes(given, program, shape, width);
    } else {
      advance_lanes(thor::as_whole(given), program, shape, width);
    }
    return true;
  };
  const bool known = try_as(std::type_identity<thor::LineProblem<thor::Sphere<Real>>>()) ||
                     try_as(std::type_identity<thor::LineProblem<thor::Shell<Real>>>()) ||
                     try_as(std::type_identity<thor::LineProblem<thor::Slab<Real>>>()) ||
                     try_as(std::type_identity<thor::LineProblem<thor::UniformGrid<Real>>>()) ||
                     try_as(std::type_identity<thor::LineProblem<thor::Octree<Real>>>()) ||
                     try_as(std::type_identity<thor::LineProblem<thor::Voronoi<Real>>>());
  if (!known) {
    throw thor::Error(thor::ExitCode::device, "host device: not for this problem, since no test needs it");
  }
}

/// f(scene) with the scene that some bytes are.
template <class Real, class F>
void with_scene(int kind, const void* scene, const F& f) {
  switch (thor::DatasetKind(kind)) {
    case thor::DatasetKind::Sphere:
      return f(*static_cast<const thor::Scene<thor::Sphere<Real>>*>(scene));
    case thor::DatasetKind::Shell:
      return f(*static_cast<const thor::Scene<thor::Shell<Real>>*>(scene));
    case thor::DatasetKind::Slab:
      return f(*static_cast<const thor::Scene<thor::Slab<Real>>*>(scene));
    case thor::DatasetKind::UniformGrid:
      return f(*static_cast<const thor::Scene<thor::UniformGrid<Real>>*>(scene));
    case thor::DatasetKind::Octree:
      return f(*static_cast<const thor::Scene<thor::Octree<Real>>*>(scene));
    case thor::DatasetKind::Voronoi:
      return f(*static_cast<const thor::Scene<thor::Voronoi<Real>>*>(scene));
  }
}

template <class Real>
void trace(int kind, const void* any, const thor::device::ImageArguments<Real>& image) {
  with_scene<Real>(kind, any, [&](const auto& scene) {
    for (int row = 0; row < image.tile.rows; ++row) {
      for (int column = 0; column < image.tile.columns; ++column) {
        thor::device::trace_pixel(scene, image.job, image.tile, image.planes, column, row, image.out);
      }
    }
  });
}

template <class Real>
void follow(int kind, const void* any, const thor::device::SightlineArguments<Real>& all) {
  with_scene<Real>(kind, any, [&](const auto& scene) {
    for (std::uint32_t i = 0; i < all.sightlines.count; ++i) {
      for (int lane = 0; lane < 3; ++lane) {
        thor::device::trace_numbers(scene, all.sightlines, all.job, i, lane, 3, all.numbers, all.sums);
      }
    }
  });
}

template <class Real>
void run(const thor::device::Task& task, const void* subject, const void* arguments, thor::device::LaunchShape shape,
         int width) {
  using enum thor::device::Task::What;
  switch (task.what) {
    case advance:
      return test::advance(task.kind, subject, *static_cast<const device::Program<Real>*>(arguments), shape, width);
    case image:
      return trace(task.kind, subject, *static_cast<const device::ImageArguments<Real>*>(arguments));
    case sightlines:
      return follow(task.kind, subject, *static_cast<const device::SightlineArguments<Real>*>(arguments));
  }
}

}  // namespace

void HostDevice::launch(int, const thor::device::Task& task, const void* subject, const void* arguments,
                        thor::device::LaunchShape shape) {
  const Poison poison(poisoned);
  task.single ? run<float>(task, subject, arguments, shape, group_)
              : run<double>(task, subject, arguments, shape, group_);
}

}  // namespace test

/// What makes it a backend, as one in src/thor/parallel has it.
namespace thor::host {

extern const device::Backend backend;
const device::Backend backend{
    "host", [] { return std::vector{test::HostDevice().info()}; },
    [](int) -> std::unique_ptr<device::Device> { return std::make_unique<test::HostDevice>(); },
    [] { return std::string(); }, [] { return std::string("tests"); }};

}  // namespace thor::host
