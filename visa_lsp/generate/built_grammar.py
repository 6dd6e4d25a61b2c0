"""``visa_lsp/syntax/built_grammar.py``: the rules of the grammar file, so that a start need not read it with parsimonious."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Final

from visa_lsp.syntax.grammar import digest_of_text, grammar_text
from visa_lsp.syntax.rules import Lookahead, Quantifier, Regex, To, Verbatim, rules_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from visa_lsp.syntax.rules import Expression

_HEAD: Final = '''"""The rules of the grammar file: made by ``python -m visa_lsp.generate`` from ``grammar/visa.ppeg``, not to be edited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.syntax.rules import Lookahead, OneOf, Quantifier, Regex, Sequence, To, Verbatim

if TYPE_CHECKING:
    from visa_lsp.syntax.rules import Rules

# Of the text of the grammar file.
DIGEST: Final = "{digest}"

# fmt: off
RULES: Final[Rules] = {{
'''


def made(_root: Path) -> Mapping[str, str | None]:
    """The text of the module."""
    source = grammar_text()
    rules = "".join([f'    "{name}": {_call(rule)},\n' for name, rule in rules_of(source).items()])
    return {"visa_lsp/syntax/built_grammar.py": _HEAD.format(digest=digest_of_text(source)) + rules + "}\n"}


def _call(expression: Expression) -> str:
    """The call that makes an expression."""
    match expression:
        case To():
            arguments = [_quoted(expression.rule)]
        case Verbatim():
            arguments = [_quoted(expression.text)]
        case Regex():
            arguments = [_quoted(expression.pattern), f"{expression.starts:#x}"]
        case Quantifier():
            arguments = [_call(expression.member)]
            arguments += [f"least={expression.least}"] if expression.least else []
            arguments += [f"most={expression.most}"] if expression.most != math.inf else []
        case Lookahead():
            arguments = [_call(expression.member), *["negative=True"] * expression.negative]
        case _:
            # Of one member there is no sequence: it would be that member.
            arguments = [f"({', '.join(map(_call, expression.members))})"]
    return f"{type(expression).__name__}({', '.join(arguments)})"


def _quoted(text: str) -> str:
    return repr(text) if '"' in text else json.dumps(text)
