"""Plots the spectrum of sphere.yaml with the analytic solution: plot.py RESULT.h5 PICTURE.png"""
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import thor


def main(result_path: str, picture: str) -> None:
    with thor.open(result_path) as result:
        a, tau0 = result.attributes["voigt_parameter"], result.attributes["tau0"]
        fig, ax = plt.subplots(figsize=(6, 4))
        thor.plot_spectrum(result, ax=ax, normalize=True, label="thor",
                           analytic=lambda x: thor.analytic.sphere(x, a, tau0), analytic_label="Dijkstra et al. 2006")
        fig.tight_layout()
        fig.savefig(picture, dpi=160)


if __name__ == "__main__":
    main(*sys.argv[1:3])
