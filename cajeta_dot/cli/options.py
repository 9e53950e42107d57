"""The options of `cajetac`: one row each. Reading a command line and the help text are both made from the table.

It knows spellings and values, not what they lead to. `argparse` would take longer to import than a small file to check.
"""

from __future__ import annotations

import os

from ..record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

# Verb -> what stands behind it, what it does. A first word that is none of these is a file to build.
VERBS = {
    "build": ("FILE...", "compile; the verb may be left out"),
    "check": ("FILE...", "report mistakes, write nothing"),
    "run": ("FILE...", "call a kernel or a host method and print the arrays that it changed"),
    "disasm": ("FILE", "source lines beside the instructions that they became"),
    "bench": ("FILE...", "time a kernel on every target that this machine can run"),
    "explain": ("CODE", "what a diagnostic means, with examples"),
    "lsp": ("", "answer an editor on stdin and stdout: the language server protocol"),
    "targets": ("[NAME]", "what --target takes and this machine lacks for it; all of one target"),
    "devices": ("", "what --device takes, and what each device can do"),
    "cache": ("", "what is kept for later starts, and where"),
}
FILES = "build check run bench disasm kernels choices"
TELLING = f"{FILES} lsp"
TARGETED = "build check disasm choices"
CALLED = TUNED = "build check run bench disasm choices"
MENDED = "build check"
CACHED = f"{FILES} cache"


@record
class Option:
    """One row. `value` names what follows (empty: nothing does); with `|` in it, it lists the words that are allowed.

    `key` is where the value goes: the last one wins, except where `many`. `preset` is the value of a flag.
    `verbs` are those that take the option, empty for all.
    """

    spellings: tuple[str, ...]
    value: str
    key: str
    help: str
    verbs: str = ""
    preset: Any = True
    many: bool = False


