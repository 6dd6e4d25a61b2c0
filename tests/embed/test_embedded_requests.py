"""Requests at places of a host: the features for vISA answer, and every span and word of the answer is the host's."""

from __future__ import annotations

import pytest
from cursor import apply_edits
from work import calls_of

from visa_lsp.embed import requests
from visa_lsp.embed.host_findings import findings
from visa_lsp.embed.host_text import HostText
from visa_lsp.embed.languages import Host
from visa_lsp.ide.features.rename import RenameRefused
from visa_lsp.ide.features.semantic_tokens import unpack_tokens
from visa_lsp.ide.features.token_legend import TYPES

TEXT = """// é😀 before everything
__attribute__((intel_reqd_sub_group_size(16))) kernel void k(global int *d) {
  int total = d[0];
  /* é */ __asm__ volatile("{\\n"
      ".decl local v_type=G type=d num_elts=16 align=GRF\\n" /* 😀 */ "again:\\n"
      "add (M1, 16) local(0,0)<1> %[sum](0,0)<1;1,0> %1(0,0)<0;1,0>\\n"
      "mov (M1, 16) %[sum](0,0)<1> local(0,0)<1;1,0>\\n"
      "goto (M1, 16) again\\n"
      "mov (M1_NM, 1) local(0,0)<1> %%r0(0,0)<0;1,0>\\n"
      "}\\n"
      : [sum] "+rw"(total)
      : "rw.u"(unseen()));
  d[0] = total;
}
"""
HOST = HostText.of(TEXT, Host.OPENCL)


def at(words, skip=0, text=TEXT):
    """Return the offset inside of the n-th place of some words."""
    place = -1
    for _ in range(skip + 1):
        place = text.index(words, place + 1)
    return place + 1


def words(span, text=TEXT):
    return text[span.start : span.end]


def test_outside_of_strings_there_is_no_answer():
    for offset in (0, at("kernel"), at("total"), at("[sum] ") + 20, at("/* 😀"), len(TEXT)):
        assert requests.hover(HOST, offset) is None
        assert requests.definition(HOST, offset) == ()
        assert requests.highlights(HOST, offset) == ()
        assert requests.complete(HOST, offset) == ((), False)
        assert requests.signature_help(HOST, offset) is None
        assert requests.prepare_rename(HOST, offset) is None
        with pytest.raises(RenameRefused):
            requests.rename(HOST, offset, "x")


def test_hover_tells_of_a_mnemonic_at_its_place():
    found = requests.hover(HOST, at("add (M1"))
    assert words(found.span) == "add"
    assert "Add" in found.markdown


def test_hover_tells_what_an_operand_is_in_c():
    found = requests.hover(HOST, at("%[sum]"))
    assert words(found.span) == "%[sum]"
    assert '`"+rw"`, `total`' in found.markdown
    assert "__asm" not in found.markdown
    unseen = requests.hover(HOST, at("%1("))
    assert words(unseen.span) == "%1"
    assert "type is not known" in unseen.markdown


def test_a_name_leads_to_its_declaration_and_a_label_to_its_line():
    (target,) = requests.definition(HOST, at("local", 2))
    assert (words(target.origin), words(target.name), target.name.start) == (
        "local",
        "local",
        TEXT.index("local v_type"),
    )
    (target,) = requests.definition(HOST, at("again", 1))
    assert target.name.start == TEXT.index("again:")


def test_an_operand_leads_to_the_statement_and_to_the_c_variable():
    statement, variable = requests.definition(HOST, at("%[sum]", 1))
    assert words(statement.origin) == "%[sum]"
    assert words(statement.name) == '[sum] "+rw"(total)'
    assert (words(variable.name), variable.name.start) == ("total", TEXT.index("total"))
    (statement,) = requests.definition(HOST, at("%1("))
    assert words(statement.name) == '"rw.u"(unseen())'


def test_highlights_and_references_are_all_places_in_the_strings():
    expected = [
        TEXT.index("local v"),
        TEXT.index("local(0,0)<1> %[s"),
        TEXT.index("local(0,0)<1;"),
        TEXT.index("local(0,0)<1> %%"),
    ]
    assert sorted(o.span.start for o in requests.highlights(HOST, at("local"))) == expected
    assert sorted(o.span.start for o in requests.references(HOST, at("local"))) == expected
    assert {words(o.span) for o in requests.highlights(HOST, at("%[sum]"))} == {"%[sum]"}


def test_locals_and_labels_and_named_operands_are_renamed_in_the_host():
    assert words(requests.prepare_rename(HOST, at("local"))[0]) == "local"
    renamed = apply_edits(TEXT, requests.rename(HOST, at("local"), "other"))
    assert renamed == TEXT.replace("local", "other")
    assert apply_edits(TEXT, requests.rename(HOST, at("again"), "more")) == TEXT.replace("again", "more")
    assert words(requests.prepare_rename(HOST, at("%[sum]"))[0]) == "sum"
    assert apply_edits(TEXT, requests.rename(HOST, at("%[sum]"), "result")) == TEXT.replace("sum]", "result]")


