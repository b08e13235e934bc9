"""Configurations from dicts and text, and where their results go."""

import json
import unittest
from pathlib import Path

import numpy as np
from support import SMALL, WithFiles, skip_loudly

import thor
from thor.configuration import (
    as_file,
    line_list_in,
    line_list_of,
    output_in,
    output_of,
    overrides,
    plain,
    text_of,
    to_yaml,
)


class ValuesTest(unittest.TestCase):
    def test_overrides(self):
        words = overrides(
            {
                "dataset.tau0": 1e7,
                "seed": np.int64(3),
                "dataset.outer_radius": "10 kpc",
                "physics.recoil": True,
                "dataset.velocity": {"profile": "linear", "max": "200 km/s"},
                "generators.0.photons": 1e5,
                "a": np.float32(0.5),
                "b": 0.1 + 0.2,
            }
        )
        self.assertEqual(words[::2], ["--set"] * 8)
        self.assertEqual(
            words[1::2],
            [
                "dataset.tau0=1e7",
                "seed=3",
                'dataset.outer_radius="10 kpc"',
                "physics.recoil=true",
                'dataset.velocity={"profile": "linear", "max": "200 km/s"}',
                "generators.0.photons=100000",
                "a=0.5",
                "b=0.30000000000000004",
            ],
        )
        self.assertEqual(overrides(None), [])

    def test_what_no_number_is(self):
        for value in (float("nan"), [float("inf")]):
            with self.assertRaises(ValueError):
                to_yaml(value)
        with self.assertRaises(TypeError):
            to_yaml(object())

    def test_plain(self):
        value = {"a": np.arange(3), 4: (Path("x/y"), np.bool_(True)), "c": None}
        self.assertEqual(plain(value), {"a": [0, 1, 2], "4": ["x/y", True], "c": None})
        self.assertIs(type(plain(value)["a"][0]), int)

    def test_astropy_quantities(self):
        try:
            from astropy import units as u
        except ImportError:
            skip_loudly("quantities in configurations: there is no astropy (python3-astropy)")
        for quantity, text in (
            (10 * u.kpc, "10 kpc"),
            (200 * u.km / u.s, "200 km/s"),
            (2e20 / u.cm**2, "2e20 cm^-2"),
            (1e-3 * u.cm**-3, "0.001 cm^-3"),
            (1e42 * u.erg / u.s, "1e42 erg/s"),
            (1e4 * u.K, "10000 K"),
            (1215.67 * u.AA, "1215.67 Angstrom"),
            (0.5 * u.dimensionless_unscaled, "0.5"),
            ([1, 2] * u.kpc, ["1 kpc", "2 kpc"]),
        ):
            self.assertEqual(plain(quantity), text)


class LineListTest(WithFiles):
    def test_found_in_text(self):
        for text, name in (
            ("line: Lya\nline_list: my.yaml\n", "my.yaml"),
            ("line_list: 'my lines.yaml'  # of mine\nline: Lya\n", "my lines.yaml"),
            ('{"line": "Lya", "line_list": "a/b.yaml"}', "a/b.yaml"),
            ('line: Lya\nline_list: ""\n', None),
            ('{"line_list": ""}', None),
            ("line: Lya\n# line_list: my.yaml\nx:\n  line_list: no.yaml\n", None),
        ):
            self.assertEqual(line_list_in(text), name, text)

    def test_counts_from_the_configuration(self):
        config = Path(self.folder, "run.yaml")
        config.write_text("line: Lya\nline_list: my.yaml\n")
        self.assertEqual(line_list_of(config, None), Path(self.folder, "my.yaml"))
        self.assertEqual(line_list_of(config, {"line_list": "b.yaml"}), Path(self.folder, "b.yaml"))
        self.assertEqual(line_list_of(config, {"line_list": ""}), None)
        self.assertEqual(line_list_of({"line_list": Path("my.yaml")}, {}), Path("my.yaml"))
        self.assertEqual(line_list_of(SMALL, None), None)


class OutputTest(WithFiles):
    def test_found_in_text(self):
        for text, path in (
            ("line: Lya\noutput: {path: a.h5}\n", "a.h5"),
            ("line: Lya\noutput: { path: 'a b.h5' } # there\n", "a b.h5"),
            ('output: {path: "x#y.h5"}\nline: Lya\n', "x#y.h5"),
            ("output:\n  path: out/a.h5   # there\nline: Lya\n", "out/a.h5"),
            ("output: # here\n\n  # first\n  other: 1\n  path: a b.h5\n", "a b.h5"),
            ("output: {\n  path: a.h5,\n  other: 2}\n", "a.h5"),
            ('{"line": "Lya", "output": {"path": "a.h5"}}\n', "a.h5"),
            ("line: Lya\n", None),
            ("outputs:\n  - {path: a.h5}\n", None),
            ("# output: {path: a.h5}\n", None),
            ("other:\n  output: {path: a.h5}\n", None),
            ("output:\nother:\n  path: a.h5\n", None),
            ("output: *there\n", None),
            ("output: {path: *there}\n", None),
            ('{"output": "a.h5"}\n', None),
            ("[1]\n", None),
        ):
            self.assertEqual(output_in(text), path, text)

    def test_relative_to(self):
        config = Path(self.folder, "a.yaml")
        config.write_text("output: {path: a.h5}\n")
        self.assertEqual(output_of(config, None), Path(self.folder, "a.h5"))
        self.assertEqual(output_of(str(config), None), Path(self.folder, "a.h5"))
        self.assertEqual(output_of("output: {path: a.h5}\n", None), Path("a.h5"))
        self.assertEqual(output_of({"output": {"path": "a.h5"}}, None), Path("a.h5"))
        self.assertEqual(output_of(config, {"output.path": "b.h5"}), Path(self.folder, "b.h5"))
        self.assertEqual(output_of({}, {"output": {"path": "b.h5"}}), Path("b.h5"))
        self.assertEqual(output_of({"output": {"path": "/a/b.h5"}}, None), Path("/a/b.h5"))
        self.assertIsNone(output_of({}, None))
        with self.assertRaisesRegex(thor.RunError, "missing.yaml"):
            output_of("missing.yaml", None)

    def test_temporary_files_go(self):
        with as_file(SMALL) as path:
            self.assertEqual(json.loads(Path(path).read_text()), SMALL)
        self.assertFalse(Path(path).parent.exists())
        with self.assertRaises(RuntimeError), as_file("line: Lyα\n") as path:
            self.assertEqual(Path(path).read_text(encoding="utf-8"), "line: Lyα\n")
            raise RuntimeError
        self.assertFalse(Path(path).parent.exists())
        mine = Path(self.folder, "mine.yaml")
        mine.write_text("line: Lya\n")
        with as_file(mine) as path:
            self.assertEqual(path, str(mine))
        self.assertTrue(mine.exists())
        self.assertEqual(text_of(mine), "line: Lya\n")


if __name__ == "__main__":
    unittest.main()
