"""Results of the raytracing driver: reading, analysis and figures."""

import contextlib
import dataclasses
import io
import os
import unittest
import warnings
from unittest import mock

import h5py
import numpy as np
from support import WithFiles, need_thor, png_pixels, put, write_result

import thor
from thor.__main__ import main
from thor.rays import KPC

SIDE, BINS = 4, 50


def camera(group, columns, rows, **attributes):
    put(group, camera="face", camera_type="orthographic", centre=np.zeros(3), direction=np.array([0, 0, 1.0]),
        right=np.array([1.0, 0, 0]), up=np.array([0, 1.0, 0]), **attributes)  # fmt: skip
    for name, count in (("edges_right", columns), ("edges_up", rows)):
        group[name] = np.linspace(-count / 2, count / 2, count + 1)
        put(group[name], units="kpc")


def write_rays(path):
    """A result of rays as thor would write it, with numbers that are easy to check."""
    with h5py.File(path, "w") as file:
        put(file, thor_version="0.1.0", format_version=1, driver="raytrace", config="driver: raytrace\n", seed=1, device="cpu",
            precision="single", git_commit="abc1234")  # fmt: skip
        put(file.create_group("summary"), complete=np.bool_(True), rays=1234, transport_seconds=0.5, threads=2, ranks=1,
            caveats="", warnings="operators.3: 1 of 16 sightlines miss the gas and are empty.")  # fmt: skip
        values = {
            "column": np.geomspace(1e12, 1e21, 60).reshape(6, 10),
            "cut": np.where(np.arange(60) == 7, np.nan, np.arange(60) + 100.0).reshape(6, 10),
            "speed": np.linspace(-200, 100, 60).reshape(6, 10),
        }
        about = {"column": ("projection", "HI_density", "cm-2"), "cut": ("slice", "temperature", "K"),
                 "speed": ("projection", "velocity", "km s-1")}  # fmt: skip
        for name, (operator, field, unit) in about.items():
            group = file.create_group(f"images/{name}")
            camera(group, 10, 6, operator=operator, field=field, weight="density" if name == "speed" else "")
            group["value"] = values[name]
            put(group["value"], units=unit)
        group = file.create_group("images/view")
        camera(group, 10, 6, operator="render", field="temperature")
        group["rgba"] = np.broadcast_to([0.2, 0.3, 1.5, 0.25], (6, 10, 4)).astype("f4")
        group = file.create_group("absorption/forest")
        put(group, line="Lya", wavelength0=1215.6701, axis="velocity", oversampling=2, hubble=1e-17)
        depth = np.linspace(0.1, 2, SIDE * SIDE)[:, None] * np.linspace(0.5, 1.5, BINS)[None, :]
        group["tau"], group["flux"] = depth.astype("f4"), np.exp(-depth).astype("f4")
        group["edges"] = np.linspace(0, 500, BINS + 1)
        put(group["edges"], units="km s-1")
        group["column_density"], group["equivalent_width"] = np.geomspace(1e13, 1e20, SIDE * SIDE), np.linspace(0.1, 9, SIDE * SIDE)
        # As seen along +z, with y upward, x is to the left.
        at = ((np.arange(SIDE) + 0.5) / SIDE - 0.5) * 8 * KPC
        group["begin"] = np.array([[-at[i], at[j], -4 * KPC] for j in range(SIDE) for i in range(SIDE)])
        group["direction"] = np.broadcast_to([0.0, 0, 1], (SIDE * SIDE, 3))
        group = file.create_group("traces/run")
        group["first"] = np.array([0, 3, 3, 5])
        group["begin"], group["length"] = np.array([0, 1, 2, 0, 4.0]) * KPC, np.array([1, 1, 2, 4, 1.0]) * KPC
        group["density"], group["velocity"] = np.array([1, 10, 100, 5, 6.0]), np.array([-1, 2, 3, 4, 5.0])
        put(group["density"], units="cm-3 g")
    return values


