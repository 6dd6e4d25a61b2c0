"""The values that ``emit`` works on: inputs to explain, hints about arguments, and doubts.

Knows the program's inputs, no ze_info. Invariant: a ``Doubt`` names the argument or input that the text leaves open, the
assumption, and the words of ``--say`` that settle it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec import field as member

from visa_lsp.program.payload_layout import PayloadLayout, Registers, id_block
from visa_lsp.zeinfo.facts import input_name

if TYPE_CHECKING:
    from visa_lsp.program.model import Kernel

LOCAL_IDS: Final = ("local_id_x", "local_id_y", "local_id_z")


class EmitError(Exception):
    """A kernel whose payload no ze_info can describe; ``input`` is the number of the input at fault, or -1."""

    def __init__(self, kernel: str, message: str, input_: int = -1) -> None:
        super().__init__(f"kernel '{kernel}': {message}")
        self.kernel = kernel
        self.message = message
        self.input = input_


class ArgumentHint(Struct, frozen=True):
    """The kind of one argument: ``kind`` is buffer, value, local, image or sampler.

    ``count`` is the number of a value's elements and ``size`` its bytes, 0 if unknown.
    """

    kind: str
    count: int = 1
    image_type: str = ""
    size: int = 0


class Doubt(Struct, frozen=True):
    """A guess of the document that the text does not settle; ``input`` is the input's number, or -1."""

    kernel: str
    message: str
    input: int = -1


class InputSlot(Struct, frozen=True):
    """An input to explain; ``id`` is that of its variable, ``kind`` is 0 for general, 1 for sampler, 2 for surface."""

    index: int
    name: str
    kind: int
    offset: int
    size: int
    type: str
    elements: int = 1
    id: int = 0

    @property
    def end(self) -> int:
        """The end: the byte after the last."""
        return self.offset + self.size

    @property
    def title(self) -> str:
        """The input in words."""
        return f".input {self.name} (offset={self.offset} size={self.size})"

    def is_scalar(self, type_: str, size: int) -> bool:
        """Return whether it is one general element of a type."""
        return self.kind == 0 and self.elements == 1 and self.type == type_ and self.size == size


class Payload(Struct):
    """The inputs of a kernel: local ids separately, the others in the order of their places."""

    ids: list[InputSlot] = member(default_factory=list)
    rest: list[InputSlot] = member(default_factory=list)
    per_thread: int = 0
    layout: PayloadLayout = PayloadLayout(32, 32, 0)


def slots_of(kernel: Kernel) -> list[InputSlot]:
    """Return the inputs of a kernel by place, with names."""
    slots = []
    for index, entry in enumerate(kernel.inputs):
        if entry.reserved:
            continue
        kind = entry.kind & 7
        type_ = kernel.variable_type(entry.id) if kind == 0 else None
        variable = kernel.variable(entry.id) if kind == 0 else None
        elements = variable.num_elements if variable else 1
        name = input_name(kernel, entry)
        type_name = type_.name if type_ else ""
        slots.append(InputSlot(index, name, kind, entry.offset, entry.size, type_name, elements, entry.id))
    return sorted(slots, key=lambda s: s.offset)


def payload_of(kernel: Kernel, platform: Registers, simd: int) -> Payload:
    """Separate the local ids at the beginning of the inputs, and lay out the rest after them.

    Offsets and sizes are in bytes, ``simd`` is in lanes. Raises EmitError if local ids are at another place than in
    ze_info, or an input lies before the cross-thread payload.
    """
    slots = slots_of(kernel)
    grf = platform.bytes
    block = id_block(simd, grf)
    named = [s for s in slots if s.name.lower() in LOCAL_IDS]
    ids = list(named)
    if not named:
        offset = grf
        for slot in slots:  # in a dump they follow r0 directly, in one or two inputs for each dimension
            if slot.offset != offset or slot.type not in ("w", "uw"):
                break
            ids.append(slot)
            offset += max(slot.size, grf)
        if (offset - grf) % block or (offset - grf) // block > 3:
            ids = []
    for number, slot in enumerate(named):
        expected = grf + number * block
        if slot.name.lower() != LOCAL_IDS[number] or slot.offset != expected or slot.size != 2 * simd:
            message = (
                f"{slot.title}: in ze_info local ids are words directly after r0: "
                f"{LOCAL_IDS[number]} offset={expected} size={2 * simd}"
            )
            raise EmitError(kernel.name, message, slot.index)
    end = max((s.end for s in ids), default=grf)
    per_thread = -(-(end - grf) // block) * block if ids else 0
    start = grf + (per_thread or (grf if platform.empty_row else 0))
    rest = [s for s in slots if s not in ids]
    early = next((s for s in rest if s.offset < start), None)
    if early is not None:
        message = f".input {early.name} (offset={early.offset}) lies before byte {start}, where the cross-thread payload starts"
        raise EmitError(kernel.name, message, early.index)
    return Payload(ids, rest, per_thread, PayloadLayout(grf, start, 0))
