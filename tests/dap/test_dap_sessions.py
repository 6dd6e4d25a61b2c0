"""The debug adapter over stdio: every request, on kernels with lanes, barriers, functions and faults."""

from __future__ import annotations

import base64
import json
import shutil
import struct

import pytest
from dap_client import ClientHere, Refused
from debugging import EXAMPLES, LAUNCH, ROOT, write_shift

from visa_lsp.cli.main import main
from visa_lsp.debug.scopes import SCOPES
from visa_lsp.debug.stops import FILTERS

SAXPY = EXAMPLES / "saxpy.visaasm"
AVERAGE = EXAMPLES / "average.visaasm"
ALL = [name for name in FILTERS if name != "division"]


def line_of(path, text):
    """Return the line, from 1, that holds a text."""
    return next(n for n, line in enumerate(path.read_text().splitlines(), 1) if text in line)


def entered(client, program=SAXPY, **more):
    client.start(program, stopOnEntry=True, **more)
    return client.stop()


def break_at(client, path, *lines, **terms):
    """Set the breakpoints of a text; return what is said of them."""
    points = [{"line": line, **terms} for line in lines]
    return client.ask("setBreakpoints", source={"path": str(path)}, breakpoints=points)["breakpoints"]


def watch(client, name, access, thread=1):
    """Set a breakpoint on data; return what is said of it."""
    said = client.ask("dataBreakpointInfo", name=name, frameId=client.top(thread)["id"])
    assert set(said["accessTypes"]) >= {"read", "write", "readWrite"}
    wanted = {"dataId": said["dataId"], "accessType": access}
    (point,) = client.ask("setDataBreakpoints", breakpoints=[wanted])["breakpoints"]
    return point


# ---- the beginning and the end


def test_stop_on_entry_stands_on_the_first_instruction_with_the_reason_entry(client):
    stop = entered(client)
    assert (stop["reason"], stop["threadId"]) == ("entry", 1)
    assert client.top()["line"] == line_of(SAXPY, "mul (M1_NM, 1) group_base")
    assert client.top()["source"]["path"] == str(SAXPY)
    assert client.ends() == 0


@pytest.mark.parametrize(
    ("program", "status"),
    [(SAXPY, 0), (AVERAGE, 0), (EXAMPLES / "saxpy.launch.yaml", 0)],
    ids=["ok", "faulty", "launch-file"],
)
def test_exited_carries_the_exit_status_of_run(client, program, status, capsys):
    assert main(["run", str(program), "--engine", "interp"]) == status
    printed = capsys.readouterr().out
    client.start(program)
    assert client.event("exited")["exitCode"] == status
    client.event("terminated")
    for line in printed.splitlines()[1:]:
        assert line in client.output()
    assert client.ends() == 0


def test_a_single_stepped_run_ends_as_a_run_does(client):
    entered(client)
    steps, stop = 0, None
    while True:
        thread = client.ask("threads")["threads"][0]["id"]
        stop = client.go("next", thread)
        if stop["event"] == "exited":
            break
        assert stop["reason"] == "step"
        steps += 1
    assert stop["exitCode"] == 0
    assert steps == 76  # 77 instructions, and the first stop was the entry
    assert client.ends() == 0


def test_a_text_with_errors_is_refused_with_status_1_and_other_mistakes_with_2(tmp_path):
    broken = tmp_path / "broken.visaasm"
    broken.write_text(SAXPY.read_text().replace("shl (M1, 16)", "shl (M1, 17)"))
    shutil.copy(EXAMPLES / "saxpy.launch.yaml", tmp_path / "broken.launch.yaml")
    for program, status, words in (
        (broken, 1, "error"),
        (tmp_path / "none.visaasm", 2, "no such file"),
        (tmp_path, 2, "directory"),
    ):
        with ClientHere() as client:
            client.ask("initialize")
            with pytest.raises(Refused, match=words):
                client.ask("launch", program=str(program))
            assert client.event("exited")["exitCode"] == status
            assert client.ends() == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "'program' is missing"),
        ({"program": 3}, "'program' must be a text"),
        ({"program": str(SAXPY), "thread": "group 9,0,0 thread 0"}, "the last group is 6,0,0"),
        ({"program": str(SAXPY), "thread": "item 500,0,0"}, "no work item 500,0,0"),
        ({"program": str(SAXPY), "thread": "the third"}, "is not a thread"),
        ({"program": str(SAXPY), "checks": "bound"}, "unknown check 'bound'"),
        ({"program": str(SAXPY), "platform": "TGL9"}, "unknown platform"),
        ({"program": str(SAXPY), "kernel": "saxpi"}, "did you mean 'saxpy'"),
        ({"program": str(SAXPY), "stopOnEntry": "yes"}, "true or false"),
    ],
)  # fmt: skip
def test_a_wrong_launch_is_refused_in_words(client, arguments, words):
    client.ask("initialize")
    with pytest.raises(Refused, match=words):
        client.ask("launch", **arguments)
    assert client.ends() == 0