@pytest.mark.parametrize(("place", "name"), [("%1(", "x"), ("%[sum]", "no name"), ("local", "again"), ("%%r0", "x")])
def test_a_rename_that_cannot_be_is_refused_in_words(place, name):
    if place == "local" and name == "again":
        name = "local("
    with pytest.raises(RenameRefused):
        requests.rename(HOST, at(place), name)


def test_completion_offers_operands_of_this_statement_as_it_calls_them():
    text = TEXT.replace("%[sum](0,0)<1;1,0> %1", "%[ %1")
    host = HostText.of(text, Host.OPENCL)
    found, _ = requests.complete(host, text.index("%[ %1") + 2)
    offers = {item.label: item for item in found}
    assert words(offers["%[sum]"].span, text) == "%["
    assert offers["%[sum]"].insert == "%[sum]"
    assert {"%1", "local"} <= offers.keys()
    assert not any("__asm" in item.label + item.detail for item in found)


def test_completion_writes_a_percent_as_the_string_needs_it():
    text = TEXT.replace("%%r0(0,0)<0;1,0>", "")
    host = HostText.of(text, Host.OPENCL)
    found, _ = requests.complete(
        host, text.index("mov (M1_NM, 1) local(0,0)<1> ") + len("mov (M1_NM, 1) local(0,0)<1> ")
    )
    predefined = next(item for item in found if item.label == "%r0")
    assert predefined.insert.startswith("%%r0")


def test_completion_offers_mnemonics_where_a_line_begins():
    text = TEXT.replace('"goto (M1, 16) again', '"go')
    host = HostText.of(text, Host.OPENCL)
    found, _ = requests.complete(host, text.index('"go\\n') + 3)
    (item,) = [i for i in found if i.label == "goto"]
    assert words(item.span, text) == "go"
    assert requests.documentation(host, item.kind, item.label, text.index('"go\\n') + 3)


def test_signature_help_tells_of_the_instruction_under_the_cursor():
    found = requests.signature_help(HOST, at("%1(0,0)"))
    assert found.parameter == 2
    assert " add[.sat] " in found.signatures[found.active].label


def test_tokens_are_those_of_the_strings_and_of_nothing_else():
    piece = requests.tokens(HOST, "utf-32")
    lines = TEXT.split("\n")
    numbers = [piece.lead, *map(int, piece.body.split(b","))]
    line, column, seen = 0, 0, []
    for i in range(0, len(numbers), 5):
        step, start, length, kind, _ = numbers[i : i + 5]
        line, column = line + step, start if step else column + start
        seen.append((lines[line][column : column + length], TYPES[kind]))
    assert ("add", "keyword") in seen
    assert ("%[sum]", "variable") in seen
    assert ("again", "label") in seen
    assert not {"kernel", "total", "__asm__"} & {word for word, _ in seen}
    assert list(unpack_tokens(b"0,1,2,3")) == [(0, 1, 2, 3)]


def test_statements_fold():
    spans = [(fold.first_line, fold.last_line) for fold in requests.folds(HOST)]
    assert (3, 11) in spans


def test_an_edited_host_says_what_a_fresh_one_says():
    host = HOST
    text = TEXT
    for old, new in (
        ("local(0,0)<1> %%r0", "nope(0,0)<1> %%r0"),
        ("int total", "float total"),
        ("// é", "// \n\n é"),
        ("goto (M1", "gotoo (M1"),
        (TEXT[-3:], "}\n" + TEXT[TEXT.index("__attr") :]),
    ):
        start = text.index(old)
        text = text[:start] + new + text[start + len(old) :]
        host = host.edit(host.document.edit(start, start + len(old), new))
        fresh = HostText.of(text, Host.OPENCL)
        assert host.visa_text == fresh.visa_text == host.analysis.document.text
        assert findings(host) == findings(fresh)
        assert requests.tokens(host, "utf-16").body == requests.tokens(fresh, "utf-16").body


LONG = "".join(
    f"""
// function {n}
__attribute__((intel_reqd_sub_group_size(16))) kernel void k{n}(global int *d) {{
  int total = d[{n}]; float other = 1.5f;
  __asm__("mov (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0>\\n" // visa: ignore[V3]
          "add (M1, 16) %0(0,0)<1> nope{n}(0,0)<1;1,0> " LATE ":w\\n"
          : "+rw"(total) : "rw"(other));
  d[0] = total;
}}
constant char name{n}[] = "a \\"name\\" (";  // a 'remark'
int plain{n}(int a) {{ return f("s", 'c') + a; }}
"""
    for n in range(3)
).replace("// function 1", '#define LATE "0x1"\ntypedef int number;')


def test_typing_reads_no_more_than_its_function():
    text = "int plain(int x) { return x; }\n" + LONG * 20
    host = HostText.of(text, Host.OPENCL)
    inside = text.index("add (M1") + 3
    quiet = text.index("return x") + 7
    whole = calls_of(lambda: HostText.of(text, Host.OPENCL))
    assert calls_of(lambda: host.edit(host.document.edit(quiet, quiet, "x"))) < whole / 10
    assert calls_of(lambda: host.edit(host.document.edit(inside, inside, "x"))) < whole / 5
