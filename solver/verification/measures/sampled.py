"""Verifies a sample of a new database of another metric with the interpreted rules, before the file gets its name.

At each sampled position, what is stored must follow from what is stored for its children:

    expectation     the lower bound is not above the one that the children prove, nor the upper one below; ends are paid
    score           the best of the children's scores, with what moves pay
    nimber          the least that no child has; an infinite one names the finite nimbers of its children
    drawlevel       a won draw has a lost child one ply nearer; a lost draw has only won draws as children
    utilities       the player to move gets the most that any child gives that player

Where play can go round, this proves less than `verify` does. But it finds rules that answer the solver and a single
call differently.
"""

import time
from collections.abc import Iterable, Sequence

from retrograde.databases import Database
from retrograde.databases.errors import NotInDatabase
from retrograde.games.catalog import variant
from retrograde.games.contract.game import CHANCE, DRAW, LOSE, UNDECIDED, WIN, Contradiction, Game, Value, same_mover
from retrograde.solver.rules.examine import blame
from retrograde.solver.rules.exits import no_exit
from retrograde.solver.values.sums import finite_options

LEAST = 20
SLACK = 1 << 10
"""By how much averages of utilities may differ and count as equally good (see `metrics/utilities.py`)."""

Measures = Sequence[int]


def verify_measured(database: Database, positions: Iterable[int], seconds: float) -> None:
    """Raise Contradiction if measures do not follow from the interpreted rules at one of the positions.

    It takes about *seconds*, and looks at `LEAST` positions at least. Databases of a best response to a model are
    skipped: the model would have to be consulted.
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
    """Return whether what is stored for a position follows from what is stored for its children."""
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
        if own[0] < 0:
            return finite == set(finite_options(own[0]))
        return {*range(own[0])} <= finite and own[0] not in finite
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
    """Return whether a position's draw level, or that it is no draw, follows from its children."""
    kind, level, plies = own
    # Case: the position is no draw.
    if kind == UNDECIDED:
        return (level, plies) == (-1, -1)
    drawn = [child for child in children if child[0] != UNDECIDED]
    # Case: a draw that belongs to no level (not pure).
    if kind == DRAW:
        return (level, plies) == (-1, -1) and bool(drawn)
    # Case: a won draw leads to the lost draw of the lowest level, then of the fewest plies.
    if kind == WIN:
        return min((child[1], child[2]) for child in drawn if child[0] == LOSE) == (level, plies - 1)
    # Case: a lost draw, either where its level begins (0 plies) or one ply behind the latest of its children.
    fringe = plies == 0 and (WIN in values if level == 0 else any(child[1] == level - 1 for child in drawn))
    last = plies > 0 and max(child[2] for child in drawn) == plies - 1
    return all(child[0] == WIN for child in drawn) and (fringe or last)


def paid_at(game: Game, position: int) -> int:
    """Return what an end pays the player to move, less what it pays the other player."""
    mover = max(game.turn(position), 0)
    return game.payoff(position, mover) - (game.payoff(position, 1 - mover) if game.players == 2 else 0)


def seen_from(game: Game, position: int, move: int, child: Measures, scale: int) -> list[int]:
    """Return what a child is worth to the player who moves there, including what the move pays."""
    mover = max(game.turn(position), 0)
    paid = game.reward(position, move, mover) - (game.reward(position, move, 1 - mover) if game.players == 2 else 0)
    again = same_mover(game, position, game.do_move(position, move))
    return [scale * paid + bound for bound in (child if again else [-bound for bound in reversed(child)])]
