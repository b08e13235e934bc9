"""The photons that a run recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
import numpy.typing as npt

from .errors import ResultError
from .line import Array, Floats
from .spectrum import Spectrum

if TYPE_CHECKING:
    from .result import Result

#: What became of a photon: the values of ``fate``, unless the file says others (:attr:`Photons.fates`).
FATES = {"escaped": 2, "absorbed": 3, "lost": 4, "stopped": 5}


class Photons(Mapping[str, Array]):
    """The recorded photons, one numpy array per property, read when first asked for.

    Beside what the file holds (``fate``, and of id, weight, velocity_initial, velocity_final,
    velocity_scattered, position, direction, scatterings, column, position_initial, generator, source
    what was asked for) there are ``x_initial`` and ``x_final``, the dimensionless frequencies. As a mapping it goes over the properties;
    ``count`` is the number of photons.

        result.photons["velocity_final"]                 # km/s, one number per photon
        result.photons.escaped.array()                   # a structured array
        result.photons.towards([0, 0, 1], within=30).spectrum("velocity", bins=80)
    """

    def __init__(
        self,
        result: Result,
        group: h5py.Group | None,
        whole: Photons | None = None,
        chosen: npt.NDArray[np.bool_] | None = None,
    ):
        self._result = result
        self._group = group
        self._whole = whole
        self._chosen = chosen
        self._arrays: dict[str, Array] = {}

    def __getitem__(self, name: str) -> Array:
        if name not in self._arrays:
            self._arrays[name] = self._read(name)
        return self._arrays[name]

    def _read(self, name: str) -> Array:
        if self._whole is not None:
            return self._whole[name][self._chosen]
        if name in ("x_initial", "x_final"):
            return self._result.x(self["velocity" + name[1:]])
        if self._group is None:
            raise KeyError(f"'{name}': the run kept no photons (outputs: - {{type: photons}})")
        if not self._group:
            raise ResultError(f"{self._result.path}: the file was closed before '{name}' was read")
        if name not in self._group:
            raise KeyError(f"'{name}': the file has {', '.join(self._group)}")
        try:
            array: Array = self._group[name][()]
        except OSError as error:
            raise ResultError(f"{self._result.path}: cannot read photons: {error}") from error
        return array

    def units(self, name: str) -> str:
        """Units of a property, as the file gives them."""
        if not self._group or name not in self:
            return ""
        units = self._group[name].attrs.get("units", b"")
        return units.decode() if isinstance(units, bytes) else str(units)

    def quantity(self, name: str) -> Any:
        """A property as an astropy quantity. Needs astropy."""
        from astropy import units

        return self[name] * units.Unit(self.units(name))

    @property
    def count(self) -> int:
        """How many photons there are."""
        if self._chosen is not None:
            return int(np.count_nonzero(self._chosen))
        if self._group:
            return next((len(column) for column in self._group.values()), 0)
        return next((len(array) for array in self._arrays.values()), 0)

    def select(self, mask: npt.ArrayLike) -> Photons:
        """Those photons where ``mask`` is true."""
        chosen = np.asarray(mask)
        if chosen.dtype != np.bool_ or chosen.shape != (self.count,):
            raise ValueError(f"a mask of {self.count} photons is that many booleans")
        return Photons(self._result, self._group, self, chosen)

    @property
    def fates(self) -> dict[str, int]:
        """The values of ``fate`` by name, as the file gives them."""
        named = self._group["fate"].attrs.get("names") if self._group and "fate" in self._group else None
        if named is None:  # a file of an earlier version
            return dict(FATES)
        text = named.decode() if isinstance(named, bytes) else str(named)
        pairs = (pair.split("=") for pair in text.split())
        return {name: int(number) for name, number in pairs if number.isdigit()}

    @property
    def escaped(self) -> Photons:
        """Those that escaped."""
        return self.select(self["fate"] == self.fates["escaped"])

    def towards(self, direction: npt.ArrayLike, within: float) -> Photons:
        """Those whose last flight is within an angle [degrees] of a direction.

        An observer there takes the source to shine that way into all directions: the luminosity
        is then 2 / (1 - cos(within)) times what these photons carry.
        """
        axis: Floats = np.asarray(direction, dtype=np.float64)
        length = float(np.linalg.norm(axis))
        if axis.shape != (3,) or not length > 0.0:
            raise ValueError("a direction is three numbers, not all of them 0")
        return self.select(self["direction"] @ axis >= length * np.cos(np.radians(within)))

    def weights(self) -> Floats:
        """The luminosity that each photon stands for [erg/s].

        If ``weight`` was not recorded it is still known where there was one source, whose photons
        share its luminosity equally.
        """
        if "weight" in self:
            recorded: Floats = self["weight"]
            return recorded
        equal = self._result.equal_weight()
        if equal is None:
            raise KeyError("'weight': there are several sources; record it (fields: [weight, ...])")
        return np.full(self.count, equal)

    def initial_weights(self) -> Floats:
        """The luminosity that each photon was emitted with [erg/s].

        It is that of :meth:`weights` but for generators with an ``escape_fraction``.
        """
        fractions = np.array([g.get("escape_fraction", 1.0) for g in self._result.generators] or [1.0])
        if np.any(fractions != fractions[0]):
            if "generator" not in self:
                raise KeyError("'generator': escape fractions differ; record it (fields: [generator, ...])")
            fractions = fractions[self["generator"]]
        else:
            fractions = fractions[:1]
        emitted: Floats = self.weights() / fractions
        return emitted

    def array(self, *names: str) -> Array:
        """A structured array of the properties named, or of all that the file holds."""
        chosen = {name: self[name] for name in names or tuple(self)}
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
        """The spectrum of these photons, or of those where ``mask`` is true.

        ``of`` is escaped, absorbed, stopped or emitted, as in a configuration: of the photons chosen
        only those count, with their frequency at the end (stopped: of the last scattering), or all
        of them with that of emission.
        ``bins`` is a number of bins over ``range`` (in units of the axis; default: all photons),
        or the edges themselves. x and velocities are counted from ``wavelength0`` [Angstrom], by
        default that of the line's first transition. The error of a bin is sqrt(sum of squared
        weights).
        """
        if of not in ("emitted", "escaped", "absorbed", "stopped"):
            raise ValueError(f"a spectrum is of escaped, absorbed, stopped or emitted photons, not '{of}'")
        photons = self if mask is None else self.select(mask)
        if of != "emitted":
            photons = photons.select(photons["fate"] == self.fates[of])
        when = {"emitted": "initial", "stopped": "scattered"}.get(of, "final")
        velocity = photons[f"velocity_{when}"]
        line = self._result.line
        if wavelength0 is not None:
            wavelength = line.from_velocity(velocity, "wavelength")
            line = line.about(wavelength0)
            velocity = line.to_velocity(wavelength, "wavelength")
        values = line.from_velocity(velocity, axis)
        weights = photons.initial_weights() if of == "emitted" else photons.weights()
        counts: Any = bins  # numpy's annotation leaves out that it takes both
        edges: Floats = np.histogram_bin_edges(values, counts, range)
        sums = np.histogram(values, edges, weights=weights)[0]
        squares = np.histogram(values, edges, weights=weights**2)[0]
        widths = np.diff(edges)
        flux, error = sums / widths, np.sqrt(squares) / widths
        return Spectrum(name, edges, flux, error, axis, of, line)

    def __iter__(self) -> Iterator[str]:
        return iter(self._group if self._group else self._arrays)

    def __len__(self) -> int:
        return len(self._group if self._group else self._arrays)

    def __repr__(self) -> str:
        return f"<Photons: {self.count:,}, {', '.join(self) or 'nothing recorded'}>"
