"""Runs for the language server in a separate process, so that they can be stopped and typing does not wait for a kernel.

``python -m visa_lsp.lsp.jobs.run_process`` is the process, ``perform`` its work; ``lsp.jobs.run_client`` starts it. Jobs
and answers are JSON. An error inside ends the process.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from visa_lsp.app.errors import NEEDS_NUMPY, UserError
from visa_lsp.companions import launches_beside
from visa_lsp.job_process import answer_jobs
from visa_lsp.lsp.jobs.command_answers import finder_of, findings, launch_template, stats
from visa_lsp.text import encode_text

if TYPE_CHECKING:
    from visa_lsp.app.launch.report import RunReport
    from visa_lsp.app.launch.unit import LaunchJob, OpenedLaunch
    from visa_lsp.lsp.jobs.model import Result

_HEAD: Final = 16
_MAX_READ_BYTES: Final = 500_000  # reading a longer text as code takes longer than is worth it
_UNTITLED: Final = "untitled.visaasm"
_MAX_PRINTED_CHARS: Final = 1_000_000


def main() -> NoReturn:
    """Read and answer jobs until the input ends."""
    answer_jobs(lambda job: json.dumps(perform(**json.loads(job))).encode())


def perform(text: str | None, path: str | None, options: dict[str, Any]) -> Result:
    """Run a program with its launch file; the answer has buffers, expectations and faults as values.

    If several launch files are beside the program and none is named, all run: the answer is that of the first that fails,
    else of the first, and ``launches`` has ``launch`` and ``ok`` of each.

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
    from visa_lsp.app.launch import runner
    from visa_lsp.app.launch.unit import LaunchJob, open_job

    source = Path(path) if path else None
    quick, words = options.get("quick"), options.get("launchText")
    beside = launches_beside(source) if source is not None and not options.get("launch") else []
    if len(beside) > 1 and not words and quick is None and "why" not in options:
        return _run_each(text, path, options, beside)
    launch = (
        Path(options["launch"])
        if options.get("launch")
        else source and (beside or [source.with_name(source.name.rpartition(".")[0] + ".launch.yaml")])[0]
    )
    origin: Result = {} if launch is None else {"launch": str(launch)}
    asked: Any = None
    if quick is not None:
        asked = {**({"kernel": options["kernel"]} if options.get("kernel") else {}), **quick}
    elif not words and "why" not in options:
        if launch is None:
            return {"ok": False, "error": "a document without a file needs a launch file: give `launch`"}
        if not launch.is_file():
            return {"ok": False, "error": f"no launch file '{launch}'", "launchMissing": True, **origin}
    # A folder that does not exist, because files of others in the folder of temporary files do not belong to a launch.
    missing = Path(tempfile.gettempdir()) / f"visa-lsp-{os.urandom(8).hex()}" / "untitled.launch.yaml"
    run = runner.RunOptions(
        source or (Path(_UNTITLED) if "why" in options and text is not None else None),
        options.get("platform"),
        options.get("engine", "auto"),
        options.get("checks", "all"),
        finder=finder_of(options.get("opened")),
        counts=options.get("profile") == "counts",
        profile=options.get("profile") == "lanes",
    )
    job = LaunchJob(
        str(source or _UNTITLED), launch or missing, run,
        text=None if asked is not None else words or None, data=None if text is None else encode_text(text),
    )  # fmt: skip
    opened: OpenedLaunch | None = None
    try:
        if "why" in options:
            return _explain_value(job, options["why"])
        opened = open_job(job, asked)
        origin["source"] = str(opened.options.path) if source or text is None else None
        if opened.proposed is not None:
            origin["launchText"] = opened.proposed.proposal.written.text
        report = opened.run()
    except runner.TextProblems as problems:
        mine = problems.path in (None, run.path, opened and opened.options.path)
        diagnostics = findings(problems.text, problems.diagnostics) if mine else []
        said = "\n".join(problems.lines[:3]) or "the text has errors"
        return {"ok": False, "error": said, "diagnostics": diagnostics, **origin}
    except (UserError, runner.LaunchError, OSError, ValueError) as error:
        return {"ok": False, "error": str(error), **origin}
    answer = _report(report, options.get("head", _HEAD), whole=options.get("data") == "base64")
    if options.get("data") == "base64":
        _add_rows(answer, opened)
    return {**answer, **origin}


def _run_each(text: str | None, path: str | None, options: dict[str, Any], launches: list[Path]) -> Result:
    """Run a program with each of its launch files."""
    answers = [perform(text, path, {**options, "launch": str(launch)}) for launch in launches]
    shown = next((answer for answer in answers if not answer["ok"]), answers[0])
    return {**shown, "launches": [{"launch": answer["launch"], "ok": answer["ok"]} for answer in answers]}


def _explain_value(job: LaunchJob, asked: dict[str, Any]) -> Result:
    """Return the answer of ``visa-lsp why --format json`` for a program."""
    from visa_lsp.app.compare_runs.programs import ComparedProgram
    from visa_lsp.app.launch import runner
    from visa_lsp.app.why.answer import SHOWN_NODES, WhyQuestion, answer
    from visa_lsp.app.why.report import as_json

    reference = None
    if against := asked.get("against"):
        other = Path(against["path"])
        data = encode_text(against["text"]) if "text" in against else runner.read_bytes(other)
        reference = ComparedProgram(str(other), other, data)
    question = WhyQuestion(asked.get("value"), asked.get("fault"), asked.get("most", SHOWN_NODES))
    return {"ok": True, **as_json(answer(question, job, reference))}


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


def _add_rows(answer: Result, opened: OpenedLaunch) -> None:
    """Add the length of a row (``row``) to each one-dimensional buffer that the kernel indexes by rows."""
    from visa_lsp.app.read.pseudo_code import read_data
    from visa_lsp.app.read.row_lengths import find_row_lengths

    if answer["instructions"] == 0 or len(opened.data) > _MAX_READ_BYTES:
        return
    name = str(opened.options.path or _UNTITLED)
    try:
        program = read_data(name, opened.data, answer["platform"], finder=opened.options.finder, say=lambda _line: None)
    except UserError:  # the run has its result without it
        return
    for kernel in program.kernels if program is not None else ():
        if kernel.is_kernel and kernel.name == answer["kernel"]:
            flat = {buffer["name"]: buffer for buffer in answer["buffers"] if len(buffer["shape"]) == 1}
            numbers = {v["name"]: v["values"][0] for v in answer["values"] if len(v["values"]) == 1}
            values = {name: value for name, value in numbers.items() if isinstance(value, int)}
            sizes = {name: buffer["shape"][0] for name, buffer in flat.items()}
            for buffer, row in find_row_lengths(kernel, values, sizes).items():
                flat[buffer]["row"] = row


def _number(value: Any) -> Any:
    """Return a value of an array with the digits of its type; NaN and infinities become words."""
    if not isinstance(value.item(), float):
        return value.item()
    return float(str(value)) if math.isfinite(value) else str(value)


if __name__ == "__main__":
    main()
