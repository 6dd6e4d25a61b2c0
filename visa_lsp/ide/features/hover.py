"""Hover: the explanation of the token under the cursor, in Markdown.

Pure: returns a span and a text for an analysis and an offset. The prose is in ``ide.prose``: ``opcode``, ``symbol``,
``region`` and ``literal``; this module chooses one by the kind of token.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from visa_lsp.ide.features.live_ranges import live_words
from visa_lsp.ide.features.source_lines import SourceLine, source_at
from visa_lsp.ide.index.focus import MAX_BOUND_LINES, focus_at
from visa_lsp.ide.index.token_at import TokenContext, spot_at
from visa_lsp.ide.index.tokens import TokenKind
from visa_lsp.ide.prose.literal import describe_literal, describe_number
from visa_lsp.ide.prose.markdown import code, strong
from visa_lsp.ide.prose.message import describe_message
from visa_lsp.ide.prose.opcode import describe_exec_size, describe_mask, describe_modifier, describe_rows, describe_slot
from visa_lsp.ide.prose.region import access_of, describe_access, describe_region, exec_size_of
from visa_lsp.ide.prose.symbol import LETTERS, describe_body, describe_symbol
from visa_lsp.isa.attributes import KERNEL_ATTRIBUTES, VARIABLE_ATTRIBUTES
from visa_lsp.isa.glossary import term_called
from visa_lsp.isa.operands import ALIGN_CODE, align_bytes
from visa_lsp.isa.predefined import IMPLICIT_INPUTS
from visa_lsp.isa.table import TABLE
from visa_lsp.isa.types import type_named
from visa_lsp.program.model import Immediate
from visa_lsp.sema.model import SymbolKind
from visa_lsp.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.isa.model import Slot
    from visa_lsp.text import Span

DIRECTIVES: Final = {
    ".version": ("`.version MAJOR.MINOR`", "The version of the language of the text; it selects the dialect."),
    ".kernel": ('`.kernel "NAME"`', "Begins a kernel, which extends to the next `.kernel` or `.global_function`."),
    ".global_function": ('`.global_function "NAME"`', "Begins a function that `fcall` calls, with its own declarations; arguments are in `%arg`, the result in `%retval`."),
    tree.SUBROUTINE: ('`.function "NAME"`', "Begins a subroutine of the kernel, which `call` calls; it shares the kernel's declarations. The label line of the same name follows."),
    ".funcdecl": ('`.funcdecl "NAME"`', "Names a function of the program. It adds nothing to the object."),
    ".decl": ("`.decl NAME v_type=G type=T num_elts=N [align=A] [alias=<BASE, BYTES>] [attrs={..}]`", "Declares a variable. `v_type` is its class: G general, A address, P predicate, S sampler, T surface. Only general variables have a type."),
    ".input": ("`.input NAME offset=BYTES [size=BYTES]`", "Places a variable in the thread's payload, which is loaded when the kernel starts. Offsets count from the first register, r0."),
    ".parameter": ("`.parameter NAME size=BYTES`", "An input without an offset; the object holds offset 0."),
    ".kernel_attr": ("`.kernel_attr NAME[=VALUE]`", "An attribute of the kernel or function."),
}  # fmt: skip
_CLASSES: Final = {
    letter: f"{kind.value}\n\n{term.doc}"
    for kind, letter in LETTERS.items()
    if (term := term_called(kind.value)) is not None
}
_SOURCE_MODIFIERS: Final = {
    "-": "negates the source",
    "abs": "takes the source's absolute value",
    "-abs": "negates the absolute value of the source",
    "~": "complements the bits of the source",
    "not": "complements the bits of the source",
}
_COMBINE: Final = {
    "any": "all lanes take part if the predicate is true in any lane",
    "all": "all lanes take part if the predicate is true in all lanes",
}
_MODELS: Final = {
    "flat": "stateless: the address is a pointer",
    "bti": "the surface is named by its binding table index",
    "bss": "bindless surface state, at an offset in the surface state heap",
    "ss": "surface state at an offset in the scratch surface state heap",
    "surf": "the surface is a surface variable",
    "arg": "the surface is an argument",
}


@dataclass(frozen=True, slots=True)
class HoverResult:
    """The Markdown to show, and the span that it explains."""

    span: Span
    markdown: str
    source: SourceLine | None = None  # the source line of a source mark, for callers that can show it


def hover(
    analysis: Analysis,
    offset: int,
    arguments: Callable[[str], Mapping[str, str]] | None = None,
    register: Callable[[str, str], str] | None = None,
) -> HoverResult | None:
    """Return the explanation of the token at an offset, or None.

    ``arguments`` returns the contents of a kernel's inputs by variable, as Markdown; ``register`` returns the register
    of a variable in machine code, empty if unknown.
    """
    whole, analysis = analysis, focus_at(analysis, offset, uses=True, family=True, most=MAX_BOUND_LINES)
    spot = spot_at(analysis, offset)
    if spot is None:
        return None
    markdown = _explain(analysis, spot, arguments)
    if markdown is None:
        return None
    if isinstance(spot.statement, tree.Decl):
        life = _life(whole, spot)
        markdown += f"  \n{life}" if life else ""
    if spot.token.kind is TokenKind.VARIABLE and spot.body is not None and register is not None:
        place = register(spot.body.name, spot.token.text)
        markdown += f"  \nin the machine code: {place}" if place else ""
    marks = spot.bound is not None and spot.bound.row is not None and spot.bound.row.marks_source is not None
    source = source_at(analysis.document, spot.line) if marks else None
    if source is not None:
        markdown += f"\n\nLine {source.line} of {code(source.file)}"
    return HoverResult(spot.span, markdown, source)


def _explain(
    analysis: Analysis, spot: TokenContext, arguments: Callable[[str], Mapping[str, str]] | None
) -> str | None:
    token = spot.token
    match token.kind:
        case TokenKind.MNEMONIC:
            return _mnemonic(spot)
        case TokenKind.MODIFIER:
            return _modifier(spot)
        case TokenKind.MASK:
            return describe_mask(token.text)
        case TokenKind.EXEC_SIZE:
            mask = (
                spot.statement.exec.mask
                if isinstance(spot.statement, tree.Instruction) and spot.statement.exec
                else None
            )
            return describe_exec_size(exec_size_of(spot.statement), mask.text if mask else None)
        case TokenKind.COMBINE:
            return _describe_word(token.text, _COMBINE)
        case TokenKind.VARIABLE | TokenKind.LABEL:
            return _name(analysis, spot, arguments)
        case TokenKind.FUNCTION:
            return describe_body(analysis, token.text) or f"{strong(token.text)} — a function or symbol of another text"
        case TokenKind.REGION | TokenKind.ORIGIN:
            return _region(spot)
        case TokenKind.NUMBER | TokenKind.BYTE_OFFSET:
            return _number(spot)
        case _:
            return _word(spot)


def _word(spot: TokenContext) -> str | None:
    """Return the explanation of a word from the small tables."""
    token = spot.token
    match token.kind:
        case TokenKind.DIRECTIVE:
            return _directive(token.text)
        case TokenKind.TYPE:
            return _type(token.text)
        case TokenKind.DATA_SHAPE:
            return (
                _type(token.text)
                or f"{strong(token.text)} — width and number of the data elements, or the size of the address"
            )
        case TokenKind.CLASS:
            return _describe_word(token.text, _CLASSES)
        case TokenKind.ALIGNMENT:
            return _alignment(spot)
        case TokenKind.ATTRIBUTE | TokenKind.ATTRIBUTE_VALUE:
            return _attribute(spot)
        case TokenKind.SOURCE_MODIFIER:
            return _describe_word(token.text.strip("() "), _SOURCE_MODIFIERS)
        case TokenKind.ADDRESS_MODEL:
            return _describe_word(token.text, _MODELS)
        case _:
            slot = slot_of(spot)
            return describe_slot(slot) if slot else None


def _describe_word(word: str, table: dict[str, str]) -> str | None:
    return f"**{word}** — {table[word]}" if word in table else None


def slot_of(spot: TokenContext) -> Slot | None:
    """Return the slot of the row that the token's operand fills."""
    if spot.bound is None or spot.token.operand is None:
        return None
    return next((b.slot for b in spot.bound.operands if b.node is spot.token.operand), None)


