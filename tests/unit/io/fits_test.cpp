#include "thor/io/fits/fits.hpp"

#include <cstdlib>
#include <limits>

#include "thor/core/error.hpp"

namespace thor::io {
namespace {

namespace fs = std::filesystem;

std::string card(const FitsHeader& header, std::size_t i) { return header.blocks().substr(80 * i, 80); }

std::string padded(std::string text) {
  text.resize(80, ' ');
  return text;
}

TEST(FitsHeader, CardsAreOfFixedFormat) {
  FitsHeader header;
  header.set("SIMPLE", true, "standard");
  header.set("NAXIS", 3, "");
  header.set("SEED", std::numeric_limits<std::uint64_t>::max(), "");
  header.set("CRVAL1", 5.0, "");
  header.set("CD1_1", -1.25e-5, "");
  header.set("BUNIT", "erg", "unit");
  EXPECT_EQ(card(header, 0), padded("SIMPLE  =                    T / standard"));
  EXPECT_EQ(card(header, 1), padded("NAXIS   =                    3"));
  EXPECT_EQ(card(header, 2), padded("SEED    = 18446744073709551615"));
  EXPECT_EQ(card(header, 3), padded("CRVAL1  =                  5.0"));
  EXPECT_EQ(card(header, 4), padded("CD1_1   =            -1.25E-05"));
  EXPECT_EQ(card(header, 5), padded("BUNIT   = 'erg     '           / unit"));
  EXPECT_EQ(card(header, 6), padded("END"));
  EXPECT_EQ(header.blocks().size(), fits_block);
}

TEST(FitsHeader, NumbersAreReadAsTheyWere) {
  for (const double value : {1.0 / 3, 1e300, 5e-324, -0.1, 1215.67, 123456789012345678.0}) {
    FitsHeader header;
    header.set("V", value, "");
    EXPECT_EQ(std::strtod(card(header, 0).substr(10).c_str(), nullptr), value);
    EXPECT_NE(card(header, 0).find_first_of(".E"), std::string::npos) << "a reader would take it for an integer";
  }
}

/// Text of cards as a reader joins it.
std::string read_text(const FitsHeader& header) {
  std::string text;
  const std::size_t first = card(header, 0).starts_with("LONGSTRN= ") ? 1 : 0;
  for (std::size_t i = first; card(header, i) != padded("END"); ++i) {
    const std::string c = card(header, i);
    EXPECT_EQ(c.substr(0, 10), i == first ? "NAME    = " : "CONTINUE  ");
    std::string part;
    std::size_t at = 11;
    while (c[at] != '\'' || c[at + 1] == '\'') {
      part += c[at];
      at += c[at] == '\'' ? 2 : 1;
    }
    EXPECT_EQ(c.substr(at + 1), std::string(80 - at - 1, ' ')) << c;
    text += part;
    if (text.ends_with('&')) text.pop_back();
  }
  return text.substr(0, text.find_last_not_of(' ') + 1);  // blanks at the end have no meaning (section 4.2.1.1)
}

TEST(FitsHeader, LongTextIsContinuedAndQuotesAreDoubled) {
  for (std::size_t length = 60; length < 160; ++length) {
    std::string text;
    for (std::size_t i = 0; i < length; ++i) text += i % 3 == 2 ? '\'' : char('a' + i % 26);
    text += "end_name";
    FitsHeader header;
    header.set("NAME", text, "");
    EXPECT_EQ(read_text(header), text);
  }
}

TEST(FitsHeader, OnlyPrintableAsciiIsWritten) {
  FitsHeader header;
  header.set("NAME", "Ly\u03b1\n\x7f", "\u03b1");
  header.comment(std::string(200, 'x') + "\t" + std::string(100, 'y'));
  EXPECT_EQ(card(header, 0), padded("NAME    = 'Ly???   '           / ?"));
  for (const char c : header.blocks()) EXPECT_TRUE(c >= 32 && c <= 126);
}

TEST(FitsHeader, BlocksAreWhole) {
  for (const int cards : {0, 34, 35, 36, 71, 72}) {
    FitsHeader header;
    for (int i = 0; i < cards; ++i) header.set("A", i, "");
    EXPECT_EQ(header.blocks().size(), fits_block * std::size_t((cards + 1 + 35) / 36)) << cards;
  }
}

TEST(FitsOutput, ValuesAreBigEndianInWholeBlocks) {
  std::string name = (fs::temp_directory_path() / "thor_fits_XXXXXX").string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  const fs::path path = fs::path(name) / "a.fits";
  {
    FitsOutput file(path, false);
    file.primary({}, 6);
    file.image("DATA", {}, {2, 3}, std::vector<double>{1, 2, 3, 4, 5, -0.5});
    EXPECT_FALSE(fs::exists(path));
    EXPECT_THROW(FitsOutput(path, false), Error) << "another one is writing it";
    file.commit();
  }
  EXPECT_THROW(FitsOutput(path, false), Error) << "it exists";
  std::ifstream stream(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream)), {});
  ASSERT_EQ(bytes.size(), 3 * fits_block);
  EXPECT_EQ(bytes.substr(2 * fits_block, 8), std::string("\x3f\xf0\0\0\0\0\0\0", 8));
  EXPECT_EQ(bytes.substr(2 * fits_block + 40, 8), std::string("\xbf\xe0\0\0\0\0\0\0", 8));
  EXPECT_EQ(bytes.substr(2 * fits_block + 48), std::string(fits_block - 48, '\0'));
  EXPECT_NE(bytes.find("NAXIS1  =                    3"), std::string::npos) << "the fastest axis is the first";
  {
    FitsOutput abandoned(path, true);
    abandoned.primary({}, 0);
  }
  EXPECT_EQ(fs::file_size(path), bytes.size()) << "what is not committed replaces nothing";
  EXPECT_FALSE(fs::exists(path.string() + ".partial"));
  fs::remove_all(name);
}

}  // namespace
}  // namespace thor::io
