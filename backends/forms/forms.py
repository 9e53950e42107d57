"""The lowerings of an int8 dot product, each a formula over the algebra, and the table that says when each fits.

A row does not say which features it needs or at which register sizes it exists: a survey of the formula does.
"""

from __future__ import annotations

from functools import cache

from cajeta_dot.backends.forms import instructions as isa
from cajeta_dot.backends.forms.algebra import Vector
from cajeta_dot.backends.forms.formulas import (
    even_odd,
    exchange,
    maddubs,
    neon,
    neon_narrow,
    neon_us,
    one,
    scalar,
    sdot4_us,
    sdot_us,
    split7_ss,
    split7_us,
    vnni_ss,
    vnni_uu,
    widen,
)
from cajeta_dot.backends.forms.instructions import DOT, DOT_CLAMPED, dot_accumulate
from cajeta_dot.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cajeta_dot.backends.forms.algebra import Encoding, Instruction, Lowering, Op

# ---- what a formula uses


@record
class Used:
    """An instruction at a result size; `encoding` is None where the machine has none."""

    instruction: Instruction
    encoding: Encoding | None


class Survey:
    """The reading that computes nothing and remembers what was asked for: instructions, and names of lane operations."""

    def __init__(self) -> None:
        self.used: list[Used] = []
        self.operations: list[str] = []

    def _skip(self, *_: object) -> None:
        return None

    splat = bitcast = extend = shift = shuffle = _skip

    def combine(self, op: Op, _a: Vector[None], _b: Vector[None], /) -> None:
        self.operations.append(op)

    def execute(self, instruction: Instruction, _: Sequence[Vector[None]], lanes: int, /) -> None:
        self.used.append(Used(instruction, instruction.encodings.get(instruction.result * lanes)))


