#include "thor/drivers/templates.hpp"

#include <fmt/ranges.h>

#include "thor/config/nearest.hpp"
#include "thor/config/schema.hpp"
#include "thor/core/error.hpp"

namespace thor {

std::span<const Template> templates() {  // NOLINT(readability-function-size): a table
  static const Template list[] = {
      {"sphere",
       "A static sphere around a Lyα source: the light leaves in two peaks.\n"
       "The thicker the gas, the farther they are apart (Neufeld 1990; Dijkstra, Haiman & Spaans 2006).",
       R"(
line: Lya
dataset: {type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 1e7}
generators:
  - {type: point, photons: 20000, luminosity: 1e42 erg/s}
outputs:
  - {type: spectrum, name: emergent, axis: x, range: [-40, 40], bins: 100}
output: {path: sphere.h5}
)"},
      {"outflow", "A sphere that expands with v ∝ r: the blue peak is gone, the red one has a long tail.",
       R"(
line: Lya
dataset:
  type: shell
  outer_radius: 10 kpc
  temperature: 1e4 K
  column_density: 2e20 cm^-2
  velocity: {profile: linear, max: 200 km/s}
generators:
  - {type: point, photons: 20000, luminosity: 1e42 erg/s}
outputs:
  - {type: spectrum, name: emergent, axis: velocity, range: [-500 km/s, 1500 km/s], bins: 100}
output: {path: outflow.h5}
)"},
      {"shell",
       "A thin dusty shell that moves outward at one speed around a galaxy with a broad line.\n"
       "This is the model that is fitted to Lyα spectra (Verhamme et al. 2006).",
       R"(
line: Lya
dataset:
  type: shell
  inner_radius: 0.9 kpc
  outer_radius: 1 kpc
  temperature: 1e4 K
  column_density: 1e19 cm^-2
  velocity: {profile: constant, max: 150 km/s}
  dust: {tau: 0.2}
generators:
  - {type: point, photons: 5000, luminosity: 1e42 erg/s, spectrum: {type: gaussian, sigma: 100 km/s}}
outputs:
  - {type: spectrum, name: emergent, of: escaped, axis: velocity, range: [-400 km/s, 800 km/s], bins: 80}
  - {type: spectrum, name: intrinsic, of: emitted, axis: velocity, range: [-400 km/s, 800 km/s], bins: 80}
output: {path: shell.h5}
)"},
      {"slab", "A static slab with a source at its centre (Harrington 1973; Neufeld 1990).",
       R"(
line: Lya
dataset: {type: slab, half_thickness: 1 kpc, temperature: 1e4 K, tau0: 1e7}
generators:
  - {type: point, photons: 20000, luminosity: 1e42 erg/s}
outputs:
  - {type: spectrum, name: emergent, axis: x, range: [-40, 40], bins: 100}
output: {path: slab.h5}
)"},
      {"dusty_slab", "A slab with dust: how much light gets out (Neufeld 1990, eq. 4.43).",
       R"(
line: Lya
dataset: {type: slab, half_thickness: 1 kpc, temperature: 100 K, tau0: 1e4, dust: {tau: 0.1, albedo: 0}}
generators:
  - {type: point, photons: 10000, luminosity: 1e42 erg/s}
outputs:
  - {type: spectrum, name: emergent, axis: x, range: [-20, 20], bins: 100}
  - {type: photons, fields: [id, scatterings, column]}
output: {path: dusty_slab.h5}
)"},
      {"doublet",
       "Mg II 2796 and 2803 in an outflow before a flat continuum: two P Cygni profiles (Prochaska et al. 2011).",
       R"(
line: MgII
dataset:
  type: shell
  outer_radius: 10 kpc
  temperature: 1e4 K
  column_density: 3e14 cm^-2
  velocity: {profile: linear, max: 300 km/s}
generators:
  - {type: point, photons: 50000, luminosity: 1e42 erg/s, spectrum: {type: continuum, range: [2785 Angstrom, 2815 Angstrom]}}
outputs:
  - {type: spectrum, name: emergent, axis: wavelength, range: [2785 Angstrom, 2815 Angstrom], bins: 150}
output: {path: doublet.h5}
)"},
      {"galaxy",
       "A simulated galaxy on a grid, lit by its stars and by its gas.\n"
       "The grid, which `thor init rays` uses as well, is made by\n"
       "    thor mock galaxy -o snapshot.hdf5\n"
       "    thor grid snapshot.hdf5 --size \"60 kpc\" --cells 128 --sources stars -o galaxy_grid.h5",
       R"(
line: Lya
dataset:
  type: uniform_grid
  path: galaxy_grid.h5
  dust: {law: SMC}
generators:
  - {type: sources, brightness: ionizing_rate, photons: 90000, spectrum: {type: gaussian, sigma: 30 km/s}}
  - {type: gas, emission: collisional, photons: 30000, spectrum: {type: thermal}}
outputs:
  - {type: spectrum, name: emergent, axis: velocity, range: [-800 km/s, 800 km/s], bins: 40}
  - {type: spectrum, name: intrinsic, of: emitted, axis: velocity, range: [-800 km/s, 800 km/s], bins: 40}
  - {type: photons}
output: {path: galaxy.h5}
)"},
      {"rays",
       "Straight rays through a simulated galaxy: maps, a picture of the volume, and absorption spectra.\n"
       "The grid, which `thor init galaxy` uses as well, is made by\n"
       "    thor mock galaxy -o snapshot.hdf5\n"
       "    thor grid snapshot.hdf5 --size \"60 kpc\" --cells 128 --sources stars -o galaxy_grid.h5",
       R"(
driver: raytrace
dataset: {type: uniform_grid, path: galaxy_grid.h5}
cameras:
  - {name: face, type: orthographic, direction: [0, 0, 1], up: [0, 1, 0], width: 60 kpc, pixels: 512}
  - {name: aslant, type: orthographic, direction: [1, 1, 0.7], up: [0, 0, 1], width: 40 kpc, pixels: 512}
operators:
  - {type: projection, name: column, camera: face, field: HI_density}
  - {type: projection, name: warmth, camera: face, field: HI_temperature, weight: HI_density}
  - {type: slice, name: cut, camera: face, field: HI_temperature}
  - {type: render, name: view, camera: aslant, field: density, transfer: {range: [1e-27, 3e-24], map: inferno, opacity: 100}}
  - {type: absorption, name: spectra, line: Lya, sightlines: {random: 100, direction: [0, 0, 1]}, range: [-600 km/s, 600 km/s], bins: 600, beyond: empty}
output: {path: rays.h5}
)"},
  };
  return list;
}

const Template& find_template(const std::string& name) {
  std::vector<std::string> names;
  for (const Template& t : templates()) {
    if (t.name == name) return t;
    names.push_back(t.name);
  }
  throw Error(ExitCode::usage, fmt::format("there is no template \"{}\"{} (known: {})", name,
                                           config::suggestion(name, names), fmt::join(names, ", ")));
}

config::Driver Template::driver() const { return config::parse_document(yaml, name).driver(); }

std::string Template::text(const config::Schema& schema) const {
  return config::annotated(schema, config::read_tree(yaml, name),
                           fmt::format("{}\n\n    thor run {}.yaml\n", title, name));
}

}  // namespace thor
