"""Games where a few tigers hunt many goats, such as bagh-chal. A game declares the board and the numbers::

    class Tigers(Hunt):
        bits, to_move = "TG", "GT"
        board = alquerque(3, 3, {"T": "darkorange disc", "G": "white disc"})
        points = alquerque(3, 3)                      # the board without its pieces, for the rules
        lairs = 0, 8                                  # where tigers begin
        goats, taken = 4, 2                           # tigers win when they have taken this many

Tigers leap over goats to take them; goats try to shut the tigers in. `baghchal.py` states all rules. They follow from
the declaration, and so do placements, texts and `parents`. Without *placing* no goat is in hand: goats begin on the
first free points. `goats`, `taken` and `placing` may be options, as in `goats: int = 4`.

A position is a bit for each point with a tiger, then a bit for each point with a goat. Above them are the player to
move, 0 for the goats, and the number of goats in hand. A move is a source and a target; the source `cells` is the hand.
"""

from functools import cached_property
from itertools import product
from typing import Any, ClassVar

from retrograde.games.contract.drawing import Board
from retrograde.games.contract.faults import no_number, no_points, no_truth, refuse
from retrograde.games.kinds.in_hand import InHand
from retrograde.games.kinds.placed import as_bits, placements
from retrograde.games.kinds.points import no_ways, ways
from retrograde.games.kinds.sections import tiered
from retrograde.games.kinds.sliding import Sliding, joined
from retrograde.games.kinds.steps import Steps


class Hunt(Sliding, InHand):
    """Base class for games that declare `points`, `lairs`, `goats` and `taken`; the rules follow.

    The extra (`number`) is twice the number of goats in hand, plus 1 if the tigers are to move.
    """

    points: ClassVar[Any] = None
    lairs: ClassVar[Any] = None

    goats = 20
    taken = 5
    placing = True

    @cached_property
    def cells(self):
        return self.points.count

    @cached_property
    def start(self):
        """Tigers are in their lairs; goats are in hand, or on the first free points."""
        refuse(self._faults())
        free = () if self.placing else [point for point in range(self.cells) if point not in self.lairs]
        return self.position(as_bits(self.lairs), as_bits(free[: self.goats]), 2 * self.goats * self.placing)

    def _faults(self):
        """Yield what is wrong with the declaration."""
        if not isinstance(self.points, Board):
            yield f"points is {self.points!r}; it must be a board with lines, as alquerque(3, 3) of points.py gives it"
        yield from no_ways(self.points)
        yield from no_points("lairs", self.lairs, self.cells)
        yield from no_number("goats", self.goats, 1, self.cells - len(self.lairs))
        yield from no_number("taken", self.taken, 1, self.goats)
        yield from no_truth("placing", self.placing)

    # The board

    @cached_property
    def joins(self):
        """For each point, the points joined to it, as bits."""
        return joined(self.cells, self.points.lines)

    @cached_property
    def beside(self):
        """The same; then, for the hand, all points."""
        return (*self.joins, (1 << self.cells) - 1)

    @cached_property
    def over(self):
        """For each source and target, the point that a leap goes over, as a bit; 0 for no leap."""
        found = [[0] * self.cells for _ in range(self.cells + 1)]
        near, far = ways(self.points), ways(self.points, 2)
        for point, direction in product(range(self.cells), range(8)):
            if far[point][direction] >= 0:
                found[point][far[point][direction]] = 1 << near[point][direction]
        return tuple(map(tuple, found))

    @cached_property
    def leaps(self):
        """All leaps: source, the point between, target."""
        targets = ((source, target) for source in range(self.cells) for target in range(self.cells))
        return tuple((a, self.over[a][b].bit_length() - 1, b) for a, b in targets if self.over[a][b])

    @cached_property
    def placements(self):
        """The sections, with tiers by goats in hand (one for each player to move), then by captured goats. The position
        that the tigers have won comes last."""
        refuse(self._faults())
        tigers, hands = len(self.lairs), range(self.goats + 1 if self.placing else 1)
        # If the tigers are to move while goats are in hand, a goat was just put down, and is not taken yet.
        sections = [
            ((-hand, -turn * (hand > 0), taken), (tigers, self.goats - hand - taken), turn + 2 * hand)
            for hand, turn, taken in product(hands, (0, 1), range(self.taken))
            if taken + (hand > 0) * turn <= self.goats - hand
        ]
        sections.append(((1, 0, 0), (tigers, 0), 0))
        return placements(self.cells, tiered(sections), self.points.symmetries)

    # The rules

    def generate_moves(self, position):
        """Yield `source * cells + target`: steps of goats (source `cells`: from the hand), or steps and leaps of
        tigers."""
        tigers, goats, number = self.parts_of(position)
        # Tigers move, or goats if none is in hand; else the hand is the only source.
        men = tigers if number & 1 else goats if number == 0 else 1 << self.cells
        for source in range(self.cells + 1):
            if men >> source & 1:
                for target in range(self.cells):
                    leaps = number & 1 and self.over[source][target] & goats
                    if (leaps or self.beside[source] >> target & 1) and not (tigers | goats) >> target & 1:
                        yield source * self.cells + target

    def do_move(self, position, move):
        """Return the position after a move; a tiger that leaps captures the goat between."""
        tigers, goats, number = self.parts_of(position)
        source, target = move // self.cells, move % self.cells
        moved = (1 << source | 1 << target) & (1 << self.cells) - 1  # without the hand
        if not number & 1:
            return self.position(tigers, goats ^ moved, number + 1 - 2 * (source == self.cells))
        goats &= ~self.over[source][target]
        taken = self.goats - number // 2 - goats.bit_count()
        # The last capture ends the game: all goats leave, and the extra is 0.
        return self.position(tigers ^ moved, goats, number - 1) if taken < self.taken else tigers ^ moved

    def slides(self, men, number):
        """Tigers and goats slide in turn. While goats are in hand, every move of a tiger leads to another tier."""
        # With no goat in hand, 0 says that goats (kind 1) are to move, and 1 that tigers (kind 0) are.
        return [(1 - number, 1 - number, self.joins)] if number < 2 else []

    def section_steps(self, men, number):
        """Tigers slide and leap; goats slide, or are put down while some are in hand."""
        if number == 0:
            return Steps(slides=self.joins, slid=1, kind=1, lost=men[1] == 0)
        if number % 2 == 0:
            return Steps(drops=(1 << self.cells) - 1, put=number - 1, kind=1)
        last = self.goats - number // 2 - men[1] == self.taken - 1  # the next capture wins
        leapt = 0 if last else number - 1
        return Steps(slides=self.joins, slid=number - 1, leaps=self.leaps, leapt=leapt, clears=last)

    def parts_of(self, position):
        """Return (tigers, goats, the extra)."""
        full = (1 << self.cells) - 1
        return position & full, position >> self.cells & full, position >> 2 * self.cells

    def position(self, tigers, goats, number):
        return tigers | goats << self.cells | number << 2 * self.cells

    # For people

    def ending(self, position):
        return "the tigers are shut in" if self.parts_of(position)[2] & 1 else "no goat can move, or all are taken"
