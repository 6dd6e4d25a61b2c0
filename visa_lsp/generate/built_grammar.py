"""``visa_lsp/syntax/built_grammar.py``: the grammar file as parsimonious builds it, so that a start need not build it again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.digests import digest_of
from visa_lsp.syntax.grammar import built, grammar_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_HEAD: Final = '''"""The rules of the grammar file, built: made by ``python -m visa_lsp.generate`` from ``grammar/visa.ppeg``, not to be edited."""

from __future__ import annotations

from typing import Final

from parsimonious.expressions import Expression, Literal, Lookahead, OneOf, Quantifier, Regex, Sequence
from parsimonious.grammar import LazyReference as To

# Of the text of the grammar file.
DIGEST: Final = "{digest}"


# fmt: off
def rules() -> dict[str, Expression]:
    """The rules by their names; to be resolved by a Grammar, and that once."""
    return {{
'''


def made(_root: Path) -> Mapping[str, str | None]:
    """The text of the module."""
    source = grammar_text()
    rules = built(source)
    lines = [f'        "{name}": {_call(rule, rule.name)},' for name, rule in rules.items()]
    text = _HEAD.format(digest=digest_of([source.encode("utf-8")])) + "\n".join(lines) + "\n    }\n"
    return {"visa_lsp/syntax/built_grammar.py": text}


def _call(expression: Any, rule: str = "") -> str:
    """The call that makes an expression; what another rule has is named."""
    if expression.name != rule:
        return f'To("{expression.name}")'
    kind = type(expression).__name__
    match kind:
        case "Literal":
            arguments = [_quoted(expression.literal)]
        case "Regex":
            arguments = [_quoted(expression.re.pattern)]
        case _:
            arguments = [_call(member) for member in expression.members]
    if kind == "Lookahead" and expression.negativity:
        arguments.append("negative=True")
    if kind == "Quantifier":
        arguments += [f"min={expression.min}"] + [f"max={expression.max}"] * (expression.max != float("inf"))
    if rule:
        arguments.append(f'name="{rule}"')
    return f"{kind}({', '.join(arguments)})"


def _quoted(text: str) -> str:
    return repr(text) if '"' in text else json.dumps(text)
