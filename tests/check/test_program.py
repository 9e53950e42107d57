"""The program that a file becomes: names, symbols, order, and sizes that must not matter."""

from __future__ import annotations

import re

import pytest

from cajeta_dot.ir import Program, Value, walk

from .checking import check, codes


def program_of(text: str, name: str = "Test.cj") -> Program:
    program, found = check(text, name)
    assert program, [diagnostic.message for diagnostic in found]
    return program


# ---- names


def test_methods_outside_a_class_belong_to_one_named_after_the_file() -> None:
    text = "@Kernel static void k(int32[] o) { o[0] = h(1) + gemv.h(2); } static int32 h(int32 n) { return n; }"
    for name in ("gemv.cj", "/some/where/gemv.cajeta", "C:\\some\\gemv.cj"):
        assert set(program_of(text, name).names) == {"k", "h", "gemv.k", "gemv.h"}


def test_a_name_alone_is_for_what_is_unique() -> None:
    text = """class A { @Kernel static void k(int32[] o) { o[0] = 1; } static int32 h() { return 1; } }
    class B { @Kernel static void k(int32[] o) { o[0] = 2; } @Device static int32 d() { return 1; } }"""
    assert set(program_of(text).names) == {"A.k", "B.k", "A.h", "h"}


def test_overloads_are_told_apart_by_their_parameters() -> None:
    text = "class A { static int32 h(int32 a) { return a; } static int32 h(int32 a, int32 b) { return a + b; } }"
    program = program_of(text)
    assert {name: len(function.params) for name, function in program.names.items()} == {"A.h/1": 1, "A.h/2": 2}


def test_the_other_overload_is_the_one_called() -> None:
    text = "class A { static int32 h(int32 a) { return h(a, 1); } static int32 h(int32 a, int32 b) { return a + b; } }"
    one = program_of(text).names["A.h/1"]
    (call,) = [item for item in walk(one.body) if isinstance(item, Value) and item.op == "call"]
    assert len(call.attr.params) == 2


@pytest.mark.parametrize("name", ["<string>", "a b-c.cj", "größe.cj", "1.cj", ".cj", "a.b.cj"])
def test_symbols_are_letters_that_object_files_have(name: str) -> None:
    text = """static int32 h(int32 a) { return a; } static int32 h(int32 a, int32 b) { return a; }
    class Ä { static int32 h(int32 a) { return a; } static int32 ядро() { return 1; } static int32 plain() { return 1; } }"""
    symbols = [function.symbol for function in program_of(text, name).functions]
    assert len(set(symbols)) == len(symbols) == 5
    assert all(re.fullmatch(r"[A-Za-z0-9_$.]+", symbol) for symbol in symbols)
    assert "plain" in symbols


def test_classes_of_the_wider_language_are_told_from_those_of_other_files() -> None:
    """Another file would not bring them into a kernel."""
    text = "@Kernel static void k(float32[] o) {{ o[0] = {}.reduceSum(o[1]); }}"
    for name, advice in (("Wave", "of the wider language"), ("Sums", "in another file"), ("Cajetta", "did you mean `Cajeta`")):
        (told,) = check(text.format(name))[1]
        assert (told.code, told.message) == ("E0207", f"no class `{name}`")
        assert any(advice in line for line in (*told.notes, *(help.message for help in told.helps)))


def test_callees_come_first() -> None:
    text = """class A { @Kernel static void k(int32[] o) { o[0] = a(1) + b(2); } static int32 a(int32 n) { return b(n); }
    @Device static int32 b(int32 n) { return c(n); } static int32 c(int32 n) { return n < 1 ? 0 : n; }
    static int32 self(int32 n) { return n < 1 ? 0 : self(n - 1); } }"""
    program = program_of(text)
    done = set[object]()
    for function in program.functions:
        called = {item.attr for item in walk(function.body) if isinstance(item, Value) and item.op == "call"}
        assert called - {function} <= done
        done.add(function)
    assert [function.name for function in program.entries] == ["A.k", "A.a", "A.c", "A.self"]


def test_what_marks_mean() -> None:
    text = (
        "class A { @Kernel @FastMath static void k(float32[] o) { o[0] = d(); } @Device static float32 d() { return 1.0f; } }"
    )
    program = program_of(text)
    assert {f.name: (f.kind, f.fast_math) for f in program.functions} == {"A.k": ("kernel", True), "A.d": ("device", False)}


def test_a_skipped_method_is_not_in_the_program_whatever_is_wrong_with_it() -> None:
    program = program_of("class A { static void s() { int8 x = 300; System.out(1); } static int32 h() { return 1; } }")
    assert [function.name for function in program.functions] == ["A.h"]


def test_places_are_those_of_the_text() -> None:
    text = "class A { static int32 h(int32[] a, int32 i) { return a[i + 1] / i; } }"
    (function,) = program_of(text).functions
    assert text[function.start : function.end] == "h"
    places = {item.op: text[item.start : item.end] for item in walk(function.body) if isinstance(item, Value)}
    assert places["load"] == "a[i + 1]"
    assert places["div"] == "/"
    assert places["add"] == "+"


