"""A game is a frozen set of options with rules: the contract between rule modules and everything else.

A rule module is a Python file with one subclass of `Game`. Annotated fields are the options, methods
are the rules; subclassing makes the class a frozen dataclass, so nothing has to be decorated or
registered. This is all of Nim with one heap::

    from retrograde.games import LOSE, UNDECIDED, Game

    class Heap(Game):
        \"\"\"Take one, two or three from the heap; whoever takes the last one wins.\"\"\"

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

What the author writes
======================

Always:

`start`
    The first position: a class attribute, a property, or a field.
`generate_moves(position)`
    Yields the legal moves, small non-negative ints. Asked only of positions that are UNDECIDED, and must
    then yield at least one.
`do_move(position, move)`
    The position after the move.
`primitive(position)`
    WIN, LOSE or TIE where the game is over, *for the player to move*; UNDECIDED otherwise. Where an end without
    a winner is no better than to play on for ever, as in chess, say DRAW for TIE. If absent, who cannot move has lost:
    LOSE where `generate_moves` yields nothing, of which it is then asked in every position.

Two players take turns, and values are those of the player to move, unless the game says who plays, and what for:

`players`
    How many there are, 2 if absent: a class attribute, an option or a property. One plays a puzzle: WIN is solved, LOSE
    a dead end, and what can go on for ever and never be solved a DRAW.
`turn(position)`
    Who is to move, from 0 to `players` - 1, or CHANCE where dice or cards decide; asked of ends as well, which are
    never CHANCE's. Values are for that player: along a move after which the same one is to move, they do not change
    sides. It must be there where there are more than two players, or where there is chance. If absent, two players
    alternate, and 0 is whoever is to move; of one player it need not be told.
`odds(position, move)`
    Asked only where it is CHANCE's turn: the weight of a move, an int above 0. All are possible there, each with its
    part of the sum. 1 if absent.
`payoff(position, player)`
    What an end pays a player, an int between -PAYOFF_LIMIT and PAYOFF_LIMIT: points, stones, boxes. If absent, a WIN
    pays 1 to the player to move and -1 to others, a LOSE the opposite, other ends 0.
`reward(position, move, player)`
    What a move pays a player at once, chance's moves as well, an int in the same bounds; 0 if absent. It counts in
    scores and expectations, beside what the end pays: so a position need not tell what has been won before.
`metric`
    What `solve` computes of each position unless it is told otherwise, one of METRICS. If absent, remoteness; where
    there are `odds`, expectation; else, of three players or more, utilities.

When the game has it:

`starts`
    Several first positions, as a tuple; `start` is the first of them then, if absent.

`images(position)`
    Yields the positions that are the same by symmetry (the position itself may be among them). The
    engine keeps one of them, so that a tic-tac-toe database needs 765 records, not 5,478.
`tier(position)`
    An int that never falls along a move: stones on the board, say. What play has left behind it never
    returns to, so tiers are solved one after another, last first; the finer, the less memory is used.
    Of symmetric positions in different tiers, one in the lowest is kept.
`parents(position)`
    Yields every position *of the same tier* from which a move leads here; positions that cannot be
    reached or are over may be among them. The engine needs it only for games with cycles, and finds
    the parents itself where it is absent; with it, it needs less memory.

Where every placement counts, whether play leads there or not, as in chess endgames, there need be no `start`, but a
dense numbering, which makes for the smallest databases and the quickest look-up:

`tiers`, `size(tier)`
    All tiers there are, and how many slots each has. (A property or an attribute, and a method.)
`unindex(tier, i)` / `index(position)`
    The canonical position that slot i of a tier, from 0, stands for, or a negative number where it stands
    for none; and the slot of a position, canonical or not.
`parents(position)`
    As above, if it is there; it may yield only positions that have a slot.
`parts(tier)`
    Pairs of a name and a number of slots, which add up to the size: parts of the tier whose values are
    counted apart, such as the positions of either side to move. Where by symmetry one part stands for two, their
    names are joined by "and". Parts named as in `KM v K`, after what the player to move has and the other, are summed
    over all tiers as well. One part, called "all", if absent.
`multiplicity(position)`
    How many positions are equal by symmetry to one that has a slot, itself counted, where rules can tell it sooner than
    by `images(position)`.
`family`
    A property: a game of other options in which all of these tiers and positions mean the same, and the same one for
    all such games. What is compiled and solved for one serves the others.

`elsewhere(tier)`
    The variant in whose database a tier is, as text, where that is not the game's own; nothing if it is. Such a tier
    is solved with that variant, before, and is not stored again: each ending of chess rests on those that may follow.
    It comes behind all tiers of the game's own.

Where positions are men on the cells of a board, nobody need write this: a subclass of `Placed` of `kinds/placed.py`
declares `placements`, how many men of each kind there may be and which symmetries the board has, and it follows. One of
`Sliding` of `games/kinds/sliding.py` says by `slides` how they move to empty cells, and `parents` follow.

A numbered game may have a `start`: every position with a slot is solved all the same, reached or not. The start is
where play, queries and random games begin, and what is told of the game as a whole.

Where there is chance, so that expectations are computed, a numbering decides nothing: it is for games that are too
large to be explored. Then `parents`, `parts` and `family` need not be there, and positions may be left out:

`index(position)`
    Gives a negative number as well, for what need not be stored: positions where the game is over, and those *in
    between*, such as the dice that have been thrown, which are worth what follows from their children. Whatever is
    done, play must soon come from there to an end or to a position that has a slot, and back to none in between.
`swapped(position)`
    The same position with the two players exchanged, which is worth as much to player 1 as this one to player 0: one of
    the two may be left out. A negative number, for none, if absent.

Where long play without progress is a draw, as by the fifty-move rule of chess, which values leave aside:

`zeroes(position, move)`
    Whether a move is progress: it sets the count of such a rule back to zero, as captures and moves of pawns do. Asked
    of legal moves, for the metric dtz.

As hints for searches, which are right without them. They decide nothing: every value and distance that is called
proved, in a search, a book or a database, is the same whatever they say.
They are asked only of positions that are UNDECIDED, and symmetric positions must get the same answer:

`estimate(position)`
    How good it looks for the player to move, an int from -ESTIMATE_LIMIT to ESTIMATE_LIMIT; 0 is even. For play alone,
    where a search stops before the end: never in a proof. Where points count, there is chance, or more than two play,
    in hundredths of what is paid from there on; where it is chance's turn, for player 0.
`quiet(position)`
    Whether the estimate may be trusted there; where not, as in the middle of an exchange, the search goes on a little.
`promise(position, move)`
    How good a move looks, an int in the same bounds, so that the best are tried first.
`tie_in(position)`
    In how many plies play ends with a TIE, where all ties take as many, because they fill the board, say. `search`
    prints it as not proved if it cannot prove the distance in time. `check` sees to it that each move leaves one less.

For people:

`collection(options)`
    A class method: the options of all the variants that a text in their place stands for, those first on which others
    rest; none where it stands for no such set. So `chess:all=4` is all endings of up to four men.
`title`, `variant_title()`
    What people call the game, `Connect Four`, and the variant, `Connect Four 5 × 4`. By default they are made of the
    name of the class and of the options that are not as usual.
`words`
    What people call the players and what stands on the board, by their signs: `{"X": "Red", "O": "Yellow"}`.

A game on a board says what that looks like and what stands on it, and of the methods below only those need be there for
which something else suits better than what follows from it. `games/contract/drawing.py` shows how:

`board`
    The places, as `grid(3, 3, {"X": "cross", "O": "ring"})` of `drawing.py` gives them: a class attribute, a
    property or a `cached_property`.
`bits`
    The signs of what may stand on a place, such as `"XO"`: a position has a bit for each place with an X, in the order
    of the places, the first place in the lowest bit, then one for each with an O.
`signs(position)` / `position_of(signs, turn)`
    Where positions are coded otherwise: the sign of each place, `.` for none, as text or a tuple; and back again.
`by_turns`, or `to_move`
    The signs of the players, such as `"XO"`: of those who put down one piece by turns, the first one first, so that the
    pieces tell who is to move; or of those who may be to move where a position tells it itself, by the number above
    `bits`, or else by `draw_turn`. Texts of positions then end in that sign.

For people, each pair of methods undoing one another:

`write(position)` / `read(text)`
    One line of text for a position. `read` may accept more than `write` gives, and raises ValueError
    with a lower-case sentence.
`show(position)`
    The board as lines of text.
`move_name(position, move)` / `move(position, text)`
    A move's name, and the move with that name.
`distance(value, remoteness)`
    How far the end is, as people of the game say it: `mate in 3`. Plies are told in any case.
`ending(position)`
    How the game has ended in a position that is over: `checkmate`.
`tier_name(tier)`
    The name of a tier of a dense numbering.
`draw_board()`, `draw_pieces(position)`, `draw_move(position, move)`, `draw_turn(position)`
    What the board looks like, what stands on it, the places that a move touches, and whose turn it is: for pictures, in
    a few lines, as `games/contract/drawing.py` shows.
`read_pieces(pieces, turn)`
    The position that looks like that, where `draw_pieces` and `draw_turn` give what they draw: with it, people can set
    up positions by putting pieces on the board. It raises ValueError with a lower-case sentence where there is none.
`draw_steps(position, move)`, `draw_reach(position, move)`, `draw_end(position)`
    How a move is made by pointing at places, where that takes more than to point at all that it touches; and the
    places by which the game is over, such as the line that has won. All three are explained in `drawing.py`.

What a position is
==================

A non-negative int below 2**62 that says everything the rules need, the player to move included. The
same methods are run as they stand (to show, to play, to check) and compiled by numba (to solve), where
ints are 64 bits wide: intermediate results must stay below 2**63. Compiled code knows ints, bools,
tuples of ints, loops, arithmetic and calls of the module's own functions; it does not know
`super()`, dicts, strings or big ints, so keep those to the methods for people. Tables belong
into a `functools.cached_property`; a tuple of ints (or of tuples of ints, all of one length) is seen as an
array by compiled code.

A game that numbers its positions may have tuples of such ints for positions, all of one length, where one int is too
short: boards of more than 62 bits. They only pass through the rules then, and what is stored are slots. All that takes
or gives a position takes or gives such a tuple, and one that begins with a negative number stands for none. Rules take
them apart and make them anew, `number, hounds, fox = position`; `replaced(position, place, number)` of this module is
the same with another number in a place that is not known before. What lists positions, or looks them up in tables, does
not know tuples: searches, certificates, books, look-ahead, and metrics but remoteness and expectations by slot.
Of symmetric positions the least is kept, as Python compares tuples.

Options are checked in `__post_init__`, which raises ValueError.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import FrozenInstanceError, dataclass, fields
from enum import IntEnum
from functools import lru_cache, wraps
from inspect import isfunction
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform

if TYPE_CHECKING:
    from retrograde.games.contract.drawing import Board


class Value(IntEnum):
    """What a position is worth to the player to move, from worst to best (the order of GamesCrafters).

    A TIE is an end without a winner; in a DRAW neither side can force an end.
    """

    UNDECIDED = 0
    LOSE = 1
    DRAW = 2
    TIE = 3
    WIN = 4


UNDECIDED, LOSE, DRAW, TIE, WIN = Value

CHANCE = -1
"""Whose turn it is where dice or cards decide."""

REPORT = "report it with this line, the command and the output of `retrograde --version`"
"""What to do about a bug."""

METRICS = ("remoteness", "score", "nimber", "drawlevel", "expectation", "utilities", "dtz", "dtc")
"""What may be computed of positions: value and remoteness; the best difference of payoffs; nimbers of impartial games;
how deep in the draws one is; expected payoffs, where there is chance; what each of several players gets; the distance
to zeroing, by a rule that makes a draw of long play without progress; the distance to conversion, to another tier."""

FLIPPED = {WIN: LOSE, LOSE: WIN, TIE: TIE, DRAW: DRAW, UNDECIDED: UNDECIDED}
"""What a value is to the other player; what is not known is known to neither."""

POSITION_BITS = 62
"""Positions are below 2**POSITION_BITS."""

POSITION_LIMIT = 1 << POSITION_BITS

ESTIMATE_LIMIT = 1 << 30
"""The greatest estimate and promise; the least is as far below 0."""

PAYOFF_LIMIT = 1 << 30
"""What ends pay, and what they take, is below this."""

MOST_MOVES = 1 << 16
"""Moves that a position may have."""

MOST_IMAGES = 1 << 10
"""Positions that may be equal by symmetry: what compiled loops have room for."""

TEXTS = ("write", "show", "move_name", "distance", "ending", "tier_name", "draw_pieces", "draw_turn")
"""Methods whose text people see."""


FOR_PEOPLE = frozenset({
    *("name", "title", "variant_title", "words", "example", "write", "read", "show", "move_name", "move", "distance"),
    *("ending", "pgn", "tier_name"),
    *("draw_board", "draw_pieces", "draw_move", "draw_turn", "draw_steps", "draw_reach", "draw_end", "read_pieces"),
    *("board", "bits", "signs", "position_of", "by_turns", "to_move"),
})  # fmt: skip
"""The members of a game that speak to people and decide nothing, unless a rule uses them: what they do, and what only
they use, may change without making other rules. All other members are rules, or HINTS."""

HINTS = frozenset({"estimate", "quiet", "promise", "tie_in", "swapped"})
"""The members of a game that help a search, or a numbering, and decide nothing, either."""

CLOCK = frozenset({"zeroes"})
"""The members of a game that tell how a rule counts by which long play without progress is a draw. Values leave such a
rule aside, so they decide nothing but the metric dtz."""

KEEPING = frozenset({"elsewhere", "collection"})
"""The members of a game that say which variants there are and in whose databases tiers lie: they decide nothing."""

NUMBERS = frozenset({"tiers", "size", "index", "unindex", "parts", "family", "multiplicity"})
"""The members that number positions: rules, but where there is chance."""


class RetrogradeError(Exception):
    """Anything that the person at the keyboard can mend; its text is one lower-case sentence."""


class VariantError(RetrogradeError, ValueError):
    """No such game, or no such option of it."""


class PositionError(RetrogradeError, ValueError):
    """A text that is no position of the game."""


class MoveError(RetrogradeError, ValueError):
    """A text that is no move in the position."""


class RuleError(RetrogradeError, RuntimeError):
    """Rules that break the contract."""


class InternalError(RetrogradeError, RuntimeError):
    """A fault of retrograde itself, and of no rules or file."""

    def __init__(self, what: str):
        super().__init__(f"{what}; this is a bug of retrograde: {REPORT}")


class Contradiction(RuleError):
    """A stored value that does not follow from the rules: a fault of either the rules or of retrograde."""


@dataclass_transform(frozen_default=True, kw_only_default=False)
class Game:
    """The rules of one game with its options fixed; see the module for what a subclass must and may define."""

    name: ClassVar[str]
    title: ClassVar[str] = ""
    """What people call the game, if not as its class."""
    words: ClassVar[Mapping[str, str]] = {}
    """What people call the players and what stands on the board, by their signs."""
    example: ClassVar[str] = ""
    """The options of a small variant to begin with, where the defaults will not do, or there are none."""
    players: ClassVar[Any] = 2
    """How many play: a number, an option or a property."""
    metric: ClassVar[Any] = ""
    """What is computed of positions unless something else is asked for; empty for what suits the game."""
    board: ClassVar[Any]
    """What the board looks like, if the game declares it; rules may use the name for something else."""
    bits: ClassVar[Any]
    """The signs of what stands on the board, in the order of the bits that say where; see `drawing.py` for all four."""
    by_turns: ClassVar[Any]
    """The signs of players who put down a piece by turns."""
    to_move: ClassVar[Any]
    """The signs of players where positions tell who is to move."""
    start: Any

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)
        if "starts" in vars(cls) and not hasattr(cls, "start") and "start" not in names_of_options(cls):
            cls.start = property(first_start)
        for method in ("__setattr__", "__delattr__"):  # Game's own do as well, and an explicit @dataclass may follow
            delattr(cls, method)
        for method in TEXTS:
            own = vars(cls).get(method)
            if isfunction(own) and own is not getattr(Game, method):
                setattr(cls, method, made_printable(own))
        if "name" not in vars(cls):
            module = cls.__module__.rpartition(".")[-1]
            cls.name = cls.__name__.lower() if module in ("__main__", "__mp_main__") else module

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what pickle is to keep: enough to make the game anew in another process, its rules included."""
        from retrograde.games.contract.travel import sent

        return sent(self)

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    # The rules

    def generate_moves(self, position: int) -> Iterator[int]:
        """Yield the legal moves of an undecided position."""
        raise NotImplementedError(f"{type(self).__name__} has no generate_moves(position)")

    def do_move(self, position: int, move: int) -> int:
        """Return the position after a move."""
        raise NotImplementedError(f"{type(self).__name__} has no do_move(position, move)")

    def primitive(self, position: int) -> Value:
        """Return WIN, LOSE, TIE or DRAW for the player to move where the game is over, else UNDECIDED."""
        for _ in self.generate_moves(position):
            return UNDECIDED
        return LOSE

    def turn(self, position: int) -> int:
        """Return who is to move, or CHANCE."""
        return 0

    def odds(self, position: int, move: int) -> int:
        """Return the weight of a move of CHANCE."""
        return 1

    def payoff(self, position: int, player: int) -> int:
        """Return what an end pays a player."""
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
        """Yield the positions equal to this one by symmetry."""
        yield position

    def multiplicity(self, position: int) -> int:
        """Return how many positions are equal to this one by symmetry."""
        return len({position, *self.images(position)})

    def tier(self, position: int) -> int:
        """Return a number that never falls along a move."""
        return 0

    def parents(self, position: int) -> Iterator[int]:
        """Yield the positions of the same tier from which a move leads to this one."""
        raise NotImplementedError(f"{type(self).__name__} has no parents(position)")

    def canonical(self, position: int) -> int:
        """Return the one of the positions equal by symmetry that is least by tier, then by number."""
        least, least_tier = position, self.tier(position)
        for image in self.images(position):
            tier = self.tier(image)
            if tier < least_tier or (tier == least_tier and image < least):
                least, least_tier = image, tier
        return least

    # Hints

    def estimate(self, position: int) -> int:
        """Return how good an undecided position looks for the player to move."""
        return 0

    def quiet(self, position: int) -> bool:
        """Tell whether the estimate of an undecided position may be trusted."""
        return True

    def promise(self, position: int, move: int) -> int:
        """Return how good a move of an undecided position looks."""
        return 0

    def tie_in(self, position: int) -> int:
        """Return how many plies all ties take from an undecided position."""
        raise NotImplementedError(f"{type(self).__name__} has no tie_in(position)")

    # Metrics

    def zeroes(self, position: int, move: int) -> bool:
        """Tell whether a move sets the count of moves without progress back to zero."""
        raise NotImplementedError(f"{type(self).__name__} has no zeroes(position, move)")

    # The numbering

    def swapped(self, position: int) -> int:
        """Return the same position with the players exchanged; a negative number where that is not told."""
        return -1

    def index(self, position: int) -> int:
        """Return the slot of a position in its tier."""
        raise NotImplementedError(f"{type(self).__name__} has no index(position)")

    def unindex(self, tier: int, i: int) -> int:
        """Return the canonical position of a slot; a negative number where it stands for none."""
        raise NotImplementedError(f"{type(self).__name__} has no unindex(tier, i)")

    def parts(self, tier: int) -> Iterable[tuple[str, int]]:
        """Return the parts of a tier that are counted apart, as their names and numbers of slots."""
        return [("all", self.size(tier))]  # type: ignore[attr-defined]  # where it is asked there is one

    def elsewhere(self, tier: int) -> str:
        """Return the variant in whose database a tier is, nothing if it is in the game's own."""
        return ""

    @classmethod
    def collection(cls, options: str) -> list[str]:
        """Return the options of the variants that a text stands for, in the order in which to solve them; none where
        it is no such text."""
        return []

    @property
    def family(self) -> "Game":
        """The game that stands for all in which tiers and positions mean the same."""
        return self

    # For people

    def variant_title(self) -> str:
        """Return what people call the variant; nothing for its title and the options that are not as usual."""
        return ""

    def write(self, position: int) -> str:
        """Return a position as one line of text that `read` understands."""
        if board := declared_board(self):
            return declared().write(self, board, position)
        return ",".join(map(str, position)) if isinstance(position, tuple) else str(position)

    def read(self, text: str) -> int:
        """Return the position that a text stands for; raise ValueError where it stands for none."""
        if board := declared_board(self):
            return declared().read(self, board, text)
        if width := width_of(self):
            return numbers_in(text, width)
        if not text.isdecimal():
            raise ValueError("positions of this game are written as whole numbers")
        return int(text)

    def show(self, position: int) -> str:
        """Return the position as a picture of one or more lines."""
        board = declared_board(self)
        return declared().show(self, board, position) if board else self.write(position)

    def distance(self, value: Value, remoteness: int) -> str:
        """Return in the words of the game how far the end of a WIN or a LOSE is; nothing where it has none."""
        return ""

    def ending(self, position: int) -> str:
        """Return in the words of the game how it has ended; nothing where it has none."""
        return ""

    def tier_name(self, tier: int) -> str:
        """Return the name of a tier."""
        return str(tier)

    def draw_board(self) -> "Board | None":
        """Return what the board looks like, or None, where positions are shown as text."""
        from retrograde.games.contract.drawing import Board

        board = getattr(self, "board", None)
        return board if isinstance(board, Board) else None

    def signs(self, position: int) -> str | tuple[str, ...]:
        """Return the sign of each place of the board that holds pieces; a dot where it is empty."""
        return declared().signs_of_bits(self, position)

    def position_of(self, signs: str, turn: str) -> int:
        """Return the position with these signs and this player to move; raise ValueError where there is none."""
        if not has_bits(self):
            raise NotImplementedError(f"{type(self).__name__} has no position_of(signs, turn)")
        return declared().bits_of(self, signs, turn)

    def draw_pieces(self, position: int) -> str:
        """Return a sign for each place of the board; a dot where it is empty."""
        board = declared_board(self)
        return declared().draw_pieces(self, board, position) if board else ""

    def draw_move(self, position: int, move: int) -> tuple[int, ...]:
        """Return the places that a move touches, by their numbers: a cell, or from a cell to a cell, or more."""
        board = declared_board(self)
        return declared().draw_move(board, move) if board else ()

    def draw_turn(self, position: int) -> str:
        """Return the sign of the player to move; nothing where it is not known."""
        return declared().draw_turn(self, position) if declared_board(self) else ""

    def draw_steps(self, position: int, move: int) -> tuple[tuple[int, ...], ...]:
        """Return the places of `draw_move` in groups, as they are pointed at; within a group any order will do.

        Nothing stands for one group of them all.
        """
        return ()

    def draw_reach(self, position: int, move: int) -> tuple[int, ...]:
        """Return further places, each of which, pointed at, stands for the whole move."""
        return ()

    def draw_end(self, position: int) -> tuple[int, ...]:
        """Return the places by which the game is over in a position where it is: a line that has won, a mated king."""
        return ()

    def read_pieces(self, pieces: str, turn: str) -> int:
        """Return the position for which these are drawn; raise ValueError where there is none."""
        if board := declared_board(self):
            return declared().read_pieces(self, board, pieces, turn)
        raise NotImplementedError(f"{type(self).__name__} has no read_pieces(pieces, turn)")

    def move_name(self, position: int, move: int) -> str:
        """Return the name of a move."""
        board = declared_board(self)
        return declared().move_name(self, board, position, move) if board else str(move)

    def move(self, position: int, text: str) -> int:
        """Return the legal move of that name; raise MoveError, with the names there are, where there is none."""
        names = {self.move_name(position, move): move for move in self.generate_moves(position)}
        if text not in names:
            raise MoveError(f"no move {text!r} here; the moves are {' '.join(names)}")
        return names[text]


