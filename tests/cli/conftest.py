"""Rules that need no instruction set, put in the place of the real ones: for tests of what is done with findings."""

import json
import re

import pytest

from visa_lsp.diagnostics import Diagnostic, Edit, Fix, Related, Rule, Severity
from visa_lsp.ide import suppressions
from visa_lsp.ide.suppressions import USELESS_SUPPRESSION
from visa_lsp.text import Span

BAD = Rule("V901", "bad-word", Severity.ERROR, "A bad word.\n\nWhy: it is bad.")
HMM = Rule("V902", "odd-word", Severity.WARNING, "An odd word.")
TIP = Rule("V913", "dull-word", Severity.HINT, "A dull word.")
LOOP = Rule("V914", "endless-word", Severity.WARNING, "A word whose fix makes things worse.")
RULES = (BAD, HMM, TIP, LOOP)


def find_words(ctx, extra=()):
    """One finding for each marked word of a text."""
    text = ctx.document.text
    found = []
    for word in re.finditer(r"\b(BAD|ODD|DULL|LOOP|CRASH)\b", text):
        span = Span(word.start(), word.end())
        match word.group():
            case "BAD":
                fix = Fix("say good", (Edit(span, "GOOD"),), safe=True)
                unsafe = Fix("say nothing", (Edit(span, ""),))
                related = (Related(Span(0, 1), "the text starts here"),)
                found.append(Diagnostic(BAD, span, "the word 'BAD' is bad", related, (fix, unsafe)))
            case "ODD":
                found.append(Diagnostic(HMM, span, "the word 'ODD' is odd, 100% odd"))
            case "DULL":
                found.append(Diagnostic(TIP, span, "the word 'DULL' is dull"))
            case "LOOP":
                fix = Fix("double it", (Edit(span, "LOOP LOOP"),), safe=True)
                found.append(Diagnostic(LOOP, span, "the word 'LOOP' never ends", fixes=(fix,)))
            case _:
                raise ValueError("two\nlines")
    return found


@pytest.fixture
def words(monkeypatch, tmp_path):
    """Return the word rules in place, and an empty folder to work in."""
    monkeypatch.setattr("visa_lsp.checks.run.run_checks", find_words)
    monkeypatch.setattr(suppressions, "run_checks", find_words)
    monkeypatch.setattr("visa_lsp.cli.check._list_rules", lambda: (*RULES, USELESS_SUPPRESSION))
    monkeypatch.setenv("VISA_LSP_CACHE", "off")  # the real rules would be asked of it elsewhere
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.delenv("VISA_LSP_DEBUG", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def check(run):
    """Run ``check --format json``; gives (status, findings)."""

    def call(*argv):
        status, out, _ = run("check", "--format", "json", *argv)
        return status, json.loads(out)

    return call
