"""The sky of observers, as a user meets it: distances, angles, profiles, sets of observers, smearing, estimators.

    /usr/bin/python3 tests/e2e/test_sky.py --thor build/release/thor [unittest arguments]
"""

import resource
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
PACKAGE = str(Path(__file__).resolve().parents[2] / "python")
sys.path.insert(0, PACKAGE)
from configurations import sphere  # noqa: E402
from support import Case, DEVICE, DONE, USAGE, main, thor  # noqa: E402

import thor as package  # noqa: E402

FACE = [{"name": "face", "direction": [0, 0, 1]}]
IMAGE = {"type": "image", "name": "sb", "observer": "face", "width": "2 kpc", "pixels": 8}
CUBE = {"type": "cube", "name": "ifu", "observer": "face", "width": "2 kpc", "pixels": 4, "axis": "wavelength",
        "range": ["1215 Angstrom", "1216.4 Angstrom"], "bins": 7}
PROFILE = {"type": "profile", "name": "halo", "observer": "face", "radius": "1 kpc", "bins": 10}
SPECTRUM = {"type": "spectrum", "name": "line", "observer": "face", "range": ["-100 km/s", "100 km/s"], "bins": 20}
# astropy 5.2, FlatLambdaCDM(67.74, 0.3089, Tcmb0=0) at redshift 2 [Mpc].
D_L, D_A = 15937.1347541, 1770.79275046
MPC, ARCSEC = 3.0856775814913673e24, np.pi / 648000
RED = 3  # 1 + z of that redshift


def stretched(output):
    """An output over wavelength, as its range is at redshift 2."""
    return {**output, "range": [f"{RED * float(v.split()[0]):.10g} Angstrom" for v in output["range"]]}


def seen(*outputs, observers=FACE, photons=2000, tau0=1e4, source=None, **more):
    jumps = {"acceleration": {"jumps": True}}
    return {**sphere(tau0, photons, outputs=list(outputs), source=source), **jumps, "observers": observers, **more}


class SkyCase(Case):
    def look(self, config, *arguments):
        """The result of a run on the processor."""
        result = package.open(self.run_thor(config, "--quiet", "--device", "cpu", *arguments))
        self.addCleanup(result.close)
        return result


