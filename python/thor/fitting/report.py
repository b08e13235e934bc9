"""The page of a fit."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ..drawing import COLORS, paper
from ..errors import optional
from ..line import C_KMS, Floats
from ..replacing import replacing
from .likelihood import EQUIVALENT_WIDTH, REDSHIFT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .fit import Fit

_SIZE = (7.5, 10.6)
_SHOWN = 4000  # samples in a panel
_BAND = 300  # spectra in the band

_LABELS = {
    "dataset.column_density": r"$\log\, N_\mathrm{HI}$ [cm$^{-2}$]",
    "dataset.temperature": r"$\log\, T$ [K]",
    "dataset.dust.tau": r"$\tau_\mathrm{d}$",
    "dataset.velocity.average": r"$v_\mathrm{avg}$ [km s$^{-1}$]",
    "dataset.velocity.max": r"$v_\mathrm{max}$ [km s$^{-1}$]",
    "dataset.velocity.exponent": r"$\alpha_v$",
    "dataset.density.exponent": r"$\alpha_\rho$",
    "dataset.inner_radius": r"$\log\, r_\mathrm{i}$ [kpc]",
    EQUIVALENT_WIDTH: r"$\log\,\mathrm{EW}$ [$\mathrm{\AA}$]",
    REDSHIFT: r"$c\,\Delta z/(1+z)$ [km s$^{-1}$]",
}


def draw(fit: Fit, path: str | os.PathLike[str] | None = None) -> Figure:
    optional("matplotlib")
    from matplotlib.figure import Figure as Plain

    with paper(lambda **options: Plain(figsize=_SIZE, layout="none", **options)) as figure:
        _spectrum(fit, figure)
        _corner(fit, figure)
        _table(fit, figure)
    if path is not None:
        with replacing(path) as partial:
            figure.savefig(partial, format=os.path.splitext(path)[1][1:] or None)
    return figure


def _spectrum(fit: Fit, figure: Figure) -> None:
    ax = figure.add_axes((0.09, 0.80, 0.87, 0.165))
    below = figure.add_axes((0.09, 0.735, 0.87, 0.06), sharex=ax)
    seen, likelihood = fit.likelihood.observation, fit.likelihood
    rest = likelihood.emulator.wavelength0 * (1 + likelihood.redshift)
    v = C_KMS * (seen.wavelength / rest - 1)
    rows = np.random.default_rng(1).choice(len(fit.parts), min(_BAND, len(fit.parts)), replace=False)
    spectra, _ = likelihood.spectra(fit.parts[rows])
    low, high = np.quantile(spectra, [0.025, 0.975], axis=0)
    best_part = max(fit.modes, key=lambda mode: mode.log).best
    best, variance = (s[0] for s in likelihood.spectra(best_part))
    scale = np.max(best)
    ax.step(v, seen.flux / scale, where="mid", color="0.45", lw=0.7, label="observed")
    ax.fill_between(v, low / scale, high / scale, step="mid", color=COLORS[0], alpha=0.35, lw=0, label="models, 95 %")
    ax.step(v, best / scale, where="mid", color=COLORS[0], lw=1.0, label="best model")
    if fit.checks:
        ax.step(v, fit.checks[0].spectrum / scale, where="mid", color=COLORS[1], lw=0.8, ls="--", label="run of thor")
    ax.legend(frameon=False, loc="upper left", ncols=1)
    ax.set_ylabel("flux / peak")
    ax.tick_params(labelbottom=False)
    error = np.sqrt(seen.error**2 + variance)
    below.axhspan(-1, 1, color="0.9", lw=0)
    below.step(v, (seen.flux - best) / error, where="mid", color="0.3", lw=0.7)
    below.set_ylim(-4.5, 4.5)
    below.set_yticks([-3, 0, 3])
    below.set_ylabel("residual [$\\sigma$]")
    below.set_xlabel(f"velocity [km s$^{{-1}}$] at redshift {likelihood.redshift:.5g}")
    below.set_xlim(v[0], v[-1])
    ax.set_title(f"{os.path.basename(seen.name).replace('$', chr(92) + '$')}: $\\chi^2$ = {fit.chi2:.1f} in {len(seen.flux)} pixels, {len(fit.names)} parameters", loc="left")


def _shown(fit: Fit, i: int, parts: Floats) -> Floats:
    p = fit.likelihood.priors[i].parameter
    values = p.value_of(parts[:, i])
    if p.key == REDSHIFT:
        z = fit.likelihood.redshift
        return C_KMS * (values - z) / (1 + z)
    return np.log10(values) if p.log else values


def _label(fit: Fit, i: int) -> str:
    p = fit.likelihood.priors[i].parameter
    if p.key in _LABELS:
        label = _LABELS[p.key]
        return label if p.log or "log" not in label else label.replace("\\log\\,", "").replace("\\log", "")
    name = p.key.split(".")[-1].replace("_", " ")
    if p.key.endswith("spectrum.sigma"):
        name = r"$\sigma$"
    unit = f" [{p.unit.replace('km/s', 'km s$^{-1}$')}]" if p.unit else ""
    return f"log {name}{unit}" if p.log else f"{name}{unit}"


def _corner(fit: Fit, figure: Figure) -> None:
    count = len(fit.names)
    rows = np.random.default_rng(2).choice(len(fit.parts), min(_SHOWN, len(fit.parts)), replace=False)
    x = np.stack([_shown(fit, i, fit.drawn) for i in range(count)], axis=1)
    few, bins = x[rows], 40
    limits = [_limits(x[:, i]) for i in range(count)]
    best = np.array([_shown(fit, i, max(fit.modes, key=lambda mode: mode.log).best[None, :])[0] for i in range(count)])
    left, bottom, size = 0.10, 0.065, 0.62
    width, height = 0.86 / count, size / count
    for i in range(count):
        for j in range(i + 1):
            ax = figure.add_axes((left + j * width, bottom + (count - 1 - i) * height, width * 0.95, height * 0.93))
            ax.set_xlim(*limits[j])
            if i == j:
                ax.hist(x[:, i], bins=np.linspace(*limits[i], bins), color=COLORS[0], alpha=0.6, density=True)
                for q in np.quantile(x[:, i], [0.16, 0.5, 0.84]):
                    ax.axvline(q, color="0.3", lw=0.5, ls=":")
                ax.axvline(best[i], color=COLORS[1], lw=0.7)
                ax.set_yticks([])
            else:
                _pair(ax, x[:, j], x[:, i], few[:, j], few[:, i], limits[j], limits[i])
                ax.plot(best[j], best[i], "+", color=COLORS[1], ms=5)
                ax.set_ylim(*limits[i])
            _ticks(ax, fit, i, j, count)


def _ticks(ax: Axes, fit: Fit, i: int, j: int, count: int) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.tick_params(labelsize=6, length=2, pad=1.5)
    ax.xaxis.set_major_locator(MaxNLocator(3, prune="both"))
    if i != j:
        ax.yaxis.set_major_locator(MaxNLocator(3, prune="both"))
    if i == count - 1:
        ax.set_xlabel(_label(fit, j), fontsize=7)
        ax.tick_params(axis="x", rotation=40)
    else:
        ax.tick_params(labelbottom=False)
    if j == 0 and i > 0:
        ax.set_ylabel(_label(fit, i), fontsize=7)
    else:
        ax.tick_params(labelleft=False)


def _pair(ax: Axes, x: Floats, y: Floats, few_x: Floats, few_y: Floats, x_range: Any, y_range: Any) -> None:
    """Regions with 39 and 86 % of the samples, the 1 and 2 sigma of a Gaussian in two dimensions."""
    counts, a, b = np.histogram2d(x, y, bins=(24, 24), range=(x_range, y_range))
    smooth = counts
    for axis in (0, 1):
        padded = np.pad(smooth, [(1, 1) if k == axis else (0, 0) for k in (0, 1)])
        smooth = 0.25 * np.take(padded, range(0, 24), axis) + 0.5 * np.take(padded, range(1, 25), axis) + 0.25 * np.take(padded, range(2, 26), axis)
    order = np.sort(smooth.ravel())[::-1]
    total = np.cumsum(order) / max(order.sum(), 1)
    levels = sorted({float(order[min(int(np.searchsorted(total, share)), len(order) - 1)]) for share in (0.393, 0.865)})
    ax.plot(few_x, few_y, ",", color="0.6", alpha=0.3)
    if levels and levels[0] > 0:
        ax.contour(0.5 * (a[1:] + a[:-1]), 0.5 * (b[1:] + b[:-1]), smooth.T, levels=levels, colors=[COLORS[0]], linewidths=0.8)


def _limits(x: Floats) -> tuple[float, float]:
    low, high = np.quantile(x, [0.002, 0.998])
    margin = 0.05 * (high - low) + 1e-12
    return float(low - margin), float(high + margin)


def _table(fit: Fit, figure: Figure) -> None:
    """In the free corner: parameters, and right of the diagonal what else there is to know."""
    count = len(fit.names)
    step, top = min(0.0165, 0.30 / (count + 1)), 0.678
    for i in range(count):
        values = _shown(fit, i, fit.drawn)
        middle, low, high = np.quantile(values, [0.5, 0.16, 0.84])
        digits = int(np.clip(1 - np.floor(np.log10(max(high - low, 1e-9))), 0, 6))
        text = f"{_label(fit, i)}  =  ${middle:.{digits}f}^{{+{high - middle:.{digits}f}}}_{{-{middle - low:.{digits}f}}}$"
        _write(figure, count, top - i * step, text, 8.0)
    lines = []
    for number, mode in enumerate(fit.modes[:4], 1):
        lines.append((f"mode {number}: {100 * mode.share:.0f} $\\pm$ {100 * mode.share_error:.0f} %, ln posterior {mode.log:.1f}", "black"))
        if number <= len(fit.checks):
            check = fit.checks[number - 1]
            lines.append((f"   run of thor: $\\chi^2$ = {check.chi2:.1f}, {100 * check.largest:.1f} % from the emulator", "black"))
    if fit.chains is not None:
        lines.append((f"R-hat at most {np.max(fit.chains.r_hat):.3f}, {len(fit.chains.parts) / np.max(fit.chains.autocorrelation):.0f} autocorrelation times", "black"))
    lines.append((f"ln evidence {fit.evidence:.1f}", "black"))
    for text in fit.warnings[:6]:
        lines += [(line, COLORS[1]) for line in _wrapped(text, 52)]
    step = min(0.0125, 0.24 / len(lines))
    for number, (text, colour) in enumerate(lines):
        figure.text(0.64, top - number * step, text, fontsize=6.5, va="center", color=colour)


def _write(figure: Figure, count: int, y: float, text: str, size: float) -> None:
    """Right of the corner plot, whose rows end further right the lower they are."""
    row = np.floor((0.685 - y) / (0.62 / count)) + 1
    figure.text(0.115 + 0.86 * max(row, 1) / count, y, text, fontsize=size, va="center")


def _wrapped(text: str, width: int) -> list[str]:
    found = [""]
    for word in text.split():
        if len(found[-1]) + len(word) > width:
            found.append("  ")
        found[-1] += word + " "
    return found
