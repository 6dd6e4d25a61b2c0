"""What compilers print, put into an asm statement, has no error."""

from __future__ import annotations

import pytest
from corpus import place

from visa_lsp.embed.host_findings import findings
from visa_lsp.embed.host_text import HostText
from visa_lsp.embed.languages import Host

_HEADS = (".version", ".kernel", ".global_function", ".input")
TEXTS = sorted(place("run/TGLLP").rglob("*.visaasm"))[::3]


def body_of(text):
    """Return the lines of a text that could stand in a block: what the compiler writes around one is left out."""
    return [line for line in text.split("\n") if not line.startswith(_HEADS)]


def in_raw_string(lines):
    return 'kernel void k() { __asm__ volatile(R"visa(\n' + "\n".join(lines) + '\n)visa"); }\n'


def in_strings(lines):
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return "kernel void k() { __asm__ volatile(\n" + "\n".join(f'    "{line}\\n"' for line in escaped) + ");\n}\n"


@pytest.mark.parametrize("path", TEXTS, ids=lambda p: p.stem)
def test_a_compilers_text_has_no_error_in_a_string(path):
    lines = body_of(path.read_text(encoding="utf-8"))
    for host in (in_raw_string(lines), in_strings(lines)):
        snapshot = HostText.of(host, Host.OPENCL)
        assert snapshot.analysis.document.line_count > len(lines)
        assert [d.message for d in findings(snapshot) if d.severity.value == "error"] == []
