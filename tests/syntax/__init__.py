"""The parser: against lark, and on texts with mistakes."""
