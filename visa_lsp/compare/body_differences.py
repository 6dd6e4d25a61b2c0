"""The differences of two bodies line by line: the matching of their code and declarations as changes.

Invariant: the changes are in the order of the first body's lines, and comparing in the other direction gives the same
ones with sides exchanged.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from msgspec import structs

from visa_lsp.compare.declarations import declaration_findings, entry_pairs
from visa_lsp.compare.difference_words import (
    arrow,
    describe_change,
    instruction_text,
    join_words,
    name_in,
    names_of_second,
    stretch,
)
from visa_lsp.compare.matching import Matching, match_bodies
from visa_lsp.compare.model import ChangeKind, ComparedBody, Difference, Figures, KernelDiff, Lines
from visa_lsp.compare.refs import refs_of
from visa_lsp.isa.model import SENDING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from visa_lsp.compare.instruction_shapes import Item
    from visa_lsp.program.model import Kernel
    from visa_lsp.program.operand_text import OperandNames

# At one place removed lines are listed before added ones.
_ORDER: Final = (ChangeKind.DELETE, ChangeKind.CHANGE, ChangeKind.MOVE, ChangeKind.INSERT)
_DONE: Final = {ChangeKind.INSERT: "inserted", ChangeKind.DELETE: "deleted", ChangeKind.MOVE: "moved"}


def figures_of(kernel: Kernel) -> Figures:
    """Return the counts of a body."""
    code = [inst for inst in kernel.instructions if not inst.row.opens_label and inst.row.marks_source is None]
    sends = sum(inst.row.family in SENDING for inst in code)
    return Figures(len(code), sends, len(kernel.variables), kernel.int_attribute("SimdSize"))


def compare_bodies(a: ComparedBody, b: ComparedBody) -> KernelDiff:
    """Return the differences of the second body from the first."""
    match = match_bodies(a, b)
    renaming = match.renaming
    its_names = names_of_second(a, b, renaming)
    pairs = _line_pairs(a, b, match)
    place = _Places(pairs)
    changes = [*_heads(a, b), *_declarations(a, b, match, its_names, place), *_code(a, b, match, its_names, place)]
    changes.sort(key=lambda change: (change.a.first, change.b.first, _ORDER.index(change.kind), change.a, change.b))
    renamed = sum(a.name(ref) != b.name(other) for ref, other in renaming.items())
    shown = {b.name(ref): name_in(its_names, ref) for ref in refs_of(b.kernel)}
    names = {own: name for own, name in shown.items() if own != name}
    return KernelDiff(a.kernel.name, a, b, tuple(_merge_changes(changes)), renamed, names, tuple(pairs))


def _line_pairs(a: ComparedBody, b: ComparedBody, match: Matching) -> list[tuple[int, int]]:
    """Return corresponding lines of the code, declarations, inputs and attributes."""
    pairs = {**dict(entry_pairs(a, b, match.renaming)), a.first: b.first}
    pairs.update(
        (a.lines[ref], b.lines[its]) for ref, its in match.renaming.items() if ref in a.lines and its in b.lines
    )
    for i, j in (*match.equal, *match.changed):
        pairs[a.code[match.a[i].number]] = b.code[match.b[j].number]
    return sorted(pairs.items())


class _Places:
    """The places of missing lines in the other body: after the counterpart of the line before."""

    def __init__(self, pairs: Sequence[tuple[int, int]]) -> None:
        self._of_a = list(pairs)
        self._of_b = sorted((line, other) for other, line in pairs)

    def in_b(self, line: int) -> Lines:
        """Return the place in the second body of a line of the first."""
        return _place(self._of_a, line)

    def in_a(self, line: int) -> Lines:
        """Return the place in the first body of a line of the second."""
        return _place(self._of_b, line)


def _place(pairs: Sequence[tuple[int, int]], line: int) -> Lines:
    before = pairs[max(bisect_right(pairs, line, key=lambda pair: pair[0]) - 1, 0)][1]
    return Lines(before + 1, before + 1)


def _heads(a: ComparedBody, b: ComparedBody) -> Iterator[Difference]:
    """Yield the lines that open the bodies."""
    kernel, other = a.kernel, b.kernel
    words = []
    if kernel.is_kernel != other.is_kernel:
        words.append(arrow(*("kernel" if body.is_kernel else "function" for body in (kernel, other))))
    if kernel.name != other.name:
        words.append(f"name {arrow(kernel.name, other.name)}")
    if words:
        yield Difference(ChangeKind.CHANGE, Lines(a.first, a.first), Lines(b.first, b.first), ", ".join(words))


def _declarations(
    a: ComparedBody, b: ComparedBody, match: Matching, its_names: OperandNames, place: _Places
) -> Iterator[Difference]:
    findings = list(declaration_findings(a, b, match.renaming, its_names))
    for finding in findings:
        if finding.a is not None and finding.b is not None:
            yield Difference(
                ChangeKind.CHANGE,
                Lines(finding.a, finding.a),
                Lines(finding.b, finding.b),
                f"{finding.noun} {finding.what}",
            )
    for lines, noun, code in _blocks(
        (finding.a, finding.noun, finding.what) for finding in findings if finding.b is None
    ):
        yield _block(ChangeKind.DELETE, lines, place.in_b(lines.first - 1), noun, code)
    for lines, noun, code in _blocks(
        (finding.b, finding.noun, finding.what) for finding in findings if finding.a is None
    ):
        yield _block(ChangeKind.INSERT, place.in_a(lines.first - 1), lines, noun, code)


def _blocks(entries: Iterable[tuple[int | None, str, str]]) -> Iterator[tuple[Lines, str, list[str]]]:
    """Yield entries of one noun on neighbouring lines, with their findings."""
    block: list[tuple[int, str, str]] = []
    for line, noun, what in sorted((line or 0, noun, what) for line, noun, what in entries):
        if block and (noun != block[-1][1] or line != block[-1][0] + 1):
            yield Lines(block[0][0], block[-1][0]), block[0][1], [said for _, _, said in block]
            block = []
        block.append((line, noun, what))
    if block:
        yield Lines(block[0][0], block[-1][0]), block[0][1], [said for _, _, said in block]


def _block(kind: ChangeKind, a: Lines, b: Lines, noun: str, code: Sequence[str]) -> Difference:
    if len(code) == 1:
        return Difference(kind, a, b, f"{_DONE[kind]} {noun} {code[0]}")
    return Difference(
        kind,
        a,
        b,
        f"{_DONE[kind]} {len(code)} {noun}s: {join_words([said.partition(':')[0] for said in code])}",
        tuple(code),
    )


def _code(
    a: ComparedBody, b: ComparedBody, match: Matching, its_names: OperandNames, place: _Places
) -> Iterator[Difference]:
    for run in match.moved:
        items, others = match.a[run.a : run.a + run.length], match.b[run.b : run.b + run.length]
        yield _stretch(ChangeKind.MOVE, _span(a, items), _span(b, others), items, a.names)
    for i, j in match.changed:
        item, other = match.a[i], match.b[j]
        what = describe_change(item.inst, a.names, other.inst, its_names)
        yield Difference(ChangeKind.CHANGE, _span(a, [item]), _span(b, [other]), what, in_code=True)
    settled = {i for i, _ in (*match.equal, *match.changed)}
    settled |= {run.a + n for run in match.moved for n in range(run.length)}
    for items in _runs(match.a, settled):
        lines = _span(a, items)
        yield _stretch(ChangeKind.DELETE, lines, place.in_b(lines.first - 1), items, a.names)
    settled = {j for _, j in (*match.equal, *match.changed)}
    settled |= {run.b + n for run in match.moved for n in range(run.length)}
    for items in _runs(match.b, settled):
        lines = _span(b, items)
        yield _stretch(ChangeKind.INSERT, place.in_a(lines.first - 1), lines, items, its_names)


def _stretch(kind: ChangeKind, a: Lines, b: Lines, items: Sequence[Item], names: OperandNames) -> Difference:
    instructions = [item.inst for item in items]
    listing = tuple(instruction_text(inst, names) for inst in instructions) if len(items) > 1 else ()
    return Difference(kind, a, b, f"{_DONE[kind]} {stretch(instructions, names)}", listing, in_code=True)


def _span(body: ComparedBody, items: Sequence[Item]) -> Lines:
    return Lines(body.code[items[0].number], body.code[items[-1].number])


def _runs(items: Sequence[Item], settled: set[int]) -> Iterator[list[Item]]:
    """Yield the stretches of items without a counterpart."""
    run: list[Item] = []
    for index, item in enumerate(items):
        if index in settled:
            if run:
                yield run
            run = []
        else:
            run.append(item)
    if run:
        yield run


def _merge_changes(changes: Iterable[Difference]) -> Iterator[Difference]:
    """Return the changes with equal words on neighbouring lines merged."""
    last: Difference | None = None
    count = 1
    for change in changes:
        if last is not None and _continues(last, change):
            count += 1
            last = structs.replace(last, a=Lines(last.a.first, change.a.last), b=Lines(last.b.first, change.b.last))
            continue
        if last is not None:
            yield _add_count(last, count)
        last, count = change, 1
    if last is not None:
        yield _add_count(last, count)


def _add_count(change: Difference, count: int) -> Difference:
    return change if count == 1 else structs.replace(change, what=f"{change.what} ({count} lines)")


def _continues(last: Difference, change: Difference) -> bool:
    alike = last.kind is change.kind is ChangeKind.CHANGE and last.what == change.what
    return alike and change.a.first == last.a.last + 1 and change.b.first == last.b.last + 1