def test_attach_is_refused_in_words(client):
    client.ask("initialize")
    with pytest.raises(Refused, match="attach is not offered"):
        client.ask("attach")


def test_the_debugger_says_that_it_interprets(client):
    entered(client, engine="jit")
    assert "the debugger always interprets" in client.output()


def test_what_is_offered_has_a_request(client):
    offered = client.ask("initialize")
    assert {f["filter"] for f in offered["exceptionBreakpointFilters"]} == set(FILTERS)
    for name, command in (
        ("supportsStepBack", "stepBack"),
        ("supportsDisassembleRequest", "disassemble"),
        ("supportsDataBreakpoints", "dataBreakpointInfo"),
    ):
        assert offered[name] is True
        with pytest.raises(Refused, match=r"program|missing"):
            client.ask(command, threadId=1)


def test_a_thread_that_is_chosen_is_the_one_that_stops(client):
    stop = entered(client, thread="item 37,0,0", lines=[line_of(SAXPY, "shl (M1, 16)")])
    assert (stop["reason"], stop["threadId"]) == ("entry", 3)
    assert client.value("any(item == (37,0,0))") == "true"
    stop = client.go("continue", 3)
    assert (stop["reason"], stop["threadId"]) == ("breakpoint", 3)
    assert client.go("continue", 3)["event"] == "exited"


def test_restart_begins_again_with_the_text_as_it_is_now(client, tmp_path):
    program = tmp_path / "saxpy.visaasm"
    shutil.copy(SAXPY, program)
    shutil.copy(EXAMPLES / "saxpy.launch.yaml", tmp_path)
    line = line_of(SAXPY, "shl (M1, 16)")
    entered(client, program, lines=[line])
    client.go("continue")
    program.write_text("\n" + program.read_text())
    client.ask("restart")
    assert client.stop()["reason"] == "entry"
    assert client.top()["line"] == line_of(program, "mul (M1_NM, 1) group_base")
    client.go("continue")
    assert client.value("index[1]") == "1"


def test_a_run_without_debugging_stops_nowhere(client):
    client.start(AVERAGE, noDebug=True, stopOnEntry=True, lines=[line_of(AVERAGE, "shl (M1, 16)")], filters=ALL)
    assert client.event("stopped", "exited") == {"event": "exited", "exitCode": 0}


# ---- looking


def test_scopes_have_their_names_and_hold_what_is_declared(client):
    entered(client, lines=[line_of(SAXPY, "mad (M1, 16)")])
    client.go("continue")
    frame = client.top()["id"]
    assert tuple(s["name"] for s in client.ask("scopes", frameId=frame)["scopes"]) == SCOPES
    assert client.scope("Variables")["index"]["value"] == str(list(range(16)))
    assert client.scope("Predicates")["P1"]["value"] == str([1] * 16)
    assert "%r0" in client.scope("Predefined")
    assert client.scope("Masks")["active"]["type"].endswith("(0xffff)")
    assert client.scope("Arguments")["a"]["value"] == "2.5"
    assert client.scope("Surfaces")["y"]["value"].startswith("[1, 1, 1")


