"""Figures."""

import unittest

import h5py
import numpy as np
from support import A, TAU0, WithFiles, put, write_result

import thor
from thor.sweep_plot import symbol, value_label


class PlotTest(WithFiles):
    def setUp(self):
        super().setUp()
        write_result(self.path)
        self.result = self.open()

    def axes(self):
        from matplotlib.figure import Figure

        return Figure().add_subplot()

    def test_escaped_spectra_with_analytic_curve(self):
        curve = lambda x: thor.analytic.sphere(x, A, TAU0)
        ax = thor.plot_spectrum(self.result, self.axes(), label="thor", analytic=curve)
        labels = [text.get_text() for text in ax.get_legend().get_texts()]
        self.assertEqual(labels, ["thor", "analytic"])
        self.assertIn("erg", ax.get_ylabel())
        height = np.max(ax.lines[0].get_ydata())
        self.assertAlmostEqual(height / np.max(self.result.spectra["emergent"].flux), 1, delta=0.1)

    def test_several_spectra_on_one_axis(self):
        spectrum = self.result.spectra["emergent"]
        both = {"a": spectrum, "b": spectrum.to("velocity")}
        ax = thor.plot_spectrum(both, self.axes(), axis="velocity", normalize=True)
        self.assertEqual(len(ax.patches), 4)
        self.assertNotEqual(ax.patches[1].get_edgecolor(), ax.patches[3].get_edgecolor())

    def test_a_second_call_widens_the_axes(self):
        spectrum = self.result.spectra["emergent"]
        ax = self.axes()
        thor.plot_spectrum(spectrum, ax, normalize=True)
        before, top = ax.get_xlim(), ax.get_ylim()[1]
        thor.plot_spectrum(spectrum, ax)
        self.assertEqual(ax.get_xlim(), before)
        self.assertGreater(ax.get_ylim()[1], top)
        self.assertEqual(ax.get_ylim()[0], 0.0)

    def test_the_line_is_named(self):
        spectrum = self.result.spectra["emergent"]
        for axis in ("x", "velocity", "wavelength", "frequency"):
            ax = thor.plot_spectrum(spectrum, self.axes(), axis=axis)
            self.assertIn(" Lyα 1215.67 Å", ax.get_xlabel())
            self.assertNotIn("LINE", ax.get_xlabel())
        ax = self.axes()
        for wavelength in (1215.67, 1215.34, 1215.34):
            thor.plot_spectrum(spectrum.about(wavelength), ax)
        self.assertTrue(ax.get_xlabel().endswith(" from Lyα 1215.67 Å and Lyα 1215.34 Å"))
        for name, label in (("MgII", "Mg II"), ("SiII_1190", "Si II 1190"), ("FeII_UV1", "Fe II UV1"), ("my_line", "my_line")):
            self.assertEqual(thor.Line(name, 2796.352).label, f"{label} 2796.35 Å")

    def test_spectra_of_observers_are_drawn_when_named(self):
        self.result.close()
        with h5py.File(self.path, "a") as file:
            file.copy("spectra/emergent", "spectra/seen")
            put(file["spectra/seen"], observer="face")
        with self.open() as result:
            drawn = lambda **options: len(thor.plot_spectrum(result, self.axes(), **options).patches) // 2
            self.assertEqual((drawn(), drawn(name="seen")), (1, 1))
        with h5py.File(self.path, "a") as file:
            del file["spectra/emergent"]
        with self.open() as result:
            ax = thor.plot_spectrum(result, self.axes())
            self.assertEqual(len(ax.patches) // 2, 1, "those of observers, where there are no others")

    def test_nothing_to_draw(self):
        with self.assertRaisesRegex(ValueError, "no spectrum"):
            thor.plot_spectrum([], self.axes())


class LabelTest(unittest.TestCase):
    def test_values(self):
        for value, label in (
            (1e7, "$10^{7}$"),
            ("2e20 cm^-2", r"$2\times10^{20}\,\mathrm{cm^{-2}}$"),
            ("-200 km/s", r"${-}200\,\mathrm{km\,s^{-1}}$"),
            (0, "$0$"),
            (0.1, "$0.1$"),
            ("3 furlong", "3 furlong"),
            ("local", "local"),
        ):
            self.assertEqual(value_label(value), label)
        self.assertEqual(symbol("dataset.tau0"), r"$\tau_0$")
        self.assertEqual(symbol("acceleration.core_skip"), "acceleration.core skip")


if __name__ == "__main__":
    unittest.main()
