"""Binds a document in one pass, in text order, because the real assembler numbers strings and labels in this order.

Directives and declarations are handled here, instructions in ``instructions``. Never fails: mistakes become problems,
and binding continues.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.isa import predefined
from visa_lsp.isa.attributes import KERNEL_ATTRIBUTES, VARIABLE_ATTRIBUTES, AttributeDef, AttributeKind
from visa_lsp.isa.model import FlowClass, Role
from visa_lsp.isa.operands import ALIGN_BY_BYTES, ALIGN_CODE
from visa_lsp.isa.platforms import DEFAULT_PLATFORM, Platform, platform_named
from visa_lsp.isa.table import TABLE, InstructionTable
from visa_lsp.isa.types import BOOL, UD, UW, type_named
from visa_lsp.program.model import Attribute, Input, Inst
from visa_lsp.sema import seed
from visa_lsp.sema.binding_pass import BindingPass
from visa_lsp.sema.instructions import instruction
from visa_lsp.sema.model import (
    VARIABLE_LETTER,
    Body,
    Bound,
    BoundModule,
    Place,
    Problem,
    Reference,
    Symbol,
    SymbolKind,
)  # fmt: skip
from visa_lsp.sema.predefined_symbols import is_taken
from visa_lsp.syntax import tree
from visa_lsp.text import Span, encode_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.syntax.document import Document

_FIRST_ID = {
    SymbolKind.GENERAL: predefined.FIRST_VARIABLE,
    SymbolKind.ADDRESS: predefined.FIRST_ADDRESS,
    SymbolKind.PREDICATE: predefined.FIRST_PREDICATE,
    SymbolKind.SAMPLER: predefined.FIRST_SAMPLER,
    SymbolKind.SURFACE: predefined.FIRST_SURFACE,
}
_UNKNOWN_COUNT = 0xFFFF  # elements of a variable whose declaration lacks their number
_CLASS_CODE = {SymbolKind.GENERAL: 0, SymbolKind.SAMPLER: 1, SymbolKind.SURFACE: 2}
_MAY_BE_EMPTY = frozenset({SymbolKind.ADDRESS, SymbolKind.SAMPLER, SymbolKind.SURFACE})
_STATE_TYPE = {SymbolKind.ADDRESS: UW, SymbolKind.PREDICATE: BOOL, SymbolKind.SAMPLER: UD, SymbolKind.SURFACE: UD}


def bind(document: Document, platform: Platform | None = None, table: InstructionTable = TABLE) -> BoundModule:
    """Bind a whole document. The default register size is that of TGLLP; nothing else depends on the platform."""
    chosen = platform or platform_named(DEFAULT_PLATFORM)
    assert chosen is not None
    binder = Binder(chosen, table)
    # Searched in the whole text, because a misplaced version below other lines still applies to them.
    binder.ctx.newest = is_newest(statement for _, statement in document.statements())
    for line, statement in document.statements():
        binder.statement(line, statement)
    return binder.finish(document.line_count)


def is_newest(statements: Iterable[tree.Statement | None]) -> bool:
    """Return whether a text is of dialect 4.2, by its first version."""
    versions = (s for s in statements if isinstance(s, tree.Version))
    return next((v >= (4, 2) for s in versions if (v := _number_of(s)) is not None), False)


def _number_of(version: tree.Version) -> tuple[int, int] | None:
    return None if version.major is None or version.minor is None else (version.major, version.minor)


class Binder:
    """A pass over the statements."""

    def __init__(self, platform: Platform, table: InstructionTable) -> None:
        self.ctx = BindingPass(platform, table)
        self.version: tuple[int, int] | None = None
        self.version_line = -1
        self.versions = 0
        self.pending: Symbol | None = None  # the subroutine whose label line follows
        self.counts: dict[SymbolKind, int] = {}
        self.named: dict[str, Body] = {}  # the first body of each name

    def statement(self, line: int, node: tree.Statement) -> None:
        """Bind the statement of a line; must be called in text order."""
        ctx = self.ctx
        ctx.line = line
        for error in node.errors:
            ctx.problem("syntax", error.span, message=error.message)
        if node.braces is None:
            self._statement(line, node)
            return
        for span in node.braces.opens:
            self._open(span)
        self._statement(line, node)
        for span in node.braces.closes:
            self._close(span)

    def _open(self, span: Span) -> None:
        self.ctx.ensure_body()
        self.ctx.open_scope(span)

    def _close(self, span: Span) -> None:
        self.ctx.ensure_body()
        if not self.ctx.close_scope():
            self.ctx.problem("unmatched-brace", span)

    def _statement(self, line: int, node: tree.Statement) -> None:
        ctx = self.ctx
        match node:
            case tree.Instruction():
                ctx.ensure_body()
                ctx.body.code.append(instruction(ctx, node))
            case tree.Label():
                ctx.ensure_body()
                self._label(node)
            case tree.Decl():
                ctx.ensure_body()
                self._decl(node)
            case tree.InputDecl():
                ctx.ensure_body()
                self._input(node)
            case tree.KernelAttr():
                ctx.ensure_body()
                self._kernel_attr(node)
            case tree.BodyDirective():
                self._body(node)
            case tree.Scope():
                # The line may continue after the brace.
                span = Span(node.span.start, node.span.start + 1)
                (self._open if node.opens else self._close)(span)
            case tree.Version():
                self.versions += 1
                if self.version is None and (number := _number_of(node)) is not None:
                    self.version, self.version_line = number, line

    def finish(self, line_count: int) -> BoundModule:
        """Return the bound text after the last statement."""
        ctx = self.ctx
        for body in ctx.bodies:
            for scope in body.scopes:
                if scope.last_line < 0:
                    scope.last_line = line_count
                    if scope.place is not None:
                        ctx.problems.append(Problem("unclosed-scope", scope.place, {}))
        for body, following in zip(ctx.bodies, [*ctx.bodies[1:], None], strict=False):
            body.last_line = following.first_line - 1 if following else line_count
            self._close_body(body)
        problems = sorted(ctx.problems, key=lambda p: (p.place.line, p.place.span))
        return BoundModule(
            self.version, self.version_line, tuple(ctx.bodies), tuple(problems), ctx.platform, self.versions
        )

    def _close_body(self, body: Body) -> None:
        for label in body.labels.values():
            if label.place is None:
                for use in label.references:
                    self.ctx.problems.append(Problem("missing-label", use.place, {"name": label.name, "body": body}))
        if not any(body.strings[a.name_index] == "Target" for a, _ in body.attributes):
            # The assembler appends the attribute that it assumed.
            body.strings.append("Target")
            place = body.place or Place(body.first_line, Span(0, 0))
            body.attributes.append((Attribute(len(body.strings) - 1, 1, b"\x01"), place))

    # ---- bodies ----

    def _body(self, node: tree.BodyDirective) -> None:
        ctx = self.ctx
        word = node.directive.text
        if word in (".kernel", ".global_function"):
            name = node.name.text if node.name else ""
            if node.name is not None:
                seed.name(ctx, node.name)
            place = ctx.place(node.name.span if node.name else node.span)
            twin = self.named.get(name)
            if twin is not None and twin.place is not None:
                ctx.problem("redeclared-body", place.span, (twin.place, "first declared here"), name=name)
            previous = None if ctx.bodies else ctx.body
            ctx.open_body(name, is_kernel=word == ".kernel", place=place)
            if name:
                self.named.setdefault(name, ctx.body)
            if previous is not None and self.version_line < 0:
                ctx.body.first_line = 0
            self.counts = {}
            self.pending = None
        elif node.opens_subroutine and node.name is not None:
            ctx.ensure_body()
            label = ctx.label(node.name, Role.OTHER, subroutine=True)
            if label.place is not None:
                ctx.problem("redeclared-label", node.name.span, (label.place, "first defined here"), name=label.name)
            label.kind = SymbolKind.SUBROUTINE
            label.references.pop()
            label.place = ctx.place(node.name.span)
            self.pending = label
            self._record(FlowClass.SUBROUTINE, node, label)

    def _record(self, flow: FlowClass, node: tree.Statement, label: Symbol) -> None:
        """Append a label record to the instruction stream."""
        row = self.ctx.table.by_flow[flow]
        self.ctx.body.code.append(Bound(self.ctx.line, node, row, (), Inst(row, (label.id,), self.ctx.line)))

    def _label(self, node: tree.Label) -> None:
        ctx = self.ctx
        if not node.column0:
            ctx.problem("indented-label", node.span, name=node.name.text)
        if self.pending is not None and self.pending.name == node.name.text:
            # The line that repeats the name of a ``.function`` writes no record.
            self.pending.references.append(Reference(ctx.place(node.name.span), Role.OTHER))
            self.pending = None
            return
        label = ctx.label(node.name, Role.OTHER)
        label.references.pop()
        if label.place is not None:
            ctx.problem(
                "duplicate-label", node.name.span, (label.place, "first defined here"), name=label.name, of=label.kind
            )
        else:
            label.place = ctx.place(node.name.span)
        self._record(FlowClass.LABEL, node, label)

    # ---- declarations ----

    def _decl(self, node: tree.Decl) -> None:
        ctx = self.ctx
        if node.name is None:
            return
        kind = VARIABLE_LETTER.get(node.v_type.text) if node.v_type else None
        if kind is None:
            span = node.v_type.span if node.v_type else node.name.span
            ctx.problem("bad-class", span, got=node.v_type.text if node.v_type else None)
            kind = SymbolKind.GENERAL
        symbol = Symbol(node.name.text, kind, self._next_id(kind), ctx.place(node.name.span), node, scope=ctx.scope)
        self._decl_shape(node, symbol)
        symbol.name_index = ctx.string(symbol.name)
        # The assembler drops the attributes of samplers, including their names.
        if node.attrs and symbol.kind is not SymbolKind.SAMPLER:
            symbol.attributes = tuple([self._attribute(item) for item in node.attrs])
        self._declare(node.name, symbol)

    def _next_id(self, kind: SymbolKind) -> int:
        count = self.counts.get(kind, 0)
        self.counts[kind] = count + 1
        return _FIRST_ID[kind] + count

    def _decl_shape(self, node: tree.Decl, symbol: Symbol) -> None:
        """Bind type, element count, alignment and alias of a declaration."""
        ctx = self.ctx
        assert node.name is not None
        symbol.type = _STATE_TYPE.get(symbol.kind)
        if symbol.kind is SymbolKind.GENERAL:
            if node.type is None:
                ctx.problem("missing-property", node.name.span, name=symbol.name, prop="type")
            else:
                symbol.type = type_named(node.type.text)
                if symbol.type is None:
                    ctx.problem("unknown-type", node.type.span, name=node.type.text)
                    symbol.unsized = True
            symbol.type = symbol.type or UD
        elif node.type is not None:
            ctx.problem("seed-property", node.type.span, of=symbol.kind)
        if node.num_elts is None and symbol.kind in (SymbolKind.SAMPLER, SymbolKind.SURFACE):
            ctx.problem("seed-count", node.name.span, end=node.span.end, of=symbol.kind)
        elif node.num_elts is None:
            ctx.problem("missing-property", node.name.span, name=symbol.name, prop="num_elts")
            symbol.unsized = True
        else:
            # The assembler writes these unchanged, although they are meaningless: states and addresses of no elements,
            # surfaces of fewer.
            least = None if symbol.kind is SymbolKind.SURFACE else 0 if symbol.kind in _MAY_BE_EMPTY else 1
            count = ctx.number(node.num_elts, least, None, "element count")
            if count is not None and count < 1:
                count &= 0xFFFF
                if not count:
                    ctx.problem("no-elements", node.num_elts.span)
            symbol.unsized |= count is None
            symbol.num_elements = count if count is not None else 1
        if symbol.unsized:
            # The maximum, because a variable of unknown size must not look too small elsewhere.
            symbol.num_elements = _UNKNOWN_COUNT
        symbol.align = self._align(node.align)
        if node.alias is not None:
            base = ctx.lookup(node.alias.name, Role.OTHER)
            offset = ctx.number(node.alias.offset)
            if node.alias.seed_form:
                ctx.problem("seed-alias", node.alias.span, alias=node.alias)
            if base is not None and offset is not None:
                symbol.alias = (base, offset)

    def _align(self, node: tree.Word | tree.Expr | None) -> int:
        ctx = self.ctx
        if node is None:
            return 0
        if isinstance(node, tree.Word):
            if node.text not in ALIGN_CODE:
                ctx.problem("bad-alignment", node.span, got=node.text)
            return ALIGN_CODE.get(node.text, 0)
        value = ctx.number(node)
        if value is not None and (value not in ALIGN_BY_BYTES or (value == 1 and not ctx.newest)):
            ctx.problem("bad-alignment", node.span, got=str(value))
        return ALIGN_BY_BYTES.get(value or 1, 0)

    def _declare(self, word: tree.Word, symbol: Symbol) -> None:
        ctx = self.ctx
        earlier = ctx.scope.names.get(word.text)
        if earlier is not None or is_taken(word.text):
            related = [(earlier.place, "first declared here")] if earlier and earlier.place else []
            ctx.problem("redeclared-name", word.span, *related, name=word.text, predefined=earlier is None)
        else:
            ctx.scope.names[word.text] = symbol
        ctx.body.symbols.append(symbol)

    def _attribute(self, item: tree.AttrItem) -> Attribute:
        """Bind an attribute of a variable (docs/format.md, "Attribute records")."""
        ctx = self.ctx
        index = ctx.string(item.name.text)
        definition = VARIABLE_ATTRIBUTES.get(item.name.text)
        if definition is None:
            ctx.problem("unknown-attribute", item.name.span, name=item.name.text, of_variable=True)
            return Attribute(index, 0, b"")
        if definition.kind is AttributeKind.FLAG:
            return Attribute(index, 0, b"")
        value = 0
        if item.value is not None and not isinstance(item.value, tree.Word):
            value = ctx.number(item.value) or 0
        return Attribute(index, 4, (value & 0xFFFFFFFF).to_bytes(4, "little"))

    def _input(self, node: tree.InputDecl) -> None:
        ctx = self.ctx
        if node.name is None:
            return
        symbol = ctx.lookup(node.name, Role.OTHER, expected="declared variable")
        offset = ctx.number(node.offset, -32768, 65535, "input offset") if node.offset is not None else 0
        size = ctx.number(node.size, 0, 65535, "input size") if node.size is not None else None
        if symbol is None or offset is None:
            return
        if symbol.kind not in _CLASS_CODE or symbol.predefined:
            got = "predefined variable" if symbol.predefined else symbol.kind.value
            ctx.problem("bad-input", node.name.span, name=symbol.name, got=got)
            return
        if ctx.newest and node.directive.text == ".parameter":
            ctx.problem("unread-input", node.directive.span)
        kind, reserved = _CLASS_CODE[symbol.kind], False
        if size is None:
            size = symbol.byte_size if symbol.kind is SymbolKind.GENERAL else 4 * symbol.num_elements
        else:
            # Without a size the assembler drops the origin.
            word = node.directive.text
            kind |= _provenance(word) << 3
            numbered = "UNDEFINED" in word and kind >> 3 in predefined.RESERVED_PROVENANCES
            reserved = numbered or word.endswith(predefined.IMPLICIT_INPUTS[4].name)
        entry = Input(kind, symbol.id, (offset + 0x8000 & 0xFFFF) - 0x8000, size, reserved)
        ctx.body.inputs.append(entry)
        symbol.input, symbol.input_place = entry, ctx.place(node.name.span)

    def _kernel_attr(self, node: tree.KernelAttr) -> None:
        ctx = self.ctx
        if node.name is None:
            return
        name = node.name.text
        definition = KERNEL_ATTRIBUTES.get(name)
        if definition is None:
            ctx.problem("unknown-kernel-attribute", node.name.span, name=name, of_variable=False)
        renamed = name == "AsmName" and isinstance(node.value, (tree.Quoted, tree.Word))
        index = ctx.string("OutputAsmPath" if renamed else name)
        attribute = self._attr_value(node, index, definition)
        ctx.body.attributes.append((attribute, ctx.place(node.name.span)))

    def _attr_value(self, node: tree.KernelAttr, index: int, definition: AttributeDef | None) -> Attribute:
        ctx = self.ctx
        value = node.value
        assert node.name is not None
        if value is None:
            return Attribute(index, 0, b"")
        if isinstance(value, (tree.Quoted, tree.Word)):
            text = value.text
            if isinstance(value, tree.Word):
                ctx.problem("seed-string", value.span, text=text)
            if node.name.text == "Target":
                if text not in ("3d", "cm", "cs"):
                    ctx.problem("attribute-value", value.span, name="Target", got=text, known=definition)
                return Attribute(index, 1, b"\x00" if text == "cm" else b"\x01")
            data = encode_text(text)[:255]
            return Attribute(index, len(data), _of_text(data, definition))
        number = ctx.number(value) or 0
        if definition is None:
            number = 0  # because the assembler drops the values of unknown attributes
        elif definition.kind is AttributeKind.FLAG:
            number = 1
        return Attribute(index, 4, (number & 0xFFFFFFFF).to_bytes(4, "little"))


def _of_text(data: bytes, definition: AttributeDef | None) -> bytes:
    """Return the finalizer's bytes of a string, for the kind of its attribute; an integer has 1, 2 or 4 bytes."""
    if definition is None:
        return bytes(len(data))
    if definition.kind is AttributeKind.STRING:
        return data
    if len(data) not in (1, 2, 4):
        return b""
    return (1).to_bytes(len(data), "little") if definition.kind is AttributeKind.FLAG else data


def _provenance(directive: str) -> int:
    """Return the provenance code of an input directive; the finalizer writes 5 for every mnemonic name."""
    if not directive.startswith(".implicit"):
        return 0
    tail = directive.rpartition("_")[2]
    return int(tail) & 31 if tail.isdigit() and "UNDEFINED" in directive else 5
