"""How the server behaves: settings, folders, trust, progress, cancellation, errors, its end."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pytest
from lsp_client import (
    ROOT,
    SERVER,
    ask,
    at,
    close_text,
    command,
    framed,
    in_folder,
    line_of,
    open_text,
    parted,
    plain,
    saxpy,
    send_settings,
    session,
)
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import ClientServerConfig
from tiers import first

from benchmarks.fuzz_lsp import Wire
from benchmarks.inputs import kernel as long_kernel
from visa_lsp.ide.workspace import read_settings
from visa_lsp.lsp.handlers import document_sync


def opened(client, kernel, text: str | None = None):
    open_text(client, kernel.uri, kernel.text if text is None else text)


async def pulled(client, uri: str, previous: str | None = None):
    return await ask(client, "diagnostic", types.TextDocumentIdentifier(uri), previous_result_id=previous)


async def eventually(ask, wanted):
    for _ in range(100):
        found = await ask()
        if wanted(found):
            return found
        await asyncio.sleep(0.05)
    raise AssertionError(found)


PART, WORK = "part", "work"

BROKEN = '.version 4.1\n.kernel "k"\n.decl V32 v_type=G type=d num_elts=8\n    madd (M1, 8) V32(0,0)<1> V32(0,0)<1;1,0>\n    ret (M1, 1)\n'


async def test_the_server_registers_for_files_and_settings(client):
    assert client.said.capabilities.semantic_tokens_provider.full.delta

    async def registered():
        return {r.method for r in client.registered}

    wanted = {types.WORKSPACE_DID_CHANGE_WATCHED_FILES, types.WORKSPACE_DID_CHANGE_CONFIGURATION}
    await eventually(registered, lambda found: found == wanted)


async def test_settings_are_live(tmp_path):
    kernel = saxpy(tmp_path)
    async with session(settings={"inlayHints": False, "codeLens": False}) as client:
        opened(client, kernel)
        where = types.Range(types.Position(0, 0), types.Position(200, 0))
        hints = partial(ask, client, "inlayHint", kernel.identifier, where)
        lenses = partial(ask, client, "codeLens", kernel.identifier)
        await eventually(hints, lambda found: not found)
        assert not await lenses()
        send_settings(client, {"visa": {"inlayHints": {"labels": False, "arguments": False, "immediates": True}}})
        found = await hints()
        assert found
        assert all(h.label.startswith("= ") for h in found)
        assert await lenses()
        # What only says that something changed makes the server ask.
        client.set_configuration({"visa": {"codeLens": False}})
        send_settings(client, None)
        await eventually(lenses, lambda found: not found)


@pytest.mark.parametrize("types_of_hints", first(1, ["cursorLine", "on", "off"]))
async def test_hints_are_asked_for_again_when_the_cursor_they_follow_has_moved(tmp_path, types_of_hints):
    kernel = saxpy(tmp_path)
    settings = {"inlayHints": {"types": types_of_hints, "labels": False}}
    label = line_of(kernel.text, "_0_004:")
    where = types.Range(types.Position(label, 0), types.Position(label, 1))
    async with session("neovim@v0.11.0", settings=settings) as client:
        opened(client, kernel)
        hints = partial(ask, client, "inlayHint", kernel.identifier, where)
        await eventually(hints, lambda found: not found)
        client.refreshed.clear()
        for line in (7, 7, 8):
            client.protocol.notify("visa/didChangeCursor", {"uri": kernel.uri, "line": line})
        await hints()
        assert client.refreshed == [types.WORKSPACE_INLAY_HINT_REFRESH] * (2 if types_of_hints == "cursorLine" else 0)


@pytest.mark.full
async def test_settings_that_are_sent_do_not_lose_to_those_of_a_folder(tmp_path):
    """VS Code sends them and has them asked for besides: the folder's were asked for at the start."""
    kernel = saxpy(tmp_path)
    root = tmp_path.as_uri()
    folders = [types.WorkspaceFolder(root, "a")]
    async with session(settings={"codeLens": True}, folder=root, workspace_folders=folders) as client:
        opened(client, kernel)
        lenses = partial(ask, client, "codeLens", kernel.identifier)
        await eventually(lenses, bool)
        for scope in (None, root):
            client.set_configuration({"visa": {"codeLens": False}}, scope_uri=scope)
        send_settings(client, {"visa": {"codeLens": False}})
        await eventually(lenses, lambda found: not found)
        # A folder of its own mind keeps it, whatever is sent for the whole.
        client.set_configuration({"visa": {"codeLens": True}}, scope_uri=root)
        send_settings(client, {"visa": {"codeLens": False}})
        await eventually(lambda: client.text_document_code_lens_async(lenses), bool)


