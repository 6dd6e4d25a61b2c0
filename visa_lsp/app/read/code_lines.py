"""Lines of C, with the lines inside of their braces."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from visa_lsp.app.read.names import c_type
from visa_lsp.app.read.tree import (
    NEGATED,
    NOTHING,
    WORD,
    Parts,
    Step,
    Tree,
    form,
    is_set,
    leaf,
    matched,
    parse,
    set_names,
    step_of,
    words_of,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from visa_lsp.app.read.expressions import Text
    from visa_lsp.isa.types import DataType
    from visa_lsp.program.payload import Record

_ASSIGNED: Final = re.compile(r"(\w+) = ")
COUNTED: Final = re.compile(r"for \((\w+) = 0; \1 < (\d+); \1\+\+\) \{")
_REALS: Final = ("float", "half", "double")
_REAL: Final = re.compile(r"\b\d+\.")
_RANKS: Final = {"||": 1, "&&": 1.5, "|": 2, "^": 3, "&": 4, "<<": 6, ">>": 6, "+": 7, "-": 7, "*": 8, "/": 8, "%": 8, "?": 0}  # fmt: skip


class Line(Struct, frozen=True):
    """A line of C: its text, and the numbers of its instructions."""

    text: str
    places: tuple[int, ...] = ()


@dataclass(slots=True, eq=False)
class Node:
    """A line with the lines inside of its braces, and the line that closes them.

    ``range`` has the type and the limits of an assigned value, ``meets_for`` the arrays for which lanes meet at a line.
    """

    text: str
    places: tuple[int, ...] = ()
    inner: list[Node] | None = None
    tail: Line | None = None
    is_loop: bool = False
    range: Text | None = None
    meets_for: set[str] = field(default_factory=set)

    @property
    def continues(self) -> bool:
        """True for `} else {`."""
        return self.text.startswith("} else")

    @property
    def assigns(self) -> str:
        """The variable that the line sets in all its lanes; empty for another line."""
        hit = _ASSIGNED.match(self.text)
        return hit[1] if hit is not None else ""

    @property
    def value(self) -> Text | None:
        """The right side of an assignment, if its type is known."""
        if self.range is None or not self.assigns:
            return None
        text = self.text.partition(" = ")[2].removesuffix(";")
        if text == self.range.text:
            return self.range
        tree = parse(text)
        return replace(self.range, text=text, rank=rank_of(tree) if tree is not NOTHING else 0)

    @property
    def names(self) -> frozenset[str]:
        """The words of the line and of those inside of it."""
        own = self.own_names()
        return own.union(*(inner_node.names for inner_node in self.inner)) if self.inner else own

    def texts(self) -> tuple[str, ...]:
        """Return its own lines."""
        return (self.text,) if self.tail is None else (self.text, self.tail.text)

    def own_names(self) -> frozenset[str]:
        """Return the words of its own lines."""
        own = words_of(self.text)
        return own if self.tail is None else own | words_of(self.tail.text)

    def change(self, change: Callable[[str], str]) -> None:
        """Change the texts of its own lines."""
        self.text = change(self.text)
        if self.tail is not None:
            self.tail = replace(self.tail, text=change(self.tail.text))


@dataclass(slots=True, eq=False)
class Body:
    """The lines of a body, and what is known of its variables and arguments by name."""

    code: list[Node]
    types: dict[str, str]  # declarations of variables
    kinds: dict[str, DataType]  # of variables that are no arrays and no vectors
    elements: dict[str, str]  # pointers, and the array of local memory -> types of their elements
    scalars: Mapping[str, str]  # arguments -> their types
    sizes: Sequence[int]  # of a group, if a launch must have them; zeros else
    surfaces: frozenset[str]  # arrays that offsets of 32 bits address: no index is negative
    lanes: int = 0  # of a thread
    private_bytes: int = 0  # of scratch memory, for the arrays of all lanes
    fields: dict[str, str] = field(default_factory=dict)  # structures with their fields
    locals: frozenset[str] = frozenset()  # arrays in shared local memory
    records: Mapping[str, Record] = field(default_factory=dict)  # structures of the source by name

    def new(self, kind: DataType, count: int = 0) -> str:
        """Return a new variable, or an array."""
        name = self.new_vector(c_type(kind))
        if count:
            self.types[name] += f"[{count}]"
        else:
            self.kinds[name] = kind
        return name

    def copy_of(self, name: str) -> str:
        """Return a new variable of the type of another one."""
        return self.new(self.kinds[name]) if name in self.kinds else self.new_vector(self.type_name(name))

    def new_vector(self, word: str) -> str:
        """Return the name of a new variable of a vector type."""
        name = f"V_{len(self.types)}"
        self.types[name] = f"{word} {name}"
        return name

    def type_name(self, name: str) -> str:
        """Return the type of a variable or an argument."""
        return self.types[name].partition(" ")[0] if name in self.types else self.scalars.get(name, "")

    def is_float(self, tree: Tree) -> bool:
        """Return whether a value is a variable, an element or a field of the type float."""
        if tree.op == "[]":
            return self.elements.get(tree.args[0].op) == "float"
        if tree.op[0] == "." and tree.args and tree.args[0].op == "[]":
            return self.field_type(tree) == "float"
        return not tree.args and self.type_name(tree.op) == "float"

    def field_type(self, tree: Tree) -> str:
        """Return the type of a field of an element; empty where it has none."""
        fields = self.fields.get(self.elements.get(tree.args[0].args[0].op, "").removeprefix("struct ").strip(), "")
        hit = re.search(rf"(\w+) {tree.op[1:]};", fields)
        return hit[1] if hit is not None else ""

    def has_floats(self, tree: Tree) -> bool:
        """Return whether a value may be, or be computed from, a NaN."""
        words = words_of(str(tree))
        types = (self.type_name(word) or self.elements.get(word, "") for word in words)
        fields = (
            self.field_type(part) for part in tree.walk() if part.op[0] == "." and part.args and part.args[0].op == "[]"
        )
        return any(word.startswith(_REALS) for word in (*words, *types, *fields)) or _REAL.search(str(tree)) is not None

    def uses(self, name: str) -> int:
        """Return how often lines name a variable."""
        lines = (node.texts() for node in walk(self.code) if name in node.own_names())
        return sum(WORD.findall(text).count(name) for texts in lines for text in texts)


def texts_of(code: Iterable[Node]) -> Iterator[str]:
    """Yield the texts of all lines, those inside of others too."""
    for node in walk(code):
        yield from node.texts()


def count_of(pattern: str, code: list[Node]) -> int:
    """Return the number of matches in lines, those inside of others too."""
    return sum(len(re.findall(pattern, text)) for text in texts_of(code))


def word_counts(code: Iterable[Node]) -> Counter[str]:
    """Return how often lines have each word."""
    return Counter(word for text in texts_of(code) for word in WORD.findall(text))


def set_counts(code: Iterable[Node]) -> Counter[str]:
    """Return how many lines may set each variable, or a part of it."""
    return Counter(name for node in walk(code) for name in set_names(node.text))


def setters_by_name(code: Iterable[Node]) -> defaultdict[str, list[Node]]:
    """Return the lines that may set each variable, or a part of it."""
    setting: defaultdict[str, list[Node]] = defaultdict(list)
    for node in walk(code):
        for name in set_names(node.text):
            setting[name].append(node)
    return setting


def walk(code: Iterable[Node]) -> Iterator[Node]:
    """Yield all lines, those inside of others too."""
    for node in code:
        yield node
        if node.inner is not None:
            yield from walk(node.inner)


def lists_of(code: list[Node]) -> Iterator[list[Node]]:
    """Yield a list of lines, then the lists inside of it."""
    yield code
    for node in code:
        if node.inner is not None:
            yield from lists_of(node.inner)


def backwards(code: list[Node], until: int = 0) -> Iterator[tuple[list[Node], int]]:
    """Yield all lists of lines with the indexes of their lines, from the last one down to ``until``, so that lines may go."""
    for lines in lists_of(code):
        for index in range(len(lines) - 1, until - 1, -1):
            yield lines, index


def chain_of(code: list[Node], index: int) -> list[Node]:
    """Return a line, and the branches after it that continue it."""
    end = index + 1
    while end < len(code) and code[end].continues:
        end += 1
    return code[index:end]


def steps_of(code: Iterable[Node]) -> Iterator[Step]:
    """Yield the steps of all lines that have trees."""
    for text in texts_of(code):
        if (step := step_of(text)).trees:
            yield step


def trees_of(code: Iterable[Node]) -> Iterator[Tree]:
    """Yield all trees of all lines, those inside of others too."""
    for step in steps_of(code):
        for tree in step.trees:
            yield from tree.walk()


def words_without_trees(code: Iterable[Node]) -> set[str]:
    """Return the words of the lines that have no trees, and so may do anything."""
    return {word for text in texts_of(code) if not step_of(text).trees for word in words_of(text)}


def set_in(code: Iterable[Node]) -> set[str]:
    """Return the variables that lines may set, or parts of; all words of lines that are no trees."""
    return {name for node in walk(code) for name in set_names(node.text)}


def names_of(code: Iterable[Node]) -> frozenset[str]:
    """Return the words of some lines."""
    return frozenset[str]().union(*(node.names for node in code))


def setters(code: Iterable[Node], name: str) -> list[Node]:
    """Return the lines that may set a variable, or a part of it."""
    return [node for node in walk(code) if is_set(node.text, name)]


def match_lines(patterns: Sequence[str], code: Sequence[Node]) -> Parts:
    """Return what the names in capitals of some patterns stand for in the first lines of a list; nothing if these have other forms."""
    parts = Parts()
    for pattern, node in zip(patterns, code, strict=False):
        wanted, step = step_of(pattern), step_of(node.text)
        if wanted.words != step.words or not all(
            matched(own, tree, parts) for own, tree in zip(wanted.trees, step.trees, strict=True)
        ):
            return Parts()
    return parts if len(code) >= len(patterns) else Parts()


def places_of(*nodes: Node | Line) -> tuple[int, ...]:
    """Return the instructions of some lines."""
    return tuple(sorted({place for node in nodes for place in node.places}))


def rank_of(tree: Tree) -> float:
    """Return the rank of a tree's operator, as texts of expressions have it."""
    if len(tree.args) == 1 and tree.op[0] in "u(" and not tree.op.endswith("()"):
        return 9
    return _RANKS.get(tree.op, 5 if tree.op in NEGATED else 10)


