"""Shortens lines of C as a person would: values move to their only use, loops that count become `for`.

A value moves only over lines that change nothing that it reads. ``value`` of a line is the right side of its assignment.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from visa_lsp.app.read.array_copies import spread_components, write_array_copies
from visa_lsp.app.read.choices import write_branches
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
    places_of,
    rank_of,
    set_form,
    set_in,
    setters,
    trees_of,
    walk,
)
from visa_lsp.app.read.counters import add_low_bits, use_counters
from visa_lsp.app.read.element_indexes import count_elements, divided, short_index
from visa_lsp.app.read.expressions import CHOICE, UNARY, Text, limits, text_of
from visa_lsp.app.read.half_tests import compare_whole
from visa_lsp.app.read.halves import CALLS
from visa_lsp.app.read.held_elements import HeldElements, unite_arrays
from visa_lsp.app.read.insertions import write_insertions
from visa_lsp.app.read.integer_forms import index_by_source, plain_range, write_integers
from visa_lsp.app.read.local_arrays import write_local_arguments
from visa_lsp.app.read.named_places import INTEGER_BITS, Places
from visa_lsp.app.read.names import BY_NAME, c_type
from visa_lsp.app.read.narrow import Narrower
from visa_lsp.app.read.plain_forms import Former
from visa_lsp.app.read.pointers import Pointers
from visa_lsp.app.read.quotients import (
    HighHalf,
    as_quotient,
    divide_by_counters,
    drop_zeros,
    find_divisor,
    high_half,
    join_divisions,
    join_guards,
    join_halvings,
    join_quotient,
    join_remainders,
    join_signs,
)
from visa_lsp.app.read.rolls import Roller
from visa_lsp.app.read.shape import Shaper, own_level, reads_memory
from visa_lsp.app.read.signs import Signs
from visa_lsp.app.read.skip_flags import drop_flags
from visa_lsp.app.read.sub_groups import fold_sub_groups
from visa_lsp.app.read.switches import MIN_CASES, Branch, find_cases, key_of, leave_before, split_by_tests, test_of
from visa_lsp.app.read.tree import (
    INTEGERS,
    NARROW,
    NEGATED,
    NOTHING,
    WORD,
    Parts,
    Step,
    Tree,
    filled,
    form,
    in_place_of,
    leaf,
    linear,
    number_of,
    parse,
    rewritten,
    step_of,
    without_casts,
)
from visa_lsp.app.read.uniform_arrays import spread_uniform_arrays
from visa_lsp.app.read.usual_forms import drop_constant_tests, write_continues, write_usual_forms
from visa_lsp.app.read.wide import Widener
from visa_lsp.isa import types as ty

if TYPE_CHECKING:
    from visa_lsp.app.read.cells import Declaration

_MAX_VALUE: Final = 70  # characters of a value that moves
_MAX_LINE: Final = 110
_MAX_SPLIT: Final = 8  # elements of an array that become variables
_ARITHMETIC: Final = ("+", "-", "*", "/", "%", "<", ">", "<=", ">=", "u-")
_HEX: Final = re.compile(r"0x[0-9a-f]{5,6}")
_MAX_DECIMAL: Final = 1 << 22  # greater ones are the bits of floats
_LAST_LANE: Final = 31  # of any thread
_MAX_VECTOR: Final = 130  # characters of a line that fills a vector
_FIRST_PART: Final = re.compile(r"(\w+)\.x = .*;")
_MEMORY: Final = re.compile(
    r"\*\(|\*slm|\w\[|\w\)\[|from_lane|ballot|any\(|all\(|one_for_all|atomic_|thread_value|image[fiu]|_(?:float|int|uint|half)\("
)
_STOPS: Final = re.compile(
    r"atomic_|barrier\(|sync_lanes|each_lane|^once|memcpy|goto|\bcall_|asm_visa|set_cr0|one_for_all|:;$|^return|break;|continue;|^(?!fence)\w+\(\);$"
)
_STORE: Final = re.compile(
    r"^(?:if \(.*\) )?(?:\*|\w[\w.]*\[|\(\().* [-+*/&|^]?=+ |^(?:if \(.*\) )?(?:\*|\w[\w.]*\[|\(\().*(?:\+\+|--);$"
)
_LANES: Final = re.compile(
    r"if \((?:lane <= (?P<last>\d+)|lane >= (?P<first>\d+)|(?P<low>\d+) <= lane && lane <= (?P<high>\d+))\) (?P<text>.+;)"
)
_COPY: Final = re.compile(r"\w+\[\d+\] = (?P<source>\w+)\[\d+\];")
_ELEMENT: Final = r"\(\((?P<word>\w+?)(?P<count>\d+) \*\)(?P<pointer>\w+)\)\[(?P<index>.+)\]"
_VECTOR_STORE: Final = re.compile(rf"{_ELEMENT} = (?P<name>\w+);")
_VECTOR_LOAD: Final = re.compile(rf"(?P<name>\w+) = {_ELEMENT};")
_HANDLES: Final = r"handle_of\((?P<image>\w+)\)|inline_sampler\(\d\)"
_MAX_STEADY: Final = 24  # characters of a value that moves into a loop
_MAX_CHOICE: Final = 90  # characters of a value that is chosen
_CHOICES: Final = {
    "(F ? A : 0) | (B & ~-F)": "F ? A : B", "A & -F": "F ? A : 0", "-F & A": "F ? A : 0",
}  # fmt: skip
_FLAGS: Final = {
    "A ? 1 : B": "A || B", "A ? B : 0": "A && B", "A & 1": "A", "A != 0": "A", "A == 0": "!A", "(A ? 1 : 0) != 0": "A", "(A ? 1 : 0) == 0": "!A",
}  # fmt: skip
_SCALE_ROUNDS: Final = 4  # each may make the terms of another sum offsets that are only divided
_SETS: Final = re.compile(r"\b(\w+)(?:\.\w+|\[[^\]]*\])?(?: [-+*/&|^]?= | <<= | >>= |\+\+|--)")
_PLAIN: Final = re.compile(
    r"(?P<name>[A-Za-z_]\w*)(?:\.[xyzw])?|\(uint\)\(ulong\)(?P<low>\w+)|\(uint\)\(\(ulong\)(?P<high>\w+) >> 32\)|"
    rf"\(?(?:\(\w+\)\(?)*(?:{_HANDLES})(?: >> 32)?\)?(?: \| 1(?:UL)?)?\)?|-?[\d.]+(?:e[-+]\d+)?f"
)


_ANY_PART: Final = re.compile(r"(?P<name>\w+)\.(?P<part>[xyzw]) = (?P<value>.*);")
_PART: Final = re.compile(r"(?P<name>\w+)\.(?P<part>[xyzw]) = (?P<value>-?\w+(?:\.[xyzw])?);")
_PLAIN_VALUES: Final = {
    "resinfo_uint(I, 0).x": "image_width(I)", "resinfo_uint(I, 0).y": "image_height(I)",
    "as_float(as_int(X) & 0x7fffffff)": "fabs(X)", "as_float(as_uint(X) & 0x7fffffff)": "fabs(X)",
    "X ^ -1": "~X", "-1 ^ X": "~X",
} | INTEGER_BITS  # fmt: skip


class Lanes(NamedTuple):
    """A line for the lanes from ``first`` to ``last``."""

    first: int
    last: int
    text: str

    def __str__(self) -> str:
        """Return the line with its condition."""
        if not self.first and self.last == _LAST_LANE:
            return self.text
        lower = f"lane <= {self.last}" if not self.first else f"{self.first} <= lane && lane <= {self.last}"
        return f"if ({f'lane >= {self.first}' if self.last == _LAST_LANE else lower}) {self.text}"


def lanes_of(text: str) -> Lanes | None:
    """Return a line that is for some lanes only."""
    hit = _LANES.fullmatch(text)
    if hit is None:
        return None
    return Lanes(int(hit["first"] or hit["low"] or 0), int(hit["last"] or hit["high"] or _LAST_LANE), hit["text"])


def in_decimal(tree: Tree) -> Tree | None:
    """Write the integers of a sum, a product or a comparison in decimal digits, unless their bits say more."""
    if tree.op not in _ARITHMETIC:
        return None
    return Tree(tree.op, tuple(map(_decimal, tree.args)))


def _decimal(tree: Tree) -> Tree:
    number = int(tree.op, 16) if _HEX.fullmatch(tree.op) else 0
    is_plain = number < _MAX_DECIMAL and number & number - 1 and number & number + 1 and number & 0xFFF
    return leaf(number) if is_plain else tree


def plain_value(tree: Tree) -> Tree | None:
    """Drop a conversion of a half to an integer and back, or one of two equal casts; subtract instead of adding a negative number; write an argument in place of its handle."""
    half = form("as_half((ushort)(uint)as_ushort(X))", tree) or form("as_half(as_ushort(X))", tree)
    if half and half["X"].op != "float_to_bf()":
        return half["X"]
    if tree.op == "u*" and tree.args[0].op == "u&":
        return tree.args[0].args[0]
    if tree.op in NARROW and tree.args[0].op in INTEGERS and tree.args[0].args[0].op == tree.op:
        return tree.args[0].args[0]
    if tree.op == "+" and len(tree.args) == 2 and tree.args[1].op == "u-" and tree.args[1].args[0].op[0].isdigit():
        return Tree("-", (tree.args[0], *tree.args[1].args))
    is_zero_extended = tree.op == "[]" and tree.args[1].op == "(ulong)" and tree.args[1].args[0].op == "(uint)"
    if is_zero_extended or (tree.op == "[]" and tree.args[1].op == "(long)"):  # an index is a number of 64 bits
        return Tree("[]", (tree.args[0], *tree.args[1].args))
    if tree.op not in ("image_at()", "sampler_at()"):
        return rewritten(tree, _PLAIN_VALUES)
    handle = without_casts(tree.args[0], INTEGERS)
    own = (form("H | 1", handle) or form("H | 1UL", handle) or {"H": handle})["H"]  # the lowest bit is a tag
    if own.op == "inline_sampler()":
        return Tree("constant_sampler()", own.args)
    return own.args[0] if own.op == "handle_of()" else None


class Idiom(NamedTuple):
    """Steps that compilers write for a call: variables with the forms of their values, how often lines name them, and the use."""

    steps: tuple[tuple[str, ...], ...]
    uses: Mapping[str, int]
    rules: Mapping[str, str]


class _Moving(NamedTuple):
    """A value that moves to the only use of its variable: the words in it, its instructions, whether it reads memory, and the elements if it reads nothing else."""

    name: str
    value: Text
    reads: set[str]
    places: tuple[int, ...]
    loads: bool
    elements: list[Tree] | None


_DIVIDE: Final = (
    ("B", "as_int(D) & 0x7f800000", "as_uint(D) & 0x7f800000"),
    ("F", "B >= 0x64000000 ? 2.3283064e-10f : (B == 0 ? 4.2949673e+09f : 1.0f)"),
)
_UNEQUAL_ONES: Final = "X == D && !(B == 0 || (WORD & 0x7fffff) == 0)"
_EQUAL: Final = (("P", _UNEQUAL_ONES.replace("WORD", "as_int(D)"), _UNEQUAL_ONES.replace("WORD", "as_uint(D)")),)
_EXPONENTIAL: Final = (
    ("W", "trunc(X * 1.442695f)"),
    ("L", "X < -105.0f"),
    ("M", "L ? 0.0f : exp2(W) * exp2(fma(W, -1.4286068e-06f, fma(W, -0.69314575f, X)) * 1.442695f)"),
)
_DENORMAL: Final = (("G", "(X & -0x7f800001) == X"),)
_IDIOMS: Final = (
    Idiom(_DENORMAL, {"G": 3}, {"as_float((-G & (X & (int)0x80000000)) | (X & ~-G))": "flush_denormal(as_float(X))"}),
    Idiom(_EXPONENTIAL, {"W": 4, "L": 2, "M": 2}, {"X > 105.0f ? INFINITY : M": "exp(X)"}),
    Idiom(
        _EXPONENTIAL[:1],
        {"W": 4},
        {"exp2(W) * exp2(fma(W, -1.4286068e-06f, fma(W, -0.69314575f, X)) * 1.442695f)": "exp_in_range(X)"},
    ),
    Idiom(_DIVIDE, {"B": 3, "F": 3}, {"recip(D * F) * X * F": "scaled_divide(X, D)"}),
    Idiom(
        (*_DIVIDE, *_EQUAL),  # a quotient that is 1 for equal numbers
        {"B": 4, "F": 3, "P": 2},
        {"P ? 1.0f : recip(D * F) * X * F": "approx_divide(X, D)"},
    ),
)


def _elements(value: Tree) -> list[Tree] | None:
    """Return the elements of arrays that a value loads; None for a value that depends on other memory or calls."""
    parts = list(value.walk())
    is_plain = not any(part.op in ("u*", "u&") or part.op.endswith("()") for part in parts)
    return [part for part in parts if part.op == "[]"] if is_plain else None


class Tidier:
    """Shortens the lines of one body."""

    def __init__(self, body: Body, declarations: Mapping[str, Declaration], filled: frozenset[str]) -> None:
        self.body, self.code, self.types, self.kinds = body, body.code, body.types, body.kinds
        self.filled = filled  # variables that a launch fills
        shared = {name: declared.type for name, declared in declarations.items() if declared.is_shared}
        plain = {name: declared for name, declared in declarations.items() if not declared.is_shared}
        self.shared = shared  # arrays that the lanes of a thread share -> types of their elements
        self.arrays = {
            name: declared.type
            for name, declared in plain.items()
            if 0 < declared.count <= _MAX_SPLIT and name not in filled
        }
        self.vectors = {
            name: declared.type for name, declared in plain.items() if not declared.count and name not in body.kinds
        }
        self.counts: Counter[str] = Counter()
        self.sets: Counter[str] = Counter()
        self.inlines_flags = False  # arrays are found by then, in whose indexes flags may be
        self.is_scaled = False
        self.given = frozenset(body.types)
        self.former, self.signs, self.shaper = Former(body), Signs(body), Shaper(body)
        self.widener = Widener(body, self.vectors, self.signs)

    def run(self) -> None:
        """Change the lines in place."""
        self.shaper.join_operators(swaps=False)
        self.former.load_parts()
        self._split()
        self._unite_lanes()
        self._halves()
        self.widener.join_flags()
        self._inline_all()
        self._spread_copies()
        self._count_words()
        if self.widener.order_carries():
            self.shaper.unite_copies()
        self.widener.join()
        self._inline_all()
        self.widener.spread()
        self._name_offsets()
        self.former.load_parts()
        self._split()
        self._inline_all()
        self._scale()
        self.is_scaled = True
        change_lines(self.code, short_index)
        self._drop_empty_copies()
        self._inline_all()
        spread_uniform_arrays(self.body, self.shared)
        fold_sub_groups(self.body, self.shared)
        self._atomics()
        self._halves()
        self.former.simplify_ids()
        self.shaper.run()
        self._inline_all()
        self._join()
        self.shaper.nest_rounds()
        drop_flags(self.body, self.shaper.opposite)
        self._quotients()
        join_halvings(self.body)
        join_divisions(self.body, self.signs.type_of)
        self._inline_all()
        change_lines(self.code, partial(drop_zeros, type_of=self.signs.type_of))
        join_signs(self.body, self.signs.type_of)
        self._inline_all()
        change_lines(self.code, partial(as_quotient, type_of=self.signs.type_of))
        join_remainders(self.body)
        self._switches(self.code)
        self._choose()
        join_guards(self.body)
        self._inline_all()
        self._idioms()
        self._float_texels()
        self._inline_all()
        self.shaper.make_for(self.code, [])
        self.shaper.split_counters()
        self.former.simplify_ids()
        self.shaper.make_for(self.code, [])
        add_low_bits(self.body)
        self._vectors()
        self._gather_parts()
        self._fill_vectors()
        self.former.name_elements()
        self.former.name_ids()
        self.former.spread_sums()
        change_lines(self.code, short_index)
        write_array_copies(self.body)
        roller = Roller(self.body)
        roller.run()
        self._inline_all()
        roller.take_columns(self.filled)
        roller.join_halves(self.filled)
        self._halves()
        self._inline_all()
        Places(self.body).run()
        self._split()
        change_lines(self.code, self._select)
        Narrower(self.body, self.signs).run()
        self.signs.run()
        self._inline_all()
        self.widener.compare()
        unite_arrays(self.body)
        HeldElements(self.body).run()
        self.shaper.drop_dead()
        self._inline_all()
        change_lines(self.code, short_index)
        self.former.simplify_ids()
        join_halvings(self.body)
        self.former.simplify_flags()
        self.former.simplify_masks()
        self.shaper.drop_dead()
        self.shaper.say_positively()
        self.signs.join_barriers()
        divide_by_counters(self.body)
        change_lines(self.code, partial(as_quotient, type_of=self.signs.type_of))
        change_lines(self.code, partial(rewritten, rules=CALLS))
        self._join()
        write_array_copies(self.body)
        self.shaper.drop_dead()
        write_insertions(self.body)
        write_local_arguments(self.body)
        self.shaper.drop_dead()
        self._scale()
        write_integers(self.body, self.signs.type_of)
        self._inline_all()
        roller.take_columns(self.filled)  # again, because more indexes are whole by now
        unite_arrays(self.body)
        self._inline_all()
        self._switches(self.code)
        write_usual_forms(self.body)
        Pointers(self.body, self.signs.type_of).run()
        self._scale()
        index_by_source(self.body, self.code, [], self.signs.type_of)
        change_lines(self.code, self.signs.without_cast)
        join_guards(self.body)
        self.shaper.sink_equal()
        self.shaper.halve_last()
        self.shaper.start_loops(self.code, [], {})
        self.shaper.drop_guards_of_loops()
        use_counters(self.body, self.signs.type_of)
        self.shaper.drop_dead()
        self.shaper.say_positively()
        drop_constant_tests(self.body)
        join_remainders(self.body)
        change_lines(self.code, partial(compare_whole, type_of=self.signs.type_of))
        change_lines(self.code, partial(plain_range, type_of=self.signs.type_of))
        self.inlines_flags = True
        self._inline_all()
        drop_flags(self.body, self.shaper.opposite)
        write_branches(self.body, self.signs.type_of, self.shaper.opposite)
        self._inline_all()
        self.shaper.join_operators()
        write_continues(self.body)
        spread_components(self.body)
        change_lines(self.code, self._as_stored)
        self._store_as_declared()
        change_lines(self.code, short_index)
        change_lines(self.code, plain_value)
        change_lines(self.code, in_decimal)
        change_texts(self.code, partial(re.compile(r"\bss\(scratch_state >> 4\)").sub, "scratch"))
        change_texts(self.code, lambda text: str(step_of(text) or text))

    def _inline_all(self) -> None:
        self._count_words()
        self._inline(self.code)
        self._count_words()

    def _count_words(self) -> None:
        self.counts.clear()
        self.sets.clear()
        for node in walk(self.code):
            self.sets.update(hit[1] for hit in _SETS.finditer(node.text))
            for text in node.texts():
                self.counts.update(WORD.findall(text))

    # ---- vectors

    def _split(self) -> None:
        """Make variables of the components of a vector, or of the elements of an array, where lines name nothing else of it."""
        parts = [(tree, part) for tree in trees_of(self.code) if (part := self._part_of(tree)) is not None]
        counts = Counter(tree.args[0].op for tree, _ in parts)
        split = {name for name, count in counts.items() if self.body.uses(name) == count}
        names = {tree: leaf(name) for tree, (_, name) in parts if tree.args[0].op in split}
        for tree, (word, name) in parts:
            if tree in names:
                self.kinds[name], self.types[name] = BY_NAME[word], f"{word} {name}"
        change_lines(self.code, names.get)

    def _part_of(self, tree: Tree) -> tuple[str, str] | None:
        """Return the type and the new name of a component, or of an element with a constant index; None for another value."""
        owner = tree.args[0].op if tree.args else ""
        word = self.arrays.get(owner) or self.vectors.get(owner, "").rstrip("0123456789")
        part = tree.op[1:] if tree.op[0] == "." else tree.args[1].op if tree.op == "[]" else ""
        is_part = word in BY_NAME and (tree.op[0] == "." or part.isdecimal())
        return (word, f"{owner}_{part}") if is_part else None

    def _spread_copies(self) -> None:
        """Use the source of a copy instead of the copy, where both are assigned once."""
        sets = self.sets
        top = {hit[1] for node in self.code if node.inner is None for hit in _SETS.finditer(node.text)}
        for code in list(lists_of(self.code)):
            index = 0
            while index < len(code):
                node = code[index]
                index += 1
                name, value = node.assigns, node.value
                if not name or value is None or sets[name] != 1 or name not in self.kinds:
                    continue
                hit = _PLAIN.fullmatch(value.text)
                text = self._as_declared(value, name) if hit is not None else None
                if hit is None or text is None:
                    continue
                source = hit["name"] or hit["low"] or hit["high"] or hit["image"] or ""
                before = {earlier.assigns for earlier in code[: index - 1]}
                steady = sets[source] == 0 or (sets[source] == 1 and (source in top or source in before))
                uses = count_of(rf"\b{re.escape(name)}\b", code[index:])
                if not steady or self.counts[name] != uses + 1 or (text.rank < UNARY and hit["name"]):
                    continue
                change = partial(re.compile(rf"\b{re.escape(name)}\b").sub, text.within(UNARY))
                change_texts(code[index:], change)
                index -= 1
                del code[index]

    def _halves(self) -> None:
        """Make one line of equal lines for neighbouring lanes."""
        for code, index in backwards(self.code, 1):
            lower, upper = code[index - 1], code[index]
            low, high = lanes_of(lower.text), lanes_of(upper.text)
            if low is None or high is None or low.text != high.text or low.last + 1 != high.first:
                continue
            if "lane" not in low.text or not _MEMORY.search(low.text):
                lower.text, lower.places = str(Lanes(low.first, high.last, low.text)), places_of(lower, upper)
                del code[index]

    def _unite_lanes(self) -> None:
        """Use one variable for what neighbouring lanes have in different registers."""
        lanes: dict[str, set[tuple[int, int]]] = defaultdict(set)  # that lines with a variable are for
        for node in walk(self.code):
            part = lanes_of(node.text)
            for name in node.own_names() & self.kinds.keys():
                lanes[name].add((part.first, part.last) if part is not None and node.tail is None else (0, _LAST_LANE))
        for code in lists_of(self.code):
            for before, node in itertools.pairwise(code):
                low, high = lanes_of(before.text), lanes_of(node.text)
                if low is None or high is None or low.last + 1 != high.first:
                    continue
                name, other = low.text.partition(" = ")[0], high.text.partition(" = ")[0]
                is_free = name in self.kinds and not any(
                    first <= last_other and first_other <= last
                    for first, last in lanes[name]
                    for first_other, last_other in lanes[other]
                )
                if is_free and self.kinds[name] is self.kinds.get(other) and name not in self.given | self.filled:
                    word = re.compile(rf"\b{re.escape(other)}\b")
                    if word.sub(name, high.text) == low.text:
                        change_texts(self.code, partial(word.sub, name))
                        lanes[name] |= lanes.pop(other)

    def _drop_empty_copies(self) -> None:
        """Drop copies of elements of arrays that nothing has filled."""
        whole = {arg.op for tree in trees_of(self.code) if tree.op != "[]" for arg in tree.args}
        empty = self.types.keys() - set_in(self.code) - whole - self.filled
        for code in lists_of(self.code):
            code[:] = [
                node for node in code if (hit := _COPY.fullmatch(node.text)) is None or hit["source"] not in empty
            ]

    def _scale(self) -> None:
        """Let variables that are only used as `V / 4`, because they are offsets in bytes, count elements."""
        for _ in range(_SCALE_ROUNDS):
            change_lines(self.code, self._signed_offset)
            if not count_elements(self.body):
                break
        self._count_words()
        self._spread_copies()
        self._inline_all()

    def _signed_offset(self, tree: Tree) -> Tree | None:
        """Write the offset of an element of an argument alike wherever it is read; no offset of 32 bits is negative there."""
        if tree.op != "[]" or tree.args[0].op not in self.body.surfaces:
            return None
        hit = form("(uint)X / N", tree.args[1])
        is_int = self.kinds.get(hit["X"].op) is ty.D
        return Tree("[]", (tree.args[0], filled("X / N", hit))) if is_int else None

    def _name_offsets(self) -> None:
        """Write offsets in bytes as elements of an argument, where the values of steady variables show that they are whole ones."""
        values: dict[str, Tree] = {}
        for name, value in map(assigned, self.code):
            is_fixed = all(self.sets[word] == 1 for word in {name, *value.names()} & self.types.keys())
            if self.kinds.get(name) in (ty.D, ty.UD) and is_fixed and not reads_memory(value):
                values[name] = value.put(values)
        change_lines(self.code, partial(self._as_element, values))

    def _as_element(self, values: Mapping[str, Tree], tree: Tree) -> Tree | None:
        hit = form("(uchar *)P + X", tree.args[0]) if tree.op.endswith(" *)") else Parts()
        own, word = self.body.elements.get(hit["P"].op, ""), tree.op[1:-3]
        if hit["P"].op not in self.body.surfaces or own not in BY_NAME or word.rstrip("234") != own:
            return None
        index = divided(self.signs.low(hit["X"].put(values), ty.D.size), BY_NAME[own].size, set())
        place = Tree("u&", (Tree("[]", (hit["P"], index)),)) if index is not None else None
        return place if place is None or word == own else Tree(tree.op, (place,))

    # ---- values

    def _inline(self, code: list[Node]) -> None:
        index = 0
        while index < len(code):
            node = code[index]
            if node.inner is not None:
                self._inline(node.inner)
            elif node.text == f"{node.assigns} = {node.assigns};":
                self.counts[node.assigns] -= 2
                del code[index]
                continue
            elif node.assigns and node.value is not None and self.counts[node.assigns] == 2 and self._move(code, index):
                del code[index]
                continue
            elif (
                node.assigns
                and node.assigns not in self.given
                and self.counts[node.assigns] == 1
                and not _STOPS.search(node.text)
            ):
                self.counts.subtract(WORD.findall(node.text))
                del code[index]  # nothing reads it
                continue
            index += 1

    def _move(self, code: list[Node], index: int) -> bool:
        node = code[index]
        value, name = node.value, node.assigns
        assert value is not None
        text = self._as_declared(value, name)
        if len(value.text) > _MAX_VALUE or name not in self.types or text is None:
            return False
        reads, loads = set(WORD.findall(value.text)), bool(_MEMORY.search(value.text))
        return (
            self._move_into(
                code[index + 1 :], _Moving(name, text, reads, node.places, loads, _elements(parse(text.text)))
            )
            is True
        )

    def _stores_elsewhere(self, text: str, loads: list[Tree] | None) -> bool:
        """Return whether a line only stores an element that is none of those that a value loads."""
        step = step_of(text)
        is_store = step.op == "=" and step.target.op == "[]" and not step.words[0]
        return bool(loads) and is_store and all(self._differ(step.target, load) for load in loads or ())

    def _differ(self, place: Tree, other: Tree) -> bool:
        """Return whether two elements are in arrays of other memories, or so many elements apart in one."""
        arrays = [(tree.args[0].args or tree.args)[0].op for tree in (place, other)]
        spaces = {name in self.body.locals for name in arrays}
        if len(spaces) == 2 and all(name in self.body.elements for name in arrays):
            return True
        distance = linear(place.args[1])
        distance.subtract(linear(other.args[1]))
        words = [word for word, number in distance.items() if number]
        return place.args[0] == other.args[0] and not place.args[0].args and words == [""]

    def _as_declared(self, value: Text, name: str) -> Text | None:
        kind = self.kinds.get(name)
        if kind is None:
            return None
        if kind is ty.BOOL or value.type is ty.BOOL:
            return value if kind is value.type or (self.inlines_flags and self._is_flag(parse(value.text))) else None
        if kind.is_float or value.type.is_float:
            return value if kind is value.type else None
        own = ty.D if kind.size < ty.D.size else kind
        if value.promoted is own and (kind is own or value.type is kind or value.fits(kind)):
            return value
        if kind.size < value.promoted.size and not value.fits(kind):
            return None
        return (
            None
            if kind.size != value.promoted.size
            else replace(value, text=f"({c_type(kind)}){value.within(UNARY)}", rank=UNARY, type=kind)
        )

    def _move_into(self, code: list[Node], moving: _Moving) -> bool | None:
        """Put a value into its use in some lines; False if that is not possible, None if the use is not there."""
        for node in code:
            if moving.name in node.names and moving.name in WORD.findall(node.text):
                return not (node.is_loop or node.continues) and self._put(node, moving)
            if node.tail is not None and moving.name in WORD.findall(node.tail.text):
                return False
            if node.inner is not None and moving.name in node.names:
                if node.is_loop and (moving.loads or not self._is_steady(moving)):
                    return False
                return bool(self._move_into(node.inner, moving))
            if any(self._blocks(line, moving) for line in walk([node])):
                return False
        return None

    def _is_steady(self, moving: _Moving) -> bool:
        """Return whether a value is short and does not change from round to round of a loop."""
        is_short = self.is_scaled and moving.value.type.is_int and len(moving.value.text) <= _MAX_STEADY
        return is_short and all(self.sets[name] == 1 for name in moving.reads if name in self.types)

    def _blocks(self, node: Node, moving: _Moving) -> bool:
        """Return whether a value may not move over a line."""
        text, loads = node.text, moving.loads
        stops = (
            loads or not text.endswith((");", "break;", "continue;", "return;")) or "goto" in text or "set_cr0" in text
        )
        if node.is_loop or (stops and _STOPS.search(text)):
            return True
        if self._stores_elsewhere(text, moving.elements):
            return False
        if loads and (_STORE.search(text) or "memcpy" in text or "write_texel" in text or "write_image" in text):
            return True
        target = re.match(r"(?:if \(.*?\) )?(?:each_lane\(.*?\) |once )?\*?\(?\(?(\w+)", text)
        names = {hit[1] for hit in _SETS.finditer(text)} | {target[1] if target is not None else ""}
        return bool(names & moving.reads)

    def _put(self, node: Node, moving: _Moving) -> bool:
        step, tree, own = step_of(node.text), parse(moving.value.text), leaf(moving.name)
        parts = [part for whole in step.trees for part in whole.walk()]
        is_place = any(
            part.op == "u&" or part.op[0] == "." or (part.op == "[]" and part.args[0] == own)
            for part in parts
            if own in part.args
        )
        text = str(Step(step.words, tuple(part.put({moving.name: tree}) for part in step.trees)))
        if tree is NOTHING or parts.count(own) != 1 or own in step.targets or is_place or len(text) > _MAX_LINE:
            return False
        node.text, node.places = text, tuple(sorted({*node.places, *moving.places}))
        return True

    # ---- conditions

    def _join(self) -> None:
        """Make one condition of a condition with nothing but another one inside."""
        for code in lists_of(self.code):
            for index, node in enumerate(code):
                alone = len(chain_of(code, index)) == 1
                while alone and node.text.startswith("if (") and node.inner is not None and len(node.inner) == 1:
                    (inner,) = node.inner
                    text = f"{node.text.removesuffix(') {')} && {inner.text.removeprefix('if (')}"
                    is_long = len(text) > _MAX_LINE or " || " in text or " ? " in text
                    leaves = inner.inner is None and condition_of(inner.text) is not NOTHING
                    if (inner.inner is None and not leaves) or not inner.text.startswith("if (") or is_long:
                        break
                    node.text, node.inner, node.places = text, inner.inner, places_of(node, inner)
                    node.tail = None if leaves else node.tail

    def _switches(self, code: list[Node]) -> None:
        """Make a `switch` of a tree of comparisons of a variable with constants."""
        for index in range(len(code) - 1, -1, -1):
            test = test_of(code[index])
            kind = self.kinds.get(test.name) if test is not None else None
            is_number = kind is not None and kind.is_int and kind is not ty.BOOL and kind.size <= ty.D.size
            cases = find_cases(code, index, *limits(kind)) if kind is not None and is_number else None
            leaving, lines = self._cases(cases[0], cases[1]) if cases is not None else ([], None)
            if cases is not None and lines is not None:
                name, _, end = cases
                node = Node(f"switch ({name}) {{", places_of(*code[index:end]), inner=lines, tail=Line("}"))
                code[index:end] = [*leaving, node]
                self._switches(lines)
            elif (inner := code[index].inner) is not None:
                self._switches(inner)

    def _cases(self, name: str, branches: Sequence[Branch]) -> tuple[list[Node], list[Node] | None]:
        """Return the lines of the cases of a `switch` of a variable; None where that would be no clearer.

        Before them, the lines for numbers with which a loop around the `switch` ends.
        """
        groups: dict[tuple[str, ...], list[Branch]] = defaultdict(list)
        leaving: dict[tuple[str, ...], list[Branch]] = defaultdict(list)
        for part in (part for branch in branches for part in split_by_tests(branch, name, self.counts)):
            is_leaving = any("break;" in node.text for node in own_level(list(part.code)))
            (leaving if is_leaving else groups)[key_of(part)].append(part)
        before = leave_before(name, *limits(self.kinds[name]), *leaving.values())
        if leaving and not before:
            return [], None
        ranges = [texts for texts, parts in groups.items() if any(part.low < part.high for part in parts)]
        cases = sorted(
            (sorted(part.low for part in parts), texts) for texts, parts in groups.items() if texts not in ranges
        )
        many = len(ranges) > 1 and any(len(groups[texts]) > 1 for texts in ranges)
        if many or sum(len(numbers) for numbers, _ in cases) < MIN_CASES * max(1, len(ranges)):
            return [], None
        lines = []
        heads = [
            (" ".join(f"case {number}:" for number in numbers), list(groups[texts][0].code)) for numbers, texts in cases
        ]
        others = [("default:", self._others(name, [groups[texts][0] for texts in ranges]))] if ranges else []
        for head, inner in [*heads, *others]:
            if len(inner) == 1 and inner[0].inner is None and " = " in inner[0].text:
                lines.append(Node(f"{head} {inner[0].text} break;", inner[0].places))
            elif len(inner) == 1 and inner[0].text.startswith("goto "):
                lines.append(Node(f"{head} {inner[0].text}", inner[0].places))
            elif not inner and head != "default:":
                lines.append(Node(f"{head} break;"))
            elif inner:
                lines.append(Node(f"{head} {{", inner=inner, tail=Line("} break;")))
        return before, lines

    def _others(self, name: str, branches: Sequence[Branch]) -> list[Node]:
        """Return the lines for the numbers that are no cases of their own, which are ranges."""
        if len(branches) == 1:
            return list(branches[0].code)
        parts = sorted(branches)
        heads = [f"if ({name} <= {part.high}) {{" for part in parts[:-1]]
        texts = [heads[0], *(f"}} else {head}" for head in heads[1:]), "} else {"]
        lines = [Node(text, inner=list(part.code)) for text, part in zip(texts, parts, strict=True)]
        lines[-1].tail = Line("}")
        return lines

    def _choose(self) -> None:
        """Make one line of an `if` whose branches only give a variable one value or another."""
        for code in list(lists_of(self.code))[::-1]:
            for index in range(len(code) - 2, -1, -1):
                node, other = code[index : index + 2]
                yes, no = node.inner or [], other.inner or []
                if other.text != "} else {" or not node.text.startswith("if (") or len(yes) != 1 or len(no) != 1:
                    continue
                name = yes[0].assigns
                value = self._chosen(node.text[len("if (") : -len(") {")], yes[0], no[0])
                if name and name == no[0].assigns and value is not None and len(value.text) <= _MAX_CHOICE:
                    places = places_of(node, other, *yes, *no)
                    code[index : index + 2] = [Node(f"{name} = {value.text};", places, range=value)]

    def _chosen(self, test: str, yes: Node, no: Node) -> Text | None:
        """Return the value of one of two assignments to a variable, by a test."""
        yes_value, no_value, tree = yes.value, no.value, parse(test)
        if yes_value is None or no_value is None or tree is NOTHING:
            return None
        texts = [yes_value.text, no_value.text]
        if any(node.text != f"{node.assigns} = {text};" for node, text in zip((yes, no), texts, strict=True)):
            return None
        kind, types = self.kinds.get(yes.assigns), {yes_value.promoted, no_value.promoted}
        is_word = kind is not None and kind.is_int and kind.size <= ty.D.size and all(node.is_int for node in types)
        if any(" ? " in node or "one_for_all" in node for node in texts) or (len(types) > 1 and not is_word):
            return None  # of two types, C makes a third one
        if tree.op in (">=", "!=") and "[" in texts[1] and "[" not in texts[0] and not self.body.has_floats(tree):
            tree, texts = self.shaper.opposite(tree), texts[::-1]
        test = str(tree) if rank_of(tree) >= UNARY else f"({tree})"
        low, high = min(yes_value.low, no_value.low), max(yes_value.high, no_value.high)
        type_ = yes_value.promoted if len(types) == 1 else ty.UD
        return Text(f"{test} ? {texts[0]} : {texts[1]}", CHOICE, type_, low, high)

    def _idioms(self) -> None:
        """Write the steps by which compilers compute an exponential, or divide floats, as a call."""
        for code in lists_of(self.code):
            for index in range(len(code)):
                for idiom in _IDIOMS:
                    if self._write_idiom(code, index, idiom):
                        break
            code[:] = [node for node in code if node.text]

    def _write_idiom(self, code: list[Node], index: int, idiom: Idiom) -> bool:
        """Write a call in place of the steps that begin at a line; return whether they are there, and nothing else needs them."""
        parts: dict[str, Tree] = {}
        steps: list[Node] = []
        for name, *patterns in idiom.steps:
            lines = [node for node in (code[index:] if steps else code[index : index + 1]) if node not in steps]
            forms = ((node, set_form(node, pattern, **parts)) for node in lines for pattern in patterns)
            step = next(((node, hit) for node, hit in forms if hit and hit["TO"] == parts.get(name, hit["TO"])), None)
            if step is None:
                return False
            parts |= step[1]
            parts[name] = parts.pop("TO")
            steps.append(step[0])
        others = {name: count for name, count in idiom.uses.items() if self.body.uses(parts[name].op) != count}
        # The last variable may be set anew by the line that uses it.
        if others and (others.keys() != {idiom.steps[-1][0]} or not self._is_set_next(code, steps[-1])):
            return False
        return self._replace(code[index:], partial(rewritten, rules=idiom.rules, **parts), steps)

    def _is_set_next(self, code: list[Node], node: Node) -> bool:
        """Return whether the next line that names what a line sets sets it anew."""
        name = assigned(node)[0]
        later = next((line for line in code[code.index(node) + 1 :] if name in line.names), None)
        return later is not None and assigned(later)[0] == name

    def _replace(self, code: list[Node], rule: Callable[[Tree], Tree | None], gone: list[Node]) -> bool:
        """Apply a rule to the first line that it changes, and empty the lines that are no longer needed then; return whether there is one."""
        use = next((node for node in code if node not in gone and change_line(node, rule)), None)
        if use is None:
            return False
        use.places = places_of(use, *gone)
        for node in gone:
            node.text = ""
        return True

    def _as_stored(self, tree: Tree) -> Tree | None:
        """Write an element that is loaded with the other sign, and converted to that of the buffer or tested for 0, as it is."""
        if tree.op in ("==", "!=") and number_of(tree.args[1]) == 0:
            element = self._own_element(tree.args[0])
            return Tree(tree.op, (element, tree.args[1])) if element is not None else None
        bits = form("as_float(P & 0x7fffffff)", tree)["P"]
        if bits.op == "[]" and bits.args[0].op in ("(int *)", "(uint *)"):
            array = bits.args[0].args[0]
            is_own = self.body.elements.get(array.op) == "float"
            return Tree("fabs()", (Tree("[]", (array, bits.args[1])),)) if is_own else None
        kind = tree.op[1:-1] if tree.op[0] == "(" else ""
        element = self._own_element(tree.args[0]) if kind in ("char", "short", "int", "long") else None
        return element if element is not None and self.body.elements.get(element.args[0].op) == kind else None

    def _own_element(self, place: Tree) -> Tree | None:
        """Return the element of a buffer that a place is which is accessed with the other sign."""
        hit = form("*P", place)["P"]
        element = form("&E", hit.args[0])["E"] if hit.op.endswith(" *)") else NOTHING
        own = self.body.elements.get(element.args[0].op, "") if element.op == "[]" else ""
        return element if own and hit.op in (f"(u{own} *)", f"({own[1:]} *)") else None

    def _store_as_declared(self) -> None:
        """Store a number into an element of a buffer as it is, where the line stores it with the other sign."""
        for node in walk(self.code):
            step = step_of(node.text)
            element = self._own_element(step.target) if step.op == "=" else None
            own = self.body.elements.get(element.args[0].op, "") if element is not None else ""
            if own[-1:].isdigit():  # a vector of the other sign, which C does not convert
                name = step.value.op
                if self.body.uses(name) != len(setters(self.code, name)) + 1 or name not in self.types:
                    continue
                self.types[name] = f"{own} {name}"
            if element is not None:
                hit = step.value.args[0] if step.value.op in NARROW else step.value
                value = hit if number_of(hit) is not None else step.value
                node.text = str(Step(step.words, (element, value)))

    def _float_texels(self) -> None:
        """Load texels as floats where all lines use their bits as floats."""
        for node in walk(self.code):
            name, value = assigned(node)
            if not value.op.endswith("_int()") or self.types.get(name) != f"int4 {name}":
                continue
            bits = [
                tree for tree in trees_of(self.code) if tree.op == "as_float()" and tree.args[0].args == (leaf(name),)
            ]
            if len(setters(self.code, name)) == 1 and self.body.uses(name) == len(bits) + 1:
                change_line(node, in_place_of(value, Tree(value.op.replace("_int()", "_float()"), value.args)))
                change_lines(self.code, {part: part.args[0] for part in bits}.get)
                self.types[name] = f"float4 {name}"

    def _quotients(self) -> None:
        """Write multiplications by the reciprocal of a constant as divisions."""
        values = {name: value for name, value in map(assigned, walk(self.code)) if self.sets[name] == 1}
        for code in lists_of(self.code):
            for index, node in enumerate(code):
                name, product = assigned(node)
                half = high_half(product, values)
                if half is None or half.is_unsigned or not self._is_fixed_int(half.value):
                    continue
                is_int = self.types.get(name) == f"int {name}"
                moved = set_form(code[index + 1], "Q >> K", Q=leaf(name)) if index + 1 < len(code) else Parts()
                shift = number_of(moved["K"])
                result, last = (name, index + 1) if shift is None else (moved["TO"].op, index + 2)
                divisor = find_divisor(half, shift or 0, signed=True)
                test, *rest = chain_of(code, last) or [node]
                corrects = test.text == f"if ({name} < 0) {{" and [n.text for n in test.inner or []] == [f"{result}++;"]
                is_whole = not rest and self.counts[name] >= 3
                if is_int and divisor > 0 and corrects and is_whole and (shift is None or self.counts[name] == 3):
                    use, text = code[last - 1], str(Tree("/", (half.value, leaf(divisor))))
                    use.places, use.range = places_of(node, use, test, *walk(test.inner or [])), text_of(text, 8, ty.D)
                    use.text, test.text, test.inner, test.tail = f"{result} = {text};", "", None, None
                    if use is not node:
                        node.text = ""
                elif self.counts[name] == 3 and self.kinds.get(name) in (ty.D, ty.UD):
                    self._quotient_in(code[index + 1 :], node, half, is_int=is_int)
                    if node.text and is_int:
                        join_quotient(code[index + 1 :], node, half)
            code[:] = [line for line in code if line.text]

    def _is_fixed_int(self, tree: Tree) -> bool:
        """Return whether C computes a value as an int, and none of its variables changes."""
        is_steady = all(self.sets[name] < 2 for name in tree.names())
        return is_steady and not reads_memory(tree) and self.signs.type_of(tree) in (ty.D, ty.W, ty.UW, ty.B, ty.UB)

    def _quotient_in(self, code: list[Node], node: Node, half: HighHalf, *, is_int: bool) -> None:
        """Write the quotient of a step in the later line that corrects it."""
        patterns = ("(Q >> K) + ((uint)Q >> 31)", "Q + ((uint)Q >> 31)") if is_int else ("(short)(Q >> K) + (Q >> 31)", "Q + (Q >> 31)")  # fmt: skip

        def rule(tree: Tree) -> Tree | None:
            hit = next((hit for pattern in patterns if (hit := form(pattern, tree, Q=leaf(node.assigns)))), Parts())
            divisor = find_divisor(half, number_of(hit["K"]) or 0, signed=True) if hit else 0
            if not divisor or (not is_int and hit["K"] not in (NOTHING, leaf(16))):
                return None
            pattern = "(uint)(V / D)" if divisor > 0 else "(uint)(-(V / D))"
            return filled(pattern, {"V": half.value, "D": leaf(abs(divisor))})

        fixed = itertools.takewhile(lambda line: not half.value.names() & set_in([line]), code)
        self._replace(list(fixed), rule, [node])

    def _fill_vectors(self) -> None:
        """Make one value of the components that are assigned one after another."""
        for code, index in backwards(self.code):
            hit = _FIRST_PART.fullmatch(code[index].text)
            shape = re.fullmatch(r"(\w+?([234])) \w+", self.types.get(hit[1], "")) if hit is not None else None
            if hit is None or shape is None:
                continue
            name, count = hit[1], int(shape[2])
            lines = code[index : index + count]
            heads = [f"{name}.{part} = " for part in "xyzw"[:count]]
            pairs = list(zip(lines, heads, strict=False))
            parts = [line.text.removeprefix(head).removesuffix(";") for line, head in pairs]
            is_whole = len(pairs) == count and all(n.text.startswith(head) and n.inner is None for n, head in pairs)
            value = f"({shape[1]}){{{', '.join(parts)}}}"
            if not is_whole or name in WORD.findall(value) or _STOPS.search(value):
                continue
            use = code[index + count] if index + count < len(code) else None
            alone = use is not None and use.inner is None and self.counts[name] == count + 1
            text = f"{name} = {value};"
            place = re.search(rf"(?:= |, )({name})[;)]", use.text) if use is not None and alone else None
            if use is not None and place is not None:
                lines, text = [*lines, use], use.text[: place.start(1)] + value + use.text[place.end(1) :]
            if len(text) <= _MAX_VECTOR:
                code[index : index + len(lines)] = [Node(text, places_of(*lines))]

    def _gather_parts(self) -> None:
        """Drop components that lines below replace, and move simple ones down to the next, so that they are one value."""
        for code, index in backwards(self.code):
            hit = _PART.fullmatch(code[index].text)
            if hit is None:
                continue
            name, following = hit["name"], 0
            for below in range(index + 1, len(code)):
                other = _ANY_PART.fullmatch(code[below].text)
                is_part = other is not None and other["name"] == name and name not in WORD.findall(other["value"])
                if other is not None and is_part and other["part"] == hit["part"]:
                    del code[index]
                    following = 0
                    break
                is_assignment = code[below].inner is None and step_of(code[below].text).op == "="
                if not is_assignment or (name in code[below].names and not is_part):
                    break
                following = following or below * is_part
            if following > index + 1 and not set_in(code[index + 1 : following]) & set(WORD.findall(hit["value"])):
                code.insert(following - 1, code.pop(index))

    def _vectors(self) -> None:
        """Load and store whole elements of buffers of vectors with the sign that the buffers have."""
        for node in walk(self.code):
            hit = _VECTOR_STORE.fullmatch(node.text) or _VECTOR_LOAD.fullmatch(node.text)
            if hit is None:
                continue
            name, word, is_load = hit["name"], hit["word"], hit.re is _VECTOR_LOAD
            own, other = self.body.elements.get(hit["pointer"], ""), word[1:] if word.startswith("u") else f"u{word}"
            parts = count_of(rf"\b{name}\.\w+(?! = )\b" if is_load else rf"\b{name}\.\w+ = ", self.code)
            if own != f"{other}{hit['count']}" or self.types.get(name) != f"{word}{hit['count']} {name}":
                continue
            if parts + 1 == self.body.uses(name):
                place = f"{hit['pointer']}[{hit['index']}]"
                node.text = f"{name} = {place};" if is_load else f"{place} = {name};"
                self.types[name] = f"{own} {name}"
                for part in "xyzw" if is_load else "":
                    read = Tree(f".{part}", (leaf(name),))
                    change_lines(self.code, in_place_of(read, Tree(f"({word})", (read,))))

    def _atomics(self) -> None:
        """Write an atomic that adds the number of active lanes for all of them as one of each lane."""
        for code in lists_of(self.code):
            for index in range(len(code) - 2):
                below = set_form(code[index], "sub_group_scan_inclusive_add(1)")["TO"]
                every = set_form(code[index + 1], "sub_group_reduce_add(1)")["TO"]
                add = set_form(code[index + 2], "one_for_all(atomic_add(A, E))", E=every)
                if NOTHING in (below, every) or not add or self.body.uses(every.op) != 2:
                    continue
                parts, rest = {"B": below, "O": add["TO"]}, code[index + 3 :]
                rules = {"B + O - 1": "O", "O + B - 1": "O"}
                uses = sum(rewritten(tree, rules, **parts) is not None for tree in trees_of(rest))
                if uses and self.body.uses(below.op) == self.body.uses(add["TO"].op) == uses + 1:
                    change_lines(rest, partial(rewritten, rules=rules, **parts))
                    code[index + 2].text = f"{add['TO']} = {filled('atomic_inc(A)', add)};"
                    code[index + 2].places = places_of(*code[index : index + 3])
                    code[index].text = code[index + 1].text = ""
            code[:] = [line for line in code if line.text]

    def _is_flag(self, tree: Tree) -> bool:
        return tree.op in (*NEGATED, "&&", "||", "u!") or self.kinds.get(tree.op) is ty.BOOL

    def _select(self, tree: Tree) -> Tree | None:
        """Write a value that a flag masks as a choice, and choices between flags as one flag."""
        for pattern, value in _FLAGS.items():
            hit = form(pattern, tree)
            if hit and all(map(self._is_flag, hit.values())):
                return self.shaper.opposite(hit["A"]) if value == "!A" else filled(value, hit)
        hits = ((form(pattern, tree), value) for pattern, value in _CHOICES.items())
        return next((filled(value, hit) for hit, value in hits if self._is_flag(hit["F"])), None)


def change_texts(code: list[Node], change: Callable[[str], str]) -> None:
    """Change the texts of all lines."""
    for node in walk(code):
        node.change(change)
