"""What other languages call our types: C, CUDA, OpenCL, GLSL, Java, Rust, and the headers of instruction sets."""

from __future__ import annotations

import re

TYPES = {
    "byte": "int8",
    "sbyte": "int8",
    "ubyte": "uint8",
    "short": "int16",
    "ushort": "uint16",
    "int": "int32",
    "signed": "int32",
    "uint": "uint32",
    "unsigned": "uint32",
    "long": "int64",
    "ulong": "uint64",
    "size_t": "int64",
    "ssize_t": "int64",
    "ptrdiff_t": "int64",
    "usize": "int64",
    "isize": "int64",
    "float": "float32",
    "double": "float64",
    "bool": "boolean",
    "half": "float16",
    "char": "uint8",
    "uchar": "uint8",
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    **{f"f{bits}": f"float{bits}" for bits in (16, 32, 64)},
    **{f"int{bits}_t": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}_t": f"uint{bits}" for bits in (8, 16, 32, 64)},
}
_VECTORS = (
    re.compile(r"(?P<letter>[iud]?)vec(?P<lanes>[234])"),  # GLSL
    re.compile(r"(?P<word>u?char|u?short|u?int|u?long|half|float|double)(?P<lanes>[234]|8|16)"),  # CUDA, OpenCL
    re.compile(r"(?P<element>u?int(?:8|16|32|64)|float(?:16|32|64))x(?P<lanes>2|4|8|16)(?:_t)?"),  # NEON
    re.compile(r"(?P<word>[iu](?:8|16|32|64)|f(?:32|64))x(?P<lanes>\d\d?)"),  # Rust, WebAssembly
)
_C_WORDS = frozenset({"unsigned", "signed", "long", "short", "int", "char", "double"})
_ELEMENTS = {"": "float32", "i": "int32", "u": "uint32", "d": "float64"}  # by the first letter of a `vec`


def translate_type(name: str) -> str | None:
    """The type of ours that is called `name` elsewhere, as a program writes it. Several words are joined by `_`."""
    if name in TYPES:
        return TYPES[name]
    words = [word for word in name.split("_") if word]
    if len(words) > 1 and _C_WORDS.issuperset(words):
        return _translate_words(words)
    for form in _VECTORS:
        match = form.fullmatch(name)
        if match:
            parts = match.groupdict()
            word = parts.get("word", "")
            element = parts.get("element") or ("int8" if word == "char" else TYPES.get(word)) or _ELEMENTS[parts["letter"]]
            return f"Vector<{element},{int(parts['lanes'])}>"
    return None


def _translate_words(words: list[str]) -> str:
    """Of a type of C that has several: `unsigned long`."""
    if "double" in words:
        return "float64"
    bits = 8 if "char" in words else 16 if "short" in words else 64 if "long" in words else 32
    return f"{'u' * ('unsigned' in words)}int{bits}"
