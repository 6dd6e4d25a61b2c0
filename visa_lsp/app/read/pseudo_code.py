"""A text or object as pseudo-code, as the command ``read`` shows it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from visa_lsp.app.assemble import module_of_object, problem_lines, program_of_text
from visa_lsp.app.errors import UserError
from visa_lsp.app.inputs import decode, is_object
from visa_lsp.app.kernel_source import with_source
from visa_lsp.app.read.fold import fold_reading
from visa_lsp.app.read.lines import is_expressed, lines_of, source_marks
from visa_lsp.app.read.lower import statements_of
from visa_lsp.app.read.model import NamedCall
from visa_lsp.app.read.names import names_for
from visa_lsp.app.read.structure import reading_of
from visa_lsp.app.suggestions import did_you_mean
from visa_lsp.app.ze_info import find_ze_info
from visa_lsp.companions import Beside
from visa_lsp.isa.model import FlowClass
from visa_lsp.isa.platforms import Platform, platform_named
from visa_lsp.program.grf import default_platform, grf_in_comment, grf_of
from visa_lsp.program.text_form import module_text
from visa_lsp.zeinfo.read_kernels import ZeInfoError, read

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from visa_lsp.program.model import Kernel, Module
    from visa_lsp.program.payload import KernelInfo


class CodeLine(Struct, frozen=True):
    """A line of pseudo-code, with its lines of the text, from 1, and the source line that these name."""

    text: str
    visa: tuple[int, ...]
    source: tuple[str, int] | None = None


class ReadKernel(Struct, frozen=True):
    """A kernel or function as pseudo-code.

    ``kept`` counts the instructions that stay as vISA, ``named`` those that become named operations such as barriers.
    """

    name: str
    is_kernel: bool
    structured: bool
    instructions: int
    named: int
    kept: int
    lines: tuple[CodeLine, ...]


class ReadFile(Struct, frozen=True):
    """The kernels of a file, and the lines of its text."""

    name: str
    kernels: tuple[ReadKernel, ...]
    text: tuple[str, ...]


class KeptReading(Struct, frozen=True):
    """The cached reading of a body, with its inputs."""

    body: Kernel
    platform: Platform
    info: KernelInfo | None
    read: ReadKernel


Kept = dict[str, KeptReading]  # by name of the body


def read_data(
    name: str,
    data: bytes,
    platform: str | None,
    *,
    finder: Beside | None = None,
    say: Callable[[str], None],
    kept: Kept | None = None,
) -> ReadFile | None:
    """Read a text or object; None for a text with errors.

    Calls ``say`` with each error and warning. A body is not read again if ``kept`` has the same body. Raises UserError
    if the file is neither text nor object.
    """
    chosen = platform_named(platform) if platform else None
    if is_object(name, data):
        module = module_of_object(data, name, platform)
        text = module_text(module, chosen)
        row = None
    else:
        text = decode(name, data).text
        program = program_of_text(text, platform)
        for line in problem_lines(name, program):
            say(line)
        if program.module is None:
            return None
        module, row = program.module, grf_in_comment(text)
    meant = chosen or default_platform(row or grf_of(module).bytes)
    return read_module(name, module, meant, text.splitlines(), finder or Beside(), {} if kept is None else kept)


def read_module(
    name: str, module: Module, platform: Platform, texts: Sequence[str], finder: Beside, kept: Kept
) -> ReadFile:
    """Read a program whose instructions have the lines of ``texts``."""
    kernels: list[ReadKernel] = []
    for body in module.bodies:
        info, before = _info(body, Path(name), finder), kept.get(body.name)
        reading = _move_reading(before, body) if before and (before.platform, before.info) == (platform, info) else None
        reading = reading or _kernel(body, platform, texts, info)
        kept[body.name] = KeptReading(body, platform, info, reading)
        kernels.append(reading)
    for gone in kept.keys() - {body.name for body in module.bodies}:
        del kept[gone]
    return ReadFile(name, tuple(kernels), tuple(texts))


def _move_reading(before: KeptReading, body: Kernel) -> ReadKernel | None:
    """Return the cached reading of a body, with its lines moved if needed; None if the body has changed."""
    old, new, read = before.body.instructions, body.instructions, before.read
    if read.kept or len(old) != len(new) or not new:
        return None
    down = new[0].line - old[0].line
    if any(
        a.row is not b.row or b.line - a.line != down or a.values != b.values for a, b in zip(old, new, strict=True)
    ):
        return None
    if structs.replace(before.body, instructions=()) != structs.replace(body, instructions=()):
        return None
    if not down:
        return read
    lines = [structs.replace(line, visa=tuple([number + down for number in line.visa])) for line in read.lines]
    return structs.replace(read, lines=tuple(lines))


def _info(kernel: Kernel, place: Path, finder: Beside) -> KernelInfo | None:
    """Return the description of a kernel in the ze_info beside a text; None if there is no readable one."""
    ze_info = find_ze_info(kernel, [place], finder)
    try:
        descriptions = read(ze_info.text) if ze_info is not None else ()
    except ZeInfoError:
        return None
    info = next((description for description in descriptions if description.name == kernel.name), None)
    return with_source(info, kernel, place.parent) if info is not None else None


def _kernel(kernel: Kernel, platform: Platform, texts: Sequence[str], info: KernelInfo | None) -> ReadKernel:
    names = names_for(kernel, platform, info)
    reading = fold_reading(reading_of(kernel), kernel, names)
    marks = source_marks(kernel)
    code = kernel.instructions
    lines = [
        CodeLine(
            line.text,
            tuple(sorted({code[place].line + 1 for place in line.places if code[place].line >= 0})),
            next((mark for place in line.places if (mark := marks[place]) is not None), None),
        )
        for line in lines_of(kernel, reading, names, texts)
    ]
    real = [inst for inst in code if not inst.row.opens_label and not inst.row.marks_source]
    kept = sum(not is_expressed(inst) for inst in real)
    named = sum(
        inst.row.flow is FlowClass.NEXT and isinstance(statements_of(kernel, inst, 0)[0], NamedCall) for inst in real
    )
    structured = all(routine.structured for routine in reading.routines)
    return ReadKernel(kernel.name, kernel.is_kernel, structured, len(real), named - kept, kept, tuple(lines))


def chosen(file: ReadFile, kernel: str | None, lines: tuple[int, int] | None) -> ReadFile:
    """Return the kernels of a file, or the named one, restricted to a range of lines of the text.

    Raises UserError if there is no such kernel, or no instruction in these lines.
    """
    kernels = file.kernels
    if kernel is not None:
        kernels = tuple([body for body in kernels if body.name == kernel])
        if not kernels:
            names = [body.name for body in file.kernels]
            raise UserError(
                f"{file.name}: no kernel or function {kernel!r}{did_you_mean(kernel, names) or ' (there: ' + ', '.join(names) + ')'}"
            )
    if lines is not None:
        kernels = tuple([part for body in kernels if (part := _part(body, *lines)) is not None])
        if not kernels:
            raise UserError(f"{file.name}: no instruction is in lines {lines[0]} to {lines[1]}")
    return ReadFile(file.name, kernels, file.text)


def _part(kernel: ReadKernel, first_line: int, last_line: int) -> ReadKernel | None:
    hits = [
        index
        for index, line in enumerate(kernel.lines)
        if any(first_line <= number <= last_line for number in line.visa)
    ]
    if not hits:
        return None
    return structs.replace(kernel, lines=kernel.lines[hits[0] : hits[-1] + 1])


def as_text(file: ReadFile) -> str:
    """Return the pseudo-code of a file."""
    return "\n\n".join("\n".join(line.text for line in kernel.lines) for kernel in file.kernels) + "\n"


def as_json(file: ReadFile) -> dict[str, Any]:
    """Return the pseudo-code of a file for a program."""
    return {
        "file": file.name,
        "kernels": [
            {
                "name": kernel.name,
                "kind": "kernel" if kernel.is_kernel else "function",
                "structured": kernel.structured,
                "instructions": kernel.instructions,
                "named_operations": kernel.named,
                "kept_as_visa": kernel.kept,
                "lines": [
                    {"text": line.text, "visa": list(line.visa)}
                    | ({"source": {"file": line.source[0], "line": line.source[1]}} if line.source else {})
                    for line in kernel.lines
                ],
            }
            for kernel in file.kernels
        ],
    }
