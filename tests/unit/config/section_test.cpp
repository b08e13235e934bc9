#include "thor/config/section.hpp"

#include <gtest/gtest.h>

#include "thor/core/error.hpp"

namespace thor::config {
namespace {

/// A small family, declared like the real ones.
enum class Kind_ { square, disc };
struct Inner {
  double depth = 0;
};
struct Thing {
  Kind_ kind = Kind_::square;
  double side = 0, radius = 0;
  std::optional<double> mass, weight;
  std::optional<Inner> inner;
  std::array<double, 2> range{};
};

const Section<Inner>& inner_section() {
  static const Section<Inner> section = [] {
    Section<Inner> s("Inside.");
    s.number("depth", &Inner::depth, {.low = 0, .high = 9}, {.meaning = "how deep", .fallback = "5"});
    return s;
  }();
  return section;
}

const Section<Thing>& thing_section() {
  static const Section<Thing> section = [] {
    Section<Thing> s("A thing.");
    s.choice("kind", &Thing::kind,
             std::vector<Option<Kind_>>{{"square", Kind_::square, "four corners"}, {"disc", Kind_::disc, "none"}},
             {.meaning = "shape", .fallback = "square"});
    s.quantity("side", &Thing::side, Dimension::length, positive,
               {.meaning = "of the square", .example = "1 pc", .when = {"kind", {"square"}}});
    s.quantity("radius", &Thing::radius, Dimension::length, positive,
               {.meaning = "of the disc", .example = "2 pc", .when = {"kind", {"disc"}}});
    s.number("mass", &Thing::mass, positive, {.meaning = "in kg", .example = "3"});
    s.number("weight", &Thing::weight, positive, {.meaning = "in N", .example = "30"});
    s.exactly_one({"mass", "weight"});
    s.map("inner", &Thing::inner, inner_section(), {.meaning = "may be left out"});
    s.interval("range",
               [](Thing& t, double low, double high, Dimension) {
                 t.range = {low, high};
               },
               {Dimension::none}, anything, {.meaning = "an interval", .example = "[0, 1]"});
    return s;
  }();
  return section;
}

struct Outcome {
  Thing thing;
  std::string faults, resolved;
};
Outcome read(const std::string& yaml) {
  const Tree tree = read_tree(yaml, "f");
  Tree resolved;
  Faults faults;
  Outcome outcome;
  outcome.thing = thing_section().read(Reader(tree, resolved, faults, "", "f"));
  outcome.faults = to_text(faults);
  outcome.resolved = to_yaml(resolved);
  return outcome;
}

TEST(Section, ReadsWhatExistsAndFillsInDefaults) {
  const Outcome o = read("{kind: disc, radius: 2 pc, mass: 3, inner: {}, range: [0, 1]}");
  EXPECT_EQ(o.faults, "");
  EXPECT_EQ(o.thing.kind, Kind_::disc);
  EXPECT_EQ(o.thing.mass, 3);
  EXPECT_FALSE(o.thing.weight);
  ASSERT_TRUE(o.thing.inner);
  EXPECT_EQ(o.thing.inner->depth, 5);
  EXPECT_EQ(o.resolved, "kind: disc\nradius: 2 pc\nmass: 3\ninner:\n  depth: 5\nrange: [0, 1]\n");
  EXPECT_FALSE(read("{side: 1 pc, mass: 3, range: [0, 1]}").thing.inner);
}

TEST(Section, AKeyOfAnotherChoiceSaysWhereItBelongs) {
  EXPECT_NE(read("{side: 1 pc, radius: 2 pc, mass: 3, range: [0, 1]}").faults.find("it belongs to kind: disc"),
            std::string::npos);
}

TEST(Section, AnUnknownChoiceRaisesNoFurtherFaults) {
  const std::string faults = read("{kind: disk, radius: 2 pc, mass: 3, range: [0, 1]}").faults;
  EXPECT_NE(faults.find("did you mean \"disc\"?"), std::string::npos);
  EXPECT_EQ(faults.find('\n'), std::string::npos) << faults;
  // but a key that belongs to no choice is still unknown
  EXPECT_NE(read("{kind: disk, colour: red, mass: 3, range: [0, 1]}").faults.find("colour"), std::string::npos);
}

TEST(Section, ExactlyOneOfAGroup) {
  for (const char* text : {"{side: 1 pc, range: [0, 1]}", "{side: 1 pc, mass: 1, weight: 2, range: [0, 1]}"}) {
    EXPECT_NE(read(text).faults.find("expected exactly one of mass, weight"), std::string::npos) << text;
  }
}

TEST(Section, FaultsAreBounded) {
  std::string yaml = "{";
  for (int i = 0; i < 5000; ++i) yaml += "k" + std::to_string(i) + ": 1, ";
  const std::string faults = read(yaml + "}").faults;
  EXPECT_LE(std::count(faults.begin(), faults.end(), '\n'), std::ptrdiff_t(max_faults));
  EXPECT_NE(faults.find("the first 200 are shown"), std::string::npos);
}

TEST(Schema, ManualNamesEveryKeyItsRangeAndItsCondition) {
  const std::string manual = to_markdown(thing_section().schema());
  for (const char* text : {"| `side` | length > 0 cm | required | `1 pc` | of the square; with `kind: square` |",
                           "| `mass` | number > 0 | one of `mass`, `weight` | `3` | in kg |", "- `disc`: none",
                           "## inner", "| `depth` | number >= 0 and <= 9 | `5` |  | how deep |"}) {
    EXPECT_NE(manual.find(text), std::string::npos) << text << "\n" << manual;
  }
}

TEST(Schema, PathsOfAllKeys) {
  EXPECT_EQ(key_paths(thing_section().schema()),
            (std::vector<std::string>{"kind", "side", "radius", "mass", "weight", "inner", "inner.depth", "range"}));
}

TEST(Schema, AnAnnotatedConfigurationReadsTheSame) {
  const std::string text =
      annotated(thing_section().schema(), read_tree("{side: 1 pc, weight: 30, inner: {depth: 2}, range: [0, 1]}", "f"),
                "A title\n\nof three lines");
  EXPECT_EQ(text, R"(# A title
#
# of three lines
# Lines that begin with # show further keys with their defaults.

# kind: square                              # shape: square, disc
side: 1 pc                                  # of the square
# mass: 3                                   # or instead: in kg
weight: 30                                  # in N
inner:                                      # may be left out
  depth: 2                                  # how deep
range: [0, 1]                               # an interval
)");
  const Outcome o = read(text);
  EXPECT_EQ(o.faults, "");
  EXPECT_EQ(o.thing.weight, 30);
  EXPECT_EQ(o.thing.inner->depth, 2);
}

TEST(Schema, JsonHasConditionsAndGroups) {
  const std::string json = to_json_schema(thing_section().schema(), "Thing");
  for (const char* text : {"\"additionalProperties\": false", "\"oneOf\"", "\"if\"", "\"enum\"", "kpc"}) {
    EXPECT_NE(json.find(text), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace thor::config
