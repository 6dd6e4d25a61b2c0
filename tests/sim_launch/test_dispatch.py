"""How threads are made: media and GPGPU modes, three dimensions, every SIMD width, several files, barriers by name.

Programs are texts, launched by launch files as users do; those of the compiler come with zebin.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from corpus import place

from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.runner import RunOptions, run_text
from visa_lsp.cli.main import main

HEAD = """.version 4.1
.kernel "k"
.decl out v_type=T num_elts=1
.decl at v_type=G type=ud num_elts=32 align=GRF
.decl value v_type=G type=ud num_elts=32 align=GRF
.decl one v_type=G type=ud num_elts=1 align=GRF
"""


def launched(text, launch, **more):
    report = run_text(text, parse_launch(launch, Path("k.launch.yaml")), RunOptions(engine="interp", **more))
    assert [str(f) for f in report.faults] == []
    return report


def buffers(report):
    return {b.arg: b.array for b in report.buffers}


def test_media_mode_gives_each_thread_its_place():
    text = (
        HEAD
        + """
.input out offset=32 size=4
.kernel_attr Target="cm"
.kernel_attr SimdSize=1
    mul (M1_NM, 1) at(0,0)<1> %thread_y(0,0)<0;1,0> 0x5:ud
    add (M1_NM, 1) at(0,0)<1> at(0,0)<0;1,0> %thread_x(0,0)<0;1,0>
    shl (M1_NM, 1) value(0,0)<1> %thread_y(0,0)<0;1,0> 0x10:ud
    add (M1_NM, 1) value(0,0)<1> value(0,0)<0;1,0> %thread_x(0,0)<0;1,0>
    shl (M1_NM, 1) at(0,0)<1> at(0,0)<0;1,0> 0x2:ud
    scatter4_scaled.R (M1_NM, 1) out 0x0:ud at.0 value.0
    ret (M1_NM, 1)
"""
    )
    report = launched(text, "mode: media\nthreads: [5, 3]\nargs: {out: {buffer: {dtype: uint32, shape: [3, 5]}}}\n")
    assert buffers(report)["out"].tolist() == [[y << 16 | x for x in range(5)] for y in range(3)]
    assert report.result.threads == 15


@pytest.mark.parametrize(
    ("platform", "simd"), [("TGLLP", 8), ("TGLLP", 16), ("TGLLP", 32), ("PVCXT", 16), ("PVCXT", 32)]
)
def test_ids_in_three_dimensions(simd, platform):
    """Each work item writes all its ids at its linear place; the last thread of a group is filled in part."""
    groups, local = (2, 3, 2), (5, 2, 3)
    grf = 64 if platform == "PVCXT" else 32
    ids = "".join(
        f".decl local_id_{d} v_type=G type=uw num_elts={simd} align=GRF\n.input local_id_{d} offset={grf + 64 * i} size={2 * simd}\n"
        for i, d in enumerate("xyz")
    )
    decls, inputs = (
        "\n".join(line for line in ids.splitlines() if line.startswith(start)) for start in (".decl", ".input")
    )
    lines = []
    for d, size, g in reversed(list(zip("xyz", local, groups, strict=True))):
        # value = ((value * groups + group) * local size + local id), z first
        lines += [f"mul (M1, {simd}) value(0,0)<1> value(0,0)<1;1,0> {size}:ud",
                  f"add (M1, {simd}) value(0,0)<1> value(0,0)<1;1,0> local_id_{d}(0,0)<1;1,0>",
                  f"mul (M1, {simd}) at(0,0)<1> at(0,0)<1;1,0> {g}:ud",
                  f"add (M1, {simd}) at(0,0)<1> at(0,0)<1;1,0> %group_id_{d}(0,0)<0;1,0>"]  # fmt: skip
    items = local[0] * local[1] * local[2]
    text = (
        f"""{HEAD}{decls}
{inputs}
.input out offset={grf + 192} size=4
.kernel_attr Target="cm"
.kernel_attr SimdSize={simd}
    mov (M1, {simd}) value(0,0)<1> 0x0:ud
    mov (M1, {simd}) at(0,0)<1> 0x0:ud
    {chr(10).join("    " + line for line in lines).strip()}
    mul (M1, {simd}) at(0,0)<1> at(0,0)<1;1,0> {items}:ud
    add (M1, {simd}) at(0,0)<1> at(0,0)<1;1,0> value(0,0)<1;1,0>
    shl (M1, {simd}) at(0,0)<1> at(0,0)<1;1,0> 0x2:ud
    add (M1, {simd}) value(0,0)<1> value(0,0)<1;1,0> 0x64:ud
