"""A program as one LLVM module: what is reachable from its entries, internal functions first, then what is exported."""

from __future__ import annotations

from cajeta_dot import ir
from cajeta_dot.backends.llvm.checks import FAULT_FUNCTIONS, MEMORY, Site
from cajeta_dot.backends.llvm.dots import describe_choice
from cajeta_dot.backends.llvm.facts import (
    find_coordinates,
    find_faulting,
    find_reachable,
    find_recursive,
    find_workgroups,
    is_exported,
    is_known_lane,
)
from cajeta_dot.backends.llvm.functions import FunctionWriter
from cajeta_dot.backends.llvm.kernels import (
    ARRAY_ALIGNMENT,
    write_gpu_kernel,
    write_host_method,
    write_kernel,
    write_workgroup_kernel,
)
from cajeta_dot.backends.llvm.lines import Lines
from cajeta_dot.backends.llvm.metadata import ONE_BY_ONE, TURNS_AT_ONCE, Metadata
from cajeta_dot.backends.llvm.names import export_name, internal_name, quote
from cajeta_dot.backends.llvm.signatures import hidden_parameters, parameters, returned_type
from cajeta_dot.backends.llvm.types import size_in_memory
from cajeta_dot.backends.llvm.workgroups import WORKGROUP_FUNCTIONS, Memory, WorkgroupWriter
from cajeta_dot.backends.llvm.writer import Writer, spell_operands
from cajeta_dot.diagnostics import Label
from cajeta_dot.diagnostics import rules as r
from cajeta_dot.ir import Value, walk
from cajeta_dot.passes.effects import written_arrays
from cajeta_dot.record import record
from cajeta_dot.types import INT64, Array, Scalar, Vector, element_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from cajeta_dot.backends import Choice
    from cajeta_dot.backends.forms.forms import Form
    from cajeta_dot.backends.llvm.machine import Machine
    from cajeta_dot.diagnostics import Reporter
    from cajeta_dot.ir import Function, Program
    from cajeta_dot.passes.rows import Row


@record
class ModuleText:
    """A module, and what is needed to run it: exported names by function of the program, and the sites of faults."""

    text: str
    exports: dict[Function, str]
    sites: tuple[Site, ...]
    choices: tuple[Choice, ...]


