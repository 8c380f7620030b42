"""Best responses to modelled opponents: bounds held against exact fractions, and against numbers that are known."""

import dataclasses
import json
import re
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction
from functools import cache, partial
from itertools import zip_longest
from pathlib import Path
from random import Random

import numpy as np
import pytest

from retrograde.databases import NoDatabase, open_database
from retrograde.games import LOSE, UNDECIDED
from retrograde.games.catalog import load_game
from retrograde.games.contract.unfolded import folded, unfolded
from retrograde.solver.engine import solve
from retrograde.solver.metrics.expectation import measure
from retrograde.solver.metrics.explored_game import explore
from retrograde.solver.metrics.method import MetricOptions
from retrograde.solver.metrics.models.by_database import ExploitModel, SkillModel
from retrograde.solver.metrics.models.by_search import DepthModel, GreedyModel
from retrograde.solver.metrics.models.model import Model, NoModel, UniformModel, valid_answer
from retrograde.solver.metrics.models.names import model_named, model_of
from retrograde.solver.metrics.models.policy import PolicyModel
from retrograde.solver.options import CannotSolve
from retrograde.solver.play.pairing import expected
from retrograde.solver.play.solution import open_solution
from retrograde.solver.runtime.memory import MemoryBudget
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.runtime.work import MetricNotApplicable, Work
from retrograde.solver.verification.expectation import wrong_expectations
from retrograde.solver.verification.families import families_of
from retrograde.solver.verification.records import RecordTable
from retrograde.solver.verification.verify import verify
from tests.helpers import expectimax, gamble, reference, responding, tangle
from tests.helpers.command_line import HEAP, retrograde
from tests.helpers.marks import thorough, thorough_but
from tests.helpers.paths import ROOT
from tests.helpers.solving import Stop, stop_at

pytestmark = pytest.mark.long

NARROW = Fraction(1, 10**9)
"""How far bounds may be apart."""
LOPSIDED = PolicyModel("lopsided", responding.lopsided, "")


def bounds(game, against: Model, playing: Model | None = None):
    """Return the bounds of all positions that are stored, by position and seat of the responder."""
    with ThreadPoolExecutor(2) as executor:
        work = Work(executor, 2, MemoryBudget(), None, Path("nowhere"))
        explored = explore(game, work)
        demand = MetricOptions("expectation", against=against, playing=playing)
        found = measure(explored, demand, work.phase("solving", len(explored)))
    grain = Fraction(1, found.details["scale"])
    result = {}
    columns = (found.columns[name].tolist() for name in ("low", "high", "waiting_low", "waiting_high"))
    for position, low, high, waiting_low, waiting_high in zip(explored.positions.tolist(), *columns, strict=True):
        own = 1 if not explored.alternating and game.turn(position) == 1 else 0
        result[position, own] = low * grain, high * grain
        result[position, 1 - own] = waiting_low * grain, waiting_high * grain
    return result


def hold_against(found, exact, game):
    """Assert that bounds are right, and near one another, wherever the slow solver knows the number."""
    assert exact
    for (position, seat), worth in exact.items():
        low, high = found[game.canonical(position), seat]
        assert low <= worth <= high, (position, seat, float(low), float(worth), float(high))
        assert high - low < NARROW


MODELS = {
    "random": (UniformModel(), responding.uniform),
    "greedy": (GreedyModel(), responding.greedy),
    "depth:2": (DepthModel(2), partial(responding.looking_for_points, depth=2)),
    "lopsided": (LOPSIDED, lambda game: lambda place: responding.lopsided(game, place)),
}


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [responding.Duel, responding.Alternating, responding.Paying])
@pytest.mark.parametrize("name", MODELS)
def test_responses_in_random_games_that_end_are_worth_what_fractions_say(kind, name, monkeypatch):
    model, plainly = MODELS[name]
    random = Random(f"{name} ends")
    for _ in range(40):
        start = gamble.position_of(random.randrange(1 << 20), random.randrange(12), random.randrange(3), False, 15)
        monkeypatch.setattr(kind, "start", start)
        game = kind()
        hold_against(bounds(game, model), expectimax.acyclic(responding.Seen(game, plainly(game))), game)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [responding.Duel, responding.Alternating])
