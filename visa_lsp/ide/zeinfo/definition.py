"""Finds the ``.input`` of an argument of ze_info and the reverse, and the register bytes of each argument."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.ide.zeinfo.place import YamlEntry, spot_at
from visa_lsp.zeinfo.kernel_checks import find_layout
from visa_lsp.zeinfo.kernels import child, entries, number, word_of
from visa_lsp.zeinfo.placement import Argument, TextInput, arguments_of, inputs_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.program.payload_layout import Registers
    from visa_lsp.text import Span
    from visa_lsp.zeinfo.facts import KernelText
    from visa_lsp.zeinfo.source import ZeInfoSource


def input_of(
    source: ZeInfoSource, offset: int, texts: Sequence[KernelText], platform: Registers | None = None
) -> tuple[str, Span] | None:
    """Return the place in the text for an offset of the document: the ``.input`` of an argument, else the kernel."""
    spot = spot_at(source, offset)
    if spot is None:
        return None
    text = _text_of(spot, texts)
    if text is None:
        return None
    pair = _pair(source, spot, text, platform)
    if pair is not None:
        return (text.path, text.input(pair[1].index)) if pair[1] is not None else None
    return (text.path, text.name) if spot.key == "name" and not spot.on_key else None


def argument_of(source: ZeInfoSource, text: KernelText, offset: int, platform: Registers | None = None) -> Span | None:
    """Return the place in the document for an offset of the text: the argument of an ``.input``, or a kernel's entry."""
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
    if argument is not None:
        kind = child(argument.item, "arg_type")
        return source.span(kind if kind is not None else argument.item)
    each = entries(kernel, "per_thread_payload_arguments")
    if not each or entry.start >= layout.cross_start:
        return None
    kind = child(each[0], "arg_type")
    return source.span(kind if kind is not None else each[0])


def argument_place(
    source: ZeInfoSource, spot: YamlEntry, texts: Sequence[KernelText], platform: Registers | None
) -> tuple[int, int, str] | None:
    """Return the first byte, the end and the ``.input`` of the argument around a spot."""
    text = _text_of(spot, texts)
    pair = _pair(source, spot, text, platform) if text is not None else None
    if pair is None:
        return None
    return pair[0].start, pair[0].end, pair[1].name if pair[1] is not None else ""


def byte_ranges(
    source: ZeInfoSource, texts: Sequence[KernelText], platform: Registers | None = None
) -> tuple[tuple[int, str], ...]:
    """Return the inlay hints after the size of each argument: its register bytes and its ``.input``."""
    hints = []
    for kernel in entries(source.root, "kernels"):
        text = next((t for t in texts if t.kernel.name == word_of(kernel, "name")), None)
        if text is None:
            continue
        inputs = inputs_of(text)
        for argument in arguments_of(kernel, find_layout(source, kernel, text, platform)):
            size = child(argument.item, "size")
            entry = next((i for i in inputs if i.overlaps(argument)), None)
            if size is not None:
                name = f", .input {entry.name}" if entry is not None else ", no .input"
                hints.append((source.span(size).end, f"bytes {argument.start}..{argument.end - 1}{name}"))
    return tuple(sorted(hints))


def _text_of(spot: YamlEntry, texts: Sequence[KernelText]) -> KernelText | None:
    name = word_of(spot.kernel, "name")
    return next((t for t in texts if t.kernel.name == name), None) if spot.kernel is not None else None


def _pair(
    source: ZeInfoSource, spot: YamlEntry, text: KernelText, platform: Registers | None
) -> tuple[Argument, TextInput | None] | None:
    """Return the argument around a spot, and the input at its place.

    An entry without its own bytes, such as a surface, has the input of its argument's address; local ids have the first input.
    """
    kernel = spot.kernel
    if kernel is None or spot.table.name not in _ARGUMENTS:
        return None
    layout = find_layout(source, kernel, text, platform)
    inputs = inputs_of(text)
    if spot.table.name == "PerThreadPayloadArgument":
        start, size = layout.grf + (number(spot.item, "offset") or 0), number(spot.item, "size") or 0
        argument = Argument(spot.item, word_of(spot.item, "arg_type"), start, size, local=False)
    else:
        arguments = arguments_of(kernel, layout)
        index = number(spot.item, "arg_index")
        own = next((a for a in arguments if a.item is spot.item), None)
        same = (a for a in arguments if index not in (None, -1) and number(a.item, "arg_index") == index)
        sibling = own or next((a for a in same if a.kind in _HELD), None)
        if sibling is None:
            return None
        argument = sibling
    return argument, next((i for i in inputs if i.overlaps(argument)), None)


_HELD: Final = ("buffer_address", "arg_bypointer", "arg_byvalue")
_ARGUMENTS: Final = ("PayloadArgument", "PerThreadPayloadArgument", "BindingTableIndex")
