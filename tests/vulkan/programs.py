"""Small programs that several of these tests run."""

from __future__ import annotations

from typing import Any

import numpy as np

import cajeta_dot as cj

TEXT = """class K {
    @Kernel static void dots(KernelBuffer<int32> out, KernelBuffer<uint8> w, KernelBuffer<int8> x) {
        uint32 i = KernelThread.globalIdX();
        out[i] = w.vload<4>(4 * i).dotSum(x.vload<4>(4 * i), out[i]);
    }
}
"""
NARROW = "class K {{ @Kernel static void k(KernelBuffer<{0}> a, {0} b) {{ a[KernelThread.globalIdX()] = b; }} }}"
WANTED = [5 - 255 * 128 + 128 * 127 - 1, -5 - 1220]


def run_dots(**options: Any) -> tuple[cj.Module, list[int]]:
    module = cj.compile(TEXT, "k.cj", device="vulkan", **options)
    out, w = np.array([5, -5], np.int32), np.array([255, 128, 1, 0, 0, 5, 10, 15], np.uint8)
    module["dots"](out, w, np.array([-128, 127, -1, 9, -127, -90, -53, -16], np.int8), grid=1, block=2)
    return module, out.tolist()
