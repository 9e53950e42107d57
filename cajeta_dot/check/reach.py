"""What methods call, once all are checked: who is skipped, what kernels can't reach, in which order they are compiled.

No walk here recurses: calls may be nested as deeply as the program has methods.
"""

from __future__ import annotations

from cajeta_dot.diagnostics import Help, Label
from cajeta_dot.diagnostics import rules as r

from .barriers import MAX_IN_PLACE, count_in_place, divergent_barriers
from .method import Outside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from cajeta_dot.diagnostics import Reporter
    from cajeta_dot.ir import Function

    from .program import Method


# ---- methods outside the dialect


def skip_circles(methods: Sequence[Method], reached: set[Method], skip: Callable[[Method, Outside], None]) -> None:
    """Host methods that call each other are skipped: a method may call itself, but not yet through another one."""

    def skip_caller(caller: Method, callee: Method, place: Label) -> None:
        if callee is not caller and not caller.outside:
            skip(caller, Outside(place.start, place.end, f"`{callee.name}`, which calls it back"))

    done = dict.fromkeys(reached)
    for method in methods:
        _visit(method, done, skip_caller)


def skip_callers(methods: Sequence[Method], skip: Callable[[Method, Outside], None], reporter: Reporter) -> None:
    """A host method that calls a skipped one is skipped too; for a kernel that is an error."""
    callers: dict[Method, dict[Method, Label]] = {}
    for method in methods:
        for callee, place in method.calls:
            callers.setdefault(callee, {}).setdefault(method, place)
    work = [method for method in methods if method.outside]
    while work:
        callee = work.pop()
        for caller, place in callers.get(callee, {}).items():
            if caller.kind != "host":
                refuse_skipped(callee, place, reporter)
                caller.failed = True
            elif not caller.outside:
                skip(caller, Outside(place.start, place.end, f"`{callee.name}`, which is skipped"))
                work.append(caller)


def refuse_skipped(callee: Method, place: Label, reporter: Reporter) -> None:
    """A kernel, or a helper, calls a host method that is skipped."""
    message = f"kernels can't call `{callee.name}`, which is skipped because of {callee.outside}"
    reporter.report(r.NOT_IN_KERNELS, message, place)


# ---- what kernels reach


def find_reached(methods: Sequence[Method], reporter: Reporter) -> set[Method]:
    """Kernels, helpers and all that they call. None of these may be recursive."""

    def refuse(caller: Method, callee: Method, place: Label) -> None:
        through = "" if callee is caller else f" through `{caller.name}`"
        reporter.report(r.RECURSION, f"`{callee.name}` calls itself{through}, which kernels can't do", place)

    reached: dict[Method, None] = {}
    for method in methods:
        if method.kind != "host":
            _visit(method, reached, refuse)
    return set(reached)


def check_kernels(methods: Sequence[Method], reached: set[Method], reporter: Reporter) -> None:
    """No heap below a kernel, no barrier that some items miss; a kernel that writes nothing has no effect.

    What has a mistake of its own, or calls what has one, is not asked for more.
    """
    for method in methods:
        if method in reached and method.kind == "host":
            _refuse_heap(method, reporter)
    unclear = _add_callers((m for m in methods if m.failed or m.outside), methods)
    writers = _add_callers((m for m in methods if m.survey.writes), methods)
    waiting = {m.function for m in _add_callers((m for m in methods if m.survey.waits), methods) if m.function}
    for method in methods:
        if method.kind == "kernel" and method not in unclear:
            if method.function in waiting:
                _check_barriers(method.function, waiting, reporter)
            if method not in writers:
                name = method.node.name
                label = Label(name.start, name.end, "writes to no array argument")
                reporter.report(r.NO_EFFECT, f"kernel `{method.name}` has no effect", label)


def _refuse_heap(method: Method, reporter: Reporter) -> None:
    for item in method.survey.allocations:
        message = f"a kernel calls `{method.name}`, and a kernel can't hold a heap array"
        reporter.report(r.NOT_IN_KERNELS, message, Label(item.start, item.end))


def _check_barriers(function: Function, waiting: set[Function], reporter: Reporter) -> None:
    size = count_in_place(function, waiting)
    if size > MAX_IN_PLACE:
        message = f"helpers with barriers that add more than {MAX_IN_PLACE} operations to a kernel are not supported yet"
        reporter.report(r.NOT_SUPPORTED, message, Label(function.start, function.end, f"{size} operations"))
    for barrier, cause in divergent_barriers(function, waiting):
        reporter.report(
            r.BARRIER_NOT_UNIFORM,
            "not every work item of the workgroup is sure to reach this barrier",
            Label(barrier.start, barrier.end),
            [Label(cause.start, cause.end, "work items may part here")],
            helps=[Help("move it to where all items come by, or make the condition the same for all")],
        )


def _add_callers(start: Iterable[Method], methods: Sequence[Method]) -> set[Method]:
    """These methods and all that call them, directly or not."""
    callers: dict[Method, list[Method]] = {}
    for method in methods:
        for callee, _ in method.calls:
            callers.setdefault(callee, []).append(method)
    found = set(start)
    work = list(found)
    while work:
        for caller in callers.get(work.pop(), ()):
            if caller not in found:
                found.add(caller)
                work.append(caller)
    return found


# ---- order


def order_calls(methods: Sequence[Method]) -> list[Method]:
    """Callees before their callers, of methods that call at most themselves in a circle."""
    ordered: dict[Method, None] = {}
    for method in methods:
        _visit(method, ordered, lambda caller, callee, place: None)
    return list(ordered)


def _visit(method: Method, done: dict[Method, None], repeat: Callable[[Method, Method, Label], None]) -> None:
    """Adds a method and all that it calls, callees first; `repeat` is told of every call that leads back to a caller."""
    if method in done:
        return
    path: list[tuple[Method, Iterator[tuple[Method, Label]]]] = [(method, iter(method.calls))]
    open_ = {method}
    while path:
        caller, calls = path[-1]
        for callee, place in calls:
            if callee in open_:
                repeat(caller, callee, place)
            elif callee not in done:
                path.append((callee, iter(callee.calls)))
                open_.add(callee)
                break
        else:
            path.pop()
            open_.discard(caller)
            done[caller] = None
