"""Compares payload arguments with ``.input``s: each argument needs an input of its place and size, and each input an argument.

Knows places in bytes and the conventions of the compiler: one input may have the three numbers of both global_id_offset
and local_size, a vector may have an input per element, and small values take four bytes. Invariant: an unmatched
argument and an unmatched input of one size are one disagreement, not two.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from visa_lsp.zeinfo import rules
from visa_lsp.zeinfo.disagreement import disagreement
from visa_lsp.zeinfo.facts import KernelText, input_name
from visa_lsp.zeinfo.kernels import child, entries, number, word_of

if TYPE_CHECKING:
    from visa_lsp.diagnostics import Diagnostic, Rule
    from visa_lsp.program.payload_layout import PayloadLayout
    from visa_lsp.text import Span
    from visa_lsp.zeinfo.source import ZeInfoSource
    from visa_lsp.zeinfo.yaml import YamlItem

_HEADER_BYTES: Final = 32
_DWORD_BYTES: Final = 4


@dataclass(frozen=True, slots=True)
class Argument:
    """A payload argument with its place, in bytes of the register file."""

    item: YamlItem
    kind: str
    first: int
    size: int
    local: bool

    @property
    def end(self) -> int:
        """The end: the byte after the last."""
        return self.first + self.size

    @property
    def title(self) -> str:
        """The argument in words."""
        index = number(self.item, "arg_index")
        kind = f"{self.kind:.60}"  # because a document may have any text here
        return f"argument {index} ({kind})" if index is not None and index >= 0 else kind


@dataclass(frozen=True, slots=True)
class TextInput:
    """An ``.input`` with its place, in bytes of the register file."""

    index: int
    first: int
    size: int
    name: str

    @property
    def end(self) -> int:
        """The end: the byte after the last."""
        return self.first + self.size

    def overlaps(self, argument: Argument) -> bool:
        """Return whether an argument and an input share a byte."""
        return self.first < argument.end and argument.first < self.end


def arguments_of(item: YamlItem, layout: PayloadLayout) -> list[Argument]:
    """Return the cross-thread arguments of a kernel's entry, by place."""
    found = []
    for entry in entries(item, "payload_arguments"):
        offset, size = number(entry, "offset"), number(entry, "size")
        if offset is not None and size is not None and offset >= 0 and size > 0:
            local = word_of(entry, "addrmode") == "slm" or word_of(entry, "addrspace") == "local"
            found.append(Argument(entry, word_of(entry, "arg_type"), layout.place(offset), size, local))
    return sorted(found, key=lambda a: a.first)


def inputs_of(text: KernelText) -> list[TextInput]:
    """Return the inputs of a kernel, by place."""
    found = [
        TextInput(index, entry.offset, entry.size, input_name(text.kernel, entry))
        for index, entry in enumerate(text.kernel.inputs)
        if not entry.reserved
    ]
    return sorted(found, key=lambda i: i.first)


def payload_disagreements(
    source: ZeInfoSource, item: YamlItem, text: KernelText, layout: PayloadLayout
) -> list[Diagnostic]:
    """Compare the payload of a kernel's entry with the inputs of the kernel."""
    return _Placement(source, item, text, layout).compare()


