"""Databases read in plain Python, compared with the usual reader at every position of each kind of storage."""

import json
from functools import partial
from random import Random

import pytest

from retrograde.cli.web.published.written import first_positions
from retrograde.databases import DamagedDatabase, DatabaseFile, database_of, open_database
from retrograde.databases.open import matching_game
from retrograde.databases.plain import PlainFile, PlainReader, index_of
from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from retrograde.solver.methods.numbered.compact.write import make_compact
from retrograde.solver.play.solution import Solution
from tests.helpers.disk import STREAM
from tests.helpers.wide import WideTicTacToe

pytestmark = pytest.mark.long


def fetch_from(path):
    content = path.read_bytes()
    return lambda begin, end: content[begin:end]


def plain(path, game=None, fetch=None):
    """Return a database that is read in plain Python; its index has been JSON, as in a published site."""
    with DatabaseFile(path) as file:
        index = json.loads(json.dumps(index_of(file)))
    file = PlainFile(index, fetch or fetch_from(path))
    file.path = path  # so that databases on which it rests are found beside it
    return database_of(file, matching_game(file, game))


def positions_of(database, most=3000):
    """Return positions of a database: all, or so many by chance, with their children and some that are none."""
    chance, game = Random(3), database.game
    found = [p for _, positions, _, _ in database.records() for p in positions.tolist()]
    found = [tuple(p) if isinstance(p, list) else p for p in chance.sample(found, min(most, len(found)))]
    for position in found[: most // 4]:
        if not game.primitive(position):
            found += [game.do_move(position, move) for move in game.generate_moves(position)]
    return found


def compare(usual, other, positions):
    """Compare two databases at some positions, and where they differ, fail."""
    assert type(usual) is type(other) and usual.file.header == other.file.header
    assert [*usual.file.legend] == [*other.file.legend] and usual.file.start_outcome == other.file.start_outcome
    assert positions
    for position in positions:
        assert usual.get(position) == other.get(position), position
        if usual.metric != "remoteness" and usual.get(position):
            assert usual.measures(position) == other.measures(position)


def made(solved, folder, name):
    """Return the path of a database of a kind of storage, and its game where that has no name."""
    path = folder / "it.h5"
    if name == "steps":
        return solve(load_game("connect4:3,3"), path, sizes=STREAM, method="streamed"), None
    if name == "bounds":
        return solve(load_game("piglet:2"), path, method="numbered"), None
    if name == "rows":
        return solve(WideTicTacToe(), path), WideTicTacToe()
    if name == "compact":
        with open_database(solved("chess:KRK")) as database:
            return make_compact(database, path), None
    return {
        "records": partial(solved, "connect4:4,4"),
        "nimbers": partial(solved, "nim", "nimber"),
        "scores": partial(solved, "mutorere", "score"),
        "slots": partial(solved, "chess:KRK"),
        "rests on others": partial(solved, "chess:KPK"),
    }[name](), None


SLOW = [pytest.param(name, marks=pytest.mark.thorough) for name in ("steps", "compact", "rests on others")]


@pytest.mark.parametrize("name", ["records", "nimbers", "scores", "rows", "slots", "bounds", *SLOW])
def test_plain_python_reads_what_is_stored(solved, tmp_path, name):
    path, game = made(solved, tmp_path, name)
    other = plain(path, game)
    assert isinstance(other.file.contents, PlainReader)
    with open_database(path, game=game) as usual:
        positions = first_positions(Solution(usual), 3000) if name == "steps" else positions_of(usual)
        compare(usual, other, positions)
        assert Solution(other).line(positions[0]) == Solution(usual).line(positions[0])


@pytest.mark.thorough
def test_a_changed_byte_is_damage(solved):
    path = solved("connect4:4,4")
    content, wrong = path.read_bytes(), 0
    with open_database(path) as usual:
        positions = positions_of(usual, 40)
        for place in Random(4).sample(range(len(content)), 60):
            changed = bytearray(content)
            changed[place] ^= 1 << place % 8
            try:
                other = plain(path, fetch=lambda begin, end, changed=changed: bytes(changed[begin:end]))
                found = [other.get(position) for position in positions]
            except DamagedDatabase:
                wrong += 1
            else:
                assert found == [usual.get(position) for position in positions]  # the byte was not read
    assert wrong > 10
