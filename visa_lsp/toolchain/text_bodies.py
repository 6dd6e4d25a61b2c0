"""The bodies of a text with the instruction numbers of the finalizer, and the copy of a text for the finalizer.

Works on *codes*: the lines of a text without comments. Every line that is not a directive, brace or blank counts as one, and
so does a subroutine, as the numbers after ``$`` in the finalizer's output show.
Invariant: the copy names only files chosen here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_BODY: Final = re.compile(r'\s*\.(kernel|global_function)\b\s*(?:"([^"]*)"|(\S+))?')
_SUBROUTINE: Final = re.compile(r'\.function\s+(?:"([^"]*)"|(\S+))')
_LABEL: Final = re.compile(r"([A-Za-z_$@?][\w$@?-]*)\s*:")
# Marks of source lines, which look like directives.
_MARKS: Final = (".loc", ".file")
# The finalizer reads both as the name of its output file, case-sensitively.
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
        """Return the line of ``$N``: the last counted line if N is too large, the head if no line counts."""
        if not self.counted:
            return self.line
        return self.counted[min(number, len(self.counted) - 1)]


@dataclass(frozen=True, slots=True)
class GuardedCopy:
    """A text for the finalizer. ``lines[i]`` is the line of the text for line ``i`` of the copy."""

    text: str
    lines: tuple[int, ...]


def bodies_of(codes: Sequence[str]) -> tuple[TextBody, ...]:
    """Return the kernels and functions of a text, in its order."""
    heads = [(line, match) for line, code in enumerate(codes) if (match := _BODY.match(code)) is not None]
    ends = [*(line for line, _ in heads[1:]), len(codes)][: len(heads)]
    return tuple(
        TextBody(
            match[2] or match[3] or "", match[1] == "kernel", line, end,
            tuple(_count_lines(codes, line + 1, end)),
        )
        for (line, match), end in zip(heads, ends, strict=True)
    )  # fmt: skip


def _count_lines(codes: Sequence[str], start: int, end: int) -> list[int]:
    """Return the counted lines of a body, in order. A subroutine counts once, at its label if it has one."""
    counted: list[int] = []
    subroutines: dict[str, int] = {}
    for line in range(start, end):
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
    """Return the output file of the finalizer for the body with this index."""
    return f"{number}.asm"


def code_name(number: int) -> str:
    """Return the file of machine code that the finalizer writes for the body with this index."""
    return f"{number}.dat"


def make_guarded_copy(codes: Sequence[str], bodies: Sequence[TextBody], only: int | None = None) -> GuardedCopy:
    """Return the text with a chosen output file for each body instead of the files that it names.

    ``only`` keeps a single body.
    """
    heads = {body.line: number for number, body in enumerate(bodies)}
    left_out: set[int] = set()
    if only is not None:
        left_out = {line for number, body in enumerate(bodies) if number != only for line in range(body.line, body.end)}
    out, lines = [], []
    for line, code in enumerate(codes):
        # Lines are never removed or joined, because the line numbers must stay.
        leaves = line in left_out or _names_a_file(code)
        out.append("" if leaves else code + " " if code.endswith("\\") else code)
        lines.append(line)
        if line in heads and line not in left_out:
            out.append(f'.kernel_attr OutputAsmPath="{listing_name(heads[line])}"')
            lines.append(line)
    return GuardedCopy("\n".join(out) + "\n", tuple(lines))
