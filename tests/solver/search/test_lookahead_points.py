"""Searches to a depth where moves pay, dice have a say, or several play: compiled as in the textbook; and players."""

import json
from dataclasses import replace
from itertools import combinations
from random import Random

import pytest

from retrograde.games import CHANCE, DRAW, LOSE, TIE, UNDECIDED, WIN, Game
from retrograde.games.catalog import load_game
from retrograde.solver.search.depth.names import depth_search_for, searcher_named
from retrograde.solver.search.depth.scores import most_points, plies_to_end
from retrograde.solver.search.depth.searcher import MaxNSearch, PointSearch, ValueSearch
from retrograde.solver.search.trees.textbook import (
    MAX,
    TextbookRules,
    alpha_beta,
    minimax,
    order_by_minimax,
    proof_tree,
)
from retrograde.solver.search.trees.textbook import max_n as max_n_tree
from tests.helpers import expectimax, gamble, reference, turning
from tests.helpers.command_line import retrograde
from tests.helpers.tangle import Tangle, position_of
from tests.helpers.textbook_points import TextbookPoints, expectiminimax, max_n, order_by_promise, paranoid

pytestmark = pytest.mark.long


class Paying(gamble.Gamble):
    """A random graph on which moves pay as well, and every position has an estimate, in hundredths of a point."""

    def reward(self, position, move, player):
        return (self.random(position, 40 + move) % 5 - 2) * (1 - player)

    def estimate(self, position):
        return self.random(position, 50) % 900 - 450

    def quiet(self, position):
        return self.random(position, 51) % 8 != 0


class Three(Paying):
    """The same for three players."""

    players = 3

    def turn(self, position):
        if not self.over(position) and self.random(position, 2) % 16 < position >> 13 & 15:
            return CHANCE
        return self.random(position, 3) % 3

    def payoff(self, position, player):
        return self.random(position, 60 + player) % 7

    def reward(self, position, move, player):
        return self.random(position, 70 + 3 * move + player) % 3


def graphs(game, count, kinds, cyclic=False):
    """Return the first positions of random graphs in which a player is to move."""
    chance, found = Random(count), []
    while len(found) < count:
        position = gamble.position_of(chance.randrange(1 << 20), kinds, 0, cyclic, 20)
        if game.turn(position) != CHANCE:
            found.append(position)
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("kinds", [0, 6])
def test_star1_and_the_compiled_search_think_what_expectiminimax_does(kinds):
    game = Paying()
    ahead = PointSearch(game)
    view = TextbookPoints(game, 8)
    for cyclic in (False, True):
        for position in graphs(game, 60, kinds, cyclic):
            for depth in (1, 2, 3, 4):
                if cyclic and depth == 4:
                    continue
                whole = expectiminimax(view, position, depth)
                assert dict(ahead.scores(position, depth))[ahead.find(position, depth).move] == pytest.approx(whole)
                assert ahead.find(position, depth).score == pytest.approx(whole)


@pytest.mark.thorough
@pytest.mark.parametrize("most", [4.0, 1e9])
def test_star1_cuts_by_what_a_position_is_worth_at_most_and_thinks_the_same(most):
    game = gamble.Gamble()  # ends pay from -4 to 4, less 3
    ahead = PointSearch(game, most=7.0 if most < 9 else None)
    for position in graphs(game, 100, 6):
        whole = expectiminimax(TextbookPoints(game), position, 6)
        assert ahead.find(position, 6).score == pytest.approx(whole)


class Unpaid(gamble.Gamble):
    """A random graph with wins and losses, and without payoffs: the difference of two players is up to 2."""

    payoff = Game.payoff

    def primitive(self, position):
        return (WIN, LOSE, TIE)[self.random(position, 4) % 3] if self.over(position) else UNDECIDED


def test_star1_knows_that_a_win_is_two_points_more_than_the_other_player_gets():
    game, ahead = Unpaid(), PointSearch(Unpaid())
    first = gamble.position_of(97808990848 >> 17, 6, 0, False, 20)
    for position in (first, *graphs(game, 60, 6)):
        assert ahead.find(position, 6).score == pytest.approx(expectiminimax(TextbookPoints(game), position, 6))


def test_where_it_is_looked_to_the_end_the_score_is_the_expectation():
    game, ahead = gamble.Gamble(), PointSearch(gamble.Gamble())
    for seed, position in enumerate(graphs(game, 30, 6)):
        start = type("Begun", (gamble.Gamble,), {"start": position})()
        sign = -1 if game.turn(position) else 1
        look = ahead.find(position, 30, seed=seed)
        assert look.to_the_end and sign * look.score == pytest.approx(float(expectimax.acyclic(start)[position]))


@pytest.mark.thorough
@pytest.mark.parametrize("kinds", [0, 5])
def test_searches_for_three_are_what_the_textbook_has(kinds):
    game = Three()
    shares, against = MaxNSearch(game), PointSearch(game)
    view = TextbookPoints(game, 8)
    for position in graphs(game, 60, kinds):
        who = game.turn(position)
        for depth in (1, 2, 3, 4):
            assert shares.find(position, depth).score == pytest.approx(max_n(view, position, depth)[who])
            assert against.find(position, depth).score == pytest.approx(paranoid(view, position, depth, who))
    assert isinstance(depth_search_for(game), MaxNSearch) and not isinstance(
        depth_search_for(game, paranoid=True), MaxNSearch
    )


