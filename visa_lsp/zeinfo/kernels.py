"""Checks of a ze_info document beyond its tables: ranges of numbers, collisions of arguments, agreement of lists.

Skips items whose types are wrong, because the walk over the tables reports them. Invariant: every finding is at the value or
key that has to change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.diagnostics import Edit, Fix, Related, Rule
from visa_lsp.zeinfo import rules
from visa_lsp.zeinfo.tables import TABLES

if TYPE_CHECKING:
    from visa_lsp.program.payload_layout import Registers
    from visa_lsp.zeinfo.source_findings import SourceFindings
    from visa_lsp.zeinfo.yaml import YamlItem

SIMD_SIZES: Final = (1, 8, 16, 32)
_WALKS: Final = ((0, 0, 0), (0, 1, 0), (0, 1, 2), (1, 0, 0), (2, 1, 0))
# Orders that compilers write in addition to those of seed 002.
_SEEN_WALKS: Final = ((0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1))
_MAX_GRF_BYTES: Final = 64
_MAX_GRFS: Final = 512
_NOT_NEGATIVE: Final = (
    "barrier_count", "inline_data_payload_size", "offset_to_skip_per_thread_data_load", "offset_to_skip_set_ffid_gp",
    "required_sub_group_size", "slm_size", "private_size", "spill_size", "eu_thread_count", "indirect_stateless_count",
)  # fmt: skip
_TRI_STATE: Final = ("has_non_kernel_arg_load", "has_non_kernel_arg_store", "has_non_kernel_arg_atomic")
_FIXED_SIZES: Final = {
    "local_size": (4, 8, 12), "group_count": (4, 8, 12), "global_size": (4, 8, 12), "enqueued_local_size": (4, 8, 12),
    "global_id_offset": (4, 8, 12), "work_dimensions": (4,), "private_base_stateless": (8,), "implicit_arg_buffer": (8,),
    "packed_local_ids": (6,), "buffer_address": (4, 8), "printf_buffer": (4, 8),
}  # fmt: skip


def child(item: YamlItem | None, key: str) -> YamlItem | None:
    """Return the value of a key if the item is a map with this key; else None."""
    return item.value.get(key) if item is not None and isinstance(item.value, dict) else None


def number(item: YamlItem | None, key: str) -> int | None:
    """Return the whole number under a key."""
    entry = child(item, key)
    value = None if entry is None else entry.value
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def word_of(item: YamlItem | None, key: str) -> str:
    """Return the text under a key; empty if there is none."""
    entry = child(item, key)
    return entry.value if entry is not None and isinstance(entry.value, str) else ""


def entries(item: YamlItem | None, key: str) -> list[YamlItem]:
    """Return the maps in the list under a key."""
    listed = child(item, key)
    return (
        [e for e in listed.value if isinstance(e.value, dict)]
        if listed is not None and isinstance(listed.value, list)
        else []
    )


def check_document(report: SourceFindings, root: YamlItem, platform: Registers | None = None) -> None:
    """Check kernels, functions and the entries about their arguments."""
    for key in ("kernels", "functions", "global_host_access_table", "kernels_misc_info"):
        table = next(a.table for a in TABLES["Container"].keys if a.name == key)
        _unique(report, entries(root, key), TABLES[table].unique, key)
    for kernel in entries(root, "kernels"):
        if report.full:
            return
        _environment(report, child(kernel, "execution_env"))
        if platform is not None:
            _width(report, child(kernel, "execution_env"), platform)
        _payload(report, kernel)
        _bindings(report, kernel)
        _unique(report, entries(kernel, "binding_table_indices"), "bti_value", "binding_table_indices")
        _unique(report, entries(kernel, "inline_samplers"), "sampler_index", "inline_samplers")
        for buffer in entries(kernel, "per_thread_memory_buffers"):
            _at_least(report, buffer, "size", 1)
            _memory(report, buffer)
        experimental = child(kernel, "experimental_properties")
        for key in _TRI_STATE:
            value = number(experimental, key)
            if value is not None and value not in (-1, 0, 1):
                _refuse(report, experimental, key, f"must be 1 (yes), 0 (no) or -1 (unknown), not {value}")
    for function in entries(root, "functions"):
        _environment(report, child(function, "execution_env"))
    _misc(report, root)


def _say(
    report: SourceFindings, rule: Rule, item: YamlItem | None, key: str, message: str,
    related: tuple[Related, ...] = (), fixes: tuple[Fix, ...] = (),
) -> None:  # fmt: skip
    entry = child(item, key)
    assert entry is not None
    report.add(rule, entry, message, fixes, related=related)


def _refuse(report: SourceFindings, item: YamlItem | None, key: str, words: str, fixes: tuple[Fix, ...] = ()) -> None:
    """Report a number that the key cannot have; ``words`` follow the name of the key."""
    _say(report, rules.RANGE, item, key, f"{key} {words}", fixes=fixes)


def _make_related(report: SourceFindings, item: YamlItem, key: str, message: str) -> tuple[Related, ...]:
    entry = child(item, key)
    return (Related(report.source.span(entry if entry is not None else item), message),)


def _unique(report: SourceFindings, items: list[YamlItem], key: str, what: str) -> None:
    seen: dict[object, YamlItem] = {}
    for item in items:
        if report.full:
            return
        entry = child(item, key)
        if entry is None or isinstance(entry.value, dict | list):
            continue
        if entry.value in seen:
            _say(
                report, rules.DUPLICATE, item, key, f"{what} has two entries with {key} {entry.value!s:.60}",
                _make_related(report, seen[entry.value], key, "the first is here"),
            )  # fmt: skip
        else:
            seen[entry.value] = item


def _at_least(report: SourceFindings, item: YamlItem | None, key: str, least: int) -> None:
    value = number(item, key)
    if value is not None and value < least:
        _refuse(report, item, key, f"is {value}, but must be at least {least}")


def _width(report: SourceFindings, env: YamlItem | None, platform: Registers) -> None:
    """Report numbers of lanes that threads of the platform cannot have."""
    for key in ("simd_size", "required_sub_group_size"):
        lanes = number(env, key)
        if lanes in SIMD_SIZES and lanes not in platform.thread_widths:
            threads = f"threads with registers of {platform.bytes} bytes (PVC, BMG and later)"
            _refuse(report, env, key, f"is {lanes}, but {threads} have 16 or 32 lanes")


def _environment(report: SourceFindings, env: YamlItem | None) -> None:
    simd = number(env, "simd_size")
    if simd is not None and simd not in SIMD_SIZES:
        near = min(SIMD_SIZES, key=lambda s: (abs(s - simd), s))
        item = child(env, "simd_size")
        assert item is not None
        fix = Fix(f"change to {near}", (Edit(report.source.span(item), str(near)),))
        _refuse(report, env, "simd_size", f"must be 1, 8, 16 or 32, not {simd}", (fix,))
    grf = number(env, "grf_count")
    if grf is not None and (not 0 < grf <= _MAX_GRFS or grf % 32):
        words = f"must be a multiple of 32 up to {_MAX_GRFS} (usually 128 or 256), not {grf}"
        _refuse(report, env, "grf_count", words)
    for key in _NOT_NEGATIVE:
        _at_least(report, env, key, 0)
    sub_group = number(env, "required_sub_group_size")
    if sub_group and simd in SIMD_SIZES and sub_group != simd:
        _refuse(report, env, "required_sub_group_size", f"is {sub_group}, but simd_size is {simd}")
    size = _triple(child(env, "required_work_group_size"))
    if size and any(size) and not all(s > 0 for s in size):
        _refuse(report, env, "required_work_group_size", "must have three numbers above 0, or three zeros")
    walk = _triple(child(env, "work_group_walk_order_dimensions"))
    if walk and walk not in _WALKS + _SEEN_WALKS:
        _say(
            report, rules.RANGE, env, "work_group_walk_order_dimensions",
            f"the walk order must be [0, 0, 0], [0, 1, 0], [0, 1, 2], [1, 0, 0] or [2, 1, 0], not {list(walk)}",
        )  # fmt: skip
    mode = number(env, "slm_alloc_mode")
    if mode is not None and mode not in (0, 1):
        _refuse(report, env, "slm_alloc_mode", f"must be 0 or 1, not {mode}")


def _triple(item: YamlItem | None) -> tuple[int, int, int] | None:
    if item is None or not isinstance(item.value, list) or len(item.value) != 3:
        return None
    numbers = [e.value for e in item.value if isinstance(e.value, int) and not isinstance(e.value, bool)]
    return (numbers[0], numbers[1], numbers[2]) if len(numbers) == 3 else None


def _payload(report: SourceFindings, kernel: YamlItem) -> None:
    env = child(kernel, "execution_env")
    room = (number(env, "grf_count") or 128) * _MAX_GRF_BYTES
    for what in ("payload_arguments", "per_thread_payload_arguments"):
        placed: list[tuple[int, int, YamlItem]] = []
        for entry in entries(kernel, what):
            _at_least(report, entry, "offset", 0)
            _at_least(report, entry, "size", 0)
            _argument(report, entry, per_thread=what.startswith("per"), simd=number(env, "simd_size"))
            offset, size = number(entry, "offset"), number(entry, "size")
            if offset is None or size is None or offset < 0 or size <= 0:
                continue
            if offset + size > room:
                _say(
                    report, rules.PAST_PAYLOAD, entry, "offset",
                    f"bytes {offset} to {offset + size - 1} lie past the end of the payload: {room // _MAX_GRF_BYTES} registers hold at most {room} bytes",
                )  # fmt: skip
            placed.append((offset, offset + size, entry))
        _overlaps(report, placed)


def _overlaps(report: SourceFindings, placed: list[tuple[int, int, YamlItem]]) -> None:
    placed.sort(key=lambda p: p[:2])
    end, owner = 0, None
    for start, last, entry in placed:
        if owner is not None and start < end:
            name = word_of(owner, "arg_type")
            _say(
                report, rules.OVERLAP, entry, "offset", f"bytes {start} to {last - 1} also belong to {name or 'another argument'}",
                _make_related(report, owner, "offset", f"{name or 'the other argument'} reaches to byte {end - 1}"),
            )  # fmt: skip
        if last > end:
            end, owner = last, entry


def _argument(report: SourceFindings, entry: YamlItem, *, per_thread: bool, simd: int | None) -> None:
    kind = word_of(entry, "arg_type")
    local = kind in ("local_id", "packed_local_ids")
    if per_thread and kind and not local:
        words = f"{kind} is not a per-thread argument; expected local_id or packed_local_ids"
        _say(report, rules.OUT_OF_PLACE, entry, "arg_type", words)
    if not per_thread and local:
        _say(report, rules.OUT_OF_PLACE, entry, "arg_type", f"{kind} belongs to per_thread_payload_arguments")
    if kind in ("arg_bypointer", "arg_byvalue") and child(entry, "arg_index") is None:
        report.add(rules.OUT_OF_PLACE, entry, f"{kind} needs an arg_index, the number of the kernel argument")
    if kind == "arg_bypointer":
        for key in ("addrmode", "addrspace"):
            if child(entry, key) is None:
                report.add(rules.OUT_OF_PLACE, entry, f"arg_bypointer needs an {key}")
    _at_least(report, entry, "arg_index", -1)
    if kind == "packed_local_ids" and simd in (8, 16, 32):
        _say(report, rules.OUT_OF_PLACE, entry, "arg_type", f"packed_local_ids needs simd_size 1, not {simd}")
    _size(report, entry, kind, simd)


def _size(report: SourceFindings, entry: YamlItem, kind: str, simd: int | None) -> None:
    size = number(entry, "size")
    if size is None or size < 0:
        return
    allowed = _FIXED_SIZES.get(kind)
    if allowed and size not in allowed:
        _say(report, rules.RANGE, entry, "size", f"{kind} must have {' or '.join(map(str, allowed))} bytes, not {size}")
    if kind == "local_id" and simd in (8, 16, 32):
        # Each dimension fills whole registers, of 32 or of 64 bytes.
        blocks = {-(-2 * simd // grf) * grf for grf in (32, 64)}
        if size not in {n * block for block in blocks for n in (1, 2, 3)}:
            each = " or ".join(str(b) for b in sorted(blocks))
            words = f"local_id of {simd} lanes must have one to three times {each} bytes, not {size}"
            _say(report, rules.RANGE, entry, "size", words)
    if kind == "arg_bypointer":
        mode = word_of(entry, "addrmode")
        if mode == "stateless" and size not in (4, 8):
            _say(report, rules.RANGE, entry, "size", f"a stateless pointer must have 8 bytes, not {size}")


def _bindings(report: SourceFindings, kernel: YamlItem) -> None:
    stateful: dict[int, YamlItem] = {}
    pointers: dict[int, YamlItem] = {}
    for entry in entries(kernel, "payload_arguments"):
        index = number(entry, "arg_index")
        if word_of(entry, "arg_type") == "arg_bypointer" and index is not None:
            pointers.setdefault(index, entry)
            if word_of(entry, "addrmode") == "stateful" and word_of(entry, "addrspace") != "sampler":
                stateful.setdefault(index, entry)
    bound = {number(b, "arg_index") for b in entries(kernel, "binding_table_indices")}
    for binding in entries(kernel, "binding_table_indices"):
        _at_least(report, binding, "bti_value", 0)
        index = number(binding, "arg_index")
        if index is None or index in stateful:
            continue
        pointer = pointers.get(index)
        if pointer is None:
            _say(report, rules.BINDING, binding, "arg_index", f"there is no stateful argument {index} for this surface")
        else:
            mode = word_of(pointer, "addrmode") or "not told"
            _say(
                report, rules.BINDING, binding, "arg_index", f"argument {index} is not stateful; its addrmode is {mode}",
                _make_related(report, pointer, "addrmode", f"argument {index}"),
            )  # fmt: skip
    for index, entry in stateful.items():
        if index not in bound:
            words = f"argument {index} is stateful, but binding_table_indices has no entry for it"
            _say(report, rules.BINDING, entry, "addrmode", words)


def _memory(report: SourceFindings, buffer: YamlItem) -> None:
    if word_of(buffer, "type") == "global" and word_of(buffer, "usage") in ("spill_fill_space", "single_space"):
        _say(report, rules.OUT_OF_PLACE, buffer, "usage", "only private_space can have a global buffer")
    _at_least(report, buffer, "slot", 0)


def _misc(report: SourceFindings, root: YamlItem) -> None:
    names = {word_of(k, "name"): k for k in entries(root, "kernels")}
    for info in entries(root, "kernels_misc_info"):
        name = word_of(info, "name")
        if name and name not in names:
            _say(report, rules.ARGUMENT_LIST, info, "name", f"there is no kernel '{name:.60}' in this document")
        arguments = entries(info, "args_info")
        _unique(report, arguments, "index", "args_info")
        indexes = [i for a in arguments if (i := number(a, "index")) is not None]
        if indexes and min(indexes) >= 0 and max(indexes) >= len(set(indexes)):
            missing = next(i for i in range(max(indexes)) if i not in indexes)
            _say(report, rules.ARGUMENT_LIST, arguments[-1], "index", f"args_info has no entry for argument {missing}")
        for argument in arguments:
            _at_least(report, argument, "index", 0)
