"""From an instruction to the source line that it was compiled from, and the stretches of a text by source line."""

import pytest
from corpus import place
from cursor import analyse_at_cursor

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.ide.features import source_lines
from visa_lsp.ide.features.hover import hover
from visa_lsp.ide.features.source_lines import (
    SourceLine,
    Stretch,
    names_of,
    source_at,
    source_of,
    stretches,
    stretches_of_text,
)

BODY = """\
FILE "src/a.cl"
LOC 7
    mov (M1, 8) A(0,0)<1> A(0,0)<1;1,0>
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (BODY.replace("mov", "^mov"), (7, "mov")),
        (BODY.replace("M1", "M^1"), (7, "M1")),
        (BODY.replace("    mov", "  ^  mov"), (7, None)),
        (BODY.replace("A(0,0)<1> ", "A(0,0)<^1> "), (7, "<1>")),
        (BODY.replace("A(0,0)<1> ", "^A(0,0)<1> "), None),
        (BODY.replace("A(0,0)<1> ", "^%r0(0,0)<1> "), None),
        (BODY.replace("A(0,0)<1> ", "^NOWHERE(0,0)<1> "), None),
        (BODY.replace("LOC 7", "^LOC 7"), (7, "LOC")),
        (BODY.replace("LOC 7", ".loc 7").replace("FILE", ".file").replace("mov", "^mov"), (7, "mov")),
        (BODY.replace("LOC 7", "LOC 7 // x").replace("mov", "^mov"), (7, "mov")),
        (BODY.replace("LOC 7", "LOC 7\n// LOC 8\n/* LOC 9\nLOC 10 */").replace("mov", "^mov"), (7, "mov")),
        (BODY.replace("LOC 7", "LOC 7\nLOC 0").replace("mov", "^mov"), None),
        (BODY.replace("LOC 7", "LOC x").replace("mov", "^mov"), None),
        (BODY.replace("FILE", "// FILE").replace("mov", "^mov"), None),
        ('LOC 7\nFILE "a.cl"\n    ^mov (M1, 8) A(0,0)<1> A(0,0)<1;1,0>', None),
        (BODY + '.global_function "g"\n    ^mov (M1, 8) A(0,0)<1> A(0,0)<1;1,0>', None),
        (BODY + '.function "s"\ns:\n    ^mov (M1, 8) A(0,0)<1> A(0,0)<1;1,0>', (7, "mov")),
        (BODY + "^.decl C v_type=G type=d num_elts=1", None),
        (BODY + "^// nothing", None),
    ],
)
def test_an_instruction_leads_to_the_line_that_holds_there(source, expected):
    analysis, offset = analyse_at_cursor(source)
    found = source_of(analysis, offset)
    if expected is None:
        assert found is None
        return
    (file, line), span = found
    assert file in ("src/a.cl", "a.cl")
    assert (line, None if span is None else analysis.document.slice(span)) == expected


def test_stretches_are_what_the_text_says_line_by_line():
    text = place("dev/DG2/spaces.g.where3.visaasm").read_text()
    document = Analysis.of(text).document
    found = tuple(stretches(document))
    assert found == tuple(stretches_of_text(text)) == tuple(stretches_of_text(text.replace("\n", "\r\n")))
    assert found[0] == Stretch(SourceLine("spaces.cl", 15), 118, 122, 5)
    for stretch in found:
        assert {source_at(document, line) for line in range(stretch.first_line, stretch.last_line + 1)} == {
            stretch.source
        }
    inside = {line for s in found for line in range(s.first_line, s.last_line + 1)}
    statements = [line for line, _ in document.statements() if source_at(document, line) and line not in inside]
    assert all(
        document.line_text(line).lstrip().startswith("LOC") or document.line_text(line).endswith(":")
        for line in statements
    )


def test_a_text_without_marks_is_not_looked_through(monkeypatch):
    document = Analysis.of(place("dev/TGLLP/axpy.o0.saxpy.visaasm").read_text()).document
    assert "loc" in document.text
    monkeypatch.setattr(source_lines, "index_of", None)
    assert source_at(document, 50) is None
    assert list(stretches(document)) == list(stretches_of_text(document.text)) == []


def test_an_edit_reads_only_its_chunk_again(monkeypatch):
    read = []
    told_by = source_lines._find_facts
    monkeypatch.setattr(source_lines, "_find_facts", lambda code: (read.append(code), told_by(code))[1])
    line = "    mov (M1, 8) V1(0,0)<1> V1(0,0)<1;1,0>\n"
    text = '.version 4.1\n.kernel "k"\nFILE "a.cl"\n' + f"LOC 3\n{line}" * 3000
    document = Analysis.of(text).document
    assert source_at(document, document.line_count - 2) == SourceLine("a.cl", 3)
    assert len(read) > 10
    read.clear()
    end = len(text) - 1
    edited = document.edit(end, end, "\nLOC 4")
    assert source_at(edited, edited.line_count - 2) == SourceLine("a.cl", 4)
    assert len(read) == 1


def test_hover_of_a_mark_tells_the_line():
    for source in (BODY.replace("LOC", "L^OC"), BODY.replace("LOC", ".l^oc")):
        analysis, offset = analyse_at_cursor(source)
        result = hover(analysis, offset)
        assert result.markdown.endswith("Line 7 of `src/a.cl`")
        assert result.source == SourceLine("src/a.cl", 7)
    analysis, offset = analyse_at_cursor(BODY.replace("mov", "m^ov"))
    assert hover(analysis, offset).source is None


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("a.cl", ("a.cl",)),
        ("/b/src/a.cl", ("/b/src/a.cl", "b/src/a.cl", "src/a.cl", "a.cl")),
        (r"C:\src\a.cl", (r"C:\src\a.cl", "C:/src/a.cl", "src/a.cl", "a.cl")),
        ("../x/./a.cl", ("../x/./a.cl", "x/a.cl", "a.cl")),
        ("", ("",)),
    ],
)
def test_names_of_a_source_here(file, names):
    assert names_of(file) == names
    assert len(names_of("/x" * 1000)) < 20