@pytest.mark.parametrize("kind", [Paying, Unpaid, gamble.Solitary])
def test_trees_with_chance_have_the_value_of_the_other_textbook(kind):
    """With the signs of Max and Min, and with those of who is to move; with Star1's cuts, and without."""
    game, cut = kind(), 0
    rules = TextbookRules(game, order_by_promise(game), game.estimate, by_points=True, most=most_points(game))
    for position in graphs(game, 40, 6):
        for depth in (1, 2, 4):
            whole = minimax(rules, rules.make_root(position), depth)
            assert whole.value == pytest.approx(expectiminimax(TextbookPoints(game), position, depth))
            for order in (rules.order, order_by_minimax(rules, True), order_by_minimax(rules, False)):
                less = alpha_beta(replace(rules, order=order), rules.make_root(position), depth)
                assert less.value == pytest.approx(whole.value)
                cut += sum(bool(node.cut) for node in less.nodes() if node.side == CHANCE)
    assert cut or kind is not Unpaid


def test_trees_for_three_have_the_values_of_the_other_textbook():
    game = Three()
    rules = TextbookRules(game, order_by_promise(game), game.estimate, by_points=True)
    view = TextbookPoints(game)
    for position in graphs(game, 40, 5):
        for depth in (1, 2, 4):
            shares = max_n_tree(rules, rules.make_root(position), depth)
            assert shares.numbers == pytest.approx(max_n(view, position, depth))
            whole = paranoid(view, position, depth, game.turn(position))
            assert minimax(rules, rules.make_root(position), depth).value == pytest.approx(whole)
            assert alpha_beta(rules, rules.make_root(position), depth).value == pytest.approx(whole)


@pytest.mark.parametrize("kind", [turning.Turning, turning.Alone, Tangle])
def test_proof_numbers_that_are_zero_agree_with_the_truth(kind):
    """Whatever the tree proves or disproves at any node is so, also where play goes round in circles."""
    game, seen = kind(), set()
    rules = TextbookRules(game, order_by_promise(game), game.estimate)
    for seed in range(60):
        start = position_of(seed, False, seed % 3, seed % 4, 8)
        truth = turning.solve(game, starts=[start]) if kind is not Tangle else reference.solve(game, starts=[start])
        for position, (value, _) in truth.items():
            for depth, most in ((None, 2), (None, 60), (2, 0)):
                tree = proof_tree(rules, rules.make_root(position), depth, most)
                assert 0 not in tree.numbers or (tree.numbers[0] == 0) == (value == WIN)
                assert sum(node.marked for node in tree.nodes()) == (0 not in tree.numbers)
                seen.add((value, tree.numbers[0] == 0, tree.numbers[1] == 0))
    assert (WIN, True, False) in seen and (DRAW, False, True) in seen


def test_proof_numbers_count_the_fewest_leaves_that_decide():
    """Held against every set of open leaves that might become wins."""
    game = Tangle()
    rules = TextbookRules(game, order_by_promise(game), game.estimate)

    def wins(node, won):
        if not node.children:
            return id(node) in won or node.numbers[0] == 0
        return (any if node.side == MAX else all)(wins(child, won) for child in node.children)

    checked = 0
    for seed in range(200):
        tree = proof_tree(rules, rules.make_root(position_of(seed, False, 1, 0, 8)), 2, 0)
        leaves = [id(node) for node in tree.nodes() if not node.children and node.numbers == (1, 1)]
        if 0 in tree.numbers or len(leaves) > 8:
            continue
        sets = [set(chosen) for size in range(len(leaves) + 1) for chosen in combinations(leaves, size)]
        assert tree.numbers[0] == min(len(won) for won in sets if wins(tree, won))
        assert tree.numbers[1] == min(len(lost) for lost in sets if not wins(tree, set(leaves) - lost))
        (marked,) = (node for node in tree.nodes() if node.marked)
        assert wins(tree, {id(marked)}) or tree.numbers[0] > 1
        checked += 1
    assert checked > 10


@pytest.mark.thorough
def test_where_chance_moves_first_the_score_is_the_mean():
    game, ahead, several, seen = Paying(), PointSearch(Paying()), MaxNSearch(Three()), 0
    chance = Random(5)
    while seen < 40:
        position = gamble.position_of(chance.randrange(1 << 20), 12, 0, False, 20)
        if game.turn(position) == CHANCE == several.game.turn(position):
            for depth in (1, 2, 4):
                found = ahead.find(position, depth)
                assert (found.move, found.score) == (
                    -1,
                    pytest.approx(expectiminimax(TextbookPoints(game, 8), position, depth)),
                )
                shares = max_n(TextbookPoints(several.game, 8), position, depth)
                assert several.shares(position, -1, depth) == pytest.approx(shares)
                assert several.find(position, depth).score == pytest.approx(shares[0])
            seen += 1


