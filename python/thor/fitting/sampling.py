"""Samples of a posterior with several modes: a population that is cooled from the prior, then chains of emcee from there."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import optional
from ..line import Floats

Function = Callable[[Floats], Floats]

_KEPT = 0.5  # effective share of a population after a change of temperature
_MOVES, _LEAST_MOVED = 40, 4.0  # at most so many moves at a temperature; each particle accepts so many on average
_SCALE = 2.38


@dataclass
class Population:
    """Particles with equal weights, distributed as the posterior, and the logarithm of the evidence."""

    parts: Floats
    logs: Floats  # of the likelihood
    evidence: float
    evaluations: int


def cool(
    likelihood: Function, prior: Function, dimensions: int, *, count: int, seed: int, tell: Callable[[float], None] = lambda t: None
) -> Population:
    """Sequential Monte Carlo (Del Moral, Doucet & Jasra 2006): the likelihood's power rises from 0 to 1 in steps that keep half of
    the population, which then moves along differences of its members (ter Braak 2006). Modes are found, and
    weighted, as the prior found them: not as somebody's guess of a start did."""
    rng = np.random.default_rng(seed)
    parts = _of_prior(prior, dimensions, 4 * count, rng)
    logs, priors = likelihood(parts), prior(parts)
    power, evidence, evaluations = 0.0, 0.0, len(parts)
    if not np.any(np.isfinite(logs)):
        return Population(parts, logs, -np.inf, evaluations)
    while power < 1.0:
        step = _next(logs, 1.0 - power, len(logs) if power == 0.0 else count)
        weights = _weights(step, logs)
        evidence += float(np.log(np.mean(weights)) + step * np.max(logs[np.isfinite(logs)]))
        power = min(power + step, 1.0)
        chosen = _systematic(weights, count, rng)
        parts, logs, priors = parts[chosen], logs[chosen], priors[chosen]
        moved = 0.0
        for number in range(_MOVES):
            for half in (0, 1):  # each half moves along differences of the other
                mine, others = np.arange(half, count, 2), np.arange(1 - half, count, 2)
                a, b = rng.choice(others, len(mine)), rng.choice(others, len(mine))
                size = np.where(rng.random(len(mine)) < 0.1, 1.0, _SCALE / np.sqrt(2 * dimensions) * rng.choice([0.4, 1.0], len(mine)))
                new = parts[mine] + size[:, None] * (parts[a] - parts[b]) + 1e-5 * rng.standard_normal((len(mine), dimensions))
                new_priors = prior(new)
                new_logs = np.full(len(mine), -np.inf)
                inside = np.isfinite(new_priors)
                new_logs[inside] = likelihood(new[inside])
                evaluations += int(np.sum(inside))
                with np.errstate(invalid="ignore"):
                    gain = power * (new_logs - logs[mine]) + new_priors - priors[mine]
                taken = inside & (np.log(rng.random(len(mine))) < gain)
                rows = mine[taken]
                parts[rows], logs[rows], priors[rows] = new[taken], new_logs[taken], new_priors[taken]
                moved += float(np.sum(taken)) / count
            if moved > _LEAST_MOVED * (3.0 if power >= 1.0 else 1.0) and number >= 4:
                break
        tell(power)
    return Population(parts, logs, evidence, evaluations)