"""
        + "\n".join(
            f"    scatter4_scaled.R ({m}, {min(simd, 16)}) out 0x0:ud at.{o} value.{o}"
            for m, o in [("M1", 0), ("M5", 64)][: 1 + (simd == 32)]
        )
        + "\n    ret (M1, 1)\n"
    )
    total = items * 12
    report = launched(text, f"platform: {platform}\ngroups: {list(groups)}\nlocal_size: {list(local)}\n"
                            f"args: {{out: {{buffer: {{dtype: uint32, shape: [{total}]}}}}}}\n")  # fmt: skip
    assert buffers(report)["out"].tolist() == [100 + i for i in range(items)] * 12
    assert (report.result.groups, report.result.threads) == (12, 12 * -(-items // simd))


def test_simd1_runs_one_item_a_thread():
    text = (
        HEAD
        + """
.decl local_id_x v_type=G type=uw num_elts=1 align=GRF
.input local_id_x offset=32 size=2
.input out offset=64 size=4
.kernel_attr Target="cm"
.kernel_attr SimdSize=1
    shl (M1_NM, 1) at(0,0)<1> local_id_x(0,0)<0;1,0> 0x2:ud
    add (M1_NM, 1) value(0,0)<1> local_id_x(0,0)<0;1,0> 0x7:ud
    scatter4_scaled.R (M1_NM, 1) out 0x0:ud at.0 value.0
    ret (M1_NM, 1)
"""
    )
    report = launched(text, "groups: [1]\nlocal_size: [6]\nargs: {out: {buffer: {dtype: uint32, shape: [6]}}}\n")
    assert buffers(report)["out"].tolist() == [7, 8, 9, 10, 11, 12]
    assert report.result.threads == 6


def test_named_barrier_orders_producer_and_consumer():
    """Thread 0 reads what thread 1 wrote before it signalled barrier 3; it runs first and has to wait."""
    text = (
        HEAD
        + """
.decl P1 v_type=P num_elts=1
.input out offset=64 size=4
.kernel_attr Target="cm"
.kernel_attr SimdSize=16
    mov (M1_NM, 1) at(0,0)<1> 0x0:ud
    cmp.eq (M1_NM, 1) P1 %hw_id(0,0)<0;1,0> 0x0:ud
    (P1) jmp (M1_NM, 1) consumer
    mov (M1_NM, 1) value(0,0)<1> 0x2a:ud
    scatter4_scaled.R (M1_NM, 1) %slm 0x0:ud at.0 value.0
    nbarrier.signal 0x3:ub 0x2:ub
    ret (M1_NM, 1)
consumer:
    nbarrier.signal 0x3:ub 0x2:ub
    nbarrier.wait 0x3:ub
    gather4_scaled.R (M1_NM, 1) %slm 0x0:ud at.0 value.0
    scatter4_scaled.R (M1_NM, 1) out 0x0:ud at.0 value.0
    ret (M1_NM, 1)
