#pragma once
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

/// The seam between the engine and a device's own programming interface. A backend is one folder beside this one: a
/// class that implements Device and an entry in backends.cpp.
namespace thor::device {

struct Info {
  std::string backend;       ///< "cuda"
  int index = 0;             ///< among the devices of the backend
  std::string name;          ///< as the maker calls it
  std::string architecture;  ///< "sm_90"
  int schedulers = 1;        ///< warps that can issue in one cycle
  std::size_t memory = 0;
  std::size_t memory_free = 0;  ///< of an open device
};

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
  virtual void advance(int queue, const AnyProblem<float>& problem, const Program<float>& program,
                       LaunchShape shape) = 0;
  virtual void advance(int queue, const AnyProblem<double>& problem, const Program<double>& program,
                       LaunchShape shape) = 0;

  /// Queues a tile of an image, of a scene whose arrays are on the device: the first `planes` of them, one after the
  /// other.
  virtual void trace(int queue, const AnyScene<float>& scene, const ImageJob& job, const ImageTile& tile, int planes,
                     float* out) = 0;
  virtual void trace(int queue, const AnyScene<double>& scene, const ImageJob& job, const ImageTile& tile, int planes,
                     double* out) = 0;
  /// Queues the spectra of sightlines: adds to their bins, and sets their column densities.
  virtual void absorb(int queue, const AnyScene<float>& scene, const Sightlines& sightlines,
                      const Absorption& absorption, float* tau, double* columns) = 0;
  virtual void absorb(int queue, const AnyScene<double>& scene, const Sightlines& sightlines,
                      const Absorption& absorption, double* tau, double* columns) = 0;
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
/// "cuda" or "cuda:1". Throws Error(device) with the alternatives.
std::unique_ptr<Device> open(std::string_view name);
/// Why a backend has no devices: "not in this build", "no driver", ...
std::string why_none(std::string_view backend);
/// What a backend is built with: "13.0", or "not in this build".
std::string version(std::string_view backend);

}  // namespace thor::device
