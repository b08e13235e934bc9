"""Files that are never half written."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[str]:
    """The name of a file that takes the place of ``path`` when it is written; where the disk is full, nothing is left behind.
    A pipe or a device is written itself."""
    name = os.path.realpath(path)
    if os.path.exists(name) and not os.path.isfile(name):
        yield name
        return
    partial = name + ".partial"
    try:
        yield partial
        os.replace(partial, name)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(partial)


def require_place(path: str | os.PathLike[str]) -> None:
    """Before long work: that its result can be written."""
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise IsADirectoryError(21, "it is a directory: give the name of a file in it")
    if not os.path.isdir(folder):
        raise FileNotFoundError(2, f"there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise PermissionError(13, f"nothing can be written in {folder}")
