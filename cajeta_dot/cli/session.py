"""One run of `cajetac`: what was asked for, what was read, and the messages. Everything that several verbs need."""

from __future__ import annotations

import os

from ..diagnostics import Reporter, nearest
from ..diagnostics.rules import USAGE
from ..driver import MAX_SOURCE_BYTES, NATIVE, check_source, decode, emit, resolve_on_device, resolve_target
from ..record import fields_of
from .files import STREAM, print_output, read_bytes, tell
from .messages import Refusal
from .options import VERBS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, TypeVar

    from cajeta_dot.backends import Backend, Options, TargetInfo

    from ..diagnostics import Diagnostic
    from ..ir import Program
    from ..source import Source
    from .messages import Messages
    from .options import Arguments

    Target = tuple[Backend, TargetInfo]
    Entry = TypeVar("Entry")

# Option of some targets only -> how it is spelled, whose it is, is a target one of them?
_CONCERNS: dict[str, tuple[str, str, Callable[[TargetInfo], bool]]] = {
    "cpu": ("-mcpu", "the targets of CPUs", lambda target: bool(target.cpus)),
    "features": ("-mattr", "the targets of CPUs", lambda target: bool(target.features)),
    "gpu_arch": ("--gpu-arch", "the targets of GPUs", lambda target: bool(target.architectures)),
    "ptx_version": ("--ptx-version", "targets that emit PTX", lambda target: "ptx" in target.kinds),
    "target_env": ("--target-env", "targets that emit SPIR-V", lambda target: "spirv" in target.kinds),
    "int_dot": ("--no-int-dot", "targets that emit SPIR-V", lambda target: "spirv" in target.kinds),
    "narrow_memory": ("--no-narrow-memory", "targets that emit SPIR-V", lambda target: "spirv" in target.kinds),
}
STDIN_NAME = "<stdin>"