async def test_ignored_findings_and_settings_files(tmp_path):
    path = tmp_path / "k.visaasm"
    path.write_text(BROKEN)
    async with session(workspace_folders=[types.WorkspaceFolder(tmp_path.as_uri(), "a")]) as client:
        open_text(client, path.as_uri(), BROKEN)
        assert [d.code for d in (await pulled(client, path.as_uri())).items] == ["V201"]
        (tmp_path / "visa-lsp.toml").write_text('ignore = ["V201"]\nplatform = "DG2"\n')
        change = types.FileEvent((tmp_path / "visa-lsp.toml").as_uri(), types.FileChangeType.Created)
        client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))
        assert [d.code for d in (await pulled(client, path.as_uri())).items] == []
        (tmp_path / "visa-lsp.toml").unlink()
        client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))
        send_settings(client, {"visa": {"ignore": ["unknown-mnemonic"]}})
        assert [d.code for d in (await pulled(client, path.as_uri())).items] == []
        assert types.WORKSPACE_DIAGNOSTIC_REFRESH in client.refreshed or client.refreshed


async def test_findings_are_those_of_the_check_command(client, tmp_path):
    text = BROKEN.replace(
        "ret (M1, 1)", "mov (M1, 8) VNONE(0,0)<1> V32(0,0)<1;1,0> // visa: ignore[V101]\n    goto (M1, 1) NOWHERE"
    )
    path = tmp_path / "k.visaasm"
    path.write_text(text)
    checked = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", "from visa_lsp.cli.main import main; raise SystemExit(main())", "--check", str(path), "--format", "json"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    expected = [
        (f["code"], f["line"] - 1, f["column"] - 1, f["end_column"] - 1, f["message"])
        for f in json.loads(checked.stdout)
    ]
    assert expected
    open_text(client, path.as_uri(), text)
    found = (await pulled(client, path.as_uri())).items
    assert expected == [
        (d.code, d.range.start.line, d.range.start.character, d.range.end.character, d.message) for d in found
    ]


async def test_unchanged_findings_are_said_so(client, tmp_path):
    kernel = saxpy(tmp_path)
    (tmp_path / "other.visaasm").write_text(BROKEN)
    async with in_folder(client, tmp_path):
        opened(client, kernel)
        first = await pulled(client, kernel.uri)
        assert (await pulled(client, kernel.uri, first.result_id)).kind == "unchanged"
        report = await client.workspace_diagnostic_async(types.WorkspaceDiagnosticParams(previous_result_ids=[]))
        kinds = {Path(item.uri).name: (item.kind, [d.code for d in item.items]) for item in report.items}
        assert kinds == {"saxpy.visaasm": ("full", []), "other.visaasm": ("full", ["V201"])}
        known = [types.PreviousResultId(item.uri, item.result_id) for item in report.items]
        report = await client.workspace_diagnostic_async(types.WorkspaceDiagnosticParams(previous_result_ids=known))
        assert [item.kind for item in report.items] == ["unchanged", "unchanged"]
        # Closed and opened again with another text under the same version: nothing old is given.
        close_text(client, kernel.identifier)
        opened(client, kernel, BROKEN)
        assert (await pulled(client, kernel.uri, first.result_id)).kind == "full"


