#include "thor/drivers/mcrt/earlier.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>

#include "thor/config/tree.hpp"
#include "thor/core/message.hpp"
#include "thor/core/version.hpp"
#include "thor/drivers/run.hpp"
#include "thor/io/array/contents.hpp"
#include "thor/io/fingerprint.hpp"
#include "thor/io/partial.hpp"
#include "thor/io/result_format.hpp"

namespace thor {
namespace {

constexpr const char* group = "/tally";
constexpr double most_entries = 8 << 20;  ///< of a tally that is kept if the configuration says nothing of it

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ExitCode::input, fmt::format("{}: cannot be continued: {}", path, why));
}

/// An integer attribute; io::Input gives it as a double, which is exact up to 2^53.
std::uint64_t integer(const io::Input& file, const std::string& path, const std::string& name) {
  const auto value = file.number(group, name);
  if (!value || !(*value >= 0 && *value < 0x1p53)) refuse(path, "its tally is damaged: the attribute " + name);
  return std::uint64_t(*value);
}

/// Whether the files that a configuration reads are there, of the size that the result knows.
bool has_inputs(const config::Config& config, const io::Input& result) {
  const std::vector<std::string> paths = config.input_files();
  for (std::size_t i = 0; i < paths.size(); ++i) {
    std::error_code error;
    if (std::filesystem::is_directory(paths[i], error)) continue;
    const auto bytes = std::filesystem::file_size(paths[i], error);
    if (error || result.number(fmt::format("/inputs/{}", i), "bytes") != double(bytes)) return false;
  }
  return true;
}

/// The configuration of a result. Relative paths in it are looked for from the result, as it was from there when the
/// result was written, then beside the result, then where the configuration was: a folder may be moved or copied.
config::Config find_config(const std::string& path, const io::Input& file, const std::string& text) {
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  const std::filesystem::path then = file.text("/", "config_path").value_or("");
  const std::filesystem::path from = file.text("/", "config_from_result").value_or(then.filename().string());
  for (const auto& place : {folder / from, folder / then.filename()}) {
    try {
      config::Config config = config::parse(text, place.lexically_normal().string());
      if (has_inputs(config, file)) return config;
    } catch (const Error&) {  // a file is missing, or is another one
    }
  }
  try {
    return config::parse(text, then.string());
  } catch (const Error& e) {
    throw Error(e.code(),
                fmt::format("{}\n{}: its input is neither beside it nor where it was: put it beside the result, "
                            "or give a configuration that knows where it is (thor run CONFIG --restart {})",
                            e.what(), path, path));
  }
}

/// Another version may have other photons.
void require_version(const std::string& path, const std::string& made_by, double format) {
  if (made_by != version || format != double(io::result_format_version)) {
    const std::string why = made_by != version ? fmt::format("it was made by thor {}, and this is {}", made_by, version)
                                               : fmt::format("it is of format {:g}, and this thor writes format {}",
                                                             format, io::result_format_version);
    refuse(path, why +
                     ": photons may differ. Use the thor that made it, or run its configuration again with more "
                     "photons (thor info --config)");
  }
}

/// Refuses a result that does not have all of its light in a tally.
void require_tally(const std::string& path, const io::Input& file) {
  if (file.text("/", "driver") == "raytrace") {
    refuse(path, "it is a result of driver: raytrace. Run the configuration again (thor info --config)");
  }
  if (file.has("/photons/original") || file.has("/photons/peel") || file.has("/parts")) {
    refuse(
        path,
        "it has raw photons, whose weights would change. Run its configuration (thor info --config) with more photons");
  }
  if (file.number("/summary", "in_flight").value_or(0) + file.number("/summary", "rays_in_flight").value_or(0) > 0) {
    refuse(path,
           "the run was cut with photons or rays in flight, whose light is partly counted. Run it again with a longer "
           "--drain");
  }
  if (!file.text("/", "config_path") || !file.has(std::string(group) + "/cells")) {
    refuse(path,
           "it has no tally (too large, output.tally: never, no outputs, cut on a device, or an earlier build). Run "
           "its configuration again with more photons (thor info --config), and output.tally: always to continue it");
  }
}

