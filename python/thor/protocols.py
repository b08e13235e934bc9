"""The interface of :class:`thor.Result` that its own parts use. They import this module, and ``result`` imports them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from .caveats import Caveat
from .histogram import Histogram
from .line import Array, Line
from .profile import Profile
from .sky import Cube, Image
from .spectrum import Spectrum


class PhotonColumns(Protocol):
    """The properties of the recorded photons, by name."""

    @property
    def fates(self) -> Mapping[str, int]: ...

    def __getitem__(self, name: str, /) -> Array: ...

    def __contains__(self, name: object, /) -> bool: ...

    def keys(self) -> list[str]: ...

    def __iter__(self) -> Iterator[str]: ...


class LightRows(Protocol):
    """The light that was recorded on its way to an observer."""

    observer: str | None

    def keys(self) -> list[str]: ...

    def __iter__(self) -> Iterator[str]: ...

    def __len__(self) -> int: ...


class RunData(Protocol):
    """The result of a run, read from its file."""

    path: str
    attributes: dict[str, Any]
    summary: dict[str, Any]
    generators: list[dict[str, Any]]
    line: Line
    spectra: dict[str, Spectrum]
    histograms: dict[str, Histogram]
    images: dict[str, Image]
    cubes: dict[str, Cube]
    profiles: dict[str, Profile]
    complete: bool
    parts: int

    @property
    def photons(self) -> PhotonColumns: ...

    @property
    def peel(self) -> LightRows: ...

    @property
    def config(self) -> str: ...

    @property
    def caveats(self) -> tuple[str, ...]: ...

    def equal_weight(self) -> float | None: ...

    def notes(self, own: list[Caveat], of: str) -> tuple[str, ...]: ...