# fmt: off
OPTIONS = (
    Option(("-o", "--output"), "PATH", "output", "where the output goes; - is stdout, a folder takes several", "build"),
    Option(("--emit",), "KIND[,KIND]", "emit", "what to write; the target's first kind by default", "build"),
    Option(("--emit-llvm",), "", "emit", "the same as --emit llvm-ir", "build", "llvm-ir"),
    Option(("-S", "--emit-asm"), "", "emit", "assembly: asm, ptx or spirv-asm, as the target has it", "build", "assembly"),
    Option(("-c", "--emit-obj"), "", "emit", "the same as --emit obj", "build", "obj"),
    Option(("--emit-spirv",), "", "emit", "the same as --emit spirv", "build", "spirv"),
    Option(("--target",), "NAME[,NAME]", "target", "see `cajetac targets`; native where code is made and none is named", FILES),
    Option(("-mcpu",), "NAME", "cpu", "processor that code is for: native is its best target, x86 code is tuned", TUNED),
    Option(("-mattr",), "+A,-B", "features", "features that a CPU target has beyond its own, or lacks", TUNED),
    Option(("--gpu-arch",), "ARCH", "gpu_arch", "architecture of a GPU target, such as sm_75", TARGETED),
    Option(("--ptx-version",), "N.N", "ptx_version", "version of PTX; by default the lowest with the architecture", TARGETED),
    Option(("--target-env",), "vulkan1.1|vulkan1.2|vulkan1.3", "target_env", "API of the spirv target", CALLED),
    Option(("--block",), "X[,Y[,Z]]", "block", "work items in a workgroup", FILES),
    Option(("--fallback",), "", "fallback", "expand what the architecture lacks instead of refusing", TARGETED),
    Option(("--no-int-dot",), "", "int_dot", "spirv: do without the dot product extension", CALLED, False),
    Option(("--no-narrow-memory",), "", "narrow_memory", "spirv: do without memory of 8 and 16 bits", CALLED, False),
    Option(("--device",), "KIND[:WHICH]", "device", "run there: vulkan, vulkan:1 or vulkan:NAME, see `cajetac devices`", "run"),
    Option(("--checks",), "", "checks", "run-time errors for accesses outside arrays and the like (run: on)", CALLED),
    Option(("--no-checks",), "", "checks", "leave them undefined", CALLED, False),
    Option(("-O",), "0|1|2|3", "optimize", "how much to optimize; 2 by default", CALLED),
    Option(("-fsplit-accumulators",), "", "split_accumulators", "gather a loop's sum of dots in parts; the default", CALLED),
    Option(("-fno-split-accumulators",), "", "split_accumulators", "one sum as written, one step at a time", CALLED, False),
    Option(("-D",), "NAME=INT", "values", "give the constant NAME, or Class.NAME, another value", FILES, many=True),
    Option(("-g",), "", "debug_lines", "line numbers in the output", "build"),
    Option(("-M",), "", "rules", "write a rule for make to stdout, and nothing else", "build", "only"),
    Option(("-MD",), "", "rules", "write a rule for make beside the output", "build", "beside"),
    Option(("-MF",), "FILE", "rule_file", "where that rule goes; the output's name with .d by default", "build"),
    Option(("-MT",), "TARGET", "rule_target", "what it makes; the output by default", "build", many=True),
    Option(("--kernel",), "NAME", "kernel", "what to call or show: a kernel or a host method", "run bench disasm"),
    Option(("--arg",), "NAME=VALUE", "arguments", "n=5, w=@w.npy, w=int8:1,-2,3, y=zeros:int32:16", "run bench", many=True),
    Option(("--grid",), "N[,N[,N]]", "grid", "workgroups", "run bench"),
    Option(("--threads",), "N", "threads", "work items in all, instead of --grid", "run bench"),
    Option(("--rounds",), "N", "rounds", "how often each target has its turn; 15 by default", "bench"),
    Option(("--plot",), "PATH", "plot", "also draw the times, as SVG", "bench"),
    Option(("--stdin-filename",), "NAME", "stdin_name", "what - is called in messages", FILES),

    Option(("--diag-format", "--error-format"), "text|short|json|sarif|github", "diag_format", "how messages look"),
    Option(("--color",), "auto|always|never", "color", "auto: if stderr is a terminal; NO_COLOR and FORCE_COLOR count"),
    Option(("-fcolor-diagnostics",), "", "color", "the same as --color always", "", "always"),
    Option(("-fno-color-diagnostics",), "", "color", "the same as --color never", "", "never"),
    Option(("-W",), "NAME", "switches", "warn; -Wno-NAME, -Wall, -Werror, -Werror=NAME, -Wno-error=NAME", TELLING, many=True),
    Option(("-w",), "", "switches", "no warnings", TELLING, "-w", many=True),
    Option(("-R",), "NAME", "switches", "show a remark (-R choice), or all (-R all)", TELLING, many=True),
    Option(("--error-limit",), "N", "error_limit", "stop after that many errors; 20 by default, 0 for never", FILES),
    Option(("--fix",), "", "fix", "change the inputs as diagnostics propose, where that is safe", MENDED, "machine"),
    Option(("--fix=unsafe",), "", "fix", "also where it changes what the program does", MENDED, "unsafe"),
    Option(("--diff",), "", "diff", "print what --fix would change, and write nothing", MENDED),
    Option(("--cache-dir",), "DIR", "cache_dir", "keep parser tables and compiled code there", CACHED),
    Option(("--no-cache",), "", "cache_dir", "keep nothing, and look at nothing that was kept", FILES, ""),
    Option(("--info",), "", "clear", "how much is kept; the default", "cache", False),
    Option(("--clear",), "", "clear", "delete what is kept", "cache"),
    Option(("--debug",), "", "debug", "show where an internal error happened"),

    Option(("-h", "--help"), "", "query", "this text; behind a verb, its options", "", "help"),
    Option(("--version",), "", "query", "versions of cajetac, LLVM, llvmlite and Python", "", "version"),
    Option(("--explain",), "CODE", "explain", "the same as `cajetac explain CODE`", "build"),
    Option(("--print-targets",), "", "query", "the same as `cajetac targets`", "build", "targets"),
    Option(("--print-host",), "", "query", "this processor, and what native is here and why", "build", "host"),
    Option(("--print-kernels",), "", "query", "kernels and host methods of FILE, with their arguments", "build", "kernels"),
    Option(("--print-choices",), "", "query", "what each operation of FILE becomes, and why", "build", "choices"),
    Option(("--json",), "", "json", "answer as JSON", "run bench disasm targets devices host kernels choices cache"),
)
# fmt: on
BY_SPELLING = {spelling: option for option in OPTIONS for spelling in option.spellings}
# Those whose value may be written without a space behind them.
_ATTACHED = [option.spellings[0] for option in OPTIONS if option.value and len(option.spellings[0]) == 2]
_CHANGE_VERB = ("query", "explain")


