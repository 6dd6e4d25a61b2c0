"""Tools for runs on the simulator: run, why, launch_template."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.app.errors import NEEDS_NUMPY, UserError
from visa_lsp.app.inputs import foreign
from visa_lsp.app.suggestions import did_you_mean
from visa_lsp.mcp.given_programs import (
    GivenProgram,
    chosen_platform,
    lines_of_page,
    nonempty,
    program_from,
    text_errors,
    with_ids,
)
from visa_lsp.mcp.pages import ToolAnswer, item_ids

if TYPE_CHECKING:
    from visa_lsp.app.launch.options import RunOptions
    from visa_lsp.app.launch.report import RunReport
    from visa_lsp.app.launch.unit import LaunchJob
    from visa_lsp.mcp import arguments
    from visa_lsp.mcp.places import Roots
    from visa_lsp.sim.faults import Fault

_HEAD_VALUES: Final = 8
_MAX_CAUSES: Final = 200


def run(args: arguments.RunArguments, roots: Roots) -> ToolAnswer:
    """Run a program on the simulator. Raises UserError for arguments and files that cannot be used."""
    from visa_lsp.app.launch.unit import perform

    program = program_from(args.path, args.text, roots, args.edits)
    job = _launch_job(program, args.launch, args.platform, roots)
    if job.options.path is not None:
        job = replace(job, text=args.launch_text or None)
    elif args.text or args.edits:
        job = replace(job, text=program.text)
    outcome = perform(replace(job, options=replace(job.options, budget=args.budget or None)))
    if outcome.report is None:
        raise UserError(outcome.error)
    head = _run_head(outcome.report)
    if not args.buffer:
        return ToolAnswer(head, "faults", with_ids(_faults(outcome.report), args.ids))
    from visa_lsp.app.launch.expectation_words import finite, numbers

    buffer = next((b for b in outcome.report.buffers if args.buffer in (str(b.arg), b.name)), None)
    if buffer is None:
        names = [str(b.name or b.arg) for b in outcome.report.buffers]
        raise UserError(f"no buffer {args.buffer!r}{did_you_mean(args.buffer, names)} (there: {', '.join(names)})")
    keys = ("ok", "verdict", "kernel", "platform", "engine", "groups", "threads", "instructions")
    short = {key: head[key] for key in keys}
    return ToolAnswer(short, "values", [finite(value) for value in numbers(buffer.array)])


def _launch_job(program: GivenProgram, launch: str, platform: str, roots: Roots) -> LaunchJob:
    """Return the launch of a program, or of a launch file. Raises UserError as ``_run_options``, and without the file."""
    from visa_lsp.app.launch.unit import LAUNCHES, LaunchJob

    options = _run_options(program, platform)
    if program.place.suffix in LAUNCHES:
        return LaunchJob(program.name, program.place, replace(options, path=None))
    path = Path(roots.path(launch)) if launch else program.place.with_suffix(".launch.yaml")
    if launch and not path.is_file():
        raise UserError(f"{launch}: no such file")
    return LaunchJob(program.name, path, options, data=program.data)


def _run_options(program: GivenProgram, platform: str) -> RunOptions:
    """Return the options of a launch. Raises UserError without NumPy and for an unknown platform."""
    from importlib.util import find_spec

    from visa_lsp.app.launch.options import RunOptions

    if find_spec("numpy") is None:
        raise UserError(NEEDS_NUMPY)
    chosen = chosen_platform(platform)
    return RunOptions(program.place, chosen.name if chosen is not None else None)


def _run_head(report: RunReport) -> dict[str, Any]:
    from visa_lsp.app.launch.expectation_words import finite, numbers
    from visa_lsp.app.launch.printing import verdict

    failed = [{"arg": e.arg, "message": e.message} for e in report.expectations if not e.ok]
    failed += [
        {"arg": kind, "message": "no such fault was found"}
        for kind, is_found in report.expected_faults.items()
        if not is_found
    ]
    buffers = [
        {
            "arg": buffer.arg, **nonempty({"name": buffer.name}), "dtype": buffer.array.dtype.name,
            "shape": list(buffer.array.shape), "changed": buffer.changed,
            "head": [finite(value) for value in numbers(buffer.array, _HEAD_VALUES)],
        }
        for buffer in report.buffers
    ]  # fmt: skip
    details = {
        "expectations": len(report.expectations) + len(report.expected_faults), "failed": failed, "buffers": buffers,
        "printed": report.printed, "notes": list(report.notes), "assumed": list(report.assumed),
    }  # fmt: skip
    return {
        "ok": report.ok,
        "verdict": verdict(report),
        "kernel": report.kernel,
        "platform": report.platform,
        "engine": report.engine,
        "groups": report.result.groups,
        "threads": report.result.threads,
        "instructions": report.instructions,
    } | nonempty(details)


def _faults(report: RunReport) -> list[dict[str, Any]]:
    """Return faults and notes as values, each with the lines of both parties."""
    from visa_lsp.sim.faults import items_text

    faults = (*report.faults, *report.findings)
    lines = [report.excerpt(fault)[1] for fault in faults]
    ids = item_ids([(f.kind.value, (f.kernel, line, f.group, f.thread)) for f, line in zip(faults, lines, strict=True)])
    values = []
    for name, fault, line in zip(ids, faults, lines, strict=True):
        details = {
            "excerpt": line, "work_items": items_text(fault.items), "other": fault.other,
            "other_excerpt": report.other_excerpt(fault)[1], "other_work_items": items_text(fault.other_items),
            "source": f"{fault.source[0]}:{fault.source[1]}" if fault.source else "",
        }  # fmt: skip
        values.append(
            {
                "id": name, "kind": fault.kind.value, "severity": _severity(report, fault),
                "message": fault.message, "kernel": fault.kernel, "group": list(fault.group), "thread": fault.thread,
                **({} if fault.lane is None else {"lane": fault.lane}),
                **({} if fault.line < 0 else {"line": fault.line + 1}),
            }
            | nonempty(details)
        )  # fmt: skip
    return values


def _severity(report: RunReport, fault: Fault) -> str:
    """Return whether a fault fails the run, is expected by the launch file, or is a note."""
    if fault in report.faults:
        return "fault"
    return "expected" if fault.kind.value in report.expected_faults else "note"


def why(args: arguments.WhyArguments, roots: Roots) -> ToolAnswer:
    """Explain a value or fault of a run. Raises UserError for arguments and files that cannot be used."""
    from visa_lsp.app.compare_runs.programs import program_at
    from visa_lsp.app.launch.body_source import TextProblems
    from visa_lsp.app.why.answer import WhyQuestion, answer
    from visa_lsp.app.why.report import as_json
    from visa_lsp.sim.launch.config import LaunchError

    job = _launch_job(program_from(args.path, "", roots), args.launch, args.platform, roots)
    question = WhyQuestion(args.value or None, args.fault or None, _MAX_CAUSES)
    try:
        reference = program_at(roots.path(args.against)) if args.against else None
        values = as_json(answer(question, job, reference))
    except TextProblems as problems:
        raise UserError(text_errors(problems.lines)) from None
    except (LaunchError, OSError, ValueError) as error:
        raise UserError(str(error)) from None
    nodes = values.pop("nodes")
    for node in nodes:
        node["path"] = node["path"] and roots.display_path(node["path"])
    return ToolAnswer(values, "nodes", nodes)


def launch_template(args: arguments.TemplateArguments, roots: Roots) -> ToolAnswer:
    """Return a launch file for a kernel, and write it if an output is given.

    Raises UserError for arguments and files that cannot be used.
    """
    from visa_lsp.app.launch.body_source import TextProblems
    from visa_lsp.app.launch.init import launch_text, write_launch
    from visa_lsp.app.launch.proposal import propose_run
    from visa_lsp.sim.launch.config import LaunchError

    program = program_from(args.path, args.text, roots, args.edits)
    if reason := foreign(program.name, program.data):
        raise UserError(f"{program.name}: {reason}")
    options = _run_options(program, args.platform)
    target = (
        Path(roots.output_path(args.output, overwrite=args.overwrite))
        if args.output
        else program.place.with_suffix(".launch.yaml")
    )
    given = {**args.given, **({"kernel": args.kernel} if args.kernel else {})}
    try:
        proposal = propose_run(program.data, options, target, given).proposal
        written = {}
        if args.output:
            file = (
                ""
                if target.with_name(program.place.name) == program.place
                else os.path.relpath(program.place, target.parent)
            )
            written["written"] = [roots.display_path(path) for path in write_launch(target, proposal, None, file)]
    except TextProblems as problems:
        raise UserError(text_errors(problems.lines)) from None
    except (LaunchError, OSError, ValueError) as error:
        raise UserError(str(error)) from None
    return ToolAnswer(written, "text", lines_of_page(launch_text(proposal)), is_text=True)
