"""Existing files of a sweep: requested results are reused, nothing else is touched."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from .caveats import is_reliable
from .errors import IncompleteRunWarning, ResultError, SweepError, UnreliableRunWarning
from .result import kind_of
from .result_file import ResultFile
from .sweep_file import SweepFile
from .sweep_index import Entry, Index, digest, parameters_text


def resume(folder: Path, base: dict[str, Any]) -> Index:
    """The index of a folder to resume, or a new one; an error if it belongs to another sweep."""
    index = Index.load(folder)
    if index is None:
        return Index(folder, base, {})
    changed = [key for key in base if index.base.get(key) != base[key]]
    if changed:
        raise SweepError(
            f"{folder}: contains a sweep with another {' and another '.join(changed)}. Nothing was "
            "run or overwritten: choose another folder, or delete this one"
        )
    return index


def find(index: Index, name: str, parameters: dict[str, Any]) -> Entry:
    """The run in the index; a new one if it is missing."""
    known = index.runs.get(name)
    if known is None and not (index.folder / name).exists():
        return Entry(name, parameters)
    if known is None or known.parameters != parameters:
        raise SweepError(
            f"{index.folder / name}: already exists, but is not the run with "
            f"{parameters_text(parameters)}. Choose another folder, or move the file away"
        )
    return known


def is_done(folder: Path, entry: Entry) -> bool:
    """Whether the file is the requested result; updates the entry from it."""
    path = folder / entry.file
    if not path.exists():
        entry.state, entry.config_sha256 = "planned", ""
        return False
    try:
        complete, config, entry.message = _look(path)
    except ResultError as error:
        previous = Path(f"{path}.previous")  # the checkpoint before it, from which `thor continue` goes on
        if not previous.exists():
            raise SweepError(f"{error}. Delete it to have it run again") from error
        complete, config, entry.message = False, _look(previous)[1], ""
    if entry.config_sha256 and entry.config_sha256 != digest(config):
        raise SweepError(
            f"{path}: another run was written over the one of this sweep. Choose another folder, "
            "or delete the file"
        )
    # A killed sweep may have left a complete result that is not in the index.
    entry.state, entry.config_sha256 = "complete" if complete else "incomplete", digest(config)
    return complete


def doubts(result: ResultFile) -> str:
    """Why a result is not reliable; empty if it is. Rays are never lost."""
    return "" if result.driver == "raytrace" or is_reliable(result.summary) else " ".join(result.caveats)


def _look(path: Path) -> tuple[bool, str, str]:
    """Whether a result is complete, its resolved configuration, and why it is not reliable."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IncompleteRunWarning)  # reported once, at the end
        warnings.simplefilter("ignore", UnreliableRunWarning)
        with kind_of(path)(path) as result:
            if isinstance(result, SweepFile):
                raise ResultError(f"{path}: the result of thor sweep, not of a run")
            return result.complete, result.config, doubts(result)
