#include "thor/drivers/sweep/config.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "thor/config/nearest.hpp"
#include "thor/core/error.hpp"

namespace thor::sweep {
namespace {

using config::Tree;

constexpr std::uint64_t most_models = 100'000'000, most_latin = 10'000'000;

/// Reads the keys of a sweep. They are few, and those of the models have any name, so that there is no Section.
class SweepReader {
 public:
  explicit SweepReader(config::Document document) : document_(std::move(document)) { faults_ = document_.faults; }

  Config read() {
    check_keys(document_.tree, "", {"model", "set", "design", "models", "seed", "keys", "list", "output"});
    Config out{document_.name, model(), "", Models(Design::list, {}, 0, 0), output()};
    const std::uint64_t seed = integer("seed", 0, std::numeric_limits<std::uint64_t>::max()).value_or(1);
    const Design design = read_design();
    std::vector<Axis> axes = design == Design::list ? read_list() : read_keys(design);
    const std::uint64_t count = read_count(design, axes);
    if (!faults_.empty()) throw Error(ExitCode::usage, config::to_text(faults_));
    // All but where the sweep and its result are.
    Tree rest = document_.tree;
    std::erase_if(rest.entries, [&](const Tree::Entry& e) {  // a Sobol sequence may grow
      return e.key == "output" || e.key == "model" || (e.key == "models" && design == Design::sobol);
    });
    out.text = config::to_yaml(out.model.tree) + "\n" + config::to_yaml(rest);
    out.models = Models(design, std::move(axes), count, seed);
    return out;
  }

 private:
  void fault(const std::string& where, const std::string& path, const std::string& message) {
    faults_.push_back({where, path, message});
  }
  const Tree* find(const std::string& key) const {
    const Tree::Entry* entry = document_.tree.find(key);
    return entry ? &entry->value : nullptr;
  }

  void check_keys(const Tree& map, const std::string& path, const std::vector<std::string>& known) {
    std::vector<std::string> seen;
    for (const auto& entry : map.entries) {
      if (std::ranges::count(known, entry.key) == 0) {
        fault(entry.where, path + entry.key,
              fmt::format("unknown key{} (known keys: {})", config::suggestion(entry.key, known),
                          fmt::join(known, ", ")));
      } else if (std::ranges::count(seen, entry.key) > 0) {
        fault(entry.where, path + entry.key, "is given twice");
      }
      seen.push_back(entry.key);
    }
  }

  /// Keys that may vary: names that an override can have, none within another.
  void check_varied(const std::string& key, const std::string& where, const std::string& path) {
    if (key.empty() || key.find_first_of("=# \t\n\"'") != std::string::npos) {
      fault(where, path, "expected the path of a key, as dataset.tau0");
    } else if (key == "output" || key.starts_with("output.")) {
      fault(where, path, "models have no result of their own: leave it out");
    }
    for (const std::string& other : varied_) {
      if (key != other && (key.starts_with(other + ".") || other.starts_with(key + "."))) {
        fault(where, path, fmt::format("one of {} and {} contains the other: vary one of them", other, key));
      }
    }
    if (std::ranges::count(varied_, key) == 0) varied_.push_back(key);
  }
  void check_twice(const Tree& map, const std::string& path) {
    std::vector<std::string> seen;
    for (const auto& entry : map.entries) {
      if (std::ranges::count(seen, entry.key) > 0) fault(entry.where, path + entry.key, "is given twice");
      seen.push_back(entry.key);
    }
  }

  config::Document model() {
    const Tree* given = find("model");
    config::Document base{document_.name, {}};
    if (!given && document_.tree.find("dataset")) {
      fault(document_.name + ":1:1", "model", "missing: this is the configuration of a run (thor run)");
    } else if (!given) {
      fault(document_.name + ":1:1", "model", "missing; expected the name of a configuration, or its keys");
    } else if (given->kind == Tree::Kind::map) {
      base.tree = *given;
    } else if (given->kind == Tree::Kind::scalar) {
      base = config::open_document(document_.beside(given->text));
    } else {
      fault(given->where, "model", "expected the name of a configuration, or its keys");
    }
    if (!base.tree.find("output")) config::apply_override(base.tree, "output.path=model.h5", base.faults);
    if (const Tree* set = find("set")) {
      if (set->kind != Tree::Kind::map) fault(set->where, "set", "expected a map of keys, as in {precision: double}");
      check_twice(*set, "set.");
      for (const auto& entry : set->entries) {
        if (entry.key == "seed") fault(entry.where, "set.seed", "the seed of a sweep is its key seed: give it there");
        config::apply_override(base.tree, entry.key + "=" + config::to_inline_yaml(entry.value), base.faults,
                               entry.where);
      }
    }
    return base;
  }

