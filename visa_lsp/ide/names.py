"""The declared names of one body, with a token for what each was declared as; kept up by what an edit takes and gives.

A token stands for the whole text of a declaration but its name, for the tokens of the variables that it is an alias of,
and for its being an input. It knows no line numbers: where a name is declared is the chunk that declares it.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from typing import TYPE_CHECKING, Final

from visa_lsp.ide.mentions import Ids, Mentions, packed_in
from visa_lsp.ide.quick import Tokens, class_token, special_words
from visa_lsp.ide.rests import ALIAS, INPUT, alias_in, base_of
from visa_lsp.ide.stems import Stems
from visa_lsp.syntax.bulk import NARROW_NAME, PLAIN_NAME, TOKEN, WIDE_TOKEN, Facts
from visa_lsp.syntax.document import same_head, same_tail

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

# Where an input stands matters to no other line, only that it stands somewhere.
_PLACED: Final = re.compile(r"offset=[0-9]{1,4}\s+size=[0-9]{1,4}\s*")
_ODD: Final = "\x05"
# The token of a name that does not mean the same everywhere in the body: its lines are looked at one by one.
SCOPED: Final = "\x07"


class Home:
    """The chunk that declares a name, through all edits of it: by its facts."""

    __slots__ = ("facts",)

    def __init__(self, facts: Facts) -> None:
        self.facts = facts


class Names:
    """Names of a body. ``doubled`` are declared twice; ``odd`` ones have signs in them that references cannot have."""

    __slots__ = (
        "_aliases", "_facts", "_homes", "_ids", "_places", "_specials", "_stems", "before", "decl", "doubled", "functions", "inputs", "mentions", "odd", "pattern", "scoped", "tokens",
    )  # fmt: skip

    def __init__(self) -> None:
        self.decl: dict[str, Home] = {}
        self.tokens = Tokens()
        self.doubled: set[str] = set()
        self.odd: set[str] = set()
        self.functions: set[str] = set()
        self.scoped: set[str] = set()
        self.before: dict[str, str | None] = {}  # the tokens before the last update, of names that it touched
        self.inputs: dict[str, str] = {}
        self.pattern = TOKEN
        self._aliases: dict[str, list[str]] = {}
        self._stems = Stems()
        self._facts: list[Facts] = []
        self._places: dict[int, int] | None = None
        self._homes: dict[int, Home] = {}
        self._specials: Sequence[str] = ()
        self.mentions = Mentions()
        self._ids: Ids | None = Ids()  # None where it is not kept which names chunks have in them

    # ---- questions ----

    @property
    def _index(self) -> dict[int, int]:
        """The number of each chunk that declares something, by its facts."""
        if self._places is None:
            self._places = {id(f): i for i, f in enumerate(self._facts) if f.decls}
        return self._places

    @property
    def noting(self) -> bool:
        """Whether it is kept which names chunks have in them."""
        return self._ids is not None

    def decl_token(self, name: str) -> str:
        """The token of a declared name."""
        return self.tokens[name] if name in self.decl and name not in self.odd else _ODD

    def tokens_of(self, code: str) -> list[tuple[int, str, str]]:
        """(column, text, token) of the names and values of a line."""
        return [(m.start(1) - 1, m.group(1), self.tokens[m.group(1)]) for m in self.pattern.finditer("\n" + code)]

    def with_bases(self, names: Iterable[str]) -> tuple[set[str], list[tuple[int, int]]]:
        """The names with everything that they are aliases of; and (chunk, number in it) of all declarations of those."""
        found, places, waiting = set[str](), list[tuple[int, int]](), list(names)
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            found.add(name)
            home = self.decl.get(name)
            if home is not None:
                facts = home.facts
                number = facts.decls.index(name)
                if name not in self.doubled:
                    places.append((self._index[id(facts)], number))
                base = base_of(facts.rests[number])
                if base:
                    waiting.append(base)
        return found, [*places, *self._twice_declared(found)]

    def declared(self, names: set[str]) -> list[tuple[int, int]]:
        """(chunk, number of the declaration in it) of all declarations of some names."""
        once = [self.place(name) for name in names - self.doubled if name in self.decl]
        return [*once, *self._twice_declared(names)]

    def _twice_declared(self, names: set[str]) -> Iterator[tuple[int, int]]:
        for index in self.chunks_declaring(some := names & self.doubled):
            yield from [(index, k) for k, name in enumerate(self._facts[index].decls) if name in some]

    def chunk_of(self, name: str) -> int:
        """The chunk that declares a name."""
        return self._index[id(self.decl[name].facts)]

    def place(self, name: str) -> tuple[int, int]:
        """(chunk, number of the declaration in it) of a declared name: the first, where there are two."""
        return self.chunk_of(name), self.decl[name].facts.decls.index(name)

    def chunks_declaring(self, names: set[str]) -> set[int]:
        """The chunks that declare some names."""
        if not names.isdisjoint(self.doubled):
            return {i for i, f in enumerate(self._facts) if not names.isdisjoint(f.decls)}
        return {self.chunk_of(name) for name in names if name in self.decl}

    def mentioning(self, names: set[str]) -> list[int]:
        """The chunks that may have one of some names in them."""
        if self._ids is None:
            return list(range(len(self._facts)))
        return self.mentions.having([self._ids[n] for n in names if n in self._ids])

    def unmentioned(self, facts: Facts, names: set[str]) -> None:
        """A chunk that may have had some names in it has none of them."""
        if self._ids is not None:
            self.mentions.remove(facts, {self._ids[name] for name in names if name in self._ids})

    def note(self, facts: Facts, names: set[str], decls: Collection[int] | None = None) -> None:
        """Keep the names of a chunk: those in lines of it and in its declarations.

        ``decls`` are the numbers of those that are new, where only a part of the chunk is: all else is kept already.
        """
        assert self._ids is not None
        known = b"" if decls is None else facts.names
        some = decls if decls is not None and known else range(len(facts.decls))
        names.update([facts.decls[k] for k in some])
        rests = [rest for rest in [facts.rests[k] for k in some] if "alias" in rest]
        if rests:
            names.update(ALIAS.findall("\n".join(rests)))
        ids = {number for number in map(self._ids.__getitem__, names) if not packed_in(known, number)}
        if ids or not known:
            self.mentions.add(facts, ids)
            facts.names = known + array("I", ids).tobytes()

    def note_first(self, facts: Facts, names: set[str], ids: Ids) -> None:
        """Keep the names of a chunk of which nothing is known yet."""
        self._ids = ids
        self.note(facts, names)

    def near(self, word: str, like: Callable[[str, Iterable[str]], str | None]) -> set[str]:
        """Every declared name that ``near_name`` could find for a word, whatever class of variable is meant."""
        return self._stems.near(word, self.decl, self._rest, like)

    def declaring(self) -> list[int]:
        """The chunks that declare something, in order."""
        return sorted(self._index.values())

    def any_from(self, first: int, names: Iterable[str]) -> bool:
        """Whether a chunk from this one on declares one of some names, for all that is known without a search."""
        known = [name for name in names if name in self.decl]
        return any(name in self.doubled or self.chunk_of(name) >= first for name in known)

    def last_declaring(self) -> int:
        """The last chunk that declares something; -1 where none does."""
        return max(self._index.values(), default=-1)

    # ---- changes ----

    def update(
        self,
        facts: list[Facts],
        gone: list[Facts],
        added: range,
        specials: Sequence[str],
        functions: set[str],
        ids: Ids | None,
        scoped: Callable[[set[str]], set[str]] | None,
        *,
        fresh: bool,
    ) -> set[str] | None:
        """Take a new list of chunks; the names whose token changed, or None when every line has to be judged anew."""
        inputs = self.inputs
        if specials is not self._specials:
            self._specials, inputs = specials, {}
            for text in specials:
                match = INPUT.match(text)
                if match:
                    name, where = match.groups()
                    kind = text.split()[0] + ("" if _PLACED.fullmatch(where) else where)
                    inputs[name] = inputs.get(name, "") + "\n" + kind
        if self._places is not None and len(gone) == len(added) == 1:
            # A chunk in the place of another, as most edits leave it.
            self._places.pop(id(gone[0]), None)
            if facts[added[0]].decls:
                self._places[id(facts[added[0]])] = added[0]
        else:
            self._places = None
        self._facts, self._ids, self.before = facts, ids, {}
        self.mentions.facts = facts
        wide = any(not facts[i].narrow for i in added) or not all(map(NARROW_NAME.fullmatch, functions))
        if fresh or (wide and self.pattern is TOKEN):
            self.scoped = scoped(_twice(facts)) if scoped else set()
            self.mentions.clear()
            self._build(facts, inputs, functions, wide=wide)
            return None
        self._moved(gone, [facts[i] for i in added])
        changed = self._differences([facts[i] for i in added], gone)
        if inputs is not self.inputs:
            changed.update(n for n in inputs.keys() | self.inputs.keys() if inputs.get(n) != self.inputs.get(n))
        changed |= functions ^ self.functions
        now = scoped(self.doubled) if scoped else set()
        changed |= now ^ self.scoped
        self.scoped = now
        self.inputs, self.functions = inputs, functions
        return self._retokened(changed) if changed else changed

    def _moved(self, gone: list[Facts], added: list[Facts]) -> None:
        """Bring up to date where names are mentioned."""
        kept = len(gone) == len(added) == 1 and gone[0].names and added[0].names == gone[0].names
        if kept:
            self.mentions.replace(gone[0], added[0])
            return
        for f in gone:
            self.mentions.drop(f)
        for f in added:
            if f.names:
                self.mentions.add(f, array("I", f.names))

    def _build(self, facts: list[Facts], inputs: dict[str, str], functions: set[str], *, wide: bool) -> None:
        self.inputs, self.functions = inputs, functions
        self.pattern = WIDE_TOKEN if wide else TOKEN
        self.decl, self.tokens, self.doubled, self.odd = {}, Tokens(), set(), set()
        self._aliases, self._stems = {}, Stems()
        self._homes = {id(f): Home(f) for f in facts if f.decls}
        special, plain = special_words().union(inputs), dict[str, str]()
        for f in facts:
            if not f.narrow:
                self.odd.update(n for n in f.decls if not PLAIN_NAME.fullmatch(n))
            if f.decls:
                self._stems.note(f.decls)
                self._first(f, special, plain)
        for name in functions - self.decl.keys():
            self.tokens[name] = name
        for name in self.odd:
            self.tokens.pop(name, None)

    def _first(self, facts: Facts, special: frozenset[str], plain: dict[str, str]) -> None:
        """Take in the declarations of the next chunk, when all are taken in.

        The names in ``special`` may stand for more than they are declared as; ``plain`` gives the tokens of others.
        """
        decl, tokens, scoped = self.decl, self.tokens, self.scoped
        declared, home = facts.decls, self._homes[id(facts)]
        twice = len(set(declared)) < len(declared) or not decl.keys().isdisjoint(declared)
        by_name = not (special.isdisjoint(declared) and scoped.isdisjoint(declared))
        for name, rest in zip(declared, facts.rests, strict=True):
            if twice and name in decl:
                self.doubled.add(name)
                continue
            token = plain.get(rest)
            if token is None or by_name:
                match = alias_in(rest)
                if match is not None:
                    self._aliases.setdefault(match.group(1), []).append(name)
                if name in scoped:
                    token = SCOPED
                else:
                    token = self._token(name, rest, match, tokens.get(match.group(1)) if match is not None else None)
                    if match is None and name not in special:
                        plain[rest] = token
            decl[name] = home
            tokens[name] = token

    def _token(self, name: str, rest: str, match: re.Match[str] | None, base_token: str | None) -> str:
        definition = rest
        if match is not None:
            base = match.group(1)
            if base_token == SCOPED:
                return SCOPED
            known = base_token or (base if base in special_words() else "\x02")
            definition = rest[: match.start(1)] + known + rest[match.end(1) :]
        token = class_token(definition + self.inputs.get(name, ""))
        return name + token if name in special_words() else token

    def _rest(self, name: str) -> str:
        facts = self.decl[name].facts
        return facts.rests[facts.decls.index(name)]

    def _differences(self, added: list[Facts], gone: list[Facts]) -> set[str]:
        """Bring ``decl`` up to date; the names whose declaration went, came or moved."""
        old, new = [n for f in gone for n in f.decls], [n for f in added for n in f.decls]
        if not old and not new:
            return set()
        was, now = [r for f in gone for r in f.rests], [r for f in added for r in f.rests]
        head = min(same_head(old, new), same_head(was, now))
        most = min(len(old), len(new)) - head
        tail = min(same_tail(old, new, most), same_tail(was, now, most))
        lost, came = set(old[head : len(old) - tail]), new[head : len(new) - tail]
        changed, twice = lost.union(came), Counter(came)
        twice.update(changed.intersection(new[:head] + new[len(new) - tail :]))
        slow = set[str]()
        before = [self._homes.pop(id(f)) for f in gone if f.decls]
        ours, declaring = set(before), [f for f in added if f.decls]
        if len(before) == len(declaring) == 1:
            # The names that stay in a chunk which was edited have not to be told one by one.
            before[0].facts = declaring[0]
            self._homes[id(declaring[0])] = before[0]
        else:
            slow.update(self.doubled.intersection((*old, *new)))
            for f in declaring:
                home = self._homes[id(f)] = Home(f)
                self.decl.update(dict.fromkeys([name for name in f.decls if name not in changed], home))
        for f in declaring:
            if not f.narrow:
                self.odd.update(n for n in f.decls if not PLAIN_NAME.fullmatch(n))
            fresh = changed.intersection(f.decls)
            self._stems.note(fresh)
            for name in fresh:
                known = self.decl.get(name)
                if twice[name] > 1 or name in self.doubled or (known is not None and known not in ours):
                    slow.add(name)
                else:
                    self.decl[name] = self._homes[id(f)]
        for name in lost:
            if name in self.doubled:
                slow.add(name)
            elif not twice[name]:
                self._forget(name)
        if slow:
            self._recount(slow)
        return changed | slow

    def _forget(self, name: str) -> None:
        self.decl.pop(name, None)
        self.before[name] = self.tokens.pop(name, None)
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
            self.decl[name] = self._homes[id(where[0])]
            (self.doubled.add if len(where) > 1 else self.doubled.discard)(name)

    def _retokened(self, changed: set[str]) -> set[str]:
        """New tokens for changed names and for all that are aliases of them; those whose token is another now."""
        affected: set[str] = set()
        waiting = list(changed)
        while waiting:
            name = waiting.pop()
            if name not in affected:
                affected.add(name)
                waiting.extend(n for n in self._aliases.get(name, ()) if n in self.decl)
        before = self.before = {name: self.before.get(name, dict.get(self.tokens, name)) for name in affected}
        places = {name: self.place(name) for name in affected if name in self.decl}
        for name in affected - places.keys():
            self.tokens.pop(name, None)
            if name in self.functions:
                self.tokens[name] = name
        for name in sorted(places, key=places.__getitem__):
            self.tokens.pop(name, None)
            if name in self.odd:
                continue
            rest = self._rest(name)
            match = alias_in(rest)
            base = match.group(1) if match else None
            token = None
            if base and base in self.decl and (places.get(base) or self.place(base)) < places[name]:
                token = self.tokens.get(base)
            if base and name not in self._aliases.setdefault(base, []):
                self._aliases[base].append(name)
            self.tokens[name] = SCOPED if name in self.scoped else self._token(name, rest, match, token)
        return {name for name in affected if name in changed or before[name] != dict.get(self.tokens, name)}


def _twice(facts: Iterable[Facts]) -> set[str]:
    """The names that are declared twice."""
    return {name for name, many in Counter([name for f in facts for name in f.decls]).items() if many > 1}
