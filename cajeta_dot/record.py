"""Frozen records: what `dataclass(frozen=True, slots=True)` gives, at a third of the price.

`dataclasses` takes longer to import than a small file takes to check, needs a millisecond to make a class, and fills a
frozen object through one `object.__setattr__` call for each field. Here a class is made at once, its constructor is
written when the first object is made, and it fills an open twin of equal layout whose class is then switched.

    @record                 compared by identity: syntax nodes, diagnostics
    @value                  compared and hashed by content: types

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
    """A frozen class with slots, compared by identity."""
    return _make(cls, {})


@dataclass_transform(frozen_default=True, eq_default=True)
def value(cls: type[T]) -> type[T]:
    """A frozen class with slots, compared and hashed by its fields."""
    return _make(cls, {"__eq__": _equal, "__hash__": _hash})


def fields_of(cls: type) -> tuple[str, ...]:
    """The fields of a record, in the order of its constructor."""
    return getattr(cls, "__match_args__", ())


def replace(original: T, **changes: object) -> T:
    """The same record with some fields changed."""
    content = {name: getattr(original, name) for name in fields_of(type(original))}
    return type(original)(**content | changes)


def _make(cls: type, extra: dict[str, Any]) -> Any:
    own = tuple(cls.__annotations__)
    inherited = fields_of(cls.__bases__[0])
    fields = inherited + own
    defaults = {
        **getattr(cls.__bases__[0], "__defaults__", {}),
        **{name: vars(cls)[name] for name in own if name in vars(cls)},
    }
    body = {name: item for name, item in vars(cls).items() if name not in ("__dict__", "__weakref__", *own)}
    body |= {"__slots__": own, "__match_args__": fields, "__defaults__": defaults}
    open_body = {"__slots__": own, "__setattr__": object.__setattr__, "__delattr__": object.__delattr__}
    twin = type(cls.__name__, cls.__bases__, open_body)

    def write_new(_: type, *arguments: object, **named: object) -> object:
        parameters = ", ".join(f"{name}=defaults[{name!r}]" if name in defaults else name for name in fields)
        sets = "".join(f"\n self.{name} = {name}" for name in fields)
        scope: dict[str, Any] = {"new": object.__new__, "twin": twin, "made": made, "defaults": defaults}
        exec(f"def __new__(cls, {parameters}):\n self = new(twin){sets}\n self.__class__ = made\n return self", scope)
        made.__new__ = scope["__new__"]
        return made(*arguments, **named)

    frozen = {
        "__new__": write_new,
        "__setattr__": _refuse,
        "__delattr__": _refuse,
        "__repr__": _show,
        "__reduce__": _reduce,
    }
    kept = {name: item for name, item in frozen.items() if name not in vars(cls)}
    made: Any = type(cls.__name__, cls.__bases__, body | extra | kept)
    return made


def _content(self: object) -> tuple[object, ...]:
    return tuple(getattr(self, name) for name in fields_of(type(self)))


def _refuse(self: object, name: str, _value: object = None) -> None:
    raise AttributeError(f"{type(self).__name__} is frozen, cannot change {name}")


def _show(self: object) -> str:
    return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in fields_of(type(self)))})"


def _reduce(self: object) -> tuple[object, ...]:
    return type(self), _content(self)


def _equal(self: object, other: object) -> bool:
    return type(self) is type(other) and _content(self) == _content(other)


def _hash(self: object) -> int:
    return hash((type(self).__name__, _content(self)))
