"""The answers to the server's commands: assemble, disassemble, compare, ze_info, explain, settings.

Plain values in, JSON objects out. The path None means a text that is not saved yet. Rooms are loaded at first use, so
that the server starts without NumPy. Invariant: an error in a user's text or file is an answer with ``ok`` false, never
an exception.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from visa_lsp.app.errors import UserError
from visa_lsp.app.output_files import replace_file
from visa_lsp.lsp.jobs.run_client import run_in_subprocess
from visa_lsp.safe_io import MAX_OBJECT_BYTES, read_file
from visa_lsp.text import LineIndex, Span, decode_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from visa_lsp.companions import Beside
    from visa_lsp.diagnostics import Diagnostic
    from visa_lsp.lsp.jobs.model import FileRules, Result
    from visa_lsp.zeinfo.emit.emission import Doubt
    from visa_lsp.zeinfo.facts import KernelText


def places(text: str, spans: Iterable[Span]) -> Iterator[dict[str, int]]:
    """Yield the places of spans in a text, lines and columns from 1."""
    lines = LineIndex(text)
    for span in spans:
        line, column = lines.position(span.start)
        end_line, end_column = lines.position(span.end)
        yield {"line": line + 1, "column": column + 1, "end_line": end_line + 1, "end_column": end_column + 1}


def findings(text: str, diagnostics: Sequence[Diagnostic]) -> list[dict[str, Any]]:
    """Return findings as JSON objects, lines and columns from 1, with the keys of ``--check --format json``."""
    return [
        {**place, "severity": d.severity.value, "code": d.code, "name": d.name, "message": d.message}
        for d, place in zip(diagnostics, places(text, (d.span for d in diagnostics)), strict=True)
    ]


# ---- assembling ----


def assemble_text(text: str, path: str | None, platform: str | None) -> Result:
    """Write the object of a text beside its file, or for a text without a file into a new temporary folder."""
    from visa_lsp.app import assemble

    result = assemble.assemble_text(text, platform)
    answer: Result = {"ok": False, "path": None, "bytes": 0, "diagnostics": findings(text, result.diagnostics)}
    data = result.data
    if data is None:
        return {**answer, "error": "the text has errors"}
    try:
        target = _object_path(path)
        write_whole(target, data, path)
    except (OSError, ValueError) as error:
        return {**answer, "error": f"the object cannot be written: {getattr(error, 'strerror', None) or error}"}
    return {**answer, "ok": True, "path": str(target), "bytes": len(data)}


def _object_path(path: str | None) -> Path:
    if path is None:
        return Path(tempfile.mkdtemp(prefix="visa-lsp-")) / "untitled.isa"
    return Path(path).with_suffix(".isa")


def write_whole(target: Path, data: bytes, source: str | None) -> None:
    """Write a file atomically, but never over ``source``, the text of the program."""
    with replace_file(target, [source] if source else [], is_default=True) as stream:
        stream.write(data)


def stats(text: str | None, path: str | None, options: dict[str, Any]) -> Result:
    """Return the figures of a text, or of the object or native dump ``path``, as in ``stats --format json``.

    Options: ``platform``, and ``lives`` for the lines where each variable is live. A dump also has ``summary``, and its
    files ``visa`` and ``ze_info``.
    """
    from visa_lsp.app.assemble import program_of_text
    from visa_lsp.app.inputs import read_bytes
    from visa_lsp.app.stats.dumps import is_dump
    from visa_lsp.app.stats.measured_inputs import figures_of_data, figures_of_text
    from visa_lsp.app.stats.printing import as_json

    platform, lives = options.get("platform"), bool(options.get("lives"))
    try:
        if text is None:
            data = read_bytes(path or "")
            if is_dump(data):
                return {"ok": True, "kernels": [], "dumps": [_dump(path or "", data)]}
            kernels = figures_of_data(path or "", data, platform, lives=lives, say=lambda _line: None)
            return {"ok": True, **as_json(kernels or ())}
        program = program_of_text(text, platform)
        kernels = figures_of_text(text, program, platform, path or "", lives=lives)
    except UserError as error:
        return {"ok": False, "error": str(error)}
    if kernels is None:
        return {"ok": False, "error": "the text has errors", "diagnostics": findings(text, program.diagnostics)}
    return {"ok": True, **as_json(kernels)}


def _dump(path: str, data: bytes) -> Result:
    from visa_lsp.app.stats.dump_folder import files_beside
    from visa_lsp.app.stats.dumps import figures_of_dump
    from visa_lsp.app.stats.printing import dump_json, dump_summary

    dump = figures_of_dump(path, decode_text(data))
    beside = files_beside(dump)
    return {
        **dump_json(dump),
        "summary": dump_summary(dump),
        "visa": beside.visa and str(beside.visa),
        "ze_info": beside.ze_info and str(beside.ze_info),
    }


def disassemble(text: str | None, path: str | None, platform: str | None) -> Result:
    """Return the text of an object file; for a text, the text of its object."""
    from visa_lsp.codec.decode import decode
    from visa_lsp.codec.errors import CodecError
    from visa_lsp.isa.platforms import platform_named
    from visa_lsp.program.text_form import module_text

    try:
        if text is None:
            if path is None:
                return {"ok": False, "error": "an object has to be a file"}
            data = read_file(path, MAX_OBJECT_BYTES)
        else:
            from visa_lsp.app import assemble

            result = assemble.assemble_text(text, platform)
            if result.data is None:
                return {"ok": False, "error": "the text has errors", "diagnostics": findings(text, result.diagnostics)}
            data = result.data
        written = module_text(decode(data), platform_named(platform) if platform else None)
    except CodecError as error:
        return {"ok": False, "error": f"{path or 'the text'}: {error}"}
    except (OSError, ValueError) as error:
        return {"ok": False, "error": f"{path}: {getattr(error, 'strerror', None) or error}"}
    return {"ok": True, "text": written, "bytes": len(data)}


# ---- ze_info ----


def finder_of(opened: dict[str, str] | None) -> Beside:
    """Return a finder that prefers the texts in the editor, ``opened`` by path."""
    from visa_lsp.companions import Beside

    return Beside(lambda path: (opened or {}).get(str(path)))


def ze_info(text: str, path: str | None, platform: str | None, opened: dict[str, str] | None = None) -> Result:
    """Return the ze_info of a text: that of its folder if it describes the kernels, else a generated one with warnings."""
    from visa_lsp.companions import ZEBIN, kernels_in

    place = Path(path) if path else None
    finder = finder_of(opened)
    try:
        if place is not None:
            names = kernels_in(text)
            descriptions = (finder.description(name, place) for name in names)
            described = next((d for d in descriptions if d is not None), None)
            if described is not None:
                return {"ok": True, "path": str(described.path), "text": described.text, "made": False, "warnings": []}
            own = next((p for p in finder.own_documents(place) if p.suffix != ZEBIN), None)
            if own is not None:
                return {"ok": True, "path": str(own), "text": _document(own, opened), "made": False, "warnings": []}
        generated, warnings = _make_document(text, platform)
    except (OSError, ValueError) as error:
        return {"ok": False, "error": str(error)}
    return {"ok": True, "path": None, "text": generated, "made": True, "warnings": warnings}


def _document(path: Path, opened: dict[str, str] | None) -> str:
    return (opened or {}).get(str(path)) or read_file(path).decode("utf-8")


def _kernels(text: str, platform: str | None) -> list[KernelText]:
    """Return the kernels of a text with their places. Raises ValueError if there are none."""
    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.ide.zeinfo.kernel_texts import kernel_texts
    from visa_lsp.isa.platforms import platform_named

    if platform and platform_named(platform) is None:
        raise ValueError(f"unknown platform '{platform}'")
    analysis = Analysis.of(text, platform)
    bodies = kernel_texts(analysis, "")
    if not bodies and analysis.bound.bodies:
        raise ValueError("the text has errors")
    kernels = [kernel for kernel in bodies if kernel.kernel.is_kernel]
    if not kernels:
        raise ValueError("there is no kernel")
    return kernels


def _make_document(text: str, platform: str | None) -> tuple[str, list[dict[str, Any]]]:
    """Return a ze_info document for a text, and its guesses. Raises ValueError if it cannot be inferred."""
    from visa_lsp.app.ze_info import registers_for
    from visa_lsp.zeinfo.emit.emission import EmitError, emit_with_doubts

    kernels = _kernels(text, platform)
    try:
        emitted = emit_with_doubts([k.kernel for k in kernels], registers_for(platform, [k.kernel for k in kernels]))
    except EmitError as error:
        raise ValueError(str(error)) from error
    return emitted.text, [_make_warning(text, kernels, doubt) for doubt in emitted.doubts]


def _make_warning(text: str, kernels: Sequence[KernelText], doubt: Doubt) -> dict[str, Any]:
    """Return a guess with the place of its input, else of the kernel; lines and columns from 1."""
    kernel = next(k for k in kernels if k.kernel.name == doubt.kernel)
    span = kernel.input(doubt.input) if doubt.input >= 0 else kernel.name
    (place,) = places(text, [span])
    return {**place, "severity": "warning", "kernel": doubt.kernel, "message": doubt.message}


def launch_template(text: str, path: str | None, options: dict[str, Any], *, tries: bool = False) -> Result:
    """Return a launch file to fill in, with the arguments of ze_info, that of the folder or an inferred one.

    Options: ``platform``, ``kernel`` (else the first), ``quick``: the given values, as an object, ``opened`` (texts
    by path). If sizes must be tried, the kernel runs, in a separate process unless ``tries``.
    """
    from visa_lsp.app.launch.body_source import TextProblems
    from visa_lsp.app.launch.options import RunOptions
    from visa_lsp.app.launch.proposal import propose_run
    from visa_lsp.sim.launch.config import LaunchError

    quick = dict(options.get("quick") or {})
    if options.get("kernel"):
        quick.setdefault("kernel", str(options["kernel"]))
    place = Path(path) if path else None
    launch = place.with_suffix(".launch.yaml") if place else None
    run = RunOptions(place, options.get("platform") or None, finder=finder_of(options.get("opened")))
    try:
        proposal = propose_run(text, run, launch or Path("untitled.launch.yaml"), quick, tries=tries).proposal
    except TextProblems:
        return {"ok": False, "error": "the text has errors"}
    except (LaunchError, ValueError) as error:
        return {"ok": False, "error": str(error)}
    if proposal.can_be_tried and not tries:
        from visa_lsp.lsp.jobs.model import Stop

        return run_in_subprocess(text, path, {"template": options}, Stop())
    template = {**proposal.template, "text": proposal.written.text, "assumed": list(proposal.assumed)}
    return {"ok": True, "path": str(launch) if launch else None, **template}


# ---- words and settings ----


def explain(word: str, platform: str | None) -> Result:
    """Return the page of a word."""
    from visa_lsp.app.explain import explain_text
    from visa_lsp.app.explained_words import nearest_word

    text = explain_text(word, platform)
    if text is None:
        meant = nearest_word(word)
        hint = f"; did you mean `{meant}`?" if meant else ""
        return {"ok": False, "error": f"unknown word `{word}`{hint}", "suggestion": meant}
    return {"ok": True, "word": word, "markdown": text}


def platform_of(text: str, path: str | None, named: tuple[str, str] | None) -> Result:
    """Return the platform of a text: the ``named`` one, else that of its files; ``by`` says who names it."""
    from visa_lsp.app.told_platform import platform_of_launch, platform_of_program

    place = Path(path) if path else None
    platform_and_source = (place and platform_of_launch(place)) or platform_of_program(place, text)
    name, by = named or ((platform_and_source[0].name, platform_and_source[1]) if platform_and_source else ("", ""))
    return {"ok": True, "platform": name, "by": by, "checked": named is not None}


def words() -> Result:
    """Return every word with a page, its kind, and a line about it."""
    from visa_lsp.app.explained_words import words as known

    return {"ok": True, "words": [word._asdict() for word in known()]}


def file_rules(path: str, ignore: tuple[str, ...], extend: tuple[str, ...]) -> FileRules:
    """Return the settings of a file, from the settings files of the folder, then from the editor, as in ``check``."""
    from visa_lsp.app.check.suppress import Selection
    from visa_lsp.app.rule_registry import list_rules
    from visa_lsp.app.settings import Finder, FolderSettings
    from visa_lsp.lsp.jobs.model import FileRules

    problem, settings = "", FolderSettings()
    try:
        if path:
            settings = Finder(list_rules).of_file(path)
    except (UserError, OSError, ValueError) as error:
        problem = str(error)
    selection = Selection(
        settings.select, (*settings.ignore, *ignore), settings.per_file_ignores, (*settings.extend_select, *extend)
    )
    plain = not (selection.select or selection.ignore or selection.per_file or selection.extend)
    if plain:
        return FileRules(settings.platform or "", frozenset(), problem=problem)
    return FileRules(
        settings.platform or "", selection.extra(), lambda rule: selection.shows(rule, path or "untitled"), problem
    )
