"""The facts of chunks, and their lines by kind, each read from a single chunk.

Facts of an edited chunk are derived from those of the old chunk, if the new lines suffice. Invariant: derived facts
equal fresh ones (``tests/syntax/test_derived_facts.py``).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from visa_lsp.syntax.bulk import Facts, code_of, decl_offsets, facts_of, instructions_of, label_offsets, opens_body
from visa_lsp.syntax.chunks import Chunk, code_in, codes_in, line_in, single_code
from visa_lsp.syntax.parse import statement_of
from visa_lsp.syntax.tree import SUBROUTINE, Instruction

ALIAS: Final = re.compile(r"alias\s*=?\s*[<(]\s*(%?[A-Za-z_][A-Za-z0-9_]*)")
# An input directive, with the variable and the text after it.
INPUT: Final = re.compile(r"\s*\.(?:input|parameter|implicit[A-Za-z0-9_$@?-]*)\s+(%?[A-Za-z_][A-Za-z0-9_]*)\s*(.*)")
# A directive that begins a subroutine, with its name.
FUNCTION: Final = re.compile(rf'\s*{re.escape(SUBROUTINE)}(?![A-Za-z0-9_])\s*"?([^"\s]*)')
_CLASS: Final = re.compile(r"v_type\s*=\s*([A-Z])")
# The facts of every chunk that consists of comment only.
NOTHING: Final = facts_of("\n")


def facts_in(chunk: Chunk) -> Facts:
    """Return the facts of a chunk."""
    facts = chunk.facts
    if facts is None:
        facts = chunk.facts = NOTHING if chunk.swallowed else _derive_facts(chunk) or facts_of(code_in(chunk))
    return facts


def _derive_facts(chunk: Chunk) -> Facts | None:
    """Return the facts of a chunk after a change of some lines; None if all lines must be read."""
    origin = chunk.origin
    if origin is None or not isinstance(origin.base.facts, Facts):
        return None
    known, base, head = origin.base.facts, origin.base, origin.head
    if known.strange or known.braced or not known.narrow or chunk.opens_in_block or base.opens_in_block:
        return None
    new = facts_of(code_of(origin.between(chunk), False))
    old = facts_of(code_of(origin.between(base), False))
    if new.strange or new.braced or not new.narrow or new.labels or old.labels:
        return None
    has_code = new.has_code or known.has_code
    if old.has_code and not new.has_code:
        if known.specials or new.specials:
            return None
        has_code = not code_in(chunk).isspace()
    decls, properties = known.decls, known.properties
    if decls or new.decls:
        if has_code or known.has_code:
            return None
        first = bisect_left(decl_lines(base), head)
        behind = first + len(old.decls)
        decls = decls[:first] + new.decls + decls[behind:]
        properties = properties[:first] + new.properties + properties[behind:]
    specials = known.specials
    if specials or new.specials:
        end, shift = base.count - origin.tail, chunk.count - base.count
        above = [place for place in specials if place[0] < head]
        below = [(line + shift, text) for line, text in specials if line >= end]
        specials = (*above, *[(line + head, text) for line, text in new.specials], *below)
    scopes = any(text.lstrip()[0] in "{}" for _, text in specials)
    return Facts(decls, properties, specials, known.labels, has_code, False, False, scopes, True, opens_body(specials))


@lru_cache(maxsize=64)
def instructions_in(chunk: Chunk) -> Sequence[str]:
    """Return the lines of a chunk, with blank lines for directives."""
    return instructions_of(code_in(chunk), facts_in(chunk)).split("\n")[1:]


@lru_cache(maxsize=64)
def decl_lines(chunk: Chunk) -> Sequence[int]:
    """Return the line of each declaration of a chunk."""
    facts = facts_in(chunk)
    many = len(facts.decls)
    if many in (0, chunk.count):
        return range(many)
    # The common case: the compilers' spelling.
    code = code_in(chunk)
    others = {line for line, _ in facts.specials}
    plain = [i for i, line in enumerate(code.split("\n")[1:]) if line.startswith(".decl ") and i not in others]
    return plain if len(plain) == many else decl_offsets(code)


@lru_cache(maxsize=64)
def label_lines(chunk: Chunk) -> Sequence[tuple[int, str]]:
    """Return (line, name) of each label of a chunk."""
    return label_offsets(code_in(chunk)) if facts_in(chunk).labels else ()


@lru_cache(maxsize=64)
def first_instruction(chunk: Chunk) -> int:
    """Return the line of the first instruction of a chunk; -1 without one."""
    lines = [(i, line) for i, line in enumerate(instructions_in(chunk)) if line]
    return next((i for i, line in lines if isinstance(statement_of(line.rstrip()), Instruction)), -1)


def forget_chunks() -> None:
    """Drop the cached chunks, for callers that no longer need their text."""
    for kept in (code_in, codes_in, line_in, single_code, instructions_in, decl_lines, label_lines, first_instruction):
        kept.cache_clear()


def alias_in(rest: str) -> re.Match[str] | None:
    """Return the match of a declaration's alias; group 1 is the base's name."""
    return ALIAS.search(rest) if "alias" in rest else None


def base_of(rest: str) -> str | None:
    """Return the base of a declaration's alias."""
    match = alias_in(rest)
    return match.group(1) if match else None


def class_letter(rest: str) -> str:
    """Return the letter of the declared class."""
    match = _CLASS.search(rest)
    return match.group(1) if match else "G"
