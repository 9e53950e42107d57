"""What a module exports: kernels, and on a CPU host methods. This page is their binary interface.

**On a CPU** a kernel `k` is `void k(parameters…, struct cajeta_launch *launch)`, a host method `h` is `T h(parameters…, struct
cajeta_fault *fault)`. An array parameter is two: a pointer to its first element and its int64 length. A boolean is a byte, 0
or 1. Scalars are passed as C passes them, float16 as the uint16 of its bits.

    struct cajeta_launch {
        uint32_t grid[3], block[3];            // workgroups; work items of one
        int64_t first_group, end_group;        // linear numbers (x fastest) of those to run now, the second not included
        struct cajeta_fault fault;             // see `checks`; the caller sets site 0, group -1 and item -1
    };

Names are C identifiers (`names.export_name`), and `header` writes all this down for C. In an object for several targets a
function may also find that none of them can be run; the site is then -1 (`backends/x86_dispatch.py`).

A kernel runs all work items of these workgroups, x fastest, also those behind one that faulted; several threads may run it
at once, each with a launch of its own. The arrays of a kernel may only overlap where none of them is written.

**In PTX** a kernel is a `.visible .entry`, launched as CUDA does it. An array parameter is two: a pointer to global memory,
aligned to 16 bytes and readable up to a multiple of 16 bytes (as what CUDA allocates is), and its int64 length. Arrays may
overlap as on a CPU.

**On amdgcn** a kernel is one of the HSA ABI, code object version 5, launched as HIP does it, with workgroups of the size that
it was compiled for (`--block`). Parameters are as in PTX, but an array need only be aligned like its elements.
"""

from __future__ import annotations

from cajeta_dot.backends.llvm.memory import call_calloc
from cajeta_dot.backends.llvm.names import clean, quote
from cajeta_dot.backends.llvm.signatures import hidden_parameters, parameters, returned_type
from cajeta_dot.backends.llvm.types import spell
from cajeta_dot.backends.llvm.writer import Writer, spell_operands
from cajeta_dot.ir import Loop, walk
from cajeta_dot.types import BOOLEAN, FLOAT, SIGNED, VOID, Array, Scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.backends.llvm.modules import Module
    from cajeta_dot.ir import Function
    from cajeta_dot.passes.rows import Row
    from cajeta_dot.types import Type

LAUNCH_BYTES, FAULT_OFFSET = 80, 40
_FIELDS = {
    "grid.x": ("i32", 0), "grid.y": ("i32", 4), "size.x": ("i32", 12), "size.y": ("i32", 16), "size.z": ("i32", 20),
    "group.first": ("i64", 24), "group.end": ("i64", 32),
}  # fmt: skip
ARRAY_ALIGNMENT = 16


def write_gpu_kernel(module: Module, function: Function) -> list[str]:
    """The work item's own function, called once: LLVM puts it in place."""
    gpu = module.machine.gpu
    assert gpu
    arguments = ", ".join(_list_exported(module, function))
    metadata = "".join(f"!{name} {module.metadata.add(node)} " for name, node in gpu.kernel_metadata.items())
    attributes = f"#0{module.machine.kernel_attributes}"
    return [
        f"define {gpu.convention} void @{quote(module.exported_names[function])}({arguments}) {attributes} {metadata}{{",
        "entry:",
        *_enter(function),
        f"  {_call(module, function)}",
        "  ret void",
        "}",
    ]


def write_kernel(module: Module, function: Function) -> list[str]:
    """The loops over workgroups and work items around the work item's own function, which LLVM puts in their middle."""
    checked = _CALL_AND_BLAME if function in module.faulting else _CALL
    row = module.rows.get(function)
    begin, whole, first, advance = _GO, "", "  br label %item\n", ""
    group, one_by_one = "%group", "%line"
    if row:
        first, one_by_one = _ROW.format(call=_call_row(module, row, function, "%row.items", {})), "%one.by.one"
    if row and row.is_global:
        module.declarations["llvm.umin.i64"] = "declare i64 @llvm.umin.i64(i64, i64)"
        start = {"local.y": "0", "local.z": "0"}
        begin, whole = _ASK, _WHOLE.format(call=_call_row(module, row, function, "%whole.items", start))
        group, advance = "%one.group", "  %advance = phi i64 [ 1, %plane.end ], [ %whole.groups, %whole ]\n"
    has_loops = any(isinstance(item, Loop) for item in walk(function.body))
    count, hide = ("%count.x", _HIDE) if has_loops else ("%local.x", "")
    call = checked.format(call=_call(module, function))
    items = _ITEMS.format(group=group, row=first, before=one_by_one, count=count, hide=hide, call=call)
    end = advance + _END.format(groups="%advance" if advance else "1")
    return [*_head(module, function), f"{_BEGIN.format(begin=begin)}{whole}{items}{end}{_DONE}}}"]


