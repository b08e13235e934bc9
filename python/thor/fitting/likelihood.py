"""How well models agree with an observed spectrum, with all that is uncertain in both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import ArgumentError
from ..line import C_KMS, Array, Floats
from .emulator import Emulator, inputs, mixture, smoothing
from .models import Parameter, equivalent_width
from .observation import Observation

EQUIVALENT_WIDTH, REDSHIFT = "equivalent_width", "redshift"
_AT_ONCE = 512
_INNER = 1e-12
_APART = 20.0  # km/s between the redshifts at which errors are known
_FAR = 0.1  # of the models' velocities, at their red end: where a continuum that was subtracted is measured


@dataclass
class Prior:
    """A parameter: a range, uniform in the value or its logarithm, or a Gaussian within it."""

    parameter: Parameter
    mean: float = 0.0
    sigma: float = 0.0

    def logarithm(self, values: Floats) -> Floats:
        if self.sigma <= 0.0:
            return np.zeros(len(values))
        found: Floats = -0.5 * ((values - self.mean) / self.sigma) ** 2
        return found


class Likelihood:
    """The logarithm of the likelihood of parameters, which are parts of their ranges from 0 to 1: those of the sweep, the
    equivalent width of the line if there is a continuum, the redshift if it is not fixed.

    The level of the spectrum is marginalised, with equal weight for each factor. The variance is that of the observation, of the
    emulator, as its errors on models that it never saw, whose shapes go through instrument and pixels as the spectrum does.
    """

    def __init__(
        self,
        emulator: Emulator,
        observation: Observation,
        *,
        lsf: float | Floats,
        redshift: tuple[float, float] | float,
        redshift_range: tuple[float, float] | None = None,
        equivalent_width: tuple[float, float] = (1.0, 1000.0),
        priors: Sequence[tuple[str, float, float]] = (),
        igm: Floats | None = None,
        continuum: bool = True,
        emulator_error: float = 1.0,
    ):
        self.emulator, self.observation, self.continuum = emulator, observation, continuum
        z, sigma = redshift if isinstance(redshift, tuple) else (redshift, 0.0)
        self.redshift = z
        self.priors = [Prior(p) for p in emulator.parameters]
        self.notes: list[str] = []
        if emulator.continuum is not None:
            if not (0.0 < equivalent_width[0] < equivalent_width[1] < np.inf):
                raise ArgumentError(f"equivalent width (--ew): a range above 0 is expected, not {equivalent_width[0]:g} to {equivalent_width[1]:g}")
            self.priors.append(Prior(Parameter(EQUIVALENT_WIDTH, "Angstrom", *equivalent_width, log=True)))
        if sigma > 0.0 or redshift_range is not None:
            low, high = redshift_range or (z - 5 * sigma, z + 5 * sigma)
            self.priors.append(Prior(Parameter(REDSHIFT, "", low, high), z, sigma))
        self._narrow(priors)
        self.names = [p.parameter.key for p in self.priors]
        self._own = len(emulator.parameters)
        ends = [self._range(REDSHIFT)[0], self._range(REDSHIFT)[1]] if REDSHIFT in self.names else [z, z]
        self._choose_pixels(ends)
        self.observation.notes += self.notes
        self._error = emulator_error
        self._prepare(lsf, igm, emulator_error)

    @property
    def dimensions(self) -> int:
        return len(self.priors)

    def values(self, parts: Floats) -> Floats:
        """Parameters in their units."""
        return np.stack([prior.parameter.value_of(parts[:, i]) for i, prior in enumerate(self.priors)], axis=1)

    def __call__(self, parts: Floats) -> Floats:
        """Of each row; minus infinity outside of the ranges."""
        parts = np.atleast_2d(parts)
        inside = np.all((parts > 0.0) & (parts < 1.0), axis=1)
        found = np.full(len(parts), -np.inf)
        rows = np.flatnonzero(inside)
        for begin in range(0, len(rows), _AT_ONCE):
            some = rows[begin : begin + _AT_ONCE]
            found[some] = self._some(parts[some])[0]
        return found

    def prior(self, parts: Floats) -> Floats:
        values = self.values(np.clip(parts, _INNER, 1 - _INNER))
        found: Floats = np.sum([prior.logarithm(values[:, i]) for i, prior in enumerate(self.priors)], axis=0)
        inside = np.all((parts > 0.0) & (parts < 1.0), axis=1)
        within: Floats = np.where(inside, found, -np.inf)
        return within

    def blur(self, parts: Floats, seed: int) -> Floats:
        """Samples with what the emulator's bias adds to their errors; the ends of the ranges reflect them."""
        if self.emulator.bias is None or self._error == 0.0:
            return parts
        rows = list(range(self._own))
        scale = [1.0 / float(np.diff(p.unit_of(np.array([q.parameter.low, q.parameter.high])))[0]) for p, q in zip(self.emulator.parameters, self.priors)]
        if EQUIVALENT_WIDTH in self.names:
            rows.append(self._own)
            scale.append(1.0 / float(np.log(np.divide(*self._range(EQUIVALENT_WIDTH)[::-1]))))
        if REDSHIFT in self.names:
            rows.append(self._own + 1)
            scale.append((1 + self.redshift) / C_KMS / float(np.diff(self._range(REDSHIFT))[0]))
        covariance = self.emulator.bias[np.ix_(rows, rows)] * np.outer(scale, scale)
        moved = parts + np.random.default_rng(seed).multivariate_normal(np.zeros(len(rows)), covariance, len(parts), method="eigh")
        found: Floats = np.clip(1.0 - np.abs(1.0 - np.mod(moved, 2.0)), _INNER, 1 - _INNER)
        return found

    def spectra(self, parts: Floats) -> tuple[Floats, Floats]:
        """Model spectra in the pixels, at their best level, and the squares of their own errors."""
        parts = np.atleast_2d(parts)
        seen = [self._some(parts[i : i + _AT_ONCE]) for i in range(0, len(parts), _AT_ONCE)]
        whole = float(self._weights @ self._factors)
        return np.concatenate([s[1] for s in seen]), whole * np.concatenate([np.sum(s[3] ** 2, axis=1) + s[2] for s in seen])

    def errors(self, parts: Floats) -> Floats:
        """The covariance of the emulator's errors in the pixels, of one row of parameters."""
        _, _, rest, shapes = self._some(parts[None, :])
        whole = float(self._weights @ self._factors)
        found: Floats = whole * (shapes[0].T @ shapes[0] + np.diag(rest[0]))
        return found

    def of_bins(self, parts: Floats) -> Floats:
        """What a pixel sees of each bin of the sweep (rows), at the redshift of the parameters."""
        return self._pixels(self._cumulated(np.eye(len(self.emulator.edges) - 1)), float(self._redshifts(parts[None, :])[0]))

    def light(self, line: Floats, flat: Floats | None, parts: Floats) -> Floats:
        """Spectra on the bins of the sweep as seen in the pixels, with the width and redshift of the parameters."""
        return self._pixels(self._sum(self._cumulated(line), None if flat is None else self._cumulated(flat), parts), self._redshifts(parts))

    def level(self, seen: Floats) -> Floats:
        """The best one of each row, by the errors of the observation."""
        white = self._whiten(seen)
        found: Floats = np.sum(white * self._data, axis=1) / np.maximum(np.sum(white**2, axis=1), 1e-300)
        return found

    def chi2(self, spectrum: Floats) -> float:
        """With the errors of the observation alone."""
        difference = self._whiten((spectrum - self.observation.flux)[None, :])[0]
        return float(difference @ difference)

    # ---

    def _narrow(self, priors: Sequence[tuple[str, float, float]]) -> None:
        known = {prior.parameter.key: prior for prior in self.priors}
        for key, low, high in priors:
            found = [k for k in known if k == key] or [k for k in known if k.endswith("." + key)]
            if len(found) != 1:
                raise ArgumentError(f"prior of {key}: parameters are {', '.join(known)}")
            p = known[found[0]].parameter
            if not low < high:
                raise ArgumentError(f"prior of {key}: {low:g} to {high:g} has nothing in it: the lower end comes first")
            if high <= p.low or low >= p.high:
                raise ArgumentError(f"prior of {key}: {low:g} to {high:g} excludes all models, which have {p.low:g} to {p.high:g}")
            if low < p.low or high > p.high:
                self.notes.append(f"the prior of {p.key} is cut to the range of the models, {max(low, p.low):.4g} to {min(high, p.high):.4g}")
            known[found[0]].parameter = Parameter(p.key, p.unit, max(low, p.low), min(high, p.high), p.log)

    def _range(self, key: str) -> tuple[float, float]:
        p = self.priors[self.names.index(key)].parameter
        return p.low, p.high

    def _velocities(self, wavelength: Floats, z: float) -> Floats:
        found: Floats = C_KMS * (wavelength / (self.emulator.wavelength0 * (1 + z)) - 1)
        return found

    def _choose_pixels(self, redshifts: Sequence[float]) -> None:
        seen, edges = self.observation, self.emulator.edges
        # With a redshift that is not known, pixels that may be near the line; beyond the models their ends go on.
        used = (self._velocities(seen.low, redshifts[-1]) < edges[-1]) & (self._velocities(seen.high, redshifts[0]) > edges[0])
        if redshifts[0] == redshifts[-1]:
            used = (self._velocities(seen.low, redshifts[0]) >= edges[0]) & (self._velocities(seen.high, redshifts[0]) <= edges[-1])
        line = [self.emulator.wavelength0 * (1 + z) for z in redshifts]
        around = f"{seen.low[0]:.6g} to {seen.high[-1]:.6g} Angstrom in vacuum"
        if not seen.low[0] < 0.5 * (line[0] + line[-1]) < seen.high[-1]:
            raise ArgumentError(f"{seen.name}: the line, {self.emulator.wavelength0:.2f} Angstrom, is at {0.5 * (line[0] + line[-1]):.2f} at this redshift, but the spectrum has {around}: are the redshift and the unit of wavelengths right?")
        if np.sum(used) < self.dimensions + 1:
            raise ArgumentError(f"{seen.name}: {int(np.sum(used))} pixels lie where the models have light ({edges[0]:g} to {edges[-1]:g} km/s from the line); a fit of {self.dimensions} parameters needs more")
        self.observation = seen.select(used)
        if not np.all(used):
            self.observation.notes.append(f"{int(np.sum(~used))} pixels are further than {edges[-1]:g} km/s from the line")

    def _prepare(self, lsf: float | Floats, igm: Floats | None, emulator_error: float) -> None:
        seen, edges = self.observation, self.emulator.edges
        centres = 0.5 * (edges[1:] + edges[:-1])
        if isinstance(lsf, np.ndarray):  # wavelength and full width, as observed
            at = self.emulator.wavelength0 * (1 + self.redshift) * (1 + centres / C_KMS)
            if lsf[-1, 0] < seen.low[0] or lsf[0, 0] > seen.high[-1]:
                raise ArgumentError(f"the line-spread function is given from {lsf[0, 0]:g} to {lsf[-1, 0]:g} Angstrom, the spectrum from {seen.low[0]:g} to {seen.high[-1]:g}: is its unit right?")
            width = np.interp(at, lsf[:, 0], lsf[:, 1]) / (self.emulator.wavelength0 * (1 + self.redshift)) * C_KMS
        else:
            width = np.full(len(centres), C_KMS / lsf) if lsf > 0 else np.zeros(len(centres))
        span = self._velocities(seen.high[-1:], self.redshift)[0] - self._velocities(seen.low[:1], self.redshift)[0]
        if np.max(width) > span:
            raise ArgumentError(f"the line-spread function, {np.max(width):.0f} km/s, is wider than the spectrum, {span:.0f} km/s: is its unit right?")
        if igm is not None and (np.any(igm[:, 1] < 0) or np.any(igm[:, 1] > 1) or not np.any(igm[:, 1] > 0) or igm[0, 0] > edges[-1] or igm[-1, 0] < edges[0]):
            raise ArgumentError(f"the transmission of the intergalactic medium is from 0 to 1, at velocities within {edges[0]:g} to {edges[-1]:g} km/s: its table has {igm[:, 1].min():g} to {igm[:, 1].max():g} from {igm[0, 0]:g} to {igm[-1, 0]:g}")
        self._blur = smoothing(edges, width)
        self._through = np.ones(len(centres)) if igm is None else np.interp(centres, igm[:, 0], igm[:, 1])
        variance = seen.covariance
        self._white = np.diag(1 / np.sqrt(variance)) if variance.ndim == 1 else np.linalg.inv(np.linalg.cholesky(variance))
        self._diagonal = 1 / np.sqrt(variance) if variance.ndim == 1 else None
        self._data = self._white @ seen.flux
        line, flat = self.emulator.line, self.emulator.continuum
        self._line = self._of(line.network.weights[-1][:, :-1], line.network.offsets[-1][:-1])
        self._flat = None if flat is None else self._of(flat.network.weights[-1], flat.network.offsets[-1])
        # Errors have the stated resolution already: they go through the pixels as they are, at several redshifts.
        parts = [part for part in (line, flat) if part is not None]
        span_z = C_KMS * float(np.diff(self._range(REDSHIFT))[0]) / (1 + self.redshift) if REDSHIFT in self.names else 0.0
        self._places = np.linspace(*self._range(REDSHIFT), int(np.ceil(span_z / _APART)) + 1) if span_z > 0.0 else np.array([self.redshift])
        self._shapes = [emulator_error * np.stack([self._pixels(self._cumulated(part.shapes, False), z) for z in self._places]) for part in parts]
        self._rest = [emulator_error**2 * np.stack([np.maximum(self._pixels(self._cumulated(part.rest[None, :], False), z)[0], 0.0) for z in self._places]) for part in parts]
        self._factors, self._weights = mixture(line.spread)

    def _of(self, weights: Array, offsets: Array) -> tuple[Floats, Floats]:
        """The last layer of a network, whose numbers are then integrals over velocity."""
        return self._cumulated(np.asarray(weights, float)).astype(np.float32), self._cumulated(np.asarray(offsets, float)[None, :])[0]

    def _cumulated(self, spectra: Floats, instrument: bool = True) -> Floats:
        seen = spectra * self._through
        if instrument:
            seen = seen @ self._blur.T
        found: Floats = np.concatenate([np.zeros((len(seen), 1)), np.cumsum(seen * np.diff(self.emulator.edges), axis=1)], axis=1)
        return found

    def _unit(self, parts: Floats) -> Floats:
        """Parts of the sweep's own ranges, which a prior may have narrowed."""
        columns = []
        for i, whole in enumerate(self.emulator.parameters):
            mine = self.priors[i].parameter
            columns.append(parts[:, i] if mine is whole else whole.unit_of(mine.value_of(parts[:, i])))
        return np.stack(columns, axis=1)

    def _widths(self, parts: Floats) -> Floats:
        prior = self.priors[self.names.index(EQUIVALENT_WIDTH)].parameter
        return np.array(equivalent_width(1.0, self.emulator.wavelength0) * prior.value_of(parts[:, self.names.index(EQUIVALENT_WIDTH)]))

    def _sum(self, line: Floats, flat: Floats | None, parts: Floats) -> Floats:
        if self._flat is None or flat is None:
            return line
        total = line * self._widths(parts)[:, None] + flat
        if not self.continuum:  # a level was subtracted, which an observer has seen red of the line
            edges = self.emulator.edges
            far = max(int(_FAR * (len(edges) - 1)), 1)
            level = (flat[:, -1] - flat[:, -1 - far]) / (edges[-1] - edges[-1 - far])
            total = total - level[:, None] * (edges - edges[0])
        return total

    def _redshifts(self, parts: Floats) -> Floats:
        if REDSHIFT not in self.names:
            return np.full(len(parts), self.redshift)
        i = self.names.index(REDSHIFT)
        return self.priors[i].parameter.value_of(parts[:, i])

    def _pixels(self, total: Floats, redshift: Floats | float) -> Floats:
        """Mean in each pixel, of integrals from the first edge, at a redshift for each row or one for all."""
        edges, seen = self.emulator.edges, self.observation
        step = edges[1] - edges[0]
        rest = self.emulator.wavelength0 * (1 + np.atleast_1d(redshift)[:, None])
        low, high = ((C_KMS * (end / rest - 1) - edges[0]) / step for end in (seen.low, seen.high))
        found: Floats = (_at(total, high) - _at(total, low)) / ((high - low) * step)
        return found

    def _some(self, parts: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Logarithm of the likelihood, spectra at their best level, and their own errors: variances of pixels and shapes."""
        mine = self._unit(parts)
        x = inputs(mine)
        net = self.emulator.line.network
        features = net.features(x)
        peak = np.exp(features.astype(float) @ net.weights[-1][:, -1] + net.offsets[-1][-1])
        line = ((features @ self._line[0]).astype(float) + self._line[1]) * peak[:, None]
        flat, scales = None, [peak * self.emulator.line.scale(mine)]
        if self._flat is not None and self.emulator.continuum is not None:
            flat = (self.emulator.continuum.network.features(x) @ self._flat[0]).astype(float) + self._flat[1]
            scales = [scales[0] * self._widths(parts), self.emulator.continuum.scale(mine)]
        redshifts = self._redshifts(parts)
        model = self._pixels(self._sum(line, flat, parts), redshifts)
        level = self.level(model)
        scales = [np.abs(level) * scale for scale in scales]
        place = np.argmin(np.abs(redshifts[:, None] - self._places), axis=1) if len(self._places) > 1 else np.zeros(len(parts), int)
        rest = sum(scale[:, None] ** 2 * each[place] for scale, each in zip(scales, self._rest))
        shapes = np.concatenate([scale[:, None, None] * each[place] for scale, each in zip(scales, self._shapes)], axis=1)
        each = [self._level(model, shapes, rest, factor) for factor in self._factors]
        logs = np.stack([log for log, _ in each])
        most = np.max(logs, axis=0)
        with np.errstate(invalid="ignore"):
            found = most + np.log(self._weights @ np.exp(logs - most))
        best = each[len(each) // 2][1]
        return np.where(np.isfinite(found), found, -np.inf), model * best[:, None], rest, shapes

    def _level(self, model: Floats, shapes: Floats, rest: Floats, factor: float) -> tuple[Floats, Floats]:
        """The logarithm of the integral over the level A of the likelihood times 1 / A, by its peak, and this A; with the errors of the
        emulator, whose variance is multiplied by a factor."""
        seen = self.observation
        if self._diagonal is not None:
            scale = 1.0 / np.sqrt(seen.covariance + factor * rest)
            m, d, e = model * scale, seen.flux * scale, np.sqrt(factor) * shapes * scale[:, None, :]
            logdet = -2.0 * np.sum(np.log(scale), axis=1)
        else:
            root = np.linalg.cholesky(seen.covariance + factor * rest[:, None, :] * np.eye(len(seen.flux)))
            every = np.concatenate([model[:, None, :], np.broadcast_to(seen.flux, (len(model), 1, len(seen.flux))), np.sqrt(factor) * shapes], axis=1)
            white = np.swapaxes(np.linalg.solve(root, np.swapaxes(every, 1, 2)), 1, 2)
            m, d, e = white[:, 0], white[:, 1], white[:, 2:]
            logdet = 2.0 * np.sum(np.log(np.diagonal(root, axis1=1, axis2=2)), axis=1)
        inner = e @ np.swapaxes(e, 1, 2) + np.eye(e.shape[1])
        both = np.stack([m, d], axis=2)
        on = e @ both
        products = np.swapaxes(both, 1, 2) @ both - np.swapaxes(on, 1, 2) @ np.linalg.solve(inner, on)
        q, r, t = products[:, 0, 0], products[:, 0, 1], products[:, 1, 1]
        logdet = logdet + np.linalg.slogdet(inner)[1]
        with np.errstate(invalid="ignore", divide="ignore"):
            best = r / q
            log = -0.5 * (t - r * best) - 0.5 * logdet + 0.5 * np.log(2 * np.pi / q) - np.log(best) - 0.5 * m.shape[1] * np.log(2 * np.pi)
        return np.asarray(np.where((best > 0) & np.isfinite(log), log, -np.inf)), best

    def _whiten(self, seen: Floats) -> Floats:
        found: Floats = seen * self._diagonal if self._diagonal is not None else seen @ self._white.T
        return found


def _at(total: Floats, place: Floats) -> Floats:
    """Rows between their numbers, at places of each row or of all; beyond their ends they go on as straight lines."""
    at = np.clip(place, 0, total.shape[1] - 2).astype(np.int64)
    part = place - at
    if len(place) == 1:
        return np.asarray(total[:, at[0]] * (1 - part[0]) + total[:, at[0] + 1] * part[0])
    rows = np.arange(len(total))[:, None]
    return np.asarray(total[rows, at] * (1 - part) + total[rows, at + 1] * part)
