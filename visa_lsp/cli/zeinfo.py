"""The command ``visa-lsp zeinfo``: ``check`` checks ze_info, alone and against the kernels; ``emit`` generates it.

The kernels of NAME.zeinfo.yaml are in NAME.visaasm and KERNEL.visaasm beside it. Exit status: 0 success, 1 errors or
warnings (check), errors in the text (emit), 2 wrong usage or an unreadable file. NumPy is loaded only for a launch
file.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from msgspec import field
from msgspec.structs import replace

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.app.check.formats.table import FORMATS, Look
from visa_lsp.app.check.report import CheckReport, FileResult, ReportedFinding, findings_of, number_findings
from visa_lsp.app.errors import NEEDS_NUMPY, UserError
from visa_lsp.app.exits import EXIT_FINDINGS, EXIT_OK, EXIT_USAGE
from visa_lsp.app.inputs import STDIN, STDIN_NAME, decode, decode_object, is_object, read_bytes
from visa_lsp.app.output_files import check_output
from visa_lsp.app.ze_info import infer_ze_info, registers_for
from visa_lsp.cli.exits import complain  # fmt: skip
from visa_lsp.cli.options import CommandArguments, Option, PlatformName, ReportColor, StdinFilename, arg, flag
from visa_lsp.cli.outputs import wants_colour, write_output
from visa_lsp.companions import Beside, list_kernels
from visa_lsp.diagnostics import Diagnostic, Severity
from visa_lsp.ide.zeinfo.kernel_texts import kernel_texts
from visa_lsp.isa.platforms import Platform, platform_named, platform_of_product
from visa_lsp.program.payload_layout import registers
from visa_lsp.program.suffixes import PROGRAMS
from visa_lsp.text import encode_text
from visa_lsp.zeinfo.emit.emission import Doubt, EmitError, emit_with_doubts
from visa_lsp.zeinfo.emit.user_answers import SayError, read_answers
from visa_lsp.zeinfo.facts import KernelText
from visa_lsp.zeinfo.kernel_checks import codeless_kernels, disagreements
from visa_lsp.zeinfo.kernels import entries, word_of
from visa_lsp.zeinfo.pack import pack_zebin
from visa_lsp.zeinfo.source import ZeInfoSource
from visa_lsp.zeinfo.validate import validate_source
from visa_lsp.zeinfo.zebin import Zebin, ZebinError, is_elf, read_zebin

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from visa_lsp.app.assemble import Assembled
    from visa_lsp.app.launch.launch_file import LaunchFile

_ENDINGS: Final = (".zeinfo.yaml", ".zeinfo.yml", ".ze_info", ".yaml", ".yml", ".zebin")
_MAX_TEXTS: Final = 1000


# fmt: off
class CheckArguments(CommandArguments, kw_only=True):
    """The options of ``check``."""

    files: Annotated[list[str], arg("FILE", "ze_info as YAML, or a zebin; - is standard input")]
    text: Annotated[list[str] | None, Option("FILE", "compare with the kernels of this text or object; default: the texts beside FILE")] = None
    no_text: Annotated[bool, flag("check only the document")] = False
    format: Annotated[str | None, Option("NAME", "output format: " + ", ".join(FORMATS), choices=tuple(FORMATS))] = None
    color: ReportColor = "auto"
    stdin_filename: StdinFilename = None
    platform: PlatformName = None
# fmt: on


# fmt: off
class EmitArguments(CommandArguments, kw_only=True):
    """The options of ``emit``."""

    input: Annotated[str, arg("IN", "a text or an object; - is standard input")]
    launch: Annotated[str | None, Option("FILE", "launch file that describes the arguments; default: the sibling NAME.launch.yaml")] = None
    say: Annotated[list[str], Option("NAME=WORDS", "resolve a warning: 1=constant, V0039=global_size, private=512, slm=2048, 'sampler(0)=repeat linear'")] = field(default_factory=list)
    output: Annotated[str | None, Option("OUT", "write the document to OUT; default: standard output", flags=("-o", "--output"))] = None
    stdin_filename: StdinFilename = None
    platform: PlatformName = None
# fmt: on


# The commands below this one: their help and their options.
ACTIONS: Final = {
    "check": ("check ze_info and report findings", CheckArguments),
    "emit": ("generate ze_info for a text or object", EmitArguments),
}


def execute(args: CheckArguments | EmitArguments) -> int:
    """Execute ``check`` or ``emit`` and return the exit status."""
    return _check(args) if isinstance(args, CheckArguments) else _emit(args)


# Check.


def _check(args: CheckArguments) -> int:
    results = tuple(_check_file(path, args) for path in args.files)
    report = CheckReport(results)
    form = args.format or ("full" if sys.stdout.isatty() else "concise")
    for piece in FORMATS[form].write(report, Look(wants_colour(sys.stdout, args.color))):
        sys.stdout.write(piece)
    for result in report.errors:
        complain(result.error)
    if report.errors:
        return EXIT_USAGE
    return EXIT_FINDINGS if report.count(Severity.ERROR, Severity.WARNING) else EXIT_OK


def _check_file(path: str, args: CheckArguments) -> FileResult:
    name = (args.stdin_filename or STDIN_NAME) if path == STDIN else path
    try:
        data = read_bytes(path)
        zebin = _zebin(name, data) if is_elf(data) else None
        source = ZeInfoSource.of(zebin.ze_info if zebin is not None else decode(name, data, is_ze_info=True).text)
        platform = _platform(args.platform, zebin)
        where = registers(platform.grf_bytes, platform.generation) if platform else None
        diagnostics = list(validate_source(source, where))
        if zebin is not None and source.root is not None:
            diagnostics += codeless_kernels(source, zebin)
        texts: dict[str, str] = {}
        if source.root is not None and not args.no_text:
            kernels: list[KernelText] = []
            for text in _texts(Path(name), source, args.text):
                kernels += _kernels(text, args.platform, texts, named=bool(args.text))
            diagnostics += disagreements(source, kernels, where)
        return FileResult(name, _findings(name, source.text, diagnostics, texts))
    except UserError as error:
        return FileResult(name, error=str(error))


def _platform(named: str | None, zebin: Zebin | None) -> Platform | None:
    """Return the platform of the option, else that of the zebin; None without either."""
    if named:
        return platform_named(named)
    family = zebin.product_family if zebin is not None else None
    return platform_of_product(family) if family is not None else None


def _zebin(name: str, data: bytes) -> Zebin:
    """Read a zebin. Raises UserError if it has no ze_info."""
    try:
        zebin = read_zebin(data)
    except ZebinError as error:
        raise UserError(f"{name}: {error}") from None
    if not zebin.ze_info_bytes:
        raise UserError(f"{name}: {zebin.without('no section .ze_info')}")
    return zebin


def _texts(path: Path, source: ZeInfoSource, named: Sequence[str] | None) -> Iterator[Path]:
    """Yield the texts to compare with: ``named``, else those beside the document with its name or that of a kernel."""
    if named:
        yield from (Path(n) for n in named)
        return
    stem = next((path.name[: -len(e)] for e in _ENDINGS if path.name.endswith(e)), path.stem)
    names = dict.fromkeys([stem, *(word_of(k, "name") for k in entries(source.root, "kernels"))])
    for name in list(names)[:_MAX_TEXTS]:
        if name and Path(name).name == name:
            candidates = (path.with_name(name + suffix) for suffix in PROGRAMS)
            text = next((c for c in candidates if _is_file(c)), None)
            if text is not None:
                yield text


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # the name of a kernel may be too long for a file name
        return False


def _kernels(path: Path, platform: str | None, texts: dict[str, str], *, named: bool) -> tuple[KernelText, ...]:
    name = str(path)
    data = read_bytes(name, named=named)
    if is_object(name, data):
        return tuple(KernelText(kernel, name) for kernel in decode_object(name, data).bodies)
    texts[name] = decode(name, data).text
    kernels = kernel_texts(Analysis.of(texts[name], platform), name)
    if not kernels:
        complain(f"{name}: not compared, because the text has errors; visa-lsp check {name} lists them")
    return kernels


def _findings(
    name: str, text: str, diagnostics: Sequence[Diagnostic], texts: Mapping[str, str]
) -> tuple[ReportedFinding, ...]:
    """Return the findings of a report, with resolved places in related texts."""
    out = []
    for diagnostic in diagnostics:
        (finding,) = findings_of(name, text, [diagnostic])
        notes = []
        for note, related in zip(finding.notes, diagnostic.related, strict=True):
            other = texts.get(related.path or "")
            if other is None:
                notes.append(note)
                continue
            (place,) = findings_of(
                related.path or "", other, [replace(diagnostic, span=related.span, related=(), fixes=())]
            )
            notes.append(replace(note, place=place.place, excerpt=place.excerpt))
        out.append(replace(finding, notes=tuple(notes)))
    out.sort(key=lambda f: (f.place, f.code, f.message))
    return number_findings(out)


# Emit.


def _emit(args: EmitArguments) -> int:
    name = (args.stdin_filename or STDIN_NAME) if args.input == STDIN else args.input
    inputs = [args.input, args.launch or Path(name).with_suffix(".launch.yaml")]
    check_output(args.output, inputs)
    data = read_bytes(args.input)
    launch = _launch(args, Path(name))
    chosen = args.platform or (launch.platform if launch is not None else None)
    if chosen is not None and platform_named(chosen) is None:
        raise UserError(f"zeinfo emit: unknown platform '{chosen}'")
    kernels = _programs(name, data, chosen)
    if kernels is None:
        return EXIT_FINDINGS
    hints = _hints(launch, [k.kernel.name for k in kernels])
    try:
        said = read_answers(args.say)
        emission = emit_with_doubts(
            [k.kernel for k in kernels], registers_for(chosen, [k.kernel for k in kernels]), hints, said
        )
    except SayError as error:
        raise UserError(f"zeinfo emit: --say {error}") from None
    except EmitError as error:
        print(f"{_place(name, data, kernels, error)}: error: {error}", file=sys.stderr)
        return EXIT_FINDINGS
    _doubts(name, data, kernels, emission.doubts)
    write_output(args.output or STDIN, encode_text(emission.text), inputs)
    return EXIT_OK


def _programs(name: str, data: bytes, platform: str | None) -> list[KernelText] | None:
    """Return the kernels of a text or object; if it has errors, print them to stderr and return None."""
    if is_object(name, data):
        kernels = [KernelText(kernel, name) for kernel in decode_object(name, data).kernels]
    else:
        source = decode(name, data)
        analysis = Analysis.of(source.text, platform)
        errors = [d for d in analysis.diagnostics if d.severity is Severity.ERROR]
        for finding in errors:
            line, column = analysis.document.position(finding.span.start)
            print(
                f"{name}:{line + 1}:{column + 1}: error {finding.code} {finding.name}: {finding.message}",
                file=sys.stderr,
            )
        texts = () if errors else kernel_texts(analysis, name)
        if not texts:
            if not errors:
                complain(f"{name}: the text has errors")
            return None
        kernels = [text for text in texts if text.kernel.is_kernel]
    if not kernels:
        raise UserError(f"{name}: no kernel found, only functions; ze_info describes kernels")
    return kernels


def pack_with_ze_info(name: str, result: Assembled, platform_name: str | None) -> bytes | None:
    """Return a zebin with the ze_info of the folder, else a generated one; if there is none, print why and return None."""
    assert result.data is not None
    path = Path(name)
    stem = path.stem.strip("<>") or "visa"
    own = path.with_suffix(".zeinfo.yaml")
    if _is_file(own):
        return pack_zebin(stem, result.data, decode(str(own), read_bytes(str(own), named=False), is_ze_info=True).text)
    texts = [text for text in kernel_texts(result.analysis, name) if text.kernel.is_kernel]
    kernels = [text.kernel for text in texts]
    # An existing zebin is ignored, because it may be the output for an older text.
    beside = (d for d in Beside().descriptions(kernels[0].name, path) if not d.is_zebin) if kernels else ()
    description = next((d for d in beside if {k.name for k in kernels} <= set(list_kernels(d.text))), None)
    if description is not None:
        complain(f"{name}: using the ze_info of {description.path}")
        return pack_zebin(stem, result.data, description.text)
    text = encode_text(result.analysis.document.text)
    try:
        emission = infer_ze_info(kernels, platform_name)
    except EmitError as error:
        print(f"{_place(name, text, texts, error)}: error: {error}", file=sys.stderr)
        return None
    _doubts(name, text, texts, emission.doubts)
    return pack_zebin(stem, result.data, emission.text)


def _doubts(name: str, data: bytes, kernels: Sequence[KernelText], doubts: Sequence[Doubt]) -> None:
    """Print a warning for each assumption in the document."""
    for doubt in doubts:
        place = _place(name, data, kernels, doubt)
        print(f"{place}: warning: kernel '{doubt.kernel}': {doubt.message}", file=sys.stderr)


def _place(name: str, data: bytes, kernels: Sequence[KernelText], error: EmitError | Doubt) -> str:
    text = next(k for k in kernels if k.kernel.name == error.kernel)
    if is_object(name, data):
        return name
    span = text.input(error.input) if error.input >= 0 else text.name
    before = decode(name, data).text[: span.start]
    return f"{name}:{before.count(chr(10)) + 1}:{span.start - before.rfind(chr(10))}"


def _launch(args: EmitArguments, path: Path) -> LaunchFile | None:
    """Read the launch file; None if there is none."""
    where = Path(args.launch) if args.launch else path.with_suffix(".launch.yaml")
    if not where.is_file():
        if args.launch:
            raise UserError(f"{args.launch}: no such file")
        return None
    try:
        from visa_lsp.app.launch.file import read_launch_file
    except ModuleNotFoundError:
        if not args.launch:
            return None
        raise UserError(f"zeinfo emit: {NEEDS_NUMPY}") from None
    from visa_lsp.sim.launch.config import LaunchError

    try:
        return read_launch_file(where)
    except LaunchError as error:
        raise UserError(str(error)) from None


def _hints(launch: LaunchFile | None, names: Sequence[str]) -> dict[str, Any] | None:
    if launch is None:
        return None
    name = launch.config.kernel or (names[0] if len(names) == 1 else None)
    if name is None:
        raise UserError(f"{launch.path}: the text has several kernels; name one with kernel: {' | '.join(names)}")
    from visa_lsp.app.launch.program_info import hint_of

    args = launch.config.args
    given = [hint_of(a) for a in args] if isinstance(args, tuple) else {k: hint_of(a) for k, a in args.items()}
    return {name: given}
