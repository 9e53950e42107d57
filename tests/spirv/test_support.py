"""What the target refuses: E0604 at the place in the source, everything at once, and never an exception."""

from __future__ import annotations

import pytest

from cajeta_dot.backends import Options
from cajeta_dot.backends.spirv import backend
from cajeta_dot.diagnostics import Diagnostic, Reporter

from .kernels import check_text

REFUSED = {
    "fma": (
        "@Kernel static void k(KernelBuffer<float64> a) { a[0] = Math.fma(a[1], a[2], a[3]); }",
        [("`Math.fma` of float64 is not supported on `spirv` yet", "Math.fma(a[1], a[2], a[3])")],
    ),
    "several, also in helpers": (
        "@Device static float64 f(float64 x) { return Math.fma(x, x, x); }"
        " @Kernel static void k(KernelBuffer<float64> a, float64 b) { a[0] = f(a[1]); a[1] = Math.fma(b, b, b); }",
        [
            ("`Math.fma` of float64 is not supported on `spirv` yet", "Math.fma(x, x, x)"),
            ("`Math.fma` of float64 is not supported on `spirv` yet", "Math.fma(b, b, b)"),
        ],
    ),
    "no kernel": (
        "static int32 twice(int32 x) { return x + x; }",
        [("a program without a kernel is not supported on `spirv` yet", "")],
    ),
}


def refuse(text: str) -> tuple[list[Diagnostic], str]:
    program = check_text(text)
    reporter = Reporter(program.source)
    assert backend.emit(program, "spirv", "spirv-asm", Options(), reporter) is None
    return reporter.in_order(), program.source.text


@pytest.mark.parametrize("name", REFUSED)
def test_refused_where_it_stands(name: str) -> None:
    text, wanted = REFUSED[name]
    found, source = refuse(text)
    assert [diagnostic.code for diagnostic in found] == ["E0604"] * len(wanted)
    assert [diagnostic.message for diagnostic in found] == [message for message, _ in wanted]
    for diagnostic, (_, place) in zip(found, wanted, strict=True):
        assert diagnostic.primary
        marked = source[diagnostic.primary.start : diagnostic.primary.end]
        assert bool(marked) == bool(place)
        assert marked in place  # an operation, or the word of it that says what it is


def test_too_many_parameters() -> None:
    """128 bytes of push constants are all that every device has; 16 of eight bytes just fit."""
    names = [f"int64 p{place}" for place in range(16)]
    body = "{ out[0] = p0; }"
    found, _ = refuse(f"@Kernel static void k(KernelBuffer<int64> out, {', '.join(names)}) {body}")
    assert found[0].message.startswith("a kernel with more than 128 bytes of scalars and array lengths")
    program = check_text(f"@Kernel static void k(KernelBuffer<int64> out, {', '.join(names[:15])}) {body}")
    assert backend.emit(program, "spirv", "spirv-asm", Options(), Reporter(program.source)) is not None


def test_what_no_kernel_calls_is_not_looked_at() -> None:
    text = "static float32 host(float32 x) { return x % 2.0f; } @Kernel static void k(KernelBuffer<int32> a) { a[0] = 1; }"
    program = check_text(text)
    artifact = backend.emit(program, "spirv", "spirv-asm", Options(), Reporter(program.source))
    assert artifact is not None
    assert "host" not in str(artifact.content)
