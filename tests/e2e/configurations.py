"""Configurations that several tests run, as dictionaries (JSON is YAML) or as text."""


def sphere(tau0, photons, *, outputs=None, spectrum=None, source=None, **dataset):
    """A configuration (as JSON, which is YAML): a sphere of 1 kpc around a Lya source at line centre, every scattering."""
    return {
        "driver": "mcrt",
        "line": "Lya",
        "seed": 1,
        "precision": "single",
        "dataset": {"type": "shell", "outer_radius": "1 kpc", "temperature": "1e4 K", "tau0": tau0, **dataset},
        "generators": [
            {
                **(source or {"type": "point"}),
                "photons": photons,
                "luminosity": "1e42 erg/s",
                "spectrum": spectrum or {"type": "delta"},
            }
        ],
        "acceleration": {"core_skip": "none", "jumps": False},
        "outputs": outputs if outputs is not None else [{"type": "photons"}],
        "output": {"path": "out.h5"},
    }


def slab(tau0, photons, **options):
    config = sphere(tau0, photons, **options)
    config["dataset"]["type"] = "slab"
    config["dataset"]["half_thickness"] = config["dataset"].pop("outer_radius")
    return config


MEDIA = {
    "static sphere": sphere(1e3, 600),
    "expanding dusty shell": sphere(
        1e4,
        250,
        inner_radius="0.2 kpc",
        density={"profile": "power_law", "exponent": -2},
        velocity={"profile": "power_law", "exponent": 0.5, "max": "40 km/s"},
        dust={"tau": 0.5},
    ),
    "dusty slab": slab(1e3, 600, dust={"tau": 0.5, "albedo": 0.5, "g": 0.5}),
    "fluorescent wind": {
        **sphere(1e3, 600, b_turb="20 km/s", velocity={"profile": "linear", "max": "100 km/s"}, dust={"tau": 0.1}),
        "line": "CaII",
    },
    "deuterium by other schemes": {
        **sphere(1e3, 150),
        "physics": {"deuterium": 1e-2},
        "numerics": {"voigt": "H82", "u_parallel": "SK20", "generator": "philox4x32", "uniform": "unbiased"},
    },
}

# Thick without core skipping: about 1e9 scatterings, minutes, for each photon.
ENDLESS = sphere(1e9, 100000, outputs=[{"type": "photons"}, {"type": "spectrum", "name": "emergent", "axis": "x",
                                                               "range": [-100, 100], "bins": 100}])

TEMPLATES = ("sphere", "outflow", "shell", "slab", "dusty_slab", "doublet")
TEMPLATES_OF_GRIDS = ("galaxy", "rays")  # which need a file beside them

FULL_SHELL = """
driver: mcrt
line: Lya
seed: 18446744073709551615
precision: double
dataset:
  type: shell
  inner_radius: 0.1 kpc
  outer_radius: 1 kpc
  temperature: 2e4 K
  b_turb: 20 km/s
  column_density: 2e20 cm^-2
  density: {profile: power_law, exponent: -2}
  velocity: {profile: power_law, exponent: 0.5, average: -200 km/s}
  dust: {tau: 0.1, albedo: 0.4, g: 0.5}
  step_limiter: 0.05
generators:
  - type: point
    name: lamp
    position: [0.5 kpc, 0 kpc, -2 pc]
    direction: [0, 1, 0]
    opening_angle: 30 deg
    velocity: [0 km/s, 100 km/s, 0 km/s]
    photons: 2e5
    luminosity: 2 erg/s
    spectrum: {type: gaussian, sigma: 150 km/s, offset: -30 km/s, reference: Lya_D}
  - type: extended
    shape: surface
    radius: 0.5 kpc
    photons: 100
    spectrum: {type: continuum, range: [-2000 km/s, 3000 km/s]}
  - type: extended
    shape: beam
    direction: [3, 0, -4]
    opening_angle: 6 deg
    radius: 2 kpc
    photons: 10
    spectrum:
      type: line_and_continuum
      sigma: 100 km/s
      equivalent_width: 2 Angstrom
      range: [1210 Angstrom, 1220 Angstrom]
  - {type: extended, shape: medium, photons: 5, spectrum: {type: thermal, temperature: 1e4 K}}
acceleration: {core_skip: {fixed: 3}}
physics: {phase_function: dipole, recoil: true, deuterium: 2.5e-5}
numerics: {voigt: H82, u_parallel: S15, core_wing: B25fast, generator: philox4x32, uniform: unbiased}
limits: {max_scatterings: 1e6, max_steps: 2e9}
outputs:
  - {type: spectrum, name: emergent, of: escaped, generator: lamp, axis: x, range: [-30, 30], bins: 240}
  - {type: spectrum, name: v-2, of: emitted, range: [-1000 km/s, 1000 km/s], bins: 10, reference: Lya_D}
  - {type: spectrum, name: l_3, of: absorbed, axis: wavelength, range: [121 nm, 122 nm], bins: 1}
  - {type: spectrum, name: "4", axis: frequency, range: [2.4e15 Hz, 2.5e15 Hz], bins: 2}
  - {type: photons, fields: [scatterings, id]}
output: {path: results/out.h5}
"""

FULL_SLAB = """
line: Lya
dataset:
  type: slab
  half_thickness: 30 au
  temperature: 300 K
  number_density: 1e3 cm^-3
  velocity: {profile: linear, max: 20 km/s}
  dust: {law: LMC, metallicity: 0.5, hydrogen_column: 2e17 cm^-2, ionized_column: 1e20 cm^-2, f_ion: 0.1}
generators:
  - {type: extended, shape: beam, radius: 1 au, photons: 3, spectrum: {type: delta, offset: 10 km/s}}
  - {type: extended, shape: medium, photons: 3}
acceleration: {core_skip: smith15}
physics: {phase_function: isotropic}
numerics: {rejection: squeezed}
outputs:
  - {type: spectrum, name: all, axis: frequency, range: [2.4e15 Hz, 2.5e15 Hz], bins: 1e3}
  - {type: photons}
output: {path: slab.h5}
"""


def wide_spectra(count, bins=10_000_000):
    return [{"type": "spectrum", "name": f"s{i}", "axis": "x", "range": [-10, 10], "bins": bins} for i in range(count)]
