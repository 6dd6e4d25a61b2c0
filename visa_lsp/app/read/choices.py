"""Writes choices between a new value and the old one, and choices by the same flag, as branches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.app.read.code_lines import Line, Node, assigned, lists_of, places_of, set_counts
from visa_lsp.app.read.tree import NOTHING, Tree, leaf
from visa_lsp.isa import types as ty

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from visa_lsp.app.read.code_lines import Body
    from visa_lsp.isa.types import DataType

_OF_ONE_LANE: Final = ("min()", "max()", "fma()", "fmin()", "fmax()", "abs()", "fabs()", "popcount()", "clz()")


def write_branches(body: Body, type_of: Callable[[Tree], DataType | None], opposite: Callable[[Tree], Tree]) -> None:
    """Change the lines of a body in place."""
    counts = set_counts(body.code)
    for code in list(lists_of(body.code)):
        index = 0
        while index < len(code):
            test = _choice(body, code[index], counts, type_of).args[0]
            run = [code[index]]
            for node in code[index + 1 :]:
                is_changed = test.args or test.op in {line.assigns for line in run}
                if is_changed or _choice(body, node, counts, type_of).args[0] != test:
                    break
                run.append(node)
            arms: list[list[Node]] = [[], []]
            for node in run if test != NOTHING else ():
                name, value = assigned(node)
                for arm, part in zip(arms, value.args[1:], strict=True):
                    if part != leaf(name):
                        arm.append(Node(f"{name} = {part};", node.places))
            if test != NOTHING and (len(run) > 1 or not all(arms)):
                own = test if arms[0] else opposite(test)
                code[index : index + len(run)] = _branches(own, [arm for arm in arms if arm], run)
            index += 1


def _branches(test: Tree, arms: list[list[Node]], run: list[Node]) -> list[Node]:
    """Return the lines of a branch with one or two arms."""
    places, close = places_of(*run), Line("}")
    if len(arms) == 1:
        return [Node(f"if ({test}) {{", places, inner=arms[0], tail=close)]
    return [Node(f"if ({test}) {{", places, inner=arms[0]), Node("} else {", places, inner=arms[1], tail=close)]


_NONE: Final = Tree("?", (NOTHING, NOTHING, NOTHING))


def _choice(body: Body, node: Node, counts: Mapping[str, int], type_of: Callable[[Tree], DataType | None]) -> Tree:
    """Return the choice that a line assigns to a variable that other lines set too, if its parts may be assigned one by one."""
    name, value = assigned(node)
    if value.op != "?" or name not in body.kinds or counts[name] < 2:
        return _NONE
    kinds = {type_of(part) for part in value.args[1:]}
    is_word = body.kinds[name].is_int and all(k is not None and k.size <= ty.D.size for k in (*kinds, body.kinds[name]))
    calls = {part.op for part in value.walk() if part.op.endswith("()")}
    is_nested = any(part.op == "?" for part in value.args[1:])
    return value if (len(kinds) == 1 or is_word) and calls <= {*_OF_ONE_LANE} and not is_nested else _NONE
