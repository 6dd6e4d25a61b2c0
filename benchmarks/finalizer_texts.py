"""Random valid vISA for ``benchmarks.hunt_finalizer``: as a text, and as assembly inside OpenCL C.

Left out is what docs/found.md lists as found, or as open: it would hide what is new.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

_SIZES = {"b": 1, "ub": 1, "w": 2, "uw": 2, "d": 4, "ud": 4, "q": 8, "uq": 8, "hf": 2, "f": 4, "df": 8}
_SIGNED = ("b", "w", "d", "q", "f", "hf", "df")
_WIDE = ("PVCXT", "BMG", "PTL")  # platforms with registers of 64 bytes, 64-bit integers and doubles
_VECTORS = 8
_BYTES = 128  # of a vector
_COMMON = ("w", "uw", "d", "ud", "d", "ud", "b", "ub")
_INTS = (
    "add",
    "mul",
    "and",
    "or",
    "xor",
    "shl",
    "shr",
    "asr",
    "avg",
    "min",
    "max",
    "mov",
    "not",
    "cmp",
    "sel",
    "mad",
    "bfn",
    "add3",
    "dp4a",
    "mulh",
    "addc",
    "subb",
)
_WORDS = ("lzd", "fbl", "fbh", "cbit", "bfrev", "bfe", "bfi", "rol", "ror", "madw")
_FLOATS = ("add", "mul", "mad", "min", "max", "mov", "cmp", "sel", "rndd", "rnde", "rndz", "frc")


class Text:
    """A random text for a platform: declarations, loads of all vectors, ``body``, stores of all vectors."""

    def __init__(
        self, pick: random.Random, platform: str, options: tuple[str, ...] = (), *, has_wide: bool = True
    ) -> None:
        self.pick, self.platform, self.options = pick, platform, options
        self.types = [*_COMMON, "f", "hf", *(("q", "uq", "df") if has_wide and platform in _WIDE else ())]
        self.vectors = _VECTORS if pick.random() < 0.7 else 40  # registers under pressure
        self.body = [line for _ in range(pick.randrange(4, 40)) if (line := self._instruction())]

    def text(self, body: list[str]) -> str:
        """Return the text with a body."""
        grf = 64 if self.platform in _WIDE else 32
        args = 2 * grf if grf == 32 else 3 * grf
        lines = [".version 4.1", '.kernel "k"', ".decl lid v_type=G type=uw num_elts=16 align=GRF"]
        lines += (
            [f".decl {name} v_type=G type=ud num_elts=1" for name in ("x", "y")]
            if grf == 64
            else [f".decl {name} v_type=T num_elts=1" for name in ("x", "y")]
        )
        lines += [
            ".decl at v_type=G type=ud num_elts=16 align=GRF",
            ".decl lane v_type=G type=ud num_elts=16 align=GRF",
        ]
        lines += self._declarations()
        lines += [
            f".input lid offset={grf} size=32",
            f".input x offset={args} size=4",
            f".input y offset={args + 4} size=4",
        ]
        lines += [
            '.kernel_attr Target="3d"',
            ".kernel_attr SimdSize=16",
            "    mov (M1_NM, 8) lane(0,0)<1> 0x76543210:uv",
            # All lanes are loaded, because a text may read lanes of others.
            f"    add (M1_NM, 8) lane({32 // grf},{32 % grf // 4})<1> lane(0,0)<1;1,0> 0x8:ud",
            "    shl (M1_NM, 16) lane(0,0)<1> lane(0,0)<1;1,0> 0x2:ud",
        ]
        for n in range(min(self.vectors, _VECTORS) * 2):
            lines += [f"    add (M1_NM, 16) at(0,0)<1> lane(0,0)<1;1,0> 0x{64 * n:x}:ud", f"    {self._load(n)}"]
        lines += [f"    {line}" for line in (*self._start(), *body)]
        for n in range(self.vectors * 2):
            lines += [f"    add (M1_NM, 16) at(0,0)<1> lane(0,0)<1;1,0> 0x{64 * n:x}:ud", f"    {self._store(n)}"]
        return "\n".join([*lines, "    ret (M1, 1)", ""])

    def _declarations(self) -> list[str]:
        """Return the declarations of the vectors, with an alias for each type, and of the predicates."""
        lines = []
        for n in range(self.vectors):
            lines.append(f".decl R{n} v_type=G type=ud num_elts={_BYTES // 4} align=GRF")
            lines += [
                f".decl R{n}_{t} v_type=G type={t} num_elts={_BYTES // s} alias=<R{n}, 0>" for t, s in _SIZES.items()
            ]
        return [*lines, *(f".decl Q{n} v_type=P num_elts=16" for n in range(1, 4))]

    def _start(self) -> list[str]:
        """Return the instructions that fill the vectors that are not loaded, and the predicates."""
        copies = [
            f"mov (M1_NM, 16) R{n}({half},0)<1> R{n % _VECTORS}({half},0)<1;1,0>"
            for n in range(_VECTORS, self.vectors)
            for half in self._halves()
        ]
        relations = ((1, "lt"), (2, "gt"), (3, "ne"))
        return copies + [f"cmp.{word} (M1_NM, 16) Q{n} R{n}(0,0)<1;1,0> R0(0,0)<1;1,0>" for n, word in relations]

    def _halves(self) -> tuple[int, ...]:
        return (0, 1) if self.platform in _WIDE else (0, 2)

    def _row(self, n: int) -> str:
        return f"R{n // 2}.{64 * (n % 2)}"

    def _load(self, n: int) -> str:
        if self.platform in _WIDE:
            return f"lsc_load.ugm (M1_NM, 16) {self._row(n)}:d32 bti(x)[at]:a32"
        return f"gather4_scaled.R (M1_NM, 16) x 0x0:ud at.0 {self._row(n)}"

    def _store(self, n: int) -> str:
        if self.platform in _WIDE:
            return f"lsc_store.ugm (M1, 16) bti(y)[at]:a32 {self._row(n)}:d32"
        return f"scatter4_scaled.R (M1, 16) y 0x0:ud at.0 {self._row(n)}"

    # ---- instructions

    def _operand(self, type_: str, lanes: int, *, plain: bool = False) -> str:
        pick, size = self.pick, _SIZES[type_]
        sign = pick.choice(("", "", "", "(-)", "(abs)")) if type_ in _SIGNED and not plain else ""
        kind = pick.random()
        if kind < 0.2 and lanes > 1:
            region, span = "<0;1,0>", 1
        elif kind < 0.35 and 2 * lanes * size <= _BYTES // 2:
            region, span = "<2;1,0>", 2 * lanes
        else:
            region, span = "<1;1,0>", lanes
        if lanes == 1:
            region, span = "<0;1,0>", 1
        return f"{sign}{self._place(type_, span)}{region}"

    def _place(self, type_: str, span: int) -> str:
        """Return a vector and a first element from which ``span`` elements fit."""
        size, grf = _SIZES[type_], 64 if self.platform in _WIDE else 32
        last = max(0, min(_BYTES, 2 * grf) // size - span)
        at = self.pick.choice((0, 0, grf // size, span, self.pick.randrange(last + 1)))
        at = min(at, last)
        return f"R{self.pick.randrange(self.vectors)}_{type_}({at * size // grf},{at * size % grf // size})"

    def _immediate(self, type_: str) -> str:
        pick = self.pick
        if type_ in ("f", "hf", "df"):
            words = {
                "f": ("0x3f800000", "0xc0200000", "0x3e99999a"),
                "hf": ("0x3c00", "0xc100", "0x3555"),
                "df": ("0x3ff8000000000000",),
            }
            return f"{pick.choice(words[type_])}:{type_}"
        wide = "w" if type_ == "b" else "uw" if type_ == "ub" else type_
        return f"0x{pick.choice((0, 1, 3, 7, 31, 0x7F, 0xFF, 0x7FFF, pick.randrange(1 << 15))):x}:{wide}"

    def _instruction(self) -> str:
        pick = self.pick
        lanes = pick.choice((16, 16, 16, 8, 1))
        mask = pick.choice(("M1", "M1", "M1_NM")) if lanes > 1 else "M1_NM"
        types = [t for t in self.types if lanes * _SIZES[t] <= _BYTES]
        kind = pick.choice(types)
        is_float = kind in ("f", "hf", "df")
        op = pick.choice(_FLOATS if is_float else (*_INTS, *_WORDS))
        others = [kind] if is_float else [t for t in types if t not in ("f", "hf", "df")]
        out = pick.choice(types if op == "mov" else others)
        step = pick.choice((1, 1, 1, 2)) if 2 * lanes * _SIZES[out] <= _BYTES // 2 and lanes > 1 else 1
        sat = ".sat" if op in ("add", "mul", "mov", "mad" if is_float else "mov") and pick.random() < 0.15 else ""
        guard = pick.choice(("", "", "", "(Q1) ", "(!Q2) ", "(Q3) ")) if lanes == 16 else ""
        control = f"({mask}, {lanes})"
        count = {"mad": 3, "bfn": 3, "add3": 3, "dp4a": 3, "bfe": 3, "bfi": 4, "madw": 3}.get(
            op, 1 if op in ("mov", "not", "lzd", "fbl", "fbh", "cbit", "bfrev", "rndd", "rnde", "rndz", "frc") else 2
        )
        if op in ("bfe", "bfi", "lzd", "fbl", "cbit", "bfrev", "madw", "mulh", "addc", "subb", "rol", "ror", "fbh"):
            kind = "ud" if op not in ("fbh", "mulh", "bfe") else pick.choice(("d", "ud"))
            others, out, step = [kind], "ud" if op in ("fbh", "lzd", "fbl", "cbit") else kind, 1
        if op == "dp4a":
            kind, out, step, others = "d", "d", 1, ["d"]
        plain = op in (
            "and",
            "or",
            "xor",
            "not",
            "shl",
            "shr",
            "bfn",
            "bfe",
            "bfi",
            "lzd",
            "fbl",
            "fbh",
            "cbit",
            "bfrev",
            "dp4a",
            "mulh",
            "addc",
            "subb",
            "madw",
            "avg",
            "rol",
            "ror",
            "asr",
        )
        if op in ("bfn", "add3"):
            if self.platform == "TGLLP":
                return ""
            others, out, step = ["uw", "d", "ud"], pick.choice(("uw", "d", "ud")), 1  # not signed words, nor bytes
        if op == "shr":
            others = [t for t in others if t not in _SIGNED]  # what a signed source of another size means is open
        if op in ("mul", "mad") and not is_float and self.platform in _WIDE:
            if pick.random() < 0.5:
                others = [t for t in others if _SIZES[t] < _SIZES["q"]]
                out = pick.choice(others)
            else:  # products of qwords and dwords with others
                others = ["d", "ud"]
        if op in ("min", "max") and not is_float:
            others = [
                t for t in others if (t in _SIGNED) == (kind in _SIGNED)
            ]  # what a `q` beside an `ud` means is open
        if op in ("addc", "subb") and self.platform in ("BMG", "PTL"):
            return ""  # carries in the accumulator
        if op == "mov" and is_float and (_SIZES[out] == 1 or out in ("uw", "ud", "uq")):
            return ""  # numbers out of range
        sources = [self._operand(pick.choice(others), lanes, plain=plain) for _ in range(count)]
        if op in ("shl", "shr", "asr"):  # the finalizer narrows counts, so that those of 64 bits are open
            sources[1] = self._operand(pick.choice(("uw", "ud")), lanes, plain=True)
        if count == 2 and pick.random() < 0.25:
            counts = op in ("shl", "shr", "asr")
            sources[1] = self._immediate(others[0] if is_float else "uw" if counts else pick.choice(others))
        if op == "cmp":
            return (
                f"cmp.{pick.choice(('eq', 'ne', 'lt', 'le', 'gt', 'ge'))} (M1, 16) Q{pick.randrange(1, 4)} {' '.join(self._operand(kind, 16) for _ in range(2))}"
                if 16 * _SIZES[kind] <= _BYTES
                else ""
            )
        if op == "sel":
            guard = f"({pick.choice(('', '!'))}Q{pick.randrange(1, 4)}) "
            control = "(M1, 16)"
            lanes = 16
            if 16 * max(_SIZES[out], *(_SIZES[t] for t in others)) > _BYTES or lanes * step * _SIZES[out] > _BYTES:
                return ""
            sources = [self._operand(out if is_float else pick.choice(others), 16) for _ in range(2)]
        name = f"bfn.x{pick.randrange(1, 255):x}" if op == "bfn" else op
        dst = self._place(out, lanes * step)
        if is_float and kind != "f" and op in ("rndd", "rnde", "rndz", "frc"):
            return ""
        if op == "mulh" and any("<0;1,0>" in s and dst.partition("_")[0] + "_" in s for s in sources):
            return ""
        if op == "madw" and "-noschedule" not in self.options:
            return ""
        if op in ("addc", "subb", "madw"):
            second = f"R{pick.randrange(self.vectors)}_ud(0,0)<1>"
            if any(second.partition("_")[0] + "_" in source for source in sources):
                return ""  # an overlap of the second result and a source has no meaning
            if op == "madw":
                return (
                    f"madw {control} R{pick.randrange(self.vectors)}_{kind}(0,0)<1> {' '.join(sources)}"
                    if lanes == 16
                    else ""
                )
            # Without a predicate, which the finalizer loses for the second result (docs/found.md).
            return f"{op} {control} {dst}<1> {second} {' '.join(sources)}"
        return f"{guard}{name}{sat} {control} {dst}<{step}> {' '.join(sources)}"


class Inline(Text):
    """The same as assembly inside an OpenCL C kernel, which compilers accept that finalize no text alone.

    Where ``branch`` is a condition, the body is executed in some of the lanes only.
    """

    def __init__(self, pick: random.Random, platform: str, options: tuple[str, ...] = ()) -> None:
        self.branch = pick.choice(("", "", f"a1 & {pick.choice((1, 2, 4))}", "i != 3"))
        # Qwords that lanes which are off keep, read as dwords of lanes that are on.
        super().__init__(pick, platform, options, has_wide=not self.branch)

    def text(self, body: list[str]) -> str:
        """Return OpenCL C with a body."""
        halves, loaded = self._halves(), range(2 * min(self.vectors, _VECTORS))
        lines = [
            "__attribute__((intel_reqd_sub_group_size(16), reqd_work_group_size(16, 1, 1)))",
            "kernel void k(volatile global uint *x, volatile global uint *y) {",
            "  uint i = get_local_id(0);",
            *(f"  uint a{n} = x[i + {16 * n}];" for n in loaded),
            # Ahead of the branch, because all lanes are read.
            self._assembly(self._declarations()),
            *(
                self._assembly([f"mov (M1_NM, 16) R{n // 2}({halves[n % 2]},0)<1> %0(0,0)<1;1,0>"], f': "rw"(a{n})')
                for n in loaded
            ),
            f"  if ({self.branch}) {{" if self.branch else "  {",
            self._assembly([*self._start(), *body]),
        ]
        for n in range(2 * self.vectors):
            copy = self._assembly([f"mov (M1, 16) %0(0,0)<1> R{n // 2}({halves[n % 2]},0)<1;1,0>"], '"=rw"(o)')
            lines.append(f"  {{ uint o;{copy} y[i + {16 * n}] = o; }}")
        return "\n".join([*lines, "  }", "}", ""])

    @staticmethod
    def _assembly(lines: list[str], operands: str = "") -> str:
        text = "".join(rf"{line}\n" for line in lines)
        return f'    __asm__ volatile("{text}" : {operands});'
