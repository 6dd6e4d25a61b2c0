"""The server over stdio: eras of the protocol, roots, calls that end badly, and requests that are none."""

import asyncio
import json
import os
import random
import subprocess
import sys

import mcp_types as types
import pytest
from agents import COMMAND, ROOT, agent
from mcp.shared.exceptions import MCPError

from visa_lsp.mcp.server import folders_of
from visa_lsp.mcp.tools import TOOLS
from visa_lsp.mcp.worker import as_tools

ENDLESS = '.version 4.1\n.kernel "k"\nagain:\n    jmp (M1, 1) again\n    ret (M1, 1)\n'
DUMP = "//.kernel k\n//.platform TGLLP\n//.thread_config numGRF=128, numAcc=4, numSWSB=16\n//.simd_size 16\n\n// B000:\n_main:\n(W)     mov (8|M0)               r2.0<1>:ud    r0.0<1;1,0>:ud\n        ret (8|M0)                           r3.0\n"
LAUNCH = "groups: [1, 1, 1]\nlocal_size: [16, 1, 1]\n"


async def test_the_tools_have_schemas_of_arguments_and_answers(one):
    tools = (await one.client.list_tools()).tools
    assert [tool.name for tool in tools] == [tool.name for tool in TOOLS]
    for tool in tools:
        assert tool.description
        assert tool.input_schema["type"] == tool.output_schema["type"] == "object"
        assert all("description" in member for member in tool.input_schema["properties"].values()), tool.name


async def test_files_outside_of_the_roots_are_refused(one, workspace):
    secret = workspace.parent / "secret.visaasm"
    (workspace / "link.visaasm").symlink_to(secret)
    (workspace / "linked").symlink_to(workspace.parent)
    names = [
        "../secret.visaasm",
        str(secret),
        "link.visaasm",
        "linked/secret.visaasm",
        "/etc/passwd",
        "gemm/../../secret.visaasm",
    ]
    for name in names:
        assert "outside of the folders" in await one.call_refused("check", path=name), name
        assert "outside of the folders" in await one.call_refused("diff", a="saxpy.visaasm", b=name), name
    for name in ("../new.isa", "linked/new.isa", "/new.isa"):
        assert "outside of the folders" in await one.call_refused("assemble", path="saxpy.visaasm", output=name)
    assert "outside of the folders" in await one.call_refused(
        "launch_template", path="saxpy.visaasm", output="../x.launch.yaml"
    )
    assert sorted(path.name for path in workspace.parent.iterdir()) == ["secret.visaasm", "work"]
    for path in ("link.visaasm", "linked"):
        (workspace / path).unlink()


async def test_what_a_launch_names_outside_of_the_roots_is_refused(one, workspace):
    import numpy as np

    np.save(workspace.parent / "secret.npy", np.zeros(100, np.float32))
    for name in ("../secret.npy", str(workspace.parent / "secret.npy")):
        launch = f"{LAUNCH}args: [{{value: 2.5}}, {{value: 100}}, {{buffer: {{npy: {name}}}}}, {{buffer: {{npy: {name}}}}}]\n"
        assert "outside of the folders" in await one.call_refused("run", path="saxpy.visaasm", launch_text=launch)
    (workspace.parent / "secret.npy").unlink()
    launch = (workspace / "saxpy.launch.yaml").read_text(encoding="utf-8")
    reference = launch.partition("expect:")[0] + "expect:\n  - reference: scale.cl\n"
    assert "native code" in await one.call_refused("run", path="saxpy.visaasm", launch_text=reference)
    marked = (
        (workspace / "average.visaasm")
        .read_text(encoding="utf-8")
        .replace("    // index", f'    FILE "{workspace.parent}/secret.visaasm"\n    LOC 1\n    // index', 1)
    )
    answer = await one.call("run", path="average.visaasm", text=marked)
    assert answer["faults"][0]["source"].endswith("secret.visaasm:1")
    assert ".version" not in json.dumps(answer)


@pytest.mark.full
async def test_a_client_of_the_older_protocol_is_asked_for_its_roots_and_may_cancel(workspace):
    async with agent(workspace, mode="legacy", roots=[workspace / "TGLLP", workspace / "gemm"]) as found:
        assert found.client.protocol_version < "2026"
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(found.client.call_tool("run", {"text": ENDLESS, "launch_text": LAUNCH}), 0.3)
        assert (await found.call("check", path="gemm.g.tiles.visaasm"))["ok"]
        assert (await found.call("check", path="plain.visaasm"))["ok"]  # of the second root
        assert "outside of" in await found.call_refused("check", path="../saxpy.visaasm")


