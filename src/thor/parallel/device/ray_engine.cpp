#include "thor/parallel/ray_engine.hpp"
#include <fmt/format.h>

#include "thor/core/error.hpp"
#include "thor/core/parallel_for.hpp"
#include "thor/parallel/device/upload.hpp"

namespace thor {
namespace {

/// A scene in the memory of a device, whose pieces along single rays are found on the processor.
template <class Real>
class DeviceRayEngine final : public RayEngine {
 public:
  DeviceRayEngine(const AnyScene<Real>& scene, const cpu::Options& options, device::Device& device)
      : device_(device),
        host_(make_ray_engine(scene, options)),
        scene_(scene),
        threads_(options.threads),
        arrays_(device) {
    scene_.mirror(std::ref(arrays_));
  }

  void image(const ImageJob& job, std::span<const ImageTile> tiles, std::span<double> numbers) override {
    const std::size_t count = numbers.size();
    reserve(out_, host_out_, count * sizeof(Real));
    const ImageJob there = with_tables(job);
    Real* const out = reinterpret_cast<Real*>(out_->data());
    std::size_t begins = 0;
    for (const ImageTile& tile : tiles) {
      if (tile.pixels() == 0) continue;
      device_.trace(0, scene_, there, tile, job.planes, out + begins);
      begins += std::size_t(job.planes) * tile.pixels();
    }
    device_.copy_out(0, host_out_->data(), out, count * sizeof(Real));
    device_.wait(0);
    const Real* const found = reinterpret_cast<const Real*>(host_out_->data());
    parallel_for(threads_, count, 1 << 18, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) numbers[i] = double(found[i]);
    });
  }

  void follow(const SightlineRays& sightlines, const SightlineJob& job, std::span<float> numbers,
              std::span<double> sums) override {
    const auto upload = [&](const void* data, std::size_t bytes) {
      device::Buffer<char> buffer(device_, device::Memory::device, std::max<std::size_t>(bytes, 1));
      device_.copy_in(0, buffer.data(), data, bytes);
      return buffer;
    };
    const auto rays = upload(sightlines.rays.data(), sightlines.rays.size() * sizeof(StraightRay));
    const auto first = upload(sightlines.first.data(), sightlines.first.size() * sizeof(std::uint32_t));
    device::Buffer<Real> found(device_, device::Memory::device, numbers.size());
    device::Buffer<double> found_sums(device_, device::Memory::device, sums.size());
    device_.fill(0, found.data(), 0, found.bytes());
    device_.follow(0, scene_,
                   {reinterpret_cast<const StraightRay*>(rays.data()),
                    reinterpret_cast<const std::uint32_t*>(first.data()), std::uint32_t(sums.size())},
                   job, found.data(), found_sums.data());
    std::vector<Real> here(numbers.size());
    device_.copy_out(0, here.data(), found.data(), found.bytes());
    device_.copy_out(0, sums.data(), found_sums.data(), found_sums.bytes());
    device_.wait(0);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = float(here[i]);
  }

  RayRun record(const StraightRay& ray, const Quantities& quantities) override {
    return host_->record(ray, quantities);
  }

 private:
  using Bytes = device::Buffer<char>;
  /// The job with a copy of its tables on the device.
  ImageJob with_tables(const ImageJob& job) {
    ImageJob there = job;
    if (job.tables.count == 0) return there;
    const std::size_t bytes = job.tables.count * sizeof(float);
    reserve(tables_, host_tables_, bytes);
    std::memcpy(host_tables_->data(), job.tables.data, bytes);
    device_.copy_in(0, tables_->data(), host_tables_->data(), bytes);
    there.tables.data = reinterpret_cast<const float*>(tables_->data());
    return there;
  }
  void reserve(std::unique_ptr<Bytes>& memory, std::unique_ptr<Bytes>& pinned, std::size_t bytes) {
    if (memory && memory->bytes() >= bytes) return;
    memory.reset(), pinned.reset();
    memory = std::make_unique<Bytes>(device_, device::Memory::device, bytes);
    pinned = std::make_unique<Bytes>(device_, device::Memory::pinned, bytes);
  }

  device::Device& device_;
  std::unique_ptr<RayEngine> host_;
  AnyScene<Real> scene_;
  const int threads_;
  device::Copies arrays_;
  std::unique_ptr<Bytes> out_, host_out_, tables_, host_tables_;
};

}  // namespace

template <class Real>
std::unique_ptr<RayEngine> make_ray_engine(const AnyScene<Real>& scene, const cpu::Options& options,
                                           device::Device& device) {
  try {
    return std::make_unique<DeviceRayEngine<Real>>(scene, options, device);
  } catch (const device::OutOfMemory& e) {
    throw Error(ExitCode::device, fmt::format("the fields need {:.3g} bytes of GPU memory, but {:.3g} are free: use "
                                              "fewer fields, --domains, or --device cpu",
                                              double(e.asked), double(e.free)));
  }
}
template std::unique_ptr<RayEngine> make_ray_engine(const AnyScene<float>&, const cpu::Options&, device::Device&);
template std::unique_ptr<RayEngine> make_ray_engine(const AnyScene<double>&, const cpu::Options&, device::Device&);

}  // namespace thor
