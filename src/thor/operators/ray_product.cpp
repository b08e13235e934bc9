#include "thor/operators/ray_product.hpp"

#include <algorithm>
#include <bit>

#include "thor/core/error.hpp"
#include "thor/core/memory.hpp"
#include "thor/core/message.hpp"

namespace thor {
namespace {

std::vector<std::uint64_t> words_of(const std::vector<double>& numbers) {
  std::vector<std::uint64_t> words(numbers.size());
  std::ranges::transform(numbers, words.begin(), [](double v) { return std::bit_cast<std::uint64_t>(v); });
  return words;
}
std::vector<double> numbers_of(const std::vector<std::uint64_t>& words) {
  std::vector<double> numbers(words.size());
  std::ranges::transform(words, numbers.begin(), [](std::uint64_t w) { return std::bit_cast<double>(w); });
  return numbers;
}

}  // namespace

std::vector<double> at_first(const comm::World& world, const std::vector<double>& own) {
  return numbers_of(world.at_first(words_of(own)));
}

std::vector<double> everywhere(const comm::World& world, const std::vector<double>& own) {
  return numbers_of(world.from_first(world.at_first(words_of(own))));
}

void RayWork::require_memory(const std::string& key, double bytes) const {
  const double available = available_memory();
  if (bytes <= available) return;
  throw Error(
      ExitCode::device,
      fmt::format("{}: needs {} of memory, but {} are free: use fewer pixels or bins, or fewer or shorter sightlines",
                  key, size_text(bytes), size_text(available)));
}

SightlineList RayWork::sightlines(std::size_t op, const config::Sightlines& keys) const {
  const std::string where = key(op) + ".sightlines";
  require_memory(where, bytes_of_sightlines(keys, outline()));
  SightlineList list = build_sightlines(keys, outline(), seed, where);
  if (list.missed > 0) {
    warning("{}: {} of {} sightlines miss the gas and are empty. Check their positions and directions.", key(op),
            list.missed, list.begins.size());
  }
  return list;
}

}  // namespace thor
