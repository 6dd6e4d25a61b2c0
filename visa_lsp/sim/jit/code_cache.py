"""The compiled code of kernels, shared by runs, and the limits on the size of kernels.

Separate from the machine, because most launches under checkers end before anything is compiled, and need only this
module.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeAlias

from visa_lsp.sim.analyses.inlined_calls import InlinedCalls, inline_calls
from visa_lsp.sim.image_messages import form_of

if TYPE_CHECKING:
    from visa_lsp.program.model import Kernel
    from visa_lsp.sim.analyses.definedness_proof import Definedness
    from visa_lsp.sim.analyses.modes import Modes
    from visa_lsp.sim.dispatch import Dispatch
    from visa_lsp.sim.interp import Code
    from visa_lsp.sim.jit.body import CompiledBody
    from visa_lsp.sim.memory import ImageForm, Sampler

# Of a body that holds the registers and other state of a thread in values: each exit stores them. For 3,500
# instructions this takes LLVM 4.8 seconds instead of 1.3.
MAX_HELD_INSTRUCTIONS: Final = 500
MAX_MAKINGS: Final = 16  # of a program, for different launches

BodyKey: TypeAlias = "tuple[int, Modes, RunMode]"  # of a kernel or function, by its identity


class ObjectStore(Protocol):
    """A store of object code for other processes; a key has everything that the code depends on."""

    def get(self, key: str, /) -> object:
        """Return the stored object code, bytes in base64; None without an entry."""

    def put(self, key: str, value: bytes, /) -> None:
        """Store object code."""

    def flush(self) -> None:
        """Write the stored object code."""


class Stopwatch:
    """Measures the wall seconds inside of its ``with`` blocks, nested ones once; the kernel's time excludes them."""

    def __init__(self) -> None:
        self.seconds, self._began, self._depth = 0.0, 0.0, 0

    def __enter__(self) -> None:
        self._depth += 1
        if self._depth == 1:
            self._began = perf_counter()

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if not self._depth:
            self.seconds += perf_counter() - self._began


class RunMode(NamedTuple):
    """The additional code in a body: tests for checkers, and atomic updates for parallel threads.

    ``to_the_end``: the registers of a thread are read after its end.
    """

    watched: bool = False
    side_by_side: bool = False
    to_the_end: bool = False


PLAIN: Final = RunMode()


class Bindings(NamedTuple):
    """The parts of a launch that its code contains: numbers of surfaces with forms of images, samplers, names of symbols, functions."""

    surfaces: tuple[int, ...] = ()
    forms: tuple[ImageForm, ...] = ()
    samplers: tuple[tuple[int, Sampler], ...] = ()
    symbols: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()

    @staticmethod
    def of(dispatch: Dispatch) -> Bindings:
        """Return those of a dispatch; a plain buffer has the form of a line of dwords."""
        surfaces, samplers = sorted(dispatch.surfaces.items()), sorted(dispatch.samplers.items())
        forms = tuple(form_of(buffer)[0] for _, buffer in surfaces)
        symbols = tuple(sorted({*dispatch.symbols, *dispatch.functions}))
        numbers, functions = tuple(number for number, _ in surfaces), tuple(sorted(dispatch.functions))
        return Bindings(numbers, forms, tuple(samplers), symbols, functions)


class Making:
    """The compiled code for equal dispatches, shared by all machines that run them, and the time spent on it.

    ``store`` has the code compiled by other processes.
    """

    def __init__(self, store: ObjectStore | None = None, kernel: Kernel | None = None) -> None:
        self.store = store
        self.kernel = kernel  # kept alive, because facts about it are found by its identity
        self.stopwatch = Stopwatch()
        self.codes: dict[int, list[Code]] = {}  # by kernel: unused forms of the interpreter
        self.bodies: dict[BodyKey, CompiledBody] = {}
        self.proofs: dict[int, Definedness | None] = {}  # by kernel
        self._inlined: dict[int, InlinedCalls | None] = {}  # by kernel

    def inline(self, dispatch: Dispatch) -> InlinedCalls | None:
        """Return the kernel of a dispatch without calls of subroutines; None where it has none, or must keep them."""
        key = id(dispatch.kernel)
        if key not in self._inlined:
            self._inlined[key] = inline_calls(dispatch.kernel, dispatch.simd)
        return self._inlined[key]


class Makings:
    """The compiled code of a program, by its dependencies."""

    def __init__(self, store: ObjectStore | None = None) -> None:
        self._store = store
        self._known: dict[object, Making] = {}

    def of(self, dispatch: Dispatch) -> Making:
        """Return the compiled code that a dispatch can share."""
        full = (1 << dispatch.simd) - 1
        key = (
            id(dispatch.kernel), dispatch.platform.name, Bindings.of(dispatch), dispatch.slm_bytes,
            tuple(dispatch.file_variables), dispatch.partial is None,
            all(dispatch.lanes(n) == full for n in range(dispatch.threads_per_group)),
        )  # fmt: skip
        if key not in self._known:
            if len(self._known) == MAX_MAKINGS:
                self._known.clear()
            self._known[key] = Making(self._store, dispatch.kernel)
        return self._known[key]
