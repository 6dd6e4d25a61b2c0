"""The registers that a body needs at each step: GRF rows, flags and address elements, each counted separately.

The model is the finalizer's estimate before allocation, as far as it depends on vISA alone; ``pressure`` computes its
live ranges. The finalizer's earlier rewrites and the registers that it adds (headers of messages, assembled payloads,
emulated 64-bit arithmetic) are not modelled, so that its own figure may be higher. Invariant: aliases count with their
root variable. Predefined variables do not count, except ``%r0``, which is live in the whole kernel for the message that
ends the thread.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.flow.divergence import divergent_blocks
from visa_lsp.flow.graph import Graph, graph_of
from visa_lsp.flow.loops import Loops, loops_of
from visa_lsp.flow.pressure import Pressure, Size
from visa_lsp.flow.program_steps import steps_of
from visa_lsp.flow.steps import Space, variable_key
from visa_lsp.flow.storage import Storage, storage_of
from visa_lsp.isa import predefined
from visa_lsp.isa.operands import align_bytes

if TYPE_CHECKING:
    from visa_lsp.program.model import Kernel, StateVariable

_FLAG_BITS: Final = 16
_INPUT_CLASS: Final = 7  # the bits of an input's kind for its class; 0 is a general variable
_TARGET_3D: Final = 1


class RegisterUse(Struct, frozen=True, dict=True):
    """A body's graph, whose steps are its instructions in order, and the register use of its variables."""

    kernel: Kernel
    grf_bytes: int
    graph: Graph
    storage: Storage

    @cached_property
    def loops(self) -> Loops:
        """The loops of the body."""
        return loops_of(self.graph)

    @cached_property
    def general(self) -> Pressure:
        """General variables; weights are bytes."""
        inputs = {self.storage.root(one.id) for one in self.kernel.inputs if one.kind & _INPUT_CLASS == 0}
        target = self.kernel.int_attribute("Target")
        waiting = frozenset[int]() if target == _TARGET_3D else divergent_blocks(self.graph)
        keys = frozenset(variable_key(Space.GENERAL, number) for number in inputs)
        return Pressure(self.graph, _general_sizes(self.kernel, self.storage), keys, waiting)

    @cached_property
    def flags(self) -> Pressure:
        """Predicates; weights are flag registers of 16 bits."""
        return Pressure(
            self.graph, _sizes(Space.PREDICATE, self.kernel.predicates, predefined.FIRST_PREDICATE, _FLAG_BITS)
        )

    @cached_property
    def addresses(self) -> Pressure:
        """Address variables; weights are elements."""
        return Pressure(self.graph, _sizes(Space.ADDRESS, self.kernel.addresses, predefined.FIRST_ADDRESS, 1))

    @cached_property
    def grf_rows(self) -> list[int]:
        """The GRF rows in use at each step, rounded down."""
        always = int(self.kernel.is_kernel)
        return [always + found // self.grf_bytes for found in self.general.at]

    def depth(self, step: int) -> int:
        """Return the loop depth of a step."""
        return self.loops.depths[self.graph.block_of[step]]


def registers_of(kernel: Kernel, grf_bytes: int) -> RegisterUse:
    """Return the register use of a body with GRF rows of ``grf_bytes``, computed on demand."""
    storage = storage_of(kernel, grf_bytes)
    graph = graph_of(steps_of(kernel, storage), kernel.name, calls_end_blocks=True)
    return RegisterUse(kernel, grf_bytes, graph, storage)


def _general_sizes(kernel: Kernel, storage: Storage) -> dict[int, Size]:
    """Return the declared variables with their own storage, and their bytes in registers.

    A variable smaller than a row with a stricter alignment than its size counts twice, as in the finalizer.
    """
    row, found = storage.grf_bytes, {}
    for number, size in storage.room.items():
        variable = kernel.variable(number)
        if variable is None or not size:
            continue
        align = align_bytes(variable.align, row)
        weight = -(-size // row) * row if size >= row else min(2 * size, align) if size < align else size
        found[variable_key(Space.GENERAL, number)] = Size((1 << size) - 1, weight, at_once=size <= 2 * row)
    return found


def _sizes(space: Space, variables: tuple[StateVariable, ...], first: int, unit: int) -> dict[int, Size]:
    return {
        variable_key(space, number): Size((1 << one.num_elements) - 1, -(-one.num_elements // unit))
        for number, one in enumerate(variables, first)
        if one.num_elements
    }
