"""A launch that nobody has written: kernel, platform, sizes and arguments by default, each said in a sentence.

What a launch file, or a quick run's object, would say and does not is filled in here, for the shell, the form and the
server alike. Knows programs and the finder of files. Invariant: whatever is assumed is in ``assumed``, and what was given
is kept as it is.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.app.described import found_for, made_for
from visa_lsp.app.launch import forms
from visa_lsp.app.launch.defaults import DefaultSizes, is_count
from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.linking import with_callees
from visa_lsp.app.launch.program import DEFAULT, decoded, errors_of, module_of_text, refuse_errors, sources_of
from visa_lsp.app.launch.program_info import choose_platform, kernel_info, platform_told, program_symbols, source_words
from visa_lsp.isa.platforms import DEFAULT_PLATFORM, PLATFORMS, platform_named, thread_widths
from visa_lsp.program.model import General, RawOperand
from visa_lsp.program.text_form import module_text
from visa_lsp.sim.faults import FaultKind
from visa_lsp.sim.launch.config import PLATFORM, LaunchError
from visa_lsp.sim.launch.prepare import PreparedLaunch, choose_kernel, prepare, with_budget
from visa_lsp.sim.machine import run as interpret
from visa_lsp.sim.observers.checkers import checkers
from visa_lsp.sim.observers.extents import ExtentObserver
from visa_lsp.sim.registers import is_alias
from visa_lsp.zeinfo.emit.roles import boundary, registers_of_dump
from visa_lsp.zeinfo.emit.slots import EmitError
from visa_lsp.zeinfo.read import read

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from visa_lsp.app.described import DescribedKernel
    from visa_lsp.app.launch.defaults import Triple
    from visa_lsp.app.launch.file import LaunchFile
    from visa_lsp.app.launch.forms import Spec, Written
    from visa_lsp.app.launch.options import RunOptions
    from visa_lsp.app.launch.program import BodySource
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.program.model import Kernel, Module
    from visa_lsp.program.payload import KernelInfo
    from visa_lsp.sim.faults import Fault

# The compiler's own, which stands in dumps beside the kernels and does nothing.
COMPILERS_OWN: Final = "Intel_Symbol_Table_Void_Program"
_NOTHING: Final = "groups: [1, 1, 1]\n"
_SYMBOL_BYTES: Final = 65536
_GROUP_COUNT: Final = 4
_LOCAL_SIZES: Final = ((128, 1, 1), (64, 1, 1), (256, 1, 1), (16, 16, 1), (8, 8, 1))
_LARGEST: Final = (256, 1, 1)
_LOCAL_SQUARES: Final = ((8, 8, 1), (16, 16, 1), (32, 32, 1))
_LOCAL_PLANE: Final = (16, 16, 1)
_SIDE: Final = 32  # work items along each axis of a plane
_TRIAL_STEPS: Final = 40_000  # a second or two
_ALL_TRIAL_STEPS: Final = 120_000
_R0, _SECOND_GROUP_ID = 7, 4
_R0_SECOND: Final = (_R0, 24)  # the byte of r0 that has the group's id along y
_GROUP_IDS: Final = frozenset({3, _SECOND_GROUP_ID, 5, _R0})
# Where nothing tells the platform, it is the first of these that a text can have been made for.
_LIKELY: Final = (DEFAULT_PLATFORM, "DG2", "PVCXT", "BMG", "SKL", "ICLLP", "XeHP_SDV", "PVC")


@dataclass(frozen=True, slots=True)
class Proposal:
    """A launch by default: as an object, as the text of a launch file, and what in it is assumed, a sentence each.

    ``told`` is what a form shows of the kernel (``forms.template``). ``can_be_tried``: sizes matter to the kernel, and are
    guesses. Where there are counts, ``even`` is the launch with as many as there are work items, ``uneven`` that with no multiple
    of the size of a group; the proposal is one of them.
    """

    told: Spec
    written: Written
    assumed: tuple[str, ...]
    platform: Platform
    can_be_tried: bool = False
    even: Proposal | None = None
    uneven: Proposal | None = None

    def read(self, path: Path) -> LaunchFile:
        """Return the launch, read; ``path`` is what its file would be called. Raises LaunchError, with the key or argument at fault."""
        with self.without_file(path):
            return parse_launch(self.written.text, path)

    @contextmanager
    def without_file(self, path: Path) -> Iterator[None]:
        """Let a LaunchError name the key or argument at fault, not a place in the file at ``path``, which is not there."""
        try:
            yield
        except LaunchError as error:
            raise LaunchError(self.written.said(str(error), str(path))) from None


def propose(
    module: Module,
    options: RunOptions,
    launch_path: Path,
    quick: Spec | None = None,
    *,
    tries: bool = True,
    text: str | None = None,
) -> Proposal:
    """Fill in what ``quick``, an object with the keys of a launch file, does not say of a launch.

    Sizes that nothing tells are tried, unless ``tries`` is false: the kernel runs then, and buffers are as long as it needs
    them. ``text`` is the program's own, if it has one. Raises LaunchError where there is no kernel, no ze_info can be found
    or made, or ``quick`` says what cannot be.
    """
    found = _Proposer(module, options, launch_path, dict(quick or {}), text)
    return found.best() if tries and find_spec("numpy") else found.proposal(found.sizes[0])


@dataclass(frozen=True, slots=True)
class _Trial:
    """A launch with roomy buffers that has run: the bytes of buffers that it touches, its faults, whether it has ended.

    ``has_updates``: it has both loaded from a buffer and stored to it.
    """

    sizes: DefaultSizes
    touched: Mapping[int, int]
    faults: tuple[Fault, ...] = ()
    has_ended: bool = True
    has_updates: bool = False

    @property
    def races(self) -> tuple[Fault, ...]:
        return tuple(fault for fault in self.faults if fault.kind is FaultKind.RACE)

    @property
    def places(self) -> set[tuple[str, str, int]]:
        """What is wrong where."""
        return {(fault.kind.value, fault.kernel, fault.instruction) for fault in self.faults}

    @property
    def updates(self) -> set[tuple[str, int]]:
        """The places that read and write what others write: stores alone are of a kernel that has each index once."""
        return {(race.kernel, race.instruction) for race in self.races if "read" in race.message}

    @property
    def has_misfits(self) -> bool:
        """True if there are faults that no race explains: sizes that do not fit the kernel have those."""
        explained = {FaultKind.RACE, FaultKind.UNINITIALISED} if self.races else set()
        return any(fault.kind not in explained for fault in self.faults)

    @property
    def fitting(self) -> DefaultSizes:
        """The sizes, with buffers of what was touched, as far as that is known."""
        return replace(self.sizes, bytes=self.touched) if self.has_ended else self.sizes


class _Proposer:
    """What does not depend on the sizes of a launch, and launches with sizes."""

    def __init__(self, module: Module, options: RunOptions, launch_path: Path, given: Spec, text: str | None) -> None:
        self.module = module
        self.text = text
        self.options = options
        self.path = launch_path
        self.given = given
        self.kernel, self.words = _kernel(module, given, str(options.path or ""))
        kernel = self.kernel
        found = found_for(kernel, (options.path, launch_path), options.finder)
        _judge_own(kernel, found, options, launch_path)
        try:
            self.described = found or made_for([kernel], options.platform)
        except EmitError as error:
            raise LaunchError(f"no ze_info found, and none can be generated: {error}") from None
        # A text written by hand gives its inputs names that mean something; those of a dump are numbers.
        self.named = found is None and boundary(kernel) is None
        self.types = forms.element_types(kernel) if found is None else None
        try:
            told = forms.template(self.described.text, kernel.name, self.types)
        except forms.QuickError as error:
            raise LaunchError(f"{found.path if found else 'ze_info'}{error}") from None
        self.info = next(i for i in read(self.described.text) if i.name == kernel.name)
        self.words.append(source_words(self.described, kernel))
        self.symbols = _symbols(module, kernel, self.info, launch_path, options, given)
        self.sizes = _sizes(kernel, self.info, given, told)
        self.left = _ALL_TRIAL_STEPS
        self.platform: tuple[Platform, str] | None = None

    def proposal(self, sizes: DefaultSizes) -> Proposal:
        """Return the launch of some sizes, which are the given ones where these are given."""
        given = self.given
        told = forms.template(self.described.text, self.kernel.name, self.types, sizes)
        told["named"] = self.named
        told["kernels"] = [kernel.name for kernel in _kernels_of(self.module)]
        launch = _completed(given, told)
        said = list(self.words)
        if self.symbols:
            launch["symbols"] = {**self.symbols, **launch.get("symbols", {})}
            said.append(
                f"data {', '.join(self.symbols)}: {_SYMBOL_BYTES} zero bytes each, because no zebin in the folder has the data of the program"
            )
        names = [a["name"] for a in told["arguments"]]
        if self.platform is None:
            self.platform = self._platform(forms.write(launch, names, named=self.named))
        platform, words = self.platform
        said.append(words)
        if "platform" not in launch and (self.options.platform or platform.name != DEFAULT_PLATFORM):
            launch = {"kernel": launch.pop("kernel"), "platform": platform.name, **launch}
        said += self._size_words(told)
        said += _argument_words(given, told)
        written = forms.write(launch, names, named=self.named)
        free = any(a["kind"] == "buffer" for a in told["arguments"]) or len(self.sizes) > 1
        return Proposal(told, written, tuple(said), platform, free)

    def best(self) -> Proposal:
        """Return the launch that shows most: of sizes that fit the kernel, with buffers that end where the kernel should.

        Values repeat where two work items then change the same element. Counts are no multiple of a group's size where only
        then something is wrong.
        """
        first = self.proposal(self.sizes[0])
        if not first.can_be_tried:
            return first
        trial = self._best_trial(first)
        if trial.has_updates:
            again = self._tried(replace(trial.sizes, cycle=True))
            if again.updates - trial.updates:
                trial = again
        proposal = self.proposal(trial.fitting)
        sizes = trial.sizes
        if sizes.count or not any(a["counts"] for a in proposal.told["arguments"]):
            return proposal
        rest = self._tried(replace(sizes, count=_uneven(sizes)))
        uneven = self.proposal(rest.fitting)
        if uneven.written == proposal.written:
            return proposal
        is_told = trial.faults or _overruns(proposal)
        # Other faults may be of a kernel that has as many work items as elements, or wants a power of two.
        is_wrong = _overruns(uneven) or any(fault.kind is FaultKind.BARRIER for fault in rest.faults)
        shown = uneven if is_wrong and not is_told else proposal
        return replace(shown, uneven=uneven, even=proposal)

    def _best_trial(self, first: Proposal) -> _Trial:
        """Return the first trial without a fault, else the one whose faults are the least a matter of sizes."""
        is_plane = self.sizes[0].local[1] > 1

        def rank(trial: _Trial) -> tuple[bool, bool, bool, int]:
            is_other_shape = (trial.sizes.local[1] > 1) != is_plane
            return trial.has_misfits, is_other_shape, bool(trial.faults), len(trial.places) if is_plane else 0

        trials: list[_Trial] = []
        # As counts, integers without a name have to do no harm.
        is_nameless = any(is_count(self.info, a["index"], nameless=True) for a in first.told["arguments"])
        for sizes in [*(replace(sizes, nameless=True) for sizes in self.sizes if is_nameless), *self.sizes]:
            trials.append(self._tried(sizes))
            if not any(rank(trials[-1])):
                return trials[-1]
            if sizes.local == _LOCAL_SIZES[0] and len(trials) == 1 and not trials[0].has_misfits:
                larger = self._tried(replace(sizes, local=_LARGEST))
                # Where a larger group does not fall out of shared local memory, the races are no matter of sizes.
                if not larger.has_misfits:
                    return trials[0]
        return min(trials, key=rank)

    def _platform(self, written: Written) -> tuple[Platform, str]:
        """Return the platform that is told, else the likeliest that text and ze_info can be made for."""
        try:
            file = parse_launch(written.text, self.path)
        except LaunchError as error:
            raise LaunchError(written.said(str(error), str(self.path))) from None
        chosen = platform_told(file, self.options, [self.kernel.name])
        if self.options.platform or file.platform:
            assert chosen is not None  # an unknown one has been refused
            return chosen, f"platform: {chosen.name}, as given"
        if chosen is not None:
            return chosen, f"platform: {chosen.name}, that of the zebin"
        dump = registers_of_dump(self.kernel)
        for platform in _candidates():
            if dump is not None and dump.bytes != platform.grf_bytes:
                continue
            if any(
                platform.name not in inst.row.platforms for body in self.module.bodies for inst in body.instructions
            ):
                continue
            if (self.kernel.int_attribute("SimdSize") or 16) not in thread_widths(platform.grf_bytes):
                continue
            if self._prepared(file, platform) == PLATFORM or self._is_refused(platform):
                continue
            if platform.name == DEFAULT_PLATFORM:
                break
            return (
                platform,
                f"platform: {platform.name}, a guess from the instructions of the text",
            )
        default = choose_platform(file, self.options)
        return default, f"platform: {default.name}, the default"

    def _prepared(self, file: LaunchFile, platform: Platform) -> PreparedLaunch | str | int | None:
        """Return the launch made ready, or what an error is about."""
        config = replace(file.config, kernel=self.kernel.name)
        try:
            return prepare(self.module, None if self.named else self.info, config, platform)
        except LaunchError as error:
            return error.arg

    def _is_refused(self, platform: Platform) -> bool:
        """Return whether the assembler reports errors for a platform."""
        if self.text is None:
            self.text = module_text(self.module, platform)
            if errors_of(self.text, None):
                self.text = ""  # no text can say this object
        return bool(self.text and errors_of(self.text, platform.name))

    def _tried(self, sizes: DefaultSizes) -> _Trial:
        """Run a launch with roomy buffers, as far as a look at its beginning goes."""
        proposal = self.proposal(sizes)
        prepared = self._prepared(proposal.read(self.path), proposal.platform)
        if not isinstance(prepared, PreparedLaunch):
            return _Trial(sizes, {}, has_ended=False)
        extents = ExtentObserver()
        budget = max(1, min(self.left, _TRIAL_STEPS))
        result = interpret(with_budget(prepared, budget).dispatch, (*checkers("all"), extents))
        self.left -= result.steps
        names = [a["name"] for a in proposal.told["arguments"]]
        touched = {
            key if isinstance(key, int) else names.index(key): extents.end(buffer)
            for key, buffer in prepared.buffers.items()
            if isinstance(key, int) or key in names
        }
        faults = [fault for fault in result.faults if not fault.is_note]
        wrong = tuple(fault for fault in faults if fault.kind is not FaultKind.BUDGET)
        return _Trial(sizes, touched, wrong, len(wrong) == len(faults), extents.has_updates)

    def _size_words(self, told: Spec) -> list[str]:
        given = self.given
        if "threads" in given:
            return []
        words = []
        if "groups" not in given and "global_size" not in given:
            why = "" if max(told["groups"]) > 1 else ", because the kernel does not read its group ID"
            words.append(f"groups: {forms.flow(told['groups'])}{why}")
        if "local_size" not in given:
            size = told["localSize"]
            why = "as the ze_info requires" if told["required"] else f"one thread of SIMD{told['simdSize']}"
            if size != [max(1, told["simdSize"]), 1, 1] and not told["required"]:
                why = "several threads that share memory" if told["shares"] else "a tile of a plane"
            words.append(f"local_size: {forms.flow(size)}, {why}")
        return words


@dataclass(frozen=True, slots=True)
class ProposedRun:
    """A program to run and its launch by default, with the lines of its texts and notes about it."""

    module: Module
    sources: dict[str, BodySource]
    notes: list[str]
    proposal: Proposal


def proposed(
    program: str | bytes, options: RunOptions, launch_path: Path, quick: Spec | None = None, *, tries: bool = True
) -> ProposedRun:
    """Make the program of a text, or of an object's bytes, and fill in its launch.

    Raises TextProblems for a text with errors, and LaunchError as ``propose`` does.
    """
    told = platform_told(parse_launch(_NOTHING, launch_path), options)
    # Files that are named come first, and are added where the program is run.
    linked = not options.files and not (quick or {}).get("files")
    made = _program(program, options, told, linked=linked)
    text = program if isinstance(program, str) else None
    if told is not None and text is not None:
        refuse_errors(text, options.path, told)
    proposal = propose(made[0], options, launch_path, quick, tries=tries, text=text)
    is_said = bool(options.platform or (quick or {}).get("platform"))
    if proposal.platform is not (told or DEFAULT) or (is_said and told is None):
        made = _program(program, options, proposal.platform, linked=linked)
    return ProposedRun(*made, proposal)


def _program(
    program: str | bytes, options: RunOptions, where: Platform | None, *, linked: bool
) -> tuple[Module, dict[str, BodySource], list[str]]:
    """Return the program with, if ``linked``, the functions of its folder that its first kernels call."""
    notes: list[str] = []
    sources: dict[str, BodySource] = {}
    if isinstance(program, bytes):
        module = decoded(program, options.path)
    else:
        module = module_of_text(program, options.path, where, notes)
        sources = sources_of(module, program, options.path)
    if linked and options.path is not None:
        for kernel in module.kernels[:1]:
            module = with_callees(module, kernel, options.path, where, options.finder, notes, sources)
    return module, sources, notes


def _completed(given: Spec, told: Spec) -> Spec:
    try:
        return forms.completed(given, told)
    except forms.QuickError as error:
        raise LaunchError(str(error)) from None


def _kernel(module: Module, given: Spec, place: str) -> tuple[Kernel, list[str]]:
    """Return the kernel that is asked for, else the first of the program."""
    if given.get("kernel"):
        return choose_kernel(module, str(given["kernel"])), []
    if not module.kernels:
        names = ", ".join(body.name for body in module.functions)
        raise LaunchError(f"no kernel found, only functions ({names}); run the kernel that calls them", place=place)
    kernels = _kernels_of(module)
    others = ", ".join(k.name for k in kernels[1:])
    return kernels[0], [f"kernel: {kernels[0].name}, the first; there are also {others}"] if others else []


def _kernels_of(module: Module) -> list[Kernel]:
    """Return the kernels of a program without the compiler's own, which is there only where it is alone."""
    return [k for k in module.kernels if k.name != COMPILERS_OWN] or list(module.kernels)


