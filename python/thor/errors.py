"""What can go wrong."""

from __future__ import annotations

from collections.abc import Sequence


class ResultError(Exception):
    """The file is missing, damaged, or not a result of thor."""


class IncompleteRunWarning(UserWarning):
    """The run was cut while photons were still flying, so what it gives is biased."""


class FailedRunWarning(UserWarning):
    """Some runs of a sweep failed."""


class SweepError(Exception):
    """The folder holds another sweep, or no run of the sweep succeeded."""


# As in docs/configuration.md.
_MEANING = {
    1: "internal error: please report",
    2: "bad usage or configuration",
    3: "input data missing or bad",
    4: "device",
    5: "stopped early",
    6: "output cannot be written",
}


class RunError(Exception):
    """A run gave no result: ``code`` is thor's exit code (negative: the signal that ended it;
    None: thor could not be started), ``command`` its command line and ``stderr`` what it said."""

    def __init__(self, what: str, code: int | None, command: Sequence[str], stderr: str):
        super().__init__(what)
        self.code = code
        self.command = list(command)
        self.stderr = stderr

    @classmethod
    def of(cls, code: int, command: Sequence[str], stderr: str) -> RunError:
        """The error of a thor that ended with ``code``."""
        meaning = _MEANING.get(code, f"ended by signal {-code}" if code < 0 else "unknown")
        said = stderr.strip() or "it said nothing"
        return cls(f"exit code {code} ({meaning})\n{said}", code, command, stderr)
