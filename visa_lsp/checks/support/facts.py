"""Facts about a body that several rules need: symbols by id, dispatch width, type and exec size of operands.

Pure look-ups in bound text, without findings. An uncertain fact is None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from visa_lsp.isa.types import DataType, ExecControl
from visa_lsp.program.model import General, Immediate, Indirect, Value
from visa_lsp.sema.model import Body, Bound, BoundOperand, Place, Symbol, SymbolKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.isa.model import Slot


class BodyFacts(Struct, frozen=True):
    """Facts of one body."""

    variables: dict[int, Symbol]
    addresses: dict[int, Symbol]
    predicates: dict[int, Symbol]
    simd_size: int | None
    by_line: dict[int, Bound]

    @staticmethod
    def of(body: Body) -> BodyFacts:
        """Collect the facts of a body."""
        by_id: dict[SymbolKind, dict[int, Symbol]] = {kind: {} for kind in SymbolKind}
        for symbol in (*body.predefined.used, *body.symbols):
            by_id[symbol.kind][symbol.id] = symbol
        return BodyFacts(
            by_id[SymbolKind.GENERAL],
            by_id[SymbolKind.ADDRESS],
            by_id[SymbolKind.PREDICATE],
            int_attribute(body, "SimdSize"),
            {b.line: b for b in body.code},
        )

    def type_of(self, value: Value) -> DataType | None:
        """Return the data type of a vector operand."""
        match value:
            case Immediate() | Indirect():
                return value.type
            case General():
                symbol = self.variables.get(value.var)
                return symbol.type if symbol else None
        return None


def int_attribute(body: Body, name: str) -> int | None:
    """Return the value of an integer attribute of a body."""
    for attribute, _ in body.attributes:
        if body.strings[attribute.name_index] == name:
            return int.from_bytes(attribute.data, "little")
    return None


def exec_control(bound: Bound) -> ExecControl | None:
    """Return the execution size and mask of an instruction; None if it lacks a meaning or one of them."""
    if bound.inst is None:
        return None
    for value in bound.inst.values:
        if isinstance(value, ExecControl):
            return value
    return None


def operand_place(bound: Bound, operand: BoundOperand) -> Place:
    """Return the place of an operand."""
    return Place(bound.line, operand.node.span)


def slot_words(slot: Slot) -> str:
    """Return words for an operand: ``src0``, with its purpose if that is clearer."""
    doc = slot.doc.split(";")[0].split(":")[0]
    plain = not doc or doc.startswith("source ") or doc in ("result", "surface variable", "sampler variable")
    return f"`{slot.name}`" if plain else f"`{slot.name}` ({doc})"


def words(items: Iterable[object], last: str = "or") -> str:
    """Return a list as words: ``1, 2 or 4``."""
    texts = [str(i) for i in items]
    return f" {last} ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)
