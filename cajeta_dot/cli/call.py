"""`cajetac run`: arguments from the command line, one call through the Python API, and what it changed."""

from __future__ import annotations

from ..diagnostics import CompileError, nearest
from ..diagnostics.rules import FEATURE_MISSING, USAGE
from ..reference.numbers import round_float
from ..types import BOOLEAN, SCALARS
from .exit_codes import LACKING, SOURCE_ERRORS
from .files import tell
from .messages import Refusal
from .session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from ..run.functions import Function, Parameter
    from ..run.module import Module
    from ..types import Scalar

CPU_OPTIONS = ("cpu", "features", "split_accumulators")
HERE = "`cajetac targets` says what runs here"
DEVICE_OPTIONS = ("device", "target_env", "int_dot", "narrow_memory")
ARRAY_FORMS = "`@FILE.npy`, `zeros:int32:16` or `int8:1,-2,3`"


def call(session: Session) -> int | None:
    """Compiles, calls, and prints the arrays that changed and the value, if any."""
    from ..run.errors import DeviceError, KernelError

    files = list(dict.fromkeys(session.need_files()))
    _, target = session.resolve_one_target()
    device = session.arguments.get("device", "")
    if not target.runs and not device:
        where = f"; `--device {target.devices[0]}` runs it" if target.devices else ""
        session.messages.refuse(Refusal(FEATURE_MISSING, f"`{target.name}` makes code to run elsewhere{where}", HERE))
        return LACKING
    try:
        module = compile_for(session, files, target.name)
    except CompileError as error:
        session.show(error.diagnostics)
        return LACKING if any(d.rule is FEATURE_MISSING for d in error.diagnostics) else None
    session.show(module.diagnostics)
    if session.messages.errors:
        return None
    function = session.find_entry(module.functions)
    arguments = read_arguments(function.parameters, session.arguments.get("arguments", ()))
    launch = read_launch(session, function)
    before = [argument.copy() if hasattr(argument, "copy") else None for argument in arguments]
    try:
        value = function(*arguments, **launch)
    except KernelError as error:
        session.messages.show_fault(error)
        return LACKING if isinstance(error, DeviceError) else SOURCE_ERRORS
    except (TypeError, ValueError, OverflowError) as error:
        raise Refusal(USAGE, str(error)) from error
    changed = {
        parameter.name: now
        for parameter, now, old in zip(function.parameters, arguments, before, strict=True)
        if old is not None and now.tobytes() != old.tobytes()
    }
    _answer(session, changed, value)
    return None


def compile_for(session: Session, files: Sequence[str], target: str, num_threads: int | None = None) -> Module:
    """The inputs as one program. Raises CompileError."""
    from ..run.compile import compile_texts

    texts = [(session.read_bytes(file), session.read(file)[0].name) for file in files]
    given = session.arguments.values
    options: dict[str, Any] = {key: given[key] for key in (*DEVICE_OPTIONS, *CPU_OPTIONS) if key in given}
    if "optimize" in given:
        options["optimize"] = int(given["optimize"])
    return compile_texts(texts, target, session.arguments.get("checks", True), num_threads, options, values=session.values)


def read_launch(session: Session, function: Function) -> dict[str, Any]:
    """The extent of a launch as the command line says it. Raises Refusal."""
    given = {key: session.arguments.get(key) for key in ("grid", "block", "threads")}
    launch = {key: value for key, value in given.items() if value is not None}
    if function.kind == "kernel" and "threads" not in launch and not {"grid", "block"} <= launch.keys():
        raise Refusal(USAGE, f"`{function.name}` is a kernel: it needs `--threads N`, or `--grid` and `--block`")
    return launch


# ---- arguments


