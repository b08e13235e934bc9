#include "thor/config/key_help.hpp"

#include <gtest/gtest.h>

#include "thor/config/section.hpp"

namespace thor::config {
namespace {

struct Innermost {
  double size = 0;
};
struct Outermost {
  Innermost inner, other;
};

const Schema& root_of_key_help() {
  static const Section<Innermost> inner = [] {
    Section<Innermost> s("A part.");
    s.quantity("size", &Innermost::size, Dimension::length, {.low = 0},
               {.meaning = "its [size](gas.md)", .example = "1 kpc"});
    return s;
  }();
  static const Section<Outermost> outer = [] {
    Section<Outermost> s("");
    s.map("inner", &Outermost::inner, inner, {.meaning = "a part"});
    s.map("other", &Outermost::other, inner, {.meaning = "another part"});
    return s;
  }();
  return outer.schema();
}

TEST(KeyHelp, AnEntryHasUnitsRangeAndExample) {
  const std::string text = key_help({{"mcrt", &root_of_key_help()}}, "inner.size").text;
  for (const char* part :
       {"inner.size\n", "size (docs/gas.md)", "kpc", ">= 0 cm", "required", "inner: {size: 1 kpc}"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
}

TEST(KeyHelp, TheEndOfAPathFindsAllKeys) {
  const std::string text = key_help({{"mcrt", &root_of_key_help()}}, "size").text;
  EXPECT_NE(text.find("inner.size\n"), std::string::npos) << text;
  EXPECT_NE(text.find("other.size\n"), std::string::npos) << text;
}

TEST(KeyHelp, UnknownKeysGetTheNearest) {
  const KeyHelp help = key_help({{"mcrt", &root_of_key_help()}}, "inner.sise");
  EXPECT_TRUE(help.text.empty());
  ASSERT_FALSE(help.nearest.empty());
  EXPECT_EQ(help.nearest.front(), "inner.size");
}

/// Sections with the same keys have one table, to which both keys refer.
TEST(Markdown, TablesAreNotRepeated) {
  const std::string text = to_markdown(root_of_key_help());
  EXPECT_NE(text.find("## inner\n"), std::string::npos);
  EXPECT_EQ(text.find("## other\n"), std::string::npos);
  EXPECT_NE(text.find("| `other` | [map](#inner) |"), std::string::npos) << text;
}

}  // namespace
}  // namespace thor::config
