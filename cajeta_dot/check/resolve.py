"""Types as the program writes them, into types."""

from __future__ import annotations

from cajeta_dot.diagnostics import Edit, Help, Label, nearest
from cajeta_dot.diagnostics import rules as r
from cajeta_dot.syntax import tree
from cajeta_dot.syntax.elsewhere import TYPES, translate_type
from cajeta_dot.syntax.tree import simple_name
from cajeta_dot.types import BOOLEAN, MAX_LANES, POISON, SCALARS, VOID, Array, Scalar, Type, Vector

from . import upstream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from cajeta_dot.diagnostics import Reporter

ARRAYS = {"KernelBuffer": "KernelBuffer", "Buffer": "KernelBuffer", "Shared": "Shared"}
# How many type arguments each takes, and a type made of it.
_GENERIC = {
    "Vector": (2, "Vector<int8,16>"),
    "KernelBuffer": (1, "KernelBuffer<int32>"),
    "Buffer": (1, "Buffer<int32>"),
    "Shared": (1, "Shared<int32>"),
    "BlockPadded": (3, "BlockPadded<int32,32,1>"),
}
_OTHER_WORDS = ("void", "return")  # where a type is expected, what stands there may be meant as one of these


class Resolver:
    """Resolves the types of one method. A name that is no type is reported once; `said` remembers which.

    `constant` evaluates a constant expression to an integer, or says None without a report of its own. `others` are names of
    classes, of the file and imported; `is_host` says that the method may be skipped.
    """

    def __init__(self, reporter: Reporter, constant: Callable[[tree.Node], int | None], others: Container[str], is_host: bool):
        self.reporter, self.constant, self.others, self.is_host = reporter, constant, others, is_host
        self.said: set[str] = set()

    def resolve(self, node: tree.Node) -> Type:
        """The type, or POISON after a report. A class outside the dialect is reported like a misspelt type."""
        if isinstance(node, tree.PrimitiveType) and node.name in SCALARS:  # most are
            return SCALARS[node.name]
        match node:
            case tree.PrimitiveType(name="void"):
                return VOID
            case tree.PrimitiveType(name=name):
                return self._unknown(node, name)
            case tree.NamedType(name=name):
                return self._unknown(node, simple_name(name))
            case tree.ArrayType(element=element):
                return self._array(node, self.resolve(element), "array")
            case tree.GenericType(name=name, arguments=arguments):
                return self._generic(node, simple_name(name), arguments)
            case tree.OtherType(what=what):
                self.reporter.report(r.NOT_IN_KERNELS, f"{what} can't be used in a kernel", _at(node))
                return POISON
            case _:  # an expression among type arguments
                assert self.reporter.source
                return self._unknown(node, self.reporter.source.text[node.start : node.end])

    def outside(self, node: tree.Node) -> str | None:
        """What in a type is not of the dialect and not a misspelt type, if there is such a thing."""
        if isinstance(node, tree.PrimitiveType) and node.name in SCALARS:
            return None
        match node:
            case tree.PrimitiveType(name="char"):  # in a kernel it is a mistake for a type of ours
                return "type `char`" if self.is_host else None
            case tree.PrimitiveType(name="int128" | "uint128" | "float128" as name):
                return f"type `{name}`"
            case tree.NamedType(name=tree.Name(text=name)) if name in upstream.TYPES:
                return f"type `{name}`"
            case tree.NamedType(name=name) | tree.GenericType(name=name) if not self._could_be_ours(simple_name(name)):
                return f"class `{simple_name(name)}`"
            case tree.Name(text=name) if not self._could_be_ours(name):
                return f"class `{name}`"
            case tree.GenericType(arguments=(element, *_)):
                return self.outside(element)
            case tree.ArrayType(element=tree.ArrayType() | tree.GenericType()) if self.is_host:
                return "an array of arrays or vectors"
            case tree.ArrayType(element=element):
                return self.outside(element)
            case tree.OtherType(what=what):
                return what
            case _:
                return None

    def _could_be_ours(self, name: str) -> bool:
        """A type of the dialect, or a word that somebody may have written for one."""
        if name in _GENERIC or name in SCALARS:
            return True
        if name in self.others or name in upstream.TYPES:
            return False
        return name in TYPES or name[:1].islower() or nearest(name, _GENERIC) is not None

    def lane_count(self, node: tree.Node) -> int | None:
        """A constant in 1..256; None after a report."""
        before = len(self.reporter.found)
        count = self.constant(node)
        if count is None:
            if len(self.reporter.found) == before:  # else it was said why
                self.reporter.report(r.NOT_CONSTANT, "lane count must be a constant", _at(node, "not a constant"))
            return None
        if not 1 <= count <= MAX_LANES:
            self.reporter.report(r.LANE_COUNT_RANGE, f"lane count must be 1..{MAX_LANES}, found {count}", _at(node))
            return None
        return count

    def element(self, node: tree.Node) -> Scalar | None:
        """A type argument that must be a scalar."""
        type = self._argument(node)
        if isinstance(type, Scalar):
            return type
        if type != POISON:
            self.reporter.report(r.TYPE_MISMATCH, f"expected a scalar type, found `{type}`", _at(node))
        return None

    def lane_type(self, node: tree.Node) -> Scalar | None:
        """What the lanes of a vector may be: any scalar but boolean."""
        element = self.element(node)
        if element != BOOLEAN:
            return element
        self.reporter.report(r.TYPE_MISMATCH, "a mask can't be declared; use it where it is made", _at(node))
        return None

    def _argument(self, node: tree.Node) -> Type:
        """A lone name among type arguments is parsed as an expression."""
        if isinstance(node, (tree.Name, tree.Member)):
            return self._unknown(node, simple_name(node))
        return self.resolve(node)

    def _array(self, node: tree.Node, element: Type, space: str) -> Type:
        if isinstance(element, Scalar):
            return Array(element, space)
        if element != POISON:
            self.reporter.report(r.NOT_SUPPORTED, f"an array of `{element}` is not supported yet", _at(node))
        return POISON

    def _generic(self, node: tree.Node, name: str, arguments: tuple[tree.Node, ...]) -> Type:
        if name not in _GENERIC:
            return self._unknown(node, name)
        if len(arguments) != _GENERIC[name][0]:
            return self._wrong_count(node, name, len(arguments))
        if name == "Vector" and isinstance(arguments[0], tree.Literal) and isinstance(arguments[1], tree.PrimitiveType):
            return self._exchanged(arguments[0], arguments[1])
        if name == "Vector":
            element, lanes = self.lane_type(arguments[0]), self.lane_count(arguments[1])
            return Vector(element, lanes) if element and lanes else POISON
        element = self.element(arguments[0])
        if name in ARRAYS:
            return Array(element, ARRAYS[name]) if element else POISON
        every, by = self.constant(arguments[1]), self.constant(arguments[2])
        if every is None or by is None or every < 1 or by < 0:
            message = "`BlockPadded` takes a block of at least 1 element and a padding of at least 0, both constants"
            self.reporter.report(r.NOT_CONSTANT, message, _at(node))
            return POISON
        return Array(element, name, None, (every, by)) if element else POISON

    def _wrong_count(self, node: tree.Node, name: str, found: int) -> Type:
        wanted, example = _GENERIC[name]
        message = f"`{name}` takes {wanted} type argument{'s' * (wanted > 1)}, found {found}"
        helps = [Help(f"what it holds stands in angle brackets: `{example}`")]
        self.reporter.report(r.WRONG_ARGUMENTS, message, _at(node), helps=helps)
        return POISON

    def _exchanged(self, lanes: tree.Node, element: tree.PrimitiveType) -> Type:
        """`Vector<4,int8>`"""
        text = self.reporter.source.text[lanes.start : lanes.end] if self.reporter.source else ""
        edits = (Edit(lanes.start, lanes.end, element.name), Edit(element.start, element.end, text))
        helps = [Help("the type stands in front of the lane count", edits, "machine")]
        self.reporter.report(r.UNKNOWN_TYPE, f"no type `{text}`", _at(lanes), helps=helps)
        return POISON

    def _unknown(self, node: tree.Node, name: str) -> Type:
        if name in self.said:
            return POISON
        if name in _GENERIC:
            return self._wrong_count(node, name, 0)
        self.said.add(name)
        near = translate_type(name) or nearest(name, (*SCALARS, *_GENERIC, *_OTHER_WORDS))
        where = node.name if isinstance(node, tree.GenericType) else node
        helps = [Help(f"did you mean `{near}`?", (Edit(where.start, where.end, near),), "machine")] if near else []
        text = self.reporter.source.text[where.start : where.end] if self.reporter.source else name
        words = text.split()
        written = " ".join(words) if words == [word for word in name.split("_") if word] else name  # joined to be one
        self.reporter.report(r.UNKNOWN_TYPE, f"no type `{written}`", _at(where), helps=helps)
        return POISON


def _at(node: tree.Node, text: str = "") -> Label:
    return Label(node.start, node.end, text)
