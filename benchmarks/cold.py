"""How long one compilation takes as a whole process, beside another compiler of an equal program.

    python -m benchmarks.cold [ROUNDS]

`samples/dp4a.cj` for three targets, beside glslangValidator, nvcc and clang, which get the same dot products in their language
(`benchmarks/equal/`). GLSL has them written out, since only later versions of glslang know GL_EXT_integer_dot_product. Files,
byte code and the parser's tables are in the caches of the disk and of the system. Processes take turns; ROUNDS is 15. `ratio`
is the median of their time by ours: above 1 cajetac is faster. Compilers that are not installed are left out.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.sides import HERE, SAMPLES
from benchmarks.turns import measure_commands

OTHERS = {
    "spirv": (("glslangValidator",), "-V {folder}/dp4a.comp -o {out}"),
    "nvptx": (("nvcc",), "-ptx -arch=sm_75 {folder}/dp4a.cu -o {out}"),
    "x86-vnni": (("clang", "clang-19"), "-S -emit-llvm -O2 -mavx512vnni -mavx512vl {folder}/dp4a.c -o {out}"),
}


def compare(target: str, rounds: int) -> str:
    """A row; where the other compiler is missing, of ours alone."""
    names, words = OTHERS[target]
    other = next(filter(None, map(shutil.which, names)), None)
    script = shutil.which("cajetac", path=str(Path(sys.executable).parent)) or shutil.which("cajetac")
    if script is None:
        raise SystemExit("cajetac is not installed: pip install -e .")
    with TemporaryDirectory() as folder:
        out = Path(folder, "out")
        commands = {"cajetac": [script, str(SAMPLES / "dp4a.cj"), "--target", target, "-o", str(out)]}
        if other:
            commands["other"] = [other, *words.format(folder=HERE / "equal", out=out).split()]
        times = measure_commands(commands, rounds)
    ours, theirs = times["cajetac"], times.get("other")
    row = f"{target:10}{min(ours):8.1f}{median(ours):8.1f}"
    if not theirs:
        return f"{row}      {' and '.join(names)}: not installed, left out"
    ratio = median(b / a for a, b in zip(ours, theirs, strict=True))
    return f"{row}      {Path(str(other)).name:20}{min(theirs):8.1f}{median(theirs):8.1f}{ratio:8.2f}"


def main(words: list[str]) -> None:
    rounds = int(words[0]) if words else 15
    print(f"cajetac ms    best  median      {'other':20}    best  median   ratio")
    for target in OTHERS:
        print(compare(target, rounds), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
