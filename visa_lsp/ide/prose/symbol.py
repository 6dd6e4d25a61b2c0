"""The hover of names: declared and predefined variables, labels, subroutines, kernels.

Builds Markdown from a symbol of the binding; line numbers in the prose count from 1. Knows no protocol.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.ide.index.focus import Focus, family
from visa_lsp.ide.index.text_index import index_of
from visa_lsp.ide.prose.markdown import block, code, strong
from visa_lsp.isa import predefined
from visa_lsp.isa.operands import ALIGN_TEXT, align_bytes
from visa_lsp.sema.model import Body, Reference, Role, Symbol, SymbolKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.analysis.analysis import Analysis

_MAX_LINES: Final = 8
# The letter of a class in a declaration.
LETTERS: Final = {
    SymbolKind.GENERAL: "G",
    SymbolKind.ADDRESS: "A",
    SymbolKind.PREDICATE: "P",
    SymbolKind.SAMPLER: "S",
    SymbolKind.SURFACE: "T",
}


def describe_symbol(analysis: Analysis, body: Body, symbol: Symbol, content: str = "") -> str:
    """Return the page of a symbol; ``content`` is that of its input, or of its base's input, as Markdown."""
    if symbol.kind in (SymbolKind.LABEL, SymbolKind.SUBROUTINE):
        return _label(analysis, symbol)
    if symbol.predefined:
        return _describe_predefined(analysis, body, symbol)
    return _variable(analysis, body, symbol, content)


def _variable(analysis: Analysis, body: Body, symbol: Symbol, content: str) -> str:
    head = analysis.document.line_text(symbol.place.line).strip() if symbol.place else symbol.name
    facts = [f"{strong(symbol.name)} — {symbol.kind.value}, {_amount(symbol)}"]
    if symbol.kind is SymbolKind.GENERAL and symbol.decl is not None and symbol.decl.align is not None:
        step = align_bytes(symbol.align, body.platform.grf_bytes)
        facts.append(f"aligned to {ALIGN_TEXT[symbol.align]} ({step} {'byte' if step == 1 else 'bytes'})")
    if symbol.alias is not None:
        facts.append(_alias_chain(symbol))
    aliases = [s for s in body.symbols if s.alias is not None and s.alias[0] is symbol]
    if aliases:
        facts.append("aliased by " + _names(aliases))
    if symbol.input is not None:
        end = symbol.input.offset + symbol.input.size
        facts.append(f"input: payload bytes {symbol.input.offset} to {end - 1} ({symbol.input.size} bytes)")
    if content:
        facts.append(content if symbol.input is not None else f"{code(symbol.base()[0].name)} holds {content}")
    facts += _accesses(analysis, body, symbol)
    return f"{block(head)}\n\n" + "  \n".join(facts)


def _amount(symbol: Symbol) -> str:
    count = symbol.num_elements
    if symbol.kind is SymbolKind.GENERAL and symbol.type is not None:
        elements = f"{count} × {symbol.type.name}" if count != 1 else symbol.type.name
        return f"{elements}, {symbol.byte_size} {'byte' if symbol.byte_size == 1 else 'bytes'}"
    if symbol.kind is SymbolKind.PREDICATE:
        return f"{count} {'bit' if count == 1 else 'bits'}"
    return f"{count} {'element' if count == 1 else 'elements'}"


def _alias_chain(symbol: Symbol) -> str:
    """Return ``alias of V1 at byte 32, which is V0 at byte 64``."""
    steps, seen = [], {id(symbol)}
    target = symbol
    while target.alias is not None and id(target.alias[0]) not in seen:
        target, offset = target.alias
        seen.add(id(target))
        steps.append(f"{code(target.name)} at byte {offset}")
    text = "alias of " + ", alias of ".join(steps)
    base, offset = symbol.base()
    if len(steps) > 1:
        text += f"; that is byte {offset} of {code(base.name)}"
    if base.kind is SymbolKind.GENERAL and offset + symbol.byte_size > base.byte_size:
        text += f" (**longer than {code(base.name)}**, which has {base.byte_size} bytes)"
    return text


def _names(symbols: Iterable[Symbol]) -> str:
    names = [code(s.name) for s in symbols]
    return ", ".join(names[:_MAX_LINES]) + (f" and {len(names) - _MAX_LINES} more" if len(names) > _MAX_LINES else "")


def _accesses(analysis: Analysis, body: Body, symbol: Symbol) -> list[str]:
    """Return reads and writes by this name, and for shared bytes by all of their names."""
    cut = isinstance(analysis, Focus) and analysis.cut
    members = family(body, symbol)
    if len(members) == 1:
        return [_uses(symbol.references, cut=cut)]
    own = f"by this name: {_uses(symbol.references, cut=cut)}"
    cut = isinstance(analysis, Focus) and analysis.family_cut
    whole = _uses([r for member in members for r in member.references], cut=cut)
    used = [f"{code(m.name)} {counts}" for m in members if (counts := _brief(m.references))]
    by = ", ".join(used[:_MAX_LINES]) + (f" and {len(used) - _MAX_LINES} more" if len(used) > _MAX_LINES else "")
    return [own, f"by all names for bytes of {code(members[0].name)}: {whole}" + (f" — {by}" if by else "")]