def write_workgroup_kernel(module: Module, function: Function) -> list[str]:
    """The loop over workgroups around the function of one."""
    module.declarations["free"] = "declare void @free(ptr)"
    memory = module.memory[function]
    writer = Writer(module.declarations)
    pointer = call_calloc(writer, module.machine, "%bytes", 1)
    allocate = _ALLOCATE.format(
        item=memory.frame + 1,
        shared=memory.shared,
        calloc="\n".join(f"  {line}" for line in writer.lines),
        memory=pointer,
        site=module.add_memory_site(function).number,
    )
    call = f"  {_call(module, function)}\n  br label %group.done\ngroup.done:\n"
    return [
        *_head(module, function),
        f"{_BEGIN.format(begin=allocate)}{call}{_END.format(groups='1')}  call void @free(ptr %memory)\n{_DONE}}}",
    ]


def _head(module: Module, function: Function) -> list[str]:
    """A kernel's first lines, up to where its launch is known."""
    module.declarations["llvm.umin.i32"] = "declare i32 @llvm.umin.i32(i32, i32)"
    arguments = ", ".join([*_list_exported(module, function), "ptr noalias %launch"])
    return [
        f"define void @{quote(module.exported_names[function])}({arguments}) #0 {{",
        "entry:",
        *_enter(function),
        *_read_launch(),
    ]


def write_host_method(module: Module, function: Function) -> list[str]:
    """The method itself, without what its callers inside the module are told beside its result."""
    result = function.result
    arguments = ", ".join([*_list_exported(module, function), "ptr noalias %record"])
    returned = f"{_extension(result)}{_spell_in_c(result)}"
    call, faults = _call(module, function), function in module.faulting
    lines = _enter(function)
    if result == VOID:
        lines += [f"  {'%faulted = ' if faults else ''}{call}", "  ret void"]
    else:
        term = "%value" if faults else "%result"
        lines.append(f"  %result = {call}")
        if faults:
            lines.append(f"  %value = extractvalue {returned_type(module, function)} %result, 0")
        if result == BOOLEAN:
            lines.append(f"  %byte = zext i1 {term} to i8")
            term = "%byte"
        lines.append(f"  ret {_spell_in_c(result)} {term}")
    return [f"define {returned} @{quote(module.exported_names[function])}({arguments}) #0 {{", "entry:", *lines, "}"]


def list_exported_types(function: Function) -> tuple[str, list[str]]:
    """LLVM's types of what `function` is exported as: of its result and, in order, of its parameters."""
    passed: list[str] = []
    for param in function.params:
        passed += ["ptr", "i64"] if isinstance(param.type, Array) else [_spell_in_c(param.type)]
    return f"{_extension(function.result)}{_spell_in_c(function.result)}", [*passed, "ptr"]


# ---- parameters


def _list_exported(module: Module, function: Function) -> list[str]:
    """The method's own parameters as others see them, with what LLVM may know of the arrays."""
    named = iter(parameters(module, function))
    made: list[str] = []
    for place, param in enumerate(function.params):
        type, name = next(named)
        if isinstance(param.type, Array):
            facts = " noalias" if function.kind == "kernel" else ""
            facts += "" if place in module.written[function] else " readonly"
            facts += f" align {ARRAY_ALIGNMENT}" if module.machine.needs_alignment else ""
            _, length = next(named)
            made += [f"{type}{facts} {name}", f"i64 {length}"]
        elif param.type == BOOLEAN:
            made.append(f"i8 {name}.byte")
        else:
            made.append(f"{type} {name}")
    return made


