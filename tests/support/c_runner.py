"""Runs the C that ``read`` prints: many launches by one compilation, lane by lane, in memory like the simulator's.

``run_in_c`` compiles the prelude, the kernels and ``lane_runner.c`` to one program. Each launch runs in a process of its own;
its buffers replace those of the launch. The result has a sentence for each launch that did not run.
"""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from visa_lsp.app.kernel_source import with_source
from visa_lsp.app.launch.program_info import kernel_info
from visa_lsp.app.read.fold import fold_reading
from visa_lsp.app.read.lines import lines_of
from visa_lsp.app.read.names import names_for
from visa_lsp.app.read.prelude import read_prelude
from visa_lsp.app.read.structure import reading_of
from visa_lsp.isa.message_forms import SampleForm
from visa_lsp.isa.table import TABLE
from visa_lsp.sim.memory import Image

if TYPE_CHECKING:
    from visa_lsp.app.launch.ready_run import ReadyRun
    from visa_lsp.app.read.names import ReadingNames
    from visa_lsp.program.model import Kernel
    from visa_lsp.program.payload import KernelInfo

COMPILER = shutil.which("gcc")
FLAGS = (
    "-std=gnu99",
    "-ftrack-macro-expansion=0",
    "-Wno-incompatible-pointer-types",
    "-Werror=implicit-function-declaration",
    "-O0",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fexcess-precision=16",
    "-ffp-contract=off",
    "-frounding-math",
    "-fno-pie",
    "-no-pie",
)
RUNNER = Path(__file__).with_name("lane_runner.c")
# Of channels: 0 normalized, 1 integers, 2 real numbers; bytes. With a sign, bytes have 8 added.
_KINDS = {"unorm": (0, 0), "snorm": (0, 8), "uint": (1, 0), "sint": (1, 8), "float": (2, 0)}
_FORMATS = {f"{word}{bits}": (kind, sign + bits // 8) for word, (kind, sign) in _KINDS.items() for bits in (8, 16, 32)}
_ADDRESSES = ("none", "clamp_to_edge", "clamp", "repeat", "mirrored_repeat")


def messages_in_c() -> str:
    """Return messages of the sampler as calls of the runner's functions: which parameters are coordinates."""
    found: dict[str, str] = {}
    for row in TABLE.rows:
        told = re.search(r"Parameters: ([^.]*)\.", row.detail)
        if isinstance(row.meaning, SampleForm) and told is not None:
            names = told[1].split(", ")
            places = ", ".join(str(names.index(axis)) if axis in names else "99" for axis in "uvr")
            word = "SAMPLE" if row.mnemonic in ("sample_3d", "sample_l", "sample_b", "sample_lz", "sample_d") else ""
            word = "LOAD" if row.mnemonic in ("load_3d", "load_lz", "load_l") else word
            if word:
                found[row.mnemonic] = f"{word}({row.mnemonic}, {places})"
    return "\n".join(found.values())


@dataclass
class CKernel:
    """A kernel as C: its text, and what calls it."""

    text: str
    caller: str
    entry: str
    unknown: tuple[str, ...]


def info_of(ready: ReadyRun) -> KernelInfo | None:
    """Return the ze_info of the kernel of a launch, with the arrays of its source."""
    kernel = ready.prepared.dispatch.kernel
    info = kernel_info(kernel, ready.launch, ready.options, [])[0]
    text = ready.texts.get(kernel.name)
    return with_source(info, kernel, Path(text.path).parent) if info is not None and text is not None else info


def _c_text(kernel: Kernel, names: ReadingNames) -> str:
    reading = fold_reading(reading_of(kernel), kernel, names)
    return "\n".join(line.text for line in lines_of(kernel, reading, names)) + "\n"


def c_kernel(ready: ReadyRun, number: int) -> CKernel:
    """Return the kernel of a launch as C under a name of its own."""
    kernel, info = ready.prepared.dispatch.kernel, info_of(ready)
    names = names_for(kernel, ready.platform, info)
    functions = {re.sub(r"\W", "_", one.name): one for one in ready.prepared.dispatch.functions.values()}
    text = _c_text(kernel, names)
    name = f"kernel_{number}"
    text += "".join(_c_text(one, names_for(one, ready.platform, None)) for one in functions.values())
    text = re.sub(rf"^(kernel void ){re.escape(kernel.name)}\(", rf"\g<1>{name}(", text, flags=re.MULTILINE)
    for one in sorted(set(re.findall(r"^static \w+ (\w+)\(", text, flags=re.MULTILINE))):
        text = re.sub(rf"\b{one}\(", f"{one}_{number}(", text)
    for one in functions:
        text = re.sub(
            rf"^( +(?:if .*\) )?){one}\(\);",
            rf"\g<1>{{ function_begins(); {one}(); function_ends(); }}",
            text,
            flags=re.MULTILINE,
        )
        text = re.sub(rf"\b{one}\(", f"{one}_{number}(", text)
    text = re.sub(r"\bstruct (\w+)", rf"struct \g<1>_{number}", text)
    surfaces = {one.arg_index: one.bti_value for one in info.bindings} if info is not None else {}
    samplers = [one for one in info.payload if one.kind == "sampler"] if info is not None else []
    numbers = {one.arg_index: max(0, one.sampler_index) for one in samplers}
    lines, args = [], []
    for one in names.parameters:
        declared = re.sub(
            r"\bstruct (\w+)", rf"struct \g<1>_{number}", re.sub(r"^(global|local|constant) ", "", one.text)
        )
        parts = names.addresses.get(one.index, ())
        lines.append(f"    {declared};")
        if declared.split()[0].endswith("_t") and declared.split()[0] not in ("size_t", "ptrdiff_t"):
            lines.append(f"    {one.name} = (void *){surfaces.get(one.index, numbers.get(one.index, 0))}ul;")
            lines += [f"    memcpy(&{one.name}, payload + {first}, {size});" for _, first, size in parts]
        elif "*" in declared:
            if one.text.startswith("local"):
                lines.append(
                    f"    {{ uint at_ = 0; memcpy(&at_, payload + {parts[0][1] if parts else 0}, 4); {one.name} = (void *)(slm + at_); }}"
                )
            elif parts and parts[0][2] == 8 and "*" in declared:
                lines.append(f"    memcpy(&{one.name}, payload + {parts[0][1]}, 8);")
            elif one.index in surfaces and "*" in declared:
                lines.append(f"    {one.name} = (void *)bti({surfaces[one.index]});")
            else:
                lines.append(f"    memset(&{one.name}, 0, sizeof {one.name});")
        else:
            lines.append(f"    memset(&{one.name}, 0, sizeof {one.name});")
            lines += [
                f"    memcpy((uchar *)&{one.name} + {max(0, source)}, payload + {first}, {size} < sizeof {one.name} - {max(0, source)} ? {size} : sizeof {one.name} - {max(0, source)});"
                for source, first, size in parts
            ]
        args.append(one.name)
    caller = "\n".join([f"static void call_{number}(void) {{", *lines, f"    {name}({', '.join(args)});", "}"])
    values = "".join(f'{{"{word}", {first}, {size}}}, ' for word, (first, size) in names.launch_values.items())
    group = ", ".join(map(str, names.group_size))
    entry = f'{{"{name}", call_{number}, {names.simd}, (const struct value[]){{{values}{{0}}}}, {names.ids[0]}, {names.ids[1]}, {names.ids[2]}, {{{group}}}}},'
    return CKernel(text, caller, entry, ())


def launch_bytes(ready: ReadyRun, entry: int) -> tuple[bytes, list[object]]:
    """Return a launch for the runner, and its buffers."""
    dispatch = ready.dispatch(1)
    buffers = list(dict.fromkeys(one.whole for one in dispatch.buffers))
    out = [struct.pack("<II", entry, len(buffers))]
    for one in buffers:
        data = one.data.tobytes()
        out.append(struct.pack("<QQ", one.address, len(data)) + data)
    surfaces = [(n & 0xFFFFFFFF, buffers.index(one.whole)) for n, one in dispatch.surfaces.items()]
    out.append(struct.pack("<I", len(surfaces)))
    for (number, buffer), one in zip(surfaces, dispatch.surfaces.values(), strict=True):
        shape = (one.size // 4, 1, 1, 1, 1, one.size // 4 * 4, False, *_FORMATS["uint32"])
        if isinstance(one, Image):
            form = _FORMATS[one.format]
            shape = (one.width, one.height, one.depth, one.channels, one.dims, one.pitch, one.layered, *form)
        out.append(struct.pack("<II9I", number, buffer, *shape))
    out.append(struct.pack("<I", len(dispatch.samplers)))
    for number, one in dispatch.samplers.items():
        state = (_ADDRESSES.index(one.address), one.filter == "linear", one.normalized)
        out.append(struct.pack("<4I", number & 0xFFFFFFFF, *state))
    symbols = [(word.encode()[:63], value) for word, value in dispatch.symbols.items()]
    out.append(struct.pack("<I", len(symbols)) + b"".join(struct.pack("<64sQ", word, value) for word, value in symbols))
    x, y, z = dispatch.groups
    out.append(struct.pack("<II", dispatch.slm_bytes, x * y * z))
    for number in range(x * y * z):
        group = dispatch.group_id(number)
        shape = dispatch.shape(group)
        out.append(struct.pack("<I", shape.threads))
        for thread in range(shape.threads):
            payload = shape.payload(group, thread)
            state, message = dispatch.platform.thread_number.registers(thread)
            out.append(struct.pack("<III", thread, state & 0xFFFFFFFF, message & 0xFFFFFFFF))
            out.append(struct.pack("<IIIII", *group, shape.lanes(thread), len(payload)) + payload)
    return b"".join(out), buffers


def compile_kernels(kernels: Sequence[CKernel], folder: Path) -> tuple[Path | None, str]:
    """Return the program of some kernels; None and the compiler's words if it refuses one."""
    source = folder / "all.c"
    parts = [read_prelude(), "void function_begins(void);", "void function_ends(void);"]
    for number, one in enumerate(kernels):
        parts += [f'#line 1 "kernel_{number}"', one.text, f'#line 1 "caller_{number}"', one.caller]
    parts += [
        '#line 1 "runner"',
        RUNNER.read_text(),
        messages_in_c(),
        "const struct entry entries[] = {",
        *(one.entry for one in kernels),
        "};",
    ]
    source.write_text("\n".join(parts))
    program = folder / "all"
    assert COMPILER is not None
    done = subprocess.run(
        [COMPILER, *FLAGS, str(source), "-o", str(program), "-lm", "-lpthread"],
        capture_output=True,
        text=True,
        check=False,
    )
    return (None, done.stderr) if done.returncode else (program, done.stderr)


def find_refusals(words: str) -> dict[int, str]:
    """Return the kernels that a compiler refuses, each with its first sentence."""
    found: dict[int, str] = {}
    for line in words.splitlines():
        hit = re.match(r"(?:kernel|caller)_(\d+):(\d+):\d+: error: (.*)", line)
        if hit is None:
            hit = re.search(r"(?:kernel|caller)_(\d+):(\d+):.*(undefined reference to.*)", line)
        if hit is not None:
            found.setdefault(int(hit[1]), f"not C: line {hit[2]}: {hit[3]}")
    return found


def run_in_c(runs: Sequence[ReadyRun]) -> list[str]:
    """Run launches; return a sentence for each, empty where it ran."""
    said = [""] * len(runs)
    kernels: list[CKernel] = []
    entries: list[int] = []
    known: dict[tuple[int, str], int] = {}
    for ready in runs:
        key = (id(ready.prepared.dispatch.kernel), ready.platform.name)
        if key not in known:
            known[key] = len(kernels)
            kernels.append(c_kernel(ready, len(kernels)))
        entries.append(known[key])
    with TemporaryDirectory() as name:
        folder = Path(name)
        wrong: dict[int, str] = {}
        for _ in range(20):
            kept = [
                one if number not in wrong else CKernel("", f"static void call_{number}(void) {{}}", one.entry, ())
                for number, one in enumerate(kernels)
            ]
            program, words = compile_kernels(kept, folder)
            if program is not None:
                break
            more = find_refusals(words)
            if not more.keys() - wrong.keys():
                raise AssertionError(words[:2000])
            wrong |= more
        assert program is not None, words[:2000]
        command: list[str] = []
        order: list[tuple[int, list[object]]] = []
        for at, ready in enumerate(runs):
            if entries[at] in wrong:
                said[at] = wrong[entries[at]]
                continue
            data, buffers = launch_bytes(ready, entries[at])
            (folder / f"{at}.in").write_bytes(data)
            command += [str(folder / f"{at}.in"), str(folder / f"{at}.out")]
            order.append((at, buffers))
        done = subprocess.run([str(program), "20", *command], capture_output=True, text=True, check=False)
        for line in done.stdout.splitlines():
            number, _, words = line.partition(" ")
            said[order[int(number)][0]] = f"stopped: {words}"
        for at, buffers in order:
            if said[at]:
                continue
            data = (folder / f"{at}.out").read_bytes()
            for one in buffers:
                size = one.data.size
                one.data[:] = memoryview(data[:size])
                data = data[size:]
    return said