class Distances(SkyCase):
    def test_a_redshift_makes_fluxes_of_luminosities(self):
        plain = self.look(seen(IMAGE, CUBE, PROFILE, SPECTRUM))
        sky = self.look(seen(IMAGE, stretched(CUBE), PROFILE, SPECTRUM, sky={"redshift": 2}))
        with h5py.File(sky.path) as file:
            attributes = dict(file["sky"].attrs)
            self.assertEqual(file["cubes/ifu/intensity"].attrs["units"], b"erg s-1 cm-2 arcsec-2 Angstrom-1")
            self.assertEqual(file["spectra/line/flux"].attrs["units"], b"erg s-1 cm-2 / (km s-1)")
            self.assertEqual({file[f"{group}/{name}"].attrs["frame"] for group in ("images", "cubes", "profiles", "spectra") for name in file[group]},
                             {b"observed"})
        self.assertAlmostEqual(attributes["redshift"], 2)
        self.assertAlmostEqual(attributes["distance_luminosity"] / D_L, 1, delta=1e-8)
        self.assertAlmostEqual(attributes["distance_angular"] / D_A, 1, delta=1e-8)
        scale = 1e3 * D_A * ARCSEC  # kpc per arcsec
        self.assertAlmostEqual(attributes["kpc_per_arcsec"] / scale, 1, delta=1e-8)
        dimming = scale**2 / (4 * np.pi * (D_L * MPC) ** 2)
        for mine, other, length in ((plain.images["sb"], sky.images["sb"], "right"),
                                    (plain.profiles["halo"], sky.profiles["halo"], "edges")):
            np.testing.assert_allclose(other.brightness, mine.brightness * dimming, rtol=1e-7)
            np.testing.assert_allclose(other.error, mine.error * dimming, rtol=1e-7)
            np.testing.assert_allclose(getattr(other, length) * scale, getattr(mine, length), rtol=1e-7)
            self.assertEqual((mine.unit, mine.length), ("erg s-1 kpc-2", "kpc"))
            self.assertEqual((other.unit, other.length), ("erg s-1 cm-2 arcsec-2", "arcsec"))
            self.assertAlmostEqual(other.luminosity() / mine.luminosity(), 1, delta=1e-7)
        np.testing.assert_allclose(sky.cubes["ifu"].intensity, plain.cubes["ifu"].intensity * dimming / RED, rtol=1e-7)
        self.assertAlmostEqual(sky.cubes["ifu"].image().luminosity() / plain.cubes["ifu"].image().luminosity(), 1, delta=1e-7)
        np.testing.assert_allclose(sky.spectra["line"].flux, plain.spectra["line"].flux / (4 * np.pi * (D_L * MPC) ** 2), rtol=1e-7)
        np.testing.assert_array_equal(sky.spectra["line"].edges, plain.spectra["line"].edges)

    def test_angles_are_lengths(self):
        """The same field in arcsec and in kpc, and at a distance: 10 Mpc, where an arcsec is 48.48 pc."""
        scale = 1e4 * ARCSEC
        sky = {"distance": "10 Mpc"}
        angles = self.look(seen({**IMAGE, "width": f"{2 / scale} arcsec"}, {**PROFILE, "radius": f"{1 / scale / 60} arcmin"},
                                {**SPECTRUM, "aperture": {"radius": f"{0.5 / scale / 3600} deg"}}, sky=sky))
        lengths = self.look(seen(IMAGE, PROFILE, {**SPECTRUM, "aperture": {"radius": "0.5 kpc"}}, sky=sky))
        np.testing.assert_allclose(angles.images["sb"].brightness, lengths.images["sb"].brightness, rtol=1e-9)
        np.testing.assert_allclose(angles.profiles["halo"].brightness, lengths.profiles["halo"].brightness, rtol=1e-9)
        np.testing.assert_allclose(angles.spectra["line"].flux, lengths.spectra["line"].flux, rtol=1e-9)
        with h5py.File(angles.path) as file:
            self.assertEqual(file["sky"].attrs["redshift"], 0)
            self.assertEqual(file["sky"].attrs["distance_luminosity"], file["sky"].attrs["distance_angular"])

    def test_mistakes(self):
        angle = {**IMAGE, "width": "2 arcsec"}
        for config, says in (
            (seen(angle), 'outputs.0.width: "2 arcsec" is an angle, which is a length at a distance only: add `sky:'),
            (seen({**IMAGE, "psf": {"fwhm": "1 arcsec"}}), 'outputs.0.psf.fwhm: "1 arcsec" is an angle'),
            (seen({**IMAGE, "width": "0 arcsec"}, sky={"redshift": 2}), "outputs.0.width: must be >= 1e-10 cm"),
            (seen({**IMAGE, "width": "1e40 kpc"}), "outputs.0.width: must be"),
            (seen({**IMAGE, "width": "nan kpc"}), "outputs.0.width"),
            (seen({**IMAGE, "width": "2 K"}), "outputs.0.width: expected a length"),
            (seen(angle, sky={}), "sky: expected exactly one of redshift, distance; got none"),
            (seen(angle, sky={"redshift": 2, "distance": "1 Mpc"}), "remove all but one"),
            (seen(angle, sky={"redshift": 0}), "sky.redshift: must be >= 1e-06"),
            (seen(angle, sky={"redshift": 2, "hubble": 67.74}), "sky.hubble: expected h = H0/(100 km/s/Mpc) between 0.3 and 1.2, such as 0.6774, and not H0; got 67.74"),
            (seen({**PROFILE, "bins": 0}), "outputs.0.bins"),
            (seen({**PROFILE, "inner": "2 kpc"}), "outputs.0.inner: must be less than radius"),
            (seen({**PROFILE, "spacing": "log"}), "outputs.0.inner: rings of equal ratio begin above 0"),
            (seen({**PROFILE, "of": "absorbed"}), "outputs.0.of: an observer sees light that escaped"),
            (seen({**PROFILE, "lsf": {"fwhm": "50 km/s"}}), "outputs.0.lsf: unknown key"),
            (seen({**PROFILE, "of": "emitted", "estimator": "escaped"}), "outputs.0.estimator: light without transfer"),
            (seen({**PROFILE, "within": "30 deg"}), "outputs.0.within: unknown key here; it belongs to estimator: escaped"),
            (seen({**PROFILE, "estimator": "escaped", "within": "0 deg"}), "outputs.0.within: must be >= 0.1 deg"),
            (seen({k: v for k, v in SPECTRUM.items() if k != "observer"} | {"psf": {"fwhm": "1 kpc"}}), "name one"),
            (seen({k: v for k, v in SPECTRUM.items() if k != "observer"} | {"estimator": "escaped"}), "name one"),
            (seen(IMAGE, observers=[{"name": "face"}]), "expected exactly one of direction, random, healpix; got none"),
            (seen(IMAGE, observers=[{"name": "face", "healpix": 0}]), "observers.0.healpix: expected a whole number"),
            (seen({**IMAGE, "observer": "face.5"}, observers=[{"name": "face", "random": 5}]), "there is no observer of this name"),
            (seen({**IMAGE, "pixels": 700}, observers=[{"name": "face", "healpix": 4}]), "at most 5e7 are possible"),
            (seen({**IMAGE, "width": "60 kpc"}, sky={"distance": "10 kpc"}), 'outputs.0.width: "60 kpc" is too wide for a flat sky: at most 28 deg'),
            (seen({**IMAGE, "width": "30 deg"}, sky={"distance": "10 Mpc"}), 'outputs.0.width: "30 deg" is too wide for a flat sky'),
            (seen({k: v for k, v in SPECTRUM.items() if k != "observer"} | {"centre": ["1 kpc", "0 kpc", "0 kpc"]}), "outputs.0.centre: is on the sky of an observer"),
            ({**seen(IMAGE, observers=[{"name": "face", "random": 2}]), "until": {"output": "sb", "error": 0.1}}, "such as sb.0"),
        ):
            with self.subTest(says):
                done = thor("check", self.write(config), "--no-trial")
                self.assertEqual(done.returncode, USAGE, done.stderr)
                self.assertIn(says, done.stderr)
        done = thor("check", self.write(seen(IMAGE, observers=[{"name": "face", "random": 3, "direction": [0, 0, 1]}])), "--no-trial")
        self.assertIn("exactly one of direction, random, healpix", done.stderr)
        self.assertNotIn("must not be zero", done.stderr)

    def test_a_sky_with_faults_makes_no_others(self):
        """Widths are not complained about where the distance is not known."""
        for width in ("10 arcsec", "60 kpc", "30 deg"):
            for sky in (2, [], {}, {"redshift": -2}, {"distance": "1"}, {"redshift": 2, "hubble": 67.74}):
                with self.subTest(width=width, sky=sky):
                    done = thor("check", self.write(seen({**IMAGE, "width": width}, sky=sky)), "--no-trial")
                    self.assertEqual(done.returncode, USAGE, done.stderr)
                    self.assertIn(" sky", done.stderr)
                    self.assertNotIn("outputs", done.stderr)
        done = thor("check", self.write(seen({**IMAGE, "width": "2 K"}, sky={"redshift": -2})), "--no-trial")
        self.assertIn("outputs.0.width: expected a length", done.stderr)

    def test_the_cosmology_is_that_of_the_grid(self):
        """H(z = 2) is 203.574 km/s/Mpc in the default cosmology."""
        grid = self.folder / "grid.h5"

        def write(hubble):
            with h5py.File(grid, "w") as file:
                file.attrs.update({"cell_size": 1e21, "origin_x": -1e21, "origin_y": -1e21, "origin_z": -1e21, "redshift": 2.0,
                                   "hubble": hubble * 1e5 / MPC})
                for name, value, units in (("HI_density", 1e-9, "cm-3"), ("HI_temperature", 1e4, "K"),
                                           *((f"HI_velocity_{k}", 0, "km s-1") for k in "xyz")):
                    file[name] = np.full((2, 2, 2), value, float)
                    file[name].attrs["units"] = units

        config = {**seen(IMAGE, photons=10), "dataset": {"type": "uniform_grid", "path": str(grid)}}
        write(203.574)
        done = thor("check", self.write({**config, "sky": {"redshift": 2}}), "--no-trial")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertNotIn("warning: sky", done.stderr)
        done = thor("check", self.write({**config, "sky": {"redshift": 3}}), "--no-trial")
        self.assertIn("sky: the grid has redshift 2 but is observed at 3", done.stderr)
        write(190)
        done = thor("check", self.write({**config, "sky": {"redshift": 2}}), "--no-trial")
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertIn("has H(z = 2) = 190 km/s/Mpc, but sky.hubble = 0.6774 and sky.omega_m = 0.3089 give 203.6", done.stderr)

    def test_light_that_is_missed_is_told(self):
        far = {"centre": ["5 kpc", "0 kpc", "0 kpc"]}
        path = self.run_thor(seen({**IMAGE, **far}, {**SPECTRUM, **far, "aperture": {"radius": "1 kpc"}}), "--device", "cpu")
        self.assertRegex(self.done.stderr, r"image sb: all of its light is beyond its range")
        self.assertRegex(self.done.stderr, r"spectrum line: no light, though 1e\+42 erg/s")
        self.assertTrue(any("spectrum line: no light" in caveat for caveat in package.open(path).caveats))


