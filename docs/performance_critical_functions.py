#!/usr/bin/env python3
"""Remakes the figures and tables of docs/contributing/critical-functions.md from the output of the benchmarks.

    PYTHONPATH=python python3 docs/performance_critical_functions.py --accuracy FILE --cpu LABEL=FILE[,FILE...] ... [--gpu ...]

The files come from voigt_accuracy, scheme_benchmark and scheme_benchmark_cuda; of several runs the shortest times count. Tables
go between the markers of the page and to the terminal. Proposals and errors of the core-wing boundary are taken from the first
--cpu file.
"""
from __future__ import annotations

import argparse
import csv
import pathlib
import re
from collections import defaultdict

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import BoundaryNorm, LogNorm
from matplotlib.lines import Line2D
from matplotlib.ticker import LogFormatterMathtext, LogLocator, NullFormatter, StrMethodFormatter

from thor.plot import COLORS, PAPER

HERE = pathlib.Path(__file__).parent
PAGE = HERE / "contributing/critical-functions.md"
VOIGT = ("H82", "T06", "S15", "S18", "thor4", "thor")
NAME = {"thor4": "thor 4", "thor": "thor 2"}  # order in a of the schemes of the Voigt profile
LARGEST_A = {"thor4": 0.1, "thor": 0.02}
SAMPLERS = ("S07", "L09", "S15", "D20", "SK20", "thor", "thor squeezed")
MIXED = SAMPLERS[2:]  # for mixed x: a draw of S07 and L09 is rarely finished within a measurement
CORE_WING = ("S15", "B25", "B25fast", "exact")
GENERATORS = ("xoshiro128++", "sfc32", "Philox4x32-10")
COLOR = {"H82": COLORS[4], "T06": COLORS[5], "S15": COLORS[1], "S18": COLORS[2], "thor4": COLORS[3], "thor": COLORS[0],
         "S07": COLORS[4], "L09": COLORS[5], "D20": COLORS[2], "SK20": COLORS[3], "B25": COLORS[2], "B25fast": COLORS[0]}
LINE = {"lanes": {"ls": "-", "lw": 1.4}, "gpu": {"ls": "-", "lw": 1.4}, "one lane": {"ls": "--", "lw": 0.9},
        "loop": {"ls": ":", "lw": 1.2}, "sorted": {"ls": ":", "lw": 1.2, "alpha": 0.4}}


class Machine:
    """Output of one program: value[backend, precision, quantity, scheme, mode, a, x]; times are the shortest of all
    runs."""

    def __init__(self, argument: str):
        self.label, paths = argument.split("=", 1)
        self.value: dict[tuple, float] = {}
        self.x: dict[tuple, list[float]] = defaultdict(list)
        for path in paths.split(","):
            with open(path) as file:
                for row in csv.DictReader(file):
                    series = *(row[name] for name in ("backend", "precision", "quantity", "scheme", "mode")), float(row["a"])
                    key, value = (*series, float(row["x"])), float(row["value"])
                    if key not in self.value:
                        self.x[series].append(float(row["x"]))
                        self.value[key] = value
                    elif row["quantity"] in ("voigt", "u_parallel", "core_wing", "generator"):
                        self.value[key] = min(self.value[key], value)
        self.backends = [b for b in ("gpu", "lanes", "one lane") if self.width(b, "single")]
        self.kinds = [(b, p) for b in self.backends for p in ("single", "double") if b != "one lane"]  # rows of most tables

    def width(self, backend: str, precision: str) -> int:
        return int(self.value.get((backend, precision, "width", "", "", 0.0, 0.0), 0))

    def row(self, backend: str, precision: str, gpu_unit: str = "") -> str:
        """Name of a row of a table."""
        if backend == "gpu":
            return f"{self.label}, {precision}" + (f" ({gpu_unit})" if gpu_unit else "")
        return f"{self.label}, {1 if backend == 'one lane' else self.width(backend, precision)} × {precision}"

    def curve(self, *key) -> tuple[np.ndarray, np.ndarray]:
        """Values against x; empty if nothing was measured."""
        x = self.x.get(key, [])
        return np.array(x), np.array([self.value[key + (v,)] for v in x])