Earlier open_this(const std::string& path, const config::Config* asked) {
  io::require_whole(path, io::contents(path));
  const io::Input file(path);
  const auto made_by = file.text("/", "thor_version");
  const auto format = file.number("/", "format_version");
  const auto config = file.text("/", "config");
  if (!made_by || !format || !config) refuse(path, "not a result of thor");
  require_version(path, *made_by, *format);
  require_tally(path, file);
  if (const auto commit = file.text("/", "git_commit"); commit && *commit != git_commit) {
    warning("{} was made by commit {}, this is {}: photons may differ. Continue it with the thor that made it.", path,
            *commit, git_commit);
  }
  if (file.text(group, "config_hash") != fmt::format("{:016x}", io::hash_of(*config))) {
    refuse(path, "its configuration was changed after the run");
  }
  for (const std::string name : {"cells", "bins"}) {
    const std::string array = std::string(group) + "/" + name;
    if (file.text(group, name + "_hash") != hash_of_entries(file.read_all<std::uint64_t>(array))) {
      refuse(path, "its tally is damaged (cells)");
    }
  }
  Earlier earlier{path, *config, asked ? *asked : find_config(path, file, *config)};
  if (!asked && earlier.config.resolved != *config) {
    refuse(path, "this thor reads its configuration differently; use the thor that made it");
  }
  return earlier;
}

/// The keys in which two configurations differ, but for where results go and where files are: what is in these is
/// compared by itself (require_same_inputs).
std::vector<std::string> keys_that_differ(const std::string& one, const std::string& of_one, const std::string& other,
                                          const std::string& of_other) {
  std::vector<std::string> keys =
      config::differing_keys(config::read_tree(one, of_one), config::read_tree(other, of_other));
  std::erase_if(keys, [](const std::string& key) {
    return key == "output.path" || key == "dataset.path" || key == "line_list" || key == "acceleration.jump_tables" ||
           (key.starts_with("generators.") && key.ends_with(".path"));
  });
  return keys;
}

/// Whether two configurations are of the same photons, whenever their runs end.
bool same_model(const std::string& one, const std::string& other) {
  std::vector<std::string> keys = keys_that_differ(one, "", other, "");
  std::erase_if(keys, [](const std::string& key) { return key == "until" || key.starts_with("until."); });
  return keys.empty();
}

/// What a result, or what is left of one, says of its model. It knows the files that it was made from as soon as its
/// configuration.
struct Model {
  std::string config;
  std::vector<std::string> inputs{};  ///< size and hash of each
  bool operator==(const Model& other) const { return same_model(config, other.config) && inputs == other.inputs; }
};
std::string said_of(double bytes, const std::string& hash) { return fmt::format("{:.0f} {}", bytes, hash); }
std::optional<Model> model_of(const std::string& path) {
  const io::Input file(path);
  const auto config = file.text("/", "config");
  if (!config) return std::nullopt;
  Model model{*config};
  for (int i = 0;; ++i) {
    const std::string of = fmt::format("/inputs/{}", i);
    const auto bytes = file.has(of) ? file.number(of, "bytes") : std::nullopt;
    if (!bytes) return model;
    model.inputs.push_back(said_of(*bytes, file.text(of, "hash").value_or("")));
  }
}
Model model_of(const config::Config& config) {
  Model model{config.resolved};
  for (const InputFile& input : fingerprints(config.input_files())) {
    model.inputs.push_back(said_of(double(input.print.bytes), input.hash()));
  }
  return model;
}

/// Refuses a result that a killed run of another model was to replace.
void require_no_other(const std::string& path) {
  std::error_code none;
  const std::string partial = io::detail::partial_of(io::detail::target_of(path)).string();
  if (!std::filesystem::is_regular_file(partial, none) || !std::filesystem::is_regular_file(path, none)) return;
  try {
    const auto left = model_of(partial), there = model_of(path);
    if (!left || !there || *left == *there) return;
  } catch (const Error&) {  // it says nothing, or is being written
    return;
  }
  refuse(path, fmt::format("a run of another configuration that was to replace it was killed before it wrote anything. "
                           "Run that one again, or remove {} to continue this result",
                           partial));
}

