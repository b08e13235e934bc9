"""A small network of numpy arrays: smooth functions from a few parameters to many numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Single = npt.NDArray[np.float32]

_DECAY = (0.9, 0.99)
_BATCH = 128
_AVERAGED = 0.2  # share of all steps, at the end, whose weights are averaged


@dataclass
class Network:
    """Layers of weights and offsets: x -> x W + b, with x sigmoid(x) between them."""

    weights: list[Single]
    offsets: list[Single]

    def features(self, x: npt.NDArray[np.floating[Any]]) -> Single:
        """What the last layer, which is linear, makes its numbers of: one row for each row of x."""
        h = np.asarray(x, dtype=np.float32)
        for w, b in zip(self.weights[:-1], self.offsets[:-1]):
            h = h @ w
            h += b
            h *= _sigmoid(h)
        return h

    def __call__(self, x: npt.NDArray[np.floating[Any]]) -> Single:
        found: Single = self.features(x) @ self.weights[-1] + self.offsets[-1]
        return found


def _sigmoid(x: Single) -> Single:
    found: Single = np.float32(0.5) * np.tanh(np.float32(0.5) * x) + np.float32(0.5)
    return found


def train(
    x: npt.NDArray[np.floating[Any]],
    y: npt.NDArray[np.floating[Any]],
    *,
    hidden: tuple[int, ...],
    steps: int,
    seed: int,
    rate: float = 2e-3,
    tell: Callable[[int], None] = lambda step: None,
) -> Network:
    """The network with the least mean square of y - f(x), by Adam (Kingma & Ba 2015, arXiv:1412.6980) with a rate that falls as a
    cosine. Noise in y is averaged over all that x has near by; the last weights are averaged too."""
    rng = np.random.default_rng(seed)
    sizes = [x.shape[1], *hidden, y.shape[1]]
    centre, scale = y.mean(axis=0), max(float(y.std()), 1e-30)
    inputs, wanted = x.astype(np.float32), ((y - centre) / scale).astype(np.float32)
    layers = len(sizes) - 1
    values = [(rng.standard_normal((a, b)) * np.sqrt((2.0 if k < layers - 1 else 1.0) / a)).astype(np.float32) for k, (a, b) in enumerate(zip(sizes[:-1], sizes[1:]))]
    values += [np.zeros(b, np.float32) for b in sizes[1:]]
    first, second = [np.zeros_like(v) for v in values], [np.zeros_like(v) for v in values]
    mean = [np.zeros(v.shape, np.float64) for v in values]
    averaged_from, averaged = int(steps * (1.0 - _AVERAGED)), 0
    order, at = rng.permutation(len(inputs)), 0
    for step in range(steps):
        if at + _BATCH > len(order):
            order, at = rng.permutation(len(inputs)), 0
        rows = order[at : at + _BATCH]
        at += _BATCH
        slopes = _slopes(values, layers, inputs[rows], wanted[rows])
        now = rate * 0.5 * (1.0 + np.cos(np.pi * step / steps)) * min(1.0, (step + 1) / 200)
        size = now * np.sqrt(1.0 - _DECAY[1] ** (step + 1)) / (1.0 - _DECAY[0] ** (step + 1))
        for v, g, m, s in zip(values, slopes, first, second):
            m += np.float32(1.0 - _DECAY[0]) * (g - m)
            s += np.float32(1.0 - _DECAY[1]) * (g * g - s)
            v -= np.float32(size) * m / (np.sqrt(s) + np.float32(1e-8))
        if step >= averaged_from:
            averaged += 1
            for v, total in zip(values, mean):
                total += v
        tell(step + 1)
    values = [(total / max(averaged, 1)).astype(np.float32) for total in mean]
    weights, offsets = values[:layers], values[layers:]
    weights[-1] *= np.float32(scale)
    offsets[-1] = (offsets[-1] * scale + centre).astype(np.float32)
    return Network(weights, offsets)


def _slopes(values: list[Single], layers: int, x: Single, wanted: Single) -> list[Single]:
    """Of the mean square, by each weight and offset."""
    weights, offsets = values[:layers], values[layers:]
    outputs, inner = [x], []
    for k in range(layers):
        a = outputs[-1] @ weights[k] + offsets[k]
        inner.append(a)
        outputs.append(a * _sigmoid(a) if k < layers - 1 else a)
    back = (outputs[-1] - wanted) * np.float32(2.0 / wanted.size)
    of_weights, of_offsets = [np.empty(0, np.float32)] * layers, [np.empty(0, np.float32)] * layers
    for k in reversed(range(layers)):
        of_weights[k], of_offsets[k] = outputs[k].T @ back, back.sum(axis=0)
        if k > 0:
            s = _sigmoid(inner[k - 1])
            back = (back @ weights[k].T) * (s * (1.0 + inner[k - 1] * (1.0 - s)))
    return [*of_weights, *of_offsets]
