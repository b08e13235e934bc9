#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "thor/config/schema.hpp"

namespace thor::config {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* number_pattern = R"([+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += std::string_view("^*/.+-").find(c) == std::string_view::npos ? "" : "\\", out += c;
  return out;
}

/// A quantity is text with a unit. A plain number may also be text, since parsers disagree about 1e6.
Json quantity(const Parameter& p) {
  const auto bound = [&](Json& number, bool set, const char* open, const char* closed, double value, bool is_open) {
    if (set) number[is_open ? open : closed] = value;
  };
  Json any = Json::array();
  for (const Dimension d : p.dimensions) {
    std::vector<std::string> units;
    for (const auto& unit : unit_names(d)) units.push_back(escaped(unit));
    const bool plain = d == Dimension::none || d == Dimension::fraction;
    if (plain) {
      Json number{{"type", "number"}};
      bound(number, std::isfinite(p.bounds.low), "exclusiveMinimum", "minimum", p.bounds.low, p.bounds.low_open);
      bound(number, std::isfinite(p.bounds.high), "exclusiveMaximum", "maximum", p.bounds.high, p.bounds.high_open);
      any.push_back(number);
      any.push_back({{"type", "string"}, {"pattern", fmt::format("^\\s*{}\\s*$", number_pattern)}});
    }
    if (!units.empty()) {
      any.push_back({{"type", "string"},
                     {"pattern", fmt::format("^\\s*{}\\s*({})\\s*$", number_pattern, fmt::join(units, "|"))}});
    }
  }
  return any.size() == 1 ? any[0] : Json{{"anyOf", any}};
}

Json words(const Parameter& p) {
  Json names = Json::array();
  for (const Word& word : p.words) names.push_back(word.name);
  // YAML parsers turn these two into booleans.
  if (p.words.size() == 2 && p.words[0].name == "true") return Json{{"type", "boolean"}};
  return Json{{"enum", names}};
}

Json object(const Schema& schema);

Json value(const Parameter& p) {
  switch (p.kind) {
    case Kind::quantity:
      return quantity(p);
    case Kind::quantities:
      return {{"type", "array"}, {"items", quantity(p)}, {"minItems", p.size}, {"maxItems", p.size}};
    case Kind::integer:
      return {{"anyOf",
               {{{"type", "integer"}, {"minimum", p.low}, {"maximum", p.high}},
                {{"type", "string"}, {"pattern", fmt::format("^\\s*{}\\s*$", number_pattern)}}}}};
    case Kind::text:
      return {{"type", "string"}, {"minLength", p.spec.fallback == "" ? 0 : 1}};
    case Kind::choice:
      return p.section ? Json{{"anyOf", {words(p), object(*p.section)}}} : words(p);
    case Kind::choices:
      return {{"type", "array"}, {"items", words(p)}, {"minItems", 1}, {"uniqueItems", true}};
    case Kind::section:
      return object(*p.section);
    case Kind::sections: {
      Json list{{"type", "array"}, {"items", object(*p.section)}};
      if (p.required) list["minItems"] = 1;
      return list;
    }
  }
  return {};
}

/// "If KEY is one of VALUES": also true if the key is omitted and its default is one of them.
Json is_one_of(const Schema& schema, const Condition& when) {
  Json values(when.values);
  for (const std::string& value : when.values) {  // YAML reads these as booleans
    if (value == "true" || value == "false") values.push_back(value == "true");
  }
  const Json test{{"properties", {{when.key, {{"enum", values}}}}}};
  Json tests = Json::array();  // the key may be declared for several choices, of which some have such values
  for (const Parameter& p : schema.parameters) {
    const auto is_value = [&](const std::string& value) { return std::ranges::count(when.values, value) > 0; };
    if (p.key != when.key || (!p.words.empty() && std::ranges::none_of(p.words, is_value, &Word::name))) continue;
    Json one = test;
    if (!p.spec.fallback || !is_value(*p.spec.fallback)) one["required"] = {when.key};
    // The key of the condition may itself depend on another key.
    if (!p.spec.when.key.empty()) one = {{"allOf", {one, is_one_of(schema, p.spec.when)}}};
    tests.push_back(one);
  }
  return tests.empty() ? test : tests.size() == 1 ? tests[0] : Json{{"anyOf", tests}};
}

/// A key must be absent if none of its declarations applies.
void add_conditions(const Schema& schema, const Json& properties, Json& all) {
  for (const auto& [key, ignored] : properties.items()) {
    Json tests = Json::array();
    for (const Parameter& p : schema.parameters) {
      if (p.key == key && !p.spec.when.key.empty()) tests.push_back(is_one_of(schema, p.spec.when));
    }
    if (!tests.empty()) all.push_back({{"if", {{"required", {key}}}}, {"then", {{"anyOf", tests}}}});
  }
}

/// Of the keys of a group exactly one is given.
void add_groups(const Schema& schema, Json& all) {
  for (const auto& group : schema.groups) {
    Json one = Json::array();
    for (const auto& key : group) one.push_back({{"required", {key}}});
    Json rule{{"oneOf", one}};
    for (const Parameter& p : schema.parameters) {
      if (p.key == group.front() && !p.spec.when.key.empty()) {
        rule = {{"if", is_one_of(schema, p.spec.when)}, {"then", rule}};
      }
    }
    all.push_back(rule);
  }
}

Json object(const Schema& schema) {
  Json properties = Json::object(), required = Json::array(), all = Json::array();
  for (const Parameter& p : schema.parameters) {
    Json one = value(p);
    if (!properties.contains(p.key)) {
      properties[p.key] = one;
    } else {  // declared again for another choice
      Json& before = properties[p.key];
      if (!before.contains("anyOf")) before = Json{{"anyOf", Json::array({before})}};
      before["anyOf"].push_back(one);
    }
    Json& property = properties[p.key];
    property["description"] = p.spec.meaning;
    if (p.spec.fallback && p.kind != Kind::section && p.kind != Kind::sections) property["default"] = *p.spec.fallback;
    if (!p.spec.example.empty()) property["examples"] = {p.spec.example};
    if (p.spec.when.key.empty()) {
      if (p.required) required.push_back(p.key);
    } else if (p.required) {
      all.push_back({{"if", is_one_of(schema, p.spec.when)}, {"then", {{"required", {p.key}}}}});
    }
  }
  add_conditions(schema, properties, all);
  add_groups(schema, all);
  Json out{{"type", "object"}};
  if (!schema.meaning.empty()) out["description"] = schema.meaning;
  out["properties"] = properties;
  out["additionalProperties"] = false;
  if (!required.empty()) out["required"] = required;
  if (!all.empty()) out["allOf"] = all;
  return out;
}

}  // namespace

std::string to_json_schema(const Schema& root, const std::string& title) {
  Json out{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", title}};
  out.update(object(root));
  return out.dump(2) + "\n";
}

}  // namespace thor::config
