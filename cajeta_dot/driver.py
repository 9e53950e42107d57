"""From bytes and names to programs and outputs: which phase follows which, and where a target's backend is found.

It knows no options of the command line and prints nothing. Phases and backends are imported when they are needed.
"""

from __future__ import annotations

from .collector import PAUSED_COLLECTOR
from .diagnostics import Help, Label, Reporter, nearest
from .source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from cajeta_dot.backends import Artifact, Backend, DeviceBackend, DeviceInfo, NoDevice, Options, TargetInfo

    from .ir import Program
    from .syntax import Unit

MAX_SOURCE_BYTES = 8 << 20
NATIVE = "native"  # the target that is taken where none is named
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_OTHER_ENCODINGS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


# ---- source text


def decode(name: str, data: bytes) -> tuple[Source, Reporter]:
    """The text of a file; line ends stay as they are. Whether it is fit to be compiled is what the reporter says."""
    from .diagnostics.rules import BAD_ENCODING, FILE_TOO_LARGE

    if len(data) > MAX_SOURCE_BYTES:
        source = Source(name, "")
        reporter = Reporter(source)
        message = f"the file has more than {MAX_SOURCE_BYTES} bytes, the most that is read"
        reporter.report(FILE_TOO_LARGE, message, Label(0, 0))
        return source, reporter
    mark = len(BYTE_ORDER_MARK) if data.startswith(BYTE_ORDER_MARK) else 0
    try:
        source = Source(name, data[mark:].decode())
    except UnicodeDecodeError as error:
        at = mark + error.start
        source = Source(name, data[mark:].decode(errors="replace"))
        reporter = Reporter(source)
        place = len(data[mark:at].decode())
        wide = _OTHER_ENCODINGS.get(data[:2])
        notes = [f"the file begins like {wide} text; save it as UTF-8"] if wide else []
        message = f"the file is not UTF-8: byte 0x{data[at]:02X} at offset {at}"
        reporter.report(BAD_ENCODING, message, Label(place, place + 1, "not UTF-8 from here"), notes=notes)
        return source, reporter
    return source, Reporter(source)


# ---- phases


def parse(source: Source, reporter: Reporter) -> Unit | None:
    """The syntax tree, or None after an error, also one that was reported before."""
    if reporter.failed:
        return None
    from .syntax import parse_source

    unit = parse_source(source, reporter)
    return None if reporter.failed else unit


def check(unit: Unit, source: Source, reporter: Reporter) -> Program | None:
    """A program that has been checked, verified and simplified, or None after an error."""
    from .check import check_unit

    program = check_unit(unit, source, reporter)
    return None if program is None or reporter.failed else finish(program, reporter)


def finish(program: Program, reporter: Reporter) -> Program:
    """The program verified and simplified, and what that shows reported."""
    from .passes.remarks import report_ranges
    from .passes.simplify import simplify
    from .passes.verify import verify

    verify(program)
    simplify(program)
    report_ranges(program, reporter)
    return program


def check_source(source: Source, reporter: Reporter, values: Mapping[str, int] | None = None) -> Program | None:
    """Parse and check: what every use of a source begins with. `values` are for constants, see `check.define`."""
    with PAUSED_COLLECTOR:
        unit = parse(source, reporter)
        if unit and values:
            from .check.define import define

            define([unit], values, reporter)
        return check(unit, source, reporter) if unit and not reporter.failed else None


def emit(
    program: Program, backend: Backend, target: TargetInfo, kind: str, options: Options, reporter: Reporter
) -> Artifact | None:
    """The target's output, or None after an error. What each operation became is reported as a remark."""
    artifact = backend.emit(program, target.name, kind, options, reporter)
    if artifact is None or reporter.failed:
        return None
    report_choices(artifact, reporter)
    return artifact


def report_choices(artifact: Artifact, reporter: Reporter) -> None:
    """One remark for each operation that had a choice of forms."""
    from .diagnostics.rules import CHOICE

    for choice in artifact.choices:
        exact = "" if choice.exact else ", not exact"
        signs = f", {choice.signs}," if choice.signs else ""
        message = f"`{choice.operation}` of {choice.lanes} lanes{signs} becomes {choice.form}{exact}"
        label = Label(choice.start, choice.end, choice.instruction)
        reporter.report(CHOICE, message, label, notes=[choice.why] if choice.why else [])


# ---- targets


def find_target(name: str) -> tuple[Backend, TargetInfo] | None:
    """The backend that has a target of this name or alias. Loads no more backends than it takes to find it.

    Raises RuntimeError where no backend is installed.
    """
    for backend in _load_backends(name):
        for info in backend.targets():
            if name == info.name or name in info.aliases:
                return backend, info
    return None


