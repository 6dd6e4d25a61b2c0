"""Prints expressions as C-like text that means exactly what the evaluator computes.

``lane`` is the number of the lane in the thread. A bare name is the lane's own element, ``name[lane]``, or the only
element of its variable.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from msgspec.structs import replace

from visa_lsp.app.read.lower import CARRIES, RELATIONS
from visa_lsp.app.read.model import Both, BranchTest, Calc, Choose, Compare, Expr, Lanes, Set
from visa_lsp.app.read.names import ReadingNames, c_type
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
from visa_lsp.sim.values import execution_type, immediate, unpack_type
from visa_lsp.sim.words import RING

if TYPE_CHECKING:
    from visa_lsp.isa.types import DataType, ExecControl

# The lane words with an operator in C, and its rank; every other word is a function of the same name.
_OPERATORS: Final = {
    "mul": ("*", 8), "div": ("/", 8), "mod": ("%", 8), "add": ("+", 7), "add3": ("+", 7), "sub": ("-", 7),
    "shl": ("<<", 6), "and": ("&", 4), "xor": ("^", 3), "or": ("|", 2),
}  # fmt: skip
_FUNCTIONS: Final = {
    "mad": "fma", "rndd": "floor", "rndu": "ceil", "rnde": "rint", "rndz": "trunc", "lzd": "clz", "cbit": "popcount",
    "frc": "fract", "divm": "div_rte", "sqrtm": "sqrt_rte",
}  # fmt: skip
_UNSIGNED: Final = {2: ty.UW, 4: ty.UD, 8: ty.UQ}
_GROWING: Final = RING | {"shl"}
_INVERSE: Final = (1, 0, 5, 4, 3, 2)  # the operator of each relation, by code
# The sum that OpenCL calls ``get_global_id``, for one dimension; in a longer sum its first two terms are in brackets.
_GLOBAL_ID: Final = re.compile(
    r"(?P<before>^|\+ (?=\())(?P<open>\()?enqueued_local_size\[(?P<axis>(?=0.*?local_id_x\b|1.*?local_id_y\b|2.*?local_id_z\b)\d)\]"
    r" \* group_id\[(?P=axis)\] \+ local_id_[xyz](?(open)\)) \+ global_id_offset\[(?P=axis)\](?! [*/%])"
)
_SUM: Final = 7  # the rank of a sum
_MAX_COMPONENTS: Final = 16
_UNEQUAL: Final = 1  # the code of a relation
_ATOM, _UNARY, _RELATION, _CHOICE = 10, 9, 5, 1
_EXACT_HEX: Final = 0xFFFF  # larger integers are shown in hexadecimal


class RankedText(NamedTuple):
    """An expression's text and the rank of its operator."""

    text: str
    rank: int

    def within(self, rank: int) -> str:
        """Return the text as an operand: in brackets if its operator binds less tightly."""
        return self.text if self.rank >= rank else f"({self.text})"


