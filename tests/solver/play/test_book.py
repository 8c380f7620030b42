"""Opening books: equal to the whole database as far as they go, marked as what they are, and made on after a kill."""

import json
import os
import signal
import subprocess
import time

import h5py
import pytest

from retrograde.databases import NotADatabase, NotInDatabase, open_database
from retrograde.databases.book import BookFile, find_book, open_book
from retrograde.databases.location import book_path, list_books, list_databases
from retrograde.games import LOSE, TIE, WIN
from retrograde.games.catalog import load_game
from retrograde.solver.play.oracles import book as books
from retrograde.solver.play.oracles.audit import verify_book
from retrograde.solver.play.oracles.book import BookOptions, NoBook, make_book
from retrograde.solver.play.oracles.open import searching_oracle
from tests.helpers.command_line import COMMAND, LATE, Child, retrograde
from tests.helpers.marks import thorough
from tests.helpers.wide import OneConnectFour, WideConnectFour

pytestmark = pytest.mark.long

SMALL = 1 << 22


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty folder for databases."""
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    return tmp_path


def book_of(text, plies, path, **options):
    """Make a book and open it."""
    made = make_book(load_game(text), BookOptions(plies, size=SMALL, tie_seconds=60, **options), path)
    return open_book(made, load_game(text))


# What is in it


@pytest.mark.parametrize(("text", "plies"), [("connect4:4,3,3", 0), ("connect4:4,3,3", 12), ("tictactoe", 4)])
@pytest.mark.parametrize("workers", [thorough(1), 2])
def test_a_book_is_the_database_as_far_as_it_goes(solved, tmp_path, text, plies, workers):
    with book_of(text, plies, tmp_path / "x.book.h5", workers=workers) as book, open_database(solved(text)) as database:
        compared = 0
        for _, positions, values, remotenesses in book.records():
            for position, value, plies_left in zip(positions.tolist(), values, remotenesses, strict=True):
                assert book[position] == database[position] == (value, plies_left)
                compared += 1
        assert compared == book.file.stored
        assert not verify_book(book).problems


def compare_in_two_words(size, plies, folder):
    """Make a book of Connect Four in two words and in one, and compare them."""
    games = WideConnectFour(*size), OneConnectFour(*size)
    options = BookOptions(plies, size=SMALL, tie_seconds=60, workers=2)
    paths = [make_book(game, options, folder / f"{game.name}.book.h5") for game in games]
    with open_book(paths[0], games[0]) as wide, open_book(paths[1], games[1]) as one:
        assert (wide.file.header.storage, wide.file.stored, wide.plies) == ("rows", one.file.stored, plies)
        for _, positions, *_ in wide.records():
            for position in map(tuple, positions.tolist()):
                assert wide[position] == one[games[1].at(*position)]
        assert [wide[row.example] for row in wide.file.legend] == [one[row.example] for row in one.file.legend]
        assert not verify_book(wide).problems
        with pytest.raises(NotInDatabase):
            wide[1 << 40, 0]


@pytest.mark.thorough
@pytest.mark.parametrize("plies", [0, 5, 16])
def test_a_book_of_positions_of_two_words_has_the_same(tmp_path, plies):
    compare_in_two_words((4, 3), plies, tmp_path)


@pytest.mark.as_python
def test_a_small_book_of_positions_of_two_words_has_the_same(tmp_path):
    compare_in_two_words((3, 3), 3, tmp_path)


@pytest.mark.thorough
def test_a_book_of_two_words_is_made_and_asked_by_commands(home):
    """Hexapawn on 33 cells takes 67 bits."""
    assert "the first player wins in 31 plies" in retrograde("book", "hexapawn:3,11", "--plies", "2").stdout
    (book,) = home.glob("*.book.h5")
    assert "8 records, and nothing is wrong" in retrograde("verify", book).stdout
    told = retrograde("query", "hexapawn:3,11")
    assert "from the book" in told.stdout and "b11-b10 win  in 31" in told.stdout


@pytest.mark.slow
def test_a_book_of_half_the_game_is_the_database_as_far_as_it_goes(solved, tmp_path):
    with book_of("connect4:4,4", 8, tmp_path / "x.book.h5") as book, open_database(solved("connect4:4,4")) as database:
        found = [position for _, positions, _, _ in book.records() for position in positions.tolist()]
        assert len(found) == 4705
        assert all(book[position] == database[position] for position in found)


def test_every_position_of_the_plies_is_there(tmp_path):
    """Numbers of positions of Connect Four 7 × 6: https://oeis.org/A212693."""
    game = load_game("connect4")
    making = books.BookMaker(game, BookOptions(5), None)
    making.explore()
    told = [int(making.sizes[making.indices(wave)].sum()) for wave in making.waves]
    assert told == [1, 7, 49, 238, 1120, 4263]


