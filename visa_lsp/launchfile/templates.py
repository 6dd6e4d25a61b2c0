"""Arguments of ze_info as text for a launch file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.program.elements import cl_element

if TYPE_CHECKING:
    from visa_lsp.program.payload import KernelInfo

_ELEMENTS: Final = 1024
_OTHERS: Final = {
    "local": f"{{local: {_ELEMENTS}}}",
    "image": "{image: {dtype: uint8, shape: [64, 64, 4], init: zeros}}",
    "sampler": "{sampler: {address: clamp_to_edge, filter: nearest}}",
}


def kind_of(info: KernelInfo, index: int) -> str:
    """Return the kind of an argument of a kernel: value, buffer, local, image or sampler; empty if unknown."""
    return next((entry.kind for entry in info.payload if entry.arg_index == index and entry.kind), "")


def template(info: KernelInfo, index: int) -> str:
    """Return an argument of the right kind and type, with recognisable contents."""
    kind, type_name = kind_of(info, index), info.type_of(index)
    if kind in _OTHERS:
        return _OTHERS[kind]
    if kind == "value":
        width = type_name[len(type_name.rstrip("0123456789")) :] if cl_element(type_name) else ""
        count = 4 if width == "3" else int(width or 1)
        return "{value: 1}" if count == 1 else f"{{values: [{', '.join(['1'] * count)}]}}"
    element = cl_element(type_name.rstrip("* ")) or "float32"
    return f"{{buffer: {{dtype: {element}, shape: [{_ELEMENTS}], init: arange}}}}"


def type_words(info: KernelInfo, index: int) -> str:
    """Return type and address space of an argument in words: ``double*, global, read and written``."""
    argument = next((a for a in info.arguments if a.index == index), None)
    entries = [entry for entry in info.payload if entry.arg_index == index]
    space = next((entry.addrspace for entry in entries if entry.addrspace), "")
    access = next((entry.access_type for entry in entries if entry.access_type), "")
    qualifier = argument.address_qualifier.removeprefix("__") if argument is not None else ""
    words = [
        info.type_of(index) or kind_of(info, index),
        space or (qualifier if qualifier != "private" else ""),
        access,
    ]
    return ", ".join(word for word in words if word)
