"""Parses the output of ``ocloc``: errors and warnings with their places, and mistakes of the call.

Everything is on one stream. Also uses the texts with inline assembly that the build has written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

# The source has the name 1, with -g its path; any other file is included by it.
_PLACED: Final = re.compile(
    r"(?P<file>1|.*?):(?P<line>\d{1,9}):(?P<column>\d{1,9}): (?P<kind>(?:fatal )?error|warning|note): (?P<message>.*)"
)
_INCLUDED: Final = re.compile(r"(?:In file included| +) from (.+):(\d{1,9})[:,]$")
_PLAIN: Final = re.compile(r"error: (.+)")
_NEAR: Final = re.compile(r"near line (\d{1,9}): (.*)")
_MISUSE: Final = (
    (re.compile(r"Unrecognized build options: (.+)"), "the compiler does not know the option {0!r}"),
    (
        re.compile(r"Cannot get HW Info for device (.+?)\.?$", re.MULTILINE),
        "the compiler does not know the device {0!r}",
    ),
    (re.compile(r"Invalid option \(arg \d+\): (.+)"), "the compiler does not know the option {0!r}"),
)
_INLINE: Final = "parsing vISA inline assembly failed"
_PASSED_OVER: Final = ("backend compiler failed build",)


@dataclass(frozen=True, slots=True)
class BuildPlace:
    """A line and a column (in bytes) of the source, from 1; for an included file its name and the line of the include."""

    line: int
    column: int
    inside: str = ""


@dataclass(frozen=True, slots=True)
class BuildMessage:
    """An error or a warning with its notes. ``place`` is None if unknown."""

    message: str
    is_error: bool
    place: BuildPlace | None = None
    notes: tuple[BuildMessage, ...] = ()
    inline: str = ""


def misuse_of_build(log: str) -> str:
    """Return a message about an option or a device that the compiler does not know; empty if there is none."""
    for pattern, words in _MISUSE:
        match = pattern.search(log)
        if match is not None:
            return words.format(match[1].strip())
    return ""


def messages_in(log: str, inline_texts: Sequence[str] = (), source: str = "") -> tuple[BuildMessage, ...]:
    """Return the errors and warnings of a build, each once; ``source`` is the path passed to the compiler.

    ``inline_texts`` are texts with inline assembly that the build has written: an error there has its line in ``inline``.
    """
    messages: list[BuildMessage] = []
    for message, is_note in _messages(log, inline_texts, ("1", source)):
        if not is_note:
            messages.append(message)
        elif messages:
            messages[-1] = replace(messages[-1], notes=(*messages[-1].notes, message))
    return tuple(dict.fromkeys(messages))


def _messages(log: str, inline_texts: Sequence[str], own: tuple[str, str]) -> Iterator[tuple[BuildMessage, bool]]:
    included = 1
    lines = iter(log.splitlines())
    for line in lines:
        if (match := _INCLUDED.match(line)) and match[1] in own:
            included = int(match[2])
        elif match := _PLACED.match(line):
            inside = "" if match["file"] in own else f"{match['file']}:{match['line']}:{match['column']}"
            place = BuildPlace(included, 1, inside) if inside else BuildPlace(int(match["line"]), int(match["column"]))
            yield BuildMessage(match["message"].strip(), "error" in match["kind"], place), match["kind"] == "note"
        elif match := _PLAIN.match(line):
            words = match[1].strip().rstrip(":.")
            if words.startswith(_INLINE):
                yield _inline(words, next(lines, ""), inline_texts), False
            elif words not in _PASSED_OVER:
                yield BuildMessage(words, is_error=True), False


def _inline(words: str, detail: str, texts: Sequence[str]) -> BuildMessage:
    """Return an error in inline assembly, once, although the compiler repeats it for every SIMD size."""
    match = _NEAR.search(detail)
    if match is None:
        return BuildMessage(f"{words}: {detail.strip()}", is_error=True)
    # The text of the failed attempt is unknown; it is one where the line is not a comment.
    candidates = [text.splitlines()[int(match[1]) - 1 :][:1] for text in texts]
    code = next((line[0].strip() for line in candidates if line and line[0].strip()[:2] not in ("", "//")), "")
    return BuildMessage(f"{words}: {match[2].strip()}", is_error=True, inline=code)
