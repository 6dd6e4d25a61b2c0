"""The proof of a text, as the command prints it.

The work is done in a separate process with limited memory and time, because a hostile text may need any amount of both.
When a limit ends the process, the answers of its journal remain.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NoReturn

from msgspec import Struct, convert, structs, to_builtins

from visa_lsp.app.errors import UserError
from visa_lsp.app.inputs import decode, is_object
from visa_lsp.app.prove import PROPERTIES, Cause, ProofResult
from visa_lsp.app.prove.journal import Journal, read_journal
from visa_lsp.app.suggestions import did_you_mean
from visa_lsp.children import temporary_folder
from visa_lsp.job_process import JobLost, JobProcess, answer_jobs
from visa_lsp.sim.faults import FaultKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from visa_lsp.app.prove.answers import Prover
    from visa_lsp.app.prove.confirm import LaunchRuns, ShownFault
    from visa_lsp.app.prove.element_words import ElementWords
    from visa_lsp.app.prove.needs import Need
    from visa_lsp.app.prove.spaces import ItemAccess, Space
    from visa_lsp.app.prove.walk import Walker, Way
    from visa_lsp.app.read.model import Repeat
    from visa_lsp.companions import Beside
    from visa_lsp.program.model import Kernel, Module

DEFAULT_SECONDS: Final = 60.0
GRACE_SECONDS: Final = 15.0  # additional seconds, for loading and for runs of counterexamples
MEMORY_BYTES: Final = 3 << 30
TRIAL_STEPS: Final = 8_000  # instructions to find the launches that ``run`` would make, less than a second
_MODULE: Final = "visa_lsp.app.prove.document"
_SIZE_SECONDS: Final = 1.0  # of the walk that looks for sizes of groups
_COMPILERS_OWN: Final = "Intel_Symbol_Table_Void_Program"
_OF_MEMORY: Final = (FaultKind.RACE.value, FaultKind.OUT_OF_BOUNDS.value)
_NAMED: Final = re.compile(r"`(\w+)`")
_USUAL_SIZE: Final = re.compile(r" has at least [^(]*$")  # a formula without a length of rows that is computed
_INSTALL: Final = "proofs need Z3: pip install 'visa-lsp[prove]'"


class ProofOptions(Struct, frozen=True):
    """The task: properties, the user's assumptions, the seconds for a kernel, and one kernel or all."""

    properties: tuple[str, ...] = PROPERTIES
    assume: tuple[str, ...] = ()
    seconds: float = DEFAULT_SECONDS
    kernel: str | None = None
    platform: str | None = None
    item_races: bool = True  # lanes of one hardware thread may race


class ProvedFile(Struct, frozen=True):
    """The answers for a file."""

    name: str
    results: tuple[ProofResult, ...]


def check_properties(names: Iterable[str]) -> tuple[str, ...]:
    """Return the named properties, all if none is named. Raises UserError for an unknown one."""
    properties = tuple(dict.fromkeys(name.strip() for name in names if name.strip()))
    for name in properties:
        if name not in PROPERTIES:
            known = ", ".join(PROPERTIES)
            raise UserError(f"unknown property {name!r}{did_you_mean(name, PROPERTIES)}; known properties: {known}")
    return properties or PROPERTIES


