"""The names of one body, with a token for the meaning of each.

A token stands for the text of a declaration without its name, the tokens of the variables that it is an alias of,
whether it is an input, and whether there is a label of that name. Knows no line numbers: the place of a declaration is
its chunk. Invariant: two names of one token mean the same to every rule of scope LINE.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from visa_lsp.analysis.rule_sets import rule_sets
from visa_lsp.analysis.setting import Setting
from visa_lsp.analysis.tokens import LABEL, LATE, SINGLE, UNKNOWN, Tokens, class_token
from visa_lsp.checks.support.name_index import MAX_PLAIN_NAMES, Spelling, is_likened, normalize_spelling
from visa_lsp.sema.special_words import special_words
from visa_lsp.syntax.bulk import LETTERS_TOKEN, NARROW_NAME, PLAIN_NAME, TOKEN, Facts
from visa_lsp.syntax.chunk_facts import INPUT, alias_in, base_of
from visa_lsp.syntax.document import common
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
    names = NAME.findall(code) if len(code) <= MAX_LINE else []
    # A directive reads only the part of a name before such a sign.
    parts = _SIGNS.sub(" ", " ".join(names)).split() if _SIGNS.search(code) else ()
    return frozenset(names).union(parts)


class _Alias(NamedTuple):
    """A declaration of an alias: its text before and after the base; ``is_early`` if the base follows it in the chunk."""

    name: str
    head: str
    base: str
    tail: str
    is_early: bool


class _ChunkTokens(Struct):
    """The tokens of the names that a chunk declares, by their first declarations.

    Those of aliases are valid while those of their ``bases`` in other chunks are ``of_bases``. ``owners`` has the facts for
    each name.
    """

    facts: Facts
    owners: dict[str, Facts]
    tokens: dict[str, str]
    aliases: list[_Alias]
    bases: list[str]
    of_bases: list[str | None] | None = None

    @staticmethod
    def of(facts: Facts) -> _ChunkTokens:
        """Return the tokens that the facts of a chunk determine, without those of aliases."""
        tokens: dict[str, str] = {}
        aliases: list[_Alias] = []
        for number, (name, rest) in enumerate(zip(facts.decls, facts.properties, strict=True)):
            match = alias_in(rest)
            if match is None:
                tokens.setdefault(name, class_token(rest))
            else:
                base = match.group(1)
                is_early = base in facts.decls[number:]
                aliases.append(_Alias(name, rest[: match.start(1)], base, rest[match.end(1) :], is_early))
        bases = sorted({alias.base for alias in aliases}.difference(facts.decls))
        return _ChunkTokens(facts, dict.fromkeys(facts.decls, facts), tokens, aliases, bases)


class Names:
    """The names of a body.

    ``redeclared`` names are declared twice; ``irregular`` ones have signs that references cannot have.
    """

    __slots__ = (
        "_chunk_tokens", "_facts", "_label_count", "_made_anew", "_numbers", "_plain", "_single", "_spellings", "decl", "inputs",
        "irregular", "pattern", "redeclared", "said", "scoped", "setting", "tokens",
    )  # fmt: skip

    def __init__(self) -> None:
        self.decl: dict[str, Facts] = {}  # the facts of the chunk with the first declaration of each name
        self.tokens = Tokens()
        self.redeclared: set[str] = set()
        self.irregular: set[str] = set()
        self.setting = Setting()
        self.scoped: set[str] = set()
        self.inputs: dict[str, str] = {}
        self.said = ""  # the attributes, for lines with words that depend on them
        self.pattern = TOKEN
        self._label_count: Counter[str] = Counter()
        # Names by their spelling; None until a missing name needs a suggestion.
        self._spellings: dict[Spelling, set[str]] | None = None
        self._plain: dict[str, None] = {}  # those without a number
        self._facts: list[Facts] = []
        self._numbers: dict[int, int] = {}  # the number of a chunk by the id of these facts
        self._single: set[str] = set()  # the names with the token SINGLE because of directives and scopes
        self._chunk_tokens: dict[int, _ChunkTokens] = {}  # by the facts of the chunk
        self._made_anew: list[str] = []  # the aliases whose tokens the last update made

    # ---- questions ----

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
        closure, places, waiting = set[str](), list[tuple[int, int]](), set(names)
        twice: dict[str, list[tuple[int, int]]] = {}
        while waiting:
            name = waiting.pop()
            closure.add(name)
            if name in self.redeclared and not twice:
                twice = self._twice_declared()
            for index, number in twice.get(name) or ([self.place(name)] if name in self.decl else ()):
                places.append((index, number))
                base = base_of(self._facts[index].properties[number])
                if base and base not in closure:
                    waiting.add(base)
        return closure, places

    def find_declarations(self, names: set[str]) -> list[tuple[int, int]]:
        """Return (chunk, number of the declaration in it) for all declarations of names."""
        twice = {} if names.isdisjoint(self.redeclared) else self._twice_declared()
        return [place for n in sorted(names) if n in self.decl for place in twice.get(n) or [self.place(n)]]

    def _twice_declared(self) -> dict[str, list[tuple[int, int]]]:
        """Return all declarations of the names that have two or more."""
        places: dict[str, list[tuple[int, int]]] = {}
        for index, facts in enumerate(self._facts):
            for k, name in enumerate(facts.decls if not self.redeclared.isdisjoint(facts.decls) else ()):
                if name in self.redeclared:
                    places.setdefault(name, []).append((index, k))
        return places

    def place(self, name: str) -> tuple[int, int]:
        """Return (chunk, number of the declaration in it) of a declared name; the first of several."""
        index = self._numbers[id(self.decl[name])]
        return index, self._facts[index].decls.index(name)

    def spelt_like(self, word: str) -> set[str]:
        """Return every declared name and label that a rule could suggest for a missing one."""
        names_by_spelling = self._spellings
        if names_by_spelling is None:
            names_by_spelling = self._spellings = {}
            for name in self.decl.keys() | self._label_count.keys():
                names_by_spelling.setdefault(normalize_spelling(name), set()).add(name)
            self._plain = dict.fromkeys(
                sorted([n for alike in names_by_spelling if not alike.number for n in names_by_spelling[alike]])
            )
        # Because similar names are not suggested if there are more.
        plain = islice(self._plain, MAX_PLAIN_NAMES + 1) if is_likened(word) else ()
        return names_by_spelling.get(normalize_spelling(word), set()).union(plain)

    def with_label(self, names: set[str]) -> list[int]:
        """Return the chunks that define labels of some names."""
        labels = self._label_count.keys() & names
        return [i for i, f in enumerate(self._facts) if f.labels and not labels.isdisjoint(f.labels)] if labels else []

    # ---- changes ----

    def update(
        self, facts: list[Facts], gone: list[Facts], added: range, setting: Setting, *, fresh: bool
    ) -> set[str] | None:
        """Replace the chunks; return the names whose token changed, or None if every line must be judged anew."""
        old, inputs, new = self.setting, self.inputs, [facts[index] for index in added]
        if setting.directives is not old.directives:
            inputs = _inputs_in(setting.directives.texts)
        changed = _differences(gone, new) | {name for name, _ in inputs.items() ^ self.inputs.items()}
        said, before = setting.directives, old.directives
        changed |= (said.functions ^ before.functions) | (said.broken ^ before.broken) | (setting.lone ^ old.lone)
        changed |= setting.declared_late ^ old.declared_late
        if setting.parts is not old.parts:
            changed.update(name for name, _ in (setting.parts or {}).items() ^ (old.parts or {}).items())
        self._facts, self.setting = facts, setting
        # Declarations may have moved from one of several chunks to another.
        if not (changed or fresh or not len(gone) == len(added) <= 1 or setting.scoped is not None):
            return changed
        tokens, scoped, pattern = self.tokens, self.scoped, self.pattern
        self._build(inputs, wide=not fresh and pattern is LETTERS_TOKEN)
        if fresh or self.pattern is not pattern:
            self._spellings = None
            return None
        changed |= scoped ^ self.scoped
        anew = self._made_anew
        changed.update([name for name in anew if dict.get(tokens, name) != dict.get(self.tokens, name)])
        if self._spellings is not None:
            for name in changed:
                there = name in self.decl or name in self._label_count
                alike = self._spellings.setdefault(normalize_spelling(name), set())
                (alike.add if there else alike.discard)(name)
                if not normalize_spelling(name).number:
                    self._plain.pop(name, None)
                    self._plain.update({name: None} if there else {})
        return changed

    def _build(self, inputs: dict[str, str], *, wide: bool) -> None:
        facts, setting, said = self._facts, self.setting, self.setting.directives
        self.inputs = inputs
        self.scoped = setting.scoped(find_duplicates(facts)) if setting.scoped is not None else set()
        wide = wide or any(not f.narrow for f in facts) or not all(map(NARROW_NAME.fullmatch, said.functions))
        self.pattern = LETTERS_TOKEN if wide else TOKEN
        self.said = _join_directives(said.texts)
        words = {word: word + self.said for word in rule_sets().attribute_words}
        self.tokens, self.irregular, self._made_anew = Tokens(words), set(), []
        self._label_count = Counter([name for f in facts for name in f.labels])
        self._single = self.scoped | said.functions | said.broken
        kept = self._chunk_tokens
        self._chunk_tokens = {id(f): kept.get(id(f)) or _ChunkTokens.of(f) for f in facts if f.decls}
        self._numbers = {id(f): index for index, f in reversed([*enumerate(facts)])}
        self._find_owners([kept[number] for number in kept.keys() - self._chunk_tokens.keys()], kept)
        special = special_words().union(inputs, self._single, setting.declared_late, self._label_count)
        with_special = {id(self.decl[name]) for name in self.decl.keys() & special}
        for f in facts:
            if not f.narrow:
                self.irregular.update(n for n in (*f.decls, *f.labels) if not PLAIN_NAME.fullmatch(n))
            if not f.decls:
                continue
            if id(f) in with_special or not self.redeclared.isdisjoint(f.decls if self.redeclared else ()):
                self._declare_each(self._chunk_tokens[id(f)], special)
            else:
                self._declare(self._chunk_tokens[id(f)])
        for name in self._label_count.keys() - self.decl.keys():
            self.tokens[name] = self._whole(name, "")
        for name in said.functions | said.broken:
            self.tokens[name] = SINGLE
        for name in self.irregular:
            self.tokens.pop(name, None)

    def _find_owners(self, gone: list[_ChunkTokens], before: dict[int, _ChunkTokens]) -> None:
        """Bring ``decl`` and ``redeclared`` up to date with the chunks; ``gone`` are those that were in ``before`` only."""
        count = sum(len(f.decls) for f in self._facts)
        if not self.redeclared:
            for name in [name for chunk in gone for name in chunk.owners]:
                del self.decl[name]
            for number in self._chunk_tokens.keys() - before.keys():
                self.decl.update(self._chunk_tokens[number].owners)
            if len(self.decl) == count:
                return
        self.decl = {}
        for f in reversed(self._facts):  # so that the first declaration of a name is left
            if f.decls:
                self.decl.update(self._chunk_tokens[id(f)].owners)
        self.redeclared = find_duplicates(self._facts) if len(self.decl) < count else set()

    def _declare(self, chunk: _ChunkTokens) -> None:
        """Add the declarations of the next chunk."""
        tokens = self.tokens
        tokens.update(chunk.tokens)
        odd = self.irregular | self.setting.directives.broken
        bases = [dict.get(tokens, base) for base in chunk.bases]
        is_odd = not odd.isdisjoint(chunk.bases)
        if is_odd or bases != chunk.of_bases:
            for alias in chunk.aliases:
                tokens[alias.name] = chunk.tokens[alias.name] = self._alias_token(alias, is_early=alias.is_early)
            chunk.of_bases = None if is_odd else bases
            self._made_anew += [alias.name for alias in chunk.aliases]

    def _declare_each(self, chunk: _ChunkTokens, special: frozenset[str]) -> None:
        """Add declarations, some of names in ``special``, which may stand for more than they are declared as, or declared twice."""
        tokens = self.tokens
        self._made_anew += [alias.name for alias in chunk.aliases]
        aliases = {alias.name: alias for alias in reversed(chunk.aliases)}
        for name, rest in zip(chunk.facts.decls, chunk.facts.properties, strict=True):
            if name in tokens:  # declared before
                continue
            is_plain = alias_in(rest) is None
            token = class_token(rest + self.inputs.get(name, "")) if is_plain else self._alias_token(aliases[name])
            tokens[name] = self._whole(name, token) if name in special else token

    def _alias_token(self, alias: _Alias, *, is_early: bool = False) -> str:
        """Return the token of an alias whose earlier declarations have theirs."""
        name, head, base, tail, _ = alias
        base_token = None if is_early or base in self.irregular else dict.get(self.tokens, base)
        if base_token == SINGLE or base in self.setting.directives.broken:
            return SINGLE
        meaning = base_token or (base if base in special_words() else UNKNOWN)
        return class_token(head + meaning + tail + self.inputs.get(name, ""))

    def _whole(self, name: str, declared: str) -> str:
        """Return the whole meaning of a name; ``declared`` is empty for an undeclared one."""
        setting, labels = self.setting, self._label_count.get(name, 0)
        if declared == SINGLE or labels > 1 or name in self._single:
            return SINGLE
        if name in setting.declared_late and name in self.inputs:
            return SINGLE  # because whether it is an input depends on the place of the directive
        meaning = LATE + declared if name in setting.declared_late else declared
        if labels:
            meaning += LABEL if setting.parts is None else f"{LABEL}{setting.parts.get(name, 0)};"
        return self.tokens.words.get(name, name) + meaning if name in special_words() else meaning


def _differences(gone: Sequence[Facts], new: Sequence[Facts]) -> set[str]:
    """Return the names whose declarations or labels are removed, added or moved between two runs of chunks."""
    before, after = ([pair for f in side for pair in zip(f.decls, f.properties, strict=True)] for side in (gone, new))
    head, tail = common(before, after)
    labels = [Counter(name for f in side for name in f.labels).items() for side in (gone, new)]
    pairs = before[head : len(before) - tail] + after[head : len(after) - tail]
    return {name for name, _ in (*pairs, *(labels[0] ^ labels[1]))}


def _join_directives(specials: Sequence[str]) -> str:
    """Return the directives of attributes that matter to some lines only."""
    sets = rule_sets()
    return "".join([f"\x0b{text}" for text in specials if sets.attributes.match(text) and not sets.common.match(text)])


def _inputs_in(specials: Sequence[str]) -> dict[str, str]:
    """Return the input directives of each variable that they name."""
    directives: dict[str, str] = {}
    for text in specials:
        match = INPUT.match(text)
        if match:
            name, where = match.groups()
            kind = text.split()[0] + ("" if _PLACED.fullmatch(where) else where)
            directives[name] = directives.get(name, "") + "\n" + kind
    return directives


def find_duplicates(facts: Iterable[Facts]) -> set[str]:
    """Return the names that are declared twice."""
    return {name for name, many in Counter([name for f in facts for name in f.decls]).items() if many > 1}
