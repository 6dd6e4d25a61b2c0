"""The server as editors meet it: a process on standard input and output, driven with real dumps."""

from __future__ import annotations

import pytest
from lsp_client import SUMMARY, ask, at, change_text, close_text, command, line_of, open_text, saxpy
from lsprotocol import types
from tiers import first


@pytest.fixture(params=["neovim", "visual_studio_code", "emacs"])
async def each_client(request, servers):
    async with servers.client(request.param) as client:
        yield client


def pulls(client) -> bool:
    return bool(
        client.capabilities and client.capabilities.text_document and client.capabilities.text_document.diagnostic
    )


async def findings(client, uri: str) -> list[types.Diagnostic]:
    """Return the findings that the client shows for a document after the last message."""
    if pulls(client):
        report = await ask(client, "diagnostic", types.TextDocumentIdentifier(uri))
        assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
        return list(report.items)
    await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    return list(client.diagnostics[uri])


def replace(start: types.Position, end: types.Position, text: str) -> types.TextDocumentContentChangePartial:
    return types.TextDocumentContentChangePartial(types.Range(start, end), text)


async def test_edits_bring_and_take_away_findings(each_client, tmp_path):
    kernel = saxpy(tmp_path)
    open_text(each_client, kernel.uri, kernel.text)
    assert await findings(each_client, kernel.uri) == []
    # Two changes in one message: the second is counted on the result of the first.
    start = at(kernel.text, "mad (M1")
    name = at(kernel.text, "V0034(0,0)<0;1,0> V0061")
    change_text(
        each_client, kernel.uri, 2,
        replace(start, types.Position(start.line, start.character + 3), "madd"),
        replace(types.Position(start.line - 1, 4), types.Position(start.line - 1, 4), ""),
    )  # fmt: skip
    [found] = await findings(each_client, kernel.uri)
    assert ("V201", types.Range(start, types.Position(start.line, start.character + 4))) == (found.code, found.range)
    change_text(
        each_client, kernel.uri, 3,
        replace(start, types.Position(start.line, start.character + 4), "mad"),
        replace(name, types.Position(name.line, name.character + 5), "VNONE"),
    )  # fmt: skip
    [found] = await findings(each_client, kernel.uri)
    assert ("V101", name) == (found.code, found.range.start)
    label = at(kernel.text, "_0_004:")
    change_text(
        each_client, kernel.uri, 4,
        replace(name, types.Position(name.line, name.character + 5), "V0034"),
        replace(label, types.Position(label.line, 6), "_0_999"),
    )  # fmt: skip
    codes = [d.code for d in await findings(each_client, kernel.uri)]
    assert "V103" in codes
    change_text(each_client, kernel.uri, 5, kernel.text)
    assert await findings(each_client, kernel.uri) == []


async def test_closing_clears_what_was_published(each_client, tmp_path):
    kernel = saxpy(tmp_path)
    open_text(each_client, kernel.uri, kernel.text.replace("mad (M1", "madd (M1"))
    assert await findings(each_client, kernel.uri)
    close_text(each_client, kernel.identifier)
    assert await findings(each_client, kernel.uri) == []


async def test_hover_of_mnemonic_predefined_and_declared(each_client, tmp_path):
    kernel = saxpy(tmp_path)
    open_text(each_client, kernel.uri, kernel.text)
    place = at(kernel.text, "mad (M1", 1)
    hover = await ask(each_client, "hover", kernel.identifier, place)
    assert SUMMARY in hover.contents.value
    assert types.Range(types.Position(place.line, 4), types.Position(place.line, 7)) == hover.range
    hover = await ask(each_client, "hover", kernel.identifier, at(kernel.text, "%r0, 0", 1))
    assert "payload header" in hover.contents.value
    hover = await ask(each_client, "hover", kernel.identifier, at(kernel.text, "V0037(0,1)"))
    assert "alias of `%r0` at byte 0" in hover.contents.value
    assert None is await ask(each_client, "hover", kernel.identifier, types.Position(9999, 5))


def start_line(answer) -> int:
    if isinstance(answer, list):
        return answer[0].target_selection_range.start.line
    return answer.range.start.line


async def test_definition_of_variable_and_label(each_client, tmp_path):
    kernel = saxpy(tmp_path)
    open_text(each_client, kernel.uri, kernel.text)
    for use, line in (("V0061(0,0)<1;1,0>", ".decl V0061"), ("_0_004  ", "_0_004:")):
        found = await ask(each_client, "definition", kernel.identifier, at(kernel.text, use, 1))
        assert start_line(found) == line_of(kernel.text, line)


async def test_assemble_writes_the_object_of_the_unsaved_text(client, tmp_path):
    kernel = saxpy(tmp_path)
    open_text(client, kernel.uri, kernel.text + "// not saved\n")
    answer = await command(client, "visa.assemble", {"uri": kernel.uri})
    assert (True, str(tmp_path / "saxpy.isa")) == (answer["ok"], answer["path"])
    data = (tmp_path / "saxpy.isa").read_bytes()
    assert (b"CISA", answer["bytes"]) == (data[:4], len(data))


async def test_assemble_of_a_broken_text_writes_nothing(client, tmp_path):
    kernel = saxpy(tmp_path)
    open_text(client, kernel.uri, kernel.text.replace("mad (M1", "madd (M1"))
    answer = await command(client, "visa.assemble", kernel.uri)
    assert not answer["ok"]
    assert [d["code"] for d in answer["diagnostics"]] == ["V201"]
    assert not (tmp_path / "saxpy.isa").exists()


async def test_commands_answer_mistakes_with_words(client, tmp_path):
    kernel = saxpy(tmp_path)
    open_text(client, kernel.uri, kernel.text)
    for arguments in (
        [],
        [7],
        [{"uri": 7}],
        [{"path": "x"}],
        ["untitled:none"],
        [(tmp_path / "none.visaasm").as_uri()],
    ):
        for name in ("visa.run", "visa.assemble"):
            answer = await command(client, name, *arguments)
            assert not answer["ok"]
            assert answer["error"]
    (tmp_path / "saxpy.launch.yaml").unlink()
    answer = await command(client, "visa.run", kernel.uri)
    assert "launch" in answer["error"]


ENCODED = '.version 4.1\n.kernel "k"\n.decl Vy v_type=G type=d num_elts=8\n/* 𝒳ü */ mov (M1, 8) Vy(0,0)<1> Vx(0,0)<1;1,0>\nret (M1, 1)\n'


@pytest.mark.parametrize("negotiated", first(1, [("utf-8", 36), ("utf-16", 33), ("utf-32", 32)]))
async def test_columns_count_in_the_negotiated_encoding(servers, negotiated, tmp_path):
    encoding, column = negotiated
    async with servers.client("visual_studio_code", encoding) as client:
        uri = (tmp_path / "k.visaasm").as_uri()
        here = open_text(client, uri, ENCODED)
        [found] = await findings(client, uri)
        assert (types.Position(3, column), types.Position(3, column + 2)) == (found.range.start, found.range.end)
        # An edit behind the wide characters lands where the client means it.
        edit = types.TextDocumentContentChangePartial(found.range, "Vy")
        change_text(client, uri, 2, edit)
        assert await findings(client, uri) == []
        hover = await ask(client, "hover", here, found.range.start)
        assert found.range == hover.range
