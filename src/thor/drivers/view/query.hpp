#pragma once
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace thor {

/// The parameters of a request, each with its bounds. A parameter that cannot be is an Error(usage) that names it.
class ViewQuery {
 public:
  explicit ViewQuery(const std::map<std::string, std::string>& given) : given_(given) {}

  double number(const std::string& name, double fallback, double low, double high);
  std::optional<double> number(const std::string& name, double low, double high);
  int integer(const std::string& name, int fallback, int low, int high);
  /// Of at most 200 characters.
  std::string text(const std::string& name, const std::string& fallback);
  std::string choice(const std::string& name, const std::string& fallback, const std::vector<std::string>& words);
  /// Parameters such as dx, dy and dz.
  std::array<double, 3> vector(const std::string& name, const std::array<double, 3>& fallback, double most);
  /// After all: an Error if more was given.
  void end() const;

 private:
  const std::string* find(const std::string& name);

  const std::map<std::string, std::string>& given_;
  std::set<std::string> known_;
};

}  // namespace thor
