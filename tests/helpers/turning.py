"""Random games in which the same player may move again, and puzzles; and a slow and obvious solver of such games.

The graphs are those of `tangle.py`. Whose turn it is in a node is random, the same for both nodes of a pair of images.
"""

from retrograde.games import CHANCE, DRAW, LOSE, TIE, UNDECIDED, WIN, Game
from tests.helpers import reference
from tests.helpers.tangle import DenseTangle, Tangle, TangleWithParents

SEEN_BY_THE_OTHER = {WIN: LOSE, LOSE: WIN, TIE: TIE, DRAW: DRAW}


class Turning(Tangle):
    """Walk through a random graph; two players take turns as it comes."""

    def turn(self, position):
        return self.random(position, 99) % 2


class TurningWithParents(TangleWithParents):
    """The same, with the parents written out."""

    def turn(self, position):
        return self.random(position, 99) % 2


class DenseTurning(DenseTangle):
    """The same with every node counting."""

    def turn(self, position):
        return self.random(position, 99) % 2


class DenseTurningWithoutParents(DenseTurning):
    """The same, of which the solver finds the parents itself."""

    parents = Game.parents


class Alone(Tangle):
    """Walk through a random graph, alone."""

    players = 1


class AloneWithParents(TangleWithParents):
    """The same, with the parents written out."""

    players = 1


class DenseAlone(DenseTangle):
    """The same with every node counting."""

    players = 1


class Told(Game):
    """Nim with two heaps of up to seven, where each position says whose turn it is, and turns alternate.

    What is above the lowest seven bits counts down before it begins.
    """

    start = 7 << 3 | 6

    def generate_moves(self, position):
        if position >> 7:
            yield 63
        else:
            for heap in (0, 3):
                yield from range(8 * heap + 1, 8 * heap + 1 + (position >> heap & 7))

    def do_move(self, position, move):
        return position - 128 if position >> 7 else position - (move % 8 << move // 8) ^ 64

    def turn(self, position):
        return position >> 6 & 1


class Untold(Told):
    """The same, without a word about it."""

    turn = Game.turn


class LateChance(Told):
    """The same, but that it is chance's turn in two positions far from the start."""

    start = 7 << 3 | 6 | 300 << 7

    def turn(self, position):
        return CHANCE if position < 128 and position & 63 in (5, 40) else position >> 6 & 1


def solve(game: Game, symmetric: bool = False, starts=None) -> reference.Solution:
    """Return the value and remoteness of every position, for its player to move.

    A move is worth what the child is worth there: turned round if `turn` is another, as it is if that is the same.
    A position is WIN in n + 1 if a move is worth WIN in n; LOSE in n + 1 if all are worth LOSE, in at most n; then TIE
    in n + 1 if a move is worth TIE in n; and else a DRAW.
    """
    children = reference.explore(game, symmetric, starts)
    solution: reference.Solution = {}
    for position in children:
        if (value := game.primitive(position)) != UNDECIDED:
            solution[position] = value, None if value == DRAW else 0

    def worth(position, child):
        if child not in solution:
            return None
        value, remoteness = solution[child]
        same = game.players == 1 or game.turn(position) == game.turn(child)
        return (value if same else SEEN_BY_THE_OTHER[value]), remoteness

    for decides in (win_or_lose, tie):
        for remoteness in range(len(children) + 1):
            new = {}
            for position in children:
                if position not in solution:
                    value = decides([worth(position, child) for child in children[position]], remoteness)
                    if value:
                        new[position] = value, remoteness + 1
            solution.update(new)
    return solution | {position: (DRAW, None) for position in children if position not in solution}


def win_or_lose(worths, remoteness):
    if (WIN, remoteness) in worths:
        return WIN
    return LOSE if all(worth and worth[0] == LOSE for worth in worths) else None


def tie(worths, remoteness):
    return TIE if (TIE, remoteness) in worths else None