@pytest.mark.parametrize("name", MODELS)
def test_responses_in_random_games_that_can_go_on_for_ever_are_worth_what_fractions_say(kind, name, monkeypatch):
    model, plainly = MODELS[name]
    random = Random(f"{name} goes on")
    several = 0
    for _ in range(60):
        start = gamble.position_of(random.randrange(1 << 20), random.randrange(12), random.randrange(3), True, 4)
        monkeypatch.setattr(kind, "start", start)
        game = kind()
        seen = responding.Seen(game, plainly(game))
        if expectimax.plans(seen) > 200:
            continue
        exact = expectimax.cyclic(seen)
        hold_against(bounds(game, model), exact, game)
        several += len(set(exact.values())) > 2
    assert several > 5


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [responding.Duel, responding.Alternating])
@pytest.mark.parametrize("model", [UniformModel(), GreedyModel()], ids=lambda model: model.name)
def test_who_exploits_gets_what_is_proven_where_play_can_go_round(kind, model, monkeypatch, tmp_path):
    """The database is verified, and who plays by it is worth no less than its lower bounds, against the same model."""
    random = Random(f"{model.name} exploited")
    moved = 0
    for number in range(15):
        start = gamble.position_of(random.randrange(1 << 20), random.randrange(12), random.randrange(3), True, 9)
        monkeypatch.setattr(kind, "start", start)
        game = kind()
        path = solve(game, tmp_path / f"{number}.h5", against=model)
        with open_database(path, game=game) as database, ExploitModel(database) as exploiting:
            assert verify(database, model=model).ok
            best, found = bounds(game, model), bounds(game, model, exploiting)
            for key, (low, high) in best.items():
                assert found[key][1] >= low and found[key][0] <= high
            moved += len(best) > 4
    assert moved > 5


def test_moves_that_pay_may_not_lead_round_for_ever(monkeypatch):
    monkeypatch.setattr(responding.Paying, "start", gamble.position_of(3, 0, 0, True, 7))
    with pytest.raises(RuntimeError, match="moves pay a reward, and from here players may go on for ever"):
        bounds(responding.Paying(), UniformModel())


@pytest.mark.parametrize(
    "skill", thorough_but([Fraction(0), Fraction(1, 3), Fraction(4, 5), Fraction(1)], Fraction(1, 3))
)
def test_responses_to_skill_are_worth_what_fractions_say(skill, monkeypatch, tmp_path):
    """Symmetric games too, with cycles and ties; the skilled player goes by the game's own database."""
    random = Random(f"{skill}")
    compared = 0
    for number in range(20):
        start = tangle.position_of(random.randrange(1 << 20), number % 2 == 0, random.randrange(1, 4), 0, 2)
        monkeypatch.setattr(tangle.Tangle, "start", start)
        game = tangle.Tangle()
        seen = responding.Seen(game, responding.skilled(game, skill))
        if game.primitive(start) or expectimax.plans(seen) > 100:
            continue
        with SkillModel(skill, open_database(solve(game, tmp_path / f"{number}.h5"), game=game)) as model:
            hold_against(bounds(game, model), expectimax.cyclic(seen), game)
            for position in {place for place, _ in expectimax.children_of(seen)}:
                if not game.primitive(position):
                    plain = responding.skilled(game, skill)(position)
                    said = model.weights(game, position)
                    assert {move: Fraction(weight, sum(said.values())) for move, weight in said.items()} == plain
        compared += 1
    assert compared > 2


def test_a_player_of_skill_weighs_many_positions_as_one_by_one(solved):
    """Lost positions as well, in which the longest way is perfect."""
    database = open_database(solved("tictactoe"))
    with SkillModel(Fraction(4, 5), database) as model:
        game, found = database.game, np.concatenate([positions for _, positions, *_ in database.records()])
        asked = [position for position in found[::7].tolist() if game.primitive(position) == UNDECIDED]
        lists = [[game.canonical(game.do_move(at, move)) for move in game.generate_moves(at)] for at in asked]
        children = np.array([*zip_longest(*lists, fillvalue=-1)])
        many = model.weigh(game, np.array(asked), np.array([game.turn(at) for at in asked]), children)
        for column, position in enumerate(asked):
            weights = [*model.weights(game, position).values()]
            assert many[: len(weights), column].tolist() == weights
        assert min(database[position].value for position in asked) == LOSE


