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
    start: int
    size: int
    local: bool

    @property
    def end(self) -> int:
        """The end: the byte after the last."""
        return self.start + self.size

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
    start: int
    size: int
    name: str

    @property
    def end(self) -> int:
        """The end: the byte after the last."""
        return self.start + self.size

    def overlaps(self, argument: Argument) -> bool:
        """Return whether an argument and an input share a byte."""
        return self.start < argument.end and argument.start < self.end


def arguments_of(item: YamlItem, layout: PayloadLayout) -> list[Argument]:
    """Return the cross-thread arguments of a kernel's entry, by place."""
    arguments = []
    for entry in entries(item, "payload_arguments"):
        offset, size = number(entry, "offset"), number(entry, "size")
        if offset is not None and size is not None and offset >= 0 and size > 0:
            local = word_of(entry, "addrmode") == "slm" or word_of(entry, "addrspace") == "local"
            arguments.append(Argument(entry, word_of(entry, "arg_type"), layout.place(offset), size, local))
    return sorted(arguments, key=lambda a: a.start)


def inputs_of(text: KernelText) -> list[TextInput]:
    """Return the inputs of a kernel, by place."""
    inputs = [
        TextInput(index, entry.offset, entry.size, input_name(text.kernel, entry))
        for index, entry in enumerate(text.kernel.inputs)
        if not entry.reserved
    ]
    return sorted(inputs, key=lambda i: i.start)


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
                partner = next((i for i in idle if i.size == argument.size and over[0].start != argument.start), None)
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
        entry = child(item, key)
        return self.source.span(entry if entry is not None else item)

    def _per_thread(self) -> None:
        attribute = self.text.kernel.int_attribute("PerThreadInputSize")
        each = entries(self.item, "per_thread_payload_arguments")
        end = max(((number(e, "offset") or 0) + (number(e, "size") or 0) for e in each), default=0)
        laid_out = self.layout.cross_start - self.layout.grf if each else 0
        if attribute is None or attribute in (end, laid_out):
            return
        place = self._value(each[-1], "size") if each else self.source.key_span(self.item, "name")
        said = f"the document's per-thread payload has {end} bytes"
        words = f"the kernel has PerThreadInputSize={attribute}"
        self._add(
            rules.PER_THREAD_DIFFERS,
            place,
            self.text.attribute("PerThreadInputSize"),
            f"{said}, but {words}",
            words,
        )

    def _fits(self, argument: Argument, over: list[TextInput], arguments: list[Argument]) -> bool:
        """Return whether an argument may be the same as the inputs at its bytes."""
        entry = over[0]
        exact = entry.start == argument.start
        if exact and entry.size == argument.size:
            return True
        inside = len(over) == 1 and entry.start <= argument.start and argument.end <= entry.end
        if inside and self._is_header(entry, arguments):
            return True
        if exact and (entry.size <= argument.size <= _DWORD_BYTES or (argument.local and entry.size in (2, 4, 8))):
            return True
        if exact and len(over) > 1 and over[-1].end <= up(argument.end) and _gapless(over):
            return True
        if exact and len(over) == 1 and argument.size % _DWORD_BYTES and up(argument.end) == entry.end:
            return True
        return exact and 4 * entry.size == 3 * argument.size  # a vector of three has the size of four

    def _sizes(self, argument: Argument, over: list[TextInput], partner: TextInput | None) -> None:
        entry = over[0]
        exact = entry.start == argument.start
        place = "" if exact else f", and starts at byte {entry.start}, not {argument.start}"
        message = f"{argument.title} has {argument.size} bytes from byte {argument.start} on, but .input {entry.name} has {entry.size}{place}"
        value = str(entry.size) if exact and len(over) == 1 else ""
        related_input, says = entry, f".input {entry.name}: {entry.size} bytes from byte {entry.start} on"
        if partner is not None:  # it has been moved; the remaining input belongs to it
            message += f"; .input {partner.name} has its size and lies at byte {partner.start}"
            related_input, says = partner, f".input {partner.name}: {partner.size} bytes from byte {partner.start} on"
            value = str(self.layout.offset(partner.start))
        self._add(
            rules.SIZE_DIFFERS, self._value(argument.item, "size" if exact else "offset"), self.text.input(related_input.index),
            message, says, value,
        )  # fmt: skip

    @staticmethod
    def _is_header(entry: TextInput, arguments: list[Argument]) -> bool:
        """Return whether an input has both global_id_offset and the argument after it."""
        argument = next((a for a in arguments if a.start == entry.start), None)
        return argument is not None and argument.kind == "global_id_offset" and entry.size == _HEADER_BYTES

    def _no_input(self, argument: Argument, partner: TextInput | None) -> None:
        where = f"{argument.title} lies at bytes {argument.start} to {argument.end - 1}, where the kernel has no .input"
        if partner is not None:
            place = self.text.input(partner.index)
            words = f".input {partner.name} has its size and lies at byte {partner.start}"
            value = str(self.layout.offset(partner.start))
        else:
            place, words, value = self.text.name, "this kernel", ""
        message = f"{where}; {words}" if partner is not None else where
        self._add(rules.NO_INPUT, self._value(argument.item, "offset"), place, message, words, value)

    def _report_unfilled(self, entry: TextInput) -> None:
        holder = "payload_arguments" if child(self.item, "payload_arguments") is not None else "name"
        self._add(
            rules.UNFILLED_INPUT, self.source.key_span(self.item, holder), self.text.input(entry.index),
            f"no argument lies at bytes {entry.start} to {entry.end - 1}, where the kernel has .input {entry.name}",
            f".input {entry.name}: {entry.size} bytes from byte {entry.start} on",
        )  # fmt: skip


def up(end: int) -> int:
    """Return an end rounded up to four bytes."""
    return -(-end // _DWORD_BYTES) * _DWORD_BYTES


def _gapless(over: list[TextInput]) -> bool:
    return all(left.end <= right.start for left, right in pairwise(over))
