"""Text to an untyped tree with spans, and every syntax error on the way. What the tree means is for `check`."""

from __future__ import annotations

from .parse import parse_source
from .tree import Unit

__all__ = ["Unit", "parse_source"]
