"""The binary form is, word for word, what spirv-as makes of the text. `kernels.assemble` asks that of every test's module."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import Any

import pytest

from cajeta_dot.backends import Options
from cajeta_dot.backends.spirv import backend
from cajeta_dot.backends.spirv.assemble import OPCODES, NotAssembled, assemble
from cajeta_dot.backends.spirv.module import ENVIRONMENTS
from cajeta_dot.diagnostics import Reporter

from .kernels import assemble as assemble_checked
from .kernels import check_text

ROOT = Path(__file__).parents[2]
SAMPLES = sorted((ROOT / "samples").glob("*.cj"))
# Constants of every width and at their ends, those of floats that are no numbers, and a name that has to be quoted.
CONSTANTS = """
class Ends {
    @Kernel static void store(
        KernelBuffer<float32> größe, KernelBuffer<float64> d, KernelBuffer<int64> l, KernelBuffer<int32> i
    ) {
        größe[0] = -0.0f; größe[1] = 1.0e-45f; größe[2] = 3.4028235e38f; größe[3] = (float32) (1.0 / 0.0);
        größe[4] = (float32) (-1.0 / 0.0); größe[5] = (float32) (0.0 / 0.0); größe[6] = 0.1f;
        d[0] = -0.0; d[1] = 4.9e-324; d[2] = 1.7976931348623157e308; d[3] = 1.0 / 0.0; d[4] = -1.0 / 0.0; d[5] = 0.1;
        l[0] = -9223372036854775808L; l[1] = 9223372036854775807L; l[2] = -1L; l[3] = 4294967296L;
        i[0] = -2147483648; i[1] = 2147483647; i[2] = -1;
    }
}
"""


def emit(text: str, kind: str, **options: Any) -> Any:
    program = check_text(text)
    artifact = backend.emit(program, "spirv", kind, Options(**options), Reporter(program.source))
    assert artifact
    return artifact.content


def compare(text: str, **options: Any) -> str:
    """Both forms of a program, held against spirv-as."""
    listing = emit(text, "spirv-asm", **options)
    binary = emit(text, "spirv", **options)
    assert binary == assemble_checked(listing, options.get("target_env", "vulkan1.1"))
    return listing


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_binary_is_that_of_the_tools(path: Path) -> None:
    compare(path.read_text(encoding="utf-8"), debug_lines=True)


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("int_dot", [True, False])
def test_constants(environment: str, int_dot: bool) -> None:
    compare(CONSTANTS, target_env=environment, int_dot=int_dot, debug_lines=True)


def test_every_opcode_of_the_writer_is_known() -> None:
    """What the modules of the backend spell as an opcode, apart from those that the checker forbids."""
    sources = (path.read_text() for path in (ROOT / "backends/spirv").glob("*.py") if path.name not in ("validate.py",))
    spelled = {word for source in sources for word in re.findall(r"\bOp[A-Z]\w+\b", source)}
    assert spelled - OPCODES.keys() == {"OpSRem", "OpType"}  # one in a remark, one that begins others
    assert {"OpIAdd", "OpSUDot", "OpLoopMerge"} <= spelled


HEAD = "; SPIR-V\n; Version: 1.3\nOpCapability Shader\n"


def test_strings_are_padded_and_unquoted() -> None:
    binary = assemble(HEAD + '%a = OpString "a\\\\\\"b"\n%b = OpString "abcd"\n')
    heads = [struct.pack("<I", words << 16 | 7) + struct.pack("<I", place) for place, words in ((1, 4), (2, 4))]
    assert binary[28:] == heads[0] + b'a\\"b\0\0\0\0' + heads[1] + b"abcd\0\0\0\0"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("OpFoo", "line 4: no opcode OpFoo"),
        ("OpCapability Foo", "line 4: OpCapability: no word Foo"),
        ("%h = OpTypeFloat 16\n%c = OpConstant %h 1", "line 5: a constant of OpTypeFloat 16"),
        ("%s = OpTypeStruct" + " %u" * 70000, "line 4: OpTypeStruct of 70002 words"),
    ],
)
def test_what_is_not_known_is_refused(line: str, message: str) -> None:
    with pytest.raises(NotAssembled) as caught:
        assemble(HEAD + line + "\n")
    assert str(caught.value) == message
