"""Intel's compiler and finalizer of Debian, driven: what ``ocloc`` prints for a source, what ``GenX_IR`` writes and reads back.

The installed ``GenX_IR`` truncates each instruction that it writes (a known bug of 1.0.12504.6): its bytes are those of
the whole instruction cut after as many items as the instruction has operands. It reads whole objects as they are.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from corpus import code_lines, codes_of

from visa_lsp.codec.encode import encode, instruction_offsets
from visa_lsp.codec.instruction_writer import InstructionWriter
from visa_lsp.codec.object_reader import summary
from visa_lsp.companions import kernels_in
from visa_lsp.isa.model import FieldKind
from visa_lsp.sema.lower import resolve_text

if TYPE_CHECKING:
    from visa_lsp.program.model import Inst, Kernel

LISTS = (FieldKind.RAWS, FieldKind.LABELS, FieldKind.VECTORS)


def why_missing() -> str:
    """Return the reason why compiler or finalizer cannot run here; empty when both can."""
    if shutil.which("ocloc") and shutil.which("GenX_IR"):
        return ""
    return "ocloc or GenX_IR is not installed: apt-get install libigc-tools intel-opencl-icd"


def compile_source(folder: Path, source: str, device: str, options: str = "", simd: int = 0) -> list[Path]:
    """Return the texts that the compiler prints for a source, in a new folder; ``z`` there is the zebin.

    ``simd`` forces a width of dispatch; 0 leaves it to the compiler.
    """
    folder.mkdir(parents=True)
    (folder / "k.cl").write_text(source, encoding="utf-8")
    environment = os.environ | {"IGC_ShaderDumpEnable": "1", "IGC_DumpToCurrentDir": "1"}
    if simd:
        environment["IGC_ForceOCLSIMDWidth"] = str(simd)
    command = ["ocloc", "compile", "-file", "k.cl", "-device", device, "--format", "zebin", "-output", "z"]
    command += ["-output_no_suffix", *(["-options", options] if options else [])]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    found = sorted(folder.glob("*.visaasm"))
    assert found, done.stdout + done.stderr
    return found


@functools.cache
def compiled_kernels(source: Path, device: str, options: str = "") -> tuple[dict[str, Path], tuple[Path, ...], Path]:
    """Return the compiler's texts of a source by kernel name, those of functions, and the zebin; kept for all tests."""
    folder = Path(tempfile.mkdtemp(dir=os.environ["VISA_LSP_CACHE"])) / "dump"
    texts: dict[str, Path] = {}
    # The last text of a kernel is that of the width that was taken.
    for path in compile_source(folder, source.read_text(), device, options):
        texts |= dict.fromkeys(kernels_in(path.read_text()), path)
    return texts, tuple(sorted(folder.glob("*_f[0-9]*.visaasm"))), folder / "z"


def accepts(folder: Path, source: str, device: str) -> bool:
    """Return whether the compiler takes an OpenCL source, with the assembly in it; it works in a new folder."""
    folder.mkdir(parents=True)
    (folder / "k.cl").write_text(source, encoding="utf-8")
    command = ["ocloc", "compile", "-file", "k.cl", "-device", device, "--format", "zebin", "-output", "z"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert "Build succeeded" in done.stdout or "parsing vISA inline assembly failed" in done.stdout, done.stdout
    return done.returncode == 0


def finalizer(folder: Path, name: str, platform: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Parse, verify and write, but make no code."""
    command = ["GenX_IR", name, "-platform", platform, "-dumpvisa", "-stopafter", "CFG", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)


def print_with_finalizer(folder: Path, data: bytes, platform: str) -> str:
    """Return the text that the finalizer prints for an object: into a file named `.visaasm`."""
    folder.mkdir()
    (folder / "ours.isa").write_bytes(data)
    done = finalizer(folder, "ours.isa", platform, "-dumpcommonisa")
    found = sorted(folder.glob("*.visaasm")) + [p for p in (folder / ".visaasm",) if p.exists()]
    assert found, (done.returncode, done.stdout, done.stderr)
    return found[0].read_text(encoding="utf-8")


def operands(inst: Inst) -> int:
    """Return the number of items that the truncating writer counts: the operands and words of the record, without size and predicate."""
    count = 0
    for field, value in zip(inst.row.fields, inst.values, strict=True):
        if not field.stored or field.kind in (FieldKind.EXEC, FieldKind.PREDICATE):
            continue
        count += len(value) if field.kind in LISTS else 1
    # The four words behind `dpas` are one item of the tool.
    return count - 3 if inst.row.family == "matrix" else count


def truncate(data: bytes, body: Kernel) -> bytes:
    """Return our object's code with each instruction cut after as many items as it has operands, and the hole left zero."""
    code = codes_of(data)[0]
    starts = [*instruction_offsets(body), 0]
    starts[-1] = starts[0] + len(code)
    writer = InstructionWriter()
    out = bytearray()
    for number, inst in enumerate(body.instructions):
        record = code[starts[number] - starts[0] : starts[number + 1] - starts[0]]
        writer.write(inst)
        writers = writer.plans[inst.row].writers
        size, left = 1, operands(inst)
        for field, write, value in zip(inst.row.fields, writers, inst.values, strict=True):
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


def find_agreed_object(folder: Path, text: str, platform: str, *, as_printed: bool = True) -> bytes:
    """Return the object of a text of one body, on which both agree: ours, cut, is the finalizer's; read by it, the text comes back.

    A text that is not written ``as_printed`` comes back as another one, of the same code.
    """
    result = resolve_text(text, platform)
    assert result.module is not None, result.bound.problems
    ours = encode(result.module)
    written = folder / "written"
    written.mkdir(parents=True)
    (written / "k.visaasm").write_text(text, encoding="utf-8")
    done = finalizer(written, "k.visaasm", platform, "-outputCisaBinaryName", "k.isa")
    assert done.returncode == 0, done.stderr
    stock = (written / "k.isa").read_bytes()
    outline, theirs = summary(ours), summary(stock)
    a, b = (*outline.kernels, *outline.functions)[0], (*theirs.kernels, *theirs.functions)[0]
    assert (a.size, a.code_size) == (b.size, b.code_size)
    entry = a.offset + a.size - a.code_size
    assert ours[:entry] == stock[:entry]
    assert truncate(ours, result.module.bodies[0]) == stock[entry : entry + a.code_size]
    printed = print_with_finalizer(folder / "read", ours, platform)
    if as_printed:
        assert normal(printed) == normal(text)
    else:
        again = resolve_text(printed, platform)
        assert again.module is not None, again.bound.problems
        assert codes_of(encode(again.module))[0] == codes_of(ours)[0]
    return ours


_NAME = re.compile(r"(?<![\w$@?-])([A-Za-z_$@?][\w$@?-]*)(?![\w$@?-])")


def normal(text: str) -> list[str]:
    """Code lines with labels numbered: the finalizer appends an index to their names when it reads an object."""
    names: dict[str, str] = {}
    lines = code_lines(text)
    for line in lines:
        if match := re.fullmatch(r"([A-Za-z_$@?][\w$@?-]*):", line):
            names.setdefault(match.group(1), f"L{len(names)}")
    return [_NAME.sub(lambda m: names.get(m.group(1), m.group(1)), line) for line in lines]