def test_variables_are_paged_by_element(client):
    entered(client)
    row = client.scope("Arguments")["x"]
    assert row["indexedVariables"] == 100
    page = client.ask("variables", variablesReference=row["variablesReference"], filter="indexed", start=97, count=2)[
        "variables"
    ]
    assert [(v["name"], v["value"], v["evaluateName"]) for v in page] == [
        ("[97]", "97", "x[97]"),
        ("[98]", "98", "x[98]"),
    ]


EXPRESSIONS = [
    ("index[3]", "3"),
        ("index", str(list(range(16)))),
        ("P1", str([1] * 16)),
        ("P1[15]", "1"),
        ("x_value[3] * 2 + 1", "7"),
        ("index[3] > 2 && !(index[2] > 2)", "true"),
        ("any(index > 14)", "true"),
        ("all(index > 14)", "false"),
        ("count(index > 7)", "8"),
        ("item == (3,0,0)", "[false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false]"),
        ("index(0,1)<2;2,1>", str(list(range(1, 16)))),  # as far as the variable goes
        ("index(0,2)<0;1,0>", str([2] * 16)),
        ("index(1,1)", "9"),
        ("x_value:ud[1]", str(0x3F800000)),
        ("x_value[1],x", "0x3f800000"),
        ("0x10 | 3", "19"),
        ("7 / 2", "3"),
        ("-7 / 2", "-3"),
        ("y[5]", "1"),
        ("group", "(0, 0, 0)"),
        ("emask,x", "0xffff"),
    ("sum(index)", "120"),
    ("1 && 0", "false"), ("0 && 1", "false"), ("2 && 1", "true"), ("0 || 0", "false"), ("0 || 2", "true"),
    ("1 << 63 >> 62", "2"),
]  # fmt: skip


def test_expressions(client):
    entered(client, lines=[line_of(SAXPY, "mad (M1, 16)")])
    client.go("continue")
    assert [(expression, client.value(expression)) for expression, _ in EXPRESSIONS] == EXPRESSIONS


WRONG_EXPRESSIONS = [
        ("index[16]", r"index\[16\] is out of range"),
        ("index[-1]", r"index\[-1\] is out of range"),
        ("index:zz", "'zz' is not a type"),
        ("V9999", "'V9999' is not a variable"),
        ("P7", "'P7' is not a variable"),
        ("__import__('os')", "'__import__' is not a function"),
        ("index +", "expected a value, found the end"),
        ("(index", r"expected '\)', found the end"),
        ("index ` 3", "unexpected character '`'"),
        ("1 / 0", "division by zero"),
        ("item + 1", "work items can only be compared"),
        ("1 << 70", "0 to 63"),
        ("index(9,9)<1;1,0>", "the region leaves index"),
        ("(" * 200 + "1" + ")" * 200, "nested too deeply"),
        ("1" * 3000, "more than 2000"),
        ("P1:f", "P1 cannot be read as f"),
        ("index[1.5]", "one whole number"),
        ("", "expected a value"),
        ("1 << 64", "0 to 63"),
]  # fmt: skip


def test_a_lane_type_or_reference_that_is_none_is_an_error_response(client):
    entered(client)
    for expression, words in WRONG_EXPRESSIONS:
        with pytest.raises(Refused, match=words):
            client.value(expression)


def test_references_that_are_none_are_errors(client):
    entered(client)
    for command, arguments in (
        ("scopes", {"frameId": 99}), ("variables", {"variablesReference": 99}), ("stackTrace", {"threadId": 99}),
        ("evaluate", {"expression": "1", "frameId": -4}), ("next", {"threadId": 42}), ("readMemory", {"memoryReference": "nowhere", "count": 4}),
        ("disassemble", {"memoryReference": "0x3", "instructionCount": 1}), ("goto", {"threadId": 1, "targetId": 9}),
        ("source", {"sourceReference": 9}), ("exceptionInfo", {"threadId": 1}), ("dataBreakpointInfo", {"name": "index[77]"}),
    ):  # fmt: skip
        with pytest.raises(Refused):
            client.ask(command, **arguments)


def test_threads_are_named_with_group_thread_and_work_items(client):
    entered(client)
    assert client.ask("threads")["threads"] == [{"id": 1, "name": "group 0,0,0 thread 0: items 0,0,0 to 15,0,0"}]


