"""What a sweep finds in its folder: what was asked for is used, nothing else is touched."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from .caveats import is_reliable
from .errors import IncompleteRunWarning, ResultError, SweepError, UnreliableRunWarning
from .result import Result
from .sweep_index import Entry, Index, digest, parameters_text


def resume(folder: Path, base: dict[str, Any]) -> Index:
    """The index of a folder to go on with, or a new one; an error if it is of another sweep."""
    index = Index.load(folder)
    if index is None:
        return Index(folder, base, {})
    changed = [key for key in base if index.base.get(key) != base[key]]
    if changed:
        raise SweepError(
            f"{folder}: holds a sweep with another {' and another '.join(changed)}. Nothing was "
            "run or overwritten: choose another folder, or delete this one"
        )
    return index


def find(index: Index, name: str, parameters: dict[str, Any]) -> Entry:
    """The run of the index; a new one if it is not there."""
    known = index.runs.get(name)
    if known is None and not (index.folder / name).exists():
        return Entry(name, parameters)
    if known is None or known.parameters != parameters:
        raise SweepError(
            f"{index.folder / name}: is there already, and is not the run with "
            f"{parameters_text(parameters)}. Choose another folder, or move the file away"
        )
    return known


def is_done(folder: Path, entry: Entry) -> bool:
    """Whether the file is what was asked for; brings the entry up to date with it."""
    path = folder / entry.file
    if not path.exists():
        entry.state, entry.config_sha256 = "planned", ""
        return False
    try:
        complete, config, entry.message = _look(path)
    except ResultError as error:
        raise SweepError(f"{error}. Delete it to have it run again") from error
    if entry.config_sha256 and entry.config_sha256 != digest(config):
        raise SweepError(
            f"{path}: another run was written over the one of this sweep. Choose another folder, "
            "or delete the file"
        )
    # A sweep that was killed may have left a whole result that the index does not know of.
    entry.state, entry.config_sha256 = "complete" if complete else "incomplete", digest(config)
    return complete


def doubts(result: Result) -> str:
    """Why a result is not to be relied on; empty if it is."""
    return "" if is_reliable(result.summary) else " ".join(result.caveats)


def _look(path: Path) -> tuple[bool, str, str]:
    """Whether a result is complete, its resolved configuration, and why it is not to be relied on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IncompleteRunWarning)  # told of once, at the end
        warnings.simplefilter("ignore", UnreliableRunWarning)
        with Result(path) as result:
            return result.complete, result.config, doubts(result)
