"""Whether all photons of a run carry the same luminosity, found from the result file."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from .photons import FATES
from .protocols import RunData
from .spectrum import Spectrum, are_known

_SAME = 1e-6  # relative; light is counted to 8e-9, and errors are good to 6e-8


def common_weight(result: RunData) -> float | None:
    """The luminosity [erg/s] that every photon carries after its emission; None if they differ.

    Newer files say so (``equal_weights`` of the summary). For older ones it is inferred: the sum of squared weights
    over the sum of weights is at least the mean weight, and equal to it only if all weights are equal, so the errors of
    a spectrum of all directions tell. Without one the recorded weights do; without those the mean weights of generators and fates,
    and how the configuration distributes photons.
    """
    summary = result.summary
    emitted = summary["luminosity_emitted"]
    carried = emitted - summary.get("luminosity_unresolved", 0.0)
    if not summary["photons"] or not carried > 0.0:
        return None
    weight = float(carried / summary["photons"])
    if "equal_weights" in summary:
        return weight if summary["equal_weights"] else None
    if not all(np.isclose(mean, weight, rtol=_SAME, atol=0.0) for mean in _means(result)):
        return None
    tell = [s for s in result.spectra.values() if s.observer is None and np.any(s.flux > 0.0) and are_known(s.error)]
    if tell:
        equal = all(_are_equal(s, weight * emitted / carried if s.of == "emitted" else weight) for s in tell)
    elif "weight" in result.photons:
        recorded = result.photons["weight"]
        equal = len(recorded) > 0 and bool(np.all(np.isclose(recorded, recorded[0], rtol=_SAME, atol=0.0)))
    else:
        equal = _are_dealt_equally(result)
    return weight if equal else None


def _means(result: RunData) -> Iterator[float]:
    """The mean weight of the photons of each fate, and of each generator."""
    summary = result.summary
    for fate in FATES:
        if summary.get(fate) and f"luminosity_{fate}" in summary:
            yield summary[f"luminosity_{fate}"] / summary[fate]
    for generator in result.generators:
        if generator.get("photons") and "luminosity_emitted" in generator:
            carried = generator["luminosity_emitted"] - generator.get("luminosity_unresolved", 0.0)
            yield carried / generator["photons"]


def _are_equal(spectrum: Spectrum, weight: float) -> bool:
    filled = spectrum.flux > 0.0
    light = (spectrum.flux * spectrum.widths)[filled] * spectrum.light
    squares = ((spectrum.error * spectrum.widths)[filled] * spectrum.light) ** 2
    return bool(np.all(np.isclose(squares, weight * light, rtol=_SAME, atol=0.0)))


def _are_dealt_equally(result: RunData) -> bool:
    """Whether the configuration in the file gives equal weights: one per generator, except with ``photons_per_1e42``."""
    dealt = re.findall(r"^[ -]*photons_per_1e42: *(\S+)", result.config, re.MULTILINE)
    if any(rate not in ("0", "0.0") for rate in dealt):
        return False
    # thor writes the resolved configuration in block style, so all items start the same way.
    block = re.search(r"^generators:\n((?:[ -].*\n)+)", result.config, re.MULTILINE)
    sources = len(re.findall(r"^ *- type:", block.group(1), re.MULTILINE)) if block else 0
    return sources == 1 or len(result.generators) > 1  # these have the same mean