def test_the_lanes_view_has_its_table(client):
    entered(client)
    client.go("next")
    client.go("next")
    client.go("next")
    table = client.ask("visaLanes", threadId=1, expression="index(0,2)<0;1,0>")
    assert table["lanes"] == 16
    assert table["active"] == [True] * 16
    row = next(row for row in table["rows"] if row["name"] == "index")
    assert (row["type"], row["kind"], row["values"]) == ("ud", "variable", [str(n) for n in range(16)])
    assert row["changed"] == [False] + [True] * 15
    assert table["at"]["line"] == client.top()["line"]
    assert table["region"] == {"name": "index", "elements": [2] * 16}
    assert [t["id"] for t in table["threads"]] == [1]


def test_completions_begin_with_the_word(client):
    entered(client)
    targets = client.ask("completions", text="1 + loc", column=8)["targets"]
    assert {t["label"] for t in targets} == {"local", "local_id_x", "local_size"}
    assert {(t["start"], t["length"]) for t in targets} == {(4, 3)}


# ---- writing


def test_variables_memory_and_places_can_be_changed_and_the_run_goes_on_with_them(client):
    entered(client, lines=[line_of(SAXPY, "mad (M1, 16)")])
    client.go("continue")
    frame = client.top()["id"]
    variables = next(s for s in client.ask("scopes", frameId=frame)["scopes"] if s["name"] == "Variables")
    assert (
        client.ask("setVariable", variablesReference=variables["variablesReference"], name="a", value="10")["value"]
        == "10"
    )
    x = client.scope("Variables")["x_value"]
    assert (
        client.ask("setVariable", variablesReference=x["variablesReference"], name="[2]", value="100.5")["value"]
        == "100.5"
    )
    client.ask("setExpression", expression="y_value[1]", value="x_value[1] + 6")
    assert client.value("P1[0] = 0", context="repl") == "0"
    raw = base64.b64encode(bytes(4)).decode()
    assert (
        client.ask(
            "writeMemory", memoryReference=client.ask("evaluate", expression="y[99]")["memoryReference"], data=raw
        )["bytesWritten"]
        == 4
    )
    with pytest.raises(Refused, match="16 elements, got 1 values"):
        client.ask("setVariable", variablesReference=variables["variablesReference"], name="x_value", value="1")
    break_at(client, SAXPY, line_of(SAXPY, "ret (M1, 1)"))
    client.go("continue")
    assert [client.value(f"y[{n}]") for n in (0, 1, 2, 3, 99)] == ["1", "17", "1006", "31", "0"]
    break_at(client, SAXPY)
    assert client.go("continue")["exitCode"] == 1  # what was expected is no more


@pytest.mark.parametrize("expression", ["y", "argy"])
def test_memory_is_read_from_the_place_of_an_expression(client, expression):
    entered(client)
    reference = client.ask("evaluate", expression=expression)["memoryReference"]
    first = client.ask("readMemory", memoryReference=reference, count=16)
    second = client.ask("readMemory", memoryReference=reference, offset=8, count=8)
    assert int(second["address"], 16) == int(first["address"], 16) + 8
    data = base64.b64decode(first["data"])
    whole, part = (
        base64.b64decode(client.ask("readMemory", memoryReference=start, offset=8, count=count)["data"])
        for start, count in (("buffer:0:0", 16), ("buffer:0:8", 8))
    )
    assert part == whole[8:]
    assert data[8:] == base64.b64decode(second["data"])
    assert [f"{value:g}" for value in struct.unpack("<4f", data)] == [client.value(f"y[{n}]") for n in range(4)]


def test_a_row_shows_64_elements(client):
    entered(client)
    (whole,) = [row["value"] for name, row in client.scope("Arguments").items() if name.startswith("y")]
    assert whole.endswith(", ...]")
    assert whole.count(",") == 64


