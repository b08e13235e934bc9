"""The light that a run recorded on its way to an observer."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import reading
from .caveats import of_spectrum
from .line import Floats
from .protocols import RunData
from .rows import Rows, along, bin_edges
from .spectrum import Spectrum


class Peel(Rows):
    """The light that every event sends to an observer: a row for each scattering or emission, one numpy array per property, read
    when first used.

    The properties are ``id`` of the photon, of which there may be many rows, the number of its ``generator``, ``light`` [erg/s] as if it were the same in all
    directions, ``velocity`` [km/s], ``position`` of the event [cm], and ``x``, the dimensionless frequency. ``observer`` is who sees
    it, and ``attributes`` has the directions on the sky (docs/formats.md). ``len(peel)`` is the number of rows.

        result.peel.spectrum("velocity", bins=80)        # as the observer sees it
        result.peel.select(result.peel["velocity"] > 0)  # the rows to the red
    """

    WHAT = "rows of light"
    OUTPUT = "{type: photons, of: peel, observer: NAME}"
    X_OF = {"x": "velocity"}

    def __init__(
        self,
        result: RunData,
        group: reading.Group | None,
        whole: Peel | None = None,
        chosen: npt.NDArray[np.bool_] | None = None,
    ):
        super().__init__(result, group, whole, chosen)
        found = {} if group is None else reading.attributes(group)
        self.attributes: dict[str, Any] = found if whole is None else whole.attributes
        self.observer: str | None = str(self.attributes["observer"]) if "observer" in self.attributes else None

    def spectrum(
        self,
        axis: str = "velocity",
        bins: int | npt.ArrayLike = 100,
        range: tuple[float, float] | None = None,
        mask: npt.ArrayLike | None = None,
        *,
        name: str = "peel",
        wavelength0: float | None = None,
    ) -> Spectrum:
        """The spectrum that the observer sees of this light, or of the rows for which ``mask`` is true.

        ``bins``, ``range`` and ``wavelength0`` are as in :meth:`Photons.spectrum`. What a photon adds to a bin in all of its rows, y,
        is summed before it is squared: the error of the bin is sqrt(sum y^2). That of all bins is sqrt(sum y^2 - (sum y)^2 / N)
        of N photons, with what each adds to all of them. An output of the same light has the same errors.
        """
        rows = self if mask is None else self.select(mask)
        light: Floats = rows["light"]
        line, values = along(self._result.line, rows["velocity"], axis, wavelength0)
        edges = bin_edges(values, bins, range)
        count, widths = len(edges) - 1, np.diff(edges)
        inside = (values >= edges[0]) & (values <= edges[-1])
        photon = np.unique(rows["id"][inside], return_inverse=True)[1]
        which = np.minimum(np.searchsorted(edges, values[inside], side="right") - 1, count - 1)
        pairs, pair = np.unique(photon * count + which, return_inverse=True)
        shares = _sums(pair, light[inside])
        sums, squares = (_sums(pairs % count, values, count) for values in (shares, shares**2))
        each = _sums(photon, light[inside])
        total, photons = float(np.sum(each)), max(int(self._result.summary["photons"]), 1)
        total_error = np.sqrt(max(float(np.sum(each**2)) - total**2 / photons, 0.0))
        beyond = float(np.sum(light[~inside]))
        notes = self._result.notes(of_spectrum(name, total, beyond), "escaped")
        return Spectrum(
            name, edges, sums / widths, np.sqrt(squares) / widths, axis, "escaped", line, caveats=notes, observer=self.observer,
            total_error=float(total_error),
        )  # fmt: skip

    def __repr__(self) -> str:
        if self._group is None and self._result.parts:
            return f"<Peel: in {self._result.parts} files of ranks>"
        if self._group is None:
            return "<Peel: nothing recorded>"
        return f"<Peel: {self.count:,} rows of light for observer '{self.observer}': {', '.join(self)}>"


def _sums(where: npt.NDArray[np.intp], values: Floats, bins: int = 0) -> Floats:
    """Sums of values in bins with these numbers."""
    return np.bincount(where, values, bins).astype(np.float64)
