"""One function of the IR as one function of LLVM: parameters, locals, control flow, calls.

Locals are stack slots in the first block; LLVM makes values of them. Parameters and results are those of `signatures`.

Statements are written without recursion, however deep they are nested: `_write` of a block is a generator that hands out the
blocks inside, and goes on when they are written.
"""

from __future__ import annotations

from cajeta_dot.backends.llvm import memory
from cajeta_dot.backends.llvm.checks import DEPTH, DIVISION, MAX_CALLS, widen_index
from cajeta_dot.backends.llvm.conversions import convert
from cajeta_dot.backends.llvm.divisions import divide, emit_division, find_special
from cajeta_dot.backends.llvm.dots import choose_form, emit_dot
from cajeta_dot.backends.llvm.lookups import describe_lookup, emit_lookup, match_lookup
from cajeta_dot.backends.llvm.names import clean, quote
from cajeta_dot.backends.llvm.operations import RULES, emit_plain
from cajeta_dot.backends.llvm.products import emit_narrow, find_registers, is_narrow
from cajeta_dot.backends.llvm.signatures import parameters, returned_type
from cajeta_dot.backends.llvm.types import spell, spell_constant
from cajeta_dot.backends.llvm.words import emit_in_words
from cajeta_dot.backends.llvm.writer import Writer, spell_operands
from cajeta_dot.ir import COMPARISONS, Barrier, Break, Continue, If, Loop, Return, Value
from cajeta_dot.ranges import Ranges
from cajeta_dot.record import record
from cajeta_dot.types import BOOLEAN, FLOAT32, FLOAT64, INT64, VOID, Array, Scalar, Vector, element_of, lanes_of, with_element

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cajeta_dot.backends.llvm.checks import Site
    from cajeta_dot.backends.llvm.modules import Module
    from cajeta_dot.backends.llvm.writer import Operand
    from cajeta_dot.ir import Block, Function, Slot
    from cajeta_dot.types import Type

    Special = Callable[["FunctionWriter", Value, Sequence[str]], str]


@record
class _Around:
    """Where `break` and `continue` of a loop lead, and how many heap arrays there were before and in its body."""

    leave: str
    proceed: str
    held_outside: int
    held_inside: int


