"""The result file of a run."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from . import reading
from .caveats import NOTABLE, Caveat, is_reliable, of_output, of_run, of_spectrum
from .describe import describe
from .errors import ArgumentError, IncompleteRunWarning, MissingError, ResultError, UnreliableRunWarning
from .histogram import Histogram
from .line import AXIS_UNITS, Floats, Line
from .peel import Peel
from .photons import Photons
from .profile import Profile
from .ray_result import RayResult
from .result_file import Named, ResultFile, as_text, open_file
from .sky import Cube, Image
from .spectrum import Spectrum, are_known
from .sweep_file import SweepFile
from .weights import common_weight

# Factors from a file's units to ours.
_UNITS = {
    "x": {"": 1.0, "1": 1.0},
    "velocity": {"km s-1": 1.0, "km/s": 1.0, "cm s-1": 1e-5, "cm/s": 1e-5},
    "wavelength": {"Angstrom": 1.0, "nm": 10.0, "um": 1e4, "cm": 1e8},
    "frequency": {"Hz": 1.0, "s-1": 1.0, "GHz": 1e9, "THz": 1e12},
}

# Keys of the summary: required ones, and optional ones that must be numbers.
_NEEDED = ("complete", "photons", "escaped", "luminosity_emitted", "luminosity_escaped", "scatterings",
           "transport_seconds", "threads")
_NUMBERS = (*_NEEDED, "absorbed", "stopped", "lost", "in_flight", "photons_requested", "steps", "longest")


class Result(ResultFile):
    """The result of a run. Use it directly, or in a ``with`` block that closes the file at its end.

    ``summary`` and ``attributes`` are the file's (docs/formats.md), ``generators`` the light of
    each generator, in the order of the configuration, ``spectra``, ``histograms``, ``images``, ``cubes`` and ``profiles`` its
    outputs by name, ``photons`` the recorded photons, ``peel`` the light that was recorded on its way to an observer (id, light [erg/s], velocity, position), and ``transitions`` the wavelengths of the line's transitions by name [Angstrom, vacuum], and
    ``complete`` is False for a run that was cut. ``caveats`` is what is to be held against it, a sentence each: a cut, lost
    and stopped photons, light beyond the range of a spectrum, and the warnings of the run; ``print(result)`` and figures
    show it.
    """

    def __init__(self, path: str | os.PathLike[str]):
        super().__init__(path)
        if not self.complete:
            warnings.warn(f"{self.path}: {self._caveats[0].text}.", IncompleteRunWarning, stacklevel=3)
        if not is_reliable(self.summary):
            lost = next((c.text for c in self._caveats if "lost" in c.short), "not to be relied on")
            warnings.warn(f"{self.path}: {lost}.", UnreliableRunWarning, stacklevel=3)

    def _load(self) -> None:
        if self.driver == "raytrace":
            raise ResultError(f"{self.path}: rays made it, not photons: open it with thor.open or thor.RayResult")
        self._check_summary()
        generators = self._group("generators") or {}
        self.generators = [reading.attributes(generators[name]) for name in sorted(generators, key=int)]
        self.complete: bool = bool(self.summary["complete"])
        thermal = self.attributes.get("thermal_velocity")
        self.line = Line(
            name=str(self.attributes["line"]),
            wavelength0=self.attributes["wavelength0"],
            thermal_velocity=thermal if thermal and np.isfinite(thermal) else None,
        )
        lines = self._group("line") or {}
        self.transitions: dict[str, float] = {
            transition: float(reading.attribute(lines[transition], "wavelength_angstrom", np.nan)) for transition in lines
        }
        self._caveats = of_run(self.summary)
        groups = self._group("spectra") or {}
        self._beyond: dict[str, float] = {}
        self.spectra: dict[str, Spectrum] = Named("spectrum", {name: self._spectrum(name, groups[name]) for name in groups})
        groups = self._group("histograms") or {}
        self.histograms: dict[str, Histogram] = Named("histogram", {name: self._histogram(name, groups[name]) for name in groups})
        groups = self._group("images") or {}
        self.images: dict[str, Image] = Named("image", {name: self._image(name, groups[name]) for name in groups})
        groups = self._group("cubes") or {}
        self.cubes: dict[str, Cube] = Named("cube", {name: self._cube(name, groups[name]) for name in groups})
        groups = self._group("profiles") or {}
        self.profiles: dict[str, Profile] = Named("profile", {name: self._profile(name, groups[name]) for name in groups})
        counted: list[Spectrum | Histogram] = [*self.spectra.values(), *self.histograms.values()]
        seen = {o.of for o in counted if o.generator is None}
        self._caveats = [caveat for caveat in self._caveats if caveat.fate not in seen]
        parts = self._group("parts")
        self.parts = 0 if parts is None else int(reading.attribute(parts, "count", 0))
        self.photons = Photons(self, self._group("photons/original"))
        self.peel = Peel(self, self._group("photons/peel"))

    def _check_summary(self) -> None:
        """Everything that is shown or used in calculations must exist and be a number."""
        for name in _NEEDED:
            self.summary[name]
        for name, value in self.summary.items():
            if name not in _NUMBERS and not name.startswith("luminosity_"):
                continue
            if not isinstance(value, (bool, int, float)) or not 0 <= value < np.inf:
                raise ResultError(f"{self.path}: the file is damaged: summary {name} is {value!r}")

    def _spectrum(self, name: str, group: reading.Group) -> Spectrum:
        attributes = reading.attributes(group)
        axis, of = attributes["axis"], str(attributes["of"])
        edges, flux = (reading.numbers(group, key, self.path).astype(float) for key in ("edges", "flux"))
        if axis not in AXIS_UNITS or not edges.ndim == flux.ndim == 1 or not len(edges) - 1 == len(flux) > 0:
            raise ResultError(f"{self.path}: spectrum '{name}' is damaged")
        if not (np.all(np.diff(edges) > 0) and np.all(np.isfinite(flux))):
            raise ResultError(f"{self.path}: spectrum '{name}' is damaged")
        error = self._error(f"spectrum '{name}'", group, flux.shape)
        units = reading.attribute(group["edges"], "units", AXIS_UNITS[axis])
        if units not in _UNITS[axis]:
            raise ResultError(f"{self.path}: spectrum '{name}' has its {axis} axis in '{units}'")
        scale = _UNITS[axis][units]
        line = self._line_of(attributes)
        observer = attributes.get("observer")
        spectrum = Spectrum(
            name, edges * scale, flux / scale, error / scale, axis, of, line, observer=None if observer is None else str(observer),
            generator=_generator(attributes), **self._trust(name, group, flux.shape), light=self._light(attributes),
        )
        self._beyond[name] = float(attributes.get("luminosity_beyond", np.nan))
        own = of_spectrum(name, spectrum.luminosity()[0], self._beyond[name])
        self._caveats += own
        noisy = of_output(spectrum.luminosity()[0], 0.0, spectrum.trusted)
        return replace(spectrum, caveats=self.notes([*own, *noisy], of))

    def _histogram(self, name: str, group: reading.Group) -> Histogram:
        attributes = reading.attributes(group)
        axes = tuple(str(attributes["axes"]).split())
        edges = {axis: reading.numbers(group, f"edges_{axis}", self.path).astype(float) for axis in axes}
        luminosity = reading.numbers(group, "luminosity", self.path).astype(float)
        shape = tuple(len(edges[axis]) - 1 for axis in axes)
        if not axes or luminosity.shape != shape or min(shape) < 1:
            raise ResultError(f"{self.path}: histogram '{name}' is damaged")
        if not np.all(np.isfinite(luminosity)):
            raise ResultError(f"{self.path}: histogram '{name}' is damaged")
        if not all(np.all(np.diff(edges[axis]) > 0) for axis in axes):
            raise ResultError(f"{self.path}: histogram '{name}' is damaged")
        error = self._error(f"histogram '{name}'", group, shape)
        units = {axis: str(reading.attribute(group[f"edges_{axis}"], "units", "")) for axis in axes}
        beyond, method = float(attributes["luminosity_beyond"]), str(attributes["error_method"])
        line = self.line.about(attributes["wavelength0"])
        of = str(attributes["of"])
        trust = self._trust(name, group, shape)
        own = of_output(float(np.sum(luminosity)), beyond, trust["trusted"])
        return Histogram(
            name, axes, edges, units, luminosity, error, of, beyond, method, line, self.notes(own, of), _generator(attributes),
            vov=trust["vov"], trusted=trust["trusted"],
        )  # fmt: skip

    def _sky(self, name: str, group: reading.Group, array: str) -> dict[str, Any]:
        """What images and cubes have in common."""
        attributes = reading.attributes(group)
        value = reading.numbers(group, array, self.path).astype(float)
        right, up = reading.pixel_edges(group, name, value.shape[-2:], self.path)
        if not np.all(np.isfinite(value)):
            raise ResultError(f"{self.path}: '{name}' is damaged: not all of its numbers are finite")
        error = self._error(f"'{name}'", group, value.shape)
        direction, centre = (reading.vector(attributes, key, f"{self.path}: '{name}'") for key in ("direction", "centre"))
        return {
            "name": name,
            "observer": str(attributes["observer"]),
            array.replace("surface_", ""): value,
            "error": error,
            "unit": str(reading.attribute(group[array], "units", "")),
            "right": right,
            "up": up,
            "direction": direction,
            "centre": centre,
            "of": str(attributes["of"]),
            "beyond": float(attributes["luminosity_beyond"]),
            "error_method": str(attributes["error_method"]),
            "generator": _generator(attributes),
            **self._trust(name, group, value.shape),
            **self._distance(group["edges_right"]),
        }

    def _error(self, what: str, group: reading.Group, shape: tuple[int, ...]) -> Floats:
        """Errors of an output; NaN, without memory for each bin, where it has none."""
        if reading.attribute(group, "error_method") == "none":
            return np.broadcast_to(np.float64(np.nan), shape)
        error: Floats = reading.numbers(group, "error", self.path).astype(float)
        if error.shape != shape or not np.all(np.isfinite(error)):
            raise ResultError(f"{self.path}: {what} is damaged: its error")
        return error

    def _trust(self, name: str, group: reading.Group, shape: tuple[int, ...]) -> dict[str, Any]:
        """What tells whether errors can be trusted; files of earlier versions have nothing of it."""
        error = "total_error" if "flux" in group else "luminosity_error"
        known: dict[str, Any] = {
            "vov": None,
            "trusted": float(reading.attribute(group, "trusted", np.nan)),
            error: float(reading.attribute(group, "luminosity_error", np.nan)),
        }
        if "vov" not in group:
            return known
        vov = reading.numbers(group, "vov", self.path).astype(float)
        if vov.shape != shape or not np.all(np.isfinite(vov)):
            raise ResultError(f"{self.path}: '{name}' is damaged: its vov")
        return {**known, "vov": vov}

    def _distance(self, edges: reading.Place) -> dict[str, Any]:
        """Unit of lengths on a sky, and the luminosity that a flux of 1 is."""
        length = str(reading.attribute(edges, "units", "kpc"))
        return {"length": length, "light": 1.0 if length == "kpc" else self._sphere()}

    def _sphere(self) -> float:
        """4 pi d_L^2 [cm^2]."""
        distance = float(reading.attribute(self._file["sky"], "distance_luminosity")) * 3.0856775814913673e24
        return 4 * np.pi * distance**2

    def _light(self, attributes: Mapping[str, Any]) -> float:
        """The luminosity that 1 is in a spectrum; files of earlier versions have luminosities."""
        return self._sphere() if attributes.get("frame") == "observed" else 1.0

    def _line_of(self, attributes: Mapping[str, Any]) -> Line:
        """The line of an output; files of earlier versions have one wavelength for all spectra."""
        redshift = float(reading.attribute(self._file["sky"], "redshift")) if attributes.get("frame") == "observed" else 0.0
        return replace(self.line.about(attributes.get("wavelength0", self.line.wavelength0)), redshift=redshift)

    def _profile(self, name: str, group: reading.Group) -> Profile:
        attributes = reading.attributes(group)
        edges, value = (reading.numbers(group, key, self.path).astype(float) for key in ("edges", "surface_brightness"))
        if not edges.ndim == value.ndim == 1 or not len(edges) - 1 == len(value) > 0:
            raise ResultError(f"{self.path}: profile '{name}' is damaged: the shape of its arrays")
        if not (np.all(np.diff(edges) > 0) and np.all(np.isfinite(value))):
            raise ResultError(f"{self.path}: profile '{name}' is damaged: its numbers")
        error = self._error(f"profile '{name}'", group, value.shape)
        direction, centre = (reading.vector(attributes, key, f"{self.path}: profile '{name}'") for key in ("direction", "centre"))
        profile = Profile(
            name=name,
            observer=str(attributes["observer"]),
            brightness=value,
            error=error,
            unit=str(reading.attribute(group["surface_brightness"], "units", "")),
            edges=edges,
            direction=direction,
            centre=centre,
            of=str(attributes["of"]),
            beyond=float(attributes["luminosity_beyond"]),
            error_method=str(attributes["error_method"]),
            generator=_generator(attributes),
            **self._trust(name, group, value.shape),
            **self._distance(group["edges"]),
        )
        return replace(profile, caveats=self._notes_of(profile, profile.luminosity()))

    def _notes_of(self, product: Image | Cube | Profile, inside: float) -> tuple[str, ...]:
        """Caveats shown in a figure of what an observer sees."""
        return self.notes(of_output(inside, product.beyond, product.trusted), product.of)

    def _image(self, name: str, group: reading.Group) -> Image:
        image = Image(**self._sky(name, group, "surface_brightness"))
        return replace(image, caveats=self._notes_of(image, image.luminosity()))

    def _cube(self, name: str, group: reading.Group) -> Cube:
        attributes, sky = reading.attributes(group), self._sky(name, group, "intensity")
        edges = reading.numbers(group, "edges", self.path).astype(float)
        if edges.ndim != 1 or sky["intensity"].ndim != 3 or len(edges) - 1 != len(sky["intensity"]):
            raise ResultError(f"{self.path}: '{name}' is damaged: the edges of its channels")
        cube = Cube(**sky, axis=str(attributes["axis"]), edges=edges, line=self._line_of(attributes))
        return replace(cube, caveats=self._notes_of(cube, cube.image().luminosity()))

    def notes(self, own: list[Caveat], of: str) -> tuple[str, ...]:
        """Caveats shown in a figure of an output: those of the run, and its own."""
        run = [caveat for caveat in self._caveats if caveat.spectrum is None and caveat.fate != of]
        return tuple(dict.fromkeys(c.short for c in (*own, *run) if c.share >= NOTABLE))

    def spectrum(self, name: str | None = None) -> Spectrum:
        """The spectrum called ``name``; without a name, the first of escaped photons, of all generators and all directions if there
        is one."""
        if name is None:
            escaped = [s for s in self.spectra.values() if s.of == "escaped"]
            escaped.sort(key=lambda s: (s.generator is not None, s.observer is not None))
            if not escaped:
                raise MissingError(f"{self.path}: the run kept no spectrum of escaped photons")
            return escaped[0]
        if not isinstance(name, str) or name not in self.spectra:
            raise MissingError(f"no spectrum '{name}': available are {', '.join(self.spectra) or 'none'}")
        return self.spectra[name]

    def equal_weight(self) -> float | None:
        """The luminosity [erg/s] that each photon represents; None if they differ.

        It is stored in the file; for an earlier version it follows from the sums and squared sums of its
        spectra, from recorded weights, or from the light of each generator and each fate.
        """
        return common_weight(self)

    def escape_fraction(self, name: str | None = None, *, radius: float | str | None = None, inner: float | str = 0.0) -> tuple[float, float]:
        """Escaped over emitted luminosity, and its Monte Carlo error.

        With the ``name`` of what an observer sees, a spectrum, image, cube or profile: its light over all that was emitted, as
        if the source shone the same in all directions; it may be above 1. A spectrum has that of its range and aperture;
        of an image or cube, ``radius`` and ``inner`` choose an aperture around its centre (in the units of its edges, or as text such as "5 kpc").

        For photons of one source the error is that of a fraction, sqrt(f (1 - f) / N): it is 0 if none or all of
        them escape. For several sources, with the squared weights S of those that
        escaped, it is sqrt(S - L^2 / N) over the luminosity emitted, an upper bound to it; S comes
        from the recorded weights, or from a spectrum that no photon missed. If the file has neither, the error is nan.
        """
        emitted, escaped = self.summary["luminosity_emitted"], self.summary["luminosity_escaped"]
        if not emitted:
            return float("nan"), float("nan")
        if name is not None:
            light, error = self._seen_light(name, radius, inner)
            return float(light / emitted), float(error / emitted)
        if radius is not None or inner != 0.0:
            raise ArgumentError("an aperture is on an image or cube: name it")
        if escaped in (0, emitted):
            return float(escaped / emitted), 0.0
        variance = self._squared_weights() - escaped**2 / self.summary["photons"]
        return float(escaped / emitted), float(np.sqrt(np.maximum(variance, 0.0)) / emitted)

    def _seen_light(self, name: str, radius: float | str | None, inner: float | str) -> tuple[float, float]:
        """Luminosity of a product of an observer and its error."""
        if not isinstance(name, str):
            raise ArgumentError(f"a spectrum, image, cube or profile is given by its name, not {name!r}")
        if name in self.images or name in self.cubes:
            image = self.images[name] if name in self.images else self.cubes[name].image()
            self._require_escaped(image)
            if radius is None and inner != 0.0:
                raise ArgumentError("inner: an aperture has a radius, too: give it")
            return (image.luminosity(), image.luminosity_error) if radius is None else image.aperture(radius, inner)
        if radius is not None or inner != 0.0:
            raise ArgumentError(f"an aperture is on an image or cube, which '{name}' is not")
        if name in self.spectra and self.spectra[name].observer is not None:
            self._require_escaped(self.spectra[name])
            return self.spectra[name].luminosity()
        if name in self.profiles:
            self._require_escaped(self.profiles[name])
            return self.profiles[name].luminosity(), self.profiles[name].luminosity_error
        seen = [n for n, s in self.spectra.items() if s.observer is not None]
        known = ", ".join([*seen, *self.images, *self.cubes, *self.profiles]) or "none"
        raise MissingError(f"no spectrum, image, cube or profile of an observer is called '{name}': available are {known}")

    @staticmethod
    def _require_escaped(product: Spectrum | Image | Profile) -> None:
        if product.of == "emitted":
            raise ArgumentError(f"'{product.name}' has light as it was emitted, all of which is there: name an output of escaped light")

    def _squared_weights(self) -> float:
        """Sum of the squared weights of escaped photons; nan if not in the file."""
        weight = self.equal_weight()
        if weight is not None:
            return float(self.summary["escaped"]) * weight**2
        if "weight" in self.photons:
            return float(np.sum(self.photons.escaped["weight"] ** 2))
        for name, spectrum in self.spectra.items():
            whole = spectrum.observer is None and spectrum.generator is None
            if spectrum.of == "escaped" and whole and self._beyond[name] == 0.0 and are_known(spectrum.error):
                return spectrum.luminosity()[1] ** 2
        return float("nan")

    def mean_scatterings(self) -> float:
        """Scatterings by the line per photon."""
        return float(self.summary["scatterings"] / max(self.summary["photons"], 1))

    def x(self, velocity: npt.ArrayLike) -> Floats:
        """Dimensionless frequency x = (c/v_th) ln(nu/nu0) of a Doppler velocity [km/s].

        The velocity is positive to the red, x to the blue.
        """
        return self.line.from_velocity(velocity, "x")

    def __repr__(self) -> str:
        return describe(self)


def _generator(attributes: dict[str, Any]) -> str | None:
    """The generators whose photons an output counts; None: all."""
    return str(attributes["generator"]) if "generator" in attributes else None


def open(path: str | os.PathLike[str]) -> Any:
    """Opens a result, an HDF5 file or a zarr directory: a :class:`Result`, a :class:`RayResult` of the raytracing driver, or a
    :class:`SweepFile` of ``thor sweep``.

    Warns if the run was cut short; raises :class:`ResultError` if the file is missing, damaged, or something else.
    """
    return kind_of(path)(path)


def kind_of(path: str | os.PathLike[str]) -> type[Result] | type[RayResult] | type[SweepFile]:
    """The class of a result file, by the driver that wrote it."""
    file = open_file(as_text(path))
    try:
        if reading.attribute(file, "kind") == "sweep":
            return SweepFile
        return RayResult if reading.attribute(file, "driver") == "raytrace" else Result
    except Exception:  # of a damaged file; whoever opens it says so
        return Result
    finally:
        file.close()
