#include "thor/drivers/mcrt/config.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"
#include "thor/drivers/mcrt/kernels.hpp"

namespace thor::config {
namespace {

const std::string minimal = R"(line: Lya
dataset:
  type: shell
  outer_radius: 1 kpc
  temperature: 2e4 K
  tau0: 1e6
generators:
  - {type: point, photons: 1000}
output: {path: out.h5}
)";

const std::string full = R"(driver: mcrt
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
  dust: {tau: 0.1}
  step_limiter: 0.05
generators:
  - type: point
    position: [0.5 kpc, 0 kpc, -2 pc]
    velocity: [0 km/s, 100 km/s, 0 km/s]
    photons: 2e5
    luminosity: 1e42 erg/s
    spectrum: {type: gaussian, sigma: 150 km/s, offset: -30 km/s, reference: Lya_D}
  - type: extended
    shape: surface
    radius: 0.5 kpc
    photons: 4611686018427387904
    spectrum: {type: continuum, range: [-2000 km/s, 3000 km/s]}
  - type: extended
    shape: beam
    direction: [3, 0, -4]
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
numerics: {voigt: S18, u_parallel: S15, core_wing: B25, generator: philox4x32, uniform: unbiased}
limits: {max_scatterings: 1e6, max_steps: 2e9}
outputs:
  - {type: spectrum, name: emergent, of: escaped, axis: x, range: [-30, 30], bins: 240}
  - {type: spectrum, name: v-2, of: emitted, range: [-1000 km/s, 1000 km/s], bins: 10, reference: Lya_D}
  - {type: spectrum, name: l_3, of: absorbed, axis: wavelength, range: [121 nm, 122 nm], bins: 1}
  - {type: spectrum, name: "4", axis: frequency, range: [2.4e15 Hz, 2.5e15 Hz], bins: 2}
  - {type: photons, fields: [scatterings, id]}
  - type: histogram
    name: map
    of: stopped
    axes:
      - {quantity: velocity, range: [-1000 km/s, 1000 km/s], bins: 10}
      - {quantity: scatterings, range: [1, 1e6], bins: 6, spacing: log}
    centre: [1 pc, 0 pc, 0 pc]
    reference: Lya_D
output: {path: results/out.h5}
)";

std::string edited(const std::string& from, const std::string& to, std::string text = minimal) {
  const auto at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("the test's text has no " + from);
  return text.replace(at, from.size(), to);
}

std::string failure(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    parse(text, "f.yaml", overrides);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "accepted";
}

void expect_failure(const std::string& message, const std::string& text,
                    const std::vector<std::string>& overrides = {}) {
  const std::string what = failure(text, overrides);
  EXPECT_NE(what.find(message), std::string::npos) << "expected: " << message << "\ngot: " << what;
}

TEST(Config, Defaults) {
  const Config config = parse(minimal, "f.yaml");
  EXPECT_EQ(config.path, "f.yaml");
  EXPECT_EQ(config.driver, Driver::mcrt);
  EXPECT_EQ(config.line, "Lya");
  EXPECT_EQ(config.seed, 1u);
  EXPECT_EQ(config.precision, Precision::single_);
  EXPECT_EQ(config.dataset.type, "shell");
  EXPECT_EQ(config.dataset.inner_radius, 0);
  EXPECT_DOUBLE_EQ(config.dataset.outer_radius, 1e3 * constants::pc);
  EXPECT_EQ(config.dataset.temperature, 2e4);
  EXPECT_EQ(config.dataset.b_turb, 0);
  EXPECT_EQ(config.dataset.tau0, 1e6);
  EXPECT_FALSE(config.dataset.column_density || config.dataset.number_density);
  EXPECT_EQ(config.dataset.density, Density{});
  EXPECT_EQ(config.dataset.velocity, Velocity{});
  EXPECT_FALSE(config.dataset.dust);
  EXPECT_EQ(config.dataset.step_limiter, 0.05);
  ASSERT_EQ(config.generators.size(), 1u);
  Generator point;
  point.photons = 1000;
  point.luminosity = 1;
  point.name = "0", point.direction = {0, 0, 1}, point.opening_angle = constants::pi;
  EXPECT_EQ(config.generators[0], point);
  EXPECT_EQ(config.acceleration.core_skip, CoreSkip{});
  EXPECT_EQ(config.physics, Physics{});
  EXPECT_EQ(config.numerics, Numerics{});
  EXPECT_EQ(config.line_list, "");
  EXPECT_EQ(config.limits, (Limits{2'000'000'000, 2'000'000'000}));
  EXPECT_TRUE(config.outputs.empty());
  EXPECT_FALSE(config.photons);
  EXPECT_EQ(config.output_path, "out.h5");
  EXPECT_EQ(config.tally, KeepTally::automatic);
  EXPECT_FALSE(config.until);
}

TEST(Config, OutputsWithoutErrorsTakeLess) {
  const auto outputs = [](const char* errors) {
    return parse(minimal, "f.yaml",
                 {fmt::format("outputs=[{{type: spectrum, name: s, axis: x, range: [0, 1], bins: 1e6, errors: {}}}]",
                              errors)})
        .outputs;
  };
  EXPECT_NEAR(memory_of(outputs("histories"), false), 56e6, 1e4) << "four cells, and light, error and VOV at the end";
  EXPECT_NEAR(memory_of(outputs("none"), false), 16e6, 1e4) << "one cell and light";
  EXPECT_NEAR(bytes_in_file(outputs("histories")), 28e6, 1e4);
  EXPECT_NEAR(bytes_in_file(outputs("none")), 12e6, 1e4);
}

