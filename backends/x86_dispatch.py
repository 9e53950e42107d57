"""One object for several x86 targets: a variant of every function for each, and one under the plain name that calls the best.

Which is best is asked once, by CPUID and XGETBV, and kept for all functions of the object in one number, which is read and
written atomically: threads that come at the same time find the same. An explicit choice is never overwritten by that.
"""

from __future__ import annotations

from cajeta_dot.backends.llvm.header import name_chooser
from cajeta_dot.backends.llvm.kernels import FAULT_OFFSET, list_exported_types
from cajeta_dot.backends.llvm.types import spell_constant
from cajeta_dot.backends.x86_cpuid import ECX, FEATURES, XSAVE_IN_USE
from cajeta_dot.types import VOID, Scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cajeta_dot.backends.llvm.machine import Machine
    from cajeta_dot.backends.llvm.processors import Variants
    from cajeta_dot.backends.x86_cpuid import Field
    from cajeta_dot.ir import Function
    from cajeta_dot.source import Source

NOT_ASKED, NO_VARIANT = -2, -1  # the number that is kept, beside those of variants
_ANY = 0x7FFF_FFFF


def write_joined(source: Source, variants: Variants, baseline: Machine, optimize: int) -> bytes:
    """The object. `variants` are those of one program, the plainest first; `baseline` is what every processor can run."""
    from cajeta_dot.backends.llvm.assembler import write_joined_object

    assert len({tuple((s.kind, s.start, s.lanes) for s in module.sites) for _, module in variants}) == 1
    plain = variants[0][1].exports
    names = [name_variants(plain, machine) for machine, _ in variants]
    parts = [
        (module.text, machine, {plain[function]: name for function, name in named.items()})
        for (machine, module), named in zip(variants, names, strict=True)
    ]
    dispatcher = write_dispatcher(source, plain, [machine for machine, _ in variants])
    return write_joined_object(parts, dispatcher, baseline, optimize)


def name_variants(plain: Mapping[Function, str], machine: Machine) -> dict[Function, str]:
    """`NAME_x86_avx2` for each function, and something more where that is the plain name of another."""
    suffix = "_" + machine.target.replace("-", "_").replace(".", "_")
    names: dict[Function, str] = {}
    for function, name in plain.items():
        names[function] = name + suffix
        while names[function] in plain.values():
            names[function] += "_"
    return names


def write_dispatcher(source: Source, plain: Mapping[Function, str], machines: Sequence[Machine]) -> str:
    """LLVM IR with all functions by their plain names, and the one that chooses."""
    variants = [name_variants(plain, machine) for machine in machines]
    declared: list[str] = []
    defined: list[str] = []
    for function, name in plain.items():
        result, types = list_exported_types(function)
        declared += [f"declare {result} @{names[function]}({', '.join(types)})" for names in variants]
        defined += ["", *_write_entry(function, name, [names[function] for names in variants])]
    return "\n".join([
        f'target datalayout = "{machines[0].layout}"',
        f'target triple = "{machines[0].triple}"',
        "",
        f"@cajeta.chosen = internal global i32 {NOT_ASKED}, align 4",
        *declared,
        *defined,
        "",
        _CHOOSE.format(name=name_chooser(source), any=_ANY, not_asked=NOT_ASKED),
        *_write_detection(machines),
        "",
        _READ,
        PROCESSOR,
        _ATTRIBUTES,
    ])  # fmt: skip


