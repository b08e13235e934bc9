#include "thor/io/result/unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace thor::io {
namespace {

/// Order of writing; others come last, by their names.
constexpr std::array<std::string_view, 9> order{"erg", "g", "s", "cm", "kpc", "arcsec", "Angstrom", "Hz", "km s-1"};
constexpr std::string_view velocity = order.back();

auto rank(const std::string& name) {
  return std::pair(std::find(order.begin(), order.end(), name) - order.begin(), name);
}

bool is_exponent(char c) { return c == '-' || (c >= '0' && c <= '9'); }

}  // namespace

Unit::Unit(std::string_view text) {
  text = text.substr(0, 200);  // a damaged file may have anything
  int sign = 1;
  while (!text.empty()) {
    if (text.front() == '(') {
      const std::size_t end = std::min(text.find(')'), text.size());
      for (const Factor& f : Unit(text.substr(1, end - 1)).factors_) multiply(f.name, sign * f.power);
      text.remove_prefix(std::min(end + 1, text.size()));
      sign = 1;
    } else if (text.front() == '/') {
      sign = -1;
      text.remove_prefix(1);
    } else if (text.front() == ' ' || text.front() == '*' || text.front() == ')') {
      text.remove_prefix(1);
    } else {
      const std::string_view word = text.substr(0, std::min(text.find_first_of(" /()"), text.size()));
      text.remove_prefix(word.size());
      std::size_t end = word.size();
      while (end > 0 && is_exponent(word[end - 1])) --end;
      int power = 1;
      std::from_chars(word.data() + end, word.data() + word.size(), power);
      const std::size_t last = word.find_last_not_of("^*", end == 0 ? 0 : end - 1);
      if (end > 0 && last != std::string_view::npos) multiply(std::string(word.substr(0, last + 1)), sign * power);
      sign = 1;
    }
  }
  if (factors_ == std::vector<Factor>{{"s", -1}, {"km", 1}}) factors_ = {{std::string(velocity), 1}};
}

void Unit::multiply(const std::string& name, int power) {
  const auto found = std::find_if(factors_.begin(), factors_.end(), [&](const Factor& f) { return f.name == name; });
  if (found != factors_.end()) {
    found->power += power;
    if (found->power == 0) factors_.erase(found);
  } else if (power != 0) {
    const auto place =
        std::find_if(factors_.begin(), factors_.end(), [&](const Factor& f) { return rank(name) < rank(f.name); });
    factors_.insert(place, {name, power});
  }
}

Unit Unit::operator*(const Unit& other) const {
  Unit product = *this;
  for (const Factor& f : other.factors_) product.multiply(f.name, f.power);
  return product;
}

Unit Unit::power(int n) const {
  Unit unit;
  for (const Factor& f : factors_) unit.multiply(f.name, n * f.power);
  return unit;
}

std::string Unit::text() const {
  const auto write = [](std::string_view name, int power) {
    return power == 1 ? std::string(name) : fmt::format("{}{}", name, power);
  };
  std::string text;
  for (const Factor& f : factors_) {
    if (!text.empty()) text += ' ';
    if (f.name != velocity) {
      text += write(f.name, f.power);
    } else if (f.power > 0) {
      text += write("km", f.power) + " " + write("s", -f.power);
    } else {
      text += fmt::format("/ ({} {})", write("km", -f.power), write("s", f.power));
    }
  }
  return text;
}

}  // namespace thor::io