@record
class Complaint:
    """What can't be understood, and how to go on."""

    message: str
    help: str = ""


class Arguments:
    """A command line that was read. `complaints` is empty if it could be understood."""

    def __init__(self, verb: str):
        self.verb = verb
        self.words: list[str] = []
        self.values: dict[str, Any] = {}
        self.complaints: list[Complaint] = []

    def get(self, key: str, default: Any = None) -> Any:
        return self.values.get(key, default)


def read_arguments(line: Sequence[str]) -> Arguments:
    """Options may stand anywhere; behind `--` there are none. `@FILE` stands for the words in that file."""
    arguments = Arguments("")
    used: list[tuple[str, Option]] = []
    if any(word.startswith("@") for word in line):
        from .responses import expand_responses

        line, told = expand_responses(line)
        arguments.complaints += map(Complaint, told)
    words = iter(line)
    for word in words:
        if word == "--":
            arguments.words += words
        elif word == "-" or not word.startswith("-"):
            if not arguments.verb and not arguments.words and word in VERBS:
                arguments.verb = word
            else:
                arguments.words.append(word)
        else:
            option = _read_option(word, words, arguments)
            if option:
                used.append((word, option))
    _settle_verb(arguments)
    for word, option in used:
        if option.key not in _CHANGE_VERB and option.verbs and arguments.verb not in (*option.verbs.split(), "help", "version"):
            verb = arguments.verb if arguments.verb in VERBS else f"--print-{arguments.verb}"
            arguments.complaints.append(Complaint(f"`cajetac {verb}` has no option `{word}`"))
    return arguments


def write_help(verb: str = "") -> str:
    """The help text of a verb, or the whole."""
    words = ["cajetac", verb, VERBS[verb][0]] if verb else ["cajetac", "[build]", "FILE..."]
    lines = [f"usage: {' '.join(filter(None, words))} [options]"]
    lines += ["", VERBS[verb][1]] if verb else ["", "verbs:", *(_align(f"{v} {w}", help) for v, (w, help) in VERBS.items())]
    lines += ["", "options:"]
    for option in OPTIONS:
        if not verb or not option.verbs or verb in option.verbs.split():
            value = " " + option.value if option.value else ""
            lines.append(_align(", ".join(option.spellings) + value, option.help))
    if not verb:
        lines += [
            "",
            "@FILE stands for the words in FILE, with the quotes of a shell",
            "exit codes: 0 success, 1 the source has errors, 2 usage, 3 this machine lacks something, 70 internal error",
        ]
    return "\n".join(lines) + "\n"


def _align(left: str, right: str, width: int = 34) -> str:
    left = "  " + left
    return f"{left:<{width}}{right}" if len(left) < width else f"{left}\n{' ' * width}{right}"


def _settle_verb(arguments: Arguments) -> None:
    """`--explain CODE` and the queries are verbs too."""
    query = arguments.get("query")
    if "explain" in arguments.values:
        arguments.verb = "explain"
        arguments.words.append(arguments.values["explain"])
    elif query in ("help", "version"):
        arguments.values["about"] = arguments.verb
        arguments.verb = query
    elif query:
        arguments.verb = query
    arguments.verb = arguments.verb or "build"


