"""The surroundings of random vISA in ``benchmarks.hunt_finalizer``: a text, or OpenCL C with the vISA as assembly; and bodies whose results are wrong."""

from __future__ import annotations

from dataclasses import dataclass

SIZES = {"b": 1, "ub": 1, "w": 2, "uw": 2, "d": 4, "ud": 4, "q": 8, "uq": 8, "hf": 2, "f": 4, "df": 8}
WIDE = ("PVCXT", "BMG", "PTL")  # platforms with registers of 64 bytes, 64-bit integers and doubles
BYTES = 128  # of a vector
LOADED = 8  # vectors with values of their own in OpenCL C; the others begin as copies


@dataclass(frozen=True, slots=True)
class Layout:
    """The vectors R0, R1, .. with an alias for each type (``R0_ud``) and the predicates Q1 to Q3, which a body uses.

    All vectors are loaded before it, in OpenCL C the first ``LOADED``, and stored after it. ``branch`` is a condition of OpenCL C under which the body is executed.
    """

    platform: str
    vectors: int = LOADED
    branch: str = ""

    @property
    def grf(self) -> int:
        """The bytes of a register."""
        return 64 if self.platform in WIDE else 32

    def text(self, body: list[str]) -> str:
        """Return the text with a body."""
        grf, is_wide = self.grf, self.platform in WIDE
        args = 3 * grf if is_wide else 2 * grf
        pointer, pointer_bytes = ("v_type=G type=uq", 8) if is_wide else ("v_type=T", 4)
        lines = [
            ".version 4.1",
            '.kernel "k"',
            ".decl lid v_type=G type=uw num_elts=16 align=GRF",
            *(f".decl {name} {pointer} num_elts=1" for name in ("x", "y")),
            f".decl at v_type=G type={'uq' if is_wide else 'ud'} num_elts=16 align=GRF",
            ".decl lane v_type=G type=ud num_elts=16 align=GRF",
            *self._declarations(),
            f".input lid offset={grf} size=32",
            f".input x offset={args} size={pointer_bytes}",
            f".input y offset={args + pointer_bytes} size={pointer_bytes}",
            '.kernel_attr Target="3d"',
            ".kernel_attr SimdSize=16",
            "    mov (M1_NM, 8) lane(0,0)<1> 0x76543210:uv",
            # All lanes are loaded, because a text may read lanes of others.
            f"    add (M1_NM, 8) lane({32 // grf},{32 % grf // 4})<1> lane(0,0)<1;1,0> 0x8:ud",
            "    shl (M1_NM, 16) lane(0,0)<1> lane(0,0)<1;1,0> 0x2:ud",
        ]
        # All are loaded: a finalizer drops a copy whose lanes that are on are written later, but lanes that are off keep it.
        loads = [line for n in range(self.vectors * 2) for line in self._message("x", n)]
        stores = [line for n in range(self.vectors * 2) for line in self._message("y", n)]
        lines += [f"    {line}" for line in (*loads, *self._predicates(), *body, *stores)]
        return "\n".join([*lines, "    ret (M1, 1)", ""])

    def opencl(self, body: list[str]) -> str:
        """Return OpenCL C with a body, for compilers that finalize no text alone."""
        halves, loaded = self._halves(), range(2 * min(self.vectors, LOADED))
        copies = [
            _assembly([f"mov (M1_NM, 16) R{n // 2}({halves[n % 2]},0)<1> %0(0,0)<1;1,0>"], f': "rw"(a{n})')
            for n in loaded
        ]
        lines = [
            "__attribute__((intel_reqd_sub_group_size(16), reqd_work_group_size(16, 1, 1)))",
            "kernel void k(volatile global uint *x, volatile global uint *y) {",
            "  uint i = get_local_id(0);",
            *(f"  uint a{n} = x[i + {16 * n}];" for n in loaded),
            # Ahead of the branch, because all lanes are read.
            _assembly(self._declarations()),
            *copies,
            f"  if ({self.branch}) {{" if self.branch else "  {",
            _assembly([*self._copies(), *self._predicates(), *body]),
        ]
        for n in range(2 * self.vectors):
            copy = _assembly([f"mov (M1, 16) %0(0,0)<1> R{n // 2}({halves[n % 2]},0)<1;1,0>"], '"=rw"(o)')
            lines.append(f"  {{ uint o;{copy} y[i + {16 * n}] = o; }}")
        return "\n".join([*lines, "  }", "}", ""])

    def _declarations(self) -> list[str]:
        lines = []
        for n in range(self.vectors):
            lines.append(f".decl R{n} v_type=G type=ud num_elts={BYTES // 4} align=GRF")
            lines += [
                f".decl R{n}_{t} v_type=G type={t} num_elts={BYTES // s} alias=<R{n}, 0>" for t, s in SIZES.items()
            ]
        return [*lines, *(f".decl Q{n} v_type=P num_elts=16" for n in range(1, 4))]

    def _copies(self) -> list[str]:
        """Return the instructions that fill the vectors that are not loaded."""
        return [
            f"mov (M1_NM, 16) R{n}({half},0)<1> R{n % LOADED}({half},0)<1;1,0>"
            for n in range(LOADED, self.vectors)
            for half in self._halves()
        ]

    @staticmethod
    def _predicates() -> list[str]:
        relations = ((1, "lt"), (2, "gt"), (3, "ne"))
        return [f"cmp.{word} (M1_NM, 16) Q{n} R{n}(0,0)<1;1,0> R0(0,0)<1;1,0>" for n, word in relations]

    def _halves(self) -> tuple[int, int]:
        """Return the registers in which the halves of a vector begin."""
        return 0, 64 // self.grf

    def _message(self, buffer: str, n: int) -> list[str]:
        """Return the load of half a vector from the buffer ``x``, or its store to ``y``."""
        row, is_load = f"R{n // 2}.{64 * (n % 2)}", buffer == "x"
        place = f"add (M1_NM, 16) at(0,0)<1> lane(0,0)<1;1,0> 0x{64 * n:x}:ud"
        if self.platform not in WIDE:
            name, mask = ("gather4_scaled", "M1_NM") if is_load else ("scatter4_scaled", "M1")
            return [place, f"{name}.R ({mask}, 16) {buffer} 0x0:ud at.0 {row}"]
        base = f"add (M1_NM, 16) at(0,0)<1> at(0,0)<1;1,0> {buffer}(0,0)<0;1,0>"
        if is_load:
            return [place, base, f"lsc_load.ugm (M1_NM, 16) {row}:d32 flat[at]:a64"]
        return [place, base, f"lsc_store.ugm (M1, 16) flat[at]:a64 {row}:d32"]


