"""Runs under the debugger, for tests: in the place of an engine, and of launch files."""

from __future__ import annotations

from pathlib import Path

from visa_lsp.dap.open_launch import open_launch
from visa_lsp.debug.debugger import Debugger
from visa_lsp.debug.goals import Goal, key_of
from visa_lsp.debug.stops import Launch

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
# A kernel that never ends: its first thread goes back to its beginning.
ENDLESS = (
    (EXAMPLES / "saxpy.visaasm")
    .read_text(encoding="utf-8")
    .replace("    mul (M1_NM, 1)", "again:\n    mul (M1_NM, 1)", 1)
    .replace("done:", "    jmp (M1, 1) again\ndone:")
)
# Two groups of two threads with a barrier and a subroutine: work items exchange values over shared local memory.
LAUNCH = """\
kernel: shift
platform: TGLLP
groups: [2, 1, 1]
local_size: [16, 1, 1]
args:
  out: {buffer: {dtype: uint32, shape: [16], init: zeros}}
"""
TEXT = """\
.version 4.1
.kernel "shift"
.decl local_id_x v_type=G type=uw num_elts=8 align=GRF
.decl out v_type=T num_elts=1
.decl P1 v_type=P num_elts=8
.decl there v_type=G type=ud num_elts=8 align=GRF
.decl value v_type=G type=ud num_elts=8 align=GRF
.input local_id_x offset=32 size=16
.input out offset=64 size=4
.kernel_attr Target="cm"
.kernel_attr SimdSize=8
    cmp.lt (M1, 8) P1 local_id_x(0,0)<1;1,0> 0x3:uw
    shl (M1, 8) there(0,0)<1> local_id_x(0,0)<1;1,0> 0x2:ud
    mov (M1, 8) value(0,0)<1> local_id_x(0,0)<1;1,0>
    scatter4_scaled.R (M1, 8) %slm 0x0:ud there.0 value.0
    barrier
    xor (M1, 8) there(0,0)<1> there(0,0)<1;1,0> 0x3c:ud
    gather4_scaled.R (M1, 8) %slm 0x0:ud there.0 value.0
    call (M1, 8) twice
    scatter4_scaled.R (M1, 8) out 0x0:ud there.0 value.0
    ret (M1, 1)
.function "twice"
twice:
    add (M1, 8) value(0,0)<1> value(0,0)<1;1,0> value(0,0)<1;1,0>
    ret (M1, 8)
"""


def write_shift(folder: Path, text: str = TEXT, launch: str = LAUNCH) -> Path:
    """Write the kernel with its launch file; return the path of its text."""
    (folder / "shift.launch.yaml").write_text(launch)
    path = folder / "shift.visaasm"
    path.write_text(text)
    return path


def open_debugger(program, **arguments):
    """Return the debugger of a launch request, and its console output."""
    said: list[str] = []
    launched = open_launch({"program": str(program), **arguments}, said.append)
    launched.debugger.focus = launched.focus
    return launched, said


def debugger_of(dispatch, observers=()):
    """Return a debugger for an order to run."""
    return Debugger(Launch(dispatch, {}, {}, lambda: observers))


def through(dispatch, observers=()):
    """Run to the end under the debugger, as an engine does."""
    debugger = debugger_of(dispatch, observers)
    assert debugger.go(Goal()).reason == "end"
    return debugger.finish()


def state(debugger):
    """Return everything of the running group that instructions can change, to be compared."""
    stepper = debugger.stepper
    threads = [
        (
            key_of(t), t.number in stepper.waits,
            [
                (f.code.kernel.name, f.pc, f.emask, f.call_mask, dict(f.waiting), [(*c[:3], dict(c[3]), c[4]) for c in f.calls],
                 f.regs.tobytes(), f.addr.tobytes(), tuple(f.preds), tuple(f.surfaces), tuple(f.samplers), int(f.rounding))
                for f in (*t.frames, t.frame)
            ],
        )
        for t in stepper.live
    ]  # fmt: skip
    group = stepper.threads[0].group
    buffers = (*debugger.launch.dispatch.memory.buffers, *debugger.launch.dispatch.surfaces.values(), group.slm)
    barriers = (group.barrier, *group.named.values())
    return (
        debugger.time,
        None if stepper.current is None else key_of(stepper.current),
        threads,
        [(b.data.tobytes(), b.written) for b in buffers],
        [(b.arrived, b.produced, b.generation) for b in barriers],
        {code.kernel.name: list(code.counts) for code in debugger.machine.codes if any(code.counts)},
    )
