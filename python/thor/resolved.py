"""The resolved configuration in a result: YAML in block style, as thor writes it."""

from __future__ import annotations

from typing import Any

from .errors import ResultError


def generators_of(config: str) -> list[dict[str, Any]]:
    """The generators of a run."""
    lines = [line for line in config.split("\n") if line.strip()]
    try:
        begin = lines.index("generators:") + 1
    except ValueError:
        raise ResultError("the configuration in the file has no generators: it is damaged") from None
    end = next((i for i in range(begin, len(lines)) if lines[i][0] not in " -"), len(lines))
    found = _value(lines[begin:end])
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def read(text: str) -> dict[str, Any]:
    """A whole configuration."""
    found = _value([line for line in text.split("\n") if line.strip()])
    return found if isinstance(found, dict) else {}


def _value(lines: list[str]) -> Any:
    """A map or a list whose lines have the same indentation."""
    depth = len(lines[0]) - len(lines[0].lstrip())
    starts = [i for i, line in enumerate(lines) if len(line) - len(line.lstrip()) == depth]
    blocks = [lines[a:b] for a, b in zip(starts, [*starts[1:], len(lines)])]
    if lines[0].lstrip().startswith("- "):
        return [_value([" " * (depth + 2) + b[0].lstrip()[2:], *b[1:]]) if ": " in b[0] or b[0].endswith(":") else _scalar(b[0].lstrip()[2:]) for b in blocks]
    found = {}
    for block in blocks:
        key, _, rest = block[0].strip().partition(":")
        found[key] = _scalar(rest.strip()) if rest.strip() else _value(block[1:]) if len(block) > 1 else None
    return found


def _scalar(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        return [_scalar(part.strip()) for part in text[1:-1].split(",")]
    return text.strip('"')
