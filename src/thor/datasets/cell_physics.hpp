#pragma once
#include "thor/datasets/medium.hpp"

/// What a run makes of gas in the cells of a file, whatever their mesh.
namespace thor {

/// The units and checks of an outline that has its mesh.
void outline_cells(MediumOutline& m, const config::Dataset& dataset, const Line& line, const Refuse& refuse);

CellUnits units_of(const MediumOutline& m, const config::Dataset& dataset, const Line& line);

/// `fastest`: as in the statistics of the cells.
CellPhysics<double> physics_of(const MediumOutline& m, const config::Dataset& dataset, const Line& line, double fastest,
                               double dust_depth);

void say_dropped(const config::Dataset& dataset, const std::vector<std::int64_t>& dropped);

/// Where nothing is absorbed, or where stop_shift is so short that the damping wings of a cell absorb beyond it, or
/// those of the equal cells that a jump may cross.
void warn_of_cells(const Medium& m, double stop, std::int64_t across, const config::Dataset& dataset, const Line& line);

}  // namespace thor
