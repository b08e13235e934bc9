#!/usr/bin/env python3
"""Remakes the figures and numbers of docs/validation.md.

    PYTHONPATH=python python3 docs/validation.py --thor build/release/thor [--scale 1] [--reference ../shared/reference]

--scale multiplies the photon counts (0.05 is a quick look). Curves of other codes are drawn if their files are found.
"""
from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import thor
from thor import analytic
from thor.plot import COLORS, PAPER

HERE = pathlib.Path(__file__).parent
C_KMS = 299792.458
rows: list[tuple[str, str, str, str]] = []


def note(what: str, ours: str, truth: str, verdict: str = "") -> None:
    rows.append((what, ours, truth, verdict))
    print(f"{what:58} {ours:24} {truth:34} {verdict}", flush=True)


def run_thor(config: pathlib.Path) -> None:
    """Accepts exit code 7, which means that photons were lost at a cap: some cases here set one on purpose."""
    done = subprocess.run([ARGS.thor, "run", config, "--quiet"], stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 7):
        raise SystemExit(f"thor run: exit code {done.returncode}\n{done.stderr}")


class Case:
    """One run: its photons as arrays."""

    def __init__(self, dataset: str, photons: float, skip: str = "none", more: str = "", spectrum: str = "{type: delta}",
                 precision: str = "single", seed: int = 1):
        count = max(200, int(photons * ARGS.scale))
        text = (f"line: Lya\nseed: {seed}\nprecision: {precision}\ndataset: {dataset}\n"
                f"generators: [{{type: point, photons: {count}, spectrum: {spectrum}}}]\n"
                f"acceleration: {{core_skip: {skip}}}\n{more}"
                "outputs: [{type: photons, fields: [id, velocity_final, scatterings, column]}]\noutput: {path: r.h5}\n")
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder) / "c.yaml"
            config.write_text(text)
            start = time.time()
            run_thor(config)
            self.seconds = time.time() - start
            with thor.open(pathlib.Path(folder) / "r.h5") as result:
                self.n = int(result.summary["photons"])
                self.escaped = int(result.summary["escaped"])
                self.scatterings_mean = float(result.summary["scatterings"]) / self.n
                self.a = float(result.attributes["voigt_parameter"])
                self.tau0 = float(result.attributes["tau0"])
                fate = np.asarray(result.photons["fate"])
                velocity = np.asarray(result.photons["velocity_final"])
                scatterings = np.asarray(result.photons["scatterings"])
                x = np.asarray(result.x(velocity))
        out = fate == 2
        self.x, self.v, self.scatterings = x[out], velocity[out], scatterings[out]
        self.x_all = x
        self.f_esc = self.escaped / self.n
        self.f_error = np.sqrt(max(self.f_esc * (1 - self.f_esc), 1 / self.n) / self.n)

    def mean_abs_x(self) -> tuple[float, float]:
        ax = np.abs(self.x)
        return ax.mean(), ax.std() / np.sqrt(len(ax))


def sphere(tau0: float, temperature: float) -> str:
    return f"{{type: shell, outer_radius: 1 kpc, temperature: {temperature} K, tau0: {tau0}}}"


def reference(name: str) -> pathlib.Path | None:
    path = pathlib.Path(ARGS.reference) / name
    return path if path.exists() else None


def table(path: pathlib.Path) -> dict[str, np.ndarray]:
    lines = [line for line in path.read_text().splitlines() if line and line[0] != "#"]
    names = lines[0].split(",")
    data = np.array([[float(v) for v in line.split(",")] for line in lines[1:]])
    return {name: data[:, i] for i, name in enumerate(names)}


def ks(a: np.ndarray, b: np.ndarray) -> float:
    a, b = np.sort(a), np.sort(b)
    grid = np.concatenate([a, b])
    return float(np.abs(np.searchsorted(a, grid, "right") / len(a) - np.searchsorted(b, grid, "right") / len(b)).max())


def ks_cdf(a: np.ndarray, cdf) -> float:
    a = np.sort(a)
    c, n = cdf(a), len(a)
    return float(max(np.abs(c - np.arange(n) / n).max(), np.abs(c - np.arange(1, n + 1) / n).max()))


