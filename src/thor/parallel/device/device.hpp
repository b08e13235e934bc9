#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "thor/operators/any_scene.hpp"
#include "thor/parallel/device/program.hpp"
#include "thor/parallel/device/shape.hpp"
#include "thor/parallel/device/tracing.hpp"
#include "thor/transport/any_problem.hpp"

/// The seam between the engine and a device's own programming interface (docs/contributing/backend.md).
namespace thor::device {

struct Info {
  std::string backend;         ///< its name
  int index = 0;               ///< among the devices of the backend
  std::string name;            ///< as the maker calls it
  std::string architecture;    ///< as its compiler calls it
  std::string driver;          ///< its version
  int processors = 1;          ///< units with a memory and schedulers of their own
  int schedulers = 1;          ///< groups that can issue in one cycle, in all of them
  int group = 1;               ///< threads that run in lockstep: 16, 32 or 64
  bool has_double = true;      ///< precision
  bool is_processor = false;   ///< of this machine: `auto` does not take it
  bool shares_memory = false;  ///< reads the memory of the host in place, as fast as its own
  std::size_t memory = 0;
  std::size_t memory_free = 0;  ///< of an open device
};

/// How `lanes` lanes are spread over all schedulers, or a share of them.
inline LaunchShape spread(const Info& info, std::uint32_t lanes, int shares = 1) {
  const auto groups = std::uint32_t(std::max(info.schedulers / shares, 1));
  const auto width = std::clamp<std::uint32_t>((lanes + groups - 1) / groups, 1, std::uint32_t(info.group));
  return {lanes, int(width), info.group, std::max(info.processors, 1)};
}

enum class Memory { device, pinned };  ///< pinned: on the host, for asynchronous copies

/// One open device. Work is queued: it is done in order within a queue, and queues go on side by side. Every call that
/// fails throws Error(device) naming the call and the device.
class Device {
 public:
  static constexpr int queues = 2;

  virtual ~Device() = default;
  virtual Info info() const = 0;

  /// Out of memory throws OutOfMemory.
  virtual void* allocate(Memory where, std::size_t bytes) = 0;
  virtual void release(Memory where, void* memory) noexcept = 0;  ///< no queue uses it any more

  virtual void copy_in(int queue, void* device, const void* host, std::size_t bytes) = 0;
  virtual void copy_out(int queue, void* host, const void* device, std::size_t bytes) = 0;
  virtual void fill(int queue, void* device, int byte, std::size_t bytes) = 0;
  virtual void wait(int queue) = 0;  ///< until everything in the queue is done

  /// Queues one slice of a problem whose arrays are on the device.
  template <class Real>
  void advance(int queue, const AnyProblem<Real>& problem, const Program<Real>& program, LaunchShape shape) {
    launch(queue, {Task::advance, int(problem.kind()), sizeof(Real) == 4}, problem.data(), &program, shape);
  }
  /// Queues a tile of an image, of a scene whose arrays are on the device: the first `planes` of them, one after the
  /// other.
  template <class Real>
  void trace(int queue, const AnyScene<Real>& scene, const ImageJob& job, const ImageTile& tile, int planes,
             Real* out) {
    const ImageArguments<Real> arguments{job, tile, planes, out};
    launch(queue, {Task::image, int(scene.kind()), sizeof(Real) == 4}, scene.data(), &arguments, {});
  }
  /// Queues sightlines: adds to their numbers, and sets their sums.
  template <class Real>
  void follow(int queue, const AnyScene<Real>& scene, const Sightlines& sightlines, const SightlineJob& job,
              Real* numbers, double* sums) {
    const SightlineArguments<Real> arguments{sightlines, job, numbers, sums};
    launch(queue, {Task::sightlines, int(scene.kind()), sizeof(Real) == 4}, scene.data(), &arguments, {});
  }

 protected:
  /// Queues a task on the bytes of a problem or scene, with a Program, ImageArguments or SightlineArguments.
  virtual void launch(int queue, const Task& task, const void* subject, const void* arguments, LaunchShape shape) = 0;
};

struct OutOfMemory {
  std::size_t asked, free;
};

/// Memory of a device or pinned memory, for `count` values of T.
template <class T>
class Buffer {
 public:
  Buffer(Device& device, Memory where, std::size_t count)
      : device_(&device), where_(where), bytes_(count * sizeof(T)), data_(device.allocate(where, bytes_)) {}
  Buffer(Buffer&& other) noexcept
      : device_(other.device_),
        where_(other.where_),
        bytes_(other.bytes_),
        data_(std::exchange(other.data_, nullptr)) {}
  Buffer& operator=(Buffer&&) = delete;
  ~Buffer() {
    if (data_) device_->release(where_, data_);
  }
  T* data() const { return static_cast<T*>(data_); }
  std::size_t bytes() const { return bytes_; }
  T& operator[](std::size_t i) const { return data()[i]; }  ///< pinned memory only

 private:
  Device* device_;
  Memory where_;
  std::size_t bytes_;
  void* data_;
};

/// Every device of every backend of this build.
std::vector<Info> list();
/// Of these each GPU that thor can use once, by its first backend: two backends give a GPU the same name.
std::vector<Info> gpus();
/// The backends that thor knows, in this build or not.
std::vector<std::string_view> backends();
/// What may be asked for, for a help text: "auto, cpu, NAME, NAME:1, ...".
std::string choices();
/// NAME, or NAME:1 for the second device. Throws Error(device) with the alternatives.
std::unique_ptr<Device> open(std::string_view name);
/// Why a backend has no devices: "not in this build", "no driver", ...
std::string why_none(std::string_view backend);
/// What a backend is built with: "13.0", or "not in this build".
std::string version(std::string_view backend);

}  // namespace thor::device