def _assembly(lines: list[str], operands: str = "") -> str:
    text = "".join(rf"{line}\n" for line in lines)
    return f'    __asm__ volatile("{text}" : {operands});'


@dataclass(frozen=True, slots=True)
class Find:
    """A body of which a finalizer makes machine code with other results (docs/found.md)."""

    name: str
    body: tuple[str, ...]
    vectors: int = LOADED
    branch: str = ""
    has: str = ""  # what a platform must have: "bfn", or "qwords"

    def is_for(self, platform: str) -> bool:
        """Return whether a platform has what the body needs."""
        return platform in WIDE if self.has == "qwords" else platform != "TGLLP" or not self.has


FINDS = (
    Find("bfn of a signed word", ("bfn.x96 (M1, 16) R0_ud(0,0)<1> R1_w(0,0)<1;1,0> R2_ud(0,0)<1;1,0> R3_ud(0,0)<1;1,0>",), has="bfn"),
    Find("bfn into bytes", ("bfn.xf1 (M1_NM, 16) R0_ub(0,0)<1> R1_d(0,0)<1;1,0> R2_ud(0,0)<1;1,0> R3_d(0,0)<1;1,0>",), has="bfn"),
    Find("predicate of a carry", ("(!Q3) addc (M1, 16) R4_ud(0,0)<1> R5_ud(0,0)<1> R6_ud(0,0)<1;1,0> R7_ud(0,0)<1;1,0>",)),
    Find("carry of scalars", ("addc (M1, 16) R4_ud(0,3)<1> R5_ud(0,0)<1> R6_ud(0,2)<0;1,0> R6_ud(0,3)<0;1,0>",)),
    Find("borrow taken late", (
        "subb (M1, 16) R15_ud(1,0)<1> R25_ud(0,0)<1> R26_ud(0,0)<1;1,0> 0x14de:ud",
        "mad (M1_NM, 1) R6_uw(0,1)<1> R30_ud(1,0)<0;1,0> R16_ud(0,5)<0;1,0> R5_uw(0,0)<0;1,0>",
    ), vectors=40),
    Find("copy of what becomes a borrow", ("subb (M1, 16) R8_ud(0,0)<1> R7_ud(0,0)<1> R6_ud(0,0)<1;1,0> 0x3:ud",), vectors=16, branch="i != 3"),
    Find("madw, unsigned", ("madw (M1_NM, 16) R0_ud(0,0)<1> R1_ud(0,0)<1;1,0> R2_ud(0,0)<1;1,0> R3_ud(0,0)<1;1,0>",), vectors=40),
    Find("madw, signed", ("madw (M1_NM, 16) R0_d(0,0)<1> R1_d(0,0)<1;1,0> R2_d(0,0)<1;1,0> R3_d(0,0)<1;1,0>",)),
    Find("mulh into its scalar", ("mulh (M1, 16) R0_d(0,0)<1> R1_d(0,0)<1;1,0> R0_d(0,0)<0;1,0>",)),
    Find("mul of a word to a qword", ("mul (M1, 16) R0_q(0,0)<1> R1_d(0,0)<1;1,0> R2_w(0,0)<1;1,0>",), has="qwords"),
    Find("mad.sat to bytes", ("mad.sat (M1, 16) R0_ub(0,0)<2> R1_uw(0,0)<0;1,0> R2_uw(0,0)<2;1,0> (abs)R3_w(0,0)<2;1,0>",)),
    Find("mul.sat of dwords", ("mul.sat (M1, 16) R0_d(0,0)<1> R1_ud(0,0)<1;1,0> R2_ud(0,0)<1;1,0>",)),
    Find("absolute dword", ("min (M1_NM, 8) R3_ud(0,0)<2> (abs)R3_d(0,0)<1;1,0> 0x3:d",)),
    Find("mad of halves over its source", ("(Q3) mad (M1, 16) R3_hf(0,0)<2> R2_hf(0,16)<1;1,0> R3_hf(0,0)<1;1,0> R7_hf(0,16)<0;1,0>",)),
    Find("avg over its source", ("avg (M1_NM, 16) R1_b(0,0)<1> R5_w(0,0)<2;1,0> R1_w(0,0)<1;1,0>",)),
    Find("float to d and to ud", ("mov (M1, 16) R0_d(0,0)<1> R1_f(0,0)<1;1,0>", "mov (M1, 16) R2_ud(0,0)<1> R1_f(0,0)<1;1,0>")),
    Find("double to bytes", ("mov (M1, 8) R0_b(0,0)<1> R1_df(0,0)<1;1,0>",), has="qwords"),
    Find("qwords of lanes that are off", (
        "bfe (M1, 8) R1_d(0,9)<1> R10_d(0,8)<1;1,0> R11_d(0,0)<2;1,0> R19_d(0,0)<1;1,0>",
        "add (M1_NM, 16) R17_ub(0,16)<2> R18_ud(0,1)<0;1,0> R12_d(0,3)<1;1,0>",
        "mul (M1, 16) R18_df(0,0)<1> (abs)R33_df(0,0)<1;1,0> R35_df(0,0)<1;1,0>",
    ), vectors=40, branch="i != 3", has="qwords"),
)  # fmt: skip
