"""Hover and pages are sound Markdown, whatever a text calls its kernels, variables, files and labels."""

from __future__ import annotations

from pathlib import Path

import pytest
from markdown_shape import mistakes

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.app.explain import explain_text
from visa_lsp.app.explained_words import list_words
from visa_lsp.ide.features.hover import DIRECTIVES, hover
from visa_lsp.ide.launchfile.launch_document import LaunchDocument
from visa_lsp.ide.prose.opcode import describe_modifier, describe_rows, describe_slot
from visa_lsp.ide.zeinfo.info_document import InfoDocument
from visa_lsp.isa.table import TABLE

ROOT = Path(__file__).parents[2]
HOSTILE = "[x](command:y) <img src=a> `t ``` # h | **b** <!--"
TEXT = f""".version 4.1
.kernel "{HOSTILE}"
.decl __a_b__ v_type=G type=f num_elts=16 align=GRF
.decl _$x_ v_type=G type=f num_elts=8 align=GRF alias=<__a_b__, 32>
.decl A0_ v_type=A num_elts=16
.decl P1 v_type=P num_elts=16
.decl T6 v_type=T num_elts=1
.input __a_b__ offset=32 size=64
.input T6 offset=128 size=4
.parameter _$x_ size=32
.kernel_attr Target="cm"
.kernel_attr AsmName="{HOSTILE}"
.implicit_UNDEFINED_3 _$x_ offset=224 size=4
.funcdecl "{HOSTILE}"
_l_#:
    FILE "{HOSTILE}"
    LOC 3
    (P1.any) mad.sat (M1, 16) __a_b__(0,0)<1> (-)__a_b__(0,0)<1;1,0> (abs)__a_b__(0,0)<1;1,0> 0x3f800000:f
    mov (M1, 16) __a_b__(0,0)<1> r[A0_(0),0]<8;8,1>:f
    gather4_scaled.R (M1, 16) T6 0x0:ud __a_b__.0 __a_b__.0
    lsc_load.ugm.ca.ca (M1, 16) V:d32 flat[V]:a64
    (P1) jmp (M1, 1) _l_
    fcall (M1, 1) "{HOSTILE}" 1 1
    ret (M1, 1)
"""


@pytest.mark.parametrize(
    "wrong",
    [
        "```visa\nmov", "a `b", "see <b>this</b>", "<https://x>", "# h", "text\n---", "| a | b |\n| - | - |\n| `a|b` | c |",
        "[a](nowhere.md)",
    ],
)  # fmt: skip
def test_mistakes_are_found(wrong):
    assert list(mistakes(wrong))


def test_sound_markdown_has_none():
    sound = (
        "**a** — `<b>` and ``a`b``, <1;1,0>\n\n---\n\n| a | b |\n| - | - |\n| `a\\|b` | c |\n\n```visa\n# <b>\n```\n"
    )
    assert not list(mistakes(sound))


def test_the_page_of_every_word():
    words = list_words()
    assert len(words) > 700
    found = {word: list(mistakes(explain_text(word) or "", headings=True, folder=ROOT / "docs")) for word in words}
    assert {word: wrong for word, wrong in found.items() if wrong} == {}


def test_the_hover_of_every_row():
    told = [describe_rows(rows) for rows in TABLE.by_mnemonic.values()]
    told += [describe_slot(slot) for row in TABLE.rows for slot in row.slots]
    told += [describe_modifier(modifier) for row in TABLE.rows for modifier in row.modifiers]
    told += [f"{form}\n\n{doc}" for form, doc in DIRECTIVES.values()]
    assert [wrong for text in dict.fromkeys(told) for wrong in mistakes(text)] == []


def hovers(find, text):
    """Return the hovers of a text, one for each span."""
    shown, last = [], None
    for offset in range(len(text)):
        if last is not None and offset < last.end:
            continue
        found = find(offset)
        last = found.span if found is not None else None
        shown += [found.markdown] if found is not None else []
    return shown


def test_names_of_a_text_are_no_markup():
    analysis = Analysis.of(TEXT)
    shown = hovers(lambda offset: hover(analysis, offset), TEXT)
    assert len(shown) > 70
    assert any("command:y" in text for text in shown)
    assert [wrong for text in shown for wrong in mistakes(text)] == []


@pytest.mark.parametrize("name", ["saxpy.visaasm", "mandelbrot.visaasm"])
def test_hovers_of_the_examples(name):
    text = (ROOT / "examples" / name).read_text()
    analysis = Analysis.of(text)
    assert [wrong for told in hovers(lambda at: hover(analysis, at), text) for wrong in mistakes(told)] == []


def test_launch_files_and_ze_info():
    launch = (ROOT / "examples" / "saxpy.launch.yaml").read_text().replace("kernel: saxpy", f"kernel: '{HOSTILE}'")
    info = (ROOT / "examples" / "mandelbrot.zeinfo.yaml").read_text().replace("mandel\n", f"'{HOSTILE}'\n")
    shown = hovers(LaunchDocument(launch).hover, launch) + hovers(InfoDocument(info).hover, info)
    assert len(shown) > 20
    assert [wrong for text in shown for wrong in mistakes(text)] == []
