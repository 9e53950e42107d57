"""A machine for PTX: it reads the text, runs it, and objects to what the PTX manual leaves undefined.

It knows nothing of the compiler: only PTX (the PTX ISA manual of NVIDIA, "Instruction Set") and numpy. `parse` reads the text,
`instructions` is the table of all instructions that are understood, one row for each spelling; what they do to numbers is in
`integers` and `floats`. `memory` holds addresses to the arrays they point into, `program` turns instructions into steps, and
`execute` runs them: all threads of some workgroups at once, an instruction being one numpy operation on the threads that
have come to it.
"""
