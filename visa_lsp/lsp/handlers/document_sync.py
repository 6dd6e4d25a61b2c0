"""Notifications about documents, settings, folders, changed files and trust.

An edit is applied to the server's previous snapshot, change by change, when the message arrives. These handlers are
plain functions, so that a later request always sees the text that its sender saw.
"""

from __future__ import annotations

import contextlib
import logging
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from visa_lsp.embed.languages import MissingGrammarError, host_called, host_of, is_installed
from visa_lsp.ide.workspace import LAUNCH_ID, Language, UserSettings, language_of, read_settings
from visa_lsp.lsp.convert import to_offset
from visa_lsp.lsp.handlers.diagnostics import clear, refresh, refresh_launches, schedule
from visa_lsp.lsp.visa_server import handles
from visa_lsp.program.suffixes import PROGRAMS

if TYPE_CHECKING:
    from visa_lsp.lsp.visa_server import VisaServer

logger = logging.getLogger(__name__)

TRUST: Final = "visa/didChangeTrust"
WATCHED: Final = (
    "**/*.{visaasm,isaasm,isa}",
    "**/*.launch.{yaml,yml}",
    "**/*.{npy,zebin}",
    "**/*.{zeinfo.yaml,ze_info,zeinfo}",
    "**/{visa-lsp.toml,pyproject.toml}",
)
# The names of this server's languages in editors; some editors use one name for all documents.
_OURS: Final = frozenset({"visa", "visaasm", LAUNCH_ID})
# Files that launch files name; findings about launch files depend on their existence.
_OF_LAUNCHES: Final = (".npy", ".zebin", *PROGRAMS)


# ---- the session ----


@handles(types.INITIALIZE, is_guarded=False)
def on_initialize(ls: VisaServer, params: types.InitializeParams) -> None:
    """Store the folders and options of the client."""
    folders = [f.uri for f in params.workspace_folders or []]
    root = params.root_uri
    if params.root_path and not root:
        with contextlib.suppress(ValueError):  # a lone surrogate, which no URI contains
            root = ls.files.uri_of(params.root_path)
    ls.files.roots = folders or ([root] if root else [])
    options = params.initialization_options
    if isinstance(options, dict):
        # Only the client grants trust, at the start or by a message, because settings of a folder are not trusted.
        ls.documents.trusted = options.get("trusted") is not False
        ls.documents.compiled = str(options.get("compiled") or "")
        ls.documents.configure(_read(ls, options, ls.documents.settings))