class Reading(WithFiles):
    def setUp(self):
        super().setUp()
        self.values = write_rays(self.path)
        self.rays = self.open()

    def test_images(self):
        self.assertIsInstance(self.rays, thor.RayResult)
        self.assertEqual((self.rays.driver, list(self.rays.images)), ("raytrace", ["column", "cut", "speed", "view"]))
        for name, values in self.values.items():
            np.testing.assert_array_equal(self.rays.images[name].values, values)
        column = self.rays.images["column"]
        self.assertEqual((column.unit, column.operator, column.field, column.weight), ("cm-2", "projection", "HI_density", ""))
        self.assertEqual((column.camera, column.camera_type, column.length), ("face", "orthographic", "kpc"))
        self.assertAlmostEqual(column.total() / (np.sum(self.values["column"]) * KPC**2), 1, delta=1e-12)
        for name in ("cut", "speed"):  # a slice, and a mean
            with self.assertRaisesRegex(thor.ArgumentError, "no integral"):
                self.rays.images[name].total()
        self.assertEqual(self.rays.images["speed"].weight, "density")
        np.testing.assert_array_equal(column.axes, [[1, 0, 0], [0, 1, 0]])
        with self.assertRaisesRegex(thor.MissingError, "no image 'zz': available are column, cut, speed, view"):
            self.rays.images["zz"]

    def test_picture(self):
        view = self.rays.images["view"]
        self.assertIsInstance(view, thor.Picture)
        np.testing.assert_allclose(view.over()[0, 0], [0.2, 0.3, 1], rtol=1e-6)
        np.testing.assert_allclose(view.over((1, 1, 1))[0, 0], [0.95, 1, 1], rtol=1e-6)
        np.testing.assert_allclose(view.over(stretch=3)[0, 0], [0.2 / 1.5, 0.3 / 1.5, 1], rtol=1e-6)  # the brightest pixel is 1
        with self.assertRaises(thor.ArgumentError):
            view.over(stretch=-1)

    def test_absorption(self):
        forest = self.rays.absorption["forest"]
        self.assertEqual((len(forest), forest.axis_units, forest.line.name), (16, "km s-1", "Lya"))
        self.assertIsNone(forest.observed)
        self.assertEqual(forest.centers[0], 5)
        self.assertAlmostEqual(forest.mean_flux()[0], np.mean(forest.flux), delta=1e-12)
        self.assertAlmostEqual(forest.effective_depth()[0], -np.log(np.mean(forest.flux)), delta=1e-12)
        self.assertAlmostEqual(forest.mean_flux()[1], np.std(np.mean(forest.flux, axis=1), ddof=1) / 4, delta=1e-12)
        # Half of the first bin, and all of the second.
        window = (0.5 * forest.flux[:, 0] + forest.flux[:, 1]) / 1.5
        self.assertAlmostEqual(forest.mean_flux("5 km/s", 20)[0], np.mean(window), delta=1e-12)
        with self.assertRaisesRegex(thor.ArgumentError, "no bin between 600 and 700"):
            forest.mean_flux(600, 700)

    def test_bins_that_are_not_covered(self):
        """nan is left out of means, by the width that is left of each sightline, and drawn as a gap."""
        forest = self.rays.absorption["forest"]
        flux = forest.flux.copy()
        flux[:, -1], flux[0] = np.nan, np.nan
        flux[1, 1:] = np.nan
        gaps = dataclasses.replace(forest, flux=flux, beyond="unknown")
        mean, error = gaps.mean_flux()
        self.assertAlmostEqual(mean, np.nanmean(flux), delta=1e-12)
        self.assertGreater(abs(mean - np.mean(np.nanmean(flux[1:], axis=1))), 1e-4, "the twin: all sightlines alike")
        self.assertTrue(0 < error < 1)
        self.assertAlmostEqual(gaps.effective_depth()[0], -np.log(mean), delta=1e-12)
        self.assertIn(f"mean flux {mean:.4g}", repr(gaps))
        self.assertTrue(np.isnan(gaps.tomography().values[0, 0]) and np.sum(np.isnan(gaps.tomography().values)) == 1)
        self.assertTrue(np.all(np.isfinite(gaps.plot([0, 1, 2]).get_ylim())))
        nothing = dataclasses.replace(forest, flux=np.full_like(flux, np.nan))
        self.assertTrue(np.isnan(nothing.mean_flux()[0]))
        self.assertIn("Absorption", repr(nothing))

    def test_tomography(self):
        forest = self.rays.absorption["forest"]
        image = forest.tomography(0, 10)
        np.testing.assert_allclose(image.values, forest.flux[:, 0].reshape(SIDE, SIDE), rtol=1e-12)
        np.testing.assert_allclose(image.right, np.linspace(-4, 4, SIDE + 1), atol=1e-12)
        np.testing.assert_allclose(image.axes, [[-1, 0, 0], [0, 1, 0]], atol=1e-12)
        np.testing.assert_array_equal(image.direction, [0, 0, -1])
        with h5py.File(self.path.replace("out", "uneven"), "w") as other, h5py.File(self.path) as file:
            for name in file:
                file.copy(name, other)
            for name, value in file.attrs.items():
                other.attrs[name] = value
            other["absorption/forest/begin"][3, 0] *= 1.1
        with self.assertRaisesRegex(thor.ArgumentError, "no regular grid"):
            thor.open(self.path.replace("out", "uneven")).absorption["forest"].tomography()

    def test_traces(self):
        run = self.rays.traces["run"]
        self.assertEqual([len(trace.begin) for trace in run], [3, 0, 2])
        np.testing.assert_array_equal(run[2]["density"], [5, 6])
        self.assertEqual(run[0].units["density"], "cm-3 g")
        self.assertAlmostEqual(run[0].integral("density") / KPC, 211, delta=1e-9)
        for call in (lambda: run[3], lambda: run[0]["colour"]):
            with self.assertRaises(thor.MissingError):
                call()

    def test_description_and_kinds(self):
        for part in ("1,234 rays", "column", "forest", "run", "16 sightlines", "caveat"):
            self.assertIn(part, repr(self.rays))
        with self.assertRaisesRegex(thor.ResultError, "rays made it"):
            thor.Result(self.path)
        photons = os.path.join(self.folder, "photons.h5")
        write_result(photons)
        self.assertIsInstance(thor.open(photons), thor.Result)
        with self.assertRaisesRegex(thor.ResultError, "no result of rays"):
            thor.RayResult(photons)

    def test_damaged(self):
        self.rays.close()
        damages = {
            "images/column/value": np.zeros((3, 10)), "images/view/rgba": np.zeros((6, 10, 3)), "absorption/forest/tau": np.zeros((16, 3)),
            "absorption/forest/edges": np.zeros(BINS + 1), "traces/run/first": np.array([0, 9]), "images/cut/edges_up": np.zeros(7),
        }  # fmt: skip
        for name, wrong in damages.items():
            write_rays(self.path)
            with h5py.File(self.path, "a") as file:
                del file[name]
            with self.assertRaises(thor.ResultError, msg=name):
                thor.open(self.path)
            with h5py.File(self.path, "a") as file:
                file[name] = wrong
            with self.assertRaisesRegex(thor.ResultError, "damaged", msg=name):
                thor.open(self.path)


