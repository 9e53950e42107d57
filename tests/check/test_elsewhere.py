"""What other languages call it, and near misses: the help names what is meant, and it compiles when it is applied."""

from __future__ import annotations

import pytest

from .checking import apply, check

FRAME = """class T {{
    @Kernel static void k(KernelBuffer<int32> out, KernelBuffer<uint8> w, KernelBuffer<int8> x, KernelBuffer<float32> f) {{
        {}
        out[0] = 1;
    }}
}}
"""
# Wrong, its codes, and what becomes of it when every help that may be applied is.
TRANSLATED = [
    ("uint i = 4;", "E0203", "uint32 i = 4;"),
    ("unsigned i = 4;", "E0203", "uint32 i = 4;"),
    ("size_t i = 4;", "E0203", "int64 i = 4;"),
    ("float4 v = f.vload<4>(0);", "E0203", "Vector<float32,4> v = f.vload<4>(0);"),
    ("uchar16 v = w.vload<16>(0);", "E0203", "Vector<uint8,16> v = w.vload<16>(0);"),
    ("char4 v = x.vload<4>(0);", "E0203", "Vector<int8,4> v = x.vload<4>(0);"),
    ("vec3 v = f.vload<3>(0);", "E0203", "Vector<float32,3> v = f.vload<3>(0);"),
    ("ivec2 v = out.vload<2>(0);", "E0203", "Vector<int32,2> v = out.vload<2>(0);"),
    ("int8x16_t v = x.vload<16>(0);", "E0203", "Vector<int8,16> v = x.vload<16>(0);"),
    ("u8x16 v = w.vload<16>(0);", "E0203", "Vector<uint8,16> v = w.vload<16>(0);"),
    (
        "uint32 i = blockIdx.x * blockDim.x + threadIdx.x;",
        "E0201 E0201 E0201",
        "uint32 i = Workgroup.x() * Workgroup.dimX() + KernelThread.x();",
    ),
    ("uint32 i = gl_GlobalInvocationID.y;", "E0201", "uint32 i = KernelThread.globalIdY();"),
    ("uint32 i = get_global_id(0);", "E0207", "uint32 i = KernelThread.globalIdX();"),
    ("uint32 i = get_local_size(2);", "E0207", "uint32 i = Workgroup.dimZ();"),
    ("uint32 i = KernelThread.globalIdX;", "E0207", "uint32 i = KernelThread.globalIdX();"),
    ("uint32 i = kernelThread.globalIdX();", "E0201", "uint32 i = KernelThread.globalIdX();"),
    ("__syncthreads();", "E0207", "Barrier.workgroup();"),
    ("barrier(CLK_LOCAL_MEM_FENCE);", "E0207", "Barrier.workgroup();"),
    ("Barrier.workgroup;", "E0207", "Barrier.workgroup();"),
    ("int32 i = max(out[1], 3);", "E0207", "int32 i = Math.max(out[1], 3);"),
    ("float32 s = sqrtf(f[0]);", "E0207", "float32 s = Math.sqrt(f[0]);"),
    ("float32 s = math.sqrt(f[0]);", "E0201", "float32 s = Math.sqrt(f[0]);"),
    ("int32 i = dot(w.vload<4>(0), w.vload<4>(4));", "E0207", "int32 i = w.vload<4>(0).dot(w.vload<4>(4));"),
    ("int32 i = dp4a(x.vload<4>(0), x.vload<4>(4), 1);", "E0207", "int32 i = x.vload<4>(0).dot(x.vload<4>(4), 1);"),
]


@pytest.mark.parametrize(("wrong", "codes", "right"), TRANSLATED, ids=[row[0] for row in TRANSLATED])
def test_what_it_is_called_here(wrong: str, codes: str, right: str) -> None:
    text = FRAME.format(wrong)
    found = check(text)[1]
    assert [one.code for one in found] == codes.split()
    edits = [edit for one in found for help in one.helps if help.applicability == "machine" for edit in help.edits]
    assert apply(text, tuple(edits)) == FRAME.format(right)
    assert [one.code for one in check(FRAME.format(right))[1]] == []


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        ("int32 s = 0; retrun s;", "E0203"),  # no second declaration of `s`
        ("i32 a = 1; int32 a = 2;", "E0203 E0204"),
        ("out[0] = foo(1) + foo(2);", "E0207"),
        ("f[0] = Math.sine(1.0f) + Math.sine(2.0f) + Math.cosine(f[0]);", "E0207 E0207"),
        ("KernelBuffer q = out;", "E0208"),
        ("Vector v = out.vload<4>(0);", "E0208"),
        ("out[0] = (int32) Math.PI;", "E0207"),
        ("out[0] = Math.max;", "E0207"),
    ],
)
def test_one_cause_is_one_error(body: str, codes: str) -> None:
    found = check(FRAME.format(body))[1]
    assert [one.code for one in found] == codes.split()
    for one in found:
        assert all(edit.text not in one.message.split("`") for help in one.helps for edit in help.edits)


