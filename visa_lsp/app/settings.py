"""Settings from ``visa-lsp.toml`` or ``[tool.visa-lsp]`` of ``pyproject.toml``, the nearest to a file upwards.

In one folder ``visa-lsp.toml`` takes precedence; a ``pyproject.toml`` without the table is skipped. Unknown keys and wrong
types raise ``UserError`` with a suggestion. Options of the command line override these values elsewhere.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from msgspec import Struct, field

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
TYPES: Final = {
    "platform": "the name of a platform",
    "format": "the name of a format",
    "select": "a list of selectors",
    "extend-select": "a list of selectors",
    "ignore": "a list of selectors",
    "per-file-ignores": "a table of globs with lists of selectors",
    "exclude": "a list of globs",
    "error-on-warning": "true or false",
    "max-warnings": "a whole number >= 0",
    "exit-zero": "true or false",
    "statistics": "true or false",
    "embedded": "true or false",
    "baseline": "the name of a file",
    "cache-dir": "the name of a folder",
    "finalizer": "the name or path of a program",
    "ocloc": "the name or path of a program",
}


class FolderSettings(Struct, frozen=True):
    """The settings of one folder. ``origin`` is their file, None if there is none."""

    platform: str | None = None
    format: str | None = None
    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[FileIgnore, ...] = ()
    exclude: tuple[str, ...] = ()
    error_on_warning: bool = False
    max_warnings: int = 0
    exit_zero: bool = False
    statistics: bool = False
    embedded: bool = False
    baseline: str | None = None
    cache_dir: str | None = None
    finalizer: str | None = None
    ocloc: str | None = None
    root: str = "."
    origin: str | None = None
    given: frozenset[str] = frozenset()


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
    match key:
        case "select" | "extend-select" | "ignore" | "exclude":
            items = _strings(value, wrong)
            if key != "exclude":
                validate(items, where, list_rules)
            return items
        case "per-file-ignores":
            if not isinstance(value, dict):
                raise wrong
            ignores = tuple(FileIgnore(str(path.parent), g, _strings(s, wrong)) for g, s in value.items())
            for ignore in ignores:
                validate(ignore.selectors, f"{where}: {ignore.pattern!r}", list_rules)
            return ignores
        case "error-on-warning" | "exit-zero" | "statistics" | "embedded":
            if not isinstance(value, bool):
                raise wrong
            return value
        case "max-warnings":
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise wrong
            return value
    if not isinstance(value, str):
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
    if key in ("baseline", "cache-dir"):
        return str(path.parent / value)
    if key in ("finalizer", "ocloc") and ("/" in value or "\\" in value):
        return str(path.parent / value)
    return value


def _strings(value: Any, wrong: UserError) -> tuple[str, ...]:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(cast("list[str]", value))
    raise wrong
