"""Verdicts from disk: a second process finds what the first one found, on real and on broken texts, whatever the file holds."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from corpus import files
from tiers import first

from benchmarks.inputs import kernel
from visa_lsp.analysis import judge, line_classes, verdicts
from visa_lsp.analysis.analysis import Analysis
from visa_lsp.analysis.verdict_store import VerdictStore, use_store
from visa_lsp.disk_cache import Kept

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = files("dev/*/*.visaasm")[::29]


def broken(text: str, chooser: random.Random) -> str:
    """Return the text with a few letters of it changed."""
    letters = list(text)
    for _ in range(12):
        letters[chooser.randrange(len(letters))] = chooser.choice("VvM0,)(<:.\n x19")
    return "".join(letters)


def judged(path: Path, texts: list[str]) -> list[object]:
    """Return the findings of a process of its own: one that has judged nothing before but may read the file."""
    verdicts._verdicts.clear()
    with use_store(lambda: Kept(path, "mark")):
        found: list[object] = [Analysis.of(text, None).diagnostics for text in texts]
    verdicts._verdicts.clear()
    return found


@pytest.fixture(scope="module")
def texts() -> list[str]:
    chooser = random.Random(5)
    # Short texts ask for nothing that is kept; of long ones there may be none beside the generated ones.
    real = [kernel(2000, 1), kernel(2000, 2), *(path.read_text(encoding="utf-8") for path in TEXTS)]
    assert len(real) > 2
    return [*real, *(broken(text, chooser) for text in real)]


@pytest.fixture(scope="module")
def alone(texts) -> list[object]:
    verdicts._verdicts.clear()
    return [Analysis.of(text, None).diagnostics for text in texts]


def test_the_second_process_finds_the_same(tmp_path, texts, alone):
    path = tmp_path / "verdicts"
    assert judged(path, texts[: len(texts) // 3]) == alone[: len(texts) // 3]
    size = path.stat().st_size
    assert size > 5_000
    assert judged(path, texts) == alone
    assert path.stat().st_size > size
    size = path.stat().st_size
    assert judged(path, texts) == alone
    assert path.stat().st_size < 1.05 * size, "what was known was judged and written again"


def test_known_classes_are_not_judged(tmp_path, texts, monkeypatch):
    path = tmp_path / "verdicts"
    real = texts[: len(texts) // 2]
    judged(path, real)
    lines = []
    verdicts_on = line_classes.verdicts_on

    def counted(judged, document, some):
        lines.append(len(some))
        return verdicts_on(judged, document, some)

    monkeypatch.setattr(judge, "verdicts_on", counted)
    judged(path, real)
    again = sum(lines)
    lines.clear()
    judged(tmp_path / "another", real)
    assert again < sum(lines) / 2


@pytest.mark.parametrize("seed", first(1, range(6)))
def test_a_damaged_file_changes_no_finding(tmp_path, texts, alone, seed):
    path, chooser = tmp_path / "verdicts", random.Random(seed)
    judged(path, texts[:6])
    data = bytearray(path.read_bytes())
    for _ in range(20):
        data[chooser.randrange(len(data))] = chooser.randrange(256)
    path.write_bytes(bytes(data))
    assert judged(path, texts[:6]) == alone[:6]


@pytest.mark.parametrize(
    "block",
    [
        None, [], [[], "", ["", ""], ""], [[7], "a", ["", []], ""], [["\x01#0;"], "\x01#0;", ["", []], ""],
        [[], "", ["a\nb", [[0]]], ""], [[], "", ["a", ["L"]], ""], [[], "", ["a", [[]]], ""], [[], "", ["a", [[-7]]], ""],
    ],
)  # fmt: skip
def test_a_block_of_nonsense_is_none(tmp_path, block):
    kept = Kept(tmp_path / "verdicts", "mark")
    kept.put(repr("key"), block)
    kept.flush()
    found = verdicts.Verdicts("key")
    VerdictStore(lambda: Kept(tmp_path / "verdicts", "mark")).load(found)
    assert found.clean == verdicts.Verdicts().clean
    assert not found.others
    assert not found.decls
