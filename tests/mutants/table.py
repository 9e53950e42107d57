"""The faults: what each is called, which text of which file becomes what, and which existing test must fail because of it.

They are those that compilers of dot products were shipped with, one or more for each place where they can be made. The text
that is replaced stands exactly once in its file; who changes such a line changes it here too.
"""

from __future__ import annotations

from tests.mutants.around_kernels import IN_SHORT_CALLS, IN_THE_CACHE
from tests.mutants.mutant import Mutant

FORMS, FORMULAS, ALGEBRA, INSTRUCTIONS = (
    f"backends/forms/{name}.py" for name in ("forms", "formulas", "algebra", "instructions")
)
PROVED = "tests/forms/test_proofs.py::test_every_form_is_proved"
CHOSEN = "tests/forms/test_choices.py::test_what_is_known_of_the_operands_counts"
PLACES = "tests/forms/test_emission.py::test_operands_reach_their_place"
VECTORS = "tests/llvm/test_vectors.py::test_every_exact_target_gives_the_sum_of_products[x86-scalar]"
OPCODES = "tests/llvm/test_operations.py::test_each_opcode_is_exact_on_every_type[{}-x86-scalar]"
RULES = "tests/passes/test_bounds.py::test_results_lie_in_their_bounds[{}]"
FLOWS = "tests/passes/test_ranges.py::test_locals_are_followed_through_branches_and_loops"
SPIRV_EXACT = "tests/spirv/test_dots.py::test_products_are_exact_and_wrap"
SPIRV_OPCODE = "tests/spirv/test_dots.py::test_opcode_follows_the_signs"
SPIRV_ORDER = "tests/spirv/test_dots.py::test_signed_operand_comes_first"

