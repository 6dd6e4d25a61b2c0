"""The declared names of one body, with a token for what each was declared as; kept up by what an edit takes and gives.

A token stands for the whole text of a declaration but its name, for the tokens of the variables that it is an alias of,
and for the ``.input`` line. It knows no line numbers: where a name is declared is the chunk that declares it.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from typing import TYPE_CHECKING, Final

from visa_lsp.ide.quick import Tokens, class_token, special_words
from visa_lsp.syntax.bulk import NARROW_NAME, PLAIN_NAME, TOKEN, WIDE_TOKEN, Facts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_ALIAS: Final = re.compile(r"alias\s*=?\s*[<(]\s*(%?[A-Za-z_][A-Za-z0-9_]*)")
_INPUT: Final = re.compile(r"\s*\.(?:input|parameter|implicit[A-Za-z0-9_$@?-]*)\s+(%?[A-Za-z_][A-Za-z0-9_]*)\s*(.*)")
_KIND: Final = re.compile(r"v_type\s*=\s*(\S+)")
_DIGITS: Final = "0123456789"
_ODD: Final = "\x05"


class Ids(dict[str, int]):
    """Numbers for names, given out as they come."""

    __slots__ = ()

    def __missing__(self, name: str) -> int:
        number = self[name] = len(self)
        return number


class Names:
    """Names of a body. ``doubled`` are declared twice; ``odd`` ones have signs in them that references cannot have."""

    def __init__(self) -> None:
        self.decl: dict[str, Facts] = {}
        self.tokens = Tokens()
        self.doubled: set[str] = set()
        self.odd: set[str] = set()
        self.functions: set[str] = set()
        self.inputs: dict[str, str] = {}
        self.pattern = TOKEN
        self._aliases: dict[str, list[str]] = {}
        self._stems: set[str] = set()
        self._plain: set[str] = set()  # names without a number at the end
        self._facts: list[Facts] = []
        self._index: dict[int, int] = {}
        self._ids = Ids()

    # ---- questions ----

    def decl_token(self, name: str) -> str:
        """The token of a declared name."""
        return self.tokens[name] if name in self.decl and name not in self.odd else _ODD

    def tokens_of(self, code: str) -> list[tuple[int, str, str]]:
        """(column, text, token) of the names and values of a line."""
        return [(m.start(1) - 1, m.group(1), self.tokens[m.group(1)]) for m in self.pattern.finditer("\n" + code)]

    def with_bases(self, names: Iterable[str]) -> set[str]:
        """Those of the names that are declared or labels, with everything that they are aliases of."""
        found: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            found.add(name)
            if name in self.decl:
                base = _base(self._rest(name))
                if base:
                    waiting.append(base)
        return found

    def chunks_declaring(self, names: set[str]) -> set[int]:
        """The chunks that declare some names."""
        if not names.isdisjoint(self.doubled):
            return {i for i, f in enumerate(self._facts) if not names.isdisjoint(f.decls)}
        return {self._index[id(self.decl[name])] for name in names if name in self.decl}

    def mentioning(self, names: set[str], where: range) -> Iterator[int]:
        """The chunks that may have one of some names in them."""
        if len(names) <= 8:
            packed = [self._ids[n].to_bytes(4, "little") for n in names if n in self._ids]
            for index in where:
                if any(p in self._facts[index].names for p in packed):
                    yield index
            return
        ids = {self._ids[n] for n in names if n in self._ids}
        for index in where:
            if not ids.isdisjoint(array("I", self._facts[index].names)):
                yield index

    def note(self, facts: Facts, names: set[str]) -> None:
        """Keep the names of a chunk."""
        names.update(_ALIAS.findall("\n".join(facts.rests)))
        names.update(facts.decls)
        facts.names = array("I", map(self._ids.__getitem__, names)).tobytes()

    def near(self, word: str, near: Callable[[str, Iterable[str]], str | None]) -> set[str]:
        """Every declared name that ``near_name`` could find for a word, whatever class of variable is meant."""
        stem = word.rstrip(_DIGITS)
        found: set[str] = set()
        if stem != word:
            number = int(word[len(stem) :])
            for other in self._stems:
                if other.lower() == stem.lower():
                    for width in range(1, 12):
                        name = f"{other}{number:0{width}d}"
                        if name in self.decl:
                            found.add(name)
            if len(stem) <= 2:
                return found
        by_kind: dict[str, list[str]] = {}
        for name in self._plain & self.decl.keys():
            match = _KIND.search(self._rest(name))
            letter = match.group(1) if match else ""
            by_kind.setdefault(letter if letter in "APST" else "G", []).append(name)
        for names in by_kind.values():
            best = near(word, names)
            if best:
                found.add(best)
        return found

    # ---- changes ----

    def update(
        self,
        facts: list[Facts],
        gone: list[Facts],
        added: range,
        specials: Sequence[str],
        functions: set[str],
        ids: Ids,
        *,
        fresh: bool,
    ) -> set[str] | None:
        """Take a new list of chunks; the names whose token changed, or None when every line has to be judged anew."""
        inputs: dict[str, str] = {}
        for text in specials:
            match = _INPUT.match(text)
            if match:
                inputs[match.group(1)] = inputs.get(match.group(1), "") + "\n" + text.split()[0] + match.group(2)
        self._facts, self._ids = facts, ids
        self._index = {id(f): i for i, f in enumerate(facts)}
        wide = any(not facts[i].narrow for i in added) or not all(map(NARROW_NAME.fullmatch, functions))
        if fresh or (wide and self.pattern is TOKEN):
            self._build(facts, inputs, functions, wide=wide)
            return None
        changed = self._differences([facts[i] for i in added], gone)
        changed.update(n for n in inputs.keys() | self.inputs.keys() if inputs.get(n) != self.inputs.get(n))
        changed |= functions ^ self.functions
        self.inputs, self.functions = inputs, functions
        return self._retokened(changed) if changed else changed

    def _build(self, facts: list[Facts], inputs: dict[str, str], functions: set[str], *, wide: bool) -> None:
        self.inputs, self.functions = inputs, functions
        self.pattern = WIDE_TOKEN if wide else TOKEN
        self.decl, self.tokens, self.doubled, self.odd = {}, Tokens(), set(), set()
        self._aliases, self._stems, self._plain = {}, set(), set()
        decl, tokens, special = self.decl, self.tokens, special_words()
        plain: dict[str, str] = {}
        for f in facts:
            if not f.narrow:
                self.odd.update(n for n in f.decls if not PLAIN_NAME.fullmatch(n))
            self._note_stems(f)
            for name, rest in zip(f.decls, f.rests, strict=True):
                if name in decl:
                    self.doubled.add(name)
                    continue
                decl[name] = f
                token = plain.get(rest)
                if token is None or name in inputs or name in special:
                    base = _base(rest)
                    token = self._token(name, rest, tokens.get(base) if base else None)
                    if base:
                        self._aliases.setdefault(base, []).append(name)
                    elif name not in inputs and name not in special:
                        plain[rest] = token
                tokens[name] = token
        for name in functions - decl.keys():
            tokens[name] = name
        for name in self.odd:
            tokens.pop(name, None)

    def _token(self, name: str, rest: str, base_token: str | None) -> str:
        definition = rest
        match = _ALIAS.search(rest) if "alias" in rest else None
        if match is not None:
            base = match.group(1)
            known = base_token or (base if base in special_words() else "\x02")
            definition = rest[: match.start(1)] + known + rest[match.end(1) :]
        token = class_token(definition + self.inputs.get(name, ""))
        return name + token if name in special_words() else token

    def _rest(self, name: str) -> str:
        facts = self.decl[name]
        return facts.rests[facts.decls.index(name)]

    def _differences(self, added: list[Facts], gone: list[Facts]) -> set[str]:
        """Bring ``decl`` up to date; the names whose declaration went, came or moved."""
        old = [pair for f in gone for pair in zip(f.decls, f.rests, strict=True)]
        new = [pair for f in added for pair in zip(f.decls, f.rests, strict=True)]
        head = tail = 0
        most = min(len(old), len(new))
        while head < most and old[head] == new[head]:
            head += 1
        while tail < most - head and old[-1 - tail] == new[-1 - tail]:
            tail += 1
        changed = {n for n, _ in (*old[head : len(old) - tail], *new[head : len(new) - tail])}
        gone_ids = {id(f) for f in gone}
        many = Counter(n for n, _ in new)
        slow: set[str] = set()
        for f in added:
            self.odd.update(n for n in f.decls if not f.narrow and not PLAIN_NAME.fullmatch(n))
            self._note_stems(f)
            for name in f.decls:
                known = self.decl.get(name)
                if many[name] > 1 or name in self.doubled or (known is not None and id(known) not in gone_ids):
                    slow.add(name)
                else:
                    self.decl[name] = f
        for name, _ in old:
            if name in self.doubled:
                slow.add(name)
            elif not many[name]:
                self._forget(name)
        if slow:
            self._recount(slow)
        return changed | slow

    def _note_stems(self, facts: Facts) -> None:
        stems = {n.rstrip(_DIGITS) for n in facts.decls}
        self._stems |= stems
        self._plain.update(stems.intersection(facts.decls))

    def _forget(self, name: str) -> None:
        self.decl.pop(name, None)
        self.tokens.pop(name, None)
        self.odd.discard(name)
        self.doubled.discard(name)

    def _recount(self, names: set[str]) -> None:
        found: dict[str, list[Facts]] = {}
        for f in self._facts:
            if not names.isdisjoint(f.decls):
                for name in f.decls:
                    if name in names:
                        found.setdefault(name, []).append(f)
        for name in names:
            where = found.get(name)
            if where is None:
                self._forget(name)
                continue
            self.decl[name] = where[0]
            (self.doubled.add if len(where) > 1 else self.doubled.discard)(name)

    def _place(self, name: str) -> tuple[int, int]:
        facts = self.decl[name]
        return self._index[id(facts)], facts.decls.index(name)

    def _retokened(self, changed: set[str]) -> set[str]:
        """New tokens for changed names and for all that are aliases of them; those whose token is another now."""
        affected: set[str] = set()
        waiting = list(changed)
        while waiting:
            name = waiting.pop()
            if name not in affected:
                affected.add(name)
                waiting.extend(n for n in self._aliases.get(name, ()) if n in self.decl)
        before = {name: dict.get(self.tokens, name) for name in affected}
        places = {name: self._place(name) for name in affected if name in self.decl}
        for name in affected - places.keys():
            self.tokens.pop(name, None)
            if name in self.functions:
                self.tokens[name] = name
        for name in sorted(places, key=places.__getitem__):
            self.tokens.pop(name, None)
            if name in self.odd:
                continue
            rest = self._rest(name)
            base = _base(rest)
            token = None
            if base and base in self.decl and (places.get(base) or self._place(base)) < places[name]:
                token = self.tokens.get(base)
            if base and name not in self._aliases.setdefault(base, []):
                self._aliases[base].append(name)
            self.tokens[name] = self._token(name, rest, token)
        return {name for name in affected if name in changed or before[name] != dict.get(self.tokens, name)}


def _base(rest: str) -> str | None:
    match = _ALIAS.search(rest) if "alias" in rest else None
    return match.group(1) if match else None
