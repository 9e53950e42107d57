"""Functions of PTX as steps: each instruction becomes a function of the frame it runs in, and each block ends with a way on.

What an instruction needs is looked up here, once; a step does no more than read, compute and write.
"""

from __future__ import annotations

import re

import numpy as np

from cajeta_dot.backends.ptx.execute import ALL, CARRY, END, Frame, call
from cajeta_dot.backends.ptx.instructions import OPERATIONS, Operation, dtype, width
from cajeta_dot.backends.ptx.integers import add_with_carry, subtract_with_borrow
from cajeta_dot.backends.ptx.memory import FILLER, GENERIC
from cajeta_dot.backends.ptx.parse import (
    Address,
    Function,
    Immediate,
    Instruction,
    Label,
    Pack,
    PtxError,
    Register,
    Special,
    Variable,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    from numpy.typing import NDArray

    T = TypeVar("T")
    Lanes = NDArray[Any]
    Step = Callable[[Frame], None]
    Leave = Callable[[Frame], int]
    Read = Callable[[Frame], Lanes]
    Write = Callable[[Frame, Lanes], None]
    Operand = Register | Immediate | Special | Variable | Address | Pack | Label


class Block:
    """Instructions that are run one after another, and how it goes on: `leave` gives the next block."""

    def __init__(self) -> None:
        self.instructions: list[Instruction] = []
        self.steps: list[Step] = []
        self.leave: Leave = lambda frame: END
        self.last: Instruction | None = None


class Code:
    """A function that can be run. `locals` are its variables in local memory."""

    def __init__(self, function: Function):
        """Raises PtxError for an instruction that is not known."""
        self.function = function
        body = function.body
        self.registers = body.registers
        self.locals = [variable for variable in body.variables if variable.space == "local"]
        self.shared = [variable for variable in body.variables if variable.space == "shared"]
        starts = sorted({0, *body.labels.values(), *_find_ends(body.instructions)} - {len(body.instructions)})
        self._places = {start: place for place, start in enumerate(starts)}
        self._labels = {name: self._places.get(start, END) for name, start in body.labels.items()}
        self._tables = body.tables
        self._written = _find_written(body.instructions)
        self.blocks = [
            self._make_block(body.instructions[start:end], place + 1 if place + 1 < len(starts) else END)
            for place, (start, end) in enumerate(zip(starts, [*starts[1:], len(body.instructions)], strict=True))
        ]

    def _make_block(self, instructions: Sequence[Instruction], following: int) -> Block:
        block = Block()
        block.leave = _go_to(following)
        for instruction in instructions:
            try:
                if instruction.opcode in _WAYS:
                    block.leave, block.last = self._make_way(instruction, following), instruction
                else:
                    operands = self._fill(instruction)
                    block.steps.append(_guard(instruction, _make_step(instruction.opcode, operands)))
                    block.instructions.append(instruction)
            except PtxError as error:
                raise PtxError(f"line {instruction.line}: {error}: `{instruction.text}`") from None
        return block

    def _fill(self, instruction: Instruction) -> tuple[Operand, ...]:
        """A part of a pack, of the bytes that `prmt` takes, or of what is kept on the stack, that no instruction ever writes is
        one that the compiler has no use for: it gets a conspicuous content."""
        if instruction.opcode == "prmt.b32":
            target, *parts = instruction.operands
            return target, *map(self._fill_part, parts)
        if len(instruction.operands) == 2:
            target, source = instruction.operands
            is_kept = _is_on_stack(target)
            if isinstance(source, Pack) and (is_kept or instruction.opcode.startswith("mov")):
                return target, Pack(tuple(map(self._fill_part, source.parts)))
            if is_kept:
                return target, self._fill_part(source)
        return instruction.operands

    def _fill_part(self, part: T) -> T | Immediate:
        is_written = not isinstance(part, Register) or part in self._written
        return part if is_written else Immediate(int.from_bytes(bytes([FILLER] * 8), "little"))

    # ---- ways on

    def _make_way(self, instruction: Instruction, following: int) -> Leave:
        word, operands = instruction.opcode, instruction.operands
        if word in _BARRIERS:
            if [getattr(operand, "number", None) for operand in operands] != [0] or instruction.guard:
                raise PtxError("only barrier 0 of all threads is known")
            return lambda frame: frame.meet(following)
        if word == "brx.idx":
            return self._make_switch(operands)
        if word == "ret":
            target = END
        else:
            (label,) = operands
            target = self._find_label(label)
        if instruction.guard is None:
            return _go_to(target)
        predicate, negated = instruction.guard
        read = read_operand(predicate, "pred")
        if negated:
            return lambda frame: frame.split(read(frame), following, target)
        return lambda frame: frame.split(read(frame), target, following)

    def _make_switch(self, operands: Sequence[Operand]) -> Leave:
        index, table = operands
        if not isinstance(table, Label) or table.name not in self._tables:
            raise PtxError("no list of branch targets")
        targets = np.array([self._labels[name] for name in self._tables[table.name]])
        read = read_operand(index, "u32")
        return lambda frame: frame.spread(read(frame), targets)

    def _find_label(self, operand: Operand) -> int:
        if not isinstance(operand, Label) or operand.name not in self._labels:
            raise PtxError("no such label")
        return self._labels[operand.name]


_BARRIERS = ("bar.sync", "barrier.sync", "barrier.sync.aligned", "barrier.cta.sync", "barrier.cta.sync.aligned", "bar.cta.sync")
_WAYS = ("bra", "bra.uni", "brx.idx", "ret", *_BARRIERS)


def _find_ends(instructions: Sequence[Instruction]) -> list[int]:
    return [place + 1 for place, instruction in enumerate(instructions) if instruction.opcode in _WAYS]


def _find_written(instructions: Sequence[Instruction]) -> set[Register]:
    """The registers that are the target of some instruction."""
    targets = [i.operands[0] for i in instructions if i.operands and i.opcode not in _WAYS and not i.opcode.startswith("st")]
    parts = [part for target in targets for part in (target.parts if isinstance(target, Pack) else (target,))]
    return {part for part in parts if isinstance(part, Register)}


def _is_on_stack(operand: Operand) -> bool:
    """Is it an address beside the stack pointer, as LLVM names it?"""
    return isinstance(operand, Address) and isinstance(operand.base, Register) and operand.base.name in ("%SP", "%SPL")


def _go_to(target: int) -> Leave:
    return lambda frame: frame.go(target)


def _guard(instruction: Instruction, step: Step) -> Step:
    """The step for those threads only whose predicate says so."""
    if instruction.guard is None:
        return step
    predicate, negated = instruction.guard
    read = read_operand(predicate, "pred")

    def run(frame: Frame) -> None:
        chosen = ~read(frame) if negated else read(frame)
        everyone = frame.active
        if chosen.any():
            if not chosen.all():
                frame.active = np.flatnonzero(chosen) if everyone is ALL else everyone[chosen]
            step(frame)
        frame.active = everyone

    return run


# ---- operands


def read_operand(operand: Operand | None, type: str, widened: bool = False) -> Read:
    """The operand of the active threads as an array of the type, or of one element that stands for all threads. `widened`: a
    register may have more bits than the type, of which the lower ones count."""
    if isinstance(operand, Register):
        if operand.bits != width(type) and not (widened and operand.bits > width(type) > 1):
            raise PtxError(f"`{operand.name}` has {operand.bits} bits, type .{type} {width(type)}")
        return _read_register(operand, type)
    if isinstance(operand, Immediate):
        content = _make_constant(operand, type)
        return lambda frame: content
    if isinstance(operand, Special) and width(type) == 32:
        name = operand.name
        return lambda frame: frame.read_special(name)
    if isinstance(operand, Variable) and type[1:] == "64":
        variable = operand
        return lambda frame: frame.locate(variable)
    if isinstance(operand, Address) and isinstance(operand.base, Variable) and type[1:] == "64":
        return _read_address(operand)
    raise PtxError(f"no operand of type .{type}")


def _read_register(register: Register, type: str) -> Read:
    place, bits = register.index, register.bits
    if bits == width(type) and dtype(type) == _register_dtype(register):
        return lambda frame: frame.read(place)
    wanted = dtype(type)
    if bits == width(type):
        return lambda frame: frame.read(place).view(wanted)
    lower = np.dtype(f"u{wanted.itemsize}")
    return lambda frame: frame.read(place).astype(lower).view(wanted)


def _register_dtype(register: Register) -> np.dtype[Any]:
    return np.dtype(bool) if register.bits == 1 else np.dtype(f"u{register.bits // 8}")


def _make_constant(operand: Immediate, type: str) -> Lanes:
    if type == "pred":
        return np.array([operand.number != 0])
    if operand.bits not in (0, width(type)) or (operand.bits == 0 and type[0] == "f"):
        raise PtxError(f"no constant of type .{type}")
    return np.array([operand.number % (1 << width(type))], f"u{width(type) // 8}").view(dtype(type))


def write_operand(operand: Operand | None, type: str, widened: bool = False) -> Write:
    """How a result of the type comes into its register. `widened`: a larger one is filled up, by the type's sign."""
    if operand is None:
        return lambda frame, lanes: None
    if not isinstance(operand, Register):
        raise PtxError("a result needs a register")
    place, wanted = operand.index, _register_dtype(operand)
    if operand.bits == width(type):
        if dtype(type) == wanted:
            return lambda frame, lanes: frame.write(place, lanes)
        return lambda frame, lanes: frame.write(place, lanes.view(wanted))
    if not (widened and operand.bits > width(type) > 1):
        raise PtxError(f"`{operand.name}` has {operand.bits} bits, type .{type} {width(type)}")
    wide = np.dtype(f"i{wanted.itemsize}") if type[0] == "s" else wanted
    narrow = dtype(type) if type[0] == "s" else np.dtype(f"u{width(type) // 8}")
    return lambda frame, lanes: frame.write(place, lanes.view(narrow).astype(wide).view(wanted))


# ---- steps


def _make_step(opcode: str, operands: tuple[Operand, ...]) -> Step:
    operation = OPERATIONS.get(opcode)
    if operation:
        return _compute(operation, operands, widened=opcode.startswith("cvt"))
    for pattern, make in _OTHERS:
        found = pattern.fullmatch(opcode)
        if found:
            return make(found, operands)
    raise PtxError(f"unknown instruction `{opcode}`")


def _compute(operation: Operation, operands: Sequence[Operand], widened: bool) -> Step:
    if len(operands) != 1 + len(operation.operands):
        raise PtxError(f"{1 + len(operation.operands)} operands are wanted")
    write = write_operand(operands[0], operation.result, widened)
    reads = [read_operand(operand, type, widened) for operand, type in zip(operands[1:], operation.operands, strict=True)]
    compute = operation.compute
    if len(reads) == 1:
        (read,) = reads
        return lambda frame: write(frame, compute(read(frame)))
    if len(reads) == 2:
        first, second = reads
        return lambda frame: write(frame, compute(first(frame), second(frame)))
    return lambda frame: write(frame, compute(*(read(frame) for read in reads)))


def _move(found: re.Match[str], operands: Sequence[Operand]) -> Step:
    """Bits from one operand to another, also between a register and several smaller ones; the lowest come first."""
    type, (target, source) = found["type"], operands
    if isinstance(source, Pack):
        return _join_parts(type, target, source)
    if isinstance(target, Pack):
        return _take_apart(type, target, source)
    write, read = write_operand(target, type), read_operand(source, type)
    return lambda frame: write(frame, read(frame))


def _part_type(type: str, pack: Pack) -> str:
    part = f"b{width(type) // len(pack.parts)}"
    if part not in ("b16", "b32"):
        raise PtxError(f"no parts of .{type}")
    return part


def _join_parts(type: str, target: Operand, source: Pack) -> Step:
    part = _part_type(type, source)
    write, reads = write_operand(target, f"b{width(type)}"), [read_operand(operand, part) for operand in source.parts]
    whole, step = dtype(f"b{width(type)}").type, width(part)

    def run(frame: Frame) -> None:
        made = reads[0](frame).astype(whole)
        for place, read in enumerate(reads[1:], 1):
            made = made | read(frame).astype(whole) << whole(place * step)
        write(frame, made)

    return run


def _take_apart(type: str, target: Pack, source: Operand) -> Step:
    part = _part_type(type, target)
    read, writes = read_operand(source, f"b{width(type)}"), [write_operand(operand, part) for operand in target.parts]
    step, smaller = width(part), dtype(part)

    def run(frame: Frame) -> None:
        content = read(frame)
        for place, write in enumerate(writes):
            write(frame, (content >> content.dtype.type(place * step)).astype(smaller))

    return run


def _convert_address(found: re.Match[str], operands: Sequence[Operand]) -> Step:
    """Between a state space and generic addresses."""
    target, source = operands
    write, read = write_operand(target, "u64"), read_operand(source, "u64")
    if found["space"] in ("global", "const"):
        return lambda frame: write(frame, read(frame))
    bit = np.uint64(GENERIC)
    return lambda frame: write(frame, read(frame) ^ bit)


def _load(found: re.Match[str], operands: Sequence[Operand]) -> Step:
    target, address = operands
    parts = _split_vector(target, found["count"])
    writes = [write_operand(part, found["type"], widened=True) for part in parts]
    size, space = width(found["type"]) // 8, found["space"] or ""
    element, locate = dtype(found["type"]), _read_address(address)

    def run(frame: Frame) -> None:
        loaded = frame.load(space, locate(frame), size, len(writes))
        for write, lanes in zip(writes, loaded, strict=True):
            write(frame, lanes.view(element))

    return run


def _store(found: re.Match[str], operands: Sequence[Operand]) -> Step:
    address, source = operands
    reads = [read_operand(part, found["type"], widened=True) for part in _split_vector(source, found["count"])]
    size, space = width(found["type"]) // 8, found["space"] or ""
    element, locate = np.dtype(f"u{size}"), _read_address(address)
    return lambda frame: frame.store(space, locate(frame), size, [read(frame).view(element) for read in reads])


def _split_vector(operand: Operand, count: str | None) -> Sequence[Operand | None]:
    if isinstance(operand, Pack) != bool(count) or (isinstance(operand, Pack) and len(operand.parts) != int(count or 1)):
        raise PtxError(f"{count or 1} operands are wanted")
    return operand.parts if isinstance(operand, Pack) else (operand,)


def _read_address(address: Operand) -> Read:
    if not isinstance(address, Address):
        raise PtxError("an address is wanted")
    offset = np.uint64(address.offset % (1 << 64))
    if address.base is None:
        return lambda frame: np.array([offset])
    read = read_operand(address.base, "u64")
    return lambda frame: read(frame) + offset


# ---- parameters and calls


def _load_parameter(found: re.Match[str], operands: Sequence[Operand]) -> Step:
    target, address = operands
    if isinstance(address, Address) and isinstance(address.base, Register):
        return _load(found, operands)
    parts = _split_vector(target, found["count"])
    writes = [write_operand(part, found["type"], widened=True) for part in parts]
    variable, place, size = _find_parameter(address, found["type"], len(parts))
    element = dtype(found["type"])

    def run(frame: Frame) -> None:
        rows = frame.read_parameter(variable).view(f"u{size}")
        for k, write in enumerate(writes):
            write(frame, np.ascontiguousarray(rows[:, place + k]).view(element))

    return run


def _store_parameter(found: re.Match[str], operands: Sequence[Operand]) -> Step:
    address, source = operands
    reads = [read_operand(part, found["type"], widened=True) for part in _split_vector(source, found["count"])]
    variable, place, size = _find_parameter(address, found["type"], len(reads))
    element = np.dtype(f"u{size}")

    def run(frame: Frame) -> None:
        rows = frame.own_parameter(variable).view(element)
        for k, read in enumerate(reads):
            rows[frame.active, place + k] = read(frame).view(element)

    return run


def _find_parameter(address: Operand, type: str, count: int) -> tuple[Variable, int, int]:
    """The variable, and where in it, counted in elements of the access."""
    size = width(type) // 8
    if not isinstance(address, Address) or not isinstance(address.base, Variable) or address.base.space != "param":
        raise PtxError("a parameter is wanted")
    if address.offset % (size * count) or not 0 <= address.offset <= address.base.size - size * count:
        raise PtxError(f"misaligned, or outside of `{address.base.name}`")
    return address.base, address.offset // size, size


def _call(found: re.Match[str], operands: Sequence[Operand]) -> Step:
    """`call (results), name, (arguments)`; the first and the last may be missing."""
    names = [operand for operand in operands if isinstance(operand, Label)]
    if len(names) != 1:
        raise PtxError("only calls of functions by their names are known")
    at = operands.index(names[0])
    results, arguments = _list_variables(operands[:at]), _list_variables(operands[at + 1 :])
    name = names[0].name
    return lambda frame: call(frame, name, arguments, results)


def _list_variables(operands: Sequence[Operand]) -> list[Variable]:
    found = [part for operand in operands if isinstance(operand, Pack) for part in operand.parts]
    if not all(isinstance(part, Variable) for part in found):
        raise PtxError("arguments are variables of space .param")
    return found  # type: ignore[return-value]


def _carry(found: re.Match[str], operands: Sequence[Operand]) -> Step:
    """add.cc and its kin: `carry` is a register of the frame that no instruction names."""
    if len(operands) != 3:
        raise PtxError("3 operands are wanted")
    type = f"u{found['bits']}"
    write, a, b = write_operand(operands[0], type), read_operand(operands[1], type), read_operand(operands[2], type)
    compute = add_with_carry if found["name"] == "add" else subtract_with_borrow
    takes, gives = bool(found["takes"]), bool(found["gives"])
    none = np.zeros(1, bool)

    def run(frame: Frame) -> None:
        result, carry = compute(a(frame), b(frame), frame.read(CARRY) if takes else none)
        write(frame, result)
        if gives:
            frame.write(CARRY, carry)

    return run


_TYPE = r"(?P<type>[busf](?:8|16|32|64))"
_VECTOR = r"(?:\.v(?P<count>[24]))?"
_OTHERS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], Sequence[Operand]], Step]], ...] = (
    (re.compile(r"mov\.(?P<type>[busf](?:16|32|64)|pred)"), _move),
    (re.compile(r"cvta(?:\.to)?\.(?P<space>global|const|shared|local)\.u64"), _convert_address),
    (re.compile(rf"ld\.(?P<space>param){_VECTOR}\.{_TYPE}"), _load_parameter),
    (re.compile(rf"st\.param{_VECTOR}\.{_TYPE}"), _store_parameter),
    (re.compile(rf"ld(?:\.(?P<space>shared|local|const|global))?{_VECTOR}\.{_TYPE}"), _load),
    (re.compile(rf"ld\.(?P<space>global)\.nc{_VECTOR}\.{_TYPE}"), _load),
    (re.compile(rf"st(?:\.(?P<space>shared|local|global))?{_VECTOR}\.{_TYPE}"), _store),
    (re.compile(r"call(?:\.uni)?"), _call),
    (re.compile(r"(?P<name>add|sub)(?P<takes>c)?(?P<gives>\.cc)?\.[us](?P<bits>32|64)"), _carry),
)