@cache
def survey(lower: Lowering, register: int) -> Survey:
    """What a formula uses in a register of so many bytes."""
    reading = Survey()
    w, acc = Vector(reading, None, 8, register), Vector(reading, None, 32, register // 4)
    lower(w, w, acc)
    return reading


# ---- the table

SIZES = (4, 8, 16, 32, 64)
ANY_WIDTH = 256  # bytes of the longest vector


@record
class Form:
    """One way to do a dot product, for vectors of at most `width_max` bytes.

    signs: of w and x, `u` or `s` each. means: what the result is, exactly. w_max, x_max: it is right if the bytes, read as
    unsigned, are known to be at most that. sizes: the register sizes, in bytes, that the formula is written for.
    """

    idea: str
    signs: str
    lower: Lowering
    means: Instruction
    w_max: int = 255
    x_max: int = 255
    sizes: tuple[int, ...] = SIZES
    width_max: int = ANY_WIDTH

    def registers(self, features: frozenset[str] | None = None) -> tuple[int, ...]:
        """The register sizes, in bytes, at which every instruction exists and the features, if given, allow it."""
        return tuple(
            size
            for size in self.sizes
            if all(u.encoding and (features is None or u.encoding.available(features)) for u in survey(self.lower, size).used)
        )

    def needs(self, features: frozenset[str]) -> str:
        """The features that even the smallest register lacks, in words; empty if there is a register."""
        if self.registers(features):
            return ""
        used = survey(self.lower, self.registers()[0]).used
        lacking = [u.encoding for u in used if u.encoding and not u.encoding.available(features)]
        return " and ".join(dict.fromkeys(encoding.say_needs() for encoding in lacking))

    @property
    def exact(self) -> bool:
        """Is the result the dot product, always?"""
        return self.means is DOT[self.signs]

    @property
    def is_chained(self) -> bool:
        """Does the accumulator go through an instruction that also multiplies, several cycles long, not only through sums?"""
        return any(u.instruction.meaning is dot_accumulate for u in survey(self.lower, self.sizes[0]).used)

    @property
    def family(self) -> str:
        """Whose instructions these are; `any` if nobody's."""
        return next((u.instruction.family for u in survey(self.lower, self.sizes[0]).used), "any")

    @property
    def instructions(self) -> tuple[str, ...]:
        """The machine instructions used, by name, behind the plain multiplication if there is one; of a form for any machine,
        its lane operations."""
        found = survey(self.lower, self.sizes[0])
        plain = [op for op in found.operations if op == "mul" or not found.used]
        return tuple(dict.fromkeys([*plain, *(u.instruction.name for u in found.used)]))

    @property
    def limits(self) -> str:
        """What must be known of the operands, in words; empty if nothing."""
        return " and ".join(f"{name}<={most}" for name, most in (("w", self.w_max), ("x", self.x_max)) if most < 255)

    @property
    def name(self) -> str:
        return f"{self.idea}, {self.limits}" if self.limits else self.idea

    @property
    def full_name(self) -> str:
        return f"{self.family} {self.name} {self.signs}"


def exact(idea: str, signs: str, lower: Lowering, *, w_max: int = 255, x_max: int = 255) -> Form:
    return Form(idea, signs, lower, DOT[signs], w_max, x_max)


def word(idea: str, signs: str, lower: Callable[[bool, bool], Lowering], width_max: int = ANY_WIDTH) -> Form:
    """An exact form on one word, from a formula for any signs."""
    w_signed, x_signed = (sign == "s" for sign in signs)
    return Form(idea, signs, lower(w_signed, x_signed), DOT[signs], sizes=(4,), width_max=width_max)


def either(form: Form) -> tuple[Form, Form]:
    """An exact form, and the same with its operands exchanged."""
    signs = form.signs[::-1]
    lower = exchange(form.lower)
    return form, replace(form, signs=signs, lower=lower, means=DOT[signs], w_max=form.x_max, x_max=form.w_max)


FORMS: tuple[Form, ...] = (
    # For each family and signs the better form first: `choose` takes the first that fits.
    # x86
    *either(exact("vnni", "us", one(isa.vpdpbusd))),
    *either(exact("vnni-int8", "su", one(isa.vpdpbsud))),
    exact("vnni-int8", "ss", one(isa.vpdpbssd)),
    exact("vnni-int8", "uu", one(isa.vpdpbuud)),
    *either(exact("vnni", "ss", one(isa.vpdpbusd), w_max=127)),
    *either(exact("vnni", "uu", one(isa.vpdpbusd), x_max=127)),
    exact("vnni bias", "ss", vnni_ss),
    exact("vnni bias", "uu", vnni_uu),
    *either(exact("maddubs", "us", maddubs, w_max=128)),
    *either(exact("maddubs", "ss", maddubs, w_max=127)),
    *either(exact("maddubs", "uu", maddubs, w_max=128, x_max=127)),
    Form("maddubs clamping", "us", maddubs, DOT_CLAMPED),
    *(word("widen", signs, widen, width_max=4) for signs in DOT),
    *either(exact("split7", "us", split7_us)),
    exact("split7", "ss", split7_ss),
    *either(exact("even/odd", "us", even_odd(isa.pmaddwd, False, True))),
    exact("even/odd", "ss", even_odd(isa.pmaddwd, True, True)),
    exact("even/odd", "uu", even_odd(isa.pmaddwd, False, False)),
    # AArch64
    *either(exact("usdot", "us", one(isa.usdot))),
    exact("sdot", "ss", one(isa.sdot)),
    exact("udot", "uu", one(isa.udot)),
    *either(exact("sdot", "us", one(isa.sdot), w_max=127)),
    *either(exact("udot", "us", one(isa.udot), x_max=127)),
    *either(exact("sdot bias", "us", sdot_us)),
    *either(exact("neon narrow", "us", neon_narrow(isa.smull, isa.saddlp), w_max=127)),
    *either(exact("neon narrow", "ss", neon_narrow(isa.smull, isa.saddlp), w_max=127)),
    *either(exact("neon narrow", "uu", neon_narrow(isa.umull, isa.uaddlp), w_max=128)),
    *either(exact("neon", "us", neon_us)),
    exact("neon", "ss", neon(isa.smull, isa.saddlp)),
    exact("neon", "uu", neon(isa.umull, isa.uaddlp)),
    # amdgcn
    *either(exact("sudot4", "us", one(isa.sudot4_us))),
    exact("sudot4", "ss", one(isa.sudot4_ss)),
    exact("sdot4", "ss", one(isa.sdot4)),
    exact("udot4", "uu", one(isa.udot4)),
    *either(exact("sdot4", "us", one(isa.sdot4), w_max=127)),
    *either(exact("udot4", "us", one(isa.udot4), x_max=127)),
    *either(exact("sdot4 bias", "us", sdot4_us)),
    # nvptx
    exact("dp4a", "us", one(isa.dp4a_us)),
    exact("dp4a", "ss", one(isa.dp4a_ss)),
    exact("dp4a", "uu", one(isa.dp4a_uu)),
    exact("dp4a", "su", one(isa.dp4a_su)),
    # riscv64
    *either(exact("vqdotsu", "su", one(isa.vqdotsu))),
    exact("vqdot", "ss", one(isa.vqdot)),
    exact("vqdotu", "uu", one(isa.vqdotu)),
    # wasm32
    *either(exact("relaxed", "su", one(isa.wasm_relaxed_dot), x_max=127)),
    *either(exact("relaxed", "ss", one(isa.wasm_relaxed_dot), x_max=127)),
    exact("relaxed", "uu", one(isa.wasm_relaxed_dot), w_max=127, x_max=127),
    *either(exact("simd128", "us", even_odd(isa.wasm_dot, False, True))),
    exact("simd128", "ss", even_odd(isa.wasm_dot, True, True)),
    exact("simd128", "uu", even_odd(isa.wasm_dot, False, False)),
    # any
    *(word("scalar", signs, scalar) for signs in DOT),
)


def choose(
    signs: str,
    features: frozenset[str],
    w_max: int = 255,
    x_max: int = 255,
    *,
    width: int = ANY_WIDTH,
    allowed_inexact: bool = False,
) -> Form:
    """The first form that the features and what is known of the operands allow. `scalar` always fits.

    signs: one of `us`, `ss`, `uu`, `su`. features: LLVM's names. w_max, x_max: no byte, read as unsigned, is known to be
    more. width: bytes of w. With `allowed_inexact` a form that clamps comes before slower exact ones.
    """
    return next(
        form
        for form in FORMS
        if form.signs == signs
        and (form.exact or allowed_inexact)
        and (w_max <= form.w_max and x_max <= form.x_max and width <= form.width_max)
        and form.registers(features)
    )


def explain(form: Form, family: str, features: frozenset[str], w_max: int = 255, x_max: int = 255) -> str:
    """What would have allowed a better form of a family than the one chosen, in words; empty if there is none.

    Of those that only lack features the first; of those that only lack knowledge of the operands all, as `w<=127`.
    """
    reasons: dict[str, str] = {}
    for better in FORMS[: FORMS.index(form)]:
        if better.signs == form.signs and better.family == family and better.idea != form.idea:
            known = w_max <= better.w_max and x_max <= better.x_max
            needs = better.needs(features)
            if needs and known:
                reasons.setdefault("features", f"{better.name} needs {needs}")
            elif not needs and not known:
                before = reasons.get(better.idea, "")
                reasons[better.idea] = f"{before} or {better.limits}" if before else f"{better.idea} needs {better.limits}"
    return "; ".join(reasons.values())
