"""A word is not a data type where one belongs.

The types are `ub b uw w ud d uq q hf bf f df`, for predicates `bool`, and for immediates also `v`, `uv` and `vf`.

Why: the type gives the element size and the arithmetic; the finalizer rejects the text.

Example:

    .decl V40 v_type=G type=int num_elts=8

Instead:

    .decl V40 v_type=G type=d num_elts=8

Authority: seed 003, data types; the finalizer rejects the text. Declarations of type `bool`, `v`, `uv` and `vf` are rejected
by it too.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import ERROR, Body, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.isa.types import TYPES
from visa_lsp.sema.model import Place, SymbolKind
from visa_lsp.suggest import nearest

RULE = rule("V112", "unknown-type", ERROR, __doc__)
# Names of types in other languages; words of a size do not say whether the type has a sign.
_OTHER = {
    "int": "d", "uint": "ud", "i32": "d", "u32": "ud", "s32": "d", "dword": "ud", "float": "f", "f32": "f", "double": "df",
    "f64": "df", "half": "hf", "f16": "hf", "short": "w", "ushort": "uw", "i16": "w", "u16": "uw", "word": "uw", "char": "b",
    "uchar": "ub", "i8": "b", "u8": "ub", "byte": "ub", "long": "q", "ulong": "uq", "i64": "q", "u64": "uq", "qword": "uq",
    "bf16": "bf", "fd": "df", "uh": "uw", "sb": "b", "sw": "w", "sd": "d", "sq": "q", "s8": "b", "s16": "w", "s64": "q", "dw": "d", "udw": "ud",
    "int8": "b", "int16": "w", "int32": "d", "int64": "q", "uint8": "ub", "uint16": "uw", "uint32": "ud", "uint64": "uq",
    "float16": "hf", "float32": "f", "float64": "df",
}  # fmt: skip
_OF_SIZE = ("dword", "word", "byte", "qword", "char", "dw")


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    name = str(problem.args["name"])
    names = [t.name for t in TYPES]
    same = _OTHER.get(name.lower().removesuffix("_t")) or (name.lower() if name.lower() in names else "")
    suggestion = same or nearest(name, names)
    message = f"unknown data type `{name}`"
    if not suggestion:
        return ctx.report(RULE, problem.place, f"{message}; known types: {', '.join(names)}")
    fix = ctx.fix(
        f"change to `{suggestion}`", problem.place, suggestion, safe=bool(same) and name.lower() not in _OF_SIZE
    )
    return ctx.report(RULE, problem.place, f"{message}; did you mean `{suggestion}`?", fixes=(fix,))


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    for symbol in ctx.find_declarations(body):
        word = symbol.decl.type if symbol.decl else None
        type_ = symbol.type
        if (
            symbol.kind is SymbolKind.GENERAL
            and word
            and symbol.place
            and type_
            and (type_.is_packed or type_.name == "bool")
        ):
            why = "only immediates have it" if type_.is_packed else "only predicates have it"
            yield ctx.report(RULE, Place(symbol.place.line, word.span), f"type `{word.text}` cannot be declared; {why}")


CHECK = Check(RULE, {"unknown-type": _report}, body=_body)
