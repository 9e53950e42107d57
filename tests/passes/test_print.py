"""The text of `--emit ir`, word for word, and that printing twice gives the same."""

from __future__ import annotations

from types import SimpleNamespace

from cajeta_dot.ir import Barrier, Break, Builder, Continue, Function, If, Loop, Program, Return, Slot, Value
from cajeta_dot.passes.print import print_program
from cajeta_dot.passes.verify import verify
from cajeta_dot.source import Source
from cajeta_dot.types import BOOLEAN, FLOAT32, INT8, INT32, INT64, UINT8, UINT32, VOID, Array, Vector

BYTES, SUMS = Vector(UINT8, 32), Vector(INT32, 8)
DOT_ACCUM = SimpleNamespace(name="dotAccum", meaning=lambda _round, w, x, acc: acc)  # pyright: ignore[reportUnknownLambdaType]


def make_scale() -> Function:
    """A host method that returns."""
    params = [Value("param", FLOAT32, attr="x"), Value("param", BOOLEAN, attr="twice")]
    function = Function("Help.scale", "Help_scale", "host", params, FLOAT32)
    function.fast_math = True
    b = Builder(function.body)
    doubled = b.binary("mul", params[0], b.const(FLOAT32, 2.0))
    function.body.append(Return(b.select(params[1], doubled, params[0])))
    return function


def make_matvec(scale: Function) -> Function:
    """A kernel with every statement and every way to print an attribute."""
    array = Array(INT8, "KernelBuffer")
    params = [Value("param", array, attr="w"), Value("param", UINT32, attr="rows")]
    function = Function("Quant.matvec", "Quant_matvec", "kernel", params, VOID)
    total, other_total = Slot("total", SUMS), Slot("total", INT32)
    function.slots = [total, other_total]
    b = Builder(function.body)
    row = b.emit("coordinate", UINT32, attr="global.x")
    b.block.append(If(b.compare("ge", row, params[1]), [Return()], []))
    b.set(total, b.const(SUMS, 0))
    b.emit("call", FLOAT32, b.const(FLOAT32, float("-inf")), b.const(BOOLEAN, True), attr=scale)

    test: list[object] = []
    inside = Builder(test)  # pyright: ignore[reportArgumentType]
    more = inside.compare("lt", row, params[1])
    body: list[object] = []
    inside = Builder(body)  # pyright: ignore[reportArgumentType]
    x = inside.load(params[0], row, Vector(INT8, 32))
    w = inside.reinterpret(x, BYTES)
    dots = inside.emit("method", SUMS, w, x, inside.get(total), attr=DOT_ACCUM)
    inside.set(total, dots)
    low = inside.shuffle(dots, dots, (0, 1, 2, 3))
    lane = inside.extract(low, 3)
    inside.emit("insert", low.type, low, lane, attr=0)
    inside.set(other_total, lane)
    body.append(If(more, [Continue()], [Break()]))
    update: list[object] = [Barrier(0, 1)]
    b.block.append(Loop(test, more, body, update, more))  # pyright: ignore[reportArgumentType]
    b.block.append(Loop([], None, [Break()], []))
    b.emit("const", Vector(INT64, 2), attr=(1, -2))
    b.emit("shared", Array(INT8, "Shared", 64), attr="tile")
    return function


TEXT = """\
host Help.scale(%x: float32, %twice: boolean) -> float32 fast_math
  %0: float32 = const 2.0
  %1: float32 = mul %x, %0
  %2: float32 = select %twice, %1, %x
  return %2

kernel Quant.matvec(%w: KernelBuffer<int8>, %rows: uint32)
  slot total: Vector<int32,8>
  slot total.1: int32
  %0: uint32 = coordinate global.x
  %1: boolean = ge %0, %rows
  if %1
    return
  %2: Vector<int32,8> = const 0
  set total, %2
  %3: float32 = const -inf
  %4: boolean = const true
  %5: float32 = call Help.scale, %3, %4
  loop
    %6: boolean = lt %0, %rows
  while %6
    %7: Vector<int8,32> = load %w, %0
    %8: Vector<uint8,32> = reinterpret %7
    %9: Vector<int32,8> = get total
    %10: Vector<int32,8> = dotAccum %8, %7, %9
    set total, %10
    %11: Vector<int32,4> = shuffle %10, %10, (0, 1, 2, 3)
    %12: int32 = extract %11, 3
    %13: Vector<int32,4> = insert %11, %12, 0
    set total.1, %12
    if %6
      continue
    else
      break
  update
    barrier
  again %6
  loop
  do
    break
  %14: Vector<int64,2> = const (1, -2)
  %15: Shared<int8> = shared 64
"""


def test_a_program_prints_as_this() -> None:
    scale = make_scale()
    program = Program(Source("/somewhere/t.cj", ""), [scale, make_matvec(scale)], {})
    verify(program)
    assert print_program(program) == TEXT
    assert print_program(program) == TEXT
