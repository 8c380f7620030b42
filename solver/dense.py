"""Games with a dense numbering: every slot of every tier is solved, whether or not play leads there.

The scores of all tiers lie one after another, slot by slot, so that a child is found by its number, and not by search.
A tier is seeded, slot by slot, and then solved by propagation, with the parents that the rules give.
"""

import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.game import Game, RuleError, defines
from retrograde.solver import compiled, dense_kernels, kernels
from retrograde.solver.active import asking
from retrograde.solver.cyclic import Propagation, flowing
from retrograde.solver.examine import blame, examine
from retrograde.solver.expansion import NotCompilable, differ
from retrograde.solver.journal import Log
from retrograde.solver.numbering import Numbering
from retrograde.solver.progress import Phase
from retrograde.solver.reason import NOT_COMPILED, reason
from retrograde.solver.score import DRAW_CLASS, EMPTY_PLIES, encode
from retrograde.solver.score_kernels import pass_up

Array = np.ndarray[Any, Any]

BLOCK = 1 << 14
"""Slots in a task of seeding."""
FRONTIER = 1 << 12
"""Slots in a task of asking for parents."""
ROOM = 1 << 17
"""Parents that are written at once."""
SPOT_CHECKS = 3
"""Slots of a block that are looked at a second time, by the interpreted rules."""


