"""The results of a sweep."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from .configuration import plain
from .caveats import lost_share
from .errors import ArgumentError, MissingError, SweepError
from .line import Array
from .quantity import same
from .ray_result import RayResult
from .result import Result, kind_of
from .sweep_index import NAME, Entry, Index, as_text, parameters_text
from .sweep_plot import plot_sweep

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HAVE_RESULTS = ("complete", "incomplete")


class Sweep(Sequence["tuple[dict[str, Any], Any]"]):
    """The results in a folder that :func:`thor.sweep` filled: pairs of parameters and result.

        for parameters, result in thor.Sweep("sweep"):
            print(parameters["dataset.tau0"], result.escape_fraction())

    A result is opened on each access. ``failures`` are the parameters of
    runs that failed, with the reason.
    """

    def __init__(self, folder: str | os.PathLike[str], entries: Sequence[Entry] | None = None):
        self.folder = Path(folder)
        if entries is None:
            index = Index.load(self.folder)
            if index is None:
                raise SweepError(f"{self.folder}: not the folder of a sweep: there is no {NAME}")
            entries = list(index.runs.values())
        self.entries = [entry for entry in entries if entry.state in _HAVE_RESULTS]
        self.failures = [(e.parameters, e.message) for e in entries if e.state == "failed"]

    @property
    def parameters(self) -> list[dict[str, Any]]:
        """The parameters of each result."""
        return [dict(entry.parameters) for entry in self.entries]

    @property
    def varied(self) -> list[str]:
        """The keys that were varied."""
        return list(dict.fromkeys(key for entry in self.entries for key in entry.parameters))

    def __len__(self) -> int:
        return len(self.entries)

    @overload
    def __getitem__(self, at: int) -> tuple[dict[str, Any], Any]: ...

    @overload
    def __getitem__(self, at: slice) -> Sweep: ...

    def __getitem__(self, at: int | slice) -> tuple[dict[str, Any], Any] | Sweep:
        if isinstance(at, slice):
            return Sweep(self.folder, self.entries[at])
        try:
            entry = self.entries[at]
        except IndexError as error:
            raise MissingError(f"result {at}: the sweep has {len(self)}") from error
        except TypeError as error:
            raise ArgumentError(f"results of a sweep are indexed by number, not by {at!r}") from error
        path = self.folder / entry.file
        return dict(entry.parameters), kind_of(path)(path)

    def where(self, values: Mapping[str, Any]) -> Sweep:
        """The results whose parameters have the given values: ``{"dataset.dust.tau": 0}``.

        Quantities are compared by value: "0.3 kpc" finds "300 pc"; a velocity instead of a length, or a number
        without its unit, is an error.
        """
        if not isinstance(values, Mapping):
            raise ArgumentError(f"expected a dict from keys to values, not {values!r}")
        wanted: dict[str, Any] = plain(values)
        for key in wanted:
            if key not in self.varied:
                raise MissingError(f"'{key}' was not varied: available are {', '.join(self.varied)}")
        return Sweep(
            self.folder,
            [
                entry
                for entry in self.entries
                if all(
                    key in entry.parameters and same(key, entry.parameters[key], wanted[key])
                    for key in wanted
                )
            ],
        )

    def table(self) -> Array:
        """A structured array with a row for each result.

        Its columns are the parameters, ``file``, ``complete``, ``photons``, ``lost`` (fraction of photons),
        ``escape_fraction`` and ``escape_fraction_error``; of the first spectrum of escaped photons ``peak_velocity``
        (of its highest bin) and ``mean_velocity`` with ``mean_velocity_error`` [km/s], nan if there is none;
        ``mean_scatterings``, and ``seconds`` of transport; of rays ``file``, ``complete``, ``rays`` and ``seconds``. ``pandas.DataFrame`` and ``astropy.table.Table`` take it as
        it is. """
        rows = []
        for parameters, result in self:
            with result:
                chosen = {key: _cell(parameters.get(key)) for key in self.varied}
                rows.append({**chosen, **_row(result)})
        columns = {name: np.array([row[name] for row in rows]) for name in (rows or [{}])[0]}
        table = np.empty(len(rows), dtype=[(name, c.dtype) for name, c in columns.items()])
        for name, column in columns.items():
            table[name] = column
        return table

    def plot(self, over: str, ax: Axes | None = None, **options: Any) -> Axes:
        """Spectra for each value of the key ``over``: see :func:`thor.plot_sweep`."""
        return plot_sweep(self, over, ax, **options)

    def __repr__(self) -> str:
        lines = [
            f"  {parameters_text(entry.parameters)}: {entry.state}{', not to be relied on' if entry.message else ''}"
            for entry in self.entries
        ]
        lines += [f"  {parameters_text(parameters)}: failed" for parameters, _ in self.failures]
        return "\n".join([f"thor sweep {self.folder}: {len(self)} results", *lines])


def _cell(value: Any) -> Any:
    """A parameter as a table entry: lists and maps as text."""
    return as_text(value) if isinstance(value, (list, dict)) else value


def _row(result: Result | RayResult) -> dict[str, Any]:
    if isinstance(result, RayResult):
        summary = result.summary
        return {"file": os.path.basename(result.path), "complete": result.complete, "rays": summary["rays"], "seconds": summary["transport_seconds"]}
    fraction, fraction_error = result.escape_fraction()
    peak = mean = mean_error = float("nan")
    if any(spectrum.of == "escaped" for spectrum in result.spectra.values()):
        spectrum = result.spectrum().to("velocity")
        peak = spectrum.peak()
        mean, mean_error = spectrum.mean()
    return {
        "file": os.path.basename(result.path),
        "complete": result.complete,
        "photons": result.summary["photons"],
        "lost": lost_share(result.summary),
        "escape_fraction": fraction,
        "escape_fraction_error": fraction_error,
        "peak_velocity": peak,
        "mean_velocity": mean,
        "mean_velocity_error": mean_error,
        "mean_scatterings": result.mean_scatterings(),
        "seconds": result.summary["transport_seconds"],
    }
