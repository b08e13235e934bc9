// The list of fields of each dataset: whole, in order, and enough to convert it.
#include "thor/datasets/fields.hpp"

#include <gtest/gtest.h>

#include "thor/datasets/any_dataset.hpp"

namespace thor {
namespace {

/// The size of a struct whose fields are those of the list, in its order: a field that was left out makes it too small.
struct Layout {
  std::size_t size = 0, alignment = 1;
  void add(std::size_t bytes, std::size_t aligned) {
    size = (size + aligned - 1) / aligned * aligned + bytes;
    alignment = std::max(alignment, aligned);
  }
  std::size_t whole() const { return (size + alignment - 1) / alignment * alignment; }
};

template <class D>
Layout layout_of() {
  Layout layout;
  D d{};
  D::for_each_field([&]<class T>(T&) { layout.add(sizeof(T), alignof(T)); }, d);
  return layout;
}

template <class D>
struct Fields : testing::Test {};
template <class Variant>
struct TypesOf;
template <class... D>
struct TypesOf<std::variant<D...>> {
  using type = testing::Types<D..., Profile<double>>;
};
TYPED_TEST_SUITE(Fields, typename TypesOf<AnyDataset>::type);

TYPED_TEST(Fields, AreAllInTheList) { EXPECT_EQ(layout_of<TypeParam>().whole(), sizeof(TypeParam)); }

TYPED_TEST(Fields, AreConvertedThereAndBack) {
  TypeParam d{};
  double next = 1;
  const auto fill = [&](auto& self, auto& field) -> void {
    using T = std::remove_reference_t<decltype(field)>;
    if constexpr (std::is_array_v<T>) {
      for (auto& element : field) self(self, element);
    } else if constexpr (HasFields<T>) {
      T::for_each_field([&](auto& inner) { self(self, inner); }, field);
    } else if constexpr (is_array_view<T>) {
      field = {nullptr, std::size_t(next++)};
    } else if constexpr (requires { field.it; }) {
      field = {reinterpret_cast<decltype(field.it)>(std::uintptr_t(next++))};
    } else {
      field = static_cast<T>(next++);
    }
  };
  TypeParam::for_each_field([&](auto& field) { fill(fill, field); }, d);
  TypeParam back{};
  const auto single = convert<float>(d);
  convert_field(back, single);
  EXPECT_EQ(std::memcmp(&back, &d, layout_of<TypeParam>().size), 0);
}

TEST(FieldsOfADataset, ArraysAreReplacedByCopies) {
  const float numbers[4] = {1, 2, 3, 4}, copy[4] = {};
  UniformGrid<float> grid{};
  grid.gas.numbers = grid.around = {numbers, 4};
  std::size_t bytes = 0;
  for_each_array(grid, [&](const void* data, std::size_t count) -> const void* {
    EXPECT_EQ(data, numbers);
    bytes += count;
    return copy;
  });
  EXPECT_EQ(bytes, 2 * sizeof(numbers));
  EXPECT_EQ(grid.gas.numbers.data, copy);
  EXPECT_EQ(grid.around.data, copy);
}

}  // namespace
}  // namespace thor
