#include "thor/operators/tracer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

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
           {.meaning = "fields or products to store, separated by commas", .example = "density, temperature"});
    s.map("sightlines", &TracerOperator::sightlines, sightlines_section(),
          {.meaning = "sightlines along which fields are stored"});
    s.check([](Reader& reader, const TracerOperator& o) {
      if (!reader.clean("fields")) return;
      std::set<std::string> taken{"first", "begin", "length"};  // of the result
      for (const std::string& field : listed(o.fields)) {
        if (!taken.insert(array_name_of(field)).second) {
          reader.report("fields",
                        fmt::format("\"{}\": another array of the result has this name: leave it out", field));
        }
      }
    });
    return s;
  }();
  return section;
}

}  // namespace thor::config
