"""Every sentence that a user may read: tables, pages, help, messages in the code, documents that are written by hand."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from visa_lsp.app.rule_registry import list_rules, page
from visa_lsp.cli.main import COMMANDS, LOADERS
from visa_lsp.cli.parsing import parser_of
from visa_lsp.isa import predefined
from visa_lsp.isa.attributes import ATTRIBUTES
from visa_lsp.isa.platforms import PLATFORMS
from visa_lsp.isa.table import TABLE
from visa_lsp.isa.types import TYPES

ROOT = Path(__file__).parents[2]
_CODE = re.compile(r"^```.*?^```$|^ {4}\S.*?$|`[^`\n]*`|\]\([^)\n]*\)", re.MULTILINE | re.DOTALL)
# Made from the table, which has a rule of its own.
_MADE = {"glossary.md"}


def sentences() -> Iterator[tuple[str, str]]:
    """Yield (place, text without its code)."""
    for row in TABLE.rows:
        yield row.mnemonic, " ".join([row.summary, row.detail, *row.pitfalls])
        yield row.mnemonic, " ".join([s.doc for s in row.slots] + [m.doc for m in row.modifiers])
    named: list[Any] = [
        *predefined.VARIABLES, *predefined.SURFACE_BY_NAME.values(), *predefined.SAMPLER_BY_NAME.values(),
        *predefined.IMPLICIT_INPUTS.values(), *ATTRIBUTES, *TYPES, *PLATFORMS,
    ]  # fmt: skip
    yield from ((one.name, one.doc) for one in named)
    yield from ((rule.code, _CODE.sub("", page(rule))) for rule in list_rules())
    for name, load in LOADERS.items():
        parser = parser_of(name, COMMANDS.get(name, ""))
        load()[0](parser)
        yield f"visa-lsp {name} --help", parser.format_help()
    package = json.loads((ROOT / "vscode-extension" / "package.json").read_text(encoding="utf-8"))
    yield "package.json", json.dumps(package["contributes"]["configuration"])
    yield "package.json", json.dumps(package["contributes"]["commands"])
    for path in sorted([*ROOT.glob("docs/*.md"), *ROOT.glob("docs/editors/*.md"), ROOT / "vscode-extension/README.md"]):
        if path.name not in _MADE:
            yield path.name, _CODE.sub("", path.read_text(encoding="utf-8"))
    yield from _messages()


def _messages() -> Iterator[tuple[str, str]]:
    """Yield the texts of several words in the code, docstrings left out."""
    for path in sorted((ROOT / "visa_lsp").rglob("*.py")):
        if path.name == "glossary.py":
            continue
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        inside = {id(node.body[0].value) for node in nodes if isinstance(node, documented) and node.body
                  and isinstance(node.body[0], ast.Expr)}  # fmt: skip
        for node in nodes:
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and " " in node.value
                and id(node) not in inside
            ):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", _CODE.sub("", node.value)
