"""New OpenCL kernels, compiled here: the installed finalizer and we agree on their objects.

``ocloc`` prints the text, the stock ``GenX_IR`` accepts it and writes its object. It truncates each instruction (a known
bug, REAL_FORMAT section 1), so that its bytes are ours cut after as many items as the instruction has operands. Read by
it, our object prints the same text.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from corpus import code_lines

from visa_lsp.codec.encode import encode, instruction_offsets
from visa_lsp.codec.instruction_writer import InstructionWriter
from visa_lsp.codec.layout import summary
from visa_lsp.isa.model import FieldKind
from visa_lsp.sema.lower import assemble

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(
    not (shutil.which("ocloc") and shutil.which("GenX_IR")),
    reason="ocloc or GenX_IR is not installed: apt-get install libigc-tools intel-opencl-icd",
)

SOURCE = """
__kernel void gather_scale(__global const float *in, __global const int *at, __global float *out, float k, int n) {
    int i = get_global_id(0);
    if (i < n) {
        int j = at[i];
        out[i] = j < 0 ? 0.0f : fma(in[j], k, sqrt(in[i]));
    }
}

__kernel void row_sums(__global const uint *in, __global uint *out, int width, __local uint *part) {
    uint sum = 0;
    for (int x = get_local_id(0); x < width; x += get_local_size(0))
        sum += in[get_group_id(0) * width + x] ^ (uint)x;
    part[get_local_id(0)] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        for (uint i = 1; i < get_local_size(0); i++)
            sum = max(sum + part[i], rotate(sum, 3u));
        atomic_add(&out[get_group_id(0)], sum);
    }
}

__kernel void pick(__global const char4 *in, __global short4 *out, uchar bits) {
    int i = get_global_id(0);
    switch (bits & 3) {
        case 0: out[i] = convert_short4(in[i]); break;
        case 1: out[i] = convert_short4_sat(convert_float4(in[i]) * 1.5f); break;
        default: out[i] = (short4)(popcount(in[i].x), clz(in[i].y), in[i].z % 7, in[i].w / 3);
    }
}
"""
LISTS = (FieldKind.RAWS, FieldKind.LABELS, FieldKind.VECTORS)
DEVICES = (("skl", "SKL"), ("tgllp", "TGLLP"), ("acm-g10", "DG2"), ("pvc", "PVCXT"))


def texts(folder: Path, device: str) -> list[Path]:
    """What the compiler prints for the source."""
    folder.mkdir()
    (folder / "k.cl").write_text(SOURCE, encoding="utf-8")
    environment = os.environ | {"IGC_ShaderDumpEnable": "1", "IGC_DumpToCurrentDir": "1"}
    command = [
        "ocloc",
        "compile",
        "-file",
        "k.cl",
        "-device",
        device,
        "--format",
        "zebin",
        "-output",
        "z",
        "-output_no_suffix",
    ]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    found = sorted(folder.glob("*.visaasm"))
    assert found, done.stdout + done.stderr
    return found


def finalizer(folder: Path, name: str, platform: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = ["GenX_IR", name, "-platform", platform, "-dumpvisa", "-stopafter", "CFG", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)


def printed_by_the_finalizer(folder: Path, data: bytes, platform: str) -> str:
    """The text that the finalizer prints for an object: into a file named `.visaasm`."""
    folder.mkdir()
    (folder / "ours.isa").write_bytes(data)
    done = finalizer(folder, "ours.isa", platform, "-dumpcommonisa")
    found = sorted(folder.glob("*.visaasm")) + [p for p in (folder / ".visaasm",) if p.exists()]
    assert found, (done.returncode, done.stdout, done.stderr)
    return found[0].read_text(encoding="utf-8")


def operands(inst) -> int:
    """How many items the truncating writer counts: the operands and words of the record, without size and predicate."""
    count = 0
    for field, value in zip(inst.row.fields, inst.values, strict=True):
        if not field.stored or field.kind in (FieldKind.EXEC, FieldKind.PREDICATE):
            continue
        count += len(value) if field.kind in LISTS else 1
    # The four words behind `dpas` are one item of the tool.
    return count - 3 if inst.row.family == "matrix" else count


def truncated(data: bytes, body) -> bytes:
    """Our object's code with each instruction cut after as many items as it has operands, and the hole left zero."""
    outline = summary(data)
    first = (*outline.kernels, *outline.functions)[0]
    start = first.offset + first.size - first.code_size
    code = data[start : start + first.code_size]
    starts = [*instruction_offsets(body), 0]
    starts[-1] = starts[0] + len(code)
    writer = InstructionWriter()
    out = bytearray()
    for number, inst in enumerate(body.instructions):
        record = code[starts[number] - starts[0] : starts[number + 1] - starts[0]]
        writer.write(inst, "k")
        plan = writer.plans[inst.row][0]
        size, left = 1, operands(inst)
        for (field, (_, write)), value in zip(zip(inst.row.fields, plan, strict=True), inst.values, strict=True):
            if not field.stored:
                continue
            if left == 0:
                break
            items = len(value) if field.kind in LISTS else 1
            written = min(items, left)
            size += len(write(value)) * written // items if items else 0
            left -= written
        out += record[:size]
    return bytes(out).ljust(len(code), b"\0")


@pytest.mark.parametrize(("device", "platform"), DEVICES)
def test_the_finalizer_and_we_agree_on_new_kernels(tmp_path: Path, device: str, platform: str):
    found = texts(tmp_path / "dump", device)
    same = 0
    for number, path in enumerate(found):
        text = path.read_text(encoding="utf-8")
        result = assemble(text, platform)
        assert result.module is not None, result.bound.problems
        ours = encode(result.module)
        folder = tmp_path / f"stock{number}"
        folder.mkdir()
        (folder / "k.visaasm").write_text(text, encoding="utf-8")
        done = finalizer(folder, "k.visaasm", platform, "-outputCisaBinaryName", "k.isa")
        assert done.returncode == 0, done.stderr
        stock = (folder / "k.isa").read_bytes()
        outline, theirs = summary(ours), summary(stock)
        a, b = (*outline.kernels, *outline.functions)[0], (*theirs.kernels, *theirs.functions)[0]
        assert (a.size, a.code_size) == (b.size, b.code_size)
        entry = a.offset + a.size - a.code_size
        assert ours[:entry] == stock[:entry]
        assert truncated(ours, result.module.bodies[0]) == stock[entry : entry + a.code_size]
        printed = printed_by_the_finalizer(tmp_path / f"read{number}", ours, platform)
        assert normal(printed) == normal(text)
        same += 1
    print(
        f"\n{platform}: {same} of {len(found)} new texts: same object through the truncation rule, same text read back"
    )
    assert same >= 3


_NAME = re.compile(r"(?<![\w$@?-])([A-Za-z_$@?][\w$@?-]*)(?![\w$@?-])")


def normal(text: str) -> list[str]:
    """Code lines with labels numbered: the finalizer appends an index to their names when it reads an object."""
    names: dict[str, str] = {}
    lines = code_lines(text)
    for line in lines:
        if match := re.fullmatch(r"([A-Za-z_$@?][\w$@?-]*):", line):
            names.setdefault(match.group(1), f"L{len(names)}")
    return [_NAME.sub(lambda m: names.get(m.group(1), m.group(1)), line) for line in lines]