def prove_data(
    name: str, path: Path | None, data: bytes, options: ProofOptions, *,
    opened: Mapping[str, str] | None = None, is_wanted: Callable[[], bool] = lambda: True,
    on_progress: Callable[[str], None] | None = None,
) -> ProvedFile:  # fmt: skip
    """Prove the kernels of a text in a separate process, which ends as soon as the answer is not wanted.

    ``opened`` are texts of an editor by path, which replace the files; ``on_progress`` is called with the progress in words.
    Raises UserError if Z3 is missing, the file is no text or has errors, a kernel has no ze_info, or an assumption has a
    mistake.
    """
    if find_spec("z3") is None or find_spec("numpy") is None:
        raise UserError(_INSTALL)
    if is_object(name, data):
        raise UserError(
            f"{name}: this is an object, and answers are about lines of a text; visa-lsp dis prints its text"
        )
    decode(name, data)  # raises for other data than text, without a process
    job = {
        "name": name, "path": str(path) if path else None, "data": b64encode(data).decode(), "opened": dict(opened or {})
    }  # fmt: skip
    child: JobProcess | None = None  # replaced by a new one when a limit has ended it

    def goes_on() -> bool:
        """Return whether the answer is wanted; called several times a second, so that it tells the progress too."""
        if on_progress is not None and journal.is_file():
            so_far = read_journal(journal, kernel)
            words = f"{so_far.decided} of {len(so_far.tasks)} questions decided" if so_far.tasks else "running launches"
            on_progress(f"{kernel}: {words}")
        return is_wanted()

    def ask(given: ProofOptions, **more: Any) -> dict[str, Any]:
        """Return the answer to a job, or the reason why there is none as ``lost``."""
        nonlocal child
        child = child or JobProcess(_MODULE)
        asked = json.dumps({**job, "options": structs.asdict(given), **more}).encode()
        try:
            answer: dict[str, Any] = json.loads(child.ask(asked, options.seconds + GRACE_SECONDS, goes_on))
        except JobLost as lost:
            child.end()
            child = None
            words = str(lost)
            return {"lost": f"time: {words}" if "longer than" in words else words}
        if "error" in answer:
            raise UserError(answer["error"])
        return answer

    results: list[ProofResult] = []
    kernel = ""
    with temporary_folder() as folder:
        journal = folder / "answers.jsonl"
        try:
            found = ask(options, names=True)
            if "lost" in found:
                return ProvedFile(name, tuple(_unknown("", options.properties, found["lost"])))
            for kernel in found["names"]:
                if not is_wanted():
                    break
                answer = ask(structs.replace(options, kernel=kernel), journal=str(journal))
                if "lost" not in answer:
                    results += convert(answer["results"], list[ProofResult])
                    continue
                kept = read_journal(journal, kernel).results(answer["lost"])
                missing = [one for one in options.properties if one not in {result.property for result in kept}]
                results += [*kept, *_unknown(kernel, tuple(missing), answer["lost"])]
        finally:
            if child is not None:
                child.end()
    return ProvedFile(name, tuple(results))


def _unknown(kernel: str, properties: tuple[str, ...], why: str) -> list[ProofResult]:
    return [ProofResult(property_, kernel, 1, "unknown", reason=why) for property_ in properties]


# ---- the process


def main() -> NoReturn:
    """Read a job, do it, and send the answer."""
    _limit_memory()
    answer_jobs(_answer)


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def _answer(job: bytes) -> bytes:
    try:
        found = _perform(json.loads(job))
    except UserError as error:
        found = {"error": str(error)}
    return json.dumps(found).encode()


def _perform(request: dict[str, Any]) -> dict[str, Any]:
    from visa_lsp.companions import Beside

    name, options, data = request["name"], convert(request["options"], ProofOptions), b64decode(request["data"])
    path = Path(request["path"]) if request["path"] else None
    finder = Beside(lambda place: request["opened"].get(str(place)))
    module, notes = _module(name, data, options.platform)
    if module is None:
        more = f" ({len(notes) - 1} more)" if len(notes) > 1 else ""
        raise UserError(f"{name}: the text has errors: {notes[0] if notes else 'it is empty'}{more}")
    kernels = [one for one in module.kernels if one.name != _COMPILERS_OWN]
    if "names" in request:
        if options.kernel is not None and all(one.name != options.kernel for one in kernels):
            known = ", ".join(one.name for one in kernels) or "none"
            raise UserError(f"{name}: no kernel {options.kernel!r} (there: {known})")
        return {"names": [one.name for one in kernels if options.kernel in (None, one.name)]}
    kernel = next(one for one in kernels if one.name == options.kernel)
    if not kernel.instructions:
        return {"results": []}
    journal = Journal(kernel.name, Path(request["journal"]))
    results = prove_kernel(module, kernel, name, path, data, options, finder, journal)
    return {"results": [to_builtins(one) for one in results]}


@lru_cache(maxsize=1)  # each kernel of a file is a job
def _module(name: str, data: bytes, platform: str | None) -> tuple[Module | None, tuple[str, ...]]:
    """Return the program of a text or object, and the problems of the text."""
    from visa_lsp.app.assemble import module_of_object, problem_lines, program_of_text

    if is_object(name, data):
        return module_of_object(data, name, platform), ()
    program = program_of_text(decode(name, data).text, platform)
    return program.module, tuple(problem_lines(name, program))


