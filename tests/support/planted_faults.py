"""Small right kernels, and edits that plant one fault each: what `prove` has to prove, and what it has to refute.

A store takes the work item's own number, so that two work items never store the same value at one place.
"""

from dataclasses import dataclass, field

HEAD = """.version 4.1
.kernel "k"
.decl local_id_x v_type=G type=uw num_elts=16 align=GRF
.decl global_id_offset v_type=G type=ud num_elts=3 align=GRF
.decl local_size v_type=G type=ud num_elts=3 align=dword
.decl n v_type=G type=d num_elts=1 align=dword
.decl y v_type=T num_elts=1
.decl base v_type=G type=d num_elts=1 align=dword
.decl step v_type=G type=d num_elts=1 align=dword
.decl bound v_type=G type=ud num_elts=1 align=dword
.decl carry v_type=G type=ud num_elts=1 align=dword
.decl lid v_type=G type=d num_elts=16 align=GRF
.decl gid v_type=G type=d num_elts=16 align=GRF
.decl at v_type=G type=d num_elts=16 align=GRF
.decl value v_type=G type=d num_elts=16 align=GRF
.decl P1 v_type=P num_elts=16
.decl P2 v_type=P num_elts=16
.input local_id_x offset=32 size=32
.input global_id_offset offset=64 size=12
.input local_size offset=76 size=12
.input n offset=88 size=4
.input y offset=92 size=4
.kernel_attr SLMSize=4
.kernel_attr SimdSize=16
    mul (M1_NM, 1) base(0,0)<1> local_size(0,0)<0;1,0> %r0(0,1)<0;1,0>
    mov (M1, 16) lid(0,0)<1> local_id_x(0,0)<1;1,0>
    add (M1, 16) gid(0,0)<1> lid(0,0)<1;1,0> base(0,0)<0;1,0>
    mov (M1, 16) value(0,0)<1> gid(0,0)<1;1,0>
"""
STORE = "    scatter4_scaled.R (M1, 16) {0} 0x0:ud {1}.0 value.0\n"
LOAD = "    gather4_scaled.R (M1, 16) {0} 0x0:ud {1}.0 value.0\n"
INDEX = "    shl (M1, 16) at(0,0)<1> {0}(0,0)<1;1,0> 0x2:d\n"
BARRIER = "    fence_local.E\n    barrier\n"
GUARD = "    cmp.lt (M1, 16) P1 gid(0,0)<1;1,0> n(0,0)<0;1,0>\n    (!P1) goto (M1, 16) out\n"
_PARTNER = "    xor (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x4:d\n"


@dataclass(frozen=True)
class RightKernel:
    """A right kernel. ``faults`` are a property, the words to replace, and what to put there; ``assume`` is for all."""

    code: str
    faults: dict[str, tuple[str, str, str]]
    assume: tuple[str, ...] = ()
    properties: tuple[str, ...] = field(default=("race", "bounds", "divergence"))

    @property
    def text(self) -> str:
        """The text of the kernel."""
        return f"{HEAD}{self.code}    ret (M1, 1)\n"

    def faulty(self, name: str) -> str:
        """Return the text with a fault."""
        _, old, new = self.faults[name]
        assert old in self.code, name
        return f"{HEAD}{self.code.replace(old, new, 1)}    ret (M1, 1)\n"


def _add(name: str, value: str) -> str:
    return f"    add (M1, 16) {name}(0,0)<1> {name}(0,0)<1;1,0> {value}\n"