def resolve_target(name: str, reporter: Reporter) -> tuple[Backend, TargetInfo] | None:
    """As `find_target`; a name that doesn't exist is reported."""
    found = find_target(name)
    if found is None:
        from .diagnostics.rules import UNKNOWN_TARGET

        near = nearest(name, target_names())
        offer = f"did you mean `{near}`? " if near else ""
        reporter.report(UNKNOWN_TARGET, f"no target `{name}`", None, helps=[Help(f"{offer}`cajetac targets` lists them")])
    return found


def resolve_on_device(name: str, device: str, reporter: Reporter) -> tuple[Backend, TargetInfo] | None:
    """The target, if the device is of a kind that runs it; what is wrong with either is reported.

    `native` is the target that the device runs.
    """
    from .diagnostics.rules import UNKNOWN_TARGET

    kind = device.partition(":")[0]
    runners = [(backend, info) for backend, info in all_targets() if kind in info.devices]
    if not runners:
        kinds = sorted({kind for _, info in all_targets() for kind in info.devices})
        near = nearest(kind, kinds)
        offer = f"did you mean `{near}`?" if near else f"there are {', '.join(f'`{known}`' for known in kinds) or 'none'}"
        reporter.report(UNKNOWN_TARGET, f"no device `{device}`", None, helps=[Help(offer)])
        return None
    found = runners[0] if name == NATIVE else resolve_target(name, reporter)
    if found is None or kind in found[1].devices:
        return found
    names = ", ".join(f"`{info.name}`" for _, info in runners)
    message = f"target `{found[1].name}` does not run on `{device}`"
    reporter.report(UNKNOWN_TARGET, message, None, helps=[Help(f"what runs there is {names}")])
    return None


def list_devices() -> tuple[list[DeviceInfo], list[NoDevice]]:
    """All devices of this machine that some target runs on, and why there are none of a kind."""
    from cajeta_dot.backends import NoDevice

    found: list[DeviceInfo] = []
    problems: list[NoDevice] = []
    for kind, backend in sorted({kind: backend for backend, info in all_targets() for kind in info.devices}.items()):
        runner: DeviceBackend = backend  # type: ignore[assignment] - its targets have devices
        try:
            found += runner.list_devices(kind)
        except NoDevice as problem:
            problems.append(problem)
    return found, problems


def all_targets() -> list[tuple[Backend, TargetInfo]]:
    """Every target of every installed backend. Raises RuntimeError where none is installed."""
    from cajeta_dot.backends import discover

    return [(backend, info) for _, backend in sorted(discover().items()) for info in backend.targets()]


def target_names() -> list[str]:
    """Every name and alias that a target has."""
    return [name for _, info in all_targets() for name in (info.name, *info.aliases)]


def _load_backends(target: str) -> Iterator[Backend]:
    """Installed backends one by one, those first whose entry point begins the target's name."""
    points = sorted(_scan_entry_points().items(), key=lambda point: not target.startswith(point[0]))
    for _, (module, attributes) in points:
        backend: Any = __import__(module, fromlist=["*"])
        for attribute in attributes.split("."):
            backend = getattr(backend, attribute)
        yield backend
    from cajeta_dot.backends import discover  # the slow way also looks into archives, and says if there is nothing at all

    yield from (backend for name, backend in discover().items() if name not in dict(points))


def _scan_entry_points() -> dict[str, tuple[str, str]]:
    """Name -> (module, attributes) of the entry points that lie in plain folders on the path.

    `importlib.metadata` knows them all, but to import it takes as long as to compile a small file.
    """
    import os
    import sys

    from cajeta_dot.backends import GROUP

    found: dict[str, tuple[str, str]] = {}
    distributions: set[str] = set()  # the first on the path hides others of its name, as it hides their modules
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:  # not a folder
            continue
        for name in sorted(names):
            distribution = name.partition("-")[0].removesuffix(".egg").lower()
            if not name.endswith((".dist-info", ".egg-info")) or distribution in distributions:
                continue
            distributions.add(distribution)
            try:
                with open(os.path.join(folder, name, "entry_points.txt"), encoding="utf-8") as file:
                    text = file.read()
            except OSError:  # most have none
                continue
            for point, module, attribute in _read_section(text, GROUP):
                found.setdefault(point, (module, attribute))
    return found


def _read_section(text: str, section: str) -> Iterator[tuple[str, str, str]]:
    """The `name = module:attribute` lines of one section of an `entry_points.txt`."""
    inside = False
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("["):
            inside = line == f"[{section}]"
        elif inside and "=" in line and not line.startswith("#"):
            name, _, place = line.partition("=")
            module, _, attribute = place.partition("[")[0].partition(":")
            yield name.strip(), module.strip(), attribute.strip()
