#pragma once
#include "thor/gridding/grid_snapshot.hpp"

/// Plan of a gridding run, from its options and the snapshot's header, before gas is read.
namespace thor::gridding {

/// Gas model chosen by the options; Error if the snapshot lacks what it needs.
GasOptions plan_gas(const io::Snapshot& snapshot, const GridOptions& options);

/// Origin of every quantity, one line each, for the user.
std::vector<std::string> describe_gas(const io::Snapshot& snapshot, const GridOptions& options, const GasOptions& gas);

/// Treatment of gas on an effective equation of state.
std::string describe_star_forming(const GasModel& model);

MemoryPlan plan_memory(const io::Snapshot& snapshot, const GridOptions& options, const Lattice& lattice,
                       const FieldList& fields);

std::string describe_plan(const Region& region, const MemoryPlan& memory, const FieldList& fields);

}  // namespace thor::gridding
