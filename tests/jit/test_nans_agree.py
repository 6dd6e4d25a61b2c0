"""Bits of NaNs: both engines give the same ones, for each float word, type, width and mode. The rule is that of ``sim.words``."""

from __future__ import annotations

import ctypes
import itertools
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

import llvmlite.binding as llvm
from llvmlite import ir
from tiers import first
from unjudged_run import run_unjudged

from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.runner import RunOptions
from visa_lsp.sim.jit import arithmetic, native
from visa_lsp.sim.jit.writer import F32, F64, vector

pytestmark = pytest.mark.usefixtures("at_once")

GROUPS = 12
# Bits of each type: quiet NaNs and such that signal, of both signs, infinity, zeros, numbers, a denormal.
SPECIAL = {
    "f": [0x7FC00000, 0xFFC00000, 0x7FC01234, 0xFFE54321, 0x7F800001, 0xFF812345, 0x7FBFE000, 0x7F800000, 0xFF800000, 0, 0x80000000, 0x3F800000, 0xC0490FDB, 0x7F7FFFFF, 0x00000123],
    "hf": [0x7E00, 0xFE00, 0x7E12, 0xFF43, 0x7C01, 0xFD23, 0x7DFF, 0x7C00, 0xFC00, 0, 0x8000, 0x3C00, 0xC248, 0x7BFF, 0x0012],
    "df": [0x7FF8 << 48, 0xFFF8 << 48, 0x7FF8000000012345, 0xFFF9876543210000, 0x7FF0000000000001, 0xFFF0123400000000, 0x7FF7FFFFE0000000, 0x7FF0 << 48, 0xFFF0 << 48, 0, 1 << 63, 0x3FF0 << 48, 0xC00921FB54442D18, 0x7FEFFFFFFFFFFFFF, 0x123],
}  # fmt: skip
BYTES = {"f": 4, "hf": 2, "df": 8}
WORDS = {
    "add": (2, {"f", "hf", "df"}), "mul": (2, {"f", "hf", "df"}), "div": (2, {"f", "hf", "df"}), "mad": (3, {"f", "hf", "df"}),
    "add.sat": (2, {"f", "hf", "df"}), "min": (2, {"f", "hf", "df"}), "max": (2, {"f", "hf", "df"}), "divm": (2, {"f", "df"}),
    "lrp": (3, {"f"}), "frc": (1, {"f", "hf"}), "inv": (1, {"f", "hf", "df"}), "sqrt": (1, {"f", "hf", "df"}),
    "sqrtm": (1, {"f", "df"}), "rsqrt": (1, {"f", "hf"}), "rndd": (1, {"f", "hf"}), "rndu": (1, {"f", "hf"}), "rnde": (1, {"f", "hf"}),
    "rndz": (1, {"f", "hf"}), "pow": (2, {"f", "hf"}), "(P1) sel": (2, {"f", "hf", "df"}), "mov": (1, {"f", "hf", "df"}),
}  # fmt: skip
OFTEN = ("add", "mul", "div", "mad", "min", "mov")
MODIFIERS = ("", "(-)", "(abs)", "(-abs)")
MODES = {"to nearest": 0, "denormals stay": 0x4C0, "up": 0x10, "to zero, denormals stay": 0x4F0}