@pytest.mark.thorough
@pytest.mark.parametrize(("text", "depth"), [("connect4:3,3,3", 3), ("tictactoe", 1), ("dodgem", 2)])
def test_who_looks_ahead_makes_what_a_slow_search_finds_best(text, depth):
    game = load_game(text)
    model, plainly = DepthModel(depth), responding.looking(game, depth)
    positions = [place for place in reference.solve(game) if game.primitive(place) == UNDECIDED][::7]
    several = 0
    for position in positions:
        weights = model.weights(game, position)
        assert {move: weight for move, weight in weights.items() if weight} == plainly(position)
        several += 1 < sum(weights.values()) < len(weights)
    assert several > 5
    if text != "dodgem":
        hold_against(bounds(game, model), expectimax.acyclic(responding.Seen(game, plainly)), game)


def test_nothing_is_won_from_who_looks_to_the_end_of_tictactoe():
    game = load_game("tictactoe")
    found = bounds(game, DepthModel(9))
    for seat in (0, 1):
        low, high = found[game.start, seat]
        assert low <= 0 <= high < NARROW


def test_two_players_by_models_get_what_fractions_say(monkeypatch):
    random = Random(4)
    for _ in range(30):
        start = gamble.position_of(random.randrange(1 << 20), random.randrange(12), random.randrange(3), True, 7)
        monkeypatch.setattr(responding.Duel, "start", start)
        game = responding.Duel()
        seen = responding.Seen(game, responding.greedy(game), partial(responding.lopsided, game))
        hold_against(bounds(game, GreedyModel(), LOPSIDED), expectimax.cyclic(seen), game)


def test_a_best_response_to_a_best_response_is_worth_what_fractions_say(monkeypatch, tmp_path):
    random = Random(5)
    for number in range(10):
        start = gamble.position_of(random.randrange(1 << 20), 4, random.randrange(3), False, 15)
        monkeypatch.setattr(responding.Alternating, "start", start)
        game = responding.Alternating()
        if game.primitive(start):
            continue
        exact = expectimax.acyclic(responding.Seen(game, responding.uniform(game)))

        def brings(place, move, game=game, exact=exact):
            return exact[game.do_move(place, move), 1]

        def best(place, game=game, brings=brings):
            moves = {move: brings(place, move) for move in game.generate_moves(place)}
            return {move: 1 for move, worth in moves.items() if worth == max(moves.values())}

        path = solve(game, tmp_path / f"{number}.h5", against=UniformModel())
        with ExploitModel(open_database(path, game=game)) as model:
            assert model.name == "exploit:random"
            hold_against(bounds(game, model), expectimax.acyclic(responding.Seen(game, best)), game)


# What others have found, and what can be told by hand


LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


@cache
def odds_on_a_board(board, mine, turn):
    """Return how likely one is to win and to lose tic-tac-toe who plays the sign *mine* against chance, for the most of
    the one less the other: a program that knows nothing of ours."""
    for sign in "XO":
        if any(all(board[cell] == sign for cell in line) for line in LINES):
            return (Fraction(1), Fraction(0)) if sign == mine else (Fraction(0), Fraction(1))
    free = [cell for cell in range(9) if board[cell] == "."]
    after = [
        odds_on_a_board(board[:cell] + turn + board[cell + 1 :], mine, "O" if turn == "X" else "X") for cell in free
    ]
    if not free:
        return Fraction(0), Fraction(0)
    if turn == mine:
        return max(after, key=lambda odds: odds[0] - odds[1])
    return sum(odds[0] for odds in after) / len(free), sum(odds[1] for odds in after) / len(free)