TEST(Config, Until) {
  const std::string spectrum = "outputs=[{type: spectrum, name: emergent, axis: x, range: [0, 1], bins: 1}]";
  const Config config = parse(minimal, "f.yaml", {spectrum, "until={output: emergent, error: 2%}"});
  EXPECT_EQ(config.until, (thor::config::Until{"emergent", ErrorOf::peak, 0.02, 1'000'000'000, {}}));
  const Config every =
      parse(minimal, "f.yaml",
            {spectrum, "until={output: emergent, error: 0.5, of: bin-median, max_photons: 1e8, max_time: 1.5 h}"});
  EXPECT_EQ(every.until, (thor::config::Until{"emergent", ErrorOf::bin_median, 0.5, 100'000'000, 5400}));
  EXPECT_EQ(parse(every.resolved, "f.yaml").until, every.until);
  expect_failure("until.output: there is no binned output of this name; did you mean \"emergent\"?", minimal,
                 {spectrum, "until={output: emergnt, error: 2%}"});
  expect_failure("until.output: there is no binned output: list one", minimal, {"until={output: a, error: 2%}"});
  expect_failure("until: not possible with raw photons", minimal,
                 {"outputs=[{type: photons}, {type: spectrum, name: a, axis: x, range: [0, 1], bins: 1}]",
                  "until={output: a, error: 2%}"});
}

TEST(Config, EveryKey) {
  const Config config = parse(full, "some/where/f.yaml");
  EXPECT_EQ(config.seed, 18446744073709551615u);
  EXPECT_EQ(config.precision, Precision::double_);
  const Dataset& gas = config.dataset;
  EXPECT_DOUBLE_EQ(gas.inner_radius, 100 * constants::pc);
  EXPECT_EQ(gas.b_turb, 2e6);
  EXPECT_EQ(gas.column_density, 2e20);
  EXPECT_FALSE(gas.tau0);
  EXPECT_EQ(gas.density, (Density{DensityProfile::power_law, -2}));
  EXPECT_EQ(gas.velocity, (Velocity{VelocityProfile::power_law, 0.5, {}, -2e7}));
  ASSERT_TRUE(gas.dust);
  EXPECT_EQ(gas.dust->tau, 0.1);
  EXPECT_FALSE(gas.dust->law);
  EXPECT_EQ(gas.dust->albedo, 0.32);
  EXPECT_EQ(gas.dust->g, 0.73);
  EXPECT_EQ(gas.step_limiter, 0.05);

  ASSERT_EQ(config.generators.size(), 4u);
  const Generator& point = config.generators[0];
  EXPECT_DOUBLE_EQ(point.position[0], 500 * constants::pc);
  EXPECT_DOUBLE_EQ(point.position[2], -2 * constants::pc);
  EXPECT_EQ(point.velocity, (std::array<double, 3>{0, 1e7, 0}));
  EXPECT_EQ(point.photons, 200000u);
  EXPECT_EQ(point.luminosity, 1e42);
  EXPECT_EQ(point.spectrum.type, SpectrumType::gaussian);
  EXPECT_EQ(point.spectrum.sigma, 1.5e7);
  EXPECT_EQ(point.spectrum.offset, -3e6);
  EXPECT_EQ(point.spectrum.reference, "Lya_D");
  const Generator& surface = config.generators[1];
  EXPECT_EQ(surface.type, GeneratorType::extended);
  EXPECT_EQ(surface.shape, SourceShape::surface);
  EXPECT_DOUBLE_EQ(surface.radius, 500 * constants::pc);
  EXPECT_EQ(surface.photons, std::uint64_t{1} << 62);
  EXPECT_EQ(surface.spectrum.range, (SpectralRange{-2e8, 3e8, true}));
  const Generator& beam = config.generators[2];
  EXPECT_EQ(beam.shape, SourceShape::beam);
  EXPECT_DOUBLE_EQ(beam.direction[0], 0.6);
  EXPECT_DOUBLE_EQ(beam.direction[2], -0.8);
  EXPECT_EQ(beam.spectrum.type, SpectrumType::line_and_continuum);
  EXPECT_EQ(beam.spectrum.equivalent_width, 2e-8);
  EXPECT_FALSE(beam.spectrum.range.is_velocity);
  EXPECT_DOUBLE_EQ(beam.spectrum.range.high, 1.22e-5);
  EXPECT_EQ(config.generators[3].shape, SourceShape::medium);
  EXPECT_EQ(config.generators[3].spectrum.temperature, 1e4);

  EXPECT_EQ(config.acceleration.core_skip, (CoreSkip{CoreSkipMode::fixed, 3}));
  EXPECT_EQ(config.physics, (Physics{PhaseFunction::dipole, true, 2.5e-5}));
  EXPECT_EQ(config.numerics, (Numerics{VoigtScheme::s18, ParallelScheme::s15, CoreWingScheme::b25,
                                       RandomGenerator::philox, Uniforms::unbiased, Rejection::full}));
  EXPECT_EQ(config.limits, (Limits{1'000'000, 2'000'000'000}));
  ASSERT_EQ(config.outputs.size(), 5u);
  const auto spectrum = [&](std::size_t i) { return std::get<SpectrumOutput>(config.outputs[i]); };
  EXPECT_EQ(spectrum(0), (SpectrumOutput{"emergent", Fate::escaped, Axis::x, -30, 30, 240}));
  EXPECT_EQ(spectrum(1), (SpectrumOutput{"v-2", Fate::emitted, Axis::velocity, -1e8, 1e8, 10, "Lya_D"}));
  EXPECT_EQ(spectrum(2).axis, Axis::wavelength);
  EXPECT_EQ(spectrum(2).of, Fate::absorbed);
  EXPECT_EQ(spectrum(3).high, 2.5e15);
  EXPECT_EQ(
      std::get<HistogramOutput>(config.outputs[4]),
      (HistogramOutput{"map",
                       Fate::stopped,
                       {{PhotonProperty::velocity, -1e8, 1e8, 10}, {PhotonProperty::scatterings, 1, 1e6, 6, true}},
                       {3.0856775814913673e18, 0, 0},
                       "Lya_D"}));
  ASSERT_TRUE(config.photons);
  EXPECT_EQ(config.photons->fields, (std::vector<PhotonField>{PhotonField::scatterings, PhotonField::id}));
  EXPECT_EQ(config.output_path, "some/where/results/out.h5");
}

TEST(Config, Variants) {
  EXPECT_EQ(parse(edited("type: shell\n  outer_radius", "type: slab\n  half_thickness"), "f").dataset.type, "slab");
  const auto with = [](const std::string& set) { return parse(minimal, "f", {set}); };
  EXPECT_EQ(with("dataset.velocity={profile: linear, max: 200 km/s}").dataset.velocity,
            (Velocity{VelocityProfile::linear, 0, 2e7, {}}));
  EXPECT_EQ(with("dataset.velocity={profile: linear, average: 200 km/s}").dataset.velocity,
            (Velocity{VelocityProfile::linear, 0, {}, 2e7}));
  EXPECT_EQ(with("acceleration.core_skip=smith15").acceleration.core_skip.mode, CoreSkipMode::local);
  EXPECT_EQ(with("acceleration.core_skip=local").acceleration.core_skip.mode, CoreSkipMode::local);
  EXPECT_EQ(with("acceleration.core_skip=global").acceleration.core_skip.mode, CoreSkipMode::global);
  EXPECT_EQ(with("physics.phase_function=isotropic").physics.phase_function, PhaseFunction::isotropic);
  EXPECT_EQ(with("numerics.generator=sfc32").numerics.generator, RandomGenerator::sfc);
  EXPECT_EQ(with("numerics.rejection=squeezed").numerics.rejection, Rejection::squeezed);
  EXPECT_EQ(with("line=MgII").line, "MgII");
  const Dust dust = *with("dataset.dust={law: LMC, metallicity: 0.5, ionized_column: 1e20 cm^-2}").dataset.dust;
  EXPECT_FALSE(dust.tau);
  EXPECT_EQ(dust.law, DustLaw::lmc);
  EXPECT_EQ(dust.metallicity, 0.5);
  EXPECT_FALSE(dust.hydrogen_column);
  EXPECT_EQ(dust.ionized_column, 1e20);
  EXPECT_EQ(dust.f_ion, 0.01);
  EXPECT_EQ(with("generators.0.spectrum={type: lorentzian, hwhm: 2 km/s}").generators[0].spectrum.hwhm, 2e5);
  EXPECT_FALSE(with("generators.0.spectrum={type: lorentzian}").generators[0].spectrum.hwhm);
  const Generator stars = with("generators.0={type: sources, photons: 1, path: /s.txt, frame: source}").generators[0];
  EXPECT_EQ(stars.frame, RestFrame::source);
  EXPECT_EQ(with("generators.0={type: sources, photons: 1, path: /s.txt}").generators[0].frame, RestFrame::gas);
  EXPECT_EQ(with("outputs=[]").outputs.size(), 0u);
  EXPECT_EQ(with("outputs=[{type: photons}]").photons->fields.size(), 12u);
  EXPECT_EQ(with("output.path=/tmp/x.h5").output_path, "/tmp/x.h5");
  EXPECT_EQ(with("output.path=/tmp/x.zarr").output_path, "/tmp/x.zarr");
  EXPECT_EQ(parse(minimal, "/a/b.yaml").output_path, "/a/out.h5");
}

TEST(Config, ResolvedParsesToTheSame) {
  const std::string odd = edited("path: out.h5", "path: \"a: #{b}, 'c' \\\\ \\t d.h5\"");
  const std::string beam = "generators.0={type: extended, shape: beam, radius: 1 pc, photons: 1}";
  for (const Config& config :
       {parse(minimal, "x/f.yaml"), parse(full, "x/f.yaml"), parse(odd, "f.yaml"),
        parse(minimal, "f.yaml", {beam, "dataset.dust.tau=0", "acceleration.core_skip=smith15"}),
        parse(minimal, "f.yaml",
              {"dataset.dust={law: SMC, metallicity: 1, hydrogen_column: 1e20 cm^-2}", "line=SiII_1190",
               "outputs=[{type: spectrum, name: s, range: [0 km/s, 1 km/s], bins: 1, reference: SiII_1197}]"})}) {
    SCOPED_TRACE(config.resolved);
    EXPECT_EQ(parse(config.resolved, config.path), config);
  }
}

/// Angles are lengths at the distance of the sky: astropy has 1770.79275046 Mpc at z = 2.
TEST(Config, AnglesAreLengthsOnASky) {
  const std::vector<std::string> look{
      "observers=[{name: face, direction: [0, 0, 1]}]",
      "outputs=[{type: image, name: i, observer: face, width: 2 arcsec, pixels: 4, psf: {fwhm: 0.5 arcsec}}, "
      "{type: spectrum, name: s, observer: face, aperture: {radius: 1 arcmin, inner: 1 kpc}, lsf: {fwhm: 50 km/s}, "
      "axis: "
      "x, range: [0, 1], bins: 1}, {type: profile, name: p, observer: face, radius: 10 kpc, inner: 0.01 arcsec, bins: "
      "3, "
      "spacing: log, estimator: escaped, within: 60 deg}]"};
  const auto with = [&](const std::string& sky) {
    std::vector<std::string> set = look;
    set.push_back("sky=" + sky);
    return parse(minimal, "f.yaml", set);
  };
  const Config far = with("{redshift: 2}");
  const double kpc = 1e3 * constants::pc, scale = 1770.79275046 * 1e3 * constants::pi / 648000 * kpc;
  const auto& image = std::get<ImageOutput>(far.outputs[0]);
  EXPECT_NEAR(image.width / (2 * scale), 1, 1e-6);
  EXPECT_NEAR(image.sight.psf->fwhm / (0.5 * scale), 1, 1e-6);
  const auto& spectrum = std::get<SpectrumOutput>(far.outputs[1]);
  EXPECT_NEAR(spectrum.aperture->radius / (60 * scale), 1, 1e-6);
  EXPECT_DOUBLE_EQ(spectrum.aperture->inner, kpc);
  EXPECT_EQ(spectrum.sight.lsf->fwhm, 5e6);
  const auto& profile = std::get<ProfileOutput>(far.outputs[2]);
  EXPECT_NEAR(profile.inner / (0.01 * scale), 1, 1e-6);
  EXPECT_EQ(profile.sight.estimator, Estimator::escaped);
  EXPECT_DOUBLE_EQ(profile.sight.within, constants::pi / 3);
  EXPECT_EQ(parse(far.resolved, "f.yaml"), far);
  const Config near = with("{distance: 10 Mpc}");
  EXPECT_NEAR(std::get<ImageOutput>(near.outputs[0]).width / (2 * constants::pi / 648000 * 1e4 * kpc), 1, 1e-12);
  const Config other = with("{redshift: 2, hubble: 0.7, omega_m: 0.3}");
  EXPECT_LT(std::get<ImageOutput>(other.outputs[0]).width, 0.99 * image.width);
  expect_failure("outputs.0.width: \"2 arcsec\" is an angle, which is a length at a distance only: add `sky: ", minimal,
                 look);
}

/// An output of a set is one for each member; observers that rays go to come first.
TEST(Config, SetsOfObserversHaveMembers) {
  const Config config =
      parse(minimal, "f.yaml",
            {"observers=[{name: lone, direction: [1, 0, 0]}, {name: hp, healpix: 1}, {name: any, random: 3}]",
             "outputs=[{type: image, name: i, observer: any, width: 2 kpc, pixels: 4}, {type: spectrum, name: s, "
             "observer: hp, "
             "estimator: escaped, axis: x, range: [0, 1], bins: 1}, {type: spectrum, name: one, observer: hp.3, axis: "
             "x, range: "
             "[0, 1], bins: 1}]"});
  ASSERT_EQ(config.outputs.size(), 16u);
  EXPECT_EQ(std::get<ImageOutput>(config.outputs[2]).name, "i.2");
  EXPECT_EQ(std::get<ImageOutput>(config.outputs[2]).sight.observer, "any.2");
  EXPECT_EQ(std::get<SpectrumOutput>(config.outputs[14]).sight.observer, "hp.11");
  ASSERT_EQ(config.observers.size(), 16u);
  EXPECT_EQ(config.observers[0].name, "hp.3");
  EXPECT_EQ(config.observers[1].name, "any.0");
  EXPECT_EQ(config.observers[4].name, "lone");
  EXPECT_EQ(build_observers(config, {}).towards.size(), 4u) << "no rays to those whom escaped photons show all";
  EXPECT_EQ(parse(config.resolved, "f.yaml"), config);
  EXPECT_NE(parse(minimal, "f.yaml", {"observers=[{name: any, random: 3}]", "seed=2"}).observers,
            parse(minimal, "f.yaml", {"observers=[{name: any, random: 3}]", "seed=3"}).observers);
}

TEST(Config, JumpsAreTheDefaultUnlessCoreSkipIsGiven) {
  const auto jumps = [](const std::vector<std::string>& set) { return parse(minimal, "f", set).acceleration.jumps; };
  EXPECT_TRUE(jumps({}));
  EXPECT_FALSE(jumps({"acceleration.core_skip=none"}));
  EXPECT_FALSE(jumps({"acceleration.core_skip=local"}));
  EXPECT_FALSE(jumps({"acceleration.jumps=false"}));
  EXPECT_TRUE(jumps({"acceleration={core_skip: none, jumps: true}"}));
  EXPECT_THROW(jumps({"acceleration={core_skip: local, jumps: true}"}), Error);
  // What was resolved can be changed by either key.
  const std::string resolved = parse(minimal, "f").resolved;
  EXPECT_FALSE(parse(resolved, "f", {"acceleration.jumps=false"}).acceleration.jumps);
  EXPECT_THROW(parse(resolved, "f", {"acceleration.core_skip=local"}), Error);
}

TEST(Config, ResolvedHasEveryDefaultInOrder) {
  EXPECT_EQ(parse(minimal, "f.yaml").resolved, R"(driver: mcrt
line: Lya
line_list: ""
seed: 1
precision: single
dataset:
  type: shell
  inner_radius: 0 cm
  outer_radius: 1 kpc
  density:
    profile: homogeneous
  cells: 0
  temperature: 2e4 K
  b_turb: 0 km/s
  tau0: 1e6
  velocity:
    profile: static
  step_limiter: 0.05
generators:
  - type: point
    name: ""
    position: [0 kpc, 0 kpc, 0 kpc]
    direction: [0, 0, 1]
    opening_angle: 180 deg
    velocity: [0 km/s, 0 km/s, 0 km/s]
    photons: 1000
    luminosity: 1 erg/s
    escape_fraction: 1
    spectrum:
      type: delta
      offset: 0 km/s
      reference: ""
acceleration:
  jumps: true
  jump_depth: 1e30
  jump_shear: 0.01
  jump_gradient: 0.1
  jump_tables: ""
physics:
  phase_function: default
  recoil: false
  deuterium: 0
numerics:
  voigt: default
  u_parallel: thor
  generator: xoshiro128++
  uniform: fixed
  rejection: full
limits:
  max_scatterings: 2000000000
  max_steps: 2000000000
observers: []
peel:
  cut: 30
  roulette: 3
  thin: 8
  thin_after: 262144
  memory: 2 GB
outputs: []
output:
  path: out.h5
  tally: auto
)");
}

TEST(Config, OverridesSetAddAndReplace) {
  const Config config = parse(full, "f.yaml",
                              {"seed=7", "generators.0.photons=10", "generators.1.spectrum.range.0=-1000 km/s",
                               "dataset.dust.albedo=0.5", "acceleration.core_skip=none", "seed=8"});
  EXPECT_EQ(config.seed, 8u);
  EXPECT_EQ(config.generators[0].photons, 10u);
  EXPECT_EQ(config.generators[1].spectrum.range.low, -1e8);
  EXPECT_EQ(config.dataset.dust->albedo, 0.5);
  EXPECT_EQ(config.acceleration.core_skip, CoreSkip{});
}

TEST(Config, AnOverrideLeavesAliasesAlone) {
  const std::string text = edited("- {type: point, photons: 1000}", "- &a {type: point, photons: 1000}\n  - *a");
  const Config config = parse(text, "f.yaml", {"generators.1.photons=5"});
  EXPECT_EQ(config.generators[0].photons, 1000u);
  EXPECT_EQ(config.generators[1].photons, 5u);
}

TEST(Config, ErrorsNameThePlaceTheKeyAndTheNearest) {
  EXPECT_EQ(failure(minimal + "sed: 3\n"),
            "f.yaml:10:1: sed: unknown key; did you mean \"seed\"? (known keys: sky, driver, line, "
            "line_list, seed, precision, dataset, generators, acceleration, physics, numerics, limits, observers, "
            "peel, outputs, until, output)");
  expect_failure("f.yaml:7:3: dataset.velocty: unknown key; did you mean \"velocity\"?",
                 edited("tau0: 1e6", "tau0: 1e6\n  velocty: {profile: static}"));
  expect_failure("f.yaml:8:19: generators.0.photon: unknown key; did you mean \"photons\"?",
                 edited("photons", "photon"));
  expect_failure("f.yaml:8:5: generators.0.photons: missing; expected a whole number from 1 to",
                 edited("photons", "photon"));
  expect_failure(
      "f.yaml:3:9: dataset.type: expected one of shell, slab, uniform_grid, octree, voronoi, cube, got \"shel\"; did "
      "you "
      "mean \"shell\"?",
      edited("shell", "shel"));
  expect_failure(
      "f.yaml:5:16: dataset.temperature: expected a temperature such as \"2e4 K\" "
      "(units: K), got \"2e4\": no unit",
      edited("2e4 K", "2e4"));
  expect_failure("f.yaml:5:16: dataset.temperature: must be > 0 K, got \"-1 K\"", edited("2e4 K", "-1 K"));
  expect_failure("f.yaml:7:3: dataset.tau0: repeated key (first at f.yaml:6:3)",
                 edited("tau0: 1e6", "tau0: 1e6\n  tau0: 1e7"));
  expect_failure(
      "f.yaml:3:3: dataset: expected exactly one of tau0, column_density, "
      "number_density; got none",
      edited("  tau0: 1e6\n", ""));
  expect_failure("number_density; got tau0, number_density",
                 edited("tau0: 1e6", "tau0: 1e6\n  number_density: 1 cm^-3"));
  expect_failure("f.yaml:6:3: dataset.half_thickness: unknown key here; it belongs to type: slab",
                 edited("tau0: 1e6", "half_thickness: 1 pc\n  tau0: 1e6"));
  expect_failure("dataset.outer_radius: unknown key here; it belongs to type: shell",
                 edited("type: shell", "type: slab\n  half_thickness: 1 pc"));
  expect_failure("f.yaml:8:36: generators.0.position.1: expected a length such as",
                 edited("photons: 1000", "position: [0 pc, 1, 2 K], photons: 1000"));
  expect_failure(
      "f.yaml:1:7: line: expected a line of `thor lines` or of line_list, got \"MgI\"; did you mean \"MgII\"? (lines: "
      "Lya, MgII, ",
      edited("Lya", "MgI"));
}

TEST(Config, FusingHasTwoLimitsWithUnits) {
  const auto with_fuse = [](const std::string& fuse) { return minimal + "peel: {fuse: " + fuse + "}\n"; };
  EXPECT_FALSE(parse(minimal, "f.yaml").peel.fuse);
  const Config config = parse(with_fuse("{velocity: 2.5 km/s, distance: 1 pc}"), "f.yaml");
  ASSERT_TRUE(config.peel.fuse);
  EXPECT_DOUBLE_EQ(config.peel.fuse->velocity, 2.5e5);
  EXPECT_NEAR(config.peel.fuse->distance, 3.0857e18, 1e15);
  EXPECT_EQ(parse(config.resolved, "f.yaml"), config);
  MediumOutline medium{};
  medium.thermal_speed = 1e6, medium.size = 3.0856775814913673e21;
  const FuseRules rules = build_observers(config, medium).fuse;
  EXPECT_DOUBLE_EQ(rules.velocity, 0.25);
  EXPECT_NEAR(rules.distance, 1e-3, 1e-12);
  expect_failure("peel.fuse.distance: missing", with_fuse("{velocity: 2.5 km/s}"));
  expect_failure("peel.fuse.velocity: missing", with_fuse("{distance: 1 pc}"));
  expect_failure("peel.fuse.velocity: expected a velocity such as", with_fuse("{velocity: 2.5, distance: 1 pc}"));
  expect_failure("peel.fuse.distance: expected a length such as", with_fuse("{velocity: 1 km/s, distance: 1 km/s}"));
  for (const char* value : {"0", "-1"}) {
    expect_failure("peel.fuse.velocity: must be > 0",
                   with_fuse(fmt::format("{{velocity: {} km/s, distance: 1 pc}}", value)));
    expect_failure("peel.fuse.distance: must be > 0",
                   with_fuse(fmt::format("{{velocity: 1 km/s, distance: {} pc}}", value)));
  }
  for (const char* value : {".nan", "nan", ".inf"}) {
    expect_failure("peel.fuse.distance:", with_fuse(fmt::format("{{velocity: 1 km/s, distance: {} pc}}", value)));
  }
  const std::string seen = "outputs: [{type: image, name: i, observer: s, width: 2 kpc, pixels: 4}]\n";
  const auto with_set = [&](int n) {
    return with_fuse("{velocity: 1 km/s, distance: 1 pc}") + seen +
           fmt::format("observers: [{{name: s, random: {}}}]\n", n);
  };
  EXPECT_EQ(parse(with_set(16), "f.yaml").observers.size(), 16u);
  expect_failure("peel.fuse: possible for at most 16 observers; there are 17", with_set(17));
}

TEST(Config, AllErrorsAtOnce) {
  const std::string what = failure(edited("2e4 K", "2e4", edited("1 kpc", "-1 kpc", edited("Lya", "LyB"))) + "x: 1\n");
  EXPECT_EQ(std::count(what.begin(), what.end(), '\n'), 3);
  for (const char* key : {" line:", " dataset.outer_radius:", " dataset.temperature:", " x:"}) {
    EXPECT_NE(what.find(key), std::string::npos) << what;
  }
}

TEST(Config, WhatTheLineRefuses) {
  const auto expect = [](const std::vector<std::string>& set, const std::string& message) {
    expect_failure(message, minimal, set);
  };
  expect({"line=MgII", "physics.deuterium=2.5e-5"}, "physics.deuterium: line MgII has no transition of deuterium");
  expect({"line=SiII_1190", "acceleration.core_skip=global"},
         "acceleration.core_skip: skips scatterings, each of which could end in fluorescence of SiII_1190: set it to "
         "none for line SiII_1190");
  EXPECT_NO_THROW(parse(minimal, "f", {"line=MgII", "acceleration.core_skip=global"}));
  expect({"line=MgII", "generators.0.spectrum.reference=MgII_2800"},
         "generators.0.spectrum.reference: line MgII has no transition \"MgII_2800\"; did you mean");
  expect({"line=MgII",
          "outputs=[{type: spectrum, name: s, axis: x, range: [0, 1], bins: 1}, "
          "{type: spectrum, name: t, axis: x, range: [0, 1], bins: 1, reference: MgI_2803}]"},
         "outputs.1.reference: line MgII has no transition \"MgI_2803\"; did you mean \"MgII_2803\"? (transitions: "
         "MgII_2796, MgII_2803)");
  expect({"line=MgII", "dataset.dust={law: SMC, metallicity: 1}"},
         "dataset.dust.hydrogen_column: missing: the gas of line MgII is not hydrogen");
  // a = 0.015 for Lya at 10 K; 18 for O VII at 1 K, more than any profile here supports.
  EXPECT_NO_THROW(parse(minimal, "f", {"dataset.temperature=10 K", "numerics.voigt=H82"}));
  expect({"line=OVII", "dataset.temperature=1 K"},
         "dataset.temperature: the Voigt parameter is a = 17.7; expected at most 1");
}

TEST(Config, OverrideErrorsNameTheOverride) {
  const auto expect = [](const std::string& set, const std::string& message) {
    expect_failure("--set " + set + ": " + message, minimal, {set});
  };
  expect("dataset.velocty=3", "dataset.velocty: unknown key; did you mean \"velocity\"?");
  expect("dataset.temperature=10", "dataset.temperature: expected a temperature");
  expect("dataset.velocity.profile=linear", "dataset.velocity: expected exactly one of max");
  expect("dataset.dust={tau: 1, albedo: 2}", "dataset.dust.albedo: must be >= 0 and <= 1");
  expect("physics.recoil=maybe", "physics.recoil: expected one of true, false");
  expect("generators.1.photons=3", "generators is a list of 1 and has no element \"1\"");
  expect("generators.x=3", "generators is a list of 1 and has no element \"x\"");
  expect("line.name=3", "line is a single value and has no key \"name\"");
  expect("seed", "expected a.b=value");
  expect("=3", "expected a.b=value");
  expect("dataset..tau0=3", "expected a.b=value");
  expect("seed=[1", "a key must be a plain word (is a bracket left open?)");
  expect("seed=", "seed: expected a whole number from 0 to 18446744073709551615, got nothing");
}

TEST(Config, NotYaml) {
  expect_failure("f.yaml:3:2: not valid YAML", "line: Lya\nseed: [1, 2\nx: }");
  expect_failure("f.yaml: expected a map of keys", "");
  expect_failure("f.yaml: expected a map of keys", "# nothing\n");
  expect_failure("f.yaml: expected a map of keys", "- a\n- b\n");
  expect_failure("f.yaml: expected a map of keys", "hello");
  expect_failure("a second YAML document", minimal + "---\n" + minimal);
  expect_failure("f.yaml:1:3: a key must be a plain word", "? [a, b]\n: c\n");
  expect_failure("f.yaml:1:52: nested too deeply", std::string(60, '[') + std::string(60, ']'));
  expect_failure("is a bracket left open?", std::string(2000, '['));
  expect_failure("f.yaml:1:8: alias refers to a value that contains it", "a: &a [*a]\n");
  expect_failure("f.yaml:1:1: not valid YAML", ",");
  expect_failure("not valid YAML", "{:");
  std::string laughs = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 40; ++i) {
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + ", *a" +
              std::to_string(i - 1) + "]\n";
  }
  expect_failure("too many values", laughs);
}

struct Broken {
  const char* key;    ///< must be named in the error
  const char* value;  ///< as an override
};

TEST(Config, BrokenValues) {
  const Broken table[] = {
      {"driver", "raytrace"},
      {"line", "lya"},
      {"line", ""},
      {"line", "[Lya]"},
      {"line_list", "[a]"},
      {"seed", "-1"},
      {"seed", "1.5"},
      {"seed", "18446744073709551616"},
      {"seed", "one"},
      {"seed", "nan"},
      {"precision", "half"},
      {"dataset", "shell"},
      {"dataset", ""},
      {"dataset", "[1]"},
      {"dataset.type", "pyramid"},
      {"dataset.type", "[shell]"},
      {"dataset.inner_radius", "1 kpc"},
      {"dataset.inner_radius", "-1 kpc"},
      {"dataset.outer_radius", "0 kpc"},
      {"dataset.outer_radius", "1 km/s"},
      {"dataset.outer_radius", "inf kpc"},
      {"dataset.outer_radius", "{a: 1}"},
      {"dataset.temperature", "0 K"},
      {"dataset.temperature", "nan K"},
      {"dataset.b_turb", "-1 km/s"},
      {"dataset.b_turb", "3e5 km/s"},
      {"dataset.tau0", "0"},
      {"dataset.tau0", "inf"},
      {"dataset.tau0", "1e400"},
      {"dataset.tau0", "1e6 cm"},
      {"dataset", "{type: slab, half_thickness: 0 pc, temperature: 1 K, tau0: 1}"},
      {"dataset.density", "{profile: power_law}"},
      {"dataset.density", "{exponent: 2}"},
      {"dataset.density", "homogeneous"},
      {"dataset.velocity", "{profile: linear}"},
      {"dataset.velocity", "{profile: linear, max: 1 km/s, average: 1 km/s}"},
      {"dataset.velocity", "{profile: linear, max: 1 km/s, exponent: 1}"},
      {"dataset.velocity", "{profile: power_law, max: 1 km/s}"},
      {"dataset.velocity", "{profile: static, max: 1 km/s}"},
      {"dataset.velocity", "{profile: linear, max: 4e5 km/s}"},
      {"dataset.dust", "{albedo: 0.3}"},
      {"dataset.dust", "{tau: -0.1}"},
      {"dataset.dust", "{tau: 1, law: SMC, metallicity: 1}"},
      {"dataset.dust", "{tau: 1, metallicity: 1}"},
      {"dataset.dust", "{law: MW, metallicity: 1}"},
      {"dataset.dust", "{law: SMC}"},
      {"dataset.dust", "{law: SMC, metallicity: -1}"},
      {"dataset.dust", "{law: SMC, metallicity: 1, hydrogen_column: 1e20}"},
      {"dataset.dust", "{law: SMC, metallicity: 1, f_ion: 1.1}"},
      {"dataset.dust", "{tau: 1, albedo: 1.1}"},
      {"dataset.dust", "{tau: 1, g: 1}"},
      {"dataset.dust", "{tau: 1, g: -1}"},
      {"dataset.dust", ""},
      {"dataset.step_limiter", "0"},
      {"dataset.step_limiter", "1.01"},
      {"generators", "[]"},
      {"generators", "{type: point}"},
      {"generators", "[point]"},
      {"generators.0.type", "sphere"},
      {"generators.0.shape", "medium"},
      {"generators.0.position", "[0 pc, 0 pc]"},
      {"generators.0.position", "[0 pc, 0 pc, 0]"},
      {"generators.0.position", "0 pc"},
      {"generators.0.position", "[[0 pc], 0 pc, 0 pc]"},
      {"generators.0.velocity", "[0 pc, 0 pc, 0 pc]"},
      {"generators.0.velocity", "[4e4 km/s, 0 km/s, 0 km/s]"},
      {"generators.0.velocity", "[2e4 km/s, -2e4 km/s, 2e4 km/s]"},
      {"generators.0.photons", "0"},
      {"generators.0.photons", "10.5"},
      {"generators.0.photons", "4611686018427387905"},
      {"generators.0.photons", "1e19"},
      {"generators.0.photons", "10 K"},
      {"generators.0.luminosity", "0 erg/s"},
      {"generators.0.luminosity", "1 W"},
      {"generators.0", "{type: extended, photons: 1}"},
      {"generators.0", "{type: extended, shape: cube, photons: 1}"},
      {"generators.0", "{type: extended, shape: surface, photons: 1}"},
      {"generators.0", "{type: extended, shape: surface, photons: 1, radius: 0 pc}"},
      {"generators.0", "{type: extended, shape: medium, photons: 1, radius: 1 pc}"},
      {"generators.0", "{type: extended, shape: beam, photons: 1}"},
      {"generators.0", "{type: extended, shape: beam, photons: 1, radius: 1 pc, direction: [0, 0, 0]}"},
      {"generators.0", "{type: extended, shape: beam, photons: 1, radius: 1 pc, opening_angle: 91 deg}"},
      {"generators.0", "{type: extended, shape: beam, photons: 1, radius: 1 pc, opening_angle: 0.05 deg}"},
      {"generators.0", "{type: extended, shape: medium, photons: 1, opening_angle: 5 deg}"},
      {"generators.0", "{type: point, photons: 1, opening_angle: 0 deg}"},
      {"generators.0", "{type: point, photons: 1, opening_angle: 181 deg}"},
      {"generators.0", "{type: point, photons: 1, opening_angle: 5}"},
      {"generators.0", "{type: point, photons: 1, direction: [0, 0, 0]}"},
      {"generators.0.name", "7"},
      {"generators.0.name", "a/b"},
      {"generators.0", "{type: extended, shape: medium, photons: 1, position: [0 m, 0 m, 0 m]}"},
      {"generators.0.spectrum", "delta"},
      {"generators.0.spectrum", "{type: lorentz}"},
      {"generators.0.spectrum", "{type: lorentzian, hwhm: 0 km/s}"},
      {"generators.0.spectrum", "{type: lorentzian, hwhm: 3000 km/s}"},
      {"generators.0.spectrum", "{type: lorentzian, sigma: 1 km/s}"},
      {"generators.0.spectrum", "{type: gaussian, sigma: 1 km/s, hwhm: 1 km/s}"},
      {"generators.0", "{type: sources, photons: 1}"},
      {"generators.0", "{type: sources, photons: 1, path: s.txt, frame: stars}"},
      {"generators.0", "{type: point, photons: 1, frame: gas}"},
      {"generators.0", "{type: sources, photons: 1, path: s.txt, frame: box, spectrum: {type: thermal}}"},
      {"generators.0", "{type: gas, emission: recombination, photons: 1}"},
      {"dataset.velocity", "{profile: constant}"},
      {"dataset.velocity", "{profile: constant, max: 1 km/s, exponent: 0}"},
      {"generators.0.spectrum", "{type: delta, sigma: 1 km/s}"},
      {"generators.0.spectrum", "{type: delta, offset: -3e5 km/s}"},
      {"generators.0.spectrum", "{type: delta, reference: Lyb}"},
      {"generators.0.spectrum", "{type: gaussian}"},
      {"generators.0.spectrum", "{type: gaussian, sigma: 0 km/s}"},
      {"generators.0.spectrum", "{type: thermal}"},
      {"generators.0.spectrum", "{type: continuum}"},
      {"generators.0.spectrum", "{type: continuum, range: [1 km/s, 1 km/s]}"},
      {"generators.0.spectrum", "{type: continuum, range: [2 km/s, 1 km/s]}"},
      {"generators.0.spectrum", "{type: continuum, range: [1 km/s, 1 nm]}"},
      {"generators.0.spectrum", "{type: continuum, range: [0 nm, 1 nm]}"},
      {"generators.0.spectrum", "{type: continuum, range: [1, 2]}"},
      {"generators.0.spectrum", "{type: continuum, range: [1 km/s]}"},
      {"generators.0.spectrum", "{type: line_and_continuum, sigma: 1 km/s, range: [1 m, 2 m]}"},
      {"acceleration", "none"},
      {"acceleration.core_skip", "smith"},
      {"acceleration.core_skip", "fixed"},
      {"acceleration.core_skip", "{fixed: -1}"},
      {"acceleration.core_skip", "{}"},
      {"acceleration.core_skip", "{fixd: 1}"},
      {"physics.phase_function", "rayleigh"},
      {"physics.recoil", "1"},
      {"physics.deuterium", "-1e-5"},
      {"physics.deuterium", "1.1"},
      {"numerics", "fast"},
      {"numerics.voigt", "s18"},
      {"numerics.u_parallel", "zheng"},
      {"numerics.core_wing", "B25"},
      {"numerics", "{u_parallel: S15, core_wing: b25}"},
      {"numerics.generator", "mt19937"},
      {"numerics.uniform", "true"},
      {"numerics", "{u_parallel: S07, rejection: squeezed}"},
      {"limits.max_scatterings", "0"},
      {"limits.max_steps", "2000000001"},
      {"outputs", "{type: photons}"},
      {"outputs", ""},
      {"outputs", "[{name: a}]"},
      {"outputs", "[{type: image}]"},
      {"outputs", "[{type: photons}, {type: photons}]"},
      {"outputs", "[{type: photons, fields: []}]"},
      {"outputs", "[{type: photons, fields: [idd]}]"},
      {"outputs", "[{type: photons, fields: [id, id]}]"},
      {"outputs", "[{type: photons, fields: id}]"},
      {"outputs", "[{type: photons, name: p}]"},
      {"outputs", "[{type: spectrum, axis: x, range: [0, 1], bins: 1}]"},
      {"outputs", "[{type: spectrum, name: a/b, axis: x, range: [0, 1], bins: 1}]"},
      {"outputs", "[{type: spectrum, name: '', axis: x, range: [0, 1], bins: 1}]"},
      {"outputs", "[{type: spectrum, name: a, axis: x, range: [1, 0], bins: 1}]"},
      {"outputs", "[{type: spectrum, name: a, axis: x, range: [0, 1], bins: 0}]"},
      {"outputs", "[{type: spectrum, name: a, axis: x, range: [0, 1], bins: 10000001}]"},
      {"outputs", "[{type: spectrum, name: a, axis: x, range: [0, 1]}]"},
      {"outputs", "[{type: spectrum, name: a, axis: x, range: [0, 1], bins: 1, reference: MgII_2796}]"},
      {"outputs", "[{type: spectrum, name: a, axis: wavelength, range: [1 nm, 2 nm], bins: 1, reference: Lya}]"},
      {"outputs", "[{type: spectrum, name: a, axis: x, bins: 1}]"},
      {"outputs", "[{type: spectrum, name: a, axis: y, range: [0, 1], bins: 1}]"},
      {"outputs", "[{type: spectrum, name: a, range: [0, 1], bins: 1}]"},
      {"outputs", "[{type: spectrum, name: a, of: lost, axis: x, range: [0, 1], bins: 1}]"},
      {"outputs", "[{type: spectrum, name: a, axis: wavelength, range: [0 nm, 1 nm], bins: 1}]"},
      {"outputs", "[{type: spectrum, name: a, axis: frequency, range: [1 nm, 2 nm], bins: 1}]"},
      {"outputs",
       "[{type: spectrum, name: a, axis: x, range: [0, 1], bins: 1},"
       " {type: spectrum, name: a, axis: x, range: [0, 1], bins: 1}]"},
      {"outputs", "[{type: histogram, name: a}]"},
      {"outputs", "[{type: histogram, name: a, axes: []}]"},
      {"outputs", "[{type: histogram, name: a, of: emitted, axes: [{quantity: cosine, range: [0, 1], bins: 1}]}]"},
      {"outputs", "[{type: histogram, name: a, axis: x, range: [0, 1], bins: 1}]"},
      {"outputs", "[{type: histogram, name: a, axes: [{quantity: y, range: [0, 1], bins: 1}]}]"},
      {"outputs", "[{type: histogram, name: a, axes: [{quantity: radius, range: [0, 1], bins: 1}]}]"},
      {"outputs", "[{type: histogram, name: a, axes: [{quantity: radius, range: [-1 pc, 1 pc], bins: 1}]}]"},
      {"outputs", "[{type: histogram, name: a, axes: [{quantity: x, range: [0, 1], bins: 1, spacing: log}]}]"},
      {"outputs", "[{type: histogram, name: a, axes: [{quantity: x, range: [1e-200, 1e200], bins: 9, spacing: log}]}]"},
      {"outputs", "[{type: histogram, name: a, axes: [{quantity: x, range: [1e-300, 1e299], bins: 9, spacing: log}]}]"},
      {"outputs",
       "[{type: histogram, name: a, axes: [{quantity: x, range: [0, 1], bins: 1}, {quantity: x, range: [0, 1], bins: "
       "1}]}]"},
      {"outputs",
       "[{type: histogram, name: a, axes: [{quantity: x, range: [0, 1], bins: 10000}, {quantity: cosine, range: [0, "
       "1], bins: 10000}]}]"},
      {"outputs",
       "[{type: histogram, name: a, axes: [{quantity: x, range: [0, 1], bins: 50000000}, {quantity: cosine, range: [0, "
       "1], bins: 50000000}, {quantity: scatterings, range: [0, 1], bins: 50000000}, {quantity: velocity, range: [0 "
       "km/s, 1 km/s], bins: 50000000}]}]"},
      {"outputs",
       "[{type: spectrum, name: a, axis: x, range: [0, 1], bins: 1},"
       " {type: histogram, name: a, axes: [{quantity: x, range: [0, 1], bins: 1}]}]"},
      {"sky", "{}"},
      {"sky", "{redshift: 2, distance: 1 Mpc}"},
      {"sky", "{redshift: 0}"},
      {"sky", "{redshift: nan}"},
      {"sky", "{distance: 10}"},
      {"sky", "{redshift: 2, hubble: 67.74}"},
      {"sky", "{redshift: 2, omega_m: 1.2}"},
      {"observers", "[{name: a}]"},
      {"observers", "[{name: a, random: 0}]"},
      {"observers", "[{name: a, healpix: 17}]"},
      {"observers", "[{name: a, random: 3, healpix: 2}]"},
      {"observers", "[{name: a, direction: [0, 0, 1], random: 3}]"},
      {"observers", "[{name: a, random: 3, up: [0, 0, 0]}]"},
      {"observers", "[{name: a, random: 3}, {name: a.1, direction: [0, 0, 1]}]"},
      {"output", "out.h5"},
      {"output", "{}"},
      {"output.path", "out.hdf5"},
      {"output.path", ".h5"},
      {"output.path", ""},
      {"output.name", "x"},
      {"output.tally", "true"},
      {"until", "2%"},
      {"until", "{}"},
      {"until", "{output: '', error: 2%}"},
      {"until", "{output: a, error: 0}"},
      {"until", "{output: a, error: -1%}"},
      {"until", "{output: a, error: 100.1%}"},
      {"until", "{output: a, error: 2 percent}"},
      {"until", "{output: a, error: 2%, of: median}"},
      {"until", "{output: a, error: 2%, max_photons: 0}"},
      {"until", "{output: a, error: 2%, max_photons: 200%}"},
      {"until", "{output: a, error: 2%, max_time: 3600}"},
      {"until", "{output: a, error: 2%, max_time: 0 s}"},
      {"nothing", "1"},
  };
  for (const auto& [key, value] : table) {
    const std::string set = std::string(key) + "=" + value;
    SCOPED_TRACE(set);
    const std::string what = failure(minimal, {set});
    EXPECT_NE(what, "accepted");
    EXPECT_NE(what.find(key), std::string::npos) << what;
  }
}

TEST(Config, MissingSections) {
  for (const char* line : {"line: Lya\n", "  type: shell\n", "  outer_radius: 1 kpc\n", "  temperature: 2e4 K\n",
                           "output: {path: out.h5}\n"}) {
    SCOPED_TRACE(line);
    const std::string key(line, std::string(line).find(':'));
    expect_failure(key.substr(key.find_first_not_of(' ')) + ": missing", edited(line, ""));
  }
  expect_failure("generators: missing", edited("generators:\n  - {type: point, photons: 1000}\n", ""));
}

class ConfigFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / ("thor_config_test_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

Config load(const std::string& path, const std::vector<std::string>& overrides = {}) {
  return check(open_document(path, overrides)).config;
}

TEST_F(ConfigFile, LoadsAndResolvesPathsAgainstTheFile) {
  const std::string path = (folder_ / "run.yaml").string();
  std::ofstream(path) << minimal;
  const Config config = load(path, {"seed=3"});
  EXPECT_EQ(config.path, path);
  EXPECT_EQ(config.seed, 3u);
  EXPECT_EQ(config.output_path, (folder_ / "out.h5").string());
}

TEST_F(ConfigFile, TheLineListLiesBesideTheFile) {
  const std::string path = (folder_ / "run.yaml").string(), list = (folder_ / "zinc.yaml").string();
  std::ofstream(path) << edited("line: Lya", "line: ZnII\nline_list: zinc.yaml");
  std::ofstream(list) << R"(ions: [{name: Zn II, mass: 65.38 u}]
lines:
  - name: ZnII
    description: the stronger line of the doublet
    ion: Zn II
    levels: [{name: 4s, J: 0.5, energy: 0 cm^-1}, {name: 4p, J: 1.5, energy: 49355 cm^-1}]
    transitions:
      - {name: ZnII_2026, lower: 4s, upper: 4p, wavelength: 2026.137 Angstrom, A: 4.07e8 s^-1, f: 0.501, branching: 1}
    source: Morton 2003
)";
  const Config config = load(path);
  EXPECT_EQ(config.line_list, list);
  EXPECT_NE(config.resolved.find("line_list: zinc.yaml\n"), std::string::npos) << config.resolved;
  EXPECT_EQ(parse(config.resolved, path), config);
  EXPECT_NO_THROW(load(path, {"line=Lya"})) << "the built-in lines stay";
  EXPECT_NO_THROW(load(path, {"line_list=" + list}));
  for (const std::string bad : {"none.yaml", "run.yaml", "."}) {
    try {
      load(path, {"line_list=" + bad});
      ADD_FAILURE() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input) << bad;
      EXPECT_EQ(std::string(error.what()).find((folder_ / bad).string()), 0u) << error.what();
    }
  }
}

TEST_F(ConfigFile, MissingFileAndDirectory) {
  for (const auto& path : {folder_ / "none.yaml", folder_}) {
    try {
      load(path.string());
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_EQ(std::string(error.what()).find(path.string() + ": "), 0u);
    }
  }
}

}  // namespace
}  // namespace thor::config
