"""The selection of findings: ``select`` and ``ignore``, for all files or by glob.

A selector is a code (``V101``), the prefix of one (``V1``), a slug (``undeclared-name``) or ``ALL``. The more exact
selector wins; between equals, ``ignore`` does. Knows neither settings files nor options nor texts.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePath
from typing import Final

from msgspec import Struct

from visa_lsp.app.errors import UserError
from visa_lsp.app.suggestions import did_you_mean
from visa_lsp.diagnostics import ALL_RULES, Rule

# Compiled on demand because most runs have no selector.
_CODE: Final = r"[A-Z]\d{0,4}"
_SLUG: Final = r"[a-z]{2,}(-[a-z0-9]+)*"
_EXACT: Final = 100
_GROUPS: Final = frozenset({"V51"})  # prefixes that turn on rules that are off by default: the hints about speed


class FileIgnore(Struct, frozen=True):
    """Selectors ignored in files that match ``pattern``, a glob relative to ``root``."""

    root: str
    pattern: str
    selectors: tuple[str, ...]


class Selection(Struct, frozen=True):
    """The findings to show. An empty ``select`` means everything; ``extend`` adds to it."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file: tuple[FileIgnore, ...] = ()
    extend: tuple[str, ...] = ()

    def shows(self, rule: Rule, path: str) -> bool:
        """Return whether to show the findings of a rule in a file."""
        wanted = max(_weight(self.select, rule) if self.select else 0, _weight(self.extend, rule))
        if wanted < 0 or _weight(self.ignore, rule) >= wanted:
            return False
        return not any(
            any(rule.is_meant(s) for s in f.selectors) for f in self.per_file if glob_matches(f.pattern, f.root, path)
        )

    def extra(self) -> frozenset[str]:
        """Return the codes of rules that are off by default and selected here, by code, slug, prefix or ``ALL``."""
        named = {s.upper() for s in (*self.select, *self.extend)}
        if not named:
            return frozenset()
        from visa_lsp.checks.registry import CHECKS  # imported here because a text with a cached verdict needs no rules

        groups = tuple(named & _GROUPS)
        return frozenset(
            c.rule.code
            for c in CHECKS
            if not c.default
            and (named & {ALL_RULES, c.rule.code, c.rule.name.upper()} or (groups and c.rule.code.startswith(groups)))
        )


def _weight(selectors: Iterable[str], rule: Rule) -> int:
    """Return the exactness of the best of these selectors for a rule; -1 if none matches."""
    return max((_exactness(s, rule) for s in selectors if rule.is_meant(s)), default=-1)


def _exactness(selector: str, rule: Rule) -> int:
    if selector.upper() == ALL_RULES:
        return 0
    return _EXACT if selector.upper() in (rule.code.upper(), rule.name.upper()) else len(selector)


def glob_matches(pattern: str, root: str, path: str) -> bool:
    """Return whether a glob, relative to ``root``, matches a file, its base name or a folder above it; ``*`` matches ``/``."""
    full = Path(path).absolute()
    relative: PurePath
    try:
        relative = full.relative_to(Path(root).absolute())
    except ValueError:
        relative = PurePath(full.name)
    pattern = pattern.removeprefix("./").rstrip("/")
    candidates = [relative.as_posix(), *(p.as_posix() for p in relative.parents if p.name), *relative.parts]
    flat = pattern.replace("**/", "*").replace("**", "*")
    return any(fnmatch.fnmatch(c, pattern) or fnmatch.fnmatch(c, flat) for c in candidates)


def parse_selectors(text: str) -> tuple[str, ...]:
    """Return the selectors of a comma-separated list."""
    return tuple(part for part in re.split(r"[,\s]+", text.strip()) if part)


def validate(selectors: Sequence[str], where: str, list_rules: Callable[[], Sequence[Rule]]) -> None:
    """Raise UserError for a selector in a wrong form, or with a code or slug of no rule of ``list_rules``."""
    for selector in selectors:
        if selector.upper() == ALL_RULES:
            continue
        is_slug = re.fullmatch(_SLUG, selector, re.IGNORECASE) is not None
        if not is_slug and re.fullmatch(_CODE, selector, re.IGNORECASE) is None:
            raise UserError(
                f"{where}: expected a code such as V101, a prefix such as V1, a slug or ALL, got {selector!r}"
            )
        rules = list_rules()
        if rules and not any(rule.is_meant(selector) for rule in rules):
            names = [rule.name if is_slug else rule.code for rule in rules]
            raise UserError(f"{where}: unknown rule {selector!r}{did_you_mean(selector, names)}")
