"""Searches to a depth: the textbooks' and the compiled one think the same; players look ahead; hints decide nothing."""

from dataclasses import replace
from itertools import count
from random import Random

import pytest

from retrograde.games import LOSE, UNDECIDED, WIN, Game
from retrograde.games.catalog import load_game
from retrograde.games.contract.game import HINTS, defines
from retrograde.solver.conformance.check import check
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.search.depth import kernels, scoring
from retrograde.solver.search.depth.scores import DECIDED, FAR, INFINITE, plies_to_end
from retrograde.solver.search.depth.searcher import CountingSearch, ValueSearch
from retrograde.solver.search.trees.textbook import (
    TextbookRules,
    alpha_beta,
    minimax,
    order_by_minimax,
    order_without_symmetry,
)
from tests.helpers.marks import thorough_but
from tests.helpers.reference import solve
from tests.helpers.textbook_points import order_by_promise

pytestmark = pytest.mark.long

GAMES = ["tictactoe", "connect4:4,4", "connect4:5,4", "dodgem", "hareandhounds"]


def positions_of(game, count, seed):
    """Return positions that random moves lead to, in which the game goes on."""
    chance, found = Random(seed), []
    while len(found) < count:
        position = game.start
        for _ in range(chance.randrange(12)):
            position = game.do_move(position, chance.choice(list(game.generate_moves(position))))
            if game.primitive(position) != UNDECIDED:
                break
        else:
            found.append(position)
    return found


def more_of(game):
    return 8 if defines(game, "quiet") else 0


@pytest.mark.parametrize("text", thorough_but(GAMES, "tictactoe", "connect4:4,4", "dodgem"))
def test_all_searches_think_the_same(text):
    """Slow and obvious to fast, each equal to the one before."""
    game = load_game(text)
    ahead = ValueSearch(game)
    rules = TextbookRules(game, order_by_promise(game), game.estimate, 2 if more_of(game) else 0)
    ahead.scoring = scoring.Scoring(scoring.VALUES, scoring.OWN, rules.quiescence)
    for position in positions_of(game, 5, text):
        for depth in (1, 2, 3):
            whole = minimax(rules, rules.make_root(position), depth)
            assert alpha_beta(rules, rules.make_root(position), depth).value == whole.value
            assert alpha_beta(replace(rules, null_windows=True), rules.make_root(position), depth).value == whole.value
            assert ahead.score(position, depth) == whole.value
            look = ahead.find(position, depth)
            assert look.score == whole.value
            assert dict(ahead.scores(position, depth))[look.move] == whole.value
            for order in (order_by_minimax(rules, True), order_by_minimax(rules, False), order_without_symmetry(game)):
                ordered = TextbookRules(game, order, rules.estimate, rules.quiescence)
                assert alpha_beta(ordered, rules.make_root(position), depth).value == whole.value
                assert (
                    alpha_beta(replace(ordered, null_windows=True), rules.make_root(position), depth).value
                    == whole.value
                )


@pytest.mark.thorough
@pytest.mark.parametrize("text", GAMES[:3])
def test_what_is_counted_compiled_is_what_the_textbooks_look_at(text):
    game = load_game(text)
    ahead = CountingSearch(game, scoring.RANDOM)  # so that hardly any two are equal
    workspace, view, rules = ahead.workspace, ahead.scoring, rules_for(game)
    plain = TextbookRules(
        game, order_by_promise(game), lambda position: int(scoring.estimate_of(game, position, scoring.RANDOM))
    )
    orders = {
        scoring.GIVEN: plain.order,
        scoring.BEST: order_by_minimax(plain, True),
        scoring.WORST: order_by_minimax(plain, False),
    }
    for position in positions_of(game, 5, text):
        whole = minimax(plain, plain.make_root(position), 3)
        workspace.counts[:] = 0
        assert kernels.minimax(rules, position, 3, scoring.RANDOM, workspace.counts) == whole.value
        assert workspace.counts[kernels.NODES] == whole.positions
        for number, order in orders.items():
            tree = alpha_beta(TextbookRules(game, order, plain.estimate), plain.make_root(position), 3)
            workspace.counts[:] = 0
            found = kernels.alpha_beta(
                rules, position, 3, -INFINITE, INFINITE, 0, view._replace(order=number), workspace
            )
            assert (found, workspace.counts[kernels.NODES]) == (tree.value, tree.positions)


