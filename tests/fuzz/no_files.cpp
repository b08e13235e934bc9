// Stand-ins for file access by the configuration reader: a fuzzer must not open random paths.
#include "thor/datasets/grid_file.hpp"
#include "thor/datasets/medium.hpp"
#include "thor/drivers/mcrt/sky.hpp"
#include "thor/generators/gas_lists.hpp"
#include "thor/generators/source_list.hpp"
#include "thor/io/array/output.hpp"

namespace thor {

GridShape read_grid_shape(const config::Dataset& dataset, const Line&) {
  if (dataset.path.size() % 2 == 0) throw Error(ExitCode::input, dataset.path + ": no grids available");
  GridShape shape;
  shape.count = {8, 8, 8};
  shape.cell_size = 1e20;
  shape.periodic = dataset.boundary == config::Boundary::periodic;
  return shape;
}
std::shared_ptr<Cells> read_cells(const config::Dataset&, const Line&, const GridShape&, const CellUnits&,
                                  const CellRequest&) {
  return nullptr;
}
double read_fastest(const config::Dataset&, const Line&, const GridShape&, const CellBox&, int) { return 0; }
std::shared_ptr<const SourceList> build_source_list(const config::Generator&, const Medium&, std::uint64_t, Light&) {
  return nullptr;
}
GasLists::GasLists(const config::Generator& generator, const Medium& medium, std::uint64_t,
                   const EmitterOptions& options, Light&)
    : generator_(generator), mesh_(medium.mesh), partition_(options.partition) {}
std::shared_ptr<const SourceList> GasLists::list(int) const { return nullptr; }

void check_cosmology(const config::Config&, const Refuse&) {}

namespace io {

// Outputs write with these, which reading a configuration does not call.
template <Stored T>
void Column<T>::append(std::span<const T>) {}
template <Stored T>
Column<T> ArrayOutput::column(const std::string&, std::size_t, std::string_view, std::string_view) {
  return Column<T>(nullptr);
}
template <class T>
void ArrayOutput::write(const std::string&, std::span<const T>, const std::vector<std::uint64_t>&, std::string_view,
                        std::string_view, int) {}
template void ArrayOutput::write(const std::string&, std::span<const double>, const std::vector<std::uint64_t>&,
                                 std::string_view, std::string_view, int);
template void ArrayOutput::write(const std::string&, std::span<const float>, const std::vector<std::uint64_t>&,
                                 std::string_view, std::string_view, int);
template void Column<double>::append(std::span<const double>);
template void Column<std::int64_t>::append(std::span<const std::int64_t>);
template void Column<std::uint64_t>::append(std::span<const std::uint64_t>);
template Column<double> ArrayOutput::column(const std::string&, std::size_t, std::string_view, std::string_view);
template Column<std::int64_t> ArrayOutput::column(const std::string&, std::size_t, std::string_view, std::string_view);
template Column<std::uint64_t> ArrayOutput::column(const std::string&, std::size_t, std::string_view, std::string_view);
void ArrayOutput::set_double(const std::string&, const std::string&, double) {}
void ArrayOutput::set_text(const std::string&, const std::string&, std::string_view) {}

}  // namespace io
}  // namespace thor
