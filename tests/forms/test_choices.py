"""Which form a machine gets, and what the user is told about it."""

from __future__ import annotations

import pytest

from cajeta_dot.backends.forms.forms import FORMS, choose, explain
from cajeta_dot.backends.forms.instructions import DOT

from .machines import MACHINES

VNNI_NEEDS = "vnni needs avxvnni or avx512vnni with avx512vl"
INT8_NEEDS = "vnni-int8 needs avxvnniint8 or avx10.2"

CHOSEN = [
    # machine, then the form for us, ss, uu and su
    ("scalar", "scalar", "scalar", "scalar", "scalar"),
    ("sse2", "even/odd", "even/odd", "even/odd", "even/odd"),
    ("ssse3", "split7", "split7", "even/odd", "split7"),
    ("avx2", "split7", "split7", "even/odd", "split7"),
    ("avx512bw", "split7", "split7", "even/odd", "split7"),
    ("avxvnni", "vnni", "vnni bias", "vnni bias", "vnni"),
    ("avx512vnni", "vnni", "vnni bias", "vnni bias", "vnni"),
    ("avxvnniint8", "vnni", "vnni-int8", "vnni-int8", "vnni"),
    ("avx10.2", "vnni", "vnni-int8", "vnni-int8", "vnni"),
    ("sm_60", "scalar", "scalar", "scalar", "scalar"),
    ("sm_61", "dp4a", "dp4a", "dp4a", "dp4a"),
    ("neon", "neon", "neon", "neon", "neon"),
    ("dotprod", "sdot bias", "sdot", "udot", "sdot bias"),
    ("i8mm", "usdot", "sdot", "udot", "usdot"),
    ("gfx900", "scalar", "scalar", "scalar", "scalar"),
    ("gfx906", "sdot4 bias", "sdot4", "udot4", "sdot4 bias"),
    ("gfx1030", "sdot4 bias", "sdot4", "udot4", "sdot4 bias"),
    ("gfx1100", "sudot4", "sudot4", "udot4", "sudot4"),
    ("zvqdotq", "vqdotsu", "vqdot", "vqdotu", "vqdotsu"),
    ("simd128", "simd128", "simd128", "simd128", "simd128"),
    ("relaxed-simd", "simd128", "simd128", "simd128", "simd128"),
]


@pytest.mark.parametrize(("machine", "us", "ss", "uu", "su"), CHOSEN)
def test_the_first_form_that_fits_is_chosen(machine: str, us: str, ss: str, uu: str, su: str) -> None:
    chosen = {signs: choose(signs, MACHINES[machine].has) for signs in DOT}
    assert {signs: form.name for signs, form in chosen.items()} == {"us": us, "ss": ss, "uu": uu, "su": su}
    assert all(form.exact and form.signs == signs for signs, form in chosen.items())


@pytest.mark.parametrize(
    ("machine", "signs", "w_max", "x_max", "expected"),
    [
        ("avx2", "us", 128, 255, "maddubs, w<=128"),
        ("avx2", "us", 129, 127, "split7"),
        ("avx2", "su", 255, 15, "maddubs, x<=128"),
        ("avx2", "ss", 15, 255, "maddubs, w<=127"),
        ("avx2", "ss", 255, 127, "maddubs, x<=127"),
        ("avx2", "ss", 128, 128, "split7"),
        ("avx2", "uu", 128, 127, "maddubs, w<=128 and x<=127"),
        ("avx2", "uu", 127, 128, "maddubs, w<=127 and x<=128"),
        ("avx2", "uu", 128, 128, "even/odd"),
        ("avx512vnni", "ss", 127, 255, "vnni, w<=127"),
        ("avx512vnni", "ss", 255, 127, "vnni, x<=127"),
        ("avx512vnni", "ss", 128, 128, "vnni bias"),
        ("avx512vnni", "uu", 15, 255, "vnni, w<=127"),
        ("avx512vnni", "uu", 128, 128, "vnni bias"),
        ("neon", "us", 127, 255, "neon narrow, w<=127"),
        ("neon", "us", 128, 255, "neon"),
        ("neon", "ss", 255, 127, "neon narrow, x<=127"),
        ("neon", "uu", 128, 255, "neon narrow, w<=128"),
        ("dotprod", "us", 127, 255, "sdot, w<=127"),
        ("dotprod", "us", 255, 127, "udot, x<=127"),
        ("dotprod", "su", 255, 15, "sdot, x<=127"),
        ("i8mm", "us", 15, 255, "usdot"),
        ("gfx906", "us", 15, 255, "sdot4, w<=127"),
        ("gfx906", "su", 127, 255, "udot4, w<=127"),
        ("relaxed-simd", "us", 127, 255, "relaxed, w<=127"),
        ("relaxed-simd", "us", 255, 127, "simd128"),
        ("relaxed-simd", "su", 255, 127, "relaxed, x<=127"),
        ("relaxed-simd", "ss", 127, 255, "relaxed, w<=127"),
        ("relaxed-simd", "uu", 127, 255, "simd128"),
        ("relaxed-simd", "uu", 127, 127, "relaxed, w<=127 and x<=127"),
        ("simd128", "us", 127, 127, "simd128"),
    ],
)
def test_what_is_known_of_the_operands_counts(machine: str, signs: str, w_max: int, x_max: int, expected: str) -> None:
    assert choose(signs, MACHINES[machine].has, w_max, x_max).name == expected


