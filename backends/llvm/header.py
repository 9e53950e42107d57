"""What a module exports, as a C header: the interface of `kernels`, with names for what faults are.

A header needs nothing but <stdint.h>, can be included from C99 and C++ and beside the headers of other programs. Equal
programs give equal headers.
"""

from __future__ import annotations

from cajeta_dot.backends.llvm import checks
from cajeta_dot.backends.llvm.facts import is_exported
from cajeta_dot.backends.llvm.reserved import make_identifier
from cajeta_dot.passes.effects import written_arrays
from cajeta_dot.types import BOOL, FLOAT, SIGNED, UNSIGNED, VOID, Array, element_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cajeta_dot.backends.llvm.checks import Site
    from cajeta_dot.backends.llvm.machine import Machine
    from cajeta_dot.backends.llvm.modules import ModuleText
    from cajeta_dot.ir import Function, Program
    from cajeta_dot.source import Source
    from cajeta_dot.types import Type

_TYPES = {
    (BOOL, 1): "uint8_t", (FLOAT, 16): "uint16_t", (FLOAT, 32): "float", (FLOAT, 64): "double",
    **{(SIGNED, bits): f"int{bits}_t" for bits in (8, 16, 32, 64)},
    **{(UNSIGNED, bits): f"uint{bits}_t" for bits in (8, 16, 32, 64)},
}  # fmt: skip
_KINDS = {
    checks.BOUNDS: "CAJETA_BOUNDS",
    checks.DIVISION: "CAJETA_DIVISION",
    checks.LANE: "CAJETA_LANE",
    checks.LENGTH: "CAJETA_LENGTH",
    checks.DEPTH: "CAJETA_DEPTH",
    checks.MEMORY: "CAJETA_MEMORY",
}
_WIDTH = 110


def write_header(program: Program, module: ModuleText, machines: Sequence[Machine]) -> str:
    """The header of a program. With several machines, the plainest first, there is a choice between them."""
    stem = name_unit(program.source)
    guard = f"CAJETA_{stem.upper()}_H"
    targets = ", ".join(machine.target for machine in machines)
    return "\n".join([
        f"/* {_comment(program.source.name_in_output)} for {targets}, compiled by cajetac. docs/c-interface.md says more. */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        _SHARED,
        _write_places(program.source, stem, module.sites),
        *_write_choice(stem, machines),
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        *_write_functions(program, module, machines[0]),
        *([f"int32_t {name_chooser(program.source)}(int32_t newest);", ""] if len(machines) > 1 else []),
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "",
        f"#endif /* {guard} */",
        "",
    ])  # fmt: skip


def name_unit(source: Source) -> str:
    """What stands for the file in identifiers."""
    stem = source.name_in_output.rpartition("/")[2].strip("<>")
    stem = stem[: stem.rindex(".")] if "." in stem[1:] else stem
    return make_identifier(stem.replace("-", "_"), external=False)


def name_chooser(source: Source) -> str:
    """The function that says which machine's code is run."""
    return f"cajeta_choose_{name_unit(source)}"


def _write_functions(program: Program, module: ModuleText, machine: Machine) -> Iterator[str]:
    """Prototypes in the order of the program, each below the line of the source that it is for."""
    written = written_arrays(program)
    for function in program.entries:
        title = f"{function.kind} {function.signature}"
        if not is_exported(function, machine):
            yield f"/* Not for C, because vectors are passed: {_comment(title)} */\n"
            continue
        last = "struct cajeta_launch *launch" if function.kind == "kernel" else "struct cajeta_fault *fault"
        words = [*_list_parameters(function, written[function]), last]
        head = f"{_spell(function.result)} {module.exports[function]}("
        yield f"/* {_comment(title)} */\n{_break_lines(head, words)});\n"


def _list_parameters(function: Function, written: frozenset[int]) -> list[str]:
    """Types and names: no name is used twice, or is one that C has another use for."""
    taken = {"launch", "fault"}
    words: list[str] = []
    for place, param in enumerate(function.params):
        name = make_identifier(param.attr, external=False)
        while name in taken or f"{name}_length" in taken:
            name += "_"
        taken |= {name, f"{name}_length"}
        if isinstance(param.type, Array):
            const = "" if place in written else "const "
            words += [f"{const}{_spell(param.type.element)} *{name}", f"int64_t {name}_length"]
        else:
            words.append(f"{_spell(param.type)} {name}")
    return words


def _break_lines(head: str, words: Sequence[str]) -> str:
    lines = [head]
    for place, word in enumerate(words):
        piece = word if place == len(words) - 1 else f"{word}, "
        if len(lines[-1]) + len(piece) > _WIDTH and lines[-1].strip():
            lines.append("    ")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def _spell(type: Type) -> str:
    if type == VOID:
        return "void"
    element = element_of(type)
    return _TYPES[element.kind, element.bits]


