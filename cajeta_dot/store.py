"""Files that later processes of this user find again: whole, for the same key, or as if they were not there.

They hold what `marshal` can write. It runs no code, but trusts its bytes, and what is kept may be machine code: so a file
counts only if it is this user's own, nobody else may write to it, and its check sum is right. The key is in the file, all of
it, so that two keys of one name are never taken for each other.

`CAJETA_CACHE_DIR` names another folder than the user's own; if it is empty, nothing is kept.
"""

from __future__ import annotations

import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

FOLDER_VARIABLE = "CAJETA_CACHE_DIR"
SUFFIX, UNFINISHED = ".bin", ".tmp"
_FORMAT = b"cajeta store 1\n"
_OLD = 3600  # seconds after which an unfinished file has been left behind by a process that died
_CHECK_BYTES = 8


def user_folder() -> str:
    """A folder of this user's own, never the shared temporary folder; empty where there is none, or none is wanted."""
    named = os.environ.get(FOLDER_VARIABLE)
    if named is not None:
        return os.path.abspath(named) if named else ""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "cajeta-dot") if os.path.isabs(base) else ""


def objects_folder() -> str:
    """Where code is kept; empty where nothing is."""
    folder = user_folder()
    return os.path.join(folder, "objects") if folder else ""


def name_of(key: bytes) -> str:
    """What a file for that key may be called."""
    return check_sum(key).hex() + SUFFIX


def check_sum(data: bytes) -> bytes:
    """What pyc files use, 64 bits. `importlib.util`, where it is public, takes 1.3 ms to import, `hashlib` more."""
    from _imp import source_hash

    return source_hash(len(data), data)


def read(path: str, key: bytes) -> Any | None:
    """What was written there for the key."""
    head = _FORMAT + len(key).to_bytes(4, "little") + key
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
                return None
            data = file.read()
        start = len(head) + _CHECK_BYTES
        if data[: len(head)] != head or data[len(head) : start] != check_sum(data[start:]):
            return None
        return marshal.loads(data[start:])
    except (OSError, ValueError, EOFError, TypeError):
        return None


def write(path: str, key: bytes, content: Any) -> bool:
    """Whole or not at all: readers see the old file or the new one. A folder that can't be written is no error."""
    from contextlib import suppress
    from tempfile import mkstemp

    body = marshal.dumps(content)
    temporary = ""
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        handle, temporary = mkstemp(UNFINISHED, dir=os.path.dirname(path))
        with os.fdopen(handle, "wb") as file:
            file.write(_FORMAT + len(key).to_bytes(4, "little") + key + check_sum(body) + body)
        os.replace(temporary, path)
    except OSError:
        with suppress(OSError):
            os.unlink(temporary)
        return False
    return True


def touch(path: str) -> None:
    """The file was used: others shall make room first."""
    from contextlib import suppress

    with suppress(OSError):
        os.utime(path)


def list_files(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """The files of ours that lie in a folder, those also that were never finished."""
    try:
        with os.scandir(folder) as found:
            for item in found:
                if item.name.endswith((SUFFIX, UNFINISHED)) and item.is_file(follow_symlinks=False):
                    yield item.path, item.stat()
    except OSError:  # not a folder, or it went away
        return


def trim(folder: str, limit: int) -> int:
    """Deletes what was not used for the longest time until at most `limit` bytes are left. How many files went?"""
    from time import time

    files = sorted(list_files(folder), key=lambda file: file[1].st_mtime)
    size = sum(status.st_size for _, status in files)
    gone = 0
    for path, status in files:
        left_behind = path.endswith(UNFINISHED) and time() - status.st_mtime > _OLD
        if size > limit or left_behind:
            gone += _delete(path)
            size -= status.st_size
    return gone


def clear(folder: str) -> int:
    """Deletes all files of ours in a folder. How many?"""
    return sum(_delete(path) for path, _ in list_files(folder))


def _delete(path: str) -> bool:
    try:
        os.unlink(path)
    except OSError:  # another process was faster, or it is in use
        return False
    return True
