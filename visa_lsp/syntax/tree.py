"""The tree of one line: a statement, its operands, its expressions.

Immutable; independent of the meaning of words. Every span is in code points from the start of *its line*, so that a
statement can move with its line. A broken line still has a statement: the readable parts, ``Junk`` for unreadable ones,
and ``errors``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:
    from visa_lsp.text import Span


class Word(Struct, frozen=True):
    """A piece of text at a place: a name, a keyword, a modifier word. Quoted names have no quotes here."""

    text: str
    span: Span
    quoted: bool = False


# Constant expressions. Values are 64-bit; see ``evaluate`` in ``syntax/constant_expressions.py``.


def integer(text: str) -> int:
    """Return the value of a literal, decimal or hex."""
    return int(text, 16 if text[:2] in ("0x", "0X") else 10)


class Number(Struct, frozen=True):
    """An integer literal, decimal or hex."""

    value: int
    span: Span
    text: str


class Float(Struct, frozen=True):
    """A decimal float literal."""

    value: float
    span: Span
    text: str


class Unary(Struct, frozen=True):
    """``-x``, ``~x``, ``!x``, ``+x``."""

    op: str
    operand: Expr
    span: Span


class Binary(Struct, frozen=True):
    """``x op y`` with one of ``+ - * / % << >> >>> & ^ | == != < <= > >=``."""

    op: str
    left: Expr
    right: Expr
    span: Span


class Conditional(Struct, frozen=True):
    """``c ? x : y``."""

    condition: Expr
    then: Expr
    otherwise: Expr
    span: Span


class SizeOf(Struct, frozen=True):
    """``%sizeof X``, ``%sizeof(GRF)``: bytes of a variable, a type or a register."""

    name: Word
    span: Span


class Builtin(Struct, frozen=True):
    """A number known to the assembler, such as ``%DispatchSimd``."""

    name: Word
    span: Span


Expr = Number | Float | Unary | Binary | Conditional | SizeOf | Builtin


# Operands, by shape.


class RegionText(Struct, frozen=True):
    """``<v;w,h>``, ``<w,h>`` or ``<h>``: the numbers in it. ``form`` is 3, 2 or 1.

    ``vert`` is None and ``form`` 3 for the seed's ``<;w,h>``.
    """

    vert: Expr | None
    width: Expr | None
    horz: Expr
    form: int
    span: Span


class Ref(Struct, frozen=True):
    """A name with its suffixes: ``(-)V1(0,1)<8;8,1>``, ``A0(0)<1>``, ``T6(0)``, ``V1.32``, ``V1:d32x2t``, ``P1``.

    ``indices`` has the one or two expressions in the parenthesis, or None; ``element`` is the index that 4.2 writes
    after a surface or sampler in a register (``V1(0,0)<0;1,0>[0]``); ``dot`` is the byte offset; ``suffix`` is the word
    after a colon (a type or a data shape, including dots: ``d32.xyz``).
    """

    modifier: Word | None
    name: Word
    indices: tuple[Expr, ...] | None
    region: RegionText | None
    element: Expr | None
    dot: Expr | None
    suffix: Word | None
    span: Span


class IndirectRef(Struct, frozen=True):
    """``(-)r[A0(0),32]<8;8,1>:d``; ``seed_form`` has no ``r`` before the bracket."""

    modifier: Word | None
    name: Word
    index: Expr | None
    offset: Expr | None
    region: RegionText | None
    suffix: Word | None
    span: Span
    seed_form: bool = False


class AddressOfRef(Struct, frozen=True):
    """``&V1``, ``&V1[32]``; the seed's ``&V1+32`` has ``seed_form``."""

    name: Word
    offset: Expr | None
    seed_form: bool
    span: Span


class Literal(Struct, frozen=True):
    """``0x10:ud``, ``1.5:f``, ``(1+2):d``; a bare number has no ``suffix``, a ``length`` follows a slash."""

    value: Expr
    suffix: Word | None
    span: Span
    length: bool = False


class Group(Struct, frozen=True):
    """``(a, b)`` as an operand: a pair of numbers, a list of labels, a surface with its index."""

    items: tuple[Operand, ...]
    span: Span


class Quoted(Struct, frozen=True):
    """A string operand with escapes resolved."""

    text: str
    span: Span


class AddressItem(Struct, frozen=True):
    """A member of the brackets of an LSC address: ``[4*V1+16]``; ``base`` is a Ref or an expression.

    ``pair`` holds the x and y of a block address in a register: ``[V1+(4,8)]``.
    """

    scale: Expr | None
    base: Ref | Expr
    offset: Expr | None  # signed: ``-8`` is Unary("-")
    span: Span
    pair: tuple[Expr, Expr] | None = None


