"""Runs over the protocol: quick ones without a launch file, those of launch files and objects, stopped ones, what stays."""

from __future__ import annotations

import asyncio
import base64
import json
import struct
from pathlib import Path

import pytest
from corpus import place
from lsp_client import ENDLESS, ask, at, change_text, command, line_of, no_process_left, open_text, saxpy
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from tiers import first

from visa_lsp.cli.main import main
from visa_lsp.lsp.jobs.command_answers import launch_template
from visa_lsp.lsp.jobs.run_process import perform

BY_HAND = """.version 4.1
.kernel "k"
.decl a v_type=G type=f num_elts=1 align=dword
.decl x v_type=T num_elts=1
.decl V32 v_type=G type=f num_elts=8 align=GRF
.decl V33 v_type=G type=ud num_elts=8 align=GRF
.input a offset=64 size=4
.input x offset=68 size=4
.kernel_attr SimdSize=8
    mov (M1, 8) V33(0,0)<1> 0x0:ud
    gather4_scaled.R (M1, 8) x 0x0:ud V33.0 V32.0
    ret (M1, 1)
"""


async def inline_values(client, uri: str):
    where = types.Range(types.Position(0, 0), types.Position(10_000, 0))
    context = types.InlineValueContext(frame_id=0, stopped_location=where)
    identifier = types.TextDocumentIdentifier(uri)
    return await ask(client, "inlineValue", identifier, where, context) or []


def floats(buffer) -> tuple[float, ...]:
    data = base64.b64decode(buffer["data"])
    return struct.unpack(f"<{len(data) // 4}f", data)


async def test_a_quick_run_needs_no_launch_file(client, kernel, tmp_path):
    (tmp_path / "saxpy.launch.yaml").unlink()
    assert (await command(client, "visa.run", kernel.uri))["launchMissing"] is True
    quick = {
        "groups": [2, 1, 1],
        "args": [{"buffer": {"shape": [40], "init": "ones"}}, [float(i) for i in range(40)], 0.5, {"value": 33}],
    }
    answer = await command(client, "visa.run", {"uri": kernel.uri, "quick": quick, "data": "base64"})
    assert answer["ok"], answer
    y = floats(answer["buffers"][0])
    assert y == tuple(1 + 0.5 * i if i < 33 else 1.0 for i in range(40))
    # What was run can be kept, and says the same.
    (tmp_path / "saxpy.launch.yaml").write_text(answer["launchText"])
    again = perform(kernel.text, str(kernel.path), {"data": "base64"})
    assert floats(again["buffers"][0]) == y
    told = launch_template(kernel.text, str(kernel.path), {"quick": quick}, tries=True)
    assert told["text"] == answer["launchText"]
    assert any("float32[40]" in value.text for value in await inline_values(client, kernel.uri))


def test_a_failed_expectation_comes_with_both_arrays_and_what_differs(tmp_path):
    kernel = saxpy(tmp_path)
    launch = tmp_path / "saxpy.launch.yaml"
    # A buffer in the place of what is said of it.
    launch.write_text(f"{launch.read_text()}  - {{arg: 0, values: {[0.5] * 80}}}\n")
    answer = perform(kernel.text, str(kernel.path), {"data": "base64"})
    assert answer["ok"] is False
    _, failed = answer["expectations"]
    got, expected = floats(answer["buffers"][0]), floats(failed["expected"])
    assert expected == (0.5,) * 80
    bits = base64.b64decode(failed["differences"]["elements"])
    assert [bool(bits[n >> 3] >> (n & 7) & 1) for n in range(80)] == [value != 0.5 for value in got]
    assert failed["differences"]["count"] == sum(value != 0.5 for value in got)


def test_what_a_quick_run_leaves_out_comes_from_ze_info(tmp_path):
    kernel = saxpy(tmp_path)
    answer = perform(kernel.text, str(kernel.path), {"quick": {}, "data": "base64"})
    assert answer["ok"], answer
    assert answer["launchText"] == launch_template(kernel.text, str(kernel.path), {}, tries=True)["text"]
    assert len(floats(answer["buffers"][0])) == 96


def test_arguments_go_by_the_names_of_a_text_without_ze_info(tmp_path):
    path = str(tmp_path / "k.visaasm")
    told = launch_template(BY_HAND, path, {}, tries=True)
    assert [(a["name"], a["kind"]) for a in told["arguments"]] == [("a", "value"), ("x", "buffer")]
    assert told["arguments"][1]["launch"] == {"buffer": {"dtype": "float32", "shape": [1], "init": "arange"}}
    answer = perform(BY_HAND, path, {"quick": {"args": {"x": [1.5, 2.5]}}, "data": "base64"})
    assert answer["ok"], answer
    assert floats(answer["buffers"][0]) == (1.5, 2.5)
    assert answer["buffers"][0]["arg"] == "x"


