#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace thor::io {

/// Header of an HDU: cards of 80 characters of ASCII in blocks of 2880 bytes (FITS standard 4.0, sections 3.3.1 and 4;
/// Pence et al. 2010, A&A 524, A42, and https://fits.gsfc.nasa.gov/fits_standard.html). Other characters become "?".
class FitsHeader {
 public:
  /// Adds a card. A comment that does not fit is cut; text that does not is continued (section 4.2.1.2).
  template <class T>
  void set(std::string_view key, const T& value, std::string_view comment) {
    if constexpr (std::same_as<T, bool>) {
      add_fixed(key, value ? "T" : "F", comment);
    } else if constexpr (std::integral<T>) {
      add_fixed(key, std::to_string(value), comment);
    } else if constexpr (std::floating_point<T>) {
      add_fixed(key, number(value), comment);
    } else {
      add_text(key, value, comment);
    }
  }

  /// Adds COMMENT cards, as many as the text needs.
  void comment(std::string_view text);

  /// Adds all cards of another header.
  void append(const FitsHeader& other) { cards_ += other.cards_; }

  /// The cards with END, filled up with blanks to whole blocks.
  std::string blocks() const;

 private:
  static std::string number(double value);
  void add_fixed(std::string_view key, std::string_view value, std::string_view comment);
  void add_text(std::string_view key, std::string_view value, std::string_view comment);
  void add_card(std::string card);
  std::string cards_;
};

inline constexpr std::size_t fits_block = 2880;

}  // namespace thor::io