def _judge_own(kernel: Kernel, found: DescribedKernel | None, options: RunOptions, launch_path: Path) -> None:
    """Refuse a ze_info of the program's own name that cannot be read, or is silent where no other speaks: it is meant."""
    if found is None or found.silent is not None:
        empty = parse_launch(_NOTHING, launch_path)
        kernel_info(kernel, empty, options, [])


def _symbols(
    module: Module, kernel: Kernel, info: KernelInfo, launch_path: Path, options: RunOptions, given: Spec
) -> Spec:
    """Zeros for the program's data that nothing here has."""
    empty = parse_launch(_NOTHING, launch_path)
    _, sections = kernel_info(kernel, empty, options, [])
    there = {name for section in sections for name in (*section.symbols, section.base)}
    bases = [entry.arg_type for entry in info.payload if entry.arg_type in ("const_base", "global_base")]
    known = {*there, *(given.get("symbols") or {})}
    return {
        name: {"dtype": "uint8", "shape": [_SYMBOL_BYTES], "init": "zeros"}
        for name in dict.fromkeys([*program_symbols(module, options), *bases])
        if name not in known
    }


def _candidates() -> list[Platform]:
    first = [p for name in _LIKELY if (p := platform_named(name)) is not None]
    return [*first, *(p for p in PLATFORMS if p not in first)]


