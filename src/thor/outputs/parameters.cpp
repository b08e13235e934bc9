#include "thor/outputs/parameters.hpp"

#include "thor/config/section.hpp"

namespace thor::config {
namespace {

/// Declares the word and the keys of every type.
template <class... Types>
void declare(Section<std::variant<Types...>>& s) {
  using Any = std::variant<Types...>;
  s.choice("type", [](Any& output) -> Any& { return output; },
           std::vector<Option<Any>>{{Types::type, Types{}, Types::meaning}...},
           {.meaning = "kind of output", .example = "spectrum"});
  (s.include(Types::section(), [](Any& output) { return std::get_if<Types>(&output); }, {"type", {Types::type}}), ...);
}

}  // namespace

double count_bins(const std::vector<AnyOutput>& outputs) {
  const OutputContext anywhere{[](const std::string&) { return FrequencyAxis{1, 1}; }};
  double bins = 0;
  for (const AnyOutput& any : outputs) {
    std::visit([&](const auto& output) { bins += double(output.plan(anywhere).bins.count); }, any);
  }
  return bins;
}

const Section<Output>& output_section() {
  static const Section<Output> section = [] {
    Section<Output> s("What is kept: any number of spectra and histograms, and the photons themselves at most once.");
    declare(s);
    return s;
  }();
  return section;
}

}  // namespace thor::config
