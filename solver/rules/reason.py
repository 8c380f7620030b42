"""Explains why rules do not compile: numba's innermost complaint about a line of the rules, in plain words.

Numba's message lists all steps on the way, outermost first, and most concern the solver's own kernels. What an author
can fix stands before the first line that names a rule module:

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
from sys import modules
from traceback import walk_tb

from numba.core.errors import NumbaError, UnsupportedBytecodeError
from numba.core.ir import Loc

from retrograde.games.catalog import variant
from retrograde.games.contract.game import Game, RuleError
from retrograde.solver.rules.examine import NotCompilable
from retrograde.solver.rules.port import NotCompiled, failure

NOT_COMPILED = (NumbaError, UnsupportedBytecodeError, RuleError)
"""Errors of a kernel whose rules cannot be compiled. RuleError: a table holds something else than ints."""

OUTSIDE = "outside the function, which compiled code does not know"
NO_ROWS = "the items of this tuple differ in kind or length; make all rows of one length, as with -1 at their ends"

WORDS = (
    (
        r"Untyped global name 'super'.*|Use of unsupported opcode \(LOAD_SUPER_ATTR\) found",
        "compiled code knows super() only as in `super().name`",
    ),
    (
        r"Untyped global name '(\w+)': Cannot determine Numba type of <class 'builtin_.*",
        r"compiled code does not know \1()",
    ),
    (
        r"Untyped global name '(\w+)': Cannot determine Numba type of <class '(?:type|abc\.ABCMeta)'>",
        r"\1 is a class, which compiled code does not know",
    ),
    (
        r"Untyped global name '(\w+)': Cannot determine Numba type of <class '(?:.*\.)?(dict|set|frozenset|list)'>",
        rf"\1 is a \2 {OUTSIDE}; make it a tuple of ints",
    ),
    (
        r"Untyped global name '(\w+)': Cannot determine Numba type of <class '(?:.*\.)?(\w+)'>",
        rf"\1 is a \2 {OUTSIDE}",
    ),
    (
        r"The use of a reflected (\w+)\(.* type, assigned to variable '(\w+)' in globals.*",
        rf"\2 is a \1 {OUTSIDE}; make it a tuple of ints",
    ),
    (r"(?:Untyped global name '\w+': )?Int value is too large: (\d+)", r"\1 has more than 64 bits; take smaller ints"),
    (r"compiler re-entrant to the same function signature", "the function calls itself; write a loop"),
    (
        r"No implementation of function Function\(.*?\) found for signature: >>> (?:whole|as_position)\((.*)\)",
        r"a rule gives a \1 where it must give an int (to divide ints, write //)",
    ),
    (
        r"(?:Invalid use of getiter with parameters|No .* for signature: >>> (?:static_)?getitem) ?\(Tuple\(.*",
        NO_ROWS,
    ),
    (
        r"No .* for signature: >>> exception_match\(.*",
        "compiled code knows only `except Exception`; look first whether it will raise",
    ),
    (r"No implementation of function Function\(.*?\) found for signature: >>> (.*)", r"compiled code does not know \1"),
    (r"Invalid use of BoundFunction\((\S+) for .*?\) with parameters (.*)", r"compiled code does not know \1\2"),
    (r"Use of unsupported opcode \(IMPORT_NAME\) found", "an import belongs to the top of the file"),
    (r"The use of yield in a closure is .*", "compiled code does not know this generator expression; write a loop"),
    (r"Invalid use of getiter with parameters \(dict .*", "compiled code does not go through a dict; write .keys()"),
    (r"No .* for signature: >>> sum\(.* generator\(.*", "numba cannot add these; write sum(x for x in …)"),
    (
        r"format spec in f-strings not supported yet|Use of unsupported opcode \(FORMAT_WITH_SPEC\) found",
        "compiled code does not know formats in f-strings",
    ),
    (r"Unknown attribute 'add' of type .*", "compiled code does not know this set comprehension; write a loop"),
    (
        r"Unknown attribute '(\w+)' of type \w+\(.*\) of [\w.]+ \w{32} \w{32}",
        r"\1 is no method of the game (compiled code does not know static and class methods); write a method with self",
    ),
    (
        r"Unknown attribute '(steps|rays|shifts|bits_of)' of type (.*)",
        r"rules cannot call \1(); make its table once, in a cached_property of the game",
    ),
    (r"Unknown attribute '(\w+)' of type (.*)", r"compiled code does not know \1 of \2"),
    (r"Cannot unify (.*) and (.*) for '.*", r"a name stands for \1 and for \2; let it stand for one kind of value"),
    (r"Type of variable '.*' cannot be determined, operation: (\w+)\(.*", r"compiled code does not know \1 here"),
)
"""Numba's messages, as regular expressions, and what to say instead."""

NOISE = (
    (r"Literal\[(\w+)\]\(.*?\)", r"\1"),
    (r"unicode_type", "str"),
    (r"\(?<iv=.*?>", ""),
    (r" at 0x[0-9a-f]+", ""),
    (r"(\w+\.)*<locals>\.", ""),
    (r"Function\(<class '(\w+)'>\)", r"\1"),
    (r"(\w+)\([^()]*\) of [\w.]+ \w{32} \w{32}", r"\1"),
    (r"\b(\w+)_above_\d+", r"super().\1"),
    (r"type\(CPUDispatcher\(<function (\w+)>\)\)", r"\1"),
)
"""Parts of numba's messages that mean nothing to an author, and their replacements."""

