"""Compares a ze_info document with the kernels that it describes: disagreements, each with a place in both.

Knows items and resolved kernels, neither files nor syntax. ``disagreements`` returns the findings about the document.
Invariant: without a platform it reports only disagreements that exist for every register size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.diagnostics import Diagnostic, Rule, Severity
from visa_lsp.program.payload_layout import CANDIDATES, PayloadLayout, Registers
from visa_lsp.suggest import nearest
from visa_lsp.zeinfo import rules
from visa_lsp.zeinfo.disagreement import disagreement
from visa_lsp.zeinfo.facts import KernelText, uses_of
from visa_lsp.zeinfo.input_use import has_own_memory
from visa_lsp.zeinfo.kernels import child, entries, number, word_of
from visa_lsp.zeinfo.placement import payload_disagreements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.program.model import Inst
    from visa_lsp.text import Span
    from visa_lsp.zeinfo.source import ZeInfoSource
    from visa_lsp.zeinfo.yaml import YamlItem
    from visa_lsp.zeinfo.zebin import Zebin

_DEFAULT_GRFS = 128


def disagreements(
    source: ZeInfoSource, texts: Sequence[KernelText], platform: Registers | None = None
) -> tuple[Diagnostic, ...]:
    """Compare a document with kernels; a kernel that the document lacks is reported at its text.

    A document may also describe kernels of other texts, which is not a disagreement.
    """
    kernels = {word_of(k, "name"): k for k in entries(source.root, "kernels")}
    findings: list[Diagnostic] = []
    for text in texts:
        if not text.kernel.is_kernel:
            continue
        item = kernels.get(text.kernel.name)
        if item is None:
            findings.append(_no_kernel(source, text, kernels))
        else:
            findings += kernel_disagreements(source, item, text, platform)
    return tuple(findings)


def codeless_kernels(source: ZeInfoSource, zebin: Zebin) -> list[Diagnostic]:
    """Return a finding for each kernel of a zebin's document without code in the zebin."""
    findings = []
    for kernel in entries(source.root, "kernels"):
        name, item = word_of(kernel, "name"), child(kernel, "name")
        if name and item is not None and zebin.lacks_code(name):
            message = f"this zebin has no section .text.{name}, so the runtime finds no code for kernel '{name}'"
            findings.append(Diagnostic(rules.NO_CODE, source.span(item), message))
    return findings


def _no_kernel(source: ZeInfoSource, text: KernelText, kernels: dict[str, YamlItem]) -> Diagnostic:
    name = text.kernel.name
    near = nearest(name, [k for k in kernels if k])
    key = child(kernels[near], "name") if near else child(source.root, "kernels")
    hint = f"; it has '{near}'" if near else ""
    span = source.span(key if key is not None else source.root) if source.root is not None else text.name
    value = name if near else ""
    related = (text.name, f"kernel '{name}'", text.path)
    return disagreement(rules.NO_SUCH_KERNEL, span, related, f"the document has no kernel '{name}'{hint}", value)


def kernel_disagreements(
    source: ZeInfoSource, item: YamlItem, text: KernelText, platform: Registers | None = None
) -> list[Diagnostic]:
    """Compare one kernel's entry with the kernel."""
    findings = _environment(source, item, text)
    tries = (platform,) if platform is not None else CANDIDATES
    placed = [payload_disagreements(source, item, text, layout_of(item, text, grf)) for grf in tries]
    return findings + min(placed, key=len)


def find_layout(
    source: ZeInfoSource, item: YamlItem, text: KernelText, platform: Registers | None = None
) -> PayloadLayout:
    """Return the payload layout of a kernel: that of the platform, else the one with the fewest disagreements."""
    tries = (platform,) if platform is not None else CANDIDATES
    layouts = [layout_of(item, text, grf) for grf in tries]
    return min(layouts, key=lambda layout: len(payload_disagreements(source, item, text, layout)))


def layout_of(item: YamlItem, text: KernelText, grf: Registers) -> PayloadLayout:
    """Return the layout of a kernel's payload, for the SIMD width of its text."""
    env = child(item, "execution_env")
    said = number(env, "simd_size") or 1
    per_thread = [
        (word_of(e, "arg_type"), number(e, "offset") or 0, number(e, "size") or 0)
        for e in entries(item, "per_thread_payload_arguments")
    ]
    return PayloadLayout.of(
        grf,
        max((offset + size for _, offset, size in per_thread), default=0),
        sum(size for kind, _, size in per_thread if kind == "local_id"),
        said,
        text.kernel.int_attribute("SimdSize") or said,
        number(env, "inline_data_payload_size") or 0,
    )


