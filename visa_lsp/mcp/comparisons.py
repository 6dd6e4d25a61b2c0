"""Tools that compare programs, count their contents, and show their machine code: diff, stats, gen."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.app.errors import UserError
from visa_lsp.app.suggestions import did_you_mean
from visa_lsp.mcp.given_programs import chosen_platform, nonempty, program_from, text_errors
from visa_lsp.mcp.pages import ToolAnswer, item_ids

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from visa_lsp.compare.model import KernelDiff
    from visa_lsp.mcp import arguments
    from visa_lsp.mcp.places import Roots

_GEN_SECONDS: Final = 60.0


def diff(args: arguments.DiffArguments, roots: Roots) -> ToolAnswer:
    """Compare two programs or two folders of them. Raises UserError for arguments and files that cannot be used."""
    from visa_lsp.app.diff.comparison import compare_data, compare_paths
    from visa_lsp.app.diff.printing import figure_rows

    said: list[str] = []
    platform = chosen_platform(args.platform)
    name = platform.name if platform is not None else None
    if args.a_text or args.b_text:
        sides = [program_from(args.a, args.a_text, roots), program_from(args.b, args.b_text, roots)]
        comparison = compare_data([(side.name, side.data) for side in sides], name, said.append)
    else:
        comparison = compare_paths(roots.path(args.a), roots.path(args.b), name, None, _NoProgress(), None, said.append)
    if not comparison.files:
        raise UserError(text_errors(said) if said else "nothing to compare")
    kernels = [kernel for file in comparison.files for kernel in file.kernels]
    different = [
        {"name": kernel.name, "changes": len(kernel.changes), **nonempty({"figures": _figures(figure_rows(kernel))})}
        for kernel in kernels
        if not kernel.same
    ]
    head = {"same": comparison.same, "kernels": len(kernels), "different": different} | nonempty({"unreadable": said})
    return ToolAnswer(head, "changes", _changes(kernels))


class _NoProgress:
    """A progress line that is never shown."""

    def is_due(self) -> bool:
        return False

    def show(self, words: str) -> None:
        pass


def _figures(rows: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {name.strip(): words for name, words in rows}


def _changes(kernels: Sequence[KernelDiff]) -> list[dict[str, Any]]:
    """Return the differences as values; differences of code precede those of declarations, which they explain."""
    changes = [(kernel, change) for kernel in kernels for change in sorted(kernel.changes, key=lambda c: not c.in_code)]
    ids = item_ids([(change.kind.value, (kernel.name, change.what)) for kernel, change in changes])
    return [
        {
            "id": name, "kernel": kernel.name, "kind": change.kind.value,
            "a": [change.a.first + 1, change.a.last + 1], "b": [change.b.first + 1, change.b.last + 1],
            "what": change.what, **nonempty({"listing": list(change.listing)}),
        }
        for name, (kernel, change) in zip(ids, changes, strict=True)
    ]  # fmt: skip


def stats(args: arguments.StatsArguments, roots: Roots) -> ToolAnswer:
    """Count instructions, variables and register pressure of each kernel.

    Raises UserError for arguments and files that cannot be used.
    """
    from visa_lsp.app.folders import files_of, is_folder
    from visa_lsp.app.stats.dumps import figures_of_dump, is_dump
    from visa_lsp.app.stats.measured_inputs import figures_of_data
    from visa_lsp.app.stats.printing import as_json, dump_json
    from visa_lsp.text import decode_text

    platform, said = chosen_platform(args.platform), list[str]()
    name = platform.name if platform is not None else None
    folder = roots.path(args.path) if args.path and not args.text else ""
    if folder and is_folder(folder):
        found_files = {**files_of(folder), **files_of(folder, (".asm",))}
        programs = [program_from(os.path.join(args.path, file), "", roots) for file in found_files]  # noqa: PTH118
    else:
        programs = [program_from(args.path, args.text, roots, args.edits)]
    kernels, unreadable, dumps = [], [], []
    for program in programs:
        if is_dump(program.data):
            dumps.append(dump_json(figures_of_dump(program.name, decode_text(program.data))))
            continue
        figures = figures_of_data(program.name, program.data, name, say=said.append)
        kernels += figures or []
        unreadable += [program.name] if figures is None else []
    if unreadable and len(programs) == 1:
        raise UserError(text_errors(said))
    if args.kernel:
        kernels = [kernel for kernel in kernels if kernel.name == args.kernel] or _no_kernel(args.kernel, kernels)
    values = as_json(kernels)["kernels"]
    items = [_kernel_stats(value, several=len(programs) > 1) for value in values]
    head = nonempty({"unreadable": unreadable, "dumps": dumps})
    if args.kernel:
        return ToolAnswer({"kernels": items, **head}, "live", values[0]["pressure"]["live"])
    return ToolAnswer(head, "kernels", items)


def _no_kernel(name: str, kernels: Iterable[Any]) -> list[Any]:
    names = [kernel.name for kernel in kernels]
    raise UserError(f"no kernel or function {name!r}{did_you_mean(name, names)} (there: {', '.join(names)})")


def _kernel_stats(value: dict[str, Any], *, several: bool) -> dict[str, Any]:
    keys = ("name", "path", "instructions", "sends", "blocks", "loops", "variables", "grf_bytes", "by_family")
    peaks = {key: {"max": value[key]["max"], "line": value[key]["line"]} for key in ("pressure", "flags")}
    return {key: value[key] for key in keys if several or key != "path"} | peaks


def gen(args: arguments.GenArguments, roots: Roots) -> ToolAnswer:
    """Show the machine code of a text or object, by Intel's finalizer.

    Raises UserError for arguments and files that cannot be used.
    """
    from visa_lsp.app.gen.gen_document import finalize_text, source_of, with_errors
    from visa_lsp.app.gen.printing import as_text, figures
    from visa_lsp.app.inputs import STDIN
    from visa_lsp.toolchain.find_tools import FINALIZER, find_tool
    from visa_lsp.toolchain.process import ToolError

    program, platform = program_from(args.path, args.text, roots, args.edits), chosen_platform(args.platform)
    source = source_of(program.name, program.data, platform.name if platform is not None else None, str(program.place))
    try:
        # The tool on PATH, because settings of a folder that an agent works on must not name programs to run.
        tool = find_tool(FINALIZER)
    except ToolError as error:
        raise UserError(str(error)) from None
    document = with_errors(finalize_text(source, tool, (), _GEN_SECONDS, STDIN), source.platform)
    kernels = [kernel for kernel in document.result.kernels if args.kernel in ("", kernel.body.name)]
    if args.kernel and not kernels:
        _no_kernel(args.kernel, [kernel.body for kernel in document.result.kernels])
    document = replace(document, result=replace(document.result, kernels=tuple(kernels)))
    head = {
        "platform": source.platform,
        "kernels": [{"name": kernel.body.name, "figures": figures(kernel)} for kernel in kernels],
    } | nonempty({"findings": [finding.concise for finding in (*document.errors, *document.findings)]})
    # The columns of the finalizer are removed, because blanks cost an agent as many tokens as words.
    return ToolAnswer(head, "text", [re.sub(r" {2,}", "  ", line) for line in as_text(document)], is_text=True)
