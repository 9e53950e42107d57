"""What the wider language and other files have by name, and the dialect has not.

In a host method such a name is no mistake: the method is skipped for it (LANGUAGE.md section 2). The tables hold what the
public sources use; they need not be complete, since they only tell a name of upstream's from a misspelt one of ours.
"""

from __future__ import annotations

from cajeta_dot.record import record
from cajeta_dot.syntax import tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Names of types in small letters, which otherwise are taken for misspelt.
TYPES = frozenset({
    "bfloat16", "pointer", "var", "float4e2m1", "float6e2m3", "float6e3m2", "float8e4m3", "float8e5m2",
    "float8e4m3fnuz", "float8e5m2fnuz",
})  # fmt: skip
# Methods of buffers, arrays and vectors.
METHODS = frozenset({
    "upload", "download", "wordView", "byteView", "slice", "fill", "copy", "copyFrom", "copyTo", "clone", "free",
    "size", "length", "stream", "range", "atomicAdd", "atomicMin", "atomicMax", "atomicAnd", "atomicOr", "atomicXor",
    "atomicExchange", "atomicCompareExchange", "eqMask", "compressStore", "popcount", "hashCode", "equals", "toString",
})  # fmt: skip
# Functions of the classes whose other functions are built in.
FUNCTIONS = frozenset({
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "exp2", "expm1", "log", "log2",
    "log10", "log1p", "pow", "cbrt", "hypot", "rsqrt", "signum", "sign", "clamp", "mod", "random", "toRadians",
    "toDegrees", "clock", "wave", "deviceMemory", "workgroupMemory", "leadingZeros", "trailingZeros",
})  # fmt: skip
# Its own classes, which are in no file that could be named too.
CLASSES = frozenset({
    "Wave", "WaveVector", "Group", "GroupOp", "MemoryOrder", "CoopStage", "TileOps", "Autotune", "Device", "System", "Clock",
})  # fmt: skip


@record
class Imports:
    """What a file names of others: classes, static members, and whether it imports all static members of some class."""

    classes: frozenset[str]
    members: frozenset[str]
    has_all_of_a_class: bool


def read_imports(unit: tree.Unit) -> Imports:
    """The imports of a file."""
    names = [
        (one, one.name.name if isinstance(one.name, tree.Member) else getattr(one.name, "text", "")) for one in unit.imports
    ]
    return Imports(
        frozenset(name for one, name in names if not one.static and not one.all),
        frozenset(name for one, name in names if one.static and not one.all),
        any(one.static and one.all for one, _ in names),
    )


def find_foreign_part(node: tree.Method) -> tuple[tree.Node, str] | None:
    """The first thing in the head of a method, types apart, that is not of the dialect."""
    return next(_foreign_parts(node), None)


def _foreign_parts(node: tree.Method) -> Iterator[tuple[tree.Node, str]]:
    for mark in node.modifiers:
        if isinstance(mark, tree.Modifier) and mark.word == "async":
            yield mark, "`async`"
    for parameter in node.type_parameters:
        yield parameter, f"type parameter `{parameter.text}`"
    for parameter in node.parameters:
        if parameter.default:
            yield parameter.default, f"the default value of `{parameter.name.text}`"


def takes_fewer(node: tree.Method) -> bool:
    """May a call have another number of arguments than the method has parameters?"""
    return any(one.default or isinstance(one.type, tree.OtherType) for one in node.parameters)