def luminosity_distance(redshift, h, omega_m):
    """d_L [cm] of a flat universe, by Simpson's rule: c (1 + z)/H_0 times the integral of dz/E(z)."""
    z = np.linspace(0, redshift, 2001)
    weights = np.array([1] + [4, 2] * 999 + [4, 1]) * redshift / 2000 / 3
    way = np.sum(weights / np.sqrt(omega_m * (1 + z) ** 3 + 1 - omega_m))
    return 2.99792458e5 / (100 * h) * way * (1 + redshift) * MPC


class Frames(SkyCase):
    """With `sky` outputs are what an observer measures: fluxes per observed unit of the axis."""

    AXES = {"x": [-40, 40], "velocity": ["-300 km/s", "300 km/s"], "wavelength": ["1214 Angstrom", "1217 Angstrom"],
            "frequency": ["2.464e15 Hz", "2.468e15 Hz"]}

    def spectra(self, stretch=1):
        def end(axis, v):
            if axis not in ("wavelength", "frequency"):
                return v
            number, unit = v.split()
            return f"{float(number) * (stretch if axis == 'wavelength' else 1 / stretch)!r} {unit}"
        of_face = [{"type": "spectrum", "name": f"{a}_face", "axis": a, "observer": "face", "range": [end(a, v) for v in r], "bins": 30} for a, r in self.AXES.items()]
        return of_face + [{**{k: v for k, v in o.items() if k != "observer"}, "name": o["axis"]} for o in of_face]

    def test_all_of_the_light_arrives(self):
        """The integral of every spectrum is L/(4 pi d_L^2), for any cosmology; bins have the light that they have at rest."""
        plain = self.look(seen(*self.spectra(), photons=500))
        for redshift, h, omega_m in ((2, 0.6774, 0.3089), (6.5, 0.7, 0.25), (0.1, 0.5, 1)):
            sky = self.look(seen(*self.spectra(1 + redshift), photons=500, sky={"redshift": redshift, "hubble": h, "omega_m": omega_m}))
            sphere_area = 4 * np.pi * luminosity_distance(redshift, h, omega_m) ** 2
            for name, spectrum in sky.spectra.items():
                rest = plain.spectra[name]
                total = np.sum(spectrum.flux * np.diff(spectrum.edges))
                self.assertAlmostEqual(total * sphere_area / rest.luminosity()[0], 1, delta=1e-6, msg=name)
                self.assertGreater(rest.luminosity()[0], 0.9e42)
                self.assertAlmostEqual(spectrum.integral()[0] / total, 1, delta=1e-12)
                np.testing.assert_allclose(spectrum.luminosity(), rest.luminosity(), rtol=1e-6)
                np.testing.assert_allclose(spectrum.flux * np.diff(spectrum.edges) * sphere_area, rest.flux * np.diff(rest.edges), rtol=1e-6, atol=1e-7 * 1e42)
                factor = {"wavelength": 1 + redshift, "frequency": 1 / (1 + redshift)}.get(spectrum.axis, 1)
                np.testing.assert_allclose(spectrum.edges, rest.edges * factor, rtol=1e-9, atol=1e-9)
                if factor != 1:
                    wrong = np.sum(spectrum.flux * np.diff(rest.edges)) * sphere_area / rest.luminosity()[0]
                    self.assertGreater(abs(wrong - 1), 0.05, "the twin: flux per unit at rest")
                for axis in ("velocity", "x", "wavelength", "frequency"):  # other axes know the redshift
                    np.testing.assert_allclose(spectrum.to(axis).integral()[0], total, rtol=1e-9)
                np.testing.assert_allclose(spectrum.to("velocity").edges, rest.to("velocity").edges, atol=1e-6)

    def test_a_cube_adds_up_to_the_spectrum(self):
        """Pixels times their area are the spectrum of the observer, channel by channel."""
        wave = {"axis": "wavelength", "range": ["3642 Angstrom", "3651 Angstrom"], "bins": 9}
        result = self.look(seen({**CUBE, **wave, "width": "4 kpc", "pixels": 10}, {**SPECTRUM, **wave}, sky={"redshift": 2}))
        cube, spectrum = result.cubes["ifu"], result.spectra["line"]
        area = (cube.right[1] - cube.right[0]) * (cube.up[1] - cube.up[0])
        np.testing.assert_allclose(np.sum(cube.intensity, axis=(1, 2)) * area, spectrum.flux, rtol=1e-7, atol=1e-7 * np.max(spectrum.flux))
        self.assertAlmostEqual(cube.image().luminosity() / spectrum.luminosity()[0], 1, delta=1e-6)
        wrong = np.sum(cube.intensity, axis=(1, 2)) * area * RED
        self.assertGreater(np.max(np.abs(wrong - spectrum.flux)), np.max(spectrum.flux), "the twin: per Angstrom at rest")
        middle = cube.image(-100, 100, "velocity")
        low, high = (RED * 1215.6701 * (1 + v / 299792.458) for v in (-100, 100))
        np.testing.assert_allclose(middle.brightness, cube.image(low, high).brightness, rtol=1e-4)
        self.assertGreater(middle.luminosity(), 0.5 * spectrum.luminosity()[0])

    def test_the_rest_frame(self):
        """`frame: rest` is as no sky, but for angles and what the file knows of distances."""
        outputs = [IMAGE, CUBE, PROFILE, SPECTRUM]
        plain = self.look(seen(*outputs))
        rest = self.look(seen({**IMAGE, "width": f"{2 / (1e3 * D_A * ARCSEC)!r} arcsec"}, *outputs[1:], sky={"redshift": 2, "frame": "rest"}))
        np.testing.assert_allclose(rest.images["sb"].brightness, plain.images["sb"].brightness, rtol=1e-6)
        np.testing.assert_array_equal(rest.cubes["ifu"].intensity, plain.cubes["ifu"].intensity)
        np.testing.assert_array_equal(rest.profiles["halo"].brightness, plain.profiles["halo"].brightness)
        np.testing.assert_array_equal(rest.spectra["line"].flux, plain.spectra["line"].flux)
        self.assertEqual((rest.images["sb"].unit, rest.spectra["line"].units), ("erg s-1 kpc-2", "erg s-1 / (km s-1)"))
        with h5py.File(rest.path) as file:
            self.assertEqual((file["sky"].attrs["frame"], file["spectra/line"].attrs["frame"]), (b"rest", b"rest"))

    def test_ranges_of_the_rest_frame_are_refused(self):
        waves = {**SPECTRUM, "axis": "wavelength", "range": ["1210 Angstrom", "1220 Angstrom"]}
        hertz = {**SPECTRUM, "axis": "frequency", "range": ["2.46e15 Hz", "2.47e15 Hz"]}
        for output, says in ((waves, "observed wavelengths, 3 times as long: take [3630 Angstrom, 3660 Angstrom], or set sky.frame: rest"),
                             (hertz, "observed frequencies, 0.333333 times as high: take [8.2e+14 Hz, 8.2333333e+14 Hz], or set sky.frame: rest")):
            done = thor("check", self.write(seen(output, sky={"redshift": 2})), "--no-trial")
            self.assertEqual(done.returncode, USAGE, done.stderr)
            self.assertIn("outputs.0.range: the line is in it at rest, but with `sky` it is a range of " + says, done.stderr)
            for sky in ({"redshift": 2, "frame": "rest"}, {"distance": "10 Mpc"}):
                self.assertEqual(thor("check", self.write(seen(output, sky=sky)), "--no-trial").returncode, DONE)
        off = {**waves, "range": ["3700 Angstrom", "3710 Angstrom"]}  # of a continuum, say
        self.assertEqual(thor("check", self.write(seen(off, sky={"redshift": 2})), "--no-trial").returncode, DONE)

    def test_exported_files_agree(self):
        waves = {**SPECTRUM, "name": "waves", **{k: stretched(CUBE)[k] for k in ("axis", "range", "bins")}}
        for frame in ("observed", "rest"):
            outputs = [IMAGE, CUBE, SPECTRUM, {**waves, "range": CUBE["range"]}] if frame == "rest" else [IMAGE, stretched(CUBE), SPECTRUM, waves]
            result = self.look(seen(*outputs, photons=200, sky={"redshift": 2, "frame": frame}))
            done = thor("export", result.path, "--fits", "--txt", "--png", "-o", self.folder, "--overwrite")
            self.assertEqual(done.returncode, DONE, done.stderr)
            text = (self.folder / "waves.txt").read_text()
            seen_from = frame == "observed"
            self.assertIn("redshift: 2; " + ("observed: fluxes" if seen_from else "rest frame of the object: luminosities"), text)
            self.assertIn(f"flux [erg s-1{' cm-2' * seen_from} Angstrom-1]", text)
            header = fits_headers(self.folder / "waves.fits")
            stretch = RED if seen_from else 1
            self.assertEqual(header["BUNIT"], "erg s-1 cm-2 Angstrom-1" if seen_from else "erg s-1 Angstrom-1")
            self.assertEqual((header["CTYPE1"], header["SPECSYS"], header["FRAME"]), ("WAVE", "BARYCENT" if seen_from else "SOURCE", frame))
            self.assertEqual((float(header["ZSOURCE"]), header["SSYSSRC"]), (2, "BARYCENT"))
            self.assertAlmostEqual(float(header["RESTWAV"]) * 1e10, 1215.6701, delta=1e-4)
            self.assertAlmostEqual(float(header["CRVAL1"]), 1215.1 * stretch, delta=1e-6)
            header = fits_headers(self.folder / "ifu.fits")
            self.assertEqual(header["BUNIT"], "erg s-1 cm-2 arcsec-2 Angstrom-1" if seen_from else "erg s-1 kpc-2 Angstrom-1")
            self.assertEqual((header["CTYPE3"], header["SPECSYS"]), ("WAVE", "BARYCENT" if seen_from else "SOURCE"))
            header = fits_headers(self.folder / "line.fits")  # velocities are those of the source in both
            self.assertEqual((header["CTYPE1"], header["SPECSYS"]), ("VOPT", "SOURCE"))


