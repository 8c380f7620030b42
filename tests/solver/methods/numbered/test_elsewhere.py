"""Databases that rest on others: tiers that are stored once, in the database of another variant, as chess has them."""

import gc
import importlib
import shutil

import numpy as np
import psutil
import pytest

from retrograde.databases import NoDatabase, open_database
from retrograde.games import DRAW, LOSE, WIN, RuleError, Value
from retrograde.games.catalog import load_game, own_tiers, rests_on
from retrograde.games.chess.men import TIERS
from retrograde.games.chess.rules import Chess
from retrograde.solver.conformance.check import check
from retrograde.solver.engine import solve
from retrograde.solver.methods.chess import analysis
from retrograde.solver.methods.chess.formation import Formation
from retrograde.solver.methods.numbered import store
from retrograde.solver.methods.numbered.elsewhere import Elsewhere
from retrograde.solver.options import CannotSolve
from retrograde.solver.play.solution import open_solution
from retrograde.solver.runtime.memory import MemoryLimit
from retrograde.solver.runtime.work import MetricNotApplicable
from retrograde.solver.verification import slots
from retrograde.solver.verification.verify import verify
from tests.helpers.forge import Forged
from tests.helpers.paths import ROOT
from tests.helpers.solving import in_one_file

KRKN = TIERS.index("KRKN")
KRRK = [[1040963, 0, 0], [0, 4900, 1702988]]
"""Won, drawn and lost with White and with Black to move, of positions equal by symmetry one counted, the rooks told
apart: regular-stats.txt of github.com/niklasf/syzygy-tables.info."""


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory):
    """Let there be nothing in the usual place."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RETROGRADE_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with KRKN, resting on others."""
    folder = tmp_path_factory.mktemp("alone")
    solve(load_game("chess:KRKN"), folder / "chess,KRKN.h5")
    return folder


@pytest.mark.parametrize("name", ["KK", "KRK", "KRKN", "KPKP", "KPPKP"])
def test_each_ending_has_a_database_of_its_own(name):
    game = load_game(f"chess:{name}")
    assert own_tiers(game) == [TIERS.index(name)]
    others = [variant.removeprefix("chess:") for variant in rests_on(game)]
    assert {TIERS[tier] for tier in game.tiers} == {name, *others}
    for place, other in enumerate(others):  # those that may follow come first
        assert {TIERS[tier] for tier in load_game(f"chess:{other}").tiers} <= {*others[: place + 1]}


def test_what_the_others_have_is_made_and_not_stored_again(folder):
    names = ("KK", "KNK", "KRK", "KRKN")
    assert sorted(path.name for path in folder.iterdir()) == [f"chess,{name}.h5" for name in names]
    with open_database(folder / "chess,KRKN.h5") as database:
        assert database.contents.tiers.numbers.tolist() == [KRKN]


@pytest.mark.thorough
def test_every_position_is_worth_the_same_as_in_one_file(folder, tmp_path):
    with in_one_file():
        path = solve(load_game("chess:KRKN"), tmp_path / "chess,KRKN.h5", fresh=True)
    with open_solution(path) as one, open_solution(folder / path.name) as other:
        tiers = one.database.contents.tiers.numbers.tolist()
        assert [TIERS[tier] for tier in tiers] == ["KRKN", "KNK", "KRK", "KK"]
        assert {row.tier for row in other.database.contents.counts} == {KRKN}
        for tier in tiers:
            for piece in one.positions(tier=tier):
                some = slice(None, None, 1 if tier == KRKN else 151)
                values, plies = other.lookup(piece.positions[some])
                assert np.array_equal(values, piece.values[some])
                assert np.array_equal(plies, piece.remoteness[some])


def test_positions_of_all_tiers_are_found_one_by_one_and_together(folder):
    fens = ["8/8/8/8/8/2k5/6n1/K6R w", "8/8/8/3k4/8/8/8/K6R w", "8/8/8/8/8/2k5/6n1/K7 b", "8/8/8/8/8/2k5/8/K7 b"]
    with open_solution(folder / "chess,KRKN.h5") as solution, open_database(folder / "chess,KRK.h5") as krk:
        positions = [solution.game.read(fen) for fen in fens]
        found = [solution.value(position) for position in positions]
        assert found[1] == krk[positions[1]] and found[1].remoteness is not None
        for count in (1, 2000):  # by rules as they stand, and compiled
            values, plies = solution.lookup(np.array(positions * count).reshape(2, -1))
            assert values.ravel().tolist() == [outcome.value for outcome in found] * count
            assert plies.ravel().tolist() == [-1 if one.remoteness is None else one.remoteness for one in found] * count
        assert solution.database.get(1 << 61) is None
        moves = {choice.name: choice for choice in solution.moves(solution.game.read("8/8/8/8/8/2k5/6n1/K3R3 b"))}
        assert moves["Nxe1"].value == Value.DRAW


