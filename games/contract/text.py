"""Makes text from others safe to print on a terminal: rules, their docstrings and errors, and contents of files.

Control characters can move the cursor or colour the screen. Characters that turn the direction of writing can make a
line look like another.
"""

import re

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
UNPRINTABLE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters except the line end, characters that turn the direction of writing, and lone surrogates."""


def printable(text: str) -> str:
    """Return *text* with the replacement character in place of each character that could harm a terminal.

    >>> printable("a\\x1b[31mb")
    'a\N{REPLACEMENT CHARACTER}[31mb'
    """
    # A fast path: printable text has none of these characters.
    return text if text.isprintable() else UNPRINTABLE.sub(REPLACEMENT, text)
