"""A file as a whole: its classes, their constants and methods. How files are put together is in `units.py`."""

from __future__ import annotations

from cajeta_dot.diagnostics import ERROR, Edit, Help, Label, nearest
from cajeta_dot.diagnostics import rules as r
from cajeta_dot.ir import Function, Value
from cajeta_dot.syntax import tree
from cajeta_dot.syntax.tree import simple_name
from cajeta_dot.types import POISON, VOID, Array, Type, Vector

from . import builtins, expressions, statements
from .loops import report_loops
from .method import MethodChecker, Outside
from .operand import Operand, poison
from .survey import Survey
from .upstream import CLASSES, find_foreign_part, read_imports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cajeta_dot.diagnostics import Reporter

_HONOURED = ("Kernel", "Device", "FastMath")
_WITHOUT_BODIES = ("interface", "annotation")
_EVEN_WHERE_SKIPPED = (r.UNKNOWN_VARIABLE, r.UNKNOWN_METHOD, r.UNKNOWN_TYPE, r.BAD_LITERAL)  # mistakes anywhere


class Method:
    """A method of the file. `function` is None until its signature is known; what is mistaken in that is POISON.

    `outside` says why a host method is skipped, `failed` that it has a mistake; `calls` are the methods it calls, with the
    places, `survey` is what its body does.
    """

    def __init__(self, owner: str, node: tree.Method, scope: ClassScope | None = None):
        self.owner, self.node, self.name, self.scope = owner, node, node.name.text, scope
        marks = annotations_of(node)
        self.kind = "kernel" if "Kernel" in marks else "device" if "Device" in marks else "host"
        self.result: Type = POISON
        self.function: Function | None = None
        self.outside = ""
        self.failed = False
        self.survey = Survey([])
        self.calls: list[tuple[Method, Label]] = []

    @property
    def full_name(self) -> str:
        return f"{self.owner}.{self.name}"


class Constant:
    """A field. `state` is new, evaluating or done; `value` the folded constant, None for a mutable or mistaken one.

    `is_outside` marks what only upstream has: arrays, objects, values from foreign classes.
    """

    def __init__(self, owner: str, node: tree.Field, declarator: tree.Declarator):
        self.owner, self.node, self.declarator = owner, node, declarator
        words = {m.word for m in node.modifiers if isinstance(m, tree.Modifier)}
        self.is_mutable = not ({"final", "const"} & words)
        self.is_outside = False
        self.state = "new"
        self.value: Value | None = None


class ClassScope:
    """A class: methods by name and number of parameters, fields by name.

    `word` says what it is: a class, an interface. `outer` is the class around it, if any. An open one may have members that
    are not in the text: inherited, or made from its annotations or from what it is. `program` is its file's checker.
    """

    def __init__(
        self,
        program: ProgramChecker,
        name: str,
        start: int,
        end: int,
        node: tree.Class | None = None,
        outer: ClassScope | None = None,
    ):
        self.program, self.name, self.start, self.end, self.outer = program, name, start, end, outer
        self.word = node.word if node else "class"
        self.is_open = self.word != "class" or bool(node and (node.bases or _has_annotations(node)))
        self.methods: dict[str, dict[int, Method]] = {}
        self.fields: dict[str, Constant] = {}


