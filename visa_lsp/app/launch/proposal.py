"""Generates launches: fills in kernel, platform, sizes and arguments, each with a sentence about the assumption.

Completes a quick launch or an empty one, for the shell, the form and the server. Knows programs and the finder of files.
Invariant: every assumption is in ``assumed``, and given values are kept.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.app.inputs import is_object
from visa_lsp.app.kernel_source import with_source
from visa_lsp.app.launch import forms
from visa_lsp.app.launch.count_values import CountArguments, counts_of
from visa_lsp.app.launch.defaults import NAMELESS, DefaultSizes, Triple, is_count
from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.linking import with_callees
from visa_lsp.app.launch.program import DEFAULT, decode_object, errors_of, module_of_text, refuse_errors, sources_of
from visa_lsp.app.launch.program_info import kernel_info, platform_told, program_symbols, source_words
from visa_lsp.app.ze_info import find_ze_info, infer_ze_info
from visa_lsp.isa.platforms import DEFAULT_PLATFORM, PLATFORMS, Platform, platform_named, thread_widths
from visa_lsp.program.model import General, Kernel, Module, RawOperand
from visa_lsp.program.text_form import module_text
from visa_lsp.sim.faults import Fault, FaultKind
from visa_lsp.sim.launch.config import PLATFORM, LaunchError
from visa_lsp.sim.launch.layout import Geometry, LaunchLayout
from visa_lsp.sim.launch.prepare import PreparedLaunch, choose_kernel, prepare, with_budget
from visa_lsp.sim.machine import run as interpret
from visa_lsp.sim.observers.checkers import checkers
from visa_lsp.sim.observers.extents import ExtentObserver
from visa_lsp.sim.registers import is_alias
from visa_lsp.text import decode_text
from visa_lsp.zeinfo.emit.roles import boundary, registers_of_dump
from visa_lsp.zeinfo.emit.slots import EmitError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from visa_lsp.app.launch.body_source import BodySource
    from visa_lsp.app.launch.forms import Spec, Written
    from visa_lsp.app.launch.launch_file import LaunchFile
    from visa_lsp.app.launch.options import RunOptions
    from visa_lsp.program.payload import KernelInfo
    from visa_lsp.sim.launch.config import DataSection

# A kernel that the compiler adds to dumps, and that does nothing.
COMPILERS_OWN: Final = "Intel_Symbol_Table_Void_Program"
_NOTHING: Final = "groups: [1, 1, 1]\n"
_SYMBOL_BYTES: Final = 65536
_MIN_ITEMS: Final = 80  # of a line of groups, at least three and an odd number
_MIN_ROWS: Final = 16
_MAX_ROWS_OF_GROUPS: Final = 80
_VOLUME_GROUPS: Final = (2, 5, 2)
_LOCAL_SIZES: Final = ((128, 1, 1), (64, 1, 1), (256, 1, 1), (16, 16, 1), (8, 8, 1))
_LOCAL_SQUARES: Final = ((8, 8, 1), (16, 16, 1), (32, 32, 1))
_LOCAL_PLANE: Final = (16, 16, 1)
_LOCAL_VOLUME: Final = (8, 4, 2)
_MIN_COUNT: Final = 32  # of a given count, for other sizes to follow it
_TRIAL_STEPS: Final = 80_000  # two or three seconds; a tiled product of matrices with odd sides takes 60,000
_ALL_TRIAL_STEPS: Final = 200_000
_R0: Final = 7
_GROUP_IDS: Final = (3, 4, 5)
_R0_GROUP_IDS: Final = (4, 24, 28)  # their bytes in r0
# Candidates if the platform is unknown: the first that fits the text.
_LIKELY: Final = (DEFAULT_PLATFORM, "DG2", "PVCXT", "BMG", "SKL", "ICLLP", "XeHP_SDV", "PVC")


@dataclass(frozen=True, slots=True)
class Proposal:
    """A generated launch: as an object, as the text of a launch file, and its assumptions, a sentence each.

    ``template`` is that of the form, made by ``forms.template``. ``can_be_tried``: the sizes matter to the kernel and are
    guesses. With counts, ``even`` is the launch with as many elements as work items, ``uneven`` the one whose count is not
    a multiple of the group size; the proposal is one of them.
    """

    template: Spec
    written: Written
    assumed: tuple[str, ...]
    platform: Platform
    can_be_tried: bool = False
    even: Proposal | None = None
    uneven: Proposal | None = None

    def read(self, path: Path) -> LaunchFile:
        """Parse the launch; ``path`` is the name of its file. Raises LaunchError with the key or argument at fault."""
        with self.without_file(path):
            return parse_launch(self.written.text, path)

    @contextmanager
    def without_file(self, path: Path) -> Iterator[None]:
        """Convert a place in ``path`` in a LaunchError to the key or argument, because that file does not exist."""
        try:
            yield
        except LaunchError as error:
            raise LaunchError(self.written.name_item(str(error), str(path))) from None


def propose(
    module: Module,
    options: RunOptions,
    launch_path: Path,
    quick: Spec | None = None,
    *,
    tries: bool = True,
    text: str | None = None,
    steps: int = _ALL_TRIAL_STEPS,
) -> Proposal:
    """Complete ``quick``, an object with keys of a launch file, to a launch.

    ``tries`` runs the kernel with unknown sizes, and gives buffers the length that it needs, within ``steps`` instructions.
    ``text`` is that of the program, if it has one. Raises LaunchError if there is no kernel, no ze_info can be found or
    inferred, or ``quick`` is invalid.
    """
    proposer = _Proposer(module, options, launch_path, dict(quick or {}), text, steps)
    return proposer.best() if tries and find_spec("numpy") else proposer.first()


@dataclass(frozen=True, slots=True)
class _Trial:
    """A finished trial with roomy buffers: the bytes of buffers that it touched, its faults, whether the kernel ended.

    ``outputs``: buffers that it only stored to. ``has_updates``: it both loaded from and stored to a buffer.
    """

    sizes: DefaultSizes
    touched: Mapping[int, int]
    faults: tuple[Fault, ...] = ()
    has_ended: bool = True
    has_updates: bool = False
    outputs: frozenset[int] = frozenset()

    @property
    def races(self) -> tuple[Fault, ...]:
        return tuple(fault for fault in self.faults if fault.kind is FaultKind.RACE)

    @property
    def places(self) -> set[tuple[str, str, int]]:
        """The kinds of fault with their places."""
        return {(fault.kind.value, fault.kernel, fault.instruction) for fault in self.faults}

    @property
    def updates(self) -> set[tuple[str, int]]:
        """The places of races that involve a load.

        Races of stores alone are left out, because kernels that use each index once have them too.
        """
        return {(race.kernel, race.instruction) for race in self.races if "read" in race.message}

    @property
    def has_misfits(self) -> bool:
        """True if there are faults that no race explains, which means that the sizes do not fit the kernel."""
        explained = {FaultKind.RACE, FaultKind.UNINITIALISED} if self.races else set()
        return any(fault.kind not in explained for fault in self.faults)

    @property
    def fitting(self) -> DefaultSizes:
        """The sizes, with buffer lengths by the bytes touched, as far as known."""
        return replace(self.sizes, bytes=self.touched, outputs=self.outputs) if self.has_ended else self.sizes


class _Proposer:
    """Proposes launches of one program with different sizes."""

    def __init__(
        self, module: Module, options: RunOptions, launch_path: Path, given: Spec, text: str | None, steps: int,
    ) -> None:  # fmt: skip
        self.module = module
        self.text = text
        self.options = options
        self.path = launch_path
        self.given = given
        self.kernel, self.words = _kernel(module, given, str(options.path or ""))
        kernel = self.kernel
        described = find_ze_info(kernel, (options.path, launch_path), options.finder)
        # Raises LaunchError if the ze_info with the program's name is unreadable, or no ze_info describes the kernel.
        _, self.sections = kernel_info(kernel, parse_launch(_NOTHING, launch_path), options, [])
        try:
            self.described = described or infer_ze_info([kernel], options.platform)
        except EmitError as error:
            raise LaunchError(f"no ze_info found, and none can be generated: {error}") from None
        # Input names of handwritten texts are meaningful; those of a dump are numbers.
        self.named = described is None and boundary(kernel) is None
        self.types = forms.element_types(kernel) if described is None else None
        try:
            info = forms.described_kernel(self.described.text, kernel.name)
        except forms.QuickError as error:
            raise LaunchError(f"{described.path if described else 'ze_info'}{error}") from None
        self.info = with_source(info, kernel, (options.path or launch_path).parent)
        self.words.append(source_words(self.described, kernel))
        self.symbols = _symbols(module, self.info, self.sections, options, given)
        self.sizes = _sizes(kernel, self.info, given, forms.template(self.info, self.types))
        self.given_counts = self.sizes[0].counts
        self.counts: dict[tuple[bool, bool], CountArguments] = {}
        self.left = steps
        self.platform: tuple[Platform, str] | None = None

    def proposal(self, sizes: DefaultSizes) -> Proposal:
        """Return the launch with these sizes; given sizes take precedence."""
        given = self.given
        template = forms.template(self.info, self.types, sizes)
        template["named"] = self.named
        template["kernels"] = [kernel.name for kernel in _kernels_of(self.module)]
        launch = _complete(given, template)
        said = list(self.words)
        if self.symbols:
            launch["symbols"] = {**self.symbols, **launch.get("symbols", {})}
            said.append(
                f"data {', '.join(self.symbols)}: {_SYMBOL_BYTES} zero bytes each, because no zebin in the folder has the data of the program"
            )
        names = [a["name"] for a in template["arguments"]]
        if self.platform is None:
            self.platform = self._platform(forms.write(launch, names, named=self.named))
        platform, words = self.platform
        said.append(words)
        if "platform" not in launch and (self.options.platform or platform.name != DEFAULT_PLATFORM):
            launch = {"kernel": launch.pop("kernel"), "platform": platform.name, **launch}
        said += self._size_words(template)
        said += _argument_words(given, template)
        written = forms.write(launch, names, named=self.named)
        free = any(a["kind"] == "buffer" for a in template["arguments"]) or len(self.sizes) > 1
        return Proposal(template, written, tuple(said), platform, free)

    def first(self) -> Proposal:
        """Return the launch with the likeliest sizes."""
        self.proposal(self.sizes[0])  # finds the platform, on which the places of arguments depend
        return self.proposal(self._counts(self.sizes[0]).even(self.sizes[0]))

    def best(self) -> Proposal:
        """Return the most revealing launch: with sizes that fit the kernel, and buffers that end where the kernel should.

        Values repeat if two work items then change the same element. Sides are others, and counts primes, if only then there
        are faults.
        """
        untried = self.first()
        if not untried.can_be_tried:
            return untried
        trial = self._best_trial(untried)
        wide = replace(trial.sizes, wide_rows=True, counts=self.given_counts)
        wide = self._counts(wide).even(wide)
        if trial.races and self.proposal(wide).written != self.proposal(trial.sizes).written:
            again = self._try(wide)
            trial = again if again.has_ended >= trial.has_ended and not again.faults else trial
        if trial.has_updates:
            again = self._try(replace(trial.sizes, cycle=True))
            if again.updates - trial.updates:
                trial = again
        proposal = self.proposal(trial.fitting)
        if _is_wrong(trial, proposal):
            again = self._try(replace(trial.sizes, from_zero=True))
            other = self.proposal(again.fitting)
            if again.has_ended and not _is_wrong(again, other):
                trial, proposal = again, other
        sizes = self._uneven(trial.sizes)
        if sizes is None:
            return proposal
        rest = self._try(sizes)
        uneven = self.proposal(rest.fitting)
        if uneven.written == proposal.written:
            return proposal
        if rest.has_ended and not trial.faults and not _is_wrong(rest, uneven):
            # What leaves a line of elements does so with other counts too, so that the number is close to one by chance.
            proposal = self.proposal(replace(trial.fitting, has_lines=False))
        shown = uneven if _is_wrong(rest, uneven) and not _is_wrong(trial, proposal) else proposal
        return replace(shown, uneven=uneven, even=proposal)

    def _counts(self, sizes: DefaultSizes) -> CountArguments:
        """Return the counts of the kernel; ``sizes`` say whether nameless integers are among them."""
        key = (sizes.nameless, sizes.totals[2] > 1)
        if key not in self.counts:
            indexes = [n for n in range(self.info.argument_count) if sizes.has_count(self.info, n)]
            names = {index: self.info.argument_name(index) for index in indexes}
            ids = set[int]().union({*_GROUP_IDS, _R0}, *(_local_ids(self.kernel, self.info, axis) for axis in range(3)))
            self.counts[key] = counts_of(self.kernel, names, self._places(indexes), ids)
        return self.counts[key]

    def _places(self, indexes: Sequence[int]) -> dict[int, int]:
        """Return the variables of arguments by value, as far as they are inputs."""
        if self.named:
            names = {self.kernel.variable_name(entry.id): entry.id for entry in self.kernel.arguments}
            return {n: names[name] for n in indexes if (name := self.info.argument_name(n)) in names}
        assert self.platform is not None
        geometry = Geometry(
            self.kernel.int_attribute("SimdSize") or 16, self.platform[0].grf_bytes, (1, 1, 1), (1, 1, 1)
        )
        layout = LaunchLayout.of(self.info, geometry, self.platform[0])
        places = {
            layout.payload.place(entry.offset): entry.arg_index for entry in self.info.payload if entry.kind == "value"
        }
        variables = {places[entry.offset]: entry.id for entry in self.kernel.arguments if entry.offset in places}
        return {index: place for index, place in variables.items() if index in indexes}

    def _uneven(self, sizes: DefaultSizes) -> DefaultSizes | None:
        """Return the sizes of the second launch; None if all that could differ is given."""
        counts = self._counts(sizes)
        if self.given_counts or not (counts.names or sizes.totals[1] > 1):
            return None
        if "groups" not in self.given and "global_size" not in self.given:
            sizes = replace(sizes, groups=_other_groups(sizes, is_guarded=bool(counts.guards)))
        return counts.uneven(replace(sizes, counts={}))

    def _best_trial(self, untried: Proposal) -> _Trial:
        """Return the first trial without a fault, else the one whose faults depend least on the sizes."""
        is_plane = self.sizes[0].local[1] > 1

        def rank(trial: _Trial) -> tuple[bool, bool, bool, int]:
            is_other_shape = (trial.sizes.local[1] > 1) != is_plane
            return trial.has_misfits, is_other_shape, bool(trial.faults), len(trial.places) if is_plane else 0

        trials: list[_Trial] = []
        # Nameless integers are treated as counts only if that causes no fault.
        is_nameless = any(is_count(self.info, a["index"], NAMELESS) for a in untried.template["arguments"])
        for sizes in [*(replace(sizes, nameless=True) for sizes in self.sizes if is_nameless), *self.sizes]:
            trials.append(self._try(self._counts(sizes).even(sizes)))
            if not any(rank(trials[-1])):
                return trials[-1]
            if sizes.local == _LOCAL_SIZES[0] and len(trials) == 1 and not trials[0].has_misfits:
                # A race in a group that shared local memory has room for is the kernel's: a smaller group may only hide it.
                return trials[0]
        return min(trials, key=rank)

    def _platform(self, written: Written) -> tuple[Platform, str]:
        """Return the known platform, else the likeliest one that fits text and ze_info."""
        try:
            file = parse_launch(written.text, self.path)
        except LaunchError as error:
            raise LaunchError(written.name_item(str(error), str(self.path))) from None
        chosen = platform_told(file, self.options, [self.kernel.name])
        if self.options.platform or file.platform:
            assert chosen is not None  # unknown platforms are refused earlier
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
            if self._prepare(file, platform) == PLATFORM or self._is_refused(platform):
                continue
            if platform.name == DEFAULT_PLATFORM:
                break
            return (
                platform,
                f"platform: {platform.name}, a guess from the instructions of the text",
            )
        default = platform_told(file, self.options) or DEFAULT
        return default, f"platform: {default.name}, the default"

    def _prepare(self, file: LaunchFile, platform: Platform) -> PreparedLaunch | str | int | None:
        """Return the prepared launch, or the argument of the error."""
        config = replace(file.config, kernel=self.kernel.name, sections=file.config.sections + self.sections)
        try:
            return prepare(self.module, None if self.named else self.info, config, platform)
        except LaunchError as error:
            return error.arg

    def _is_refused(self, platform: Platform) -> bool:
        """Return whether the text has errors for a platform."""
        if self.text is None:
            self.text = module_text(self.module, platform)
            if errors_of(self.text, None):
                self.text = ""  # the object has no text form
        return bool(self.text and errors_of(self.text, platform.name))

    def _try(self, sizes: DefaultSizes) -> _Trial:
        """Run a launch with roomy buffers up to the step limit of a trial."""
        if self.left <= 0:
            return _Trial(sizes, {}, has_ended=False)
        proposal = self.proposal(sizes)
        prepared = self._prepare(proposal.read(self.path), proposal.platform)
        if not isinstance(prepared, PreparedLaunch):
            return _Trial(sizes, {}, has_ended=False)
        extents = ExtentObserver()
        budget = min(self.left, _TRIAL_STEPS)
        result = interpret(with_budget(prepared, budget), (*checkers("all"), extents))
        self.left -= result.steps
        names = [a["name"] for a in proposal.template["arguments"]]
        buffers = {
            key if isinstance(key, int) else names.index(key): buffer
            for key, buffer in prepared.buffers.items()
            if isinstance(key, int) or key in names
        }
        touched = {index: extents.end(buffer) for index, buffer in buffers.items()}
        outputs = frozenset(index for index, buffer in buffers.items() if extents.is_output(buffer))
        faults = [fault for fault in result.faults if not fault.is_note]
        wrong = tuple(fault for fault in faults if fault.kind is not FaultKind.BUDGET)
        return _Trial(sizes, touched, wrong, len(wrong) == len(faults), extents.has_updates, outputs)

    def _size_words(self, template: Spec) -> list[str]:
        given = self.given
        if "threads" in given:
            return []
        words = []
        if "groups" not in given and "global_size" not in given:
            why = "" if max(template["groups"]) > 1 else ", because the kernel does not read its group ID"
            words.append(f"groups: {forms.flow(template['groups'])}{why}")
        if "local_size" not in given:
            size = template["localSize"]
            why = "as the ze_info requires" if template["required"] else f"one thread of SIMD{template['simdSize']}"
            if size != [max(1, template["simdSize"]), 1, 1] and not template["required"]:
                why = "several threads that share memory" if template["shares"] else "a tile of a plane"
            words.append(f"local_size: {forms.flow(size)}, {why}")
        return words


@dataclass(frozen=True, slots=True)
class ProposedRun:
    """A program to run and its generated launch, with the lines of its texts and notes."""

    module: Module
    sources: dict[str, BodySource]
    notes: list[str]
    proposal: Proposal


def propose_run(
    program: str | bytes, options: RunOptions, launch_path: Path, quick: Spec | None = None, *, tries: bool = True
) -> ProposedRun:
    """Load a text, or the bytes of a text or an object, and generate its launch.

    Raises TextProblems for a text with errors, and LaunchError as ``propose`` does.
    """
    platform = platform_told(parse_launch(_NOTHING, launch_path), options)
    # Functions of the folder are not linked here if the launch names files, because the run adds those first.
    linked = not options.files and not (quick or {}).get("files")
    if isinstance(program, bytes) and not is_object(options.path or "", program):
        program = decode_text(program)
    program_parts = _program(program, options, platform, linked=linked)
    text = program if isinstance(program, str) else None
    if platform is not None and text is not None:
        refuse_errors(text, options.path, platform)
    proposal = propose(program_parts[0], options, launch_path, quick, tries=tries, text=text)
    is_said = bool(options.platform or (quick or {}).get("platform"))
    if proposal.platform is not (platform or DEFAULT) or (is_said and platform is None):
        program_parts = _program(program, options, proposal.platform, linked=linked)
    return ProposedRun(*program_parts, proposal)


def _program(
    program: str | bytes, options: RunOptions, where: Platform | None, *, linked: bool
) -> tuple[Module, dict[str, BodySource], list[str]]:
    """Return the program; if ``linked``, with the functions of its folder that its first kernels call."""
    notes: list[str] = []
    sources: dict[str, BodySource] = {}
    if isinstance(program, bytes):
        module = decode_object(program, options.path)
    else:
        module = module_of_text(program, options.path, where, notes)
        sources = sources_of(module, program, options.path)
    if linked and options.path is not None:
        for kernel in module.kernels[:1]:
            module = with_callees(module, kernel, options.path, where, options.finder, notes, sources)
    return module, sources, notes


def _complete(given: Spec, template: Spec) -> Spec:
    try:
        return forms.complete(given, template)
    except forms.QuickError as error:
        raise LaunchError(str(error)) from None


def _kernel(module: Module, given: Spec, place: str) -> tuple[Kernel, list[str]]:
    """Return the chosen kernel, else the first of the program."""
    if given.get("kernel"):
        return choose_kernel(module, str(given["kernel"])), []
    if not module.kernels:
        names = ", ".join(body.name for body in module.functions)
        raise LaunchError(f"no kernel found, only functions ({names}); run the kernel that calls them", place=place)
    kernels = _kernels_of(module)
    others = ", ".join(k.name for k in kernels[1:])
    return kernels[0], [f"kernel: {kernels[0].name}, the first; there are also {others}"] if others else []


def _kernels_of(module: Module) -> list[Kernel]:
    """Return the kernels of a program, without the compiler's empty kernel unless it is the only one."""
    return [k for k in module.kernels if k.name != COMPILERS_OWN] or list(module.kernels)


