// Stand-ins for file access by the configuration reader: a fuzzer must not open random paths.
#include "thor/datasets/grid_file.hpp"
#include "thor/datasets/medium.hpp"
#include "thor/generators/source_list.hpp"

namespace thor {

GridShape read_grid_shape(const config::Dataset& dataset, const Line&) {
  if (dataset.path.size() % 2 == 0) throw Error(ExitCode::input, dataset.path + ": no grids available");
  GridShape shape;
  shape.count = {8, 8, 8};
  shape.cell_size = 1e20;
  shape.periodic = dataset.boundary == config::Boundary::periodic;
  return shape;
}
std::shared_ptr<const Cells> read_cells(const config::Dataset&, const Line&, const GridShape&, const CellUnits&, bool,
                                        int) {
  return nullptr;
}
std::shared_ptr<const SourceList> build_source_list(const config::Generator&, const Medium&, std::uint64_t, Light&) {
  return nullptr;
}

}  // namespace thor
