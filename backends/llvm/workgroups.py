"""A CPU kernel whose work items meet at barriers or share arrays: one function for a workgroup.

The kernel is cut at its barriers (passes/regions.py). Each region is a loop over all items that are still running; what lies
around barriers is done once for the workgroup. The memory of a workgroup, made once for a launch, is

    shared arrays | for each item a frame, with the locals that it carries from region to region | for each item its state

A state is 0 while the item runs, 2d-1 or 2d after it continued or left the d-th loop around it that holds a barrier, 255 for
good. The checker has made sure that all running items go the same way around a barrier, so any of them may say which.
"""

from __future__ import annotations

from cajeta_dot.backends.llvm.checks import FAULT_BYTES
from cajeta_dot.backends.llvm.functions import FunctionWriter
from cajeta_dot.backends.llvm.types import size_in_memory
from cajeta_dot.ir import Break, Value, size_of, walk
from cajeta_dot.passes.regions import Choice, Cycle, Region, divide
from cajeta_dot.record import record
from cajeta_dot.types import Array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cajeta_dot.backends.llvm.modules import Module
    from cajeta_dot.ir import Continue, Function, Slot
    from cajeta_dot.passes.regions import Part
    from cajeta_dot.types import Scalar, Vector

ALIGNMENT = 16  # of everything in the workgroup's memory; calloc gives no more
_STOPPED = 255
_CELLS = (("i64", "item"), ("i32", "x"), ("i32", "y"), ("i32", "z"))  # the item at hand


@record
class Memory:
    """Bytes that a workgroup needs: for its shared arrays, and for each item beside its state."""

    shared: int
    frame: int


