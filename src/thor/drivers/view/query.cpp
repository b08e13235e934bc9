#include "thor/drivers/view/query.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "thor/config/nearest.hpp"
#include "thor/core/error.hpp"

namespace thor {

const std::string* ViewQuery::find(const std::string& name) {
  known_.insert(name);
  const auto found = given_.find(name);
  return found == given_.end() ? nullptr : &found->second;
}

std::optional<double> ViewQuery::number(const std::string& name, double low, double high) {
  const std::string* const text = find(name);
  if (!text) return std::nullopt;
  double value = 0;
  const char* const end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, value);
  if (error == std::errc() && rest == end && value >= low && value <= high) return value;
  throw Error(ExitCode::usage,
              fmt::format("{}: expected a number from {:.6g} to {:.6g}, got \"{:.40}\"", name, low, high, *text));
}

double ViewQuery::number(const std::string& name, double fallback, double low, double high) {
  return number(name, low, high).value_or(fallback);
}

int ViewQuery::integer(const std::string& name, int fallback, int low, int high) {
  const double value = number(name, double(fallback), double(low), double(high));
  if (value == std::floor(value)) return int(value);
  throw Error(ExitCode::usage,
              fmt::format("{}: expected a whole number from {} to {}, got {}", name, low, high, value));
}

std::string ViewQuery::text(const std::string& name, const std::string& fallback) {
  const std::string* const text = find(name);
  if (!text || text->empty()) return fallback;
  if (text->size() > 200) throw Error(ExitCode::usage, name + ": is too long");
  return *text;
}

std::string ViewQuery::choice(const std::string& name, const std::string& fallback,
                              const std::vector<std::string>& words) {
  std::string word = text(name, fallback);
  if (std::ranges::count(words, word) > 0) return word;
  throw Error(ExitCode::usage, fmt::format("{}: expected one of {}, got \"{:.40}\"{}", name, fmt::join(words, ", "),
                                           word, config::suggestion(word, words)));
}

std::array<double, 3> ViewQuery::vector(const std::string& name, const std::array<double, 3>& fallback, double most) {
  return {number(name + "x", fallback[0], -most, most), number(name + "y", fallback[1], -most, most),
          number(name + "z", fallback[2], -most, most)};
}

void ViewQuery::end() const {
  for (const auto& entry : given_) {
    if (known_.contains(entry.first)) continue;
    throw Error(ExitCode::usage, fmt::format("{:.40}: unknown parameter{}", entry.first,
                                             config::suggestion(entry.first, {known_.begin(), known_.end()})));
  }
}

}  // namespace thor