  std::string output() {
    const Tree* map = find("output");
    const Tree::Entry* path = map && map->kind == Tree::Kind::map ? map->find("path") : nullptr;
    if (map && map->kind == Tree::Kind::map) check_keys(*map, "output.", {"path"});
    if (!path || path->value.kind != Tree::Kind::scalar || !config::is_result_name(path->value.text)) {
      fault(map ? map->where : document_.name + ":1:1", "output.path",
            "expected a file name that ends in .h5 or .zarr");
      return "";
    }
    return document_.beside(path->value.text);
  }

  std::optional<std::uint64_t> integer_of(const Tree& value, const std::string& path, std::uint64_t low,
                                          std::uint64_t high) {
    std::uint64_t number = 0;
    const std::string& text = value.text;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (value.kind != Tree::Kind::scalar || error != std::errc() || rest != text.data() + text.size() || number < low ||
        number > high) {
      fault(value.where, path, fmt::format("expected a whole number from {} to {}", low, high));
      return std::nullopt;
    }
    return number;
  }
  std::optional<std::uint64_t> integer(const std::string& key, std::uint64_t low, std::uint64_t high) {
    const Tree* value = find(key);
    return value ? integer_of(*value, key, low, high) : std::nullopt;
  }

  Design read_design() {
    static const std::vector<std::string> names{"grid", "list", "latin", "sobol"};
    const Tree* value = find("design");
    if (!value) return find("list") ? Design::list : Design::grid;
    const auto found = std::ranges::find(names, value->text);
    if (value->kind != Tree::Kind::scalar || found == names.end()) {
      fault(value->where, "design",
            fmt::format("expected one of {}{}", fmt::join(names, ", "), config::suggestion(value->text, names)));
      return Design::grid;
    }
    return Design(found - names.begin());
  }

  std::uint64_t read_count(Design design, const std::vector<Axis>& axes) {
    const bool is_drawn = design == Design::latin || design == Design::sobol;
    const Tree* given = find("models");
    if (given && !is_drawn)
      fault(given->where, "models", "only with design: latin or sobol; the others have their own");
    if (!given && is_drawn) fault(document_.name + ":1:1", "models", "missing; expected the number of models");
    if (design == Design::list) return axes.empty() ? 0 : axes.front().values.size();
    if (is_drawn) return integer("models", 1, design == Design::latin ? most_latin : most_models).value_or(1);
    double all = 1;
    for (const Axis& axis : axes) all *= double(axis.count());
    if (all > double(most_models)) {
      fault(document_.name + ":1:1", "keys", fmt::format("{:.3g} models; at most {} are possible", all, most_models));
    }
    return 0;
  }

  std::vector<Axis> read_keys(Design design) {
    std::vector<Axis> axes;
    const Tree* map = find("keys");
    if (const Tree* list = find("list")) fault(list->where, "list", "only with design: list");
    if (!map || map->kind != Tree::Kind::map || map->entries.empty()) {
      fault(map ? map->where : document_.name + ":1:1", "keys",
            "expected a map from keys of the model to their values, as in {dataset.tau0: [1e4, 1e5]}");
      return axes;
    }
    for (const auto& entry : map->entries) {
      if (std::ranges::count(axes, entry.key, &Axis::key) > 0) {
        fault(entry.where, "keys." + entry.key, "is given twice");
        continue;
      }
      check_varied(entry.key, entry.where, "keys." + entry.key);
      axes.push_back(read_axis(entry, design));
    }
    if (design == Design::sobol && axes.size() > Models::most_sobol) {
      fault(map->where, "keys",
            fmt::format("a Sobol sequence has at most {} keys here: use design: latin", Models::most_sobol));
    }
    return axes;
  }

  Axis read_axis(const Tree::Entry& entry, Design design) {
    Axis axis{.key = entry.key, .where = entry.where};
    const std::string path = "keys." + entry.key;
    if (entry.value.kind == Tree::Kind::list && !entry.value.entries.empty()) {
      for (const auto& value : entry.value.entries) axis.values.push_back(config::to_inline_yaml(value.value));
    } else if (entry.value.kind == Tree::Kind::map) {
      axis.range = read_range(entry.value, path + ".", design);
    } else {
      fault(entry.value.where, path, "expected a list of values, or {range: [low, high], values: N, spacing: log}");
      axis.values = {""};
    }
    return axis;
  }

