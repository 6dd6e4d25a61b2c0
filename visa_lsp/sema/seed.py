"""Forms of the specification's appendix (seed 003) that are written differently in today's text.

Each gets the meaning of its modern form, and a problem that names that form. The problems in ``HARMLESS`` do not
prevent a program.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from visa_lsp.isa.model import Instruction as Row
from visa_lsp.isa.model import Modifier, Shape, Slot
from visa_lsp.sema.model import SymbolKind
from visa_lsp.syntax import tree
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.program.model import Value
    from visa_lsp.sema.binding_pass import BindingPass

MASKS: Final = {"M0": ("M1", False), "NM": ("NoMask", True)}
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def lookup(ctx: BindingPass, node: tree.Instruction) -> tuple[tuple[Row, ...], int]:
    """Return the rows of a mnemonic, ignoring case, and the number of words in it."""
    words = [w.text for w in node.words]
    rows, taken = ctx.table.lookup(words)
    if rows:
        return rows, taken
    lower = [word.lower() for word in words]
    rows, taken = ctx.table.lookup(lower)
    if rows:
        span = Span(node.words[0].span.start, node.words[taken - 1].span.end)
        ctx.problem("seed-mnemonic", span, name=".".join(words[:taken]), modern=".".join(lower[:taken]))
    return rows, taken


def option(ctx: BindingPass, node: tree.Instruction) -> bool:
    """Return whether the line ends with ``{NoMask}``; report any other word in braces."""
    word = node.option
    if word is None:
        return False
    if word.text not in ("NoMask", "NM"):
        ctx.problem("syntax", word.span, message=f"unknown option `{word.text}`; the seed has only `{{NoMask}}`")
        return False
    ctx.problem("seed-option", word.span, exec=node.exec, node=node)
    return True


def element_size(
    ctx: BindingPass, node: tree.Instruction, missing: list[Modifier]
) -> tuple[tree.Instruction, tuple[Modifier, int] | None]:
    """Return the line without its second parenthesis, the element size of ``GATHER (8) (4) ..``, and that size."""
    modifier = next((m for m in missing if m.field == "eltsize"), None)
    operand = node.operands[0] if node.operands else None
    if modifier is None or not isinstance(operand, tree.Literal) or operand.suffix is not None:
        return node, None
    number = ctx.number(operand.value)
    value = None if number is None else modifier.parse(str(number))
    if value is None:
        return node, None
    ctx.problem("seed-elements", operand.span, number=number, node=node)
    return replace(node, operands=node.operands[1:]), (modifier, value)


def sampler_order(ctx: BindingPass, pairs: Sequence[tuple[Slot, tree.Operand]]) -> list[tuple[Slot, tree.Operand]]:
    """Return the pairs with the sampler first, if a line has the seed's order with the surface first."""
    out = list(pairs)
    for index in range(len(out) - 1):
        (slot, a), (next_slot, b) = out[index], out[index + 1]
        if (slot.shape, next_slot.shape) == (Shape.SAMPLER, Shape.SURFACE) and (
            (_kind(ctx, a), _kind(ctx, b)) == (SymbolKind.SURFACE, SymbolKind.SAMPLER)
        ):
            ctx.problem("seed-order", Span(a.span.start, b.span.end), first=a.span, second=b.span)
            out[index], out[index + 1] = (slot, b), (next_slot, a)
    return out


def _kind(ctx: BindingPass, node: tree.Operand) -> SymbolKind | None:
    if not isinstance(node, tree.Ref):
        return None
    symbol = ctx.scope.visible(node.name.text) or ctx.body.predefined.get(node.name.text)
    return symbol.kind if symbol else None


def plane(ctx: BindingPass, row: Row, node: tree.Operand, values: dict[str, Value]) -> None:
    """Bind ``T6[0]``, the plane of a media block in brackets; in other messages such brackets have no meaning."""
    if not isinstance(node, tree.Ref) or node.element is None or node.region is not None:
        return
    if "plane" not in row.index:
        ctx.problem("operand-class", node.span, slot=row.slots[0], got=f"`{node.name.text}` with brackets")
        return
    values["plane"] = ctx.number(node.element, 0, 255, "plane")
    ctx.problem("seed-plane", node.span, name=node.name)


def name(ctx: BindingPass, word: tree.Word) -> None:
    """Report an unquoted name of a body that is not an identifier."""
    if not word.quoted and not _IDENTIFIER.match(word.text):
        ctx.problem("seed-string", word.span, text=word.text)
