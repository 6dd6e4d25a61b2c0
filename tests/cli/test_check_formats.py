"""The report formats, one text in all of them."""

import json
import xml.etree.ElementTree as ET

import pytest

from visa_lsp.cli.main import main

TEXT = "// start\n\tBAD 漢 ODD // DULL\n"


@pytest.fixture
def report(words, run):
    (words / "d").mkdir()
    (words / "d" / "a b.visaasm").write_text(TEXT, encoding="utf-8")
    (words / "d" / "z.visaasm").write_text("fine\n")

    def call(form, *argv):
        return run("check", "--format", form, "d", *argv)[1]

    return call


def test_concise(report):
    assert report("concise") == (
        "d/a b.visaasm:2:2: error V901 bad-word: the word 'BAD' is bad\n"
        "d/a b.visaasm:2:8: warning V902 odd-word: the word 'ODD' is odd, 100% odd\n"
        "d/a b.visaasm:2:15: hint V913 dull-word: the word 'DULL' is dull\n"
    )


def test_full_shows_the_line_the_notes_and_the_fixes(report):
    lines = report("full").splitlines()
    assert lines[:9] == [
        "error[V901] bad-word: the word 'BAD' is bad",
        " --> d/a b.visaasm:2:2",
        "2 |     BAD 漢 ODD // DULL",
        "  |     ^^^",
        "  = note: the text starts here",
        " --> d/a b.visaasm:1:1",
        "1 | // start",
        "  | -",
        "  = fix: say good",
    ]
    # A wide character takes two columns of a terminal.
    assert lines[13:15] == ["2 |     BAD 漢 ODD // DULL", "  |            ^^^"]
    assert lines[-1] == "1 error, 1 warning, 1 hint in 2 files (1 can be fixed by --fix)"


def test_full_cuts_long_lines(words, run):
    (words / "a.visaasm").write_text("x" * 500 + " BAD " + "y" * 500)
    _, out, _ = run("check", "--format", "full", "a.visaasm")
    line, mark = out.splitlines()[2:4]
    assert len(line) < 200
    assert line[mark.index("^") : mark.rindex("^") + 1] == "BAD"


@pytest.mark.parametrize(
    ("environment", "options", "coloured"),
    [
        ({}, [], False),
        ({"FORCE_COLOR": "1"}, [], True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, [], False),
        ({"NO_COLOR": "1"}, ["--color", "always"], True),
        ({"FORCE_COLOR": "1"}, ["--color", "never"], False),
    ],
)
def test_colours(report, monkeypatch, environment, options, coloured):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert coloured == ("\033[" in report("full", *options))
    assert coloured == ("\033[" in report("concise", *options))


def test_json_is_one_array_and_jsonl_one_object_a_line(report):
    array = json.loads(report("json"))
    assert array == [json.loads(line) for line in report("jsonl").splitlines()]
    assert [f["severity"] for f in array] == ["error", "warning", "hint"]
    assert tuple(array[1][k] for k in ("line", "column", "end_line", "end_column")) == (2, 8, 2, 11)


@pytest.mark.parametrize(("form", "empty"), [("json", "[]\n"), ("jsonl", ""), ("concise", ""), ("github", "")])
def test_nothing_found(words, run, form, empty):
    (words / "a.visaasm").write_text("fine\n")
    assert (0, empty, "") == run("check", "--format", form, "a.visaasm")


