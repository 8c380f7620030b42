"""Random games as plain graphs, for metrics, without any rules to compile; and what is asked of them, slow and obvious.

Positions are places, sorted by tier; a move leads to the same tier or a later one.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from random import Random
from types import SimpleNamespace

import numpy as np

from retrograde.games.contract.game import DRAW, LOSE, UNDECIDED, WIN
from retrograde.solver.metrics.explored_game import ExploredBlock


@dataclass
class Graph:
    """A game as a graph, which stands for an explored one; `odds` are the weights of the moves."""

    players: int
    tiers: list[int]
    children: list[list[int]]
    movers: list[int]
    pays: list[tuple[int, ...]]
    alternating: bool = False
    odds: dict[tuple[int, int], int] = field(default_factory=dict)
    gains: dict[tuple[int, int], int] = field(default_factory=dict)
    """What a move, by its position and its number there, pays player 0 at once, and takes from the second of two."""

    def __post_init__(self):
        self.game = SimpleNamespace(players=self.players, write=str)
        self.work = SimpleNamespace(budget=SimpleNamespace(check=lambda *needed: None))
        numbers = sorted(set(self.tiers))
        starts = [self.tiers.index(tier) for tier in numbers] + [len(self.tiers)]
        edges = {(self.tiers[i], self.tiers[child]) for i in range(len(self)) for child in self.children[i]}
        self.space = SimpleNamespace(
            tiers=np.array(numbers),
            bounds_of=lambda k: (starts[k], starts[k + 1]),
            has_cycles=lambda k: (numbers[k], numbers[k]) in edges,
        )
        self.positions = np.arange(len(self))

    def __len__(self):
        return len(self.tiers)

    def position_at(self, place):
        return int(place)

    def tiers_backwards(self):
        return reversed(range(len(self.space.tiers)))

    def blocks(self, k):
        """Yield what a block of five positions is, and the next."""
        low, high = self.space.bounds_of(k)
        for begin in range(low, high, 5):
            end = min(begin + 5, high)
            moves = [(i, number) for i in range(begin, end) for number in range(len(self.children[i]))]
            children = np.array([self.children[i][number] for i, number in moves], np.int64)
            begins = np.cumsum([0, *(len(self.children[i]) for i in range(begin, end))])
            paid = [self.gains.get(move, 0) for move in moves if self.gains]
            rewards = np.array([[pay, -pay][: self.players] for pay in paid], np.int64).reshape(-1, self.players)
            primitives = [UNDECIDED if self.children[i] else LOSE for i in range(begin, end)]
            yield ExploredBlock(
                begin, end, np.array(primitives, np.uint8), np.array(self.movers[begin:end], np.int8),
                np.zeros(0, np.uint16), np.array(self.pays[begin:end], np.int64), begins, children,
                np.zeros(0, np.int32), rewards,
            )  # fmt: skip

    def gain(self, i, number):
        """Return what a move pays who makes it, less what the other player gets."""
        paid = self.gains.get((i, number), 0)
        return paid if self.players == 1 else 2 * paid if self.movers[i] == 0 else -2 * paid

    def flat_gains(self):
        """Return the same for all moves, position by position."""
        found = [self.gain(i, number) for i in range(len(self)) for number in range(len(self.children[i]))]
        return np.array(found, np.int64)

    def turned(self, i, child):
        """Tell whether a move hands the turn over."""
        return self.alternating or self.movers[i] != self.movers[child]


def random_graph(seed, players=2, cycles=True, alternating=False, impartial=False, pay=False):
    """Return a graph of some dozen positions; without *cycles* every move leads to a later place.

    If moves *pay*, those that stay in their tier do not where there are cycles.
    """
    chance = Random(seed)
    count = chance.randint(1, 40)
    tiers = sorted(chance.randrange(3 if cycles else 6) for _ in range(count))
    children = []
    for i in range(count):
        later = [j for j in range(count) if tiers[j] > tiers[i] or (cycles and tiers[j] == tiers[i])]
        moves = chance.choices(later, k=chance.randint(1, 4)) if later and chance.random() < 0.8 else []
        children.append(moves)
    movers = [0 if alternating else chance.randrange(players) for _ in range(count)]
    ends = [tuple(chance.randint(-3, 3) for _ in range(players)) for _ in range(count)]
    none = (0,) * players
    lost = (-1, 1)
    pays = [none if moves else lost if impartial else end for moves, end in zip(children, ends, strict=True)]
    paying = [(i, n) for i in range(count) for n, j in enumerate(children[i]) if not cycles or tiers[j] > tiers[i]]
    gains = {move: chance.randint(-2, 2) for move in paying} if pay else {}
    return Graph(players, tiers, children, movers, pays, alternating, {}, gains)


def two_sided_graph(seed):
    """Return a game in which it is often the same player of the two who has to be careful: he alone can let the other
    one win, at the last places but one, and as a rule each move leads to the other player's positions."""
    chance = Random(seed)
    count = chance.randint(4, 40)
    tiers = [*sorted(chance.randrange(3) for _ in range(count)), 3, 3]
    side = [chance.randrange(2) for _ in range(count)]
    astray = chance.choice([0, 0, 0.02])
    children = []
    for i in range(count):
        near = [j for j in range(count) if tiers[j] >= tiers[i] and (side[j] != side[i] or chance.random() < astray)]
        moves = chance.choices(near, k=chance.randint(1, 3)) if near else []
        children.append(moves + [count] * (side[i] == 0 and chance.random() < 0.1))
    pays = [(0, 0) if moves else (-1, 1) for moves in children]
    return Graph(2, tiers, [*children, [count + 1], []], [0] * len(tiers), [*pays, (0, 0), (-1, 1)], True)