class Figures(WithFiles):
    def setUp(self):
        super().setUp()
        write_rays(self.path)
        self.rays = self.open()

    def drawn(self, ax):
        import matplotlib.pyplot as plt

        self.addCleanup(plt.close, ax.figure)
        ax.figure.canvas.draw()
        return ax

    def test_scales_of_images(self):
        from matplotlib.colors import LogNorm, Normalize

        column = self.drawn(self.rays.images["column"].plot()).images[0]
        self.assertIsInstance(column.norm, LogNorm)
        self.assertAlmostEqual(column.norm.vmin / 1e13, 1, delta=1e-9)  # 8 decades below 1e21
        cut = self.drawn(self.rays.images["cut"].plot()).images[0]
        self.assertIs(type(cut.norm), Normalize)  # all within a factor of 3
        self.assertEqual(cut.cmap(np.ma.masked_invalid([np.nan]))[0].tolist(), [0.6, 0.6, 0.6, 1])
        speed = self.drawn(self.rays.images["speed"].plot())
        self.assertEqual((speed.images[0].norm.vmin, speed.images[0].norm.vmax), (-200, 200))
        self.assertIn("mean by density [km s$^{-1}$]", speed.child_axes[0].get_ylabel())
        self.assertEqual((speed.get_xlabel(), speed.get_ylabel()), (r"$\Delta x$ [kpc]", r"$\Delta y$ [kpc]"))
        away = dataclasses.replace(self.rays.images["speed"], values=np.full((6, 10), 30.0))
        norm = self.drawn(away.plot()).images[0].norm
        self.assertEqual((norm.vmin, norm.vmax), (-30, 30), "velocities diverge from 0 even if all have one sign")
        set_by_hand = self.drawn(self.rays.images["column"].plot(vmin=1e15, vmax=1e20)).images[0]
        self.assertEqual((set_by_hand.norm.vmin, set_by_hand.norm.vmax), (1e15, 1e20))
        nothing = self.rays.images["cut"]
        nothing.values[:] = np.nan
        self.drawn(nothing.plot())
        with self.assertRaisesRegex(thor.ArgumentError, "no sightline was chosen"):
            self.rays.absorption["forest"].plot([])
        for wrong in ({"cmap": "none"}, {"decades": 0}, {"low": 3}):
            with self.assertRaises(thor.ArgumentError):
                self.rays.images["column"].plot(**wrong)

    def test_spectra_and_traces(self):
        forest = self.rays.absorption["forest"]
        self.assertEqual(len(self.drawn(forest.plot([0, -1])).patches), 2)
        self.assertEqual(self.drawn(forest.plot(3, what="tau")).get_yscale(), "log")
        with self.assertRaisesRegex(thor.MissingError, "nothing was observed"):
            forest.plot(0, what="observed")
        for wrong in (16, "first", 1.5):
            with self.assertRaises((thor.MissingError, TypeError)):
                forest.plot(wrong)
        run = self.drawn(self.rays.traces["run"].plot("density", [0, 1, 2]))
        self.assertEqual((len(run.patches), run.get_yscale(), run.get_xlabel()), (2, "log", "distance along the sightline [kpc]"))
        self.assertEqual(run.get_ylabel(), "density [g cm$^{-3}$]")
        self.assertEqual(self.drawn(self.rays.traces["run"].plot("velocity")).get_yscale(), "linear")

    def test_a_run_that_was_cut_is_said_below(self):
        with h5py.File(self.path.replace("out", "cut"), "w") as other, h5py.File(self.path) as file:
            for name in file:
                file.copy(name, other)
            for name, value in file.attrs.items():
                other.attrs[name] = value
            put(other["summary"], complete=np.bool_(False))
        cut = thor.open(self.path.replace("out", "cut"))
        self.addCleanup(cut.close)
        for plot in (
            cut.images["column"].plot, cut.images["view"].plot, cut.absorption["forest"].plot,
            lambda **options: cut.traces["run"].plot("density", **options),
        ):  # fmt: skip
            self.assertIn("run cut", self.drawn(plot()).figure._supxlabel.get_text())
            self.assertIsNone(self.drawn(plot(caveats=False)).figure._supxlabel)
        self.assertIsNone(self.drawn(self.rays.images["column"].plot()).figure._supxlabel)

    def test_command(self):
        figure = os.path.join(self.folder, "out.png")

        def run_main(*arguments):
            said = io.StringIO()
            with contextlib.redirect_stderr(said), mock.patch.dict(thor.PAPER, {"savefig.dpi": 60}):
                code = main(["plot", self.path, "-o", figure, *arguments])
            return code, said.getvalue()

        seen = set()
        for options in ((), ("--name", "column"), ("--name", "view"), ("--name", "forest", "--sightline", "3"),
                        ("--name", "run", "--field", "velocity")):  # fmt: skip
            self.assertEqual(run_main(*options), (0, ""))
            seen.add(png_pixels(figure))
        self.assertEqual(len(seen), 5)
        for options, clue in (
            (("--name", "zz"), "column (image)"), (("--axis", "x"), "--axis"), (("--name", "column", "--field", "x"), "--field"),
            (("--name", "forest", "--sightline", "99"), "there are 16"), (("--along", "x"), "--along"),
        ):  # fmt: skip
            code, said = run_main(*options)
            self.assertEqual(code, 2)
            self.assertIn(clue, said)
        self.rays.close()
        write_result(self.path)
        self.assertEqual(run_main("--sightline", "1")[0], 2)


