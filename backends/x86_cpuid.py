"""Where an x86 processor says that it has a feature, and what the operating system must save for it to be of use.

The names are those of `x86_features`; a test holds the two together.

Leaves, registers and bits: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2A, CPUID, and the AVX10.2
Architecture Specification (361050), section 1.2; the extended leaf: AMD64 Architecture Programmer's Manual, volume 3,
appendix E. State: volume 1, section 13.
"""

from __future__ import annotations

from cajeta_dot.record import record

EAX, EBX, ECX, EDX = range(4)


@record
class Field:
    """Some bits of a register that CPUID gives for a leaf and a subleaf; `least` is the number that they must hold."""

    leaf: int
    subleaf: int
    register: int
    shift: int
    bits: int = 1
    least: int = 1


@record
class Detection:
    """All fields must hold what they must, and XCR0 have the bits of `state`."""

    fields: tuple[Field, ...]
    state: int = 0


# Bits of XCR0: what is saved when the system switches between threads.
_XMM_YMM = 0b0000_0110
_ZMM = 0b1110_0000 | _XMM_YMM
XSAVE_IN_USE = Field(1, 0, ECX, 27)  # without it there is no XCR0 to be read


def _at(leaf: int, subleaf: int, register: int, shift: int, state: int = 0) -> Detection:
    return Detection((Field(leaf, subleaf, register, shift),), state)


# LLVM's name -> how it is found.
FEATURES = {
    "sse2": _at(1, 0, EDX, 26),
    "sse3": _at(1, 0, ECX, 0),
    "ssse3": _at(1, 0, ECX, 9),
    "fma": _at(1, 0, ECX, 12, _XMM_YMM),
    "sse4.1": _at(1, 0, ECX, 19),
    "sse4.2": _at(1, 0, ECX, 20),
    "movbe": _at(1, 0, ECX, 22),
    "popcnt": _at(1, 0, ECX, 23),
    "avx": _at(1, 0, ECX, 28, _XMM_YMM),
    "f16c": _at(1, 0, ECX, 29, _XMM_YMM),
    "gfni": _at(7, 0, ECX, 8),
    "bmi": _at(7, 0, EBX, 3),
    "avx2": _at(7, 0, EBX, 5, _XMM_YMM),
    "bmi2": _at(7, 0, EBX, 8),
    "avx512f": _at(7, 0, EBX, 16, _ZMM),
    "avx512dq": _at(7, 0, EBX, 17, _ZMM),
    "avx512ifma": _at(7, 0, EBX, 21, _ZMM),
    "avx512cd": _at(7, 0, EBX, 28, _ZMM),
    "avx512bw": _at(7, 0, EBX, 30, _ZMM),
    "avx512vl": _at(7, 0, EBX, 31, _ZMM),
    "avx512vbmi": _at(7, 0, ECX, 1, _ZMM),
    "avx512vbmi2": _at(7, 0, ECX, 6, _ZMM),
    "avx512vnni": _at(7, 0, ECX, 11, _ZMM),
    "avx512bitalg": _at(7, 0, ECX, 12, _ZMM),
    "avx512vpopcntdq": _at(7, 0, ECX, 14, _ZMM),
    "avx512fp16": _at(7, 0, EDX, 23, _ZMM),
    "avxvnni": _at(7, 1, EAX, 4, _XMM_YMM),
    "avx512bf16": _at(7, 1, EAX, 5, _ZMM),
    "avxifma": _at(7, 1, EAX, 23, _XMM_YMM),
    "avxvnniint8": _at(7, 1, EDX, 4, _XMM_YMM),
    "avxneconvert": _at(7, 1, EDX, 5, _XMM_YMM),
    "avxvnniint16": _at(7, 1, EDX, 10, _XMM_YMM),
    "avx10.1": Detection((Field(7, 1, EDX, 19), Field(0x24, 0, EBX, 0, bits=8, least=1)), _ZMM),
    "avx10.2": Detection((Field(7, 1, EDX, 19), Field(0x24, 0, EBX, 0, bits=8, least=2)), _ZMM),
    "lzcnt": _at(0x8000_0001, 0, ECX, 5),
}