def _sizes(kernel: Kernel, info: KernelInfo, given: Spec, told: Spec) -> list[DefaultSizes]:
    """Return the sizes to try, the likeliest first; those that are given count."""
    places = _variables_in(kernel)
    variables = {var for var, _ in places}
    # Local ids alone are also the way to the number of a work item in its group.
    is_flat = not (variables & _second_ids(kernel, info) and (_R0_SECOND in places or _SECOND_GROUP_ID in variables))
    one_thread: Triple = (*told["localSize"], 1, 1)[:3]
    local = [one_thread]
    if "threads" in given or told["required"]:
        pass
    elif (size := _triple(given.get("local_size"))) is not None:
        local = [size]
    elif told["shares"]:
        local = [*(() if is_flat else _LOCAL_SQUARES), *_LOCAL_SIZES, one_thread]
    elif not is_flat:
        local = [_LOCAL_PLANE]
    groups, items = _triple(given.get("groups")), _triple(given.get("global_size"))
    count = next((n for n in _given_counts(given, told) if n >= _SIDE), 0)
    found = []
    for x, y, z in local:
        if items is not None:
            groups = (-(-items[0] // x), -(-items[1] // y), -(-items[2] // z))
        several = (_GROUP_COUNT, 1, 1) if y == 1 else (max(2, _SIDE // x), max(2, _SIDE // y), 1)
        found.append(DefaultSizes((x, y, z), groups or (several if variables & _GROUP_IDS else (1, 1, 1)), count))
    return found


def _uneven(sizes: DefaultSizes) -> int:
    """Return a count that is no multiple of a group's size; a whole thread of the last group is beyond it."""
    x, y, _ = sizes.local
    return max(1, sizes.across - (min(x // 2 + 1, 5) if y > 1 else x // 2 + 1))


def _given_counts(given: Spec, told: Spec) -> Iterator[int]:
    """Yield the numbers that are given for arguments that count."""
    args = given.get("args")
    for argument in told["arguments"]:
        key = argument["name"] if isinstance(args, dict) else argument["index"]
        value = (
            args.get(key)
            if isinstance(args, dict)
            else args[key]
            if isinstance(args, list) and key < len(args)
            else None
        )
        value = value.get("value") if isinstance(value, dict) else value
        if argument["counts"] and isinstance(value, int):
            yield value


def _triple(value: object) -> Triple | None:
    """Three sizes from one to three numbers; None where something else is given, which is refused elsewhere."""
    numbers = [value] if isinstance(value, int) else value
    if not isinstance(numbers, list) or not 1 <= len(numbers) <= 3:
        return None
    if not all(isinstance(n, int) and 0 < n < 1 << 20 for n in numbers):
        return None
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z


def _variables_in(kernel: Kernel) -> set[tuple[int, int]]:
    """Return the general variables that instructions of a kernel name, or name a part of, each with the byte where the operand begins.

    Of operands below the first row of a register, and of raw ones, byte 0 counts.
    """
    found = set()
    for inst in kernel.instructions:
        for value in inst.values:
            if not isinstance(value, General | RawOperand):
                continue
            var, at = value.var, 0
            held = kernel.variable_type(var)
            if isinstance(value, General) and held is not None and not value.row:
                at = value.col * held.size
            for _ in kernel.variables:  # an alias of an alias, and so on
                alias = kernel.variable(var)
                if alias is None or alias.alias_scope or not is_alias(alias):
                    break
                var, at = alias.alias_index, at + alias.alias_offset
            found.add((var, at))
    return found


def _second_ids(kernel: Kernel, info: KernelInfo) -> set[int]:
    """Return the variables that hold the local ids along y: the second third of what is passed for each thread."""
    size = sum(entry.size for entry in info.per_thread if entry.arg_type == "local_id") // 3
    start = min((entry.offset for entry in kernel.inputs), default=0) + size
    return {entry.id for entry in kernel.inputs if start <= entry.offset < start + size}


def _overruns(proposal: Proposal) -> bool:
    return any(a["overrun"] for a in proposal.told["arguments"])


def _argument_words(given: Spec, told: Spec) -> list[str]:
    """Return a sentence for each argument that is not given."""
    args: Any = given.get("args")
    words = []
    for argument in told["arguments"]:
        index, name = argument["index"], argument["name"]
        if isinstance(args, dict) and name in args:
            continue
        if isinstance(args, list) and index < len(args) and args[index] is not None:
            continue
        title = f"argument {index} ({name})" if name else f"argument {index}"
        words.append(f"{title}: {argument['words']}")
    return words
