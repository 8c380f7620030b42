"""Tasks of propagation by ranges: assemble a range, and run a step of a range.

updates for a range --step--> newly decided slots --their parents--> updates for all ranges, sorted
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import LOSE, TIE, WIN
from retrograde.solver.methods.listed.predecessors.sorting import Heap, PutPart, Turning, turned
from retrograde.solver.methods.listed.ranges import kernels
from retrograde.solver.methods.listed.ranges.files import (
    LEAST,
    Section,
    Sections,
    State,
    fields,
    joined,
    put,
    taken,
    written,
)
from retrograde.solver.runtime.scratch import Frame, Scratch
from retrograde.solver.values import propagation_kernels
from retrograde.solver.values.score import LOSE_CLASS, TIE_CLASS, WIN_CLASS, decided_from
from retrograde.solver.values.score_kernels import primitive_score

Array = np.ndarray[Any, Any]

PARENTS = "parents"
"""The name of the files with predecessor lists."""


class Turn(NamedTuple):
    """Task: assemble a range from the pieces of expanded slots, and invert the edges that lead into it."""

    scratch: Scratch
    number: int
    size: int
    width: int
    wide: bool
    bits: int
    pieces: list[Frame]
    links: list[Frame]


class Turned(NamedTuple):
    """An assembled range: its first state, the predecessor lists of its slots, and how many are decided."""

    state: State
    parents: PutPart
    decided: int


def turn(task: Turn) -> Turned:
    """Assemble a range: write its predecessor lists and its first state to disk."""
    scratch, size = task.scratch, task.size
    # Step 1: invert the edges that lead into this range.
    heap = Heap([], [(frame, np.array([frame.size])) for frame in task.links])
    part = turned(Turning(heap, size, task.width, task.wide, scratch, PARENTS))
    frame = scratch.write(PARENTS, joined(part.begins, part.parents), plain=True)
    parents = PutPart(frame, size, part.begins.dtype.str, part.parents.dtype.str)
    # Step 2: concatenate the scores and counters of its pieces.
    slot = sum(array.itemsize for array in fields(b"", task.bits, 0))
    read = [fields(scratch.read(piece), task.bits, piece.size // slot) for piece in task.pieces]
    scores, left = (np.concatenate(arrays) for arrays in zip(*read, strict=True))
    decided = int(np.count_nonzero(left >= decided_from(left)))
    return Turned(written(scratch, task.number, 0, scores, left, task.bits), parents, decided)


class Step(NamedTuple):
    """Task: one step of propagation in a range (see Propagation).

    At remoteness 0 the step starts from primitive positions. *group* is WIN_CLASS for wins and losses, or TIE_CLASS.
    There are *ranges* ranges of `2**shift` slots. *due* says whether slots are to be decided now because of children in
    later tiers.
    """

    scratch: Scratch
    ranges: int
    shift: int
    state: State
    parents: PutPart
    group: int
    remoteness: int
    due: bool
    updates: list[Section]


class Steps(NamedTuple):
    """Task: some steps, one after another. Their updates are written to files under *name*."""

    name: str
    steps: list[Step]


class Stepped(NamedTuple):
    """Result of a step.

    `updates` are for the parents. `due` has the remotenesses at which more slots become due. `decided` is the number of
    newly decided slots.
    """

    state: State
    updates: Sections
    due: list[int]
    decided: int


def do_steps(task: Steps) -> list[Stepped]:
    """Run some steps."""
    return [step(task.name, one) for one in task.steps]


def step(name: str, task: Step) -> Stepped:
    """Run a step of a range."""
    scores, left = task.state.read(task.scratch)
    before = left.copy()
    # At remoteness 0 nothing is decided: the primitive slots only update their parents.
    frontier, late = (begun if task.remoteness == 0 else gone_on)(task, scores, left)
    if task.remoteness:
        state = task.state.after(task.scratch, scores, left, np.flatnonzero(left != before))
        return Stepped(state, told(name, task, frontier, scores), plies(late, task.state.bits), len(frontier))
    return Stepped(task.state, told(name, task, frontier, scores), plies(late, task.state.bits), 0)


def begun(task: Step, scores: Array, left: Array) -> tuple[Array, Array]:
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


def gone_on(task: Step, scores: Array, left: Array) -> tuple[Array, Array]:
    """Decide slots; return them, and the scores of those that are to be decided later."""
    bits, decided, greatest = task.state.bits, decided_from(left), (1 << task.state.bits) - 1
    # The scores of a parent with a good child, and of one whose children are all bad.
    better = (TIE_CLASS if task.group == TIE_CLASS else WIN_CLASS) << bits | greatest - task.remoteness
    lose = LOSE_CLASS << bits | task.remoteness
    settled, late = [], [np.empty(0, np.int64)]
    # Step 1: apply the updates.
    for section in task.updates:
        updates = taken(task.scratch, section, np.uint32)
        new, later = np.empty((2, len(updates)), np.int64)
        count, waiting = kernels.take(updates, better, lose, greatest, decided, scores, left, new, later)
        settled.append(new[:count])
        late.append(later[:waiting])
    # Step 2: decide slots whose best child is in a later tier and that no update has decided earlier.
    if task.due:
        out = np.empty(len(left), np.int64)
        for score, low, high in ((better, 0, decided - 1), (lose, 0, 0)):
            due = out[: propagation_kernels.find_scored(scores, left, 0, score, low, high, out)].copy()
            settled.append(out[: propagation_kernels.settle(due, decided, score, scores, left, out)].copy())
    return np.concatenate([np.empty(0, np.int64), *settled]), scores[np.concatenate(late)]


def told(name: str, task: Step, frontier: Array, scores: Array) -> Sections:
    """Return the updates for the parents of newly decided slots."""
    bounds = np.zeros(task.ranges + 1, np.int64)
    if not len(frontier):
        return Sections("", bounds, np.empty(0, np.uint32))
    part = task.parents.read(task.scratch)
    kernels.count_updates(frontier, part.begins, part.parents, task.shift, bounds[1:])
    np.cumsum(bounds, out=bounds)
    updates = np.empty(int(bounds[-1]), np.uint32)
    kernels.sort_updates(
        frontier, scores, task.state.bits, part.begins, part.parents, task.shift, bounds[:-1].copy(), updates
    )
    if updates.nbytes < LEAST:
        return Sections("", bounds, updates)
    return put(task.scratch, name, np.split(updates, bounds[1:-1]), plain=True)


def plies(late: Array, bits: int) -> list[int]:
    """Return the distinct remotenesses of some scores."""
    greatest = (1 << bits) - 1
    numbers = late.astype(np.int64) & greatest
    found: list[int] = np.unique(np.where(late >> bits == LOSE_CLASS, numbers, greatest - numbers)).tolist()
    return found
