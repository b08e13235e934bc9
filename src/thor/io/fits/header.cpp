#include "thor/io/fits/header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace thor::io {
namespace {

constexpr std::size_t card_length = 80;
constexpr std::size_t longest_value = 68;  ///< between the quotes of one card

/// Characters of a header are those of ASCII from 32 to 126; a quote in text is written twice.
std::string printable(std::string_view text, bool quoted) {
  std::string out;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xc0) == 0x80) continue;  // the rest of a character in UTF-8
    out += c >= 32 && c <= 126 ? c : '?';
    if (quoted && c == '\'') out += c;
  }
  return out;
}

std::string with_comment(std::string card, std::string_view comment) {
  if (!comment.empty()) card += " / " + printable(comment, false);
  return card;
}

}  // namespace

/// With a point or an exponent, so that readers see a floating-point number, and as few digits as give it back exactly.
std::string FitsHeader::number(double value) {
  std::string text = fmt::format("{}", value);
  std::ranges::replace(text, 'e', 'E');
  if (text.find_first_of(".E") == std::string::npos) text += ".0";
  return text;
}

void FitsHeader::add_fixed(std::string_view key, std::string_view value, std::string_view comment) {
  add_card(with_comment(fmt::format("{:<8}= {:>20}", key, value), comment));
}

void FitsHeader::add_text(std::string_view key, std::string_view value, std::string_view comment) {
  std::string rest = printable(value, true);
  std::string start = fmt::format("{:<8}= ", key);
  if (rest.size() > longest_value && cards_.find("LONGSTRN= ") == std::string::npos) {
    add_text("LONGSTRN", "OGIP 1.0", "text may be continued");  // the standard has no need of it, fitsverify has
  }
  while (rest.size() > longest_value) {
    std::size_t part = longest_value - 1;                                                      // and an "&"
    if (std::count(rest.begin(), rest.begin() + std::ptrdiff_t(part), '\'') % 2 == 1) --part;  // not between two quotes
    add_card(start + "'" + rest.substr(0, part) + "&'");
    rest.erase(0, part);
    start = "CONTINUE  ";
  }
  add_card(with_comment(fmt::format("{}{:<20}", start, fmt::format("'{:<8}'", rest)), comment));
}

void FitsHeader::comment(std::string_view text) {
  std::string rest = printable(text, false);
  do {
    std::size_t part = std::min(rest.size(), card_length - 8);
    if (part < rest.size() && rest.rfind(' ', part) != std::string::npos && rest.rfind(' ', part) > 0) {
      part = rest.rfind(' ', part);
    }
    add_card("COMMENT " + rest.substr(0, part));
    rest.erase(0, part);
  } while (!rest.empty());
}

void FitsHeader::add_card(std::string card) {
  card.resize(card_length, ' ');
  cards_ += card;
}

std::string FitsHeader::blocks() const {
  std::string out = cards_ + "END";
  out.resize((out.size() + fits_block - 1) / fits_block * fits_block, ' ');
  return out;
}

}  // namespace thor::io