# ---- figures --------------------------------------------------------------------------------------------------------


def save(fig, name: str) -> None:
    fig.savefig(HERE / "figures" / name, dpi=150)
    plt.close(fig)


def draw_accuracy(accuracy: dict[str, np.ndarray]) -> None:
    fig, axes = plt.subplots(2, len(VOIGT), figsize=(12, 4.4), sharex=True, sharey=True)
    x, a = np.unique(accuracy["x"]), np.unique(accuracy["a"])
    edges = 10.0 ** np.arange(-8, 1)
    colors = plt.get_cmap("viridis", len(edges) - 1).with_extremes(under="0.85", over="k")
    for row, precision in zip(axes, ("double", "single")):
        for ax, scheme in zip(row, VOIGT):
            error = accuracy[f"{scheme} {precision}"].reshape(len(a), len(x))
            mesh = ax.pcolormesh(x, a, np.maximum(error, 1e-20), cmap=colors, norm=BoundaryNorm(edges, len(edges) - 1),
                                 shading="nearest", rasterized=True)
            ax.set(yscale="log", xlim=(0, 40), ylim=(1e-8, 1))
            if scheme in LARGEST_A:
                ax.axhline(LARGEST_A[scheme], color="w", ls="--", lw=0.8)
        row[0].set_ylabel(f"{precision}\nVoigt parameter $a$")
    for top, bottom, scheme in zip(*axes, VOIGT):
        top.set_title(NAME.get(scheme, scheme), fontsize=10)
        bottom.set_xlabel("$x$")
    fig.colorbar(mesh, ax=axes, label="relative error of $H$", extend="both", format=LogFormatterMathtext(), pad=0.01)
    save(fig, "voigt_accuracy.png")


def panels(machines: list[Machine], rows: tuple[str, ...], **options):
    """A column for each machine, a row for each way to choose x."""
    fig, axes = plt.subplots(len(rows), len(machines), figsize=(2.6 + 3.2 * len(machines), 2.7 * len(rows)), sharex=True,
                             squeeze=False, **options)
    for ax, machine in zip(axes[0], machines):
        ax.set_title(machine.label, fontsize=10)
    for ax, label in zip(axes[:, 0], rows):
        ax.set_ylabel(label)
    for ax in axes[-1]:
        ax.set_xlabel("$x$")
    return fig, axes


def legend(ax, schemes: dict[str, str], lines: dict[str, str]) -> None:
    handles = [Line2D([], [], color=COLOR[s], label=name) for s, name in schemes.items()]
    handles += [Line2D([], [], color="0.3", label=label, **LINE[line]) for line, label in lines.items()]
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.02, 1), frameon=False, fontsize=8)


def lines_of(machines: list[Machine]) -> dict[str, str]:
    backends = {b for m in machines for b in m.backends}
    lines = {"lanes": "all lanes, threads", "one lane": "one lane"} if "lanes" in backends else {}
    return lines | ({"loop": "loop until accepted", "sorted": "the same, $x$ sorted"} if "gpu" in backends else {})


def draw_voigt_speed(machines: list[Machine]) -> None:
    fig, axes = panels(machines, ("time per evaluation at $x$", "time per evaluation in $[0, x]$"), sharey="col")
    for ax, machine in zip(axes[0], machines):
        ax.set_title(f"{machine.label} [{'ps' if 'gpu' in machine.backends else 'ns'}]", fontsize=10)
    for row, order in zip(axes, ("fixed", "random")):
        for ax, machine in zip(row, machines):
            for backend in machine.backends:
                for scheme in VOIGT:
                    x, ns = machine.curve(backend, "single", "voigt", scheme, f"latency {order} H", 1e-3)
                    ax.plot(x, ns * (1e3 if backend == "gpu" else 1), color=COLOR[scheme], **LINE[backend])
            ax.set(yscale="log", xlim=(0, 40))
            low, high = ax.get_ylim()
            ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 100 else (1,)))
            ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
            ax.yaxis.set_minor_formatter(NullFormatter())
    legend(axes[0, -1], {s: NAME.get(s, s) for s in VOIGT}, {k: v for k, v in lines_of(machines).items() if "lane" in k})
    save(fig, "voigt_speed.png")


