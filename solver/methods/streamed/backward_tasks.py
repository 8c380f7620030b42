"""Tasks of the backward sweep: score segments of positions by the steps of their children, and store their steps."""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.contract.game import Game, RuleError
from retrograde.solver.methods.streamed.backward_kernels import ScoringTables, score_lists
from retrograde.solver.methods.streamed.forward_kernels import ALL
from retrograde.solver.methods.streamed.forward_tasks import raise_fault
from retrograde.solver.methods.streamed.lists import AT, BLOCK, LIST_COLUMNS, SIZE
from retrograde.solver.methods.streamed.segments import (
    SEGMENT,
    Segment,
    SegmentLoader,
    StreamContext,
    WrongAssumption,
    buffer,
    load,
)
from retrograde.solver.methods.streamed.steps import (
    TALLIED,
    TIER_COLUMNS,
    LoadedSteps,
    ScoredLists,
    StepBuffers,
    load_steps,
    make_steps,
)
from retrograde.solver.rules.examine import or_a_bug
from retrograde.solver.rules.expansion import compiling
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.trouble_codes import Trouble
from retrograde.solver.runtime.driver import Done
from retrograde.solver.runtime.tasks import workspace

Array = np.ndarray[Any, Any]

SOLVED_SEGMENT = np.dtype([("tier", np.int64), ("segment", np.int64), ("steps", SEGMENT), ("records", SEGMENT)])
"""A row for each solved segment: its tier, its number there, its steps, and its steps for the database (`records`)."""

Edge = tuple[int, int, int, bool]
"""(A move or ALL, a tier that it leads to, the number of its steps in the task, whether children must ascend.)

Children must ascend if only part of the tier's steps are loaded.
"""


class UnsolvedSegment(NamedTuple):
    """Segment number k of a tier, the tier's mask, and the edges out of the segment."""

    tier: int
    mask: int
    k: int
    segment: Segment
    edges: list[Edge]


class BackwardTask(NamedTuple):
    """Segments of a wave to be solved.

    `steps` are the steps needed, by tier. `codes` is the number of rows of a tally.
    """

    stream: StreamContext
    wave: int
    segments: list[UnsolvedSegment]
    steps: list[list[Segment]]
    codes: int


def solve_segments(task: BackwardTask) -> Done | WrongAssumption:
    """Solve some segments of a wave and store their steps.

    Returns (wave, rows of SOLVED_SEGMENT, tally by code), or a WrongAssumption if one turns out wrong.
    """
    scored = score(task)
    if isinstance(scored, WrongAssumption):
        return scored
    segments, scratch = task.segments, task.stream.scratch
    # Reserve space: a segment has at most a step for each position.
    lengths = [one.segment.length for one in segments]
    starts, codes = workspace("steps", max(lengths)), workspace("codes", max(lengths), np.uint16)
    for_parents, for_database = (buffer(name, sum(lengths), len(segments)) for name in ("out", "more"))
    rows = np.zeros((len(segments), 2, LIST_COLUMNS), np.int64)
    lists = np.array([(one.segment.length, one.tier, one.mask) for one in segments], np.int64)
    tally = np.zeros((task.codes, TALLIED), np.int64)
    make_steps(scored, lists, tally, StepBuffers(starts, codes, for_parents, for_database, rows))
    # Both lists of steps go to scratch files: the first is dropped when the wave before is solved.
    sizes = (rows[:, :, AT] + rows[:, :, SIZE]).max(axis=0).tolist()
    frame = scratch.write(f"steps{task.wave}", for_parents.view(np.uint8)[: sizes[0]].data)
    kept_frame = scratch.write("records", for_database.view(np.uint8)[: sizes[1]].data)
    solved = [
        (one.tier, one.k, (*frame[1:], *steps), (*kept_frame[1:], *records))
        for one, (steps, records) in zip(segments, rows.tolist(), strict=True)
    ]
    return np.array([task.wave], np.int64), np.array(solved, SOLVED_SEGMENT).view(np.int64), tally.ravel()


def score(task: BackwardTask) -> ScoredLists | WrongAssumption:
    game = task.stream.game
    loader = SegmentLoader(task.stream.scratch)
    # Step 1: Load the positions and list the edges.
    lists, edges = list[tuple[int, ...]](), list[tuple[int, ...]]()
    for one in task.segments:
        lists.append((loader.add(one.segment), len(edges), len(edges) + len(one.edges)))
        edges += [(*edge, -1, 0) for edge in one.edges]
    # Step 2: Load the steps of the children. Each tier gets two more, at its ends (see `load_steps`).
    rows = []
    for steps in task.steps:
        begin = len(loader.rows)
        for segment in steps:
            loader.add(segment)
        rows.append((begin, len(loader.rows)))
    arena = loader.load()
    needed = sum(segment.length for steps in task.steps for segment in steps) + 2 * len(rows)
    loaded = LoadedSteps(
        workspace("starts", needed), workspace("passed", needed, np.uint16), workspace("buckets", needed, np.int32),
        np.empty((len(rows), TIER_COLUMNS), np.int64),
    )  # fmt: skip
    load_steps(arena, np.array(rows, np.int64), loaded)
    # Step 3: Score the positions.
    count = sum(one.segment.length for one in task.segments)
    scored = ScoredLists(
        workspace("numbers", count + BLOCK), workspace("scores", count, np.uint16), workspace("sizes", count + BLOCK)
    )
    tables, trouble = ScoringTables(np.array(lists, np.int64), np.array(edges, np.int64)), np.zeros(4, np.int64)
    with compiling(game, trouble):
        score_lists(rules_for(game), arena, tables, loaded, scored, trouble)
    return scored if trouble[0] == Trouble.FINE else wrong_assumption(task, game, trouble)


def wrong_assumption(task: BackwardTask, game: Game, trouble: Array) -> WrongAssumption:
    """Return the WrongAssumption that *trouble* stands for; raise a RuleError if the rules break the contract."""
    kind, one, move = Trouble(int(trouble[0])), task.segments[int(trouble[2])], int(trouble[3])
    if kind == Trouble.BROKEN:
        raise_fault(game, load(task.stream.scratch, [one.segment]).tolist())
    if kind == Trouble.UNSORTED or (kind == Trouble.OTHER_TIER and one.edges[0][0] != ALL):
        return WrongAssumption(kind, one.tier, move)
    raise RuleError(
        f"{variant(game)}, tier {one.tier}: a child is not among the positions found before; the rules must depend on "
        f"the position alone. {or_a_bug(game)}"
    )
