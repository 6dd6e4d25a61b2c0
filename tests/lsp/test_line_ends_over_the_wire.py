"""A client and the server count lines alike, whatever ends them."""

from __future__ import annotations

import asyncio
import random
import re

from lsp_client import ask, change_text, open_text
from lsprotocol import types

HEAD = '.version 4.1\n.kernel "k"\n.kernel_attr Target="cm"\n.decl A v_type=G type=d num_elts=32 align=GRF\n'
LINES = (
    "    mov (M1, 8) A(0,0)<1> 0x1:d",
    "// c \u2028 \x0b x",
    "L_{}:",
    "    mov  (M1, 8) A(0,0)<1>   0x2:d",
    "",
    "    add (M1, 8)",
)
END = re.compile(r"\r\n|\n|\r")


def offset_of(text: str, line: int, column: int) -> int:
    starts = [0, *[match.end() for match in END.finditer(text)]]
    end = END.search(text, starts[line])
    return min(starts[line] + column, end.start() if end else len(text))


async def _formatted(client, identifier: types.TextDocumentIdentifier, text: str) -> str:
    """Return the client's text with the edits that the server gives for it."""
    options = types.FormattingOptions(4, insert_spaces=True)
    edits = await ask(client, "formatting", identifier, options) or []
    places = [
        (offset_of(text, e.range.start.line, e.range.start.character), offset_of(text, e.range.end.line, e.range.end.character), e.new_text)
        for e in edits
    ]  # fmt: skip
    for start, end, new in sorted(places, reverse=True):
        text = text[:start] + new + text[end:]
    return text


async def _findings(client, here: types.TextDocumentIdentifier, version: int) -> list[tuple[int, int, str]]:
    for _ in range(200):
        report = await ask(client, "diagnostic", here)
        if report.items is not None:
            return sorted((d.range.start.line, d.range.start.character, str(d.code)) for d in report.items)
        await asyncio.sleep(0.05)
    raise AssertionError((here, version))


async def test_a_client_that_edits_by_lines_and_the_server_keep_the_same_text(client, tmp_path):
    draw = random.Random(3)
    text = HEAD + "".join([draw.choice(LINES).format(n) + draw.choice(("\r", "\n", "\r\n")) for n in range(90)])
    here = open_text(client, (tmp_path / "a.visaasm").as_uri(), text)
    for version in range(2, 60):
        line = draw.randrange(len(END.findall(text)) + 1)
        last = min(line + draw.choice((0, 0, 1)), len(END.findall(text)))
        start, end = (line, draw.choice((0, 3, 10_000))), (last, draw.choice((0, 3, 10_000)))
        if offset_of(text, *start) > offset_of(text, *end):
            start, end = end, start
        new = draw.choice(("\r", "\n", "\r\n", "x", "", "\u2028", "\n\r"))
        change = types.TextDocumentContentChangePartial(
            range=types.Range(types.Position(*start), types.Position(*end)), text=new
        )
        change_text(client, here.uri, version, change)
        text = text[: offset_of(text, *start)] + new + text[offset_of(text, *end) :]
    fresh = open_text(client, (tmp_path / "b.visaasm").as_uri(), text)
    assert await _findings(client, here, 60) == await _findings(client, fresh, 1)
    shaped = await _formatted(client, here, text)
    assert shaped == await _formatted(client, fresh, text)
    assert shaped != text
    blanks = re.compile("[ \t\x0b\u2028]+")
    assert blanks.sub("", shaped) == blanks.sub("", text)
