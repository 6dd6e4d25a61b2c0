"""Verifies machine code against texts: which text belongs to which code, on which launches, and the answer for each kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from visa_lsp.app.errors import UserError
from visa_lsp.app.gen.gen_document import Source, read_input
from visa_lsp.app.inputs import STDIN, read_bytes
from visa_lsp.app.launch.runner import LaunchError, TextProblems
from visa_lsp.app.verify.both_runs import Outcome, compare_with, run_code_alone, verdict_of
from visa_lsp.app.verify.covering_launches import text_runs
from visa_lsp.app.verify.line_faults import text_faults
from visa_lsp.app.verify.machine_source import CodeRequest, code_of_text
from visa_lsp.app.verify.verify_launches import beside_of, launches_of
from visa_lsp.app.verify.verify_report import HazardReport, InputProblem, KernelVerdict, Row
from visa_lsp.companions import Beside, kernels_in
from visa_lsp.eu.branch_walks import hazards_behind_branches
from visa_lsp.eu.scoreboard import Scoreboard, unneeded_waits
from visa_lsp.isa.platforms import Platform, platform_named, platform_of_product
from visa_lsp.text import decode_text
from visa_lsp.zeinfo.zebin import Zebin, ZebinError, is_elf, read_zebin

if TYPE_CHECKING:
    from visa_lsp.eu.model import MachineInst

_TEXT: Final = ".visaasm"
_LISTING: Final = ".asm"
COMPILERS_OWN: Final = "Intel_Symbol_Table_Void_Program"


@dataclass(frozen=True, slots=True)
class VerifyOptions:
    """Options of `verify`: the launch file, platform, kernel, options and path of the finalizer, path of iga64.

    ``hazards_only`` runs the machine code alone; ``slack`` looks for unneeded waits; ``tries`` fits buffers by trial runs.
    """

    launch: str | None = None
    platform: str | None = None
    kernel: str | None = None
    options: tuple[str, ...] = ()
    tool: str | None = None
    iga: str | None = None
    hazards_only: bool = False
    slack: bool = False
    tries: bool = True


def verify(name: str, options: VerifyOptions) -> Iterator[Row]:
    """Yield the answer for each kernel of an input, a file or a folder; a problem of an input is a row, too."""
    path = Path(name)
    if name != STDIN and path.is_dir():
        texts = sorted(p for p in path.rglob(f"*{_TEXT}") if p.is_file())
        if not texts:
            yield InputProblem(name, f"{name}: no text (*{_TEXT}) in this folder")
        for text in texts:
            yield from verify(str(text), options)
        return
    try:
        yield from _rows_of(name, options)
    except (UserError, LaunchError, TextProblems) as error:
        yield InputProblem(name, _one_sentence(name, error))


def _one_sentence(name: str, error: Exception) -> str:
    """Return the first line of an error, with the input's name."""
    words = (str(error).splitlines() or [type(error).__name__])[0]
    return words if name in words else f"{name}: {words}"


def _rows_of(name: str, options: VerifyOptions) -> Iterator[Row]:
    if name == STDIN:
        raise UserError("verify: standard input has no launch file, ze_info or zebin beside it; name a file")
    data = read_bytes(name)
    if is_elf(data):
        yield from _rows_of_zebin(name, data, options)
        return
    request = CodeRequest(options.options, options.tool, options.iga)
    text_name = name
    if Path(name).suffix == _LISTING:
        text_name = str(Path(name).with_suffix(_TEXT))
        if not Path(text_name).is_file():
            raise UserError(f"{name}: a listing is verified against the text beside it, but there is no {text_name}")
        request = replace(request, listing=decode_text(data))
    source = read_input(text_name, None, options.platform)
    yield from _rows_of_text(name, text_name, source, options, request)


