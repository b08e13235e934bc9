#pragma once
#include <type_traits>
#include <utility>

#include "thor/math/value.hpp"

/// Where photons are, beside their coordinates: the cell or region, and what else a dataset keeps of it. A dataset has
/// a type of its own for that, D::Place, with numbers R and integers I of one photon, of a pack, or of arrays. Its
/// for_each_field(f, places...) is the one list of its fields: lanes, births, events, messages between ranks and memory
/// of devices follow it.
namespace thor {

/// Room for the place of any dataset, in memory that does not know which: the fields of a place take the integers and
/// the numbers in turn.
template <class R, class I>
struct AnyPlace {
  using Number = R;
  static constexpr int integers = 4, numbers = 1;
  I integer[integers];
  R number[numbers];

  static THOR_FN void for_each_field(auto f, auto&... p) {
    f(p.integer[0]...), f(p.integer[1]...), f(p.integer[2]...), f(p.integer[3]...), f(p.number[0]...);
  }
};

inline namespace THOR_ISA {

template <class P>
inline constexpr bool is_any_place = false;
template <class R, class I>
inline constexpr bool is_any_place<AnyPlace<R, I>> = true;

/// Calls f on each pair of corresponding fields of two places.
template <class A, class B, class F>
THOR_FN void for_each_place_field(A& a, B& b, F f) {
  using First = std::remove_const_t<A>;
  using Second = std::remove_const_t<B>;
  if constexpr (is_any_place<First> == is_any_place<Second>) {
    First::for_each_field(f, a, b);
  } else if constexpr (is_any_place<First>) {
    for_each_place_field(b, a, [&](auto& second, auto& first) THOR_INLINE_LAMBDA { f(first, second); });
  } else {
    int integer = 0, number = 0;
    First::for_each_field(
        [&]<class T>(T& field) THOR_INLINE_LAMBDA {
          if constexpr (std::is_same_v<std::remove_const_t<T>, typename First::Number>) {
            f(field, b.number[number++]);
          } else {
            f(field, b.integer[integer++]);
          }
        },
        a);
  }
}

/// The place of one photon in a dataset D. (An alias of the decltype crashes gcc 12.)
template <class D>
struct PlaceOf {
  using type = typename decltype(view<typename D::Real>(std::declval<const D&>()))::Place;
};
template <class D>
using PlaceIn = typename PlaceOf<D>::type;

/// The places of lanes that are concerned; for the others the first cell, which there always is.
template <class V, class P>
THOR_FN P place_or_first(MaskOf<V> concerned, P place) {
  P::for_each_field(
      [&]<class T>(T& field) THOR_INLINE_LAMBDA {
        if constexpr (!std::is_same_v<T, V>) field = select(concerned, field, T(0));
      },
      place);
  return place;
}

}  // namespace THOR_ISA
}  // namespace thor
