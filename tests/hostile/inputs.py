"""The inputs, by name. They are as large as it takes to hurt an algorithm that is not linear, or follows them by recursion.

`VALID` are programs: a compiler may refuse them for their size, at a place, but whatever it accepts has to go on through
every phase. `BROKEN` are none.
"""

from __future__ import annotations

import random
import string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PARAMETERS = "KernelBuffer<int32> out, KernelBuffer<int8> w, int32 x"


def write_kernel(body: str, members: str = "") -> str:
    """A class with a kernel of this body."""
    return f"public class K {{\n{members}\n@Kernel public static void k({PARAMETERS}) {{\n{body}\n}} }}\n"


def store(value: str) -> str:
    return write_kernel(f"out[0] = {value};")


def join(separator: str, texts: Iterable[str]) -> str:
    return separator.join(texts)


def nest(left: str, middle: str, right: str, depth: int) -> str:
    return left * depth + middle + right * depth


def write_helpers(count: int, body: Callable[[int], str], marks: str = "@Device static") -> str:
    return "\n".join(f"{marks} int32 f{i}(int32 a) {{ return {body(i)}; }}" for i in range(count))


def write_waiting_helpers(count: int) -> str:
    """Each calls the next one twice, with its parameters in other places; the last one waits at a barrier."""
    head = "@Device static void f{}(int32 a, int32 b, int32 c)"
    calls = (f"{head.format(i)} {{ f{i + 1}(b, c, a); f{i + 1}(c, b, a); }}" for i in range(count - 1))
    return "\n".join((*calls, f"{head.format(count - 1)} {{ Barrier.workgroup(); }}"))


# ---- many of one thing

