"""The command ``visa-lsp check``: its options, which override the settings, and the report.

Exit status: 0 nothing wrong, 1 errors or warnings, 2 wrong usage or a file that cannot be read, 70 an internal error. Remarks and hints
are reported, but do not change the status. Loads neither pygls nor NumPy. Invariant: the report is the same for any number of processes.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from msgspec import Struct, field, structs

from visa_lsp.app.check.extras import cache_hits_text, difference, settings_text, statistics
from visa_lsp.app.check.formats.table import FOR_PEOPLE, FORMATS, Look
from visa_lsp.app.check.paths import Inputs, collect
from visa_lsp.app.check.report import CheckReport, FileResult, ReportedFinding
from visa_lsp.app.check.runner import check_files
from visa_lsp.app.check.suppress import FileIgnore, Selection, parse_selectors, validate
from visa_lsp.app.check.verdict import Task
from visa_lsp.app.check.watch import Stamp, stamp, watch
from visa_lsp.app.errors import UserError
from visa_lsp.app.exits import EXIT_FINDINGS, EXIT_INTERNAL, EXIT_OK, EXIT_USAGE
from visa_lsp.app.inputs import STDIN, STDIN_NAME, SourceText, read_source
from visa_lsp.app.output_files import check_output
from visa_lsp.app.settings import Finder, FolderSettings
from visa_lsp.app.visible_text import visible
from visa_lsp.cli import options as opt
from visa_lsp.cli.cluster_options import CLUSTER_SECONDS, ClusterAddress, ClusterLimit, cluster_of
from visa_lsp.cli.exits import complain  # fmt: skip
from visa_lsp.cli.outputs import wants_colour, write_output
from visa_lsp.cli.progress_line import Progress
from visa_lsp.cli.streams import steer
from visa_lsp.diagnostics import Rule, Severity
from visa_lsp.disk_cache import folder_of_user
from visa_lsp.embed.languages import SUFFIXES as HOST_SUFFIXES
from visa_lsp.embed.languages import MissingGrammarError, host_of, is_installed
from visa_lsp.program.suffixes import TEXTS
from visa_lsp.text import encode_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from visa_lsp.app.check.kept_verdicts import KeptVerdicts
    from visa_lsp.app.clusters import Cluster

_DEFAULT_BASELINE: Final = "visa-lsp-baseline.json"
_CLEAR: Final = "\033[2J\033[H"


# fmt: off
class Arguments(opt.CommandArguments, kw_only=True):
    """The options of the command."""

    paths: Annotated[list[str], opt.arg("PATH", "texts, or folders to search for *.visaasm and *.isaasm; - is stdin", "*")] = field(default_factory=list)
    platform: opt.PlatformName = None
    format: Annotated[str | None, opt.Option("NAME", "output format: " + ", ".join(FORMATS), choices=tuple(FORMATS))] = None
    output: Annotated[str | None, opt.Option("FILE", "write the report to FILE")] = None
    color: opt.ReportColor = "auto"
    stdin_filename: opt.StdinFilename = None
    select: Annotated[list[str] | None, opt.Option("LIST", "report only these rules: codes, prefixes of codes, slugs, or ALL")] = None
    extend_select: Annotated[list[str] | None, opt.Option("LIST", "report these rules too, such as those that are off by default")] = None
    ignore: Annotated[list[str] | None, opt.Option("LIST", "do not report these rules")] = None
    per_file_ignores: Annotated[list[str] | None, opt.Option("GLOB:LIST", "do not report these rules in files that match GLOB")] = None
    exclude: Annotated[list[str] | None, opt.Option("GLOB", "skip paths that match GLOB when searching folders")] = None
    error_on_warning: Annotated[bool, opt.flag("exit 1 on any warning; overrides --max-warnings")] = False
    max_warnings: Annotated[int | None, opt.Option("N", "exit 0 if there are no errors and at most N warnings", opt.whole_number(0))] = None
    max_errors: Annotated[int | None, opt.Option("N", "stop the report after N errors, then count the remaining findings", opt.whole_number(1))] = None
    exit_zero: Annotated[bool, opt.flag("exit 0 even if there are findings")] = False
    statistics: Annotated[bool, opt.flag("print the number of findings of each code")] = False
    fix: Annotated[bool, opt.flag("apply safe fixes to the files; print the fixed text for standard input")] = False
    unsafe_fixes: Annotated[bool, opt.flag("with --fix or --diff: also apply fixes that may change the meaning")] = False
    diff: Annotated[bool, opt.flag("print the changes that --fix would make, without writing files")] = False
    baseline: Annotated[str | None, opt.Option("FILE", "do not report the findings listed in FILE")] = None
    write_baseline: Annotated[str | None, opt.Option("FILE", f"write all findings to FILE; default: the file of --baseline, else {_DEFAULT_BASELINE}", bare="")] = None
    embedded: Annotated[bool, opt.flag("also check the vISA in strings of other languages: *" + ", *".join(HOST_SUFFIXES))] = False
    error_on_unread: Annotated[bool, opt.flag("exit 1 if lines of vISA in another language could not be checked")] = False
    watch: Annotated[bool, opt.flag("check again whenever a file changes")] = False
    cache_dir: Annotated[str | None, opt.Option("DIR", "cache the findings of each text in DIR; default: the user's cache folder")] = None
    no_cache: Annotated[bool, opt.flag("use no cache file of earlier runs, and write none")] = False
    jobs: Annotated[int, opt.Option("N", "number of processes; 0 chooses it automatically", opt.whole_number(0))] = 0
    show_settings: Annotated[bool, opt.flag("print the settings in effect and the file that sets each")] = False
    cluster: ClusterAddress = None
    send: Annotated[bool, opt.flag("with --cluster: send the texts to workers that cannot read the files of this machine")] = False
    cluster_limit: ClusterLimit = CLUSTER_SECONDS
# fmt: on


class Overrides(Struct, frozen=True):
    """Options of the command line that override the settings of every file."""

    platform: str | None
    select: tuple[str, ...]
    extend: tuple[str, ...]
    ignore: tuple[str, ...]
    per_file: tuple[FileIgnore, ...]
    exclude: tuple[str, ...]

    def platform_of(self, settings: FolderSettings) -> str | None:
        """Return the platform of files with these settings."""
        return self.platform or settings.platform

    def selection(self, settings: FolderSettings) -> Selection:
        """Return the rules to report for files with these settings; ``--select`` replaces their ``select`` and ``ignore``."""
        ignore = self.ignore if self.select else (*settings.ignore, *self.ignore)
        per_file = (*settings.per_file_ignores, *self.per_file)
        extend = self.extend if self.select else (*settings.extend_select, *self.extend)
        return Selection(self.select or settings.select, ignore, per_file, extend)


def _list_rules() -> Sequence[Rule]:
    """Return every rule; called only for selectors and findings, because loading the rules takes time."""
    from visa_lsp.app.rule_registry import list_rules

    return list_rules()


def execute(args: Arguments) -> int:
    """Check the paths of the command line and return the exit status. Raises UserError."""
    paths, new_baseline = _paths(args)
    overrides = _overrides(args)
    if args.show_settings:
        anchor = _anchor(paths or ["."], args.stdin_filename)
        sys.stdout.write(settings_text(_effective_settings(Finder(_list_rules).of_folder(anchor), args, overrides)))
        return EXIT_OK
    if not paths:
        raise UserError("check: missing PATH: expected a file, a folder, or - for standard input")
    if args.watch and STDIN in paths:
        raise UserError("check: --watch cannot watch standard input")
    if args.send and (args.fix or args.diff):
        raise UserError("--send excludes --fix and --diff: fixes change the files on this machine")
    if args.unsafe_fixes and not (args.fix or args.diff):
        raise UserError("--unsafe-fixes needs --fix or --diff: without them no fix is applied")
    with cluster_of(args) as cluster:
        if args.watch:
            return _watch(args, paths, overrides, new_baseline, cluster)
        stdin = None
        if STDIN in paths:
            stdin = read_source(STDIN, args.stdin_filename, embedded=_is_host(args, args.stdin_filename or STDIN_NAME))
        return _run(args, paths, overrides, new_baseline, stdin, {}, cluster)


def _paths(args: Arguments) -> tuple[list[str], str | None]:
    """Return the paths to check and the baseline to write: the word after ``--write-baseline`` may be the first path."""
    paths: list[str] = list(args.paths)
    value: str | None = args.write_baseline
    if not value:
        return paths, None if value is None else args.baseline or _DEFAULT_BASELINE
    is_text = value == STDIN or value.lower().endswith(TEXTS) or Path(value).is_dir()
    if is_text or (args.baseline and not value.endswith(".json")):
        return [value, *paths], args.baseline or _DEFAULT_BASELINE
    return paths, value


def _overrides(args: Arguments) -> Overrides:
    select = _selectors("--select", args.select)
    extend = _selectors("--extend-select", args.extend_select)
    ignore = _selectors("--ignore", args.ignore)
    per_file = []
    for item in args.per_file_ignores or ():
        glob, colon, names = item.rpartition(":")
        if not colon or not glob:
            raise UserError(f"--per-file-ignores: {item!r} is not GLOB:LIST")
        per_file.append(FileIgnore(".", glob, parse_selectors(names)))
        validate(per_file[-1].selectors, "--per-file-ignores", _list_rules)
    return Overrides(args.platform, select, extend, ignore, tuple(per_file), tuple(args.exclude or ()))


def _selectors(option: str, values: Iterable[str] | None) -> tuple[str, ...]:
    selectors = tuple(s for value in values or () for s in parse_selectors(value))
    validate(selectors, option, _list_rules)
    return selectors


def _anchor(paths: list[str], stdin_filename: str | None) -> Path:
    """Return the folder whose settings apply to the whole run: that of the first path."""
    first_path = paths[0]
    if first_path == STDIN:
        return Path(stdin_filename).parent if stdin_filename else Path()
    return Path(first_path) if Path(first_path).is_dir() else Path(first_path).parent


def _with_settings(args: Arguments, settings: FolderSettings) -> Arguments:
    """Return the options completed from the settings of the folder."""
    terminal = sys.stdout.isatty() and args.output is None
    return structs.replace(
        args,
        format=args.format or settings.format or ("full" if terminal else "concise"),
        error_on_warning=args.error_on_warning or (settings.error_on_warning and args.max_warnings is None),
        max_warnings=settings.max_warnings if args.max_warnings is None else args.max_warnings,
        embedded=args.embedded or settings.embedded,
        exit_zero=args.exit_zero or settings.exit_zero,
        statistics=args.statistics or settings.statistics,
        fix=args.fix or args.diff,
        baseline=args.baseline or settings.baseline,
        cache_dir=args.cache_dir or settings.cache_dir,
    )


def _effective_settings(
    settings: FolderSettings, args: Arguments, overrides: Overrides
) -> tuple[FolderSettings, dict[str, Any]]:
    options = _with_settings(args, settings)
    selection = overrides.selection(settings)
    values: dict[str, Any] = {
        "platform": overrides.platform_of(settings),
        "format": options.format,
        "select": list(selection.select) or ["ALL"],
        "extend-select": list(selection.extend),
        "ignore": list(selection.ignore),
        "exclude": [*settings.exclude, *overrides.exclude],
        "error-on-warning": options.error_on_warning,
        "max-warnings": options.max_warnings,
        "exit-zero": options.exit_zero,
        "embedded": options.embedded,
        "statistics": options.statistics,
        "baseline": options.baseline,
        "cache-dir": options.cache_dir,
        "per-file-ignores": {f.pattern: list(f.selectors) for f in selection.per_file},
    }
    return settings, values


def _watch(
    args: Arguments,
    paths: list[str],
    overrides: Overrides,
    new_baseline: str | None,
    cluster: Cluster | None,
) -> int:
    results: dict[str, tuple[Stamp, Task, FileResult]] = {}
    watched = _list_files(args, paths, overrides)
    clear = _CLEAR if sys.stdout.isatty() else ""

    def files() -> list[str]:
        # The check reports a mistake in a settings file; until it is fixed, the previous files are watched.
        with contextlib.suppress(UserError):
            watched[:] = _list_files(args, paths, overrides)
        return watched

    def again() -> int:
        steer(sys.stdout, clear)
        try:
            status = _run(args, paths, overrides, new_baseline, None, results, cluster)
        except UserError as error:
            complain(str(error))
            status = EXIT_USAGE
        sys.stdout.flush()
        return status

    return watch(files, again)


def _suffixes(*, embedded: bool) -> tuple[str, ...]:
    """Return the suffixes to search folders for."""
    return TEXTS + HOST_SUFFIXES if embedded else TEXTS


def _is_host(args: Arguments, name: str) -> bool:
    """Return whether a text may be in another language with vISA in its strings."""
    if host_of(name) is None:
        return False
    return args.embedded or Finder(_list_rules).of_folder(_anchor([STDIN], args.stdin_filename)).embedded


def _list_files(args: Arguments, paths: list[str], overrides: Overrides) -> list[str]:
    finder = Finder(_list_rules)
    embedded = args.embedded or finder.of_folder(_anchor(paths, args.stdin_filename)).embedded
    files = collect(paths, finder, overrides.exclude, _suffixes(embedded=embedded)).files
    origins = {finder.of_file(f).origin for f in files}
    return [*files, *sorted(o for o in origins if o)]


def _run(
    args: Arguments,
    paths: list[str],
    overrides: Overrides,
    new_baseline: str | None,
    stdin: SourceText | None,
    cache: dict[str, tuple[Stamp, Task, FileResult]],
    cluster: Cluster | None,
) -> int:
    """Check all paths once and return the exit status; ``cache`` keeps results between the rounds of ``--watch``."""
    finder = Finder(_list_rules)
    options = _with_settings(args, finder.of_folder(_anchor(paths, args.stdin_filename)))
    inputs = collect(paths, finder, overrides.exclude, _suffixes(embedded=options.embedded))
    # Checked before any fix is applied, because a failure later would lose the report or a text.
    check_output(options.output, inputs.files)
    check_output(new_baseline, inputs.files)
    tasks = []
    for path in inputs.files:
        name = (args.stdin_filename or STDIN_NAME) if path == STDIN else path
        settings = finder.of_file(name) if name != STDIN_NAME else finder.of_folder(".")
        write = options.fix and not options.diff and path != STDIN
        source = stdin if path == STDIN else None
        selection = overrides.selection(settings)
        platform = overrides.platform_of(settings)
        host = host_of(name) if options.embedded else None
        if host is not None and not is_installed(host):
            raise UserError(f"{name}: {MissingGrammarError(host)}")
        tasks.append(
            Task(
                path,
                name,
                platform,
                selection,
                options.fix,
                options.unsafe_fixes,
                write,
                source,
                path in inputs.named,
                host,
            )
        )
    kept = _open_cached(options)
    results = _check_paths(tasks, options, cache, kept, cluster)
    results += [FileResult(path, error=f"{path}: {why}") for path, why in inputs.problems]
    if new_baseline is not None:
        return _write_baseline(new_baseline, results, inputs)
    if options.baseline is not None:
        from visa_lsp.app.check.baseline import read_baseline, without_known

        baseline = read_baseline(options.baseline)
        results = [without_known(r, baseline, options.baseline) for r in results]
    return _finish(CheckReport(tuple(results)), inputs, options, kept)


def _open_cached(options: Arguments) -> KeptVerdicts | None:
    """Return the cached findings of earlier runs; None with ``--no-cache``."""
    if options.no_cache or not (options.cache_dir or folder_of_user()):
        return None
    from visa_lsp.app.check.kept_verdicts import open_kept_verdicts

    return open_kept_verdicts(options.cache_dir)


def _check_paths(
    tasks: list[Task],
    options: Arguments,
    cache: dict[str, tuple[Stamp, Task, FileResult]],
    kept: KeptVerdicts | None,
    cluster: Cluster | None,
) -> list[FileResult]:
    stamps = {t.path: stamp(t.path) for t in tasks}

    def is_known(task: Task) -> bool:
        return task.path in cache and cache[task.path][:2] == (stamps[task.path], task)

    todo = [t for t in tasks if not is_known(t)]
    with Progress(wanted=len(todo) > 1) as line:

        def show_progress(done: int, findings: int) -> None:
            if line.is_due():
                line.show(f"{done:,} of {len(todo):,} files, {findings:,} finding{'s' * (findings != 1)}")

        for task, result in zip(todo, check_files(todo, options.jobs, show_progress, cluster, kept), strict=True):
            cache[task.path] = (stamps[task.path], task, result)
    return [cache[t.path][2] for t in tasks]


def _write_baseline(path: str, results: list[FileResult], inputs: Inputs) -> int:
    from visa_lsp.app.check.baseline import write_baseline

    errors = [r.error for r in results if r.error]
    for error in errors:
        complain(error)
    count = write_baseline(path, (f for r in results for f in r.findings), inputs.files)
    complain(f"{count} finding{'s' * (count != 1)} written to {path}")
    return EXIT_USAGE if errors else EXIT_OK


def _finish(report: CheckReport, inputs: Inputs, options: Arguments, kept: KeptVerdicts | None) -> int:
    """Write the report and the messages about the run, and return the exit status."""
    for result in report.errors:
        complain(result.error)
    for path, what in inputs.irregular:
        complain(f"{path}: skipped: this is {what}, not a regular file")
    for folder in inputs.empty:
        wanted = ", ".join(f"*{suffix}" for suffix in _suffixes(embedded=True))
        wanted = wanted if options.embedded else "*.visaasm or *.isaasm"
        complain(f"{folder}: no {wanted} files in this folder")
    changed = [r for r in report.results if r.before is not None and r.after is not None and r.before != r.after]
    stdin_text = next((r.after for p, r in zip(inputs.files, report.results, strict=False) if p == STDIN), None)
    to_stderr = False
    if options.diff:
        for result in changed:
            write_output(STDIN, encode_text(difference(result)))
    elif stdin_text is not None:
        write_output(STDIN, encode_text(stdin_text))
        to_stderr = True
    if not options.diff:
        shown = report if options.max_errors is None else report.up_to(options.max_errors)
        _write_report(shown, options, to_stderr, inputs)
        if shown.hidden:
            complain(f"{_hidden_words(shown.left)} not shown; a larger --max-errors shows more")
    fixed = sum(r.fixed for r in report.results)
    if fixed and (options.format != "full" or options.diff):
        verb = "can be fixed" if options.diff else "fixed"
        complain(f"{fixed} finding{'s' * (fixed != 1)} {verb} in {len(changed)} file{'s' * (len(changed) != 1)}")
    if options.fix and (left := _describe_unapplied(report, options)):
        complain(left)
    for result in report.results:
        if result.unread[0]:
            complain(f"{result.path}: {_unread_words(*result.unread)}")
    if options.statistics:
        (sys.stdout if options.format in FOR_PEOPLE and not to_stderr else sys.stderr).write(
            statistics(report) + (cache_hits_text(kept.hits, kept.asked) if kept is not None else "")
        )
    if report.errors:
        return EXIT_INTERNAL if any(result.internal for result in report.errors) else EXIT_USAGE
    if options.exit_zero:
        return EXIT_OK
    return EXIT_FINDINGS if _is_wrong(report, options) or (options.diff and changed) else EXIT_OK


def _unread_words(lines: int, statements: int) -> str:
    """Return the number of lines that were not checked, as a sentence."""
    verb = "was" if lines == 1 else "were"
    return f"{lines} line{'s' * (lines != 1)} of {statements} statement{'s' * (statements != 1)} {verb} not checked"


def _hidden_words(hidden: Sequence[ReportedFinding]) -> str:
    """Return the number of hidden findings, as the subject of a sentence."""
    errors = sum(f.severity is Severity.ERROR for f in hidden)
    others = len(hidden) - errors
    words = [f"{errors} more error{'s' * (errors != 1)}"] if errors else []
    words += [f"{others} other finding{'s' * (others != 1)}"] if others else []
    return f"{' and '.join(words)} {'is' if len(hidden) == 1 else 'are'}"


def _describe_unapplied(report: CheckReport, options: Arguments) -> str:
    """Return a sentence on the findings whose fix was not applied, with the option that applies it; empty if none."""
    unsafe = [f for f in report.findings if f.remedies and not any(r.safe for r in f.remedies)]
    if not unsafe:
        return ""
    count = f"{len(unsafe)} finding{'s' * (len(unsafe) != 1)}"
    if options.unsafe_fixes:
        return f"{count} left: no fix for {'it' if len(unsafe) == 1 else 'them'} reduces the number of findings"
    has = "has a fix" if len(unsafe) == 1 else "have fixes"
    return f"{count} left that {has} which may change the meaning; --unsafe-fixes applies {'it' if len(unsafe) == 1 else 'them'}"


def _is_wrong(report: CheckReport, options: Arguments) -> bool:
    warnings = report.count(Severity.WARNING)
    allowed = 0 if options.error_on_warning else options.max_warnings or 0
    unread = options.error_on_unread and any(result.unread[0] for result in report.results)
    return report.count(Severity.ERROR) > 0 or warnings > allowed or unread


def _write_report(report: CheckReport, options: Arguments, to_stderr: bool, inputs: Inputs) -> None:
    colour = wants_colour(sys.stdout, options.color) and (options.output is None or options.color == "always")
    pieces = FORMATS[options.format or "concise"].write(report, Look(colour))
    if options.output is not None:
        text = "".join(pieces)
        if options.format in FOR_PEOPLE:
            text = visible(text)
        write_output(options.output, text.encode("utf-8", "replace"), inputs.files)
        return
    out = sys.stderr if to_stderr else sys.stdout
    for piece in pieces:
        out.write(piece)