@pytest.mark.thorough
def test_a_book_of_values_has_no_distances(solved, tmp_path):
    with (
        book_of("connect4:4,4", 4, tmp_path / "x.book.h5", distances=False) as book,
        open_database(solved("connect4:4,4")) as database,
    ):
        assert not book.has_distances
        for _, positions, _, _ in book.records():
            for position in positions.tolist():
                assert book[position] == (database[position].value, None)
        assert not verify_book(book).problems


def test_how_far_a_tie_is_may_stay_unknown_and_its_value_not(solved, tmp_path, monkeypatch):
    find = books.Search.find

    def in_time(self, position, seconds, distance):
        """So little time is over before how far the end is, is found, however busy the machine."""
        return find(self, position, 60 if seconds == 1e-6 else seconds, distance and seconds != 1e-6)

    monkeypatch.setattr(books.Search, "find", in_time)
    path = make_book(load_game("connect4:4,4"), BookOptions(2, size=SMALL, tie_seconds=1e-6), tmp_path / "x.book.h5")
    with open_book(path) as book, open_database(solved("connect4:4,4")) as database:
        assert book.has_distances
        told = [(book[one], database[one]) for _, some, _, _ in book.records() for one in some.tolist()]
        assert all(mine.value == right.value for mine, right in told)
        assert any(mine == (TIE, None) for mine, _ in told)
        assert all(mine == right for mine, right in told if mine.value != TIE)
        assert not verify_book(book).problems


@pytest.mark.thorough
def test_what_is_won_at_once_is_not_searched(tmp_path, monkeypatch):
    asked = []
    outcome = books.ProvingThreads.outcome

    def noted(self, position, *more):
        asked.append(position)
        return outcome(self, position, *more)

    monkeypatch.setattr(books.ProvingThreads, "outcome", noted)
    game = load_game("connect4:4,4,3")
    with book_of("connect4:4,4,3", 4, tmp_path / "x.book.h5") as book:
        last = [one for _, some, _, _ in book.records() for one in some.tolist()]
    at_once = [
        one
        for one in last
        if game.primitive(one) == 0
        and any(game.primitive(game.do_move(one, move)) == LOSE for move in game.generate_moves(one))
    ]
    assert at_once
    assert asked
    assert not set(asked) & set(at_once)
    assert len(asked) == len(set(asked))


def test_where_play_goes_round_in_circles_there_is_no_book(tmp_path):
    with pytest.raises(NoBook, match="no book of dodgem: its play can go round in circles"):
        make_book(load_game("dodgem"), BookOptions(3, size=SMALL), tmp_path / "x.book.h5")


# What it is


def test_a_book_is_taken_for_no_database(tmp_path):
    path = tmp_path / "tictactoe.book.h5"
    book_of("tictactoe", 2, path).close()
    with pytest.raises(NotADatabase, match="is an opening book, which has the first plies alone"):
        open_database(path)
    assert list_books(tmp_path) == [path]
    assert list_databases(tmp_path) == []
    with find_book(load_game("tictactoe"), tmp_path) as book:
        assert book.plies == 2
        beyond = book.game.read("XOX/.../...")
        with pytest.raises(NotInDatabase, match="is not in the book of tictactoe, which has the first 2 plies"):
            book[beyond]
        assert book.get(beyond) is None


def test_a_database_is_taken_for_no_book(solved):
    with pytest.raises(NotADatabase):
        BookFile(solved("tictactoe"))


def test_a_book_that_is_wrong_is_found_out(tmp_path, monkeypatch):
    path = tmp_path / "tictactoe.book.h5"
    derive = books.BookMaker.derive

    def wrong(self, wave):
        derive(self, wave)
        self.plies[self.indices(wave)] += 1

    monkeypatch.setattr(books.BookMaker, "derive", wrong)
    with book_of("tictactoe", 3, path) as book:
        problems = verify_book(book).problems
    assert any("in the book, and" in problem for problem in problems)
    monkeypatch.setattr(books.BookMaker, "derive", derive)
    with h5py.File(path, "r+") as file:
        file.attrs["plies"] = 4
    with open_book(path, load_game("tictactoe")) as book:
        assert any("and the book has" in problem for problem in verify_book(book).problems)


