"""Code that a later process need not compile again: for the same text, target, options, versions and machine.

A file of the cache is named after its key and holds it whole. What is in it is plain: a record is a list of the name of its
class and its fields, everything else is itself. What can't be read for whatever reason is compiled.
"""

from __future__ import annotations

import marshal
import os

from cajeta_dot import store
from cajeta_dot.diagnostics import Diagnostic, Edit, Help, Label
from cajeta_dot.diagnostics.rules import RULES
from cajeta_dot.ir import Function, Value
from cajeta_dot.record import fields_of
from cajeta_dot.run.build import Built, Lowering
from cajeta_dot.source import Source, Sources
from cajeta_dot.types import Array, Scalar, Vector, Void

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from cajeta_dot.backends import KeepingBackend, Options, TargetInfo
    from cajeta_dot.types import Type

MAX_BYTES = 256 << 20  # of all that is kept
_MARSHAL = 2  # the last of its formats that does not depend on how often a thing is referred to
_RECORDS: dict[str, type[Any]] = {
    cls.__name__: cls for cls in (Diagnostic, Label, Edit, Help, Lowering, Scalar, Vector, Array, Void)
}


class CacheFile:
    """Where the code of a program in these files for one target is, or would be."""

    def __init__(
        self, parts: Sequence[Source], backend: KeepingBackend, info: TargetInfo, options: Options, values: Mapping[str, int]
    ):
        self.sources = (parts[0] if len(parts) == 1 else Sources(parts), *parts)
        self.backend, self.info = backend, info
        asked = [getattr(options, name) for name in fields_of(type(options))]
        own, foreign = describe_package(), backend.fingerprint()
        texts = [(part.name, part.text) for part in parts]
        self.key = marshal.dumps((info.name, asked, own, foreign, texts, sorted(values.items())), _MARSHAL)
        folder = store.objects_folder() if own and foreign else ""
        self.path = os.path.join(folder, store.name_of(self.key)) if folder else ""

    def read(self) -> Built | None:
        """What was kept, in memory and ready to be called."""
        found = store.read(self.path, self.key) if self.path else None
        if found is None:
            return None
        try:
            functions, names, written, choices, diagnostics, kept = self._unpack(found)
            entries = self.backend.reload(kept, self.sources[0], functions)
        except (LookupError, ValueError, TypeError, OSError, RuntimeError):  # not what we wrote, or no memory for code
            return None
        store.touch(self.path)
        return Built(functions, names, written, choices, diagnostics, entries, kept)

    def write(self, built: Built) -> None:
        """Keeps it, if the backend knows how to load it again, and makes room for it."""
        if not self.path or built.kept is None:
            return
        parts = built.functions, built.names, built.written, built.choices, built.diagnostics, built.kept
        if store.write(self.path, self.key, self._pack(parts)):
            store.trim(os.path.dirname(self.path), MAX_BYTES)

    def _pack(self, thing: Any) -> Any:
        name = thing.__class__.__name__
        if name == "tuple":
            return tuple(map(self._pack, thing))
        if name in _RECORDS:
            return [name, *(self._pack(getattr(thing, field)) for field in fields_of(_RECORDS[name]))]
        if name == "Rule":
            return [name, thing.code]
        if name == "Function":
            params = tuple((param.attr, self._pack(param.type)) for param in thing.params)
            return [name, thing.name, thing.symbol, thing.kind, params, self._pack(thing.result), thing.start, thing.end]
        return ["Source", self.sources.index(thing)] if isinstance(thing, Source) else thing

    def _unpack(self, thing: Any) -> Any:
        kind = thing.__class__.__name__
        if kind == "tuple":
            return tuple(map(self._unpack, thing))
        if kind != "list":
            return thing
        name, *fields = thing
        if name == "Rule":
            return RULES[fields[0]]
        if name == "Source":
            return self.sources[int(fields[0])]
        return _make(name, [self._unpack(field) for field in fields])


def _make(name: str, fields: Sequence[Any]) -> Any:
    return _make_function(*fields) if name == "Function" else _RECORDS[name](*fields)


def _make_function(
    name: str, symbol: str, kind: str, params: Sequence[tuple[str, Type]], result: Type, start: int, end: int
) -> Function:
    """What callers see of it: no body."""
    return Function(name, symbol, kind, [Value("param", type, (), attr) for attr, type in params], result, start, end)


def describe_package() -> str:
    """All modules that this package is made of, by size and time; empty where they lie in no folders."""
    import cajeta_dot.backends as backends
    import cajeta_dot.grammar as grammar
    import cajeta_dot.version as version

    # In a checkout, two of its packages stand beside the rest.
    roots = {os.path.dirname(os.path.abspath(module.__file__)) for module in (version, backends, grammar) if module.__file__}
    found = {line for root in roots for line in _list_modules(root)}
    return "\n".join(sorted(found))


def _list_modules(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as items:
            for item in items:
                if item.name.endswith((".py", ".lark", ".peg")):
                    status = item.stat()
                    yield f"{item.path} {status.st_size} {status.st_mtime_ns}"
                elif item.is_dir() and item.name != "__pycache__":
                    yield from _list_modules(item.path)
    except OSError:  # in an archive
        return
