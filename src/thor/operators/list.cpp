#include "thor/operators/list.hpp"

#include "thor/config/section.hpp"

namespace thor::config {
namespace {

template <class... Types>
void declare(Section<std::variant<Types...>>& s) {
  using Any = std::variant<Types...>;
  s.choice("type", [](Any& any) -> Any& { return any; },
           std::vector<Option<Any>>{{Types::type, Types{}, Types::meaning}...},
           {.meaning = "kind of operator", .example = "projection"});
  (s.include(Types::section(), [](Any& any) { return std::get_if<Types>(&any); }, {"type", {Types::type}}), ...);
}

}  // namespace

const Section<Operator>& operator_section() {
  static const Section<Operator> section = [] {
    Section<Operator> s("Quantities along rays: images of cameras, and spectra or fields along sightlines.");
    declare(s);
    return s;
  }();
  return section;
}

}  // namespace thor::config
