"""The result file of the raytracing driver."""

from __future__ import annotations

from typing import Any, Union

import numpy as np

from . import reading
from .errors import ResultError
from .line import AXIS_UNITS, Floats, Line
from .rays import Absorption, Picture, RayImage, Trace, Traces
from .result_file import Named, ResultFile


class RayResult(ResultFile):
    """The result of ``driver: raytrace``. Use it directly, or in a ``with`` block that closes the file at its end.

    ``images`` has the projections and slices (:class:`RayImage`) and volume renderings (:class:`Picture`) by name,
    ``absorption`` the absorption spectra, ``traces`` the fields along sightlines; ``summary`` and ``attributes`` are the
    file's (docs/raytracing.md), and ``caveats`` the warnings of the run. ``notes`` has the line that figures show of a run that was cut.
    """

    def _load(self) -> None:
        if self.driver != "raytrace":
            raise ResultError(f"{self.path}: it is no result of rays: open it with thor.open or thor.Result")
        self.complete = bool(self.summary["complete"])
        self.notes = () if self.complete else ("run cut: some rays are missing",)
        groups = self._group("images") or {}
        self.images: dict[str, Union[RayImage, Picture]] = Named("image", {n: self._image(n, groups[n]) for n in groups})
        groups = self._group("absorption") or {}
        self.absorption: dict[str, Absorption] = Named("absorption", {n: self._absorption(n, groups[n]) for n in groups})
        groups = self._group("traces") or {}
        self.traces: dict[str, Traces] = Named("trace", {n: self._traces(n, groups[n]) for n in groups})

    def _image(self, name: str, group: reading.Group) -> RayImage | Picture:
        attributes = reading.attributes(group)
        is_picture = "rgba" in group
        array = "rgba" if is_picture else "value"
        values = reading.numbers(group, array, self.path).astype(float)
        right, up = reading.pixel_edges(group, name, values.shape[:2], self.path)
        if values.shape[2:] != ((4,) if is_picture else ()):
            raise ResultError(f"{self.path}: '{name}' is damaged: the shape of its arrays")
        place = "centre" if "centre" in attributes else "position"
        direction, centre, to_right, upward = (reading.vector(attributes, key, f"{self.path}: '{name}'") for key in ("direction", place, "right", "up"))
        common: dict[str, Any] = {
            "name": name,
            **{key: str(attributes[key]) for key in ("operator", "field", "camera", "camera_type")},
            "right": right,
            "up": up,
            "length": str(reading.attribute(group["edges_right"], "units", "")),
            "direction": direction,
            "centre": centre,
            "axes": np.array([to_right, upward]),
            "caveats": self.notes,
        }
        if is_picture:
            return Picture(**common, rgba=values)
        unit = str(reading.attribute(group["value"], "units", ""))
        return RayImage(**common, values=values, unit=unit, weight=str(attributes.get("weight", "")))

    def _absorption(self, name: str, group: reading.Group) -> Absorption:
        attributes = reading.attributes(group)

        def read(key: str) -> Floats:
            return reading.numbers(group, key, self.path).astype(float)

        tau, edges, columns, axis = read("tau"), read("edges"), read("column_density"), str(attributes["axis"])
        shape = (len(columns), len(edges) - 1)
        flux, observed = read("flux"), read("observed") if "observed" in group else None
        per_line = {"equivalent_width": (len(columns),), "begin": (len(columns), 3), "direction": (len(columns), 3)}
        sightlines = {key: read(key) for key in per_line}
        good = tau.shape == flux.shape == shape and min(shape) > 0 and columns.ndim == edges.ndim == 1
        good = good and (observed is None or observed.shape == shape)
        covered = read("covered") if "covered" in group else None
        good = good and (covered is None or covered.shape == (len(columns), 2))
        good = good and all(values.shape == per_line[key] for key, values in sightlines.items())
        if not good or axis not in AXIS_UNITS or not np.all(np.diff(edges) > 0):
            raise ResultError(f"{self.path}: absorption '{name}' is damaged")
        units = reading.attribute(group["edges"], "units", AXIS_UNITS[axis])
        if units != AXIS_UNITS[axis]:
            raise ResultError(f"{self.path}: absorption '{name}' has its {axis} axis in '{units}'")
        return Absorption(
            name=name, tau=tau, flux=flux, observed=observed, edges=edges, axis=axis, line=Line(str(attributes["line"]), attributes["wavelength0"]),
            column_density=columns, **sightlines, hubble=float(attributes.get("hubble", 0.0)),
            oversampling=int(attributes.get("oversampling", 1)), lsf=float(attributes.get("lsf_fwhm", 0.0)),
            signal_to_noise=float(attributes.get("signal_to_noise", 0.0)), beyond=str(attributes.get("beyond", "empty")), covered=covered,
            caveats=self.notes,
        )  # fmt: skip

    def _traces(self, name: str, group: reading.Group) -> Traces:
        arrays = {key: reading.numbers(group, key, self.path) for key in group}
        first, begin, length = (arrays.pop(key) for key in ("first", "begin", "length"))
        count = len(begin)
        ends = first.ndim == 1 and len(first) > 0 and first[0] == 0 and first[-1] == count and np.all(np.diff(first) >= 0)
        if not ends or not all(values.shape == (count,) for values in (length, *arrays.values())):
            raise ResultError(f"{self.path}: trace '{name}' is damaged")
        units = {key: str(reading.attribute(group[key], "units", "")) for key in arrays}
        pieces = [slice(int(a), int(b)) for a, b in zip(first[:-1], first[1:])]
        return Traces(name, [Trace(begin[p], length[p], {key: v[p].astype(float) for key, v in arrays.items()}, units) for p in pieces], self.notes)

    def __repr__(self) -> str:
        attributes, summary = self.attributes, self.summary
        rows = [
            ("run", f"thor {attributes['thor_version']} ({attributes.get('git_commit', '?')}), {attributes.get('device', '?')}, "
                    f"{attributes.get('precision', '?')} precision, seed {attributes.get('seed', '?')}"),
            ("work", f"{summary.get('rays', 0):,} rays in {summary.get('transport_seconds', float('nan')):.4g} s on "
                     f"{summary.get('threads', '?')} threads"),
            *(("image", repr(image)[1:-1]) for image in self.images.values()),
            *(("absorption", repr(absorption)[1:-1]) for absorption in self.absorption.values()),
            *(("traces", repr(traces)[1:-1]) for traces in self.traces.values()),
            *(("caveat", text) for text in self.caveats),
        ]  # fmt: skip
        return f"thor result {self.path}: rays\n" + "\n".join(f"  {key:<11} {text}" for key, text in rows)
