"""Plots the spectrum of sphere.yaml and the analytic solution, which has no free parameter: plot.py RESULT.h5 PICTURE.png"""
import sys

import matplotlib

matplotlib.use("Agg")

import thor


def main(result_path: str, picture: str) -> None:
    with thor.open(result_path) as result:
        a, tau0 = result.attributes["voigt_parameter"], result.attributes["tau0"]
        ax = thor.plot_spectrum(result, normalize=True, label="thor",
                                analytic=lambda x: thor.analytic.sphere(x, a, tau0), analytic_label="Dijkstra et al. 2006\n(diffusion limit)")
        ax.figure.savefig(picture)


if __name__ == "__main__":
    main(*sys.argv[1:3])
