"""Work is cancelled whatever comes together with the cancelling."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from visa_lsp.lsp.work_progress import show_progress


async def test_a_cancelling_together_with_the_clients_answer_is_not_lost():
    answer = asyncio.get_running_loop().create_future()
    ls = SimpleNamespace(
        client_capabilities=SimpleNamespace(window=SimpleNamespace(work_done_progress=True)),
        window_work_done_progress_create_async=lambda _params: answer,
        protocol=SimpleNamespace(progress=SimpleNamespace(tokens={}), notify=lambda *_: None),
    )

    async def work() -> None:
        async with show_progress(ls, "work", own=True):
            await asyncio.sleep(60)

    task = asyncio.create_task(work())
    await asyncio.sleep(0.01)
    answer.set_result(None)
    task.cancel()
    done, _ = await asyncio.wait({task}, timeout=2)
    task.cancel()
    assert task in done
    with pytest.raises(asyncio.CancelledError):
        task.result()
