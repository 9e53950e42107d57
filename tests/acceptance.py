"""Runs programs with known answers on several targets and prints one table: `python -m tests.acceptance DIR`, or `make
acceptance DIR=...`.

DIR holds pairs NAME.cj and NAME.json. The JSON names the source, the targets ("all", or ["cpu"] for host methods and checks)
and the cases: an entry, a launch, arguments and what each array must hold afterwards; arrays that are not named must not
change. A target is a name that `--target` takes, or a device such as `vulkan` or `vulkan:1`. A table cell says how many cases
passed (GPUs are asked kernels only); the last column whether all targets left the same bits, any NaN counting as any other.

Each target has a process of its own, which is started again behind a program that ends it. Exit code 1: something failed.
"""

from __future__ import annotations

import argparse
import builtins
import hashlib
import json
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import cajeta_dot as cj
from cajeta_dot import driver

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Json = dict[str, Any]
    Numbers = NDArray[Any]

DEFAULT_TARGETS = "reference,native,vulkan,ptx-emulator"
CPU_ONLY = "CPU only"
STARTED, STARTING = "started", 60.0  # seconds at most
CLAMPING = "x86-maddubs"  # may give other numbers where a case says so
REFUSALS = {"E0601": "not here", "E0604": "unsupported"}


class Mismatch(Exception):
    """A case went otherwise than it says."""


# ---- targets


def is_device(target: str) -> bool:
    """Is it a device and no target of its own?"""
    kind = target.partition(":")[0]
    return any(kind in info.devices for _, info in driver.all_targets())


def has_kernels_only(target: str) -> bool:
    """Is it a GPU, or an emulated one? Those have no host methods, and checks raise nothing there."""
    found = None if is_device(target) else driver.find_target(target)
    return found is None or any(kind in found[1].kinds for kind in ("ptx", "spirv"))


def find_unknown(targets: Sequence[str]) -> list[str]:
    return [target for target in targets if not is_device(target) and driver.find_target(target) is None]


def compile_for(path: Path, target: str) -> cj.Module:
    """Raises CompileError."""
    options = {"device": target} if is_device(target) else {"target": target}
    return cj.compile_file(path, **options)  # type: ignore[arg-type] - each is a name


# ---- one program


def run_program(folder: Path, name: str, target: str) -> Json:
    """What became of its cases: `passed`, `cases`, `why` for the first that failed, `digests` of what each left, or `said`."""
    document: Json = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    if document["targets"] != "all" and has_kernels_only(target):
        return {"said": CPU_ONLY}
    try:
        module = compile_for(folder / document["source"], target)
    except cj.CompileError as error:
        codes = [found.code for found in error.diagnostics]
        said = next((REFUSALS[code] for code in codes if code in REFUSALS), None)
        why = str(error).splitlines()[0]
        return {"said": said, "why": why} if said else {"passed": 0, "cases": len(document["cases"]), "why": why}
    cases = {place: c for place, c in enumerate(document["cases"]) if c["kind"] == "kernel" or not has_kernels_only(target)}
    passed, why = 0, ""
    digests: dict[int, str] = {}
    for place, case in cases.items():
        digest = hashlib.sha256()
        try:
            run_case(folder, module, case, target, digest)
            passed += 1
        except Mismatch as mismatch:
            why = why or f"{case['entry']} {case.get('label', '')}: {mismatch}"
        except Exception as error:
            why = why or f"{case['entry']} {case.get('label', '')}: {type(error).__name__}: {error}"
        digests[place] = digest.hexdigest()
    return {"passed": passed, "cases": len(cases), "why": why, "digests": digests}


def run_case(folder: Path, module: cj.Module, case: Json, target: str, digest: Any) -> None:
    """Raises Mismatch, and what the call raises where no error is wanted."""
    arrays: dict[str, Numbers] = {}
    arguments: list[Any] = []
    for spec in case["args"]:
        argument = make_argument(folder, spec, arrays)
        if isinstance(argument, np.ndarray):
            arrays[spec["name"]] = argument
        arguments.append(argument)
    before = {name: array.copy() for name, array in arrays.items()}
    launch: Json = {key: tuple(case[key]) for key in ("grid", "block")} if case["kind"] == "kernel" else {}
    value, failed = None, None
    try:
        value = module[case["entry"]](*arguments, **launch)
    except Exception as error:
        if "error" not in case:
            raise
        failed = error
        check_error(error, case["error"])
    if "error" in case and failed is None:
        raise Mismatch(f"{case['error']['kind']} is wanted, nothing was raised")
    if target == CLAMPING and case.get("clamps_on_maddubs"):
        return
    expected = case.get("expect", {})
    for name, array in arrays.items():
        if name in expected or failed is None:
            wanted = read_values(folder, expected[name], array.dtype, array.shape) if name in expected else before[name]
            compare(name, wanted, array, case.get("tolerance") or {} if name in expected else {})
            digest.update(settle_nans(array).tobytes())
    if failed is None and "returns" in case:
        check_value(value, case["returns"], case.get("tolerance") or {}, digest)


