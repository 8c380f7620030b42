"""Distances to zeroing, by the fifty-move rule of chess: against the counts of Syzygy's tables, and by verification.

What is published is in tests/data/zeroing.csv, from regular-stats.txt of github.com/niklasf/syzygy-tables.info: for
each ending of three to five men how many positions win and lose in how many plies.
"""

import importlib
import json
import shutil

import numpy as np
import pytest
from click.testing import CliRunner

from retrograde.cli.commands.batch import database_with
from retrograde.cli.main import main
from retrograde.databases import NoDatabase, database_path, open_database
from retrograde.games import RuleError
from retrograde.games.catalog import load_game
from retrograde.games.chess import Chess
from retrograde.games.contract.game import DRAW, FLIPPED, LOSE, UNDECIDED, WIN
from retrograde.games.contract.zeroing import by_rule
from retrograde.solver import engine
from retrograde.solver.engine import solve
from retrograde.solver.methods.chess import tiers, zeroing
from retrograde.solver.methods.chess.fit import BITS, LaterScores
from retrograde.solver.methods.chess.formation import Formation
from retrograde.solver.methods.numbered import by_sets
from retrograde.solver.options import CannotSolve
from retrograde.solver.play.oracles.fifty_moves import apply_fifty_move_rule
from retrograde.solver.play.solution import open_solution
from retrograde.solver.values.score import encode
from retrograde.solver.verification.verify import verify
from tests.helpers.marks import thorough_but
from tests.helpers.paths import ROOT
from tests.helpers.solving import copy_whole

pytestmark = pytest.mark.long

LONGEST = "5R2/8/8/8/8/k7/8/2K3n1 b - - 0 1"
"""Of rook against knight, as regular-stats.txt has it: White wins in 54 plies."""


@pytest.fixture(scope="module")
def home(solved, tmp_path_factory):
    """A folder with rook against knight by both metrics."""
    folder = tmp_path_factory.mktemp("home")
    copy_whole(solved("chess:KRKN"), folder)
    copy_whole(solved("chess:KRKN", "dtz"), folder)
    return folder