class ProgramChecker:
    """Checks one unit, and reports everything. `name` is that of the class of methods that stand in none.

    `elsewhere` are the classes of other files by name, `ambiguous` those of which several files have one; those in `unread`
    are in files with syntax errors.
    """

    def __init__(self, unit: tree.Unit, name: str, reporter: Reporter):
        self.unit, self.name, self.reporter = unit, name, reporter
        self.imports = read_imports(unit)
        self.other_types: set[str] = {*self.imports.classes, *class_names(unit.members)}
        self.classes: dict[str, ClassScope] = {}
        self.elsewhere: dict[str, ClassScope] = {}
        self.ambiguous: dict[str, list[ClassScope]] = {}
        self.unread: frozenset[str] = frozenset()
        self.all_methods: list[Method] = []
        self.guesses = 0  # names for which a near one was looked for
        self.depth = 0  # statements, expressions and constants inside one another

    def collect(self) -> None:
        """Find the classes and what is in them."""
        self._collect(self.unit.members, self.name, self.unit)

    def check_heads(self) -> None:
        """Constants, and what a call must know of a method."""
        for scope in self.classes.values():
            for name in scope.fields:
                self.check_constant(name, scope)
        for method in self.all_methods:
            self._check_signature(method)

    def check_bodies(self) -> None:
        """Heads are checked before, those of other files too."""
        for method in self.all_methods:
            self._check_method(method)

    # ---- collecting

    def _collect(self, members: tuple[tree.Node, ...], owner: str, node: tree.Node) -> None:
        for member in members:
            match member:
                case tree.Class():
                    self._add_class(member, self.classes[owner] if isinstance(node, tree.Class) else None)
                case tree.Method():
                    self._add_method(self._scope(owner, node), member)
                case tree.Foreign(what=what, what_start=start, what_end=end):
                    message = f"a member of `{owner}` is skipped because of {what}"
                    self.reporter.report(r.SKIPPED_METHOD, message, Label(start, end))
                case tree.Field():
                    scope = self._scope(owner, node)
                    for declarator in member.declarators:
                        self._add_field(scope, Constant(owner, member, declarator))
                case tree.Constructor() if _is_meant_as_method(member):
                    self._refuse_constructor(member)
                case _:  # constructors are parsed and never called; what is bad was reported
                    pass

    def _refuse_constructor(self, node: tree.Constructor) -> None:
        """A method without a result type is a constructor, which can't be static or a kernel."""
        name = node.name
        helps = [Help(f"write what it returns: `void {name.text}(…)`")]
        if "Kernel" in annotations_of(node):
            helps = [Help("a kernel returns nothing", (Edit(name.start, name.start, "void "),), "machine")]
        message = f"expected the type that `{name.text}` returns, found its name"
        self.reporter.report(r.SYNTAX, message, Label(name.start, name.end, "no type in front of it"), helps=helps)

    def _scope(self, name: str, node: tree.Node) -> ClassScope:
        return self.classes.setdefault(name, ClassScope(self, name, node.start, node.start))

    def _add_class(self, node: tree.Class, outer: ClassScope | None) -> None:
        name = node.name.text
        if outer and name in self.classes:
            name = f"{outer.name}.{name}"
        first = self.classes.get(name)
        if first:
            self.reporter.report(
                r.DEFINED_TWICE,
                f"class `{name}` is defined twice",
                Label(node.name.start, node.name.end),
                [Label(first.start, first.end, "first defined here")],
            )
            return
        self.classes[name] = ClassScope(self, name, node.name.start, node.name.end, node, outer)
        self._collect(node.members, name, node)

    def _add_field(self, scope: ClassScope, field: Constant) -> None:
        declarator = field.declarator
        first = scope.fields.setdefault(declarator.name, field)
        if first is not field:
            self.reporter.report(
                r.ALREADY_DECLARED,
                f"`{declarator.name}` is already a field of `{scope.name}`",
                Label(declarator.start, declarator.start + len(declarator.name), "declared again"),
                [Label(first.declarator.start, first.declarator.end, "first declared here")],
                helps=[Help("rename one of them")],
            )

    def _add_method(self, scope: ClassScope, node: tree.Method) -> None:
        method = Method(scope.name, node, scope)
        overloads = scope.methods.setdefault(method.name, {})
        first = overloads.get(len(node.parameters))
        if first and self._skip_overload(first):
            self.all_methods.remove(first)
            first = None
        elif first and self._skip_overload(method):
            return
        kernels = [m for m in overloads.values() if m.kind == "kernel"]
        if method.kind == "kernel" and kernels:
            self._report_twice(r.KERNEL_TWICE, f"kernel `{method.name}` is defined twice", node, kernels[0].node)
        elif first:
            count = len(node.parameters)
            what = f"`{method.name}` with {count} parameter{'s' * (count != 1)} is defined twice"
            self._report_twice(r.DEFINED_TWICE, what, node, first.node)
        else:
            overloads[len(node.parameters)] = method
            self.all_methods.append(method)

    def _skip_overload(self, method: Method) -> bool:
        """Of two methods with as many parameters, one that takes what the dialect does not have is never the one called."""
        m = MethodChecker(self, method, self.reporter)
        for parameter in method.node.parameters if method.kind == "host" else ():
            outside = m.resolver.outside(parameter.type)
            if outside:
                self.skip(method, Outside(parameter.type.start, parameter.type.end, outside))
                return True
        return False

    def _report_twice(self, rule: r.Rule, message: str, node: tree.Method, first: tree.Method) -> None:
        self.reporter.report(
            rule,
            message,
            Label(node.name.start, node.name.end),
            [Label(first.name.start, first.name.end, "first defined here")],
            helps=[Help("rename one of them")],
        )

    # ---- looking up

    def has_class(self, name: str) -> bool:
        return name in self.classes or name in self.elsewhere

    def overloads(self, owner: str, name: str) -> Mapping[int, Method]:
        """The methods of that name, by their number of parameters, of the class or of the innermost around it that has any."""
        for scope in self._scopes(owner):
            if name in scope.methods:
                return scope.methods[name]
        return {}

    def method_names(self, owner: str) -> Iterator[str]:
        for scope in self._scopes(owner):
            yield from scope.methods

    def constants_of(self, owner: str) -> Iterator[str]:
        for scope in self._scopes(owner):
            yield from scope.fields

    def is_constant(self, owner: str, name: str) -> bool:
        return any(name in scope.fields for scope in self._scopes(owner))

    def may_lie_elsewhere(self, owner: str, name: str) -> bool:
        """Could a name that is no member of the class, nor of those around it, still be one, or be imported?"""
        imports = self.imports
        return name in imports.members or imports.has_all_of_a_class or any(s.is_open for s in self._scopes(owner))

    def _scopes(self, owner: str) -> Iterator[ClassScope]:
        """A class and those around it, innermost first."""
        scope = self.classes.get(owner) or self.elsewhere.get(owner)
        while scope:
            yield scope
            scope = scope.outer

    def constant(self, m: MethodChecker, owner: str, name: str, node: tree.Node) -> Operand | None:
        """A field as an operand; None if the class has none of that name."""
        scope = next((scope for scope in self._scopes(owner) if name in scope.fields), None)
        if scope is None:
            return None
        field = scope.program.check_constant(name, scope)
        if field.is_outside:
            return m.outside(node, f"field `{name}`")
        if field.is_mutable and m.is_host_method:
            return m.outside(node, f"mutable field `{name}`")
        if field.is_mutable:
            if name not in m.said:
                m.said.add(name)
                self.reporter.report(
                    r.MUTABLE_STATIC,
                    f"`{name}` is a mutable static field, which compiled code can't use",
                    Label(node.start, node.end),
                    [Label(field.declarator.start, field.declarator.end, "not `final`")],
                    helps=[Help("make it `static final`, or pass it as a parameter")],
                )
            return poison(node)
        if field.value is None:  # its own mistake has been reported; what comes of it here would be another
            m.method.failed = True
            return poison(node)
        m.at(node.start, node.end)
        return Operand(node, field.value.type, m.emitter.emit("const", field.value.type, attr=field.value.attr))

    def unknown_class(self, m: MethodChecker, node: tree.Node, name: str) -> Operand:
        """A class that is in no file at hand: a host method that uses it is skipped, elsewhere it is an error."""
        if name in self.unread:
            m.method.failed = True
            return poison(node)
        several = len(self.ambiguous.get(name, ()))
        if m.method.kind == "host" and name not in builtins.CLASSES:
            return m.outside(node, f"class `{name}`" + (f", which {several} files define" if several else ""))
        if name in m.said:
            return poison(node)
        m.said.add(name)
        known = (*self.classes, *self.elsewhere, *builtins.CLASSES)
        if several:
            places = [Label(scope.start, scope.end, "defined here") for scope in self.ambiguous[name]]
            message = f"class `{name}` is defined in {several} files"
            helps = [Help("name only the file on the command line that is meant, or import it by its full name")]
            self.reporter.report(r.DEFINED_TWICE, message, Label(node.start, node.end), places, helps=helps)
        elif nearest(name, known):
            m.report_unknown(r.UNKNOWN_FUNCTION, f"no class `{name}`", node.start, node.end, name, known)
        elif name in CLASSES:
            notes = [f"`{name}` is of the wider language, whose library kernels can't use here"]
            self.reporter.report(r.UNKNOWN_FUNCTION, f"no class `{name}`", Label(node.start, node.end), notes=notes)
        else:
            helps = [Help(f"if `{name}` is in another file, name that file on the command line too")]
            self.reporter.report(r.UNKNOWN_FUNCTION, f"no class `{name}`", Label(node.start, node.end), helps=helps)
        return poison(node)

    # ---- constants

    def check_constant(self, name: str, scope: ClassScope) -> Constant:
        """A field of one of its classes, with its value."""
        field = scope.fields[name]
        if field.state == "evaluating":
            declarator = field.declarator
            self.reporter.report(r.NOT_CONSTANT, f"`{name}` is defined by itself", Label(declarator.start, declarator.end))
        if field.state == "new":
            field.state = "evaluating"
            self._evaluate(field)
            field.state = "done"
        return field

    def _evaluate(self, field: Constant) -> None:
        """Finds the value of a constant; of a mutable field only if its type is one of the dialect."""
        m = MethodChecker(self, Method(field.owner, _no_method(field.node)), self.reporter)
        type_node, declarator = field.node.type, field.declarator
        type = m.resolver.resolve(type_node) if not m.resolver.outside(type_node) else None
        if type is None or isinstance(type, Array) or declarator.brackets or (not declarator.value and not field.is_mutable):
            field.is_outside = True
            return
        if declarator.value is None or field.is_mutable:
            return
        operand = expressions.check_value(m, declarator.value)
        value = m.converter.convert(operand, type, Label(type_node.start, type_node.end, "declared type"))
        if m.foreign:
            field.is_outside = True
        elif value and value.op == "const":
            field.value = value
        elif value:
            message = f"the value of `{declarator.name}` is not a constant"
            self.reporter.report(r.NOT_CONSTANT, message, Label(operand.start, operand.end))

    # ---- methods

    def _check_signature(self, method: Method) -> None:
        m = MethodChecker(self, method, self.reporter)
        node = method.node
        for mark in node.modifiers:
            if isinstance(mark, tree.Annotation) and simple_name(mark.name) not in _HONOURED:
                name = simple_name(mark.name)
                near = nearest(name, _HONOURED)
                edits = (Edit(mark.name.start, mark.name.end, near),) if near else ()
                helps = [Help(f"did you mean `@{near}`?", edits, "unsafe")] if near else []
                self.reporter.report(r.ANNOTATION, f"`@{name}` has no effect", Label(mark.start, mark.end), helps=helps)
        if method.kind == "host":
            for type in (node.type, *(p.type for p in node.parameters)):
                outside = m.resolver.outside(type)
                if outside and not method.outside:
                    self.skip(method, Outside(type.start, type.end, outside))
        before = len(self.reporter.found)
        foreign = find_foreign_part(node)
        if foreign and not method.outside:
            m.outside(*foreign)
        method.result = self._resolve_result(m)
        params = [Value("param", _resolve_parameter(m, p), (), p.name.text, p.name.start, p.name.end) for p in node.parameters]
        if m.foreign and not method.outside:
            self.skip(method, m.foreign)
        method.failed = self._has_errors(before)
        name = node.name
        method.function = Function(method.full_name, "", method.kind, params, method.result, name.start, name.end)
        method.function.fast_math = "FastMath" in annotations_of(node)

    def _resolve_result(self, m: MethodChecker) -> Type:
        method, node = m.method, m.method.node.type
        if method.outside and m.resolver.outside(node):
            return POISON
        type = m.resolver.resolve(node)
        if isinstance(type, Array):
            return m.unsupported(node, "a method that returns an array").type
        if method.kind == "kernel" and type not in (VOID, POISON):
            message = "a kernel returns nothing; write the result to an array argument"
            self.reporter.report(r.KERNEL_RETURNS, message, Label(node.start, node.end, f"`{type}`"))
            return POISON
        return type

    def _check_method(self, method: Method) -> None:
        body, name = method.node.body, method.node.name
        if body is None:
            end, text = method.node.end, self.reporter.source.text if self.reporter.source else ""
            is_cut_off = text[end - 1 : end] == ";" and text[end:].lstrip().startswith("{")
            if method.kind != "host":
                helps = [Help("remove the `;`", (Edit(end - 1, end, ""),), "machine")] if is_cut_off else []
                self.reporter.report(r.NOT_IN_KERNELS, f"`{method.name}` has no body", Label(name.start, name.end), helps=helps)
                method.failed = True
            elif self.classes[method.owner].word in _WITHOUT_BODIES:
                method.outside = "a method without a body"  # as it should be there: nothing to tell
            elif not method.outside:
                self.skip(method, Outside(method.node.start, method.node.end, "a method without a body"))
            return
        m = MethodChecker(self, method, self.reporter)
        before, failed = len(self.reporter.found), self.reporter.failed
        statements.declare_parameters(m)
        statements.check_body(m, body)
        method.survey = Survey(m.emitter.block)
        if m.foreign or method.outside:
            found = self.reporter.found
            found[before:] = [one for one in found[before:] if one.rule in _EVEN_WHERE_SKIPPED]
            self.reporter.failed = failed or self._has_errors(before)
        elif method.function:
            report_loops(method.function, method.survey, self.reporter)
        if m.foreign and not method.outside:
            self.skip(method, m.foreign)
        method.failed = method.failed or self._has_errors(before)

    def _has_errors(self, since: int) -> bool:
        return any(found.severity == ERROR for found in self.reporter.found[since:])

    def skip(self, method: Method, outside: Outside) -> None:
        method.outside = outside.what
        self.reporter.report(
            r.SKIPPED_METHOD,
            f"host method `{method.full_name}` is skipped because of {outside.what}",
            Label(outside.start, outside.end),
        )


