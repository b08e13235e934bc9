#include "thor/drivers/options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "thor/core/error.hpp"
#include "thor/core/message.hpp"

namespace thor {

std::optional<Hold> Hold::wanted() {
  const char* text = std::getenv("THOR_TEST_HOLD");
  if (!text || std::string_view(text) == "writing") return std::nullopt;  // see stop_if_interrupted()
  const std::string_view words(text), kind = words.substr(0, words.find(':') + 1);
  Hold hold{.waits = kind == "at:"};
  const auto [end, error] = std::from_chars(text + kind.size(), text + words.size(), hold.ended);
  if ((kind != "at:" && kind != "after:") || error != std::errc() || end != text + words.size()) {
    throw Error(ExitCode::usage, fmt::format("THOR_TEST_HOLD: {}: expected at:N, after:N or writing", words));
  }
  return hold;
}

const comm::World& world_of(const DomainOptions& domains) {
  static const comm::World alone{comm::World::Alone{}};
  return domains.world ? *domains.world : alone;
}

std::unique_ptr<device::Device> choose_device(const RunOptions& options, bool writes_peeled_light) {
  if (options.device == "cpu" || (options.device == "auto" && writes_peeled_light)) return nullptr;
  if (writes_peeled_light) {
    throw Error(ExitCode::device, "outputs {type: photons, of: peel} are possible on CPUs only: use --device cpu");
  }
  if (options.device != "auto") return device::open(options.device);
  const bool about_the_processor = options.cpu.one_lane || !options.cpu.isa.empty();
  const auto devices = device::gpus();
  if (about_the_processor || devices.empty()) return nullptr;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const auto& chosen = devices[(std::size_t(options.world().rank_on_node()) + i) % devices.size()];
    try {
      return device::open(fmt::format("{}:{}", chosen.backend, chosen.index));
    } catch (const Error& e) {
      warning("{}; running on {}", e.what(), i + 1 < devices.size() ? "another device" : "the CPU");
    }
  }
  return nullptr;
}

std::string describe(const device::Device* device, const cpu::Options& options) {
  if (device) {
    const device::Info info = device->info();
    return fmt::format("{}: {} ({}), driver {}", info.backend, info.name, info.architecture, info.driver);
  }
  const std::string isa(options.isa.empty() ? cpu::instruction_sets().back() : options.isa);
  return fmt::format("cpu: {} ({})", cpu::processor_name(), isa);
}

}  // namespace thor
