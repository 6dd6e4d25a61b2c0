"""Deferred findings: the same as those of the whole text, from a process that ends when they are no longer needed."""

from __future__ import annotations

import asyncio
import contextlib
import sys

import pytest
from lsp_client import SERVER, make_answering, open_text
from lsprotocol import types
from processes import wait_for_end
from pytest_lsp import ClientServerConfig, client_capabilities
from tiers import first

from benchmarks.inputs import generate
from visa_lsp.analysis.analysis import Analysis
from visa_lsp.ide.suppressions import visible
from visa_lsp.job_process import JobProcess
from visa_lsp.lsp import deferred_findings as deferred

EXTRA = frozenset({"V128", "V134", "V135", "V307", "V503", "V506"})
TEXT = generate(3, 400)
ODD = (
    TEXT.replace("ret (M1, 1)", "rett (M1, 1) // \ud800 \u00e9 visa: ignore[V128]\r", 3)
    + "    mov (M1, 8) nowhere(0,0)<1> 0x0:d\n"
)


@pytest.mark.parametrize("case", first(2, [("plain", None), ("odd", "DG2"), ("plain", "DG2"), ("odd", None)]))
async def test_another_process_finds_the_same(case):
    kind, platform = case
    text = {"plain": TEXT, "odd": ODD}[kind]
    found = await deferred.find_in_subprocess(Analysis.of(text, platform), EXTRA)
    assert found == visible(Analysis.of(text, platform), EXTRA)
    assert found


async def test_who_is_cancelled_has_ended_the_process(monkeypatch):
    processes, begun = [], asyncio.Event()

    class Noted(JobProcess):
        def __init__(self, *words):
            super().__init__(*words)
            processes.append(self)
            begun.set()

    monkeypatch.setattr(deferred, "JobProcess", Noted)
    task = asyncio.ensure_future(deferred.find_in_subprocess(Analysis.of(generate(3, 20_000)), EXTRA))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(wait_for_end, [processes[0].number])


async def test_a_process_that_fails_is_no_answer(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert await deferred.find_in_subprocess(Analysis.of(TEXT), EXTRA) is None


async def test_they_are_published_after_the_first():
    client = await ClientServerConfig(server_command=SERVER).start()
    capabilities = client_capabilities("visual_studio_code")
    capabilities.text_document.diagnostic = None
    options = {"extendSelect": ["V128"]}
    try:
        await make_answering(client).initialize_session(
            types.InitializeParams(capabilities=capabilities, initialization_options=options)
        )
        client.set_configuration({"visa": options})
        uri = "file:///long.visaasm"
        open_text(client, uri, TEXT)
        wanted = sum(d.code == "V128" for d in visible(Analysis.of(TEXT), {"V128"}))
        for _ in range(4):
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS), 20)
            if sum(d.code == "V128" for d in client.diagnostics.get(uri, ())) == wanted:
                break
        assert sum(d.code == "V128" for d in client.diagnostics[uri]) == wanted > 0
    finally:
        await client.shutdown_session()
        await client.stop()