def read_arguments(parameters: Sequence[Parameter], given: Sequence[str]) -> list[Any]:
    """Numbers and arrays in the order of the parameters. Raises Refusal, naming the argument."""
    texts: dict[str, str] = {}
    names = [parameter.name for parameter in parameters]
    for word in given:
        name, equals, text = word.partition("=")
        if not equals:
            raise Refusal(USAGE, f"`--arg` takes NAME=VALUE, found `{word}`")
        if name not in names:
            near = nearest(name, names)
            offer = f"did you mean `{near}`?" if near else f"there are {', '.join(f'`{n}`' for n in names) or 'none'}"
            raise Refusal(USAGE, f"no parameter `{name}`", offer)
        texts[name] = text
    for parameter in parameters:
        if parameter.name not in texts:
            form = f"NUMBER, {parameter.type}" if parameter.type in SCALARS else "ARRAY"
            raise Refusal(USAGE, f"argument `{parameter.name}` is missing", f"`--arg {parameter.name}={form}`")
    return [_read_argument(parameter, texts[parameter.name]) for parameter in parameters]


def _read_argument(parameter: Parameter, text: str) -> Any:
    where = f"argument `{parameter.name}`"
    if parameter.type in SCALARS:
        return _read_number(SCALARS[parameter.type], text, where)
    import numpy as np

    kind, _, rest = text.partition(":")
    if text.startswith("@"):
        try:
            array: Any = np.load(text[1:], allow_pickle=False)
        except OSError as error:
            raise Refusal(USAGE, f"{where}: can't read `{text[1:]}`: {tell(error)}") from error
        except (ValueError, EOFError):
            array = None
        if not hasattr(array, "dtype"):  # an archive of arrays, or nothing of numpy's
            raise Refusal(USAGE, f"{where}: `{text[1:]}` is no .npy file of numbers")
        return array
    if kind == "zeros":
        kind, _, length = rest.partition(":")
        if kind in SCALARS and length.isascii() and length.isdigit():
            try:
                return np.zeros(int(length), _find_dtype(SCALARS[kind]))
            except (MemoryError, ValueError) as error:  # ValueError for more than a system can address
                raise Refusal(USAGE, f"{where}: there is no memory for {length} elements of {kind}") from error
    elif kind in SCALARS:
        numbers = [_read_number(SCALARS[kind], number.strip(), where) for number in rest.split(",")] if rest else []
        return np.array(numbers, _find_dtype(SCALARS[kind]))
    raise Refusal(USAGE, f"{where} takes an array, found `{text}`", ARRAY_FORMS)


def _find_dtype(type: Scalar) -> str:
    return "bool" if type == BOOLEAN else str(type)


def _read_number(type: Scalar, text: str, where: str) -> bool | int | float:
    if type == BOOLEAN:
        if text not in ("true", "false"):
            raise Refusal(USAGE, f"{where} takes true or false, found `{text}`")
        return text == "true"
    try:
        number = float(text) if type.is_float else int(text, 0)
    except ValueError as error:
        raise Refusal(USAGE, f"{where} takes {type}, found `{text}`") from error
    if type.is_float:
        rounded = round_float(number, type.bits)
        if rounded - rounded != 0 and any(letter.isdigit() for letter in text):  # not `inf` and `nan` as words
            raise Refusal(USAGE, f"{where} takes {type}, which has no number as large as {text}")
        return rounded
    if not type.low <= number <= type.high:
        raise Refusal(USAGE, f"{where} takes {type}, {type.low}..{type.high}, found {number}")
    return number


# ---- answers


def _answer(session: Session, changed: dict[str, NDArray[Any]], value: Any) -> None:
    lines = [f"{name} = {array.dtype}[{array.size}] {array}" for name, array in changed.items()]
    if value is not None:
        lines.append(f"value = {str(value).lower() if isinstance(value, bool) else value}")
    arrays = {
        name: {"type": str(array.dtype), "values": [_say(item) for item in array.reshape(-1).tolist()]}
        for name, array in changed.items()
    }
    session.answer("\n".join(lines or ["nothing changed"]) + "\n", {"changed": arrays, "value": _say(value)})


def _say(value: Any) -> Any:
    """As JSON can say it: a number that is not finite becomes a word."""
    return str(value) if isinstance(value, float) and value - value != 0 else value
