"""One side of a comparison: the bodies of a text or an object, with their lines.

An object is shown by the lines of the text that ``visa-lsp dis`` prints of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.app.assemble import CheckedProgram, lower_text
from visa_lsp.app.inputs import decode as decode_text
from visa_lsp.app.inputs import decode_object, is_object
from visa_lsp.compare.model import ComparedBody, Ref
from visa_lsp.isa.platforms import platform_named
from visa_lsp.program.grf import default_platform, grf_in_comment, grf_of
from visa_lsp.program.text_form import Subject, TextLine, module_lines, names_of
from visa_lsp.sema.lower import resolve_text
from visa_lsp.sema.model import VARIABLE_LETTER, Body
from visa_lsp.text import lines_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.program.model import Kernel, Module
    from visa_lsp.program.operand_text import OperandNames


class Side(Struct, frozen=True):
    """A file to compare: its name, its text, and its kernels and functions in the order of the object."""

    name: str
    lines: Sequence[str]
    bodies: Sequence[ComparedBody]

    @property
    def end(self) -> int:
        """The line after the last one."""
        return len(self.lines) - (self.lines[-1:] == [""])


def side_of(name: str, data: bytes, platform: str | None) -> Side | CheckedProgram:
    """Return the side of the bytes of a file; for a text with errors, its findings.

    Raises UserError for bytes that are neither a text nor a readable object.
    """
    if is_object(name, data):
        return side_of_object(name, decode_object(name, data), platform)
    return side_of_text(name, decode_text(name, data).text, platform)


def side_of_text(name: str, text: str, platform: str | None) -> Side | CheckedProgram:
    """Return the side of a text, or its findings if it cannot be lowered. Other errors are ignored, as both sides may have them."""
    chosen = platform_named(platform) if platform else None
    result = resolve_text(text, platform)
    if result.module is None:
        return lower_text(Analysis(result.document, chosen), chosen)
    bound = sorted(result.bound.bodies, key=lambda body: not body.is_kernel)
    row = chosen.grf_bytes if chosen is not None else grf_in_comment(text) or grf_of(result.module).bytes
    bodies = [_of_text(body, kernel, row) for body, kernel in zip(bound, result.module.bodies, strict=True)]
    return Side(name, list(lines_of(text)), bodies)


def _of_text(bound: Body, kernel: Kernel, grf_bytes: int) -> ComparedBody:
    lines: dict[Ref, int] = {}
    for letter, kind in VARIABLE_LETTER.items():
        lines |= {(letter, s.id): s.place.line for s in bound.of_kind(kind) if s.place is not None}
    filled = {
        id(s.input): s.input_place.line for s in bound.symbols if s.input is not None and s.input_place is not None
    }
    code = tuple(inst.line for inst in kernel.instructions)
    inputs = tuple(filled.get(id(entry), bound.first_line) for entry in bound.inputs)
    attributes = tuple(place.line for _, place in bound.attributes)
    last = max((*code, *inputs, *attributes, *lines.values()), default=bound.first_line)
    return ComparedBody(
        kernel, names_of(kernel, bound.platform), bound.first_line, last, lines, code, inputs, attributes, grf_bytes
    )


def side_of_object(name: str, module: Module, platform: str | None) -> Side:
    """Return the side of an object, by the lines of its text."""
    chosen = platform_named(platform) if platform else None
    lines = list(module_lines(module, chosen))
    starts = [n for n, line in enumerate(lines) if line.subject is Subject.BODY]
    ends = [*starts[1:], len(lines)]
    shown = chosen or default_platform(grf_of(module).bytes)
    bodies = [
        _of_object(kernel, names_of(kernel, shown), lines[start:end], start, shown.grf_bytes)
        for kernel, start, end in zip(module.bodies, starts, ends, strict=True)
    ]
    return Side(name, [line.text for line in lines], bodies)


def _of_object(
    kernel: Kernel, names: OperandNames, lines: Sequence[TextLine], first_line: int, grf_bytes: int
) -> ComparedBody:
    places: dict[Subject, dict[int, int]] = {subject: {} for subject in Subject}
    for n, line in enumerate(lines, first_line):
        places[line.subject][line.number] = n
    letters: set[str] = {s.value for s in Subject} & set(VARIABLE_LETTER)
    declared: dict[Ref, int] = {
        (s.value, number): n
        for s, lines_by_number in places.items()
        if s.value in letters
        for number, n in lines_by_number.items()
    }
    last = max((n for n, line in enumerate(lines, first_line) if line.subject is not Subject.NONE), default=first_line)
    return ComparedBody(
        kernel,
        names,
        first_line,
        last,
        declared,
        tuple(places[Subject.CODE].get(n, first_line) for n in range(len(kernel.instructions))),
        tuple(places[Subject.INPUT].get(n, first_line) for n in range(len(kernel.inputs))),
        tuple(places[Subject.ATTRIBUTE].get(n, first_line) for n in range(len(kernel.attributes))),
        grf_bytes,
    )
