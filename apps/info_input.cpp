#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "commands.hpp"
#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"
#include "thor/core/message.hpp"
#include "thor/io/array/input.hpp"
#include "thor/io/result/result.hpp"
#include "thor/io/snapshot/snapshot.hpp"

namespace thor::command {
namespace {

using Json = nlohmann::ordered_json;
constexpr double kpc = 1e3 * constants::pc;

struct ArrayFact {
  std::string path;
  std::vector<std::uint64_t> shape;
  std::string type, units, description;
};

/// What a file says of itself: rows for a reader, the same for a program, and its arrays.
struct Facts {
  std::string title;
  std::vector<std::pair<std::string, std::string>> rows;
  Json json = Json::object();
  std::vector<ArrayFact> arrays;

  void row(const std::string& name, const std::string& text) { rows.emplace_back(name, text); }
};

std::vector<ArrayFact> list_arrays(const std::vector<io::Object>& objects) {
  std::vector<ArrayFact> list;
  for (const io::Object& object : objects) {
    if (!object.is_dataset) continue;
    list.push_back({object.path, object.shape, object.type, io::text(object.attributes, "units"),
                    io::text(object.attributes, "description")});
  }
  return list;
}

void add_provenance(const io::Input& input, Facts& facts) {
  const std::string group = input.has("/gridding") ? "/gridding" : "/";
  for (const char* name : {"snapshot", "cube", "input", "gas_elements", "star_forming_elements", "empty_cells",
                           "bad_cells", "on_bad_cells", "choices", "warnings"}) {
    std::string text = input.text(group, name).value_or("");
    if (const auto number = input.number(group, name)) {
      text = fmt::format("{:g}", *number);
      facts.json[name] = *number;
    } else if (!text.empty()) {
      facts.json[name] = text;
    }
    for (std::size_t begin = 0; begin < text.size();) {  // a row for each line
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      facts.row(begin == 0 ? name : "", text.substr(begin, end - begin));
      begin = end + 1;
    }
  }
}

Facts facts_of_grid(const io::Input& input, const std::vector<io::Object>& objects) {
  Facts facts;
  facts.arrays = list_arrays(objects);
  const auto number = [&](const char* name) { return input.number("/", name).value_or(0); };
  std::vector<std::uint64_t> cells;
  for (const ArrayFact& array : facts.arrays) {
    if (array.shape.size() == 3 && array.path.rfind('/') == 0 && cells.empty()) cells = array.shape;
  }
  const double size = number("cell_size");
  facts.title =
      fmt::format("a grid of {} cells, which `dataset: {{type: uniform_grid}}` reads", fmt::join(cells, " x "));
  std::vector<std::string> sides;
  for (const auto n : cells) sides.push_back(fmt::format("{:.6g}", double(n) * size / kpc));
  facts.row("box", fmt::format("{} kpc, {:.6g} kpc a cell; lower corner at {:.6g}, {:.6g}, {:.6g} kpc",
                               fmt::join(sides, " x "), size / kpc, number("origin_x") / kpc, number("origin_y") / kpc,
                               number("origin_z") / kpc));
  facts.row("sides", number("periodic") != 0 ? "periodic" : "open");
  facts.row("cosmology", fmt::format("redshift {:g}, H = {:.6g} km/s/Mpc", number("redshift"),
                                     number("hubble") * 1e3 * kpc / constants::km));
  if (const auto made = input.text("/", "thor_version")) {
    facts.row("made", fmt::format("by thor {} ({})", *made, input.text("/", "git_commit").value_or("?")));
    facts.json["thor_version"] = *made;
  }
  facts.json["cells"] = cells;
  for (const char* name :
       {"format_version", "cell_size", "origin_x", "origin_y", "origin_z", "periodic", "redshift", "hubble"}) {
    if (const auto value = input.number("/", name)) facts.json[name] = *value;
  }
  add_provenance(input, facts);
  return facts;
}

/// The box of an octree or of sites.
void add_box(const io::Input& input, Facts& facts) {
  const auto number = [&](const char* name) { return input.number("/", name).value_or(0); };
  facts.row("box",
            fmt::format("{0:.6g} kpc a side; lower corner at {1:.6g}, {2:.6g}, {3:.6g} kpc", number("box_size") / kpc,
                        number("origin_x") / kpc, number("origin_y") / kpc, number("origin_z") / kpc));
  facts.row("sides", number("periodic") != 0 ? "periodic" : "open");
  facts.row("cosmology", fmt::format("redshift {:g}, H = {:.6g} km/s/Mpc", number("redshift"),
                                     number("hubble") * 1e3 * kpc / constants::km));
  for (const char* name : {"box_size", "origin_x", "origin_y", "origin_z", "periodic", "redshift", "hubble"}) {
    if (const auto value = input.number("/", name)) facts.json[name] = *value;
  }
}

Facts facts_of_sites(const io::Input& input, const std::vector<io::Object>& objects) {
  Facts facts;
  facts.arrays = list_arrays(objects);
  const std::vector<std::uint64_t> shape = input.array("/x").shape;
  if (shape.size() != 1 || !input.has("/y") || !input.has("/z")) {
    throw Error(ExitCode::input,
                input.path().string() + ": no Voronoi mesh: x, y and z have a number for each site (docs/voronoi.md)");
  }
  facts.title = fmt::format("{} sites, of which `dataset: {{type: voronoi}}` makes a mesh", shape[0]);
  add_box(input, facts);
  facts.json["sites"] = shape[0];
  return facts;
}

Facts facts_of_octree(const io::Input& input, const std::vector<io::Object>& objects) {
  Facts facts;
  facts.arrays = list_arrays(objects);
  const auto level = input.read_all<std::int64_t>("/level");
  const auto is_level = [](std::int64_t l) { return l >= 0 && l <= 29; };
  const auto as_long = [&](const char* name) {
    return input.has(name) && input.array(name).shape == std::vector<std::uint64_t>{level.size()};
  };
  if (level.empty() || !std::ranges::all_of(level, is_level) || !as_long("/x") || !as_long("/y") || !as_long("/z")) {
    throw Error(ExitCode::input,
                input.path().string() +
                    ": not an octree: level, x, y and z have a number for each leaf, and levels are from 0 "
                    "to 29 (docs/octrees.md)");
  }
  std::map<std::int64_t, std::int64_t> leaves;
  for (const std::int64_t l : level) ++leaves[l];
  const double size = input.number("/", "box_size").value_or(0);
  facts.title = fmt::format("an octree of {} leaves, which `dataset: {{type: octree}}` reads", level.size());
  add_box(input, facts);
  for (const auto& [l, count] : leaves) {
    facts.row(l == leaves.begin()->first ? "levels" : "",
              fmt::format("{}: {} leaves of {:.6g} kpc", l, count, std::ldexp(size, -int(l)) / kpc));
    facts.json["levels"].push_back({{"level", l}, {"leaves", count}});
  }
  facts.json["leaves"] = level.size();
  return facts;
}

Facts facts_of_snapshot(const std::string& path, const std::vector<io::Object>& objects) {
  const io::Snapshot snapshot(path);
  const io::SnapshotHeader& h = snapshot.header();
  std::optional<io::Input> first;  // of HDF5
  if (!snapshot.has("level")) first.emplace(snapshot.files().front());
  Facts facts;
  facts.title = fmt::format("a snapshot ({}), which `thor grid` puts on a grid", h.code);
  facts.row("files", fmt::format("{}", snapshot.files().size()));
  facts.row("gas", fmt::format("{} elements", snapshot.gas_count()));
  facts.row("stars", fmt::format("{}", snapshot.star_count()));
  const auto counts = first ? first->numbers("/Header", "NumPart_Total") : std::vector<double>{};
  if (!counts.empty()) facts.row("particles", fmt::format("{} by type", fmt::join(counts, ", ")));
  facts.row("box", h.box[0] > 0 ? fmt::format("{:.6g} x {:.6g} x {:.6g} kpc, physical", h.box[0] / kpc, h.box[1] / kpc,
                                              h.box[2] / kpc)
                                : "not known");
  facts.row("cosmology", h.cosmological ? fmt::format("redshift {:.6g}, h = {:g}, Omega_m = {:g}, Omega_Lambda = {:g}",
                                                      h.redshift, h.h, h.omega_m, h.omega_lambda)
                                        : "none");
  for (const auto& note : h.notes) facts.row("note", note);
  for (const auto& warning : h.warnings) facts.row("warning", warning);
  facts.json = {{"code", h.code},
                {"files", snapshot.files().size()},
                {"gas", snapshot.gas_count()},
                {"stars", snapshot.star_count()},
                {"particles", counts},
                {"box", h.box},
                {"redshift", h.redshift},
                {"hubble_parameter", h.h},
                {"omega_m", h.omega_m},
                {"omega_lambda", h.omega_lambda},
                {"notes", h.notes},
                {"warnings", h.warnings}};
  if (first) facts.arrays = list_arrays(first->path() == path ? objects : io::contents(first->path().string()));
  return facts;
}

/// One whose units are not known, or that lacks what gas must have: what there is, and what `thor grid` will want.
Facts facts_of_unread(const io::Input& input, const std::vector<io::Object>& objects, const Error& error) {
  Facts facts;
  facts.title = "a snapshot, which `thor grid` cannot read as it is";
  facts.row("note", error.what());
  const std::vector<double> counts = input.numbers("/Header", "NumPart_Total");
  facts.row("particles", fmt::format("{} by type", fmt::join(counts, ", ")));
  facts.json = {{"particles", counts}, {"notes", {error.what()}}};
  facts.arrays = list_arrays(objects);
  return facts;
}

std::string to_text(const std::string& path, const Facts& facts) {
  std::string out = fmt::format("{}: {}\n", path, facts.title);
  const auto line = [&](const std::string& text) { out += printable_line(text) + "\n"; };
  for (const auto& [name, text] : facts.rows) line(fmt::format("  {:<22}{}", name, text));
  for (const ArrayFact& array : facts.arrays) {
    line(fmt::format("  {:<36} {:<24} {}{}{}", array.path,
                     fmt::format("{} [{}]", array.type, fmt::join(array.shape, ", ")), array.units,
                     array.units.empty() || array.description.empty() ? "" : "; ", array.description));
  }
  return out;
}

std::string to_json(const std::string& path, const char* kind, const Facts& facts) {
  Json out{{"file", path}, {"kind", kind}, {kind, facts.json}, {"datasets", Json::array()}};
  for (const ArrayFact& array : facts.arrays) {
    out["datasets"].push_back({{"path", array.path},
                               {"type", array.type},
                               {"shape", array.shape},
                               {"units", array.units},
                               {"description", array.description}});
  }
  return out.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

/// The result of `thor sweep`.
Facts facts_of_sweep(const io::Input& input, const std::vector<io::Object>& objects) {
  Facts facts;
  facts.title = "result of a sweep";
  const auto status = input.read_all<std::uint64_t>("/status");
  const auto count = [&](std::uint64_t code) { return std::ranges::count(status, code); };
  facts.row("models", fmt::format("{}: {} done, {} unreliable, {} failed, {} missing", status.size(), count(1),
                                  count(2), count(3), count(0)));
  facts.json["models"] = status.size();
  facts.json["done"] = count(1), facts.json["unreliable"] = count(2);
  facts.json["failed"] = count(3), facts.json["missing"] = count(0);
  for (const char* name : {"device", "date", "thor_version"}) facts.row(name, input.text("/", name).value_or(""));
  std::istringstream failures(input.text("/", "failures").value_or(""));
  int rows = 0;
  for (std::string line; std::getline(failures, line) && rows < 10; ++rows) facts.row(rows == 0 ? "failed" : "", line);
  facts.arrays = list_arrays(objects);
  return facts;
}

}  // namespace

std::optional<std::string> describe_input(const std::string& path, const std::vector<io::Object>& objects, bool json) {
  const bool folder = std::filesystem::is_directory(path);
  std::optional<io::Input> input;
  try {
    input.emplace(path);
  } catch (const Error&) {
    const bool zarr = path.ends_with(".zarr") || std::filesystem::exists(std::filesystem::path(path) / "zarr.json");
    if (!folder || zarr) throw;  // another directory may have the files of a snapshot
  }
  const auto show = [&](const char* kind, const Facts& facts) {
    return json ? to_json(path, kind, facts) : to_text(path, facts);
  };
  if (input && input->text("/", "kind") == "sweep") return show("sweep", facts_of_sweep(*input, objects));
  if (input && input->number("/", "box_size")) {
    if (input->has("/level")) return show("octree", facts_of_octree(*input, objects));
    if (input->has("/x")) return show("sites", facts_of_sites(*input, objects));
  }
  if (input && input->number("/", "cell_size")) return show("grid", facts_of_grid(*input, objects));
  if (const auto size = input ? input->text("/", "cell_size") : std::nullopt) {
    throw Error(ExitCode::input,
                fmt::format("{}: attribute \"cell_size\" of the root group is the text \"{}\"; expected "
                            "the size of a cell of a grid as a number, in cm",
                            path, *size));
  }
  if (input && !input->has("/Header")) return std::nullopt;
  try {
    return show("snapshot", facts_of_snapshot(path, objects));
  } catch (const Error& e) {
    if (!input) throw;
    return show("snapshot", facts_of_unread(*input, objects, e));
  }
}

}  // namespace thor::command
