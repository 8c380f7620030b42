"""The files of a variant on disk: its database, and what unfinished work has left beside it.

connect4,width=5,height=5.h5                        the database
connect4,width=5,height=5.h5.81-c0ffee01.partial    a database that was being written
connect4,width=5,height=5.h5.scratch                a folder of spilled data
connect4,width=5,height=5.h5.journal                finished work, from which the same command resumes
"""

import glob
import re
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any

from retrograde.databases import location
from retrograde.databases.errors import CannotWrite, InUse
from retrograde.databases.location import BOOK_SUFFIX, CERTIFICATE_SUFFIX, ESTIMATES_SUFFIX, SUFFIX, home_folder
from retrograde.databases.lock import Lock
from retrograde.games.contract.game import METRICS

JOURNAL, SCRATCH, PARTIAL = ".journal", ".scratch", ".partial"
REMADE = (CERTIFICATE_SUFFIX, BOOK_SUFFIX, ESTIMATES_SUFFIX)
"""Suffixes of files that are made again with other options, unlike databases."""

SINGULAR = {"replies": "reply"}
"""The singular of units that do not simply lose an s."""

IDENTITY = re.compile(
    rf"(?P<variant>.+?) (?P<rules>\S+(?:-proof-\S+-\(.*\))?) (?P<sources>\S+)"
    rf"(?: (?P<metric>{'|'.join(METRICS)}))?(?: against (?P<against>.+) \S*)?"
)
"""The first entry of a journal. The engine, `prove` and both makers of books write it; each names it *identity*."""
PROOF = re.compile(r".+-proof-(?P<value>[A-Za-z]+)-(?P<least>at-least-)?(?P<leaves>\d+)-(?P<position>.+)")
BOOK = re.compile(r".+-book-(?P<plies>\d+)-(?P<what>distances|values)")


def files_of(path: Path) -> list[Path]:
    """Return all files of the database at a path, the journal last: it says what the others are."""
    partial = sorted(path.parent.glob(f"{glob.escape(path.name)}.*-*{PARTIAL}"))
    beside = [path.with_name(path.name + ending) for ending in (SCRATCH, JOURNAL)]
    return [one for one in (path, *partial, *beside) if one.is_symlink() or one.exists()]


def unfinished_solves() -> list[Path]:
    """Return the paths of databases with files of an unfinished solve, in the database folder."""
    folder = home_folder()
    suffixes = "|".join(map(re.escape, (SUFFIX, ESTIMATES_SUFFIX)))
    journal, scratch, partial = map(re.escape, (JOURNAL, SCRATCH, PARTIAL))
    pattern = re.compile(rf"(.+(?:{suffixes}))({journal}|{scratch}|\.\d+-[0-9a-f]+{partial})")
    names = {match[1] for one in folder.glob("*.*.*") if (match := pattern.fullmatch(one.name))}
    return [folder / name for name in sorted(names)]


def bytes_of(path: Path) -> int:
    """Return the size of a file, or of all files in a folder; of a link itself, not its target."""
    if path.is_symlink() or not path.is_dir():
        return path.lstat().st_size
    return sum(one.lstat().st_size for one in path.rglob("*") if one.is_symlink() or one.is_file())


def is_locked(path: Path) -> bool:
    """Return whether a process is writing the database at a path."""
    if not path.with_name(path.name + ".lock").exists():
        return False
    try:
        with Lock(path, 0):
            return False
    except InUse:
        return True
    except CannotWrite:  # without write access we cannot tell
        return False


# Progress of an unfinished solve


