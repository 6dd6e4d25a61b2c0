"""The words for coloured tokens; a token's numbers are indices into these lists.

Imports nothing, because the answer to ``initialize`` contains these words and must be quick.
"""

from __future__ import annotations

from typing import Final

TYPES: Final = (
    "keyword", "modifier", "variable", "parameter", "label", "function", "macro", "type", "property", "number",
    "operator", "string", "enumMember",
)  # fmt: skip
MODIFIERS: Final = ("declaration", "readonly", "defaultLibrary", "modification", "address", "predicate", "handle")
