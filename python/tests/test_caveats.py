"""Caveats of a result: in its description, as warnings, and on figures."""

import io
import unittest
import warnings
from contextlib import redirect_stderr, redirect_stdout

import h5py
import numpy as np
from support import LUMINOSITY, WithFiles, put, write_result

import thor
from thor.__main__ import main


class CaveatsTest(WithFiles):
    def change(self, **summary):
        self.path += "5"  # another file: the previous one may still be open
        write_result(self.path)
        with h5py.File(self.path, "a") as file:
            put(file["summary"], **summary)

    def axes(self):
        from matplotlib.figure import Figure

        return Figure(layout="constrained").add_subplot()

    def drawn(self, source, **options):
        return self.line_below(thor.plot_spectrum(source, self.axes(), **options))

    def line_below(self, ax):
        """What is said below the axes, in one line that has room in the figure."""
        texts = [text for text in ax.texts if text.get_text()]
        self.assertLessEqual(len(texts), 1)
        self.assertEqual(ax.get_title(loc="right"), "")
        if not texts:
            return ""
        self.assertNotIn("\n", texts[0].get_text())
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        FigureCanvasAgg(ax.figure).draw()
        box, label, whole = texts[0].get_window_extent(), ax.xaxis.label.get_window_extent(), ax.figure.bbox
        self.assertTrue(whole.y0 <= box.y0 and box.y1 <= label.y0 and whole.x0 <= box.x0 and box.x1 <= whole.x1, (box, label, whole))
        return texts[0].get_text()

    def test_nothing_to_say(self):
        write_result(self.path)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = self.open()
        self.assertEqual(result.caveats, ())
        self.assertNotIn("caveat", repr(result))
        self.assertEqual(self.drawn(result), "")

    def test_few_lost(self):
        self.change(lost=20, escaped=19980, luminosity_lost=LUMINOSITY / 1000)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = self.open()
        (caveat,) = result.caveats
        self.assertRegex(caveat, r"^20 photons \(0\.1 %\).*limits\.max_scatterings.*lost: the result is biased")
        self.assertIn(caveat, repr(result))
        self.assertEqual(self.drawn(result), "0.1 % of the photons lost")

    def test_many_lost(self):
        for counts in ({"lost": 400}, {"lost": 20, "luminosity_lost": 0.02 * LUMINOSITY}, {"lost": 20000, "escaped": 0}):
            self.change(**counts)
            with self.assertWarnsRegex(thor.UnreliableRunWarning, "lost: the result is not to be relied on") as caught:
                result = thor.open(self.path)
            self.addCleanup(result.close)
            self.assertEqual(caught.filename, __file__)
            self.assertIn("not to be relied on", repr(result))

    def test_the_file_knows_best(self):
        self.change(lost=400, reliable=np.bool_(True))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.open()
        self.change(lost=400, reliable=np.array([True, False]))  # damaged: by its counts
        with self.assertWarns(thor.UnreliableRunWarning):
            self.open().close()
        self.change(reliable=np.bool_(False))
        with self.assertWarns(thor.UnreliableRunWarning):
            self.open()

    def test_stopped(self):
        self.change(stopped=2000, luminosity_stopped=0.1 * LUMINOSITY)
        result = self.open()
        self.assertRegex(result.caveats[0], r"^2,000 photons with 10 % of the light were stopped")
        self.assertEqual(self.drawn(result), "10 % of the light stopped")
        # A spectrum of those photons includes their light.
        with h5py.File(self.path + "5", "w") as file, h5py.File(self.path) as other:
            for name in ("summary", "spectra", "photons"):
                other.copy(name, file)
            put(file, **{name: value for name, value in other.attrs.items()})
            put(file["spectra/source"], of="stopped")
        self.path += "5"
        result = self.open()
        self.assertEqual((result.caveats, result.spectra["source"].caveats), ((), ()))

    def test_shares_are_of_the_light_that_photons_carry(self):
        """What is absorbed at birth was never on its way, as in the words of the file."""
        self.change(stopped=2000, luminosity_stopped=0.1 * LUMINOSITY, luminosity_unresolved=0.75 * LUMINOSITY)
        self.assertIn("40 % of the light stopped", self.drawn(self.open()))

    def test_cut(self):
        write_result(self.path, complete=False)
        with self.assertWarns(thor.IncompleteRunWarning):
            result = self.open()
        self.assertIn("biased", result.caveats[0])
        self.assertEqual(self.drawn(result), "run cut with 100 photons in flight: biased")
        # A run that dealt its photons over all sources is a fair sample; older ones with several sources are not.
        for unresolved, words in (({}, "the last ones are missing"), ({"luminosity_unresolved": 0.0}, "noisier, not biased")):
            self.path += "5"
            write_result(self.path, complete=False)
            with h5py.File(self.path, "a") as file:
                put(file["summary"], in_flight=0, photons=20000, photons_requested=50000, **unresolved)
            with self.assertWarnsRegex(thor.IncompleteRunWarning, "20000 of 50000"):
                result = self.open()
            self.assertIn(words, result.caveats[0])

    def beyond(self, share, name="emergent"):
        with h5py.File(self.path, "a") as file:
            put(file[f"spectra/{name}"], luminosity_beyond=share / (1 - share) * LUMINOSITY)

    def test_beyond_the_range(self):
        write_result(self.path)
        self.beyond(0.08)
        result = self.open()
        self.assertEqual(result.caveats, ("spectrum 'emergent': 8 % of its light lies beyond its range",))
        self.assertIn(result.caveats[0], repr(result))
        self.assertIn("8 % of the light beyond", repr(result.spectra["emergent"]))
        self.assertEqual(self.drawn(result), "8 % of the light beyond the range")
        self.assertEqual(self.drawn(result, caveats=False), "")
        # It carries over to derived spectra.
        made = result.spectra["emergent"].to("velocity").rebin(4).normalised()
        self.assertEqual(self.drawn(made), "8 % of the light beyond the range")
        self.assertEqual(self.drawn({"a": made, "b": result.spectra["source"]}), "a: 8 % of the light beyond the range")

    def test_a_photon_in_a_million_is_no_matter_for_a_figure(self):
        write_result(self.path)
        self.beyond(1e-6)
        result = self.open()
        self.assertIn("0.0001 %", result.caveats[0])
        self.assertEqual(self.drawn(result), "")

    def test_a_second_call_adds_to_what_is_said(self):
        write_result(self.path)
        self.beyond(0.08)
        result = self.open()
        ax = self.axes()
        for label in ("one", "two"):
            thor.plot_spectrum(result, ax, name="emergent", label=label)
        self.assertEqual(self.line_below(ax), "one: 8 % of the light beyond the range; two: 8 % of the light beyond the range")
        thor.plot_spectrum(result, ax, name="emergent", label="a third one whose name is rather long")
        self.assertRegex(self.line_below(ax), r"^one: 8 % .*; two: 8 % of the light beyond the range; see thor info$")

    def test_stored_words(self):
        self.change(warnings="the grid jumps\nx_crit is large", lost=20)
        result = self.open()
        self.assertEqual(result.caveats[1:], ("the grid jumps", "x_crit is large"))
        self.assertEqual(self.drawn(result), "0.1 % of the photons lost", "warnings are of the run, not of this output")
        self.change(warnings="the grid jumps\n20 are lost.", caveats="20 are lost.\n3 % lie beyond.", lost=20)
        result = self.open()
        self.assertEqual(result.caveats, ("20 are lost.", "3 % lie beyond.", "the grid jumps"))
        self.assertEqual(self.drawn(result), "0.1 % of the photons lost")
        self.change(warnings="", caveats="")
        self.assertEqual(self.open().caveats, ())

    def test_only_of_this_output(self):
        """A picture does not tell of the noise of others."""
        sky = {"observer": "face", "of": "escaped", "direction": np.array([0.0, 0.0, 1.0]), "centre": np.zeros(3),
               "error_method": "histories", "wavelength0": 1215.67}  # fmt: skip
        self.change(caveats="image dim: noisy (70 % of its light is in pixels with errors above 20 %).")
        with h5py.File(self.path, "r+") as file:
            for name, trusted, beyond in (("bright", 0.9, 0.0), ("dim", 0.3, 0.0), ("narrow", 0.8, 16e40), ("both", 0.4, 48e40), ("dark", 0.0, 0.0)):
                group = file.create_group(f"images/{name}")
                group["surface_brightness"] = np.full((4, 4), 0.0 if name == "dark" else 1e40)
                group["error"] = np.full((4, 4), 1e39)
                group["edges_right"] = group["edges_up"] = np.linspace(-2.0, 2.0, 5)
                put(group, **sky, trusted=trusted, luminosity_beyond=beyond)
        images = self.open().images
        self.assertEqual(self.line_below(images["bright"].plot(self.axes())), "")
        self.assertEqual(self.line_below(images["dim"].plot(self.axes())), "noisy: 70 % of the light in bins with large errors")
        self.assertEqual(self.line_below(images["narrow"].plot(self.axes())), "50 % of the light beyond the range")
        self.assertEqual(self.line_below(images["dim"].plot(self.axes(), caveats=False)), "")
        self.assertEqual(images["both"].caveats, ("75 % of the light beyond the range", "noisy: 60 % of the light in bins with large errors"))
        self.assertEqual(images["dark"].caveats, (), "without light there is no noise")

    def test_on_the_command_line(self):
        self.change(warnings="the grid jumps", lost=400)
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            self.assertEqual(main(["info", self.path]), 0)
        self.assertIn("caveat      the grid jumps", out.getvalue())
        self.assertIn("not to be relied on", err.getvalue())


if __name__ == "__main__":
    unittest.main()
