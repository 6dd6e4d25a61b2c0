"""Writes nested branches of which each level does what the one around it does as a loop, as compilers unroll searches."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.app.read.code_lines import (
    Line,
    Node,
    chain_of,
    condition_of,
    lists_of,
    places_of,
    set_in,
    texts_of,
    walk,
    word_counts,
)
from visa_lsp.app.read.shape import NUMBERED, own_level
from visa_lsp.app.read.tree import NOTHING, WORD, Tree, set_names, step_of
from visa_lsp.isa import types as ty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from visa_lsp.app.read.code_lines import Body

_END: Final = chr(10)  # of a line
_TOKEN: Final = re.compile(r"\d[\w.]*|[A-Za-z_]\w*|\W")
_MIN_LEVELS: Final = 4
_MAX_BRANCHES: Final = 3  # of a level


class _Rung(NamedTuple):
    """A branch: the lines before it, the condition that leaves the nest, the lines then, and the list where the nest goes on."""

    before: list[Node]
    test: Tree
    ends: list[Node]
    rest: list[Node]
    nodes: list[Node]

    def texts(self) -> list[str]:
        """Return all lines but those where the nest goes on."""
        return [*texts_of(self.before), f"if ({self.test}) break;", *texts_of(self.ends)]


def join_nests(body: Body, opposite: Callable[[Tree], Tree]) -> None:
    """Change the lines of a body in place."""
    for code in list(lists_of(body.code)):
        index = 0
        while index < len(code):
            rungs = _climb(code, index, opposite)
            for size in range(1, _MAX_BRANCHES + 1):
                if len(rungs) >= size * _MIN_LEVELS and _roll(body, code, index, rungs, size):
                    break
            index += 1


def _climb(code: list[Node], index: int, opposite: Callable[[Tree], Tree]) -> list[_Rung]:
    """Return the branches of a nest that begins at a line."""
    rungs: list[_Rung] = []
    while (rung := _rung(code, index, opposite)) is not None:
        rungs.append(rung)
        code = rung.rest
        index = len(code) - (2 if code and code[-1].text == "} else {" else 1)
    return rungs


def _rung(code: list[Node], index: int, opposite: Callable[[Tree], Tree]) -> _Rung | None:
    if index < 0 or index >= len(code) or not code[index].text.startswith("if (") or code[index].inner is None:
        return None
    chain, test = chain_of(code, index), condition_of(code[index].text)
    if test == NOTHING or [line.text for line in chain[1:]] not in ([], ["} else {"]):
        return None
    yes, no = chain[0].inner or [], chain[-1].inner or [] if len(chain) > 1 else []
    if sum(1 for _ in walk(yes)) <= sum(1 for _ in walk(no)):
        return _Rung(code[:index], test, yes, no, chain)
    return _Rung(code[:index], opposite(test), no, yes, chain)


def _roll(body: Body, code: list[Node], index: int, rungs: Sequence[_Rung], size: int) -> bool:
    """Write the first levels of a nest, of ``size`` branches each, as a loop; return whether enough of them do the same."""
    lines = len(rungs[size].before) if len(rungs) > size else 0
    outermost = rungs[0]._replace(before=code[max(index - lines, 0) : index])
    levels = [[outermost, *rungs[1:size]]] + [
        list(rungs[n : n + size]) for n in range(size, len(rungs) - size + 1, size)
    ]
    rows: list[list[str]] = []
    for level in levels:
        tokens = [token for rung in level for text in rung.texts() for token in [*_TOKEN.findall(text), _END]]
        if rows and len(tokens) != len(rows[0]):
            break
        rows.append(tokens)
    longest = _count_alike(rows)
    for count in (longest, longest - 1):  # what follows may use more of the last level
        template = _template(body, levels[:count], rows[:count]) if count >= _MIN_LEVELS else None
        if template is not None and _is_alone(body, levels[:count], template):
            _write(body, code, index, levels[:count], template)
            return True
    return False


def _count_alike(rows: Sequence[Sequence[str]]) -> int:
    """Return how many levels have the words of the first two, and numbers that go on as in these."""
    for level in range(2, len(rows)):
        for first, second, token in zip(rows[0], rows[1], rows[level], strict=True):
            counts = first.isdecimal() and second.isdecimal()
            expected = str(int(first) + level * (int(second) - int(first))) if counts else second
            if token != expected and not (NUMBERED.fullmatch(token) and NUMBERED.fullmatch(second)):
                return level
    return len(rows)


class _Template(NamedTuple):
    """The tokens of a level: text, or a start and a step of a number; the variables of all levels, and values before the first."""

    tokens: list[str | tuple[int, int]]
    names: list[dict[str, str]]  # of each level: its own variables -> the variable of the loop
    starts: dict[str, str]  # variables of the loop -> what they are before


def _template(body: Body, levels: list[list[_Rung]], rows: list[list[str]]) -> _Template | None:
    """Return what levels have in common; None if they differ in more than variables and numbers that count."""
    own = [{name for rung in level for name in set_in([*rung.before, *rung.ends])} for level in levels]
    shared = set.intersection(*own)
    names: list[dict[str, str]] = [{} for _ in rows]
    tokens: list[str | tuple[int, int]] = []
    places: list[int] = []  # of variables, which have other names in each level
    columns = list(zip(*rows, strict=True))
    for place, column in enumerate(columns):
        if len(set(column)) == 1:
            tokens.append(column[0])
        elif all(token.isdecimal() for token in column):
            tokens.append((int(column[0]), int(column[1]) - int(column[0])))
        elif all(NUMBERED.fullmatch(token) for token in column[1:]):
            places.append(place)
            tokens.append("")
        else:
            return None
    for place in places:
        column = columns[place]
        if all(name in own[level] - shared for level, name in enumerate(column)):
            if any(names[level].setdefault(name, column[0]) != column[0] for level, name in enumerate(column)):
                return None
            tokens[place] = column[0]
    starts: dict[str, str] = {}
    for place in places:
        column = columns[place]
        if tokens[place]:
            continue
        loop_names = {names[level - 1].get(column[level], "") for level in range(1, len(column))}
        if len(loop_names) != 1 or "" in loop_names:
            return None
        name = loop_names.pop()
        if starts.setdefault(name, column[0]) != column[0] or not re.fullmatch(r"[\w.]+", column[0]):
            return None
        tokens[place] = name
    if not _reads_before(tokens, starts, rows[0], columns, names):
        return None
    kinds = [
        {body.types.get(name, "").split(" ")[0] for name in level}
        for level in zip(*(n.keys() for n in names), strict=False)
    ]
    return _Template(tokens, names, starts) if all(len(kind) == 1 and "" not in kind for kind in kinds) else None


def _reads_before(
    tokens: Sequence[str | tuple[int, int]],
    starts: dict[str, str],
    row: Sequence[str],
    columns: Sequence[tuple[str, ...]],
    names: list[dict[str, str]],
) -> bool:
    """Return whether the lines of a level take what the level before has left before they set it again."""
    done: set[str] = set()
    line: list[int] = []
    for place, token in enumerate(row):
        if token != _END:
            line.append(place)
            continue
        for other in line:
            name = tokens[other]
            is_old = isinstance(name, str) and name in starts and columns[other][1] not in names[1]
            if is_old and name in done:
                return False
        text = "".join(row[other] for other in line)
        done |= {names[0][name] for name in set_names(text) if name in names[0]}
        line = []
    return True


def _is_alone(body: Body, levels: list[list[_Rung]], template: _Template) -> bool:
    """Return whether the variables of each level are used there, in the next one, and in what follows the last alone."""
    uses = word_counts(body.code)
    inside = [word_counts([Node(text) for rung in level for text in rung.texts()]) for level in levels]
    rest = word_counts(levels[-1][-1].rest)
    jumps = [line.text for level in levels for rung in level for line in own_level([*rung.before, *rung.ends])]
    if any(text.endswith(("break;", "continue;", ":;")) for text in jumps):
        return False
    for number, names in enumerate(template.names):
        for name in names:
            after = inside[number + 1][name] if number + 1 < len(levels) else rest[name]
            if uses[name] != inside[number][name] + after:
                return False
    return True


def _write(body: Body, code: list[Node], index: int, levels: list[list[_Rung]], template: _Template) -> None:
    counter = body.new(ty.D)
    begin = next((token[0] for token in template.tokens if isinstance(token, tuple) and token[1] == 1), 0)
    texts, text = [], ""
    for token in template.tokens:
        if token == _END:
            texts.append(str(step_of(text) or text))
            text = ""
        else:
            text += token if isinstance(token, str) else _number(token, counter, begin)
    lines = iter(texts)
    inner: list[Node] = []
    for rung in levels[0]:
        inner += _copy(rung.before, lines)
        leave = next(lines)
        ends = _copy(rung.ends, lines)
        places = places_of(*rung.nodes)
        if ends:
            inner.append(
                Node(leave.replace(" break;", " {"), places, inner=[*ends, Node("break;", places)], tail=Line("}"))
            )
        else:
            inner.append(Node(leave, places))
    end = begin + len(levels)
    head = f"for ({counter} = {begin}; {counter} < {end}; {counter}++) {{"
    everything = [node for level in levels for rung in level for node in (*rung.before, *rung.ends, *rung.nodes)]
    loop = Node(head, places_of(*everything), inner=inner, tail=Line("}"), is_loop=True)
    rest, names = levels[-1][-1].rest, template.names[-1]
    for node in walk(rest):
        node.change(partial(WORD.sub, lambda hit: names.get(hit[0], hit[0])))
    starts = [Node(f"{name} = {value};", loop.places) for name, value in template.starts.items()]
    new = [*starts, loop]
    if rest:
        new.append(Node(f"if ({counter} == {end}) {{", places_of(*levels[-1][-1].nodes), inner=rest, tail=Line("}")))
    before = len(levels[0][0].before)
    code[index - before : index + len(levels[0][0].nodes)] = new


def _number(token: tuple[int, int], counter: str, begin: int) -> str:
    start, step = token
    rest = start - step * begin
    whole = counter if step == 1 else f"{step} * {counter}"
    return whole if not rest else f"({whole} {'+' if rest > 0 else '-'} {abs(rest)})"


def _copy(nodes: Sequence[Node], lines: Iterator[str]) -> list[Node]:
    """Return lines with other texts, in order."""
    copies = []
    for node in nodes:
        text = next(lines)
        tail = None
        if node.tail is not None:
            tail = Line(next(lines), node.tail.places)
        inner = _copy(node.inner, lines) if node.inner is not None else None
        copies.append(Node(text, node.places, inner=inner, tail=tail, is_loop=node.is_loop, meets_for=node.meets_for))
    return copies
