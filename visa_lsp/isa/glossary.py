"""The terms of this project: one word for one thing.

Hover, ``explain``, ``docs/glossary.md`` and the messages use them. ``also`` lists other names of a term, by which
``explain`` finds it.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct


class Term(Struct, frozen=True):
    """A term and its meaning. ``see`` names further terms."""

    name: str
    doc: str
    also: tuple[str, ...] = ()
    see: tuple[str, ...] = ()


FAULTS: Final = "Faults of a kernel"  # the group of the kinds of fault, with their names in reports
# A group is a heading of the page.
GROUPS: Final[dict[str, tuple[Term, ...]]] = {
    "Execution": (
        Term("kernel", "A program that the host launches, with its own declarations. It begins with `.kernel`.", see=("function", "thread")),
        Term("function", "A body of its own that kernels call with `fcall`. It begins with `.global_function`; its arguments are in `%arg`, its result in `%retval`.", also=("global function",), see=("subroutine",)),
        Term("subroutine", "A part of a kernel or function that `call` calls. It begins with `.function` and shares the declarations around it.", see=("function",)),
        Term("thread", "The hardware context that executes a kernel: one register file, one place in the program. It runs as many work items as the SIMD width, one in each lane.", also=("hardware thread", "EU thread"), see=("lane", "thread group")),
        Term("lane", "One of the parallel columns of a thread, numbered from 0. An instruction works on one element for each of its lanes.", also=("channel",), see=("execution size", "work item")),
        Term("work item", "One point of the launch, as the source sees it, with a local and a global id. It has a lane of a thread to itself.", also=("work-item", "workitem"), see=("lane", "SIMD width")),
        Term("thread group", "The threads that share a barrier and shared local memory; the work items of one local size. Short: group.", also=("work group", "work-group", "workgroup", "group"), see=("shared local memory",)),
        Term("SIMD width", "The number of work items of a thread: 8, 16 or 32, or 1 for a kernel that is scalar. It belongs to the kernel, as the execution size belongs to an instruction. ze_info has it as `simd_size`, the text as `.kernel_attr SimdSize`.", also=("SIMD", "SIMD size", "dispatch width"), see=("execution size",)),
        Term("execution size", "The number of lanes of an instruction: the number in its parenthesis, 1, 2, 4, 8, 16 or 32.", also=("exec size", "execution width"), see=("execution mask", "SIMD width")),
        Term("execution mask", "The set of enabled lanes of a thread. The word in the parenthesis selects the first lane of an instruction, `M1` lane 0, `M5` lane 16; `_NM` after it enables all lanes of the instruction.", also=("emask", "mask offset", "NoMask", "M1", "M2", "M3", "M4", "M5", "M6", "M7", "M8"), see=("predicate", "divergence")),
        Term("divergence", "The state in which lanes of a thread are at different places of the program. The lanes at other places are disabled until they join again.", also=("divergent control flow",), see=("execution mask",)),
        Term("block", "A sequence of instructions that is entered at the first and left after the last: a node of the control-flow graph.", also=("basic block",), see=("divergence",)),
        Term("payload", "The initial contents of a thread's registers: the header in r0, local ids, arguments. `.input` lines give their places.", also=("thread payload",), see=("input", "register")),
    ),
    "Data": (
        Term("register", "A row of the general register file, of 32 bytes, 64 from PVC on. Also called GRF, for general register file.", also=("GRF", "general register", "GRF register"), see=("general variable",)),
        Term("general variable", "Data in registers; class `G` of a declaration. It has a type and a number of elements.", see=("register", "region", "alias")),
        Term("address variable", "Offsets of registers for indirect operands; class `A`.", also=("address register",), see=("indirect operand",)),
        Term("predicate", "One bit for each lane, in a predicate variable; class `P`. In front of an instruction it selects the lanes that take part. The hardware keeps it in a flag register.", also=("predicate variable", "flag"), see=("execution mask",)),
        Term("surface", "A buffer or an image as messages name it: by a surface variable, class `T`, that holds its handle, or by its binding table index.", also=("surface variable",), see=("binding table index", "buffer")),
        Term("sampler", "The filter settings of an image, as messages name them: by a sampler variable, class `S`, that holds the handle.", also=("sampler variable",), see=("surface",)),
        Term("binding table index", "The number under which the host binds a surface. Short: BTI.", also=("BTI", "binding table entry"), see=("surface",)),
        Term("buffer", "Memory that an argument of the kernel refers to. A message accesses it as a surface, or by an address.", also=("memory object",), see=("surface", "argument")),
        Term("shared local memory", "Memory of one thread group; `%slm`, T0. Short: SLM.", also=("SLM", "local memory", "shared memory"), see=("thread group",)),
        Term("scratch", "Memory of one thread, for data that does not fit into registers.", also=("scratch space",), see=("thread",)),
        Term("argument", "A value that the host passes to a kernel. ze_info gives its kind and its place in the payload.", see=("input", "ze_info")),
        Term("input", "A variable that the payload fills when the kernel starts; an `.input` line.", see=("payload", "argument")),
        Term("alias", "A variable that names bytes of another one, its base.", see=("general variable",)),
    ),
    "Syntax of an instruction": (
        Term("mnemonic", "The first word of an instruction.", see=("opcode", "modifier")),
        Term("opcode", "The number of an instruction in an object. Several mnemonics may share one.", also=("operation code",), see=("mnemonic",)),
        Term("modifier", "A word after the mnemonic and a point, such as `.sat`.", also=("dotted word", "instruction modifier"), see=("source modifier",)),
        Term("source modifier", "An operation on a source as it is read: `(-)`, `(abs)`, `(-abs)`, `(~)`.", see=("modifier",)),
        Term("saturating", "Bringing a result into the range of its type instead of wrapping it; `.sat`. A float is brought into 0 to 1.", also=("saturate",), see=("modifier",)),
        Term("operand", "A value that an instruction reads or writes: after the parenthesis, the destination first.", see=("raw operand", "indirect operand", "immediate")),
        Term("region", "The elements of a variable that the lanes of a source read: `<vertical stride; width, horizontal stride>`, counted in elements. A destination has a stride only: `<1>`.", also=("region parameters",), see=("origin", "element")),
        Term("origin", "The place in a variable where an operand begins: `(row, column)`, a register and an element.", also=("register offset",), see=("region",)),
        Term("element", "One value of a variable's type.", see=("lane", "general variable")),
        Term("raw operand", "Whole registers from a byte on, without type and region: `V33.0`. Messages take such operands.", see=("message",)),
        Term("indirect operand", "An operand whose place is in an address variable: `r[A0(0), 0]<1>:d`.", also=("register-indirect operand",), see=("address variable",)),
        Term("immediate", "A number in an instruction, with its type: `0x2:ud`.", also=("constant operand", "literal"), see=("operand",)),
        Term("message", "A request of an instruction to a unit outside of the registers: memory, a sampler, a barrier.", also=("send",), see=("descriptor", "raw operand")),
        Term("descriptor", "The number that describes a message to its unit. Only messages written by hand show it.", also=("message descriptor",), see=("message",)),
        Term("directive", "A line that begins with a point and is not an instruction, such as `.decl`.", see=("attribute",)),
        Term("attribute", "A named property of a kernel, `.kernel_attr`, or of a variable, `attrs={..}`.", also=("kernel attribute",), see=("directive",)),
        Term("source mark", "A line that gives the source file or line of the instructions below it: `FILE` and `LOC`, or `.file` and `.loc`. Compilers write them with `-g`.", also=("debug line",), see=("text",)),
    ),
    "Files and tools": (
        Term("text", "A program as people read it: `.visaasm`. A compiler's text is also called a dump.", also=("visaasm", "dump"), see=("object", "dialect")),
        Term("object", "A program as tools read it: `.isa`.", also=("isa",), see=("text", "opcode")),
        Term("dialect", "The form of the language in a text: the specification's appendix (seed), 4.1 with an object format, 4.2 as compilers print it today.", also=("language version",), see=("platform",)),
        Term("platform", "A generation of hardware by Intel's short name, such as TGLLP or PVCXT.", also=("device", "target platform"), see=("dialect",)),
        Term("ze_info", "The description of kernels for the runtime: arguments, payload, SIMD width. A part of a zebin, or a file of its own.", also=("zeinfo",), see=("zebin", "argument")),
        Term("zebin", "The file that a compiler passes to the runtime: native code, ze_info, and the vISA object if it was requested.", see=("ze_info",)),
        Term("launch file", "The description of a launch and its expected results: `NAME.launch.yaml`.", see=("argument", "fault")),
        Term("finalizer", "The tool that compiles vISA to native code: `GenX_IR`, or a part of `ocloc`.", also=("GenX_IR",), see=("object",)),
        Term("finding", "A message of a rule about a line: an error, a warning, a remark or a hint. Remarks have the severity `information`.", also=("diagnostic",), see=("rule", "fix")),
        Term("rule", "A check that reports findings of one kind, with a code and a name: `V101 undeclared-name`.", see=("finding",)),
        Term("fix", "An edit that removes the cause of a finding.", also=("quick fix", "code action"), see=("finding",)),
        Term("fault", "A mistake of a kernel in a run, with the place, and the other access if there is one. A note reports less and fails no run.", also=("run-time error",), see=("launch file",)),
        Term("item-races", "The check for races between work items of one thread. The hardware orders them, so it is off by default; with another SIMD width they may be in different threads. `--checks all,item-races` turns it on.", see=("data-race", "SIMD width")),
        Term("interp", "The engine that executes one instruction after another and shows each of them. Slower than `jit` in long runs.", also=("interpreter",), see=("jit",)),
        Term("jit", "The engine that compiles a kernel to native code of the host before it runs. `--engine auto` chooses between the two.", also=("compiled engine",), see=("interp",)),
        Term("spill", "A store of registers to scratch in a kernel that needs more registers than there are; the load back is a fill. Both cost time.", also=("fill", "spilling"), see=("scratch", "register")),
    ),
    FAULTS: (
        Term("out-of-bounds", "A lane reads or writes memory that no buffer, image or shared local memory of the launch has. `--checks bounds` finds it.", also=("bounds",), see=("fault", "buffer")),
        Term("region-outside-variable", "An operand reads or writes registers beyond the elements of its variable. `--checks bounds` finds it.", see=("region", "general variable")),
        Term("uninitialised-read", "An instruction reads registers or memory that nothing has written. `--checks uninitialised` finds it.", also=("uninitialised", "uninitialized"), see=("register", "fault")),
        Term("data-race", "Two threads access the same bytes, one of them writes, and no barrier or atomic orders them: the result depends on their order. `--checks races` finds it.", also=("races", "race"), see=("item-races", "thread group")),
        Term("barrier-divergence", "Threads of a group wait at different barriers, or some end while others wait. `--checks barriers` finds it.", also=("barriers",), see=("thread group", "divergence")),
        Term("misaligned-access", "The address of a message is not a multiple of its required alignment. `--checks alignment` finds it.", also=("alignment",), see=("message",)),
        Term("wrong-access", "A kernel writes an argument that ze_info declares read-only, or reads one that it declares write-only. `--checks access` finds it.", also=("access",), see=("argument", "ze_info")),
        Term("division-by-zero", "A whole number is divided by zero, or its remainder is taken. `--checks division` finds it.", also=("division",), see=("fault",)),
        Term("step-budget", "The run executed as many instructions as `--budget` allows and was stopped: the kernel may never end.", also=("budget",), see=("fault",)),
        Term("not-modelled", "The simulator has no model of the instruction; `docs/instructions.md` lists these.", see=("interp",)),
        Term("bad-call", "A call has no function as its target, calls a subroutine that is already running, or is nested too deeply.", see=("function", "subroutine")),
        Term("bad-operand", "An operand has a value in the run that the instruction does not support, such as an index of `switchjmp` beyond its labels.", see=("operand",)),
    ),
}  # fmt: skip

TERMS: Final = tuple(term for terms in GROUPS.values() for term in terms)
_BY_WORD: Final = {word.lower(): term for term in reversed(TERMS) for word in (term.name, *term.also)}


def term_called(word: str) -> Term | None:
    """Return the term of a name, or of another name of the same thing, in any case; None for other words."""
    return _BY_WORD.get(" ".join(word.lower().split()))


def meaning(word: str) -> str:
    """Return a term in bold with its meaning, for hover; the word itself if it is not a term."""
    term = term_called(word)
    return f"**{term.name}** — {term.doc}" if term is not None else word


def entry(term: Term) -> str:
    """Return a term in Markdown, without a heading: its meaning, its other names, further terms."""
    lines = [term.doc]
    if term.also:
        lines.append(f"Elsewhere: {', '.join(term.also)}.")
    if term.see:
        lines.append(f"See: {', '.join(term.see)}.")
    return "\n\n".join(lines)