def assigned(node: Node) -> tuple[str, Tree]:
    """Return the variable that a line sets, and the value; no name for another line."""
    step = step_of(node.text)
    return (step.target.op, step.value) if step.op == "=" and not step.target.args else ("", NOTHING)


def set_form(node: Node, pattern: str, **given: Tree) -> Parts:
    """Return the parts of a value that a line assigns, and the variable as `TO`; nothing if the value has another form."""
    name, value = assigned(node)
    return form(pattern, value, **given, TO=leaf(name)) if name else Parts()


def condition_of(text: str) -> Tree:
    """Return the condition of a line that ends with one; NOTHING for another line."""
    step = step_of(text)
    return step.target if len(step.trees) == 1 and len(step.words[0]) > 1 else NOTHING


def loop_test(node: Node) -> Tree:
    """Return the condition of a loop, at its beginning or at its end."""
    return condition_of(node.tail.text if node.text == "do {" and node.tail is not None else node.text)


def change_lines(code: list[Node], rule: Callable[[Tree], Tree | None], places: tuple[int, ...] = ()) -> None:
    """Apply a rule to the trees of all lines; the first changed one stands for the instructions ``places`` too."""
    for node in walk(code):
        if change_line(node, rule):
            node.places, places = tuple(sorted({*node.places, *places})), ()


