"""Names variables of C by what they are for: ids, counters, sums, what is loaded, what is stored.

Only names that a compiler has numbered change. Two variables share a name where neither is declared inside of the
other's block.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache, partial
from typing import TYPE_CHECKING, Final

from visa_lsp.app.read.code_lines import Node, walk
from visa_lsp.app.read.names import RESERVED
from visa_lsp.app.read.prelude import read_prelude
from visa_lsp.app.read.shape import NUMBERED
from visa_lsp.app.read.tree import NOTHING, Step, Tree, leaf, number_of, owner, step_of, terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_DECLARATION: Final = re.compile(r"(?:for \()?(?:shared |local |struct )?[A-Za-z]\w* \*?(\w+)(?:\[\d*\])?(?: = |;)")
_IDS: Final = {
    "global_id()": ("gid", "xyz", ""),
    "local_id()": ("lid", "xyz", "l"),
    "group_id()": ("group", "xyz", "group_"),
}
_EXTREMES: Final = {"fmax()": "largest", "max()": "largest", "fmin()": "smallest", "min()": "smallest"}
_COUNTERS: Final = ("k", "j", "m", "n")
_RESULTS: Final = {"-": "difference", "*": "product", "exp()": "exponential", "rsqrt()": "inverse", "sqrt()": "root"}


@cache
def _macros() -> frozenset[str]:
    words = re.findall(r"#define (\w+)|\b(\w+)\(", re.sub(r"/\*.*?\*/", "", read_prelude(), flags=re.DOTALL))
    return frozenset(macro or other for macro, other in words)


class Namer:
    """Names the variables of one body, whose declarations are in its lines."""

    def __init__(self, code: list[Node], parameters: Iterable[str]) -> None:
        self.code = code
        self.taken = {*parameters, *RESERVED, *_macros()}
        self.scopes: dict[str, tuple[int, ...]] = {}
        self.steps: dict[str, list[tuple[Step, bool]]] = defaultdict(list)  # the lines that set a variable; of a `for`?
        self.stored: set[str] = set()  # values that are stored as they are
        self.indexes: set[str] = set()
        self.inputs: set[str] = set()  # filled by the launch, without a name
        self.names: dict[str, str] = {}
        self.pending: set[str] = set()  # variables with names, or whose names are being chosen
        self.holders: dict[str, list[str]] = defaultdict(list)  # new names -> variables
        self.flags = {hit[1] for node in walk(code) if (hit := re.match(r"bool (\w+)", node.text)) is not None}
        self.axes: dict[str, set[str]] = defaultdict(set)

    def run(self) -> None:
        """Change the lines in place."""
        self._note(self.code, ())
        order = [name for name in self.scopes if NUMBERED.fullmatch(name)]
        words = {
            word
            for node in walk(self.code)
            for text in node.texts()
            for word in re.findall(r"(?<!\.)\b[A-Za-z_]\w*", text)
        }
        self.taken |= words - set(order)
        for name in order:
            self._name(name)
        if not self.names:
            return
        pattern = re.compile(r"\b(" + "|".join(map(re.escape, self.names)) + r")\b")
        for node in walk(self.code):
            node.change(partial(pattern.sub, lambda hit: self.names[hit[1]]))

    def _note(self, code: list[Node], path: tuple[int, ...]) -> None:
        for node in code:
            inside = (*path, id(node))
            text = node.text
            hit = _DECLARATION.match(text)
            is_for = text.startswith("for (")
            if hit is not None:
                self.scopes.setdefault(hit[1], inside if is_for else path)
                if "payload + " in text:
                    self.inputs.add(hit[1])
                text = ("for (" if is_for else "") + text[hit.start(1) :]
            self._note_step(step_of(text), is_for)
            self._note(node.inner or [], inside)

    def _note_step(self, step: Step, is_for: bool) -> None:
        for part in (part for tree in step.trees for part in tree.walk()):
            if part.op in _IDS:
                self.axes[part.op].add(part.args[0].op)
            if part.op.startswith("write_image"):
                self.stored.add(part.args[-1].op)
            if part.op == "[]":
                self.indexes |= {inner.op for inner in part.args[1].walk() if not inner.args}
        for index, target in enumerate(step.trees):
            word = step.words[index + 1]
            if target not in step.targets:
                continue
            values = step.trees[index + 1 : index + 2] if word.endswith("= ") else ()
            if target.op in ("[]", "u*") and values and not values[0].args:
                self.stored.add(values[0].op)
            self.steps[owner(target)].append((Step(("", word, ""), (target, *values)), is_for))

    def _name(self, name: str) -> str:
        """Return the name of a variable; choose it now if it has none."""
        if name in self.scopes and NUMBERED.fullmatch(name) and name not in self.pending:
            self.pending.add(name)
            self._choose(name, self._role(name))
        return self.names.get(name, name)

    # ---- roles

    def _role(self, name: str) -> tuple[str, ...]:
        """Return the names that suit a variable, best first."""
        steps = self.steps[name]
        values = [step.value for step, _ in steps if len(step.trees) > 1 and step.words[1].strip() == "="]
        added = [step.value for step, _ in steps if step.words[1].strip() == "+="]
        signs = {step.words[1].strip(" ;){") for step, _ in steps}
        start = _uncast(values[0]) if values else NOTHING
        if name in self.inputs:
            return ("input",)
        if len(steps) == 1 and (role_names := self._id(start)):
            return role_names
        if signs & {">>=", "<<="} and len(steps) > 1:
            return ("stride", "distance")
        if any(is_for for _, is_for in steps):
            return ("i", *_COUNTERS) if any(part.op in _IDS for part in start.walk()) else _COUNTERS
        extremes = [_EXTREMES[value.op] for value in values if value.op in _EXTREMES and leaf(name) in value.args]
        if extremes:
            return (extremes[0],)
        if "++" in signs or (added and all(value.op in self.flags for value in added)):
            return ("count",)
        if added and all(number_of(value) is not None for value in added):
            return ("index",) if name in self.indexes else ("position",)
        if added or any(value.op == "fma()" and value.args[2] == leaf(name) for value in values):
            return ("sum",)
        if any(part.op == "^" and name in part.names() for value in values for part in value.walk()):
            return ("hash",)
        if role_names := self._loaded(start):
            return role_names
        if start.op in _EXTREMES:
            return ("smaller",) if "min" in start.op else ("larger",)
        if name in self.stored:
            return ("result",)
        if name in self.flags:
            return (
                ("flag",) if any(value.args for value in values) else ("found",) if start.op == "false" else ("holds",)
            )
        own = [value for value in values if name in value.names()]
        if len(values) > 1 and own:
            is_chosen = all(value.op == "?" and leaf(name) in value.args[1:] for value in own)
            return ("index",) if name in self.indexes else ("current",) if is_chosen else ("acc",)
        return self._by_value(name, start) if values else ("value",)

    def _id(self, value: Tree) -> tuple[str, ...]:
        if value.op not in _IDS:
            return ()
        plain, axes, prefix = _IDS[value.op]
        many = any(len(used_axes) > 1 or used_axes - {"0"} for used_axes in self.axes.values())
        return (prefix + axes[int(value.args[0].op)], plain) if many else (plain,)

    def _loaded(self, value: Tree) -> tuple[str, ...]:
        part = ""
        while value.op[0] == ".":
            part, value = f"{value.op[1:]}_{part}".removesuffix("_"), value.args[0]
        if value.op.startswith("atomic_"):
            return ("slot", "old")
        if value.op.startswith(("sample_", "load_lz_", "read_texel", "read_image")):
            return ("texel",)
        place = owner(value.args[0]) if value.op in ("[]", "u*") else ""
        if not place[:1].isalpha():
            return ()
        if part not in ("", *"xyzw"):
            return (part,)  # a field of a structure
        word, part = self.names.get(place, place).removeprefix("slm_"), f"_{part}" if part else ""
        index = value.args[1] if value.op == "[]" else NOTHING
        own = self._name(_uncast(index).op) if value.op == "[]" and not _uncast(index).args else ""
        if own and not NUMBERED.fullmatch(own):
            return (f"{word}_{'first' if own == '0' else own}{part}",)
        return (f"{word}_value{part}", *self._neighbour(word, index))

    def _neighbour(self, word: str, index: Tree) -> Iterator[str]:
        """Yield a name for an element beside that of a variable."""
        for part in index.walk():
            number = number_of(part.args[1]) if part.op in ("+", "-") and len(part.args) == 2 else None
            own = self._name(terms(part.args[0])[-1].op) if number is not None else ""
            if own.isidentifier() and not NUMBERED.fullmatch(own):
                yield f"{word}_{own}_{'plus' if part.op == '+' else 'minus'}{number}"

    def _by_value(self, name: str, value: Tree) -> tuple[str, ...]:
        parts = {arg.op[1:] for arg in value.args if arg.op[0] == "."}
        is_call = value.op.endswith("()") and len(value.args) == 1
        whole = self._name(value.args[0].args[0].op) if is_call and parts else ""
        if whole and not NUMBERED.fullmatch(whole):
            return (f"{whole}_{parts.pop()}",)
        if value.op == "-" and len(parts) == 1:
            return (f"d{parts.pop()}",)
        if name in self.indexes:
            return ("index",)
        if value.op.startswith("sub_group_"):
            word = value.op[:-2].rpartition("_")[2]
            kind = {"add": "sum", "max": "largest", "min": "smallest"}.get(word, word)
            is_scan = "exclusive" in value.op or "inclusive" in value.op
            return (f"{kind}_{'before' if 'exclusive' in value.op else 'up_to'}" if is_scan else kind,)
        return (_RESULTS.get(value.op, "t"),)

    def _choose(self, name: str, roles: tuple[str, ...]) -> None:
        for role in self._tries(roles):
            if role in self.taken or any(self._overlap(name, other) for other in self.holders[role]):
                continue
            self.names[name] = role
            self.holders[role].append(name)
            return

    def _tries(self, roles: tuple[str, ...]) -> Iterator[str]:
        yield from roles
        number = 2
        while True:
            yield f"{roles[0]}{'_' if roles[0][-1].isdigit() else ''}{number}"
            number += 1

    def _overlap(self, name: str, other: str) -> bool:
        scope, other_scope = self.scopes[name], self.scopes[other]
        shorter = min(len(scope), len(other_scope))
        return scope[:shorter] == other_scope[:shorter]


def _uncast(tree: Tree) -> Tree:
    while tree.op.startswith("(") and tree.op.endswith(")") and len(tree.args) == 1:
        tree = tree.args[0]
    return tree