def _rows_of_zebin(name: str, data: bytes, options: VerifyOptions) -> Iterator[Row]:
    """Yield the answers for the kernels of a zebin whose texts lie in its folder."""
    try:
        zebin = read_zebin(data)
    except ZebinError as error:
        raise UserError(f"{name}: {error}") from None
    platform = options.platform or _platform_of(zebin)
    names = [k for k in zebin.kernels if k != COMPILERS_OWN and options.kernel in (None, k)]
    if not names:
        wanted = f" '{options.kernel}'" if options.kernel else ""
        raise UserError(f"{name}: {zebin.without(f'no machine code of a kernel{wanted}')}")
    texts = _texts_by_kernel(Path(name))
    request = CodeRequest(iga=options.iga, zebin=zebin, zebin_name=name)
    for kernel in names:
        paths = texts.get(kernel, [])
        if not paths:
            yield InputProblem(
                name,
                f"{name}: the text of '{kernel}' is not in the folder; `verify` compares machine code with its text",
            )
            continue
        source = read_input(str(paths[0]), None, platform)
        yield from _rows_of_text(name, str(paths[0]), source, replace(options, kernel=kernel), request)


def _platform_of(zebin: Zebin) -> str | None:
    family = zebin.product_family
    platform = platform_of_product(family) if family is not None else None
    return platform.name if platform is not None else None


def _texts_by_kernel(path: Path) -> dict[str, list[Path]]:
    texts: dict[str, list[Path]] = {}
    for text in sorted(path.parent.glob(f"*{_TEXT}")):
        for kernel in kernels_in(decode_text(read_bytes(str(text)))):
            texts.setdefault(kernel, []).append(text)
    return texts


def _rows_of_text(
    name: str, text_name: str, source: Source, options: VerifyOptions, request: CodeRequest
) -> Iterator[Row]:
    kernels = [k for k in kernels_in(source.text) if options.kernel in (None, k) and k != COMPILERS_OWN]
    if not kernels:
        if options.kernel is None:
            return  # functions are verified with the kernels that call them
        raise UserError(
            f"{text_name}: no kernel '{options.kernel}'; its kernels are {', '.join(kernels_in(source.text))}"
        )
    platform = platform_named(source.platform)
    assert platform is not None
    for kernel in kernels:
        try:
            yield _verdict(name, text_name, source, kernel, platform, options, request)
        except (UserError, LaunchError, TextProblems) as error:
            yield InputProblem(name, _one_sentence(name, error))


def _verdict(
    name: str,
    text_name: str,
    source: Source,
    kernel: str,
    platform: Platform,
    options: VerifyOptions,
    request: CodeRequest,
) -> KernelVerdict:
    data = read_bytes(text_name)
    launches = list(launches_of(Path(text_name), options.launch, platform.name, kernel, data, tries=options.tries))
    body = launches[0].ready().prepared.dispatch.kernel
    code = code_of_text(source, text_name, body, platform, replace(request, finder=Beside()))
    board = Scoreboard(code, platform)
    outcomes: list[Outcome] = []
    for run in text_runs(launches, beside_of(text_name, options.launch)):
        if options.hazards_only:
            outcomes.append(run_code_alone(run.opened, code, [board]))
        else:
            outcomes.append(compare_with(run, code, source.text, [board]))
        if outcomes[-1].is_endless and len(outcomes) > 1:
            outcomes.pop()  # random values in a buffer may be a condition that never becomes false
        if outcomes[-1].first is not None:
            break
    hazards_by_wait = {(h.inst.index, h.needs): h for h in (*board.hazards(), *hazards_behind_branches(code, platform))}
    hazards = [HazardReport(_shown(h.inst), h.needs, h.inst.line) for h in hazards_by_wait.values()]
    if not options.hazards_only:
        hazards += [HazardReport(_shown(inst), needs, inst.line) for inst, needs in text_faults(body, code, platform)]
    unneeded = [HazardReport(_shown(i), str(i.wait), i.line) for i in unneeded_waits(board)] if options.slack else None
    return verdict_of(name, kernel, platform.name, outcomes, hazards, code, unneeded, hazards_only=options.hazards_only)


def _shown(inst: MachineInst) -> str:
    return " ".join(inst.text.partition("//")[0].split()) or inst.name