def declared() -> Any:
    """Return what makes texts and pictures from a declared board: imported late, for what is for people is no rule."""
    from retrograde.games.contract import declared

    return declared


def first_start(game: Any) -> Any:
    """Return the first of several first positions."""
    first = game.starts[0]
    return first if isinstance(first, tuple) else int(first)


def numbers_in(text: str, count: int) -> Any:
    """Return the position, a tuple of so many ints, whose numbers a text has, parted by commas."""
    numbers = text.replace(" ", "").split(",")
    if len(numbers) != count or not all(number.isdecimal() for number in numbers):
        raise ValueError(f"positions of this game are written as {count} whole numbers, parted by commas")
    return tuple(map(int, numbers))


def filled(game: Any, number: int) -> Any:
    """Return a position of a game, a tuple of ints, with the same number in all places."""
    return (number,) * width_of(game)


def replaced(position: Any, place: int, number: int) -> Any:
    """Return a tuple of ints with another number in a place, which compiled rules can say in no other way."""
    return (*position[:place], number, *position[place + 1 :])


def names_of_options(cls: Any) -> list[str]:
    """Return the names of the options of a class of games."""
    return [field.name for field in fields(cls)]


def made_printable(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that does the same, and whose text holds no control characters."""
    from retrograde.games.contract.text import (
        printable,  # not above: what a module takes there counts as rules of its games
    )

    @wraps(method)
    def printed(*args: Any) -> Any:
        text = method(*args)
        return printable(text) if isinstance(text, str) else text

    return printed


def is_numbered(game: Game | type[Game]) -> bool:
    """Tell whether a game has a dense numbering that is of all its positions."""
    return defines(game, "unindex") and not has_chance(game)


def has_chance(game: Game | type[Game]) -> bool:
    """Tell whether a game is one of which expectations are computed, as far as its class says it."""
    return game.metric == "expectation" or defines(game, "odds") or defines(game, "reward")


@lru_cache(64)
def width_of(game: Any) -> int:
    """Return of how many ints the positions of a game are tuples, by its start, or else by the position of its first
    slot; 0 where they are ints."""
    if not defines(game, "unindex"):
        return 0
    try:
        if ints := getattr(game, "_ints", 0):  # as games of `apart.py` know it
            return int(ints)
        first = game.start if hasattr(game, "start") else game.unindex(min(game.tiers), 0)
    except Exception:  # rules that are broken are told of where they are checked
        return 0
    return len(first) if isinstance(first, tuple) else 0


def is_none(position: Any) -> bool:
    """Tell whether what rules give stands for no position: a negative number, or a tuple that begins with one."""
    return bool((position[0] if isinstance(position, tuple) else position) < 0)


def defines(game: Game | type[Game], method: str) -> bool:
    """Tell whether a game has its own version of an optional method, rather than the contract's default."""
    cls = game if isinstance(game, type) else type(game)
    return getattr(cls, method) is not getattr(Game, method)


def declares(game: Game | type[Game]) -> bool:
    """Tell whether a game says what stands on the places of its board, by `bits` or `signs`; whether a class may."""
    cls = game if isinstance(game, type) else type(game)
    if isfunction(cls.signs) and defines(cls, "signs"):
        return True
    return has_bits(game) or (cls is game and hasattr(getattr(cls, "bits", ""), "__get__"))  # or has a property


def declared_board(game: Game) -> "Board | None":
    """Return the board of a game that says what stands on it, if there is one."""
    board: Board | None = declared().board_of(game) if declares(game) else None
    return board


def has_bits(game: Game | type[Game]) -> bool:
    """Tell whether a game says by `bits` what stands on its board."""
    return isinstance(bits := getattr(game, "bits", ""), str) and bits != ""


def can_set_up(game: Game) -> bool:
    """Tell whether a game can say which position has some pieces on its board."""
    return defines(game, "read_pieces") or (declares(game) and (has_bits(game) or defines(game, "position_of")))


def alternates(game: Game) -> bool:
    """Tell whether two players take turns, so that after every move the other one is to move."""
    return bool(game.players == 2) and not defines(game, "turn")


def mover(game: Game, position: int) -> int:
    """Return who is to move, from 0 on, or CHANCE; where two players alternate it is 0, whoever it is."""
    return int(game.turn(position))


def same_mover(game: Game, position: int, child: int) -> bool:
    """Tell whether after a move it is the turn of the player who made it; chance's counts as player 0's."""
    if alternates(game):
        return False
    return bool(game.players == 1 or max(0, mover(game, position)) == max(0, mover(game, child)))


def value_to_mover(game: Game, position: int, child: int, value: Value) -> Value:
    """Return what the value of a child is to who moves there from a position."""
    return value if same_mover(game, position, child) else FLIPPED[value]


def metric_of(game: Game) -> str:
    """Return what is computed of a game's positions unless something else is asked for, one of METRICS."""
    if game.metric:
        return str(game.metric)
    if defines(game, "odds") or defines(game, "reward"):
        return "expectation"
    return "utilities" if game.players > 2 else "remoteness"