def prove_kernel(
    module: Module, kernel: Kernel, name: str, path: Path | None, data: bytes, options: ProofOptions,
    finder: Beside | None = None, journal: Journal | None = None,
) -> Sequence[ProofResult]:  # fmt: skip
    """Return the answers for one kernel, in this process; ``journal`` receives each as soon as it is decided.

    Raises UserError for a mistake in an assumption, and for a kernel whose arguments are not known.
    """
    from visa_lsp.app.kernel_source import may_lack_barriers, private_arrays_in, with_source
    from visa_lsp.app.launch.options import RunOptions
    from visa_lsp.app.launch.proposal import propose
    from visa_lsp.app.prove.answers import Prover
    from visa_lsp.app.prove.assume import assumption, find_fixed_values
    from visa_lsp.app.prove.confirm import Confirmer, LaunchRuns
    from visa_lsp.app.prove.element_words import ElementWords
    from visa_lsp.app.prove.loops import BOUNDED_ROUNDS, unroll_loop, walk_loop
    from visa_lsp.app.prove.small_launches import fixed_keys, run_first_launches
    from visa_lsp.app.prove.solve import exclusion
    from visa_lsp.app.prove.walk import TooLong, Walker, has_loop
    from visa_lsp.app.ze_info import find_or_infer_ze_info
    from visa_lsp.companions import Beside
    from visa_lsp.sim.launch.config import LaunchError
    from visa_lsp.zeinfo.emit.roles import boundary
    from visa_lsp.zeinfo.emit.slots import EmitError
    from visa_lsp.zeinfo.read_kernels import ZeInfoError, read

    end, journal = monotonic() + options.seconds, journal or Journal(kernel.name)
    finder, place = finder or Beside(), path or Path(name)
    try:
        run = RunOptions(path, options.platform, finder=finder)
        platform = propose(module, run, place, {"kernel": kernel.name}, tries=False).platform
        described = find_or_infer_ze_info(kernel, [path], finder, platform.name)
        info = next(one for one in read(described.text) if one.name == kernel.name)
        info = with_source(info, kernel, place.parent)  # as in runs
        if described.path is None and boundary(kernel) is not None:
            raise UserError(
                f"{name}: kernel {kernel.name} has no ze_info beside it, which has the places of its arguments; "
                "visa-lsp compile writes it, visa-lsp zeinfo emit guesses it"
            )
    except (EmitError, LaunchError, ZeInfoError, StopIteration) as error:
        raise UserError(f"{name}: kernel {kernel.name}: its arguments are not known: {error}") from None
    # The launches before the proof get a third of the time, those that confirm it a little more than is left.
    first_end, last_end = end - options.seconds * 2 / 3, end + min(GRACE_SECONDS, options.seconds) / 2
    in_step = options.item_races and may_lack_barriers(info, kernel, place.parent)

    def new_walker(assume: Sequence[str], loops: Callable[[Walker, Repeat, Way], Way]) -> Walker:
        walker = Walker(kernel, info, platform, loops)
        fixed = find_fixed_values(assumption(text, info, walker.symbols) for text in assume)
        return Walker(kernel, info, platform, loops, fixed) if fixed else walker

    def first_launches(assume: Sequence[str]) -> LaunchRuns:
        """Run the launches before the proof that keep assumptions, and return what they show."""
        runs = LaunchRuns(place, data, platform.name, finder, options.item_races, in_step, first_end)
        walker = new_walker(assume, walk_loop)
        quick = {"kernel": kernel.name, **fixed_keys(walker.symbols)}
        if monotonic() < first_end:
            with suppress(LaunchError):  # no launch keeps the assumptions
                proposal = propose(module, run, place, quick, steps=runs.steps_left(TRIAL_STEPS))
                given = [assumption(text, info, walker.symbols) for text in assume]
                confirmer = Confirmer(walker, runs, named=described.path is None)
                run_first_launches(confirmer, proposal, options.properties, given)
        return runs

    # A size of groups for which the kernel is written counts if launches with it have no fault.
    reasons = {} if any("local_size" in text for text in options.assume) else _written_sizes(new_walker((), walk_loop))
    runs = first_launches((*options.assume, *reasons))
    if reasons and runs.shown:
        reasons = {}
        runs = first_launches(options.assume)
    assume = (*options.assume, *reasons)
    refuted = with_shown_lines([], runs.lines, kernel.name)
    journal.refute(_with_faults(one, runs, {}, None) for one in refuted)

    def answers(
        loops: Callable[[Walker, Repeat, Way], Way],
        properties: Sequence[str],
        earlier_needs: Mapping[Space, Need] | None = None,
        tiles: Mapping[int, int] | None = None,
    ) -> tuple[list[ProofResult], Walker, Mapping[Space, Need], Mapping[int, int]]:
        walker = new_walker(assume, loops)
        given = [
            (
                f"{text}: the kernel computes {reasons[text]}" if text in reasons else text,
                assumption(text, info, walker.symbols),
            )
            for text in assume
        ]
        confirmer = Confirmer(walker, runs, named=described.path is None)
        runs.deadline = last_end
        facts = [*walker.symbols.facts, *(condition for _, condition in given)]
        left = end - monotonic()
        walker.never = exclusion(walker.pool, facts, end - left * 3 / 4)
        walker.deadline = end - left / 4
        try:
            walker.walk()
        except (TooLong, RecursionError) as error:
            why = str(error) or "its conditions are nested too deeply"
            return (
                with_shown_lines(_unknown(kernel.name, tuple(properties), why), runs.lines, kernel.name),
                walker,
                {},
                {},
            )
        left = max(1.0, end - monotonic())
        needs = earlier_needs and {space: one.translate(info, walker.symbols) for space, one in earlier_needs.items()}
        prover = Prover(
            walker, left, given, confirmer.confirm, item_races=options.item_races, in_step=in_step,
            journal=journal, known_needs=needs, known_tiles=tiles,
        )  # fmt: skip
        results = _without_contradicted(prover.results(properties), prover, runs)
        return with_shown_lines(results, runs.lines, kernel.name), walker, prover.find_needs(), prover.tiles

    results, walker, needs, tiles = answers(walk_loop, options.properties)
    arrays = private_arrays_in(kernel, place.parent)
    buffers = {one.line: _memory_name(walker, one, arrays) for one in walker.accesses}
    elements = ElementWords(walker)
    sources = {inst.line + 1: place for inst, place in zip(kernel.instructions, kernel.source_places, strict=True)}

    def complete(result: ProofResult) -> ProofResult:
        place = sources.get(result.line)
        return structs.replace(
            _with_faults(result, runs, buffers, elements), source=f"{place[0]}:{place[1]}" if place else None
        )

    journal.finish(map(complete, results))
    open_ = tuple({one.property for one in results if one.answer == "unknown"} - {"uninitialised"})
    if open_ and any(has_loop(routine.body) for routine in walker.reading.routines):
        # A launch that the simulator confirms refutes, however it was found.
        unrolled, walker, _, _ = answers(unroll_loop, open_, needs, tiles)
        bounded = {(one.property, one.line): one for one in unrolled if one.answer != "unknown"}
        for index, one in enumerate(results):
            other = bounded.get((one.property, one.line))
            if one.answer == "unknown" and other is not None:
                why = f"proved for up to {BOUNDED_ROUNDS} rounds of a loop; beyond: {one.reason}"
                is_bounded = walker.is_cut and other.answer == "proved"
                results[index] = structs.replace(other, answer="bounded", reason=why) if is_bounded else other
    return list(map(complete, results))