@pytest.mark.thorough
def test_who_plays_tic_tac_toe_at_random_loses_all_but_one_game_in_192_to_a_corner():
    """That is known, and worked out here once more, in fractions, by two other programs."""
    game = load_game("tictactoe")
    exact = expectimax.acyclic(responding.Seen(game, responding.uniform(game)))
    assert odds_on_a_board("." * 9, "X", "X") == (Fraction(191, 192), 0)
    assert exact[game.start, 0] == 2 * Fraction(191, 192)  # who wins is paid 1, and who loses -1
    assert odds_on_a_board("." * 9, "O", "X") == (Fraction(881, 945), Fraction(7, 945))
    assert exact[game.start, 1] == 2 * Fraction(874, 945)
    found = bounds(game, UniformModel())
    hold_against(found, exact, game)
    by_first_move = {move: found[game.canonical(1 << move), 1][0] for move in range(9)}
    assert max(by_first_move, key=by_first_move.get) == 0
    assert {move for move, low in by_first_move.items() if low == by_first_move[0]} == {0, 2, 6, 8}


def test_two_who_move_at_random_get_what_is_known_of_tic_tac_toe():
    """The first one wins 737 of 1,260 games and loses 363 (121/420), the rest are ties (8/63): a known count."""
    found = expected(load_game("tictactoe"), UniformModel(), UniformModel())
    assert found["low"] <= 2 * (737 - 363) / 1260 <= found["high"]
    assert found["waiting"]["low"] <= -2 * (737 - 363) / 1260 <= found["waiting"]["high"]


def test_nim_against_chance():
    """Of a heap of two who responds takes both; who moves by chance takes one as often, and then loses."""
    game = load_game("nim:heaps=2")
    found = bounds(game, UniformModel())
    assert found[game.start, 0] == (2, 2)
    assert found[game.start, 1] == (0, 0)


