#pragma once
#include "thor/datasets/shell.hpp"
#include "thor/datasets/slab.hpp"
#include "thor/datasets/sphere.hpp"
#include "thor/datasets/uniform_grid.hpp"
#include "thor/transport/problem.hpp"

/// The closed set of problems that kernels exist for: f(problem, dataset, real). CMake has the same list
/// (ThorKernels.cmake).
#define THOR_FOR_EACH_REAL(f, problem, dataset) f(problem, dataset, float) f(problem, dataset, double)
#define THOR_FOR_EACH_PROBLEM(f)                  \
  THOR_FOR_EACH_REAL(f, LineProblem, Sphere)      \
  THOR_FOR_EACH_REAL(f, LineProblem, Shell)       \
  THOR_FOR_EACH_REAL(f, LineProblem, Slab)        \
  THOR_FOR_EACH_REAL(f, DoubletProblem, Sphere)   \
  THOR_FOR_EACH_REAL(f, DoubletProblem, Shell)    \
  THOR_FOR_EACH_REAL(f, MultipletProblem, Shell)  \
  THOR_FOR_EACH_REAL(f, MultipletProblem, Slab)   \
  THOR_FOR_EACH_REAL(f, SelectedProblem, Shell)   \
  THOR_FOR_EACH_REAL(f, SelectedProblem, Slab)    \
  THOR_FOR_EACH_REAL(f, LineProblem, UniformGrid) \
  THOR_FOR_EACH_REAL(f, MultipletProblem, UniformGrid)
