"""An observed spectrum: what a file says, in vacuum wavelengths, without the pixels that cannot be used."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ArgumentError, InputError, optional
from ..line import Floats

#: Units of wavelength, in Angstrom.
UNITS = {"Angstrom": 1.0, "AA": 1.0, "angstrom": 1.0, "Angstroms": 1.0, "angstroms": 1.0, "A": 1.0, "nm": 10.0, "um": 1e4, "micron": 1e4, "m": 1e10}

_NAMES = {
    "wavelength": ("wavelength", "wave", "lambda", "lam", "wl", "spectral_axis", "loglam"),
    "flux": ("flux", "flam", "f_lambda", "spec", "data"),
    "error": ("error", "err", "sigma", "uncertainty", "flux_err", "flux_error", "std", "ivar", "var", "variance", "stat"),
}
_FEWEST = 8
_WIDER = 1.5  # than its neighbours: a distance of pixels with a gap between them
_LEAST_ERROR = 1e-100  # whose square is still a number


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

    @property
    def matrix(self) -> Floats:
        """The covariance as a matrix."""
        return self.covariance if self.covariance.ndim == 2 else np.diag(self.covariance)

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
        raise InputError(f"{name}: wavelength, flux and error must be as long as each other, not {lam.shape}, {f.shape} and {e.shape}")
    if unit not in UNITS:
        raise ArgumentError(f"{name}: unit of wavelength {unit!r} (--unit): known are {', '.join(UNITS)}")
    if not np.all(np.isfinite(lam)) or np.any(lam <= 0):
        raise InputError(f"{name}: wavelengths must be numbers above 0: pixel {int(np.argmin(np.isfinite(lam) & (lam > 0)))} is {lam[~(np.isfinite(lam) & (lam > 0))][0]}")
    if len(lam) < _FEWEST:
        raise InputError(f"{name}: {len(lam)} pixels; at least {_FEWEST} are needed")
    if np.all(np.diff(lam) < 0):
        lam, f, e = lam[::-1], f[::-1], e[::-1] if e.ndim == 1 else e[::-1, ::-1]
    if not np.all(np.diff(lam) > 0):
        at = int(np.argmin(np.diff(lam) > 0))
        raise InputError(f"{name}: wavelengths must increase: {lam[at + 1]:g} follows {lam[at]:g} in pixel {at + 1} (sort them; join overlapping orders first)")
    variance = e**2 if e.ndim == 1 else np.diag(e).copy()
    bad = ~np.isfinite(f) | ~np.isfinite(e if e.ndim == 1 else np.diag(e))
    zero = ~bad & ((e <= 0) if e.ndim == 1 else (variance <= 0))
    masked = np.zeros(len(lam), bool)
    empty: list[str] = []
    for low, high in mask:
        if not low < high:
            raise ArgumentError(f"{name}: mask {low:g},{high:g}: the lower end comes first")
        inside = (lam >= low) & (lam <= high)
        masked |= inside
        empty += [] if np.any(inside) else [f"the mask {low:g},{high:g} has no pixel in it"]
    low_ends, high_ends, gaps = _edges(lam)
    empty += [f"{gaps} gap{'s' * (gaps > 1)} between pixels"] if gaps else []
    notes = [*empty, *(f"{int(np.sum(which))} pixels {what}" for which, what in (
        (bad, "are not numbers"), (zero, "have no error above 0"), (masked & ~bad & ~zero, "are masked"))
        if np.any(which))]  # fmt: skip
    ends = [_vacuum(part * UNITS[unit]) if air else part * UNITS[unit] for part in (low_ends, high_ends)]
    covariance = variance if e.ndim == 1 else e
    found = Observation(ends[0], ends[1], f, covariance, name, flux_unit, notes).select(~bad & ~zero & ~masked)
    if len(found.flux) < _FEWEST:
        raise InputError(f"{name}: {len(found.flux)} pixels can be used{': ' + ', '.join(notes) if notes else ''}; at least {_FEWEST} are needed")
    if np.min(found.error) < _LEAST_ERROR:
        raise InputError(f"{name}: errors of {np.min(found.error):.3g} are too small to calculate with: give fluxes in larger units")
    if e.ndim == 2:
        matrix = found.covariance
        if not np.allclose(matrix, matrix.T, rtol=1e-6, atol=0) or np.linalg.eigvalsh(matrix)[0] <= 0:
            raise InputError(f"{name}: the covariance must be symmetric, with eigenvalues above 0")
    if not np.any(found.flux != 0):
        raise InputError(f"{name}: all fluxes are 0")
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
        raise InputError(f"{file}: there is no such file")
    kind = file.suffix.lower()
    reader = _from_fits if kind in (".fits", ".fit", ".gz") else _from_ecsv if kind == ".ecsv" else _from_text
    columns, units = reader(file)
    error = columns["error"]
    if covariance is not None:
        where = Path(covariance)
        try:
            error = np.load(where) if where.suffix == ".npy" else np.loadtxt(where)
        except (OSError, ValueError) as problem:
            raise InputError(f"{where}: not a matrix: {problem}") from problem
        if np.ndim(error) != 2:
            raise InputError(f"{where}: not a matrix, which a covariance is: its numbers have the shape {np.shape(error)}")
    given = units.get("wavelength") or "Angstrom"
    is_air = air or bool(units.get("air"))
    found = observation(columns["wavelength"], columns["flux"], error, unit=unit or given, air=is_air, mask=mask, name=str(path), flux_unit=units.get("flux", ""))
    if is_air and not air:
        found.notes.append("the file says that its wavelengths are those in air (AWAV)")
    return found


def _numbers(values: Any, what: str, name: str) -> Floats:
    try:
        numbers = getattr(values, "value", values)
        found: Floats = np.asarray(numbers, dtype=np.float64)
        if isinstance(numbers, np.ma.MaskedArray):
            found = np.where(np.asarray(numbers.mask), np.nan, found)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: {what} must be numbers: {error}") from error
    return found


def _edges(centres: Floats) -> tuple[Floats, Floats, int]:
    """Ends of pixels, half way to their neighbours unless pixels are missing there, as where rows were left out; and the number
    of such gaps."""
    steps = np.diff(centres)
    around = np.pad(steps, 2, mode="edge")
    least = np.min([around[k : k + len(steps)] for k in range(5)], axis=0)
    whole = np.where(steps > _WIDER * least, least, steps)
    low = centres - 0.5 * np.concatenate([whole[:1], whole])
    high = centres + 0.5 * np.concatenate([whole, whole[-1:]])
    return low, high, int(np.sum(whole < steps))


def _vacuum(air: Floats) -> Floats:
    """Vacuum wavelength [Angstrom] of one in air, by the inverse of N. Piskunov's for VALD (Ryabchikova et al. 2015), of Morton
    (2000, ApJS 130, 403), above 2000 Angstrom, below which wavelengths are those of vacuum."""
    s = 1e4 / air
    n = 1 + 0.00008336624212083 + 0.02408926869968 / (130.1065924522 - s**2) + 0.0001599740894897 / (38.92568793293 - s**2)
    found: Floats = np.where(air > 2000, air * n, air)
    return found


def _from_text(file: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Columns by the names in a line before the numbers, if it has as many, or else wavelength, flux and error."""
    rows: list[list[float]] = []
    head: list[str] = []
    with open(file, encoding="utf-8-sig", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            words = line.split("#")[0].replace(",", " ").split()
            if not words:
                head = line.replace("#", " ").replace(",", " ").split() or head if not rows else head
                continue
            try:
                rows.append([float(word) for word in words])
            except ValueError:
                if rows:
                    raise InputError(f"{file}:{number}: not numbers: {line.strip()[:60]!r}") from None
                head = words
                continue
            if len(rows[-1]) < 3 or len(rows[-1]) != len(rows[0]):
                raise InputError(f"{file}:{number}: {len(rows[-1])} columns; {max(len(rows[0]), 3)} are needed: wavelength, flux, error")
    if not rows:
        raise InputError(f"{file}: it has no numbers; three columns are needed: wavelength, flux, error")
    table = np.array(rows)
    known = {name for names in _NAMES.values() for name in names}
    names = [word.lower() for word in head] if len(head) == table.shape[1] and sum(word.lower() in known for word in head) >= 2 else []
    if names:
        return _named({name: table[:, i] for i, name in enumerate(names)}, {}, str(file))
    if table.shape[1] > 3:
        raise InputError(f"{file}: {table.shape[1]} columns; name them in a line before the numbers, or give three: wavelength, flux, error (decimal points, not commas)")
    return {"wavelength": table[:, 0], "flux": table[:, 1], "error": table[:, 2]}, {}


def _from_ecsv(file: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """As astropy writes it: a header in YAML, with a line for each column, then columns."""
    text = file.read_text(encoding="utf-8", errors="replace").splitlines()
    units: dict[str, str] = {}
    column = ""
    for line in text:  # of a column {name: ..., unit: ...}, or each in a line
        if found := re.match(r"#\s*-\s*\{?\s*name:\s*'?([^,'}]+)", line):
            column = found[1].strip()
            units[column] = ""
        if column and (found := re.search(r"[{,#\s]unit:\s*'?([^,'}]+)", line)):
            units[column] = found[1].strip()
    delimiter = "," if any(re.match(r"#\s*delimiter:\s*','", line) for line in text) else None
    body = [line for line in text if line.strip() and not line.startswith("#")]
    if len(body) < 2:
        raise InputError(f"{file}: it has no rows")
    names = [word.strip().strip('"') for word in body[0].split(delimiter)]
    columns: dict[str, list[float]] = {name: [] for name in names}
    for number, line in enumerate(body[1:], 1):
        words = next(csv.reader([line], delimiter=delimiter or " ", skipinitialspace=True))
        if len(words) != len(names):
            raise InputError(f"{file}: row {number} has {len(words)} columns, the header {len(names)}")
        for name, word in zip(names, words):
            try:
                columns[name].append(float(word) if word.strip().strip('"') else np.nan)
            except ValueError:
                columns[name].append(np.nan)
    return _named(columns, units, str(file))


def _from_fits(file: Path) -> tuple[dict[str, Any], dict[str, str]]:
    fits = optional("astropy.io.fits")
    try:
        with fits.open(file) as parts:
            for part in parts:
                if isinstance(part, (fits.BinTableHDU, fits.TableHDU)):
                    names = [name for name in part.columns.names if name.lower() in {n for known in _NAMES.values() for n in known}]
                    units = {name: part.columns[name].unit or "" for name in names}
                    return _named({name: np.ravel(part.data[name]).astype(float) for name in names}, units, str(file))
            images = {part.name.lower(): part for part in parts if part.data is not None and part.data.ndim == 1}
            flux = next((images[name] for name in ("flux", "data", "primary") if name in images), None)
            noise = next((images[name] for name in _NAMES["error"] if name in images), None)
            if flux is None or noise is None:
                raise InputError(f"{file}: neither a table with wavelength, flux and error, nor images FLUX (or DATA) and ERROR (or STAT) along wavelength")
            head = flux.header
            step = head.get("CDELT1", head.get("CD1_1"))
            if "CRVAL1" not in head or step is None:
                raise InputError(f"{file}: its flux has no wavelengths (CRVAL1, CDELT1 or CD1_1)")
            axis = head["CRVAL1"] + step * (np.arange(len(flux.data)) + 1 - head.get("CRPIX1", 1))
            columns = {"wavelength": 10**axis if "LOG" in str(head.get("CTYPE1", "")).upper() else axis, "flux": flux.data.astype(float), noise.name: noise.data.astype(float)}
            named, units = _named(columns, {"wavelength": str(head.get("CUNIT1", "")).strip(), "flux": str(head.get("BUNIT", ""))}, str(file))
            return named, {**units, "air": "yes" if "AWAV" in str(head.get("CTYPE1", "")).upper() else ""}
    except InputError:
        raise
    except (OSError, TypeError, ValueError, IndexError) as error:
        raise InputError(f"{file}: not a FITS file: {error}") from error


def _named(columns: Any, units: dict[str, str], name: str) -> tuple[dict[str, Any], dict[str, str]]:
    """The three columns by their usual names; errors also from variances and inverse variances."""
    found, of = {}, {}
    for what, words in _NAMES.items():
        key = next((c for word in words for c in columns if c.lower() == word), None)
        if key is None:
            raise InputError(f"{name}: no column of {what} among {', '.join(columns)}; known names are {', '.join(words)}")
        values = np.array(columns[key], dtype=float)
        if key.lower() == "loglam":
            values = 10**values
        if key.lower() == "ivar":
            values = np.where(values > 0, 1 / np.sqrt(np.where(values > 0, values, 1)), 0)
        elif key.lower() in ("var", "variance", "stat"):
            values = np.sqrt(np.where(values > 0, values, 0))
        found[what], of[what] = values, units.get(key, "")
    return found, of
