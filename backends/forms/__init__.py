"""int8 dot products: each lowering written once, then emitted as LLVM IR, executed with numpy and proved with z3.

`algebra` is what lowerings are written in, `instructions` and `forms` are the tables, and a reading says what the operations
do: `llvm_reading` writes, `numpy_reading` computes, `z3_reading` builds terms for `prove`. The compiler needs the first four;
z3 is for tests and `python -m cajeta_dot.backends.forms.prove`.
"""
