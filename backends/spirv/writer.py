"""One function of the program as one function of the module: its statements, its memory and its calls.

Expressions are SSA, locals are variables of the function, statements map to SPIR-V's structured control flow one to one
(specification section 2.11). What computes is in `vectors`.
"""

from __future__ import annotations

from cajeta_dot.backends.spirv.code import Code
from cajeta_dot.backends.spirv.dots import emit_dot
from cajeta_dot.backends.spirv.half import from_half
from cajeta_dot.backends.spirv.interface import lay_out
from cajeta_dot.backends.spirv.lanes import normalise, shape_of, word_of
from cajeta_dot.backends.spirv.memory import emit_load, emit_store
from cajeta_dot.backends.spirv.module import quote
from cajeta_dot.backends.spirv.vectors import OPERATIONS
from cajeta_dot.ir import Barrier, Break, Continue, If, Loop, Return, Value
from cajeta_dot.types import BOOLEAN, VOID, Array, Scalar, element_of, lanes_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cajeta_dot.backends.spirv.lanes import Registers
    from cajeta_dot.backends.spirv.module import Module
    from cajeta_dot.backends.spirv.plan import Instance
    from cajeta_dot.ir import Block, Function, Slot
    from cajeta_dot.source import Source
    from cajeta_dot.types import Type

# What a coordinate is read from; the size of a workgroup is fixed when compiling.
BUILT_INS = {"global": "GlobalInvocationId", "local": "LocalInvocationId", "group": "WorkgroupId"}
_DEVICE, _WORKGROUP = 1, 2  # scopes
_BARRIER_SEMANTICS = 8 | 64 | 256  # AcquireRelease, UniformMemory (which storage buffers belong to), WorkgroupMemory


class Surroundings:
    """What all functions of a module share: options, built-in variables, the text for line numbers.

    `push_blocks` leads from each kernel to the variable of its push constants. With `checks`, accesses are guarded. `watch`
    is the variable that counts running loops, or empty.
    """

    def __init__(self, block: tuple[int, int, int], int_dot: bool, checks: bool, lines: Source | None):
        self.block, self.int_dot, self.checks, self.lines = block, int_dot, checks, lines
        self.built_ins: dict[str, str] = {}
        self.push_blocks: dict[Function | None, str] = {}
        self.file = self.watch = ""


