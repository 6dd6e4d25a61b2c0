"""Names variables of C by what they are for: ids, counters, sums, what is loaded, what is stored.

Only names that a compiler has numbered change. Two variables share a name where neither is declared inside of the
other's block.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, Final

from visa_lsp.app.read.code_lines import Node, walk
from visa_lsp.app.read.names import RESERVED
from visa_lsp.app.read.prelude import prelude_words
from visa_lsp.app.read.shape import NUMBERED
from visa_lsp.app.read.tree import COMPONENTS, NOTHING, Step, Tree, leaf, number_of, owner, step_of, terms, uncast

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_DECLARATION: Final = re.compile(
    r"(?:for \()?(?:shared |local |global |struct )?[A-Za-z]\w* \*?(\w+)(?:\[\d*\])?(?: = |;)"
)
_IDS: Final = {
    "global_id()": ("gid", "xyz", ""),
    "local_id()": ("lid", "xyz", "l"),
    "group_id()": ("group", "xyz", "group_"),
}
_EXTREMES: Final = {"fmax()": "largest", "max()": "largest", "fmin()": "smallest", "min()": "smallest"}
_COUNTERS: Final = ("k", "j", "m", "n")
_RESULTS: Final = {
    "-": "difference", "*": "product", "/": "ratio", "%": "rest", "?": "chosen", "|": "bits", "^": "mixed", "u-": "negated",
    "~": "inverted", "<<": "shifted", ">>": "shifted", "&": "masked", "fma()": "sum", "mul_hi()": "high_product",
    "approx_divide()": "ratio", "divide()": "ratio", "exp()": "exponential", "exp2()": "power", "pow()": "power",
    "log()": "logarithm", "log2()": "logarithm", "sin()": "sine", "cos()": "cosine", "rsqrt()": "inverse", "recip()": "inverse",
    "sqrt()": "root", "fabs()": "magnitude", "abs()": "magnitude", "floor()": "rounded", "trunc()": "rounded",
    "rint()": "rounded", "ballot()": "votes", "popcount()": "bit_count", "clz()": "leading_zeros",
}  # fmt: skip
_ALONG: Final = {"width": "x", "w": "x", "height": "y", "h": "y", "rows": "row", "cols": "col", "columns": "col"}
_UNARY: Final = {"u-": "minus_{}", "recip()": "inverse_{}", "rsqrt()": "inverse_root_{}", "sqrt()": "root_{}", "fabs()": "abs_{}", "abs()": "abs_{}"}  # fmt: skip
_BINARY: Final = {
    "+": "{}_plus_{}", "-": "{}_minus_{}", "*": "{}_times_{}", "/": "{}_over_{}", "|": "{}_or_{}",
    "==": "{}_is_{}", "!=": "{}_is_not_{}", "<": "{}_below_{}", ">=": "{}_from_{}_on", ">": "{}_above_{}", "<=": "{}_up_to_{}",
}  # fmt: skip
_COMPARISONS: Final = ("<", ">", "<=", ">=")
_SIZES: Final = {
    "image_width()": "{}_width",
    "image_height()": "{}_height",
    "image_depth()": "{}_depth",
    "global_size()": "grid_size",
}
_MAX_NAME: Final = 24
_HALF_BITS: Final = 32  # of a number of 64 bits
_GENERAL: Final = re.compile(  # names that say nothing about where a value comes from
    r"(?:index|position|t|smaller|larger|smallest|largest|flag|in_range|result|found|holds|count|stride|distance"
    rf"|current|acc|hash|value|texel|slot|old|input|i|bit|low_bits|upper|sum_of_squares|{'|'.join(_RESULTS.values())})_?\d*"
    r"|.*_(?:plus|minus|times|over|or|is|below|mod)_.*"
)


def _result(value: Tree) -> str:
    """Return a name for the result of an operation."""
    number = number_of(value.args[-1]) if value.op in ("&", "<<", ">>") else None
    if value.op == "<<" and number_of(value.args[0]) == 1:
        return "bit"
    if number is not None and value.op == "&":
        return "low_bits" if not number & (number + 1) else "bit" if not number & (number - 1) else "masked"
    if number == _HALF_BITS and value.op == ">>":
        return "upper"
    part = value
    while part.op == "fma()" and part.args[0] == part.args[1]:
        part = part.args[2]
    is_square = part.op == "*" and part.args[0] == part.args[1]
    return "sum_of_squares" if part is not value and is_square else _RESULTS.get(value.op, "t")


class Namer:
    """Names the variables of one body, whose declarations are in its lines."""

    def __init__(self, code: list[Node], parameters: Iterable[str]) -> None:
        self.code = code
        self.parameters = frozenset(parameters)
        self.taken = {*self.parameters, *RESERVED, *prelude_words()}
        self.scopes: dict[str, tuple[int, ...]] = {}
        self.steps: dict[str, list[tuple[Step, bool]]] = defaultdict(list)  # the lines that set a variable; of a `for`?
        self.stored: dict[str, tuple[str, ...]] = {}  # values that are stored as they are -> names by their places
        self.indexes: set[str] = set()
        self.operands: set[str] = set()  # of sums and products
        self.bounds: dict[str, set[str]] = defaultdict(set)  # what variables are compared with
        self.samplers: set[str] = set()
        self.vectors: set[str] = set()  # whose parts lines set
        self.arrays: set[str] = set()  # of the lane
        self.elements: set[Tree] = set()
        self.pointers: set[str] = set()
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
                if text.startswith("global "):
                    self.pointers.add(hit[1])
                if "payload + " in text:
                    self.inputs.add(hit[1])
                if f"{hit[1]}[" in text and not text.startswith(("shared", "local", "for")) and " = " not in text:
                    self.arrays.add(hit[1])
                text = ("for (" if is_for else "") + text[hit.start(1) :]
            self._note_step(step_of(text), is_for)
            self._note(node.inner or [], inside)

    def _note_step(self, step: Step, is_for: bool) -> None:
        for part in (part for tree in step.trees for part in tree.walk()):
            if part.op in _IDS:
                self.axes[part.op].add(part.args[0].op)
            if part.op.startswith("write_image"):
                self.stored[part.args[-1].op] = ("result",)
            if part.op == "[]":
                self.elements.add(part)
                self.indexes |= {inner.op for inner in part.args[1].walk() if not inner.args}
            if part.op in ("+", "-", "*"):
                self.operands |= {uncast(arg).op for arg in part.args}
            if part.op == "sampler_at()":
                self.samplers.add(part.args[0].op)
            if part.op in _COMPARISONS:
                for arg, other in (part.args, part.args[::-1]):
                    self.bounds[uncast(arg).op].add(uncast(other).op)
        for index, target in enumerate(step.trees):
            word = step.words[index + 1]
            if target not in step.targets:
                continue
            values = step.trees[index + 1 : index + 2] if word.endswith("= ") else ()
            if target.args and values and not values[0].args:
                self.stored.setdefault(values[0].op, self._stored_names(target))
            if target.op in COMPONENTS and not target.args[0].args:
                self.vectors.add(owner(target))
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
        start = uncast(values[0]) if values else NOTHING
        if name in self.inputs:
            return ("input",)
        if name in self.arrays:
            return ("values",)
        if name in self.pointers:
            base = next((base for value in values if (base := self._base(value))), "")
            return (f"p_{base}" if base else "p",)
        if len(steps) == 1 and (role_names := self._id(start)):
            return role_names
        if signs & {">>=", "<<="} and len(steps) > 1:
            is_step = name in self.indexes or any(not bound.isdecimal() for bound in self.bounds[name])
            return ("stride", "distance") if is_step else ("bits", "word")
        if name in self.vectors and name in self.stored:
            return self.stored[name]
        along = self._along(name)
        if any(is_for for _, is_for in steps):
            return (*along, *(("i",) if any(part.op in _IDS for part in start.walk()) else ()), *_COUNTERS)
        extremes = [_EXTREMES[value.op] for value in values if value.op in _EXTREMES and leaf(name) in value.args]
        if extremes:
            return (extremes[0],)
        if "++" in signs and (name in self.operands or name in self.indexes):
            return (*along, "i", *_COUNTERS)
        if "++" in signs or (added and all(value.op in self.flags for value in added)):
            return ("count",)
        if added and all(number_of(value) is not None for value in added):
            return ("index",) if name in self.indexes else ("position",)
        if added and name in self.indexes:
            return (*along, "i", *_COUNTERS)
        if added or any(value.op == "fma()" and value.args[2] == leaf(name) for value in values):
            return ("sum",)
        mixed = (part for value in values if value.op != "?" for part in value.walk() if part.op == "^")
        if any(name in part.names() for part in mixed):
            return ("hash",)
        if role_names := self._loaded(start):
            return role_names
        if start.op in _EXTREMES:
            return ("smaller",) if "min" in start.op else ("larger",)
        if name in self.stored:
            return self.stored[name]
        if name in self.samplers:
            return ("sampler",)
        described = self._described(values[0]) if len(values) == len(steps) == 1 else ""
        if name in self.flags:
            is_computed = any(value.args for value in values)
            kind = (
                "in_range"
                if start.op == "<" and (number_of(start.args[1]) or 0) < 1 << 31
                else "flag"
                if is_computed
                else "found"
                if start.op == "false"
                else "holds"
            )
            return (described, kind) if described else (kind,)
        own = [value for value in values if name in value.names()]
        if len(values) > 1 and own:
            is_chosen = all(value.op == "?" and leaf(name) in value.args[1:] for value in own)
            return ("index",) if name in self.indexes else ("current",) if is_chosen else ("acc",)
        if not values:
            return ("value",)
        computed = [value for value in map(uncast, values) if value.args] or [start]
        common = dict.fromkeys(self._by_value(name, value) for value in computed)
        plain = ("index",) if name in self.indexes else ("t",)
        return (*(word for word in (*along, described) if word), *(next(iter(common)) if len(common) == 1 else plain))

    def _base(self, address: Tree, depth: int = 4) -> str:
        """Return the argument that an address is computed from; empty if that is not seen."""
        for number, part in enumerate(terms(uncast(address))):
            own = uncast(part).op
            is_pointer = part.op == "(ulong)" or (not number and address.op[0] != "(")
            if own in self.parameters and is_pointer:
                return own
            values = [step.value for step, _ in self.steps[own] if len(step.trees) > 1] if depth else []
            if len(values) == 1 and (base := self._base(values[0], depth - 1)):
                return base
        return ""

    def _id(self, value: Tree) -> tuple[str, ...]:
        if value.op not in _IDS:
            return ()
        plain, axes, prefix = _IDS[value.op]
        many = any(len(used_axes) > 1 or used_axes - {"0"} for used_axes in self.axes.values())
        return (prefix + axes[int(value.args[0].op)], plain) if many else (plain,)

    def _along(self, name: str) -> tuple[str, ...]:
        """Return the name of a position in what it is compared with: ``k`` below ``K``, ``x`` below ``width``."""
        for bound in sorted(self.bounds[name]):
            if len(bound) == 1 and bound.isupper():
                return (bound.lower(),)
            if word := _ALONG.get(bound.rpartition("_")[2]):
                return (word,)
        return ()

    def _stored_names(self, place: Tree) -> tuple[str, ...]:
        """Return the names of a value that is stored in a place as it is."""
        words: list[str] = []
        while place.op[0] == "." and place.args:
            words.insert(0, place.op[1:])
            place = place.args[0]
        if words and place.op in ("[]", "u*"):
            return (f"new_{'_'.join(words)}",)
        array = owner(place)
        return ("result",) if not array[:1].isalpha() or NUMBERED.fullmatch(array) else ("result", f"new_{array}")

    def _described(self, value: Tree) -> str:
        """Return a name that says how a value comes from others with names; empty for a longer one."""
        if value.op in _SIZES:
            return _SIZES[value.op].format(value.args[0])
        if value.op.startswith("(") and len(value.args) == 1:
            inner = self._own_name(uncast(value))
            return self._described(uncast(value)) if not inner else f"{inner}_f" if value.op == "(float)" else ""
        names = [self._own_name(uncast(arg)) for arg in value.args]
        word = ""
        if value.op in _UNARY and names[0]:
            word = _UNARY[value.op].format(names[0])
        elif len(value.args) == 2 and names[0]:
            number = number_of(value.args[1])
            if value.op == "*" and value.args[0] == value.args[1]:
                word = f"{names[0]}_squared"
            elif value.op in ("<<", ">>") and number is not None and number < 16:
                word = f"{names[0]}_{'times' if value.op == '<<' else 'over'}_{1 << number}"
            elif value.op == "&" and number and not number & (number + 1):
                word = f"{names[0]}_mod_{number + 1}"
            elif value.op in _BINARY:
                other = str(number) if number is not None and 0 <= number < 1000 else names[1]
                word = _BINARY[value.op].format(names[0], other) if other else ""
        return word if len(word) <= _MAX_NAME else ""

    def _own_name(self, tree: Tree) -> str:
        """Return the name of a variable, an argument, or a size of the launch; empty for another value."""
        if tree.op in ("local_size()", "group_id()", "local_id()", "global_id()"):
            return tree.op[:-2]
        if tree.op in self.parameters:
            return tree.op
        word = "" if tree.args else self._name(tree.op)
        is_name = word.isidentifier() and word not in ("true", "false") and not NUMBERED.fullmatch(word)
        return word if is_name and not _GENERAL.fullmatch(word) else ""

    def _loaded(self, value: Tree) -> tuple[str, ...]:
        part = ""
        if value.op == "?":
            value = next((arg for arg in map(uncast, value.args[1:]) if arg.op == "[]"), value)
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
        word, part = (
            self.names.get(place, place).removeprefix("slm_").removeprefix("p_").rstrip("_"),
            f"_{part}" if part else "",
        )
        index = value.args[1] if value.op == "[]" else NOTHING
        own = self._name(uncast(index).op) if value.op == "[]" and not uncast(index).args else ""
        if own and not NUMBERED.fullmatch(own):
            return (f"{word}_{'first' if own == '0' else own}{part}",)
        names = [f"{word}_value{part}", *self._neighbour(word, index)]
        if index.op in ("+", "-") and Tree("[]", (value.args[0], index.args[0])) in self.elements:
            step = index.args[1]
            words = {"+1": "next", "-1": "previous"}
            argument = f"{'plus' if index.op == '+' else 'minus'}_{step.op}" if step.op in self.parameters else ""
            is_row = Tree("[]", (value.args[0], Tree("+", (index.args[0], leaf(2))))) in self.elements
            beside = argument if is_row else words.get(f"{index.op}{step.op}", argument)
            names = [f"{word}_{beside}{part}", *names] if beside else names
        return tuple(names)

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
        if whole.isidentifier() and not NUMBERED.fullmatch(whole):
            return (f"{whole}_{parts.pop()}",)
        if is_call and parts and (role_names := self._loaded(value.args[0])):
            return role_names
        if value.op == "-" and len(parts) == 1:
            return (f"d{parts.pop()}",)
        if name in self.indexes:
            return ("index",)
        if value.op == "sub_group_id()":
            return ("sub_group",)
        if value.op.startswith("sub_group_"):
            word = value.op[:-2].rpartition("_")[2]
            kind = {"add": "sum", "max": "largest", "min": "smallest"}.get(word, word)
            is_scan = "exclusive" in value.op or "inclusive" in value.op
            return (f"{kind}_{'before' if 'exclusive' in value.op else 'up_to'}" if is_scan else kind,)
        return (_result(value),)

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