def test_the_console_explains_a_value_and_the_run_stands_where_it_stood(client):
    """Registers, a predicate, memory, also after an edit; going on gives the same result."""
    entered(client)
    break_at(client, SAXPY, line_of(SAXPY, "scatter4_scaled"))
    client.go("continue")
    before = client.top()
    told = client.value("why y_value[3]", context="repl").splitlines()
    assert told[0] == "y_value[3] = 8.5"
    assert "mad (M1, 16)" in told[1]
    assert "lane 3" in told[2]
    assert "cmp.lt" in client.value("why P1[3]", context="repl")
    assert "initial value of the launch" in client.value("why y[3]", context="repl")
    assert client.top() == before
    with pytest.raises(Refused, match="computed"):
        client.value("why 1 + 2", context="repl")
    break_at(client, SAXPY)
    assert client.go("continue")["exitCode"] == 0
    assert client.ends() == 0


def test_what_was_written_is_there_again_in_every_replay(client):
    entered(client)
    client.go("next")
    client.ask("setExpression", expression="a", value="4")
    for _ in range(5):
        client.go("next")
    client.go("stepBack")
    client.go("stepBack")
    assert client.value("a") == "4"
    assert client.go("reverseContinue")["reason"] == "entry"
    assert client.value("a") == "2.5"
    client.go("next")
    assert client.value("a") == "4"


def test_goto_makes_the_thread_go_on_elsewhere(client):
    entered(client)
    line = line_of(SAXPY, "ret (M1, 1)")
    (target,) = client.ask("gotoTargets", source={"path": str(SAXPY)}, line=line)["targets"]
    stop = client.go("goto", targetId=target["id"])
    assert (stop["reason"], client.top()["line"]) == ("goto", line)
    client.go("continue")
    assert "y: FAILED" in client.output()


# ---- breakpoints


def test_a_line_breakpoint_stands_on_the_next_instruction_and_stops_every_thread(client):
    client.ask("initialize")
    client.ask("launch", program=str(SAXPY))
    label = line_of(SAXPY, "done:")
    (point,) = break_at(client, SAXPY, label)
    assert (point["verified"], point["line"]) == (True, label + 1)
    client.ask("configurationDone")
    threads = []
    while (stop := client.event("stopped", "exited"))["event"] == "stopped":
        assert (stop["reason"], stop["hitBreakpointIds"]) == ("breakpoint", [point["id"]])
        threads.append(stop["threadId"])
        client.ask("continue", threadId=stop["threadId"])
    assert threads == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("terms", "threads"),
    [
        ({"condition": "index[3] > 40"}, [4, 5, 6, 7]),
        ({"condition": "any(item == (33,0,0))"}, [3]),
        ({"condition": "any(!P1)"}, [7]),
        ({"hitCondition": "3"}, [3]),
        ({"hitCondition": ">= 6"}, [6, 7]),
        ({"hitCondition": "% 3", "condition": "index[0] >= 16"}, [4, 7]),
        ({"logMessage": "from {index[0]}"}, []),
        ({"condition": "nothing > 3"}, None),
        ({"hitCondition": "often"}, None),
    ],
)  # fmt: skip
def test_conditions_hit_counts_and_log_points(client, terms, threads):
    client.ask("initialize")
    client.ask("launch", program=str(SAXPY))
    (point,) = break_at(client, SAXPY, line_of(SAXPY, "goto (M1, 16)"), **terms)
    assert point["verified"] is (threads is not None)
    client.ask("configurationDone")
    found = []
    while (stop := client.event("stopped", "exited"))["event"] == "stopped":
        found.append(stop["threadId"])
        client.ask("continue", threadId=stop["threadId"])
    assert found == (threads or [])
    if "logMessage" in terms:
        assert [f"from {16 * n}" in client.output() for n in range(7)] == [True] * 7


def test_function_and_instruction_breakpoints(client):
    entered(client)
    named = client.ask("setFunctionBreakpoints", breakpoints=[{"name": "done"}, {"name": "nothing"}])["breakpoints"]
    assert [p["verified"] for p in named] == [True, False]
    stop = client.go("continue")
    assert (stop["reason"], client.top()["line"]) == ("function breakpoint", line_of(SAXPY, "ret (M1, 1)"))
    client.ask("setFunctionBreakpoints", breakpoints=[])
    reference = client.top()["instructionPointerReference"]
    (point,) = client.ask("setInstructionBreakpoints", breakpoints=[{"instructionReference": reference, "offset": -2}])[
        "breakpoints"
    ]
    assert point["verified"]
    stop = client.go("continue")
    assert (stop["reason"], stop["threadId"]) == ("instruction breakpoint", 2)
    assert client.top(2)["line"] == line_of(SAXPY, "scatter4_scaled")


