"""Core IR to LLVM IR text, and from there to assembly, objects and running code. All families but SPIR-V stand on it.

A `Machine` says what is written for, and for a GPU a `Gpu`; `processors` is what the pages of all other families share.
`compile` takes a checked program, `modules` writes it as one module: `facts` are found first, `functions` writes each function
(its statements; opcodes in `operations`, `conversions`, `divisions`, `dots`, `memory`, `lookups`; on GPUs also `words` and
`addresses`), `workgroups` those whose work items meet at barriers, `kernels` what others can call, `header` tells C of them.
`checks` are the run-time errors, `lines` the line numbers, kept with other `metadata`. `types`, `names`, `signatures` and
`writer` spell LLVM.

Only `assembler`, `jit` and `host` import llvmlite, when they are used; `elf` puts objects into memory without it; `threads`
spreads a launch.
"""
