"""A compiled body for certain modes, with counts of the executed instructions."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from llvmlite import ir

from visa_lsp.sim.jit import native
from visa_lsp.sim.jit.body import BEGIN, BodyPlan
from visa_lsp.sim.jit.code_cache import PLAIN, Bindings, ObjectStore, RunMode, Stopwatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.program.model import Kernel
    from visa_lsp.sim.analyses.definedness_proof import Definedness
    from visa_lsp.sim.analyses.modes import ModePlan
    from visa_lsp.sim.interp import Code


class CompiledBody:
    """A body for certain modes: its function, and the number of executions of each stretch."""

    def __init__(
        self, code: Code, modes: ModePlan, bindings: Bindings, compiling: Stopwatch,
        mode: RunMode = PLAIN, store: ObjectStore | None = None, definedness: Definedness | None = None,
        program: Sequence[Kernel] = (),
    ) -> None:  # fmt: skip
        self.compiling = compiling
        self._store = store
        for pc in range(len(code.kernel.instructions)):
            code.op(pc)  # which records the registers that the instruction touches
        self.code = code
        self.body = BodyPlan(code, modes, bindings, mode, definedness, program)
        self.module = ir.Module("body")
        self.has_groups = False  # whether the module has the scheduler of whole groups
        size = code.layout.size
        self.function = self.body.emit(self.module, "body")
        code.grow_frames(size)
        self.counts = np.zeros(len(code.kernel.instructions) + 1, np.int64)  # by stretch

    def twin(self, code: Code) -> Self:
        """Return the same functions for another machine's form of the same kernel, with separate counts."""
        size = code.layout.size
        code.layout.need(self.code.layout.size)
        code.grow_frames(size)
        other = copy(self)
        other.code = code
        other.counts = np.zeros_like(self.counts)
        return other

    @cached_property
    def native(self) -> native.Native:
        """The compiled functions; afterwards nothing can be added to the module."""
        begin = self.module.globals.get(BEGIN)
        if begin is not None and begin.is_declaration:  # without a function that starts new threads
            ir.IRBuilder(begin.append_basic_block()).ret_void()
        with self.compiling:
            return native.Native(self.module, self._store)

    @cached_property
    def call(self) -> Any:
        """The function of the body."""
        return self.native.function("body")

    def flush_counts(self) -> None:
        """Add the counts of stretches to the counts of instructions."""
        counts = self.code.counts
        for start in np.flatnonzero(self.counts).tolist():
            for pc in self.stretch(start):
                counts[pc] += int(self.counts[start])
        self.counts[:] = 0

    def stretch(self, pc: int) -> range:
        """Return the instructions in the stretch of an instruction."""
        body, count = self.body, len(self.code.counts)
        start = max(s for s in body.starts if s <= pc)
        end = min(body.ends[start], count - 1) if start < count - 1 else count
        return range(start, end - (end - 1 in body.exits))