def test_breakpoints_that_are_set_before_the_launch_count(client):
    client.ask("initialize")
    line = line_of(SAXPY, "shl (M1, 16)")
    (point,) = break_at(client, SAXPY, line)
    assert not point["verified"]
    client.ask("configurationDone")
    client.ask("launch", program=str(SAXPY))
    changed = client.event("breakpoint")["breakpoint"]
    assert (changed["id"], changed["verified"], changed["line"]) == (point["id"], True, line)
    assert client.stop()["reason"] == "breakpoint"


def test_breakpoint_locations_are_the_lines_with_instructions(client):
    entered(client)
    found = client.ask("breakpointLocations", source={"path": str(SAXPY)}, line=40, endLine=46)["breakpoints"]
    assert [b["line"] for b in found] == [40, 41, 42, 45, 46]


@pytest.mark.parametrize(
    ("name", "access", "line", "reason"),
    [
        ("index", "write", "add (M1, 16) index", "index (write)"),
        ("index[3]", "write", "add (M1, 16) index", "index[3] (write)"),
        ("index:ub[5]", "write", "add (M1, 16) index", "(write)"),
        ("n", "read", "cmp.lt (M1, 16)", "n (read)"),
        ("offset", "readWrite", "shl (M1, 16)", "offset (readWrite)"),
        ("y[5]", "write", "scatter4_scaled", "y[5] (write)"),
        ("y[5]", "read", "gather4_scaled.R (M1, 16) y", "y[5] (read)"),
        ("x[5]", "readWrite", "gather4_scaled.R (M1, 16) x", "x[5] (readWrite)"),
    ],
)  # fmt: skip
def test_a_data_breakpoint_stops_on_who_touches_it(client, name, access, line, reason):
    entered(client)
    point = watch(client, name, access)
    assert point["verified"]
    stop = client.go("continue")
    assert (stop["reason"], stop["hitBreakpointIds"]) == ("data breakpoint", [point["id"]])
    assert reason in stop["text"]
    assert client.top()["line"] == line_of(SAXPY, line)


def test_a_watch_for_changes_stops_behind_who_changed_it_and_backwards_on_it(client):
    entered(client)
    watch(client, "y_value[3]", "change")
    client.go("continue")
    assert client.top()["line"] == line_of(SAXPY, "mad (M1, 16)")
    client.go("continue")
    assert client.value("y_value[3]") == "8.5"
    client.go("reverseContinue")
    assert client.top()["line"] == line_of(SAXPY, "mad (M1, 16)")
    client.go("reverseContinue")
    assert client.top()["line"] == line_of(SAXPY, "gather4_scaled.R (M1, 16) y")


# ---- faults


def first_fault(program, capsys):
    main(["run", str(program), "--engine", "interp", "--format", "json"])
    return json.loads(capsys.readouterr().out)["findings"][0]


def test_an_exception_stop_stands_on_the_instruction_of_the_first_fault_before_its_effect(client, capsys):
    fault = first_fault(AVERAGE, capsys)
    client.start(AVERAGE, filters=ALL)
    stop = client.stop()
    assert stop["reason"] == "exception"
    assert client.top(stop["threadId"])["line"] == fault["line"]
    assert fault["message"] in stop["text"]
    assert client.ask("exceptionInfo", threadId=stop["threadId"])["exceptionId"] == fault["kind"]
    assert client.value("x_next[0]") == "0"
    stop = client.go("continue", stop["threadId"])
    assert "data-race" in stop["text"]
    assert client.go("continue", stop["threadId"])["exitCode"] == 0


def test_only_the_filters_that_are_chosen_stop(client):
    client.start(AVERAGE, filters=["races"])
    assert "data-race" in client.stop()["text"]


def test_a_filter_can_have_a_condition(client):
    client.ask("initialize")
    client.ask("launch", program=str(AVERAGE))
    client.ask(
        "setExceptionBreakpoints", filters=[], filterOptions=[{"filterId": "bounds", "condition": "index[0] == 0"}]
    )
    client.ask("configurationDone")
    client.event("exited")


