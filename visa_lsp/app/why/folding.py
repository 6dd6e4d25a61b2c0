"""Folds nodes that are alike into the nearest of them: one instruction in many threads, one source line many times.

Invariant: first differences, parties of races and steps of the reference are not folded, nor are fewer than four nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.app.why.dependences import Unwritten

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from visa_lsp.app.why.dependences import Dependences
    from visa_lsp.app.why.slices import SliceNode

_MIN_ALIKE: Final = 4  # because the values of two or three, such as those of a vector, differ in meaning


def fold_alike(run: Dependences, nodes: Sequence[SliceNode]) -> list[SliceNode]:
    """Return the nodes in their order, those that are alike as one, with the links between what is left."""
    rivals = {id(rival) for node in nodes for rival in node.rivals}
    groups: dict[object, list[SliceNode]] = {}
    for node in nodes:
        is_own = node.is_first or node.is_diverted or node.of_reference or node.rivals or id(node) in rivals
        groups.setdefault(id(node) if is_own else _likeness(run, node), []).append(node)
    kept = {id(node): group[0] if len(group) >= _MIN_ALIKE else node for group in groups.values() for node in group}
    for group in groups.values():
        first = group[0]
        if len(group) >= _MIN_ALIKE:
            first.alike = len(group) - 1
            first.steps = [step for node in group for step in node.steps]
            first.causes = [cause for node in group for cause in node.causes]
    found = [node for node in nodes if kept[id(node)] is node]
    for node in found:
        node.causes = _without(node, (kept[id(cause)] for cause in node.causes))
    return found


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
