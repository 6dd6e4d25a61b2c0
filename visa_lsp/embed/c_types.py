"""The types of C expressions as the compiler declares them in vISA, if their declarations are in the text.

Names of types are looked up, not derived: an expression that is not understood has no type. The compiler's intermediate
language has no unsigned numbers, so that an `uint` operand is declared `d`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from visa_lsp.embed.hidden_parts import VECTOR
from visa_lsp.embed.languages import Host
from visa_lsp.isa.types import TYPE_BY_NAME


class CType(Struct, frozen=True):
    """A type of C: the vISA type of its scalar, the number of scalars per lane, and the number of pointers to it.

    ``pointer`` is the vISA type of the outermost pointer, empty if unknown; for other types, that of a pointer to it.
    """

    visa: str
    count: int = 1
    depth: int = 0
    pointer: str = "uq"

    def element_type(self) -> CType | None:
        """Return the type of an element of a pointer, an array or a vector; None for any other type."""
        if self.depth:
            # The first pointer does not tell the address spaces of pointers in memory.
            return CType(self.visa, self.count, self.depth - 1, self.pointer if self.depth == 1 else "")
        return CType(self.visa, pointer=self.pointer) if self.count > 1 else None

    @property
    def declared(self) -> tuple[str, int] | None:
        """The vISA type and the number of elements per lane."""
        if self.depth:
            return (self.pointer, 1) if self.pointer else None
        return (self.visa, self.count) if self.visa else None


_SCALARS: Final = {
    "b": "char uchar int8_t uint8_t signed_char unsigned_char",
    "w": "short ushort int16_t uint16_t unsigned_short signed_short short_int unsigned_short_int",
    "d": "int uint int32_t uint32_t unsigned signed unsigned_int signed_int",
    "q": "int64_t uint64_t long_long unsigned_long_long size_t ptrdiff_t uintptr_t intptr_t",
    "hf": "half _Float16",
    "f": "float",
    "df": "double",
}
_BY_NAME: Final = {name: visa for visa, names in _SCALARS.items() for name in names.split()}
_OPENCL: Final = {"long": "q", "ulong": "q", "unsigned_long": "q", "signed_long": "q"}
_NOT_TYPES: Final = re.compile(
    r"\b(?:__)?(?:global|constant|private|generic|local|const|volatile|restrict|static|inline|register|constexpr|struct|"
    r"read_only|write_only|kernel|typename|thread_local|mutable|extern)\b|\[\[[^\]]*\]\]|__attribute__\s*\(\([^()]*(?:\([^()]*\))?[^()]*\)\)"
)
_LOCAL: Final = re.compile(r"\b(?:__)?local\b")
_VECTOR: Final = re.compile(r"(?P<base>[a-z]+)(?P<count>2|4|8|16)")
_MAX_ELEMENTS: Final = 1024
_TEMPLATE: Final = re.compile(
    r"(?:\w+::)*(?:vec|marray|simd|vector|vector_ref)\s*<\s*(?P<base>[\w: ]+?)\s*,\s*(?P<count>\d{1,3})\s*>"
)
_OF_PARAMETERS: Final = re.compile(r"<(?P<names>[\w,]*)>")
_GIVEN: Final = re.compile(r"(?:\w+::)*(?P<name>\w+)\s*<(?P<given>.*)>", re.DOTALL)
_NAMESPACE: Final = re.compile(r"^(?:::)?(?:(?:cl|sycl|std|ext|oneapi)::)+")
_CAST: Final = re.compile(r"\(\s*(?P<type>[A-Za-z_][\w\s:<>,]*?)\s*(?P<stars>[*&]*)\s*\)\s*(?=[\w(&*-])")
_NAMED_CAST: Final = re.compile(r"(?:as|convert)_(?P<type>[a-z]+\d{0,2})(?:_sat)?(?:_rt[ezpn])?\s*\(")
_CPP_CAST: Final = re.compile(
    r"(?:(?:static|reinterpret|const|bit)_cast|(?:sycl|std)::bit_cast|(?:sycl::)?bit_cast)\s*<(?P<type>(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*)>\s*\("
)
_PATH: Final = re.compile(r"[A-Za-z_]\w*")
_ELEMENT: Final = re.compile(r"\.(?:[xyzw]|s[0-9a-fA-F]|[rgba])(?!\w)")
_WHOLE: Final = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]{1,16}|\d{1,19})")
_MAX_TYPE_CHARS: Final = 400


def type_named(written: str, depth: int, host: Host, names: Mapping[str, str], *, deep: int = 4) -> CType | None:
    """Return the type of a declaration, with the given number of pointers and arrays around it; None if unknown."""
    local = _LOCAL.search(written) is not None
    pointer = "ud" if local and host is Host.OPENCL else "uq"
    vector = VECTOR.search(written)
    if vector is not None:
        written = written[: vector.start()] + " " + written[vector.end() :]
        base = type_named(written, 0, host, names, deep=deep - 1) if deep else None
        vector_type = _vector(base, vector) if base is not None else None
        # A pointer in the type points to the vector.
        return (
            CType(vector_type.visa, vector_type.count, depth + base.depth, pointer)
            if vector_type is not None and base is not None
            else None
        )
    bare = _NOT_TYPES.sub(" ", written)
    depth += bare.count("*")
    bare = bare.replace("*", " ").replace("&", " ").strip()
    if len(bare) > _MAX_TYPE_CHARS:
        return None
    template = _TEMPLATE.fullmatch(bare)
    if template is not None:
        base = type_named(template["base"], 0, host, names, deep=0)
        return (
            CType(base.visa, int(template["count"]), depth, pointer) if base is not None and base.count == 1 else None
        )
    given = _GIVEN.fullmatch(bare)
    if given is not None:
        filled = _fill_template(names.get(given["name"], ""), given["given"]) if deep else None
        filled_type = type_named(filled, 0, host, names, deep=deep - 1) if filled else None
        return (
            CType(filled_type.visa, filled_type.count, depth + filled_type.depth, pointer)
            if filled_type is not None
            else (CType("", 0, depth, pointer) if depth else None)
        )
    count = 1
    shared = _NAMESPACE.match(bare) is not None
    name = "_".join(_NAMESPACE.sub("", bare).split())
    visa = _scalar(name, host)
    if visa is None and deep and name in names and not names[name].startswith("<"):
        base = type_named(names[name], 0, host, names, deep=deep - 1)
        if base is None:
            return None
        return CType(base.visa, base.count * count, depth + base.depth, pointer)
    if visa is None and (host is Host.OPENCL or shared):
        vector = _VECTOR.fullmatch(name)
        if vector is not None:
            visa, count = _scalar(vector["base"], host), int(vector["count"])
    if visa is None:
        # A pointer in global memory is a pointer, whatever its target.
        return CType("", 0, depth, pointer) if depth and bare else None
    return CType(visa, count, depth, pointer)


def _vector(base: CType, attribute: re.Match[str]) -> CType | None:
    """Return the vector type that an attribute makes of a type; None if its size is not a number."""
    size = attribute["size"].strip()
    if base.count != 1 or base.visa not in TYPE_BY_NAME or not (size.isdigit() and len(size) < 6):
        return None
    count = int(size) // (1 if "ext" in attribute["how"] else TYPE_BY_NAME[base.visa].size)
    return CType(base.visa, count) if 0 < count <= _MAX_ELEMENTS else None


def _fill_template(template: str, given: str) -> str | None:
    """Return a template type with arguments in place of its parameters; None if they do not fit."""
    names = _OF_PARAMETERS.match(template)
    if names is None:
        return None
    parts, values = names["names"].split(","), [value.strip() for value in given.split(",")]
    if len(parts) != len(values):
        return None
    values_by_name = dict(zip(parts, values, strict=True))
    return re.sub(r"\w+", lambda word: values_by_name.get(word[0], word[0]), template[names.end() :])


def _scalar(name: str, host: Host) -> str | None:
    if host is Host.OPENCL and name in _OPENCL:
        return _OPENCL[name]
    return _BY_NAME.get(name)


def type_of(
    expression: str, host: Host, names: Mapping[str, str], variable: Callable[[str], CType | None]
) -> CType | None:
    """Return the type of an expression; None for forms that are not supported."""
    text = expression.strip()
    if not text or len(text) > _MAX_TYPE_CHARS:
        return None
    while text.startswith("(") and _closes(text, 0) == len(text) - 1:
        text = text[1:-1].strip()
    if not text:
        return None
    if text[0] == "&":
        inner = type_of(text[1:], host, names, variable)
        if inner is None:
            return None
        return CType(inner.visa, inner.count, inner.depth + 1, "uq" if inner.depth else inner.pointer)
    if text[0] == "*":
        inner = type_of(text[1:], host, names, variable)
        return inner.element_type() if inner is not None and inner.depth else None
    cast = _CAST.match(text)
    if cast is not None:
        return (
            type_named(cast["type"], cast["stars"].count("*"), host, names) if _is_unary(text[cast.end() :]) else None
        )
    for pattern in (_NAMED_CAST, _CPP_CAST):
        named = pattern.match(text)
        if named is not None and _closes(text, named.end() - 1) == len(text) - 1:
            return type_named(named["type"], 0, Host.OPENCL if pattern is _NAMED_CAST else host, names)
    if _WHOLE.fullmatch(text):
        return CType("d") if abs(int(text, 0 if text.lstrip("+-").lower().startswith("0x") else 10)) < 1 << 32 else None
    return _path(text, variable)


def _path(text: str, variable: Callable[[str], CType | None]) -> CType | None:
    """Return the type of a name with subscripts and components after it."""
    head = _PATH.match(text)
    path_type = variable(head[0]) if head is not None else None
    if head is None or path_type is None:
        return None
    offset = head.end()
    while offset < len(text):
        if text[offset] == "[":
            close = _closes(text, offset)
            inner = path_type.element_type() if close > offset else None
            if inner is None:
                return None
            path_type, offset = inner, close + 1
        elif text[offset].isspace():
            offset += 1
        else:
            element = _ELEMENT.match(text, offset)
            if element is None or path_type.depth or path_type.count < 2:
                return None
            path_type, offset = CType(path_type.visa), element.end()
    return path_type


def _is_unary(text: str) -> bool:
    """Return whether a cast applies to the whole rest: a name, a call, or a bracketed expression."""
    text = text.strip().lstrip("&*-~").lstrip()
    if text.startswith("("):
        return _closes(text, 0) == len(text) - 1
    head = re.match(r"[\w.]+", text)
    offset = head.end() if head is not None else 0
    while offset < len(text) and text[offset] in "[(":
        close = _closes(text, offset)
        if close < 0:
            return False
        offset = close + 1
    return offset == len(text)


def _closes(text: str, offset: int) -> int:
    """Return the offset of the bracket that closes the one at an offset; -1 if it is not closed."""
    depth = 0
    for place in range(offset, len(text)):
        if text[place] in "([":
            depth += 1
        elif text[place] in ")]":
            depth -= 1
            if depth == 0:
                return place
    return -1


def whole_number(expression: str) -> int | None:
    """Return the value of an expression that is a whole number; None for any other."""
    text = expression.strip().rstrip("uUlL")
    while text.startswith("(") and text.endswith(")"):
        text = text[1:-1].strip()
    if _WHOLE.fullmatch(text) is None:
        return None
    digits = text.lstrip("+-")
    if digits.startswith("0") and len(digits) > 1 and digits[1] not in "xX":
        return None  # because octal is rarely intended
    return int(text, 0)