class DenseScores:
    """The scores of all slots in the making.

    `scores` uint16[slots] or uint32[slots] (see score.py), with so many *bits* for plies, EMPTY where a slot stands for
    no position; `sizes` uint16[slots], the number of positions symmetric to each.
    """

    def __init__(self, game: Game, numbering: Numbering, bits: int, executor: Executor):
        compiled.prepare(game.family)
        self.game, self.rules = game, game.family
        self.numbering, self.bits, self.executor = numbering, bits, executor
        self.scores = np.zeros(numbering.slots, np.uint16 if bits <= 14 else np.uint32)
        self.sizes = np.zeros(numbering.slots, np.uint16)
        self.local = threading.local()
        self.undecided = DRAW_CLASS << bits | 1
        self.empty = DRAW_CLASS << bits | EMPTY_PLIES

    @staticmethod
    def bytes_needed(numbering: Numbering, bits: int) -> int:
        """Return how much memory the arrays will take, those for the largest tier included."""
        item = 2 if bits <= 14 else 4
        return (item + 2) * numbering.slots + (2 * item + 2) * int(np.diff(numbering.starts).max())

    def solve(self, log: Log, phase: Phase, known: Iterable[int] = ()) -> None:
        """Solve all tiers, last first, less those in the log, and those that are *known* already."""
        done = set(known)
        phase.skip(sum(map(self.numbering.size, done)))
        for rows, scores, sizes in log.resumed:
            part = self.numbering.stretch(int(rows[0]))
            self.scores[part], self.sizes[part] = scores, sizes
            phase.skip(len(scores) if int(rows[0]) not in done else 0)
            done.add(int(rows[0]))
        for row in reversed(range(len(self.numbering.tiers))):
            if row not in done:
                self.solve_tier(row, phase)
                log.add(partial(self.extract, row))
                log.write()
        phase.tell()

    def extract(self, row: int) -> tuple[Array, Array, Array]:
        """Return what the log keeps of a tier."""
        part = self.numbering.stretch(row)
        return np.array([row], np.int64), self.scores[part], self.sizes[part]

    def solve_tier(self, row: int, phase: Phase) -> None:
        """Solve one tier; all later ones are solved."""
        part = self.numbering.stretch(row)
        scores = self.scores[part]
        best, left = np.zeros(len(scores), scores.dtype), np.zeros(len(scores), np.uint16)
        tier = int(self.numbering.tiers[row])
        begins = range(0, len(scores), BLOCK)
        for begin in flowing(self.executor, partial(self.seed, row, best, left), begins):
            phase.advance(min(BLOCK, len(scores) - begin), tier)
        if left.any() and not defines(self.game, "parents"):
            raise RuleError(f"{variant(self.game)} numbers its positions by size(), and needs parents() with it")
        Propagation(self.bits, scores, best, left, partial(self.parents_of, tier, scores)).run()

    # What is known at first

    def seed(self, row: int, best: Array, left: Array, begin: int) -> int:
        """Look at all children of a block of slots; return where it begins."""
        numbering, tier = self.numbering, int(self.numbering.tiers[row])
        part = numbering.stretch(row)
        block = slice(begin, min(begin + BLOCK, len(best)))
        images, own = self.room("images", kernels.MOST_IMAGES), self.room("own", kernels.MOST_MOVES)
        result = self.scores[part][block]
        trouble = np.zeros(2, np.int64)
        with self.blaming(trouble):
            dense_kernels.seed(
                self.rules, tier, begin, numbering.tiers, numbering.starts, self.scores, self.bits, images, own,
                result, self.sizes[part][block], best[block], left[block], trouble,
            )  # fmt: skip
        if trouble[0] != kernels.FINE:
            self.complain(int(trouble[1]))
        for i in np.linspace(0, len(result) - 1, SPOT_CHECKS).astype(np.int64).tolist():
            expected = self.seed_interpreted(row, begin + i)
            if (int(result[i]), int(best[begin + i]), int(left[begin + i])) != expected:
                raise RuleError(differ(self.game, self.game.unindex(tier, begin + i)))
        return begin

    def seed_interpreted(self, row: int, slot: int) -> tuple[int, int, int]:
        """Return what `seed` finds out about one slot, by the interpreted rules."""
        position = self.game.unindex(int(self.numbering.tiers[row]), slot)
        if position < 0:
            return self.empty, 0, 0
        value, _, children = examine(self.game, position)
        if value:
            return encode(value, 0, self.bits), 0, 0
        own, passed = set(), 0
        for child in children:
            child_row, child_slot = self.numbering.slot_of(self.game, child)
            if child_row == row:
                own.add(child_slot)
            else:
                score = int(self.scores[self.numbering.starts[child_row] + child_slot])
                passed = max(passed, pass_up(score, self.bits))
        return self.undecided, passed, len(own) + (passed >= DRAW_CLASS << self.bits)

    # Parents

    def parents_of(self, tier: int, scores: Array, frontier: Array) -> Iterator[Array]:
        """Yield the undecided parents of some slots, each as often as it has distinct children there."""
        parts = (frontier[begin : begin + FRONTIER] for begin in range(0, len(frontier), FRONTIER))
        for parents in flowing(self.executor, partial(self.ask_parents, tier, scores), parts):
            yield from parents

    def ask_parents(self, tier: int, scores: Array, frontier: Array) -> list[Array]:
        """Return the parents that the rules give, in pieces."""
        out = self.room("out", ROOM)
        trouble = np.zeros(2, np.int64)
        pieces = []
        while len(frontier):
            with self.blaming(trouble):
                done, count = dense_kernels.parents_of(
                    self.rules, tier, frontier, scores, self.undecided, out, trouble
                )
            if trouble[0] != kernels.FINE or not done:
                self.complain(int(trouble[1]))
            pieces.append(out[:count].astype(np.uint32 if len(scores) < 1 << 32 else np.int64))
            frontier = frontier[done:]
        return pieces

    # Working together with the rules

    def room(self, name: str, length: int) -> Array:
        """Return an array of this thread's own to work in."""
        if not hasattr(self.local, name):
            setattr(self.local, name, np.empty(length, np.int64))
        return getattr(self.local, name)

    @contextmanager
    def blaming(self, trouble: Array) -> Iterator[None]:
        """Turn what compiled rules raise into a RuleError that names the position."""
        try:
            with asking(self.game, trouble):
                yield
        except NOT_COMPILED as error:
            raise NotCompilable(reason(self.game, error)) from error
        except Exception:
            with blame(self.game, max(0, int(trouble[1]))):
                raise

    def complain(self, position: int) -> None:
        """Raise the RuleError that is due at a position: that of the interpreted rules, which say it in full."""
        row, slot = self.numbering.slot_of(self.game, position)
        tier = int(self.numbering.tiers[row])
        if self.game.unindex(tier, slot) != position:
            other = self.game.unindex(tier, slot)
            what = f"index() gives {slot}, and unindex({tier}, {slot}) gives {other}"
            raise RuleError(f"{variant(self.game)}, position {position}: {what}")
        related = examine(self.game, position)[2]
        related += list(self.game.parents(position)) if defines(self.game, "parents") else []
        for other in related:
            self.numbering.slot_of(self.game, other)
        raise RuleError(differ(self.game, position))