# Databases


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with tic-tac-toe, solved for itself and against several models."""
    folder = tmp_path_factory.mktemp("against")
    (folder / "mine.py").write_text(
        "def corners(game, position):\n"
        "    return {move: 3 if move in (0, 2) else 1 for move in game.generate_moves(position)}\n"
        "def least(game, position):\n"
        "    return {min(game.generate_moves(position)): 1}\n"
        "def silent(game, position):\n"
        "    return {}\n"
        "def floating(game, position):\n"
        "    return {move: 0.5 for move in game.generate_moves(position)}\n"
        "def foul(game, position):\n"
        "    return {99: 1}\n"
        "def faulty(game, position):\n"
        "    return 1 // 0\n"
        "number = 3\n"
    )
    (folder / "heap.py").write_text(HEAP)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RETROGRADE_HOME", str(folder))
        patch.chdir(folder)
        retrograde("solve", "tictactoe")
        for model in ("random", "mine.py:corners", "skill:0.8"):
            retrograde("solve", "tictactoe", "--metric", "expectation", "--against", model)
        yield folder


@pytest.fixture(scope="module")
def by_rules(home):
    """The same folder, where it is also solved against a player who moves by rules."""
    retrograde("solve", "tictactoe", "--metric", "expectation", "--against", "rules")
    return home


def told(*args):
    return json.loads(retrograde(*args, "--json").stdout)


@pytest.mark.thorough
def test_files_have_the_model_in_their_names_and_say_it(by_rules):
    assert {path.name for path in by_rules.glob("*@*.h5")} == {
        f"tictactoe@expectation-against-{name}.h5" for name in ("random", "rules", "mine.py,corners", "skill,0.8")
    }
    facts = told("info", "tictactoe@expectation-against-skill:0.8")
    assert (facts["metric"], facts["against"], facts["symmetry"]) == ("expectation", "skill:0.8", True)
    assert "expectation against skill:0.8" in retrograde("info", "tictactoe@expectation-against-skill:0.8").stdout
    rows = [line.split() for line in retrograde("list").stdout.splitlines()]
    assert [row[1] for row in rows if row[:1] == ["tictactoe@expectation-against-skill:0.8"]] == ["5,478"]
    said = retrograde("solve", "tictactoe@expectation-against-random").stdout
    assert "it was solved before" in said
    assert "moving first   1.98958333333 ±" in said and "moving second  1.84973544974 ±" in said


@pytest.mark.thorough
@pytest.mark.parametrize("model", ["random", "rules", "skill:0.8"])
def test_databases_are_verified(by_rules, model):
    facts = told("verify", f"tictactoe@expectation-against-{model}")
    assert facts["ok"] and f"by expectation against {model} every position" in facts["proven"]


@pytest.mark.thorough
def test_a_policy_is_verified_where_its_file_is_named_and_never_else(home, monkeypatch):
    source = "tictactoe@expectation-against-mine.py:corners"
    assert "say where that is, as in --against ./mine.py:corners" in retrograde("verify", source, status=1).stderr
    assert told("verify", source, "--against", "./mine.py:corners")["ok"]
    said = retrograde("verify", source, "--against", "random", status=1).stderr
    assert "is against mine.py:corners, which is not random" in said
    text = (home / "mine.py").read_text()
    (home / "mine.py").write_text(f"# changed\n{text}")
    try:
        said = retrograde("verify", source, "--against", "mine.py:corners", status=1).stderr
        assert "which has changed since" in said
        said = retrograde("solve", "tictactoe", "--against", "mine.py:corners", status=1).stderr
        assert "which has changed since; solve it again with --fresh" in said
    finally:
        (home / "mine.py").write_text(text)


@pytest.mark.thorough
def test_who_tells_apart_what_is_equal_by_symmetry_has_all_positions_stored(home):
    with open_database("tictactoe@expectation-against-mine.py:corners", home=home) as database:
        assert database.file.stored == len(database) == 5478
        game = database.game
        assert folded(game) == load_game("tictactoe") and unfolded(load_game("tictactoe")) == game
        exact = expectimax.acyclic(responding.Seen(game, corners(game)))
        scale = database.file.details["scale"]
        for (position, seat), worth in exact.items():
            low, high, waiting_low, waiting_high = database.measures(position).values()
            between = (waiting_low, waiting_high) if seat else (low, high)
            assert between[0] <= worth * scale <= between[1]


def corners(game):
    """The policy of the file `mine.py`, once more."""
    return lambda place: {move: 3 if move in (0, 2) else 1 for move in game.generate_moves(place)}


def changed(found, column, record, grains):
    measures = found.measures.copy()
    measures[column, record] += grains
    return dataclasses.replace(found, measures=measures)


def test_bounds_that_are_not_proven_are_found_out(home):
    with open_database("tictactoe@expectation-against-random", home=home) as database, model_of(database) as model:
        found = families_of(RecordTable(database))
        assert not wrong_expectations(found, database.game, database.file.details["scale"], model).any()
        assert wrong_expectations(found, database.game, database.file.details["scale"], GreedyModel()).any()
        chance = Random(1)
        for _ in range(4):
            record = chance.randrange(len(found.positions))
            column = chance.randrange(4)
            assert wrong_expectations(
                changed(found, column, record, 100 * (-1) ** column),
                database.game,
                database.file.details["scale"],
                model,
            ).any()


def test_a_file_that_says_nonsense_of_its_model_is_damaged(home, tmp_path):
    from retrograde.databases.header import measure_fields

    facts = {"measures": '["low", "high"]', "details": '{"scale": 1, "against": "random"}', "start_row": 0}
    with pytest.raises(ValueError, match="has not the measures of one"):
        measure_fields(facts, 8, "records", None)
    names = '["low", "high", "waiting_low", "waiting_high"]'
    with pytest.raises(ValueError, match="has not the measures of one"):
        measure_fields(facts | {"measures": names, "details": '{"against": 3}'}, 8, "records", None)
    with pytest.raises(ValueError, match="has not the measures of one"):
        measure_fields(facts | {"measures": names, "details": '{"against": "\\u001b[2J"}'}, 8, "records", None)


def test_query_tells_the_value_beside_and_how_often_the_model_moves_so(home):
    facts = told("query", "tictactoe@expectation-against-random")
    assert facts["against"] == "random" and facts["perfect"] == {"value": "tie", "remoteness": 9}
    assert facts["low"] <= 2 * 191 / 192 <= facts["high"]
    assert [move["move"] for move in facts["moves"][:4]] == ["a1", "c1", "a3", "c3"]
    assert {move["weight"] for move in facts["moves"]} == {1}
    assert facts["line"] == []
    after = told("query", "tictactoe@expectation-against-random", "X../.../...")
    assert after["waiting"]["low"] == facts["low"]
    text = retrograde("query", "tictactoe@expectation-against-skill:0.8", "X../.../...").stdout
    assert "Between perfect players: tie in 8 plies" in text
    assert "The moves, best first, and how often skill:0.8 makes them:" in text
    rows = dict(line.split(None, 1) for line in text.splitlines() if line.startswith("  b2") or line.startswith("  a2"))
    assert rows["b2"].split()[1:] == ["33", "in", "40"]  # 4/5 and an eighth of 1/5, the one perfect reply
    assert rows["a2"].split()[1:] == ["1", "in", "40"]


def test_the_solution_of_a_response_chooses_by_it(home, monkeypatch):
    with open_solution("tictactoe@expectation-against-random", home=home) as solution:
        assert {choice.name for choice in solution.best(0)} == {"a1", "c1", "a3", "c3"}
        model = ExploitModel(solution.database)
        assert model.weights(solution.game, 0) == {move: int(move in (0, 2, 6, 8)) for move in range(9)}


# Players


@pytest.mark.thorough
def test_games_of_the_players_are_as_has_been_computed(home):
    """Points are as expected within four standard errors; each game is won or tied, or else tied or lost, nearly."""
    games = 800
    for pair in (("exploit:random", "random"), ("exploit:random", "skill:1")):
        exact = told("match", "tictactoe", *pair, "--exact")
        points = told("match", "tictactoe", *pair, "--games", str(games))["players"][0]["points"] / games
        mean = (exact["expectation"] + exact["waiting"]["expectation"]) / 2
        assert abs(points - (1 + mean / 2) / 2) < 4 * 0.25 / games**0.5


@pytest.mark.thorough
def test_exactly_what_is_told(by_rules):
    lines = retrograde("match", "tictactoe", "exploit:random", "random", "--exact").stdout.splitlines()
    assert lines[0] == "tictactoe: exploit:random against random, each player's expected payoff minus the other's"
    assert lines[3].split()[:2] == ["exploit:random", "1.98958333333"] and "1.84973544974" in lines[3]
    assert lines[4].split()[:2] == ["random", "-1.84973544974"] and "-1.98958333333" in lines[4]
    assert told("match", "tictactoe", "skill:1", "skill:1", "--exact")["expectation"] == 0
    assert told("match", "tictactoe", "exploit:rules", "rules", "--exact")["expectation"] == 2
    assert told("match", "tictactoe", "perfect", "random", "--exact") == {
        **told("match", "tictactoe", "skill:1", "random", "--exact"), "players": ["perfect", "random"]
    }  # fmt: skip
    from_there = told("match", "tictactoe", "random", "random", "--exact", "--from", "XX./OO./...")
    assert from_there["low"] <= 2 * responses_from("XX./OO./...") <= from_there["high"]


PAGE = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("| game | perfect, against perfect |")[2].partition("\n\n")[0]
ROWS = re.findall(r"^\| `([\w:,]+)` \|(.*)\|$", TABLE, re.MULTILINE)
SHORT = {"tictactoe", "kalah:3,2"}


MARKED = [pytest.param(row, marks=() if row[0] in SHORT else pytest.mark.slow, id=row[0]) for row in ROWS]


@pytest.mark.thorough
@pytest.mark.parametrize("row", MARKED)
def test_the_table_of_the_page_is_as_it_is_computed(row, home):
    variant, numbers = row
    retrograde("solve", variant)
    retrograde("solve", variant, "--against", "random")
    pairs = [("skill:1", "skill:1"), ("skill:1", "random"), ("exploit:random", "skill:1"), ("exploit:random", "random")]
    for pair, said in zip(pairs, numbers.split("|"), strict=True):
        facts = told("match", variant, *pair, "--exact")
        first, second = (float(number) for number in said.replace("−", "-").split(","))
        assert abs(facts["expectation"] - first) < 6e-5 and abs(facts["waiting"]["expectation"] - second) < 6e-5


def test_the_page_has_a_table():
    assert len(ROWS) == 6 and {row[0] for row in ROWS} >= SHORT


@pytest.mark.thorough
def test_two_models_in_kalah_get_what_fractions_say(home):
    """By the slow way as well, with the game's own scores for what is perfect."""
    retrograde("solve", "kalah:2,2")
    retrograde("solve", "kalah:2,2", "--against", "greedy")
    game = load_game("kalah:2,2")
    with model_named("skill:1", game) as perfect, model_named("exploit:greedy", game) as exploit:
        for own, theirs in ((perfect, UniformModel()), (exploit, perfect), (exploit, GreedyModel())):
            weighs = [partial(model.weights, game) for model in (theirs, own)]
            exact = expectimax.acyclic(responding.Seen(game, *weighs))
            found = expected(game, own, theirs)
            assert found["low"] <= exact[game.start, 0] <= found["high"]
            assert found["waiting"]["low"] <= exact[game.start, 1] <= found["waiting"]["high"]


