"""Games with a dense numbering: every slot of every tier is solved, whether or not play leads there.

The scores of all tiers lie one after another, slot by slot, so that a child is found by its number, and not by search.
A tier is seeded, slot by slot, and then solved by propagation, with the parents that the rules give.
"""

import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple, NoReturn

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.game import Game, RuleError, defines
from retrograde.solver.listed.cyclic import Propagation, flowing
from retrograde.solver.numbered import kernels as dense_kernels
from retrograde.solver.numbered.numbering import Numbering, check_index
from retrograde.solver.outcomes import edges
from retrograde.solver.outcomes.score import DRAW_CLASS, EMPTY_PLIES, encode
from retrograde.solver.outcomes.score_kernels import pass_up
from retrograde.solver.rules import compiled, kernels
from retrograde.solver.rules.active import asking
from retrograde.solver.rules.examine import blame, examine
from retrograde.solver.rules.expansion import NotCompilable, differ
from retrograde.solver.rules.images import check_image
from retrograde.solver.rules.reason import NOT_COMPILED, reason
from retrograde.solver.rules.second_look import blame_parents
from retrograde.solver.work.journal import Log
from retrograde.solver.work.progress import Phase

Array = np.ndarray[Any, Any]

BLOCK = 1 << 14
"""Slots in a task of seeding."""
FRONTIER = 1 << 12
"""Slots in a task of asking for parents."""
FRONTIER_BYTES = 8
"""What frontiers and what is pending come to take for each slot of a tier. (KQKR takes 5.6, KRKN 3.7.)"""
ROOM = 1 << 17
"""Parents that are written at once."""
SPOT_CHECKS = 3
"""Slots of a block that are looked at a second time, by the interpreted rules."""
TIER_CHECKS = 16
"""Positions of a tier that are held against an image, where it is no longer than a block and..."""
APART = 256
"""... there are so many times as many, or else one."""
EVERY = 4
"""Of a longer tier one block in so many is looked at that way: interpreted rules are slow."""


