#include "thor/operators/list.hpp"

#include "thor/operators/any_operator.hpp"

namespace thor::config {
namespace {

template <class... Images, class... Others>
void declare_operators(Section<Operator>& s, OperatorList<Images...>, OperatorList<Others...>) {
  const auto option = []<class T>(std::type_identity<T>) {
    return Option<Operator>{T::type, Operator(std::make_unique<OperatorOf<T>>()), T::meaning};
  };
  s.choice(
      "type", [](Operator& any) -> Operator& { return any; },
      std::vector<Option<Operator>>{option(std::type_identity<Images>())..., option(std::type_identity<Others>())...},
      {.meaning = "kind of operator", .example = "projection"});
  const auto include = [&]<class T>(std::type_identity<T>) {
    s.include(T::section(), [](Operator& any) { return any.get_if<T>(); }, {"type", {T::type}});
  };
  (include(std::type_identity<Images>()), ...), (include(std::type_identity<Others>()), ...);
}

}  // namespace

const Section<Operator>& operator_section() {
  static const Section<Operator> section = [] {
    Section<Operator> s("Quantities along rays: images of cameras, and spectra or fields along sightlines.");
    declare_operators(s, ImageOperators(), SightlineOperators());
    return s;
  }();
  return section;
}

}  // namespace thor::config
