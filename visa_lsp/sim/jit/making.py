"""What is made of a kernel before it runs as compiled code, and which kernels are too large for that.

Apart from the machine: most launches under checkers are over before anything is compiled, and need no more than this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from visa_lsp.sim.jit.stopwatch import Stopwatch

if TYPE_CHECKING:
    from visa_lsp.program.model import Kernel
    from visa_lsp.sim.interp import Code
    from visa_lsp.sim.jit.bodies import CompiledBody
    from visa_lsp.sim.jit.modes import Modes

MOST_INSTRUCTIONS: Final = 8_000  # of a body that is compiled: some ten seconds


def is_large(kernel: Kernel) -> bool:
    """Whether a body has more instructions than are compiled."""
    return len(kernel.instructions) > MOST_INSTRUCTIONS


class ObjectStore(Protocol):
    """Where object code is kept for other processes, by a key that says all that it depends on."""

    def get(self, key: str, /) -> object:
        """What was put, bytes in base64; None where there is nothing."""
        ...

    def put(self, key: str, value: bytes, /) -> None:
        """Keep object code."""
        ...

    def flush(self) -> None:
        """Write what was put."""
        ...


class Making:
    """What has been compiled for one dispatch, for all machines that run it, and the time that it took.

    ``store`` has what other processes have compiled.
    """

    def __init__(self, store: ObjectStore | None = None) -> None:
        self.store = store
        self.stopwatch = Stopwatch()
        self.codes: dict[int, list[Code]] = {}  # by kernel: forms of the interpreter, which no machine uses now
        self.bodies: dict[tuple[int, Modes, bool, bool], CompiledBody] = {}  # by kernel, and by how it is run