def curve_cdf(x: np.ndarray, flux: np.ndarray):
    order = np.argsort(x)
    x, flux = x[order], np.nan_to_num(flux[order])
    width = x[1] - x[0]
    edges = np.append(x - width / 2, x[-1] + width / 2)
    cumulative = np.append(0, np.cumsum(flux)) / flux.sum()
    return lambda t: np.interp(t, edges, cumulative)


def step(ax, values, bins, **style):
    density, edges = np.histogram(values, bins=bins, density=True)
    ax.stairs(density * len(values[(values > edges[0]) & (values < edges[-1])]) / len(values), edges, **style)


def save(fig, name: str) -> None:
    fig.savefig(HERE / "figures" / name, dpi=150)
    plt.close(fig)


def static_spheres() -> None:
    fig, axes = plt.subplots(1, 2, figsize=(8.4, 3.2))
    for i, tau0 in enumerate((1e5, 1e6)):
        case = Case(sphere(1.028 * tau0, 1e4), 20000, "none", "physics: {recoil: true}\n", seed=4)
        step(axes[0], case.x, np.linspace(-16, 16, 97), color=COLORS[i], label=rf"thor, $\tau_0=10^{int(np.log10(tau0))}$")
        path = reference(f"lamc_sphere_T1e4_tau1e{int(np.log10(tau0))}_x.txt")
        if path:
            theirs = np.loadtxt(path)
            step(axes[0], theirs, np.linspace(-16, 16, 97), color="k", lw=0.8, ls=":",
                 label="lyman-alpha-montecarlo" if i == 0 else None)
            wrong = Case(sphere(1.028 * tau0, 1.2e4), 20000, "none", "physics: {recoil: true}\n")
            note(f"sphere tau0 = {tau0:.0e}, T = 1e4: KS of |x| to lamc", f"{ks(abs(case.x), abs(theirs)):.4f}", "< 0.015",
                 f"T wrong by 20 %: {ks(abs(wrong.x), abs(theirs)):.4f}")
    axes[0].legend(fontsize=7, frameon=False)
    for tau0, temperature, others in ((1e5, 1e4, "LaRT 4.33(3), RASCAS 4.32(4)"),
                                      (1e5, 2e4, "LaRT 4.128(28), RASCAS 4.126(33)"),
                                      (1e6, 1e4, "LaRT 7.30(8), RASCAS 7.20(11)"),
                                      (1e7, 1e4, "LaRT 15.00(4), RASCAS 15.39(18)")):
        case = Case(sphere(tau0, temperature), 20000)
        note(f"sphere tau0 = {tau0:.0e}, T = {temperature:.0e}: mean |x|", "{:.3f} +- {:.3f}".format(*case.mean_abs_x()), others)
    for i, tau0 in enumerate((1e7, 1e8, 1e9)):
        # Every scattering where affordable; beyond, an x_crit far below what the gas allows (7 and 15).
        case = Case(sphere(tau0, 1e4), 40000, "none" if tau0 < 1e8 else "{fixed: 2}")
        scale = (case.a * tau0) ** (1 / 3)
        grid = np.linspace(-2, 2, 400) * scale
        step(axes[1], case.x / scale, np.linspace(-2, 2, 101), color=COLORS[i],
             label=rf"thor, $\tau_0=10^{int(np.log10(tau0))}$")
        if i == 0:
            axes[1].plot(grid / scale, analytic.sphere(grid, case.a, tau0) * scale, "k--", lw=0.8, label="Dijkstra et al. 2006")
        mean = case.mean_abs_x()
        truth = analytic.sphere_mean_abs_x(case.a, tau0)
        distance = ks_cdf(np.abs(case.x), lambda t: analytic.sphere_cdf(t, case.a, tau0))
        note(f"sphere tau0 = {tau0:.0e}: mean |x| over analytic; KS",
             f"{mean[0] / truth:.4f} +- {mean[1] / truth:.4f}; {distance:.4f}", "within 1 %; < 0.025")
    axes[1].legend(fontsize=7, frameon=False)
    axes[0].set(xlabel="$x$", ylabel=r"$L^{-1}\,\mathrm{d}L/\mathrm{d}x$")
    axes[1].set(xlabel=r"$x/(a\tau_0)^{1/3}$", ylabel="")
    save(fig, "sphere.png")


