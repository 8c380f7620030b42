"""The Tower of Hanoi, by Édouard Lucas (1883): move disks between pegs one by one, never onto a smaller disk.

A position has two bits for each disk, the smallest first: the peg it is on. So with three pegs and three disks::

    disk 2   disk 1   disk 0       all on the first peg: 0; all on the last: 0b10_10_10
     1 0      0 1      0 0         the largest on peg 2, the next on peg 1, the smallest on peg 0

A move is 4 × the peg left + the peg entered.
"""

from functools import cached_property

from retrograde.games.contract.game import UNDECIDED, WIN, Game

SIGNS = "123456789ABCDEFG"


class Hanoi(Game):
    """Move the tower from the first peg to the last, one disk at a time, never onto a smaller disk."""

    title = "Tower of Hanoi"
    players = 1

    disks: int = 7
    pegs: int = 3

    start = 0

    def __post_init__(self):
        if not 1 <= self.disks <= len(SIGNS):
            raise ValueError(f"disks must be from 1 to {len(SIGNS)}")
        if not 3 <= self.pegs <= 4:
            raise ValueError("pegs must be 3 or 4")

    @cached_property
    def goal(self):
        return sum(self.pegs - 1 << 2 * disk for disk in range(self.disks))

    # The rules

    def top(self, position, peg):
        """Return the smallest disk on a peg; the number of disks if the peg is empty."""
        disk = 0
        while disk < self.disks and position >> 2 * disk & 3 != peg:
            disk += 1
        return disk

    def generate_moves(self, position):
        """Yield `source << 2 | target` for each peg whose top disk is smaller than that of another."""
        for source in range(self.pegs):
            for target in range(self.pegs):
                if self.top(position, source) < self.top(position, target):
                    yield source << 2 | target

    def do_move(self, position, move):
        source, target = move >> 2, move & 3
        return position + (target - source << 2 * self.top(position, source))

    def primitive(self, position):
        return WIN if position == self.goal else UNDECIDED

    def parents(self, position):
        for move in self.generate_moves(position):
            yield self.do_move(position, move)

    # For people

    def write(self, position):
        """Return the peg of each disk, the largest disk first; pegs count from 1."""
        return "".join(str((position >> 2 * disk & 3) + 1) for disk in reversed(range(self.disks)))

    def read(self, text):
        if len(text) != self.disks or not set(text) <= set("1234"[: self.pegs]):
            raise ValueError(f"a position is the peg of each disk, the largest first, as in {self.write(self.goal)}")
        return sum(int(sign) - 1 << 2 * disk for disk, sign in enumerate(reversed(text)))

    def towers(self, position):
        """Return the disks on each peg, the largest first."""
        down = list(reversed(range(self.disks)))
        return [[disk for disk in down if position >> 2 * disk & 3 == peg] for peg in range(self.pegs)]

    def show(self, position):
        return "\n".join(
            f"{peg}: {' '.join(SIGNS[disk] for disk in tower)}".rstrip()
            for peg, tower in enumerate(self.towers(position), 1)
        )

    def move_name(self, position, move):
        return f"{(move >> 2) + 1}-{(move & 3) + 1}"

    def draw_board(self):
        """Return a column of cells for each peg. Disks are numbers, the largest at the bottom."""
        from retrograde.games.contract.drawing import grid

        signs = SIGNS[: self.disks]
        pieces = {sign: f"teal disc {sign}" for sign in signs}
        return grid(self.pegs, self.disks, pieces, across="1234", down=[str(row) for row in range(self.disks, 0, -1)])

    def draw_pieces(self, position):
        towers = self.towers(position)
        rows = reversed(range(self.disks))
        return "".join(SIGNS[tower[row]] if row < len(tower) else "." for row in rows for tower in towers)

    def draw_move(self, position, move):
        towers = self.towers(position)
        source, target = move >> 2, move & 3
        from_row, to_row = self.disks - len(towers[source]), self.disks - 1 - len(towers[target])
        return from_row * self.pegs + source, to_row * self.pegs + target
