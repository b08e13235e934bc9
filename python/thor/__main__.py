"""``python3 -m thor info FILE``, ``plot FILE -o out.png``, ``emulate SWEEP`` and ``fit SPECTRUM``."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from .drawing import ROW, WIDE, finish, paper
from .errors import ArgumentError, Error, MissingError, ResultError
from .fitting import command as fitting
from .line import AXIS_UNITS
from .plot import plot_spectrum
from .ray_result import RayResult
from .rays import Absorption, Picture, RayImage, Traces
from .replacing import replacing
from .result import Result
from .result import open as open_result
from .sky import Moments
from .sweep_file import SweepFile

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The exit codes of the thor command.
DONE, USAGE, INPUT, STOPPED, OUTPUT = 0, 2, 3, 5, 6


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python3 -m thor", description="Inspect results of thor.")
    commands = parser.add_subparsers(dest="command", required=True)
    info = commands.add_parser("info", help="print the contents of a result file")
    info.add_argument("file")
    info.add_argument("--config", action="store_true", help="print the run's configuration instead")
    plot = commands.add_parser("plot", help="draw the spectra of a result file, or any of its products")
    plot.add_argument("file")
    plot.add_argument("-o", "--output", required=True, help="figure to write: .png, .pdf, ...")
    plot.add_argument("--axis", choices=AXIS_UNITS, help="of spectra; default: as in the file")
    plot.add_argument("--name", help="one spectrum, histogram, image, cube, profile, absorption or trace (default: all spectra of escaped photons in all directions; all that rays found)")
    plot.add_argument("--normalize", action="store_true", help="divide spectra by their luminosity")
    plot.add_argument("--field", help="of a trace of rays (default: its first)")
    plot.add_argument("--sightline", type=int, metavar="I", help="of absorption and traces of rays (default: the first ones)")
    plot.add_argument("--along", metavar="AXIS[,AXIS]", help="axes of a histogram; it is summed over the others")
    plot.add_argument("--moment", choices=Moments._fields, help="of a cube, in place of the sum of its channels")
    plot.add_argument("--no-caveats", dest="caveats", action="store_false", help="leave out the line about noise, lost photons and light beyond the range")
    fitting.add(commands)
    return parser


def _draw(result: Result, arguments: argparse.Namespace, ax: Axes) -> None:
    name = arguments.name
    spectra = name is None or name in result.spectra
    _check_options(arguments, spectra, name in result.histograms)
    if arguments.moment is not None and name not in result.cubes:
        raise ArgumentError("--moment is for cubes: name one with --name")
    if arguments.field is not None or arguments.sightline is not None:
        raise ArgumentError(f"--{'sightline' if arguments.field is None else 'field'} is for results of rays: leave it out")
    if spectra:
        plot_spectrum(result, ax, axis=arguments.axis, name=name, normalize=arguments.normalize, caveats=arguments.caveats)
    elif name in result.histograms:
        histogram = result.histograms[name]
        (histogram.along(*arguments.along.split(",")) if arguments.along else histogram).plot(ax, caveats=arguments.caveats)
    elif name in result.profiles:
        result.profiles[name].plot(ax, caveats=arguments.caveats)
    elif name in result.images:
        result.images[name].plot(ax, caveats=arguments.caveats)
    elif name in result.cubes:
        result.cubes[name].plot(ax, moment=arguments.moment, caveats=arguments.caveats)
    else:
        kinds: dict[str, Iterable[str]] = {
            "spectrum": result.spectra, "histogram": result.histograms, "image": result.images, "cube": result.cubes,
            "profile": result.profiles,
        }  # fmt: skip
        known = ", ".join(f"{name} ({kind})" for kind, products in kinds.items() for name in products)
        raise MissingError(f"--name {name}: there is no such product; available are {known or 'none'}")


def _draw_rays(result: RayResult, arguments: argparse.Namespace, figure: Figure) -> None:
    """One product of a result of rays, or all of them, each in axes of its own."""
    kinds: dict[str, Mapping[str, RayImage | Picture | Absorption | Traces]] = {
        "image": result.images, "absorption": result.absorption, "trace": result.traces,
    }  # fmt: skip
    known = {name: product for products in kinds.values() for name, product in products.items()}
    if arguments.name is not None and arguments.name not in known:
        listed = ", ".join(f"{name} ({kind})" for kind, products in kinds.items() for name in products)
        raise MissingError(f"--name {arguments.name}: there is no such product; available are {listed or 'none'}")
    for option, given in (("--axis", arguments.axis), ("--normalize", arguments.normalize), ("--along", arguments.along), ("--moment", arguments.moment)):
        if given:
            raise ArgumentError(f"{option} is not for results of rays: leave it out")
    chosen = list(known.values()) if arguments.name is None else [known[arguments.name]]
    if arguments.field is not None and not any(isinstance(product, Traces) for product in chosen):
        raise ArgumentError("--field is for traces, and none is drawn: leave it out")
    if arguments.sightline is not None and not any(isinstance(product, (Absorption, Traces)) for product in chosen):
        raise ArgumentError("--sightline is for absorption and traces, and none is drawn: leave it out")
    if not chosen:
        raise MissingError(f"{result.path}: the run kept nothing to draw")
    columns = min(len(chosen), 2)
    rows = -(-len(chosen) // columns)
    for place, product in enumerate(chosen, 1):
        ax = figure.add_subplot(rows, columns, place)
        if isinstance(product, (Absorption, Traces)):
            first = list(range(min(len(product), 2)))
            which = first if arguments.sightline is None else [arguments.sightline]
            if isinstance(product, Absorption):
                product.plot(which, ax, caveats=arguments.caveats)
            else:
                product.plot(arguments.field or next(iter(product[0])), which, ax, caveats=arguments.caveats)
            if columns > 1:
                ax.set_title(product.name)
        else:
            product.plot(ax, caveats=arguments.caveats)
    if columns > 1:
        figure.set_size_inches(WIDE, ROW * rows)


def _check_options(arguments: argparse.Namespace, spectra: bool, histogram: bool) -> None:
    """An option that the product does not have is not ignored."""
    for option, given in (("--axis", arguments.axis is not None), ("--normalize", arguments.normalize)):
        if given and not spectra:
            raise ArgumentError(f"{option} is for spectra, which {arguments.name} is not: leave it out")
    if arguments.along is not None and not histogram:
        raise ArgumentError("--along is for histograms: name one with --name")


def _save(figure: Figure, path: str) -> None:
    from matplotlib import rcParams

    if os.path.isdir(path):
        raise ArgumentError(f"-o {path}: it is a directory; give the name of a picture in it")
    if not os.path.splitext(path)[1]:
        path += "." + rcParams["savefig.format"]
    with replacing(path) as partial:
        figure.savefig(partial, format=os.path.splitext(path)[1][1:])


def _plot(result: Result | RayResult | SweepFile, arguments: argparse.Namespace) -> None:
    from matplotlib.figure import Figure

    if isinstance(result, SweepFile):
        raise ArgumentError(f"{result.path}: the result of a sweep: draw it in Python with thor.plot_sweep(thor.open({result.path!r}), {result.varied[0]!r})")

    with paper(Figure) as figure:
        if isinstance(result, RayResult):
            _draw_rays(result, arguments, figure)
        else:
            _draw(result, arguments, figure.add_subplot())
        finish(figure)
        _save(figure, arguments.output)


def _say(text: object) -> None:
    print(f"thor: {text}", file=sys.stderr)


def _print(text: str) -> int:
    """Prints to a reader who may not wait for the end (head, less); a disk may be full."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python says so again at its end
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _say(f"cannot write: {error.strerror or error}")
        return OUTPUT
    return DONE


def _code_of(work: Callable[[], None], output: str) -> int:
    """Of what cannot be done, with a line that says why."""
    try:
        work()
    except ResultError as error:
        _say(error)
        return INPUT
    except OSError as error:
        _say(f"cannot write '{output}': {error.strerror or error}")
        return OUTPUT
    except (Error, ValueError, ImportError) as error:
        _say(error)
        return USAGE
    except KeyboardInterrupt:
        _say("stopped: nothing was written")
        return STOPPED
    return DONE


def main(argv: list[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    if arguments.command in ("emulate", "fit"):
        return _code_of(lambda: fitting.run(arguments), arguments.output)
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: _say(f"warning: {message}")
        try:
            result = open_result(arguments.file)
        except ResultError as error:
            _say(error)
            return INPUT
    with result:
        if arguments.command == "info":
            return _print(result.config if arguments.config else str(result))
        return _code_of(lambda: _plot(result, arguments), arguments.output)


if __name__ == "__main__":
    sys.exit(main())
