"""What the files in the home say of themselves: read without any rules, and once for each state of a file.

A file that is none, or damaged, or of another kind (a folder, a pipe, a socket), is passed over: it hinders no other.
"""

import os
import stat
from functools import cache
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from retrograde.cli.common import has_other_rules
from retrograde.cli.render.measures import said
from retrograde.databases import DatabaseFile, LegendRow
from retrograde.databases.location import database_path, list_databases
from retrograde.databases.slots.read import OutcomeReader
from retrograde.games.catalog import game_names
from retrograde.games.contract.game import METRICS, WIN
from retrograde.games.contract.zeroing import TO_PROGRESS
from retrograde.solver.values.worth import facts_of

State = tuple[int, int, int, int]


class Facts(NamedTuple):
    """What is to be known of a database without its rules."""

    path: Path
    variant: str
    positions: int
    start: LegendRow | None
    """None also where the rules have changed since, so that what is known is of another game."""
    tiers: frozenset[int]
    """Of a dense numbering; of others none."""
    longest_win: int | None
    """In plies; None where nobody ever wins, or nobody has counted."""
    metric: str
    measure: str
    """What the metric says of the start, in words, where that is not value and remoteness."""

    @property
    def game(self) -> str:
        """The name of the game."""
        return self.variant.partition(":")[0]


@cache
def installed() -> tuple[str, ...]:
    """Return the names of the installed games, sorted. They are looked up once, since that takes milliseconds."""
    return tuple(game_names())


class Shelf:
    """The databases in the usual place. Several threads may ask at once."""

    def __init__(self) -> None:
        self.known: dict[Path, tuple[State, Facts]] = {}
        """What is known of files, by path and state. No entry is removed, only the whole replaced."""
        self.listing = Lock()

    def all(self) -> list[Facts]:
        """Return the facts of all databases; of two of the same variant, of the one whose file has its name. Those that
        are by another metric than games are solved for are asked for by name alone."""
        served: dict[str, Facts] = {}
        with self.listing:  # so that two who ask at once do not both read all files
            paths = list_databases()
            known = self.known
            self.known = {path: known[path] for path in paths if path in known}
            found = [facts for path in paths if (facts := self.facts(path))]
        for facts in found:
            if facts.metric in TO_PROGRESS:
                continue
            if facts.variant not in served or facts.path.name == database_path(facts.variant).name:
                served[facts.variant] = facts
        return list(served.values())

    def find(self, variant: str) -> Facts | None:
        """Return the facts of a variant's database; None where there is none."""
        facts = self.facts(database_path(variant))
        if facts is not None and facts.variant == variant and facts.metric not in TO_PROGRESS:
            return facts
        return next((facts for facts in self.all() if facts.variant == variant), None)

    def facts(self, path: Path) -> Facts | None:
        """Return what a file says of itself, as it is now; None where it is no database that can be read."""
        state = state_of(path)
        if state is None:
            return None
        held = self.known.get(path)
        if held and held[0] == state:
            return held[1]
        try:
            facts = read_facts(path)
        except Exception:  # whatever a file does to its reader, it is its own affair
            return None
        self.known[path] = state, facts
        return facts


def read_facts(path: Path) -> Facts:
    """Return what a file says of itself; raise what DatabaseFile raises."""
    with DatabaseFile(path) as file:
        slots = file.contents if isinstance(file.contents, OutcomeReader) else None
        tiers = frozenset(slots.tiers.numbers.tolist() if slots else ())
        longest = max((row.plies for row in file.legend if row.value == WIN and row.plies is not None), default=None)
        metric = file.metric if file.measures else METRICS[0]
        start = None if (other := has_other_rules(file)) else file.start_outcome
        longest = None if other else longest
        told = start is not None and start.measures and metric not in TO_PROGRESS
        return Facts(
            path,
            file.variant,
            file.positions,
            start,
            tiers,
            longest,
            metric,
            said(metric, facts_of(metric, file.details, start.measures)) if start and told else "",
        )


def state_of(path: Path) -> State | None:
    """Return what tells whether a file has changed; None where there is no file, or one that opening might wait for."""
    try:
        about = os.stat(path)
    except (OSError, ValueError):  # too long a name; one that no file can have
        return None
    if not stat.S_ISREG(about.st_mode):
        return None
    return about.st_ino, about.st_mtime_ns, about.st_ctime_ns, about.st_size


def is_there(path: Path) -> bool:
    """Tell whether there is anything by such a name."""
    try:
        os.lstat(path)
    except (OSError, ValueError):
        return False
    return True
