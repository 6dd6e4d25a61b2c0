"""The snippets of the extension are those of the table, and what they give is a text that the checks accept as far as it goes."""

import json
import re

from lsp_client import ROOT

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.ide.snippets import snippets, snippets_text
from visa_lsp.isa.platforms import PLATFORMS
from visa_lsp.isa.table import TABLE

EXTENSION = ROOT / "vscode-extension"


def test_the_extension_has_the_snippets_of_the_table():
    stored = (EXTENSION / "snippets" / "visa.code-snippets.json").read_text(encoding="utf-8")
    command = "python -m visa_lsp.ide.snippets > vscode-extension/snippets/visa.code-snippets.json"
    assert snippets_text() == stored, f"stale: run {command}"


def test_every_mnemonic_has_one():
    prefixes = {s["prefix"] for s in snippets().values()}
    assert {row.mnemonic for row in TABLE.rows if not row.opens_label} <= prefixes


def test_the_kernel_snippet_is_a_kernel_without_findings():
    body = "\n".join(snippets()["kernel"]["body"])
    text = re.sub(r"\$\{\d+:([^}]*)\}", r"\1", body).replace("    $0\n", "")
    assert [d.message for d in Analysis.of(text, None).diagnostics if d.severity.value == "error"] == []


def test_the_platforms_of_the_setting_are_those_of_the_table():
    package = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    setting = package["contributes"]["configuration"]["properties"]["visa.platform"]
    assert ["", *(p.name for p in PLATFORMS)] == setting["enum"]
    assert [p.doc for p in PLATFORMS] == setting["enumDescriptions"][1:]
