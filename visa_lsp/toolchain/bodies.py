"""The bodies of a text as the finalizer counts them, and the copy of a text that the finalizer is given.

Works on *codes*: the lines of a text without comments, as the document gives them. Knows no instruction: what is neither
directive nor brace nor blank counts one, and so does a subroutine. Sources: the numbers behind ``$`` in what the finalizer writes.
Invariant: the copy names no file but the ones that we chose, whatever the text asks for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_BODY: Final = re.compile(r'\s*\.(kernel|global_function)\b\s*(?:"([^"]*)"|(\S+))?')
_SUBROUTINE: Final = re.compile(r'\.function\s+(?:"([^"]*)"|(\S+))')
_LABEL: Final = re.compile(r"([A-Za-z_$@?][\w$@?-]*)\s*:")
# Marks of source lines that begin as directives do.
_MARKS: Final = (".loc", ".file")
# The finalizer takes both for the file that it is to write, in these letters.
_FILE_NAMES: Final = ("OutputAsmPath", "AsmName")


@dataclass(frozen=True, slots=True)
class TextBody:
    """A kernel or function of a text. Lines count from 0; ``counted[N]`` is the line of the finalizer's ``$N``."""

    name: str
    is_kernel: bool
    line: int
    end: int
    counted: tuple[int, ...]

    def line_of(self, number: int) -> int:
        """Return the line of ``$N``; of a number that is too large the last that counts, or the head where none does."""
        if not self.counted:
            return self.line
        return self.counted[min(number, len(self.counted) - 1)]


@dataclass(frozen=True, slots=True)
class GuardedCopy:
    """A text for the finalizer. ``lines[i]`` is the line of the text that line ``i`` of the copy stands for."""

    text: str
    lines: tuple[int, ...]


def bodies_of(codes: Sequence[str]) -> tuple[TextBody, ...]:
    """Return the kernels and functions of a text, in its order."""
    heads = [(at, match) for at, code in enumerate(codes) if (match := _BODY.match(code)) is not None]
    ends = [*(at for at, _ in heads[1:]), len(codes)][: len(heads)]
    return tuple(
        TextBody(
            match[2] or match[3] or "", match[1] == "kernel", at, end,
            tuple(_counted(codes, at + 1, end)),
        )
        for (at, match), end in zip(heads, ends, strict=True)
    )  # fmt: skip


def _counted(codes: Sequence[str], first: int, end: int) -> list[int]:
    """Return the lines of a body that count, in order. A subroutine counts once, at its label if it has one."""
    counted: list[int] = []
    subroutines: dict[str, int] = {}
    for line in range(first, end):
        words = codes[line].strip("{} \t")
        label = _LABEL.fullmatch(words)
        if label is not None and label[1] in subroutines:
            counted[subroutines[label[1]]] = line
            continue
        subroutine = _SUBROUTINE.fullmatch(words)
        if subroutine is not None:
            subroutines.setdefault(subroutine[1] or subroutine[2], len(counted))
        if words and (subroutine is not None or not words.startswith(".") or words.startswith(_MARKS)):
            counted.append(line)
    return counted


def _names_a_file(code: str) -> bool:
    return ".kernel_attr" in code and any(name in code for name in _FILE_NAMES)


def listing_name(number: int) -> str:
    """Return the file that the finalizer writes for the body of this place in the text."""
    return f"{number}.asm"


def guarded_copy(codes: Sequence[str], bodies: Sequence[TextBody], only: int | None = None) -> GuardedCopy:
    """Return the text with a file of our choice for each body, and without any that it names itself.

    ``only`` leaves out all bodies but one.
    """
    heads = {body.line: number for number, body in enumerate(bodies)}
    left_out: set[int] = set()
    if only is not None:
        left_out = {line for at, body in enumerate(bodies) if at != only for line in range(body.line, body.end)}
    out, lines = [], []
    for at, code in enumerate(codes):
        # Left out or not, a line stays a line; one that the finalizer would join to the next stays by itself.
        leaves = at in left_out or _names_a_file(code)
        out.append("" if leaves else code + " " if code.endswith("\\") else code)
        lines.append(at)
        if at in heads and at not in left_out:
            out.append(f'.kernel_attr OutputAsmPath="{listing_name(heads[at])}"')
            lines.append(at)
    return GuardedCopy("\n".join(out) + "\n", tuple(lines))
