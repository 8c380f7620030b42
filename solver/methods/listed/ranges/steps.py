"""Tasks of propagation by ranges: assemble a range, and run a step of a range.

updates for a range --step--> newly decided slots --their parents--> updates for all ranges, sorted

The state of a range is in files. Each is written once, under its own name, and never changed, so a task that runs
twice, partly, or too late does no harm:

    base      scores and counters of all slots, one array after the other
    delta     slots uint32[n], then their scores and counters after a step
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import LOSE, TIE, WIN
from retrograde.solver.methods.listed.predecessors.sorting import (
    BucketEdges,
    BucketLayout,
    SpilledEdges,
    StoredParentLists,
    invert_edges,
)
from retrograde.solver.methods.listed.ranges import kernels
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.scratch import Frame, Scratch
from retrograde.solver.values.propagation import due_mask
from retrograde.solver.values.score import DRAW_CLASS, LOSE_CLASS, WIN_CLASS, counter_type, decided_from, score_type
from retrograde.solver.values.score_kernels import primitive_score

MOST_DELTAS = 8
"""The most deltas on a base."""
MOST_CHANGED = 0.25
"""The greatest share of slots that deltas may change. Beyond either limit a new base is written."""
LEAST = 1 << 15
"""Bytes of updates that are worth a file; fewer are sent with the result."""


class RangeState(NamedTuple):
    """The state of a range of *size* slots: the frames of a base and of the deltas on it. Scores have *bits* bits for
    plies. `edition` counts the bases; `changed` is the number of slots in deltas."""

    number: int
    size: int
    bits: int
    base: Frame
    deltas: tuple[Frame, ...] = ()
    edition: int = 0
    changed: int = 0

    @property
    def name(self) -> str:
        """The name of the files of the current base and its deltas."""
        return name_of(self.number, self.edition)

    def read(self, scratch: Scratch) -> tuple[Array, Array]:
        """Return copies of the scores and the undecided-children counters."""
        scores, children_left = (array.copy() for array in split_fields(scratch.read(self.base), self.bits, self.size))
        for delta in self.deltas:
            content = scratch.read(delta)
            count = len(content) // (4 + scores.itemsize + children_left.itemsize)  # a slot is a uint32
            slots = np.frombuffer(content, np.uint32, count)
            scores[slots], children_left[slots] = split_fields(content[4 * count :], self.bits, count)
        return scores, children_left

    def with_draws(self, scratch: Scratch) -> Array:
        """Return the final scores: every undecided slot becomes a draw."""
        scores, children_left = self.read(scratch)
        scores[children_left < decided_from(children_left)] = DRAW_CLASS << self.bits
        return scores

    def update(self, scratch: Scratch, scores: Array, children_left: Array, slots: Array) -> "RangeState":
        """Write the changed *slots* of a range to disk and return its new state."""
        if not len(slots):
            return self
        changed = self.changed + len(slots)
        if len(self.deltas) == MOST_DELTAS or changed > MOST_CHANGED * self.size:
            return write_base(scratch, self.number, self.edition + 1, scores, children_left, self.bits)
        content = to_bytes(slots.astype(np.uint32), scores[slots], children_left[slots])
        delta = scratch.write(self.name, content, uncompressed=True)
        return self._replace(deltas=(*self.deltas, delta), changed=changed)


def name_of(number: int, edition: int) -> str:
    """Return the name of the files of a range with this edition of its base."""
    return f"range{number}.{edition}"


def write_base(
    scratch: Scratch, number: int, edition: int, scores: Array, children_left: Array, bits: int
) -> RangeState:
    """Write a base of a range to disk and return its state."""
    base = scratch.write(name_of(number, edition), to_bytes(scores, children_left), uncompressed=True)
    return RangeState(number, len(children_left), bits, base, edition=edition)


def to_bytes(*arrays: Array) -> memoryview:
    """Return the bytes of some arrays, concatenated."""
    return np.concatenate([array.view(np.uint8) for array in arrays]).data


def split_fields(content: bytes | memoryview, bits: int, count: int) -> tuple[Array, Array]:
    """Return views of the scores and counters of *count* slots in *content*."""
    scores = np.frombuffer(content, score_type(bits), count)
    return scores, np.frombuffer(content, counter_type(bits), count, scores.nbytes)


class RangeResults(NamedTuple):
    """The results of a task for each range: in frames, or *here* in memory if they are small.

    In frames: `rows` int64[ranges, 4] are the fields of a frame after its name, all 0 for no frame. In memory: `rows`
    int64[ranges + 1] are the bounds of each range's part in *here*.
    """

    name: str
    rows: Array
    here: Array | None = None

    def ranges(self) -> list[int]:
        """Return the numbers of the ranges that have a result, a frame or some items *here*."""
        lengths = self.rows[:, 2] if self.here is None else np.diff(self.rows)
        numbers: list[int] = np.flatnonzero(lengths).tolist()
        return numbers

    def result(self, number: int) -> "RangeResult":
        """Return the result for a range: its frame, or its part of *here*."""
        if self.here is not None:
            return self.here[self.rows[number] : self.rows[number + 1]]
        return self.frame(number)

    def frame(self, number: int) -> Frame:
        """Return the frame for a range."""
        return Frame(self.name, *self.rows[number].tolist())

    def all_frames(self) -> Iterator[Frame]:
        """Yield the frames of all ranges, for checkpoints (see runtime/log.py)."""
        return map(self.frame, self.ranges() if self.here is None else ())


RangeResult = Frame | Array


def write_results(scratch: Scratch, name: str, parts: list[Array], uncompressed: bool) -> RangeResults:
    """Write a part for each range to disk, compressed or not; empty parts get no frame."""
    nothing = Frame(name, 0, 0, 0, 0)
    frames = [scratch.write(name, part.view(np.uint8).data, uncompressed) if len(part) else nothing for part in parts]
    return RangeResults(name, np.array([frame[1:] for frame in frames], np.int64))


def read_result(scratch: Scratch, result: RangeResult, dtype: Any) -> Array:
    """Return the items of a result, read from disk if it is a frame."""
    return np.frombuffer(scratch.read(result, once=True), dtype) if isinstance(result, Frame) else result


PARENTS = "parents"
"""The name of the files with predecessor lists."""


class AssembledRange(NamedTuple):
    """An assembled range: its first state, the predecessor lists of its slots, and how many are decided."""

    state: RangeState
    parents: StoredParentLists
    decided: int


def assemble(
    scratch: Scratch, layout: BucketLayout, number: int, bits: int, blocks: list[Frame], edges: list[Frame]
) -> AssembledRange:
    """Write the predecessor lists and the first state of range *number* to disk; return where they are. *blocks* have
    the scores and counters of its slots, and *edges* lead into it."""
    # Step 1: invert the edges that lead into this range.
    spilled = [SpilledEdges(number, frame, np.array([frame.size])) for frame in edges]
    lists = invert_edges(BucketEdges([], spilled), layout, number, scratch)
    frame = scratch.write(PARENTS, to_bytes(lists.begins, lists.parents), uncompressed=True)
    parents = StoredParentLists(frame, layout.size(number), lists.begins.dtype.str, lists.parents.dtype.str)
    # Step 2: concatenate the scores and counters of its blocks.
    slot_bytes = sum(array.itemsize for array in split_fields(b"", bits, 0))
    fields = [split_fields(scratch.read(block), bits, block.size // slot_bytes) for block in blocks]
    scores, children_left = (np.concatenate(arrays) for arrays in zip(*fields, strict=True))
    decided = int(np.count_nonzero(children_left >= decided_from(children_left)))
    return AssembledRange(write_base(scratch, number, 0, scores, children_left, bits), parents, decided)


class StepTask(NamedTuple):
    """Task: one step of propagation in a range (see Propagation).

    At remoteness 0 the step starts from primitive positions. *group* is WIN_CLASS for wins and losses, or TIE_CLASS.
    There are *ranges* ranges of `2**shift` slots. *due*: slots are to be decided now because of children in later
    tiers.
    """

    scratch: Scratch
    ranges: int
    shift: int
    state: RangeState
    parents: StoredParentLists
    group: int
    remoteness: int
    due: bool
    updates: list[RangeResult]


class StepResult(NamedTuple):
    """Result of a step: the new state, `updates` for the parents, and the remotenesses at which more slots fall `due`.
    `decided` is the number of newly decided slots."""

    state: RangeState
    updates: RangeResults
    due: list[int]
    decided: int


def run_steps(name: str, steps: list[StepTask]) -> list[StepResult]:
    """Task: run some steps, one after another. Their updates are written to files under *name*."""
    return [run_step(name, step) for step in steps]


def run_step(name: str, task: StepTask) -> StepResult:
    """Decide slots of a range by the updates for it; return the updates for these slots' parents, in files *name*."""
    scores, children_left = task.state.read(task.scratch)
    if task.remoteness == 0:  # nothing is decided: the primitive slots only update their parents
        state, decided = task.state, 0
        frontier, late = primitive_frontier(task, scores, children_left)
    else:
        before = children_left.copy()
        frontier, late = decide(task, scores, children_left)
        changed = np.flatnonzero(children_left != before)
        state, decided = task.state.update(task.scratch, scores, children_left, changed), len(frontier)
    updates = updates_for_parents(name, task, frontier, scores)
    return StepResult(state, updates, remotenesses(late, state.bits), decided)