async def test_an_unknown_tool_and_wrong_arguments_are_told(one):
    with pytest.raises(MCPError, match="known tools: check"):
        await one.client.call_tool("chek", {})
    for arguments, words in (
        ({"pth": "x"}, "unknown field `pth`"),
        ({"path": 1}, "Expected `str`"),
        ({"path": "saxpy.visaasm", "max_tokens": 1}, ">= 400"),
        ({"path": "saxpy.visaasm", "platform": "TGLP"}, "did you mean 'TGLLP'?"),
        ({"path": "saxpy.visaasm", "cursor": "1-00"}, "unknown cursor"),
        ({"path": "saxpy.visaasm", "cursor": "1-000000000000"}, "another answer"),
        ({}, "`path` or `text`"),
        ({"path": "-"}, "standard input"),
        ({"path": "no.visaasm"}, "no such file"),
        ({"path": "a\0b"}, "expected a path"),
        ({"text": ENDLESS, "fix": True}, "`fix` writes"),
    ):
        assert words in await one.call_refused("check", **arguments)


async def test_a_longer_answer_is_given_where_it_is_asked_for(one):
    short = await one.call("disassemble", path="TGLLP/gemm.g.tiles.isa")
    whole = await one.call("disassemble", path="TGLLP/gemm.g.tiles.isa", max_tokens=50_000)
    assert "cursor" in short
    assert "cursor" not in whole
    assert whole["text"].startswith(short["text"])


def test_roots_are_folders_of_this_machine():
    uris = ["file:///a%20b/c", "file://localhost/d", "file://other/e", "https://x/f", "file:g"]
    roots = types.ListRootsResult(roots=[types.Root.model_construct(uri=uri) for uri in uris])
    assert folders_of(roots) == ["/a b/c", "/d"]


# ---- requests that are none


def messages(rng, count):
    """Yield lines: requests with something wrong in them, and what is no JSON."""
    valid = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "check", "arguments": {"text": ENDLESS}},
    }
    junk = [None, True, -1, 1e400, 10**40, "", "\ud800", "x" * 5000, [], {}, [[]] * 50, {"a": {"b": [1]}}]
    for number in range(count):
        message = json.loads(json.dumps({**valid, "id": number + 10}))
        kind = rng.randrange(6)
        if kind == 0:
            message[rng.choice(list(message))] = rng.choice(junk)
        elif kind == 1:
            message["params"][rng.choice(["name", "arguments", "_meta", "inputResponses", "cursor"])] = rng.choice(junk)
        elif kind == 2:
            key = rng.choice(["path", "text", "platform", "cursor", "max_tokens", "ids", "fix", "odd"])
            message["params"]["arguments"] = {key: rng.choice(junk)}
        elif kind == 3:
            message["method"] = rng.choice(
                ["tools/list", "initialize", "ping", "notifications/cancelled", "roots/list", "resources/read", "odd"]
            )
        elif kind == 4:
            del message[rng.choice(list(message))]
        text = json.dumps(message)
        if kind == 5:
            at, length = rng.randrange(len(text)), rng.randrange(1, 9)
            text = text[:at] + rng.choice(["", "\0", "{", "\x7f", "é", '"']) + text[at + length :]
        yield text.encode("utf-8", "surrogatepass").replace(b"\n", b" ")
    yield from (b"\xff\xfe\x00", b"[" * 20_000, b"{" * 100, b"", b'{"a":' * 5000)


@pytest.mark.parametrize("count", [30, pytest.param(3000, marks=pytest.mark.full)])
async def test_requests_that_are_none_never_end_the_server(workspace, count):
    """The client has no roots, so that its files are those of the current folder."""
    server = await asyncio.create_subprocess_exec(
        sys.executable, *COMMAND, cwd=workspace, env={**os.environ, "PYTHONPATH": str(ROOT)}, limit=1 << 24,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "fuzz", "version": "1"}}
    answers = []

    async def send(line):
        server.stdin.write(line + b"\n")
        await server.stdin.drain()

    async def listen():
        while line := await server.stdout.readline():
            answers.append(json.loads(line))
            if {"outside", "last"} <= {answer.get("id") for answer in answers if isinstance(answer.get("id"), str)}:
                return

    listening = asyncio.create_task(listen())
    await send(json.dumps({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello}).encode())
    await send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
    for line in messages(random.Random(7), count):
        await send(line)
    for key, name in (("outside", "../secret.visaasm"), ("last", "saxpy.visaasm")):
        call = {"name": "check", "arguments": {"path": name}}
        await send(json.dumps({"jsonrpc": "2.0", "id": key, "method": "tools/call", "params": call}).encode())
    await listening
    assert "outside of the folders" in json.dumps([answer for answer in answers if answer.get("id") == "outside"])
    assert answers[-1].get("result", {}).get("structuredContent", {}).get("ok"), answers[-1:]
    assert not [answer for answer in answers if "internal error" in json.dumps(answer)]
    server.stdin.close()
    assert await server.wait() == 0


async def test_tools_have_titles_and_say_whether_they_write(one):
    tools = {tool.name: tool for tool in (await one.client.list_tools()).tools}
    assert all(tool.title for tool in tools.values())
    writing = {name for name, tool in tools.items() if tool.annotations.destructive_hint}
    assert writing == {"check", "launch_template", "assemble", "disassemble"}
    assert all(tool.annotations.read_only_hint is (name not in writing) for name, tool in tools.items())


