"""Gives variables of which all uses take the lower bytes alone the type of these bytes, and drops the casts to it.

Compilers compute with bytes in registers of 16 or 32 bits: ``(uchar)t`` at each use says that ``t`` is one.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from visa_lsp.app.read.code_lines import Body, assigned, steps_of, walk, words_without_trees
from visa_lsp.app.read.names import BY_NAME, c_type
from visa_lsp.app.read.tree import NARROW, Tree
from visa_lsp.isa import types as ty

if TYPE_CHECKING:
    from visa_lsp.app.read.signs import Signs
    from visa_lsp.isa.types import DataType

_WHOLE: Final = 8  # bytes of a value of which a use takes all
# The lower bytes of these are those of the lower bytes of their operands.
_LOW: Final = ("+", "-", "*", "&", "|", "^", "u-", "u~")
_LOW_STEPS: Final = ("=", "+=", "-=", "*=", "^=", "&=", "|=", "<<=")
_KINDS: Final = {(1, False): ty.UB, (1, True): ty.B, (2, False): ty.UW, (2, True): ty.W}


class Narrower:
    """Settles the widths of the variables of one body."""

    def __init__(self, body: Body, signs: Signs) -> None:
        self.body, self.signs = body, signs
        self.needed: dict[str, int] = {  # variables -> bytes that their uses take
            name: 0
            for name, kind in body.kinds.items()
            if kind in (ty.W, ty.UW, ty.D, ty.UD) and body.types.get(name) == f"{c_type(kind)} {name}"
        }
        self.casts: dict[str, Counter[bool]] = {name: Counter() for name in self.needed}  # to narrow types, by sign

    def run(self) -> None:
        """Change the types in place."""
        for name in words_without_trees(self.body.code) & self.needed.keys():
            del self.needed[name]
        before: dict[str, int] | None = None
        while self.needed != before:
            before = dict(self.needed)
            self._read_all()
        narrow = {name for name, value in map(assigned, walk(self.body.code)) if value.op in NARROW}
        for name, size in self.needed.items():
            own = self.body.kinds[name]
            is_cast = self.casts[name].total() > (own.size == ty.D.size)  # one cast stays with what it is put into
            if 0 < size < own.size and (is_cast or name in narrow):
                kind = _KINDS[size, self.casts[name][True] > self.casts[name][False]]
                self.body.kinds[name], self.body.types[name] = kind, f"{c_type(kind)} {name}"

    def _read_all(self) -> None:
        self.casts = {name: Counter() for name in self.needed}
        for step in steps_of(self.body.code):
            targets = step.targets
            for index, tree in enumerate(step.trees):
                sign, after = (step.words[place].strip() for place in (index, index + 1))
                if index and sign in _LOW_STEPS:
                    self._read(tree, self._size_of(step.trees[index - 1]))
                elif tree not in targets or tree.args or after.startswith((">>=", "/=", "%=")):
                    self._read(tree, _WHOLE)

    def _size_of(self, target: Tree) -> int:
        if target.op in self.needed:
            return self.needed[target.op]
        word = target.args[0].op[1:-3] if target.op == "u*" and target.args[0].op.endswith(" *)") else ""
        kind: DataType | None = BY_NAME.get(word) or self.signs.type_of(target)
        return kind.size if kind is not None and kind.is_int and kind is not ty.BOOL else _WHOLE

    def _read(self, tree: Tree, size: int) -> None:
        """Note that the lower ``size`` bytes of a value are used."""
        op, args = tree.op, tree.args
        if op in self.needed:
            self.needed[op] = max(self.needed[op], min(size, self.body.kinds[op].size))
            return
        kind = BY_NAME.get(op[1:-1].rstrip("0123456789")) if op[0] in "({" else None  # of a cast, or of a vector
        if kind is not None and kind.is_int and kind is not ty.BOOL:
            own = min(size, kind.size)
            if kind.size < ty.D.size and args[0].op in self.needed:
                self.casts[args[0].op][kind.is_signed] += 1
            for arg in args:
                self._read(arg, own if self.signs.type_of(arg) is not None else _WHOLE)
        else:
            low = range(len(args)) if op in _LOW else range(1, 3) if op == "?" else range(op == "<<")
            is_low = all(self.signs.type_of(args[place]) is not None for place in low)
            for place, arg in enumerate(args):
                self._read(arg, size if is_low and place in low else _WHOLE)
