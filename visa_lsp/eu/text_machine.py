"""The text's side of a comparison: a machine that evaluates approximate words as finalizers expand them.

vISA leaves the rounding of ``pow`` open; finalizers make ``exp2(log2(|x|) * y)`` of it, rounding each step to f32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.eu.nan_bits import with_one_nan
from visa_lsp.isa.lane import S0, S1, Lane, word
from visa_lsp.sim.interp import Code
from visa_lsp.sim.lanes import finish, lane_plan
from visa_lsp.sim.machine import Machine
from visa_lsp.sim.operands import Site
from visa_lsp.sim.words import FLOAT

if TYPE_CHECKING:
    from visa_lsp.program.model import Inst, Kernel
    from visa_lsp.sim.operands import Op, Store
    from visa_lsp.sim.registers import Frame

Contents = np.ndarray[Any, np.dtype[np.uint8]]
_RANDOM: Final = np.random.default_rng(1)
_UNDEFINED: Final = _RANDOM.integers(0, 256, 1 << 16, np.uint8)
# What variables begin with that nothing has written. Most random bytes are no floats that an integer can hold.
UNDEFINED: Final[tuple[Contents, ...]] = (
    _UNDEFINED,
    _RANDOM.uniform(1, 999, 1 << 14).astype(np.float32).view(np.uint8),
)
_UNDEFINED_STEP: Final = 1_007  # between the contents of threads
_POWER = word("pow", S0, S1)


def undefined_bytes(size: int, thread: int) -> Contents:
    """Return contents of registers that nothing has written, others for each thread."""
    start = thread * _UNDEFINED_STEP % (_UNDEFINED.size - size)
    return _UNDEFINED[start : start + size]


class TextMachine(Machine):
    """A run of a text with the finalizer's expansions. ``undefined``: what variables begin with, else zeros.

    ``has_one_nan``: operations return one and the same NaN.
    """

    undefined: Contents | None = None
    has_one_nan = False

    def acquire(self, kernel: Kernel) -> Frame:
        """Return a frame of a kernel or function."""
        frame = super().acquire(kernel)
        if self.undefined is not None:
            start, end = frame.code.layout.predefined_end, frame.code.layout.declared_end
            frame.regs[start:end] = np.resize(self.undefined, end - start)
        return frame

    def code(self, kernel: Kernel) -> Code:
        """Return the compiled form of a kernel or function."""
        code = self._codes.get(id(kernel))
        if code is None:
            dispatch = self.dispatch
            code = self._codes[id(kernel)] = _Code(kernel, dispatch.platform.grf_bytes, dispatch.file_variables)
            code.grew = self.grew
            if self.has_one_nan:
                code.site_class = _OneNanSite
        return code


class _Code(Code):
    def op_for(self, inst: Inst, pc: int) -> Op:
        """Return the op of an instruction; that of ``pow`` is the expansion."""
        meaning = inst.row.meaning
        if not isinstance(meaning, Lane) or meaning.expr != _POWER:
            return super().op_for(inst, pc)
        site = Site(self, inst, pc)
        sources, dst = [inst.get("src0"), inst.get("src1")], inst.get("dst")
        fetches, _, convert = lane_plan(site, _POWER, sources, dst)

        def expand(_f: Any, lanes: list[Any]) -> Any:
            return FLOAT["exp2"](FLOAT["mul"](FLOAT["log2"](np.abs(lanes[0])), lanes[1]))

        return finish(site, fetches, expand, convert, dst)


class _OneNanSite(Site):
    def write(self, operand: Any, lanes: int | None = None) -> Store:
        """Return a store that makes NaNs one and the same, except those of copies."""
        return with_one_nan(self, operand, self.inst.row.mnemonic, super().write(operand, lanes))
