"""Men on a board and in the hands of two players: how a position is encoded, written and drawn.

The first player has capital letters, and men that go up; the second player's men go down. A position is seen by the
player to move, as if she were the one who goes up. Its bits, the lowest first, are::

    w for each cell      what stands there, row by row from the top left: 0 nothing; a man of hers by its place in
                         `steps`, from 1 on; one of the other player's by that number and the highest of the w bits
    h for each kind      how many men of the kind she has in hand: of those that drop, in the order of `steps`
    h for each kind      how many the other player has
    1                    who is to move, 0 for the player who begins

w is the fewest bits that hold the men of `steps`, and h the fewest that hold all men of a kind in `setup`. A text has
the second player's hand above the rows, which are as the first player sees them, the first player's hand below, and
last the king of the player to move::

    p./.k./.../PK./../K
"""

from functools import cached_property
from typing import Any, ClassVar

from retrograde.games.contract.drawing import Board, grid
from retrograde.games.contract.faults import no_dict, no_truth, refuse
from retrograde.games.contract.game import POSITION_BITS, Game, RuleError

COLOURS = "gold", "lightblue"
"""The colours of the first player's men and of the second player's."""
NUMBERS = "no", "one", "two", "three"
"""Numbers as complaints write them; greater ones are written in digits."""


