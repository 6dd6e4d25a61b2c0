"""A program of lines that are bound once for their class is the program of lines that are all bound."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from corpus import faults, read, texts
from each_case import each_of

from visa_lsp.isa.platforms import platform_named
from visa_lsp.sema import instruction_templates
from visa_lsp.sema.bind import bind
from visa_lsp.sema.bind_program import bind_program
from visa_lsp.sema.lower import lower, program_of, resolve_text
from visa_lsp.syntax.document import Document

HEAD = """.version 4.1
.kernel "k"
.decl V32 v_type=G type=d num_elts=16 align=GRF
.decl V33 v_type=G type=d num_elts=16 align=GRF
.decl V34 v_type=G type=d num_elts=32 align=GRF
.decl V35 v_type=G type=w num_elts=16 align=GRF
.decl A0 v_type=A num_elts=1
.decl A1 v_type=A num_elts=2
.decl P1 v_type=P num_elts=16
.decl P2 v_type=P num_elts=16
.decl T6 v_type=T num_elts=1
.decl T7 v_type=T num_elts=1
"""


def program(text):
    return lower(bind(Document.parse(text)))


def same(text):
    """Return the program of a text by both ways, with the lines of its instructions."""
    fast, full = lower(bind_program(Document.parse(text))), program(text)
    assert fast == full
    if full is not None:
        assert [i.line for b in fast.bodies for i in b.instructions] == [
            i.line for b in full.bodies for i in b.instructions
        ]
    return full


@pytest.mark.full
@pytest.mark.corpus
@each_of(texts(), lambda path: f"{path.parent.name}/{path.name}")
def test_every_text_of_the_corpus_gives_the_same_program(path):
    text = read(path)
    assert same(text) is not None or "4.2" in text[:40]


@pytest.mark.parametrize("size", ["", "// GRF size: 64 bytes (said)\n"])
def test_the_size_of_registers_is_found_as_without_templates(size):
    text = size + HEAD + "    addr_add (M1, 1) A0(0)<1> &V34[64] 0x4:uw\n" * 4
    for platform in (None, "TGLLP", "PVC"):
        assert program_of(Document.parse(text), platform_named(platform or "")) == resolve_text(text, platform).module


@pytest.mark.corpus
def test_faulty_texts_give_no_program_by_both_ways():
    found = [same(Path(fault["path"]).read_text(encoding="utf-8", errors="surrogateescape")) for fault in faults()]
    assert None in found


def test_lines_of_one_class_are_bound_once(monkeypatch):
    bound = []
    real = instruction_templates.instruction
    monkeypatch.setattr(
        instruction_templates, "instruction", lambda ctx, node: bound.append(ctx.line) or real(ctx, node)
    )
    names = [f"V{n}" for n in range(40, 90)]
    declared = "".join(f".decl {name} v_type=G type=d num_elts=16 align=GRF\n" for name in names)
    lines = "".join(f"    add (M1, 16) {a}(0,0)<1> {b}(0,0)<1;1,0> 0x7:d\n" for a in names for b in names if a != b)
    text = HEAD + declared + lines
    assert len(program_of(Document.parse(text)).kernels[0].instructions) == 50 * 49
    assert len(bound) == 1
    assert same(text) is not None


# Lines that are alike but for names, and mean something else.
PAIRS = {
    "which names are equal": ("V32(0,0)<1> V32(0,0)<1;1,0> V33", "V32(0,0)<1> V33(0,0)<1;1,0> V33"),
    "names in another order": ("V33(0,0)<1> V32(0,0)<1;1,0> V33", "V33(0,0)<1> V33(0,0)<1;1,0> V32"),
    "more elements": ("V32(0,0)<1> V33(0,0)<1;1,0> V33", "V34(0,0)<1> V33(0,0)<1;1,0> V33"),
    "another type": ("V32(0,0)<1> V33(0,0)<1;1,0> V33", "V35(0,0)<1> V33(0,0)<1;1,0> V33"),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_each_line_has_its_own_variables(pair):
    first, second = (f"    add (M1, 16) {line}(0,0)<1;1,0>\n" for line in PAIRS[pair])
    kernel = same(HEAD + (first * 3 + second * 3) * 2).kernels[0]
    assert kernel.instructions[0] == kernel.instructions[6] != kernel.instructions[3]


def test_operands_of_every_kind_have_their_own_variables():
    lines = []
    for a, p, t in (("A0", "P1", "T6"), ("A1", "P2", "T7"), ("A1", "P1", "T7"), ("A0", "P2", "T6")):
        lines += [
            f"    ({p}) mov (M1, 16) V32(0,0)<1> r[{a}(0),4]<1;1,0>:d\n",
            f"    (!{p}) sel (M1, 16) V33(0,0)<1> V32(0,0)<1;1,0> (-)V34(0,0)<0;1,0>\n",
            f"    cmp.lt (M1, 16) {p} V32(0,0)<1;1,0> V33(0,0)<1;1,0>\n",
            f"    addr_add (M1, 1) {a}(0)<1> &V34[4] 0x4:uw\n",
            f"    gather4_scaled.R (M1, 16) {t} 0x0:ud V32.0 V34.64\n",
            f"    and (M1, 16) {p} P1 P2\n",
        ]
    kernel = same(HEAD + "".join(lines) * 3).kernels[0]
    assert len(set(kernel.instructions)) == 4 + 5 * 2


@pytest.mark.parametrize("name", ["d", "ud", "M1", "M5", "add", "f", "w", "r", "abs", "not", "GRF"])
def test_a_variable_may_have_the_name_of_anything(name):
    other = {"d": "f", "M1": "M5", "ud": "uw"}.get(name, "q")
    declared = "".join(f".decl {word} v_type=G type=d num_elts=16 align=GRF\n" for word in (name, other))
    lines = "".join(
        f"    add ({mask}, 16) {a}(0,0)<1> {b}(0,0)<1;1,0> 0x7:{type_}\n"
        for mask in ("M1", "M5")
        for type_ in ("d", "ud", "uw", "w")
        for a, b in ((name, other), (other, name), ("V32", name), (name, name))
    )
    same(HEAD + declared + lines * 3)


def test_what_asks_for_more_than_a_type_is_bound_each_time():
    sized = [f"    mov (M1, 1) V32(0,0)<1> (%sizeof({name})/4):d\n" for name in ("V33", "V34", "V35", "V33")]
    plain = [f"    mov (M1, 1) V32(0,0)<1> %sizeof({name}):d\n" for name in ("V33", "V34", "V35", "V33")]
    for lines in (sized, plain):
        same(HEAD + "".join(lines) * 3)
    same(HEAD + "    mov (M1, 1) V32(0,0)<1> %DispatchSIMD:d\n" * 3 + ".kernel_attr SimdSize=8\n" * 1)


@pytest.mark.parametrize("number", [1 << 80, (1 << 80) + 1, 1 << 63, (1 << 400) + 5])
def test_no_number_of_a_text_is_taken_for_a_variable(number):
    lines = [f"    mov (M1, 1) V32(0,0)<1> {word}:uq\n" for word in (f"{number:#x}", str(number), f"({number}*1)")]
    lines += [f"    .loc {number}\n", f"    addr_add (M1, 1) A0(0)<1> &V33[{number}] 0x4:uw\n", f"    mov (M1, {number}) V32({number},0)<1> V33(0,0)<0;1,0>\n"]  # fmt: skip
    for line in lines:
        same(HEAD + line * 3)


def test_names_are_those_of_the_body_and_scope():
    body = "    add (M1, 16) V32(0,0)<1> V33(0,0)<1;1,0> V33(0,0)<1;1,0>\n" * 4
    inner = "{\n.decl V33 v_type=G type=w num_elts=16 align=GRF\n" + body + "}\n"
    same(HEAD + body + inner + body)
    second = (
        HEAD.replace(".version 4.1\n", "")
        .replace('"k"', '"l"')
        .replace(".decl V32", ".decl V31x v_type=G type=d num_elts=1\n.decl V32")
    )
    same(HEAD + body + second + body)


def test_labels_stay_labels():
    jumps = "".join(f"    ({p}) goto (M1, 16) {label}\n" for p in ("P1", "P2") for label in ("one", "two", "one"))
    kernel = same(HEAD + jumps * 3 + "one:\n    ret (M1, 1)\ntwo:\n    ret (M1, 1)\n").kernels[0]
    assert [label.kind for label in kernel.labels] == [0, 0]
    assert same(HEAD + jumps * 3 + "one:\n    ret (M1, 1)\n") is None


# Behind two declarations of a class: a third one, and whether there is a program.
DECLARATIONS = {
    ".decl V40 v_type=G type=d num_elts=16 align=GRF": True,
    ".decl V32 v_type=G type=d num_elts=16 align=GRF": False,
    ".decl V5 v_type=G type=d num_elts=16 align=GRF": False,
    ".decl V40 v_type=G type=d num_elts=16 align=GRF alias=<V33, 8>": True,
    ".decl V40 v_type=G type=d num_elts=16 align=GRF alias=<V40, 8>": False,
    ".decl V40 v_type=G type=d num_elts=16 align=GRF alias=<%r0, 0>": True,
    ".decl V40 v_type=G type=d num_elts=16 align=GRF alias=<V99, 0>": False,
    ".decl V40 v_type=G type=d num_elts=16 align=GRF alias=<V33, 65544>": True,
    ".decl V40 v_type=G type=d num_elts=16 align=GRF alias=<A0, 8>": True,
    ".decl V40 v_type=G type=d num_elts=17 align=GRF": True,
    ".decl V40 v_type=G type=d num_elts=16 align=GRF }": False,
    ".decl P40 v_type=P num_elts=16": True,
    "    .decl V40 v_type=G type=d num_elts=16 align=GRF": True,
    ".decl d v_type=G type=d num_elts=16 align=GRF": True,
}


@pytest.mark.parametrize("line", DECLARATIONS)
def test_declarations_have_their_own_names_and_aliases(line):
    known = (
        ".decl V38 v_type=G type=d num_elts=16 align=GRF alias=<V32, 4>\n"
        ".decl V39 v_type=G type=d num_elts=16 align=GRF alias=<V38, 12>\n"
    )
    found = same(HEAD + known + line + "\n    add (M1, 16) V38(0,0)<1> V39(0,0)<1;1,0> V33(0,0)<1;1,0>\n")
    assert (found is not None) is DECLARATIONS[line]


@pytest.mark.parametrize("seed", range(20))
def test_texts_with_random_damage_give_the_same(seed):
    draw = random.Random(seed)
    lines = read(draw.choice([path for path in texts() if path.stat().st_size < 30_000])).split("\n")
    for _ in range(6):
        at = draw.randrange(len(lines))
        line = lines[at]
        cut = draw.randrange(len(line) + 1)
        other = draw.choice(lines)
        lines[at] = draw.choice(
            [line[:cut], line[:cut] + other[cut:], line[:cut] + "\x01" + line[cut:], other, "{ " + line]
        )
    same("\n".join(lines))