IN_FORMS = (
    Mutant(
        "operands swapped", FORMULAS, "return instruction(acc, w, x)", "return instruction(acc, x, w)", f"{PROVED}[x86-vnni-us]"
    ),
    Mutant(
        "bias not corrected",
        FORMULAS,
        "vpdpbusd(acc - vpdpbusd(0, 128, x), w ^ 128, x)",
        "vpdpbusd(acc, w ^ 128, x)",
        f"{PROVED}[x86-vnni-bias-ss]",
    ),
    Mutant("bias corrected by 127", FORMULAS, "vpdpbusd(0, w, -128)", "vpdpbusd(0, w, -127)", f"{PROVED}[x86-vnni-bias-uu]"),
    Mutant("sign flag of bit 7 lost", FORMULAS, "pmaddwd(top, -1)", "pmaddwd(top, 1)", f"{PROVED}[x86-split7-ss]"),
    Mutant(
        "halves added in 16 bits",
        FORMULAS,
        "return acc + (pmaddwd(low, 1) + pmaddwd(top, 1))",
        "return acc + pmaddwd(low + top, 1)",
        f"{PROVED}[x86-split7-us]",
    ),
    Mutant(
        "sign trick, wrong at -128",
        FORMULAS,
        "    return acc + (pmaddwd(low, 1) + pmaddwd(top, -1))\n",
        "    sign = w.ashr(7)\n    return maddubs((w ^ sign) - sign, (x ^ sign) - sign, acc)\n",
        f"{PROVED}[x86-split7-ss]",
    ),
    Mutant(
        "activations zero-extended",
        FORMULAS,
        "x.window(k, 1).extend(32, signed=x_signed)",
        "x.window(k, 1).extend(32, signed=False)",
        f"{PROVED}[any-scalar-us]",
    ),
    Mutant(
        "signs of the operands exchanged",
        FORMULAS,
        "((w, w_signed), (x, x_signed)))\n        return add_up",
        "((w, x_signed), (x, w_signed)))\n        return add_up",
        f"{PROVED}[x86-widen-us]",
    ),
    Mutant(
        "even bytes zero-extended",
        FORMULAS,
        "(pairs.shl(8).ashr(8), pairs.ashr(8)) if signed",
        "(pairs.shl(8).lshr(8), pairs.ashr(8)) if signed",
        f"{PROVED}[x86-even/odd-ss]",
    ),
    Mutant("one weight too many for maddubs", FORMS, '"us", maddubs, w_max=128)', '"us", maddubs, w_max=129)', CHOSEN),
    Mutant(
        "one weight too many for vnni",
        FORMS,
        '"ss", one(isa.vpdpbusd), w_max=127)',
        '"ss", one(isa.vpdpbusd), w_max=128)',
        CHOSEN,
    ),
    Mutant(
        "clamp taken for exact",
        FORMS,
        '"us", maddubs, DOT_CLAMPED)',
        '"us", maddubs, DOT["us"])',
        f"{PROVED}[x86-maddubs-clamping-us]",
    ),
    Mutant(
        "limits not exchanged with the operands",
        FORMS,
        "w_max=form.x_max, x_max=form.w_max)",
        "w_max=form.w_max, x_max=form.x_max)",
        CHOSEN,
    ),
    Mutant(
        "limit of the activations not asked for",
        FORMS,
        "(w_max <= form.w_max and x_max <= form.x_max and width <= form.width_max)",
        "(w_max <= form.w_max and width <= form.width_max)",
        CHOSEN,
    ),
    Mutant(
        "clamping form chosen unasked",
        FORMS,
        "and (form.exact or allowed_inexact)\n",
        "",
        "tests/forms/test_choices.py::test_the_first_form_that_fits_is_chosen",
    ),
    Mutant(
        "wrong lanes beside padding",
        ALGEBRA,
        "acc.window(start // 4, size // 4))\n\n        return assemble",
        "acc.window(0, size // 4))\n\n        return assemble",
        "tests/forms/test_readings.py::test_numpy_agrees_with_integers[x86-vnni-us]",
    ),
    Mutant("odd lanes not added up", ALGEBRA, "        if v.lanes % 2:\n", "        if False:\n", f"{PROVED}[x86-vnni-us]"),
    Mutant(
        "accumulator added twice",
        ALGEBRA,
        "            zeros = acc.constant(0, 32, rest // 4)\n",
        "            zeros = acc.shuffle(acc, [0] * (rest // 4))\n",
        f"{PROVED}[x86-vnni-us]",
    ),
    Mutant(
        "clamp of pmaddubsw left out of its model",
        INSTRUCTIONS,
        "dot(operands).clamp(16)",
        "dot(operands)",
        f"{PROVED}[x86-maddubs-clamping-us]",
    ),
    Mutant(
        "operands of dp4a in another order",
        INSTRUCTIONS,
        'order=(1, 2, 0), passing="words"',
        'order=(2, 1, 0), passing="words"',
        PLACES,
    ),
    Mutant(
        "saturating instruction called",
        INSTRUCTIONS,
        'f"llvm.x86.avx512.{name}.{bits}") for bits in needs}',
        'f"llvm.x86.avx512.{name}s.{bits}") for bits in needs}',
        PLACES,
    ),
)

