"""Loads programs for a launch from texts and objects, and links several files.

Knows files, not launches. Invariant: the program that runs is the one in the object format, unless a note says otherwise.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec import structs

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.app.assemble import CheckedProgram, lower_text, problem_lines, problems_of, program_of_text
from visa_lsp.app.inputs import is_object, other_text
from visa_lsp.app.launch.body_source import BodySource, TextProblems
from visa_lsp.codec.decode import decode
from visa_lsp.codec.encode import encode
from visa_lsp.codec.errors import CodecError
from visa_lsp.diagnostics import Diagnostic, Severity
from visa_lsp.isa.platforms import DEFAULT_PLATFORM, PLATFORMS, Platform, platform_named
from visa_lsp.program.model import FileVariable, Kernel, Module, Variable
from visa_lsp.safe_io import MAX_OBJECT_BYTES, read_file
from visa_lsp.sim.launch.config import LaunchError
from visa_lsp.text import decode_text, lines_of

if TYPE_CHECKING:
    from pathlib import Path


DEFAULT: Final = platform_named(DEFAULT_PLATFORM) or PLATFORMS[0]


def module_of_text(
    text: str, path: Path | None, platform: Platform | None, notes: list[str], *, judged: bool = True
) -> Module:
    """Return the program of a text as its object represents it, with the source lines of its instructions.

    ``platform`` is None if unknown. Raises TextProblems with the diagnostics if the text has errors on every platform;
    unless ``judged``, it does so only if they leave no program. A program that no object can represent is returned as
    in the text, with a line in ``notes``.
    """
    name = platform.name if platform is not None else None
    # The errors of the platform come first, because ``refuse_errors`` needs the same cached result.
    if judged and errors_of(text, name) and errors_of(text, None):
        raise _text_problems(path, program_of_text(text, name))
    module, said = _encode_and_decode(text, path, platform or DEFAULT)
    notes += said
    return module


def refuse_errors(text: str, path: Path | None, platform: Platform) -> None:
    """Raise TextProblems if a text has errors for a platform."""
    if errors_of(text, platform.name):
        raise _text_problems(path, program_of_text(text, platform.name))


@lru_cache(maxsize=8)  # cached because a text is tried on several platforms and runs on one of them
def errors_of(text: str, platform: str | None) -> tuple[Diagnostic, ...]:
    """Return the findings of severity error about a text on a platform, or without one."""
    return tuple([d for d in problems_of(Analysis.of(text, platform)) if d.severity is Severity.ERROR])


@lru_cache(maxsize=4)  # cached because all points of a sweep run the same text
def _encode_and_decode(text: str, path: Path | None, platform: Platform) -> tuple[Module, tuple[str, ...]]:
    """Return the program of a text as its object represents it, and notes."""
    program = lower_text(Analysis.of(text, platform.name), platform)
    module = program.module
    if module is None:
        raise _text_problems(path, program)
    try:
        carried = decode(encode(module))
    except CodecError as error:
        return module, (f"{path or 'the text'} runs from its text, not from its object: {error.message}",)
    carried = structs.replace(
        carried,
        kernels=_with_lines(carried.kernels, module.kernels),
        functions=_with_lines(carried.functions, module.functions),
    )
    return carried, ()


def _text_problems(path: Path | None, program: CheckedProgram) -> TextProblems:
    """Return the exception for a text with errors."""
    text = program.analysis.document.text
    diagnostics = () if other_text(text) else program.diagnostics
    return TextProblems(path, text, diagnostics, list(problem_lines(str(path or "text"), program, (Severity.ERROR,))))


def _with_lines(carried: tuple[Kernel, ...], written: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    """Copy source lines to a decoded program; records of an object are in the order of the instructions."""
    return tuple(
        structs.replace(
            new,
            instructions=tuple(
                structs.replace(inst, line=source.line)
                for inst, source in zip(new.instructions, old.instructions, strict=True)
            ),
        )
        for new, old in zip(carried, written, strict=True)
    )


def decode_object(data: bytes, path: Path | None) -> Module:
    """Decode an object. Raises LaunchError if the bytes are not a readable vISA object."""
    try:
        return decode(data)
    except CodecError as error:
        raise LaunchError(f"cannot read the vISA object: {error}", place=str(path or "")) from None


def load_program(
    data: bytes, path: Path | None, platform: Platform | None, notes: list[str]
) -> tuple[Module, dict[str, BodySource]]:
    """Return the program in the bytes of a text or an object, and the text of each body.

    Raises LaunchError for an unreadable object, and TextProblems for a text with errors.
    """
    if is_object(path or "", data):
        return decode_object(data, path), {}
    text = decode_text(data)
    module = module_of_text(text, path, platform, notes)
    return module, sources_of(module, text, path)


def sources_of(module: Module, text: str, path: Path | None, *, judged: bool = True) -> dict[str, BodySource]:
    """Return the text of each body of a program."""
    source = BodySource(str(path or ""), tuple(lines_of(text)), text if judged else "")
    return {body.name: source for body in module.bodies}


def read_bytes(path: Path, *, named: bool = False) -> bytes:
    """Read a file; one that the user ``named`` may be a pipe.

    Raises LaunchError if it cannot be read, or has more bytes than an object may have.
    """
    try:
        return read_file(path, MAX_OBJECT_BYTES, named=named)
    except (OSError, ValueError) as error:
        words = getattr(error, "strerror", None) or error
        raise LaunchError(f"cannot be read: {words}", place=str(path)) from None


_STATIC: Final = 1  # linkage of a variable that is local to its file (seed 000)


def link_variables(module: Module, earlier: tuple[FileVariable, ...] = ()) -> Module:
    """Resolve variables of file scope; aliases name them by their index in ``earlier`` and the additions of the module."""
    variables = list(earlier)
    places = []
    for variable in module.variables:
        index = next(
            (
                i
                for i, v in enumerate(variables)
                if v.name == variable.name and _STATIC not in (v.linkage, variable.linkage)
            ),
            None,
        )
        if index is None:
            index = len(variables)
            variables.append(variable)
        elif variable.num_elements * variable.type.size > variables[index].num_elements * variables[index].type.size:
            variables[index] = variable
        places.append(index)
    return structs.replace(
        module,
        variables=tuple(variables),
        kernels=tuple(_resolve_aliases(body, places) for body in module.kernels),
        functions=tuple(_resolve_aliases(body, places) for body in module.functions),
    )


def _resolve_aliases(body: Kernel, places: list[int]) -> Kernel:
    if not any(variable.alias_scope for variable in body.variables):
        return body
    symbols = dict(body.variable_relocs)

    def move_alias(variable: Variable) -> Variable:
        index = symbols.get(variable.alias_index, variable.alias_index)
        # An invalid index stays invalid, because register allocation reports it.
        return structs.replace(variable, alias_index=places[index] if index < len(places) else 1 << 16)

    variables = tuple(move_alias(v) if v.alias_scope else v for v in body.variables)
    return structs.replace(body, variables=variables, variable_relocs=())


def merge_modules(left: Module, right: Module, defined: dict[str, str] | None = None, path: str = "another") -> Module:
    """Link two programs, the left one linked already.

    ``defined`` maps the bodies of the left program to their files; those of the right one, in ``path``, are added. Raises
    LaunchError if both have a body of the same name.
    """
    if defined is None:
        defined = {body.name: "one" for body in left.bodies}
    right = link_variables(right, left.variables)
    double = next((body.name for body in right.bodies if body.name in defined), None)
    if double is not None:
        raise LaunchError(f"'{double}' is defined in two files of the program, '{defined[double]}' and '{path}'")
    defined.update({body.name: path for body in right.bodies})
    return Module(left.version, left.kernels + right.kernels, right.variables, left.functions + right.functions)
