"""OpenCL C as input of ``gen``: compiles it to the text of each kernel.

Compiles with ``-g``, so that the texts have source lines. Writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from visa_lsp.app.compile.build import Build, build_source, device_of, read_source, with_lines
from visa_lsp.app.compile.outputs import figures_table, file_name
from visa_lsp.app.errors import printable
from visa_lsp.app.external_tools import settings_for
from visa_lsp.app.gen.gen_document import GenDocument, Source
from visa_lsp.app.inputs import STDIN
from visa_lsp.toolchain.ocloc import SECONDS


def builds_of(
    path: str, stdin_filename: str | None, devices: Sequence[str], platform: str | None, options: str, tool: str | None
) -> Iterator[Build]:
    """Yield the builds of a source for each device, by default that of the platform, else of the settings.

    Raises UserError if the source cannot be read, the compiler is missing, or it does not know the device or an option.
    """
    source = read_source(path, stdin_filename)
    usual = platform or settings_for(source.name if source.is_file else STDIN).platform
    for device in dict.fromkeys(device_of(name, usual) for name in devices or ("",)):
        yield build_source(source, device, with_lines(options), tool, SECONDS)


def sources_of(build: Build) -> Iterator[Source]:
    """Yield the texts of the kernels of a build."""
    made_from = build.source.name if build.source.is_file else None
    for text in build.texts:
        if text.is_kernel:
            name = f"{build.source.name}: {file_name(text.name)}.visaasm"
            yield Source(
                name,
                text.text,
                build.platform,
                made_from=made_from,
                device=build.device,
                simd=text.simd,
                listing=text.listing_text,
            )


def table(documents: Sequence[GenDocument]) -> list[str]:
    """Return a table row for each kernel and device, sorted by source and kernel."""
    rows = []
    for document in documents:
        for kernel in document.result.kernels:
            listing, source = kernel.listing, document.source
            grf = "-" if listing.grf_used is None else f"{listing.grf_used} of {listing.grf_total or '-'}"
            figures = (str(source.simd), str(listing.instructions), grf, str(listing.spill_bytes))
            rows.append((printable(kernel.body.name), source.device, *figures))
    return figures_table(sorted(rows, key=lambda row: row[0]))
