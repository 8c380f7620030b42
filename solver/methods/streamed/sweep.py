"""Tasks of the way back: score segments of positions by the steps of their children, and write their own steps."""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.contract.game import Game, RuleError
from retrograde.solver.methods.streamed.kernels import ALL
from retrograde.solver.methods.streamed.lists import BLOCK, MADE
from retrograde.solver.methods.streamed.produce import complain
from retrograde.solver.methods.streamed.segments import SEGMENT, Loader, Segment, Stream, Surprise, buffer, load
from retrograde.solver.methods.streamed.steps import SPANS, TALLIED, Making, Scored, Steps, load_steps, make_steps
from retrograde.solver.methods.streamed.sweep_kernels import Plan
from retrograde.solver.methods.streamed.sweep_kernels import sweep as sweep_kernel
from retrograde.solver.rules import compiled
from retrograde.solver.rules.expansion import compiling
from retrograde.solver.rules.trouble_codes import Trouble
from retrograde.solver.runtime.driver import Done
from retrograde.solver.runtime.tasks import room

Array = np.ndarray[Any, Any]

SOLVED = np.dtype([("tier", np.int64), ("segment", np.int64), ("steps", SEGMENT), ("records", SEGMENT)])
"""A row for each solved segment: its tier, its number there, its steps, and its steps for the database (`records`)."""

Link = tuple[int, int, int, bool]
"""(A move or ALL, a tier that it leads to, the number of its steps in the task, whether children must ascend.)

Children must ascend if only part of the tier's steps are loaded.
"""


class Unit(NamedTuple):
    """Segment number k of a tier, the tier's mask, and the links out of the segment."""

    tier: int
    mask: int
    k: int
    segment: Segment
    links: list[Link]


class Task(NamedTuple):
    """Segments of a wave to be solved.

    `steps` are the steps needed, by tier. `codes` is the number of rows of a tally.
    """

    stream: Stream
    wave: int
    units: list[Unit]
    steps: list[list[Segment]]
    codes: int


def sweep(task: Task) -> Done | Surprise:
    """Solve some segments of a wave and store their steps.

    Returns (wave, rows of SOLVED, tally by code), or a Surprise if an assumption about a tier turns out wrong.
    """
    scored = score(task)
    if isinstance(scored, Surprise):
        return scored
    units, scratch = task.units, task.stream.scratch
    # Reserve space: a segment has at most a step for each position.
    lengths = [unit.segment.length for unit in units]
    starts, codes = room("steps", max(lengths)), room("codes", max(lengths), np.uint16)
    of_all, kept = (buffer(name, sum(lengths), len(units)) for name in ("out", "more"))
    making = Making(starts, codes, of_all, kept, np.zeros((len(units), 2, MADE), np.int64))
    lists = np.array([(unit.segment.length, unit.tier, unit.mask) for unit in units], np.int64)
    tally = np.zeros((task.codes, TALLIED), np.int64)
    make_steps(scored, lists, tally, making)
    # Both lists of steps go to scratch files: the first is dropped when the wave before is solved.
    sizes = (making.made[:, :, 0] + making.made[:, :, 1]).max(axis=0).tolist()
    frame = scratch.write(f"steps{task.wave}", of_all.bytes[: sizes[0]].data)
    kept_frame = scratch.write("records", kept.bytes[: sizes[1]].data)
    rows = [
        (unit.tier, unit.k, (*frame[1:], *made[0]), (*kept_frame[1:], *made[1]))
        for unit, made in zip(units, making.made.tolist(), strict=True)
    ]
    return np.array([task.wave], np.int64), np.array(rows, SOLVED).view(np.int64), tally.ravel()


def score(task: Task) -> Scored | Surprise:
    """Return the scored positions of a task's segments."""
    game, units = task.stream.game, task.units
    compiled.prepare(game)
    loader = Loader(task.stream.scratch)
    table: list[tuple[int, ...]] = []
    links: list[tuple[int, ...]] = []
    # Step 1: Load the positions and list the links.
    for unit in units:
        table.append((loader.add(unit.segment), len(links), len(links) + len(unit.links)))
        links += [(*link, -1, 0) for link in unit.links]
    rows = []
    # Step 2: Load the steps of the children. Each tier gets two more, at its ends (see `load_steps`).
    for steps in task.steps:
        begin = len(loader.rows)
        for segment in steps:
            loader.add(segment)
        rows.append((begin, len(loader.rows)))
    arena = loader.load()
    needed = sum(segment.length for steps in task.steps for segment in steps) + 2 * len(rows)
    steps_loaded = Steps(
        room("starts", needed), room("passed", needed, np.uint16), room("buckets", needed, np.int32),
        np.empty((len(rows), SPANS), np.int64),
    )  # fmt: skip
    load_steps(arena, np.array(rows, np.int64), steps_loaded)
    # Step 3: Score the positions.
    count = sum(unit.segment.length for unit in units)
    scored = Scored(room("numbers", count + BLOCK), room("scores", count, np.uint16), room("sizes", count + BLOCK))
    trouble = np.zeros(4, np.int64)
    with compiling(game, trouble):
        plan = Plan(np.array(table, np.int64), np.array(links, np.int64))
        sweep_kernel(game, arena, plan, steps_loaded, scored, trouble)
    return scored if trouble[0] == Trouble.FINE else surprise(task, game, trouble)


def surprise(task: Task, game: Game, trouble: Array) -> Surprise:
    """Return the Surprise that *trouble* stands for; raise a RuleError if the rules break the contract."""
    kind, unit, move = Trouble(int(trouble[0])), task.units[int(trouble[2])], int(trouble[3])
    if kind == Trouble.BROKEN:
        complain(game, load(task.stream.scratch, [unit.segment]).tolist())
    if kind == Trouble.UNSORTED or (kind == Trouble.OTHER_TIER and unit.links[0][0] != ALL):
        return Surprise(kind, unit.tier, move)
    raise RuleError(
        f"{variant(game)}, tier {unit.tier}: the rules give moves that they did not give before; "
        "they must depend on the position alone"
    )