def draw_velocity_speed(machines: list[Machine]) -> None:
    fig, axes = panels(machines, ("draws per second at $x$", "draws per second in $[0, 2x]$"))
    schemes = SAMPLERS[:-1]
    for row, order in zip(axes, ("fixed", "random")):
        for ax, machine in zip(row, machines):
            curves = [(backend, f"step {order}", LINE[backend]) for backend in machine.backends]
            if "gpu" in machine.backends:
                curves += [("gpu", f"loop {order}", LINE["loop"])] + [("gpu", "loop sorted", LINE["sorted"])] * (order == "random")
            for scheme in schemes if order == "fixed" else [s for s in schemes if s in MIXED]:
                for backend, mode, style in curves:
                    x, ns = machine.curve(backend, "single", "u_parallel", scheme, mode, 1e-3)
                    ax.plot(x, 1e9 / ns, color=COLOR[scheme], **style)
                    if style["ls"] == "-":
                        others = [machine.curve(backend, "single", "u_parallel", scheme, mode, a) for a in (1e-2, 1e-3, 1e-4)]
                        rates = np.array([np.interp(x, other_x, 1e9 / other_ns) for other_x, other_ns in others])
                        ax.fill_between(x, rates.min(0), rates.max(0), color=COLOR[scheme], alpha=0.2, lw=0)
            ax.set(yscale="log", xlim=(0, 10))
    for ax in axes[0]:
        top = ax.get_ylim()[1]
        ax.set_ylim(1e-4 * top, top)
    legend(axes[0, -1], {s: s for s in schemes}, lines_of(machines))
    save(fig, "u_parallel_throughput.png")


def draw_proposals(machine: Machine) -> None:
    fig, axes = plt.subplots(2, 3, figsize=(9, 5), sharex=True, sharey=True)
    shares: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for (_, _, quantity, scheme, mode, count, x), share in machine.value.items():
        if quantity == "proposals" and mode == "share":
            shares[scheme].append((x, count, share))
    edges = np.unique(np.ceil(2.0 ** (np.arange(161) / 8)))  # as in scheme_benchmark.cpp
    for ax, scheme in zip(axes.flat, SAMPLERS):
        x, mean = machine.curve("one lane", "single", "proposals", scheme, "mean", 1e-3)
        density = np.full((len(edges) - 1, len(x)), np.nan)
        for xi, count, share in shares[scheme]:
            k = np.searchsorted(edges, count)
            density[k, np.argmin(abs(x - xi))] = share / (edges[k + 1] - edges[k])
        half = (x[1] - x[0]) / 2
        mesh = ax.pcolormesh(np.append(x - half, x[-1] + half), edges - 0.5, density, norm=LogNorm(1e-7, 1), cmap="YlGnBu",
                             rasterized=True)
        ax.plot(x, mean, "k-", lw=1.2, label="mean")
        ax.plot(*machine.curve("one lane", "single", "proposals", scheme, "largest of 32", 1e-3), "r--", lw=1.2,
                label="mean of the largest of 32")
        ax.set(yscale="log", xlim=(0, 10), ylim=(0.5, 1e6))
        ax.set_title(scheme, fontsize=10)
    axes[1, 2].legend(frameon=False, fontsize=8)
    for ax in axes[1]:
        ax.set_xlabel("$x$")
    for ax in axes[:, 0]:
        ax.set_ylabel("proposals per draw")
    fig.colorbar(mesh, ax=axes, label="share of draws, per proposal", pad=0.01)
    save(fig, "u_parallel_proposals.png")


