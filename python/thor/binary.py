"""Finding the thor command."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from .errors import RunError

_PACKAGE = Path(__file__).resolve().parent


def _candidates() -> Iterator[Path]:
    """Paths to try, in this order."""
    yield Path(sys.prefix, "bin", "thor")
    # A package installed under a prefix is some folders below it, in lib/ or share/.
    yield from (parent / "bin" / "thor" for parent in list(_PACKAGE.parents)[:5])
    on_path = shutil.which("thor")
    if on_path:
        yield Path(on_path)
    yield _PACKAGE.parent.parent / "build" / "release" / "thor"


def _is_thor(path: Path) -> bool:
    """Whether a program is this thor; others have the same name, such as one for Ruby."""
    if not path.is_file() or not os.access(path, os.X_OK):
        return False
    try:
        asked = subprocess.run(
            [path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return asked.returncode == 0 and re.match(rb"thor \d+\.\d+\.\d+ \(", asked.stdout) is not None


def find_binary(binary: str | os.PathLike[str] | None = None) -> str:
    """Path of the thor command.

    It is ``binary`` if given, otherwise the environment variable THOR_BINARY; otherwise it is searched for
    in the ``bin`` folder of this Python and of the prefix that the package is installed under, on the PATH,
    and in ``build/release`` of the checkout that contains the package.
    """
    given, source = binary, "binary"
    if given is None:
        given, source = os.environ.get("THOR_BINARY") or None, "THOR_BINARY"
    if given is not None:
        try:
            path = Path(os.fsdecode(given)).expanduser()
        except (TypeError, RuntimeError) as error:
            raise RunError(f"{source}: expected the path of the thor command: {error}", None, [], "") from error
        if not path.is_file() or not os.access(path, os.X_OK):
            raise RunError(f"{source} = {path}: there is no such program", None, [], "")
        return str(path.resolve())
    found = next((path for path in _candidates() if _is_thor(path)), None)
    if found is None:
        raise RunError(
            "the thor command was not found. Build it (cmake --preset release && cmake --build "
            "--preset release) and give its path: thor.run(..., binary='build/release/thor'), "
            "or set the environment variable THOR_BINARY, or put it on the PATH",
            None,
            [],
            "",
        )
    return str(found)
