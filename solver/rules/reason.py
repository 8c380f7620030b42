"""Why rules do not compile: numba's innermost complaint about a line of the rules, in words.

What numba raises tells of every step on its way, outermost first and nested, of which most is about the solver's own
kernels. What an author can mend stands before the first line of a rule module::

    TypingError: Failed in nopython mode pipeline (step: nopython frontend)
    Untyped global name 'NAMES': Cannot determine Numba type of <class 'dict'>          <- the complaint

    File "mygame.py", line 21:                                                          <- where
"""

import linecache
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from numba.core.errors import NumbaError, UnsupportedBytecodeError

from retrograde.games.catalog import variant
from retrograde.games.game import Game, RuleError
from retrograde.solver.rules.examine import NotCompilable

NOT_COMPILED = (NumbaError, UnsupportedBytecodeError, RuleError)
"""What comes out where a kernel with rules in it is compiled and cannot be; the last where a table holds no ints."""

WORDS = (
    (r"Untyped global name 'super'.*", "compiled code knows super() only as in `super().name`"),
    (
        r"Untyped global name '(\w+)': Cannot determine Numba type of <class 'builtin_.*",
        r"compiled code does not know \1()",
    ),
    (
        r"Untyped global name '(\w+)': Cannot determine Numba type of <class '(?:type|abc\.ABCMeta)'>",
        r"\1 is a class, which compiled code does not know",
    ),
    (
        r"Untyped global name '(\w+)': Cannot determine Numba type of <class '(?:.*\.)?(\w+)'>",
        r"\1 is a \2 outside the function, which compiled code does not know",
    ),
    (r"(?:Untyped global name '\w+': )?Int value is too large: (\d+)", r"\1 has more than 64 bits"),
    (r"compiler re-entrant to the same function signature", "the function calls itself"),
    (
        r"No implementation of function Function\(.*?\) found for signature: >>> (?:whole|as_position)\((.*)\)",
        r"a rule gives a \1 where it must give an int (to divide ints, write //)",
    ),
    (r"No implementation of function Function\(.*?\) found for signature: >>> (.*)", r"compiled code does not know \1"),
    (r"Invalid use of BoundFunction\((\S+) for .*?\) with parameters (.*)", r"compiled code does not know \1\2"),
    (r"Use of unsupported opcode \(IMPORT_NAME\) found", "an import belongs to the top of the file"),
    (r"The use of yield in a closure is unsupported", "compiled code does not know generator expressions"),
    (r"format spec in f-strings not supported yet", "compiled code does not know formats in f-strings"),
)
"""Numba's sentences, and what to say instead."""

NOISE = (
    (r"Literal\[(\w+)\]\(.*?\)", r"\1"),
    (r"unicode_type", "str"),
    (r"\(?<iv=.*?>", ""),
    (r" at 0x[0-9a-f]+", ""),
    (r"(\w+\.)*<locals>\.", ""),
    (r"\b(\w+)_above_\d+", r"super().\1"),
    (r"type\(CPUDispatcher\(<function (\w+)>\)\)", r"\1"),
)
"""What says nothing to an author."""


@contextmanager
def compilable(game: Game) -> Iterator[None]:
    """Turn what is raised where the rules of a game do not compile into NotCompilable, which says why."""
    try:
        yield
    except NOT_COMPILED as error:
        raise NotCompilable(reason(game, error)) from error


def reason(game: Game, error: Exception) -> str:
    """Return in one line why the rules of a game do not compile: file, line, what stands there, and the complaint."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    complaint, file, line = innermost(text)
    place = f"{Path(file).name}, line {line}: " if file else ""
    code = linecache.getline(os.path.abspath(file), line).strip() if file else ""
    quoted = f"`{code}`: " if code else ""
    return f"the rules of {variant(game)} do not compile: {place}{quoted}{in_words(complaint)}"


def innermost(text: str) -> tuple[str, str, int]:
    """Return the innermost complaint about a rule module, its file and the line; no file where none is named."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for number, line in enumerate(lines):
        found = re.match(r'File "(.+)", line (\d+):', line)
        if found and Path(__file__).parents[1] not in Path(found[1]).absolute().resolve().parents:
            return complaint_in(lines[:number]), found[1], int(found[2])
    if found := re.match(r"(.*?)\.? Raised from (.+) \((\d+)\)$", lines[0]):
        return found[1], found[2], int(found[3])
    return complaint_in(lines), "", 0


def complaint_in(lines: list[str]) -> str:
    """Return what follows the last step that failed, together with the call that it is about."""
    steps = [number for number, line in enumerate(lines) if "Failed in nopython mode pipeline" in line]
    rest = lines[steps[-1] + 1 :] if steps else lines
    if len(rest) > 1 and rest[0].endswith("found for signature:"):
        return f"{rest[0]} {rest[1]}"
    return rest[0] if rest else lines[-1]


def in_words(complaint: str) -> str:
    """Return a complaint of numba's without what only numba's authors understand.

    >>> in_words("Untyped global name 'NAMES': Cannot determine Numba type of <class 'dict'>")
    'NAMES is a dict outside the function, which compiled code does not know'
    >>> in_words("No implementation of function Function(<built-in function mod>) found for signature: >>> mod(int64)")
    'compiled code does not know mod(int64)'
    """
    known = next((pair for pair in WORDS if re.match(pair[0], complaint)), None)
    if known:
        complaint = re.sub(*known, complaint)
    elif re.match("[A-Z][a-z]* ", complaint):  # a sentence, and no name
        complaint = complaint[0].lower() + complaint[1:]
    for pattern, words in NOISE:
        complaint = re.sub(pattern, words, complaint)
    return complaint.rstrip(".")