def fits_headers(path):
    """Keywords of all headers of a FITS file, without a library: the first of each name counts."""
    found, data = {}, path.read_bytes()
    for at in range(0, len(data), 80):
        card = data[at : at + 80]
        key = card[:8].decode("latin1").strip()
        if card[8:10] == b"= " and key.replace("-", "").replace("_", "").isalnum():
            value = card[10:].decode("latin1").strip()
            value = value[1:].split("'")[0].strip() if value.startswith("'") else value.split("/")[0].strip()
            found.setdefault(key, value)
    return found


class Profiles(SkyCase):
    def chi_square(self, profile, radius, light):
        """Against a uniform sphere of this radius [kpc]: S = 2 n sqrt(R^2 - b^2), by the light between the edges."""
        n = light / (4 / 3 * np.pi * radius**3)
        enclosed = 4 / 3 * np.pi * n * (radius**3 - np.clip(radius**2 - profile.edges**2, 0, None) ** 1.5)
        expected = np.diff(enclosed) / (np.pi * np.diff(profile.edges**2))
        return np.mean(((profile.brightness - expected) / profile.error) ** 2)

    def test_a_sphere_that_shines_evenly(self):
        shining = {"type": "extended", "shape": "medium"}
        logarithmic = {**PROFILE, "name": "log", "inner": "0.05 kpc", "spacing": "log"}
        result = self.look(seen(*({**p, "of": "emitted"} for p in (PROFILE, logarithmic)), photons=40000, tau0=1e-3, source=shining))
        with self.assertRaisesRegex(package.ArgumentError, "as it was emitted"):
            result.escape_fraction("halo")
        for name in ("halo", "log"):
            profile = result.profiles[name]
            self.assertLess(self.chi_square(profile, 1, 1e42), 2.5)
            self.assertGreater(self.chi_square(profile, 1.03, 1e42), 5, "a larger sphere must show")
        self.assertAlmostEqual(result.profiles["halo"].luminosity() / 1e42, 1, delta=1e-9)
        np.testing.assert_allclose(np.diff(np.log(result.profiles["log"].edges)), np.log(20) / 10, rtol=1e-9)
        self.assertIn("Profile 'halo'", str(result))
        done = subprocess.run([sys.executable, "-m", "thor", "plot", result.path, "--name", "log", "-o", str(self.folder / "p.png")],
                              env={"PYTHONPATH": PACKAGE}, capture_output=True, text=True)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertGreater((self.folder / "p.png").stat().st_size, 5000)