class _Placement:
    """The comparison of one kernel's arguments with its inputs."""

    def __init__(self, source: ZeInfoSource, item: YamlItem, text: KernelText, layout: PayloadLayout) -> None:
        self.source = source
        self.item = item
        self.text = text
        self.layout = layout
        self.found: list[Diagnostic] = []

    def compare(self) -> list[Diagnostic]:
        inputs = inputs_of(self.text)
        arguments = arguments_of(self.item, self.layout)
        cross = [i for i in inputs if i.end > self.layout.cross_start]
        self._per_thread()
        lonely = []
        idle = [i for i in cross if not any(i.overlaps(a) for a in arguments)]
        for argument in arguments:
            over = [i for i in cross if i.overlaps(argument)]
            if not over:
                lonely.append(argument)
            elif not self._fits(argument, over, arguments):
                partner = next((i for i in idle if i.size == argument.size and over[0].first != argument.first), None)
                if partner is not None:
                    idle.remove(partner)
                self._sizes(argument, over, partner)
        for argument in lonely:
            partner = next((i for i in idle if i.size == argument.size), None)
            if partner is not None:
                idle.remove(partner)
            self._no_input(argument, partner)
        for entry in idle:
            self._report_unfilled(entry)
        return self.found

    def _add(self, rule: Rule, yaml: Span, text: Span, message: str, text_says: str, value: str = "") -> None:
        self.found.append(disagreement(rule, yaml, (text, text_says, self.text.path), message, value))

    def _value(self, item: YamlItem, key: str) -> Span:
        found = child(item, key)
        return self.source.span(found if found is not None else item)

    def _per_thread(self) -> None:
        told = self.text.kernel.int_attribute("PerThreadInputSize")
        each = entries(self.item, "per_thread_payload_arguments")
        end = max(((number(e, "offset") or 0) + (number(e, "size") or 0) for e in each), default=0)
        laid_out = self.layout.cross_start - self.layout.grf if each else 0
        if told is None or told in (end, laid_out):
            return
        place = self._value(each[-1], "size") if each else self.source.key_span(self.item, "name")
        said = f"the document's per-thread payload has {end} bytes"
        words = f"the kernel has PerThreadInputSize={told}"
        self._add(
            rules.PER_THREAD_DIFFERS,
            place,
            self.text.attribute("PerThreadInputSize"),
            f"{said}, but {words}",
            words,
        )

    def _fits(self, argument: Argument, over: list[TextInput], arguments: list[Argument]) -> bool:
        """Return whether an argument may be the same as the inputs at its bytes."""
        first = over[0]
        exact = first.first == argument.first
        if exact and first.size == argument.size:
            return True
        inside = len(over) == 1 and first.first <= argument.first and argument.end <= first.end
        if inside and self._is_header(first, arguments):
            return True
        if exact and (first.size <= argument.size <= _DWORD_BYTES or (argument.local and first.size in (2, 4, 8))):
            return True
        if exact and len(over) > 1 and over[-1].end <= up(argument.end) and _gapless(over):
            return True
        if exact and len(over) == 1 and argument.size % _DWORD_BYTES and up(argument.end) == first.end:
            return True
        return exact and 4 * first.size == 3 * argument.size  # a vector of three has the size of four

    def _sizes(self, argument: Argument, over: list[TextInput], partner: TextInput | None) -> None:
        first = over[0]
        exact = first.first == argument.first
        place = "" if exact else f", and starts at byte {first.first}, not {argument.first}"
        message = f"{argument.title} has {argument.size} bytes from byte {argument.first} on, but .input {first.name} has {first.size}{place}"
        value = str(first.size) if exact and len(over) == 1 else ""
        at, says = first, f".input {first.name}: {first.size} bytes from byte {first.first} on"
        if partner is not None:  # it has been moved; the remaining input belongs to it
            message += f"; .input {partner.name} has its size and lies at byte {partner.first}"
            at, says = partner, f".input {partner.name}: {partner.size} bytes from byte {partner.first} on"
            value = str(self.layout.offset(partner.first))
        self._add(
            rules.SIZE_DIFFERS, self._value(argument.item, "size" if exact else "offset"), self.text.input(at.index), message, says, value
        )  # fmt: skip

    @staticmethod
    def _is_header(entry: TextInput, arguments: list[Argument]) -> bool:
        """Return whether an input has both global_id_offset and the argument after it."""
        first = next((a for a in arguments if a.first == entry.first), None)
        return first is not None and first.kind == "global_id_offset" and entry.size == _HEADER_BYTES

    def _no_input(self, argument: Argument, partner: TextInput | None) -> None:
        where = f"{argument.title} lies at bytes {argument.first} to {argument.end - 1}, where the kernel has no .input"
        if partner is not None:
            place = self.text.input(partner.index)
            words = f".input {partner.name} has its size and lies at byte {partner.first}"
            value = str(self.layout.offset(partner.first))
        else:
            place, words, value = self.text.name, "this kernel", ""
        message = f"{where}; {words}" if partner is not None else where
        self._add(rules.NO_INPUT, self._value(argument.item, "offset"), place, message, words, value)

    def _report_unfilled(self, entry: TextInput) -> None:
        holder = "payload_arguments" if child(self.item, "payload_arguments") is not None else "name"
        self._add(
            rules.UNFILLED_INPUT, self.source.key_span(self.item, holder), self.text.input(entry.index),
            f"no argument lies at bytes {entry.first} to {entry.end - 1}, where the kernel has .input {entry.name}",
            f".input {entry.name}: {entry.size} bytes from byte {entry.first} on",
        )  # fmt: skip


def up(end: int) -> int:
    """Return an end rounded up to four bytes."""
    return -(-end // _DWORD_BYTES) * _DWORD_BYTES


def _gapless(over: list[TextInput]) -> bool:
    return all(left.end <= right.first for left, right in pairwise(over))
