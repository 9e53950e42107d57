"""What an editor says, and what it is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cajeta_dot.diagnostics.switches import DEFAULT, read_switches
from cajeta_dot.lsp.server import Server

if TYPE_CHECKING:
    from cajeta_dot.lsp.wire import Message

URI = "file:///work/my%20kernels/k.cj"
DOCUMENT = {"uri": URI, "version": 1}
WRONG = """public class K {
    /* 🙂 */ static final int8 BIG = 200;
    @Kernel
    public static void k(KernelBuffer<int32> out, KernelBuffer<uint8> w) {
        /* 🙂 */ out[0] = wq.vload<4>(0).dot(w.vload<4>(0))
    }
}
"""
RIGHT = "public class K {\n    @Kernel\n    public static void k(KernelBuffer<int32> out) { out[0] = 1; }\n}\n"


def start(encoding: str = "utf-16", *switches: str) -> Server:
    server = Server(read_switches(switches) if switches else DEFAULT)
    capabilities = {"general": {"positionEncodings": [encoding]}}
    (reply,) = server.handle({"id": 0, "method": "initialize", "params": {"capabilities": capabilities}})
    assert reply["result"]["capabilities"]["positionEncoding"] == encoding
    assert server.handle({"method": "initialized", "params": {}}) == []
    return server


def open_text(server: Server, text: str) -> list[Any]:
    item = {**DOCUMENT, "languageId": "cajeta", "text": text}
    (told,) = server.handle({"method": "textDocument/didOpen", "params": {"textDocument": item}})
    assert (told["method"], told["params"]["uri"]) == ("textDocument/publishDiagnostics", URI)
    return told["params"]["diagnostics"]


def ask(server: Server, method: str, **params: Any) -> Any:
    (reply,) = server.handle({"id": 7, "method": method, "params": {"textDocument": {"uri": URI}, **params}})
    assert reply["id"] == 7
    return reply["result"]


def whole(text: str) -> dict[str, Any]:
    return {"start": {"line": 0, "character": 0}, "end": {"line": text.count("\n") + 1, "character": 0}}


@pytest.mark.parametrize(("encoding", "shift"), [("utf-16", 1), ("utf-32", 0)])
def test_findings_have_code_severity_and_place(encoding: str, shift: int) -> None:
    (found,) = open_text(start(encoding), WRONG)
    assert (found["code"], found["severity"], found["source"]) == ("E0104", 1, "cajetac")
    assert found["message"].startswith("expected `;`")
    line = WRONG.splitlines()[4]
    assert found["range"]["start"] == {"line": 4, "character": len(line) + shift}


def test_a_change_is_made_where_it_says() -> None:
    """Characters are counted as the editor counts them, in the text as the change before has left it."""
    server = start()
    open_text(server, WRONG)
    end = {"line": 4, "character": len(WRONG.splitlines()[4]) + 1}
    at = WRONG.splitlines()[4].index("wq") + 1
    name = {"start": {"line": 4, "character": at}, "end": {"line": 4, "character": at + 2}}
    changes = [{"range": {"start": end, "end": end}, "text": ";"}, {"range": name, "text": "w"}]
    params = {"textDocument": {"uri": URI, "version": 2}, "contentChanges": changes}
    (told,) = server.handle({"method": "textDocument/didChange", "params": params})
    assert server.documents[URI].text == WRONG.replace("(0))\n", "(0));\n").replace("wq", "w")
    assert told["params"]["version"] == 2
    assert [found["code"] for found in told["params"]["diagnostics"]] == ["E0303"]
    whole_text = {"textDocument": {"uri": URI, "version": 3}, "contentChanges": [{"text": RIGHT}]}
    (told,) = server.handle({"method": "textDocument/didChange", "params": whole_text})
    assert told["params"]["diagnostics"] == []


def test_a_place_behind_the_end_is_the_end() -> None:
    server = start()
    open_text(server, RIGHT)
    far = {"line": 99, "character": 99}
    params = {"textDocument": {"uri": URI}, "contentChanges": [{"range": {"start": far, "end": far}, "text": "// end"}]}
    server.handle({"method": "textDocument/didChange", "params": params})
    assert server.documents[URI].text == RIGHT + "// end"


def test_helps_are_actions() -> None:
    server = start()
    open_text(server, WRONG)
    (action,) = ask(server, "textDocument/codeAction", range=whole(WRONG), context={"diagnostics": []})
    assert (action["kind"], action["isPreferred"]) == ("quickfix", True)
    (edit,) = action["edit"]["changes"][URI]
    assert edit["newText"] == ";"
    beginning = {"line": 0, "character": 0}
    assert ask(server, "textDocument/codeAction", range={"start": beginning, "end": beginning}) == []


def test_all_safe_fixes_are_one_action() -> None:
    server = start()
    text = WRONG.replace("wq", "w").replace("(0))\n", "(0));\n") + "class L { static int8 f(int32 a) { return a; } }"
    open_text(server, text)
    everything = {"range": whole(text), "context": {"only": ["source.fixAll"], "diagnostics": []}}
    (action,) = ask(server, "textDocument/codeAction", **everything)
    assert action["kind"] == "source.fixAll.cajetac"
    assert [edit["newText"] for edit in action["edit"]["changes"][URI]] == ["(int8) "]  # the other one is not safe
    kinds = [one["isPreferred"] for one in ask(server, "textDocument/codeAction", range=whole(text))]
    assert sorted(kinds) == [False, True]


def test_the_outline() -> None:
    server = start()
    open_text(
        server, "class K {\n    static final int32 N = 1;\n    int32 f() { return 1; }\n    class L { }\n}\nenum E { A }\n"
    )
    symbols = ask(server, "textDocument/documentSymbol")
    assert [(symbol["name"], symbol["kind"]) for symbol in symbols] == [("K", 5), ("E", 10)]
    assert [(symbol["name"], symbol["kind"]) for symbol in symbols[0]["children"]] == [("N", 14), ("f", 6), ("L", 5)]
    assert symbols[0]["children"][1]["selectionRange"]["start"] == {"line": 2, "character": 10}


def test_closing_takes_findings_back() -> None:
    server = start()
    open_text(server, WRONG)
    (told,) = server.handle({"method": "textDocument/didClose", "params": {"textDocument": {"uri": URI}}})
    assert told["params"] == {"uri": URI, "diagnostics": []}
    assert server.documents == {}


def test_switches_count() -> None:
    text = RIGHT.replace("out[0] = 1;", "")
    assert [found["severity"] for found in open_text(start(), text)] == [2]
    assert open_text(start("utf-16", "-Wno-no-effect"), text) == []
    assert [found["severity"] for found in open_text(start("utf-16", "-Werror"), text)] == [1]


# What is sent -> the code of the refusal.
REFUSED: dict[str, tuple[Message, int]] = {
    "no method": ({"id": 1}, -32600),
    "unknown method": ({"id": 1, "method": "textDocument/rename", "params": {}}, -32601),
    "no params": ({"id": 1, "method": "textDocument/documentSymbol"}, -32602),
    "params are a list": ({"id": 1, "method": "textDocument/documentSymbol", "params": [1]}, -32602),
    "not open": ({"id": 1, "method": "textDocument/documentSymbol", "params": {"textDocument": {"uri": "x"}}}, -32602),
    "no range": ({"id": 1, "method": "textDocument/codeAction", "params": {"textDocument": {"uri": URI}}}, -32602),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_can_not_be_followed_is_answered(name: str) -> None:
    server = start()
    open_text(server, RIGHT)
    message, code = REFUSED[name]
    (reply,) = server.handle(message)
    assert (reply["id"], reply["error"]["code"]) == (1, code)
    del message["id"]
    if "method" in message:
        assert server.handle(message) == []  # nobody waits for an answer to a notification


def test_life_has_an_order() -> None:
    server = Server(DEFAULT)
    (reply,) = server.handle({"id": 1, "method": "textDocument/documentSymbol", "params": {}})
    assert reply["error"]["code"] == -32002
    server = start()
    assert server.handle({"id": 2, "method": "shutdown"}) == [{"id": 2, "result": None}]
    (reply,) = server.handle({"id": 3, "method": "textDocument/documentSymbol", "params": {}})
    assert reply["error"]["code"] == -32600
    server.handle({"method": "exit"})
    assert server.exit_code == 0
    abrupt = start()
    abrupt.handle({"method": "exit"})
    assert abrupt.exit_code == 1


@pytest.mark.parametrize("text", ["", "\ud800", "class", "🙂" * 5000, "/* " + "(" * 5000, "\0\r\r\n"])
def test_any_text_is_answered(text: str) -> None:
    for encoding in ("utf-16", "utf-32"):
        open_text(start(encoding), text)
