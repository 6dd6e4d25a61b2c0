"""The words for coloured tokens; a token's numbers count in these lists.

Loads nothing: the answer to ``initialize`` has them, and is given before anything else is there.
"""

from __future__ import annotations

from typing import Final

TYPES: Final = (
    "keyword", "modifier", "variable", "parameter", "label", "function", "macro", "type", "property", "number",
    "operator", "string", "enumMember",
)  # fmt: skip
MODIFIERS: Final = ("declaration", "readonly", "defaultLibrary", "modification", "address", "predicate", "handle")