class AddressRef(Struct, frozen=True):
    """``bti(0x10)[4*V1+16]:a32``: model, its argument and surface index, the members, the address size.

    An address without a model is ``flat``, with an empty span; a bare surface, ``bti(0x10)``, has no members.
    """

    model: Word
    argument: Ref | Expr | None
    surface_index: Expr | None
    items: tuple[AddressItem, ...]
    suffix: Word | None
    span: Span


class Junk(Struct, frozen=True):
    """Text that is not an operand."""

    text: str
    span: Span


Operand = Ref | IndirectRef | AddressOfRef | Literal | Group | Quoted | AddressRef | Junk


# Statements.


class SyntaxProblem(Struct, frozen=True):
    """A syntax problem of a line, with its message (lower case, no full stop)."""

    message: str
    span: Span


class PredicateText(Struct, frozen=True):
    """``(!P1.any)``."""

    inverse: bool
    name: Word
    combine: Word | None
    span: Span


class ExecText(Struct, frozen=True):
    """``(M1, 16)`` or ``(16)``."""

    mask: Word | None
    size: Expr
    span: Span


class Braces(Struct, frozen=True):
    """Braces on the line of a statement: those before it open scopes, those after it close scopes."""

    opens: tuple[Span, ...]
    closes: tuple[Span, ...]


class Instruction(Struct, frozen=True):
    """``(P1) add.sat (M1, 16) a b c``.

    ``words`` is the mnemonic and its dotted words; words after the parenthesis (``gather.4 (M1, 8).mod``) follow in the
    same list. ``option`` is the seed's word in braces at the end of a line, ``{NoMask}``.
    """

    predicate: PredicateText | None
    words: tuple[Word, ...]
    exec: ExecText | None
    operands: tuple[Operand, ...]
    span: Span
    errors: tuple[SyntaxProblem, ...] = ()
    option: Word | None = None
    braces: Braces | None = None


class Label(Struct, frozen=True):
    """``name:`` in column 0 (``column0`` False elsewhere)."""

    name: Word
    column0: bool
    span: Span
    errors: tuple[SyntaxProblem, ...] = ()
    braces: Braces | None = None


class AttrItem(Struct, frozen=True):
    """``Name`` or ``Name=value`` in ``attrs={..}``; value a number expression or a word."""

    name: Word
    value: Expr | Word | None


class Alias(Struct, frozen=True):
    """``alias=<V1, 32>``; ``seed_form`` for ``alias (V1, 32)``."""

    name: Word
    offset: Expr
    seed_form: bool
    span: Span


class Decl(Struct, frozen=True):
    """``.decl NAME v_type=G type=ud num_elts=8 align=dword alias=<V1, 0> attrs={Output} v_name=x``."""

    name: Word | None
    v_type: Word | None
    type: Word | None
    num_elts: Expr | None
    align: Word | Expr | None
    alias: Alias | None
    attrs: tuple[AttrItem, ...]
    v_name: Word | None
    span: Span
    errors: tuple[SyntaxProblem, ...] = ()
    braces: Braces | None = None


class InputDecl(Struct, frozen=True):
    """``.input``, ``.implicit_X`` or ``.parameter``, as named by ``directive``."""

    directive: Word
    name: Word | None
    offset: Expr | None
    size: Expr | None
    span: Span
    errors: tuple[SyntaxProblem, ...] = ()
    braces: Braces | None = None


class KernelAttr(Struct, frozen=True):
    """``.kernel_attr Name=value``; value a number, a quoted string or a bare word."""

    name: Word | None
    value: Expr | Quoted | Word | None
    span: Span
    errors: tuple[SyntaxProblem, ...] = ()
    braces: Braces | None = None


class Version(Struct, frozen=True):
    """``.version 4.1``."""

    major: int | None
    minor: int | None
    span: Span
    errors: tuple[SyntaxProblem, ...] = ()
    braces: Braces | None = None


# Directives that depend on the instruction table, which defines them, but which readers of text do not use.
SUBROUTINE: Final = ".function"
FILE_MARK: Final = ".file"
LINE_MARK: Final = ".loc"


class BodyDirective(Struct, frozen=True):
    """``.kernel``, ``.global_function``, ``.function``, ``.funcdecl`` with a name."""

    directive: Word
    name: Word | None
    span: Span
    errors: tuple[SyntaxProblem, ...] = ()
    braces: Braces | None = None

    @property
    def opens_subroutine(self) -> bool:
        """True if a subroutine of the body begins here, not a new body."""
        return self.directive.text == SUBROUTINE


class Scope(Struct, frozen=True):
    """``{`` or ``}``."""

    opens: bool
    span: Span
    errors: tuple[SyntaxProblem, ...] = ()
    braces: Braces | None = None


class Unknown(Struct, frozen=True):
    """A line that matches no statement rule."""

    text: str
    span: Span
    errors: tuple[SyntaxProblem, ...] = ()
    braces: Braces | None = None


Statement = Instruction | Label | Decl | InputDecl | KernelAttr | Version | BodyDirective | Scope | Unknown