def outflows() -> None:
    fig, ax = plt.subplots(figsize=(6, 3.6))
    for i, v_max in enumerate((0, 20, 200, 2000)):
        velocity = "" if v_max == 0 else f", velocity: {{profile: linear, max: {v_max} km/s}}"
        dataset = f"{{type: shell, outer_radius: 1 kpc, temperature: 2e4 K, column_density: 2e20 cm^-2{velocity}}}"
        case = Case(dataset, 40000, "local", "physics: {phase_function: dipole}\n")
        bins = np.linspace(-600, 1500, 211)
        mean = case.v.mean(), case.v.std() / np.sqrt(len(case.v))
        step(ax, case.v, bins, color=COLORS[i], label=rf"$v_\mathrm{{max}}={v_max}$ km/s")
        for name, axis, flux, style in ((f"lart_hubble_N2e20_T2e4_vmax{v_max}.csv", "v_kms", "flux", ":"),
                                        (f"skirt_expand_v{v_max}_N2e20_T2e4.csv", "v_kms", "F_v_per_kms", "--")):
            path = reference(name)
            if path:
                data = table(path)
                flux_v = np.nan_to_num(data[flux])
                width = abs(data[axis][1] - data[axis][0])
                code = name.split("_")[0]
                ax.plot(data[axis], flux_v / (flux_v.sum() * width), style, color="k", lw=0.8,
                        label={"lart": "LaRT", "skirt": "SKIRT"}[code] if v_max == 200 else None)
                theirs = (data[axis] * flux_v).sum() / flux_v.sum()
                note(f"outflow {v_max} km/s against {code}: KS; mean v [km/s]",
                     f"{ks_cdf(case.v, curve_cdf(data[axis], flux_v)):.4f}; {mean[0]:.1f} +- {mean[1]:.1f}", f"-; {theirs:.1f}")
        if v_max:
            every = Case(dataset, 40000, "none", "physics: {phase_function: dipole}\n", seed=9)
            limit = 1.63 * np.sqrt(1 / len(every.v) + 1 / len(case.v))
            note(f"outflow {v_max} km/s, every scattering: KS to `local`; mean v [km/s]",
                 f"{ks(every.v, case.v):.4f}; {every.v.mean():.1f} +- {every.v.std() / np.sqrt(len(every.v)):.1f}",
                 f"1 % point {limit:.4f}; {mean[0]:.1f} +- {mean[1]:.1f}",
                 f"{every.scatterings_mean:.3g} and {case.scatterings_mean:.3g} scatterings each")
    ax.set(xlabel="Velocity [km/s]", ylabel=r"$L^{-1}\,\mathrm{d}L/\mathrm{d}v$ [s/km]", xlim=(-600, 1500))
    ax.legend(fontsize=7, frameon=False)
    save(fig, "outflow.png")


def slab(tau_dust: float) -> str:
    return (f"{{type: slab, half_thickness: 1 kpc, temperature: 20 K, tau0: 1e6, "
            f"dust: {{tau: {tau_dust}, albedo: 0, g: 0}}}}")


