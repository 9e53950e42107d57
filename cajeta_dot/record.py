"""Records: what `dataclass(slots=True)` gives, without its price. They are never changed once they are made.

`dataclasses` takes longer to import than a small file takes to check, and needs a millisecond to make a class. Here a class
is made at once, and its constructor is written when the first object is made. That a record is not changed is held by the
type checker (`frozen_default`): holding it at run time as well would make a syntax node half as dear again.

    @record                 compared by identity: syntax nodes, diagnostics
    @value                  one object for each content, so that identity compares contents: types

Fields are the annotations, inherited ones first; a class attribute of the same name is the default.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` would cost what this module saves
if TYPE_CHECKING:
    from typing import Any, TypeVar, dataclass_transform

    T = TypeVar("T")
else:

    def dataclass_transform(**_options):
        return lambda function: function


@dataclass_transform(frozen_default=True, eq_default=False)
def record(cls: type[T]) -> type[T]:
    """A class with slots, compared by identity."""
    return _make(cls, _RECORD)


@dataclass_transform(frozen_default=True, eq_default=True)
def value(cls: type[T]) -> type[T]:
    """A class with slots, compared and hashed by its fields, which have to be hashable.

    Its objects stay for ever. So its properties are computed once, when an object is made, and read as fast as a field.
    """
    return _make(cls, _VALUE)


def fields_of(cls: type) -> tuple[str, ...]:
    """The fields of a record, in the order of its constructor."""
    return getattr(cls, "__match_args__", ())


def replace(original: T, **changes: object) -> T:
    """The same record with some fields changed."""
    content = {name: getattr(original, name) for name in fields_of(type(original))}
    return type(original)(**content | changes)


_RECORD = """
def __init__(self, {parameters}):
    pass{sets}
"""
_VALUE = """
def __new__(cls, {parameters}):
    self = known.get(({names}))
    if self is None:
        self = new(cls){sets}
        complete(self)
        self = known.setdefault(({names}), self)
    return self
"""


def _make(cls: type, constructor: str) -> Any:
    own = tuple(cls.__annotations__)
    inherited = fields_of(cls.__bases__[0])
    fields = inherited + own
    defaults = {
        **getattr(cls.__bases__[0], "__defaults__", {}),
        **{name: vars(cls)[name] for name in own if name in vars(cls)},
    }
    known: dict[tuple[object, ...], object] = {}  # one, also if two threads write the constructor at a time
    is_value = constructor is _VALUE
    first = "__new__" if is_value else "__init__"
    computed = [(name, item.fget) for name, item in vars(cls).items() if is_value and isinstance(item, property) and item.fget]

    def complete(self: Any) -> None:
        for name, compute in computed:
            setattr(self, name, compute(self))

    def write_constructor(self: Any, *arguments: object, **named: object) -> object:
        parameters = ", ".join(f"{name}=defaults[{name!r}]" if name in defaults else name for name in fields)
        sets = "".join(f"; self.{name} = {name}" for name in fields)
        names = "".join(f"{name}," for name in fields)
        scope: dict[str, Any] = {"new": object.__new__, "defaults": defaults, "known": known, "complete": complete}
        exec(constructor.format(parameters=parameters, sets=sets, names=names), scope)
        setattr(made, first, scope[first])
        return scope[first](self, *arguments, **named)

    slots = (*own, *(name for name, _ in computed))
    body = {name: item for name, item in vars(cls).items() if name not in ("__dict__", "__weakref__", *slots)}
    body |= {"__slots__": slots, "__match_args__": fields, "__defaults__": defaults, first: write_constructor}
    given = {"__repr__": _show, "__reduce__": _reduce}
    made: Any = type(cls.__name__, cls.__bases__, {**given, **body})
    return made


def _content(self: object) -> tuple[object, ...]:
    return tuple(getattr(self, name) for name in fields_of(type(self)))


def _show(self: object) -> str:
    return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in fields_of(type(self)))})"


def _reduce(self: object) -> tuple[object, ...]:
    return type(self), _content(self)
