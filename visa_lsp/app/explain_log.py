"""Explains the messages of the finalizer and the OpenCL compiler in a file of errors or a build log.

Places are those in the messages. If the vISA text is beside the file, its lines are shown with the rules that report them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from visa_lsp.app.errors import printable
from visa_lsp.app.inputs import read_bytes, read_source
from visa_lsp.app.rule_registry import rule_called
from visa_lsp.program.suffixes import TEXTS
from visa_lsp.toolchain.build_log import messages_in, misuse_of_build
from visa_lsp.toolchain.complaints import Complaint, complaints_in, misuse, warnings_in
from visa_lsp.toolchain.finalize import place_of
from visa_lsp.toolchain.meanings import meaning_of
from visa_lsp.toolchain.text_bodies import bodies_of

_ERRORS: Final = ".errors.txt"
_QUOTED: Final = re.compile(r"'([^']+)'")
# Messages of both outside of their forms of errors.
_BARE: Final = re.compile(
    r"^(?:warning: |error: )?(.*spilled around \d+|Spill memory used.*|(?:IGC: )?Internal Compiler Error.*|Build failed with error code.*"
    r"|(?:LLVM ERROR: )?VISA builder API call failed.*|.*G4Verification failure.*|Total scratch s(?:pace|ize).*exceeds.*"
    r"|SLM size exceeds.*|Total size of kernel arguments exceeds.*|Segmentation fault.*|Aborted.*)",
    re.MULTILINE | re.IGNORECASE,
)


class ExplainedMessage(Struct, frozen=True):
    """A message with its place in words, its file and line (from 1) if there are any, and the words of the line.

    ``meaning`` is empty for an unknown message. ``rules`` are the codes of our rules; ``reported`` means that they report
    this very line of the text beside the log.
    """

    message: str
    place: str
    path: str | None
    line: int | None
    code: str
    meaning: str
    rules: tuple[str, ...]
    reported: bool = False


class _Text:
    """A vISA text beside a log, with the codes of the rules that report each line."""

    def __init__(self, path: Path, platform: str | None) -> None:
        from visa_lsp.analysis.analysis import Analysis
        from visa_lsp.diagnostics import Severity
        from visa_lsp.ide.suppressions import visible

        self.path = path
        analysis = Analysis.of(read_source(str(path)).text, platform)
        document = analysis.document
        self.codes = [code for chunk in document.chunks for code in chunk.codes()]
        self.bodies = bodies_of(self.codes)
        self.rules: dict[int, tuple[str, ...]] = {}
        for finding in visible(analysis):
            if finding.severity in (Severity.ERROR, Severity.WARNING):
                line = document.position(finding.span.start)[0]
                self.rules[line] = tuple(dict.fromkeys((*self.rules.get(line, ()), finding.code)))


def explain_log(path: str, platform: str | None = None) -> list[ExplainedMessage]:
    """Return the messages of a log, or of standard input for ``-``, explained. Raises UserError if it cannot be read."""
    log = read_bytes(path).decode("utf-8", "replace")
    complaints = complaints_in(log, log)
    text = _text_beside(Path(path), {complaint.body for complaint in complaints if complaint.body}, platform)
    messages = [_of_finalizer(complaint, text) for complaint in (*complaints, *warnings_in(log))]
    messages += _of_compiler(log)
    explained = {message.message for message in messages}
    bare = dict.fromkeys(words.strip().rstrip(":.") for words in _BARE.findall(log))
    messages += [_of_finalizer(Complaint(words), None) for words in bare if words not in explained]
    return _in_order(messages, log)


def _in_order(messages: list[ExplainedMessage], log: str) -> list[ExplainedMessage]:
    """Return messages in the order of the log; of several with the same words, each has its own occurrence."""
    low = log.lower()
    ends: dict[str, int] = {}
    starts = []
    for explained in messages:
        # Some messages are made of two lines of the log, or of a word of it in quotes.
        message = explained.message.lower()
        words = next((w for w in (message, message.rpartition(": ")[2], *_QUOTED.findall(message)) if w in low), "")
        start = low.find(words, ends.get(words, 0))
        ends[words] = start + 1
        starts.append(start if words and start >= 0 else len(low))
    return [messages[index] for index in sorted(range(len(messages)), key=starts.__getitem__)]


def _text_beside(path: Path, kernels: set[str], platform: str | None) -> _Text | None:
    """Return the text that a file of errors is named after, else the only one of its folder with its kernels."""
    if not path.name.endswith(_ERRORS):
        return None
    stem = path.name.removesuffix(_ERRORS)
    texts = [candidate for candidate in (path.with_name(stem + ending) for ending in TEXTS) if candidate.is_file()]
    if not texts:
        # Imported here because it loads the YAML reader.
        from visa_lsp.companions import Beside

        finder = Beside()
        texts = list({candidate for kernel in kernels for candidate in finder.texts_of(kernel, path)})
    text = _Text(texts[0], platform) if len(texts) == 1 else None
    return text if text is not None and text.bodies else None


def _of_finalizer(complaint: Complaint, text: _Text | None) -> ExplainedMessage:
    meaning = meaning_of(complaint.message)
    words, rules = (meaning.words, meaning.rules) if meaning else ("", ())
    if text is None:
        line_number = None if complaint.line is None else complaint.line + 1
        number = "" if complaint.number is None else f", instruction ${complaint.number}"
        where = (
            f"line {line_number} of the vISA text"
            if line_number
            else f"kernel '{complaint.body}'{number}"
            if complaint.body
            else ""
        )
        return ExplainedMessage(complaint.message, where, None, line_number, complaint.instruction, words, rules)
    line = place_of(complaint, text.codes, text.bodies)
    own = text.rules.get(line, ())
    return ExplainedMessage(
        complaint.message, f"{text.path}:{line + 1}", str(text.path), line + 1, text.codes[line].strip(), words, own or rules,
        bool(own),
    )  # fmt: skip


def _of_compiler(log: str) -> Iterator[ExplainedMessage]:
    """Yield the messages of the compiler about its source, and about its call; those of the finalizer are in the log as well."""
    for message in messages_in(log):
        meaning = meaning_of(message.message)
        if message.place is None:
            if not message.message.startswith("parsing vISA"):
                yield ExplainedMessage(
                    message.message,
                    "",
                    None,
                    None,
                    "",
                    meaning.words if meaning else "",
                    meaning.rules if meaning else (),
                )
            continue
        inside, line = message.place.inside, message.place.line
        kind = "refuses" if message.is_error else "warns of"
        words = f"the OpenCL compiler {kind} a line of the source, before there is any vISA"
        where = inside or f"line {line}, column {message.place.column} of the source"
        yield ExplainedMessage(message.message, where, None, line, "", words, ())
    for words in filter(None, (misuse_of_build(log), misuse(log))):
        yield ExplainedMessage(words, "", None, None, "", "the call is wrong, not the text", ())


def message_text(message: ExplainedMessage) -> str:
    """Return a message with its explanation as text."""
    lines = [f"{message.place}: {message.message}" if message.place else message.message]
    if message.code:
        lines.append(f"    {message.code}")
    lines.append(f"  meaning: {message.meaning or 'this message is not in the table of meanings'}")
    if message.rules:
        names = ", ".join(_name_code(code) for code in message.rules)
        how = "reports this line" if message.reported else "reports such mistakes"
        lines.append(f"  earlier: `visa-lsp check` {how}: {names}")
    return "\n".join(lines)


def message_json(message: ExplainedMessage) -> dict[str, Any]:
    """Return a message with its explanation as JSON."""
    return {
        "message": printable(message.message),
        "place": printable(message.place),
        "path": message.path and printable(message.path),
        "line": message.line,
        "code": printable(message.code),
        "meaning": message.meaning or None,
        "rules": [_name_code(code) for code in message.rules],
        "reported": message.reported,
    }


def _name_code(code: str) -> str:
    rule = rule_called(code)
    return f"{code} {rule.name}" if rule is not None else code