def dusty_slab() -> None:
    fig, ax = plt.subplots(figsize=(4.6, 3.4))
    rascas = {0.01: (0.711, 0.014), 0.1: (0.0981, 0.0031), 0.3: (0.0107, 0.0019), 1.0: (2e-4, 2e-4), 3.0: (0, 2e-4)}
    for k, tau_dust in enumerate((0.01, 0.1, 0.3, 1.0, 3.0)):
        every = Case(slab(tau_dust), {0.01: 10000, 0.1: 40000, 0.3: 60000, 1.0: 60000, 3.0: 60000}[tau_dust], "none")
        local = Case(slab(tau_dust), 400000, "local", seed=2)
        fixed = Case(slab(tau_dust), 60000, "{fixed: 2}", seed=3)
        truth = analytic.slab_escape_fraction(every.a, 1e6, tau_dust)
        note(f"dusty slab tau_d = {tau_dust}: f_esc, every scattering", f"{every.f_esc:.3g} +- {every.f_error:.1g}",
             f"analytic {truth:.3g}, RASCAS {rascas[tau_dust][0]}({rascas[tau_dust][1]})",
             f"{every.scatterings_mean:.3g} scatterings each")
        note(f"dusty slab tau_d = {tau_dust}: f_esc, local skipping; x_crit = 2",
             f"{local.f_esc:.3g} +- {local.f_error:.1g}; {fixed.f_esc:.3g} +- {fixed.f_error:.1g}",
             f"{every.f_esc:.3g} +- {every.f_error:.1g} (none)", f"{local.scatterings_mean:.3g}; {fixed.scatterings_mean:.3g} each")
        b = (every.a * 1e6) ** (1 / 3) * tau_dust
        for case, marker, colour, label in ((every, "o", COLORS[0], "thor, every scattering"),
                                            (local, "s", COLORS[1], "thor, core skipping")):
            if case.escaped:
                ax.errorbar(b, case.f_esc, case.f_error, fmt=marker, ms=5, mfc="none", color=colour,
                            label=label if k == 0 else None)
        value, error = rascas[tau_dust]
        ax.errorbar(b * 1.06, value if value else error, error if value else 0, fmt="x", ms=4, color="0.5", uplims=not value,
                    label="RASCAS" if k == 0 else None)
    grid = np.logspace(-1, 2, 200)
    ax.plot(grid, analytic.slab_escape_fraction(every.a, 1e6, grid / (every.a * 1e6) ** (1 / 3)), "k--", lw=0.8,
            label="Neufeld 1990")
    ax.set(xscale="log", yscale="log", ylim=(3e-6, 2), xlim=(0.1, 100), xlabel=r"$(a\tau_0)^{1/3}\tau_\mathrm{d}$",
           ylabel=r"$f_\mathrm{esc}$")
    ax.legend(fontsize=7, frameon=False)
    save(fig, "dusty_slab.png")


def redistribution() -> None:
    fig, axes = plt.subplots(1, 4, figsize=(10, 2.6), sharey=False)
    for ax, (phase, x_in) in zip(axes, (("isotropic", 0), ("dipole", 1), ("isotropic", 3), ("dipole", 4))):
        v_th = 12.8451 * np.sqrt(2.74 / 1e4)
        spectrum = f"{{type: delta, offset: {-x_in * v_th} km/s}}"
        more = f"physics: {{phase_function: {phase}}}\nlimits: {{max_scatterings: 1}}\n"
        case = Case(sphere(1e8, 2.74), 2e6, "none", more, spectrum)
        other = Case(sphere(1e8, 2.74), 2e6, "none", more.replace(phase, "dipole" if phase == "isotropic" else "isotropic"), spectrum)
        bins = np.linspace(x_in - 4, x_in + 4, 81)
        step(ax, case.x_all, bins, color=COLORS[0], label="thor")
        path = reference(f"iltis_redistribution_{phase}_x{x_in}.txt")
        if path:
            theirs = np.loadtxt(path)
            step(ax, theirs, bins, color="k", lw=0.8, ls=":", label="Iltis")
            limit = 1.63 * np.sqrt(1 / len(case.x_all) + 1 / len(theirs))
            note(f"one scattering, {phase}, x = {x_in}: KS to Iltis", f"{ks(case.x_all, theirs):.4f}", f"1 % point {limit:.4f}",
                 f"wrong phase function: {ks(other.x_all, theirs):.4f}")
        ax.set(xlabel="$x$", title=f"{phase}, $x_\\mathrm{{in}}={x_in}$")
        ax.title.set_fontsize(8)
    axes[0].legend(fontsize=7, frameon=False)
    save(fig, "redistribution.png")


