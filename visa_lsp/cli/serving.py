"""What the language server lets the command line's rooms do: assemble, disassemble, run, ze_info, explain, settings.

The functions of ``lsp.services.Services``: plain values in, JSON objects out. Rooms are loaded when first used, so that
the server starts without NumPy. Invariant: what is wrong with a user's text or file is an answer, never an exception.
"""

from __future__ import annotations

import tempfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.cli.files import replacing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.diagnostics import Diagnostic
    from visa_lsp.lsp.services import FileRules, Result, Stop


def services() -> Any:
    """The services of this program."""
    return import_module("visa_lsp.lsp.services").Services(
        assemble_text, run_apart, disassemble, ze_info, launch_template, explain, file_rules
    )


def findings(text: str, diagnostics: Sequence[Diagnostic]) -> list[dict[str, Any]]:
    """Findings as JSON objects, lines and columns from 1, with the keys of ``--check --format json``."""
    lines = import_module("visa_lsp.text").LineIndex(text)
    found = []
    for d in diagnostics:
        line, column = lines.position(d.span.start)
        end_line, end_column = lines.position(d.span.end)
        found.append(
            {
                "line": line + 1,
                "column": column + 1,
                "end_line": end_line + 1,
                "end_column": end_column + 1,
                "severity": d.severity.value,
                "code": d.code,
                "name": d.name,
                "message": d.message,
            }
        )
    return found


# ---- assembling ----


def assemble_text(text: str, path: str | None, platform: str | None) -> Result:
    """Write the object of a text beside its file (a text without a file: into a new temporary folder)."""
    result = import_module("visa_lsp.cli.assemble").assemble_text(text, platform)
    answer: Result = {"ok": False, "path": None, "bytes": 0, "diagnostics": findings(text, result.diagnostics)}
    data = result.data
    if data is None:
        return {**answer, "error": "the text has errors"}
    try:
        target = _object_path(path)
        write_whole(target, data)
    except OSError as error:
        return {**answer, "error": f"the object cannot be written: {error.strerror or error}"}
    return {**answer, "ok": True, "path": str(target), "bytes": len(data)}


def _object_path(path: str | None) -> Path:
    if path is None:
        return Path(tempfile.mkdtemp(prefix="visa-lsp-")) / "untitled.isa"
    return Path(path).with_suffix(".isa")


def write_whole(target: Path, data: bytes) -> None:
    """Write a file by way of a temporary one beside it, so that it is complete or untouched."""
    with replacing(target) as stream:
        stream.write(data)


def disassemble(text: str | None, path: str | None, platform: str | None) -> Result:
    """The text that an object's file holds; of a text, what its own object says."""
    codec_error = import_module("visa_lsp.codec.errors").CodecError
    try:
        if text is None:
            if path is None:
                return {"ok": False, "error": "an object has to be a file"}
            data = Path(path).read_bytes()
        else:
            result = import_module("visa_lsp.sema.lower").assemble(text, platform)
            if result.module is None:
                found = import_module("visa_lsp.ide.analysis").Analysis.of(text, platform).diagnostics
                return {"ok": False, "error": "the text has errors", "diagnostics": findings(text, found)}
            data = import_module("visa_lsp.codec.encode").encode(result.module)
        module = import_module("visa_lsp.codec.decode").decode(data)
        chosen = import_module("visa_lsp.isa.platforms").platform_named(platform) if platform else None
        written = import_module("visa_lsp.program.text_form").module_text(module, chosen)
    except codec_error as error:
        return {"ok": False, "error": f"{path or 'the text'}: {error}"}
    except (OSError, ValueError) as error:
        return {"ok": False, "error": f"{path}: {getattr(error, 'strerror', None) or error}"}
    return {"ok": True, "text": written, "bytes": len(data)}


# ---- running ----


def run_apart(text: str | None, path: str | None, options: dict[str, Any], stop: Stop) -> Result:
    """Run a kernel in a process of its own; see ``cli.runserved``."""
    answer: Result = import_module("visa_lsp.cli.runserved").run_apart(text, path, options, stop)
    return answer


# ---- ze_info ----

_ZE_INFO: Final = (".zeinfo.yaml", ".ze_info", ".zeinfo")


def _beside(path: str | None) -> Path | None:
    """The ze_info file beside a text."""
    if path is None:
        return None
    candidates = (Path(path).with_suffix(ending) for ending in _ZE_INFO)
    return next((c for c in candidates if c.is_file()), None)


