"""Templates in the manner of Triton's libraries for Intel GPUs, and strings that comments mark."""

from triton.language import core


@core.extern
def timer(_semantic=None):
    return core.inline_asm_elementwise(
        """{\n .decl timer v_type=G type=ud num_elts=2 align=qword alias=<$0, 0> \n"""
        """  mov (M1_NM, 2) timer(0, 0)<1> %tsc(0,0)<1;1,0> \n}""",
        "=rw",
        [],
        dtype=core.uint64,
        is_pure=False,
        pack=1,
        _semantic=_semantic,
    )


# visa: asm
KERNEL = r"""
.decl t v_type=G type=f num_elts=16 align=GRF
mul (M1, 16) t(0,0)<1> $0(0,0)<1;1,0> $0(0,0)<1;1,0>
"""


def unrolled(count: int) -> str:
    # visa: asm
    line = f"{{\nadd (M1, {count}) $0(0,0)<1> $0(0,0)<1;1,0> 0x1:w\nmov (M1_NM, 1) $0(0,0)<1> 0x0:d\n}}\n"
    return line * count


PLAIN = 'asm volatile("mov (M1, 16) broken" :: "rw"(x))'
