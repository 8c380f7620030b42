"""What searches do, shown and measured: trees as textbooks draw them, and how often a search to a depth errs."""

import json
import re
import xml.etree.ElementTree as ElementTree
from itertools import combinations
from random import Random

import numpy as np
import pytest

from retrograde.databases import open_database
from retrograde.games import FLIPPED, UNDECIDED
from retrograde.games.catalog import load_game
from retrograde.games.contract.game import same_mover
from retrograde.solver.engine import solve as solve_to_file
from retrograde.solver.play import judging
from retrograde.solver.play.judging import NoisySearch, NothingToJudge, SearchJudge, counts_of
from retrograde.solver.play.player import make_player, perfect, random_player
from retrograde.solver.play.solution import Solution
from retrograde.solver.play.tree_picture import trees_svg
from retrograde.solver.rules.examine import NotForSearch
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.search.depth import kernels, scoring
from retrograde.solver.search.depth.scores import FAR, INFINITE
from retrograde.solver.search.depth.searcher import CountingSearch
from retrograde.solver.search.trees.textbook import MAX, TextbookRules, count_conspirators, minimax
from retrograde.solver.search.trees.tree import (
    MOST_LINES,
    MOST_POSITIONS,
    TreeTooLarge,
    score_text,
    trees_of,
    trees_text,
)
from tests.helpers.command_line import retrograde
from tests.helpers.paths import ROOT
from tests.helpers.reference import solve
from tests.helpers.textbook_points import order_by_promise

pytestmark = pytest.mark.long

SVG = "{http://www.w3.org/2000/svg}"

# Trees

NILSSON = """\
minimax     alpha-beta, worst first   alpha-beta, best first
Max +1      Max +1 (−∞ +∞)            Max +1 (−∞ +∞)
├ a1 −1     ├ b1 −2 (−∞ +∞)           ├ b2 +1 (−∞ +∞)
│ ├ b1 +1   │ ├ a2 0                  │ ├ a1 +1
│ ├ c1 0    │ ├ b3 0                  │ └ b1 +2
│ ├ b2 −1   │ ├ a1 −1                 ├ a1 ≤−1 (+1 +∞)
│ ├ c2 +1   │ ├ a3 −1                 │ ├ b2 −1
│ └ c3 0    │ └ b2 −2                 │ └╳ c1 … c2: 4
├ b1 −2     ├ a1 −1 (−2 +∞)           └ b1 ≤−2 (+1 +∞)
│ ├ a1 −1   │ ├ b1 +1                   ├ b2 −2
│ ├ a2 0    │ ├ c2 +1                   └╳ a1 … b3: 4
│ ├ b2 −2   │ ├ c1 0
│ ├ a3 −1   │ ├ c3 0
│ └ b3 0    │ └ b2 −1
└ b2 +1     └ b2 +1 (−1 +∞)
  ├ a1 +1     ├ b1 +2
  └ b1 +2     └ a1 +1"""
"""The tree of two plies that textbooks show since Nilsson (1971), by the same estimate: lines that are still open."""


def cuts(node):
    return bool(node.cut) + sum(map(cuts, node.children))


def test_the_tree_that_every_textbook_has():
    game = load_game("tictactoe")
    trees = trees_of(game, game.start)
    assert trees.depth == 2
    assert trees_text(trees, 80) == NILSSON
    assert [tree.root.positions for tree in trees.counted] == [16, 16, 8, 8]
    below = trees_text(trees, 50)
    assert below.count("\n\n") == 2 and max(map(len, below.splitlines())) < 50
    assert sorted(below.split()) == sorted(NILSSON.split())


