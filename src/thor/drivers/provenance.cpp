#include "thor/drivers/provenance.hpp"

#include <ctime>

#include "thor/core/message.hpp"
#include "thor/core/version.hpp"
#include "thor/io/result_format.hpp"

namespace thor {
namespace {

/// As in ISO 8601.
std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

}  // namespace

void write_provenance(io::ArrayOutput& file, const Provenance& made) {
  const auto set = [&](const char* name, const auto& value) { file.attribute("/", name, value); };
  set("thor_version", std::string(version));
  set("git_commit", std::string(git_commit));
  set("compiler", std::string(compiler));
  set("cpu", cpu::processor_name());
  set("date", now_utc());
  set("format_version", io::result_format_version);
  set("config", made.config);
  set("seed", made.seed);
  set("device", made.device);
  set("precision", std::string(made.precision == config::Precision::single_ ? "single" : "double"));
}

std::unique_ptr<device::Device> choose_device(const RunOptions& options, bool writes_peeled_light, int rank_on_node) {
  if (options.device == "cpu" || (options.device == "auto" && writes_peeled_light)) return nullptr;
  if (writes_peeled_light) {
    throw Error(ExitCode::device, "outputs {type: photons, of: peel} are possible on CPUs only: use --device cpu");
  }
  if (options.device != "auto") return device::open(options.device);
  const bool about_the_processor = options.cpu.one_lane || !options.cpu.isa.empty();
  const auto devices = device::list();
  if (about_the_processor || devices.empty()) return nullptr;
  const auto& chosen = devices[std::size_t(rank_on_node) % devices.size()];
  const std::string name = fmt::format("{}:{}", chosen.backend, chosen.index);
  try {
    return device::open(name);
  } catch (const Error& e) {
    warning("{}; running on the CPU", e.what());
    return nullptr;
  }
}

std::string describe(const device::Device* device, const cpu::Options& options) {
  if (device) {
    const device::Info info = device->info();
    return fmt::format("{}: {} ({})", info.backend, info.name, info.architecture);
  }
  const std::string isa(options.isa.empty() ? cpu::instruction_sets().back() : options.isa);
  return fmt::format("cpu: {} ({})", cpu::processor_name(), isa);
}

}  // namespace thor