@pytest.mark.thorough
def test_a_file_that_has_all_tiers_itself_is_read_as_before(tmp_path):
    """And others may rest on it: of what it has they take the ending that it is called by."""
    with in_one_file():
        path = solve(load_game("chess:KRK"), tmp_path / "chess,KRK.h5")
    with open_database(path) as database:
        capture = database.game.read("8/8/8/8/8/2k5/8/K7 b")
        assert capture in database and not (tmp_path / "chess,KK.h5").exists()
        report = verify(database)
    assert report.ok and "databases" not in report.rests_on
    before = path.read_bytes()
    solve(load_game("chess:KRKR"), tmp_path / "chess,KRKR.h5")
    assert path.read_bytes() == before
    with open_database(tmp_path / "chess,KRKR.h5") as database:
        longest = database.game.read("8/8/8/8/8/2k5/1R6/K7 b")
        assert database[longest].remoteness == 32 and capture in database


def test_where_the_game_is_over_no_other_need_be_there(folder, tmp_path):
    """What the rules say is what is stored there, of one position and of many."""
    with (
        open_database(shutil.copy(folder / "chess,KNK.h5", tmp_path)) as alone,
        open_database(folder / "chess,KK.h5") as kings,
    ):
        positions = [position for _, some, *_ in kings.records() for position in some.tolist()][::7]
        positions += [next(iter(alone.game.images(position))) for position in positions[:20]]
        assert [alone[position] for position in positions] == [kings[position] for position in positions]
        assert all(map(np.array_equal, alone.lookup(positions), kings.lookup(positions)))
        strangers = [position ^ 1 << bit for position in positions[:30] for bit in range(34, 46)]
        assert None in map(kings.get, strangers)
        assert [alone.get(position) for position in strangers] == [kings.get(position) for position in strangers]
        assert all(map(np.array_equal, alone.lookup(strangers), kings.lookup(strangers)))


def test_a_database_that_is_not_there_is_named(folder, tmp_path):
    shutil.copy(folder / "chess,KRKN.h5", tmp_path)
    with open_database(tmp_path / "chess,KRKN.h5") as database:
        assert database.get(database.game.read("8/8/8/8/8/2k5/6n1/K6R w"))
        with pytest.raises(NoDatabase, match="chess:KRKN rests on others: no database for chess:KRK; make it with: "):
            database.get(database.game.read("8/8/8/3k4/8/8/8/K6R w"))


@pytest.mark.thorough
def test_values_are_verified_against_those_of_other_databases(folder, tmp_path):
    for path in folder.iterdir():
        shutil.copy(path, tmp_path)
    with open_database(tmp_path / "chess,KRKN.h5") as database:
        report = verify(database)
    assert report.ok and "the databases of chess:KRK, chess:KNK as they are" in report.rests_on
    forged = Forged.read(tmp_path / "chess,KRK.h5")  # each mate takes two plies more there
    legend = forged.parts["legend"].rows()
    legend["remoteness"] += 2 * (legend["remoteness"] >= 0)
    forged.parts["legend"].put(legend)
    forged.write(tmp_path / "chess,KRK.h5")
    with open_database(tmp_path / "chess,KRKN.h5") as database:
        report = verify(database)
    assert report.wrong > 1000


@pytest.mark.thorough
def test_the_verifier_loads_tiers_that_it_lacks(folder, monkeypatch):
    """Whichever tiers it has met among the children of some positions, here none."""
    monkeypatch.setattr(slots, "TIER_SAMPLE", 0)
    with open_database(folder / "chess,KRKN.h5") as database:
        verifier = slots.SlotsVerifier(database)
        assert verifier.tiers.tolist() == [KRKN]
        assert verify(database, interpreted=False).ok


@pytest.mark.thorough
def test_a_solve_goes_on_from_the_databases_that_are_there(folder, tmp_path):
    shutil.copy(folder / "chess,KRK.h5", tmp_path)
    before = (tmp_path / "chess,KRK.h5").stat().st_mtime_ns
    told = []
    path = solve(load_game("chess:KRKN"), tmp_path / "chess,KRKN.h5", listener=told.append)
    assert (tmp_path / "chess,KRK.h5").stat().st_mtime_ns == before
    assert path.read_bytes() == (folder / path.name).read_bytes()
    said = {progress.phase for progress in told}
    assert "solving chess:KNK, on which it rests, 3 of 3" in said and not any("chess:KRK," in one for one in said)
    solving = [progress.below for progress in told if progress.phase in ("solving", "writing")]
    assert list(dict.fromkeys(solving)) == ["chess:KK, 1 of 3", "chess:KNK, 3 of 3", ""]


def test_what_the_usual_place_has_is_not_solved_again(folder, tmp_path, monkeypatch):
    """Neither what it rests on, nor the ending itself, which other databases than its own do not have."""
    monkeypatch.setenv("RETROGRADE_HOME", str(folder))
    monkeypatch.setattr(store, "solve_by_sets", lambda *_: pytest.fail("it is solved"))
    path = solve(load_game("chess:KRK"), tmp_path / "chess,KRK.h5")
    assert path.read_bytes() == (folder / path.name).read_bytes()
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


class Rebuilt(Chess):
    """Chess, as far as anybody knows, and so solved slot by slot."""

    name = "chess"


