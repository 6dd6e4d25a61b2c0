"""The command ``check``: exit status, inputs, selection, suppression comments, baseline, fixes."""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest
from tiers import first, one_of_each

from visa_lsp.app.check.formats.table import FORMATS
from visa_lsp.app.check.watch import watch

pytestmark = pytest.mark.usefixtures("words")


def write(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return name


@pytest.mark.parametrize(
    ("text", "options", "status"),
    [
        ("// fine\n", [], 0),
        ("", [], 0),
        ("// BAD\n", [], 1),
        ("// ODD\n", [], 1),
        ("// DULL\n", [], 0),
        ("// BAD\n", ["--exit-zero"], 0),
        ("// ODD\n", ["--max-warnings", "1"], 0),
        ("// ODD ODD\n", ["--max-warnings", "1"], 1),
        ("// BAD ODD\n", ["--max-warnings", "5"], 1),
        ("// ODD\n", ["--max-warnings", "1", "--error-on-warning"], 1),
        ("// BAD\n", ["--ignore", "V901"], 0),
        ("// BAD\n", ["--select", "V902"], 0),
    ],
)
def test_exit_status(words, run, text, options, status):
    write(words, "a.visaasm", text)
    assert status == run("check", *options, "a.visaasm")[0]


def test_missing_file_is_one_line_and_the_others_are_checked(words, run):
    write(words, "a.visaasm", "BAD\n")
    status, out, err = run("--check", "none.visaasm", "a.visaasm")
    assert (status, len(out.splitlines()), len(err.splitlines())) == (2, 1, 1)
    assert err.startswith("visa-lsp: none.visaasm: ")


@pytest.mark.parametrize("data", [b"\xff\xfe BAD\n", b"\x00BAD", b"// \xc3\n/* BAD", b"\xef\xbb\xbfBAD"])
def test_bytes_that_are_no_text_do_not_crash(words, run, data):
    write(words, "a.visaasm", data)
    for form in FORMATS:
        status, out, err = run("check", "--format", form, "a.visaasm")
        assert (status, err) == (1, ""), form
        assert "V901" in out, form


def test_an_object_is_not_checked_as_a_text(words, run):
    write(words, "a.isa", b"CISA\x04\x01")
    status, out, err = run("check", "a.isa")
    assert (status, out) == (2, "")
    assert "visa-lsp dis" in err


def test_folders_are_walked_in_order_once_without_hidden_ones(words, check):
    for name in ("d/b.visaasm", "d/a.ISAASM", "d/sub/c.visaasm", "d/.git/x.visaasm", "d/notes.txt"):
        write(words, name, "BAD\n")
    _, findings = check("d/sub", "d", "d/b.visaasm")
    assert [f["path"] for f in findings] == ["d/sub/c.visaasm", "d/a.ISAASM", "d/b.visaasm"]


def test_folder_without_texts_says_so(words, run):
    (words / "d").mkdir()
    status, out, err = run("check", "d")
    assert (status, out) == (0, "")
    assert "no *.visaasm" in err


def test_json_finding_has_the_names_of_the_contract(words, check):
    write(words, "a.visaasm", "// ok\r\n// é BAD\r\n")
    _, [finding] = check("a.visaasm")
    edit = {"line": 2, "column": 6, "end_line": 2, "end_column": 9}
    start = {"line": 1, "column": 1, "end_line": 1, "end_column": 2}
    assert {
        "path": "a.visaasm",
        **edit,
        "severity": "error",
        "code": "V901",
        "name": "bad-word",
        "message": "the word 'BAD' is bad",
        "fixes": [
            {"title": "say good", "safe": True, "edits": [{**edit, "new_text": "GOOD"}]},
            {"title": "say nothing", "safe": False, "edits": [{**edit, "new_text": ""}]},
        ],
        "related": [{"path": "a.visaasm", **start, "message": "the text starts here"}],
    } == finding


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        ([], ["V901", "V902", "V913"]),
        (["--select", "V90"], ["V901", "V902"]),
        (["--select", "V901,V913"], ["V901", "V913"]),
        (["--select", "bad-word"], ["V901"]),
        (["--ignore", "V9"], []),
        (["--ignore", "V90", "--ignore", "dull-word"], []),
        (["--select", "V901", "--ignore", "V9"], ["V901"]),
        (["--select", "ALL", "--ignore", "V901"], ["V902", "V913"]),
        (["--per-file-ignores", "a.*:V90"], ["V913"]),
        (["--per-file-ignores", "b.*:V90"], ["V901", "V902", "V913"]),
    ],
)
def test_selection(words, check, options, codes):
    write(words, "a.visaasm", "// BAD ODD DULL\n")
    assert codes == [f["code"] for f in check(*options, "a.visaasm")[1]]