RIGHT = {
    "an element an item": RightKernel(
        GUARD + INDEX.format("gid") + STORE.format("y", "at") + "out:\n",
        {
            "one element too many": ("bounds", "cmp.lt", "cmp.le"),
            "the next element": ("bounds", STORE.format("y", "at"), _add("at", "0x4:d") + STORE.format("y", "at")),
            "the element before": ("bounds", STORE.format("y", "at"), _add("at", "-0x4:d") + STORE.format("y", "at")),
            # A buffer of two halves is natural, so one element more than these is the fault.
            "behind the second half": ("bounds", INDEX.format("gid"), "    add (M1, 16) at(0,0)<1> gid(0,0)<1;1,0> n(0,0)<0;1,0>\n" + _add("at", "0x1:d") + INDEX.format("at")),
            "the guard is the wrong way round": ("bounds", "(!P1)", "(P1)"),
            "two items an element": ("race", INDEX.format("gid"), "    and (M1, 16) at(0,0)<1> gid(0,0)<1;1,0> -0x2:d\n" + INDEX.format("at")),
            "the local id for the global one": ("race", INDEX.format("gid"), INDEX.format("lid")),
            "all items one element": ("race", INDEX.format("gid"), "    mov (M1, 16) at(0,0)<1> 0x0:d\n"),
        },
    ),
    "a neighbour in shared memory": RightKernel(
        INDEX.format("lid") + STORE.format("%slm", "at") + BARRIER + _PARTNER + LOAD.format("%slm", "at"),
        {
            "no barrier": ("race", BARRIER, ""),
            "a fence for a barrier": ("race", "    barrier\n", ""),
            "the barrier is late": ("race", BARRIER + _PARTNER + LOAD.format("%slm", "at"), _PARTNER + LOAD.format("%slm", "at") + BARRIER),
            "two items a place": ("race", INDEX.format("lid"), "    and (M1, 16) at(0,0)<1> lid(0,0)<1;1,0> -0x2:d\n" + INDEX.format("at")),
            "behind the array": ("bounds", _PARTNER, _add("at", "0x1000:d")),
            "some leave before the barrier": ("divergence", BARRIER, "    cmp.gt (M1, 16) P1 lid(0,0)<1;1,0> 0x11:d\n    (P1) goto (M1, 16) out\n" + BARRIER + "out:\n"),
        },
    ),
    "a tile in rounds": RightKernel(
        "    mov (M1_NM, 1) step(0,0)<1> 0x0:d\nagain:\n"
        + INDEX.format("lid") + STORE.format("%slm", "at") + BARRIER + _PARTNER + LOAD.format("%slm", "at")
        + "    fence_local.EI\n    barrier\n"
        + "    add (M1_NM, 1) step(0,0)<1> step(0,0)<0;1,0> 0x1:d\n"
        "    cmp.lt (M1_NM, 1) P1 step(0,0)<0;1,0> 0x4:d\n    (P1) jmp (M1, 1) again\n",
        {
            "no barrier before the next round": ("race", "    fence_local.EI\n    barrier\n", ""),
            "no barrier in the round": ("race", BARRIER, ""),
            "rounds by the local id": ("divergence", "    add (M1_NM, 1) step(0,0)<1> step(0,0)<0;1,0> 0x1:d\n    cmp.lt (M1_NM, 1) P1 step(0,0)<0;1,0> 0x4:d\n    (P1) jmp (M1, 1) again\n",
                                       "    add (M1_NM, 1) step(0,0)<1> step(0,0)<0;1,0> 0x8:d\n    cmp.lt (M1, 16) P1 step(0,0)<0;1,0> lid(0,0)<1;1,0>\n    (P1) goto (M1, 16) again\n"),
            "a tile that moves": ("bounds", STORE.format("%slm", "at"), "    shl (M1, 16) gid(0,0)<1> step(0,0)<0;1,0> 0xc:d\n" + "    add (M1, 16) at(0,0)<1> at(0,0)<1;1,0> gid(0,0)<1;1,0>\n" + STORE.format("%slm", "at")),
        },
    ),
    "a half of the items": RightKernel(
        INDEX.format("lid") + STORE.format("%slm", "at") + BARRIER
        + "    cmp.lt (M1, 16) P1 lid(0,0)<1;1,0> 0x8:d\n    (!P1) goto (M1, 16) out\n"
        + "    add (M1, 16) gid(0,0)<1> at(0,0)<1;1,0> 0x20:d\n" + LOAD.format("%slm", "gid") + STORE.format("%slm", "at") + "out:\n",
        {
            "one item too many": ("race", "lid(0,0)<1;1,0> 0x8:d", "lid(0,0)<1;1,0> 0x9:d"),
            "the other half is too near": ("race", "at(0,0)<1;1,0> 0x20:d", "at(0,0)<1;1,0> 0x1c:d"),
            "the other half is out of the array": ("bounds", "at(0,0)<1;1,0> 0x20:d", "at(0,0)<1;1,0> 0x2000:d"),
            "no barrier between the halves": ("race", BARRIER, ""),
            "the barrier is for some": ("divergence", "out:\n", BARRIER + "out:\n"),
        },
    ),
    "one item for all": RightKernel(
        "    cmp.eq (M1, 16) P1 gid(0,0)<1;1,0> 0x0:d\n    cmp.gt (M1, 16) P2 n(0,0)<0;1,0> 0x0:d\n"
        "    and (M1, 16) P1 P1 P2\n    (!P1) goto (M1, 16) out\n"
        "    add (M1, 16) at(0,0)<1> n(0,0)<0;1,0> -0x1:d\n" + INDEX.format("at") + STORE.format("y", "at") + "out:\n",
        {
            "no elements": ("bounds", "cmp.gt", "cmp.ge"),
            "an item of every group": ("race", "P1 gid", "P1 lid"),
            "behind the last element": ("bounds", "-0x1:d", "0x0:d"),
        },
    ),
    "a neighbour in a buffer": RightKernel(
        INDEX.format("gid") + STORE.format("y", "at") + "    fence_global.E\n    barrier\n"
        + _PARTNER + LOAD.format("y", "at"),
        {
            "no barrier for the buffer": ("race", "    fence_global.E\n    barrier\n", ""),
            "two items an element of the buffer": ("race", INDEX.format("gid"), "    and (M1, 16) at(0,0)<1> gid(0,0)<1;1,0> -0x2:d\n" + INDEX.format("at")),
        },
        ("groups == 1",),
        ("race", "divergence"),
    ),
    "registers": RightKernel(
        "    mov (M1_NM, 1) step(0,0)<1> 0x0:d\n    add (M1, 16) at(0,0)<1> step(0,0)<0;1,0> gid(0,0)<1;1,0>\n"
        + INDEX.format("at") + STORE.format("y", "at"),
        {
            "read before it is written": ("uninitialised", "    mov (M1_NM, 1) step(0,0)<1> 0x0:d\n", ""),
            "written for some": ("uninitialised", "    add (M1, 16) at", "    cmp.lt (M1, 16) P1 gid(0,0)<1;1,0> n(0,0)<0;1,0>\n    (P1) add (M1, 16) at"),
        },
        properties=("uninitialised",),
    ),
}  # fmt: skip
