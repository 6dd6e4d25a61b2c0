"""The decoded machine instruction: its opcode, operands, scoreboard words, and the bytes of the register file it touches.

Values only. The register file is one array of bytes: general registers from byte 0 on, then the architecture registers at the
places of ``Layout``. Operands have the attributes that ``sim.lanes`` reads (``type``, ``modifier``), and immediates are those
of the resolved program, so that one implementation of the lane words serves both.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from visa_lsp.isa.operands import OperandModifier, Region
from visa_lsp.program.model import Immediate

if TYPE_CHECKING:
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.isa.types import DataType

MAX_REGISTERS: Final = 512
BASE_STEP: Final = 1024  # of the scratch address in r0.5; below it is the number of the hardware thread, up to Xe-LP
LAST_XE_LP: Final = 120  # generation of TGLLP, the last with its payload in registers
MESSAGE_REGISTERS: Final = 31  # of the payload or the result of a message, at most
_BARRIER_OF_GROUP: Final = 0x5B
PATCHED: Final = "__INTEL_PATCH_"  # names of what a loader writes about the payload's place: no offset here
_ARCHITECTURE: Final = {
    "acc": 64 * 32, "f": 64, "a": 256, "cr": 64, "sr": 64, "msg": 64, "s": 2048, "ce": 64, "ip": 64, "sp": 64, "tdr": 64,
    "tm": 64, "dbg": 64, "n": 64, "gather": 32 * 64,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Layout:
    """The places of registers in the byte array of a thread, for a size of general registers."""

    grf_bytes: int

    @property
    def starts(self) -> dict[str, int]:
        """The first byte of each kind of register."""
        starts, start = {"r": 0}, MAX_REGISTERS * self.grf_bytes
        for name, size in _ARCHITECTURE.items():
            starts[name], start = start, start + size
        return starts

    @property
    def size(self) -> int:
        """The number of bytes."""
        return MAX_REGISTERS * self.grf_bytes + sum(_ARCHITECTURE.values())


@dataclass(frozen=True, slots=True)
class Register:
    """A register as iga prints it: kind (``r``, ``acc``, ``f``, ..), number, and element of the operand's type."""

    kind: str
    number: int = 0
    element: int = 0

    @property
    def is_null(self) -> bool:
        """True for the null register."""
        return self.kind == "null"

    def __str__(self) -> str:
        return "null" if self.is_null else f"{self.kind}{self.number}.{self.element}"


@dataclass(frozen=True, slots=True)
class Direct:
    """A register operand. ``start`` is its first byte in the register file; -1 for the null register.

    ``macro`` is the extra accumulator of a math macro operand: 0 to 7, -1 without.
    """

    register: Register
    type: DataType
    region: Region
    start: int
    modifier: OperandModifier = OperandModifier.NONE
    macro: int | None = None

    @property
    def word_step(self) -> int:
        """The words from one element to the next, at least one; an integer vector immediate has an element for each word of a destination."""
        return max(1, self.type.size * (self.region.horz_stride or 1) // 2)


@dataclass(frozen=True, slots=True)
class Indirect:
    """An operand whose bytes the address register names; ``address`` is the index of its first 16-bit element."""

    address: int
    offset: int
    type: DataType
    region: Region
    modifier: OperandModifier = OperandModifier.NONE


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a branch: an index of the instruction list."""

    index: int


@dataclass(frozen=True, slots=True)
class Payload:
    """Whole registers of a message; ``registers`` is None if only the descriptor tells the length."""

    register: Register
    start: int
    registers: int | None
    offset: int = 0  # that the message adds to each address


Operand: TypeAlias = Direct | Indirect | Immediate | Target | Payload


@dataclass(frozen=True, slots=True)
class Guard:
    """The predicate of an instruction: ``combine`` is empty or ``any16h``, ``all8h``, ``any``, .."""

    inverse: bool
    combine: str


@dataclass(frozen=True, slots=True)
class Wait:
    """The scoreboard words of an instruction.

    ``distances`` are (pipe, distance), the pipe being the letter of ``I@2``, ``A`` for all, empty for ``@2``. ``token`` is
    None or the number of ``$n``; ``use`` is ``set``, ``dst`` or ``src``.
    """

    distances: tuple[tuple[str, int], ...] = ()
    token: int | None = None
    use: str = ""

    def __str__(self) -> str:
        words = [f"{pipe}@{distance}" for pipe, distance in self.distances]
        if self.token is not None:
            words.append(f"${self.token}" + ("" if self.use == "set" else f".{self.use}"))
        return ",".join(words)


NO_WAIT: Final = Wait()


@dataclass(frozen=True, slots=True)
class Symbol:
    """The symbol whose address an immediate holds: ``part`` is ``whole``, ``low`` or ``high``."""

    name: str
    part: str
    addend: int = 0


@dataclass(frozen=True, slots=True)
class MachineInst:
    """A machine instruction.

    ``index`` is its place in the list of instructions, ``pc`` its byte offset in the code, ``flag`` the index of its 16-bit
    flag register. ``reads`` and ``writes`` are ranges of bytes (first, after the last) of the register file that its direct
    operands, flags and implicit accumulator touch in any lane; those of indirect operands are known at execution.
    """

    index: int
    pc: int
    op: str
    subop: str
    lanes: int
    offset: int
    no_mask: bool
    dst: Direct | Indirect | Payload | None
    sources: tuple[Operand, ...]
    guard: Guard | None = None
    condition: str = ""
    flag: int = 0
    wait: Wait = NO_WAIT
    options: frozenset[str] = frozenset()
    comment: str = ""
    text: str = field(default="", compare=False)
    symbol: Symbol | None = None
    surface: int | Register | None = None  # of a message: the number of its surface, or the register with the handle
    addressing: str = ""  # of a message: flat, bti, ss, bss
    reads: tuple[tuple[int, int], ...] = ()
    writes: tuple[tuple[int, int], ...] = ()
    line: int = -1  # of the text, from 0
    is_numbered: bool = False  # the listing tells the line; others are given that of the instruction before

    @property
    def is_message(self) -> bool:
        """True for messages to shared functions."""
        return self.op.startswith("send")

    @property
    def targets(self) -> tuple[int, ...]:
        """The indexes of the instructions at which lanes may continue, in the order of the operands."""
        return tuple([source.index for source in self.sources if isinstance(source, Target)])

    @property
    def landings(self) -> tuple[int, ...]:
        """The targets, and the instructions after them, where lanes that wait there join."""
        return tuple([place for target in self.targets for place in (target, target + 1)])

    @property
    def name(self) -> str:
        """The opcode with its function: ``math.inv``, ``send.ugm``."""
        return f"{self.op}.{self.subop}" if self.subop and self.op != "bfn" else self.op


@dataclass(frozen=True, slots=True)
class MachineCode:
    """The machine code of a kernel. ``grf_bytes`` is the size of a register.

    ``has_inline_data``: the first arguments come in registers where ze_info says so; a finalizer without options does not use that.
    """

    name: str
    grf_bytes: int
    instructions: tuple[MachineInst, ...]
    has_inline_data: bool = True


def barrier_byte(platform: Platform, threads: int) -> int:
    """Return byte 11 of r0, which a signal of the group's barrier has, too: up to Xe-LP the barrier's number, later the threads of the group."""
    return _BARRIER_OF_GROUP if platform.generation <= LAST_XE_LP else min(threads, 255)
