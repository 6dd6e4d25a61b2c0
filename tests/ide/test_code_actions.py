from cursor import apply_edits

from visa_lsp.diagnostics import Diagnostic, Edit, Fix, Rule, Severity
from visa_lsp.ide.features.code_actions import code_actions, fix_all, join_fixes
from visa_lsp.text import Span

RULE = Rule("V999", "shouting", Severity.WARNING, "")


def findings(text: str) -> list[Diagnostic]:
    """Return a finding with a fix for every upper-case word."""
    found, at = [], 0
    for word in text.split(" "):
        if word.isupper():
            span = Span(at, at + len(word))
            fix = Fix(f"Write `{word.lower()}`", (Edit(span, word.lower()),), safe=True)
            found.append(Diagnostic(RULE, span, "too loud", fixes=(fix,)))
        at += len(word) + 1
    return found


def test_fix_of_the_finding_at_the_cursor_comes_first_then_all_alike():
    found = code_actions(findings("ONE two THREE"), Span(1, 1))
    assert [a.title for a in found] == ["Write `one`", "Fix all 2 shouting findings"]
    assert found[0].preferred
    assert apply_edits("ONE two THREE", found[1].edits) == "one two three"


def test_nothing_is_offered_where_nothing_is_found():
    assert code_actions(findings("ONE two THREE"), Span(5, 5)) == ()


def test_overlapping_fixes_are_applied_once():
    first, second = (Edit(Span(0, 3), "x"),), (Edit(Span(2, 4), "y"),)
    assert first == join_fixes([first, second])
    assert apply_edits("ONE two THREE", fix_all(findings("ONE two THREE"))) == "one two three"
