"""A property of a declaration is out of order, repeated or on the wrong class of variable, or the name is not an identifier.

Why: the grammar fixes the order, `type num_elts align alias attrs` for general variables, `num_elts attrs` for addresses and
predicates, `num_elts v_name attrs` for samplers and surfaces. A mnemonic is a reserved word and cannot name a variable.

Example:

    .decl V60 v_type=G type=d num_elts=8 alias=<V40, 0> align=GRF

Instead:

    .decl V60 v_type=G type=d num_elts=8 align=GRF alias=<V40, 0>

Authority: the finalizer's grammar; it rejects the text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from visa_lsp.checks.rule import ERROR, Body, Check, CheckContext, Diagnostic, rule
from visa_lsp.isa.model import Dialect, Trait
from visa_lsp.isa.table import TABLE
from visa_lsp.sema.model import Place, Symbol, SymbolKind
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.syntax import tree

RULE = rule("V136", "misplaced-property", ERROR, __doc__)
_STATE: Final = ("v_type", "num_elts", "v_name", "attrs")
_REGISTER: Final = ("v_type", "num_elts", "attrs")
_ORDER: Final = {
    SymbolKind.GENERAL: ("v_type", "type", "num_elts", "align", "alias", "attrs"),
    SymbolKind.ADDRESS: _REGISTER,
    SymbolKind.PREDICATE: _REGISTER,
    SymbolKind.SAMPLER: _STATE,
    SymbolKind.SURFACE: _STATE,
}
_PROPERTY: Final = re.compile(
    r"\{[^}]*\}|<[^>]*>|\([^)]*\)|\"[^\"]*\"|\b(v_type|type|num_elts|align|alias|attrs|v_name)\s*="
)
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Words that are reserved by the finalizer's lexer: those of load/store addresses, and modes of `avs`.
_ADDRESS_WORDS: Final = frozenset({"flat", "bti", "ss", "bss", "arg"})
_NEWER_WORD: Final = re.compile(r"surf|AVS_(?:(?:16|8)_(?:FULL|DOWN_SAMPLE)|(?:4|8|16)x[48])")


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    for symbol in ctx.find_declarations(body):
        if symbol.decl is None or symbol.place is None or symbol.decl.errors:
            continue
        if not _is_tight(symbol.decl, symbol.kind):
            yield from _properties(ctx, symbol, symbol.place.line)
        yield from _name(ctx, symbol, symbol.place)


def _is_tight(decl: tree.Decl, kind: SymbolKind) -> bool:
    """Return whether the declaration consists of the usual properties in order, with one blank between them."""
    if decl.name is None or decl.v_type is None or decl.num_elts is None or decl.attrs or decl.v_name is not None:
        return False
    general = kind is SymbolKind.GENERAL
    if (decl.type is not None) != general or (decl.align is not None and not general):
        return False
    end = decl.name.span.end
    for key, part in (
        ("v_type=", decl.v_type),
        ("type=", decl.type),
        ("num_elts=", decl.num_elts),
        ("align=", decl.align),
    ):
        if part is not None:
            if part.span.start != end + len(key) + 1:
                return False
            end = part.span.end
    if decl.alias is not None:
        if decl.alias.span.start != end + 1 or not general:
            return False
        end = decl.alias.span.end
    return end == decl.span.end


def _properties(ctx: CheckContext, symbol: Symbol, line: int) -> Iterator[Diagnostic]:
    order, seen = _ORDER.get(symbol.kind), list[str]()
    if order is None:
        return
    for word, start in _words(ctx.document.line_text(line)):
        if word == "type" and symbol.kind is not SymbolKind.GENERAL:
            continue  # the seed gives every class a type; another rule reports it
        place = Place(line, Span(start, start + len(word)))
        if word not in order:
            yield ctx.report(RULE, place, f"a declaration of {_class(symbol)} takes no `{word}`")
            return
        if word in seen:
            yield ctx.report(RULE, place, f"`{word}` is given a second time")
            return
        later = next((other for other in seen if order.index(other) > order.index(word)), None)
        if later is not None:
            wanted = ", ".join(f"`{w}`" for w in order)
            yield ctx.report(RULE, place, f"`{word}` precedes `{later}`; the order is {wanted}")
            return
        seen.append(word)


# Cached because each keystroke checks the declarations around it again.
@lru_cache(maxsize=4096)
def _words(line: str) -> tuple[tuple[str, int], ...]:
    """Return the properties of a declaration with their columns."""
    return tuple((m[1], m.start()) for m in _PROPERTY.finditer(line.split("//", maxsplit=1)[0]) if m[1] is not None)


def _class(symbol: Symbol) -> str:
    article = "an" if symbol.kind is SymbolKind.ADDRESS else "a"
    return f"{article} {symbol.kind.value}"


def _name(ctx: CheckContext, symbol: Symbol, place: Place) -> Iterator[Diagnostic]:
    name = symbol.name
    if name.startswith(("%", '"')):
        return
    if _NAME.fullmatch(name) is None:
        yield ctx.report(RULE, place, f"`{name}` is not a variable name; a name has letters, digits and `_` only")
    elif ctx.dialect is not Dialect.SEED and (name in _ADDRESS_WORDS or _is_word(name, ctx.dialect)):
        yield ctx.report(RULE, place, f"`{name}` is a word of the language; a variable needs another name")


def _is_word(name: str, dialect: Dialect) -> bool:
    """Return whether a name is a mnemonic of the dialect, or another word of text 4.2."""
    rows = [row for row in TABLE.by_mnemonic.get(name, ()) if dialect in row.dialects and not row.has(Trait.DOTTED)]
    if dialect is Dialect.V42:
        return any(not row.opens_label for row in rows) or _NEWER_WORD.fullmatch(name) is not None
    return any(row.opcode is not None for row in rows)


CHECK = Check(RULE, body=_body)
