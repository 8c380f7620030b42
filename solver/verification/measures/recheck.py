"""Verifies a whole database of another metric than remoteness against the rules, record by record."""

from typing import Any, NamedTuple

import numpy as np

from retrograde.databases import Database
from retrograde.databases.bounds.read import BoundsReader
from retrograde.games.contract.game import RetrogradeError
from retrograde.solver.metrics.models.model import Model
from retrograde.solver.verification.measures.expectation import wrong_expectations
from retrograde.solver.verification.measures.families import Families, families_of
from retrograde.solver.verification.measures.metrics import CHECKS
from retrograde.solver.verification.measures.slots import wrong_slots

PROVEN = (
    "by {metric} every position is worth what follows by the rules from its children; the positions are those that "
    "play reaches{equal}, no more and no less"
)
PROVEN_BY_SLOT = (
    "by {metric} every position that has a slot is worth what follows by the rules from its children, whether play "
    "reaches it or not"
)
RESTS_ON = "the rules as given, and compiled to what they say; that positions equal by symmetry are worth the same"


class CannotRecheck(RetrogradeError, ValueError):
    """The metric has no check yet."""


class Finding(NamedTuple):
    """One thing that is wrong: with a position, or with the whole database (None)."""

    position: int | None
    complaint: str


def recheck(database: Database, most: int, model: Model | None = None) -> tuple[int, list[Finding]]:
    """Return how many things are wrong, and the first *most* of them.

    *model* is the opponent's model if the database holds a best response. Raises CannotRecheck for a metric without a
    check, and DamagedDatabase if the file cannot be read.
    """
    metric = database.metric
    if metric not in (*CHECKS, "expectation"):
        raise CannotRecheck(f"there is no way yet to verify the metric {metric}; --quick reads every block")
    if isinstance(database.file.contents, BoundsReader):
        faults = wrong_slots(database, most)
        told = [*(Finding(*one) for one in faults.positions), *(Finding(None, what) for what in faults.whole)]
        return faults.wrong + len(faults.whole), told[:most]
    # The records' families: what the rules say about each record and its children.
    found = families_of(database)
    wrong = [(found.images == 0, "is stored, and is not canonical, or of another tier")]
    missing = np.zeros(len(found.positions), np.bool_)
    missing[found.parents[found.children < 0]] = True
    wrong.append((missing, "has a child that is not stored"))
    # Measures can be checked only if all children are stored.
    if not missing.any() and not wrong[0][0].any():
        by_chance = metric == "expectation"
        details = database.file.details
        differ = wrong_expectations(found, database, model) if by_chance else CHECKS[metric](found, details)
        wrong.append((differ, f"is not worth what follows from its children ({metric})"))
        wrong.append((~reached(found, database), "is stored, and play never reaches it"))
    findings = [
        Finding(int(found.positions[record]), what) for which, what in wrong for record in np.flatnonzero(which)[:most]
    ]
    whole = [Finding(None, what) for what in wrong_whole(found, database)]
    return sum(int(which.sum()) for which, _ in wrong) + len(whole), [*findings, *whole][:most]


def reached(found: Families, database: Database) -> Any:
    """Return which records play reaches from the starts."""
    marks = np.zeros(len(found.positions), np.bool_)
    marks[[record_of(found, database, start) for start in database.game.starts]] = True
    while True:
        more = marks.copy()
        more[found.children[marks[found.parents]]] = True
        if (more == marks).all():
            return marks
        marks = more


def record_of(found: Families, database: Database, position: int) -> int:
    """Return the record of a stored position."""
    return int(np.flatnonzero(found.positions == database.game.canonical(position))[0])


def wrong_whole(found: Families, database: Database) -> list[str]:
    """Return what is wrong with the start and with the legend."""
    game, file = database.game, database.file
    stored = set(found.positions.tolist()) if len(found.positions) < 1 << 20 else None
    for start in game.starts:
        canonical = game.canonical(start)
        if not (canonical in stored if stored is not None else (found.positions == canonical).any()):
            return [f"the first position {start} is not stored"]
    wrong = []
    if file.start_outcome != file.legend[int(found.rows[record_of(found, database, game.start)])]:
        wrong.append("the file says something else about the start elsewhere")
    table, count = file.legend.table, len(file.legend)  # type: ignore[attr-defined]  # files with measures have a table
    if (np.bincount(found.rows, minlength=count) != table["stored"]).any():
        wrong.append("the legend counts other records than there are")
    if (np.bincount(found.rows, found.images, count).astype(np.int64) != table["positions"]).any():
        wrong.append("the legend counts other positions than there are")
    firsts = np.full(count, len(found.rows))
    np.minimum.at(firsts, found.rows, np.arange(len(found.rows)))
    if (found.positions[np.minimum(firsts, len(found.rows) - 1)] != table["example"]).any():
        wrong.append("the legend's examples are not the first ones")
    return wrong
