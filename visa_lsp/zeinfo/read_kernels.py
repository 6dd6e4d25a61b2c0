"""Converts ze_info text to ``KernelInfo`` values.

Reads the keys for a launch and ignores unknown ones, because later compilers add some; ``validate`` checks a file.
Invariant: a value of the wrong type is a ``ZeInfoError`` that names its line and column.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, TypeVar

from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo, fields

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

T = TypeVar("T", bound=Struct)
_SIZES: Final = ("offset", "size")  # keys whose numbers are those of memory


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
        infos = _each(item, "args_info", ArgumentInfo)
        arguments[_value(item, "name", str)] = infos
    return [_kernel(item, arguments) for item in _list(root, "kernels")]


def _kernel(item: YamlItem, arguments: dict[str, tuple[ArgumentInfo, ...]]) -> KernelInfo:
    name = _value(item, "name", str)
    env = _child(item, "execution_env")
    if env is None:
        raise ZeInfoError(f"kernel '{name}' has no execution_env", item.line, item.column)
    return KernelInfo(
        name,
        _values(env, ExecutionEnv),
        payload=_each(item, "payload_arguments", PayloadArgument),
        per_thread=_each(item, "per_thread_payload_arguments", PayloadArgument),
        bindings=_each(item, "binding_table_indices", BindingTableEntry),
        thread_buffers=_each(item, "per_thread_memory_buffers", ThreadBuffer),
        inline_samplers=_each(item, "inline_samplers", InlineSampler),
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


def _each(item: YamlItem, key: str, kind: type[T]) -> tuple[T, ...]:
    """Return the entries of a list as values of a class."""
    return tuple(_values(entry, kind) for entry in _list(item, key))


def _values(item: YamlItem, kind: type[T]) -> T:
    """Return a value of a class whose fields are named after the keys of a map; a field without a default is required."""
    return kind(**{field.name: _value(item, field.encode_name, field.type, field.default) for field in _fields(kind)})


@cache
def _fields(kind: type[Struct]) -> tuple[FieldInfo, ...]:
    return fields(kind)


def _child(item: YamlItem, key: str) -> YamlItem | None:
    if not isinstance(item.value, dict):
        raise ZeInfoError(f"expected a map, got {item.kind}", item.line, item.column)
    return item.value.get(key)


def _list(item: YamlItem, key: str) -> list[YamlItem]:
    child = _child(item, key)
    if child is None or child.value is None:
        return []
    if not isinstance(child.value, list):
        raise ZeInfoError(f"{key} must be a list, not {child.kind}", child.line, child.column)
    return child.value


def _value(item: YamlItem, key: str, kind: Any, default: Any = NODEFAULT) -> Any:
    """Return the value of a key: a text, a number, a flag, or three numbers."""
    child = _child(item, key)
    if child is None:
        if default is NODEFAULT:
            raise ZeInfoError(f"the key '{key}' is missing", item.line, item.column)
        return default
    if mistake := _mistake(child, key, kind):
        raise ZeInfoError(f"{key} {mistake}", child.line, child.column)
    if isinstance(child.value, list):
        return tuple(entry.value for entry in child.value)
    return str(child.value) if kind is str else child.value


def _mistake(child: YamlItem, key: str, kind: Any) -> str:
    """Return what is wrong with the value of a key; empty for a right one."""
    value = child.value
    if kind is str:
        return f"must be a text, not {child.kind}" if value is None or isinstance(value, dict | list) else ""
    if kind is bool:
        return "" if isinstance(value, bool) else f"must be true or false, not {child.kind}"
    if kind is not int:
        entries = value if isinstance(value, list) else []
        is_triple = len(entries) == 3 and all(type(entry.value) is int for entry in entries)
        return "" if is_triple else "must be a list of three whole numbers"
    if isinstance(value, bool) or not isinstance(value, int):
        return f"must be a whole number, not {child.kind}"
    if not -(1 << 63) <= value < 1 << 63:
        return "does not fit into 64 bits"
    if key in _SIZES and not 0 <= value < 1 << 31:
        return f"is {value}, but must be between 0 and 2147483647"
    return ""