def core_skipping() -> None:
    fig, axes = plt.subplots(1, 2, figsize=(8.4, 3.2))
    none = Case(sphere(1e6, 1e4), 20000, "none")
    step(axes[0], none.x, np.linspace(-20, 20, 81), color="k", lw=0.8, label=f"none, {none.scatterings_mean:.2g} scatterings each")
    for i, skip in enumerate(("local", "global", "{fixed: 2}", "{fixed: 3}")):
        case = Case(sphere(1e6, 1e4), 20000, skip, seed=2)
        step(axes[0], case.x, np.linspace(-20, 20, 81), color=COLORS[i], label=f"{skip}, {case.scatterings_mean:.2g}")
        note(f"core skipping {skip}, tau0 = 1e6: KS of |x| to none", f"{ks(abs(case.x), abs(none.x)):.4f}",
             f"1 % point {1.63 * np.sqrt(1 / case.n + 1 / none.n):.4f}", f"{case.scatterings_mean:.3g} against {none.scatterings_mean:.3g} each")
    axes[0].set_ylim(0, 0.15)
    axes[0].legend(fontsize=7, frameon=False, loc="upper center", title="core skipping", title_fontsize=7)
    for tau0, expected in ((1e6, "2.8e5"), (1e7, "6.4e4"), (1e8, "1.4e4"), (1e9, "1.3e4")):
        case = Case(sphere(tau0, 1e4), 40000 if tau0 > 2e6 else 10000, "local")
        n = len(case.scatterings)
        note(f"local scheme tau0 = {tau0:.0e}: scatterings per photon",
             f"{case.scatterings.mean():.3g} +- {case.scatterings.std() / np.sqrt(n):.1g}", f"about {expected}")
    for i, tau0 in enumerate((1e8, 1e9)):
        single = Case(sphere(tau0, 1e4), 40000, "local")
        dual = Case(sphere(tau0, 1e4), 40000, "local", precision="double", seed=2)
        bins = np.linspace(-200, 200, 101) if tau0 == 1e9 else np.linspace(-80, 80, 101)
        step(axes[1], single.x, bins, color=COLORS[i], label=rf"single, $\tau_0=10^{int(np.log10(tau0))}$")
        step(axes[1], dual.x, bins, color="k", lw=0.7, ls=":", label="double" if i == 0 else None)
        note(f"single against double at tau0 = {tau0:.0e}: KS", f"{ks(single.x, dual.x):.4f}",
             f"1 % point {1.63 * np.sqrt(1 / single.n + 1 / dual.n):.4f}")
    axes[1].legend(fontsize=7, frameon=False)
    axes[0].set(xlabel="$x$", ylabel=r"$L^{-1}\,\mathrm{d}L/\mathrm{d}x$")
    axes[1].set(xlabel="$x$")
    save(fig, "core_skipping.png")


def thin_and_symmetric() -> None:
    case = Case("{type: shell, inner_radius: 0.9 kpc, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 0.25}", 1e6)
    share = float((case.scatterings == 0).mean())
    truth = np.exp(-0.25 * (1 - 2 * case.a / np.sqrt(np.pi)))
    note("thin shell tau0 = 0.25: unscattered share", f"{share:.5f} +- {np.sqrt(share * (1 - share) / case.n):.5f}", f"e^-tau = {truth:.5f}")
    for precision in ("single", "double"):
        case = Case(sphere(1e6, 1e4), 20000, precision=precision)
        note(f"static sphere, {precision}: <x>", f"{case.x.mean():.3f} +- {case.x.std() / np.sqrt(case.n):.3f}", "0")


def spectrum_of(text: str, photons: float):
    """The spectrum, per photon of the continuum, of a run whose one output is called s."""
    count = max(2000, int(photons * ARGS.scale))
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "c.yaml"
        config.write_text(text.replace("COUNT", str(count)) + "output: {path: r.h5}\n")
        run_thor(config)
        with thor.open(pathlib.Path(folder) / "r.h5") as result:
            summary = dict(result.summary)
            s = result.spectrum("s")
            edges, flux, error = (np.asarray(v) for v in (s.edges, s.flux, s.error))
    return edges, flux * (edges[-1] - edges[0]), error * (edges[-1] - edges[0]), summary


