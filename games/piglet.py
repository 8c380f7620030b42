"""Piglet: toss a coin as often as you dare; the first player with *target* heads wins.

Each head adds one to the turn's total. A tail loses that total and ends the turn. A player who holds keeps the total
and ends the turn. The expectation is the probability of winning minus that of losing. (T. W. Neller and C. G. M.
Presser, *Optimal Play of the Dice Game Pig*, The UMAP Journal 25 (1), 2004, begin with this game.) `kinds/race.py` says
how a position is encoded.
"""

from retrograde.games.kinds.race import DRAWING, GO_ON, HOLD, Race

TAIL, HEAD = range(2)


class Piglet(Race):
    """Toss a coin as often as you dare, or hold. A tail loses the turn's total. The first with enough heads wins."""

    title = "Piglet"
    drawing = "the coin is tossed"

    target: int = 10

    def __post_init__(self):
        if not 1 <= self.target <= 100:
            raise ValueError("target must be from 1 to 100")

    def generate_moves(self, position):
        """Yield the sides of the coin, or HOLD (with points this turn) and GO_ON."""
        if position & DRAWING:
            yield TAIL
            yield HEAD
        else:
            if position & 255:
                yield HOLD
            yield GO_ON

    def do_move(self, position, move):
        """Return the position after a decision, or after a throw of the coin: TAIL loses the turn's points."""
        if not position & DRAWING:
            return position | DRAWING if move == GO_ON else self.hand_over(position, position & 255)
        if move == TAIL:
            return self.hand_over(position - DRAWING, 0)
        return position - DRAWING + 1

    def tier(self, position):
        """Return the sum of both scores, then the greater score: play never returns to an earlier pair of scores."""
        first, second = self.score(position, 0), self.score(position, 1)
        return ((first + second) << 8) | max(first, second)

    # For people

    def move_name(self, position, move):
        return ("tail", "head")[move] if position & DRAWING else ("hold", "toss")[move]