@pytest.mark.as_python
def test_what_players_get_after_a_move():
    game = Three()
    search = MaxNSearch(game)
    for position in graphs(game, 40, 5):
        found = search.find(position, 3)
        below = max_n(TextbookPoints(game, 8), game.do_move(position, found.move), 2)
        gains = [game.reward(position, found.move, player) for player in range(3)]
        shares = search.shares(position, found.move, 3)
        assert shares == pytest.approx([gain + points for gain, points in zip(gains, below, strict=True)])
        assert shares[game.turn(position)] == pytest.approx(found.score)


@pytest.mark.parametrize(
    ("variant", "metric"),
    [
        ("tree:text=max(a=chance(2xmin(1+5)3)min(2+7))", "expectation"),
        ("nim3:3+2", "utilities"),
        ("tictactoe3:2", "utilities"),
    ],
)
def test_search_says_what_a_database_says(variant, metric, tmp_path):
    file = tmp_path / "game.h5"
    retrograde("solve", variant, "--database", file)
    truth = json.loads(retrograde("query", file, "--json").stdout)[metric]
    found = json.loads(retrograde("search", variant, "--json").stdout)
    assert found["exact"]
    if metric == "expectation":
        assert found[metric] == pytest.approx(truth)
    else:
        assert found[metric][0] == pytest.approx(truth[0])


def test_search_of_chance_and_several_players_on_the_command_line():
    text = retrograde("search", "tree:text=max(chance(1+4)2)").stdout
    assert "Expectation: 2.5\nexact, since the search reached the end of every line" in text
    assert text.endswith("Best move  a\n")
    assert "Best move" not in retrograde("search", "tree:text=max(chance(1+4)2)", "a").stdout
    text = retrograde("search", "pig:20", "--depth", 4).stdout
    assert "for the player to move\nnot proved: estimated 4 plies ahead" in text and "Best move  roll" in text
    known = json.loads(retrograde("search", "nim3:3+2", "--json", "--depth", 2).stdout)
    assert (known["exact"], known["depth"], len(known["utilities"])) == (False, 2, 3)
    over = retrograde("search", "nim3", "0,1", status=1).stderr
    assert "the game is over" in over and over.count("\n") == 1


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [turning.Turning, turning.Alone])
def test_by_value_whoever_moves_next(kind):
    """The textbooks' three, the compiled one, and the truth, where a player may move again, and of puzzles."""
    seen, game = set(), kind()
    ahead, rules = ValueSearch(game), TextbookRules(game, order_by_promise(game), game.estimate)
    for seed in range(40):
        truth = turning.solve(game, starts=[position_of(seed, False, seed % 3, seed % 4, 8)])
        for position, (value, remoteness) in truth.items():
            if remoteness == 0:
                continue
            whole = minimax(rules, rules.make_root(position), 4)
            assert alpha_beta(rules, rules.make_root(position), 4).value == whole.value
            assert alpha_beta(replace(rules, null_windows=True), rules.make_root(position), 4).value == whole.value
            assert ahead.find(position, 4).score == whole.value
            plies = remoteness if value in (WIN, LOSE) and remoteness <= 4 else None
            assert plies_to_end(whole.value) == plies
            assert plies is None or (whole.value > 0) == (value == WIN)
            seen.add((value, plies))
    assert len(seen) > 4


@pytest.mark.thorough
@pytest.mark.parametrize("text", ["kalah:3,2", "awari:2,2", "pig:10"])
def test_games_of_ours(text):
    game = load_game(text)
    chance, ahead = Random(text), depth_search_for(game)
    ahead.scoring = ahead.scoring._replace(quiescence=0)  # the textbook has none
    view = TextbookPoints(game)
    rules = TextbookRules(game, order_by_promise(game), game.estimate)
    for _ in range(8):
        position = game.start
        for _ in range(chance.randrange(9)):
            if game.primitive(position) == UNDECIDED:
                position = game.do_move(position, chance.choice(list(game.generate_moves(position))))
        if game.primitive(position) != UNDECIDED or game.turn(position) == CHANCE:
            continue
        for depth in (1, 2, 3):
            value = isinstance(ahead, ValueSearch)
            whole = (
                minimax(rules, rules.make_root(position), depth).value
                if value
                else expectiminimax(view, position, depth)
            )
            assert ahead.find(position, depth).score == pytest.approx(whole)


@pytest.mark.thorough
def test_chance_that_nobody_told_of_is_met():
    game = turning.LateChance()
    choose = searcher_named("depth:3", game, Random(1))
    for position in (70, 9, 34, 13):
        assert choose(position) in game.generate_moves(position)


@pytest.mark.thorough
def test_players_look_ahead_in_matches_of_all_kinds(tmp_path):
    for text, rival in (
        ("kalah:3,2", "random"),
        ("pig:10", "greedy"),
        ("nim3:3+2", "paranoid:2"),
        ("hanoi:3", "random"),
    ):
        file = str(tmp_path / f"{text.partition(':')[0]}.h5")
        retrograde("solve", text, "--database", file)
        told = retrograde("match", text, "depth:3", rival, "--database", file, "--games", "6").stdout
        assert "depth:3" in told and "mistakes" in told
