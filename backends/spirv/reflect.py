"""How to call the kernels of a module, as JSON: the output kind `reflect`.

    {"schema": 1, "target": "spirv", "target_env": "vulkan1.1", "spirv": "1.3", "capabilities": [...], "extensions": [...],
     "features": ["shaderIntegerDotProduct"],
     "entry_points": [{"name": "...", "symbol": "...", "local_size": [64, 1, 1], "push_constant_bytes": 16,
                       "shared_bytes": 0,
                       "parameters": [{"name": "w", "type": "KernelBuffer<uint8>", "set": 0, "binding": 0,
                                       "access": "read", "memory": "uint", "length_offset": 0},
                                      {"name": "rows", "type": "uint32", "offset": 4, "bytes": 4}]}]}

`features` are those of the device, by their names in Vulkan, that a program has to turn on. `memory` is the type of the
buffer's elements in the module: where it is wider than the source's, the buffer has to be a whole number of them long.
Offsets are those of push constants.
"""

from __future__ import annotations

import json

from cajeta_dot.backends.spirv.interface import DESCRIPTOR_SET, lay_out, size_of_block
from cajeta_dot.backends.spirv.listing import Listing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from cajeta_dot.backends import Options
    from cajeta_dot.backends.spirv.interface import Member
    from cajeta_dot.backends.spirv.module import Environment
    from cajeta_dot.backends.spirv.plan import Instance

# Capability -> the device's feature that allows it (Vulkan specification, "SPIR-V Capabilities"); the others need none.
_FEATURES = {
    "DotProduct": "shaderIntegerDotProduct",
    "Int64": "shaderInt64",
    "Float64": "shaderFloat64",
    "StorageBuffer8BitAccess": "storageBuffer8BitAccess",
    "StorageBuffer16BitAccess": "storageBuffer16BitAccess",
}


def reflect(text: str, instances: Sequence[Instance], environment: Environment, options: Options) -> str:
    """The JSON text for a module and the functions it was made of."""
    listing = Listing(text)
    kernels = [instance for instance in instances if instance.kernel is instance.function]
    content = {
        "schema": 1,
        "target": "spirv",
        "target_env": environment.name,
        "spirv": ".".join(map(str, environment.version)),
        "capabilities": sorted(listing.capabilities),
        "extensions": sorted(listing.extensions),
        "features": sorted(_FEATURES[name] for name in listing.capabilities & _FEATURES.keys()),
        "entry_points": [_describe_kernel(kernel, options.block) for kernel in kernels],
    }
    return json.dumps(content, indent=2) + "\n"


def _describe_kernel(kernel: Instance, block: tuple[int, int, int]) -> dict[str, Any]:
    members = lay_out(kernel.function)
    return {
        "name": kernel.function.name,
        "symbol": kernel.function.symbol,
        "local_size": list(block),
        "push_constant_bytes": size_of_block(members),
        "shared_bytes": sum(memory.shared_bytes for memory in dict.fromkeys(kernel.arrays.values())),
        "parameters": [_describe_parameter(kernel, member) for member in members],
    }


def _describe_parameter(kernel: Instance, member: Member) -> dict[str, Any]:
    named = {"name": member.param.attr, "type": str(member.param.type)}
    buffer = kernel.arrays.get(member.param)
    if buffer is None:
        return named | {"offset": member.offset, "bytes": member.size}
    access = "read_write" if buffer.written else "read"
    place = {"set": DESCRIPTOR_SET, "binding": buffer.binding}
    return named | place | {"access": access, "memory": buffer.word, "length_offset": member.offset}