@pytest.mark.parametrize("text", ["tictactoe", "connect4:4,4", "tentozero", "hareandhounds", "dodgem", "mutorere"])
@pytest.mark.parametrize("depth", [1, 3])
def test_all_trees_have_one_value_and_are_drawn(text, depth):
    game = load_game(text)
    trees = trees_of(game, game.start, depth)
    assert {score_text(tree.root.value) for tree in trees.counted} == {trees.value}
    least = [tree.root.positions for tree in trees.counted]
    assert least[0] >= least[1] >= least[2]
    root = ElementTree.fromstring(trees_svg(trees))
    drawn = root.findall(f"{SVG}g")
    assert len(drawn) == 3
    for group, tree in zip(drawn, trees.drawn, strict=True):
        shown = {f"{tree.name}", f"{tree.root.positions:,} positions, {tree.root.leaves:,} at the edge"}
        assert shown <= {one.text for one in group.findall(f"{SVG}text")}
        assert len(group.findall(f"{SVG}use")) == tree.root.positions
        assert len(group.findall(f"{SVG}path[@class='cut']")) == cuts(tree.root)
    used = {one.get("href") for one in root.iter(f"{SVG}use")}
    assert used == {f"#{one.get('id')}" for one in root.iter(f"{SVG}symbol")}


@pytest.mark.thorough
def test_of_trees_that_are_too_large_some_is_left_out_and_that_is_said():
    game = load_game("connect4:5,4")
    trees = trees_of(game, game.start, 5)
    text = trees_text(trees, 80)
    blocks = text.split("\n\n")
    assert all(len(block.splitlines()) <= MOST_LINES + 3 for block in blocks)
    hidden = sum(int(count.replace(",", "")) for count in re.findall(r"… ([\d,]+) below", blocks[0]))
    shown = len(blocks[0].splitlines()) - 1
    assert hidden + shown == trees.drawn[0].root.positions
    picture = trees_svg(trees)
    assert len(picture) < 500_000
    assert re.search(r"… \d+ below", picture)
    wide = load_game("lgame")
    assert "+g" not in re.sub("<title>.*?</title>", "", trees_svg(trees_of(wide, wide.start, 1)))
    assert "… and 5 more lines" in trees_text(trees_of(wide, wide.start, 1), 80)
    with pytest.raises(TreeTooLarge, match=f"a tree of 9 plies has more than {MOST_POSITIONS:,} positions"):
        trees_of(game, game.start, 9)


def test_trees_on_the_command_line(tmp_path):
    text = retrograde("search", "tictactoe", "--tree").stdout
    assert NILSSON in text
    assert "minimax                          16           12" in text
    assert "Max is X to move" in text and "proved" not in text
    told = json.loads(retrograde("search", "tictactoe", "X.O/.X./O..", "--tree", "--depth", 2, "--json").stdout)
    assert (told["value"], told["depth"]) == ("W1", 2)
    assert [(one["search"], one["positions"]) for one in told["searches"]][::2] == [
        ("minimax", 12),
        ("alpha-beta, best first", 6),
    ]
    best = told["trees"][2]
    assert (best["moves"]["c2"]["value"], best["moves"]["c2"]["window"]) == ("≤+1", "W1 +∞")
    assert best["moves"]["c2"]["cut"] == ["a2", "b3", "c3"]
    picture = tmp_path / "tree.svg"
    assert retrograde("search", "tictactoe", "--tree", "--out", picture).stdout == f"{picture}\n"
    assert picture.read_text("utf-8").startswith("<svg")
    refused = retrograde("search", "tictactoe", "--tree", "--out", "tree.png", status=2).stderr
    assert "the picture must be .svg, not 'tree.png'" in refused
    over = retrograde("search", "tictactoe", "XXX/OO./...", "--tree", status=1).stderr
    assert over == "retrograde: error: the game is over in 'XXX/OO./...'; a tree begins where it goes on\n"
    large = retrograde("search", "connect4", "--tree", "--depth", 20, status=1).stderr
    assert "give a smaller --depth" in large and large.count("\n") == 1
    nowhere = retrograde("search", "tictactoe", "--tree", "--out", tmp_path / "none" / "a.svg", status=1).stderr
    assert "cannot write" in nowhere


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("pig:5", ["expectiminimax", "alpha-beta, worst first", "alpha-beta, best first"]),
        ("chutes:6", ["expectimax"]),
        ("hanoi:2", ["everything"]),
        ("nim3:3", ["max^n", "paranoid", "paranoid, alpha-beta, best first"]),
        ("kalah:3,2", ["minimax", "alpha-beta, worst first", "alpha-beta, best first"]),
        ("othello:4,4", ["minimax", "alpha-beta, worst first", "alpha-beta, best first"]),
    ],
)
def test_every_kind_of_game_has_its_trees(text, names):
    game = load_game(text)
    trees = trees_of(game, game.start, 3)
    assert [tree.name for tree in trees.drawn][: len(names)] == names
    text = trees_text(trees, 400)
    root = ElementTree.fromstring(trees_svg(trees))
    for group, tree in zip(root.findall(f"{SVG}g"), trees.drawn, strict=True):
        assert len(group.findall(f"{SVG}use")) == tree.root.positions
        assert tree.name in text
    if names[0] == "expectiminimax":
        assert "roll Chance" in text and "2 (1/6) Max" in text
        assert trees.conspiracy() == {}
    if names[0] == "max^n":
        assert "player 1 (0, 1, 0)" in text
        assert trees.drawn[0].root.numbers == (0, 1, 0)
        assert trees.drawn[1].root.value == trees.drawn[2].root.value == 0


