#pragma once
#include <string>
#include <vector>

namespace thor::config {

/// The candidate closest to `word` by edit distance (swaps included, case ignored), or "" if none is close.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

/// `; did you mean "..."?` or nothing.
std::string suggestion(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace thor::config
