"""What Python passes to a kernel or host method, checked and made ready: flat arrays and numbers of the right type.

Nothing is converted behind the caller's back: an array's elements must be exactly those of the parameter and lie one after
another in memory, a number must be one that the parameter's type has. Refusals name the argument and say why: TypeError
for what is of the wrong kind, ValueError for arrays laid out or shared as they can't be, OverflowError for numbers.
"""

from __future__ import annotations

import operator
from itertools import combinations

import numpy as np

from cajeta_dot.reference.numbers import round_float
from cajeta_dot.types import BOOLEAN, Array, Scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from cajeta_dot.ir import Function

    Elements = NDArray[Any]

_CPU = 1  # kDLCPU of dlpack.h
# Named so that a test leaves what was tested of the type `object`.
_ARRAYS: tuple[type, ...] = (np.ndarray,)
_NOT_ARRAYS: tuple[type, ...] = (bool, int, float, complex, str, list, tuple, dict, set, np.generic, type(None))
_NUMPY_SCALARS: tuple[type, ...] = (np.generic,)
_BOOLEANS: tuple[type, ...] = (bool, np.bool_)
# Not numpy.longdouble, which would be rounded twice, and of which the largest become infinite.
_FLOATS: tuple[type, ...] = (float, np.float16, np.float32, np.float64)


class ArgumentReader:
    """All parameters of one function. `written` are the positions whose array the function may write."""

    def __init__(self, function: Function, written: frozenset[int]):
        self.function, self.written = function, written
        self.names: list[str] = [param.attr for param in function.params]
        self.readers = [
            _make_reader(f"`{name}` of {function.name}", param.type, place in written)
            for place, (name, param) in enumerate(zip(self.names, function.params, strict=True))
        ]
        self.arrays = [place for place, param in enumerate(function.params) if isinstance(param.type, Array)]

    def read(self, given: Sequence[object]) -> list[Any]:
        """The arguments for `backends.Entry`. Raises TypeError, ValueError or OverflowError."""
        if len(given) != len(self.readers):
            plural = "" if len(self.readers) == 1 else "s"
            raise TypeError(f"{self.function.signature} takes {len(self.readers)} argument{plural}, found {len(given)}")
        ready = [read(argument) for read, argument in zip(self.readers, given, strict=True)]
        if self.written and len(self.arrays) > 1:
            self._refuse_shared(ready)
        return ready

    def _refuse_shared(self, ready: list[Any]) -> None:
        spans = [(place, _span(ready[place])) for place in self.arrays if ready[place].size]
        for (a, (a_start, a_end)), (b, (b_start, b_end)) in combinations(spans, 2):
            if (a in self.written or b in self.written) and a_start < b_end and b_start < a_end:
                written = self.names[a if a in self.written else b]
                raise ValueError(
                    f"`{self.names[a]}` and `{self.names[b]}` of {self.function.name} share memory, and `{written}` is written"
                )


def _make_reader(where: str, type: object, written: bool) -> Callable[[object], Any]:
    if isinstance(type, Array):
        element = type.element
        dtype = np.dtype(str(element) if element.is_number else "bool")
        return lambda given: _read_array(given, where, dtype, written)
    if not isinstance(type, Scalar):
        return lambda given: _refuse(where, f"is {type}, which only other methods can pass")
    if type == BOOLEAN:
        return lambda given: _read_boolean(given, where)
    if type.is_float:
        return lambda given: _read_float(given, where, type)
    return lambda given: _read_integer(given, where, type)


def _refuse(where: str, why: str) -> None:
    raise TypeError(f"{where} {why}")


# ---- arrays


def _read_array(given: object, where: str, dtype: np.dtype[Any], written: bool) -> Elements:
    """The array seen flat; what is written to it is in the caller's memory."""
    array = _view_array(given, where, dtype)
    if array.dtype != dtype:
        swapped = ", with its bytes in the other order" if array.dtype.newbyteorder() == dtype else ""
        raise TypeError(f"{where} takes an array of {dtype}, found {array.dtype}{swapped}")
    if not array.flags.c_contiguous:
        raise ValueError(f"{where} is not contiguous in memory; numpy.ascontiguousarray() makes a copy that is")
    if not array.flags.aligned:
        raise ValueError(f"{where} does not begin at a multiple of its element size; its copy() does")
    if written and not array.flags.writeable:
        raise ValueError(f"{where} is read-only, and is written")
    return array.reshape(-1)


def _view_array(given: object, where: str, dtype: np.dtype[Any]) -> Elements:
    """What is given as a numpy array over the same memory."""
    if isinstance(given, _ARRAYS):
        if hasattr(given, "mask"):
            raise TypeError(f"{where} takes an array of {dtype}, found a masked one, whose mask would be lost")
        return np.asarray(given)
    if not isinstance(given, _NOT_ARRAYS):
        try:
            if hasattr(given, "__array_interface__"):
                return np.asarray(given)
            if hasattr(given, "__dlpack__"):
                return _view_tensor(given, where)
            return np.asarray(memoryview(given))  # type: ignore[arg-type] - TypeError if it is no buffer
        except (TypeError, ValueError, BufferError, RuntimeError) as error:
            raise TypeError(f"{where} takes an array of {dtype}, found {_name_kind(given)}: {error}") from error
    raise TypeError(f"{where} takes an array of {dtype}, found {_name_kind(given)}")


def _view_tensor(given: Any, where: str) -> Elements:
    device = given.__dlpack_device__()[0]
    if device != _CPU:
        raise BufferError(f"it is on device {int(device)} of DLPack, not in this CPU's memory")
    return np.from_dlpack(given)


def _name_kind(given: object) -> str:
    return f"numpy.{type(given).__name__}" if isinstance(given, _NUMPY_SCALARS) else type(given).__name__


def _span(array: Elements) -> tuple[int, int]:
    start: int = array.__array_interface__["data"][0]
    return start, start + array.nbytes


# ---- numbers


def _read_boolean(given: object, where: str) -> bool:
    if not isinstance(given, _BOOLEANS):
        raise TypeError(f"{where} takes True or False, found {_name_kind(given)}")
    return bool(given)


def _read_integer(given: Any, where: str, type: Scalar) -> int:
    if isinstance(given, _BOOLEANS + _ARRAYS) or not hasattr(given, "__index__"):
        raise TypeError(f"{where} takes an integer, found {_name_kind(given)}")
    number = operator.index(given)
    if not type.low <= number <= type.high:
        raise OverflowError(f"{where} takes {type}, {type.low}..{type.high}, found {_show(number)}")
    return number


def _read_float(given: Any, where: str, type: Scalar) -> float:
    """Rounded once to the type. Integers are numbers too."""
    if isinstance(given, _FLOATS):
        number: float | int = float(given)
    elif isinstance(given, _BOOLEANS + _ARRAYS) or not hasattr(given, "__index__"):
        raise TypeError(f"{where} takes a number, found {_name_kind(given)}")
    else:
        number = operator.index(given)
    rounded = round_float(number, type.bits)
    if rounded in (float("inf"), -float("inf")) and rounded != number:
        raise OverflowError(f"{where} takes {type}, which has no number as large as {_show(number)}")
    return rounded


def _show(number: float | int) -> str:
    """Python refuses to write out very long integers."""
    if isinstance(number, int) and number.bit_length() > 256:
        return f"an integer of {number.bit_length()} bits"
    return str(number)
