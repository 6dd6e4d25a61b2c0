"""Contents of a kernel's inputs in words: short beside a line, full for hover.

The names come from ze_info and are shown literally. Knows no protocol and no files.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from visa_lsp.ide.prose.markdown import code, strong

if TYPE_CHECKING:
    from collections.abc import Mapping

    from visa_lsp.ide.zeinfo.described_inputs import HeldArgument

# Characters that an editor would hide, or treat as line breaks.
_UNSEEN: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
_MAX_NAME_CHARS: Final = 80
# The address space of a value that is not a pointer is not shown.
_NO_SPACE: Final = ("", "NONE", "__private")


def labels(arguments_by_variable: Mapping[str, tuple[HeldArgument, ...]]) -> dict[str, str]:
    """Return, by variable, the hint beside its line, such as ``y: __global float*``."""
    return {
        name: _format_literal(", ".join(_label(a) for a in arguments))
        for name, arguments in arguments_by_variable.items()
    }


def pages(
    arguments_by_variable: Mapping[str, tuple[HeldArgument, ...]],
    document: str,
    values: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return, by variable, a line of Markdown for hover.

    ``document`` is the name of the ze_info file, ``values`` the arguments' contents after the last run, by variable.
    """
    lines = {
        name: f"{'; '.join(_page(a) for a in arguments)} — by {code(document)}"
        for name, arguments in arguments_by_variable.items()
    }
    left = {
        name: value
        for name, value in (values or {}).items()
        if any(a.is_value for a in arguments_by_variable.get(name, ()))
    }
    return {name: f"{text}; last run: {code(left[name])}" if name in left else text for name, text in lines.items()}


def _label(argument: HeldArgument) -> str:
    name = argument.name or f"argument {argument.index}"
    if argument.is_value:
        type_name = _type(argument)
        return f"{name}: {type_name}" if type_name else name
    return f"{argument.kind} {argument.name}".rstrip() if argument.index < 0 else f"{argument.kind} of {name}"


def _page(argument: HeldArgument) -> str:
    place = f"payload offset {argument.offset}, {argument.size} bytes"
    if argument.index < 0:
        return f"{code(f'{argument.kind} {argument.name}'.rstrip())}, filled by the runtime, {place}"
    number = f"argument {argument.index}"
    name = f"{number}, {strong(_format_literal(argument.name))}" if argument.name else number
    if not argument.is_value:
        return f"{code(argument.kind)} of {name}, {place}"
    type_name = _type(argument)
    return f"{name}: {code(type_name) + ', ' if type_name else ''}{code(argument.kind)}, {place}"


def _type(argument: HeldArgument) -> str:
    space = "" if argument.address_space in _NO_SPACE else f"{argument.address_space} "
    return f"{space}{argument.type_name}" if argument.type_name else ""


def _format_literal(text: str) -> str:
    shown = _UNSEEN.sub(" ", text)
    return shown if len(shown) <= _MAX_NAME_CHARS else shown[:_MAX_NAME_CHARS] + "…"
