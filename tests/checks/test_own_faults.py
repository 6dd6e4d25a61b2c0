"""One-fault texts of the project's own: what the finalizer said of each (1.0.12504.6), and what we say.

Where the finalizer rejects or crashes there is an error. Where it accepts there is none, but for two texts of which it writes an
object that neither it nor anybody else can read again. One fault gives one finding.
"""

import csv
from pathlib import Path

import pytest
from each_case import check_each

from visa_lsp.app.assemble import assemble_text
from visa_lsp.codec.decode import decode

HEAD = """.version 4.1
.kernel "k"
.decl V33 v_type=G type=d num_elts=64 align=GRF
.decl V34 v_type=G type=ud num_elts=512 align=GRF
.decl V35 v_type=G type=uw num_elts=64 align=GRF
.decl V36 v_type=G type=uq num_elts=64 align=GRF
.decl A0 v_type=A num_elts=8
.decl T6 v_type=T num_elts=1
.kernel_attr SimdSize=16
"""
UNREADABLE = {"attribute_text_of_three", "attribute_flag_text_of_three"}
with (Path(__file__).parent / "own_faults.tsv").open() as file:
    ROWS = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.mark.parametrize("blank_lines", [0, 80], ids=["short", "long"])
def test_verdict(blank_lines):
    check_each(ROWS, lambda row: _check(row, blank_lines), lambda row: row["id"])


def _check(row, blank_lines):
    text = f"{HEAD}{row['line']}\n    ret (M1, 1)\n" + "\n" * blank_lines
    made = assemble_text(text, row["platform"])
    found = [d for d in made.diagnostics if d.severity.value in ("error", "warning")]
    assert [d.severity.value for d in found] == ([] if row["ours"] == "nothing" else [row["ours"]])
    line = made.analysis.document.position(found[0].span.start)[0] if found else HEAD.count("\n")
    assert line == HEAD.count("\n")
    if row["finalizer"] in ("rejects", "crashes") or row["id"] in UNREADABLE:
        assert made.data is None
    else:
        assert made.data is not None
        assert decode(made.data).kernels