def responses_from(text):
    """Return who wins more often of two who move at random from a position on, the one to move first."""
    game = load_game("tictactoe")
    both = responding.uniform(game)
    return expectimax.acyclic(responding.Seen(game, both, both))[game.read(text), 0] / 2


def test_people_play_by_weights_of_their_own(home):
    facts = told("match", "tictactoe", "exploit:mine.py:corners", "./mine.py:corners", "--games", "200")
    assert facts["players"][0]["points"] > 180
    said = retrograde("play", "tictactoe", "--first", "mine.py:least", "--second", "mine.py:least").stdout
    moves = re.findall(r"^(\d)\. (\w\d)  ([XO]), mine.py:least$", said, re.MULTILINE)
    names = ["a1", "b1", "c1", "a2", "b2", "c2", "a3"]
    assert moves == [(str(ply + 1), name, "XO"[ply % 2]) for ply, name in enumerate(names)]


# What is refused


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("solve tictactoe --against nobody", "no model 'nobody' of a player; the models are random, greedy, perfect"),
        ("solve tictactoe --against first", "is not known; perfect makes each perfect move with equal weight"),
        ("solve tictactoe --against time:3", "with what weights the player 'time:3' moves is not known"),
        ("solve tictactoe --against depth:0", "no model 'depth:0' of a player; the models are random, greedy, perfect"),
        ("solve tictactoe --against skill:1.5", "no skill '1.5'; it is a number from 0 to 1"),
        ("solve tictactoe --against mine.py:none", "mine.py has no function 'none'"),
        ("solve tictactoe --against mine.py:number", "mine.py has no function 'number'"),
        ("solve tictactoe --against other.py:f", "no file 'other.py'"),
        ("solve tictactoe --against random --metric score", "--against goes with --metric expectation"),
        ("solve hanoi --against random", "one of two players, and hanoi is for one player"),
        ("solve nim3 --against random", "one of two players, and nim3 is for 3 players"),
        ("match tictactoe first random --exact", "with what weights the player 'first' moves is not known"),
        ("match tictactoe exploit:nobody random", "no database for tictactoe against nobody; make it with: "),
    ],
)
def test_what_is_no_model_is_said_in_one_line(home, words, complaint):
    said = retrograde(*words.split(), status=2).stderr
    assert complaint in said and said.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("solve dodgem --against skill:0.8", "no database for dodgem; make it with: retrograde solve dodgem"),
        (
            "solve tictactoe --against exploit:greedy",
            "make it with: retrograde solve tictactoe --against greedy",
        ),
        ("query tictactoe@expectation-against-greedy", "no database for tictactoe against greedy"),
        thorough(("solve tictactoe --against mine.py:silent", "its weights add up to 0")),
        ("solve tictactoe --against mine.py:floating", "0.5 is no weight; weights are whole numbers or Fractions"),
        thorough(("solve tictactoe --against mine.py:foul", "it gives a weight to 99, which is no legal move")),
        ("solve tictactoe --against mine.py:faulty", "ZeroDivisionError"),
        ("match tictactoe mine.py:foul random", "it gives a weight to 99, which is no legal move"),
    ],
)
def test_what_a_model_lacks_is_said_in_one_line(home, words, complaint):
    said = retrograde(*words.split(), status=1).stderr
    assert complaint in said and said.count("\n") == 1
    assert not list(home.glob("*.journal")), "nothing is left behind"