SUPPRESSED = [
    ("BAD // visa: ignore[V901]", []),
    ("BAD /* visa: ignore[V901] */", []),
    ("BAD // visa: ignore[V9]", []),
    ("BAD // visa: ignore[bad-word, odd-word] ODD", []),
    ("BAD // visa: ignore", []),
    ("BAD // visa:ignore [v901]", []),
    ("BAD // Visa: ignore[v901]", ["V901"]),
    ("// visa: ignore[V901]\nBAD", []),
    ("// visa: ignore-next-line[V901]\nBAD", []),
    ("\n\n// visa: ignore-file[V901]\n\nBAD\nBAD", []),
    ("/*\nBAD visa: ignore[V901]\n*/", []),
    ("BAD // visa: ignore[V902]", ["V901", "V009"]),
    ("fine // visa: ignore[V901]", ["V009"]),
    ("fine // visa: ignore[V901]\nBAD", ["V009", "V901"]),
    ("fine // visa: ignore", ["V009"]),
    ("fine // visa: ignore[V901] visa: ignore[V009]", []),
    ("fine // visa: ignore[V009]", ["V009"]),
    ('"// visa: ignore[V901]" BAD', ["V901"]),
    ("visa: ignore[V901] BAD", ["V901"]),
    ("BAD // visa: ignored[V901]", ["V901"]),
    ("BAD // visa: ignore what stands here", ["V901"]),
]


@pytest.mark.parametrize(("text", "codes"), SUPPRESSED)
def test_suppression_comments(words, check, text, codes):
    write(words, "a.visaasm", text + "\n")
    found = check("a.visaasm")[1]
    assert codes == [f["code"] for f in found]


def test_useless_suppression_is_removed_by_fix(words, run):
    write(
        words,
        "a.visaasm",
        "fine   // visa: ignore[V901]\r\n// visa: ignore-next-line[V902]\r\nx /* visa: ignore */ y\r\n",
    )
    assert run("check", "--fix", "a.visaasm")[0] == 0
    assert (words / "a.visaasm").read_bytes() == b"fine\r\n\r\nx  y\r\n"


def test_fix_keeps_line_ends_bytes_and_mode(words, run):
    write(words, "a.visaasm", b"\xef\xbb\xbf// BAD \xff\r\nBAD")
    (words / "a.visaasm").chmod(0o640)
    (words / "link.visaasm").symlink_to("a.visaasm")
    status, out, err = run("check", "--fix", "link.visaasm")
    assert (status, out, err) == (0, "", "visa-lsp: 2 findings fixed in 1 file\n")
    assert (words / "a.visaasm").read_bytes() == b"\xef\xbb\xbf// GOOD \xff\r\nGOOD"
    assert (words / "a.visaasm").stat().st_mode & 0o777 == 0o640
    assert (words / "link.visaasm").is_symlink()


def test_fix_leaves_what_would_get_worse(words, run):
    write(words, "a.visaasm", "LOOP BAD LOOP\nBAD\n")
    assert run("check", "--fix", "a.visaasm")[0] == 1
    assert (words / "a.visaasm").read_text() == "LOOP GOOD LOOP\nGOOD\n"
    before = (words / "a.visaasm").stat().st_mtime_ns
    run("check", "--fix", "a.visaasm")
    assert before == (words / "a.visaasm").stat().st_mtime_ns


