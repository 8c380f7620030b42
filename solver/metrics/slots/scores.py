"""The method that solves games which number their positions by score: a byte for each slot, in a file, tier by tier.

Plies are not counted. Within a tier, moves must not pay, and `parents` must give all of them; the players may come back
to a position (see `score_kernels.py`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from retrograde.databases.layout import NOT_FOUND
from retrograde.databases.legend import LegendTable, Measures, table_of
from retrograde.databases.write import SolvedSlots
from retrograde.games.catalog import variant
from retrograde.games.contract.game import LOSE, TIE, WIN, Game, RuleError, Traits
from retrograde.games.identity.digest import numbering_digest
from retrograde.solver.methods.numbered.legend import CODE, COLUMNS, POSITIONS, solved_slots
from retrograde.solver.methods.numbered.numbering import SlotNumbering
from retrograde.solver.methods.numbered.seeds import raise_fault
from retrograde.solver.methods.numbered.store import check_disk
from retrograde.solver.metrics.slots import score_kernels as kernels
from retrograde.solver.metrics.slots.files import SlotFiles
from retrograde.solver.metrics.slots.score_kernels import EVEN, GREATEST, NONE, ScoredTiers
from retrograde.solver.rules.expansion import compiling
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.positions import room_for_images
from retrograde.solver.rules.running_kernels import noted_position, trouble_array
from retrograde.solver.rules.trouble_codes import Trouble
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.arrays import SharedArray
from retrograde.solver.runtime.driver import Done, StoredCounts, drive
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.work import NotApplicable, Work
from retrograde.solver.values.score_kernels import fill_gaps

CHUNK = 1 << 18
"""Slots that a task expands."""
STACK = 1 << 22
"""Decided slots that wait until their parents get their score; more wait in their tier."""
MOST_PARENTS = 1 << 12
"""Parents of a slot within its tier."""
BYTES_A_SLOT, BESIDE = 2, 100_000_000
"""Memory in bytes for each slot of the tier that is being solved, and beside that."""
REASONS = {
    kernels.PAYS_WITHIN: "a move pays and stays in its tier; let tier() rise with each move that pays",
    kernels.TOO_GREAT: f"a score is greater than {GREATEST}",
    kernels.NO_SLOT: "it has no slot",
    kernels.BY_CHANCE: "chance moves there",
    kernels.TOO_MANY: f"it has more than {kernels.MOST_LEFT} moves within its tier",
}


class ScoreTierInputs(NamedTuple):
    """What tasks receive: the game, its numbering, the scores of all slots, and the number of the tier."""

    game: Game
    numbering: SlotNumbering
    scores: SharedArray
    k: int

    @property
    def for_kernels(self) -> ScoredTiers:
        return ScoredTiers(self.numbering.tiers, self.numbering.starts, self.scores.array, self.k)


@dataclass(frozen=True)
class SlotScoresMethod:
    """Solves by slots, each of which has a score and no plies."""

    name: ClassVar[str] = "numbered"

    def solve(self, game: Game, work: Work) -> SolvedSlots:
        """Return the solved game; raise NotApplicable if the method does not apply."""
        if game.players > 2 or not Traits.of(game).has_parents:
            raise NotApplicable("scores by slot are of one player or two, and need parents(position)")
        work.course.plan(solving=0.95, writing=0.05)
        store = ScoreStore(game, work)
        drive(store, work.log("scores"), work.phase("solving", store.numbering.slots))
        return solved_from(store)


def solved_from(store: "ScoreStore") -> SolvedSlots:
    """Return a solved game for the database writer."""
    codes = {code for counts in store.counts.values() for code in counts[:, CODE].tolist()}
    values = {-1: LOSE, 0: TIE, 1: WIN}  # by the sign of the score
    outcomes = {code: (values[int(np.sign(code - EVEN))], NOT_FOUND, code - EVEN) for code in sorted(codes)}
    scores, release = store.files.columns[0].array, store.files.release
    solved = solved_slots(store.game, store.numbering, outcomes, store.counts, scores, release, fill_gaps)
    measures = Measures("score", ("score",), {"numbering": numbering_digest(store.game)})
    legend = LegendTable(table_of(solved.legend, measures.names))
    return SolvedSlots(solved.tiers, solved.starts, legend, solved.counts, solved.outcomes, solved.start, measures)


class ScoreStore:
    """The scores of all slots while they are solved, as codes in a file. A group is a tier number."""

    def __init__(self, game: Game, work: Work):
        """Start with nothing solved; raise MemoryLimit if memory does not suffice."""
        self.game, self.work = game, work
        self.numbering = SlotNumbering.of(game)
        slots = self.numbering.slots
        work.budget.check(BYTES_A_SLOT * int(np.diff(self.numbering.starts).max()) + BESIDE, f"solving {slots:,} slots")
        check_disk(work.scratch, slots)
        self.files = work.until_written(SlotFiles(work.scratch, slots, ("scores.kept",), np.uint8))
        self.counts: dict[int, Array] = {}
        """For each solved tier its counts, as in methods/numbered/legend.py."""

    def groups(self) -> Iterator[int]:
        yield from reversed(range(len(self.numbering.tiers)))

    def keep(self, done: Done) -> StoredCounts:
        """Accept a tier that is in the file, unless it was before, or has another checksum; return how much that is.

        *done* has the tier's number and checksum, and its counts.
        """
        (k, check), counts = done
        part = self.numbering.slice_of(int(k))
        if int(k) in self.counts or not self.files.is_whole(part.start, part.stop, int(check)):
            return StoredCounts(0, None, 0)
        self.counts[int(k)] = counts = counts.reshape(-1, COLUMNS)
        return StoredCounts(part.stop - part.start, int(self.numbering.tiers[k]), int(counts[:, POSITIONS].sum()))

    def solve(self, k: int, phase: Phase) -> Iterator[Done]:
        """Solve a tier in the file, and yield its checksum and counts."""
        if k in self.counts:
            return
        part = self.numbering.slice_of(k)
        tier = ScoreTierInputs(self.game, self.numbering, self.files.columns[0], k)
        best, children_left = tier.scores.array[part], np.empty(self.numbering.size(k), np.uint8)
        state = np.zeros(2, np.uint64)
        # Step 1: what the rules say of each slot, in tasks.
        edge_sum, greatest = np.uint64(0), 0
        chunks = ((tier, begin, min(begin + CHUNK, len(best))) for begin in range(0, len(best), CHUNK))
        for begin, codes, counters, edges in self.work.map(seed, chunks):
            best[begin : begin + len(codes)], children_left[begin : begin + len(codes)] = codes, counters
            edge_sum += edges
            greatest = max(greatest, int(np.abs(codes[codes != NONE].astype(np.int64) - EVEN).max(initial=0)))
            phase.working(0, int(self.numbering.tiers[k]))
        # Step 2: decide slots, from the greatest amount down.
        spread(tier, greatest, best, children_left, state, phase)
        counts = finish(tier, best, children_left, state)
        if state[kernels.EDGE_SUM] != edge_sum:
            raise RuleError(
                f"{variant(self.game)}, tier {self.numbering.tiers[k]}: parents() gives other edges than do_move(); "
                "retrograde check finds a position where they differ"
            )
        # Step 3: write the tier out.
        check = self.files.write(part.start, best)
        self.files.release()
        yield np.array([k, check]), counts.ravel()


def seed(task: tuple[ScoreTierInputs, int, int]) -> tuple[int, Array, Array, np.uint64]:
    """Return (begin, best, children_left, sum over the edges) of some slots of a tier. The last three are those that
    `score_kernels.seed` finds from the rules."""
    tier, begin, end = task
    best, children_left = np.empty((2, end - begin), np.uint8)
    links, trouble = np.empty(kernels.MOST_LEFT + 1, np.int64), trouble_array(tier.game)
    with compiling(tier.game, trouble):
        edge_sum = kernels.seed(rules_for(tier.game), tier.for_kernels, begin, best, children_left, links, trouble)
    expect_fine(tier, trouble)
    return begin, best, children_left, np.uint64(edge_sum)


def spread(tier: ScoreTierInputs, greatest: int, best: Array, children_left: Array, state: Array, phase: Phase) -> None:
    """Decide the slots of a tier, from the amount *greatest* down; for the arrays see `score_kernels.spread`."""
    stack, links, trouble = np.empty(STACK, np.int64), np.empty(MOST_PARENTS, np.int64), trouble_array(tier.game)
    for amount in range(greatest, 0, -1):
        begin = count = 0
        while count or begin < len(best):
            with compiling(tier.game, trouble):
                begin, count = kernels.spread(
                    rules_for(tier.game), tier.for_kernels, amount, begin, stack, count, best, children_left, links,
                    state, trouble,
                )  # fmt: skip
            expect_fine(tier, trouble)
            phase.working(0, int(tier.numbering.tiers[tier.k]))
            if state[kernels.STACK_FULL] and not count and begin == len(best):  # look again
                begin = state[kernels.STACK_FULL] = 0


def finish(tier: ScoreTierInputs, best: Array, children_left: Array, state: Array) -> Array:
    """Give the slots of a tier that `spread` did not decide a score of 0, and return the counts of the tier."""
    links, trouble, counts_by_part = np.empty(MOST_PARENTS, np.int64), trouble_array(tier.game), []
    for part, slots in tier.numbering.parts_of(tier.game, tier.k):
        counts = np.zeros((GREATEST + EVEN + 1, 3), np.int64)
        for begin in range(slots.start, slots.stop, kernels.STEP):
            with compiling(tier.game, trouble):
                kernels.finish(
                    rules_for(tier.game), tier.for_kernels, begin, best[: slots.stop], children_left, links, state,
                    counts, room_for_images(tier.game), trouble,
                )  # fmt: skip
            expect_fine(tier, trouble)
        codes = np.flatnonzero(counts[:, 0])
        counts_by_part.append(np.column_stack([np.full(len(codes), part), codes, counts[codes]]))
    return np.concatenate(counts_by_part)


def expect_fine(tier: ScoreTierInputs, trouble: Array) -> None:
    """Raise the error for the trouble of a kernel, if there is any."""
    if trouble[0] == Trouble.FINE:
        return
    position = noted_position(tier.game, trouble)
    if reason := REASONS.get(int(trouble[0])):
        raise NotApplicable(f"{variant(tier.game)}, position {position}: {reason}")
    raise_fault(tier.game, tier.numbering, position)
