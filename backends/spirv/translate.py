"""A program as one SPIR-V module, with an entry point for each of its kernels."""

from __future__ import annotations

from cajeta_dot.backends.spirv.interface import DESCRIPTOR_SET, lay_out, watch_binding
from cajeta_dot.backends.spirv.module import FULL_INTERFACE, Module, quote
from cajeta_dot.backends.spirv.plan import plan
from cajeta_dot.backends.spirv.writer import FunctionWriter, Surroundings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.backends import Options
    from cajeta_dot.backends.spirv.module import Environment
    from cajeta_dot.backends.spirv.plan import Instance
    from cajeta_dot.ir import Program


def translate(
    program: Program, environment: Environment, options: Options, watch_loops: bool = False
) -> tuple[str, list[Instance]]:
    """The text of the module, and its functions with what became of their arrays.

    The program has core opcodes only, and nothing that `support.report_unsupported` reports. `watch_loops`: a `uint` at
    the binding `interface.watch_binding` counts the loops that were entered and not left in the way the program leaves them.
    """
    module = Module(environment)
    instances = plan(program, options.narrow_memory)
    surroundings = Surroundings(options.block, options.int_dot, options.checks, program.source if options.debug_lines else None)
    if surroundings.lines:
        surroundings.file = module.identify("file")
        module.strings.append(f"{surroundings.file} = OpString {quote(program.source.name_in_output)}")
    kernels = [instance for instance in instances if instance.kernel is instance.function]
    for kernel in kernels:
        _declare_arrays(module, kernel)
        _declare_push_constants(module, kernel, surroundings)
    if watch_loops:
        places = [f"DescriptorSet {DESCRIPTOR_SET}", f"Binding {watch_binding(program)}"]
        surroundings.watch = module.variable("StorageBuffer", module.buffer_block("uint"), "running_loops", places)
    for instance in instances:
        FunctionWriter(module, instance, surroundings).write()
    for kernel in kernels:
        _declare_entry_point(module, kernel, surroundings, options.exact_zeros)
    return module.render(), instances


def _declare_arrays(module: Module, kernel: Instance) -> None:
    """The variables of a kernel's buffers and shared arrays."""
    for memory in dict.fromkeys(kernel.arrays.values()):
        decorations: list[str] = []
        if memory.is_shared:
            type = module.array(memory.word, memory.cells)
        else:
            type = module.buffer_block(memory.word)
            decorations = [f"DescriptorSet {DESCRIPTOR_SET}", f"Binding {memory.binding}"]
            if not memory.written:
                decorations.append("NonWritable")
            elif memory.exchanged:
                decorations.append("Coherent")
        memory.variable = module.variable(memory.storage, type, memory.name, decorations)


def _declare_push_constants(module: Module, kernel: Instance, surroundings: Surroundings) -> None:
    """The variable of a kernel's push constants, if it has parameters at all."""
    members = lay_out(kernel.function)
    if members:
        name = f"{kernel.function.symbol}_parameters"
        words, offsets = [m.word for m in members], [m.offset for m in members]
        type = module.block(words, offsets, f"{name}_block", [m.name for m in members])
        surroundings.push_blocks[kernel.function] = module.variable("PushConstant", type, name)


def _declare_entry_point(module: Module, kernel: Instance, surroundings: Surroundings, exact_zeros: bool) -> None:
    listed = list(kernel.globals)
    if module.environment.version < FULL_INTERFACE:
        inputs = surroundings.built_ins.values()
        listed = [variable for variable in listed if variable in inputs]
    entry = ["OpEntryPoint GLCompute", kernel.id, quote(kernel.function.symbol), *listed]
    module.entry_points.append(" ".join(entry))
    size = [str(items) for items in surroundings.block]
    module.modes.append(" ".join(["OpExecutionMode", kernel.id, "LocalSize", *size]))
    for word, bits in _FLOATS if exact_zeros else ():
        if module.is_declared(word):
            module.require(PRESERVE)
            module.modes.append(f"OpExecutionMode {kernel.id} {PRESERVE} {bits}")


_FLOATS = (("float", 32), ("double", 64))
PRESERVE = "SignedZeroInfNanPreserve"  # capability and mode: a driver may not take `x + 0.0` for x, which could be -0.0