def cool_twice(
    likelihood: Function, prior: Function, dimensions: int, *, count: int, seed: int, tell: Callable[[float], None] = lambda t: None
) -> Population:
    """Two independent populations, whose members take turns: how much they differ says how well modes are weighed."""
    each = [cool(likelihood, prior, dimensions, count=(count + 1) // 2, seed=seed + 7919 * k, tell=lambda t, k=k: tell(0.5 * (k + t**0.25))) for k in (0, 1)]  # type: ignore[misc]
    best = max(p.evidence for p in each)
    if not np.isfinite(best):
        return each[0]
    parts, logs = (np.stack(both, axis=1).reshape(-1, *both[0].shape[1:]) for both in ([p.parts for p in each], [p.logs for p in each]))
    evidence = best + float(np.log(np.mean(np.exp([p.evidence - best for p in each]))))
    return Population(parts, logs, evidence, each[0].evaluations + each[1].evaluations)


def _of_prior(prior: Function, dimensions: int, count: int, rng: np.random.Generator) -> Floats:
    """Parts of the ranges, where the prior is not uniform by its weight."""
    found = rng.random((8 * count, dimensions))
    logs = prior(found)
    weights = np.exp(logs - np.max(logs))
    rows: Floats = found[rng.choice(len(found), count, replace=bool(np.ptp(weights) > 0), p=weights / weights.sum())]
    if np.ptp(weights) > 0:
        rows = np.clip(rows + 1e-4 * rng.standard_normal(rows.shape), 1e-9, 1 - 1e-9)
    return rows


def _weights(step: float, logs: Floats) -> Floats:
    """Of powers of the likelihood; 0 where that is 0, whatever the power."""
    possible = np.isfinite(logs)
    found: Floats = np.where(possible, np.exp(step * np.where(possible, logs - np.max(logs[possible]), 0.0)), 0.0)
    return found


def _next(logs: Floats, most: float, count: int) -> float:
    def effective(step: float) -> float:
        w = _weights(step, logs)
        return float(np.sum(w) ** 2 / np.sum(w**2)) / count

    wanted = min(_KEPT, 0.9 * effective(0.0))
    if effective(most) >= wanted:
        return most
    low, high = 0.0, most
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if effective(middle) > wanted else (low, middle)
    return max(0.5 * (low + high), 1e-12)


def _systematic(weights: Floats, count: int, rng: np.random.Generator) -> Any:
    places = (np.arange(count) + rng.random()) / count
    return np.minimum(np.searchsorted(np.cumsum(weights) / np.sum(weights), places), len(weights) - 1)


@dataclass
class Chains:
    """Of emcee: parts (step, walker, parameter), logarithms of the posterior, and what says whether they have converged."""

    parts: Floats
    logs: Floats
    r_hat: Floats
    autocorrelation: Floats
    acceptance: float


def chains(posterior: Function, start: Floats, *, steps: int, burn: int, seed: int, tell: Callable[[int], None] = lambda step: None) -> Chains:
    """The steps of emcee after those of burning in; each walker starts at a row of ``start``."""
    emcee = optional("emcee")
    moves = [(emcee.moves.DEMove(), 0.7), (emcee.moves.DESnookerMove(), 0.2), (emcee.moves.StretchMove(), 0.1)]
    sampler = emcee.EnsembleSampler(len(start), start.shape[1], posterior, vectorize=True, moves=moves)
    sampler._random = np.random.RandomState(seed)  # emcee draws from it alone
    state = emcee.State(start, random_state=np.random.RandomState(seed).get_state())
    for number, _ in enumerate(sampler.sample(state, iterations=burn + steps, skip_initial_state_check=True), 1):
        tell(number)
    parts = sampler.get_chain(discard=burn)
    logging.getLogger("emcee.autocorr").setLevel(logging.ERROR)  # of chains that are too short we tell ourselves
    times: Floats = emcee.autocorr.integrated_time(parts, quiet=True)
    return Chains(parts, sampler.get_log_prob(discard=burn), split_r_hat(parts), np.asarray(times), float(np.mean(sampler.acceptance_fraction)))


def split_r_hat(parts: Floats) -> Floats:
    """Of each parameter (Gelman et al. 2013, section 11.4): the spread of means of groups of walkers, in the first and the second half of the
    steps, against that within them. Walkers of an ensemble depend on each other, so that groups of them are its chains."""
    steps, walkers, _ = parts.shape
    half, groups = steps // 2, max(min(8, walkers // 4), 1)
    chains = [part[:, g::groups].reshape(-1, parts.shape[2]) for part in (parts[:half], parts[half : 2 * half]) for g in range(groups)]
    n = len(chains[0])
    means, within = np.stack([c[:n].mean(axis=0) for c in chains]), np.mean([c[:n].var(axis=0, ddof=1) for c in chains], axis=0)
    found: Floats = np.sqrt(((n - 1) / n * within + means.var(axis=0, ddof=1)) / np.maximum(within, 1e-300))
    return found


@dataclass
class Mode:
    """A region of the posterior that is separated from others by a valley."""

    best: Floats  # parts
    log: float  # of the posterior there
    share: float  # of the posterior's probability
    share_error: float  # by how much the two halves of the samples differ, over 2
    mean: Floats
    sigma: Floats


_DEEP, _SMALL, _SAMPLES = 3.0, 0.01, 1500


def modes(posterior: Function, parts: Floats, logs: Floats, half: Floats) -> list[Mode]:
    """Each sample is linked to its nearest better one; the ends of these links are modes, if on the straight line
    between two of them the logarithm falls by more than 3 below the lower one. The most probable first. ``half`` says which of two
    independent populations a sample comes from."""
    pick = np.linspace(0, len(parts) - 1, min(len(parts), _SAMPLES)).astype(int)
    x, f, half = parts[pick], logs[pick], half[pick]
    scale = np.maximum(x.std(axis=0), 1e-9)
    order = np.argsort(-f)
    x, f, half, whole = x[order], f[order], half[order], x[order] / scale
    label = np.full(len(x), -1)
    peaks: list[int] = []
    for i in range(len(x)):
        if i:
            distance = np.sum((whole[:i] - whole[i]) ** 2, axis=1)
            near = np.argsort(distance)[:3]
            for j in near:
                if _joined(posterior, x[i], x[j], min(f[i], f[j])):
                    label[i] = label[j]
                    break
        if label[i] < 0 and len(peaks) < 40:
            for number, peak in enumerate(peaks):
                if _joined(posterior, x[i], x[peak], min(f[i], f[peak])):
                    label[i] = number
                    break
            else:
                peaks.append(i)
                label[i] = len(peaks) - 1
    found = []
    for number, peak in enumerate(peaks):
        mine = label == number
        if np.mean(mine) >= _SMALL:
            shares = [float(np.mean(mine[half == k])) if np.any(half == k) else float(np.mean(mine)) for k in (0, 1)]
            found.append(Mode(x[peak], float(f[peak]), float(np.mean(mine)), 0.5 * abs(shares[0] - shares[1]), x[mine].mean(axis=0), x[mine].std(axis=0)))
    return sorted(found, key=lambda mode: -mode.share)


def _joined(posterior: Function, a: Floats, b: Floats, least: float) -> bool:
    line = np.linspace(0, 1, 7)[1:-1, None]
    return bool(np.min(posterior(a + line * (b - a))) > least - _DEEP)