@pytest.fixture
def endings(monkeypatch):
    """The benchmark that counts as Syzygy's tables do."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("endings")


def run(home, *arguments):
    result = CliRunner().invoke(main, arguments, env={"RETROGRADE_HOME": str(home)})
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("ending", thorough_but(["KRKN", "KPK", "KPKP"], "KRKN", "KPK"))
def test_plies_are_as_published(solved, endings, ending):
    """All of them; pawns of both sides, captures en passant and promotions included."""
    with open_database(solved(f"chess:{ending}", "dtz")) as database:
        assert endings.counts_of(database, ending) == endings.published()[ending]


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["KRRK", "KQKP", "KQKQ", "KPPK", "KRBKR", "KNNKP", "KPPKP"])
def test_plies_of_more_endings_are_as_published(tmp_path, endings, ending):
    """KRBKR and KNNKP have wins that the fifty-move rule makes draws."""
    path = solve(load_game(f"chess:{ending}"), database_path(f"chess:{ending}", tmp_path, "dtz"), metric="dtz")
    with open_database(path) as database:
        assert endings.counts_of(database, ending) == endings.published()[ending]


@pytest.mark.thorough
def test_verification_derives_them_again(solved):
    with open_database(solved("chess:KPKP", "dtz")) as database:
        assert verify(database).ok


@pytest.mark.thorough
def test_verification_sees_what_is_wrong(tmp_path, monkeypatch):
    """Wins in 15 plies told as in 17, and nothing looked at on the way."""
    wrong = zeroing.table_of_scores().copy()
    wrong[16] = wrong[18]
    monkeypatch.setattr(zeroing, "table_of_scores", lambda: wrong)
    monkeypatch.setattr(by_sets, "check_slot", lambda *about: None)
    monkeypatch.setattr(engine, "verify_sample", lambda *about: None)
    with open_database(solve(load_game("chess:KRK"), tmp_path / "krk.h5", metric="dtz", fresh=True)) as database:
        found = verify(database)
    assert found.wrong > 1000 and any("WIN in 17" in str(problem) for problem in found.problems)


@pytest.mark.thorough
def test_values_are_those_without_the_rule(home):
    """Whether there is a rule or not, a position is won, drawn or lost alike."""
    with open_solution(database_path("chess:KRKN", home)) as mates:
        by_zeroing = mates.zeroing
        for piece in mates.positions(tier=load_game("chess:KRKN").tier(by_zeroing.game.read(LONGEST))):
            values, plies = by_zeroing.lookup(piece.positions)
            assert (values == piece.values).all()
            assert (plies <= piece.remoteness).all()


def test_slots_that_do_not_follow_are_seen(tmp_path, monkeypatch):
    collect = tiers.collect_scores

    def wrong(formation, known, scores, pawns, table):
        counts = collect(formation, known, scores, pawns, table)
        scores[len(scores) // 5 :] ^= 3
        return counts

    monkeypatch.setattr(tiers, "collect_scores", wrong)
    with pytest.raises(RuleError):
        solve(Chess("KRK"), tmp_path / "game.h5", fresh=True, metric="dtz")


def test_codes_are_ordered_by_their_scores_and_have_the_results_of_zeroing_moves():
    codes = np.array([0, 2, 101, 102, 255, 256 + 1, 256 + 2, 256 + 101, 256 + 102, 511])
    order = np.argsort(zeroing.table_of_scores()[codes])  # to lose soon is worst; then late, a draw, to win late, soon
    assert codes[order].tolist() == [257, 258, 357, 358, 511, 0, 255, 102, 101, 2]
    # The other side wins soon or late, draws, or loses late or soon.
    assert zeroing.RESULTS[codes[order]].tolist() == [4, 4, 4, 3, 3, 2, 1, 1, 0, 0]
    assert zeroing.CODES_OF_CAPTURES[[0, 2, 102, 3, 103]].tolist() == [0, 2, 102, 256 + 2, 256 + 102]


@pytest.mark.parametrize(("plies", "after"), [(99, 1), (100, 1), (101, 101)])
def test_a_capture_counts_as_late_from_one_ply_beyond_the_rule_on(plies, after):
    """As if bare kings had lost in so many plies: each capture of the rook then wins, soon or late."""

    def scores_of(tier, slots):
        return LaterScores(np.full(Chess("KK").size(tier), encode(LOSE, plies, BITS), np.uint16)[slots])

    (_, black), _ = zeroing.analyse(Formation("KRK"), scores_of, map, lambda *_: None)
    assert set(black[black < zeroing.LOST].tolist()) == {0, after + 1}


def test_levels_hold_each_position_once():
    for ending in ("KRKN", "KPKP", "KPPK", "KRPK"):
        formation = zeroing.Formation(ending)
        masks = [zeroing.positions_in(formation, level) for level in zeroing.levels(formation)]
        assert not any((one & other).any() for i, one in enumerate(masks) for other in masks[:i])
        every = np.bitwise_or.reduce(masks)
        legal = np.empty_like(every)
        zeroing.kernels.find_legal(formation.men, zeroing.geometry(), 0, legal, np.empty_like(every))
        assert not (legal & ~every).any()


# Asking


def test_a_query_tells_what_the_rule_says(home):
    text = run(home, "query", "chess:KRKN", LONGEST)
    assert "Black to move loses: mated in 39 (78 plies)\nBy the fifty-move rule: a loss, zeroing in 54 plies" in text
    told = json.loads(run(home, "query", "chess:KRKN", LONGEST, "--json"))
    assert (told["remoteness"], told["dtz"], told["category"]) == (78, -54, "loss")
    assert (told["moves"][0]["move"], told["moves"][0]["dtz"]) == ("Ne2+", 53)


def test_a_database_by_zeroing_is_asked_like_others(home):
    text = run(home, "query", "chess:KRKN@dtz", LONGEST)
    assert "Black to move loses: zeroing in 54" in text and "Ne2+ lose zeroing in 54" in text
    assert "Kxc5" in text.partition("Best play")[2]
    told = json.loads(run(home, "query", "chess:KRKN@dtz", LONGEST, "--json"))
    assert (told["value"], told["dtz"], told["category"]) == ("lose", -54, "loss")
    assert "zeroing in 54  5R2/8/8/8/8/k7/8/2K3n1 b" in run(home, "info", "chess:KRKN@dtz")
    facts = json.loads(run(home, "info", "chess:KRKN@dtz", "--json"))
    assert facts["metric"] == "dtz"


def test_moves_that_zero_count_anew(home):
    """A capture is one ply whatever comes after it."""
    with open_solution(database_path("chess:KRKN", home, "dtz")) as solution:
        position = solution.game.read("8/8/8/8/8/2k5/1n6/KR6 w")
        (takes,) = (choice for choice in solution.moves(position) if choice.name == "Rxb2")
        assert solution.value(takes.position) == (LOSE, 32)  # a rook against the bare king
        assert (takes.brings, takes.remoteness, takes.far) == (WIN, 0, "zeroing in 1")
        lost = solution.game.read(LONGEST)
        assert solution.value(lost) == (LOSE, 54)
        assert [choice.remoteness for choice in solution.moves(lost)] == [53, 11, 11, 9, 7, 3, 1]


def test_a_query_counts_anew_after_a_capture(home):
    """The capture wins with the rule nearly used up, since 32 plies are left of a hundred; other moves are too late."""
    fen = "8/8/8/8/8/2k5/1n6/KR6 w - - 98 80"
    one = json.loads(run(home, "query", "chess:KRKN", fen, "--json"))
    (home / "capture.txt").write_text(f"chess:KRKN\t{fen}\n")
    many = json.loads(run(home, "query", "--batch", str(home / "capture.txt"), "--moves", "--json"))
    for told in (one, many):
        moves = {move["move"]: (move["dtz"], move["category"]) for move in told["moves"]}
        assert (told["dtz"], told["category"]) == (1, "win")
        assert moves.pop("Rxb2") == (-32, "loss") and len(moves) > 1
        assert not {category for _, category in moves.values()} & {"win", "loss"}


def test_what_zeroes(home):
    chess = load_game("chess:KRKP")
    position = chess.read("8/8/8/8/8/1k6/7p/K6R w")
    told = {chess.move_name(position, move): chess.zeroes(position, move) for move in chess.generate_moves(position)}
    assert told.pop("Rxh2") and not any(told.values())
    position = chess.read("8/8/8/8/8/1k6/7p/K5R1 b")
    told = {chess.move_name(position, move): chess.zeroes(position, move) for move in chess.generate_moves(position)}
    assert told["hxg1=Q#"] and told["h1=Q"] and not told["Kc3"]


def test_other_games_have_none(tmp_path):
    with pytest.raises(CannotSolve, match="for chess endgames only, by the set-wise method"):
        solve(load_game("tictactoe"), tmp_path / "game.h5", metric="dtz")
    with pytest.raises(CannotSolve, match="for chess endgames only, by the set-wise method"):
        solve(load_game("chess:KRK"), tmp_path / "game.h5", metric="dtz", method="numbered")
    assert not list(tmp_path.iterdir())


def test_a_set_by_zeroing(tmp_path):
    told = run(tmp_path, "solve", "chess:all=3", "--metric", "dtz")
    assert "5 of 5 solved" in told
    assert {path.name for path in tmp_path.glob("*.h5")} == {
        f"chess,{ending}@dtz.h5" for ending in ("KK", "KRK", "KQK", "KNK", "KBK", "KPK")
    }
    assert "before" in run(tmp_path, "solve", "chess:all=3@dtz")
    told = run(tmp_path, "solve", "chess:KRK", "--metric", "dtz", "--estimate", "--json").splitlines()[-1]
    assert json.loads(told)["records"] > 40_000


def test_distances_to_mate_are_taken_from_no_such_database(home, tmp_path, monkeypatch):
    """Whoever wants them says that there is none, or which one is meant."""
    shutil.copy(database_path("chess:KRKN", home, "dtz"), tmp_path)
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    with pytest.raises(NoDatabase):
        database_with("chess:KRKN")


def test_a_file_by_zeroing_is_no_usual_database(home, tmp_path, monkeypatch):
    pytest.importorskip("fastapi")
    from retrograde.cli.web.library import Library

    shutil.copy(database_path("chess:KRKN", home, "dtz"), tmp_path)
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    library = Library()
    assert library.all() == [] and library.shelf.find("chess:KRKN") is None
    assert library.solution("chess:KRKN@dtz").metric == "dtz"
    with pytest.raises(NoDatabase):
        library.solution("chess:KRKN")


def test_counts_tell_draws_from_mates(home):
    text = run(home, "info", "chess:KRKN@dtz")
    assert text.startswith("chess:KRKN@dtz: every position there is")
    rows = json.loads(run(home, "info", "chess:KRKN@dtz", "--json"))["by_measure"]
    ends = {row["value"]: row["count"] for row in rows if row["dtz"] == 0}
    assert ends.keys() == {"draw", "lose"} and ends["draw"] > 1000 * ends["lose"] > 0
    assert all((row["dtz"] < 0) == (row["value"] == "lose") for row in rows if row["dtz"])


@pytest.mark.parametrize("where", [0.5, 1.0])
def test_a_damaged_database_is_passed_over_with_a_warning(home, tmp_path, where):
    """Both one that cannot be opened, and one of which a block cannot be read."""
    copy_whole(database_path("chess:KRKN", home), tmp_path)
    whole = database_path("chess:KRKN", home, "dtz").read_bytes()
    damaged = whole[: len(whole) // 2]
    if where == 1.0:
        damaged = bytearray(whole)
        for place in range(len(whole) // 4, 3 * len(whole) // 4, 97):
            damaged[place] ^= 255
    (tmp_path / "chess,KRKN@dtz.h5").write_bytes(damaged)
    result = CliRunner().invoke(main, ["query", "chess:KRKN", LONGEST], env={"RETROGRADE_HOME": str(tmp_path)})
    assert result.exit_code == 0 and "mated in 39" in result.output
    (line,) = (line for line in result.output.splitlines() if line.startswith("retrograde: warning: "))
    assert "chess,KRKN@dtz.h5" in line and line.endswith("; the answer ignores the fifty-move rule")


# Playing by the rule


def end_of(solution, position, count):
    """Return what a game comes to that both play as well as can be by the rule, for who begins."""
    first, plies = position, 0
    while solution.game.primitive(position) == UNDECIDED:
        if count >= 100:
            return DRAW
        (best, *_) = apply_fifty_move_rule(solution, position, count).best(position)
        count = 0 if solution.game.zeroes(position, best.move) else count + 1
        position, plies = best.position, plies + 1
    value = solution.game.primitive(position)
    assert plies < 300, first
    return value if plies % 2 == 0 else FLIPPED[value]


@pytest.mark.thorough
def test_what_is_won_by_the_rule_is_won_in_time(home):
    """At positions of each distance, with a count after which it can be done just so, and with one more."""
    with open_solution(database_path("chess:KRKN", home)) as solution:
        for row in solution.zeroing.database.file.legend[::5]:
            if not row.remoteness or row.value == DRAW:
                continue
            for count in (100 - row.remoteness, 101 - row.remoteness):
                value = by_rule(row.value, row.remoteness, count)
                assert apply_fifty_move_rule(solution, row.example, count).value(row.example).value == value
                assert end_of(solution, row.example, count) == value, (row, count)


def test_without_the_count_mate_comes_soonest(home):
    with open_solution(database_path("chess:KRKN", home)) as solution:
        position = solution.game.read(LONGEST)
        assert [choice[:2] for choice in apply_fifty_move_rule(solution, position, 0).line(position)][:5] == [
            choice[:2] for choice in solution.line(position)
        ][:5]
        assert apply_fifty_move_rule(solution, position, 0).value(position) == (LOSE, 78)
        assert apply_fifty_move_rule(solution, position, 47).value(position) == (DRAW, None)


@pytest.mark.thorough
def test_a_game_goes_on_from_the_count_of_its_fen(home):
    lost, kept = (LONGEST.replace("- 0 1", f"- {count} 80") for count in (46, 47))
    perfect = "--first", "perfect", "--second", "perfect"
    assert "White wins after" in run(home, "play", "chess:KRKN", "--from", lost, *perfect)
    told = run(home, "play", "chess:KRKN", "--from", kept, *perfect)
    assert told.rstrip().endswith("a draw after 27 moves: by the fifty-move rule")
    assert "by the fifty-move rule" not in run(home, "play", "chess:KRKN", "--from", LONGEST, *perfect)
    full = LONGEST.replace("- 0 1", "- 100 80")
    assert run(home, "play", "chess:KRKN", "--from", full, *perfect).endswith("\n\na draw by the fifty-move rule\n")


def test_a_win_that_comes_too_late_is_a_mistake(home, tmp_path):
    """Where just so many plies have gone by that it is won in time by some moves alone."""
    with open_solution(database_path("chess:KRKN", home)) as solution:
        position = solution.game.read(LONGEST)
        line = [position, *(choice.position for choice in apply_fifty_move_rule(solution, position, 46).line(position))]
        position, count, late = next(
            (here, 46 + plies, choice.name)
            for plies, here in enumerate(line)
            for choice in apply_fifty_move_rule(solution, here, 46 + plies).moves(here)
            if choice.value == LOSE and choice.brings == DRAW
        )
        text = solution.game.write(position).removesuffix("0 1")
    game = tmp_path / "game.pgn"
    for plies, mistakes in ((count, "a mistake"), (0, "no mistake")):
        game.write_text(f'[SetUp "1"]\n[FEN "{text}{plies} 80"]\n\n80. {late} *\n')
        told = CliRunner().invoke(main, ["annotate", str(game)], env={"RETROGRADE_HOME": str(home)}).output
        assert f"1 move known, {mistakes}" in told
        assert ("draw by the fifty-move rule; this gives the win away" in " ".join(told.split())) == (plies > 0)


def test_query_counts_from_what_fen_says(home):
    """54 plies after 46 without progress are a loss, after 47 a draw."""
    for count, noun, category in ((46, "a loss", "loss"), (47, "a draw", "blessed-loss")):
        fen = LONGEST.replace("0 1", f"{count} 80")
        assert f"By the fifty-move rule: {noun}, zeroing in 54 plies after {count}\n" in run(
            home, "query", "chess:KRKN", fen
        )
        facts = json.loads(run(home, "query", "chess:KRKN", fen, "--json"))
        assert (facts["dtz"], facts["category"]) == (-54, category)
        assert {move["category"] for move in facts["moves"] if move["dtz"] == 53} == {
            {"loss": "win", "blessed-loss": "cursed-win"}[category]
        }


def test_a_game_that_is_played_is_judged_and_written_by_the_count(solved, tmp_path):
    """The third move wins by the mate, and not within fifty."""
    copy_whole(solved("chess:KRK"), tmp_path)
    copy_whole(solved("chess:KRK", "dtz"), tmp_path)
    game = tmp_path / "game.pgn"
    words = ["play", "chess:KRK", "--first", "human", "--second", "perfect", "--seed", "1", "--hints"]
    result = CliRunner().invoke(
        main,
        [*words, "--from", "8/8/8/8/8/8/1R6/K3k3 w - - 70 100", "--pgn", str(game)],
        input="Kb1\nRb8\nRc8\nquit\n",
        env={"RETROGRADE_HOME": str(tmp_path)},
    )
    assert result.exit_code == 0, result.output
    assert "threw the win away: draw; better" in result.output
    assert "  draw in " not in result.output  # the end of a draw by the rule is not told
    assert '[FEN "8/8/8/8/8/8/1R6/K3k3 w - - 70 1"]' in game.read_text()
