"""Pig: roll a die as often as you dare; the first player with a hundred points wins.

Each roll adds its number to the turn's total. A one loses that total and ends the turn. A player who holds keeps the
total and ends the turn. The expectation is the probability of winning minus that of losing: the first player wins with
probability 0.5306 (T. W. Neller and C. G. M. Presser, *Optimal Play of the Dice Game Pig*, The UMAP Journal 25 (1),
2004). `kinds/race.py` says how a position is encoded.
"""

from retrograde.games.kinds.race import DRAWING, GO_ON, HOLD, PLAYER, Race


class Pig(Race):
    """Roll a die as often as you dare, or hold. A one loses the turn's total. The first to reach the target wins."""

    title = "Pig"
    example = "20"
    drawing = "the die is rolled"

    target: int = 100
    sides: int = 6

    def __post_init__(self):
        if not 1 <= self.target <= 200:
            raise ValueError("target must be from 1 to 200")
        if not 2 <= self.sides <= 20:
            raise ValueError("sides must be from 2 to 20")

    def generate_moves(self, position):
        """Yield the faces of the die, or HOLD (with points this turn) and GO_ON."""
        if position & DRAWING:
            yield from range(1, self.sides + 1)
        else:
            if position & 255:
                yield HOLD
            yield GO_ON

    def do_move(self, position, move):
        """Return the position after a decision, or after the die shows a face: a 1 loses the turn's points."""
        if not position & DRAWING:
            return position | DRAWING if move == GO_ON else self.hand_over(position, position & 255)
        if move == 1:
            return self.hand_over(position - DRAWING, 0)
        return position - DRAWING + move

    def tier(self, position):
        """Return the sum of both scores, which never falls."""
        return self.score(position, 0) + self.score(position, 1)

    # The numbering holds the decisions of player 0. For each pair of scores a <= b it first has the slots where player
    # 0 has a, by the turn's total, and then those where player 0 has b. Together these are 2 * target - tier slots.

    def swapped(self, position):
        """Return the position with the two players exchanged."""
        kept = (position & (DRAWING | PLAYER | 255)) ^ PLAYER
        return kept | (self.score(position, 1) << 16) | (self.score(position, 0) << 8)

    @property
    def tiers(self):
        """All tiers: the points that both players can have in all."""
        return tuple(range(2 * self.target - 1))

    def least(self, tier):
        """Return the least score that a player can have in a tier."""
        return max(tier - self.target + 1, 0)

    def size(self, tier):
        pairs = tier - 2 * self.least(tier) + 1
        return pairs * (2 * self.target - tier) // 2

    def index(self, position):
        """Return a position's slot in its tier; -1 unless player 0 is to decide.

        >>> game = Pig()
        >>> [game.index(game.read(text)) for text in ("0-0+0/0", "1-0+0/0", "0-1+2/0")]
        [0, 100, 2]
        """
        first, second, total = self.score(position, 0), self.score(position, 1), position & 255
        if position >> 24 or first + total >= self.target:
            return -1
        tier = first + second
        slot = (min(first, second) - self.least(tier)) * (2 * self.target - tier) + total
        return slot if first <= second else slot + self.target - second

    def unindex(self, tier, i):
        """Return the position of slot i of a tier."""
        pair, total = divmod(i, 2 * self.target - tier)
        first = self.least(tier) + pair
        if total >= self.target - first:  # the second part: player 0 has the greater score
            total -= self.target - first
            first = tier - first
        return (first << 16) | ((tier - first) << 8) | total

    # For people

    def most_beyond(self):
        return self.sides

    def move_name(self, position, move):
        return str(move) if position & DRAWING else ("hold", "roll")[move]
