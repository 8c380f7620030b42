"""Solve a game slowly and plainly: the definitions written down, for fast solvers to be tested against.

For the player to move: where the rules say so, a position is WIN, LOSE or TIE in 0, or DRAW. Else it is

    WIN    in 1 + the least remoteness of the children that are LOSE, if there are any;
    LOSE   in 1 + the greatest remoteness of the children, if all are WIN;
    TIE    in 1 + the least remoteness of the children that are TIE, if there are any and none is LOSE;
    DRAW   if none of these ever comes to hold.

So what is won or lost in n is known once everything that is won or lost in less is, and ties are found after that.
"""

from collections import Counter
from collections.abc import Iterable

from retrograde.games import DRAW, LOSE, TIE, UNDECIDED, WIN, Game, Value

Solution = dict[int, tuple[Value, int | None]]


def explore(game: Game, symmetric: bool = False, starts: Iterable[int] | None = None) -> dict[int, tuple[int, ...]]:
    """Return the positions reachable from the start, or from several, with their children; of symmetric ones, only the
    canonical.

    Positions where the game is over have no children.
    """
    represent = remembered(game.canonical) if symmetric else lambda position: position
    children: dict[int, tuple[int, ...]] = {}
    found = [represent(start) for start in ([game.start] if starts is None else starts)]
    while found:
        position = found.pop()
        if position not in children:
            over = game.primitive(position) != UNDECIDED
            moves = () if over else game.generate_moves(position)
            children[position] = tuple(represent(game.do_move(position, move)) for move in moves)
            found += children[position]
    return children


def solve(game: Game, symmetric: bool = False, starts: Iterable[int] | None = None) -> Solution:
    """Return the value and remoteness of every position reachable from the start, or from several; of symmetric ones,
    the canonical.
    """
    children = explore(game, symmetric, starts)
    solution: Solution = {}
    for position in children:
        if game.primitive(position) != UNDECIDED:
            value = Value(game.primitive(position))
            solution[position] = value, None if value == DRAW else 0
    for rule in (win_or_lose, tie):
        remoteness, new = 0, solution
        while new:  # what is known in one ply more always follows from something known in just one ply less
            remoteness += 1
            new = {
                position: (value, remoteness)
                for position in children
                if position not in solution and (value := rule(children[position], solution, remoteness - 1))
            }
            solution = solution | new
    return solution | {position: (DRAW, None) for position in children if position not in solution}


def win_or_lose(children: tuple[int, ...], solution: Solution, remoteness: int) -> Value | None:
    """Return WIN or LOSE where the children up to a remoteness make it so."""
    if any(solution.get(child) == (LOSE, remoteness) for child in children):
        return WIN
    return LOSE if all(solution.get(child, (None, None))[0] == WIN for child in children) else None


def tie(children: tuple[int, ...], solution: Solution, remoteness: int) -> Value | None:
    """Return TIE where the children up to a remoteness make it so and nothing better can be had."""
    return TIE if any(solution.get(child) == (TIE, remoteness) for child in children) else None


def counts(solution: Solution) -> dict[tuple[Value, int | None], int]:
    """Return how many positions have each value and remoteness."""
    return dict(Counter(solution.values()))


def counts_of_classes(game: Game, solution: Solution) -> dict[tuple[Value, int | None], int]:
    """Return what `counts` would for all positions, from those of canonical ones and the sizes of their classes."""
    total: Counter[tuple[Value, int | None]] = Counter()
    for position, result in solution.items():
        total[result] += len({position, *game.images(position)})
    return dict(total)


def remembered(function):
    results: dict[int, int] = {}

    def remember(position):
        if position not in results:
            results[position] = function(position)
        return results[position]

    return remember


def assert_same(database, game):
    """Assert that a database has the outcomes, counts and examples that this solver finds."""
    wanted = solve(game)
    assert {position: database[position] for position in wanted} == wanted
    legend = database.file.legend
    assert {(row.value, None if row.value == DRAW else row.remoteness): row.positions for row in legend} == counts(
        wanted
    )
    assert database.file.stored == len(explore(game, symmetric=True))
    for row in legend:
        least = min((game.tier(c), c) for c in map(game.canonical, wanted) if wanted[c] == database[row.example])
        assert (game.tier(row.example), row.example) == least
