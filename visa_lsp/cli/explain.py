"""The command ``visa-lsp explain WORD``: prints the explanation of each word."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from visa_lsp.app.errors import printable
from visa_lsp.app.exits import EXIT_USAGE
from visa_lsp.app.explain import explain_text
from visa_lsp.app.words import known_words
from visa_lsp.cli.common import add_platform
from visa_lsp.isa.glossary import term_called
from visa_lsp.suggest import nearest

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "words", nargs="+", metavar="WORD", help="a mnemonic, the code or name of a finding, a %%variable, a type, an attribute, a platform, or a word of the glossary",
    )  # fmt: skip
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output format")
    add_platform(parser)


def explain_command(args: argparse.Namespace) -> int:
    """Print the page of each word and return the exit status: 2 if a word is unknown."""
    status = 0
    named = args.words
    if term_called(" ".join(named)) is not None:
        named = [" ".join(named)]  # a term of several words, typed without quotes
    pages: list[dict[str, str]] = []
    for word in named:
        text = explain_text(word, args.platform)
        if text is None:
            found = nearest(word, known_words())
            hint = f"; did you mean `{found}`?" if found else ""
            message = f"unknown word `{word}`{hint}"
            print(f"visa-lsp explain: {message}", file=sys.stderr)
            status = EXIT_USAGE
            pages.append({"word": printable(word), "error": printable(message)})
        else:
            pages.append({"word": word, "text": text.rstrip("\n")})
    if args.format == "json":
        print(json.dumps(pages, indent=2, ensure_ascii=False))
    else:
        texts = [page["text"] for page in pages if "text" in page]
        print("\n\n".join(texts), end="\n" * bool(texts))
    return status