async def test_symbols_of_files_that_are_not_open_in_several_folders(client, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.visaasm").write_text(BROKEN.replace('"k"', f'"kernel_{name}"'))
    async with in_folder(client, tmp_path / "b"):
        async with in_folder(client, tmp_path / "a"):
            found = await client.workspace_symbol_async(types.WorkspaceSymbolParams("kernel"))
            assert sorted(s.name for s in found) == ["kernel_a", "kernel_b"]
        found = await client.workspace_symbol_async(types.WorkspaceSymbolParams("kernel"))
        assert [s.name for s in found] == ["kernel_b"]


async def test_nothing_runs_without_trust(tmp_path):
    kernel = saxpy(tmp_path)
    async with session(initialization_options={"trusted": False}, settings={"trusted": True}) as client:
        opened(client, kernel)
        for name in ("visa.run", "visa.assemble"):
            answer = await command(client, name, kernel.uri)
            assert (answer["ok"], answer["untrusted"]) == (False, True)
        assert not (tmp_path / "saxpy.isa").exists()
        titles = [lens.command.title for lens in await ask(client, "codeLens", kernel.identifier) if lens.command]
        assert "Run" not in titles
        assert (await command(client, "visa.disassemble", kernel.uri))["ok"]
        client.protocol.notify("visa/didChangeTrust", {"trusted": True})
        assert (await command(client, "visa.assemble", kernel.uri))["ok"]


async def test_untitled_documents(client, tmp_path):
    kernel = saxpy(tmp_path)
    uri = "untitled:Untitled-1"
    open_text(client, uri, kernel.text)
    assert (await pulled(client, uri)).items == [] or not (await pulled(client, uri)).items
    answer = await command(client, "visa.assemble", uri)
    assert answer["ok"], answer
    assert answer["path"].endswith("untitled.isa")
    assert "launch" in (await command(client, "visa.run", uri))["error"]
    here = types.TextDocumentIdentifier(uri)
    assert await ask(client, "hover", here, at(kernel.text, "mad (M1"))


async def test_a_client_that_supports_nothing(tmp_path):
    kernel = saxpy(tmp_path)
    client = await ClientServerConfig(server_command=SERVER).start()
    try:
        await client.initialize_session(types.InitializeParams(capabilities=types.ClientCapabilities()))
        opened(client, kernel, BROKEN)
        await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        assert [d.code for d in client.diagnostics[kernel.uri]] == ["V201"]
        symbols = await ask(client, "documentSymbol", kernel.identifier)
        assert all(isinstance(s, types.SymbolInformation) for s in symbols)
        place = await ask(client, "definition", kernel.identifier, at(BROKEN, "V32(0,0)"))
        assert place.range.start.line == line_of(BROKEN, ".decl")
        offers = await ask(client, "completion", kernel.identifier, at(BROKEN, "V32(0,0)"))
        assert not any("${" in (i.text_edit.new_text if i.text_edit else "") for i in offers.items)
    finally:
        await client.shutdown_session()
        await client.stop()


async def test_work_shows_its_progress_and_partial_results(client, tmp_path):
    for number in range(12):
        (tmp_path / f"k{number}.visaasm").write_text(BROKEN)
    async with in_folder(client, tmp_path):
        params = types.WorkspaceDiagnosticParams([], partial_result_token=PART, work_done_token=WORK)
        values = []

        def keep(params):
            values.append(params)

        client.protocol.fm.features.pop(types.PROGRESS, None)
        client.feature(types.PROGRESS)(keep)
        client.protocol.fm.builtin_features.pop(types.PROGRESS, None)
        report = await client.workspace_diagnostic_async(params)
        assert list(report.items) == []
        parts = [v for v in values if v.token == PART]
        assert (
            sum(len(plain(p.value)["items"] if isinstance(plain(p.value), dict) else p.value.items) for p in parts)
            == 12
        )
        kinds = [
            plain(v.value)["kind"] if isinstance(plain(v.value), dict) else v.value.kind
            for v in values
            if v.token == WORK
        ]
        assert (kinds[0], kinds[-1]) == ("begin", "end")


def test_a_cancelled_request_is_answered_as_such():
    wire, uri = Wire(), "file:///long.visaasm"
    wire.start()
    item = {"uri": uri, "languageId": "visa", "version": 1, "text": long_kernel(20_000)}
    wire.send({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item}})
    wire.send(request("long", "textDocument/semanticTokens/full", {"textDocument": {"uri": uri}}))
    wire.send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": "long"}})
    place = {"textDocument": {"uri": uri}, "position": {"line": 1, "character": 2}}
    assert wire.ask("textDocument/hover", place, "after")
    assert wire.wait({'"long"'})
    assert wire.results['"long"']["error"]["code"] == types.LSPErrorCodes.RequestCancelled
    assert wire.stop() == 0


async def test_a_command_that_is_unknown_is_an_error(client):
    with pytest.raises(JsonRpcException):
        await command(client, "visa.none")