def make_argument(folder: Path, spec: Json, arrays: dict[str, Numbers]) -> Any:
    if "scalar" in spec:
        return float(spec["value"]) if spec["scalar"].startswith("float") else spec["value"]
    array = (
        arrays[spec["same_as"]]
        if "same_as" in spec
        else read_values(folder, spec, np.dtype(spec["dtype"]), tuple(spec["shape"]))
    )
    if "view" in spec:
        array = array[slice(*spec["view"])]
    if spec.get("readonly"):
        array.setflags(write=False)
    return array


def read_values(folder: Path, spec: Json, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Numbers:
    if "fill" in spec:
        return np.full(shape, spec["fill"], dtype)
    if "file" in spec:
        with np.load(folder / spec["file"], allow_pickle=False) as stored:
            return np.array(stored[spec["key"]], dtype).reshape(shape)
    numbers = [float(number) if isinstance(number, str) else number for number in spec["values"]]
    return np.array(numbers, dtype).reshape(shape)


# ---- what came out


def settle_nans(array: Numbers) -> Numbers:
    """The same numbers, every NaN of them the same one."""
    return np.where(array == array, array, np.array(np.nan, array.dtype)) if array.dtype.kind == "f" else array


def compare(name: str, wanted: Numbers, found: Numbers, tolerance: Json) -> None:
    """Bit for bit, or within a tolerance. Raises Mismatch."""
    wanted, found = np.ravel(wanted), np.ravel(found)
    if wanted.size != found.size:
        raise Mismatch(f"{name} has {found.size} elements instead of {wanted.size}")
    if tolerance:
        same = np.isclose(found, wanted, rtol=tolerance.get("rtol", 0), atol=tolerance.get("atol", 0), equal_nan=True)
    else:
        size = (wanted.size, wanted.itemsize)
        sides = [settle_nans(np.ascontiguousarray(side)).view(np.uint8).reshape(size) for side in (wanted, found)]
        same = (sides[0] == sides[1]).all(1)
    if not same.all():
        at = int(np.argmin(same))
        raise Mismatch(f"{name}[{at}] is {found[at]} instead of {wanted[at]}; {int((~same).sum())} of {found.size} differ")


def check_value(value: Any, wanted: Any, tolerance: Json, digest: Any) -> None:
    if isinstance(wanted, dict):
        number: Json = {**wanted}
        dtype = np.dtype(str(number["scalar"]))
        compare("the value", np.array([float(number["value"])], dtype), np.array([value], dtype), tolerance)
    elif value is None or value != wanted:
        raise Mismatch(f"the value is {value} instead of {wanted}")
    digest.update(repr(value).encode())


def check_error(error: Exception, wanted: Json) -> None:
    """Its class, and what it says of the place. Raises Mismatch."""
    names = wanted["kind"].split("|")
    classes = tuple(getattr(cj, name, None) or getattr(builtins, name) for name in names if name != "any")
    if "any" not in names and not isinstance(error, classes):
        raise Mismatch(f"{wanted['kind']} is wanted, found {type(error).__name__}: {error}")
    for key in ("line", "index", "length"):
        found = getattr(error, key, None)
        if key in wanted and found != wanted[key] and (key == "line" or str(wanted[key]) not in str(error)):
            raise Mismatch(f"{key} {wanted[key]} is wanted, found {found}: {error}")
    if wanted.get("mentions", "") not in str(error):
        raise Mismatch(f"the message does not name {wanted['mentions']}: {error}")


# ---- a process for each target


def work(folder: Path, target: str, names: Sequence[str]) -> None:
    """The child: a line to say that it has started, then one of JSON for each program."""
    print(STARTED, flush=True)
    for name in names:
        print(json.dumps({"program": name, **run_program(folder, name, target)}), flush=True)


def run_target(folder: Path, target: str, names: Sequence[str], timeout: float) -> dict[str, Json]:
    """The results of all programs, also of those that end their process or do not end."""
    results: dict[str, Json] = {}
    while len(results) < len(names):
        rest = [name for name in names if name not in results]
        command = [sys.executable, "-m", "tests.acceptance", str(folder), "--child", target, "--only", ",".join(rest)]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        why = "no answer"
        for line in read_lines(child, timeout):
            if line.strip() != STARTED:
                result = json.loads(line)
                results[result.pop("program")] = result
        if child.poll() is None:
            child.kill()
            why = f"no answer in {timeout:g} s"
        code = child.wait()
        waiting = next((name for name in rest if name not in results), None)
        if waiting is not None:
            results[waiting] = {"passed": 0, "cases": 1, "why": why if code in (0, -9) else f"the process ends with {code}"}
    return results


def read_lines(child: subprocess.Popen[str], timeout: float) -> Iterator[str]:
    """Ends with the output, or where nothing comes for so many seconds, or for a minute at the start."""
    lines: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        assert child.stdout
        for line in child.stdout:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    wait = max(timeout, STARTING)
    while True:
        try:
            line = lines.get(timeout=wait)
        except queue.Empty:
            return
        if line is None:
            return
        wait = timeout
        yield line


# ---- the table


def tell(result: Json) -> str:
    if "said" in result:
        return result["said"]
    return f"{result['passed']}/{result['cases']}"


def agree(results: Sequence[Json]) -> str:
    """Did all that ran a case leave the same bits?"""
    ran = [result["digests"] for result in results if "digests" in result]
    if len(ran) < 2:
        return "-"
    places = {place for digests in ran for place in digests}
    alike = all(len({digests[place] for digests in ran if place in digests}) == 1 for place in places)
    return "equal" if alike else "DIFFERENT"


def make_rows(names: Sequence[str], table: dict[str, dict[str, Json]]) -> list[tuple[str, ...]]:
    rows = [("program", *table, "bits")]
    for name in names:
        results = [table[target][name] for target in table]
        rows.append((name, *map(tell, results), agree(results)))
    return rows


def write_markdown(rows: Sequence[Sequence[str]]) -> str:
    """The table for a page of documentation."""
    head, *others = (f"| {' | '.join(row)} |\n" for row in rows)
    return head + "|---" * len(rows[0]) + "|\n" + "".join(others)


def write_table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "".join("  ".join(map(str.ljust, row, widths)).rstrip() + "\n" for row in rows)


def find_failures(names: Sequence[str], table: dict[str, dict[str, Json]]) -> list[str]:
    """One line each."""
    found: list[str] = []
    for name in names:
        for target, results in table.items():
            result = results[name]
            if result.get("passed", 0) < result.get("cases", 0):
                found.append(f"{name} on {target}: {result['why']}")
        if agree([table[target][name] for target in table]) == "DIFFERENT":
            found.append(f"{name}: not the same bits on all targets")
    return found


def main(line: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.acceptance", description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("folder", metavar="DIR", type=Path)
    parser.add_argument("--targets", default=DEFAULT_TARGETS, help=f"{DEFAULT_TARGETS} by default")
    parser.add_argument("--only", metavar="NAME[,NAME]", help="these programs")
    parser.add_argument("--markdown", metavar="FILE", type=Path, help="write the table there too")
    parser.add_argument("--timeout", metavar="SECONDS", type=float, default=120, help="for one program")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    asked = parser.parse_args(line)
    names = sorted(path.stem for path in asked.folder.glob("*.json") if path.with_suffix(".cj").exists())
    names = [name for name in names if name in asked.only.split(",")] if asked.only else names
    if asked.child:
        work(asked.folder, asked.child, names)
        return 0
    targets = list(dict.fromkeys(asked.targets.split(",")))
    unknown = find_unknown(targets)
    if unknown or not names:
        print(f"no target or device `{unknown[0]}`" if unknown else f"no programs in {asked.folder}", file=sys.stderr)
        return 2
    table = {target: run_target(asked.folder, target, names, asked.timeout) for target in targets}
    rows = make_rows(names, table)
    print(write_table(rows), end="")
    if asked.markdown:
        asked.markdown.write_text(write_markdown(rows), encoding="utf-8")
    for target, results in table.items():
        absent = next((result["why"] for result in results.values() if result.get("said") == REFUSALS["E0601"]), None)
        if absent:
            print(f"{target}: {absent}")
    failures = find_failures(names, table)
    for failure in failures:
        print(failure)
    ran = sum("passed" in result for results in table.values() for result in results.values())
    print(f"{len(names)} programs on {len(targets)} targets, {ran} runs, {len(failures)} failures")
    return 1 if failures or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
