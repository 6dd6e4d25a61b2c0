"""Deferred findings (``ide.deferred``) found in a process of their own, so that no keystroke waits for them.

A thread was tried: in a text of 20,000 lines a keystroke waited up to 0.65 s for it, against 40 ms without it and
with a process, on the same busy machine. The process gets the text through its standard input, which stays open until
the findings are there or no longer needed. Invariant: it ends when its standard input or its server does.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import threading
from asyncio.subprocess import DEVNULL, PIPE
from itertools import chain
from typing import TYPE_CHECKING, Final

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.children import command_of, end_with_parent
from visa_lsp.ide.deferred import Cancelled, deferred_findings, packed, unpacked

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import Collection
    from typing import BinaryIO

    from visa_lsp.diagnostics import Diagnostic

_COUNT: Final = 4  # bytes of a part's length; a part of length 0 is the last
_LESS_URGENT: Final = 10


async def deferred_findings_in_subprocess(analysis: Analysis, extra: Collection[str]) -> tuple[Diagnostic, ...] | None:
    """``visible(analysis, extra)``, found in a subprocess; None where that has failed.

    Raises OSError where no process can be started. Cancelling the call ends the process.
    """
    child = await asyncio.create_subprocess_exec(
        *command_of("visa_lsp.lsp.deferred"), stdin=PIPE, stdout=PIPE, stderr=DEVNULL
    )
    try:
        return await _answer_of(child, analysis, extra)
    finally:
        with contextlib.suppress(ProcessLookupError):
            child.kill()
        await child.wait()


async def _answer_of(child: Process, analysis: Analysis, extra: Collection[str]) -> tuple[Diagnostic, ...] | None:
    if child.stdin is None or child.stdout is None:
        raise AssertionError("both are pipes")
    platform = analysis.platform.name if analysis.platform is not None else None
    job = json.dumps({"platform": platform, "extra": sorted(extra)}).encode()
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        texts = (c.text.encode("utf-8", "surrogatepass") for c in analysis.document.chunks if c.text)
        for part in chain((job,), texts, (b"",)):
            child.stdin.write(len(part).to_bytes(_COUNT, "little") + part)
            await child.stdin.drain()
    answer = await child.stdout.read()
    try:
        return unpacked(answer)
    except ValueError:
        return None


# ---- the other process ----


def _part(stream: BinaryIO) -> bytes:
    return stream.read(int.from_bytes(stream.read(_COUNT), "little"))


def main() -> int:
    """Take one text, look at it, answer."""
    end_with_parent()
    if hasattr(os, "nice"):
        os.nice(_LESS_URGENT)
    stream = sys.stdin.buffer
    job = json.loads(_part(stream) or b"null")
    parts = []
    while part := _part(stream):
        parts.append(part)
    over = threading.Event()

    def watch() -> None:
        stream.read()
        over.set()

    threading.Thread(target=watch, daemon=True).start()
    analysis = Analysis.of(b"".join(parts).decode("utf-8", "surrogatepass"), job["platform"])
    try:
        found = deferred_findings(analysis, job["extra"], over.is_set)
    except Cancelled:
        os._exit(1)
    sys.stdout.buffer.write(packed(found))
    sys.stdout.buffer.flush()
    os._exit(0)  # the other thread still reads


if __name__ == "__main__":
    sys.exit(main())
