"""Findings of a long text, placed by their anchors, have the values of findings placed by offsets, whatever was edited."""

from __future__ import annotations

import random

import pytest
from tiers import first

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.lsp.encode import FindingView, finding_value, finding_values
from visa_lsp.syntax import document

HEAD = '.version 4.1\n.kernel "k"\n.decl V40 v_type=G type=d num_elts=16 align=hword\n'
LINES = (
    "    mov (M1, 16) V40(0,0)<1> V99(0,0)<1;1,0>", "    mov (M1, 15) V40(0,0)<1> 0x1:d", "    mov (M1, 16) V40(0,0)<1> 0x1:d",
    "    nothing%d (M1, 8) é V40(0,0)<1>", "    goto (M1, 16) L7", "L7:", "L7:", "    /* é */ mov (M1, 16) V41(0,0)<1> 0x1:d",
    ".decl V41 v_type=G type=d num_elts=16 align=hword", ".kernel_attr Nothing=1", ".input V98 offset=32 size=4", "", "// a note",
)  # fmt: skip


@pytest.mark.parametrize("seed", first(3, [0, 1, 5, 2, 3, 4]))  # each encoding, each setting
def test_anchors_and_offsets_give_the_same_values(seed, monkeypatch):
    monkeypatch.setattr(document, "CHUNK_LINES", 5 + 3 * seed)
    pick = random.Random(seed)
    lines = [*HEAD.split("\n")[:-1], *pick.choices(LINES, k=80), "    ret (M1, 1)", ""]
    analysis = Analysis.of("\n".join(lines))
    view = FindingView(
        "file:///a%20b.visaasm",
        ("utf-8", "utf-16", "utf-32")[seed % 3],
        seed % 2 == 0,
        (lambda rule: rule.code != "V101") if seed > 3 else (lambda _rule: True),
    )
    for _ in range(60):
        expected = [
            finding_value(analysis.document, view.uri, d, view.encoding, related=view.related)
            for d in analysis.findings.all
            if view.shows(d.rule)
        ]
        found = finding_values(analysis.findings, view)
        assert found == expected
        assert found
        at = pick.randrange(3, len(lines) - 1)
        start = sum(len(line) + 1 for line in lines[:at])
        if pick.random() < 0.5:
            lines.insert(at, pick.choice(LINES))
            analysis = analysis.edit(start, start, lines[at] + "\n")
        else:
            analysis = analysis.edit(start, start + len(lines.pop(at)) + 1, "")