class Sets(SkyCase):
    def test_the_mean_of_evenly_spread_observers_is_what_escapes(self):
        off_centre = {"type": "point", "position": ["0.4 kpc", "0.2 kpc", "-0.5 kpc"]}
        config = seen(SPECTRUM, observers=[{"name": "face", "healpix": 2}], source=off_centre, photons=5000)
        config["dataset"]["dust"] = {"tau": 0.5}
        result = self.look(config)
        self.assertEqual(set(result.spectra), {f"line.{i}" for i in range(48)})
        self.assertEqual(result.spectra["line.7"].observer, "face.7")
        light = [s.luminosity()[0] for s in result.spectra.values()]
        self.assertGreater(max(light) / min(light), 1.2, "dust hides the far side")
        self.assertAlmostEqual(np.mean(light) / result.summary["luminosity_escaped"], 1, delta=0.03)

    def test_random_ones_depend_on_the_seed_alone(self):
        config = seen(IMAGE, observers=[{"name": "face", "random": 2}], photons=100)
        first, again, other = self.look(config), self.look(config, "--threads", "1"), self.look(config, "--seed", "5")
        self.assertEqual(list(first.images), ["sb.0", "sb.1"])
        np.testing.assert_array_equal(first.images["sb.1"].brightness, again.images["sb.1"].brightness)
        np.testing.assert_array_equal(first.images["sb.1"].direction, again.images["sb.1"].direction)
        self.assertGreater(np.max(np.abs(first.images["sb.1"].direction - other.images["sb.1"].direction)), 1e-3)


    def test_what_does_not_fit_in_memory_is_refused(self):
        """48 cubes of 80^2 x 60 pixels, of 32 bytes each, under a limit of 400 MB; without errors they fit."""
        cube = {**CUBE, "pixels": 80, "bins": 60}
        path = self.write(seen(cube, observers=[{"name": "face", "healpix": 2}]))
        limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))}
        done = thor("check", path, "--no-trial", **limit)
        self.assertEqual(done.returncode, DEVICE, done.stderr)
        self.assertRegex(done.stderr, r"out of memory: 1\.84e\+07 bins take 59\d MB, and .* are free; use fewer bins")
        path = self.write(seen({**cube, "errors": "none"}, observers=[{"name": "face", "healpix": 2}]))
        done = thor("check", path, "--no-trial", **limit)
        self.assertEqual(done.returncode, DONE, done.stderr)


