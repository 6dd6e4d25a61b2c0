"""Texts of other languages with vISA in their strings: found, judged, queried at any place, edited, formatted, written back."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks.attack.core import Target, Wrong
from benchmarks.attack.kernels import PLATFORMS
from benchmarks.attack.oddities import edit, odd
from benchmarks.attack.texts import in_range
from visa_lsp.embed import requests
from visa_lsp.embed.block_text import BlockRefused, block_text, blocks_of
from visa_lsp.embed.formatting import block_around, format_blocks
from visa_lsp.embed.host_findings import findings
from visa_lsp.embed.host_text import HostText
from visa_lsp.embed.languages import Host, parse, readable
from visa_lsp.embed.runnable import runnable_block
from visa_lsp.embed.write_back import edits_of
from visa_lsp.ide.features.rename import RenameRefused
from visa_lsp.isa.platforms import platform_named
from visa_lsp.text import Span

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable

    from visa_lsp.diagnostics import Edit

_LINES: Final = (
    "add (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> 0x1:w", "mov  (M1,16) %0(0,0)<1>   %1(0,0)<1;1,0>", "{", "}", "// 100%% here", "",
    ".decl t v_type=G type=d num_elts=16 align=GRF", "mov (M1, 16) t(0,0)<1> %0(0,0)<1;1,0>", "nope (M1, 16) %9", "L:", "goto (M1, 16) L",
    "mov (M1_NM, 1) %0(0,0)<1> %%r0(0,0)<0;1,0>", "mov (M1, 8) %[x](0,0)<1> %2",
)  # fmt: skip
_PIECES: Final = (
    '"', "\\", "(", ")", "\n", "\0", "\ud800", "\U0001f600", 'R"(', ')"', "/*", "*/", "//", "%[", "#define X ", "#if 0\n", "#endif\n", "'''", '"""',
    "asm(", "\r", "{", "}", "// visa: asm\n", "# visa: asm\n", "// visa: ignore", ': "+rw"(x)', "\\\n", 'f"{', "%%", "$0",
)  # fmt: skip


class HostCase(NamedTuple):
    """A text of a language for a platform, and edits of it, one behind the other."""

    text: str
    host: Host
    platform: str | None
    edits: tuple[tuple[int, int, str], ...]


class Hosts(Target):
    """Functions with asm statements in all forms of strings, most of them with something odd in them."""

    name = "hosts"
    suffix = ".cpp"

    def make(self, draw: random.Random) -> HostCase:
        """Return some functions, damaged more or less."""
        host = draw.choice(tuple(Host))
        text = "".join(_function(draw, host, number) for number in range(draw.choice((1, 1, 2, 4))))
        for _ in range(draw.choice((0, 0, 1, 3, 8))):
            at = draw.randrange(len(text) + 1)
            text = text[:at] + draw.choice(_PIECES) + text[at + draw.choice((0, 0, 1, 5)) :]
        if draw.random() < 0.3:
            text = odd(draw, text)
        edits, now = [], text
        for _ in range(draw.choice((0, 1, 2, 4))):
            start, end, new = edit(draw, now)
            edits.append((start, end, new))
            now = now[:start] + new + now[end:]
        return HostCase(text, host, draw.choice(PLATFORMS), tuple(edits))

    def to_bytes(self, case: HostCase) -> bytes:
        """Return the text, the rest in a comment behind it."""
        return f"{case.text}\n// {case.host} {case.platform}, edits {case.edits!r}\n".encode("utf-8", "surrogatepass")

    def attempt(self, case: HostCase, draw: random.Random) -> str:
        """Run every operation on a host text."""
        host = HostText.of(case.text, case.host, platform_named(case.platform) if case.platform else None)
        _request_all(host, draw)
        for start, end, new in case.edits:
            host = host.edit(host.document.edit(start, end, new))
            _request_all(host, draw)
        _as_read_anew(host)
        return "with vISA" if host.units else "without vISA"


