"""Rows: labels, branches, calls, and records that only mark places (FILE, LOC, lifetime).

Sources: pages JMP, CALL, RET, FCALL, IFCALL, FADDR, SWITCHJMP, LABEL, SUBROUTINE, FILE, LOC, LIFETIME; what the
finalizer writes.
"""

from __future__ import annotations

from typing import Final

from visa_lsp.isa.lane import Effect
from visa_lsp.isa.model import (
    ExecStyle,
    FlowClass,
    Instruction,
    Mark,
    Modifier,
    Refusal,
    Role,
    Shape,
    Slot,
    Trait,
    layout,
)
from visa_lsp.isa.platforms import ALL, FUSED
from visa_lsp.isa.rows.shapes import EVERY, IM, INT, SEED_ONLY, G, I, label, number
from visa_lsp.isa.types import UD, UQ, D, Q

_MASKED_RETURN: Final = "With one lane the transfer happens for the whole thread; with more, only for enabled lanes whose predicate bit is set,"
_ARGUMENTS: Final = (
    number("argsize", "registers of %arg that are passed", limits=(0, None)),
    number("retsize", "registers of %retval that come back", limits=(0, None)),
)


def _place(mnemonic: str, kind: int, flow: FlowClass, summary: str, detail: str) -> Instruction:
    """Make one of the two records that define a label."""
    return Instruction(
        mnemonic, kind, "flow", layout("label:label"),
        (Slot("label", Shape.LABEL, Role.OTHER, doc="the label that this place gets"),),
        exec_style=ExecStyle.NONE, predicable=False, opens_label=True, dialects=EVERY,
        meaning=Effect("label"), flow=flow, summary=summary, detail=detail
    )  # fmt: skip


def _source_mark(mnemonic: str, kind: int, slot: Slot, mark: Mark, *, seed: bool = False) -> Instruction:
    """Make FILE or LOC in one of their spellings; the first spelling in the table is the one that printing uses."""
    what = mark.value
    return Instruction(
        mnemonic, kind, "flow", layout("name:strd" if slot.shape is Shape.STRING else "line:d"), (slot,),
        exec_style=ExecStyle.NONE, predicable=False,
        dialects=SEED_ONLY if seed else EVERY,
        meaning=Effect("nop"),
        flow=FlowClass.NOTE,
        summary=f"Source {what} of what follows.",
        detail=f"Names the source {what} of the following instructions, up to the next such mark. It computes nothing and"
        " serves debuggers.",
        marks_source=mark,
    )  # fmt: skip


_FILE: Final = Slot("name", Shape.STRING, Role.OTHER, doc="source file, in quotes")
_LINE: Final = number("line", "source line", limits=(0, None))


def _lifetime(word: str, bit: int, what: str) -> Instruction:
    """Make lifetime.start or lifetime.end."""
    return Instruction(
        f"lifetime.{word}", 0x7B, "flow", layout(f"prop:b={bit}/1 var:var"),
        (Slot("var", Shape.VARIABLE, Role.OTHER, doc="general, address or predicate variable"),),
        exec_style=ExecStyle.NONE, predicable=False,
        meaning=Effect("nop"),
        flow=FlowClass.NOTE,
        summary=f"A variable's lifetime {what} here.",
        detail=f"Tells the register allocator that the life of a variable {what} here. It computes nothing; the class of the"
        " variable is in the record.",
        pitfalls=("Using the variable or an alias of it outside its lifetime is undefined.",),
        seed=None,
    )  # fmt: skip