def slow_scores(graph):
    """Return scores and plies (None for no end): for each amount, whether it can be forced, until nothing changes."""
    places = range(len(graph))

    def paid(i):
        return graph.pays[i][0] if graph.players == 1 else graph.pays[i][graph.movers[i]] * 2 - sum(graph.pays[i])

    def seen(i, scores, child):
        return -scores[child] if graph.turned(i, child) else scores[child]

    forced = {}
    for amount in sorted({abs(paid(i)) for i in places if not graph.children[i]} - {0}, reverse=True):
        ahead, behind = ({i for i in places if not graph.children[i] and sign * paid(i) >= amount} for sign in (1, -1))
        while True:

            def good(i, child, ahead=ahead, behind=behind):
                return child in (behind if graph.turned(i, child) else ahead)

            def bad(i, child, ahead=ahead, behind=behind):
                return child in (ahead if graph.turned(i, child) else behind)

            more = {i for i in places if any(good(i, child) for child in graph.children[i])} - ahead
            worse = {i for i in places if graph.children[i] and all(bad(i, child) for child in graph.children[i])}
            if not more and worse <= behind:
                break
            ahead, behind = ahead | more, behind | worse
        forced |= {i: amount for i in ahead if i not in forced} | {i: -amount for i in behind if i not in forced}
    scores = [forced.get(i, 0) for i in places]
    plies = [None if graph.children[i] else 0 for i in places]
    for far in range(1, len(graph) + 1):
        for i in places:
            kept = [child for child in graph.children[i] if seen(i, scores, child) == scores[i]]
            near = [plies[child] is not None and plies[child] < far for child in kept]
            if plies[i] is None and (all(near) if scores[i] < 0 else any(near)):
                plies[i] = far
    return scores, plies


def slow_gains(graph):
    """Return the scores and plies of a graph without cycles in which moves pay, by recursion."""
    found = {}

    def worth(i):
        if i not in found:
            found[i] = best(i) if graph.children[i] else (paid(i), 0)
        return found[i]

    def paid(i):
        return graph.pays[i][0] if graph.players == 1 else graph.pays[i][graph.movers[i]] * 2 - sum(graph.pays[i])

    def best(i):
        options = []
        for number, child in enumerate(graph.children[i]):
            score, plies = worth(child)
            options.append((graph.gain(i, number) + (-score if graph.turned(i, child) else score), plies + 1))
        most = max(score for score, _ in options)
        return most, (max if most < 0 else min)(plies for score, plies in options if score == most)

    return [worth(i) for i in range(len(graph))]


def slow_endless_gains(graph):
    """Return the scores and plies (None for no end) of a graph with cycles in which moves to later tiers pay.

    Tier by tier, the last first: what a move out of a tier brings is taken for an end that pays as much, of which
    `slow_scores` says who can force how much. Then plies are counted along moves that keep the score; where play goes
    on for ever, all that is to be won has been when it begins to.
    """
    scores, plies = [0] * len(graph), [None] * len(graph)

    def brings(i, number):
        child = graph.children[i][number]
        return graph.gain(i, number) + (-scores[child] if graph.turned(i, child) else scores[child])

    def is_near(i, number, far):
        child = graph.children[i][number]
        if plies[child] is None:
            return scores[child] == 0 and scores[i] != 0
        return plies[child] < far

    for tier in sorted(set(graph.tiers), reverse=True):
        inside = [i for i in range(len(graph)) if graph.tiers[i] == tier]
        found = slow_scores(tier_alone(graph, inside, brings))[0]
        for i, score in zip(inside, found[: len(inside)], strict=True):
            scores[i], plies[i] = score, None if graph.children[i] else 0
        for far in range(1, 2 * len(graph)):
            for i in inside:
                kept = [n for n in range(len(graph.children[i])) if brings(i, n) == scores[i]]
                if plies[i] is None and (all if scores[i] < 0 else any)(is_near(i, n, far) for n in kept):
                    plies[i] = far
    return scores, plies


