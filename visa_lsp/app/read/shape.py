"""Shapes loops, branches and copies as a person writes them, on the trees of lines of C.

Variables that hold one value become one variable; what both branches of an `if` do stands before it; a loop whose
first test a condition around it has made before needs no condition.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from visa_lsp.app.read.code_lines import (
    Body,
    Line,
    Node,
    assigned,
    backwards,
    chain_of,
    change_line,
    change_lines,
    condition_of,
    count_of,
    lists_of,
    loop_test,
    names_of,
    places_of,
    set_in,
    setters,
    setters_by_name,
    trees_of,
    walk,
    word_counts,
    words_without_trees,
)
from visa_lsp.app.read.liveness import CALLS, GOTO, Liveness
from visa_lsp.app.read.names import c_type
from visa_lsp.app.read.tree import (
    MIRROR,
    NEGATED,
    NOTHING,
    SETS,
    WORDS,
    Step,
    Tree,
    filled,
    form,
    in_place_of,
    leaf,
    number_of,
    rewritten,
    set_names,
    step_of,
    sum_of,
    terms,
)
from visa_lsp.isa import types as ty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


_MAX_CHAIN: Final = 200  # operations of a value with others in it; hashes would double it with each line
_STEP_WORDS: Final = re.compile(r"\b\w+\b(?!\()")  # names and numbers
_MAX_NODES: Final = 1500  # a longer body keeps its copies
PURE: Final = ("local_id()", "group_id()", "global_id()", "local_size()", "global_size()", "enqueued_local_size()", "global_id_offset()", "group_count()")  # fmt: skip
COMPARE: Final = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
}  # fmt: skip
_OF_VALUES: Final = (  # calls that read neither memory nor other lanes
    "fma()", "fmax()", "fmin()", "min()", "max()", "fabs()", "abs()", "sqrt()",
    "exp()", "exp_in_range()", "quotient()", "remainder()", "convert_", "as_", "rsqrt()", "carry()", "mul_hi()",
)  # fmt: skip
_OF_HALVES: Final = {
    "1 <= X / N": "D <= X", "X / N != 0": "D <= X", "X / N <= 0": "X <= E", "X / N == 0": "X <= E",
    "1 <= X >> N": "D <= X", "X >> N != 0": "D <= X", "X >> N <= 0": "X <= E", "X >> N == 0": "X <= E",
}  # fmt: skip
_JOINED: Final = ("+", "-", "*", "&", "|", "^", "<<", ">>")
_PAIR: Final = 2
_MAX_RESOLVED: Final = 3  # variables that stand for others
_MAX_FOR: Final = 110
_EXACT: Final = 1 << 20  # floats that are whole numbers below this are added and multiplied exactly
LEAVES: Final = re.compile(r"(?:break|continue);|\bgoto ")
JUMP: Final = re.compile(r"^(?:break|continue|return);|^goto ")
ONCE: Final = "} while (false);"  # ends a loop of one round
NUMBERED: Final = re.compile(r"[VP]\d+(?:_\w+)?|V_\w+")  # names that a compiler gives
TRUE, FALSE = leaf("true"), leaf("false")


def _with_old(old: str, new: Tree, before: Tree | None, count: int, tree: Tree) -> Tree | None:
    """Write what a tree tells of an old value by the new one; without ``before`` the new one is the old one shifted."""
    if before is not None:
        return before if tree == Tree(old) else None
    least = number_of(tree.args[1]) if tree.op in ("<", ">=") and tree.args[0] == Tree(old) else None
    return Tree(tree.op, (new, leaf(least >> count))) if least and not least % (1 << count) else None


def conjuncts(tree: Tree) -> list[Tree]:
    """Return the conditions that hold where a condition does."""
    return [*conjuncts(tree.args[0]), *conjuncts(tree.args[1])] if tree.op == "&&" else [tree]


def is_constant(tree: Tree) -> bool:
    """Return whether a value is a literal."""
    inner = tree.args[0] if tree.op == "u-" else tree
    return not inner.args and (inner.op[0].isdigit() or inner.op in ("true", "false", "INFINITY", "NAN"))


def _has_label(code: list[Node]) -> bool:
    """Return whether a jump may lead into some lines."""
    return any(line.text.endswith(":;") for line in walk(code))


def copied(value: Tree) -> str:
    """Return the variable that a value is a copy of, as 32 bits; empty for another value."""
    while value.op in WORDS:
        value = value.args[0]
    return "" if value.args else value.op


def is_copy(node: Node, name: str, source: str) -> bool:
    """Return whether a line copies one variable to another."""
    target, value = assigned(node)
    return target == name and copied(value) == source


def interfere(live: Liveness, setting: Mapping[str, list[Node]], name: str, source: str) -> bool:
    """Return whether two variables, whose lines that set them are given, are needed with different values at one place."""
    return any(
        other in live.after.get(id(node), ()) and not is_copy(node, own, other)
        for own, other in ((name, source), (source, name))
        for node in setting[own]
    )


def reads_memory(tree: Tree) -> bool:
    """Return whether a value depends on memory or on other lanes."""
    return any(
        part.op in ("[]", "u*", "u&")
        or (part.op.endswith("()") and part.op not in PURE and not part.op.startswith(_OF_VALUES))
        for part in tree.walk()
    )


def opposite(tree: Tree, is_float: Callable[[Tree], bool]) -> Tree:
    """Return the condition that holds where another one does not."""
    if tree.op == "u!":
        return tree.args[0]
    if tree.op in ("==", "!=") or (tree.op in NEGATED and not is_float(tree)):
        return Tree(NEGATED[tree.op], tree.args)
    if tree.op in ("&&", "||") and not any(part.op in NEGATED and is_float(part) for part in tree.walk()):
        return Tree("||" if tree.op == "&&" else "&&", tuple(opposite(part, is_float) for part in tree.args))
    return Tree("u!", (tree,))


def fold(tree: Tree) -> Tree:
    """Compute what constants tell of a value."""
    return tree.change(fold_one)


def fold_one(tree: Tree) -> Tree | None:
    """Compute what constants tell of a value; None if they tell nothing."""
    op, args = tree.op, tree.args
    if op in ("&&", "||"):
        decides, tells_nothing = (FALSE, TRUE) if op == "&&" else (TRUE, FALSE)
        open_tests = [arg for arg in args if arg != tells_nothing]
        if decides in args:
            return decides
        return open_tests[0] if len(open_tests) == 1 else tells_nothing if not open_tests else None
    if op == "u!" and args[0] in (TRUE, FALSE):
        return FALSE if args[0] == TRUE else TRUE
    if op == "(uint)" and (inner := args[0].args[0] if args[0].op == "(int)" else args[0]).op in PURE:
        return inner
    if op in WORDS and (value := number_of(args[0])) is not None and 0 <= value < 1 << 31:
        return leaf(value)
    values = [number_of(arg) if _real(arg) is None else _real(arg) for arg in args]
    if not args or None in values or any(abs(arg or 0) > _EXACT for arg in values):
        return None
    reals = any(isinstance(arg, float) for arg in values)
    a, b, c = (*(arg or 0 for arg in values), 0, 0)[:3]
    if op in COMPARE:
        return TRUE if COMPARE[op](a, b) else FALSE
    number = {"+": a + b, "-": a - b, "*": a * b, "fma()": a * b + c, "u-": -a}.get(op)
    if not reals and op in (">>", "<<") and 0 <= b < 11:
        number = int(a) >> int(b) if op == ">>" else int(a) << int(b)
    if op in ("u-", "fma()") and not reals:
        return None
    if number is None or (reals and not number):  # a zero may have a sign
        return None
    literal = leaf(f"{float(abs(number))}f" if reals else int(abs(number)))
    return literal if number >= 0 else Tree("u-", (literal,))


def _real(tree: Tree) -> float | None:
    """Return the value of a literal that is a whole number of type float."""
    if tree.args or not tree.op[0].isdigit() or not tree.op.endswith(".0f"):
        return None
    return float(tree.op[:-1])


def normal(tree: Tree) -> Tree:
    """Return a comparison of integers such that equal ones look alike."""
    op, args = tree.op, tree.args
    if op not in NEGATED:
        return tree
    has_number = any(number_of(arg) is not None for arg in args)  # ids are never negative as integers
    args = tuple(
        arg.args[0] if arg.op in WORDS and number_of(arg.args[0]) is not None else _plain_id(arg) if has_number else arg
        for arg in args
    )
    if op in (">", ">=") or (op in ("==", "!=") and number_of(args[0]) is not None):
        op, args = MIRROR[op], args[::-1]
    left, right = (number_of(arg) for arg in args)
    if op == "<" and left is not None:
        return Tree("<=", (leaf(left + 1), args[1]))
    if op == "<" and right is not None and right > 0:
        return Tree("<=", (args[0], leaf(right - 1)))
    if op == "<=" and left == 1 and args[1].op == "(uint)":
        return Tree("!=", (args[1], leaf(0)))
    return Tree(op, args)


def _plain_id(tree: Tree) -> Tree:
    """Return an id or a size without a cast to an integer of 32 bits, which does not change its number."""
    return tree.args[0] if tree.op in WORDS and tree.args[0].op in PURE else tree


class Shaper:
    """Shapes the lines of one body."""

    def __init__(self, body: Body) -> None:
        self.code, self.types, self.kinds, self.body = body.code, body.types, body.kinds, body
        self.kept = frozenset(
            name for name in body.types if not NUMBERED.fullmatch(name)
        )  # what a person names may be a result
        self.setters: dict[str, list[Node]] = {}  # the lines that set a variable

    def opposite(self, tree: Tree) -> Tree:
        """Return the condition that holds where another one does not."""
        return opposite(tree, self.body.has_floats)

    def run(self) -> None:
        """Change the lines in place."""
        if sum(1 for _ in walk(self.code)) > _MAX_NODES:
            return
        self.spread_tests()
        self.recover_counters()
        for _ in range(2):
            for code in list(lists_of(self.code))[::-1]:
                self._shorten(code)
                self.end_loops(code)
            self.split_variables()
            self.unite_copies()
        for _ in range(2):
            for code in list(lists_of(self.code))[::-1]:
                self._shorten(code)
                self.test_new_values(code)
                self.leave_inside(code)
                self.hoist_equal(code)
                self.drop_guards(code)
            self.unite_copies()
        self.join_operators()

    # ---- copies

    def live(self) -> Liveness:
        """Return what each line still needs behind it."""
        return Liveness(self.code, self.types, self.kept)

    def spread_tests(self) -> None:
        """Write a test of what the launch gives in place of the flag that holds it."""
        for node in list(self.code):
            name, value = assigned(node)
            if self.kinds.get(name) is not ty.BOOL or len(setters(self.code, name)) != 1:
                continue
            calls = {part.op for part in value.walk() if part.op.endswith("()")}
            if value.op in NEGATED and calls <= set(PURE) and not value.names() & self.types.keys():
                self.code.remove(node)
                change_lines(self.code, in_place_of(leaf(name), value), node.places)

    def split_variables(self) -> None:
        """Give each block a variable of its own where its values come from nowhere and go nowhere else."""
        live, fresh = self.live(), 0
        counts = word_counts(self.code)
        for code in list(lists_of(self.code)):
            for index, node in enumerate(code):
                chain, leaves = chain_of(code, index), GOTO if node.is_loop else LEAVES
                if node.continues or node.inner is None or any(leaves.search(line.text) for line in walk(chain)):
                    continue
                inside = word_counts(chain)
                for name in sorted(inside.keys() & self.kinds.keys() - live.before[id(node)] - live.after[id(node)]):
                    own = inside[name]
                    if own and own < counts[name]:
                        fresh += 1
                        new = f"{name}_{'abcdefghijklmnopqrstuvwxyz'[fresh % 26]}{fresh}"
                        counts[name], counts[new] = counts[name] - own, own
                        self._rename_in(chain, name, new)
                        live.rename_in(chain, name, new)

    def _rename_in(self, code: list[Node], old: str, new: str) -> None:
        """Use a new variable of the same type in some lines."""
        self.kinds[new], self.types[new] = self.kinds[old], self.types[old].replace(old, new)
        word = re.compile(rf"\b{re.escape(old)}\b")
        for node in walk(code):
            if old in node.own_names():
                node.change(partial(word.sub, new))

    def recover_counters(self) -> None:
        """Write `N - 1` in place of the old value of a counter whose new one is `N`; compare halves, not what is halved."""
        for code in lists_of(self.code):
            for index, node in enumerate(code):
                name, value = assigned(node)
                total = form("OLD + STEP", value)
                pair = total or form("OLD >> STEP", value)
                old, count, own = pair["OLD"].op, number_of(pair["STEP"]), self.kinds.get(name)
                if count is None or own is None or own is not self.kinds.get(old) or own.size != ty.D.size:
                    continue
                last = next((n for n in range(index + 1, len(code)) if assigned(code[n]) == (old, leaf(name))), index)
                between = code[index + 1 : last]
                if {old, name} & set_in(between) or any(line.text.endswith(":;") for line in walk(between)):
                    continue
                if old in names_of(between):
                    before = Tree("-", (leaf(name), pair["STEP"])) if total else None
                    change_lines(between, partial(_with_old, old, leaf(name), before, count))

    def unite_copies(self) -> None:
        """Make one variable of two that are copied and never needed with two values; drop values that nothing needs."""
        live = self.live()
        self._drop_dead(self.code, live)
        self.setters = setters_by_name(self.code)
        odd = words_without_trees(self.code)
        for node in list(walk(self.code)):
            name, value = assigned(node)
            source = copied(value)
            if (
                name != source
                and source not in odd
                and self._alike(name, source)
                and not interfere(live, self.setters, name, source)
            ):
                self._rename(source, name, live)
        for code in lists_of(self.code):
            code[:] = [node for node in code if copied(assigned(node)[1]) != assigned(node)[0]]

    def unite_steps(self) -> None:
        """Make one variable of those that hold, one after another in each round of a loop, what it has added up so far."""
        live, self.setters = self.live(), setters_by_name(self.code)
        uses, odd = word_counts(self.code), words_without_trees(self.code)
        for loop in [node for node in walk(self.code) if node.is_loop]:
            inside, needed = word_counts([loop]), live.before.get(id(loop), frozenset[str]())
            order = list(dict.fromkeys(name for node in walk([loop]) if (name := assigned(node)[0]) in self.kinds))
            own = [name for name in order if name not in needed | odd and inside[name] == uses[name]]
            for name in own:
                setting = self.setters[name]
                total = next((n for n in order if n in needed and self._is_step(n, name, setting, live)), "")
                if total:
                    self._rename(name, total, live)

    def _is_step(self, total: str, name: str, setting: list[Node], live: Liveness) -> bool:
        """Return whether a variable holds a total, in a step like others of it, where the total's own variable does not need to."""
        steps = [assigned(node) for node in setting]
        if self.kinds[total] is not self.kinds[name] or any(
            to != name or total not in value.names() for to, value in steps
        ):
            return False
        forms = {_STEP_WORDS.sub("@", str(assigned(node)[1])) for node in self.setters[total]}
        is_alike = forms.issuperset(_STEP_WORDS.sub("@", str(value)) for _, value in steps)
        return is_alike and not interfere(live, self.setters, total, name)

    def _alike(self, name: str, source: str) -> bool:
        """Return whether two variables have one type."""
        kind, other_kind = self.kinds.get(name), self.kinds.get(source)
        same = kind is other_kind or {kind, other_kind} in ({ty.D, ty.UD}, {ty.Q, ty.UQ})
        return kind is not None and same and source in self.types and name in self.types

    def _rename(self, old: str, new: str, live: Liveness) -> None:
        own = self.kinds[old]
        same = leaf(new) if own is self.kinds[new] else Tree(f"({c_type(own)})", (leaf(new),))
        for node in walk(self.code):
            if old not in node.own_names():
                continue
            step = step_of(node.text)
            if leaf(old) in step.targets:
                targets = zip(step.trees, step.words[1:], strict=True)
                trees = [leaf(new) if SETS.fullmatch(word) and tree == leaf(old) else tree for tree, word in targets]
                node.text = str(Step(step.words, tuple(trees)))
            change_line(node, in_place_of(leaf(old), same))
        self.setters[new] += self.setters.pop(old, [])
        for names_by_line in (live.after, live.before):
            for key, names in names_by_line.items():
                if old in names:
                    names_by_line[key] = names - {old} | {new}

    def _drop_dead(self, code: list[Node], live: Liveness) -> None:
        for part, index in backwards(code):
            node, (name, _) = part[index], assigned(part[index])
            if name in self.types and not CALLS.search(node.text) and name not in live.after[id(node)]:
                other = part[index + 1] if index + 1 < len(part) else part[index - 1]
                other.places = places_of(other, node)
                del part[index]

    # ---- loops

    def end_loops(self, code: list[Node]) -> None:
        """Write a loop whose last line leaves it with its test at the end, and load at its beginning what a round needs."""
        for index, node in enumerate(code):
            if node.text != "for (;;) {" or not node.inner:
                continue
            self._default_before(code, index)
            if any(line.text.endswith("continue;") for line in walk(node.inner)):
                continue
            self._shorten(node.inner)
            self._copy_first(code, code.index(node))
            last = node.inner[-1]
            test = condition_of(last.text)
            if test is not NOTHING and self._leaves(last):
                node.inner.pop()
                node.text, node.tail = "do {", Line(f"}} while ({self.opposite(test)});", last.places)

    def leave_inside(self, code: list[Node]) -> None:
        """Write what ends a loop beside its counter as an exit before the counter steps."""
        for node in code:
            test = loop_test(node)
            if test.op != "&&" or node.text != "do {" or not node.inner or node.tail is None:
                continue
            step = set_names(node.inner[-1].text) if node.inner[-1].inner is None else frozenset()
            counts, rest = sorted(test.args, key=lambda part: not step & part.names())
            name, value = assigned(node.inner[-1])
            if (
                len(step) != 1
                or not step & counts.names()
                or step & (rest.names() | self.live().after[id(node)])
                or (name and name not in value.names())
                or any(LEAVES.search(line.text) for line in walk(node.inner))
            ):
                continue
            node.inner.insert(-1, Node(f"if ({self.opposite(rest)}) break;", node.tail.places))
            node.tail = replace(node.tail, text=f"}} while ({counts});")

    def test_new_values(self, code: list[Node]) -> None:
        """Let the test at the end of a loop name the variable of the next round instead of its source."""
        for node in code:
            if node.text != "do {" or node.tail is None or any(n.text.endswith("continue;") for n in walk([node])):
                continue
            later: set[str] = set()  # a copy made before a variable changes is not what the test reads
            for line in (node.inner or [])[::-1]:
                name, value = assigned(line)
                if value.args or not self._alike(name, value.op):
                    break
                test = loop_test(node)
                if value.op in test.names() - later and name not in later:
                    node.tail = replace(node.tail, text=f"}} while ({test.put({value.op: leaf(name)})});")
                later.add(name)

    def _shorten(self, code: list[Node]) -> None:
        """Write a condition with nothing but a jump inside in one line, and without one that always holds."""
        for index in range(len(code) - 1, -1, -1):
            node, *rest = chain_of(code, index)
            inner = node.inner or []
            if node.text == "if (true) {" and not rest:
                code[index : index + 1] = inner
            elif node.text == "if (false) {" and rest and rest[0].text == "} else {" and not _has_label(inner):
                code[index : index + 2] = rest[0].inner or []
            elif node.text in ("if (true) break;", "if (true) continue;", "if (true) return;"):
                node.text = node.text.removeprefix("if (true) ")
                end = next((n for n in range(index + 1, len(code)) if _has_label([code[n]])), len(code))
                del code[index + 1 : end]
            elif node.text.startswith("if (") and not rest and [n.text for n in inner] in (["break;"], ["continue;"]):
                code[index] = Node(f"{node.text[:-1]}{inner[0].text}", places_of(node, *inner))

    def _leaves(self, node: Node) -> bool:
        return node.inner is None and node.text.startswith("if (") and node.text.endswith(" break;")

    def _copy_first(self, code: list[Node], index: int) -> None:
        """Move what only the next round needs from behind the test at the end of a loop, before the test or to the beginning."""
        inner = code[index].inner or []
        test = next((n for n in range(len(inner) - 1, 0, -1) if not assigned(inner[n])[0]), 0)
        if not test or not self._leaves(inner[test]):
            return
        after = self.live().after.get(id(code[index]), frozenset()) if test + 1 < len(inner) else frozenset()
        staying: list[Node] = []
        for line in inner[test + 1 :]:
            name, value = assigned(line)
            if name not in self.kinds or name in after | inner[test].own_names():
                return
            if name in names_of(staying) or value.names() & set_in(staying):
                return
            if not reads_memory(value):
                inner.remove(line)
                inner.insert(test, line)
                test += 1
                continue
            staying.append(line)
            if line is inner[-1]:
                self._load_first(code, index, name, value)

    def _load_first(self, code: list[Node], index: int, name: str, value: Tree) -> None:
        """Move the load for the next round to the beginning of a loop, if the first round's was the same."""
        inner = code[index].inner or []
        starts = self._values_before(code, index, chain=False)
        origin = self._origin(starts.get(name, NOTHING))
        moving = {word for word in value.names() & self.types.keys() if setters(inner, word)}
        if len(setters(inner, name)) != 1 or origin is None or not moving <= starts.keys():
            return
        first_value = value.put({word: starts[word] for word in moving})
        if _without_zeros(first_value) != _without_zeros(origin[1]) or self._stores_between(origin[0], code[index]):
            return
        inner.insert(0, inner.pop())

    def _values_before(self, code: list[Node], index: int, *, chain: bool = True) -> dict[str, Tree]:
        """Return the values of variables that the lines before a place set; by themselves, or (``chain``) by earlier ones."""
        values: dict[str, Tree] = {}
        sizes: Counter[str] = Counter()  # operations of these values
        for line in code[:index]:
            name, value = assigned(line)
            sets = set_in([line]) & self.types.keys()
            values = {} if line.text.endswith(":;") else values
            size = sum(1 + sizes[part.op] for part in value.walk())
            if chain and size <= _MAX_CHAIN:
                value = value.put(values)
            values = {name: old for name, old in values.items() if name not in sets and not old.names() & sets}
            if name and not reads_memory(value) and name not in value.names():
                values[name], sizes[name] = value, size if chain else 0
        return values

    def _origin(self, tree: Tree) -> tuple[Node, Tree] | None:
        """Return the line that sets a variable which is set once, and the value."""
        nodes = setters(self.code, tree.op) if not tree.args else []
        name, value = assigned(nodes[0]) if len(nodes) == 1 else ("", NOTHING)
        return (nodes[0], value) if name else None

    def _stores_between(self, first_node: Node, last_node: Node) -> bool:
        """Return whether a line between two others may change memory."""
        is_between = False
        for node in walk(self.code):
            if node is last_node:
                return False
            if is_between and node.inner is None and stores(node):
                return True
            is_between = is_between or node is first_node
        return True

    def _default_before(self, code: list[Node], index: int) -> None:
        """Give a variable before a loop the value that it has if the last line leaves the loop."""
        inner = code[index].inner or []
        last = inner[-1]
        leaving = last.inner or [] if last.text.startswith("if (") else []
        name, value = assigned(leaving[0]) if [line.text for line in leaving[1:]] == ["break;"] else ("", NOTHING)
        if not is_constant(value) or name in self.live().before.get(id(code[index]), ()):
            return
        others = [line for line in setters(inner, name) if line is not leaving[0]]
        # Another round may follow on any other value.
        leave = all(any(line is other for other in self._lines_that_leave(inner)) for line in others)
        if leave and sum(name in line.own_names() for line in walk(inner)) == len(others) + 1:
            code.insert(index, leaving[0])
            inner[-1] = Node(f"if ({condition_of(last.text)}) break;", places_of(last, leaving[1]))

    def _lines_that_leave(self, inner: list[Node]) -> Iterator[Node]:
        """Yield the lines of a loop behind which it ends."""
        if inner and inner[-1].text == "break;":
            yield from (line for line in inner if line.inner is None)
        for line in inner:
            if line.text.startswith(("if (", "} else")):
                yield from self._lines_that_leave(line.inner or [])

    # ---- branches

    def hoist_equal(self, code: list[Node]) -> None:
        """Write before an `if` the values that both of its branches begin with."""
        index = -1
        while index + 1 < len(code):
            index += 1
            node, *rest = chain_of(code, index)
            test = condition_of(node.text)
            if not node.text.startswith("if (") or [line.text for line in rest] != ["} else {"] or test is NOTHING:
                continue
            (other,) = rest
            yes, no = node.inner or [], other.inner or []
            for line in list(yes):
                pair = name, value = assigned(line)
                same = next((n for n, two in enumerate(no) if assigned(two) == pair), None)
                if same is None or name in test.names() or reads_memory(value):
                    continue
                earlier = [*yes[: yes.index(line)], *no[:same]]
                if earlier and not is_constant(value):
                    continue  # the rest may be the cases of a `switch`
                if name in names_of(earlier) or value.names() & set_in(earlier):
                    continue
                yes.remove(line)
                line.places = places_of(line, no.pop(same))
                code.insert(index, line)
                index += 1
            if not yes or not no:
                kept, condition = (other, self.opposite(test)) if not yes else (node, test)
                kept.text, kept.tail = f"if ({condition}) {{", Line("}")
                kept.places = places_of(node, other)
                code[index : index + 2] = [kept] if kept.inner else []

    def sink_equal(self) -> None:
        """Move a line with which both branches of an `if` end behind it."""
        for code in list(lists_of(self.code))[::-1]:
            for index in range(len(code) - 1, -1, -1):
                node, *rest = chain_of(code, index)
                while (
                    len(rest) == 1
                    and rest[0].text == "} else {"
                    and node.inner
                    and rest[0].inner
                    and node.inner[-1].text == rest[0].inner[-1].text
                    and node.inner[-1].inner is None
                    and step_of(node.inner[-1].text).op
                ):
                    last = rest[0].inner.pop()
                    last.places = places_of(last, node.inner.pop())
                    code.insert(index + 2, last)
                    if not rest[0].inner and node.inner:
                        node.tail = rest.pop().tail
                        del code[index + 1]

    def nest_rounds(self) -> None:
        """Write loops of one round as branches; a flag holds where what their exits skip stands behind several."""
        for code, index in list(backwards(self.code))[::-1]:
            node = code[index]
            lines = self._nest(node.inner or []) if node.tail is not None and node.tail.text == ONCE else None
            if lines is not None:
                code[index : index + 1] = lines

    def _nest(self, code: list[Node], flag: str = "") -> list[Node] | None:
        """Return lines without the exits from a loop around them, which set a flag if there is one; None where that is not possible."""
        leaving = [f"{flag} = true;"] if flag else []
        for index, node in enumerate(code):
            if node.text == "break;":
                return (
                    None
                    if _has_label(code[index:])
                    else [*code[:index], *(Node(text, node.places) for text in leaving)]
                )
            chain = chain_of(code, index)
            if not any(line.text.endswith("break;") for line in own_level(chain)):
                continue
            branches, rest = [(line.text, line.inner or []) for line in chain], code[index + len(chain) :]
            if node.inner is None:
                branches = [(node.text.replace("break;", "{"), [Node("break;", node.places)])]
            if branches[-1][0] != "} else {":
                branches.append(("} else {", []))
            falls = [not inner or not JUMP.search(inner[-1].text) for _, inner in branches]
            start, following = code[:index], list[Node]()
            if not any(falls) and _has_label(rest):
                return None
            if sum(falls) > 1 and rest:  # lanes of several branches meet there
                start += [] if flag else [Node(f"{(flag := self.body.new(ty.BOOL))} = false;", node.places)]
                later = self._nest(rest, flag if leaving else "")
                following, rest = [Node(f"if (!{flag}) {{", node.places, inner=later, tail=Line("}"))], []
            inners = [self._nest([*b[1], *rest] if on else b[1], flag) for b, on in zip(branches, falls, strict=True)]
            test = condition_of(branches[0][0])
            if not node.text.startswith("if (") or test is NOTHING or None in (*inners, *(n.inner for n in following)):
                return None
            texts = [text for text, _ in branches]
            if len(texts) == _PAIR and not inners[0]:
                texts, inners = [f"if ({self.opposite(test)}) {{", "} else {"], inners[::-1]
            count = len(texts) - (not inners[-1])
            lines = [Node(text, node.places, inner=inner) for text, inner in zip(texts, inners, strict=True)][:count]
            lines[-1].tail = Line("}")
            return [*start, *(lines if any(inners) else ()), *following]
        return code

    def drop_guards(self, code: list[Node]) -> None:
        """Drop an `if` around a loop whose first test fails where the condition does."""
        for index in range(len(code) - 1, -1, -1):
            node, *rest = chain_of(code, index)
            test = condition_of(node.text) if node.text.startswith("if (") and node.inner else NOTHING
            if test is NOTHING or (rest and rest[0].text != "} else {"):
                continue
            yes, no = node.inner or [], (rest[0].inner or []) if rest else []
            for loops, skips, holds in ((yes, no, test), (no, yes, self.opposite(test)))[: 1 + len(rest)]:
                lines = self._without_guard(loops, skips, holds, node, self._values_before(code, index))
                if lines is not None:
                    code[index : index + 1 + len(rest)] = lines
                    break

    def _same(self, test: Tree, other_test: Tree) -> bool:
        """Return whether two conditions hold together."""
        test, other_test = self._of_bits(normal(test)), self._of_bits(normal(other_test))
        for left, right in ((test, other_test), (other_test, test)):
            hit, value = form("1 <= X", left), form("X != 0", right)
            is_word = "uint" in (self.body.type_name(hit["X"].op), hit["X"].op.strip("()")) or hit["X"].op in PURE
            if hit and hit == value and is_word:
                return True
        return test == other_test

    def _of_bits(self, test: Tree) -> Tree:
        """Return a comparison of a number of 32 bits with 0 without its sign."""
        hit = form("X != 0", test) or form("X == 0", test)
        own = hit["X"].args[0] if hit["X"].op in WORDS else NOTHING
        is_word = own.op in PURE or self.kinds.get(own.op) in (ty.D, ty.UD)
        return Tree(test.op, (own, test.args[1])) if is_word else test

    def _converted(self, name: str, value: Tree) -> Tree:
        """Return a value as a variable holds it, if it is a variable of the other sign."""
        own, other = self.kinds.get(name), ty.UD if value.op in PURE else self.kinds.get(value.op)
        return Tree(f"({c_type(own)})", (value,)) if own is not None and {own, other} == {ty.D, ty.UD} else value

    def _without_guard(
        self, loops: list[Node], skips: list[Node], holds: Tree, node: Node, starts: Mapping[str, Tree]
    ) -> list[Node] | None:
        """Return the branch of a loop if it does what the other branch does where the condition does not hold."""
        pairs = dict(map(assigned, skips))
        moving = set_in(loops)
        if (
            len(pairs) != len(skips)
            or any(reads_memory(value) or value.names() & moving for value in pairs.values())
            or (holds.op not in ("==", "!=") and self.body.has_floats(holds))
        ):
            return None
        skipped = {name: self._converted(name, fold(value.put(starts))) for name, value in pairs.items()}
        values = dict(starts)
        changed: list[tuple[Node, str, Line]] = []
        touched: set[str] = set()  # by loops, and not set again
        every: set[str] = set()
        own: set[str] = set()
        for line in loops:
            name, value = assigned(line)
            if name and not reads_memory(value):
                values[name] = self._converted(name, fold(value.put(values)))
                own.add(name)
                touched.discard(name)
                continue
            test = loop_test(line)
            if not line.is_loop or line.inner is None or line.tail is None or reads_memory(test):
                return None
            if not self._same(fold(test.put(values)), fold(holds.put(starts))):
                return None
            if line.text == "do {":
                if test.names() & touched or any(inner.text.endswith("continue;") for inner in walk(line.inner)):
                    return None
                changed.append((line, f"while ({test}) {{", line.tail))
            touched |= set_in([line]) & self.types.keys()
            every |= set_in([line]) & self.types.keys()
        live = self.live().after.get(id(node), frozenset()) if every else frozenset()
        if (
            not every
            or any(values.get(name) != value for name, value in skipped.items())
            or (own & live) - skipped.keys()
        ):
            return None
        for loop, text, tail in changed:
            loop.text, loop.tail = text, Line("}")
            loop.places = places_of(loop, tail)
        loops[-1].places = places_of(loops[-1], node)
        return loops

    # ---- for

    def make_for(self, code: list[Node], facts: list[Tree]) -> None:
        """Make `for` loops; ``facts`` hold at the beginning of the list."""
        if code is self.code:
            self.join_operators()
        index = 0
        while index < len(code):
            node = code[index]
            if node.inner is not None:
                self.make_for(node.inner, self._facts_of(code, index))
            if node.is_loop and node.inner and node.tail is not None:
                index -= self._count(code, index, facts)
            index += 1

    def _facts_of(self, code: list[Node], index: int) -> list[Tree]:
        """Return comparisons that hold at the beginning of a branch."""
        if code[index].text == "} else {" and code[index - 1].text.startswith("if ("):
            before = condition_of(code[index - 1].text)
            return conjuncts(self.opposite(before)) if not self.body.has_floats(before) else []
        return conjuncts(condition_of(code[index].text)) if code[index].text.startswith("if (") else []

    def join_operators(self, *, swaps: bool = True) -> None:
        """Write `x += y` for `x = x + y`."""
        for node in walk(self.code):
            step = step_of(node.text)
            target, value = step.trees[-2:] if step.words[-2:] == (" = ", ";") else (NOTHING, NOTHING)
            if value.op not in _JOINED or len(value.args) < _PAIR or not (target.args or target.op in self.kinds):
                continue
            kind = self.kinds.get(target.op)
            if kind is not None and kind.is_int and len(summands := terms(value)) > _PAIR and summands[0] == target:
                value = Tree("+", (target, sum_of(summands[1:])))
            left, right = value.args
            if swaps and value.op in "+*&|^" and right == target and left != target:
                left, right = right, left
            if left != target:
                continue
            is_one = number_of(right) == 1 and value.op in "+-"
            words = (f"{value.op * 2};",) if is_one else (f" {value.op}= ", ";")
            node.text = str(Step((*step.words[:-2], *words), step.trees[:-1] if is_one else (*step.trees[:-1], right)))

    def say_positively(self) -> None:
        """Write conditions without a sign that negates a longer one, and without empty branches."""
        for code, index in backwards(self.code):
            node, *others = chain_of(code, index)
            test = condition_of(node.text) if node.text.startswith(("if (", "} else if (")) else NOTHING
            if test is not NOTHING and not node.inner and len(others) == 1 and others[0].text == "} else {":
                node.text = node.text.replace(f"({test})", f"({self.opposite(test)})")
                node.inner, node.places = others[0].inner, places_of(node, others[0])
                node.tail = others[0].tail
                del code[index + 1]
            elif (
                test is not NOTHING
                and node.inner == []
                and not others
                and not node.continues
                and not CALLS.search(node.text)
            ):
                del code[index]
        change_lines(
            self.code,
            lambda tree: (
                self.opposite(tree.args[0]) if tree.op == "u!" and tree.args[0].op in ("&&", "||", "==", "!=") else None
            ),
        )

    def drop_dead(self) -> None:
        """Drop values that nothing needs."""
        self._drop_dead(self.code, self.live())

    def split_counters(self) -> None:
        """Give loops counters of their own, where they go on with a variable that stands for an id."""
        for code in lists_of(self.code):
            for index, node in enumerate(code):
                step = step_of(node.inner[-1].text if node.text.startswith("while (") and node.inner else "")
                name = step.target.op if step.op not in ("", "=") else ""
                is_new = index > 0 and assigned(code[index - 1])[0] == name
                is_counter = name in self.kinds and name in condition_of(node.text).names() and not is_new
                if is_counter and self._own_counter(code, index, name):
                    return self.split_counters()
        return None

    def _own_counter(self, code: list[Node], index: int, name: str) -> bool:
        """Give a loop a counter of its own, if it changes a variable whose value before it is known; return whether it does."""
        value = self._values_before(code, index).get(name)
        is_needed = name in self.live().after.get(id(code[index]), frozenset())
        if value is None or value.names() & self.types.keys() or is_needed:
            return False
        new = f"{name}_{len(self.types)}"
        self._rename_in([code[index]], name, new)
        code.insert(index, Node(f"{new} = {value};", code[index].places))
        return True

    def _count(self, code: list[Node], index: int, facts: list[Tree]) -> int:
        """Make a loop that counts a variable a `for`; return the number of lines before it that are gone."""
        node = code[index]
        assert node.inner is not None
        assert node.tail is not None
        self._step_last(code, index)
        self._count_last(code, index)
        test, step = loop_test(node), step_of(node.inner[-1].text)
        name = step.target.op if step.op not in ("", "=") else ""
        start_index = next((n for n in range(index - 1, max(-1, index - 8), -1) if name in code[n].names), None)
        if name not in self.kinds or name not in test.names() or start_index is None:
            return 0
        (own, start), between = assigned(code[start_index]), code[start_index:index]
        if (
            own != name
            or start.names() & set_in(between[1:])
            or any(line.inner is not None for line in between)
            or any(line.text.endswith("continue;") for line in own_level(node.inner))
        ):
            return 0
        begins = fold(test.put({name: self._converted(name, start)}))
        if not node.text.startswith("while (") and not (
            node.text == "do {" and any(self._same(begins, fact) for fact in facts)
        ):
            return 0
        text = f"for ({name} = {start}; {test}; {str(step)[:-1]}) {{"
        if len(text) > _MAX_FOR:
            return 0
        last = node.inner.pop()
        node.text = text
        node.places = places_of(node, last, code[start_index], node.tail)
        node.tail = Line("}")
        del code[start_index]
        return 1

    def start_loops(self, code: list[Node], facts: list[Tree], values: dict[str, Tree]) -> None:
        """Write the test of a loop at its beginning where conditions around it say that it holds there.

        ``facts`` hold at the beginning of the list, where variables have the values ``values``.
        """
        facts, values, index = list(facts), dict(values), 0
        while index < len(code):
            node = code[index]
            changed = set_in([node])
            if node.inner is not None:
                inner_facts = [*facts, *self._facts_of(code, index)]
                sets = set_in(node.inner) if node.is_loop or node.text.startswith("switch") else set()
                kept = {name: value for name, value in values.items() if not sets & {name, *value.names()}}
                self.start_loops(node.inner, [fact for fact in inner_facts if not sets & fact.names()], kept)
            if node.text == "do {" and node.inner and node.tail is not None:
                index -= self._start_loop(code, index, facts, values)
            name, value = assigned(node)
            facts = [fact for fact in facts if not changed & fact.names()]
            values = {} if node.text.endswith(":;") else values
            values = {word: own for word, own in values.items() if not changed & {word, *own.names()}}
            if name in self.kinds and not reads_memory(value) and name not in value.names():
                values[name] = self._converted(name, value)
            index += 1

    def halve_last(self) -> None:
        """Write loops that leave before they halve a number as ones that leave after it: where it is 0."""
        for code, index in backwards(self.code):
            node = code[index]
            if node.text != "for (;;) {" or len(node.inner or []) <= _PAIR:
                continue
            assert node.inner is not None
            self._count_halves(code, index)
            left, last = node.inner[-2:]
            step, test = step_of(last.text), normal(condition_of(left.text))
            divisor = number_of(step.value) or 0
            divisor = 1 << divisor if step.op == ">>=" else divisor if step.op == "/=" else 0
            most = number_of(form("X <= M", test)["M"]) if test.args[:1] == (step.target,) else None
            name = step.target.op
            if (
                not self._leaves(left)
                or most is None
                or most + 1 != divisor
                or self.kinds.get(name) not in (ty.D, ty.UD)
                or name in self.live().after.get(id(node), frozenset())
                or any(line.text.endswith("continue;") for line in own_level(node.inner))
            ):
                continue
            node.inner.remove(left)
            node.text, node.tail = "do {", Line(f"}} while ({name} > 0);", left.places)

    def _count_halves(self, code: list[Node], index: int) -> None:
        """Let a loop over a number whose half it computes at its beginning, and goes on with, count that half."""
        node = code[index]
        assert node.inner is not None
        (name, half), *_, left, last = (assigned(node.inner[0]), *node.inner[-2:])
        hit, test = form("X / N", half), form("X <= M", normal(condition_of(left.text)))
        whole, divisor, most = hit["X"], number_of(hit["N"]), number_of(test["M"])
        before = next((line for line in code[:index][::-1] if whole.op in line.names), node)
        own, start = assigned(before)
        if (
            self.kinds.get(whole.op) is not ty.D
            or self.kinds.get(name) is not ty.D
            or own != whole.op
            or test["X"] != whole
            or assigned(last) != (whole.op, leaf(name))
            or not divisor
            or most is None
            or (most + 1) % divisor
            or most < divisor
            or any(name in line.names for line in code[code.index(before) + 1 : index])
            or sum(whole in list(tree.walk()) for line in walk(node.inner) for tree in step_of(line.text).trees) != 3
            or any(line.text.endswith("continue;") for line in own_level(node.inner))
            or {name, whole.op} & self.live().after.get(id(node), frozenset())
        ):
            return
        value = self._converted(own, start)
        before.text = f"{name} = {Tree('/', (value, leaf(divisor)))};"
        left.text = f"if ({name} <= {(most + 1) // divisor - 1}) break;"
        last.text = f"{name} /= {divisor};"
        del node.inner[0]

    def _start_loop(self, code: list[Node], index: int, facts: list[Tree], values: Mapping[str, Tree]) -> int:
        """Write the test of a loop at its beginning if it holds there; return the number of lines before it that are gone."""
        node = code[index]
        assert node.inner is not None
        test = loop_test(node)
        begins = fold(test.put(values))
        if reads_memory(test) or any(line.text.endswith("continue;") for line in own_level(node.inner)):
            return 0
        whole = _resolved(test, values)
        if not any(self._implies(fact, begins) or self._implies(_resolved(fact, values), whole) for fact in facts):
            return 0
        *_, before, last = [Node(""), *node.inner]
        counts = [step_of(line.text) for line in (before, last)]
        if counts[0].target.op in test.names() and not counts[1].target.args and counts[0].op and counts[1].op:
            apart = counts[0].target.op not in last.own_names() and counts[1].target.op not in before.own_names()
            if apart and counts[1].target.op not in test.names():
                node.inner[-2:] = [last, before]
        gone = self._count(code, index, [fold(test.put({name: value})) for name, value in values.items()])
        if not gone:
            node.text, node.places, node.tail = f"while ({test}) {{", places_of(node, node.tail or node), Line("}")
        return gone

    def drop_guards_of_loops(self) -> None:
        """Drop a condition around a `for` that is the test of its first round."""
        for code, index in backwards(self.code):
            guard, *others = chain_of(code, index)
            inner = guard.inner or []
            loop = step_of(inner[0].text) if len(inner) == 1 and guard.text.startswith("if (") else Step((), ())
            if others or loop.words[:1] != ("for (",) or loop.words[1] != " = ":
                continue
            name, start, test = loop.trees[:3]
            is_own = count_of(rf"\b{name.op}\b", [guard]) == self.body.uses(name.op)
            if not is_own and name.op in self.live().after.get(id(guard), frozenset()):
                continue
            holds, begins = condition_of(guard.text), fold(test.put({name.op: start}))
            if self._implies(holds, begins) and self._implies(self.opposite(holds), self.opposite(begins)):
                inner[0].places = places_of(inner[0], guard)
                code[index : index + 1] = inner

    def _implies(self, fact: Tree, test: Tree) -> bool:
        """Return whether a condition holds where another one does."""
        test, fact = self._narrow(test), self._narrow(fact)
        if self._same(fact, test):
            return True
        fact, test = self._of_whole(normal(fact)), self._of_whole(normal(test))
        for pattern, sign in (("M <= X", 1), ("X <= M", -1)):
            given, wanted = form(pattern, fact), form(pattern, test)
            number, limit = number_of(given["M"]), number_of(wanted["M"])
            if number is not None and limit is not None and given["X"] == wanted["X"]:
                return number * sign >= limit * sign
        return False

    def _of_whole(self, test: Tree) -> Tree:
        """Return a comparison of a half, or another part, of a number with 0 or 1 as one of the number."""
        for pattern, value in _OF_HALVES.items():
            hit = form(pattern, test)
            whole, number = _plain_id(hit["X"]), number_of(hit["N"])
            if number is None or number <= 0:
                continue
            divisor = number if "/" in pattern else 1 << number
            is_positive = whole.op in PURE or self.kinds.get(whole.op) is ty.UD
            if is_positive or ("/" in pattern and "<=" in pattern):
                return filled(value, {"X": whole, "D": leaf(divisor), "E": leaf(divisor - 1)})
        return test

    def _narrow(self, test: Tree) -> Tree:
        """Return a comparison with a number of 64 bits without the cast of an unsigned one of 32, which C makes itself."""
        is_wide = any(self.body.type_name(arg.op) in ("long", "ulong") for arg in test.args)
        if test.op not in NEGATED or not is_wide:
            return test
        casts = ("(long)", "(ulong)")
        return Tree(
            test.op,
            tuple(
                arg.args[0] if arg.op in casts and self.kinds.get(arg.args[0].op) is ty.UD else arg for arg in test.args
            ),
        )

    def _step_last(self, code: list[Node], index: int) -> None:
        """Let a loop begin with the half of a variable, if it halves that at its beginning and needs nothing but halves."""
        node, inner = code[index], code[index].inner or []
        step, hit = step_of(inner[0].text), form("X >= N", condition_of(node.text))
        name, count, least = hit["X"].op, number_of(step.value), number_of(hit["N"])
        if step.op != ">>=" or step.target != hit["X"] or name not in self.kinds or not node.text.startswith("while ("):
            return
        if (
            not count
            or not least
            or least % (1 << count)
            or len(setters(inner, name)) != 1
            or name in self.live().after.get(id(node), frozenset())
            or any(line.text.endswith("continue;") for line in own_level(inner))
        ):
            return
        before = next((line for line in code[:index][::-1] if name in line.names), node)
        own, start = assigned(before)
        if own != name:
            return
        before.text = f"{name} = {Tree('>>', (start, leaf(count)))};"
        inner.append(inner.pop(0))
        end = least >> count
        unsigned = self.kinds[name] is ty.UD and end == 1
        node.text = f"while ({name} > 0) {{" if unsigned else f"while ({name} >= {end}) {{"

    def _count_last(self, code: list[Node], index: int) -> None:
        """Let a loop count at its end, if it does so at its beginning and then uses the old number."""
        node, inner = code[index], code[index].inner or []
        name, step = step_of(inner[0].text).target.op, step_of(inner[0].text)
        if (
            node.text != "do {"
            or step.words[1:] != ("++;",)
            or self.kinds.get(name) not in (ty.D, ty.UD)
            or name in self.live().after.get(id(node), frozenset())
        ):
            return
        old = Tree("-", (leaf(name), leaf(1)))
        leaves = any(line.text.endswith("continue;") for line in own_level(inner))
        leaves = leaves or any(GOTO.search(line.text) for line in walk(inner))
        if leaves or len(setters(inner, name)) != 1 or old not in set(trees_of(inner)):
            return
        hidden = leaf(f"{name}_old")  # so that the new number in place of the rest meets no old one
        change_lines(inner[1:], in_place_of(old, hidden))
        change_lines(inner[1:], in_place_of(leaf(name), Tree("+", (leaf(name), leaf(1)))))
        change_lines(inner[1:], in_place_of(hidden, leaf(name)))
        inner.append(inner.pop(0))


def _resolved(tree: Tree, values: Mapping[str, Tree]) -> Tree:
    """Return a condition with values in place of variables, and with theirs in place of those that they name."""
    for _ in range(_MAX_RESOLVED):
        tree = tree.put(values)
    return fold(tree)


def own_level(code: list[Node]) -> Iterator[Node]:
    """Yield the lines of a loop, without those of loops inside of it."""
    for node in code:
        yield node
        if node.inner is not None and not node.is_loop:
            yield from own_level(node.inner)


def stores(node: Node) -> bool:
    """Return whether a line may change memory."""
    step = step_of(node.text)
    if not step.trees:
        return node.text not in ("break;", "continue;", "return;")
    calls = (part.op for tree in step.trees for part in tree.walk() if part.op.endswith("()"))
    is_assignment = len(step.words) > 1 and not step.words[0]
    return any(call.startswith(("atomic", "barrier", "write", "memcpy", "one_for_all", "fence")) for call in calls) or (
        is_assignment and any(part.op in ("[]", "u*") for part in step.target.walk())
    )


def _without_zeros(tree: Tree) -> Tree:
    """Return a sum without zeros."""
    return tree.change(partial(rewritten, rules={"A + 0": "A", "A - 0": "A", "0 + A": "A"}))