def _resolve_parameter(m: MethodChecker, node: tree.Parameter) -> Type:
    if m.method.outside and m.resolver.outside(node.type):
        return POISON
    type = m.resolver.resolve(node.type)
    place = Label(node.type.start, node.type.end, f"`{type}`")
    if type == VOID:
        m.reporter.report(r.TYPE_MISMATCH, "a parameter can't be `void`", place)
    elif isinstance(type, Array) and type.is_shared:
        m.unsupported(node, "shared memory as a parameter")
    elif isinstance(type, Vector) and m.method.kind == "kernel":
        message = f"the parameters of a kernel are arrays and scalars, found `{type}`"
        m.reporter.report(r.NOT_IN_KERNELS, message, place, helps=[Help("pass an array and load the vector from it")])
    else:
        return type
    return POISON


def class_names(members: Iterable[tree.Node]) -> Iterator[str]:
    """The names of all classes in a file, inner ones too."""
    work = list(members)
    while work:
        node = work.pop()
        if isinstance(node, tree.Class):
            yield node.name.text
            work += node.members


def _has_annotations(node: tree.Class) -> bool:
    return any(isinstance(m, tree.Annotation) for m in node.modifiers)


def _is_meant_as_method(node: tree.Constructor) -> bool:
    is_static = any(isinstance(m, tree.Modifier) and m.word == "static" for m in node.modifiers)
    return is_static or not set(_HONOURED).isdisjoint(annotations_of(node))


def annotations_of(node: tree.Method | tree.Constructor) -> list[str]:
    """The simple names of a method's annotations."""
    return [simple_name(m.name) for m in node.modifiers if isinstance(m, tree.Annotation)]


def _no_method(field: tree.Field) -> tree.Method:
    """What stands in for a method while a constant is evaluated."""
    name = tree.Identifier(field.start, field.start, "")
    return tree.Method(field.start, field.end, (), field.type, name, (), (), (), None)