def test_sarif(report):
    log = json.loads(report("sarif", "none.visaasm"))
    assert log["version"] == "2.1.0"
    [run] = log["runs"]
    driver = run["tool"]["driver"]
    assert [r["id"] for r in driver["rules"]] == ["V901", "V902", "V913"]
    assert driver["rules"][0]["help"]["text"] == "A bad word.\n\nWhy: it is bad."
    assert [r["level"] for r in run["results"]] == ["error", "warning", "note"]
    for result in run["results"]:
        assert result["ruleId"] == driver["rules"][result["ruleIndex"]]["id"]
        [location] = result["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"] == "d/a%20b.visaasm"
        assert result["partialFingerprints"]
    region = run["results"][1]["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 2, "startColumn": 8, "endLine": 2, "endColumn": 11}
    change = run["results"][0]["fixes"][0]["artifactChanges"][0]["replacements"][0]
    assert change["insertedContent"] == {"text": "GOOD"}
    [invocation] = run["invocations"]
    assert (invocation["executionSuccessful"], len(invocation["toolExecutionNotifications"])) == (False, 1)


def test_sarif_addresses_are_relative_for_absolute_paths(words, run, monkeypatch):
    (words / "a.visaasm").write_text("BAD\n")
    (words / "sub").mkdir()
    monkeypatch.chdir(words / "sub")
    _, out, _ = run("check", "--format", "sarif", words / "a.visaasm")
    location = json.loads(out)["runs"][0]["results"][0]["locations"][0]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "../a.visaasm"


def test_fingerprints_of_equal_lines_differ_and_survive_moves(words, run):
    def prints(text):
        (words / "a.visaasm").write_text(text)
        results = json.loads(run("check", "--format", "sarif", "a.visaasm")[1])["runs"][0]["results"]
        return [next(iter(r["partialFingerprints"].values())) for r in results]

    before = prints("x BAD\nx BAD\n")
    assert len(set(before)) == 2
    assert before == prints("\n\nx  BAD\n\n\tx BAD\n")


def test_github(report):
    first, second, third = report("github").splitlines()
    assert first == (
        "::error file=d/a b.visaasm,line=2,col=2,endLine=2,endColumn=5,title=V901 bad-word::the word 'BAD' is bad"
    )
    assert second.endswith("::the word 'ODD' is odd, 100%25 odd")
    assert third.startswith("::notice file=")


def test_gitlab(report):
    issues = json.loads(report("gitlab"))
    assert [i["severity"] for i in issues] == ["major", "minor", "info"]
    assert len({i["fingerprint"] for i in issues}) == 3
    assert issues[0]["location"] == {"path": "d/a b.visaasm", "lines": {"begin": 2, "end": 2}}
    assert {"description", "check_name", "fingerprint", "severity", "location"} == set(issues[0])


def test_junit(report):
    root = ET.fromstring(report("junit", "none.visaasm"))  # noqa: S314 - our own text
    assert root.attrib == {"name": "visa-lsp", "tests": "5", "failures": "2", "errors": "1"}
    suites = {s.get("name"): s for s in root}
    assert list(suites) == ["d/a b.visaasm", "d/z.visaasm", "none.visaasm"]
    cases = list(suites["d/a b.visaasm"])
    assert [case[0].tag for case in cases] == ["failure", "failure", "system-out"]
    assert cases[0][0].get("message") == "the word 'BAD' is bad"
    assert len(suites["d/z.visaasm"][0]) == 0
    assert suites["none.visaasm"][0][0].tag == "error"


def test_rdjson_counts_bytes_and_suggests_single_replacements(report):
    value = json.loads(report("rdjson"))
    first, second, _ = value["diagnostics"]
    assert value["source"]["name"] == "visa-lsp"
    assert second["location"]["range"] == {"start": {"line": 2, "column": 10}, "end": {"line": 2, "column": 13}}
    assert [s["text"] for s in first["suggestions"]] == ["GOOD", ""]
    assert first["code"] == {"value": "V901"}


@pytest.mark.parametrize("form", ["sarif", "rdjson", "gitlab"])
def test_a_name_makes_no_link_where_messages_are_shown_as_markdown(here, capsys, form):
    """Those formats go into comments and alerts that are Markdown."""
    name = "[x](http://127.0.0.1/x)"
    (here / "k.visaasm").write_text(
        f'.version 4.1\n.kernel "{name}"\n    ret (M1, 1)\n.kernel "{name}"\n    ret (M1, 1)\n'
    )
    main(["check", "--format", form, "k.visaasm"])
    messages = list(shown(json.loads(capsys.readouterr().out)))
    assert any("[x] (http" in message for message in messages)
    assert not any("](" in message for message in messages)


def shown(value, key=""):
    """Every message of a report, without the pages of rules."""
    if isinstance(value, dict):
        for inner, item in value.items():
            if inner not in ("rules", "snippet", "contextRegion"):
                yield from shown(item, inner)
    elif isinstance(value, list):
        for item in value:
            yield from shown(item, key)
    elif key in ("text", "message", "description"):
        yield value
