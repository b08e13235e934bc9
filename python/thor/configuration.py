"""Configurations as thor reads them, and the paths in them."""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Union

import numpy as np

from .errors import ArgumentError, RunError

#: A path, a dict of keys, or YAML text (which contains a newline).
Config = Union[str, "os.PathLike[str]", Mapping[str, Any]]


def plain(value: Any) -> Any:
    """A value in types of JSON; converts numbers of numpy, paths and quantities of astropy."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "unit") and hasattr(value, "value"):  # astropy
        if np.ndim(value.value):
            return [plain(item) for item in value]
        unit = re.sub(r"^1/(\w+?)(\d)$", r"\1^-\2", value.unit.to_string().replace(" ", ""))
        return f"{number(float(value.value))} {unit}".rstrip()
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def number(value: float) -> str:
    """Shortest exact form of a number: 1e7, not 10000000.0."""
    short = re.sub(r"e\+?(-?)0*(?=\d)", r"e\1", f"{value:g}")
    return short if float(short) == value else repr(value)


def to_yaml(value: Any, indent: int | None = None) -> str:
    """JSON, which is also YAML; units, as text, stay legible."""
    value = plain(value)
    if isinstance(value, float) and np.isfinite(value):
        return number(value)
    try:
        return json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ArgumentError(f"a configuration has numbers, text, lists and dicts: {error}") from error


def is_path(config: Config) -> bool:
    """Whether a configuration is given as the path of a file; otherwise it is the configuration itself."""
    if isinstance(config, Mapping):
        return False
    if not isinstance(config, (str, os.PathLike)):
        raise ArgumentError(f"a configuration is a path, a dict or text with a newline, not {config!r}")
    return "\n" not in os.fspath(config)


def as_path(path: str | os.PathLike[str], what: str) -> Path:
    """Converts an argument to a path."""
    try:
        return Path(os.fsdecode(path))
    except TypeError as error:
        raise ArgumentError(f"{what}: expected a path: {error}") from error


def as_values(values: Mapping[str, Any] | None) -> dict[str, Any]:
    """Converts the argument ``set``: keys and their values."""
    if values is not None and not isinstance(values, Mapping):
        raise ArgumentError(f"set: expected a dict from keys to values, not {values!r}")
    found: dict[str, Any] = plain(values or {})
    return found


def text_of(config: Config) -> str:
    """The configuration as YAML text, from any of its forms."""
    if isinstance(config, Mapping):
        return to_yaml(config, indent=2) + "\n"
    if not is_path(config):
        return os.fspath(config)
    try:
        return Path(config).read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError) as error:
        raise RunError(f"cannot read the configuration: {error}", None, [], "") from error


@contextlib.contextmanager
def as_file(config: Config) -> Iterator[str]:
    """A temporary file with the configuration."""
    if not isinstance(config, Mapping) and is_path(config):
        yield os.fspath(config)
        return
    text = text_of(config)
    with contextlib.ExitStack() as stack:
        try:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="thor-"))
            path = Path(folder, "config.yaml")
            path.write_text(text, encoding="utf-8")
        except (OSError, ValueError) as error:
            raise RunError(f"cannot write the configuration for thor: {error}", None, [], "") from error
        yield str(path)


def overrides(values: Mapping[str, Any] | None) -> list[str]:
    """Arguments --set of the command line, one for each key."""
    pairs = [f"{key}={to_yaml(value)}" for key, value in (values or {}).items()]
    return [word for pair in pairs for word in ("--set", pair)]


_VALUE = r"""(?:"([^"\\\n]+)"|'([^'\n]+)'|([^\s"'{}\[\],#&*!|>%@`][^\n#,{}]*))"""
_COMMENT = r"[ \t]*(?:#.*)?"
_FLOW = re.compile(rf"^output\s*:\s*\{{(?:[^{{}}]*,)?\s*path\s*:\s+{_VALUE}\s*[,}}]", re.MULTILINE)
_BLOCK = re.compile(
    rf"^output\s*:{_COMMENT}\n(?:[ \t]+.*\n|{_COMMENT}\n)*?[ \t]+path\s*:[ \t]+{_VALUE}{_COMMENT}$",
    re.MULTILINE,
)


def output_in(text: str) -> str | None:
    """``output.path`` of a configuration; None if it has none, or is written in a rare form.

    This is not a YAML parser: it handles JSON, and a key ``output`` that starts a line.
    """
    with contextlib.suppress(ValueError):
        return _output_of(json.loads(text))
    match = _FLOW.search(text) or _BLOCK.search(text)
    if match is None:
        return None
    return next(value.strip() for value in match.groups() if value is not None)


_LINE_LIST = re.compile(rf"^line_list\s*:[ \t]+{_VALUE}{_COMMENT}$", re.MULTILINE)


def line_list_in(text: str) -> str | None:
    """``line_list`` of a configuration, with the same limits as :func:`output_in`."""
    with contextlib.suppress(ValueError):
        config = json.loads(text)
        name = config.get("line_list") if isinstance(config, Mapping) else None
        return name if isinstance(name, str) and name else None
    match = _LINE_LIST.search(text)
    if match is None:
        return None
    return next(value.strip() for value in match.groups() if value is not None)


def line_list_of(config: Config, values: Mapping[str, Any] | None) -> Path | None:
    """The file of additional lines of a configuration, by the rule of :func:`output_of`."""
    asked = as_values(values).get("line_list")
    name = line_list_in(text_of(config)) if asked is None else asked
    if not name or not isinstance(name, str):
        return None
    if isinstance(config, Mapping) or not is_path(config):
        return Path(name)
    return Path(config).parent / name


def _output_of(config: Any) -> str | None:
    path = config.get("output") if isinstance(config, Mapping) else None
    path = path.get("path") if isinstance(path, Mapping) else None
    return path if isinstance(path, str) else None


def output_of(config: Config, values: Mapping[str, Any] | None) -> Path | None:
    """The path of the result file of a configuration; None if it has none.

    A relative path is relative to the configuration's folder, as in thor; for a dict or a text, which have
    none, to the current folder.
    """
    asked = as_values(values)
    path = asked.get("output.path") or _output_of(asked) or output_in(text_of(config))
    if path is None:
        return None
    if isinstance(config, Mapping) or not is_path(config):
        return Path(path)
    return Path(config).parent / path