class Smearing(SkyCase):
    def test_a_point_is_as_wide_as_its_psf(self):
        """A source in thin gas: its image is the point-spread function, its spectrum the line-spread function."""
        outputs = [
            {**IMAGE, "width": "6 kpc", "pixels": 60, "psf": {"fwhm": "1 kpc"}},
            {**CUBE, "width": "6 kpc", "psf": {"fwhm": "1 kpc"}, "lsf": {"fwhm": "40 km/s"}, "axis": "velocity",
             "range": ["-100 km/s", "100 km/s"], "bins": 100},
            {**SPECTRUM, "lsf": {"fwhm": "40 km/s"}, "bins": 100},
            {**PROFILE, "radius": "3 kpc", "psf": {"fwhm": "1 kpc"}},
        ]
        result = self.look(seen(*outputs, photons=20000, tau0=1e-4))
        sigma = 1 / np.sqrt(8 * np.log(2))
        image = result.images["sb"]
        middle = (image.right[1:] + image.right[:-1]) / 2
        for weights in (image.brightness.sum(axis=0), image.brightness.sum(axis=1)):
            self.assertAlmostEqual(np.sqrt(np.average(middle**2, weights=weights)) / sigma, 1, delta=0.03)
        for light in (image.luminosity(), result.profiles["halo"].luminosity(), result.cubes["ifu"].image().luminosity(),
                      result.spectra["line"].luminosity()[0]):
            self.assertAlmostEqual(light / 1e42, 1, delta=1e-3)
        spectrum = result.spectra["line"]
        width = np.sqrt(np.average(spectrum.centers**2, weights=spectrum.flux))
        self.assertAlmostEqual(width / (40 * sigma), 1, delta=0.03)
        # The share within a radius r of a Gaussian is 1 - exp(-r^2/2 sigma^2); 5000 photons are in the first ring.
        profile = result.profiles["halo"]
        within = np.cumsum(profile.brightness * np.diff(profile.edges**2)) * np.pi / 1e42
        np.testing.assert_allclose(within, 1 - np.exp(-(profile.edges[1:] ** 2) / (2 * sigma**2)), atol=0.015)
        # Neither moves photons, nor depends on threads and lanes.
        again = self.look(seen(*outputs, photons=20000, tau0=1e-4), "--threads", "1")
        np.testing.assert_array_equal(image.brightness, again.images["sb"].brightness)
        moments = result.cubes["ifu"].moments()
        bright = result.cubes["ifu"].image().brightness > 0.1 * np.max(result.cubes["ifu"].image().brightness)
        np.testing.assert_allclose(moments.dispersion[bright], 40 * sigma, rtol=0.06)
        np.testing.assert_allclose(moments.mean[bright], 0, atol=1.5)
        np.testing.assert_allclose(moments.blue_fraction[bright], 0.5, atol=0.03)
        shifted = result.cubes["ifu"].moments(low=0)
        np.testing.assert_allclose(shifted.blue_fraction[bright], 0, atol=1e-12)
        np.testing.assert_allclose(shifted.mean[bright], 40 * sigma * np.sqrt(2 / np.pi), rtol=0.06)


