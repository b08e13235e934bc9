"""Caveats of a result: the only place that turns its counts into words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

#: A figure mentions light that is stopped or beyond the range from this share on; a result mentions any.
NOTABLE = 1e-3
#: and light beyond the sides of an image or the bins of a histogram from this share on.
NOTABLE_BEYOND = 0.01
#: A result is unreliable if more than this share of the photons is lost (exit code 7 of thor).
UNRELIABLE = 0.01
#: An output is noisy if less than this share of its light is in bins whose errors can be trusted (docs/formats.md).
TRUSTED = 0.5


class Caveat(NamedTuple):
    """A caveat of a result: a sentence for its description, and a short form for a figure."""

    text: str  #: empty if the file itself has the words
    short: str
    share: float = 1.0  #: share of the light or the photons that it concerns
    spectrum: str | None = None  #: the only spectrum that it concerns
    fate: str = ""  #: fate of the photons that it concerns; a spectrum of this fate has their light


def percent(share: float) -> str:
    """A share in per cent: 3.2 %, 0.0012 %."""
    return f"{100.0 * share:.2g} %" if share < 0.0995 else f"{100.0 * share:.0f} %"


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0


def _sent(summary: Mapping[str, Any]) -> float:
    """The light that photons carry: what is emitted, less what is absorbed at birth (escape_fraction)."""
    return float(summary["luminosity_emitted"] - summary.get("luminosity_unresolved", 0.0))


def lost_share(summary: Mapping[str, Any]) -> float:
    """The share of photons that are lost, or of their light, whichever is larger."""
    light = _share(summary.get("luminosity_lost", 0.0), _sent(summary))
    return max(_share(summary.get("lost", 0), summary["photons"]), light)


def is_reliable(summary: Mapping[str, Any]) -> bool:
    """As the file says or, where it does not or is damaged, by its counts."""
    said = summary.get("reliable")
    return bool(said) if isinstance(said, (bool, np.bool_)) else lost_share(summary) <= UNRELIABLE


def sentences(summary: Mapping[str, Any], derived: Iterable[Caveat]) -> tuple[str, ...]:
    """The caveats of a result: those stored in the file or, for older files, those that follow from its counts."""
    said = _lines(summary, "caveats") if "caveats" in summary else [caveat.text for caveat in derived if caveat.text]
    return tuple(dict.fromkeys([*said, *_lines(summary, "warnings")]))


def _lines(summary: Mapping[str, Any], name: str) -> list[str]:
    return [line.strip() for line in str(summary.get(name, "")).splitlines() if line.strip()]


def of_run(summary: Mapping[str, Any]) -> list[Caveat]:
    """Caveats that follow from the counts of a run."""
    found = []
    if not summary["complete"]:
        found.append(_cut(summary))
    lost = summary.get("lost", 0)
    if lost:
        share = lost_share(summary)
        verdict = "the result is biased" if is_reliable(summary) else "the result is not to be relied on"
        text = (
            f"{lost:,} photons ({percent(share)}) reached limits.max_scatterings or max_steps and are lost: {verdict}. "
            "Raise these limits"
        )
        found.append(Caveat(text, f"{percent(share)} of the photons lost", share))
    stopped = summary.get("stopped", 0)
    if stopped:
        share = _share(summary.get("luminosity_stopped", 0.0), _sent(summary))
        share = share or _share(stopped, summary["photons"])
        text = f"{stopped:,} photons with {percent(share)} of the light were stopped at stop_shift, on their way"
        found.append(Caveat(text, f"{percent(share)} of the light stopped", share, fate="stopped"))
    return found


def _cut(summary: Mapping[str, Any]) -> Caveat:
    photons, requested = summary["photons"], summary.get("photons_requested", "more")
    in_flight = summary.get("in_flight", 0)
    if in_flight:
        text = (
            f"this run was cut with {in_flight} photons in flight. These have the longest histories and leave far from line "
            "centre: spectra and escape fractions are biased, not only noisier"
        )
        return Caveat(text, f"run cut with {in_flight:,} photons in flight: biased")
    # Files with this number have photons dealt over all sources in turn.
    dealt = "luminosity_unresolved" in summary
    which = (
        "what it gives is noisier, not biased"
        if dealt
        else "with one source the shape of the spectra is noisier, not biased; of several sources the last ones are missing"
    )
    text = (
        f"this run was stopped after {photons} of {requested} photons. Those have all finished: {which}. "
        "Luminosities are those of the photons that were started"
    )
    return Caveat(text, f"run cut after {photons:,} photons")


def of_output(inside: float, beyond: float, trusted: float) -> list[Caveat]:
    """The caveats of an output for a figure of it: light beyond its range, and light in bins whose errors are too large to
    be trusted, the larger share first. The words for its description are in the file."""
    share = _share(beyond, beyond + inside)
    found = [Caveat("", f"{percent(share)} of the light beyond the range", share)] if share >= NOTABLE_BEYOND else []
    if trusted < TRUSTED and inside > 0.0:
        found.append(Caveat("", f"noisy: {percent(1.0 - trusted)} of the light in bins with large errors", 1.0 - trusted))
    return sorted(found, key=lambda caveat: -caveat.share)


def of_spectrum(name: str, inside: float, beyond: float) -> list[Caveat]:
    """The caveat of a spectrum with light beyond its range."""
    if not beyond > 0.0:
        return []
    share = _share(beyond, beyond + inside)
    return [
        Caveat(
            f"spectrum '{name}': {percent(share)} of its light lies beyond its range",
            f"{percent(share)} of the light beyond the range",
            share,
            name,
        )
    ]
