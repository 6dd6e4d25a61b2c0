"""Threads of kernels without barriers run one after another in one call of compiled code, and take turns where one is long.

Groups go on where an earlier call of compiled code has paused.
"""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from compiled_engine import compile_at_once
from test_compiled_faults import HEAD
from test_engines_agree import differences
from tiers import first
from unjudged_run import run_unjudged

from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.runner import RunOptions
from visa_lsp.sim import machine
from visa_lsp.sim.jit import groups, native, whole

LAUNCH = """groups: [{groups}]
local_size: [64, 1, 1]
args:
  x: {{buffer: {{dtype: int32, shape: [2048], init: zeros}}}}
"""
# Each work item's number in the group, the group's number in three dimensions above it, and the place for it.
ITEM = """    mov (M1, 16) value(0,0)<1> ids(0,0)<1;1,0>
    mad (M1_NM, 1) never(0,0)<1> %group_id_z(0,0)<0;1,0> 0x3:ud %group_id_y(0,0)<0;1,0>
    mad (M1_NM, 1) never(0,0)<1> never(0,0)<0;1,0> 0x3:ud %group_id_x(0,0)<0;1,0>
    shl (M1_NM, 1) never(0,1)<1> never(0,0)<0;1,0> 0x6:ud
    add (M1, 16) value(0,0)<1> value(0,0)<1;1,0> never(0,1)<0;1,0>
    shl (M1, 16) at(0,0)<1> value(0,0)<1;1,0> 0x2:ud
"""
STORE = "    scatter4_scaled.R (M1, 16) x 0x0:ud at.0 value.0\n"
ODD = "    and (M1, 16) never(0,0)<1> value(0,0)<1;1,0> 0x1:ud\n    cmp.ne (M1, 16) P1 never(0,0)<1;1,0> 0x0:ud\n"
# The lanes go round as often as the number of their group and thread says.
LONG = """    shr (M1, 16) never(0,0)<1> value(0,0)<1;1,0> 0x4:ud
    add (M1, 16) never(0,0)<1> never(0,0)<1;1,0> 0x1:ud
again:
    add (M1, 16) value(0,0)<1> value(0,0)<1;1,0> 0x10000:ud
    add (M1, 16) never(0,0)<1> never(0,0)<1;1,0> 0xffffffff:ud
    cmp.ne (M1, 16) P1 never(0,0)<1;1,0> 0x0:ud
    (P1) goto (M1, 16) again
"""
# A thread goes on when the one behind it has stored: the first waits for all others.
LAST_FIRST = """    shr (M1_NM, 1) never(0,2)<1> value(0,0)<0;1,0> 0x4:ud
    and (M1_NM, 1) never(0,2)<1> never(0,2)<0;1,0> 0x3:ud
    cmp.eq (M1_NM, 16) P1 never(0,2)<0;1,0> 0x3:ud
    (P1) goto (M1, 16) mine
    add (M1, 16) never(0,0)<1> at(0,0)<1;1,0> 0x40:ud
wait:
    gather4_scaled.R (M1, 16) x 0x0:ud never.0 value.0
    cmp.eq (M1_NM, 16) P1 value(0,0)<0;1,0> 0x0:ud
    (P1) goto (M1, 16) wait
mine:
    add (M1, 16) value(0,0)<1> value(0,0)<1;1,0> 0x1:ud
"""


@pytest.mark.parametrize("count", first(1, ["2, 3, 3", "1, 1, 1"]))
@pytest.mark.parametrize(
    "body",
    [
        ITEM + STORE,
        ITEM + ODD + "    (P1) add (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x1000000:ud\n" + STORE,
        ITEM + LONG + STORE,
        ITEM + LAST_FIRST + STORE,
        ITEM + LONG + ODD + "    (P1) add (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x1000000:ud\n" + STORE,
    ],
    ids=["short", "outside", "long", "last first", "long and outside"],
)
def test_engines_agree(body, count, monkeypatch):
    monkeypatch.setattr(native, "LEVEL", 0)
    monkeypatch.setattr(machine, "QUANTUM", 60)
    compile_at_once(monkeypatch.setattr)
    launch = parse_launch(LAUNCH.format(groups=count), Path("k.launch.yaml"))
    text = f"{HEAD}{body}    ret (M1, 1)\n"
    made, before = [], groups.GroupWriter
    monkeypatch.setattr(groups, "GroupWriter", lambda *a, **k: made.append(before(*a, **k)) or made[-1])
    for budget, steps in ((None, None), (None, 100), (700, None), (1_500, 50)) if "again" in body else ((None, 100),):
        monkeypatch.setattr(whole, "MAX_SLICE_STEPS", steps or 1 << 23)  # that pass between calls of compiled code
        reports = [
            run_unjudged(text, launch, RunOptions(platform="TGLLP", engine=name, checks="none", budget=budget))
            for name in ("interp", "jit")
        ]
        assert differences(*reports) == set()
        assert reports[1].engine == "jit"
        assert reports[0].buffers[0].array.any()
    assert all(writer.runs_threads for writer in made)
