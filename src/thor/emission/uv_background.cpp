#include "thor/emission/uv_background.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include "thor/emission/refuse.hpp"

namespace thor::emission {
namespace {

constexpr int columns = 7;
constexpr double rounding = 1e-6;  ///< tolerance in log10(1+z): a = 0.99999998 counts as z = 0

struct Row {
  double log_z, rate;  ///< log10(1+z), rate of HI [1/s]
};

std::optional<double> number(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  double value = 0;
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (fault != std::errc() || end != word.data() + word.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

Row parse(const std::string& text, const std::string& where) {
  std::istringstream words(text);
  std::vector<double> values;
  for (std::string word; words >> word;) {
    const auto value = number(word);
    if (!value) refuse(where, fmt::format("\"{}\" is not a number", word));
    values.push_back(*value);
  }
  if (values.size() < columns) {
    refuse(where, fmt::format("{} columns; a TREECOOL file has {}: log10(1+z), photoionisation rates of HI, HeI, HeII "
                              "[1/s], heating rates of the same [erg/s]",
                              values.size(), columns));
  }
  if (values[1] < 0) refuse(where, fmt::format("photoionisation rate {:g} of HI is negative", values[1]));
  return {values[0], values[1]};
}

std::vector<Row> read(const std::string& path) {
  std::error_code ignored;
  std::ifstream file;
  if (std::filesystem::is_regular_file(path, ignored)) file.open(path);
  if (!file.is_open()) refuse(path, "UV background missing or not readable; give the path of a TREECOOL file");
  std::vector<Row> rows;
  std::string text;
  for (int line = 1; std::getline(file, text); ++line) {
    const auto first = text.find_first_not_of(" \t\r");
    if (first == std::string::npos || text[first] == '#') continue;
    const std::string where = fmt::format("{}:{}", path, line);
    const Row row = parse(text, where);
    if (!rows.empty() && row.log_z <= rows.back().log_z) {
      refuse(where,
             fmt::format("log10(1+z) = {:g} after {:g}; the first column must increase", row.log_z, rows.back().log_z));
    }
    rows.push_back(row);
  }
  if (rows.size() < 2) refuse(path, fmt::format("{} redshifts; expected at least 2", rows.size()));
  return rows;
}

}  // namespace

double photoionization_rate(const std::string& treecool, double redshift) {
  const std::vector<Row> rows = read(treecool);
  const auto to_redshift = [](double log_z) { return std::pow(10, log_z) - 1; };
  double log_z = redshift > -1 ? std::log10(1 + redshift) : std::nan("");
  if (!(log_z >= rows.front().log_z - rounding && log_z <= rows.back().log_z + rounding)) {
    refuse(treecool, fmt::format("covers the UV background from z = {:.4g} to {:.4g}, not z = {:.4g}; use a file that "
                                 "does, or collisional ionisation alone",
                                 to_redshift(rows.front().log_z), to_redshift(rows.back().log_z), redshift));
  }
  log_z = std::clamp(log_z, rows.front().log_z, rows.back().log_z);
  const auto above = std::ranges::lower_bound(rows.begin() + 1, rows.end() - 1, log_z, {}, &Row::log_z);
  const Row &a = *(above - 1), &b = *above;
  const double weight = (log_z - a.log_z) / (b.log_z - a.log_z);
  if (a.rate == 0 || b.rate == 0) return a.rate + weight * (b.rate - a.rate);  // where the background switches on
  return a.rate * std::pow(b.rate / a.rate, weight);
}

}  // namespace thor::emission
