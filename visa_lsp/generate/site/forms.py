"""Executed forms of instructions, for the pages of opcodes.

The forms are lines of the corpus, `forms.txt`, each placed after the declarations of its template. Knows neither single
instructions nor pages. Invariant: a form is shown only if the checks find no error in it, and the values shown are
those of the simulator.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from warnings import catch_warnings, simplefilter

from visa_lsp.app.assemble import Assembled, assemble_text
from visa_lsp.codec.encode import instruction_offsets
from visa_lsp.codec.object_reader import summary
from visa_lsp.isa import predefined
from visa_lsp.isa.model import Shape, Trait
from visa_lsp.isa.platforms import platform_named
from visa_lsp.isa.table import TABLE
from visa_lsp.isa.types import FLOAT_TYPES, UQ, F
from visa_lsp.program.model import General, Inst, Kernel, RawOperand
from visa_lsp.sim.dispatch import Dispatch
from visa_lsp.sim.machine import Machine
from visa_lsp.sim.memory import FIRST_ADDRESS, Buffer, Memory, Sampler
from visa_lsp.sim.values import DTYPE

if TYPE_CHECKING:
    from pathlib import Path

    from visa_lsp.sim.registers import Frame

FOLDER: Final = "tests/own"
# Forms that the corpus's finalizer does not know, or that no compiler prints.
EXTRA_FORMS: Final = "docs/site/forms.txt"
_OLD, _NEW = (".version 4.1\n", ".version 4.2\n")
# The texts and platforms to search for a form.
_TRIED: Final = (
    *((_OLD, name) for name in ("TGLLP", "DG2", "BDW", "PVCXT")),
    *((_NEW, name) for name in ("DG2", "BMG", "PTL", "CRI")),
)
_SURFACES: Final = 8
_BUFFER_BYTES: Final = 4096
_SHOWN: Final = 16
_DIFFERENT: Final = 100  # elements of a variable, whose numbers fit the narrowest type
_PREDICATE: Final = re.compile(r"^\s*(\([^)]*\)\s*)?")
_BITS_OF_ONE: Final = 0x3F80  # size of a bf
_OF_MESSAGES: Final = (Shape.SURFACE, Shape.LSC_ADDRESS, Shape.LSC_ADDRESS_STRIDED)
_PIXELS: Final = Trait.SAMPLES | Trait.LOADS_PIXELS
_STEPS: Final = 10_000


class CellChange(NamedTuple):
    """A variable or buffer that an instruction changed: its name and the first elements of it, before and after."""

    name: str
    before: str
    after: str


class OpcodeForm(NamedTuple):
    """A line with one instruction of a row, the platform of its check, its record, and its effects.

    ``record`` is the bytes of the object; None for a form of text 4.2 only.
    """

    mnemonic: str
    line: str
    platform: str
    record: bytes | None
    changes: tuple[CellChange, ...]


@cache
def forms(root: Path) -> dict[str, OpcodeForm]:
    """Return the first correct form of each mnemonic, if any. Raises OSError if the corpus is not beside the package."""
    folder = root / FOLDER
    declarations = (folder / "template.visaasm.part").read_text(encoding="utf-8").splitlines(keepends=True)[1:-1]
    head = "".join(declarations)  # without the version and the mark at the beginning of the body
    forms_by_mnemonic: dict[str, OpcodeForm] = {}
    lines = (folder / "forms.txt").read_text(encoding="utf-8") + (root / EXTRA_FORMS).read_text(encoding="utf-8")
    for line in lines.splitlines():
        # A form of several lines, such as a branch and its label, is skipped because its last line shows too little.
        if line and not line.startswith("#") and "\\n" not in line:
            form = _form(head, line)
            if form is not None:
                forms_by_mnemonic.setdefault(form.mnemonic, form)
    return forms_by_mnemonic


def _form(head: str, line: str) -> OpcodeForm | None:
    for version, platform in _TRIED:
        assembled = assemble_text(f"{version}{head}{line}\nret (M1, 1)\n", platform)
        if assembled.module is not None and len(assembled.module.kernels[0].instructions) == 2:
            kernel = assembled.module.kernels[0]
            mnemonic = kernel.instructions[0].row.mnemonic
            return OpcodeForm(mnemonic, line, platform, _record(assembled), _carry_out(kernel, platform))
    return None


def _record(assembled: Assembled) -> bytes | None:
    if assembled.data is None or assembled.module is None:
        return None
    body = summary(assembled.data).kernels[0]
    code = assembled.data[body.offset + body.size - body.code_size : body.offset + body.size]
    return code[: instruction_offsets(assembled.module.kernels[0])[1]]


def _carry_out(kernel: Kernel, platform: str) -> tuple[CellChange, ...]:
    """Return the changes of one thread of 16 lanes, starting with registers and buffers that count their elements.

    Raises KernelFault for a form that cannot be executed alone; no page should show it.
    """
    chosen = platform_named(platform)
    assert chosen is not None
    memory = Memory()
    buffers = [memory.add(Buffer(f"surface {n}", bytearray(_BUFFER_BYTES))) for n in range(_SURFACES)]
    instruction = kernel.instructions[0]
    pixels = instruction.row.has(_PIXELS)
    dwords = "<f4" if pixels or _of_floats(instruction, kernel) else "<u4"
    # Offsets and addresses of messages are those of dwords; coordinates count.
    stride = 4 if not pixels and any(slot.shape in _OF_MESSAGES for slot in instruction.row.slots) else 1
    for buffer in buffers:
        buffer.data.view(dwords)[:] = range(_BUFFER_BYTES // 4)
    dispatch = Dispatch(
        kernel=kernel, functions={}, platform=chosen, groups=(1, 1, 1), threads_per_group=1, simd=16,
        lanes=lambda _thread: 0xFFFF, payload=lambda _group, _thread: bytes(chosen.grf_bytes),
        surfaces=dict(enumerate(buffers)), samplers={0: Sampler()}, memory=memory, slm_bytes=_BUFFER_BYTES, step_budget=_STEPS,
    )  # fmt: skip
    machine = Machine(dispatch)
    _, (thread,) = machine.start((0, 0, 0))
    frame = thread.frame
    for variable in range(predefined.FIRST_VARIABLE, predefined.FIRST_VARIABLE + len(kernel.variables)):
        cells = _cells(frame, kernel, variable)
        cells[:] = _values(kernel, variable, len(cells), stride)
    frame.addr[:] = range(len(frame.addr))
    frame.preds[:] = [0x0F0F] * len(frame.preds)
    before = _state(frame, kernel, buffers, dwords)
    with catch_warnings():
        simplefilter("ignore")  # warnings of NumPy about overflows in lanes
        for _ in thread.run(_STEPS):
            pass
    after = _state(frame, kernel, buffers, dwords)
    return tuple(CellChange(name, before[name], now) for name, now in after.items() if before[name] != now)


def _of_floats(instruction: Inst, kernel: Kernel) -> bool:
    """Return whether an operand is a variable of 32-bit floats, as wide as the dwords of a surface."""
    named = (kernel.variable(value.var) for value in instruction.values if isinstance(value, RawOperand | General))
    return any(declared is not None and declared.type is F for declared in named)


def _values(kernel: Kernel, variable: int, count: int, stride: int) -> list[float]:
    """Return the initial values of a variable: different for each, so that a result shows which one was read."""
    declared = kernel.variable(variable)
    assert declared is not None
    number = variable - predefined.FIRST_VARIABLE + 1
    if declared.type not in FLOAT_TYPES:
        # Variables of the widest unsigned type get addresses of the first surface, because instructions need them.
        step = stride if declared.type.size == 4 else 1
        start, step = (FIRST_ADDRESS, 4) if declared.type is UQ else (number * step, step)
        return [start + step * (n % _DIFFERENT) for n in range(count)]
    if DTYPE[declared.type].kind == "u":  # as bits, because NumPy has no such floats
        return [_BITS_OF_ONE + n % _DIFFERENT for n in range(count)]
    return [number + n % _DIFFERENT * 0.75 for n in range(count)]


def _cells(frame: Frame, kernel: Kernel, variable: int) -> Any:
    """Return the elements of a variable in the register file."""
    declared = kernel.variable(variable)
    assert declared is not None
    offset = frame.code.layout.offset(variable)
    return frame.regs[offset : offset + declared.byte_size].view(DTYPE[declared.type])


def _state(frame: Frame, kernel: Kernel, buffers: list[Buffer], dwords: str) -> dict[str, str]:
    """Return everything that an instruction can change, by name, as shown."""
    numbers = range(predefined.FIRST_VARIABLE, predefined.FIRST_VARIABLE + len(kernel.variables))
    state = {kernel.variable_name(number): _format_values(_cells(frame, kernel, number).tolist()) for number in numbers}
    for number, entry in enumerate(kernel.predicates):
        state[kernel.strings[entry.name_index]] = f"{frame.preds[number + predefined.FIRST_PREDICATE]:#06x}"
    index = 0
    for entry in kernel.addresses:
        state[kernel.strings[entry.name_index]] = _format_values(
            frame.addr[index : index + entry.num_elements].tolist()
        )
        index += max(1, entry.num_elements)
    state.update({buffer.name: _format_values(buffer.data.view(dwords).tolist()) for buffer in buffers})
    return state


def _format_values(values: list[Any]) -> str:
    head = ", ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in values[:_SHOWN])
    return head + (", ..." if len(values) > _SHOWN else "")


class Seen(NamedTuple):
    """A line of a text: its place, from the top of the repository, and its text."""

    path: str
    line: str


@cache
def find_in_texts(root: Path) -> dict[str, Seen]:
    """Return the first line of each mnemonic in the compilers' texts of the corpus."""
    lines_by_mnemonic: dict[str, Seen] = {}
    for part in ("run", "dev", "dev42"):
        for path in sorted((root / FOLDER / part).rglob("*.visaasm")):
            for line in path.read_text(encoding="utf-8").splitlines():
                words = _PREDICATE.sub("", line).split(" ", 1)[0].removesuffix(":").split(".")
                rows, _ = TABLE.lookup(words)
                if rows:
                    lines_by_mnemonic.setdefault(
                        rows[0].mnemonic, Seen(path.relative_to(root).as_posix(), line.strip())
                    )
    return lines_by_mnemonic
