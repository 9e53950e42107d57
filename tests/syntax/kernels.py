"""Text of any length in the style of quantized kernels, for tests and for timing. The same for the same seed."""

from __future__ import annotations

import random

_HEAD = """package bench;

import cajeta.xpu.KernelBuffer;
import cajeta.xpu.KernelThread;

public final class Generated {
"""


def write_kernel(number: int, rng: random.Random) -> list[str]:
    """One kernel of about 60 lines of 16 to 80 characters."""
    block, lanes = rng.choice((18, 34, 84, 144, 176, 210)), rng.choice((16, 32, 64))
    lines = [
        f"    /** Row times vector, blocks of {block} bytes; {lanes} weights a step. */",
        "    @Kernel",
        f"    public static void matVec{number}(KernelBuffer<float32> y,",
        "            KernelBuffer<int8> packed, KernelBuffer<int8> xq,",
        "            uint32 rows, int64 blocksPerRow, int64 yOff) {",
        "        uint32 row = KernelThread.globalIdX();",
        "        if (row < rows) {",
        f"            int64 rowBytes = blocksPerRow * {block}L;",
        "            float32 acc = 0.0f;",
        "            int64 b = 0;",
        "            while (b < blocksPerRow) {",
        f"                int64 ro = (int64) row * rowBytes + b * {block}L;",
        f"                Vector<int8,16> hv = packed.vload<16>(ro + {rng.randrange(64)}L);",
        f"                Vector<int32,{lanes // 4}> tot = heap Vector<int32,{lanes // 4}>(0);",
        "                // The header holds the scales; one load serves all of them.",
    ]
    for lane in range(rng.randrange(4, 12)):
        lines.append(f"                int32 d{lane} = ((int32) hv[{lane}] & 255) | (((int32) hv[{lane + 1}] & 255) << 8);")
    lines.append("                int32 g = 0;")
    lines.append("                while (g < 4) {")
    for step in range(rng.randrange(2, 6)):
        at = rng.randrange(0, 256, 16)
        lines += [
            f"                    Vector<uint8,{lanes}> raw{step} = packed.vload<{lanes}>(",
            f"                        ro + {at}L + (int64) (32 * g)).asUnsigned();",
            f"                    Vector<uint8,{lanes}> lo{step} = raw{step} & 15;",
            f"                    Vector<uint8,{lanes}> hi{step} = (raw{step} >> 4) & 15;",
            f"                    tot = tot + lo{step}.dotAccum(xq.vload<{lanes}>(b * 256L), tot) * d{step % 4};",
            "",
            f"                    if (d{step % 4} > {at} && g != 3) {{",
            f"                        tot = hi{step}.dotAccum(xq.vload<{lanes}>(b + {at}L), tot);",
            "                    } else { g = g + 1; }",
        ]
    lines += [
        "                    g = g + 1;",
        "                }",
        "                acc = acc + (float32) (tot[0] + tot[1] + tot[2] + tot[3])",
        "                          - 0.5f * (float32) d1;",
        "                b = b + 1;",
        "            }",
        "            y[yOff + (int64) row] = acc;",
        "        }",
        "    }",
        "",
    ]
    return lines


def write_program(lines: int, seed: int = 1) -> str:
    """A class of at least so many lines."""
    rng = random.Random(seed)
    body: list[str] = []
    while len(body) < lines:
        body += write_kernel(len(body), rng)
    return _HEAD + "\n".join(body) + "\n}\n"
