"""Positions that are tuples of ints: held against the same games coded as ints, and against slow solvers."""

import json
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import cached_property
from itertools import combinations
from random import Random
from re import search

import numpy as np
import pytest

from retrograde.databases import open_database
from retrograde.databases.database import BULK
from retrograde.databases.errors import NotInDatabase
from retrograde.databases.layout import VERSION
from retrograde.games import LOSE, UNDECIDED, WIN, Game, RuleError
from retrograde.games.catalog import load_game
from retrograde.games.contract.drawing import grid
from retrograde.games.contract.game import is_none, width_of
from retrograde.games.kinds.apart import PlacedApart, apart
from retrograde.games.kinds.placed import Placed, placements
from retrograde.solver.conformance.check import check
from retrograde.solver.engine import solve
from retrograde.solver.play.match import play, random_position
from retrograde.solver.play.player import perfect
from retrograde.solver.play.solution import open_solution
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.verification.verify import verify
from tests.helpers import reference
from tests.helpers.apart import Apart, ApartByChance, ApartWithParents, InOne, InOneByChance, InOneWithParents
from tests.helpers.command_line import retrograde
from tests.helpers.marks import thorough_but

pytestmark = pytest.mark.long

TWINS = [(InOne, Apart), (InOneWithParents, ApartWithParents)]


def apart_of(kind, position):
    """Return a position of a twin of ints as one of tuples."""
    game = InOne()
    return kind().at(game.graph(position), game.node(position))


def contents(database):
    """Return what a database of slots holds, tier by tier, and what it says of itself but for positions."""
    file = database.file
    legend = [(*row[:4],) for row in file.legend]
    counts = [(*row[:5],) for row in file.contents.counts]
    return file.contents.all_slots().tolist(), legend, counts, file.start_outcome[:4], file.positions


@pytest.mark.thorough
@pytest.mark.parametrize("way", ["interpreted", "numbered"])
@pytest.mark.parametrize("twins", TWINS)
def test_random_games_coded_as_ints_and_as_tuples_give_the_same_slots(twins, way, tmp_path):
    found = []
    for kind in twins:
        path = solve(kind(), tmp_path / f"{kind.__name__}.h5", method=way)
        with open_database(path, game=kind()) as database:
            assert verify(database).ok
            found.append((contents(database), database.file.legend, database.file.contents.counts))
            if kind is twins[1]:
                assert database.file.start == kind().start
                assert database.file.header.version == VERSION
    assert found[0][0] == found[1][0]
    for one, other in zip(found[0][1:], found[1][1:], strict=True):
        assert [apart_of(twins[1], row.example) for row in one] == [row.example for row in other]


@pytest.mark.thorough
def test_processes_write_the_same_bytes(tmp_path):
    path = solve(ApartWithParents(), tmp_path / "threads.h5", method="numbered")
    with ProcessPoolExecutor(2) as executor:
        other = solve(ApartWithParents(), tmp_path / "processes.h5", method="numbered", executor=executor)
    assert other.read_bytes() == path.read_bytes()


@pytest.mark.as_python
def test_random_games_of_tuples_are_worth_what_a_slow_solver_makes_of_them(tmp_path, monkeypatch):
    monkeypatch.setattr(reference, "int", lambda position: position, raising=False)
    game = Apart()
    every = [game.unindex(tier, i) for tier in game.tiers for i in range(game.size(tier))]
    slow = reference.solve(game, starts=[position for position in every if not is_none(position)])
    with open_solution(solve(game, tmp_path / "apart.h5", method="numbered"), game=game) as solution:
        assert {position: solution.value(position) for position in slow} == slow
        assert len(slow) > 800


def test_the_reader_in_c_finds_slots_of_tuples(solved, reader):
    asked = [f"{slot}@{tier}" for tier in (0, 8) for slot in range(0, 60, 7)]
    told = reader(solved.database.file.path, asked)
    for one, line in zip(asked, told, strict=True):
        slot, tier = map(int, one.split("@"))
        position = Apart().unindex(tier, slot)
        if not is_none(position):
            value, plies = solved.value(position)
            assert line == (f"{value.name.lower()} {plies}" if plies is not None else "draw")


@pytest.mark.thorough
@pytest.mark.parametrize("kind", thorough_but([Apart, ApartWithParents, ApartByChance], ApartWithParents))
def test_games_of_tuples_keep_the_contract_interpreted_and_compiled(kind):
    report = check(kind())
    assert report.ok, report.findings
    assert not report.slow
    assert report.checks["compiled"] > 10


