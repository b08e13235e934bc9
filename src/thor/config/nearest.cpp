#include "thor/config/nearest.hpp"

#include <algorithm>
#include <cctype>

namespace thor::config {
namespace {

std::string lower(std::string word) {
  for (char& letter : word) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return word;
}

/// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest(const std::string& word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::min<std::size_t>(word.size() / 3 + 1, 4) + 1;
  if (word.size() > 100) return best;
  for (const std::string& candidate : candidates) {
    const std::size_t d = distance(lower(word), lower(candidate));
    if (d < best_distance && d < candidate.size()) {
      best_distance = d;
      best = candidate;
    }
  }
  return best;
}

std::string suggestion(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string best = nearest(word, candidates);
  return best.empty() ? "" : "; did you mean \"" + best + "\"?";
}

}  // namespace thor::config
