#include <fmt/format.h>

#include <charconv>

#include "thor/core/error.hpp"
#include "thor/parallel/device/device.hpp"
#if THOR_HAS_CUDA
#include "thor/parallel/cuda/device.hpp"
#endif

namespace thor::device {
namespace {

struct Backend {
  std::string_view name;
  std::vector<Info> (*list)();
  std::unique_ptr<Device> (*open)(int index);
  std::string (*why_none)();
  std::string (*version)();
};

#if !THOR_HAS_CUDA
namespace cuda {
std::vector<Info> list() { return {}; }
std::unique_ptr<Device> open(int) { return nullptr; }
std::string why_none() { return "not in this build (configure with -DTHOR_CUDA=ON)"; }
std::string version() { return "not in this build"; }
}  // namespace cuda
#endif

/// The backends that thor knows; one that is not in this build lists nothing.
const Backend known[] = {{"cuda", cuda::list, cuda::open, cuda::why_none, cuda::version}};

const Backend* find(std::string_view name) {
  for (const Backend& b : known) {
    if (b.name == name) return &b;
  }
  return nullptr;
}

}  // namespace

std::vector<Info> list() {
  std::vector<Info> devices;
  for (const Backend& b : known) {
    for (Info& info : b.list()) devices.push_back(std::move(info));
  }
  return devices;
}

std::vector<std::string_view> backends() {
  std::vector<std::string_view> names;
  for (const Backend& b : known) names.push_back(b.name);
  return names;
}

std::string why_none(std::string_view backend) { return find(backend)->why_none(); }
std::string version(std::string_view backend) { return find(backend)->version(); }

std::unique_ptr<Device> open(std::string_view name) {
  std::string have = "cpu";
  for (const Info& info : list()) have += fmt::format(", {}:{}", info.backend, info.index);
  const auto colon = name.find(':');
  const Backend* backend = find(name.substr(0, colon));
  if (!backend) {
    std::string names = "auto, cpu";
    for (const std::string_view b : backends()) names += fmt::format(", {0} or {0}:N", b);
    throw Error(ExitCode::usage, fmt::format("--device {}: not a device; choose {}", name, names));
  }
  const auto devices = backend->list();
  if (devices.empty()) {
    throw Error(ExitCode::device, fmt::format("--device {}: {}; devices here: {}", name, backend->why_none(), have));
  }
  int index = 0;
  if (colon != std::string_view::npos) {
    const std::string_view number = name.substr(colon + 1);
    const auto [rest, error] = std::from_chars(number.data(), number.data() + number.size(), index);
    if (error != std::errc() || rest != number.data() + number.size()) index = -1;
  }
  if (index < 0 || std::size_t(index) >= devices.size()) {
    throw Error(ExitCode::device, fmt::format("--device {}: there is no such device; devices here: {}", name, have));
  }
  return backend->open(index);
}

}  // namespace thor::device
