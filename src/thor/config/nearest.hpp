#pragma once
#include <string>
#include <vector>

namespace thor::config {

/// Candidate nearest to `word` by edit distance (counting swaps, ignoring case), or "" if none is near.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

/// `; did you mean "..."?` or nothing.
std::string suggestion(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace thor::config
