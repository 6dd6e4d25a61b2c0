"""The lists of one kernel's entry as ``emit`` writes them: payload, binding table, samplers, argument infos.

Knows ze_info's keys and the types of inputs, not the analysis of their roles. Invariant: arguments may be written in
any order; each is described once in ``args_info``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.program.payload_layout import PayloadLayout
    from visa_lsp.zeinfo.emit.slots import InputSlot

_TYPES: Final = {
    "ud": "uint", "d": "int", "uw": "ushort", "w": "short", "ub": "uchar", "b": "char", "uq": "ulong", "q": "long",
    "hf": "half", "f": "float", "df": "double",
}  # fmt: skip
_BYTES: Final = {"ud": 4, "d": 4, "f": 4, "uw": 2, "w": 2, "hf": 2, "ub": 1, "b": 1}
_SLM_ALIGNMENT: Final = 16


def type_bytes(name: str) -> int:
    """Return the number of bytes of an element of a type."""
    return _BYTES.get(name, 8)


class Entries:
    """The growing lists of one kernel."""

    def __init__(self, layout: PayloadLayout) -> None:
        self.layout = layout
        self.payload: list[dict[str, object]] = []
        self.bindings: list[dict[str, object]] = []
        self.inline_samplers: list[dict[str, object]] = []
        self._arguments: dict[int, dict[str, object]] = {}
        self.samplers = 0

    @property
    def next(self) -> int:
        """The lowest unused number of an argument."""
        return next(i for i in range(len(self._arguments) + 1) if i not in self._arguments)

    @property
    def arguments(self) -> list[dict[str, object]]:
        """``args_info``, in the order of the arguments."""
        return [self._arguments[index] for index in sorted(self._arguments)]

    def info(self, index: int, name: str, type_name: str, space: str) -> None:
        """Add the source's description of an argument."""
        self._arguments[index] = {
            "index": index, "name": name, "address_qualifier": space, "access_qualifier": "NONE",
            "type_name": type_name, "type_qualifiers": "NONE",
        }  # fmt: skip

    def place(self, kind: str, place: int, size: int, **more: object) -> None:
        """Add an entry of the payload at a place in the register file."""
        self.payload.append({"arg_type": kind, "offset": self.layout.offset(place), "size": size, **more})

    def value(self, index: int, slots: Sequence[InputSlot], room: int = 0) -> None:
        """Add a value of one input, or a vector with an input per element; ``room`` is its size if larger than the elements."""
        slot = slots[0]
        size = slots[-1].end - slot.offset
        elements = len(slots) if len(slots) > 1 else slot.elements
        name = _TYPES.get(slot.type, "uchar")
        if elements in (2, 3, 4, 8, 16) and size == elements * type_bytes(slot.type):
            name += str(elements)
        self.info(index, slot.name, f"{name};{room or size}", "__private")
        self.place("arg_byvalue", slot.offset, room or size, arg_index=index)

    def struct(self, index: int, size: int, parts: Sequence[tuple[InputSlot, int]]) -> None:
        """Add a struct by value: its pieces, each with its offset in the struct."""
        self.info(index, parts[0][0].name, f"struct;{size}", "__private")
        for slot, source in parts:
            self.place("arg_byvalue", slot.offset, slot.size, arg_index=index, source_offset=source)

    def local(self, index: int, slot: InputSlot) -> None:
        """Add a pointer to shared local memory."""
        self.info(index, slot.name, "uchar*;8", "__local")
        self.place(
            "arg_bypointer", slot.offset, slot.size, arg_index=index, addrmode="slm", addrspace="local",
            access_type="readwrite", slm_alignment=_SLM_ALIGNMENT,
        )  # fmt: skip

    def buffer(self, index: int, slot: InputSlot, bti: int | None, *, address: bool, constant: bool = False) -> None:
        """Add a buffer with its address in the payload, which is also surface ``bti``; ``address``: the code uses the address."""
        space = "constant" if constant else "global"
        self.info(index, slot.name, "uchar*;8", f"__{space}")
        if bti is not None:
            self._stateful(index, bti, space)
        if bti is not None and not address:
            self.place("buffer_address", slot.offset, 8, arg_index=index)
            return
        self.place(
            "arg_bypointer", slot.offset, 8, arg_index=index, addrmode="stateless", addrspace=space,
            access_type="readonly" if constant else "readwrite",
        )  # fmt: skip

    def surface(self, index: int, bti: int, image_type: str, name: str) -> None:
        """Add a buffer, or with a type an image, that is only in the binding table."""
        self.info(index, name, "image2d_t;8" if image_type else "uchar*;8", "__global")
        self._stateful(index, bti, "image" if image_type else "global", image_type)

    def bindless(self, index: int, slot: InputSlot, image_type: str) -> None:
        """Add a buffer or image whose handle is in the payload."""
        self.info(index, slot.name, "image2d_t;8" if image_type else "uchar*;8", "__global")
        image = {"image_type": image_type} if image_type else {}
        self.place(
            "arg_bypointer", slot.offset, slot.size, arg_index=index, addrmode="bindless",
            addrspace="image" if image_type else "global", access_type="readwrite", **image,
        )  # fmt: skip

    def sampler(self, index: int, slot: InputSlot | None, name: str) -> None:
        """Add a sampler: its handle in the payload, or without an input its number."""
        self.info(index, name, "sampler_t;4", "__constant")
        mode, offset, size = ("stateful", None, 0) if slot is None else ("bindless", slot.offset, slot.size)
        self.payload.append(
            {
                "arg_type": "arg_bypointer", "offset": 0 if offset is None else self.layout.offset(offset), "size": size,
                "arg_index": index, "addrmode": mode, "addrspace": "sampler", "access_type": "readwrite",
                "sampler_index": self.samplers, "sampler_type": "texture",
            }
        )  # fmt: skip
        self.samplers += 1

    def inline_sampler(self, slot: InputSlot | None, address: str, filter_: str, *, normalized: bool) -> None:
        """Add a sampler that is defined in the kernel's source."""
        entry = {
            "sampler_index": self.samplers,
            "addrmode": address,
            "filtermode": filter_,
            "normalized": normalized,
        }
        self.inline_samplers.append(entry)
        if slot is not None:
            self.place(
                "inline_sampler",
                slot.offset,
                slot.size,
                addrmode="bindless",
                addrspace="sampler",
                sampler_index=self.samplers,
            )
        self.samplers += 1

    def _stateful(self, index: int, bti: int, space: str, image_type: str = "") -> None:
        entry: dict[str, object] = {
            "arg_type": "arg_bypointer", "offset": 0, "size": 0, "arg_index": index, "addrmode": "stateful",
            "addrspace": space, "access_type": "readonly" if space == "constant" else "readwrite",
        }  # fmt: skip
        if image_type:
            entry["image_type"] = image_type
        self.payload.append(entry)
        self.bindings.append({"bti_value": bti, "arg_index": index})
