"""Run-time checks: what is compared, what is recorded, and how a record becomes an exception.

Each place in the program that can fault is a `Site`, numbered from 1. Where a check fails, code that is laid out far away
calls `cajeta.fault`, frees the function's arrays and returns to the caller with the word that it faulted; a caller returns in
the same way. The record is kept by its first writer, so it holds the first fault of whoever runs with it.

    struct cajeta_fault { int64_t site, group, item, value, other; };

site: 0 while there is none. group, item: which work item (linear, x fastest), -1 in a host method. value, other: index and
length, dividend and divisor, lane, length, depth of calls: the low 64 bits, which the site's type says how to read.
"""

from __future__ import annotations

from cajeta_dot.backends.llvm.types import spell
from cajeta_dot.record import record
from cajeta_dot.types import INT64, Scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.backends.llvm.writer import Writer
    from cajeta_dot.run.errors import KernelError
    from cajeta_dot.source import Source

FAULT_BYTES = 40
BOUNDS, DIVISION, LANE, LENGTH, DEPTH, MEMORY = "bounds", "division", "lane", "length", "depth", "memory"
MAX_CALLS = 10_000  # calls of a host method within itself: more would run out of stack
MAX_BYTES = 1 << 46  # of a heap array: no machine has more


@record
class Site:
    """A place that can fault: its number, the kind of fault, its offset in the source, lanes of the access, and the type of
    the index, the lane, the length or the operands of the division."""

    number: int
    kind: str
    start: int
    lanes: int
    type: Scalar


def make_error(source: Source, site: Site, value: int, other: int) -> KernelError:
    """The exception for a record, whose fields are given as signed numbers."""
    from cajeta_dot.run import errors

    value = site.type.wrap(value)
    match site.kind:
        case "bounds":
            return errors.bounds_error(source, site.start, value, site.lanes, other)
        case "division":
            return errors.division_error(source, site.start, value, site.type.wrap(other))
        case "lane":
            return errors.lane_index_error(source, site.start, value, site.lanes)
        case "length":
            return errors.length_error(source, site.start, value)
        case _:
            what = f"more than {MAX_CALLS} calls within calls"
            if site.kind == MEMORY:
                what = f"a workgroup needs {value} bytes, which this machine can't give"
            name, line, _ = source.place(site.start)
            return errors.KernelError(name, line, what)


# Called where a check failed; where the launch loop learns of it, the work item is added.
FAULT_FUNCTIONS = """\
define internal void @cajeta.fault(ptr %record, i64 %site, i64 %value, i64 %other) cold noinline nounwind {
  %old = load i64, ptr %record, align 8
  %new = icmp eq i64 %old, 0
  br i1 %new, label %write, label %end
write:
  %value.at = getelementptr i8, ptr %record, i64 24
  %other.at = getelementptr i8, ptr %record, i64 32
  store i64 %site, ptr %record, align 8
  store i64 %value, ptr %value.at, align 8
  store i64 %other, ptr %other.at, align 8
  br label %end
end:
  ret void
}

define internal void @cajeta.blame(ptr %record, i64 %group, i64 %item) cold noinline nounwind {
  %group.at = getelementptr i8, ptr %record, i64 8
  %item.at = getelementptr i8, ptr %record, i64 16
  %old = load i64, ptr %group.at, align 8
  %new = icmp slt i64 %old, 0
  br i1 %new, label %write, label %end
write:
  store i64 %group, ptr %group.at, align 8
  store i64 %item, ptr %item.at, align 8
  br label %end
end:
  ret void
}
"""


def widen_index(writer: Writer, type: Scalar, term: str) -> str:
    """An integer in 64 bits, by its own sign."""
    if type.bits == 64:
        return term
    return writer.value(f"{'sext' if type.is_signed else 'zext'} {spell(type)} {term} to i64")


def is_outside(writer: Writer, index: str, first_outside: str) -> str:
    """Is a 64-bit index not in 0..first_outside-1? A negative one, read as unsigned, is beyond every length; so is a large
    uint64."""
    return writer.value(f"icmp uge {spell(INT64)} {index}, {first_outside}")
