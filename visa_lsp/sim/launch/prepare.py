"""Prepares a launch from a program and a configuration: payloads, surfaces, samplers, shared local memory.

Knows no files and no YAML; ``KernelInfo`` has the facts of ze_info. Invariant: any engine can run a ``PreparedLaunch``,
and its ``arrays`` are the memory that the kernel writes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import structs

from visa_lsp.isa.platforms import PLATFORMS, Platform
from visa_lsp.program.elements import MAX_SHARED_BYTES
from visa_lsp.program.model import FileVariable, General, Kernel, Module
from visa_lsp.sim.dispatch import Dispatch, GroupShape, no_item
from visa_lsp.sim.launch.args import Arguments
from visa_lsp.sim.launch.config import (
    GLOBAL_SIZE,
    GROUPS,
    LOCAL_SIZE,
    MAX_GROUP_REGISTER_BYTES,
    PLATFORM,
    Array,
    LaunchConfig,
    LaunchError,
    Triple,
)
from visa_lsp.sim.launch.layout import Geometry, GroupPayload, LaunchLayout
from visa_lsp.sim.launch.named_inputs import LaunchInputs
from visa_lsp.sim.launch.world import World
from visa_lsp.sim.operands import HW_ID
from visa_lsp.sim.registers import RegisterLayout, is_alias
from visa_lsp.sim.wellformed import check_body
from visa_lsp.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from visa_lsp.program.payload import KernelInfo
    from visa_lsp.sim.memory import Buffer

MAX_THREADS: Final = 1 << 24
_DEFAULT_SLM: Final = 65536  # the maximum of a group, used without ze_info
_DEFAULT_SIMD: Final = 16
_STATE: Final = 13  # %sr0


@dataclass(frozen=True, slots=True)
class PreparedLaunch:
    """A launch that is ready.

    ``arrays`` are the live contents of buffer and image arguments, by index or name; ``buffers`` the memory that holds them.
    """

    dispatch: Dispatch
    geometry: Geometry
    arrays: Mapping[int | str, Array]
    buffers: Mapping[int | str, Buffer]
    names: Mapping[int | str, str]
    printf: Buffer | None = None


def choose_kernel(program: Module, name: str | None) -> Kernel:
    """Return the kernel of a name, or the only kernel.

    Raises LaunchError if there is no such kernel, or several without a name.
    """
    names = [kernel.name for kernel in program.kernels]
    if name is not None:
        found = next((kernel for kernel in program.kernels if kernel.name == name), None)
        if found is None:
            near = nearest(name, names)
            hint = f"did you mean '{near}'?" if near else f"its kernels are {', '.join(names) or 'none'}"
            raise LaunchError(f"the program has no kernel '{name}'; {hint}")
        return found
    if len(names) == 1:
        return program.kernels[0]
    if not names:
        raise LaunchError("the program has no kernel")
    raise LaunchError(f"the program has several kernels; choose one with kernel: {' | '.join(names)}")


def prepare(
    program: Module, info: KernelInfo | None, config: LaunchConfig, platform: Platform, *, checked_threads: int = 0
) -> PreparedLaunch:
    """Return the description of a launch of ``config`` on ``platform``.

    ``info`` has the facts of ze_info, if there is one. ``checked_threads``: the most threads of a group with which an earlier launch of the same program,
    ze_info and platform was checked. Raises LaunchError if ze_info, arguments, sizes or platform
    do not fit the program, or it needs more memory than the limits allow.
    """
    kernel = choose_kernel(program, config.kernel)
    if info is not None and info.name != kernel.name:
        raise LaunchError(f"the ze_info describes '{info.name}', but the kernel is '{kernel.name}'")
    if len(kernel.arguments) < len(kernel.inputs):
        kernel = structs.replace(kernel, inputs=kernel.arguments)  # because nothing fills reserved registers
    for body in () if checked_threads else (kernel, *program.functions):
        check_body(body, platform.grf_bytes, program.variables)
    geometry = _geometry(kernel, info, config, platform)
    if info is not None and not checked_threads:
        _check_platform(kernel, info, geometry, platform)
    if geometry.threads > checked_threads:
        _check_registers(kernel, geometry, program.variables)
    kilobytes = kernel.int_attribute("SLMSize") or 0
    world = World(info.env.slm_size, info.argument_name) if info else World(1024 * kilobytes)
    world.add_memory(config.memory)
    world.add_sections(config.sections)
    world.add_symbols(config.symbols)
    names: dict[int | str, str] = {}
    printf = None
    if info is not None:
        arguments = Arguments(info, config, geometry, world, platform)
        layout = LaunchLayout.of(info, geometry, platform)
        block = _with_info(kernel, info, arguments, layout)
        edges = {edge.local_size: _edge(info, arguments, layout, block, edge) for edge in geometry.edges()}
        printf = arguments.printf
        world.add_local_arrays(info.local_arrays)
        names = {arguments.key(index): info.argument_name(index) for index in range(info.argument_count)}
    else:
        block = GroupPayload(geometry, _end_of_inputs(kernel, geometry.grf_bytes))
        filler = LaunchInputs(kernel, config, geometry, world)
        filler.fill(block)
        edges = {}
        for edge in geometry.edges():
            edges[edge.local_size] = block.of(edge)
            filler.fill_edge(edges[edge.local_size], edge)
    if not 0 <= world.slm_bytes <= MAX_SHARED_BYTES:
        raise LaunchError(
            f"a group of '{kernel.name}' needs {world.slm_bytes} bytes of shared local memory; at most {MAX_SHARED_BYTES} (16 MiB) are allowed"
        )
    dispatch = Dispatch(
        kernel=kernel,
        functions={function.name: function for function in program.functions},
        platform=platform,
        groups=geometry.groups,
        threads_per_group=geometry.threads,
        simd=geometry.simd,
        lanes=geometry.lanes,
        payload=block.payload,
        surfaces=world.surfaces,
        memory=world.memory,
        slm_bytes=world.slm_bytes if info or world.slm_bytes else _DEFAULT_SLM,
        shared_parts=tuple(world.shared_parts),
        samplers=world.samplers,
        symbols=world.symbols,
        file_variables=program.variables,
        item=geometry.item if config.threads is None else no_item,
        partial=_partial(geometry, edges) if edges else None,
    )
    return PreparedLaunch(dispatch, geometry, world.arrays, world.buffers, names, printf)


def with_budget(prepared: PreparedLaunch, steps: int) -> Dispatch:
    """Return the dispatch of a launch with another limit on instructions, counted over all threads."""
    return structs.replace(prepared.dispatch, step_budget=steps)


def _with_info(kernel: Kernel, info: KernelInfo, arguments: Arguments, layout: LaunchLayout) -> GroupPayload:
    grf = layout.geometry.grf_bytes
    ends = [layout.payload.place(a.offset) + a.size for a in info.payload]
    block = GroupPayload(layout.geometry, max([_end_of_inputs(kernel, grf), layout.payload.cross_start, *ends]))
    _put_ids(info, block, layout)
    for entry in info.payload:
        block.put(layout.payload.place(entry.offset), arguments.encode(entry))
    arguments.bind()
    if arguments.indirect is not None:
        rest = block.payload((0, 0, 0), 0)[layout.payload.place(layout.payload.inline_bytes) :]
        kept = arguments.indirect.data[: len(rest)]
        kept[:] = np.frombuffer(rest, np.uint8)[: kept.size]
    return block


def _put_ids(info: KernelInfo, block: GroupPayload, layout: LaunchLayout) -> None:
    grf = block.geometry.grf_bytes
    if layout.payload.id_dimensions:
        block.put_local_ids(grf, layout.payload.id_dimensions)
    for entry in info.per_thread:
        if entry.arg_type == "packed_local_ids":
            block.put_rows(grf + entry.offset, block.geometry.local_ids()[:, :, 0])


def _edge(
    info: KernelInfo, arguments: Arguments, layout: LaunchLayout, whole: GroupPayload, edge: Geometry
) -> GroupPayload:
    """Return the payload of a partial group: its ids and sizes; other data are those of full groups."""
    block = whole.of(edge)
    _put_ids(info, block, layout)
    own = Arguments(info, arguments.config, edge, arguments.world, arguments.platform)
    for entry in info.payload:
        if entry.arg_type == "local_size":
            block.put(layout.payload.place(entry.offset), own.encode(entry))
    return block


def _partial(geometry: Geometry, edges: Mapping[Triple, GroupPayload]) -> Callable[[Triple], GroupShape | None]:
    shapes = {size: GroupShape(b.geometry.threads, b.geometry.lanes, b.payload) for size, b in edges.items()}
    return lambda group: shapes.get(geometry.size_of(group))


def _geometry(kernel: Kernel, info: KernelInfo | None, config: LaunchConfig, platform: Platform) -> Geometry:
    # The width of the text counts, because a compiler's dumps have all attempted widths.
    simd = kernel.int_attribute("SimdSize") or (info.env.simd_size if info else _DEFAULT_SIMD)
    if simd not in (1, 8, 16, 32):
        raise LaunchError(f"kernel '{kernel.name}' has SimdSize={simd}; expected 1, 8, 16 or 32")
    groups = config.groups
    local = config.local_size
    if config.threads is not None:
        groups, local = (*config.threads, 1), (simd, 1, 1)
    required = info.env.required_work_group_size if info else (0, 0, 0)
    if any(required):
        if local is not None and local != required:
            raise LaunchError(f"kernel '{kernel.name}' requires local_size {list(required)}, got {list(local)}")
        local = required
    if local is None:
        raise LaunchError("local_size is missing: the work items of a group, such as local_size: [256, 1, 1]", GROUPS)
    walk: Triple = info.env.walk_order if info else (0, 1, 2)
    if any(not 0 <= dimension <= 2 for dimension in walk):
        raise LaunchError(f"the ze_info of '{kernel.name}' has a walk order of {list(walk)}; dimensions are 0, 1 and 2")
    if config.global_size is not None:
        groups = _groups(kernel, config.global_size, local, fixed=any(required))
    geometry = Geometry(
        simd,
        platform.grf_bytes,
        groups,
        local,
        config.global_offset,
        walk,
        config.global_size,
        given_dimensions=config.dimensions,
    )
    geometry.local_ids()  # raises for a group that is too large, before memory for its threads is allocated
    if groups[0] * groups[1] * groups[2] * geometry.threads > MAX_THREADS:
        raise LaunchError(
            f"{groups[0]}x{groups[1]}x{groups[2]} groups of {geometry.threads} threads exceed the limit of {MAX_THREADS} threads",
            GROUPS,
        )
    return geometry


def _check_platform(kernel: Kernel, info: KernelInfo, geometry: Geometry, platform: Platform) -> None:
    """Raise LaunchError for a text whose inputs are laid out for registers of another size."""
    own = platform.grf_bytes
    others = [p for p in PLATFORMS if p.grf_bytes != own]
    other = (
        others[-1]
        if own < others[-1].grf_bytes
        else next(p for p in reversed(others) if p.generation < platform.generation)
    )
    moved = replace(geometry, grf_bytes=other.grf_bytes)
    wrong = not LaunchLayout.of(info, geometry, platform).holds(kernel, info) and LaunchLayout.of(
        info, moved, other
    ).holds(kernel, info)
    if wrong:
        names = ", ".join(p.name for p in others)
        raise LaunchError(
            f"the inputs of '{kernel.name}' are laid out for registers of {other.grf_bytes} bytes ({names}); registers of "
            f"{platform.name} have {own} bytes: text and platform do not fit",
            PLATFORM,
        )
    private = any(entry.arg_type == "private_base_stateless" for entry in info.payload)
    if private and platform.thread_number == PLATFORMS[0].thread_number and _numbers_by_state(kernel):
        first = next(p.name for p in PLATFORMS if p.thread_number != platform.thread_number)
        raise LaunchError(
            f"'{kernel.name}' reads the thread's number from %sr0, as compiled for {first} and newer; on {platform.name} it "
            "is in %hw_id: text and platform do not fit",
            PLATFORM,
        )


def _numbers_by_state(kernel: Kernel) -> bool:
    """Return whether a text reads element 0 of %sr0 and not %hw_id."""
    read = {
        value.var
        for inst in kernel.instructions
        for value in inst.values
        if isinstance(value, General) and (value.row, value.col) == (0, 0)
    }
    declared = (kernel.variable(var) for var in read)
    names = {variable.alias_index for variable in declared if variable is not None and is_alias(variable)}
    return _STATE in read | names and HW_ID not in read | names


def _groups(kernel: Kernel, total: Triple, local: Triple, *, fixed: bool) -> Triple:
    """Return the number of groups for ``total`` work items, the last of each dimension possibly partial."""
    if fixed and any(items % size for items, size in zip(total, local, strict=True)):
        raise LaunchError(
            f"kernel '{kernel.name}' requires groups of {list(local)} work items, which do not divide global_size {list(total)}",
            GLOBAL_SIZE,
        )
    if any(items < size for items, size in zip(total, local, strict=True)):
        raise LaunchError(f"local_size {list(local)} is larger than global_size {list(total)}", GLOBAL_SIZE)
    x, y, z = (-(-items // size) for items, size in zip(total, local, strict=True))
    return x, y, z


def _check_registers(kernel: Kernel, geometry: Geometry, shared: Sequence[FileVariable]) -> None:
    size = RegisterLayout(kernel, geometry.grf_bytes, shared).size * geometry.threads
    if size > MAX_GROUP_REGISTER_BYTES:
        raise LaunchError(
            f"the {geometry.threads} threads of a group of '{kernel.name}' have {size} bytes of registers; at most "
            f"{MAX_GROUP_REGISTER_BYTES} (256 MiB) are allowed",
            LOCAL_SIZE,
        )


def _end_of_inputs(kernel: Kernel, grf_bytes: int) -> int:
    return max((entry.offset + entry.size for entry in kernel.inputs), default=grf_bytes)
