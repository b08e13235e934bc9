"""The result file of a run."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping

import h5py
import numpy as np

from .spectrum import AXIS_UNITS, Line, Spectrum

FORMAT_VERSION = 1  # the newest layout of the file that this package reads

# What one of a file's units is in ours.
_UNITS = {
    "x": {"": 1.0, "1": 1.0},
    "velocity": {"km s-1": 1.0, "km/s": 1.0, "cm s-1": 1e-5, "cm/s": 1e-5},
    "wavelength": {"Angstrom": 1.0, "nm": 10.0, "um": 1e4, "cm": 1e8},
    "frequency": {"Hz": 1.0, "s-1": 1.0, "GHz": 1e9, "THz": 1e12},
}


class ResultError(Exception):
    """The file is missing, damaged, or not a result of thor."""


class IncompleteRunWarning(UserWarning):
    """The run was cut while photons were still flying, so what it gives is biased."""


def _plain(value):
    """An attribute as Python's own type: fixed-length text comes out of HDF5 as bytes."""
    if isinstance(value, bytes):
        return value.decode("utf-8")
    return value.item() if isinstance(value, np.generic) else value


class Photons(Mapping):
    """The recorded photons, one numpy array per property, read when first asked for.

    Beside what the file holds (id, weight, velocity_initial, velocity_final, position, direction,
    scatterings, column) there are ``x_initial`` and ``x_final``, the dimensionless frequencies.
    """

    def __init__(self, result: Result, group: h5py.Group | None):
        self._result = result
        self._group = group
        self._arrays: dict[str, np.ndarray] = {}

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._arrays:
            self._arrays[name] = self._read(name)
        return self._arrays[name]

    def _read(self, name: str) -> np.ndarray:
        if name in ("x_initial", "x_final"):
            return self._result.x(self["velocity" + name[1:]])
        if self._group is None:
            raise KeyError(f"'{name}': the run kept no photons (outputs: - {{type: photons}})")
        if not self._group:
            raise ResultError(f"{self._result.path}: the file was closed before '{name}' was read")
        if name not in self._group:
            raise KeyError(f"'{name}': the file has {', '.join(self._group)}")
        try:
            return self._group[name][()]
        except OSError as error:
            raise ResultError(f"{self._result.path}: cannot read photons: {error}") from error

    def units(self, name: str) -> str:
        """Units of a property, as the file gives them."""
        return _plain(self._group[name].attrs["units"]) if self._group and name in self else ""

    def __iter__(self) -> Iterator[str]:
        return iter(self._group if self._group else self._arrays)

    def __len__(self) -> int:
        return len(self._group if self._group else self._arrays)

    def __repr__(self) -> str:
        return f"<Photons: {', '.join(self) or 'none'}>"


