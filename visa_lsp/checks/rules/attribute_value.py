"""An attribute has an invalid value, or is given twice where only one is allowed.

Why: the finalizer reads `Target` when it parses; an invalid `SimdSize` or a second size of shared local memory means that
the kernel is launched with another geometry than its author intended.

Example:

    .kernel_attr SimdSize=7

Instead:

    .kernel_attr SimdSize=8

Authority: seed 000, pre-defined attributes. The finalizer rejects a wrong `Target` word and a second `SLMSize` or
`NBarrierCnt`; it silently accepts a wrong `SimdSize`, so that is a warning. It accepts a string where a number belongs,
and writes an object that announces more bytes than it has, unless the string has 1, 2 or 4 characters. In text 4.2 it
rejects a `NumGRF` that the platform does not have.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import ERROR, WARNING, Body, Check, CheckContext, Diagnostic, report_as, rule
from visa_lsp.checks.support.facts import words
from visa_lsp.isa.attributes import KERNEL_ATTRIBUTES, AttributeKind
from visa_lsp.isa.model import Dialect
from visa_lsp.isa.platforms import register_counts, thread_widths
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree
from visa_lsp.text import encode_text

RULE = rule("V121", "attribute-value", ERROR, __doc__)
_INTEGER_SIZES = (1, 2, 4)  # lengths of a string that the object stores like a number
_ONCE = ("SLMSize", "NBarrierCnt")
_RANGES = {"ArgSize": (0, 32), "RetValSize": (0, 12)}


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    seen: dict[str, Place] = {}
    for _, place in body.attributes:
        statement = ctx.document.statement(place.line)
        if not isinstance(statement, tree.KernelAttr) or statement.name is None:
            continue
        name = statement.name.text
        if name in _ONCE and name in seen:
            related = [(seen[name], "first given here")]
            yield ctx.report(RULE, place, f"`{name}` is given a second time; a kernel has one", related=related)
        seen.setdefault(name, place)
        yield from _value(ctx, place, statement)


def _value(ctx: CheckContext, place: Place, statement: tree.KernelAttr) -> Iterator[Diagnostic]:
    assert statement.name is not None
    name, value = statement.name.text, statement.value
    attribute = KERNEL_ATTRIBUTES.get(name)
    if attribute is None or attribute.kind is AttributeKind.STRING or name == "Target" or value is None:
        return
    where = Place(place.line, value.span)
    if isinstance(value, (tree.Quoted, tree.Word)):
        takes = "a number" if attribute.kind is AttributeKind.INTEGER else "no value"
        if len(encode_text(value.text)) not in _INTEGER_SIZES:
            message = (
                f"`{name}` takes {takes}, not a string; an object with a string of this length cannot be read back"
            )
            yield ctx.report(RULE, where, message)
        elif attribute.kind is AttributeKind.INTEGER:
            yield ctx.report(RULE, where, f"`{name}` takes a number, not a string", severity=WARNING)
        return
    if attribute.kind is not AttributeKind.INTEGER:
        return
    if not isinstance(value, tree.Number):
        return
    if name == "SimdSize" and attribute.values and value.value not in attribute.values:
        message = f"invalid SimdSize {value.value}; expected {words(attribute.values)} (the finalizer does not check)"
        yield ctx.report(RULE, where, message, severity=WARNING)
    elif name == "SimdSize" and ctx.platform is not None:
        widths = thread_widths(ctx.platform.grf_bytes)
        if value.value not in widths:
            message = f"{ctx.platform.name} has no threads of {value.value} lanes; expected SimdSize {words(widths)} (the finalizer does not check)"
            yield ctx.report(RULE, where, message, severity=WARNING)
    elif name == "NumGRF" and ctx.platform is not None and ctx.dialect is Dialect.V42:
        counts = register_counts(ctx.platform)
        if value.value and value.value not in counts:
            message = f"{ctx.platform.name} has no threads with {value.value} registers; expected NumGRF {words((0, *counts))}"
            yield ctx.report(RULE, where, message)
    low, high = _RANGES.get(name, (0, 1 << 32))
    if not low <= value.value <= high:
        message = f"`{name}` is {value.value}; it must be between {low} and {high} (the finalizer does not check)"
        yield ctx.report(RULE, where, message, severity=WARNING)


CHECK = Check(
    RULE, {"attribute-value": report_as(RULE, "unknown target `{got}`; expected `3d`, `cm` or `cs`")}, body=_body
)