def _environment(source: ZeInfoSource, item: YamlItem, text: KernelText) -> list[Diagnostic]:
    env = child(item, "execution_env")
    if env is None or not isinstance(env.value, dict):
        return []
    check = _Check(source, env, item, text)
    kernel = text.kernel
    uses = uses_of(kernel)
    simd, said = kernel.int_attribute("SimdSize"), number(env, "simd_size")
    if simd is not None and said is not None and simd != said:
        check.differs(
            rules.SIMD_DIFFERS, "simd_size", str(simd), text.attribute("SimdSize"), f"the kernel has SimdSize={simd}"
        )
    grfs = kernel.int_attribute("NumGRF")
    if grfs and grfs != (number(env, "grf_count") or _DEFAULT_GRFS):
        check.differs(
            rules.GRF_DIFFERS, "grf_count", str(grfs), text.attribute("NumGRF"), f"the kernel has NumGRF={grfs}"
        )
    check.barriers(uses.barrier, uses.named_barriers)
    check.compare_slm_size(uses.slm)
    check.flag("has_stack_calls", uses.stack_call, "calls functions through the stack")
    check.flag("has_global_atomics", uses.global_atomic, "has atomic operations on global memory")
    check.flag("has_dpas", uses.dpas, "has systolic instructions")
    if child(env, "has_sample") is not None:
        check.flag("has_sample", uses.sample, "samples images")
    if uses.stateless_write is not None and _true(env, "has_no_stateless_write"):
        # Only a remark, because the compiler also writes this for BDW, where every buffer is accessed by address.
        check.differs(
            rules.FLAG_DIFFERS, "has_no_stateless_write", "false", text.instruction(uses.stateless_write),
            f"the kernel writes by address ({uses.stateless_write.row.mnemonic})", Severity.INFORMATION,
        )  # fmt: skip
    bound = {number(b, "bti_value") for b in entries(item, "binding_table_indices")}
    bound |= {number(a, "bti_value") for a in entries(item, "payload_arguments")}
    for surface, inst in uses.surfaces.items():
        if surface not in bound:
            check.say(
                rules.SURFACE_DIFFERS, "binding_table_indices", text.instruction(inst),
                f"the kernel uses surface {surface}, but binding_table_indices has no entry for it",
                f"{inst.row.mnemonic} uses surface {surface}",
            )  # fmt: skip
    return check.found


def _true(env: YamlItem, key: str) -> bool:
    item = child(env, key)
    return item is not None and item.value is True


class _Check:
    """The disagreements about one execution_env."""

    def __init__(self, source: ZeInfoSource, env: YamlItem, item: YamlItem, text: KernelText) -> None:
        self.source = source
        self.env = env
        self.item = item
        self.text = text
        self.found: list[Diagnostic] = []

    def place(self, key: str) -> Span:
        """Return the value of a key of the environment or kernel; if it is missing, the map without it."""
        for holder in (self.env, self.item):
            item = child(holder, key)
            if item is not None:
                return (
                    self.source.key_span(holder, key) if isinstance(item.value, dict | list) else self.source.span(item)
                )
        return self.source.key_span(self.item, "execution_env")

    def say(
        self,
        rule: Rule,
        key: str,
        place: Span,
        message: str,
        text_says: str,
        value: str = "",
        severity: Severity | None = None,
    ) -> None:
        value = value if child(self.env, key) is not None else ""
        related = (place, text_says, self.text.path)
        self.found.append(disagreement(rule, self.place(key), related, message, value, severity))

    def differs(
        self, rule: Rule, key: str, value: str, place: Span, text_says: str, severity: Severity | None = None
    ) -> None:
        present = child(self.env, key)
        said = f"{key} is {str(present.plain()).lower()}" if present is not None else f"there is no {key}"
        self.say(rule, key, place, f"{said}, but {text_says}", text_says, value, severity)

    def flag(self, key: str, inst: Inst | None, what: str) -> None:
        if _true(self.env, key) == (inst is not None):
            return
        if inst is not None:
            self.differs(
                rules.FLAG_DIFFERS, key, "true", self.text.instruction(inst), f"the kernel {what} ({inst.row.mnemonic})"
            )
        else:
            self.say(
                rules.FLAG_DIFFERS, key, self.text.name, f"{key} is true, but nothing in the kernel {what}", "this kernel",
                "false", Severity.WARNING,
            )  # fmt: skip

    def barriers(self, inst: Inst | None, named: int) -> None:
        said = number(self.env, "barrier_count") or 0
        needed = max(named, int(inst is not None))
        if said < needed:
            place = self.text.instruction(inst) if inst is not None else self.text.attribute("NBarrierCnt")
            words = f"the kernel has NBarrierCnt={named}" if named > 1 else "the kernel has a barrier"
            self.differs(rules.BARRIER_DIFFERS, "barrier_count", str(needed), place, words)
        elif said and not needed:
            self.say(
                rules.BARRIER_DIFFERS, "barrier_count", self.text.name, f"barrier_count is {said}, but the kernel has no barrier",
                "this kernel", "0", Severity.WARNING,
            )  # fmt: skip

    def compare_slm_size(self, inst: Inst | None) -> None:
        size = number(self.env, "slm_size") or 0
        wanted = 1024 * (self.text.kernel.int_attribute("SLMSize") or 0)
        local = any(
            word_of(a, "addrmode") == "slm" or word_of(a, "addrspace") == "local"
            for a in entries(self.item, "payload_arguments")
        )
        if wanted and size != wanted:
            self.differs(
                rules.SLM_DIFFERS, "slm_size", str(wanted), self.text.attribute("SLMSize"),
                f"the kernel has SLMSize={wanted // 1024}, {wanted} bytes",
            )  # fmt: skip
        elif inst is not None and not size and not local and has_own_memory(self.text.kernel):
            self.differs(
                rules.SLM_DIFFERS, "slm_size", "", self.text.instruction(inst),
                f"the kernel uses shared local memory ({inst.row.mnemonic})",
            )  # fmt: skip
        elif size and inst is None and not wanted:
            self.say(
                rules.SLM_DIFFERS, "slm_size", self.text.name, f"slm_size is {size}, but the kernel uses no shared local memory",
                "this kernel", "0", Severity.WARNING,
            )  # fmt: skip
