"""Results that are zarr directories, and histograms."""

import json
import os
import random
import unittest
import warnings
from pathlib import Path

import h5py
import numpy as np
from support import WithFiles, needs_astropy, put, write_result
from test_errors import use

import thor


def to_zarr(source, target, rows=7000):
    """An HDF5 result as a zarr directory, with chunks of some rows."""
    metadata = {}

    def text(path, name, value):
        path.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(json.dumps(value))
        metadata[str((path / name).relative_to(target))] = value

    def convert(place, path):
        attributes = {name: thor.reading.plain(place.attrs[name]) for name in place.attrs}
        text(path, ".zattrs", attributes)
        if isinstance(place, h5py.Group):
            text(path, ".zgroup", {"zarr_format": 2})
            for name in place:
                convert(place[name], path / name)
            return
        values = place[()]
        chunk = [min(rows, max(values.shape[0], 1)), *values.shape[1:]]
        text(path, ".zarray", {"zarr_format": 2, "shape": values.shape, "chunks": chunk, "dtype": values.dtype.str,
                               "order": "C", "fill_value": 0, "filters": None, "compressor": None})
        for i in range(-(-values.shape[0] // chunk[0])):
            part = values[i * chunk[0] : (i + 1) * chunk[0]]
            whole = np.zeros(chunk, values.dtype)
            whole[: len(part)] = part
            whole.tofile(path / ".".join([str(i), *["0"] * (values.ndim - 1)]))

    with h5py.File(source) as file:
        convert(file, target)
    (target / ".zmetadata").write_text(json.dumps({"zarr_consolidated_format": 1, "metadata": metadata}))


def add_histogram(path, error_method="histories"):
    with h5py.File(path, "a") as file:
        group = file.create_group("histograms/map")
        put(group, axes="radius velocity", of="escaped", luminosity_beyond=2.0, error_method=error_method, wavelength0=1215.34)
        group["luminosity"], group["error"] = np.arange(6.0).reshape(2, 3), np.ones((2, 3))
        group["edges_radius"], group["edges_velocity"] = np.arange(3.0), np.arange(4.0)
        put(group["edges_radius"], units="cm")


class ZarrTest(WithFiles):
    def setUp(self):
        super().setUp()
        self.zarr = Path(self.folder, "out.zarr")

    def write(self, **options):
        write_result(self.path, **options)
        add_histogram(self.path)
        to_zarr(self.path, self.zarr)

    def test_is_read_as_an_hdf5_file(self):
        self.write(absorbed=500)
        hdf5, zarr = self.open(), thor.open(self.zarr)
        self.assertEqual(zarr.summary, hdf5.summary)
        self.assertEqual(zarr.attributes, hdf5.attributes)
        self.assertEqual(zarr.config, hdf5.config)
        self.assertEqual(zarr.escape_fraction(), hdf5.escape_fraction())
        for name, spectrum in hdf5.spectra.items():
            np.testing.assert_array_equal(zarr.spectra[name].flux, spectrum.flux)
        np.testing.assert_array_equal(zarr.histograms["map"].luminosity, hdf5.histograms["map"].luminosity)
        self.assertEqual(list(zarr.photons), sorted(hdf5.photons))
        for name in hdf5.photons:
            np.testing.assert_array_equal(zarr.photons[name], hdf5.photons[name], name)
        self.assertEqual(zarr.photons.units("position"), "cm")
        self.assertEqual(len(zarr.photons.escaped), len(hdf5.photons.escaped))

    def test_photons_are_lazy_and_stay_after_closing(self):
        self.write()
        result = thor.open(self.zarr)
        kept = result.photons["id"]
        result.close()
        self.assertIs(result.photons["id"], kept)
        with self.assertRaisesRegex(thor.ResultError, "closed"):
            result.photons["direction"]

    @needs_astropy
    def test_damage(self):
        """Each file cut, taken away or with a byte changed: an error of thor's, or a result."""
        self.write(photons=300)
        files = sorted(path for path in self.zarr.rglob("*") if path.is_file())
        chance = random.Random(1)
        refused = 0
        for number in range(240):
            file = chance.choice(files)
            good = file.read_bytes()
            if number % 3 == 0 and good:
                os.truncate(file, chance.randrange(len(good)))
            elif number % 3 == 1 and good:
                bad = bytearray(good)
                bad[chance.randrange(len(bad))] = chance.randrange(256)
                file.write_bytes(bad)
            else:
                file.unlink()
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    use(self.zarr)
                self.assertEqual(number % 3, 1, f"{file}: what is cut or missing is seen")
            except thor.Error as error:
                refused += 1
                if number % 3 != 1:  # a changed number may be missed until it is used
                    self.assertIn(str(self.zarr), str(error))
            file.write_bytes(good)
        self.assertGreater(refused, 160)
        use(self.zarr)

    def test_a_shape_beyond_all_memory(self):
        """Chunks are looked for one by one, not listed first."""
        self.write(photons=300)
        whole = json.loads((self.zarr / ".zmetadata").read_text())
        for shape, says in ([10**12], "is missing"), ([10**30], "is missing"), ([0, 10**12], "damaged"):
            name = "histograms/map/error/.zarray"
            meta = {**whole["metadata"][name], "shape": shape, "chunks": [1] * len(shape)}
            (self.zarr / "histograms/map/error/0").write_bytes(bytes(8))
            (self.zarr / name).write_text(json.dumps(meta))
            whole["metadata"][name] = meta
            (self.zarr / ".zmetadata").write_text(json.dumps(whole))
            with self.assertRaisesRegex(thor.ResultError, says):
                thor.open(self.zarr)

    def test_what_is_no_result(self):
        for names, says in ((), "no zarr store"), ((".zgroup",), "not a result"), (("zarr.json",), "zarr version 3"):
            self.zarr.mkdir(exist_ok=True)
            for name in names:
                (self.zarr / name).write_text('{"zarr_format": 2}')
            with self.assertRaisesRegex(thor.ResultError, says):
                thor.open(self.zarr)


class HistogramTest(WithFiles):
    def test_is_read(self):
        write_result(self.path)
        add_histogram(self.path)
        found = self.open().histograms["map"]
        self.assertEqual(found.axes, ("radius", "velocity"))
        self.assertEqual(found.units, {"radius": "cm", "velocity": ""})
        self.assertEqual((found.of, found.beyond, found.error_method), ("escaped", 2.0, "histories"))
        self.assertEqual(found.line.wavelength0, 1215.34)
        np.testing.assert_array_equal(found.edges["velocity"], [0, 1, 2, 3])
        along = found.along("velocity")
        np.testing.assert_array_equal(along.luminosity, [3, 5, 7])
        np.testing.assert_allclose(along.error, np.sqrt([2, 2, 2]))
        self.assertIn("2 radius x 3 velocity", repr(found))
        self.assertIn("2 radius x 3 velocity", repr(self.open()))
        for unknown in ("mass",), (3,), ():
            with self.assertRaisesRegex(thor.ArgumentError, "has the axes radius, velocity, not (mass|3|none)"):
                found.along(*unknown)

    def test_correlated_bins_have_a_bound_to_the_error_of_their_sum(self):
        write_result(self.path)
        add_histogram(self.path, error_method="groups")
        along = self.open().histograms["map"].along("velocity")
        self.assertEqual((along.error_method, along.line.wavelength0), ("groups", 1215.34))
        np.testing.assert_array_equal(along.error, [2, 2, 2])

    def test_damaged(self):
        for harm in (lambda g: g.pop("error"), lambda g: g.pop("edges_radius"), lambda g: g.attrs.pop("axes"),
                     lambda g: g["luminosity"].__setitem__((0, 0), np.nan), lambda g: g["edges_radius"].__setitem__(1, 2)):
            write_result(self.path)
            add_histogram(self.path)
            with h5py.File(self.path, "a") as file:
                harm(file["histograms/map"])
            with self.assertRaises(thor.ResultError):
                thor.open(self.path)
            os.remove(self.path)


if __name__ == "__main__":
    unittest.main()
