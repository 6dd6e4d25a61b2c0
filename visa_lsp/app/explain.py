"""The page of a word: an instruction, a finding, a variable, a type, an attribute, a platform, or a term of the glossary.

Everything comes from the tables that the other operations use.
"""

from __future__ import annotations

from visa_lsp.app.rule_registry import page, rule_called
from visa_lsp.ide.prose.message import describe_form
from visa_lsp.ide.prose.opcode import describe_modifier, describe_slot, type_limits
from visa_lsp.isa import predefined
from visa_lsp.isa.attributes import ATTRIBUTES
from visa_lsp.isa.glossary import entry, term_called
from visa_lsp.isa.model import Dialect, Instruction
from visa_lsp.isa.platforms import ALL, PLATFORMS, Platform, platform_named
from visa_lsp.isa.table import TABLE
from visa_lsp.isa.types import TYPES, type_named


def explain_text(word: str, platform: str | None = None) -> str | None:
    """Return the page of a word in Markdown; None for an unknown word."""
    pages = [page for page in (_explain_name(word, platform), _term(word)) if page is not None]
    return "\n\n---\n\n".join(pages) or None


def _explain_name(word: str, platform: str | None) -> str | None:
    rule = rule_called(word)
    if rule is not None:
        return page(rule)
    words = word.split(".")
    rows, taken = TABLE.lookup(words if word in words or words[0] else [word])
    if not rows and word.lower() != word:
        rows, taken = TABLE.lookup(word.lower().split("."))
    if rows and taken:
        chosen = platform_named(platform) if platform else None
        return "\n\n---\n\n".join(instruction_text(row, chosen) for row in rows)
    return _variable(word) or _type(word) or _attribute(word) or _platform(word)


def instruction_text(row: Instruction, platform: Platform | None = None) -> str:
    """Return the page of an instruction in Markdown; with a platform, whether that has the instruction."""
    parts = [f"# {row.mnemonic}", row.summary, f"```visa\n{row.syntax}\n```"]
    if row.detail:
        parts.append(row.detail)
    if row.slots:
        parts.append("\n".join(["## Operands", "", *(f"- {describe_slot(slot)}" for slot in row.slots)]))
    if row.modifiers:
        parts.append("\n".join(["## Modifiers", "", *(f"- {describe_modifier(m)}" for m in row.modifiers)]))
    memory = describe_form(row.meaning)
    if memory:
        parts.append("\n".join(["## Memory", "", *(f"- {line}" for line in memory)]))
    limits = type_limits(row)
    if limits:
        parts.append("\n".join(["## Types", "", *(f"- {line}" for line in limits)]))
    if row.pitfalls:
        parts.append("\n".join(["## Take care", "", *(f"- {p}" for p in row.pitfalls)]))
    parts.append("\n".join(["## Where", "", *(f"- {line}" for line in _where(row, platform))]))
    return "\n\n".join(parts)


def _where(row: Instruction, platform: Platform | None) -> list[str]:
    lines = []
    if platform is not None:
        has = "has" if platform.name in row.platforms else "does not have"
        lines.append(f"{platform.name} {has} it")
    names = [p.name for p in PLATFORMS if p.name in row.platforms]
    lines.append("all platforms" if row.platforms == ALL else "platforms: " + " ".join(names))
    lines.append("dialects: " + " ".join(d.value for d in Dialect if d in row.dialects))
    if len(row.exec_sizes) and row.exec_style.value != "none":
        lines.append("execution sizes: " + " ".join(str(size) for size in row.exec_sizes))
    lines.append("can be predicated" if row.predicable else "cannot be predicated")
    if row.opcode is not None:
        seed = f" (seed 003: 0x{row.seed_opcode:02X})" if row.seed_opcode not in (None, row.opcode) else ""
        lines.append(f"opcode 0x{row.opcode:02X}{seed}")
    return lines


def _variable(word: str) -> str | None:
    name = predefined.VARIABLE_ALIASES.get(word.lower(), word)
    variable = predefined.VARIABLE_BY_NAME.get(name) or predefined.VARIABLE_BY_NAME.get(name.lower())
    if variable is not None:
        access = (
            "read and written" if variable.writable else "read" if variable.readable else "neither read nor written"
        )
        facts = f"V{variable.number}, {variable.num_elements} x `{variable.type.name}`, can be {access}"
        return f"# {variable.name}\n\n{variable.doc}\n\n{facts}{', may have aliases' if variable.aliasable else ''}\n"
    state = predefined.SURFACE_BY_NAME.get(
        predefined.SURFACE_ALIASES.get(word, word)
    ) or predefined.SAMPLER_BY_NAME.get(word)
    return f"# {state.name}\n\n{state.doc}\n" if state is not None else None


def _type(word: str) -> str | None:
    type_ = type_named(word.removeprefix(":"))
    if type_ is None or type_ not in TYPES:
        return None
    return f"# {type_.name}\n\n{type_.doc[0].upper()}{type_.doc[1:]}. Code {type_.code} in objects.\n"


def _attribute(word: str) -> str | None:
    attribute = next((a for a in ATTRIBUTES if a.name.lower() == word.lower()), None)
    if attribute is None:
        return None
    owner = "a variable" if attribute.of_variable else "a kernel"
    values = f" Values: {', '.join(str(v) for v in attribute.values)}." if attribute.values else ""
    return f"# {attribute.name}\n\n{attribute.doc}\n\nAttribute of {owner}; takes {attribute.kind.value}.{values}\n"


def _platform(word: str) -> str | None:
    platform = platform_named(word)
    if platform is None:
        return None
    names = ", ".join(platform.words[1:])
    return f"# {platform.name}\n\n{platform.doc}. Registers of {platform.grf_bytes} bytes. Other names: {names}.\n"


def _term(word: str) -> str | None:
    term = term_called(word)
    return f"# {term.name}\n\n{entry(term)}\n" if term is not None else None
