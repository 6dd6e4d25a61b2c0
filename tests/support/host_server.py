"""A language server of another language, as clangd is one of C++: it answers about every place, and knows no command of others.

``python host_server.py`` speaks on standard input and output. The answer of ``fake/asked`` lists every requested method.
"""

from __future__ import annotations

import json
import sys
from typing import Any

CAPABILITIES = {
    "textDocumentSync": 1,
    "hoverProvider": True,
    "definitionProvider": True,
    "documentFormattingProvider": True,
    "executeCommandProvider": {"commands": ["host.command"]},
}


def send(message: dict[str, Any]) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    sys.stdout.buffer.flush()


def read() -> dict[str, Any] | None:
    size = 0
    while (line := sys.stdin.buffer.readline().strip()) != b"":
        if line.lower().startswith(b"content-length:"):
            size = int(line.split(b":")[1])
    return json.loads(sys.stdin.buffer.read(size)) if size else None


def main() -> None:
    asked: list[str] = []
    while (message := read()) is not None:
        method, ident = message.get("method", ""), message.get("id")
        asked.append(method)
        if method == "exit":
            return
        if method == "textDocument/didOpen":
            uri = message["params"]["textDocument"]["uri"]
            place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
            found = [{"range": place, "message": "said by the host's server", "source": "host"}]
            send({"method": "textDocument/publishDiagnostics", "params": {"uri": uri, "diagnostics": found}})
        if ident is None:
            continue
        if method == "workspace/executeCommand":
            send({"id": ident, "error": {"code": -32602, "message": "no such command here"}})
            continue
        results: dict[str, Any] = {
            "initialize": {"capabilities": CAPABILITIES, "serverInfo": {"name": "host"}},
            "textDocument/hover": {"contents": "a word of the host language"},
            "textDocument/formatting": [],
            "fake/asked": asked,
        }
        send({"id": ident, "result": results.get(method)})


if __name__ == "__main__":
    main()
