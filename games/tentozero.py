"""1, 2, …, 10: the first game that GamesCrafters teaches, for any target and any steps.

A position is the running total alone, because both players have the same moves. A total from which every step would
pass the target is an end too: the player to move there loses.
"""

from retrograde.games.contract.game import LOSE, POSITION_BITS, UNDECIDED, Game


class TenToZero(Game):
    """Players add one of the steps to the total in turn. A player who reaches the target, or leaves no step, wins."""

    title = "1, 2, …, 10"

    target: int = 10
    steps: tuple[int, ...] = (1, 2)

    start = 0

    def __post_init__(self):
        if not 1 <= self.target < 1 << POSITION_BITS:
            raise ValueError(f"target must be at least 1 and below 2**{POSITION_BITS}")
        if not self.steps or len(set(self.steps)) < len(self.steps):
            raise ValueError("steps must be one or more different numbers")
        if not all(1 <= step < 1 << POSITION_BITS for step in self.steps):
            raise ValueError(f"every step must be at least 1 and below 2**{POSITION_BITS}")

    # The rules

    def generate_moves(self, total):
        """Yield the steps that do not lead beyond the target."""
        for step in self.steps:
            if total + step <= self.target:
                yield step

    def do_move(self, total, step):
        return total + step

    def primitive(self, total):
        for step in self.steps:
            if total + step <= self.target:
                return UNDECIDED
        return LOSE

    def tier(self, total):
        return total

    # For people

    def read(self, text):
        if not (text.isdecimal() and int(text) <= self.target):
            raise ValueError(f"a position is a total from 0 to {self.target}")
        return int(text)

    def show(self, total):
        return f"{total} of {self.target}"

    def move_name(self, total, step):
        return f"+{step}"

    def draw_board(self):
        """Return a row of totals, if the target is small enough for a picture."""
        from retrograde.games.contract.drawing import grid

        if self.target > 30:
            return None
        totals = [str(total) for total in range(self.target + 1)]
        return grid(len(totals), 1, {"O": "teal disc"}, across=totals, down=[""])

    def draw_pieces(self, total):
        return "." * total + "O" + "." * (self.target - total)

    def draw_move(self, total, step):
        return (total + step,)

    def read_pieces(self, pieces, turn):
        if pieces.count("O") != 1:
            raise ValueError("there must be one disc, on the total")
        return self.read(str(pieces.index("O")))
