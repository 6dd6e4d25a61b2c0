"""The special words of the language, which may have another meaning than that of a declared name."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from visa_lsp.isa import lsc_codes
from visa_lsp.isa.attributes import KERNEL_ATTRIBUTES, VARIABLE_ATTRIBUTES
from visa_lsp.isa.operands import ALIGN_CODE
from visa_lsp.isa.table import TABLE
from visa_lsp.isa.types import TYPE_BY_NAME
from visa_lsp.sema.predefined_symbols import make_predefined_symbols
from visa_lsp.syntax.grammar import grammar_text

_WORD: Final = re.compile(r"[A-Za-z_%][A-Za-z0-9_]*")


@cache
def special_words() -> frozenset[str]:
    """Return the words that may have another meaning than that of a declared name: keywords, mnemonics, predefined names."""
    words: set[str] = set(_WORD.findall(grammar_text()))
    for row in TABLE.rows:
        words.update(row.mnemonic.split("."))
        for modifier in row.modifiers:
            words.update(modifier.words)
        for slot in row.slots:
            words.update(slot.words or ())
    words.update(make_predefined_symbols(32), lsc_codes.ADDRTYPE, lsc_codes.ADDRSIZE)
    words.update(f"V{number}" for number in range(21))
    words.update(f"M{number}{end}" for number in range(21) for end in ("", "_NM"))
    words.update(("NoMask", "NM", "GRF", "P0", "T0", "T1", "T2", "T3", "T4", "T5", "T252", "TSS", "S31"))
    words.update(("abs", "not", "r", *"APSTG"), ALIGN_CODE, KERNEL_ATTRIBUTES, VARIABLE_ATTRIBUTES, TYPE_BY_NAME)
    return frozenset(words)
