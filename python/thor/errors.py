"""The errors of this package."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any


class Error(Exception):
    """Base class of all errors of this package."""


class ArgumentError(Error, ValueError, TypeError):
    """An argument that cannot be used; also a ValueError and a TypeError."""


class MissingError(Error, KeyError, IndexError):
    """A name or an index that does not exist; also a KeyError and an IndexError."""

    def __str__(self) -> str:  # KeyError would put it in quotes
        return str(self.args[0]) if self.args else ""


class PackageError(Error, ImportError):
    """An optional package that this function requires is not installed."""


class ResultError(Error):
    """The file is missing, damaged, or not a result of thor."""


class InputError(ArgumentError, ResultError):
    """A file of an observation is missing, damaged, or has numbers that cannot be used."""


class IncompleteRunWarning(UserWarning):
    """The run was cut short; if photons were still in flight, its result is biased."""


class UnreliableRunWarning(UserWarning):
    """The run finished, but more than 1 % of its photons are lost: the result is unreliable."""


class ReweightingWarning(UserWarning):
    """Too few photons, or none, have the light that is asked for."""


class FailedRunWarning(UserWarning):
    """Some runs of a sweep failed."""


class FitWarning(UserWarning):
    """A fit whose answer has a caveat."""


class SweepError(Error):
    """The folder contains another sweep, or no run of the sweep succeeded."""


# As in docs/command-line.md.
_MEANING = {
    1: "internal error: please report",
    2: "bad usage or configuration",
    3: "input data missing or bad",
    4: "device",
    5: "stopped early",
    6: "output cannot be written",
    7: "finished, but not to be relied on",
}


class RunError(Error):
    """A run gave no result: ``code`` is thor's exit code (negative: the signal that ended it;
    None: thor could not be started), ``command`` its command line and ``stderr`` its messages."""

    def __init__(self, what: str, code: int | None, command: Sequence[str], stderr: str):
        super().__init__(what)
        self.code = code
        self.command = list(command)
        self.stderr = stderr

    @classmethod
    def of(cls, code: int, command: Sequence[str], stderr: str) -> RunError:
        """The error for a run that ended with ``code``."""
        meaning = _MEANING.get(code, f"ended by signal {-code}" if code < 0 else "unknown")
        said = stderr.strip() or "it said nothing"
        return cls(f"exit code {code} ({meaning})\n{said}", code, command, stderr)


def optional(module: str) -> Any:
    """Imports a module that only a part of this package requires."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        raise PackageError(f"this needs {name}, which is not installed: {error}; on Debian `apt install python3-{name}`, elsewhere `pip install {name}`") from error
