#include "thor/math/gather.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace thor {
namespace {

template <class V>
class Gather : public testing::Test {};
using Values = testing::Types<float, double, NativePack<float>, NativePack<double>>;
TYPED_TEST_SUITE(Gather, Values);

template <class V>
RealOf<V> lane_of(const V& value, int lane) {
  RealOf<V> all[Value<V>::lanes];
  if constexpr (std::is_arithmetic_v<V>) {
    all[0] = value;
  } else {
    store(value, all);
  }
  return all[lane];
}

TYPED_TEST(Gather, GivesEachLaneItsNumbers) {
  using V = TypeParam;
  constexpr int stride = 7, records = 101;
  std::vector<float> memory(stride * records + 3);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = float(i);
  LaneAddress<V> address;
  for (int l = 0; l < Value<V>::lanes; ++l) address.of[l] = stride * ((37 * l + records - 1) % records);
  const Numbers<V> numbers{memory.data(), address};
  for (int l = 0; l < Value<V>::lanes; ++l) {
    const auto first = RealOf<V>(address.of[l]);
    EXPECT_EQ(lane_of<V>(numbers[0], l), first);
    EXPECT_EQ(lane_of<V>(numbers[1], l), first + 1);
    EXPECT_EQ(lane_of<V>(numbers[2], l), first + 2);
    EXPECT_EQ(lane_of<V>(numbers[3], l), first + 3);
    EXPECT_EQ(lane_of<V>(numbers[4], l), first + 4);
    EXPECT_EQ(lane_of<V>(numbers[5], l), first + 5);
    EXPECT_EQ(lane_of<V>(numbers[6], l), first + 6);
    const V twice = gather(address, [&](std::int64_t i) { return 2 * memory[std::size_t(i)]; });
    EXPECT_EQ(lane_of<V>(twice, l), 2 * first);
  }
}

TYPED_TEST(Gather, AddressesHave64Bits) {
  using V = TypeParam;
  using Bits = BitsOf<V>;
  for (const unsigned block : {0u, 1u, 65535u, 65536u, 2147483648u, 4294967295u}) {
    const auto address = lane_address<V>(Bits(block), 448, Bits(441u));
    for (int l = 0; l < Value<V>::lanes; ++l) EXPECT_EQ(address.of[l], std::int64_t(block) * 448 + 441);
  }
}

}  // namespace
}  // namespace thor