def test_fix_applies_only_what_is_selected(words, run):
    write(words, "a.visaasm", "BAD\n")
    run("check", "--fix", "--ignore", "V901", "a.visaasm")
    assert (words / "a.visaasm").read_text() == "BAD\n"


def test_diff_writes_nothing(words, run):
    write(words, "a.visaasm", "one\nBAD")
    status, out, err = run("check", "--diff", "a.visaasm")
    assert status == 1
    assert "--- a.visaasm\n+++ a.visaasm\n@@ -1,2 +1,2 @@\n one\n-BAD\n\\ No newline at end of file\n+GOOD\n" in out
    assert "can be fixed" in err
    assert (words / "a.visaasm").read_text() == "one\nBAD"


def test_unwritable_file_is_status_2(words, run, monkeypatch):
    write(words, "a.visaasm", "BAD\n")

    real = os.open

    def refuse(path, flags, *mode, **how):
        if flags & (os.O_CREAT | os.O_WRONLY):
            raise PermissionError(13, "Permission denied")
        return real(path, flags, *mode, **how)

    monkeypatch.setattr(os, "open", refuse)
    status, _, err = run("check", "--fix", "a.visaasm")
    assert (status, len(err.splitlines())) == (2, 1)


def test_baseline_survives_line_moves_and_tells_new_findings(words, run, check):
    write(words, "d/a.visaasm", "x BAD\ny BAD\n")
    assert run("check", "--baseline", "base.json", "--write-baseline", "d")[0] == 0
    assert (check("--baseline", "base.json", "d")[1], run("check", "--baseline", "base.json", "d")[0]) == ([], 0)
    write(words, "d/a.visaasm", "\n\n  x   BAD\n\ny BAD\nx BAD\n")
    status, [new] = check("--baseline", "base.json", "d")
    assert (status, new["line"]) == (1, 6)
    listed = json.loads((words / "base.json").read_text())
    assert [f["path"] for f in listed["findings"]] == ["d/a.visaasm"] * 2


@pytest.mark.parametrize(
    "argv", [["--write-baseline", "b.json", "a.visaasm"], ["--baseline", "b.json", "--write-baseline", "a.visaasm"]]
)
def test_write_baseline_in_both_spellings(words, run, argv):
    write(words, "a.visaasm", "BAD\n")
    assert run("check", *argv)[0] == 0
    assert (words / "b.json").exists()


@pytest.mark.parametrize("text", ["[]", "{", '{"version": 2}', '{"version": 1, "findings": [{}]}'])
def test_broken_baseline_is_status_2(words, run, text):
    write(words, "b.json", text)
    write(words, "a.visaasm", "BAD\n")
    status, out, err = run("check", "--baseline", "b.json", "a.visaasm")
    assert (status, out, len(err.splitlines())) == (2, "", 1)


def test_statistics(words, run):
    write(words, "a.visaasm", "BAD BAD ODD\n")
    _, out, _ = run("check", "--statistics", "a.visaasm")
    assert out.endswith("2 V901 error bad-word [--fix]\n1 V902 warning odd-word\n")


def test_statistics_leave_machine_formats_alone(words, run):
    write(words, "a.visaasm", "BAD\n")
    _, out, err = run("check", "--statistics", "--format", "json", "a.visaasm")
    assert (len(json.loads(out)), err) == (1, "1 V901 error bad-word [--fix]\n")


def test_output_goes_to_a_file(words, run):
    write(words, "a.visaasm", "BAD\n")
    status, out, _ = run("check", "--output", "r.txt", "a.visaasm")
    assert (status, out) == (1, "")
    assert (words / "r.txt").read_text() == "a.visaasm:1:1: error V901 bad-word: the word 'BAD' is bad\n"


def test_one_files_crash_is_one_line(words, run, monkeypatch):
    write(words, "a.visaasm", "CRASH\n")
    write(words, "b.visaasm", "BAD\n")
    status, out, err = run("check", "a.visaasm", "b.visaasm")
    assert (status, len(out.splitlines()), len(err.splitlines())) == (70, 1, 1)
    assert "internal error: ValueError: two lines" in err
    monkeypatch.setenv("VISA_LSP_DEBUG", "1")
    with pytest.raises(ValueError, match="two"):
        run("check", "a.visaasm")