LLVM = "backends/llvm/{}.py"
IN_THE_LLVM_EMITTER = (
    Mutant(
        "lanes grouped with a stride",
        LLVM.format("dots"),
        "for arg in args[:2])\n    made",
        "for arg in args[:2])\n"
        "    n = bytes // 4\n"
        "    w, x = (v.shuffle(v, [n * k + j for j in range(n) for k in range(4)]) for v in (w, x))\n"
        "    made",
        VECTORS,
    ),
    Mutant(
        "signs read in the wrong order",
        LLVM.format("dots"),
        "for arg in value.args[:2])",
        "for arg in value.args[1::-1])",
        VECTORS,
    ),
    Mutant(
        "no signed overflow assumed",
        LLVM.format("operations"),
        '"mul": "mul", "and"',
        '"mul": "mul nsw", "and"',
        "tests/llvm/test_operations.py::test_nothing_is_assumed_of_any_operand",
    ),
    Mutant(
        "signed shift without sign",
        LLVM.format("operations"),
        '("shr", "s"): "ashr"',
        '("shr", "s"): "lshr"',
        OPCODES.format("int8-None"),
    ),
    Mutant(
        "least unsigned read as signed",
        LLVM.format("operations"),
        '("min", "u"): "llvm.umin"',
        '("min", "u"): "llvm.smin"',
        OPCODES.format("uint8-None"),
    ),
    Mutant(
        "the least integer has no size",
        LLVM.format("operations"),
        '("i1", "false"))',
        '("i1", "true"))',
        "tests/llvm/test_operations.py::test_the_least_integer_has_a_size_that_llvm_does_not_think_impossible",
    ),
    Mutant(
        "widened by zeros",
        LLVM.format("conversions"),
        'return "sext" if source.kind == SIGNED else "zext"',
        'return "zext"',
        "tests/llvm/test_conversions.py::test_each_number_type_becomes_each_other[int8-None-x86-scalar]",
    ),
    Mutant(
        "the least divided by -1 traps",
        LLVM.format("divisions"),
        'return by_zero, writer.value(f"or {mask} {by_zero}, {overflows}")',
        "return by_zero, by_zero",
        OPCODES.format("int32-None"),
    ),
    Mutant(
        "carries cross bytes",
        LLVM.format("words"),
        'words.do("add", words.do("and", a, 0x7F), words.do("and", b, 0x7F))',
        'words.do("add", a, words.do("and", b, 0x7F))',
        "tests/llvm/test_words.py::test_operations_on_words_let_no_bit_cross",
    ),
    Mutant(
        "alignment promised",
        LLVM.format("memory"),
        'f"load {word}, {pointer}, align {size_in_memory(element)}"',
        'f"load {word}, {pointer}, align 16"',
        "tests/llvm/test_vectors.py::test_arrays_may_begin_at_any_byte[x86-sse2]",
    ),
)

BOUNDS, RANGES = "cajeta_dot/bounds.py", "cajeta_dot/ranges.py"
IN_RANGE_ANALYSIS = (
    Mutant("a mask bounds one too few", BOUNDS, "return 0, min(limits)\n", "return 0, min(limits) - 1\n", RULES.format("and")),
    Mutant(
        "exclusive or stays below its operands",
        BOUNDS,
        "(1 << max(_length(a), _length(b))) - 1",
        "max(*a, *b)",
        RULES.format("xor"),
    ),
    Mutant(
        "wrapping forgotten", BOUNDS, "    if (high - element.low) // size == turns:\n", "    if True:\n", RULES.format("add")
    ),
    Mutant("select takes its first choice", BOUNDS, "join(operands[1], operands[2])", "operands[1]", RULES.format("select")),
    Mutant(
        "a remainder is below its divisor by two",
        BOUNDS,
        "max(*map(abs, divisor), 1) - 1",
        "max(*map(abs, divisor), 2) - 2",
        RULES.format("rem"),
    ),
    Mutant(
        "a sum has one lane less",
        BOUNDS,
        "    lanes = lanes_of(value.args[0].type)\n    return lanes * low",
        "    lanes = lanes_of(value.args[0].type) - 1\n    return lanes * low",
        RULES.format("sum"),
    ),
    Mutant(
        "negative bytes are small",
        RANGES,
        "return high if low >= 0 else 255",
        "return high if low >= 0 else 128",
        "tests/passes/test_ranges.py::test_bytes_read_as_unsigned",
    ),
    Mutant("a condition excludes one too many", RANGES, "(low, min(high, most - 1))", "(low, min(high, most - 2))", FLOWS),
    Mutant(
        "a loop turns once",
        RANGES,
        "while not _is_inside(back := self.turn(item, head), head):",
        "while not (back := self.turn(item, head)):",
        FLOWS,
    ),
    Mutant(
        "what is left by `break` is forgotten",
        RANGES,
        "            self.leaving[-1].append(self.state)\n",
        "            pass\n",
        FLOWS,
    ),
    Mutant(
        "what is left by `continue` is forgotten",
        RANGES,
        "            self.proceeding[-1].append(self.state)\n",
        "            pass\n",
        FLOWS,
    ),
    Mutant(
        "the other branch is forgotten",
        RANGES,
        "            ends.append(self.state)\n",
        "            ends = ends or [self.state]\n",
        FLOWS,
    ),
    Mutant(
        "a condition outlives what it was about",
        RANGES,
        "        self.fresh = {read for read in self.fresh if read.attr is not slot}\n",
        "",
        FLOWS,
    ),
)

