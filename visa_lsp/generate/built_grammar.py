"""``visa_lsp/syntax/built_grammar.py``: the grammar file as parsimonious builds it, so that a start need not build it again."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.syntax.grammar import built, digest_of_text, grammar_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_HEAD: Final = '''"""The rules of the grammar file, built: made by ``python -m visa_lsp.generate`` from ``grammar/visa.ppeg``, not to be edited."""

from __future__ import annotations

from typing import Final

from parsimonious.expressions import Literal, Lookahead, OneOf, Quantifier, Regex, Sequence
from parsimonious.grammar import Grammar
from parsimonious.grammar import LazyReference as To

# Of the text of the grammar file.
DIGEST: Final = "{digest}"


# fmt: off
def grammar() -> Grammar:
    """The grammar, made anew."""
    rules = {{
'''
_END: Final = """
    }}
    return Grammar(**rules).default("{default}")
"""


def made(_root: Path) -> Mapping[str, str | None]:
    """The text of the module."""
    source = grammar_text()
    grammar = built(source)
    rules = "\n".join(f'        "{name}": {_call(rule, rule.name)},' for name, rule in grammar.items())
    text = _HEAD.format(digest=digest_of_text(source)) + rules + _END.format(default=grammar.default_rule.name)
    return {"visa_lsp/syntax/built_grammar.py": text}


def _call(expression: Any, rule: str = "") -> str:
    """The call that makes an expression; what another rule has is named."""
    if expression.name != rule:
        return f'To("{expression.name}")'
    kind = type(expression).__name__
    arguments = [_call(member) for member in getattr(expression, "members", ())]
    match kind:
        case "Literal":
            arguments.append(_quoted(expression.literal))
        case "Regex":
            arguments.append(_quoted(expression.re.pattern))
        case "Lookahead" if expression.negativity:
            arguments.append("negative=True")
        case "Quantifier":
            arguments.append(f"min={expression.min}")
            if expression.max != math.inf:
                arguments.append(f"max={expression.max}")
    if rule:
        arguments.append(f'name="{rule}"')
    return f"{kind}({', '.join(arguments)})"


def _quoted(text: str) -> str:
    return repr(text) if '"' in text else json.dumps(text)