class FunctionWriter:
    """Writes one instance. `values` and `slots` are the registers of values and the variables of locals so far."""

    def __init__(self, module: Module, instance: Instance, surroundings: Surroundings):
        self.module, self.instance, self.surroundings = module, instance, surroundings
        self.function = instance.function
        self.code = Code(module, contract=self.function.fast_math)
        self.values: dict[Value, Registers] = {}
        self.slots: dict[Slot, tuple[str, ...]] = {}
        self.scratch: dict[str, list[str]] = {}
        self.loops: list[tuple[str, str]] = []  # where break and continue go
        self.line = (0, 0)

    def write(self) -> None:
        """Appends the function to the module; the instance gets its id and the globals it uses."""
        function, instance, code = self.function, self.instance, self.code
        instance.id = self.module.identify(function.symbol)
        self.module.names.append(f"OpName {instance.id} {quote(function.name)}")
        for slot in function.slots:
            word, count = shape_of(slot.type)
            self.slots[slot] = tuple(code.local(word, slot.name) for _ in range(count))
        result = self._composite(function.result)
        if function.kind == "kernel":
            params: list[tuple[str, str]] = []
            self._load_push_constants()
        else:
            params = self._take_parameters()
        falls_through = self._block(function.body)
        if falls_through and function.result == VOID:
            code.do("OpReturn")
        elif falls_through:
            code.do("OpUnreachable")
        signature = self.module.function_type(result, [type for _, type in params])
        self.module.functions += [
            f"{instance.id} = OpFunction {result} None {signature}",
            *(f"{param} = OpFunctionParameter {type}" for param, type in params),
            f"{self.module.identify('entry')} = OpLabel",
            *code.variables,
            *code.lines,
            "OpFunctionEnd",
        ]

    # ---- parameters and composites

    def _composite(self, type: Type) -> str:
        """The type in which a value of that type is passed."""
        if type == VOID:
            return self.module.scalar("void")
        word, count = shape_of(type)
        return self.module.scalar(word) if count == 1 else self.module.array(word, count)

    def _compose(self, type: Type, registers: Registers) -> str:
        if len(registers) == 1:
            return registers[0]
        return self.code.typed("OpCompositeConstruct", self._composite(type), *registers)

    def _decompose(self, type: Type, composite: str) -> Registers:
        word, count = shape_of(type)
        if count == 1:
            return (composite,)
        return tuple(self.code.op("OpCompositeExtract", word, composite, str(place)) for place in range(count))

    def _take_parameters(self) -> list[tuple[str, str]]:
        """Parameters of a helper, its arrays left out: ids and types."""
        taken: list[tuple[str, str]] = []
        for param in self.function.params:
            if not isinstance(param.type, Array):
                result, type = self.module.name(param.attr), self._composite(param.type)
                self.module.type_of[result] = type
                self.values[param] = self._decompose(param.type, result)
                taken.append((result, type))
        return taken

    def _load_push_constants(self) -> None:
        for place, member in enumerate(lay_out(self.function)):
            if isinstance(member.param.type, Scalar):
                loaded = self._load_push_constant(place, member.word)
                self.values[member.param] = (self._read_push_constant(member.param.type, loaded),)

    def _load_push_constant(self, place: int, word: str) -> str:
        block = self.surroundings.push_blocks[self.instance.kernel]
        return self.code.fetch("PushConstant", word, self._use(block), self.code.uint(place))

    def _read_push_constant(self, type: Scalar, loaded: str) -> str:
        """A register of what the caller has put there."""
        if type == BOOLEAN:
            return self.code.op("OpINotEqual", "bool", loaded, self.code.uint(0))
        if type.is_float:
            return from_half(self.code, loaded) if type.bits == 16 else loaded
        return normalise(self.code, type, loaded)

    def _use(self, variable: str) -> str:
        self.instance.globals[variable] = None
        return variable

    # ---- statements

    def _block(self, block: Block) -> bool:
        """Writes a block; does it go on behind its end, as far as SPIR-V can tell?

        A merge block that nothing branches to is written like any other: it is part of the structure, and ending it in
        OpUnreachable is not allowed inside a loop's continue construct (specification 2.11.1).
        """
        for item in block:
            match item:
                case Value():
                    self._mark_line(item)
                    self.values[item] = self._value(item)
                case Barrier():
                    scope = self.code.uint(_WORKGROUP)
                    self.code.do("OpControlBarrier", scope, scope, self.code.uint(_BARRIER_SEMANTICS))
                case If():
                    self._if(item)
                case Loop():
                    self._loop(item)
                case Break():
                    self._watch(-1)
                    self.code.do("OpBranch", self.loops[-1][0])
                    return False
                case Continue():
                    self.code.do("OpBranch", self.loops[-1][1])
                    return False
                case Return():
                    self._watch(-len(self.loops))
                    self._return(item.value)
                    return False
        return True

    def _arm(self, label: str, block: Block, behind: str) -> None:
        """A labelled block that goes on at `behind` if it does not jump."""
        self._label(label)
        if self._block(block):
            self.code.do("OpBranch", behind)

    def _if(self, item: If) -> None:
        then, merge = self.module.identify("then"), self.module.identify("merge")
        otherwise = self.module.identify("else") if item.otherwise else merge
        self.code.do("OpSelectionMerge", merge, "None")
        self.code.do("OpBranchConditional", self._register(item.condition), then, otherwise)
        self._arm(then, item.then, merge)
        if item.otherwise:
            self._arm(otherwise, item.otherwise, merge)
        self._label(merge)

    def _loop(self, item: Loop) -> None:
        words = ("loop", "test", "body", "continue", "exit")
        head, test, body, update, exit = (self.module.identify(word) for word in words)
        self._watch(1)
        self.code.do("OpBranch", head)
        self._label(head)
        self.code.do("OpLoopMerge", exit, update, "None")
        self.code.do("OpBranch", test)
        self._label(test)
        self._block(item.test)
        self._enter_or_leave(item.condition, body, exit)
        self.loops.append((exit, update))
        self._arm(body, item.body, update)
        self.loops.pop()
        self._label(update)
        self._block(item.update)
        if item.again is None:
            self.code.do("OpBranch", head)
        else:  # nothing but the branch back may leave the loop from here
            again = self._register(item.again)
            self._watch(-1, unless=again)
            self.code.do("OpBranchConditional", again, head, exit)
        self._label(exit)

    def _enter_or_leave(self, condition: Value | None, body: str, exit: str) -> None:
        if condition is None:
            self.code.do("OpBranch", body)
        elif not self.surroundings.watch:
            self.code.do("OpBranchConditional", self._register(condition), body, exit)
        else:
            leave, stay = self.module.identify("leave"), self.module.identify("stay")
            self.code.do("OpSelectionMerge", stay, "None")
            self.code.do("OpBranchConditional", self._register(condition), stay, leave)
            self._label(leave)
            self._watch(-1)
            self.code.do("OpBranch", exit)
            self._label(stay)
            self.code.do("OpBranch", body)

    def _watch(self, loops: int, unless: str = "") -> None:
        """So many more loops are running, modulo 2^32, if that is counted; none more where a condition holds."""
        code, variable = self.code, self.surroundings.watch
        if not variable or not loops:
            return
        more = code.uint(loops % (1 << 32))
        if unless:
            more = code.select(unless, code.uint(0), more)
        counter = code.access("StorageBuffer", "uint", self._use(variable), code.uint(0), code.uint(0))
        code.op("OpAtomicIAdd", "uint", counter, code.uint(_DEVICE), code.uint(0), more)

    def _label(self, name: str) -> None:
        self.code.label(name)
        self.line = (0, 0)  # a line counts to the end of its block

    def _return(self, value: Value | None) -> None:
        if value is None:
            self.code.do("OpReturn")
        else:
            self.code.do("OpReturnValue", self._compose(value.type, self.values[value]))

    def _mark_line(self, value: Value) -> None:
        source = self.surroundings.lines
        if source is not None and value.end and value.op != "const":  # constants are no instructions
            name, *place = source.place(value.start)
            line = (place[0], place[1])
            if line != self.line and name == source.name:
                self.line = line
                self.code.do("OpLine", self.surroundings.file, str(line[0]), str(line[1]))

    # ---- values

    def _register(self, value: Value) -> str:
        """Of a scalar."""
        return self.values[value][0]

    def _value(self, value: Value) -> Registers:
        if value.op in _CONTEXT:
            return _CONTEXT[value.op](self, value)
        return OPERATIONS[value.op](self.code, value, [self.values[arg] for arg in value.args])

    def _index(self, value: Value) -> str:
        """An element index as a `uint`."""
        register = self._register(value)
        if element_of(value.type).bits == 64:
            return self.code.op("OpUConvert", "uint", register)
        return self.code.cast(register, "uint")

    def load(self, value: Value) -> Registers:
        self._use(self.instance.memory_of(value).variable)
        index = self._index(value.args[1])
        if not self.surroundings.checks:
            return emit_load(self.code, self.instance, value, index)
        word, count = shape_of(value.type)
        kept = self._take_scratch(word, count)
        for variable in kept:
            self.code.do("OpStore", variable, self.code.zero(word))
        merge = self._enter_guard(value, index, lanes_of(value.type))
        for variable, register in zip(kept, emit_load(self.code, self.instance, value, index), strict=True):
            self.code.do("OpStore", variable, register)
        self._leave_guard(merge)
        return tuple(self.code.op("OpLoad", word, variable) for variable in kept)

    def store(self, value: Value) -> Registers:
        self._use(self.instance.memory_of(value).variable)
        index, content = self._index(value.args[1]), self.values[value.args[2]]
        if not self.surroundings.checks:
            emit_store(self.code, self.instance, value, index, content)
            return ()
        merge = self._enter_guard(value, index, lanes_of(value.args[2].type))
        emit_store(self.code, self.instance, value, index, content)
        self._leave_guard(merge)
        return ()

    def _enter_guard(self, value: Value, index: str, lanes: int) -> str:
        """What follows happens only if the access lies within its array. The block behind."""
        code, length = self.code, self._length(value)
        last = code.op("OpISub", "uint", length, code.uint(lanes))  # wraps if the array is shorter: then the second asks
        inside = code.op("OpULessThanEqual", "bool", index, last)
        inside = code.op("OpLogicalAnd", "bool", inside, code.op("OpUGreaterThanEqual", "bool", length, code.uint(lanes)))
        element = element_of(value.args[1].type)
        if element.bits == 64:
            whole, limit = self._register(value.args[1]), self.module.integer("ulong", 1 << 32)
            small = code.op("OpULessThan", "bool", code.cast(whole, "ulong"), limit)
            inside = code.op("OpLogicalAnd", "bool", inside, small)
        label, merge = self.module.identify("inside"), self.module.identify("merge")
        code.do("OpSelectionMerge", merge, "None")
        code.do("OpBranchConditional", inside, label, merge)
        self._label(label)
        return merge

    def _leave_guard(self, merge: str) -> None:
        self.code.do("OpBranch", merge)
        self._label(merge)

    def _take_scratch(self, word: str, count: int) -> list[str]:
        """Variables for what is needed at once only."""
        known = self.scratch.setdefault(word, [])
        known += [self.code.local(word, "") for _ in range(count - len(known))]
        return known[:count]

    def length(self, value: Value) -> Registers:
        length = self._length(value)
        return (self.code.cast(self.code.op("OpUConvert", "ulong", length), "long"),)

    def _length(self, value: Value) -> str:
        """The elements of an array, as a `uint`."""
        memory = self.instance.memory_of(value)
        return self.code.uint(memory.count) if memory.count is not None else self._load_push_constant(memory.length, "uint")

    def shared(self, value: Value) -> Registers:
        """Accesses go to the variable of the array; the array itself is in no register."""
        return ()

    def get(self, value: Value) -> Registers:
        word, _ = shape_of(value.type)
        return tuple(self.code.op("OpLoad", word, variable) for variable in self.slots[value.attr])

    def set(self, value: Value) -> Registers:
        for variable, register in zip(self.slots[value.attr], self.values[value.args[0]], strict=True):
            self.code.do("OpStore", variable, register)
        return ()

    def call(self, value: Value) -> Registers:
        callee = self.instance.callees[value]
        self.instance.globals.update(callee.globals)
        passed = [arg for arg in value.args if not isinstance(arg.type, Array)]
        arguments = [self._compose(arg.type, self.values[arg]) for arg in passed]
        result = self.code.typed("OpFunctionCall", self._composite(value.type), callee.id, *arguments)
        return () if value.type == VOID else self._decompose(value.type, result)

    def coordinate(self, value: Value) -> Registers:
        what, axis = value.attr.split(".")
        place = "xyz".index(axis)
        if what == "size":
            return (self.code.uint(self.surroundings.block[place]),)
        variable = self._use(self._built_in(BUILT_INS[what]))
        return (self.code.fetch("Input", word_of(element_of(value.type)), variable, self.code.uint(place)),)

    def _built_in(self, name: str) -> str:
        known = self.surroundings.built_ins
        if name not in known:
            type = self.module.vector("uint", 3)
            known[name] = self.module.variable("Input", type, name, [f"BuiltIn {name}"])
        return known[name]

    def dot(self, value: Value) -> Registers:
        return emit_dot(self.code, value, [self.values[arg] for arg in value.args], self.surroundings.int_dot)


# Opcodes that need more than their operands.
_CONTEXT: dict[str, Callable[[FunctionWriter, Value], Registers]] = {
    "load": FunctionWriter.load,
    "store": FunctionWriter.store,
    "length": FunctionWriter.length,
    "shared": FunctionWriter.shared,
    "get": FunctionWriter.get,
    "set": FunctionWriter.set,
    "call": FunctionWriter.call,
    "coordinate": FunctionWriter.coordinate,
    "dot": FunctionWriter.dot,
}