def test_pictures_show_names_of_players_with_any_signs(monkeypatch):
    game = load_game("nim3:3")
    monkeypatch.setattr(type(game), "draw_turn", lambda self, position: "X")
    monkeypatch.setattr(type(game), "words", {"X": "Tom & <Co>"})
    root = ElementTree.fromstring(trees_svg(trees_of(game, game.start, 1)))
    assert [text for text in root.itertext() if text.startswith("Tom & <Co> (")]


def test_pictures_of_positions_of_several_words_name_them_without_spaces():
    game = load_game("connect4:9,7")
    root = ElementTree.fromstring(trees_svg(trees_of(game, game.start, 1)))
    names = [one.get("id") for one in root.iter(f"{SVG}symbol")]
    assert len(names) > 5 and not [name for name in names if re.search(r"[^\w-]", name)]
    assert {one.get("href") for one in root.iter(f"{SVG}use")} == {f"#{name}" for name in names}


def test_conspiracy_numbers_are_the_fewest_estimates_that_move_the_root():
    """Held against every set of estimates that may change, each to the least or the greatest value."""

    def value(node, changed, to):
        if not node.children:
            return to if id(node) in changed else node.value
        return (max if node.side == MAX else min)(value(child, changed, to) for child in node.children)

    for text in ("tictactoe X.O/.X./O..", "tictactoe XOX/.OX/..O", "dodgem", "hareandhounds"):
        name, _, position = text.partition(" ")
        game = load_game(name)
        tree = trees_of(game, game.read(position) if position else game.start, 2).drawn[0].root
        leaves = [id(node) for node in tree.nodes() if node.estimated][:10]
        goals = {node.value for node in tree.nodes()} if len(leaves) < 10 else {tree.value}
        for goal in goals:
            up, to = goal > tree.value, INFINITE if goal > tree.value else -INFINITE
            reached = [
                size
                for size in range(len(leaves) + 1)
                for chosen in combinations(leaves, size)
                if (value(tree, chosen, to) >= goal if up else value(tree, chosen, to) <= goal)
            ]
            assert count_conspirators(tree, goal, up) == min(reached, default=INFINITE)


def test_a_search_that_goes_on_where_it_is_not_quiet_sees_what_lies_beyond_the_horizon():
    game = load_game("connect4:5,4")
    trees = trees_of(game, game.read("...../...../X...X/OOO.X"), 1)  # O wins at once by column 4, unless X is there
    everything, quiet = trees.drawn[0], trees.drawn[-1]
    assert quiet.name == "quiescence, as given"
    values = dict(
        zip(everything.root.moves, (everything.value_of(child) for child in everything.root.children), strict=True)
    )
    assert not [text for text in values.values() if text.startswith("L")]
    assert sum(quiet.value_of(child).endswith("L2") for child in quiet.root.children) == 4


