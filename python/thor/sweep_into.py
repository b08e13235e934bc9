"""Sweeps in one process and one file, by ``thor sweep``."""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .binary import find_binary
from .child import call
from .configuration import Config, as_file, as_path, as_values, is_path, line_list_of, plain, to_yaml
from .errors import ArgumentError, FailedRunWarning, IncompleteRunWarning, RunError, SweepError, UnreliableRunWarning
from .running import as_launcher
from .sweep_file import SweepFile
from .sweep_index import Parameters, parameters_text

_DONE, _STOPPED, _UNRELIABLE = 0, 5, 7


def sweep_into(
    path: str | os.PathLike[str],
    config: Config,
    parameters: Parameters,
    *,
    set: Mapping[str, Any] | None,
    design: str | None,
    models: int | None,
    seed: int | None,
    precision: str | None,
    overwrite: bool,
    launcher: Sequence[str],
    quiet: bool,
    binary: str | os.PathLike[str] | None,
    options: Mapping[str, Any],
) -> SweepFile:
    """Runs it, and opens the result. A second call after an interruption goes on with what is missing."""
    program = find_binary(binary)
    target = os.path.abspath(as_path(path, "the result of a sweep"))
    values = {**as_values(set), **({} if precision is None else {"precision": precision})}
    if not is_path(config) and (line_list := line_list_of(config, set)) is not None:  # thor reads the configuration in another folder
        values["line_list"] = os.path.abspath(line_list)
    given = plain(parameters)
    if not given or not isinstance(given, (Mapping, list)):
        raise ArgumentError(f"parameters: a dict from keys to values, or a list of such combinations, not {parameters!r}")
    of_models = {"keys": given, "design": design or "grid"} if isinstance(given, Mapping) else {"list": given, "design": design or "list"}
    with as_file(config) as model, tempfile.TemporaryDirectory(prefix="thor-sweep-") as folder:
        about: dict[str, Any] = {"model": os.path.abspath(model), **of_models, "set": values or None, "models": models, "seed": seed, "output": {"path": target}}
        file = Path(folder) / "sweep.yaml"
        file.write_text(to_yaml({key: value for key, value in about.items() if value is not None}, indent=2) + "\n", encoding="utf-8")
        command = [*as_launcher(launcher), program, "sweep", os.fspath(file)]
        command += [word for name, value in options.items() if value is not None for word in (f"--{name}", str(value))]
        command += ["--overwrite"] * overwrite + ["--quiet"] * quiet
        try:
            code, said = call(command, None if quiet else sys.stderr)
        except (OSError, ValueError) as error:  # a null character in an argument
            raise RunError(f"cannot start {command[0]}: {error}", None, command, "") from error
        said = said.replace(os.fspath(file), "sweep")  # the file is gone when this is read
    if code not in (_DONE, _STOPPED, _UNRELIABLE):
        raise RunError.of(code, command, said)
    return _report(SweepFile(target))


def _report(done: SweepFile) -> SweepFile:
    total = len(done) + len(done.failures) + done.missing
    if not len(done):
        why = done.failures[0][1] if done.failures else "it was stopped before the first of them ended"
        raise SweepError(f"{done.path}: there is no model: {why}")
    if done.failures:
        why = "\n".join(f"{parameters_text(p)}: {message}" for p, message in done.failures[:10])
        warnings.warn(f"{done.path}: {len(done.failures)} of {total} models failed\n{why}", FailedRunWarning, stacklevel=4)
    if done.unreliable:
        warnings.warn(f"{done.path}: {done.unreliable} of {total} models lost more than 1 % of their photons", UnreliableRunWarning, stacklevel=4)
    if done.missing:
        warnings.warn(f"{done.path}: {done.missing} of {total} models are missing. The same call goes on with them", IncompleteRunWarning, stacklevel=4)
    return done