def _written_sizes(walker: Walker) -> Mapping[str, str]:
    """Return the sizes of groups that a kernel with shared memory or barriers is written for, with why; found in a short walk."""
    from visa_lsp.app.prove.group_sizes import written_sizes
    from visa_lsp.app.prove.walk import TooLong
    from visa_lsp.isa.model import Trait

    shares = walker.info.env.slm_size or any(one.kind == "local" for one in walker.info.payload)
    if not shares and all(not inst.row.has(Trait.BARRIER) for inst in walker.kernel.instructions):
        return {}
    walker.deadline = monotonic() + _SIZE_SECONDS
    with suppress(TooLong, RecursionError):
        walker.walk()
    return written_sizes(walker)


def _without_contradicted(results: list[ProofResult], prover: Prover, runs: LaunchRuns) -> list[ProofResult]:
    """Return the answers without proofs that a launch contradicts: it shows the fault and keeps the assumptions.

    Buffers of the launches that ``run`` would make have natural sizes, so that a proof may not presume larger ones, but of rows
    whose length the kernel computes.
    """
    from visa_lsp.app.prove.small_launches import holds

    def contradicts(proof: ProofResult, launch: str) -> bool:
        values = runs.values.get(launch)
        has_usual_sizes = proof.property == "bounds" and launch in runs.usual
        claims = [
            prover.claims[words]
            for words in proof.assumptions
            if words in prover.claims and not (has_usual_sizes and _USUAL_SIZE.search(words))
        ]
        # Also one about the arithmetic of each work item, because a small launch has no sizes that excuse a wrap.
        return values is not None and all(
            holds(one, values, prover.pool) is not False for one in (*claims, *prover.facts)
        )

    shown = runs.lines.items()
    return [
        structs.replace(one, answer="unknown", assumptions=())
        if one.answer == "proved"
        and any(contradicts(one, launch) for (word, launch), at in shown if word == one.property and one.line in at)
        else one
        for one in results
    ]


