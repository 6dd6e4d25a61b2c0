"""Adding an opcode touches one file: a made-up row is enough for every room to know the instruction."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from visa_lsp.codec.decode import decode
from visa_lsp.codec.encode import encode
from visa_lsp.isa.lane import S0, S1, Lane
from visa_lsp.isa.model import Instruction, layout
from visa_lsp.isa.platforms import platform_named
from visa_lsp.isa.rows.shapes import EVERY, dst, lane_row, src
from visa_lsp.isa.table import TABLE
from visa_lsp.isa.types import INT_TYPES
from visa_lsp.program.text_form import module_text
from visa_lsp.sema.lower import resolve_text

ROW = lane_row(
    "frobnicate", 0xF0, "misc", INT_TYPES, 2, Lane(S0 + S1), "Frobnicate two numbers.", "Adds them, as it happens.",
    dialects=EVERY,
)  # fmt: skip

TEXT = """.version 4.1
.kernel "k"
.decl V32 v_type=G type=d num_elts=16 align=GRF
.decl P1 v_type=P num_elts=16
    (P1) frobnicate.sat (M1, 16) V32(0,0)<1> V32(0,0)<1;1,0> 0x7:d
    frob
    ret (M1, 1)
"""
LINE = "(P1) frobnicate.sat (M1, 16) V32(0,0)<1> V32(0,0)<1;1,0> 0x7:d"


def test_a_row_more_is_parsed_encoded_decoded_and_printed():
    table = TABLE.with_rows(ROW)
    result = resolve_text(TEXT.replace("    frob\n", ""), "TGLLP", table)
    assert result.module is not None
    data = encode(result.module)
    module = decode(data, table)
    inst = module.kernels[0].instructions[0]
    assert inst.row.mnemonic == "frobnicate"
    assert inst == result.module.kernels[0].instructions[0]
    assert bytes([0xF0, 0x04]) in data
    printed = module_text(module, platform_named("TGLLP"))
    assert LINE in printed
    again = resolve_text(printed, "TGLLP", table)
    assert again.module is not None
    assert encode(again.module) == data


def test_a_row_whose_opcode_is_taken_is_refused():
    taken = lane_row("frob", 0x01, "misc", INT_TYPES, 2, Lane(S0 - S1), "Frob.", "Frobs.", seed=None)
    message = "`add` and `frob` have the opcode 0x01, and no constant field tells them apart"
    with pytest.raises(ValueError, match=message):
        TABLE.with_rows(taken)


def test_a_row_without_a_constant_beside_rows_with_constants_is_refused():
    taken = lane_row("frob", 0x6E, "misc", INT_TYPES, 2, Lane(S0 - S1), "Frob.", "Frobs.", seed=None)
    with pytest.raises(ValueError, match="and `frob` have the opcode 0x6e, and no constant field tells them apart"):
        TABLE.with_rows(taken)


def test_an_opcode_is_shared_by_spellings_and_by_rows_with_different_constants():
    spelling = lane_row("plus", 0x01, "misc", INT_TYPES, 2, Lane(S0 + S1), "Add.", "Adds.", seed=None)
    parts = [
        Instruction(name, 0xF0, "misc", layout(f"E P sub:b={number} dst:v src0:v"), (dst(), src(0)), meaning=Lane(S0))
        for number, name in enumerate(("frob", "frobnicate"))
    ]
    assert set(TABLE.with_rows(spelling, *parts).mnemonics) - TABLE.mnemonics == {"plus", "frob", "frobnicate"}


def test_without_the_row_nothing_knows_it():
    assert resolve_text(TEXT, "TGLLP").module is None
    assert "frobnicate" not in TABLE.mnemonics


# The row stands in one file of rows before anything else is imported: what an engineer's edit of that file does.
SCRIPT = """
import json, sys
sys.path.insert(0, sys.argv[1])
import visa_lsp.isa.rows.misc as misc
from test_made_up_source import ROW
misc.ROWS = (*misc.ROWS, ROW)
from visa_lsp.analysis.analysis import Analysis
from visa_lsp.ide.features.completion import offers
from visa_lsp.ide.features.hover import hover
from visa_lsp.app.assemble import assemble_text
text = sys.argv[2]
analysis = Analysis.of(text, "TGLLP")
shown = hover(analysis, text.index("frobnicate") + 2)
items = offers(analysis, text.index("    frob\\n") + 8)[0]
clean = text.replace("    frob\\n", "")
assembled = assemble_text(clean, "TGLLP")
print(json.dumps({
    "hover": shown.markdown if shown else None,
    "completions": [i.label for i in items],
    "findings": [d.message for d in assembled.diagnostics if d.name != "unused-variable"],
    "bytes": bool(assembled.data),
}))
"""
SOURCE = """
from visa_lsp.isa.lane import S0, S1, Lane
from visa_lsp.isa.rows.shapes import EVERY, dst, lane_row, src
from visa_lsp.isa.types import INT_TYPES
ROW = lane_row("frobnicate", 0xF0, "misc", INT_TYPES, 2, Lane(S0 + S1), "Frobnicate two numbers.", "Adds them, as it happens.",
    dialects=EVERY)
"""


def test_a_row_more_is_hovered_completed_and_checked(tmp_path):
    (tmp_path / "test_made_up_source.py").write_text(SOURCE, encoding="utf-8")
    command = [sys.executable, "-c", SCRIPT, str(tmp_path), TEXT]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert "Frobnicate two numbers." in found["hover"]
    assert "frobnicate" in found["completions"]
    assert found["findings"] == []
    assert found["bytes"]
