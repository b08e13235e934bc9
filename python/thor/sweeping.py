"""Many runs from a grid of parameters."""

from __future__ import annotations

import contextlib
import os
import sys
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .binary import find_binary
from .configuration import Config, as_path, as_values, line_list_of, text_of
from .describe import duration
from .errors import (
    ArgumentError,
    FailedRunWarning,
    IncompleteRunWarning,
    ResultError,
    RunError,
    SweepError,
    UnreliableRunWarning,
)
from .running import as_launcher, run
from .sweep_file import SweepFile
from .sweep_into import sweep_into
from .sweep_index import Entry, Index, Parameters, combinations, digest, file_names, parameters_text
from .sweep_results import Sweep
from .sweep_resume import doubts, find, is_done, resume

_USAGE, _INPUT = 2, 3


def sweep(
    config: Config,
    parameters: Parameters,
    folder: str | os.PathLike[str] = "sweep",
    *,
    set: Mapping[str, Any] | None = None,
    threads: int | None = None,
    device: str | None = None,
    precision: str | None = None,
    seed: int | None = None,
    max_walltime: float | None = None,
    drain: float | None = None,
    checkpoint: float | None = None,
    launcher: Sequence[str] = (),
    progress: str = "auto",
    quiet: bool = False,
    binary: str | os.PathLike[str] | None = None,
    design: str | None = None,
    models: int | None = None,
    overwrite: bool = False,
) -> Sweep | SweepFile:
    """Runs a configuration for many values of its keys, one result file each in ``folder``; or, if that ends in ``.h5`` or ``.zarr``,
    all in one process and one file, as ``thor sweep`` does, which keeps spectra and raw photons alone: see :class:`SweepFile`.

    ``parameters`` maps keys to lists of values, of which every combination is run, or is a list of
    combinations:

        thor.sweep("shell.yaml", {"dataset.tau0": [1e4, 1e5], "dataset.dust.tau": [0, 0.1]})
        thor.sweep("shell.yaml", [{"dataset.tau0": 1e4}, {"dataset.tau0": 1e6, "seed": 2}])

    Repeating the call runs only what is missing: an interrupted sweep is resumed, one with more values runs the new
    ones, and runs that failed are repeated. One that was interrupted goes on from what it has written, or from its last
    checkpoint (``checkpoint``), where that can be (it holds no raw photons, and none were in flight); else it is
    repeated, too. Existing results are used only if the configuration
    (its text, and that of its line list), ``set``, ``precision`` and ``seed`` are unchanged: otherwise nothing is run,
    nothing is overwritten, and :class:`SweepError` is raised. Then choose another folder, or delete this one. Results
    of an older thor count as done.

    A run that fails does not end the sweep: it is in ``failures`` of the returned sweep, and a
    :class:`FailedRunWarning` reports it. If all fail, :class:`SweepError` is raised.
    ``index.json`` in the folder records the requested sweep and the content of each file; ``Sweep(folder)``
    opens it later. All runs have the same seed unless it is one of the parameters, so their noise
    is not independent. The other arguments are those of :func:`thor.run`, for each run.

    In one file each model has a seed of its own, and models may be drawn from ranges:

        thor.sweep("shell.yaml", {"dataset.tau0": {"range": [1e4, 1e7], "spacing": "log"}}, "shells.h5", design="sobol", models=256)

    ``design``, ``models`` and ``overwrite`` are for this alone; docs/sweeps.md describes them.
    """
    if as_path(folder, "folder").suffix in (".h5", ".zarr"):
        if checkpoint is not None:
            raise ArgumentError("checkpoint: a sweep in one file keeps each model: leave it out")
        return sweep_into(
            folder, config, parameters, set=set, design=design, models=models, seed=seed, precision=precision, overwrite=overwrite,
            launcher=launcher, quiet=quiet, binary=binary,
            options={"threads": threads, "device": device, "max-walltime": max_walltime, "drain": drain, "progress": None if progress == "auto" else progress},
        )  # fmt: skip
    if design is not None or models is not None or overwrite:
        raise ArgumentError("design, models and overwrite are for a sweep in one file: give its name, as in 'shells.h5'")
    options = {
        "threads": threads,
        "device": device,
        "precision": precision,
        "seed": seed,
        "max_walltime": max_walltime,
        "drain": drain,
        "checkpoint": checkpoint,
        "launcher": as_launcher(launcher),
        "progress": progress,
        "quiet": quiet,
        "binary": find_binary(binary),
    }
    chosen = combinations(parameters)
    for key, value in (("precision", precision), ("seed", seed)):
        if value is not None and any(key in combination for combination in chosen):
            raise ArgumentError(f"{key} is one of the parameters: do not give it as an argument as well")
    base = {"config": text_of(config), "set": as_values(set), "precision": precision, "seed": seed}
    line_list = line_list_of(config, set)
    folder = as_path(folder, "folder")
    try:
        if line_list is not None and line_list.is_file():
            base["line_list"] = line_list.read_text(encoding="utf-8", errors="replace")
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SweepError(f"{folder}: no folder for a sweep: {error}") from error
    with _alone_in(folder):
        index = resume(folder, base)
        entries = [find(index, name, p) for name, p in zip(file_names(chosen), chosen)]
        todo = [entry for entry in entries if not is_done(folder, entry)]
        index.runs.update({entry.file: entry for entry in entries})
        index.save()
        _Runs(index, config, set, options).run(todo, len(entries))
    return _report(Sweep(folder, entries))


