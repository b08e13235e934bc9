"""The result file of a run."""

from __future__ import annotations

import os
import re
import warnings
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from .errors import IncompleteRunWarning, ResultError
from .line import AXIS_UNITS, Floats, Line
from .photons import Photons
from .spectrum import Spectrum

FORMAT_VERSION = 1  # the newest layout of the file that this package reads

# What one of a file's units is in ours.
_UNITS = {
    "x": {"": 1.0, "1": 1.0},
    "velocity": {"km s-1": 1.0, "km/s": 1.0, "cm s-1": 1e-5, "cm/s": 1e-5},
    "wavelength": {"Angstrom": 1.0, "nm": 10.0, "um": 1e4, "cm": 1e8},
    "frequency": {"Hz": 1.0, "s-1": 1.0, "GHz": 1e9, "THz": 1e12},
}

# Of the summary.
_NEEDED = ("complete", "photons", "escaped", "luminosity_emitted", "luminosity_escaped", "scatterings",
           "transport_seconds", "threads")


def _plain(value: Any) -> Any:
    """An attribute as Python's own type: fixed-length text comes out of HDF5 as bytes."""
    if isinstance(value, bytes):
        return value.decode("utf-8")
    return value.item() if isinstance(value, np.generic) else value


class Result:
    """What a run gave. Use it as is, or in a ``with`` block that closes the file at its end.

    ``summary`` and ``attributes`` are the file's (docs/formats.md), ``generators`` the light of
    each generator, in the order of the configuration, ``spectra`` its spectra by name, ``photons`` the recorded photons, and ``complete`` is False for a run that was cut.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = os.fspath(path)
        self._file = self._open()
        try:
            self._load()
        except ResultError:
            self.close()
            raise
        except (AttributeError, KeyError, OSError, RuntimeError, TypeError, ValueError) as error:
            self.close()
            reason = error.args[0] if error.args else error
            raise ResultError(f"{self.path}: the file is damaged: {reason}") from error
        if not self.complete:
            warnings.warn(self._what_is_missing(), IncompleteRunWarning, stacklevel=3)

    def _what_is_missing(self) -> str:
        in_flight = self.summary.get("in_flight", 0)
        if in_flight:
            return (
                f"{self.path}: this run was stopped before every photon had finished "
                f"({in_flight} in flight). Those are the long histories, which leave far from line "
                "centre: the spectra and escape fractions are biased, not only noisier."
            )
        return (
            f"{self.path}: this run was stopped after {self.summary['photons']} of "
            f"{self.summary.get('photons_requested', 'more')} photons. Those have all finished: "
            "they are a fair sample of all sources, and the shape of the spectra is noisier, not "
            "biased. Luminosities are those of the photons that were started."
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
        if not isinstance(version, int) or version < 1:
            raise ResultError(f"{self.path}: the file is damaged: its format_version is {version!r}")
        if version > FORMAT_VERSION:
            raise ResultError(
                f"{self.path}: written by thor {self.attributes['thor_version']} in format "
                f"{version}; this package reads up to {FORMAT_VERSION}: update it"
            )
        self.summary = {name: _plain(value) for name, value in self._file["summary"].attrs.items()}
        self._check_summary()
        generators = self._file.get("generators", {})
        self.generators = [
            {key: _plain(value) for key, value in generators[name].attrs.items()} for name in sorted(generators, key=int)
        ]
        self.complete: bool = bool(self.summary["complete"])
        thermal = self.attributes.get("thermal_velocity")
        self.line = Line(
            name=self.attributes["line"],
            wavelength0=self.attributes["wavelength0"],
            thermal_velocity=thermal if thermal and np.isfinite(thermal) else None,
        )
        groups = self._file.get("spectra", {})
        self.spectra = {name: self._spectrum(name, group) for name, group in groups.items()}
        self._beyond = {
            name: float(group.attrs.get("luminosity_beyond", np.nan))
            for name, group in groups.items()
        }
        photons = self._file.get("photons/original")
        if not isinstance(photons, (h5py.Group, type(None))):
            raise ResultError(f"{self.path}: the file is damaged: photons/original is no group")
        self.photons = Photons(self, photons)

    def _check_summary(self) -> None:
        """Everything that is shown or calculated with must be there, and be a number."""
        for name in _NEEDED:
            self.summary[name]
        for name, value in self.summary.items():
            if name not in ("caveats", "warnings") and not isinstance(value, (bool, int, float)):
                raise ResultError(f"{self.path}: the file is damaged: summary {name} is {value!r}")

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
        # Files of earlier versions have one wavelength for all spectra.
        wavelength0 = _plain(group.attrs.get("wavelength0", self.line.wavelength0))
        if not wavelength0 > 0.0:
            raise ResultError(f"{self.path}: spectrum '{name}' is damaged: {wavelength0=}")
        line = self.line.about(float(wavelength0))
        return Spectrum(name, edges * scale, flux / scale, error / scale, axis, of, line)

    @property
    def config(self) -> str:
        """The resolved configuration of the run, as YAML text: enough to run it again."""
        return str(self.attributes.get("config", ""))

    def spectrum(self, name: str | None = None) -> Spectrum:
        """The spectrum called ``name``; without a name, the first of escaped photons."""
        if name is None:
            escaped = [s for s in self.spectra.values() if s.of == "escaped"]
            if not escaped:
                raise KeyError(f"{self.path}: the run kept no spectrum of escaped photons")
            return escaped[0]
        if name not in self.spectra:
            raise KeyError(f"no spectrum '{name}': there is {', '.join(self.spectra) or 'none'}")
        return self.spectra[name]

    def equal_weight(self) -> float | None:
        """The luminosity [erg/s] that each photon stands for; None where they differ (or may).

        One source shares its luminosity equally among its photons; several need not. What is
        absorbed at birth by an ``escape_fraction`` is taken off.
        """
        if not self.summary["photons"]:
            return None
        left = self.summary["luminosity_emitted"] - self.summary.get("luminosity_unresolved", 0.0)
        if "equal_weights" in self.summary:
            return float(left / self.summary["photons"]) if self.summary["equal_weights"] else None
        # A file of an earlier version. thor writes the resolved configuration in block style, so items start alike.
        block = re.search(r"^generators:\n((?:[ -].*\n)+)", self.config, re.MULTILINE)
        sources = len(re.findall(r"^ *- type:", block.group(1), re.MULTILINE)) if block else 0
        return float(left / self.summary["photons"]) if sources == 1 else None

    def escape_fraction(self) -> tuple[float, float]:
        """The luminosity that escaped over that emitted, and its Monte Carlo error.

        For photons of one source the error is that of a share, sqrt(f (1 - f) / N): it is 0 where
        none or all of them escape. For several sources, with the squared weights S of those that
        escaped, it is sqrt(S - L^2 / N) over the luminosity emitted, an upper bound to it; S comes
        from the recorded weights, or from a spectrum that no photon missed. Where the file has
        neither the error is nan.
        """
        emitted, escaped = self.summary["luminosity_emitted"], self.summary["luminosity_escaped"]
        if not emitted:
            return float("nan"), float("nan")
        if escaped in (0, emitted):
            return float(escaped / emitted), 0.0
        variance = self._squared_weights() - escaped**2 / self.summary["photons"]
        return float(escaped / emitted), float(np.sqrt(np.maximum(variance, 0.0)) / emitted)

    def _squared_weights(self) -> float:
        """Sum of the squared weights of escaped photons; nan if the file does not say it."""
        weight = self.equal_weight()
        if weight is not None:
            return float(self.summary["escaped"]) * weight**2
        if "weight" in self.photons:
            escaped = self.photons["fate"] == self.photons.fates["escaped"]
            return float(np.sum(self.photons["weight"][escaped] ** 2))
        for name, spectrum in self.spectra.items():
            if spectrum.of == "escaped" and self._beyond[name] == 0.0:
                return spectrum.luminosity()[1] ** 2
        return float("nan")

    def mean_scatterings(self) -> float:
        """Scatterings by the line per photon."""
        return float(self.summary["scatterings"] / max(self.summary["photons"], 1))

    def x(self, velocity: npt.ArrayLike) -> Floats:
        """Dimensionless frequency x = (c/v_th) ln(nu/nu0) of a Doppler velocity [km/s].

        The velocity is positive to the red, x to the blue.
        """
        return self.line.from_velocity(velocity, "x")

    def close(self) -> None:
        """Closes the file; spectra and photons already read stay."""
        self._file.close()

    def __enter__(self) -> Result:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        from .describe import describe

        return describe(self)


def open(path: str | os.PathLike[str]) -> Result:
    """Opens a result file; warns if the run was cut short, raises :class:`ResultError` if the
    file is missing, damaged, or something else."""
    return Result(path)
