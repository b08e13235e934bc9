#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "commands.hpp"
#include "thor/core/message.hpp"
#include "thor/drivers/mcrt.hpp"
#include "thor/io/array/contents.hpp"

namespace thor::command {
namespace {

using Attributes = std::map<std::string, io::Attribute>;

struct InfoArguments {
  std::string file;
  bool json = false, config = false;
};

/// What a result says of itself.
struct ResultInfo {
  std::vector<io::Object> objects;
  const Attributes *root = nullptr, *summary = nullptr;
};

std::string show(const io::Attribute& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, double>) return fmt::format("{:.6g}", v);
        return fmt::format("{}", v);
      },
      value);
}

std::string get(const Attributes& attributes, const std::string& name) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? "?" : show(found->second);
}

bool is_complete(const Attributes& summary) {
  const auto found = summary.find("complete");
  return found != summary.end() && std::holds_alternative<bool>(found->second) && std::get<bool>(found->second);
}

/// A line each of an attribute that holds several.
std::vector<std::string> lines_of(const Attributes& attributes, const std::string& name) {
  const auto found = attributes.find(name);
  std::vector<std::string> lines;
  if (found == attributes.end() || !std::holds_alternative<std::string>(found->second)) return lines;
  std::istringstream text(std::get<std::string>(found->second));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

/// None where the file is not a result of thor.
std::optional<ResultInfo> open_result(const std::string& path) {
  ResultInfo info{io::contents(path)};
  for (const io::Object& object : info.objects) {
    if (object.path == "/") info.root = &object.attributes;
    if (object.path == "/summary") info.summary = &object.attributes;
  }
  const auto fail = [&](const std::string& why) { throw Error(ExitCode::input, path + ": " + why); };
  if (!info.root->count("thor_version") || !info.root->count("format_version") || !info.summary) return std::nullopt;
  const auto* version = std::get_if<std::int64_t>(&info.root->at("format_version"));
  if (!version || *version < 1) fail("its format_version is damaged");
  if (*version > format_version) {
    fail(fmt::format("written by thor {} in format {}; this thor reads up to {}: use that one or a newer",
                     get(*info.root, "thor_version"), *version, format_version));
  }
  io::require_whole(path, info.objects);
  return info;
}

std::string shape_of(const io::Object& object) {
  return fmt::format("{} [{}]", object.type, fmt::join(object.shape, ", "));
}

std::string to_json(const std::string& path, const ResultInfo& info) {
  using Json = nlohmann::ordered_json;
  const auto attributes = [](const Attributes& from) {
    Json out = Json::object();
    for (const auto& [name, value] : from) std::visit([&out, &name = name](const auto& v) { out[name] = v; }, value);
    return out;
  };
  Json out{{"file", path}, {"kind", "result"}, {"complete", is_complete(*info.summary)}};
  for (const char* name : {"caveats", "warnings"}) out[name] = lines_of(*info.summary, name);
  out["attributes"] = attributes(*info.root);
  out["summary"] = attributes(*info.summary);
  out["datasets"] = Json::array();
  for (const io::Object& object : info.objects) {
    if (!object.is_dataset) continue;
    out["datasets"].push_back({{"path", object.path},
                               {"type", object.type},
                               {"shape", object.shape},
                               {"units", get(object.attributes, "units")},
                               {"description", get(object.attributes, "description")}});
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_text(const std::string& path, const ResultInfo& info) {
  const Attributes &root = *info.root, &summary = *info.summary;
  std::string out = fmt::format("{}: {} by thor {} ({})\n", path, get(root, "line"), get(root, "thor_version"),
                                get(root, "git_commit"));
  const auto row = [&](const char* name, const std::string& text) { out += fmt::format("  {:<12}{}\n", name, text); };
  row("made", fmt::format("{} on {}, {} precision, seed {}", get(root, "date"), get(root, "device"),
                          get(root, "precision"), get(root, "seed")));
  row("gas", fmt::format("tau0 = {}, N = {} cm-2, v_th = {} km/s, a = {}", get(root, "tau0"),
                         get(root, "column_density"), get(root, "thermal_velocity"), get(root, "voigt_parameter")));
  std::string fates;
  for (const FateInfo& fate : thor::fates) {
    const std::string count = get(summary, fate.name);
    if (count != "0") fates += fmt::format("{}{} {}", fates.empty() ? "" : ", ", count, fate.name);
  }
  row("photons", fmt::format("{} of {}: {}", get(summary, "photons"), get(summary, "photons_requested"), fates));
  row("luminosity",
      fmt::format("{} of {} erg/s escaped", get(summary, "luminosity_escaped"), get(summary, "luminosity_emitted")));
  row("work", fmt::format("{} scatterings, at most {} of one photon; {} s with {} threads", get(summary, "scatterings"),
                          get(summary, "longest"), get(summary, "transport_seconds"), get(summary, "threads")));
  row("complete", is_complete(summary) ? "yes" : "NO: it was cut");
  if (summary.contains("until_output")) {
    row("until", fmt::format("relative error of {} ({}): {}, {} was asked for; ended by: {}",
                             get(summary, "until_output"), get(summary, "until_of"), get(summary, "until_reached"),
                             get(summary, "until_error"), get(summary, "until_ended")));
  }
  for (const io::Object& object : info.objects) {  // what a plot of it does not show
    const std::string light = get(object.attributes, "luminosity_beyond");
    if (light == "?" || light == "0") continue;
    row("beyond",
        fmt::format("{} erg/s lie beyond the range of {}", light, object.path.substr(object.path.rfind('/') + 1)));
  }
  for (const auto& text : lines_of(summary, "caveats")) row("CAVEAT", text);
  for (const auto& text : lines_of(summary, "warnings")) row("warning", text);
  for (const io::Object& object : info.objects) {
    if (!object.is_dataset) continue;
    const std::string units = get(object.attributes, "units");
    out += fmt::format("  {:<36} {:<20} {}{}{}\n", object.path, shape_of(object), units, units.empty() ? "" : "; ",
                       get(object.attributes, "description"));
  }
  return out;
}

ExitCode info(const InfoArguments& arguments) {
  const std::string& path = arguments.file;
  const auto fail = [&](const std::string& why) { throw Error(ExitCode::input, path + ": " + why); };
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  const bool folder = type == std::filesystem::file_type::directory;
  if (type == std::filesystem::file_type::not_found) fail("there is no such file");
  if (!folder && type != std::filesystem::file_type::regular)
    fail("neither a file nor a directory (a pipe, a device?)");
  const bool snapshot = folder && !std::filesystem::exists(std::filesystem::path(path) / ".zgroup", error);
  const std::optional<ResultInfo> opened = snapshot ? std::nullopt : open_result(path);
  if (!opened) {
    const std::optional<std::string> text = describe_input(path, arguments.json);
    if (!text) fail("not a result of thor, nor a grid or a snapshot");
    if (arguments.config) fail("holds no configuration: it is not a result of thor");
    print(*text);
    return ExitCode::done;
  }
  const ResultInfo& result = *opened;
  if (arguments.config) {
    const auto config = result.root->find("config");
    if (config == result.root->end() || !std::holds_alternative<std::string>(config->second)) {
      throw Error(ExitCode::input, arguments.file + ": holds no configuration; the file is damaged");
    }
    print(show(config->second));
  } else {
    print(arguments.json ? to_json(arguments.file, result) : to_text(arguments.file, result));
  }
  return ExitCode::done;
}

}  // namespace

void add_info(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<InfoArguments>();
  CLI::App* command = app.add_subcommand(
      "info", "say what a result file, a grid or a snapshot holds, how it was made, and what to mind");
  command->add_option("FILE", arguments->file, "result or grid (.h5, .zarr), or snapshot")->required();
  command->add_flag("--config", arguments->config, "print the configuration that made it: it can be run again");
  command->add_flag("--json", arguments->json, "print JSON");
  command->callback([arguments, &action] { action = [arguments] { return info(*arguments); }; });
}

}  // namespace thor::command
