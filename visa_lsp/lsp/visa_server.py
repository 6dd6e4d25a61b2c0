"""The server object for handlers: the server of pygls with the documents of this package.

It would store a second copy of each text and rebuild it at each keystroke; the protocol class passes document messages
to the handlers here only. Invariant: only the ``document_sync`` handlers change ``documents``, in message order.
"""

from __future__ import annotations

import functools
import logging
import sys
import weakref
from collections import Counter, OrderedDict
from threading import Event
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TypeVar, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from visa_lsp.ide.workspace import Language, OpenDocument, Workspace
from visa_lsp.lsp.folder_files import Files
from visa_lsp.lsp.jobs.command_answers import file_rules
from visa_lsp.lsp.jobs.model import FileRules
from visa_lsp.lsp.jobs.run_client import ReadProcess
from visa_lsp.lsp.transport.protocol import Protocol
from visa_lsp.lsp.transport.wire import serve_stdio

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Mapping

    from visa_lsp.embed.host_text import HostText
    from visa_lsp.ide.features.inline_values import RunValues
    from visa_lsp.syntax.document import Document
    from visa_lsp.text import Encoding

logger = logging.getLogger(__name__)
# Messages that make a client repeat its requests, by the capability of clients that handle them.
_REFRESHES: Final = {
    "inlay_hint": types.WORKSPACE_INLAY_HINT_REFRESH,
    "code_lens": types.WORKSPACE_CODE_LENS_REFRESH,
    "folding_range": types.WORKSPACE_FOLDING_RANGE_REFRESH,
    "inline_value": types.WORKSPACE_INLINE_VALUE_REFRESH,
    "diagnostics": types.WORKSPACE_DIAGNOSTIC_REFRESH,
}
H = TypeVar("H", bound="Callable[..., Any]")


class MachineCode:
    """The result of the finalizer for a document: figures and registers by kernel, or an error.

    ``answer`` is that of ``visa.gen``. The result is valid for its snapshot only. ``assumed``, the platform inferred
    from the text if none is set, stays valid, because inferring it takes long and needs a text without errors.
    """

    def __init__(self, document: Document, answer: Mapping[str, Any], *, is_platform_named: bool) -> None:
        self.assumed = "" if is_platform_named or not answer.get("kernels") else str(answer["platform"])
        self._document = weakref.ref(document)
        self._figures: Mapping[str, str] = answer.get("figures", {})
        self._problem = str(answer.get("error") or "no machine code")
        self._platform = str(answer.get("platform", ""))
        kernels = answer.get("kernels", ())
        often = Counter(kernel["name"] for kernel in kernels)  # kernels with the same name are omitted
        self._registers: dict[str, Mapping[str, str]] = {
            kernel["name"]: kernel["registers"] for kernel in kernels if often[kernel["name"]] == 1
        }

    def title(self, document: Document, kernel: str) -> str:
        """Return the figures of a kernel in words; empty if the text has changed since."""
        return self._figures.get(kernel, self._problem) if self._document() is document else ""

    def register(self, document: Document, kernel: str, variable: str) -> str:
        """Return the register of a kernel's variable, in words; empty if it is unknown, or the text has changed since."""
        place = self._registers.get(kernel, {}).get(variable, "") if self._document() is document else ""
        return f"{place} on {self._platform}" if place else ""


