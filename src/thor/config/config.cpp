#include "thor/config/config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <system_error>

#include "thor/config/sections.hpp"
#include "thor/core/error.hpp"

namespace thor::config {
namespace {

std::string read_line(Reader& reader) { return reader.choice<std::string>("line", {{"Lya", "Lya"}}).value_or(""); }

CoreSkip read_acceleration(Reader reader) {
  CoreSkip skip;
  if (reader.is_map("core_skip")) {
    auto map = *reader.optional("core_skip");
    skip = {CoreSkipMode::fixed, map.number("fixed", non_negative)};
    map.finish();
  } else {
    using enum CoreSkipMode;
    skip.mode = reader
                    .choice<CoreSkipMode>(
                        "core_skip", {{"none", none}, {"smith15", local}, {"local", local}, {"global", global}}, "none")
                    .value_or(none);
  }
  reader.finish();
  return skip;
}

Physics read_physics(Reader reader) {
  Physics physics;
  using enum PhaseFunction;
  physics.phase_function =
      reader
          .choice<PhaseFunction>("phase_function",
                                 {{"default", default_}, {"isotropic", isotropic}, {"dipole", dipole}}, "default")
          .value_or(default_);
  physics.recoil = reader.boolean("recoil", "false");
  reader.finish();
  return physics;
}

Limits read_limits(Reader reader) {
  Limits limits;
  limits.max_scatterings = reader.integer("max_scatterings", 1, 2'000'000'000, "2000000000");
  limits.max_steps = reader.integer("max_steps", 1, 2'000'000'000, "2000000000");
  reader.finish();
  return limits;
}

std::string read_output(Reader reader, const std::string& file) {
  const std::string expected = "a file name that ends in .h5";
  const std::filesystem::path path = reader.text("path", expected);
  if (reader.has("path") && path.extension() != ".h5") {
    reader.report("path", fmt::format("expected {}, got \"{}\"", expected, path.string()));
  }
  reader.finish();
  return (std::filesystem::path(file).parent_path() / path).string();
}

void read_root(Reader reader, Config& config) {
  reader.choice<Driver>("driver", {{"mcrt", Driver::mcrt}}, "mcrt");
  config.line = read_line(reader);
  config.seed = reader.integer("seed", 0, std::numeric_limits<std::uint64_t>::max(), "1");
  config.precision =
      reader.choice<Precision>("precision", {{"single", Precision::single_}, {"double", Precision::double_}}, "single")
          .value_or(Precision::single_);
  if (auto section = reader.required("dataset")) config.dataset = read_dataset(*section);
  for (Reader& item : reader.list("generators", true)) {
    config.generators.push_back(read_generator(std::move(item)));
  }
  if (auto section = reader.optional("acceleration")) {
    config.core_skip = read_acceleration(*section);
  }
  if (auto section = reader.optional("physics")) config.physics = read_physics(*section);
  if (auto section = reader.optional("limits")) config.limits = read_limits(*section);
  read_outputs(reader.list("outputs", false), config);
  if (auto section = reader.required("output")) {
    config.output_path = read_output(*section, config.path);
  }
  reader.finish();
}

std::string contents(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw Error(ExitCode::usage, path + ": is a directory, not a configuration file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ExitCode::usage, path + ": configuration file missing or not readable");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Config parse(const std::string& yaml_text, const std::string& name, const std::vector<std::string>& overrides) {
  Tree tree = read_tree(yaml_text, name);
  Errors errors;
  for (const auto& text : overrides) apply_override(tree, text, errors);
  if (tree.kind != Tree::Kind::map) {
    errors.push_back(name + ": expected a map of keys (driver, line, dataset, ...)");
  }

  Config config;
  config.path = name;
  if (tree.kind == Tree::Kind::map) {
    Tree resolved;
    read_root(Reader(tree, resolved, errors, "", tree.where), config);
    if (errors.empty()) config.resolved = to_yaml(resolved);
  }
  if (!errors.empty()) {
    throw Error(ExitCode::usage, fmt::format("{}", fmt::join(errors, "\n")));
  }
  return config;
}

Config load(const std::string& path, const std::vector<std::string>& overrides) {
  return parse(contents(path), path, overrides);
}

}  // namespace thor::config