SPIRV_DOTS, SPIRV_LANES = "backends/spirv/dots.py", "backends/spirv/lanes.py"
IN_SPIRV = (
    Mutant(
        "unsigned operand first",
        SPIRV_DOTS,
        "_are_signed(value) == (False, True)",
        "_are_signed(value) == (True, False)",
        SPIRV_ORDER,
    ),
    Mutant("unsigned dot read as signed", SPIRV_DOTS, '("OpUDot", "uint")', '("OpSDot", "int")', SPIRV_OPCODE),
    Mutant("packed format left out", SPIRV_DOTS, "*sides, PACKED_FORMAT)", "*sides)", SPIRV_OPCODE),
    Mutant("saturating opcode", SPIRV_DOTS, '"OpIAdd", "int", *pair)', '"OpSatAdd", "int", *pair)', SPIRV_EXACT),
    Mutant("accumulator left out", SPIRV_DOTS, "[accumulators[0], *products]", "products", SPIRV_EXACT),
    Mutant("bit fields without sign", SPIRV_LANES, "8, element_of(type).is_signed)", "8, False)", SPIRV_EXACT),
    Mutant("a byte of the neighbour", SPIRV_LANES, "8 * (lane % _BYTES), 8,", "8 * (lane % _BYTES), 9,", SPIRV_EXACT),
)

DISPATCH, CPUID = "backends/x86_dispatch.py", "backends/x86_cpuid.py"
DETECTED = "tests/llvm/test_detection.py::test_the_best_target_is_found[{}]"
IN_DISPATCH = (
    Mutant(
        "a leaf behind the last is believed",
        DISPATCH,
        "icmp uge i32 %last, %leaf",
        "icmp uge i32 %leaf, %leaf",
        DETECTED.format("Haswell, leaves above 3 hidden"),
    ),
    Mutant(
        "a subleaf behind the last is believed",
        DISPATCH,
        "icmp uge i32 %last.sub, %subleaf",
        "icmp uge i32 %subleaf, %subleaf",
        DETECTED.format("Alder Lake, subleaves hidden"),
    ),
    Mutant(
        "the operating system is not asked",
        DISPATCH,
        "    if detection.state:\n",
        "    if not detection:\n",
        DETECTED.format("Haswell, nothing wider than XMM saved"),
    ),
    Mutant(
        "the state of ZMM is that of YMM",
        CPUID,
        "_ZMM = 0b1110_0000 | _XMM_YMM",
        "_ZMM = _XMM_YMM",
        DETECTED.format("Cascade Lake, ZMM not saved"),
    ),
    Mutant("AVX10.1 is taken for AVX10.2", CPUID, "bits=8, least=2", "bits=8, least=1", DETECTED.format("AVX10.1")),
    Mutant(
        "the limit is not kept",
        DISPATCH,
        "icmp sge i32 %limit, {number}",
        "icmp sge i32 {number}, {number}",
        "tests/llvm/test_detection.py::test_no_later_one_is_taken_than_is_wanted[0]",
    ),
)