def _symbols(
    module: Module, info: KernelInfo, sections: Sequence[DataSection], options: RunOptions, given: Spec
) -> Spec:
    """Return zeros for data of the program that no zebin provides."""
    there = {name for section in sections for name in (*section.symbols, section.base)}
    bases = [entry.arg_type for entry in info.payload if entry.arg_type in ("const_base", "global_base")]
    symbol_names = {*there, *(given.get("symbols") or {})}
    return {
        name: {"dtype": "uint8", "shape": [_SYMBOL_BYTES], "init": "zeros"}
        for name in dict.fromkeys([*program_symbols(module, options), *bases])
        if name not in symbol_names
    }


def _candidates() -> list[Platform]:
    likely = [p for name in _LIKELY if (p := platform_named(name)) is not None]
    return [*likely, *(p for p in PLATFORMS if p not in likely)]


def _sizes(kernel: Kernel, info: KernelInfo, given: Spec, template: Spec) -> list[DefaultSizes]:
    """Return the sizes to try, the likeliest first; given sizes take precedence."""
    places = _variables_in(kernel)
    variables = {var for var, _ in places}

    def reads_ids(axis: int) -> bool:
        """Return whether the kernel reads both ids along an axis: only the local ones give the index in the group too."""
        reads_group = _GROUP_IDS[axis] in variables or (_R0, _R0_GROUP_IDS[axis]) in places
        return reads_group and bool(variables & _local_ids(kernel, info, axis))

    is_plane, is_volume = reads_ids(1), reads_ids(2)
    one_thread: Triple = (*template["localSize"], 1, 1)[:3]
    local = [one_thread]
    if "threads" in given or template["required"]:
        pass
    elif (size := _triple(given.get("local_size"))) is not None:
        local = [size]
    elif template["shares"]:
        # Without a use of the ids along y a plane would only hide faults of a line, such as a barrier for a part of it.
        has_y = bool(variables & _local_ids(kernel, info, 1))
        sizes = [size for size in _LOCAL_SIZES if size[1] == 1 or has_y]
        local = [*(_LOCAL_SQUARES if is_plane else ()), *sizes, one_thread]
    elif is_plane or is_volume:
        local = [_LOCAL_VOLUME if is_volume else _LOCAL_PLANE]
    groups, items = _triple(given.get("groups")), _triple(given.get("global_size"))
    candidates = []
    for x, y, z in local:
        if items is not None:
            groups = (-(-items[0] // x), -(-items[1] // y), -(-items[2] // z))
        several: Triple = (max(3, _MIN_ITEMS // x | 1), 1, 1)
        if z > 1 or is_volume:
            several = _VOLUME_GROUPS
        elif y > 1 or (is_plane and template["required"]):
            several = _tall_groups((x, y, z))
        reads_group = not variables.isdisjoint((*_GROUP_IDS, _R0))
        candidates.append(
            DefaultSizes((x, y, z), groups or (several if reads_group else (1, 1, 1)), _read_counts(given, template))
        )
    return candidates


def _tall_groups(local: Triple) -> Triple:
    """Return several groups along x and y whose work items form a plane that is higher than wide."""
    x, y, _ = local
    columns = 1 if x > _MIN_ROWS * y else max(2, _MIN_ROWS // x)
    return columns, min(columns * x // y + 1, _MAX_ROWS_OF_GROUPS), 1


def _wide_groups(local: Triple) -> Triple:
    """Return several groups along x and y whose work items form a plane that is wider than high."""
    x, y, _ = local
    rows = max(2, _MIN_ROWS // y)
    return max(2, rows * y // x + 1), rows, 1


def _other_groups(sizes: DefaultSizes, *, is_guarded: bool) -> Triple:
    """Return the numbers of groups for sides whose order is the other one.

    If the kernel compares counts with ids, there are more work items along each axis than the longer side has, because
    only these show that a guard takes the wrong side.
    """
    x, y, z = sizes.groups
    if sizes.totals[2] > 1:
        return x + 1, (x + 1) * sizes.local[0] // sizes.local[1] + 1 if is_guarded else max(1, y // 2), z + 1
    if sizes.totals[1] > 1:
        columns, rows, _ = _wide_groups(sizes.local)
        width = columns * sizes.local[0]
        return columns, min(width // sizes.local[1] + 1, _MAX_ROWS_OF_GROUPS) if is_guarded else rows, 1
    return (x, y, z) if is_guarded or x == 1 else (x + 2, y, z)


def _read_counts(given: Spec, template: Spec) -> dict[int, int]:
    """Return the given values of counts by argument, and the first large one for the others."""
    args = given.get("args")
    counts: dict[int, int] = {}
    counted = [argument for argument in template["arguments"] if argument["counts"]]
    for argument in counted:
        index, key = argument["index"], argument["name"] if isinstance(args, dict) else argument["index"]
        value = args.get(key) if isinstance(args, dict) else None
        if isinstance(args, list) and index < len(args):
            value = args[index]
        value = value.get("value") if isinstance(value, dict) else value
        if isinstance(value, int):
            counts[index] = value
    large = next((value for value in counts.values() if value >= _MIN_COUNT), None)
    return {argument["index"]: large for argument in counted} | counts if large else {}


def _triple(value: object) -> Triple | None:
    """Return three sizes from one to three numbers; None for other values, which are refused elsewhere."""
    numbers = [value] if isinstance(value, int) else value
    if not isinstance(numbers, list) or not 1 <= len(numbers) <= 3:
        return None
    if not all(isinstance(n, int) and 0 < n < 1 << 20 for n in numbers):
        return None
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z


def _variables_in(kernel: Kernel) -> set[tuple[int, int]]:
    """Return the general variables that instructions of a kernel use, directly or by alias, each with the operand's byte offset.

    The offset is 0 for raw operands and operands after the first row of a register.
    """
    uses = set()
    for inst in kernel.instructions:
        for value in inst.values:
            if not isinstance(value, General | RawOperand):
                continue
            var, offset = value.var, 0
            variable_type = kernel.variable_type(var)
            if isinstance(value, General) and variable_type is not None and not value.row:
                offset = value.col * variable_type.size
            for _ in kernel.variables:  # follows chains of aliases
                alias = kernel.variable(var)
                if alias is None or alias.alias_scope or not is_alias(alias):
                    break
                var, offset = alias.alias_index, offset + alias.alias_offset
            uses.add((var, offset))
    return uses


def _local_ids(kernel: Kernel, info: KernelInfo, axis: int) -> set[int]:
    """Return the variables with the local ids along an axis: a third of the per-thread payload."""
    size = sum(entry.size for entry in info.per_thread if entry.arg_type == "local_id") // 3
    start = min((entry.offset for entry in kernel.inputs), default=0) + size * axis
    return {entry.id for entry in kernel.inputs if start <= entry.offset < start + size}


def _is_wrong(trial: _Trial, proposal: Proposal) -> bool:
    return bool(trial.faults) or any(argument["overrun"] for argument in proposal.template["arguments"])


def _argument_words(given: Spec, template: Spec) -> list[str]:
    """Return a sentence for each default argument."""
    args: Any = given.get("args")
    words = []
    for argument in template["arguments"]:
        index, name = argument["index"], argument["name"]
        if isinstance(args, dict) and name in args:
            continue
        if isinstance(args, list) and index < len(args) and args[index] is not None:
            continue
        title = f"argument {index} ({name})" if name else f"argument {index}"
        words.append(f"{title}: {argument['words']}")
    return words
