"""The TextMate grammar of the VS Code extension, made from the instruction table.

Colours words by shape only; the meaning of a name is left to semantic tokens.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.generate.vocabulary import OF_INPUTS, VALUED, WORDED, directives, mnemonics, types
from visa_lsp.isa.table import TABLE, InstructionTable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


_END: Final = r"(?![A-Za-z0-9_])"
_TYPE: Final = "storage.type.visa"
_NUMBER: Final = "constant.numeric.visa"


def _words(words: Iterable[str]) -> str:
    """Return an alternation of words, in their order."""
    return "|".join(re.escape(word).replace("\\_", "_") for word in words)


def grammar(table: InstructionTable = TABLE) -> dict[str, Any]:
    """Return the grammar as a JSON value."""
    type_words = _words(types())
    instruction = [_instruction(table, control=True), _instruction(table, control=False)]
    return {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "vISA assembly",
        "scopeName": "source.visa",
        "fileTypes": ["visaasm", "isaasm"],
        "patterns": [
            {"include": "#comments"},
            {"include": "#directives"},
            {"include": "#labels"},
            {"include": "#instructions"},
            {"include": "#operands"},
        ],
        "repository": {
            "comments": {
                "patterns": [
                    {"name": "comment.block.visa", "begin": r"/\*", "end": r"\*/"},
                    {"name": "comment.line.double-slash.visa", "match": "//.*$"},
                ]
            },
            "directives": {"patterns": [_declaration(type_words), _directive()]},
            "labels": {
                "match": r"^([A-Za-z_$@?][A-Za-z0-9_$@?-]*)\s*(:)\s*(?=$|\}|//|/\*)",
                "captures": {
                    "1": {"name": "entity.name.function.label.visa"},
                    "2": {"name": "punctuation.separator.label.visa"},
                },
            },
            "instructions": {"patterns": instruction},
            "operands": {"patterns": _operands(type_words)},
        },
    }


def _instruction(table: InstructionTable, *, control: bool) -> dict[str, Any]:
    """Return the pattern of a mnemonic with its dotted modifiers, after a predicate or at the start of a line."""
    scope = "keyword.control.flow.visa" if control else "keyword.other.instruction.visa"
    return {
        "match": rf"(?:^\s*(?:\{{\s*)*|(?<=\))\s*)({_words(mnemonics(table, control=control))}){_END}((?:\s*\.\s*[A-Za-z0-9_<>]+)*)",
        "captures": {"1": {"name": scope}, "2": {"name": "storage.modifier.visa"}},
    }


def _declaration(types: str) -> dict[str, Any]:
    word = r"[%A-Za-z_$@?][A-Za-z0-9_$@?-]*"
    keyword = {"1": {"name": "entity.other.attribute-name.visa"}, "2": {"name": _TYPE}}
    return {
        "begin": rf"^\s*(?:\{{\s*)*(\.decl){_END}\s*({word})?",
        "end": "$",
        "beginCaptures": {
            "1": {"name": "keyword.other.directive.visa"},
            "2": {"name": "variable.other.declaration.visa"},
        },
        "patterns": [
            {"include": "#comments"},
            {"match": rf"\b(type)\s*=\s*({types}){_END}", "captures": keyword},
            {"match": rf"\b({_words(WORDED)})\s*=\s*([A-Za-z0-9_]+){_END}", "captures": keyword},
            {"match": rf"\b({_words(VALUED)})\s*(?==)", "name": "entity.other.attribute-name.visa"},
            {"include": "#operands"},
        ],
    }


def _directive() -> dict[str, Any]:
    names = _words(name for name in directives() if name != "decl")
    return {
        "begin": rf"^\s*(?:\{{\s*)*(\.(?:{names}|implicit[A-Za-z0-9_]*)){_END}",
        "end": "$",
        "beginCaptures": {"1": {"name": "keyword.other.directive.visa"}},
        "patterns": [
            {"include": "#comments"},
            {"match": rf"\b({_words(OF_INPUTS)})\s*(?==)", "name": "entity.other.attribute-name.visa"},
            {"include": "#operands"},
        ],
    }


def _operands(types: str) -> list[dict[str, Any]]:
    return [
        {"name": "string.quoted.double.visa", "begin": '"', "end": '"|$', "patterns": [_escape()]},
        {"name": "constant.language.mask.visa", "match": rf"\b(?:M[1-8](?:_NM)?|NoMask){_END}"},
        {"name": "variable.language.visa", "match": r"%[A-Za-z_][A-Za-z0-9_]*"},
        {
            "match": rf"(:)\s*({types}){_END}",
            "captures": {"1": {"name": "punctuation.separator.visa"}, "2": {"name": _TYPE}},
        },
        {"name": "keyword.operator.modifier.visa", "match": r"\((?:-abs|-|abs|~|not)\)"},
        {"name": "keyword.operator.region.visa", "match": r"<[0-9;, ]+>"},
        {"name": _NUMBER, "match": r"\b0[xX][0-9a-fA-F]+\b"},
        {"name": _NUMBER, "match": r"(?<![A-Za-z0-9_$@?])[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?\b"},
        {"name": "variable.other.visa", "match": r"[A-Za-z_$@?][A-Za-z0-9_$@?]*"},
    ]


def _escape() -> dict[str, str]:
    return {"name": "constant.character.escape.visa", "match": r"\\."}


def grammar_text(table: InstructionTable = TABLE) -> str:
    """Return the text of the grammar file."""
    return json.dumps(grammar(table), indent=2) + "\n"


def generate_files(_root: Path) -> dict[str, str]:
    """Return the file of the extension."""
    return {"vscode-extension/syntaxes/visa.tmLanguage.json": grammar_text()}
