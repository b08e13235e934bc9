"""python3 -m thor."""

import contextlib
import io
import os
import unittest
from unittest import mock

from support import WithFiles, png_pixels, write_result

import thor
from thor.__main__ import main


class CommandTest(WithFiles):
    def run_main(self, *arguments):
        """Exit code, stdout, stderr."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(list(arguments))
        return code, out.getvalue(), err.getvalue()

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


if __name__ == "__main__":
    unittest.main()
