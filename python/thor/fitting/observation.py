"""An observed spectrum: what a file says, in vacuum wavelengths, without the pixels that cannot be used."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ArgumentError, PackageError
from ..line import Floats

#: Units of wavelength, in Angstrom.
UNITS = {"Angstrom": 1.0, "AA": 1.0, "angstrom": 1.0, "A": 1.0, "nm": 10.0, "um": 1e4, "micron": 1e4, "m": 1e10}

_NAMES = {
    "wavelength": ("wavelength", "wave", "lambda", "lam", "wl", "spectral_axis", "loglam"),
    "flux": ("flux", "flam", "f_lambda", "spec", "data"),
    "error": ("error", "err", "sigma", "uncertainty", "flux_err", "flux_error", "std", "ivar", "var", "variance", "stat"),
}
_FEWEST = 8


@dataclass
class Observation:
    """Pixels of an observed spectrum that a fit uses.

    ``low`` and ``high`` are their edges [Angstrom, vacuum], ``covariance`` a matrix, or the squares of the errors.
    ``notes`` say what was left out.
    """

    low: Floats
    high: Floats
    flux: Floats
    covariance: Floats
    name: str = "spectrum"
    flux_unit: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def wavelength(self) -> Floats:
        return 0.5 * (self.low + self.high)

    @property
    def error(self) -> Floats:
        found: Floats = np.sqrt(self.covariance if self.covariance.ndim == 1 else np.diag(self.covariance))
        return found

    def select(self, used: npt.NDArray[np.bool_]) -> Observation:
        covariance = self.covariance[used] if self.covariance.ndim == 1 else self.covariance[np.ix_(used, used)]
        return Observation(self.low[used], self.high[used], self.flux[used], covariance, self.name, self.flux_unit, list(self.notes))


def observation(
    wavelength: Any,
    flux: Any,
    error: Any,
    *,
    unit: str = "Angstrom",
    air: bool = False,
    mask: Sequence[tuple[float, float]] = (),
    name: str = "spectrum",
    flux_unit: str = "",
) -> Observation:
    """A spectrum from arrays. ``error`` is one number for each pixel, or a covariance matrix; ``unit`` that of the wavelengths;
    ``mask`` has ranges of them (as they are given) that are left out."""
    lam, f, e = (_numbers(values, what, name) for values, what in ((wavelength, "wavelength"), (flux, "flux"), (error, "error")))
    if lam.ndim != 1 or f.shape != lam.shape or e.shape not in (lam.shape, lam.shape * 2):
        raise ArgumentError(f"{name}: wavelength, flux and error must be as long as each other, not {lam.shape}, {f.shape} and {e.shape}")
    if unit not in UNITS:
        raise ArgumentError(f"{name}: unit of wavelength {unit!r}: known are {', '.join(UNITS)}")
    if not np.all(np.isfinite(lam)) or np.any(lam <= 0):
        raise ArgumentError(f"{name}: wavelengths must be numbers above 0: pixel {int(np.argmin(np.isfinite(lam) & (lam > 0)))} is {lam[~(np.isfinite(lam) & (lam > 0))][0]}")
    if len(lam) > 1 and np.all(np.diff(lam) < 0):
        lam, f, e = lam[::-1], f[::-1], e[::-1] if e.ndim == 1 else e[::-1, ::-1]
    if not np.all(np.diff(lam) > 0):
        at = int(np.argmin(np.diff(lam) > 0))
        raise ArgumentError(f"{name}: wavelengths must increase: {lam[at + 1]:g} follows {lam[at]:g} in pixel {at + 1} (sort them; join overlapping orders first)")
    variance = e**2 if e.ndim == 1 else np.diag(e).copy()
    bad = ~np.isfinite(f) | ~np.isfinite(e if e.ndim == 1 else np.diag(e))
    zero = ~bad & ((e <= 0) if e.ndim == 1 else (variance <= 0))
    masked = np.zeros(len(lam), bool)
    for low, high in mask:
        if not low < high:
            raise ArgumentError(f"{name}: mask {low:g},{high:g}: the lower end comes first")
        masked |= (lam >= low) & (lam <= high)
    notes = [f"{int(np.sum(which))} pixels {what}" for which, what in (
        (bad, "are not numbers"), (zero, "have no error above 0"), (masked & ~bad & ~zero, "are masked"))
        if np.any(which)]  # fmt: skip
    edges = _edges(lam)
    ends = [_vacuum(part * UNITS[unit]) if air else part * UNITS[unit] for part in (edges[:-1], edges[1:])]
    covariance = variance if e.ndim == 1 else e
    found = Observation(ends[0], ends[1], f, covariance, name, flux_unit, notes).select(~bad & ~zero & ~masked)
    if len(found.flux) < _FEWEST:
        raise ArgumentError(f"{name}: {len(found.flux)} pixels can be used{': ' + ', '.join(notes) if notes else ''}; at least {_FEWEST} are needed")
    if e.ndim == 2:
        matrix = found.covariance
        if not np.allclose(matrix, matrix.T, rtol=1e-6, atol=0) or np.linalg.eigvalsh(matrix)[0] <= 0:
            raise ArgumentError(f"{name}: the covariance must be symmetric, with eigenvalues above 0")
    if not np.any(found.flux != 0):
        raise ArgumentError(f"{name}: all fluxes are 0")
    return found


def read(
    path: str | os.PathLike[str],
    *,
    unit: str | None = None,
    air: bool = False,
    mask: Sequence[tuple[float, float]] = (),
    covariance: str | os.PathLike[str] | None = None,
) -> Observation:
    """A spectrum from text (columns of wavelength, flux and error), ``.ecsv`` or ``.fits``."""
    file = Path(path)
    if not file.is_file():
        raise ArgumentError(f"{file}: there is no such file")
    kind = file.suffix.lower()
    reader = _from_fits if kind in (".fits", ".fit", ".gz") else _from_ecsv if kind == ".ecsv" else _from_text
    columns, units = reader(file)
    error = columns["error"]
    if covariance is not None:
        where = Path(covariance)
        try:
            error = np.load(where) if where.suffix == ".npy" else np.loadtxt(where)
        except (OSError, ValueError) as problem:
            raise ArgumentError(f"{where}: not a matrix: {problem}") from problem
    given = units.get("wavelength") or "Angstrom"
    return observation(columns["wavelength"], columns["flux"], error, unit=unit or given, air=air, mask=mask, name=str(path), flux_unit=units.get("flux", ""))


def _numbers(values: Any, what: str, name: str) -> Floats:
    try:
        numbers = getattr(values, "value", values)
        found: Floats = np.asarray(numbers, dtype=np.float64)
        if isinstance(numbers, np.ma.MaskedArray):
            found = np.where(np.asarray(numbers.mask), np.nan, found)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{name}: {what} must be numbers: {error}") from error
    return found


def _edges(centres: Floats) -> Floats:
    middle = 0.5 * (centres[1:] + centres[:-1])
    found: Floats = np.concatenate([[2 * centres[0] - middle[0]], middle, [2 * centres[-1] - middle[-1]]])
    return found


def _vacuum(air: Floats) -> Floats:
    """Vacuum wavelength [Angstrom] of one in air, by the inverse of N. Piskunov's for VALD (Ryabchikova et al. 2015), of Morton
    (2000, ApJS 130, 403), above 2000 Angstrom, below which wavelengths are those of vacuum."""
    s = 1e4 / air
    n = 1 + 0.00008336624212083 + 0.02408926869968 / (130.1065924522 - s**2) + 0.0001599740894897 / (38.92568793293 - s**2)
    found: Floats = np.where(air > 2000, air * n, air)
    return found


def _from_text(file: Path) -> tuple[dict[str, Any], dict[str, str]]:
    rows = []
    with open(file, encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            words = line.split("#")[0].replace(",", " ").split()
            if not words:
                continue
            try:
                rows.append([float(word) for word in words])
            except ValueError:
                if rows:
                    raise ArgumentError(f"{file}:{number}: not numbers: {line.strip()[:60]!r}") from None
                continue  # names of columns
            if len(rows[-1]) < 3:
                raise ArgumentError(f"{file}:{number}: {len(rows[-1])} columns; three are needed: wavelength, flux, error")
    if not rows:
        raise ArgumentError(f"{file}: it has no numbers; three columns are needed: wavelength, flux, error")
    table = np.array([row[:3] for row in rows])
    return {"wavelength": table[:, 0], "flux": table[:, 1], "error": table[:, 2]}, {}


def _from_ecsv(file: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """As astropy writes it: a header in YAML, with a line for each column, then columns."""
    text = file.read_text(encoding="utf-8", errors="replace").splitlines()
    units = {}
    for line in text:
        column = re.match(r"#\s*-\s*\{name:\s*'?([^,'}]+)'?(.*)\}", line)
        if column:
            unit = re.search(r"unit:\s*'?([^,'}]+)", column[2])
            units[column[1].strip()] = unit[1].strip() if unit else ""
    delimiter = "," if any(re.match(r"#\s*delimiter:\s*','", line) for line in text) else None
    body = [line for line in text if line.strip() and not line.startswith("#")]
    if len(body) < 2:
        raise ArgumentError(f"{file}: it has no rows")
    names = [word.strip().strip('"') for word in body[0].split(delimiter)]
    columns: dict[str, list[float]] = {name: [] for name in names}
    for number, line in enumerate(body[1:], 1):
        words = line.split(delimiter)
        if len(words) != len(names):
            raise ArgumentError(f"{file}: row {number} has {len(words)} columns, the header {len(names)}")
        for name, word in zip(names, words):
            try:
                columns[name].append(float(word) if word.strip().strip('"') else np.nan)
            except ValueError:
                columns[name].append(np.nan)
    return _named(columns, units, str(file))


def _from_fits(file: Path) -> tuple[dict[str, Any], dict[str, str]]:
    try:
        from astropy.io import fits
    except ImportError as error:
        raise PackageError("FITS spectra are read by astropy, which is missing: on Debian `apt install python3-astropy`, or use a text file") from error
    try:
        with fits.open(file) as parts:
            for part in parts:
                if isinstance(part, (fits.BinTableHDU, fits.TableHDU)):
                    names = part.columns.names
                    return _named({name: np.ravel(part.data[name]).astype(float) for name in names}, dict(zip(names, [u or "" for u in part.columns.units])), str(file))
            images = {part.name.lower(): part for part in parts if part.data is not None and part.data.ndim == 1}
            flux = next((images[name] for name in ("flux", "data", "primary") if name in images), None)
            noise = next((images[name] for name in _NAMES["error"] if name in images), None)
            if flux is None or noise is None:
                raise ArgumentError(f"{file}: neither a table with wavelength, flux and error, nor images FLUX (or DATA) and ERROR (or STAT) along wavelength")
            head = flux.header
            step = head.get("CDELT1", head.get("CD1_1"))
            if "CRVAL1" not in head or step is None:
                raise ArgumentError(f"{file}: its flux has no wavelengths (CRVAL1, CDELT1 or CD1_1)")
            axis = head["CRVAL1"] + step * (np.arange(len(flux.data)) + 1 - head.get("CRPIX1", 1))
            columns = {"wavelength": 10**axis if "LOG" in str(head.get("CTYPE1", "")).upper() else axis, "flux": flux.data.astype(float), noise.name: noise.data.astype(float)}
            return _named(columns, {"wavelength": str(head.get("CUNIT1", "")).strip(), "flux": str(head.get("BUNIT", ""))}, str(file))
    except OSError as error:
        raise ArgumentError(f"{file}: not a FITS file: {error}") from error


def _named(columns: Any, units: dict[str, str], name: str) -> tuple[dict[str, Any], dict[str, str]]:
    """The three columns by their usual names; errors also from variances and inverse variances."""
    found, of = {}, {}
    for what, words in _NAMES.items():
        key = next((c for word in words for c in columns if c.lower() == word), None)
        if key is None:
            raise ArgumentError(f"{name}: no column of {what} among {', '.join(columns)}; known names are {', '.join(words)}")
        values = np.array(columns[key], dtype=float)
        if key.lower() == "loglam":
            values = 10**values
        if key.lower() == "ivar":
            values = np.where(values > 0, 1 / np.sqrt(np.where(values > 0, values, 1)), 0)
        elif key.lower() in ("var", "variance", "stat"):
            values = np.sqrt(np.where(values > 0, values, 0))
        found[what], of[what] = values, units.get(key, "")
    return found, of
