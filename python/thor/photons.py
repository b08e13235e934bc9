"""The photons that a run recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from . import reading
from .caveats import of_spectrum
from .errors import ArgumentError, MissingError, ResultError
from .line import Floats, floats
from .protocols import RunData
from .rows import Rows, along, bin_edges
from .spectrum import Spectrum

#: What became of a photon: the values of ``fate`` in files that do not say it themselves.
FATES = {"escaped": (2,), "absorbed": (3,), "lost": (4,), "stopped": (5,), "in_flight": (0, 1)}


def _fates(text: str) -> dict[str, tuple[int, ...]]:
    """The attribute ``names`` of the fates: "escaped=2 absorbed=3 ... in_flight=0,1"."""
    pairs = (word.split("=") for word in text.split())
    return {name: tuple(int(value) for value in values.split(",")) for name, values in pairs}


class Photons(Rows):
    """The recorded photons, one numpy array per property, read when first used.

    Besides the recorded properties (``fate``, and those requested of id, weight, velocity_initial, velocity_final,
    velocity_scattered, position, direction, scatterings, column, position_initial, generator, source) there are
    ``x_initial`` and ``x_final``, the dimensionless frequencies. ``len(photons)`` is the number of photons; iteration,
    ``in`` and ``keys()`` refer to the properties, like the columns of a table.

        result.photons["velocity_final"]                 # km/s, one number per photon
        result.photons.escaped.array()                   # a structured array
        result.photons.towards([0, 0, 1], within=30).spectrum("velocity", bins=80)
    """

    WHAT = "photons"
    OUTPUT = "{type: photons}"
    X_OF = {"x_initial": "velocity_initial", "x_final": "velocity_final"}

    def __init__(
        self,
        result: RunData,
        group: reading.Group | None,
        whole: Photons | None = None,
        chosen: npt.NDArray[np.bool_] | None = None,
    ):
        super().__init__(result, group, whole, chosen)
        self._fates: dict[str, tuple[int, ...]] = self._read_fates() if whole is None else whole._fates

    def _read_fates(self) -> dict[str, tuple[int, ...]]:
        if self._group is None or "fate" not in self._names:
            return dict(FATES)
        text = str(reading.attribute(self._group["fate"], "names", ""))
        return {**FATES, **_fates(text)}

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
        line, values = along(self._result.line, velocity, axis, wavelength0)
        weights = photons.initial_weights() if of == "emitted" else photons.weights()
        edges = bin_edges(values, bins, range)
        sums = np.histogram(values, edges, weights=weights)[0]
        squares = np.histogram(values, edges, weights=weights**2)[0]
        widths = np.diff(edges)
        flux, error = sums / widths, np.sqrt(squares) / widths
        light = float(np.sum(sums))
        # rounding errors of numpy's sum are not light
        beyond = max(float(np.sum(weights)) - light, 0.0) if np.any((values < edges[0]) | (values > edges[-1])) else 0.0
        notes = self._result.notes(of_spectrum(name, light, beyond), of)
        return Spectrum(name, edges, flux, error, axis, of, line, caveats=notes)

    def __repr__(self) -> str:
        if self._group is None and self._result.parts:
            return f"<Photons: in {self._result.parts} files of ranks>"
        return f"<Photons: {self.count:,}, {', '.join(self) or 'nothing recorded'}>"


def _escape_fraction(generator: Mapping[str, Any]) -> float:
    """Fraction of a generator's light that is not absorbed at emission."""
    emitted, unresolved = generator.get("luminosity_emitted", 0.0), generator.get("luminosity_unresolved", 0.0)
    share = generator.get("escape_fraction", 1.0 - unresolved / emitted if emitted > 0.0 else 1.0)
    return share if isinstance(share, float) and 0.0 < share <= 1.0 else 1.0
