"""Messages as bytes, and the whole process."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import pytest

from cajeta_dot.lsp.wire import WireError, read_message, write_message


def frame(*messages: object) -> bytes:
    bodies = [json.dumps(message, ensure_ascii=False).encode() for message in messages]
    return b"".join(b"Content-Length: %d\r\n\r\n" % len(body) + body for body in bodies)


def test_what_is_written_can_be_read() -> None:
    stream = io.BytesIO()
    for text in ("x", "🙂ß", "\r\n\r\n"):
        write_message(stream, {"method": text})
    stream.seek(0)
    read = [read_message(stream) for _ in range(4)]
    assert read[3] is None
    assert [message and message["method"] for message in read[:3]] == ["x", "🙂ß", "\r\n\r\n"]


def test_other_headers_and_spellings_are_taken() -> None:
    head = b"content-type: application/vscode-jsonrpc; charset=utf-8\r\nCONTENT-LENGTH:  2\r\n\r\n{}"
    assert read_message(io.BytesIO(head)) == {}


BAD = {
    b"Content-Length: 5\r\n\r\n{}": True,
    b"Content-Length: many\r\n\r\n{}": True,
    b"Content-Length: 99999999999\r\n\r\n{}": True,
    b"Content-Length": True,
    b"Content-Length: 2\r\n": True,
    b"X: 2\r\n\r\n{}": True,
    b"Content-Length: 2\r\n\r\n{]": False,
    b"Content-Length: 2\r\n\r\n[]": False,
    b"Content-Length: 1\r\n\r\n\xff": False,
    b"Content-Length: 100000\r\n\r\n" + b"[" * 100_000: False,
}


@pytest.mark.parametrize("content", BAD, ids=lambda content: repr(content[:30]))
def test_what_is_no_message(content: bytes) -> None:
    with pytest.raises(WireError) as caught:
        read_message(io.BytesIO(content))
    assert caught.value.is_fatal == BAD[content]


def serve(sent: bytes) -> tuple[int, list[dict[str, object]]]:
    done = subprocess.run([sys.executable, "-m", "cajeta_dot", "lsp"], input=sent, capture_output=True, timeout=60)
    assert b"Traceback" not in done.stderr
    stream = io.BytesIO(done.stdout)
    replies: list[dict[str, object]] = []
    while (message := read_message(stream)) is not None:
        replies.append(message)
    return done.returncode, replies


def test_the_whole_process() -> None:
    item = {"uri": "file:///k.cj", "version": 1, "text": "class K { static int32 f() { return x; } }"}
    code, replies = serve(
        frame(
            {"id": 1, "method": "initialize", "params": {}},
            {"method": "textDocument/didOpen", "params": {"textDocument": item}},
        )
        + b"Content-Length: 2\r\n\r\n{]"
        + frame({"id": 2, "method": "shutdown"}, {"method": "exit"})
    )
    assert code == 0
    assert [reply.get("id", reply.get("method")) for reply in replies] == [1, "textDocument/publishDiagnostics", None, 2]
    assert '"code": "E0201"' in json.dumps(replies[1])


@pytest.mark.parametrize("sent", [b"", b"junk\r\n\r\n", frame({"method": "exit"})])
def test_an_editor_that_goes_away_leaves_no_process(sent: bytes) -> None:
    assert serve(sent)[0] == 1