def test_commands_say_what_a_book_is(home):
    made = retrograde("book", "connect4:4,4", "--plies", "2").stdout
    assert "an opening book of the first 2 plies, not the whole game" in made
    assert "it was made before" in retrograde("book", "connect4:4,4", "--plies", "2").stdout
    assert "it was made before" not in retrograde("book", "connect4:4,4", "--plies", "3", "--value-only").stdout
    assert "an opening book of the first 3 plies" in retrograde("list").stdout
    assert json.loads(retrograde("list", "--json").stdout)[0]["book"] == {"plies": 3}
    told = retrograde("info", "connect4:4,4").stdout
    assert "connect4:width=4,height=4: a tie\n" in told
    assert "not the whole game; without distances" in told and "every position" not in told
    assert json.loads(retrograde("info", "connect4:4,4", "--json").stdout)["book"] == {"plies": 3, "distances": False}
    assert "nothing is wrong" in retrograde("verify", "connect4:4,4").stdout
    assert json.loads(retrograde("verify", "connect4:4,4", "--json").stdout)["ok"]
    assert "as it was written" in retrograde("verify", "connect4:4,4", "--quick").stdout
    path = book_path("connect4:width=4,height=4")
    assert "is an opening book" in retrograde("query", path, status=1).stderr
    told = retrograde("remove", path, input="y\n").stdout
    assert "the opening book" in told
    assert not path.exists()


def test_play_and_query_look_into_the_book_and_search_beyond_it(home):
    make_book(
        load_game("connect4:4,4"), BookOptions(3, size=SMALL, tie_seconds=60), book_path("connect4:width=4,height=4")
    )
    asked = retrograde("query", "connect4:4,4", "2122")
    assert "searching, beyond its book of 3 plies" in asked.stderr
    assert json.loads(retrograde("query", "connect4:4,4", "2122", "--json").stdout)["source"] == "search"
    first = json.loads(retrograde("query", "connect4:4,4", "212", "--json").stdout)
    assert (first["source"], first["value"], first["nodes"]) == ("book", "win", 0)
    assert "from the book" in retrograde("query", "connect4:4,4", "21").stdout
    played = retrograde("play", "connect4:4,4", "--first", "perfect", input="2\nquit\n").stdout
    assert "(from the book)" in played


def test_in_the_book_nothing_is_searched(home):
    make_book(
        load_game("connect4:4,4"), BookOptions(3, size=SMALL, tie_seconds=60), book_path("connect4:width=4,height=4")
    )
    with searching_oracle(load_game("connect4:4,4"), 0.0) as oracle:
        game = oracle.game
        position = game.start
        for _ in range(2):
            best = oracle.best(position)[0]
            assert best.value == TIE
            assert len(oracle.moves(position)) == 4
            position = best.position
        assert oracle.probe(game.read("212"), 0).value == WIN
        assert oracle.looked_at == 0


# Killed


@pytest.mark.thorough
def test_a_book_that_was_killed_goes_on_where_it_stopped(home, tmp_path):
    """Of 4,705 positions, 2,218 of which are searched: it is killed in the middle, and looks at the rest only."""
    command = [*COMMAND, "book", "connect4:4,4", "--plies", "8", "--workers", "1", "--value-only"]
    journal = book_path("connect4:width=4,height=4").with_name("connect4,width=4,height=4.book.h5.journal")
    with Child(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + LATE
        while time.monotonic() < deadline and not (journal.exists() and journal.stat().st_size > 3000):
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
    assert journal.exists()
    told = json.loads(retrograde("list", "--json").stdout)[0]["interrupted"]
    assert (told["phase"], told["unit"], told["resumable"]) == ("searching", "positions of an opening book", True)
    before = told["done"]
    assert 0 < before < 2218
    progress = []
    make_book(load_game("connect4:4,4"), BookOptions(8, distances=False, workers=2, listener=progress.append))
    resumed = [one.resumed for one in progress if one.phase == "searching"][-1]
    assert resumed >= before
    assert not journal.exists()
    with find_book(load_game("connect4:4,4")) as book:
        assert book.file.stored == 4705
        assert not verify_book(book).problems