def _mnemonic(spot: TokenContext) -> str | None:
    rows = TABLE.by_mnemonic.get(spot.token.text)
    if not rows:
        return None
    text = describe_rows(rows, spot.bound.row if spot.bound else None)
    inst = spot.bound.inst if spot.bound is not None else None
    message = describe_message(inst, spot.body.platform.grf_bytes) if inst is not None and spot.body is not None else ""
    return f"{text}\n\n{message}" if message else text


def _modifier(spot: TokenContext) -> str | None:
    row = spot.bound.row if spot.bound else None
    if row is None:
        return None
    modifier = next((m for m in row.modifiers if m.parse(spot.token.text) is not None), None)
    return (
        f"{strong('.' + spot.token.text)} — modifier of `{row.mnemonic}`\n\n{describe_modifier(modifier)}"
        if modifier
        else None
    )


def _name(analysis: Analysis, spot: TokenContext, arguments: Callable[[str], Mapping[str, str]] | None) -> str | None:
    symbol = spot.symbol
    if symbol is None or spot.body is None:
        return None
    base = symbol.base()[0]
    content = arguments(spot.body.name).get(base.name, "") if arguments is not None and base.input is not None else ""
    text = describe_symbol(analysis, spot.body, symbol, content)
    slot = slot_of(spot)
    if slot is None:
        return text
    about = f"operand {describe_slot(slot)}"
    access = _access(spot)
    return f"{text}\n\n---\n\n{about}" + (f"\n\n{access}" if access else "")


