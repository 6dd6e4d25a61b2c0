"""Runs one enqueue of a host on the simulator, with checks.

Bytes that nothing has written hold a pattern, with which the host's allocator fills memory; they are recognised here,
before each launch, so that writes and copies by anybody count. Most kernels only write such memory: a first run treats it
as write-only, which compiled code can check. Only if the kernel reads from it a second run, in the interpreter, follows
undefined bytes. A launch that is too large for that runs twice, with different bytes in their place. Invariant: what a launch leaves in memory does not depend on the checks.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from importlib.util import find_spec
from math import prod
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from msgspec import Struct, field, structs

from visa_lsp.app.exec.programs import KeptLaunch
from visa_lsp.app.exec.undefined import undefined_bytes
from visa_lsp.app.launch.launch_file import LaunchFile
from visa_lsp.app.launch.options import RunOptions
from visa_lsp.app.launch.ready_run import ReadyRun, run_ready
from visa_lsp.program.elements import element_bytes
from visa_lsp.sim.analyses.costs import is_large
from visa_lsp.sim.faults import FaultKind
from visa_lsp.sim.launch.config import (
    Array,
    BufferArg,
    ImageArg,
    LaunchConfig,
    LocalArg,
    NullArg,
    PlacedMemory,
    Triple,
    ValueArg,
)
from visa_lsp.sim.launch.prepare import prepare
from visa_lsp.sim.observers.checkers import CHECKERS, OPTIONAL_CHECKERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from visa_lsp.app.exec.model import Enqueue
    from visa_lsp.app.exec.programs import LoadedKernel
    from visa_lsp.app.launch.report import RunReport
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.program.payload import KernelInfo
    from visa_lsp.sim.faults import Fault
    from visa_lsp.sim.launch.config import Arg
    from visa_lsp.sim.launch.prepare import PreparedLaunch
    from visa_lsp.sim.observers.hooks import Observer

_FIRST_FOLLOWED_STEPS: Final = 10_000  # of the interpreter, a second, in which most uses of undefined bytes are seen
_MAX_FOLLOWED_STEPS: Final = 100_000  # if the first ones have no such use, but the results depend on such bytes
_MAX_FOLLOWED_PARTS: Final = 3  # of launches of a kernel with more steps
_MAX_COMPARED_SECONDS: Final = 10.0  # of a kernel, for further runs with other bytes in place of undefined ones
_MAX_COMPARED_BYTES: Final = 64 << 20
_TOO_LARGE: Final = "the launch is too large to follow all undefined bytes that it reads"
_SAME: Final = f"{_TOO_LARGE}; with other bytes in their place it left the same results"
_DEPENDS: Final = (
    "the results depend on bytes that nothing has written, but the launch is too large to say where it uses them"
)
_COMPILED_THREADS: Final = (
    20  # of a kernel's launches: interpreting more takes longer than compiling (80 us a step, 1.5 ms)
)
_MAX_CHOSEN_ITEMS: Final = 256
_SMALL_ITEMS: Final = 4096  # of a launch without checks: 0.3 ms for a thread of the host
_MAX_LISTENED_SECONDS: Final = 2.0  # a part of the groups suffices to find most races between launches


class LaunchSettings(Struct, frozen=True):
    """The settings of launches: the platform, the checks, and a callback at intervals, which may raise to end a launch."""

    platform: Platform
    checks: str
    max_group_items: int
    show_progress: Callable[[int, int, int], None] | None = None


class _LateError(Exception):
    """A run for a listener, or one that follows undefined bytes, has taken its time."""


class EnqueueResult(Struct, frozen=True, eq=False):
    """The result of an enqueue: the report of its run, the local size that was used, and a note about lost checks.

    ``undefined`` has masks of the bytes of arguments that nothing had written before the run.
    """

    report: RunReport
    local_size: Triple
    note: str = ""
    undefined: dict[int | str, Array] = field(default_factory=dict)


def list_checks(checks: str) -> str:
    """Return a list of checks with ``all`` replaced by its names, so that no check adds notes, which are not reported."""
    names: dict[str, None] = {}
    for name in (word.strip() for word in checks.split(",")):
        names |= dict.fromkeys([n for n in CHECKERS if n not in OPTIONAL_CHECKERS] if name == "all" else [name])
    return ",".join(names)


def run_enqueue(kernel: LoadedKernel, enqueue: Enqueue, settings: LaunchSettings) -> EnqueueResult:
    """Run an enqueue; memory is changed in place. Raises LaunchError if the simulator cannot run it."""
    local = _shape(kernel, enqueue, settings)
    config = _config(kernel, enqueue, local)
    before: list[Array] = []
    masks = _masks(config) if "uninitialised" in settings.checks.split(",") else {}
    note = ""
    reads: tuple[Fault, ...] = ()
    if masks:
        probed = _run_probe(kernel, config, settings, masks)
        if probed is not None:
            return EnqueueResult(probed, local, undefined=masks)
        before = [array.copy() for array in _arrays(config)]
        is_compiled = _can_compile(kernel) and _threads_of(kernel, enqueue, local) >= _COMPILED_THREADS
        steps = _FIRST_FOLLOWED_STEPS if is_compiled else _MAX_FOLLOWED_STEPS
        result, reads = _run_followed(kernel, config, settings, masks, steps)
        if result is not None:
            return EnqueueResult(result, local, undefined=masks)
        _restore(config, before)
    report = _run(kernel, config, settings)
    if masks:
        if not reads:
            # With faults the memory of a further run could differ for other reasons.
            reads, note = ((), _TOO_LARGE) if report.faults else _compare_fills(kernel, config, settings, masks, before)
        kernel.followed_parts += 1
    kernel.wrongly_accessed |= {
        index
        for fault in report.faults
        if fault.kind is FaultKind.ACCESS
        for index in range(len(enqueue.args))
        if f"`{kernel.info.argument_name(index) or index}`" in fault.message
    }
    return EnqueueResult(structs.replace(report, faults=(*report.faults, *reads)), local, note, masks)


def _run_probe(
    kernel: LoadedKernel, config: LaunchConfig, settings: LaunchSettings, masks: dict[int | str, Array]
) -> RunReport | None:
    """Run a launch that has bytes that nothing has written; return its report, or None, with memory as before, if it reads such bytes.

    Shared memory to which no argument points is read-only at first, because a copy of all of it may take longer than the launch.
    """
    args = enumerate(config.by_key.values())
    # A probe would miss writes of memory that a kernel may only read.
    kernel.reads_unwritten |= any(isinstance(a, BufferArg) and n in masks and a.access == "readonly" for n, a in args)
    changes: dict[int | str, dict[str, Any]] = {n: {"access": "writeonly"} for n in masks}
    while not kernel.reads_unwritten:
        others = () if kernel.writes_others else [hex(region.address) for region in _not_pointed_to(config)]
        probe = _with_args(config, changes | {name: {"access": "readonly"} for name in others})
        before = [array.copy() for array in _arrays(probe)]
        with contextlib.suppress(_LateError):
            report = _run(kernel, probe, _with_limit(settings, _FIRST_FOLLOWED_STEPS), is_probe=True)
            if not report.faults:
                return report
        _restore(probe, before)
        kernel.writes_others, kernel.reads_unwritten = True, not others
    return None


def _run_followed(
    kernel: LoadedKernel, config: LaunchConfig, settings: LaunchSettings, masks: dict[int | str, Array], steps: int
) -> tuple[RunReport | None, tuple[Fault, ...]]:
    """Run a launch that reads bytes that nothing has written; return its report, or None if it takes more than ``steps``.

    Returns also the uses of such bytes until then, unless earlier launches of the kernel were too large.
    """
    if kernel.followed_parts >= _MAX_FOLLOWED_PARTS:
        return None, ()
    followed = _with_args(config, {n: {"undefined": True, "defined": ~mask} for n, mask in masks.items()})
    report = _run(kernel, followed, settings, budget=steps)
    if all(fault.kind is not FaultKind.BUDGET for fault in report.faults):
        return report, ()
    return None, tuple(fault for fault in report.faults if fault.kind is FaultKind.UNINITIALISED)


def _compare_fills(
    kernel: LoadedKernel,
    config: LaunchConfig,
    settings: LaunchSettings,
    masks: dict[int | str, Array],
    before: list[Array],
) -> tuple[tuple[Fault, ...], str]:
    """Return the uses of bytes that nothing has written, and a note, of a launch that has just run and is too large to follow.

    It runs again with other bytes in their place; only if it leaves something else, a longer part is followed. Memory stays
    as the first run has left it.
    """
    arrays = _arrays(config)
    began = perf_counter()
    if (
        not _can_compile(kernel)
        or kernel.compared_seconds > _MAX_COMPARED_SECONDS
        or sum(array.nbytes for array in arrays) > _MAX_COMPARED_BYTES
    ):
        return (), _TOO_LARGE
    after = [array.copy() for array in arrays]
    _restore(config, before)
    with _other_fill(config, masks):
        filled = [array.copy() for array in arrays]
        other = _run(kernel, config, settings)
        contents = zip(before, after, filled, arrays, strict=True)
        differs = bool(other.faults) or any(_differs(*four) for four in contents)
    _restore(config, before)
    reads: tuple[Fault, ...] = ()
    if differs and kernel.followed_parts < _MAX_FOLLOWED_PARTS:
        report, reads = _run_followed(kernel, config, settings, masks, _MAX_FOLLOWED_STEPS)
        if report is not None:
            reads = tuple(fault for fault in report.faults if fault.kind is FaultKind.UNINITIALISED)
    _restore(config, after)
    kernel.compared_seconds += perf_counter() - began
    return reads, "" if reads else _DEPENDS if differs else _SAME


@contextlib.contextmanager
def _other_fill(config: LaunchConfig, masks: dict[int | str, Array]) -> Iterator[None]:
    """Replace the bytes that nothing has written by random ones; put them back afterwards."""
    arrays: dict[int | str, Array] = {n: arg.array for n, arg in config.by_key.items() if isinstance(arg, BufferArg)}
    arrays |= {hex(region.address): region.array for region in config.memory}
    raws = {key: arrays[key].reshape(-1).view(np.uint8) for key in masks}
    saved = {key: raws[key][mask] for key, mask in masks.items()}
    random = np.random.default_rng(1)
    for key, mask in masks.items():
        raws[key][mask] = random.integers(0, 256, saved[key].size, np.uint8)
    try:
        yield
    finally:
        for key, mask in masks.items():
            raws[key][mask] = saved[key]


def _differs(before: Array, after: Array, other_before: Array, other_after: Array) -> bool:
    """Return whether two runs of a launch leave different bytes, but for those that neither has written."""
    first, second = (array.reshape(-1).view(np.uint8) for array in (after, other_after))
    begun, other_begun = (array.reshape(-1).view(np.uint8) for array in (before, other_before))
    return bool(np.any((first != second) & ((first != begun) | (second != other_begun))))


def _restore(config: LaunchConfig, before: list[Array]) -> None:
    """Give the memory of a launch the contents that it had before."""
    for array, saved in zip(_arrays(config), before, strict=True):
        array[...] = saved


def _with_limit(settings: LaunchSettings, limit: int) -> LaunchSettings:
    """Return settings that end a run in which one group takes more than ``limit`` steps: it is interpreted, because it reads.

    Compiled groups show their progress when they have ended.
    """
    ended = -1, 0

    def show_progress(groups: int, completed: int, steps: int) -> None:
        nonlocal ended
        if completed != ended[0] or steps < ended[1]:
            ended = completed, steps
        elif steps - ended[1] > limit:
            raise _LateError
        if settings.show_progress is not None:
            settings.show_progress(groups, completed, steps)

    return structs.replace(settings, show_progress=show_progress)


def run_listened(
    kernel: LoadedKernel, enqueue: Enqueue, settings: LaunchSettings, local: Triple, listener: Observer
) -> None:
    """Run an enqueue without checks for a listener, in the interpreter, for a few seconds at most."""
    began = perf_counter()

    def stop_late(*_: int) -> None:
        if perf_counter() - began > _MAX_LISTENED_SECONDS:
            raise _LateError

    with contextlib.suppress(_LateError):
        config = _config(kernel, enqueue, local)
        sections = (replace(s, array=None if s.array is None else s.array.copy()) for s in config.sections)
        config = replace(config, sections=tuple(sections))
        _run(kernel, config, structs.replace(settings, checks="none", show_progress=stop_late), listener)


def _shape(kernel: LoadedKernel, enqueue: Enqueue, settings: LaunchSettings) -> Triple:
    """Return the local size of an enqueue; count the threads of the kernel."""
    local = enqueue.local_size or choose_local_size(enqueue.global_size, kernel.info, settings.max_group_items)
    kernel.threads += _threads_of(kernel, enqueue, local)
    return local


def _threads_of(kernel: LoadedKernel, enqueue: Enqueue, local: Triple) -> int:
    groups = prod(-(-g // s) for g, s in zip(enqueue.global_size, local, strict=True))
    return groups * -(-prod(local) // max(1, kernel.info.env.simd_size))


def _config(kernel: LoadedKernel, enqueue: Enqueue, local: Triple) -> LaunchConfig:
    facts = _facts(kernel, enqueue, local)
    if kernel.latest is not None and facts and facts == kernel.latest.facts:
        return kernel.latest.config
    args, memory = _placed(enqueue, kernel)
    config = LaunchConfig(
        kernel=kernel.name, local_size=local, global_size=enqueue.global_size, global_offset=enqueue.global_offset,
        dimensions=enqueue.dimensions, args=args, sections=kernel.sections, memory=memory,
    )  # fmt: skip
    kernel.latest = KeptLaunch(facts, config) if facts else None
    return config


def _facts(kernel: LoadedKernel, enqueue: Enqueue, local: Triple) -> tuple[object, ...]:
    """Return what a launch is prepared from, memory by its place; empty for images, shared memory and sections."""
    if enqueue.shared or kernel.sections:
        return ()
    facts: list[object] = [
        local,
        enqueue.global_size,
        enqueue.global_offset,
        enqueue.dimensions,
        len(kernel.wrongly_accessed),
    ]
    for arg in enqueue.args:
        if isinstance(arg, BufferArg):
            whole = arg.array if arg.whole is None else arg.whole
            facts += [arg.array.ctypes.data, arg.array.nbytes, whole.ctypes.data, whole.nbytes, arg.access]
        elif isinstance(arg, ValueArg):
            facts.append(arg.array.tobytes())
        elif isinstance(arg, LocalArg | NullArg):
            facts.append(arg)
        else:
            return ()
    return tuple(facts)


def _prepared(kernel: LoadedKernel, config: LaunchConfig, platform: Platform) -> PreparedLaunch:
    """Return the description of a launch: that of the last one if it was prepared from the same, and left no memory of its own."""
    latest = kernel.latest
    if latest is not None and latest.config is config and latest.prepared is not None:
        for buffer in latest.prepared.dispatch.buffers:
            buffer.written = False
        return latest.prepared
    prepared = prepare(kernel.module, kernel.info, config, platform, checked_threads=kernel.checked_threads)
    kernel.checked_threads = max(kernel.checked_threads, prepared.geometry.threads)
    of_args = {id(own) for buffer in prepared.buffers.values() for own in (buffer, buffer.whole)}
    if latest is not None and latest.config is config and {id(b) for b in prepared.dispatch.buffers} <= of_args:
        latest.prepared = prepared
    return prepared


def choose_local_size(size: Triple, info: KernelInfo, most: int) -> Triple:
    """Return the local size of a launch that leaves it open: the required one, else a large divisor along x, then y and z."""
    if any(info.env.required_work_group_size):
        return info.env.required_work_group_size
    left, chosen = min(most, _MAX_CHOSEN_ITEMS), []
    for count in size:
        part = next(n for n in range(min(left, count), 0, -1) if count % n == 0)
        chosen.append(part)
        left //= part
    return chosen[0], chosen[1], chosen[2]


def _run(
    kernel: LoadedKernel,
    config: LaunchConfig,
    settings: LaunchSettings,
    listener: Observer | None = None,
    *,
    is_probe: bool = False,
    budget: int | None = None,
) -> RunReport:
    """Run a configuration. A probe stops at its first fault, and always checks access."""
    options = RunOptions(
        path=kernel.program.folder / "kernel.visaasm", platform=settings.platform.name, first_fault=is_probe,
        checks=f"{settings.checks},access" if is_probe else settings.checks, compiled=kernel.compiled,
        show_progress=settings.show_progress, budget=budget,
        engine=_engine_for(kernel) if listener is None else "auto",
        threads=1 if listener is not None or settings.checks != "none" else _host_threads(config),
        listeners=(listener,) if listener is not None else (),
    )  # fmt: skip
    prepared = _prepared(kernel, config, settings.platform)
    launch = LaunchFile(None, None, config)
    return run_ready(
        ReadyRun(kernel.module, launch, options, settings.platform, prepared, kernel.sources, (), loading=0.0)
    )


def _host_threads(config: LaunchConfig) -> int:
    """Return the number of threads of the host for a launch: one if it is small, because starting others takes longer."""
    assert config.global_size is not None
    return 1 if prod(config.global_size) < _SMALL_ITEMS else os.cpu_count() or 1


def _engine_for(kernel: LoadedKernel) -> str:
    """Return the engine for the next launch of a kernel: compiled code once interpreting would take longer than compiling."""
    return "jit" if kernel.threads >= _COMPILED_THREADS and _can_compile(kernel) else "auto"


def _can_compile(kernel: LoadedKernel) -> bool:
    """Return whether the compiled engine is installed and takes a kernel of this size."""
    return not is_large(kernel.module.kernels[0]) and find_spec("llvmlite") is not None


def _placed(enqueue: Enqueue, kernel: LoadedKernel) -> tuple[tuple[Arg, ...], tuple[PlacedMemory, ...]]:
    """Return the arguments and the shared memory with elements of the kernel's types.

    A buffer keeps its ``whole`` if other parts overlap it; a pointer to the start of shared memory has the array of that.
    """
    shared, names = _typed_memory(enqueue, kernel)
    views: dict[tuple[int, int, int, str], Array] = {}
    buffers: dict[
        int, tuple[BufferArg, Array, Array | None]
    ] = {}  # with their arrays, and those that these are parts of
    args: list[Arg] = []
    for index, given in enumerate(enqueue.args):
        arg = replace(given, access="") if isinstance(given, BufferArg) and index in kernel.wrongly_accessed else given
        if isinstance(arg, ValueArg):
            element = kernel.info.element_of(index)
            is_whole = element and arg.array.nbytes % element_bytes(element) == 0
            args.append(ValueArg(arg.array.view(element)) if is_whole else arg)
        elif isinstance(arg, BufferArg) and id(arg.whole) in names and arg.array.nbytes == shared[id(arg.whole)].nbytes:
            args.append(replace(arg, array=shared[id(arg.whole)], whole=None))
        elif isinstance(arg, BufferArg):
            raw = arg.array
            typed = raw.view(kernel.element_of(index, raw.nbytes))
            key = (id(arg.whole), raw.ctypes.data, raw.nbytes, typed.dtype.str)
            buffers[index] = arg, views.setdefault(key, typed), shared.get(id(arg.whole), arg.whole)
            args.append(arg)
        else:
            args.append(arg)
    fixed = {id(array) for array in shared.values()}

    def is_part(array: Array, whole: Array | None) -> bool:
        others = (a for key, a in views.items() if key[0] == id(whole) and a is not array)
        return id(whole) in fixed or any(np.may_share_memory(array, other) for other in others)

    for index, (buffer, array, whole) in buffers.items():
        args[index] = replace(buffer, array=array, whole=whole if is_part(array, whole) else None)
    memory = (
        PlacedMemory(
            names.get(id(array), f"shared allocation {enqueue.shared_numbers[address]}"),
            shared[id(array)],
            address,
            in_place=True,
        )
        for address, array in enqueue.shared
    )
    return tuple(args), tuple(memory)


def _typed_memory(enqueue: Enqueue, kernel: LoadedKernel) -> tuple[dict[int, Array], dict[int, str]]:
    """Return the shared memory by identity, with elements of the first pointer to its start, and the names of such pointers."""
    shared, names = {id(array): array for _, array in enqueue.shared}, dict[int, str]()
    for index, arg in enumerate(enqueue.args):
        key = id(arg.whole) if isinstance(arg, BufferArg) else 0
        if isinstance(arg, BufferArg) and key in shared and arg.array.nbytes == shared[key].nbytes:
            if key not in names:
                shared[key] = shared[key].view(kernel.element_of(index, arg.array.nbytes))
            name = f"`{kernel.info.argument_name(index) or index}`"
            names[key] = f"{names[key]}, {name}" if key in names else name
    return shared, names


def _with_args(config: LaunchConfig, changes: dict[int | str, dict[str, Any]]) -> LaunchConfig:
    """Return a configuration with changed arguments, by index, and memory, by name of its address."""
    args = [
        replace(arg, **changes[n]) if n in changes and isinstance(arg, BufferArg) else arg
        for n, arg in enumerate(config.by_key.values())
    ]
    memory = [replace(region, **changes.get(hex(region.address), {})) for region in config.memory]
    return replace(config, args=tuple(args), memory=tuple(memory))


def _masks(config: LaunchConfig) -> dict[int | str, Array]:
    """Return masks of the bytes that nothing has written, for arguments by index, and for memory to which they point."""
    args = list(config.by_key.values())
    others = {id(region.array) for region in _not_pointed_to(config)}
    placed = {id(region.array) for region in config.memory}
    arrays: dict[int | str, Array] = {
        n: arg.array
        for n, arg in enumerate(args)
        if isinstance(arg, BufferArg) and arg.whole is None and id(arg.array) not in placed
    }
    arrays |= {hex(region.address): region.array for region in config.memory if id(region.array) not in others}
    return {key: mask for key, array in arrays.items() if (mask := undefined_bytes(array)) is not None}


def _not_pointed_to(config: LaunchConfig) -> list[PlacedMemory]:
    """Return the shared memory to which no argument points."""
    args = [arg for arg in config.by_key.values() if isinstance(arg, BufferArg)]
    pointed = {id(arg.array if arg.whole is None else arg.whole) for arg in args}
    return [region for region in config.memory if id(region.array) not in pointed]


def _arrays(config: LaunchConfig) -> list[Array]:
    """Return the memory of a launch that it may write, each array once."""
    args = (arg for arg in config.by_key.values() if isinstance(arg, BufferArg | ImageArg) and arg.access != "readonly")
    sections = (section.array for section in config.sections if section.array is not None)
    memory = (region.array for region in config.memory if region.access != "readonly")
    arrays = (*(arg.array for arg in args), *memory, *sections)
    return list({id(array): array for array in arrays}.values())
