"""Statements as lines of C, each with the vISA instructions that it stands for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from msgspec.structs import replace

from visa_lsp.app.read.alignment import Alignment
from visa_lsp.app.read.array_copies import read_constants
from visa_lsp.app.read.cells import CALL_REGISTERS, Cells, Spot
from visa_lsp.app.read.characters import write_characters
from visa_lsp.app.read.code_lines import Body, Line, Node, names_of, place_declaration, walk
from visa_lsp.app.read.doubles import write_doubles
from visa_lsp.app.read.expressions import (
    ATOM,
    GLOBAL_ID,
    SUM,
    UNARY,
    Printer,
    Text,
    cast,
    negate,
    reinterpret,
    text_of,
)
from visa_lsp.app.read.fold import SHARED_TAG
from visa_lsp.app.read.local_arrays import drop_tags, owner_of, write_local_arrays
from visa_lsp.app.read.lower import CARRIES
from visa_lsp.app.read.model import (
    Both,
    BranchTest,
    Break,
    Calc,
    Compare,
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
    flat,
    parts,
    single,
)
from visa_lsp.app.read.names import (
    NamedArray,
    PointerArgument,
    ReadingNames,
    c_type,
    fields_text,
    identifier,
    type_named,
)
from visa_lsp.app.read.nests import join_nests
from visa_lsp.app.read.outlines import Outline, move_out
from visa_lsp.app.read.repeated_parts import share_parts
from visa_lsp.app.read.repeats import join_repeats
from visa_lsp.app.read.roles import Namer
from visa_lsp.app.read.shape import opposite
from visa_lsp.app.read.spans import UNIFORM, UNSIGNED, Span, access_control, alike
from visa_lsp.app.read.tidy import Tidier
from visa_lsp.isa import lsc_codes as codes
from visa_lsp.isa import predefined
from visa_lsp.isa import types as ty
from visa_lsp.isa.lane import S0, Effect, Lane, effect_of
from visa_lsp.isa.lane import Expr as LaneExpr
from visa_lsp.isa.message_forms import FenceForm, MemoryUse, SampleForm, TexelForm
from visa_lsp.isa.model import FlowClass, Mark, Role, Shape, Trait
from visa_lsp.isa.operands import OperandModifier
from visa_lsp.isa.table import TABLE
from visa_lsp.isa.types import DataType, ExecControl
from visa_lsp.program.message import BlockMessage, MemoryKind, guard_of, understood_message_of
from visa_lsp.program.model import (
    Address,
    AddressOf,
    Combine,
    General,
    Immediate,
    Indirect,
    Inst,
    Kernel,
    Predicate,
    PredicateOperand,
    RawOperand,
    State,
    Value,
)
from visa_lsp.program.operand_text import instruction, modifiers, operand, string_name
from visa_lsp.sim.effects import EFFECTS
from visa_lsp.sim.values import immediate

_CONTROL: Final = next(one.number for one in predefined.VARIABLES if one.name == "%cr0")
_ROUNDING: Final = 0x30  # bits of the mode
_INDENT: Final = "    "
_DWORD_BITS: Final = 32
_CHANNELS: Final = 4  # of a texel
_ORDERING: Final = ("barrier", "fence")  # effects, by the first word of their names
_FENCES: Final = {row.opcode for row in TABLE.rows if isinstance(row.meaning, FenceForm)}
_MAX_CALLS: Final = 40
_GENERIC: Final = 0x40000000  # in the upper half of generic pointers to shared local memory
_SCRATCH: Final = next(one.number for one in predefined.SURFACES if one.name == "%scratch")
_NOTHING: Final = ("%null", "null")
_POINTER: Final = re.compile(r"(?:(?:global|local|constant) )?((?:struct )?\w+) \*(\w+)")
_FIRST_FIELD: Final = re.compile(r"(\w+)\[0\]\.(?=at\d)")
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_CALLED: Final = re.compile(r"(\w+)\(")
_LETTERS: Final = {"float": "f", "int": "i", "uint": "ui"}  # of functions of images
_ATOMICS: Final = {
    "minsint": "min",
    "maxsint": "max",
    "fmin": "min",
    "fmax": "max",
    "fadd": "add",
    "fsub": "sub",
    "icas": "cmpxchg",
    "fcmpwr": "cmpxchg",
}


def is_expressed(inst: Inst) -> bool:
    """Return whether pseudo-code can show an instruction as a named operation."""
    meaning = inst.row.meaning
    return isinstance(meaning, Lane) or (isinstance(meaning, Effect) and meaning.name in EFFECTS)


def lines_of(kernel: Kernel, reading: Reading, names: ReadingNames, texts: Sequence[str] = ()) -> list[Line]:
    """Return the lines of a body; ``texts`` has the lines of the vISA text, for instructions that are shown unchanged."""
    return list(CodePrinter(kernel, reading, names, texts).body())


class CodePrinter:
    """Prints one body."""

    def __init__(self, kernel: Kernel, reading: Reading, names: ReadingNames, texts: Sequence[str]) -> None:
        self.kernel, self.reading, self.names, self.texts = kernel, reading, names, texts
        self.cells = Cells(kernel, reading, names)
        self.printer = Printer(names, self.cells)
        statements = [statement for routine in reading.routines for statement in flat(routine.body)]
        self.alignment = Alignment(kernel, statements, names.offsets)
        self._transfers = [part for part in single(statements) if isinstance(part, Transfer)]
        self.wide: ExecControl | None = None  # the lanes of a merged statement
        self.calls = 0
        values = (value for inst in kernel.instructions for value in inst.values if isinstance(value, Immediate))
        self._has_tags = any(value.bits == _GENERIC and value.type.is_int for value in values)
        self._local_array = self._find_local_array()
        self._state_variables: set[str] = set()
        self.fields: Mapping[str, str] = {}  # of structures that arguments point to
        self.outlines: list[Outline] = []  # library functions that were inlined
        self._pending: set[tuple[str, bool]] = set()  # memory that lanes have read or written since they last met

    def _find_local_array(self) -> PointerArgument | None:
        """Return a name for shared local memory whose accesses all have elements of one size; None for others."""
        shared = [access for access in self._transfers if _is_slm(access.memory)]
        sizes = {access.size for access in shared}
        if self._has_tags or len(sizes) != 1 or self.names.local_arrays:
            return None
        (size,) = sizes
        types = [self._type_of_data(access) for access in shared]
        fitting = [type_ for type_ in types if type_ is not None and type_.size == size and c_type(type_) in _NUMBERS]
        word = c_type(Counter(fitting).most_common(1)[0][0] if fitting else UNSIGNED[size])
        return PointerArgument(f"slm_{word}", word)

    def _type_of_data(self, access: Transfer) -> DataType | None:
        if access.value is not None:
            return self.printer.type_of(access.value)
        declared = self.kernel.variable(access.data.var)
        return declared.type if declared is not None else None

    def body(self) -> Iterator[Line]:
        """Yield the lines of a body and of its routines."""
        main = self._code(self.reading.routines[0].body)
        arrays = {name for name, declared in self.cells.declarations.items() if declared.is_shared}
        if arrays:
            Meetings(arrays).insert(main)
        self._declare(main)
        Namer(main, [declared.name for declared in self.names.parameters]).run()
        for node in walk(main):
            node.change(lambda text: _FIRST_FIELD.sub(r"\1->", text))
        self._rename_called(main)
        write_characters(main, [declared.text for declared in self.names.parameters])
        kind = "kernel" if self.kernel.is_kernel else "function"
        for name in dict.fromkeys(
            re.findall(r"struct \w+", " ".join(declared.text for declared in self.names.parameters))
        ):
            fields = self.fields.get(name.removeprefix("struct ")) or self._fields(name)
            yield Line(f"{name} {{ {fields} }};" if fields else f"{name};")
        for outline in self.outlines:
            Namer(outline.code, []).run()
        self.outlines += share_parts(main, identifier(self.kernel.name), self._parameter_types())
        called = dict.fromkeys(name for inst in self.kernel.instructions if (name := self._called_by(inst)))
        yield from (Line(f"function void {name}(void);") for name in called if name != self.kernel.name)
        if main and main[-1].text == "return;":
            main.pop()
        yield from (Line(f"{outline.head};") for outline in self.outlines)
        parameters = ", ".join(declared.text for declared in self.names.parameters) or "void"
        yield Line(
            f"{kind} void {identifier(self.kernel.name)}({parameters}) {{"
            + (f"  // {self.names.simd} lanes" if self.names.simd else "")
        )
        yield from print_lines(main)
        yield Line("}")
        for outline in self.outlines:
            yield from print_lines([Node(f"{outline.head} {{", inner=outline.code, tail=Line("}"))], "")

    def _parameter_types(self) -> dict[str, str]:
        """Return the types of the parameters."""
        return {one.name: one.text.rpartition(one.name)[0].strip() for one in self.names.parameters}

    def _rename_called(self, main: list[Node]) -> None:
        """Give other names to parameters that are called as the functions that lines call."""
        called = {name for node in walk(main) for text in node.texts() for name in _CALLED.findall(text)}
        parameters = list(self.names.parameters)
        for index, one in enumerate(parameters):
            if one.name in called:
                rename = partial(re.compile(rf"(?<![\w.>]){one.name}\b(?!\()").sub, f"{one.name}_")
                parameters[index] = replace(one, name=f"{one.name}_", text=rename(one.text))
                for node in walk(main):
                    node.change(rename)
        self.names = replace(self.names, parameters=tuple(parameters))

    def _called_by(self, inst: Inst) -> str:
        """Return the name of the function that an instruction calls; empty for other instructions."""
        name = inst.get("name") if inst.row.flow is FlowClass.FUNCTION_CALL else None
        return identifier(string_name(self.names.text, name)) if isinstance(name, int) else ""

    def _fields(self, name: str) -> str:
        """Return the elements of a structure that is passed by value, as far as the kernel uses them."""
        size = next((size for struct, size in self.names.structures.items() if struct == name), 0)
        if not size:
            return ""
        cells_by_place = sorted(
            {
                (int(hit[1]), cell.size, c_type(cell.type))
                for cell in self.cells.list_bound_cells()
                if (hit := re.search(r"\.at(\d+)$", cell.name)) and cell.structure == name
            }
        )
        return fields_text(cells_by_place, size)

    # ---- declarations

    def _declare(self, main: list[Node]) -> None:
        """Put each declaration where all uses see it."""
        shared = {name for name, declared in self.cells.declarations.items() if declared.is_shared}
        declarations = {name: declared.text for name, declared in self.cells.declarations.items()}
        declarations |= {name: f"bool {name}" for name in self._predicates()}
        filled = self._list_filled()
        pointers = [pointer.name for pointer in (self.names.shared, *self._local_pointers()) if pointer is not None]
        drop_tags(main, pointers)
        is_flat = self.calls or not all(routine.structured for routine in self.reading.routines)
        body = self._body_of(main, declarations)
        if not is_flat:
            Tidier(body, self.cells.declarations, frozenset(filled)).run()
            self.fields = body.fields
        by_rows = write_local_arrays(main, self.names.local_arrays)
        if not is_flat:
            texts = [declared.text for declared in self.names.parameters]
            read_constants(body, [text.split("*")[1] for text in texts if text.startswith("constant ") and "*" in text])
            join_nests(body, partial(opposite, is_float=body.has_floats))
            join_repeats(body)
            self.outlines = move_out(body, identifier(self.kernel.name))
            write_doubles(body)
        for outline in self.outlines:
            inside = names_of(outline.code)
            for name, declaration in declarations.items():  # in order, so that each process prints the same
                if name in inside:
                    place_declaration(outline.code, name, declaration)
        used, top = names_of(main), list[Node]()
        for name in declarations:
            if name in used and name in filled:
                top.append(Node(filled[name]))
            elif name in used and (name in shared or is_flat):
                top.append(Node(f"{declarations[name]};"))
            elif name in used:
                place_declaration(main, name, declarations[name])
        top += [Node(f"void *{name};") for name in sorted(self._state_variables)]
        array = self._local_array
        if array is not None and array.name in names_of(main):
            count = self.names.slm_bytes // type_named(array.element).size
            size = f"  // {count} elements" if count else ""
            top.append(Node(f"local {array.element} *{array.name} = (local {array.element} *)slm;{size}"))
        top += [
            Node(_declare_array(one, is_by_rows=one.pointer.name in by_rows))
            for one in self.names.local_arrays
            if one.pointer.name in names_of(main)
        ]
        main[:0] = top

    def _body_of(self, main: list[Node], declarations: dict[str, str]) -> Body:
        """Return lines with what is known of their names."""
        kinds = {
            name: type_named(declared.type)
            for name, declared in self.cells.declarations.items()
            if not declared.count and declared.type in _NUMBERS
        }
        kinds |= {name: ty.BOOL for name, text in declarations.items() if text.startswith("bool ")}
        parameters = [declared.text for declared in self.names.parameters]
        elements = {hit[2]: hit[1] for text in parameters if (hit := _POINTER.fullmatch(text)) is not None}
        elements |= {pointer.name: pointer.element for pointer in self._local_pointers()}
        scalars = dict(text.split()[::-1] for text in parameters if text.count(" ") == 1)
        names = self.names
        own = frozenset(
            {pointer.name for pointer in self._local_pointers()}
            | {text.split("*")[1] for text in parameters if text.startswith("local ")}
        )
        return Body(
            main, declarations, kinds, elements, scalars, names.group_size, self._surfaces(), names.simd, names.private_bytes,
            locals=own, records=names.records,
        )  # fmt: skip

    def _local_pointers(self) -> tuple[PointerArgument, ...]:
        """Return the names of arrays in shared local memory that are no arguments."""
        own = (self._local_array,) if self._local_array is not None else ()
        return (*own, *(array.pointer for array in self.names.local_arrays))

    def _surfaces(self) -> frozenset[str]:
        """Return the arrays that offsets of 32 bits address."""
        pointers = (*self.names.surfaces.values(), self.names.shared, *self._local_pointers())
        flat_ = [access for access in self._transfers if _is_flat(access.memory)]
        wide = {pointer.name for access in flat_ if (pointer := self._pointer_of(access)) is not None}
        return frozenset(pointer.name for pointer in pointers if pointer is not None) - wide

    def _predicates(self) -> list[str]:
        values = (value for inst in self.kernel.instructions for value in inst.values)
        numbers = {value.var for value in values if isinstance(value, Predicate | PredicateOperand)}
        return [self.printer.bit(number) for number in sorted(numbers)]

    def _list_filled(self) -> dict[str, str]:
        """Return the declarations of variables that a launch fills, without a name."""
        declarations: dict[str, str] = {}
        for name, root, start, lanes in self.cells.list_places():
            payload_byte = self.names.inputs.get(root)
            declared = self.cells.declarations.get(name)
            if root in CALL_REGISTERS and declared is not None:
                declarations[name] = f"{declared.type} *{name} = ({declared.type} *){CALL_REGISTERS[root]};"
                continue
            if payload_byte is None or declared is None:
                continue
            step = f" + {lanes} * lane" if lanes else ""
            place = f"payload + {payload_byte + start}{step}"
            if declared.count:
                declarations.setdefault(name, f"{declared.text}; memcpy({name}, {place}, sizeof {name});")
            else:
                declarations.setdefault(name, f"{declared.text} = *({declared.type} *)({place});")
        return declarations

    # ---- statements

    def _code(self, code: Sequence[Statement]) -> list[Node]:
        out: list[Node] = []
        for statement in code:
            if self._crosses(statement):
                out.append(Node("sync_lanes();"))
            before = set(self._pending)
            out += [node for node in self._statement(statement) if node.text]
            if isinstance(statement, If | Repeat):
                self._pending |= before
            self.alignment.note(statement)
        return out

    def _crosses(self, statement: Statement) -> bool:
        """Return whether lanes must meet before a statement, since one may read in memory what another writes."""
        if isinstance(statement, NamedCall) and effect_of(statement.inst.row.meaning).startswith("barrier"):
            self._pending.clear()
        access = statement.parts[0] if isinstance(statement, Both) else statement
        if not isinstance(access, Transfer) or access.image is not None or access.update:
            return False
        pointer = self._pointer_of(access)
        name = "*" if self._has_tags else pointer.name if pointer is not None else ""
        if not name or not (access.write or self._has_tags or self._is_uniform(access)):
            return False
        crosses = (name, not access.write) in self._pending
        if crosses:
            self._pending.clear()
        self._pending.add((name, access.write))
        return crosses

    def _is_uniform(self, access: Transfer) -> bool:
        """Return whether all lanes access one place."""
        control = access_control(access)
        spans = [
            self.cells.span(term, control)
            for term, _ in _terms(self.printer, access.address, 1)
            if not isinstance(term, Immediate)
        ]
        return control.exec_size > 1 and all(span is not None and span.lanes is None for span in spans)

    def _statement(self, statement: Statement) -> list[Node]:
        if id(statement) in self.cells.dropped:
            return []
        match statement:
            case Set() | Transfer() if id(statement) in self.cells.unrolled:
                return [node for part in self.cells.unroll(statement) for node in self._statement(part)]
            case Set():
                return self._assignment(statement)
            case Transfer():
                return self._access(statement)
            case Both():
                return self._both(statement)
            case NamedCall(inst, places):
                return self._call(inst, places)
            case If():
                return self._if(statement)
            case Repeat():
                return [self._loop(statement)]
            case Break(places):
                return [Node("break;", places)]
            case Continue(places):
                return [Node("continue;", places)]
            case Goto(label, places):
                return [Node(f"goto {_label_name(label)};", places)]
            case JumpLabel(label):
                return [Node(f"{_label_name(label)}:;")]
            case Return(places):
                return [Node("return;", places)]
            case Invoke(routine, condition, places):
                return self._routine(routine, condition, places)
        return []

    def _routine(self, entry: int, condition: BranchTest, places: tuple[int, ...]) -> list[Node]:
        """Return the lines of a routine in place of its call."""
        self.calls += 1
        name = self._routine_label(places) or f"routine_{entry}"
        routine = next((candidate for candidate in self.reading.routines if candidate.entry == entry), None)
        if routine is None or self.calls > _MAX_CALLS:
            return [Node(f"{identifier(name)}();", places)]
        end = f"done_{self.calls}"
        head = "{" if _always(condition) else f"if ({self.printer.condition(condition).text}) {{"
        code = self._code(routine.body)
        if code and code[-1].text == "return;":
            code.pop()
        for node in walk(code):
            if node.text.endswith("return;"):
                node.text = node.text.replace("return;", f"goto {end};")
        if any(f"goto {end};" in node.text for node in walk(code)):
            code.append(Node(f"{end}:;"))
        return [Node(f"{head}  // {name}", places, inner=code, tail=Line("}"))]

    def _routine_label(self, places: tuple[int, ...]) -> str | None:
        label = self.kernel.instructions[places[0]].get("label")
        return self.names.text.labels.get(label) if isinstance(label, int) else None

    def _if(self, statement: If) -> list[Node]:
        then, otherwise = statement.then, statement.otherwise
        if self._is_never(statement):
            return self._code(otherwise)
        test = self.printer.condition(statement.condition)
        if len(then) == 1 and not otherwise and isinstance(then[0], Break | Continue | Goto | Return):
            (inner,) = self._statement(then[0])
            return [Node(f"if ({test.text}) {inner.text}", tuple(sorted({*statement.places, *inner.places})))]
        if otherwise and test.text.startswith("!") and test.rank == UNARY:
            test, then, otherwise = negate(test), otherwise, then
        divisors = self.alignment.enter()
        head = Node(f"if ({test.text}) {{", statement.places, inner=self._code(then), tail=Line("}"))
        self.alignment.leave(divisors)
        if not otherwise:
            return [head]
        head.tail = None
        if len(otherwise) == 1 and isinstance(otherwise[0], If) and not self._is_never(otherwise[0]):
            rest = self._if(otherwise[0])
            if rest[0].inner is not None:
                rest[0].text = f"}} else {rest[0].text}"
                return [head, *rest]
            return [head, Node("} else {", inner=rest, tail=Line("}"))]
        if not (rest := self._code(otherwise)):
            head.tail = Line("}")
        return [head, Node("} else {", inner=rest, tail=Line("}"))] if rest else [head]

    def _is_never(self, statement: If) -> bool:
        """Return whether a condition never holds, and no line jumps behind it."""
        jumps = any(isinstance(inner, JumpLabel) for inner in flat(statement.then))
        return not jumps and self.printer.condition(statement.condition).text == "!true"

    def _loop(self, loop: Repeat) -> Node:
        if loop.first is not None:
            head, places = f"while ({self.printer.condition(loop.first).text}) {{", loop.first_places
        else:
            head, places = ("for (;;) {" if loop.last is None else "do {"), ()
        self.alignment.leave({})
        body, tail = self._code(loop.body), Line("}")
        if loop.last is not None:
            tail = Line(f"}} while ({self.printer.condition(loop.last).text});", loop.last_places)
        return Node(head, places, inner=body, tail=tail, is_loop=loop.last is None or not _never(loop.last))

    # ---- lanes

    def _prefix(
        self, control: ExecControl, guard: Predicate | None, *, all_lanes: bool = False, once: bool = False
    ) -> str:
        """Return the text that restricts an assignment to lanes; empty for all active lanes."""
        control = self.wide or control
        low_lane, high_lane, simd = control.mask_offset, control.mask_offset + control.exec_size - 1, self.names.simd
        is_plain = guard is not None and not guard.inverse and guard.combine is Combine.NONE
        lone = self.printer.single.get(guard.var) if guard is not None and is_plain else None
        if lone is not None and not once and not all_lanes:
            return f"if (lane == {lone}) "
        words, tests = "once " if once else f"each_lane({low_lane}, {high_lane}) " if all_lanes else "", list[str]()
        if not words and control.exec_size > 1 and (low_lane or control.exec_size < simd):
            upper = [] if high_lane + 1 >= simd > 0 else [f"lane <= {high_lane}"]
            lower = [f"{low_lane} <= lane" if upper else f"lane >= {low_lane}"] if low_lane else []
            tests = [*lower, *upper]
        if guard is not None:
            tests.append(self.printer.predicate(guard).within(2 if tests else 0))
        return words + (f"if ({' && '.join(tests)}) " if tests else "")

    def _both(self, statement: Both) -> list[Node]:
        parts = [self._plain(part) for part in statement.parts]
        low = statement.parts[0]
        texts = [[node.text for node in part] for part in parts]
        if any(text != texts[0] for text in texts):
            return [node for part in statement.parts for node in self._statement(part)]
        self.wide = ExecControl(
            low.control.exec_size * len(parts), low.control.mask_offset, no_mask=low.control.no_mask
        )
        nodes = self._statement(low)
        self.wide = None
        for node in nodes:
            node.places = statement.places
        return nodes

    def _plain(self, statement: Set | Transfer) -> list[Node]:
        """Return the lines of a statement without its lanes."""
        simd = self.names.simd
        self.wide = ExecControl(max(simd, statement.control.exec_size), 0, no_mask=statement.control.no_mask)
        nodes = self._statement(statement)
        self.wide = None
        return nodes

    # ---- assignments

    def _assignment(self, statement: Set) -> list[Node]:
        control, target = statement.control, statement.target
        all_lanes = self.cells.is_for_all_lanes(statement)
        if all_lanes and statement.guard is None:
            control = replace(control, mask_offset=0)
        span = self.cells.span(target, alike(control))
        once = span is not None and span.root in self.cells.shared and control.exec_size == 1
        prefix = self._prefix(control, statement.guard, all_lanes=all_lanes, once=once)
        control = control if isinstance(target, PredicateOperand) else alike(control)
        return [self._set(target, statement.value, control, prefix, statement.places, span)]

    def _set(
        self, target: Expr, value: Expr, control: ExecControl, prefix: str, places: tuple[int, ...], span: Span | None
    ) -> Node:
        printer = self.printer
        if isinstance(target, PredicateOperand):
            text = replace(printer.exact(value, control), type=ty.BOOL)
            return Node(f"{prefix}{printer.bit(target.var)} = {text.text};", places, range=text)
        if span is None and isinstance(target, General):
            return Node(f"(void)({printer.exact(value, control).text});", places)
        if span is None:
            place = (
                printer.indirect(target, control) if isinstance(target, Indirect) else printer.exact(target, control)
            )
            return Node(f"{prefix}{place.text} = {printer.exact(value, control).text};", places)
        spot = self.cells.spot(span, writes=True)
        if spot.word:
            whole = printer.exact(value, control)
            inner = whole if whole.promoted.size == span.size else cast(UNSIGNED[span.size], whole)
            return Node(f"{prefix}{spot.text} = as_{spot.word}({inner.text});", places)
        if span.root == _CONTROL:
            is_or = isinstance(value, Calc) and value.meaning.word == "or"
            rounds = any(isinstance(arg, Immediate) and arg.bits & _ROUNDING for arg in parts(value))
            if is_or and not rounds:
                return Node("", places)  # the modes of denormals
            return Node(f"{prefix}set_cr0({printer.exact(value, control).text});", places)
        if not isinstance(value, Compare):
            text = self._store_text(value, span.type, spot, control)
        elif spot.type is ty.BOOL:
            text = printer.exact(value, control)
        else:
            text = text_of(f"-({printer.exact(value, control).text})", UNARY, ty.D)
            if spot.type.is_float:
                text = reinterpret(cast(UNSIGNED[spot.type.size], text), spot.type)
        return Node(f"{prefix}{spot.text} = {text.text};", places, range=text)

    def _is_set_again(self, target: Address, place: int) -> bool:
        """Return whether the next instruction that names an address variable sets all of it to an address."""
        for inst in self.kernel.instructions[place + 1 :]:
            if any(isinstance(value, Address | Indirect) and value.var == target.var for value in inst.values):
                return effect_of(inst.row.meaning) == "addr_add" and isinstance(inst.get("src0"), AddressOf)
        return False

    def _store_text(self, value: Expr, type_: DataType, spot: Spot, control: ExecControl) -> Text:
        """Return a value for a place; C converts between integers."""
        if spot.type.is_int and self.printer.type_of(value).is_int:
            text = self.printer.low(value, min(spot.type.size, type_.size), control)
            return cast(spot.type, text) if text.type.size > spot.type.size and not text.fits(spot.type) else text
        text = self.printer.exact(value, control)
        if spot.type is type_ or text.type is spot.type:
            is_same = text.type.is_float == spot.type.is_float or spot.type.is_int == text.type.is_int
            return text if is_same else cast(spot.type, text)
        is_word = text.promoted.size == type_.size == ty.D.size and text.type.is_int and type_.is_int
        return reinterpret(text if text.type is type_ or is_word else cast(type_, text), spot.type)

    # ---- memory

    def _access(self, access: Transfer) -> list[Node]:
        if access.image is not None:
            return self._image(access, access.image)
        if access.update:
            return [self._atomic(access)]
        count = len(access.elements)
        if self.cells.is_for_all_lanes(access) and access.guard is None:
            access = replace(access, control=replace(access.control, mask_offset=0))
        spans = [] if access.value is not None and access.write else self.cells.spans.data_spans(access)
        shared = bool(spans) and spans[0].root in self.cells.shared
        all_lanes = self.cells.is_for_all_lanes(access)
        prefix = self._prefix(access.control, access.guard, all_lanes=all_lanes)
        if access.single:
            prefix = self._prefix(UNIFORM, None, once=shared and not access.write)
        if count > 1 and spans:
            whole = self._whole(access, spans, prefix)
            if whole is not None:
                return [whole]
            return [
                self._move(access, spans[number], element, prefix) for number, element in enumerate(access.elements)
            ]
        return [self._move(access, spans[0] if spans else None, access.elements[0] if access.elements else 0, prefix)]

    def _whole(self, access: Transfer, spans: list[Span], prefix: str) -> Node | None:
        """Return the load or store of a vector, or of a block of registers; None where elements move one by one."""
        count, size = len(access.elements), access.size
        dense = access.elements == tuple(range(count))
        if not dense or size != access.cell or access.high:
            return None
        spots = [self.cells.spot(span, writes=not access.write) for span in spans]
        names = {spot.of for spot in spots}
        if len(names) != 1 or "" in names:
            return None
        (name,) = names
        declared = self.cells.declarations.get(name)
        if declared is None:
            return None
        texts = [spot.text for spot in spots]
        if declared.count:
            if spans[0].root in self.cells.shared:
                if not access.single:
                    return None
                where = f"(uchar *){name} + {spans[0].starts[0]}" if spans[0].starts[0] else name
            elif texts == [f"{name}[{number}]" for number in range(count)]:
                where = name
            elif all(text.startswith(f"{name}[") for text in texts):
                where = f"&{texts[0]}"
            else:
                return None
            place = self._place(access, spots[0].type, 0)
            pair = (_address_of(place), where) if access.write else (where, _address_of(place))
            return Node(f"{prefix}memcpy({pair[0]}, {pair[1]}, {count * size});", access.places)
        parts = [f"{name}.{'xyzw'[n] if count <= 4 else f's{n:x}'}" for n in range(count)] if count <= 16 else []
        if texts != parts or declared.type != f"{c_type(spots[0].type)}{count}":
            return None
        place = self._place(access, spots[0].type, 0, count)
        if access.write:
            return Node(f"{prefix}{place} = {name};", access.places)
        return Node(f"{prefix}{name} = {place};", access.places)

    def _move(self, access: Transfer, span: Span | None, element: int, prefix: str) -> Node:
        size = access.size
        if access.write:
            control = access.control
            if access.value is not None:
                own = self.printer.type_of(access.value)
                kind = self._element_type(access, own if own.size == size else UNSIGNED[size])
                text = self._store_text(
                    access.value, own if own.size == size else UNSIGNED[size], Spot("", kind, ""), control
                )
            elif span is None:
                kind, text = self._element_type(access, UNSIGNED[size]), Text("0", ATOM, ty.D, 0, 0)
            elif (spot := self.cells.spot(span, writes=True)).word and not access.high and size == access.cell:
                return Node(
                    f"{prefix}{self._place(access, spot.type, element, word=spot.word)} = {spot.text};", access.places
                )
            else:
                spot = self.cells.spot(span)
                kind = self._element_type(access, spot.type if spot.type.size == size else UNSIGNED[size])
                text = text_of(spot.text, ATOM, spot.type)
                if access.high or (kind.is_float != spot.type.is_float and spot.type.size > size):
                    text = reinterpret(text, UNSIGNED[spot.type.size])
                    text = text_of(f"{text.within(UNARY)} >> 16", 6, text.type) if access.high else text
                    text = text if kind.is_int else reinterpret(cast(UNSIGNED[size], text), kind)
                elif kind.is_float or spot.type.is_float:
                    text = reinterpret(text, kind)
                elif text.type.size > size:
                    text = cast(kind, text)
            return Node(f"{prefix}{self._place(access, kind, element)} = {text.text};", access.places)
        if span is None:
            place = self._place(access, self._element_type(access, UNSIGNED[size]), element)
            return Node(f"{prefix}(void){place};", access.places)
        spot = self.cells.spot(span, writes=True)
        if spot.word and not access.high and access.cell == size:
            place = self._place(access, spot.type, element, word=spot.word)
            return Node(f"{prefix}{spot.text} = {place};", access.places)
        if spot.word:
            loaded = self._place(access, UNSIGNED[size], element)
            loaded = f"(uint){loaded} << 16" if access.high else f"({c_type(UNSIGNED[max(4, size)])}){loaded}"
            return Node(f"{prefix}{spot.text} = as_{spot.word}({loaded});", access.places)
        if spot.type.size == size and not access.high:
            kind = self._element_type(access, spot.type)
            place = self._place(access, kind, element)
            if kind.is_float != spot.type.is_float or spot.type is ty.BF:
                kind = spot.type
                place = self._place(access, kind, element)
            text = text_of(place, ATOM, kind)
        else:
            kind = self._element_type(access, UNSIGNED[size])
            text = text_of(self._place(access, kind, element), ATOM, UNSIGNED[size] if kind.is_float else kind)
            if text.type.is_signed:
                text = cast(UNSIGNED[size], text)
            if access.high:
                text = text_of(f"(uint){text.within(UNARY)} << 16", 6, ty.UD)
            if spot.type.is_float:
                text = reinterpret(cast(UNSIGNED[spot.type.size], text), spot.type)
        return Node(f"{prefix}{spot.text} = {text.text};", access.places, range=text)

    def _atomic(self, access: Transfer) -> Node:
        spans = self.cells.spans.data_spans(access)
        real = access.update in ("fadd", "fsub", "fmin", "fmax", "fcmpwr")
        signed = access.update in ("minsint", "maxsint")
        base = {2: (ty.UW, ty.W, ty.HF), 4: (ty.UD, ty.D, ty.F), 8: (ty.UQ, ty.Q, ty.DF)}[access.size]
        kind = base[2 if real else 1 if signed else 0]
        element_type = self._element_type(access, kind)
        strict = real or signed or access.update in ("min", "max")
        kind = element_type if element_type is kind or (not strict and element_type.is_int) else kind
        place = self._place(access, kind, 0)
        address = _address_of(place)
        control = access.control
        word = _ATOMICS.get(access.update, access.update)
        values = [self._into(source, kind, access.size, control) for source in access.sources]
        if access.update == "cmpxchg":
            values.reverse()
        call = f"atomic_{word}({', '.join([address, *values])})"
        alone = control.exec_size == 1 and control.no_mask
        prefix = self._prefix(control, access.guard, once=alone and not spans)
        if alone and spans:
            call = f"one_for_all({call})"
        if not spans:
            return Node(f"{prefix}{call};", access.places)
        spot = self.cells.spot(spans[0], writes=True)
        text = text_of(call, ATOM, kind)
        if spot.type.size > access.size:
            text = cast(UNSIGNED[access.size], reinterpret(text, UNSIGNED[access.size]))
        if spot.word:
            text = text_of(f"as_{spot.word}({text.text})", ATOM, spot.type)
        text = text if spot.word or (spot.type.is_int and text.type.is_int) else reinterpret(text, spot.type)
        return Node(f"{prefix}{spot.text} = {text.text};", access.places)

    def _image(self, access: Transfer, inst: Inst) -> list[Node]:
        """Return the lines of a load or store of texels, or of a sample, as calls."""
        prefix = self._prefix(access.control, access.guard, all_lanes=self.cells.is_for_all_lanes(access))
        spans = self.cells.spans.data_spans(access)
        spots = [self.cells.spot(span, writes=not access.write) for span in spans]
        word, name = c_type(spots[0].type) if spots else "float", identifier(inst.row.mnemonic)
        is_texel = isinstance(inst.row.meaning, TexelForm)
        if is_texel:
            name = "write_texel" if access.write else "read_texel"
        args = self._states(access, inst) + [
            self.printer.exact(source, access.control).text for source in access.sources
        ]
        texts, owner = [spot.text for spot in spots], spots[0].of if spots else ""
        declared = self.cells.declarations.get(owner)
        is_whole = texts == [f"{owner}.{part}" for part in "xyzw"]
        is_vector = is_whole and declared is not None and declared.type == f"{word}{_CHANNELS}"
        if access.write:
            value = owner if is_vector else f"({word}{_CHANNELS}){{{', '.join(texts)}}}"
            call = f"write_image{_LETTERS[word]}" if is_texel and word in _LETTERS else f"{name}_{word}"
            return [Node(f"{prefix}{call}({', '.join([*args, value])});", access.places)]
        is_finest = isinstance(inst.row.meaning, SampleForm) and inst.row.meaning.finest
        call = f"read_image{_LETTERS[word]}" if is_finest and word in _LETTERS else f"{name}_{word}"
        call += f"({', '.join(args)})"
        parts = [f"{text} = {call}.{part}" for text, part in zip(texts, "xyzw", strict=False)] or [f"(void){call}"]
        lines = [f"{owner} = {call}"] if is_vector else parts
        return [Node(f"{prefix}{line};", access.places) for line in lines]

    def _states(self, access: Transfer, inst: Inst) -> list[str]:
        """Return the image of a message, and its sampler if it has one."""
        texts_by_kind = {
            state.sampler: self._state(setter.get("src0"), sampler=state.sampler)
            for setter in access.states
            if isinstance(state := setter.get("dst"), State)
        }
        texts = []
        for sampler, field in ((False, "surface"), (True, "sampler")):
            if not inst.row.has_field(field):
                continue
            value = inst.get(field)
            if sampler not in texts_by_kind and isinstance(value, int):
                texts_by_kind[sampler] = self._state_variable(value, sampler=sampler)
            texts.append(texts_by_kind.get(sampler) or self._state(value, sampler=sampler))
        return texts

    def _state_variable(self, number: int, *, sampler: bool) -> str:
        """Return the name of a surface or sampler variable, and note that it needs a declaration."""
        names = self.names.text.sampler if sampler else self.names.text.surface
        name = self.names.text.of(names, "S" if sampler else "T", number).removeprefix("%")
        self._state_variables.add(name)
        return name

    def _state(self, value: Value, *, sampler: bool) -> str:
        """Return the name of the argument that a number or a handle of a surface or sampler stands for."""
        if isinstance(value, Immediate):
            pointer, handle = None if sampler else self.names.surfaces.get(value.bits), str(value.bits)
        else:
            pointer = self._pointer(value)
            handle = self.printer.exact(value, UNIFORM).text if value is not None else "0"
            whole = self.cells.declarations.get(handle)
            if whole is not None and whole.count:
                handle = f"(ulong)(uint){handle}[1] << 32 | (uint){handle}[0]"
        return pointer.name if pointer is not None else f"{'sampler' if sampler else 'image'}_at({handle})"

    def _into(self, source: Expr, kind: DataType, size: int, control: ExecControl) -> str:
        own = self.printer.type_of(source)
        if own.size == size and own.is_float is kind.is_float:
            if kind.is_int:
                return self.printer.low(source, size, control).text
            return self.printer.exact(source, control).text
        text = self.printer.exact(source, control)
        if own.size > size:
            text = cast(UNSIGNED[size], reinterpret(text, UNSIGNED[own.size]))
        return reinterpret(text, kind).text if kind.is_float else text.text

    def _element_type(self, access: Transfer, wanted: DataType) -> DataType:
        """Return the element type of the argument that an access belongs to, if it has the same size; else ``wanted``."""
        pointer = self._pointer_of(access)
        if pointer is None:
            return wanted
        base = re.fullmatch(r"([a-z]+?)(\d*)", pointer.element)
        if base is None:
            return wanted
        type_ = type_named(base[1]) if base[1] in _NUMBERS else None
        return type_ if type_ is not None and type_.size == access.size else wanted

    def _pointer_of(self, access: Transfer) -> PointerArgument | None:
        memory, is_slm = access.memory, _is_slm(access.memory)
        if (
            memory.model == codes.ADDRTYPE_BTI
            and isinstance(memory.operand, Immediate)
            and not is_slm
            and memory.variable < 0
        ):
            return self.names.surfaces.get(memory.operand.bits)
        for term, factor in (
            _terms(self.printer, access.address, 1, tagged=is_slm) if is_slm or _is_flat(memory) else ()
        ):
            if factor == 1 and (pointer := self._pointer(term)) is not None:
                return pointer
        if not is_slm or self._has_tags:
            return None
        terms, number = _split_address(self.printer, access)
        array = owner_of(
            self.names.local_arrays, number, has_terms=bool(terms), is_falling=any(factor < 0 for _, factor in terms)
        )
        return array.pointer if array is not None else self.names.shared or self._local_array

    def _place(self, access: Transfer, kind: DataType, element: int, count: int = 1, word: str = "") -> str:
        """Return the place of an element of an access, as an lvalue of a type."""
        scalar, word = c_type(kind), word or c_type(kind) + (str(count) if count > 1 else "")
        pointer = self._pointer_of(access)
        if pointer is not None and scalar != word and pointer.element in _NUMBERS:
            own = type_named(pointer.element)
            element_text = self._index(access, pointer.element, kind.size, element) if own.size == kind.size else None
            if element_text is not None:
                return f"*({word} *)&{element_text}"
        indexed = self._index(access, word, kind.size * count, element)
        if indexed is not None:
            return indexed
        address = self._address(access, element)
        return f"*({word} *)({address})"

    def _index(self, access: Transfer, word: str, size: int, element: int) -> str | None:
        """Return an access as an element of an argument; None if its address is not a sum of whole elements."""
        pointer = self._pointer_of(access)
        if pointer is None or access.scale != 1 or not (access.offset is None or isinstance(access.offset, Immediate)):
            return None
        control, summands = access_control(access), list[str]()
        terms, number = _split_address(self.printer, access, element)
        if _is_slm(access.memory) or _is_flat(access.memory):
            bases = [term for term in terms if term[1] == 1 and self._pointer(term[0]) is not None]
            terms = [term for term in terms if not bases or term is not bases[0]]
        for term, factor in terms:
            text = self._index_term(term, control)
            if text.text == "0":
                continue
            if factor % size:
                divisor = self.alignment.of(term, recent=not access.control.no_mask)
                if size % factor or (factor << divisor) % size:
                    return None
                summands.append(f"{text.within(8)} / {size // factor}")
            else:
                plain = text.text if text.rank >= SUM else text.within(SUM)
                summands.append(plain if factor == size else _times(text.within(8), factor // size))
        array = next((one for one in self.names.local_arrays if one.pointer is pointer), None)
        number -= array.start if array is not None else 0
        if number % size:
            return None
        if number or not summands:
            summands.append(str(number // size))
        summands.sort(key=lambda part: part.startswith("-"))
        index = GLOBAL_ID.sub(r"global_id(\g<axis>)", _added(summands))
        same = pointer.element == word
        return f"{pointer.name}[{index}]" if same else f"(({word} *){pointer.name})[{index}]"

    def _index_term(self, term: Expr, control: ExecControl) -> Text:
        type_ = self.printer.type_of(term)
        if type_.size == ty.D.size and type_.is_int:
            return self.printer.low(term, 4, control)
        return self.printer.exact(term, control)

    def _pointer(self, term: Expr) -> PointerArgument | None:
        """Return the argument whose address a variable of the launch holds; None for other values."""
        if not isinstance(term, General) or term.modifier is not OperandModifier.NONE:
            return None
        span = self.cells.span(term, UNIFORM)
        cell = self.cells.cell_of(span) if span is not None else None
        if span is None or cell is None or not cell.bound:
            return None  # a pointer that the kernel moves is a number
        return self.names.pointers.get((span.root, span.starts[0]))

    def _address(self, access: Transfer, element: int) -> str:
        memory, printer = access.memory, self.printer
        control = access_control(access)
        if _is_slm(memory):
            return self._slm(access, element)
        is_whole = _is_flat(memory) or (memory.variable < 0 and memory.model == codes.ADDRTYPE_ARG)
        number = element * access.size
        if isinstance(access.offset, Immediate):
            number += _signed(access.offset.bits)
        address = printer.exact(access.address, control)
        if access.scale != 1:
            address = text_of(f"{address.within(8)} * {access.scale}", 8, address.promoted)
        if access.offset is not None and not isinstance(access.offset, Immediate):
            other = printer.exact(access.offset, UNIFORM)
            address = text_of(f"{address.within(SUM)} + {other.within(8)}", SUM, ty.UD)
        if number:
            address = text_of(
                f"{address.within(SUM)} {'+' if number > 0 else '-'} {abs(number)}", SUM, address.promoted
            )
        if is_whole:
            return address.text if printer.type_of(access.address).size == ty.Q.size else f"(ulong)({address.text})"
        if address.text == "0":
            return self._base(memory)
        wraps = address.rank <= SUM and address.promoted is ty.D
        return f"{self._base(memory)} + {f'(uint)({address.text})' if wraps else address.within(8)}"

    def _slm(self, access: Transfer, element: int) -> str:
        """Return an address in shared local memory; generic pointers have a tag in it."""
        terms, number = _split_address(self.printer, access, element)
        summands: list[str] = []
        for term, factor in terms:
            text = self._index_term(term, access_control(access))
            summands.append(text.within(SUM) if factor == 1 else f"{text.within(8)} * {factor}")
        if isinstance(access.offset, General):
            summands.append(self.printer.exact(access.offset, UNIFORM).within(SUM))
        if number or not summands:
            summands.append(str(number))
        if self._has_tags and summands != [str(number)]:
            return f"slm + (({_added(summands)}) & 0xfffffff)"
        return f"slm + {_added(summands)}" if summands != ["0"] else "slm"

    def _base(self, memory: MemoryPlace) -> str:
        if memory.shared or memory.variable == 0:
            return "slm"
        if memory.variable == _SCRATCH:
            return "scratch"
        if memory.variable >= 0:
            return f"surface({self.names.text.of(self.names.text.surface, 'T', memory.variable).removeprefix('%')})"
        operand_, word = memory.operand, codes.ADDRTYPE_TEXT.get(memory.model, f"model{memory.model}")
        if memory.model == codes.ADDRTYPE_BTI and isinstance(operand_, Immediate):
            pointer = self.names.surfaces.get(operand_.bits)
            return f"(uchar *){pointer.name}" if pointer is not None else f"bti({operand_.bits})"
        return f"{word}({self.printer.exact(operand_, UNIFORM).text})"

    # ---- named operations

    def _call(self, inst: Inst, places: tuple[int, ...]) -> list[Node]:
        if not is_expressed(inst):
            return [Node(f"asm_visa({_quote(self._visa(inst))});", places)]
        block = understood_message_of(inst)
        if isinstance(block, BlockMessage) and (operand_text := self._block(inst, block, places)) is not None:
            return [operand_text]
        control = next((v for v in (inst.get("exec"), inst.get("n")) if isinstance(v, ExecControl)), None)
        prefix = self._prefix(control, guard_of(inst)) if control is not None else ""
        control = control or UNIFORM
        results, args = [], []
        for slot in inst.row.slots:
            text = self._operand(inst, slot.name, slot.shape, slot.role, control) or operand(
                self.names.text, inst, slot
            )
            if text is None or text.partition(":")[0] in _NOTHING or (text == "0" and slot.shape is Shape.RAW):
                continue
            if slot.role in (Role.WRITE, Role.READ_WRITE):
                results.append(text)
            if slot.role is not Role.WRITE:
                args.append(text)
        name, _, carry_bit = CARRIES.get(effect_of(inst.row.meaning), ("", S0, 0))
        if name and len(results) == 2 and len(args) == 2:
            word, sign = ("borrow", "-") if carry_bit > _DWORD_BITS else ("carry", "+")
            augend, right = (f"(uint)({arg})" for arg in args)
            text = f"{{ uint bit_ = {word}({augend}, {right}); {results[0]} = {augend} {sign} {right}; {results[1]} = bit_; }}"
            return [Node(f"{prefix}{text}", places)]
        if effect_of(inst.row.meaning) == "addr_add" and isinstance(target := inst.get("dst"), Address):
            base, offset = inst.get("src0"), inst.get("src1")
            if isinstance(base, AddressOf) and (
                isinstance(offset, Immediate) or self.cells.span(offset, control) is not None
            ):
                self.printer.addresses[target.var] = (
                    base,
                    self.printer.exact(offset, UNIFORM if control.exec_size == 1 else control),
                )
                return []
        target = inst.get("dst")
        if isinstance(target, Address) and inst.row.has(Trait.COPIES) and self._is_set_again(target, places[-1]):
            return []
        if effect_of(inst.row.meaning) == "faddr" and isinstance(value := inst.get("dst"), General):
            span = self.cells.span(value, UNIFORM)
            if span is not None:
                spot = self.cells.spot(span, writes=True)
                symbol = f"symbol({_quote(string_name(self.names.text, inst.get('name')))})"
                return [Node(f"{prefix}{spot.text} = {f'as_{spot.word}({symbol})' if spot.word else symbol};", places)]
        if name := self._called_by(inst):
            return [Node(f"{prefix}{name}();", places)]
        source = inst.get("src0")
        if inst.row.has(Trait.MOVES_STATE) and isinstance(state := inst.get("dst"), State) and not state.offset:
            handle = self._state(source, sampler=state.sampler)
            return [Node(f"{prefix}{self._state_variable(state.var, sampler=state.sampler)} = {handle};", places)]
        if inst.row.has(Trait.COPIES) and len(args) == 1:
            call = f"ballot({args[0]})" if isinstance(source, PredicateOperand) else args[0]
        elif (
            effect_of(inst.row.meaning) == "setp"
            and isinstance(source, Immediate)
            and isinstance(target := inst.get("dst"), PredicateOperand)
        ):
            bits = source.bits & (1 << control.exec_size) - 1
            if bits.bit_count() == 1:
                self.printer.single[target.var] = bits.bit_length() - 1 + control.mask_offset
                return []
            own_lane = f"(lane - {control.mask_offset})" if control.mask_offset else "lane"
            self.printer.single.pop(target.var, None)
            call = f"{args[0]} >> {own_lane} & 1"
        elif effect_of(inst.row.meaning) == "setp":
            own = self.cells.span(source, control) if isinstance(source, General) else None
            call = f"{args[0]} & 1" if own is not None and own.lanes is not None else f"{args[0]} >> lane & 1"
        elif (effect := effect_of(inst.row.meaning).partition("_")[0]) in _ORDERING:
            return [Node(f"{effect}();", places)]
        elif effect == "nop" and inst.row.opcode in _FENCES:  # of a sub-group, whose lanes run together
            return [Node("sub_group_barrier();", places)]
        else:
            call = f"{identifier(inst.row.mnemonic + _words(inst))}({', '.join([*results[1:], *args])})"
        left = f"{results[0]} = " if results else ""
        return [Node(f"{prefix}{left}{call};", places)]

    def _block(self, inst: Inst, block: BlockMessage, places: tuple[int, ...]) -> Node | None:
        """Return the call for a rectangle of an image; None for a message of another form."""
        if block.is_matrix or block.blocks != 1 or block.transposed or block.interleaved or block.memory.index:
            return None
        corner = [self.printer.exact(inst.get(name), UNIFORM) for name in block.corner]
        x, y = (
            f"{coordinate.within(SUM)} + {moved}" if moved else coordinate.text
            for coordinate, moved in zip(corner, block.offset, strict=True)
        )
        (image,) = (
            [self._state_variable(block.memory.number, sampler=False)]
            if block.memory.kind is MemoryKind.VARIABLE
            else [self._state(block.memory.operand, sampler=False)]
        )
        data, shape = self.printer.raw(block.data), f"{x}, {y}, {block.width}, {block.height}, {block.size}"
        data = f"(uchar *){data}" if " + " in data else data
        prefix = self._prefix(UNIFORM, block.guard, once=True)
        if block.use is MemoryUse.WRITE:
            return Node(f"{prefix}write_block_2d({image}, {shape}, {data});", places)
        edge = "_clamped" if block.edge else ""
        return Node(f"{prefix}read_block_2d{edge}({data}, {image}, {shape});", places)

    def _operand(self, inst: Inst, name: str, shape: Shape, role: Role, control: ExecControl) -> str | None:
        value = inst.get(name)
        if shape is Shape.VECTOR and value is not None:
            if role is Role.WRITE and isinstance(value, PredicateOperand):
                return self.names.text.of(self.names.text.predicate, "P", value.var)
            span = self.cells.span(value, UNIFORM if control.exec_size == 1 else control)
            if role is Role.WRITE and span is not None:
                return self.cells.spot(span, writes=True).text
            return self.printer.exact(value, control).text
        if shape is Shape.RAW and isinstance(value, RawOperand):
            return self.printer.raw(value)
        return None

    def _visa(self, inst: Inst) -> str:
        if 0 <= inst.line < len(self.texts):
            return self.texts[inst.line].partition("///")[0].strip()
        return instruction(self.names.text, inst)


_NUMBERS: Final = frozenset(
    {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "double"}
)


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def print_lines(code: Sequence[Node], indent: str = _INDENT) -> Iterator[Line]:
    """Yield lines and those inside of them, with their indents."""
    for node in code:
        label = node.text.endswith(":;")
        yield Line((indent[len(_INDENT) :] if label else indent) + node.text, node.places)
        if node.inner is not None:
            yield from print_lines(node.inner, indent + _INDENT)
        if node.tail is not None:
            yield Line(indent + node.tail.text, node.tail.places)


class Meetings:
    """Inserts `sync_lanes()` where lanes read what others have written, or write what others read."""

    def __init__(self, arrays: set[str]) -> None:
        self._access = re.compile(
            rf"\b({'|'.join(map(re.escape, sorted(arrays)))})\b(?:\[([^\]]*)\])?( = |\+\+| [-+*/&|^]= )?"
        )
        self.written: set[str] = set()
        self.crossed: set[str] = set()

    def insert(self, code: list[Node]) -> None:
        """Insert the calls into a list and the lists inside of it."""
        index = -1
        while index + 1 < len(code):
            index += 1
            node = code[index]
            if node.is_loop:
                for child in walk(node.inner or []):
                    self._note("".join(child.texts()))
            if node.text.startswith(("each_lane(", "once ")) or "one_for_all(" in node.text:
                self._forget()
            else:
                reads, writes = self._uses(node.text)
                if (reads & self.written or writes & self.crossed) and not node.continues:
                    code.insert(index, Node("sync_lanes();", meets_for=reads & self.written | writes & self.crossed))
                    index += 1
                    self._forget()
                self._note(node.text)
            if node.inner is not None:
                kept = set(self.written), set(self.crossed)
                self.insert(node.inner)
                self.written |= kept[0]
                self.crossed |= kept[1]

    def _forget(self) -> None:
        self.written.clear()
        self.crossed.clear()

    def _note(self, text: str) -> None:
        reads, writes = self._uses(text)
        self.crossed |= reads
        self.written |= writes

    def _uses(self, text: str) -> tuple[set[str], set[str]]:
        """Return the arrays that a line reads across lanes, and those that it writes."""
        reads, writes = set(), set()
        for name, index, sets in self._access.findall(text):
            if sets:
                writes.add(name)
            elif not re.fullmatch(r"lane(?: - \d+)?", index):
                reads.add(name)
        return reads, writes


def _signed(number: int) -> int:
    """Return the low 32 bits of a number as a signed one."""
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)


def _to_number(value: Immediate) -> int:
    number = int(immediate(value, 1)[0])
    return number - (1 << 32) if value.type is ty.UD and number >> 31 else number


def _address_of(place: str) -> str:
    """Return the address of an lvalue."""
    return place[1:] if place.startswith("*(") else f"&{place}"


def _split_address(printer: Printer, access: Transfer, element: int = 0) -> tuple[list[tuple[Expr, int]], int]:
    """Return the terms of the address of an element with their factors, and the sum of its numbers.

    A number in shared local memory, which may be negative, has no bits that mark it as one.
    """
    is_slm = _is_slm(access.memory)
    every = list(_terms(printer, access.address, access.scale, tagged=is_slm))
    number = sum(_to_number(term) * factor for term, factor in every if isinstance(term, Immediate))
    number += element * access.size + (_signed(access.offset.bits) if isinstance(access.offset, Immediate) else 0)
    if is_slm:
        number = (number + (SHARED_TAG >> 1)) % SHARED_TAG - (SHARED_TAG >> 1)
    elif not _is_flat(access.memory):
        number = _signed(number)
    return [(term, factor) for term, factor in every if not isinstance(term, Immediate)], number


def _added(summands: Sequence[str]) -> str:
    """Return a sum, some of whose summands begin with a sign."""
    return " + ".join(summands).replace("+ -", "- ")


def _declare_array(array: NamedArray, *, is_by_rows: bool) -> str:
    """Return the declaration of a pointer to an array in shared local memory, or to its rows."""
    name, element = array.pointer.name, array.pointer.element
    place = f"(slm + {array.start})" if array.start else "slm"
    sizes = "".join(f"[{length}]" for length in array.shape)
    if not is_by_rows:
        return f"local {element} *{name} = (local {element} *){place};  // {sizes or 'one element'}"
    row = "".join(f"[{length}]" for length in array.shape[1:])
    return f"local {element} (*{name}){row} = (local {element} (*){row}){place};  // {sizes}"


def _is_slm(memory: MemoryPlace) -> bool:
    return memory.shared or memory.variable == 0


def _is_flat(memory: MemoryPlace) -> bool:
    return not memory.shared and memory.variable < 0 and memory.model == codes.ADDRTYPE_FLAT


def _terms(printer: Printer, value: Expr, factor: int, *, tagged: bool = False) -> Iterator[tuple[Expr, int]]:
    """Yield the terms of a sum with their factors; conversions between integers are skipped."""
    if tagged and isinstance(value, Calc) and value.meaning.word == "or" and not value.saturate:
        kept = [arm for arm in value.meaning.args if not _is_tag(arm, value.args)]
        if len(kept) == 1 and not isinstance(kept[0], int):
            number = kept[0].args[0] if kept[0].word == "src" else None
            rest = value.args[number] if isinstance(number, int) else replace(value, meaning=kept[0])
            yield from _terms(printer, rest, factor, tagged=True)
            return
        args = tuple(
            replace(arg, bits=arg.bits % SHARED_TAG) if isinstance(arg, Immediate) else arg for arg in value.args
        )
        if len(args) == 2 and isinstance(args[1], Immediate) and not args[1].bits & _mask_of(args[0]):
            yield from _terms(printer, args[0], factor, tagged=True)
            yield args[1], factor
            return
        yield replace(value, args=args), factor
        return
    match value:
        case Calc(meaning, args, type_, False, OperandModifier.NONE) if type_.is_int and type_.size >= 4:
            flat = all(not isinstance(a, int) and a.word == "src" for a in meaning.args)
            if any(printer.type_of(arg).is_float for arg in args):
                yield value, factor
                return
            if meaning == S0:
                yield from _terms(printer, args[0], factor, tagged=tagged)
                return
            if flat and meaning.word in ("add", "add3"):
                for summand in args:
                    yield from _terms(printer, summand, factor, tagged=tagged)
                return
            if flat and meaning.word == "shl" and isinstance(args[1], Immediate):
                yield from _terms(printer, args[0], factor << (args[1].bits & 31), tagged=tagged)
                return
            if flat and meaning.word == "mul" and isinstance(args[1], Immediate):
                yield from _terms(printer, args[0], factor * _to_number(args[1]), tagged=tagged)
                return
    yield value, factor


def _mask_of(value: Expr) -> int:
    """Return the bits of 32 that a value may have."""
    if isinstance(value, Calc) and value.meaning.word == "and" and len(value.args) == 2:
        mask = value.args[1]
        if isinstance(mask, Immediate) and not value.saturate:
            return mask.bits % (1 << 32)
    return (1 << 32) - 1


def _times(text: str, factor: int) -> str:
    """Return a product with a number other than 1; a negative one begins with its sign."""
    return f"-{text}" if factor == -1 else f"{'-' if factor < 0 else ''}{text} * {abs(factor)}"


def _is_tag(arm: LaneExpr | int, args: Sequence[Expr]) -> bool:
    number = arm.args[0] if not isinstance(arm, int) and arm.word == "src" else None
    value = args[number] if isinstance(number, int) else None
    return isinstance(value, Immediate) and not value.bits % SHARED_TAG


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


def _never(condition: BranchTest) -> bool:
    return condition.predicate is None and condition.index is None and condition.negated


def _always(condition: BranchTest) -> bool:
    return condition.predicate is None and condition.index is None and not condition.negated


def source_marks(kernel: Kernel) -> list[tuple[str, int] | None]:
    """Return, for each instruction, the source file and line of the marks before it, or None."""
    file, mark, out = "", None, []
    for inst in kernel.instructions:
        if inst.row.marks_source is Mark.FILE:
            name = inst.get("name")
            file = kernel.string(name) if isinstance(name, int) else ""
        elif inst.row.marks_source is Mark.LINE:
            number = inst.get("line")
            mark = (file, number) if isinstance(number, int) and number else None
        out.append(mark)
    return out
