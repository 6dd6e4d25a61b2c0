"""YAML documents with something odd in them: values of other types, huge numbers, depth, aliases, keys twice, tags.

``document`` writes a value as YAML in one of its styles; ``changed`` puts something odd into a value, ``odd_text`` into its
text. Judges nothing.
"""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import random

VALUES: Final[tuple[Any, ...]] = (
    None, True, False, 0, 1, -1, 7, 16, 255, 4096, 65536, 1 << 31, (1 << 31) - 1, 1 << 32, 1 << 62, 1 << 63, 1 << 64, -(1 << 63),
    10**30, 0.5, -2.25, 1e300, 1e-300, float("inf"), float("-inf"), float("nan"), "", " ", "x", "float32", "int8", "arange",
    "zeros", "../../../etc/passwd", "/dev/zero", "/dev/null", ".", "..", "/", "~", "a\nb", "a\0b", "é", "\U0001f600", "-1", "0x10",
    "0x" + "f" * 3000, "1" * 6000, "1e999", "null", "true", "[x](command:y)", "x" * 300, [], {}, [[]], [{}], [0], [1, 1, 1],
    [0, 1, 1], [1 << 30, 1, 1], [-1, 1, 1], [1, 2], [1, 2, 3, 4], [1 << 20, 1 << 20, 1 << 20], [[1, 2], [3]], {"x": 1}, {"": ""},
    {"buffer": 1}, {"value": []}, {"value": [1, 2, 3]}, {"buffer": {"dtype": "float32", "shape": [4]}}, {"local": 64},
    {"buffer": {"dtype": "uint8", "shape": [1 << 20]}}, {"random": 1}, {"npy": "x.npy"}, {"sampler": {}}, {"image": {}},
)  # fmt: skip
_PIECES: Final = (
    "&a ", "*a", "!!python/object:os.system ", "!!binary ", "!!set ", "!!int ", "!!float ", "!!str ", "!x ", "%YAML 1.2\n", "---\n",
    "...\n", "? ", ": ", "- ", "[", "]", "{", "}", ",", "#", "|", ">", ">-\n", "'", '"', "\\", "\t", "\r", "\x00", "\x85", "\u2028",
    "\ufeff", "<<: *a", "@", "`", "%", "\n", "  ", "0x", "1_000", "0o17", "0b1", "1:30", ".inf", ".nan", "2001-01-01", "yes", "~",
    "&a [*a]", "\udc80", "é", "=",
)  # fmt: skip


def places(value: Any, found: list[tuple[Any, Any]] | None = None) -> list[tuple[Any, Any]]:
    """(map or list, key) of everything inside of a value."""
    found = [] if found is None else found
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found.append((value, key))
        places(item, found)
    return found


def change(draw: random.Random, value: Any, values: tuple[Any, ...] = VALUES) -> Any:
    """Return the value with one thing in it replaced, dropped, doubled, moved or wrapped; it may be changed in place."""
    inside = places(value)
    # A copy, because the inserted value may be changed next, and neither other cases nor the value itself may see that.
    new = deepcopy(draw.choice(values))
    if not inside:
        return new
    holder, key = draw.choice(inside)
    match draw.randrange(7):
        case 0 | 1:
            holder[key] = new
        case 2:
            del holder[key]
        case 3:
            other, there = draw.choice(inside)
            holder[key] = json.loads(json.dumps(other[there]))
        case 4:
            holder[key] = draw.choice(([holder[key]], {"x": holder[key]}, [holder[key]] * draw.choice((2, 300))))
        case 5 if isinstance(holder, dict):
            holder[draw.choice((str(key) + "x", str(key).upper(), "", "kernel", "args", " ", "0", "é"))] = holder.pop(
                key
            )
        case _:
            if isinstance(holder, dict):
                holder[draw.choice(("x", "extra", "groups", "files"))] = new
            else:
                holder.insert(key, new)
    return value


def document(draw: random.Random, value: Any) -> str:
    """Return a value as YAML, in blocks or in one line."""
    if draw.random() < 0.3:
        return _flow(value) + "\n"
    return "\n".join(_block(value, 0)) + "\n"


def _scalar(value: Any) -> str:
    if isinstance(value, float):
        return {"inf": ".inf", "-inf": "-.inf", "nan": ".nan"}.get(repr(value), repr(value))
    if isinstance(value, str) and (value.isalnum() or value.startswith("0x")):
        return value
    return json.dumps(value)


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(str(k))}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value)


def _block(value: Any, depth: int) -> list[str]:
    pad = "  " * depth
    if isinstance(value, dict) and value:
        out = []
        for key, item in value.items():
            if isinstance(item, dict | list) and item and len(_flow(item)) > 60:
                out += [f"{pad}{_scalar(str(key))}:", *_block(item, depth + 1)]
            else:
                out.append(f"{pad}{_scalar(str(key))}: {_flow(item)}")
        return out
    if isinstance(value, list) and value:
        return [f"{pad}- {_flow(item)}" for item in value]
    return [pad + _flow(value)]


def bomb(draw: random.Random) -> str:
    """Aliases that multiply, or depth."""
    match draw.randrange(4):
        case 0:
            rows = ["a0: &a0 [1, 1]"]
            size = draw.choice((5, 10, 60))
            rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, size)]
            return "\n".join(rows) + "\n"
        case 1:
            depth = draw.choice((90, 200, 3000))
            opened, closed = draw.choice((("[", "]"), ("{a: ", "}"), ("- ", "")))
            return "groups: " + opened * depth + "1" + closed * depth + "\n"
        case 2:
            return "groups: &g [*g]\n"
    return "\n".join("  " * n + "a:" for n in range(draw.choice((50, 400)))) + "\n"


def odd_text(draw: random.Random, text: str) -> str:
    """Return the text of a document with something odd in it."""
    for _ in range(draw.choice((1, 1, 2, 4))):
        at = draw.randrange(len(text) + 1)
        match draw.randrange(9):
            case 0 | 1:
                text = text[:at] + draw.choice(_PIECES) + text[at:]
            case 2:
                text = text[:at] + text[at + draw.choice((1, 1, 4, 30)) :]
            case 3:
                lines = text.split("\n")
                lines.insert(draw.randrange(len(lines) + 1), draw.choice(lines))
                text = "\n".join(lines)
            case 4:
                text = text[:at] + draw.choice(_PIECES) * draw.choice((50, 500)) + text[at:]
            case 5:
                text = text.replace("\n", draw.choice(("\r\n", "\r")))
            case 6:
                text = bomb(draw) + text if draw.random() < 0.5 else text + bomb(draw)
            case 7:
                text = (
                    text[:at]
                    + chr(draw.choice((draw.randrange(0x3000), draw.randrange(0x10000, 0x10FFFF))))
                    + text[at:]
                )
            case _:
                digits = [i for i, c in enumerate(text) if c.isdigit()]
                if digits:
                    at = draw.choice(digits)
                    text = (
                        text[:at]
                        + draw.choice(("9" * 40, "0x" + "9" * 5000, "9" * 6000, "-1", "1e400", "1_0"))
                        + text[at + 1 :]
                    )
    return text
