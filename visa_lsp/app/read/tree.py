"""Lines of C as trees: expressions with their operators, and the text around them.

A tree prints as the text that it was parsed from, but for brackets that C does not need.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

WORD: Final = re.compile(r"[A-Za-z_]\w*")
NEGATED: Final = {"<": ">=", ">": "<=", "<=": ">", ">=": "<", "!=": "==", "==": "!="}
COMPONENTS: Final = (".x", ".y", ".z", ".w")
WIDE: Final = ("(long)", "(ulong)")
WORDS: Final = ("(int)", "(uint)")
INTEGERS: Final = (*WORDS, *WIDE)
NARROW: Final = ("(char)", "(uchar)", "(short)", "(ushort)")
MIRROR: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!=", "==": "=="}
_TOKEN: Final = re.compile(
    r'\s*("(?:[^"\\]|\\.)*"|0x[0-9a-f]+\w*|\d[\d.]*(?:e[-+]?\d+)?\w*|[A-Za-z_]\w*|<<=|>>=|&&|\|\||\+\+|--|<<|>>|[-+*/%&|^<>=!]=|[^\s])'
)
_TYPE: Final = re.compile(r"(?:u?(?:char|short|int|long)|half|float|double|bool|void|bfloat)(?:2|3|4|8|16)?")
_BINARY: Final = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"), ("*", "/", "%"),
)  # fmt: skip
RANK: Final = {sign: rank + 2 for rank, signs in enumerate(_BINARY) for sign in signs}
_UNARY_RANK: Final = len(_BINARY) + 2
_SIGNS: Final = ("-", "~", "!", "&", "*")
_ASSIGN: Final = ("=", "+=", "-=", "*=", "/=", "<<=", ">>=", "&=", "|=", "^=", "%=")


def find_close(text: str) -> int:
    """Return the place of the bracket that closes the first one."""
    depth = 0
    for index, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return index
    return len(text)


@lru_cache(maxsize=20_000)
def words_of(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(WORD.findall(text))


class Tree(Struct, frozen=True):
    """An expression. ``op`` is a name or a number, `f()` of a call, `(int)` of a cast, `[]`, `.x`, `u-`, `+`, `?` or `{int2}`."""

    op: str
    args: tuple[Tree, ...] = ()

    def __str__(self) -> str:
        """Return the text in C."""
        return _text(self)[0]

    def walk(self) -> Iterator[Tree]:
        """Yield the tree and all trees inside of it."""
        yield self
        for arg in self.args:
            yield from arg.walk()

    def names(self) -> set[str]:
        """Return the variables, arguments and functions without arguments that it names."""
        return {tree.op for tree in self.walk() if not tree.args and not tree.op[0].isdigit()}

    def change(self, rule: Callable[[Tree], Tree | None]) -> Tree:
        """Apply a rule to all trees inside, then to the tree itself; None keeps a tree."""
        args = tuple(arg.change(rule) for arg in self.args)
        new = self if args == self.args else Tree(self.op, args)
        return rule(new) or new

    def put(self, values: Mapping[str, Tree]) -> Tree:
        """Put values in place of variables."""
        return self.change(lambda tree: values.get(tree.op) if not tree.args else None)


NOTHING: Final = Tree("nothing()")  # in place of a tree that is not there; no line has it


class Parts(dict[str, Tree]):
    """The trees of the names in capitals of a pattern; NOTHING for another name."""

    def __missing__(self, name: str) -> Tree:
        """Return NOTHING, so that a form that a tree does not have needs no test of its own."""
        return NOTHING


def in_place_of(old: Tree, new: Tree) -> Callable[[Tree], Tree | None]:
    """Return the rule that writes one tree in place of another."""
    return lambda tree: new if tree == old else None


def leaf(word: object) -> Tree:
    """Return a name or a number."""
    return Tree(str(word))


def terms(tree: Tree) -> list[Tree]:
    """Return the terms of a sum."""
    return [*terms(tree.args[0]), *terms(tree.args[1])] if tree.op == "+" and len(tree.args) == 2 else [tree]


def sum_of(parts: Sequence[Tree]) -> Tree:
    """Return the sum of some terms."""
    whole = parts[0]
    for term in parts[1:]:
        whole = Tree("+", (whole, term))
    return whole


def linear(tree: Tree) -> Counter[str]:
    """Return the factors of the terms of a sum, by their texts; a number is a factor of the empty text."""
    number, factors = number_of(tree), Counter[str]()
    if number is not None:
        factors[""] = number
    elif tree.op == "+" and len(tree.args) == 2:
        for arg in tree.args:
            factors.update(linear(arg))
    elif tree.op == "-" and (number := number_of(tree.args[-1])) is not None and len(tree.args) > 1:
        factors.update(linear(tree.args[0]))
        factors[""] -= number
    elif tree.op == "<<" and (shift := number_of(tree.args[1])) is not None:
        factors.update({word: own << shift for word, own in linear(tree.args[0]).items()})
    elif tree.op == "*" and (numbers := [number_of(arg) for arg in tree.args]) != [None, None]:
        place = 1 if numbers[1] is not None else 0
        times = numbers[place] or 0
        factors.update({word: own * times for word, own in linear(tree.args[1 - place]).items()})
    else:
        factors[str(tree)] = 1
    return factors


def number_of(tree: Tree) -> int | None:
    """Return the value of an integer constant; None for another tree."""
    if tree.op in ("u-", "(uint)", "(int)") and len(tree.args) == 1:
        number = number_of(tree.args[0])
        return None if number is None else -number if tree.op == "u-" else number
    hit = re.fullmatch(r"(0x[0-9a-f]+|\d+)u?", tree.op) if not tree.args else None
    return int(hit[1], 0) if hit is not None else None


def uncast(tree: Tree) -> Tree:
    """Return a value without its casts."""
    while tree.op.startswith("(") and tree.op.endswith(")") and len(tree.args) == 1:
        tree = tree.args[0]
    return tree


def without_casts(tree: Tree, casts: Sequence[str]) -> Tree:
    """Return a value without some casts, at any depth."""
    return tree.change(lambda part: part.args[0] if part.op in casts else None)


def matched(pattern: Tree, tree: Tree, trees_by_name: dict[str, Tree]) -> bool:
    """Return whether a tree has the form of a pattern, whose names in capitals stand for any trees; note these."""
    if not pattern.args and pattern.op.isupper() and pattern.op != "INFINITY":
        return trees_by_name.setdefault(pattern.op, tree) == tree
    return (
        pattern.op == tree.op
        and len(pattern.args) == len(tree.args)
        and all(matched(a, b, trees_by_name) for a, b in zip(pattern.args, tree.args, strict=True))
    )


def form(pattern: str, tree: Tree, **given: Tree) -> Parts:
    """Return what the names in capitals of a pattern stand for in a tree; nothing if it has another form, or other ``given`` trees."""
    parts = Parts(given)
    return parts if matched(_pattern(pattern), tree, parts) else Parts()


def filled(pattern: str, parts: Mapping[str, Tree]) -> Tree:
    """Return a pattern with trees in place of its names."""
    return _pattern(pattern).put(parts)


def rewritten(tree: Tree, rules: Mapping[str, str], **given: Tree) -> Tree | None:
    """Return a tree by the first rule whose pattern it has; None if there is none."""
    hits = ((form(pattern, tree, **given), value) for pattern, value in rules.items())
    return next((filled(value, hit) for hit, value in hits if hit), None)


def _pattern(text: str) -> Tree:
    tree = parse(text)
    assert tree is not NOTHING, text
    return tree


def _text(tree: Tree) -> tuple[str, int]:
    """Return the text of a tree and the rank of its operator."""
    op, args = tree.op, tree.args
    if op.endswith("()"):
        return f"{op[:-1]}{', '.join(map(str, args))})", 20
    if not args:
        return op, 20
    if op == "[]":
        return f"{_within(args[0], 20)}[{args[1]}]", 20
    if op[0] == "{":
        return f"({op[1:-1]}){{{', '.join(map(str, args))}}}", 20
    if op[0] == ".":
        return f"{_within(args[0], 20)}{op}", 20
    if op == "?":
        test = str(args[0]) if _text(args[0])[1] >= _UNARY_RANK else f"({args[0]})"
        return f"{test} ? {_within(args[1], 2)} : {_within(args[2], 2)}", 1
    if len(args) == 1:
        sign = op[1:] if op[0] == "u" else op
        inner = _within(args[0], _UNARY_RANK)
        return (
            f"{sign}{' ' if sign[0].isalpha() else ''}{f'({inner})' if inner[0] == sign == '-' else inner}",
            _UNARY_RANK,
        )
    rank = RANK[op]
    left, right = _within(args[0], _least(op, args[0])), _within(args[1], _least(op, args[1], right=True))
    return f"{left} {op} {right}", rank


def _least(op: str, part: Tree, *, right: bool = False) -> int:
    """Return the rank that a part of a binary operation needs to stand without brackets."""
    rank = RANK[op]
    other = RANK.get(part.op, 20) if len(part.args) == 2 else 20
    if op in ("<<", ">>", "&", "|", "^") and other < 20:
        return 20 if part.op != op or right else rank
    if op in ("&&", "||") and part.op in ("&&", "||") and part.op != op:
        return 20
    if op in ("==", "!=", "<", ">", "<=", ">="):
        return RANK["+"]
    return rank + (right and not (op == part.op == "&&"))


def _within(tree: Tree, rank: int) -> str:
    text, own = _text(tree)
    return text if own >= rank else f"({text})"


class _Parser:
    def __init__(self, text: str) -> None:
        self.tokens: list[str] = [*_TOKEN.findall(text), ""]
        self.at = 0

    def take(self, word: str = "") -> str:
        token = self.tokens[self.at]
        if word and token != word:
            raise ValueError(token)
        self.at += 1
        return token

    def has(self, word: str) -> bool:
        if self.tokens[self.at] == word:
            self.at += 1
            return True
        return False

    def expression(self) -> Tree:
        test = self.binary(0)
        if not self.has("?"):
            return test
        yes = self.expression()
        self.take(":")
        return Tree("?", (test, yes, self.expression()))

    def binary(self, level: int) -> Tree:
        if level == len(_BINARY):
            return self.unary()
        left = self.binary(level + 1)
        while self.tokens[self.at] in _BINARY[level]:
            sign = self.take()
            left = Tree(sign, (left, self.binary(level + 1)))
        return left

    def cast(self) -> str:
        """Take the type of a cast; empty, and nothing taken, if there is none."""
        index = self.at + 1
        words: list[str] = []
        while self.tokens[index] in ("global", "local", "constant", "struct", "const") or (
            _TYPE.fullmatch(self.tokens[index]) or (words and words[-1] == "struct")
        ):
            words.append(self.tokens[index])
            index += 1
        stars = 0
        while words and self.tokens[index] == "*":
            stars, index = stars + 1, index + 1
        if not words or self.tokens[index] != ")":
            return ""
        self.at = index + 1
        return " ".join(words) + (" " + "*" * stars if stars else "")

    def unary(self) -> Tree:
        word = self.tokens[self.at]
        if word in (*_SIGNS, "sizeof"):
            self.at += 1
            return Tree(f"u{word}", (self.unary(),))
        if word == "(" and (type_ := self.cast()):
            if self.has("{"):
                return self.after(Tree(f"{{{type_}}}", self.list("}")))
            return Tree(f"({type_})", (self.unary(),))
        return self.after(self.atom())

    def atom(self) -> Tree:
        word = self.take()
        if word == "(":
            inner = self.expression()
            self.take(")")
            return inner
        if not re.match(r'[\w"]', word):
            raise ValueError(word)
        return Tree(f"{word}()", self.list(")")) if self.has("(") else Tree(word)

    def after(self, tree: Tree) -> Tree:
        while True:
            if self.has("["):
                tree = Tree("[]", (tree, self.expression()))
                self.take("]")
            elif self.has("."):
                tree = Tree(f".{self.take()}", (tree,))
            else:
                return tree

    def list(self, end: str) -> tuple[Tree, ...]:
        trees: list[Tree] = []
        while not self.has(end):
            if trees:
                self.take(",")
            trees.append(self.expression())
        return tuple(trees)


@lru_cache(maxsize=20_000)
def parse(text: str) -> Tree:
    """Return an expression; NOTHING for another text."""
    try:
        parser = _Parser(text)
        tree = parser.expression()
        return tree if parser.tokens[parser.at] == "" else NOTHING
    except (ValueError, IndexError):
        return NOTHING


class Step(Struct, frozen=True):
    """A line: its expressions, and the words around them, one more; a line without expressions is one word."""

    words: tuple[str, ...]
    trees: tuple[Tree, ...]

    def __str__(self) -> str:
        """Return the text in C."""
        return "".join(f"{word}{tree}" for word, tree in zip(self.words, self.trees, strict=False)) + self.words[-1]

    @property
    def op(self) -> str:
        """The operator of an assignment; empty for another line."""
        return self.words[1].strip(" ;") if not self.words[0] and len(self.words) > 1 else ""

    @property
    def target(self) -> Tree:
        """The first expression, which an assignment sets."""
        return self.trees[0] if self.trees else NOTHING

    @property
    def value(self) -> Tree:
        """The last expression, the right side of an assignment."""
        return self.trees[-1] if self.trees else NOTHING

    @property
    def targets(self) -> list[Tree]:
        """The places that the line sets."""
        return [tree for word, tree in zip(self.words[1:], self.trees, strict=True) if SETS.fullmatch(word)]


_PREFIX: Final = re.compile(r"(?:each_lane\(\d+, \d+\) |once )")
_HEAD: Final = re.compile(
    r"((?:\} else )?(?:if|while|switch) \(|\} while \()(.*)(\) \{|\);|\) (?:break|continue|return|goto \w+);)"
)


@lru_cache(maxsize=20_000)
def step_of(text: str) -> Step:
    """Return a line as trees: an assignment, a call, a condition, or a `for`; without trees for another one."""
    other = Step((text,), ())
    hit = _HEAD.fullmatch(text)
    if hit is not None and (tree := parse(hit[2])) is not NOTHING:
        return Step((hit[1], hit[3]), (tree,))
    if text.startswith("for (") and ";; " in text:
        begin_step, after_step = (step_of(f"{part};") for part in text[len("for (") : -len(") {")].split(";; "))
        if not begin_step.trees or not after_step.trees:
            return other
        joint = f"{begin_step.words[-1]}; {after_step.words[0]}"
        words = (f"for ({begin_step.words[0]}", *begin_step.words[1:-1], joint, f"{after_step.words[-1][:-1]}) {{")
        return Step(words, (*begin_step.trees, *after_step.trees))
    if text.startswith("for (; ") and text.count("; ") == 2:
        _, middle, after = text.removesuffix(") {").split("; ")
        test, after_step = parse(middle), step_of(f"{after};")
        if test is NOTHING or not after_step.trees:
            return other
        end_words = (*after_step.words[1:-1], f"{after_step.words[-1][:-1]}) {{")
        return Step(("for (; ", "; ", *end_words), (test, *after_step.trees))
    if text.startswith("for (") and text.count("; ") == 2:
        begin, middle, after = text[len("for (") : -len(") {")].split("; ")
        begin_step, test, after_step = step_of(f"{begin};"), parse(middle), step_of(f"{after};")
        if not begin_step.trees or test is NOTHING or not after_step.trees:
            return other
        begin_words, end_words = begin_step.words[:-1], after_step.words[1:-1]
        words = (
            "for (" + begin_words[0],
            *begin_words[1:],
            f"{begin_step.words[-1]} ",
            "; ",
            *end_words,
            f"{after_step.words[-1][:-1]}) {{",
        )
        return Step(words, (*begin_step.trees, test, *after_step.trees))
    prefix = _PREFIX.match(text)
    end = find_close(text[3:]) + 3 if text.startswith("if (") else prefix.end() - 1 if prefix is not None else 0
    if end and text.endswith(";"):
        inner = step_of(text[end + 1 :].lstrip())
        test = parse(text[4:end])
        if not inner.trees or (test is NOTHING and prefix is None):
            return other
        if prefix is not None:
            return Step((text[: end + 1] + inner.words[0], *inner.words[1:]), inner.trees)
        return Step(("if (", f") {inner.words[0]}", *inner.words[1:]), (test, *inner.trees))
    if not text.endswith(";") or text.startswith(("for", "return", "break", "continue", "goto", "case", "default")):
        return other
    try:
        parser = _Parser(text[:-1])
        target = parser.expression()
        sign = parser.take()
        if sign in _ASSIGN:
            value = parser.expression()
            return Step(("", f" {sign} ", ";"), (target, value)) if not parser.tokens[parser.at] else other
        if sign in ("++", "--") and not parser.tokens[parser.at]:
            return Step(("", f"{sign};"), (target,))
        return Step(("", ";"), (target,)) if not sign else other
    except (ValueError, IndexError):
        return other


@lru_cache(maxsize=20_000)
def set_names(text: str) -> frozenset[str]:
    """Return the variables that a line may set, or a part of; all its words if it is no tree."""
    step = step_of(text)
    if not step.trees:
        return words_of(text)
    copied = [part for tree in step.trees for part in tree.walk() if part.op == "memcpy()"]
    return frozenset(map(owner, step.targets)).union(*(part.args[0].names() for part in copied))


def owner(place: Tree) -> str:
    """Return the variable that a place is, or is a part of."""
    while place.args:
        place = place.args[0]
    return place.op


def is_set(text: str, name: str) -> bool:
    """Return whether a line may set a variable, or a part of it."""
    return name in set_names(text)


SETS: Final = re.compile(r" (?:[-+*/%&|^]|<<|>>)?= |(?:\+\+|--)(?:;|\) \{)?")
