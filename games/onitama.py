"""Onitama, by Shimpei Sato: two cards say how a player's pieces may move, and the card used goes to the opponent.

The first two cards are Red's, who begins, the next two Blue's, and the fifth one lies beside the board. The whole game
has a board of five cells a side; on three it can be solved.
"""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Cells, Numbers, Turn
from retrograde.games.contract.game import LOSE, UNDECIDED, Game

CARDS = {
    "boar": ((-1, 0), (0, -1), (1, 0)),
    "cobra": ((-1, 0), (1, -1), (1, 1)),
    "crab": ((-2, 0), (0, -1), (2, 0)),
    "crane": ((-1, 1), (0, -1), (1, 1)),
    "dragon": ((-2, -1), (-1, 1), (1, 1), (2, -1)),
    "eel": ((-1, -1), (-1, 1), (1, 0)),
    "elephant": ((-1, -1), (-1, 0), (1, -1), (1, 0)),
    "frog": ((-2, 0), (-1, -1), (1, 1)),
    "goose": ((-1, -1), (-1, 0), (1, 0), (1, 1)),
    "horse": ((-1, 0), (0, -1), (0, 1)),
    "mantis": ((-1, -1), (0, 1), (1, -1)),
    "monkey": ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    "ox": ((0, -1), (0, 1), (1, 0)),
    "rabbit": ((-1, 1), (1, -1), (2, 0)),
    "rooster": ((-1, 0), (-1, 1), (1, -1), (1, 0)),
    "tiger": ((0, -2), (0, 1)),
}
"""Where each card leads, as (right, down) for Red; for Blue turned round."""
HAND, MOST = 5, 4
"""How many cards there are in a game, and how many steps a card has at most."""
BESIDE = 2
"""Who has the card beside the board; Red is 0 and Blue 1."""


class Onitama(Game):
    """Move a pupil or your master as one of your two cards says, and capture a piece of the opponent there. Then
    exchange this card for the one beside the board; if no piece can move, only exchange a card. You win if you capture
    the other master, or if yours enters the cell where the other one began."""

    words = {"M": "Red", "m": "Blue"}
    example = "3,boar-ox-horse-crane-mantis"
    cells = Cells(
        lambda game: grid(game.side, game.side),
        P="crimson disc",
        M="crimson square M",
        p="royalblue disc",
        m="royalblue square M",
    )
    mover = Turn("Mm")
    owners = Numbers(HAND, 0, BESIDE)
    side: int = 5
    cards: str = "tiger-crab-monkey-crane-dragon"

    def __post_init__(self):
        if not 3 <= self.side <= 5:
            raise ValueError("side must be from 3 to 5")
        if len(self.names) != HAND or len({*self.names}) != HAND or not {*self.names} <= {*CARDS}:
            raise ValueError(f"cards must be {HAND} different ones of {', '.join(CARDS)}, joined by -")

    @property
    def names(self):
        return self.cards.split("-")

    @cached_property
    def start(self):
        side, middle = self.side, self.side // 2
        red = "P" * middle + "M" + "P" * (side - 1 - middle)
        rows = [red.lower()[::-1], *["." * side] * (side - 2), red]
        return self.read("/".join([*rows, "M", f"0,0,1,1,{BESIDE}"]))

    @cached_property
    def temples(self):
        """The cells where the masters of Red and Blue begin."""
        red = self.cells.size - self.side + self.side // 2
        return red, self.cells.size - 1 - red

    @cached_property
    def steps(self):
        """For Red's and then Blue's use of each card, for each cell, the cells to which it leads; -1 for none."""
        ways = [[(sign * x, sign * y) for x, y in CARDS[name]] for sign in (1, -1) for name in self.names]
        tables = [self.cells.steps(*way) for way in ways]
        return tuple(tuple((*goals, *[-1] * (MOST - len(goals))) for goals in table) for table in tables)

    def is_own(self, position, cell):
        """Return whether the player to move has a piece on a cell."""
        return self.cells.get(position, cell) - 2 * self.mover.get(position) in (1, 2)

    def generate_moves(self, position):
        """Yield `size² * card + size * cell + goal` for each move of a piece; both cells are 0 if none can move.

        >>> game = Onitama()
        >>> [(move, game.move_name(game.start, move)) for move in game.generate_moves(game.start)][:3]
        [(510, 'a5-a3:tiger'), (536, 'b5-b3:tiger'), (562, 'c5-c3:tiger')]
        """
        size, player, stuck = self.cells.size, self.mover.get(position), True
        for card in range(HAND):
            if self.owners.get(position, card) == player:
                for cell in range(size):
                    if self.is_own(position, cell):
                        for goal in self.steps[HAND * player + card][cell]:
                            if goal >= 0 and not self.is_own(position, goal):
                                stuck = False
                                yield size * size * card + size * cell + goal
        if stuck:
            for card in range(HAND):
                if self.owners.get(position, card) == player:
                    yield size * size * card

    def do_move(self, position, move):
        """Return the position after a piece moves by a card. The player takes the card beside the board, and puts the
        used one there.

        >>> game = Onitama()
        >>> game.write(game.start), game.write(game.do_move(game.start, 510))  # a5-a3:tiger
        ('ppmpp/...../...../...../PPMPP/M/0,0,1,1,2', 'ppmpp/...../P..../...../.PMPP/m/2,0,1,1,0')
        """
        size = self.cells.size
        card, start, goal = move // size**2, move // size % size, move % size
        player = self.mover.get(position)
        for other in range(HAND):
            if self.owners.get(position, other) == BESIDE:
                position = self.owners.put(position, other, player)
        position = self.mover.passed(self.owners.put(position, card, BESIDE))
        # Where both cells are 0 no piece moves.
        return position if start == goal else self.cells.go(position, start, goal)

    def primitive(self, position):
        """Return LOSE if the opponent's move was the last one of the game, else UNDECIDED."""
        player = self.mover.get(position)
        # Signs 1 to 4 are Red's pupils and master, and Blue's: 2 + 2 * player is the own master, the other is 4 or 2.
        temple = self.cells.get(position, self.temples[player])
        lost = self.cells.count_of(position, 2 + 2 * player) == 0 or temple == 4 - 2 * player
        return LOSE if lost else UNDECIDED

    def tier(self, position):
        return 2 * self.side - self.cells.count(position)

    # For people

    def draw_move(self, position, move):
        size = self.cells.size
        start, goal = move // size % size, move % size
        return (start, goal) if start != goal else ()

    def move_name(self, position, move):
        """Return the two cells and the card: `a3-a1:tiger`, or `tiger` if only the card is exchanged."""
        cells = "-".join(self.board.names[cell] for cell in self.draw_move(position, move))
        return f"{cells}:{self.names[move // self.cells.size**2]}".removeprefix(":")
