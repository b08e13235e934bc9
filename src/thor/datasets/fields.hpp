#pragma once
#include <cstddef>
#include <type_traits>

/// The list of fields of a dataset, `D::for_each_field(f, d...)`, calls f on the corresponding fields of one or several
/// datasets. Conversion to another precision and copies on a device follow from it.
namespace thor {

/// An array that a dataset points to. A device gets a copy of it: see for_each_array().
template <class T>
struct Array {
  const T* data;
  std::size_t count;
};

/// What a dataset points to on the host alone: devices get no copy, and do not look at it.
template <class T>
struct OnHost {
  const T* it;
};

template <class T>
inline constexpr bool is_array_view = false;
template <class T>
inline constexpr bool is_array_view<Array<T>> = true;

template <class T>
concept HasFields = requires(T& t) {
  T::for_each_field([](auto&) {}, t);
};

template <class To, class From>
void convert_field(To& to, const From& from) {
  if constexpr (std::is_array_v<To>) {
    for (std::size_t i = 0; i < std::extent_v<To>; ++i) convert_field(to[i], from[i]);
  } else if constexpr (HasFields<To>) {
    To::for_each_field([](auto& a, const auto& b) { convert_field(a, b); }, to, from);
  } else if constexpr (std::is_same_v<To, From>) {
    static_assert(!std::is_pointer_v<To>, "an Array knows its length, so that a device can have a copy");
    to = from;
  } else {
    to = static_cast<To>(from);
  }
}

/// The same dataset in another precision.
template <class Real, template <class> class D>
requires HasFields<D<double>> D<Real> convert(const D<double>& from) {
  D<Real> to{};
  convert_field(to, from);
  return to;
}

/// Replaces every array of a dataset by upload(data, bytes).
template <class D, class Upload>
void for_each_array(D& dataset, const Upload& upload) {
  D::for_each_field(
      [&]<class T>(T& field) {
        if constexpr (is_array_view<T>) {
          field.data = static_cast<decltype(field.data)>(upload(field.data, field.count * sizeof(*field.data)));
        } else if constexpr (HasFields<T>) {
          for_each_array(field, upload);
        }
      },
      dataset);
}

}  // namespace thor