VALID: dict[str, Callable[[], str]] = {
    "sum": lambda: store(join(" + ", (f"x * {i % 97}" for i in range(20_000)))),
    "sum of literals": lambda: store(join(" + ", ["1"] * 100_000)),
    "sum of products of floats": lambda: write_kernel(f"float32 f = {join(' + ', ['1.1e-300 * 3.3'] * 20_000)}; out[0] = x;"),
    "product of floats": lambda: write_kernel(f"float32 f = {join(' * ', ['1.1'] * 20_000)}; out[0] = x;"),
    "alternating and, or": lambda: write_kernel(
        f"if ({join(' || ', (f'x > {i} && x != {i + 1}' for i in range(5_000)))}) {{ out[0] = 1; }}"
    ),
    "and of divisions": lambda: write_kernel(
        f"if ({join(' && ', (f'out[{i}] / x > {i}' for i in range(5_000)))}) {{ out[0] = 1; }}"
    ),
    "choices in a row": lambda: store(join("", (f"x == {i} ? {i} : " for i in range(150))) + "0"),
    "else if": lambda: write_kernel(join(" else ", (f"if (x == {i}) {{ out[{i}] = {i}; }}" for i in range(10_000)))),
    "calls in a row": lambda: store("w.vload<16>(0)" + ".asUnsigned().asSigned()" * 2_000 + "[3]"),
    "locals": lambda: write_kernel(
        join("\n", (f"int32 a{i} = {f'a{i - 1}' if i else 'x'} + {i};" for i in range(10_000))) + "out[0] = a9999;"
    ),
    "one name in many blocks": lambda: write_kernel("{ int32 a = x; out[0] = a; }\n" * 10_000),
    "statements": lambda: write_kernel("out[x] = x + 1;\n" * 10_000),
    "loops in a row": lambda: write_kernel("for (int32 i = 0; i < 8; i++) { out[i] += x; }\n" * 2_000),
    "empty statements": lambda: write_kernel(";" * 1_000_000 + "out[0] = x;"),
    "methods": lambda: write_kernel("out[0] = f9999(x);", write_helpers(10_000, lambda i: f"a + {i}")),
    "kernels": lambda: (
        "class K {" + "".join(f"@Kernel static void k{i}({PARAMETERS}) {{ out[0] = {i}; }}\n" for i in range(3_000)) + "}"
    ),
    "classes": lambda: "".join(
        f"class C{i} {{ static int32 f() {{ return C{max(i - 1, 0)}.g() + {i}; }} static int32 g() {{ return {i}; }} }}\n"
        for i in range(3_000)
    ),
    "fields": lambda: write_kernel("out[0] = F9999;", "".join(f"static final int32 F{i} = {i};\n" for i in range(10_000))),
    "overloads": lambda: write_kernel(
        "out[0] = f(x, x, x);",
        "".join(f"static int32 f({join(', ', (f'int32 a{k}' for k in range(i)))}) {{ return {i}; }}\n" for i in range(250)),
    ),
    "parameters": lambda: write_kernel(
        f"out[0] = f({join(', ', ['x'] * 5_000)});",
        f"@Device static int32 f({join(', ', (f'int32 a{i}' for i in range(5_000)))}) {{ return a4999; }}",
    ),
    "imports": lambda: "".join(f"import a.b.C{i};\n" for i in range(20_000)) + store("x"),
    "annotations": lambda: write_kernel("out[0] = x;", "@Old(a = 1, b: { 2, 3 }) " * 2_000 + "static int32 f() { return 1; }"),
    "foreign members": lambda: write_kernel(
        "out[0] = x;", "static Function f = x -> { y = 1; };\n int32 operator+ (int32 a) { }\n" * 2_000
    ),
    "foreign methods": lambda: write_kernel(
        "out[0] = x;",
        "".join(f"void f{i}() {{ switch (x) {{ case 1: g(Foo::bar); }} h(Foo {{ a: 1 }}); }}\n" for i in range(3_000)),
    ),
    "barriers in nested loops": lambda: write_kernel(
        nest("while (x > 0) { x = x - 1; ", "Barrier.workgroup();", " }", 60) + " out[0] = x;"
    ),
    "barriers in a chain of helpers": lambda: write_kernel(
        "f0(x); out[0] = x;",
        "".join(
            f"@Device static void f{i}(int32 a) {{ {f'f{i + 1}(a);' if i < 2_999 else 'Barrier.workgroup();'} }}\n"
            for i in range(3_000)
        ),
    ),
    "barriers in helpers called twice": lambda: write_kernel("f0(x, 1, x); out[0] = x;", write_waiting_helpers(40)),
    "variables that follow each other": lambda: write_kernel(
        "".join(f"int32 a{i} = 0;\n" for i in range(1_000))
        + f"while (a0 < x) {{ {' '.join(f'a{i} = a{i + 1};' for i in range(999))} a999 = out[0]; Barrier.workgroup(); }}"
    ),
    "vectors": lambda: write_kernel(
        "".join(
            f"Vector<int8,256> v{i} = Vector<int8,256>({join(', ', (str((i + k) % 128) for k in range(256)))});\n"
            for i in range(60)
        )
        + "out[0] = v3[x];"
    ),
    "lanes set one by one": lambda: write_kernel(
        "Vector<int8,256> v = w.vload<256>(0);\n"
        + "".join(f"v[{i % 256}] = (int8) {i % 100};\n" for i in range(3_000))
        + "out[0] = v[x];"
    ),
    # ---- calls between methods
    "helpers in a chain": lambda: write_kernel(
        "out[0] = f0(x);", write_helpers(5_000, lambda i: f"f{i + 1}(a) + 1" if i < 4_999 else "a")
    ),
    "hosts in a chain": lambda: write_kernel(
        "out[0] = x;", write_helpers(5_000, lambda i: f"f{i + 1}(a) + 1" if i < 4_999 else "a", "public static")
    ),
    "helpers called twice": lambda: write_kernel(
        "out[0] = f0(x);", write_helpers(40, lambda i: f"f{i + 1}(a) + f{i + 1}(a + 1)" if i < 39 else "a")
    ),
    "helpers that all call all": lambda: write_kernel(
        "out[0] = f0(x);", write_helpers(150, lambda i: join(" + ", ["a", *(f"f{k}(a)" for k in range(i + 1, 150))]))
    ),
    # ---- long words
    "name of a megabyte": lambda: write_kernel(f"int32 {'n' * 1_000_000} = x; out[0] = {'n' * 1_000_000};"),
    "string of a megabyte": lambda: write_kernel("out[0] = x;", f'static final String S = "{"s" * 1_000_000}";'),
    "comment of a megabyte": lambda: f"/* {'c' * 1_000_000} */" + store("x"),
    "comments in comments": lambda: nest("/*", " deep ", "*/", 100_000) + store("x"),
    "spaces": lambda: store(" " * 2_000_000 + "x"),
    "lines": lambda: store("\n" * 1_000_000 + "x"),
    "returns": lambda: store("x").replace("\n", "\r"),
    "astral letters": lambda: SEED.replace("acc", "\U0001d4b6").replace("NAME", "\U00020000"),
}

# ---- nesting: deeper than the limit; each says so at a place, or is fine with it

