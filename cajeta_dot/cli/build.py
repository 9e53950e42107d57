"""`cajetac build`: which outputs there are and where they go, then all of them, or none after an error."""

from __future__ import annotations

import os

from ..diagnostics.rules import EMIT_CONTRADICTION, OUTPUT_NOT_A_DIRECTORY, USAGE
from ..driver import NATIVE, all_targets, parse
from ..record import record, replace
from .commands import check as check_inputs
from .dependencies import KIND as RULES_KIND
from .dependencies import place_rules, write_rules
from .files import STREAM, make_folder, print_output, write_whole
from .messages import Refusal
from .tree import print_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..diagnostics import Reporter
    from ..ir import Program
    from .session import Session, Target

# Kind -> extension. Those of the compiler itself come first: they need no target.
FRONT_KINDS = {"ast": ".ast", "ir": ".ir", RULES_KIND: ".d"}
EXTENSIONS = {
    **FRONT_KINDS,
    "llvm-ir": ".ll",
    "asm": ".s",
    "obj": ".o",
    "header": ".h",
    "ptx": ".ptx",
    "spirv-asm": ".spvasm",
    "spirv": ".spv",
    "reflect": ".json",
}
BINARY_KINDS = ("obj", "spirv")
ASSEMBLY = "assembly"  # what -S asks for: the first of these that the target has
ASSEMBLY_KINDS = ("asm", "ptx", "spirv-asm")


@record
class Output:
    """One thing to write: of which input, by which target (None for the compiler's own kinds), what, where."""

    file: str
    target: Target | None
    kind: str
    path: str


def build(session: Session) -> None:
    """Raises Refusal for what can't be asked for; errors of the source are shown. With --diff that is the output."""
    outputs = plan_outputs(session)
    rules_path = place_rules(session, outputs)
    _check_paths(session, outputs, rules_path)
    rules = [(rules_path, write_rules(session, outputs))] if rules_path else []
    if session.arguments.get("rules") == "only":
        _write_all(session, rules)
        return
    if session.arguments.get("diff"):
        check_inputs(session)
        return
    if session.arguments.get("fix"):
        from .fix import fix_inputs

        fix_inputs(session)
    files = list(dict.fromkeys(output.file for output in outputs))
    finished = _make_trees(session, files, [output for output in outputs if output.kind == "ast"])
    finished += [(output.path, write_rules(session, outputs, output.file)) for output in outputs if output.kind == RULES_KIND]
    others = [output for output in outputs if output.kind not in ("ast", RULES_KIND)]
    for file, reporter, program in session.check(files) if others else ():
        finished += _make_all(session, program, reporter, [output for output in others if output.file == file])
        session.show(reporter.in_order())
    if not session.messages.errors:
        _write_all(session, finished + rules)


def _write_all(session: Session, finished: Sequence[tuple[str, str | bytes]]) -> None:
    if _is_folder(session.arguments.get("output", "")):
        make_folder(session.arguments.get("output"))
    for path, content in finished:
        if isinstance(content, str) and not content.endswith("\n"):
            content += "\n"
        if path == STREAM:
            print_output(content)
        else:
            write_whole(path, content)


def plan_outputs(session: Session) -> list[Output]:
    """Every output, with kinds and paths that fit each other. Raises Refusal where they don't."""
    files = session.need_files()
    place: str = session.arguments.get("output", "")
    asked: list[str] = list(dict.fromkeys(session.arguments.get("emit", "").split(",")))
    named = _kind_of_path(place) if not _is_folder(place) else ""
    if asked == [""] and named:
        asked = [named]
    targets = [] if all(kind in FRONT_KINDS for kind in asked) else session.resolve_targets()
    wanted: list[tuple[Target | None, str]] = [(None, kind) for kind in asked if kind in FRONT_KINDS]
    wanted += _pair_with_kinds(targets, [kind for kind in asked if kind not in FRONT_KINDS])
    count = len(files) * len(wanted)
    if (count > 1 or len(targets) > 1) and not _is_folder(place):
        what = f"`{place}` is not a folder, and" if place else "there are several outputs, but no folder for them:"
        many = f"{count} outputs" if count > 1 else f"{len(targets)} targets"
        raise Refusal(OUTPUT_NOT_A_DIRECTORY, f"{what} {many} need one", "`-o NAME/` makes one")
    if named and wanted[0][1] != named:
        raise Refusal(EMIT_CONTRADICTION, f"`{place}` is named like `{named}`, but `{wanted[0][1]}` goes into it")
    return [
        Output(file, target, kind, _name_output(session, file, target if _is_one_of(target, targets) else None, kind, place))
        for file in files
        for target, kind in wanted
    ]


