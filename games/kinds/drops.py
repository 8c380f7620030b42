"""Games of the shōgi family: men with steps; captured men are dropped again by their captor::

    class Pawns(Drops):
        to_move = "Kk"                                # the kings
        steps = {"P": AHEAD, "K": AROUND, "G": GOLD}  # by the sign of each man, where it goes
        promotions = {"P": "G"}                       # what it becomes on the last row
        setup = "pkp/.../PKP"

A move is either a step to a cell that is empty or has an opponent's man, which goes to the hand, or a drop: a man in
hand, unpromoted, is put on an empty cell. A man that steps to one of the last *promoting* rows is promoted at once.
Without *dropping*, captured men leave the game. A player who can capture the king wins. A player who cannot move loses.
A game that ends in another way defines its own `primitive`, as `dobutsu.py` does. A game that forbids more defines its
own `generate_moves`.

`two_hands.py` encodes positions. A position is equal by symmetry to its mirror image, if the steps are symmetric, and
to the same position with the other player to move. A move is the cell that the man leaves, or for a drop the number of
cells plus the number of the kind; below it is the cell that it enters, in as few bits as hold any cell.
"""

from functools import cached_property

from retrograde.games.contract.faults import no_number
from retrograde.games.contract.game import LOSE, UNDECIDED, WIN
from retrograde.games.kinds.two_hands import TwoHands

# Steps of men, as (right, down). GOLD and SILVER are the generals of shōgi.
AHEAD = ((0, -1),)
STRAIGHT = ((0, -1), (-1, 0), (1, 0), (0, 1))
SLANTING = ((-1, -1), (1, -1), (-1, 1), (1, 1))
AROUND = STRAIGHT + SLANTING
GOLD = (*STRAIGHT, (-1, -1), (1, -1))
SILVER = (*SLANTING, (0, -1))