class Result:
    """What a run gave. Use it as is, or in a ``with`` block that closes the file at its end."""

    def __init__(self, path: str | os.PathLike):
        self.path = os.fspath(path)
        self._file = self._open()
        try:
            self._load()
        except ResultError:
            self.close()
            raise
        except (KeyError, OSError, RuntimeError) as error:
            self.close()
            reason = error.args[0] if error.args else error
            raise ResultError(f"{self.path}: the file is damaged: {reason}") from error
        if not self.complete:
            warnings.warn(
                f"{self.path}: this run was stopped before every photon had finished "
                f"({self.summary.get('in_flight', 0)} in flight). Those are the long histories, "
                "which leave far from line centre: the spectra and escape fractions are biased, "
                "not only noisier.",
                IncompleteRunWarning,
                stacklevel=3,
            )

    def _open(self) -> h5py.File:
        if not os.path.isfile(self.path):
            raise ResultError(f"{self.path}: there is no such file")
        try:
            return h5py.File(self.path, "r")
        except OSError as error:
            if "truncated" in str(error):
                reason = "the file is truncated (a copy that was cut short?)"
            elif not h5py.is_hdf5(self.path):
                reason = "this is not an HDF5 file"
            else:
                reason = str(error)
            raise ResultError(f"{self.path}: {reason}") from error

    def _load(self) -> None:
        self.attributes = {name: _plain(value) for name, value in self._file.attrs.items()}
        version = self.attributes.get("format_version")
        if "thor_version" not in self.attributes or version is None or "summary" not in self._file:
            raise ResultError(f"{self.path}: an HDF5 file, but not a result of thor")
        if version > FORMAT_VERSION:
            raise ResultError(
                f"{self.path}: written by thor {self.attributes['thor_version']} in format "
                f"{version}; this package reads up to {FORMAT_VERSION}: update it"
            )
        self.summary = {name: _plain(value) for name, value in self._file["summary"].attrs.items()}
        self.complete: bool = bool(self.summary["complete"])
        thermal = self.attributes.get("thermal_velocity")
        self.line = Line(
            name=self.attributes["line"],
            wavelength0=self.attributes["wavelength0"],
            thermal_velocity=thermal if thermal and np.isfinite(thermal) else None,
        )
        groups = self._file.get("spectra", {})
        self.spectra = {name: self._spectrum(name, group) for name, group in groups.items()}
        self.photons = Photons(self, self._file.get("photons/original"))

    def _spectrum(self, name: str, group: h5py.Group) -> Spectrum:
        axis = _plain(group.attrs["axis"])
        edges, flux, error = (group[key][()].astype(float) for key in ("edges", "flux", "error"))
        if axis not in AXIS_UNITS or not len(edges) - 1 == len(flux) == len(error):
            raise ResultError(f"{self.path}: spectrum '{name}' is damaged")
        units = _plain(group["edges"].attrs.get("units", AXIS_UNITS[axis]))
        if units not in _UNITS[axis]:
            raise ResultError(f"{self.path}: spectrum '{name}' has its {axis} axis in '{units}'")
        scale = _UNITS[axis][units]
        of = _plain(group.attrs["of"])
        return Spectrum(name, edges * scale, flux / scale, error / scale, axis, of, self.line)

    @property
    def config(self) -> str:
        """The resolved configuration of the run, as YAML text: enough to run it again."""
        return self.attributes.get("config", "")

    def x(self, velocity) -> np.ndarray:
        """Dimensionless frequency x = (c/v_th) ln(nu/nu0) of a Doppler velocity [km/s].

        The velocity is positive to the red, x to the blue.
        """
        return self.line.from_velocity(velocity, "x")

    def close(self) -> None:
        """Closes the file; spectra and photons already read stay."""
        self._file.close()

    def __enter__(self) -> Result:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def __repr__(self) -> str:
        summary, attributes = self.summary, self.attributes
        fates = ("escaped", "absorbed", "stopped", "lost", "in_flight")
        counts = ", ".join(
            f"{summary[fate]:,} {fate.replace('_', ' ')}"
            for fate in fates
            if fate == "escaped" or summary.get(fate)
        )
        names = ", ".join(f"{s.name} ({s.of}, {s.axis})" for s in self.spectra.values())
        rows = {
            "run": f"thor {attributes['thor_version']} ({attributes.get('git_commit', '?')}), "
            f"{attributes.get('device', '?')}, {attributes.get('precision', '?')} precision, "
            f"seed {attributes.get('seed', '?')}",
            "photons": f"{summary['photons']:,}: {counts}"
            + ("" if self.complete else "  [INCOMPLETE: biased]"),
            "luminosity": f"{summary['luminosity_escaped']:.4g} of "
            f"{summary['luminosity_emitted']:.4g} erg/s escaped",
            "work": f"{summary['scatterings']:.4g} scatterings in "
            f"{summary['transport_seconds']:.4g} s on {summary['threads']} threads",
            "spectra": names or "none",
            "records": ", ".join(self.photons) or "none",
        }
        body = "\n".join(f"  {key:<11} {text}" for key, text in rows.items())
        return f"thor result {self.path}: {self.line.name}\n{body}"


def open(path: str | os.PathLike) -> Result:
    """Opens a result file; warns if the run was cut short, raises :class:`ResultError` if the
    file is missing, damaged, or something else."""
    return Result(path)