class OfRuns(WithFiles):
    """What thor itself writes, as HDF5 and as zarr."""

    CONFIG = {
        "driver": "raytrace",
        "dataset": {"type": "shell", "outer_radius": "1 kpc", "temperature": "1e4 K", "column_density": "1e14 cm^-2",
                    "velocity": {"profile": "linear", "max": "50 km/s"}},
        "cameras": [{"name": "face", "direction": [1, 2, 3], "width": "2.2 kpc", "pixels": 24, "rows": 16}],
        "operators": [
            {"type": "projection", "name": "column", "camera": "face", "field": "HI_density", "samples": 4},
            {"type": "projection", "name": "speed", "camera": "face", "field": "velocity", "weight": "HI_density"},
            {"type": "slice", "name": "cut", "camera": "face", "field": "temperature"},
            {"type": "render", "name": "view", "camera": "face", "field": "temperature",
             "transfer": {"range": [1e3, 1e5], "map": "viridis"}},
            {"type": "absorption", "name": "forest", "line": "Lya", "sightlines": {"grid": 3}, "range": ["-200 km/s", "200 km/s"],
             "bins": 80, "lsf": "10 km/s", "signal_to_noise": 20},
            {"type": "tracer", "name": "run", "fields": "HI_density, velocity", "sightlines": {"random": 2}},
        ],
    }  # fmt: skip

    @classmethod
    def setUpClass(cls):
        need_thor()

    def test_files(self):
        for name in ("rays.h5", "rays.zarr"):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                rays = thor.run(self.CONFIG, os.path.join(self.folder, name), quiet=True)
            self.assertIsInstance(rays, thor.RayResult)
            self.assertEqual(set(rays.images), {"column", "speed", "cut", "view"})
            column = rays.images["column"]
            self.assertEqual(column.values.shape, (16, 24))
            self.assertAlmostEqual(np.nanmax(column.values) / 2e14, 1, delta=0.01)  # the column is that of a radius
            np.testing.assert_allclose(column.direction, np.array([1, 2, 3]) / 14**0.5, rtol=1e-12)
            np.testing.assert_allclose(np.cross(*column.axes), column.direction, atol=1e-12)
            forest = rays.absorption["forest"]
            self.assertEqual((forest.observed.shape, forest.lsf, forest.signal_to_noise), ((9, 80), 10, 20))
            self.assertAlmostEqual(forest.column_density[4] / 2e14, 1, delta=1e-5)
            self.assertEqual(forest.tomography().values.shape, (3, 3))
            traces = rays.traces["run"]
            self.assertEqual((len(traces), list(traces[0])), (2, ["HI_density", "velocity"]))
            self.assertIn("forest", repr(rays))

    def test_sweep(self):
        at = os.path.join(self.folder, "sweep")
        values = ["1e13 cm^-2", "1e14 cm^-2"]
        for _ in range(2):  # the second time nothing is left to do
            with contextlib.redirect_stderr(io.StringIO()):
                sweep = thor.sweep(self.CONFIG, {"dataset.column_density": values}, at)
            self.assertEqual([len(sweep), list(sweep.table()["complete"])], [2, [True, True]])
        thin, thick = (rays.images["column"].total() for _, rays in sweep)
        self.assertAlmostEqual(thick / thin, 10, delta=1e-4)


if __name__ == "__main__":
    unittest.main()