def _function(draw: random.Random, host: Host, number: int) -> str:
    lines = [draw.choice(_LINES) for _ in range(draw.choice((1, 2, 5, 12)))]
    form = draw.randrange(3)
    if host is Host.PYTHON:
        body = "\n".join(lines).replace("%", "$")
        return (
            f'# visa: asm\nx{number} = {draw.choice(("", "r", "f"))}"""{body}"""\n'
            if form
            else f'f("""{body}""", "=rw,rw", x)\n'
        )
    if form == 0:
        template = 'R"(' + "\n".join(lines) + ')"'
    elif form == 1:
        template = "\n    ".join(f'"{line}\\n"' for line in lines)
    else:
        template = '"' + "\\n".join(lines) + '"'
    return f'void f{number}(int x, float y) {{\n  __asm__ volatile({template} : "+rw"(x) : "rw"(y), "i"(5));\n  x += 1;\n}}\n'


def _request_all(host: HostText, draw: random.Random) -> None:
    text = host.document.text
    in_range(text, findings(host))
    for _ in range(6):
        at = draw.randrange(len(text) + 1)
        requests.hover(host, at)
        requests.definition(host, at)
        requests.highlights(host, at)
        requests.references(host, at)
        requests.complete(host, at)
        requests.signature_help(host, at)
        requests.prepare_rename(host, at)
        block_around(host, Span(at, at))
        with contextlib.suppress(RenameRefused):
            _inside(text, requests.rename(host, at, "other"))
    requests.folds(host)
    requests.tokens(host, "utf-16")
    _format(host)
    _add_line(host, draw)
    _run(host, draw)


def _inside(text: str, edits: Iterable[Edit]) -> None:
    last = 0
    for edit_ in sorted(edits, key=lambda e: e.span):
        if not last <= edit_.span.start <= edit_.span.end <= len(text):
            raise Wrong(f"an edit at {edit_.span} in {len(text)} characters, behind one that ends at {last}")
        last = edit_.span.end


def _format(host: HostText) -> None:
    whole = Span(0, len(host.document))
    edits = format_blocks(host, whole)
    _inside(host.document.text, edits)
    document = host.document
    for edit_ in reversed(edits):
        document = document.edit(edit_.span.start, edit_.span.end, edit_.new_text)
    before, after = (HostText(host.host, d, host.platform) for d in (host.document, document))
    if [_without_blanks(u.text) for u in before.units] != [_without_blanks(u.text) for u in after.units]:
        raise Wrong("formatting changed more than blanks")


def _as_read_anew(host: HostText) -> None:
    """Check that an edited host equals a fresh reading, unless the text has an error with several recoveries."""
    if parse(readable(host.document.text, host.host)).root_node.has_error:
        return
    fresh = HostText.of(host.document.text, host.host, host.platform)
    if host.visa_text != fresh.visa_text or findings(host) != findings(fresh):
        raise Wrong("after its edits the host is read otherwise than anew")


def _run(host: HostText, draw: random.Random) -> None:
    """Run a block as a kernel: it is refused, or its buffers have room for its operands."""
    count = len(blocks_of(host))
    if count:
        with contextlib.suppress(BlockRefused):
            made = runnable_block(host, draw.randrange(count), "host")
            if any(o.buffer_elements < o.lanes * o.elements or o.name not in made.text for o in made.operands):
                raise Wrong("an operand has no room in its buffer")


def _without_blanks(text: str) -> str:
    return "".join(text.split())


def _add_line(host: HostText, draw: random.Random) -> None:
    """Add a line to a block: it is refused, or ``edits_of`` has checked it."""
    count = len(blocks_of(host))
    if not count:
        return
    shown = block_text(host, draw.randrange(count), "host")
    lines = shown.lines.split("\n")
    lines.insert(draw.randrange(len(lines)), draw.choice(_LINES))
    new = shown.text[: shown.body.start] + "\n".join(lines) + shown.text[shown.body.end :]
    with contextlib.suppress(BlockRefused):
        _inside(host.document.text, edits_of(host, shown.number, "host", shown.text, new))
