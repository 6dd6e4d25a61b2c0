"""Writes numbers that kernels compare with characters of a text as characters: ``c == ' '``, ``c - '0'``."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final

from visa_lsp.app.read.code_lines import change_lines, texts_of, trees_of
from visa_lsp.app.read.tree import NEGATED, Tree, leaf, number_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.app.read.code_lines import Node

_DECLARED: Final = re.compile(r"\b(u?char) \*?(\w+)\b(?! \*)")
_CONTROLS: Final = {9: r"\t", 10: r"\n", 13: r"\r", 39: r"\'", 92: r"\\"}
_PRINTED: Final = range(32, 127)
_STARTS: Final = {48, 65, 97}  # of digits and letters, which lines subtract
# Different characters that elements are compared with for equality: with fewer they may be numbers.
_LEAST: Final = {"char": 1, "uchar": 2}


def write_characters(code: list[Node], parameters: Sequence[str]) -> None:
    """Change the lines of a body, which have their final names, in place."""
    for word, least in _LEAST.items():
        names = {
            hit[2] for text in (*parameters, *texts_of(code)) for hit in _DECLARED.finditer(text) if hit[1] == word
        }
        equal = {
            number_of(tree.args[1])
            for tree in trees_of(code)
            if tree.op in ("==", "!=") and _is_text(tree.args[0], names)
        }
        if len(equal & {*_PRINTED}) >= least:
            change_lines(code, partial(_with_character, names))


def _text_of(number: int | None) -> str:
    """Return a character as C writes it; empty for a number that is none."""
    return _CONTROLS.get(number or 0) or (chr(number) if number is not None and number in _PRINTED else "")


def _is_text(tree: Tree, names: set[str]) -> bool:
    own = tree.args[0] if tree.op in ("(uchar)", "[]") else tree
    return own.op in names and (tree.op == "[]" or not own.args)


def _with_character(names: set[str], tree: Tree) -> Tree | None:
    is_test, number = tree.op in NEGATED, number_of(tree.args[1]) if len(tree.args) > 1 else None
    text = _text_of(number) if is_test or (tree.op == "-" and number in _STARTS) else ""
    return Tree(tree.op, (tree.args[0], leaf(f"'{text}'"))) if text and _is_text(tree.args[0], names) else None
