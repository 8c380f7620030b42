"""A sample of a new database of another metric, held against the rules interpreted, before the file gets its name.

At each position looked at, what is stored must follow from what is stored of its children:

    expectation     the lower bound is not above what the children's make it, nor the upper one below; ends are paid
    score           the best of the children's, with what moves pay
    nimber          the least that no child has; an infinite one tells the finite ones of its children
    drawlevel       a draw that is won has a lost child a ply nearer, one that is lost has none but won ones
    utilities       who is to move gets the most that a child gives him

That is not all that `verify` proves, where play can go round; but rules that mean one thing to the solver and another
when they are asked one by one are seen.
"""

import time
from collections.abc import Iterable, Sequence

from retrograde.databases import Database
from retrograde.databases.errors import NotInDatabase
from retrograde.games.catalog import variant
from retrograde.games.contract.game import CHANCE, DRAW, LOSE, UNDECIDED, WIN, Contradiction, Game, Value, same_mover
from retrograde.solver.rules.examine import blame
from retrograde.solver.rules.exits import no_exit
from retrograde.solver.values.sums import reached

LEAST = 20
SLACK = 1 << 10
"""By how much averages of utilities may differ that are as good (see `metrics/utilities.py`)."""

Measures = Sequence[int]


def verify_measured(database: Database, positions: Iterable[int], seconds: float) -> None:
    """Raise Contradiction where measures do not follow from the rules, asked interpreted, at some positions.

    It takes about so many *seconds*, but looks at `LEAST` positions. What is a best response to a model is left alone:
    the model would have to be asked.
    """
    if "against" in database.file.details:
        return
    game, deadline = database.game, time.monotonic() + seconds
    with no_exit():
        for number, position in enumerate(positions):
            if number >= LEAST and time.monotonic() > deadline:
                break
            canonical = game.canonical(position)
            with blame(game, canonical):
                right = follows(database, canonical)
            if not right:
                what = f"is not worth what follows from its children ({database.metric})"
                raise Contradiction(f"{variant(game)}, position {canonical}: {what}")


def follows(database: Database, position: int) -> bool:
    """Tell whether what is stored of a position follows from what is stored of its children."""
    game, metric, details = database.game, database.metric, database.file.details
    own = [*database.measures(position).values()]
    scale = int(details.get("scale", 1))
    over = game.primitive(position) != UNDECIDED
    moves = [] if over else list(game.generate_moves(position))
    try:
        children = [[*database.measures(game.do_move(position, move)).values()] for move in moves]
    except NotInDatabase:
        return False
    if metric == "nimber":
        finite = {child[0] for child in children if child[0] >= 0}
        return finite == set(reached(own[0])) if own[0] < 0 else {*range(own[0])} <= finite and own[0] not in finite
    if metric == "drawlevel":
        return draws_follow(own, children, [database[game.do_move(position, move)].value for move in moves])
    if metric == "utilities":
        paid = [scale * game.payoff(position, player) for player in range(game.players)]
        mover = game.turn(position)
        if over or details["ties"] == "paranoid":
            columns = enumerate(zip(*children, strict=True))
            return own == (paid if over else [max(some) if player == mover else min(some) for player, some in columns])
        return abs(own[mover] - max(child[mover] for child in children)) <= SLACK * (scale > 1)
    if over:
        return set(own) == {scale * paid_at(game, position)}
    seen = [seen_from(game, position, move, child, scale) for move, child in zip(moves, children, strict=True)]
    if metric == "score":
        return own[0] == max(child[0] for child in seen)
    if game.turn(position) != CHANCE:
        return own[0] <= max(child[0] for child in seen) and own[1] >= max(child[-1] for child in seen)
    odds = [game.odds(position, move) for move in moves]
    low, high = (sum(weight * child[at] for weight, child in zip(odds, seen, strict=True)) for at in (0, 1))
    return own[0] * sum(odds) <= low and high <= own[1] * sum(odds)


def draws_follow(own: Measures, children: Sequence[Measures], values: Sequence[Value]) -> bool:
    """Tell whether what is said of a draw, or that it is none, follows from its children."""
    kind, level, plies = own
    if kind == UNDECIDED:
        return (level, plies) == (-1, -1)
    drawn = [child for child in children if child[0] != UNDECIDED]
    if kind == DRAW:
        return (level, plies) == (-1, -1) and bool(drawn)
    if kind == WIN:
        return min((child[1], child[2]) for child in drawn if child[0] == LOSE) == (level, plies - 1)
    fringe = plies == 0 and (WIN in values if level == 0 else any(child[1] == level - 1 for child in drawn))
    last = plies > 0 and max(child[2] for child in drawn) == plies - 1
    return all(child[0] == WIN for child in drawn) and (fringe or last)


def paid_at(game: Game, position: int) -> int:
    """Return what an end pays who is to move there, less what it pays the other player."""
    mover = max(game.turn(position), 0)
    return game.payoff(position, mover) - (game.payoff(position, 1 - mover) if game.players == 2 else 0)


def seen_from(game: Game, position: int, move: int, child: Measures, scale: int) -> list[int]:
    """Return what a child is worth to who makes the move there, with what that pays at once."""
    mover = max(game.turn(position), 0)
    paid = game.reward(position, move, mover) - (game.reward(position, move, 1 - mover) if game.players == 2 else 0)
    again = same_mover(game, position, game.do_move(position, move))
    return [scale * paid + bound for bound in (child if again else [-bound for bound in reversed(child)])]
