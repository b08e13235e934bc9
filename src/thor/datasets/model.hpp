#pragma once
#include "thor/datasets/medium.hpp"
#include "thor/datasets/profile.hpp"

namespace thor {

/// Gas that the configuration describes by its normalisation and by power laws of one coordinate.
struct Model {
  MediumOutline medium;  ///< without its dataset
  Profile<double> profile;
};

/// Normalises the profiles of gas between `inner` and 1, in units of `size` [cm]. What has no finite normalisation or
/// cannot be resolved is refused; the model is then not to be used.
Model build_model(const config::Dataset& dataset, const Line& line, double size, double inner, const Refuse& refuse);

}  // namespace thor
