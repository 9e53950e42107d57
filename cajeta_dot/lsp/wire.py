"""Messages on a stream: a header with the length of the body in bytes, then the body, one JSON object.

Source: the Language Server Protocol 3.17, "Base Protocol".
"""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

    Message = dict[str, Any]

MAX_BODY_BYTES = 64 << 20
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
NOT_INITIALIZED = -32002


class WireError(Exception):
    """What came is no message. After a bad header nobody can tell where the next one begins: `is_fatal`."""

    def __init__(self, message: str, is_fatal: bool):
        super().__init__(message)
        self.is_fatal = is_fatal


def read_message(stream: BinaryIO) -> Message | None:
    """The next message; None where the stream ends between two. Raises WireError."""
    length: int | None = None
    seen = False
    while True:
        line = stream.readline(10_000)
        if not line:
            if seen:
                raise WireError("the stream ends inside a header", True)
            return None
        if not line.strip():
            break
        seen = True
        name, colon, content = line.partition(b":")
        if not colon:
            raise WireError(f"a header line has no colon: {line[:40]!r}", True)
        if name.strip().lower() == b"content-length":
            if not content.strip().isdigit() or int(content) > MAX_BODY_BYTES:
                raise WireError(f"no length that is read: {content.strip()[:40]!r}", True)
            length = int(content)
    if length is None:
        raise WireError("a header says no Content-Length", True)
    body = stream.read(length)
    if len(body) < length:
        raise WireError("the stream ends inside a message", True)
    try:
        message: Any = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise WireError(f"a body is not JSON: {error}", False) from error
    if not isinstance(message, dict):
        raise WireError("a body is no JSON object", False)
    return message  # pyright: ignore[reportUnknownVariableType] - the server looks at what it uses


def write_message(stream: BinaryIO, message: Message) -> None:
    """Sends one."""
    body = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode()
    stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    stream.flush()


def answer(id: Any, result: Any) -> Message:
    """The answer to a request."""
    return {"id": id, "result": result}


def refuse(id: Any, code: int, message: str) -> Message:
    """The answer to one that can't be followed."""
    return {"id": id, "error": {"code": code, "message": message}}


def notify(method: str, params: Any) -> Message:
    """What is told without being asked."""
    return {"method": method, "params": params}
