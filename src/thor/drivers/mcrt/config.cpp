#include "thor/drivers/mcrt/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "thor/config/nearest.hpp"
#include "thor/core/error.hpp"
#include "thor/datasets/dataset_type.hpp"
#include "thor/drivers/common_keys.hpp"
#include "thor/drivers/mcrt/setup.hpp"
#include "thor/drivers/mcrt/sky.hpp"

namespace thor::config {
namespace {

struct OutputFile {
  std::string path;
  KeepTally tally = KeepTally::automatic;
};

/// A configuration as it is written, before paths are resolved and outputs sorted by kind.
struct File {
  Config config;
  std::vector<Output> outputs;
  OutputFile output;
  std::map<std::string, std::size_t> sets{};  ///< of observers: how many members each has
};

const Section<OutputFile>& output_file_section() {
  static const Section<OutputFile> section = [] {
    Section<OutputFile> s("The result file.");
    add_result_path(s, &OutputFile::path, "out.h5");
    using enum KeepTally;
    s.choice("tally", &OutputFile::tally,
             std::vector<Option<KeepTally>>{
                 {"auto", automatic, "stored up to 8 million integers (64 MB), and not with raw photons"},
                 {"always", always, "stored whatever its size, but not with raw photons"},
                 {"never", never, "not stored: the result cannot be continued"},
             },
             {.meaning = "whether the tally is stored, which `thor continue` needs ([tally](formats.md#tally))",
              .fallback = "auto"});
    return s;
  }();
  return section;
}

/// Outputs belong to observers that exist, and observers have names of their own. Sets become their members.
void check_observers(Reader& reader, File& file) {
  if (!reader.clean("observers") || !reader.clean("outputs")) return;
  std::vector<Observer> single;
  std::vector<std::string> names;  // of observers and sets
  for (std::size_t i = 0; i < file.config.observers.size(); ++i) {
    const Observer& observer = file.config.observers[i];
    const std::vector<Observer> members = members_of(observer, file.config.seed, i);
    std::vector<std::string> own{observer.name};
    if (observer.is_set()) {
      file.sets[observer.name] = members.size();
      for (const Observer& member : members) own.push_back(member.name);
    }
    for (const std::string& name : own) {
      if (std::ranges::count(names, name) == 0) continue;
      reader.report(fmt::format("observers.{}.name", i),
                    name == observer.name ? "another observer has this name, or is a set with such a member"
                                          : "another observer has the name of its member " + name);
      break;
    }
    names.insert(names.end(), own.begin(), own.end());
    single.insert(single.end(), members.begin(), members.end());
  }
  file.config.observers = std::move(single);
  for (std::size_t i = 0; i < file.outputs.size(); ++i) {
    const std::string key = fmt::format("outputs.{}.observer", i);
    const auto check = [&]<class T>(const T& output) {
      std::string name;
      if constexpr (requires { output.sight; }) name = output.sight.observer;
      if constexpr (requires { output.observer; }) name = output.observer;
      if (name.empty()) return;
      if (std::ranges::count(names, name) == 0) {
        reader.report(key, names.empty() ? "there are no observers: list them under the key observers"
                                         : "there is no observer of this name" + suggestion(name, names));
      } else if (std::is_same_v<T, PhotonsOutput> && file.sets.count(name) > 0) {
        reader.report(key, fmt::format("is a set of observers; use one of them, such as {}.0", name));
      }
    };
    std::visit(check, file.outputs[i]);
  }
}

/// Outputs belong to generators that exist; generators without a name have that of their place.
void check_generator_names(Reader& reader, File& file) {
  std::vector<std::string> names;
  std::map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < file.config.generators.size(); ++i) {
    std::string& name = file.config.generators[i].name;
    if (name.empty()) name = std::to_string(i);
    const auto [found, is_new] = first.emplace(name, i);
    if (!is_new && names.back() != name) {
      reader.report(
          fmt::format("generators.{}.name", i),
          fmt::format("generators of the same name must be neighbours: move it next to generators.{}, or rename it",
                      found->second));
    }
    names.push_back(name);
  }
  if (!reader.clean("generators") || !reader.clean("outputs")) return;
  for (std::size_t i = 0; i < file.outputs.size(); ++i) {
    const auto check = [&](const auto& output) {
      if constexpr (requires { output.generator; }) {
        if (output.generator.empty() || first.contains(output.generator)) return;
        std::string hint = suggestion(output.generator, names);
        if (hint.empty()) hint = fmt::format("; the first is called \"{}\"", names.front());
        reader.report(fmt::format("outputs.{}.generator", i),
                      fmt::format("there is no generator called \"{}\"{}", output.generator, hint));
      }
    };
    std::visit(check, file.outputs[i]);
  }
}

/// An output as many times as its observer has members, if that is a set.
template <class T>
std::vector<T> outputs_of_members(const T& output, const File& file) {
  if constexpr (requires { output.sight; }) {
    const auto set = file.sets.find(output.sight.observer);
    if (set != file.sets.end()) {
      std::vector<T> outputs(set->second, output);
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        outputs[i].name += fmt::format(".{}", i), outputs[i].sight.observer += fmt::format(".{}", i);
      }
      return outputs;
    }
  }
  return {output};
}

