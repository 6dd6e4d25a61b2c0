"""Published findings, of which only what changed is encoded anew, are the texts of all findings, whatever was edited."""

from __future__ import annotations

import json
import random

import pytest
from tiers import first

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.lsp.encode import diagnostic_text
from visa_lsp.lsp.published import Published, PublishOptions
from visa_lsp.syntax import document

HEAD = '.version 4.1\n.kernel "k"\n.decl V40 v_type=G type=d num_elts=16 align=hword\n'
LINES = (
    "    mov (M1, 16) V40(0,0)<1> V99(0,0)<1;1,0>", "    mov (M1, 15) V40(0,0)<1> 0x1:d", "    mov (M1, 16) V40(0,0)<1> 0x1:d",
    "    nothing%d (M1, 8) é V40(0,0)<1>", "    goto (M1, 16) L7", "L7:", "L7:", "    /* é */ mov (M1, 16) V41(0,0)<1> 0x1:d",
    ".decl V41 v_type=G type=d num_elts=16 align=hword", ".kernel_attr Nothing=1", ".input V98 offset=32 size=4", "", "// a note",
)  # fmt: skip


@pytest.mark.parametrize("seed", first(3, [0, 1, 5, 2, 3, 4]))  # each encoding, each setting
def test_what_is_published_is_every_finding(seed, monkeypatch):
    monkeypatch.setattr(document, "CHUNK_LINES", 5 + 3 * seed)
    pick = random.Random(seed)
    lines = [*HEAD.split("\n")[:-1], *pick.choices(LINES, k=80), "    ret (M1, 1)", ""]
    analysis, published = Analysis.of("\n".join(lines)), Published()
    setting = PublishOptions(
        "file:///a%20b.visaasm",
        ("utf-8", "utf-16", "utf-32")[seed % 3],
        seed % 2 == 0,
        (lambda rule: rule.code != "V101") if seed > 3 else (lambda _rule: True),
    )
    for _ in range(60):
        expected = [
            json.loads(diagnostic_text(analysis.document, setting.uri, d, setting.encoding, related=setting.related))
            for d in analysis.findings.all
            if setting.shows(d.rule)
        ]
        found = json.loads(f"[{published.text(analysis.findings, setting)}]")
        assert found == expected
        assert found
        at = pick.randrange(3, len(lines) - 1)
        start = sum(len(line) + 1 for line in lines[:at])
        if pick.random() < 0.5:
            lines.insert(at, pick.choice(LINES))
            analysis = analysis.edited(start, start, lines[at] + "\n")
        else:
            analysis = analysis.edited(start, start + len(lines.pop(at)) + 1, "")


def test_what_did_not_change_is_not_encoded_again(monkeypatch):
    text = HEAD + "    mov (M1, 15) V40(0,0)<1> 0x1:d\n" * 600 + "    ret (M1, 1)\n"
    analysis, published = Analysis.of(text), Published()
    setting = PublishOptions("file:///x", "utf-16", True, lambda _rule: True)
    made = []
    template = "visa_lsp.lsp.published._template"
    from visa_lsp.lsp import published as module

    real = module._template
    monkeypatch.setattr(template, lambda *args: made.append(1) or real(*args))
    published.text(analysis.findings, setting)
    assert len(made) == 600
    made.clear()
    analysis = analysis.edited(len(HEAD), len(HEAD), "    mov (M1, 15) V40(0,0)<1> 0x2:d\n")
    assert published.text(analysis.findings, setting).count('"range"') == 601
    assert len(made) <= 2  # the new line, and the one that it was put before
