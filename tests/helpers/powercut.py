"""Power cuts: what a solve does to the disk is recorded once; then the power fails behind each operation in turn.

    record     one solve; the folder is looked at behind each write, fsync, renaming and deletion
    cut        the files as a power cut may have left them, in a new folder
    examine    the same solve goes on there: to the same bytes, and what was synced is not done again

The model is that of ALICE (Pillai et al., OSDI 2014). What is written to a file lasts once the file is synced, and a
name that a file is given or loses lasts once its folder is synced. Until then all of it may be lost or a part: what is
behind some block of a file, or its content and not its length; of some names the first or the last changes. No call
tells of what HDF5 and maps of files write: it is seen at the next look.
"""

import os
import threading
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import cycle
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
import pytest

from retrograde.games import RetrogradeError
from retrograde.solver.runtime.journal import Journal
from tests.helpers.disk import Kind, Shim

BLOCK = 64
"""Bytes of a block: few, for the files are small."""
MARK = 3
"""Numbers in an entry that says no more than that something is whole or begun anew."""
FOLDER = -1
"""Stands for the number of a file where a name is that of a folder."""


class Content(NamedTuple):
    """What is in a file, and what was when it was last synced."""

    now: bytes
    synced: bytes = b""


Change = dict[str, int | None]
"""Names that one operation gives to files, by their numbers, or takes away."""


class Moment(NamedTuple):
    """The state of a folder behind an operation."""

    operation: str
    durable: dict[str, int]
    """The names that any power cut leaves, as far as no later change is kept."""
    pending: list[Change]
    """What has happened to names since then."""
    contents: dict[int, Content]
    promised: int
    """How many entries of the journal the solver takes to last."""


END = Moment("end", {}, [], {}, -1)
"""Stands for where nothing is to be done any more."""


