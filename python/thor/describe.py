"""A result in a few lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .photons import FATES

if TYPE_CHECKING:
    from .line import Line
    from .result import Result
    from .spectrum import Spectrum

_FATES = (*FATES, "in_flight")


def describe(result: Result) -> str:
    summary, attributes = result.summary, result.attributes
    biased = summary.get("in_flight", 0) > 0
    counts = ", ".join(
        f"{summary[fate]:,} {fate.replace('_', ' ')}"
        for fate in _FATES
        if fate == "escaped" or summary.get(fate)
    )
    names = ", ".join(
        f"{s.name} ({s.of}, {s.axis}{_reference(s, result.line)})" for s in result.spectra.values()
    )
    rows = {
        "run": f"thor {attributes['thor_version']} ({attributes.get('git_commit', '?')}), "
        f"{attributes.get('device', '?')}, {attributes.get('precision', '?')} precision, "
        f"seed {attributes.get('seed', '?')}",
        "photons": f"{summary['photons']:,}: {counts}"
        + ("" if result.complete else f"  [INCOMPLETE{': biased' if biased else ''}]"),
        "luminosity": f"{summary['luminosity_escaped']:.4g} of "
        f"{summary['luminosity_emitted']:.4g} erg/s escaped",
        "work": f"{summary['scatterings']:.4g} scatterings in "
        f"{summary['transport_seconds']:.4g} s on {summary['threads']} threads",
        "spectra": names or "none",
        "records": ", ".join(result.photons) or "none",
    }
    body = "\n".join(f"  {key:<11} {text}" for key, text in rows.items())
    return f"thor result {result.path}: {result.line.name}\n{body}"


def _reference(spectrum: Spectrum, line: Line) -> str:
    """Where a spectrum counts from, if that is not the line's first transition."""
    if spectrum.line.wavelength0 == line.wavelength0 or spectrum.axis not in ("x", "velocity"):
        return ""
    return f" about {spectrum.line.wavelength0:.2f} Angstrom"


def duration(seconds: float) -> str:
    """h:mm:ss or m:ss, as thor writes it."""
    whole = int(seconds + 0.5)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"
