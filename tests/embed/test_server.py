"""The server with documents of other languages, over stdio: columns in the client's units, and nothing outside of strings."""

from __future__ import annotations

import pytest
from lsp_client import ask, change_text, command, open_text, send_settings, session
from lsprotocol import types
from tiers import first

from visa_lsp.text import units

URI = "file:///src/k.cl"
TEXT = """kernel void k(global int *d) {
  int x = d[0]; /* é😀 */ __asm__("mov (M1, 16) %0(0,0)<1> nope(0,0)<1;1,0>\\n" /* 😀 */ "add (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> 0x1:w" : "+rw"(x));
}
"""


@pytest.fixture(params=first(1, ["utf-8", "utf-16", "utf-32"]))
async def counting(request, servers):
    """Yield a client that counts columns in each of the units."""
    async with servers.client("visual_studio_code", request.param) as client:
        client.units = request.param
        yield client


def host(client, text=TEXT):
    """Return a source of OpenCL, open in the client."""
    return open_text(client, URI, text, "opencl")


def position(client, words, inside=0):
    offset = TEXT.index(words) + inside
    start = TEXT.rfind("\n", 0, offset) + 1
    return types.Position(TEXT.count("\n", 0, offset), units(TEXT[start:offset], client.units))


def place(client, words, size=None):
    return types.Range(position(client, words), position(client, words, len(words) if size is None else size))


async def diagnostics(client, document):
    report = await ask(client, "diagnostic", document)
    return list(report.items)


async def test_every_answer_is_at_the_columns_of_the_host(counting):
    document = host(counting)
    (found,) = await diagnostics(counting, document)
    assert (found.code, found.range) == ("V101", place(counting, "nope"))
    hover = await ask(counting, "hover", document, position(counting, "add (M1", 1))
    assert hover.range == place(counting, "add (M1", 3)
    links = await ask(counting, "definition", document, position(counting, "%0(0,0)<1;1,0> 0x1", 1))
    assert [link.target_selection_range for link in links] == [place(counting, '"+rw"(x)'), place(counting, "x = ", 1)]
    marks = await ask(counting, "documentHighlight", document, position(counting, "%0(0,0)<1> nope", 1))
    assert place(counting, "%0(0,0)<1;1,0> 0x1", 2) in [mark.range for mark in marks]
    tokens = await ask(counting, "semanticTokens/full", document)
    assert list(tokens.data[:3]) == [1, position(counting, "mov (M1").character, 3]
    folds = await ask(counting, "foldingRange", document)
    assert not folds


async def test_an_edit_of_the_host_is_followed(counting):
    document = host(counting)
    change_text(counting, URI, 2, types.TextDocumentContentChangePartial(place(counting, "nope"), "%0"))
    assert await diagnostics(counting, document) == []


async def test_outside_of_strings_the_server_is_silent(client):
    document = host(client)
    place = types.Position(0, 9)
    assert await ask(client, "hover", document, place) is None
    assert not await ask(client, "definition", document, place)
    assert not (await ask(client, "completion", document, place)).items
    assert not await ask(client, "documentSymbol", document)
    assert not await ask(client, "formatting", document, types.FormattingOptions(4, insert_spaces=True))


async def test_completion_is_written_into_the_string(counting):
    document = host(counting)
    found = await ask(counting, "completion", document, position(counting, "nope", 4))
    (operand,) = [item for item in found.items if item.label == "%0"]
    assert operand.text_edit.range == place(counting, "nope")
    resolved = await counting.completion_item_resolve_async(operand)
    assert "__asm" not in str(resolved.documentation)


async def test_a_fix_stays_in_its_string(counting):
    document = host(counting, text=TEXT.replace("nope(0,0)<1;1,0>", "0x1:d // visa: ignore[V101]"))
    whole = types.Range(types.Position(0, 0), types.Position(2, 0))
    context = types.CodeActionContext(await diagnostics(counting, document))
    (action,) = await ask(counting, "codeAction", document, whole, context)
    (edit,) = action.edit.changes[URI]
    start = position(counting, "nope")
    assert (edit.range.start, edit.new_text) == (types.Position(start.line, start.character + len("0x1:d")), "")


