"""Line numbers for debuggers and profilers (`-g`): LLVM's debug metadata, from which it makes DWARF and `.loc`.

There is a file, a unit, for each function a subprogram, and for each place a location in one. Variables are not described.
The file is named as `Source.name_in_output` has it, in the folder `.`: two machines make the same bytes.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cajeta_dot.backends.llvm.metadata import Metadata
    from cajeta_dot.ir import Function, Value
    from cajeta_dot.source import Source

_MAX_COLUMN = 65535  # LLVM refuses more
_NO_PLACE = frozenset({"const", "param"})  # what is no instruction


class Lines:
    """Adds to the metadata of one module while it is written; without a source nothing.

    directives_only: `.loc` but no sections of DWARF, as PTX takes it without being told apart as code to debug.
    """

    def __init__(self, metadata: Metadata, source: Source | None, *, directives_only: bool = False):
        self._metadata, self._source = metadata, source
        self._scopes: dict[str, str] = {}
        self._files: dict[str, str] = {}  # by scope
        if source is None:
            return
        kind, dwarf = ("DebugDirectivesOnly", 2) if directives_only else ("LineTablesOnly", 5)
        self._type = metadata.add("!DISubroutineType(types: !{})")
        self._unit = metadata.add(
            f'distinct !DICompileUnit(language: DW_LANG_C99, file: {self._add_file(source)}, producer: "cajetac", '
            f"isOptimized: true, runtimeVersion: 0, emissionKind: {kind}, nameTableKind: None)"
        )
        metadata.named["llvm.dbg.cu"] = self._unit
        metadata.flags.append(metadata.add('!{i32 2, !"Debug Info Version", i32 3}'))
        metadata.flags.append(metadata.add(f'!{{i32 7, !"Dwarf Version", i32 {dwarf}}}'))

    def locate(self, scope: str, value: Value | None) -> str:
        """What stands behind an instruction that was asked for by this value; empty if it has no place of its own."""
        if self._source is None or value is None or not value.end or value.op in _NO_PLACE:
            return ""
        return self._write_location(scope, value.start)

    def locate_function(self, scope: str, function: Function) -> str:
        """The same for what a function does besides its text."""
        return "" if self._source is None else self._write_location(scope, function.start)

    def add_scope(self, function: Function, symbol: str) -> str:
        """The node for what LLVM calls `symbol`, which is made of the function."""
        if self._source is None:
            return ""
        if symbol not in self._scopes:
            part, offset = self._source.locate(function.start)
            file, line = self._add_file(part), part.position(offset)[0]
            flags = "DISPFlagDefinition | DISPFlagOptimized"
            linkage = f', linkageName: "{_escape(symbol)}"' if symbol != function.name else ""
            self._scopes[symbol] = self._metadata.add(
                f'distinct !DISubprogram(name: "{_escape(function.name)}"{linkage}, scope: {file}, file: {file}, '
                f"line: {line}, type: {self._type}, scopeLine: {line}, spFlags: {flags}, unit: {self._unit})"
            )
            self._files[self._scopes[symbol]] = file
        return self._scopes[symbol]

    def mark_head(self, scope: str, text: str) -> str:
        """A `define` line, up to its brace, with its subprogram."""
        return text if self._source is None else f"{text.removesuffix(' {')} !dbg {scope} {{"

    def cover(self, text: Sequence[str], function: Function, symbol: str) -> list[str]:
        """A whole function whose instructions all belong to the head of the method."""
        if self._source is None:
            return list(text)
        scope = self.add_scope(function, symbol)
        location = self.locate_function(scope, function)
        lines = "\n".join(text).split("\n")
        return [
            self.mark_head(scope, lines[0]),
            *(f"{line}{location}" if line.startswith("  ") else line for line in lines[1:]),
        ]

    def _write_location(self, scope: str, offset: int) -> str:
        assert self._source is not None
        part, offset = self._source.locate(offset)
        file, (line, column) = self._add_file(part), part.position(offset)
        if file != self._files[scope]:  # a helper of another file that stands in the function itself
            scope = self._metadata.add(f"!DILexicalBlockFile(scope: {scope}, file: {file}, discriminator: 0)")
        node = f"!DILocation(line: {line}, column: {column if column <= _MAX_COLUMN else 0}, scope: {scope})"
        return f", !dbg {self._metadata.add(node)}"

    def _add_file(self, source: Source) -> str:
        return self._metadata.add(f'!DIFile(filename: "{_escape(source.name_in_output)}", directory: ".")')


def _escape(text: str) -> str:
    """The inside of a string in LLVM's text."""
    return "".join(c if c.isascii() and c.isprintable() and c not in '"\\' else _hex(c) for c in text)


def _hex(character: str) -> str:
    return "".join(f"\\{byte:02X}" for byte in character.encode("utf-8", "replace"))
