#include "thor/operators/keys.hpp"

#include <algorithm>

namespace thor::config {
namespace {

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}
std::vector<std::string> split(const std::string& text, char mark) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(mark, at), text.size());
    parts.push_back(trimmed(text.substr(at, end - at)));
    at = end + 1;
  }
  return parts;
}

}  // namespace

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= 100 && std::ranges::all_of(text, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

std::vector<std::string> factors_of(const std::string& product) {
  std::vector<std::string> factors = split(product, '*');
  const bool good = factors.size() <= most_factors && std::ranges::all_of(factors, is_name);
  return good ? factors : std::vector<std::string>{};
}

std::string array_name_of(const std::string& product) {
  std::string name;
  for (const std::string& factor : factors_of(product)) name += (name.empty() ? "" : "_times_") + factor;
  return name;
}

std::vector<std::string> listed(const std::string& names) {
  std::vector<std::string> list = split(names, ',');
  return list.size() <= 12 && std::ranges::none_of(list, &std::string::empty) ? list : std::vector<std::string>{};
}

}  // namespace thor::config
