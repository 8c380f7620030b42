"""Makes the port of a game: calls of the interpreted rules at first, then machine code.

Compiling the rules of a game takes about a second, and calling them in Python 40 µs a position. So a port begins with
calls, and counts the seconds that they take. After PATIENCE it compiles each rule that a kernel asks for, and puts the
address of the machine code into the table in place of the call. Machine code that is on disk is used at once. A kernel
cannot see the difference. Rules that do not compile stay calls.
"""

import ctypes
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import c_int64, c_void_p
from functools import partial
from itertools import islice
from math import inf
from operator import index
from typing import Any

from numba.core import config

from retrograde.games.catalog import variant
from retrograde.games.contract.game import LOSE, Game, RuleError, Traits
from retrograde.solver.rules import compiled
from retrograde.solver.rules.compiled import GuardedGame
from retrograde.solver.rules.entry_kernels import KERNELS
from retrograde.solver.rules.port import BUFFER, ENTRIES, FAILURE, SLOTS, NotCompiled, Port
from retrograde.solver.rules.reason import reason
from retrograde.solver.runtime.kernel import is_cached_for

PATIENCE = 0.3
"""Seconds that interpreted rules may take before they are compiled. Compiling takes from half a second to two."""
RULE_RAISED = -3
"""The status that an entry in Python returns for any error: numba's own for the end of a generator."""

WORD_LIMIT = 1 << 63
"""Ints in machine code are less than this, and not less than its negative."""

PORTS: dict[tuple[str, tuple[str, ...], bool], "RulesPort"] = {}
"""All ports of this process. None is ever dropped, for a thread may still run with it."""
MOST_RECENT = 64
"""How many games RECENT holds at most."""
RECENT: dict[tuple[int, bool], tuple[Game | GuardedGame, "RulesPort"]] = {}
"""The games of the latest calls of `rules_for`, with their ports."""


def rules_for(game: Game | GuardedGame, eager: bool = False) -> Any:
    """Return what kernels take as a game: its port, or the game itself if numba is switched off.

    An *eager* port is machine code from the start. That of a guarded game checks each index of an array.
    """
    # Look the game up by identity first: certificates call this for each of their positions.
    recent = RECENT.get((id(game), eager))
    if recent is not None and recent[0] is game:
        return recent[1]
    guarded = isinstance(game, GuardedGame)
    rules: Game = game.game if isinstance(game, GuardedGame) else game
    if config.DISABLE_JIT:
        return rules
    kind = compiled.type_of(rules, guarded)
    key = kind.name, compiled.options_of(rules), eager
    if key not in PORTS:
        PORTS[key] = RulesPort(rules, kind, eager)
    if len(RECENT) >= MOST_RECENT:
        RECENT.clear()
    RECENT[id(game), eager] = game, PORTS[key]
    return PORTS[key]


@contextmanager
def keep_rules_interpreted() -> Iterator[None]:
    """Have ports call interpreted rules for as long as the block runs, unless machine code is on disk."""
    global PATIENCE
    before, PATIENCE = PATIENCE, inf
    try:
        yield
    finally:
        PATIENCE = before


class RulesPort(Port):
    """The port of one game's rules."""

    def __init__(self, game: Game, kind: compiled.GameType, eager: bool = False):
        super().__init__(Traits.of(game))
        self.game, self.kind, self.eager = game, kind, eager
        self.seconds = 0.0
        """Seconds that the calls have taken."""
        self.calls: dict[str, Any] = {}
        """The C functions that call rules in Python, kept alive."""
        self.interpreted: set[str] = set()
        """The names of the rules that kernels still call in Python."""
        self.compiles = True
        """Whether no rule was met that does not compile."""

    @property
    def impatient(self) -> bool:
        """Whether rules are compiled from now on."""
        return self.eager or (self.compiles and self.seconds > PATIENCE)

    def address_of(self, name: str) -> int:
        """Return the address of machine code if that is on disk or worth compiling, else of a call into Python."""
        if self.impatient or is_cached_for(KERNELS[name], self.kind):
            try:
                return self.compile_entry(name)
            except NotCompiled as error:
                if self.eager:
                    raise
                self.stay_with_calls(error)
        self.calls[name] = self.call_of(name)
        self.interpreted.add(name)
        return ctypes.cast(self.calls[name], c_void_p).value or 0

    def stay_with_calls(self, error: NotCompiled) -> None:
        """Compile no more rules of this game, and warn that it will take long."""
        self.compiles = False
        warnings.warn(f"{reason(self.game, error.error)}; they run interpreted, which is slow", stacklevel=2)

    def compile_entry(self, name: str) -> int:
        """Compile the kernel of an entry, or load it from disk; return its address."""
        kernel, entry = KERNELS[name], ENTRIES[name]
        signature = (self.kind, *entry.called_with(self.width))
        if signature not in kernel.overloads:
            try:
                kernel.compile(signature)
            except Exception as error:
                raise NotCompiled(error) from error
        code = kernel.overloads[signature]
        given, expected = code.signature.return_type, entry.returned(self.width)
        if given != expected:
            raise NotCompiled(RuleError(f"{name}() returns {given}; it must return {expected}"))
        return int(code.library.get_pointer_to_function(code.fndesc.llvm_func_name))

    def call_of(self, name: str) -> Any:
        """Return a C function that calls a rule in Python, and after PATIENCE puts machine code in its own place."""
        write_answer = adapt_to_words(name, self.game)

        # Numba's calling convention: pointers to the result and to an error, null for the game, and the arguments.
        def call(result: Any, error: Any, null: Any, *arguments: int) -> int:
            """Answer a call by the interpreted rules. If they have taken long, compile the entry for later calls."""
            began = time.perf_counter()
            try:
                write_answer(result, *arguments)
                self.seconds += time.perf_counter() - began
                if self.impatient:
                    self.table[SLOTS[name]] = self.compile_entry(name)
                    self.interpreted.discard(name)
            except NotCompiled as failed:
                self.stay_with_calls(failed)
            except BaseException as raised:
                FAILURE.error = raised
                return RULE_RAISED
            return 0

        arguments = ENTRIES[name].called_with(self.width)
        words = [c_int64] * sum(getattr(kind, "count", 1) for kind in arguments)  # a tuple is passed word by word
        return ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(c_int64), c_void_p, c_void_p, *words)(call)


