"""``python3 -m thor emulate`` and ``python3 -m thor fit``."""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ArgumentError, optional
from ..replacing import replacing, require_place
from .emulator import Emulator, progress
from .fit import fit
from .models import Models, Photons, has_photons, load, load_photons

_SLOW = 3e9  # operations per second

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]


def add(commands: Commands) -> None:
    emulate = commands.add_parser("emulate", help="learn the spectra between the models of a sweep, for fits")
    emulate.add_argument("file", help="result of thor sweep: the models to learn from")
    emulate.add_argument("--test", required=True, metavar="FILE", help="another sweep over the same ranges, with more photons: errors are measured with it")
    emulate.add_argument("-o", "--output", required=True, metavar="FILE", help="emulator to write")
    emulate.add_argument("--steps", type=int, default=None, help="of learning; more take longer, and may be better")
    emulate.add_argument("--seed", type=int, default=1)
    emulate.add_argument("--overwrite", action="store_true", help="replace an emulator of this name")
    add_fit(commands)


def add_fit(commands: Commands) -> None:
    one = commands.add_parser("fit", help="fit an observed spectrum with the models of a sweep", description="Fits a spectrum: -o fit.h5 gives fit.h5 (samples, chains, modes), fit.pdf and fit.png (a page) and fit.yaml (the best model, for thor run).")
    one.add_argument("file", help="spectrum: text with columns of wavelength, flux and error, .ecsv or .fits")
    one.add_argument("--model", required=True, metavar="FILE", help="emulator, of python3 -m thor emulate")
    one.add_argument("-o", "--output", default="fit.h5", metavar="FILE", help="result (fit.h5)")
    one.add_argument("--z", required=True, metavar="Z[,ERROR]", help="redshift, its error if it is not exact, or free")
    one.add_argument("--z-range", type=_pair, metavar="LOW,HIGH", help="of the redshift; default: 5 errors to either side, or where the spectrum is")
    one.add_argument("--lsf", required=True, metavar="R|FILE", help="resolving power, or a file with columns of wavelength and full width at half maximum [Angstrom]; 0: none")
    one.add_argument("--unit", help="of wavelengths, if the file does not say it: Angstrom (default), nm, um")
    one.add_argument("--air", action="store_true", help="wavelengths are those in air")
    one.add_argument("--mask", type=_pair, action="append", default=[], metavar="LOW,HIGH", help="wavelengths to leave out; may be given several times")
    one.add_argument("--covariance", metavar="FILE", help="matrix of the fluxes, text or .npy, in place of the errors")
    one.add_argument("--igm", metavar="FILE", help="transmission of the intergalactic medium: columns of velocity [km/s] and transmission")
    one.add_argument("--continuum-subtracted", action="store_true", help="the spectrum is without its continuum")
    one.add_argument("--ew", type=_pair, default=(1.0, 1000.0), metavar="LOW,HIGH", help="range of the intrinsic equivalent width at rest [Angstrom] (1,1000)")
    one.add_argument("--prior", type=_prior, action="append", default=[], metavar="KEY=LOW,HIGH", help="narrower range of a parameter, in its unit; may be given several times")
    one.add_argument("--walkers", type=int, default=300, help="of emcee (300)")
    one.add_argument("--steps", type=int, default=3000, help="of emcee (3000)")
    one.add_argument("--burn", type=int, default=300, help="steps before those (300)")
    one.add_argument("--seed", type=int, default=1)
    one.add_argument("--rerun", type=int, default=3, metavar="N", help="modes that thor runs again, to check the emulator (3)")
    one.add_argument("--overwrite", action="store_true", help="replace results of this name")


def run(arguments: argparse.Namespace) -> None:
    """Errors are raised."""
    _warn_of_slow_matrices()
    (_emulate if arguments.command == "emulate" else _fit)(arguments)


