"""A result that is a zarr (version 2) directory, read as :mod:`h5py` reads a file.

No package is needed for it: thor writes its chunks as they are, or packed by zlib. A chunk that is missing or too short is an error here,
since thor writes them all.
"""

from __future__ import annotations

import json
import math
import os
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from .errors import ResultError
from .line import Array

#: As thor writes numbers that JSON has no words for.
_WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def _is_vector(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(v, (int, float)) for v in value)


class _Store:
    """The directory, and whether it may still be read."""

    def __init__(self, path: str):
        self.path = path
        self.open = True

    def damaged(self, what: str) -> ResultError:
        return ResultError(f"{self.path}: the directory is damaged: {what} (a copy that was cut short?)")

    def json(self, name: str) -> dict[str, Any]:
        try:
            with open(os.path.join(self.path, name), encoding="utf-8") as file:
                found = json.load(file)
        except OSError as error:
            raise self.damaged(f"{name}: {error.strerror}") from error
        except (ValueError, RecursionError) as error:
            raise self.damaged(f"{name} is not JSON") from error
        if not isinstance(found, dict):
            raise self.damaged(f"{name} is no JSON object")
        return found

    def has(self, *names: str) -> bool:
        return os.path.isfile(os.path.join(self.path, *names))


class Node:
    """A group or an array."""

    def __init__(self, store: _Store, name: str):
        self._store = store
        self.name = name
        here = name.strip("/")
        self._place = f"{here}/" if here else ""
        found = store.json(self._place + ".zattrs") if store.has(self._place + ".zattrs") else {}
        self.attributes: dict[str, Any] = {
            key: _WORDS.get(value, value) if isinstance(value, str) else value
            for key, value in found.items() if isinstance(value, (bool, int, float, str)) or _is_vector(value)
        }  # fmt: skip


class Group(Node):
    def get(self, name: str) -> Group | Values | None:
        place = f"{self._place}{name}"
        if any(part in ("", ".", "..") for part in name.split("/")):
            return None
        if self._store.has(place, ".zarray"):
            return Values(self._store, f"/{place}")
        return Group(self._store, f"/{place}") if self._store.has(place, ".zgroup") else None

    def __getitem__(self, name: str) -> Group | Values:
        found = self.get(name)
        if found is None:
            raise KeyError(f"/{self._place}{name}")
        return found

    def __iter__(self) -> Iterator[str]:
        folder = os.path.join(self._store.path, self._place)
        names = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
        return (name for name in names if self.get(name) is not None)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return self._store.open

    def values(self) -> list[Group | Values]:
        return [self[name] for name in self]

    def close(self) -> None:
        self._store.open = False


class Values(Node):
    """An array, read whole."""

    def __init__(self, store: _Store, name: str):
        super().__init__(store, name)
        meta = store.json(self._place + ".zarray")
        self.shape, self._chunk = self._extent(meta, "shape"), self._extent(meta, "chunks")
        if len(self.shape) != len(self._chunk) or not all(self._chunk):
            raise store.damaged(f"the chunks of {name}")
        try:
            self.dtype = np.dtype(str(meta.get("dtype")))
        except TypeError as error:
            raise store.damaged(f"the type of {name}") from error
        compressor, filters = meta.get("compressor"), meta.get("filters")
        self._is_compressed = isinstance(compressor, dict) and compressor.get("id") == "zlib"
        shuffle = [{"id": "shuffle", "elementsize": self.dtype.itemsize}]
        if meta.get("order") != "C" or not (compressor is None or self._is_compressed) or (filters or []) != (shuffle if self._is_compressed else []):
            raise ResultError(f"{store.path}: {name} is not stored as thor does it")
        if self.dtype.kind not in "iuf":
            raise store.damaged(f"{name} holds {self.dtype}, no numbers")

    def _extent(self, meta: dict[str, Any], key: str) -> tuple[int, ...]:
        found = meta.get(key)
        if not isinstance(found, list) or not 0 < len(found) <= 8 or not all(type(n) is int and n >= 0 for n in found):
            raise self._store.damaged(f"the {key} of {self.name}")
        return tuple(found)

    def read(self) -> Array:
        counts = [-(-size // chunk) for size, chunk in zip(self.shape, self._chunk)]
        size = math.prod(self._chunk) * self.dtype.itemsize
        files = {}
        for index in _indices(counts):  # which ends at the first that is missing
            key = self._place + ".".join(map(str, index))
            files[index] = os.path.join(self._store.path, key)
            if not self._store.has(key):
                raise self._store.damaged(f"{key} is missing")
            if not self._is_compressed and os.path.getsize(files[index]) != size:
                raise self._store.damaged(f"{key} is truncated")
        try:
            values: Array = np.zeros(self.shape, self.dtype)
        except (ValueError, MemoryError) as error:
            raise self._store.damaged(f"the shape of {self.name}: {error}") from error
        for index, file in files.items():
            part = (self._inflated(file, size) if self._is_compressed else np.fromfile(file, self.dtype)).reshape(self._chunk)
            place = tuple(slice(i * chunk, min((i + 1) * chunk, size))
                          for i, chunk, size in zip(index, self._chunk, self.shape))
            values[place] = part[tuple(slice(0, s.stop - s.start) for s in place)]
        return values

    def _inflated(self, file: str, size: int) -> Array:
        """Of a chunk that has the first bytes of all values, then the second ones, ..."""
        with open(file, "rb") as chunk:
            packed = chunk.read()
        try:
            data = zlib.decompressobj().decompress(packed, size + 1)
        except zlib.error as error:
            raise self._store.damaged(f"a chunk of {self.name}: {error}") from error
        if len(data) != size:
            raise self._store.damaged(f"a chunk of {self.name} is truncated")
        values: Array = np.frombuffer(data, np.uint8).reshape(self.dtype.itemsize, -1).T.copy().view(self.dtype)
        return values


def _indices(counts: list[int]) -> Iterator[tuple[int, ...]]:
    """As itertools.product of ranges, which would first list them: in a damaged file they can be of any length."""
    if 0 in counts:
        return
    if not counts:
        yield ()
    else:
        yield from ((i, *rest) for i in range(counts[0]) for rest in _indices(counts[1:]))


def open_store(path: str) -> Group:
    """The root of a result."""
    store = _Store(path)
    if store.has("zarr.json"):
        raise ResultError(f"{path}: this is zarr version 3, and thor writes version 2: not a result of thor")
    if not store.has(".zgroup"):
        raise ResultError(f"{path}: this is a directory and no zarr store (it has no .zgroup)")
    if not store.has(".zmetadata"):
        if store.has(".zattrs") and "thor_version" in store.json(".zattrs"):
            raise store.damaged(".zmetadata is missing")
        raise ResultError(f"{path}: a zarr directory, but not a result of thor")
    listed = store.json(".zmetadata").get("metadata")
    if not isinstance(listed, dict):
        raise store.damaged(".zmetadata lists nothing")
    for name, value in listed.items():
        if not store.has(name):
            raise store.damaged(f"{name} is missing")
        if store.json(name) != value:
            raise store.damaged(f"{name} is not what .zmetadata has of it")
    return Group(store, "/")