def primitive_frontier(task: StepTask, scores: Array, children_left: Array) -> tuple[Array, Array]:
    """Return the primitive slots of the task's class, and the scores of slots that later tiers decide."""
    bits, decided = task.state.bits, decided_from(children_left)
    wanted = [primitive_score(value, bits) for value in ((WIN, LOSE) if task.group == WIN_CLASS else (TIE,))]
    primitive = np.flatnonzero(np.isin(scores, wanted) & (children_left >= decided))
    return primitive, scores[due_mask(scores, children_left, task.group, bits)]


def decide(task: StepTask, scores: Array, children_left: Array) -> tuple[Array, Array]:
    """Decide slots; return them, and the scores of those that are to be decided later."""
    bits, decided, plies_mask = task.state.bits, decided_from(children_left), (1 << task.state.bits) - 1
    # The scores of a parent with a good child, and of one whose children are all bad.
    better = (task.group << bits) | (plies_mask - task.remoteness)
    lose = (LOSE_CLASS << bits) | task.remoteness
    decision = kernels.Decision(better, lose, plies_mask, decided)
    settled, late = [], [np.empty(0, np.int64)]
    # Step 1: apply the updates.
    for result in task.updates:
        updates = read_result(task.scratch, result, np.uint32)
        new, later = np.empty((2, len(updates)), np.int64)
        count, late_count = kernels.apply_updates(updates, decision, scores, children_left, new, later)
        settled.append(new[:count])
        late.append(later[:late_count])
    # Step 2: decide slots whose best child is in a later tier and that no update has decided earlier.
    if task.due:
        # A WIN or TIE is due at any counter of an undecided slot, a LOSE only when no undecided child is left.
        for score, most_left in ((better, decided - 1), (lose, 0)):
            due = np.flatnonzero((scores == score) & (children_left <= most_left))
            children_left[due] = decided
            settled.append(due)
    return np.concatenate([np.empty(0, np.int64), *settled]), scores[np.concatenate(late)]


