"""python3 -m thor."""

import contextlib
import io
import os
import unittest
import warnings
from unittest import mock

import h5py
import numpy as np
from support import WAVELENGTH0, WithFiles, png_pixels, put, write_result

import thor
from thor.__main__ import main


class WithCommand(WithFiles):
    def run_main(self, *arguments):
        """Exit code, stdout, stderr."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(list(arguments))
        return code, out.getvalue(), err.getvalue()


class CommandTest(WithCommand):
    def test_info(self):
        write_result(self.path)
        code, out, err = self.run_main("info", self.path)
        self.assertEqual((code, err), (0, ""))
        self.assertIn("20,000", out)
        self.assertIn("driver: mcrt", self.run_main("info", self.path, "--config")[1])

    def test_errors_and_warnings_go_to_stderr(self):
        code, out, err = self.run_main("info", self.path)
        self.assertEqual((code, out), (3, ""))
        self.assertIn("no such file", err)
        write_result(self.path, complete=False)
        code, out, err = self.run_main("info", self.path)
        self.assertEqual(code, 0)
        self.assertTrue(err.startswith("thor: warning:"), err)
        self.assertEqual(err.count("\n"), 1)

    def test_plot_writes_figures(self):
        coarse = mock.patch.dict(thor.PAPER, {"savefig.dpi": 100})  # to be fast
        coarse.start()
        self.addCleanup(coarse.stop)
        write_result(self.path)
        seen = set()
        for axis in ("x", "velocity", "wavelength", "frequency"):
            figure = os.path.join(self.folder, f"{axis}.png")
            code, _, err = self.run_main("plot", self.path, "-o", figure, "--axis", axis)
            self.assertEqual((code, err), (0, ""))
            pixels = png_pixels(figure)
            self.assertGreater(len(pixels), 100_000)
            self.assertGreater(len(set(pixels)), 50)  # a blank page has two or three values
            seen.add(pixels)
        self.assertEqual(len(seen), 4)

    def test_plot_failures(self):
        write_result(self.path)
        figure = os.path.join(self.folder, "no", "out.png")
        self.assertEqual(self.run_main("plot", self.path, "-o", figure)[0], 6)
        figure = os.path.join(self.folder, "out.png")
        code, _, err = self.run_main("plot", self.path, "-o", figure, "--name", "emergant")
        self.assertEqual(code, 2)
        self.assertIn("emergent", err)
        self.assertFalse(os.path.exists(figure))


class ProductsTest(WithCommand):
    """Every kind of product can be named."""

    def setUp(self):
        super().setUp()
        coarse = mock.patch.dict(thor.PAPER, {"savefig.dpi": 60})
        coarse.start()
        self.addCleanup(coarse.stop)
        write_result(self.path, photons=100)
        common = {"of": "escaped", "luminosity_beyond": 0.0, "error_method": "groups", "wavelength0": WAVELENGTH0}
        sky = {**common, "observer": "face", "direction": "0 0 1", "centre": "0 0 0"}
        side, channels = np.linspace(-5, 5, 5), np.linspace(-100, 100, 4)
        axes = {
            "velocity": (channels, "km s-1"), "impact": (np.linspace(0, 3e22, 5), "cm"),
            "scatterings": (np.geomspace(1, 1e5, 6), ""), "frequency": (np.linspace(2.464e15, 2.468e15, 7), "Hz"),
        }  # fmt: skip
        with h5py.File(self.path, "a") as file:
            for kind, array, shape, edges in (
                ("images/pic", "surface_brightness", (4, 4), {}),
                ("cubes/ifu", "intensity", (3, 4, 4), {"edges": channels}),
                ("profiles/rings", "surface_brightness", (5,), {"edges": np.geomspace(0.1, 10, 6)}),
            ):
                edges = {"edges_right": side, "edges_up": side, **edges} if kind != "profiles/rings" else edges
                self.put(file, kind, array, shape, edges, {**sky, "axis": "velocity"})
            for i, names in enumerate(("velocity", "scatterings", "frequency", "impact velocity", "scatterings frequency", "impact velocity scatterings")):
                edges = {f"edges_{name}": axes[name][0] for name in names.split()}
                shape = tuple(len(e) - 1 for e in edges.values())
                group = self.put(file, f"histograms/h{i}", "luminosity", shape, edges, {**common, "axes": names})
                for name in names.split():
                    put(group[f"edges_{name}"], units=axes[name][1])
            self.put(file, "histograms/dark", "luminosity", (3,), {"edges_velocity": channels}, {**common, "axes": "velocity"}, 0.0)
        self.figure = os.path.join(self.folder, "out.png")

    def put(self, file, place, array, shape, edges, attributes, scale=1e40):
        group = file.create_group(place)
        group[array] = scale * (1.0 + np.arange(np.prod(shape)).reshape(shape))
        group["error"] = 0.1 * group[array][()]
        for name, values in edges.items():
            group[name] = values
        put(group, **attributes)
        return group

    def test_each_is_drawn(self):
        for name in ("h1", "h2", "h4"):  # the others: test_as_plot_and_savefig
            with self.subTest(name):
                self.draw(name)

    def draw(self, name):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            code, _, err = self.run_main("plot", self.path, "-o", self.figure, "--name", name)
        self.assertEqual((code, err), (0, ""))
        self.assertGreater(len(set(png_pixels(self.figure))), 50)

    def test_as_plot_and_savefig(self):
        """A picture of the command is that of plot() and savefig, whose style is that of a paper, not of the session."""
        import matplotlib
        from matplotlib.image import imread

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        result, other = self.open(), os.path.join(self.folder, "other.png")
        style = dict(matplotlib.rcParams)
        for name, plot in (
            ("emergent", lambda: thor.plot_spectrum(result, name="emergent")), ("pic", result.images["pic"].plot),
            ("ifu", result.cubes["ifu"].plot), ("rings", result.profiles["rings"].plot), ("h0", result.histograms["h0"].plot),
            ("h3", result.histograms["h3"].plot),
        ):  # fmt: skip
            self.draw(name)
            figure = plot().figure
            figure.savefig(other)
            plt.close(figure)
            self.assertAlmostEqual(figure.get_figwidth(), 3.4)
            np.testing.assert_array_equal(imread(other), imread(self.figure), name)
            os.remove(self.figure)
        self.assertEqual(style, dict(matplotlib.rcParams))
        open_before = plt.get_fignums()
        with self.assertRaises(thor.ArgumentError):
            result.histograms["dark"].plot()
        self.assertEqual(plt.get_fignums(), open_before)

    def test_moments_of_a_cube(self):
        ax = self.open().cubes["ifu"].plot(self.axes(), moment="mean")
        norm = ax.images[0].norm
        self.assertEqual((ax.images[0].cmap.name, norm.vmin), ("RdBu_r", -norm.vmax))
        self.assertEqual(ax.child_axes[0].get_ylabel(), "mean velocity [km s$^{-1}$]")
        self.assertEqual(self.open().cubes["ifu"].plot(self.axes(), moment="blue_fraction").images[0].norm.vmax, 1.0)
        with self.assertRaisesRegex(thor.ArgumentError, "unknown moment"):
            self.open().cubes["ifu"].plot(self.axes(), moment="third")
        code, _, err = self.run_main("plot", self.path, "-o", self.figure, "--name", "ifu", "--moment", "dispersion")
        self.assertEqual((code, err), (0, ""))
        code, _, err = self.run_main("plot", self.path, "-o", self.figure, "--name", "pic", "--moment", "mean")
        self.assertEqual(code, 2)

    def axes(self):
        from matplotlib.figure import Figure

        return Figure().add_subplot()

    def test_right_ascension_grows_to_the_left(self):
        with h5py.File(self.path, "r+") as file:
            for name in ("edges_right", "edges_up"):
                put(file[f"images/pic/{name}"], units="arcsec")
            put(file.create_group("sky"), distance_luminosity=1000.0, redshift=0.2)
        ax = self.open().images["pic"].plot(self.axes())
        self.assertEqual((ax.get_xlabel(), ax.get_ylabel()), (r"$\Delta$RA [arcsec]", r"$\Delta$Dec [arcsec]"))
        self.assertEqual((ax.get_xlim(), ax.get_ylim()), ((5, -5), (-5, 5)))

    def test_caveats_are_printed_below(self):
        from matplotlib.image import imread

        for trusted, options, shown in ((0.9, (), False), (0.2, (), True), (0.2, ("--no-caveats",), False)):
            with h5py.File(self.path, "r+") as file:
                put(file["images/pic"], trusted=trusted)
                put(file["summary"], caveats="the errors of some output are large: " + 40 * "so it is said at length, ")
            self.run_main("plot", self.path, "-o", self.figure, "--name", "pic", *options)
            pixels = imread(self.figure)
            red = np.any(pixels[..., 0] - pixels[..., 1] > 0.4, axis=1)
            below = red[-len(pixels) // 12 :]
            self.assertEqual(bool(np.any(below)), shown, (trusted, options))

    def test_three_axes(self):
        code, _, err = self.run_main("plot", self.path, "-o", self.figure, "--name", "h5")
        self.assertEqual(code, 2)
        self.assertIn("3 axes, impact, velocity, scatterings", err)
        self.assertIn("--along impact,velocity", err)
        for along in ("impact,velocity", "scatterings"):
            code, _, err = self.run_main("plot", self.path, "-o", self.figure, "--name", "h5", "--along", along)
            self.assertEqual((code, err), (0, ""))

    def test_what_does_not_fit(self):
        for arguments, said in (
            (("--name", "pic", "--axis", "x"), "--axis is for spectra, which pic is not"),
            (("--name", "h0", "--normalize"), "--normalize is for spectra"),
            (("--name", "pic", "--along", "velocity"), "--along is for histograms"),
            (("--along", "velocity"), "--along is for histograms"),
            (("--name", "h5", "--along", "colour"), "has the axes impact, velocity, scatterings, not colour"),
            (("--name", "dark"), "histogram 'dark' is dark"),
            (("--name", "zz"), "h0 (histogram)"),
        ):
            code, _, err = self.run_main("plot", self.path, "-o", self.figure, *arguments)
            self.assertEqual((code, err.count("\n")), (2, 1), err)
            self.assertIn(said, err)
            self.assertFalse(os.path.exists(self.figure))

    def test_axes_have_units(self):
        from matplotlib.figure import Figure

        result = self.open()
        ax = result.histograms["h3"].plot(Figure().add_subplot())
        self.assertEqual((ax.get_xlabel(), ax.get_ylabel()), ("projected radius [kpc]", "velocity from Lyα 1215.67 Å [km s$^{-1}$]"))
        self.assertAlmostEqual(ax.get_xlim()[1], 3e22 / 3.0856775814913673e21)
        values = ax.collections[0].get_array().reshape(3, 4)  # rows upward: velocity
        np.testing.assert_allclose(values, result.histograms["h3"].luminosity.T)
        scales = [(p.get_xscale(), p.get_yscale()) for p in (result.histograms[f"h{i}"].plot(Figure().add_subplot()) for i in (1, 2, 4))]
        self.assertEqual(scales, [("log", "linear"), ("linear", "linear"), ("log", "linear")])
        self.assertEqual(result.profiles["rings"].plot(Figure().add_subplot()).get_xscale(), "log")
        with self.assertRaises(thor.ArgumentError):
            result.histograms["h3"].plot(cmap="infrared")


if __name__ == "__main__":
    unittest.main()