class Module:
    """A module while it is written. What it knows of functions is the answer of one pass over the program each.

    faulting: those that return whether they faulted. recursive: those that are told how deep they are called. written:
    positions of the array parameters that may be written. coordinates: which of `facts.AXES` a function is given.
    rows: for kernels, what does the items along x at once. declarations: what is only called, name -> line. workgroups:
    kernels whose items meet or share arrays, on a CPU; memory: what each of these needs. lines: where instructions come from,
    if that is to be said.
    """

    def __init__(
        self, program: Program, machine: Machine, checks: bool, lines: bool = False, rows: Mapping[Function, Row] | None = None
    ):
        rows = rows or {}
        functions = [made for f in program.functions for made in ([rows[f].function, f] if f in rows else [f])]
        program = ir.Program(program.source, functions, program.names)
        self.program, self.machine, self.checks = program, machine, checks
        self.rows = rows
        self.vectorized = {row.loop for row in rows.values()}
        self.row_functions = made = frozenset(row.function for row in rows.values())
        needed = frozenset(find_reachable(program, machine))
        self.reachable = [function for function in program.functions if function in needed or function in made]
        self.recursive = find_recursive(program) if checks else frozenset[ir.Function]()
        self.faulting = find_faulting(program) if checks else frozenset[ir.Function]()
        self.written = written_arrays(program)
        self.workgroups = frozenset[ir.Function]() if machine.is_gpu else find_workgroups(program)
        self.coordinates = find_coordinates(program, self.workgroups, machine)
        self.internal_names = {function: _name_internal(function) for function in program.functions}
        self.exported_names = self._name_exported()
        self.metadata = Metadata()
        self.metadata.flags += map(self.metadata.add, machine.flags)
        self.lines = Lines(self.metadata, program.source if lines else None, directives_only=machine.family == "nvptx")
        self.declarations: dict[str, str] = {}
        self.globals: list[str] = []
        self.memory: dict[Function, Memory] = {}
        self.sites: list[Site] = []
        self.choices: list[Choice] = []

    def _name_exported(self) -> dict[Function, str]:
        names: dict[Function, str] = {}
        taken: set[str] = set()
        for function in self.reachable:
            if is_exported(function, self.machine):
                names[function] = export_name(function.symbol, taken, is_plain=self.machine.needs_plain_names)
                taken.add(names[function])
        return names

    # ---- what the writers of functions ask

    def can_fault(self, value: Value) -> bool:
        return self.checks and ir.can_fault(value) and not is_known_lane(value)

    def site(self, kind: str, value: Value, type: object, lanes: int = 1) -> Site:
        """A new place that can fault."""
        assert isinstance(type, Scalar)
        self.sites.append(Site(len(self.sites) + 1, kind, value.start, lanes, type))
        return self.sites[-1]

    def add_memory_site(self, kernel: Function) -> Site:
        """Where a launch finds no memory for a workgroup."""
        self.sites.append(Site(len(self.sites) + 1, MEMORY, kernel.start, 1, INT64))
        return self.sites[-1]

    def note_choice(self, value: Value, function: Function, form: Form, w_max: int, x_max: int) -> None:
        """For the user, who sees each operation of the source once."""
        if value.attr != ir.COPY:
            self.choices.append(describe_choice(value, function, self.machine, form, w_max, x_max))

    def pointer_to(self, array: Array) -> str:
        """The type of a pointer to the array's elements."""
        return f"ptr addrspace({3 if array.is_shared else 1})" if self.machine.is_gpu else "ptr"

    def add_shared(self, function: Function, value: Value) -> str:
        """An array of each workgroup, in the GPU's shared memory."""
        assert isinstance(value.type, Array)
        name = f"@{quote(internal_name(function.symbol, value.attr))}"
        size = (value.type.length or 0) * size_in_memory(value.type.element)
        whole_words = -(-size // ARRAY_ALIGNMENT) * ARRAY_ALIGNMENT  # which `addresses` may read
        line = f"{name} = internal addrspace(3) global [{whole_words} x i8] undef, align {ARRAY_ALIGNMENT}"
        if line not in self.globals:  # a copy of the operation means the same array
            self.globals.append(line)
        return name

    def note_loop(self, loop: ir.Loop) -> str:
        """What the jump back of a loop says of it: whether LLVM may do several turns at once. It is never told that it must:
        where it could not, it would say so on stderr."""
        if not self.vectorized:
            return ""
        wish = TURNS_AT_ONCE if loop in self.vectorized else ONE_BY_ONE
        return f", !llvm.loop {self.metadata.add_distinct(self.metadata.add(wish))}"

    def emit_barrier(self, writer: Writer) -> None:
        gpu = self.machine.gpu
        assert gpu, "on a CPU a kernel is cut at its barriers"
        name, operands = gpu.barrier
        self.declarations[name] = f"declare void @{name}({operands.partition(' ')[0]})"
        if gpu.fence:
            writer.do(f'fence syncscope("{gpu.fence}") release')
        writer.do(f"call void @{name}({operands})")
        if gpu.fence:
            writer.do(f'fence syncscope("{gpu.fence}") acquire')

    def write(self) -> str:
        parts = [self._write_internal(function) for function in self.reachable]
        parts += [self._write_exported(function) for function in self.exported_names]
        machine = self.machine
        helpers = [FAULT_FUNCTIONS] if self.faulting.intersection(self.reachable) or self.memory else []
        helpers += [WORKGROUP_FUNCTIONS] if self.memory else []
        return "\n".join([
            f'target datalayout = "{machine.layout}"',
            f'target triple = "{machine.triple}"',
            "",
            *self.globals,
            *sorted(self.declarations.values()),
            "",
            *("\n".join([*part, ""]) for part in parts),
            *helpers,
            f"attributes #0 = {{ {machine.attributes} }}",
            f"attributes #1 = {{ alwaysinline {machine.attributes} }}",
            f"attributes #2 = {{ noinline {machine.attributes} }}",
            "",
            *self.metadata.write(),
            "",
        ])  # fmt: skip

    def _write_internal(self, function: Function) -> list[str]:
        operands = [*parameters(self, function), *hidden_parameters(self, function)]
        if function in self.row_functions:  # called by kernels only, whose arrays do not overlap
            operands = [("ptr noalias" if type == "ptr" else type, name) for type, name in operands]
        head = f"{returned_type(self, function)} @{quote(self.internal_names[function])}({spell_operands(operands)})"
        attributes = "#1" if function.kind == "kernel" else "#2" if function in self.row_functions else "#0"
        writer = WorkgroupWriter if function in self.workgroups else FunctionWriter
        scope = self.lines.add_scope(function, self.internal_names[function])
        return [self.lines.mark_head(scope, f"define internal {head} {attributes} {{"), *writer(self, function).write(), "}"]

    def _write_exported(self, function: Function) -> list[str]:
        if function.kind != "kernel":
            write = write_host_method
        elif self.machine.is_gpu:
            write = write_gpu_kernel
        else:
            write = write_workgroup_kernel if function in self.workgroups else write_kernel
        return self.lines.cover(write(self, function), function, self.exported_names[function])


def write_module(
    program: Program, machine: Machine, checks: bool, lines: bool = False, rows: Mapping[Function, Row] | None = None
) -> ModuleText:
    """The module of a program without methods (see passes/expand.py) that `refuse` has nothing against; `rows` by kernel."""
    module = Module(program, machine, checks, lines, rows)
    text = module.write()
    return ModuleText(text, module.exported_names, tuple(module.sites), tuple(module.choices))


def refuse(program: Program, machine: Machine, reporter: Reporter) -> bool:
    """Reports what the machine can't do exactly; true if there was something."""
    found = False
    for function in find_reachable(program, machine):
        for item in walk(function.body):
            word = _lacked(item, machine)
            if word and isinstance(item, Value):
                found = True
                message = f"{word} is not supported on `{machine.target}` yet"
                reporter.report(r.NOT_ON_TARGET, message, Label(item.start, item.end))
    return found


def _lacked(item: ir.Item, machine: Machine) -> str:
    if not isinstance(item, Value) or not isinstance(item.type, (Scalar, Vector)):
        return ""
    return machine.lacks.get((item.op, element_of(item.type).kind), "")


def _name_internal(function: Function) -> str:
    return internal_name(function.symbol, "item" if function.kind == "kernel" else "body")
