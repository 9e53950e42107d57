"""The long text of each rule: a Markdown file beside the table of rules, named by the code. Its examples are run as tests."""

from __future__ import annotations

import os

from . import rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import Rule


def read_page(rule: Rule) -> str:
    """The whole page. Raises OSError for a rule that has none, which a test forbids."""
    loader: Any = rules.__loader__  # finds it in an archive too; `pkgutil` would take as long to import as all of this
    page: bytes = loader.get_data(os.path.join(os.path.dirname(rules.__file__), f"{rule.code}.md"))
    return page.decode().replace("\r\n", "\n")
