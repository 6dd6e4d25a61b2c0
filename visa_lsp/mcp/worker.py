"""The process that does the work of the tools, one call after another, so that no call can end the server.

``python -m visa_lsp.mcp.worker`` is the process, ``visa_lsp.mcp.server`` its parent. A job is JSON: ``tool``, ``arguments``,
``roots``; so is its result: ``answer`` or ``error``.
"""

from __future__ import annotations

import json
import os
from collections import OrderedDict
from typing import Any, Final, NoReturn

import msgspec

from visa_lsp.app.caches import open_rule_caches
from visa_lsp.app.errors import UserError, printable, reason
from visa_lsp.job_process import answer_jobs
from visa_lsp.mcp.pages import ToolAnswer, page
from visa_lsp.mcp.places import Roots
from visa_lsp.mcp.tools import BY_NAME

_KEPT_ANSWERS: Final = 8


def main() -> NoReturn:
    """Do jobs, one after another, until the parent ends."""
    with open_rule_caches():
        answer_jobs(Worker().answer)


class Worker:
    """Does jobs, and caches the last answers for their later pages."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, ToolAnswer] = OrderedDict()

    def answer(self, job: bytes) -> bytes:
        """Do one job and return its result. Every exception becomes an error of the result."""
        try:
            result: dict[str, Any] = {"answer": self._perform(**json.loads(job))}
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

    def _perform(self, tool: str, arguments: dict[str, Any], roots: list[str]) -> dict[str, Any]:
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
        if answer is None:
            answer = offered.work(args, Roots(roots))
        self._kept[key] = answer
        self._kept.move_to_end(key)
        if len(self._kept) > _KEPT_ANSWERS:
            self._kept.popitem(last=False)
        return page(answer, args.cursor, args.max_tokens)


def _words(message: str) -> str:
    """Return a message for an agent: printable, not too long, and without the folder of texts without a file."""
    return printable(message).replace(os.path.join(os.devnull, ""), "")[:2000]  # noqa: PTH118


if __name__ == "__main__":
    main()