NESTED: dict[str, tuple[str, str, str]] = {
    "parentheses": ("(", "x", ")"),
    "signs": ("- ", "x", ""),
    "complements": ("~", "x", ""),
    "negations": ("!", "b", ""),
    "casts": ("(int32) ", "x", ""),
    "conditions": ("x > 1 ? x : ", "x", ""),
    "conditions inside": ("x > 1 ? ", "x", " : 2"),
    "indexes": ("out[", "x", "]"),
    "calls": ("Math.abs(", "x", ")"),
    "assignments": ("x = ", "x", ""),
    "sums on the right": ("x + (", "x", ")"),
    "array literals": ("[", "x", "]"),
    "vectors": ("Vector<int32,1>(", "x", ")[0]"),
    "lanes": ("w.vload<", "4", ">(0)[0]"),
}
NESTED_STATEMENTS: dict[str, tuple[str, str, str]] = {
    "blocks": ("{ ", "out[0] = x;", " }"),
    "branches": ("if (x > 1) ", "out[0] = x;", ""),
    "else branches": ("if (x > 1) { } else { ", "out[0] = x;", " }"),
    "while loops": ("while (x > 1) { ", "x = x - 1;", " }"),
    "for loops": ("for (;x > 1;) { ", "x = x - 1; break;", " }"),
    "do loops": ("do { ", "x = x - 1;", " } while (x > 1);"),
    "labels": ("a: ", "out[0] = x;", ""),
    "tries": ("try { ", "f();", " } finally { }"),
    "switches": ("switch (x) { case 1: ", "f();", " }"),
    "lambdas": ("f(() -> { ", "g();", " });"),
}
NESTED_MEMBERS: dict[str, tuple[str, str, str]] = {
    "classes": ("class C { ", "int32 x;", " }"),
    "type arguments": ("Map<K, ", "V", ">"),
    "annotations": ("@A(x = ", "@B", ")"),
    "lists": ("{ ", "1", " }"),
    "enum bodies": ("enum E { A { ", "int32 x;", " } }"),
    "brackets": ("[", "", "]"),
}
BESIDE = {
    "type arguments": ("", " m;"),
    "annotations": ("", " int32 m;"),
    "lists": ("int32 m = ", ";"),
    "brackets": ("int32 m", ";"),
}


def write_nested(kind: str, depth: int) -> str:
    """A text with `depth` of one construct inside one another."""
    if kind in NESTED:
        return store(nest(*NESTED[kind], depth))
    if kind in NESTED_STATEMENTS:
        return write_kernel(nest(*NESTED_STATEMENTS[kind], depth) + " out[0] = x;")
    before, after = BESIDE.get(kind, ("", ""))
    return write_kernel("out[0] = x;", before + nest(*NESTED_MEMBERS[kind], depth) + after)


# ---- no programs

SEED = write_kernel(
    """int64 o = (int64) x * 64L;
    Vector<int32,16> acc = Vector<int32,16>(0);
    for (int32 i = 0; i < 4; i++) {
        acc = w.vload<64>(o + i).asUnsigned().dotAccum(w.vload<64>(o), acc); // four at once
        if (x > 3 && i != 2) { acc[i] = acc[i] << 2; } else { out[i] = 0x7F; }
    }
    out[x] = acc.sum() /* of all */ + (x > 0 ? 1 : 2);""",
    'static final String NAME = "name";',
)
MARKS = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    ";",
    ",",
    ".",
    "=",
    "+",
    "-",
    "@",
    "#",
    ":",
    "?",
    "::",
    "->",
    "/*",
    "*/",
    '"',
    "'",
]


def write_noise(seed: int, count: int, words: list[str]) -> str:
    rng = random.Random(seed)
    return " ".join(rng.choice(words) for _ in range(count))


def write_bytes(seed: int, count: int) -> bytes:
    rng = random.Random(seed)
    return bytes(rng.randrange(256) for _ in range(count))


WORDS = ["class", "static", "int32", "void", "if", "else", "while", "for", "return", "x", "out", "1", "Vector", "vload", "enum"]

