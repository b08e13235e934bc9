#include "thor/outputs/parameters.hpp"

#include <algorithm>

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

/// The bins of every output, wherever the gas is.
void for_each_bins(const std::vector<AnyOutput>& outputs, const auto& use) {
  const OutputContext anywhere{[](const std::string&) { return FrequencyAxis{1, 1}; }};
  for (const AnyOutput& any : outputs) {
    std::visit([&](const auto& output) { use(output.plan(anywhere).bins); }, any);
  }
}

}  // namespace

double count_bins(const std::vector<AnyOutput>& outputs) {
  double count = 0;
  for_each_bins(outputs, [&](const auto& bins) { count += double(bins.count); });
  return count;
}

bool is_peeled(const std::vector<AnyOutput>& outputs, const std::string& observer) {
  const auto peels = [&](const auto& output) {
    if constexpr (requires { output.sight; }) {
      return output.sight.observer == observer && output.sight.estimator == Estimator::peel;
    }
    return false;
  };
  return std::ranges::any_of(outputs, [&](const AnyOutput& any) { return std::visit(peels, any); });
}

double bytes_in_file(const std::vector<AnyOutput>& outputs) {
  double bytes = 0;  // of light, error, VOV and edge
  for_each_bins(outputs, [&](const auto& bins) { bytes += (bins.errors ? 28. : 12.) * double(bins.count); });
  return bytes;
}

double count_entries(const std::vector<AnyOutput>& outputs) {
  double count = 0;
  for_each_bins(outputs, [&](const auto& bins) { count += double(bins.entries()); });
  return count;
}

double memory_of(const std::vector<AnyOutput>& outputs, bool dropped) {
  double largest = 0;  // of light, error and VOV
  for_each_bins(outputs,
                [&](const auto& bins) { largest = std::max(largest, (bins.errors ? 24. : 8.) * double(bins.count)); });
  return (dropped ? 16 : 8) * count_entries(outputs) + largest;
}

const Section<Output>& output_section() {
  static const Section<Output> section = [] {
    Section<Output> s(
        "Products of the run: any number of spectra, histograms, images, cubes and profiles, and at most one list of "
        "photons.");
    declare(s);
    return s;
  }();
  return section;
}

}  // namespace thor::config
