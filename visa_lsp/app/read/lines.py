"""Pseudo-code as lines of text, each with the vISA instructions that it stands for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from msgspec import Struct

from visa_lsp.app.read.accesses import guard_of
from visa_lsp.app.read.alignment import Alignment
from visa_lsp.app.read.expressions import Printer, component, skip_widening
from visa_lsp.app.read.model import (
    Both,
    BranchTest,
    Break,
    Calc,
    Choose,
    Continue,
    Expr,
    Goto,
    If,
    Invoke,
    JumpLabel,
    MemoryPlace,
    NamedCall,
    Reading,
    Repeat,
    Return,
    Set,
    Statement,
    Transfer,
)
from visa_lsp.app.read.names import PointerArgument, ReadingNames, c_type
from visa_lsp.isa import lsc_codes as codes
from visa_lsp.isa import types as ty
from visa_lsp.isa.lane import S0, Effect, Lane
from visa_lsp.isa.model import FlowClass, Mark, Role, Shape, Trait
from visa_lsp.isa.operands import OperandModifier
from visa_lsp.isa.types import DataType, ExecControl
from visa_lsp.program.model import General, Immediate, Inst, Kernel, Predicate, PredicateOperand, RawOperand, State
from visa_lsp.program.operand_text import instruction, modifiers, operand, string_name
from visa_lsp.sim.effects import EFFECTS

_INDENT: Final = "    "
_UNSIGNED: Final = {1: ty.UB, 2: ty.UW, 4: ty.UD, 8: ty.UQ}
_CHANNELS: Final = "xyzw"
_ONE_COPY: Final = re.compile(r"(?P<to>\w+)\[(?P<at>\d+)\] = (?P<from>\w+)\[(?P<source>\d+)\];")
_NOTHING: Final = ("%null", "null")
_WORD: Final = re.compile(r"\w+")
_ASSIGNING: Final = frozenset({"+", "-", "*", "/", "<<", ">>", "&", "|", "^"})


class Line(Struct, frozen=True):
    """A line of pseudo-code: its text, and the numbers of its instructions."""

    text: str
    places: tuple[int, ...] = ()


def is_expressed(inst: Inst) -> bool:
    """Return whether pseudo-code can show an instruction as a named operation."""
    meaning = inst.row.meaning
    return isinstance(meaning, Lane) or (isinstance(meaning, Effect) and meaning.name in EFFECTS)


def lines_of(kernel: Kernel, reading: Reading, names: ReadingNames, texts: Sequence[str] = ()) -> list[Line]:
    """Return the lines of a body; ``texts`` has the lines of the vISA text, for instructions that are shown unchanged."""
    return list(CodePrinter(kernel, names, texts).body(reading))


class CodePrinter:
    """Prints one body."""

    def __init__(self, kernel: Kernel, names: ReadingNames, texts: Sequence[str]) -> None:
        self.kernel, self.names, self.texts = kernel, names, texts
        self.printer = Printer(names)
        self._alignment: Alignment | None = None
        self.declared: set[str] = set()
        self.plain = False
        self.wide: ExecControl | None = None  # the lanes of a merged statement

    @property
    def alignment(self) -> Alignment:
        """Divisors of variables; computed for a whole body only, because halves are compared without them."""
        self._alignment = self._alignment or Alignment(self.kernel)
        return self._alignment

    def body(self, reading: Reading) -> Iterator[Line]:
        """Yield the lines of a body and of its routines."""
        head = f"{'kernel' if self.kernel.is_kernel else 'function'} {self.kernel.name}({', '.join(self.names.parameters)})"
        yield Line(f"{head} {{" + (f"  // {self.names.simd} lanes" if self.names.simd else ""))
        code = list(self._code(reading.routines[0].body))
        shown = set(_WORD.findall("\n".join(line.text for line in code))) if reading.halves else set()
        pairs = [f"{high} of {low}" for low, high in reading.halves if high in shown]
        if pairs:
            yield Line(f"{_INDENT}// higher lanes are in other registers: {', '.join(pairs)}")
        notes = [
            f"{self._print_declaration(over)} lies over {self._print_declaration(under)}"
            for over, under in self.printer.overlaid.items()
        ]
        if notes:
            yield Line(f"{_INDENT}// {', '.join(notes)}")
        for line in code:
            yield Line(_INDENT + line.text, line.places)
        yield Line("}")
        for routine in reading.routines[1:]:
            yield Line("")
            yield Line(f"routine {self._label(routine.entry, routine.label)}() {{")
            self.alignment.leave({})
            for line in self._code(routine.body):
                yield Line(_INDENT + line.text, line.places)
            yield Line("}")

    def _print_declaration(self, number: int) -> str:
        type_ = self.names.text.types.get(number)
        return f"{c_type(type_) if type_ is not None else '?'} {self.names.variable(number)}"

    def _label(self, entry: int, label: int | None) -> str:
        found = self.names.text.labels.get(label) if label is not None else None
        return found or f"routine_{entry}"

    def _code(self, code: Sequence[Statement]) -> Iterator[Line]:
        yield from _join_copies(self._lines(code))

    def _lines(self, code: Sequence[Statement]) -> Iterator[Line]:
        for statement in code:
            yield from self._statement(statement)
            if isinstance(statement, Both):
                for part in statement.parts:
                    self.alignment.note(part)
            elif isinstance(statement, Set | Transfer | NamedCall):
                self.alignment.note(statement)
            elif isinstance(statement, If | Repeat | JumpLabel | Invoke):
                self.alignment.leave({})

    def _inner(self, code: Sequence[Statement]) -> Iterator[Line]:
        for line in self._code(code):
            yield Line(_INDENT + line.text, line.places)

    def _statement(self, statement: Statement) -> Iterator[Line]:
        match statement:
            case Set():
                yield Line(self._assignment(statement), statement.places)
            case Transfer():
                yield Line(self._access(statement), statement.places)
            case Both():
                yield Line(self._both(statement), statement.places)
            case NamedCall(inst, places):
                yield Line(self._call(inst), places)
            case If():
                yield from self._if(statement)
            case Repeat():
                yield from self._loop(statement)
            case Break(places):
                yield Line("break;", places)
            case Continue(places):
                yield Line("continue;", places)
            case Goto(label, places):
                yield Line(f"goto {_label_name(label)};", places)
            case JumpLabel(label):
                yield Line(f"{_label_name(label)}:")
            case Return(places):
                yield Line("return;", places)
            case Invoke(routine, condition, places):
                first = self._routine_label(places)
                call = f"{first or f'routine_{routine}'}();"
                yield Line(call if _always(condition) else f"if ({self.printer.condition(condition)}) {call}", places)

    def _routine_label(self, places: tuple[int, ...]) -> str | None:
        label = self.kernel.instructions[places[0]].get("label")
        return self.names.text.labels.get(label) if isinstance(label, int) else None

    def _if(self, statement: If, head: str = "if") -> Iterator[Line]:
        test = f"{head} ({self.printer.condition(statement.condition)})"
        if (
            len(statement.then) == 1
            and not statement.otherwise
            and isinstance(statement.then[0], Break | Continue | Goto | Return)
        ):
            inner = next(iter(self._statement(statement.then[0])))
            yield Line(f"{test} {inner.text}", tuple(sorted({*statement.places, *inner.places})))
            return
        yield Line(f"{test} {{", statement.places)
        known = self.alignment.enter()
        yield from self._inner(statement.then)
        self.alignment.leave(known)
        if len(statement.otherwise) == 1 and isinstance(statement.otherwise[0], If):
            yield from self._if(statement.otherwise[0], "} else if")
            return
        if statement.otherwise:
            yield Line("} else {")
            yield from self._inner(statement.otherwise)
        yield Line("}")

    def _loop(self, loop: Repeat) -> Iterator[Line]:
        if loop.first is not None:
            yield Line(f"while ({self.printer.condition(loop.first)}) {{", loop.first_places)
        else:
            yield Line("while (true) {" if loop.last is None else "do {")
        self.alignment.leave({})
        yield from self._inner(loop.body)
        if loop.last is None:
            yield Line("}")
        else:
            yield Line(f"}} while ({self.printer.condition(loop.last)});", loop.last_places)

    # ---- simple statements

    def _prefix(self, control: ExecControl, guard: Predicate | None) -> str:
        """Return the text that restricts an assignment to lanes; empty for all active lanes."""
        if self.plain:
            return self.printer.predicate(guard, control).text if guard is not None else ""
        control = self.wide or control
        first, last, simd = control.mask_offset, control.mask_offset + control.exec_size - 1, self.names.simd
        tests = []
        words = ""
        if control.no_mask:
            if control.exec_size > 1:
                words = "unmasked " if not first and control.exec_size >= simd else f"unmasked({first}..{last}) "
        elif control.exec_size == 1:
            tests.append(f"lane == {first}")
        elif first or control.exec_size < simd:
            tests.append(
                f"lane >= {first}"
                if last + 1 >= simd > 0
                else f"lane <= {last}"
                if not first
                else f"{first} <= lane && lane <= {last}"
            )
        if guard is not None:
            tests.append(self.printer.predicate(guard, control).text)
        return words + (f"if ({' && '.join(tests)}) " if tests else "")

    def _both(self, statement: Both) -> str:
        low = statement.parts[0]
        lanes = low.control.exec_size * len(statement.parts)
        self.wide = ExecControl(lanes, low.control.mask_offset, no_mask=low.control.no_mask)
        text = self._assignment(low) if isinstance(low, Set) else self._access(low)
        self.wide = None
        return text

    def bare(self, statement: Set | Transfer) -> str:
        """Return an assignment or access without its type and its lanes."""
        self.plain, self.printer.names_sums = True, False
        text = self._assignment(statement) if isinstance(statement, Set) else self._access(statement)
        self.plain, self.printer.names_sums = False, True
        return text

    def _assignment(self, statement: Set) -> str:
        control, value, target = statement.control, statement.value, statement.target
        declared = self.printer.type_of(target)
        text = self.printer.value(skip_widening(value, self.printer) if declared is ty.D else value, control).text
        if not self.plain and isinstance(value, Calc) and len(value.args) == 2:
            place, _, type_ = self.printer.assign(target, control, "")
            operator, _, rest = text.removeprefix(f"{place} ").partition(" ")
            if operator in _ASSIGNING and text.startswith(f"{place} ") and type_ is value.type:
                first = self.printer.value(value.args[0], control).text
                if first == place:
                    return f"{self._prefix(control, statement.guard)}{place} {operator}= {rest};"
        if not isinstance(value, Calc | Choose) and not isinstance(target, PredicateOperand):
            text = f"{text} ? -1 : 0"
        return self._put(target, text, control, self._prefix(control, statement.guard))

    def _put(self, target: Expr, text: str, control: ExecControl, prefix: str) -> str:
        place, text, type_ = self.printer.assign(target, control, text)
        return f"{prefix}{self._declaration(place, c_type(type_), prefix)}{place} = {text};"

    def _declaration(self, place: str, word: str, prefix: str) -> str:
        """Return the type before the first use of a name, and mark the name as declared."""
        if self.plain or place in self.declared:
            return ""
        self.declared.add(place)
        plain = place.isidentifier() and not prefix and place != "null"
        return f"{word} " if plain else ""

    def _access(self, access: Transfer) -> str:
        control, single, count = access.control, access.single, len(access.elements)
        type_ = self._data_type(access)
        word = c_type(type_)
        dense = access.elements == tuple(range(count))
        wide = word if count == 1 else f"{word}[{count}]" if single else f"{word}{count if dense else 4}"
        address = self._address(access)
        place = f"*({wide} *)({address})"
        if not dense and not single:
            place = (
                f"(({word}4 *)({address}))->{''.join(_CHANNELS[e] for e in access.elements)}"
                if max(access.elements)
                else f"*({word} *)({address})"
            )
        if not single and dense and (count == 1 or access.size == access.cell):
            place = self._index(access, wide, count * access.size) or place
        data, declared = self._data(access)
        prefix = self._prefix(control, access.guard)
        if access.write and access.value is not None:
            return f"{prefix}{place} = {self.printer.value(access.value, control).text};"
        if access.write:
            return f"{prefix}{place} = {data}{' >> 16' if access.high else ''};"
        text = f"{place}{' << 16' if access.high else ''}"
        shown = self._declaration(data, declared, prefix) if declared else ""
        return f"{prefix}{shown}{data} = {text};"

    def _data_type(self, access: Transfer) -> DataType:
        if access.value is not None:
            return self.printer.type_of(access.value)
        held = self._type_held(access)
        return held if held is not None and held.size == access.size == access.cell else _UNSIGNED[access.size]

    def _type_held(self, access: Transfer) -> DataType | None:
        """Return the element type of the variable with the data; None if it has other elements."""
        data = access.data
        own = self.names.text.types.get(data.var)
        if data.var == 0 or own is None or own.size != access.cell or data.offset % own.size:
            return None
        root = self.names.root(data.var, data.offset)
        return self.names.text.types.get(root[0]) if root is not None else own

    def _data(self, access: Transfer) -> tuple[str, str]:
        """Return the registers of an access, and their type if each lane has one element or vector."""
        data, count, held = access.data, len(access.elements), self._type_held(access)
        if data.var == 0:
            return ("0" if access.write else "null"), ""
        if count == 1 and held is not None and (held.is_int or access.size == access.cell):
            lanes = 1 if access.single else access.control.exec_size
            control = ExecControl(lanes, access.control.mask_offset, no_mask=access.control.no_mask)
            return self.printer.place(data.var, data.offset, list(range(lanes)), control)[0], c_type(held)
        self.printer.note_alias(data.var)
        own, lanes = self.names.text.types.get(data.var), access.control.exec_size
        if not access.single and own is not None and own.size == access.cell and lanes == self.names.simd:
            first, total = data.offset // (lanes * own.size), self.names.elements(data.var) // lanes
            whole = not data.offset % (lanes * own.size) and lanes * own.size % self.names.grf_bytes == 0
            if whole and component(first + count - 1, total):
                names = "".join(component(first + number, total) or "" for number in range(count))
                name, word = self.names.variable(data.var), c_type(own)
                if count == total:
                    return name, f"{word}{count}"
                return (f"{name}.{names}" if total <= 4 else f"rows({name}, {count})"), ""
        name = self.names.variable(data.var) + (f"@{data.offset}" if data.offset else "")
        return (f"elements({name}, {count})" if access.single else f"rows({name}, {count})"), ""

    def _index(self, access: Transfer, word: str, size: int) -> str | None:
        """Return an access as an element of an argument; None if its address is not a sum of whole elements."""
        memory, known = access.memory, None
        flat = memory.variable < 0 and not memory.shared and memory.model == codes.ADDRTYPE_FLAT
        if flat and isinstance(memory.operand, General):
            return None
        if memory.model == codes.ADDRTYPE_BTI and isinstance(memory.operand, Immediate):
            known = self.names.surfaces.get(memory.operand.bits)
        if known is None and not flat:
            known = PointerArgument(self._base(memory))
        if access.scale != 1 or not (access.offset is None or isinstance(access.offset, Immediate)):
            return None
        control = ExecControl(1, 0, no_mask=True) if access.single else access.control
        parts: list[str] = []
        number = _to_signed(access.offset) if isinstance(access.offset, Immediate) else 0
        offset = f"{known.name}_offset" if known is not None else ""
        for term, factor in _terms(access.address, 1):
            if isinstance(term, Immediate):
                number += _to_signed(term) * factor
                continue
            text = self.printer.value(term, control)
            pointer = self._pointer(term) if flat and known is None and factor == 1 else None
            if factor == 1 and offset and text.text == offset:
                offset = ""
            elif pointer is not None:
                known = pointer
            elif factor % size:
                if (
                    self.plain
                    or size % factor
                    or (factor << self.alignment.of(term, recent=not access.control.no_mask)) % size
                ):
                    return None
                parts.append(f"{text.within(8)} / {size // factor}")
            else:
                parts.append(
                    text.text
                    if factor == size and text.rank >= 7
                    else text.within(9) + (f" * {factor // size}" if factor != size else "")
                )
        if known is None or number % size:
            return None
        if number or not parts:
            parts.append(str(number // size))
        index = self.printer.by_global_ids(" + ".join(parts).replace("+ -", "- "))
        same = known.element == word or (known.element, word) in _ALIKE
        return f"{known.name}[{index}]" if same else f"(({word} *){known.name})[{index}]"

    def _pointer(self, term: Expr) -> PointerArgument | None:
        """Return the argument whose address a variable of the launch holds; None for other values."""
        if not isinstance(term, General) or term.row or term.col or term.modifier is not OperandModifier.NONE:
            return None
        root = self.names.root(term.var, 0)
        return self.names.pointers.get(root[0]) if root is not None and not root[1] else None

    def _address(self, access: Transfer) -> str:
        memory, printer, control = access.memory, self.printer, access.control
        address = printer.value(access.address, ExecControl(1, 0, no_mask=True) if access.single else control)
        text = address.text if access.scale == 1 else f"{access.scale} * {address.within(9)}"
        if access.scale == 1 and address.rank < 7:
            text = f"({text})"
        number = access.offset
        if isinstance(number, Immediate):
            whole = _to_signed(number)
            text += f" {'+' if whole > 0 else '-'} {abs(whole)}" if whole else ""
        elif number is not None:
            text += f" + {printer.value(number, ExecControl(1, 0, no_mask=True)).within(8)}"
        base = self._base(memory)
        return f"{base} + {text}" if base else text

    def _base(self, memory: MemoryPlace) -> str:
        if memory.shared or memory.variable == 0:
            return "slm"
        if memory.variable >= 0:
            return self.names.text.of(self.names.text.surface, "T", memory.variable).removeprefix("%")
        operand_, word = memory.operand, codes.ADDRTYPE_TEXT.get(memory.model, f"model{memory.model}")
        if memory.model == codes.ADDRTYPE_BTI and isinstance(operand_, Immediate):
            known = self.names.surfaces.get(operand_.bits)
            return known.name if known is not None else f"bti({operand_.bits})"
        if memory.model in (codes.ADDRTYPE_FLAT, codes.ADDRTYPE_ARG):
            return (
                self.printer.value(operand_, ExecControl(1, 0, no_mask=True)).text
                if isinstance(operand_, General)
                else ""
            )
        return f"{word}({self.printer.value(operand_, ExecControl(1, 0, no_mask=True)).text})"

    def _call(self, inst: Inst) -> str:
        if not is_expressed(inst):
            return f"asm({self._visa(inst)!r});"
        control = next((v for v in (inst.get("exec"), inst.get("n")) if isinstance(v, ExecControl)), None)
        prefix = self._prefix(control, guard_of(inst)) if control is not None else ""
        control = control or ExecControl(1, 0, no_mask=True)
        results, args = [], []
        for slot in inst.row.slots:
            text = self._operand(inst, slot.name, slot.shape, control) or operand(self.names.text, inst, slot)
            if text is None or text.partition(":")[0] in _NOTHING:
                continue
            if slot.role in (Role.WRITE, Role.READ_WRITE):
                results.append(text)
            if slot.role is not Role.WRITE:
                args.append(text)
        if inst.row.flow is FlowClass.FUNCTION_CALL and isinstance(inst.get("name"), int):
            return f"{prefix}{string_name(self.names.text, inst.get('name'))}();"
        source, state = inst.get("src0"), inst.get("dst")
        surface = self.names.surfaces.get(source.bits) if isinstance(source, Immediate) else None
        if inst.row.has(Trait.MOVES_STATE) and surface is not None and isinstance(state, State) and not state.sampler:
            call = surface.name
        elif inst.row.has(Trait.COPIES) and len(args) == 1:
            call = args[0]
        else:
            call = f"{inst.row.mnemonic}{_words(inst)}({', '.join(args)})"
        left = f"{results[0]} = " if len(results) == 1 else f"({', '.join(results)}) = " if results else ""
        return f"{prefix}{left}{call};"

    def _operand(self, inst: Inst, name: str, shape: Shape, control: ExecControl) -> str | None:
        value = inst.get(name)
        if shape is Shape.VECTOR and value is not None:
            slot = next(s for s in inst.row.slots if s.name == name)
            if slot.role is Role.WRITE and isinstance(value, General | PredicateOperand):
                return self.printer.assign(value, control, "")[0]
            return self.printer.value(value, control).text
        if shape is Shape.RAW and isinstance(value, RawOperand):
            return self.printer.raw(value, None, control).text
        return None

    def _visa(self, inst: Inst) -> str:
        if 0 <= inst.line < len(self.texts):
            return self.texts[inst.line].partition("///")[0].strip()
        return instruction(self.names.text, inst)


def _join_copies(lines: Iterable[Line]) -> Iterator[Line]:
    """Join lines that copy successive elements of one variable to another."""

    def run_of(numbered: tuple[int, Line]) -> object:
        """Return a key that is equal for the lines of one run."""
        number, line = numbered
        copy = _ONE_COPY.fullmatch(line.text)
        if copy is None or copy["to"] == copy["from"]:
            return number
        return copy["to"], copy["from"], int(copy["at"]) - number, int(copy["source"]) - number

    for _, numbered in groupby(enumerate(lines), run_of):
        run = [line for _, line in numbered]
        first, last = _ONE_COPY.fullmatch(run[0].text), _ONE_COPY.fullmatch(run[-1].text)
        if len(run) == 1 or first is None or last is None:
            yield from run
            continue
        elements = f"{first['at']}..{last['at']}] = {first['from']}[{first['source']}..{last['source']}"
        yield Line(f"{first['to']}[{elements}];", tuple(sorted({place for line in run for place in line.places})))


# Pairs of types between which C converts without a change of bits.
_ALIKE: Final = frozenset(
    (one + name, other + name) for name in ("int", "short", "char", "long") for one in ("", "u") for other in ("", "u")
)


def _to_signed(value: Immediate) -> int:
    bits = value.bits & 0xFFFFFFFF
    return bits - (1 << 32) if bits >> 31 else bits


def _terms(value: Expr, factor: int) -> Iterator[tuple[Expr, int]]:
    """Yield the terms of a sum with their factors; conversions between integers are skipped."""
    match value:
        case Calc(meaning, args, type_, False, OperandModifier.NONE) if type_.is_int and type_.size >= 4:
            flat = all(not isinstance(a, int) and a.word == "src" for a in meaning.args)
            if meaning == S0:
                yield from _terms(args[0], factor)
                return
            if flat and meaning.word in ("add", "add3"):
                for one in args:
                    yield from _terms(one, factor)
                return
            if flat and meaning.word == "shl" and isinstance(args[1], Immediate):
                yield from _terms(args[0], factor << (args[1].bits & 31))
                return
            if flat and meaning.word == "mul" and isinstance(args[1], Immediate):
                yield from _terms(args[0], factor * _to_signed(args[1]))
                return
    yield value, factor


def _words(inst: Inst) -> str:
    """Return the modifiers of a mnemonic, except those of caches, which do not change values."""
    cached = any(m.field in ("l1", "l3", "l2") for m in inst.row.modifiers)
    text = modifiers(inst)
    if not cached:
        return text
    kept = [word for word in text.split(".") if word and word not in codes.CACHE]
    return "".join(f".{word}" for word in kept)


def _label_name(label: int) -> str:
    return f"L{label}" if label >= 0 else f"next_round_{~label}"


def _always(condition: BranchTest) -> bool:
    return condition.predicate is None and condition.index is None and not condition.negated


def source_marks(kernel: Kernel) -> list[tuple[str, int] | None]:
    """Return, for each instruction, the source file and line of the marks before it, or None."""
    file, found, out = "", None, []
    for inst in kernel.instructions:
        if inst.row.marks_source is Mark.FILE:
            name = inst.get("name")
            file = kernel.string(name) if isinstance(name, int) else ""
        elif inst.row.marks_source is Mark.LINE:
            number = inst.get("line")
            found = (file, number) if isinstance(number, int) and number else None
        out.append(found)
    return out