def test_a_host_method_may_use_what_the_wider_language_has_of_a_class() -> None:
    found = check("class T { static float64 turn() { return 2.0 * Math.PI; } }")[1]
    assert [one.code for one in found] == ["R0602"]


def test_a_method_without_a_type_is_no_constructor_if_it_is_static_or_marked() -> None:
    text = "class T { T() { } U() { } @Kernel static k(int32[] out) { out[0] = 1; } static half(int32 n) { return n / 2; } }"
    kernel, host = check(text)[1]
    assert [(one.code, one.message) for one in (kernel, host)] == [
        ("E0109", "expected the type that `k` returns, found its name"),
        ("E0109", "expected the type that `half` returns, found its name"),
    ]
    assert "static void k(" in apply(text, kernel.helps[0].edits)
    assert host.helps[0].message == "write what it returns: `void half(…)`"


@pytest.mark.parametrize("written", ["Kernal", "kernel", "Kernell"])
def test_an_annotation_that_is_nearly_one_of_ours(written: str) -> None:
    text = f"class T {{ @{written} static void k(int32[] out) {{ out[0] = 1; }} }}"
    (found,) = check(text)[1]
    assert found.code == "R0603"
    assert apply(text, found.helps[0].edits) == text.replace(written, "Kernel")


@pytest.mark.parametrize("written", ["Override", "Deprecated", "Wave"])
def test_an_annotation_of_others_is_taken_for_none_of_ours(written: str) -> None:
    (found,) = check(f"class T {{ @{written} static void f(int32[] out) {{ out[0] = 1; }} }}")[1]
    assert found.code == "R0603"
    assert not found.helps


@pytest.mark.parametrize(
    ("wrong", "codes", "right"),
    [
        ("unsigned int i = 4;", "E0203", "uint32 i = 4;"),
        ("long long i = (unsigned char) out[0];", "E0203 E0203", "int64 i = (uint8) out[0];"),
        ("float32 i = (flaot32) out[0];", "E0203", "float32 i = (float32) out[0];"),
        ("while (true) { brake; }", "E0201", "while (true) { break; }"),
        ("boolean b = False;", "E0201", "boolean b = false;"),
    ],
)
def test_types_of_several_words_and_misspelt_ones(wrong: str, codes: str, right: str) -> None:
    test_what_it_is_called_here(wrong, codes, right)


def test_a_type_of_several_words_is_told_as_it_is_written() -> None:
    (found,) = check(FRAME.format("unsigned  int i = 4;"))[1]
    assert found.message == "no type `unsigned int`"


def test_a_host_method_with_an_array_is_told_once_in_a_kernel_and_can_be_marked() -> None:
    text = "class T { static int32 h(int32[] a) { return a[0]; } @Kernel static void k(int32[] a) { a[0] = h(a) + h(a); } }"
    (found,) = check(text)[1]
    assert found.code == "E0510"
    assert check(apply(text, found.helps[0].edits))[1] == []


def test_a_head_that_a_semicolon_cuts_off_from_its_body() -> None:
    text = "class T { @Kernel static void k(int32[] a); { a[0] = 1; } }"
    found = [one for one in check(text)[1] if one.code[0] != "R"]
    assert [one.code for one in found] == ["E0508"]
    assert check(apply(text, found[0].helps[0].edits))[1] == []


@pytest.mark.parametrize(
    ("wrong", "codes", "right"),
    [
        ("boolean b = out[1];", "E0301", "boolean b = out[1] != 0;"),
        ("boolean b = out[1] + out[2];", "E0301", "boolean b = (out[1] + out[2]) != 0;"),
        ("boolean b = 1;", "E0301", "boolean b = true;"),
        ("int32 i = out[1] > 0;", "E0301", "int32 i = (out[1] > 0) ? 1 : 0;"),
        ("int32 i = (int32) (out[1] > 0);", "E0301", "int32 i = (int32) ((out[1] > 0) ? 1 : 0);"),
        ("boolean b = out[1] && out[2];", "E0301", "boolean b = out[1] != 0 && out[2] != 0;"),
        ("if (out[1]) { }", "E0309", "if (out[1] != 0) { }"),
        ("while (out[1] & 1) { }", "E0309", "while ((out[1] & 1) != 0) { }"),
        ("Vector<int32,4> v = 0;", "E0301", "Vector<int32,4> v = Vector<int32,4>(0);"),
        ("Vector<int32,4> v = Vector<int32,4>();", "E0208", "Vector<int32,4> v = Vector<int32,4>(0);"),
        ("Vector<4,int8> v = x.vload<4>(0);", "E0203", "Vector<int8,4> v = x.vload<4>(0);"),
        ("int64 n = x.size();", "E0202", "int64 n = x.count();"),
        ("int32 n = x.vload<4>(0).size();", "E0202", "int32 n = 4;"),
        (
            "Vector<int8,4> v = x.vload<4>(0).add(x.vload<4>(4));",
            "E0202",
            "Vector<int8,4> v = (x.vload<4>(0) + x.vload<4>(4));",
        ),
        ("int32 i = w.vload<4>(0).dot(out[1], w.vload<4>(4));", "E0409", "int32 i = w.vload<4>(0).dot(w.vload<4>(4), out[1]);"),
        (
            "Vector<int32,1> v = w.vload<4>(0).dotAccum(out.vload<1>(0), x.vload<4>(4));",
            "E0409",
            "Vector<int32,1> v = w.vload<4>(0).dotAccum(x.vload<4>(4), out.vload<1>(0));",
        ),
    ],
)
def test_what_the_types_want(wrong: str, codes: str, right: str) -> None:
    test_what_it_is_called_here(wrong, codes, right)