"""
    )
    launch = "platform: PVCXT\ngroups: [1]\nlocal_size: [32]\nargs: {out: {buffer: {dtype: uint32, shape: [1]}}}\n"
    assert buffers(launched(text, launch))["out"].tolist() == [42]


@pytest.fixture
def command(here):
    return lambda *words: main(["run", *words])


def test_written_image_comes_back(command, capsys):
    for name in ("swizzle.visaasm", "pixels.zebin"):
        shutil.copy(place("run/TGLLP/pixels") / name, name)
    pixels = np.random.default_rng(1).integers(0, 255, (6, 10, 4), np.uint8)
    np.save("in.npy", pixels)
    Path("swizzle.launch.yaml").write_text(
        "zebin: pixels.zebin\ngroups: [2, 3]\nlocal_size: [5, 2]\nargs:\n"
        "  - {image: {dtype: uint8, npy: in.npy, format: uint8}}\n"
        "  - {image: {dtype: uint8, shape: [6, 10, 4], format: uint8}}\n"
    )
    assert command("swizzle.visaasm", "--out", "out", "--format", "json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["opcodes"]["scatter4_typed"] == 24
    assert np.array_equal(np.load("out/arg1.npy"), pixels[..., ::-1])


def test_printf_is_in_the_report(command, capsys):
    for name in ("talk.visaasm", "talk.zebin"):
        shutil.copy(place("run/TGLLP/talk") / name, name)
    Path("talk.launch.yaml").write_text(
        "zebin: talk.zebin\ngroups: [1]\nlocal_size: [2]\nargs:\n  - {buffer: {dtype: float32, values: [0.5, -2]}}\n  - {value: 2}\n"
    )
    assert command("talk.visaasm") == 0
    assert (
        "  printed: item 0 has 0.500000\n  printed: item 1 has -2.000000\n"
        "  printed: vector 7,8,9,-1 char q long 17179869184 hex 0x2002\n" in capsys.readouterr().out
    )
    assert command("talk.visaasm", "--format", "json") == 0
    assert (
        json.loads(capsys.readouterr().out)["printed"].splitlines()[2]
        == "vector 7,8,9,-1 char q long 17179869184 hex 0x2002"
    )


def printed(form, *arguments):
    """Return the text of one record: arguments are (type, length of a vector or 0, bytes)."""
    import struct

    from visa_lsp.sim.memory import Memory
    from visa_lsp.sim.printf import text_of

    memory = Memory()
    string = memory.allocate("strings", bytearray(form.encode() + b"\0"))
    record = struct.pack("<Q", string.address)
    for kind, count, data in arguments:
        record += struct.pack("<I", kind) + (struct.pack("<I", count) if count else b"") + data
    buffer = memory.allocate("printf", bytearray(struct.pack("<I", 4 + len(record)) + record))
    return text_of(buffer, memory)


def test_printf_knows_vectors_lengths_and_hexadecimal_floats():
    """Layouts measured on what the 2022 compiler's kernels write: short elements lie side by side, with room to spare."""
    import struct

    shorts = struct.pack("<8h", 1, 2, 3, 4, 5, 6, 7, -8).ljust(32, b"\0")
    assert printed("%v8hd|", (10, 8, shorts)) == "1,2,3,4,5,6,7,-8|"
    assert (
        printed(
            "%v3hhu %v2hx",
            (9, 3, bytes([200, 1, 255]).ljust(12, b"\0")),
            (10, 2, struct.pack("<2h", -1, 5).ljust(8, b"\0")),
        )
        == "200,1,255 ffff,5"
    )
    assert printed("%a %A", (4, 0, struct.pack("<f", 0.5)), (4, 0, struct.pack("<f", -3.140625))) == "0x1p-1 -0X1.92P+1"
    assert printed("%lu %x", (6, 0, bytes([255] * 8)), (3, 0, bytes([255] * 4))) == f"{2**64 - 1} ffffffff"
    assert printed("%v2f", (13, 2, struct.pack("<2f", 0.5, -1.5))) == "0.500000,-1.500000"


def test_trace_shows_chosen_threads(command, capsys):
    for name in ("saxpy.visaasm", "saxpy.launch.yaml"):
        shutil.copy(Path(__file__).parents[2] / "examples" / name, name)
    assert command("saxpy.visaasm", "--trace", "6,0") == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("[")]
    assert all(line.startswith("[6,0,0].0 #") for line in lines)
    assert lines[0].startswith("[6,0,0].0 #0 line 40 0xffff: mul (M1_NM, 1) group_base(0,0)<1> ")
    assert lines[0].endswith("// group_base = 96")
    assert lines[3].endswith("// P1 = 0xf")
    assert "0xf: mad" in lines[8]
    assert lines[-1].endswith("ret (M1, 1)")