def _comment(text: str) -> str:
    """Text that does not end a comment, nor goes on behind the line."""
    return "".join(c if c.isprintable() else "?" for c in text).replace("*/", "* /").replace("/*", "/ *").replace("\\", "/")


def _quote(text: str) -> str:
    """A string of C, in bytes that every compiler reads alike."""
    plain = (chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in text.encode("utf-8", "replace"))
    return '"' + "".join(plain) + '"'


def _write_places(source: Source, stem: str, sites: Sequence[Site]) -> str:
    rows = [f"        {{CAJETA_NO_FAULT, {_quote(source.name_in_output)}, 0, 0, 0}},"]
    for site in sites:
        part, offset = source.locate(site.start)
        line, column = part.position(offset)
        rows.append(f"        {{{_KINDS[site.kind]}, {_quote(part.name_in_output)}, {line}, {column}, {site.lanes}}},")
    return _PLACES.format(stem=stem, rows="\n".join(rows), count=len(rows), file=_quote(source.name_in_output))


def _write_choice(stem: str, machines: Sequence[Machine]) -> list[str]:
    if len(machines) == 1:
        return []
    names = ", ".join(f"CAJETA_{stem}_{machine.target}".upper().replace("-", "_").replace(".", "_") for machine in machines)
    return [_CHOICE.format(names=names, stem=stem)]


_SHARED = """\
#include <stdint.h>

#ifndef CAJETA_ABI
#define CAJETA_ABI 1

/* What went wrong: `site` is 0 if nothing did. The first fault in the order of the work items is kept. `group` and `item` are
   the numbers of its workgroup and work item, x fastest, and -1 in a host method. */
struct cajeta_fault {
    int64_t site, group, item, value, other;
};

/* A launch of a kernel: `grid` workgroups of `block` work items each, of which those from `first_group` to the one before
   `end_group` are run by this call. */
struct cajeta_launch {
    uint32_t grid[3], block[3];
    int64_t first_group, end_group;
    struct cajeta_fault fault;
};

typedef char cajeta_launch_has_80_bytes[sizeof(struct cajeta_launch) == 80 ? 1 : -1];

enum cajeta_kind {
    CAJETA_NO_FAULT,
    CAJETA_BOUNDS,    /* an access of `lanes` elements at index `value` of an array of length `other` */
    CAJETA_DIVISION,  /* `value` divided by `other`: zero, or the least number by -1 */
    CAJETA_LANE,      /* lane `value` of a vector of `lanes` lanes */
    CAJETA_LENGTH,    /* an array of length `value`, which can't be had */
    CAJETA_DEPTH,     /* a host method called itself too often */
    CAJETA_MEMORY,    /* a workgroup needs `value` bytes, which can't be had */
    CAJETA_NO_VARIANT /* this CPU can run none of the targets, and nothing was done */
};

/* What a site stands for: the kind of fault, and where it is in the program. */
struct cajeta_place {
    enum cajeta_kind kind;
    const char *file;
    int32_t line, column, lanes;
};

static inline struct cajeta_fault cajeta_no_fault(void) {
    struct cajeta_fault fault = {0, -1, -1, 0, 0};
    return fault;
}

/* All workgroups of a grid; `grid_x * block_x` work items along x, at most 2**32, and so on. */
static inline struct cajeta_launch cajeta_make_launch(uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, uint32_t block_x,
                                                      uint32_t block_y, uint32_t block_z) {
    struct cajeta_launch launch = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, 0, 0, {0, -1, -1, 0, 0}};
    launch.end_group = (int64_t)grid_x * grid_y * grid_z;
    return launch;
}

#elif CAJETA_ABI != 1
#error "two headers of cajetac belong to versions that do not fit each other"
#endif
"""
_PLACES = """\
/* What `fault.site` stands for in what was compiled from this file. */
static inline struct cajeta_place cajeta_place_{stem}(int64_t site) {{
    static const struct cajeta_place places[] = {{
{rows}
    }};
    static const struct cajeta_place none = {{CAJETA_NO_VARIANT, {file}, 0, 0, 0}};
    return site >= 0 && site < {count} ? places[site] : none;
}}
"""
_CHOICE = """\
/* The targets that there is code for. The first call of a function below takes the last of them that the CPU and its
   operating system can run. `cajeta_choose_{stem}` chooses again, for all functions: no later one than `newest`. It returns
   what was chosen, -1 if nothing can be run; INT32_MAX lets the machine decide. */
enum {{ {names} }};
"""