def updates_for_parents(name: str, task: StepTask, frontier: Array, scores: Array) -> RangeResults:
    """Return the updates for the parents of newly decided slots (*frontier*); many are in a file under *name*."""
    bounds = np.zeros(task.ranges + 1, np.int64)
    if not len(frontier):
        return RangeResults("", bounds, np.empty(0, np.uint32))
    lists = task.parents.read(task.scratch)
    kernels.count_updates(frontier, lists, task.shift, bounds[1:])
    np.cumsum(bounds, out=bounds)
    updates = np.empty(int(bounds[-1]), np.uint32)
    kernels.sort_updates(frontier, scores, task.state.bits, lists, task.shift, bounds[:-1].copy(), updates)
    if updates.nbytes < LEAST:
        return RangeResults("", bounds, updates)
    return write_results(task.scratch, name, np.split(updates, bounds[1:-1]), uncompressed=True)


def remotenesses(scores: Array, bits: int) -> list[int]:
    """Return the distinct remotenesses of some scores.

    >>> from retrograde.solver.values.score import encode
    >>> remotenesses(np.array([encode(WIN, 3, 8), encode(LOSE, 4, 8), encode(LOSE, 4, 8)]), 8)
    [3, 4]
    """
    plies_mask = (1 << bits) - 1
    plies = scores.astype(np.int64) & plies_mask  # counted down from the mask, except in a LOSE
    distinct: list[int] = np.unique(np.where(scores >> bits == LOSE_CLASS, plies, plies_mask - plies)).tolist()
    return distinct
