"""Counts lines of play, ply by ply (perft, in chess programs).

Positions of a ply that are equal, or equal by symmetry, are expanded once, with the number of lines that lead there. So
the work grows with the number of positions, not with the number of lines.
"""

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from random import Random
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.contract.game import UNDECIDED, Game, RuleError
from retrograde.solver.rules.examine import examine, to_list
from retrograde.solver.rules.expansion import expander_of
from retrograde.solver.runtime.array_type import Array

UNLIMITED = 1 << 62
LONGEST_LINE = 500
"""The most plies of a random line by which the count looks for play without end."""


class PlyCount(NamedTuple):
    """Counts of a ply: lines of play so long, those that end there, and their positions up to symmetry."""

    ply: int
    lines: int
    ends: int
    positions: int

    @property
    def going_on(self) -> int:
        """How many lines do not end there."""
        return self.lines - self.ends


class Endless(RuleError):
    """Play can go on forever, so that its lines cannot all be counted."""


def count_lines(game: Game, position: Any, plies: int | None = None) -> Iterator[PlyCount]:
    """Yield the counts of each ply from 0 to *plies*, or to the end of all lines. Raise Endless if there is none."""
    first = game.canonical(position)
    wave = np.array([first], np.int64)
    lines = np.array([1], object)  # Python's ints: their sums are soon greater than 64 bits
    expanded: set[Any] = set()
    for ply in range(plies + 1 if plies is not None else UNLIMITED):
        if ply == plies:
            over = expander_of(game).primitives(wave) != UNDECIDED
            yield PlyCount(ply, int(lines.sum()), int(lines[over].sum()), len(wave))
            return
        if plies is None and (returned_to := find_repetition(game, first, Random(ply))) is not None:
            raise endless(game, returned_to)
        children, parents, over = expand(game, wave)
        yield PlyCount(ply, int(lines.sum()), int(lines[over].sum()), len(wave))
        if not len(children):
            return
        if plies is None:
            expanded_before = len(expanded)
            expanded.update(to_list(wave))
            # No position is new, so none will be: play ends unless it can return.
            if len(expanded) == expanded_before:
                refuse_endless(game, expanded)
                plies = UNLIMITED
        wave, lines = merge(children, lines[parents])


def expand(game: Game, wave: Array) -> tuple[Array, Array, Array]:
    """Return (children by all moves, the index of each child's parent, bool[n]: which positions are ends).

    >>> from retrograde.games.catalog import load_game
    >>> expand(load_game("nim:heaps=3"), np.array([3]))
    (array([2, 1, 0]), array([0, 0, 0]), array([False]))
    """
    expander = expander_of(game)
    tier = min(game.tier(position) for position in to_list(wave))  # no child may be in a lower one
    blocks: list[tuple[Array, Array]] = [(wave[:0], np.zeros(0, np.int64))]
    over = np.zeros(len(wave), np.bool_)
    for begin, end in expander.blocks(0, len(wave)):
        block = expander.expand(tier, wave[begin:end])
        children, _, parents = block.list_children()
        blocks.append((children, begin + parents))
        over[begin:end] = block.primitives != UNDECIDED
    children, parents = (np.concatenate(arrays) for arrays in zip(*blocks, strict=True))
    return children, parents, over


def merge(children: Array, lines: Array) -> tuple[Array, Array]:
    """Return the distinct *children*, ascending, and the sum of the *lines* that lead to each.

    >>> merge(np.array([9, 4, 9]), np.array([1, 10, 2]))
    (array([4, 9]), array([10,  3]))
    """
    words = children.reshape(len(children), -1)
    order = np.lexsort(words.T[::-1])  # by the first word, then by the next
    words = words[order]
    firsts = np.flatnonzero(np.append(True, (words[1:] != words[:-1]).any(axis=1)))
    return children[order][firsts], np.add.reduceat(lines[order], firsts)


def find_repetition(game: Game, position: Any, chance: Random) -> Any:
    """Return a position to which a random line returns, if one does; else None, which proves nothing.

    The line is random until a move leads back to a position that it has had.
    """
    met: set[Any] = set()
    for _ in range(LONGEST_LINE):
        met.add(position)
        if game.primitive(position) != UNDECIDED:
            break
        tier = game.tier(position)
        children = [game.canonical(game.do_move(position, move)) for move in game.generate_moves(position)]
        for child in children:
            if child in met:
                return child
        if not children:
            break
        position = chance.choice(children)
        if game.tier(position) != tier:
            met.clear()  # no move leads back to an earlier tier
    return None


def refuse_endless(game: Game, expanded: set[Any]) -> None:
    """Raise Endless if a line returns to one of the *expanded* positions. The set holds their children too."""
    try:
        TopologicalSorter({position: examine(game, position)[2] for position in expanded}).prepare()
    except CycleError as error:
        raise endless(game, error.args[1][0]) from None


def endless(game: Game, position: Any) -> Endless:
    """Return the error of a game in which play can return to a *position*."""
    return Endless(
        f"{variant(game)}: play can go on forever, as from {game.write(position)}, so that its lines cannot all be "
        "counted; count those of some plies, with --plies 10"
    )
