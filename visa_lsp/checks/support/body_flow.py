"""Conversion of bound text to steps of ``visa_lsp.flow``, also for a body with errors.

A line without a meaning still jumps to the labels and accesses the variables that it names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from visa_lsp.flow.bit_accesses import accesses_of, exec_control_of, touches_indirectly
from visa_lsp.flow.graph import Graph, graph_of
from visa_lsp.flow.steps import Access, Space, Step, variable_key
from visa_lsp.flow.storage import Storage, place
from visa_lsp.flow.usage import Usage, usage_of
from visa_lsp.isa.model import FlowClass, Role
from visa_lsp.isa.types import ExecControl
from visa_lsp.sema.model import Body, Bound, Symbol, SymbolKind
from visa_lsp.syntax import tree

_SPACES = {
    SymbolKind.GENERAL: Space.GENERAL,
    SymbolKind.ADDRESS: Space.ADDRESS,
    SymbolKind.PREDICATE: Space.PREDICATE,
    SymbolKind.SAMPLER: Space.SAMPLER,
    SymbolKind.SURFACE: Space.SURFACE,
}
_OWN = frozenset({SymbolKind.GENERAL, SymbolKind.ADDRESS, SymbolKind.PREDICATE})
_TARGETED = frozenset(f for f in FlowClass if f.branches) | {FlowClass.CALL, FlowClass.KERNEL_CALL}
_ROLES = {Role.READ: (False,), Role.WRITE: (True,), Role.READ_WRITE: (False, True)}


def graph_of_body(body: Body) -> Graph:
    """Return the control-flow graph of a body, without accesses; labels are names, and calls do not end blocks."""
    return graph_of([_step(bound) for bound in body.code], body.name)


def steps_of_body(body: Body, grf_bytes: int | None = None) -> list[Step]:
    """Return the steps of a body with their reads and writes; ``grf_bytes`` overrides the row size of the platform."""
    storage = storage_of_body(body, grf_bytes)
    named = _variables_by_line(body)
    return [_step(bound, storage, named) for bound in body.code]


def storage_of_body(body: Body, grf_bytes: int | None = None) -> Storage:
    """Return the storage of a body's general variables, in rows of its platform or of ``grf_bytes``."""
    declared: dict[int, tuple[int, int]] = {}
    aliases: dict[int, tuple[int, int]] = {}
    for symbol in body.symbols:
        if symbol.kind is SymbolKind.GENERAL:
            declared[symbol.id] = (symbol.byte_size, symbol.type.size if symbol.type else 4)
            if symbol.alias is not None:
                aliases[symbol.id] = (symbol.alias[0].id, symbol.alias[1])
    return place(declared, aliases, grf_bytes or body.platform.grf_bytes)


def key_of(symbol: Symbol) -> int | None:
    """Return the key of the variable at the end of a name's alias chain; None for labels."""
    base = symbol.base()[0]
    space = _SPACES.get(base.kind)
    return None if space is None else variable_key(space, base.id)


def find_used_variables(body: Body, steps: Iterable[Step]) -> Iterator[tuple[Symbol, Usage]]:
    """Yield every accessed variable that only this body can read or write.

    A variable whose address is taken may be anything and is left out.
    """
    families: dict[int, list[Symbol]] = {}
    for symbol in body.symbols:
        if symbol.kind in _OWN:
            key = key_of(symbol)
            if key is not None:
                families.setdefault(key, []).append(symbol)
    usages = usage_of(steps)
    for key, family in families.items():
        base, usage = family[0].base()[0], usages.get(key)
        outside = base.predefined or any(s.input is not None or s.attributes for s in family)
        if usage is not None and not outside and not usage.taken and (usage.read or usage.written):
            yield base, usage


def has_meaning(body: Body) -> bool:
    """Return whether every instruction of a body has a meaning, so that all reads and writes are known."""
    return all(bound.inst is not None for bound in body.code if isinstance(bound.statement, tree.Instruction))


def _variables_by_line(body: Body) -> dict[int, list[tuple[Symbol, Role]]]:
    """Return the variables that lines without a meaning name, by line."""
    lines = {bound.line for bound in body.code if bound.inst is None}
    symbols_by_line: dict[int, list[tuple[Symbol, Role]]] = {}
    if lines:
        for symbol in (*body.symbols, *body.predefined.used):
            for place_, role in symbol.references:
                if place_.line in lines:
                    symbols_by_line.setdefault(place_.line, []).append((symbol, role))
    return symbols_by_line


def _step(
    bound: Bound, storage: Storage | None = None, named: Mapping[int, list[tuple[Symbol, Role]]] | None = None
) -> Step:
    statement, row, inst = bound.statement, bound.row, bound.inst
    flow = row.flow if row is not None else FlowClass.NEXT
    label = None
    if isinstance(statement, tree.Label | tree.BodyDirective) and statement.name is not None:
        label = statement.name.text
    condition = ""
    targets: tuple[str, ...] = ()
    if isinstance(statement, tree.Instruction):
        condition = _condition(statement)
        targets = tuple(_targets(statement)) if flow in _TARGETED else ()
    control = exec_control_of(inst) if inst is not None else ExecControl(1, 0, no_mask=True)
    accesses: tuple[Access, ...] = ()
    reads = writes = False
    if storage is not None:
        if inst is not None:
            accesses = accesses_of(inst, storage)
            reads, writes = touches_indirectly(inst)
        elif named is not None:
            accesses = tuple(_mentions(named.get(bound.line, ()), storage))
    return Step(
        flow, bound.line, label, targets, condition, control.exec_size, control.no_mask, accesses, reads, writes
    )


def _condition(statement: tree.Instruction) -> str:
    predicate = statement.predicate
    if predicate is None:
        return ""
    combine = f".{predicate.combine.text}" if predicate.combine else ""
    return f"{'!' if predicate.inverse else ''}{predicate.name.text}{combine}"


def _targets(statement: tree.Instruction) -> Iterator[str]:
    """Yield the labels that an instruction names."""
    for operand in statement.operands:
        if isinstance(operand, tree.Ref):
            yield operand.name.text
        elif isinstance(operand, tree.Group):
            yield from (item.name.text for item in operand.items if isinstance(item, tree.Ref))


def _mentions(
    symbols: tuple[tuple[Symbol, Role], ...] | list[tuple[Symbol, Role]], storage: Storage
) -> Iterator[Access]:
    """Yield an access of unknown extent for each variable."""
    for symbol, role in symbols:
        key = key_of(symbol)
        if key is None:
            continue
        bits = (1 << storage.room.get(key >> 3, 0)) - 1 if symbol.kind is SymbolKind.GENERAL else (1 << 32) - 1
        for writes in _ROLES.get(role, ()):
            yield Access("", key, writes=writes, possible=bits)
