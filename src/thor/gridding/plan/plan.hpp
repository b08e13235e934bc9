#pragma once
#include "thor/gridding/grid_snapshot.hpp"

/// What a run comes to, from its options and the snapshot's header, before gas is read.
namespace thor::gridding {

/// The gas as the options want it; Error where the snapshot cannot give it.
GasOptions plan_gas(const io::Snapshot& snapshot, const GridOptions& options);

/// One line each, for the user: where every quantity comes from.
std::vector<std::string> describe_gas(const io::Snapshot& snapshot, const GridOptions& options, const GasOptions& gas);

/// What becomes of gas on an effective equation of state.
std::string describe_star_forming(const GasModel& model);

MemoryPlan plan_memory(const io::Snapshot& snapshot, const GridOptions& options, const Lattice& lattice,
                       const FieldList& fields);

std::string describe_plan(const Region& region, const MemoryPlan& memory, const FieldList& fields);

}  // namespace thor::gridding
