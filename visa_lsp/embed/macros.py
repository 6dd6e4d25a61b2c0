"""Macros of C-like texts, and their expansion as the preprocessor does it, with the places of the arguments.

Knows neither conditions nor vISA. Invariant: an expansion ends after a limited number of tokens, whatever the macros are.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from msgspec import Struct

from visa_lsp.embed.c_tokens import QUALIFIERS, HostToken, tokens_in
from visa_lsp.embed.literals import StringPiece
from visa_lsp.embed.nested_sources import NestedText
from visa_lsp.text import Span

KEYWORD: Final = re.compile(r"\b(?:asm|__asm|__asm__)\b")
_MAX_TOKENS: Final = 50_000  # in one expansion; the longest known one, eight tiles of a matrix product, has 900
_MAX_DEPTH: Final = 40  # of calls in arguments of calls
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_REST: Final = "__VA_ARGS__"


class Macro(Struct, frozen=True):
    """A macro: its parameters, None if it has no list of them, and the text after its head."""

    parameters: tuple[str, ...] | None
    body: str

    @staticmethod
    def of(parameters: str | None, body: str) -> Macro:
        """Return a macro by its list of parameters with the brackets, if there is one."""
        if parameters is None:
            return Macro(None, body)
        names = [" ".join(name.replace("\\", " ").split()) for name in parameters[1:-1].split(",")]
        return Macro(tuple(names) if names != [""] else (), body)

    @property
    def names(self) -> list[str]:
        """The names of the parameters in the body; that of a variable number of arguments is the last."""
        return [_REST if name == "..." else name.removesuffix("...").strip() for name in self.parameters or ()]

    @property
    def is_variadic(self) -> bool:
        """True if the last parameter takes all further arguments."""
        return bool(self.parameters) and (self.parameters or ("",))[-1].endswith("...")


class Expansion(NamedTuple):
    """Expanded tokens as a text with places in the host, and the names of the macros in it."""

    text: NestedText
    names: frozenset[str]


class _Token(NamedTuple):
    """A token: ``call`` is the outermost call that it comes from, ``hidden`` are the macros that it cannot be a call of."""

    kind: str
    text: str
    place: Span
    spaced: bool = False
    call: Span | None = None
    hidden: frozenset[str] = frozenset()


class _TooLongError(Exception):
    """An expansion of too many tokens."""


def callable_macros(macros: Mapping[str, Macro | None]) -> frozenset[str]:
    """Return the macros whose calls must be expanded: those with a parameter in a template of assembly, and their callers."""
    names = {name for name, macro in macros.items() if macro is not None and _fills_template(macro)}
    words = (
        {name: set(_WORD.findall(macro.body)) for name, macro in macros.items() if macro is not None} if names else {}
    )
    while callers := {name for name, used in words.items() if name not in names and used & names}:
        names |= callers
    return frozenset(names)


def _fills_template(macro: Macro) -> bool:
    """Return whether a parameter is a part of the template of an asm statement."""
    if not macro.parameters or KEYWORD.search(macro.body) is None:
        return False
    names = set(macro.names)
    depth, is_template = 0, False
    for token in tokens_in(macro.body, 0, len(macro.body), directives=False):
        sign = macro.body[token.start : token.end]
        if KEYWORD.fullmatch(sign):
            depth, is_template = 0, True
        elif is_template and sign not in QUALIFIERS:
            if sign in names:
                return True
            depth += (sign in "([") - (sign in ")]")
            is_template = depth > 0 and not (depth == 1 and sign == ":")
    return False


def expand_macros(
    text: str, tokens: Sequence[HostToken], macros: Mapping[str, Macro | None], span: Span
) -> Expansion | None:
    """Return the expansion of tokens of a text; None if it is too long."""
    expander = _Expander(macros)
    try:
        expanded = expander.expand(list(_of_host(text, tokens)), 0)
    except _TooLongError:
        return None
    return Expansion(NestedText([*_pieces(expanded)], span), frozenset(expander.used))


def _of_host(text: str, tokens: Sequence[HostToken]) -> Iterator[_Token]:
    end = tokens[0].start if tokens else 0
    for token in tokens:
        yield _Token(token.kind, text[token.start : token.end], Span(token.start, token.end), token.start > end)
        end = token.end


def _pieces(tokens: Sequence[_Token]) -> Iterator[StringPiece]:
    """Yield the tokens with their places, in the order of the host and without overlaps.

    Of the arguments of a call, strings of several words keep their places; everything else gets the rest of the call.
    """
    kept: list[Span | None] = []
    end = 0
    for token in tokens:
        is_own = token.call is None or (
            token.kind in ("raw", "string") and " " in token.text and token.place != token.call
        )
        kept.append(token.place if is_own and token.place.start >= end else None)
        end = max(end, token.place.end) if kept[-1] is not None else end
    starts, start = [0] * len(tokens), 1 << 62
    for index in range(len(tokens) - 1, -1, -1):
        starts[index] = start
        place = kept[index]
        start = place.start if place is not None else start
    end = 0
    for token, own, following in zip(tokens, kept, starts, strict=True):
        call = token.call or token.place
        rest_start = max(call.start, end)
        place = own or Span(rest_start, max(rest_start, min(call.end, following)))
        end = place.end if own is not None else end
        yield StringPiece(token.text, place, exact=own is not None)
        yield StringPiece(" ", Span(place.end, place.end), exact=False)


class _Expander:
    """Expands the calls in lists of tokens; counts the tokens and collects the names of macros."""

    def __init__(self, macros: Mapping[str, Macro | None]) -> None:
        self._macros = macros
        self._left = _MAX_TOKENS
        self.used: set[str] = set()

    def expand(self, tokens: list[_Token], depth: int) -> list[_Token]:
        """Return tokens with every call in them expanded. Raises _TooLongError."""
        if depth > _MAX_DEPTH:
            raise _TooLongError
        out: list[_Token] = []
        queue = deque(tokens)
        while queue:
            token = queue.popleft()
            self._left -= 1
            if self._left < 0:
                raise _TooLongError
            macro = self._macros.get(token.text) if token.kind == "word" and token.text not in token.hidden else None
            is_stringized = bool(out) and out[-1].text == "#"
            if macro is None or is_stringized:
                out.append(token)
                continue
            arguments: list[list[_Token]] = []
            last = token
            if macro.parameters is not None:
                taken = _take_arguments(queue)
                if taken is None:
                    out.append(token)
                    continue
                arguments, last = taken
            self.used.add(token.text)
            call = token.call or Span(token.place.start, max(last.place.end, token.place.end))
            hidden = (token.hidden & last.hidden if macro.parameters is not None else token.hidden) | {token.text}
            body = self._substitute(macro, arguments, call, depth)
            self._left -= len(body)
            queue.extendleft(t._replace(call=t.call or call, hidden=t.hidden | hidden) for t in reversed(body))
        return out

    def _substitute(self, macro: Macro, arguments: list[list[_Token]], call: Span, depth: int) -> list[_Token]:
        """Return the body of a macro with its arguments."""
        names = macro.names
        if macro.is_variadic and len(arguments) >= len(names):
            rest = arguments[len(names) - 1 :]
            joined = list(rest[0])
            for argument in rest[1:]:
                joined += [_Token("other", ",", call, call=call), *argument]
            arguments = [*arguments[: len(names) - 1], joined]
        given = dict(zip(names, [*arguments, *([] for _ in names)], strict=False))
        body = [_Token(kind, text, call, spaced, call) for kind, text, spaced in _body_tokens(macro.body)]
        out: list[_Token] = []
        index = 0
        while index < len(body):
            token = body[index]
            following = body[index + 1].text if index + 1 < len(body) else ""
            index += 1
            if token.text == "#" and following in given:
                out.append(_Token("string", _quote(given[following]), call, token.spaced, call))
                index += 1
            elif token.text == "##" and out and index < len(body):
                right = given.get(body[index].text, [body[index]])
                index += 1
                if out[-1].text == "," and (not right or macro.is_variadic):
                    out = [*out[:-1], *([out[-1], *right] if right else ())]
                elif right:
                    out[-1:] = [*_paste(out[-1], right[0], call), *right[1:]]
            elif token.text in given and following == "##":
                out += given[token.text] or [_Token("blank", "", call, call=call)]
            elif token.text in given:
                out += self.expand(given[token.text], depth + 1)
            else:
                out.append(token)
        return [token for token in out if token.text]


def _take_arguments(queue: deque[_Token]) -> tuple[list[list[_Token]], _Token] | None:
    """Take the arguments of a call and its closing bracket off the queue; without brackets take nothing and return None."""
    if not queue or queue[0].text != "(":
        return None
    depth, arguments = 0, [[]]  # type: tuple[int, list[list[_Token]]]
    for number, token in enumerate(queue):
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0:
            for _ in range(number + 1):
                queue.popleft()
            return (arguments if arguments != [[]] else []), token
        if depth == 1 and token.text == ",":
            arguments.append([])
        elif number:
            arguments[-1].append(token)
    return None


@lru_cache(maxsize=256)
def _body_tokens(body: str) -> tuple[tuple[str, str, bool], ...]:
    """Return the tokens of a body: kind, text, whether a blank is before it; ``##`` is one token."""
    tokens: list[tuple[str, str, bool]] = []
    end = 0
    for token in tokens_in(body, 0, len(body), directives=False):
        text = body[token.start : token.end]
        if text == "#" and tokens and tokens[-1][1] == "#" and token.start == end:
            tokens[-1] = ("other", "##", tokens[-1][2])
        else:
            tokens.append((token.kind, text, token.start > end))
        end = token.end
    return tuple(tokens)


def _quote(tokens: Iterable[_Token]) -> str:
    """Return the string of an argument after ``#``."""
    words = "".join((" " if token.spaced else "") + _escape_quotes(token) for token in tokens).strip()
    return f'"{words}"'


def _escape_quotes(token: _Token) -> str:
    return token.text.replace("\\", "\\\\").replace('"', '\\"') if token.kind in ("raw", "string") else token.text


def _paste(left: _Token, right: _Token, call: Span) -> Iterator[_Token]:
    """Yield the tokens of two texts without a blank between."""
    text = left.text + right.text
    for token in tokens_in(text, 0, len(text), directives=False):
        yield _Token(token.kind, text[token.start : token.end], call, left.spaced, call, left.hidden | right.hidden)
