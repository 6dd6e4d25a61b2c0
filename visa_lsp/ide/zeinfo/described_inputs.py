"""The contents of the inputs of a vISA text by a ze_info text, and the places of both in each other.

Callers need no YAML. Never raises for any text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from visa_lsp.ide.zeinfo.kernel_texts import kernel_texts, registers_of
from visa_lsp.program.payload_layout import Registers, id_block
from visa_lsp.zeinfo.kernel_checks import find_layout
from visa_lsp.zeinfo.kernels import child, entries, number, word_of
from visa_lsp.zeinfo.placement import arguments_of, inputs_of
from visa_lsp.zeinfo.source import ZeInfoSource

if TYPE_CHECKING:
    from collections.abc import Mapping

    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.text import Span
    from visa_lsp.zeinfo.facts import KernelText
    from visa_lsp.zeinfo.yaml import YamlItem

HELD: Final = ("arg_bypointer", "arg_byvalue", "buffer_address")  # kinds of an argument itself, or a pointer to it
_DIMENSIONS: Final = "xyz"


@dataclass(frozen=True, slots=True)
class HeldArgument:
    """Content of an input by the ze_info: an argument, or a value that the runtime fills (``index`` -1).

    ``offset`` and ``size`` are bytes in the document's part of the payload.
    """

    index: int
    name: str = ""
    type_name: str = ""
    address_space: str = ""
    kind: str = ""
    offset: int = 0
    size: int = 0

    @property
    def is_value(self) -> bool:
        """True if it is the argument itself or a pointer to it, not a property of it."""
        return self.index >= 0 and self.kind in HELD


def inputs_told(text: str, analysis: Analysis, kernel: str) -> dict[str, tuple[HeldArgument, ...]]:
    """Return the content of a kernel's inputs by variable, by a ze_info text, in register order."""
    source = ZeInfoSource.of(text)
    item = next((k for k in entries(source.root, "kernels") if word_of(k, "name") == kernel), None)
    described = next((k for k in kernel_texts(analysis, "") if k.kernel.name == kernel), None)
    if item is None or described is None:
        return {}
    infos = {number(a, "index"): a for a in _argument_infos(source, kernel)}
    layout = find_layout(source, item, described, registers_of(analysis))
    arguments = arguments_of(item, layout)
    said = number(child(item, "execution_env"), "simd_size")
    simd = described.kernel.int_attribute("SimdSize") or said or 1
    inputs: dict[str, tuple[HeldArgument, ...]] = {}
    for entry in inputs_of(described):
        if layout.grf <= entry.start < layout.cross_start:
            contents = _per_thread(item, entry.start - layout.grf, id_block(simd, layout.grf))
        else:
            contents = tuple(_find_argument(a.item, infos) for a in arguments if entry.overlaps(a))
        if contents:
            inputs[entry.name] = contents
    return inputs


def _find_argument(item: YamlItem, infos: Mapping[int | None, YamlItem]) -> HeldArgument:
    index = number(item, "arg_index")
    info = infos.get(index) if index is not None else None
    return HeldArgument(
        -1 if index is None else index,
        word_of(info, "name"),
        word_of(info, "type_name").split(";")[0],
        word_of(info, "address_qualifier"),
        word_of(item, "arg_type"),
        number(item, "offset") or 0,
        number(item, "size") or 0,
    )


def _per_thread(item: YamlItem, place: int, block: int) -> tuple[HeldArgument, ...]:
    """Return the content of a place in the per-thread payload; each local id takes a ``block`` of bytes, x first."""
    each = entries(item, "per_thread_payload_arguments")
    if [word_of(entry, "arg_type") for entry in each] == ["local_id"] and place // block < len(_DIMENSIONS):
        return (replace(_find_argument(each[0], {}), name=_DIMENSIONS[place // block]),)
    contents = (_find_argument(entry, {}) for entry in each)
    return tuple(a for a in contents if a.offset <= place < a.offset + max(1, a.size))


def arguments_in(inputs: Mapping[str, tuple[HeldArgument, ...]]) -> dict[str, HeldArgument]:
    """Return the inputs that hold an argument or point to it, with the argument."""
    arguments = ((name, next((a for a in reversed(every) if a.is_value), None)) for name, every in inputs.items())
    return {name: argument for name, argument in arguments if argument is not None}


def _argument_infos(source: ZeInfoSource, kernel: str) -> list[YamlItem]:
    entry = next((k for k in entries(source.root, "kernels_misc_info") if word_of(k, "name") == kernel), None)
    return entries(entry, "args_info")


def kernel_names(text: str) -> tuple[str, ...]:
    """Return the names of the kernels that a document describes."""
    source = ZeInfoSource.of(text)
    return tuple(name for k in entries(source.root, "kernels") if (name := word_of(k, "name")))


def kernel_at(analysis: Analysis, offset: int) -> str | None:
    """Return the kernel whose name or input is at an offset of a vISA text."""
    for text in kernel_texts(analysis, ""):
        if text.name.touches(offset) or any(span.touches(offset) for span in text.inputs):
            return text.kernel.name
    return None


def simd_size_of(analysis: Analysis, kernel: str) -> int:
    """Return the SIMD size in the text of a kernel; 0 if it has none."""
    described = next((text.kernel for text in kernel_texts(analysis, "") if text.kernel.name == kernel), None)
    return (described.int_attribute("SimdSize") or 0) if described is not None else 0


def place_in_document(text: str, analysis: Analysis, offset: int) -> Span | None:
    """Return the document's place for an offset of a vISA text: the argument of an ``.input``, or a kernel's entry."""
    source, platform = ZeInfoSource.of(text), registers_of(analysis)
    places = (_place_of(source, kernel, offset, platform) for kernel in kernel_texts(analysis, ""))
    return next((place for place in places if place is not None), None)


def _place_of(source: ZeInfoSource, text: KernelText, offset: int, platform: Registers | None) -> Span | None:
    kernel = next((k for k in entries(source.root, "kernels") if word_of(k, "name") == text.kernel.name), None)
    if kernel is None:
        return None
    if text.name.touches(offset):
        name = child(kernel, "name")
        return source.span(name) if name is not None else None
    entry = next((i for i in inputs_of(text) if text.input(i.index).touches(offset)), None)
    if entry is None:
        return None
    layout = find_layout(source, kernel, text, platform)
    argument = next((a for a in arguments_of(kernel, layout) if entry.overlaps(a)), None)
    each = entries(kernel, "per_thread_payload_arguments") if entry.start < layout.cross_start else ()
    item = argument.item if argument is not None else next(iter(each), None)
    if item is None:
        return None
    kind = child(item, "arg_type")
    return source.span(kind if kind is not None else item)