class Drops(TwoHands):
    """Base class for games that declare `setup`, `steps` and `to_move`; the rules follow."""

    promoting = 1
    """On how many rows, counted from the last, men are promoted; 0 for none."""

    def _faults(self):
        yield from super()._faults()
        for sign, steps in self.steps.items():
            if not isinstance(steps, tuple) or not all(map(is_step, steps)):
                what = "a tuple of pairs of whole numbers, how far right and how far down, not both 0, as ((0, -1),)"
                yield f"steps of {sign} are {steps!r}; they must be {what}"
        yield from no_number("promoting", self.promoting, 0, len(self._rows))

    @cached_property
    def reach(self):
        """For each man's number (0: none) and each cell, the cells that the man can go to, as bits."""
        rows = self.cells // self.columns
        table = [[0] * self.cells]
        for steps in self.steps.values():
            table.append([0] * self.cells)
            for cell in range(self.cells):
                for right, down in steps:
                    column, row = cell % self.columns + right, cell // self.columns + down
                    if 0 <= column < self.columns and 0 <= row < rows:
                        table[-1][cell] |= 1 << row * self.columns + column
        return tuple(map(tuple, table))

    @cached_property
    def _promoted(self):
        """What each man of the player to move becomes on the last rows."""
        return tuple(self._signs.index(self.promotions.get(sign, sign)) for sign in (".", *self.steps))

    @cached_property
    def _gained(self):
        """What each man adds to the position when it is captured: one man of its unpromoted kind in hand."""
        before = {other: sign for sign, other in self.promotions.items()}
        kinds = [before.get(sign.upper(), sign.upper()) for sign in self._signs]
        return tuple(
            1 << self._hands_at + self._counter * self._drops.index(kind) if kind in self._drops else 0
            for kind in kinds
        )

    @cached_property
    def _dropped(self):
        """The man of each kind in hand."""
        return tuple(map(self._signs.index, self._drops))

    @cached_property
    def _other_king(self):
        return self._signs.index(self.to_move[1])

    @cached_property
    def _low(self):
        """The number of bits of a move for the cell that the man enters."""
        return (self.cells - 1).bit_length()

    @cached_property
    def _mirrored(self):
        """The bits of each column in the left half of the board; empty if steps are not symmetric."""
        if any((-right, down) not in steps for steps in self.steps.values() for right, down in steps):
            return ()
        cells = range(0, self.cells, self.columns)
        first = sum(((1 << self._width) - 1) << self._width * cell for cell in cells)  # the bits of the first column
        return tuple(first << self._width * column for column in range(self.columns // 2))

    # The rules

    def generate_moves(self, position):
        """Yield `source << _low | target` for each step. A source of at least `cells` is a kind of man in hand, put
        down."""
        # Step 1: find the empty cells, and those that men may step to: empty, or with an opponent's man.
        width, theirs, empty, free = self._width, self._theirs, 0, 0
        for cell in range(self.cells):
            man = position >> width * cell & 2 * theirs - 1  # the opponent's men are the numbers above `theirs`
            if man == 0:
                empty |= 1 << cell
            if man == 0 or man > theirs:
                free |= 1 << cell
        # Step 2: steps of men on the board.
        for cell in range(self.cells):
            if not free >> cell & 1:  # there is a man of the player to move
                targets = self.reach[position >> width * cell & theirs - 1][cell] & free
                for target in range(self.cells):
                    if targets >> target & 1:
                        yield cell << self._low | target
        # Step 3: drops.
        for kind in range(len(self._dropped)):
            if position >> self._hands_at + self._counter * kind & (1 << self._counter) - 1:
                for target in range(self.cells):
                    if empty >> target & 1:
                        yield self.cells + kind << self._low | target

    def do_move(self, position, move):
        """Return the position after a step, which may capture and promote, or a drop."""
        (source, target), width, full = self.parts_of(move), self._width, 2 * self._theirs - 1
        if source >= self.cells:
            kind = source - self.cells
            position += (self._dropped[kind] << width * target) - (1 << self._hands_at + self._counter * kind)
        else:
            man, taken = position >> width * source & full, position >> width * target & full
            position += self._gained[taken] - (man << width * source)
            if target < self.columns * self.promoting:  # the first cells are the last rows of the player to move
                man = self._promoted[man]
            position += man - taken << width * target
        return self.turned(position)

    def primitive(self, position):
        """Return WIN if the player can capture the king, LOSE if she cannot move, else UNDECIDED."""
        if self.reaches(position, self.king(position)):
            return WIN
        for _ in self.generate_moves(position):
            return UNDECIDED
        return LOSE

    def king(self, position):
        """Return the cell of the opponent's king; the number of cells if it is not on the board."""
        width, full, king = self._width, 2 * self._theirs - 1, self._other_king
        for cell in range(self.cells):
            if position >> width * cell & full == king:
                return cell
        return self.cells

    def reaches(self, position, target):
        """Return whether a man of the player to move can capture on a cell."""
        width, theirs = self._width, self._theirs
        for cell in range(self.cells):
            man = position >> width * cell & 2 * theirs - 1  # the player's own men are the numbers below `theirs`
            if 0 < man < theirs and self.reach[man][cell] >> target & 1:
                return True
        return False

    def parts_of(self, move):
        """Return (source, target). The source of a drop is `cells` plus the number of the kind."""
        return move >> self._low, move & (1 << self._low) - 1

    def images(self, position):
        """Yield the mirror image, left for right, and both positions with the other player to move."""
        mirrored = position
        # Exchange each column of the left half (the bits *left*) with its mirror image, which is *far* bits above.
        for column in range(len(self._mirrored)):
            left, far = self._mirrored[column], self._width * (self.columns - 1 - 2 * column)
            mirrored = mirrored & ~(left | left << far) | (position & left) << far | position >> far & left
        yield mirrored
        yield mirrored ^ 1 << self._turn_at
        yield position ^ 1 << self._turn_at

    # For people

    def draw_move(self, position, move):
        """Return the places that a man leaves and enters. A drop leaves the first place of its kind in the hand."""
        (source, target), turn = self.parts_of(move), position >> self._turn_at
        # The places are the second player's hand, the cells as the first player sees them, and the first player's hand.
        if source >= self.cells:
            before = self._held(position >> self._hands_at).find(self._drops[source - self.cells])
            left = before if turn else self._beside + self.cells + before
        else:
            left = self._beside + (self.cells - 1 - source if turn else source)
        return left, self._beside + (self.cells - 1 - target if turn else target)

    def move_name(self, position, move):
        """Return the name of a step, `b3-b2`, or of a drop, `C*b2`."""
        left, entered = (self.board.names[place] for place in self.draw_move(position, move))
        kind = self.parts_of(move)[0] - self.cells
        return f"{left}-{entered}" if kind < 0 else f"{self._drops[kind]}*{entered}"

    def ending(self, position):
        king = self._name(self.to_move[0])
        return f"the {king} can be taken" if self.primitive(position) == WIN else "no man can move"


def is_step(step):
    """Return whether a step is a pair of whole numbers, right and down, that are not both 0."""
    return isinstance(step, tuple) and len(step) == 2 and all(type(far) is int for far in step) and step != (0, 0)
