"""Kernels of an analysed text with the places of their parts, for checking and generating ze_info.

Only this module knows both sides: ``zeinfo`` knows resolved kernels, and ``sema`` knows no YAML. Invariant: a text with
errors has no kernels here, so that no finding is about half a program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.program.payload_layout import Registers, registers
from visa_lsp.sema.lower import lower
from visa_lsp.text import Span
from visa_lsp.zeinfo.facts import KernelText

if TYPE_CHECKING:
    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.program.model import Kernel
    from visa_lsp.sema.model import Body


def kernel_texts(analysis: Analysis, path: str) -> tuple[KernelText, ...]:
    """Return the kernels and functions of a text; none if it has errors."""
    module = lower(analysis.bound)
    if module is None:
        return ()
    kernels = [body for body in analysis.bound.bodies if body.is_kernel]
    functions = [body for body in analysis.bound.bodies if not body.is_kernel]
    pairs = zip((*module.kernels, *module.functions), (*kernels, *functions), strict=True)
    return tuple(_text(analysis, path, kernel, body) for kernel, body in pairs)


def registers_of(analysis: Analysis) -> Registers | None:
    """Return the payload's place on the platform of a text; None without a platform."""
    platform = analysis.platform
    return None if platform is None else registers(platform.grf_bytes, platform.generation)


def _text(analysis: Analysis, path: str, kernel: Kernel, body: Body) -> KernelText:
    document = analysis.document

    def line(number: int) -> Span:
        text = document.line_text(number).rstrip()
        return document.span(number, Span(len(text) - len(text.lstrip()), len(text)))

    inputs = {
        (symbol.input.kind, symbol.input.id): document.span(symbol.input_place.line, symbol.input_place.span)
        for symbol in (*body.symbols, *body.predefined.values())
        if symbol.input is not None and symbol.input_place is not None
    }
    name = document.span(body.place.line, body.place.span) if body.place is not None else Span(0, 0)
    return KernelText(
        kernel,
        path,
        name,
        tuple(inputs.get((entry.kind, entry.id), name) for entry in kernel.inputs),
        {kernel.string(a.name_index): document.span(place.line, place.span) for a, place in body.attributes},
        line,
    )
