"""The working state of binding one text: the body, its scopes, the problems found so far.

One ``BindingPass`` serves one pass over a document; only its ``BoundModule`` outlives it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.isa.types import type_named
from visa_lsp.sema.model import Body, DeclarationScope, Place, Problem, Reference, Symbol, SymbolKind
from visa_lsp.sema.predefined_symbols import make_predefined_symbols, pool_prefix
from visa_lsp.syntax import tree
from visa_lsp.syntax.constant_expressions import ExpressionError, evaluate

if TYPE_CHECKING:
    from visa_lsp.isa.model import Role
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.isa.table import InstructionTable
    from visa_lsp.text import Span


# The problems of an undeclared name, and of a missing label.
MISSING_NAME: Final = "undeclared-name"
MISSING_LABEL: Final = "missing-label"
# The attributes of a kernel that built-in numbers in its lines refer to, and the names of these numbers.
READ_ATTRIBUTES: Final = ("SimdSize",)
_READING: Final = ("%DispatchSimd", "%DispatchSIMD")
# Problems that do not prevent a program, so that an object is still written.
HARMLESS: Final = frozenset({
    "seed-alias", "seed-mnemonic", "seed-mask", "seed-option", "seed-word", "seed-elements", "seed-order", "seed-plane",
    "seed-string", "seed-width", "seed-address-of", "seed-region", "seed-property", "seed-count",
    "unknown-kernel-attribute", "redeclared-body", "ignored-saturation", "no-elements", "inexact-exec-size", "destination-stride",
})  # fmt: skip


def reads_attributes(text: str) -> bool:
    """Return whether a number in a text refers to an attribute of the kernel."""
    return any(name in text for name in _READING)


class BindingPass:
    """State of one pass. ``line`` is the line being bound."""

    def __init__(self, platform: Platform, table: InstructionTable) -> None:
        self.platform = platform
        self.table = table
        self.problems: list[Problem] = []
        self.bodies: list[Body] = []
        self.line = 0
        self.newest = False  # ``.version`` 4.2 or later
        self.body, self.scope = self._new_body("", is_kernel=True, place=None)

    # ---- bodies and scopes ----

    def open_body(self, name: str, *, is_kernel: bool, place: Place | None) -> Body:
        """Start a kernel or function at the current line."""
        self.body, self.scope = self._new_body(name, is_kernel=is_kernel, place=place)
        self._begin()
        return self.body

    def _new_body(self, name: str, *, is_kernel: bool, place: Place | None) -> tuple[Body, DeclarationScope]:
        scope = DeclarationScope(None, self.line)
        body = Body(name, is_kernel, place, self.line, self.line, self.platform, scope)
        body.scopes.append(scope)
        return body, scope

    def _begin(self) -> None:
        """Add the body to the module, with the content that every body has."""
        self.body.predefined = make_predefined_symbols(self.platform.grf_bytes)
        self.body.strings = pool_prefix(self.body.name)
        self.bodies.append(self.body)

    def ensure_body(self) -> None:
        """Open a body without a name for text before any ``.kernel``."""
        if not self.bodies:
            self._begin()
            self.body.first_line = self.line

    def open_scope(self, span: Span) -> None:
        """Open the scope of a ``{`` at a place."""
        around = self.scope
        # Empty scopes are skipped, because thousands of braces must not slow down every later look-up.
        outer = around if around.names or around.parent is None else around.outer
        self.scope = DeclarationScope(around, self.line, place=self.place(span), outer=outer)
        self.body.scopes.append(self.scope)

    def close_scope(self) -> bool:
        """Close the scope of a ``}``; return False if no scope is open."""
        if self.scope.parent is None:
            return False
        self.scope.last_line = self.line
        self.scope = self.scope.parent
        return True

    # ---- problems ----

    def place(self, span: Span) -> Place:
        """Return the place of a span in the current line."""
        return Place(self.line, span)

    def problem(self, kind: str, span: Span, *related: tuple[Place, str], **args: object) -> None:
        """Record a problem in the current line."""
        self.problems.append(Problem(kind, Place(self.line, span), args, tuple(related)))

    # ---- names ----

    def string(self, text: str) -> int:
        """Append to the pool; the empty string is not stored and has index 0."""
        if not text:
            return 0
        self.body.strings.append(text)
        return len(self.body.strings) - 1

    def lookup(self, word: tree.Word, role: Role, *, expected: str = "variable") -> Symbol | None:
        """Return the variable of a name and record the use; report a problem and return None if there is none."""
        symbol = self.scope.visible(word.text) or self.body.predefined.get(word.text)
        if symbol is None:
            self.problem("undeclared-name", word.span, name=word.text, expected=expected)
            return None
        symbol.references.append(Reference(Place(self.line, word.span), role))
        return symbol

    def label(self, word: tree.Word, role: Role, *, subroutine: bool = False) -> Symbol:
        """Return the label of a name; create it at the first mention."""
        symbol = self.body.labels.get(word.text)
        if symbol is None:
            kind = SymbolKind.SUBROUTINE if subroutine else SymbolKind.LABEL
            symbol = Symbol(word.text, kind, len(self.body.labels), name_index=self.string(word.text))
            self.body.labels[word.text] = symbol
        symbol.references.append(Reference(Place(self.line, word.span), role))
        return symbol

    # ---- numbers ----

    def size_of(self, name: str) -> int | None:
        """Return the bytes of a name in ``%sizeof``: a variable, a type, a register."""
        if name == "GRF":
            return self.platform.grf_bytes
        symbol = self.scope.visible(name) or self.body.predefined.get(name)
        if symbol is not None and symbol.kind is SymbolKind.GENERAL:
            return symbol.byte_size
        type_ = type_named(name)
        return type_.size if type_ is not None else None

    def builtin(self, name: str) -> int | None:
        """Return the value of a built-in number."""
        if name in _READING:
            for attribute, _ in self.body.attributes:
                if self.body.strings[attribute.name_index] == "SimdSize":
                    return int.from_bytes(attribute.data, "little")
            return 0
        return self.platform.generation if name == "%Platform" else None

    def number(
        self, node: tree.Expr, low: int | None = None, high: int | None = None, what: str = "number"
    ) -> int | None:
        """Return the value of an expression; report a problem and return None if it has none or is out of range."""
        if isinstance(node, tree.Number):
            value = node.value
        else:
            try:
                value = evaluate(node, self.size_of, self.builtin)
            except ExpressionError as error:
                self.problem("bad-expression", error.node.span, message=str(error))
                return None
        if (low is not None and value < low) or (high is not None and value > high):
            self.problem("number-range", node.span, what=what, value=value, low=low, high=high)
            return None
        return value