def _enter(function: Function) -> list[str]:
    """Booleans out of their bytes."""
    names = [(param, f"%{clean(param.attr)}.{place}") for place, param in enumerate(function.params)]
    return [f"  {name} = icmp ne i8 {name}.byte, 0" for param, name in names if param.type == BOOLEAN]


def _call(module: Module, function: Function) -> str:
    operands = [*parameters(module, function), *hidden_parameters(module, function)]
    if function in module.recursive:
        operands[-1] = "i64", "0"
    return f"call {returned_type(module, function)} @{quote(module.internal_names[function])}({spell_operands(operands)})"


def _call_row(module: Module, row: Row, kernel: Function, items: str, places: dict[str, str]) -> str:
    """`places`: what the row's first item has for coordinates, where that is not what they are called."""
    hidden = [(type, places.get(name.removeprefix("%"), name)) for type, name in hidden_parameters(module, row.function)]
    operands = [*parameters(module, kernel), ("i64", items), *hidden]
    return f"call i1 @{quote(module.internal_names[row.function])}({spell_operands(operands)})"


def _spell_in_c(type: Type) -> str:
    return "i8" if type == BOOLEAN else spell(type)


def _extension(result: Type) -> str:
    """C's caller may rely on small results being extended."""
    if not isinstance(result, Scalar) or result.bits >= 32:
        return ""
    return "signext " if result.kind == SIGNED else "" if result.kind == FLOAT and result.bits > 16 else "zeroext "


# ---- the loops


def _read_launch() -> list[str]:
    lines = [f"  %record = getelementptr i8, ptr %launch, i64 {FAULT_OFFSET}"]
    for name, (type, offset) in _FIELDS.items():
        lines += [
            f"  %{name}.at = getelementptr i8, ptr %launch, i64 {offset}",
            f"  %{name} = load {type}, ptr %{name}.at, align {8 if type == 'i64' else 4}",
        ]
    return lines


