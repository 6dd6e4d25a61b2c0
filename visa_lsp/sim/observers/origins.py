"""The places that read uninitialised values, and one finding for each place whose value has an effect.

The shadows of registers and memory hold the number of a place, assigned when it first reads a value that was never
written. Invariant: a place is reported at most once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.sim.faults import Fault, FaultKind
from visa_lsp.sim.memory import Memory
from visa_lsp.sim.observers.shadow import UNWRITTEN, RegisterShadow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.sim.interp import Thread
    from visa_lsp.sim.observers.definedness_plan import DefinednessPlan, RegisterOperand
    from visa_lsp.sim.observers.hooks import MemoryAccess

Array = np.ndarray[Any, np.dtype[Any]]

_MAX_ORIGINS: Final = 60_000
STORED: Final = "is stored"


@dataclass(slots=True)
class _Origin:
    """A place that read an uninitialised value."""

    what: str
    name: str
    kernel: str
    pc: int
    line: int
    lanes: tuple[int, ...]  # lanes of the thread; empty for the whole thread
    reported: bool = False
    # Whether the load was defined in part; then this may be padding, and a store of it is not a finding.
    quiet: bool = False


class Origins:
    """All places of a run; findings are passed to ``found``."""

    def __init__(self, faults: list[Fault]) -> None:
        self._found = faults
        self._origins: list[_Origin] = []
        self._numbers: dict[tuple[int, int, object], int] = {}
        self._quiet: dict[int, int] = {}

    def of_register(
        self, thread: Thread, source: RegisterOperand, plan: DefinednessPlan, places: Array, fresh: Array
    ) -> int:
        """Return the origin of bytes of a variable, or of the register file."""
        frame = thread.frame
        var = source.touch.var
        key = (id(frame.code), frame.pc, var)
        number = self._numbers.get(key)
        if number is not None:
            return number
        bad = np.flatnonzero(fresh.any(axis=1))
        row = int(bad[0])
        layout, kernel = frame.code.layout, frame.code.kernel
        byte, element = places[row][fresh[row]], ""
        variable = var if var >= 0 else layout.at(int(byte[0]))
        name = kernel.variable_name(variable) if variable is not None else "the register file"
        if variable is not None:
            byte = byte - layout.offset(variable)
            type_ = kernel.variable_type(variable)
            elements = sorted({int(n) // type_.size for n in byte}) if type_ is not None else []
            # The text does not show an element that an address register selects, nor well a single one within a row.
            if elements and (var < 0 or (plan.lanes == 1 and elements[0] == elements[-1] > 0)):
                numbers = str(elements[0]) if len(elements) == 1 else f"{elements[0]} to {elements[-1]}"
                element = f" (element{'' if len(elements) == 1 else 's'} {numbers})"
        rest = f", nor {'was' if bad.size == 2 else 'were'} {bad.size - 1} more" if bad.size > 1 else ""
        simd = thread.machine.dispatch.simd
        if thread.dispatch_mask != (1 << simd) - 1:
            rest += f"; the thread has only {thread.dispatch_mask.bit_count()} of {simd} lanes"
        by_lane = places.shape[0] % plan.lanes == 0 and plan.lanes > 1
        lanes = [row % plan.lanes, *(bad % plan.lanes).tolist()] if by_lane else []
        return self._new(
            thread,
            key,
            f"bytes {int(byte[0])} to {int(byte[-1])} of {name}{element} were never written{rest}",
            name if variable is not None else "",
            lanes,
        )

    def of_memory(self, access: MemoryAccess, offset: int, row: int) -> int:
        """Return the origin of bytes of memory that a launch does not fill."""
        frame = access.thread.frame
        key = (id(frame.code), frame.pc, "memory")
        number = self._numbers.get(key)
        if number is not None:
            return number
        home = access.space
        if isinstance(home, Memory):
            place = home.find(int(access.places[row]))
            home = place[0] if place is not None else None
        if home is None or home.private:
            span = f"bytes {offset}-{offset + access.size - 1} of private memory"
        else:
            span = home.span_text(offset, access.size)
        lanes = [int(access.lanes[row])] if row < access.lanes.size else []
        return self._new(access.thread, key, f"{span} {'was' if access.size == 1 else 'were'} never written", "", lanes)

    def of_predicate(self, thread: Thread, shadow: RegisterShadow, var: int) -> int:
        """Return the origin of a predicate variable, or the origin from which its bits were computed."""
        if shadow.pred_origin[var] != UNWRITTEN:
            return shadow.pred_origin[var]
        kernel = thread.frame.code.kernel
        name = kernel.string(kernel.predicates[var - 1].name_index) or f"P{var}"
        key = (id(thread.frame.code), thread.frame.pc, f"P{var}")
        return self._numbers.get(key) or self._new(thread, key, f"predicate {name} was never written", name)

    def of_state(self, thread: Thread, states: list[int], sampler: bool, cell: int) -> int:
        """Return the origin of a surface or sampler variable."""
        if states[cell] != UNWRITTEN:
            return states[cell]
        frame = thread.frame
        bases = frame.code.layout.sampler_base if sampler else frame.code.layout.surface_base
        number = max((i for i, base in enumerate(bases) if base <= cell), default=0)
        kernel, word = frame.code.kernel, "sampler" if sampler else "surface"
        declared = kernel.samplers[number : number + 1] if sampler else kernel.surfaces[number - 6 : number - 5]
        name = kernel.string(declared[0].name_index) if declared else f"{word} {number}"
        key = (id(frame.code), frame.pc, f"{word}{cell}")
        return self._numbers.get(key) or self._new(thread, key, f"{word} variable {name} was never written", name)

    def of_address(self, thread: Thread, start: int) -> int:
        """Return the origin of an address element."""
        kernel = thread.frame.code.kernel
        bases = thread.frame.code.layout.address_base
        var = max(i for i, base in enumerate(bases) if base <= start)
        name = kernel.string(kernel.addresses[var].name_index) or f"A{var}"
        key = (id(thread.frame.code), thread.frame.pc, f"A{var}")
        return self._numbers.get(key) or self._new(thread, key, f"address variable {name} was never written", name)

    def _new(
        self, thread: Thread, key: tuple[int, int, object], what: str, name: str, numbers: Sequence[int] = ()
    ) -> int:
        if len(self._origins) >= _MAX_ORIGINS:
            return _MAX_ORIGINS + UNWRITTEN
        frame = thread.frame
        kernel = frame.code.kernel
        every = (frame.code.lane(frame.pc, number) for number in numbers)
        lanes = tuple(dict.fromkeys(lane for lane in every if lane is not None))
        self._origins.append(_Origin(what, name, kernel.name, frame.pc, kernel.instructions[frame.pc].line, lanes))
        number = self._numbers[key] = len(self._origins) + UNWRITTEN
        return number

    def quiet(self, number: int) -> int:
        """Return the quiet variant of a place, for values next to defined ones, such as the padding of a structure."""
        variant = self._quiet.get(number)
        if variant is None:
            origin = self._origins[number - UNWRITTEN - 1]
            self._origins.append(replace(origin, quiet=True))
            variant = self._quiet[number] = len(self._origins) + UNWRITTEN
        return variant

    def unquiet(self, numbers: Array) -> None:
        """Replace quiet variants by their places, for values that are computed with: those are no padding."""
        for number, quiet in self._quiet.items():
            numbers[numbers == quiet] = number

    def report(self, thread: Thread, number: int, sink: str) -> None:
        """Report an origin, once."""
        origin = self._origins[number - UNWRITTEN - 1]
        if origin.reported or (origin.quiet and sink == STORED):
            return
        origin.reported = True
        frame = thread.frame
        place = ""
        if (origin.kernel, origin.pc) != (frame.code.kernel.name, frame.pc):
            line = frame.code.kernel.instructions[frame.pc].line
            place = f" by instruction {frame.pc}" + (f", line {line + 1}" if line >= 0 else "")
            place = place.replace(" by ", " at ") if sink != STORED else place
        thread.machine.has_findings = True
        self._found.append(
            Fault(
                FaultKind.UNINITIALISED, f"{origin.what}; the value {sink}{place}", origin.kernel, thread.group.id,
                thread.number, origin.lanes[0] if origin.lanes else None, origin.pc, origin.line,
                other=f"the declaration of {origin.name}" if origin.name else None, variable=origin.name,
                items=thread.work_items(origin.lanes or None),
            )
        )  # fmt: skip
