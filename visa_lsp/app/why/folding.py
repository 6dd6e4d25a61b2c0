"""Folds nodes that are alike into the nearest of them: one instruction in many threads, one source line many times.

If too many nodes are left and the text has no source lines, one operation on values of the same types counts as alike.

Invariant: first differences, parties of races and steps of the reference are not folded, nor are fewer than four nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.app.why.dependences import Unwritten
from visa_lsp.program.model import General, RawOperand

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from visa_lsp.app.why.dependences import Dependences
    from visa_lsp.app.why.slices import SliceNode

_MIN_ALIKE: Final = 4  # because the values of two or three, such as those of a vector, differ in meaning


def fold_alike(run: Dependences, nodes: Sequence[SliceNode], most: int) -> Sequence[SliceNode]:
    """Return the nodes in their order, those that are alike as one, with the links between what is left."""
    rivals = {id(rival) for node in nodes for rival in node.rivals}
    own = {id(node) for node in nodes if node.is_first or node.is_diverted or node.of_reference or node.rivals} | rivals
    for likeness in (_likeness, _likeness_of_operation):
        groups: dict[object, list[SliceNode]] = {}
        for node in nodes:
            groups.setdefault(id(node) if id(node) in own else likeness(run, node), []).append(node)
        nodes = _fold(nodes, groups.values())
        if len(nodes) <= most:
            break
    return nodes


def _fold(nodes: Sequence[SliceNode], groups: Collection[list[SliceNode]]) -> list[SliceNode]:
    """Return the nodes with each group of at least four as its first node."""
    kept = {id(node): group[0] if len(group) >= _MIN_ALIKE else node for group in groups for node in group}
    for group in groups:
        first_node = group[0]
        if len(group) >= _MIN_ALIKE:
            first_node.alike = sum(1 + node.alike for node in group) - 1
            first_node.steps = [step for node in group for step in node.steps]
            first_node.causes = [cause for node in group for cause in node.causes]
    folded = [node for node in nodes if kept[id(node)] is node]
    for node in folded:
        node.causes = _without(node, (kept[id(cause)] for cause in node.causes))
    return folded


def _without(node: SliceNode, causes: Iterable[SliceNode]) -> list[SliceNode]:
    """Return each cause once, without the node itself."""
    return list({id(cause): cause for cause in causes if cause is not node}.values())


def _likeness(run: Dependences, node: SliceNode) -> object:
    """Return what nodes that are alike have in common: opcode and source line, else the instruction."""
    nearest = node.steps[0]
    if isinstance(nearest, Unwritten):
        if nearest.kind == "memory":
            return nearest.kind, nearest.where
        code = run.recorder.activations[nearest.owner].code
        return nearest.kind, id(code), nearest.where
    code, pc = run.owner(nearest.row).code, int(run.pcs[nearest.row])
    place = run.source(nearest.row)
    return id(code), (code.kernel.instructions[pc].row.mnemonic, place) if place is not None else pc


def _likeness_of_operation(run: Dependences, node: SliceNode) -> object:
    """Return what nodes that do the same have in common if there are no source lines: opcode and types of operands."""
    nearest = node.steps[0]
    if isinstance(nearest, Unwritten) or run.source(nearest.row) is not None:
        return _likeness(run, node)
    code = run.owner(nearest.row).code
    inst = code.kernel.instructions[int(run.pcs[nearest.row])]
    operands = (value for value in inst.values if isinstance(value, General | RawOperand))
    return id(code), inst.row.mnemonic, tuple(code.kernel.variable_type(value.var) for value in operands)
