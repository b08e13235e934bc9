#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "thor/core/error.hpp"
#include "thor/parallel/device/backend.hpp"

namespace thor::device {
namespace {

const Backend* find(std::string_view name) {
  const auto known = known_backends();
  const auto found = std::ranges::find(known, name, &Backend::name);
  return found != known.end() ? *found : nullptr;
}

std::vector<Info> list(const Backend& backend) { return backend.list ? backend.list() : std::vector<Info>(); }

}  // namespace

std::vector<Info> list() {
  std::vector<Info> devices;
  for (const Backend* b : known_backends()) std::ranges::move(list(*b), std::back_inserter(devices));
  return devices;
}

std::vector<Info> gpus() {
  std::vector<Info> devices;
  for (Info& info : list()) {
    const bool is_known = std::ranges::any_of(
        devices, [&](const Info& other) { return other.name == info.name && other.backend != info.backend; });
    if (!info.is_processor && info.has_double && !is_known) devices.push_back(std::move(info));
  }
  return devices;
}

std::vector<std::string_view> backends() {
  std::vector<std::string_view> names;
  for (const Backend* b : known_backends()) names.push_back(b->name);
  return names;
}

std::string choices() {
  std::string names = "auto, cpu, ";
  for (const std::string_view b : backends()) names += fmt::format("{0}, {0}:1, ", b);
  return names + "...";
}

std::string why_none(std::string_view backend) {
  const Backend& b = *find(backend);
  if (b.why_none) return b.why_none();
  std::string option = fmt::format("THOR_{}", backend);
  std::ranges::transform(option, option.begin(), [](unsigned char c) { return char(std::toupper(c)); });
  return fmt::format("not in this build (configure with -D{}=ON)", option);
}

std::string version(std::string_view backend) {
  const Backend& b = *find(backend);
  return b.version ? b.version() : "not in this build";
}

std::unique_ptr<Device> open(std::string_view name) {
  const auto have = [] {  // only for an error: listing the devices of another backend may end badly
    std::string names = "cpu";
    for (const Info& info : list()) names += fmt::format(", {}:{}", info.backend, info.index);
    return names;
  };
  const auto colon = name.find(':');
  const Backend* backend = find(name.substr(0, colon));
  if (!backend) {
    std::string names = "auto, cpu";
    for (const std::string_view b : backends()) names += fmt::format(", {0} or {0}:N", b);
    throw Error(ExitCode::usage, fmt::format("--device {}: not a device; choose {}", name, names));
  }
  const auto devices = list(*backend);
  if (devices.empty()) {
    throw Error(ExitCode::device,
                fmt::format("--device {}: {}; devices here: {}", name, why_none(backend->name), have()));
  }
  int index = 0;
  if (colon != std::string_view::npos) {
    const std::string_view number = name.substr(colon + 1);
    const auto [rest, error] = std::from_chars(number.data(), number.data() + number.size(), index);
    if (error != std::errc() || rest != number.data() + number.size()) index = -1;
  }
  if (index < 0 || std::size_t(index) >= devices.size()) {
    throw Error(ExitCode::device, fmt::format("--device {}: there is no such device; devices here: {}", name, have()));
  }
  return backend->open(index);
}

}  // namespace thor::device
