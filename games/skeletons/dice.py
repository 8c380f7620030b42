"""RollOrHold: say here what the game is.

The base class, `Race`, says what a position is: both scores, the turn's total, the player to move, and whether the die
is rolled.
"""

from retrograde.games.kinds.race import DRAWING, GO_ON, HOLD, Race


class RollOrHold(Race):
    """Roll a die as often as you dare, or hold. A 1 loses the turn's total. The first with enough points wins."""

    title = "Roll or hold"
    drawing = "the die is rolled"

    # Options, which users set on the command line: dice.py:target=20

    target: int = 10
    sides: int = 4

    def __post_init__(self):
        if not (1 <= self.target <= 100 and 2 <= self.sides <= 20):
            raise ValueError("target must be from 1 to 100, and sides from 2 to 20")

    # The rules. They are compiled: use ints, tuples and loops here, and no strings. `turn` says when chance moves

    def generate_moves(self, position):
        """Yield the sides of the die; or HOLD, if the turn has points, and GO_ON."""
        if position & DRAWING:
            yield from range(1, self.sides + 1)
        else:
            if position & 255:
                yield HOLD
            yield GO_ON

    def do_move(self, position, move):
        """Return the position after a decision, or after the die is rolled."""
        if not position & DRAWING:
            return position | DRAWING if move == GO_ON else self.hand_over(position, position & 255)
        return self.hand_over(position - DRAWING, 0) if move == 1 else position - DRAWING + move

    def tier(self, position):
        """Return a number that no move decreases: play never returns to an earlier pair of scores."""
        first, second = self.score(position, 0), self.score(position, 1)
        return first + second << 8 | max(first, second)

    # For people

    def most_beyond(self):
        """Return the most points beyond the target that a turn's total may have."""
        return self.sides - 1

    def move_name(self, position, move):
        return str(move) if position & DRAWING else ("hold", "roll")[move]
