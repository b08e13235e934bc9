#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "thor/core/error.hpp"
#include "thor/io/array/input.hpp"

namespace thor::io {

namespace fs = std::filesystem;
using Shape = std::vector<std::uint64_t>;

inline bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Runs `f`, which must throw a thor::Error, and returns its text.
template <class F>
std::string message(F f, ExitCode expected = ExitCode::input) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), expected) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

/// Reassembles the blocks; every value must occur once.
template <class T>
std::vector<T> join_blocks(const Input& input, const std::string& path, int threads) {
  const Shape shape = input.array(path).shape;
  std::size_t size = 1;
  for (const auto n : shape) size *= n;
  std::vector<T> values(size);
  std::vector<int> seen(size);
  std::mutex mutex;
  input.read_blocks<T>(path, threads, [&](const Block<T>& block) {
    const std::lock_guard lock(mutex);
    std::size_t volume = 1;
    for (const auto n : block.count) volume *= n;
    ASSERT_EQ(volume, block.values.size());
    EXPECT_LE(block.values.size_bytes(), 16u << 20);
    EXPECT_GT(volume, 0u);
    for (std::size_t i = 0; i < volume; ++i) {
      std::size_t rest = i, at = 0, stride = 1;
      for (std::size_t d = shape.size(); d-- > 0; rest /= block.count[d], stride *= shape[d]) {
        at += (block.first[d] + rest % block.count[d]) * stride;
      }
      values.at(at) = block.values[i];
      ++seen.at(at);
    }
  });
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), std::ptrdiff_t(size)) << path;
  return values;
}

}  // namespace thor::io