def ze_info(text: str, path: str | None, platform: str | None) -> Result:
    """The ze_info of a text: of the file beside it, else made from it."""
    found = _beside(path)
    try:
        if found is not None:
            return {"ok": True, "path": str(found), "text": found.read_text(encoding="utf-8"), "made": False}
        return {"ok": True, "path": None, "text": _made(text, platform), "made": True}
    except (OSError, ValueError) as error:
        return {"ok": False, "error": str(error)}


def _assembled(text: str, platform: str | None) -> tuple[Any, Any]:
    """The platform and the kernels of a text; ``ValueError`` where there are none."""
    platforms = import_module("visa_lsp.isa.platforms")
    chosen = platforms.platform_named(platform or platforms.DEFAULT_PLATFORM)
    if chosen is None:
        raise ValueError(f"unknown platform '{platform}'")
    result = import_module("visa_lsp.sema.lower").assemble(text, chosen.name)
    if result.module is None:
        raise ValueError("the text has errors")
    if not result.module.kernels:
        raise ValueError("there is no kernel")
    return chosen, result.module.kernels


def _made(text: str, platform: str | None) -> str:
    """A ze_info document for a text; ``ValueError`` where there can be none."""
    emitter = import_module("visa_lsp.zeinfo.emit")
    chosen, kernels = _assembled(text, platform)
    where = import_module("visa_lsp.zeinfo.layout").registers(chosen.grf_bytes, chosen.generation)
    try:
        return str(emitter.emit(kernels, where))
    except emitter.EmitError as error:
        raise ValueError(str(error)) from error


def _element_types(text: str, platform: str | None) -> dict[str, str]:
    types: dict[str, str] = {}
    for kernel in _assembled(text, platform)[1]:
        types.update(import_module("visa_lsp.cli.launchforms").element_types(kernel))
    return types


def launch_template(text: str, path: str | None, options: dict[str, Any]) -> Result:
    """A launch file to fill in: what ze_info, the file's or one made from the text, tells of each argument.

    Options: ``platform``, ``kernel`` (else the first), ``quick``: what is filled in already, as an object.
    """
    forms = import_module("visa_lsp.cli.launchforms")
    platform = options.get("platform")
    told = ze_info(text, path, platform)
    if not told["ok"]:
        return told
    quick = options.get("quick")
    try:
        kernel = str(options.get("kernel") or (quick or {}).get("kernel") or "")
        types = _element_types(text, platform) if told["made"] else None
        found = forms.template(told["text"], kernel, platform, types)
        if quick is not None:
            names = [a["name"] for a in found["arguments"]]
            found["text"] = forms.write(forms.completed(quick, found), names, named=found["named"]).text
    except forms.QuickError as error:
        words = str(error)
        return {"ok": False, "error": f"{told['path'] or 'ze_info'}{words}" if words.startswith(":") else words}
    return {"ok": True, "path": str(Path(path).with_suffix(".launch.yaml")) if path else None, **found}


# ---- words and settings ----


def explain(word: str, platform: str | None) -> Result:
    """The page of a word."""
    module = import_module("visa_lsp.cli.explain")
    text = module.explain_text(word, platform)
    if text is None:
        near = import_module("visa_lsp.checks.context").near(word, module.known_words())
        hint = f"; did you mean `{near}`?" if near else ""
        return {"ok": False, "error": f"nothing is known of `{word}`{hint}", "suggestion": near}
    return {"ok": True, "word": word, "markdown": text}


def file_rules(path: str, ignore: tuple[str, ...], extend: tuple[str, ...]) -> FileRules:
    """What the settings files of a folder, and the editor's on top, say of a file: as the check command does it."""
    rules_type = import_module("visa_lsp.lsp.services").FileRules
    settings = import_module("visa_lsp.cli.settings")
    suppress = import_module("visa_lsp.cli.suppress")
    problem, found = "", settings.Settings()
    try:
        if path:
            found = settings.Finder(import_module("visa_lsp.cli.rules").known_rules()).of_file(path)
    except (import_module("visa_lsp.cli.common").CliError, OSError, ValueError) as error:
        problem = str(error)
    selection = suppress.Selection(
        found.select, (*found.ignore, *ignore), found.per_file_ignores, (*found.extend_select, *extend)
    )
    plain = not (selection.select or selection.ignore or selection.per_file or selection.extend)
    if plain:
        return rules_type(found.platform or "", frozenset(), problem=problem)  # type: ignore[no-any-return]
    return rules_type(  # type: ignore[no-any-return]
        found.platform or "", selection.extra(), lambda rule: selection.shows(rule, path or "untitled"), problem
    )
