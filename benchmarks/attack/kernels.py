"""Texts of kernels out of the instruction table: any row with operands for its slots, most of them right.

Judges nothing. ``Kernels.text`` gives whole texts; what is odd about them is put in by ``oddities``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.isa.attributes import ATTRIBUTES, AttributeKind
from visa_lsp.isa.model import ExecStyle, Modifier, Role, Shape
from visa_lsp.isa.operands import OperandClass
from visa_lsp.isa.table import TABLE

if TYPE_CHECKING:
    import random

    from visa_lsp.isa.model import Slot

TYPES: Final = ("d", "ud", "w", "uw", "b", "ub", "f", "hf", "df", "q", "uq", "bf")
_SIZES: Final = {"d": 4, "ud": 4, "w": 2, "uw": 2, "b": 1, "ub": 1, "f": 4, "hf": 2, "df": 8, "q": 8, "uq": 8, "bf": 2}
_USUAL: Final = ("d", "d", "ud", "f", "f", "w", "hf", "q", "df")
PLATFORMS: Final = (None, None, "TGLLP", "SKL", "DG2", "PVCXT", "BMG", "PTL", "CRI")
_MASKS: Final = ("M1", "M1", "M1", "M1_NM", "M5", "NoMask")
_ALIGNS: Final = ("GRF", "GRF", "dword", "qword", "byte", "word", "oword", "hword", "wordx32", "GRFx2")
_REGIONS: Final = ("<1;1,0>", "<1;1,0>", "<1;1,0>", "<0;1,0>", "<8;8,1>", "<16;16,1>", "<2;1,0>", "<4;4,1>")


class Kernels:
    """Makes texts from one source of chance."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.kinds: dict[str, list[str]] = {}
        self.labels: list[str] = []

    def text(self, lines: int) -> str:
        """Return a text of one kernel or a few, of about so many lines."""
        pick = self.draw
        out = [f".version {pick.choice(('4.1', '4.1', '4.1', '4.1', '4.2', '3.6'))}"]
        bodies = pick.choice((1, 1, 1, 1, 2, 3))
        for number in range(bodies):
            out += self.body(number, max(4, lines // bodies))
        return "\n".join(out) + pick.choice(("\n", "\n", ""))

    def body(self, number: int, lines: int) -> list[str]:
        """Return the lines of a kernel, or of a function behind one."""
        pick = self.draw
        out = [f'.kernel "k{number}"' if not number or pick.random() < 0.6 else f'.global_function "f{number}"']
        out += self.declarations()
        self.labels = [f"L{n}" for n in range(pick.randrange(1, 4))]
        marks = {pick.randrange(1, lines + 1): label for label in self.labels}
        for at in range(lines):
            if at in marks:
                out.append(f"{marks.pop(at)}:")
            out.append("    " + self.instruction())
            if pick.random() < 0.1:
                out[-1] += f"  /// ${at}"
        out += [f"{label}:" for label in marks.values()]
        return [*out, "    ret (M1, 1)" if out[0].startswith(".k") else "    fret (M1, 1)"]

    def declarations(self) -> list[str]:
        """Return the declarations of a body; ``kinds`` has the variables of each type."""
        pick = self.draw
        out: list[str] = []
        self.kinds = {}
        names: list[tuple[str, int]] = []
        for index in range(pick.randrange(4, 14)):
            kind = pick.choice(_USUAL) if index > 3 else ("d", "ud", "f", "uq")[index]
            count = pick.choice((16, 16, 32, 8, 64, 1))
            alias = ""
            if names and pick.random() < 0.2:
                base, size = pick.choice(names)
                count = max(1, size // _SIZES[kind])
                alias = f" alias=<{base}, 0>"
            else:
                names.append((f"V{32 + index}", count * _SIZES[kind]))
            word = pick.choice(_ALIGNS) if pick.random() < 0.4 else "GRF"
            out.append(f".decl V{32 + index} v_type=G type={kind} num_elts={count} align={word}{alias}")
            self.kinds.setdefault(kind, []).append(f"V{32 + index}")
        out += [f".decl A{n} v_type=A num_elts={pick.choice((1, 4, 8, 16))}" for n in range(2)]
        out += [f".decl P{n} v_type=P num_elts={pick.choice((1, 8, 16, 16, 32))}" for n in range(1, 4)]
        out += [".decl S0 v_type=S num_elts=1", ".decl T6 v_type=T num_elts=1"]
        if pick.random() < 0.5:
            out.append(f".input V32 offset={pick.choice((32, 64, 96))} size={pick.choice((4, 32, 64))}")
        out += [self.attribute() for _ in range(pick.randrange(4))]
        return out

    def attribute(self) -> str:
        """Return an attribute of the kernel."""
        pick = self.draw
        found = pick.choice([a for a in ATTRIBUTES if not a.of_variable])
        if found.kind is AttributeKind.FLAG:
            return f".kernel_attr {found.name}"
        value = pick.choice(found.values) if found.values else pick.choice((0, 1, 8, 16, 32, 64, 128, 255))
        if found.kind is AttributeKind.STRING:
            value = "x.asm"
        return f".kernel_attr {found.name}=" + (f'"{value}"' if isinstance(value, str) else str(value))

    def instruction(self) -> str:
        """Return a line for a row of the table."""
        pick = self.draw
        row = pick.choice(TABLE.by_mnemonic[pick.choice(list(TABLE.by_mnemonic))])
        if row.opens_label:
            return "nop"
        kind = pick.choice(_USUAL)
        head = row.mnemonic + "".join(self.word(m) for m in row.modifiers)
        if row.predicable and pick.random() < 0.2:
            head = pick.choice(("(P1) ", "(!P2) ", "(P3.any) ", "(P1.all) ")) + head
        parts = [head]
        if row.exec_style is not ExecStyle.NONE and not (row.exec_optional and pick.random() < 0.3):
            size = pick.choice(row.exec_sizes) if pick.random() < 0.4 else max(s for s in row.exec_sizes if s <= 16)
            masked = row.exec_style is ExecStyle.MASKED and pick.random() < 0.97
            parts.append(f"({pick.choice(_MASKS)}, {size})" if masked else f"({size})")
        parts += [self.operand(slot, kind) for slot in row.slots if not slot.optional or pick.random() < 0.5]
        return " ".join(part for part in parts if part)

    def word(self, modifier: Modifier) -> str:
        """Return a word of a modifier, or nothing."""
        pick = self.draw
        if modifier.optional and pick.random() < 0.6:
            return ""
        match modifier.kind:
            case Modifier.Kind.CHANNELS:
                return "." + pick.choice(("R", "RG", "RGB", "RGBA", "A", "BA"))
            case Modifier.Kind.HEX:
                return f".x{pick.randrange(256):02x}"
            case Modifier.Kind.NUMBER:
                return f".{pick.randrange(16)}"
            case Modifier.Kind.ANGLE:
                words = [w for w in modifier.words if pick.random() < 0.4]
                return "." + "".join(f"<{w}>" for w in words) if words else ""
            case Modifier.Kind.LETTERS:
                return "." + ("".join(w for w in modifier.words if pick.random() < 0.5) or next(iter(modifier.words)))
        return "." + pick.choice(list(modifier.words)) if modifier.words else ""

    def variable(self, kind: str) -> str:
        """Return the name of a variable of a type, mostly."""
        names = self.kinds.get(kind) or self.kinds[self.draw.choice(list(self.kinds))]
        return self.draw.choice(names)

    def number(self) -> str:
        """Return a number, small or at an edge."""
        pick = self.draw
        return str(pick.choice((0, 1, 2, 4, 8, 16, 31, 32, 63, 255, pick.randrange(1 << 12))))

    def immediate(self, kind: str) -> str:
        """Return a value of a type."""
        pick = self.draw
        bits = 8 * _SIZES.get(kind, 4)
        if kind in ("f", "df", "hf", "bf") and pick.random() < 0.5:
            return f"{pick.choice(('0', '1.5', '-2.25', '1e10', '3.14159', '-0.0'))}:{kind}"
        value = pick.choice((0, 1, 2, (1 << bits) - 1, 1 << (bits - 1), pick.randrange(1 << bits)))
        return f"{value:#x}:{kind}"

    def operand(self, slot: Slot, kind: str) -> str:
        """Text for a slot."""
        pick = self.draw
        if slot.types is not None:
            names = sorted(t.name for t in slot.types if t.name in _SIZES)
            kind = kind if kind in names else pick.choice(names or ["ud"])
        match slot.shape:
            case Shape.VECTOR | Shape.VECTORS:
                return self.vector(slot, kind)
            case Shape.RAW | Shape.LSC_PAYLOAD:
                return pick.choice(
                    (self.variable(kind), f"{self.variable(kind)}.0", f"{self.variable(kind)}.32", "%null.0")
                )
            case Shape.RAWS:
                return " ".join(f"{self.variable(kind)}.0" for _ in range(pick.randrange(1, 5)))
            case Shape.SURFACE:
                return pick.choice(("T6", "T6", "T0", "T252", "%bss"))
            case Shape.SAMPLER:
                return "S0"
            case Shape.LABEL:
                return pick.choice(self.labels)
            case Shape.LABELS:
                return "(" + ", ".join(pick.choice(self.labels) for _ in range(pick.randrange(1, 4))) + ")"
            case Shape.NAME | Shape.IDENTIFIER:
                return "f1"
            case Shape.STRING:
                return '"x.cl"'
            case Shape.INTEGER:
                return ("/" if slot.length else "") + self.number()
            case Shape.GROUP:
                return f"({self.number()},{self.number()})"
            case Shape.VARIABLE:
                return self.variable(kind)
            case Shape.EXEC_WORD:
                return pick.choice(list(slot.words or {"x": 0}))
            case Shape.SIMPLE:
                return f"{self.variable(kind)}(0,0)"
        return self.lsc(slot.shape)

    def vector(self, slot: Slot, kind: str) -> str:
        """Return a vector operand of one of the slot's classes."""
        pick = self.draw
        write = slot.role in (Role.WRITE, Role.READ_WRITE)
        classes = [c for c in OperandClass if c in slot.classes] or [OperandClass.GENERAL]
        chosen = (
            OperandClass.GENERAL if OperandClass.GENERAL in classes and pick.random() < 0.7 else pick.choice(classes)
        )
        sign = pick.choice(("", "", "", "", "(-)", "(abs)", "(~)")) if not write else ""
        match chosen:
            case OperandClass.GENERAL:
                region = pick.choice(("<1>", "<1>", "<1>", "<2>", "<4>")) if write else pick.choice(_REGIONS)
                return f"{sign}{self.variable(kind)}({pick.choice((0, 0, 0, 1))},{pick.choice((0, 0, 0, 4))}){region}"
            case OperandClass.ADDRESS:
                return f"A{pick.randrange(2)}({pick.choice((0, 0, 1))})" + ("<1>" if write else "<1;1,0>")
            case OperandClass.PREDICATE:
                return f"P{pick.randrange(1, 4)}"
            case OperandClass.INDIRECT:
                region = "<1>" if write else pick.choice((*_REGIONS, "<1,0>", "<8,1>"))
                return f"{sign}r[A{pick.randrange(2)}(0),{pick.choice((0, 0, 4, 32))}]{region}:{kind}"
            case OperandClass.IMMEDIATE:
                return self.immediate(kind)
            case OperandClass.STATE:
                return pick.choice(("T6(0)", "S0(0)"))
        return f"&{self.variable(kind)}" + pick.choice(("", "", "[4]", "[32]"))

    def lsc(self, shape: Shape) -> str:
        """Return an operand of the load/store controller."""
        pick = self.draw
        wide, plain = self.variable("uq"), self.variable("ud")
        size = pick.choice(("d32", "d32", "d64", "d8u32", "d16u32", "d8", "d16"))
        count = pick.choice(("", "", "x2", "x4", "x8t", "x64t", ".x", ".xyzw"))
        where = pick.choice(("flat", "flat", "bti(0x4)", "bti(T6)", f"ss({plain})", f"bss({plain})"))
        address = pick.choice((wide, f"{wide}+0x10", f"4*{wide}", f"{wide}-16", f"{plain}"))
        bits = pick.choice(("a64", "a32", "a16"))
        block = f"{wide},{plain},{plain},{plain},{plain},{plain}"
        return {
            Shape.LSC_DATA: f"{pick.choice((plain, wide, '%null'))}:{size}{count}",
            Shape.LSC_DATA_2D: f"{plain}:{pick.choice(('d8', 'd16', 'd32'))}.{pick.choice(('8x8nn', '2x8x8nn', '16x8tn', '8x8nt'))}",
            Shape.LSC_DATA_TYPED_2D: f"{plain}:{pick.choice((8, 16, 32))}x{pick.choice((1, 8))}",
            Shape.LSC_ADDRESS: f"{where}[{address}]:{bits}",
            Shape.LSC_ADDRESS_STRIDED: f"{where}[{address},{pick.choice((4, 32))}]:{bits}",
            Shape.LSC_ADDRESS_2D: f"flat[{block}]",
            Shape.LSC_ADDRESS_TYPED: f"{where}[{plain},{plain}]:{bits}",
            Shape.LSC_ADDRESS_TYPED_2D: f"{where}[{plain},{plain}]",
            Shape.LSC_SURFACE: f"{where}[{plain}]",
        }[shape]
