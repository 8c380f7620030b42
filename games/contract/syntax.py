"""Parses Python, for one thread at a time."""

import ast
import threading
from typing import Any

PARSING = threading.Lock()
"""Held while a text is parsed. If two threads do that at once, CPython (before 3.13, issue 106905) may raise
`SystemError: AST constructor recursion depth mismatch`."""


def parse(source: str | bytes, mode: str = "exec") -> Any:
    """Return the syntax tree of a source, as `ast.parse` does."""
    with PARSING:
        return ast.parse(source, mode=mode)
