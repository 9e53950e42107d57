"""The nodes, and the collector that rests while they are made."""

from __future__ import annotations

import copy
import gc
import pickle
import threading

import pytest

from cajeta_dot.syntax import parse, tree
from cajeta_dot.syntax.parse import parse_text

from .diagnose import BODY
from .kernels import write_program


def test_nodes_have_no_other_fields_and_can_be_copied() -> None:
    name = tree.Name(0, 1, "a")
    with pytest.raises(AttributeError, match="colour"):
        name.colour = "b"  # pyright: ignore[reportAttributeAccessIssue]
    assert repr(copy.copy(pickle.loads(pickle.dumps(name)))) == repr(name) == "Name(start=0, end=1, text='a')"


def test_the_collector_is_left_as_it_was() -> None:
    assert gc.isenabled()
    for text in "class C { }", BODY.format("x = ;"), BODY.format("(" * 2000):
        parse_text(text)
        assert gc.isenabled()
    gc.disable()
    try:
        parse_text("class C { }")
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_collector_rests_until_the_last_thread_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    states: list[bool] = []
    inside, leave = threading.Event(), threading.Event()

    def parse_slowly(self: parse.Parser) -> None:
        inside.set()
        assert leave.wait(10)

    with monkeypatch.context() as patched:
        patched.setattr(parse.Parser, "parse", parse_slowly)
        slow = threading.Thread(target=parse_text, args=("class C { }",))
        slow.start()
        assert inside.wait(10)
    states.append(gc.isenabled())
    parse_text("class C { }")
    states.append(gc.isenabled())
    leave.set()
    slow.join()
    states.append(gc.isenabled())
    assert states == [False, False, True]


def test_threads_share_the_tables() -> None:
    text = write_program(200)
    expected = repr(parse_text(text))
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(repr(parse_text(text)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4
    assert gc.isenabled()


def test_the_same_text_gives_the_same_tree() -> None:
    text = write_program(100)
    assert repr(parse_text(text)) == repr(parse_text(text))
