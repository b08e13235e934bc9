"""The result of ``thor sweep``: many models in one file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from . import reading, resolved
from .configuration import plain
from .errors import ArgumentError, MissingError, ResultError
from .line import AXIS_UNITS, Array, Line
from .quantity import same
from .result_file import Named, as_text, open_file
from .spectrum import Spectrum
from .zarr_store import Values

_MISSING, _DONE, _UNRELIABLE, _FAILED = range(4)
_COLUMNS = ("seed", "photons", "lost", "luminosity_emitted", "escape_fraction", "escape_fraction_error", "scatterings", "transport_seconds")


class Model:
    """One model of a sweep: ``summary``, its numbers by name; ``spectra`` by name; ``photons``, arrays of those that escaped, where the
    sweep kept them."""

    def __init__(self, sweep: SweepFile, row: int):
        self._sweep, self._row = sweep, row
        self.summary: dict[str, Any] = {name: values[row].item() for name, values in sweep._columns.items()}

    @property
    def spectra(self) -> Mapping[str, Spectrum]:
        return Named("spectrum", {name: self.spectrum(name) for name in self._sweep.spectra})

    def spectrum(self, name: str | None = None) -> Spectrum:
        """The first of escaped photons, or that of a name."""
        return self._sweep._spectrum(self._row, name)

    def escape_fraction(self) -> tuple[float, float]:
        """Escaped over emitted luminosity, and its Monte Carlo error."""
        return self.summary["escape_fraction"], self.summary["escape_fraction_error"]

    @property
    def photons(self) -> dict[str, Array]:
        return self._sweep._photons(self._row)

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class SweepFile(Sequence["tuple[dict[str, Any], Any]"]):
    """The models of ``thor sweep`` that ended: pairs of parameters and :class:`Model`, as those of :class:`thor.Sweep`.

        sweep = thor.open("shells.h5")
        sweep.values("dataset.column_density")           # of all models, in sweep.units(...)
        for parameters, model in sweep:
            print(parameters, model.escape_fraction())
        thor.plot_sweep(sweep.where({"precision": "single"}), "dataset.tau0")

    ``failures`` are the parameters of models that failed, with the reason; ``missing`` and ``unreliable`` count
    those that were not run, and those that lost more than 1 % of their photons.
    """

    def __init__(self, path: str | os.PathLike[str], rows: npt.NDArray[np.int64] | None = None):
        self.path = as_text(path)
        self._file = open_file(self.path)
        try:
            self.attributes = reading.attributes(self._file)
            if self.attributes.get("kind") != "sweep":
                raise ResultError(f"{self.path}: not the result of thor sweep")
            status = reading.numbers(self._file, "status", self.path).astype(int)
            self._columns: dict[str, Array] = {name: reading.numbers(self._file, name, self.path) for name in _COLUMNS if name in self._file}
            parameters = reading.group(self._file, "parameters", self.path) or {}
            order = list(resolved.read(str(self.attributes.get("sweep", ""))).get("keys", {}))  # as they were given, not by the alphabet
            keys = sorted(parameters, key=lambda key: order.index(key) if key in order else len(order))
            self._parameters = {key: reading.numbers(parameters, key, self.path) for key in keys}
            self._about = {key: reading.attributes(parameters[key]) for key in parameters}
            spectra = reading.group(self._file, "spectra", self.path) or {}
            self.spectra: dict[str, dict[str, Any]] = {name: reading.attributes(spectra[name]) for name in spectra}
        except ResultError:
            raise
        except Exception as error:  # any error of HDF5 or numpy on damaged data
            raise ResultError(f"{self.path}: the file is damaged: {error}") from error
        if any(len(column) != len(status) for column in (*self._columns.values(), *self._parameters.values())):
            raise ResultError(f"{self.path}: the file is damaged: its columns differ in length")
        self._arrays: dict[tuple[str, str], Array] = {}
        self._rows = np.flatnonzero(np.isin(status, (_DONE, _UNRELIABLE))) if rows is None else rows
        self.missing, self.unreliable = (int(np.sum(status == code)) for code in (_MISSING, _UNRELIABLE))
        reasons = dict(line.split(": ", 1) for line in str(self.attributes.get("failures", "")).split("\n") if ": " in line)
        self.failures = [(self._of_row(int(row)), reasons.get(str(row), "")) for row in np.flatnonzero(status == _FAILED)]

    @property
    def config(self) -> str:
        """The configuration that the models have in common, as thor completed it."""
        return str(self.attributes.get("config", ""))

    @property
    def varied(self) -> list[str]:
        """The keys that were varied."""
        return list(self._parameters)

    def units(self, key: str) -> str:
        """Of the values of a key."""
        self._require(key)
        return str(self._about[key].get("units", ""))

    def values(self, key: str) -> Array:
        """Of a key, in each model: numbers in its units, or words."""
        self._require(key)
        found: Array = self._parameters[key][self._rows]
        words = self._about[key].get("words")
        if words is not None:
            found = np.array(str(words).split("\n"))[found.astype(int)]
        return found

    @property
    def parameters(self) -> list[dict[str, Any]]:
        """The parameters of each model, those with units as text."""
        return [self._of_row(int(row)) for row in self._rows]

    def _require(self, key: str) -> None:
        if key not in self._parameters:
            raise MissingError(f"'{key}' was not varied: available are {', '.join(self.varied)}")

    def _of_row(self, row: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, column in self._parameters.items():
            value, units, words = column[row].item(), str(self._about[key].get("units", "")), self._about[key].get("words")
            if words is not None:
                found[key] = str(words).split("\n")[int(value)]
            elif np.isfinite(value):  # NaN: the model has it as it is
                found[key] = f"{value:.10g} {units}" if units else value
        return found

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, at: int) -> tuple[dict[str, Any], Model]: ...

    @overload
    def __getitem__(self, at: slice) -> SweepFile: ...

    def __getitem__(self, at: int | slice) -> tuple[dict[str, Any], Model] | SweepFile:
        if isinstance(at, slice):
            return SweepFile(self.path, self._rows[at])
        try:
            row = int(self._rows[at])
        except IndexError as error:
            raise MissingError(f"model {at}: the sweep has {len(self)}") from error
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"models of a sweep are indexed by number, not by {at!r}") from error
        return self._of_row(row), Model(self, row)

    def where(self, values: Mapping[str, Any]) -> SweepFile:
        """The models whose parameters have the given values: ``{"dataset.velocity.max": "100 km/s"}``."""
        if not isinstance(values, Mapping):
            raise ArgumentError(f"expected a dict from keys to values, not {values!r}")
        wanted: dict[str, Any] = plain(values)
        for key in wanted:
            self._require(key)
        chosen = [all(key in p and same(key, p[key], wanted[key]) for key in wanted) for p in self.parameters]
        return SweepFile(self.path, self._rows[np.array(chosen, dtype=bool)])

    def table(self) -> Array:
        """A structured array with a row for each model: its parameters, seed, photons, escape fraction and other numbers of the file."""
        columns = {**{key: self.values(key) for key in self.varied}, **{name: values[self._rows] for name, values in self._columns.items() if name not in self.varied}}
        table = np.empty(len(self), dtype=[(name, column.dtype) for name, column in columns.items()])
        for name, column in columns.items():
            table[name] = column
        return table

    def _spectrum(self, row: int, name: str | None) -> Spectrum:
        if name is None:
            name = next((n for n, about in self.spectra.items() if about.get("of") == "escaped"), None)
        if name not in self.spectra:
            raise MissingError(f"no spectrum '{name}': available are {', '.join(self.spectra) or 'none'}")
        about, axis = self.spectra[name], str(self.spectra[name].get("axis"))
        edges, flux, error, wavelength0 = (self._array(name, key).astype(float) for key in ("edges", "flux", "error", "wavelength0"))
        if axis not in AXIS_UNITS or flux.ndim != 2 or not flux.shape == error.shape == (len(wavelength0), len(edges) - 1):
            raise ResultError(f"{self.path}: spectrum '{name}' is damaged")
        units = str(reading.attribute(self._file[f"spectra/{name}/flux"], "units", ""))
        light = np.nan if "cm-2" in units else 1.0  # of a flux the distance is not in the file
        observer, generator = (None if key not in about else str(about[key]) for key in ("observer", "generator"))
        line = Line(str(self.attributes.get("line", "")), float(wavelength0[row]))
        return Spectrum(name, edges, flux[row], error[row], axis, str(about.get("of", "escaped")), line, observer=observer, generator=generator, light=light)

    def _array(self, name: str, key: str) -> Array:
        """Of a spectrum, of all models, read once."""
        if (name, key) not in self._arrays:
            self._arrays[name, key] = reading.numbers(self._file[f"spectra/{name}"], key, self.path)
        return self._arrays[name, key]

    def _photons(self, row: int) -> dict[str, Array]:
        raw = reading.group(self._file, "raw", self.path)
        if raw is None:
            raise MissingError(f"{self.path}: the sweep kept no photons (outputs: - {{type: photons, fields: [...]}})")
        begin, end = (int(n) for n in reading.numbers(raw, "first", self.path)[row : row + 2])
        columns: dict[str, Any] = {name: raw[name] for name in raw if name != "first"}
        return {name: np.asarray(data.read()[begin:end] if isinstance(data, Values) else data[begin:end]) for name, data in columns.items()}

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> SweepFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        more = "".join(f", {count} {what}" for count, what in ((len(self.failures), "failed"), (self.missing, "missing")) if count)
        return f"<SweepFile {self.path}: {len(self)} models{more}; {', '.join(self.varied)}; spectra {', '.join(self.spectra) or 'none'}>"