@pytest.mark.thorough
def test_random_games_of_chance_coded_as_ints_and_as_tuples_have_the_same_bounds(tmp_path):
    bounds = []
    for kind in (InOneByChance, ApartByChance):
        game = kind()
        path = solve(game, tmp_path / f"{kind.__name__}.h5", method="numbered")
        with open_database(path, game=game) as database:
            assert verify(database).ok
            assert database.measures(database.file.start) == dict(
                zip(("low", "high"), database.file.start_outcome.measures, strict=True)
            )
            low, high = database.file.contents.all_bounds(0, database.file.contents.length)
            bounds.append((low.tolist(), high.tolist(), [row[:4] for row in database.file.legend]))
    assert bounds[0] == bounds[1]
    assert len({*bounds[0][0]}) > 50


@pytest.mark.thorough
def test_a_small_game_of_chance_is_solved_by_slot_where_its_positions_are_tuples(tmp_path):
    path = solve(ApartByChance(), tmp_path / "small.h5", sizes=Sizes(listed_slots=10**6))
    with open_database(path, game=ApartByChance()) as database:
        assert database.file.contents.DATASET == "bounds"


# Asked from Python


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """A solution of random games, more than are looked up one by one."""
    with open_solution(solve(Apart(), tmp_path_factory.mktemp("apart") / "apart.h5"), game=Apart()) as solution:
        yield solution