class Estimators(SkyCase):
    def test_escaped_photons_show_what_rays_show(self):
        """A sphere looks alike from everywhere, so a wide cone is as good as a narrow one."""
        outputs = [PROFILE, SPECTRUM, {**IMAGE, "pixels": 4}]
        by_photons = [{**o, "name": o["name"] + "_escaped", "estimator": "escaped", "within": "60 deg"} for o in outputs]
        result = self.look(seen(*outputs, *by_photons, photons=20000))
        for rays, photons, what in (
            (result.profiles["halo"], result.profiles["halo_escaped"], "brightness"),
            (result.images["sb"], result.images["sb_escaped"], "brightness"),
            (result.spectra["line"], result.spectra["line_escaped"], "flux"),
        ):
            a, b = getattr(rays, what), getattr(photons, what)
            bright = a > 0.05 * np.max(a)
            chi = (a - b)[bright] / np.hypot(rays.error, photons.error)[bright]
            self.assertLess(np.mean(chi**2), 2.2, rays)
            self.assertGreater(np.mean(((1.15 * a - b)[bright] / np.hypot(rays.error, photons.error)[bright]) ** 2), 2.2, rays)
        with h5py.File(result.path) as file:
            self.assertAlmostEqual(file["images/sb_escaped"].attrs["within"], 60, delta=1e-9)
            self.assertEqual(file["images/sb_escaped"].attrs["estimator"], b"escaped")

    def test_no_rays_are_sent_to_those_who_need_none(self):
        result = self.look(seen({**IMAGE, "estimator": "escaped", "within": "180 deg"}, photons=300))
        self.assertNotIn("rays", result.summary)
        self.assertAlmostEqual(result.images["sb"].luminosity() / 1e42, 1, delta=1e-9)

    def test_all_directions_are_all_directions(self):
        """Light that goes straight away from the observer, for which the cosine may round to less than -1, is in a cone of 180 deg."""
        for direction in ([1, 2, 3], [3, 1, -2], [5, -1, 2], [1, 1, 1]):
            beam = {"type": "extended", "shape": "beam", "radius": "0.01 kpc", "direction": direction}
            away = [{"name": "face", "direction": [-d for d in direction]}]
            result = self.look(seen({**SPECTRUM, "estimator": "escaped", "within": "180 deg"}, observers=away, tau0=1e-9, source=beam, photons=200))
            self.assertAlmostEqual(result.spectra["line"].luminosity()[0] / 1e42, 1, delta=1e-9, msg=direction)


