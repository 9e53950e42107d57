"""Bytes in and out: inputs, the streams, and outputs that appear whole or not at all."""

from __future__ import annotations

import os
import sys
from errno import EACCES
from stat import S_IMODE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

STREAM = "-"  # stdin among the inputs, stdout as the output


class WriteError(Exception):
    """An output that could not be written: what it is called, and the system's words."""

    def __init__(self, path: str, error: OSError):
        super().__init__(f"can't write {path}: {tell(error)}")


def tell(error: OSError) -> str:
    """The system's words for what went wrong."""
    return (error.strerror or str(error)).lower()


def read_bytes(path: str, most: int) -> bytes:
    """The first `most` bytes of a file, or of stdin. Raises OSError."""
    if path != STREAM:
        with open(path, "rb") as file:
            return file.read(most)
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison] - it is, where the descriptor is closed
        raise OSError("standard input is closed")
    return sys.stdin.buffer.read(most)


def print_error(text: str) -> None:
    """To stderr, if there is one and somebody still reads it."""
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison] - as above
        return
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except BrokenPipeError:
        pass


def print_output(content: str | bytes) -> None:
    """To stdout; text as UTF-8 with plain line ends, whatever the locale. Raises WriteError, or BrokenPipeError."""
    try:
        if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison] - as above
            raise OSError("it is closed")
        sys.stdout.flush()
        _write(sys.stdout.buffer, content)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise WriteError("standard output", error) from error


def write_whole(path: str, content: str | bytes) -> None:
    """A new file in place of the old one, or the old one untouched. Raises WriteError, or BrokenPipeError.

    Links are followed, permissions kept, devices and pipes are written to; what is marked as read-only stays, though the
    permissions of its folder would let it be replaced.
    """
    try:
        _replace(os.path.realpath(path), content)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise WriteError(f"`{path}`", error) from error


def rewrite(path: str, content: bytes) -> None:
    """An input with other content, written whole. Raises WriteError, also for what is no file."""
    if not os.path.isfile(path):
        raise WriteError(f"`{path}`", PermissionError(EACCES, "it is no file"))
    write_whole(path, content)


def make_folder(path: str) -> None:
    """If it is not there. Raises WriteError."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise WriteError(f"`{path}`", error) from error


def _replace(path: str, content: str | bytes) -> None:
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as device:
            _write(device, content)
        return
    if os.path.exists(path) and not (os.stat(path).st_mode & 0o222 and os.access(path, os.W_OK)):
        raise PermissionError(EACCES, "it is read-only")
    unfinished = os.path.join(os.path.dirname(path), f".cajetac-{os.urandom(8).hex()}.tmp")
    with open(unfinished, "xb") as file:
        try:
            _write(file, content)
            file.close()
            if os.path.exists(path):
                os.chmod(unfinished, S_IMODE(os.stat(path).st_mode))
            os.replace(unfinished, path)
        except BaseException:
            os.unlink(unfinished)
            raise


def _write(file: BinaryIO, content: str | bytes) -> None:
    file.write(content.encode() if isinstance(content, str) else content)
