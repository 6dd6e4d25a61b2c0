"""Tools for texts and words: check, explain, search_instructions, read, assemble, disassemble."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.app.errors import UserError
from visa_lsp.app.inputs import SourceText, foreign
from visa_lsp.app.suggestions import did_you_mean
from visa_lsp.mcp.given_programs import (
    GivenProgram,
    chosen_platform,
    lines_of_page,
    modules_of,
    nonempty,
    program_from,
    text_errors,
    with_ids,
    write_output,
)
from visa_lsp.mcp.pages import ToolAnswer, item_ids
from visa_lsp.text import encode_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.app.check.report import ReportedFinding
    from visa_lsp.mcp import arguments
    from visa_lsp.mcp.places import Roots

_SEVERITIES: Final = ("error", "warning", "information", "hint")


def check(args: arguments.CheckArguments, roots: Roots) -> ToolAnswer:
    """Check a text, a launch file or a folder of texts.

    Raises UserError for arguments and files that cannot be used.
    """
    from visa_lsp.app.check.paths import collect
    from visa_lsp.app.check.runner import check_files
    from visa_lsp.app.check.suppress import Selection
    from visa_lsp.app.check.verdict import Task
    from visa_lsp.app.output_files import write_file
    from visa_lsp.app.rule_registry import list_rules
    from visa_lsp.app.settings import Finder

    given: GivenProgram | None = None
    if args.text or args.edits or not args.path:
        given = program_from(args.path, args.text, roots, args.edits)
    if (args.write or args.fix) and not args.path:
        raise UserError(f"`{'fix' if args.fix else 'write'}` writes into a file: give its `path`")
    if args.write and given is not None:
        write_file(str(given.place), given.data)
        given = None
    if args.fix and given is not None:
        raise UserError("`fix` writes into the file: with `text` or `edits` give `write` too")
    platform = chosen_platform(args.platform)
    finder = Finder(list_rules)

    def task(path: str, source: SourceText | None = None) -> Task:
        own = finder.of_file(path)
        selection = Selection(own.select, own.ignore, own.per_file_ignores, own.extend_select)
        name = platform.name if platform is not None else own.platform
        return Task(path, path, name, selection, fix=args.fix, write=args.fix, source=source, named=False)

    if given is not None:
        tasks = [task(str(given.place), SourceText(given.name, given.text))]
    else:
        tasks = [task(path) for path in collect([roots.path(args.path)], finder).files]
    results = check_files(tasks, jobs=1)
    unreadable = [result.error for result in results if result.error]
    if unreadable and len(results) == 1:
        raise UserError(unreadable[0])
    values = _findings([finding for result in results for finding in result.findings])
    if len(results) > 1:
        paths = [roots.display_path(finding.path) for result in results for finding in result.findings]
        values = [{"path": path, **value} for path, value in zip(paths, values, strict=True)]
    values.sort(key=lambda value: _SEVERITIES.index(value["severity"]))
    errors, warnings, *others = (sum(value["severity"] == word for value in values) for word in _SEVERITIES)
    head = {"ok": not errors and not unreadable, "errors": errors, "warnings": warnings, "others": sum(others)}
    if args.fix:
        head["fixed"] = sum(result.fixed for result in results)
    if len(results) != 1:
        head["files"] = len(results)
    return ToolAnswer(head | nonempty({"unreadable": unreadable}), "findings", with_ids(values, args.ids))


def _findings(findings: Sequence[ReportedFinding]) -> list[dict[str, Any]]:
    """Return findings as values, without the texts of related places."""
    from visa_lsp.app.check.formats.data import finding_object

    keys = ("line", "column", "end_column", "severity", "code", "name", "message")
    ids = item_ids([(f.code, (f.path, f.fingerprint)) for f in findings])
    values = []
    for name, finding in zip(ids, findings, strict=True):
        finding_values = finding_object(finding)
        values.append({
            "id": name, **{key: finding_values[key] for key in keys}, "excerpt": finding.excerpt.strip(),
            **nonempty({"fixes": finding_values["fixes"]}),
        })  # fmt: skip
    return values


def explain(args: arguments.ExplainArguments, _roots: Roots) -> ToolAnswer:
    """Explain a word. Raises UserError for an unknown one."""
    from visa_lsp.app.explain import explain_text
    from visa_lsp.app.explained_words import nearest_word

    chosen_platform(args.platform)
    text = explain_text(args.word, args.platform or None)
    if text is None:
        near = nearest_word(args.word)
        raise UserError(f"unknown word {args.word!r}" + (f"; did you mean {near!r}?" if near else ""))
    return ToolAnswer({}, "text", lines_of_page(text), is_text=True)


def search_instructions(args: arguments.SearchArguments, _roots: Roots) -> ToolAnswer:
    """Find instructions by words."""
    from visa_lsp.app.search import search_instructions as search

    platform = chosen_platform(args.platform)
    rows = search(args.query, platform.name if platform is not None else None)
    ids = item_ids([(row.mnemonic, row.key) for row in rows])
    items = [
        {"id": name, "syntax": row.syntax, "summary": row.summary, "family": row.family}
        for name, row in zip(ids, rows, strict=True)
    ]
    return ToolAnswer({}, "instructions", items)


def read(args: arguments.ReadArguments, roots: Roots) -> ToolAnswer:
    """Show kernels as pseudo-code. Raises UserError for arguments and files that cannot be used."""
    from visa_lsp.app.read.pseudo_code import chosen, read_data

    program, platform = program_from(args.path, args.text, roots, args.edits), chosen_platform(args.platform)
    if args.visa:
        every = list(enumerate(lines_of_page(program.text), 1))
        part = every[max(args.first_line - 1, 0) : max(args.first_line, args.last_line) or None]
        return ToolAnswer({"kernels": []}, "text", [f"{number}| {line.strip()}" for number, line in part], is_text=True)
    name, said = platform.name if platform else None, list[str]()
    readings = [read_data(str(program.place), data, name, say=said.append) for data in modules_of(program)]
    files = [file for file in readings if file is not None]
    if len(files) < len(readings):
        raise UserError(text_errors(said))
    last = args.last_line or args.first_line
    if len(files) == 1 or not args.kernel:
        files = [chosen(file, args.kernel or None, (args.first_line or 1, last) if last else None) for file in files]
    kernels = [kernel for file in files for kernel in file.kernels if args.kernel in ("", kernel.name)]
    if not kernels:
        names = [kernel.name for file in files for kernel in file.kernels]
        raise UserError(f"no kernel or function {args.kernel!r}{did_you_mean(args.kernel, names)}")
    lines = [_read_line(line.visa, line.text) for kernel in kernels for line in kernel.lines]
    return ToolAnswer({"kernels": [kernel.name for kernel in kernels]}, "text", lines, is_text=True)


def _read_line(visa: Sequence[int], text: str) -> str:
    where = "" if not visa else str(visa[0]) if visa[0] == visa[-1] else f"{visa[0]}-{visa[-1]}"
    return f"{where}| {text}"


def assemble(args: arguments.AssembleArguments, roots: Roots) -> ToolAnswer:
    """Assemble a text, and write the object if an output is given."""
    from visa_lsp.app.assemble import assemble_text
    from visa_lsp.app.check.report import findings_of

    program, platform = program_from(args.path, args.text, roots, args.edits), chosen_platform(args.platform)
    assembled = assemble_text(program.text, platform.name if platform is not None else None)
    findings = _findings(findings_of(str(program.place), program.text, assembled.diagnostics))
    findings.sort(key=lambda value: _SEVERITIES.index(value["severity"]))
    if assembled.data is None or assembled.module is None:
        return ToolAnswer({"ok": False}, "findings", findings)
    head: dict[str, Any] = {
        "ok": True, "bytes": len(assembled.data), "sha256": hashlib.sha256(assembled.data).hexdigest(),
        "kernels": [kernel.name for kernel in assembled.module.kernels],
    }  # fmt: skip
    if args.output:
        head["written"] = write_output(args.output, assembled.data, program, roots, overwrite=args.overwrite)
    return ToolAnswer(head, "findings", findings)


def disassemble(args: arguments.DisassembleArguments, roots: Roots) -> ToolAnswer:
    """Disassemble an object or a zebin, and write the text if an output is given.

    Raises UserError for arguments and files that cannot be used.
    """
    from visa_lsp.app.zebins import visa_text, zebin_of, zebin_text
    from visa_lsp.zeinfo.zebin import is_elf

    program, platform = program_from(args.path, "", roots), chosen_platform(args.platform)
    if is_elf(program.data):
        zebin = zebin_of(program.name, program.data)
        text = zebin_text(program.name, zebin, platform, comments=True, summary=False)
    else:
        if not program.is_object:
            reason = foreign(program.name, program.data) or "expected an object, found a text"
            raise UserError(f"{program.name}: {reason}")
        text = visa_text(program.name, program.data, platform, comments=True)
    head: dict[str, Any] = {}
    if args.output:
        head["written"] = [write_output(args.output, encode_text(text), program, roots, overwrite=args.overwrite)]
    return ToolAnswer(head, "text", lines_of_page(text), is_text=True)