GUARD, SPLIT, SUMS, WIDEN = (f"cajeta_dot/passes/{name}.py" for name in ("guard", "split", "accumulators", "widen"))
LOOPS, ROWS = "tests/passes/test_loops.py", "tests/llvm/test_rows.py::test_bits_and_errors"
STEPS = f"{LOOPS}::test_every_number_of_steps[{{}}]"
SUM = f"{LOOPS}::test_what_is_a_sum"
IN_LOOPS = (
    Mutant("one step too many in a turn", SPLIT, "(plan.parts - 1) * counted.step", "0", STEPS.format("uint8 int8 64")),
    Mutant(
        "a part of the sum left out",
        SPLIT,
        "[b.get(part) for part in parts])",
        "[b.get(part) for part in parts[1:]])",
        STEPS.format("uint8 int8 64"),
    ),
    Mutant(
        "bias of a sum not taken back",
        SPLIT,
        'b.binary("sub", total, _add_pairs(',
        'b.binary("add", total, _add_pairs(',
        STEPS.format("int8 int8 64"),
    ),
    Mutant(
        "a sum that is taken from split", SUMS, "return user.args[0] is sum_ and user.args[1] is not sum_", "return True", SUM
    ),
    Mutant("a sum that is multiplied split", SUMS, '        case "add":\n', '        case "add" | "mul":\n', SUM),
    Mutant(
        "a widened sum not added to the one before",
        WIDEN,
        'behind.binary("add", behind.get(slot), total)',
        "total",
        STEPS.format("int8 int8 four"),
    ),
    Mutant(
        "steps of a wide loop beyond the end",
        WIDEN,
        "b.const(INT64, step - counted.step)",
        "b.const(INT64, 0)",
        STEPS.format("int8 int8 four"),
    ),
    Mutant(
        "only the first step looked at",
        GUARD,
        "b.const(INT64, abs(slope))",
        "b.const(INT64, 0)",
        f"{LOOPS}::test_fault_is_the_same_one[uint8 int8 64]",
    ),
    Mutant(
        "indexes taken not to wrap",
        GUARD,
        'holds = b.binary("and", holds, b.compare("eq", grown, expected))',
        "assert grown and expected",
        f"{LOOPS}::test_first_and_way_are_not_enough_where_the_index_wraps",
    ),
    Mutant(
        "one element behind the array",
        GUARD,
        "b.const(INT64, lanes - 1 + spread)",
        "b.const(INT64, lanes - 2 + spread)",
        f"{LOOPS}::test_fault_is_the_same_one[uint8 int8 64]",
    ),
    Mutant(
        "only the first of accesses at a distance looked at",
        "cajeta_dot/passes/linear.py",
        "found.append((first, high - low))",
        "found.append((first, 0))",
        f"{LOOPS}::test_accesses_at_a_distance[+]",
    ),
    Mutant("a falling index taken to rise", GUARD, "now[slope < 0]", "now[0]", f"{LOOPS}::test_accesses_at_a_distance[-]"),
    Mutant(
        "items up to the limit left out",
        "cajeta_dot/passes/rows.py",
        "int(trim.inclusive)",
        "0",
        f"{ROWS}[uint32-less or equal]",
    ),
)

PRODUCTS = "backends/llvm/products.py"
PRODUCT = "tests/llvm/test_products.py::test_every_pair_of_signs_and_every_number_of_lanes[x86-avx2]"
IN_PRODUCTS = (
    Mutant("factors of 17 bits taken for 16", PRODUCTS, "(1 << 15) - 1", "1 << 15", PRODUCT),
    Mutant("factors below the least taken", PRODUCTS, "low >= LEAST", "low >= LEAST - 1", PRODUCT),
    Mutant("only one factor looked at", PRODUCTS, "map(bounds_of, product.args)", "map(bounds_of, product.args[:1])", PRODUCT),
    Mutant("one lane taken for a vector", PRODUCTS, "type.lanes == 1", "type.lanes == 0", PRODUCT),
    Mutant("upper halves multiplied", PRODUCTS, "b.window(*window) & 0xFFFF", "b.window(*window)", PRODUCT),
)

MUTANTS = {
    "forms": IN_FORMS,
    "LLVM emitter": IN_THE_LLVM_EMITTER,
    "range analysis": IN_RANGE_ANALYSIS,
    "loops": IN_LOOPS,
    "products": IN_PRODUCTS,
    "SPIR-V": IN_SPIRV,
    "dispatch": IN_DISPATCH,
    "cache": IN_THE_CACHE,
    "short calls": IN_SHORT_CALLS,
}
