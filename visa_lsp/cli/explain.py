"""The command ``visa-lsp explain WORD``: prints the explanation of each word, or of the messages in a log."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from typing import Annotated, Any

from visa_lsp.app.errors import printable
from visa_lsp.app.exits import EXIT_USAGE
from visa_lsp.app.explain import explain_text
from visa_lsp.app.explain_log import explain_log, message_json, message_text
from visa_lsp.app.explained_words import list_words, nearest_word
from visa_lsp.app.inputs import STDIN
from visa_lsp.cli.options import CommandArguments, PlatformName, TextOrJson, arg
from visa_lsp.isa.glossary import term_called


# fmt: off
class Arguments(CommandArguments, kw_only=True):
    """The options of the command."""

    words: Annotated[list[str], arg("WORD", "a mnemonic, the code or name of a finding, a %%variable, a type, an attribute, a platform, a word of the glossary; or the finalizer's file of errors or a build log; - is standard input")]
    format: TextOrJson = "text"
    platform: PlatformName = None
# fmt: on


def execute(args: Arguments) -> int:
    """Print the page of each word or log and return the exit status: 2 if a word is unknown or a log has no messages."""
    status = 0
    named = args.words
    if term_called(" ".join(named)) is not None:
        named = [" ".join(named)]  # a term of several words, typed without quotes
    pages: list[dict[str, Any]] = []
    words_with_page = set(list_words())
    for word in named:
        is_log = word == STDIN or (word not in words_with_page and _kind(word) == "file")
        text = None if is_log or _is_file_name(word) else explain_text(word, args.platform)
        if is_log:
            messages = explain_log(word, args.platform)
            if messages:
                text = "\n\n".join(map(message_text, messages))
                pages.append({"word": printable(word), "text": text, "messages": [*map(message_json, messages)]})
                continue
            message = f"{word}: no message of the finalizer or the compiler found"
            print(f"visa-lsp explain: {printable(message)}", file=sys.stderr)
            status = EXIT_USAGE
            pages.append({"word": printable(word), "error": printable(message)})
        elif text is None:
            if _kind(word) == "folder":
                message = f"{word}: is a directory"
            elif _is_file_name(word):
                message = f"{word}: no such file"
            else:
                near = nearest_word(word)
                hint = f"; did you mean `{near}`?" if near else ""
                message = f"unknown word `{word}`{hint}"
            print(f"visa-lsp explain: {printable(message)}", file=sys.stderr)
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


def _is_file_name(word: str) -> bool:
    """Return whether a word can only be the name of a file, whether or not that exists."""
    return "/" in word or Path(word).suffix in (".txt", ".log")


def _kind(word: str) -> str:
    """Return ``folder``, or ``file`` for any other existing path, such as a pipe; empty for a missing path."""
    try:
        mode = Path(word).stat().st_mode
    except (OSError, ValueError):
        return ""
    return "folder" if stat.S_ISDIR(mode) else "file"
