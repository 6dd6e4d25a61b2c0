"""Converts ze_info text to ``KernelInfo`` values.

Reads the keys for a launch and ignores unknown ones, because later compilers add some; ``validate`` checks a file.
Invariant: a value of the wrong type is a ``ZeInfoError`` that names its line and column.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from visa_lsp.program.payload import (
    ArgumentInfo,
    BindingTableEntry,
    ExecutionEnv,
    InlineSampler,
    KernelInfo,
    PayloadArgument,
    ThreadBuffer,
)
from visa_lsp.zeinfo.plain import load_plain
from visa_lsp.zeinfo.yaml import YamlError, YamlItem, load

T = TypeVar("T")


class ZeInfoError(Exception):
    """A ze_info text that cannot be read; ``line`` and ``column`` count from 1."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.message}"


def read(text: str) -> list[KernelInfo]:
    """Return the kernels of a ze_info text, in its order.

    Raises ZeInfoError, with line and column from 1, if the text is not YAML or its values are not ze_info.
    """
    try:
        root = load_plain(text) or load(text)
    except YamlError as error:
        raise ZeInfoError(error.message, error.line, error.column) from None
    if not isinstance(root.value, dict):
        raise ZeInfoError(
            f"ze_info must be a map with the keys version and kernels, not {root.kind}", root.line, root.column
        )
    arguments: dict[str, tuple[ArgumentInfo, ...]] = {}
    for item in _list(root, "kernels_misc_info"):
        infos = tuple(_argument_info(a) for a in _list(item, "args_info"))
        arguments[_text(item, "name")] = infos
    return [_kernel(item, arguments) for item in _list(root, "kernels")]


def _kernel(item: YamlItem, arguments: dict[str, tuple[ArgumentInfo, ...]]) -> KernelInfo:
    name = _text(item, "name")
    env = _child(item, "execution_env")
    if env is None:
        raise ZeInfoError(f"kernel '{name}' has no execution_env", item.line, item.column)
    return KernelInfo(
        name,
        _env(env),
        payload=_each(item, "payload_arguments", _payload),
        per_thread=_each(item, "per_thread_payload_arguments", _payload),
        bindings=_each(
            item, "binding_table_indices", lambda b: BindingTableEntry(_int(b, "bti_value"), _int(b, "arg_index"))
        ),
        thread_buffers=_each(item, "per_thread_memory_buffers", _thread_buffer),
        inline_samplers=_each(item, "inline_samplers", _inline_sampler),
        arguments=arguments.get(name, ()),
        user_attributes=_user_attributes(item),
    )


def _user_attributes(item: YamlItem) -> tuple[tuple[str, str], ...]:
    child = _child(item, "user_attributes")
    items = child.value.items() if child is not None and isinstance(child.value, dict) else ()
    return tuple(
        (key, ",".join(str(one.value) for one in (entry.value if isinstance(entry.value, list) else [entry])))
        for key, entry in items
    )


def _env(item: YamlItem) -> ExecutionEnv:
    return ExecutionEnv(
        simd_size=_int(item, "simd_size"),
        grf_count=_int(item, "grf_count", 128),
        slm_size=_int(item, "slm_size", 0),
        barrier_count=_int(item, "barrier_count", 0),
        inline_data_payload_size=_int(item, "inline_data_payload_size", 0),
        private_size=_int(item, "private_size", 0),
        has_stack_calls=_flag(item, "has_stack_calls"),
        required_work_group_size=_triple(item, "required_work_group_size", (0, 0, 0)),
        walk_order=_triple(item, "work_group_walk_order_dimensions", (0, 1, 2)),
    )


def _payload(item: YamlItem) -> PayloadArgument:
    return PayloadArgument(
        arg_type=_text(item, "arg_type"),
        offset=_size(item, "offset"),
        size=_size(item, "size"),
        arg_index=_int(item, "arg_index", -1),
        addrmode=_text(item, "addrmode", ""),
        addrspace=_text(item, "addrspace", ""),
        access_type=_text(item, "access_type", ""),
        sampler_index=_int(item, "sampler_index", -1),
        source_offset=_int(item, "source_offset", -1),
        slm_alignment=_int(item, "slm_alignment", 0),
        image_type=_text(item, "image_type", ""),
        sampler_type=_text(item, "sampler_type", ""),
        bti_value=_int(item, "bti_value", -1),
    )


