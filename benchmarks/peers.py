"""Other software that the kernels may be measured against, where it is installed: `pip install -e .[bench]`."""

from __future__ import annotations

import sys
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
    for name, make in _MAKERS.get(kind, {}).items():
        try:
            peers[name] = _repeat(make(out, *operands), repeats)
        except ImportError:
            if name not in _missing:
                print(f"{name} is not installed and left out", file=sys.stderr)
            _missing.add(name)


def _repeat(run: Run, repeats: int) -> Run:
    def run_all() -> None:
        for _ in range(repeats):
            run()

    return run_all


def _make_onnxruntime(out: Array, a: Array, b: Array) -> Run:
    """MatMulInteger with B known beforehand, one thread; it packs B as it likes."""
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
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])

    def run() -> None:
        out[...] = session.run(None, {"a": a})[0]

    return run


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


def _import(name: str) -> Any:
    return import_module(name)


_MAKERS: dict[str, dict[str, Callable[..., Run]]] = {"gemm": {"onnxruntime": _make_onnxruntime}, "dot": {"numba": _make_numba}}