@contextlib.contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Locks the folder: two sweeps in one would overwrite each other's index."""
    import fcntl

    try:
        lock = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise SweepError(f"{folder}: no folder for a sweep: {error}") from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SweepError(f"{folder}: another sweep is running in this folder") from None
        except OSError:
            pass  # a file system without locks
        yield
    finally:
        os.close(lock)


class _Runs:
    """The runs of a sweep, one after the other: each has all processors to itself."""

    def __init__(
        self,
        index: Index,
        config: Config,
        set: Mapping[str, Any] | None,
        options: dict[str, Any],
    ):
        self._index = index
        self._config = config
        self._set = set or {}
        self._options = options

    def _say(self, text: str) -> None:
        if not self._options["quiet"] and sys.stderr is not None:
            print(f"thor: sweep: {text}", file=sys.stderr, flush=True)

    def run(self, todo: list[Entry], asked: int) -> None:
        there, start = asked - len(todo), time.monotonic()
        if there:
            self._say(f"{there} of {asked} runs already exist")
        for i, entry in enumerate(todo):
            left = (time.monotonic() - start) / i * (len(todo) - i) if i else None
            time_left = "" if left is None else f"; {duration(left)} left"
            self._say(f"{there + i + 1} of {asked}: {parameters_text(entry.parameters)}{time_left}")
            self._one(entry)

    def _one(self, entry: Entry) -> None:
        if text_of(self._config) != self._index.base["config"]:
            raise SweepError("the configuration was changed while the sweep was running")
        path = self._index.folder / entry.file
        goes_on = entry.state == "incomplete"
        entry.state, entry.message, entry.config_sha256 = "started", "", ""
        self._index.save()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", IncompleteRunWarning)
                warnings.simplefilter("ignore", UnreliableRunWarning)
                values = {**self._set, **entry.parameters}
                with self._result(values, path, goes_on) as result:
                    entry.state = "complete" if result.complete else "incomplete"
                    entry.config_sha256 = digest(result.config)
                    entry.message = doubts(result)
        except (RunError, ResultError) as error:
            entry.state, entry.message = "failed", str(error)
            self._say(f"failed: {error}")
        except KeyboardInterrupt:
            entry.state = "incomplete" if path.exists() else "planned"
            raise
        finally:
            self._index.save()

    def _result(self, values: dict[str, Any], path: Path, goes_on: bool) -> Any:
        """Runs what is missing of a result, or all of it."""
        if goes_on:
            try:
                return run(self._config, path, set=values, restart=path, **self._options)
            except RunError as error:
                if error.code not in (_USAGE, _INPUT):
                    raise
                self._say("starts again: " + error.stderr.strip().rsplit("\n", 1)[-1])
        return run(self._config, path, set=values, overwrite=True, **self._options)


def _report(done: Sweep) -> Sweep:
    """Warns about missing results."""
    total = len(done) + len(done.failures)
    why = "\n".join(f"{parameters_text(p)}: {message}" for p, message in done.failures)
    if not len(done):
        raise SweepError(f"{done.folder}: every run failed\n{why}")
    if done.failures:
        text = f"{done.folder}: {len(done.failures)} of {total} runs failed\n{why}"
        warnings.warn(text, FailedRunWarning, stacklevel=3)
    unreliable = [entry for entry in done.entries if entry.message]
    if unreliable:
        text = f"{done.folder}: not to be relied on: " + "; ".join(
            f"{parameters_text(entry.parameters)} ({entry.message})" for entry in unreliable
        )
        warnings.warn(text, UnreliableRunWarning, stacklevel=3)
    cut = [entry for entry in done.entries if entry.state == "incomplete"]
    if cut:
        text = (
            f"{done.folder}: {len(cut)} of {total} runs were interrupted: "
            + "; ".join(parameters_text(entry.parameters) for entry in cut)
            + ". The same call goes on with them"
        )
        warnings.warn(text, IncompleteRunWarning, stacklevel=3)
    return done