ROWS: Final[tuple[Instruction, ...]] = (
    _place(
        ".function", 0x30, FlowClass.SUBROUTINE, "Start of a subroutine.",
        "Opens a subroutine inside the kernel and gives it a label that `call` can name; it ends where the next one begins."
        " Only the directive writes the record: the line with the same label that dumps print behind it writes nothing.",
    ),
    _place(
        "label", 0x31, FlowClass.LABEL, "A place to branch to.",
        "Defines a block label: the target of `jmp`, `goto` and `switchjmp`. At a label lanes that an earlier `goto` sent here"
        " become active again.",
    ),
    Instruction(
        "jmp", 0x32, "flow", layout("E P label:label"), (label("block label in the same subroutine"),),
        exec_sizes=(1,), dialects=EVERY,
        meaning=Effect("jmp"),
        flow=FlowClass.JUMP,
        summary="Jump with the whole thread.",
        detail="Jumps to a block label if the first bit of the predicate says so, or always without one. All lanes go"
        " together; the execution mask does not change.",
        pitfalls=(
            "Use it in uniform control flow only: it takes along lanes that wait at another label.",
            "The execution size should be 1; the finalizer accepts other sizes.",
        ),
    ),
    Instruction(
        "call", 0x33, "flow", layout("E P label:label"), (label("label of a `.function`"),),
        dialects=EVERY,
        meaning=Effect("call"),
        flow=FlowClass.CALL,
        summary="Call a subroutine of this kernel.",
        detail="Calls the subroutine that begins at a `.function` label. With one lane the predicate decides for the whole"
        " thread and the subroutine starts with all lanes on; with more, it is called if any enabled lane's predicate bit is set,"
        " and starts with just these lanes.",
        pitfalls=("All variables are shared with the subroutine: there are no arguments.", "Recursion is not supported.",
                  "A call of size 1 should be unmasked (M1_NM)."),
    ),
    Instruction(
        "ret", 0x34, "flow", layout("E P"), (),
        dialects=EVERY,
        meaning=Effect("ret"),
        flow=FlowClass.RETURN,
        foreign={"return": ""},
        summary="Return from a subroutine, or end the thread.",
        detail=f"{_MASKED_RETURN} and the caller continues when no lane of the call is left. In the kernel's main part it ends"
        " the thread.",
        pitfalls=("A return of size 1 in divergent code takes all lanes along.",),
    ),
    Instruction(
        "fcall", 0x67, "flow", layout("E P name:strw argsize:b retsize:b"),
        (Slot("name", Shape.IDENTIFIER, Role.TARGET, doc="name of a function"), *_ARGUMENTS),
        meaning=Effect("fcall"),
        flow=FlowClass.FUNCTION_CALL,
        summary="Call a function by name.",
        detail="Calls a `.global_function`. The first argsize registers of %arg are copied to the callee, and %sp and %fp with"
        " them; when it returns, the first retsize registers of %retval hold its results.",
        pitfalls=(
            "The sizes count registers, so they change with the platform's register size.",
            "The name must be a plain identifier: a quoted string is a syntax error here.",
            "Sizes have to equal those that the callee declares; numbers above 255 lose their upper bits.",
        ),
        seed=None,
    ),
    Instruction(
        "ifcall", 0x4F, "flow", layout("E P callee:v argsize:b retsize:b uniform:b? noreturn:b?"),
        (
            Slot("callee", Shape.VECTOR, Role.READ, G | I | IM, frozenset({UD, UQ, D, Q}), scalar=True, doc="address from `faddr`"),
            *_ARGUMENTS,
        ),
        (
            Modifier("uniform", {"uniform": 1}, optional=True, doc="all threads call the same function"),
            Modifier("noreturn", {"noreturn": 1}, optional=True, doc="the function does not return"),
        ),
        meaning=Effect("ifcall"),
        flow=FlowClass.FUNCTION_CALL,
        summary="Call a function by address.",
        detail="Calls the function whose address `faddr` gave. Arguments and results travel as with `fcall`.",
        pitfalls=(
            "A value that is not the address of a function is undefined.",
            "`.uniform` and `.noreturn` are words of the newest text; objects have no place for them.",
        ),
        seed=None,
    ),
    Instruction(
        "fret", 0x68, "flow", layout("E P"), (),
        meaning=Effect("fret"),
        flow=FlowClass.FUNCTION_RETURN,
        summary="Return from a function.",
        detail=f"{_MASKED_RETURN} and the caller of `fcall` or `ifcall` continues when no lane is left. %retval, %sp and %fp are"
        " handed back.",
        pitfalls=("A subroutine that was entered by `call` returns with `ret`.",),
        seed=None,
    ),
    Instruction(
        "faddr", 0x50, "flow", layout("name:strw dst:v"),
        (
            Slot("name", Shape.NAME, Role.OTHER, doc="function or symbol"),
            Slot("dst", Shape.VECTOR, Role.WRITE, G | I, frozenset({UD, UQ, D, Q}), scalar=True, doc="address"),
        ),
        exec_style=ExecStyle.NONE, predicable=False,
        meaning=Effect("faddr"),
        summary="Address of a function or symbol.",
        detail="Writes the address of a function, of a table of constants or of a string to dst. The loader fills it in; what"
        " the symbol stands for is not in the object.",
        traits=Trait.STRIDE_UNCHECKED,
        pitfalls=("The address has 64 bits: a ud destination gets the lower half.",),
        seed=None,
    ),
    Instruction(
        "switchjmp", 0x69, "flow", layout("E n:count index:v labels:labels"),
        (
            Slot("index", Shape.VECTOR, Role.READ, G | I | IM, INT, scalar=True, doc="which label, from 0"),
            Slot("labels", Shape.LABELS, Role.TARGET, doc="1 to 32 block labels in parentheses"),
        ),
        exec_style=ExecStyle.SIZE, exec_sizes=(1,), predicable=False,
        platforms=ALL - FUSED,
        meaning=Effect("switchjmp"),
        flow=FlowClass.SWITCH,
        summary="Jump to one of several labels.",
        detail="Jumps with the whole thread to the label whose number is in index.",
        pitfalls=(
            "An index beyond the list is undefined.",
            "The labels are in parentheses, with commas.",
            "Platforms with fused units (TGLLP to ARL) do not have it.",
        ),
        seed=None,
    ),
    Instruction(
        "fccall", 0x33, "flow", layout("E P label:label"), (label("name of another kernel"),),
        meaning=Effect("call"),
        summary="Call another kernel.",
        detail="Calls a kernel that a later link step supplies. It is `call` with a label of another kind: the record is the"
        " same, so a decoded object shows `call`.",
        pitfalls=("The finalizers of 2022 and 2026 crash on it.",),
        refusals=(Refusal("it does not find the body that is called", stops=True),),
        seed=None,
        flow=FlowClass.KERNEL_CALL,
    ),
    _source_mark("FILE", 0x51, _FILE, Mark.FILE),
    _source_mark("LOC", 0x52, _LINE, Mark.LINE),
    _source_mark(".file", 0x51, _FILE, Mark.FILE),
    _source_mark(".loc", 0x52, _LINE, Mark.LINE),
    _source_mark("file", 0x51, _FILE, Mark.FILE, seed=True),
    _source_mark("loc", 0x52, _LINE, Mark.LINE, seed=True),
    _lifetime("start", 0, "begins"),
    _lifetime("end", 1, "ends"),
)  # fmt: skip
