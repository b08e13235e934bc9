#include "thor/operators/tracer.hpp"

#include <algorithm>

#include "thor/operators/keys.hpp"

namespace thor::config {

const Section<TracerOperator>& TracerOperator::section() {
  static const Section<TracerOperator> section = [] {
    Section<TracerOperator> s("");
    declare_name(s, "run");
    s.text("fields", &TracerOperator::fields, "fields or products, with commas between them",
           [](const std::string& text) {
             const auto names = listed(text);
             return !names.empty() && std::ranges::all_of(names, is_product);
           },
           {.meaning = "what is kept, with commas between: `density, temperature, velocity`",
            .example = "density, temperature"});
    s.map("sightlines", &TracerOperator::sightlines, sightlines_section(), {.meaning = "along which"});
    return s;
  }();
  return section;
}

}  // namespace thor::config
