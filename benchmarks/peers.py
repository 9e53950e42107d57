"""Other software that the kernels are measured against, where it is installed: `pip install -e .[bench]`. One thread each."""

from __future__ import annotations

import ctypes
import sys
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    Run = Callable[[], Any]
    Array = np.ndarray[Any, Any]


_missing: set[str] = set()


def add_optional_peers(kind: str, peers: dict[str, Run], repeats: int, out: Array, *operands: Any) -> None:
    """Adds to `peers` what there is for a kind of work; each writes `out` so many times."""
    for name, make in _MAKERS[kind].items():
        try:
            peers[name] = _repeat(make(out, *operands), repeats)
        except ImportError:
            _say_missing(name)


def _say_missing(name: str) -> None:
    if name not in _missing:
        print(f"{name} is not installed and left out", file=sys.stderr)
    _missing.add(name)


def _repeat(run: Run, repeats: int) -> Run:
    def run_all() -> None:
        for _ in range(repeats):
            run()

    return run_all


def _import(name: str) -> Any:
    return import_module(name)


# ---- u8 x s8 matrix products; `panels` is b as `gemm_tiles.cj` has it


def _make_onnxruntime(out: Array, a: Array, b: Array, panels: Array) -> Run:
    """MatMulInteger with B known beforehand, which it packs as it likes; it reads and writes the arrays in place."""
    onnx, runtime = (_import(name) for name in ("onnx", "onnxruntime"))
    helper = onnx.helper
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["a", "b"], ["y"])],
        "gemm",
        [helper.make_tensor_value_info("a", onnx.TensorProto.UINT8, a.shape)],
        [helper.make_tensor_value_info("y", onnx.TensorProto.INT32, out.shape)],
        [onnx.numpy_helper.from_array(b, "b")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    binding.bind_input("a", "cpu", 0, a.dtype, a.shape, a.ctypes.data)
    binding.bind_output("y", "cpu", 0, out.dtype, out.shape, out.ctypes.data)

    def run(kept: object = (a, out)) -> None:
        session.run_with_iobinding(binding)

    return run


def _make_halide(rows: int, out: Array, a: Array, b: Array, panels: Array) -> Run:
    """Tiles of so many rows by 32 columns in registers, over the same packed B; compiled for this machine and this size."""
    hl = _import("halide")
    (m, k), n = a.shape, b.shape[1]
    x, y, tile_x, tile_y, in_x, in_y = map(hl.Var, ("x", "y", "tile_x", "tile_y", "in_x", "in_y"))
    left, right = hl.ImageParam(hl.UInt(8), 2), hl.ImageParam(hl.Int(8), 4)
    four = hl.RDom([(0, 4), (0, k // 4)])
    sums, product = hl.Func("sums"), hl.Func("product")
    sums[x, y] = hl.i32(0)
    sums[x, y] += hl.i32(left[4 * four.y + four.x, y]) * hl.i32(right[four.x, x % 32, four.y, x // 32])
    product[x, y] = sums[x, y]
    product.bound(x, 0, n).bound(y, 0, m).tile(x, y, tile_x, tile_y, in_x, in_y, 32, rows)
    product.vectorize(in_x, 16).unroll(in_x).unroll(in_y)
    sums.compute_at(product, tile_x).vectorize(x, 16).unroll(x).unroll(y)
    step = sums.update().reorder(four.x, x, y, four.y).atomic()
    step.vectorize(four.x).vectorize(x, 16).unroll(x).unroll(y)
    for image, array in ((left, a), (right, panels)):
        for place, (extent, stride) in enumerate(zip(reversed(array.shape), reversed(array.strides), strict=True)):
            image.dim(place).set_bounds(0, extent).set_stride(stride)
    compiled = product.compile_to_callable([left, right], hl.get_host_target())
    buffers = hl.Buffer(a), hl.Buffer(panels), hl.Buffer(out)
    return lambda: compiled(*buffers)


# ---- functions by numba


def _make_numba(out: Array, w: Array, x: Array) -> Run:
    """The plain loop, compiled before it is timed."""

    def dot(w: Any, x: Any) -> Any:
        total = 0
        for i in range(w.size):
            total += int(w[i]) * int(x[i])
        return total

    compiled = _import("numba").njit(dot)

    def run() -> None:
        out[...] = compiled(w, x)

    return run


def make_numba_call() -> Callable[..., Any] | None:
    """The function of `benchmarks/calls.py`."""

    def call(y: Any, w: Any, x: Any, s: Any, n: Any, at: Any) -> None:
        if n > 0:
            y[0] = int(w[at]) + int(x[at]) + int(s[at])

    try:
        return _import("numba").njit(call, boundscheck=True)
    except ImportError:
        _say_missing("numba")
        return None


_MAKERS: dict[str, dict[str, Callable[..., Run]]] = {
    "gemm": {
        "onnxruntime": _make_onnxruntime,
        "halide8x32": partial(_make_halide, 8),
        "halide12x32": partial(_make_halide, 12),
    },
    "dot": {"numba": _make_numba},
}

# ---- AMX


class _Stack(ctypes.Structure):
    """`stack_t` of Linux."""

    _fields_ = (("start", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t))


def refuse_amx() -> None:
    """Keeps what is loaded from now on in this process from using AMX, so that all sides have the same instructions.

    A process must ask Linux for it, and is refused while it handles signals on a stack too small for AMX's registers
    (Documentation/arch/x86/xstate.rst). Elsewhere, and without AMX, nothing happens.
    """
    if sys.platform != "linux" or "amx_tile" not in _read_processor():
        return
    memory = ctypes.create_string_buffer(4 * 2048)
    stack = _Stack(ctypes.addressof(memory), 0, len(memory))
    if ctypes.CDLL(None).sigaltstack(ctypes.byref(stack), None) == 0:
        _kept.append(memory)


_kept: list[object] = []


def _read_processor() -> str:
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return file.read()
