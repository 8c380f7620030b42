"""The files of a variant on disk: its database, and what an unfinished solve has left beside it.

connect4,width=5,height=5.h5                        the database
connect4,width=5,height=5.h5.81-c0ffee01.partial    a database that was being written
connect4,width=5,height=5.h5.scratch                a folder of spilled data
connect4,width=5,height=5.h5.journal                finished work, from which the same command resumes
"""

import glob
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from retrograde.databases.errors import CannotWrite, InUse
from retrograde.databases.location import CERTIFICATE_SUFFIX, ESTIMATES_SUFFIX, SUFFIX, home_folder
from retrograde.databases.lock import Lock

JOURNAL, SCRATCH, PARTIAL = ".journal", ".scratch", ".partial"


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
    solved: int = 0
    total: int = 0

    def note(self, name: str, lengths: list[int], first: list[int]) -> None:
        """Add a journal entry: its name, the lengths of its arrays, and the first array if it is short."""
        # Each kind of entry says which phase the solve is in, and how much is done.
        if name.startswith("not by "):  # that method does not apply: discard what it found
            self.waves.clear()
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
            before = self.solved if self.phase == "solving" else 0
            listed = self.found.get("waves") or self.found.get("first waves") or 0
            self.phase, self.unit = "solving", "records" if listed else "slots"
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
        unit = self.unit.removesuffix("s") if (self.total or self.solved) == 1 else self.unit
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
            else:
                done.variant, _, sources = name.rsplit(" ", 2)
                done.is_current = sources == journal_digest()
    except Exception:  # the file may hold anything
        return UnfinishedSolve()
    return done


def facts_of(path: Path) -> dict[str, Any]:
    """Return the facts about an unfinished solve of the database at a path, ready for JSON."""
    journal = path.with_name(path.name + JOURNAL)
    done = read_progress(journal) if journal.is_file() else UnfinishedSolve()
    left = [one for one in files_of(path) if one != path]
    return {
        "path": str(path),
        "bytes": sum(map(bytes_of, left)),
        "variant": done.variant or None,
        "interrupted": {
            "files": list(map(str, left)),
            "phase": done.phase or None,
            "done": done.solved,
            "total": done.total or None,
            "unit": done.unit or None,
            "solving": is_locked(path),
            "resumable": done.is_current and not is_there(path),
            "says": state_text(path, done),
        },
    }


def is_there(path: Path) -> bool:
    """Return whether the database itself exists. Certificates count as missing: they may be made again."""
    return path.exists() and not path.name.endswith(CERTIFICATE_SUFFIX)


def state_text(path: Path, done: UnfinishedSolve) -> str:
    """Return how far a solve has come, or why its files are of no use."""
    if is_locked(path):
        return f"{done}; being solved now"
    if is_there(path):
        return "of no use: the database is there"
    if not done.variant:
        return "of no use: there is no journal"
    return str(done) if done.is_current else "of another version: will start again"