def test_a_fault_is_found_again_behind_a_step_back_and_who_wrote_the_value(client):
    client.start(AVERAGE, filters=["bounds"])
    stop = client.stop()
    thread = stop["threadId"]
    client.ask("visaLastWrite", expression="next[15]", threadId=thread)
    assert client.stop()["reason"] == "data breakpoint"
    assert client.top(thread)["line"] == line_of(AVERAGE, "add (M1, 16) next")
    assert client.go("continue", thread)["text"] == stop["text"]


def test_a_launch_goes_to_the_store_of_the_first_wrong_element(client, tmp_path):
    shutil.copy(SAXPY, tmp_path)
    launch = tmp_path / "saxpy.launch.yaml"
    values = [2.5 * n + 1 for n in range(100)]
    values[70] += 1
    head, _, _ = (EXAMPLES / "saxpy.launch.yaml").read_text().partition("expect:")
    launch.write_text(f"{head}expect:\n  - {{arg: y, values: {values}}}\n")
    client.start(launch, stopAtWrongStore=True, filters=ALL)
    stop = client.stop()
    assert stop["reason"] == "data breakpoint"
    assert client.top(stop["threadId"])["line"] == line_of(SAXPY, "scatter4_scaled.R")
    assert client.value("y[70]") == "1"
    assert client.value("y_value[6]") == "176"
    assert "y: 1 of 100 elements differ: [70] is 176.0, expected 177.0" in client.output()
    assert client.go("continue", stop["threadId"])["event"] == "exited"


def test_a_launch_without_a_wrong_element_ends(client):
    client.start(SAXPY, stopAtWrongStore=True)
    assert client.event("exited")["exitCode"] == 0


def test_a_value_that_is_mended_in_the_past_makes_the_fault_go_away(client):
    client.start(AVERAGE, filters=["bounds"])
    thread = client.stop()["threadId"]
    client.go("stepBack", thread)
    client.ask("setExpression", expression="next[15]", value="124", threadId=thread)
    assert client.value("next[15]") == "124"
    assert client.go("continue", thread)["event"] == "exited"
    assert "out-of-bounds: FAILED" in client.output()


# ---- objects


@pytest.fixture
def object_of_saxpy(tmp_path, capsys):
    assert main(["asm", str(SAXPY), "-o", str(tmp_path / "saxpy.isa")]) == 0
    shutil.copy(EXAMPLES / "saxpy.launch.yaml", tmp_path)
    return tmp_path / "saxpy.isa"


def test_an_object_is_debugged_in_its_listing(client, object_of_saxpy):
    entered(client, object_of_saxpy)
    top = client.top()
    number = top["source"]["sourceReference"]
    listing = client.ask("source", sourceReference=number)["content"].splitlines()
    assert listing[top["line"] - 1].strip().startswith("mul (M1_NM, 1)")
    at = next(n for n, line in enumerate(listing, 1) if "mad" in line)
    (point,) = client.ask("setBreakpoints", source={"sourceReference": number}, breakpoints=[{"line": at}])[
        "breakpoints"
    ]
    assert point["verified"]
    client.go("continue")
    assert client.top()["line"] == at
    reference = client.top()["instructionPointerReference"]
    shown = client.ask("disassemble", memoryReference=reference, instructionOffset=-1, instructionCount=3)[
        "instructions"
    ]
    assert [item["instruction"] for item in shown] == [line.strip() for line in listing[at - 2 : at + 1]]
    far = client.ask("disassemble", memoryReference=reference, instructionOffset=-100, instructionCount=2)[
        "instructions"
    ]
    assert [item["presentationHint"] for item in far] == ["invalid"] * 2


# ---- several threads, functions, sources


@pytest.fixture
def shift(tmp_path):
    expected = [2 * n for n in range(16)]
    return write_shift(tmp_path, launch=f"{LAUNCH}expect: [{{arg: out, values: {expected}}}]\n")