/// Whether a damaged result is of the model of another, as far as what is left of it says so.
bool is_left_of(const std::string& path, const std::string& another) {
  std::error_code none;
  if (!std::filesystem::exists(path, none)) return true;  // nothing has that name
  const auto model = model_of(another);
  if (!model) return false;
  try {
    if (const auto left = model_of(path)) return *left == *model;
  } catch (const Error&) {  // it cannot be opened: its bytes may have the text
  }
  constexpr std::size_t beginning = 16 << 20;  // attributes are written first
  std::string bytes(beginning, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), std::streamsize(bytes.size()));
  const auto has = [&](const std::string& text) { return bytes.find(text) != std::string::npos; };
  return has(model->config) && std::ranges::all_of(model->inputs, [&](const std::string& input) {
           return has(input.substr(input.find(' ') + 1));  // its hash
         });
}

/// The name of a file, with those that it takes values from.
std::string with_others(const InputFile& input) {
  std::vector<std::string> others = input.print.others;
  if (others.empty()) return input.path;
  constexpr std::size_t most = 3;
  if (others.size() > most) others[most - 1] = fmt::format("{} more", others.size() - most + 1);
  others.resize(std::min(others.size(), most));
  return fmt::format("{}, or a file that it takes values from ({}),", input.path, fmt::join(others, ", "));
}

}  // namespace

bool is_of_model(const std::string& result, const config::Config& config) {
  return model_of(result) == model_of(config);
}

Earlier open_earlier(const std::string& path, const config::Config* asked) {
  const std::string previous = io::detail::previous_of(path).string();
  std::error_code none;
  if (!asked) require_no_other(path);
  if (!std::filesystem::exists(previous, none)) return open_this(path, asked);
  try {
    return open_this(path, asked);
  } catch (const Error& e) {
    if (e.code() != ExitCode::input) throw;
    Earlier earlier = open_this(previous, asked);
    if (!asked && !is_left_of(path, previous)) {
      throw Error(
          ExitCode::input,
          fmt::format("{}; {} may be of another model: `thor run CONFIG --restart {}` compares the configuration "
                      "and goes on from it",
                      e.what(), previous, path));
    }
    warning("{}; continuing from the previous checkpoint, {}", e.what(), previous);
    return earlier;
  }
}

void require_same_config(const Earlier& earlier, const config::Config& config) {
  const std::vector<std::string> keys = keys_that_differ(earlier.stored, earlier.path, config.resolved, config.path);
  if (keys.empty()) return;
  throw Error(ExitCode::usage,
              fmt::format("{}: is not the configuration of {} (thor info --config), which differs in {}", config.path,
                          earlier.path, fmt::join(keys, ", ")));
}

void require_same_inputs(const Earlier& earlier, const config::Config& config) {
  const io::Input file(earlier.path);
  const std::vector<InputFile> inputs = fingerprints(config.input_files());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string of = fmt::format("/inputs/{}", i);
    if (file.number(of, "bytes") != double(inputs[i].print.bytes) || file.text(of, "hash") != inputs[i].hash()) {
      refuse(earlier.path, with_others(inputs[i]) + " has changed since it was made. Run the configuration again");
    }
  }
  if (file.number(fmt::format("/inputs/{}", inputs.size()), "bytes")) {
    refuse(earlier.path, config.path + " reads fewer files than it did. Run the configuration again");
  }
}

Sample read_sample(const Earlier& earlier, const config::Config& config, const Setup& setup) {
  const std::string& path = earlier.path;
  const io::Input file(path);
  Sample sample = build_sample(config, setup);
  if (const std::string wrong = sample.tally.read_entries(file, group); !wrong.empty()) {
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
  const double entries = config::count_entries(config.outputs);
  const bool kept = config.tally == config::KeepTally::always ||
                    (config.tally == config::KeepTally::automatic && entries <= most_entries);
  return kept && !config.has_raw_photons() ? 8 * entries : 0;
}

void write_sample(io::ArrayOutput& file, const config::Config& config, const Sample& sample) {
  if (config.has_raw_photons() || tally_size(config) == 0 || !sample.known || sample.in_flight()) return;
  sample.tally.write_entries(file, group);
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