def _emulate(arguments: argparse.Namespace) -> None:
    _require_free([arguments.output], [arguments.file, arguments.test], arguments.overwrite)
    options = {} if arguments.steps is None else {"steps": arguments.steps}
    models: Models | Photons = load_photons(arguments.file) if has_photons(arguments.file) else load(arguments.file)
    made = Emulator.of(models, load(arguments.test), seed=arguments.seed, tell=progress, **options)
    progress("")
    made.save(arguments.output)
    _say(made.describe())
    if made.is_coarse:
        _say("warning: this is coarse: intervals of fits will be wider than they could be; learn from more models, or narrower ranges")
    _say(f"wrote {arguments.output}")


def _fit(arguments: argparse.Namespace) -> None:
    stem, ending = os.path.splitext(arguments.output)
    if ending not in (".h5", ".hdf5"):
        raise ArgumentError(f"-o {arguments.output}: a name that ends in .h5; the page and the best model have the same one with .pdf, .png and .yaml")
    names = [arguments.output, *(stem + ending for ending in (".pdf", ".png", ".yaml"))]
    inputs = [arguments.file, arguments.model, *(name for name in (arguments.covariance, arguments.igm, arguments.lsf) if name and os.path.exists(name))]
    _require_free(names, inputs, arguments.overwrite)
    if arguments.overwrite and os.path.exists(names[3]) and not os.path.exists(names[0]):
        raise ArgumentError(f"{names[3]} is not of a fit, since there is no {names[0]}: give another name to -o")
    optional("matplotlib")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are in the text
        found = fit(
            arguments.file, arguments.model, redshift=_redshift(arguments.z), redshift_range=arguments.z_range, lsf=arguments.lsf,
            unit=arguments.unit, air=arguments.air, mask=arguments.mask, covariance=arguments.covariance, igm=arguments.igm,
            continuum=not arguments.continuum_subtracted, equivalent_width=arguments.ew, priors=arguments.prior,
            walkers=arguments.walkers, steps=arguments.steps, burn=arguments.burn, seed=arguments.seed, rerun=arguments.rerun, tell=progress,
        )  # fmt: skip
    progress("")
    found.save(names[0])
    with replacing(names[3]) as partial, open(partial, "w", encoding="utf-8") as file:
        file.write(found.best_configuration)
    for name in names[1:3]:
        found.plot(name)
    _say(f"wrote {', '.join(names)} in {found.seconds:.0f} s")
    print(found, flush=True)


def _warn_of_slow_matrices() -> None:
    """The reference BLAS takes thirty times as long as others."""
    matrix = np.ones((256, 256), np.float32)
    times = []
    for _ in range(3):
        begun = time.perf_counter()
        matrix @ matrix
        times.append(time.perf_counter() - begun)
    rate = 2 * 256**3 / min(times)
    if rate < _SLOW:
        _say(f"warning: numpy multiplies matrices at {rate / 1e9:.1f} Gflop/s only: with OpenBLAS (Debian: libopenblas0) this takes a small part of the time")


def _say(text: str) -> None:
    print(f"thor: {text}", file=sys.stderr)


def _require_free(names: list[str], inputs: list[str], overwrite: bool) -> None:
    """Before long work: results can be written, and are not what is read."""
    require_place(names[0])
    read = {os.path.realpath(name) for name in inputs}
    for name in names:
        if os.path.realpath(name) in read:
            raise ArgumentError(f"{name} would be written, and is read: give another name to -o")
    there = [name for name in names if os.path.exists(name)]
    if there and not overwrite:
        raise FileExistsError(17, f"it exists: give another name, or --overwrite: {there[0]}")


def _pair(text: str) -> tuple[float, float]:
    low, _, high = text.partition(",")
    try:
        found = float(low), float(high)
    except ValueError:
        raise argparse.ArgumentTypeError(f"two numbers are expected, LOW,HIGH, not {text!r}") from None
    if not found[0] < found[1]:
        raise argparse.ArgumentTypeError(f"{text}: the lower end comes first")
    return found


def _prior(text: str) -> tuple[str, float, float]:
    key, _, ends = text.partition("=")
    return (key, *_pair(ends))


def _redshift(text: str) -> float | tuple[float, float] | str:
    if text == "free":
        return text
    z, _, error = text.partition(",")
    try:
        return float(z), float(error or 0)
    except ValueError:
        raise ArgumentError(f"--z {text}: a number, a number and its error, or free") from None