  Range read_range(const Tree& map, const std::string& path, Design design) {
    check_keys(map, path, {"range", "values", "spacing"});
    Range range;
    range.count = 1;
    const Tree::Entry* ends = map.find("range");
    std::optional<Number> low, high;
    if (ends && ends->value.kind == Tree::Kind::list && ends->value.entries.size() == 2) {
      low = number_of(ends->value.entries.front().value.text), high = number_of(ends->value.entries.back().value.text);
    }
    if (!low || !high) {
      fault(ends ? ends->where : map.where, path + "range", "expected two numbers, as in [1e17 cm^-2, 1e21 cm^-2]");
    } else if (low->unit != high->unit) {
      fault(ends->where, path + "range",
            fmt::format("give both ends in one unit, not {} and {}", low->unit, high->unit));
    } else if (!(low->value < high->value)) {
      fault(ends->where, path + "range", "must increase: the first value is not below the second");
    } else {
      range.low = low->value, range.high = high->value, range.unit = low->unit;
    }
    if (const Tree::Entry* spacing = map.find("spacing")) {
      range.log = spacing->value.text == "log";
      if (!range.log && spacing->value.text != "linear") {
        fault(spacing->where, path + "spacing", "expected linear or log");
      } else if (range.log && low && !(low->value > 0)) {
        fault(spacing->where, path + "spacing", "log needs a range above 0");
      }
    }
    const Tree::Entry* values = map.find("values");
    if (design == Design::grid) {
      if (values) range.count = integer_of(values->value, path + "values", 1, most_models).value_or(1);
      if (!values) fault(map.where, path + "values", "missing; expected the number of values");
    } else if (values) {
      fault(values->where, path + "values", "only with design: grid");
    }
    return range;
  }

  std::vector<Axis> read_list() {
    std::vector<Axis> axes;
    const Tree* list = find("list");
    if (const Tree* keys = find("keys")) fault(keys->where, "keys", "only with design: grid, latin or sobol");
    if (!list || list->kind != Tree::Kind::list || list->entries.empty()) {
      fault(list ? list->where : document_.name + ":1:1", "list",
            "expected a list of maps, as in [{dataset.tau0: 1e4}]");
      return axes;
    }
    std::size_t i = 0;
    for (const auto& model : list->entries) {
      if (model.value.kind != Tree::Kind::map || model.value.entries.empty()) {
        fault(model.value.where, "list." + model.key, "expected a map of keys, as in {dataset.tau0: 1e4}");
      }
      check_twice(model.value, "list." + model.key + ".");
      for (const auto& entry : model.value.entries) {
        check_varied(entry.key, entry.where, "list." + model.key + "." + entry.key);
        auto axis = std::ranges::find(axes, entry.key, &Axis::key);
        if (axis == axes.end()) {
          axes.push_back(
              {.key = entry.key, .values = std::vector<std::string>(list->entries.size()), .where = entry.where});
          axis = axes.end() - 1;
        }
        axis->values[i] = config::to_inline_yaml(entry.value);
      }
      ++i;
    }
    return axes;
  }

  config::Document document_;
  config::Faults faults_;
  std::vector<std::string> varied_;
};

}  // namespace

bool is_sweep(const config::Document& document) { return document.tree.find("model") != nullptr; }

Config check(config::Document document) { return SweepReader(std::move(document)).read(); }

std::vector<std::string> Config::overrides(std::uint64_t i) const {
  std::vector<std::string> overrides;
  const std::vector<std::string> values = models.values(i);
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!values[k].empty()) overrides.push_back(models.axes()[k].key + "=" + values[k]);
  }
  const bool has_seed =
      std::ranges::any_of(overrides, [](const std::string& text) { return text.starts_with("seed="); });
  if (!has_seed) overrides.push_back(fmt::format("seed={}", models.seed(i)));
  return overrides;
}

config::Document Config::document(std::uint64_t i) const {
  config::Document document = model;
  for (const std::string& text : overrides(i)) {
    const auto axis = std::ranges::find(models.axes(), text.substr(0, text.find('=')), &Axis::key);
    config::apply_override(document.tree, text, document.faults, axis == models.axes().end() ? "" : axis->where);
  }
  return document;
}

}  // namespace thor::sweep