def _read_option(word: str, words: Iterator[str], arguments: Arguments) -> Option | None:
    name, equals, value = (word, "", "") if word in BY_SPELLING else word.partition("=")
    attached = next((short for short in _ATTACHED if word.startswith(short) and word != short), None)
    if word not in BY_SPELLING and attached and not word.startswith("--"):
        name, equals, value = attached, "=", word[len(attached) :]
    option = BY_SPELLING.get(name)
    if option is None:
        from ..diagnostics import nearest

        near = nearest(name, BY_SPELLING) if len(name) > 2 else None
        help = f"did you mean `{near}`?" if near else "`cajetac --help` lists the options"
        arguments.complaints.append(Complaint(f"no option `{name}`", help))
        return None
    if not option.value:
        if equals:
            arguments.complaints.append(Complaint(f"`{name}` takes no value, found `{value}`"))
        _store(arguments, option, option.preset)
        return option
    if not equals:
        given = next(words, None)
        if given is None or given.partition("=")[0] in BY_SPELLING:
            found = f", found `{given}`" if given else ""
            arguments.complaints.append(Complaint(f"`{name}` needs a value, {option.value}{found}"))
            return option
        value = given
    if "|" in option.value and value not in option.value.split("|"):
        words_allowed = option.value.replace("|", ", ")
        arguments.complaints.append(Complaint(f"`{name}` takes one of {words_allowed}; found `{value}`"))
        return option
    try:
        _store(arguments, option, _READERS.get(option.value, str)(value))
    except ValueError as error:
        arguments.complaints.append(Complaint(f"`{name}` {error}, found `{value}`"))
    return option


def _read_count(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ValueError("takes a number from 0 on")
    return int(text)


def _read_extent(text: str, least: int = 0) -> tuple[int, int, int]:
    numbers = text.split(",")
    if len(numbers) > 3 or not all(n.isascii() and n.isdigit() and int(n) >= least for n in numbers):
        raise ValueError(f"takes up to three numbers from {least} on, such as 64 or 8,8")
    x, y, z = (*map(int, numbers), 1, 1)[:3]
    return x, y, z


def _read_size(text: str) -> tuple[int, int, int]:
    return _read_extent(text, least=1)


def _read_definition(text: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    try:
        value = int(number, 0) if name else None
    except ValueError:
        value = None
    if value is None:
        raise ValueError("takes NAME=INT")
    return name, value


def _read_path(text: str) -> str:
    if not text:
        raise ValueError("takes the name of a file")
    return text


def _read_kinds(text: str) -> str:
    if text and not all(text.split(",")):
        raise ValueError("takes kinds of output with a comma between two")
    return text


def _read_folder(text: str) -> str:
    """One that can be written to, or that can be made; empty for none."""
    place = os.path.abspath(text)
    while not os.path.lexists(place):
        place = os.path.dirname(place)
    if not os.path.isdir(place) or not os.access(place, os.W_OK):
        raise ValueError("takes a folder that can be written to")
    return text


# Kind of value -> what reads it; raises ValueError with the end of a sentence.
_READERS: dict[str, Callable[[str], Any]] = {
    "N": _read_count,
    "X[,Y[,Z]]": _read_size,
    "N[,N[,N]]": _read_extent,
    "NAME=INT": _read_definition,
    "PATH": _read_path,
    "FILE": _read_path,
    "KIND[,KIND]": _read_kinds,
    "DIR": _read_folder,
}


def _store(arguments: Arguments, option: Option, value: Any) -> None:
    if option.key == "switches" and option.value:
        value = option.spellings[0] + value
    if option.many:
        arguments.values.setdefault(option.key, []).append(value)
    else:
        arguments.values[option.key] = value
