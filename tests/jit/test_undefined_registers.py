"""Registers that may be undefined: compiled code under checkers reports what the interpreter does, and runs what is clean.

The programs are drawn by chance: moves under masks, without them and through address variables, branches, loops, and
predicates as numbers, of which compilers make the loops over the lanes with equal values.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from test_compiled_faults import HEAD, LAUNCH, told
from unjudged_run import run_unjudged

from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.runner import RunOptions
from visa_lsp.sim.jit import native

pytestmark = pytest.mark.usefixtures("at_once")

VARIABLES = "abcd"
DECLARATIONS = "".join(f".decl {name} v_type=G type=d num_elts=16 align=GRF\n" for name in VARIABLES) + (
    ".decl s v_type=G type=d num_elts=1\n.decl n v_type=G type=d num_elts=1\n"
    ".decl bits v_type=G type=ud num_elts=1\n.decl mask v_type=G type=ud num_elts=1\n"
    ".decl offset v_type=G type=uw num_elts=16 align=GRF\n"
    ".decl A0 v_type=A num_elts=16\n.decl A1 v_type=A num_elts=16\n.decl P2 v_type=P num_elts=16\n.decl P3 v_type=P num_elts=16\n"
)
BEGIN = """    mov (M1, 16) at(0,0)<1> ids(0,0)<1;1,0>
    shl (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x2:ud
    mov (M1_NM, 1) s(0,0)<1> 0x0:d
    cmp.lt (M1, 16) P1 ids(0,0)<1;1,0> 0x5:uw
    cmp.lt (M1, 16) P2 ids(0,0)<1;1,0> 0xb:uw
"""
INDIRECT = (
    BEGIN
    + """    mov (M1_NM, 16) a(0,0)<1> ids(0,0)<1;1,0>
    mov (M1_NM, 16) c(0,0)<1> 0x1:d
    (P1) mov (M1, 16) b(0,0)<1> ids(0,0)<1;1,0>
    shl (M1_NM, 16) offset(0,0)<1> ids(0,0)<1;1,0> 0x2:uw
    addr_add (M1_NM, 16) A0(0)<1> &a offset(0,0)<1;1,0>
    addr_add (M1_NM, 16) A1(0)<1> &b offset(0,0)<1;1,0>
"""
)
STORED = "    {}scatter4_scaled.R (M1, 16) x 0x0:ud at.0 {}.0\n    ret (M1, 1)\n"


def region(name):
    return f"{name}(0,0)<1;1,0>"


def statements(draw, depth=0):
    """Yield the lines of some statements."""
    for _ in range(draw.randint(2, 5)):
        to, one, other = (draw.choice(VARIABLES) for _ in range(3))
        mask, pred = draw.choice(["M1", "M1", "M1_NM"]), draw.choice(["", "", "(P1) ", "(!P2) ", "(P3) "])
        match draw.randrange(15):
            case 0 | 1:
                yield f"    {pred}mov ({mask}, 16) {to}(0,0)<1> {region('ids')}"
            case 2:
                yield f"    {pred}mov ({mask}, 16) {to}(0,0)<1> {region(one)}"
            case 3:
                yield f"    {pred}add ({mask}, 16) {to}(0,0)<1> {region(one)} {region(other)}"
            case 4:
                yield f"    mov ({mask}, 1) s(0,0)<1> {one}(0,{draw.randrange(8)})<0;1,0>"
            case 5:
                yield f"    add ({mask}, 16) {to}(0,0)<1> {region(one)} s(0,0)<0;1,0>"
            case 6:
                yield f"    cmp.{draw.choice(['lt', 'ne'])} ({mask}, 16) P3 {region(draw.choice(['ids', one]))} {draw.randrange(12)}:w"
            case 7:
                yield f"    {draw.choice(['not', 'mov'])} ({mask}, 16) P3 P{draw.randint(1, 3)}".replace("mov", "not")
            case 8:
                yield f"    and ({mask}, 16) offset(0,0)<1> {region('ids')} 0x{draw.choice([3, 7, 15]):x}:uw"
                yield f"    shl ({mask}, 16) offset(0,0)<1> {region('offset')} 0x2:uw"
                yield f"    addr_add ({mask}, 16) A0(0)<1> &{one} {region('offset')}"
                yield f"    mov ({mask}, 16) {to}(0,0)<1> r[A0(0),0]<1,0>:d"
            case 11:
                yield f"    mov (M1_NM, 1) bits(0,0)<1> P{draw.randint(1, 3)}"
            case 12:
                word = draw.choice(["and", "or", "xor"])
                other = draw.choice(["mask(0,0)<0;1,0>", "(~)mask(0,0)<0;1,0>", "0xf0f:ud", "0xffff:ud"])
                yield f"    {word} (M1_NM, 1) bits(0,0)<1> bits(0,0)<0;1,0> {other}"
                yield f"    mov (M1_NM, 1) mask(0,0)<1> P{draw.randint(1, 3)}"
            case 13:
                yield f"    setp (M1_NM, 16) P3 {draw.choice(['bits(0,0)<0;1,0>', '0x0:ud', '0x33:ud'])}"
            case 14:
                word = draw.choice(["and", "or", "xor"])
                one, other = (f"P{draw.randint(1, 3)}" for _ in range(2))
                if draw.random() < 0.5:
                    yield f"    {word} ({mask}, 16) P3 {one} {other}"
                else:
                    yield f"    (P3{draw.choice(['', '.any', '.all'])}) mov ({mask}, 16) {to}(0,0)<1> {region('ids')}"
            case 9 if depth < 2:
                label = f"l{draw.randrange(1 << 30)}"
                yield f"    (P{draw.randint(1, 3)}) goto (M1, 16) {label}"
                yield from statements(draw, depth + 1)
                yield f"{label}:"
            case 10 if depth == 0:
                label = f"r{draw.randrange(1 << 30)}"
                yield "    mov (M1_NM, 1) n(0,0)<1> 0x0:d"
                yield f"{label}:"
                yield from statements(draw, 2)
                yield "    add (M1_NM, 1) n(0,0)<1> n(0,0)<0;1,0> 0x1:d"
                yield "    cmp.lt (M1, 16) P2 n(0,0)<0;1,0> 0x3:d"
                yield f"    (P2) goto (M1, 16) {label}"
                yield "    cmp.lt (M1, 16) P2 ids(0,0)<1;1,0> 0xb:uw"
            case _:
                yield f"    {pred}scatter4_scaled.R (M1, 16) x 0x0:ud at.0 {one}.0"


def ran(text, local, engine):
    launch = parse_launch(LAUNCH.format(groups=2, local=local, more="", init="zeros"), Path("k.launch.yaml"))
    return run_unjudged(text, launch, RunOptions(platform="TGLLP", engine=engine, checks="races,uninitialised"))


def compare(number):
    """Run a program on both engines; return the engine behind the report of the second."""
    draw = random.Random(number)
    text = "\n".join([HEAD + DECLARATIONS + BEGIN, *statements(draw), "    ret (M1, 1)\n"])
    local = draw.choice([16, 11])
    expected, found = (ran(text, local, engine) for engine in ("interp", "jit"))
    assert told(found) == told(expected), text
    assert (found.buffers[0].array == expected.buffers[0].array).all(), text
    return found.engine if not told(expected) else "fault"


@pytest.mark.full
@pytest.mark.parametrize("part", range(25))
def test_programs_by_chance(part, monkeypatch):
    monkeypatch.setattr(native, "LEVEL", 0)
    engines = [compare(number) for number in range(30 * part, 30 * part + 30)]
    assert {"jit", "fault"} <= set(engines)


@pytest.mark.parametrize(
    ("line", "stored", "engine"),
    [
        ("add (M1, 16) c(0,0)<1> r[A0(0),0]<1,0>:d r[A1(0),0]<1,0>:d", "c", "fault"),
        ("add (M1, 16) c(0,0)<1> r[A0(0),0]<1,0>:d r[A1(0),0]<1,0>:d", "(P1) c", "jit"),
        ("subb (M1, 16) c(0,0)<1> r[A1(0),0]<1>:ud c(0,0)<1;1,0> 0x2:ud", "b", "jit"),
        ("(P1) subb (M1, 16) c(0,0)<1> r[A1(0),0]<1>:ud c(0,0)<1;1,0> 0x2:ud", "b", "fault"),
        ("madw (M1, 16) r[A1(0),0]<1>:d c(0,0)<1;1,0> c(0,0)<1;1,0> c(0,0)<1;1,0>", "b", "jit"),
        ("(P1) madw (M1, 16) r[A1(0),0]<1>:d c(0,0)<1;1,0> c(0,0)<1;1,0> c(0,0)<1;1,0>", "b", "fault"),
    ],
)
def test_operands_of_address_variables(line, stored, engine, monkeypatch):
    monkeypatch.setattr(native, "LEVEL", 0)
    predicate, _, variable = stored.rpartition(" ")
    text = HEAD + DECLARATIONS + INDIRECT + f"    {line}\n" + STORED.format(predicate and f"{predicate} ", variable)
    expected, found = (ran(text, 16, engine) for engine in ("interp", "jit"))
    assert told(found) == told(expected)
    assert (found.buffers[0].array == expected.buffers[0].array).all()
    assert (found.engine if not told(expected) else "fault") == engine