@pytest.mark.long
def test_numbered_it_comes_to_the_same(folder, tmp_path):
    for path in folder.iterdir():
        shutil.copy(path, tmp_path)
    whole = (tmp_path / "chess,KRK.h5").read_bytes()
    assert solve(load_game("chess:KRK"), tmp_path / "chess,KRK.h5", method="numbered", fresh=True).read_bytes() == whole


@pytest.mark.parametrize("where", [slice(None), slice(0, 5), slice(16_380, 40_001), slice(59_000, None)])
def test_some_slots_of_a_tier_are_read(folder, where):
    tier = TIERS.index("KRK")
    with open_database(folder / "chess,KRK.h5") as database, Elsewhere(load_game("chess:KRKN"), folder) as elsewhere:
        rows, legend = elsewhere.rows(tier, where, 14)
        assert np.array_equal(rows, database.all_slots()[where])
        assert np.array_equal(legend[rows], elsewhere.scores(tier, 14)[where])


@pytest.mark.thorough
def test_slot_by_slot_it_comes_to_the_same(folder, tmp_path):
    """The databases of the others are made in the same way."""
    shutil.copy(folder / "chess,KRK.h5", tmp_path)
    path = solve(Rebuilt("KRK"), tmp_path / "rebuilt" / "chess,KRK.h5")
    with open_database(path, game=Rebuilt("KRK")) as database, open_database(tmp_path / "chess,KRK.h5") as plain:
        assert database.contents.tiers.numbers.tolist() == [TIERS.index("KRK")]
        assert np.array_equal(database.all_slots(), plain.all_slots())
    assert sorted(other.name for other in path.parent.iterdir()) == ["chess,KK.h5", path.name]


def test_what_takes_too_much_or_too_long_says_so(folder, tmp_path, monkeypatch):
    for path in folder.iterdir():
        shutil.copy(path, tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(analysis, "DEEPEST", 19)
        with pytest.raises(MetricNotApplicable, match="its mates take too many plies"):
            solve(load_game("chess:KRKN"), tmp_path / "chess,KRKN.h5", fresh=True)
    with monkeypatch.context() as patch:
        patch.setattr(Formation, "memory", lambda self, by_zeroing: 1 << 60)
        with pytest.raises(MemoryLimit):
            solve(load_game("chess:KRKN"), tmp_path / "chess,KRKN.h5", fresh=True)


def test_a_database_that_cannot_be_rested_on_is_told_before_anything_begins(folder, tmp_path):
    for path in folder.iterdir():
        shutil.copy(path, tmp_path)
    (tmp_path / "chess,KRKN.h5").unlink()
    whole = (tmp_path / "chess,KRK.h5").read_bytes()
    (tmp_path / "chess,KRK.h5").write_bytes(whole[:3000])
    with pytest.raises(CannotSolve, match="chess:KRKN rests on chess:KRK, which cannot be used: the database"):
        solve(load_game("chess:KRKN"), tmp_path / "chess,KRKN.h5", fresh=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"chess,{name}.h5" for name in ("KK", "KNK", "KRK")]


@pytest.mark.thorough
def test_no_file_stays_open(folder, tmp_path):
    gc.disable()  # else it might close them
    try:
        solve(load_game("chess:KRKN"), tmp_path / "chess,KRKN.h5")
        assert not [file.path for file in psutil.Process().open_files() if str(tmp_path) in file.path]
    finally:
        gc.enable()


class Lost(Chess):
    """Says of the kings alone that they are in a database which has not got them either."""

    name = "chess"

    def elsewhere(self, tier):
        return "chess:KRK" if TIERS[tier] == "KK" else ""


def test_check_sees_what_is_in_no_database():
    report = check(Lost("KRK"), compiled=False)
    (finding,) = report.findings
    assert finding.rule == "elsewhere" and "not in the database of that variant either" in finding.complaint


class Between(Chess):
    """Has a tier of its own behind one that is elsewhere."""

    def elsewhere(self, tier):
        return "chess:KRK" if TIERS[tier] == "KRK" else ""


def test_own_tiers_come_first():
    with pytest.raises(RuleError, match="is behind one that is elsewhere"):
        own_tiers(Between("KRKN"))


# Five men


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["KRBKR", "KBBKN", "KPPPK", "KNPKP"])
def test_endings_of_five_men_are_as_published(ending, tmp_path, monkeypatch):
    """By the counts of Syzygy's tables; positions with en passant rights are no part of those."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    endings = importlib.import_module("endings")
    path = solve(load_game(f"chess:{ending}"), tmp_path / f"chess,{ending}.h5")
    with open_database(path) as database:
        counts = endings.counts_of(database, ending)
    assert endings.by_value(counts) == endings.by_value(endings.published()[ending])


@pytest.mark.thorough
def test_counts_as_syzygy_has_them_of_like_men(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    endings = importlib.import_module("endings")
    with open_database(solve(load_game("chess:KRRK"), tmp_path / "krrk.h5")) as database:
        counts = endings.by_value(endings.counts_of(database, "KRRK"))
    assert [[side[value, None] for value in (WIN, DRAW, LOSE)] for side in counts] == KRRK