class Session:
    """`sources` are those that were read so far, for a report of an internal error.

    `contents` has what was read from standard input, which can be read once only, and what --fix made of an input.
    """

    def __init__(self, arguments: Arguments, messages: Messages):
        self.arguments, self.messages = arguments, messages
        self.sources: list[Source] = []
        self.contents: dict[str, bytes] = {}
        self._said: set[object] = set()

    @property
    def values(self) -> dict[str, int]:
        """Of constants, as -D gives them; the last word about one counts."""
        return dict(self.arguments.get("values", ()))

    def need_files(self) -> list[str]:
        """The inputs. Raises Refusal where there is none, one is missing, or stdin is named twice."""
        files = self.arguments.words
        if not files:
            raise Refusal(USAGE, "no input file", "`cajetac --help` shows how it is called")
        if files.count(STREAM) > 1:
            raise Refusal(USAGE, "standard input can be read once only")
        for file in files:
            if file != STREAM and not os.path.exists(file):
                raise self._explain_missing(file)
        return files

    def refuse_overwriting(self, outputs: Iterable[str]) -> None:
        """Raises Refusal where an output would take the place of an input."""
        inputs = {_identify(file) for file in self.arguments.words if file != STREAM}
        for path in outputs:
            if path != STREAM and _identify(path) in inputs:
                raise Refusal(USAGE, f"`{path}` is an input; it would be overwritten")

    def read_bytes(self, path: str) -> bytes:
        """An input, or as much of it as is read. Raises Refusal where it can't be read."""
        if path in self.contents:
            return self.contents[path]
        try:
            data = read_bytes(path, MAX_SOURCE_BYTES + 1)
        except OSError as error:
            what = "standard input" if path == STREAM else f"`{path}`"
            raise Refusal(USAGE, f"can't read {what}: {tell(error)}") from error
        if path == STREAM:
            self.contents[path] = data
        return data

    def read(self, path: str) -> tuple[Source, Reporter]:
        """An input as text. Raises Refusal where it can't be read."""
        name = self.arguments.get("stdin_name", STDIN_NAME) if path == STREAM else path
        source, reporter = decode(name, self.read_bytes(path))
        self.sources.append(source)
        return source, reporter

    def check(self, paths: Sequence[str]) -> Iterator[tuple[str, Reporter, Program | None]]:
        """The inputs one by one, each as a program that may call what is in the others; None after an error.

        What was found in a single one is not shown yet, since a target may have more to say about it.
        """
        paths = list(dict.fromkeys(paths))
        if len(paths) == 1:
            source, reporter = self.read(paths[0])
            yield paths[0], reporter, check_source(source, reporter, self.values)
            return
        from ..files import Files

        files = Files([self.read(path) for path in paths], self.values)
        self.show(files.found())
        for place, path in enumerate(paths):
            program, reporter = files.part(place)
            yield path, reporter, program

    def resolve_targets(self, default: str | None = NATIVE) -> list[Target]:
        """What --target names, or the default, if any. Raises Refusal for an unknown name, or one target named twice."""
        found: dict[str, Target] = {}
        names, device = self.arguments.get("target", default), self.arguments.get("device", "")
        for name in () if names is None else names.split(","):
            target = self.resolve_target(name, device)
            if target[1].name in found:
                raise Refusal(USAGE, f"target `{target[1].name}` is named twice")
            found[target[1].name] = target
        self._refuse_ignored([info for _, info in found.values()])
        return list(found.values())

    def resolve_target(self, name: str, device: str = "") -> Target:
        """One target by its name or alias, or what makes code for a device. Raises Refusal for an unknown one."""
        reporter = Reporter(None)
        try:
            target = resolve_on_device(name, device, reporter) if device else resolve_target(name, reporter)
        except RuntimeError as error:  # no backend is installed
            raise Refusal(USAGE, str(error)) from error
        if target is None:
            told = reporter.found[0]
            raise Refusal(told.rule, told.message, told.helps[0].message)
        return target

    def _refuse_ignored(self, targets: Sequence[TargetInfo]) -> None:
        """An option that none of the targets would look at. Raises Refusal."""
        for key, (option, whose, concerns) in _CONCERNS.items():
            if key in self.arguments.values and targets and not any(map(concerns, targets)):
                names = ", ".join(f"`{target.name}`" for target in targets)
                raise Refusal(USAGE, f"`{option}` is for {whose}, found {names}", "leave it out")

    def need_one_file(self) -> str:
        """The input of a verb that takes one. Raises Refusal."""
        files = self.need_files()
        if len(files) != 1:
            raise Refusal(USAGE, f"`cajetac {self.arguments.verb}` takes one file, found {len(files)}")
        return files[0]

    def resolve_one_target(self) -> Target:
        """The target of a verb that takes one. Raises Refusal."""
        targets = self.resolve_targets()
        if len(targets) != 1:
            raise Refusal(USAGE, f"`cajetac {self.arguments.verb}` takes one target, found {len(targets)}")
        return targets[0]

    def find_entry(self, entries: Mapping[str, Entry]) -> Entry:
        """The one that --kernel names. Raises Refusal."""
        name = self.arguments.get("kernel")
        offer = f"the file has {', '.join(f'`{entry}`' for entry in entries)}" if entries else ""
        if name is None:
            raise Refusal(USAGE, f"`cajetac {self.arguments.verb}` needs `--kernel NAME`", offer)
        if name not in entries:
            near = nearest(name, entries)
            raise Refusal(USAGE, f"no kernel or host method `{name}`", f"did you mean `{near}`?" if near else offer)
        return entries[name]

    def read_options(self) -> Options:
        """What the command line says about code, for every target."""
        from cajeta_dot.backends import Options

        given: dict[str, Any] = {key: self.arguments.values[key] for key in fields_of(Options) if key in self.arguments.values}
        if "optimize" in given:
            given["optimize"] = int(given["optimize"])
        return Options(**given)

    def fits(self, program: Program, target: Target) -> bool:
        """Is there anything in one of several inputs for the target? What it makes of kernels it can't make without."""
        of_kernels = any(kind in ("ptx", "spirv") for kind in target[1].kinds)
        return not of_kernels or not program.source.parts or any(f.kind == "kernel" for f in program.functions)

    def emit(self, program: Program, target: Target, kind: str, reporter: Reporter) -> str | bytes | None:
        """The content of one kind of output, or None after an error."""
        artifact = emit(program, *target, kind, self.read_options(), reporter)
        return artifact.content if artifact else None

    def show(self, found: Sequence[Diagnostic]) -> None:
        """All that was found, by position; what several targets, or outputs that share a method, said alike, once."""
        new: list[Diagnostic] = []
        for diagnostic in found:
            # What has no place in a source is not said again for the next one.
            source, primary = diagnostic.source, diagnostic.primary
            place = (source.name, primary.start) if source and primary else None
            said = (diagnostic.code, diagnostic.message, place)
            if said not in self._said:
                new.append(diagnostic)
                self._said.add(said)
        self.messages.show(new)

    def answer(self, text: str, data: Any) -> None:
        """The answer to a query: for people, or as JSON where that was asked for."""
        if self.arguments.get("json"):
            import json

            text = json.dumps(data, indent=1) + "\n"
        print_output(text)

    def _explain_missing(self, path: str) -> Refusal:
        verb = nearest(path, VERBS) if path == self.arguments.words[0] and "." not in path else None
        near = f"cajetac {verb}" if verb else _find_similar(path)
        return Refusal(USAGE, f"no file `{path}`", f"did you mean `{near}`?" if near else "")


def _identify(path: str) -> object:
    """What all names of one file have in common; links of either kind are names too."""
    try:
        status = os.stat(path)
    except OSError:  # it is not there yet
        return os.path.realpath(path)
    return status.st_dev, status.st_ino


def _find_similar(path: str) -> str | None:
    folder, name = os.path.split(path)
    try:
        names: Sequence[str] = os.listdir(folder or ".")
    except OSError:  # then there is nothing to offer
        return None
    near = nearest(name, (n for n in names if n.endswith((".cj", ".cajeta"))))
    return near and os.path.join(folder, near)
