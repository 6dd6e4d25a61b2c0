"""Parses the errors of the finalizer: on its streams, and in its file of errors.

Returns lines of the copy, or names that identify the line. Knows neither severities nor rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_NEAR: Final = re.compile(r"near line (\d{1,9}): (.+)")
_LEXICAL: Final = re.compile(r"^lexical error: .+", re.MULTILINE)
_WARNING: Final = re.compile(r"^WARNING: (.+)", re.MULTILINE)
_USAGE: Final = re.compile(r"^(.+): (unrecognized (?:platform string|option))", re.MULTILINE)
_SUPPORTED: Final = re.compile(r"supported platforms are: (.+)")
_BLOCK: Final = re.compile(r"^/-{3,}!!!.*?(?=^\\-{3,}|\Z)", re.MULTILINE | re.DOTALL)
_ROUTINE: Final = re.compile(r"Error in CISA routine with name: (.*)")
_MESSAGE: Final = re.compile(r"Error Message: (.*)")
_INSTRUCTION: Final = re.compile(r"Violating Instruction:(.*)$", re.MULTILINE)
_NUMBER: Final = re.compile(r"\$(\d{1,9})\s*$")
_DECLARATION: Final = re.compile(r":\s+Error in [\w ]+ decl: (\.decl .*)$")
_NAMED: Final = re.compile(r"(?:Input|label:) ([\w$@?-]+)")
_NUMBERED: Final = re.compile(r"([A-Z])(\d{1,9})")


@dataclass(frozen=True, slots=True)
class Complaint:
    """An error in a text. The first of these fields that is set gives its place.

    ``line`` is a line of the copy, from 0; ``number`` the ``$N`` of an instruction of ``body``; ``declaration`` a line in
    the finalizer's form, with its own numbering of variables; ``name`` a word of the line. ``instruction`` is the instruction
    as the finalizer prints it.
    """

    message: str
    line: int | None = None
    body: str | None = None
    number: int | None = None
    declaration: str | None = None
    name: str | None = None
    instruction: str = ""

    def means(self, code: str) -> bool:
        """Return whether a line without comment may be the place, by its declaration or a name in it."""
        words = code.split()
        if self.declaration is not None:
            # Only names of general variables are those of the text; others are renumbered, so the rest of the line is compared.
            declared = self.declaration.split()
            same = slice(1, 2) if "v_type=G" in declared else slice(2, len(declared))
            return words[:1] == [".decl"] and words[same] == declared[same]
        if self.name is None or (self.message.startswith("input ") and words[:1] != [".input"]):
            return False
        numbered = _NUMBERED.fullmatch(self.name)
        name = f"{numbered[1]}0*{numbered[2]}" if numbered else re.escape(self.name)
        return re.search(rf"(?<![\w$@?-]){name}(?![\w$@?-])", code) is not None


def misuse(said: str) -> str:
    """Return a message about a platform or option that the finalizer does not know; empty if there is none."""
    match = _USAGE.search(said)
    if match is None:
        return ""
    if "platform" in match[2]:
        supported = _SUPPORTED.search(said)
        return f"the finalizer does not know the platform {match[1]!r}" + (
            f" (known: {supported[1].strip()})" if supported else ""
        )
    return f"the finalizer does not know the option {match[1]!r}"


def platforms_in(said: str) -> tuple[str, ...]:
    """Return the platforms in the usage of the finalizer, by its names; empty if it lists none."""
    supported = _SUPPORTED.search(said)
    return tuple(name.strip() for name in supported[1].split(",")) if supported is not None else ()


def complaints_in(said: str, errors: str) -> tuple[Complaint, ...]:
    """Return the errors of a text, each once: from the streams (``said``) and from the file of errors (``errors``)."""
    complaints = (*_of_parser(said), *_of_verifier(errors))
    return tuple(dict.fromkeys(complaints))


def warnings_in(said: str) -> tuple[Complaint, ...]:
    """Return the warnings of the finalizer about a text, which have no place.

    Of warnings that differ only in numbers, such as one per byte, the first is returned.
    """
    kinds = {re.sub(r"\d+", "", match[1]): match[1] for match in reversed(list(_WARNING.finditer(said)))}
    return tuple(Complaint(_lower(words)) for words in reversed(kinds.values()))


def _of_parser(said: str) -> Iterator[Complaint]:
    for match in _NEAR.finditer(said):
        message = match[2].strip()
        # For a line that ends too early the finalizer reports the next one.
        line = int(match[1]) - 1 - message.startswith("syntax error, unexpected NEWLINE")
        yield Complaint(_lower(message), max(line, 0))
    for match in _LEXICAL.finditer(said):
        yield Complaint(_lower(match[0].strip()))


def _of_verifier(errors: str) -> Iterator[Complaint]:
    for block in _BLOCK.findall(errors):
        message = _MESSAGE.search(block)
        if message is None:
            continue
        words = message[1].strip()
        routine = _ROUTINE.search(block)
        body = routine[1].strip() if routine else None
        declared = _DECLARATION.search(words)
        named = _NAMED.search(words)
        violating = _INSTRUCTION.search(block)
        code, _, remark = (violating[1] if violating else "").partition("///")
        number = _NUMBER.match(remark.strip())
        yield Complaint(
            _lower(words[: declared.start()] if declared else words),
            body=body, number=int(number[1]) if number else None,
            declaration=declared[1] if declared else None, name=named[1] if named else None,
            instruction=code.strip(),
        )  # fmt: skip


def _lower(message: str) -> str:
    """Return a message in the project's style: no capital except in names, no full stop."""
    words = message.rstrip(" .:")
    return words[:1].lower() + words[1:] if words[1:2].islower() else words
