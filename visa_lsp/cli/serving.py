"""What the language server lets the command line's rooms do: assemble, disassemble, run, ze_info, explain, settings.

The functions of ``lsp.services.Services``: plain values in, JSON objects out. Rooms are loaded when first used, so that
the server starts without NumPy. Invariant: what is wrong with a user's text or file is an answer, never an exception.
"""

from __future__ import annotations

import base64
import math
import tempfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.cli.files import replacing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.cli.launchrun import RunReport
    from visa_lsp.diagnostics import Diagnostic
    from visa_lsp.lsp.services import FileRules, Result

_HEAD: Final = 16
_MOST_DATA: Final = 64 << 20


def services() -> Any:
    """The services of this program."""
    return import_module("visa_lsp.lsp.services").Services(
        assemble_text, run_text, disassemble, ze_info, launch_template, explain, file_rules
    )


def _findings(text: str, diagnostics: Sequence[Diagnostic]) -> list[dict[str, Any]]:
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
    answer: Result = {"ok": False, "path": None, "bytes": 0, "diagnostics": _findings(text, result.diagnostics)}
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
                return {"ok": False, "error": "the text has errors", "diagnostics": _findings(text, found)}
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


def run_text(text: str, path: str | None, options: dict[str, str]) -> Result:
    """Run a text as its launch file says; the answer holds buffers, expectations and faults as values.

    Options: ``launch`` (a path), ``launchText`` (the text of a launch file instead), ``platform``, ``engine``,
    ``checks``, ``data`` (``base64``: whole buffers).
    """
    try:
        import_module("numpy")
    except ModuleNotFoundError:
        return {"ok": False, "error": "running kernels needs NumPy: pip install 'visa-lsp[run]'"}
    runner = import_module("visa_lsp.cli.launchrun")
    files = import_module("visa_lsp.cli.launchfile")
    source = Path(path) if path else None
    launch = Path(options["launch"]) if options.get("launch") else None
    if launch is None and source is not None:
        launch = source.with_name(source.name.rpartition(".")[0] + ".launch.yaml")
    try:
        if options.get("launchText"):
            launch = launch or Path(tempfile.gettempdir()) / "untitled.launch.yaml"
            read = files.parse_launch(options["launchText"], launch)
        elif launch is None:
            return {"ok": False, "error": "a document without a file needs a launch file: give `launch`"}
        elif not launch.is_file():
            return {"ok": False, "error": f"there is no launch file '{launch}'", "launchMissing": True}
        else:
            read = files.read_launch_file(launch)
        engine, checks = options.get("engine", "auto"), options.get("checks", "all")
        report = runner.run_text(
            text, read, path=source or read.file, platform=options.get("platform"), engine=engine, checks=checks
        )
    except runner.TextProblems as problems:
        found = _findings(text, problems.diagnostics) if problems.path in (None, source, read.file) else []
        return {"ok": False, "error": "\n".join(problems.lines[:3]) or "the text has errors", "diagnostics": found}
    except (runner.LaunchError, OSError, ValueError) as error:
        return {"ok": False, "error": str(error), "launch": str(launch)}
    return {"launch": str(launch), **_report(report, whole=options.get("data") == "base64")}


def _report(report: RunReport, *, whole: bool = False) -> Result:
    """A run as JSON values."""
    return {
        "ok": report.ok,
        "kernel": report.kernel,
        "platform": report.platform,
        "engine": report.engine,
        "buffers": [
            {
                "arg": b.arg,
                "name": b.name,
                "dtype": b.array.dtype.name,
                "shape": list(b.array.shape),
                "head": [_plain(v, b.array.dtype.name) for v in b.array.reshape(-1)[:_HEAD].tolist()],
                **(
                    {"data": base64.b64encode(b.array.tobytes()).decode()}
                    if whole and b.array.nbytes <= _MOST_DATA
                    else {}
                ),
            }
            for b in report.buffers
        ],
        "expectations": [{"arg": e.arg, "ok": e.ok, "message": e.message} for e in report.expectations],
        "faults": [
            {
                "kind": f.kind.value,
                "message": f.message,
                "text": str(f),
                "kernel": f.kernel,
                "group": list(f.group),
                "thread": f.thread,
                "lane": f.lane,
                "instruction": f.instruction,
                "line": f.line + 1 if f.line >= 0 else None,
            }
            for f in report.faults
        ],
        "threads": report.threads,
        "groups": report.groups,
        "instructions": report.instructions,
        "notes": list(report.notes),
    }


