"""The editor on launch files: any text has answers, a long one is not judged while it is typed, names of other machines."""

import os
import random
import shutil
from pathlib import Path

import pytest

from visa_lsp.diagnostics import Severity
from visa_lsp.ide.launchfile.launch_document import LaunchDocument
from visa_lsp.ide.workspace import Language, language_of
from visa_lsp.launchfile.folder import LaunchFolder

EXAMPLES = Path(__file__).parents[2] / "examples"
TEXT = (EXAMPLES / "mandelbrot.launch.yaml").read_text()
WORDS = (
    "buffer", "value", "dtype", "shape", "init", "npy", "file", "ze_info", "groups", "kernel", "arg", "&a", "*a", "<<:", "- ",
    "? ", "|", ">", "{", "}", "[", "]", ",", ": ", "'", '"', "#", "\n", "  ", "\t", "\0", "\r", "é𝄞", "1e400", "-1", ".nan", "~",
    "//other/x.npy", "9" * 500, "\udc80",
    "\nsweep: {n: [1, 2]}\n", "n + 1", "sweep", "expr",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    for path in EXAMPLES.iterdir():
        if path.is_file():
            shutil.copy(path, tmp_path)
    return LaunchFolder(tmp_path / "mandelbrot.launch.yaml", trusted=False)


@pytest.mark.full
def test_any_text_has_answers(folder):
    draw = random.Random(11)
    judged = 0
    for _ in range(150):
        text = TEXT
        for _ in range(draw.choice((1, 1, 2, 5))):
            at = draw.randrange(len(text))
            text = text[:at] + draw.choice(WORDS) + text[at + draw.choice((0, 0, 1, 9)) :]
        document = LaunchDocument(text, draw.choice((folder, folder, None)))
        for found in document.diagnostics:
            assert 0 <= found.span.start <= found.span.end <= len(text)
            assert found.message.strip()
            assert "\n" not in found.message
            judged += 1
        for symbol in document.symbols():
            assert symbol.whole.start <= symbol.span.start <= symbol.span.end <= symbol.whole.end
        for span, path in document.links():
            assert span.start < span.end
            assert path.is_file()
        for offset in {0, len(text), *(draw.randrange(len(text) + 1) for _ in range(6))}:
            hover = document.hover(offset)
            assert hover is None or hover.span.start <= offset <= hover.span.end
            for item in document.completions(offset):
                assert item.span.start <= offset <= item.span.end
            document.definition(offset)
    assert judged > 50


def test_a_text_that_takes_long_is_not_judged(folder):
    document = LaunchDocument(TEXT + "# ,\n" * 20_000, folder)
    (found,) = document.diagnostics
    assert found.severity is Severity.INFORMATION
    assert "`visa-lsp check` checks it" in found.message
    assert document.symbols() == document.links() == ()
    assert document.hover(TEXT.index("local_size") + 2) is not None


def test_no_file_of_another_machine_is_asked_for(folder, monkeypatch):
    """Opening a file in an editor tells no other machine that it was opened."""
    asked = []
    real = os.stat
    monkeypatch.setattr(os, "stat", lambda path, *more, **named: asked.append(str(path)) or real(path, *more, **named))
    text = "groups: [1]\nfile: //host/x.visaasm\nze_info: //host/z.zeinfo.yaml\nargs: [{buffer: {npy: //host/y.npy}}]\n"
    document = LaunchDocument(text, folder)
    assert document.diagnostics == ()
    assert document.links() == ()
    assert document.hover(3) is not None
    assert [path for path in asked if path.startswith("//host")] == []
    trusting = LaunchDocument(text, LaunchFolder(folder.launch))
    assert [d.code for d in trusting.diagnostics] == ["V808"] * 3
    assert [path for path in asked if path.startswith("//host")] != []


@pytest.mark.parametrize(
    ("name", "identifier", "language"),
    [
        ("file:///k.launch.yaml", "yaml", Language.LAUNCH),
        ("file:///k.launch.yml", "yaml", Language.LAUNCH),
        ("file:///k.launch.yaml", "visa", Language.LAUNCH),  # clients with one identifier for all
        ("untitled:1", "visa-launch", Language.LAUNCH),
        ("file:///k.yaml", "yaml", Language.OTHER),
        ("file:///k.visaasm", "visa", Language.VISA),
    ],
)
def test_which_documents_are_launch_files(name, identifier, language):
    assert language_of(name, identifier) is language


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("groups: [1]\nsweep:\n  ^", {"platform", "local_size", "groups", "global_size", "kernel"}),
        ("groups: [1]\nsweep: {platform: [^", {"TGLLP", "DG2"}),
        ("groups: [1]\nexpect:\n  - ^", {"expr", "reference", "values"}),
        ("groups: [1]\nexpect:\n  - {reference: ^", {"saxpy.visaasm", "scale.cl"}),
    ],
)
def test_sweeps_and_expectations_in_words_are_completed_and_explained(folder, typed, offered):
    offset = typed.index("^")
    document = LaunchDocument(typed.replace("^", ""), folder)
    assert offered <= {item.label for item in document.completions(offset)}
    key = LaunchDocument("groups: [1]\nsweep: {platform: [DG2]}\n", folder)
    assert "Values for `platform`" in key.hover(22).markdown
