#pragma once
#include "thor/operators/absorption.hpp"
#include "thor/operators/plan.hpp"
#include "thor/operators/projection.hpp"
#include "thor/operators/render.hpp"
#include "thor/operators/slice.hpp"
#include "thor/operators/tracer.hpp"

/// Every type of operator: the one list of them.
namespace thor {

/// Those that make images.
using ImageOperators = OperatorList<config::SliceOperator, config::ProjectionOperator, config::RenderOperator>;

/// Those that follow sightlines.
using SightlineOperators = OperatorList<config::AbsorptionOperator, config::TracerOperator>;

}  // namespace thor
