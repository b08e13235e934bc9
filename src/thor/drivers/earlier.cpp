#include "thor/drivers/earlier.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "thor/config/tree.hpp"
#include "thor/core/message.hpp"
#include "thor/core/version.hpp"
#include "thor/drivers/mcrt.hpp"
#include "thor/drivers/prepare.hpp"
#include "thor/io/array/contents.hpp"
#include "thor/io/fingerprint.hpp"
#include "thor/io/partial.hpp"
#include "thor/io/result_format.hpp"

namespace thor {
namespace {

constexpr const char* group = "/tally";
constexpr double most_cells = 8 << 20;  ///< of a tally that is kept if the configuration says nothing of it

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ExitCode::input, fmt::format("{}: cannot be continued: {}", path, why));
}

/// An integer attribute; io::Input gives it as a double, which is exact up to 2^53.
std::uint64_t integer(const io::Input& file, const std::string& path, const std::string& name) {
  const auto value = file.number(group, name);
  if (!value || !(*value >= 0 && *value < 0x1p53)) refuse(path, "its tally is damaged: the attribute " + name);
  return std::uint64_t(*value);
}

}  // namespace

std::vector<InputFile> inputs_of(const config::Config& config) {
  std::vector<InputFile> list;
  for (const std::string& path : input_paths(config)) list.push_back({path, io::fingerprint(path)});
  return list;
}

namespace {

/// Of what was counted, to tell whether the disk still has it.
std::string hash_of_cells(const std::vector<std::uint64_t>& cells) {
  const auto* bytes = reinterpret_cast<const char*>(cells.data());
  return fmt::format("{:016x}", io::hash_of({bytes, bytes + cells.size() * sizeof(cells[0])}));
}

Earlier open_this(const std::string& path) {
  io::require_whole(path, io::contents(path));
  const io::Input file(path);
  const auto made_by = file.text("/", "thor_version");
  const auto format = file.number("/", "format_version");
  const auto config = file.text("/", "config"), name = file.text("/", "config_path");
  if (!made_by || !format || !config) refuse(path, "it is not a result of thor");
  if (*made_by != version || *format != double(io::result_format_version)) {
    refuse(path, fmt::format("it was made by thor {}, and this is {}: photons may differ. Use that version, or run its "
                             "configuration again with more photons (thor info --config)",
                             *made_by, version));
  }
  if (file.text("/", "driver") == "raytrace") {
    refuse(path,
           "it is of rays, which have neither checkpoints nor photons to add. Run its configuration again (thor "
           "info --config)");
  }
  if (file.has("/photons/original") || file.has("/photons/peel") || file.has("/parts")) {
    refuse(path,
           "it holds raw photons, whose weights would change. Run its configuration (thor info --config) with more "
           "photons");
  }
  if (file.number("/summary", "in_flight").value_or(0) + file.number("/summary", "rays_in_flight").value_or(0) > 0) {
    refuse(path,
           "the run was cut with photons or rays in flight, whose light is partly counted. Run it again, with a longer "
           "--drain where it may be cut");
  }
  if (!name || !file.has(std::string(group) + "/cells")) {
    refuse(path,
           "it does not hold what was counted: an earlier build made it, the run was cut on a device, it has no "
           "outputs, or its tally is large or not wanted (output.tally: always keeps it). Run its configuration again "
           "with more photons (thor info --config)");
  }
  if (const auto commit = file.text("/", "git_commit"); commit && *commit != git_commit) {
    warning("{} was made by commit {}, and this is {}: photons may differ", path, *commit, git_commit);
  }
  Earlier earlier{path, config::parse(*config, *name)};
  if (earlier.config.resolved != *config) {
    refuse(path, "its configuration does not mean the same to this program; use the one that made it");
  }
  if (file.text(group, "config_hash") != fmt::format("{:016x}", io::hash_of(*config))) {
    refuse(path, "its configuration is not the one that it was made with");
  }
  if (file.text(group, "cells_hash") != hash_of_cells(file.read_all<std::uint64_t>(std::string(group) + "/cells"))) {
    refuse(path, "its tally is damaged: the cells");
  }
  return earlier;
}

}  // namespace

bool is_checkpoint(const std::string& path, const config::Config& config) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return false;
  try {
    const io::Input file(path);
    const bool unfinished = file.number("/summary", "complete").value_or(1) == 0;
    return file.number("/summary", "checkpoint").value_or(0) != 0 ||
           (unfinished && file.text(group, "config_hash") == fmt::format("{:016x}", io::hash_of(config.resolved)));
  } catch (const Error&) {
    return false;
  }
}

