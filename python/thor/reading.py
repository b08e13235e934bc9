"""Reading of result files, with checks that keep damaged ones from crashing the HDF5 library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Union

import h5py
import numpy as np

from . import zarr_store
from .errors import ResultError
from .line import Array, Floats

#: What a result is read from: an HDF5 file or a zarr directory.
Group = Union[h5py.Group, zarr_store.Group]
Place = Union[h5py.Group, h5py.Dataset, zarr_store.Node]

#: The kinds of attributes that thor writes: numbers, truth values, text of fixed length. Others are someone else's, and
#: text of variable length in a damaged file can crash the HDF5 library.
_KINDS = (h5py.h5t.TypeIntegerID, h5py.h5t.TypeFloatID, h5py.h5t.TypeEnumID)


def plain(value: Any) -> Any:
    """An attribute as a Python type: HDF5 returns fixed-length text as bytes."""
    if isinstance(value, h5py.Empty):
        return ""
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    return value.item() if isinstance(value, np.generic) else value


def _is_ours(place: h5py.Group | h5py.Dataset, name: str) -> bool:
    kind = h5py.h5a.open(place.id, name.encode("utf-8")).get_type()
    if isinstance(kind, h5py.h5t.TypeStringID):
        return not kind.is_variable_str()
    return isinstance(kind, _KINDS)


def attributes(place: Place) -> dict[str, Any]:
    """The attributes that thor may have written there.

    The HDF5 library crashes when it iterates over attributes of which it cannot decode one. Asking for an
    attribute that does not exist makes it decode all of them first, and then it raises an error instead.
    """
    if isinstance(place, zarr_store.Node):
        return dict(place.attributes)
    h5py.h5a.exists(place.id, b"\x01 none")
    return {name: plain(place.attrs[name]) for name in place.attrs if _is_ours(place, name)}


def attribute(place: Place, name: str, default: Any = None) -> Any:
    if isinstance(place, zarr_store.Node):
        return place.attributes.get(name, default)
    if name not in place.attrs or not _is_ours(place, name):
        return default
    return plain(place.attrs[name])


def vector(attributes: Mapping[str, Any], name: str, what: str) -> Floats:
    """A vector among attributes: three numbers, which are text in files of earlier versions."""
    value = attributes[name]
    numbers: Floats = np.array(value.split() if isinstance(value, str) else value, float)
    if numbers.shape != (3,) or not np.all(np.isfinite(numbers)):
        raise ResultError(f"{what} is damaged: its {name}")
    return numbers


def group(parent: Group, name: str, path: str) -> Group | None:
    """A group; None if there is none."""
    found = parent.get(name)
    if not isinstance(found, (h5py.Group, zarr_store.Group, type(None))):
        raise ResultError(f"{path}: the file is damaged: {name} is no group")
    if not all(isinstance(member, str) for member in found or ()):  # what is no UTF-8 comes as bytes
        raise ResultError(f"{path}: the file is damaged: a name in {name} is no text")
    return found


def numbers(parent: Group, name: str, path: str) -> Array:
    """A dataset of numbers, whole. What claims to be far longer than the file is not read at all."""
    where = f"{parent.name}/{name}"
    found = parent.get(name)
    if isinstance(found, zarr_store.Values):
        return found.read()
    if not isinstance(found, h5py.Dataset):
        raise ResultError(f"{path}: the file is damaged: there is no dataset {where}")
    if found.dtype.kind not in "iufb":
        raise ResultError(f"{path}: the file is damaged: {where} holds {found.dtype}, not numbers")
    if found.nbytes > 1_000_000 + 1100 * found.id.get_storage_size():  # beyond any compression
        raise ResultError(f"{path}: the file is damaged: {where} is longer than the file")
    values: Array = found[()]
    return values


def pixel_edges(parent: Group, name: str, shape: tuple[int, ...], path: str) -> tuple[Floats, Floats]:
    """Edges of the pixels of an image with so many rows and columns: to the right, and upward."""
    right, up = (numbers(parent, key, path).astype(float) for key in ("edges_right", "edges_up"))
    if right.ndim != 1 or up.ndim != 1 or not (np.all(np.diff(right) > 0) and np.all(np.diff(up) > 0)):
        raise ResultError(f"{path}: '{name}' is damaged: the edges of its pixels")
    if shape != (len(up) - 1, len(right) - 1) or 0 in shape:
        raise ResultError(f"{path}: '{name}' is damaged: the shape of its arrays")
    return right, up
