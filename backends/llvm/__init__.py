"""Core IR to LLVM IR text, and from there to assembly, objects and running code. x86 and nvptx stand on it.

A `Machine` says what is written for. `compile` takes a checked program, `modules` writes it as one module: `facts` are found
first, `functions` writes each function (its statements; opcodes in `operations`, `conversions`, `divisions`, `dots`, `memory`,
`lookups`; on GPUs also `words` and `addresses`), `workgroups` those whose work items meet at barriers, `kernels` what others
can call, `header` tells C of them. `checks` are the run-time errors, `lines` the line numbers. `types`, `names`, `signatures`
and `writer` spell LLVM.

Only `assembler`, `jit` and `host` import llvmlite, when they are used; `threads` spreads a launch.
"""
