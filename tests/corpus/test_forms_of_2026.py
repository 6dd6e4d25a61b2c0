"""One-instruction texts that the finalizer of 2026 judged: `check` says the same, and so does the generated table."""

from __future__ import annotations

import csv
from collections import defaultdict
from functools import cache

import pytest
from corpus import BESIDE

from benchmarks.newest_forms import disagreements
from visa_lsp.generate.support_table import is_compiled
from visa_lsp.isa.model import Dialect
from visa_lsp.isa.platforms import platform_named
from visa_lsp.isa.table import TABLE
from visa_lsp.syntax import tree
from visa_lsp.syntax.parse import parse_line

FORMS = BESIDE / "forms2026" / "forms.tsv"
pytestmark = [pytest.mark.corpus, pytest.mark.skipif(not FORMS.is_file(), reason=f"no verdicts at {FORMS}")]


@cache
def _rows():
    with FORMS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_verdicts_are_those_of_the_finalizer():
    rows = _rows()
    found = [(row, kind) for row, kind, _ in disagreements(rows) if kind != "false warning"]
    assert len(found) <= len(rows) // 100
    # The brackets of append counters are read where texts of 2026 are bound.
    assert [
        row["statement"] for row, kind in found if kind == "false error" and "apndctr" not in row["statement"]
    ] == []


def test_the_table_says_where_an_instruction_is_compiled():
    accepted: dict[tuple[str, str], int] = defaultdict(int)
    for row in _rows():
        node = parse_line(row["statement"])
        if row["verdict"] == "accept" and isinstance(node, tree.Instruction):
            long = ".".join(word.text for word in node.words[:2])
            accepted[row["platform"], long if long in TABLE.by_mnemonic else node.words[0].text] += 1
    assert accepted
    wrong = []
    for (name, mnemonic), many in accepted.items():
        platform, rows = platform_named(name), TABLE.by_mnemonic.get(mnemonic, ())
        assert platform is not None
        # Of the newest messages it does not look at the platform: the table has that of the documentation.
        unchecked = any(row.family == "lsc" and Dialect.V41 not in row.dialects for row in rows)
        if not unchecked and not any(is_compiled(row, platform) for row in rows):
            wrong.append(f"{name}: {mnemonic} ({many} accepted)")
    assert sorted(wrong) == []
