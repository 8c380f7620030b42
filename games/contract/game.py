"""The game contract: what a rule module defines, and what the rest of the program asks of it.

A game is a frozen dataclass. Its annotated fields are the game's options, its methods are the rules. A rule module is
a Python file with one subclass of `Game`. The subclass becomes a frozen dataclass by itself: it needs no decorator and
no registration. This is all of Nim with one heap::

    from retrograde.games import LOSE, UNDECIDED, Game

    class Heap(Game):
        \"\"\"Take one, two or three from the heap. The player who takes the last one wins.\"\"\"

        size: int = 10

        @property
        def start(self):
            return self.size

        def generate_moves(self, heap):
            yield from range(1, min(3, heap) + 1)

        def do_move(self, heap, taken):
            return heap - taken

        def primitive(self, heap):
            return LOSE if heap == 0 else UNDECIDED

Words used below: a *primitive* position is one where the game is over; a *child* of a position is the position after
one move; a *slot* is the number of a position's record within its tier.

What the author writes
======================

Every game:

`start`
    The first position: a class attribute, a property, or a field.
`generate_moves(position)`
    Yields the legal moves, small non-negative ints. The program calls it only for UNDECIDED positions. It must then
    yield at least one move.
`do_move(position, move)`
    Returns the position after the move.
`primitive(position)`
    Returns WIN, LOSE or TIE where the game is over, *for the player to move*, and UNDECIDED elsewhere. Return DRAW
    instead of TIE if an end without a winner is no better than playing on for ever, as in chess. If absent, a player
    who cannot move loses: a position is LOSE if `generate_moves` yields nothing. The program then calls
    `generate_moves` for every position.

Players and payoffs. By default two players take turns, and values are for the player to move:

`players`
    The number of players, 2 if absent: a class attribute, an option or a property. With 1 the game is a puzzle: WIN is
    solved, LOSE is a dead end, and DRAW is a position that can go on for ever and never be solved.
`turn(position)`
    The player to move, from 0 to `players` - 1, or CHANCE where dice or cards decide. The program also calls it for
    primitive positions; there it must not return CHANCE. Values are for this player: if the same player is to move
    after a move, the value does not change sides. Required with more than two players and in games with chance. If
    absent, two players alternate and `turn` is always 0. A game for one player does not need it.
`odds(position, move)`
    The weight of a chance move, an int above 0; 1 if absent. Called only where it is CHANCE's turn. A move has
    probability weight / sum of the weights of all moves there.
`payoff(position, player)`
    What a primitive position pays a player, an int from -PAYOFF_LIMIT to PAYOFF_LIMIT: points, stones, boxes. If
    absent, a WIN pays 1 to the player to move and -1 to the others, a LOSE the opposite, and any other end 0.
`reward(position, move, player)`
    What a move, also a chance move, pays a player at once: an int in the same bounds, 0 if absent. Scores and
    expectations add rewards to the payoff at the end. So positions need not record what players have won before.
`metric`
    What `solve` computes for each position by default, one of METRICS. If absent: expectation for a game with `odds`;
    for one with `reward` score if two players alternate, else expectation; utilities for three or more players; else
    remoteness.

Optional, where the game has it:

`starts`
    Several first positions, as a tuple. `start` is the first of them if the game does not define it.

`images(position)`
    Yields the positions that are equal to this one by symmetry, and perhaps the position itself. The solver keeps one
    of them, the canonical position. So a tic-tac-toe database needs 765 records, not 5,478.
`tier(position)`
    An int that never falls along a move, such as the number of stones on the board. Play never returns to a lower
    tier, so the solver solves one tier after another, the highest first. Smaller tiers take less memory. If symmetric
    positions are in different tiers, the canonical position is in the lowest of these.
`parents(position)`
    Yields every position *of the same tier* from which a move leads to this one. It may also yield positions that play
    cannot reach, and primitive positions. Only games with cycles within a tier use it. If absent, the solver finds the
    parents itself, which takes more memory.

A dense numbering. Some games count every placement of the pieces, whether or not play leads there; chess endgames are
an example. Such a game needs no `start`. It numbers its positions instead, which gives the smallest databases and the
fastest look-up:

`tiers`, `size(tier)`
    All tiers (a property or an attribute), and the number of slots in a tier (a method). If `tiers` are (), this
    variant numbers no positions.
`unindex(tier, i)` / `index(position)`
    `unindex` returns the canonical position of slot i of a tier, counted from 0, or a negative number if the slot is
    empty. `index` returns the slot of a position, canonical or not.
`parents(position)`
    As above, optional; here every position that it yields must have a slot.
`parts(tier)`
    Pairs (name, number of slots) that add up to the tier's size. The program counts values separately for each part,
    for example for either side to move. If a part stands for two sides by symmetry, join their names by "and". Parts
    with names like `KM v K` (the pieces of the player to move, then the opponent's) are also summed over all tiers. If
    absent, a tier has one part, called "all".
`multiplicity(position)`
    The number of positions that are equal by symmetry to this one, itself included. Define it only if the rules know a
    faster way than counting `images(position)`.
`family`
    A property: a game with other options in which all of these tiers and positions mean the same. All such games must
    return the same one. What is compiled and solved for it then serves all of them.

`elsewhere(tier)`
    The text of the variant whose database holds a tier, or "" if the game's own database holds it. The program solves
    that variant first and does not store the tier again. A chess ending uses this for the endings that captures lead
    to. Such tiers come after all of the game's own tiers.

For pieces on the cells of a board, a base class writes the numbering for you. A subclass of `Placed`
(`games/kinds/placed.py`) declares `placements`: how many pieces of each kind there may be, and the symmetries of the
board. A subclass of `Sliding` (`games/kinds/sliding.py`) declares by `slides` how pieces move to empty cells; `parents`
follows from that.

A numbered game may also have a `start`. The solver still solves every position with a slot, reached or not. Play,
queries and random games begin at the start, and reports give its value as the value of the game.

Numberings in games with chance (expectations). Here a numbering only stores positions: it is for games that are too
large to explore. Such a game needs no `parents`, `parts` or `family`, and may leave positions out:

`index(position)`
    May also return a negative number, for positions without a record: primitive positions, and positions *in between*,
    such as a roll of the dice that a player has not used yet. The value of a position in between follows from its
    children. From there, every line of play must soon reach a primitive position or one with a slot, and must never
    come back to the same position in between.
`swapped(position)`
    The same position with the two players exchanged. It is worth as much to player 1 as this one to player 0, so only
    one of the two needs a slot. If absent, a negative number: there is no such position.

The fifty-move rule of chess and rules like it, which make a draw of long play without progress. Values ignore them;
the metric dtz does not:

`zeroes(position, move)`
    True if the move is progress, so that the rule counts again from zero: captures and pawn moves in chess. Called only
    for legal moves, and only for the metric dtz.
`plies_to_draw(position)`
    For games whose positions count these plies, and that searches look up in databases of a game that does not: after
    how many plies without progress the game is a draw. A win or a loss from such a database counts only if it comes in
    time.

Hints for search. They make a search faster or play better. Proofs rest on none of them but `at_best`, `has_ties`,
`least_plies` and `heap_code`: every other proved value or distance, in a search, a book or a database, is the same
without them. The program calls them only for UNDECIDED positions. They must give symmetric positions the same answer:

`estimate(position)`
    How good the position looks for the player to move, an int from -ESTIMATE_LIMIT to ESTIMATE_LIMIT; 0 is even. Only
    play uses it, where a depth-limited search stops before the end; proofs never do. In games with points, with chance
    or with more than two players, the unit is 1/100 of the payoff still to come. Where it is CHANCE's turn, the
    estimate is for player 0.
`features(position)`
    A tuple of ints, each a lead of the player to move, such as in men or in moves. The estimate is their sum, each
    times its weight, unless the game defines `estimate`. `retrograde fit` finds weights from a database.
`feature_weights`
    The weights of the features: a class attribute, a tuple of ints, as long as that of the features.
`quiet(position)`
    False if the estimate cannot be trusted there, as in the middle of an exchange of pieces. The search then looks a
    little further.
`promise(position, move)`
    How good a move looks, an int in the same bounds. Searches try the best moves first (move ordering).
`exchanges`
    A class attribute, False if absent. True says that `promise` is above 0 for the moves that gain something at once,
    such as captures in chess, and for no others. Where a depth-limited search stops in a quiet position, it then goes
    on with these moves, unless the player does better without them.
`tie_in(position)`
    The number of plies to a TIE, if all ties take the same number, because they fill the board, for example. If
    `search` cannot prove this distance in time, it prints it as not proved. `check` verifies that the number falls by
    one with each move.
`has_ties`
    A class attribute, True if absent. False says that no end is a TIE. Where neither side can force a win, `search`
    then need not look for ties to know that the value is a DRAW.
`at_best(position)`
    What the player to move gets at best, as the rules show without a search: LOSE, or TIE or DRAW if it cannot win; WIN
    if nothing is known. For games in which two players alternate. `search` looks no further, so it must be right.
    After each move the opponent must have a reply to a position for which it says the same, or less; with LOSE, `tier`
    must rise on the way. `check` verifies that.
`least_plies(position)`
    For puzzles: a lower bound of the plies to a solution. A move may lower it by 1 at most, and it is 1 or less where
    one move solves the puzzle. Shortest solutions found by `search` rest on it. So `check`, and
    the search at every move that it examines, verify that it falls by 1 at most.

`abstractions` / `abstracted(position, number)`
    For puzzles: smaller puzzles, games whose positions are of the same kind, and the position of each that stands for
    one of this. A move must be a move in one of them at most and leave all others as they are, so that their distances
    add up to a lower bound. If all have been solved, `search` prunes by it.
`abstractions_add`
    A class attribute, True if absent. False says that a move may be a move in several abstractions, as in the cube,
    where a turn moves cubies of all parts. Then the greatest of the distances is the lower bound.

`heap_code`
    For games with heaps whose positions are written as sizes, `7+3+3`: what a move that takes t objects from a heap may
    leave, for t = 0, 1, 2 and so on. Each is the sum of 1 for nothing, 2 for one heap and 4 for two heaps, as in the
    code of an octal game, and 16 for two heaps of different sizes. `search` finds nimbers of heaps of any size by it.
    `check` compares it with the moves.

Names and texts for people:

`collection(options)`
    A class method: the options of every variant in a named set of variants, in the order in which to solve them, or an
    empty list if the text names no such set. So `chess:all=4` means all endings of up to four men.
`options_in(text)`
    A class method: the options that the text of a file describes, such as a puzzle. The command line then takes the
    path of a .txt file as options. It raises ValueError for a text that describes nothing.
`title`, `variant_title()`
    The name of the game, `Connect Four`, and of the variant, `Connect Four 5 × 4`. By default the program makes both
    from the class name and from the options that differ from their defaults.
`words`
    Names of the players and of the pieces, by their signs: `{"X": "Red", "O": "Yellow"}`.

Boards. A game on a board declares what the board looks like and what stands on it. All methods for people below have
defaults that use this declaration; define one only where its default does not suit. `games/contract/drawing.py` has
examples:

`board`
    The places of the board, as `grid(3, 3, {"X": "cross", "O": "ring"})` of `drawing.py` returns them: a class
    attribute, a property or a `cached_property`.
`bits`
    The signs of the pieces, such as `"XO"`, if a position is a bit board: the lowest bits say where an X stands, one
    bit for each place in the order of the places; the next bits say where an O stands.
`signs(position)` / `position_of(signs, turn)`
    If positions are encoded in another way: the sign of each place, `.` for an empty one, as text or a tuple; and the
    way back.
`by_turns`, or `to_move`
    The signs of the players, such as `"XO"`. Use `by_turns`, first player first, if players put down one piece in turn,
    so that the number of pieces says who is to move. Use `to_move` if the position itself says who is to move: by the
    number above `bits`, or else by `draw_turn`. Texts of positions then end in that sign.

Methods for people, in pairs that undo each other:

`write(position)` / `read(text)`
    One line of text for a position. `read` may accept more than `write` returns. It raises ValueError with a lower-case
    sentence.
`show(position)`
    The board as lines of text.
`move_name(position, move)` / `move(position, text)`
    A move's name, and the move with that name.
`distance(value, remoteness)`
    The distance to the end in the words of the game: `mate in 3`. Reports give the number of plies in any case.
`ending(position)`
    How the game has ended in a primitive position: `checkmate`.
`tier_name(tier)`
    The name of a tier of a dense numbering.
`draw_board()`, `draw_pieces(position)`, `draw_move(position, move)`, `draw_turn(position)`
    For pictures: the board, the pieces on it, the places that a move touches, and the player to move.
    `games/contract/drawing.py` shows each in a few lines.
`read_pieces(pieces, turn)`
    The position for which `draw_pieces` and `draw_turn` return these. With it, people can set up a position by placing
    pieces on the board. It raises ValueError with a lower-case sentence if there is no such position.
`draw_steps(position, move)`, `draw_reach(position, move)`, `draw_end(position)`
    How people make a move by pointing at places, if pointing at all places that the move touches is not enough; and the
    places to mark when the game is over, such as the winning line. `drawing.py` explains all three.

What a position is
==================

A position is a non-negative int below 2**62. It holds everything that the rules need, the player to move included.
Python runs the same methods as they are (to show, to play, to check), and numba compiles them (to solve). In compiled
code ints have 64 bits, so intermediate results must stay below 2**63. Compiled code supports ints, bools, tuples of
ints, loops, arithmetic, calls of the module's own functions, and tables of ints. It does not support strings or big
ints: use those only in the methods for people. `docs/compiling.md` lists what compiles. Put tables in a
`functools.cached_property`. Compiled code sees them as arrays.

Positions may be tuples of two to eight such ints, all of one length, if one int is too short: for boards of more than
62 bits. Declared fields choose this form by themselves. Every method that takes or returns a position takes or returns
such a tuple. A tuple that begins with a negative number means "no position". Rules unpack a tuple and build a
new one, as in `number, hounds, fox = position`. `replaced(position, place, number)` of this module returns a tuple with
another number at an index that is known only at run time. Among symmetric tuples the least one is canonical, in
Python's order of tuples.

`__post_init__` checks the options and raises ValueError.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import FrozenInstanceError, dataclass, fields, replace
from enum import IntEnum
from functools import lru_cache, wraps
from inspect import isfunction
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform

if TYPE_CHECKING:
    from retrograde.games.contract.drawing import Board


class Value(IntEnum):
    """The value of a position for the player to move, from worst to best (GamesCrafters' order).

    A TIE is an end without a winner. In a DRAW neither side can force an end.
    """

    UNDECIDED = 0
    LOSE = 1
    DRAW = 2
    TIE = 3
    WIN = 4


UNDECIDED, LOSE, DRAW, TIE, WIN = Value

CHANCE = -1
"""What `turn` returns where dice or cards decide the next move."""

REPORT = "report it with this line, the command and the output of `retrograde --version`"
"""What a user should do about a bug; the end of an `InternalError`."""

METRICS = ("remoteness", "score", "nimber", "drawlevel", "expectation", "utilities", "dtz", "dtc")
"""What the solver can compute for positions:

    remoteness   value, and plies to the end
    score        the best difference of payoffs that the player to move can get
    nimber       the Sprague-Grundy value, for impartial games
    drawlevel    the level of each DRAW, besides remoteness
    expectation  expected payoffs, for games with chance
    utilities    what each player gets, for three players or more
    dtz          distance to zeroing, under a rule that makes a draw of long play without progress
    dtc          distance to conversion: plies to the next move into another tier
"""
REMOTENESS = METRICS[0]
"""The usual metric."""

FLIPPED = {WIN: LOSE, LOSE: WIN, TIE: TIE, DRAW: DRAW, UNDECIDED: UNDECIDED}
"""A value as the opponent sees it. UNDECIDED stays UNDECIDED."""

POSITION_BITS = 62
"""Positions are non-negative and below 2**POSITION_BITS."""

POSITION_LIMIT = 1 << POSITION_BITS

MOST_WORDS = 8
"""The most ints that the tuple of a position may have."""

ESTIMATE_LIMIT = 1 << 30
"""The greatest estimate and the greatest promise; the least is -ESTIMATE_LIMIT."""

PAYOFF_LIMIT = 1 << 30
"""Payoffs and rewards are from -PAYOFF_LIMIT to PAYOFF_LIMIT."""

MOST_MOVES = 1 << 16
"""A position has fewer moves than this."""

MOST_IMAGES = 1 << 10
"""The greatest number of positions that may be equal by symmetry: the size of the buffers in compiled loops."""

TEXTS = ("write", "show", "move_name", "distance", "ending", "tier_name", "draw_pieces", "draw_turn")
"""Methods that return text for people. `Game` replaces control characters in their results."""


FOR_PEOPLE = frozenset({
    *("name", "title", "variant_title", "words", "example", "write", "read", "show", "move_name", "move", "distance"),
    *("ending", "pgn", "tier_name"),
    *("draw_board", "draw_pieces", "draw_move", "draw_turn", "draw_steps", "draw_reach", "draw_end", "read_pieces"),
    *("board", "bits", "signs", "position_of", "by_turns", "to_move", "_repr_html_"),
})  # fmt: skip
"""Members that only make texts and pictures. The digest of the rules ignores them, and whatever only they use, unless a
rule uses them too. All other members are rules, except those in HINTS, CLOCK and KEEPING."""

HINTS = frozenset({
    *("estimate", "features", "feature_weights", "quiet", "promise", "exchanges", "tie_in", "least_plies", "swapped"),
    *("abstractions", "abstractions_add", "abstracted", "heap_code", "has_ties", "at_best"),
})  # fmt: skip
"""Members that help a search or a numbering. The digest of the rules ignores them."""

CLOCK = frozenset({"zeroes", "plies_to_draw"})
"""Members for rules such as the fifty-move rule. Only the metric dtz uses them; values ignore such rules."""

KEEPING = frozenset({"elsewhere", "collection", "options_in"})
"""Members that say which variants exist, in files as well, and which database holds a tier. They change no value."""

NUMBERS = frozenset({"tiers", "size", "index", "unindex", "parts", "family", "multiplicity"})
"""Members that number positions. In games with chance they are not rules; in all other games they are."""


DERIVED = "_from_fields"
"""The member of a class that holds what follows from its fields: functions and values by the names of members."""


class RetrogradeError(Exception):
    """An error that the user can fix; its text is one lower-case sentence."""


class VariantError(RetrogradeError, ValueError):
    """There is no such game, or the game has no such option."""


class PositionError(RetrogradeError, ValueError):
    """A text that is not a position of the game."""


class MoveError(RetrogradeError, ValueError):
    """A text that is not a legal move in the position."""


class RuleError(RetrogradeError, RuntimeError):
    """Rules that break the contract."""


class InternalError(RetrogradeError, RuntimeError):
    """A fault of retrograde itself, not of a user's rules or files."""

    def __init__(self, what: str):
        super().__init__(f"{what}; this is a bug of retrograde: {REPORT}")


class Contradiction(RuleError):
    """A stored value that does not follow from the rules. Either the rules or retrograde is at fault."""


@dataclass_transform(frozen_default=True, kw_only_default=False)
class Game:
    """The rules of one game with fixed options. The module's docstring lists what a subclass must and may define."""

    name: ClassVar[str]
    title: ClassVar[str] = ""
    """The name of the game for people. If empty, the class name is used."""
    words: ClassVar[Mapping[str, str]] = {}
    """Names of the players and the pieces, by their signs."""
    example: ClassVar[str] = ""
    """Options of a small variant to try first, if the defaults are too large or some options have no default."""
    players: ClassVar[Any] = 2
    """The number of players: a number, an option or a property."""
    metric: ClassVar[Any] = ""
    """What `solve` computes by default, one of METRICS. If empty, `metric_of` chooses."""
    feature_weights: ClassVar[tuple[int, ...]] = (0,)
    """The weights of the `features`. `with_weights` returns a game with others."""
    abstractions: ClassVar[Any] = ()
    """The smaller games whose distances add up to a lower bound, for a puzzle that has any."""
    abstractions_add: ClassVar[bool] = True
    """Whether the distances of the abstractions add up to a lower bound. If not, the greatest of them is one."""
    options_in: ClassVar[Any] = None
    """The class method that returns the options which the text of a file describes, if there is one."""
    has_ties: ClassVar[bool] = True
    """Whether an end may be a TIE."""
    heap_code: ClassVar[Any] = ()
    """What moves may leave of a heap, for a taking-and-breaking game."""
    exchanges: ClassVar[bool] = False
    """Whether `promise` is above 0 for moves that gain something at once, and for no others."""
    board: ClassVar[Any]
    """The board, if the game declares one. Rules may use the name `board` for something else."""
    bits: ClassVar[Any]
    """The signs of the pieces, in the order of their bits in a position. `drawing.py` explains this and the next
    two."""
    by_turns: ClassVar[Any]
    """The signs of players who put down one piece in turn."""
    to_move: ClassVar[Any]
    """The signs of the players, if a position itself says who is to move."""
    if TYPE_CHECKING:

        @property  # so that a subclass may have a class attribute, a field or a property
        def start(self) -> Any: ...

    else:
        start: Any

    def __init_subclass__(cls) -> None:
        """Make a subclass a frozen dataclass of its options. Add `start` if it has `starts`, and `name` if it has none;
        take control characters out of its texts."""
        dataclass(frozen=True)(cls)
        if "starts" in vars(cls) and not hasattr(cls, "start") and "start" not in names_of_options(cls):
            cls.start = property(first_start)  # type: ignore[method-assign,assignment]  # a property, as above
        # Game's own methods forbid changes too. With those of the dataclass, a later @dataclass would raise an error.
        for method in ("__setattr__", "__delattr__"):
            delattr(cls, method)
        for method in TEXTS:
            own = vars(cls).get(method)
            if isfunction(own) and own is not getattr(Game, method):
                setattr(cls, method, without_control_characters(own))
        if "name" not in vars(cls):
            module = cls.__module__.rpartition(".")[-1]
            cls.name = cls.__name__.lower() if module in ("__main__", "__mp_main__") else module

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what pickle stores: enough to rebuild the game, with its rules, in another process."""
        from retrograde.games.contract.travel import pickle_parts

        return pickle_parts(self)

    _repr_html_: "ClassVar[Callable[[Game], str]]"
    """Returns the game as HTML for notebooks; the package `games` sets it, since rules need no pictures."""

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    # The rules. The module's docstring says what each method must return.

    def generate_moves(self, position: int) -> Iterator[int]:
        """Yield the legal moves of an undecided position."""
        raise NotImplementedError(f"{type(self).__name__} has no generate_moves(position)")

    def do_move(self, position: int, move: int) -> int:
        """Return the position after a move."""
        raise NotImplementedError(f"{type(self).__name__} has no do_move(position, move)")

    def primitive(self, position: int) -> Value:
        """Return WIN, LOSE, TIE or DRAW for the player to move if the game is over, else UNDECIDED.

        This default says LOSE if the player has no move.
        """
        for _ in self.generate_moves(position):
            return UNDECIDED
        return LOSE

    def turn(self, position: int) -> int:
        """Return the player to move, from 0, or CHANCE."""
        return 0

    def odds(self, position: int, move: int) -> int:
        """Return the weight of a chance move, an int above 0."""
        return 1

    def payoff(self, position: int, player: int) -> int:
        """Return what a primitive position pays a player."""
        value = self.primitive(position)
        if value != WIN and value != LOSE:
            return 0
        return 1 if (value == WIN) == (self.turn(position) == player) else -1

    def reward(self, position: int, move: int, player: int) -> int:
        """Return what a move pays a player at once."""
        return 0

    @property
    def starts(self) -> tuple[int, ...]:
        """The first positions."""
        return (self.start,)

    def images(self, position: int) -> Iterator[int]:
        """Yield the positions that are equal to this one by symmetry."""
        yield position

    def multiplicity(self, position: int) -> int:
        """Return how many positions are equal to this one by symmetry, itself included."""
        return len({position, *self.images(position)})

    def tier(self, position: int) -> int:
        """Return the tier of a position, an int that never falls along a move."""
        return 0

    def parents(self, position: int) -> Iterator[int]:
        """Yield the positions of the same tier from which a move leads to this one."""
        raise NotImplementedError(f"{type(self).__name__} has no parents(position)")

    def canonical(self, position: int) -> int:
        """Return the canonical one of the positions equal by symmetry: the least by tier, then by number."""
        least, least_tier = position, self.tier(position)
        for image in self.images(position):
            tier = self.tier(image)
            if tier < least_tier or (tier == least_tier and image < least):
                least, least_tier = image, tier
        return least

    # Hints

    def estimate(self, position: int) -> int:
        """Return how good an UNDECIDED position looks for the player to move: the sum of its weighted features."""
        features, total = self.features(position), 0
        for number in range(len(features)):
            total += self.feature_weights[number] * features[number]
        return total

    def features(self, position: int) -> tuple[int, ...]:
        """Return the features of an UNDECIDED position."""
        return (0,)

    def quiet(self, position: int) -> bool:
        """Return whether a search may trust the estimate of an UNDECIDED position."""
        return True

    def promise(self, position: int, move: int) -> int:
        """Return how good a move of an UNDECIDED position looks, for move ordering."""
        return 0

    def tie_in(self, position: int) -> int:
        """Return the number of plies from an UNDECIDED position to a TIE, the same for all ties."""
        raise NotImplementedError(f"{type(self).__name__} has no tie_in(position)")

    def at_best(self, position: int) -> Value:
        """Return the best value that the player to move can reach in an UNDECIDED position; WIN if unknown."""
        return WIN

    def least_plies(self, position: int) -> int:
        """Return a lower bound of the plies from an UNDECIDED position of a puzzle to its solution."""
        return 1

    def abstracted(self, position: int, number: int) -> int:
        """Return the position of a smaller puzzle, that with this number in `abstractions`."""
        raise NotImplementedError(f"{type(self).__name__} has no abstracted(position, number)")

    # Metrics

    def zeroes(self, position: int, move: int) -> bool:
        """Return whether a move is progress and sets the count of plies without progress back to zero."""
        raise NotImplementedError(f"{type(self).__name__} has no zeroes(position, move)")

    def plies_to_draw(self, position: int) -> int:
        """Return after how many plies without progress the game is a draw; a great number if it never is."""
        return POSITION_LIMIT

    # The numbering

    def swapped(self, position: int) -> int:
        """Return the same position with the two players exchanged; a negative number if there is none."""
        return -1

    def index(self, position: int) -> int:
        """Return the slot of a position in its tier."""
        raise NotImplementedError(f"{type(self).__name__} has no index(position)")

    def unindex(self, tier: int, i: int) -> int:
        """Return the canonical position of a slot; a negative number for an empty slot."""
        raise NotImplementedError(f"{type(self).__name__} has no unindex(tier, i)")

    def parts(self, tier: int) -> Iterable[tuple[str, int]]:
        """Return the parts of a tier whose values are counted separately, as pairs (name, number of slots)."""
        return [("all", self.size(tier))]  # type: ignore[attr-defined]  # where it is asked there is one

    def elsewhere(self, tier: int) -> str:
        """Return the variant whose database holds a tier; "" for the game's own database."""
        return ""

    @classmethod
    def collection(cls, options: str) -> list[str]:
        """Return the options of all variants in a named set, in the order in which to solve them.

        Returns an empty list if *options* names no such set.
        """
        return []

    @property
    def family(self) -> "Game":
        """The game that stands for all games in which tiers and positions mean the same."""
        return self

    # For people

    def variant_title(self) -> str:
        """Return the variant's name for people; "" for the title and the options that are not the defaults."""
        return ""

    def write(self, position: int) -> str:
        """Return a position as one line of text that `read` understands."""
        if board := declared_board(self):
            return declared().write(self, board, position)
        return ",".join(map(str, position)) if isinstance(position, tuple) else str(position)

    def read(self, text: str) -> int:
        """Return the position that a text stands for; raise ValueError if there is none."""
        if board := declared_board(self):
            return declared().read(self, board, text)
        if width := width_of(self):
            return numbers_in(text, width)
        if not text.isdecimal():
            raise ValueError("positions of this game are written as whole numbers")
        return int(text)

    def show(self, position: int) -> str:
        """Return the position as one or more lines of text."""
        board = declared_board(self)
        return declared().show(self, board, position) if board else self.write(position)

    def distance(self, value: Value, remoteness: int) -> str:
        """Return the distance to the end of a WIN or a LOSE in the game's own words; "" for none."""
        return ""

    def ending(self, position: int) -> str:
        """Return how the game has ended, in the game's own words; "" for none."""
        return ""

    def tier_name(self, tier: int) -> str:
        """Return the name of a tier."""
        return str(tier)

    def draw_board(self) -> "Board | None":
        """Return the board, or None if positions are shown as text."""
        from retrograde.games.contract.drawing import Board

        board = getattr(self, "board", None)
        return board if isinstance(board, Board) else None

    def signs(self, position: int) -> str | tuple[str, ...]:
        """Return the sign of each place that holds pieces, a dot for an empty one."""
        if by_fields := from_fields(self, "signs"):
            signs: str = by_fields(self, position)
            return signs
        return declared().signs_of_bits(self, position)

    def position_of(self, signs: str, turn: str) -> int:
        """Return the position with these signs and this player to move. Raise ValueError if the rules have none.

        *signs* has a known sign for each place, and *turn* is a sign of `to_move`; neither is checked here.
        Declared fields or `bits` say what the signs mean; other games define this method.
        """
        if by_fields := from_fields(self, "position_of"):
            position: int = by_fields(self, signs, turn)
            return position
        if not has_bits(self):
            raise NotImplementedError(f"{type(self).__name__} has no position_of(signs, turn)")
        return declared().bits_of(self, signs, turn)

    def draw_pieces(self, position: int) -> str:
        """Return a sign for each place of the board, a dot for an empty one."""
        board = declared_board(self)
        return declared().draw_pieces(self, board, position) if board else ""

    def draw_move(self, position: int, move: int) -> tuple[int, ...]:
        """Return the places that a move touches, by number: one cell, from a cell to a cell, or more."""
        board = declared_board(self)
        return declared().draw_move(board, move) if board else ()

    def draw_turn(self, position: int) -> str:
        """Return the sign of the player to move; "" if it is not known."""
        return declared().draw_turn(self, position) if declared_board(self) else ""

    def draw_steps(self, position: int, move: int) -> tuple[tuple[int, ...], ...]:
        """Return the places of `draw_move` in groups, in the order in which people point at them.

        Within a group any order will do. An empty tuple means one group with all of them.
        """
        return ()

    def draw_reach(self, position: int, move: int) -> tuple[int, ...]:
        """Return more places. Pointing at any one of them makes the whole move."""
        return ()

    def draw_end(self, position: int) -> tuple[int, ...]:
        """Return the places to mark where the game is over: a winning line, a mated king."""
        return ()

    def read_pieces(self, pieces: str, turn: str) -> int:
        """Return the position that is drawn with these pieces; raise ValueError if there is none."""
        if board := declared_board(self):
            return declared().read_pieces(self, board, pieces, turn)
        raise NotImplementedError(f"{type(self).__name__} has no read_pieces(pieces, turn)")

    def move_name(self, position: int, move: int) -> str:
        """Return the name of a move."""
        board = declared_board(self)
        return declared().move_name(self, board, position, move) if board else str(move)

    def move(self, position: int, text: str) -> int:
        """Return the legal move with that name; raise MoveError, listing the legal names, if there is none."""
        names = {self.move_name(position, move): move for move in self.generate_moves(position)}
        if text not in names:
            raise MoveError(f"no move {text!r} here; the moves are {' '.join(names)}")
        return names[text]


def from_fields(game: Any, name: str) -> Any:
    """Return the function that follows from a game's fields, for `super()` in a method of that name; None for none."""
    return next((vars(base)[DERIVED][name] for base in type(game).__mro__ if name in vars(base).get(DERIVED, ())), None)


def declared() -> Any:
    """Return the module that makes texts and pictures, imported late because this module counts as rules and texts do
    not."""
    from retrograde.games.contract import declared

    return declared


def with_weights(game: Any, weights: tuple[int, ...]) -> Any:
    """Return the same game with other weights of its features."""
    other = replace(game)
    vars(other)["feature_weights"] = weights
    return other


def first_start(game: Any) -> Any:
    """Return the first of several first positions."""
    first = game.starts[0]
    return first if isinstance(first, tuple) else int(first)


def numbers_in(text: str, count: int) -> Any:
    """Return the position, a tuple of *count* ints, that a text of numbers separated by commas stands for."""
    numbers = text.replace(" ", "").split(",")
    if len(numbers) != count or not all(number.isdecimal() for number in numbers):
        raise ValueError(f"positions of this game are written as {count} whole numbers, parted by commas")
    return tuple(map(int, numbers))


def filled(game: Any, number: int) -> Any:
    """Return a position of a game, a tuple of ints, with the same number in every element."""
    return (number,) * width_of(game)


def replaced(position: Any, place: int, number: int) -> Any:
    """Return a tuple of ints with another number at index *place*. Compiled rules cannot assign to an element."""
    return (*position[:place], number, *position[place + 1 :])


def names_of_options(cls: Any) -> list[str]:
    """Return the names of a game class's options."""
    return [field.name for field in fields(cls)]


def without_control_characters(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return *method*, wrapped so that its text has no control characters."""
    from retrograde.games.contract.text import (
        printable,  # not above: what a module takes there counts as rules of its games
    )

    @wraps(method)
    def printed(*args: Any) -> Any:
        text = method(*args)
        return printable(text) if isinstance(text, str) else text

    return printed


def is_numbered(game: Game | type[Game]) -> bool:
    """Return whether a game numbers all its positions; with chance, numberings may leave some out and do not count.

    A variant whose `tiers` are () numbers none.
    """
    return has_numbering(game) and not has_chance(game)


def has_numbering(game: Any) -> bool:
    """Return whether a game numbers positions: it defines `unindex`, and its `tiers` are not ().

    A class has no options, so its tiers are not known: for a class, `unindex` decides.
    """
    if not defines(game, "unindex") or isinstance(game, type):
        return defines(game, "unindex")
    try:
        return not (isinstance(game.tiers, tuple) and not game.tiers)
    except Exception:  # another check reports broken rules
        return True


def has_chance(game: Game | type[Game]) -> bool:
    """Return whether the solver computes expectations for this game, as far as the class says."""
    return game.metric == "expectation" or defines(game, "odds") or defines(game, "reward")


@lru_cache(64)
def width_of(game: Any) -> int:
    """Return how many ints the game's positions are tuples of, by the start or the first slot; 0 for single ints."""
    try:
        if ints := getattr(game, "_ints", 0):  # games of `apart.py` have this attribute
            return int(ints)
        if hasattr(game, "start"):
            first = game.start
        else:
            first = game.unindex(min(game.tiers), 0) if defines(game, "unindex") else 0
    except Exception:  # another check reports broken rules
        return 0
    return len(first) if isinstance(first, tuple) else 0


def is_none(position: Any) -> bool:
    """Return whether a result of the rules means "no position": a negative number, or a tuple that begins with one."""
    return bool((position[0] if isinstance(position, tuple) else position) < 0)


def defines(game: Game | type[Game], method: str) -> bool:
    """Return whether a game overrides an optional method of the contract."""
    cls = game if isinstance(game, type) else type(game)
    return getattr(cls, method) is not getattr(Game, method)


@dataclass(frozen=True)
class Traits:
    """What a game declares: which optional methods of the contract it has, and what follows from them.

    Call `Traits.of(game)` once, where a game enters a module. All of it follows from class and options, so it is
    cached.
    """

    players: int
    width: int
    """How many ints the positions are tuples of; 0 if positions are single ints."""
    alternates: bool
    """Whether two players take turns, so that the other player moves after every move."""
    is_numbered: bool
    """Whether all positions have numbers. Numberings in games with chance do not count: they may leave some out."""
    has_chance: bool
    """Whether the solver computes expectations for the game."""
    has_at_best: bool
    has_elsewhere: bool
    has_estimate: bool
    has_images: bool
    has_multiplicity: bool
    has_numbering: bool
    """Whether the game defines `unindex`, even if it has chance."""
    has_odds: bool
    has_parents: bool
    has_payoffs: bool
    has_primitive: bool
    has_promise: bool
    has_quiet: bool
    has_rewards: bool
    has_starts: bool
    has_swapped: bool
    has_tie_in: bool
    has_tiers: bool
    has_turn: bool
    has_zeroes: bool

    @staticmethod
    def of(game: Game) -> "Traits":
        """Return the traits of a game."""
        return traits_of(game)


@lru_cache(64)
def traits_of(game: Any) -> Traits:
    """Return the traits of a game; see `Traits.of`."""
    return Traits(
        players=game.players,
        width=width_of(game),
        alternates=alternates(game),
        is_numbered=is_numbered(game),
        has_chance=has_chance(game),
        has_at_best=defines(game, "at_best"),
        has_elsewhere=defines(game, "elsewhere"),
        has_estimate=defines(game, "estimate") or defines(game, "features"),
        has_images=defines(game, "images"),
        has_multiplicity=defines(game, "multiplicity"),
        has_numbering=has_numbering(game),
        has_odds=defines(game, "odds"),
        has_parents=defines(game, "parents"),
        has_payoffs=defines(game, "payoff"),
        has_primitive=defines(game, "primitive"),
        has_promise=defines(game, "promise"),
        has_quiet=defines(game, "quiet"),
        has_rewards=defines(game, "reward"),
        has_starts=defines(game, "starts"),
        has_swapped=defines(game, "swapped"),
        has_tie_in=defines(game, "tie_in"),
        has_tiers=defines(game, "tier"),
        has_turn=defines(game, "turn"),
        has_zeroes=defines(game, "zeroes"),
    )


def declares(game: Game | type[Game]) -> bool:
    """Return whether a game declares by `bits` or `signs` what stands on its board. For a class: whether it may."""
    cls = game if isinstance(game, type) else type(game)
    if isfunction(cls.signs) and defines(cls, "signs"):
        return True
    return has_bits(game) or (cls is game and hasattr(getattr(cls, "bits", ""), "__get__"))  # or has a property


def declared_board(game: Game) -> "Board | None":
    """Return the board of a game that declares what stands on it, else None."""
    board: Board | None = declared().board_of(game) if declares(game) else None
    return board


def has_bits(game: Game | type[Game]) -> bool:
    """Return whether a game declares its pieces by `bits`."""
    return isinstance(bits := getattr(game, "bits", ""), str) and bits != ""


def can_set_up(game: Game) -> bool:
    """Return whether people can set up positions by placing pieces on the board."""
    return defines(game, "read_pieces") or (declares(game) and (has_bits(game) or defines(game, "position_of")))


def alternates(game: Game) -> bool:
    """Return whether two players take turns, so that the other player moves after every move."""
    return bool(game.players == 2) and not defines(game, "turn")


def mover(game: Game, position: int) -> int:
    """Return the player to move, from 0, or CHANCE. Always 0 where two players alternate."""
    return int(game.turn(position))


def same_mover(game: Game, position: int, child: int) -> bool:
    """Return whether the same player is to move before and after a move; CHANCE counts as player 0."""
    if alternates(game):
        return False
    return bool(game.players == 1 or max(0, mover(game, position)) == max(0, mover(game, child)))


def value_to_mover(game: Game, position: int, child: int, value: Value) -> Value:
    """Return the value of a child as the player to move at *position* sees it."""
    return value if same_mover(game, position, child) else FLIPPED[value]


def metric_of(game: Game) -> str:
    """Return the metric that `solve` uses by default, one of METRICS."""
    if game.metric:
        return str(game.metric)
    if defines(game, "odds") or defines(game, "reward"):
        # Two players who alternate leave nothing to chance.
        return (
            "score" if game.players == 2 and not defines(game, "odds") and not defines(game, "turn") else "expectation"
        )
    return "utilities" if game.players > 2 else "remoteness"
