"""Renaming, formatting and fixing a text leave its object as it was, names apart.

A few texts run here; ``python tests/corpus_edits/test_edits_keep_bytes.py`` takes all of them.
"""

from __future__ import annotations

import random
import re
import sys
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from corpus import needs_corpus, read, reference_texts
from cursor import applied

from visa_lsp.codec.decode import decode
from visa_lsp.codec.encode import encode
from visa_lsp.ide.analysis import Analysis
from visa_lsp.ide.code_actions import fix_all
from visa_lsp.ide.formatting import format_text
from visa_lsp.ide.rename import RenameRefused, rename
from visa_lsp.ide.suppressions import visible
from visa_lsp.sema.lower import assemble


def bytes_of(text: str) -> bytes:
    """The object of a text."""
    result = assemble(text)
    assert result.module is not None
    return encode(result.module)


def nameless(data: bytes) -> object:
    """What an object says without its names: everything but the pools of strings."""
    module = decode(data)
    return replace(
        module,
        kernels=tuple(replace(k, strings=("",) * len(k.strings)) for k in module.kernels),
        functions=tuple(replace(k, strings=("",) * len(k.strings)) for k in module.functions),
    )


def blank_damage(text: str, draw: random.Random) -> str:
    """The text with some blanks doubled and some lines trailing blanks: what formatting has to mend."""
    lines = text.split("\n")
    for at in draw.sample(range(len(lines)), min(30, len(lines))):
        if '"' not in lines[at] and lines[at].startswith("    "):
            code, slash, comment = lines[at].partition("//")
            lines[at] = re.sub(r"(?<=\S) (?=\S)", "   ", code, count=2) + slash + comment + "  "
    return "\n".join(lines)


def problems(path: Path, seed: int, renames: int = 12) -> list[str]:
    """Which edits of a text changed more than they may."""
    draw = random.Random(seed)
    text = read(path)
    before = bytes_of(text)
    found = []
    for name, start in (("format", text), ("format of damaged blanks", blank_damage(text, draw))):
        formatted = applied(start, format_text(Analysis.of(start)))
        if bytes_of(formatted) != before:
            found.append(f"{path.name}: {name}")
        if format_text(Analysis.of(formatted)):
            found.append(f"{path.name}: {name} is not idempotent")
    diagnostics = visible(Analysis.of(text))
    fixes = [("every safe fix", fix_all(diagnostics))] if diagnostics else []
    fixes += [(f"{d.code} {fix.title}", fix.edits) for d in diagnostics for fix in d.fixes if fix.safe]
    for title, edits in fixes:
        if edits and bytes_of(applied(text, edits)) != before:
            found.append(f"{path.name}: fix {title}")
    analysis = Analysis.of(text)
    names = [
        m.start() for m in re.finditer(r"(?<![\w%.])(?:[VPTAS][0-9]+|_[0-9A-Za-z_]+|(?<=\")\w+(?=\"))(?!\w)", text)
    ]
    shape = nameless(before)
    for number, offset in enumerate(draw.sample(names, min(renames, len(names)))):
        try:
            edits = rename(analysis, offset, f"renamed_{number}")
        except RenameRefused:
            continue
        if not edits or nameless(bytes_of(applied(text, edits))) != shape:
            found.append(f"{path.name}: rename at {analysis.document.position(offset)}")
    return found


@needs_corpus
@pytest.mark.parametrize("number", range(6))
def test_edits_keep_the_bytes(number):
    texts = [p for p in reference_texts() if p.stat().st_size < 60_000]
    path = random.Random(number).choice(texts)
    assert problems(path, number, renames=5) == []


def main() -> int:
    """All texts of the corpus."""
    started, bad = time.monotonic(), []
    paths = reference_texts()
    for number, path in enumerate(paths):
        bad += problems(path, number, renames=4)
        if number % 25 == 24:
            print(
                f"{number + 1} of {len(paths)} texts, {len(bad)} problems, {time.monotonic() - started:.0f} s",
                flush=True,
            )
    for line in bad:
        print(f"FAILED: {line}")
    print(f"{len(paths)} texts: {'ok' if not bad else f'{len(bad)} edits changed the object'}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
