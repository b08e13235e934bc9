#!/usr/bin/python3
"""The figure of docs/performance.md: runtime_plot.py runtime.csv runtime.png"""
import csv
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

rows = list(csv.DictReader(open(sys.argv[1])))
colour = {"device": "#1f6fb4", "cpu": "#c1501f"}
label = {"device": "one GPU", "cpu": "all processors"}
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), constrained_layout=True)
for where in ("device", "cpu"):
    for skip, style in (("none", "o-"), ("local", "s--")):
        runs = [r for r in rows if r["where"] == where and r["skip"] == skip]
        whole = [r for r in runs if r["cap"] == "2000000000"]
        name = f"{label[where]}, {'every scattering' if skip == 'none' else 'core skipping'}"
        if whole:
            left.loglog([float(r["tau0"]) for r in whole],
                        [float(r["seconds"]) / float(r["photons"]) * 1000 for r in whole],
                        style, color=colour[where], label=name, markerfacecolor="none" if skip == "local" else None)
        if runs:
            right.loglog([float(r["tau0"]) for r in runs],
                         [float(r["seconds"]) / float(r["scatterings"]) * 1e9 for r in runs],
                         style, color=colour[where], label=name, markerfacecolor="none" if skip == "local" else None)
left.set(xlabel=r"$\tau_0$", ylabel="seconds per 1000 photons")
right.set(xlabel=r"$\tau_0$", ylabel="nanoseconds per scattering")
left.legend(frameon=False, fontsize=8)
for axes in (left, right):
    axes.tick_params(which="both", direction="in", top=True, right=True)
figure.savefig(sys.argv[2], dpi=150)
