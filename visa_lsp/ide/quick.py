"""Which lines can have no finding: judged once per kind of line, by the real binder and the real rules.

A line's *class* is its text with every name replaced by a token for what the name was declared as, and every large
immediate by its size. Two lines of one class in one kind of body differ in nothing that a rule about one line may ask
for: so one of them is bound and checked, and its verdict serves all. What a rule may ask of an immediate of three hex
digits and more is its length, its bit length and whether it is a power of two; everything else stands in the class.
Invariant: a class counts as clean only after the full path has found nothing in a line of it.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from functools import cache, lru_cache
from itertools import count
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.checks import run_checks
from visa_lsp.checks.context import CheckContext, dialect_of
from visa_lsp.checks.facts import int_attribute
from visa_lsp.isa import lsc_codes
from visa_lsp.isa.model import FlowClass, Role, Shape
from visa_lsp.isa.table import TABLE
from visa_lsp.sema.bind import bind
from visa_lsp.sema.names import predefined_symbols
from visa_lsp.syntax.bulk import declares, statement_of
from visa_lsp.syntax.document import Document
from visa_lsp.syntax.grammar import grammar_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from visa_lsp.diagnostics import Diagnostic
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.sema.model import Body, BoundModule
    from visa_lsp.syntax.tree import Statement

UNKNOWN: Final = "\x02"
UNSURE: Final = "?"
_WORD: Final = re.compile(r"[A-Za-z_%][A-Za-z0-9_]*")
# Rules that look at a whole body or text: what they say of a few lines picked out of it means nothing.
WIDE_RULES: Final = frozenset({"missing-label", "undeclared-name", "missing-return", "recursion", "subroutine-jump"})
NAME_PROBLEMS: Final = frozenset({"undeclared-name", "missing-label"})
_MAX_CLASSES: Final = 200_000


class Verdicts:
    """What is known of the classes of one kind of body.

    ``odd`` holds, for lines with undeclared names, one letter each: L a label, U an undeclared variable, - neither;
    ``!`` for lines that have to be looked at one by one. ``UNSURE`` is no verdict.
    """

    __slots__ = ("asked", "clean", "decls", "key", "odd")

    def __init__(self, key: object = None) -> None:
        self.key = key
        self.asked = False  # whether what is on disk is here
        self.clean: set[str] = {"", UNKNOWN + ":"}
        self.odd: dict[str, str] = {}
        self.decls: set[str] = set()


_verdicts: OrderedDict[object, Verdicts] = OrderedDict()


def verdicts_of(key: object) -> Verdicts:
    """The verdicts of a kind of body, shared by all texts of the process."""
    found = _verdicts.get(key)
    if found is None or len(found.clean) + len(found.odd) > _MAX_CLASSES:
        found = _verdicts[key] = Verdicts(key)
        while len(_verdicts) > 64:
            _verdicts.popitem(last=False)
    _verdicts.move_to_end(key)
    return found


@cache
def special_words() -> frozenset[str]:
    """Words that may mean something besides a declared name: keywords, mnemonics, predefined names."""
    words: set[str] = set(_WORD.findall(grammar_text()))
    for row in TABLE.rows:
        words.update(row.mnemonic.split("."))
        for modifier in row.modifiers:
            words.update(modifier.words)
        for slot in row.slots:
            words.update(slot.words or ())
    words.update(predefined_symbols(32), lsc_codes.ADDRTYPE, lsc_codes.ADDRSIZE)
    words.update(f"V{number}" for number in range(21))
    words.update(f"M{number}{end}" for number in range(21) for end in ("", "_NM"))
    words.update(("NoMask", "NM", "GRF", "P0", "T0", "T1", "T2", "T3", "T4", "T5", "T252", "TSS", "S31"))
    words.update(("abs", "not", "r"))
    return frozenset(words)


_ids = count()
_tokens: dict[str, str] = {}
_definitions: dict[str, str] = {}


def class_token(definition: str) -> str:
    """A token for a definition; forgotten definitions get a new one, so that a token never has two meanings."""
    token = _tokens.get(definition)
    if token is None:
        if len(_tokens) > _MAX_CLASSES:
            _tokens.clear()
            _definitions.clear()
        token = _tokens[definition] = f"\x01{next(_ids)};"
        _definitions[token] = definition
    return token


def definition_of(token: str) -> str:
    """What a token stands for; KeyError where that is forgotten."""
    return _definitions[token]


@lru_cache(maxsize=50_000)
def _value_class(text: str) -> str:
    if text[:2] not in ("0x", "0X"):
        return "\x04"
    value = int(text, 16)
    return f"\x03{text[1]}{len(text)}.{value.bit_length()}.{value & (value - 1) == 0};"


class Tokens(dict[str, str]):
    """What each name of a body stands for; undeclared names and immediates are worked out when they are met."""

    __slots__ = ()

    def __missing__(self, name: str) -> str:
        if name[0].isdigit():
            return _value_class(name)
        if name in special_words():
            self[name] = name
            return name
        return UNKNOWN


class Sparse(Document):
    """Some lines of a document, at their places: what binder and rules see when only those lines matter."""

    def __init__(self, document: Document, lines: Sequence[int]) -> None:
        super().__init__(document.chunks, document.lineage)
        self._wanted = frozenset(lines)
        self._of_lines: list[tuple[int, Statement]] | None = None
        self._first_lines = document._first_lines  # noqa: SLF001 - prefix sums of the same chunks
        self._first_offsets = document._first_offsets  # noqa: SLF001
        self._codes = {line: document.code(line) for line in lines}

    @property
    def text(self) -> str:
        """The lines alone, without their comments: rules search it for what lines hold."""
        end = "\n" if self.chunks[-1].text.endswith("\n") else ""
        return "\n".join(self._codes.values()) + end

    def code(self, line: int) -> str:
        """A line without comment and end."""
        code = self._codes.get(line)
        return super().code(line) if code is None else code

    def statement(self, line: int) -> Statement | None:
        """The statement of a line that matters."""
        return super().statement(line) if line in self._wanted else None

    def statements(self) -> Iterator[tuple[int, Statement]]:
        """The statements of the lines that matter."""
        if self._of_lines is None:
            self._of_lines = list(self._parse())
        yield from self._of_lines

    def _parse(self) -> Iterator[tuple[int, Statement]]:
        for line, code in self._codes.items():
            statement = statement_of(code)
            if statement is not None:
                yield line, statement


class Judged(NamedTuple):
    """A few lines bound and checked."""

    bound: BoundModule
    findings: list[Diagnostic]

    def forget(self) -> None:
        """Take the symbols apart: a cycle would wait for the garbage collector, and that for a keystroke to hold up."""
        for body in self.bound.bodies:
            for scope in body.scopes:
                scope.names.clear()


def judge(document: Document, lines: Sequence[int], platform: Platform | None, without: Collection[str] = ()) -> Judged:
    """The full path over some lines of a document; ``lines`` are in order. ``without`` are rules that do not run."""
    sparse = Sparse(document, lines)
    bound = bind(sparse, platform)
    return Judged(bound, run_checks(CheckContext(sparse, bound, platform, dialect_of(bound)), without=without))


def letters(judged: Judged, document: Document, lines: dict[int, list[tuple[int, str]] | None]) -> dict[int, str]:
    """The verdict of each line: empty for a clean one, else as in ``Verdicts.odd``.

    ``lines`` gives the columns of a line's tokens with what they stand for, None for a declaration.
    """
    hard = {document.position(d.span.start)[0] for d in judged.findings if d.name not in WIDE_RULES}
    seen: dict[int, dict[int, str]] = {}
    for problem in judged.bound.problems:
        if problem.kind not in NAME_PROBLEMS:
            hard.add(problem.place.line)
        elif problem.kind == "undeclared-name" and problem.place.line in lines:
            seen.setdefault(problem.place.line, {})[problem.place.span.start] = "U"
    columns = {line: dict(tokens) for line, tokens in lines.items() if tokens is not None}
    unsure: set[int] = set()
    for body in judged.bound.bodies:
        unsure.update(_depending_on_broken(document, body))
        for symbol in [*body.symbols, *body.predefined.used]:
            for place, role in symbol.references:
                written = symbol.input is not None and role in (Role.WRITE, Role.READ_WRITE)
                known = columns.get(place.line)
                if written or (known is not None and not symbol.predefined and place.span.start not in known):
                    hard.add(place.line)
        # What no `.function` declares is called wrongly, whether it is a label somewhere or nothing at all.
        calls = {bound.line for bound in body.code if bound.row is not None and bound.row.flow is FlowClass.CALL}
        for label in body.labels.values():
            for place, role in label.references:
                known = columns.get(place.line)
                # What refers to a label and is no use of it repeats the name of a function.
                if known is not None and role is not Role.OTHER:
                    if known.get(place.span.start) == UNKNOWN and place.line not in calls:
                        seen.setdefault(place.line, {})[place.span.start] = "L"
                    else:
                        hard.add(place.line)
        hard.update(_uses_missing_memory(body))
    found = {}
    for line, tokens in lines.items():
        if line in hard or (tokens is None and line in seen):
            found[line] = "!"
        elif tokens is None:
            found[line] = UNSURE if line in unsure else ""
        else:
            marks = seen.get(line, {})
            found[line] = "".join([marks.pop(column, "-") for column, token in tokens if token == UNKNOWN])
            if marks or line in unsure:
                # What such a directive declares, or one further down, tells nothing about other lines of the class.
                found[line] = UNSURE
    return found


def _depending_on_broken(document: Document, body: Body) -> Iterator[int]:
    """Lines of variables that a broken directive declares, and of their aliases: their classes know nothing of those."""
    broken: set[int] = set()
    for symbol in body.symbols:  # a base comes before its aliases
        decl, place = symbol.decl, symbol.place
        if decl is None or place is None:
            continue
        plain = not decl.errors and decl.v_type is not None
        untold = not plain and not declares(document.code(place.line))
        if untold or (broken and symbol.alias is not None and id(symbol.alias[0]) in broken):
            broken.add(id(symbol))
            yield place.line
            yield from [place.line for place, _ in symbol.references]


def _uses_missing_memory(body: Body) -> Iterator[int]:
    """Lines that use shared local memory in a kernel that has none: only the first of them is reported."""
    if body.is_kernel and int_attribute(body, "SLMSize") == 0:
        for bound in body.code:
            if any(o.slot.shape is Shape.SURFACE and o.value == 0 for o in bound.operands):
                yield bound.line
