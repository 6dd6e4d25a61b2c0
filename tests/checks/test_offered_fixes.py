"""Every fix that is offered makes the text better: asked of all rules, in whole texts broken at random places.

Behind the fix its finding is gone, and no error is there that was not there before. Two things are no new error: what is
wrong in a line that could not be judged before because the mended error was in it, and what is wrong below a key that was
misspelt, which nothing was known of.
"""

from collections import Counter

import pytest
from text_mutants import TextMutant, text_mutants

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.app.check.fixes import apply
from visa_lsp.checks.registry import CHECKS
from visa_lsp.diagnostics import Severity
from visa_lsp.ide.suppressions import visible
from visa_lsp.launchfile.judge import judge
from visa_lsp.launchfile.source import launch_source
from visa_lsp.zeinfo.validate import validate

EXTRA = tuple(check.rule.code for check in CHECKS if not check.default)
UNJUDGED_BEFORE = ("ze-info-unknown-key", "ze-info-missing-key", "launch-unknown-key")


def findings(kind, text):
    if kind == "visa":
        return visible(Analysis.of(text, "TGLLP"), EXTRA)
    return validate(text) if kind == "zeinfo" else judge(launch_source(text), None).diagnostics


def identity(finding):
    """Return what makes two findings the same; a suggestion depends on which other names are declared."""
    return finding.code, finding.message.partition("; did you mean")[0]


def written_lines(fix, text):
    """Return the lines of the mended text that a fix wrote into."""
    lines, shift = set(), 0
    for edit in sorted(fix.edits, key=lambda e: e.span):
        first = text.count("\n", 0, max(0, edit.span.start + shift))
        lines.update(range(first, first + edit.new_text.count("\n") + 1))
        shift += len(edit.new_text) - (edit.span.end - edit.span.start)
    return lines


def new_errors(before, after, finding, fix, text):
    """Return the errors behind a fix that were not there before it."""
    errors = [d for d in after if d.severity is Severity.ERROR]
    if finding.name in UNJUDGED_BEFORE and fix.title.startswith("change to"):
        return Counter()
    if finding.severity is Severity.ERROR or finding.name == "unknown-attribute":
        # A line that the fix puts above the finding moves it down.
        inserted = sum(e.new_text.count("\n") for e in fix.edits if e.span.start <= finding.span.start)
        lines = written_lines(fix, text) | {text.count("\n", 0, finding.span.start), inserted}
        moved = sum(
            len(e.new_text) - e.span.end + e.span.start for e in fix.edits if e.span.start <= finding.span.start
        )
        lines.add(text.count("\n", 0, max(0, finding.span.start + moved)))
        errors = [d for d in errors if text.count("\n", 0, d.span.start) not in lines]
    return Counter(map(identity, errors)) - Counter(identity(d) for d in before if d.severity is Severity.ERROR)


def check_mutant(mutant):
    before = findings(mutant.kind, mutant.text)
    counted = Counter(map(identity, before))
    for finding in before:
        for fix in finding.fixes:
            text, applied = apply(mutant.text, [fix])
            after = findings(mutant.kind, text)
            about = (mutant.origin, finding.name, finding.message, fix.title, mutant.text)
            assert applied, about
            assert Counter(map(identity, after))[identity(finding)] < counted[identity(finding)], about
            assert not new_errors(before, after, finding, fix, text), about
    return sum(len(finding.fixes) for finding in before)


def test_fixes_offered_in_broken_texts_mend():
    assert sum(check_mutant(mutant) for mutant in text_mutants(60, seed=43)) > 30


@pytest.mark.full
def test_fixes_offered_in_many_broken_texts_mend():
    assert sum(check_mutant(mutant) for mutant in text_mutants(500, seed=44)) > 300


HEAD = '.version 4.1\n.kernel "k"\n.decl V33 v_type=G type=d num_elts=16 align=GRF\n'
MOV = "    mov (M1, 16) V33(0,0)<1> 0x1:d"


def fixes_of(kind, text, name):
    return [fix.title for finding in findings(kind, text) if finding.name == name for fix in finding.fixes]


@pytest.mark.parametrize(("line", "offered"), [(MOV, ["add `ret (M1, 1)`"]), (f"{MOV} /* open", [])])
def test_no_line_is_added_inside_an_open_comment(line, offered):
    assert fixes_of("visa", f"{HEAD}{line}\n", "missing-return") == offered


@pytest.mark.parametrize(("version", "offered"), [("1.14", ["put it in quotes"]), ("yes", []), ("3", [])])
def test_a_version_is_put_in_quotes_only_where_it_is_one(version, offered):
    text = f"version: {version}\nkernels:\n"
    assert fixes_of("zeinfo", text, "ze-info-wrong-type") == offered


def test_a_name_is_declared_before_its_first_use():
    text = HEAD.replace("V33", "V34").replace("\n.decl", "\n.input V33 offset=64 size=4\n.decl")
    (fix,) = [f for d in findings("visa", text) if d.name == "undeclared-name" for f in d.fixes if "declare" in f.title]
    mended, _ = apply(text, [fix])
    assert mended.index(".decl V33") < mended.index(".input V33")
    check_mutant(TextMutant("visa", "input", text))


def test_a_declaration_has_room_for_all_uses():
    text = (
        '.version 4.1\n.kernel "k"\n.decl V34 v_type=G type=ud num_elts=16 align=GRF\n'
        ".decl V35 v_type=G type=ud num_elts=8 alias=<V33, 0>\n"
        "    lsc_load.ugm (M1, 16) V34:d32 flat[V33]:a64\n    ret (M1, 1)\n"
    )
    (fix,) = [f for d in findings("visa", text) if d.name == "undeclared-name" for f in d.fixes if "declare" in f.title]
    assert "type=uq num_elts=16" in apply(text, [fix])[0]
    check_mutant(TextMutant("visa", "addresses", text))


def test_a_call_gets_no_label():
    text = f"{HEAD}    call (M1, 16) sub\n    ret (M1, 1)\n"
    assert fixes_of("visa", text, "missing-label") == []
    assert fixes_of("visa", text.replace("call (M1, 16)", "goto (M1, 16)"), "missing-label") == [
        "add label `sub` at the end"
    ]


def test_all_tabs_become_spaces_at_once():
    text = "version: '1.14'\nkernels:\n\t- name: k\n\t  execution_env:\n\t    simd_size: 16\n"
    assert fixes_of("zeinfo", text, "ze-info-syntax") == ["indent by spaces"]
    check_mutant(TextMutant("zeinfo", "tabs", text))


@pytest.mark.parametrize(("name", "offered"), [("V33", 1), ("%r0", 1), ("V99", 0)])
def test_an_alias_of_the_seed_is_rewritten_where_its_variable_is_known(name, offered):
    text = f"{HEAD}.decl V34 v_type=G type=d num_elts=8 alias ({name}, 0)\n{MOV}\n    ret (M1, 1)\n"
    assert len(fixes_of("visa", text, "seed-alias")) == offered