_CALL = """\
  {call}
  br label %item.end
"""
_CALL_AND_BLAME = """\
  %faulted = {call}
  br i1 %faulted, label %blame, label %item.end, !prof !0
blame:
  %row.first = mul i32 %local.z, %size.y
  %row = add i32 %row.first, %local.y
  %row.wide = zext i32 %row to i64
  %size.wide = zext i32 %size.x to i64
  %item.first = mul i64 %row.wide, %size.wide
  %local.wide = zext i32 %local.x to i64
  %item.number = add i64 %item.first, %local.wide
  call void @cajeta.blame(ptr %record, i64 %group.number, i64 %item.number)
  br label %item.end
"""
_BEGIN = """\
  %some.groups = icmp slt i64 %group.first, %group.end
  %least.a = call i32 @llvm.umin.i32(i32 %grid.x, i32 %grid.y)
  %least.b = call i32 @llvm.umin.i32(i32 %size.x, i32 %size.y)
  %least.c = call i32 @llvm.umin.i32(i32 %least.a, i32 %least.b)
  %least.d = call i32 @llvm.umin.i32(i32 %least.c, i32 %size.z)
  %some.items = icmp ne i32 %least.d, 0
  %some = and i1 %some.groups, %some.items
  br i1 %some, label %begin, label %done
begin:
  %grid.x.wide = zext i32 %grid.x to i64
  %grid.y.wide = zext i32 %grid.y to i64
  %begin.x.wide = urem i64 %group.first, %grid.x.wide
  %begin.row = udiv i64 %group.first, %grid.x.wide
  %begin.y.wide = urem i64 %begin.row, %grid.y.wide
  %begin.z.wide = udiv i64 %begin.row, %grid.y.wide
  %begin.x = trunc i64 %begin.x.wide to i32
  %begin.y = trunc i64 %begin.y.wide to i32
  %begin.z = trunc i64 %begin.z.wide to i32
{begin}group:
  %group.number = phi i64 [ %group.first, %begin ], [ %group.next, %group.done ]
  %group.x = phi i32 [ %begin.x, %begin ], [ %next.x, %group.done ]
  %group.y = phi i32 [ %begin.y, %begin ], [ %next.y, %group.done ]
  %group.z = phi i32 [ %begin.z, %begin ], [ %next.z, %group.done ]
"""
_GO = "  br label %group\n"
_ITEMS = """\
  br label %plane
plane:
  %local.z = phi i32 [ 0, {group} ], [ %local.z.next, %plane.end ]
  br label %line
line:
  %local.y = phi i32 [ 0, %plane ], [ %local.y.next, %line.end ]
{row}item:
  {count} = phi i32 [ 0, {before} ], [ %local.x.next, %item.end ]
{hide}{call}item.end:
  %local.x.next = add i32 {count}, 1
  %more.x = icmp ult i32 %local.x.next, %size.x
  br i1 %more.x, label %item, label %line.end
line.end:
  %local.y.next = add i32 %local.y, 1
  %more.y = icmp ult i32 %local.y.next, %size.y
  br i1 %more.y, label %line, label %plane.end
plane.end:
  %local.z.next = add i32 %local.z, 1
  %more.z = icmp ult i32 %local.z.next, %size.z
  br i1 %more.z, label %plane, label %group.done
group.done:
"""
# Where an item has loops, its number goes through an empty instruction: LLVM would else follow it into the addresses of those
# loops, and carry so many of them from item to item that they don't fit into registers.
_HIDE = '  %local.x = call i32 asm "", "=r,0"(i32 %count.x)\n'
# All items along x at once, if that is possible.
_ROW = """\
  %row.items = zext i32 %size.x to i64
  %row.done = {call}
  br i1 %row.done, label %line.end, label %one.by.one
one.by.one:
  br label %item
"""
# All items of the workgroups that lie in a line, if these have no other items.
_ASK = """\
  %flat.y = icmp eq i32 %size.y, 1
  %flat.z = icmp eq i32 %size.z, 1
  %flat = and i1 %flat.y, %flat.z
  %size.x.whole = zext i32 %size.x to i64
  br label %group
"""
_WHOLE = """\
  br i1 %flat, label %whole, label %one.group
whole:
  %line.left = sub i32 %grid.x, %group.x
  %line.groups = zext i32 %line.left to i64
  %left = sub i64 %group.end, %group.number
  %whole.groups = call i64 @llvm.umin.i64(i64 %line.groups, i64 %left)
  %whole.items = mul i64 %whole.groups, %size.x.whole
  %whole.done = {call}
  br i1 %whole.done, label %group.done, label %one.group
one.group:
"""
_END = """\
  %group.next = add i64 %group.number, {groups}
  %steps.x = trunc i64 {groups} to i32
  %after.x = add i32 %group.x, %steps.x
  %full.x = icmp eq i32 %after.x, %grid.x
  %next.x = select i1 %full.x, i32 0, i32 %after.x
  %carry.x = zext i1 %full.x to i32
  %after.y = add i32 %group.y, %carry.x
  %full.y = icmp eq i32 %after.y, %grid.y
  %next.y = select i1 %full.y, i32 0, i32 %after.y
  %carry.y = zext i1 %full.y to i32
  %next.z = add i32 %group.z, %carry.y
  %more.groups = icmp slt i64 %group.next, %group.end
  br i1 %more.groups, label %group, label %finish
finish:
"""
_DONE = """\
  br label %done
done:
  ret void
"""

# A workgroup that is one function: its memory is made before the first and given back behind the last.
_ALLOCATE = """\
  %area = mul i32 %size.x, %size.y
  %area.wide = zext i32 %area to i64
  %depth.wide = zext i32 %size.z to i64
  %items = mul i64 %area.wide, %depth.wide
  %items.bytes = mul i64 %items, {item}
  %bytes = add i64 %items.bytes, {shared}
{calloc}
  %memory = getelementptr i8, ptr {memory}, i64 0
  %no.memory = icmp eq ptr %memory, null
  br i1 %no.memory, label %lacking, label %group, !prof !0
lacking:
  call void @cajeta.fault(ptr %record, i64 {site}, i64 %bytes, i64 0)
  br label %done
"""
