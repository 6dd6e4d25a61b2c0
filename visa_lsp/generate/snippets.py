"""The snippets of the VS Code extension, made from the instruction table.

One for each mnemonic, as completion offers it, and a few for kernels and declarations.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.ide.features.completion import instruction_snippet
from visa_lsp.isa.table import TABLE, InstructionTable

if TYPE_CHECKING:
    from pathlib import Path


_AROUND: Final[dict[str, tuple[str, tuple[str, ...], str]]] = {
    "kernel": (
        "kernel",
        (
            ".version 4.1",
            '.kernel "${1:name}"',
            "",
            ".decl ${2:V32} v_type=G type=${3:d} num_elts=${4:8} align=GRF",
            "",
            "    mov (M1, ${4:8}) ${2:V32}(0,0)<1> 0x0:${3:d}",
            "    $0",
            "    ret (M1, 1)",
        ),
        "A whole kernel",
    ),
    "general variable": (
        "decl",
        (".decl ${1:V32} v_type=G type=${2:d} num_elts=${3:8} align=${4|GRF,GRFx2,oword,qword,dword,word,byte|}",),
        "Declare a general variable",
    ),
    "alias": (
        "decl alias",
        (".decl ${1:V33} v_type=G type=${2:ud} num_elts=${3:8} alias=<${4:V32}, ${5:0}>",),
        "Declare another view of a variable's bytes",
    ),
    "address variable": ("decl address", (".decl ${1:A0} v_type=A num_elts=${2:1}",), "Declare an address variable"),
    "predicate variable": (
        "decl predicate",
        (".decl ${1:P1} v_type=P num_elts=${2:16}",),
        "Declare a predicate variable",
    ),
    "surface variable": ("decl surface", (".decl ${1:T6} v_type=T num_elts=${2:1}",), "Declare a surface variable"),
    "sampler variable": ("decl sampler", (".decl ${1:S0} v_type=S num_elts=${2:1}",), "Declare a sampler variable"),
    "input": (".input", (".input ${1:V32} offset=${2:32} size=${3:32}",), "A variable that the thread is given"),
    "loop": (
        "loop",
        (
            "${1:LOOP}:",
            "    $0",
            "    add (M1, 1) ${2:counter}(0,0)<1> ${2:counter}(0,0)<0;1,0> 0x1:d",
            "    cmp.lt (M1, 1) ${3:P1} ${2:counter}(0,0)<0;1,0> ${4:limit}(0,0)<0;1,0>",
            "    (${3:P1}) jmp (M1, 1) ${1:LOOP}",
        ),
        "A counted loop",
    ),
}


def snippets(table: InstructionTable = TABLE) -> dict[str, Any]:
    """Return every snippet by its name: prefix, body, description."""
    entries = {
        name: {"prefix": prefix.removeprefix("."), "body": list(body), "description": text}
        for name, (prefix, body, text) in _AROUND.items()
    }
    for mnemonic, rows in table.by_mnemonic.items():
        row = rows[0]
        if not row.opens_label:
            body = instruction_snippet(row)
            entries[f"{mnemonic} instruction"] = {"prefix": mnemonic, "body": [body], "description": row.summary}
    return entries


def snippets_text(table: InstructionTable = TABLE) -> str:
    """Return the text of the snippet file."""
    return json.dumps(snippets(table), indent=2, ensure_ascii=False) + "\n"


def generate_files(_root: Path) -> dict[str, str]:
    """Return the file of the extension."""
    return {"vscode-extension/snippets/visa.code-snippets.json": snippets_text()}
