"""How a program is run, whatever it is made from: what the command line and the server's run command both give."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

from visa_lsp.beside import Beside

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from visa_lsp.sim.jit.making import Makings
    from visa_lsp.sim.observers.hooks import Observer


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a program is run, whatever it is made from.

    ``path`` is where it comes from, for its siblings and for messages; ``checks`` is ``all``, ``none`` or a list by commas;
    ``listeners`` hear of the run beside the checkers; ``files`` are further files of the program; ``finder`` knows what
    lies beside it. ``first_fault`` ends the run at its first fault; ``counts`` keeps how often each instruction is executed,
    ``profile`` also lanes and messages; ``told`` hears now and then how many groups there are, how many are done, and how
    many steps. ``repeat``: how often it is run, each time from the same memory; ``threads``: of this machine, on which
    groups may run at the same time. ``began``: when loading began, on the clock of ``perf_counter``;
    ``compiled`` keeps what is compiled, for later launches of the same program.
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
    told: Callable[[int, int, int], None] | None = None
    repeat: int = 1
    threads: int = 1
    began: float = field(default_factory=perf_counter)
    compiled: Makings | None = None
