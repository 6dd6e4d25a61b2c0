"""What is kept of each chunk of a body, and how chunks are read: the small parts of ``judging``."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from visa_lsp.syntax.bulk import Facts, code_of, instructions_of

if TYPE_CHECKING:
    from visa_lsp.syntax.document import Chunk


@dataclass(slots=True)
class Result:
    """The lines of a chunk that are not plainly clean, by their number in it."""

    hard: set[int] = field(default_factory=set)
    decls: set[int] = field(default_factory=set)
    labels: dict[int, list[str]] = field(default_factory=dict)
    undeclared: dict[int, list[str]] = field(default_factory=dict)

    def forget(self, offset: int) -> None:
        """Drop what is known of an instruction line."""
        self.hard.discard(offset)
        self.labels.pop(offset, None)
        self.undeclared.pop(offset, None)


@dataclass(slots=True)
class Open:
    """What was judged last.

    ``work`` has (chunk, its instructions, (line, class) of lines not known to be clean), ``decls`` the chunks whose
    declarations are not all clean, ``lines`` one line of each class without a verdict.
    """

    work: list[tuple[int, str, list[tuple[int, str]]]] = field(default_factory=list)
    decls: list[int] = field(default_factory=list)
    lines: dict[int, str] = field(default_factory=dict)
    of_decls: set[int] = field(default_factory=set)


def facts_in(chunk: Chunk) -> Facts:
    """The facts of a chunk; made before by the text's state."""
    facts = chunk.cache
    assert isinstance(facts, Facts)
    return facts


# A few chunks are looked at again and again: those at the ends of a body, and those under the user's hands.
@lru_cache(maxsize=16)
def code_in(chunk: Chunk) -> str:
    """The code of a chunk."""
    return code_of(chunk.text, chunk.opens_in_block)


@lru_cache(maxsize=16)
def instructions_in(chunk: Chunk) -> tuple[str, ...]:
    """The lines of a chunk, those of directives blank."""
    return tuple(instructions_of(code_in(chunk), facts_in(chunk)).split("\n")[1:])


def common(old: list[Chunk], new: list[Chunk]) -> tuple[int, int]:
    """How many chunks at the head and at the tail are the same."""
    most = min(len(old), len(new))
    head = 0
    while head < most and old[head] is new[head]:
        head += 1
    tail = 0
    while tail < most - head and old[-1 - tail] is new[-1 - tail]:
        tail += 1
    return head, tail
