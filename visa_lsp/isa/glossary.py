"""The terms of this project: one word for one thing.

Hover, ``explain``, ``docs/glossary.md`` and the messages use them. A term lists other names of the same thing, by which
``explain`` finds it (``also``), and those of them that this project does not write (``never``).
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct


class Term(Struct, frozen=True):
    """A word and what it means. ``see`` names further terms."""

    name: str
    doc: str
    also: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    see: tuple[str, ...] = ()


FAULTS: Final = "What a kernel does wrong"  # the group of the kinds of fault, by the names that reports have
# A group is a heading of the page.
GROUPS: Final[dict[str, tuple[Term, ...]]] = {
    "What runs": (
        Term("kernel", "A program that the host launches, with its own declarations. It begins with `.kernel`.", see=("function", "thread")),
        Term("function", "A body of its own that kernels call with `fcall`. It begins with `.global_function`; its arguments are in `%arg`, its result in `%retval`.", also=("global function",), see=("subroutine",)),
        Term("subroutine", "A part of a kernel or function that `call` calls. It begins with `.function` and shares the declarations around it.", see=("function",)),
        Term("thread", "What executes a kernel's instructions: one register file, one place in the program. It runs as many work items as the SIMD width says, one in each lane.", also=("hardware thread", "EU thread"), never=("EU thread",), see=("lane", "thread group")),
        Term("lane", "One of the parallel columns of a thread, numbered from 0. An instruction works on one element for each of its lanes.", also=("channel",), see=("execution size", "work item")),
        Term("work item", "One point of the launch, as the source sees it, with a local and a global id. It has a lane of a thread to itself.", also=("work-item", "workitem"), never=("work-item", "workitem"), see=("lane", "SIMD width")),
        Term("thread group", "The threads that share a barrier and shared local memory; the work items of one local size. Short: group.", also=("work group", "work-group", "workgroup", "group"), never=("work group", "work-group", "workgroup"), see=("shared local memory",)),
        Term("SIMD width", "How many work items a thread runs: 8, 16 or 32, or 1 where the text says so itself. It belongs to the kernel, as the execution size belongs to an instruction. ze_info has it as `simd_size`, the text as `.kernel_attr SimdSize`.", also=("SIMD", "SIMD size", "dispatch width"), never=("SIMD size", "dispatch width"), see=("execution size",)),
        Term("execution size", "How many lanes an instruction has: the number in its parenthesis, 1, 2, 4, 8, 16 or 32.", also=("exec size", "execution width"), never=("exec size", "execution width", "instruction width"), see=("execution mask", "SIMD width")),
        Term("execution mask", "Which lanes of a thread are switched on. The word in the parenthesis says with which lane an instruction begins, `M1` with lane 0, `M5` with lane 16; `_NM` behind it switches all lanes of the instruction on.", also=("emask", "mask offset", "NoMask", "M1", "M2", "M3", "M4", "M5", "M6", "M7", "M8"), never=("emask", "exec mask"), see=("predicate", "divergence")),
        Term("divergence", "That lanes of a thread are in different places of the program. The lanes that are elsewhere are off until they meet again.", also=("divergent control flow",), see=("execution mask",)),
        Term("block", "Instructions one after another that are entered at the first and left behind the last: a node of the control-flow graph.", also=("basic block",), see=("divergence",)),
        Term("payload", "What a thread finds in its registers when it starts: the header in r0, local ids, arguments. `.input` lines say where.", also=("thread payload",), see=("input", "register")),
    ),
    "What holds data": (
        Term("register", "A row of the general register file, of 32 bytes, 64 from PVC on. Also called GRF, for general register file.", also=("GRF", "general register", "GRF register"), see=("general variable",)),
        Term("general variable", "Data in registers; class `G` of a declaration. It has a type and a number of elements.", see=("register", "region", "alias")),
        Term("address variable", "Offsets of registers for indirect operands; class `A`.", also=("address register",), see=("indirect operand",)),
        Term("predicate", "One bit for each lane, in a predicate variable; class `P`. In front of an instruction it says which lanes take part. The hardware keeps it in a flag register.", also=("predicate variable", "flag"), never=("predicate flag", "flag variable"), see=("execution mask",)),
        Term("surface", "A buffer or an image as messages name it: by a surface variable, class `T`, that holds its handle, or by its binding table index.", also=("surface variable",), see=("binding table index", "buffer")),
        Term("sampler", "How an image is filtered, as messages name it: by a sampler variable, class `S`, that holds its handle.", also=("sampler variable",), see=("surface",)),
        Term("binding table index", "The number under which the host binds a surface. Short: BTI.", also=("BTI", "binding table entry"), never=("binding table entry", "bti index"), see=("surface",)),
        Term("buffer", "Memory that an argument of the kernel stands for. A message reaches it as a surface, or by an address.", also=("memory object",), never=("memory object",), see=("surface", "argument")),
        Term("shared local memory", "Memory of one thread group; `%slm`, T0. Short: SLM.", also=("SLM", "local memory", "shared memory"), never=("shared memory", "local memory"), see=("thread group",)),
        Term("scratch", "Memory of one thread, for what has no room in registers.", also=("scratch space",), see=("thread",)),
        Term("argument", "What the host hands to a kernel. ze_info says what it is and where in the payload it lies.", see=("input", "ze_info")),
        Term("input", "A variable that the payload fills when the kernel starts; an `.input` line.", see=("payload", "argument")),
        Term("alias", "A variable that stands for bytes of another one, its base.", see=("general variable",)),
    ),
    "How an instruction is written": (
        Term("mnemonic", "The word that an instruction begins with.", see=("opcode", "modifier")),
        Term("opcode", "The number of an instruction in an object. Several mnemonics may share one.", also=("operation code",), never=("operation code",), see=("mnemonic",)),
        Term("modifier", "A word behind the mnemonic and a point, such as `.sat`.", also=("dotted word", "instruction modifier"), never=("dotted word",), see=("source modifier",)),
        Term("source modifier", "What is done to a source as it is read: `(-)`, `(abs)`, `(-abs)`, `(~)`.", see=("modifier",)),
        Term("saturating", "Bringing a result into the range of its type instead of wrapping it; `.sat`. A float is brought into 0 to 1.", also=("saturate",), see=("modifier",)),
        Term("operand", "What an instruction reads or writes: behind the parenthesis, the destination first.", see=("raw operand", "indirect operand", "immediate")),
        Term("region", "Which elements of a variable the lanes of a source read: `<vertical stride; width, horizontal stride>`, counted in elements. A destination has a stride only: `<1>`.", also=("region parameters",), see=("origin", "element")),
        Term("origin", "Where in a variable an operand begins: `(row, column)`, a register and an element.", also=("register offset",), see=("region",)),
        Term("element", "One value of a variable's type.", see=("lane", "general variable")),
        Term("raw operand", "Whole registers from a byte on, without type and region: `V33.0`. Messages take such operands.", see=("message",)),
        Term("indirect operand", "An operand whose place is in an address variable: `r[A0(0), 0]<1>:d`.", also=("register-indirect operand",), see=("address variable",)),
        Term("immediate", "A number in an instruction, with its type: `0x2:ud`.", also=("constant operand", "literal"), see=("operand",)),
        Term("message", "What an instruction sends to a unit beside the registers: memory, a sampler, a barrier.", also=("send",), see=("descriptor", "raw operand")),
        Term("descriptor", "The number that tells a unit what a message asks for. Only messages written by hand show it.", also=("message descriptor",), see=("message",)),
        Term("directive", "A line that begins with a point and is no instruction, such as `.decl`.", see=("attribute",)),
        Term("attribute", "What is said of a kernel, `.kernel_attr`, or of a variable, `attrs={..}`, by name.", also=("kernel attribute",), see=("directive",)),
        Term("source mark", "A line that says which file or line of a source the instructions below come from: `FILE` and `LOC`, or `.file` and `.loc`. Compilers write them with `-g`.", also=("debug line",), see=("text",)),
    ),
    "Files and tools": (
        Term("text", "A program as people read it: `.visaasm`. A compiler's text is also called a dump.", also=("visaasm", "dump"), see=("object", "dialect")),
        Term("object", "A program as tools read it: `.isa`.", also=("isa",), see=("text", "opcode")),
        Term("dialect", "Which of the forms of the language a text has: the specification's appendix (seed), 4.1 with an object format, 4.2 as compilers print it today.", also=("language version",), never=("language version",), see=("platform",)),
        Term("platform", "A generation of hardware by Intel's short name, such as TGLLP or PVCXT.", also=("device", "target platform"), see=("dialect",)),
        Term("ze_info", "What the runtime has to know of kernels: arguments, payload, SIMD width. A part of a zebin, or a file of its own.", also=("zeinfo",), see=("zebin", "argument")),
        Term("zebin", "The file that a compiler hands to the runtime: native code, ze_info, and the vISA object where it was asked for.", see=("ze_info",)),
        Term("launch file", "How a kernel is run and what it should leave: `NAME.launch.yaml`.", see=("argument", "fault")),
        Term("finalizer", "The tool that makes native code from vISA: `GenX_IR`, or a part of `ocloc`.", also=("GenX_IR",), see=("object",)),
        Term("finding", "What a rule has to say of a line: an error, a warning, a remark or a hint. Remarks have the severity `information`.", also=("diagnostic",), see=("rule", "fix")),
        Term("rule", "What makes findings of one kind, with a code and a name: `V101 undeclared-name`.", see=("finding",)),
        Term("fix", "An edit that takes a finding away.", also=("quick fix", "code action"), see=("finding",)),
        Term("fault", "What a kernel did wrong in a run, with the place, and the other party where there is one. A note is worth telling and fails no run.", also=("run-time error",), see=("launch file",)),
        Term("item-races", "The check for races between work items of one thread. The hardware orders them, so it is off by default; a compiler with another SIMD width need not. `--checks all,item-races` turns it on.", see=("data-race", "SIMD width")),
        Term("interp", "The engine that executes one instruction after another and shows each of them. Slower than `jit` in long runs.", also=("interpreter",), see=("jit",)),
        Term("jit", "The engine that compiles a kernel to code of this machine before it runs. `--engine auto` chooses between the two.", also=("compiled engine",), see=("interp",)),
        Term("spill", "A store of registers to scratch where a kernel needs more registers than there are; the load back is a fill. Both cost time.", also=("fill", "spilling"), see=("scratch", "register")),
    ),
    FAULTS: (
        Term("out-of-bounds", "A lane reads or writes memory that no buffer, image or shared local memory of the launch has. `--checks bounds` finds it.", also=("bounds",), see=("fault", "buffer")),
        Term("region-outside-variable", "An operand reads or writes registers beyond the elements of its variable. `--checks bounds` finds it.", see=("region", "general variable")),
        Term("uninitialised-read", "An instruction reads registers or memory that nothing has written. `--checks uninitialised` finds it.", also=("uninitialised", "uninitialized"), see=("register", "fault")),
        Term("data-race", "Two threads reach the same bytes, one of them writes, and no barrier or atomic orders them: the result depends on which comes first. `--checks races` finds it.", also=("races", "race"), see=("item-races", "thread group")),
        Term("barrier-divergence", "Threads of a group wait at different barriers, or some end while others wait. `--checks barriers` finds it.", also=("barriers",), see=("thread group", "divergence")),
        Term("misaligned-access", "The address of a message is not a multiple of what the message needs. `--checks alignment` finds it.", also=("alignment",), see=("message",)),
        Term("wrong-access", "A kernel writes an argument that ze_info says is only read, or reads one that is only written. `--checks access` finds it.", also=("access",), see=("argument", "ze_info")),
        Term("division-by-zero", "A whole number is divided by zero, or its remainder is taken. `--checks division` finds it.", also=("division",), see=("fault",)),
        Term("step-budget", "The run executed as many instructions as `--budget` allows and was ended: the kernel may never end.", also=("budget",), see=("fault",)),
        Term("not-modelled", "The instruction is known and has no model in the simulator; `docs/instructions.md` lists these.", see=("interp",)),
        Term("bad-call", "A call goes to no function, calls a subroutine that is open already, or is nested too deeply.", see=("function", "subroutine")),
        Term("bad-operand", "A value that an operand takes in the run is none that the instruction has, such as an index of `switchjmp` beyond its labels.", see=("operand",)),
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
