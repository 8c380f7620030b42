"""Alpha-beta search for a position's value and remoteness, without any database: another way to the same truth."""

from retrograde.games import LOSE, TIE, UNDECIDED, WIN, Game, Value

FAR = 1 << 20


def search(game: Game, position: int, known: dict | None = None) -> tuple[Value, int]:
    """Return the value and the remoteness of a position of a game that always ends, without a WIN at its end.

    Scores: FAR - n wins in n, n - FAR loses in n; a tie is told apart by a second search, for its remoteness.
    """
    known = {} if known is None else known
    score = negamax(game, position, -FAR, FAR, known)
    if score > 0:
        return WIN, FAR - score
    if score < 0:
        return LOSE, FAR + score
    return TIE, soonest_tie(game, position, known)


def negamax(game: Game, position: int, alpha: int, beta: int, known: dict) -> int:
    value = game.primitive(position)
    if value != UNDECIDED:
        return -FAR if value == LOSE else 0
    key = game.canonical(position)
    low, high = known.get(key, (-FAR, FAR))
    if low >= beta or low == high:
        return low
    if high <= alpha:
        return high
    alpha, beta = max(alpha, low), min(beta, high)
    best, floor = -FAR, alpha
    for move in game.generate_moves(position):
        child = negamax(game, game.do_move(position, move), further(-beta), further(-floor), known)
        best = max(best, nearer(-child))
        floor = max(floor, best)
        if floor >= beta:
            break
    known[key] = (best, high) if best >= beta else (low, best) if best <= alpha else (best, best)
    return best


def nearer(score: int) -> int:
    """Return what a child's score, seen by its parent, is one ply earlier."""
    return score - 1 if score > 0 else score + 1 if score < 0 else 0


def further(score: int) -> int:
    """Return the bound for a child that `nearer` turns into a bound for its parent."""
    return score + 1 if score > 0 else score - 1 if score < 0 else 0


def soonest_tie(game: Game, position: int, known: dict) -> int:
    """Return the least plies in which the player to move, and the other, reach a tie when neither has better."""
    layer, plies = {game.canonical(position)}, 0
    while not any(game.primitive(one) == TIE for one in layer):
        plies += 1
        children = {game.canonical(game.do_move(one, move)) for one in layer for move in game.generate_moves(one)}
        layer = {child for child in children if negamax(game, child, -FAR, FAR, known) == 0}
    return plies
