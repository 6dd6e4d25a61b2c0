"""A ze_info document in the editor, together with the texts that it describes.

Joins what ``zeinfo`` and the modules beside this one know into one value per snapshot, so that the rim needs no YAML.
Which texts belong to a document is for the rim to say. Never raises for any text.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from visa_lsp.ide.zeinfo.completion import completions
from visa_lsp.ide.zeinfo.definition import argument_of, byte_ranges, input_of
from visa_lsp.ide.zeinfo.facts import kernel_texts, registers_of
from visa_lsp.ide.zeinfo.hover import hover_ze_info
from visa_lsp.ide.zeinfo.symbols import symbols
from visa_lsp.zeinfo.against import disagreements, in_document, placed_layout
from visa_lsp.zeinfo.kernels import entries, number, word_of
from visa_lsp.zeinfo.placement import arguments_of, inputs_of
from visa_lsp.zeinfo.source import ZeInfoSource
from visa_lsp.zeinfo.validate import validate_source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.diagnostics import Diagnostic
    from visa_lsp.ide.features.hover import HoverResult
    from visa_lsp.ide.zeinfo.completion import ZeCompletion
    from visa_lsp.ide.zeinfo.symbols import ZeSymbol
    from visa_lsp.text import Span
    from visa_lsp.zeinfo.facts import KernelText
    from visa_lsp.zeinfo.layout import Registers
    from visa_lsp.zeinfo.yaml import YamlItem


@dataclass(frozen=True)
class InfoDocument:
    """A document's text, and the texts that it describes, each with its name."""

    text: str
    partners: tuple[tuple[str, Analysis], ...] = ()

    @cached_property
    def source(self) -> ZeInfoSource:
        """The document, read."""
        return ZeInfoSource.of(self.text)

    @cached_property
    def texts(self) -> tuple[KernelText, ...]:
        """The kernels of the texts; of texts with errors none."""
        return tuple(kernel for name, analysis in self.partners for kernel in kernel_texts(analysis, name))

    @property
    def registers(self) -> Registers | None:
        """What the platform of the texts says."""
        return next((found for _, a in self.partners if (found := registers_of(a)) is not None), None)

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong in the document, alone and against the texts, in text order."""
        found = list(validate_source(self.source))
        if self.source.root is not None and self.texts:
            found += in_document(disagreements(self.source, self.texts, self.registers))
        return tuple(sorted(found, key=lambda d: (d.span, d.code)))

    def hover(self, offset: int) -> HoverResult | None:
        """The explanation of what is at an offset."""
        return hover_ze_info(self.source, offset, self.texts, self.registers)

    def completions(self, offset: int) -> tuple[ZeCompletion, ...]:
        """What may be typed at an offset."""
        return completions(self.text, offset)

    def definition(self, offset: int) -> tuple[str, Span] | None:
        """The text, by name, and the place in it of what is at an offset."""
        return input_of(self.source, offset, self.texts, self.registers)

    def symbols(self) -> tuple[ZeSymbol, ...]:
        """The outline."""
        return symbols(self.source)

    def hints(self) -> tuple[tuple[int, str], ...]:
        """(offset, text) of what stands beside sizes: bytes in the registers, and the input there."""
        return byte_ranges(self.source, self.texts, self.registers)


@dataclass(frozen=True, slots=True)
class HeldArgument:
    """The argument that an input holds, or points to: its number, and name and type where the ze_info tells them."""

    index: int
    name: str = ""
    type_name: str = ""


def input_arguments(text: str, analysis: Analysis, kernel: str) -> dict[str, HeldArgument]:
    """The variables of a kernel's inputs that hold an argument or point to it, with the argument."""
    source = ZeInfoSource.of(text)
    item = next((k for k in entries(source.root, "kernels") if word_of(k, "name") == kernel), None)
    found: dict[str, HeldArgument] = {}
    if item is None:
        return found
    told = {number(a, "index"): a for a in _argument_infos(source, kernel)}
    for described in kernel_texts(analysis, ""):
        if described.kernel.name == kernel:
            layout = placed_layout(source, item, described, registers_of(analysis))
            arguments = [a for a in arguments_of(item, layout) if a.kind in _HELD]
            for entry in inputs_of(described):
                for argument in arguments:
                    index = number(argument.item, "arg_index")
                    if index is not None and entry.overlaps(argument):
                        info = told.get(index)
                        type_name = word_of(info, "type_name").split(";")[0]
                        found[entry.name] = HeldArgument(index, word_of(info, "name"), type_name)
    return found


def _argument_infos(source: ZeInfoSource, kernel: str) -> list[YamlItem]:
    found = next((k for k in entries(source.root, "kernels_misc_info") if word_of(k, "name") == kernel), None)
    return entries(found, "args_info")


_HELD: Final = ("arg_bypointer", "arg_byvalue", "buffer_address")


def kernel_names(text: str) -> tuple[str, ...]:
    """The kernels that a document describes."""
    source = ZeInfoSource.of(text)
    return tuple(name for k in entries(source.root, "kernels") if (name := word_of(k, "name")))


def kernel_at(analysis: Analysis, offset: int) -> str | None:
    """The kernel whose name, or whose input, stands at an offset of a vISA text."""
    for text in kernel_texts(analysis, ""):
        if text.name.touches(offset) or any(span.touches(offset) for span in text.inputs):
            return text.kernel.name
    return None


def simd_size_of(analysis: Analysis, kernel: str) -> int:
    """The SIMD size that the text of a kernel says; 0 where it says none."""
    found = next((text.kernel for text in kernel_texts(analysis, "") if text.kernel.name == kernel), None)
    return (found.int_attribute("SimdSize") or 0) if found is not None else 0


def place_in_document(text: str, analysis: Analysis, name: str, offset: int) -> Span | None:
    """Where a document speaks of the input or kernel name at an offset of a vISA text."""
    source = ZeInfoSource.of(text)
    texts: Sequence[KernelText] = kernel_texts(analysis, name)
    for kernel in texts:
        found = argument_of(source, kernel, offset, registers_of(analysis))
        if found is not None:
            return found
    return None
