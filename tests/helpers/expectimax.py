"""Expected payoffs computed slowly and plainly, in fractions, for fast solvers to be tested against.

Where play always ends, a position is worth, to player 0,

    what it pays        where the game is over: payoff(0) - payoff(1), of one player payoff(0);
    the greatest        of its children where player 0 is to move, the least where player 1 is;
    the mean            of its children, by their odds, where it is chance's turn.

Where play can go on for ever, which pays 0, each player has a best plan that says one move for each position. So all
pairs of plans are tried: with both given play is a Markov chain, whose expectations solve linear equations.
"""

from fractions import Fraction
from itertools import product
from math import prod

from retrograde.games import CHANCE, UNDECIDED, Game

Worth = dict[int, Fraction]


def paid(game: Game, position: int) -> int:
    """Return what player 0 gets at an end, less what player 1 does."""
    other = game.payoff(position, 1) if game.players == 2 else 0
    return game.payoff(position, 0) - other


def children_of(game: Game) -> dict[int, list[tuple[int, int]]]:
    """Return the children of every position that play reaches, with their odds; 1 where a player moves."""
    children: dict[int, list[tuple[int, int]]] = {}
    found = [*game.starts]
    while found:
        position = found.pop()
        if position in children:
            continue
        over = game.primitive(position) != UNDECIDED
        moves = [] if over else list(game.generate_moves(position))
        chance = not over and game.turn(position) == CHANCE
        children[position] = [
            (game.do_move(position, move), game.odds(position, move) if chance else 1) for move in moves
        ]
        found += [child for child, _ in children[position]]
    return children


def acyclic(game: Game) -> Worth:
    """Return what every position is worth to player 0 in a game that always ends."""
    children, worth = children_of(game), {}
    left = list(children)
    while left:
        position = left[-1]
        waiting = [child for child, _ in children[position] if child not in worth]
        if waiting:
            left += waiting
            continue
        left.pop()
        worth[position] = passed_up(game, position, children[position], worth)
    return worth


def passed_up(game: Game, position: int, children: list[tuple[int, int]], worth: Worth) -> Fraction:
    """Return what a position is worth by its children, and by what its moves pay at once."""
    if not children:
        return Fraction(paid(game, position))
    turn = game.turn(position)
    moves = list(game.generate_moves(position))
    brings = [worth[child] + rewarded(game, position, move) for move, (child, _) in zip(moves, children, strict=True)]
    if turn == CHANCE:
        odds = [weight for _, weight in children]
        return sum(weight * worth for weight, worth in zip(odds, brings, strict=True)) / Fraction(sum(odds))
    return (min if turn else max)(brings)


def rewarded(game: Game, position: int, move: int) -> int:
    """Return what a move pays player 0 at once, less what it pays player 1."""
    other = game.reward(position, move, 1) if game.players == 2 else 0
    return game.reward(position, move, 0) - other


def cyclic(game: Game) -> Worth:
    """Return what every position is worth to player 0, by trying all pairs of plans."""
    children = children_of(game)
    plans = [
        [dict(zip(own, plan, strict=True)) for plan in product(*({child for child, _ in children[p]} for p in own))]
        for own in ([p for p in children if children[p] and game.turn(p) == player] for player in range(2))
    ]
    return pointwise(max, (pointwise(min, (chain(game, children, a | b) for b in plans[1])) for a in plans[0]))


def plans(game: Game) -> int:
    """Return how many pairs of plans there are."""
    children = children_of(game)
    return prod(len({child for child, _ in children[p]}) for p in children if children[p] and game.turn(p) != CHANCE)


def pointwise(best, worths) -> Worth:
    """Return the best of several for every position: some plan is best at all positions at once."""
    result = None
    for worth in worths:
        result = worth if result is None else {position: best(result[position], worth[position]) for position in worth}
    return result


def chain(game: Game, children: dict[int, list[tuple[int, int]]], plan: dict[int, int]) -> Worth:
    """Return the expectations where both players keep to a plan: 0 where play cannot end, else by elimination."""
    ways = {p: [(plan[p], 1)] if p in plan else children[p] for p in children}
    ending = {p for p in ways if not ways[p]}
    while more := {p for p in ways if p not in ending and any(child in ending for child, _ in ways[p])}:
        ending |= more
    rows = {}
    for p in ending:
        total = Fraction(sum(odds for _, odds in ways[p]) or 1)
        row = {p: Fraction(1)}
        for child, odds in ways[p]:
            if child in ending:
                row[child] = row.get(child, Fraction(0)) - odds / total
        rows[p] = row, Fraction(0 if ways[p] else paid(game, p))
    return solve(rows) | {p: Fraction(0) for p in ways if p not in ending}


def solve(rows: dict[int, tuple[dict[int, Fraction], Fraction]]) -> Worth:
    """Return the solution of linear equations, one for each unknown, by elimination."""
    order = list(rows)
    for p in order:
        row, right = rows[p]
        pivot = row[p]
        rows[p] = row, right = {q: factor / pivot for q, factor in row.items()}, right / pivot
        for other in order:
            factor = rows[other][0].get(p, Fraction(0)) if other != p else Fraction(0)
            if factor:
                theirs, theirs_right = rows[other]
                mixed = {q: theirs.get(q, Fraction(0)) - factor * row.get(q, Fraction(0)) for q in {*theirs, *row}}
                rows[other] = {q: value for q, value in mixed.items() if value}, theirs_right - factor * right
    return {p: right for p, (_, right) in rows.items()}