def test_max_errors_shows_nothing_behind_them_and_tells_how_much_is_left(words, run):
    write(words, "a.visaasm", "ODD\nBAD\nDULL\n")
    write(words, "b.visaasm", "BAD\nODD\nBAD\n")
    status, out, err = run("check", "--max-errors", "1", "a.visaasm", "b.visaasm")
    assert (status, [line.partition(": ")[0] for line in out.splitlines()]) == (1, ["a.visaasm:1:1", "a.visaasm:2:1"])
    assert err == "visa-lsp: 2 more errors and 2 other findings are not shown; a larger --max-errors shows more\n"
    status, out, err = run("check", "--max-errors", "2", "--format", "full", "--statistics", "a.visaasm", "b.visaasm")
    assert (status, out.count("[V9")) == (1, 4)
    assert "3 errors, 2 warnings, 1 hint in 2 files" in out
    assert "3 V901 error" in out
    assert err.startswith("visa-lsp: 1 more error and 1 ")
    assert run("check", "--max-errors", "3", "a.visaasm", "b.visaasm") == run("check", "a.visaasm", "b.visaasm")


def test_a_file_whose_findings_are_not_shown_passes_in_no_report(words, run):
    for name in ("a", "b", "c"):
        write(words, f"{name}.visaasm", "fine\n" if name == "b" else "BAD\nBAD\n")
    files = [f"{name}.visaasm" for name in "abc"]
    _, out, err = run("check", "--max-errors", "2", "--format", "junit", *files)
    assert re.findall(r'<testsuite name="([^"]*)"', out) == ["a.visaasm", "b.visaasm"]
    assert err.startswith("visa-lsp: 2 more errors ")
    assert "4 errors in 3 files" in run("check", "--max-errors", "2", "--format", "full", *files)[1]


@pytest.mark.parametrize("form", FORMATS)
def test_a_shortened_report_is_a_whole_document(words, run, form):
    write(words, "a.visaasm", "BAD\nODD\n")
    short = run("check", "--format", form, ".")[1]
    write(words, "a.visaasm", "BAD\nODD\nBAD\nBAD\n")
    status, out, err = run("check", "--max-errors", "1", "--format", form, ".")
    assert (status, err.count("\n")) == (1, 1)
    parse = {"junit": ET.fromstring, "jsonl": lambda text: [json.loads(line) for line in text.splitlines()]}
    if form in ("json", "sarif", "gitlab", "rdjson", "junit", "jsonl"):
        assert parse.get(form, json.loads)(out) is not None
    assert out.count("V901") < run("check", "--format", form, ".")[1].count("V901")
    assert len(out) <= len(short)


def test_watch_checks_again_after_a_change():
    states = iter([["a"], ["a"], ["b"], ["b"], ["b", "c"]])
    checks, pauses = [], []
    watch(lambda: next(states), lambda: checks.append(1) or 0, pauses.append, rounds=3)
    assert (len(checks), len(pauses)) == (3, 2)


def test_watch_command_reports_a_changed_file_only_anew(words, run, monkeypatch):
    write(words, "a.visaasm", "BAD\n")
    write(words, "b.visaasm", "ODD\n")
    rounds = []

    def pause(_):
        rounds.append(1)
        if len(rounds) > 1:
            raise KeyboardInterrupt
        write(words, "a.visaasm", "fine again\n")

    monkeypatch.setattr("visa_lsp.cli.check.watch", lambda files, check: watch(files, check, pause))
    status, out, _ = run("check", "--watch", "a.visaasm", "b.visaasm")
    assert status == 130
    assert [line.split(":")[0] for line in out.splitlines()] == ["a.visaasm", "b.visaasm", "b.visaasm"]


def program(*argv, stdin=b"", **environment):
    env = {**os.environ, **environment}
    return subprocess.run(
        [sys.executable, "-m", "visa_lsp", *argv], input=stdin, capture_output=True, env=env, check=False
    )


