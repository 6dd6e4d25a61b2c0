"""Instructions are compiled when they are reached: frames get what the ops of later ones need, and nothing else is made."""

from __future__ import annotations

import numpy as np

from visa_lsp.app.launch.program import module_of_text
from visa_lsp.isa.platforms import platform_named
from visa_lsp.sim.launch.config import BufferArg, LaunchConfig
from visa_lsp.sim.launch.prepare import prepare
from visa_lsp.sim.machine import Machine
from visa_lsp.sim.observers.checkers import checkers

HEAD = """.version 4.1
.kernel "k"
.decl local_id_x v_type=G type=uw num_elts=16 align=GRF
.decl at v_type=G type=ud num_elts=16 align=GRF
.decl value v_type=G type=ud num_elts=16 align=GRF
.decl last v_type=G type=ud num_elts=8 align=GRF
.decl P1 v_type=P num_elts=1
.decl out v_type=T num_elts=1
.input local_id_x offset=32 size=32
.input out offset=64 size=4
.kernel_attr Target="cm"
.kernel_attr SimdSize=16
    mov (M1, 16) at(0,0)<1> local_id_x(0,0)<1;1,0>
    shl (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x2:ud
"""
TAIL = """    scatter4_scaled.R (M1, 16) out 0x0:ud at.0 value.0
    ret (M1, 1)
"""


def machine(body, checks="none", threads=2):
    module = module_of_text(HEAD + body + TAIL, None, platform_named("TGLLP"), [])
    buffer = BufferArg(np.zeros(16 * threads, np.uint32))
    config = LaunchConfig(local_size=(16 * threads, 1, 1), args={"out": buffer})
    return Machine(prepare(module, None, config, platform_named("TGLLP")).dispatch, checkers(checks))


def test_what_is_never_reached_is_never_compiled():
    never = "    add (M1, 16) value(0,0)<1> value(0,0)<1;1,0> 0x1:ud\n" * 200
    made = machine(f"    jmp (M1_NM, 1) end\n{never}end:\n    mov (M1, 16) value(0,0)<1> 0x5:ud\n", threads=3)
    result = made.run()
    code = made.code(made.dispatch.kernel)
    assert result.faults == ()
    assert len(code.touches) < 10
    assert made.dispatch.surfaces[0].data.view(np.uint32)[:16].tolist() == [5] * 16


def test_every_thread_gets_the_views_of_what_another_reached_first():
    # Thread 0 goes one way, the others another; all meet behind the barrier.
    body = """    mov (M1, 16) value(0,0)<1> 0x1:ud
    cmp.eq (M1_NM, 1) P1 %hw_id(0,0)<0;1,0> 0x0:ud
    (P1) jmp (M1_NM, 1) other
    add (M1, 16) value(0,0)<1> value(0,0)<1;1,0> 0x2:ud
    jmp (M1_NM, 1) end
other:
    mul (M1, 16) value(0,0)<1> value(0,0)<1;1,0> 0x9:ud
end:
    barrier
    add (M1, 16) value(0,0)<1> value(0,0)<1;1,0> 0xa:ud
"""
    made = machine(body, checks="all", threads=4)
    result = made.run()
    assert result.faults == ()
    assert made.dispatch.surfaces[0].data.view(np.uint32)[:64].tolist() == [19] * 16 + [13] * 48


def test_a_register_file_grows_when_an_instruction_needs_more():
    # The last variable is left by far: the file ends eight registers behind it.
    body = """    mov (M1, 16) value(0,0)<1> 0x3:ud
    barrier
    mov (M1_NM, 8) last(40,0)<1> 0x7:ud
    barrier
    add (M1_NM, 8) value(0,0)<1> value(0,0)<1;1,0> last(40,0)<1;1,0>
"""
    made = machine(body, threads=2)
    size = made.code(made.dispatch.kernel).layout.size
    made.run()
    assert made.code(made.dispatch.kernel).layout.size > size
    assert made.dispatch.surfaces[0].data.view(np.uint32)[:16].tolist() == [10] * 8 + [3] * 8