def test_the_tree_of_proof_numbers():
    game = load_game("tictactoe")
    position = game.read("X.O/.X./O..")
    trees = trees_of(game, position, by_proofs=True)
    assert "Max 0/∞" in trees_text(trees, 80) and trees.value == "0/∞"
    trees = trees_of(game, game.start, 2, by_proofs=True)
    lines = trees_text(trees, 80).splitlines()
    assert lines[:3] == ["proof-number search", "Max 2/3", "├ a1 5/1"]
    assert [line.endswith("◀") for line in lines].count(True) == 1
    assert trees.notes("X to move")[0].startswith("Max is X to move. Proof and disproof numbers")
    assert trees.notes("")[0].startswith("Max is the player to move. Proof and disproof numbers")
    grown = trees_of(game, game.start, by_proofs=True)
    assert grown.drawn[0].root.positions >= 40
    with pytest.raises(NotForSearch, match="without chance"):
        trees_of(load_game("pig:5"), load_game("pig:5").start, by_proofs=True)
    with pytest.raises(NotForSearch, match="for one player or two"):
        trees_of(load_game("nim3"), load_game("nim3").start, by_proofs=True)


def test_the_picture_of_the_docs_is_what_the_command_draws(tmp_path):
    retrograde("search", "tictactoe", "--tree", "--out", tmp_path / "tree.svg")
    assert (tmp_path / "tree.svg").read_text("utf-8") == (ROOT / "docs" / "tree.svg").read_text("utf-8")


# Judgement


@pytest.fixture
def judge_of(solved):
    """A function that returns a judge of a variant."""
    opened = []

    def judge(text, positions=40, seed=1):
        opened.append(Solution(open_database(solved(text))))
        return SearchJudge(opened[-1], positions, seed)

    yield judge
    for solution in opened:
        solution.close()


@pytest.mark.parametrize("text", ["tictactoe", "dodgem"])
def test_errors_are_those_of_the_textbook_search(judge_of, text):
    """By a slow solver, and minimax of every move."""
    judge, game = judge_of(text), load_game(text)
    truth = {}
    for position, outcome in solve(game, symmetric=True).items():
        truth[position] = outcome[0]
    rules = TextbookRules(game, order_by_promise(game), game.estimate)
    for row in judge.errors(3):
        shares = []
        for position in judge.keeping:
            moves = list(game.generate_moves(position))
            children = [game.do_move(position, move) for move in moves]
            scores = [-minimax(rules, rules.make_root(child), row.depth - 1).value for child in children]
            kept = [FLIPPED[truth[game.canonical(child)]] == truth[game.canonical(position)] for child in children]
            assert len(set(kept)) == 2
            best = [keep for keep, score in zip(kept, scores, strict=True) if score == max(scores)]
            shares.append(best.count(False) / len(best))
        assert row.own == pytest.approx(sum(shares) / len(shares))


@pytest.mark.thorough
def test_who_looks_to_the_end_does_not_err(judge_of):
    judge = judge_of("connect4:4,3,3", 30)
    *_, last = judge.errors(12)
    assert (last.ends, last.chance, last.own) == (0, 0, 0)
    assert 0 < next(iter(judge.errors(1))).ends < judge.by_chance() + 0.2


@pytest.mark.parametrize("text", ["kalah:3,1", "othello:4,4"])
def test_games_in_which_a_player_may_move_again_are_judged(judge_of, text):
    judge = judge_of(text, 20)
    game = judge.game
    assert judge.errors_of(perfect) == 0 < judge.by_chance()
    depth = 3
    shares = []
    for position, keeps in judge.keeping.items():
        scores = {}
        for move in game.generate_moves(position):
            child = game.do_move(position, move)
            score = look_ahead(game, child, depth - 1)[0]
            scores[move] = score if same_mover(game, position, child) else -score
        best = [keeps[move] for move, score in scores.items() if score == max(scores.values())]
        shares.append(best.count(False) / len(best))
    if text != "othello:4,4":  # its searches compare points
        assert [row.ends for row in judge.errors(depth)][-1] == pytest.approx(sum(shares) / len(shares))
    *_, last = judge.counts(depth)
    score, positions = look_ahead(game, game.start, depth)
    assert last.minimax == positions >= last.worst >= last.best
    kernel_counts = np.zeros(3, np.int64)
    assert kernels.minimax(rules_for(game), game.start, depth, scoring.NONE, kernel_counts) == score


