#pragma once
#include <string>
#include <vector>

namespace thor::config {

/// The candidate most like `word` by edit distance (with swaps, whatever the case), or "" where
/// none is near.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

/// `; did you mean "..."?` or nothing.
std::string suggestion(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace thor::config