def draw_core_wing(machine: Machine) -> None:
    fig, ax = plt.subplots(figsize=(5.4, 3.2))
    for scheme, style in (("S15", {"lw": 1.3}), ("B25", {"lw": 2.6, "alpha": 0.6}), ("B25fast", {"lw": 1.3, "ls": "--"})):
        rows = sorted((k[-1], v) for k, v in machine.value.items() if k[1:4] == ("double", "core_wing_error", scheme))
        temperature, error = np.array(rows).T
        ax.plot(temperature, 1e2 * error, color=COLOR[scheme], label=scheme, **style)
    ax.set(xscale="log", xlabel="temperature [K]", ylabel=r"error of $x_\mathrm{cw}$ [%]", xlim=(1, 1e7))
    ax.axhline(0, color="k", lw=0.5)
    ax.legend(frameon=False, fontsize=8)
    save(fig, "core_wing.png")


# ---- tables ---------------------------------------------------------------------------------------------------------


def markdown(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header)] + rows
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.0f}" if value >= 100 else f"{value:#.3g}" if value >= 1e-4 else f"{value:.1e}"


def pair(values: tuple[float | None, ...], scale: float = 1) -> str:
    return " / ".join(number(v if v is None else scale * v) for v in values)


def table_accuracy(accuracy: dict[str, np.ndarray]) -> str:
    """Largest error; for both precisions if they differ."""
    rows = []
    for low, high, name in ((1e-8, 1e-6, "1e-8 to 1e-6"), (1e-6, 1e-4, "1e-6 to 1e-4"), (1e-4, 1e-2, "1e-4 to 0.01"),
                            (1e-2, 2e-2, "0.01 to 0.02"), (2e-2, 1e-1, "0.02 to 0.1"), (1e-1, 1, "0.1 to 1")):
        inside = (accuracy["a"] >= 0.99 * low) & (accuracy["a"] <= 1.01 * high)
        cells = []
        for scheme in VOIGT:
            double, single = (accuracy[f"{scheme} {precision}"][inside].max() for precision in ("double", "single"))
            cells.append(f"{double:.1e}" + (f" / {single:.1e}" if single > 1.1 * double else ""))
        rows.append([name] + cells)
    return markdown(["a", *(NAME.get(s, s) for s in VOIGT)], rows)


def table_voigt(machines: list[Machine]) -> str:
    """Throughput / latency in ns, on GPUs in ps."""
    rows = []
    for name, mode, x in (("0 to 4", "random H+gaussian", 4.0), ("20, H alone", "fixed H", 20.0)):
        for machine in machines:
            kinds = machine.kinds + [(b, "single") for b in machine.backends if b == "one lane"]
            for backend, precision in kinds if x == 4 else machine.kinds[:1]:
                cells = [pair(tuple(machine.value.get((backend, precision, "voigt", scheme, f"{kind} {mode}", 1e-3, x))
                                    for kind in ("throughput", "latency")), 1e3 if backend == "gpu" else 1) for scheme in VOIGT]
                rows.append([name, machine.row(backend, precision, "ps")] + cells)
    return markdown(["x", "machine", *(NAME.get(s, s) for s in VOIGT)], rows)


def table_velocity(machines: list[Machine]) -> str:
    """Millions of draws per second, on GPUs thousands of millions."""
    rows = []
    for machine in machines:
        for backend, precision in machine.kinds:
            points = [("2", "fixed", 2.0), ("10", "fixed", 10.0), ("0 to 20", "random", 10.0)]
            for name, order, x in points if precision == "single" else points[2:]:
                times = [machine.value.get((backend, precision, "u_parallel", s, f"step {order}", 1e-3, x)) for s in MIXED]
                unit = 1 if backend == "gpu" else 1e3
                rows.append([machine.row(backend, precision, "10⁹"), name] + [number(unit / t) if t else "" for t in times])
    return markdown(["machine", "x", *MIXED], rows)


def table_shapes(machines: list[Machine]) -> str:
    """Thousands of millions of draws per second on GPUs for x up to 4, in both shapes, sorted and not."""
    rows = []
    for machine in machines:
        for mode in ("step random", "loop random", "loop sorted"):
            times = [machine.value.get(("gpu", "single", "u_parallel", s, mode, 1e-3, 2.0)) for s in MIXED]
            rows.append([f"{machine.label}, {mode}"] + [number(1 / t) if t else "" for t in times])
    return markdown(["machine, shape", *MIXED], rows) if rows else "Not measured yet: no `--gpu` file."


def table_proposals(machine: Machine) -> str:
    rows = []
    for scheme in SAMPLERS[:-1]:
        x, mean = machine.curve("one lane", "single", "proposals", scheme, "mean", 1e-3)
        _, largest = machine.curve("one lane", "single", "proposals", scheme, "largest of 32", 1e-3)
        n = min(len(mean), len(largest))
        rows.append([scheme, number(mean[0]), number(np.interp(2, x, mean)), number(np.interp(4, x, mean)), number(mean.max()),
                     f"{x[mean.argmax()]:g}", number(float(np.mean(largest[:n] / mean[:n])))])
    return markdown(["scheme", "x = 0", "x = 2", "x = 4", "most", "at x", "largest of 32 over mean"], rows)


def table_core_wing(machines: list[Machine]) -> str:
    worst = {s: max(abs(v) for k, v in machines[0].value.items() if k[1:4] == ("single", "core_wing_error", s)) for s in CORE_WING}
    rows = [["largest error, 1 to 1e7 K"] + [f"{100 * worst[s]:.2g} %" for s in CORE_WING]]
    for machine in machines:
        for backend, precision in machine.kinds[:1]:
            rows.append([machine.row(backend, precision, "ps")] +
                        [pair(tuple(machine.value.get((backend, precision, "core_wing", scheme, mode, 0.0, 0.0))
                                    for mode in ("throughput", "latency")), 1e3 if backend == "gpu" else 1)
                         for scheme in CORE_WING])
    return markdown(["", *CORE_WING], rows)


def table_generators(machines: list[Machine]) -> str:
    rows = []
    for machine in machines:
        for backend, precision in machine.kinds[:1]:
            rows.append([machine.row(backend, precision, "ps")] +
                        [pair(tuple(machine.value.get((backend, precision, "generator", g, mode, 0.0, 8.0))
                                    for mode in ("words", "fixed uniform", "unbiased uniform")), 1e3 if backend == "gpu" else 1)
                         for g in GENERATORS])
    return markdown(["", *GENERATORS], rows)


def write(tables: dict[str, str]) -> None:
    """Each table between <!-- table: NAME --> and <!-- end --> of the page."""
    text = PAGE.read_text() if PAGE.exists() else ""
    for name, table in tables.items():
        print(f"{name}\n\n{table}\n")
        text = re.sub(rf"(<!-- table: {name} -->\n).*?(<!-- end -->)", lambda m: f"{m[1]}{table}\n{m[2]}", text, flags=re.S)
    if text:
        PAGE.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--accuracy", required=True, metavar="FILE")
    parser.add_argument("--cpu", action="append", required=True, metavar="LABEL=FILES")
    parser.add_argument("--gpu", action="append", default=[], metavar="LABEL=FILES")
    args = parser.parse_args()
    cpus, gpus = [Machine(a) for a in args.cpu], [Machine(a) for a in args.gpu]
    machines = cpus + gpus
    with open(args.accuracy) as file:
        header, *rows = csv.reader(file)
    accuracy = dict(zip(header, np.array(rows, dtype=float).T))
    (HERE / "figures").mkdir(exist_ok=True)
    plt.rcParams.update(PAPER)
    draw_accuracy(accuracy)
    draw_voigt_speed(machines)
    draw_velocity_speed(machines)
    draw_proposals(cpus[0])
    draw_core_wing(cpus[0])
    write({"voigt accuracy": table_accuracy(accuracy),
           "voigt speed": table_voigt(machines),
           "u_parallel": table_velocity(machines),
           "shapes": table_shapes(gpus),
           "proposals": table_proposals(cpus[0]),
           "core wing": table_core_wing(machines),
           "generators": table_generators(machines)})


if __name__ == "__main__":
    main()
