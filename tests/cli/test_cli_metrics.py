"""Metrics on the command line: what solve, query, info, list and sum say of them."""

import json

import pytest

from tests.helpers.command_line import retrograde

pytestmark = pytest.mark.long

HARE = ["hareandhounds", "--metric", "drawlevel"]


@pytest.fixture(scope="module", autouse=True)
def solved(tmp_path_factory):
    """A folder with a few databases by metrics."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RETROGRADE_HOME", str(tmp_path_factory.mktemp("metrics")))
        for words in (["nim:heaps=1+2"], ["tictactoe", "--metric", "score"], ["nim3"], ["tictactoe"], HARE):
            retrograde("solve", *words)
        yield


def told(*args):
    return json.loads(retrograde(*args, "--json").stdout)


def test_solve_and_info_tell_what_the_start_is_worth():
    assert "Nimber: *3" in retrograde("solve", "nim:heaps=1+2").stdout
    info = retrograde("info", "tictactoe@score").stdout
    assert "Score: 0" in info and "score   positions" in info
    facts = told("info", "tictactoe@score")
    assert facts["metric"] == "score" and facts["start"]["score"] == 0
    assert [row["score"] for row in facts["by_measure"]] == [-2, 0, 2]
    assert sum(row["count"] for row in facts["by_measure"]) == facts["positions"] == 5478
    assert facts["by_remoteness"] == told("info", "tictactoe")["by_remoteness"]
    assert told("info", "tictactoe")["metric"] == "remoteness"


def test_query_tells_it_of_positions_and_moves():
    facts = told("query", "nim:heaps=1+2")
    assert facts["nimber"] == 3 and facts["value"] == "win"
    assert {move["move"]: move["nimber"] for move in facts["moves"]} == {"2>1": 0, "2>0": 1, "1>0": 2}
    assert facts["moves"][0]["move"] == "2>1"
    text = retrograde("query", "tictactoe@score", "X.O/.X./...").stdout
    assert "Score: 0" in text and "b1 lose in 2 -2" in text


def test_what_three_players_get_is_told_of_all():
    facts = told("query", "nim3", "2,2")
    assert (facts["value"], facts["utilities"]) == ("win", [0, 1, 0])
    assert {move["move"]: move["utilities"] for move in facts["moves"]} == {"2>0": [0, 1, 0], "2>1": [0, 0, 1]}
    text = retrograde("query", "nim3", "2,2").stdout
    assert "gets the most in 1 ply" in text and "Utilities: 0 : 1 : 0" in text
    rows = [line.split() for line in text.splitlines() if line.startswith("  2>")]
    assert rows == [
        ["2>0", "win", "in", "1", "0", ":", "1", ":", "0"],
        ["2>1", "lose", "in", "2", "0", ":", "0", ":", "1"],
    ]
    assert "another gets more than the first player in 5 plies" in retrograde("list").stdout


def test_draws_are_told_with_level_and_remoteness():
    """The counts are those of GamesmanClassic, src/mharegame.c, whose symmetric positions are counted each as well."""
    facts = told("info", "hareandhounds@drawlevel")
    none = {"drawlevel": None, "drawremoteness": None}
    assert facts["values"] == {"win": 1118, "lose": 849, "tie": 0, "draw": 543}
    assert facts["by_measure"] == [
        {"draw": None, **none, "count": 1118 + 849},
        {"draw": "lose", "drawlevel": 0, "drawremoteness": 0, "count": 48},
        {"draw": "draw", **none, "count": 486},
        {"draw": "win", "drawlevel": 0, "drawremoteness": 1, "count": 9},
    ]
    database = "hareandhounds@drawlevel"
    facts = told("query", database, "..H/D.D.D/.../H")
    assert (facts["value"], facts["draw"], facts["drawlevel"], facts["drawremoteness"]) == ("draw", "win", 0, 1)
    assert {move["move"]: (move["draw"], move["drawremoteness"]) for move in facts["moves"]} == {
        "3-2": ("lose", 0),
        "3-7": ("lose", 0),
    }
    text = retrograde("query", database, "..H/D.D.D/.../H").stdout
    assert "As a draw: draw-win in 1, level 0" in text and "3-2 draw   draw-win in 1, level 0" in text
    assert "draw-win in 1, level 0" in retrograde("info", database).stdout
    assert "by drawlevel every position" in retrograde("verify", database).stdout


def test_databases_are_listed_with_the_metric_that_is_not_the_game_s_own():
    lines = retrograde("list").stdout.splitlines()
    assert sorted(line.split()[0] for line in lines if line.startswith("tictactoe")) == ["tictactoe", "tictactoe@score"]


def test_a_sum_is_worth_the_xor_and_says_how_it_is_won():
    assert told("sum", "nim:heaps=1+2", "nim:heaps=1+2")["value"] == "lose"
    facts = told("sum", "nim:heaps=1+2", "nim:heaps=1+2 2")
    assert (facts["value"], facts["nimber"]) == ("win", 1)
    assert [part["wins"] for part in facts["parts"]] == [["1>0"], []]
    text = retrograde("sum", "nim:heaps=1+2", "nim:heaps=1+2 2").stdout
    assert "*3" in text and "*1" in text and text.endswith("the player to move wins\n")


def test_a_sum_of_what_has_no_nimbers_is_refused():
    retrograde("solve", "grundy:5", "--metric", "remoteness", "--database", "grundy.h5")
    said = retrograde("sum", "grundy.h5", status=1).stderr
    assert "was not solved by nimbers; do it with: retrograde solve grundy:n=5" in said
    assert "make it with: retrograde solve cram:2,2" in retrograde("sum", "cram:2,2", status=1).stderr
    for partisan in ("tictactoe", "dodgem"):
        assert "has no values as a short game" in retrograde("sum", partisan, status=1).stderr


NO_NIMBERS = {
    "kalah:2,1": "nimbers need a game in which players take turns; here a player moves again",
    "kalah:2,1@nimber": "nimbers need a game in which players take turns; here a player moves again",
    "awari:2,1": "nimbers are of games in which moves pay nothing; compute scores",
    "notakto": "nimbers need a game in which a player who cannot move loses; position",
    "pig:5": "nimbers are of games without chance",
    "hanoi": "nimbers are of games for two players, and this one is for 1",
}


@pytest.mark.parametrize("game", NO_NIMBERS)
def test_a_sum_says_why_a_game_has_no_nimbers(game):
    assert NO_NIMBERS[game] in retrograde("sum", game, status=1).stderr


def test_a_sum_says_why_a_game_that_is_solved_by_another_metric_has_no_nimbers():
    retrograde("solve", "kalah:2,1", "--database", "kalah.h5")
    assert NO_NIMBERS["kalah:2,1"] in retrograde("sum", "kalah.h5", status=1).stderr


def test_a_metric_that_does_not_suit_leaves_nothing_behind():
    said = retrograde("solve", "tictactoe", "--metric", "nimber", status=1).stderr
    assert "nimbers are of impartial games, in which both players have the same moves, and by by_turns the" in said
    assert "not finished" not in retrograde("list").stdout


def test_another_metric_is_not_taken_for_the_one_that_was_asked_for(tmp_path):
    path = tmp_path / "game.h5"
    retrograde("solve", "nim:heaps=1+2", "--database", path)
    said = retrograde("solve", "nim:heaps=1+2", "--metric", "remoteness", "--database", path, status=1).stderr
    assert "holds another metric, nimber; choose another --database" in said


def test_verify_derives_measures_again():
    assert told("verify", "nim3")["ok"]
    assert "by score every position is worth what follows" in retrograde("verify", "tictactoe@score").stdout


PAYS = '''
from retrograde.games import TIE, UNDECIDED, Game

class Pays(Game):
    """Double, or double and add one, three times; only the end pays."""

    metric = "score"
    start = 1

    def generate_moves(self, n):
        yield from range(2)

    def do_move(self, n, m):
        return 2 * n + m

    def primitive(self, n):
        return TIE if n >= 8 else UNDECIDED

    def payoff(self, n, player):
        return n - 11 if player == 1 else 0
'''
ALONE = PAYS.replace('"score"', '"utilities"\n    players = 1').replace("n - 11 if player == 1 else 0", "n * 5 % 7")
ALONE += "\n    def turn(self, n):\n        return 0\n"


def test_remoteness_of_three_players_is_refused():
    for game in ("nim3", "tictactoe3"):
        for command, instead in (("solve", "compute utilities"), ("search", "leave out --metric")):
            result = retrograde(command, game, "--metric", "remoteness", status=1)
            assert result.stderr == f"retrograde: error: remoteness is for one player or two, not for 3; {instead}\n"


def test_points_at_the_end_decide_a_game_solved_by_scores(tmp_path):
    rules = tmp_path / "pays.py"
    rules.write_text(PAYS)
    assert "the first player wins" in retrograde("solve", rules).stdout
    rows = retrograde("match", rules, "perfect", "perfect", "--games", "4").stdout.splitlines()[-2:]
    assert [row.split() for row in rows] == [["perfect", "2", "0", "0", "2", "2", "0", "2", "0"]] * 2
    played = retrograde("play", rules, "--first", "perfect", "--second", "perfect").stdout
    assert played.endswith("the first player wins after 3 moves: 2 to 0\n")


def test_points_at_the_end_do_not_decide_a_game_solved_by_remoteness(tmp_path):
    rules = tmp_path / "tie.py"
    rules.write_text(PAYS.replace('"score"', '"remoteness"').replace("Pays", "Tie"))
    retrograde("solve", rules)
    played = retrograde("play", rules, "--first", "perfect", "--second", "perfect").stdout
    assert played.endswith("a tie after 3 moves\n")


def test_utilities_of_one_player_are_told_of_nobody_else(tmp_path):
    rules = tmp_path / "alone.py"
    rules.write_text(ALONE.replace("Pays", "Alone"))
    retrograde("solve", rules)
    text = retrograde("query", rules).stdout
    assert "\nsolved in 3 moves\nUtilities: 6\n" in text


def test_parts_of_tiers_without_remoteness_have_no_longest_win():
    retrograde("solve", "kalahboards:2,3")
    parts = [part for tier in told("info", "kalahboards:2,3")["tiers"].values() for part in tier.values()]
    for part in parts:
        keys = [(row["value"], row["remoteness"]) for row in part["by_remoteness"]]
        assert len(set(keys)) == len(keys)
        assert sum(row["count"] for row in part["by_remoteness"]) == part["positions"]
        assert part["longest"] is None
    text = retrograde("info", "kalahboards:2,3").stdout
    assert "Its parts" in text and "longest" not in text and "None" not in text


def test_mistakes_are_not_counted_by_expectations():
    retrograde("solve", "piglet")
    facts = told("match", "piglet", "random", "random", "--games", "4")
    assert [player["mistakes"] for player in facts["players"]] == [None, None]
    rows = retrograde("match", "piglet", "random", "random", "--games", "4").stdout.splitlines()[-2:]
    assert [row.split()[6] for row in rows] == ["–", "–"]


def test_an_exact_match_takes_the_named_database():
    retrograde("solve", "kalah:2,1", "--metric", "score")
    missing = retrograde("match", "kalah:2,1", "perfect", "random", "--exact", status=1).stderr
    assert "no database for kalah:pits=2,seeds=1" in missing
    facts = told("match", "kalah:2,1@score", "perfect", "random", "--exact")
    assert facts["expectation"] > 0