def _life(whole: Analysis, spot: TokenContext) -> str:
    """Return the live range of a general variable, for its declaration; empty if it is not computed."""
    symbol = spot.symbol
    if symbol is None or spot.body is None or symbol.kind is not SymbolKind.GENERAL or symbol.predefined:
        return ""
    return live_words(whole, spot.body.name, symbol.base()[0].name)


def _access(spot: TokenContext) -> str | None:
    operand = spot.token.operand
    if not isinstance(operand, tree.Ref) or spot.body is None:
        return None
    symbol = spot.body.find(operand.name.text, spot.line)
    access = access_of(operand, slot_of(spot), symbol, exec_size_of(spot.statement), spot.body.platform.grf_bytes)
    return describe_access(access, symbol, spot.body) if access and symbol else None


def _region(spot: TokenContext) -> str | None:
    operand = spot.token.operand
    region = operand.region if isinstance(operand, (tree.Ref, tree.IndirectRef)) else None
    parts = []
    if (
        spot.token.kind is TokenKind.ORIGIN
        and isinstance(operand, tree.Ref)
        and operand.indices
        and len(operand.indices) == 2
    ):
        grf = spot.body.platform.grf_bytes if spot.body else 32
        parts.append(f"origin `(row, column)`: rows are GRF registers of {grf} bytes, columns are elements")
    if region is not None:
        parts.append(describe_region(region))
    access = _access(spot)
    if access:
        parts.append(access)
    return "\n\n".join(parts) or None


def _number(spot: TokenContext) -> str | None:
    node = spot.token.node
    slot = slot_of(spot)
    if isinstance(node, tree.Literal):
        bound = next((b for b in spot.bound.operands if b.node is node), None) if spot.bound else None
        value = bound.value if bound and isinstance(bound.value, Immediate) else None
        text = describe_literal(node, value)
    elif node is not None and not isinstance(node, tree.RegionText):
        text = describe_number(node)
        if text and spot.token.kind is TokenKind.BYTE_OFFSET:
            text += ", a byte offset"
    else:
        text = None
    return f"{text}\n\noperand {describe_slot(slot)}" if text and slot else text


def _directive(word: str) -> str | None:
    if word.startswith(".implicit"):
        inputs = "\n".join(
            f"- `.implicit_UNDEFINED_{number}`: {kind.name}. {kind.doc}" for number, kind in IMPLICIT_INPUTS.items()
        )
        form = "`.implicit_NAME VARIABLE offset=BYTES size=BYTES`\n\nAn input that the runtime fills, not the caller."
        return f"{form}\n\n{inputs}"
    if word not in DIRECTIVES:
        return None
    form, doc = DIRECTIVES[word]
    return f"{form}\n\n{doc}"


def _type(word: str) -> str | None:
    type_ = type_named(word)
    if type_ is None:
        return None
    size = f"{type_.size} {'byte' if type_.size == 1 else 'bytes'}"
    return f"**{type_.name}** — {type_.doc} ({type_.kind.value}, {size}, code {type_.code})"


def _alignment(spot: TokenContext) -> str | None:
    code = ALIGN_CODE.get(spot.token.text)
    if code is None or spot.body is None:
        return None
    step = align_bytes(code, spot.body.platform.grf_bytes)
    return f"**{spot.token.text}** — the variable starts at a multiple of {step} {'byte' if step == 1 else 'bytes'} (code {code})"


def _attribute(spot: TokenContext) -> str | None:
    name = spot.token.text
    table = KERNEL_ATTRIBUTES
    if isinstance(spot.statement, tree.KernelAttr):
        name = spot.statement.name.text if spot.statement.name else name
    elif isinstance(spot.statement, tree.Decl):
        table = VARIABLE_ATTRIBUTES
        if spot.token.kind is TokenKind.ATTRIBUTE_VALUE:
            before = [i.name for i in spot.statement.attrs if i.name.span.end <= spot.token.span.start]
            name = before[-1].text if before else name
    attribute = table.get(name)
    if attribute is None:
        return None
    values = f"; values {', '.join(f'`{v}`' for v in attribute.values)}" if attribute.values else ""
    of = "variable" if attribute.of_variable else "kernel"
    return f"**{attribute.name}** — attribute of a {of}, takes {attribute.kind.value}{values}\n\n{attribute.doc}"