class Recorder(Shim):
    """Looks at a folder behind each operation of a solve."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.moments: list[Moment] = []
        self.names: dict[str, int] = {}
        self.durable: dict[str, int] = {}
        self.pending: list[Change] = []
        self.contents: dict[int, Content] = {}
        self.numbers: dict[int, int] = {}
        """The number of each file by its inode, which another file may have later."""
        self.files = 0
        self.entries = self.promised = 0
        self.lock = threading.RLock()

    def after(self, operation: str) -> None:
        """Note what an operation has changed."""
        with self.lock:
            names, there = {}, set()
            for path in sorted(self.folder.rglob("*")):
                name, inode = str(path.relative_to(self.folder)), path.stat().st_ino
                there.add(inode)
                names[name] = FOLDER if path.is_dir() else self.number(inode)
                if path.is_file():
                    before = self.contents.get(names[name], Content(b""))
                    self.contents[names[name]] = before._replace(now=path.read_bytes())
            for gone in self.numbers.keys() - there:
                del self.numbers[gone]
            change = {
                name: names.get(name) for name in {**self.names, **names} if self.names.get(name) != names.get(name)
            }
            self.pending += [change] if change else []
            self.names = names
            self.note(operation)

    def number(self, inode: int) -> int:
        """Return the number of a file."""
        if inode not in self.numbers:
            self.files += 1
            self.numbers[inode] = self.files
        return self.numbers[inode]

    def note(self, operation: str) -> None:
        """Add a moment."""
        self.moments.append(
            Moment(operation, dict(self.durable), list(self.pending), dict(self.contents), self.promised)
        )

    def synced(self, about: os.stat_result) -> None:
        """Note that a file or a folder lasts."""
        with self.lock:
            if number := self.numbers.get(about.st_ino):
                now = self.contents[number].now
                self.contents[number] = Content(now, now)
            elif about.st_ino == self.folder.stat().st_ino:
                self.settle(Path())
            else:
                folder = next(path for path in self.folder.rglob("*") if path.stat().st_ino == about.st_ino)
                self.settle(folder.relative_to(self.folder))
            self.note("synced")

    def settle(self, folder: Path) -> None:
        """Note that all names in a folder last."""
        left = []
        for change in self.pending:
            for name, number in change.items():
                if Path(name).parent == folder:
                    self.durable.pop(name, None)
                    self.durable |= {} if number is None else {name: number}
            left.append({name: number for name, number in change.items() if Path(name).parent != folder})
        self.pending = [change for change in left if change]

    def count(self, patch: pytest.MonkeyPatch) -> None:
        """Count the entries of journals, and those that are said to last."""
        append, sync = Journal.append, Journal.sync

        def counted(journal: Journal, name: str, *arrays: np.ndarray) -> None:
            append(journal, name, *arrays)
            self.entries += sum(map(len, arrays)) > MARK

        def promised(journal: Journal) -> None:
            entries = self.entries
            sync(journal)
            self.promised = entries

        patch.setattr(Journal, "append", counted)
        patch.setattr(Journal, "sync", promised)


def record(kind: Kind, path: Path) -> Recorder:
    """Record a solve, of which the last moment is behind its end."""
    recorder = Recorder(path.parent.parent)
    with pytest.MonkeyPatch.context() as patch:
        recorder.count(patch)
        with recorder.installed():
            kind.solve(path)
    recorder.after("end")
    return recorder


# What is lost


def torn(content: Content, dice: Random) -> bytes:
    """Return what may be left of a file: up to some block what it is now, then what it was, or zeros."""
    now, synced = content
    end = BLOCK * dice.randrange(len(now) // BLOCK + 2)
    if now.startswith(synced) and dice.random() < 0.3:  # it has grown, and what was added is not there yet
        end = max(end, len(synced))
        return now[:end] + bytes(len(now[end:]))
    return now[:end] + synced[end:]


def some(changes: list[Change], dice: Random) -> list[Change]:
    """Return some changes of names, the first or the last."""
    at = dice.randrange(len(changes) + 1)
    return changes[at:] if dice.random() < 0.7 else changes[:at]


How = tuple[Callable[[Content, Random], bytes], Callable[[list[Change], Random], list[Change]]]

LOST: dict[str, How] = {
    "contents": (lambda content, dice: content.synced, lambda changes, dice: changes),
    "some": (torn, some),
    "all": (lambda content, dice: content.synced, lambda changes, dice: []),
    "names": (lambda content, dice: content.now, some),
    "parts of files": (torn, lambda changes, dice: changes),
}
"""By what is lost, what is left of a file, and of the names that have changed."""
NOTHING: How = (lambda content, dice: content.now, lambda changes, dice: changes)


def cut(moment: Moment, folder: Path, how: str, dice: Random) -> None:
    """Write to a new folder what a power cut has left at some moment."""
    content_of, names_of = LOST.get(how, NOTHING)
    names: dict[str, int | None] = dict(moment.durable)
    for change in names_of(moment.pending, dice):
        names |= change
    folder.mkdir()
    for name in sorted(names):  # a folder before what is in it
        number, path = names[name], folder / name
        if number is None or not path.parent.exists():
            continue
        if number == FOLDER:
            path.mkdir()
        else:
            path.write_bytes(content_of(moment.contents[number], dice))


# What must be left


class PowerCut:
    """A recorded solve, and whether it goes on as it should wherever the power fails."""

    def __init__(self, kind: Kind, folder: Path):
        """Record a solve of a kind, in a folder in which all is done."""
        (folder / "whole").mkdir()
        path = folder / "whole" / "home" / "game.h5"
        self.kind, self.folder = kind, folder
        self.recorder = record(kind, path)
        self.whole = databases_in(path.parent)
        self.tried = 0

    def wrong_everywhere(self, most: int | None = None) -> list[str]:
        """Let the power fail at all moments, or about so many times; return what was not as it should be."""
        moments = self.recorder.moments
        wrong = ((number, how, self.wrong_after(moments[number], number, how)) for number, how in chosen(moments, most))
        return [f"behind {number}, {moments[number].operation}, {how} lost: {why}" for number, how, why in wrong if why]

    def wrong_after(self, moment: Moment, number: int, how: str) -> str:
        """Go on from what a power cut has left; return what is not as it should be, nothing where all is."""
        path = self.cut(moment, number, how)
        there = databases_in(path.parent)
        if broken := [name for name, content in there.items() if content != self.whole[name]]:
            return f"{broken} is no database"
        if path.exists():
            return ""
        if moment.operation == "end":
            return "the database is gone"
        try:
            entries = self.entries_after(path)
        except RetrogradeError as error:
            return f"was not gone on with: {error}"
        if databases_in(path.parent) != self.whole:
            return "another database"
        files = sorted(file.name for file in path.parent.iterdir() if file.suffix != ".h5")
        if left := [name for name in files if not name.startswith(tuple(there))]:
            return f"left {left}"
        if entries <= self.recorder.entries - moment.promised:
            return ""
        # where parents are found by passes there may be more from a later place, which may be synced already
        later = next(one.promised for one in (*self.recorder.moments[number:], END) if one.promised != moment.promised)
        most = max(self.most_entries(moment.promised), self.most_entries(later))
        return f"{entries} entries to the end, not {most}: what was synced is done again" if entries > most else ""

    def cut(self, moment: Moment, number: int, how: str) -> Path:
        """Write what a power cut has left; return where the database is to be."""
        self.tried += 1
        there = self.folder / f"{self.tried}"
        cut(moment, there, how, Random(f"{number} {how}"))
        return there / "home" / "game.h5"

    def entries_after(self, path: Path) -> int:
        """Solve to the end; return how many entries the journal is given."""
        counter = Recorder(path.parent)
        with pytest.MonkeyPatch.context() as patch:
            counter.count(patch)
            self.kind.solve(path)
        return counter.entries

    @lru_cache  # noqa: B019  # for a test
    def most_entries(self, promised: int) -> int:
        """Return how many entries the journal is given to the end from where so many are said to last, nothing lost."""
        if promised == END.promised:
            return 0
        moments = enumerate(self.recorder.moments)
        number, moment = next((number, moment) for number, moment in moments if moment.promised == promised)
        return self.entries_after(self.cut(moment, number, "nothing"))


def databases_in(folder: Path) -> dict[str, bytes]:
    """Return the databases in a folder, by name: the one that is solved, and those on which it rests."""
    return {path.name: path.read_bytes() for path in folder.glob("*.h5")}


def chosen(moments: list[Moment], most: int | None) -> Iterator[tuple[int, str]]:
    """Yield moments and what is lost there: all, or so many, more of them where something was deleted or renamed."""
    last = len(moments) - 1
    if most is None:
        yield from ((number, how) for number in range(last + 1) for how in LOST)
        return
    yield from ((last, how) for how in LOST)
    risky = [number for number in range(last) if moments[number].operation in ("unlink", "replace", "rmdir")]
    picked = {*spread(risky, 2 * most // 3)}
    picked |= {*spread([number for number in range(last) if number not in picked], most - len(picked) - len(LOST))}
    yield from zip(sorted(picked), cycle(LOST), strict=False)


def spread(numbers: list[int], most: int) -> list[int]:
    """Return so many of some numbers, as far apart as can be."""
    return numbers if len(numbers) <= most else [numbers[k * len(numbers) // most] for k in range(most)]
