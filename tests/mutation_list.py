"""The errors that mutations.py makes, and the tests that must detect them.

file, old, new   what is changed; `old` occurs once
what             in words, for the table
compile          what is recompiled: source files of the library, or kernels (at -O1)
header           the tests themselves include the changed file, and are recompiled
tests, filter    the test files that are linked, and the tests in them that are run
"""

STEP, FLIGHT = "src/thor/transport/step.hpp", "src/thor/transport/flight.hpp"
COLLISION, SKIP = "src/thor/transport/collision.hpp", "src/thor/interactors/core_skip.hpp"
DUST_HPP, GRID_HPP = "src/thor/interactors/dust.hpp", "src/thor/datasets/uniform_grid.hpp"
DUST, GRID, OUTFLOW = "tests/physics/dust_test.cpp", "tests/physics/grid_test.cpp", "tests/physics/outflow_test.cpp"
STOP = "tests/physics/stop_test.cpp"
SPHERE, CLUMPY = "tests/physics/sphere_test.cpp", "tests/physics/clumpy_test.cpp"
SLAB = ["LineProblem_Slab_float"]
SHELL = ["LineProblem_Shell_double"]  # the precision of those tests
CELLS = ["LineProblem_UniformGrid_float"]
RAYS, PEEL = ["MarchLineProblem_UniformGrid_float"], "tests/physics/peel_test.cpp"


def kernel(name, file, what, old, new, compile, tests, filter):
    return dict(name=name, file=file, what=what, old=old, new=new, compile=compile, tests=[tests], filter=filter)


def header(name, file, what, old, new, tests, filter):
    return dict(name=name, file=file, what=what, old=old, new=new, header=True, tests=[tests], filter=filter)


def source(name, file, what, old, new, tests, filter):
    return dict(name=name, file=file, what=what, old=old, new=new, compile=[file], tests=[tests], filter=filter)