Earlier open_earlier(const std::string& path) {
  const std::string previous = io::detail::previous_of(path).string();
  std::error_code none;
  if (!std::filesystem::exists(previous, none)) return open_this(path);
  try {
    return open_this(path);
  } catch (const Error& e) {
    if (e.code() != ExitCode::input) throw;
    Earlier earlier = open_this(previous);
    warning("{}; going on from the checkpoint before it, {}", e.what(), previous);
    return earlier;
  }
}

void require_same_config(const Earlier& earlier, const config::Config& config) {
  std::vector<std::string> keys = config::differing_keys(config::read_tree(earlier.config.resolved, earlier.path),
                                                         config::read_tree(config.resolved, config.path));
  std::erase(keys, "output.path");
  if (keys.empty()) return;
  throw Error(ExitCode::usage,
              fmt::format("{}: is not the configuration of {} (thor info --config), which differs in {}", config.path,
                          earlier.path, fmt::join(keys, ", ")));
}

void require_same_inputs(const Earlier& earlier, const config::Config& config) {
  const io::Input file(earlier.path);
  const std::vector<InputFile> inputs = inputs_of(config);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string of = fmt::format("/inputs/{}", i);
    const io::Fingerprint& now = inputs[i].print;
    if (file.number(of, "bytes") != double(now.bytes) || file.text(of, "hash") != fmt::format("{:016x}", now.hash)) {
      refuse(earlier.path, inputs[i].path + " has changed since it was made. Run the configuration again");
    }
  }
}

Sample read_sample(const Earlier& earlier, const config::Config& config, const Setup& setup) {
  const std::string& path = earlier.path;
  const io::Input file(path);
  Sample sample = build_sample(config, setup);
  if (const std::string wrong = sample.tally.read_cells(file, group); !wrong.empty()) {
    refuse(path, "its tally does not fit: " + wrong);
  }
  sample.next = integer(file, path, "next_id");
  sample.seconds = file.number("/summary", "transport_seconds").value_or(0);
  sample.continued = integer(file, path, "continued") + 1;
  sample.requested = std::uint64_t(file.number("/summary", "photons_requested").value_or(0));
  if (file.number(group, "next_look")) sample.look = integer(file, path, "next_look");
  std::uint64_t missing = 0;
  if (const std::string name = std::string(group) + "/missing"; file.has(name)) {
    const auto ends = file.read_all<std::uint64_t>(name);
    for (std::size_t i = 0; i + 1 < ends.size(); i += 2) {
      if (ends[i] >= ends[i + 1] || ends[i + 1] > sample.next) refuse(path, "its tally is damaged: " + name);
      sample.missing.push_back({ends[i], ends[i + 1]});
      missing += ends[i + 1] - ends[i];
    }
  }
  if (sample.tally.photons() + missing != sample.next) refuse(path, "its tally is damaged: the number of photons");
  return sample;
}

double tally_size(const config::Config& config) {
  const double cells = config::count_cells(config.outputs);
  const bool kept = config.tally == config::KeepTally::always ||
                    (config.tally == config::KeepTally::automatic && cells <= most_cells);
  return kept && !config.has_raw_photons() ? 8 * cells : 0;
}

void write_sample(io::ArrayOutput& file, const config::Config& config, const std::vector<InputFile>& inputs,
                  const Sample& sample) {
  file.attribute("/", "config_path", std::filesystem::absolute(config.path).string());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string of = fmt::format("/inputs/{}", i);
    file.attribute(of, "path", inputs[i].path);
    file.attribute(of, "bytes", inputs[i].print.bytes);
    file.attribute(of, "hash", fmt::format("{:016x}", inputs[i].print.hash));
  }
  if (config.has_raw_photons() || tally_size(config) == 0 || !sample.known || sample.in_flight()) return;
  file.attribute(group, "cells_hash", hash_of_cells(sample.tally.write_cells(file, group)));
  file.attribute(group, "config_hash", fmt::format("{:016x}", io::hash_of(config.resolved)));
  file.attribute(group, "next_id", sample.next);
  file.attribute(group, "continued", sample.continued);
  if (sample.look > sample.tally.photons()) file.attribute(group, "next_look", sample.look);
  if (sample.missing.empty()) return;
  std::vector<std::uint64_t> ends;
  for (const Ids& ids : sample.missing) ends.insert(ends.end(), {ids.next, ids.end});
  file.write<std::uint64_t>(std::string(group) + "/missing", ends, {sample.missing.size(), 2}, "",
                            "photons before next_id that were not started: the first id and the one after the last");
}

}  // namespace thor
