"""Does ``visa-lsp verify`` find mistakes in machine code? A thousand mistakes of 13 kinds, planted in the decoded code of kernels.

    python -m benchmarks.plant_machine FOLDER... [--count N] [--seed N] [--iga PATH] [--platform P] [--options S] [--largest N] [--kernels N] [--spilling N]
        [--kind K]... [--show]

One field of one instruction is changed; the launches are those of ``verify``. Found means another answer than for the right code.
What is not found is ``same`` where a proof over all paths shows that the change has no consequence (``benchmarks.same_consequence``),
``not reached`` where no launch executes the instruction, and ``no effect`` where in every launch the changed instruction leaves all that may be read
later as the right one does (``benchmarks.launch_effects``). Nothing is planted in instructions on which nothing depends.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.launch_effects import has_effect
from benchmarks.same_consequence import idle_instructions, needs_no_distance, needs_no_wait, without_consequence
from visa_lsp.app.errors import UserError
from visa_lsp.app.external_tools import split_options
from visa_lsp.app.gen.gen_document import read_input
from visa_lsp.app.verify.both_runs import TextRun, compare_with
from visa_lsp.app.verify.covering_launches import text_runs
from visa_lsp.app.verify.line_faults import text_faults
from visa_lsp.app.verify.machine_source import CodeRequest, code_of_text
from visa_lsp.app.verify.verified_inputs import COMPILERS_OWN
from visa_lsp.app.verify.verify_launches import beside_of, launches_of
from visa_lsp.companions import kernels_in
from visa_lsp.eu.branch_walks import hazards_behind_branches
from visa_lsp.eu.decode import with_ranges
from visa_lsp.eu.model import NO_WAIT, Direct, Guard, Payload, Wait
from visa_lsp.eu.scoreboard import Scoreboard
from visa_lsp.isa.operands import Region
from visa_lsp.isa.platforms import platform_named
from visa_lsp.program.model import Immediate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from visa_lsp.eu.model import MachineCode, MachineInst
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.program.model import Kernel
    from visa_lsp.sim.interp import Thread

_OTHER_CONDITION = {"eq": "ne", "ne": "eq", "lt": "le", "le": "lt", "gt": "ge", "ge": "gt"}
_SCALAR = Region(0, 1, 0)
_CONTIGUOUS = Region(1, 1, 0)
_LAST_REGISTER = 127
_LSC = ("ugm", "slm", "tgm", "urb")
Mistake = "Callable[[random.Random, MachineInst, int], MachineInst | None]"


def _moved(pick: random.Random, operand: Any, grf: int) -> Any:
    number = operand.register.number + pick.choice((-1, 1))
    step = number - operand.register.number
    if not 0 <= number <= _LAST_REGISTER:
        return None
    return replace(operand, register=replace(operand.register, number=number), start=operand.start + step * grf)


def _is_general(operand: Any) -> bool:
    return isinstance(operand, Direct) and operand.register.kind == "r" and operand.macro is None


def _with_source(inst: MachineInst, at: int, source: Any) -> MachineInst | None:
    if source is None:
        return None
    sources = list(inst.sources)
    sources[at] = source
    return replace(inst, sources=tuple(sources))


def wrong_source(pick: random.Random, inst: MachineInst, grf: int) -> MachineInst | None:
    """Read the register before or behind."""
    places = [n for n, s in enumerate(inst.sources) if _is_general(s)]
    if not places:
        return None
    at = pick.choice(places)
    return _with_source(inst, at, _moved(pick, inst.sources[at], grf))


def wrong_destination(pick: random.Random, inst: MachineInst, grf: int) -> MachineInst | None:
    """Write the register before or behind."""
    dst = _moved(pick, inst.dst, grf) if _is_general(inst.dst) else None
    return replace(inst, dst=dst) if dst is not None else None


def wrong_region(pick: random.Random, inst: MachineInst, grf: int) -> MachineInst | None:
    """Read one element for all lanes, or an element for each lane instead of one."""
    del grf
    places = [n for n, s in enumerate(inst.sources) if _is_general(s)] if inst.lanes > 1 and not inst.is_message else []
    if not places:
        return None
    at = pick.choice(places)
    source = inst.sources[at]
    assert isinstance(source, Direct)
    is_scalar = source.region.vert_stride == 0 and source.region.horz_stride == 0
    return _with_source(inst, at, replace(source, region=_CONTIGUOUS if is_scalar else _SCALAR))


def wrong_width(pick: random.Random, inst: MachineInst, grf: int) -> MachineInst | None:
    """Execute half of the lanes."""
    del pick, grf
    if inst.lanes == 1 or inst.dst is None or inst.op.startswith(("send", "dpas")):
        return None
    return replace(inst, lanes=inst.lanes // 2)


def wrong_mask(pick: random.Random, inst: MachineInst, grf: int) -> MachineInst | None:
    """Take the mask of other lanes of the thread."""
    del pick, grf
    if inst.no_mask or inst.dst is None or inst.lanes not in (8, 16):
        return None
    return replace(inst, offset=(inst.offset + inst.lanes) % 32)


def wrong_predicate(pick: random.Random, inst: MachineInst, grf: int) -> MachineInst | None:
    """Invert the predicate, lose it, or take another flag register."""
    del grf
    if inst.guard is None:
        return None
    inverted = replace(inst, guard=Guard(not inst.guard.inverse, inst.guard.combine))
    lost = replace(inst, guard=None) if inst.op not in ("sel", "jmpi", "while") else inverted
    return pick.choice((inverted, lost, replace(inst, flag=(inst.flag + 2) % 4)))


def wrong_condition(pick: random.Random, inst: MachineInst, grf: int) -> MachineInst | None:
    """Compare with or without equality."""
    del pick, grf
    if inst.condition not in _OTHER_CONDITION or inst.op == "sel":
        return None
    return replace(inst, condition=_OTHER_CONDITION[inst.condition])


def wrong_immediate(pick: random.Random, inst: MachineInst, grf: int) -> MachineInst | None:
    """Add one, or flip a bit."""
    del grf
    places = [n for n, s in enumerate(inst.sources) if isinstance(s, Immediate)]
    if not places or inst.is_message or inst.dst is None or inst.symbol is not None:
        return None
    at = pick.choice(places)
    value = inst.sources[at]
    assert isinstance(value, Immediate)
    used = 5 if inst.op in ("shl", "shr", "asr", "rol", "ror") else 8 * value.type.size  # bits of a shift count
    bits = pick.choice((value.bits + 1, value.bits ^ 1 << pick.randrange(used)))
    return _with_source(inst, at, Immediate(value.type, bits & (1 << 8 * max(4, value.type.size)) - 1))


def missing_wait(pick: random.Random, inst: MachineInst, grf: int) -> MachineInst | None:
    """Do not wait for a message."""
    del pick, grf
    if inst.wait.token is None or inst.wait.use == "set":
        return None
    return replace(inst, wait=Wait(inst.wait.distances) if inst.wait.distances else NO_WAIT)


def wrong_distance(pick: random.Random, inst: MachineInst, grf: int) -> MachineInst | None:
    """Wait for an older instruction, or for none."""
    del grf
    if not inst.wait.distances:
        return None
    (pipe, distance), *more = inst.wait.distances
    changed = pick.choice(([], [(pipe, distance + 1)]))
    return replace(inst, wait=replace(inst.wait, distances=(*changed, *more)))


def lost_spill(pick: random.Random, inst: MachineInst, grf: int) -> MachineInst | None:
    """Leave out a message to the scratch space."""
    del pick, grf
    if not inst.is_message or not ("scratch" in inst.text or "scratch" in inst.comment):
        return None
    return replace(inst, op="nop", subop="", sources=(), dst=None, guard=None, condition="")


def wrong_message(pick: random.Random, inst: MachineInst, grf: int) -> MachineInst | None:
    """Flip a bit of the descriptor: surface, operation, sizes, channels; or read other registers; or another offset."""
    if not inst.is_message or "EOT" in inst.options or len(inst.sources) <= 3:
        return None
    address, data, _, bits = inst.sources[:4]
    which = pick.randrange(4)
    if which == 0 and isinstance(bits, Immediate):
        # Higher bits of LSC's descriptors say what caches keep, which changes no value.
        count = 16 if inst.subop in _LSC else 19
        return _with_source(inst, 3, Immediate(bits.type, bits.bits ^ 1 << pick.randrange(count)))
    if which == 1 and isinstance(data, Payload) and data.start >= 0:
        return _with_source(inst, 1, _moved(pick, data, grf))
    if which == 2 and isinstance(inst.dst, Payload) and inst.dst.start >= 0:
        dst = _moved(pick, inst.dst, grf)
        return replace(inst, dst=dst) if dst is not None else None
    return _with_source(inst, 0, _moved(pick, address, grf)) if isinstance(address, Payload) else None


def surplus_no_mask(pick: random.Random, inst: MachineInst, grf: int) -> MachineInst | None:
    """Execute in all lanes, active or not."""
    del pick, grf
    if inst.no_mask or inst.dst is None or inst.lanes == 1:
        return None
    return replace(inst, no_mask=True)


KINDS: dict[str, Any] = {
    "wrong source": wrong_source, "wrong destination": wrong_destination, "wrong region": wrong_region,
    "wrong width": wrong_width, "wrong mask": wrong_mask, "wrong predicate": wrong_predicate,
    "wrong condition": wrong_condition, "wrong immediate": wrong_immediate, "missing wait": missing_wait,
    "wrong distance": wrong_distance, "lost spill": lost_spill, "wrong message field": wrong_message,
    "surplus NoMask": surplus_no_mask,
}  # fmt: skip
FOUND = ("different", "hazard", "unlike line", "not modelled")
_OF_WAITS = ("missing wait", "wrong distance")
_FEW_REGISTERS = ("-TotalGRFNum", "48")
_STEPS = (2, 5_000)  # endless mutants end sooner


class _Reached:
    """A watcher that collects the executed instructions."""

    def __init__(self) -> None:
        self.indexes: set[int] = set()

    def before(self, _thread: Thread, inst: MachineInst) -> None:
        """Keep an instruction."""
        self.indexes.add(inst.index)


@dataclass(frozen=True)
class Subject:
    """A kernel in which mistakes are planted: its right code, and the runs of its text."""

    name: str
    text: str
    code: MachineCode
    platform: Platform
    runs: tuple[TextRun, ...]
    kernel: Kernel
    reached: frozenset[int]
    idle: frozenset[int]


def subject_of(
    path: Path, kernel: str, platform: str | None, request: CodeRequest, is_wanted: Callable[[MachineCode], bool]
) -> Subject | None:
    """Return a kernel with the runs of its text; None if its code is not wanted.

    Raises UserError where its right code is not found equal.
    """
    source = read_input(str(path), None, platform)
    found = platform_named(source.platform)
    assert found is not None
    data = path.read_bytes()
    launches = list(launches_of(path, None, found.name, kernel, data, tries=False))
    kernel_body = launches[0].ready().prepared.dispatch.kernel
    code = code_of_text(source, str(path), kernel_body, found, request)
    if not is_wanted(code):
        return None
    runs = tuple(run for run in text_runs(launches, beside_of(str(path), None)) if not run.result.faults)
    board, reached = Scoreboard(code, found), _Reached()
    for run in runs:
        outcome = compare_with(run, code, source.text, [board, reached], _STEPS)
        if (
            outcome.first is not None
            or outcome.unmodelled
            or board.hazards()
            or any(text_faults(kernel_body, code, found))
        ):
            raise UserError(f"{path}: the right code is not found equal")
    if not runs:
        raise UserError(f"{path}: no launch")
    return Subject(
        f"{kernel} on {found.name}",
        source.text,
        code,
        found,
        runs,
        kernel_body,
        frozenset(reached.indexes),
        idle_instructions(code),
    )


def with_change(code: MachineCode, changed: MachineInst) -> MachineCode:
    """Return the code with one changed instruction."""
    instructions = list(code.instructions)
    instructions[changed.index] = with_ranges(changed, code.grf_bytes)
    return replace(code, instructions=tuple(instructions))


def answer_of(subject: Subject, kind: str, changed: MachineInst) -> str:
    """Return what ``verify`` says about the code with one changed instruction; empty for nothing.

    What no run needs comes ahead of the runs, and the first report ends them. A wait changes no value, so that the runs of one
    serve the scoreboard alone, in the order of ``verify``, because it watches the first threads only.
    """
    code = with_change(subject.code, changed)
    if any(text_faults(subject.kernel, code, subject.platform)):
        return "unlike line"
    if any(hazards_behind_branches(code, subject.platform)):
        return "hazard"
    board, unmodelled, is_wait = Scoreboard(code, subject.platform), "", kind in _OF_WAITS
    for run in subject.runs if is_wait else sorted(subject.runs, key=_steps_of):  # most mistakes show in a short run
        if is_wait and board.is_full:
            break
        outcome = compare_with(run, code, subject.text, [board], _STEPS)
        if outcome.first is not None:
            return "different"
        if board.hazards():
            return "hazard"
        if outcome.unmodelled:
            unmodelled = "not modelled"
    return unmodelled


def _steps_of(run: TextRun) -> int:
    return run.result.steps


def reason_of(subject: Subject, kind: str, changed: MachineInst) -> str:
    """Return why a mistake is not found: the strongest reason that holds."""
    code, index = subject.code, changed.index
    also = with_change(code, changed)
    if kind == "wrong distance" and needs_no_distance(code, also, index, subject.platform):
        return "same"
    if kind == "missing wait" and needs_no_wait(code, also, index, subject.platform):
        return "same"
    if kind not in _OF_WAITS and without_consequence(code, also.instructions[index], also):
        return "same"
    if index not in subject.reached:
        return "not reached"
    if kind not in _OF_WAITS and not has_effect(subject.runs, subject.text, code, also, index):
        return "no effect"
    return "unseen"


def _changes(subject: Subject, changed: MachineInst) -> str:
    """Return words for the fields that a mistake has changed."""
    right, words = subject.code.instructions[changed.index], []
    for field in fields(right):
        old, new = getattr(right, field.name), getattr(changed, field.name)
        if old != new and field.name != "sources":
            words.append(f"{field.name} {old} -> {new}")
    words += [f"{old} -> {new}" for old, new in zip(right.sources, changed.sources, strict=False) if old != new]
    return "; ".join(words)


def plant(subject: Subject, count: int, pick: random.Random, kinds: Sequence[str]) -> Iterator[tuple[str, MachineInst]]:
    """Yield up to ``count`` mistakes of each of some kinds in a kernel."""
    for kind in kinds:
        change = KINDS[kind]
        places = [inst for inst in subject.code.instructions if inst.index not in subject.idle or kind in _OF_WAITS]
        pick.shuffle(places)
        planted = 0
        for inst in places:
            changed = change(pick, inst, subject.code.grf_bytes)
            if changed is not None and changed != inst:
                yield kind, changed
                planted += 1
            if planted == count:
                break


def subjects(
    paths: Iterable[Path],
    platform: str | None,
    request: CodeRequest,
    is_wanted: Callable[[MachineCode], bool],
    count: int,
) -> Iterator[Subject]:
    """Yield up to ``count`` kernels of some texts with wanted code; print why another one is left out.

    Not where the options are those of few registers, with which the finalizer crashes for some texts.
    """
    for path in paths if count else ():
        kernels = kernels_in(path.read_text(encoding="utf-8"))
        if not kernels or kernels[0] == COMPILERS_OWN:
            continue
        try:
            subject = subject_of(path, kernels[0], platform, request, is_wanted)
        except UserError as error:
            if request.options != _FEW_REGISTERS:
                print(f"left out: {error}", flush=True)
            continue
        if subject is not None:
            yield subject
            count -= 1
        if not count:
            return


def main() -> None:
    """Plant mistakes in the kernels of the folders and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("texts", nargs="+", type=Path, metavar="FOLDER", help="folders, or texts")
    parser.add_argument("--count", type=int, default=4, help="mistakes of each kind in a kernel")
    parser.add_argument("--kernels", type=int, default=20)
    parser.add_argument("--spilling", type=int, default=0, help="further kernels with 48 registers, for lost spills")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--iga")
    parser.add_argument("--platform")
    parser.add_argument("--options", default="", help="options for the finalizer")
    parser.add_argument("--largest", type=int, default=10_000, help="instructions of the largest kernel")
    parser.add_argument("--kind", action="append", choices=[*KINDS], help="only this kind of mistake; may be repeated")
    parser.add_argument("--show", action="store_true", help="print each mistake that is not found")
    args = parser.parse_args()
    request = CodeRequest(split_options(args.options, "--options"), None, args.iga)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    pick, began = random.Random(args.seed), time.process_time()
    in_folders = [p for t in args.texts if t.is_dir() for p in sorted(t.rglob("*.visaasm"))]
    pick.shuffle(in_folders)
    paths = list(dict.fromkeys([*(t for t in args.texts if t.is_file()), *in_folders]))

    def is_small(code: MachineCode) -> bool:
        return len(code.instructions) <= args.largest

    def spills(code: MachineCode) -> bool:
        return is_small(code) and any(lost_spill(pick, inst, code.grf_bytes) for inst in code.instructions)

    usual = subjects(paths, args.platform, request, is_small, args.kernels)
    few = subjects(paths, args.platform, replace(request, options=_FEW_REGISTERS), spills, args.spilling)
    for kinds, group in ((args.kind or [*KINDS], usual), (["lost spill"], few)):
        for subject in group:
            own = Counter[str]()
            for kind, changed in plant(subject, args.count, pick, kinds):
                said = answer_of(subject, kind, changed)
                if not said:
                    said = reason_of(subject, kind, changed)
                    if args.show:
                        right = subject.code.instructions[changed.index].text
                        print(f"  {said}: {kind}: {right}: {_changes(subject, changed)}")
                counts[kind][said] += 1
                own["found" if said in FOUND else said] += 1
            seconds = time.process_time() - began
            size = len(subject.code.instructions)
            print(f"{subject.name}: {size} instructions: {dict(own)}, {seconds:.0f} s", flush=True)
    print_table(counts)
    print(f"{time.process_time() - began:.0f} s of CPU")


def print_table(counts: dict[str, Counter[str]]) -> None:
    """Print the answers by kind, and the shares of what was found."""
    columns = (*FOUND, "unseen", "not reached", "no effect", "same")
    print(f"{'':20} " + " ".join(f"{name:>13}" for name in columns) + "   found  not same, with an effect")
    total: Counter[str] = Counter()
    for row in counts.values():
        total.update(row)
    for kind, row in (*counts.items(), ("all", total)):
        found = sum(row[name] for name in FOUND)
        every = sum(row.values())
        shares = [found / max(1, every - apart) for apart in (0, row["same"], row["same"] + row["no effect"])]
        print(
            f"{kind:20} "
            + " ".join(f"{row[name]:13}" for name in columns)
            + "".join(f" {share:7.1%}" for share in shares)
        )


if __name__ == "__main__":
    main()