def test_clamping_must_be_asked_for() -> None:
    avx2 = MACHINES["avx2"].has
    clamping = choose("us", avx2, allowed_inexact=True)
    assert (clamping.name, clamping.exact) == ("maddubs clamping", False)
    assert choose("us", avx2, width=4, allowed_inexact=True) is clamping, "every width clamps"
    assert choose("us", avx2, w_max=128, allowed_inexact=True).exact
    assert all(choose(signs, avx2, allowed_inexact=True).exact for signs in ("ss", "uu", "su"))
    assert all(form.exact for form in FORMS if form is not clamping)


def test_one_word_is_widened() -> None:
    avx2 = MACHINES["avx2"].has
    assert [choose("us", avx2, width=width).name for width in (4, 8)] == ["widen", "split7"]
    assert choose("us", avx2, w_max=127, width=4).name == "maddubs, w<=128"
    assert choose("ss", MACHINES["avxvnni"].has, width=4).name == "vnni bias"


@pytest.mark.parametrize(
    ("features", "registers"),
    [("avx512vnni", (64,)), ("avxvnni", (16, 32)), ("avx512vnni avx512vl", (16, 32, 64)), ("avx512vl", ())],
)
def test_registers_need_all_their_features(features: str, registers: tuple[int, ...]) -> None:
    assert choose("us", MACHINES["avx10.2"].has).registers(frozenset(features.split())) == registers


@pytest.mark.parametrize(
    ("machine", "family", "signs", "w_max", "expected"),
    [
        ("avx512vnni", "x86", "us", 255, ""),
        ("avx512vnni", "x86", "ss", 255, f"{INT8_NEEDS}; vnni needs w<=127 or x<=127"),
        ("avx512vnni", "x86", "ss", 127, INT8_NEEDS),
        ("avx2", "x86", "us", 255, f"{VNNI_NEEDS}; maddubs needs w<=128"),
        ("avx2", "x86", "us", 128, VNNI_NEEDS),
        ("avx2", "x86", "ss", 127, INT8_NEEDS),
        ("sse2", "x86", "us", 255, VNNI_NEEDS),
        ("scalar", "x86", "us", 255, VNNI_NEEDS),
        ("sm_60", "nvptx", "us", 255, "dp4a needs sm_61"),
        ("sm_61", "nvptx", "su", 255, ""),
        ("neon", "aarch64", "us", 255, "usdot needs i8mm; neon narrow needs w<=127"),
        ("dotprod", "aarch64", "us", 255, "usdot needs i8mm; sdot needs w<=127; udot needs x<=127"),
        ("i8mm", "aarch64", "us", 255, ""),
        ("gfx900", "amdgcn", "uu", 255, "udot4 needs gfx906 or gfx11"),
        ("gfx1030", "amdgcn", "us", 255, "sudot4 needs gfx11; sdot4 needs w<=127; udot4 needs x<=127"),
        ("gfx1100", "amdgcn", "su", 255, ""),
        ("zvqdotq", "riscv64", "us", 255, ""),
        ("relaxed-simd", "wasm32", "us", 255, "relaxed needs w<=127"),
        ("simd128", "wasm32", "us", 15, "relaxed, w<=127 needs relaxed-simd"),
    ],
)
def test_a_choice_is_explained(machine: str, family: str, signs: str, w_max: int, expected: str) -> None:
    has = MACHINES[machine].has
    assert explain(choose(signs, has, w_max), family, has, w_max) == expected


def test_forms_name_their_instructions() -> None:
    named = {form.full_name: form.instructions for form in FORMS}
    assert named["x86 split7 us"] == ("pmaddubsw", "pmaddwd")
    assert named["x86 vnni bias ss"] == ("vpdpbusd",)
    assert named["nvptx dp4a su"] == ("dp4a.s32.u32",)
    assert named["any scalar us"] == ("mul", "add")
    assert named["aarch64 neon us"] == ("mul", "saddlp")
    assert named["aarch64 neon ss"] == ("smull", "saddlp", "addp")
    assert named["amdgcn sdot4 bias us"] == ("v_dot4_i32_i8",)
    assert len(named) == len(FORMS), "no two forms have one name"
