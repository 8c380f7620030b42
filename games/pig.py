"""Pig: roll a die as often as you dare; the first player with a hundred points wins.

Each roll adds its number to the turn's total. A one loses that total and ends the turn. A player who holds keeps the
total and ends the turn. The expectation is the probability of winning minus that of losing: the first player wins with
probability 0.5306 (T. W. Neller and C. G. M. Presser, *Optimal Play of the Dice Game Pig*, The UMAP Journal 25 (1),
2004).

    | rolling 1 bit | player 1 | score of player 0 8 | of player 1 8 | turn total 8 |
"""

from retrograde.games.contract.game import CHANCE, UNDECIDED, WIN, Game

HOLD, ROLL = range(2)
ROLLING = 1 << 25
PLAYER = 1 << 24


class Pig(Game):
    """Roll a die as often as you dare, or hold. A one loses the turn's total. The first to reach the target wins."""

    title = "Pig"
    metric = "expectation"
    start = 0
    example = "20"

    target: int = 100
    sides: int = 6

    def __post_init__(self):
        if not 1 <= self.target <= 200:
            raise ValueError("target must be from 1 to 200")
        if not 2 <= self.sides <= 20:
            raise ValueError("sides must be from 2 to 20")

    def turn(self, position):
        return CHANCE if position & ROLLING else position >> 24

    def generate_moves(self, position):
        if position & ROLLING:
            yield from range(1, self.sides + 1)
        else:
            if position & 255:
                yield HOLD
            yield ROLL

    def do_move(self, position, move):
        if not position & ROLLING:
            return position | ROLLING if move == ROLL else self.hand_over(position, position & 255)
        if move == 1:
            return self.hand_over(position - ROLLING, 0)
        return position - ROLLING + move

    def hand_over(self, position, gained):
        return (position - (position & 255) ^ PLAYER) + (gained << (8 if position & PLAYER else 16))

    def score(self, position, player):
        return position >> 16 - 8 * player & 255

    def primitive(self, position):
        player = 1 if position & PLAYER else 0
        return WIN if self.score(position, player) + (position & 255) >= self.target else UNDECIDED

    def payoff(self, position, player):
        return 1 if player == position >> 24 else 0

    def tier(self, position):
        """Return the sum of both scores, which never falls."""
        return self.score(position, 0) + self.score(position, 1)

    # For people

    def variant_title(self):
        return f"Pig to {self.target}"

    def write(self, position):
        """Return both scores, the turn total, the player to move, and ? while the die is rolled: `31-50+12/0`,
        `31-50+12/0?`."""
        player = 1 if position & PLAYER else 0
        die = "?" if position & ROLLING else ""
        return f"{self.score(position, 0)}-{self.score(position, 1)}+{position & 255}/{player}{die}"

    def read(self, text):
        numbers, slash, who = text.partition("/")
        first, dash, rest = numbers.partition("-")
        second, plus, total = rest.partition("+")
        fields = (first, second, total)
        if not (slash and dash and plus and all(map(str.isdecimal, fields)) and who in ("0", "1", "0?", "1?")):
            raise ValueError(
                "a position is written as 31-50+12/0: scores, turn total, player, and ? where the die is rolled"
            )
        scores = [int(field) for field in fields]
        if max(scores[:2]) >= self.target or scores[2] > self.target + self.sides:
            raise ValueError(f"nobody may have {self.target}")
        position = scores[0] << 16 | scores[1] << 8 | scores[2] | int(who[0]) << 24
        return position | ROLLING if len(who) == 2 else position

    def show(self, position):
        player = 1 if position & PLAYER else 0
        lines = [
            f"player {who}  {self.score(position, who):3}{f' + {position & 255}' if who == player else ''}"
            for who in range(2)
        ]
        return "\n".join([*lines, "the die is rolled" if position & ROLLING else f"player {player} to move"])

    def move_name(self, position, move):
        return str(move) if position & ROLLING else ("hold", "roll")[move]

    def ending(self, position):
        return f"player {1 if position & PLAYER else 0} has {self.target}"
