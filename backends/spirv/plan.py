"""Which functions of a program become functions of the module, and what is known of their arrays before they are written.

Vulkan has no pointers to pass, so a method with array parameters becomes one function for each set of arrays that it is
called with; calls that pass the same arrays share it. From all accesses together follows how each array is declared.
"""

from __future__ import annotations

from cajeta_dot.backends.spirv.interface import Memory, list_buffers
from cajeta_dot.ir import Value, values_in, walk
from cajeta_dot.passes.alignment import find_trailing_zeros
from cajeta_dot.passes.inline import find_waiting
from cajeta_dot.types import Array, Scalar, lanes_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.ir import Function, Program


class Instance:
    """One function of the module: a method, and what its array parameters and shared arrays are in memory.

    `callees` leads from its calls to what they call. `zeros` are the known trailing zero bits of its integers. `id` and
    `globals` (the global variables that it and its callees use) are set when it is written.
    """

    def __init__(self, function: Function, arrays: dict[Value, Memory], kernel: Function | None = None):
        self.function, self.arrays, self.kernel = function, arrays, kernel
        self.callees: dict[Value, Instance] = {}
        self.zeros: dict[Value, int] = {}
        self.id = ""
        self.globals: dict[str, None] = {}

    def memory_of(self, value: Value) -> Memory:
        """What a load, store or length is about."""
        return self.arrays[value.args[0]]

    def calls(self) -> list[Value]:
        return [item for item in values_in(self.function.body) if item.op == "call"]

    def stores_whole_words(self, store: Value) -> bool:
        """Is a store known to change no part of a word only, if elements share words?"""
        each = self.memory_of(store).each
        return lanes_of(store.args[2].type) % each == 0 and 1 << self.zeros.get(store.args[1], 0) >= each


def plan(program: Program, narrow_memory: bool) -> list[Instance]:
    """The instances of a program that all kernels need, callees before their callers."""
    place = {function: at for at, function in enumerate(program.functions)}
    kernels = [Instance(f, list_buffers(f) | _list_shared(f), f) for f in program.functions if f.kind == "kernel"]
    instances = _find_instances(kernels)
    instances.sort(key=lambda instance: place[instance.function])
    _prove_multiples(instances)
    for instance in instances:
        _study_stores(instance, narrow_memory)
    waiting = find_waiting(program)
    for kernel in kernels:
        for memory in kernel.arrays.values():
            memory.exchanged = kernel.function in waiting
    return instances


def reachable(program: Program) -> list[Function]:
    """Kernels and everything that they call, in the order of the program."""
    found = {function for function in program.functions if function.kind == "kernel"}
    for function in reversed(program.functions):  # callers before their callees
        if function in found:
            found.update(item.attr for item in values_in(function.body) if item.op == "call")
    return [function for function in program.functions if function in found]


def _find_instances(kernels: list[Instance]) -> list[Instance]:
    known: dict[tuple[Function, tuple[Memory, ...]], Instance] = {}
    work = list(kernels)
    for caller in work:  # grows while it is read
        for call in caller.calls():
            passed = [caller.arrays[arg] for arg in call.args if isinstance(arg.type, Array)]
            callee: Function = call.attr
            key = (callee, tuple(passed))
            if key not in known:
                params = [param for param in callee.params if isinstance(param.type, Array)]
                known[key] = Instance(callee, dict(zip(params, passed, strict=True)), caller.kernel if passed else None)
                work.append(known[key])
            caller.callees[call] = known[key]
    return work


def _prove_multiples(instances: list[Instance]) -> None:
    """A parameter is a multiple of what it is a multiple of in every call."""
    given: dict[Function, dict[Value, int]] = {}
    facts: dict[Function, dict[Value, int]] = {}
    for instance in reversed(instances):
        function = instance.function
        if function not in facts:
            facts[function] = find_trailing_zeros(function, given.get(function, {}))
            for call in instance.calls():
                known = given.setdefault(call.attr, {p: p.type.bits for p in call.attr.params if isinstance(p.type, Scalar)})
                for param, arg in zip(call.attr.params, call.args, strict=True):
                    if param in known:
                        known[param] = min(known[param], facts[function].get(arg, 0))
        instance.zeros = facts[function]


def _list_shared(kernel: Function) -> dict[Value, Memory]:
    """The shared arrays of a kernel; a name stands for one array, wherever it is."""
    named: dict[str, Memory] = {}
    found: dict[Value, Memory] = {}
    for item in walk(kernel.body):
        if isinstance(item, Value) and item.op == "shared" and isinstance(item.type, Array):
            found[item] = named.setdefault(item.attr, Memory(item.attr, item.type.element, count=item.type.length))
    return found


def _study_stores(instance: Instance, narrow_memory: bool) -> None:
    for item in walk(instance.function.body):
        if isinstance(item, Value) and item.op == "store":
            memory = instance.memory_of(item)
            memory.written = True
            if not instance.stores_whole_words(item):
                narrow = narrow_memory or memory.is_shared
                memory.narrow, memory.merged = memory.narrow or narrow, memory.merged or not narrow
