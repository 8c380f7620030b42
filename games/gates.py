"""Gates: bring your spikes, triangles and trapezoids, through your gates.

Rules of GamesmanOne, on a hexagon of 18 points around a hole. A turn may take several moves here: a piece that is in
hand is put down in a move of its own. Texts of positions end in what is in hand: 1 a gate, 2 a triangle, 3 a trapezoid
of the opponent, 0 nothing, 4 while players still put down pieces of either colour.
"""

from functools import cached_property

from retrograde.games.contract.fields import Cells, Number, Turn
from retrograde.games.contract.game import LOSE, UNDECIDED, Game
from retrograde.games.kinds.sliding import joined
from retrograde.games.winkers import honeycomb

NOTHING, GATE, TRIANGLE, TRAPEZOID, PLACING = range(5)
"""What is in hand. The first ones are also the numbers of White's signs, and of Black's less KINDS."""
KINDS = 3
POINTS = 18


class Gates(Game):
    """First put down all pieces in turn, of any colour; the player of the last one goes on. A triangle moves one or two
    steps. A trapezoid moves one step, also onto a spike of the opponent, which you then put on any empty point. A spike
    that enters a gate of its colour is out; the opponent puts this gate on any empty point, and then moves. You win
    when all your spikes are out. A player who cannot move loses."""

    words = {"A": "White", "a": "Black"}
    example = "1,1,0"
    cells = Cells(
        honeycomb(3, 5, without=((2, 2),)),
        "all",
        packed=True,
        G="gold square",
        A="gold arrow-up",
        Z="gold disc",
        g="sienna square",
        a="sienna arrow-up",
        z="sienna disc",
    )
    mover = Turn("Aa")
    hand = Number(NOTHING, PLACING)
    start = f".../..../..../..../.../A/{PLACING}"
    gates: int = 2
    triangles: int = 2
    trapezoids: int = 2

    def __post_init__(self):
        if min(self.each) < 0 or not self.gates or sum(self.each) == self.gates or sum(self.each) > 8:
            raise ValueError("each player must have gates, triangles or trapezoids, and at most 8 pieces in all")

    @property
    def each(self):
        """How many gates, triangles and trapezoids each player has."""
        return self.gates, self.triangles, self.trapezoids

    @cached_property
    def near(self):
        """For each point, the points beside it, as bits."""
        return joined(POINTS, self.cells.board.lines)

    def spikes(self, position, player):
        """Return how many spikes of a player are on the board."""
        first = KINDS * player
        return self.cells.count_of(position, first + TRIANGLE) + self.cells.count_of(position, first + TRAPEZOID)

    def goals(self, position, source):
        """Return the points that a spike can enter, as bits."""
        own, other = KINDS * self.mover.get(position), KINDS - KINDS * self.mover.get(position)
        empty, reach = self.cells.free(position), self.near[source]
        allowed = empty | self.cells.set(position, own + GATE)
        if self.cells.has(position, source, own + TRAPEZOID):
            spikes = self.cells.set(position, other + TRIANGLE) | self.cells.set(position, other + TRAPEZOID)
            return reach & (allowed | spikes)
        for middle in range(POINTS):
            if self.near[source] & empty & 1 << middle:
                reach |= self.near[middle]
        return reach & allowed

    def generate_moves(self, position):
        """Yield `POINTS * source + goal` for each move of a spike.

        A move of a piece in hand is its point, and of a new piece `POINTS * sign + point`.

        >>> game = Gates()
        >>> [(move, game.move_name(game.start, move)) for move in game.generate_moves(game.start)][:3]
        [(18, 'a1G'), (19, 'a2G'), (20, 'a3G')]
        """
        hand = self.hand.get(position)
        if hand == PLACING:
            for sign in range(1, 2 * KINDS + 1):
                if self.cells.count_of(position, sign) < self.each[(sign - 1) % KINDS]:
                    for point in self.cells.empty(position):
                        yield POINTS * sign + point
        elif hand != NOTHING:
            yield from self.cells.empty(position)
        else:
            for source in range(POINTS):
                sign = self.cells.get(position, source) - KINDS * self.mover.get(position)
                if sign in (TRIANGLE, TRAPEZOID):
                    goals = self.goals(position, source)
                    for goal in range(POINTS):
                        if goals >> goal & 1:
                            yield POINTS * source + goal

    def do_move(self, position, move):
        """Return the position after a move.

        The player goes on with a spike in hand, and after putting down a gate or the last piece.

        >>> game = Gates()
        >>> game.write(game.start), game.write(game.do_move(game.start, 18))  # a1G
        ('.../..../..../..../.../A/4', 'G../..../..../..../.../a/4')
        """
        hand, first, point = self.hand.get(position), move // POINTS, move % POINTS
        if hand == PLACING:
            position = self.cells.add(position, point, first)
            if self.cells.count(position) == 2 * sum(self.each):
                return self.hand.put(position, NOTHING)
            return self.mover.passed(position)
        if hand != NOTHING:
            other = KINDS - KINDS * self.mover.get(position)
            position = self.hand.put(self.cells.add(position, point, other + hand), NOTHING)
            return position if hand == GATE else self.mover.passed(position)
        there = self.cells.get(position, point)
        if there == 0:
            return self.mover.passed(self.cells.go(position, first, point))
        # A spike goes into its gate, and both leave the board; or a trapezoid takes the place of a spike.
        position = self.hand.put(position, (there - 1) % KINDS + 1)
        if self.hand.get(position) == GATE:
            return self.mover.passed(self.cells.remove(self.cells.remove(position, first), point))
        return self.cells.go(position, first, point)

    def turn(self, position):
        return self.mover.get(position)

    def primitive(self, position):
        """Return LOSE if the opponent's spikes are all out, or without a move; else UNDECIDED."""
        if self.hand.get(position) == GATE and self.spikes(position, 1 - self.mover.get(position)) == 0:
            return LOSE
        for _ in self.generate_moves(position):
            return UNDECIDED
        return LOSE

    def tier(self, position):
        """Return how many pieces have been put down, plus how many spikes are out."""
        hand, total = self.hand.get(position), sum(self.each)
        if hand == PLACING:
            return self.cells.count(position)
        # All pieces have been put down, 2 * total. Of all spikes, 2 * (total - gates), those inside are not out.
        inside = self.spikes(position, 0) + self.spikes(position, 1) + (hand > GATE)
        return 4 * total - 2 * self.gates - inside

    # For people

    def draw_move(self, position, move):
        moves = self.hand.get(position) == NOTHING
        return (move // POINTS, move % POINTS) if moves else (move % POINTS,)

    def move_name(self, position, move):
        if self.hand.get(position) != PLACING:
            return super().move_name(position, move)
        return f"{self.board.names[move % POINTS]}{self.cells.signs[move // POINTS - 1]}"