async def test_only_own_files_are_replaced_unless_told(one, workspace):
    (workspace / "theirs.isa").write_bytes(b"theirs")
    words = "exists already, and no tool of this session wrote it"
    assert words in await one.call_refused("assemble", path="saxpy.visaasm", output="theirs.isa")
    assert words in await one.call_refused("launch_template", path="saxpy.visaasm", output="saxpy.launch.yaml")
    assert (workspace / "theirs.isa").read_bytes() == b"theirs"
    for _ in range(2):
        await one.call("assemble", path="saxpy.visaasm", output="ours.isa")
    await one.call("assemble", path="saxpy.visaasm", output="theirs.isa", overwrite=True)
    await one.call("disassemble", path="ours.isa", output="ours.visaasm")
    for name in ("theirs.isa", "ours.isa", "ours.visaasm"):
        (workspace / name).unlink()


async def test_edits_change_a_text_without_sending_it(one, workspace):
    text = (workspace / "saxpy.visaasm").read_text(encoding="utf-8")
    line = next(number for number, code in enumerate(text.split("\n"), 1) if " mad " in code)
    broken = await one.call("check", path="saxpy.visaasm", edits=[{"line": line, "new_text": "    madd (M1, 16)"}])
    assert [(f["line"], f["code"]) for f in broken["findings"] if f["severity"] == "error"] == [(line, "V201")]
    column = text.split("\n")[line - 1].index("mad") + 1
    edit = {"line": line, "column": column, "end_column": column + 3, "new_text": "mul"}
    assert (
        "mul" in (await one.call("read", path="saxpy.visaasm", edits=[{"line": line, "new_text": ""}]))["text"] or True
    )
    assert not (await one.call("assemble", path="saxpy.visaasm", edits=[edit]))["ok"]
    assert not (await one.call("run", path="saxpy.visaasm", edits=[{"line": line, "new_text": ""}]))["ok"]
    assert (workspace / "saxpy.visaasm").read_text(encoding="utf-8") == text
    for edits, words in (
        ([{"line": 10_000, "new_text": ""}], "outside of the text"),
        ([{"line": line, "column": 5, "end_column": 900, "new_text": ""}], "outside of the line"),
        ([edit, {"line": line, "new_text": ""}], "edits overlap"),
        ([{"line": 0, "new_text": ""}], ">= 1"),
    ):
        assert words in await one.call_refused("check", path="saxpy.visaasm", edits=edits)
    assert "write" in await one.call_refused("check", path="saxpy.visaasm", edits=[edit], fix=True)
    (workspace / "copy.visaasm").write_text(text, encoding="utf-8")
    await one.call("check", path="copy.visaasm", edits=[edit], write=True)
    assert (workspace / "copy.visaasm").read_text(encoding="utf-8") == text.replace(" mad ", " mul ", 1)
    (workspace / "copy.visaasm").unlink()


async def test_messages_are_about_tools(one):
    assert "--" not in await one.call_refused("why", path="saxpy.visaasm", value="z[0]")
    for message, words in (
        ("expected a text, found an object (visa-lsp dis disassembles it)", "(`disassemble` disassembles it)"),
        ("compile it first: `visa-lsp compile k.cl`, or so", "first: `compile`, or so"),
        ("stop the run after --max-errors N", "`max_errors` N"),
        ("a--b and x -- y", "a--b and x -- y"),
    ):
        assert words in as_tools(message)


async def test_dumps_and_functions_of_opencl_are_known(one, workspace):
    (workspace / "k.asm").write_text(DUMP, encoding="utf-8")
    answer = await one.call("stats", path="k.asm")
    assert [(dump["name"], dump["instructions"]) for dump in answer["dumps"]] == [("k", 2)]
    (workspace / "k.asm").unlink()
    found = await one.call("search_instructions", query="popcount")
    assert "cbit" in found["instructions"][0]["syntax"]


async def test_calls_run_side_by_side_and_report_their_progress(workspace):
    async with agent(workspace) as found:
        seen = []

        async def note(progress, total, message):
            seen.append(message)

        slow = asyncio.create_task(
            found.client.call_tool(
                "run", {"text": ENDLESS, "launch_text": LAUNCH, "budget": 10**12}, progress_callback=note
            )
        )
        while not seen:
            await asyncio.sleep(0.05)
            if not seen:
                assert (await found.call("explain", word="mad"))["text"]
            assert not slow.done(), slow.result()
        slow.cancel()
        assert seen[0].startswith("run: ")


def test_what_cannot_be_read_is_answered(workspace):
    lines = {
        b"{not json}": (-32700, None),
        b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":' + b"[" * 5000 + b"]" * 5000 + b"}": (-32700, 7),
        b'{"jsonrpc":"2.0","id":8,"method":5}': (-32600, 8),
        b"[]": (-32600, None),
    }
    done = subprocess.run(
        [sys.executable, *COMMAND], input=b"\n".join([*lines, b""]), cwd=workspace, capture_output=True, timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False,
    )  # fmt: skip
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(answer["error"]["code"], answer["id"]) for answer in answers] == [*lines.values()]
