"""The photons that a run recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from . import reading
from .caveats import of_spectrum
from .errors import ArgumentError, MissingError, ResultError, optional
from .line import Array, Floats, floats
from .protocols import RunData
from .spectrum import Spectrum

#: What became of a photon: the values of ``fate`` in files that do not say it themselves.
FATES = {"escaped": (2,), "absorbed": (3,), "lost": (4,), "stopped": (5,), "in_flight": (0, 1)}


def _fates(text: str) -> dict[str, tuple[int, ...]]:
    """The attribute ``names`` of the fates: "escaped=2 absorbed=3 ... in_flight=0,1"."""
    pairs = (word.split("=") for word in text.split())
    return {name: tuple(int(value) for value in values.split(",")) for name, values in pairs}


class Photons:
    """The recorded photons, one numpy array per property, read when first used.

    Besides the recorded properties (``fate``, and those requested of id, weight, velocity_initial, velocity_final,
    velocity_scattered, position, direction, scatterings, column, position_initial, generator, source) there are
    ``x_initial`` and ``x_final``, the dimensionless frequencies. ``len(photons)`` is the number of photons; iteration,
    ``in`` and ``keys()`` refer to the properties, like the columns of a table.

        result.photons["velocity_final"]                 # km/s, one number per photon
        result.photons.escaped.array()                   # a structured array
        result.photons.towards([0, 0, 1], within=30).spectrum("velocity", bins=80)
    """

    def __init__(
        self,
        result: RunData,
        group: reading.Group | None,
        whole: Photons | None = None,
        chosen: npt.NDArray[np.bool_] | None = None,
    ):
        self._result = result
        self._group = group
        self._whole = whole
        self._chosen = chosen
        self._arrays: dict[str, Array] = {}
        self._count = self._rows() if chosen is None else int(np.count_nonzero(chosen))
        self._names = [] if group is None else list(group)
        self._fates: dict[str, tuple[int, ...]] = self._read_fates() if whole is None else whole._fates

    def _rows(self) -> int:
        if self._group is None or not len(self._group):
            return 0
        shapes = [getattr(column, "shape", ()) for column in self._group.values()]
        rows = {shape[0] if shape else -1 for shape in shapes}
        if len(rows) != 1 or min(rows) < 0:
            raise ResultError(f"{self._result.path}: the file is damaged: the columns of /photons differ in length")
        return int(rows.pop())

    def _read_fates(self) -> dict[str, tuple[int, ...]]:
        if self._group is None or "fate" not in self._names:
            return dict(FATES)
        text = str(reading.attribute(self._group["fate"], "names", ""))
        return {**FATES, **_fates(text)}

    def __getitem__(self, name: str) -> Array:
        if not isinstance(name, str):
            raise MissingError(f"{name!r}: properties of photons have names: available are {', '.join(self)}")
        if name not in self._arrays:
            self._arrays[name] = self._read(name)
        return self._arrays[name]

    def _read(self, name: str) -> Array:
        if self._whole is not None:
            return self._whole[name][self._chosen]
        if name in ("x_initial", "x_final"):
            return self._result.line.from_velocity(self["velocity" + name[1:]], "x")
        if self._group is None:
            raise MissingError(f"'{name}': the run kept no photons (outputs: - {{type: photons}})")
        if name not in self._names:
            raise MissingError(f"'{name}': the file has {', '.join(self._names)}")
        if not self._group:
            raise ResultError(f"{self._result.path}: the file was closed before '{name}' was read")
        try:
            array = reading.numbers(self._group, name, self._result.path)
        except ResultError:
            raise
        except Exception as error:  # any error of HDF5 or numpy on damaged data
            raise ResultError(f"{self._result.path}: cannot read photons: {error}") from error
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
        """Number of photons; also ``len(photons)``."""
        return self._count

    def select(self, mask: npt.ArrayLike) -> Photons:
        """The photons for which ``mask`` is true."""
        chosen = np.asarray(mask)
        if chosen.dtype != np.bool_ or chosen.shape != (self.count,):
            raise ArgumentError(f"a mask for {self.count} photons must be that many booleans")
        return Photons(self._result, self._group, self, chosen)

    def of(self, fate: str) -> Photons:
        """The photons with a fate: escaped, absorbed, lost, stopped or in_flight."""
        if not isinstance(fate, str) or fate not in self._fates:
            raise ArgumentError(f"{fate!r} is not a fate of a photon: available are {', '.join(self._fates)}")
        return self.select(np.isin(self["fate"], self._fates[fate]))

    @property
    def fates(self) -> dict[str, int]:
        """Values of ``fate`` by name, as in the file, for photons that have ended."""
        return {name: values[0] for name, values in self._fates.items() if len(values) == 1}

    @property
    def escaped(self) -> Photons:
        """Those that escaped."""
        return self.of("escaped")

    def towards(self, direction: npt.ArrayLike, within: float) -> Photons:
        """The photons whose last flight is within an angle [degrees, above 0, up to 180] of a direction.

        An observer there assumes that the source emits equally in all directions: the luminosity is then
        2 / (1 - cos(within)) times that of these photons.
        """
        axis = floats(direction, "a direction")
        if axis.shape != (3,) or not np.all(np.isfinite(axis)) or not np.any(axis):
            raise ArgumentError(f"a direction must be three numbers, not all of them 0: not {direction!r}")
        angle = floats(within, "within")
        if angle.ndim or not 0.0 < angle <= 180.0:
            raise ArgumentError(f"within must be an angle above 0 and up to 180 degrees, not {within!r}")
        axis = axis / np.max(np.abs(axis))  # whose norm neither overflows nor vanishes
        length = float(np.linalg.norm(axis))
        if angle == 180.0:  # in spite of rounding
            return self.select(np.ones(self.count, dtype=bool))
        return self.select(self["direction"] @ axis >= length * np.cos(np.radians(angle)))

    def weights(self) -> Floats:
        """The luminosity that each photon represents [erg/s], after it has left its source.

        If ``weight`` was not recorded it is still known if the rest of the file shows that all are equal.
        """
        if "weight" in self:
            recorded: Floats = self["weight"]
            return recorded
        equal = self._result.equal_weight()
        if equal is None:
            raise MissingError("'weight': it differs, as for several sources; record it (fields: [weight, ...])")
        return np.full(self.count, equal)

    def initial_weights(self) -> Floats:
        """The luminosity that each photon was emitted with [erg/s].

        It equals :meth:`weights` except for generators with an ``escape_fraction``.
        """
        fractions = np.array([_escape_fraction(g) for g in self._result.generators or [self._result.summary]])
        if np.allclose(fractions, fractions[0], rtol=1e-9):
            return self.weights() / float(fractions[0])
        if "generator" not in self:
            raise MissingError("'generator': escape fractions differ; record it (fields: [generator, ...])")
        which = self["generator"].astype(int)
        if len(which) and not 0 <= np.min(which) <= np.max(which) < len(fractions):
            raise ResultError(f"{self._result.path}: the file is damaged: photons of an unknown generator")
        weights: Floats = self.weights() / fractions[which]
        return weights

    def array(self, *names: str) -> Array:
        """A structured array of the named properties, or of all recorded ones."""
        chosen = {name: self[name] for name in names or self.keys()}
        fields = [(name, values.dtype, values.shape[1:]) for name, values in chosen.items()]
        array = np.empty(self.count, dtype=fields)
        for name, values in chosen.items():
            array[name] = values
        return array

    def spectrum(
        self,
        axis: str = "velocity",
        bins: int | npt.ArrayLike = 100,
        range: tuple[float, float] | None = None,
        mask: npt.ArrayLike | None = None,
        *,
        of: str = "escaped",
        name: str = "photons",
        wavelength0: float | None = None,
    ) -> Spectrum:
        """The spectrum of these photons, or of those for which ``mask`` is true.

        ``of`` is escaped, absorbed, stopped or emitted, as in a configuration: only photons of that
        fate count, with their final frequency (stopped: that of the last scattering), or, for
        emitted, all of them with their initial one.
        ``bins`` is a number of bins over ``range`` (in units of the axis; default: all photons),
        or the edges themselves. x and velocities are relative to ``wavelength0`` [Angstrom], by
        default that of the line's first transition. The error of a bin is sqrt(sum of squared
        weights).
        """
        if of not in ("emitted", "escaped", "absorbed", "stopped"):
            raise ArgumentError(f"a spectrum is of escaped, absorbed, stopped or emitted photons, not '{of}'")
        photons = self if mask is None else self.select(mask)
        if of != "emitted":
            photons = photons.of(of)
        when = {"emitted": "initial", "stopped": "scattered"}.get(of, "final")
        velocity = photons[f"velocity_{when}"]
        line = self._result.line
        if wavelength0 is not None:
            wavelength = line.from_velocity(velocity, "wavelength")
            line = line.about(wavelength0)
            velocity = line.to_velocity(wavelength, "wavelength")
        values = line.from_velocity(velocity, axis)
        weights = photons.initial_weights() if of == "emitted" else photons.weights()
        edges = _bin_edges(values, bins, range)
        sums = np.histogram(values, edges, weights=weights)[0]
        squares = np.histogram(values, edges, weights=weights**2)[0]
        widths = np.diff(edges)
        flux, error = sums / widths, np.sqrt(squares) / widths
        light = float(np.sum(sums))
        # rounding errors of numpy's sum are not light
        beyond = max(float(np.sum(weights)) - light, 0.0) if np.any((values < edges[0]) | (values > edges[-1])) else 0.0
        notes = self._result.notes(of_spectrum(name, light, beyond), of)
        return Spectrum(name, edges, flux, error, axis, of, line, caveats=notes)

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

    def __repr__(self) -> str:
        return f"<Photons: {self.count:,}, {', '.join(self) or 'nothing recorded'}>"


def _escape_fraction(generator: Mapping[str, Any]) -> float:
    """Fraction of a generator's light that is not absorbed at emission."""
    emitted, unresolved = generator.get("luminosity_emitted", 0.0), generator.get("luminosity_unresolved", 0.0)
    share = generator.get("escape_fraction", 1.0 - unresolved / emitted if emitted > 0.0 else 1.0)
    return share if isinstance(share, float) and 0.0 < share <= 1.0 else 1.0


def _bin_edges(values: Floats, bins: int | npt.ArrayLike, range: tuple[float, float] | None) -> Floats:
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