def test_databases_of_another_model_are_not_taken_for_the_one_that_was_asked_for(home, tmp_path):
    path = home / "tictactoe@expectation-against-random.h5"
    said = retrograde("solve", "tictactoe", "--against", "greedy", "--database", path, status=1).stderr
    assert "holds a best response to random; choose another --database" in said
    said = retrograde("solve", "tictactoe", "--metric", "expectation", "--database", path, status=1).stderr
    assert "holds a best response to random; choose another --database" in said


def test_what_was_interrupted_goes_on_and_ends_in_the_same_bytes(tmp_path):
    game = load_game("tictactoe")
    whole = solve(game, tmp_path / "whole.h5", against=UniformModel()).read_bytes()
    for step in (2, 5, 8):
        path = tmp_path / f"{step}.h5"
        with suppress(Stop):
            solve(game, path, against=UniformModel(), listener=stop_at(step), sizes=Sizes(journal_seconds=0))
        assert solve(game, path, against=UniformModel()).read_bytes() == whole


@pytest.mark.thorough
def test_databases_are_removed_by_the_model_in_their_names(home):
    retrograde("solve", "nim:heaps=1+2", "--against", "greedy")
    path = home / "nim,heaps=1+2@expectation-against-greedy.h5"
    assert path.exists()
    retrograde("remove", "nim:1+2@expectation-against-greedy", "--yes")
    assert not path.exists() and (home / "tictactoe@expectation-against-random.h5").exists()


