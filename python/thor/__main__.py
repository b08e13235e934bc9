"""``python3 -m thor info FILE`` and ``python3 -m thor plot FILE -o out.png``."""

from __future__ import annotations

import argparse
import sys
import warnings

from .errors import Error, ResultError
from .line import AXIS_UNITS
from .plot import PAPER, plot_spectrum
from .result import Result
from .result import open as open_result

# The exit codes of the thor command.
DONE, USAGE, INPUT, OUTPUT = 0, 2, 3, 6


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python3 -m thor", description="Inspect results of thor.")
    commands = parser.add_subparsers(dest="command", required=True)
    info = commands.add_parser("info", help="print the contents of a result file")
    info.add_argument("file")
    info.add_argument("--config", action="store_true", help="print the run's configuration instead")
    plot = commands.add_parser("plot", help="draw the spectra of a result file, an image or a profile")
    plot.add_argument("file")
    plot.add_argument("-o", "--output", required=True, help="figure to write: .png, .pdf, ...")
    plot.add_argument("--axis", choices=AXIS_UNITS, help="default: as in the file")
    plot.add_argument("--name", help="one spectrum, image, cube or profile (default: all spectra of escaped photons in all directions)")
    plot.add_argument("--normalize", action="store_true", help="divide by the luminosity")
    return parser


def _plot(result: Result, arguments: argparse.Namespace) -> None:
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(PAPER):
        figure = Figure()
        if arguments.name in result.profiles:
            result.profiles[arguments.name].plot(figure.add_subplot())
            figure.savefig(arguments.output)
            return
        if arguments.name in result.images or arguments.name in result.cubes:
            image = result.images.get(arguments.name) or result.cubes[arguments.name].image()
            image.plot(figure.add_subplot())
            figure.savefig(arguments.output)
            return
        plot_spectrum(
            result,
            figure.add_subplot(),
            axis=arguments.axis,
            name=arguments.name,
            normalize=arguments.normalize,
        )
        figure.savefig(arguments.output)


def _say(text: object) -> None:
    print(f"thor: {text}", file=sys.stderr)


def main(argv: list[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: _say(f"warning: {message}")
        try:
            result = open_result(arguments.file)
        except ResultError as error:
            _say(error)
            return INPUT
    with result:
        if arguments.command == "info":
            print(result.config if arguments.config else result)
            return DONE
        try:
            _plot(result, arguments)
        except OSError as error:
            _say(f"cannot write '{arguments.output}': {error.strerror or error}")
            return OUTPUT
        except (Error, ValueError, ImportError) as error:
            _say(error)
            return USAGE
    return DONE


if __name__ == "__main__":
    sys.exit(main())