void sort_outputs(Reader& reader, File& file) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < file.outputs.size(); ++i) {
    const auto report = [&](const char* key, const std::string& message) {
      reader.report(fmt::format("outputs.{}.{}", i, key), message);
    };
    const auto sort = [&]<class T>(const T& output) {
      if constexpr (std::is_same_v<T, PhotonsOutput>) {
        auto& place = output.of == PhotonsOf::peel ? file.config.peeled : file.config.photons;
        if (place) report("type", "only one output of type photons is possible, and one `of: peel`");
        place = output;
      } else {
        const std::string& name = output.name;
        if (!name.empty() && !names.insert(name).second) report("name", "two outputs are called \"" + name + "\"");
        for (T& one : outputs_of_members(output, file)) file.config.outputs.push_back(std::move(one));
      }
    };
    std::visit(sort, file.outputs[i]);
  }
}

/// Observers that rays go to come first, so that the engines need to know of no others.
void sort_observers(Reader&, File& file) {
  auto& observers = file.config.observers;
  std::stable_partition(observers.begin(), observers.end(),
                        [&](const Observer& o) { return file.config.sends_rays_to(o.name); });
}

/// Fusing needs what a step sees of its observers.
void check_fuse(Reader& reader, File& file) {
  if (!file.config.peel.fuse || !reader.clean("observers") || !reader.clean("outputs") || !reader.clean("peel")) return;
  const auto observers = std::ranges::count_if(file.config.observers,
                                               [&](const Observer& o) { return file.config.sends_rays_to(o.name); });
  if (observers > Lookout<float>::most) {
    reader.report("peel.fuse", fmt::format("possible for at most {} observers; there are {}: remove fuse, or use "
                                           "fewer observers in a run",
                                           Lookout<float>::most, observers));
  }
}

/// Counts must fit their integer types, with a margin.
void check_counts(Reader& reader, File& file) {
  double photons = 0;
  const double bins = reader.clean("outputs") ? count_bins(file.config.outputs) : 0;
  for (const auto& generator : file.config.generators) photons += double(generator.photons);
  if (bins > 5e7) reader.report("outputs", fmt::format("{:.3g} bins in all; at most 5e7 are possible", bins));
  if (photons > 0x1p63)
    reader.report("generators", fmt::format("{:.3g} photons in all; at most 2^63 are possible", photons));
}

/// The output whose error is to be reached exists.
void check_until(Reader& reader, File& file) {
  const auto& until = file.config.until;
  if (!until || !reader.clean("until") || !reader.clean("outputs")) return;
  std::vector<std::string> names;
  for (const AnyOutput& any : file.config.outputs) {
    std::visit([&](const auto& output) { names.push_back(output.name); }, any);
  }
  const bool of_set = std::ranges::count(names, until->output + ".0") > 0;
  if (std::ranges::count(names, until->output) == 0) {
    reader.report("until.output",
                  names.empty() ? "there is no binned output: list one under the key outputs"
                  : of_set
                      ? fmt::format("is one output per observer of a set: use one of them, such as {}.0", until->output)
                      : "there is no binned output of this name" + suggestion(until->output, names));
  }
  for (const AnyOutput& any : file.config.outputs) {
    const auto is_bare = [&](const auto& output) { return output.name == until->output && !output.errors; };
    if (std::visit(is_bare, any)) {
      reader.report("until.output", "has no errors: remove `errors: none` from it, or take another output");
    }
  }
  if (file.config.has_raw_photons()) {
    reader.report("until",
                  "not possible with raw photons, whose weights depend on their final number: remove until, or the "
                  "output of type photons");
  }
}

