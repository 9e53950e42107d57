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
    """A class with slots, compared and hashed by its fields, which have to be hashable. Its objects stay for ever."""
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
    first = "__new__" if constructor is _VALUE else "__init__"

    def write_constructor(self: Any, *arguments: object, **named: object) -> object:
        parameters = ", ".join(f"{name}=defaults[{name!r}]" if name in defaults else name for name in fields)
        sets = "".join(f"; self.{name} = {name}" for name in fields)
        names = "".join(f"{name}," for name in fields)
        scope: dict[str, Any] = {"new": object.__new__, "defaults": defaults, "known": known}
        exec(constructor.format(parameters=parameters, sets=sets, names=names), scope)
        setattr(made, first, scope[first])
        return scope[first](self, *arguments, **named)

    body = {name: item for name, item in vars(cls).items() if name not in ("__dict__", "__weakref__", *own)}
    body |= {"__slots__": own, "__match_args__": fields, "__defaults__": defaults, first: write_constructor}
    given = {"__repr__": _show, "__reduce__": _reduce}
    made: Any = type(cls.__name__, cls.__bases__, {**given, **body})
    return made


def _content(self: object) -> tuple[object, ...]:
    return tuple(getattr(self, name) for name in fields_of(type(self)))


def _show(self: object) -> str:
    return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in fields_of(type(self)))})"


def _reduce(self: object) -> tuple[object, ...]:
    return type(self), _content(self)