class Told(SkyCase):
    """What would be wrong without a word is said."""

    def said(self, config):
        self.run_thor(config, "--device", "cpu")
        return self.done.stderr

    def test_an_observer_who_looks_down_a_beam(self):
        beam = {"type": "extended", "shape": "beam", "radius": "0.5 kpc", "direction": [0, 0, 1]}
        warned = r"observer face looks down the parallel beam of generators.0: .* `estimator: escaped`"
        self.assertRegex(self.said(seen(SPECTRUM, source=beam, tau0=1)), warned)
        self.assertNotRegex(self.said(seen({**SPECTRUM, "estimator": "escaped"}, source=beam, tau0=1)), warned)
        aside = [{"name": "face", "direction": [0, 1, 1], "up": [1, 0, 0]}]
        self.assertNotRegex(self.said(seen(SPECTRUM, source=beam, tau0=1, observers=aside)), warned)

    def test_an_observer_without_an_output(self):
        other = {"name": "idle", "direction": [1, 0, 0]}
        self.assertIn("warning: observer idle: ", self.said(seen(IMAGE, observers=[*FACE, other], photons=10)))
        self.assertNotIn("no output uses it", self.said(seen(IMAGE, photons=10)))

    def test_any_direction_has_something_upward(self):
        for direction, up, shown in (([0, 2, 0], None, [0, 0, 1]), ([0, 0, -1], [0, 0, 3], [0, 1, 0]), ([1, 1, 1], [1, 1, 1], [-1, -1, 2]),
                                     ([1, 0, 0], None, [0, 1, 0])):
            observer = {"name": "face", "direction": direction, **({"up": up} if up else {})}
            with h5py.File(self.look(seen(IMAGE, photons=10, observers=[observer])).path) as file:
                found = {key: np.array(file["images/sb"].attrs[key]) for key in ("right", "up", "direction")}
            np.testing.assert_allclose(found["up"], np.array(shown) / np.linalg.norm(shown), atol=1e-12)
            np.testing.assert_allclose(np.cross(found["right"], found["up"]), found["direction"], atol=1e-12)

    def test_light_of_rays_that_end(self):
        """Rays of 1e42 erg/s that scatter a thousand times start with far more than that; what they lose is a small share of it."""
        summary = self.look(seen(IMAGE, tau0=1e4)).summary
        self.assertGreater(summary["rays_cut"], 100)
        self.assertLess(summary["share_lost_by_rays_cut"], 1e-7)
        self.assertGreater(summary["share_lost_by_rays_cut"], 0)
        self.assertGreater(self.look(seen(IMAGE, tau0=1e4, peel={"cut": 3})).summary["share_lost_by_rays_cut"], 1e-3, "the twin")
        self.assertFalse([name for name in summary if name.startswith("light_of")])

    def test_rays_that_end_too_early(self):
        low = self.said(seen(IMAGE, tau0=10, peel={"cut": 1}))
        self.assertIn("peel.cut: 1: rays towards observers end with up to 37 %", low)
        self.assertNotIn("peel.cut", self.said(seen(IMAGE, tau0=10)))

    def test_a_set_has_one_sentence(self):
        far = {**IMAGE, "centre": ["100 kpc", "0 kpc", "0 kpc"], "estimator": "escaped", "within": "180 deg"}
        said = self.said(seen(far, observers=[{"name": "face", "random": 100}], photons=200))
        self.assertRegex(said, r"warning: image sb\.0, .* and 9\d more: all of their light is beyond")
        self.assertLess(len(said), 3000)

    def test_dust_that_scatters_forward_does_not_overflow(self):
        """A phase function with a peak of 2e8: the light of many photons in one bin has room."""
        forward = {"tau": 0.05, "albedo": 1, "g": 0.9999}
        beam = {"type": "extended", "shape": "beam", "radius": "0.1 kpc", "direction": [0, 0, 1]}
        one = {**SPECTRUM, "bins": 1, "range": ["-1000 km/s", "1000 km/s"]}
        light = []
        for photons in (20000, 300000):
            config = seen(one, source=beam, tau0=1e-9, photons=photons)
            config["dataset"] = {"type": "slab", "half_thickness": "1 kpc", "temperature": "1e4 K", "tau0": 1e-9, "dust": forward}
            light.append(self.look(config).spectra["line"].luminosity()[0])
        self.assertAlmostEqual(light[0] / light[1], 1, delta=0.1)


if __name__ == "__main__":
    main()
