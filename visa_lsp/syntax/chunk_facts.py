"""The facts of chunks, and their lines by kind, each read from a single chunk."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from visa_lsp.syntax.bulk import Facts, decl_offsets, facts_of, instructions_of, label_offsets
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
        facts = chunk.facts = NOTHING if chunk.swallowed else facts_of(code_in(chunk))
    return facts


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
    return decl_offsets(code_in(chunk))


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