def test_alpha_beta_with_the_best_order_looks_at_the_fewest_leaves_there_can_be():
    """b^⌈d/2⌉ + b^⌊d/2⌋ - 1 of b^d (Knuth and Moore, 1975), where every position has b moves."""

    class Uniform(Game):
        """Four moves everywhere, and never an end."""

        start = 1

        def generate_moves(self, position):
            yield from range(4)

        def do_move(self, position, move):
            return position * 4 + move

        def primitive(self, position):
            return UNDECIDED

    game = Uniform()
    rules = TextbookRules(game, order_by_promise(game), lambda position: hash((position, 1)) % 1009 - 504)
    best = TextbookRules(game, order_by_minimax(rules, True), rules.estimate)
    for depth in (1, 2, 3, 4, 5):
        assert minimax(rules, rules.make_root(1), depth).leaves == 4**depth
        assert alpha_beta(best, best.make_root(1), depth).leaves == 4 ** -(-depth // 2) + 4 ** (depth // 2) - 1


@pytest.mark.parametrize("text", ["tictactoe", "connect4:4,3,3", "dodgem"])
def test_a_win_within_the_depth_is_one(text):
    game = load_game(text)
    truth = solve(game, symmetric=True)
    ahead = ValueSearch(game)
    for position in Random(1).sample(sorted(truth), 40):
        if truth[position][1] == 0:
            continue
        look, (value, remoteness) = ahead.find(position, 6), truth[position]
        if value in (WIN, LOSE) and remoteness <= 6:
            assert look.score == (FAR - remoteness if value == WIN else remoteness - FAR)
        if abs(look.score) > DECIDED:
            assert (value, remoteness) == (WIN if look.score > 0 else LOSE, plies_to_end(look.score))


@pytest.mark.thorough
def test_time_is_kept_and_something_is_always_found():
    ahead = ValueSearch(load_game("connect4"))
    ahead.find(ahead.game.start, 1)
    look = ahead.find(ahead.game.start, seconds=0.3)  # it would go on for days
    assert look.depth >= 1 and not look.to_the_end
    assert look.move in ahead.game.generate_moves(ahead.game.start)
    assert ahead.find(ahead.game.start, seconds=1e-9).depth >= 1


def test_more_moves_than_there_was_room_for():
    game = load_game("lgame")
    ahead = ValueSearch(game)
    rules = TextbookRules(game, order_by_promise(game), game.estimate)
    assert ahead.find(game.start, 2).score == minimax(rules, rules.make_root(game.start), 2).value
    assert ahead.move_capacity > len(list(game.generate_moves(game.start)))


def test_where_it_is_not_quiet_the_search_goes_on():
    game = load_game("connect4:5,4")
    position = game.read("...../...../X...X/OOO.X")  # O wins at once by 4, unless X is there first
    quiet, blind = ValueSearch(game), ValueSearch(game)
    blind.scoring = scoring.Scoring(scoring.VALUES)
    assert quiet.find(position, 1).move == 3
    assert [move for move, score in quiet.scores(position, 1) if score < -DECIDED] == [0, 1, 2, 4]
    assert not [score for _, score in blind.scores(position, 1) if abs(score) > DECIDED]


# Hints


class Hinted(Game):
    """One more each time, up to 30, with hints."""

    start = 1

    def generate_moves(self, position):
        yield from (1, 2)

    def do_move(self, position, move):
        return position + move

    def primitive(self, position):
        return LOSE if position > 30 else UNDECIDED

    def images(self, position):
        yield position

    def estimate(self, position):
        return position % 3 - 1

    def quiet(self, position):
        return position % 5 != 0

    def promise(self, position, move):
        return (position + move) % 3


@pytest.mark.thorough
def test_hints_that_keep_the_contract():
    report = check(Hinted(), 200, 60)
    assert report.ok and not report.slow
    others = {"features", "feature_weights", "tie_in", "has_ties", "least_plies", "swapped", "exchanges", "heap_code"}
    others |= {"abstractions", "abstractions_add", "abstracted"}
    assert all(report.checks[hint] > 10 for hint in HINTS - others)
    assert check(load_game("tictactoe"), 200, 60, compiled=False).checks["tie_in"] > 10
    assert "estimate" not in check(load_game("tentozero"), 200, 60, compiled=False).checks


TURNS = count()


def broken(hint, rule):
    """Return a game whose hint is another one."""
    return type("Broken", (Hinted,), {hint: rule})()


@pytest.mark.parametrize(
    ("game", "rule", "complaint"),
    [
        (broken("estimate", lambda self, position: 0.5), "estimate", "gives 0.5; it must give an int from"),
        (broken("estimate", lambda self, position: 1 << 31), "estimate", "gives 2147483648; it must give"),
        (broken("quiet", lambda self, position: 2), "quiet", "gives 2; it must give True or False"),
        (broken("promise", lambda self, position, move: None), "promise", "gives None; it must give an int"),
        (broken("quiet", lambda self, position: next(TURNS) % 2), "quiet", "asked again"),
        (
            broken("tie_in", lambda self, position: 30 - position),
            "tie_in",
            "gives 29, and after move 2 a tie is 27",
        ),
        (broken("tie_in", lambda self, position: 0.5), "tie_in", "gives 0.5; it must give an int from"),
    ],
)
def test_hints_that_break_it(game, rule, complaint):
    (finding,) = check(game, 50, 60, compiled=False).findings
    assert finding.rule == rule
    assert complaint in finding.complaint


def test_equal_positions_need_equal_estimates():
    class Lopsided(type(load_game("tictactoe"))):
        """The first cell is liked."""

        def estimate(self, position):
            return position & 1

    (finding,) = check(Lopsided(), 300, 1.0, compiled=False).findings
    assert finding.rule == "estimate" and "the same by symmetry" in finding.complaint