@pytest.mark.full
async def test_the_setting_turns_it_off():
    async with session() as client:
        document = host(client)
        assert await diagnostics(client, document)
        client.set_configuration({"visa": {"embedded": {"enabled": False}}})
        send_settings(client, None)
        for _ in range(100):  # the server asks for the settings first
            if not await diagnostics(client, document):
                break
        assert await diagnostics(client, document) == []
        place = types.Position(1, TEXT.split("\n")[1].index("mov") + 1)
        assert await ask(client, "hover", document, place) is None


@pytest.mark.parametrize(
    ("language", "name"), [("cpp", "a.cpp"), ("c", "a.c"), ("python", "a.py"), ("unheard-of", "a.cl")]
)
async def test_a_host_is_known_by_what_the_editor_calls_it_or_by_its_name(client, language, name):
    text = '# visa: asm\nx = "nope (M1, 16)"\n' if language == "python" else TEXT
    document = open_text(client, f"file:///src/{name}", text, language)
    assert len(await diagnostics(client, document)) == 1


async def test_a_block_is_formatted_by_its_range_and_by_an_action(counting):
    document = host(counting, text=TEXT.replace("mov (M1, 16)", "mov (M1,16)  ").replace("nope", "%0"))
    line = TEXT.split("\n")[1]
    before = units(line[: line.index("mov (M1") + 8], counting.units)
    place = types.Range(types.Position(1, before), types.Position(1, before))
    options = types.FormattingOptions(4, insert_spaces=True)
    whole = types.Range(types.Position(1, 0), types.Position(2, 0))
    edits = await ask(counting, "rangeFormatting", document, whole, options)
    assert [edit.new_text for edit in edits] == [" ", " "]
    assert edits[0].range == types.Range(types.Position(1, before), types.Position(1, before))
    several = types.DocumentRangesFormattingParams(document, [place, whole, whole], options)
    assert await counting.text_document_ranges_formatting_async(several) == edits
    (action,) = await ask(counting, "codeAction", document, place, types.CodeActionContext([]))
    assert (action.title, action.kind) == ("Format this vISA block", types.CodeActionKind.RefactorRewrite)
    assert list(action.edit.changes[URI]) == list(edits)
    only = types.CodeActionContext([], only=[types.CodeActionKind.QuickFix])
    assert not await ask(counting, "codeAction", document, place, only)


async def test_a_block_is_opened_changed_and_written_back(counting):
    document = host(counting)
    lens, _ = await ask(counting, "codeLens", document)
    assert (lens.range.start.line, lens.command.title, lens.command.command) == (1, "Open as vISA", "visa.openBlock")
    block = await command(counting, "visa.openBlock", {"uri": URI, "line": 1})
    assert (block["ok"], block["block"], block["uri"]) == (
        True,
        0,
        "visa-block:/k.cl.1.visaasm?file%3A%2F%2F%2Fsrc%2Fk.cl",
    )
    assert "mov (M1, 16) x(0,0)<1> nope(0,0)<1;1,0>\n" in block["text"]
    argument = {"uri": URI, "block": 0, "before": block["text"], "text": block["text"].replace("nope", "x")}
    written = await command(counting, "visa.writeBlock", argument)
    assert (written["ok"], written["changed"]) == (True, True)
    [edit] = written["edit"]["changes"][URI]
    start = position(counting, "nope")
    place = {"line": start.line, "character": start.character}
    end = {"line": start.line, "character": start.character + len("nope")}
    assert edit == {"range": {"start": place, "end": end}, "newText": "%0"}


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ({"uri": URI}, "neither"),
        ({"uri": URI, "line": 0}, "no vISA at line 1"),
        ({"uri": URI, "block": 3}, "there is no block 4 in k.cl: it has 1"),
        ({"uri": URI, "block": -1}, "`block` must be a number from 0"),
        ({"uri": "file:///other.cl", "block": 0}, "not open"),
        ({}, "no `uri`"),
    ],
)
async def test_what_is_no_block_is_told_in_words(client, argument, words):
    host(client)
    answer = await command(client, "visa.openBlock", argument)
    assert not answer["ok"]
    assert words in answer["error"]
    answer = await command(client, "visa.writeBlock", {**argument, "before": "x", "text": "y"})
    assert not answer["ok"]