class Printer:
    """Prints the expressions of one body."""

    def __init__(self, names: ReadingNames) -> None:
        self.names = names
        self.computed: dict[int, RankedText] = {}  # predicate -> the test that computes it
        self.names_sums = True  # print OpenCL functions instead of sums
        self.overlaid: dict[int, int] = {}  # alias with other elements -> its variable

    def type_of(self, value: Expr) -> DataType:
        """Return the element type of a value."""
        if isinstance(value, Calc | Choose | Lanes | Indirect):
            return value.type
        if isinstance(value, General | AddressOf):
            return self.names.text.types.get(value.var, ty.UD)
        if isinstance(value, Immediate):
            return unpack_type(value.type)
        return ty.UW if isinstance(value, Address) else ty.UD

    # ---- values

    def value(self, value: Expr, control: ExecControl, *, bare: bool = False) -> RankedText:
        """Return the text of a value; ``bare`` omits its modifier."""
        found = self._plain(value, control)
        modifier = OperandModifier.NONE if bare else getattr(value, "modifier", OperandModifier.NONE)
        match modifier:
            case OperandModifier.NEG:
                return RankedText(f"-{found.within(_UNARY + 1)}", _UNARY)
            case OperandModifier.ABS:
                return RankedText(f"abs({found.text})", _ATOM)
            case OperandModifier.NEGABS:
                return RankedText(f"-abs({found.text})", _UNARY)
            case OperandModifier.NOT:
                return RankedText(f"~{found.within(_UNARY + 1)}", _UNARY)
        return found

    def _plain(self, value: Expr, control: ExecControl) -> RankedText:
        match value:
            case Calc():
                return self._calc(value, control)
            case Choose():
                return self._choose(value, control)
            case Compare(relation, left, right):
                return self._relation(relation, left, right, control)
            case Immediate():
                return RankedText(constant(value), _UNARY if constant(value).startswith("-") else _ATOM)
            case General(var, row, col, region):
                type_ = self.type_of(value)
                byte = regions.origin(row, col, type_.size, self.names.grf_bytes)
                return self.print_stored(var, byte, regions.source_elements(region, control.exec_size), control)
            case Lanes(operand, type_):
                return self.raw(operand, type_, control)
            case PredicateOperand(var):
                return self.computed.get(var) or RankedText(self.bit(var, control), _ATOM)
            case RawOperand():
                return self.raw(value, None, control)
            case AddressOf(var, row, col):
                first = regions.origin(row, col, self.type_of(value).size, self.names.grf_bytes)
                return RankedText(
                    f"&{self.names.variable(var)}" + (f"[{first // self.type_of(value).size}]" if first else ""), _UNARY
                )
            case Address(var, offset, width):
                name = self.names.text.of(self.names.text.address, "A", var)
                single = width <= 1 or control.exec_size == 1
                return RankedText(
                    f"{name}[{offset}]" if single else f"{name}[{_sum('lane', offset - control.mask_offset)}]", _ATOM
                )
            case Indirect():
                return RankedText(self._indirect(value), _ATOM)
            case State():
                return RankedText(vector(self.names.text, value), _ATOM)
        return RankedText(str(value), _ATOM)

    def _indirect(self, value: Indirect) -> str:
        name = self.names.text.of(self.names.text.address, "A", value.var)
        plain = f"{name}[{value.addr_offset}]" + (f" + {value.offset}" if value.offset else "")
        return f"registers<{c_type(value.type)}>[{plain}]{value.region}"

    def element(self, var: int, first: int, elements: list[int], control: ExecControl) -> str:
        """Return a variable with the index for each lane; ``elements`` count from ``first``."""
        name = self.names.variable(var)
        row = self._row(var, first, elements, control)
        if row is not None:
            return f"{name}.{row}"
        index = index_text([first + e for e in elements], control.mask_offset)
        only = index == "0" and self.names.elements(var) == 1
        return name if only or index == "lane" else f"{name}[{index}]"

    def _row(self, var: int, first: int, elements: list[int], control: ExecControl) -> str | None:
        """Return a component of a vector; a vector is a variable with several elements for each lane of the kernel."""
        lanes, count = control.exec_size, self.names.elements(var)
        if lanes == 1 or lanes != self.names.simd or elements != list(range(elements[0], elements[0] + lanes)):
            return None
        number, rest = divmod(first + elements[0], lanes)
        whole = (
            not rest
            and not count % lanes
            and not lanes * self.names.text.types.get(var, ty.UD).size % self.names.grf_bytes
        )
        return component(number, count // lanes) if whole else None

    def place(self, var: int, byte: int, elements: list[int], control: ExecControl) -> tuple[str, DataType, DataType]:
        """Return the text of a place, its type, and the type of the variable."""
        own = self.names.text.types.get(var, ty.UD)
        root, at = self.names.root(var, byte) or (var, byte)
        if own.size == ty.D.size and own.is_int and len(set(elements)) == 1:
            part = self.names.parts.get((root, at + elements[0] * own.size))
            if part is not None:
                return part, own, own
        self.note_alias(root)
        held = ty.UW if root in self.names.unsigned else self.names.text.types.get(root, own)
        return self.element(root, at // own.size, elements, control), own, held

    def note_alias(self, var: int) -> None:
        """Record an alias that is shown by its own name."""
        declared = self.names.kernel.variable(var)
        if declared is not None and (declared.alias_index or declared.alias_offset) and not declared.alias_scope:
            self.overlaid[var] = declared.alias_index

    def print_stored(self, var: int, byte: int, elements: list[int], control: ExecControl) -> RankedText:
        """Return the value of a variable, in the variable's own type."""
        text, own, held = self.place(var, byte, elements, control)
        if own is held:
            return RankedText(text, _ATOM)
        return _reinterpret(own, held, RankedText(text, _ATOM))

    def assign(self, target: Expr, control: ExecControl, text: str) -> tuple[str, str, DataType]:
        """Return the place of an assignment, its value converted for the type of the place, and that type."""
        if isinstance(target, General):
            if target.var == 0:
                return "null", text, ty.UD
            byte = regions.origin(target.row, target.col, self.type_of(target).size, self.names.grf_bytes)
            elements = regions.destination_elements(target.region.horz_stride or 1, control.exec_size)
            place, own, held = self.place(target.var, byte, elements, control)
            if own is not held and not _same(own, held):
                text = f"as_{c_type(held)}({text})"
            return place, text, held
        if isinstance(target, PredicateOperand):
            return self.bit(target.var, control), text, ty.BOOL
        return self.value(target, control, bare=True).text, text, self.type_of(target)

    def raw(self, operand: RawOperand, type_: DataType | None, control: ExecControl) -> RankedText:
        """Return a raw operand; with a type, the lane's own element of it."""
        if operand.var == 0:
            return RankedText("0" if type_ is not None else "null", _ATOM)
        own = self.names.text.types.get(operand.var)
        if type_ is not None and own is not None and own.size == type_.size and operand.offset % own.size == 0:
            found = self.print_stored(operand.var, operand.offset, list(range(control.exec_size)), control)
            return found if own is type_ else _reinterpret(type_, own, found)
        name = self.names.variable(operand.var)
        self.note_alias(operand.var)
        cast = f"<{c_type(type_)}>" if type_ is not None else ""
        return RankedText(name + cast + (f"@{operand.offset}" if operand.offset else ""), _ATOM)

    # ---- predicates

    def bit(self, var: int, control: ExecControl) -> str:
        """Return a predicate as each lane sees it."""
        name = self.names.text.of(self.names.text.predicate, "P", var)
        declared = self.names.kernel.predicates[var - 1 : var]
        if control.exec_size > 1 or (declared and declared[0].num_elements == 1 and control.mask_offset == 0):
            return name
        return f"{name}[{control.mask_offset}]"

    def predicate(self, value: Predicate, control: ExecControl, *, negated: bool = False) -> RankedText:
        """Return a predicate as a condition."""
        text = self.bit(value.var, control)
        if value.combine is not Combine.NONE:
            first, last = control.mask_offset, control.mask_offset + control.exec_size - 1
            part = "" if not first and control.exec_size >= self.names.simd else f"[{first}..{last}]"
            text = (
                f"{value.combine.name.lower()}({self.names.text.of(self.names.text.predicate, 'P', value.var)}{part})"
            )
        return RankedText(f"!{text}", _UNARY) if value.inverse != negated else RankedText(text, _ATOM)

    def condition(self, condition: BranchTest) -> str:
        """Return the test of a branch."""
        control = condition.control
        if condition.index is not None:
            relation = "!=" if condition.negated else "=="
            return f"{self.value(condition.index, control).within(_RELATION)} {relation} {condition.case}"
        if condition.predicate is None:
            return "false" if condition.negated else "true"
        if condition.whole and condition.predicate.combine is Combine.NONE:
            control = ty.ExecControl(1, control.mask_offset, no_mask=True)
        for test in condition.tests:
            one = test.parts[0] if isinstance(test, Both) else test
            assert isinstance(one, Set)
            assert isinstance(one.target, PredicateOperand)
            self.computed[one.target.var] = self.value(one.value, one.control)
        found = self._condition(condition, control)
        self.computed.clear()
        return found

    def _condition(self, condition: BranchTest, control: ExecControl) -> str:
        assert condition.predicate is not None
        value, computed = condition.predicate, self.computed.get(condition.predicate.var)
        if computed is None:
            return self.predicate(value, control, negated=condition.negated).text
        text = computed
        if value.combine is not Combine.NONE:
            text = RankedText(f"{value.combine.name.lower()}({computed.text})", _ATOM)
        if value.inverse == condition.negated:
            return text.text
        last = condition.tests[-1]
        first = last.parts[0] if isinstance(last, Both) else last
        test = first.value if isinstance(first, Set) else None
        if isinstance(test, Compare) and value.combine is Combine.NONE and self._is_ordered(test):
            return self._relation(_INVERSE[test.relation], test.left, test.right, first.control).text
        return f"!{text.within(_UNARY)}"

    def _is_ordered(self, test: Compare) -> bool:
        """Return whether a relation or its inverse always holds, because there is no NaN."""
        return not any(self.type_of(value).is_float for value in (test.left, test.right))

    # ---- operations

    def _relation(self, relation: int, left: Expr, right: Expr, control: ExecControl) -> RankedText:
        # Compilers write `p && x != 0` as `(p ? x : 0) != 0`.
        if (
            isinstance(left, Choose)
            and relation == _UNEQUAL
            and _is_zero(right)
            and _is_zero(left.no)
            and left.type.is_int
        ):
            whole = (
                self.type_of(left.yes).is_int and self.type_of(left.yes).size <= left.type.size and not left.saturate
            )
            if whole and left.modifier is OperandModifier.NONE:
                test = self._test(left.condition, control)
                inner = self._relation(relation, _drop_sign(left.yes), right, control)
                return RankedText(f"{test.within(_RELATION)} && {inner.text}", 2)
        exec_type = execution_type([self.type_of(left), self.type_of(right)])
        one, other = (self.argument(v, exec_type, control, exact=True).within(_RELATION + 1) for v in (left, right))
        return RankedText(f"{one} {RELATIONS[relation]} {other}", _RELATION)

    def _test(self, condition: Predicate, control: ExecControl) -> RankedText:
        """Return a predicate, or the test that computes it."""
        known = self.computed.get(condition.var) if condition.combine is Combine.NONE else None
        if known is None:
            return self.predicate(condition, control)
        return RankedText(f"!{known.within(_UNARY)}", _UNARY) if condition.inverse else known

    def _choose(self, value: Choose, control: ExecControl) -> RankedText:
        exec_type = execution_type([self.type_of(value.yes), self.type_of(value.no)])
        same = self.type_of(value.yes) is self.type_of(value.no) is value.type
        yes, no = (
            (self.value(v, control) if same else self.argument(v, exec_type, control, exact=True)).within(_CHOICE + 1)
            for v in (value.yes, value.no)
        )
        test = self._test(value.condition, control).within(_RELATION)
        found = RankedText(f"{test} ? {yes} : {no}", _CHOICE)
        return found if same else self._convert(found, exec_type, value.type, saturate=value.saturate)

    def argument(self, value: Expr, wanted: DataType, control: ExecControl, *, exact: bool) -> RankedText:
        """Return an argument with a conversion if C would not convert it in the same way; ``exact``: its sign matters."""
        own = self.type_of(value)
        text = self.value(skip_widening(value, self) if own is ty.D and wanted.is_int else value, control)
        if exact and own.size < ty.D.size and (inner := self._other_sign_of(value)) is not None:
            # C extends narrow values according to their sign.
            if isinstance(inner, Calc) and not inner.saturate and inner.modifier is OperandModifier.NONE:
                text = self.value(replace(inner, type=own), control)
            else:
                text = _cast(own, self.value(inner, control))
        if wanted.is_float:
            return text if own is wanted or (own.is_float and own.size < wanted.size) else _cast(wanted, text)
        if own is wanted or (own.size < min(4, wanted.size) and not (exact and own.is_signed and not wanted.is_signed)):
            return text
        if isinstance(value, Immediate) and _fits(value, wanted):
            return text
        if own.size == wanted.size and not (exact and own.is_signed != wanted.is_signed):
            return text
        return _cast(wanted, text)

    def _other_sign_of(self, value: Expr) -> Expr | None:
        """Return the operand of a conversion that only changes the signedness of a value; None for other values."""
        if (
            not isinstance(value, Calc)
            or value.meaning != S0
            or value.saturate
            or value.modifier is not OperandModifier.NONE
        ):
            return None
        own = self.type_of(value.args[0])
        return value.args[0] if _same(own, value.type) and own is not value.type else None

    def _calc(self, value: Calc, control: ExecControl) -> RankedText:
        args = value.args
        if value.type is ty.BOOL:
            return self._tree(
                value.meaning, [self._plain(a, control) for a in args], signed=False, whole=False, boolean=True
            )
        types = [self.type_of(a) for a in args]
        if value.meaning.word == "src" and types[0] is value.type and not value.saturate:
            return self.value(args[0], control)
        carry = _carry_of(value)
        if carry is not None:
            word, pair = carry
            texts = [self.argument(one, ty.UD, control, exact=False) for one in pair]
            return self._convert(
                RankedText(f"{word}({texts[0].text}, {texts[1].text})", _ATOM), ty.UD, value.type, saturate=False
            )
        exec_type = execution_type(types)
        if value.meaning.word == "src":
            return self._convert(self.value(args[0], control), types[0], value.type, saturate=value.saturate)
        # Operations whose result may need more bits than the sources are computed in the bits of the result.
        ring = _words(value.meaning) <= _GROWING
        wanted = exec_type
        if value.meaning.word == "shr" and not exec_type.is_float:
            wanted = _UNSIGNED[exec_type.size]
        elif not exec_type.is_float and ring:
            if value.type.is_int and value.type.size > exec_type.size:
                wanted = value.type
            elif (value.saturate or not value.type.is_int) and exec_type.size < ty.Q.size:
                wanted = ty.Q
        texts = []
        for one, own in zip(args, types, strict=True):
            # A product in a qword extends each dword by its own sign; other operations use the sign of the execution type.
            text = self.argument(one, wanted, control, exact=not ring)
            widened = wanted.size > exec_type.size and own.size == exec_type.size
            if widened and exec_type.is_signed and not own.is_signed and not {"mul", "mad"} & _words(value.meaning):
                text = _cast(wanted, _cast(exec_type, self.value(one, control)))
            texts.append(text)
        found = self._tree(value.meaning, texts, signed=wanted.is_signed, whole=exec_type.is_float)
        if not wanted.is_float and found.rank == _SUM:
            words = self.by_global_ids(found.text)
            found = RankedText(words, _ATOM if re.fullmatch(r"global_id\(\d\)", words) else _SUM)
        return self._convert(found, wanted, value.type, saturate=value.saturate)

    def by_global_ids(self, text: str) -> str:
        """Replace sums of integers that are an OpenCL function by a call of it."""
        return _GLOBAL_ID.sub(r"\g<before>global_id(\g<axis>)", text) if self.names_sums else text

    def _convert(self, text: RankedText, from_: DataType, to: DataType, *, saturate: bool) -> RankedText:
        if saturate:
            if to.is_float:
                inner = text if from_ is to else _cast(to, text)
                return RankedText(f"saturate({inner.text})", _ATOM)
            return RankedText(f"convert_{c_type(to)}_sat({text.text})", _ATOM)
        return text if from_ is to or _same(from_, to) else _cast(to, text)

    def _tree(
        self, node: lane.Expr, args: list[RankedText], *, signed: bool, whole: bool, boolean: bool = False
    ) -> RankedText:
        if node.word == "src":
            number = node.args[0]
            return args[number if isinstance(number, int) else 0]
        if node.word == "const":
            return RankedText(str(node.args[0]), _ATOM)
        parts = [
            self._tree(a, args, signed=signed, whole=whole, boolean=boolean)
            for a in node.args
            if not isinstance(a, int)
        ]
        word = node.word
        if boolean and word in ("and", "or"):
            return _join("&&" if word == "and" else "||", 2 if word == "and" else 1, parts)
        if word == "mad" and not whole:
            return RankedText(f"{parts[0].within(8)} * {parts[1].within(9)} + {parts[2].within(8)}", 7)
        if word == "not":
            return RankedText(f"{'!' if boolean else '~'}{parts[0].within(_UNARY + 1)}", _UNARY)
        if word == ("asr" if signed else "shr"):
            return _join(">>", 6, parts)
        if word in _OPERATORS:
            return _join(*_OPERATORS[word], parts)
        return RankedText(f"{_FUNCTIONS.get(word, word)}({', '.join(p.text for p in parts)})", _ATOM)


def _carry_of(value: Calc) -> tuple[str, list[Expr]] | None:
    """Return the function for the 33rd bit of a sum or difference, and the two dwords."""
    if value.meaning.word != "shr" or not isinstance(value.args[1], Immediate) or not isinstance(value.args[0], Calc):
        return None
    total, bit = value.args[0], value.args[1].bits
    word = {name: word for word, name, at in CARRIES.values() if at == bit}.get(total.meaning)
    pair = [
        one.args[0].args[0]
        for one in total.args
        if isinstance(one, Calc) and isinstance(one.args[0], Calc) and _extends(one)
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
    sign = getattr(value, "modifier", OperandModifier.NONE) in (
        OperandModifier.NEG,
        OperandModifier.ABS,
        OperandModifier.NEGABS,
    )
    return (
        replace(value, modifier=OperandModifier.NONE) if sign and isinstance(value, General | Calc | Choose) else value
    )


def component(number: int, count: int) -> str | None:
    """Return the name of a component of a vector; None if there is no such vector."""
    if not 1 < count <= _MAX_COMPONENTS or number >= count:
        return None
    return "xyzw"[number] if count <= 4 else f"s{number:x}"


def _join(sign: str, rank: int, parts: list[RankedText]) -> RankedText:
    """Join operands; operands of shifts and bit operations get brackets, because few readers know their precedence."""
    strict = rank < _SUM
    text = parts[0].within(_UNARY if strict and (parts[0].rank != rank or sign in ("<<", ">>")) else rank)
    for part in parts[1:]:
        right = part.within(_UNARY if strict else rank + 1)
        if sign == "+" and right.startswith("-"):
            text += f" - {right[1:]}"
        elif sign == "-" and right.startswith("-"):
            text += f" - ({right})"
        else:
            text += f" {sign} {right}"
    return RankedText(text, rank)


def _words(expr: lane.Expr) -> set[str]:
    return {expr.word}.union(*(_words(a) for a in expr.args if not isinstance(a, int)))


def _cast(to: DataType, text: RankedText) -> RankedText:
    return RankedText(f"({c_type(to)}){text.within(_UNARY)}", _UNARY)


def _reinterpret(to: DataType, from_: DataType, text: RankedText) -> RankedText:
    """Return the same bits as a value of another type."""
    return _cast(to, text) if _same(from_, to) else RankedText(f"as_{c_type(to)}({text.text})", _ATOM)


def skip_widening(value: Expr, printer: Printer) -> Expr:
    """Return the operand of a conversion to int that is implicit in C, else the value."""
    if isinstance(value, Calc) and value.meaning == S0 and value.type is ty.D and not value.saturate:
        own = printer.type_of(value.args[0])
        if value.modifier is OperandModifier.NONE and own.is_int and own.size < ty.D.size:
            return value.args[0]
    return value


def _same(one: DataType, other: DataType) -> bool:
    """Return whether C converts between two types implicitly and without a change of bits."""
    return one.is_int and other.is_int and one.size == other.size


def _fits(value: Immediate, wanted: DataType) -> bool:
    """Return whether an integer constant has the same value in a type."""
    if not unpack_type(value.type).is_int:
        return False
    number = int(immediate(value, 1)[0])
    low = -(1 << wanted.bits - 1) if wanted.is_signed else 0
    return low <= number < (1 << wanted.bits - wanted.is_signed)


def constant(value: Immediate) -> str:
    """Return an immediate in the syntax of C."""
    lanes = immediate(value, 8)
    if value.type.is_packed:
        return "{" + ", ".join(str(v) for v in lanes.tolist()) + "}[lane % 8]"
    number = lanes[0]
    type_ = value.type
    if type_.is_int:
        whole = int(number)
        return hex(whole) if abs(whole) > _EXACT_HEX else str(whole)
    if type_ is ty.BF or not np.isfinite(number):
        return f"as_{c_type(type_)}(0x{value.bits:x})"
    text = repr(float(number)) if type_ is ty.DF else str(number)
    text = text if any(c in text for c in ".e") else f"{text}.0"
    return text + {ty.F: "f", ty.HF: "h"}.get(type_, "")


def index_text(elements: list[int], offset: int) -> str:
    """Return the index, as an expression in ``lane``, of these elements for the lanes from ``offset`` on."""
    first, lanes = elements[0], len(elements)
    steps = {b - a for a, b in pairwise(elements)}
    if steps <= {0}:
        return str(first)
    if len(steps) == 1:
        step = steps.pop()
        return _sum("lane" if step == 1 else f"{step} * lane", first - step * offset)
    width = next(i for i in range(1, lanes) if elements[i] - elements[i - 1] != elements[1] - elements[0])
    vert, horz = elements[width] - first, elements[1] - first
    own = "lane" if not offset else f"(lane - {offset})"
    parts = [f"{vert} * ({own} / {width})" if vert != 1 else f"{own} / {width}"] if vert else []
    parts += [f"{own} % {width}" if horz == 1 else f"{horz} * ({own} % {width})"] if horz else []
    return _sum(" + ".join(parts), first)


def _sum(text: str, number: int) -> str:
    return text if not number else f"{text} {'+' if number > 0 else '-'} {abs(number)}"
