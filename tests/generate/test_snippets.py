"""The snippets of the extension: every mnemonic has one, and what they give is a text that the checks accept as far as it goes."""

import re

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.generate.snippets import snippets
from visa_lsp.isa.table import TABLE


def test_every_mnemonic_has_one():
    prefixes = {s["prefix"] for s in snippets().values()}
    assert {row.mnemonic for row in TABLE.rows if not row.opens_label} <= prefixes


def test_the_kernel_snippet_is_a_kernel_without_findings():
    body = "\n".join(snippets()["kernel"]["body"])
    text = re.sub(r"\$\{\d+:([^}]*)\}", r"\1", body).replace("    $0\n", "")
    assert [d.message for d in Analysis.of(text, None).diagnostics if d.severity.value == "error"] == []