def _pair_with_kinds(targets: Sequence[Target], asked: Sequence[str]) -> list[tuple[Target, str]]:
    """Which target makes what. Of several targets and several kinds, each makes those that it can. Raises Refusal.

    Targets of one backend that can be joined are one, whose name has commas between theirs.
    """
    pairs = [(target, kind) for kind in asked for target in targets]
    if len(targets) > 1 and len(asked) > 1:
        pairs = [(target, kind) for target, kind in pairs if kind in target[1].kinds]
        lost = [kind for kind in asked if not any(kind == made for _, made in pairs)]
        idle = [target for target in targets if not any(target is maker for maker, _ in pairs)]
        pairs += [(targets[0], kind) for kind in lost] + [(target, asked[0]) for target in idle]  # which is refused
    chosen = [(target, _choose_kind(target, kind)) for target, kind in pairs]
    joined: dict[tuple[str, str], Target] = {}
    made: list[tuple[Target, str]] = []
    for target, kind in chosen:
        backend, info = target
        if kind not in info.joins:
            made.append((target, kind))
            continue
        earlier = joined.get((backend.name, kind))
        name = f"{earlier[1].name},{info.name}" if earlier else info.name
        joined[backend.name, kind] = backend, replace(info, name=name)
    return made + [(target, kind) for (_, kind), target in joined.items()]


def _kind_of_path(path: str) -> str:
    extension = os.path.splitext(path)[1]
    return next((kind for kind, known in EXTENSIONS.items() if known == extension), "")


def _is_folder(path: str) -> bool:
    return path.endswith(("/", os.sep)) or os.path.isdir(path)


def _choose_kind(target: Target, asked: str) -> str:
    """The kind that the target makes for what was asked; empty is its default. Raises Refusal."""
    info = target[1]
    if not asked and info.kinds:
        return info.kinds[0]
    kind = next((k for k in ASSEMBLY_KINDS if k in info.kinds), ASSEMBLY) if asked == ASSEMBLY else asked
    if kind in info.kinds:
        return kind
    if kind and kind not in (*EXTENSIONS, ASSEMBLY):
        raise Refusal(USAGE, f"no output kind `{kind}`", f"`{info.name}` emits {', '.join(info.kinds)}")
    others = sorted((other.name for _, other in all_targets() if kind in other.kinds), key=lambda name: name != NATIVE)
    offer = f"`--target {others[0]}` emits it" if others else f"`{info.name}` emits {', '.join(info.kinds) or 'nothing'}"
    raise Refusal(EMIT_CONTRADICTION, f"target `{info.name}` does not emit `{kind or 'anything'}`", offer)


def _is_one_of(target: Target | None, targets: Sequence[Target]) -> bool:
    """Is it one target of several, and not all of a backend's together?"""
    return target is not None and len(targets) > 1 and "," not in target[1].name


def _name_output(session: Session, file: str, target: Target | None, kind: str, place: str) -> str:
    """Where an output goes; `target` becomes part of its name if there are several."""
    if not place:
        if kind in BINARY_KINDS:
            raise Refusal(USAGE, f"`{kind}` is binary; say where it goes", "`-o PATH`, or `-o -` for stdout")
        return STREAM
    if not _is_folder(place):
        return place
    name = session.arguments.get("stdin_name", "stdin") if file == STREAM else file
    stem = os.path.splitext(os.path.basename(name))[0]
    suffix = f"_{target[1].name}" if target else ""
    return os.path.join(place, f"{stem}{suffix}{EXTENSIONS.get(kind, '.' + kind)}")


def _check_paths(session: Session, outputs: Sequence[Output], rules_path: str) -> None:
    """No output takes the place of an input or of another output, and the rules for make take none."""
    paths = [output.path for output in outputs]
    session.refuse_overwriting(filter(None, [*paths, rules_path]))
    seen: dict[str, str] = {}
    for output in outputs:
        if output.path == STREAM:
            continue
        path = os.path.realpath(output.path)
        if path in seen:
            raise Refusal(USAGE, f"`{seen[path]}` and `{output.file}` would both be written to `{output.path}`")
        seen[path] = output.file
    if rules_path != STREAM and rules_path and os.path.realpath(rules_path) in seen:
        raise Refusal(USAGE, f"an output and the rules for make would both be written to `{rules_path}`")


def _make_trees(session: Session, files: Sequence[str], outputs: Sequence[Output]) -> list[tuple[str, str | bytes]]:
    """Path and content of what shows how the inputs were parsed."""
    made: list[tuple[str, str | bytes]] = []
    for file in files if outputs else ():
        source, reporter = session.read(file)
        unit = parse(source, reporter)
        made += [(output.path, print_tree(unit)) for output in outputs if unit and output.file == file]
        session.show(reporter.in_order())
    return made


def _make_all(
    session: Session, program: Program | None, reporter: Reporter, outputs: Sequence[Output]
) -> list[tuple[str, str | bytes]]:
    """Path and content of every output of one input; those that an error prevents are missing."""
    made: list[tuple[str, str | bytes]] = []
    for output in outputs if program else ():
        assert program
        content: str | bytes | None
        if output.target and not session.fits(program, output.target):
            session.messages.tell(f"`{output.file}` has no kernel, so there is no output of it for `{output.target[1].name}`")
            continue
        if output.target:
            content = session.emit(program, output.target, output.kind, reporter)
        else:
            from ..passes.print import print_program

            content = print_program(program)
        if content is not None:
            made.append((output.path, content))
    return made
