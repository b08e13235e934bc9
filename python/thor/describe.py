"""A result in a few lines of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .line import Line
from .protocols import LightRows, RunData
from .spectrum import Spectrum


def describe(result: RunData) -> str:
    summary, attributes = result.summary, result.attributes
    biased = summary.get("in_flight", 0) > 0
    counts = ", ".join(
        f"{summary[fate]:,} {fate.replace('_', ' ')}"
        for fate in (*result.photons.fates, "in_flight")
        if fate == "escaped" or summary.get(fate)
    )
    names = ", ".join(
        f"{s.name} ({s.of}, {s.axis}{_reference(s, result.line)}{_observer(s)})" for s in result.spectra.values()
    )
    rows = {
        "run": f"thor {attributes['thor_version']} ({attributes.get('git_commit', '?')}), "
        f"{attributes.get('device', '?')}, {attributes.get('precision', '?')} precision, "
        f"seed {attributes.get('seed', '?')}",
        "photons": f"{summary['photons']:,}: {counts}"
        + ("" if result.complete else f"  [INCOMPLETE{': biased' if biased else ''}]"),
        "luminosity": f"{summary['luminosity_escaped']:.4g} of "
        f"{summary['luminosity_emitted']:.4g} erg/s escaped" + _other_light(summary),
        "work": f"{summary['scatterings']:.4g} scatterings in "
        f"{summary['transport_seconds']:.4g} s on {summary['threads']} threads",
        **({"until": _until(summary)} if "until_output" in summary else {}),
        "spectra": names or "none",
        **({"histograms": ", ".join(repr(h)[1:-1] for h in result.histograms.values())} if result.histograms else {}),
        **({"images": ", ".join(repr(i)[1:-1] for i in result.images.values())} if result.images else {}),
        **({"cubes": ", ".join(repr(c)[1:-1] for c in result.cubes.values())} if result.cubes else {}),
        **({"profiles": ", ".join(repr(p)[1:-1] for p in result.profiles.values())} if result.profiles else {}),
        "records": ", ".join(result.photons.keys()) or (f"in {result.parts} files of ranks" if result.parts else "none"),
        **({"peel": _peel(result.peel)} if result.peel.keys() else {}),
    }
    lines = [*rows.items(), *(("caveat", text) for text in result.caveats)]
    body = "\n".join(f"  {key:<11} {text}" for key, text in lines)
    return f"thor result {result.path}: {result.line.name}\n{body}"


def _until(summary: Mapping[str, Any]) -> str:
    """The error that the run was to reach, and the one that it has."""
    asked, reached = summary["until_error"], summary.get("until_reached")
    has = "unknown: no light" if reached is None else f"{100 * reached:.3g} %"
    verdict = "" if summary["until_met"] else "  [NOT REACHED]"
    return f"error of {summary['until_output']} ({summary['until_of']}): {has}, {100 * asked:.3g} % asked for{verdict}"


def _other_light(summary: Mapping[str, Any]) -> str:
    """Light that neither escaped nor was absorbed by dust in the gas."""
    start = "luminosity_"
    names = [name for name in summary if name.startswith(start) and summary[name]]
    other = [name for name in names if name[len(start) :] not in ("emitted", "escaped", "absorbed")]
    return "".join(f", {summary[name]:.4g} {name[len(start):].replace('_', ' ')}" for name in other)


def _reference(spectrum: Spectrum, line: Line) -> str:
    """Zero point of a spectrum, if that is not the line's first transition."""
    if spectrum.line.wavelength0 == line.wavelength0 or spectrum.axis not in ("x", "velocity"):
        return ""
    return f" about {spectrum.line.wavelength0:.2f} Angstrom"


def _observer(spectrum: Spectrum) -> str:
    """Who sees a spectrum, and of which generator, if not everybody and of all."""
    generator = "" if spectrum.generator is None else f", generator {spectrum.generator}"
    return generator if spectrum.observer is None else f", observer {spectrum.observer}{generator}"


def _peel(rows: LightRows) -> str:
    """Light that was recorded on its way to an observer."""
    return f"{len(rows):,} rows of light for observer {rows.observer}: {', '.join(rows)}"


def duration(seconds: float) -> str:
    """h:mm:ss or m:ss, as thor writes it."""
    whole = int(seconds + 0.5)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"