class WorkgroupWriter(FunctionWriter):
    """Writes the function of a workgroup. Faults go to a record of its own first, and then to the launch's if they are those
    of an earlier item: items take turns, so the first in time need not be the first in order."""

    def __init__(self, module: Module, function: Function):
        super().__init__(module, function)
        self.record = "%own.record"
        self._shared = _place_shared(function)
        self._division = divide(function)
        self._conditions = frozenset(_find_conditions(self._division.parts))
        self._carried: dict[Slot, int] = {}
        self._depth = 0
        # What the region at hand calls its item: label behind it, number, state, frame and coordinates.
        self._next = self._item = self._state = self._frame = ""
        self._axes: dict[str, str] = {}

    def write(self) -> list[str]:
        """The lines between the braces; tells the module how much memory a workgroup needs."""
        self.enter()
        frame = self._place_locals()
        shared = sum(size for _, size in self._shared.values())
        self.module.memory[self.function] = Memory(shared, frame)
        self._begin(shared, frame)
        self._write_parts(self._division.parts, frame)
        self.writer.close("ret void")
        return self.finish()

    def _place_locals(self) -> int:
        """Locals that live on from region to region into frames, all others on the stack. The size of a frame."""
        frame = 0
        for place, slot in enumerate(self.function.slots):
            if slot in self._division.carried and slot not in self._conditions:
                self._carried[slot] = frame
                frame += _round_up(_size(slot.type))
            else:
                self.place_slot(place, slot)
        return frame

    def _begin(self, shared: int, frame: int) -> None:
        """Everything as if no workgroup had been before."""
        entry = self.writer.entry
        entry += [f"%at.{cell} = alloca {type}" for type, cell in _CELLS]
        entry += [
            f"%frames = getelementptr i8, ptr %memory, i64 {shared}",
            f"%frames.size = mul i64 %items, {frame}",
            "%states = getelementptr i8, ptr %frames, i64 %frames.size",
            "call void @llvm.memset.p0.i64(ptr %states, i8 0, i64 %items, i1 false)",
        ]
        self.writer.declarations["llvm.memset.p0.i64"] = "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)"
        if shared:
            entry.append(f"call void @llvm.memset.p0.i64(ptr %memory, i8 0, i64 {shared}, i1 false)")
        if self.function in self.module.faulting:
            entry += [f"{self.record} = alloca [{FAULT_BYTES} x i8], align 8", f"store i64 0, ptr {self.record}"]

    # ---- parts

    def _write_parts(self, parts: Sequence[Part], frame: int) -> None:
        for part in parts:
            match part:
                case Region():
                    self._write_region(part, frame)
                case Choice():
                    self._write_choice(part, frame)
                case Cycle():
                    self._write_cycle(part, frame)

    def _write_region(self, region: Region, frame: int) -> None:
        writer = self.writer
        item, run, self._next, done = writer.new_labels("item", "run", "next", "done")
        self.locate_function()
        for type, cell in _CELLS:
            writer.do(f"store {type} 0, ptr %at.{cell}")
        writer.begin(item)
        self._item = writer.value("load i64, ptr %at.item")
        self._state = writer.value(f"getelementptr i8, ptr %states, i64 {self._item}")
        running = writer.value(f"icmp eq i8 {writer.value(f'load i8, ptr {self._state}')}, 0")
        writer.branch(running, run, self._next)
        writer.begin(run)
        self._axes = {f"local.{axis}": writer.value(f"load i32, ptr %at.{axis}") for axis in "xyz"}
        self._frame = writer.value(f"getelementptr i8, ptr %frames, i64 {writer.value(f'mul i64 {self._item}, {frame}')}")
        self.run(region.block)
        self.locate_function()
        writer.begin(self._next)
        self._advance(item, done)
        writer.begin(done)

    def _advance(self, item: str, done: str) -> None:
        """The next item, x fastest, or the end of the region."""
        writer = self.writer
        carry = "1"
        for axis in "xyz":
            moved = writer.value(f"add i32 {writer.value(f'load i32, ptr %at.{axis}')}, {carry}")
            full = writer.value(f"icmp eq i32 {moved}, %size.{axis}")
            writer.do(f"store i32 {writer.value(f'select i1 {full}, i32 0, i32 {moved}')}, ptr %at.{axis}")
            carry = writer.value(f"zext i1 {full} to i32")
        number = writer.value(f"add i64 {writer.value('load i64, ptr %at.item')}, 1")
        writer.do(f"store i64 {number}, ptr %at.item")
        writer.branch(writer.value(f"icmp ult i64 {number}, %items"), item, done)

    def _write_choice(self, choice: Choice, frame: int) -> None:
        writer = self.writer
        ask, then, otherwise, end = writer.new_labels("ask", "then", "else", "end")
        self._go_if_running(ask, end)
        writer.begin(ask)
        writer.branch(self.get_condition(choice.condition), then, otherwise)
        writer.begin(then)
        self._write_parts(choice.then, frame)
        writer.jump(end)
        writer.begin(otherwise)
        self._write_parts(choice.otherwise, frame)
        writer.begin(end)

    def _write_cycle(self, cycle: Cycle, frame: int) -> None:
        writer = self.writer
        test, ask, body, leave = writer.new_labels("test", "ask", "body", "leave")
        again, more = writer.new_labels("again", "more")
        self._depth += 1
        writer.begin(test)
        self._write_parts(cycle.test, frame)
        self._go_if_running(ask, leave)
        writer.begin(ask)
        self._go_on_if_true(cycle.condition, body, leave)
        writer.begin(body)
        self._write_parts(cycle.body, frame)
        self._revive(2 * self._depth - 1)
        self._write_parts(cycle.update, frame)
        self._go_if_running(again, leave)
        writer.begin(again)
        self._go_on_if_true(cycle.again, more, leave)
        writer.begin(more)
        writer.jump(test)
        writer.begin(leave)
        self._revive(2 * self._depth)
        self._depth -= 1

    def _go_on_if_true(self, condition: Slot | None, onward: str, leave: str) -> None:
        if condition is None:
            self.writer.jump(onward)
        else:
            self.writer.branch(self.get_condition(condition), onward, leave)

    def get_condition(self, slot: Slot) -> str:
        """What a running item has said last; all of them say the same."""
        return self.writer.value(f"load i1, {self.locate_slot(slot)}")

    def _go_if_running(self, yes: str, no: str) -> None:
        """Is there an item left?"""
        self.writer.branch(self.writer.value("call i1 @cajeta.running(ptr %states, i64 %items)"), yes, no)

    def _revive(self, state: int) -> None:
        """Items that took no part in the rest of a turn, or of a loop, go on."""
        self.writer.do(f"call void @cajeta.revive(ptr %states, i64 %items, i8 {_as_byte(state)})")

    # ---- what is otherwise than in a function of one item

    def locate_slot(self, slot: Slot) -> str:
        if slot not in self._carried:
            return super().locate_slot(slot)
        place = self.writer.value(f"getelementptr i8, ptr {self._frame}, i64 {self._carried[slot]}")
        return f"ptr {place}, align {ALIGNMENT}"

    def leave_function(self, value: Value | None) -> None:
        self._stop(_STOPPED)

    def leave_loop(self, item: Break | Continue) -> None:
        if self.is_in_loop:
            super().leave_loop(item)
        else:
            self._stop(2 * self._depth - (not isinstance(item, Break)))

    def leave_after_fault(self) -> None:
        where = f"i64 %group.number, i64 {self._item}"
        self.writer.do(f"call void @cajeta.keep(ptr %record, ptr {self.record}, {where})")
        self.writer.do(f"store i8 {_as_byte(_STOPPED)}, ptr {self._state}")
        self.writer.do(f"br label %{self._next}")

    def _stop(self, state: int) -> None:
        if self.writer.is_open:
            self.writer.do(f"store i8 {_as_byte(state)}, ptr {self._state}")
        self.writer.jump(self._next)

    def find_axis(self, word: str) -> str:
        return self._axes.get(word) or super().find_axis(word)

    def share(self, value: Value, args: Sequence[str]) -> str:
        assert isinstance(value.type, Array)
        self.lengths[value] = str(value.type.length)
        return self.writer.value(f"getelementptr i8, ptr %memory, i64 {self._shared[value.attr][0]}")


