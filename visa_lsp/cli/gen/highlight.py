"""Coloured lines for the page: vISA by what its words mean, Gen and OpenCL C by how they look.

Gives HTML in which every character of the text stands once, escaped. A class is the first letters of what a word is.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Final

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.cli.common import printable
from visa_lsp.ide.features.semantic_tokens import semantic_tokens
from visa_lsp.isa.platforms import platform_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from visa_lsp.toolchain.finalize import FinalizedKernel

# What a class of the page is made from: types of semantic tokens.
_CLASSES: Final = {
    "keyword": "key", "modifier": "mod", "variable": "var", "parameter": "var", "label": "lab", "function": "fun",
    "macro": "dir", "type": "typ", "property": "mod", "number": "num", "operator": "opr", "string": "str",
    "enumMember": "mod",
}  # fmt: skip
_GEN: Final = re.compile(
    r"(?P<com>//.*)|(?P<mod>\{[^}]*\}|\([^)]*\))|(?P<reg>\b(?:r|a|f|acc|cr|sr|ce|dbg|tm|tdr|ip|n)\d+(?:\.\d+)?\b|\bnull\b)"
    r"|(?P<typ>:[a-z]+\b)|(?P<num>\b(?:0x[0-9A-Fa-f]+|\d+(?:\.\d+)?)\b)|(?P<opr><[^>]*>)|(?P<key>\b[a-z][\w.]*\b)"
)
_CL: Final = re.compile(
    r'(?P<com>//.*|/\*.*?(?:\*/|$))|(?P<str>"(?:\\.|[^"\\])*"?)|(?P<dir>^\s*\#.*)'
    r"|(?P<key>\b(?:__)?(?:kernel|global|local|constant|private|read_only|write_only|const|volatile|restrict|if|else|for|while"
    r"|do|switch|case|default|break|continue|return|struct|typedef|union|enum|inline|static|void)\b)"
    r"|(?P<typ>\b(?:bool|u?char|u?short|u?int|u?long|float|half|double|size_t|image\w*_t|sampler_t|event_t)(?:2|3|4|8|16)?\b)"
    r"|(?P<fun>\b[A-Za-z_]\w*(?=\s*\())|(?P<num>\b(?:0[xX][0-9A-Fa-f]+|\d[\d.eE]*)[uUlLfFhH]*\b)"
)
_REGISTER: Final = re.compile(r"r(\d{1,4})(?:\.(\d{1,4}))?")
_MOST_NAMES: Final = 6


def _span(kind: str, text: str, title: str = "") -> str:
    told = f' title="{escape(title)}"' if title else ""
    return f'<span class="{kind}"{told}>{escape(printable(text))}</span>'


def visa_lines(text: str, platform: str, title: Callable[[str], str]) -> list[str]:
    """Each line of a text; ``title`` tells what is known of a name, empty where nothing is."""
    analysis = Analysis.of(text, platform)
    document = analysis.document
    marks: dict[int, list[tuple[int, int, str]]] = {}
    for token in semantic_tokens(analysis):
        marks.setdefault(token.line, []).append((token.span.start, token.span.end, _CLASSES.get(token.type, "")))
    out = []
    for line in range(document.line_count):
        words, code = document.line_text(line), document.code(line)
        pieces, at = [], 0
        for start, end, kind in marks.get(line, ()):
            if kind and start >= at:
                told = title(words[start:end]) if kind == "var" else ""
                pieces += [_plain(words, code, at, start), _span(kind, words[start:end], told)]
                at = end
        out.append("".join([*pieces, _plain(words, code, at, len(words))]))
    return out


def _plain(words: str, code: str, start: int, end: int) -> str:
    """What no token covers: where the line's code is blank, it is a comment."""
    part = words[start:end]
    is_comment = part.strip() and not code[start:end].strip()
    return _span("com", part) if is_comment else escape(printable(part))


def gen_line(text: str, title: Callable[[str], str]) -> str:
    """A line of Gen; ``title`` tells what is known of a register."""
    return "".join(_pieces(_GEN, text, title))


def source_lines(lines: Iterable[str]) -> Iterator[str]:
    """Lines of OpenCL C. A comment over several lines is known by its beginning and end."""
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
        yield (_span("com", head) if head else "") + "".join(_pieces(_CL, rest, lambda _: ""))


def _pieces(pattern: re.Pattern[str], text: str, title: Callable[[str], str]) -> Iterator[str]:
    at = 0
    for match in pattern.finditer(text):
        kind = match.lastgroup or ""
        yield escape(printable(text[at : match.start()]))
        yield _span(kind, match[0], title(match[0]) if kind == "reg" else "")
        at = match.end()
    yield escape(printable(text[at:]))


def living_in(kernel: FinalizedKernel, platform: str) -> Callable[[str], str]:
    """A function that names the variables which live in a register: all of them, for they share registers over time."""
    known = platform_named(platform)
    size = known.grf_bytes if known is not None else 32
    rows: dict[int, list[str]] = {}
    for name, where in kernel.listing.registers.items():
        match = _REGISTER.fullmatch(where)
        if match is not None:
            count = max(1, -(-kernel.listing.sizes.get(name, 1) // size))
            for row in range(int(match[1]), int(match[1]) + min(count, 256)):
                rows.setdefault(row, []).append(name)

    def title(register: str) -> str:
        match = _REGISTER.fullmatch(register)
        names = rows.get(int(match[1]), []) if match else []
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        return ", ".join(names[:_MOST_NAMES]) + more

    return title
