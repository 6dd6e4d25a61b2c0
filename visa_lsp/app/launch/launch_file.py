"""A launch as a value, from a launch file or from a host."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from visa_lsp.launchfile.values import point_words
from visa_lsp.sim.launch.config import LaunchConfig, LaunchError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from visa_lsp.launchfile.values import GivenExpectation, Number, Sweep, SweepPoint


@dataclass(frozen=True, slots=True)
class LaunchFile:
    """A launch: the files that it names (absolute, existing) and the configuration.

    A launch without a file has no ``path``, and may have its ze_info or zebin in ``document``.
    """

    path: Path | None
    file: Path | None
    config: LaunchConfig
    files: tuple[Path, ...] = ()
    ze_info: Path | None = None
    zebin: Path | None = None
    platform: str | None = None
    places: dict[int | str, str] = field(default_factory=dict)  # argument -> path:line:column
    reads: tuple[Path, ...] = ()  # all files that it names, including arrays
    document: bytes | None = None
    sweep: Sweep | None = None
    names: Mapping[str, Number] = field(default_factory=dict)  # further names in expressions besides arguments
    conditions: Mapping[int, GivenExpectation] = field(
        default_factory=dict
    )  # expectations that are not arrays, by number
    expect_faults: tuple[str, ...] = ()  # kinds of fault that the run must find
    point: SweepPoint = ()  # the requested point of the sweep; empty without one

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the report of a run: that the launch is one point of a sweep."""
        if self.sweep is None or self.point:
            return ()
        point = point_words(next(self.sweep.points()))
        return (f"the first of {self.sweep.count} points of its sweep: {point}; --sweep runs all",)

    def locate(self, error: LaunchError) -> LaunchError:
        """Return the error with a place: that of its argument, else the first line of the file."""
        if error.place or self.path is None:
            return error
        place = self.places.get(error.arg) if error.arg is not None else None
        return LaunchError(error.message, error.arg, place or f"{self.path}:1:1")
