"""What holds for all rules: identity, pages, examples, and that every problem of binding is explained by one."""

import re
from pathlib import Path

from each_case import check_each
from markers import findings

from visa_lsp.app.explain import explain_text
from visa_lsp.app.rule_registry import list_rules
from visa_lsp.checks.registry import CHECKS
from visa_lsp.checks.rule import ERROR, rule
from visa_lsp.checks.run import RULES, handles
from visa_lsp.checks.support.rule_page import examples, index_page, rule_page

ROOT = Path(__file__).parents[2]


def check_each_rule(check):
    check_each(CHECKS, check, lambda case: case.rule.name)


def test_codes_and_names_are_used_once():
    assert len(RULES) == 2 * len(CHECKS)


def test_code_and_name_have_their_form():
    for check in CHECKS:
        assert re.fullmatch(r"V\d{3}", check.rule.code)
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", check.rule.name)


def test_page_says_what_why_how_and_by_which_authority():
    def says(check):
        doc = check.rule.doc
        assert doc.split("\n\n")[0].rstrip().endswith(".")
        assert all(f"\n{part}" in doc for part in ("Why:", "Example:", "Instead:", "Authority:"))

    check_each_rule(says)


# Only on this platform, or only when asked for.
PLATFORM = {
    "matrix-size": "DG2",
    "message-size": "DG2",
    "narrow-conversion": "PVCXT",
    "wrong-platform": "TGLLP",
    "origin-range": "TGLLP",
    "region-span": "TGLLP",
}


def test_example_has_the_finding_and_what_stands_instead_has_not():
    def found_in_the_example_alone(check):
        wrong, right = examples(check.rule)
        name = check.rule.name
        extra = () if check.default else (name,)
        assert name in {f.slug for f in findings(wrong, PLATFORM.get(name), extra)}
        assert name not in {f.slug for f in findings(right, PLATFORM.get(name), extra)}

    check_each_rule(found_in_the_example_alone)


def test_what_stands_instead_has_no_error():
    def has_no_error(check):
        _, right = examples(check.rule)
        found = findings(right, PLATFORM.get(check.rule.name))
        assert not [str(f) for f in found if f.severity == "error"]

    check_each_rule(has_no_error)


def test_every_problem_of_binding_is_explained():
    source = "".join(path.read_text() for path in (ROOT / "visa_lsp" / "sema").glob("*.py"))
    kinds = set(re.findall(r'roblem\(\s*"([a-z-]+)"', source))
    assert len(kinds) > 40
    assert not sorted(kind for kind in kinds if not handles(kind))


def test_messages_of_examples_are_lower_case_and_have_no_full_stop():
    for check in CHECKS:
        for finding in findings(examples(check.rule)[0], PLATFORM.get(check.rule.name)):
            message = finding.message
            assert not message.endswith("."), message
            assert message[0] == message[0].lower() or message.startswith("TGLLP"), message


def test_page_has_fenced_code_and_headings():
    page = rule_page(RULES["V301"])
    assert "## Example\n\n```visa\nadd (M1, 16)" in page
    assert page.startswith("# V301 region-value\n\n*error*\n")


def test_registry_has_every_rule_once_and_each_is_explained():
    rules = list_rules()
    assert {"V009", "V290", "V700", "V730", "V101"} <= {rule.code for rule in rules}
    assert len({word for rule in rules for word in (rule.code, rule.name)}) == 2 * len(rules)
    for known in rules:
        page = explain_text(known.code)
        assert page == explain_text(known.name)
        assert page.startswith(f"# {known.code} {known.name}\n\n*{known.severity.value}")
        assert all(f"## {part}" in page for part in ("Why", "Example", "Instead", "Authority"))


def test_the_list_has_rules_of_hundreds_that_have_no_title_yet():
    page = index_page([rule("V101", "old", ERROR, "One."), rule("VX99", "new", ERROR, "Two.")], {"VX99"})
    assert "## Names" in page
    assert "## VX00 to VX99" in page
    assert "| VX99 | [new](new.md) | error, off | Two. |" in page
