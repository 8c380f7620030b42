"""Whose turn it is, what ends pay and what is computed: the defaults of the contract, and what is refused."""

import pytest

from retrograde.games import CHANCE, LOSE, METRICS, UNDECIDED, WIN, Game, RuleError
from retrograde.games.contract.game import alternates, metric_of, mover, same_mover
from retrograde.games.tictactoe import TicTacToe
from retrograde.solver.conformance.check import check, precheck
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.turns import turns
from retrograde.solver.runtime.kernel import kernel
from tests.helpers.heap import Heap


class Steps(Game):
    """Walk from 0 to the goal by one or two steps, alone; who cannot go on has lost, by the default of primitive()."""

    players: int = 1
    goal: int = 5
    starts = (3, 0)

    def generate_moves(self, position):
        if position < self.goal:
            yield from range(1, 3)

    def do_move(self, position, move):
        return min(self.goal, position + move)


class Again(Heap):
    """A heap from which whoever takes one takes again; the lowest bit is the player's."""

    @property
    def start(self):
        return 2 * self.size

    def generate_moves(self, position):
        yield from range(1, min(3, position >> 1) + 1)

    def do_move(self, position, taken):
        return position - 2 * taken ^ (taken > 1)

    def primitive(self, position):
        return LOSE if position < 2 else UNDECIDED

    def turn(self, position):
        return position & 1


class Dice(Again):
    """The same with a coin tossed in every other position."""

    def turn(self, position):
        return CHANCE if position & 1 else 0


class CoinFirst(Heap):
    """A heap with a coin tossed before each player's move: chance, then player 0, then player 1."""

    def turn(self, position):
        return position % 3 - 1


@kernel
def turns_in_kernel(game, position, child):
    return turns(game, position, child)


def compiled_turns(game, position, child):
    """Return the answer of compiled code, which is the same if the rules are called in Python."""
    answer = bool(turns_in_kernel(rules_for(game), position, child))
    assert bool(turns_in_kernel(rules_for(game, eager=True), position, child)) == answer
    return answer


def test_two_players_alternate_where_no_rule_says_who_is_to_move():
    game = Heap()
    assert game.players == 2
    assert alternates(game)
    assert not same_mover(game, 10, 9)
    assert mover(game, 10) == mover(game, 9) == 0
    assert turns(game, 10, 9)
    assert compiled_turns(game, 10, 9)


@pytest.mark.parametrize(
    ("position", "child", "again"), [(20, 18, True), (20, 17, False), (21, 19, True), (21, 16, False)]
)
def test_the_same_player_moves_again_where_the_rules_say_so(position, child, again):
    game = Again()
    assert not alternates(game)
    assert (mover(game, position) == mover(game, child)) is again
    assert same_mover(game, position, child) is again
    assert turns(game, position, child) is compiled_turns(game, position, child) is not again


@pytest.mark.parametrize("position", range(3))
@pytest.mark.parametrize("child", range(3))
def test_chance_counts_as_the_first_player(position, child):
    game, sides = CoinFirst(), (0, 0, 1)
    assert [mover(game, each) for each in range(3)] == [CHANCE, 0, 1]
    again = sides[position] == sides[child]
    assert same_mover(game, position, child) is again
    assert turns(game, position, child) is compiled_turns(game, position, child) is not again


def test_one_player_is_always_to_move():
    game = Steps()
    assert not alternates(game)
    assert mover(game, 3) == 0
    assert not turns(game, 3, 4)
    assert not compiled_turns(game, 3, 4)


def test_who_cannot_move_has_lost_where_there_is_no_primitive():
    game = Steps()
    assert [game.primitive(position) for position in (0, 4, 5)] == [UNDECIDED, UNDECIDED, LOSE]


def test_the_default_of_primitive_compiles():
    class Stuck(Steps):
        players: int = 2

    report = check(Stuck())
    assert report.ok, report.findings
    assert not report.slow
    assert report.checks["compiled"] > 0


def test_an_end_pays_one_to_the_winner():
    assert [Heap().payoff(0, player) for player in (0, 1)] == [-1, 1]
    assert [Heap().payoff(4, player) for player in (0, 1)] == [0, 0]
    for position in (0, 1):
        assert [Again().payoff(position, player) for player in (0, 1)] == ([-1, 1] if position == 0 else [1, -1])
    full = TicTacToe()
    tied = next(end for end in ends_of(full) if full.primitive(end) not in (WIN, LOSE))
    assert [full.payoff(tied, player) for player in (0, 1)] == [0, 0]


def ends_of(game):
    found, known = [game.start], {game.start}
    while found:
        position = found.pop()
        if game.primitive(position) != UNDECIDED:
            yield position
            continue
        new = {game.do_move(position, move) for move in game.generate_moves(position)} - known
        known |= new
        found += new


def test_the_first_of_several_starts_is_the_start():
    assert Steps().start == 3
    assert Steps().starts == (3, 0)
    assert Heap().starts == (10,)
    assert Heap().odds(3, 1) == 1


def test_a_start_of_its_own_stays():
    class Elsewhere(Steps):
        start = 1

    assert Elsewhere().start == 1


def test_the_metric_is_what_suits_the_game():
    class Weighed(Dice):
        def odds(self, position, move):
            return move

    assert metric_of(Heap()) == "remoteness"
    assert metric_of(Weighed()) == "expectation"
    assert metric_of(Steps(players=3)) == "utilities"

    class Paying(Heap):
        def reward(self, position, move, player):
            return move

    class PayingDice(Dice):
        def reward(self, position, move, player):
            return move

    assert (metric_of(Paying()), metric_of(PayingDice())) == ("score", "expectation")

    class Counted(Heap):
        metric = "score"

    assert metric_of(Counted()) == "score"
    assert {metric_of(game) for game in (Heap(), Weighed(), Steps(players=3), Counted())} <= set(METRICS)


class Crowd(Heap):
    players = 3


class Nobody(Heap):
    players = 0


class Elo(Heap):
    metric = "elo"


class Stranger(Again):
    def turn(self, position):
        return 2


class DicedEnd(Dice):
    metric = "expectation"


class Nowhere(Steps):
    starts = ()
    start = 0


class Rich(Heap):
    def payoff(self, position, player):
        return 1 << 30


class Taken(Heap):
    turn = (6, 3, 0)


REFUSED = {
    Taken: "turn: is (6, 3, 0); turn is a method of the game contract: rename the option or member",
    Crowd: "players: is 3, and there is no turn(position)",
    Nobody: "players: is 0; it must be an int from 1 on",
    Elo: "metric: is 'elo'; the metrics are remoteness, ",
    Dice: "gives CHANCE, and the metric is remoteness",
    Stranger: "turn at 20: gives 2; it must give a player from 0 to 1, or CHANCE",
    Nowhere: "starts: is (); it must be a tuple of first positions",
    DicedEnd: "turn at 1: gives CHANCE where the game is over",
    Rich: "payoff at 0: gives player 0 1073741824; it must give an int between",
}


@pytest.mark.parametrize("game", REFUSED, ids=lambda game: game.__name__)
def test_what_cannot_be_solved_is_refused_in_one_line(game):
    with pytest.raises(RuleError) as caught:
        precheck(game(), seconds=5).require_ok()
    assert REFUSED[game] in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert [REFUSED[game] in str(finding) for finding in check(game(), compiled=False).findings] == [True]
