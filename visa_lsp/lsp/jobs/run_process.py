"""Runs for the language server in a separate process, so that they can be stopped and typing does not wait for a kernel.

``python -m visa_lsp.lsp.jobs.run_process`` is the process, ``perform`` its work; ``lsp.jobs.run_client`` starts it. Jobs
and answers are JSON. An error inside ends the process.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from visa_lsp.app.errors import NEEDS_NUMPY
from visa_lsp.job_process import answer_jobs
from visa_lsp.lsp.jobs.answers import finder_of, findings, launch_template, stats

if TYPE_CHECKING:
    from visa_lsp.app.launch.file import LaunchFile
    from visa_lsp.app.launch.proposal import Proposal
    from visa_lsp.app.launch.report import RunReport
    from visa_lsp.lsp.jobs.model import Result

_HEAD: Final = 16
_MAX_PRINTED_CHARS: Final = 1_000_000


def main() -> NoReturn:
    """Read and answer jobs until the input ends."""
    answer_jobs(_answer)


def _answer(job: bytes) -> bytes:
    return json.dumps(perform(**json.loads(job))).encode()


def perform(text: str | None, path: str | None, options: dict[str, Any]) -> Result:
    """Run a program with its launch file; the answer has buffers, expectations and faults as values.

    Options: ``launch`` (a path), ``launchText`` (the text of a launch file instead), ``quick`` (a launch file as an object,
    completed from ze_info), ``template`` (options of ``launch_template``, which is called instead), ``stats`` (options
    of ``stats``, likewise), ``profile`` (``counts`` or ``lanes``), ``why`` (``value``, ``fault``, ``against`` as ``text`` or
    ``path``: explains instead of running), ``platform``, ``engine``, ``checks``, ``data`` (``base64``: whole buffers), ``head``
    (number of values to report of a buffer), ``opened`` (texts by path). Without a text the program is the object
    ``path``; without both it is the one that the launch file names.
    """
    if "template" in options:
        return launch_template(text or "", path, options["template"], tries=True)
    if "stats" in options:
        return stats(text, path, options["stats"])
    if find_spec("numpy") is None:
        return {"ok": False, "error": NEEDS_NUMPY}
    if "why" in options:
        return _explain_value(text, Path(path) if path else None, options)
    from visa_lsp.app.launch import runner
    from visa_lsp.app.launch.proposal import proposed

    source = Path(path) if path else None
    proposal: Proposal | None = None
    more: Result = {}
    launch = _launch_path(source, options)
    if launch is not None:
        more["launch"] = str(launch)
    if launch is None and not (options.get("launchText") or options.get("quick") is not None):
        return {"ok": False, "error": "a document without a file needs a launch file: give `launch`"}
    read: LaunchFile | None = None
    try:
        # A folder that does not exist, because files of others in the temporary folder do not belong to the launch.
        launch = launch or Path(tempfile.gettempdir()) / f"visa-lsp-{os.urandom(8).hex()}" / "untitled.launch.yaml"
        run = runner.RunOptions(
            source,
            options.get("platform"),
            options.get("engine", "auto"),
            options.get("checks", "all"),
            finder=finder_of(options.get("opened")),
            counts=options.get("profile") == "counts",
            profile=options.get("profile") == "lanes",
        )
        more["source"] = str(source) if source else None
        if options.get("quick") is not None:
            program = text if text is not None else runner.read_bytes(source or launch)
            asked = {"kernel": options["kernel"]} if options.get("kernel") else {}
            made = proposed(program, run, launch, {**asked, **options["quick"]})
            proposal = made.proposal
            more["launchText"] = proposal.written.text
            read = proposal.read(launch)
            report = runner.run_module(made.module, read, run, made.notes, made.sources)
            report = report.with_assumed(proposal.assumed)
        else:
            read = _read(launch, options)
            if text is None and source is None:
                text, source = _program(read, options)
                run = replace(run, path=source)
                more["source"] = str(source)
            if text is None:
                assert source is not None  # a program is a text or a file
                report = runner.run_object(runner.read_bytes(source), read, run)
            else:
                report = runner.run_text(text, read, replace(run, path=source or read.file))
    except _LaunchMissing as error:
        return {"ok": False, "error": str(error), "launchMissing": True, **more}
    except runner.TextProblems as problems:
        mine = problems.path in (None, source, read.file if read else None)
        found = findings(text, problems.diagnostics) if text is not None and mine else []
        words = "\n".join(problems.lines[:3]) or "the text has errors"
        return {"ok": False, "error": words, "diagnostics": found, **more}
    except (runner.LaunchError, OSError, ValueError) as error:
        words = proposal.written.name_item(str(error), str(launch)) if proposal is not None else str(error)
        return {"ok": False, "error": words, **more}
    return {**_report(report, options.get("head", _HEAD), whole=options.get("data") == "base64"), **more}


def _explain_value(text: str | None, source: Path | None, options: dict[str, Any]) -> Result:
    """Return the answer of ``visa-lsp why --format json`` for a program."""
    from visa_lsp.app.compare_runs.programs import ComparedProgram
    from visa_lsp.app.errors import UserError
    from visa_lsp.app.launch import runner
    from visa_lsp.app.why.answer import SHOWN_NODES, WhyQuestion, explain, generate_launch
    from visa_lsp.app.why.report import as_json

    asked = options["why"]
    try:
        launch_path = _launch_path(source, options) or Path("untitled.launch.yaml")
        read = _read(launch_path, options) if options.get("launchText") or launch_path.is_file() else None
        if text is None and source is None and read is not None:
            text, source = _program(read, options)
        path = source or Path("untitled.visaasm")
        program = ComparedProgram(str(path), path, runner.read_bytes(path) if text is None else text.encode())
        platform = options.get("platform")
        question = WhyQuestion(
            str(path), asked.get("value"), asked.get("fault"), platform=platform, most=asked.get("most", SHOWN_NODES)
        )
        reference = None
        if against := asked.get("against"):
            other = Path(against["path"])
            data = against["text"].encode() if "text" in against else runner.read_bytes(other)
            reference = ComparedProgram(str(other), other, data)
        launch = read or generate_launch(program, launch_path, platform)
        return {"ok": True, **as_json(explain(question, program, launch, reference))}
    except runner.TextProblems as problems:
        return {"ok": False, "error": "\n".join(problems.lines[:3]) or "the text has errors"}
    except (UserError, runner.LaunchError, OSError, ValueError) as error:
        return {"ok": False, "error": str(error)}


class _LaunchMissing(ValueError):  # noqa: N818 - an answer in words
    """The error that a launch file is missing."""


def _launch_path(source: Path | None, options: dict[str, Any]) -> Path | None:
    if options.get("launch"):
        return Path(options["launch"])
    return source.with_name(source.name.rpartition(".")[0] + ".launch.yaml") if source is not None else None


def _read(launch: Path, options: dict[str, Any]) -> LaunchFile:
    from visa_lsp.app.launch.file import parse_launch, read_launch_file

    text = options.get("launchText")
    if not text:
        if not launch.is_file():
            raise _LaunchMissing(f"no launch file '{launch}'")
        return read_launch_file(launch)
    return parse_launch(text, launch)


def _program(read: LaunchFile, options: dict[str, Any]) -> tuple[str | None, Path]:
    """Return the text of the program that a launch file names, from the editor or its file; None for an object."""
    if read.file is None:
        raise ValueError(f"{read.path}:1:1: no program; name it with file: NAME.visaasm")
    opened = options.get("opened") or {}
    if str(read.file) in opened:
        return opened[str(read.file)], read.file
    from visa_lsp.app.launch.program import read_bytes, text_of

    data = read_bytes(read.file)
    if data[:4] == b"CISA" or read.file.suffix == ".isa":
        return None, read.file
    return text_of(data, read.file), read.file


# ---- the answer ----


def _report(report: RunReport, head: int, *, whole: bool = False) -> Result:
    """Return a run as in ``visa-lsp run --format json``, with work items in words and, on request, whole buffers."""
    from visa_lsp.app.launch.printing import report_values
    from visa_lsp.sim.faults import items_text

    values = report_values(report, head, whole=whole)
    faults = (*report.faults, *report.findings)
    for fault, said in zip(faults, (*values["faults"], *values["findings"]), strict=True):
        said |= {"work_items": items_text(fault.items), "other_work_items": items_text(fault.other_items)}
    values["printed"] = values["printed"][:_MAX_PRINTED_CHARS]
    values["values"] = [
        {"arg": v.arg, "name": v.name, "values": [_number(n) for n in v.array.ravel()[:_HEAD]]} for v in report.values
    ]
    return values


def _number(value: Any) -> Any:
    """Return a value of an array with the digits of its type; NaN and infinities become words."""
    if not isinstance(value.item(), float):
        return value.item()
    return float(str(value)) if math.isfinite(value) else str(value)


if __name__ == "__main__":
    main()