class VisaServer(LanguageServer):
    """The language server: documents, files, settings."""

    protocol: Protocol  # narrower than that of pygls

    def __init__(self, version: str) -> None:
        super().__init__("visa-lsp", version, protocol_cls=Protocol)
        self.documents = Workspace(platform_for=lambda key: self.rules_for(key).platform)
        self.files = Files(self.documents)
        self.pending: dict[str, asyncio.Handle | asyncio.Task[None]] = {}
        self.runs: dict[str, tuple[str, RunValues]] = {}
        self.machine_code: dict[str, MachineCode] = {}
        self.cursors: dict[str, int] = {}  # the line of the cursor by document, for clients that send it
        self.reading = ReadProcess()
        self.shown: set[str] = set()
        self.settings_told = 0  # number of settings messages that were not requested
        self.sent_tokens: OrderedDict[str, Any] = OrderedDict()
        self._rules: dict[str, FileRules] = {}

    def start_io(self, stdin: BinaryIO | None = None, stdout: BinaryIO | None = None) -> None:
        """Serve on standard input and output until the client ends the session."""
        self._stop_event = Event()
        try:
            serve_stdio(self, self._stop_event, stdin or sys.stdin.buffer, stdout)
        except BrokenPipeError:
            logger.warning("the client has disconnected")
        except (KeyboardInterrupt, SystemExit):
            pass
        finally:
            self.shutdown()  # type: ignore[no-untyped-call]  # pygls annotates nothing here

    @property
    def exit_code(self) -> int:
        """The exit status of the process: 0 after an orderly shutdown."""
        return self.protocol.exit_code

    @property
    def encoding(self) -> Encoding:
        """The units of the client's columns."""
        return self.protocol.encoding

    def can_refresh(self, kind: str) -> bool:
        """Return whether the client requests answers of a kind, a key of ``_REFRESHES``, again when told to."""
        capability = getattr(self.client_capabilities.workspace, kind, None)
        return bool(capability and capability.refresh_support)

    def refresh(self, *kinds: str) -> None:
        """Make the client request answers of these kinds again, if it can."""
        for kind in kinds:
            if self.can_refresh(kind):
                self.protocol.send_request(_REFRESHES[kind])

    def find_open(
        self, identifier: types.TextDocumentIdentifier | types.VersionedTextDocumentIdentifier
    ) -> OpenDocument | None:
        """Return the open vISA text of a request."""
        opened = self.documents.get(identifier.uri)
        return opened if opened is not None and opened.language is Language.VISA else None

    def host(self, identifier: types.TextDocumentIdentifier) -> tuple[OpenDocument, HostText] | None:
        """Return the open document of another language, with its vISA; None for vISA texts, or if hosts are disabled."""
        opened = self.documents.get(identifier.uri)
        if opened is None or opened.host is None:
            return None
        from visa_lsp.embed.host_text import HostText  # exists since the document was opened

        assert isinstance(opened.host, HostText)
        return (opened, opened.host) if self.documents.settings_for(opened.key).embedded else None

    def rules_for(self, uri: str) -> FileRules:
        """Return the settings for a document's findings, from settings files and the editor."""
        rules = self._rules.get(uri)
        if rules is None:
            settings = self.documents.settings_for(uri)
            path = self.files.path_of(uri) or ""
            try:
                rules = file_rules(path, settings.ignore, settings.extend_select)
            except Exception:
                logger.exception("cannot find the settings of %s", uri)
                rules = FileRules()
            if rules.problem and rules.problem not in self.shown:
                self.shown.add(rules.problem)
                self.window_log_message(types.LogMessageParams(types.MessageType.Warning, rules.problem))
            self._rules[uri] = rules
        return rules

    def forget_rules(self) -> None:
        """Drop the cached rules, because the settings have changed."""
        self._rules.clear()

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log an error outside of a request, because a message box for each would not help the user."""
        logger.error("%s: %s", getattr(source, "__name__", source), error)


def handles(method: str, *, is_guarded: bool = True) -> Callable[[H], H]:
    """Make a function the handler of a method; if ``is_guarded``, an internal error is logged and the answer is empty."""

    def declare(handler: H) -> H:
        @functools.wraps(handler)
        async def guarded(ls: VisaServer, params: Any) -> Any:
            try:
                return await handler(ls, params)
            except JsonRpcException:
                raise
            except Exception:
                logger.exception("%s failed", getattr(handler, "__name__", "handler"))
                return None

        declared: Any = guarded if is_guarded else handler
        declared.method = method
        return cast("H", declared)

    return declare