def _plain(value: Any, dtype: str) -> Any:
    """A number that JSON has: singles by the digits that matter, what is not finite by its name."""
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return str(value)
    return float(f"{value:.9g}") if dtype == "float32" else value


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


def _made(text: str, platform: str | None) -> str:
    """A ze_info document for a text; ``ValueError`` where there can be none."""
    platforms = import_module("visa_lsp.isa.platforms")
    emitter = import_module("visa_lsp.zeinfo.emit")
    chosen = platforms.platform_named(platform or platforms.DEFAULT_PLATFORM)
    result = import_module("visa_lsp.sema.lower").assemble(text, chosen.name)
    if result.module is None:
        raise ValueError("the text has errors")
    if not result.module.kernels:
        raise ValueError("there is no kernel")
    where = import_module("visa_lsp.zeinfo.layout").registers(chosen.grf_bytes, chosen.generation)
    try:
        return str(emitter.emit(result.module.kernels, where))
    except emitter.EmitError as error:
        raise ValueError(str(error)) from error


def launch_template(text: str, path: str | None, platform: str | None) -> Result:
    """A launch file to fill in: what ze_info, the file's or one made from the text, tells of each argument."""
    reader = import_module("visa_lsp.zeinfo.read")
    told = ze_info(text, path, platform)
    if not told["ok"]:
        return told
    try:
        kernels = reader.read(told["text"])
    except reader.ZeInfoError as error:
        return {"ok": False, "error": f"{told['path'] or 'ze_info'}:{error}"}
    if not kernels:
        return {"ok": False, "error": "ze_info describes no kernel"}
    info = kernels[0]
    required = tuple(info.env.required_work_group_size)
    local = required if any(required) else (max(1, info.env.simd_size), 1, 1)
    arguments = []
    for index in range(info.argument_count):
        entries = [p for p in info.payload if p.arg_index == index]
        kind, default = _argument(entries, info, index)
        arguments.append({"index": index, "name": info.argument_name(index), "kind": kind, "default": default})
    lines = [f"kernel: {info.name}", "groups: [1, 1, 1]", f"local_size: [{', '.join(map(str, local))}]"]
    if platform:
        lines.insert(1, f"platform: {platform}")
    if arguments:
        lines.append("args:")
        lines += [f"  - {a['default']}" + (f"  # {a['name']}" if a["name"] else "") for a in arguments]
    target = str(Path(path).with_suffix(".launch.yaml")) if path else None
    return {
        "ok": True, "path": target, "text": "\n".join(lines) + "\n", "kernel": info.name, "arguments": arguments,
        "kernels": [k.name for k in kernels], "localSize": list(local), "simdSize": info.env.simd_size,
    }  # fmt: skip


_SCALARS: Final = {
    "char": "int8", "uchar": "uint8", "short": "int16", "ushort": "uint16", "int": "int32", "uint": "uint32",
    "long": "int64", "ulong": "uint64", "float": "float32", "double": "float64", "half": "float16",
}  # fmt: skip
_BY_SIZE: Final = {1: "uint8", 2: "uint16", 4: "int32", 8: "int64"}


def _argument(entries: Sequence[Any], info: Any, index: int) -> tuple[str, str]:
    """Kind and default text of an argument."""
    known = next((a for a in info.arguments if a.index == index), None)
    type_name = (known.type_name if known else "").split(";")[0]
    element = type_name.rstrip("*").rstrip("0123456789").strip()
    dtype = _SCALARS.get(element, "")
    pointer = next((e for e in entries if e.arg_type in ("arg_bypointer", "buffer_address", "buffer_offset")), None)
    if pointer is not None:
        if pointer.addrspace == "local":
            return "local", "{local: 1024}"
        if pointer.addrspace == "image":
            return "image", "{image: {dtype: uint8, shape: [64, 64, 4], init: zeros}}"
        if pointer.addrspace == "sampler":
            return "sampler", "{sampler: {address: clamp_to_edge, filter: nearest, normalized: false}}"
        return "buffer", f"{{buffer: {{dtype: {dtype or 'float32'}, shape: [1024], init: arange}}}}"
    size = max((e.offset + e.size for e in entries), default=4) - min((e.offset for e in entries), default=0)
    chosen = dtype or _BY_SIZE.get(size, "int32")
    width = {"8": 1, "6": 2, "2": 4, "4": 8}.get(chosen[-1], 4)
    if size > width and size % width == 0:
        return "value", f"{{value: {{values: [{', '.join(['1'] * (size // width))}], dtype: {chosen}}}}}"
    return "value", f"{{value: 1, dtype: {chosen}}}"


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
