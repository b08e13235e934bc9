#pragma once
#include "thor/datasets/shell.hpp"
#include "thor/datasets/slab.hpp"
#include "thor/datasets/sphere.hpp"
#include "thor/transport/problem.hpp"

/// The closed set of problems that kernels exist for: f(dataset, real).
#define THOR_FOR_EACH_PROBLEM(f) \
  f(Sphere, float) f(Sphere, double) f(Shell, float) f(Shell, double) f(Slab, float) f(Slab, double)