@pytest.mark.parametrize("opened", first(1, [True, False]))
async def test_a_form_is_of_the_kernel_of_the_text_in_its_programs_ze_info(client, tmp_path, opened):
    folder = place("run/TGLLP/bytes")
    text = (folder / "pack.visaasm").read_text()
    uri = (tmp_path / "OCL_asm0_simd32_entry_0003.visaasm").as_uri()
    open_text(client, uri, text)
    document = tmp_path / "bytes.zeinfo.yaml"
    document.write_text((folder / document.name).read_text())
    if opened:  # what is saved counts no more
        open_text(client, document.as_uri(), document.read_text(), "yaml")
        document.write_text("version: '1.20'\nkernels: []\n")
    told = await command(client, "visa.launchTemplate", uri)
    assert (told["kernel"], told["kernels"]) == ("pack", ["pack"])  # the ze_info speaks of more
    assert f"{document.name}, for kernel 'pack'" in told["assumed"][0]
    shown = await command(client, "visa.showZeInfo", uri)
    assert (Path(shown["path"]).name, shown["made"]) == (document.name, False)


def test_a_form_offers_the_kernels_of_the_text():
    text = BY_HAND + BY_HAND.partition("\n")[2].replace('"k"', '"other"')
    told = [launch_template(text, None, {"kernel": name}, tries=True) for name in ("k", "other")]
    assert [(one["kernel"], one["kernels"]) for one in told] == [("k", ["k", "other"]), ("other", ["k", "other"])]
    wrong = launch_template(text, None, {"kernel": "third"}, tries=True)
    assert (wrong["ok"], "third" in wrong["error"]) == (False, True)


def test_a_fault_says_its_work_items_in_words():
    path = Path(__file__).parents[2] / "examples" / "average.visaasm"
    answer = perform(path.read_text(), str(path), {})
    bounds, race = answer["findings"]
    assert bounds["work_items"] == "lane 15: global (31, 0, 0), local (15, 0, 0)"
    assert race["message"].endswith("bytes 64-67, element 16 of `x`")
    assert (race["excerpt"], race["other_work_items"]) == ("scatter4_scaled.R (M1, 16) x 0x0:ud here.0 x_here.0", "")


def test_an_unsaved_text_is_explained_by_a_launch_text_or_a_generated_launch():
    examples = Path(__file__).parents[2] / "examples"
    text, launch = ((examples / f"saxpy.{end}").read_text() for end in ("visaasm", "launch.yaml"))
    for options, value in (({"launchText": launch}, "y[37]"), ({}, "y[3]")):
        answer = perform(text, None, {"why": {"value": value}, **options})
        assert (answer["ok"], answer.get("value")) == (True, value), answer
    wrong = perform(text.replace("mad (", "madd ("), None, {"why": {"value": "y[3]"}, "launchText": launch})
    assert (wrong["ok"], "V201" in wrong["error"]) == (False, True)


async def test_sizes_that_have_to_be_tried_are_tried_in_another_process(client, tmp_path):
    folder = place("run/TGLLP/turn")
    uri = (tmp_path / "tiled.visaasm").as_uri()
    text = (folder / "tiled.visaasm").read_text()
    open_text(client, uri, text)
    (tmp_path / "turn.zeinfo.yaml").write_text((folder / "turn.zeinfo.yaml").read_text())
    told = await command(client, "visa.launchTemplate", uri)
    assert any(words.startswith("local_size: [8, 8, 1], ") for words in told["assumed"])


@pytest.mark.parametrize(
    ("quick", "words"),
    [
        ({"args": [{"value": float("nan")}]}, "argument y: "),
        ([], "`quick` must be an object"),
        ({"args": json.loads("[" * 200 + "]" * 200)}, "`quick` is nested too deeply"),
    ],
)
async def test_a_mistake_in_a_quick_run_is_named(client, kernel, quick, words):
    answer = await command(client, "visa.run", {"uri": kernel.uri, "quick": quick})
    assert answer["ok"] is False
    assert words in answer["error"]
    assert ".launch.yaml" not in answer["error"]


@pytest.mark.parametrize(
    ("quick", "words"),
    [
        ({"args": [None, None, None, {"value": "many"}]}, "argument n: expected a number"),
        ({"args": [{"buffer": {"dtype": "float23"}}]}, "argument y: unknown dtype 'float23'; did you mean 'float32'?"),
        ({"args": {"z": 1}}, "unknown argument 'z'; known arguments: y, x, a, n"),
        ({"args": [1, 2, 3, 4, 5]}, "the kernel has 4 arguments, got 5"),
        ({"groups": [0, 1, 1]}, "groups: 0 is out of range"),
        ({"grups": [1, 1, 1]}, "grups: unknown key 'grups'; did you mean 'groups'?"),
        ({"args": [{"buffer": {"shape": [1 << 40]}}]}, "argument y: "),
        ({"kernel": "none"}, "no kernel 'none'"),
    ],
)
def test_every_mistake_in_a_quick_run_is_named_by_what_runs_it(tmp_path, quick, words):
    kernel = saxpy(tmp_path)
    answer = perform(kernel.text, str(kernel.path), {"quick": quick})
    assert answer["ok"] is False
    assert words in answer["error"]
    assert ".launch.yaml" not in answer["error"]