def test_errors_of_python_programs():
    with ProcessPoolExecutor(1) as executor, pytest.raises(CannotSolve, match="on threads only"):
        solve(load_game("tictactoe"), against=UniformModel(), executor=executor)
    with pytest.raises(CannotSolve, match="is computed by expectation, not by score"):
        solve(load_game("tictactoe"), metric="score", against=UniformModel())
    with pytest.raises(MetricNotApplicable, match="expectations are of two players, and this game is for 1"):
        bounds(load_game("hanoi:1"), UniformModel())
    with pytest.raises(NoModel, match="it must give a weight for each move"):
        valid_answer("mine", load_game("nim"), load_game("nim").start, 3)
    with pytest.raises(NoDatabase, match="no database for dodgem"):
        model_named("skill:0.5", load_game("dodgem"))


def test_the_greedy_player_is_the_greedy_model(solved):
    """Compiled and interpreted, in a game with estimates and in one in which moves pay."""
    for text in ("dodgem", "kalah:2,2"):
        game = load_game(text)
        with ThreadPoolExecutor(1) as executor:
            positions = explore(game, Work(executor, 1, MemoryBudget(), None, Path("nowhere"))).positions[:400].tolist()
        going_on = [position for position in positions if not game.primitive(position)]
        moves = [list(game.generate_moves(position)) for position in going_on]
        children = np.full((max(map(len, moves)), len(moves)), -1, np.int64)
        for column, (position, own) in enumerate(zip(going_on, moves, strict=True)):
            children[: len(own), column] = [game.do_move(position, move) for move in own]
        turns = np.array([game.turn(position) for position in going_on], np.int8)
        compiled = GreedyModel().weigh(game, np.array(going_on), turns, children)
        for column, (position, own) in enumerate(zip(going_on, moves, strict=True)):
            said = dict(zip(own, compiled[:, column].tolist(), strict=False))
            plain = responding.greedy(game)(position)
            assert said == GreedyModel().weights(game, position) == {move: plain.get(move, 0) for move in own}


@pytest.mark.thorough
def test_a_best_response_where_the_dice_have_a_say_is_verified(tmp_path):
    """Of a game with chance, against who is perfect by expectations: no better than perfect play, from either side."""
    game = load_game("piglet:2")
    own = solve(game, tmp_path / "own.h5")
    with SkillModel(Fraction(1), open_database(own, game=game)) as model:
        path = solve(game, tmp_path / "against.h5", against=model)
        with open_database(path, game=game) as database, open_database(own, game=game) as perfect:
            assert verify(database, model=model).ok
            low, high, waiting_low, waiting_high = database.measures(game.start).values()
            least, most = perfect.measures(game.start).values()
            assert low <= most and least <= high
            assert waiting_low <= -least and -most <= waiting_high