class FunctionWriter:
    """Writes the body of one function.

    terms: what values are called; lengths: those of arrays. record: where faults are recorded. held: the heap arrays that
    must be freed, innermost last.
    """

    def __init__(self, module: Module, function: Function):
        self.module, self.function = module, function
        self.writer = Writer(module.declarations)
        self.terms: dict[Value, str] = {}
        self.lengths: dict[Value, str] = {}
        self.starts: dict[tuple[Value, int], str] = {}
        self.record = "%record"
        self.held: list[str] = []
        self._far: list[str] = []  # blocks that are hardly ever reached
        self._slots: dict[Slot, str] = {}
        self._around: list[_Around] = []
        self._ranges = Ranges(function)
        self._scope = module.lines.add_scope(function, module.internal_names[function])
        self.locate_function()

    def locate_function(self) -> None:
        """What is written from here on belongs to the function as a whole."""
        self.writer.location = self.module.lines.locate_function(self._scope, self.function)

    def _locate(self, value: Value | None) -> None:
        """What is written from here on was asked for by this value, if it has a place."""
        self.writer.location = self.module.lines.locate(self._scope, value) or self.writer.location

    def write(self) -> list[str]:
        """The lines between the braces."""
        self.enter()
        for place, slot in enumerate(self.function.slots):
            self.place_slot(place, slot)
        self.run(self.function.body)
        self.leave_function(None)
        return self.finish()

    def finish(self) -> list[str]:
        self.writer.lines += self._far
        return self.writer.text()

    def run(self, block: Block) -> None:
        """Write a block and all that is in it."""
        pending = [self._write(block)]
        while pending:
            inside = next(pending[-1], None)
            if inside is None:
                pending.pop()
            else:
                pending.append(self._write(inside))

    def enter(self) -> None:
        operands = iter(parameters(self.module, self.function))
        for param in self.function.params:
            self.terms[param] = next(operands)[1]
            if isinstance(param.type, Array):
                self.lengths[param] = next(operands)[1]

    def place_slot(self, place: int, slot: Slot) -> None:
        """A local on the stack."""
        name = f"%{clean(slot.name)}.local{place}"
        space = self.module.machine.stack_space
        self.writer.entry.append(f"{name} = alloca {spell(slot.type)}{space and f', {space}'}")
        self._slots[slot] = f"ptr {space}{space and ' '}{name}"

    def locate_slot(self, slot: Slot) -> str:
        """Where a local is, as `load` and `store` are told."""
        return self._slots[slot]

    # ---- statements

    def _write(self, block: Block, *, keep: bool = False) -> Iterator[Block]:
        """`keep`: arrays made here live on, because what follows the block may use them."""
        held = len(self.held)
        for item in block:
            match item:
                case Value():
                    self._value(item)
                case If():
                    yield from self._if(item)
                case Loop():
                    yield from self._loop(item)
                case Return():
                    self.leave_function(item.value)
                case Break() | Continue():
                    self.leave_loop(item)
                case Barrier():
                    self.module.emit_barrier(self.writer)
        if not keep:
            self._release(held)

    def _if(self, item: If) -> Iterator[Block]:
        then, otherwise, end = self.writer.new_labels("then", "else", "end")
        self._locate(item.condition)
        self.writer.branch(self.terms[item.condition], then, otherwise if item.otherwise else end)
        self.writer.begin(then)
        yield item.then
        if item.otherwise:
            self.writer.jump(end)
            self.writer.begin(otherwise)
            yield item.otherwise
        self.writer.begin(end)

    def _loop(self, item: Loop) -> Iterator[Block]:
        writer, outside = self.writer, len(self.held)
        test, body, update, leave = writer.new_labels("test", "body", "update", "leave")
        writer.begin(test)
        yield from self._write(item.test, keep=True)
        self._go_on_if(item.condition, body, leave, outside, item.rare)
        writer.begin(body)
        self._around.append(_Around(leave, update, outside, len(self.held)))
        yield item.body
        self._around.pop()
        writer.begin(update)
        yield from self._write(item.update, keep=True)
        self._release(outside)
        if item.again is None:
            writer.close(f"br label %{test}{self.module.note_loop(item)}")
        else:
            self._go_on_if(item.again, test, leave, outside)
        writer.begin(leave)

    def _go_on_if(self, condition: Value | None, onward: str, leave: str, outside: int, rare: bool = False) -> None:
        """Leave the loop unless the condition holds, and with it the arrays made since there were `outside`."""
        writer = self.writer
        self._locate(condition)
        if condition is None:
            writer.jump(onward)
        elif len(self.held) == outside:
            writer.branch(self.terms[condition], onward, leave, rare=rare)
        else:
            (done,) = writer.new_labels("done")
            writer.branch(self.terms[condition], onward, done)
            writer.begin(done)
            self._leave(outside, leave)

    @property
    def is_in_loop(self) -> bool:
        """Is there a loop around what is being written?"""
        return bool(self._around)

    def leave_loop(self, item: Break | Continue) -> None:
        """`break` or `continue`."""
        around = self._around[-1]
        if isinstance(item, Break):
            self._leave(around.held_outside, around.leave)
        else:
            self._leave(around.held_inside, around.proceed)

    def leave_function(self, value: Value | None) -> None:
        """Also at the end of the text, which a function with a result never reaches."""
        if not self.writer.is_open:
            return
        self._locate(value)
        result = self.function.result
        term = self.terms[value] if value else "" if result == VOID else _zero(result)
        if self.function in self.module.faulting and result != VOID:
            pair = returned_type(self.module, self.function)
            empty = f"{{ {spell(result)} {_zero(result)}, i1 false }}"
            term = self.writer.value(f"insertvalue {pair} {empty}, {spell(result)} {term}, 0")
        elif self.function in self.module.faulting:
            term = "false"
        self._leave(0, "", f"ret {returned_type(self.module, self.function)} {term}".rstrip())

    def _leave(self, held: int, label: str, instruction: str = "") -> None:
        """Go elsewhere, without the arrays made since there were `held`."""
        if self.writer.is_open:
            memory.free(self.writer, self.held[held:])
        self.writer.close(instruction or f"br label %{label}")

    def _release(self, held: int) -> None:
        """The end of a block: its arrays are gone."""
        if self.writer.is_open:
            memory.free(self.writer, self.held[held:])
        del self.held[held:]

    # ---- faults

    def check(self, bad: str, site: Site, value: str, other: str) -> None:
        """Go on only if `bad` is false; else record two numbers and return that it faulted.

        value: of the site's type. other: of that type too if the site is a division, else an i64.
        """

        def record() -> None:
            wide = widen_index(self.writer, site.type, value)
            also = widen_index(self.writer, site.type, other) if site.kind == DIVISION else other
            self.writer.do(f"call void @cajeta.fault(ptr {self.record}, i64 {site.number}, i64 {wide}, i64 {also})")

        self._return_if(bad, record)

    def _return_if(self, faulted: str, record: Callable[[], None] | None = None) -> None:
        """Return, far from here, that this function faulted."""
        writer = self.writer
        fault, checked = writer.new_labels("fault", "checked")
        writer.branch(faulted, fault, checked, rare=True)
        near, writer.lines = writer.lines, [f"{fault}:"]
        if record:
            record()
        self.leave_after_fault()
        self._far += writer.lines
        writer.lines = near
        writer.begin(checked)

    def leave_after_fault(self) -> None:
        """What stands at the end of a block that is reached when something faulted."""
        memory.free(self.writer, self.held)
        result = self.function.result
        if result == VOID:
            self.writer.do("ret i1 true")
        else:
            self.writer.do(f"ret {returned_type(self.module, self.function)} {{ {spell(result)} {_zero(result)}, i1 true }}")

    # ---- operations

    def _value(self, value: Value) -> None:
        self._locate(value)
        args = [self.terms[arg] for arg in value.args]
        special = _SPECIAL.get(value.op)
        term = special(self, value, args) if special else self._compute(value, args)
        if value.type != VOID:
            self.terms[value] = term

    def _compute(self, value: Value, args: Sequence[str]) -> str:
        if value.op in _IN_WIDER_FLOATS and _is_half(value.args[0].type):
            return self._compute_wider(value, args)
        in_words = self.module.machine.bytes_in_words and emit_in_words(self.writer, value, args)
        done = in_words or emit_plain(self.writer, value, args, self.function.fast_math)
        return done or RULES[value.op](self.writer, value, args)

    def _compute_wider(self, value: Value, args: Sequence[str]) -> str:
        """On float16: in float32 and rounded back, which is as exact as one rounding; for `fma` in float64."""
        wider = FLOAT64 if value.op == "fma" else FLOAT32
        operands = [Value("param", with_element(_shape(arg.type), wider)) for arg in value.args]
        terms = [self.convert(term, arg.type, wide.type) for term, arg, wide in zip(args, value.args, operands, strict=True)]
        gives_half = _is_half(value.type)
        type = with_element(_shape(value.type), wider) if gives_half else value.type
        result = self._compute(Value(value.op, type, tuple(operands)), terms)
        return self.convert(result, type, value.type) if gives_half else result

    def build(self, value: Value, args: Sequence[str]) -> str:
        """Lanes one by one, unless they are those of a table that can be looked up at once."""
        lookup = match_lookup(value)
        if lookup is not None:
            self.module.choices.append(describe_lookup(value, self.function, self.module.machine))
            table, indexes = (self.terms[operand] for operand in lookup)
            found = emit_lookup(self.writer, table, indexes, len(args), self.module.machine.forms)
            if found:
                return found
        return self._compute(value, args)

    def convert(self, term: str, old: Type, new: Type) -> str:
        return convert(self.writer, term, _shape(old), _shape(new), self.module.machine.halves)

    def sum(self, value: Value, args: Sequence[str]) -> str:
        """On float16 every step is rounded, so the lanes are added one by one."""
        vector = _shape(value.args[0].type)
        if not _is_half(vector):
            return self._compute(value, args)
        assert isinstance(vector, Vector)
        lanes = [self.writer.value(f"extractelement {spell(vector)} {args[0]}, i32 {lane}") for lane in range(vector.lanes)]
        operand = Value("param", value.type)
        total = lanes[0]
        for lane in lanes[1:]:
            total = self._compute_wider(Value("add", value.type, (operand, operand)), (total, lane))
        return total

    def reduce_mask(self, value: Value, args: Sequence[str]) -> str:
        """`any` and `all`, in pieces of as many lanes as LLVM can reduce."""
        mask, most, writer = _shape(value.args[0].type), self.module.machine.mask_lanes, self.writer
        if lanes_of(mask) <= most:
            return self._compute(value, args)
        found: list[str] = []
        for start in range(0, lanes_of(mask), most):
            piece = Vector(BOOLEAN, min(most, lanes_of(mask) - start))
            picks = ", ".join(f"i32 {start + lane}" for lane in range(piece.lanes))
            whole = f"{spell(mask)} {args[0]}"
            lanes = writer.value(f"shufflevector {whole}, {whole}, <{piece.lanes} x i32> <{picks}>")
            found.append(self._compute(Value(value.op, BOOLEAN, (Value("param", piece),)), [lanes]))
        joined = found[0]
        for one in found[1:]:
            joined = writer.value(f"{'or' if value.op == 'any' else 'and'} i1 {joined}, {one}")
        return joined

    def divide(self, value: Value, args: Sequence[str]) -> str:
        """`div` and `rem`: of floats plain; of scalar integers, with checks on, after a check."""
        if element_of(value.type).is_float:
            return self._compute(value, args)
        if not self.module.can_fault(value):
            return emit_division(self.writer, value, args)
        _, bad = find_special(self.writer, value.type, *args)
        self.check(bad, self.module.site(DIVISION, value, value.type), *args)
        return divide(self.writer, value, *args)

    def multiply(self, value: Value, args: Sequence[str]) -> str:
        """Lanes that fit into 16 bits by the machine's shorter multiplication, if it has one."""
        registers = find_registers(self.module.machine.forms)
        if registers and is_narrow(value, self._ranges.of):
            return emit_narrow(self.writer, value, args, registers)
        return self._compute(value, args)

    def dot(self, value: Value, args: Sequence[str]) -> str:
        limits = [self._ranges.unsigned_byte_limit(arg) for arg in value.args[:2]]
        form = choose_form(value, self.module.machine, *limits)
        self.module.note_choice(value, self.function, form, *limits)
        return emit_dot(self.writer, value, args, form, self.module.machine)

    def call(self, value: Value, args: Sequence[str]) -> str:
        """A method of the same program. If it faults, so does this one: in the same record, without adding to it."""
        callee: Function = value.attr
        writer, module = self.writer, self.module
        operands: list[Operand] = []
        for arg, term in zip(value.args, args, strict=True):
            if isinstance(arg.type, Array):
                operands += [(module.pointer_to(arg.type), term), ("i64", self.lengths[arg])]
            else:
                operands.append((spell(arg.type), term))
        operands += self._pass_hidden(value, callee)
        type = returned_type(module, callee)
        text = f"call {type} @{quote(module.internal_names[callee])}({spell_operands(operands)})"
        if type == "void":
            writer.do(text)
            return ""
        result = writer.value(text)
        if callee not in module.faulting:
            return result
        self._return_if(result if callee.result == VOID else writer.value(f"extractvalue {type} {result}, 1"))
        return "" if callee.result == VOID else writer.value(f"extractvalue {type} {result}, 0")

    def _pass_hidden(self, call: Value, callee: Function) -> list[Operand]:
        """The function's own coordinates and record; a depth that is one more, or none yet."""
        hidden = [("i32", self.find_axis(word)) for word in self.module.coordinates[callee]]
        if callee in self.module.faulting:
            hidden.append(("ptr", self.record))
        if callee in self.module.recursive:
            depth = "0"
            if callee is self.function:
                bad = self.writer.value(f"icmp uge i64 %depth, {MAX_CALLS}")
                self.check(bad, self.module.site(DEPTH, call, INT64), "%depth", "0")
                depth = self.writer.value("add i64 %depth, 1")
            hidden.append(("i64", depth))
        return hidden

    def find_axis(self, word: str) -> str:
        """One of `facts.AXES`: a parameter on a CPU; on a GPU in a register, or known."""
        gpu = self.module.machine.gpu
        if gpu is None:
            return f"%{word}"
        found = gpu.axes[word]
        return found if found.isdigit() else self.writer.call("i32", found)

    def coordinate(self, value: Value, args: Sequence[str]) -> str:
        """One of the three numbers it is made of, or `global`: group * size + local, which wraps."""
        what, _, axis = value.attr.partition(".")
        if what != "global":
            return self.find_axis(value.attr)
        group, size, local = (self.find_axis(f"{part}.{axis}") for part in ("group", "size", "local"))
        first = self.writer.value(f"mul i32 {group}, {size}")
        return self.writer.value(f"add i32 {first}, {local}")

    def share(self, value: Value, args: Sequence[str]) -> str:
        """An array of the workgroup, on a GPU."""
        assert isinstance(value.type, Array)
        self.lengths[value] = str(value.type.length)
        return self.module.add_shared(self.function, value)

    def get(self, value: Value, args: Sequence[str]) -> str:
        return self.writer.value(f"load {spell(value.type)}, {self.locate_slot(value.attr)}")

    def set(self, value: Value, args: Sequence[str]) -> str:
        self.writer.do(f"store {spell(value.args[0].type)} {args[0]}, {self.locate_slot(value.attr)}")
        return ""