def _place_shared(function: Function) -> dict[str, tuple[int, int]]:
    """Offset and size of each shared array, by its name."""
    places: dict[str, tuple[int, int]] = {}
    end = 0
    for item in walk(function.body):
        if isinstance(item, Value) and item.op == "shared" and item.attr not in places:
            assert isinstance(item.type, Array)
            size = _round_up((item.type.length or 0) * size_in_memory(item.type.element))
            places[item.attr] = end, size
            end += size
    return places


def _find_conditions(parts: Sequence[Part]) -> Iterator[Slot]:
    """The slots that are the workgroup's, not an item's."""
    for part in parts:
        if isinstance(part, Choice):
            yield part.condition
            yield from _find_conditions((*part.then, *part.otherwise))
        elif isinstance(part, Cycle):
            yield from (slot for slot in (part.condition, part.again) if slot)
            yield from _find_conditions((*part.test, *part.body, *part.update))


def _size(type: Scalar | Vector) -> int:
    """Bytes of a local, in a register's form."""
    return -(-size_of(type) // 8)


def _round_up(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _as_byte(state: int) -> int:
    assert 0 < state <= _STOPPED, "loops around barriers are nested too deep"
    return state - 256 if state > 127 else state


WORKGROUP_FUNCTIONS = """\
define internal i1 @cajeta.running(ptr %states, i64 %items) nounwind {
entry:
  br label %item
item:
  %at = phi i64 [ 0, %entry ], [ %next, %stopped ]
  %state.at = getelementptr i8, ptr %states, i64 %at
  %state = load i8, ptr %state.at
  %runs = icmp eq i8 %state, 0
  br i1 %runs, label %end, label %stopped
stopped:
  %next = add i64 %at, 1
  %more = icmp ult i64 %next, %items
  br i1 %more, label %item, label %end
end:
  ret i1 %runs
}

define internal void @cajeta.revive(ptr %states, i64 %items, i8 %old) nounwind {
entry:
  br label %item
item:
  %at = phi i64 [ 0, %entry ], [ %next, %item ]
  %state.at = getelementptr i8, ptr %states, i64 %at
  %state = load i8, ptr %state.at
  %same = icmp eq i8 %state, %old
  %now = select i1 %same, i8 0, i8 %state
  store i8 %now, ptr %state.at
  %next = add i64 %at, 1
  %more = icmp ult i64 %next, %items
  br i1 %more, label %item, label %end
end:
  ret void
}

define internal void @cajeta.keep(ptr %record, ptr %own, i64 %group, i64 %item) cold noinline nounwind {
  %group.at = getelementptr i8, ptr %record, i64 8
  %item.at = getelementptr i8, ptr %record, i64 16
  %known = load i64, ptr %record, align 8
  %known.group = load i64, ptr %group.at, align 8
  %known.item = load i64, ptr %item.at, align 8
  %none = icmp eq i64 %known, 0
  %same = icmp eq i64 %group, %known.group
  %before = icmp slt i64 %item, %known.item
  %earlier = and i1 %same, %before
  %wanted = or i1 %none, %earlier
  br i1 %wanted, label %write, label %end
write:
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %record, ptr align 8 %own, i64 40, i1 false)
  store i64 %group, ptr %group.at, align 8
  store i64 %item, ptr %item.at, align 8
  br label %end
end:
  store i64 0, ptr %own, align 8
  ret void
}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""