/// Outputs have transitions of the line as references, and ranges in which it is seen.
void check_references(Reader& reader, const File& file, const Line& line, const Refuse& report) {
  for (std::size_t i = 0; i < file.outputs.size(); ++i) {
    const auto check = [&](const auto& output) {
      if constexpr (requires { output.reference; }) {
        if (!output.reference.empty() && !line.find(output.reference))
          report(fmt::format("outputs.{}.reference", i), unknown_transition(line, output.reference));
      }
      if constexpr (requires { output.axis; }) {
        if (!reader.clean("sky") || !reader.clean("outputs")) return;
        check_frame(file.config, output.axis, output.low, output.high, line, fmt::format("outputs.{}.range", i),
                    report);
      }
    };
    std::visit(check, file.outputs[i]);
  }
}

void check_depth_of_rays(double depth, const HostMesh* mesh, const Refuse& report) {
  if (!mesh || !mesh->periodic()) {
    report("peel.depth", "only for periodic boxes: remove it");
  } else if (const double diagonal = std::sqrt(3.) / std::ranges::max(mesh->sides()); depth < diagonal) {
    report("peel.depth", fmt::format("shorter than the diagonal of a cell: use at least {:.4g}", diagonal));
  }
}

/// What is not possible in a grid, or in a model that is sampled on cells.
void check_grid(const Config& config, const Refuse& report) {
  if (config.dataset.cells > 0 && config.numerics != Numerics{}) {
    report("numerics", "not possible with dataset.cells: remove either");
  }
  const bool model = dataset_type(config.dataset.type).model;
  if (config.dataset.compact && config.precision == Precision::double_) {
    report("dataset.compact", compact_in_double);
  }
  if (!model && config.acceleration.core_skip.mode == CoreSkipMode::global) {
    report("acceleration.core_skip", "`global` needs a single tau0, which a grid does not have: use `local`");
  }
  for (std::size_t i = 0; config.dataset.cells > 0 && i < config.generators.size(); ++i) {
    if (config.generators[i].type == GeneratorType::extended && config.generators[i].shape == SourceShape::medium) {
      report(fmt::format("generators.{}.shape", i), "shape: medium is not possible with dataset.cells: remove either");
    }
  }
}

/// Reports what can only be seen by building: profiles that cannot be normalised, sources outside the gas. What was
/// built is incomplete if anything was reported.
Outline build_outline(Reader& reader, const File& file) {
  const Config& config = file.config;
  Outline outline{};
  Line& line = outline.line;
  MediumOutline& medium = outline.medium;
  if (!reader.clean("line")) return outline;
  const Refuse report = [&](const std::string& key, const std::string& why) { reader.report(key, why); };
  line = choose_line(config, report);
  if (!reader.clean("line")) return outline;
  check_references(reader, file, line, report);
  if (!reader.clean("dataset")) return outline;
  medium = outline_medium(config.dataset, line, report);
  if (reader.clean("dataset") && reader.clean("sky")) check_cosmology(config, report);
  if (config.peel.depth && reader.clean("dataset") && reader.clean("peel")) {
    check_depth_of_rays(*config.peel.depth, medium.mesh.get(), report);
  }
  if (reader.clean("dataset")) outline.numerics = choose_numerics(config, line, medium, report);
  check_grid(config, report);
  if (reader.clean("dataset") && reader.clean("generators")) {
    check_generators(config.generators, medium, line, report);
  }
  return outline;
}

