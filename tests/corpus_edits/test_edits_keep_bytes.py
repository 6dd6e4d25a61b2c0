"""Renaming, formatting and every safe fix leave the object of every text of the corpus as it was, names apart.

Real text has next to no findings: ``safe_fixes`` plants, in every text, each fault that a safe fix mends and that has a
place there; mended, the text has to give the bytes that it gave before. How often each fix was asked is printed (``pytest -s``).
"""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from corpus import at_least, read, reference_texts
from cursor import apply_edits
from msgspec.structs import replace
from safe_fixes import EXTRAS, PLANTS, UNREACHED, Extra, plant_faults
from tiers import first

import visa_lsp
from visa_lsp.analysis.analysis import Analysis
from visa_lsp.app.check.fixes import mend
from visa_lsp.codec.decode import decode
from visa_lsp.codec.encode import encode
from visa_lsp.ide.features.code_actions import fix_all
from visa_lsp.ide.features.formatting import format_text
from visa_lsp.ide.features.rename import RenameRefused, rename
from visa_lsp.ide.suppressions import visible
from visa_lsp.sema.lower import resolve_text

if TYPE_CHECKING:
    from visa_lsp.diagnostics import Diagnostic, Edit
    from visa_lsp.text import Span

GROUPS = 16
RENAMES = 4


def bytes_of(text: str) -> bytes:
    """Return the object of a text."""
    result = resolve_text(text)
    assert result.module is not None
    return encode(result.module)


def nameless(data: bytes) -> object:
    """Return an object without its names: everything but the pools of strings."""
    module = decode(data)
    return replace(
        module,
        kernels=tuple(replace(k, strings=("",) * len(k.strings)) for k in module.kernels),
        functions=tuple(replace(k, strings=("",) * len(k.strings)) for k in module.functions),
    )


def blank_damage(text: str, draw: random.Random) -> str:
    """Return the text with some blanks doubled and some lines trailing blanks: what formatting has to mend."""
    lines = text.split("\n")
    for at in draw.sample(range(len(lines)), min(30, len(lines))):
        if '"' not in lines[at] and lines[at].startswith("    "):
            code, slash, comment = lines[at].partition("//")
            lines[at] = re.sub(r"(?<=\S) (?=\S)", "   ", code, count=2) + slash + comment + "  "
    return "\n".join(lines)


def inspect(text: str) -> tuple[Diagnostic, ...]:
    """Return the findings, tokens and other answers about a text."""
    return visible(Analysis.of(text))


def problems(path: Path, seed: int, asked: Counter[tuple[str, str]]) -> list[str]:
    """Which edits of a text changed more than they may."""
    draw = random.Random(seed)
    text = read(path)
    before = bytes_of(text)
    found = []
    shaped = text
    for name, start in (("format", text), ("format of damaged blanks", blank_damage(text, draw))):
        formatted = apply_edits(start, format_text(Analysis.of(start)))
        if formatted != shaped and bytes_of(formatted) != before:
            found.append(f"{path.name}: {name}")
        if format_text(Analysis.of(formatted)):
            found.append(f"{path.name}: {name} is not idempotent")
        shaped = formatted
    diagnostics = inspect(text)
    fixes = [("every safe fix", fix_all(diagnostics))] if diagnostics else []
    fixes += [(f"{d.code} {fix.title}", fix.edits) for d in diagnostics for fix in d.fixes if fix.safe]
    for title, edits in fixes:
        if edits and bytes_of(apply_edits(text, edits)) != before:
            found.append(f"{path.name}: fix {title}")
    found += planted_problems(path, text, draw, EXTRAS[seed % len(EXTRAS)], asked)
    return found + rename_problems(path, text, draw, before)


def planted_problems(
    path: Path, text: str, draw: random.Random, extra: Extra, asked: Counter[tuple[str, str]]
) -> list[str]:
    """Planted faults that have no safe fix of the right name, and texts that their fixes do not give back."""
    plants = plant_faults(text, draw, extra)
    offered = [(d.name, fix.title) for d in inspect(plants.faulty) for fix in d.fixes if fix.safe]
    found = []
    for rule, title in plants.faults:
        if not any(name == rule and shown.startswith(title) for name, shown in offered):
            found.append(f"{path.name}: no fix `{title}` of {rule}")
        else:
            asked[rule, re.sub(r"`.*", "`..`", title)] += 1
    mended = mend(plants.faulty, inspect, lambda _: True).text
    if mended == plants.faulty or bytes_of(mended) != bytes_of(plants.right):
        found.append(f"{path.name}: the safe fixes of {', '.join(sorted({rule for rule, _ in plants.faults}))}")
    return found


def rename_problems(path: Path, text: str, draw: random.Random, before: bytes) -> list[str]:
    """Return the renames that change more than names: all of a text are tried together first, and one by one if that fails."""
    analysis = Analysis.of(text)
    names = [
        m.start() for m in re.finditer(r"(?<![\w%.])(?:[VPTAS][0-9]+|_[0-9A-Za-z_]+|(?<=\")\w+(?=\"))(?!\w)", text)
    ]
    chosen: dict[tuple[Edit, ...], int] = {}
    taken: set[Span] = set()
    for number, offset in enumerate(draw.sample(names, min(RENAMES, len(names)))):
        try:
            edits = rename(analysis, offset, f"renamed_{number}")
        except RenameRefused:
            continue
        if not edits:
            return [f"{path.name}: no rename at {analysis.document.position(offset)}"]
        if taken.isdisjoint(edit.span for edit in edits):
            taken.update(edit.span for edit in edits)
            chosen[edits] = offset
    shape = nameless(before)
    together = tuple(sorted((edit for edits in chosen for edit in edits), key=lambda e: e.span))
    if nameless(bytes_of(apply_edits(text, together))) == shape:
        return []
    bad = [offset for edits, offset in chosen.items() if nameless(bytes_of(apply_edits(text, edits))) != shape]
    return [f"{path.name}: rename at {analysis.document.position(offset)}" for offset in bad or chosen.values()]


@pytest.mark.corpus
@pytest.mark.parametrize("group", first(2, range(GROUPS)))
def test_edits_keep_the_bytes(group: int) -> None:
    texts = reference_texts()
    assert len(texts) >= at_least(80, 384)
    asked = Counter[tuple[str, str]]()
    for number in range(group, len(texts), GROUPS):
        assert problems(texts[number], number, asked) == []
    for (rule, title), count in sorted(asked.items()):
        print(f"{count:5} times {rule}: {title}")


def test_every_safe_fix_is_planted() -> None:
    """Read off the source: whoever makes a new safe fix has to plant its fault."""
    found = set()
    for path in (Path(visa_lsp.__file__).parent / "checks").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if "safe=True" in source:
            [name] = re.findall(r'RULE = rule\("V\d+", "([a-z-]+)"', source)
            found.add(name)
    assert found | {"useless-suppression"} == {p.rule for p in (*PLANTS, *EXTRAS)} | UNREACHED
    for name in ("ADD", "Mov", "Lifetime.start", "sVm_gather.4.1", "File"):
        assert "unknown-mnemonic" not in [
            d.name for d in inspect(f'.version 4.1\n.kernel "k"\n    {name} (M1, 1) V1\n')
        ]
