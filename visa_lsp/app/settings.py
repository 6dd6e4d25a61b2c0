"""Settings from ``visa-lsp.toml`` or ``[tool.visa-lsp]`` of ``pyproject.toml``, the nearest to a file upwards.

In one folder ``visa-lsp.toml`` takes precedence; a ``pyproject.toml`` without the table is skipped. Unknown keys and wrong
types raise ``UserError`` with a suggestion. Options of the command line override these values elsewhere.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

from msgspec import Struct, field
from msgspec.structs import fields

from visa_lsp.app.check.formats.table import FORMATS
from visa_lsp.app.check.suppress import FileIgnore, validate
from visa_lsp.app.errors import UserError, reason
from visa_lsp.app.suggestions import did_you_mean, platform_problem
from visa_lsp.isa.platforms import platform_named
from visa_lsp.safe_io import MAX_SETTINGS_BYTES, is_regular, read_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from visa_lsp.diagnostics import Rule

FILE_NAME: Final = "visa-lsp.toml"
PROJECT_NAME: Final = "pyproject.toml"
TABLE: Final = "tool.visa-lsp"
_SELECTORS: Final = "a list of selectors"
_BOOL: Final = "true or false"
_PROGRAM: Final = "the name or path of a program"


class FolderSettings(Struct, frozen=True):
    """The settings of one folder. ``origin`` is their file, None if there is none."""

    platform: Annotated[str | None, "the name of a platform"] = None
    format: Annotated[str | None, "the name of a format"] = None
    select: Annotated[tuple[str, ...], _SELECTORS] = ()
    extend_select: Annotated[tuple[str, ...], _SELECTORS] = ()
    ignore: Annotated[tuple[str, ...], _SELECTORS] = ()
    per_file_ignores: Annotated[tuple[FileIgnore, ...], "a table of globs with lists of selectors"] = ()
    exclude: Annotated[tuple[str, ...], "a list of globs"] = ()
    error_on_warning: Annotated[bool, _BOOL] = False
    max_warnings: Annotated[int, "a whole number >= 0"] = 0
    exit_zero: Annotated[bool, _BOOL] = False
    statistics: Annotated[bool, _BOOL] = False
    embedded: Annotated[bool, _BOOL] = False
    baseline: Annotated[str | None, "the name of a file"] = None
    cache_dir: Annotated[str | None, "the name of a folder"] = None
    finalizer: Annotated[str | None, _PROGRAM] = None
    ocloc: Annotated[str | None, _PROGRAM] = None
    root: str = "."
    origin: str | None = None
    given: frozenset[str] = frozenset()


# The keys of a file with the words for their types.
TYPES: Final = {
    setting.name.replace("_", "-"): setting.type.__metadata__[0]
    for setting in fields(FolderSettings)
    if hasattr(setting.type, "__metadata__")
}


class Finder(Struct):
    """Finds and caches the settings of folders. ``list_rules`` returns the rules for selectors."""

    list_rules: Callable[[], Sequence[Rule]] = tuple
    _seen: dict[Path, FolderSettings] = field(default_factory=dict)

    def of_folder(self, folder: str | Path) -> FolderSettings:
        """Return the settings of a folder."""
        start = Path(folder).absolute()
        walked = []
        settings = FolderSettings(root=str(start))
        for place in (start, *start.parents):
            if place in self._seen:
                settings = self._seen[place]
                break
            walked.append(place)
            here = self._read_folder(place)
            if here is not None:
                settings = here
                break
        for place in walked:
            self._seen[place] = settings
        return settings

    def of_file(self, path: str | Path) -> FolderSettings:
        """Return the settings of a file."""
        return self.of_folder(Path(path).absolute().parent)

    def _read_folder(self, folder: Path) -> FolderSettings | None:
        own, project = folder / FILE_NAME, folder / PROJECT_NAME
        if is_regular(own):
            return interpret(_load(own), own, self.list_rules)
        if is_regular(project):
            table = _load(project).get("tool", {}).get("visa-lsp")
            if table is not None:
                return interpret(table, project, self.list_rules)
        return None


def _load(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(read_file(path, MAX_SETTINGS_BYTES).decode("utf-8"))
    except OSError as error:
        raise UserError(f"{path}: {reason(error)}") from None
    except ValueError as error:  # invalid TOML or UTF-8
        raise UserError(f"{path}: {' '.join(str(error).split())}") from None


def interpret(table: Any, path: Path, list_rules: Callable[[], Sequence[Rule]] = tuple) -> FolderSettings:
    """Validate the table of a file and return its settings.

    Raises UserError if ``table`` is not a table, has an unknown key, or a value of the wrong type.
    """
    where = str(path) if path.name == FILE_NAME else f"{path}: [{TABLE}]"
    if not isinstance(table, dict):
        raise UserError(f"{where}: expected a table")
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in TYPES:
            raise UserError(
                f"{where}: unknown key {key!r}{did_you_mean(key, TYPES) or '; known keys: ' + ', '.join(TYPES)}"
            )
        values[key.replace("-", "_")] = _value(key, value, f"{where}: {key}", path, list_rules)
    return FolderSettings(**values, root=str(path.parent), origin=str(path), given=frozenset(table))


def _value(key: str, value: Any, where: str, path: Path, list_rules: Callable[[], Sequence[Rule]]) -> Any:
    wrong = UserError(f"{where}: expected {TYPES[key]}, got {value!r}")
    if TYPES[key] == _SELECTORS or key == "exclude":
        items = _strings(value, wrong)
        if key != "exclude":
            validate(items, where, list_rules)
        return items
    if key == "per-file-ignores":
        if not isinstance(value, dict):
            raise wrong
        ignores = tuple(FileIgnore(str(path.parent), g, _strings(s, wrong)) for g, s in value.items())
        for ignore in ignores:
            validate(ignore.selectors, f"{where}: {ignore.pattern!r}", list_rules)
        return ignores
    kind: type[Any] = bool if TYPES[key] == _BOOL else int if key == "max-warnings" else str
    if type(value) is not kind or (kind is int and value < 0):
        raise wrong
    if key == "platform":
        platform = platform_named(value)
        if platform is None:
            raise UserError(f"{where}: {platform_problem(value)}")
        return platform.name
    if key == "format" and value not in FORMATS:
        raise UserError(
            f"{where}: unknown format {value!r}{did_you_mean(value, FORMATS)} (known: {', '.join(FORMATS)})"
        )
    is_path = TYPES[key] == _PROGRAM and ("/" in value or "\\" in value)
    return str(path.parent / value) if is_path or key in ("baseline", "cache-dir") else value


def _strings(value: Any, wrong: UserError) -> tuple[str, ...]:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(cast("list[str]", value))
    raise wrong
