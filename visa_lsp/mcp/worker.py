"""The process that does the work of the tools, one call after another, so that no call can end the server.

``python -m visa_lsp.mcp.worker`` is the process, ``visa_lsp.mcp.server`` its parent. A job is JSON: ``tool``, ``arguments``,
``roots``; so is its result: ``answer`` or ``error``.
"""

from __future__ import annotations

import json
import os
import re
from collections import OrderedDict
from typing import Any, Final, NoReturn

import msgspec

from visa_lsp.app.errors import UserError, printable, reason
from visa_lsp.job_process import answer_jobs
from visa_lsp.mcp.pages import ToolAnswer, page
from visa_lsp.mcp.places import Roots
from visa_lsp.mcp.tools import BY_NAME

_KEPT_ANSWERS: Final = 8
_COMMAND: Final = re.compile(r"`?visa-lsp (zeinfo \w+|[\w-]+)(?:(?<=`)| [^`;,()\n]*`)?`?")
_OPTION: Final = re.compile(r"(?<![\w-])--([a-z][a-z-]*)")
_TOOLS: Final = {"asm": "assemble", "dis": "disassemble"}
_ARGUMENTS: Final = {"init": "output", "against": "against"}
_MESSAGES: Final = frozenset({"notes", "assumed", "verdict", "unreadable"})


def main() -> NoReturn:
    """Do jobs, one after another, until the parent ends."""
    answer_jobs(Worker().answer)


class Worker:
    """Does jobs, and caches the last answers for their later pages."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, ToolAnswer] = OrderedDict()

    def answer(self, job: bytes) -> bytes:
        """Do one job and return its result. Every exception becomes an error of the result."""
        try:
            answer, written = self._perform(**json.loads(job))
            result: dict[str, Any] = {"answer": answer, "written": written}
        except UserError as error:
            result = {"error": _words(str(error))}
        except OSError as error:
            result = {"error": _words(f"{str(error.filename or '')[:200]}: {reason(error)}")}
        except MemoryError:
            result = {"error": "not enough memory"}
        except (Exception, RecursionError) as error:  # an internal error must not cost the client its session
            if os.environ.get("VISA_LSP_DEBUG"):
                raise
            result = {"error": _words(f"internal error: {type(error).__name__}: {error}")}
        return json.dumps(result, ensure_ascii=False).encode("utf-8", "replace")

    def _perform(
        self, tool: str, arguments: dict[str, Any], roots: list[str], own: list[str] | None = None
    ) -> tuple[dict[str, Any], list[str]]:
        """Return the page of an answer, and the files that were written."""
        offered = BY_NAME[tool]
        try:
            json.dumps(arguments, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise UserError(f"{tool}: expected Unicode text, found half of a surrogate pair") from None
        try:
            args = msgspec.convert(arguments, offered.arguments)
        except msgspec.ValidationError as error:
            raise UserError(f"{tool}: {error}") from None
        plain = {key: value for key, value in arguments.items() if key not in ("cursor", "max_tokens")}
        key = json.dumps([tool, plain, roots], sort_keys=True)
        answer = self._kept.get(key) if args.cursor else None
        places = Roots(roots, own or ())
        if answer is None:
            answer = offered.work(args, places)
        self._kept[key] = answer
        self._kept.move_to_end(key)
        if len(self._kept) > _KEPT_ANSWERS:
            self._kept.popitem(last=False)
        return _in_tool_words(page(answer, args.cursor, args.max_tokens)), places.written


def _words(message: str) -> str:
    """Return a message for an agent: printable, not too long, and without the folder of texts without a file."""
    return as_tools(printable(message).replace(os.path.join(os.devnull, ""), ""))[:2000]  # noqa: PTH118


def as_tools(words: str) -> str:
    """Return a message with the names of tools and arguments in place of commands and options."""
    words = _COMMAND.sub(lambda hit: f"`{_TOOLS.get(hit[1], hit[1])}`", words)
    return _OPTION.sub(lambda hit: f"`{_ARGUMENTS.get(hit[1], hit[1].replace('-', '_'))}`", words)


def _in_tool_words(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer whose messages are about tools."""
    for key in _MESSAGES & answer.keys():
        value = answer[key]
        answer[key] = as_tools(value) if isinstance(value, str) else [as_tools(words) for words in value]
    return answer


if __name__ == "__main__":
    main()
