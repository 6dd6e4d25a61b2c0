"""Servers and commands on one cache at the same time: results are those without a cache, whatever happens to its files."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from corpus import OWN

PROGRAM = [sys.executable, "-c", "from visa_lsp.cli.main import main; raise SystemExit(main())"]
COMMANDS = (["check", "texts", "--format", "json", "--jobs", "1"], ["check", "texts", "--jobs", "2"], ["stats", "texts", "--format", "json"])  # fmt: skip


def framed(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def messages(texts):
    """Yield what an editor sends that opens texts, types a line into each, and waits for the findings."""
    capabilities = {"textDocument": {"diagnostic": {"dynamicRegistration": False}}}
    yield {"id": 1, "method": "initialize", "params": {"capabilities": capabilities}}
    yield {"method": "initialized", "params": {}}
    for number, (name, text) in enumerate(texts.items()):
        uri = f"file:///{name}"
        item = {"uri": uri, "languageId": "visa", "version": 1, "text": text}
        yield {"method": "textDocument/didOpen", "params": {"textDocument": item}}
        place = {"line": text.count("\n"), "character": 0}
        change = {"range": {"start": place, "end": place}, "text": "mov (M1, 8) V1(0,0)<1> oops(0,0)<1;1,0>\n"}
        yield {"method": "textDocument/didChange", "params": {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [change]}}  # fmt: skip
        yield {"id": 10 + number, "method": "textDocument/diagnostic", "params": {"textDocument": {"uri": uri}}}
    yield {"id": 2, "method": "shutdown"}
    yield {"method": "exit"}


def started(words, cache, sent=None):
    env = {**os.environ, "VISA_LSP_CACHE": str(cache)}
    process = subprocess.Popen([*PROGRAM, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)  # fmt: skip
    return process, sent


def results(processes):
    """Return status, standard output (of a server the findings) and standard error of each process."""
    for process, sent in processes:
        if sent is not None:
            process.stdin.write(sent)
            process.stdin.flush()
    found = []
    for process, sent in processes:
        out, err = process.communicate(timeout=300)
        if sent is not None:
            parts = [part[: part.rindex(b"}") + 1] for part in out.split(b"Content-Length: ")[1:]]
            values = [json.loads(part[part.index(b"{") :]) for part in parts]
            out = sorted(json.dumps([v["id"], v["result"]["items"]]) for v in values if v.get("id", 0) >= 10)
        found.append((process.returncode, out, err))
    return found


def harm(cache):
    """Damage every file of a cache, each in another way; return how many."""
    ways = (
        lambda data: data[: len(data) // 2],
        lambda data: data[:-9] + b"\0" * 9,
        lambda data: b"",
        lambda data: data.replace(b"[", b"{", 40),
        lambda data: b"\x7fELF" + data,
        lambda data: data + data[len(data) // 3 :],
    )
    files = sorted(cache.iterdir())
    for number, file in enumerate(files):
        file.write_bytes(ways[number % len(ways)](file.read_bytes()))
    shutil.copy(files[0], files[-1])
    return len(files)


@pytest.mark.full
def test_two_servers_and_ten_processes_share_a_cache(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(OWN / "errors", "texts")
    for path in (OWN / "dev").rglob("*.visaasm"):
        shutil.copy(path, "texts")
    texts = {p.name: p.read_text() for p in sorted((tmp_path / "texts").glob("*.visaasm"), key=lambda p: -p.stat().st_size)[:20]}  # fmt: skip
    sent = b"".join(map(framed, messages(texts)))

    def together(cache, servers, commands):
        return results(
            [
                *(started([], cache, sent) for _ in range(servers)),
                *(started(COMMANDS[n % 3], cache) for n in range(commands)),
            ]
        )

    server, *commands = together("off", 1, 3)
    expected = [server, server, *(commands[n % 3] for n in range(10))]
    assert len(server[1]) == len(texts)
    cache = tmp_path / "cache"
    for _ in range(2):
        assert together(cache, 2, 10) == expected
        assert together(cache, 2, 10) == expected
        assert harm(cache) > 10
