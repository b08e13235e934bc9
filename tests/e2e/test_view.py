"""thor view: its pictures, its spectra, and its page in a real browser.

    /usr/bin/python3 tests/e2e/test_view.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Needs numpy and h5py; the test of the page needs chromium, and is
skipped loudly without it. With THOR_VIEW_SCREENSHOT=FILE it saves what the browser shows, with THOR_VIEW_GRID=FILE of another grid.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from browser import Browser, find_browser  # noqa: E402
from support import DONE, KPC, main, skip_loudly, thor, write_grid  # noqa: E402
from view_case import CELL, ViewCase, decode_png  # noqa: E402


class Pictures(ViewCase):
    def test_bad_parameters(self):
        self.start()
        for parameters, words in (
                ({"pixels": 15}, "16 to 2048"), ({"pixels": 2049}, "pixels"), ({"pixels": 20.5}, "whole"), ({"rows": "many"}, "rows"),
                ({"rows": -1}, "rows"), ({"dx": "nan"}, "dx: expected a number from -1e+06 to 1e+06, got \"nan\""), ({"ux": "inf"}, "ux"), ({"dy": "1e400"}, "dy"), ({"dx": "1;2"}, "dx"),
                ({"dx": 0, "dy": 0, "dz": 0}, "direction"), ({"ux": 0, "uy": 0, "uz": 0}, "ux"), ({"width": 0}, "width"),
                ({"width": -1}, "width"),
                ({"width": 1e30}, "width"), ({"cx": 1e300}, "cx"), ({"field": "HI_densty"}, "did you mean"),
                ({"field": "*"}, "expected a field"), ({"field": "density"}, "HI_density"),
                ({"kind": "hologram"}, "render, projection, slice"), ({"map": "jet"}, "inferno"), ({"scale": "cubic"}, "scale"),
                ({"low": 2, "high": 1}, "low < high"), ({"low": -1, "scale": "log"}, "above 0"), ({"opacity": -1}, "opacity"),
                ({"opacity": "1e9"}, "opacity"), ({"low": "nan"}, "low"), ({"high": "inf"}, "high"), ({"low": "-infinity"}, "low"),
                ({"opacity": ""}, "opacity: expected a number"), ({"exposure": "NaN"}, "exposure"), ({"width": "0x10"}, "width"),
                ({"pixels": "nan"}, "pixels"), ({"pixels": " 64"}, "pixels"), ({"field": "velocity"}, "velocity"), ({"pixel": 20}, "did you mean"),
                ({"weight": "nothing", "kind": "projection"}, "nothing"), ({"scale": "log", "field": "velocity_y"}, "linear")):
            with self.subTest(parameters):
                status, headers, body = self.get("frame", **parameters)
                self.assertEqual(status, 400, body)
                self.assertEqual(headers["Content-Type"], "application/json")
                self.assertEqual(body.count(b"\n"), 1)
                self.assertIn(words, json.loads(body)["error"])
        # Limits whose ratio is no number.
        self.assertEqual(self.get("frame", kind="projection", scale="log", low=1e-300, high=1e300)[0], 200)
        self.assert_alive()

    def test_sizes_and_turns(self):
        self.start()
        for columns, rows in ((16, 16), (33, 70), (257, 64)):
            self.assertEqual(self.frame(pixels=columns, rows=rows).shape, (rows, columns, 3))
        for kind in ("render", "projection", "slice"):
            with self.subTest(kind):
                seen = [self.frame(kind=kind, pixels=48, dx=d[0], dy=d[1], dz=d[2], ux=0.1, uy=0.2, uz=1).astype(int)
                        for d in ((1, 0, 0), (0, 1, 0), (1, 1, 1))]
                seen.append(self.frame(kind=kind, pixels=48, dx=1, dy=0, dz=0, ux=0.1, uy=0.2, uz=1, width=0.3).astype(int))
                for i, a in enumerate(seen):
                    self.assertGreater(a.max(), 100)
                    for b in seen[:i]:
                        self.assertGreater(np.abs(a - b).mean(), 1)
        self.assertGreater(np.abs(self.frame(map="ice").astype(int) - self.frame(map="viridis")).mean(), 1)
        self.assertGreater(np.abs(self.frame(opacity=0.1).astype(int) - self.frame(opacity=100)).mean(), 1)

    def test_a_slice_has_the_values_of_its_cells(self):
        self.start()
        n, size = len(self.density), len(self.density) * CELL / KPC
        middle = 0.5 * size
        shades = self.frame(kind="slice", field="HI_density", map="grey", scale="linear", low=0, high=2, pixels=n, dx=0, dy=0, dz=1,
                            ux=0, uy=1, uz=0, cx=middle, cy=middle, cz=size * 10.5 / n, width=size)
        expected = 255 * np.clip(self.density[:, :, 10] / 2, 0, 1)  # [x, y]
        self.assertLess(np.abs(shades[::-1, :, 0].T - expected).max(), 1.01)
        headers, _ = self.good("frame", kind="projection", field="HI_density", pixels=n, dx=0, dy=0, dz=1, ux=0, uy=1, uz=0, width=size)
        self.assertEqual((headers["X-Thor-Units"], headers["X-Thor-Scale"]), ("cm-2", "log"))
        columns = self.density.sum(axis=2) * CELL
        self.assertGreaterEqual(float(headers["X-Thor-Low"]), columns.min() * (1 - 1e-5))
        self.assertAlmostEqual(float(headers["X-Thor-High"]) / np.sort(columns.ravel())[-2:].mean(), 1, delta=0.02)

    def test_velocities_are_blue_and_red(self):
        """On both sides of 0, which has the middle colour of the range, whatever the velocities are."""
        self.start()
        across = {"dx": 0, "dy": -1, "dz": 0, "ux": 0, "uy": 0, "uz": 1, "pixels": 48}  # x is to the right
        for kind in ("slice", "projection", "render"):
            with self.subTest(kind):
                headers, body = self.good("frame", kind=kind, field="velocity_x", **across)
                self.assertEqual((headers["X-Thor-Map"], headers["X-Thor-Scale"], headers["X-Thor-Units"]), ("blue_red", "linear", "km s-1"))
                self.assertAlmostEqual(float(headers["X-Thor-Low"]), -float(headers["X-Thor-High"]), delta=1e-3)
                shades = decode_png(body).astype(int)[20:28]
                approaching, receding = shades[:, 9:16].mean(axis=(0, 1)), shades[:, 32:39].mean(axis=(0, 1))
                self.assertGreater(approaching[2], approaching[0] + 30)
                self.assertGreater(receding[0], receding[2] + 30)
        with h5py.File(self.path, "a") as file:
            file["velocity_x"][...] = 30
        self.start()
        headers, _ = self.good("frame", kind="slice", field="velocity", dx=1, dy=0, dz=0, ux=0, uy=0, uz=1)
        self.assertEqual(headers["X-Thor-Map"], "blue_red")
        self.assertAlmostEqual(float(headers["X-Thor-Low"]), -30, delta=1e-3)
        self.assertAlmostEqual(float(headers["X-Thor-High"]), 30, delta=1e-3)
        self.assertEqual(self.good("frame", kind="slice")[0]["X-Thor-Map"], "inferno")
        self.assertEqual(self.good("frame", kind="slice", field="velocity", dx=1, map="grey")[0]["X-Thor-Map"], "grey")

    def test_projections_are_columns_or_means(self):
        """Densities are integrated; the integral of a temperature or a velocity means nothing."""
        n = len(self.density)
        with h5py.File(self.path, "a") as file:
            temperature = np.linspace(1e4, 2e4, n)[None, None, :] * np.ones((n, n, n))
            file["temperature"][...] = temperature
            file["metallicity"] = np.ones((n, n, n), "f4")
        self.start()
        size = n * CELL / KPC
        look = {"kind": "projection", "dx": 0, "dy": 0, "dz": 1, "ux": 0, "uy": 1, "uz": 0, "pixels": n, "width": size}
        for field, units, weight in (("HI_density", "cm-2", ""), ("temperature", "K", "HI_density"), ("velocity", "km s-1", "HI_density"),
                                     ("metallicity", "", "HI_density"), ("HI_density*temperature", "cm-2 K", "")):
            headers, _ = self.good("frame", field=field, **look)
            self.assertEqual((headers["X-Thor-Units"], headers["X-Thor-Weight"]), (units, weight), field)
        headers, body = self.good("frame", field="temperature", map="grey", scale="linear", low=1e4, high=2e4, **look)
        mean = np.average(temperature, axis=2, weights=self.density)
        self.assertLess(np.abs(decode_png(body)[::-1, :, 0].T - 255 * (mean / 1e4 - 1)).max(), 1.01)
        headers, _ = self.good("frame", field="temperature", weight="none", **look)
        self.assertEqual((headers["X-Thor-Units"], headers["X-Thor-Weight"]), ("cm K", ""))

    def test_more_fields_than_there_is_room_for(self):
        with h5py.File(self.path, "a") as file:
            for i in range(20):
                file[f"field{i}"] = self.density * (i + 1)
        self.start()
        seen = [self.frame(kind=kind, field=f"field{i}", pixels=32, map="ice") for i in range(20) for kind in ("render", "projection")]
        for frame in seen[2:]:  # the same shape, in its own range
            self.assertTrue(any((np.abs(frame.astype(int) - seen[k]) <= 2).all() for k in (0, 1)))
        self.frame(field="field1*field2", weight="field3", kind="projection", pixels=16)

    def test_info(self):
        self.start()
        info = self.json("info")
        self.assertEqual((info["name"], info["cells"], info["periodic"]), ("blob.h5", [24] * 3, False))
        self.assertEqual([f["units"] for f in info["fields"] if f["name"] == "HI_density"], ["cm-3"])
        self.assertIn("velocity", [f["name"] for f in info["fields"]])
        self.assertEqual(info["lines"], ["Lya"])
        self.assertNotIn(str(self.folder), json.dumps(info))
        field = self.json("info", field="HI_density")["field"]
        self.assertAlmostEqual(field["largest"] / self.density.max(), 1, delta=1e-6)
        self.assertAlmostEqual(field["least"] / self.density.min(), 1, delta=1e-6)
        for field in ("nope", "*", "a*b*c*d*e", "HI_density *"):
            self.assertEqual(self.get("info", field=field)[0], 400, field)
        self.assert_alive()

    def test_a_configuration_is_where_it_starts(self):
        path = self.write({"driver": "raytrace", "dataset": {"type": "uniform_grid", "path": "blob.h5"},
                           "cameras": [{"name": "side", "direction": [1, 0, 0], "up": [0, 0, 1], "width": "0.3 kpc", "pixels": 64}],
                           "operators": [{"type": "slice", "name": "cut", "camera": "side", "field": "temperature"},
                                         {"type": "render", "name": "view", "camera": "side", "field": "HI_density", "transfer":
                                          {"range": [0.01, 10], "peaks": [{"at": 1, "width": 0.2, "colour": [0, 1, 0], "opacity": 30}]}}],
                           "output": {"path": "rays.h5"}})
        self.start(path)
        start = self.json("info")["start"]
        self.assertEqual((start["kind"], start["field"], start["direction"], start["map"]), ("render", "HI_density", [1, 0, 0], "file"))
        self.assertAlmostEqual(start["width"], 0.3)
        self.assertEqual(thor("run", path).returncode, DONE)
        with h5py.File(self.folder / "rays.h5") as file:
            expected = 255 * np.clip(file["images/view/rgba"][()][::-1, :, :3], 0, 1)
        for more in ({}, {"low": start["low"], "high": start["high"], "scale": start["scale"]}):
            shades = self.frame(pixels=64, **more)
            self.assertGreater(shades[:, :, 1].max(), 150)  # the ball is green
            self.assertLess(np.abs(shades - expected).max(), 3)
        self.assertGreater(np.abs(self.frame(pixels=64, low=1, high=100) - expected).mean(), 3)

    def test_models(self):
        """Whose fields are formulas: any number of pictures."""
        for dataset in ({"type": "shell", "outer_radius": "1 kpc", "inner_radius": "0.3 kpc"}, {"type": "slab", "half_thickness": "1 kpc"}):
            with self.subTest(dataset["type"]):
                path = self.write({"driver": "raytrace", "dataset": {**dataset, "temperature": "1e4 K", "tau0": 1e4},
                                   "cameras": [{"name": "c", "direction": [1, 0, 1], "up": [0, 1, 0], "width": "3 kpc", "pixels": 32}],
                                   "operators": [{"type": "projection", "name": "p", "camera": "c", "field": "density"}],
                                   "output": {"path": "o.h5"}})
                self.start(path)
                for i in range(8):
                    for kind in ("render", "projection", "slice"):
                        self.frame(kind=kind, pixels=24, dz=1 + i)
                self.assertGreater(self.json("spectrum", px=256, py=256)["column_density"], 1e15)


class Spectra(ViewCase):
    def look(self, px, py, **more):
        n = len(self.density)
        return {"dx": 0, "dy": 0, "dz": 1, "ux": 0, "uy": 1, "uz": 0, "width": n * CELL / KPC, "pixels": n, "px": px, "py": py, **more}

    def test_the_column_is_the_sum_of_the_cells(self):
        self.start()
        n = len(self.density)
        for i, j in ((0, 0), (7, 14), (23, 2)):
            got = self.json("spectrum", **self.look(i + 0.5, n - j - 0.5))
            self.assertAlmostEqual(got["column_density"] / (self.density[i, j].sum(dtype="f8") * CELL), 1, delta=1e-6)
            self.assertAlmostEqual(got["length"], n * CELL / KPC, delta=1e-6)
            flux, tau = np.array(got["flux"]), np.array(got["tau"])
            self.assertTrue(((flux > 0) | (tau > 30)).all() and (flux <= 1).all())
            self.assertGreater(flux[0], 0.8)  # the wings end outside, or nearly so
            step = np.diff(1215.6701 * np.exp(np.array(got["velocity"]) / 299792.458)).mean()
            self.assertAlmostEqual(got["equivalent_width"] / ((1 - flux).sum() * step), 1, delta=1e-2)
            begin, end = np.array(got["begin"]), np.array(got["end"])
            self.assertAlmostEqual(begin[0] / CELL * KPC, i + 0.5, delta=1e-4)
            self.assertGreater(begin[2], end[2])  # away from the camera
        # Integral of the optical depth: N pi e^2/(m c) f lambda, where the wings are within the range.
        thin = self.json("spectrum", **self.look(0.5, n - 0.5, low=-20000, high=20000, bins=8192))
        area = np.sum(thin["tau"]) * np.diff(thin["velocity"]).mean() * 1e5
        self.assertAlmostEqual(area / (thin["column_density"] * 0.02654 * 0.4164 * 1215.6701e-8), 1, delta=2e-3)

    def test_motion_and_the_hubble_flow(self):
        """Looking along -x the gas moves from -50 to 50 km/s, away from +x where the camera is; H adds with the distance."""
        hubble = 1e-14
        moving = self.folder / "moving.h5"
        write_grid(moving, 24, CELL, 1e-9, hubble=hubble, redshift=1.0)
        with h5py.File(moving, "a") as file:
            file["velocity_x"][...] = 30
        self.start(moving)
        got = self.json("spectrum", dx=1, dy=0, dz=0, ux=0, uy=0, uz=1, px=12, py=12, pixels=24, width=24 * CELL / KPC)
        tau, v = np.array(got["tau"]), np.array(got["velocity"])
        self.assertAlmostEqual(np.average(v, weights=tau), -30 + 0.5 * hubble * 24 * CELL / 1e5, delta=0.2)

    def test_bad_parameters(self):
        self.start()
        for parameters, words in (
                (self.look(12, 12, line="Lyb"), "lines:"), (self.look(12, 12, line="MgII"), "MgII_density"), (self.look(-1, 3), "px"),
                ({"px": 1}, "py"), (self.look(12, 12, cx=50), "does not meet"), (self.look(12, 12, low=3, high=2), "low, high"),
                (self.look(12, 12, low=2e5, high=2.5e5), "beyond"), (self.look(12, 12, bins=3), "bins"), (self.look("x", 12), "px"),
                (self.look(12, 12, density_field="nope"), "nope"), (self.look(12, 12, opacity=1), "unknown")):
            with self.subTest(parameters):
                status, _, body = self.get("spectrum", **parameters)
                self.assertEqual(status, 400, body)
                self.assertIn(words, json.loads(body)["error"])
        self.assert_alive()


class Page(ViewCase):
    """The page in a browser: what a user does, and what is then to be seen."""

    def shown(self):
        return self.browser.evaluate("document.getElementById('picture').toDataURL()")

    def settle(self):
        """Waits for a full picture after a change."""
        time.sleep(0.4)
        self.assertTrue(self.browser.wait("document.body.dataset.full === 'yes' && !busy && !wanted && !moving"))
        return self.shown()

    def choose(self, name, value):
        self.browser.evaluate(f"(() => {{ const s = document.getElementById('{name}'); s.value = '{value}'; "
                              "s.dispatchEvent(new Event('change')); })()")

    def test_a_visit(self):
        if not find_browser():
            skip_loudly(self, "no chromium: the page of thor view in a browser")
        grid = os.environ.get("THOR_VIEW_GRID")
        self.start(grid)
        with Browser(self.folder) as self.browser:
            browser = self.browser
            browser.open(self.address)
            self.assertTrue(browser.wait("Number(document.body?.dataset.frames) > 0"), browser.complaints())
            first = self.settle()
            box = browser.evaluate("(() => { const b = document.getElementById('picture').getBoundingClientRect(); "
                                   "return [b.left, b.top, b.width, b.height]; })()")
            x, y = box[0] + box[2] / 2, box[1] + box[3] / 2
            self.assertEqual(browser.evaluate("picture.width"), round(box[2]))
            self.assertIn("×", browser.evaluate("document.getElementById('status').textContent"))
            self.assertGreater(browser.evaluate("document.querySelectorAll('#ticks span').length"), 1)

            width = browser.evaluate("view.width")
            seen = [first]
            browser.drag((x, y), (x + 120, y + 60))
            seen.append(self.settle())
            browser.mouse("mouseWheel", x + 40, y, deltaX=0, deltaY=-240)
            seen.append(self.settle())
            self.assertLess(browser.evaluate("view.width"), 0.9 * width)
            browser.drag((x, y), (x - 60, y + 40), modifiers=8)
            seen.append(self.settle())
            browser.evaluate("picture.focus()")
            browser.key("ArrowLeft")
            seen.append(self.settle())
            self.choose("map", "viridis")
            seen.append(self.settle())
            high = browser.evaluate("range.high")
            browser.evaluate("change(true)")  # a picture is on its way, in the range of before
            self.choose("kind", "projection")
            seen.append(self.settle())
            self.assertIn("∫", browser.evaluate("document.getElementById('caption').textContent"))
            self.assertGreater(browser.evaluate("range.high"), 1e3 * high)  # cm^-2, not cm^-3
            self.assertEqual(len(set(seen)), len(seen))
            self.assertTrue(browser.evaluate("document.getElementById('spectrum').hidden"))

            self.choose("kind", "render")
            self.choose("map", "inferno")
            browser.key("Home")
            self.assertEqual(self.settle(), first)
            browser.click(x, y)
            self.assertTrue(browser.wait("!document.getElementById('spectrum').hidden && !!document.querySelector('#plot .curve')"))
            told = browser.evaluate("document.getElementById('numbers').textContent")
            self.assertRegex(told, r"Lya: N = [\d.e+-]+ cm⁻², EW = [\d.e+-]+ Å")
            labels = browser.evaluate("[...document.querySelectorAll('#plot text')].map(t => t.textContent).join('|')")
            self.assertIn("km s⁻¹", labels)
            self.assertIn("flux / continuum", labels)
            if not grid:
                self.assertAlmostEqual(browser.evaluate("sightline.column_density") / self.middle_column(), 1, delta=1e-3)
            self.assertEqual(browser.complaints(), [])
            self.settle()
            if wanted := os.environ.get("THOR_VIEW_SCREENSHOT"):
                browser.screenshot(Path(wanted))

            self.choose("field", "velocity")  # which no transfer function can show
            self.assertTrue(browser.wait("!document.getElementById('error').hidden"))
            self.assertIn("velocity", browser.evaluate("document.getElementById('error').textContent"))
            self.choose("kind", "slice")
            self.settle()
            self.assertTrue(browser.evaluate("document.getElementById('error').hidden"))
            for address in browser.requests():
                self.assertTrue(address.startswith((self.address, "data:", "about:", "blob:")), address)
            self.job.send_signal(signal.SIGTERM)
            self.assertEqual(self.job.wait(10), DONE)
            self.choose("kind", "render")
            self.assertTrue(browser.wait("document.getElementById('error').textContent.includes('has thor view ended')"))

    def middle_column(self):
        """Along the line of sight of the first view, through the middle of the box [cm^-2]."""
        n, d = len(self.density), np.array([0.6, -1, 0.6])
        t = (np.arange(200_000) + 0.5) / 200_000 - 0.5
        path = n * np.linalg.norm(d) / np.abs(d).max()
        cells = np.floor(n / 2 + np.outer(t * path, d / np.linalg.norm(d))).astype(int).clip(0, n - 1)
        return self.density[tuple(cells.T)].mean(dtype="f8") * path * CELL


if __name__ == "__main__":
    main()
