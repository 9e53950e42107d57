"""Every diagnostic the compiler can give, one row each: the code, the word for -W, one sentence.

Codes are fixed and never used again. E00xx command line, E01xx text and syntax, E02xx names, E03xx types, E04xx dot and
lanes, E05xx memory and kernels, E06xx targets; W warnings; R remarks.
"""

from __future__ import annotations

from .. import Rule

OUTPUT_NOT_A_DIRECTORY = Rule("E0001", "output-directory", "Several outputs need a directory to go to.")
EMIT_CONTRADICTION = Rule("E0002", "emit-contradiction", "The kind of output contradicts its file name or the target.")
USAGE = Rule("E0003", "usage", "The command line can't be understood.")

BAD_ENCODING = Rule("E0101", "encoding", "The file is not UTF-8.")
BAD_LITERAL = Rule("E0102", "literal", "A number is not written in a form that exists, or needs more than 64 bits.")
RESERVED_WORD = Rule("E0103", "reserved-word", "A word of the language is used as a name.")
MISSING_SEMICOLON = Rule("E0104", "missing-semicolon", "A statement does not end in a semicolon.")
NOT_CLOSED = Rule("E0105", "not-closed", "A bracket is opened and never closed.")
CLOSES_NOTHING = Rule("E0106", "closes-nothing", "A bracket is closed that was never opened.")
TEXT_NOT_CLOSED = Rule("E0107", "text-not-closed", "A comment or a string is never closed.")
UNKNOWN_CHARACTER = Rule("E0108", "unknown-character", "A character is not part of the language.")
SYNTAX = Rule("E0109", "syntax", "The text is not a program.")
ASSIGNMENT_IN_CONDITION = Rule("E0110", "assignment-in-condition", "A condition assigns where it should compare.")
TOO_DEEP = Rule("E0111", "nesting", "Constructs are nested more deeply than the compiler follows.")
FILE_TOO_LARGE = Rule("E0112", "file-size", "The file is larger than the compiler reads.")

UNKNOWN_VARIABLE = Rule("E0201", "unknown-variable", "No variable of that name is in scope.")
UNKNOWN_METHOD = Rule("E0202", "unknown-method", "The type has no method of that name.")
UNKNOWN_TYPE = Rule("E0203", "unknown-type", "No type has that name.")
ALREADY_DECLARED = Rule("E0204", "already-declared", "A name is declared twice in one scope or an enclosing one.")
KERNEL_TWICE = Rule("E0205", "kernel-twice", "Two kernels of a class have one name.")
NOT_ASSIGNED = Rule("E0206", "not-assigned", "A variable is read before it has a value on every path.")
UNKNOWN_FUNCTION = Rule("E0207", "unknown-function", "No function or class has that name.")
WRONG_ARGUMENTS = Rule("E0208", "arguments", "A call's arguments do not fit.")
DEFINED_TWICE = Rule("E0209", "defined-twice", "A class or a method is defined twice.")

TYPE_MISMATCH = Rule("E0301", "mismatched-types", "No conversion joins the two types.")
LITERAL_RANGE = Rule("E0303", "literal-range", "A literal does not fit where it goes.")
SHAPE_MISMATCH = Rule("E0304", "shapes-differ", "Vectors differ in lanes or in the width of their elements.")
SHIFT_COUNT = Rule("E0305", "shift-count", "A constant shift count is not smaller than the width.")
DIVISION_BY_ZERO = Rule("E0306", "division-by-zero", "An integer is divided by the constant zero.")
NOT_FOR_FLOATS = Rule("E0307", "integer-only", "The operation is for integers.")
LANE_COUNT_RANGE = Rule("E0308", "lane-count-range", "A vector's lane count is outside 1..256.")
CONDITION_TYPE = Rule("E0309", "condition", "A condition is not boolean.")
RETURN_FROM_VOID = Rule("E0310", "return-from-void", "A void method returns a value.")
MISSING_RETURN = Rule("E0311", "missing-return", "A method that has a result can end without one.")

DOT_SHAPE = Rule("E0401", "dot-shape", "`dot` of bytes is for four lanes.")
LANE_COUNT = Rule("E0402", "lane-count", "The lane count is not a multiple of four.")
ACCUMULATOR_TYPE = Rule("E0404", "accumulator-type", "The accumulator has the wrong type.")
OPERAND_LANES = Rule("E0405", "operand-lanes", "The operands differ in lanes.")
ACCUMULATOR_LANES = Rule("E0406", "accumulator-lanes", "The accumulator has the wrong number of lanes.")
ACCUMULATOR_SCALAR = Rule("E0407", "accumulator-scalar", "The accumulator is a scalar where lanes are needed.")
DOT_ARGUMENTS = Rule("E0408", "dot-arguments", "A dot operation has too few or too many arguments.")
DOT_OPERAND = Rule("E0409", "dot-operand", "A dot operation is applied to something other than bytes.")

