// random_words GENERATOR LAYOUT SEED: raw 32-bit words (tests/support/random_streams.hpp) on stdout until it is closed,
// for test batteries that read a pipe. Without arguments it lists the generators of thor, the weak ones and the
// layouts.
#include <algorithm>
#include <cstdio>
#include <exception>

#include "support/random_streams.hpp"

namespace {

int list() {
  for (const auto& generators : {test::thor_generators(), test::weak_generators()}) {
    for (const auto& generator : generators) std::printf("%s ", generator.name.c_str());
    std::puts("");
  }
  for (const auto& layout : test::layouts) std::printf("%s ", layout.c_str());
  std::puts("");
  return 0;
}

}  // namespace

int main(int count, char** arguments) try {
  if (count == 1) return list();
  if (count != 4 || std::find(test::layouts.begin(), test::layouts.end(), arguments[2]) == test::layouts.end()) {
    std::fputs("random_words GENERATOR LAYOUT SEED\n", stderr);
    return 2;
  }
  test::Words words(test::generator_named(arguments[1]), arguments[2], std::stoull(arguments[3]));
  std::vector<std::uint32_t> block(1u << 16);
  do {
    for (auto& word : block) word = words.next();
  } while (std::fwrite(block.data(), sizeof(block[0]), block.size(), stdout) == block.size());
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "random_words: %s\n", error.what());
  return 2;
}