@dataclass
class UnfinishedSolve:
    """How far a solve has come, as its journal says."""

    variant: str = ""
    """The variant of the journal; "" if the file does not say."""
    rules: str = ""
    """The digest of the rules. For a proof or a book, its options follow."""
    metric: str = METRICS[0]
    against: str = ""
    """The model of the opponent, if the solve is for a best response."""
    is_current: bool = False
    """Whether this version of retrograde can resume from it."""
    phase: str = ""
    """Exploring, solving and so on; "" if the solve has only begun."""
    unit: str = ""
    """What is counted: records, slots or waves."""
    found: dict[str, int] = field(default_factory=dict)
    """Numbers of records and waves found, by the names of their journal entries."""
    waves: set[int] = field(default_factory=set)
    """The waves of a stream that are found completely."""
    scores: str = ""
    """The name of the latest journal entry with scores."""
    solved: int = 0
    total: int = 0

    def note(self, name: str, lengths: list[int], first: list[int]) -> None:
        """Add a journal entry: its name, the lengths of its arrays, and the first array if it is short."""
        # Each kind of entry says which phase the solve is in, and how much is done.
        if name.startswith("not by "):  # that method does not apply: discard what it found
            self.waves.clear()
            self.found.clear()
        elif name in ("first waves", "waves"):  # tiers, how many of each, the positions, and edges
            self.found[name] = self.found.get(name, 0) + lengths[2]
            self.phase, self.unit, self.solved, self.total = "exploring", "records", self.found[name], 0
        elif name in ("positions", "sets"):
            self.note_wave(lengths, first)
        elif name in ("steps", "worths"):  # the wave, then its results; empty if solving starts over
            self.phase, self.unit, self.total = "solving", "waves", len(self.waves) + 1
            self.solved = self.total - 1 - first[0] if first else 0
        elif name == "searched":  # of an opening book: words of positions, values or scores, remotenesses
            self.phase, self.unit, self.total = "searching", "positions of an opening book", 0
            self.solved += lengths[1]
        elif name.startswith("replies"):  # of a certificate: positions, replies
            self.phase, self.unit, self.total = "proving", "replies", 0
            self.solved += lengths[0]
        elif name.startswith("scores"):  # ranges of tiers, scores, sizes; or a tier, scores, counts
            # With more bits for the plies, the scores have another name, and the solve has started over.
            before = self.solved if self.scores == name else 0
            listed = self.found.get("waves") or self.found.get("first waves") or 0
            self.phase, self.unit, self.scores = "solving", "records" if listed else "slots", name
            self.solved, self.total = before + lengths[1], listed

    def note_wave(self, lengths: list[int], first: list[int]) -> None:
        """Add a journal entry about the waves of a stream; an empty one means that exploring starts over.

        *first* is a kind and a wave. With nothing else, kind 1 is a complete wave, and 2 one to be found again.
        """
        if not first:
            self.waves.clear()
        elif first[0] == 1:
            self.waves.add(first[1])
        elif first[0] == 2:
            self.waves.discard(first[1])
        self.phase, self.unit, self.solved, self.total = "exploring", "waves", len(self.waves), 0

    def __str__(self) -> str:
        if not self.phase:
            return "just begun"
        of = f" of {self.total:,}" if self.total else ""
        unit = SINGULAR.get(self.unit, self.unit.removesuffix("s")) if (self.total or self.solved) == 1 else self.unit
        return f"{self.phase}: {self.solved:,}{of} {unit}"


def read_progress(journal: Path) -> UnfinishedSolve:
    """Return the progress that a journal records; an empty one if the file is not a journal."""
    from retrograde.solver.runtime.journal import outline
    from retrograde.solver.runtime.sources import journal_digest

    done = UnfinishedSolve()
    try:
        for number, (name, lengths, first) in enumerate(outline(journal)):
            if number:
                done.note(name, lengths, first)
            elif identity := IDENTITY.fullmatch(name):
                done.variant, done.rules = identity["variant"], identity["rules"]
                done.metric, done.against = identity["metric"] or METRICS[0], identity["against"] or ""
                done.is_current = identity["sources"] == journal_digest()
            else:
                return done
    except Exception:  # the file may hold anything
        return UnfinishedSolve()
    return done


def facts_of(path: Path) -> dict[str, Any]:
    """Return the facts about an unfinished solve of the database at a path, ready for JSON."""
    journal = path.with_name(path.name + JOURNAL)
    done = read_progress(journal) if journal.is_file() else UnfinishedSolve()
    left = [one for one in files_of(path) if one != path]
    is_solving, may_resume = is_locked(path), is_of_use(path, done)
    return {
        "path": str(path),
        "bytes": sum(map(bytes_of, left)),
        "variant": done.variant or None,
        "name": name_of(path, done) if done.variant else path.name,
        "interrupted": {
            "files": list(map(str, left)),
            "phase": done.phase or None,
            "done": done.solved,
            "total": done.total or None,
            "unit": done.unit or None,
            "solving": is_solving,
            "resumable": done.is_current and may_resume,
            "says": state_text(path, done),
            "resume": resume_command(path, done) if may_resume and not is_solving else None,
            "remove": None if is_solving else remove_command(path, done),
        },
    }


