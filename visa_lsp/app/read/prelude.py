"""The prelude of the C of kernels: types, the work item, messages as functions."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path


@cache
def read_prelude() -> str:
    """Return the prelude; its messages of the sampler are those of the instruction table."""
    from visa_lsp.isa.message_forms import SampleForm  # loads the table
    from visa_lsp.isa.table import TABLE

    names = sorted({row.mnemonic for row in TABLE.rows if isinstance(row.meaning, SampleForm)})
    text = Path(__file__).with_name("prelude.h").read_text(encoding="utf-8")
    return text.replace("/* @samples */", "\n".join(f"SAMPLES({name})" for name in names))


@cache
def prelude_names() -> frozenset[str]:
    """Return the names of its constants, and of the functions that its macros call."""
    hits = re.findall(r"^\w+ \*?(\w+)\(|^#define (\w+) ", read_prelude(), re.MULTILINE)
    return frozenset(function or constant for function, constant in hits)


@cache
def words_of_lanes() -> frozenset[str]:
    """Return the names of its operations of lanes together, which know each other by their lines."""
    macros = dict(re.findall(r"^#define (\w+)\b((?:[^\n]*\\\n)*[^\n]*)", read_prelude(), re.MULTILINE))
    found = {"__LINE__"}
    while more := {name for name, text in macros.items() if found & set(re.findall(r"\w+", text))} - found:
        found |= more
    return frozenset(found)


@cache
def prelude_words() -> frozenset[str]:
    """Return the names of all its macros and functions, which no variable has."""
    words = re.findall(r"#define (\w+)|\b(\w+)\(", re.sub(r"/\*.*?\*/", "", read_prelude(), flags=re.DOTALL))
    return frozenset(macro or other for macro, other in words)
