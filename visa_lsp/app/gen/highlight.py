"""Splits lines into coloured parts: vISA by its semantic tokens, Gen and OpenCL C by regular expressions.

The parts of a line cover each character once. The kind of a part is a class of ``page.css``, abbreviated from the token
type, or empty without a colour.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.ide.features.semantic_tokens import semantic_tokens
from visa_lsp.isa.platforms import platform_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from visa_lsp.toolchain.finalize import FinalizedKernel

# Kind and text.
Part = tuple[str, str]

# CSS classes by the types of semantic tokens.
_CLASSES: Final = {
    "keyword": "key", "modifier": "mod", "variable": "var", "parameter": "var", "label": "lab", "function": "fun",
    "macro": "dir", "type": "typ", "property": "mod", "number": "num", "operator": "opr", "string": "str",
    "enumMember": "mod",
}  # fmt: skip
_GEN: Final = re.compile(
    r"(?P<mod>\{[^}]*\}|\([^)]*\))|(?P<reg>\b(?:r|a|f|acc|cr|sr|ce|dbg|tm|tdr|ip|n)\d+(?:\.\d+)?\b|\bnull\b)"
    r"|(?P<typ>:[a-z]+\b)|(?P<num>\b(?:0x[0-9A-Fa-f]+|\d+(?:\.\d+)?)\b)|(?P<opr><[^>]*>)|(?P<key>\b[a-z][\w.]*\b)"
)
_CL: Final = re.compile(
    r'(?P<com>//.*|/\*.*?(?:\*/|$))|(?P<str>"(?:\\.|[^"\\])*"?)|(?P<dir>^\s*\#.*)'
    r"|(?P<key>\b(?:__)?(?:kernel|global|local|constant|private|read_only|write_only|const|volatile|restrict|if|else|for|while"
    r"|do|switch|case|default|break|continue|goto|return|struct|typedef|union|enum|inline|static|void)\b)"
    r"|(?P<typ>\b(?:bool|u?char|u?short|u?int|u?long|float|half|double|size_t|image\w*_t|sampler_t|event_t)(?:2|3|4|8|16)?\b)"
    r"|(?P<fun>\b[A-Za-z_]\w*(?=\s*\())|(?P<num>\b(?:0[xX][0-9A-Fa-f]+|\d[\d.eE]*)[uUlLfFhH]*\b)"
)
_REGISTER: Final = re.compile(r"r(\d{1,4})(?:\.(\d{1,4}))?")
_MAX_NAMES: Final = 6


def visa_lines(text: str, platform: str) -> Iterator[list[Part]]:
    """Yield the parts of each line of a text."""
    analysis = Analysis.of(text, platform)
    document = analysis.document
    marks: dict[int, list[tuple[int, int, str]]] = {}
    for token in semantic_tokens(analysis):
        marks.setdefault(token.line, []).append((token.span.start, token.span.end, _CLASSES.get(token.type, "")))
    for line in range(document.line_count):
        words, code = document.line_text(line), document.code(line)
        parts: list[Part] = []
        column = 0
        for start, end, kind in marks.get(line, ()):
            if kind and start >= column:
                parts += [_plain(words, code, column, start), (kind, words[start:end])]
                column = end
        yield [part for part in (*parts, _plain(words, code, column, len(words))) if part[1]]


def _plain(words: str, code: str, start: int, end: int) -> Part:
    """Return the part of a line without tokens; it is a comment if the code is blank there."""
    part = words[start:end]
    is_comment = part.strip() and not code[start:end].strip()
    return "com" if is_comment else "", part


def gen_line(text: str) -> list[Part]:
    """Return the parts of a line of Gen."""
    code, slashes, comment = text.partition("//")
    return [*_gen_code(code), *([("com", slashes + comment)] if slashes else [])]


@lru_cache(maxsize=20_000)  # cached because an edit leaves most lines unchanged, except the number in the comment
def _gen_code(code: str) -> tuple[Part, ...]:
    return tuple(_parts(_GEN, code))


def source_lines(lines: Iterable[str]) -> Iterator[list[Part]]:
    """Yield the parts of lines of OpenCL C, with comments over several lines."""
    inside = False
    for line in lines:
        head, rest = "", line
        if inside:
            close = line.find("*/")
            inside, head, rest = (
                close < 0,
                line if close < 0 else line[: close + 2],
                "" if close < 0 else line[close + 2 :],
            )
        opened = rest.rfind("/*")
        inside = inside or (opened >= 0 and "*/" not in rest[opened:] and "//" not in rest[:opened])
        yield [*([("com", head)] if head else []), *_parts(_CL, rest)]


def _parts(pattern: re.Pattern[str], text: str) -> Iterator[Part]:
    offset = 0
    for match in pattern.finditer(text):
        if match.start() > offset:
            yield "", text[offset : match.start()]
        yield match.lastgroup or "", match[0]
        offset = match.end()
    if offset < len(text):
        yield "", text[offset:]


def living_in(kernel: FinalizedKernel, platform: str) -> dict[int, str]:
    """Return the names of all variables of each GRF register; several share a register over time."""
    target = platform_named(platform)
    size = target.grf_bytes if target is not None else 32
    rows: dict[int, list[str]] = {}
    for name, where in kernel.listing.registers.items():
        match = _REGISTER.fullmatch(where)
        if match is not None:
            count = max(1, -(-kernel.listing.sizes.get(name, 1) // size))
            for row in range(int(match[1]), int(match[1]) + min(count, 256)):
                rows.setdefault(row, []).append(name)
    return {row: _some(names) for row, names in rows.items()}


def _some(names: list[str]) -> str:
    rest = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return ", ".join(names[:_MAX_NAMES]) + rest


def row_of(register: str) -> int | None:
    """Return the number of a GRF register in Gen syntax; None for any other register."""
    match = _REGISTER.fullmatch(register)
    return int(match[1]) if match else None