MUTATIONS = [
    # ---- step
    kernel("hidden_path_gone", COLLISION, "no absorption on the path that core skipping hides",
           "destroyed = destroyed || caught;\n        by_line = by_line && !caught;\n        scattered = scattered && !caught;",
           "", SLAB, DUST, "DustySlab.CoreSkippingHasTheEscapeFractionOfTheOracle"),
    kernel("hidden_path_albedo", COLLISION, "dust on the hidden path absorbs what it scatters, too",
           "divide(dust_ratio * V(Real(1) - data.albedo), interactor.strength(target))",
           "divide(dust_ratio, interactor.strength(target))", SLAB, DUST, "DustySlab.EscapeFractionOfTheOracle"),
    header("hidden_path_factor", SKIP, "hidden path 1.3 times as long",
           "return divide(flight, tail + wing);", "return V(Real(1.3)) * divide(flight, tail + wing);",
           "tests/statistics/hidden_path_test.cpp", "HiddenPath.*"),
    kernel("dust_redrawn", COLLISION, "a rejected proposal draws again whether dust was hit",
           "collide_with_dust(data, flight.hit, share,", "collide_with_dust(data, colliding, share,",
           ["LineProblem_Slab_double"], DUST, "DustySlab.WhatIsHitIsChosenOnce"),
    kernel("albedo_ignored", DUST_HPP, "dust absorbs whatever it meets",
           "return {dust, dust && fine > V(data.albedo) * share};", "return {dust, dust};",
           SLAB, DUST, "DustySlab.EscapeFractionOfTheOracle"),
    kernel("dust_shifts", DUST_HPP, "dust scatters with the line's change of frequency",
           "outcome.x = select(dust, x, outcome.x);", "", SLAB, DUST, "DustySlab.DustKeepsTheFrequency"),
    kernel("dust_opacity", FLIGHT, "no dust in the opacity of a flight",
           "cross_section = cross_section + dataset.dust_ratio(here, problem.dust);", "{}", SLAB, DUST,
           "DustySlab.ThinGasAbsorbsByItsDepth"),
    kernel("flow_sign", "src/thor/datasets/dataset.hpp", "the opacity of moving gas at the frequency of the mirrored flow",
           "leg.x = frequency - dataset.velocity_along(here, leg.middle, d);",
           "leg.x = frequency + dataset.velocity_along(here, leg.middle, d);",
           SHELL, OUTFLOW, "Shells/PowerLawShell.MatchesTheOracle/0"),
    kernel("flow_after_scattering", COLLISION, "a scattered photon keeps the frequency of the gas frame",
           "if constexpr (D::substeps) frequency = frequency + dataset.velocity_along(flight.here, p, n);", "",
           SHELL, OUTFLOW, "Shells/PowerLawShell.MatchesTheOracle/0"),
    kernel("depth_not_spent", FLIGHT, "optical depth is not spent in a flight that ends at a face or sub-step",
           "lane.tau = select(flying && ends, left, lane.tau);", "",
           SHELL, OUTFLOW, "Shells/PowerLawShell.MatchesTheOracle/0"),
    kernel("rejections_counted", COLLISION, "rejected proposals count as scatterings",
           "lane.scatterings + select(c.by_line, Int(1), Int(0));", "lane.scatterings + select(c.colliding, Int(1), Int(0));",
           ["LineProblem_Slab_double"], DUST, "DustySlab.WhatIsHitIsChosenOnce"),
    kernel("column_factor", FLIGHT, "column 1.1 times as long",
           "add_column(lane, width.times(depth));", "add_column(lane, width.times(V(Real(1.1)) * depth));",
           SHELL, OUTFLOW, "Shells/PowerLawShell.MatchesTheOracle/0"),
    kernel("cap_ignored", STEP, "max_scatterings is not looked at",
           "&& (too_many || too_long);", "&& too_long;",
           ["LineProblem_Sphere_float"], "tests/unit/transport/engine_test.cpp", "Engine.CapsMakePhotonsLost"),
    kernel("hubble_sign", GRID_HPP, "the Hubble flow shifts to the blue",
           "return fma(V(-data.hubble), s, frequency);",
           "return fma(V(data.hubble), s, frequency);", CELLS, GRID, "HubbleFlow.RedshiftsByHTimesTheWay"),
    kernel("stop_early", GRID_HPP, "photons are stopped at half of stop_shift",
           "lane.frequency < V(-data.stop)", "lane.frequency < V(Real(-0.5) * data.stop)", CELLS, GRID,
           "PeriodicBox.*"),
    kernel("steep_centre", "src/thor/datasets/profile.hpp", "slow gas about the centre has the limit of its gradient alone",
           "if (any(slow)) way = select(slow, farthest_reach(p, r, q), way);", "(void)slow;", ["LineProblem_Shell_float"],
           "tests/physics/steep_flows_test.cpp", "Flows/SteepFlow.DoesNotDependOnTheStepLimiter/7"),
    kernel("dust_everywhere", GRID_HPP, "the dust of a periodic box has no end",
           "select(left > zero, here.dust_ratio, zero);", "here.dust_ratio;", CELLS, STOP,
           "StoppedLight.MeetsDustAlongTheDepthOfAPeriodicBox"),
    source("stop_in_the_frame_of_the_box", "src/thor/datasets/uniform_grid.cpp", "stop_shift ignores the speed of the gas",
           "g.stop = shift + fastest -", "g.stop = shift -", STOP, "StoppedLight.MeetsFastGas"),
    source("stop_before_dust", "src/thor/datasets/uniform_grid.cpp", "photons beyond stop_shift leave dust out",
           "|| (!m.grid.periodic && dataset.dust)", "", STOP, "StoppedLight.MeetsDustToTheEdge"),
    kernel("skip_factor", SKIP, "local x_crit 1.4 times as large",
           "min(V(Real(0.2)) * root, V(skip.cap))", "min(V(Real(0.28)) * root, V(skip.cap))",
           ["LineProblem_Sphere_float"], SPHERE, "CoreSkipping/LocalScheme.Scatterings/*"),

    # ---- interactors and distributions
    header("recoil_sign", "src/thor/interactors/resonant_line.hpp", "recoil to the blue",
           "fma(atom.parallel + target.width.over(V(data.recoil)), mu - one, target.x)",
           "fma(atom.parallel - target.width.over(V(data.recoil)), mu - one, target.x)",
           "tests/statistics/redistribution_test.cpp", "*RedistributionTest*.RecoilShiftsTheMean"),
    header("core_by_frequency", "src/thor/interactors/resonant_line.hpp", "core and wing by the frequency in the gas frame",
           "const auto core = abs(target.x - parallel) < V(Real(0.2));", "const auto core = abs(target.x) < V(Real(0.2));",
           "tests/statistics/redistribution_test.cpp", "*RedistributionTest*.CoreAndWingByTheAtomsFrame"),
    header("perpendicular_factor", "src/thor/interactors/resonant_line.hpp", "the atom's perpendicular velocity 1.1 times as large",
           "return fma(perpendicular, sine, fma(atom.parallel + target", "return fma(V(Real(1.1)) * perpendicular, sine, fma(atom.parallel + target",
           "tests/statistics/redistribution_test.cpp", "*RedistributionTest*.MeanAndVarianceOfTheShift"),
    header("henyey_sign", "src/thor/distributions/henyey_greenstein.hpp", "dust scatters backwards",
           "return {copysign(one, g) * mu,", "return {-copysign(one, g) * mu,", "tests/statistics/phase_function_test.cpp",
           "PhaseFunctionTest/*.DustMeanIsG"),
    header("dipole_flat", "src/thor/distributions/phase_function.hpp", "the dipole share of a mixture 1.1 times as large",
           "const auto peaked = draws.choice < mixture.quarter_E;", "const auto peaked = draws.choice < V(Real(1.1)) * mixture.quarter_E;",
           "tests/statistics/phase_function_test.cpp", "PhaseFunctionTest/*.MixtureMoments"),
    header("cut_gone", "src/thor/distributions/perpendicular_velocity.hpp", "core skipping does not cut the velocity",
           "draws.cosine * sqrt(fma(x_crit, x_crit, draws.minus_log))", "draws.cosine * sqrt(draws.minus_log)",
           "tests/statistics/velocity_test.cpp", "VelocityTest/*.Perpendicular*"),
    header("doublet_strength", "src/thor/interactors/multiplet.hpp", "further transitions 1.1 times as strong",
           "const V more = V(t.strength) * other.H;", "const V more = V(Real(1.1)) * V(t.strength) * other.H;",
           "tests/statistics/multiplet_test.cpp", "MultipletTest/*.TransitionsAbsorbByTheirShare"),
    header("channel_shift", "src/thor/interactors/multiplet.hpp", "fluorescence at the frequency of the line that absorbed",
           "atom.shift = select(is, V(channel.shift), atom.shift);", "", "tests/statistics/multiplet_test.cpp",
           "MultipletTest/*.Fluorescence*"),
    source("fluorescence_branching", "src/thor/interactors/build.cpp", "branching ratios 0.9 of what they are",
           "from += f.transition->branching;", "from += 0.9 * f.transition->branching;", "tests/physics/multiplet_test.cpp",
           "SiIIFluorescence.ThinGasHasTheBranching"),
    source("wing_phase", "src/thor/interactors/build.cpp", "the dipole share of the core in the wing, too",
           "r.wing = dipole_mixture<Real>(chosen_share(physics.phase_function, t.wing) / 4);",
           "r.wing = r.core;", "tests/unit/interactors/build_test.cpp", "BuildLine.*"),

    # ---- datasets
    header("slab_face", "src/thor/datasets/slab.hpp", "the way to the slab's face 1.1 times as long",
           "divide(to_face, max(abs(d.z),", "divide(V(Real(1.1)) * to_face, max(abs(d.z),", "tests/unit/datasets/datasets_test.cpp",
           "Segments.EndWhereTheCellEnds"),
    header("sphere_root", "src/thor/datasets/sphere.hpp", "the other root of a ray that goes inward",
           "return select(outward, divide(c, max(sum, V(RealOf<V>(1e-30)))), sum);",
           "return divide(c, max(sum, V(RealOf<V>(1e-30))));", "tests/unit/datasets/datasets_test.cpp",
           "Segments.EndWhereTheCellEnds"),
    header("shell_gradient", "src/thor/datasets/shell.hpp", "gradient of a radial flow without its part across",
           "fma(mu * mu, V(data.profile.velocity_exponent - Real(1)), V(Real(1)))",
           "(mu * mu * V(data.profile.velocity_exponent))", "tests/unit/datasets/datasets_test.cpp", "StepLimiter.*"),
    kernel("cavity_filled", "src/thor/datasets/shell.hpp", "gas in the cavity",
           "cavity), V(Real(0)), k);", "cavity), k, k);", SHELL, OUTFLOW,
           "ThinShell.UnscatteredShareIsExponential"),
    header("power_exponent", "src/thor/datasets/profile.hpp", "speed of a power law with an exponent too large by one",
           "p.velocity_exponent - Real(1));", "p.velocity_exponent);", "tests/unit/datasets/datasets_test.cpp",
           "Medium.NormalisesAlongTheRadius"),
    source("average_speed", "src/thor/datasets/model.cpp", "the average speed of a flow taken for its largest",
           "return *v.average * (1 - inner) / integral;", "return *v.average;", "tests/unit/datasets/datasets_test.cpp",
           "Medium.*"),
    source("width_of_opacity", "src/thor/datasets/cells.cpp", "sigma_0 of a cell at the temperature of the run",
           "std::max(float(double(r[0]) * units_.opacity * inverse), least_opacity)",
           "std::max(float(double(r[0]) * units_.opacity), least_opacity)", "tests/unit/datasets/uniform_grid_test.cpp",
           "Cells.KeepWhatIsPutIn"),
    source("jumps_ignored", "src/thor/datasets/neighbourhood.cpp", "core skipping does not see velocity jumps",
           "change = std::max(change, jump * g.inverse_width);", "", "tests/unit/datasets/uniform_grid_test.cpp",
           "Neighbourhood.*"),
    kernel("cell_velocity_sign", "src/thor/datasets/uniform_grid.hpp", "cells move the other way",
           "THOR_FN V velocity_along(const Here& h, Vec3<V>, Vec3<V> d) const { return dot(h.velocity, d); }",
           "THOR_FN V velocity_along(const Here& h, Vec3<V>, Vec3<V> d) const { return -dot(h.velocity, d); }", CELLS, GRID,
           "SphereOnAGrid.FlowsAndHoldsDust"),
    kernel("cell_dust_factor", "src/thor/datasets/uniform_grid.hpp", "dust of cells 1.5 times as thick",
           "    return h.dust_ratio;\n", "    return V(Real(1.5)) * h.dust_ratio;\n", CELLS, CLUMPY, "Clumps.*"),
    kernel("cell_core_scale", "src/thor/datasets/uniform_grid.hpp", "length of core skipping in cells 30 times too long",
           "V scale = h.core_scale + ", "V scale = V(Real(30)) * h.core_scale + ", CELLS, GRID,
           "SphereOnAGrid.CoreSkippingIsUnbiasedAndThatOfTheSphere"),
    header("leap_cell", GRID_HPP, "a jump from beside the upper face of a cell counts its cells from the lower one",
           "faces + select(offset < zero, one, zero) -", "faces -", "tests/unit/datasets/equal_cells_test.cpp", "EqualCells.LeapsEndInThem"),
    header("part_without_borders", "src/thor/datasets/domains.hpp", "a part of an open box ends at its upper faces",
           "box.first[k] + box.count[k] < whole[k]", "box.first[k] + box.count[k] < box.count[k]",
           "tests/unit/datasets/domains_test.cpp", "PartFrame.*"),
    source("equal_cells_grow", "src/thor/datasets/equal_cells.cpp", "cuboids of equal cells grow whatever is there",
           "if (is_homogeneous(low, high)) {", "if (is_homogeneous(low, high) || layer == 1) {",
           "tests/unit/datasets/equal_cells_test.cpp", "EqualCells.*"),
    kernel("deep_trough", "src/thor/interactors/jumps.hpp", "cubes of deep tables are taken for frequencies",
           "place.width * copysign(x, value)", "place.width * copysign(x * x * x, value)", ["LineProblem_Sphere_float"],
           "tests/physics/deep_jumps_test.cpp", "DeepJumps.LeaveTheTroughDark"),

    # ---- outputs
    header("rest_frame_sign", "src/thor/outputs/observer.hpp", "light nearer than the object at rest is redder",
           "shift += (sky.hubble * r - sky.rest_velocity[k])", "shift += (-sky.hubble * r - sky.rest_velocity[k])",
           "tests/unit/outputs/sight_test.cpp", "Sight.IsInTheRestFrameOfAnObject"),
    source("zero_at_the_face", "src/thor/outputs/binned.cpp", "observers in the Hubble flow have no zero point",
           "(!observer->rest && !(hubble > 0))", "!observer->rest", STOP, "OneFrame.*"),
    header("nearest_image", "src/thor/outputs/observer.hpp", "light of a periodic box is drawn where it is, not at the nearest image",
           "if (!sky.escaped) r = nearest(sky, k, r);", "", "tests/unit/outputs/sight_test.cpp", "Sight.FindsTheNearestImage"),
    kernel("peel_phase", "src/thor/transport/peel.hpp", "scatterings send the same light in all directions",
           "  ray.weight = look.weight;\n", "  ray.weight = V(Real(1));\n", RAYS, PEEL, "PeelOffImages.OfADustyDiscAreThoseOfEscapedPhotons"),
    kernel("ray_dust", FLIGHT, "rays towards observers forget dust",
           "  if constexpr (D::dusty) cross_section = cross_section + dataset.dust_ratio(here, problem.dust);\n", "",
           RAYS, PEEL, "PeelOffImages.OfADustyDiscAreThoseOfEscapedPhotons"),
    source("fuse_light", "src/thor/parallel/cpu/peel.cpp", "the ray of a group has the light of one member",
           "group.fused.weight * count", "group.fused.weight", PEEL, "Fusing.*"),
    header("fuse_first", "src/thor/transport/fuse.hpp", "the first member of a group sends its ray",
           "replaces(key, ++group.count)", "++group.count == 0 && replaces(key, 1)", "tests/unit/transport/fuse_test.cpp",
           "FuseGroup.DrawsEachMemberWithTheSameChance"),

    # ---- emission
    source("recombination_factor", "src/thor/emission/recombination.cpp", "case-B coefficient 1.1 times as large",
           "return 2.54e-13 * std::pow", "return 1.1 * 2.54e-13 * std::pow", "tests/unit/emission/recombination_test.cpp",
           "Recombination.*"),
    source("recombination_share", "src/thor/emission/recombination.cpp", "share of recombinations that give Lya, sign of its slope",
           "0.686 - 0.106 * std::log10(t4)", "0.686 + 0.106 * std::log10(t4)", "tests/unit/emission/recombination_test.cpp",
           "Recombination.*"),
    source("collision_energy", "src/thor/emission/collisional_excitation.cpp", "Boltzmann factor of 1.1 times the energy",
           "std::exp(sum - lya_energy /", "std::exp(sum - 1.1 * lya_energy /",
           "tests/unit/emission/collisional_excitation_test.cpp", "CollisionalExcitation.*"),
    source("helium_electrons", "src/thor/emission/ionization.cpp", "no electrons of helium in the balance",
           "const double electrons = (1 + helium) * hydrogen_density;", "const double electrons = hydrogen_density;",
           "tests/unit/emission/ionization_test.cpp", "IonizationTest.EquilibriumBalancesTheRates"),
    source("star_ages", "src/thor/emission/stars.cpp", "no interpolation between ages",
           "std::lerp(population.log_rate[low], population.log_rate[low + 1], place - double(low))",
           "population.log_rate[low]", "tests/unit/emission/stars_test.cpp", "Stars.*"),

    # ---- gridding
    header("spline_factor", "src/thor/gridding/deposit/spline.hpp", "inner part of the kernel 1.1 times as large",
           "- Real(8) * inner", "- Real(8.8) * inner", "tests/unit/gridding/spline_test.cpp", "Spline.*"),
    source("deposit_seam", "src/thor/gridding/deposit/deposit.cpp", "kernels end at the faces of a periodic box",
           "  if (lattice.periodic) return {0, int(length)};\n", "", "tests/unit/gridding/deposit_test.cpp", "Deposit.*"),
    source("share_inside", "src/thor/gridding/deposit/deposit.cpp", "what a face cuts off is counted as deposited",
           "out.inside[p] = all_within ? 1 : sum.inside * out.scale[p];", "out.inside[p] = 1;",
           "tests/unit/gridding/deposit_test.cpp", "Deposit.*"),
    source("cell_particles", "src/thor/gridding/deposit/cell_values.cpp", "temperature of cells without the electrons",
           "+ sums[HII])) + sums[electrons];", "+ sums[HII]));", "tests/unit/gridding/gather_test.cpp",
           "Gather.IsothermalGasStaysSo"),
    source("slab_reach", "src/thor/gridding/deposit/gather.cpp", "kernels end at the faces of a slab",
           "may_reach(region_.lattice, *slab_, position[0], radius)", "may_reach(region_.lattice, *slab_, position[0], 0)",
           "tests/unit/gridding/gather_test.cpp", "Gather.SlabsGiveTheBitsOfTheWhole"),
    source("neutral_for_ionised", "src/thor/gridding/gas/gas_state.cpp", "emissivity of recombination from the neutral gas",
           "recombination_emissivity(s.temperature, n_e, s.hydrogen_density - n_HI)",
           "recombination_emissivity(s.temperature, n_e, n_HI)", "tests/unit/gridding/gas_state_test.cpp", "GasState.*"),
    source("sources_cut", "src/thor/gridding/sources.cpp", "stars outside the grid are kept",
           "  if (!inside) {\n", "  if (false && !inside) {\n", "tests/unit/gridding/sources_test.cpp", "GridSources.*"),
]