@handles(types.INITIALIZED, is_guarded=False)
async def handle_initialized(ls: VisaServer, _params: types.InitializedParams) -> None:
    """Register for changes of files and settings, and request the settings."""
    workspace = ls.client_capabilities.workspace
    if workspace is None:
        return
    wanted = []
    if workspace.did_change_watched_files and workspace.did_change_watched_files.dynamic_registration:
        watchers = [types.FileSystemWatcher(pattern) for pattern in WATCHED]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        wanted.append(types.Registration("visa-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options))
    if workspace.did_change_configuration and workspace.did_change_configuration.dynamic_registration:
        section = types.DidChangeConfigurationRegistrationOptions(section="visa")
        wanted.append(types.Registration("visa-settings", types.WORKSPACE_DID_CHANGE_CONFIGURATION, section))
    if wanted:
        try:
            await ls.client_register_capability_async(types.RegistrationParams(wanted))
        except JsonRpcException as error:  # a client may refuse, without consequences
            logger.warning("the client refused to register: %s", error)
    await ask_settings(ls)


async def ask_settings(ls: VisaServer) -> None:
    """Request the settings, global and of each folder, if the client stores them."""
    workspace = ls.client_capabilities.workspace
    if workspace is None or not workspace.configuration:
        return
    roots = list(ls.files.roots)
    items = [types.ConfigurationItem(section="visa")]
    items += [types.ConfigurationItem(scope_uri=root, section="visa") for root in roots]
    notice_count = ls.settings_told
    try:
        values = await ls.workspace_configuration_async(types.ConfigurationParams(items))
    except JsonRpcException as error:  # a mistake of the client; the earlier settings stay
        logger.warning("the client sent no settings: %s", error)
        return
    if not isinstance(values, (list, tuple)) or not values or ls.settings_told != notice_count:
        return  # the client's later notification is newer than its answer
    whole = _read(ls, values[0], None)
    folders = {
        root: _read(ls, value, None) for root, value in zip(roots, values[1:], strict=False) if value is not None
    }
    _configure(ls, whole, folders)


def _read(ls: VisaServer, value: object, base: UserSettings | None) -> UserSettings:
    """Return the settings in a value; errors are logged once."""
    settings, problems = read_settings(value, base)
    for problem in problems:
        _log_once(ls, problem)
    return settings


def _log_once(ls: VisaServer, problem: str) -> None:
    if problem not in ls.shown:
        ls.shown.add(problem)
        ls.window_log_message(types.LogMessageParams(types.MessageType.Warning, problem))


def _configure(ls: VisaServer, settings: UserSettings, folders: dict[str, UserSettings] | None = None) -> None:
    ls.forget_rules()
    if ls.documents.configure(settings, folders):
        ls.files.forget()
        refresh(ls)


@handles(types.WORKSPACE_DID_CHANGE_CONFIGURATION, is_guarded=False)
def did_change_configuration(ls: VisaServer, params: types.DidChangeConfigurationParams) -> Any:
    """Apply new settings from clients that send them; request them from clients that only report a change."""
    if isinstance(params.settings, dict) and params.settings:
        ls.settings_told += 1
        _configure(ls, _read(ls, params.settings, None), {})
        if not ls.files.roots:
            return
        # The settings in the message belong to no folder, so that those of each folder are requested.
    import asyncio

    task = asyncio.get_running_loop().create_task(ask_settings(ls))
    task.add_done_callback(lambda done: done.exception() if not done.cancelled() else None)


@handles(TRUST, is_guarded=False)
def did_change_trust(ls: VisaServer, params: Any) -> None:
    """Store whether the user trusts the folders."""
    value = params.get("trusted") if isinstance(params, dict) else getattr(params, "trusted", None)
    if isinstance(value, bool):
        ls.documents.trusted = value


@handles(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, is_guarded=False)
def did_change_folders(ls: VisaServer, params: types.DidChangeWorkspaceFoldersParams) -> None:
    """Apply added and removed folders."""
    gone = {f.uri for f in params.event.removed}
    kept = [root for root in ls.files.roots if root not in gone]
    ls.files.roots = kept + [f.uri for f in params.event.added if f.uri not in kept]
    did_change_configuration(ls, types.DidChangeConfigurationParams(settings=None))


@handles(types.WORKSPACE_DID_CHANGE_WATCHED_FILES, is_guarded=False)
def did_change_watched_files(ls: VisaServer, params: types.DidChangeWatchedFilesParams) -> None:
    """Drop the cached facts of changed files, and republish the findings that depend on them."""
    again = launched = False
    for event in params.changes:
        ls.files.forget(event.uri)
        name = event.uri.rpartition("/")[2]
        launched = launched or name.endswith(_OF_LAUNCHES)
        again = again or name in ("visa-lsp.toml", "pyproject.toml") or language_of(name, "yaml") is Language.ZEINFO
    if again:
        ls.forget_rules()
        ls.files.forget()
        ls.documents.renew()
        refresh(ls)
    elif launched and any(opened.language is Language.LAUNCH for opened in ls.documents):
        refresh_launches(ls)


# ---- documents ----


@handles(types.TEXT_DOCUMENT_DID_OPEN, is_guarded=False)
def did_open(ls: VisaServer, params: types.DidOpenTextDocumentParams) -> None:
    """Add a document."""
    item = params.text_document
    identifier = str(item.language_id)
    host = host_called(identifier) or (host_of(item.uri) if identifier not in _OURS else None)
    if host is None:
        ls.documents.open(item.uri, item.version, item.text, language_of(item.uri, identifier))
    elif is_installed(host):
        from visa_lsp.embed.host_text import HostText  # most sessions open none

        ls.documents.open(item.uri, item.version, item.text, host=partial(HostText, host))
    else:
        ls.documents.open(item.uri, item.version, item.text, Language.OTHER)
        _log_once(ls, str(MissingGrammarError(host)))
    schedule(ls, item.uri)


@handles(types.TEXT_DOCUMENT_DID_CHANGE, is_guarded=False)
def did_change(ls: VisaServer, params: types.DidChangeTextDocumentParams) -> None:
    """Apply edits in order, each to the result of the one before."""
    opened = ls.documents.get(params.text_document.uri)
    if opened is None:
        return
    document = opened.document
    for change in params.content_changes:
        if not isinstance(change, types.TextDocumentContentChangePartial):
            document = document.edit(0, len(document), change.text)
            continue
        start_position, end_position = change.range.start, change.range.end
        start = to_offset(document, start_position, ls.encoding)
        end = start if start_position == end_position else to_offset(document, end_position, ls.encoding)
        document = document.edit(min(start, end), max(start, end), change.text)
    ls.documents.update(opened.key, params.text_document.version, document)
    schedule(ls, opened.key, opened)


@handles(types.TEXT_DOCUMENT_DID_SAVE, is_guarded=False)
def did_save(ls: VisaServer, params: types.DidSaveTextDocumentParams) -> None:
    """Drop the cached facts of the file of a saved document."""
    ls.files.forget(params.text_document.uri)


@handles(types.TEXT_DOCUMENT_DID_CLOSE, is_guarded=False)
def did_close(ls: VisaServer, params: types.DidCloseTextDocumentParams) -> None:
    """Remove a document and clear its findings."""
    ls.documents.close(params.text_document.uri)
    ls.runs.pop(params.text_document.uri, None)
    ls.machine_code.pop(params.text_document.uri, None)
    ls.cursors.pop(params.text_document.uri, None)
    clear(ls, params.text_document.uri)
