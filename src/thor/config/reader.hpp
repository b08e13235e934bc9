#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "thor/config/tree.hpp"
#include "thor/core/units.hpp"

namespace thor::config {

/// The values a number may have.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;
  bool high_open = false;
};
inline constexpr Bounds anything{};
inline constexpr Bounds positive{.low = 0, .low_open = true};
inline constexpr Bounds non_negative{.low = 0};

/// Reads the keys of one map, strictly. Mistakes are collected in `errors`, each with its position;
/// what was read, defaults included, is written to `resolved` in the order of reading. A number
/// that cannot be read comes back as NaN, so that comparing it raises no second error.
class Reader {
 public:
  using Text = std::optional<std::string>;  ///< a default; without one the key is required
  using Words = std::vector<std::string>;

  Reader(const Tree& map, Tree& resolved, Errors& errors, std::string path, std::string where);

  bool has(const std::string& key);
  bool is_map(const std::string& key) const;
  /// Of the value, or of a list's first element; none where it cannot be read.
  Dimension dimension(const std::string& key) const;

  double number(const std::string& key, Bounds bounds, const Text& fallback = {});
  double quantity(const std::string& key, Dimension dimension, Bounds bounds, const Text& fallback = {});
  std::uint64_t integer(const std::string& key, std::uint64_t low, std::uint64_t high, const Text& fallback = {});
  bool boolean(const std::string& key, const Text& fallback = {});
  std::string text(const std::string& key, const std::string& expected, const Text& fallback = {});

  template <class T>
  using Named = std::initializer_list<std::pair<std::string_view, T>>;

  /// One of the names, or nothing where there is none such.
  template <class T>
  std::optional<T> choice(const std::string& key, Named<T> named, const Text& fallback = {}) {
    const auto index = index_of(key, names(named), fallback);
    if (!index) return {};
    return (named.begin() + *index)->second;
  }
  /// Some of the names, each at most once; all of them by default.
  template <class T>
  std::vector<T> choices(const std::string& key, Named<T> named) {
    std::vector<T> chosen;
    for (std::size_t i : indices_of(key, names(named))) {
      chosen.push_back((named.begin() + i)->second);
    }
    return chosen;
  }

  std::array<double, 3> vector(const std::string& key, Dimension dimension, Bounds bounds, const Words& fallback = {});
  /// [low, high] with low < high.
  std::array<double, 2> interval(const std::string& key, Dimension dimension, Bounds bounds);

  /// A map below this one; where it is optional and absent all its keys have their defaults.
  /// Nothing where there is something else than a map.
  std::optional<Reader> required(const std::string& key);
  std::optional<Reader> optional(const std::string& key);
  /// A list of maps; absent and not required it is empty.
  std::vector<Reader> list(const std::string& key, bool required);

  /// The one key of these that is there; anything else is an error.
  std::string exactly_one(const Words& keys);
  /// Keys that are unknown here but known with another choice, e.g. "type: shell".
  void elsewhere(const Words& keys, const std::string& owner);

  void report(const std::string& key, const std::string& message);
  /// Reports every key that was not asked for.
  void finish();

 private:
  template <class T>
  static Words names(Named<T> named) {
    Words result;
    for (const auto& pair : named) result.emplace_back(pair.first);
    return result;
  }
  std::optional<std::size_t> index_of(const std::string& key, const Words& names, const Text& fallback);
  std::vector<std::size_t> indices_of(const std::string& key, const Words& names);
  std::vector<double> quantities(const std::string& key, std::size_t size, Dimension dimension, Bounds bounds,
                                 const Words& fallback);

  const Tree* find(const std::string& key);
  Text scalar(const std::string& key, const std::string& expected, const Text& fallback);
  std::optional<Words> scalars(const std::string& key, const std::string& expected, const Words& fallback);
  double checked(const std::string& key, const std::string& text, Dimension dimension, Bounds bounds);
  Reader below(const std::string& key, const Tree& value);
  std::string full(const std::string& key) const;
  void add(const std::string& key, Tree value);

  const Tree* map_;
  Tree* resolved_;
  Errors* errors_;
  std::string path_;
  std::string where_;
  Words known_;
  std::vector<std::pair<std::string, std::string>> elsewhere_;
};

}  // namespace thor::config
