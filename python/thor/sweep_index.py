"""The index of a sweep: the file that describes the results in a folder."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Union

from .configuration import number, plain
from .errors import ArgumentError, SweepError

NAME = "index.json"
_FORMAT = 1

#: Values of each parameter, of which all combinations are run; or the combinations themselves.
Parameters = Union[Mapping[str, Sequence[Any]], Sequence[Mapping[str, Any]]]


@dataclass
class Entry:
    """One run. ``state`` is planned, started, complete, incomplete or failed; ``config_sha256``
    is that of the resolved configuration in the result, and ``message`` says why a run failed or its
    result is not reliable."""

    file: str
    parameters: dict[str, Any]
    state: str = "planned"
    config_sha256: str = ""
    message: str = ""

    def check(self) -> None:
        """Checks that an entry of the index has the right types, and that its file is in the folder."""
        texts = (self.file, self.state, self.config_sha256, self.message)
        if not all(isinstance(text, str) for text in texts) or not isinstance(self.parameters, dict):
            raise ValueError(f"a run is damaged: {self.file!r}")
        if not self.file or os.path.basename(self.file) != self.file:
            raise ValueError(f"a run is not in this folder: {self.file!r}")


class Index:
    """The requested sweep (``base``: everything that the runs have in common) and the runs by file."""

    def __init__(self, folder: Path, base: dict[str, Any], runs: dict[str, Entry]):
        self.folder = folder
        self.base = base
        self.runs = runs

    @classmethod
    def load(cls, folder: Path) -> Index | None:
        """The index of a folder; None if it has none."""
        path = folder / NAME
        if not path.exists():
            return None
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            if content["thor_sweep"] > _FORMAT:
                raise SweepError(f"{path}: written by a newer version of this package: update it")
            runs = {run["file"]: Entry(**run) for run in content["runs"]}
            for entry in runs.values():
                entry.check()
            return cls(folder, dict(content["base"]), runs)
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise SweepError(f"{path}: not the index of a sweep: {error!r}") from error

    def save(self) -> None:
        """Replaces the file as a whole, so that it is never half written."""
        runs = [asdict(run) for run in self.runs.values()]
        content = {"thor_sweep": _FORMAT, "base": self.base, "runs": runs}
        path, new = self.folder / NAME, self.folder / f"{NAME}.new"
        try:
            text = json.dumps(content, indent=1, ensure_ascii=False)
            new.write_text(text + "\n", encoding="utf-8")
            os.replace(new, path)
        except (OSError, ValueError, TypeError) as error:
            raise SweepError(f"cannot write {path}: {error}") from error


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def combinations(parameters: Parameters) -> list[dict[str, Any]]:
    """The combinations to run, the last parameter varying fastest."""
    if isinstance(parameters, Mapping):
        axes = {key: plain(values) for key, values in parameters.items()}
        for key, values in axes.items():
            if not isinstance(values, list):
                raise ArgumentError(f"{key}: expected a list of values, got {values!r}")
        product: Iterator[tuple[Any, ...]] = itertools.product(*axes.values())
        chosen = [dict(zip(axes, values)) for values in product]
    else:
        if isinstance(parameters, (str, bytes)) or not isinstance(parameters, Iterable):
            raise ArgumentError(f"parameters must be a dict of lists, or a list of dicts, not {parameters!r}")
        chosen = [plain(combination) for combination in parameters]
        for combination in chosen:
            if not isinstance(combination, dict):
                raise ArgumentError(f"a combination of parameters must be a dict, not {combination!r}")
    for i, combination in enumerate(chosen):
        if combination in chosen[:i]:
            raise ArgumentError(f"requested twice: {combination}")
    if not chosen:
        raise ArgumentError("a sweep needs at least one combination of parameters")
    return chosen


def short(key: str) -> str:
    """Short form of a key: dust.tau, not dataset.dust.tau."""
    return key[len("dataset.") :] if key.startswith("dataset.") else key


def as_text(value: Any) -> str:
    if isinstance(value, float):
        return number(value)
    return value if isinstance(value, str) else json.dumps(value)


def parameters_text(parameters: Mapping[str, Any]) -> str:
    """A combination in words."""
    return ", ".join(f"{short(key)} = {as_text(value)}" for key, value in parameters.items())


def file_names(chosen: Sequence[Mapping[str, Any]]) -> list[str]:
    """A readable file name per combination, which depends only on the combination."""

    def legible(text: str) -> str:
        return re.sub(r"[^\w.+-]+", "-", text.replace("^", "")).rstrip("-")

    names = []
    for combination in chosen:
        pairs = (f"{short(key)}={legible(as_text(v))}" for key, v in combination.items())
        names.append(re.sub(r"[^\w.+=-]+", "-", "_".join(pairs)) or "run")
    times = Counter(names)
    for i, name in enumerate(names):
        if len(name) > 120 or times[name] > 1:
            mark = digest(json.dumps(chosen[i], sort_keys=True))[:8]
            names[i] = f"{name[:110]}-{mark}"
    return [f"{name}.h5" for name in names]
