"""The platform that files say a text is for: its launch file, a zebin of its folder, or the compiler's comment in it.

For displays and defaults; a run decides by `app.launch`, whose rule this follows. An unreadable file says nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from visa_lsp.isa.platforms import platform_named, platform_of_product
from visa_lsp.safe_io import read_file
from visa_lsp.zeinfo.zebin import ZebinError, read_zebin

if TYPE_CHECKING:
    from pathlib import Path

    from visa_lsp.isa.platforms import Platform

# The compiler writes it below the kernel, `dis` and people above.
_COMMENT: Final = re.compile(r"^[ \t]*//[ \t]*Platform:[ \t]*([\w.-]+)[ \t]*\r?$", re.MULTILINE)
_LAUNCH_KEY: Final = re.compile(r"^platform[ \t]*:[ \t]*[\"']?([\w.-]+)", re.MULTILINE)


def platform_of_launch(text: Path) -> tuple[Platform, str] | None:
    """Return the platform that the launch file beside a text names, and the file."""
    launch = text.with_suffix(".launch.yaml")
    try:
        match = _LAUNCH_KEY.search(read_file(launch).decode("utf-8", "replace"))
    except OSError:
        return None
    return _find_named(match, launch.name)


def platform_of_program(path: Path | None, text: str) -> tuple[Platform, str] | None:
    """Return the platform of a zebin that has the kernel of a text, else of the compiler's comment, and where it is said."""
    from visa_lsp.companions import Beside, kernels_in  # loads the YAML reader, which most runs do not need

    finder = Beside()
    zebins = (finder.zebin(kernel, path) for kernel in kernels_in(text)) if path is not None else ()
    for zebin in zebins:
        platform = _platform_of_zebin(zebin.path) if zebin is not None else None
        if zebin is not None and platform is not None:
            return platform, zebin.path.name
    return _find_named(_COMMENT.search(text), "its comment")


def _find_named(match: re.Match[str] | None, where: str) -> tuple[Platform, str] | None:
    platform = platform_named(match[1]) if match is not None else None
    return None if platform is None else (platform, where)


def _platform_of_zebin(path: Path) -> Platform | None:
    try:
        family = read_zebin(read_file(path)).product_family
    except (ZebinError, OSError):
        return None
    return None if family is None else platform_of_product(family)
