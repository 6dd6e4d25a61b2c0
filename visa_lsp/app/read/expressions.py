"""Prints expressions as C with the value that the machine computes.

A text has the C type that a compiler gives it, and the range of its value if it is narrower. An operation that only needs
the lower bits of its operands takes them as they are; every other operand gets a cast unless its value is the same without.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from visa_lsp.app.read.indices import index_text
from visa_lsp.app.read.lower import CARRIES, RELATIONS
from visa_lsp.app.read.model import BranchTest, Calc, Choose, Compare, Expr, Lanes, Set, parts, single
from visa_lsp.app.read.names import ReadingNames, c_type, type_named
from visa_lsp.app.read.spans import UNIFORM, UNSIGNED
from visa_lsp.isa import lane
from visa_lsp.isa import types as ty
from visa_lsp.isa.lane import S0
from visa_lsp.isa.operands import OperandModifier
from visa_lsp.program import regions
from visa_lsp.program.model import (
    Address,
    AddressOf,
    Combine,
    General,
    Immediate,
    Indirect,
    Predicate,
    PredicateOperand,
    RawOperand,
    State,
)
from visa_lsp.program.operand_text import vector
from visa_lsp.sim.values import execution_type, extend_type, immediate, is_read_signed, unpack_type
from visa_lsp.sim.words import RING

if TYPE_CHECKING:
    from visa_lsp.app.read.cells import Cells
    from visa_lsp.isa.types import DataType, ExecControl

_OPERATORS: Final = {
    "mul": ("*", 8), "add": ("+", 7), "add3": ("+", 7), "sub": ("-", 7), "shl": ("<<", 6), "and": ("&", 4), "xor": ("^", 3),
    "or": ("|", 2), "div": ("/", 8), "mod": ("%", 8),
}  # fmt: skip
_FUNCTIONS: Final = {
    "mad": "fma", "rndd": "floor", "rndu": "ceil", "rnde": "rint", "rndz": "trunc", "lzd": "clz", "cbit": "popcount",
    "frc": "fract", "divm": "divide", "sqrtm": "sqrt", "invm": "recip", "rsqrtm": "rsqrt", "inv": "recip", "mulh": "mul_hi", "avg": "rhadd",
    "rol": "rotate_left", "ror": "rotate_right", "bfrev": "bit_reverse", "fbl": "find_low", "fbh": "find_high", "div": "quotient", "mod": "remainder",
    "bfe": "bit_field", "bfi": "insert_bits",
}  # fmt: skip
_RESULTS: Final = {"lzd": ty.D, "cbit": ty.D, "fbh": ty.UD, "fbl": ty.UD, "bfrev": ty.UD, "bfi": ty.UD}
_GROWING: Final = RING | {"shl"}
_ORDERED: Final = {"min", "max", "div", "mod", "asr"}  # words whose result depends on all bits of the operands
_INVERSE: Final = (1, 0, 5, 4, 3, 2)  # the operator of each relation, by code
_UNEQUAL: Final = 1  # the code of a relation
ATOM, UNARY, SUM, RELATION, AND, CHOICE = 10, 9, 7, 5, 2, 0
_LOGIC_AND, _LOGIC_OR = 1.5, 1
_HEX: Final = 0xFFFF  # larger integers are shown in hexadecimal
# The sum that OpenCL calls ``get_global_id``.
GLOBAL_ID: Final = re.compile(
    r"enqueued_local_size\((?P<axis>\d)\) \* group_id\((?P=axis)\) \+ local_id\((?P=axis)\) \+ global_id_offset\((?P=axis)\)(?! [*/%])"
)
_LANE_SUM: Final = re.compile(r"^(?:\()?lane - (\d+)(?:\))? \+ (\d+)$")
_ONE_ID: Final = re.compile(r"global_id\(\d\)")
_SIGNS: Final = (OperandModifier.NEG, OperandModifier.ABS, OperandModifier.NEGABS)


class Text(Struct, frozen=True):
    """An expression in C: its text, the rank of its operator, its type, and the range of an integer."""

    text: str
    rank: float
    type: DataType
    low: int
    high: int
    base: Text | None = None  # what a cast between integers of one size converts, or a condition is the opposite of

    def within(self, rank: float) -> str:
        """Return the text as an operand: in brackets if its operator binds less tightly."""
        return self.text if self.rank >= rank else f"({self.text})"

    @property
    def promoted(self) -> DataType:
        """The type of the text as an operand in C."""
        return ty.D if (self.type.is_int and self.type.size < ty.D.size) or self.type is ty.BOOL else self.type

    def fits(self, type_: DataType) -> bool:
        """Return whether an integer type has the value."""
        low, high = limits(type_)
        return low <= self.low and self.high <= high


def limits(type_: DataType) -> tuple[int, int]:
    """Return the lowest and the highest value of an integer type."""
    if type_ is ty.BOOL:
        return 0, 1
    return (-(1 << type_.bits - 1), (1 << type_.bits - 1) - 1) if type_.is_signed else (0, (1 << type_.bits) - 1)


def text_of(text: str, rank: float, type_: DataType) -> Text:
    """Return a text whose value may be any of its type."""
    return Text(text, rank, type_, *(limits(type_) if not type_.is_float and type_ is not ty.BF else (0, 0)))


class Printer:
    """Prints the expressions of one body."""

    def __init__(self, names: ReadingNames, cells: Cells) -> None:
        self.names, self.cells = names, cells
        self.computed: dict[int, Text] = {}  # predicate -> the test that computes it
        self.single: dict[int, int] = {}  # predicate of one lane -> the lane
        self.addresses: dict[int, tuple[AddressOf, Text]] = {}  # address variable -> what it points to, offset in bytes

    def type_of(self, value: Expr) -> DataType:
        """Return the element type of a value."""
        if isinstance(value, Calc | Choose | Lanes | Indirect):
            return value.type
        if isinstance(value, General | AddressOf):
            return self.names.text.types.get(value.var, ty.UD)
        if isinstance(value, Immediate):
            return unpack_type(value.type)
        return ty.UW if isinstance(value, Address) else ty.BOOL if isinstance(value, Compare) else ty.UD

    # ---- values

    def exact(self, value: Expr, control: ExecControl) -> Text:
        """Return a text with the value; its C type may be another one that has this value."""
        bare, type_ = self._bare(value, control), self.type_of(value)
        match getattr(value, "modifier", OperandModifier.NONE):
            case OperandModifier.NEG if type_.is_float:
                return _negative(bare)
            case OperandModifier.ABS if type_.is_float:
                return text_of(f"fabs({bare.text})", ATOM, bare.type)
            case OperandModifier.NEGABS if type_.is_float:
                return text_of(f"-fabs({bare.text})", UNARY, bare.type)
            case OperandModifier.NOT if not type_.is_float:
                inner = self._into(bare, type_)
                return self._wrap(text_of(f"~{inner.within(UNARY)}", UNARY, inner.promoted), type_)
            case OperandModifier.NEG | OperandModifier.ABS | OperandModifier.NEGABS as sign if not type_.is_float:
                return self._signed(bare, sign) if type_.is_signed or sign is not OperandModifier.ABS else bare
        return bare

    def _signed(self, bare: Text, sign: OperandModifier) -> Text:
        """Return an integer, negated or without its sign; a negated unsigned value is negative."""
        wide = ty.Q if bare.high > limits(ty.D)[1] or bare.low <= limits(ty.D)[0] else ty.D
        inner = cast(wide, bare) if bare.promoted is not wide else bare
        if sign is OperandModifier.NEG:
            return replace(_negative(inner), type=wide, low=-bare.high, high=-bare.low)
        absolute = text_of(f"abs({inner.text})", ATOM, wide)
        return absolute if sign is OperandModifier.ABS else _negative(absolute)

    def low(self, value: Expr, size: int, control: ExecControl) -> Text:
        """Return an integer text that is right in its lower ``size`` bytes."""
        type_, modifier = self.type_of(value), getattr(value, "modifier", OperandModifier.NONE)
        if type_.size < size or type_.is_float:
            return self.exact(value, control)
        operands = [self.type_of(part) for part in parts(value)]
        match value:
            case Immediate() if not value.type.is_packed:
                bits = 32 if size <= ty.D.size else 64
                number = int(immediate(value, 1)[0]) & (1 << bits) - 1
                return number_text(number - (1 << bits) if number >> bits - 1 else number)
            case General() | Lanes() | Calc() | Choose() if modifier in (OperandModifier.NEG, OperandModifier.NOT):
                inner = self.low(replace(value, modifier=OperandModifier.NONE), size, control)
                inner = inner if size <= ty.D.size or inner.promoted.size == size else cast(ty.Q, inner)
                if modifier is OperandModifier.NEG:
                    return text_of(_negative(inner).text, _negative(inner).rank, inner.promoted)
                return text_of(f"~{inner.within(UNARY)}", UNARY, inner.promoted)
            case _ if modifier is not OperandModifier.NONE or any(operand.is_float for operand in operands):
                pass
            case General() | Lanes():
                variable = self._leaf(value, control)
                if variable.type.is_int and variable.type.size >= min(size, type_.size):
                    return variable
            case Choose(condition, yes, no, _, False) if min(operand.size for operand in operands) >= size:
                return self._choice(condition, self.low(yes, size, control), self.low(no, size, control))
            case Calc(meaning, (source, *_), _, False) if type_.is_int and meaning == S0:
                if operands[0].size >= size:
                    return self.low(source, size, control)
            case Calc(meaning, _, _, False) if (
                type_.is_int and _words(meaning) <= _GROWING and _carry_of(value) is None
            ):
                return self._ring(value, 8 if size > ty.D.size else 4, control)
        return self.exact(value, control)

    def _leaf(self, value: General | Lanes, control: ExecControl) -> Text:
        """Return the variable of an operand in its own type."""
        span = self.cells.span(value, control)
        if span is None:
            return Text("0", ATOM, ty.D, 0, 0)
        spot = self.cells.spot(span)
        if spot.type is ty.BOOL:
            return Text(f"-{spot.text}", UNARY, ty.D, -1, 0)
        rank = UNARY if spot.text.startswith("(") else SUM if spot.high >= 0 and " " in spot.text else ATOM
        if spot.high >= 0:
            return Text(spot.text, rank, spot.type, 0, spot.high)
        return text_of(spot.text, rank, spot.type)

    def _bare(self, value: Expr, control: ExecControl) -> Text:
        match value:
            case Calc():
                return self._calc(value, control)
            case Choose():
                return self._choose(value, control)
            case Compare(relation, left, right):
                return self.relation(relation, left, right, control)
            case Immediate():
                return self._constant(value)
            case General() | Lanes():
                return reinterpret(self._leaf(value, control), self.type_of(value))
            case PredicateOperand(var):
                return self.computed.get(var) or text_of(self.bit(var), ATOM, ty.BOOL)
            case AddressOf(var, row, col):
                size = self.type_of(value).size
                start = regions.origin(row, col, size, self.names.grf_bytes) // size
                return text_of(f"&{self.names.variable(var)}" + (f"[{start}]" if start else ""), UNARY, ty.UD)
            case Address(var, offset, width):
                is_row, lanes = width > 1 and control.exec_size > 1, list(range(offset, offset + control.exec_size))
                index = index_text(lanes, control.mask_offset) if is_row else offset
                return text_of(f"{self._address(var)}[{index}]", ATOM, ty.UW)
            case Indirect():
                return reinterpret(self.indirect(value, control), value.type)
            case State():
                return text_of(vector(self.names.text, value), ATOM, ty.UD)
            case RawOperand():
                return text_of(self.raw(value), ATOM, ty.UD)
        return text_of(str(value), ATOM, ty.UD)

    def _address(self, var: int) -> str:
        return self.names.text.of(self.names.text.address, "A", var)

    def _constant(self, value: Immediate) -> Text:
        lanes, type_ = immediate(value, 8), value.type
        if type_ is ty.VF:
            numbers = ", ".join(f"{v!r}f" for v in lanes.tolist())
            return text_of(f"(const float[]){{{numbers}}}[lane % 4]", ATOM, ty.F)
        if type_.is_packed:
            numbers = lanes.tolist()
            steps = {b - a for a, b in pairwise(numbers)}
            if len(steps) == 1 and not numbers[0]:
                step = steps.pop()
                text = "lane % 8" if step == 1 else f"lane % 8 * {step}"
                return Text(text if step else "0", 8 if step else ATOM, ty.D, min(0, 7 * step), max(0, 7 * step))
            text = f"(const short[]){{{', '.join(map(str, numbers))}}}[lane % 8]"
            return Text(text, ATOM, ty.W, min(numbers), max(numbers))
        if type_.is_int or type_ is ty.BOOL:
            return number_text(int(lanes[0]))
        is_negative = type_ is not ty.BF and float(lanes[0]) < 0
        return text_of(float_text(lanes[0], value), UNARY if is_negative else ATOM, type_)

    def indirect(self, value: Indirect, control: ExecControl) -> Text:
        """Return elements at an address in registers."""
        address = self.addresses.get(value.var)
        if address is None:
            place = f"{self._address(value.var)}[{value.addr_offset}] + {value.offset}"
            return text_of(f"registers_{c_type(value.type)}({place})", ATOM, value.type)
        base, offset = address
        here = self.cells.storage.general.get(base.var)
        start = value.offset + regions.origin(base.row, base.col, self.type_of(base).size, self.names.grf_bytes)
        root = base.var if here is None else here.root
        start += 0 if here is None else here.offset
        size, lanes, width = value.type.size, control.exec_size, value.region.width
        by_lane = lanes > 1 and (width is None or (value.region.vert_stride is not None and width > 1))
        private = self.cells.private_array(root)
        if private is not None and by_lane:
            name, type_, row = private
            return text_of(f"{name}[{_quotient(offset, row, start // row)}]", ATOM, type_)
        array = self.cells.array_of(root)
        index = _quotient(offset, size, start // size)
        if by_lane:
            index = f"{index} + lane" if not control.mask_offset else f"{index} + lane - {control.mask_offset}"
        if self.names.text.types.get(root, ty.UD).size == size:
            return text_of(f"{array.name}[{index}]", ATOM, type_named(array.type))
        return text_of(f"(({c_type(value.type)} *){array.name})[{index}]", ATOM, value.type)

    def raw(self, operand: RawOperand) -> str:
        """Return the registers of a message."""
        if not operand.var:
            return "0"
        name = self.names.variable(operand.var)
        return name + (f" + {operand.offset}" if operand.offset else "")

    # ---- conversions

    def _into(self, text: Text, type_: DataType) -> Text:
        """Return an exact text as an operand whose C type, after promotion, is that of a type."""
        if type_.is_float:
            return text if text.type is type_ else cast(type_, text)
        if text.type.is_float:
            return cast(type_, text)
        wanted = type_ if type_.size >= ty.D.size else ty.D
        if text.promoted is wanted:
            return text if text.fits(type_) or text.type is type_ else cast(type_, text)
        if _is_number(text) and text.fits(wanted):
            return replace(text, type=wanted)
        return cast(type_ if not text.fits(type_) or type_.size >= ty.D.size else wanted, text)

    def _wrap(self, text: Text, type_: DataType) -> Text:
        """Return an integer text as a value of a type, with a cast if it may not have it."""
        if text.type is type_ or text.fits(type_):
            return text
        return cast(type_, text)

    def convert(self, text: Text, from_: DataType, to: DataType, *, saturate: bool) -> Text:
        """Return a value that has been computed in one type, in another one."""
        if from_.is_float and to.is_float:
            if saturate:
                text = text_of(f"saturate({cast(from_, text).text})", ATOM, from_)
            return cast(to, text)
        if from_.is_float:
            return text_of(f"convert_{c_type(to)}{'_sat' if saturate else ''}({text.text})", ATOM, to)
        if to.is_float or to is ty.BF:
            return cast(to, text_of(f"clamp01({text.text})", ATOM, ty.D) if saturate else text)
        if saturate:
            return text if text.fits(to) else text_of(f"convert_{c_type(to)}_sat({text.text})", ATOM, to)
        return self._wrap(text, to)

    # ---- operations

    def _calc(self, value: Calc, control: ExecControl) -> Text:
        args = value.args
        if value.type is ty.BOOL:
            texts = [self._truth(a, control) for a in args]
            return self._logic(value.meaning, texts)
        types = [self.type_of(a) for a in args]
        word = value.meaning.word
        if word == "src":
            own = types[0]
            if own is ty.BF or value.type is ty.BF:
                inner = self.exact(args[0], control)
                if own is value.type:
                    return inner
                return (
                    cast(value.type, inner) if own is not ty.BF else text_of(f"bf_to_float({inner.text})", ATOM, ty.F)
                )
            if own.is_int and value.type.is_int and not value.saturate and own.size >= value.type.size:
                return (
                    self._wrap(self.low(args[0], value.type.size, control), value.type)
                    if own is not value.type
                    else self.exact(args[0], control)
                )
            return self.convert(self.exact(args[0], control), own, value.type, saturate=value.saturate)
        carry = _carry_of(value)
        if carry is not None:
            name, pair = carry
            texts = [self._into(self.low(operand, 4, control), ty.UD) for operand in pair]
            return self.convert(
                Text(f"{name}({texts[0].text}, {texts[1].text})", ATOM, ty.UD, 0, 1), ty.UD, value.type, saturate=False
            )
        exec_type = execution_type(types)
        if exec_type.is_float:
            if word == "bfrev":
                return self._on_bits(value, control)
            texts = [self._into(self.exact(a, control), exec_type) for a in args]
            return self.convert(
                self._float(value.meaning, texts, exec_type), exec_type, value.type, saturate=value.saturate
            )
        if word == "bfrev" and value.type.is_float:
            return self._on_bits(value, control)
        if _words(value.meaning) <= _GROWING and value.type.is_int and not value.saturate:
            return self._wrap(self._ring(value, 8 if value.type.size == ty.Q.size else 4, control), value.type)
        extended = extend_type(_words(value.meaning), exec_type, value.type)
        if _words(value.meaning) <= _GROWING:
            wide = ty.Q if exec_type.size >= ty.D.size else ty.D
            texts = [self._spread(self._source(a, extended, control), wide) for a in args]
            tree = self._tree(value.meaning, texts, wide, exec_type.bits)
            return self.convert(tree, wide, value.type, saturate=value.saturate)
        sources = [self._source(a, extended, control) for a in args]
        # The negative of a dword may need another bit, which counts where operands are compared or divided.
        if word in _ORDERED and extended.size == ty.D.size and not all(source.fits(extended) for source in sources):
            extended = ty.Q
        texts = [self._into(source, extended) for source in sources]
        if word in ("shr", "asr") and types[1].size >= ty.D.size:
            texts[1] = self.low(args[1], 4, control)
        tree = self._tree(value.meaning, texts, extended, 64 if value.type.size == ty.Q.size else exec_type.bits)
        return self.convert(tree, extended, value.type, saturate=value.saturate)

    def _on_bits(self, value: Calc, control: ExecControl) -> Text:
        inner = reinterpret(self.exact(value.args[0], control), ty.UD)
        return reinterpret(text_of(f"bit_reverse({inner.text})", ATOM, ty.UD), value.type)

    def _source(self, value: Expr, exec_type: DataType, control: ExecControl) -> Text:
        """Return an integer operand, converted to the execution type."""
        own = self.type_of(value)
        text = self.exact(value, control)
        if is_read_signed(own, exec_type) and not own.is_signed:
            return self._wrap(text, exec_type)
        return text

    def _spread(self, text: Text, wide: DataType) -> Text:
        return text if text.promoted is wide or _is_number(text) else cast(wide, text)

    def _ring(self, value: Calc, width: int, control: ExecControl) -> Text:
        """Return sums, products and bit operations that are right in their lower ``width`` bytes."""
        types = [self.type_of(a) for a in value.args]
        exec_type = execution_type(types)
        words = _words(value.meaning)
        if "shl" in words and exec_type.size == ty.Q.size:
            width = 8
        texts: list[Text] = []
        wide = width == ty.Q.size
        for number, (arg, own) in enumerate(zip(value.args, types, strict=True)):
            is_count = value.meaning.word == "shl" and number == 1
            if is_count:
                texts.append(self.low(arg, 4, control) if own.size >= ty.D.size else self.exact(arg, control))
            elif own.size >= width:
                texts.append(self.low(arg, width, control))
            else:
                texts.append(self._source(arg, extend_type(words, exec_type, value.type), control))
        if wide:
            for number, text in enumerate(texts):
                others = [t for index, t in enumerate(texts) if index != number]
                carried = len(texts) == 2 and value.meaning.word != "shl" and any(t.promoted.size == 8 for t in others)
                if (
                    text.promoted.size < 8
                    and not carried
                    and not (value.meaning.word == "shl" and number == 1)
                    and not (_is_number(text) and len(texts) > 1)
                ):
                    texts[number] = cast(ty.Q, text)
        bits = 64 if wide or exec_type.size == 8 else 32
        return self._tree(value.meaning, texts, ty.Q if wide else ty.D, bits)

    def _float(self, node: lane.Expr, args: list[Text], type_: DataType) -> Text:
        if node.word == "src":
            return args[_index(node)]
        if node.word == "const":
            return text_of(f"{node.args[0]}.0" + {ty.F: "f", ty.HF: "f16"}.get(type_, ""), ATOM, type_)
        parts = [self._float(a, args, type_) for a in node.args if not isinstance(a, int)]
        if node.word in ("mul", "add", "sub", "add3", "div"):
            return text_of(*_join(*_OPERATORS[node.word], parts), type_)
        name = {"min": "fmin", "max": "fmax", "mod": "fmod", "divm": "divide", "avg": "average"}.get(
            node.word
        ) or _FUNCTIONS.get(node.word, node.word)
        return text_of(f"{name}({', '.join(p.text for p in parts)})", ATOM, type_)

    def _tree(self, node: lane.Expr, args: list[Text], type_: DataType, count_bits: int) -> Text:
        if node.word == "src":
            return args[_index(node)]
        if node.word == "const":
            return number_text(_index(node))
        parts = [self._tree(a, args, type_, count_bits) for a in node.args if not isinstance(a, int)]
        word = node.word
        result = _common(parts)
        if word == "mad" and _is_number(parts[2]) and not parts[2].low:
            return self._tree(lane.Expr("mul", (lane.S0, lane.S1)), parts, type_, count_bits)
        if word == "mad":
            return text_of(f"{parts[0].within(8)} * {parts[1].within(9)} + {parts[2].within(8)}", SUM, result)
        if word == "not":
            return text_of(f"~{parts[0].within(UNARY)}", UNARY, parts[0].promoted)
        if word in ("shl", "shr", "asr"):
            return self._shift(word, parts, type_, count_bits)
        if word in ("div", "mod") and _is_number(parts[1]) and parts[1].low > 0:
            high = max(abs(parts[0].low), abs(parts[0].high)) if word == "div" else parts[1].low - 1
            return Text(*_join(*_OPERATORS[word], parts), result, -high if parts[0].low < 0 else 0, high)
        if word in ("min", "max"):
            pick = min if word == "min" else max
            return Text(
                f"{word}({parts[0].text}, {parts[1].text})",
                ATOM,
                result,
                pick(parts[0].low, parts[1].low),
                pick(parts[0].high, parts[1].high),
            )
        if word in ("mul", "add", "sub", "add3", "and", "or", "xor"):
            joined = _simplify(word, parts)
            if joined is not None:
                return joined
            text, rank = _join(*_OPERATORS[word], parts)
            text = _LANE_SUM.sub(_lane_sum, text)
            rank = ATOM if text == "lane" else rank
            text = GLOBAL_ID.sub(r"global_id(\g<axis>)", text)
            rank = ATOM if _ONE_ID.fullmatch(text) else rank
            low, high = _range(word, parts)
            bounds = limits(result)
            if low < bounds[0] or high > bounds[1]:
                low, high = bounds
            return Text(text, rank, result, low, high)
        name = _FUNCTIONS.get(word, word)
        size = (
            "_64"
            if type_.size == ty.Q.size and word in ("rol", "ror", "fbl", "fbh", "cbit")
            else "_16"
            if type_.size == 2 and word in ("rol", "ror", "mulh", "fbh", "fbl", "cbit")
            else ""
        )
        limit = {"lzd": (0, 32), "cbit": (0, 64)}.get(word)
        result = _RESULTS.get(word, type_ if type_.size >= 4 else ty.D)
        if word in ("rol", "ror"):
            result = UNSIGNED[type_.size]
        call = text_of(f"{name}{size}({', '.join(p.text for p in parts)})", ATOM, result)
        return replace(call, low=limit[0], high=limit[1]) if limit is not None else call

    def _shift(self, word: str, parts: list[Text], type_: DataType, count_bits: int) -> Text:
        value, count = parts
        bits = 64 if count_bits == 64 else 32
        own = 64 if value.promoted.size == 8 else 32
        if own == 64 and value.text.isdecimal():  # what C shifts has its own type
            value = replace(value, text=f"{value.text}{'L' if value.promoted.is_signed else 'UL'}")
        if _is_number(count):
            number = count.low & bits - 1
            if not number:
                return value
            if number >= own:
                value = cast(ty.Q if value.promoted.is_signed else ty.UQ, value)
            places = str(number)
        else:
            number = 0
            if bits > own:
                value = cast(ty.Q if value.promoted.is_signed else ty.UQ, value)
            places = (
                f"({count.within(4)} & {bits - 1})"
                if not (count.low >= 0 and count.high < bits)
                else count.within(UNARY)
            )
        if word == "shl":
            top = value.high << number if _is_number(count) else limits(value.promoted)[1] + 1
            fits = value.low >= 0 and top <= limits(value.promoted)[1]
            bounds = (0, top) if fits else limits(value.promoted)
            return Text(f"{value.within(UNARY)} << {places}", 6, value.promoted, *bounds)
        if word == "shr":
            unsigned = UNSIGNED[max(type_.size, 2)]
            if value.low < 0 or (value.promoted.is_signed and value.high > limits(unsigned)[1]):
                value = cast(unsigned, value)
        bounds = (value.low >> number, value.high >> number)
        return Text(f"{value.within(UNARY)} >> {places}", 6, value.promoted, *bounds)

    # ---- conditions and choices

    def _truth(self, value: Expr, control: ExecControl) -> Text:
        if isinstance(value, PredicateOperand):
            return self._bare(value, control)
        return self.exact(value, control)

    def _logic(self, node: lane.Expr, args: list[Text]) -> Text:
        if node.word == "src":
            return args[_index(node)]
        parts = [self._logic(a, args) for a in node.args if not isinstance(a, int)]
        match node.word:
            case "and":
                return text_of(f"{parts[0].within(_LOGIC_AND)} && {parts[1].within(_LOGIC_AND)}", _LOGIC_AND, ty.BOOL)
            case "or":
                return text_of(f"{parts[0].within(RELATION)} || {parts[1].within(RELATION)}", _LOGIC_OR, ty.BOOL)
            case "not":
                return negate(parts[0])
        return text_of(f"{parts[0].within(UNARY)} != {parts[1].within(UNARY)}", RELATION, ty.BOOL)

    def relation(self, relation: int, left: Expr, right: Expr, control: ExecControl) -> Text:
        """Return a comparison."""
        if left == right and (isinstance(left, Immediate) or not self.type_of(left).is_float):
            return Text("true" if relation in (0, 3, 5) else "false", ATOM, ty.BOOL, 0, 1)
        truth = self._truth_of(left, control) if _is_zero(right) and relation <= _UNEQUAL else None
        if truth is not None:
            return truth if relation == _UNEQUAL else negate(truth)
        # Compilers write `p && x != 0` as `(p ? x : 0) != 0`.
        if isinstance(left, Choose) and relation == _UNEQUAL and _is_zero(right) and _is_zero(left.no):
            own, is_plain = self.type_of(left.yes), left.modifier is OperandModifier.NONE and not left.saturate
            if own.is_int and left.type.is_int and own.size <= left.type.size and is_plain:
                test = self.test(left.condition)
                inner = self.relation(relation, _drop_sign(left.yes), right, control)
                return text_of(f"{test.within(_LOGIC_AND)} && {inner.within(_LOGIC_AND)}", _LOGIC_AND, ty.BOOL)
        sides, types = (left, right), [self.type_of(v) for v in (left, right)]
        exec_type = execution_type(types)
        has_sign = any(getattr(v, "modifier", OperandModifier.NONE) in _SIGNS for v in sides)
        is_equality = relation <= _UNEQUAL and exec_type.size == ty.D.size <= min(t.size for t in types)
        if exec_type.is_float:
            left_text, right_text = (self._into(self.exact(v, control), exec_type) for v in sides)
        elif is_equality and not has_sign:
            # The sign does not matter.
            left_text, right_text = (self.low(v, 4, control) for v in sides)
            if any(t.promoted.size != ty.D.size for t in (left_text, right_text)):
                left_text, right_text = (self._into(self._source(v, exec_type, control), exec_type) for v in sides)
        else:
            left_text, right_text = (self._source(v, exec_type, control) for v in sides)
            left_text, right_text = self._comparable(left_text, right_text, exec_type)
        return text_of(f"{left_text.within(6)} {RELATIONS[relation]} {right_text.within(6)}", RELATION, ty.BOOL)

    def _truth_of(self, value: Expr, control: ExecControl) -> Text | None:
        """Return an integer that is the result of a comparison as a condition."""
        if isinstance(value, General | Lanes) and value.modifier is not OperandModifier.NOT:
            span = self.cells.span(value, control)
            spot = self.cells.spot(span) if span is not None else None
            return text_of(spot.text, ATOM, ty.BOOL) if spot is not None and spot.type is ty.BOOL else None
        if not isinstance(value, Calc) or value.modifier is not OperandModifier.NONE:
            return None
        parts = [self._truth_of(arg, control) for arg in value.args]
        truths = [part for part in parts if part is not None]
        is_logic = value.meaning in (lane.S0 & lane.S1, lane.S0 | lane.S1) and len(truths) == len(parts)
        return self._logic(value.meaning, truths) if is_logic else None

    def _comparable(self, left: Text, right: Text, exec_type: DataType) -> tuple[Text, Text]:
        """Return operands that C compares by value."""
        kinds = {t.promoted for t in (left, right)}
        if len(kinds) == 1 or all(t.low >= 0 for t in (left, right)):
            return left, right
        signed = [t for t in (left, right) if t.promoted.is_signed]
        if len(signed) == 2 or (signed and signed[0].promoted.size > min(t.promoted.size for t in (left, right))):
            return left, right
        return self._into(left, exec_type), self._into(right, exec_type)

    def test(self, condition: Predicate) -> Text:
        """Return a predicate, or the test that computes it."""
        test = self.computed.get(condition.var) if condition.combine is Combine.NONE else None
        if test is None:
            return self.predicate(condition)
        return negate(test) if condition.inverse else test

    def _choose(self, value: Choose, control: ExecControl) -> Text:
        types = [self.type_of(v) for v in (value.yes, value.no)]
        exec_type = execution_type(types)
        yes, no = (self.exact(v, control) for v in (value.yes, value.no))
        if exec_type.is_float:
            yes, no = self._into(yes, exec_type), self._into(no, exec_type)
        else:
            if types[0].size == types[1].size == value.type.size and not value.saturate and value.type.is_int:
                yes, no = (self.low(v, value.type.size, control) for v in (value.yes, value.no))
            else:
                yes, no = (self._source(v, exec_type, control) for v in (value.yes, value.no))
            if yes.promoted is not no.promoted:
                yes, no = self._into(yes, exec_type), self._into(no, exec_type)
        choice = self._choice(value.condition, yes, no)
        return self.convert(choice, exec_type, value.type, saturate=value.saturate)

    def _choice(self, condition: Predicate, yes: Text, no: Text) -> Text:
        test = self.test(condition)
        if test.text.startswith("!") and test.rank == UNARY:
            test, yes, no = negate(test), no, yes
        type_ = _common([yes, no])
        low, high = min(yes.low, no.low), max(yes.high, no.high)
        return Text(
            f"{test.within(_LOGIC_OR)} ? {yes.within(_LOGIC_OR)} : {no.within(_LOGIC_OR)}", CHOICE, type_, low, high
        )

    # ---- predicates

    def bit(self, var: int) -> str:
        """Return the name of a predicate."""
        return self.names.text.of(self.names.text.predicate, "P", var)

    def predicate(self, value: Predicate) -> Text:
        """Return a predicate as a condition."""
        if value.combine is not Combine.NONE:
            test = text_of(f"{value.combine.name.lower()}({self.bit(value.var)})", ATOM, ty.BOOL)
        elif value.var in self.single:
            test = text_of(f"lane == {self.single[value.var]}", RELATION, ty.BOOL)
        else:
            test = text_of(self.bit(value.var), ATOM, ty.BOOL)
        return negate(test) if value.inverse else test

    def condition(self, condition: BranchTest) -> Text:
        """Return the test of a branch."""
        value = condition.predicate
        if condition.index is not None:
            relation = "!=" if condition.negated else "=="
            left = self.exact(condition.index, UNIFORM).within(6)
            return text_of(f"{left} {relation} {condition.case}", RELATION, ty.BOOL)
        if value is None:
            return text_of("false" if condition.negated else "true", ATOM, ty.BOOL)
        for test in condition.tests:
            assignment, *others = (part for part in single([test]) if isinstance(part, Set))
            assert isinstance(assignment.target, PredicateOperand)
            text = self.exact(assignment.value, assignment.control)
            for part in others:
                other = self.exact(part.value, part.control)
                if other.text != text.text:
                    choice = f"lane < {part.control.mask_offset} ? {text.within(1)} : {other.within(1)}"
                    text = text_of(choice, CHOICE, ty.BOOL)
            self.computed[assignment.target.var] = text
        computed = self.computed.get(value.var)
        if computed is None:
            result = self.predicate(value)
            result = negate(result) if condition.negated else result
        else:
            combined = value.combine is not Combine.NONE
            whole = text_of(f"{value.combine.name.lower()}({computed.text})", ATOM, ty.BOOL) if combined else computed
            result = self._opposite(condition, whole) if value.inverse != condition.negated else whole
        self.computed.clear()
        return result

    def _opposite(self, condition: BranchTest, text: Text) -> Text:
        """Return the text of the opposite of a condition, by the last comparison that computes it if that has one."""
        last = next(single(condition.tests[-1:]))
        test = last.value if isinstance(last, Set) else None
        if not isinstance(last, Set) or not isinstance(test, Compare) or condition.predicate is None:
            return negate(text)
        ordered = not any(self.type_of(value).is_float for value in (test.left, test.right))
        is_plain = condition.predicate.combine is Combine.NONE and text.rank == RELATION
        if not is_plain or not (ordered or test.relation <= _UNEQUAL):
            return negate(text)
        return self.relation(_INVERSE[test.relation], test.left, test.right, last.control)


def _lane_sum(hit: re.Match[str]) -> str:
    number = int(hit[2]) - int(hit[1])
    return "lane" if not number else f"lane {'+' if number > 0 else '-'} {abs(number)}"


def _quotient(offset: Text, size: int, start: int) -> str:
    """Return an index, given an offset in bytes that is a multiple of the size of elements."""
    if _is_number(offset):
        return str(offset.low // size + start)
    text = f"{offset.within(8)} / {size}" if size > 1 else offset.within(SUM)
    return f"{text} + {start}" if start else text


def _index(node: lane.Expr) -> int:
    number = node.args[0]
    return number if isinstance(number, int) else 0


def _negative(text: Text) -> Text:
    inner = text.within(UNARY)
    if text.high == 0 and text.low == -1 and re.fullmatch(r"-\w+", inner):
        return Text(inner[1:], ATOM, ty.D, 0, 1)
    inner = f"({inner})" if inner.startswith("-") else inner
    return text_of(f"-{inner}", UNARY, text.promoted)


def negate(text: Text) -> Text:
    """Return the opposite of a condition."""
    if text.text.startswith("!") and text.base is not None:
        return text.base
    return replace(text_of(f"!{text.within(UNARY)}", UNARY, ty.BOOL), base=text)


def _common(parts: list[Text]) -> DataType:
    """Return the C type of an operation."""
    kinds = [p.promoted for p in parts]
    if any(k.is_float for k in kinds):
        return max((k for k in kinds if k.is_float), key=lambda k: k.size)
    size = max(k.size for k in kinds)
    unsigned = any(k.size == size and not k.is_signed for k in kinds)
    return {4: (ty.D, ty.UD), 8: (ty.Q, ty.UQ)}.get(size, (ty.D, ty.UD))[unsigned]


def _range(word: str, parts: list[Text]) -> tuple[int, int]:
    low, high = parts[0].low, parts[0].high
    for part in parts[1:]:
        match word:
            case "add" | "add3":
                low, high = low + part.low, high + part.high
            case "sub":
                low, high = low - part.high, high - part.low
            case "mul":
                corners = [a * b for a in (low, high) for b in (part.low, part.high)]
                low, high = min(corners), max(corners)
            case "and" if low >= 0 or part.low >= 0:
                low, high = 0, min(top for bottom, top in ((low, high), (part.low, part.high)) if bottom >= 0)
            case "or" | "xor" if low >= 0 and part.low >= 0:
                low, high = 0, (1 << max(high, part.high).bit_length()) - 1
            case _:
                low, high = limits(ty.Q)
    return low, high


def _simplify(word: str, parts: list[Text]) -> Text | None:
    """Return a sum without zero, or a product with one."""
    kept = [p for p in parts if not (_is_number(p) and p.low == 0)]
    if word in ("add", "add3", "or", "xor") and len(kept) == 1 and len(parts) == 2:
        return kept[0] if kept[0].promoted.size >= ty.D.size else None
    if word == "mul" and len(kept) < len(parts):
        return number_text(0)
    if word == "sub" and _is_number(parts[1]) and parts[1].low == 0:
        return parts[0]
    if word == "mul":
        kept = [p for p in parts if not (_is_number(p) and p.low == 1)]
        if len(kept) == 1:
            return kept[0]
    return None


def _carry_of(value: Calc) -> tuple[str, list[Expr]] | None:
    """Return the function for the 33rd bit of a sum or difference, and the two dwords."""
    if value.meaning.word != "shr" or not isinstance(value.args[1], Immediate) or not isinstance(value.args[0], Calc):
        return None
    total, bit = value.args[0], value.args[1].bits
    word = {name: word for word, name, carry_bit in CARRIES.values() if carry_bit == bit}.get(total.meaning)
    pair = [
        operand.args[0].args[0]
        for operand in total.args
        if isinstance(operand, Calc) and isinstance(operand.args[0], Calc) and _extends(operand)
    ]
    return (word, pair) if word is not None and total.type is ty.UQ and len(pair) == len(total.args) else None


def _extends(value: Calc) -> bool:
    inner = value.args[0]
    return (
        value.meaning == S0
        and value.type is ty.UQ
        and isinstance(inner, Calc)
        and inner.meaning == S0
        and inner.type is ty.UD
    )


def _is_zero(value: Expr) -> bool:
    return isinstance(value, Immediate) and value.type.is_int and not value.type.is_packed and value.bits == 0


def _drop_sign(value: Expr) -> Expr:
    """Drop the sign of a value that is only compared with zero."""
    sign = getattr(value, "modifier", OperandModifier.NONE) in _SIGNS
    return (
        replace(value, modifier=OperandModifier.NONE) if sign and isinstance(value, General | Calc | Choose) else value
    )


def _join(sign: str, rank: float, parts: list[Text]) -> tuple[str, float]:
    """Join operands; operands of shifts and bit operations get brackets, because few readers know their precedence."""
    strict = rank < SUM
    text = parts[0].within(UNARY if strict and (parts[0].rank != rank or sign in ("<<", ">>")) else rank)
    for part in parts[1:]:
        right = part.within(UNARY if strict else rank + 1)
        if sign == "+" and right.startswith("-"):
            text += f" - {right[1:]}"
        elif sign == "-" and right.startswith("-"):
            text += f" + {right[1:]}" if right[1:].isdecimal() else f" - ({right})"
        else:
            text += f" {sign} {right}"
    return text, rank


def _words(expr: lane.Expr) -> set[str]:
    return {expr.word}.union(*(_words(a) for a in expr.args if not isinstance(a, int)))


def cast(to: DataType, text: Text) -> Text:
    """Return a text with a cast."""
    if text.type is to:
        return text
    if _is_number(text) and to.is_int and text.fits(to):
        number = text.text + {ty.UD: "u", ty.Q: "L", ty.UQ: "UL"}.get(to, "") if text.text.isdecimal() else text.text
        if number != text.text or to is ty.D:
            return replace(text, text=number, type=to)
    if to is ty.BF:
        return text_of(f"float_to_bf({text.text})", ATOM, to)
    if _is_number(text) and to.is_float and abs(text.low) <= 1 << 11:
        return text_of(f"{text.low}.0{ {ty.F: 'f', ty.HF: 'f16'}.get(to, '') }", UNARY if text.low < 0 else ATOM, to)
    if text.base is not None and text.type is not ty.BOOL and to.is_int and to.size <= text.type.size:
        return cast(to, text.base)
    cast_text = text_of(f"({c_type(to)}){text.within(UNARY)}", UNARY, to)
    if not to.is_int or text.type.is_float:
        return cast_text
    base = text if text.type.is_int and text.type.size == to.size else None
    low, high = (text.low, text.high) if text.fits(to) else (cast_text.low, cast_text.high)
    return replace(cast_text, low=low, high=high, base=base)


def reinterpret(text: Text, to: DataType) -> Text:
    """Return the same bits as a value of another type."""
    own = text.type
    if own is to or to is ty.BOOL:
        return text
    if own.is_int and to.is_int:
        return text if text.fits(to) else cast(to, text)
    return text_of(f"as_{c_type(to)}({text.text})", ATOM, to)


def _is_number(text: Text) -> bool:
    return text.low == text.high and text.rank >= UNARY and text.text.lstrip("-")[:1].isdecimal()


def number_text(number: int) -> Text:
    """Return an integer constant with the type that C gives it."""
    digits = hex(number) if abs(number) > _HEX and not _is_round(number) else str(number)
    if limits(ty.D)[0] < number <= limits(ty.D)[1]:
        type_ = ty.D
    elif number == limits(ty.D)[0]:
        digits, type_ = "(int)0x80000000", ty.D
        return Text(digits, UNARY, type_, number, number)
    elif 0 <= number <= limits(ty.UD)[1]:
        digits, type_ = f"0x{number:x}u", ty.UD
    elif limits(ty.Q)[0] < number <= limits(ty.Q)[1]:
        digits, type_ = f"{digits}L", ty.Q
    elif number == limits(ty.Q)[0]:
        return Text("(long)0x8000000000000000UL", UNARY, ty.Q, number, number)
    else:
        digits, type_ = f"0x{number:x}UL", ty.UQ
    return Text(digits, UNARY if number < 0 else ATOM, type_, number, number)


def _is_round(number: int) -> bool:
    return not number % 1000 and abs(number) <= 10**9


def float_text(number: float, value: Immediate) -> str:
    """Return a floating-point constant in the syntax of C."""
    type_ = value.type
    if type_ is ty.F and np.isinf(number):
        return "INFINITY" if number > 0 else "-INFINITY"
    if type_ is ty.BF or not np.isfinite(number):
        bits = (
            f"(ushort)0x{value.bits & 0xFFFF:x}"
            if type_.size == 2
            else f"0x{value.bits:x}" + ("u" if type_.size == 4 else "UL")
        )
        return f"as_{c_type(type_)}({bits})"
    text = repr(float(number)) if type_ is ty.DF else str(number)
    text = text if any(c in text for c in ".e") else f"{text}.0"
    return text + {ty.F: "f", ty.HF: "f16"}.get(type_, "")