def is_there(path: Path) -> bool:
    """Return whether the database itself exists. Certificates and books count as missing: they may be made again."""
    return path.exists() and not path.name.endswith(REMADE)


def is_of_use(path: Path, done: UnfinishedSolve) -> bool:
    """Return whether the command that has left a journal can use it. If the database is there, the journal must be of a
    solve that was to replace it."""
    from retrograde.solver.runtime.journal import is_to_replace

    if not is_there(path):
        return bool(done.variant)
    return done.is_current and is_to_replace(path)


def state_text(path: Path, done: UnfinishedSolve) -> str:
    """Return how far a solve has come, or why its files are of no use."""
    if is_locked(path):
        return f"{done}; being solved now"
    if is_there(path):
        what = f"{done}; the database is there: --fresh goes on"
        return what if is_of_use(path, done) else "of no use: the database is there"
    if not done.variant:
        return "of no use: there is no journal"
    return str(done) if done.is_current else "of another version: will start again"


# Commands


def kind_of(done: UnfinishedSolve) -> str:
    """Return the command that has made a journal: solve, prove or book."""
    if done.rules.startswith("estimates-") or BOOK.fullmatch(done.rules):
        return "book"
    return "prove" if PROOF.fullmatch(done.rules) else "solve"


def metric_in_name(path: Path, done: UnfinishedSolve) -> str:
    """Return the metric that the name of a solve needs; "" for the game's own."""
    if kind_of(done) != "solve" or path == location.database_path(done.variant):
        return ""
    return location.against(done.against) if done.against else done.metric


def name_of(path: Path, done: UnfinishedSolve) -> str:
    """Return the variant, with the metric if that is not the game's own: `mnk:m=4,n=4@score`."""
    metric = metric_in_name(path, done)
    return f"{done.variant}@{metric}" if metric else done.variant


def usual_path(path: Path, done: UnfinishedSolve) -> Path:
    """Return the path that a command uses if it names no file."""
    if kind_of(done) == "prove":
        return location.certificate_path(done.variant)
    if kind_of(done) == "book":
        return (location.book_path if BOOK.fullmatch(done.rules) else location.estimates_path)(done.variant)
    return location.database_path(done.variant, metric=metric_in_name(path, done))


def remove_command(path: Path, done: UnfinishedSolve) -> str:
    """Return the command that deletes what an unfinished solve has left, and nothing else."""
    by_name = done.variant and kind_of(done) == "solve" and path == usual_path(path, done)
    return f"retrograde remove {quote(name_of(path, done) if by_name else str(path))} --unfinished"


def resume_command(path: Path, done: UnfinishedSolve) -> str:
    """Return the command that resumes an unfinished solve. Words in capitals stand for what the journal leaves out."""
    kind, options = kind_of(done), ""
    is_usual = path == usual_path(path, done)
    if proof := PROOF.fullmatch(done.rules):
        named = f"{done.variant},position={proof['position']}"
        if path == location.database_path(named, suffix=CERTIFICATE_SUFFIX):
            options, is_usual = " POSITION", True
        options += f" --value {proof['value'].lower()}" if proof["value"] != "value" else ""
        options += f"{' --at-least' if proof['least'] else ''} --leaves {proof['leaves']}"
    elif book := BOOK.fullmatch(done.rules):
        options += f" --plies {book['plies']}" + (" --value-only" if book["what"] == "values" else "")
    elif kind == "book":
        options += " --plies N --depth N"
    elif metric := metric_in_name(path, done):
        options += f" --against {quote(done.against)}" if done.against else f" --metric {metric}"
    if not is_usual:
        options += f" {'--out' if kind == 'prove' else '--database'} {quote(str(path))}"
    fresh = " --fresh" if is_there(path) else ""
    return f"retrograde {kind} {quote(done.variant)}{options}{fresh}"