def test_an_accumulator_that_fits_the_activations_is_no_second_mistake() -> None:
    wrong = "Vector<int32,8> v = w.vload<64>(0).dotAccum(x.vload<32>(0), out.vload<8>(0));"
    assert [one.code for one in check(FRAME.format(wrong))[1]] == ["E0405"]


@pytest.mark.parametrize("index", ["-1", "1 + 3"])
def test_a_lane_that_is_not_there_is_pointed_at_as_it_is_written(index: str) -> None:
    text = FRAME.format(f"int8 i = x.vload<4>(0)[{index}];")
    (found,) = check(text)[1]
    assert found.code == "E0505"
    assert found.primary
    assert text[found.primary.start : found.primary.end] == index


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("for (i = 0; i < 4; i++) { }", "for (int32 i = 0; i < 4; i++) { }"),
        ("bytes = x.vload<4>(0);", "Vector<int8,4> bytes = x.vload<4>(0);"),
    ],
)
def test_a_variable_that_is_assigned_to_but_not_declared(wrong: str, right: str) -> None:
    text = FRAME.format(wrong)
    (found,) = check(text)[1]
    assert found.code == "E0201"
    assert apply(text, found.helps[0].edits) == FRAME.format(right)
    assert check(FRAME.format(right))[1] == []


@pytest.mark.parametrize("wrong", ["out[0] = other = 3;", "int32 a = other = 3;", "other += 3;"])
def test_no_declaration_is_offered_within_an_expression(wrong: str) -> None:
    assert [one.helps for one in check(FRAME.format(wrong))[1]] == [()]


@pytest.mark.parametrize(
    ("wrong", "instead"),
    [
        ("int32 a[4];", "Shared<int32> s = shared int32[64];"),
        ("out->vstore(0, 3);", "stands behind a `.`"),
        ("for (int32 v : out) { }", "for (int32 i = 0; i < n; i++)"),
    ],
)
def test_what_a_kernel_has_instead(wrong: str, instead: str) -> None:
    (found,) = check(FRAME.format(wrong))[1]
    assert found.code == "E0508"
    assert instead in found.helps[0].message


def test_a_wrong_number_of_arguments_shows_what_takes_them() -> None:
    text = "class T { static int32 f(int32 a) { return a; } static int32 g() { return f(1, 2); } }"
    (found,) = check(text)[1]
    assert [text[label.start : label.end] for label in found.secondary] == ["f"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("out[1] == 2;", "result of `==` is not used; it does not change `out[1]`"),
        ("int32 i = 1; i == 2; out[1] = i;", "result of `==` is not used; it does not change `i`"),
        ("out[1] + 1 == 2;", "result of `==` is not used"),
    ],
)
def test_a_comparison_as_a_statement(body: str, message: str) -> None:
    text = FRAME.format(body)
    (found,) = check(text)[1]
    assert (found.code, found.message) == ("W0407", message)
    for help in found.helps:
        assert check(apply(text, help.edits))[1] == []


def test_a_comparison_of_what_does_not_exist_is_one_error() -> None:
    assert [one.code for one in check(FRAME.format("nothing == 2;"))[1]] == ["E0201"]


@pytest.mark.parametrize("head", ["if (out[1] > 0)", "while (out[1] > 0)", "for (;;)"])
def test_a_declaration_that_is_all_of_a_branch(head: str) -> None:
    (found,) = check(FRAME.format(f"{head} int32 i = 3;"))[1]
    assert (found.code, found.message) == ("E0508", "a declaration without a block around it can't be used in a kernel")
    assert found.helps
