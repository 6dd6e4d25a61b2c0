"""The engine knows no rule: it derives what it has to know from what rules declare."""

from __future__ import annotations

import ast
from pathlib import Path

import visa_lsp.analysis
import visa_lsp.checks
from visa_lsp.checks.registry import CHECKS
from visa_lsp.checks.support import limits
from visa_lsp.checks.support.limits import UNCHECKED
from visa_lsp.zeinfo.rules import RULES as ZE_INFO_RULES

ENGINE = Path(visa_lsp.analysis.__file__).parent
FILES = sorted(ENGINE.rglob("*.py"))
MODULES = {path.stem for path in Path(visa_lsp.checks.__file__).parent.glob("rules/*.py")} - {"__init__"}
CODES = {rule.code for rule in (*(check.rule for check in CHECKS), *ZE_INFO_RULES)} | {UNCHECKED.code}
NAMES = {rule.name for rule in (*(check.rule for check in CHECKS), *ZE_INFO_RULES)} | {UNCHECKED.name} | MODULES


def _strings(path: Path) -> list[tuple[int, str]]:
    """(line, text) of the string literals that are no docstrings; also pieces of formatted ones and of bytes."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in docs and isinstance(node.value, str | bytes):
            text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
            found.append((node.lineno, text))
    return found


def _named(text: str) -> set[str]:
    words = {text, *text.replace('"', " ").replace("`", " ").split()}
    return words & (CODES | NAMES)


def test_no_rule_stands_in_the_engine() -> None:
    assert not {(path.name, line, word) for path in FILES for line, text in _strings(path) for word in _named(text)}


def test_a_rule_is_found_where_it_stands() -> None:
    found = {word for _, text in _strings(Path(limits.__file__)) for word in _named(text)}
    assert found == {UNCHECKED.code, UNCHECKED.name}


def test_no_rule_is_imported_by_the_engine() -> None:
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("visa_lsp.checks"):
                imported = {(node.module or "").rpartition(".")[2], *(alias.name for alias in node.names)}
                assert imported.isdisjoint(MODULES), f"{path.name}:{node.lineno}"