# ---- sizes

# A method around some text, what opens a level, what is innermost, what closes it, how many levels of nesting one is.
NESTED = {
    "calls": ("static int32 f(int32 x) {{ return x; }} static int32 g(int32 x) {{ return {}; }}", "f(", "x", ")", 1),
    "signs": ("static int32 g(int32 x) {{ return {}; }}", "- ", "x", "", 1),
    "casts": ("static int32 g(int32 x) {{ return {}; }}", "(int32) ", "x", "", 1),
    "built-ins": ("static int32 g(int32 x) {{ return {}; }}", "Math.max(1, ", "x", ")", 1),
    "choices": ("static int32 g(int32 x) {{ return {}; }}", "x > 0 ? x : ", "x", "", 1),
    "assignments": ("static void g(int32 x) {{ {}; }}", "x = ", "3", "", 1),
    "indexes": ("static int32 g(int32[] x) {{ return {}; }}", "x[", "0", "]", 1),
    "loads": ("static int32 g(int32[] x) {{ return {}; }}", "x.vload<4>(", "0", ").sum()", 2),
    "conditions": ("static boolean g(boolean x) {{ return {}; }}", "x && (x || ", "x", ")", 2),
    "blocks": ("static void g(int32 x) {{ {} }}", "{", "x = 1;", "}", 1),
    "branches": ("static void g(int32 x) {{ {} }}", "if (x == 1) ", "x = 3;", "", 1),
    "loops": ("static void g(int32 x) {{ {} }}", "while (x > 0) ", "x = x - 1;", "", 1),
    "methods": ("static int32 g(int32[] x) {{ return {}; }}", "", "x.vload<4>(0)", ".abs()", 1),
}
FEW, MANY = 150, 250  # levels, below and above the limit


def nest(what: str, levels: int) -> str:
    around, opening, inside, closing, deep = NESTED[what]
    return around.format(
        opening * (levels // deep) + inside + closing * (levels // deep) + (".sum()" if what == "methods" else "")
    )


@pytest.mark.parametrize("what", NESTED)
def test_nesting_up_to_the_limit_is_followed(what: str) -> None:
    assert codes(nest(what, FEW)) == []


@pytest.mark.parametrize("what", NESTED)
def test_nesting_beyond_the_limit_is_one_error(what: str) -> None:
    assert codes(nest(what, MANY)) == ["E0111"]


@pytest.mark.parametrize("operator", ["+", "<<"])
def test_long_chains_are_no_nesting(operator: str) -> None:
    right = "1" if operator == "<<" else "x"
    assert codes(f"static int32 g(int32 x) {{ return x{f' {operator} {right}' * 5_000}; }}") == []
    assert codes(f"static boolean g(boolean x) {{ return x{' && x' * 1_000}; }}") == []


@pytest.mark.parametrize("step", [1, -1], ids=["callees-first", "callers-first"])
def test_long_chains_of_calls(step: int) -> None:
    helpers = [f"@Device static int32 f{n}(int32 x) {{ return {f'f{n - 1}(x)' if n else 'x'}; }}" for n in range(2000)][::step]
    text = "\n".join(["@Kernel static void k(int32[] o) { o[0] = f1999(1); }", *helpers])
    assert len(program_of(text).functions) == 2001


def test_a_chain_of_skipped_methods() -> None:
    methods = [f"static int32 f{n}(int32 x) {{ return {f'f{n - 1}(x)' if n else 'System.x()'}; }}" for n in range(500)]
    assert codes("\n".join(methods)) == ["R0602"] * 500


def test_long_chains_of_constants() -> None:
    upward = ["static final int32 A0 = 1;", *(f"static final int32 A{n + 1} = A{n} + 1;" for n in range(2000))]
    assert codes("\n".join(upward)) == []
    downward = [f"static final int32 A{n} = A{n + 1} + 1;" for n in range(90)]
    assert codes("\n".join([*downward, "static final int32 A90 = 1;"])) == []
    far = [f"static final int32 A{n} = A{n + 1} + 1;" for n in range(500)]
    assert set(codes("\n".join([*far, "static final int32 A500 = 1;"]))) == {"E0111"}


def test_near_names_are_looked_for_as_often_as_errors_are_shown() -> None:
    known = "".join(f"int32 known{n} = 0; " for n in range(2000))
    wrong = "".join(f"knwon{n} = 1; " for n in range(2000))
    found = check(f"static void f() {{ {known} {wrong} }}")[1]
    assert [diagnostic.code for diagnostic in found] == ["E0201"] * 2000
    assert [bool(diagnostic.helps) for diagnostic in found] == [n < 20 for n in range(2000)]


def test_many_variables() -> None:
    assert codes("static void f() {" + "".join(f"int32 v{n} = {n}; int32 w{n}; w{n} = v{n};" for n in range(5000)) + "}") == []


def test_many_methods_take_no_longer_each() -> None:
    text = "\n".join(f"@Kernel static void k{n}(int32[] o) {{ o[0] = {n}; }}" for n in range(3000))
    assert len(program_of(text).names) == 6000
