#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "thor/config/tree.hpp"
#include "thor/core/units.hpp"

namespace thor::config {

/// The range of a number.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;
  bool high_open = false;
};
inline constexpr Bounds anything{};
inline constexpr Bounds positive{.low = 0, .low_open = true};
inline constexpr Bounds non_negative{.low = 0};

/// Text such as "> 0 km/s and < 5 km/s"; empty if the range is unlimited.
std::string shown(Bounds bounds, Dimension dimension);

/// Strict reader of the keys of one map. Errors are collected in `faults`, each with its position; values that were
/// read, defaults included, are written to `resolved` in the order of reading. A number that cannot be read is returned
/// as NaN, so that comparing it raises no second fault.
class Reader {
 public:
  using Text = std::optional<std::string>;  ///< default value as written in a file; without one the key is required
  using Words = std::vector<std::string>;

  Reader(const Tree& map, Tree& resolved, Faults& faults, std::string path, std::string where,
         std::shared_ptr<double> angle = std::make_shared<double>(0));

  bool has(const std::string& key);
  /// The word that was read for a choice; "" if it is not a valid one.
  std::string resolved_word(const std::string& key) const;
  void omit(const std::string& key);  ///< from what is resolved: a default that another key has made void
  bool is_map(const std::string& key) const;
  /// Dimension of the value, or of the first element of a list; Dimension::none if it cannot be read.
  Dimension dimension(const std::string& key) const;

  double quantity(const std::string& key, Dimension dimension, Bounds bounds, const Text& fallback);
  /// A length across the line of sight [cm], given as such or as an angle on the sky.
  double sky_length(const std::string& key, Bounds bounds, const Text& fallback);
  /// Sets the length that an angle of 1 rad is [cm], for this map and all others of the file.
  void set_angle(double length) { *angle_ = length; }
  std::uint64_t integer(const std::string& key, std::uint64_t low, std::uint64_t high, const Text& fallback);
  std::string text(const std::string& key, const std::string& expected, const Text& fallback);
  /// Index of the name that was read; nothing if it is not one of `names`.
  std::optional<std::size_t> choice(const std::string& key, const Words& names, const Text& fallback);
  /// Indices of a list of names, each at most once; by default all of them.
  std::vector<std::size_t> choices(const std::string& key, const Words& names);
  std::vector<double> quantities(const std::string& key, std::size_t size, Dimension dimension, Bounds bounds,
                                 const Text& fallback);

  /// A nested map; nothing if the value is not a map. An absent map is read as an empty one.
  std::optional<Reader> map(const std::string& key);
  /// A list of maps; empty if the key is absent and not required.
  std::vector<Reader> list(const std::string& key, bool required);

  /// The one of these keys that is present; none or several of them are a fault.
  std::string exactly_one(const Words& keys);
  /// Declares a key that is not valid here but would be with another choice, e.g. "type: shell".
  void elsewhere(const std::string& key, const std::string& owner);

  /// Reports a mistake. `key` may be a path, "a.0.b"; the position is that of the last part of it that is present.
  void report(const std::string& key, const std::string& message);
  /// Whether nothing was reported for a key or below it.
  bool clean(const std::string& key) const;
  /// Reports every key that was not read; keys that belong to another choice only if `all` is set.
  void finish(bool all);

 private:
  const Tree* find(const std::string& key);
  Text scalar(const std::string& key, const std::string& expected, const Text& fallback);
  std::optional<Words> scalars(const std::string& key, const std::string& expected, const Words& fallback);
  double checked(const std::string& key, const std::string& text, Dimension dimension, Bounds bounds, double scale = 1);
  Reader below(const std::string& key, const Tree& value);
  std::string full(const std::string& key) const;
  void add(const std::string& key, Tree value);
  void push(Fault fault);

  const Tree* map_;
  Tree* resolved_;
  Faults* faults_;
  std::string path_;
  std::string where_;
  std::shared_ptr<double> angle_;  ///< 0 if there is no sky
  Words known_;
  std::vector<std::pair<std::string, std::string>> elsewhere_;
};

}  // namespace thor::config
