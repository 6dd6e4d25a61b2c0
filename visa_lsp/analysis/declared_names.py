"""The names of one body, with a token for the meaning of each, updated by the chunks that an edit removes and adds.

A token stands for the text of a declaration without its name, the tokens of the variables that it is an alias of,
whether it is an input, and whether there is a label of that name. Knows no line numbers: the place of a declaration is
its chunk. Invariant: two names of one token mean the same to every rule of scope LINE.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final

from visa_lsp.analysis.rule_sets import rule_sets
from visa_lsp.analysis.setting import Setting
from visa_lsp.analysis.tokens import LABEL, LATE, SINGLE, UNKNOWN, Tokens, class_token
from visa_lsp.checks.support.name_index import MAX_PLAIN_NAMES, Spelling, is_likened, normalize_spelling
from visa_lsp.sema.special_words import special_words
from visa_lsp.syntax.bulk import LETTERS_TOKEN, NARROW_NAME, PLAIN_NAME, TOKEN, Facts
from visa_lsp.syntax.chunk_facts import INPUT, alias_in, base_of
from visa_lsp.syntax.document import same_head, same_tail
from visa_lsp.syntax.parse import MAX_LINE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# A name, but not the digits of a hexadecimal number.
NAME: Final = re.compile(r"(?<![A-Za-z0-9_])%?[A-Za-z_$@?][A-Za-z0-9_$@?-]*")
_SIGNS: Final = re.compile(r"[$@?-]")
_COUPLED: Final = frozenset({UNKNOWN, SINGLE})
# Other lines depend on the presence of an input only, not on its place.
_PLACED: Final = re.compile(r"offset=[0-9]{1,4}\s+size=[0-9]{1,4}\s*")


@lru_cache(maxsize=512)
def names_of(code: str) -> frozenset[str]:
    """Return the names in a line. Cached, because it is called when a line is judged and when its findings are stored."""
    found = NAME.findall(code) if len(code) <= MAX_LINE else []
    # A directive reads only the part of a name before such a sign.
    more = _SIGNS.sub(" ", " ".join(found)).split() if _SIGNS.search(code) else ()
    return frozenset(found).union(more)


class Home:
    """The facts of the chunk that declares a name; edits of the chunk replace them here."""

    __slots__ = ("facts",)

    def __init__(self, facts: Facts) -> None:
        self.facts = facts


class Names:
    """The names of a body.

    ``redeclared`` names are declared twice; ``irregular`` ones have signs that references cannot have.
    """

    __slots__ = (
        "_aliases", "_facts", "_homes", "_label_count", "_places", "_plain", "_spellings", "decl", "inputs", "irregular",
        "pattern", "redeclared", "said", "scoped", "setting", "tokens",
    )  # fmt: skip

    def __init__(self) -> None:
        self.decl: dict[str, Home] = {}
        self.tokens = Tokens()
        self.redeclared: set[str] = set()
        self.irregular: set[str] = set()
        self.setting = Setting()
        self.scoped: set[str] = set()
        self.inputs: dict[str, str] = {}
        self.said = ""  # the attributes, for lines with words that depend on them
        self.pattern = TOKEN
        self._label_count: Counter[str] = Counter()
        self._aliases: dict[str, list[str]] = {}
        # Names by their spelling; None until a missing name needs a suggestion.
        self._spellings: dict[Spelling, set[str]] | None = None
        self._plain: dict[str, None] = {}  # those without a number
        self._facts: list[Facts] = []
        self._places: dict[int, int] | None = None
        self._homes: dict[int, Home] = {}

    # ---- questions ----

    @property
    def _index(self) -> dict[int, int]:
        """The number of each chunk that declares something, by its facts."""
        if self._places is None:
            self._places = {id(f): i for i, f in enumerate(self._facts) if f.decls}
        return self._places

    def decl_token(self, name: str) -> str:
        """Return the token of a declared name."""
        plain = name in self.decl and name not in self.irregular | self.redeclared | self.setting.directives.broken
        return self.tokens[name] if plain else SINGLE

    def find_coupled(self, names: Iterable[str]) -> list[str]:
        """Return those names for which findings in one line depend on the other lines with the name."""
        tokens, irregular = self.tokens, self.irregular
        return [name for name in names if tokens[name] in _COUPLED or name in irregular]

    def tokens_of(self, code: str) -> list[tuple[int, str, str]]:
        """Return (column, text, token) for each name and value of a line."""
        return [(m.start(1) - 1, m.group(1), self.tokens[m.group(1)]) for m in self.pattern.finditer("\n" + code)]

    def with_bases(self, names: Iterable[str]) -> tuple[set[str], list[tuple[int, int]]]:
        """Return the names and all variables that they are aliases of, and (chunk, number in it) of their declarations."""
        found, places, waiting = set[str](), list[tuple[int, int]](), set(names)
        twice: dict[str, list[tuple[int, int]]] = {}
        while waiting:
            name = waiting.pop()
            found.add(name)
            if name in self.redeclared and not twice:
                twice = self._twice_declared()
            for index, number in twice.get(name) or ([self.place(name)] if name in self.decl else ()):
                places.append((index, number))
                base = base_of(self._facts[index].properties[number])
                if base and base not in found:
                    waiting.add(base)
        return found, places

    def find_declarations(self, names: set[str]) -> list[tuple[int, int]]:
        """Return (chunk, number of the declaration in it) for all declarations of names."""
        twice = {} if names.isdisjoint(self.redeclared) else self._twice_declared()
        return [place for n in sorted(names) if n in self.decl for place in twice.get(n) or [self.place(n)]]

    def _twice_declared(self) -> dict[str, list[tuple[int, int]]]:
        """Return all declarations of the names that have two or more."""
        found: dict[str, list[tuple[int, int]]] = {}
        for index, facts in enumerate(self._facts):
            for k, name in enumerate(facts.decls if not self.redeclared.isdisjoint(facts.decls) else ()):
                if name in self.redeclared:
                    found.setdefault(name, []).append((index, k))
        return found

    def place(self, name: str) -> tuple[int, int]:
        """Return (chunk, number of the declaration in it) of a declared name; the first of several."""
        facts = self.decl[name].facts
        return self._index[id(facts)], facts.decls.index(name)

    def spelt_like(self, word: str) -> set[str]:
        """Return every declared name and label that a rule could suggest for a missing one."""
        known = self._spellings
        if known is None:
            known = self._spellings = {}
            for name in self.decl.keys() | self._label_count.keys():
                known.setdefault(normalize_spelling(name), set()).add(name)
            self._plain = dict.fromkeys(sorted([n for alike in known if not alike.number for n in known[alike]]))
        # Because similar names are not suggested if there are more.
        plain = islice(self._plain, MAX_PLAIN_NAMES + 1) if is_likened(word) else ()
        return known.get(normalize_spelling(word), set()).union(plain)

    def with_label(self, names: set[str]) -> list[int]:
        """Return the chunks that define labels of some names."""
        some = self._label_count.keys() & names
        return [i for i, f in enumerate(self._facts) if f.labels and not some.isdisjoint(f.labels)] if some else []

    # ---- changes ----

    def update(
        self, facts: list[Facts], gone: list[Facts], added: range, setting: Setting, *, fresh: bool
    ) -> set[str] | None:
        """Replace the chunks; return the names whose token changed, or None if every line must be judged anew."""
        old, inputs = self.setting, self.inputs
        if setting.directives is not old.directives:
            inputs = _inputs_in(setting.directives.texts)
        if self._places is not None and len(gone) == len(added) == 1:
            # The common case: one chunk replaces one other.
            self._places.pop(id(gone[0]), None)
            if facts[added[0]].decls:
                self._places[id(facts[added[0]])] = added[0]
        else:
            self._places = None
        self._facts = facts
        wide = any(not f.narrow for f in (facts if fresh else facts[added.start : added.stop])) or not all(
            map(NARROW_NAME.fullmatch, setting.directives.functions)
        )
        self.setting = setting
        if fresh or (wide and self.pattern is TOKEN):
            self._build(facts, inputs, wide=wide)
            return None
        changed = self._differences([facts[i] for i in added], gone)
        changed |= self._update_labels([facts[i] for i in added], gone)
        if inputs is not self.inputs:
            changed.update(n for n in inputs.keys() | self.inputs.keys() if inputs.get(n) != self.inputs.get(n))
            self.inputs = inputs
        scoped = setting.scoped(self.redeclared) if setting.scoped is not None else set[str]()
        said, before = setting.directives, old.directives
        changed |= (said.functions ^ before.functions) | (said.broken ^ before.broken) | (setting.lone ^ old.lone)
        changed |= (scoped ^ self.scoped) | (setting.declared_late ^ old.declared_late)
        self.scoped = scoped
        if setting.parts is not old.parts:
            now, was = setting.parts or {}, old.parts or {}
            changed.update(name for name in now.keys() | was.keys() if now.get(name) != was.get(name))
        return self._update_tokens(changed) if changed else changed

    def _update_labels(self, added: list[Facts], gone: list[Facts]) -> set[str]:
        """Count the labels; return the new and removed ones."""
        if len(added) == len(gone) == 1 and added[0].labels == gone[0].labels:
            return set()
        came, went = Counter(n for f in added for n in f.labels), Counter(n for f in gone for n in f.labels)
        changed = {name for name in came.keys() | went.keys() if came[name] != went[name]}
        for name in changed:
            many = self._label_count[name] + came[name] - went[name]
            if many:
                self._label_count[name] = many
            else:
                del self._label_count[name]
        self.irregular.update(n for n in changed if not PLAIN_NAME.fullmatch(n))
        return changed

    def _build(self, facts: list[Facts], inputs: dict[str, str], *, wide: bool) -> None:
        setting, said = self.setting, self.setting.directives
        self.inputs = inputs
        self.scoped = setting.scoped(find_duplicates(facts)) if setting.scoped is not None else set()
        self.pattern = LETTERS_TOKEN if wide else TOKEN
        self.said = _join_directives(said.texts)
        words = {word: word + self.said for word in rule_sets().attribute_words}
        self.decl, self.tokens, self.redeclared, self.irregular = {}, Tokens(words), set(), set()
        self._aliases, self._spellings = {}, None
        self._homes = {id(f): Home(f) for f in facts if f.decls}
        self._label_count = Counter([name for f in facts for name in f.labels])
        special = special_words().union(
            inputs, said.functions, said.broken, setting.declared_late, self.scoped, self._label_count
        )
        plain = dict[str, str]()
        for f in facts:
            if not f.narrow:
                self.irregular.update(n for n in (*f.decls, *f.labels) if not PLAIN_NAME.fullmatch(n))
            if f.decls:
                self._first(f, special, plain)
        if setting.parts is None and special_words().isdisjoint(self._label_count):
            for name, many in self._label_count.items():
                if name not in self.decl:
                    self.tokens[name] = LABEL if many == 1 else SINGLE
        else:
            for name in self._label_count.keys() - self.decl.keys():
                self.tokens[name] = self._whole(name, "")
        for name in said.functions | said.broken:
            self.tokens[name] = SINGLE
        for name in self.irregular:
            self.tokens.pop(name, None)

    def _first(self, facts: Facts, special: frozenset[str], plain: dict[str, str]) -> None:
        """Add the declarations of the next chunk while the names are built.

        The names in ``special`` may stand for more than they are declared as; ``plain`` gives the tokens of others.
        """
        decl, tokens = self.decl, self.tokens
        declared, home = facts.decls, self._homes[id(facts)]
        twice = len(set(declared)) < len(declared) or not decl.keys().isdisjoint(declared)
        by_name = not special.isdisjoint(declared)
        for name, rest in zip(declared, facts.properties, strict=True):
            if twice and name in decl:
                self.redeclared.add(name)
                continue
            token = None if by_name and name in special else plain.get(rest)
            if token is None:
                match = alias_in(rest)
                if match is not None:
                    self._aliases.setdefault(match.group(1), []).append(name)
                base = match.group(1) if match is not None and match.group(1) not in self.irregular else ""
                token = self._token(name, rest, match, tokens.get(base))
                if name in special:
                    token = self._whole(name, token)
                elif match is None:
                    plain[rest] = token
            decl[name] = home
            tokens[name] = token

    def _token(self, name: str, rest: str, match: re.Match[str] | None, base_token: str | None) -> str:
        """Return the token of a declaration of a name."""
        definition = rest
        if match is not None:
            base = match.group(1)
            if base_token == SINGLE or base in self.setting.directives.broken:
                return SINGLE
            known = base_token or (base if base in special_words() else UNKNOWN)
            definition = rest[: match.start(1)] + known + rest[match.end(1) :]
        return class_token(definition + self.inputs.get(name, ""))

    def _whole(self, name: str, declared: str) -> str:
        """Return the whole meaning of a name; ``declared`` is empty for an undeclared one."""
        setting, labels = self.setting, self._label_count.get(name, 0)
        said = setting.directives
        if declared == SINGLE or labels > 1 or any(name in some for some in (self.scoped, said.functions, said.broken)):
            return SINGLE
        if name in setting.declared_late and name in self.inputs:
            return SINGLE  # because whether it is an input depends on the place of the directive
        found = LATE + declared if name in setting.declared_late else declared
        if labels:
            found += LABEL if setting.parts is None else f"{LABEL}{setting.parts.get(name, 0)};"
        return self.tokens.words.get(name, name) + found if name in special_words() else found

    def _rest(self, name: str) -> str:
        facts = self.decl[name].facts
        return facts.properties[facts.decls.index(name)]

    def _differences(self, added: list[Facts], gone: list[Facts]) -> set[str]:
        """Update ``decl``; return the names whose declaration was removed, added or moved."""
        old, new = [n for f in gone for n in f.decls], [n for f in added for n in f.decls]
        if not old and not new:
            return set()
        was, now = [r for f in gone for r in f.properties], [r for f in added for r in f.properties]
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
            # Names that stay in an edited chunk need no update one by one.
            before[0].facts = declaring[0]
            self._homes[id(declaring[0])] = before[0]
        else:
            slow.update(self.redeclared.intersection((*old, *new)))
            for f in declaring:
                home = self._homes[id(f)] = Home(f)
                self.decl.update(dict.fromkeys([name for name in f.decls if name not in changed], home))
        for f in declaring:
            if not f.narrow:
                self.irregular.update(n for n in f.decls if not PLAIN_NAME.fullmatch(n))
            fresh = changed.intersection(f.decls)
            for name in fresh:
                known = self.decl.get(name)
                if twice[name] > 1 or name in self.redeclared or (known is not None and known not in ours):
                    slow.add(name)
                else:
                    self.decl[name] = self._homes[id(f)]
        for name in lost:
            if name in self.redeclared:
                slow.add(name)
            elif not twice[name]:
                self._forget(name)
        if slow:
            self._recount(slow)
        return changed | slow

    def _forget(self, name: str) -> None:
        self.decl.pop(name, None)
        self.tokens.pop(name, None)
        self.irregular.discard(name)
        self.redeclared.discard(name)

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
            (self.redeclared.add if len(where) > 1 else self.redeclared.discard)(name)

    def _update_tokens(self, changed: set[str]) -> set[str]:
        """Make new tokens for changed names and all their aliases; return the names whose token differs now."""
        affected: set[str] = set()
        waiting = list(changed)
        while waiting:
            name = waiting.pop()
            if name not in affected:
                affected.add(name)
                waiting.extend(n for n in self._aliases.get(name, ()) if n in self.decl)
        before = {name: dict.get(self.tokens, name) for name in affected}
        places = {name: self.place(name) for name in affected if name in self.decl}
        undeclared = self.setting.directives.functions | self.setting.directives.broken
        for name in affected - places.keys():
            self.tokens.pop(name, None)
            if name not in self.irregular and (name in self._label_count or name in undeclared):
                self.tokens[name] = self._whole(name, "")
        for name in sorted(places, key=places.__getitem__):
            self.tokens.pop(name, None)
            if name in self.irregular:
                continue
            rest = self._rest(name)
            match = alias_in(rest)
            base = match.group(1) if match else None
            token = None
            if base and base in self.decl and (places.get(base) or self.place(base)) < places[name]:
                token = self.tokens.get(base)
            if base and name not in self._aliases.setdefault(base, []):
                self._aliases[base].append(name)
            self.tokens[name] = self._whole(name, self._token(name, rest, match, token))
        if self._spellings is not None:
            for name in changed:
                there = name in self.decl or name in self._label_count
                alike = self._spellings.setdefault(normalize_spelling(name), set())
                (alike.add if there else alike.discard)(name)
                if not normalize_spelling(name).number:
                    self._plain.pop(name, None)
                    self._plain.update({name: None} if there else {})
        return {name for name in affected if name in changed or before[name] != dict.get(self.tokens, name)}


def _join_directives(specials: Sequence[str]) -> str:
    """Return the directives of attributes that matter to some lines only."""
    sets = rule_sets()
    return "".join([f"\x0b{text}" for text in specials if sets.attributes.match(text) and not sets.common.match(text)])


def _inputs_in(specials: Sequence[str]) -> dict[str, str]:
    """Return the input directives of each variable that they name."""
    found: dict[str, str] = {}
    for text in specials:
        match = INPUT.match(text)
        if match:
            name, where = match.groups()
            kind = text.split()[0] + ("" if _PLACED.fullmatch(where) else where)
            found[name] = found.get(name, "") + "\n" + kind
    return found


def find_duplicates(facts: Iterable[Facts]) -> set[str]:
    """Return the names that are declared twice."""
    return {name for name, many in Counter([name for f in facts for name in f.decls]).items() if many > 1}
