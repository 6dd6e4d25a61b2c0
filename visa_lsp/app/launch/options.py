"""Options of a run, shared by the command line and the server's run command."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

from visa_lsp.companions import Beside

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from visa_lsp.sim.jit.code_cache import Makings
    from visa_lsp.sim.observers.hooks import Observer


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of a run.

    ``path`` is the file of the program, for its siblings and messages; ``checks`` is ``all``, ``none`` or a list with
    commas; ``listeners`` are observers besides the checkers; ``files`` are further files of the program; ``finder``
    finds files beside it. ``first_fault`` stops the run at its first fault; ``counts`` records the executions of each
    instruction, ``profile`` also lanes and messages; ``show_progress`` is called at intervals with the number of
    groups, of finished groups, and of steps. ``repeat`` is the number of runs, each from the same memory; ``threads``
    the number of threads of this machine for groups. ``began`` is the start of loading by ``perf_counter``;
    ``compiled`` caches compiled code for later launches of the same program.
    """

    path: Path | None = None
    platform: str | None = None
    engine: str = "auto"
    checks: str = "all"
    listeners: tuple[Observer, ...] = ()
    budget: int | None = None
    files: tuple[Path, ...] = ()
    finder: Beside = field(default_factory=Beside)
    first_fault: bool = False
    counts: bool = False
    profile: bool = False
    show_progress: Callable[[int, int, int], None] | None = None
    repeat: int = 1
    threads: int = 1
    began: float = field(default_factory=perf_counter)
    compiled: Makings | None = None
