"""Blocks of vISA in a host: the pieces of the template, the operands, the function around them.

Values only, and the decision whether a block is vISA, because inline assembly of other processors looks the same.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.embed.literals import HOLE
from visa_lsp.isa.table import TABLE
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.embed.literals import StringPiece

# Comments that mark the next string as vISA.
MARK: Final = re.compile(r"visa:\s*asm\b")
_EXECUTES: Final = re.compile(r"\(\s*M[1-8](?:_NM)?\s*,\s*\d+\s*\)|\.decl\s+\S+\s+v_type\s*=")
_LABEL: Final = re.compile(r"\s*[A-Za-z_]\w*:\s*")
_FIRST: Final = re.compile(r"[\s{]*(?:\([^()\n]*\)\s*)?([A-Za-z_]\w*)")
_BEGINS: Final = re.compile(r"(?m)^[ \t{]*(?:\([^()\n]*\)\s*)?([A-Za-z_]\w*(?:\.\w+)?)")
# The first words of mnemonics, before any dot.
_HEADS: Final = frozenset(name.partition(".")[0] for name in TABLE.mnemonics)
_MODIFIERS: Final = "=+&%"
# A constraint in the arguments of a call of Python or C++, which has others like it.
CALL_CONSTRAINT: Final = r"[=+&]*(?:rw(?:\.u)?|i|n|P|\d{1,2})"
GENERAL: Final = "rw"
_OURS: Final = frozenset({"rw", "rw.u", "i", "n", "a", "cr", "P", "F", ""})
_IMMEDIATE: Final = frozenset({"i", "n", "F", "P"})
_WHOLE: Final = frozenset({"r", "a"})
_PTX: Final = re.compile(
    r"(?:^|[;{}])\s*(?:@!?%?\w+\s+)?(?:\.reg\s+\.\w+|[a-z]\w*(?:(?:\.|::)\w+)+)\s[^;\n]*;[ \t]*(?:[\n}{/]|\Z|[a-z@.])",
    re.MULTILINE,
)
# A bare operand, without a region, offset or shape in the template.
_ALONE: Final = r"(?<![\w\[<.:,%$]){}(?![\w(.:<\[\]{{])"


class Compiler(Enum):
    """The compiler that reads a block: that of OpenCL and SYCL, the vector compiler of CM and ESIMD, or either."""

    SCALAR = "scalar"
    VECTOR = "vector"
    EITHER = "either"


class Operand(Struct, frozen=True):
    """An operand of a block: its number, its name in brackets, its constraint, the C expression and its place.

    ``constraint`` is None if it is unknown.
    """

    number: int
    name: str
    constraint: str | None
    expression: str
    span: Span
    written: bool

    @property
    def kind(self) -> str:
        """The constraint without the signs for reading and writing; empty if unknown."""
        return (self.constraint or "").lstrip(_MODIFIERS)

    @property
    def is_immediate(self) -> bool:
        """True if a number replaces the operand."""
        return self.kind in _IMMEDIATE

    @property
    def is_uniform(self) -> bool:
        """True if all lanes have one value."""
        return self.kind.endswith(".u")


def operands_named(words: Iterable[str], span: Span) -> tuple[Operand, ...]:
    """Return the operands that the constraints of a call name; those of clobbered registers are left out."""
    return tuple(
        Operand(number, "", word, "", span, "=" in word or "+" in word)
        for number, word in enumerate(word for word in words if not word.startswith("~"))
    )


def writes_general(operands: Iterable[Operand]) -> bool:
    """Return whether one of the operands is written as those of vISA are."""
    return any(operand.written and operand.kind.startswith(GENERAL) for operand in operands)


class StringLiteral(Struct, frozen=True):
    """A string literal: its place including the quotes, whether it is raw, and its quote."""

    span: Span
    raw: bool
    quote: str = '"'


class AsmBlock(Struct, frozen=True, dict=True):
    """An asm statement, or one marked string.

    ``function`` is the number of the function around it, or -1. ``signs`` are the characters before operands; if empty,
    the template is the plain text of the strings. ``asked``: the user marked the string. ``reach`` is the part of the
    host that makes the block vISA, if that is larger than the block and not a function. ``macros`` are the names of the macros
    that were expanded; ``macro`` is the name of the macro whose definition has the block.
    """

    span: Span
    pieces: tuple[StringPiece, ...]
    operands: tuple[Operand, ...] = ()
    signs: str = ""
    function: int = -1
    asked: bool = False
    labels: tuple[str, ...] = ()
    literals: tuple[StringLiteral, ...] = ()
    compiler: Compiler = Compiler.SCALAR
    reach: Span = Span(0, 0)
    macros: frozenset[str] = frozenset()
    macro: str = ""

    @cached_property
    def text(self) -> str:
        """The text of the strings, with a placeholder for each unknown part."""
        return "".join(p.text for p in self.pieces)

    @property
    def executes(self) -> bool:
        """True if it has an instruction or a declaration that only vISA spells like this."""
        return _EXECUTES.search(self.text) is not None

    @cached_property
    def is_ptx(self) -> bool:
        """True if the template is PTX: instructions with dots that end with a semicolon."""
        return not self.executes and _PTX.search(self.text) is not None

    def kind_of(self, operand: Operand) -> str:
        """Return the constraint of an operand, or of the operand whose register it shares."""
        number = int(operand.kind) if operand.kind.isdigit() and len(operand.kind) < 4 else operand.number
        return self.operands[number].kind if number < operand.number else operand.kind

    @property
    def is_of_vectors(self) -> bool:
        """True if the vector compiler reads the block, as far as the text shows."""
        if self.compiler is Compiler.EITHER:
            return any(o.kind == "cr" for o in self.operands) or self.has_whole_operands
        return self.compiler is Compiler.VECTOR

    @cached_property
    def has_whole_operands(self) -> bool:
        """True if all operands are used as whole operands with regions, which only the vector compiler supports."""
        used = [o for o in self.operands if o.kind in _WHOLE]
        names = [rf"[%$](?:{o.number}(?!\d)" + (rf"|\[{re.escape(o.name)}\])" if o.name else ")") for o in used]
        alone = [len(re.findall(_ALONE.format(name), self.text)) for name in names]
        return sum(alone) > 0 and alone == [len(re.findall(name, self.text)) for name in names]

    def is_whole(self, operand: Operand) -> bool:
        """Return whether an operand is replaced by a variable with its region, not only by the name of a variable."""
        return self.is_of_vectors and self.kind_of(operand) in _WHOLE

    def is_bare_number(self, operand: Operand) -> bool:
        """Return whether an operand is replaced by a plain number without a type, also inside of a word."""
        return operand.kind == "P" or (operand.kind == "n" and self.is_of_vectors)

    @property
    def is_foreign(self) -> bool:
        """True if an operand has a constraint that does not exist for vISA."""
        return any(o.constraint is not None and o.kind not in _OURS and not o.kind.isdigit() for o in self.operands)

    @property
    def is_certain(self) -> bool:
        """True if the block must be vISA, by its constraints or by the execution size of an instruction."""
        if self.asked or self.executes:
            return True
        return not self.is_foreign and any(o.kind.startswith(GENERAL) for o in self.operands)

    @property
    def is_label(self) -> bool:
        """True if the block is only a label."""
        return _LABEL.fullmatch(self.text) is not None

    @property
    def begins_as_only_visa(self) -> bool:
        """True if a line begins with a mnemonic of vISA only."""
        return any(map(_is_only_of_visa, _BEGINS.findall(self.text)))

    @property
    def begins_with_mnemonic(self) -> bool:
        """True if the first word is the beginning of a vISA mnemonic."""
        match = _FIRST.match(self.text)
        return match is not None and match[1] in _HEADS


def _is_only_of_visa(word: str) -> bool:
    """Return whether the first word of an instruction exists in vISA only: it has ``_`` inside, or a dot as in the table."""
    head = word.partition(".")[0]
    return head.startswith("lsc_") or ("_" in head and head in _HEADS) or ("." in word and word in TABLE.mnemonics)


def of_visa(blocks: list[AsmBlock], *, opencl: bool) -> list[AsmBlock]:
    """Return the blocks that are vISA; ambiguous ones follow their neighbours in the same function.

    A block without operands also counts in OpenCL if it begins with a mnemonic or an unknown part, elsewhere if it begins with a mnemonic
    of vISA only.
    """
    kept = [b for b in blocks if b.text.strip()]
    sure = {b.function for b in kept if b.is_certain or (not b.operands and b.begins_as_only_visa)}
    return [
        b
        for b in kept
        if b.is_certain
        or (
            not b.is_foreign
            and ((b.is_label and b.function in sure) or (opencl and (b.begins_with_mnemonic or b.text[0] == HOLE)))
        )
        or (not b.operands and b.begins_as_only_visa)
    ]