async def test_trace_is_sent_when_asked_for(client):
    lines = []
    client.protocol.fm.features.pop(types.LOG_TRACE, None)
    client.feature(types.LOG_TRACE)(lambda params: lines.append(params.message))
    client.protocol.notify(types.SET_TRACE, types.SetTraceParams(types.TraceValue.Messages))
    await client.workspace_symbol_async(types.WorkspaceSymbolParams("x"))
    assert any("workspace/symbol" in line for line in lines)
    client.protocol.notify(types.SET_TRACE, types.SetTraceParams(types.TraceValue.Off))


def talk(*messages: dict) -> tuple[int, list[dict]]:
    """Return the exit status of a server and its answers to messages sent at once."""
    done = subprocess.run(SERVER, input=b"".join(map(framed, messages)), capture_output=True, timeout=60, check=False)
    return done.returncode, parted(done.stdout)


def asked(*messages: dict) -> dict[int, dict]:
    """Return the answers to messages by id, each request answered before the next message is sent."""
    wire = Wire()
    for message in messages:
        wire.send(message)
        assert "id" not in message or wire.wait({json.dumps(message["id"])}), f"no answer to {message['method']}"
    assert (wire.process.wait(60), wire.tracebacks) == (0, [])
    return {answer["id"]: answer for answer in wire.results.values()}


def request(ident: object, method: str, params: object = None) -> dict:
    return {"jsonrpc": "2.0", "id": ident, "method": method, "params": params}


START = request(1, "initialize", {"processId": None, "rootUri": None, "capabilities": {}})
EXIT = {"jsonrpc": "2.0", "method": "exit"}


@pytest.mark.full
def test_an_end_without_shutdown_is_not_orderly():
    status, answers = talk(START, EXIT)
    assert ([a["id"] for a in answers], status) == ([1], 1)


def test_requests_at_the_wrong_time_get_errors():
    hover = request(
        5, "textDocument/hover", {"textDocument": {"uri": "file:///x"}, "position": {"line": 0, "character": 0}}
    )
    status, answers = talk(
        hover,
        START,
        {**START, "id": 6},
        request(7, "none/such"),
        request(8, "textDocument/hover", {"x": 1}),
        request(9, "shutdown"),
        {**hover, "id": 10},
        EXIT,
    )
    codes = {a["id"]: a.get("error", {}).get("code") for a in answers}
    assert codes == {5: -32002, 1: None, 6: -32600, 7: -32601, 8: -32602, 9: None, 10: -32600}
    assert status == 0


@pytest.mark.full
@pytest.mark.parametrize("count", [40, 1000])
def test_random_messages(count):
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.fuzz_lsp", "--count", str(count), "--seed", "7"],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


HOVERED = {"textDocument": {"uri": "file:///x.visaasm"}, "position": {"line": 0, "character": 0}}
WHOLE = {"textDocument": {"uri": "file:///x.visaasm"}}
ASKED = {
    "workspace/diagnostic": {"previousResultIds": []},
    "workspace/symbol": {"query": "x"},
    "textDocument/diagnostic": WHOLE,
    "textDocument/hover": HOVERED,
    "textDocument/references": {**HOVERED, "context": {"includeDeclaration": True}},
    "textDocument/semanticTokens/full": WHOLE,
    "textDocument/formatting": {**WHOLE, "options": {"tabSize": 4, "insertSpaces": True}},
    "workspace/executeCommand": {"command": "visa.explain", "arguments": [{"word": "mad"}]},
}


@pytest.mark.full
def test_a_token_that_is_none_is_told():
    """JSON values that no token can be: two of them cannot even be the key of a table."""
    odd = [[], {}, [1], {"a": []}, True, 1.5]
    good = ["t", 7, None]
    messages, wanted = [], {}
    for name, method, value in itertools.product(("workDoneToken", "partialResultToken"), ASKED, [*odd, *good]):
        ident = len(messages) + 10
        wanted[ident] = -32602 if any(value is o for o in odd) else None
        messages.append(request(ident, method, {**ASKED[method], name: value}))
    cancels = [
        {"jsonrpc": "2.0", "method": "window/workDoneProgress/cancel", "params": {"token": value}} for value in odd
    ]
    # Earlier results that are none are passed over.
    earlier = [{"uri": [], "value": "x"}, {"uri": {}, "value": {}}, {"uri": "a", "value": []}, {"uri": 1, "value": 1}]
    first_earlier = len(messages) + 10
    messages += [
        request(first_earlier + n, "workspace/diagnostic", {"previousResultIds": [value]})
        for n, value in enumerate(earlier)
    ]
    answers = asked(START, *messages, *cancels, request(2, "shutdown"), EXIT)
    assert {ident: answers[ident].get("error", {}).get("code") for ident in wanted} == wanted
    assert [a.get("result") for ident, a in answers.items() if ident >= first_earlier] == [{"items": []}] * len(earlier)


