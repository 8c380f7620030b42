"""Verifies a sample of a new database with the interpreted rules, before the file gets its name.

What is stored for a position must follow from what is stored for its children; values and remotenesses must follow at
every image looked at. Otherwise either the rules break the contract, or the solver has a bug. By other metrics this
proves less than `verify` does, where play can go round, since it looks one move ahead.
"""

import time
from collections.abc import Iterator
from itertools import count, islice
from random import Random

import numpy as np

from retrograde.databases import Database
from retrograde.databases.reader import SlotReader
from retrograde.databases.records.read import RecordsReader
from retrograde.databases.rows.read import RowsReader
from retrograde.games.catalog import variant
from retrograde.games.contract.game import Contradiction, Game, Traits, is_none
from retrograde.games.contract.raised import given_start
from retrograde.games.contract.zeroing import PROGRESS_METRICS
from retrograde.solver.rules.examine import blame, examine, key_of, to_list
from retrograde.solver.rules.no_exit import no_exit
from retrograde.solver.verification.expectation import wrong_expectations
from retrograde.solver.verification.families import families_at
from retrograde.solver.verification.judge import OutcomeJudge, images_of, text_of
from retrograde.solver.verification.metrics import CHECKS_BY_CHILDREN

SECONDS = 0.1
"""Seconds for the whole sample, unless single positions take longer."""
LEAST = 20
"""Positions that are verified even if time is over."""
PLIES = 1000
"""The most plies of a random game."""
BLOCKS = 30
"""Blocks of the file from which records are sampled."""
EXAMPLES = 10_000
"""The most examples of a legend that are verified."""
IMAGES = 2
"""The most images of a position that are verified."""


def verify_sample(database: Database, seconds: float = SECONDS) -> None:
    """Raise Contradiction if what is stored does not follow from the interpreted rules at a sampled position.

    It takes about *seconds*. Databases of a best response to a model are skipped: the model would have to be consulted.
    Raises DamagedDatabase if the file cannot be read.
    """
    if "against" in database.file.details:
        return
    game, deadline = database.game, time.monotonic() + seconds
    by_measures = bool(database.file.measures) and database.metric not in PROGRESS_METRICS
    step = LEAST if by_measures else 1  # measures are checked by arrays, several positions at once
    sample = positions_of(database)
    with no_exit():
        for done in count(step=step):
            positions = list(islice(sample, step))
            if not positions or (done >= LEAST and time.monotonic() > deadline):
                break
            number, fault = measure_fault(database, positions) if by_measures else (0, fault_at(database, positions[0]))
            if fault:
                position = positions[number]
                text = f"{variant(game)}, position {position}: {text_of(game, position)} {fault}"
                raise Contradiction(" ".join(text.split()))  # on one line


def measure_fault(database: Database, positions: list[int]) -> tuple[int, str]:
    """Return (number of the first position with wrong measures, what is wrong); (0, "") if none has."""
    game, metric, details = database.game, database.metric, dict(database.file.details)
    canonical = []
    for position in positions:
        with blame(game, position):
            canonical.append(game.canonical(position))
    families = families_at(database, canonical)
    if metric == "expectation":
        wrong = wrong_expectations(families, game, int(details["scale"]))
    else:
        wrong = CHECKS_BY_CHILDREN[metric](families, details)
    wrong = np.flatnonzero(wrong[: len(positions)])
    return (int(wrong[0]), f"is not worth what follows from its children ({metric})") if len(wrong) else (0, "")


def fault_at(database: Database, position: int) -> str:
    """Return what is wrong with a position, canonical or not, such as "can be reached, and is not stored", or ""."""
    game = database.game
    judge = OutcomeJudge(game, database.get, metric=database.metric)
    with blame(game, position):
        canonical = game.canonical(position)
        stored = database.get(canonical)
        if stored is None:
            return "can be reached, and is not stored"
        images = images_of(game, canonical)
        if position not in images:
            return f"is stored as {text_of(game, canonical)}, which does not have it for an image"
        examined = examine(game, canonical)
        if (fault := judge.fault_in_children(canonical, stored, examined)) or not Traits.of(game).has_images:
            return fault
        other_images = [image for image in images if image != canonical]
        # The position seeds the choice of images, so that a fault can be reproduced.
        chosen = Random(key_of(canonical)).sample(other_images, min(IMAGES, len(other_images)))
        return judge.fault_in_images(canonical, stored, examined, chosen)


def positions_of(database: Database) -> Iterator[int]:
    """Yield the starts and the legend's examples, then alternate between random games and stored positions."""
    game, random = database.game, Random(0)
    start = given_start(game)
    starts = [] if start is None else list(dict.fromkeys([start, *game.starts]))
    legend = database.file.legend
    rows = range(len(legend)) if len(legend) <= EXAMPLES else random.sample(range(len(legend)), EXAMPLES)
    examples = [legend[row].example for row in rows]
    yield from starts
    yield from random.sample(examples, len(examples))
    # Alternate between the two sources, LEAST positions at a time, until both are exhausted or the caller stops.
    sources = [random_games(game, starts or examples, random), stored_positions(database, random)]
    while sources:
        for source in list(sources):
            positions = list(islice(source, LEAST))
            yield from positions
            if not positions:
                sources.remove(source)


def random_games(game: Game, starts: list[int], random: Random) -> Iterator[int]:
    """Yield the positions of random games, endlessly. Each game begins at one of *starts*."""
    while True:
        position = random.choice(starts)
        for _ in range(PLIES):
            yield position
            with blame(game, position):
                if game.primitive(position):
                    break
                position = game.do_move(position, random.choice(list(game.generate_moves(position))))


def stored_positions(database: Database, random: Random) -> Iterator[int]:
    """Yield positions of random records or slots; nothing if the file holds no positions."""
    contents = database.file.contents
    if isinstance(contents, RecordsReader | RowsReader):
        for block in random.sample(range(contents.block_count), min(BLOCKS, contents.block_count)):
            positions = [position for chunk in contents.records_in(block) for position in to_list(chunk.positions)]
            yield from random.sample(positions, min(len(positions), LEAST))
    elif isinstance(contents, SlotReader):
        numbers, bounds = contents.tiers
        for _ in range(contents.slots):
            slot = random.randrange(contents.slots)
            k = int(bounds.searchsorted(slot, "right")) - 1
            position = database.game.unindex(int(numbers[k]), slot - int(bounds[k]))
            if not is_none(position):
                yield position
