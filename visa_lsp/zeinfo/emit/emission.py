"""``emit``: a valid ze_info document for handwritten kernels, or for dumps without one.

The places of arguments are those of the ``.input``s; requirements follow from attributes and code. The kind of an
argument follows from its name, its type, or a hint per argument (from a launch file). In a handwritten text, the names
with a meaning are those that ``run`` fills itself; ``dump`` handles a compiler's dump. Invariant: a payload that
ze_info cannot describe is an ``EmitError`` with the input at fault, and every guess is a ``Doubt``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.zeinfo.emit.dump import DumpArguments
from visa_lsp.zeinfo.emit.entries import Entries
from visa_lsp.zeinfo.emit.hand import HandArguments
from visa_lsp.zeinfo.emit.roles import boundary
from visa_lsp.zeinfo.emit.slots import ArgumentHint, Doubt, EmitError, payload_of, slots_of
from visa_lsp.zeinfo.emit.user_answers import Answers, SayError
from visa_lsp.zeinfo.facts import uses_of
from visa_lsp.zeinfo.input_use import InputUse
from visa_lsp.zeinfo.write import document

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from visa_lsp.program.model import Kernel
    from visa_lsp.program.payload_layout import Registers

__all__ = ["ArgumentHint", "Doubt", "EmitError", "Emitted", "emit", "emit_with_doubts"]

VERSION: Final = "1.20"
_NEWER: Final = "1.73"  # version of the compilers that write the keys below
_NEWER_KINDS: Final = frozenset({"const_base", "global_base", "inline_sampler"})
_DEFAULT_SIMD: Final = 16
_DEFAULT_GRFS: Final = 128
_DEFAULT_SLM_BYTES: Final = 65536
_DEFAULT_BESIDE_LOCAL_BYTES: Final = 16384
_DEFAULT_PRIVATE_BYTES: Final = 4096


class Emitted(Struct, frozen=True):
    """A document, and the guesses in it."""

    text: str
    doubts: tuple[Doubt, ...] = ()


def emit(
    kernels: Sequence[Kernel],
    platform: Registers,
    hints: Mapping[str, Sequence[ArgumentHint] | Mapping[str, ArgumentHint]] | None = None,
) -> str:
    """Return the document of kernels; ``hints`` by kernel name describe arguments, in order or by input name."""
    return emit_with_doubts(kernels, platform, hints).text


def emit_with_doubts(
    kernels: Sequence[Kernel],
    platform: Registers,
    hints: Mapping[str, Sequence[ArgumentHint] | Mapping[str, ArgumentHint]] | None = None,
    said: Answers | None = None,
) -> Emitted:
    """Return the document of kernels with its doubts. ``said`` settles doubts. Raises SayError if it names an unknown input."""
    if said is not None:
        names = {s.name for k in kernels if k.is_kernel for s in slots_of(k)}
        unknown = next((name for name in said.inputs if name not in names), None)
        if unknown is not None:
            raise SayError(f"'{unknown}': unknown .input; known inputs: {', '.join(sorted(names)) or 'none'}")
    emitters = [_Kernel(k, platform, (hints or {}).get(k.name), said or Answers()) for k in kernels if k.is_kernel]
    entries = [k.entry() for k in emitters]
    newer = any(e["arg_type"] in _NEWER_KINDS for k in emitters for e in k.out.payload)
    root: dict[str, object] = {"version": _NEWER if newer else VERSION, "kernels": entries}
    misc = [{"name": k.kernel.name, "args_info": k.out.arguments} for k in emitters if k.out.arguments]
    if misc:
        root["kernels_misc_info"] = misc
    return Emitted(document(root), tuple(d for k in emitters for d in k.doubts))


class _Kernel:
    """Builds the entry of one kernel."""

    def __init__(
        self,
        kernel: Kernel,
        platform: Registers,
        hints: Sequence[ArgumentHint] | Mapping[str, ArgumentHint] | None,
        said: Answers,
    ) -> None:
        self.kernel = kernel
        self.said = said
        self.hints = hints
        self.simd = kernel.int_attribute("SimdSize") or _DEFAULT_SIMD
        self.uses = uses_of(kernel)
        self.payload = payload_of(kernel, platform, self.simd)
        self.out = Entries(self.payload.layout)
        self.doubts: list[Doubt] = []
        if self.simd not in platform.thread_widths:
            message = (
                f"simd_size: threads with registers of {platform.bytes} bytes have 16 or 32 lanes, not {self.simd}"
            )
            self.doubts.append(Doubt(kernel.name, message))
        self.private = False

    def entry(self) -> dict[str, object]:
        """Return the entry under ``kernels``."""
        self._arguments()
        entry: dict[str, object] = {"name": self.kernel.name, "execution_env": self._environment()}
        if self.out.payload:
            entry["payload_arguments"] = self.out.payload
        if self.payload.per_thread:
            entry["per_thread_payload_arguments"] = [
                {"arg_type": "local_id", "offset": 0, "size": self.payload.per_thread}
            ]
        if self.out.bindings:
            entry["binding_table_indices"] = self.out.bindings
        if self.out.inline_samplers:
            entry["inline_samplers"] = self.out.inline_samplers
        if self.private:
            entry["per_thread_memory_buffers"] = [self._private()]
        return entry

    def _arguments(self) -> None:
        end = boundary(self.kernel)
        if end is None:
            hand = HandArguments(self.kernel, self.payload, self.uses, self.said, self.out)
            hand.write(self.hints)
            self.private = hand.private
            return
        dump = DumpArguments(self.kernel, self.payload, end, self.hints, self.said, self.out)
        dump.write()
        self.doubts += dump.doubts
        self.private = dump.private

    def _private(self) -> dict[str, object]:
        size = self.said.sizes.get("private")
        if size is None:
            self.doubts.append(
                Doubt(
                    self.kernel.name,
                    f"private_base_stateless: the text does not contain the private memory of a lane; {_DEFAULT_PRIVATE_BYTES} bytes are "
                    "assumed; set it with --say private=512",
                )
            )
        return {
            "type": "global",
            "usage": "private_space",
            "size": size or _DEFAULT_PRIVATE_BYTES,
            "is_simt_thread": True,
        }

    def _slm(self) -> int:
        """Return the bytes of shared local memory, without those of arguments."""
        said = self.said.sizes.get("slm")
        attribute = 1024 * (self.kernel.int_attribute("SLMSize") or 0)
        if said is not None or attribute or self.uses.slm is None:
            return said if said is not None else attribute
        pointers = {e.id for e in self.kernel.arguments if self._is_local(e.offset)}
        if not pointers:
            return _DEFAULT_SLM_BYTES  # the maximum of a group, because a larger number is harmless
        flow = InputUse(self.kernel)
        roots = {flow.root(id_) for id_ in pointers}
        if roots <= flow.read and all(origins & roots for origins in flow.slm):
            return 0
        self.doubts.append(
            Doubt(
                self.kernel.name,
                "slm_size: the text does not contain the shared local memory beside the arguments; "
                f"{_DEFAULT_BESIDE_LOCAL_BYTES} bytes are assumed; set it with --say slm=0",
            )
        )
        return _DEFAULT_BESIDE_LOCAL_BYTES

    def _is_local(self, place: int) -> bool:
        offset = self.payload.layout.offset(place)
        return any(e.get("addrmode") == "slm" and e["offset"] == offset for e in self.out.payload)

    def _environment(self) -> dict[str, object]:
        uses = self.uses
        env: dict[str, object] = {}
        barriers = max(uses.named_barriers, int(uses.barrier is not None))
        if barriers:
            env["barrier_count"] = barriers
        env["grf_count"] = self.kernel.int_attribute("NumGRF") or _DEFAULT_GRFS
        for key, inst in (
            ("has_dpas", uses.dpas), ("has_global_atomics", uses.global_atomic), ("has_stack_calls", uses.stack_call),
        ):  # fmt: skip
            if inst is not None:
                env[key] = True
        env["simd_size"] = self.simd
        slm = self._slm()
        if slm:
            env["slm_size"] = slm
        return env