def lines_of(type_, width):
    """Instructions into ``r``: each word with each modifier at each source, and with an immediate; conversions there and back."""
    region = "<0;1,0>" if width == 1 else "<1;1,0>"
    made = []
    for word, (count, types) in WORDS.items():
        predicate, _, mnemonic = word.rpartition(" ")
        if type_ not in types:
            continue
        for turn in range(4 if word in OFTEN else 2):
            sources = [f"{MODIFIERS[turn * (i + 1) % 4]}{name}(0,0){region}" for i, name in enumerate("abc"[:count])]
            made.append(f"{predicate} {mnemonic} (M1_NM, {width}) r(0,0)<1> {' '.join(sources)}")
        if count > 1:
            nan = {"f": "0xffc00777:f", "hf": "0xfe07:hf", "df": "0xfff8000000000777:df"}[type_]
            made.append(f"{predicate} {mnemonic} (M1_NM, {width}) r(0,0)<1> {' '.join([nan, *sources[1:]])}")
    others = [t for t in BYTES if t != type_ and {t, type_} != {"hf", "df"}]
    for other in others:
        made.append(
            f"mov (M1_NM, {width}) o{other}(0,0)<1> (-)a(0,0){region}\n    mov (M1_NM, {width}) r(0,0)<1> (abs)o{other}(0,0){region}"
        )
        made.append(
            f"mov (M1_NM, {width}) o{other}(0,0)<1> a(0,0){region}\n    mov (M1_NM, {width}) r(0,0)<1> o{other}(0,0){region}"
        )
        made.append(
            f"mov (M1_NM, {width}) o{other}(0,0)<1> a(0,0){region}\n    add (M1_NM, {width}) r(0,0)<1> o{other}(0,0){region} b(0,0){region}"
        )
    # What is negated before it comes to an operation, or behind it, and what the compiler knows.
    made += [
        f"mov (M1_NM, {width}) t(0,0)<1> (-)b(0,0){region}\n    {op} (M1_NM, {width}) r(0,0)<1> a(0,0){region} (-)t(0,0){region}"
        for op in ("add", "mul")
    ]
    made.append(
        f"mul (M1_NM, {width}) t(0,0)<1> a(0,0){region} (-)b(0,0){region}\n    add (M1_NM, {width}) r(0,0)<1> c(0,0){region} (-)t(0,0){region}"
    )
    if type_ == "f":
        known = f"mov (M1_NM, {width}) k(0,0)<1> 0x7f800123:ud\n    "
        made += [
            f"{known}{op} (M1_NM, {width}) r(0,0)<1> {x} {y}"
            for op in ("add", "mul", "div")
            for x, y in ((f"(-)kf(0,0){region}", "2.0:f"), ("0xffc00777:f", f"kf(0,0){region}"))
        ]
        made.append(
            f"mov (M1_NM, {width}) k(0,0)<1> 0xc0800000:ud\n    sqrt (M1_NM, {width}) r(0,0)<1> kf(0,0){region}"
        )
    return made


def text_of(lines, type_, mode):
    """Return a kernel that reads its group's a, b and c and writes what each of the lines leaves."""
    names = [f".decl {n} v_type=G type={type_} num_elts=32 align=GRF\n" for n in "abcrt"]
    names += [f".decl o{t} v_type=G type={t} num_elts=32 align=GRF\n" for t in BYTES]
    for place in range(0, 256, 128):
        names.append(
            f".decl z{place} v_type=G type=ud num_elts=32 align=GRF alias=<r, {place}>\n"
            if BYTES[type_] * 32 > place
            else ""
        )
    parts = range(0, max(128, 32 * BYTES[type_]), 128)
    reads = [
        f"    oword_ld (8) x at(0,0)<0;1,0> {n}.{p}\n    add (M1_NM, 1) at(0,0)<1> at(0,0)<0;1,0> 0x8:ud\n"
        for n in "abc"
        for p in parts
    ]
    change = f"    xor (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> {mode:#x}:ud\n" if mode else ""
    body = []
    for line in lines:
        body += [change, f"    {line.strip()}\n", change]
        body += [
            f"    oword_st (8) y to(0,0)<0;1,0> r.{p}\n    add (M1_NM, 1) to(0,0)<1> to(0,0)<0;1,0> 0x8:ud\n"
            for p in parts
        ]
    return (
        f""".version 4.1
.kernel "k"
.decl x v_type=T num_elts=1
.decl y v_type=T num_elts=1
.decl at v_type=G type=ud num_elts=1 align=dword
.decl to v_type=G type=ud num_elts=1 align=dword
.decl k v_type=G type=ud num_elts=32 align=GRF
.decl kf v_type=G type=f num_elts=32 align=GRF alias=<k, 0>
{"".join(names)}.decl P1 v_type=P num_elts=32
.decl group v_type=G type=ud num_elts=1 align=dword alias=<%r0, 4>
.input x offset=64 size=4
.input y offset=68 size=4
.kernel_attr SimdSize=16
    setp (M1_NM, 32) P1 0x5a3c96f0:ud
    mul (M1_NM, 1) at(0,0)<1> group(0,0)<0;1,0> {24 * len(parts):#x}:ud
    mul (M1_NM, 1) to(0,0)<1> group(0,0)<0;1,0> {8 * len(parts) * len(lines):#x}:ud
{"".join(reads)}{"".join(body)}    ret (M1, 1)
""",
        len(parts),
    )


