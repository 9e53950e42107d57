"""Answers an editor: findings while text is typed, helps that can be applied, the outline of a file."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from ..collector import PAUSED_COLLECTOR
from ..diagnostics.edits import choose_helps
from ..diagnostics.switches import apply_switches
from ..driver import check, decode, parse
from ..source import Source
from ..version import __version__
from .translate import UTF_16, UTF_32, Places, describe, describe_help, describe_symbols
from .wire import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, NOT_INITIALIZED, answer, notify, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..diagnostics import Diagnostic, Edit
    from ..diagnostics.switches import Switches
    from ..syntax import Unit
    from .translate import Json
    from .wire import Message

FIX_ALL = "source.fixAll.cajetac"


class BadParams(Exception):
    """An editor left something out, or sent it in another form."""


def take(params: Any, kind: type[object], *path: str) -> Any:
    """A field of fields, which must be of a kind. Raises BadParams."""
    found = params
    try:
        for name in path:
            found = found[name]
    except (KeyError, TypeError):  # something on the way has no fields
        found = None
    if not isinstance(found, kind):
        raise BadParams(f"`{'.'.join(path)}` is missing or no {kind.__name__}")
    return found


def _take_range(params: Json, places: Places) -> tuple[int, int]:
    """The offsets of a range."""
    start, end = (
        places.offset(*(take(params, int, "range", side, field) for field in ("line", "character")))
        for side in ("start", "end")
    )
    return start, end


class Document:
    """One open file as the editor has it, and what there is to say about it."""

    def __init__(self, uri: str, text: str, version: Any, encoding: str, switches: Switches):
        self.uri, self.version = uri, version
        # Surrogates without a partner are no text; as bytes they meet the check for UTF-8 that every file meets.
        source, reporter = decode(unquote(urlsplit(uri).path) or uri, text.encode("utf-8", "surrogatepass"))
        self.source, self.text = source, text
        self.places = Places(source, encoding)
        with PAUSED_COLLECTOR:
            self.unit: Unit | None = parse(source, reporter)
            if self.unit:
                check(self.unit, source, reporter)
        self.found: list[Diagnostic] = apply_switches(reporter.in_order(), switches)
        self.described = [describe(diagnostic, self.places, uri) for diagnostic in self.found]

    def publish(self) -> Message:
        found = {"uri": self.uri, "version": self.version, "diagnostics": self.described}
        return notify("textDocument/publishDiagnostics", found)


class Server:
    """`exit_code` is None until the editor has said `exit`. `switches` are those of the command line."""

    def __init__(self, switches: Switches):
        self.switches = switches
        self.encoding = UTF_16
        self.documents: dict[str, Document] = {}
        self.exit_code: int | None = None
        self._initialized = self._down = False

    def handle(self, message: Message) -> list[Message]:
        """What is to be sent after a message came. What an editor may not say is answered, never raised."""
        method, id = message.get("method"), message.get("id")
        if not isinstance(method, str):
            return [] if "result" in message or "error" in message else [refuse(id, INVALID_REQUEST, "no method is named")]
        if method == "exit":
            self.exit_code = 0 if self._down else 1
            return []
        is_request = "id" in message
        if not self._initialized and method != "initialize":
            return [refuse(id, NOT_INITIALIZED, "`initialize` has not come yet")] if is_request else []
        if self._down:
            return [refuse(id, INVALID_REQUEST, "the server is shut down")] if is_request else []
        handler = (REQUESTS if is_request else NOTIFICATIONS).get(method)
        if handler is None:
            return [refuse(id, METHOD_NOT_FOUND, f"no method `{method}`")] if is_request else []
        try:
            result = handler(self, message.get("params") or {})
        except BadParams as error:
            return [refuse(id, INVALID_PARAMS, f"`{method}`: {error}")] if is_request else []
        return [answer(id, result)] if is_request else result

    # ---- life

    def initialize(self, params: Json) -> Json:
        try:
            offered = take(params, list, "capabilities", "general", "positionEncodings")
        except BadParams:  # it may be left out, and anything around it
            offered = []
        self.encoding = UTF_32 if UTF_32 in offered else UTF_16
        self._initialized = True
        return {
            "capabilities": {
                "positionEncoding": self.encoding,
                "textDocumentSync": {"openClose": True, "change": 2},  # what changed, not the whole text
                "codeActionProvider": {"codeActionKinds": ["quickfix", FIX_ALL]},
                "documentSymbolProvider": True,
            },
            "serverInfo": {"name": "cajetac", "version": __version__},
        }

    def shut_down(self, params: Json) -> None:
        self._down = True

    # ---- documents

    def open(self, params: Json) -> list[Message]:
        text = take(params, str, "textDocument", "text")
        return self._update(take(params, str, "textDocument", "uri"), text, params["textDocument"].get("version"))

    def change(self, params: Json) -> list[Message]:
        document = self._find(params)
        text = document.text
        for change in take(params, list, "contentChanges"):
            new = take(change, str, "text")
            if change.get("range"):
                start, end = _take_range(change, Places(Source(document.uri, text), self.encoding))
                text = text[:start] + new + text[max(start, end) :]
            else:
                text = new
        return self._update(document.uri, text, params["textDocument"].get("version"))

    def _update(self, uri: str, text: str, version: Any) -> list[Message]:
        self.documents[uri] = Document(uri, text, version, self.encoding, self.switches)
        return [self.documents[uri].publish()]

    def close(self, params: Json) -> list[Message]:
        uri = self._find(params).uri
        del self.documents[uri]
        return [notify("textDocument/publishDiagnostics", {"uri": uri, "diagnostics": []})]

    def _find(self, params: Json) -> Document:
        uri = take(params, str, "textDocument", "uri")
        if uri not in self.documents:
            raise BadParams(f"`{uri}` is not open")
        return self.documents[uri]

    # ---- questions

    def list_actions(self, params: Json) -> list[Json]:
        document = self._find(params)
        start, end = _take_range(params, document.places)
        context: Any = params.get("context")
        wanted = take(params, list, "context", "only") if context and "only" in context else ["quickfix"]
        actions: list[Json] = []
        if any("quickfix".startswith(kind) for kind in wanted):
            for diagnostic, described in zip(document.found, document.described, strict=True):
                primary = diagnostic.primary
                if primary and primary.start <= end and start <= primary.end:
                    actions += (
                        describe_help(help, described, document.places, document.uri) for help in diagnostic.helps if help.edits
                    )
        if any(FIX_ALL.startswith(kind) for kind in wanted):
            edits: list[Edit] = [edit for help in choose_helps(document.found) for edit in help.edits]
            if edits:
                change = {"changes": {document.uri: document.places.edits(edits)}}
                actions.append({"title": "Apply every safe fix", "kind": FIX_ALL, "edit": change})
        return actions

    def list_symbols(self, params: Json) -> list[Json]:
        document = self._find(params)
        return describe_symbols(document.unit, document.places) if document.unit else []


REQUESTS: dict[str, Callable[[Server, Json], Any]] = {
    "initialize": Server.initialize,
    "shutdown": Server.shut_down,
    "textDocument/codeAction": Server.list_actions,
    "textDocument/documentSymbol": Server.list_symbols,
}
NOTIFICATIONS: dict[str, Callable[[Server, Json], list[Message]]] = {
    "textDocument/didOpen": Server.open,
    "textDocument/didChange": Server.change,
    "textDocument/didClose": Server.close,
}