class DenseTier(NamedTuple):
    """A tier being solved, slot by slot: its number among all, and as an int; for the arrays see Propagation.

    `sums` uint32[slots] is about the parents (see edges.py), or uint32[0] where the rules do not tell them.
    """

    row: int
    tier: int
    scores: Array
    sizes: Array
    best: Array
    left: Array
    sums: Array


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
        """Return how much memory the arrays will take, those for the largest tier and its frontiers included."""
        item = 2 if bits <= 14 else 4
        return (item + 2) * numbering.slots + (2 * item + 6 + FRONTIER_BYTES) * int(np.diff(numbering.starts).max())

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
        at = self.tier(row)
        begins = range(0, len(at.scores), BLOCK)
        for begin in flowing(self.executor, partial(self.seed, at), begins):
            phase.advance(min(BLOCK, len(at.scores) - begin), at.tier)
        if at.left.any() and not defines(self.game, "parents"):
            raise RuleError(f"{variant(self.game)} numbers its positions by size(), and needs parents() with it")
        Propagation(self.bits, at.scores, at.best, at.left, partial(self.parents_of, at)).run()

    def tier(self, row: int) -> DenseTier:
        """Return a tier of which nothing is known yet."""
        part = self.numbering.stretch(row)
        scores = self.scores[part]
        return DenseTier(
            row, int(self.numbering.tiers[row]), scores, self.sizes[part],
            np.zeros(len(scores), scores.dtype), np.zeros(len(scores), np.uint16),
            np.zeros(len(scores) if defines(self.game, "parents") else 0, np.uint32),
        )  # fmt: skip

    # What is known at first

    def seed(self, at: DenseTier, begin: int) -> int:
        """Look at all children of a block of slots; return where it begins."""
        block = slice(begin, min(begin + BLOCK, len(at.best)))
        images, own = self.room("images", kernels.MOST_IMAGES), self.room("own", kernels.MOST_MOVES)
        result = at.scores[block]
        trouble = np.zeros(3, np.int64)
        with self.blaming(trouble):
            dense_kernels.seed(
                self.rules, at.tier, begin, self.numbering.tiers, self.numbering.starts, self.scores, self.bits, images,
                own, result, at.sizes[block], at.best[block], at.left[block], at.sums, trouble,
            )  # fmt: skip
        if trouble[0] != kernels.FINE:
            self.numbering.position_at(self.game, at.row, int(trouble[2]))
            self.complain(int(trouble[1]))
        for i in np.linspace(0, len(result) - 1, SPOT_CHECKS).astype(np.int64).tolist():
            expected = self.seed_interpreted(at.row, begin + i)
            if (int(result[i]), int(at.best[begin + i]), int(at.left[begin + i])) != expected:
                raise RuleError(differ(self.game, self.game.unindex(at.tier, begin + i)))
        self.check_images(at, begin, result)
        return begin

    def check_images(self, at: DenseTier, begin: int, result: Array) -> None:
        """Hold some positions of a block of slots against their slots and images, by the interpreted rules."""
        if begin // BLOCK % EVERY:
            return
        there = np.flatnonzero(result != self.empty)
        checks = min(len(there), max(1, min(TIER_CHECKS * BLOCK // len(at.scores), len(there) // APART)))
        for k in range(checks):
            i = int(there[(2 * k + 1) * len(there) // (2 * checks)])
            check_image(self.game, self.numbering.position_at(self.game, at.row, begin + i))

    def seed_interpreted(self, row: int, slot: int) -> tuple[int, int, int]:
        """Return what `seed` finds out about one slot, by the interpreted rules."""
        position = self.game.unindex(int(self.numbering.tiers[row]), slot)
        if position < 0:
            return self.empty, 0, 0
        value, moves, children = examine(self.game, position)
        if value:
            return encode(value, 0, self.bits), 0, 0
        own, passed = set(), 0
        check_index(self.game, position, self.game.do_move(position, moves[slot % len(moves)]))
        for child in children:
            child_row, child_slot = self.numbering.slot_of(self.game, child)
            if child_row == row:
                own.add(child_slot)
            else:
                score = int(self.scores[self.numbering.starts[child_row] + child_slot])
                passed = max(passed, pass_up(score, self.bits))
        return self.undecided, passed, len(own) + (passed >= DRAW_CLASS << self.bits)

    # Parents

    def parents_of(self, at: DenseTier, frontier: Array) -> Iterator[Array]:
        """Yield the undecided parents of some slots, each as often as it has distinct children there."""
        parts = (frontier[begin : begin + FRONTIER] for begin in range(0, len(frontier), FRONTIER))
        for parents in flowing(self.executor, partial(self.ask_parents, at), parts):
            yield from parents

    def ask_parents(self, at: DenseTier, frontier: Array) -> list[Array]:
        """Return the parents that the rules give, in pieces; raise RuleError where they are not those met before."""
        if not len(at.sums):
            return []
        own, out = self.room("own", kernels.MOST_MOVES), self.room("out", ROOM)
        trouble = np.zeros(3, np.int64)
        pieces = []
        while len(frontier):
            with self.blaming(trouble):
                done, count = dense_kernels.parents_of(
                    self.rules, at.tier, frontier, at.scores, self.bits, at.sums, own, out, trouble
                )
            if trouble[0] == dense_kernels.BAD_PARENTS:
                self.complain_of_parents(at, int(trouble[1]), edges.place_of(trouble[2], len(at.scores)))
            if trouble[0] != kernels.FINE or not done:
                self.complain(int(trouble[1]))
            pieces.append(out[:count].astype(np.uint32 if len(at.scores) < 1 << 32 else np.int64))
            frontier = frontier[done:]
        return pieces

    def complain_of_parents(self, at: DenseTier, position: int, missing: int) -> NoReturn:
        """Raise the RuleError due where parents are wrong; *missing* is a slot to suspect, -1 for none."""
        slots = [missing] * (missing >= 0) + edges.some_of(len(at.scores)).tolist()
        others = (self.game.unindex(at.tier, slot) for slot in slots)
        blame_parents(self.game, position, lambda _: True, (other for other in others if other >= 0))

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
        check_image(self.game, position)
        raise RuleError(differ(self.game, position))
