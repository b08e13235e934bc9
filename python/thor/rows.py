"""Rows of a result file, one numpy array per property."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from . import reading
from .errors import ArgumentError, MissingError, ResultError, optional
from .line import Array, Floats, Line
from .protocols import RunData

Kind = TypeVar("Kind", bound="Rows")


class Rows:
    """Rows of a table, one numpy array per property, read when first used. ``len()`` is the number of rows; iteration, ``in`` and
    ``keys()`` refer to the properties, like the columns of a table."""

    #: What the rows are called, the output that records them, and the velocity that each x is found from.
    WHAT: ClassVar[str]
    OUTPUT: ClassVar[str]
    X_OF: ClassVar[Mapping[str, str]]

    def __init__(
        self: Kind,
        result: RunData,
        group: reading.Group | None,
        whole: Kind | None = None,
        chosen: npt.NDArray[np.bool_] | None = None,
    ):
        self._result = result
        self._group = group
        self._whole = whole
        self._chosen = chosen
        self._arrays: dict[str, Array] = {}
        self._count = self._rows() if chosen is None else int(np.count_nonzero(chosen))
        self._names = [] if group is None else list(group)

    def _rows(self) -> int:
        if self._group is None or not len(self._group):
            return 0
        shapes = [getattr(column, "shape", ()) for column in self._group.values()]
        rows = {shape[0] if shape else -1 for shape in shapes}
        if len(rows) != 1 or min(rows) < 0:
            raise ResultError(f"{self._result.path}: the file is damaged: the columns of /photons differ in length")
        return int(rows.pop())

    def __getitem__(self, name: str) -> Array:
        if not isinstance(name, str):
            raise MissingError(f"{name!r}: properties of {self.WHAT} have names: available are {', '.join(self) or 'none'}")
        if name not in self._arrays:
            self._arrays[name] = self._read(name)
        return self._arrays[name]

    def _read(self, name: str) -> Array:
        if self._whole is not None:
            return self._whole[name][self._chosen]
        if name in self.X_OF:
            return self._result.line.from_velocity(self[self.X_OF[name]], "x")
        if self._group is None:
            self._require_here()
            raise MissingError(f"'{name}': the run kept no {self.WHAT} (outputs: - {self.OUTPUT})")
        if name not in self._names:
            raise MissingError(f"'{name}': of {self.WHAT}, the file has {', '.join(self._names)}")
        if not self._group:
            raise ResultError(f"{self._result.path}: the file was closed before '{name}' was read")
        try:
            array = reading.numbers(self._group, name, self._result.path)
        except ResultError:
            raise
        except Exception as error:  # any error of HDF5 or numpy on damaged data
            raise ResultError(f"{self._result.path}: cannot read {self.WHAT}: {error}") from error
        if name in ("position", "direction", "position_initial") and array.shape[1:] != (3,):
            raise ResultError(f"{self._result.path}: the file is damaged: '{name}' has shape {array.shape}")
        return array

    def units(self, name: str) -> str:
        """Units of a property, as the file gives them."""
        if not self._group or name not in self:
            return ""
        try:
            return str(reading.attribute(self._group[name], "units", ""))
        except Exception as error:
            raise ResultError(f"{self._result.path}: cannot read the units of '{name}': {error}") from error

    def quantity(self, name: str) -> Any:
        """A property as an astropy quantity. Needs astropy."""
        units, values = optional("astropy.units"), self[name]
        try:
            return values * units.Unit(self.units(name))
        except ValueError as error:
            raise ResultError(f"{self._result.path}: '{name}' has unknown units: {error}") from error

    @property
    def count(self) -> int:
        """Number of rows; also ``len()``."""
        self._require_here()
        return self._count

    def _require_here(self) -> None:
        """Photons of a run on several ranks are in files of their own until they are joined."""
        if self._group is None and self._result.parts:
            path = self._result.path
            raise MissingError(f"{path}: its {self.WHAT} are in {self._result.parts} files of ranks: join them by `thor merge {path}`")

    def select(self: Kind, mask: npt.ArrayLike) -> Kind:
        """Those for which ``mask`` is true."""
        try:
            chosen = np.asarray(mask)
        except ValueError:  # lists of several lengths
            chosen = np.empty(0)
        if chosen.dtype != np.bool_ or chosen.shape != (self.count,):
            raise ArgumentError(f"a mask for {self.count} {self.WHAT} must be that many booleans")
        return type(self)(self._result, self._group, self, chosen)

    def array(self, *names: str) -> Array:
        """A structured array of the named properties, or of all recorded ones."""
        chosen = {name: self[name] for name in names or self.keys()}
        fields = [(name, values.dtype, values.shape[1:]) for name, values in chosen.items()]
        array = np.empty(self.count, dtype=fields)
        for name, values in chosen.items():
            array[name] = values
        return array

    def keys(self) -> list[str]:
        """Names of the recorded properties."""
        return list(self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __len__(self) -> int:
        return self.count

    def __bool__(self) -> bool:
        return self.count > 0


def along(line: Line, velocity: Floats, axis: str, wavelength0: float | None) -> tuple[Line, Floats]:
    """Velocities on an axis, relative to ``wavelength0`` [Angstrom] or, if that is None, to the line's own; and the line about it."""
    if wavelength0 is not None:
        wavelength = line.from_velocity(velocity, "wavelength")
        line = line.about(wavelength0)
        velocity = line.to_velocity(wavelength, "wavelength")
    return line, line.from_velocity(velocity, axis)


def bin_edges(values: Floats, bins: int | npt.ArrayLike, range: tuple[float, float] | None) -> Floats:
    """Edges of bins from their number and range, or as given."""
    if np.ndim(bins) == 0 and not (isinstance(bins, (int, np.integer)) and not isinstance(bins, bool) and bins > 0):
        raise ArgumentError(f"bins must be their number, or edges that increase, not {bins!r}")
    counts: Any = bins  # numpy's annotation does not say that it accepts both
    try:
        edges: Floats = np.histogram_bin_edges(values, counts, range).astype(np.float64)
    except (TypeError, ValueError, MemoryError) as error:
        raise ArgumentError(f"bins={bins!r}, range={range!r} do not define bins: {error}") from error
    if edges.ndim != 1 or len(edges) < 2 or not np.all(np.isfinite(edges)) or not np.all(np.diff(edges) > 0):
        raise ArgumentError("the edges of bins must be two or more numbers that increase")
    return edges