@pytest.mark.skipif(sys.platform == "win32", reason="FIFOs and devices of POSIX systems")
@pytest.mark.full
def test_what_is_no_file_in_a_folder_keeps_nobody_waiting(tmp_path):
    text = '.version 4.1\n.kernel "k"\n    ret (M1, 1)\n'
    (tmp_path / "good.visaasm").write_text(text.replace("ret (M1, 1)", "mov (M1, 1) V99(0,0)<1> 0x0:d"))
    for name in ("pipe.visaasm", "good.zeinfo.yaml", "visa-lsp.toml", "other.ze_info", "good.launch.yaml"):
        os.mkfifo(tmp_path / name)
    for name in ("zero.visaasm", "good.ze_info"):
        (tmp_path / name).symlink_to("/dev/zero")
    (tmp_path / "loop.visaasm").symlink_to("loop.visaasm")
    (tmp_path / "folder.visaasm").mkdir()
    with (tmp_path / "long.visaasm").open("wb") as file:
        file.truncate(20 << 30)
    uri = tmp_path.as_uri()
    settings = {"trusted": True, "visa": {"workspaceDiagnostics": True}}
    start = request(
        1,
        "initialize",
        {
            "processId": None, "rootUri": uri, "workspaceFolders": [{"uri": uri, "name": "w"}],
            "capabilities": {"textDocument": {"diagnostic": {}}}, "initializationOptions": settings,
        },
    )  # fmt: skip
    good = {"textDocument": {"uri": f"{uri}/good.visaasm"}}
    document = {"uri": f"{uri}/good.visaasm", "languageId": "visa", "version": 1, "text": text}
    messages = [
        start,
        {"jsonrpc": "2.0", "method": "initialized", "params": {}},
        request(2, "workspace/diagnostic", {"previousResultIds": []}),
        request(3, "workspace/symbol", {"query": "k"}),
        {"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": document}},
        request(4, "textDocument/documentLink", good),
        request(5, "textDocument/inlayHint", {**good, "range": {"start": {"line": 0, "character": 0}, "end": {"line": 3, "character": 0}}}),
        request(6, "textDocument/definition", {**good, "position": {"line": 1, "character": 9}}),
        *(
            request(7 + n, "workspace/executeCommand", {"command": command, "arguments": [{"uri": f"{uri}/{name}"}]})
            for n, (command, name) in enumerate(
                [("visa.assemble", "pipe.visaasm"), ("visa.disassemble", "zero.visaasm"), ("visa.showZeInfo", "good.visaasm"), ("visa.run", "good.visaasm")]
            )
        ),
        request(20, "shutdown"),
        EXIT,
    ]  # fmt: skip
    found = asked(*messages)
    assert not [a for a in found.values() if "error" in a]
    reports = {item["uri"].rpartition("/")[2]: item for item in found[2]["result"]["items"]}
    assert reports["good.visaasm"]["items"]
    assert not {"pipe.visaasm", "zero.visaasm", "loop.visaasm", "long.visaasm"} & set(reports)
    assert "pipe.visaasm" in found[7]["result"]["error"]
    assert "zero.visaasm" in found[8]["result"]["error"]
    assert not found[10]["result"]["ok"]


@pytest.mark.parametrize("told_meanwhile", [False, True])
def test_an_answer_is_not_believed_over_what_was_told_since_the_question(told_meanwhile):
    server = Mock(settings_told=0)
    server.files.roots = []
    server.documents.configure.return_value = False

    async def answer(_params):
        if told_meanwhile:
            told = {"visa": {"inlayHints": {"types": "on"}}}
            document_sync.did_change_configuration(server, types.DidChangeConfigurationParams(told))
        return [{"inlayHints": {"types": "off"}}]

    server.workspace_configuration_async = answer
    asyncio.run(document_sync.ask_settings(server))
    (configured,) = [call.args[0] for call in server.documents.configure.call_args_list]
    assert configured == read_settings({"inlayHints": {"types": "on" if told_meanwhile else "off"}}, None)[0]
