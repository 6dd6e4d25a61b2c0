"""The time that goes into making machine code, summed up over a run: it is no time of the kernel."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType


class Stopwatch:
    """Wall seconds spent inside of its ``with`` blocks, which do not nest."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._began = 0.0

    def __enter__(self) -> None:
        self._began = perf_counter()

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.seconds += perf_counter() - self._began
