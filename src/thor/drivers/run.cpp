#include "thor/drivers/run.hpp"

#include <fmt/ranges.h>

#include <ctime>
#include <filesystem>

#include "thor/core/message.hpp"
#include "thor/core/version.hpp"
#include "thor/io/partial.hpp"
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

void require_apart(const std::string& result, const config::CommonKeys& config,
                   const std::vector<std::string>& inputs) {
  io::detail::require_apart(result, config.path);
  for (const std::string& input : inputs) io::detail::require_apart(result, input);
}

void say_reading(const config::CommonKeys& config) {
  if (!config.dataset.path.empty()) message("thor: reading {}\n", config.dataset.path);
}

std::string InputFile::hash() const { return fmt::format("{:016x}", print.hash); }

std::vector<InputFile> fingerprints(const std::vector<std::string>& inputs) {
  std::vector<InputFile> list;
  for (const std::string& path : inputs) list.push_back({path, io::fingerprint(path)});
  return list;
}

void write_provenance(io::ArrayOutput& file, const config::CommonKeys& config, const std::string& device) {
  const auto set = [&](const char* name, const auto& value) { file.attribute("/", name, value); };
  set("thor_version", std::string(version));
  set("git_commit", std::string(git_commit));
  set("compiler", std::string(compiler));
  set("cpu", cpu::processor_name());
  set("date", now_utc());
  set("format_version", io::result_format_version);
  set("config", config.resolved);
  set("seed", config.seed);
  set("device", device);
  set("precision", std::string(config.precision == config::Precision::single_ ? "single" : "double"));
}

void write_inputs(io::ArrayOutput& file, const config::CommonKeys& config, const std::vector<InputFile>& inputs,
                  const std::string& result) {
  const std::filesystem::path path = std::filesystem::absolute(config.path).lexically_normal();
  const std::filesystem::path folder = std::filesystem::absolute(result).lexically_normal().parent_path();
  file.attribute("/", "config_path", path.string());
  file.attribute("/", "config_from_result", path.lexically_relative(folder).string());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string of = fmt::format("/inputs/{}", i);
    file.attribute(of, "path", inputs[i].path);
    file.attribute(of, "bytes", inputs[i].print.bytes);
    file.attribute(of, "hash", inputs[i].hash());
  }
}

void write_doubts(io::ArrayOutput& file, const std::vector<std::string>& caveats) {
  file.attribute("/summary", "caveats", fmt::format("{}", fmt::join(caveats, "\n")));
  file.attribute("/summary", "warnings", fmt::format("{}", fmt::join(warnings_said(), "\n")));
}

void write_effort(io::ArrayOutput& file, double seconds, const RunOptions& options) {
  file.attribute("/summary", "transport_seconds", seconds);
  file.attribute("/summary", "threads", std::int64_t(options.cpu.threads));
  file.attribute("/summary", "ranks", std::int64_t(options.world().ranks()));
}

}  // namespace thor
