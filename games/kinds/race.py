"""Games of chance in which a player goes on as long as he dares: the first with enough points wins.

A player goes on or holds. Going on adds to the turn's total, or loses that total and ends the turn. Holding keeps the
total and ends the turn. The game says what chance draws::

    | chance draws 1 bit | player 1 | score of player 0 8 | of player 1 8 | turn total 8 |
"""

from retrograde.games.contract.game import CHANCE, UNDECIDED, WIN, Game

HOLD, GO_ON = range(2)
DRAWING = 1 << 25
PLAYER = 1 << 24


class Race(Game):
    """Base class; the game defines the option `target`, and `generate_moves`, `do_move` and `tier`."""

    target = 0
    metric = "expectation"
    start = 0
    drawing = ""
    """What happens where chance moves, such as "the die is rolled"."""

    def turn(self, position):
        return CHANCE if position & DRAWING else position >> 24

    def hand_over(self, position, gained):
        """Return the position after the player's turn, in which she has *gained* points."""
        # The turn's total becomes 0, the other player is to move, and the points go to the player's score.
        return ((position - (position & 255)) ^ PLAYER) + (gained << (8 if position & PLAYER else 16))

    def score(self, position, player):
        """Return a player's score, without the turn's total."""
        return position >> 16 - 8 * player & 255

    def primitive(self, position):
        player = 1 if position & PLAYER else 0
        return WIN if self.score(position, player) + (position & 255) >= self.target else UNDECIDED

    def payoff(self, position, player):
        return 1 if player == position >> 24 else 0

    # For people

    def most_beyond(self):
        """Return the most points beyond the target that a turn's total may have."""
        return 0

    def variant_title(self):
        return f"{self.title} to {self.target}"

    def write(self, position):
        """Return both scores, the turn total, the player to move, and ? where chance moves: `31-50+12/0`,
        `31-50+12/0?`."""
        player = 1 if position & PLAYER else 0
        chance = "?" if position & DRAWING else ""
        return f"{self.score(position, 0)}-{self.score(position, 1)}+{position & 255}/{player}{chance}"

    def read(self, text):
        """Return the position of a text such as `3-5+2/0`: the scores, the total of the turn, and the player; `?` if
        chance moves."""
        numbers, slash, who = text.partition("/")
        first, dash, rest = numbers.partition("-")
        second, plus, total = rest.partition("+")
        fields = (first, second, total)
        if not (slash and dash and plus and all(map(str.isdecimal, fields)) and who in ("0", "1", "0?", "1?")):
            raise ValueError(
                f"a position is written as 3-5+2/0: scores, turn total, player, and ? where {self.drawing}"
            )
        scores = [int(field) for field in fields]
        if max(scores[:2]) >= self.target or scores[2] > self.target + self.most_beyond():
            raise ValueError(f"nobody may have {self.target}")
        position = scores[0] << 16 | scores[1] << 8 | scores[2] | int(who[0]) << 24
        return position | DRAWING if len(who) == 2 else position

    def show(self, position):
        player = 1 if position & PLAYER else 0
        lines = [
            f"player {who}  {self.score(position, who):3}{f' + {position & 255}' if who == player else ''}"
            for who in range(2)
        ]
        return "\n".join([*lines, self.drawing if position & DRAWING else f"player {player} to move"])

    def ending(self, position):
        return f"the target of {self.target} is reached"

    @property
    def digits(self):
        """The number of digits of each number on the board."""
        return len(str(self.target + self.most_beyond()))

    def draw_board(self):
        """Return a line for each player: the score and, for the player to move, the turn's total; then the die."""
        from retrograde.games.contract.drawing import Board

        numbers = [(x + column, y) for y in (0, 1.5) for x in (0, self.digits + 1) for column in range(self.digits)]
        places = (*((float(x), float(y)) for x, y in numbers), (2.0 * self.digits + 2, 0.75))
        names = [f"{what} {digit + 1} of {who}" for who in ("first", "second") for what in ("score", "turn's total")
                 for digit in range(self.digits)]  # fmt: skip
        middle, die = float(self.digits), 2.0 * self.digits + 2
        labels = (
            (0.0, -0.75, "First"),
            (0.0, 0.75, "Second"),
            (middle, 0.0, "+"),
            (middle, 1.5, "+"),
            (die, 1.5, "roll"),
        )
        return Board(places, (*names, "die"), {**{digit: digit for digit in "0123456789"}, "?": "?"}, len(places),
                     labels=labels)  # fmt: skip

    def draw_pieces(self, position):
        player, total = position >> 24 & 1, position & 255
        numbers = [number for who in range(2) for number in (self.score(position, who), total if who == player else "")]
        return "".join(str(number).rjust(self.digits, ".") for number in numbers) + ".?"[position >= DRAWING]

    def draw_move(self, position, move):
        """Return the die for going on, and the last digit of the turn's total for holding."""
        if position & DRAWING:
            return ()
        last = 2 * self.digits * (1 + (position >> 24)) - 1
        return (4 * self.digits,) if move == GO_ON else (last,)
