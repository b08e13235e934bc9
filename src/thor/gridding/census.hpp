#pragma once
#include <string>
#include <vector>

#include "thor/gridding/job.hpp"
#include "thor/gridding/plan/budget.hpp"

/// What is said of the gas of a snapshot when all of it has been looked at.
namespace thor::gridding {

/// Error(input) for gas elements with impossible values, where they are an error.
void refuse_bad_cells(const Job& job, const Defects& bad);

std::string describe_gas_found(const Job& job, const Gatherer& gatherer);
/// Look-ups beyond tables.
std::string describe_clamped(const GasModel& model);

/// Compares the sums over the grid, in cgs, with the gas of the snapshot.
Budget settle(const Job& job, const Totals& totals, const std::vector<double>& gridded);

}  // namespace thor::gridding
