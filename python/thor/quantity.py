"""Quantities such as "300 pc" in a configuration, compared by value, and as arguments."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from .configuration import plain
from .errors import ArgumentError
from .line import Floats

# The kind of quantity and the size in cgs of each unit, as in docs/configuration.md.
_UNITS: dict[str, tuple[str, float]] = {"": ("number", 1.0)}
for _name, _size in (
    ("cm", 1.0), ("m", 1e2), ("km", 1e5), ("au", 1.495978707e13), ("pc", 3.0856775814913673e18),
    ("kpc", 3.0856775814913673e21), ("Mpc", 3.0856775814913673e24),
    ("Angstrom", 1e-8), ("nm", 1e-7), ("um", 1e-4),
):  # fmt: skip
    _UNITS[_name] = ("length", _size)
_UNITS.update({name: ("velocity", size) for name, size in (("cm/s", 1.0), ("m/s", 1e2), ("km/s", 1e5))})
_UNITS.update({name: ("angle", math.radians(1 / size)) for name, size in (("arcsec", 3600), ("arcmin", 60), ("deg", 1))})
_UNITS.update({"MB": ("memory", 1e6), "GB": ("memory", 1e9)})
_UNITS["K"] = ("temperature", 1.0)
_UNITS["erg/s"] = ("luminosity", 1.0)
_UNITS["Hz"] = ("frequency", 1.0)
_UNITS.update({name: ("time", size) for name, size in (("s", 1.0), ("min", 60.0), ("h", 3600.0), ("d", 86400.0))})
_UNITS["%"] = ("share", 0.01)
for _power, _kind in ((2, "column density"), (3, "number density")):
    for _form in (f"cm^-{_power}", f"cm-{_power}", f"cm**-{_power}", f"1/cm^{_power}", f"1/cm**{_power}"):
        _UNITS[_form] = (_kind, 1.0)

_QUANTITY = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(.*?)\s*")


def read(value: Any) -> tuple[float, str] | None:
    """Size in cgs and kind of a quantity or number; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return float(value), "number"
    match = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    if match is None or match[2] not in _UNITS:
        return None
    kind, size = _UNITS[match[2]]
    return float(match[1]) * size, kind


def in_unit(value: Any, unit: str, what: str) -> float:
    """A number of a unit, from a number, text such as "5 kpc" or an astropy quantity; otherwise an error that describes it as
    ``what``. It may be infinite."""
    kind, size = _UNITS[unit]
    given = plain(value)
    try:
        found = read(given)
    except OverflowError:  # an integer beyond all floats
        found = None
    if found is not None and not math.isnan(found[0]) and (found[1] == kind or not isinstance(given, str)):
        return found[0] / size if isinstance(given, str) else found[0]
    expected = f"a number [{unit}], or text such as '1 {unit}'" if unit else "a number"
    raise ArgumentError(f"{what} must be {expected}, not {value!r}")


def all_in_unit(values: Any, unit: str, what: str) -> Floats:
    """The same for a list or an array of them."""
    given = plain(values)
    if not isinstance(given, list):
        raise ArgumentError(f"{what} must be a list of numbers, not {values!r}")
    return np.array([in_unit(value, unit, f"each of {what}") for value in given], dtype=np.float64)


def same(key: str, one: Any, wanted: Any) -> bool:
    """Whether two values of a key are the same: "0.3 kpc" is "300 pc", 10 is 10.0.

    A quantity of another kind, or a number in place of a quantity, is an error.
    """
    if isinstance(one, list) and isinstance(wanted, list):
        return len(one) == len(wanted) and all(same(key, a, b) for a, b in zip(one, wanted))
    if isinstance(one, dict) and isinstance(wanted, dict):
        return one.keys() == wanted.keys() and all(same(key, one[k], wanted[k]) for k in one)
    mine, yours = read(one), read(wanted)
    if mine is None or yours is None:
        return bool(one == wanted)
    if mine[1] != yours[1] and {mine[1], yours[1]} != {"share", "number"}:  # 2% is 0.02
        what = f"{yours[1]} {wanted!r}"
        raise ArgumentError(f"{key}: the values are like {one!r}, which the {what} cannot be compared with")
    return math.isclose(mine[0], yours[0], rel_tol=1e-9)