def change_line(node: Node, rule: Callable[[Tree], Tree | None]) -> bool:
    """Apply a rule to the trees of a line; return whether it has changed."""

    def change(text: str) -> str:
        step = step_of(text)
        trees = tuple(tree.change(rule) for tree in step.trees)
        return text if trees == step.trees else str(Step(step.words, trees))

    before = node.texts()
    node.change(change)
    return node.texts() != before


def place_declaration(code: list[Node], name: str, declaration: str) -> None:
    """Declare a variable in the innermost list that has all its uses; outside of loops, unless each round sets it first."""
    ways: list[tuple[list[Node], int, bool]] = []
    block, in_loop = code, False
    while True:
        using = [index for index, node in enumerate(block) if name in node.names]
        start = using[0]
        ways.append((block, start, in_loop))
        node = block[start]
        if len(using) > 1 or node.inner is None or name in node.own_names():
            break
        in_loop = in_loop or node.is_loop
        block = node.inner
    block, start, in_loop = ways[-1]
    node = block[start]
    head = f"for ({name} = "
    if node.text.startswith(head) and len(using) == 1:
        node.text = f"for ({declaration} = {node.text[len(head) :]}"
        return
    if node.assigns == name and name not in WORD.findall(node.text.partition(" = ")[2]):
        node.text = declaration + node.text[len(name) :]
        return
    while in_loop or block[start].text.startswith(("case ", "default:")):
        ways.pop()
        block, start, in_loop = ways[-1]
    while block[start].continues:
        start -= 1
    block.insert(start, Node(f"{declaration};"))
