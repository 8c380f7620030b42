"""Text that others wrote, made fit for a terminal: rules, their docstrings and errors, and what files say.

Control characters can move the cursor, colour the screen or worse, and those that turn the direction of writing can
make a line look like another.
"""

import re

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
UNPRINTABLE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but the end of a line, characters that turn the direction of writing, and halves of characters."""


def printable(text: str) -> str:
    """Return a text of one or more lines with the replacement character for each that is not for people to see.

    >>> printable("a\\x1b[31mb")
    'a\N{REPLACEMENT CHARACTER}[31mb'
    """
    return text if text.isprintable() else UNPRINTABLE.sub(REPLACEMENT, text)
