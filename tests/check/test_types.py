"""Types of one content are one object, however they are made."""

from __future__ import annotations

import copy
import pickle
import threading

import pytest

from cajeta_dot.record import replace
from cajeta_dot.types import FLOAT32, INT8, INT32, VOID, Array, Scalar, Type, Vector, Void, with_element


@pytest.mark.parametrize(
    ("made", "known"),
    [
        (Scalar("s", 32), INT32),
        (Vector(INT8, lanes=4), Vector(Scalar("s", 8), 4)),
        (Array(INT8, "array"), Array(INT8, "array", None, None)),
        (replace(Array(INT8, "Shared"), length=3), Array(INT8, "Shared", 3)),
        (with_element(Vector(INT8, 16), FLOAT32), Vector(FLOAT32, 16)),
        (Void(), VOID),
    ],
)
def test_one_object(made: Type, known: Type) -> None:
    assert made is known
    assert copy.deepcopy(made) is known
    assert pickle.loads(pickle.dumps(made)) is known


def test_others_are_others() -> None:
    types = [
        INT8,
        INT32,
        Vector(INT8, 4),
        Vector(INT8, 8),
        Vector(INT32, 4),
        Array(INT8, "Shared"),
        Array(INT8, "Shared", 4),
        VOID,
    ]
    assert len(set(types)) == len(types)
    for type in types:
        assert [other == type for other in types].count(True) == 1


def test_threads_make_the_same() -> None:
    made: list[Vector] = []
    threads = [threading.Thread(target=lambda: made.extend(Vector(INT32, lanes) for lanes in range(1, 200))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 8 * 199
    assert len({id(vector) for vector in made}) == 199


@pytest.mark.parametrize("number", [-129, -128, -1, 0, 1, 127, 128, 255, 256, 2**31 - 1, 2**31, -(2**31), 2**63, 2**64 - 1])
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("kind", ["s", "u"])
def test_the_numbers_of_a_type(kind: str, bits: int, number: int) -> None:
    type = Scalar(kind, bits)
    assert type.holds(number) == (type.low <= number <= type.high)
    wrapped = type.wrap(number)
    assert type.holds(wrapped)
    assert (wrapped - number) % (1 << bits) == 0
    assert not type.holds(number) or wrapped == number
