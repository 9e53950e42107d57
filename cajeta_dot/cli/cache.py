"""`cajetac cache`: what is kept for later starts, where, and how to be rid of it."""

from __future__ import annotations

import os

from .. import store
from ..diagnostics.rules import USAGE
from ..run.cache import MAX_BYTES
from .commands import write_table
from .messages import Refusal
from .session import Session


def show_cache(session: Session) -> None:
    """Tells, or with `--clear` deletes. Only files that `cajetac` has written are counted and touched."""
    if session.arguments.words:
        raise Refusal(USAGE, f"`cajetac cache` takes no file, found `{session.arguments.words[0]}`")
    folder = store.user_folder()
    if not folder:
        off = f"{store.FOLDER_VARIABLE} is empty" if store.FOLDER_VARIABLE in os.environ else "there is no folder for it"
        raise Refusal(USAGE, f"nothing is kept: {off}", "`--cache-dir DIR` names a folder")
    kinds = {"parser tables": folder, "compiled code": store.objects_folder()}
    if session.arguments.get("clear"):
        gone = sum(store.clear(place) for place in kinds.values())
        session.answer(f"{gone} files deleted from {folder}\n", {"folder": folder, "deleted": gone})
        return
    found = {kind: [status.st_size for _, status in store.list_files(place)] for kind, place in kinds.items()}
    rows = [(kind, str(len(sizes)), _write_size(sum(sizes))) for kind, sizes in found.items()]
    text = (
        f"{folder}\n\n{write_table(('', 'files', 'size'), rows)}\nat most {_write_size(MAX_BYTES)} of compiled code is kept\n"
    )
    counted = {kind.replace(" ", "_"): {"files": len(sizes), "bytes": sum(sizes)} for kind, sizes in found.items()}
    session.answer(text, {"folder": folder, **counted, "limit": MAX_BYTES})


def _write_size(size: int) -> str:
    for unit, bytes in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= bytes:
            return f"{size / bytes:.{0 if size >= 100 * bytes else 1}f} {unit}"
    return f"{size} bytes"
