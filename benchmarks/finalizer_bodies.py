"""Random instructions for ``benchmarks.hunt_finalizer``.

Left out is what docs/found.md lists as found, or as open: it would hide what is new.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.finalizer_texts import BYTES, LOADED, SIZES, WIDE, Layout

if TYPE_CHECKING:
    import random

_SIGNED = ("b", "w", "d", "q", "f", "hf", "df")
_COMMON = ("w", "uw", "d", "ud", "d", "ud", "b", "ub")
_INTS = (
    "add", "mul", "and", "or", "xor", "shl", "shr", "asr", "avg", "min", "max",
    "mov", "not", "cmp", "sel", "mad", "bfn", "add3", "dp4a", "mulh", "addc", "subb",
)  # fmt: skip
_WORDS = ("lzd", "fbl", "fbh", "cbit", "bfrev", "bfe", "bfi", "rol", "ror", "madw")
_WITHOUT_MODIFIERS = (
    "and", "or", "xor", "not", "shl", "shr", "bfn", "bfe", "bfi", "lzd", "fbl", "fbh",
    "cbit", "bfrev", "dp4a", "mulh", "addc", "subb", "madw", "avg", "rol", "ror", "asr",
)  # fmt: skip
_FLOATS = ("add", "mul", "mad", "min", "max", "mov", "cmp", "sel", "rndd", "rnde", "rndz", "frc")


class Body:
    """Random instructions for a layout: ``lines``."""

    def __init__(self, pick: random.Random, layout: Layout, options: tuple[str, ...] = ()) -> None:
        self.pick, self.options = pick, options
        self.platform, self.grf, self.vectors = layout.platform, layout.grf, layout.vectors
        self.types = [*_COMMON, "f", "hf", *(("q", "uq", "df") if layout.platform in WIDE else ())]
        self.lines = [line for _ in range(pick.randrange(4, 40)) if (line := self._instruction())]

    def _operand(self, type_: str, lanes: int, *, plain: bool = False) -> str:
        pick, size = self.pick, SIZES[type_]
        plain = plain or type_ in ("b", "d")  # (abs) of the least number, which does not fit
        sign = pick.choice(("", "", "", "(-)", "(abs)")) if type_ in _SIGNED and not plain else ""
        kind = pick.random()
        if kind < 0.2 and lanes > 1:
            region, span = "<0;1,0>", 1
        elif kind < 0.35 and 2 * lanes * size <= BYTES // 2:
            region, span = "<2;1,0>", 2 * lanes
        else:
            region, span = "<1;1,0>", lanes
        if lanes == 1:
            region, span = "<0;1,0>", 1
        return f"{sign}{self._place(type_, span)}{region}"

    def _place(self, type_: str, span: int) -> str:
        """Return a vector and a first element from which ``span`` elements fit."""
        size, grf = SIZES[type_], self.grf
        last = max(0, min(BYTES, 2 * grf) // size - span)
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
        types = [t for t in self.types if lanes * SIZES[t] <= BYTES]
        kind = pick.choice(types)
        is_float = kind in ("f", "hf", "df")
        op = pick.choice(_FLOATS if is_float else (*_INTS, *_WORDS))
        others = [kind] if is_float else [t for t in types if t not in ("f", "hf", "df")]
        out = pick.choice(types if op == "mov" else others)
        if SIZES[out] == SIZES["q"]:
            mask = "M1_NM"  # a qword that a lane which is off keeps may be read as dwords of lanes that are on
        step = pick.choice((1, 1, 1, 2)) if 2 * lanes * SIZES[out] <= BYTES // 2 and lanes > 1 else 1
        sat = ".sat" if op in ("add", "mov", *(("mul", "mad") if is_float else ())) and pick.random() < 0.15 else ""
        guard = pick.choice(("", "", "", "(Q1) ", "(!Q2) ", "(Q3) ")) if lanes == 16 and mask == "M1" else ""
        control = f"({mask}, {lanes})"
        count = {"mad": 3, "bfn": 3, "add3": 3, "dp4a": 3, "bfe": 3, "bfi": 4, "madw": 3}.get(
            op, 1 if op in ("mov", "not", "lzd", "fbl", "fbh", "cbit", "bfrev", "rndd", "rnde", "rndz", "frc") else 2
        )
        if op in ("bfe", "bfi", "lzd", "fbl", "cbit", "bfrev", "madw", "mulh", "addc", "subb", "rol", "ror", "fbh"):
            kind = "ud" if op not in ("fbh", "mulh", "bfe") else pick.choice(("d", "ud"))
            others, out, step = [kind], "ud" if op in ("fbh", "lzd", "fbl", "cbit") else kind, 1
        if op == "dp4a":
            kind, out, step, others = "d", "d", 1, ["d"]
        plain = op in _WITHOUT_MODIFIERS
        if op in ("bfn", "add3"):
            if self.platform == "TGLLP":
                return ""
            others, out, step = ["uw", "d", "ud"], pick.choice(("uw", "d", "ud")), 1  # not signed words, nor bytes
        if op == "shr":
            others = [t for t in others if t not in _SIGNED]  # what a signed source of another size means is open
        if op in ("mul", "mad") and not is_float and self.platform in WIDE:
            if pick.random() < 0.5:
                others = [t for t in others if SIZES[t] < SIZES["q"]]
                out = pick.choice(others)
            else:  # products of qwords and dwords with others
                others = ["d", "ud"]
        if op in ("min", "max", "avg") and not is_float:
            others = [t for t in others if SIZES[t] < SIZES["q"]]  # what a `uq` beside a `d` means is open
        if op in ("addc", "subb") and (self.platform in WIDE or self.vectors > LOADED):
            return ""  # carries in the accumulator, and copies of what becomes one
        if op == "mov" and is_float and (SIZES[out] == 1 or out in ("uw", "ud", "uq")):
            return ""  # numbers out of range
        sources = [self._operand(pick.choice(others), lanes, plain=plain) for _ in range(count)]
        if op in ("shl", "shr", "asr"):  # the finalizer narrows counts, so that those of 64 bits are open
            sources[1] = self._operand(pick.choice(("uw", "ud")), lanes, plain=True)
        if count == 2 and pick.random() < 0.25:
            counts = op in ("shl", "shr", "asr")
            sources[1] = self._immediate(others[0] if is_float else "uw" if counts else pick.choice(others))
        if op == "cmp":
            if 16 * SIZES[kind] > BYTES:
                return ""
            relation = pick.choice(("eq", "ne", "lt", "le", "gt", "ge"))
            flag = f"Q{pick.randrange(1, 4)}"
            return f"cmp.{relation} (M1, 16) {flag} {self._operand(kind, 16)} {self._operand(kind, 16)}"
        if op == "sel":
            guard = f"({pick.choice(('', '!'))}Q{pick.randrange(1, 4)}) "
            control = f"({mask if SIZES[out] == SIZES['q'] else 'M1'}, 16)"
            lanes = 16
            if 16 * max(SIZES[out], *(SIZES[t] for t in others)) > BYTES or lanes * step * SIZES[out] > BYTES:
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
            if all("<0;1,0>" in s or ":" in s for s in sources):
                return ""  # carries of scalars
            if any(second.partition("_")[0] + "_" in source for source in sources):
                return ""  # an overlap of the second result and a source has no meaning
            if op == "madw":
                both = f"R{pick.randrange(self.vectors)}_"
                is_apart = lanes == 16 and not any(both in source for source in sources)
                return f"madw {control} {both}{kind}(0,0)<1> {' '.join(sources)}" if is_apart else ""
            # Without a predicate, which the finalizer loses for the second result (docs/found.md).
            return f"{op} {control} {dst}<1> {second} {' '.join(sources)}"
        return f"{guard}{name}{sat} {control} {dst}<{step}> {' '.join(sources)}"
