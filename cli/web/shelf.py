"""Facts about the database files in the home folder: read without any rules, once for each state of a file.

A file that is no database, or is damaged, or is not a regular file, is skipped and does not stop the others.
"""

import os
import stat
from functools import cache
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from retrograde.cli.common import has_other_rules
from retrograde.cli.web.metric_texts import rounded_measure
from retrograde.databases import DatabaseFile, LegendRow
from retrograde.databases.legend import by_outcome
from retrograde.databases.location import database_path, list_databases
from retrograde.databases.slots.read import OutcomeReader
from retrograde.games.catalog import game_names
from retrograde.games.contract.game import METRICS, WIN
from retrograde.games.contract.zeroing import PROGRESS_METRICS
from retrograde.solver.values.measures import facts_of

State = tuple[int, int, int, int]


class DatabaseFacts(NamedTuple):
    """What is known of a database without its rules."""

    path: Path
    variant: str
    positions: int
    start: LegendRow | None
    """None also if the rules have changed since: then the file describes another game."""
    tiers: frozenset[int]
    """The tiers of a dense numbering; empty for other games."""
    longest_win: int | None
    """In plies; None if nobody ever wins, or it was not counted."""
    metric: str
    measure: str
    """What the metric says of the start, in words; "" for value and remoteness."""

    @property
    def game(self) -> str:
        """The name of the game."""
        return self.variant.partition(":")[0]


@cache
def installed_games() -> tuple[str, ...]:
    """Return the names of the installed games, sorted. Cached, because the look-up takes milliseconds."""
    return tuple(game_names())


class Shelf:
    """The databases in the database folder. Several threads may use it at once."""

    def __init__(self) -> None:
        self.known: dict[Path, tuple[State, DatabaseFacts]] = {}
        """Facts by path, with the file's state. Entries are never removed; the whole dict is replaced."""
        self.listing = Lock()

    def all(self) -> list[DatabaseFacts]:
        """Return the facts of all databases but those by dtz and dtc. Of two for a variant, the one with the usual
        name."""
        served: dict[str, DatabaseFacts] = {}
        with self.listing:  # so that two threads do not both read all files
            paths, earlier = list_databases(), self.known
            self.known = {path: earlier[path] for path in paths if path in earlier}
            readable = [facts for path in paths if (facts := self.facts(path))]
        for facts in readable:
            has_usual_name = facts.path.name == database_path(facts.variant).name
            if facts.metric not in PROGRESS_METRICS and (facts.variant not in served or has_usual_name):
                served[facts.variant] = facts
        return list(served.values())

    def find(self, variant: str) -> DatabaseFacts | None:
        """Return the facts of a variant's database, or None."""
        facts = self.facts(database_path(variant))
        if facts is not None and facts.variant == variant and facts.metric not in PROGRESS_METRICS:
            return facts
        return next((facts for facts in self.all() if facts.variant == variant), None)

    def facts(self, path: Path) -> DatabaseFacts | None:
        """Return the facts of a file as it is now; None if it is no readable database."""
        state = state_of(path)
        if state is None:
            return None
        earlier = self.known.get(path)
        if earlier and earlier[0] == state:
            return earlier[1]
        try:
            facts = read_facts(path)
        except Exception:  # a damaged file may raise anything
            return None
        self.known[path] = state, facts
        return facts


def read_facts(path: Path) -> DatabaseFacts:
    """Return the facts of a file; raise what DatabaseFile raises."""
    with DatabaseFile(path) as file:
        slots = file.contents if isinstance(file.contents, OutcomeReader) else None
        tiers = frozenset(slots.tiers.numbers.tolist() if slots else ())
        longest = max(
            (row.plies for row in by_outcome(file.legend) if row.value == WIN and row.plies is not None), default=None
        )
        metric = file.metric if file.measures else METRICS[0]
        rules_changed = has_other_rules(file)
        start = None if rules_changed else file.start_outcome
        longest = None if rules_changed else longest
        measure = ""
        if start is not None and start.measures and metric not in PROGRESS_METRICS:
            measure = rounded_measure(metric, facts_of(metric, file.details, start.measures))
        return DatabaseFacts(path, file.variant, file.positions, start, tiers, longest, metric, measure)


def state_of(path: Path) -> State | None:
    """Return a tuple that changes with the file; None if it is missing, or is not a regular file."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):  # for example, a name that is too long or invalid
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size


def is_there(path: Path) -> bool:
    """Return whether anything with this name exists."""
    try:
        os.lstat(path)
    except (OSError, ValueError):
        return False
    return True
