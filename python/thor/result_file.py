"""What every result file has, whichever driver wrote it."""

from __future__ import annotations

import os
from typing import Any, NoReturn, TypeVar

import h5py

from . import reading, zarr_store
from .caveats import Caveat, sentences
from .errors import ArgumentError, MissingError, ResultError

Product = TypeVar("Product")
Self = TypeVar("Self", bound="ResultFile")

FORMAT_VERSION = 2  # the newest layout of the file that this package reads

_OTHERS = {
    "sweep": "the result of thor sweep: open it with thor.open",
    "fit": "the result of a fit, which h5py reads (docs/fits.md)",
    "emulator": "an emulator, for thor.fit",
}


class Named(dict[str, Product]):
    """Products of one kind, by name."""

    def __init__(self, kind: str, products: dict[str, Product]) -> None:
        super().__init__(products)
        self._kind = kind

    def __getitem__(self, name: str) -> Product:
        return super().__getitem__(name) if isinstance(name, str) else self.__missing__(name)

    def __missing__(self, name: object) -> NoReturn:
        raise MissingError(f"no {self._kind} '{name}': available are {', '.join(self) or 'none'}")


def open_file(path: str) -> reading.Group:
    """An HDF5 file or a zarr directory."""
    if os.path.isdir(path):
        return zarr_store.open_store(path)
    if not os.path.isfile(path):
        there = os.path.exists(path)
        raise ResultError(f"{path}: {'this is not a file' if there else 'there is no such file'}")
    try:
        return h5py.File(path, "r")
    except OSError as error:
        if "truncated" in str(error):
            reason = "the file is truncated (an incomplete copy?)"
        elif not h5py.is_hdf5(path):
            reason = "this is not an HDF5 file"
        else:
            reason = str(error)
        raise ResultError(f"{path}: {reason}") from error


def as_text(path: str | os.PathLike[str]) -> str:
    try:
        return os.fsdecode(path)
    except TypeError as error:
        raise ArgumentError(f"a result file is given by its path: {error}") from error


class ResultFile:
    """A result file that is open: its ``path``, its ``attributes`` and its ``summary``."""

    summary: dict[str, Any]
    complete: bool

    def __init__(self, path: str | os.PathLike[str]):
        self.path = as_text(path)
        self._caveats: list[Caveat] = []
        self._file = open_file(self.path)
        try:
            self._check_attributes()
            self._load()
        except ResultError:
            self.close()
            raise
        except Exception as error:  # any error of HDF5 or numpy on damaged data
            self.close()
            reason = f"there is no {error}" if isinstance(error, KeyError) else str(error) or repr(error)
            raise ResultError(f"{self.path}: the file is damaged: {reason}") from error

    def _check_attributes(self) -> None:
        self.attributes = reading.attributes(self._file)
        version = self.attributes.get("format_version")
        part = self._group("part")
        if part is not None:
            here = reading.attributes(part)
            raise ResultError(
                f"{self.path}: it has the raw photons of rank {here.get('rank')} of {here.get('ranks')}: join them by `thor merge` "
                "with the name of the result, without the number"
            )
        if "thor_version" not in self.attributes or version is None or "summary" not in self._file:
            raise ResultError(f"{self.path}: {_OTHERS.get(str(self.attributes.get('kind')), 'not a result of thor')}")
        if not isinstance(version, int) or isinstance(version, bool) or version < 1:
            raise ResultError(f"{self.path}: the file is damaged: its format_version is {version!r}")
        if version > FORMAT_VERSION:
            raise ResultError(
                f"{self.path}: written by thor {self.attributes['thor_version']} in format "
                f"{version}; this package reads up to {FORMAT_VERSION}: update it"
            )
        self.summary = reading.attributes(self._group("summary"))

    def _load(self) -> None:
        """Reads what the file of a driver has."""
        raise NotImplementedError

    def _group(self, name: str) -> reading.Group | None:
        return reading.group(self._file, name, self.path)

    @property
    def driver(self) -> str:
        """What made this file: mcrt or raytrace."""
        return str(self.attributes.get("driver", "mcrt"))

    @property
    def caveats(self) -> tuple[str, ...]:
        """Caveats of this result, a sentence each; empty if there are none."""
        return sentences(self.summary, self._caveats)

    @property
    def config(self) -> str:
        """The resolved configuration of the run, as YAML text: enough to run it again."""
        return str(self.attributes.get("config", ""))

    def close(self) -> None:
        """Closes the file; what has been read stays."""
        self._file.close()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
