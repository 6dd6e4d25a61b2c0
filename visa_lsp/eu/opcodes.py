"""The table of machine opcodes: a row for each, with its meaning in the lane words of vISA or as a named effect.

Machine opcodes differ from those of texts in the order of sources (``mad`` adds the first), in conditions that write flags, and in
implicit accumulators. Everything else is the same word. Rows of messages are in ``descriptors``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from visa_lsp.isa.lane import S0, S1, S2, Expr, word

if TYPE_CHECKING:
    from visa_lsp.program.model import Inst


@dataclass(frozen=True, slots=True)
class OpcodeRow:
    """An opcode with its function (``math.inv``): what it computes per lane, or the name of its effect.

    ``sources`` is the number of sources, ``order`` that in which the expression takes them; ``is_branch`` says whether it is
    counted by the pipe of branches.
    """

    name: str
    meaning: Expr | str
    sources: int = 2
    is_branch: bool = False
    order: tuple[int, ...] = ()


ROWS: Final[tuple[OpcodeRow, ...]] = (
    OpcodeRow("mov", "mov", 1),
    OpcodeRow("sel", "sel"),
    OpcodeRow("csel", "csel", 3),
    OpcodeRow("cmp", "cmp"),
    OpcodeRow("add", S0 + S1),
    OpcodeRow("add3", word("add3", S0, S1, S2), 3),
    OpcodeRow("mul", "mul"),
    OpcodeRow("mad", word("mad", S0, S1, S2), 3, order=(1, 2, 0)),
    OpcodeRow("mach", "mach"),
    OpcodeRow("macl", "mach"),
    OpcodeRow("avg", word("avg", S0, S1)),
    OpcodeRow("addc", "carry"),
    OpcodeRow("subb", "carry"),
    OpcodeRow("and", S0 & S1),
    OpcodeRow("or", S0 | S1),
    OpcodeRow("xor", S0 ^ S1),
    OpcodeRow("not", ~S0, 1),
    OpcodeRow("bfn", "bfn", 3),
    OpcodeRow("shl", word("shl", S0, S1)),
    OpcodeRow("shr", word("shr", S0, S1)),
    OpcodeRow("asr", word("asr", S0, S1)),
    OpcodeRow("rol", word("rol", S0, S1)),
    OpcodeRow("ror", word("ror", S0, S1)),
    OpcodeRow("lzd", word("lzd", S0), 1),
    OpcodeRow("fbh", word("fbh", S0), 1),
    OpcodeRow("fbl", word("fbl", S0), 1),
    OpcodeRow("cbit", word("cbit", S0), 1),
    OpcodeRow("bfrev", word("bfrev", S0), 1),
    OpcodeRow("bfe", word("bfe", S0, S1, S2), 3),
    OpcodeRow("bfi1", "bfi1"),
    OpcodeRow("bfi2", "bfi2", 3),
    OpcodeRow("dp4a", word("dp4a", S0, S1, S2), 3),
    OpcodeRow("frc", word("frc", S0), 1),
    OpcodeRow("rndd", word("rndd", S0), 1),
    OpcodeRow("rndu", word("rndu", S0), 1),
    OpcodeRow("rnde", word("rnde", S0), 1),
    OpcodeRow("rndz", word("rndz", S0), 1),
    OpcodeRow("madm", "madm", 3),
    OpcodeRow("math.invm", "invm"),
    OpcodeRow("math.rsqtm", "rsqtm", 1),
    OpcodeRow("math.inv", word("inv", S0), 1),
    OpcodeRow("math.log", word("log2", S0), 1),
    OpcodeRow("math.exp", word("exp2", S0), 1),
    OpcodeRow("math.sqt", word("sqrt", S0), 1),
    OpcodeRow("math.rsqt", word("rsqrt", S0), 1),
    OpcodeRow("math.sin", word("sin", S0), 1),
    OpcodeRow("math.cos", word("cos", S0), 1),
    OpcodeRow("math.tanh", word("tanh", S0), 1),
    OpcodeRow("math.sigm", word("sigm", S0), 1),
    OpcodeRow("math.pow", word("pow", S0, S1)),
    OpcodeRow("math.fdiv", word("div", S0, S1)),
    OpcodeRow("math.iqot", word("div", S0, S1)),
    OpcodeRow("math.irem", word("mod", S0, S1)),
    OpcodeRow("dpas", "dpas", 3),
    OpcodeRow("nop", "nothing", 0),
    OpcodeRow("illegal", "illegal", 0),
    OpcodeRow("sync.nop", "nothing", 1),
    OpcodeRow("sync.allrd", "nothing", 1),
    OpcodeRow("sync.allwr", "nothing", 1),
    OpcodeRow("sync.flush", "nothing", 1),
    OpcodeRow("sync.host", "nothing", 1),
    OpcodeRow("sync.fence", "nothing", 1),
    OpcodeRow("sync.bar", "barrier_wait", 1),
    OpcodeRow("send", "message", 4),
    OpcodeRow("sends", "message", 4),
    OpcodeRow("sendc", "message", 4),
    OpcodeRow("if", "if", 2, is_branch=True),
    OpcodeRow("else", "else", 2, is_branch=True),
    OpcodeRow("endif", "join", 1, is_branch=True),
    OpcodeRow("while", "while", 1, is_branch=True),
    OpcodeRow("break", "break", 2, is_branch=True),
    OpcodeRow("cont", "cont", 2, is_branch=True),
    OpcodeRow("goto", "goto", 2, is_branch=True),
    OpcodeRow("join", "join", 1, is_branch=True),
    OpcodeRow("jmpi", "jmpi", 1, is_branch=True),
    OpcodeRow("call", "call", 1, is_branch=True),
    OpcodeRow("calla", "call", 1, is_branch=True),
    OpcodeRow("ret", "ret", 1, is_branch=True),
)
BY_NAME: Final = {row.name: row for row in ROWS}
# Operations of texts, by the first word of their mnemonics, with another name in machine code.
_OF_TEXT: Final = {
    "min": "sel", "max": "sel", "inv": "math.inv", "sqrt": "math.sqt", "rsqrt": "math.rsqt", "exp": "math.exp",
    "log": "math.log", "sin": "math.sin", "cos": "math.cos",
}  # fmt: skip
RELATIONS: Final = ("eq", "ne", "gt", "ge", "lt", "le")  # conditions, by the code of the relation in texts
MIRRORED: Final = {"eq": "eq", "ne": "ne", "gt": "lt", "ge": "le", "lt": "gt", "le": "ge"}  # with exchanged sources


def operation_of(inst: Inst) -> str:
    """Return the name in machine code of what an instruction of a text does."""
    name = inst.row.mnemonic.partition(".")[0]
    return _OF_TEXT.get(name, name)


def row_of(op: str, subop: str) -> OpcodeRow | None:
    """Return the row of an opcode with its function; None if there is none."""
    return BY_NAME.get(op) or BY_NAME.get(f"{op}.{subop}")