def multiplets() -> None:
    fig, axes = plt.subplots(1, 2, figsize=(8.4, 4.0), gridspec_kw={"width_ratios": [3, 2]})
    shown = {}
    for i, v_max in enumerate((100, 200, 500, 1000)):
        edges, flux, error, _ = spectrum_of(
            "line: MgII\n"
            "dataset: {type: shell, outer_radius: 1 kpc, temperature: 1e4 K, column_density: 3.1622776601683795e14 cm^-2,\n"
            f"          velocity: {{profile: linear, max: {v_max} km/s}}}}\n"
            "generators: [{type: point, photons: COUNT, spectrum: {type: continuum, range: [2780 Angstrom, 2820 Angstrom]}}]\n"
            "outputs: [{type: spectrum, name: s, axis: wavelength, range: [2780 Angstrom, 2820 Angstrom], bins: 400}]\n", 1e7)
        axes[0].stairs(flux + 1.5 * i, edges, color=COLORS[i], lw=0.9, baseline=None)
        axes[0].text(2783.2, 1.5 * i + 1.12, f"{v_max} km/s", color=COLORS[i], fontsize=8)
        middle = (edges[1:] + edges[:-1]) / 2
        shown[v_max] = middle, flux
        for code, style in (("lart", ":"), ("rascas", "--")):
            path = reference(f"{code}_mgii_v{v_max}.csv")
            if not path:
                continue
            data = table(path)
            wave, width = data["wavelength_A"], data["wavelength_A"][1] - data["wavelength_A"][0]
            per = round(width / 0.1)
            ours, ours_error = flux.reshape(-1, per).mean(1), np.sqrt((error.reshape(-1, per) ** 2).sum(1)) / per
            lines = (wave > 2790) & (wave < 2812)
            chi2 = ((ours - data["flux"]) ** 2 / (ours_error ** 2 + data["err"] ** 2))[lines].mean()
            name = {"lart": "LaRT", "rascas": "RASCAS"}[code]
            axes[0].plot(wave, data["flux"] + 1.5 * i, style, color="k", lw=0.6,
                         label=name if v_max == 100 else None)
            note(f"Mg II, {v_max} km/s against {name}: chi2 per bin, 2790-2812 A", f"{chi2:.2f}", "1")
    for wave in (2796.354, 2803.531):
        axes[0].axvline(wave, color="0.8", lw=0.7, zorder=0)
    axes[0].set(xlabel=r"Vacuum wavelength [$\mathrm{\AA}$]", ylabel="Flux over continuum, offset by 1.5", xlim=(2782, 2816), ylim=(0, 8.2))
    axes[0].legend(fontsize=7, frameon=False, loc="upper right")
    for v_max, (middle, flux) in shown.items():
        k, h = ((middle > 2796.354) & (middle < 2800)), ((middle > 2803.531) & (middle < 2813))
        note(f"Mg II, {v_max} km/s: light above the continuum redward of k and h [A]",
             f"{(flux[k] - 1).sum() * 0.1:.3f} and {(flux[h] - 1).sum() * 0.1:.3f}", "-",
             "k is converted to h beyond 770 km/s" if v_max == 1000 else "")

    edges, flux, error, summary = spectrum_of(
        "line: SiII_1190\n"
        "dataset: {type: shell, outer_radius: 1 kpc, temperature: 1e4 K, column_density: 1e15 cm^-2,\n"
        "          velocity: {profile: linear, max: 200 km/s}}\n"
        "generators: [{type: point, photons: COUNT, spectrum: {type: continuum, range: [1186 Angstrom, 1201 Angstrom]}}]\n"
        "outputs: [{type: spectrum, name: s, axis: wavelength, range: [1186 Angstrom, 1201 Angstrom], bins: 300}]\n", 3e6)
    axes[1].stairs(flux, edges, color=COLORS[0], lw=0.9)
    for wave, name in ((1190.416, "1190"), (1193.290, "1193"), (1194.500, "1194*"), (1197.394, "1197*")):
        axes[1].axvline(wave, color="0.8", lw=0.7, zorder=0)
        axes[1].text(wave, 4.75, name, fontsize=7, ha="right" if name == "1193" else "center")
    axes[1].set(xlabel=r"Vacuum wavelength [$\mathrm{\AA}$]", ylabel="Flux over continuum", ylim=(0, 5), xlim=(1187, 1200))
    axes[1].set_title("Si II, 200 km/s; * fluorescent", fontsize=8)
    note("Si II shell: photons escaped of those emitted", f"{summary['escaped']}", f"{summary['photons']}")
    for transition in ("SiII_1190", "SiII_1193"):
        share, expected = thin_branching(transition)
        note(f"{transition}, thin: share of scattered photons in the fluorescent line", f"{share[0]:.4f} +- {share[1]:.4f}",
             f"branching {expected:.4f}")
    fig.tight_layout()
    save(fig, "multiplets.png")


