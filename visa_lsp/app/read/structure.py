"""Converts blocks and edges to loops and conditions.

The algorithm is that of N. Ramsey, "Beyond Relooper: Recursive Translation of Unstructured Control Flow to Structured
Control Flow" (ICFP 2022). It walks the dominator tree: a block with several forward edges to it follows the code of its
immediate dominator, and the back edges to a header define its loop. Two things differ because C has no labelled
``break``: the target of a loop exit is placed after the loop, and a jump that is neither ``break``, ``continue`` nor
the next statement is a ``goto`` to a later label. A body whose loops have several entries keeps its blocks in order,
with a ``goto`` for each jump.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec.structs import replace

from visa_lsp.app.read.lower import statements_of
from visa_lsp.app.read.model import (
    BranchTest,
    Break,
    Continue,
    Goto,
    If,
    Invoke,
    JumpLabel,
    Reading,
    Repeat,
    Return,
    Routine,
    Statement,
    flat,
)
from visa_lsp.flow.bit_accesses import exec_control_of
from visa_lsp.flow.graph import Block, Graph, dominator_tree, graph_of
from visa_lsp.flow.program_steps import steps_of
from visa_lsp.flow.solve import closure
from visa_lsp.flow.structured_words import Structure, structure_of
from visa_lsp.isa.model import FlowClass
from visa_lsp.isa.types import ExecControl
from visa_lsp.program.message import guard_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from visa_lsp.program.model import Inst, Kernel

    Code = tuple[Statement, ...]

_MAX_COPIED = 6  # statements of code that is written at each of its jumps
_FEW_MEETINGS = 2  # a short block before one meeting reads well behind a loop of one round
_WHOLE = ExecControl(1, 0, no_mask=True)


def reading_of(kernel: Kernel) -> Reading:
    """Return the pseudo-code of a body, without any folding."""
    if not kernel.instructions:
        return Reading((Routine(0, None, ()),))
    graph = graph_of(steps_of(kernel), kernel.name)
    partners = structure_of(step.flow for step in graph.steps)
    blocks = [_block(kernel, graph, block, partners) for block in graph.blocks]
    return Reading(tuple([_routine(graph, blocks, entry) for entry in graph.entries]))


@dataclass(frozen=True, slots=True)
class _Way:
    """A way out of a block: its condition (None for all remaining lanes) and its target (None leaves the routine)."""

    condition: BranchTest | None
    target: int | None
    place: int


@dataclass(frozen=True, slots=True)
class _BlockCode:
    """A block: its statements, and its ways out in the order of their tests; the last has no condition."""

    code: Code
    ways: tuple[_Way, ...]


def _block(kernel: Kernel, graph: Graph, block: Block, partners: Structure) -> _BlockCode:
    code: list[Statement] = []
    places = range(block.first, block.last + 1)
    for place in places:
        inst = kernel.instructions[place]
        flow = inst.row.flow
        label = inst.get("label")
        if flow in (FlowClass.CALL, FlowClass.KERNEL_CALL) and isinstance(label, int):
            routine = graph.at_label.get(label)
            if routine is not None:
                code.append(Invoke(routine, _condition(inst), (place,)))
                continue
        if flow in (FlowClass.NEXT, FlowClass.CALL, FlowClass.KERNEL_CALL, FlowClass.FUNCTION_CALL):
            code += statements_of(kernel, inst, place)
    return _BlockCode(tuple(code), tuple(_ways(kernel, graph, block, partners)))


def _ways(kernel: Kernel, graph: Graph, block: Block, partners: Structure) -> Iterator[_Way]:
    place = block.last
    inst = kernel.instructions[place]
    flow = inst.row.flow
    nested = partners.targets(place, flow)
    following = block.number + 1 if block.number + 1 < len(graph.blocks) else None
    condition = _condition(inst)
    always = condition.predicate is None
    if flow.returns:
        yield _Way(None if always else condition, None, place)
        if always:
            return
    elif flow is FlowClass.SWITCH:
        labels = inst.get("labels")
        targets = (
            [graph.at_label.get(target_label) for target_label in labels if isinstance(target_label, int)]
            if isinstance(labels, tuple)
            else []
        )
        for case, target in enumerate(targets):
            last = case == len(targets) - 1
            yield _Way(
                None if last else BranchTest(None, _WHOLE, whole=True, index=inst.get("index"), case=case),
                target,
                place,
            )
        return
    elif flow.branches:
        label = inst.get("label")
        target = graph.at_label.get(label) if isinstance(label, int) else None
        yield _Way(None if always else condition, target, place)
        if always:
            return
    elif nested:
        # At an `if` the lanes without the predicate jump; elsewhere the lanes with it.
        jumping = replace(condition, negated=True) if flow is FlowClass.IF else condition
        target = graph.block_of[nested[0]] if nested[0] < len(graph.steps) else None
        if flow is FlowClass.ELSE or (always and flow is not FlowClass.IF):
            yield _Way(None, target, place)
            return
        if not always:
            yield _Way(jumping, target, place)
    yield _Way(None, following, place)


def _condition(inst: Inst) -> BranchTest:
    return BranchTest(guard_of(inst), exec_control_of(inst), whole=inst.row.flow is FlowClass.JUMP)


def _routine(graph: Graph, blocks: Sequence[_BlockCode], entry: int) -> Routine:
    ahead = [sorted({w.target for w in body.ways if w.target is not None}) for body in blocks]
    inside = closure([entry], lambda block: ahead[block])
    first_step = graph.steps[graph.blocks[entry].first]
    label = first_step.label if isinstance(first_step.label, int) and first_step.flow is FlowClass.SUBROUTINE else None
    structurer = _Structurer(blocks, entry, sorted(inside), ahead, graph.order)
    if structurer.reducible:
        with suppress(RecursionError):  # hundreds of nested conditions are as hard to read as jumps
            return Routine(entry, label, _enclose_jumps(structurer.code()))
    return Routine(entry, label, tuple(_flat(blocks, sorted(inside), entry)), structured=False)


def _flat(blocks: Sequence[_BlockCode], order: Sequence[int], entry: int) -> Iterator[Statement]:
    """Yield the blocks in order, with a jump for each way that does not lead to the next block."""
    if order[0] != entry:
        yield Goto(entry, ())
    for number, following in zip(order, (*order[1:], None), strict=True):
        yield JumpLabel(number)
        yield from blocks[number].code
        for way in blocks[number].ways:
            jump: Code = (Return((way.place,)),) if way.target is None else (Goto(way.target, (way.place,)),)
            if way.condition is not None:
                yield If(way.condition, jump, (), (way.place,))
            elif way.target is None or way.target != following:
                yield from jump


@dataclass
class _Where:
    """The context of a jump: the next block, the innermost loop, and the block after the loop."""

    next: int | None
    loop: int | None = None
    behind: int | None = None


@dataclass
class _Structurer:
    """Walks the dominator tree of one routine."""

    blocks: Sequence[_BlockCode]
    entry: int
    inside: Sequence[int]
    ahead: Sequence[Sequence[int]]
    preferred: Sequence[int]
    reducible: bool = True
    rank: dict[int, int] = field(default_factory=dict)
    above: Sequence[int] = ()  # immediate dominators
    loops: dict[int, set[int]] = field(default_factory=dict)  # header -> the blocks of the loop
    children: dict[int, list[int]] = field(default_factory=dict)  # blocks placed after the code of another
    behind: dict[int, list[int]] = field(default_factory=dict)  # blocks placed after a loop
    labelled: set[int] = field(default_factory=set)  # targets of ``goto``
    weights: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        reachable = set(self.inside)
        by_flow = [b for b in self.preferred if b in reachable]
        before: list[list[int]] = [[] for _ in self.ahead]
        for block in self.inside:
            for target in self.ahead[block]:
                before[target].append(block)
        self.above = dominator_tree(len(before), [self.entry], self.ahead, before)
        # In the order of the text, because lanes then join as they do on the machine.
        if not self._rank_blocks(self.inside) and not self._rank_blocks(by_flow):
            self.reducible = False
            return
        for block in self.inside:
            tails = [source for source in before[block] if self.rank[source] >= self.rank[block]]
            if tails:
                self.loops[block] = _loop(block, tails, before)
        self._place()

    def _dominates(self, dominator: int, other: int) -> bool:
        while other not in (dominator, self.entry):
            other = self.above[other]
        return dominator == other

    def _rank_blocks(self, order: Sequence[int]) -> bool:
        """Rank the blocks; return whether the target of each back edge dominates its source."""
        self.rank = {block: rank for rank, block in enumerate(order)}
        if self.rank[self.entry] != 0:
            return False
        return all(
            self.rank[target] > self.rank[block] or self._dominates(target, block)
            for block in order
            for target in self.ahead[block]
        )

    def _place(self) -> None:
        """Find the place of each block that is not part of a branch of another one."""
        edges: dict[int, int] = {}
        for block in self.inside:
            for way in self.blocks[block].ways:
                if way.target is not None and self.rank[way.target] > self.rank[block]:
                    edges[way.target] = edges.get(way.target, 0) + 1
        for block in self.inside:
            if block == self.entry:
                continue
            over = self.above[block]
            left = [head for head, members in self.loops.items() if over in members and block not in members]
            if left:
                outermost = min(left, key=lambda head: self.rank[head])
                self.behind.setdefault(outermost, []).append(block)
            elif edges.get(block, 0) > 1 or len(self.blocks[over].ways) == 1:
                self.children.setdefault(over, []).append(block)
        for placed in (*self.behind.values(), *self.children.values()):
            placed.sort(key=lambda block: self.rank[block])
        self.weights = self._weigh()
        for placed in self.children.values():
            self._copy_between(placed)
        for head, placed in self.behind.items():
            members = self.loops[head]
            exits = {target for block in members for target in self.ahead[block] if target not in members}
            # A short way out of a loop ends inside of it, so that all ways lead to one place after it.
            for block in list(placed):
                if (
                    (len(placed) > 1 or exits - set(placed))
                    and edges.get(block, 0) == 1
                    and self.weights[block] <= _MAX_COPIED
                ):
                    placed.remove(block)

    def _copy_between(self, placed: list[int]) -> None:
        """Let a short block be written at its jumps, if a loop leads to it and to the block that follows it, or if it is one of several before a meeting."""
        if len(placed) > _FEW_MEETINGS and all(self._may_copy(block, _Where(placed[-1])) for block in placed[:-1]):
            del placed[:-1]
        for block, following in reversed(list(pairwise(placed))):
            leaves = any({block, following} <= self._exits(members) for members in self.loops.values())
            if leaves and self.weights[block] <= _MAX_COPIED:
                placed.remove(block)

    def _exits(self, members: set[int]) -> set[int]:
        """Return the blocks outside of a loop that its jumps lead to, by blocks without a choice too."""
        targets = {target for block in members for target in self.ahead[block] if target not in members}
        return set(closure(targets, lambda block: self.ahead[block] if len(self.ahead[block]) == 1 else []))

    def _weigh(self) -> dict[int, int]:
        """Return the number of statements of each block and the blocks that it dominates; many for those with loops."""
        weights = {
            block: _MAX_COPIED + 1 if block in self.loops else len(self.blocks[block].code) for block in self.inside
        }
        for block in sorted(self.inside, key=lambda number: self.rank[number], reverse=True):
            if block != self.entry and self.above[block] in weights:
                weights[self.above[block]] += weights[block]
        return weights

    # ---- code

    def code(self) -> Code:
        """Return the statements of the routine."""
        return _drop_labels(self._tree(self.entry, _Where(None)), self.labelled)

    def _tree(self, block: int, where: _Where) -> Code:
        """Return the code of a block and of all blocks placed after it."""
        if block not in self.loops:
            return self._sequence(block, self.children.get(block, []), where)
        following = self.behind.get(block, [])
        after = following[0] if following else where.next
        inner = _Where(block, block, after)
        body = self._sequence(block, self.children.get(block, []), inner)
        if _continue_label(block) in self.labelled:
            body = (*body, JumpLabel(_continue_label(block)))
        loop = shape_loop(body)
        return (loop, *self._rest(following, where, (loop,)))

    def _sequence(self, block: int, placed: Sequence[int], where: _Where) -> Code:
        inner = _Where(placed[0], where.loop, where.behind) if placed else where
        own = self._own(block, inner)
        return (*own, *self._rest(placed, where, own))

    def _rest(self, placed: Sequence[int], where: _Where, before: Code) -> Code:
        out: list[Statement] = []
        for index, block in enumerate(placed):
            if _leaves((*before, *out)) and block not in self.labelled:
                continue  # all jumps to it have copies
            following = placed[index + 1] if index + 1 < len(placed) else where.next
            out.append(JumpLabel(block))
            out += self._tree(block, _Where(following, where.loop, where.behind))
        return tuple(out)

    def _own(self, block: int, where: _Where) -> Code:
        body = self.blocks[block]
        code: Code = ()
        for way in reversed(body.ways):
            taken = self._jump(block, way, where)
            code = taken if way.condition is None else _if(way.condition, taken, code, (way.place,))
        return (*body.code, *code)

    def _jump(self, block: int, way: _Way, where: _Where) -> Code:
        target, places = way.target, (way.place,)
        if target is None:
            return (Return(places),)
        if target == where.next:
            return ()
        if target == where.behind:
            return (Break(places),)
        if self.rank[target] <= self.rank[block]:
            if target == where.loop:
                return (Continue(places),)
            target = _continue_label(target)
            self.labelled.add(target)
            return (Goto(target, places),)
        if self._stands_apart(target) and not self._may_copy(target, where):
            self.labelled.add(target)
            return (Goto(target, places),)
        return self._tree(target, where)

    def _may_copy(self, block: int, where: _Where) -> bool:
        """Return whether a block is short and leaves by ways that need no label here."""
        if self.weights[block] > _MAX_COPIED or block in self.loops:
            return False
        for way in self.blocks[block].ways:
            target = way.target
            if target in (None, where.next, where.behind) or (target == where.loop and target is not None):
                continue
            if target is None or self.rank[target] <= self.rank[block] or not self._may_copy(target, where):
                return False
        return True

    def _stands_apart(self, block: int) -> bool:
        return any(block in placed for placed in (*self.behind.values(), *self.children.values()))


def _loop(head: int, tails: Sequence[int], before: Sequence[Sequence[int]]) -> set[int]:
    """Return the blocks on the ways from a head to the sources of its back edges."""
    return closure([head, *tails], lambda block: [] if block == head else before[block])


def _continue_label(block: int) -> int:
    return ~block


def _if(condition: BranchTest, then: Code, otherwise: Code, places: tuple[int, ...]) -> Code:
    """Return a condition with its branches in the order of the text; code after a branch that leaves is not nested."""
    if not then and not otherwise:
        return ()
    if not then or (otherwise and not _leaves(then)):
        condition, then, otherwise = replace(condition, negated=not condition.negated), otherwise, then
    if _leaves(then):
        return (If(condition, then, (), places), *otherwise)
    return (If(condition, then, otherwise, places),)


def _leaves(code: Code) -> bool:
    """Return whether no lane reaches the end of the code."""
    if not code:
        return False
    last = code[-1]
    return isinstance(last, Break | Continue | Goto | Return) or (
        isinstance(last, If) and _leaves(last.then) and _leaves(last.otherwise)
    )


def shape_loop(body: Code) -> Repeat:
    """Return a loop with the test at the beginning or the end of its body, if there is one."""
    first_statement, last_statement = body[0] if body else None, body[-1] if body else None
    if isinstance(first_statement, If) and _breaks(first_statement):
        return Repeat(body[1:], first=_inverse(first_statement.condition), first_places=first_statement.places)
    if (
        isinstance(last_statement, If)
        and _breaks(last_statement)
        and not any(isinstance(s, Continue) for s in _inside(body))
    ):
        return Repeat(body[:-1], last=_inverse(last_statement.condition), last_places=last_statement.places)
    return Repeat(body)


def _breaks(statement: If) -> bool:
    return len(statement.then) == 1 and isinstance(statement.then[0], Break) and not statement.otherwise


def _inverse(condition: BranchTest) -> BranchTest:
    return replace(condition, negated=not condition.negated)


def _inside(code: Iterable[Statement]) -> Iterator[Statement]:
    """Yield statements, including those in branches but not those in inner loops."""
    for statement in code:
        yield statement
        if isinstance(statement, If):
            yield from _inside((*statement.then, *statement.otherwise))


def _enclose_jumps(code: Code) -> Code:
    """Write jumps to a label of their list as exits from a loop of one round, where no other loop is between."""
    code = _map_lists(code, _enclose_jumps)
    for index, statement in enumerate(code):
        if not isinstance(statement, JumpLabel):
            continue
        jump = [number for number in range(index) if statement.label in _jumps(code[number : number + 1])]
        if not jump:
            continue
        part, before = code[jump[0] : index], _jumps(code[: jump[0]])
        loose = list(_inside(part))
        own = [s for s in loose if isinstance(s, Goto) and s.label == statement.label]
        if len(own) == _jumps(part).count(statement.label) and not any(
            isinstance(s, Break | Continue) or (isinstance(s, JumpLabel) and s.label in before) for s in loose
        ):
            once = Repeat(
                _break_at(part, statement.label),
                last=BranchTest(None, _WHOLE, negated=True),
                last_places=own[-1].places,
            )
            return _enclose_jumps((*code[: jump[0]], once, *code[index + 1 :]))
    return code


def _jumps(code: Code) -> list[int]:
    """Return the labels of all jumps in a list, those in loops too."""
    return [statement.label for statement in flat(code) if isinstance(statement, Goto)]


def _break_at(code: Code, label: int) -> Code:
    """Replace the jumps to a label, none of which is in a loop, by exits from the loop around the list."""
    broken = [Break(s.places) if isinstance(s, Goto) and s.label == label else s for s in code]
    return _map_lists(tuple(broken), lambda inner: _break_at(inner, label))


def _map_lists(code: Code, change: Callable[[Code], Code]) -> Code:
    """Change the lists inside of statements."""
    new: list[Statement] = []
    for statement in code:
        match statement:
            case If(_, then, otherwise):
                new.append(replace(statement, then=change(then), otherwise=change(otherwise)))
            case Repeat(body):
                new.append(replace(statement, body=change(body)))
            case _:
                new.append(statement)
    return tuple(new)


def _drop_labels(code: Code, used: set[int]) -> Code:
    """Drop the labels that no ``goto`` names."""
    kept = tuple([s for s in code if not isinstance(s, JumpLabel) or s.label in used])
    return _map_lists(kept, lambda inner: _drop_labels(inner, used))