def _const(function: FunctionWriter, value: Value, args: Sequence[str]) -> str:
    return spell_constant(value.type, value.attr)


def _convert(function: FunctionWriter, value: Value, args: Sequence[str]) -> str:
    return function.convert(args[0], value.args[0].type, value.type)


def _call_method(name: str) -> Special:
    """What the writer at hand makes of it, which may not be a plain FunctionWriter."""
    return lambda function, value, args: getattr(function, name)(value, args)


# What needs to know the function, not only the operands.
_SPECIAL: dict[str, Special] = {
    "const": _const,
    "convert": _convert,
    "mul": FunctionWriter.multiply,
    "div": FunctionWriter.divide,
    "rem": FunctionWriter.divide,
    "sum": FunctionWriter.sum,
    "any": FunctionWriter.reduce_mask,
    "all": FunctionWriter.reduce_mask,
    "build": FunctionWriter.build,
    "dot": FunctionWriter.dot,
    "call": FunctionWriter.call,
    "coordinate": FunctionWriter.coordinate,
    "shared": _call_method("share"),
    "get": FunctionWriter.get,
    "set": FunctionWriter.set,
    "load": memory.load,
    "store": memory.store,
    "length": memory.length,
    "allocate": memory.allocate,
    "extract_at": memory.extract_at,
    "insert_at": memory.insert_at,
}
_IN_WIDER_FLOATS = frozenset(
    ("add sub mul div rem min max neg abs floor ceil trunc sqrt round fma " + " ".join(COMPARISONS)).split()
)


def _zero(type: Type) -> str:
    assert isinstance(type, (Scalar, Vector))
    element = element_of(type)
    return spell_constant(type, False if element == BOOLEAN else 0.0 if element.is_float else 0)


def _shape(type: Type) -> Scalar | Vector:
    assert isinstance(type, (Scalar, Vector))
    return type


def _is_half(type: Type) -> bool:
    element = element_of(type)
    return element.is_float and element.bits == 16
