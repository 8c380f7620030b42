"""Opening books: the records of all positions that play reaches within some plies.

A book is stored like a database of records, or of rows. Its attribute `format` differs, so that no program takes it
for a solution of the whole game. If a remoteness was not determined, the legend has `NOT_FOUND`::

    connect4,width=7,height=6.book.h5
    └── /    format `retrograde book`, `plies` 8; the rest as in a database of records
"""

import os
from pathlib import Path
from shlex import quote
from typing import ClassVar

from retrograde.databases.checked import CheckedFile
from retrograde.databases.database import Database, Outcome
from retrograde.databases.errors import NoDatabase, NotInBook
from retrograde.databases.file import DatabaseFile
from retrograde.databases.layout import BOOK, NOT_FOUND
from retrograde.databases.location import SUFFIX, book_path
from retrograde.databases.open import matching_game
from retrograde.databases.records.database import RecordsDatabase
from retrograde.databases.rows.database import RowsDatabase
from retrograde.databases.rows.read import RowsReader
from retrograde.games import LOSE, WIN, Game
from retrograde.games.catalog import typed, variant


class BookFile(DatabaseFile):
    """An open file of an opening book; it raises what `DatabaseFile` raises."""

    FORMAT: ClassVar[str] = BOOK

    @property
    def plies(self) -> int:
        """The depth of the book, in plies from the start."""
        assert self.header.plies is not None
        return self.header.plies

    @property
    def has_distances(self) -> bool:
        """Whether the remoteness of all wins and losses is known."""
        return not any(row.remoteness == NOT_FOUND and row.value in (LOSE, WIN) for row in self.legend)


class Book(Database):
    """An opening book: a database of the positions of the first plies only."""

    def __init__(self, file: CheckedFile, game: Game):
        super().__init__(file, game)
        assert isinstance(file, BookFile)
        self.plies, self.has_distances = file.plies, file.has_distances

    def check_start(self) -> None:
        start, row = self.file.start, self.file.start_outcome
        outcome = None if start is None else self.get(start)
        if row is None or outcome is None or outcome.value != row.value:
            raise self.file.damaged("the start is worth one thing here, and another there")

    def __getitem__(self, position: int) -> Outcome:
        """Return a position's outcome; raise NotInBook if the book lacks it."""
        outcome = self.get(position)
        if outcome is None:
            search = f"retrograde search {typed(self.game)} {quote(self.game.write(position))}"
            name = f"position {position} is not in the book of {self.file.variant}"
            raise NotInBook(f"{name}, which has the first {self.plies} plies; search for it with: {search}")
        return outcome


class RecordsBook(Book, RecordsDatabase):
    """A book whose positions are ints."""


class RowsBook(Book, RowsDatabase):
    """A book whose positions have several words."""


def book_of(file: BookFile, game: Game) -> Book:
    """Return the book in an open file."""
    return RowsBook(file, game) if isinstance(file.contents, RowsReader) else RecordsBook(file, game)


def open_book(path: str | os.PathLike[str], game: Game | None = None) -> Book:
    """Open the book at a path; raise what `open_database` raises."""
    file = BookFile(path)
    try:
        book = book_of(file, matching_game(file, game))
        book.check_start()
        return book
    except BaseException:
        file.close()
        raise


def find_book(game: Game, home: str | os.PathLike[str] | None = None) -> Book | None:
    """Return a game's book from the database folder, or None."""
    path = book_path(variant(game), home)
    if not os.path.exists(path):  # False also for names that no file can have
        return None
    try:
        return open_book(path, game)
    except NoDatabase:
        return None


def is_book(path: Path) -> bool:
    """Return whether a file's name is that of a book."""
    return path.name.endswith(f".book{SUFFIX}")
