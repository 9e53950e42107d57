"""Programs drawn at random from the grammar itself. Most are accepted; see `TYPE_ARGUMENTS` for why not all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

NAMES = ("a", "b", "acc", "raw", "lo", "hi", "Quant", "Math", "x1", "_t", "$v", "größe", "shared", "out", "in", "forever")
INTEGERS = ("0", "1", "15", "0x7F", "0b1010", "017", "1_000", "42L", "3000000000", "0xFFl")
FLOATS = ("1.0", ".5", "1.", "1e-3", "1f", "2.5e+7F", "0.0f", "1_0.5d")
STRINGS = ('"text"', '""', '"a \\" /* no comment */ <int8"', '"// neither"', '"ü"')
# Not drawn rule by rule: the lookahead of OPEN takes a primitive type or a lone constant, the rules take more.
TYPE_ARGUMENTS = (
    *("<int8,16>", "<16>", "<N>", "< float32 , 4 * K >", "<Vector<int8,4>>", "<int32[]>", "<uint8,N+1,1>", "<A.B>"),
    *("<Key, int8>", "<Key,Vector<int8,4>>"),
)
WORDS = {"SHARED": "shared", "MUT": "mut", "NON_SEALED": "non-sealed", "CLOSE_TIGHT": ">\0", "OPEN": "<", "MARKS_PACKAGE": "@"}
SPACES = (" ", " ", " ", "\n", "  ", "\t", "\r\n", " /* c */ ", " /* a /* nested */ b\n */ ", " // to the end >> <int8\n")


class Generator:
    """Takes lark's rules and terminals. Only strings of tokens that the rules allow; what the names mean is nonsense."""

    def __init__(self, rules: list[Any], terminals: list[Any], rng: Random):
        self.rng = rng
        self.texts = {t.name: t.pattern.value for t in terminals if t.pattern.type == "str"}
        self.alternatives: dict[str, list[Any]] = {}
        for rule in rules:
            if all(symbol.name != "ERROR" for symbol in rule.expansion):
                self.alternatives.setdefault(rule.origin.name, []).append(rule)
        self.depth = self._least_depths()

    def _least_depths(self) -> dict[str, int]:
        depth = dict.fromkeys(self.alternatives, 10**6)
        changed = True
        while changed:
            changed = False
            for symbol, rules in self.alternatives.items():
                least = min(self._depth_of(rule, depth) for rule in rules)
                changed, depth[symbol] = changed or least < depth[symbol], least
        return depth

    def _depth_of(self, rule: Any, depth: dict[str, int]) -> int:
        return 1 + max((depth[s.name] for s in rule.expansion if not s.is_term), default=0)

    def draw(self, start: str = "unit", limit: int = 40) -> str:
        """A text for a start symbol. Below `limit` levels the shortest alternative is taken."""
        pieces: list[str] = []
        work: list[tuple[Any, int]] = [(start, 0)]
        while work:
            symbol, level = work.pop()
            if symbol == "type_arguments":
                pieces.append(self.rng.choice(TYPE_ARGUMENTS))
            elif symbol in self.alternatives:
                rules = self.alternatives[symbol]
                if level > limit or len(pieces) > 4000:
                    rules = [r for r in rules if self._depth_of(r, self.depth) == self.depth[symbol]]
                rule = self.rng.choice(rules)
                work += [(s.name, level + 1) for s in reversed(rule.expansion)]
            else:
                pieces.append(self._text(symbol))
        return self._join(pieces)

    def _text(self, terminal: str) -> str:
        choices = {"NAME": NAMES, "INTEGER": INTEGERS, "FLOAT": FLOATS, "STRING": STRINGS, "CHARACTER": ("'x'", "'\\n'")}
        if terminal in choices:
            return self.rng.choice(choices[terminal])
        return WORDS.get(terminal) or self.texts[terminal]

    def _join(self, pieces: list[str]) -> str:
        text = ""
        for piece in pieces:
            tight = text.endswith("\0") or (text[-1:] in "()[]{};," and self.rng.random() < 0.5)
            text = text.rstrip("\0") + ("" if tight else self.rng.choice(SPACES)) + piece
        return text.rstrip("\0")
