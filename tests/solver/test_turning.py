"""Games in which a player may move again, and puzzles: solved in every way, equal to a slow and obvious solver."""

import pytest
from hypothesis import given, settings

from retrograde.databases import open_database
from retrograde.games import DRAW, LOSE, TIE, UNDECIDED, WIN, Game, RuleError
from retrograde.solver.engine import solve
from retrograde.solver.estimation.estimate import estimate
from retrograde.solver.options import CannotSolve
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.verification.verify import verify
from tests.helpers import reference, tangle, turning
from tests.helpers.marks import thorough_but
from tests.helpers.solving import counts, graphs, outcomes
from tests.solver.verification.test_verify import Records

SLOW = pytest.mark.slow
GAMES = [
    turning.Turning,
    turning.TurningWithParents,
    pytest.param(turning.Alone, marks=SLOW),
    pytest.param(turning.AloneWithParents, marks=SLOW),
]
DENSE = [turning.DenseTurning, pytest.param(turning.DenseAlone, marks=SLOW)]


def named(rules):
    """Return the name of a class of games."""
    return rules.__name__


@pytest.fixture(scope="module")
def path(tmp_path_factory, any_file_replaced):
    return tmp_path_factory.mktemp("turning") / "game.h5"


@pytest.mark.usefixtures("solver_alone")
@pytest.mark.parametrize("way", thorough_but(["interpreted", "compiled"], "compiled"))
@pytest.mark.parametrize("rules", thorough_but(GAMES, GAMES[0]), ids=named)
@settings(max_examples=15)
@given(start=graphs)
@pytest.mark.long
def test_random_games(rules, way, path, start):
    game = rules()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules, "start", start)
        solve(game, path, method=way)
        solution = turning.solve(game, symmetric=True)
        assert outcomes(path, game) == solution
        assert counts(path) == reference.counts_of_classes(game, solution)
        with open_database(path, game=game) as database:
            assert verify(database, interpreted=True).ok
            assert way == "interpreted" or verify(database, interpreted=False).ok


@pytest.mark.thorough
@pytest.mark.usefixtures("solver_alone")
@pytest.mark.parametrize("way", ["interpreted", "compiled"])
@pytest.mark.parametrize("rules", DENSE, ids=named)
@settings(max_examples=40)
@given(start=graphs)
@pytest.mark.long
def test_random_games_with_a_numbering(rules, way, path, start):
    game = rules()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules, "start", start)
        nodes = [start - (start & 127) + node for node in range(2 * game.pairs(start))]
        solve(game, path, method=way, fresh=True)
        assert outcomes(path, game) == turning.solve(game, symmetric=True, starts=nodes)
        with open_database(path, game=game) as database:
            assert verify(database, interpreted=way == "interpreted").ok


@pytest.mark.parametrize("rules", [turning.Turning, turning.Alone])
def test_random_games_have_everything(rules):
    """The games above are worth testing with: all values, and remotenesses that alternating turns do not have."""
    found, parities = set(), set()
    for seed in range(60):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rules, "start", tangle.position_of(seed, bool(seed & 1), seed >> 2 & 3, seed & 3, 63))
            for value, remoteness in turning.solve(rules(), symmetric=True).values():
                found.add(value)
                parities.add((value, (remoteness or 0) % 2))
    assert found == {LOSE, DRAW, TIE, WIN}
    assert {(WIN, 0), (WIN, 1), (LOSE, 0), (LOSE, 1)} <= parities


@pytest.mark.thorough
def test_turns_that_alternate_are_solved_as_if_nothing_said_so(tmp_path):
    """Nim with two heaps, whose positions say whose turn it is, and the same game without a word about it."""
    told, plain = turning.Told(), turning.Untold()
    found = [outcomes(solve(game, tmp_path / type(game).__name__, method="compiled"), game) for game in (told, plain)]
    assert found[0] == found[1] == reference.solve(plain)


@pytest.mark.thorough
@pytest.mark.parametrize("interpreted", [True, False])
@pytest.mark.parametrize("rules", [turning.Turning, turning.Alone])
@pytest.mark.long
def test_verify_finds_a_value_that_is_turned_round(rules, interpreted, tmp_path, monkeypatch):
    monkeypatch.setattr(rules, "start", tangle.position_of(7, False, 1, 1, 63))
    game = rules()
    with open_database(solve(game, tmp_path / "right.h5", method="compiled"), game=game) as database:
        right = Records.of(database)
    flips = [number for number, (*_, (value, _)) in enumerate(right.records) if value in (WIN, LOSE)]
    assert len(flips) > 10
    for number in flips:
        wrong = Records(game, list(right.records))
        tier, position, (value, remoteness) = right.records[number]
        wrong.records[number] = tier, position, (WIN if value == LOSE else LOSE, remoteness)
        with open_database(wrong.count().write(tmp_path / f"{number}.h5"), game=game) as database:
            report = verify(database, interpreted=interpreted)
        assert any("is stored as" in str(problem) for problem in report.problems)


def test_games_in_which_a_player_moves_again_are_not_solved_in_a_stream(tmp_path):
    with pytest.raises(CannotSolve):
        solve(turning.Told(), tmp_path / "game.h5", method="streamed")


def test_chance_that_shows_late_is_refused_in_one_line(tmp_path):
    for way in ("interpreted", "compiled"):
        with pytest.raises(RuleError, match="it is chance's turn, and remoteness is for games without") as caught:
            solve(turning.LateChance(), tmp_path / "game.h5", method=way)
        assert len(str(caught.value).splitlines()) == 1


class Walk(Game):
    """Count down by one or two, alone, from several numbers, in tiers of their own."""

    players = 1
    starts = (60, 31, 90, 31)

    def generate_moves(self, position):
        yield from range(1, 3)

    def do_move(self, position, move):
        return max(position - move, 0)

    def primitive(self, position):
        return UNDECIDED if position else WIN

    def tier(self, position):
        return -position


@pytest.mark.thorough
@pytest.mark.parametrize("way", ["interpreted", "compiled"])
def test_play_begins_in_all_first_positions(way, tmp_path):
    path = solve(Walk(), tmp_path / "game.h5", method=way, sizes=Sizes(in_memory=1))
    assert outcomes(path, Walk()) == turning.solve(Walk(), starts=Walk().starts)
    assert outcomes(path, Walk()) == {n: (WIN, -(-n // 2)) for n in range(91)}
    with open_database(path, game=Walk()) as database:
        assert database.file.start == 60
        assert verify(database, interpreted=True).ok
        assert verify(database, interpreted=False).ok


def test_an_estimate_counts_from_all_first_positions():
    found = estimate(Walk(), in_memory=1)
    assert (found.records, found.complete, found.streamed) == (91, True, False)
    assert found.waves[0] == 3
