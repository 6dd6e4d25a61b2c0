"""The options of commands as data: a command has a class ``Arguments``, whose fields are its arguments and options.

The type of a field says how often and with which values an option may be given: ``bool`` is a flag, ``Literal`` a choice,
a list an option that may be repeated. Its ``Option`` has the rest. Invariant: a new option is one field.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Union, get_args, get_origin

from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo, fields

from visa_lsp.app.suggestions import platform_problem, seconds_of
from visa_lsp.isa.platforms import PLATFORMS, platform_named

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

_MAX_INTEGER_DIGITS: Final = 18


class CommandArguments(Struct, kw_only=True):
    """The options of a command, as its execution gets them."""


class Option(Struct, frozen=True):
    """What the type of a field does not say about an option, or about an argument if it is ``positional``.

    ``dashed`` is the number of its values, if they may begin with a dash, such as options of other programs. ``bare`` is
    the value of the option without one. Options of one ``group`` exclude each other.
    """

    metavar: str | None
    help: str
    kind: Callable[[str], Any] | None = None
    positional: bool = False
    flags: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    nargs: str | None = None
    bare: str | None = None
    dashed: int = 0
    group: str = ""


def arg(metavar: str | None, text: str, nargs: str | None = None) -> Option:
    """Return an argument without a name."""
    return Option(metavar, text, positional=True, nargs=nargs)


def flag(text: str) -> Option:
    """Return an option without a value, or with a value of a ``Literal``."""
    return Option(None, text)


def declare(parser: argparse.ArgumentParser, arguments: type[CommandArguments]) -> dict[str, int]:
    """Declare the fields of a class of arguments; return the number of values of options whose values may begin with a dash."""
    groups: dict[str, Any] = {}
    dashed = {}
    for field in fields(arguments):
        option: Option = field.type.__metadata__[0]
        target: Any = parser
        if option.group:
            target = groups[option.group] = groups.get(option.group) or parser.add_mutually_exclusive_group()
        names = (field.name,) if option.positional else option.flags or (f"--{field.name.replace('_', '-')}",)
        if option.dashed:
            dashed[names[-1]] = option.dashed
        target.add_argument(*names, help=option.help, **_settings(option, field.type.__origin__, field))
    return dashed


def _settings(option: Option, type_: Any, field: FieldInfo) -> dict[str, Any]:
    """Return the parser's settings of an option."""
    inner = next(each for each in get_args(type_) if each) if get_origin(type_) in (Union, UnionType) else type_
    default = field.default if field.default_factory is NODEFAULT else field.default_factory()
    if inner is bool:
        return {"action": "store_true"}
    settings: dict[str, Any] = {"metavar": option.metavar, "type": option.kind, "const": option.bare}
    settings["nargs"] = option.nargs or ("?" if option.bare is not None else None)
    settings["choices"] = option.choices or (get_args(inner) if get_origin(inner) is Literal else None)
    if get_origin(inner) is list and not option.positional:
        settings["action"] = "append"
    if default is not NODEFAULT:
        settings["default"] = default
    elif not option.positional:
        settings["required"] = True
    elif get_origin(inner) is list:
        settings["nargs"] = "+"
    return {key: value for key, value in settings.items() if value is not None}


def whole_number(least: int) -> Callable[[str], int]:
    """Return the ``kind`` of an option that takes a whole number of at least ``least``."""

    def number(text: str) -> int:
        if text.isdecimal() and len(text) < _MAX_INTEGER_DIGITS and int(text) >= least:
            return int(text)
        if text.isdecimal() and len(text) >= _MAX_INTEGER_DIGITS:
            raise ArgumentTypeError(f"expected a number of at most {_MAX_INTEGER_DIGITS - 1} digits, got {len(text)}")
        raise ArgumentTypeError(f"expected a whole number >= {least}, got {text!r}")

    return number


def platform_argument(name: str) -> str:
    """Return the canonical name of a platform. Raises ArgumentTypeError for an unknown one."""
    platform = platform_named(name)
    if platform is None:
        raise ArgumentTypeError(platform_problem(name) or "")
    return platform.name


def seconds_argument(text: str) -> float:
    """Return a time limit in seconds. Raises ArgumentTypeError for other texts."""
    try:
        return seconds_of(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None


# Options of several commands.
# fmt: off
_NAMES: Final = "target platform: " + ", ".join(p.name for p in PLATFORMS)
PlatformName = Annotated[str | None, Option("NAME", _NAMES, platform_argument)]
StdinFilename = Annotated[str | None, Option("PATH", "file name to report for standard input")]
Report = Annotated[str, Option("OUT", "write the report to OUT; default: standard output", flags=("-o", "--output"))]
TextOrJson = Annotated[Literal["text", "json"], flag("output format")]
Color = Annotated[Literal["auto", "always", "never"], flag("use colours in the text; auto: on a terminal, unless NO_COLOR is set")]
ReportColor = Annotated[Literal["auto", "always", "never"], flag("use colours in the report")]
Ocloc = Annotated[str | None, Option("PATH", "path of the OpenCL C compiler; default: ocloc on PATH")]
CompilerOptions = Annotated[list[str] | None, Option("S", "options for the OpenCL C compiler, as one quoted word", dashed=1)]
# fmt: on
