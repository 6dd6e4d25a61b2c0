"""The same questions to kernels of many kinds: SIMD8 to SIMD32, functions, images, several kernels in one object, chosen threads."""

from __future__ import annotations

import json

import pytest
from corpus import OWN
from dap_client import ClientHere, Refused
from debugging import EXAMPLES, LAUNCH, TEXT, write_shift
from tiers import first

from visa_lsp.cli.main import main
from visa_lsp.debug.scopes import SCOPES

SAXPY = EXAMPLES / "saxpy.visaasm"
# SIMD32; SIMD8 with functions; barriers and shared memory; 64-bit addresses; subgroups; images.
KINDS = (
    "TGLLP/axpy/saxpy",
    "DG2/deep/climb",
    "TGLLP/gemm/tiles",
    "PVCXT/folds/total",
    "TGLLP/teams/swap16",
    "TGLLP/pixels/swizzle",
)
COSTLY = "TGLLP/gemm/tiles"  # seconds from beginning to end; there are barriers in folds too


@pytest.fixture
def shift(tmp_path):
    return write_shift(tmp_path)


@pytest.mark.parametrize("kind", first(3, sorted(KINDS, key=COSTLY.__eq__)))
def test_every_entry_of_every_scope_says_how_it_is_evaluated(client, kind):
    client.start(OWN / "run" / f"{kind}.visaasm", stopOnEntry=True)
    assert client.stop()["reason"] == "entry"
    for _ in range(20):
        client.go("stepIn")
    frame, asked = client.top()["id"], 0
    for scope in client.ask("scopes", frameId=frame)["scopes"]:
        for entry in client.ask("variables", variablesReference=scope["variablesReference"])["variables"]:
            entries = [entry]
            if entry["variablesReference"]:
                page = client.ask("variables", variablesReference=entry["variablesReference"], count=2)
                entries += page["variables"]
            for one in entries:
                if "evaluateName" in one:
                    value = client.value(one["evaluateName"], frameId=frame)
                    assert value.startswith(one["value"].removesuffix(", ...]")), one
                    asked += 1
                else:
                    assert scope["name"] in ("Masks", "Surfaces"), one
    assert asked > 100


def test_masks_have_no_place_to_be_written_or_watched(client):
    client.start(SAXPY, stopOnEntry=True)
    client.stop()
    frame = client.top()["id"]
    masks = client.ask("scopes", frameId=frame)["scopes"][SCOPES.index("Masks")]["variablesReference"]
    (active, *_) = client.ask("variables", variablesReference=masks)["variables"]
    for reference, name in ((masks, "active"), (active["variablesReference"], "[0]")):
        for command, more in (("setVariable", {"value": "1"}), ("dataBreakpointInfo", {})):
            with pytest.raises(Refused, match="cannot be written"):
                client.ask(command, variablesReference=reference, name=name, **more)


def test_one_name_in_two_bodies_is_two_things_to_watch(client):
    client.start(OWN / "run" / "DG2" / "deep" / "climb.visaasm", stopOnEntry=True)
    client.stop()
    first = set(client.scope("Variables"))
    outer = client.top()
    while client.top()["name"] == outer["name"]:
        client.go("stepIn")
    name = min(first & set(client.scope("Variables")))
    ids = [client.ask("dataBreakpointInfo", name=name, frameId=f["id"])["dataId"]
           for f in client.ask("stackTrace", threadId=1)["stackFrames"]]  # fmt: skip
    assert len(set(ids)) == len(ids) == 2


@pytest.mark.parametrize("name", ["out[3]", "out", "value[3]", "slm[4]", "P1"])
def test_a_data_breakpoint_stops_in_a_run_that_was_restarted_as_before(client, shift, name):
    client.start(shift, stopOnEntry=True)
    client.stop()
    said = client.ask("dataBreakpointInfo", name=name)
    client.ask("setDataBreakpoints", breakpoints=[{"dataId": said["dataId"], "accessType": "write"}])
    before = client.go("continue")
    assert before["reason"] == "data breakpoint"
    client.ask("restart")
    assert client.stop()["reason"] == "entry"
    assert client.go("continue") == before


@pytest.mark.parametrize(
    ("thread", "name"),
    [
        ("group 1,0,0 thread 1", "group 1,0,0 thread 1: items 24,0,0 to 31,0,0"),
        ("group 0,0,0 thread 1", "group 0,0,0 thread 1: items 8,0,0 to 15,0,0"),
        ("item 20,0,0", "group 1,0,0 thread 0: items 16,0,0 to 23,0,0"),
    ],
)
def test_a_chosen_thread_of_an_object_is_stepped_to_its_end(client, shift, thread, name):
    program = shift.with_suffix(".isa")
    assert main(["asm", str(shift), "-o", str(program)]) == 0
    client.start(
        program,
        stopOnEntry=True,
        thread=thread,
        before=lambda c: c.ask("setFunctionBreakpoints", breakpoints=[{"name": "shift"}]),
    )
    stop = client.stop()
    assert stop["reason"] == "entry"
    number = stop["threadId"]
    assert {t["id"]: t["name"] for t in client.ask("threads")["threads"]}[number] == name
    places = [client.top(number)["line"]]
    while (stop := client.go("stepIn", number))["event"] == "stopped":
        assert stop["threadId"] == number
        places.append(client.top(number)["line"])
    assert stop["exitCode"] == 0
    listing = [line for line in places if line]
    assert len(listing) == 12  # ten instructions of the kernel, two of the subroutine


def test_of_several_kernels_the_one_that_was_asked_for_is_debugged(client, shift, capsys):
    second = TEXT.partition("\n")[2].replace('"shift"', '"other"').replace("twice", "thrice")
    shift.write_text(TEXT + second)
    shift.with_suffix(".launch.yaml").write_text(LAUNCH.replace("kernel: shift\n", ""))
    client.start(shift, stopOnEntry=True, kernel="other")
    client.stop()
    assert client.top()["name"] == "other"
    assert (
        client.top()["line"]
        == (TEXT + second).splitlines().index("    cmp.lt (M1, 8) P1 local_id_x(0,0)<1;1,0> 0x3:uw", 20) + 1
    )
    assert client.go("continue")["exitCode"] == 0
    with ClientHere() as other:
        other.ask("initialize")
        with pytest.raises(Refused, match="several kernels; choose one"):
            other.ask("launch", program=str(shift))
        assert other.event("exited")["exitCode"] == main(["run", str(shift)]) == 2
    capsys.readouterr()


@pytest.mark.parametrize("kind", first(2, sorted(KINDS, key=COSTLY.__eq__)))
def test_the_end_of_a_session_is_the_end_of_a_run(client, kind, capsys):
    program = OWN / "run" / f"{kind}.visaasm"
    status = main(["run", str(program), "--engine", "interp", "--format", "json"])
    faults = json.loads(capsys.readouterr().out)["faults"]
    client.start(program, filters=["bounds", "uninitialised", "races", "barriers", "alignment", "access", "fatal"])
    stop = client.event("stopped", "exited")
    if faults:
        assert stop["reason"] == "exception"
        assert client.top(stop["threadId"])["line"] == faults[0]["line"]
        client.ask("setExceptionBreakpoints", filters=[])
        stop = client.go("continue", stop["threadId"])
    assert (stop["event"], stop["exitCode"]) == ("exited", status)