def thin_branching(name: str) -> tuple[tuple[float, float], float]:
    """Fraction of fluorescence of one transition, in gas so thin that photons scatter once."""
    lines = json.loads(subprocess.run([ARGS.thor, "lines", "--json"], check=True, capture_output=True).stdout)
    line = next(entry for entry in lines if entry["name"] == "SiII_1190")
    transition = next(t for t in line["transitions"] if t["name"] == name)
    other = next(t for t in line["transitions"] if t["upper"] == transition["upper"] and t["name"] != name)
    count = max(2000, int(2e6 * ARGS.scale))
    text = ("line: SiII_1190\ndataset: {type: shell, outer_radius: 1 kpc, temperature: 1e4 K, tau0: 1e-2}\n"
            f"generators: [{{type: point, photons: {count}, spectrum: {{type: delta, reference: {name}}}}}]\n"
            "outputs: [{type: photons, fields: [velocity_final, scatterings]}]\noutput: {path: r.h5}\n")
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "c.yaml"
        config.write_text(text)
        run_thor(config)
        with thor.open(pathlib.Path(folder) / "r.h5") as result:
            scattered = np.asarray(result.photons["scatterings"]) == 1
            wave = line["transitions"][0]["wavelength_angstrom"] * (1 + np.asarray(result.photons["velocity_final"]) / C_KMS)
    fluorescent = np.abs(wave[scattered] - other["wavelength_angstrom"]) < 0.5
    share = float(fluorescent.mean())
    return (share, float(np.sqrt(share * (1 - share) / fluorescent.size))), other["branching"]


def grids() -> None:
    """A sphere and an outflow on a grid of 128^3, and the same gas without one."""
    fig, axes = plt.subplots(1, 2, figsize=(8.4, 3.2))
    flow = ", velocity: {profile: linear, max: 200 km/s}"
    for ax, name, more, bins in ((axes[0], "static", "", np.linspace(-7, 7, 71)), (axes[1], "200 km/s", flow, np.linspace(-2, 8, 51))):
        gas = sphere(1e4, 2e4).rstrip().rstrip("}")
        plain = Case(gas + more + ", step_limiter: 0.02}", 20000, "none", seed=1)
        grid = Case(gas + more + ", cells: 128}", 20000, "none", seed=2)
        skipped = Case(gas + more + ", cells: 128}", 20000, "local", seed=3)
        wrong = Case(sphere(1.2e4, 2e4).rstrip().rstrip("}") + more + ", cells: 128}", 20000, "none", seed=2)
        sign = -1 if more else 1
        step(ax, sign * plain.x, bins, color="k", lw=0.9, label="without a grid")
        step(ax, sign * grid.x, bins, color=COLORS[0], label="128³ cells")
        step(ax, sign * skipped.x, bins, color=COLORS[1], ls=":", label="128³ cells, core skipping")
        ax.set_title(name, fontsize=9)
        note(f"grid of 128^3, tau0 = 1e4, {name}: KS to the sphere itself", f"{ks(plain.x, grid.x):.4f}",
             "< 0.0163 (99 %)", f"core skipping {ks(plain.x, skipped.x):.4f}; 20 % more gas {ks(plain.x, wrong.x):.4f}")
    axes[0].legend(fontsize=7, frameon=False, loc="upper center")
    axes[0].set(xlabel="$x$", ylabel=r"$L^{-1}\,\mathrm{d}L/\mathrm{d}x$")
    axes[1].set(xlabel="$-x$")
    save(fig, "grid.png")


def main() -> None:
    global ARGS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--thor", default=str(HERE.parent / "build/release/thor"))
    parser.add_argument("--reference", default=str(HERE.parent.parent / "shared/reference"))
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--only", nargs="*", default=None)
    ARGS = parser.parse_args()
    (HERE / "figures").mkdir(exist_ok=True)
    plt.rcParams.update(PAPER)
    start = time.time()
    parts = (static_spheres, outflows, dusty_slab, redistribution, core_skipping, thin_and_symmetric, multiplets, grids)
    for part in parts:
        if ARGS.only is None or part.__name__ in ARGS.only:
            part()
    lines = ["| what | thor | truth | remark |", "|---|---|---|---|"]
    lines += ["| " + " | ".join(cell.replace("|x|", "abs(x)") for cell in row) + " |" for row in rows]
    print("\n".join(lines))
    print(f"{time.time() - start:.0f} s")


if __name__ == "__main__":
    main()
