#include "thor/core/parallel_for.hpp"
#include "thor/datasets/medium.hpp"

/// A shell on a grid, for comparison with the shell itself.
namespace thor {

std::shared_ptr<const Cells> realise_shell(const Medium& m, std::int64_t count, bool core_skip, int threads) {
  Shell<double> shell{};
  if (const auto* sphere = std::get_if<Sphere<double>>(&m.dataset)) {
    shell.profile.opacity = sphere->kappa;
  } else {
    shell = std::get<Shell<double>>(m.dataset);
  }
  GridShape shape;
  shape.count = {count, count, count};
  shape.cell_size = 2 * m.size / double(count);
  shape.origin = {-m.size, -m.size, -m.size};
  const double side = 2 / double(count);  // of a cell, in radii
  // Densities in units of 1/(sigma_0 cell): the opacity of a cell comes out as it goes in.
  const CellUnits units{m.thermal_speed, m.thermal_speed, 0, 1, 1, m.a};
  auto cells = std::make_shared<Cells>(shape, CellLayout{false, m.dust.tau > 0, core_skip}, units, 0);
  parallel_for(threads, std::size_t(shape.cells()), 1 << 12, [&](std::size_t first, std::size_t end) {
    const auto gas_at = view<double>(shell);
    for (auto i = std::int64_t(first); i < std::int64_t(end); ++i) {
      const std::int64_t index[3] = {i / (count * count), i / count % count, i % count};
      constexpr int sub = 4;  // points along a side: cells at the edge are filled in part
      double opacity = 0;
      for (int k = 0; k < sub * sub * sub; ++k) {
        const int along[3] = {k / (sub * sub), k / sub % sub, k % sub};
        const auto place_of = [&](int axis) { return (double(index[axis]) + (along[axis] + 0.5) / sub) * side - 1; };
        const Vec3<double> p{place_of(0), place_of(1), place_of(2)};
        const int place = gas_at.locate(p);
        if (place != outside) opacity += gas_at.opacity({place, 0}, p) / (sub * sub * sub);
      }
      const Vec3<double> centre{(double(index[0]) + 0.5) * side - 1, (double(index[1]) + 0.5) * side - 1,
                                (double(index[2]) + 0.5) * side - 1};
      cells->set_density(i, opacity * side);
      cells->set_temperature(i, 1);
      const double v[3] = {gas_at.velocity_along({gas, 0}, centre, {1, 0, 0}),
                           gas_at.velocity_along({gas, 0}, centre, {0, 1, 0}),
                           gas_at.velocity_along({gas, 0}, centre, {0, 0, 1})};
      for (int k = 0; k < 3; ++k) cells->set_velocity(i, k, v[k] * m.thermal_speed);
      if (m.dust.tau > 0) cells->set_dust(i, opacity * side * m.dust.tau / m.tau0);
    }
  });
  cells->finish(threads);
  return cells;
}

}  // namespace thor
