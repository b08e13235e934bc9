"""Runs of thor from Python."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from .binary import find_binary
from .child import call
from .configuration import Config, as_file, as_path, as_values, is_path, line_list_of, output_of, overrides
from .errors import ArgumentError, RunError
from .result import kind_of

_DONE, _STOPPED, _UNRELIABLE = 0, 5, 7


def as_launcher(words: Sequence[str]) -> list[str]:
    """The words before a command; an error if they are one text, whose letters would be taken for them."""
    if isinstance(words, str):
        raise ArgumentError(f"launcher: a list of words is expected, as in {words.split()!r}")
    return [str(word) for word in words]


def run(
    config: Config,
    output: str | os.PathLike[str] | None = None,
    *,
    set: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    threads: int | None = None,
    device: str | None = None,
    precision: str | None = None,
    seed: int | None = None,
    max_walltime: float | None = None,
    drain: float | None = None,
    checkpoint: float | None = None,
    restart: str | os.PathLike[str] | None = None,
    launcher: Sequence[str] = (),
    progress: str = "auto",
    quiet: bool = False,
    binary: str | os.PathLike[str] | None = None,
) -> Any:
    """Runs thor and opens its result: a :class:`Result`, or a :class:`RayResult` of the raytracing driver.

    ``config`` is the path of a configuration, a dict of its keys, or its text (a string with a newline). Numbers with a
    unit are text, as in YAML ("10 kpc"), or astropy quantities. ``set`` overrides keys: ``{"dataset.tau0": 1e7}``. The
    result goes to ``output``, or to the configuration's ``output.path``; one of them is required. ``output`` is
    relative to the current folder; ``output.path`` and ``line_list`` from the folder of the configuration, or from the
    current one for a dict or text. An existing file is an error unless ``overwrite`` is true.

    ``restart`` goes on from a result that was cut, or from a checkpoint (``checkpoint``: seconds between them), of the same
    configuration; ``output`` may be that file. ``launcher`` starts thor on several ranks: ``["mpirun", "-n", "4"]``.

    The other arguments are the options of ``thor run``, with its defaults. Progress is shown on
    ``sys.stderr``: a live line on a terminal, otherwise (a notebook, a log) a line every ten seconds; none with
    ``progress="never"``. ``quiet`` leaves only warnings. ``binary`` is the thor command; :func:`thor.find_binary`
    describes how it is found otherwise.

    Raises :class:`RunError` if there is no result. A run that was stopped early (by a signal or by
    ``max_walltime``) is returned, with an :class:`IncompleteRunWarning`; one that lost more than
    1 % of its photons with an :class:`UnreliableRunWarning`. Ctrl-C stops thor, which
    writes what it has, marked as incomplete; then KeyboardInterrupt is raised. A second Ctrl-C
    stops it at once, without a result.
    """
    program = find_binary(binary)
    in_config = output_of(config, set)
    wanted = in_config if output is None else as_path(output, "output")
    if wanted is None:
        raise ArgumentError(
            "where should the result go? Give output='NAME.h5', or output.path in the configuration"
        )
    target = os.path.abspath(wanted)
    values = as_values(set)
    if in_config is None:
        values["output.path"] = os.path.basename(target)  # thor requires it even with -o
    line_list = None if is_path(config) else line_list_of(config, set)
    if line_list is not None:  # thor will read the configuration in a temporary folder
        values["line_list"] = os.path.abspath(line_list)
    options = {
        "--threads": threads,
        "--device": device,
        "--precision": precision,
        "--seed": seed,
        "--max-walltime": max_walltime,
        "--drain": drain,
        "--checkpoint": checkpoint,
        "--restart": None if restart is None else os.path.abspath(as_path(restart, "restart")),
        "--progress": None if progress == "auto" else progress,
    }
    flags = {"--overwrite": overwrite, "--quiet": quiet}
    with as_file(config) as path:
        command = [*as_launcher(launcher), program, "run", path, *overrides(values), "--output", target]
        for name, value in options.items():
            command += [] if value is None else [name, str(value)]
        command += [name for name, wanted in flags.items() if wanted]
        try:
            code, said = call(command, None if quiet else sys.stderr)
        except (OSError, ValueError) as error:  # a null character in an argument
            raise RunError(f"cannot start {command[0]}: {error}", None, command, "") from error
        if not is_path(config):
            said = said.replace(path, "config")  # the file is gone when this is read
    if code not in (_DONE, _STOPPED, _UNRELIABLE):
        raise RunError.of(code, command, said)
    if quiet and said and sys.stderr is not None:
        sys.stderr.write(said)
    return kind_of(target)(target)