KERNEL_RETURNS = Rule("E0501", "kernel-returns", "A kernel returns a value.")
KNOWN_OUT_OF_BOUNDS = Rule("E0502", "known-bounds", "An access is outside an array of known length.")
NOT_CONSTANT = Rule("E0504", "not-constant", "A lane count or length is not a constant.")
NO_SUCH_LANE = Rule("E0505", "no-such-lane", "A lane or component does not exist.")
BARRIER_NOT_UNIFORM = Rule("E0506", "barrier", "Not every work item is sure to reach a barrier.")
RECURSION = Rule("E0507", "recursion", "Methods that a kernel calls are recursive.")
NOT_IN_KERNELS = Rule("E0508", "not-in-kernels", "A kernel can't hold this construct.")
MUTABLE_STATIC = Rule("E0509", "mutable-static", "A mutable static field is used in compiled code.")
HOST_METHOD_IN_KERNEL = Rule("E0510", "host-method-in-kernel", "A kernel calls a host method that touches an array.")
NOT_SUPPORTED = Rule("E0511", "not-supported", "The compiler does not support this construct yet.")

FEATURE_MISSING = Rule("E0601", "feature-missing", "This machine lacks what the target needs.")
TARGET_TOO_OLD = Rule("E0602", "target-too-old", "The chosen architecture lacks an instruction.")
UNKNOWN_TARGET = Rule("E0603", "unknown-target", "No target, CPU or feature has that name.")
NOT_ON_TARGET = Rule("E0604", "not-on-target", "The target does not support the operation yet.")

SIGNEDNESS = Rule("W0301", "signedness", "A value is read with another signedness from here on.")
NARROWING = Rule("W0302", "narrowing", "A value is cut down to fewer bits.")
MIXED_SIGN = Rule("W0304", "mixed-sign", "An operator reads signed and unsigned operands alike.")
NO_OP_MASK = Rule("W0306", "no-op-mask", "A mask keeps every bit.")
SATURATION = Rule("W0401", "saturation", "The target clamps sums that these weights can reach.")
UNMASKED_NIBBLE = Rule("W0402", "unmasked-nibble", "A shift copies the sign into a nibble.")
OPERAND_SIGN = Rule("W0403", "operand-sign", "A dot operation reads an operand otherwise than it is declared.")
KNOWN_NEGATIVE = Rule("W0405", "known-negative", "`asUnsigned` keeps the bits of a negative constant.")
NARROW_PRODUCT = Rule("W0406", "narrow-product", "A product of bytes keeps eight bits.")
UNUSED_RESULT = Rule("W0407", "unused-result", "The result of a dot operation or of `==` is not used.")
TAIL = Rule("W0501", "tail", "The last step of a loop reads past the end.")
NO_EFFECT = Rule("W0502", "no-effect", "A kernel writes nothing.")

PROVEN_UNSIGNED = Rule("R0404", "proven-unsigned", "Signed weights are proven not negative.")
SUM_RANGE = Rule("R0405", "sum-range", "A sum may leave the range of int32.")
CHOICE = Rule("R0406", "choice", "What an operation became on the target.")
LOOP_SPLIT = Rule("R0407", "split-accumulator", "A loop gathers a sum of dot products in several parts.")
LOOP_WIDENED = Rule("R0408", "widened-dot", "A loop of four-lane dot products takes several steps at once.")
SCALARIZED = Rule("R0601", "scalarized", "An operation is expanded to scalar code.")
SKIPPED_METHOD = Rule("R0602", "skipped-method", "A host method outside the dialect is skipped.")
ANNOTATION = Rule("R0603", "annotation", "An annotation is not honoured on the target.")
INEXACT_FLOAT = Rule("R0604", "inexact-float", "A float operation is only as exact as the target's API promises.")
HOST_IN_DOUBT = Rule("R0605", "host-in-doubt", "What this machine's processor can do is not known, so it gets scalar code.")

RULES: dict[str, Rule] = {rule.code: rule for rule in list(globals().values()) if isinstance(rule, Rule)}
BY_NAME: dict[str, Rule] = {rule.name: rule for rule in RULES.values()}
