"""Slips of one token in the strings of every source here: each is an error, and stands at the columns of the token in the host.

``VISA_LSP_TEST_SAMPLES`` may name a folder of further OpenCL and C++ sources with vISA in them, such as a clone of Intel's
compute-samples: so many slips are planted in those too.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from host_faults import SLIPS, faults

from visa_lsp.diagnostics import Severity
from visa_lsp.embed.host_findings import findings
from visa_lsp.embed.host_text import HostText
from visa_lsp.embed.languages import Host, host_of

SOURCES = Path(__file__).parent / "sources"
SAMPLES = os.environ.get("VISA_LSP_TEST_SAMPLES", "")
MANY = 300


def hosts(folder):
    for path in sorted(folder.rglob("*")):
        if path.is_file() and host_of(path.name) is not None:
            yield path, HostText.of(path.read_text(encoding="utf-8", errors="surrogateescape"), host_of(path.name))


def unfound(chosen):
    """Yield the faults that no error stands at, or warning, because the finalizer does not judge every region."""
    for host, fault in chosen:
        errors = [
            d for d in findings(HostText.of(fault.text, host)) if d.severity in (Severity.ERROR, Severity.WARNING)
        ]
        line = fault.text[fault.text.rfind("\n", 0, fault.place.start) + 1 :].split("\n", 1)[0]
        if not any(
            d.span.start <= fault.place.start and fault.place.end <= d.span.end and "\n" not in fault.text[d.span.start : d.span.end]
            for d in errors
        ):  # fmt: skip
            yield fault.kind, line.strip(), [d.message for d in errors]


def chosen_of(folder):
    all_of_them = [(host.host, fault) for _, host in hosts(folder) for fault in faults(host)]
    return random.Random(1).sample(all_of_them, min(MANY, len(all_of_them)))


def test_a_slip_of_each_kind_in_a_host_of_each_language_is_found_at_its_columns():
    chosen = {(host, fault.kind): (host, fault) for host, fault in chosen_of(SOURCES)}
    assert {kind for _, kind in chosen} == SLIPS.keys()
    assert {host for host, _ in chosen} == {Host.OPENCL, Host.CPP, Host.PYTHON}
    assert list(unfound(chosen.values())) == []


@pytest.mark.full
def test_three_hundred_slips_are_each_found_at_their_columns():
    chosen = chosen_of(SOURCES)
    assert len(chosen) == MANY
    assert list(unfound(chosen)) == []


@pytest.mark.skipif(not SAMPLES, reason="VISA_LSP_TEST_SAMPLES names no folder of samples")
def test_slips_in_samples_of_others_are_found_too():
    chosen = chosen_of(Path(SAMPLES))
    assert chosen
    assert list(unfound(chosen)) == []
