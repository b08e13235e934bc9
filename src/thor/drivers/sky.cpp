#include "thor/drivers/sky.hpp"

#include <fmt/format.h>

#include <cmath>

#include "thor/core/message.hpp"
#include "thor/io/array/input.hpp"

namespace thor {

void check_cosmology(const config::Config& config, const Refuse& refuse) {
  if (!config.sky || !config.sky->redshift || config.dataset.path.empty()) return;
  const io::Input file(config.dataset.path);
  const double redshift = file.number("/", "redshift").value_or(0), hubble = file.number("/", "hubble").value_or(0);
  if (!(hubble > 0)) return;
  const config::Sky& sky = *config.sky;
  const double expected = Cosmology{sky.hubble, sky.omega_m, 1 - sky.omega_m}.hubble(redshift);
  if (std::abs(hubble / expected - 1) < 0.01) return;
  const double unit = constants::km / (1e3 * cm_per_kpc);
  refuse("sky",
         fmt::format("the grid {} has H(z = {:g}) = {:.4g} km/s/Mpc, and hubble = {:g} and omega_m = {:g} make it "
                     "{:.4g}: give sky.hubble and sky.omega_m of the simulation",
                     config.dataset.path, redshift, hubble / unit, sky.hubble, sky.omega_m, expected / unit));
}

void warn_of_sky(const config::Config& config, const Setup& setup) {
  if (!config.sky || !setup.medium.cells) return;
  const double redshift = distances_of(config.sky).redshift, own = setup.medium.grid.redshift;
  if (!(own > 0) || std::abs((1 + redshift) / (1 + own) - 1) < 0.01) return;
  warning("the grid is of redshift {:g}, and is seen as if it were at {:g} (sky)", own, redshift);
}

}  // namespace thor