def test_subroutines_stand_on_the_stack_and_are_stepped_over_into_and_out_of(client, shift):
    call = line_of(shift, "call (M1, 8)")
    entered(client, shift, lines=[call])
    thread = client.go("continue")["threadId"]  # the thread that leaves the barrier first
    assert client.top(thread)["line"] == call
    client.go("stepIn", thread)
    frames = client.ask("stackTrace", threadId=thread)["stackFrames"]
    assert [(f["name"], f["line"]) for f in frames] == [("twice", line_of(shift, "add (M1, 8)")), ("shift", call)]
    for command, line in (("stepOut", call + 1), ("stepBack", call), ("next", call + 1)):
        client.go(command, thread)
        assert client.top(thread)["line"] == line
    break_at(client, shift)
    assert client.go("continue", thread)["exitCode"] == 0


def test_threads_wait_at_a_barrier_and_one_can_run_alone_or_to_it(client, shift):
    barrier = line_of(shift, "    barrier")
    entered(client, shift)
    client.ask("visaRunToBarrier", threadId=1)
    client.stop()
    assert client.top()["line"] == barrier
    first = line_of(shift, "cmp.lt (M1, 8)")
    assert client.top(2)["line"] == first
    client.ask("visaRunAlone", threadId=1)
    assert "waits for others" in client.stop()["text"]
    assert [client.top(1)["line"], client.top(2)["line"]] == [barrier, first]
    client.go("next", 2, singleThread=True)
    assert [client.top(1)["line"], client.top(2)["line"]] == [barrier, first + 1]
    assert client.go("continue")["exitCode"] == 0


def test_shared_memory_is_a_scope_that_can_be_watched(client, shift):
    entered(client, shift)
    watch(client, "slm[9]", "write")
    stop = client.go("continue")
    assert stop["threadId"] == 2
    assert client.top(2)["line"] == line_of(shift, "scatter4_scaled.R (M1, 8) %slm")
    client.go("next", 2)
    frame = client.top(2)["id"]
    assert client.scope("SLM", frame)["slm"]["value"].startswith("[0, 1, 2, 3, 4, 5, 6, 7, 8, 9")
    reference = client.ask("evaluate", expression="slm", frameId=frame)["memoryReference"]
    data = client.ask("readMemory", memoryReference=reference, offset=16, count=8)["data"]
    assert struct.unpack("<2i", base64.b64decode(data)) == (4, 5)


def test_source_lines_that_loc_names_have_frames_and_breakpoints(client, tmp_path):
    text = SAXPY.read_text().replace("    mul (M1_NM, 1)", '    FILE "saxpy.cl"\n    LOC 3\n    mul (M1_NM, 1)', 1)
    text = text.replace("    shl (M1, 16)", "    LOC 5\n    shl (M1, 16)", 1)
    program = tmp_path / "saxpy.visaasm"
    program.write_text(text)
    shutil.copy(EXAMPLES / "saxpy.launch.yaml", tmp_path)
    entered(client, program)
    frames = client.ask("stackTrace", threadId=1)["stackFrames"]
    assert [(f["source"]["name"], f["line"]) for f in frames] == [
        ("saxpy.visaasm", line_of(program, "mul (M1_NM")),
        ("saxpy.cl", 3),
    ]
    (point,) = break_at(client, tmp_path / "saxpy.cl", 4)
    assert (point["verified"], point["line"]) == (True, 5)
    client.go("next", granularity="line")
    assert client.ask("stackTrace", threadId=1)["stackFrames"][1]["line"] == 5
    client.go("reverseContinue")
    client.go("continue")
    assert client.top()["line"] == line_of(program, "shl (M1, 16)")


def test_the_adapter_listens_on_a_port(tmp_path):
    import socket
    import subprocess
    import sys

    process = subprocess.Popen(
        [sys.executable, "-m", "visa_lsp", "dap", "--port", "0"],
        stderr=subprocess.PIPE, cwd=ROOT,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        port = int(process.stderr.readline().rsplit(b":", 1)[1])
        with socket.create_connection(("127.0.0.1", port)) as peer:
            message = json.dumps({"seq": 1, "type": "request", "command": "initialize"}).encode()
            peer.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(message), message))
            assert peer.recv(100).startswith(b"Content-Length:")
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()