def test_many_positions_are_looked_up_at_once_as_one_by_one(solved):
    listed = solved.positions().to_numpy()
    assert listed["position"].shape == (len(listed["value"]), 3)
    many = np.tile(listed["position"], (1 + BULK // len(listed["value"]), 1))
    many[::7, 0] += 1  # none of play
    many[::11] = -1
    values, plies = solved.lookup(many)
    each = [solved.database.get(tuple(position)) for position in many.tolist()]
    assert values.tolist() == [outcome.value if outcome else 0 for outcome in each]
    assert plies.tolist() == [-1 if outcome is None or outcome[1] is None else outcome[1] for outcome in each]
    assert 0 < np.count_nonzero(values) < len(values)
    assert solved.lookup(many[:12].reshape(3, 4, 3))[0].shape == (3, 4)
    assert solved.lookup([])[0].shape == (0,)


def test_positions_that_are_none_are_refused_in_words(solved):
    with pytest.raises(TypeError, match="tuples of 3 ints, and 5 is none"):
        solved.value(5)
    with pytest.raises(TypeError, match="tuples of 3 ints"):
        solved.lookup([1, 2])
    with pytest.raises(NotInDatabase):
        solved.value((1, 2))
    assert (1, 2, 3) not in solved
    assert solved.start in solved


def test_arrow_has_lists_and_a_sample_tuples(solved):
    pytest.importorskip("pyarrow")
    table = solved.positions().to_arrow().read_all()
    assert table["position"][0].as_py() == list(solved.positions().sample(10**6).each()[0])


def test_players_play_and_pictures_are_drawn(tmp_path):
    game = load_game("foxandhounds:4")
    with open_solution(solve(game, tmp_path / "fox.h5"), game=game) as fox:
        played = play(fox, fox.start, [perfect, perfect])
        assert (played.value, len(played.moves), played.mistakes) == (LOSE, 8, (0, 0))
        assert fox.picture().svg.count("<circle") >= 3
        assert len(fox.line(fox.start)) == 8
        assert game.primitive(random_position(fox, Random(1))) == UNDECIDED


# On the command line


def test_every_command_takes_them_as_text(tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    assert "second player wins in 8" in retrograde("solve", "foxandhounds:4").stdout
    start = "HH/../../.F/F"
    told = json.loads(retrograde("query", "foxandhounds:4", "--json", start).stdout)
    assert (told["position"], told["value"], told["remoteness"]) == (start, "lose", 8)
    assert "every one is right" in retrograde("verify", "foxandhounds:4").stdout
    assert json.loads(retrograde("info", "foxandhounds:4", "--json").stdout)["start"]["position"] == start
    out = tmp_path / "fox.csv"
    retrograde("export", "foxandhounds:4", "-o", str(out))
    rows = out.read_text().splitlines()
    assert rows[0] == "tier,position0,position1,position2,text,value,remoteness"
    assert "0,0,3,128,HH/../../.F/F,lose,8" in rows
    retrograde("export", "foxandhounds:4", "-o", str(tmp_path / "fox.npz"))
    columns = np.load(tmp_path / "fox.npz")
    assert (columns["position2"].dtype, len(columns["position2"])) == (np.int64, len(rows) - 1)


@pytest.mark.thorough
def test_they_are_searched_without_a_database(tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    assert "Fox (F) to move loses in 8 plies" in retrograde("search", "foxandhounds:4").stdout


@pytest.mark.thorough
def test_they_are_matched_without_a_database(tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    told = retrograde("match", "foxandhounds", "depth:2", "random", "--games", "2", "--time", "0.01", "--json").stdout
    assert json.loads(told)["games"] == 2


@pytest.mark.thorough
def test_they_are_proved(tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    assert "Fox (F) to move loses\nproved by search" in retrograde("search", "foxandhounds:4", "--method", "pn").stdout
    assert "a loss for the player to move in HH/../../.F/F" in retrograde("prove", "foxandhounds:4").stdout


@pytest.mark.parametrize("wrong", [5, [(0, 3)], [1, 2, 3, 4, 5]])
def test_a_lookup_of_what_is_no_tuple_says_so(solved, wrong):
    with pytest.raises(TypeError, match=r"are tuples of \d ints"):
        solved.lookup(wrong)


# Rules that are wrong


class Unnumbered(Game):
    """Tuples, and no numbering."""

    start = (3, 4)

    def generate_moves(self, position):
        yield from range(min(position))

    def do_move(self, position, move):
        return position[0] - 1, position[1] - 1


class Mixed(Unnumbered):
    """The start is an int."""

    start = 3

    def generate_moves(self, position):
        yield 1

    def do_move(self, position, move):
        return 2, 1


class Numbered(Unnumbered):
    """The same with one."""

    start = (2, 2)
    tiers = (0,)

    def size(self, tier):
        return 3

    def index(self, position):
        return position[0]

    def unindex(self, tier, i):
        return i, i

    def primitive(self, position):
        return LOSE if position[0] == 0 else UNDECIDED


class Longer(Numbered):
    def do_move(self, position, move):
        return position[0] - 1, position[1] - 1, 0


class Large(Numbered):
    def do_move(self, position, move):
        return position[0] - 1, 1 << 62


class Single(Numbered):
    def do_move(self, position, move):
        return position[0] - 1


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Mixed, r"gives \(2, 1\); positions are ints below 2\*\*62, or tuples of such ints, and then all of them"),
        (Longer, "positions of this game are tuples of 2 ints"),
        (Large, "tuples of 2 ints from 0 to 2"),
        (Single, "'int' object is not subscriptable"),
    ],
)
def test_what_is_no_position_is_refused_with_what_to_do(kind, words, tmp_path):
    assert any(search(words, str(finding)) for finding in check(kind()).findings)
    with pytest.raises(RuleError, match=words):
        solve(kind(), tmp_path / "none.h5")


def test_such_a_game_without_fault_is_solved(tmp_path):
    with open_database(solve(Unnumbered(), tmp_path / "listed.h5"), game=Unnumbered()) as database:
        assert database[3, 4] == (WIN, 3) and database[1, 2] == (WIN, 1) and database[0, 1] == (LOSE, 0)
    with open_database(solve(Numbered(), tmp_path / "fine.h5"), game=Numbered()) as database:
        assert database[2, 2] == (LOSE, 2)


# Men on cells

SECTIONS = [(x + o, (x, o), 2 * hand) for x in range(4) for o in range(3) for hand in (0, 1)]


class PlacedInOne(Placed):
    @cached_property
    def placements(self):
        return placements(9, SECTIONS, grid(3, 3).symmetries, swap=(1, 0))


class PlacedInTuples(PlacedApart):
    @cached_property
    def placements(self):
        return apart(9, SECTIONS, grid(3, 3).symmetries, swap=(1, 0))


def test_men_on_cells_have_the_same_slots_as_tuples():
    one, other = PlacedInOne(), PlacedInTuples()

    def tuple_of(position):
        return position >> 18, position & 511, position >> 9 & 511

    assert (width_of(one), width_of(other)) == (0, 3)
    assert [*map(one.size, one.tiers)] == [*map(other.size, other.tiers)]
    for tier in one.tiers:
        for slot in range(one.size(tier)):
            position, twin = one.unindex(tier, slot), other.unindex(tier, slot)
            assert is_none(position) == is_none(twin)
            if is_none(position):
                continue
            images = {position, *one.images(position)}
            assert {twin, *other.images(twin)} == {*map(tuple_of, images)}
            assert twin == min(map(tuple_of, images)) == other.canonical(tuple_of(position))
            assert {other.index(tuple_of(image)) for image in images} == {slot}
            assert other.multiplicity(twin) == len(images)
            assert other.tier(twin) == tier


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((63, [(0, (1,))]), "1 to 62 cells, and not 63"),
        ((9, []), "must have a section"),
        ((9, [(0, (1, 1)), (0, (1,))]), "as many kinds"),
        ((9, [(0, (5, 5))]), "10 men on 9 cells"),
        ((9, [(0, (1, 1))], (), (0,)), "exchange kinds in pairs"),
        ((9, [(0, (1, 1), 1)], (), (1, 0)), "the number of a section is even"),
        ((9, [(0, (1, 1))], [(0, 1)]), "in another order"),
    ],
)
def test_declarations_that_cannot_be_meant_are_refused(arguments, words):
    with pytest.raises(RuleError, match=words):
        apart(*arguments)


# Fox and hounds


def slow_fox(side):
    """Return what each placement is worth, as plainly as can be: cells are pairs, hounds a set of them, and who is to
    move is told by whether it is the fox."""
    cells = [(row, column) for row in range(side) for column in range(side) if (row + column) % 2]

    def children(hounds, fox, of_fox):
        def free(row, column):
            return (row, column) in cells and (row, column) not in hounds and (row, column) != fox

        if of_fox:
            near = [(fox[0] + down, fox[1] + right) for down in (1, -1) for right in (1, -1)]
            return [(hounds, cell, False) for cell in near if free(*cell)]
        moved = [(hound, (hound[0] + 1, hound[1] + right)) for hound in hounds for right in (1, -1)]
        return [(hounds - {hound} | {cell}, fox, True) for hound, cell in moved if free(*cell)]

    known = {}

    def worth(position):
        if position not in known:
            _, fox, of_fox = position
            if fox[0] == 0:
                known[position] = (1, 0) if of_fox else (-1, 0)
            else:
                below = [worth(child) for child in children(*position)]
                lost = [plies for value, plies in below if value < 0]
                longest = max((1 + plies for _, plies in below), default=0)
                known[position] = (1, 1 + min(lost)) if lost else (-1, longest)
        return known[position]

    for hounds in combinations(cells, side // 2):
        for fox in cells:
            for of_fox in (True, False):
                if fox not in hounds:
                    worth((frozenset(hounds), fox, of_fox))
    return known, cells


@pytest.mark.thorough
@pytest.mark.parametrize("side", [4, 6])
def test_fox_and_hounds_is_worth_what_a_slow_solver_makes_of_it(side, tmp_path):
    known, cells = slow_fox(side)
    game = load_game(f"foxandhounds:{side}")
    with open_solution(solve(game, tmp_path / "fox.h5"), game=game) as solution:
        assert len(known) == len(solution.database)
        for (hounds, fox, of_fox), (value, plies) in known.items():
            bits = sum(1 << cells.index(hound) for hound in hounds)
            position = int(not of_fox), bits, 1 << cells.index(fox)
            found = solution.value(position)
            assert (1 if found.value > LOSE else -1, found.remoteness) == (value, plies), position
        counted = Counter((value, plies) for value, plies in known.values())
        assert max(plies for _, plies in counted) == max(row.remoteness for row in solution.database.file.legend)


@pytest.mark.thorough
def test_four_hounds_shut_in_the_fox_wherever_he_begins(tmp_path):
    """Winning Ways, chapter 20: the hounds win; that they do in 44 plies at most from each square is our own count."""
    game = load_game("foxandhounds")
    with open_solution(solve(game, tmp_path / "fox.h5"), game=game) as solution:
        assert len(solution.database) == 2_013_760
        starts = [load_game(f"foxandhounds:fox={fox}").start for fox in (1, 2, 3, 4)]
        assert [solution.value(start).value for start in starts] == [LOSE] * 4
        assert solution.value(game.start).remoteness == 44