async def test_a_launch_file_runs_with_the_text_as_it_is_open(client, kernel, tmp_path):
    launch = (tmp_path / "saxpy.launch.yaml").as_uri()
    answer = await command(client, "visa.run", launch)
    assert answer["ok"], answer
    assert [e["ok"] for e in answer["expectations"]] == [True]
    assert any("float32[80]" in value.text for value in await inline_values(client, kernel.uri))
    # Neither the text nor the launch file is saved.
    change = types.TextDocumentContentChangeWholeDocument(kernel.text.replace("mad (M1", "madd (M1"))
    change_text(client, kernel.uri, 2, change)
    assert "V201" in (await command(client, "visa.run", launch))["error"]
    open_text(client, launch, "kernel: saxpy\ngroups: many\n", language="yaml")
    assert "a whole number" in (await command(client, "visa.run", launch))["error"]


async def test_an_object_runs_as_its_launch_file_says(client, tmp_path):
    path = str(saxpy(tmp_path).path.with_suffix(".isa"))
    assert main(["asm", str(tmp_path / "saxpy.visaasm"), "-o", path]) == 0
    answer = await command(client, "visa.run", Path(path).as_uri())
    assert answer["ok"], answer
    assert answer["buffers"][0]["dtype"] == "float32"
    quick = {"quick": {"args": [None, None, 3.0, 40]}, "data": "base64"}
    assert floats(perform(None, path, quick)["buffers"][0])[:4] == (0.0, 4.0, 8.0, 12.0)
    (tmp_path / "saxpy.zeinfo.yaml").unlink()
    answer = perform(None, path, {**quick, "quick": {}})
    assert answer["ok"], answer
    assert "inferred" in answer["assumed"][0]
    launch = (tmp_path / "saxpy.launch.yaml").as_uri()
    assert (
        "`quick` requires a text or an object"
        in (await command(client, "visa.run", {"uri": launch, "quick": {}}))["error"]
    )


async def test_values_of_another_text_are_not_shown_beside_its_lines(client, kernel):
    quick = {"args": [{"buffer": {"shape": [4]}}, {"buffer": {"shape": [4]}}, 2.0, 64]}
    answer = await command(client, "visa.run", {"uri": kernel.uri, "quick": quick})
    assert answer["faults"], answer
    faulty = {value.range.start.line for value in await inline_values(client, kernel.uri)}
    assert answer["faults"][0]["line"] - 1 in faulty
    place = at(kernel.text, ".decl")
    edit = types.TextDocumentContentChangePartial(types.Range(place, place), "\n")
    change_text(client, kernel.uri, 2, edit)
    later = {value.range.start.line for value in await inline_values(client, kernel.uri)}
    assert later
    assert max(later) < line_of(kernel.text, "_main_0:")


async def _endless(client, tmp_path, **more):
    uri = (tmp_path / "endless.visaasm").as_uri()
    open_text(client, uri, ENDLESS)
    params = types.ExecuteCommandParams(
        "visa.run", [{"uri": uri, "quick": {"groups": [1, 1, 1], "local_size": [8, 1, 1], "args": []}}], **more
    )
    ident = "the run"
    waiting = client.protocol.send_request(types.WORKSPACE_EXECUTE_COMMAND, params, msg_id=ident)
    return uri, ident, asyncio.wrap_future(waiting)


async def test_a_run_without_end_is_stopped_by_cancelling_its_request(client, tmp_path):
    uri, ident, waiting = await _endless(client, tmp_path)
    here = types.TextDocumentIdentifier(uri)
    assert await ask(client, "hover", here, at(ENDLESS, "mov (M1")), "the server answers while a kernel runs"
    client.protocol.notify(types.CANCEL_REQUEST, types.CancelParams(ident))
    with pytest.raises(JsonRpcException, match=r"(?i)cancel"):
        await asyncio.wait_for(waiting, 60)
    assert await no_process_left(client)


async def test_a_run_without_end_is_stopped_by_cancelling_its_progress(client, tmp_path):
    token = "watched"  # noqa: S105 - of progress
    began = asyncio.Event()
    client.protocol.fm.builtin_features.pop(types.PROGRESS, None)
    client.protocol.fm.features.pop(types.PROGRESS, None)
    client.feature(types.PROGRESS)(lambda params: began.set())
    _, _, waiting = await _endless(client, tmp_path, work_done_token=token)
    await asyncio.wait_for(began.wait(), 60)
    client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
    with pytest.raises(JsonRpcException, match=r"(?i)cancel"):
        await asyncio.wait_for(waiting, 60)
    assert await no_process_left(client)