def ran(lines, type_, width, mode, engine_name, folder):
    text, parts = text_of(lines, type_, mode)
    random = np.random.default_rng(3)
    kind = f"<u{BYTES[type_]}"
    data = random.choice(np.array(SPECIAL[type_], np.uint64).astype(kind), GROUPS * 3 * parts * 128 // BYTES[type_])
    np.save(folder / "x.npy", data.view(np.uint32))
    launch = f"""groups: [{GROUPS}, 1, 1]
local_size: [1, 1, 1]
args:
  x: {{buffer: {{dtype: uint32, shape: [{GROUPS * 3 * parts * 32}], npy: x.npy}}}}
  y: {{buffer: {{dtype: uint32, shape: [{GROUPS * len(lines) * parts * 32}], init: zeros}}}}
"""
    report = run_unjudged(
        text,
        parse_launch(launch, folder / "k.launch.yaml"),
        RunOptions(platform="SKL", engine=engine_name, checks="none"),
    )
    assert (report.engine, report.faults) == (engine_name, ())
    left = report.buffers[1].array.view(kind).reshape(GROUPS, len(lines), -1)
    return data.reshape(GROUPS, 3, -1)[:, :, :width], left[:, :, :width]


def told(lines, sources, expected, found):
    """Return the first lane that differs: line, sources, results."""
    group, line, lane = np.argwhere(expected != found)[0]
    return f"{lines[line]}: {[hex(v) for v in sources[group, :, lane]]} gives {expected[group, line, lane]:#x} and {found[group, line, lane]:#x}"


# By default one case, which has conversions between two types and several registers.
BY_DEFAULT = [("hf", 32, "denormals stay")]
WIDE, IN_MODES = itertools.product(SPECIAL, (1, 2, 8, 16, 32), ["to nearest"]), itertools.product(SPECIAL, [8], MODES)
CASES = list(dict.fromkeys([*BY_DEFAULT, *WIDE, *IN_MODES]))


@pytest.mark.parametrize("case", first(len(BY_DEFAULT), CASES), ids=lambda case: "-".join(map(str, case)))
def test_engines_give_the_same_nans(case, monkeypatch, tmp_path):
    type_, width, mode = case
    lines = lines_of(type_, width)
    sources, expected = ran(lines, type_, width, MODES[mode], "interp", tmp_path)

    def compare(level):
        monkeypatch.setattr(native, "LEVEL", level)
        _, found = ran(lines, type_, width, MODES[mode], "jit", tmp_path)
        assert np.array_equal(expected, found), told(lines, sources, expected, found)

    compare(2)
    if width == 8 and mode in ("to nearest", "to zero, denormals stay"):
        compare(0)
        monkeypatch.setattr(native, "vector_bytes", lambda: 0)  # as on a host that has no such instructions
        compare(2)


WIDTHS = (1, 2, 4, 8, 16, 32)


def module_of(kind, words=("add", "sub", "mul", "div", "fma", "sqrt")):
    """Return a module whose functions read a, b and c and write what an operation makes of them."""
    module = ir.Module()
    for word in words:
        pointers = [ir.PointerType()] * 4
        function = ir.Function(module, ir.FunctionType(ir.VoidType(), pointers), f"do_{word}")
        builder = ir.IRBuilder(function.append_basic_block())
        count = {"sqrt": 1, "fma": 3}.get(word, 2)
        sources = [builder.load(a, typ=kind, align=1) for a in function.args[:count]]
        found = getattr(arithmetic, word)(SimpleNamespace(module=module, builder=builder), *sources)
        builder.store(found, function.args[3], align=1)
        builder.ret_void()
    return module


@pytest.fixture
def has_instructions():
    if not native.vector_bytes():
        pytest.skip("the host has no instructions of three operands")
    native._target()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("element", [F32, F64], ids=str)
def test_the_largest_registers_are_used_where_they_are(element, width, monkeypatch, has_instructions):
    """The text only: what assembles it does not have to have them."""
    monkeypatch.setattr(native, "vector_bytes", lambda: 64)
    machine = llvm.Target.from_default_triple().create_target_machine(cpu="skylake-avx512")
    made = machine.emit_assembly(llvm.parse_assembly(str(module_of(vector(element, width)))))
    machine.emit_object(llvm.parse_assembly(str(module_of(vector(element, width)))))
    assert ("zmm" in made) == (width * {F32: 4, F64: 8}[element] >= 64)


@pytest.mark.parametrize("word", ["add", "mul"])
def test_no_assembler_swaps_sources(word, has_instructions):
    """It would, for a shorter encoding, where only the second is in one of the upper registers."""
    text = str(module_of(vector(F32, 8), (word,)))
    assert '"=x,x,x"' in text
    text = text.replace('"=x,x,x"', '"={ymm0},{ymm1},{ymm9}"')
    machine = native._machine()
    engine_ = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine_.add_object_file(llvm.ObjectFileRef.from_data(machine.emit_object(llvm.parse_assembly(text))))
    engine_.finalize_object()
    a, b, c = (np.full(8, bits, np.uint32) for bits in (0x7FC00001, 0xFFC00002, 0))
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(engine_.get_function_address(f"do_{word}"))
    function(a.ctypes.data, b.ctypes.data, c.ctypes.data, c.ctypes.data)
    assert {hex(v) for v in c} == {"0x7fc00001"}