class TwoHands(Game):
    """Base class for games that declare `setup`, `steps` and `to_move` (the kings)."""

    to_move: ClassVar[Any] = None
    """The signs of the kings: the first player's, then the second player's."""
    setup: ClassVar[Any] = None
    """The rows of the board, separated by slashes, with all men of the game."""
    steps: ClassVar[Any] = None
    """For the sign of each kind of men, its steps: how far right and how far down."""
    promotions: ClassVar[Any] = {}
    """For the sign of a kind, the sign of what it becomes. A captured man becomes the first kind again."""
    called: ClassVar[Any] = {}
    """The names of kinds for people, where they differ from the signs."""
    dropping = True
    """Whether captured men go to the captor's hand. If not, they leave the game."""

    @cached_property
    def start(self):
        return self.laid(self.setup)

    def laid(self, rows):
        """Return the position with these rows, no man in hand, and the first player to move."""
        known, men = self._signs, rows.replace("/", "")
        for sign in sorted({*men} - {*known}):
            what = f"men are {''.join(self.steps)}, and the other player's in small letters"
            raise RuleError(f"{sign!r} in {rows!r} is no man; {what}")
        if len(men) != self.cells or [men.count(king) for king in self.to_move] != [1, 1]:
            raise RuleError(f"{rows!r} must have {self.cells} cells, one {' and one '.join(self.to_move)}")
        for kind in self._kinds:
            if self._count(men, kind) > self._count(self.setup, kind):
                raise RuleError(f"{rows!r} has more {kind} than {self.setup!r}, the setup, by which hands are made")
        return self._coded(men, "", "")

    # Tables

    @cached_property
    def columns(self):
        return len(self._rows[0])

    @cached_property
    def cells(self):
        return self.columns * len(self._rows)

    @cached_property
    def _rows(self):
        return tuple(self.setup.split("/"))

    @cached_property
    def _kinds(self):
        """The kinds that can be captured, as captors see them: all but kings and promoted kinds."""
        return "".join(sign for sign in self.steps if sign not in (self.to_move[0], *self.promotions.values()))

    @cached_property
    def _drops(self):
        """The kinds that can be in hand."""
        return self._kinds if self.dropping else ""

    @cached_property
    def _theirs(self):
        """The bit of a cell that marks a man as the other player's."""
        return 1 << len(self.steps).bit_length()

    @cached_property
    def _width(self):
        """The number of bits of a cell (w)."""
        return self._theirs.bit_length()

    @cached_property
    def _hands_at(self):
        """The offset of the hands' bits."""
        return self._width * self.cells

    @cached_property
    def _counter(self):
        """The number of bits for one kind in a hand (h)."""
        return max((self._count(self.setup, kind) for kind in self._drops), default=0).bit_length()

    @cached_property
    def _hand(self):
        """The number of bits of a hand."""
        return self._counter * len(self._drops)

    @cached_property
    def _turn_at(self):
        """The offset of the bit for the player to move."""
        return self._hands_at + 2 * self._hand

    @cached_property
    def _signs(self):
        """The signs of men by number. Checks the declaration first."""
        refuse(self._faults())
        signs = "".join(self.steps).ljust(self._theirs - 1, ".")  # numbers that are no man have a dot
        return f".{signs}.{signs.lower()}"

    def _faults(self):
        """Yield what is wrong with the declaration."""
        yield from self._misshapen()
        signs, king = "".join(self.steps), str(self.to_move)[:1]
        if king not in self.steps or self.to_move != king + king.lower():
            yield f"to_move is {self.to_move!r}; it must be a king of {signs}, as a capital and as a small letter"
        changing = [king, *self.promotions, *self.promotions.values()]
        for sign, other in self.promotions.items():
            known = sign in self.steps and other in [*self.steps]
            # In `changing`, each of both must be once: a king or another promotion would be one more.
            if not known or changing.count(sign) + changing.count(other) > 2:
                yield f"{sign} cannot become {other}; both must be men of {signs}, in no other promotion and no kings"
        if len({*map(len, self._rows)}) > 1:
            yield f"setup is {self.setup!r}; its rows, parted by slashes, must have one length"
        if self._turn_at >= POSITION_BITS:
            what = f"{self.cells} cells of {self._width} bits, two hands of {self._hand} and a turn"
            yield f"{what} are more than the {POSITION_BITS} bits of a position; take a smaller board, or fewer men"

    def _misshapen(self):
        """Yield declarations of the wrong type, from which no table can be made."""
        if not isinstance(self.setup, str) or self.setup.split() != [self.setup]:
            yield f"setup is {self.setup!r}; it must be text, the rows of the board parted by slashes, as 'k./../.K'"
        yield from no_dict("steps", self.steps, "its steps")
        if not self.steps:
            yield "steps is {}; it must have one man at least, a king"
        for sign in self.steps:
            if not isinstance(sign, str) or len(sign) != 1 or not "A" <= sign <= "Z":
                yield f"steps has a man {sign!r}; the sign of a man is a capital from A to Z"
        yield from no_dict("promotions", self.promotions, "the sign of what it becomes")
        yield from no_truth("dropping", self.dropping)

    # Positions

    def turned(self, position):
        """Return a position as the other player sees it, with the turn passed to that player."""
        hand, theirs, last = (1 << self._hand) - 1, self._theirs, self._hands_at - self._width
        hers, others = position >> self._hands_at & hand, position >> self._hands_at + self._hand & hand
        turned = ((position >> self._turn_at ^ 1) << 2 * self._hand | hers << self._hand | others) << self._hands_at
        # Rotate the board by half a turn and change the owner of each man.
        for at in range(0, self._hands_at, self._width):
            man = position >> at & 2 * theirs - 1
            if man:
                turned |= (man ^ theirs) << last - at
        return turned

    def _coded(self, men, south, north):
        """Return the position with these signs on the board, and in the hands of the first player (*south*) and of the
        second (*north*). The first player is to move."""
        position = sum(self._signs.index(sign) << self._width * cell for cell, sign in enumerate(men) if sign != ".")
        for hand, at in ((south, self._hands_at), (north.upper(), self._hands_at + self._hand)):
            position += sum(hand.count(sign) << at + self._counter * kind for kind, sign in enumerate(self._drops))
        return position

    def _count(self, signs, kind):
        """Return how many men of a kind, of both players, are among *signs*. Promoted men count."""
        return sum(signs.upper().count(sign) for sign in (kind, *self.promotions.get(kind, "")))

    # For people: the second player's hand is above the board, the first player's below

    @cached_property
    def _beside(self):
        """The number of places that the picture has for each hand: enough for all men that may be in it."""
        return sum(self._count(self.setup, kind) for kind in self._drops)

    @cached_property
    def board(self):
        """The board, with a row of places for the men in each player's hand above and below.

        Its places are those of the North hand, the cells, and the South hand, in the order of `signs`.
        """
        refuse(self._misnamed())
        # Places are (column, row). The hands are centred, half a row away from the board.
        rows, signs = len(self._rows), "".join(self.steps)
        cells, left = grid(self.columns, rows), (self._beside - self.columns) / 2
        north, south = ([(cell - left, row) for cell in range(self._beside)] for row in (-1.5, rows + 0.5))
        # The places of the hands are N1, N2, … and S1, S2, …; the second player's men have small letters.
        names = [[f"{player}{cell}" for cell in range(1, 1 + self._beside)] for player in "NS"]
        look = zip(COLOURS, (signs, signs.lower()), strict=True)
        pieces = {sign: f"{colour} disc {sign.upper()}" for colour, men in look for sign in men}
        places = *north, *cells.places, *south
        return Board(places, (*names[0], *cells.names, *names[1]), pieces, len(places))

    def _misnamed(self):
        """Yield what is wrong with the names of men, which are no part of the rules."""
        yield from no_dict("called", self.called, "what people call it")
        for sign, name in self.called.items():
            if sign not in self.steps or not isinstance(name, str):
                yield f"called has {name!r} for {sign!r}; it must have text, for men of {''.join(self.steps)}"

    def signs(self, position):
        """Return the signs of the North hand, the board and the South hand, a dot for each empty place."""
        # A position is as the player to move sees it. Turn it so that South, the first player, is below.
        turn = position >> self._turn_at
        if turn:
            position = self.turned(position)
        # Each cell has `_width` bits, of which `_theirs` is the highest.
        cells = range(0, self._hands_at, self._width)
        men = "".join(self._signs[position >> cell & 2 * self._theirs - 1] for cell in cells)
        south, north = (self._held(position >> at) for at in (self._hands_at, self._hands_at + self._hand))
        return f"{north.lower():.<{self._beside}}{men}{south:.<{self._beside}}"

    def show(self, position):
        """Return the lines of the board, with the hands set off by empty lines."""
        lines = super().show(position).split("\n")
        if self._beside:
            lines[1:-2] = "", *lines[1:-2], ""
        return "\n".join(lines)

    def _held(self, counts):
        """Return the signs of the men in a hand, whose bits are the lowest of *counts*."""
        most = (1 << self._counter) - 1
        return "".join(sign * (counts >> self._counter * kind & most) for kind, sign in enumerate(self._drops))

    def position_of(self, signs, turn):
        """Return the position with these men in hand and on the board; raise ValueError if some are missing or too
        many."""
        end = self._beside + self.cells
        north, men, south = signs[: self._beside], signs[self._beside : end], signs[end:]
        if [men.count(king) for king in self.to_move] != [1, 1]:
            king, (hers, others) = self._name(self.to_move[0]), self.to_move
            raise ValueError(f"there must be one {king} of each player ({hers} and {others}) on the board")
        if {*south} - {".", *self._drops} or {*north} - {".", *self._drops.lower()}:
            *names, last = (f"{self._name(kind)}s" for kind in self._drops)
            listed = f"{', '.join(names)} and {last}" if names else last
            raise ValueError(f"only {listed} of one's own are in hand")
        for kind in self._kinds:
            self._expect_count(kind, self._count(signs, kind), self._count(self.signs(self.start), kind))
        position = self._coded(men, south, north)
        return self.turned(position) if turn == self.to_move[1] else position

    def _expect_count(self, kind, count, most):
        """Raise ValueError for too many men of a kind, or for too few if captured men change hands."""
        wanted = NUMBERS[most] if most < len(NUMBERS) else str(most)
        if self.dropping and count != most:
            raise ValueError(f"there must be {wanted} {kind}, of both players and in hand together; not {count}")
        if count > most:
            raise ValueError(f"there must be no more than {wanted} {kind}, of both players; not {count}")

    def _name(self, kind):
        return self.called.get(kind, kind)

    def draw_turn(self, position):
        return self.to_move[position >> self._turn_at]