def _uses(references: Iterable[Reference], *, cut: bool = False) -> str:
    """Return the counts of reads and writes with their lines; only the first ones if ``cut``, for a name with very many uses."""
    writes, reads = _lines(references)
    if not reads and not writes:
        return "never read or written"
    return f"{_count_lines(writes, 'write')}, {_count_lines(reads, 'read')}{'; more further down' if cut else ''}"


def _brief(references: Iterable[Reference]) -> str:
    """Return only the counts; empty if all are zero."""
    counts = zip(_lines(references), ("written", "read"), strict=True)
    return ", ".join(f"{word} {len(lines)}×" for lines, word in counts if lines)


def _lines(references: Iterable[Reference]) -> tuple[list[int], list[int]]:
    """Return the lines that write and those that read, from 1."""
    references = list(references)
    writes, reads = (
        sorted(r.place.line + 1 for r in references if r.role in (role, Role.READ_WRITE))
        for role in (Role.WRITE, Role.READ)
    )
    return writes, reads


def _count_lines(lines: list[int], word: str) -> str:
    if not lines:
        return f"no {word}s"
    unique = sorted(set(lines))
    shown = ", ".join(map(str, unique[:_MAX_LINES])) + (", …" if len(unique) > _MAX_LINES else "")
    return f"{len(lines)} {word}{'s' if len(lines) > 1 else ''} (line {shown})"


def _describe_predefined(analysis: Analysis, body: Body, symbol: Symbol) -> str:
    names = sorted({name for name, s in body.predefined.items() if s is symbol}, key=lambda n: (n[0] != "%", n))
    letter = LETTERS[symbol.kind]
    head = f"{symbol.name}  // predefined, {letter}{symbol.id}"
    parts = [
        f"```visa\n{head}\n```",
        f"**{symbol.name}** — predefined {symbol.kind.value}, {_amount(symbol)}",
        symbol.doc,
    ]
    facts = []
    others = [n for n in names if n != symbol.name]
    if others:
        facts.append("also called " + ", ".join(f"`{n}`" for n in others))
    entry = predefined.VARIABLE_BY_NAME.get(symbol.name) if symbol.kind is SymbolKind.GENERAL else None
    if entry is not None:
        rights = [("readable", entry.readable), ("writable", entry.writable), ("may be an alias base", entry.aliasable)]
        facts.append("; ".join(word if yes else f"not {word}" for word, yes in rights))
    aliases = [s for s in body.symbols if s.alias is not None and s.alias[0] is symbol]
    if aliases:
        facts.append("aliased by " + _names(aliases))
    uses = _accesses(analysis, body, symbol)
    if symbol.references or len(uses) > 1:
        facts += uses
    return "\n\n".join([*parts, "  \n".join(facts)] if facts else parts)


def _label(analysis: Analysis, symbol: Symbol) -> str:
    word = "subroutine" if symbol.kind is SymbolKind.SUBROUTINE else "label"
    parts = [block(f"{symbol.name}:"), f"{strong(symbol.name)} — {word}"]
    facts = [f"defined in line {symbol.place.line + 1}" if symbol.place else "**not defined** in this kernel"]
    sources = [r for r in symbol.references if r.role is Role.TARGET]
    if not sources:
        facts.append("no branch names it")
    else:
        facts.append(f"{len(sources)} incoming {'branch' if len(sources) == 1 else 'branches'}:")
    lines = [
        f"- line {r.place.line + 1}: {code(analysis.document.line_text(r.place.line).split('///')[0].strip())}"
        for r in sources
    ]
    if len(lines) > _MAX_LINES:
        lines = [*lines[:_MAX_LINES], f"- and {len(lines) - _MAX_LINES} more"]
    return "\n\n".join([*parts, "  \n".join(facts), *(["\n".join(lines)] if lines else [])])


def describe_body(analysis: Analysis, name: str) -> str | None:
    """Return the page of a kernel or function of the text."""
    index = index_of(analysis.document)
    group = next((g for g in index.groups if g.name == name and g.opener >= 0), None)
    if group is None:
        return None
    word = "kernel" if group.is_kernel else "function"
    counts = index.counts(group)
    facts = [
        f"{counts.instructions} {'instruction' if counts.instructions == 1 else 'instructions'}",
        f"{counts.variables} declared variables",
        f"{counts.inputs} inputs",
        f"{counts.labels} labels",
    ]
    return f"{strong(name)} — {word}\n\n{', '.join(facts)}; lines {group.first_line + 1} to {group.end_line}"
