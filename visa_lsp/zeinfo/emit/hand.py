"""``emit`` for a handwritten text, in which names and types determine the meaning of inputs.

Knows the names that the runtime fills, and hints in order or by name. Invariant: every input gets an entry, or the kernel
is refused with the input at fault.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from visa_lsp.zeinfo.emit.slots import ArgumentHint, EmitError, InputSlot, Payload

if TYPE_CHECKING:
    from visa_lsp.program.model import Kernel
    from visa_lsp.zeinfo.emit.entries import Entries
    from visa_lsp.zeinfo.emit.user_answers import Answers
    from visa_lsp.zeinfo.facts import Uses

IMPLICIT: Final = {
    "global_id_offset": 12, "local_size": 12, "enqueued_local_size": 12, "group_count": 12, "global_size": 12,
    "work_dimensions": 4,
}  # fmt: skip


class HandArguments:
    """The arguments of one kernel."""

    def __init__(self, kernel: Kernel, payload: Payload, uses: Uses, said: Answers, entries: Entries) -> None:
        self.kernel = kernel
        self.payload = payload
        self.uses = uses
        self.said = said
        self.out = entries
        self.private = False

    def write(self, hints: Sequence[ArgumentHint] | Mapping[str, ArgumentHint] | None) -> None:
        """Write every entry."""
        rest = self._implicit(self.payload.rest)
        if isinstance(hints, Mapping):
            self._by_name(rest, hints)
        elif hints is not None:
            self._in_order(rest, list(hints))
        else:
            self._by_type(rest)

    def _fail(self, message: str, slot: InputSlot | None = None) -> EmitError:
        return EmitError(self.kernel.name, message, -1 if slot is None else slot.index)

    def _implicit(self, slots: list[InputSlot]) -> list[InputSlot]:
        rest = []
        for slot in slots:
            name = slot.name.lower()
            entry = self.said.entry(slot.name)
            if entry is not None:
                self.out.place(
                    entry[0], slot.offset, slot.size, **({} if entry[1] is None else {"arg_index": entry[1]})
                )
                self.private |= entry[0] == "private_base_stateless"
            elif name not in IMPLICIT:
                rest.append(slot)
            elif slot.size > IMPLICIT[name]:
                raise self._fail(f".input {slot.name} has {slot.size} bytes, but {name} has {IMPLICIT[name]}", slot)
            else:
                self.out.place(name, slot.offset, slot.size)
        return rest

    def _by_type(self, slots: list[InputSlot]) -> None:
        for slot in slots:
            address = slot.is_scalar("uq", 8) or slot.is_scalar("q", 8)
            if address:
                self.out.buffer(self.out.next, slot, None, address=True)
            else:
                self._argument(slot, "value" if slot.kind == 0 else "sampler" if slot.kind == 1 else "buffer")
        for number in sorted(self.uses.surfaces):
            self.out.surface(self.out.next, number, "", f"bti({number})")

    def _by_name(self, slots: list[InputSlot], hints: Mapping[str, ArgumentHint]) -> None:
        missing = next((s for s in slots if s.name not in hints), None)
        if missing is not None:
            raise self._fail(f"no argument is given for .input {missing.name}", missing)
        for slot in slots:
            self._argument(slot, hints[slot.name].kind, hints[slot.name].image_type)
        names = {s.name for s in slots}
        for name, hint in hints.items():
            if name.startswith("bti(") and name.endswith(")") and name[4:-1].isdigit():
                self.out.surface(self.out.next, int(name[4:-1]), _image_type(hint), name)
            elif name not in names:
                raise self._fail(f"there is no .input '{name}'")

    def _in_order(self, slots: list[InputSlot], hints: list[ArgumentHint]) -> None:
        rest = list(slots)
        stateful = bool(self.uses.surfaces)
        surfaces = 0
        for number, hint in enumerate(hints):
            if hint.kind in ("buffer", "image"):
                slot = rest[0] if rest else None
                if slot is not None and slot.kind == 2:
                    self._argument(rest.pop(0), hint.kind, hint.image_type)
                elif slot is not None and hint.kind == "buffer" and slot.kind == 0 and slot.size == 8:
                    taken = surfaces if stateful else None
                    self.out.buffer(self.out.next, rest.pop(0), taken, address=taken is None)
                    surfaces += stateful
                else:
                    self.out.surface(self.out.next, surfaces, _image_type(hint), f"arg{number}")
                    surfaces += 1
            elif hint.kind == "sampler" and not (rest and rest[0].kind == 1):
                self.out.sampler(self.out.next, None, f"arg{number}")
            elif not rest:
                raise self._fail(f"argument {number} ({hint.kind}) has no .input")
            else:
                self._add_argument(rest, hint)
        if rest:
            raise self._fail(f"{rest[0].title} belongs to no argument", rest[0])

    def _add_argument(self, rest: list[InputSlot], hint: ArgumentHint) -> None:
        """Add an argument of one input, or a vector by value with an input per element."""
        slot = rest.pop(0)
        if hint.kind != "value" or hint.count == 1 or slot.elements >= hint.count:
            self._argument(slot, hint.kind)
            return
        parts = [slot]
        while rest and len(parts) < hint.count and rest[0].offset <= parts[-1].end and rest[0].type == slot.type:
            parts.append(rest.pop(0))
        self.out.value(self.out.next, parts)

    def _argument(self, slot: InputSlot, kind: str, image_type: str = "") -> None:
        """Add an argument with its value, address or handle in the payload."""
        index = self.out.next
        if slot.kind == 0 and kind == "value":
            self.out.value(index, [slot])
        elif slot.kind == 0 and kind == "local":
            self.out.local(index, slot)
        elif kind == "sampler" and slot.kind == 1:
            self.out.sampler(index, slot, slot.name)
        elif slot.kind == 2 and kind in ("buffer", "image"):
            self.out.bindless(index, slot, _image_type(ArgumentHint(kind, image_type=image_type)))
        elif slot.kind == 0 and kind == "buffer" and slot.size == 8:
            self.out.buffer(index, slot, None, address=True)
        else:
            what = ("a general variable", "a sampler", "a surface")[min(slot.kind, 2)]
            raise self._fail(f".input {slot.name} is {what} of {slot.size} bytes, but the argument is a {kind}", slot)


def _image_type(hint: ArgumentHint) -> str:
    return (hint.image_type or "image_2d") if hint.kind == "image" else ""