def look_ahead(game, position, depth):
    """Return (the score by ends alone of a search to a depth, the positions that it looks at)."""
    if game.primitive(position) != UNDECIDED or depth == 0:
        return scoring.value_of_end(game, position), 1
    best, positions = -FAR, 1
    for move in game.generate_moves(position):
        child = game.do_move(position, move)
        score, more = look_ahead(game, child, depth - 1)
        best = max(best, scoring.nearer(score if same_mover(game, position, child) else -score))
        positions += more
    return best, positions


@pytest.mark.thorough
def test_who_looks_to_the_end_of_a_game_with_moves_in_a_row_does_not_err(judge_of):
    judge = judge_of("kalah:3,1", 30)
    *_, last = judge.errors(20)
    assert (last.own, last.ends, last.chance, last.noisy) == (0, 0, 0, 0)


def test_who_searches_for_a_win_is_not_judged_by_points(tmp_path):
    """In a database by score, of a game whose own metric is the value."""
    path = solve_to_file(load_game("kalah:3,2"), tmp_path / "kalah.h5", metric="score")
    with Solution(open_database(path)) as solution:
        judge = SearchJudge(solution, 40, 1)
        assert judge.errors_of(perfect) == 0
        assert judge.errors_of(make_player("depth:20", solution, Random(1))) == 0
        assert next(judge.errors(1)).noisy is not None


def test_games_that_cannot_be_judged_are_refused(solved):
    for text in ("nim3", "pig:target=5", "eightpuzzle:2,2"):
        with (
            Solution(open_database(solved(text))) as solution,
            pytest.raises(NotForSearch, match="judge is for games of two players without chance"),
        ):
            SearchJudge(solution, 10, 1)


def test_players_are_judged_in_the_same_positions(judge_of):
    judge = judge_of("connect4:4,4", 60)
    assert judge.errors_of(perfect) == 0
    assert abs(judge.errors_of(random_player(Random(1))) - judge.by_chance()) < 0.2
    first = [next(iter(judge.game.generate_moves(position))) for position in judge.keeping]
    wrong = sum(not judge.keeping[position][move] for position, move in zip(judge.keeping, first, strict=True))
    assert judge.errors_of(lambda oracle, position: next(iter(oracle.game.generate_moves(position)))) == wrong / 60


def test_the_noisy_truth_is_wrong_in_one_of_ten_and_always_the_same(judge_of):
    judge = judge_of("tictactoe")
    noisy, again = NoisySearch(judge.solution, 1), NoisySearch(judge.solution, 1)
    game = judge.game
    positions = [position for position in solve(game, symmetric=True) if game.primitive(position) == UNDECIDED]
    told = [noisy.score(position, 0) for position in positions]
    assert told == [again.score(position, 0) for position in positions]
    values = [judge.solution.value(position).value for position in positions]
    signs = [(value.name == "WIN") - (value.name == "LOSE") for value in values]
    wrong = sum(one != other for one, other in zip(told, signs, strict=True)) / len(positions)
    assert 0.05 < wrong < 0.15
    assert told != [NoisySearch(judge.solution, 2).score(position, 0) for position in positions]


def test_what_is_judged_is_the_same_by_the_same_seed(judge_of):
    first, again, other = (judge_of("connect4:4,4", 20, seed) for seed in (1, 1, 2))
    assert first.keeping == again.keeping != other.keeping
    assert list(first.errors(2)) == list(again.errors(2))


