#pragma once
#include "thor/gridding/grid_snapshot.hpp"

/// The plan of a run, from its options and the header of the snapshot, before gas is read.
namespace thor::gridding {

/// The gas as the options describe it; an Error if the snapshot lacks the data.
GasOptions plan_gas(const io::Snapshot& snapshot, const GridOptions& options);

/// The origin of each quantity, one line each, for the user.
std::vector<std::string> describe_gas(const io::Snapshot& snapshot, const GridOptions& options, const GasOptions& gas);

/// The treatment of gas on an effective equation of state, in words.
std::string describe_star_forming(const GasModel& model);

MemoryPlan plan_memory(const io::Snapshot& snapshot, const GridOptions& options, const Lattice& lattice,
                       const FieldList& fields, const MemoryRoom& room);

double file_size(const Lattice& lattice, const FieldList& fields);  ///< of all arrays, not compressed [bytes]

std::string describe_plan(const GridRegion& region, const MemoryPlan& memory, const FieldList& fields,
                          const MemoryRoom& room);

}  // namespace thor::gridding
