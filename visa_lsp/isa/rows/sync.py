"""Rows: barriers, fences and waiting (pages BARRIER, SBARRIER, NBARRIER, FENCE, WAIT, YIELD, CACHE_FLUSH)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Unpack

from msgspec.structs import replace

from visa_lsp.isa.lane import Effect
from visa_lsp.isa.message_forms import FenceForm
from visa_lsp.isa.model import ExecStyle, Instruction, Modifier, Role, Shape, Slot, Trait, layout
from visa_lsp.isa.platforms import since
from visa_lsp.isa.rows.shapes import IM, INT, NEWEST_ONLY, G, I

if TYPE_CHECKING:
    from visa_lsp.isa.rows._keywords import More

_DIVERGENT: Final = "In divergent control flow it is undefined: every thread of the group has to arrive exactly once."
_GROUPS: Final = "Only thread groups have barriers."

_FENCE_LETTERS: Final = Modifier(
    "mask",
    {"E": 1, "I": 2, "S": 4, "C": 8, "R": 16, "L1": 64},
    Modifier.Kind.LETTERS,
    optional=True,
    mask=0x5F,
    doc="E commit; flush the caches of I instructions, S samplers, C constants, R read-write data, L1",
)


def _scalar(name: str, doc: str) -> Slot:
    """Make a scalar source."""
    return Slot(name, Shape.VECTOR, Role.READ, G | I | IM, INT, scalar=True, doc=doc)


def _sync(
    mnemonic: str,
    opcode: int | None,
    record: str,
    meaning: str | Effect,
    summary: str,
    *,
    detail: str,
    slots: tuple[Slot, ...] = (),
    modifiers: tuple[Modifier, ...] = (),
    **more: Unpack[More],
) -> Instruction:
    """Make a row without parenthesis and predicate."""
    rest: More = {"exec_style": ExecStyle.NONE, "predicable": False, "seed": None, **more}
    return Instruction(
        mnemonic, opcode, "sync", layout(record), slots, modifiers,
        meaning=Effect(meaning) if isinstance(meaning, str) else meaning, summary=summary, detail=detail, **rest,
    )  # fmt: skip


ROWS: Final[tuple[Instruction, ...]] = (
    _sync(
        "barrier", 0x59, "", "barrier",
        "Wait for all threads of the group.",
        detail="Holds the thread until every thread of its group has come to a barrier. Accesses to shared local memory before it are"
        " visible to the group after it.",
        pitfalls=(_DIVERGENT, _GROUPS, "Accesses to global memory also need a fence."),
        traits=Trait.BARRIER,
    ),
    _sync(
        "sbarrier.signal", 0x7C, "signal:b=1", "sbarrier_signal",
        "Announce arrival at the barrier.",
        detail="First half of a split barrier: signals the group that this thread has arrived, and continues at once.",
        pitfalls=("After each signal the thread must wait before it signals again.", _GROUPS),
    ),
    _sync(
        "sbarrier.wait", 0x7C, "signal:b=0", "sbarrier_wait",
        "Wait for the others at the barrier.",
        detail="Second half of a split barrier: holds the thread until every thread of the group has signalled.",
        pitfalls=("A wait without an earlier signal hangs the group.", _GROUPS),
    ),
    _sync(
        "nbarrier.signal", 0x60, "mode:b=1 id:v count:v", "nbarrier_signal",
        "Announce arrival at a named barrier.",
        detail="Tells the barrier of number id that this thread has arrived; count threads take part, each as producer and consumer."
        " The thread continues at once.",
        slots=(_scalar("id", "barrier number, 0 to 31"), _scalar("count", "threads that take part")),
        platforms=since("PVC"),
        pitfalls=("All threads of one phase have to give the same count.", _GROUPS),
    ),
    _sync(
        "nbarrier.signal", None, "mode:b=1 id:v type:v producers:v consumers:v", "nbarrier_signal",
        "Announce arrival at a named barrier, with a role.",
        detail="The general form: type 0 makes the thread producer and consumer, 1 producer only, 2 consumer only. The barrier opens"
        " when all producers and consumers have signalled.",
        slots=(
            _scalar("id", "barrier number, 0 to 31"), _scalar("type", "role: 0 both, 1 producer, 2 consumer"),
            _scalar("producers", "producer threads"), _scalar("consumers", "consumer threads"),
        ),
        platforms=since("PVC"), dialects=NEWEST_ONLY,
        pitfalls=("A thread that only produces must not wait.", "This form has no object form.", _GROUPS),
    ),
    _sync(
        "nbarrier.wait", 0x60, "mode:b=0 id:v count:v", "nbarrier_wait",
        "Wait at a named barrier.",
        detail="Holds the thread until all threads that take part in the barrier of number id have signalled. The record has room for a"
        " count; the finalizer repeats the id there.",
        slots=(_scalar("id", "barrier number, 0 to 31"),),
        platforms=since("PVC"),
        pitfalls=("Signal first: waiting alone hangs.", _GROUPS),
    ),
    _sync(
        "wait", 0x5B, "mask:v", "wait",
        "Wait for the threads that this one depends on.",
        detail="With a thread dependency pattern, holds the thread until the threads it depends on have ended. A set bit of the mask"
        " clears the dependency of that number first.",
        slots=(replace(_scalar("mask", "dependencies to clear, one bit each, ub"), ignored=True),),
        pitfalls=("Only the media thread space has dependencies.",),
        traits=Trait.SCALAR,
    ),
    _sync(
        "yield", 0x5F, "", "nop",
        "Let another thread run.",
        detail="Asks the unit to switch to another of its threads. It changes no result.",
    ),
    _sync(
        "fence_global", 0x5C, "mask:b=0/0xA0", FenceForm("fence_global", shared=False),
        "Order accesses to global memory.",
        detail="Makes the thread's earlier reads and writes of surfaces and of virtual memory visible before later ones. With E the"
        " thread waits until they are globally observed; the other letters flush caches.",
        modifiers=(_FENCE_LETTERS,),
        pitfalls=("Between threads E is what counts; flushing caches is seldom needed.",
                  "The order of letters is E I S C R L1: `fence_global.EL1`."),
    ),
    _sync(
        "fence_local", 0x5C, "mask:b=0x20/0xA0", FenceForm("fence_shared", shared=True),
        "Order accesses to shared local memory.",
        detail="As `fence_global`, for shared local memory only.",
        modifiers=(_FENCE_LETTERS,),
        traits=Trait.FENCE,
    ),
    _sync(
        "fence_sw", 0x5C, "mask:b=0x80/0x80~0x7f", "nop",
        "Keep the compiler from reordering.",
        detail="Stops the finalizer's scheduler from moving memory accesses across it; no instruction is issued for it.",
        pitfalls=("It orders nothing at run time.",),
    ),
    _sync(
        "sampler_cache_flush", 0x5A, "", "nop",
        "Flush the sampler's caches.",
        detail="Drops all levels of the texture cache, so that a later sample sees what was written before.",
        pitfalls=("`fence_global.S` drops only the L3 part.",),
    ),
)  # fmt: skip
