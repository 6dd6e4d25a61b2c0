"""Programs in the arguments of a client, and common parts of answers."""

from __future__ import annotations

import os
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import replace

from visa_lsp.app.errors import UserError
from visa_lsp.app.inputs import OBJECT_MAGIC, decode, read_bytes
from visa_lsp.app.suggestions import platform_problem
from visa_lsp.isa.platforms import Platform, platform_named
from visa_lsp.text import encode_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from visa_lsp.mcp.arguments import TextEdit
    from visa_lsp.mcp.places import Roots

# The folder of a text without a file: a device, so that it cannot contain files.
_NO_FOLDER: Final = os.devnull
_TEXT_NAME: Final = "text.visaasm"


class GivenProgram(Struct, frozen=True):
    """A program from the client: the name for messages, its bytes, and its place, which may not exist."""

    name: str
    data: bytes
    place: Path

    @property
    def is_object(self) -> bool:
        """True if it is an object."""
        return self.data.startswith(OBJECT_MAGIC)

    @property
    def text(self) -> str:
        """The text. Raises UserError if it is not a text."""
        return decode(self.name, self.data).text


def program_from(path: str, text: str, roots: Roots, edits: Sequence[TextEdit] = ()) -> GivenProgram:
    """Return the program of two arguments, with edits to its text.

    Raises UserError if neither is given, the file cannot be read, or an edit is outside of the text.
    """
    if not path and not text:
        raise UserError("expected `path` or `text`, got neither")
    place = Path(roots.path(path)) if path else Path(_NO_FOLDER) / _TEXT_NAME
    data = encode_text(text) if text else read_bytes(str(place), named=False)
    program = GivenProgram(path or _TEXT_NAME, data, place)
    return replace(program, data=encode_text(apply_edits(program.text, edits))) if edits else program


def apply_edits(text: str, edits: Sequence[TextEdit]) -> str:
    """Return a text after edits whose places are those of the text before all of them. Raises UserError."""
    lines = text.split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    replacements = []
    for edit in edits:
        last = edit.end_line or edit.line
        if not edit.line <= last <= len(lines):
            raise UserError(
                f"an edit of the lines {edit.line} to {last} is outside of the text, which has {len(lines)} lines"
            )
        if not edit.column and not edit.end_column:
            new = edit.new_text if edit.new_text.endswith("\n") or not edit.new_text else f"{edit.new_text}\n"
            replacements.append((starts[edit.line - 1], min(starts[last], len(text)), new))
            continue
        start = starts[edit.line - 1] + max(edit.column, 1) - 1
        end = starts[last - 1] + (edit.end_column or max(edit.column, 1)) - 1
        if not start <= end <= starts[last] - 1:
            raise UserError(f"an edit in line {edit.line} has columns outside of the line")
        replacements.append((start, end, edit.new_text))
    replacements.sort()
    if any(before[1] > after[0] for before, after in pairwise(replacements)):
        raise UserError("edits overlap")
    for start, end, new in reversed(replacements):
        text = text[:start] + new + text[end:]
    return text


def modules_of(program: GivenProgram) -> list[bytes]:
    """Return the text or object, or the vISA modules of a zebin. Raises UserError if a zebin has none."""
    from visa_lsp.zeinfo.zebin import is_elf

    if not is_elf(program.data):
        return [program.data]
    from visa_lsp.app.zebins import zebin_of

    modules = list(zebin_of(program.name, program.data).visa.values())
    if not modules:
        raise UserError(f"{program.name}: a zebin without vISA")
    return modules


def chosen_platform(name: str) -> Platform | None:
    """Return the platform of an argument; None for an empty one. Raises UserError for an unknown name."""
    if problem := platform_problem(name) if name else None:
        raise UserError(problem)
    return platform_named(name) if name else None


def lines_of_page(text: str) -> list[str]:
    """Return the lines of a text for pages."""
    return text.rstrip("\n").split("\n")


def write_output(output: str, data: bytes, program: GivenProgram, roots: Roots, *, overwrite: bool) -> str:
    """Write an output and return its path in the form of the client. Raises UserError if it replaces a file of others."""
    from visa_lsp.app.output_files import write_file

    target = roots.output_path(output, overwrite=overwrite)
    write_file(target, data, [program.place])
    return roots.display_path(target)


def nonempty(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values that are not empty, because empty ones cost tokens."""
    return {key: value for key, value in values.items() if value not in ("", None, [], {}, 0)}


def with_ids(values: list[dict[str, Any]], ids: Sequence[str]) -> list[dict[str, Any]]:
    """Return the items with the given ids; without ids all."""
    return [value for value in values if value["id"] in ids] if ids else values


def text_errors(said: Iterable[str]) -> str:
    """Return the message for a text with errors: the first few, and the tool that lists all."""
    lines = [line for line in said if ": error " in line]
    return "\n".join(["the text has errors; `check` lists all", *lines[:3]])