def adapt_to_words(name: str, game: Game) -> Callable[..., None]:
    """Return a function that calls a rule with 64-bit words and writes the words of its answer to *result*."""
    entry, width = ENTRIES[name], Traits.of(game).width
    source = f"{name}() of {variant(game)}"
    rule: Callable[..., Any] = partial(FUSED[name], game) if name in FUSED else getattr(game, name)

    def words(answer: Any) -> Iterator[int]:
        values = zip(entry.result, answer if len(entry.result) > 1 else (answer,), strict=True)
        # The letter p is for a position, n for a number.
        return (word for letter, value in values for word in words_of(source, width if letter == "p" else 0, value))

    # A position of several words arrives word by word.
    def arguments_of(given: tuple[int, ...]) -> tuple[Any, ...]:
        return (given[:width], *given[width:]) if width and entry.arguments[0] == "p" else given

    def write_one(result: Any, *given: int) -> None:
        for k, word in enumerate(words(rule(*arguments_of(given)))):
            result[k] = word

    def write_items(result: Any, *given: int) -> None:  # the items go to the buffer, their number to *result*
        *arguments, skip, buffer = arguments_of(given)
        items = [[*words(item)] for item in islice(rule(*arguments), skip, skip + BUFFER)]
        flat = [word for item in items for word in item]
        ctypes.memmove(buffer, (c_int64 * len(flat))(*flat), 8 * len(flat))
        result[0] = len(items)

    return write_items if entry.items else write_one


def least_image(game: Game, position: Any) -> tuple[Any, int]:
    tier, least = min((game.tier(image), image) for image in (position, *game.images(position)))
    return least, tier


def address(game: Game, position: Any) -> tuple[int, int]:
    return game.tier(position), game.index(position)


def children(game: Game, position: Any) -> Iterator[tuple[int, Any]]:
    return ((move, game.do_move(position, move)) for move in game.generate_moves(position))


def checked_canonical(game: Game, position: Any) -> tuple[Any, int, bool]:
    least = game.canonical(position)
    return least, game.tier(least), least == position or position in game.images(least)


def wins_at_once(game: Game, position: Any) -> bool:
    return any(game.primitive(game.do_move(position, move)) == LOSE for move in game.generate_moves(position))


FUSED = {
    "least_image": least_image,
    "address": address,
    "children": children,
    "checked_canonical": checked_canonical,
    "wins_at_once": wins_at_once,
}
"""Entries that call several rules. Those of the same name in `entry_kernels.py` say what they return."""


def words_of(source: str, width: int, given: Any) -> tuple[int, ...]:
    """Return the answer of a rule as *width* ints of 64 bits, one if *width* is 0; all are -1 for -1, "no position".

    >>> words_of("do_move()", 0, 5), words_of("index()", 2, -1), words_of("do_move()", 2, (5, 6))
    ((5,), (-1, -1), (5, 6))
    """
    if not width:
        return (word_of(source, given),)
    if given == -1:
        return (-1,) * width
    if not isinstance(given, tuple) or len(given) != width:
        raise RuleError(f"{source} gives {given!r:.60}; it must give a tuple of {width} ints")
    return tuple(word_of(source, number) for number in given)


def word_of(rule: str, number: Any) -> int:
    """Return the answer of a rule as an int; raise RuleError if it is none, or exceeds 64 bits."""
    try:
        word = index(number)
    except TypeError:
        raise RuleError(f"{rule} gives {number!r}; it must give an int (to divide ints, write //)") from None
    if not -WORD_LIMIT <= word < WORD_LIMIT:
        raise RuleError(f"{rule} gives {word}, which has more than 64 bits; take smaller ints")
    return word
