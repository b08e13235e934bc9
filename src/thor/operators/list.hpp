#pragma once
#include <variant>

#include "thor/operators/absorption.hpp"
#include "thor/operators/projection.hpp"
#include "thor/operators/render.hpp"
#include "thor/operators/slice.hpp"
#include "thor/operators/tracer.hpp"

/// Every type of operator: the one list of them.
namespace thor {

template <class... Operators>
struct OperatorList {
  /// One of them, one of the others, or nothing.
  template <class... Others>
  using VariantWith = std::variant<Operators..., Others...>;
};

/// Those that make images.
using ImageOperators = OperatorList<config::SliceOperator, config::ProjectionOperator, config::RenderOperator>;

namespace config {
using Operator = ImageOperators::VariantWith<AbsorptionOperator, TracerOperator>;
const Section<Operator>& operator_section();
}  // namespace config

}  // namespace thor
