"""What an instruction is stands in its row: no rule, no step of binding and nothing about ze_info compares a mnemonic."""

import ast
from pathlib import Path

import pytest

import visa_lsp

ROOT = Path(visa_lsp.__file__).parent
FILES = sorted(path for room in ("checks", "sema", "zeinfo", "analysis") for path in (ROOT / room).rglob("*.py"))
ASKED = {"startswith", "endswith", "partition", "rpartition", "removeprefix"}


def is_mnemonic(node):
    return isinstance(node, ast.Attribute) and node.attr == "mnemonic"


def comparisons(source):
    """The lines on which a mnemonic is compared, searched, cut, or looked up, or an effect is named."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Compare(left=left, comparators=others) if any(is_mnemonic(n) for n in (left, *others)):
                yield node.lineno
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in ASKED and is_mnemonic(value):
                yield node.lineno
            case ast.Call(func=ast.Attribute(attr="get"), args=[key, *_]) if is_mnemonic(key):
                yield node.lineno
            case ast.Subscript(value=value, slice=key) if is_mnemonic(value) or is_mnemonic(key):
                yield node.lineno
            case ast.Match(subject=subject) if is_mnemonic(subject):
                yield node.lineno
            case ast.Call(func=ast.Name(id="Effect")):
                yield node.lineno


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_mnemonic_is_compared(path):
    assert list(comparisons(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "line",
    ['row.mnemonic == "mov"', "row.mnemonic in _SET", 'inst.row.mnemonic.endswith("_lz")', "_SIZES.get(row.mnemonic, ())",
     "_SIZES[row.mnemonic]", 'row.meaning == Effect("dpas")'],
)  # fmt: skip
def test_what_counts_as_a_comparison(line):
    assert list(comparisons(line)) == [1]
