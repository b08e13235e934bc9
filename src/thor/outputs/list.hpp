#pragma once
#include <algorithm>
#include <concepts>
#include <variant>

#include "thor/outputs/cube.hpp"
#include "thor/outputs/histogram.hpp"
#include "thor/outputs/image.hpp"
#include "thor/outputs/profile.hpp"
#include "thor/outputs/spectrum.hpp"

/// The one list of binned outputs. A new one is a file beside this one and an entry here (docs/contributing/output.md);
/// configuration, tally, engines, devices, caveats and file follow from it.
namespace thor {

/// Parts of an output: keys, its entries in the tally (the plan), a function count() for them, and its place in the
/// file.
template <class T>
concept BinnedOutput = std::equality_comparable<T> &&
    requires(const T& output, const OutputContext& context, io::ArrayOutput& file, const BinnedLight& light) {
  { T::type } -> std::convertible_to<const char*>;
  { T::meaning } -> std::convertible_to<const char*>;
  { output.name } -> std::convertible_to<std::string>;
  { output.of } -> std::convertible_to<config::Fate>;
  { output.generator } -> std::convertible_to<std::string>;
  { output.reference } -> std::convertible_to<std::string>;
  { T::section() } -> std::same_as<const config::Section<T>&>;
  { output.plan(context).bins.entries() } -> std::same_as<std::int64_t>;
  output.write(file, output.plan(context), light);
};

/// One of several plans, as plain data that a device can read.
template <class... Plans>
struct AnyPlan {
  int type;
  int observer;  ///< whose light it counts by rays; -1: none's
  GeneratorRange generators;
  alignas(Plans...) unsigned char bytes[std::max({sizeof(Plans)...})];

  template <class Plan>
  THOR_FN const Plan& as() const {
    return *reinterpret_cast<const Plan*>(bytes);
  }
  /// Calls `use(plan)` with the plan that is stored.
  template <class Use>
  THOR_FN void visit(const Use& use) const {
    int i = 0;
    ((type == i++ ? use(as<Plans>()) : void()), ...);
  }
};

template <BinnedOutput... Outputs>
struct OutputList {
  template <class... More>
  using Variant = std::variant<Outputs..., More...>;
  using Plan = AnyPlan<decltype(std::declval<const Outputs&>().plan(std::declval<const OutputContext&>()))...>;
};

using BinnedOutputs = OutputList<SpectrumOutput, HistogramOutput, ImageOutput, CubeOutput, ProfileOutput>;

using AnyOutput = BinnedOutputs::Variant<>;
using OutputPlan = BinnedOutputs::Plan;

}  // namespace thor