def test_standard_input_and_its_name():
    done = program("--check", "-", "--stdin-filename", "here/x.visaasm", stdin=b"bad\xff line (\n")
    assert done.returncode in (0, 1)
    assert done.stderr == b""
    assert all(line.startswith(b"here/x.visaasm:") for line in done.stdout.splitlines())


def test_fix_of_standard_input_writes_the_text():
    done = program("check", "--fix", "-", "--select", "useless-suppression", stdin=b"\xff // visa: ignore[V901]\r\n")
    assert done.stdout == b"\xff\r\n"


def test_ascii_terminal_gets_escapes_not_a_crash(words):
    name = write(words, "é.visaasm", ".version é\nmov (\n")
    done = program("check", name, "--format", "full", LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert b"Traceback" not in done.stderr
    assert done.returncode in (0, 1)


@pytest.mark.skipif(os.name != "posix", reason="descriptors are closed by a POSIX shell")
@pytest.mark.parametrize("closed", first(1, ["0<&- 1>&- 2>&-", "0<&-", "1>&-", "2>&-"]))
def test_closed_standard_streams_are_no_failure(words, closed):
    name = write(words, "bad.visaasm", "nonsense\n")
    for what in (name, "-"):
        line = [sys.executable, "-m", "visa_lsp", "--check", what]
        done = subprocess.run(
            ["sh", "-c", f'exec "$@" {closed}', "sh", *line], capture_output=True, stdin=subprocess.DEVNULL, check=False
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (1, b"")


UNUSED = b".version 4.1\n.kernel k\n.decl V40 v_type=G type=d num_elts=8 align=dword\n"


@pytest.mark.parametrize(
    ("options", "comment", "names"),
    [
        ([], b"", []),
        (["--select", "unused-variable"], b"", ["unused-variable"]),
        *(
            pytest.param(*case, marks=pytest.mark.full)
            for case in (
                (["--select", "ALL"], b"", ["unused-variable"]),
                (["--extend-select", "unused-variable"], b"", ["unused-variable"]),
                ([], b"// visa: ignore-file[unused-variable]\n", []),
                (["--select", "ALL"], b"// visa: ignore-file[unused-variable]\n", []),
            )
        ),
    ],
)
def test_rules_that_are_off_run_when_they_are_named(words, options, comment, names):
    done = program("check", "-", "--format", "json", *options, stdin=UNUSED + comment)
    found = [f["name"] for f in json.loads(done.stdout) if f["name"] in ("unused-variable", "useless-suppression")]
    assert found == names


SLOW = b"""    mov (M1, 8) V40(0,0)<1> 0x0:d
    add (M1, 8) V40(0,0)<1> V40(0,0)<0;1,0> 0x1:d
    mov (M1, 8) V40(0,0)<1> V40(0,0)<1;1,0>
    ret (M1, 1)
"""


@pytest.mark.parametrize(
    "asked", one_of_each([("V51", 1), ("V5", 0), ("v51", 1), ("dead-store", 1), ("V512", 0)], lambda asked: asked[1])
)
def test_the_hints_about_speed_are_turned_on_together(words, asked):
    option, count = asked
    done = program("check", "-", "--format", "json", "--extend-select", option, stdin=UNUSED + SLOW)
    assert [f["name"] for f in json.loads(done.stdout) if f["code"].startswith("V51")] == ["dead-store"] * count


def test_a_mistake_in_the_settings_does_not_end_watching(words, run, monkeypatch):
    write(words, "a.visaasm", "BAD\n")
    write(words, "visa-lsp.toml", "")
    rounds = []

    def pause(_):
        rounds.append(1)
        if len(rounds) > 2:
            raise KeyboardInterrupt
        write(words, "visa-lsp.toml", "igore = 1" if len(rounds) == 1 else "ignore = ['V902']")

    monkeypatch.setattr("visa_lsp.cli.check.watch", lambda files, check: watch(files, check, pause))
    _, out, err = run("check", "--watch", "a.visaasm")
    assert len(out.splitlines()) == 2
    assert "did you mean 'ignore'" in err
