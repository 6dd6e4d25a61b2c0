"""A ze_info document in the editor, together with the texts that it describes.

Joins ``zeinfo`` and the modules of this folder in one value per snapshot, so that callers need no YAML. The caller
provides the texts of a document. Never raises for any text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from visa_lsp.ide.yaml.schema_answers import YamlCompletion, YamlSymbol, propose_keys, propose_values
from visa_lsp.ide.yaml.schema_place import place_at
from visa_lsp.ide.zeinfo.definition import argument_of, byte_ranges, input_of
from visa_lsp.ide.zeinfo.hover import hover_ze_info
from visa_lsp.ide.zeinfo.kernel_texts import kernel_texts, registers_of
from visa_lsp.ide.zeinfo.symbols import symbols
from visa_lsp.program.payload_layout import Registers, id_block
from visa_lsp.zeinfo.kernel_checks import disagreements, find_layout
from visa_lsp.zeinfo.kernels import child, entries, number, word_of
from visa_lsp.zeinfo.placement import arguments_of, inputs_of
from visa_lsp.zeinfo.source import ZeInfoSource
from visa_lsp.zeinfo.tables import ROOT, TABLES
from visa_lsp.zeinfo.validate import validate_source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.diagnostics import Diagnostic
    from visa_lsp.ide.features.hover import HoverResult
    from visa_lsp.text import Span
    from visa_lsp.zeinfo.facts import KernelText
    from visa_lsp.zeinfo.yaml import YamlItem


@dataclass(frozen=True)
class InfoDocument:
    """A document's text, and the texts that it describes, each with its name."""

    text: str
    partners: tuple[tuple[str, Analysis], ...] = ()

    @cached_property
    def source(self) -> ZeInfoSource:
        """The parsed document."""
        return ZeInfoSource.of(self.text)

    @cached_property
    def texts(self) -> tuple[KernelText, ...]:
        """The kernels of the texts; none of texts with errors."""
        return tuple(kernel for name, analysis in self.partners for kernel in kernel_texts(analysis, name))

    @property
    def registers(self) -> Registers | None:
        """The register layout of the texts' platform."""
        return next((registers for _, a in self.partners if (registers := registers_of(a)) is not None), None)

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The findings of the document, alone and against the texts, in text order."""
        findings = list(validate_source(self.source, self.registers))
        if self.source.root is not None and self.texts:
            findings += disagreements(self.source, self.texts, self.registers)
        return tuple(sorted(findings, key=lambda d: (d.span, d.code)))

    def hover(self, offset: int) -> HoverResult | None:
        """Return the explanation of the key or value at an offset."""
        return hover_ze_info(self.source, offset, self.texts, self.registers)

    def completions(self, offset: int) -> tuple[YamlCompletion, ...]:
        """Return the proposals for an offset."""
        place = place_at(TABLES, ROOT, self.text, offset)
        if place is None:
            return ()
        row = place.row
        if row is not None and row.table and place.table is None:  # a list whose entry has no dash yet
            place, row = replace(place, table=TABLES[row.table]), None
        if row is None:
            return tuple(propose_keys(place))
        return tuple(propose_values(row, place.path.word)) if isinstance(place.path.key, str) else ()

    def definition(self, offset: int) -> tuple[str, Span] | None:
        """Return the target of an offset: the name of the text, and the place in it."""
        return input_of(self.source, offset, self.texts, self.registers)

    def symbols(self) -> tuple[YamlSymbol, ...]:
        """Return the outline."""
        return symbols(self.source)

    def hints(self) -> tuple[tuple[int, str], ...]:
        """Return (offset, text) of the hints beside sizes: the register bytes and their input."""
        return byte_ranges(self.source, self.texts, self.registers)


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
        return self.index >= 0 and self.kind in _HELD


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


_DIMENSIONS: Final = "xyz"


def arguments_in(inputs: Mapping[str, tuple[HeldArgument, ...]]) -> dict[str, HeldArgument]:
    """Return the inputs that hold an argument or point to it, with the argument."""
    arguments = ((name, next((a for a in reversed(every) if a.is_value), None)) for name, every in inputs.items())
    return {name: argument for name, argument in arguments if argument is not None}


def _argument_infos(source: ZeInfoSource, kernel: str) -> list[YamlItem]:
    entry = next((k for k in entries(source.root, "kernels_misc_info") if word_of(k, "name") == kernel), None)
    return entries(entry, "args_info")


_HELD: Final = ("arg_bypointer", "arg_byvalue", "buffer_address")


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


def place_in_document(text: str, analysis: Analysis, name: str, offset: int) -> Span | None:
    """Return the document's place for the input or kernel name at an offset of a vISA text."""
    source = ZeInfoSource.of(text)
    texts: Sequence[KernelText] = kernel_texts(analysis, name)
    for kernel in texts:
        span = argument_of(source, kernel, offset, registers_of(analysis))
        if span is not None:
            return span
    return None
