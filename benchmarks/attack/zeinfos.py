"""ze_info documents with something odd in them: checked alone and against a text, queried, read for a launch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from benchmarks.attack.core import EXAMPLES, Target, Wrong
from benchmarks.attack.documents import VALUES, change, document, odd_text
from benchmarks.attack.launches import clear
from visa_lsp.analysis.analysis import Analysis
from visa_lsp.ide.zeinfo.described_inputs import inputs_told, kernel_names, place_in_document
from visa_lsp.ide.zeinfo.info_document import InfoDocument
from visa_lsp.ide.zeinfo.kernel_texts import kernel_texts
from visa_lsp.zeinfo.read_kernels import ZeInfoError, read
from visa_lsp.zeinfo.validate import validate

if TYPE_CHECKING:
    import random

_WORDS: Final = (
    "arg_bypointer", "arg_byvalue", "local_id", "global_id_offset", "buffer_address", "buffer_offset", "stateful", "stateless",
    "bindless", "slm", "global", "constant", "image", "sampler", "readonly", "readwrite", "private_base_stateless", "image_2d",
    "enqueued_local_size", "group_count", "printf_buffer", "implicit_arg_buffer", "work_dimensions", "1.20", "9.99", "1",
)  # fmt: skip
_ARGUMENTS: Final = 12


def info(draw: random.Random) -> dict[str, Any]:
    """Return a document as the compiler writes it, with arguments of any sort."""
    payload = []
    offset = 0
    for index in range(draw.randrange(_ARGUMENTS)):
        size = draw.choice((4, 8, 12, 0))
        entry: dict[str, Any] = {"arg_type": draw.choice(_WORDS), "offset": offset, "size": size}
        if draw.random() < 0.7:
            entry["arg_index"] = index
        if draw.random() < 0.5:
            entry |= {
                "addrmode": draw.choice(_WORDS),
                "addrspace": draw.choice(_WORDS),
                "access_type": draw.choice(_WORDS),
            }
        payload.append(entry)
        offset += size
    kernel: dict[str, Any] = {
        "name": draw.choice(("mandel", "mandel", "saxpy", "k")),
        "execution_env": {
            "grf_count": 128,
            "simd_size": draw.choice((8, 16, 32, 1, 7)),
            "slm_size": draw.choice((0, 4096)),
        },
        "payload_arguments": payload,
        "per_thread_payload_arguments": [{"arg_type": "local_id", "offset": 0, "size": draw.choice((96, 192, 0))}],
        "binding_table_indices": [{"bti_value": n, "arg_index": n} for n in range(draw.randrange(3))],
        "per_thread_memory_buffers": [
            {"type": "scratch", "usage": "private_space", "size": draw.choice((64, 1 << 40))}
        ],
    }
    return {"version": "1.20", "kernels": [kernel], "kernels_misc_info": [{"name": "mandel", "args_info": []}]}


class ZeInfos(Target):
    """Documents of the example and made ones, changed as values and as text."""

    name = "zeinfo"
    suffix = ".zeinfo.yaml"

    def __init__(self) -> None:
        self.real = (EXAMPLES / "mandelbrot.zeinfo.yaml").read_text("utf-8")
        self.analysis = Analysis.of((EXAMPLES / "mandelbrot.visaasm").read_text("utf-8"), "TGLLP")
        self.texts = kernel_texts(self.analysis, "mandelbrot.visaasm")

    def make(self, draw: random.Random) -> str:
        """Return the text of a document."""
        if draw.random() < 0.3:
            return odd_text(draw, self.real)
        value: Any = info(draw)
        for _ in range(draw.choice((0, 1, 1, 2, 4))):
            value = change(draw, value, (*VALUES, *_WORDS))
        text = document(draw, value)
        return odd_text(draw, text) if draw.random() < 0.3 else text

    def attempt(self, case: str, draw: random.Random) -> str:
        """Run every reader of ze_info on a document."""
        validate(case)
        size = len(case)
        # The text's kernels are bound once for all cases; a document that binds them takes a hundred times as long.
        found = InfoDocument(case, (("mandelbrot.visaasm", self.analysis),))
        found.__dict__["texts"] = self.texts
        for finding in found.diagnostics:
            clear(finding.message)
            if not 0 <= finding.span.start <= finding.span.end <= size:
                raise Wrong(f"{finding.code} at {finding.span}, the text has {size} characters")
        for offset in (0, size, draw.randrange(size + 1), draw.randrange(size + 1)):
            answer = found.hover(offset)
            if answer is not None and not 0 <= answer.span.start <= answer.span.end <= size:
                raise Wrong(f"hover at {offset} answers {answer.span}")
            found.completions(offset)
            found.definition(offset)
        found.symbols()
        found.hints()
        kernel_names(case)
        inputs_told(case, self.analysis, "mandel")
        place_in_document(case, self.analysis, draw.randrange(self.analysis.document.line_count))
        try:
            read(case)
        except ZeInfoError as error:
            clear(error.message)
            return "refused"
        return "read"