REMEDY = "write it with ints, tuples, loops and functions of the file"
"""Advice, unless the message contains its own."""

CONTRACT = Path(str(modules[Game.__module__].__file__)).resolve()
SOLVER = Path(__file__).parents[1].resolve()
COMPILER = os.path.join("numba", "core", "")
"""Part of the paths of the compiler's own modules."""


@contextmanager
def compilable(game: Game) -> Iterator[None]:
    """Turn errors that arise because the rules do not compile into NotCompilable, which says why."""
    try:
        yield
    except Exception as raised:
        error = failure(raised)
        if isinstance(error, NotCompiled):
            raise NotCompilable(reason(game, error.error)) from error.error
        if error is not raised:  # what interpreted rules raised
            raise error from None
        if not isinstance(error, NotCompilable) and (isinstance(error, NOT_COMPILED) or is_from_compiler(error)):
            raise NotCompilable(reason(game, error)) from error
        raise


def is_from_compiler(error: Exception) -> bool:
    """Return whether the compiler raised an error, of whatever type, and not the rules."""
    *_, (frame, _) = walk_tb(error.__traceback__)
    return COMPILER in frame.f_code.co_filename


def reason(game: Game, error: Exception) -> str:
    """Return in one line why the rules of a game do not compile: file, line, code, complaint and remedy."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    if not isinstance(error, NOT_COMPILED):
        text = f"the compiler raises {type(error).__name__}"
    complaint, file, line = innermost(text)
    if not file:
        file, line = location_of(error)
    location = f"{Path(file).name}, line {line}: " if file else ""
    code = linecache.getline(os.path.abspath(file), line).strip() if file else ""
    quoted = f"`{code}`: " if code else ""
    words = in_words(complaint)
    remedy = "" if ";" in words or "write" in words else f"; {REMEDY}"
    return f"the rules of {variant(game)} do not compile: {location}{quoted}{words}{remedy}"


def innermost(text: str) -> tuple[str, str, int]:
    """Return the innermost complaint about a rule module in numba's message, the module's file or "", and the line.

    The message lists the failed steps, outermost first, then the complaint, then lines of code, innermost first.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["the compiler gives no reason"]
    for_people = False
    for number, line in enumerate(lines):
        match = re.match(r'File "(.+)", line (\d+):', line)
        # A line of the contract itself means that the rules call a method meant for people, such as write().
        if match and (file := Path(match[1]).absolute().resolve()) == CONTRACT:
            for_people = True
        elif match and SOLVER not in file.parents:  # not the solver's own code: a rule module
            complaint = "it asks a method that is for people" if for_people else complaint_in(lines[:number])
            return complaint, match[1], int(match[2])
    if match := re.match(r"(.*?)\.? Raised from (.+) \((\d+)\)$", lines[0]):
        return match[1], match[2], int(match[3])
    return complaint_in(lines), "", 0


def location_of(error: Exception) -> tuple[str, int]:
    """Return the (file, line) of a rule module at which the compiler failed; ("", 0) if it names none."""
    for frame, _ in reversed(list(walk_tb(error.__traceback__))):
        if COMPILER not in frame.f_code.co_filename:
            continue
        # The compiler's functions keep the place that they compile in the attribute `loc` of some variable.
        for value in frame.f_locals.values():
            location = getattr(value, "loc", None)
            if isinstance(location, Loc) and SOLVER not in Path(location.filename).absolute().resolve().parents:
                return location.filename, location.line
    return "", 0


def complaint_in(lines: list[str]) -> str:
    """Return the text after the last failed step, with the call that it concerns."""
    steps = [number for number, line in enumerate(lines) if "Failed in nopython mode pipeline" in line]
    after_step = lines[steps[-1] + 1 :] if steps else lines
    if len(after_step) > 1 and after_step[0].endswith("found for signature:"):
        return f"{after_step[0]} {after_step[1]}"
    return after_step[0] if after_step else lines[-1]


def in_words(complaint: str) -> str:
    """Return numba's complaint in words for authors of games.

    >>> in_words("Untyped global name 'NAMES': Cannot determine Numba type of <class 'dict'>")
    'NAMES is a dict outside the function, which compiled code does not know; make it a tuple of ints'
    >>> in_words("No implementation of function Function(<built-in function mod>) found for signature: >>> mod(int64)")
    'compiled code does not know mod(int64)'
    """
    translation = next((pair for pair in WORDS if re.match(pair[0], complaint)), None)
    if translation:
        complaint = re.sub(*translation, complaint)
    elif re.match("[A-Z][a-z]* ", complaint):  # a sentence, not a name
        complaint = complaint[0].lower() + complaint[1:]
    for pattern, words in NOISE:
        complaint = re.sub(pattern, words, complaint)
    return complaint.rstrip(".")
