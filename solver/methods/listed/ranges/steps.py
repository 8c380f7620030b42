"""Tasks of propagation by ranges: assemble a range, and run a step of a range.

updates for a range --step--> newly decided slots --their parents--> updates for all ranges, sorted
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import LOSE, TIE, WIN
from retrograde.solver.methods.listed.predecessors.sorting import (
    BucketEdges,
    BucketLayout,
    InvertTask,
    SpilledEdges,
    StoredParentLists,
    invert_edges,
)
from retrograde.solver.methods.listed.ranges import kernels
from retrograde.solver.methods.listed.ranges.files import (
    LEAST,
    RangeResult,
    RangeResults,
    RangeState,
    read_result,
    split_fields,
    to_bytes,
    write_base,
    write_results,
)
from retrograde.solver.runtime.scratch import Frame, Scratch
from retrograde.solver.values import propagation_kernels
from retrograde.solver.values.score import LOSE_CLASS, TIE_CLASS, WIN_CLASS, decided_from
from retrograde.solver.values.score_kernels import primitive_score

Array = np.ndarray[Any, Any]

PARENTS = "parents"
"""The name of the files with predecessor lists."""


class AssembleTask(NamedTuple):
    """Task: assemble a range from the *blocks* of expanded slots, and invert the *edges* that lead into it."""

    scratch: Scratch
    layout: BucketLayout
    number: int
    bits: int
    blocks: list[Frame]
    edges: list[Frame]


class AssembledRange(NamedTuple):
    """An assembled range: its first state, the predecessor lists of its slots, and how many are decided."""

    state: RangeState
    parents: StoredParentLists
    decided: int


def assemble(task: AssembleTask) -> AssembledRange:
    """Assemble a range: write its predecessor lists and its first state to disk."""
    scratch, number = task.scratch, task.number
    # Step 1: invert the edges that lead into this range.
    edges = BucketEdges([], [SpilledEdges(number, frame, np.array([frame.size])) for frame in task.edges])
    lists = invert_edges(InvertTask(edges, task.layout, number, scratch))
    frame = scratch.write(PARENTS, to_bytes(lists.begins, lists.parents), plain=True)
    parents = StoredParentLists(frame, task.layout.size(number), lists.begins.dtype.str, lists.parents.dtype.str)
    # Step 2: concatenate the scores and counters of its blocks.
    slot_bytes = sum(array.itemsize for array in split_fields(b"", task.bits, 0))
    read = [split_fields(scratch.read(block), task.bits, block.size // slot_bytes) for block in task.blocks]
    scores, left = (np.concatenate(arrays) for arrays in zip(*read, strict=True))
    decided = int(np.count_nonzero(left >= decided_from(left)))
    return AssembledRange(write_base(scratch, number, 0, scores, left, task.bits), parents, decided)


class StepTask(NamedTuple):
    """Task: one step of propagation in a range (see Propagation).

    At remoteness 0 the step starts from primitive positions. *group* is WIN_CLASS for wins and losses, or TIE_CLASS.
    There are *ranges* ranges of `2**shift` slots. *due* says whether slots are to be decided now because of children in
    later tiers.
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


class StepsTask(NamedTuple):
    """Task: some steps, one after another. Their updates are written to files under *name*."""

    name: str
    steps: list[StepTask]


class StepResult(NamedTuple):
    """Result of a step.

    `updates` are for the parents. `due` has the remotenesses at which more slots become due. `decided` is the number of
    newly decided slots.
    """

    state: RangeState
    updates: RangeResults
    due: list[int]
    decided: int


def run_steps(task: StepsTask) -> list[StepResult]:
    """Run some steps."""
    return [run_step(task.name, step) for step in task.steps]


def run_step(name: str, task: StepTask) -> StepResult:
    """Run a step of a range."""
    scores, left = task.state.read(task.scratch)
    if task.remoteness == 0:  # nothing is decided: the primitive slots only update their parents
        state, decided = task.state, 0
        frontier, late = primitive_frontier(task, scores, left)
    else:
        before = left.copy()
        frontier, late = decide(task, scores, left)
        state, decided = task.state.update(task.scratch, scores, left, np.flatnonzero(left != before)), len(frontier)
    updates = updates_for_parents(name, task, frontier, scores)
    return StepResult(state, updates, remotenesses(late, state.bits), decided)


def primitive_frontier(task: StepTask, scores: Array, left: Array) -> tuple[Array, Array]:
    """Return the primitive slots of the class, and the scores of slots that later tiers decide."""
    bits, decided = task.state.bits, decided_from(left)
    out = np.empty(len(left), np.int64)
    values = (WIN, LOSE) if task.group == WIN_CLASS else (TIE,)
    found = []
    for value in values:
        score = primitive_score(value, bits)
        found.append(out[: propagation_kernels.find_scored(scores, left, 0, score, decided, decided + 1, out)].copy())
    late = out[: propagation_kernels.find_due(scores, left, 0, decided, task.group, bits, out)]
    return np.concatenate(found), scores[late]


def decide(task: StepTask, scores: Array, left: Array) -> tuple[Array, Array]:
    """Decide slots; return them, and the scores of those that are to be decided later."""
    bits, decided, greatest = task.state.bits, decided_from(left), (1 << task.state.bits) - 1
    # The scores of a parent with a good child, and of one whose children are all bad.
    better = (TIE_CLASS if task.group == TIE_CLASS else WIN_CLASS) << bits | greatest - task.remoteness
    lose = LOSE_CLASS << bits | task.remoteness
    decision = kernels.Decision(better, lose, greatest, decided)
    settled, late = [], [np.empty(0, np.int64)]
    # Step 1: apply the updates.
    for result in task.updates:
        updates = read_result(task.scratch, result, np.uint32)
        new, later = np.empty((2, len(updates)), np.int64)
        count, waiting = kernels.apply_updates(updates, decision, scores, left, new, later)
        settled.append(new[:count])
        late.append(later[:waiting])
    # Step 2: decide slots whose best child is in a later tier and that no update has decided earlier.
    if task.due:
        out = np.empty(len(left), np.int64)
        for score, low, high in ((better, 0, decided - 1), (lose, 0, 0)):
            due = out[: propagation_kernels.find_scored(scores, left, 0, score, low, high, out)].copy()
            settled.append(out[: propagation_kernels.settle(due, decided, score, scores, left, out)].copy())
    return np.concatenate([np.empty(0, np.int64), *settled]), scores[np.concatenate(late)]


def updates_for_parents(name: str, task: StepTask, frontier: Array, scores: Array) -> RangeResults:
    """Return the updates for the parents of newly decided slots."""
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
    return write_results(task.scratch, name, np.split(updates, bounds[1:-1]), plain=True)


def remotenesses(scores: Array, bits: int) -> list[int]:
    """Return the distinct remotenesses of some scores."""
    greatest = (1 << bits) - 1
    numbers = scores.astype(np.int64) & greatest
    found: list[int] = np.unique(np.where(scores >> bits == LOSE_CLASS, numbers, greatest - numbers)).tolist()
    return found
