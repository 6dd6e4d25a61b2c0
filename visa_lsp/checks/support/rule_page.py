"""The page of a rule in Markdown, for ``docs/rules``, ``explain`` and hover.

The text is the docstring of the rule's module. This module does not know the list of rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from visa_lsp.diagnostics import Rule

_FAMILIES: Final = {
    "0": "Syntax",
    "1": "Names, declarations and inputs",
    "2": "Operands, execution and platforms",
    "3": "Regions",
    "4": "Types",
    "5": "Control flow",
    "6": "Memory",
    "7": "ze_info",
    "8": "Launch files",
    "9": "What other programs say",
}
_YAML: Final = ("V7", "V8")
_HEADINGS: Final = ("Why:", "Example:", "Instead:", "Authority:")


def rule_page(rule: Rule, *, default: bool = True) -> str:
    """Return the page of a rule."""
    off = "" if default else " · off by default"
    language = "yaml" if rule.code.startswith(_YAML) else "visa"
    lines = [f"# {rule.code} {rule.name}", "", f"*{rule.severity.value}{off}*", ""]
    code: list[str] = []
    for line in [*rule.doc.splitlines(), ""]:
        if line.startswith("    "):
            code.append(line[4:])
            continue
        if code and not line:
            code.append("")
            continue
        lines.extend(_format_block(code, language))
        code = []
        heading = next((h for h in _HEADINGS if line.startswith(h)), None)
        if heading is None:
            lines.append(line)
            continue
        lines.extend(["", f"## {heading[:-1]}", ""] if lines[-1] else [f"## {heading[:-1]}", ""])
        rest = line[len(heading) :].strip()
        if rest:
            lines.append(rest[0].upper() + rest[1:])
    lines.extend(_format_block(code, language))
    text = "\n".join(lines)
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.strip() + "\n"


def _format_block(code: list[str], language: str) -> list[str]:
    while code and not code[-1]:
        code = code[:-1]
    return [f"```{language}", *code, "```", ""] if code else []


def examples(rule: Rule) -> tuple[str, str]:
    """Return the example of a page, which causes the finding, and its replacement."""
    parts = {"Example:": "", "Instead:": ""}
    current = ""
    for line in rule.doc.splitlines():
        heading = next((h for h in _HEADINGS if line.startswith(h)), None)
        if heading is not None:
            current = heading
        elif current in parts and (line.startswith("    ") or not line):
            parts[current] += line[4:] + "\n"
    return parts["Example:"].strip("\n"), parts["Instead:"].strip("\n")


def index_page(rules: Sequence[Rule], off: Collection[str]) -> str:
    """Return the list of rules by family; ``off`` are the codes of rules that only an option turns on."""
    lines = ["# Rules", "", "Generated from the rules; `visa-lsp explain CODE` prints the same pages.", ""]
    for digit in sorted({rule.code[1] for rule in rules}):
        title = _FAMILIES.get(digit, f"V{digit}00 to V{digit}99")
        lines.extend([f"## {title}", "", "| Code | Rule | Severity | What |", "| --- | --- | --- | --- |"])
        lines.extend(_row(rule, rule.code in off) for rule in rules if rule.code[1] == digit)
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _row(rule: Rule, off: bool) -> str:
    severity = rule.severity.value + (", off" if off else "")
    what = rule.doc.partition("\n\n")[0].replace("\n", " ").replace("|", "\\|")
    return f"| {rule.code} | [{rule.name}]({rule.name}.md) | {severity} | {what} |"