def _write_entry(function: Function, name: str, variants: Sequence[str]) -> Iterator[str]:
    """A function that goes on as one of its variants."""
    result, types = list_exported_types(function)
    passed = ", ".join(f"{type} %{place}" for place, type in enumerate(types))
    cases = " ".join(f"i32 {number}, label %variant{number}" for number in range(len(variants)))
    yield f"define {result} @{name}({passed}) #0 {{"
    yield "entry:"
    yield "  %chosen = load atomic i32, ptr @cajeta.chosen monotonic, align 4"
    yield f"  %new = icmp eq i32 %chosen, {NOT_ASKED}"
    yield "  br i1 %new, label %ask, label %go, !prof !0"
    yield "ask:"
    yield "  %found = call preserve_mostcc i32 @cajeta.ask()"
    yield "  br label %go"
    yield "go:"
    yield "  %number = phi i32 [ %chosen, %entry ], [ %found, %ask ]"
    yield f"  switch i32 %number, label %none [ {cases} ]"
    value = result.rpartition(" ")[2]
    for number, variant in enumerate(variants):
        yield f"variant{number}:"
        if function.result == VOID:
            yield f"  musttail call void @{variant}({passed})"
            yield "  ret void"
        else:
            yield f"  %result{number} = musttail call {result} @{variant}({passed})"
            yield f"  ret {value} %result{number}"
    yield "none:"
    offset = FAULT_OFFSET if function.kind == "kernel" else 0
    yield f"  %record = getelementptr i8, ptr %{len(types) - 1}, i64 {offset}"
    yield f"  store i64 {NO_VARIANT}, ptr %record, align 8"
    zero = function.result if isinstance(function.result, Scalar) else None
    yield "  ret void" if zero is None else f"  ret {value} {_spell_zero(zero)}"
    yield "}"


def _spell_zero(type: Scalar) -> str:
    return "0" if not type.is_number else spell_constant(type, 0.0 if type.is_float else 0)


# ---- what the processor has


def _write_detection(machines: Sequence[Machine]) -> Iterator[str]:
    """The number of the last machine, up to a limit, whose features are all there; -1 if there is none."""
    yield "define internal i32 @cajeta.detect(i32 %limit) #0 {"
    yield "entry:"
    yield from _write_state()
    read: dict[tuple[int, int, int], str] = {}
    terms: dict[str, str] = {}
    for feature in dict.fromkeys(feature for machine in machines for feature in machine.features):
        yield from _write_feature(feature, read, terms)
    best = str(NO_VARIANT)
    for number, machine in enumerate(machines):
        able = f"%able{number}.limit"
        yield f"  {able} = icmp sge i32 %limit, {number}"
        for place, feature in enumerate(machine.features):
            yield f"  %able{number}.{place} = and i1 {able}, {terms[feature]}"
            able = f"%able{number}.{place}"
        yield f"  %best{number} = select i1 {able}, i32 {number}, i32 {best}"
        best = f"%best{number}"
    yield f"  ret i32 {best}"
    yield "}"


def _write_state() -> Iterator[str]:
    """XCR0's low half, or 0 where the system doesn't use it."""
    yield f"  %leaf1 = call i32 @cajeta.read(i32 {XSAVE_IN_USE.leaf}, i32 0, i64 {ECX})"
    yield f"  %osxsave.bit = and i32 %leaf1, {1 << XSAVE_IN_USE.shift}"
    yield "  %osxsave = icmp ne i32 %osxsave.bit, 0"
    yield "  br i1 %osxsave, label %ask, label %state"
    yield "ask:"
    yield "  %xcr0 = call i32 @cajeta.xgetbv()"
    yield "  br label %state"
    yield "state:"
    yield "  %saved = phi i32 [ 0, %entry ], [ %xcr0, %ask ]"


def _write_feature(feature: str, read: dict[tuple[int, int, int], str], terms: dict[str, str]) -> Iterator[str]:
    """Is it there? The answer's name goes into `terms`. `read`: registers that have been asked for."""
    detection, stem = FEATURES[feature], f"%has.{feature}"
    answer = "true"
    for place, field in enumerate(detection.fields):
        register = field.leaf, field.subleaf, field.register
        if register not in read:
            read[register] = f"%register{len(read)}"
            asked = f"i32 {_signed(field.leaf)}, i32 {field.subleaf}, i64 {field.register}"
            yield f"  {read[register]} = call i32 @cajeta.read({asked})"
        yield from _write_field(field, read[register], f"{stem}.{place}")
        yield f"  {stem}.{place}.all = and i1 {answer}, {stem}.{place}"
        answer = f"{stem}.{place}.all"
    if detection.state:
        yield f"  {stem}.saved = and i32 %saved, {detection.state}"
        yield f"  {stem}.usable = icmp eq i32 {stem}.saved, {detection.state}"
        yield f"  {stem}.whole = and i1 {answer}, {stem}.usable"
        answer = f"{stem}.whole"
    terms[feature] = answer


