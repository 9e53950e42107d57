"""Chains of `else if`: as long as one likes, and the same whether their branches are nested or one behind the other."""

from __future__ import annotations

import random

import pytest

from cajeta_dot.ir import If, Loop, Program, nested_blocks

from .checking import check, codes, found_in

ENDS = [
    "return x + {i};",
    "break;",
    "continue;",
    "y = y + {i};",
    "y = y * 2; x = x + {i};",
    "if (y > {i}) return y; y = y + 3;",
    ";",
]


def write_chain(links: int, rng: random.Random, has_else: bool) -> str:
    """A method with a chain in a loop, whose branches end in every way."""
    chain = " else ".join(
        f"if (x % {rng.choice([2, 3, 5, 7, 11])} == {rng.randrange(3)}) {{ {rng.choice(ENDS).format(i=i)} }}"
        for i in range(links)
    )
    last = f" else {{ {rng.choice(ENDS).format(i=99)} }}" if has_else else ""
    body = f"int32 y = 1; for (int32 i = 0; i < 20; i++) {{ x = x + 1; {chain}{last} y = y + 1; }} return y;"
    return f"class C {{ static int32 f(int32 x) {{ {body} }} }}"


def depth_of(program: Program) -> int:
    """Branches and loops inside one another."""
    work = [(function.body, 0) for function in program.functions]
    deepest = 0
    while work:
        block, depth = work.pop()
        deepest = max(deepest, depth)
        work += [(inner, depth + 1) for item in block if isinstance(item, (If, Loop)) for inner in nested_blocks(item)]
    return deepest


def call(text: str, arguments: list[int], target: str = "reference") -> list[int]:
    from cajeta_dot import compile

    function = compile(text, target=target)["f"]
    return [function(argument) for argument in arguments]


@pytest.mark.parametrize("seed", range(24))
def test_both_ways_give_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    text = write_chain(rng.randrange(2, 9), rng, has_else=seed % 2 == 0)
    arguments = [*range(-9, 30), 1000, -1000]
    nested = call(text, arguments)
    monkeypatch.setattr("cajeta_dot.check.statements.MAX_LINKS", 1)
    assert call(text, arguments) == nested
    if seed < 3:
        assert call(text, arguments, "x86-scalar") == nested


@pytest.mark.parametrize("end", ["return {i};", "y = {i};"])
def test_a_thousand_links_are_no_nesting(end: str) -> None:
    chain = " else ".join(f"if (x == {i}) {{ {end.format(i=i)} }}" for i in range(1_500))
    program, found = check(
        f"class C {{ static int32 f(int32 x) {{ int32 y; {chain} else {{ return -1; }} return y; }} }}".replace(
            "int32 y;", "int32 y = 0;" if "return" in end else "int32 y;"
        )
    )
    assert found == []
    assert program
    assert depth_of(program) <= 3


def test_what_has_a_value_behind_a_long_chain() -> None:
    links = [f"if (x == {i}) {{ y = {i}; }}" for i in range(40)]
    whole = "class C {{ static int32 f(int32 x) {{ int32 y;\n{}\nreturn y; }} }}"
    assert codes(whole.format(" else ".join(links) + " else { y = 1; }")) == []
    assert codes(whole.format(" else ".join(links))) == ["E0206"]
    links[7] = "if (x == 7) { }"
    assert codes(whole.format(" else ".join(links) + " else { y = 1; }")) == ["E0206"]
    returns = " else ".join(f"if (x == {i}) {{ return {i}; }}" for i in range(40))
    assert codes(f"class C {{ static int32 f(int32 x) {{ {returns} }} }}") == ["E0311"]
    assert codes(f"class C {{ static int32 f(int32 x) {{ {returns} else {{ return 1; }} }} }}") == []


def test_mistakes_in_a_long_chain_are_told_at_their_line() -> None:
    links = [f"if (x == {i}) {{ y = {i}; }}" for i in range(40)]
    links[20], links[30] = "if (x = 20) { }", "if (x == z) { w = 1; }"
    text = "class C { static void f(int32 x, int32[] o) { int32 y = 0;\n" + "\nelse ".join(links) + "\no[0] = y; } }"
    assert found_in(text) == [(22, "E0110")]
    assert found_in(text.replace("x = 20)", "x == 20)")) == [(32, "E0201"), (32, "E0201")]


def test_a_barrier_in_a_uniform_chain() -> None:
    links = [f"if (n == {i}) {{ s[0] = {i}; Barrier.workgroup(); }}" for i in range(40)]
    head = "class C {{ @Kernel static void k(KernelBuffer<int32> out, int32 n) {{ Shared<int32> s = shared int32[4]; "
    kernel = head + "{} out[0] = s[0]; }} }}"
    assert codes(kernel.format(" else ".join(links))) == []
    links[3] = "if (KernelThread.x() == 3) { s[0] = 3; }"
    assert set(codes(kernel.format(" else ".join(links)))) == {"E0506"}
