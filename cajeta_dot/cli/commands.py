"""The verbs that only look: check, explain, targets, host, kernels and choices. Answers go to stdout, diagnostics to stderr."""

from __future__ import annotations

from ..diagnostics import nearest
from ..diagnostics.rules import USAGE
from ..driver import NATIVE, all_targets, emit
from ..record import fields_of
from .files import print_output
from .messages import Refusal
from .session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from cajeta_dot.backends import Backend, Choice, HostInfo, TargetInfo

    from ..ir import Function
    from ..source import Source

NAMES_A_LINE = 10  # of a long list


def check(session: Session) -> None:
    """Every input, and what each target that was named has to say about it."""
    files = session.need_files()
    targets = session.resolve_targets(default=None)
    if session.arguments.get("fix") or session.arguments.get("diff"):
        from .fix import fix_inputs

        fix_inputs(session)
    for _, reporter, program in session.check(files):
        for target in targets:
            if program and target[1].kinds and session.fits(program, target):
                session.emit(program, target, target[1].kinds[0], reporter)
        session.show(reporter.in_order())


def explain(session: Session) -> None:
    """The page of a rule, found by code or name."""
    from ..diagnostics.pages import read_page
    from ..diagnostics.rules import BY_NAME, RULES

    words = session.arguments.words
    if len(words) != 1:
        raise Refusal(USAGE, "`cajetac explain` takes one code", "for example `cajetac explain E0402`")
    rule = RULES.get(words[0].upper()) or BY_NAME.get(words[0])
    if rule is None:
        near = nearest(words[0].upper(), RULES) or nearest(words[0], BY_NAME)
        raise Refusal(USAGE, f"no diagnostic `{words[0]}`", f"did you mean `{near}`?" if near else "")
    print_output(read_page(rule))


def list_targets(session: Session) -> None:
    """What --target takes; of one target, all that there is to know."""
    words = session.arguments.words
    if len(words) > 1:
        raise Refusal(USAGE, f"`cajetac targets` takes one name at most, found {len(words)}")
    if words:
        described = [_describe_target(*session.resolve_target(words[0]))]
        session.answer(_write_target(described[0]), described)
        return
    try:
        found = all_targets()
    except RuntimeError as error:  # no backend is installed
        raise Refusal(USAGE, str(error)) from error
    described = [_describe_target(backend, info) for backend, info in found]
    rows = [(", ".join((t["name"], *t["aliases"])), _tell_use(t), ",".join(t["kinds"]), t["summary"]) for t in described]
    session.answer(write_table(("target", "here", "emits", ""), rows), described)


def _write_target(target: dict[str, Any]) -> str:
    """One thing a line; long lists go on in lines of their own."""
    options = (("-mcpu", target["cpus"]), ("--gpu-arch", target["architectures"]), ("-mattr", target["features"]))
    rows = [
        ("target", ", ".join((target["name"], *target["aliases"]))),
        ("", target["summary"]),
        ("here", _tell_use(target)),
        ("emits", ", ".join(target["kinds"])),
        ("dot", target["dot"]),
    ]
    for option, names in options:
        for at in range(0, len(names), NAMES_A_LINE):
            rows.append((option if at == 0 else "", " ".join(names[at : at + NAMES_A_LINE])))
    return "".join(f"{left:<12}{right}\n" for left, right in rows if right)


def _describe_target(backend: Backend, info: TargetInfo) -> dict[str, Any]:
    missing = backend.missing(info.name) if info.runs else ""
    names = {"name": info.name, "aliases": list(info.aliases), "summary": info.summary, "kinds": list(info.kinds)}
    runs = {"runs": info.runs, "devices": list(info.devices), "missing": missing}
    options = {"cpus": list(info.cpus), "architectures": list(info.architectures), "features": list(info.features)}
    return {**names, "dot": info.dot, **runs, "backend": backend.name, **options}


def _tell_use(target: dict[str, Any]) -> str:
    if not target["runs"]:
        return f"--device {target['devices'][0]}" if target["devices"] else "emits only"
    return f"needs {target['missing']}" if target["missing"] else "runs"


def write_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() + "\n" for line in lines
    )


def tell_host(session: Session) -> None:
    """This processor, and what `native` stands for on it."""
    if session.arguments.words:
        raise Refusal(USAGE, f"`--print-host` takes no file, found `{session.arguments.words[0]}`")
    backend: Any = session.resolve_target(NATIVE)[0]  # a HostBackend
    host: HostInfo = backend.describe_host()
    rows = [
        ("processor", f"{host.name} ({host.architecture})"),
        ("features", " ".join(host.features) or "none that a target asks for"),
        ("native", f"{host.target}: {host.why}"),
    ]
    session.answer(
        "".join(f"{left:<12}{right}\n" for left, right in rows), {n: getattr(host, n) for n in fields_of(type(host))}
    )


def list_kernels(session: Session) -> None:
    """What can be called in the inputs, with arguments and types."""
    described: list[dict[str, Any]] = []
    lines: list[str] = []
    for _, reporter, program in session.check(session.need_files()):
        for function in program.entries if program else ():
            assert program
            name, line, _ = program.source.place(function.start)
            place = {"file": name, "line": line}
            described.append({**place, **_describe_function(function)})
            lines.append(f"{function.kind} {function.signature}\n")
        session.show(reporter.in_order())
    if not session.messages.errors:
        session.answer("".join(lines), described)


def _describe_function(function: Function) -> dict[str, Any]:
    parameters = [{"name": param.attr, "type": str(param.type)} for param in function.params]
    return {"kind": function.kind, "name": function.name, "parameters": parameters, "result": str(function.result)}


def list_choices(session: Session) -> None:
    """What every operation of the inputs becomes on the targets, and why."""
    described: list[dict[str, Any]] = []
    files = session.need_files()
    targets = session.resolve_targets(NATIVE)
    for _, info in targets:
        if not info.kinds:
            raise Refusal(USAGE, f"target `{info.name}` makes no choices: it emits nothing")
    for _, reporter, program in session.check(files):
        for target in targets if program else ():
            assert program
            if not session.fits(program, target):
                continue
            artifact = emit(program, *target, target[1].kinds[0], session.read_options(), reporter)
            choices = artifact.choices if artifact else ()
            described += [_describe_choice(choice, target[1], program.source) for choice in choices]
        session.show(reporter.in_order())
    if not session.messages.errors:
        lines = dict.fromkeys(map(_write_choice, described))  # a method that is called twice says the same twice
        session.answer("".join(lines), described)


def _describe_choice(choice: Choice, target: TargetInfo, source: Source) -> dict[str, Any]:
    name, line, column = source.place(choice.start)
    fields = ("function", "operation", "lanes", "signs", "form", "instruction", "why", "exact")
    place = {"target": target.name, "file": name, "line": line, "column": column}
    return {**place, **{field: getattr(choice, field) for field in fields}}


def _write_choice(choice: dict[str, Any]) -> str:
    exact = "" if choice["exact"] else " (not exact)"
    signs = f", {choice['signs']}," if choice["signs"] else ""
    what = f"{choice['operation']} of {choice['lanes']} lanes{signs} on {choice['target']}"
    how = f"{choice['form']}, {choice['instruction']}{exact}"
    why = f": {choice['why']}" if choice["why"] else ""
    return f"{choice['file']}:{choice['line']}:{choice['column']}: {what}: {how}{why}\n"