BROKEN: dict[str, Callable[[], str | bytes]] = {
    "tokens": lambda: store("x + " * 1_500_000 + "x"),
    "bytes of any number": lambda: " " * (8 << 20) + SEED,
    "recursive constants": lambda: write_kernel(
        "out[0] = A0;", "".join(f"static final int32 A{i} = A{(i + 1) % 5_000} + 1;\n" for i in range(5_000))
    ),
    "constants in a chain": lambda: write_kernel(
        "out[0] = A0;",
        "".join(f"static final int32 A{i} = A{i + 1} + 1;\n" for i in range(5_000)) + "static final int32 A5000 = 1;",
    ),
    "helpers in a circle": lambda: write_kernel(
        "out[0] = f0(x);", write_helpers(2_000, lambda i: f"f{(i + 1) % 2_000}(a) + 1")
    ),
    "hosts in a circle": lambda: write_kernel(
        "out[0] = f0(x);", write_helpers(2_000, lambda i: f"f{(i + 1) % 2_000}(a) + 1", "public static")
    ),
    "floats of any size": lambda: write_kernel("float32 f = 1e999999999 * 1e-999999999 + 0x1p999999999; out[0] = x;"),
    "unknown names": lambda: write_kernel("".join(f"out[{i}] = y{i};\n" for i in range(10_000))),
    "unknown name of a megabyte": lambda: write_kernel(f"int32 {'n' * 1_000_000}a = x; out[0] = {'n' * 1_000_000}b;"),
    "unknown methods": lambda: write_kernel("".join(f"out[{i}] = w.vload<4>(0).dott{i}();\n" for i in range(3_000))),
    "unknown functions": lambda: write_kernel(
        "".join(f"out[{i}] = g{i}(x);\n" for i in range(1_000)), write_helpers(1_000, str)
    ),
    "one method many times": lambda: write_kernel("out[0] = x;", "static int32 f(int32 a) { return a; }\n" * 10_000),
    "mistakes of types": lambda: write_kernel("out[0] = true + x;\n" * 10_000),
    "mistakes of syntax": lambda: write_kernel("out[0] = ;\n" * 10_000),
    "vectors of any size": lambda: write_kernel("Vector<int8,999999999> v = w.vload<999999999>(0); out[0] = v[999999998];"),
    "shared of any size": lambda: write_kernel("Shared<int64> s = shared int64[1 << 62]; s[0] = 1; out[0] = (int32) s[0];"),
    "nul": lambda: SEED.replace(" ", "\0"),
    "control characters": lambda: SEED.replace("\n", "".join(map(chr, range(32)))),
    "each control character": lambda: "\n".join(
        f"class C{i} {{ int32 x{chr(i)} = 1; }}" for i in (*range(32), *range(127, 160))
    ),
    "separators of lines": lambda: SEED.replace("\n", "\u2028").replace(" ", "\u0085"),
    "lone surrogates": lambda: SEED.encode().replace(b"name", b"\xed\xa0\x80\xed\xb0\x80"),
    "overlong": lambda: SEED.encode().replace(b"/", b"\xc0\xaf"),
    "beyond unicode": lambda: SEED.encode() + b"\xf4\x90\x80\x80",
    "accents on accents": lambda: SEED.replace("acc", "a" + "\u0301" * 10_000),
    "from right to left": lambda: SEED.replace("x", "\u202ex\u202c"),
    "mark inside": lambda: SEED.replace("out", "o\ufeffut"),
    "marks": lambda: "\ufeff" * 10_000 + SEED,
    "bytes": lambda: write_bytes(1, 50_000),
    "letters": lambda: write_noise(2, 50_000, list(string.printable)),
    "words": lambda: write_noise(3, 50_000, [*WORDS, *MARKS]),
    "words in a method": lambda: write_kernel(write_noise(4, 50_000, [*WORDS, *MARKS])),
    "operators": lambda: store(write_noise(5, 20_000, list("+-*/%&|^~!<>=?:"))),
    "unfinished": lambda: "public class K { @Kernel public static void k(KernelBuffer<int32> out { if ((x[ /* \" ' <",
    "string without an end": lambda: write_kernel('x = "' + '\\"' * 500_000 + "\n; // end"),
    "characters without an end": lambda: write_kernel("x = '" + "\\'" * 500_000 + "\n; /* end */ "),
    "texts without an end": lambda: write_kernel('x = """\n \\"""\n' * 20_000),
    "quotes": lambda: write_kernel('x = "a\n' * 20_000),
    "angles": lambda: write_kernel("x = " + "a<" * 100_000 + "b;"),
    "angles and spaces": lambda: write_kernel(("x = a <" + " " * 900 + "b" * 100) * 1_000),
    "angles and back": lambda: write_kernel(("<" * 40 + ">" * 40 + "n" * 1_000) * 500),
    "angles and names of classes": lambda: write_kernel("x = a" + "<Aaa, Bbb" * 50_000 + ";"),
    "angles and parentheses": lambda: write_kernel("x = a < (" * 50_000),
    "arrows": lambda: write_kernel("f((" + "a, " * 100_000 + ") -> 1);" + "(a) -> " * 20_000),
    "braces": lambda: "class A {\n" * 20_000,
    "braces to the left": lambda: "class A { }\n" + "}\n" * 20_000,
    "braces by indentation": lambda: "".join(f"{' ' * (i % 60)}{{\n" for i in range(20_000)) + "}",
    "else": lambda: write_kernel("else " * 50_000),
    "dots": lambda: store("x" + "." * 200_000),
    "commas": lambda: store("f(" + "," * 100_000 + ")"),
    "at signs": lambda: "@" * 100_000 + SEED,
    "kernels of one name": lambda: "class K {" + "@Kernel static void k(int32[] o) { o[0] = 1; }\n" * 5_000 + "}",
    "labels": lambda: write_kernel("a: " * 20_000),
    "foreign statements": lambda: write_kernel("switch (x) { case 1: y = 2; } x = (Foo) y; f(Foo::bar); " * 5_000),
    "cut anywhere": lambda: "\n".join(SEED[:at] for at in range(0, len(SEED), 7)),
}