@pytest.mark.thorough
def test_a_good_order_saves_what_it_should():
    """Knuth and Moore's bounds: the best order looks at no more leaves than b^⌈d/2⌉ + b^⌊d/2⌋ - 1."""
    *_, last = counts_of(load_game("connect4:6,5"), load_game("connect4:6,5").start, 6)
    assert last.minimax == sum(6**ply for ply in range(6)) + 6**6 - 6  # a column is full after five
    assert last.best < last.given < last.worst <= last.minimax
    assert last.exponent(last.best) < 0.7 < last.exponent(last.given) < 0.9 < last.exponent(last.worst)
    assert [row.minimax for row in counts_of(load_game("lgame"), load_game("lgame").start, 1)] == [66]
    (row,) = counts_of(load_game("lgame"), load_game("lgame").start, 1)
    assert row.worst == row.best == row.minimax


def test_what_would_take_too_long_is_left_out(judge_of, monkeypatch):
    judge = judge_of("connect4:4,4", 20)
    whole = list(judge.errors(3))
    assert [row.depth for row in whole] == [1, 2, 3]
    monkeypatch.setattr(judging, "MOST_NOISY", 100)
    tired = list(judge.errors(3))
    assert [row.noisy for row in tired] == [whole[0].noisy, None, None]
    assert [row.own for row in tired] == [row.own for row in whole]
    monkeypatch.setattr(judging, "MOST_LOOKED", 200)
    assert len(list(judge.errors(3))) == 1


@pytest.mark.thorough
def test_positions_are_counted_until_it_takes_too_long(judge_of, monkeypatch):
    monkeypatch.setattr(judging, "MOST_COUNTED", 100)
    assert [row.minimax for row in judge_of("connect4:4,4", 20).counts(6)] == [5, 21, 85]


@pytest.mark.parametrize("counted", [pytest.param(True, marks=pytest.mark.thorough), False])
def test_judge_on_the_command_line(counted, solved, tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    if not counted:  # only this command calls these loops from Python, so that they would be compiled once more
        monkeypatch.setattr(CountingSearch, "count_minimax", lambda *_: 21)
        monkeypatch.setattr(CountingSearch, "count", lambda *_: 7)
    (tmp_path / "connect4,width=4,height=4.h5").write_bytes(solved("connect4:4,4").read_bytes())
    args = ("judge", "connect4:4,4", "--depth", 2, "--positions", 20)
    facts = json.loads(retrograde(*args, "--json").stdout)
    assert (facts["positions"], facts["seed"], len(facts["errors"]), len(facts["order"])) == (20, 1, 2, 2)
    assert all(0 <= row[name] <= 1 for row in facts["errors"] for name in ("own", "ends", "chance", "noisy"))
    assert facts["order"][1]["minimax"] == 21
    picture = tmp_path / "judge.svg"
    text = retrograde(*args, "--plot", picture).stdout
    assert "in 20 positions where a move can, seed 1" in text
    assert f"{100 * facts['errors'][1]['own']:.1f} %" in text
    assert max(len(line) for line in text.splitlines() if line.startswith(" ")) <= 80
    assert picture.read_text("utf-8").count("<path") > 20
    assert "must be .png, .svg, .pdf" in retrograde(*args, "--plot", "a.txt", status=2).stderr
    with monkeypatch.context() as patch:
        patch.setattr("retrograde.solver.play.judging.SearchJudge.errors", lambda *_: 1 / 0)  # it is not begun
        nowhere = retrograde(*args, "--plot", tmp_path / "none" / "judge.svg", status=1).stderr
    assert "cannot write" in nowhere and nowhere.count("\n") == 1
    missing = retrograde("judge", "connect4:5,4", status=1).stderr
    assert "make it with: retrograde solve connect4:5,4" in missing and missing.count("\n") == 1


@pytest.mark.as_python
def test_alpha_beta_searches_fewer_positions_the_better_the_order():
    game = load_game("tictactoe")
    *_, last = counts_of(game, game.read("XO./.X./..O"), 3)
    assert last.minimax == 1 + 5 + 5 * 4 + 5 * 4 * 3  # no game is over before
    assert (last.best, last.given, last.worst) == (32, 44, 69)


def test_where_no_move_can_err_that_is_said(judge_of):
    with pytest.raises(NothingToJudge, match="no random position was found"):
        judge_of("connect4:1,4,4", 1)
