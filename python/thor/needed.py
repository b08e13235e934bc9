"""Checks, when it is imported, that the packages are there without which this one cannot be."""

from __future__ import annotations

import importlib.util
import sys

_NEEDED = ("numpy", "h5py")


def _require_packages() -> None:
    """Raises an ImportError that says what to install. `python3 -m thor` prints it and ends with exit code 2."""
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if not missing:
        return
    verb = "is" if len(missing) == 1 else "are"
    text = (
        f"{' and '.join(missing)} {verb} missing in {sys.executable or 'this Python'}; on Debian use /usr/bin/python3 after "
        "`apt install python3-numpy python3-h5py python3-matplotlib`, elsewhere `pip install numpy h5py matplotlib`"
    )
    if sys.argv[:1] == ["-m"]:  # python3 -m thor: its own module is not running yet
        print(f"thor: {text}", file=sys.stderr)
        sys.exit(2)
    raise ImportError(text)


_require_packages()