def _write_field(field: Field, register: str, name: str) -> Iterator[str]:
    yield f"  {name}.shifted = lshr i32 {register}, {field.shift}"
    yield f"  {name}.number = and i32 {name}.shifted, {(1 << field.bits) - 1}"
    yield f"  {name} = icmp uge i32 {name}.number, {field.least}"


def _signed(number: int) -> int:
    return number - (1 << 32) if number >> 31 else number


_CHOOSE = """\
define i32 @{name}(i32 %newest) #0 {{
  %found = call i32 @cajeta.detect(i32 %newest)
  store atomic i32 %found, ptr @cajeta.chosen monotonic, align 4
  ret i32 %found
}}

define internal preserve_mostcc i32 @cajeta.ask() #1 {{
  %found = call i32 @cajeta.detect(i32 {any})
  %pair = cmpxchg ptr @cajeta.chosen, i32 {not_asked}, i32 %found monotonic monotonic, align 4
  %old = extractvalue {{ i32, i1 }} %pair, 0
  %mine = extractvalue {{ i32, i1 }} %pair, 1
  %now = select i1 %mine, i32 %found, i32 %old
  ret i32 %now
}}
"""

# A register of a leaf, or 0 if there is no such leaf: to ask for one behind the last gives another's answer.
_READ = """\
define internal i32 @cajeta.read(i32 %leaf, i32 %subleaf, i64 %register) #1 {
entry:
  %registers = alloca [4 x i32], align 4
  %range = and i32 %leaf, -2147483648
  call void @cajeta.cpuid(i32 %range, i32 0, ptr %registers)
  %last = load i32, ptr %registers, align 4
  %there = icmp uge i32 %last, %leaf
  br i1 %there, label %sub, label %none
sub:
  %plain = icmp eq i32 %subleaf, 0
  br i1 %plain, label %read, label %ask
ask:
  call void @cajeta.cpuid(i32 %leaf, i32 0, ptr %registers)
  %last.sub = load i32, ptr %registers, align 4
  %sub.there = icmp uge i32 %last.sub, %subleaf
  br i1 %sub.there, label %read, label %none
read:
  call void @cajeta.cpuid(i32 %leaf, i32 %subleaf, ptr %registers)
  %at = getelementptr i32, ptr %registers, i64 %register
  %answer = load i32, ptr %at, align 4
  ret i32 %answer
none:
  ret i32 0
}
"""

# Two functions as machine code, before a body that is never reached: LLVM has no word for CPUID, and takes inline assembly for
# x86 only where it runs on x86 itself.
#   cpuid(edi, esi, rdx):  push rbx; mov eax, edi; mov ecx, esi; mov r8, rdx; cpuid;
#                          mov [r8], eax; mov [r8+4], ebx; mov [r8+8], ecx; mov [r8+12], edx; pop rbx; ret
#   xgetbv():              xor ecx, ecx; xgetbv; ret
PROCESSOR = """\
define internal void @cajeta.cpuid(i32 %leaf, i32 %subleaf, ptr %registers) #2 prologue [27 x i8]
    c"\\53\\89\\F8\\89\\F1\\49\\89\\D0\\0F\\A2\\41\\89\\00\\41\\89\\58\\04\\41\\89\\48\\08\\41\\89\\50\\0C\\5B\\C3" {
  unreachable
}

define internal i32 @cajeta.xgetbv() #2 prologue [6 x i8] c"\\31\\C9\\0F\\01\\D0\\C3" {
  unreachable
}
"""
_ATTRIBUTES = """\
attributes #0 = { nounwind "target-cpu"="x86-64" }
attributes #1 = { noinline nounwind "target-cpu"="x86-64" }
attributes #2 = { noinline optnone nounwind "target-cpu"="x86-64" }

!0 = !{!"branch_weights", i32 1, i32 1048575}
"""