def _thread_buffer(item: YamlItem) -> ThreadBuffer:
    return ThreadBuffer(
        _text(item, "type"),
        _text(item, "usage"),
        _size(item, "size"),
        _int(item, "slot", 0),
        _flag(item, "is_simt_thread"),
    )


def _inline_sampler(item: YamlItem) -> InlineSampler:
    return InlineSampler(
        _int(item, "sampler_index"), _text(item, "addrmode"), _text(item, "filtermode"), _flag(item, "normalized")
    )


def _argument_info(item: YamlItem) -> ArgumentInfo:
    return ArgumentInfo(
        _int(item, "index"),
        _text(item, "name", ""),
        _text(item, "type_name", ""),
        _text(item, "address_qualifier", ""),
        _text(item, "access_qualifier", ""),
        _text(item, "type_qualifiers", ""),
    )


# One reader per type of value. With ``default`` None the key is required.


def _child(item: YamlItem, key: str) -> YamlItem | None:
    if not isinstance(item.value, dict):
        raise ZeInfoError(f"expected a map, got {item.kind}", item.line, item.column)
    return item.value.get(key)


def _make_missing_error(item: YamlItem, key: str) -> ZeInfoError:
    return ZeInfoError(f"the key '{key}' is missing", item.line, item.column)


def _list(item: YamlItem, key: str) -> list[YamlItem]:
    child = _child(item, key)
    if child is None or child.value is None:
        return []
    if not isinstance(child.value, list):
        raise ZeInfoError(f"{key} must be a list, not {child.kind}", child.line, child.column)
    return child.value


def _each(item: YamlItem, key: str, make: Callable[[YamlItem], T]) -> tuple[T, ...]:
    return tuple(make(entry) for entry in _list(item, key))


def _int(item: YamlItem, key: str, default: int | None = None) -> int:
    child = _child(item, key)
    if child is None:
        if default is None:
            raise _make_missing_error(item, key)
        return default
    if isinstance(child.value, bool) or not isinstance(child.value, int):
        raise ZeInfoError(f"{key} must be a whole number, not {child.kind}", child.line, child.column)
    if not -(1 << 63) <= child.value < 1 << 63:
        raise ZeInfoError(f"{key} does not fit into 64 bits", child.line, child.column)
    return child.value


def _size(item: YamlItem, key: str) -> int:
    value = _int(item, key)
    if not 0 <= value < 1 << 31:
        child = _child(item, key) or item
        raise ZeInfoError(f"{key} is {value}, but must be between 0 and 2147483647", child.line, child.column)
    return value


def _text(item: YamlItem, key: str, default: str | None = None) -> str:
    child = _child(item, key)
    if child is None:
        if default is None:
            raise _make_missing_error(item, key)
        return default
    if isinstance(child.value, dict | list) or child.value is None:
        raise ZeInfoError(f"{key} must be a text, not {child.kind}", child.line, child.column)
    return str(child.value)


def _flag(item: YamlItem, key: str) -> bool:
    child = _child(item, key)
    if child is None:
        return False
    if not isinstance(child.value, bool):
        raise ZeInfoError(f"{key} must be true or false, not {child.kind}", child.line, child.column)
    return child.value


def _triple(item: YamlItem, key: str, default: tuple[int, int, int]) -> tuple[int, int, int]:
    child = _child(item, key)
    if child is None:
        return default
    values = child.value if isinstance(child.value, list) else []
    numbers = [v.value for v in values if isinstance(v.value, int) and not isinstance(v.value, bool)]
    if len(numbers) != 3 or len(values) != 3:
        raise ZeInfoError(f"{key} must be a list of three whole numbers", child.line, child.column)
    return numbers[0], numbers[1], numbers[2]