def _memory_name(walker: Walker, access: ItemAccess, arrays: Mapping[str, str]) -> str | None:
    """Return the name of the memory of an access: that of its argument, array or variable, else of its kind.

    ``arrays`` has the private arrays of the source by variable. None for an indirect operand of any variable.
    """
    from visa_lsp.app.prove.assume import name_of  # loads NumPy
    from visa_lsp.app.prove.spaces import ARRAY, SHARED, VARIABLE

    kind, index = access.space
    if kind == ARRAY:
        name = walker.kernel.variable_name(index) if walker.kernel.variable(index) is not None else None
        return arrays.get(name, name) if name is not None else None
    if kind == VARIABLE:
        return list(walker.symbols.variables)[index]
    array = walker.info.local_array_at(access.offset.constant) if kind == SHARED else None
    return name_of(walker.info, index) if index >= 0 else array.name if array is not None else kind


def _with_faults(
    result: ProofResult, runs: LaunchRuns, buffers: Mapping[int, str | None], elements: ElementWords | None
) -> ProofResult:
    """Return the answer with the memory at its line, and the faults that its launch has there."""
    if result.property in ("race", "bounds"):
        result = structs.replace(result, buffer=buffers.get(result.line))
    if result.launch is None:
        return result
    shown = [
        fault for fault in runs.shown.get((result.property, result.launch), []) if result.line in fault.lines
    ]  # fmt: skip
    sizes = runs.numbers_of(result.launch, elements.info) if shown and elements is not None else {}
    return structs.replace(result, faults=tuple(_fault_values(fault, elements, sizes) for fault in shown))


def _fault_values(fault: ShownFault, elements: ElementWords | None, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Return a fault as in JSON, with the elements that both parties access as expressions."""
    line = fault.values["line"]
    has_other = (
        fault.values["other"] and fault.values["kind"] != FaultKind.UNINITIALISED.value
    )  # which is a declaration
    lines = (line, *(fault.lines - {line} or {line})) if has_other else (line,)
    words = [elements.of_line(one) if elements is not None else "" for one in lines[:2]]
    named = _NAMED.search(fault.values["message"])
    if named is not None and words[0].partition("[")[0] != named[1]:
        words = []  # an address that leads from one local array to another
    # A race is one of contents if they lead both parties.
    led = [elements.contents_of_line(one) if elements is not None else "" for one in lines[:2]]
    contents = led[0] if all(led) and fault.values["kind"] in _OF_MEMORY else ""
    accesses = dict(zip(("access", "other_access"), words, strict=False))
    for key, items in (("access", "items"), ("other_access", "other_items")):
        if elements is not None and accesses.get(key) and fault.values[items]:
            accesses[f"{key}_at"] = elements.at(accesses[key], fault.values[items][0], sizes)
    values = {**fault.values, **accesses, "contents": contents}
    element = accesses.get("access_at")
    if elements is not None and element and accesses.get("other_access") and not values["other_items"]:
        item = elements.find_item(accesses["other_access"], element, values["other"], sizes)
        if item is not None:
            values |= {"other_items": [item], "other_access_at": element}
    return values


def with_shown_lines(
    results: list[ProofResult], shown: Mapping[tuple[str, str], set[int]], kernel: str
) -> list[ProofResult]:
    """Return the answers with each line refuted by a launch that has the fault at this very line, or unknown.

    Instructions for different lanes of one statement share an answer, but a launch may fault in some of the lanes only.
    """
    launches: dict[tuple[str, int], str] = {}
    for (property_, launch), lines in shown.items():
        for line in lines:
            launches.setdefault((property_, line), launch)
    shown_results = []
    for result in results:
        own = launches.get((result.property, result.line))
        if result.answer != "proved" and own is not None and result.cause is not Cause.CONTENTS:
            result = structs.replace(result, answer="refuted", launch=own, reason=None, cause=None)  # noqa: PLW2901
        elif result.launch is not None:
            elsewhere = sorted(shown[result.property, result.launch])
            places = f"line{'s' if len(elsewhere) > 1 else ''} {', '.join(map(str, elsewhere))}"
            why = f"the launch that has the fault at {places} does not have it here"
            result = structs.replace(result, answer="unknown", launch=None, reason=why)  # noqa: PLW2901
        shown_results.append(result)
    answered = {(one.property, one.line) for one in results}
    others = [
        ProofResult(property_, kernel, line, "refuted", launch=launch)
        for (property_, line), launch in launches.items()
        if (property_, line) not in answered
    ]
    return (
        sorted([*shown_results, *others], key=lambda one: (PROPERTIES.index(one.property), one.line))
        if others
        else shown_results
    )


if __name__ == "__main__":
    main()