def tier_alone(graph, inside, brings):
    """Return the graph of a tier, in which each move out of it leads to an end of its own that pays what it brings."""
    movers, pays, children = [graph.movers[i] for i in inside], [graph.pays[i] for i in inside], []
    for i in inside:
        children.append([])
        for number, child in enumerate(graph.children[i]):
            if child in inside:
                children[-1].append(inside.index(child))
                continue
            children[-1].append(len(movers))
            amount = -brings(i, number) if graph.alternating else brings(i, number)
            movers.append(graph.movers[i])
            pays.append(((amount, 0) if graph.movers[i] == 0 else (0, amount))[: graph.players])
    ends = len(movers) - len(inside)
    tiers = [0] * len(inside) + [1] * ends
    return Graph(graph.players, tiers, children + [[]] * ends, movers, pays, graph.alternating)


def slow_nimbers(graph, most):
    """Return the nimber of each position, or the set of those to which an infinite one can go, by the definition: a
    position has the nimber n if its sum with a heap of n is lost for the player to move, and is infinite if there is no
    such n; it can go to those with whose heap the sum is won. *most* is the greatest n that is tried."""
    heaps = range(most + 1)
    outcomes = {}
    moves = {
        (i, heap): [(child, heap) for child in graph.children[i]] + [(i, less) for less in range(heap)]
        for i in range(len(graph))
        for heap in heaps
    }
    changed = True
    while changed:
        changed = False
        for place, children in moves.items():
            if place not in outcomes:
                known = [outcomes.get(child) for child in children]
                if LOSE in known or all(value == WIN for value in known):
                    outcomes[place] = WIN if LOSE in known else LOSE
                    changed = True
    found = []
    for i in range(len(graph)):
        zero = [heap for heap in heaps if outcomes.get((i, heap)) == LOSE]
        found.append(zero[0] if zero else {heap for heap in heaps if outcomes.get((i, heap)) == WIN})
    return found


def slow_utilities(graph, ties):
    """Return for each position what each player gets, as fractions, and the plies to the end, by recursion."""
    found = {}

    def others(i, child):
        return [paid for player, paid in enumerate(worth(child)[0]) if player != graph.movers[i]]

    def worth(i):
        if i not in found:
            found[i] = best(i) if graph.children[i] else (tuple(map(Fraction, graph.pays[i])), 0)
        return found[i]

    def best(i):
        mover = graph.movers[i]
        most = max(worth(child)[0][mover] for child in graph.children[i])
        equal = [child for child in graph.children[i] if worth(child)[0][mover] == most]
        if ties == "paranoid":
            columns = enumerate(zip(*(worth(child)[0] for child in graph.children[i]), strict=True))
            forced = tuple(max(some) if player == mover else min(some) for player, some in columns)
            return forced, worth(equal[0])[1] + 1
        if ties == "average":
            sums = zip(*(worth(child)[0] for child in equal), strict=True)
            return tuple(sum(some) / len(equal) for some in sums), 1 + max(worth(child)[1] for child in equal)
        if ties == "leader" and graph.players > 1:
            equal.sort(key=lambda child: max(others(i, child)))
        return worth(equal[0])[0], worth(equal[0])[1] + 1

    return [worth(i) for i in range(len(graph))]


def slow_draws(graph, values):
    """Return for each position what a draw is, None where it is none, with its level and plies (None for none).

    Level by level the draws that are left make a game of their own, in which those from which a move leads to a win, or
    to a draw won at the level before, are ends that are lost. A draw that is lost and has a parent that is, or that is
    neither, spoils all draws that can come to it.
    """
    draws = {i for i, value in enumerate(values) if value == DRAW}
    found, level = {}, 0
    goal = {i for i, value in enumerate(values) if value == WIN}
    while goal:
        left = sorted(draws - found.keys())
        fringe = [bool(goal & set(graph.children[i])) for i in left]
        children = [
            [] if lost else [left.index(j) for j in graph.children[i]] for i, lost in zip(left, fringe, strict=True)
        ]
        alone = Graph(2, [0] * len(left), children, [0] * len(left), [(-1, 1)] * len(left), True)
        scores, plies = slow_scores(alone)
        new = {i: (WIN if s > 0 else LOSE, level, far) for i, s, far in zip(left, scores, plies, strict=True) if s}
        found |= new
        goal, level = {i for i in new if new[i][0] == WIN}, level + 1
    lost = {i for i in found if found[i][0] == LOSE}
    spoilt = draws - found.keys() | {j for i in lost for j in graph.children[i] if j in lost}
    while more := {i for i in draws - spoilt if spoilt & set(graph.children[i])}:
        spoilt |= more
    return [(None, None, None) if i not in draws else (DRAW, None, None) if i in spoilt else found[i]
            for i in range(len(graph))]  # fmt: skip
