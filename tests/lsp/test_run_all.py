"""Many launch files in one process: answers as they come, a run that ends its process, what was cancelled."""

from __future__ import annotations

import asyncio
import os
import signal
import threading

import pytest
from lsp_client import ENDLESS, LAUNCH, ask, command, line_of, no_process_left, plain
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from visa_lsp.lsp.jobs.model import Stop
from visa_lsp.lsp.jobs.run_client import run_all_in_subprocess

TOKEN = "tests"  # noqa: S105 - of progress
ENDLESS_LAUNCH = "kernel: endless\nfile: endless.visaasm\ngroups: [1]\nlocal_size: [8]\nargs: []\n"
GOOD_LAUNCH = LAUNCH
WRONG_LAUNCH = LAUNCH.replace("values: [1.0,", "values: [7.0,")


@pytest.fixture
def folder(kernel, tmp_path):
    """Launch files of a kernel that ends and of one that does not."""
    (tmp_path / "endless.visaasm").write_text(ENDLESS)
    launches = {"good": GOOD_LAUNCH, "wrong": WRONG_LAUNCH, "last": GOOD_LAUNCH, "endless": ENDLESS_LAUNCH}
    for name, text in launches.items():
        (tmp_path / f"{name}.launch.yaml").write_text(text)
    return lambda *names: [(tmp_path / f"{name}.launch.yaml").as_uri() for name in names]


@pytest.fixture
def told(client):
    """Return the progress that the server reports for our token."""
    heard: list[dict] = []
    arrived = asyncio.Event()

    def keep(params) -> None:
        if params.token == TOKEN:
            heard.append(plain(params.value))
            arrived.set()

    client.protocol.fm.features.pop(types.PROGRESS, None)
    client.feature(types.PROGRESS)(keep)
    client.protocol.fm.builtin_features.pop(types.PROGRESS, None)
    heard_first = arrived.wait
    return heard, heard_first


async def run_all(client, uris, **more):
    argument = {"uris": uris, **more}
    return await command(client, "visa.runAll", argument)


async def test_all_run_in_one_process_and_each_is_told_when_it_ends(client, folder, kernel, told):
    uris = folder("good", "wrong", "last")
    answer = await run_all(client, uris, partialResultToken=TOKEN, data="base64")
    assert answer["runs"] == [{"uri": uri, "ok": ok} for uri, ok in zip(uris, (True, False, True), strict=True)]
    heard, _ = told
    assert [(run["uri"], run["ok"]) for run in heard] == [(run["uri"], run["ok"]) for run in answer["runs"]]
    assert {run["process"] for run in heard} == set(answer["processes"])
    assert len(answer["processes"]) == 1
    (wrong,) = (e for run in heard for e in run["expectations"] if not e["ok"])
    assert wrong["differences"]["first"] == [{"at": [0], "got": 1.0, "expected": 7.0}]
    assert all(run["buffers"][0]["data"] for run in heard)
    assert await no_process_left(client)
    # What a run has left is written beside its lines.
    place = types.Position(line_of(kernel.text, ".input"), 0)
    where, context = (
        types.Range(place, types.Position(10_000, 0)),
        types.InlineValueContext(0, types.Range(place, place)),
    )
    values = await ask(client, "inlineValue", kernel.identifier, where, context) or []
    assert any("float32[80]" in value.text for value in values)


@pytest.mark.full
async def test_without_a_token_the_answers_come_together(client, folder):
    answer = await run_all(client, folder("wrong", "good"))
    assert [(run["ok"], run["buffers"][0]["head"][:2]) for run in answer["runs"]] == [
        (False, [1.0, 3.5]),
        (True, [1.0, 3.5]),
    ]


@pytest.mark.full
async def test_a_run_without_end_costs_only_itself(client, folder, told):
    answer = await run_all(client, folder("good", "endless", "last"), timeout=2, partialResultToken=TOKEN)
    good, endless, last = told[0]
    assert (good["ok"], endless["ok"], last["ok"]) == (True, False, True)
    assert "2 seconds" in endless["error"]
    assert good["process"] == endless["process"] != last["process"]
    assert answer["processes"] == [good["process"], last["process"]]


def test_a_process_that_the_system_ends_costs_only_its_run(tmp_path):
    (tmp_path / "endless.visaasm").write_text(ENDLESS)
    path = tmp_path / "endless.launch.yaml"
    path.write_text(ENDLESS_LAUNCH)
    endless = (None, None, {"launch": str(path)}, None)
    missing = (None, None, {"launch": str(tmp_path / "gone.launch.yaml")}, None)
    answers = []
    processes: list[int] = []
    ended = threading.Event()

    class Watched(Stop):
        def by(self, how):
            processes.append(how.__self__.number)
            super().by(how)

    def end_the_first():
        while not processes and not ended.wait(0.05):
            pass
        ended.wait(1)  # it is at work by then
        os.kill(processes[0], signal.SIGKILL)

    killer = threading.Thread(target=end_the_first)
    killer.start()
    run_all_in_subprocess([endless, missing], Watched(), lambda number, answer: answers.append((number, answer)))
    killer.join()
    (_, killed), (number, after) = answers
    assert (killed["stopped"], "-9" in killed["error"]) == (True, True)
    assert (number, after["launchMissing"]) == (1, True)
    assert [killed["process"], after["process"]] == processes


async def test_cancelling_ends_the_run_and_begins_no_other(client, folder, told):
    heard, heard_first = told
    params = types.ExecuteCommandParams(
        "visa.runAll", [{"uris": folder("good", "endless", "last"), "partialResultToken": TOKEN}]
    )
    waiting = asyncio.wrap_future(
        client.protocol.send_request(types.WORKSPACE_EXECUTE_COMMAND, params, msg_id="the runs")
    )
    await asyncio.wait_for(heard_first(), 60)
    client.protocol.notify(types.CANCEL_REQUEST, types.CancelParams("the runs"))
    with pytest.raises(JsonRpcException, match=r"(?i)cancel"):
        await asyncio.wait_for(waiting, 60)
    assert await no_process_left(client)
    assert [run["ok"] for run in heard] == [True]


async def test_a_mistake_in_one_file_costs_no_other(client, folder, kernel):
    answer = await run_all(client, [kernel.uri, *folder("good"), "untitled:a.launch.yaml"])
    found = {run["uri"]: run.get("error", "") for run in answer["runs"]}
    assert ".launch.yaml" in found[kernel.uri]
    assert found["untitled:a.launch.yaml"]
    assert [run["ok"] for run in answer["runs"] if run["uri"] in folder("good")] == [True]


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ({}, "with `uris`, a list of launch files"),
        ({"uris": [1]}, "with `uris`, a list of launch files"),
        ({"uris": [], "timeout": 0}, "`timeout` must be a number of seconds"),
        ({"uris": [], "timeout": True}, "`timeout` must be a number of seconds"),
        ({"uris": [], "timeout": 1e300}, "`timeout` must be a number of seconds"),
        ({"uris": [], "partialResultToken": {}}, "`partialResultToken` must be a string or a number"),
    ],
)
async def test_a_mistake_in_the_argument_is_said(client, argument, words):
    answer = await command(client, "visa.runAll", argument)
    assert answer["ok"] is False
    assert words in answer["error"]
