#include "thor/comm/together.hpp"

#include <algorithm>
#include <exception>

namespace thor::comm {

void do_together(const World& world, const std::function<void()>& work, const std::function<void()>& undo) {
  std::exception_ptr failure;
  try {
    work();
  } catch (...) {
    failure = std::current_exception();
  }
  const auto own = std::uint64_t(failure ? world.ranks() - world.rank() : 0), first = world.largest(own);
  if (first == 0) return;
  undo();
  world.largest(0);  // all have undone it
  if (own == first) std::rethrow_exception(failure);
  world.largest(0);  // which never returns: that rank ends all
}

void add_all(const World& world, std::span<std::uint64_t> numbers) {
  world.add_at_first(numbers);
  std::ranges::copy(world.from_first({numbers.begin(), numbers.end()}), numbers.begin());
}

void add_all(const World& world, std::span<double> numbers) {
  std::vector<std::uint64_t> words(numbers.size());
  const auto word = [](double number) { return std::bit_cast<std::uint64_t>(number); };
  std::ranges::transform(numbers, words.begin(), word);
  const std::vector<std::uint64_t> all = world.at_first(words);
  if (world.is_first()) {
    std::ranges::fill(numbers, 0.);
    for (std::size_t i = 0; i < all.size(); ++i) numbers[i % numbers.size()] += std::bit_cast<double>(all[i]);
    std::ranges::transform(numbers, words.begin(), word);
  }
  words = world.from_first(std::move(words));
  std::ranges::transform(words, numbers.begin(), [](std::uint64_t sum) { return std::bit_cast<double>(sum); });
}

}  // namespace thor::comm
