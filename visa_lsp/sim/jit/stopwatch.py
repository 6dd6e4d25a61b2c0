"""The time that goes into machine code and what it runs in, summed up over a run: it is no time of the kernel."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType


class Stopwatch:
    """Wall seconds spent inside of its ``with`` blocks; of nested ones the outermost counts."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._began = 0.0
        self._depth = 0

    def __enter__(self) -> None:
        self._depth += 1
        if self._depth == 1:
            self._began = perf_counter()

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._depth -= 1
        if not self._depth:
            self.seconds += perf_counter() - self._began
