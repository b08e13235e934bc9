#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "commands.hpp"
#include "thor/core/message.hpp"
#include "thor/io/result/parts.hpp"
#include "thor/io/result/product.hpp"
#include "thor/transport/fates.hpp"

namespace thor::command {
namespace {

using io::Attributes, io::show;

struct InfoArguments {
  std::string file;
  bool json = false, config = false;
};

std::string shape_of(const io::Object& object) {
  return fmt::format("{} [{}]", object.type, fmt::join(object.shape, ", "));
}

/// An image or a cube, and all of its light.
struct SkyInfo {
  io::Product product;
  double light;
};

std::vector<SkyInfo> on_the_sky(const std::string& path, const io::Result& info) {
  std::vector<SkyInfo> found;
  const io::Input input(path);
  for (const io::ProductPlace& place : io::find_products(info)) {
    if (place.kind != io::ProductKind::image && place.kind != io::ProductKind::cube) continue;
    io::Product product = io::read_product(input, place);
    double light = 0;
    if (product.is_light()) {
      const std::vector<double> values = io::read_values(input, product);
      light = std::accumulate(values.begin(), values.end(), 0.) * product.bin_size();
    }
    found.push_back({std::move(product), light});
  }
  return found;
}

/// "64 x 64", and the channels of a cube: fastest first.
std::string size_of(const io::Product& product) {
  std::vector<std::uint64_t> bins;
  for (const io::BinnedAxis& axis : product.axes) bins.insert(bins.begin(), axis.bins);
  return fmt::format("{}", fmt::join(bins, " x "));
}

std::string to_json(const std::string& path, const io::Result& info) {
  using Json = nlohmann::ordered_json;
  const auto attributes = [](const Attributes& from) {
    Json out = Json::object();
    for (const auto& [name, value] : from) std::visit([&out, &name = name](const auto& v) { out[name] = v; }, value);
    return out;
  };
  Json out{{"file", path}, {"kind", "result"}, {"complete", info.is_complete()}};
  for (const char* name : {"caveats", "warnings"}) out[name] = info.lines(name);
  out["attributes"] = attributes(info.root());
  out["summary"] = attributes(info.summary());
  out["datasets"] = Json::array();
  for (const io::Object& object : info.objects) {
    if (!object.is_dataset) continue;
    out["datasets"].push_back({{"path", object.path},
                               {"type", object.type},
                               {"shape", object.shape},
                               {"units", show(object.attributes, "units")},
                               {"description", show(object.attributes, "description")}});
  }
  out["products"] = Json::array();
  for (const auto& [product, light] : on_the_sky(path, info)) {
    out["products"].push_back({{"kind", io::kind_name(product.kind)},
                               {"name", product.name},
                               {"observer", product.observer()},
                               {"generator", product.generator()},
                               {"units", product.unit.text()},
                               {"light", light},
                               {"light_units", product.unit_of_light().text()}});
    if (const auto share = io::number(product.attributes, "trusted")) out["products"].back()["trusted"] = *share;
  }
  if (const auto parts = io::parts_of(info)) {
    out["parts"] = Json::array();
    for (int rank = 0; rank < parts->count; ++rank) out["parts"].push_back(io::part_name(path, rank));
  }
  return out.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

/// A text of rows, each with a name.
struct Rows {
  std::string text;
  void add(const std::string& name, const std::string& what) {
    text += fmt::format("  {:<11} {}\n", name, printable_line(what));
  }
};

std::string threads_of(const Attributes& summary) {
  return show(summary, "threads") + (show(summary, "threads") == "1" ? " thread" : " threads");
}

std::string last_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// The arrays /FOLDER/NAME/ARRAY of a result.
std::vector<const io::Object*> find_arrays(const io::Result& info, const std::string& folder,
                                           const std::string& array) {
  std::vector<const io::Object*> found;
  for (const io::Object& object : info.objects) {
    if (object.is_dataset && object.path.starts_with(folder) && object.path.ends_with(array)) found.push_back(&object);
  }
  return found;
}

void add_rays(Rows& rows, const std::string& path, const io::Result& info) {
  const Attributes& summary = info.summary();
  rows.add("work", fmt::format("{} rays in {} s with {}", show(summary, "rays"), show(summary, "transport_seconds"),
                               threads_of(summary)));
  for (const auto& [product, light] : on_the_sky(path, info)) {
    rows.add("image", fmt::format("{}: {} of {}, camera {}, {}{}{}", product.name, show(product.attributes, "operator"),
                                  show(product.attributes, "field"), show(product.attributes, "camera"),
                                  size_of(product), product.is_coloured() ? "" : ", ", product.unit.text()));
  }
  for (const io::Object* tau : find_arrays(info, "/absorption/", "/tau")) {
    const std::string group = tau->path.substr(0, tau->path.size() - 4);
    rows.add("absorption", fmt::format("{}: {}, {} sightlines of {} bins", group.substr(12),
                                       show(*info.of(group), "line"), tau->shape[0], tau->shape[1]));
  }
  for (const io::Object* first : find_arrays(info, "/traces/", "/first")) {
    const std::string group = first->path.substr(0, first->path.size() - 5);  // with a slash at its end
    std::vector<std::string> fields;
    for (const io::Object* array : find_arrays(info, group, "")) {
      const std::string name = array->path.substr(group.size());
      if (name != "first" && name != "begin" && name != "length") fields.push_back(name);
    }
    rows.add("trace", fmt::format("{}: {}, {} sightlines", group.substr(8, group.size() - 9), fmt::join(fields, ", "),
                                  first->shape[0] - 1));
  }
}

void add_photons(Rows& rows, const io::Result& info) {
  const Attributes &root = info.root(), &summary = info.summary();
  rows.add("gas",
           fmt::format("tau0 = {}, N = {} cm-2, v_th = {} km/s, a = {}", show(root, "tau0"),
                       show(root, "column_density"), show(root, "thermal_velocity"), show(root, "voigt_parameter")));
  std::string fates;
  for (const FateInfo& fate : thor::fates) {
    const std::string count = show(summary, fate.name);
    if (count != "0") fates += fmt::format("{}{} {}", fates.empty() ? "" : ", ", count, fate.name);
  }
  rows.add("photons", fmt::format("{} of {}: {}", show(summary, "photons"), show(summary, "photons_requested"), fates));
  rows.add("luminosity", fmt::format("{} of {} erg/s escaped", show(summary, "luminosity_escaped"),
                                     show(summary, "luminosity_emitted")));
  rows.add("work", fmt::format("{} scatterings, at most {} of one photon; {} s with {}", show(summary, "scatterings"),
                               show(summary, "longest"), show(summary, "transport_seconds"), threads_of(summary)));
  if (root.count("acceleration")) rows.add("acceleration", show(root, "acceleration"));
}

/// How the run ended, and what a plot of its outputs does not show.
void add_ending(Rows& rows, const io::Result& info) {
  const Attributes& summary = info.summary();
  rows.add("complete", info.is_complete() ? "yes" : "NO: it was cut");
  if (summary.contains("until_output")) {
    rows.add("until",
             fmt::format("relative error of {} ({}): {}, requested {}; ended by: {}", show(summary, "until_output"),
                         show(summary, "until_of"), show(summary, "until_reached"), show(summary, "until_error"),
                         show(summary, "until_ended")));
  }
  for (const io::Object& object : info.objects) {
    const std::string light = show(object.attributes, "luminosity_beyond");
    if (light == "?" || light == "0") continue;
    rows.add("beyond", fmt::format("{} erg/s beyond the range of {}", light, last_of(object.path)));
  }
  const bool earlier = io::number(info.root(), "format_version") == 1;  // another limit of the VOV, and not everywhere
  for (const io::Object& object : info.objects) {
    const auto share = io::number(object.attributes, "trusted");
    if (!share || io::number(object.attributes, "luminosity") == 0) continue;
    const std::string vov = fmt::format(" and a VOV of at most {}", earlier ? 0.15 : 0.1);
    rows.add("trusted", fmt::format("{:.3g} % of the light of {} is in bins with errors of at most 20 %{}",
                                    100 * *share, last_of(object.path), info.of(object.path + "/vov") ? vov : ""));
  }
}

std::string to_text(const std::string& path, const io::Result& info) {
  const Attributes& root = info.root();
  const bool rays = io::text(root, "driver") == "raytrace";
  Rows rows{printable_line(fmt::format("{}: {} by thor {} ({})", path, rays ? "rays" : show(root, "line"),
                                       show(root, "thor_version"), show(root, "git_commit"))) +
            "\n"};
  rows.add("made", fmt::format("{} on {}, {} precision, seed {}", show(root, "date"), show(root, "device"),
                               show(root, "precision"), show(root, "seed")));
  if (rays) {
    add_rays(rows, path, info);
    for (const auto& text : info.lines("warnings")) rows.add("warning", text);
    return rows.text;
  }
  add_photons(rows, info);
  for (const auto& [product, light] : on_the_sky(path, info)) {
    rows.add(io::kind_name(product.kind),
             fmt::format("{}, observer {}{}: {}, {}; {:.6g} {} in all", product.name, product.observer(),
                         product.generator().empty() ? "" : ", generator " + product.generator(), size_of(product),
                         product.unit.text(), light, product.unit_of_light().text()));
  }
  add_ending(rows, info);
  if (const auto parts = io::parts_of(info)) {
    rows.add("parts", fmt::format("raw photons are in {}: `thor merge {}` joins them",
                                  io::names_of_parts(path, parts->count), path));
  }
  for (const auto& text : info.lines("caveats")) rows.add("CAVEAT", text);
  for (const auto& text : info.lines("warnings")) rows.add("warning", text);
  for (const io::Object* array : find_arrays(info, "", "")) {
    const std::string units = show(array->attributes, "units");
    rows.text += printable_line(fmt::format("  {:<36} {:<20} {}{}{}", array->path, shape_of(*array), units,
                                            units.empty() ? "" : "; ", show(array->attributes, "description"))) +
                 "\n";
  }
  return rows.text;
}

ExitCode info(const InfoArguments& arguments) {
  const std::string& path = arguments.file;
  const auto fail = [&](const std::string& why) { throw Error(ExitCode::input, path + ": " + why); };
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  const bool folder = type == std::filesystem::file_type::directory;
  if (type == std::filesystem::file_type::not_found) fail("there is no such file");
  if (type == std::filesystem::file_type::none) fail(error.message());  // links in a circle, a closed directory
  if (!folder && type != std::filesystem::file_type::regular)
    fail("expected a file or a directory, not a pipe or a device");
  const bool snapshot = folder && !std::filesystem::exists(std::filesystem::path(path) / ".zgroup", error);
  const std::optional<io::Result> opened = snapshot ? std::nullopt : io::open_result(path);
  if (!opened) {
    const std::vector<io::Object> objects = snapshot ? std::vector<io::Object>{} : io::contents(path);
    io::require_no_part(path, objects);
    if (arguments.config) io::refuse_as_result(path, objects, "no configuration in the file: not a result of thor");
    const std::optional<std::string> text = describe_input(path, objects, arguments.json);
    if (!text) io::refuse_as_result(path, objects, "not a result of thor, a grid or a snapshot");
    print(*text);
    return ExitCode::done;
  }
  const io::Result& result = *opened;
  if (arguments.config) {
    const auto config = result.root().find("config");
    if (config == result.root().end() || !std::holds_alternative<std::string>(config->second)) {
      throw Error(ExitCode::input, arguments.file + ": no configuration in the file: it is damaged");
    }
    print(std::get<std::string>(config->second));
  } else {
    print(arguments.json ? to_json(arguments.file, result) : to_text(arguments.file, result));
  }
  return ExitCode::done;
}

}  // namespace

void add_info(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<InfoArguments>();
  CLI::App* command =
      app.add_subcommand("info", "print the contents, origin and caveats of a result, a grid or a snapshot");
  command->add_option("FILE", arguments->file, "result or grid (.h5, .zarr), or snapshot")->required();
  command->add_flag("--config", arguments->config, "print the configuration of the run, which can be run again");
  command->add_flag("--json", arguments->json, "print JSON");
  command->callback([arguments, &action] { action = [arguments] { return info(*arguments); }; });
}

}  // namespace thor::command
