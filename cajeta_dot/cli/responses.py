"""Response files: `@FILE` on the command line stands for the words in FILE, for lines that are longer than a system allows."""

from __future__ import annotations

from .files import tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_FILES = 100  # read for one line: files that name each other end here


def expand_responses(line: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words with those of files in their place, and what is wrong. Behind `--`, and in quotes, `@` is a letter.

    A file has words as a POSIX shell splits them, on any number of lines, and may name further files. A name is that of a
    file beside the current folder, wherever the file that names it lies.
    """
    import shlex

    words: list[str] = []
    told: list[str] = []
    waiting = list(reversed(line))
    files = 0
    while waiting:
        word = waiting.pop()
        if word == "--":
            words += [word, *reversed(waiting)]
            break
        if len(word) < 2 or word[0] != "@":
            words.append(word)
            continue
        files += 1
        if files > MAX_FILES:
            told.append(f"more than {MAX_FILES} response files; does one name itself?")
            break
        try:
            with open(word[1:], encoding="utf-8") as file:
                inside = shlex.split(file.read())
        except OSError as error:
            told.append(f"can't read the response file `{word[1:]}`: {tell(error)}")
        except ValueError as error:  # not UTF-8, or a quote that is not closed
            told.append(f"can't read the response file `{word[1:]}`: {str(error).lower()}")
        else:
            waiting += reversed(inside)
    return words, told