const Section<File>& root_section() {
  static const Section<File> section = [] {
    Section<File> s("");
    const auto of_config = [](auto member) {
      return [member](File & file) -> auto& { return file.config.*member; };
    };
    s.choice("driver", of_config(&Config::driver),
             std::vector<Option<Driver>>{{"mcrt", Driver::mcrt, "Monte Carlo radiative transfer"}},
             {.meaning = "kind of run: `mcrt` or `raytrace`", .fallback = "mcrt"});
    add_common_keys(s, of_config,
                    {.meaning = "spectral line: a name of `thor lines` or of `line_list`", .example = "Lya"},
                    "seed of the random numbers; the same seed gives the same photons",
                    "floating-point precision of the transport");
    s.list("generators", of_config(&Config::generators), generator_section(),
           {.meaning = "the sources of light: place, spectrum, luminosity, number of photons"});
    s.map("acceleration", of_config(&Config::acceleration), acceleration_section(),
          {.meaning = "core skipping and sphere jumps", .fallback = "{}"});
    s.map("physics", of_config(&Config::physics), physics_section(),
          {.meaning = "phase function, recoil, deuterium", .fallback = "{}"});
    s.map("numerics", of_config(&Config::numerics), numerics_section(),
          {.meaning = "schemes for the Voigt profile and random draws", .fallback = "{}"});
    s.map("limits", of_config(&Config::limits), limits_section(),
          {.meaning = "maximum number of scatterings and steps per photon", .fallback = "{}"});
    s.list("observers", of_config(&Config::observers), observer_section(),
           {.meaning = "distant observers, for images, cubes, profiles and spectra", .fallback = "[]"});
    s.map("sky", of_config(&Config::sky), sky_section(),
          {.meaning = "redshift or distance of the object; by default luminosities and lengths in kpc"});
    s.map("peel", of_config(&Config::peel), peel_section(),
          {.meaning = "how light towards observers is computed", .fallback = "{}"});
    s.list("outputs", &File::outputs, output_section(),
           {.meaning = "spectra, histograms, images, cubes, profiles and photons in the result", .fallback = "[]"});
    s.map("until", of_config(&Config::until), until_section(),
          {.meaning = "error at which the run ends, in place of a number of photons"});
    s.map("output", &File::output, output_file_section(), {.meaning = "the result file"});
    s.check(check_observers);
    s.check(check_generator_names);
    s.check(sort_outputs);
    s.check(sort_observers);
    s.check(check_fuse);
    s.check(check_counts);
    s.check(check_until);
    return s;
  }();
  return section;
}

}  // namespace

bool Config::sends_rays() const {
  return std::ranges::any_of(observers, [&](const Observer& o) { return sends_rays_to(o.name); });
}

bool Config::sends_rays_to(const std::string& observer) const {
  return is_peeled(outputs, observer) || (peeled && peeled->observer == observer);
}

std::vector<std::string> Config::input_files() const {
  std::vector<std::string> paths{dataset.path, line_list, acceleration.jump_tables};
  for (const Generator& generator : generators) paths.push_back(generator.path);
  return distinct(paths);
}

const Schema& schema() { return root_section().schema(); }

Checked check(Document document) {
  const Tree& tree = document.tree;
  Faults& faults = document.faults;
  Checked checked{};
  if (tree.kind == Tree::Kind::map) {
    Tree resolved;
    Reader reader(tree, resolved, faults, "", tree.where);
    if (reader.has("sky")) reader.set_angle(std::numeric_limits<double>::quiet_NaN());  // until it has been read
    File file = root_section().read(reader);
    Config& config = file.config;
    document.place(config, file.output.path);
    config.tally = file.output.tally;
    std::string& tables = config.acceleration.jump_tables;
    if (!tables.empty()) tables = document.beside(tables);
    for (Generator& g : config.generators) g.path = g.path.empty() ? config.dataset.path : document.beside(g.path);
    checked.outline = build_outline(reader, file);
    if (faults.empty()) config.resolved = to_yaml(resolved);
    checked.config = std::move(config);
  } else {
    faults.push_back({document.name, "", "expected a map of keys (driver, line, dataset, ...)"});
  }
  if (!faults.empty()) throw Error(ExitCode::usage, to_text(faults));
  return checked;
}

Config parse(const std::string& yaml_text, const std::string& name, const std::vector<std::string>& overrides) {
  return check(parse_document(yaml_text, name, overrides)).config;
}

}  // namespace thor::config
